"""Joins branches that do the same: ``if x < b and x >= a: ... elif x < a: ...`` asks about ``b`` before it is
known that ``x`` is above ``a``, so that there are two branches where one comparison decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from symdipa.model.parts import Guard, guarded
from symdipa.model.validation.comparisons import implies, simplified
from symdipa.programs.automaton.tidy import Steps, Traced


def joined(steps: Steps, integer: bool) -> Steps:
    """With one branch for all that leave a state, show the same in the same line, store the same and lead to
    the same state, if together they are one conjunction."""
    alike: dict[object, list[Traced]] = {}
    for t, lines in steps.transitions:
        does = replace(t, guard=Guard()), lines[-1:]
        alike.setdefault(does, []).append((t, lines))
    return steps.keeping(one for some in alike.values() for one in _together(some, integer))


def _together(some: list[Traced], integer: bool) -> Iterator[Traced]:
    """The branches, joined two by two as long as some can be."""
    left = list(some)
    while (pair := _pair(left, integer)) is not None:
        one, other, guard = pair
        kept = [lines for lines in one[1] if lines in other[1]]
        left = [each for each in left if each is not one and each is not other]
        left.append((replace(one[0], guard=guard), tuple(kept)))
    yield from left


def _pair(some: list[Traced], integer: bool) -> tuple[Traced, Traced, Guard] | None:
    for one, other in combinations(some, 2):
        if (guard := _either(one[0].guard, other[0].guard, integer)) is not None:
            return one, other, guard
    return None


def _either(one: Guard, other: Guard, integer: bool) -> Guard | None:
    """What holds where one of two guards does, if that is what both imply."""
    common = frozenset(
        each
        for each in one.atoms | other.atoms
        if implies(one.atoms, each, integer) and implies(other.atoms, each, integer)
    )
    if all(
        implies(common | {first.negation}, second, integer)
        for first in one.atoms - common
        for second in other.atoms - common
    ):
        return simplified(guarded(common, True), integer)
    return None
