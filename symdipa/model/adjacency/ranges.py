"""Adjacency: how far inputs may differ, and in which order they are compared (docs/weights.md, section 6).

Adjacency is symmetric: one input minus the other lies in an interval, in either order. So ``D`` bounds two
ratios, and each of them has *differences*, first input minus second, in an interval of its own.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, gcd

Interval = tuple[Fraction, Fraction]
"""The least and the largest difference of an input, ``low <= 0 <= high``."""

Adjacency = str | Interval
"""A name of :data:`ADJACENCIES`, or the interval itself, also as text: ``"-1,0"``. :func:`named` gives
equal ones the same value."""

TWO_SIDED = "two-sided"
"""The name of the usual adjacency,"""
EITHER_WAY: Interval = (Fraction(-1), Fraction(1))
"""and its interval."""

ADJACENCIES: dict[str, Interval] = {TWO_SIDED: EITHER_WAY, "monotone": (Fraction(0), Fraction(1))}
"""The interval in which one input minus the other lies, by name."""


def exact(value: Fraction | float | str) -> Fraction:
    """The number as it is written: 0.1 is 1/10. Raises ``ValueError`` and ``TypeError`` for no number."""
    return Fraction(str(value)) if isinstance(value, float | str) else Fraction(value)


def named(adjacency: Adjacency) -> Adjacency:
    """The name of the adjacency if it has one, else its interval, in numbers.

    Raises ``ValueError`` for an unknown name and an interval without 0.
    """
    interval = _interval(adjacency)
    return next((name for name, known in ADJACENCIES.items() if known == interval), interval)


def intervals(adjacency: Adjacency, sensitivity: Fraction | int = 1) -> tuple[Interval, ...]:
    """The intervals of the differences, for one order of adjacent inputs and for the other (once if equal).

    The worst of them counts. They are scaled by the sensitivity. Raises what :func:`named` raises, and
    ``ValueError`` for a negative sensitivity.
    """
    if sensitivity < 0:
        raise ValueError(f"a sensitivity is not negative: {sensitivity}")
    low, high = (bound * sensitivity for bound in _interval(adjacency))
    return tuple(dict.fromkeys([(low, high), (-high, -low)]))


def in_integers(adjacency: Adjacency, sensitivity: Fraction | int) -> tuple[Adjacency, Fraction]:
    """The adjacency of inputs that are integers, and its sensitivity, both in integers.

    The scaled interval is rounded inwards: no other differences occur. The sensitivity is the largest number
    that divides its ends (1 if they are 0). Raises what :func:`intervals` raises.
    """
    (low, high), *_ = intervals(adjacency, Fraction(sensitivity))
    ends = ceil(low), floor(high)
    unit = gcd(*ends) or 1
    return named((Fraction(ends[0], unit), Fraction(ends[1], unit))), Fraction(unit)


def _interval(adjacency: Adjacency) -> Interval:
    given = ADJACENCIES.get(adjacency, adjacency.split(",")) if isinstance(adjacency, str) else adjacency
    try:
        low, high = map(exact, given)
    except (TypeError, ValueError, ZeroDivisionError):
        known = ", ".join(ADJACENCIES)
        raise ValueError(
            f"adjacency is one of {known} or an interval like (-1, 0), not {adjacency!r}"
        ) from None
    if not low <= 0 <= high:
        raise ValueError(f"differences range over an interval that contains 0, not [{low}, {high}]")
    return low, high
