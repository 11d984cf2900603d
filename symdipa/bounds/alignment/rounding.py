"""From floats to a proof: exact shifts, checked, and exact potentials by longest path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from symdipa.bounds.alignment.program import ZERO, Constraints
from symdipa.bounds.costs import Rate

DENOMINATORS = (1, 2, 6, 60, 1000, 10**6)
"""The rounding grids, from coarse to fine. Rounding to a grid is monotone and keeps the ends of the range and
0, so what holds among floats without error holds among the rounded; what does not hold is found out."""

INTEGERS = (1,)
"""The grid where shifts must be integers (as the ends of the range are then)."""

SAME = 1e-9
"""Bounds as close as this (relatively) are taken for the same when a grid is chosen."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Exact values of the unknowns with the least potentials that prove them, one per component."""

    values: tuple[Fraction, ...]
    potentials: tuple[Fraction, ...]
    bound: Fraction


def rounded(
    constraints: Constraints,
    floats: list[float],
    estimate: float,
    low: Fraction,
    high: Fraction,
    grids: Sequence[int] = DENOMINATORS,
) -> Solution | None:
    """The best solution on one of the grids; ``None`` if there is none on any.

    The coarsest grid that proves what the floats promise is taken.
    """
    best: Solution | None = None
    for values in _candidates(floats, *constraints.shifts(low, high), grids):
        found = evaluate(constraints, values, low, high)
        if found is not None and (best is None or found.bound < best.bound):
            best = found
            if float(best.bound) <= estimate + SAME * max(1.0, abs(estimate)):
                break
    return best


def _candidates(
    floats: list[float], low: Fraction, high: Fraction, grids: Sequence[int]
) -> Iterator[tuple[Fraction, ...]]:
    for denominator in grids:
        known: dict[float, Fraction] = {}
        for value in floats:
            if value not in known:
                known[value] = _nearest(value, denominator, low, high)
        yield tuple(known[value] for value in floats)


def _nearest(value: float, denominator: int, low: Fraction, high: Fraction) -> Fraction:
    """The nearest number of the grid: ``low``, ``high`` and the fractions with small denominators between."""
    exact = Fraction(value)
    near = exact.limit_denominator(denominator)
    return min((max(low, min(near, high)), low, high), key=lambda candidate: abs(candidate - exact))


def evaluate(
    constraints: Constraints, values: tuple[Fraction, ...], low: Fraction, high: Fraction
) -> Solution | None:
    """The potentials for these values, exactly.

    ``None`` if the values break a rule, a loop costs anything, or a step costs infinitely much.
    """
    least, most = constraints.shifts(low, high)
    number: dict[Fraction, int] = {}  # there are few different values
    place = [number.setdefault(value, len(number)) for value in values]
    if values[ZERO] != 0 or not all(least <= value <= most for value in number):
        return None
    if any(place[a] != place[b] and values[a] > values[b] for a, b in constraints.at_most):
        return None
    potentials = [Fraction(0)] * constraints.components
    known: dict[tuple[Rate, tuple[int, ...], tuple[int, ...]], Fraction] = {}  # many steps cost the same
    for here, there, rate, floor, ceiling in sorted(constraints.groups, key=lambda group: group[0]):
        key = rate, tuple(place[f] for f in floor), tuple(place[c] for c in ceiling)
        if (paid := known.get(key)) is None:
            worst = rate.worst((values[f] for f in floor), (values[c] for c in ceiling), low, high)
            if worst is None:
                return None
            paid = known[key] = sum(worst, Fraction(0))
        if here != there:  # components are numbered from the ends, so the potential there is final
            potentials[here] = max(potentials[here], paid + potentials[there])
        elif paid:
            return None
    bound = potentials[constraints.initial]
    return Solution(values, tuple(potentials), bound)
