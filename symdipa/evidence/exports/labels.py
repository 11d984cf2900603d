"""Names in exported queries, for control states, bits, choices and edges, and what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from symdipa.model.automaton import Automaton
from symdipa.runs.control import Control
from symdipa.systems.boolean import Lit
from symdipa.systems.system import System

MEANINGS = {
    "loc": "loc(q): the run is at control state q",
    "lt": "lt(x,y): the comparisons so far force the sample stored in x below the one stored in y",
    "eq": "eq(x,y): x and y hold the same sample",
    "open": "open: a cycle is being watched",
    "begun": "begun(q): the watched cycle began at q",
    "protected": "protected(x): the watched cycle may use x, not assign it; false: assign it, not use it",
    "up": "up(x): the low end of a chain lies at or below the sample in x",
    "down": "down(x): the high end of a chain lies at or above the sample in x",
    "hit": "hit: some sample was both up and down, so the chain is complete",
    "disclosed": "disclosed: a watched step read an input and output a number",
    "chosen": "chosen(x): the variable that the watched cycle has to assign and to use",
    "assigned": "assigned: the watched cycle has assigned the chosen variable",
    "used": "used: the watched cycle has used the chosen variable",
    "saved": "saved(b): the value that bit b had where the watched cycle began",
    "set": "set(Vi): ghost Vi has stored its sample (V1: the low end of the chain, V2: the high end)",
    "seen": "seen(Vi): a watched cycle compares its samples with the one in Vi, so that end repeats",
    "start": "choice start: watch a cycle that begins with this step",
    "protect": "choice protect(x): what protected(x) is to be in the cycle that begins",
    "choose": "choice choose(x): what chosen(x) is to be in the cycle that begins",
    "pick": "choice pick(Vi): ghost Vi stores the sample of this step",
    "take": "choice take(t:q->p): take transition t, from q to p",
}
"""What a name that begins with the key means; docs/queries.md says more."""


@dataclass(frozen=True)
class Labels:
    """The names of a system's parts, all different; locations and edges in the order of the system."""

    locations: Sequence[str]
    edges: Sequence[str]
    of: Mapping[Lit, str]
    """For every bit and every choice."""

    @property
    def all(self) -> list[str]:
        return [*self.locations, *self.edges, *self.of.values()]


def labels(system: System, prefix: str = "") -> Labels:
    """Names for a system, each with ``prefix`` in front."""
    states, literals = system.control.state_names, (*system.bits, *system.choices)
    names = distinct(
        prefix + name
        for name in (
            *(f"loc({state})" for state in states),
            *(f"take({e.transition}:{states[e.source]}->{states[e.target]})" for e in system.edges),
            *(system.graph.name(literal >> 1) for literal in literals),
        )
    )
    first, second = len(states), len(states) + len(system.edges)
    return Labels(names[:first], names[first:second], dict(zip(literals, names[second:], strict=True)))


def prefixes(systems: Sequence[System]) -> list[str]:
    """What tells the names of several systems in one query apart; nothing where there is only one."""
    return [f"{i}:" for i in range(len(systems))] if len(systems) > 1 else [""] * len(systems)


def distinct(names: Iterable[str]) -> list[str]:
    """The names without what some format cannot quote, and with primes where two would be the same."""
    taken: set[str] = set()
    result = []
    for name in names:
        name = "_".join(printable(name).split(" ")).replace("|", "!").replace("\\", "/").replace(";", ",")
        while name in taken:
            name += "'"
        taken.add(name)
        result.append(name)
    return result


def printable(name: str) -> str:
    """A name fit for one line of a text: control characters and line breaks become question marks."""
    return "".join(c if c.isprintable() else "?" for c in name)


def legend(automaton: Automaton, control: Control, names: Iterable[str]) -> list[str]:
    """Comments for a query with these names: what they mean, and the transitions by number.

    Where a query is about the core, they also say which of its transitions are parts of which.
    """
    kinds = {name.partition("(")[0] for name in names}
    lines = [meaning for kind, meaning in MEANINGS.items() if kind in kinds]
    if not control.is_plain:
        lines += CORE
        lines += [meaning for mark, meaning in OF_CORE.items() if any(mark in name for name in _own(control))]
    for t, move in enumerate(automaton.transitions):
        stored = "".join(
            f"; {x} := {y}"
            for x, y in sorted(move.stores, key=lambda pair: automaton.variable_index[pair[0]])
        )
        guard = move.guard.text(automaton.variables)
        shown = move.output.text(automaton.variable_index)
        step = f"{move.source} -> {move.target} if {guard}{stored}; output {shown}"
        lines.append(f"transition {t}: {step}")
    if not control.is_plain:
        lines += _core_transitions(control)
    return [printable(line) for line in lines]


CORE = (
    "The query is about the core: a transition of the automaton is a chain of transitions there (see below)",
    "take(t:q->p) has their numbers, and a pattern is a conflict between what a run forces on shifts",
    "that the core has none does not by itself prove privacy; a run of it may be impossible on the numbers",
)
OF_CORE = {
    "#": "q#2: the control state q with variables in other slots",
    ".": "q.n.k: k parts of the n-th transition of the automaton were taken from q; before.k: before the run",
    "~": "x~: the variable x in the order of shifts; without ~: in that of values",
    "-": "-x: the negative of what x holds",
}
"""Names that only a core has."""


def _own(control: Control) -> tuple[str, ...]:
    return (*control.state_names, *control.variable_names)


def _core_transitions(control: Control) -> Iterator[str]:
    """Which transitions of the core belong to which of the automaton."""
    before = [t for t, origin in enumerate(control.origin) if origin < 0]
    if before:
        yield f"core {_range(before)}: the constants, before the run begins"
    for chain in control.chains.values():
        yield f"core {_range(chain)}: transition {control.origin[chain[0]]}"


def _range(numbers: Sequence[int]) -> str:
    return f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
