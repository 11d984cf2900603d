"""Who is adjacent: how far entries may differ (:mod:`~symdipa.model.adjacency.ranges`), and which of them
(:mod:`~symdipa.model.adjacency.differ`)."""

from symdipa.model.adjacency.ranges import (
    ADJACENCIES,
    EITHER_WAY,
    TWO_SIDED,
    Adjacency,
    Interval,
    exact,
    in_integers,
    intervals,
    named,
)

__all__ = [
    "ADJACENCIES",
    "EITHER_WAY",
    "TWO_SIDED",
    "Adjacency",
    "Interval",
    "exact",
    "in_integers",
    "intervals",
    "named",
]
