"""The exact constant of any augmentation, by a distance automaton (docs/weights.md, section 3).

:mod:`space` is the game as a graph with tables, :mod:`search` explores its profiles below a cap,
:mod:`growth` decides whether costs have a bound at all.
"""

from symdipa.bounds.exact.distance.search import Distance, distance_constant, distances

__all__ = ["Distance", "distance_constant", "distances"]
