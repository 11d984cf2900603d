"""Two-dimensional tables: functions of at most two live values, one table per relative order.

A :class:`PairTable` is known where its first argument lies below its second. Off the diagonal cells it is
positive and kept by logarithm; in a diagonal cell the table holds the analytic continuation across ``x = y``
(the integrands are analytic inside a cell), so there a sign goes with it and the polynomial rules stay exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from graphlib import TopologicalSorter

import numpy as np

from symdipa.evidence.probability.grid import Grid, scaled
from symdipa.evidence.probability.laplace import Array, log_density, log_interval, log_interval_continued
from symdipa.evidence.probability.poset import Law
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits


@dataclass(frozen=True, eq=False)
class PairTable:
    """``log[i, q, j, r]`` for the first argument at node ``q`` of cell ``i``, the second at ``r`` of ``j``.

    ``-inf`` where ``i > j``; ``sign[i, q, r]`` belongs to the cells with ``i = j``.
    """

    log: Array
    sign: Array

    def times(self, low: Array | None = None, high: Array | None = None) -> PairTable:
        """The product with a function of the first and one of the second argument."""
        log = self.log
        if low is not None:
            log = log + low[:, :, None, None]
        if high is not None:
            log = log + high
        return PairTable(log, self.sign)

    def __mul__(self, other: PairTable) -> PairTable:
        return PairTable(self.log + other.log, self.sign * other.sign)

    def __add__(self, other: PairTable) -> PairTable:
        log = np.logaddexp(self.log, other.log)
        cells = np.arange(log.shape[0])
        a, b = self.log[cells, :, cells], other.log[cells, :, cells]
        top = np.maximum(a, b)
        top = np.where(np.isfinite(top), top, 0.0)
        value = self.sign * np.exp(a - top) + other.sign * np.exp(b - top)
        with np.errstate(divide="ignore"):
            log[cells, :, cells] = np.log(np.abs(value)) + top
        return PairTable(log, np.sign(value))

    def mirrored(self) -> PairTable:
        """The same function after turning the line round, which swaps the arguments."""
        log = self.log[::-1, ::-1, ::-1, ::-1].transpose(2, 3, 0, 1)
        return PairTable(log, self.sign[::-1, ::-1, ::-1].transpose(0, 2, 1))


@dataclass
class Allowance:
    """How many numbers of two-dimensional tables may be computed, over all grids."""

    numbers: int
    limits: Limits = UNLIMITED
    spent: int = 0

    def spend(self, numbers: int) -> None:
        """Count; :class:`LimitReached` when it is used up, or the time over."""
        self.limits.check("two-dimensional tables")
        self.spent += numbers
        if self.spent > self.numbers:
            raise LimitReached(Limit.SIZE, f"two-dimensional tables take more than {self.numbers} numbers")


@dataclass(eq=False)
class Plane:
    """What can be done with pairs on one grid."""

    grid: Grid
    allowance: Allowance

    def __post_init__(self) -> None:
        self._spans: dict[Law, PairTable] = {}

    def spend(self) -> None:
        """Count one pass over a table; :class:`LimitReached` when the budget is used up."""
        self.allowance.spend(self.grid.size**2)

    @cached_property
    def _mask(self) -> Array:
        cells = np.arange(self.grid.cells)
        return np.where(cells[:, None] <= cells, 0.0, -np.inf)

    @cached_property
    def mirror(self) -> Plane:
        """The plane of the grid turned round."""
        return Plane(Grid(-self.grid.edges[::-1], self.grid.nodes), self.allowance)

    def outer(self, low: Array, high: Array) -> PairTable:
        """``low(x) * high(y)`` where ``x`` is below ``y``."""
        self.spend()
        cells, nodes = self.grid.cells, self.grid.nodes
        log = (low[:, :, None, None] + self._mask[:, None, :, None]) + high
        return PairTable(log, np.ones((cells, nodes, nodes)))

    def span(self, law: Law) -> PairTable:
        """The probability that a sample of this law lies between the arguments."""
        found = self._spans.get(law)
        if found is not None:
            return found
        self.spend()
        x, cells = self.grid.x, np.arange(self.grid.cells)
        low, high = np.maximum(x, law.low), np.minimum(x, law.high)
        log = log_interval(law.rate, law.mean, low[:, :, None, None], high)
        log += self._mask[:, None, :, None]
        a, b = x[:, :, None], x[:, None, :]
        inside = (x[:, 0] > law.low) & (x[:, 0] < law.high)
        continued = log_interval_continued(law.rate, law.mean, a, b)
        log[cells, :, cells] = np.where(inside[:, None, None], continued, -np.inf)
        self._spans[law] = PairTable(log, np.sign(b - a))
        return self._spans[law]

    def span_of(self, table: Array) -> PairTable:
        """The integral of a function between the arguments."""
        self.spend()
        grid, cells = self.grid, np.arange(self.grid.cells)
        top, values = scaled(table)
        with np.errstate(divide="ignore"):
            whole = np.log(values @ grid.weights * grid.half) + top[:, 0]
            left = np.log(np.maximum(values @ grid.partial.T, 0) * grid.half[:, None]) + top
            right = np.log(np.maximum(values @ (grid.weights - grid.partial).T, 0) * grid.half[:, None]) + top
        between = np.full((grid.cells, grid.cells), -np.inf)
        for i in cells[:-2]:
            between[i, i + 2 :] = np.logaddexp.accumulate(whole[i + 1 : -1])
        log = np.logaddexp(right[:, :, None, None], left)
        log = np.logaddexp(log, between[:, None, :, None]) + self._mask[:, None, :, None]
        ends = values @ grid.partial.T * grid.half[:, None]
        value = ends[:, None, :] - ends[:, :, None]
        with np.errstate(divide="ignore"):
            log[cells, :, cells] = np.log(np.abs(value)) + top[:, :, None]
        return PairTable(log, np.sign(value))

    def over_low(self, pair: PairTable) -> Array:
        """Integrate the first argument out: a function of the second."""
        self.spend()
        top, values = self._columns(pair)
        whole = self._up_to_diagonal(top, values)
        return np.asarray(np.logaddexp.reduce(whole, 0)).reshape(self.grid.x.shape)

    def over_high(self, pair: PairTable) -> Array:
        """Integrate the second argument out."""
        return np.ascontiguousarray(self.mirror.over_low(pair.mirrored())[::-1, ::-1])

    def low_below(self, pair: PairTable) -> PairTable:
        """``integral over x < z of f(x, y)`` for ``z < y``."""
        self.spend()
        grid = self.grid
        top, values = self._columns(pair)
        with np.errstate(divide="ignore", invalid="ignore"):
            whole = np.log(np.maximum(grid.weights @ values, 0)) + np.log(grid.half)[:, None] + top
        before = np.full_like(whole, -np.inf)
        before[1:] = np.logaddexp.accumulate(whole, 0)[:-1]
        inside = np.matmul(grid.partial, values)
        return self._assembled(before, inside, top, self._diagonal(inside))

    def low_above(self, pair: PairTable) -> PairTable:
        """``integral over z < x < y of f(x, y)`` for ``z < y``."""
        self.spend()
        grid = self.grid
        top, values = self._columns(pair)
        whole = self._up_to_diagonal(top, values)
        after = np.full_like(whole, -np.inf)
        after[:-1] = np.logaddexp.accumulate(whole[::-1], 0)[::-1][1:]
        inside = np.matmul(grid.weights - grid.partial, values)
        block = self._diagonal(values)
        partial = np.einsum("rk,ckr->cr", grid.partial, block)
        diagonal = partial[:, None, :] - np.matmul(grid.partial, block)
        return self._assembled(after, inside, top, diagonal)

    def high_above(self, pair: PairTable) -> PairTable:
        """``integral over y > z of f(x, y)`` for ``x < z``."""
        return self.mirror.low_below(pair.mirrored()).mirrored()

    def high_below(self, pair: PairTable) -> PairTable:
        """``integral over x < y < z of f(x, y)`` for ``x < z``."""
        return self.mirror.low_above(pair.mirrored()).mirrored()

    def _columns(self, pair: PairTable) -> tuple[Array, Array]:
        """The largest logarithm of each column of each cell, and the signed values relative to it."""
        cells, nodes = self.grid.cells, self.grid.nodes
        log = pair.log.reshape(cells, nodes, cells * nodes)
        top = log.max(1)
        top = np.where(np.isfinite(top), top, 0.0)
        values = np.exp(log - top[:, None])
        block = values.reshape(pair.log.shape)
        i = np.arange(cells)
        block[i, :, i] *= pair.sign
        return top, values

    def _diagonal(self, values: Array) -> Array:
        cells, nodes = self.grid.cells, self.grid.nodes
        i = np.arange(cells)
        return np.asarray(values.reshape(cells, -1, cells, nodes)[i, :, i])

    def _up_to_diagonal(self, top: Array, values: Array) -> Array:
        """Logarithms of the integrals over each cell of ``x``, in the cell of ``y`` only up to ``y``."""
        grid, i = self.grid, np.arange(self.grid.cells)
        whole = grid.weights @ values
        partial = np.einsum("rk,ckr->cr", grid.partial, self._diagonal(values))
        whole.reshape(grid.cells, grid.cells, grid.nodes)[i, i] = partial
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.maximum(whole, 0)) + np.log(grid.half)[:, None] + top)

    def _assembled(self, rest: Array, inside: Array, top: Array, diagonal: Array) -> PairTable:
        """Add the cells passed (``rest``) to the integral inside a cell."""
        grid, i = self.grid, np.arange(self.grid.cells)
        shape = (grid.cells, grid.nodes, grid.cells, grid.nodes)
        inside.reshape(shape)[i, :, i] = diagonal
        scale = top + np.log(grid.half)[:, None]
        largest = np.maximum(rest, scale)
        value = inside
        value *= np.exp(scale - largest)[:, None]
        value += np.exp(rest - largest)[:, None]
        sign = np.sign(self._diagonal(value))
        block = value.reshape(shape)
        block[i, :, i] = np.abs(self._diagonal(value))
        with np.errstate(divide="ignore"):
            log = np.log(np.maximum(value, 0, out=value), out=value)
        log += largest[:, None]
        log = log.reshape(shape)
        log += self._mask[:, None, :, None]
        return PairTable(log, sign)


Regions = dict[tuple[int, int], PairTable]


@dataclass(eq=False)
class Joint:
    """A function of the live values: ``number`` if there is none, ``line`` of one, ``regions`` of two.

    ``regions[x, y]`` is the function where ``x`` lies below ``y``; a missing order has the value 0.
    """

    live: tuple[int, ...] = ()
    number: float = 0.0
    line: Array | None = None
    regions: Regions | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample with those that must lie directly below and above it, or all of them when it is placed.

    ``table`` is its density with factors, if it has any.
    """

    name: int
    law: Law
    table: Array | None
    under: frozenset[int]
    over: frozenset[int]


def integrate(plane: Plane, samples: Sequence[Sample], root: int | None) -> Array:
    """The logarithm of the probability of an order; with ``root`` as a table of the root's value.

    The samples are placed one after another; those that have later neighbours are alive, two at most.
    """
    ordered = ordering(samples, root, plane.allowance.limits)
    last = {
        s.name: max(i for i, t in enumerate(ordered) if t is s or s.name in t.under | t.over) for s in ordered
    }
    state = Joint()
    # What follows from edges that come later may be used now: it leaves fewer orders to follow.
    below, above = _closure(samples)
    for i, sample in enumerate(ordered):
        dying = frozenset(x for x in state.live if last[x] == i and x != root)
        kept = last[sample.name] > i or sample.name == root
        table = np.zeros_like(plane.grid.x) if sample.name == root else sample.table
        placed = replace(sample, table=table, under=below[sample.name], over=above[sample.name])
        state = place(plane, state, placed, kept, dying)
    if root is None:
        return np.asarray(state.number)
    assert state.line is not None
    return state.line


def _closure(samples: Sequence[Sample]) -> tuple[dict[int, frozenset[int]], dict[int, frozenset[int]]]:
    """For every sample all those that lie below it, and all those above."""
    under = {s.name: s.under for s in samples}
    below: dict[int, frozenset[int]] = {}
    for name in TopologicalSorter(under).static_order():
        below[name] = under[name].union(*(below[k] for k in under[name]))
    above: dict[int, set[int]] = {name: set() for name in under}
    for name, others in below.items():
        for k in others:
            above[k].add(name)
    return below, {name: frozenset(others) for name, others in above.items()}


def ordering(samples: Sequence[Sample], root: int | None, limits: Limits = UNLIMITED) -> list[Sample]:
    """An order in which at most two samples are alive at a time; :class:`LimitReached` if none was found."""
    given = list(samples)
    if _width(given, root) <= 2:
        return given
    for first in given:
        found, left = [first], [s for s in given if s is not first]
        while left:
            limits.check("an order in which few samples are alive at a time")
            best = min(left, key=lambda s: (_width_after([*found, s], given, root), s.name))
            found.append(best)
            left.remove(best)
        if _width(found, root) <= 2:
            return found
    raise LimitReached(Limit.METHOD, "more than two stored values are alive at a time")


def _width(ordered: Sequence[Sample], root: int | None) -> int:
    return max(_width_after(ordered[: i + 1], ordered, root) for i in range(len(ordered)))


def _width_after(placed: Sequence[Sample], everyone: Sequence[Sample], root: int | None) -> int:
    names = {s.name for s in placed}
    return sum(1 for s in placed if s.name == root or not (s.under | s.over) <= names)


def density(grid: Grid, law: Law) -> Array:
    """The table of the density of a law."""
    inside = (grid.x > law.low) & (grid.x < law.high)
    return np.where(inside, log_density(law.rate, law.mean, grid.x), -np.inf)


def place(plane: Plane, state: Joint, sample: Sample, kept: bool, dying: frozenset[int]) -> Joint:
    """The function of the live values after one more sample; ``dying`` are integrated out."""
    if not kept:
        state = _weighted(plane, state, sample)
        for x in sorted(dying):
            state = drop(plane, state, x)
        return state
    table = density(plane.grid, sample.law) if sample.table is None else sample.table
    z = sample.name
    if not state.live:
        return Joint((z,), 0.0, table + state.number)
    if len(state.live) == 1:
        return _second(plane, state, sample, table, dying)
    if not dying:
        raise LimitReached(Limit.METHOD, "more than two stored values are alive at a time")
    x = min(dying)
    (y,) = set(state.live) - {x}
    state = _replaced(plane, state, x, y, sample, table)
    return drop(plane, state, y) if y in dying else state


def drop(plane: Plane, state: Joint, x: int) -> Joint:
    """Integrate a live value out."""
    if len(state.live) == 1:
        assert state.line is not None
        return Joint((), float(plane.grid.total(state.line)))
    (y,) = set(state.live) - {x}
    assert state.regions is not None
    line = np.full_like(plane.grid.x, -np.inf)
    if (x, y) in state.regions:
        line = np.logaddexp(line, plane.over_low(state.regions[x, y]))
    if (y, x) in state.regions:
        line = np.logaddexp(line, plane.over_high(state.regions[y, x]))
    return Joint((y,), 0.0, line)


def _second(plane: Plane, state: Joint, sample: Sample, table: Array, dying: frozenset[int]) -> Joint:
    """A sample to be kept beside one live value, or in its place."""
    (x,), z, line = state.live, sample.name, state.line
    assert line is not None
    if x in dying:
        if x in sample.under:
            return Joint((z,), 0.0, plane.grid.below(line) + table)
        if x in sample.over:
            return Joint((z,), 0.0, plane.grid.above(line) + table)
        return Joint((z,), 0.0, plane.grid.total(line) + table)
    regions: Regions = {}
    if x not in sample.over:
        regions[x, z] = plane.outer(line, table)
    if x not in sample.under:
        regions[z, x] = plane.outer(table, line)
    return Joint((x, z), 0.0, None, regions)


def _replaced(plane: Plane, state: Joint, x: int, y: int, sample: Sample, table: Array) -> Joint:
    """The sample takes the place of the live value ``x``, the other one is ``y``."""
    assert state.regions is not None
    z = sample.name
    regions: Regions = {}

    def add(order: tuple[int, int], pair: PairTable) -> None:
        regions[order] = regions[order] + pair if order in regions else pair

    below, above = y not in sample.under, y not in sample.over  # may the sample lie below, above y?
    for (low, _), pair in state.regions.items():
        x_is_low = low == x
        if x in sample.under:  # x < z
            if x_is_low and below:
                add((z, y), plane.low_below(pair))
            if x_is_low and above:
                add((y, z), plane.outer(plane.over_low(pair), np.zeros_like(table)))
            if not x_is_low and above:
                add((y, z), plane.high_below(pair))
        elif x in sample.over:  # z < x
            if x_is_low and below:
                add((z, y), plane.low_above(pair))
            if not x_is_low and below:
                add((z, y), plane.outer(np.zeros_like(table), plane.over_high(pair)))
            if not x_is_low and above:
                add((y, z), plane.high_above(pair))
        else:
            line = plane.over_low(pair) if x_is_low else plane.over_high(pair)
            if below:
                add((z, y), plane.outer(np.zeros_like(table), line))
            if above:
                add((y, z), plane.outer(line, np.zeros_like(table)))
    for order, pair in regions.items():
        regions[order] = pair.times(low=table) if order[0] == z else pair.times(high=table)
    return Joint((y, z), 0.0, None, regions)


def _weighted(plane: Plane, state: Joint, sample: Sample) -> Joint:
    """Multiply by the probability that a sample which is not kept lies where it must."""
    if not state.live:
        return Joint((), state.number + float(_mass(plane, sample, None, None)))
    if len(state.live) == 1:
        (x,) = state.live
        assert state.line is not None
        low, high = plane.grid.x if x in sample.under else None, plane.grid.x if x in sample.over else None
        return Joint(state.live, 0.0, state.line + _mass(plane, sample, low, high))
    assert state.regions is not None
    regions: Regions = {}
    for (a, b), pair in state.regions.items():
        floor = b if b in sample.under else a if a in sample.under else None
        ceiling = a if a in sample.over else b if b in sample.over else None
        if floor == b and ceiling == a:
            continue
        if floor == a and ceiling == b:
            plane.spend()
            between = plane.span(sample.law) if sample.table is None else plane.span_of(sample.table)
            regions[a, b] = pair * between
            continue
        nodes = plane.grid.x
        factor = _mass(plane, sample, None if floor is None else nodes, None if ceiling is None else nodes)
        plane.spend()
        at_low = a in (floor, ceiling)
        regions[a, b] = pair.times(low=factor) if at_low else pair.times(high=factor)
    return Joint(state.live, 0.0, None, regions)


def _mass(plane: Plane, sample: Sample, low: Array | None, high: Array | None) -> Array:
    """The mass of a sample above each node (``low``), below each node (``high``), or in all."""
    if sample.table is not None:
        grid = plane.grid
        if low is not None:
            return grid.above(sample.table)
        return grid.below(sample.table) if high is not None else grid.total(sample.table)
    law = sample.law
    floor = law.low if low is None else np.maximum(low, law.low)
    ceiling = law.high if high is None else np.minimum(high, law.high)
    return log_interval(law.rate, law.mean, floor, ceiling)
