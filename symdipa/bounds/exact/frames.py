"""Profiles and how a step changes them (Def. profile).

A *profile* says for each way to shift the values that will be read later, what the run so far costs at least
when they are shifted so. A *frame* lists these ways, one column for each: equal values have equal shifts, and
a value below another is shifted at least as far. Profiles are rows of an integer array over the columns of a
frame; ``NEVER`` stands for infinity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from symdipa.bounds.exact.lift import NEVER, Costs
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.control import Control
from symdipa.runs.order import Mask, OrderState, members

Rows = NDArray[np.int64]

LARGEST = 1 << 58
"""The largest finite cost."""

COLUMNS = 20_000
"""The most columns of a frame."""

ALL_COLUMNS = 1_000_000
"""The most columns of all frames together: they take some 100 bytes each."""

CELLS = 1 << 20
"""How many entries of profiles are compared at once."""

WIDE = 64
"""Profiles of more columns are compared row by row, others column by column, for speed."""


class TooWide(LimitReached):
    """Too many values would have to be tracked at a time."""

    def __init__(self, reason: str) -> None:
        super().__init__(Limit.SIZE, reason)


Levels = tuple[int, ...]
FrameKey = tuple[tuple[int, ...], tuple[int, ...], tuple[tuple[int, int], ...]]


@dataclass(frozen=True, eq=False)
class ProfileFrame:
    """The columns of profiles over some variables.

    ``columns`` are levels of the classes of equal variables, ``where[x]`` is the class of variable ``x``.
    """

    where: dict[int, int]
    columns: tuple[Levels, ...]

    @cached_property
    def levels(self) -> Rows:
        """The columns as an array: one row for each."""
        return np.array(self.columns, dtype=np.int64).reshape(len(self.columns), -1)

    @cached_property
    def codes(self) -> tuple[NDArray[np.generic], NDArray[np.intp]]:
        """The codes of the columns, ascending, and the columns in that order."""
        codes = _coded(self.levels)
        order = np.argsort(codes, kind="stable")
        return codes[order], order

    def numbers(self, levels: Rows) -> NDArray[np.intp]:
        """The columns with these levels, of which each must be one."""
        codes, order = self.codes
        return order[np.searchsorted(codes, _coded(levels))]

    @property
    def width(self) -> int:
        return len(self.columns)


def _coded(levels: Rows) -> NDArray[np.generic]:
    """A number for each row of levels (which are at most 2), different for different rows."""
    places = range(levels.shape[1])
    if len(places) < 38:
        return levels @ np.array([3**i for i in places], dtype=np.int64)
    exact: NDArray[np.generic] = levels.astype(object) @ np.array([3**i for i in places], dtype=object)
    return exact


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
class StepTable:
    """A step as it acts on profiles, for one difference, from ``before`` to ``after`` columns.

    Way ``i`` leads from column ``sources[i]`` to column ``targets[i]`` for ``prices[i]``; ways to one column
    are in a row, the first of them are ``starts``.
    """

    before: int
    after: int
    sources: NDArray[np.intp]
    targets: NDArray[np.intp]
    prices: Rows
    starts: NDArray[np.intp]

    def apply(self, rows: Rows) -> Rows:
        """The profiles after the step."""
        result = np.full((len(rows), self.after), NEVER, dtype=np.int64)
        if len(self.sources):
            sums = rows[:, self.sources] + self.prices
            result[:, self.targets[self.starts]] = np.minimum.reduceat(sums, self.starts, axis=1)
            np.minimum(result, NEVER, out=result)
        return result

    def back(self, ahead: Rows) -> Rows:
        """For each column before the step the least of a price plus what is ahead of the column after it."""
        result = np.full(self.before, NEVER, dtype=np.int64)
        np.minimum.at(result, self.sources, np.minimum(ahead[self.targets] + self.prices, NEVER))
        return result


def _table(
    before: ProfileFrame,
    after: ProfileFrame,
    sources: NDArray[np.intp],
    targets: NDArray[np.intp],
    prices: Rows,
) -> StepTable:
    order = np.argsort(targets, kind="stable")
    sources, targets, prices = sources[order], targets[order], prices[order]
    starts = np.flatnonzero(np.diff(targets, prepend=-1))
    return StepTable(before.width, after.width, sources, targets, prices, starts)


@dataclass(eq=False)
class Kit:
    """Makes frames and tables, each only once.

    ``columns`` is the number of columns of all frames.
    """

    control: Control
    costs: Costs
    limits: Limits = UNLIMITED
    columns: int = 0
    _frames: dict[FrameKey, ProfileFrame] = field(default_factory=dict)
    _tables: dict[tuple[int, int, int, int], StepTable] = field(default_factory=dict)
    _loops: dict[tuple[int, int, int], NDArray[np.bool_]] = field(default_factory=dict)

    def frame(self, order: OrderState, variables: Mask, names: Sequence[int] | None = None) -> ProfileFrame:
        """The frame of the variables in an order state in which they are tracked.

        Variable ``x`` of the order state is variable ``names[x]`` of the automaton, if that is given.
        """
        own = tuple(members(variables))
        first = {x: next(iter(members(order.eq[x] & variables))) for x in own}
        heads = sorted(set(first.values()))
        place = {x: heads.index(first[x]) for x in own}
        less = tuple((place[x], place[y]) for x in heads for y in heads if order.lt[x] >> y & 1)
        if names is not None:
            place = {names[x]: k for x, k in place.items()}
        key = (tuple(place), tuple(place.values()), less)
        known = self._frames.get(key)
        if known is None:
            self.limits.check(f"exact constant, {self.columns} shifts of live values")
            below: list[list[int]] = [[] for _ in heads]
            above: list[list[int]] = [[] for _ in heads]
            for i, j in less:
                below[j].append(i)
                above[i].append(j)
            columns = []
            for column in _columns(len(heads), below, above, self.costs.top):
                columns.append(column)
                if len(columns) > COLUMNS:
                    raise TooWide(f"{len(heads)} live values at a time have more than {COLUMNS} shifts")
            self.columns += len(columns)
            if self.columns > ALL_COLUMNS:
                raise TooWide(f"the live values have more than {ALL_COLUMNS} shifts in all states together")
            known = self._frames[key] = ProfileFrame(place, tuple(columns))
        return known

    def table(self, before: ProfileFrame, after: ProfileFrame, t: int, difference: int) -> StepTable:
        """Transition ``t`` from one frame to another for a difference of this level."""
        key = (id(before), id(after), t, difference)
        known = self._tables.get(key)
        if known is None:
            known = self._tables[key] = self._build(before, after, t, difference)
        return known

    def _build(self, before: ProfileFrame, after: ProfileFrame, t: int, difference: int) -> StepTable:
        stored = self.control.steps[t].asg & sum(1 << x for x in after.where)
        sources, shifts = self._ways(before, t, difference, bool(stored))
        reached = np.empty((len(sources), after.levels.shape[1]), dtype=np.int64)
        for x, place in after.where.items():
            reached[:, place] = shifts if stored >> x & 1 else before.levels[sources, before.where[x]]
        prices = np.array(self.costs.price[t][difference], dtype=np.int64)
        return _table(before, after, sources, after.numbers(reached), prices[shifts])

    def projection(self, before: ProfileFrame, after: ProfileFrame) -> StepTable:
        """From a frame to one of fewer variables, without a step."""
        key = (id(before), id(after), -1, 0)
        known = self._tables.get(key)
        if known is None:
            reached = np.empty((before.width, after.levels.shape[1]), dtype=np.int64)
            for x, place in after.where.items():
                reached[:, place] = before.levels[:, before.where[x]]
            ways = np.arange(before.width)
            free = np.zeros(before.width, dtype=np.int64)
            known = self._tables[key] = _table(before, after, ways, after.numbers(reached), free)
        return known

    def _ways(
        self, frame: ProfileFrame, t: int, difference: int, stored: bool
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Columns, and levels that the sample may have then: all if it is stored, else the nearest one."""
        step, costs = self.control.steps[t], self.costs
        floor = np.zeros(frame.width, dtype=np.int64)
        ceiling = np.full(frame.width, costs.top, dtype=np.int64)
        for x in members(step.lt):
            np.maximum(floor, frame.levels[:, frame.where[x]], out=floor)
        for x in members(step.ge):
            np.minimum(ceiling, frame.levels[:, frame.where[x]], out=ceiling)
        if self.control.sampling[t].shows_sample:
            choices = [np.full(frame.width, costs.zero)]
        elif stored:
            choices = [np.full(frame.width, level) for level in range(costs.top + 1)]
        else:
            choices = [np.clip(difference, floor, ceiling)]
        fitting = [np.flatnonzero((floor <= level) & (level <= ceiling)) for level in choices]
        return np.concatenate(fitting), np.concatenate([c[f] for c, f in zip(choices, fitting, strict=True)])

    def free(self, frame: ProfileFrame, t: int, difference: int) -> NDArray[np.bool_]:
        """The columns on which transition ``t`` costs nothing, if its sample is not read later."""
        key = (id(frame), t, difference)
        known = self._loops.get(key)
        if known is None:
            known = self._loops[key] = np.zeros(frame.width, dtype=np.bool_)
            columns, shifts = self._ways(frame, t, difference, stored=False)
            prices = np.array(self.costs.price[t][difference], dtype=np.int64)
            known[columns] = prices[shifts] == 0
        return known


def maximal(rows: Rows) -> Rows:
    """The profiles that no other is everywhere at least as high as; in a fixed order, without repetition."""
    return rows[maximal_rows(rows)]


def maximal_rows(rows: Rows) -> NDArray[np.intp]:
    """Where the profiles are that no other is everywhere at least as high as (of equal ones the first)."""
    if len(rows) <= 1:
        return np.arange(len(rows))
    # Nothing is above what comes later, if the sums are exact (they are unless costs are huge).
    order = np.argsort(-np.minimum(rows, LARGEST // rows.shape[1]).sum(axis=1), kind="stable")
    whole = np.ascontiguousarray(rows[order]).view(np.dtype((np.void, rows.itemsize * rows.shape[1])))
    first = np.sort(np.unique(whole, return_index=True)[1])
    where = order[first]
    rows = rows[where]
    if rows.shape[1] == 1:
        return where[:1]
    kept = np.empty(0, dtype=np.intp)
    start = 0
    while start < len(rows):
        count = _block(len(kept), rows.shape[1])
        block = np.arange(start, min(start + count, len(rows)))
        under = _covered(rows[block], rows[kept]).any(axis=1)
        # Among themselves only what comes first counts; what is above an excluded row excludes as much.
        under |= np.tril(_covered(rows[block], rows[block]), -1).any(axis=1)
        kept = np.concatenate([kept, block[~under]])
        start += count
    return where[kept]


def _block(kept: int, width: int) -> int:
    """How many rows can be compared with those kept, and with each other, within ``CELLS`` entries."""
    return max(1, min(CELLS // (max(kept, 1) * width), isqrt(CELLS // width)))


def _covered(rows: Rows, others: Rows) -> NDArray[np.bool_]:
    """Whether row ``i`` is nowhere higher than other row ``k``."""
    if rows.shape[1] > WIDE:
        return np.asarray((others >= rows[:, None]).all(axis=2))
    covered = np.ones((len(rows), len(others)), dtype=np.bool_)
    for high, row in zip(others.T, rows.T, strict=True):
        covered &= high >= row[:, None]
    return covered
