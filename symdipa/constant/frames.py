"""Profiles and how a step changes them (weights.md, section 3).

A *profile* says for each way to shift the values that will be read later, what the run so far costs at least
when they are shifted so. A *frame* lists these ways, one column for each: equal values have equal shifts, and
a value below another is shifted at least as far. Profiles are rows of an integer array over the columns of a
frame; ``NEVER`` stands for infinity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from symdipa.constant.lift import Costs
from symdipa.control import Control
from symdipa.errors import LimitReached
from symdipa.order import Mask, OrderState, members

Rows = NDArray[np.int64]

NEVER = 1 << 60
LARGEST = 1 << 58
"""Finite costs are at most that."""

COLUMNS = 20_000
"""A frame with more columns is refused."""

Levels = tuple[int, ...]
FrameKey = tuple[tuple[int, ...], tuple[int, ...], tuple[tuple[int, int], ...]]


@dataclass(frozen=True, eq=False)
class Frame:
    """The columns of profiles over some variables.

    ``columns`` are levels of the classes of equal variables, ``where[x]`` is the class of variable ``x``.
    """

    where: dict[int, int]
    columns: tuple[Levels, ...]

    @cached_property
    def number(self) -> dict[Levels, int]:
        return {column: i for i, column in enumerate(self.columns)}

    @property
    def width(self) -> int:
        return len(self.columns)


def _columns(classes: int, below: list[list[int]], above: list[list[int]], top: int) -> Iterator[Levels]:
    """All levels of the classes such that a class below another has at least its level."""
    levels = [0] * classes

    def fill(i: int) -> Iterator[Levels]:
        if i == classes:
            yield tuple(levels)
            return
        ceiling = min((levels[j] for j in below[i] if j < i), default=top)
        floor = max((levels[j] for j in above[i] if j < i), default=0)
        for level in range(floor, ceiling + 1):
            levels[i] = level
            yield from fill(i + 1)

    return fill(0)


@dataclass(frozen=True, eq=False)
class Table:
    """A step as it acts on profiles, for one difference, from ``before`` to ``after`` columns.

    Column ``sources[i]`` for ``prices[i]`` is one way to reach the column ``targets[k]``, where ``k`` is the
    last with ``starts[k] <= i``.
    """

    before: int
    after: int
    sources: NDArray[np.intp]
    prices: Rows
    starts: NDArray[np.intp]
    targets: NDArray[np.intp]

    def apply(self, rows: Rows) -> Rows:
        """The profiles after the step."""
        result = np.full((len(rows), self.after), NEVER, dtype=np.int64)
        if len(self.sources):
            sums = rows[:, self.sources] + self.prices
            result[:, self.targets] = np.minimum.reduceat(sums, self.starts, axis=1)
            np.minimum(result, NEVER, out=result)
        return result

    def back(self, ahead: Rows) -> Rows:
        """For each column before the step the least of a price plus what is ahead of the column after it."""
        result = np.full(self.before, NEVER, dtype=np.int64)
        reached = np.repeat(self.targets, np.diff(np.append(self.starts, len(self.sources))))
        np.minimum.at(result, self.sources, np.minimum(ahead[reached] + self.prices, NEVER))
        return result


@dataclass(frozen=True, eq=False)
class Kit:
    """Makes frames and tables, each only once."""

    control: Control
    costs: Costs
    _frames: dict[FrameKey, Frame] = field(default_factory=dict)
    _tables: dict[tuple[int, int, int, int], Table] = field(default_factory=dict)
    _loops: dict[tuple[int, int, int], NDArray[np.bool_]] = field(default_factory=dict)

    def frame(self, order: OrderState, variables: Mask) -> Frame:
        """The frame of the variables in an order state in which they are tracked."""
        names = tuple(members(variables))
        first = {x: next(iter(members(order.eq[x] & variables))) for x in names}
        heads = sorted(set(first.values()))
        place = {x: heads.index(first[x]) for x in names}
        less = tuple((place[x], place[y]) for x in heads for y in heads if order.lt[x] >> y & 1)
        key = (names, tuple(place[x] for x in names), less)
        known = self._frames.get(key)
        if known is None:
            below: list[list[int]] = [[] for _ in heads]
            above: list[list[int]] = [[] for _ in heads]
            for i, j in less:
                below[j].append(i)
                above[i].append(j)
            columns = []
            for column in _columns(len(heads), below, above, self.costs.top):
                columns.append(column)
                if len(columns) > COLUMNS:
                    raise LimitReached(f"{len(heads)} live values at a time have more than {COLUMNS} shifts")
            known = self._frames[key] = Frame(place, tuple(columns))
        return known

    def table(self, before: Frame, after: Frame, t: int, difference: int) -> Table:
        """Transition ``t`` from one frame to another for a difference of this level."""
        key = (id(before), id(after), t, difference)
        known = self._tables.get(key)
        if known is None:
            known = self._tables[key] = self._build(before, after, t, difference)
        return known

    def _build(self, before: Frame, after: Frame, t: int, difference: int) -> Table:
        step, costs = self.control.steps[t], self.costs
        price, extra = costs.price[t][difference], costs.second[t][difference]
        stored = step.asg & sum(1 << x for x in after.where)
        kept = [(after.where[x], before.where[x]) for x in after.where if not stored >> x & 1]
        fresh = {after.where[x] for x in members(stored)}
        pick: list[int] = [-1] * (max(after.where.values()) + 1 if after.where else 0)
        for place, old in kept:
            pick[place] = old
        entries: list[tuple[int, int, int]] = []
        for source, column in enumerate(before.columns):
            for level in self._shifts(before, column, t, difference, bool(stored)):
                reached = tuple(level if i in fresh else column[old] for i, old in enumerate(pick))
                entries.append((after.number[reached], source, price[level] + extra))
        entries.sort()
        targets, starts = np.unique(np.array([e[0] for e in entries], dtype=np.intp), return_index=True)
        return Table(
            before.width,
            after.width,
            np.array([e[1] for e in entries], dtype=np.intp),
            np.array([e[2] for e in entries], dtype=np.int64),
            starts,
            targets,
        )

    def _bounds(self, frame: Frame, column: Levels, t: int) -> tuple[int, int]:
        """The least and the greatest level that the sample of ``t`` may have."""
        step = self.control.steps[t]
        floor = max((column[frame.where[x]] for x in members(step.lt)), default=0)
        return floor, min((column[frame.where[x]] for x in members(step.ge)), default=self.costs.top)

    def _shifts(self, frame: Frame, column: Levels, t: int, difference: int, stored: bool) -> range:
        """The levels that the sample may have: all if it is stored, else the one nearest the difference."""
        floor, ceiling = self._bounds(frame, column, t)
        if self.control.outputs_insample[t]:
            zero = self.costs.zero
            return range(zero, zero + (floor <= zero <= ceiling))
        if stored or floor > ceiling:
            return range(floor, ceiling + 1)
        nearest = min(max(difference, floor), ceiling)
        return range(nearest, nearest + 1)

    def free(self, frame: Frame, t: int, difference: int) -> NDArray[np.bool_]:
        """The columns on which transition ``t`` costs nothing, if its sample is not read later."""
        key = (id(frame), t, difference)
        known = self._loops.get(key)
        if known is None:
            fits = []
            for column in frame.columns:
                shifts = self._shifts(frame, column, t, difference, stored=False)
                prices = [self.costs.price[t][difference][level] for level in shifts]
                fits.append(bool(prices) and not prices[0] and not self.costs.second[t][difference])
            known = self._loops[key] = np.array(fits, dtype=np.bool_)
        return known


def maximal(rows: Rows) -> Rows:
    """The profiles that no other is everywhere at least as high as; in a fixed order, without repetition."""
    return rows[maximal_rows(rows)]


def maximal_rows(rows: Rows) -> NDArray[np.intp]:
    """Where the profiles are that no other is everywhere at least as high as (of equal ones the first)."""
    if len(rows) <= 1:
        return np.arange(len(rows))
    rows, where = np.unique(rows, axis=0, return_index=True)
    rows, where = rows[::-1], where[::-1]
    # Nothing is above what comes later: the sums (of parts that fit) descend, and where they agree
    # the rows do.
    order = np.argsort(-(rows >> 16).sum(axis=1), kind="stable")
    rows, where = rows[order], where[order]
    if rows.shape[1] == 1:
        return where[:1]
    chosen, size = np.empty_like(rows), 0
    kept = []
    for k, row in enumerate(rows):
        if not size or not (chosen[:size] >= row).all(axis=1).any():
            chosen[size] = row
            size += 1
            kept.append(k)
    return where[kept]
