"""One-dimensional tables: functions known by their logarithm at Gauss-Legendre nodes of cells.

A :class:`Grid` cuts a part of the line into cells whose edges include every kink (the mean of every sample,
the ends of every output interval). Inside a cell all functions that occur are analytic, so integrals by the
polynomial through its nodes converge spectrally. Tables are arrays ``(..., cells, nodes)`` of logarithms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

import numpy as np

from symdipa.evidence.probability.laplace import Array

NODES = ({16: 4.0, 12: 2.6, 8: 1.2, 6: 0.6, 4: 0.16}, {14: 3.3, 10: 1.9, 7: 0.85, 5: 0.35})
"""For a number of nodes: by how much logarithms may change in a cell to be exact to about ten digits.

Two families, so that two grids may differ in every cell.
"""


@cache
def _rule(nodes: int) -> tuple[Array, Array, Array]:
    """Gauss-Legendre nodes and weights on ``[-1, 1]``, and the matrix of integrals from ``-1`` to a node."""
    t, w = np.polynomial.legendre.leggauss(nodes)
    values = np.polynomial.legendre.legvander(t, nodes)
    coefficients = (values[:, :nodes] * w[:, None]).T * (np.arange(nodes)[:, None] + 0.5)
    integrals = np.empty((nodes, nodes))
    integrals[:, 0] = t + 1
    for n in range(1, nodes):
        integrals[:, n] = (values[:, n + 1] - values[:, n - 1]) / (2 * n + 1)
    return t, w, integrals @ coefficients


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells between consecutive ``edges`` with ``nodes`` Gauss-Legendre nodes each."""

    edges: Array
    nodes: int

    @property
    def cells(self) -> int:
        return len(self.edges) - 1

    @property
    def size(self) -> int:
        """The number of nodes in all."""
        return self.cells * self.nodes

    @cached_property
    def half(self) -> Array:
        """Half the width of each cell."""
        return np.asarray(np.diff(self.edges) / 2)

    @cached_property
    def x(self) -> Array:
        """The nodes, one row for each cell."""
        middle = (self.edges[1:] + self.edges[:-1]) / 2
        return np.asarray(middle[:, None] + self.half[:, None] * _rule(self.nodes)[0])

    @property
    def weights(self) -> Array:
        return _rule(self.nodes)[1]

    @property
    def partial(self) -> Array:
        """``partial[q] @ f`` integrates the polynomial through ``f`` from ``-1`` to node ``q``."""
        return _rule(self.nodes)[2]

    def total(self, table: Array) -> Array:
        """The logarithm of the integral over the whole grid."""
        top, values = scaled(table)
        with np.errstate(divide="ignore"):
            return np.asarray(
                np.logaddexp.reduce(np.log(values @ self.weights * self.half) + top[..., 0], -1)
            )

    def below(self, table: Array) -> Array:
        """The logarithm of the integral from the left end up to each node."""
        return self._running(table, self.partial, slice(None))

    def above(self, table: Array) -> Array:
        """The logarithm of the integral from each node to the right end."""
        return self._running(table, self.weights - self.partial, slice(None, None, -1))

    def _running(self, table: Array, matrix: Array, order: slice) -> Array:
        top, values = scaled(table)
        with np.errstate(divide="ignore"):
            whole = np.log(values @ self.weights * self.half) + top[..., 0]
            inside = np.log(np.maximum(values @ matrix.T, 0) * self.half[:, None]) + top
        before = np.full_like(whole, -np.inf)
        running = np.logaddexp.accumulate(whole[..., order], -1)[..., :-1]
        before[..., order][..., 1:] = running
        return np.asarray(np.logaddexp(before[..., None], inside))


def scaled(table: Array) -> tuple[Array, Array]:
    """The largest logarithm of each cell (0 for empty cells) and the values relative to it."""
    top = table.max(-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    return top, np.exp(table - top)


def make_grid(
    kinks: Sequence[float],
    slope: Callable[[Array], Array],
    ends: tuple[float, float],
    steepest: Callable[[Array], Array],
    degree: int,
) -> Maker:
    """What makes grids between two ends, with all kinks between them as edges.

    ``slope`` bounds how fast the logarithms of the tables change at given points. Cells hold equal parts of
    its integral, half of them of the length. ``steepest`` is a bound that holds whatever matters;
    on top of it tables may be polynomials of degree ``degree`` in any gap.
    """
    low, high = ends
    spread = max(abs(low), abs(high))
    edges = [low]
    for kink in kinks:
        if kink - edges[-1] > 1e-13 * spread and high - kink > 1e-13 * spread:
            edges.append(kink)
    edges.append(high)
    points = np.stack([np.linspace(a, b, 33) for a, b in pairwise(edges)])
    widths = np.diff(points, axis=1)
    middles = (points[:, 1:] + points[:, :-1]) / 2
    slopes = slope(middles)
    most = steepest(middles)
    slopes = slopes + (slopes * widths).sum() / (high - low)
    profile = np.concatenate((np.zeros((len(points), 1)), np.cumsum(slopes * widths, axis=1)), axis=1)
    return Maker(points, profile, (most * widths).sum(axis=1) + degree)


@dataclass(frozen=True, eq=False)
class Maker:
    """Points between neighbouring kinks, and there the integral of the slope from the left kink on.

    ``most`` is for every gap a bound on that integral where everything is followed that may matter.
    """

    points: Array
    profile: Array
    most: Array

    def grid(self, cells: float, attempt: int = 0) -> Grid:
        """A grid as fine as one of ``cells`` cells with the largest number of nodes.

        Grids of successive attempts have other nodes everywhere, and in every gap between kinks more cells as
        long as that may matter. So they do not agree by making the same mistake.
        """
        family = NODES[attempt % 2]
        quality = cells * NODES[0][16] / float(self.profile[:, -1].sum())
        counts = {}
        for n, change in family.items():
            floor = np.clip(np.ceil(self.most / change), 1, attempt + 1)
            counts[n] = np.maximum(floor, np.ceil(self.profile[:, -1] * quality / change))
        nodes = min(counts, key=lambda n: n * float(counts[n].sum()))
        cut = [
            np.interp(np.linspace(0, profile[-1], int(count) + 1)[:-1], profile, points)
            for points, profile, count in zip(self.points, self.profile, counts[nodes], strict=True)
        ]
        return Grid(np.concatenate([*cut, self.points[-1, -1:]]), nodes)
