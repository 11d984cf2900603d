"""Runs that show the same: when what is proved of some runs is proved of the automaton (Thm. same outputs).

An observer sees outputs, not runs. So the cost of one run says something about the automaton only if it is
*distinct*: no other feasible run shows the same. Otherwise all those must be given, and each cost as much.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from typing import Protocol, TypeVar

from symdipa.checker.reading import items, members
from symdipa.checker.rules import refuse

MAX_IMITATORS = 10_000
"""If other runs could be in more places, distinctness is not claimed."""

Cycle = tuple[int, int]
"""A half-open range of positions."""

O = TypeVar("O")  # noqa: E741
"""What is known of the values that a run stored."""


class Step(Protocol):
    @property
    def target(self) -> str: ...
    @property
    def reads_input(self) -> bool: ...
    @property
    def shows(self) -> object: ...


class Run(Protocol):
    """Transitions, and the steps that belong to them."""

    @property
    def transitions(self) -> tuple[int, ...]: ...
    @property
    def steps(self) -> Sequence[Step]: ...


def others_of(value: object, cycles: Sequence[Cycle], where: str) -> Iterator[tuple[dict[str, object], str]]:
    """The parts of the runs that are given besides one with these cycles, each with its place."""
    for o, item in enumerate(items(value, where)):
        if cycles:
            refuse("others", f"{where}[{o}] stands beside a run with cycles")
        yield members(item, f"{where}[{o}]", ["run", "flow"]), f"{where}[{o}]"


def shared_entries(run: Run, differences: Sequence[Fraction], other: Run, where: str) -> list[Fraction]:
    """The differences at the steps of a run that reads the same entries and shows the same.

    Entries that only the other run reads are equal.
    """
    if [step.shows for step in other.steps] != [step.shows for step in run.steps]:
        refuse("others", f"{where} does not show what the run shows")
    read = (difference for difference, step in zip(differences, run.steps, strict=True) if step.reads_input)
    return [next(read, Fraction(0)) if step.reads_input else Fraction(0) for step in other.steps]


def is_distinct(
    runs: Sequence[Run],
    cycles: Sequence[Cycle],
    start: tuple[str, O],
    imitations: Callable[[str, O, int], Iterator[tuple[int, str, O]]],
    key: Callable[[O], Hashable] = lambda known: known,
) -> bool:
    """Whether these runs, which show the same, are all feasible ones that do, however often cycles repeat.

    Follows all runs with these outputs at once, from a state with what is known there. ``imitations`` are the
    feasible steps from such a place that show what the first run shows at a position: transition, state, and
    what is known then, of which ``key`` tells whether it is the same. Inputs are not observed, and all real
    numbers count as the same output.
    """

    def place(look: tuple[int, str, O, frozenset[int]]) -> Hashable:
        position, state, known, listed = look
        return position, state, key(known), listed

    back = {j: i for i, j in cycles}
    first = (0, *start, frozenset(range(len(runs))))
    seen, queue = {place(first)}, deque([first])
    while queue:
        position, state, known, listed = queue.popleft()
        found = [(back[position], state, known, listed)] if position in back else []
        if position < len(runs[0].steps):
            for t, target, after in imitations(state, known, position):
                still = frozenset(k for k in listed if runs[k].transitions[position] == t)
                found.append((position + 1, target, after, still))
        elif not listed:
            return False
        fresh = [look for look in found if place(look) not in seen]
        seen.update(map(place, fresh))
        queue.extend(fresh)
        if len(seen) > MAX_IMITATORS:
            return False
    return True
