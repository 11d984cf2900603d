"""Makes the automaton of a program small and readable: no steps to nowhere, no state twice, names that can be
written."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count

from symdipa.model.automaton import variables_of
from symdipa.model.parts import Guard, Output, State, Term, Transition, atom
from symdipa.programs.points import RESERVED

Traced = tuple[Transition, tuple[int, ...]]
"""A transition with the lines of the program that it passes."""


@dataclass(frozen=True, slots=True)
class Steps:
    """States, the first of them initial, and transitions.

    For each state the plain ``values`` of variables, and what the program has ``added`` to samples to get
    what it knows by these names.
    """

    states: tuple[State, ...]
    transitions: tuple[Traced, ...]
    values: Mapping[str, Mapping[str, str]]
    added: Mapping[str, Mapping[str, Fraction]] = field(default_factory=dict)

    def keeping(self, transitions: Iterable[Traced]) -> Steps:
        """Only some of the transitions, and the states that they reach."""
        kept = tuple(transitions)
        targets: dict[str, list[str]] = {}
        for t, _ in kept:
            targets.setdefault(t.source, []).append(t.target)
        found = {self.states[0].name: None}
        for name in (work := list(found)):
            more = [target for target in targets.get(name, ()) if target not in found]
            found.update(dict.fromkeys(more))
            work += more
        return Steps(
            tuple(state for state in self.states if state.name in found),
            tuple((t, lines) for t, lines in kept if t.source in found),
            {name: values for name, values in self.values.items() if name in found},
            {name: added for name, added in self.added.items() if name in found},
        )


def pruned(steps: Steps, quiet: Collection[Output]) -> Steps:
    """Without steps after which nothing but ``quiet`` outputs follow."""
    before: dict[str, list[str]] = {}
    for t, _ in steps.transitions:
        before.setdefault(t.target, []).append(t.source)
    useful = {t.source for t, _ in steps.transitions if t.output not in quiet}
    for name in (work := sorted(useful)):
        more = set(before.get(name, ())) - useful
        useful |= more
        work += sorted(more)
    return steps.keeping((t, x) for t, x in steps.transitions if t.target in useful or t.output not in quiet)


def quotient(steps: Steps) -> Steps:
    """With one state for all that do the same in the same lines (the coarsest bisimulation), which keeps the
    first name."""
    leaving: dict[str, list[Traced]] = {}
    for t, lines in steps.transitions:
        leaving.setdefault(t.source, []).append((t, lines))
    names = [state.name for state in steps.states]
    names += dict.fromkeys(t.target for t, _ in steps.transitions if t.target not in names)
    headers = {state.name: replace(state, name="") for state in steps.states}
    group: dict[str, int] = dict.fromkeys(names, 0)
    while True:
        numbers: dict[object, int] = {}
        finer = {}
        for name in names:
            does = frozenset(
                (replace(t, source="", target=str(group[t.target])), lines)
                for t, lines in leaving.get(name, ())
            )
            finer[name] = numbers.setdefault((group[name], headers.get(name), does), len(numbers))
        if len(numbers) == len(set(group.values())):
            break
        group = finer
    first: dict[int, str] = {}
    common: dict[str, Mapping[str, str]] = {}
    for name in names:
        kept, here = first.setdefault(group[name], name), steps.values.get(name, {})
        common[kept] = {x: value for x, value in common.get(kept, here).items() if here.get(x) == value}
    return replace(steps, values=common).keeping(
        (replace(t, target=first[group[t.target]]), lines)
        for t, lines in steps.transitions
        if first[group[t.source]] == t.source
    )


# ------------------------------------------------------------------------------------------------------ names


def named(steps: Steps) -> Steps:
    """With names of variables and registers that are identifiers, and none of them both."""
    variables, registers = _apart(steps)
    states = (
        replace(state, registers=tuple((registers[r], k) for r, k in state.registers))
        for state in steps.states
    )
    return Steps(
        tuple(states),
        tuple((_with_names(t, variables, registers), lines) for t, lines in steps.transitions),
        steps.values,
        {
            state: {variables[x]: number for x, number in added.items() if x in variables}
            for state, added in steps.added.items()
        },
    )


def moved(steps: Steps) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """What is added to variables, and to the samples of states, to get the values that the program calls so:
    the way back from constants that were moved into means. What is passed on has the same added, or nothing.
    """
    group: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for t, _ in steps.transitions:
        passed = [(x, ("variable", y)) for x, y in t.copies if isinstance(y, str)]
        for x, source in [*passed, *((x, ("sample", t.source)) for x in t.assign)]:
            both = group.get(source, {source}) | group.get(("variable", x), {("variable", x)})
            group.update(dict.fromkeys(both, both))
    numbers: dict[str, set[Fraction]] = {}
    for added in steps.added.values():
        for x, number in added.items():
            numbers.setdefault(x, set()).add(number)
    found: dict[str, dict[str, Fraction]] = {"variable": {}, "sample": {}}
    for (kind, name), alike in group.items():
        here = {number for what, x in alike if what == "variable" for number in numbers.get(x, ())}
        if len(here) == 1 and (number := here.pop()):
            found[kind][name] = number
    return found["variable"], found["sample"]


def _apart(steps: Steps) -> tuple[dict[str, str], dict[str, str]]:
    variables = variables_of(t for t, _ in steps.transitions)
    registers = {r: None for state in steps.states for r, _ in state.registers}
    for update in (update for t, _ in steps.transitions for update in t.updates):
        registers.update(dict.fromkeys([update.register, *filter(None, [update.source])]))
    taken: set[str] = set()
    found: list[dict[str, str]] = []
    for names, stem in ((variables, "noisy"), (registers, "entry")):
        found.append({})
        fit = [name for name in names if name.isidentifier() and name not in RESERVED]
        for name in sorted(names, key=lambda name: name not in fit):
            found[-1][name] = free(name if name in fit else stem, taken)
            taken.add(found[-1][name])
    return found[0], found[1]


def _with_names(t: Transition, variables: Mapping[str, str], registers: Mapping[str, str]) -> Transition:
    """The transition with other names of variables and registers."""

    def new(name: str) -> str:
        return variables.get(name, name)

    def shown(output: Output) -> Output:
        items = tuple(shown(item) for item in output.items)
        return replace(output, names=tuple(map(new, output.names)), items=items)

    def term(old: Term) -> Term:
        return old if old.name is None else replace(old, name=new(old.name))

    atoms = (atom(term(each.low), term(each.high), each.strict) for each in t.guard.others)
    return replace(
        t,
        output=shown(t.output),
        guard=Guard(frozenset(map(new, t.guard.ge)), frozenset(map(new, t.guard.lt)), frozenset(atoms)),
        assign=frozenset(map(new, t.assign)),
        copies=tuple((new(x), new(y) if isinstance(y, str) else y) for x, y in t.copies),
        updates=tuple(
            replace(u, register=registers[u.register], source=u.source and registers[u.source])
            for u in t.updates
        ),
    )


def free(name: str, taken: Container[str]) -> str:
    """The name, with a number if there is one like it."""
    return next(new for k in count(1) if (new := name if k == 1 else f"{name}{k}") not in taken)
