"""Which entries of two inputs for a run may differ, how far, and which differences cost most."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice

from symdipa.model.adjacency import Interval, in_integers, intervals
from symdipa.model.adjacency.differ import Differ
from symdipa.model.adjacency.letters import EQUAL, OTHER
from symdipa.model.automaton import Automaton
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.numbers.shifts import Worst, worst
from symdipa.runs.numbers.system import System

MOST_WORDS = 64
"""Up to so many ways in which entries may differ, all are tried; else one entry after another is added."""


def after(differ: Differ, differences: Iterable[Fraction | None]) -> int | None:
    """The state of the adjacency automaton behind the differences of some steps (``None`` for those that read
    nothing); ``None`` where entries may not differ like that."""
    state: int | None = 0
    for delta in differences:
        if delta is not None and state is not None:
            state = differ.after(state, OTHER if delta else EQUAL)
    return state


def are_adjacent(automaton: Automaton, differences: Sequence[Fraction | None]) -> bool:
    """Whether inputs that differ so at the steps of a run are adjacent."""
    return after(automaton.differ, differences) is not None and any(
        all(delta is None or low <= delta <= high for delta in differences)
        for low, high in ranges_of(automaton)
    )


def ranges_of(automaton: Automaton) -> tuple[Interval, ...]:
    """Between which two numbers differences lie, first input minus second, in one order and the other."""
    if automaton.integer:
        return intervals(*in_integers(automaton.adjacency, 1))
    return intervals(automaton.adjacency)


def worst_allowed(automaton: Automaton, system: System, limits: Limits = UNLIMITED) -> Worst | None:
    """The differences that cost most in a run, among those that the automaton allows.

    ``None``: there are none, no stream has so many entries. Where there are many ways in which entries may
    differ, others may cost more than what is found.
    """
    ways = [_worst_between(*ends, automaton.differ, system, limits) for ends in ranges_of(automaton)]
    return max((found for found in ways if found is not None), key=_rank, default=None)


def _worst_between(
    low: Fraction, high: Fraction, differ: Differ, system: System, limits: Limits
) -> Worst | None:
    if differ.is_all:
        return worst(system, low, high, limits)
    words = list(islice(_words(differ, system.reads), MOST_WORDS + 1))
    if len(words) <= MOST_WORDS:
        return max((worst(system, low, high, limits, word) for word in words), key=_rank, default=None)
    best = word = list(words[-1])
    found, grown = worst(system, low, high, limits, word), True
    while grown:
        grown = False
        for k in [k for k, letter in enumerate(best) if letter == EQUAL]:
            word = [*best[:k], OTHER, *best[k + 1 :]]
            if _allows(differ, word) and _rank(now := worst(system, low, high, limits, word)) > _rank(found):
                found, following, grown = now, word, True
        best = following if grown else best
    return found


def _rank(found: Worst) -> tuple[bool, Fraction]:
    return found.value is None, found.value or Fraction(0)


def _allows(differ: Differ, word: Sequence[str]) -> bool:
    return after(differ, [Fraction(letter == OTHER) if letter else None for letter in word]) is not None


def _words(differ: Differ, reads: Sequence[bool]) -> Iterator[tuple[str, ...]]:
    """Letters for the steps of a run (none where nothing is read); those with fewer differences are left out
    where that leads to the same."""
    work: list[tuple[tuple[str, ...], int]] = [((), 0)]
    while work:
        word, state = work.pop()
        if len(word) == len(reads):
            yield word
        elif not reads[len(word)]:
            work.append(((*word, ""), state))
        else:
            equal, other = differ.moves[state]
            if other is not None:
                work.append(((*word, OTHER), other))
            if equal is not None and equal != other:
                work.append(((*word, EQUAL), equal))
