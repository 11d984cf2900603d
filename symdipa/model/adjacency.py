"""Adjacency: the intervals over which differences of inputs range (docs/weights.md, section 6)."""

from __future__ import annotations

from fractions import Fraction

Interval = tuple[Fraction, Fraction]
"""The least and the largest difference of an input, ``low <= 0 <= high``."""

Adjacency = str | Interval
"""A name of :data:`ADJACENCIES`, or the interval itself."""

TWO_SIDED = "two-sided"
"""The name of the usual adjacency,"""
EITHER_WAY: Interval = (Fraction(-1), Fraction(1))
"""and its interval."""

ADJACENCIES: dict[str, tuple[Interval, ...]] = {
    TWO_SIDED: (EITHER_WAY,),
    "monotone": ((Fraction(0), Fraction(1)), (Fraction(-1), Fraction(0))),
}
"""The intervals over which differences range; of several the worst counts."""


def intervals(adjacency: Adjacency, sensitivity: Fraction | int = 1) -> tuple[Interval, ...]:
    """The intervals of an adjacency (by name or as an interval), scaled by the sensitivity.

    Raises ``ValueError`` for an unknown name, an interval without 0, or a negative sensitivity.
    """
    if sensitivity < 0:
        raise ValueError(f"a sensitivity is not negative: {sensitivity}")
    if not isinstance(adjacency, str):
        chosen: tuple[Interval, ...] = ((Fraction(adjacency[0]), Fraction(adjacency[1])),)
    elif adjacency in ADJACENCIES:
        chosen = ADJACENCIES[adjacency]
    else:
        raise ValueError(f"adjacency is one of {', '.join(ADJACENCIES)} or an interval, not {adjacency!r}")
    for low, high in chosen:
        if not low <= 0 <= high:
            raise ValueError(f"differences range over an interval that contains 0, not [{low}, {high}]")
    return tuple((low * sensitivity, high * sensitivity) for low, high in chosen)
