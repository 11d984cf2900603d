"""Rules about registers: what they are for, and that their differences are known and bounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from symdipa.model.parts import (
    BEYOND,
    ENTRY,
    SAMPLE,
    SECOND_SAMPLE,
    AutomatonParts,
    State,
    Transition,
    Update,
    computable,
)
from symdipa.model.validation.initialization import Kept, unset
from symdipa.model.validation.places import Finding, Place, arrow, brief, registers_of

NO_REGISTERS = (SAMPLE, SECOND_SAMPLE, ENTRY, "")
"""What no register is called: the words for samples and for the entry that is read."""


def registers(automaton: AutomatonParts) -> Iterator[Finding]:
    """Registers stand in means only, and are set to sums of entries that are read, once in a step."""
    names = registers_of(automaton)
    if not names:
        return
    for name in sorted(names.intersection(NO_REGISTERS)):
        yield Place("automaton"), f"a register is called {name!r}; rename it"
    for i, state in enumerate(automaton.states):
        yield from _means(state, i)
    reads = {state.name: state.is_input for state in automaton.states}
    seen: set[tuple[str, str, str]] = set()
    for i, transition in enumerate(automaton.transitions):
        yield from _updates(transition, i, reads.get(transition.source, True))
        for place, message in _as_variables(transition, i, names):
            which = transition.source, place.part, place.name
            if which not in seen or place.part != "guard":  # branches may have been split
                yield place, message
            seen.add(which)
    for name in [] if seen else sorted(names & set(automaton.variables)):
        yield Place("automaton"), f"register {name} is listed as a variable; leave it out of that list"


def _means(state: State, i: int) -> Iterator[Finding]:
    """The factors of a mean are exact, not 0, and one for each register."""
    times = Counter(name for name, _ in state.registers)
    for name in sorted(name for name, count in times.items() if count > 1):
        yield Place("state", i, "mu", name), f"register {name} has several factors in state {state.name}"
    for name, factor in state.registers:
        place, which = Place("state", i, "mu", name), f"the factor of register {name} in state {state.name}"
        if not isinstance(factor, Fraction):
            kind = type(factor).__name__
            yield place, f"{which} is {factor!r} of type {kind}; it is exact: give a fractions.Fraction"
        elif not factor:
            yield place, f"{which} is 0; leave the register out"
        elif not computable(factor):
            yield place, f"{which} {BEYOND}"


def _updates(transition: Transition, i: int, reads: bool) -> Iterator[Finding]:
    times = Counter(update.register for update in transition.updates)
    for name in sorted(name for name, count in times.items() if count > 1):
        values = " and ".join(str(each) for each in transition.updates if each.register == name)
        place = Place("transition", i, "updates", name)
        yield place, f"{arrow(transition)} updates {name} twice, {values}; keep one of them"
    for update in transition.updates:
        place, source = Place("transition", i, "updates", update.register), transition.source
        if update.adds_input and not reads:
            yield (
                place,
                f"{update} of {arrow(transition)}: {source} reads no input; update {update.register} in the "
                f"step that reads it, or make {source} a state that reads, for instance ({source}:read)",
            )
        elif update == Update(update.register, update.register):
            yield place, f"{update} of {arrow(transition)} changes nothing; leave it out"


def _as_variables(transition: Transition, i: int, names: frozenset[str]) -> Iterator[Finding]:
    """Registers that are compared, shown or stored, as only variables may be."""
    where = arrow(transition)
    for name in sorted(names & transition.guard.used):
        said = f"the guard {brief(transition.guard)} of {where} compares {name}"
        yield Place("transition", i, "guard", name), f"{said}, {_exact(name)} and compare that"
    for name in sorted(names & transition.output.reads):
        said = f"the output {transition.output} of {where} shows {name}"
        symbol = f" (a symbol of this name is written '{name}')"
        yield Place("transition", i, "output", name), f"{said}, {_exact(name)} and show that{symbol}"
    for name in sorted(names & transition.assign):
        said = f"{name} := insample of {where}: {name} is a register"
        yield Place("transition", i, "assign", name), f"{said}; {NOT_BOTH}"
    for name, value in transition.copies:
        place, said = Place("transition", i, "assign", str(value)), f"{name} := {value} of {where}"
        if name in names and isinstance(value, Fraction):
            remedy = "it is set to 0 if to any number, and a constant is added in the mean"
            yield place, f"{said}: {name} is a register; {remedy}"
        elif name in names:
            yield place, f"{said}: {name} is a register, and {value} is none; {NOT_BOTH}"
        elif value in names:
            yield place, f"{said} stores {value}, {_exact(value)} and store that"


NOT_BOTH = "registers hold sums of entries, variables hold samples and constants: use two names"


def _exact(name: object) -> str:
    """Why a register is not used like a variable, and what to do."""
    return (
        f"a register, which has no noise: let a state draw it, as ({name}_noisy:non-input, 1, {name}) does,"
    )


# ------------------------------------------------------------------------------------ before they are set


def set_first(automaton: AutomatonParts) -> Iterator[Finding]:
    """On every path from the initial state a register is set before a mean or an update has it."""
    names = registers_of(automaton)
    if not names:
        return
    place = {state.name: i for i, state in enumerate(automaton.states)}
    means = {state.name: frozenset(name for name, _ in state.registers) for state in automaton.states}

    def reads(transition: Transition) -> frozenset[str]:
        sources = {update.source for update in transition.updates if update.source is not None}
        return means.get(transition.source, frozenset()) | sources

    def too_soon(i: int, name: str, path: str) -> Finding:
        transition = automaton.transitions[i]
        if name in means.get(transition.source, ()):
            where, reader = (
                Place("state", place[transition.source], "mu", name),
                f"the mean of {transition.source}",
            )
        else:
            update = next(each for each in transition.updates if each.source == name)
            where = Place("transition", i, "updates", update.register)
            reader = f"the update {update} of {arrow(transition)}"
        return where, (
            f"register {name} is read before it is set: on the path {path} no transition sets it, and then "
            f"{reader} reads it; set it first, as {name} := 0 does"
        )

    def never(name: str, meant: str) -> str:
        return f"register {name} is read before it is set: no transition sets it; did you mean {meant}?"

    def updated(transition: Transition) -> set[str]:
        return {update.register for update in transition.updates}

    yield from unset(automaton, Kept("registers", sorted(names), updated, reads, too_soon, never))
