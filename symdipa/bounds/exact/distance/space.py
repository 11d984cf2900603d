"""The game of the adversary and the shifts as a finite graph with tables (Def. profile, Def. augmentation).

A node is a node of the augmentation. In the middle of a chain it is one for each difference that was chosen,
as long as another part of the chain takes that, too (a mirror: its negative). What leads into a chain that
cannot be ended is left out. A *letter* leads from node to node: an edge of the augmentation and a difference.
The *columns* of a node are the ways to shift the values that are read later; where there are soft twins,
these. The table of a letter says from which column one may get to which, and what that costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from symdipa.bounds.exact.frames import COLUMNS, Rows, StepTable, TooWide
from symdipa.bounds.exact.lift import NEVER
from symdipa.model.adjacency import Interval
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.augmentation import Augmentation
from symdipa.runs.control import Sampling, Slopes
from symdipa.runs.graphs import component_numbers
from symdipa.runs.order import Mask, OrderState, members

MOST_ENTRIES = 20_000_000
"""The most ways of all tables together."""

Price = Fraction | None
"""What a shift costs; ``None`` if it is not allowed."""


@dataclass(frozen=True, eq=False)
class Frame:
    """The columns of a node: a row of levels for each, one for each class of equal variables.

    ``where[x]`` is the class of variable ``x``; rows are in the order of their ``codes``.
    """

    where: dict[int, int]
    columns: Rows
    codes: NDArray[np.int64]

    @property
    def width(self) -> int:
        return len(self.columns)


@dataclass(frozen=True, eq=False)
class Letter:
    """A way to go on: an edge of the augmentation, and the level of the difference."""

    source: int
    target: int
    edge: int
    difference: int
    table: StepTable


@dataclass(eq=False)
class Space:
    """The graph for one interval of differences; node 0 is the initial one.

    ``levels`` are the shifts in question, ``unit`` is the common denominator of all prices. In a ``whole``
    node no chain has been begun that is to be ended. Raises
    :class:`LimitReached` where too many values are live at a time, and when the time is up.
    """

    graph: Augmentation
    interval: Interval
    limits: Limits = UNLIMITED
    frames: list[Frame] = field(default_factory=list)
    letters: list[Letter] = field(default_factory=list)
    leaving: list[list[int]] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        control = self.graph.control
        found = {*self.interval, Fraction(0)}
        if any(sampling.mirror for sampling in control.sampling):
            found |= {-level for level in found}
        self.levels = tuple(sorted(found))
        self.zero = self.levels.index(Fraction(0))
        self.ends = tuple(sorted({self.levels.index(end) for end in self.interval}))
        self.tracked: Mask = 0
        for step in control.steps:
            self.tracked |= step.soft
        if not self.tracked:
            self.tracked = -1
        self._set_prices()
        self._frames: dict[object, Frame] = {}
        self._tables: dict[tuple[int, int, int, int], StepTable] = {}
        self._entries = 0
        self._explore()
        ways = [(letter.source, letter.target) for letter in self.letters]
        self.component = component_numbers(len(self.frames), ways)

    def _set_prices(self) -> None:
        known: dict[Sampling, list[list[Price]]] = {}
        for sampling in self.graph.control.sampling:
            if sampling not in known:
                known[sampling] = [[price(sampling, a, b) for b in self.levels] for a in self.levels]
        finite = [p for table in known.values() for row in table for p in row if p is not None]
        self.unit = lcm(*(p.denominator for p in finite))
        self.largest = int(max(finite, default=Fraction(0)) * self.unit)
        numbers = {
            sampling: np.array(
                [[NEVER if p is None else int(p * self.unit) for p in row] for row in table], dtype=np.int64
            )
            for sampling, table in known.items()
        }
        self.prices = [numbers[sampling] for sampling in self.graph.control.sampling]

    # Nodes and letters

    def _explore(self) -> None:
        graph = self.graph
        whole = [not graph.control.is_between(q) for q in graph.state]
        to_be_ended = self._before(whole, lambda e: True)
        reading = self._before([False] * graph.nodes, lambda e: not whole[graph.source[e]], self._reads)
        start = (0, -1)
        number, nodes = {start: 0}, [start]
        self.frames.append(self._frame(0))
        for here, (v, chosen) in enumerate(nodes):  # grows while it is walked
            self.limits.check(f"the distance, {len(nodes)} nodes")
            self.leaving.append([])
            self.whole.append(whole[v])
            for e in graph.outgoing[v]:
                w, t = graph.target[e], graph.transition[e]
                for difference in self._differences(t, chosen) if to_be_ended[w] else ():
                    given = chosen if chosen >= 0 else difference if self._reads(e) else -1
                    node = (w, given if reading[w] else -1)
                    there = number.setdefault(node, len(nodes))
                    if there == len(nodes):
                        nodes.append(node)
                        self.frames.append(self._frame(w))
                    table = self._table(self.frames[here], self.frames[there], t, difference)
                    self.leaving[here].append(len(self.letters))
                    self.letters.append(Letter(here, there, e, difference, table))

    def _reads(self, e: int) -> bool:
        return self.graph.control.sampling[self.graph.transition[e]].reads_input

    def _before(
        self,
        given: list[bool],
        through: Callable[[int], bool],
        directly: Callable[[int], bool] = lambda e: False,
    ) -> list[bool]:
        """The nodes of the augmentation with a way to a given one, or to an edge that counts ``directly``."""
        graph, found = self.graph, list(given)
        entering: list[list[int]] = [[] for _ in found]
        work = [v for v, known in enumerate(found) if known]
        for e, (u, v) in enumerate(zip(graph.source, graph.target, strict=True)):
            if through(e):
                entering[v].append(u)
                if directly(e) and not found[u]:
                    found[u] = True
                    work.append(u)
        while work:
            for u in entering[work.pop()]:
                if not found[u]:
                    found[u] = True
                    work.append(u)
        return found

    def _differences(self, t: int, chosen: int) -> tuple[int, ...]:
        """The levels of its extreme differences; one, if that was ``chosen`` earlier in the chain."""
        sampling = self.graph.control.sampling[t]
        if not sampling.reads_input:
            return (self.zero,)
        if chosen < 0:
            return self.ends
        return (len(self.levels) - 1 - chosen if sampling.mirror else chosen,)

    # Columns and tables

    def _frame(self, v: int) -> Frame:
        order = self.graph.order[v]
        live = self.graph.control.live[self.graph.state[v]] & self.tracked
        own = [x for x in members(live) if order.eq[x]]
        first = {x: next(members(order.eq[x] & live)) for x in own}
        heads = sorted(set(first.values()))
        where = {x: heads.index(first[x]) for x in own}
        less = tuple((i, j) for i, x in enumerate(heads) for j, y in enumerate(heads) if order.lt[x] >> y & 1)
        key = (tuple(where.items()), less)
        if key not in self._frames:
            columns = _columns(order, heads, len(self.levels))
            self._frames[key] = Frame(where, columns, self._codes(columns))
        return self._frames[key]

    def _codes(self, columns: Rows) -> NDArray[np.int64]:
        places = columns.shape[1]
        if len(self.levels) ** places > NEVER:
            raise TooWide(f"{places} live values at a time")
        powers = [len(self.levels) ** i for i in reversed(range(places))]
        return columns @ np.array(powers, dtype=np.int64)

    def _table(self, before: Frame, after: Frame, t: int, difference: int) -> StepTable:
        key = (id(before), id(after), t, difference)
        if key not in self._tables:
            self._tables[key] = self._build(before, after, t, difference)
        return self._tables[key]

    def _build(self, before: Frame, after: Frame, t: int, difference: int) -> StepTable:
        step, sampling = self.graph.control.shifting(t), self.graph.control.sampling[t]
        stored = step.asg & sum(1 << x for x in after.where)
        floor = np.zeros(before.width, dtype=np.int64)
        ceiling = np.full(before.width, len(self.levels) - 1, dtype=np.int64)
        for x in members(step.lt):
            np.maximum(floor, before.columns[:, before.where[x]], out=floor)
        for x in members(step.ge):
            np.minimum(ceiling, before.columns[:, before.where[x]], out=ceiling)
        if sampling.shows_sample:
            choices = [np.full(before.width, self.zero)]
        elif stored:
            choices = [np.full(before.width, level) for level in range(len(self.levels))]
        else:
            choices = [np.clip(difference, floor, ceiling)]
        own = self.prices[t][difference]
        fitting = [np.flatnonzero((floor <= s) & (s <= ceiling) & (own[s] < NEVER)) for s in choices]
        sources = np.concatenate(fitting)
        shifts = np.concatenate([s[some] for s, some in zip(choices, fitting, strict=True)])
        reached = np.empty((len(sources), after.columns.shape[1]), dtype=np.int64)
        for x, place in after.where.items():
            reached[:, place] = shifts if stored >> x & 1 else before.columns[sources, before.where[x]]
        targets = np.searchsorted(after.codes, self._codes(reached))
        order = np.argsort(targets, kind="stable")
        sources, targets, prices = sources[order], targets[order], own[shifts][order]
        self._entries += len(sources)
        if self._entries > MOST_ENTRIES:
            raise TooWide(f"the live values have more than {MOST_ENTRIES} shifts in all steps together")
        starts = np.flatnonzero(np.diff(targets, prepend=-1))
        return StepTable(before.width, after.width, sources, targets, prices, starts)

    # What letters cost

    @property
    def before(self) -> Rows:
        """The profile before a run begins."""
        return np.zeros((1, 1), dtype=np.int64)

    def cost(self, letters: Iterable[int]) -> Fraction | None:
        """What these letters cost from the beginning on, with the best shifts; ``None`` if infinitely much.

        Raises :class:`LimitReached` where that is too large a number.
        """
        profile, length = self.before, 0
        for i in letters:
            profile = self.letters[i].table.apply(profile)
            length += 1
        if length * self.largest >= NEVER:
            raise LimitReached(Limit.METHOD, "the scales have no common denominator of reasonable size")
        least = int(profile.min())
        return None if least >= NEVER else Fraction(least, self.unit)

    def ended(self, letters: Iterable[int]) -> list[int]:
        """The letters, and those that end the chain in which they stop."""
        found = list(letters)
        while found and not self.whole[here := self.letters[found[-1]].target]:
            found.append(self.leaving[here][0])
        return found

    def run(self, letters: Sequence[int]) -> tuple[tuple[int, ...], tuple[Fraction, ...]]:
        """The transitions of these letters, and their differences."""
        chosen = [self.letters[i] for i in letters]
        return (
            tuple(self.graph.transition[letter.edge] for letter in chosen),
            tuple(self.levels[letter.difference] for letter in chosen),
        )


def _columns(order: OrderState, heads: Sequence[int], levels: int) -> Rows:
    """All levels of the heads such that one below another has at least its level, in ascending order."""
    columns = np.zeros((1, 0), dtype=np.int64)
    for k, x in enumerate(heads):
        fresh = np.tile(np.arange(levels, dtype=np.int64), len(columns))
        columns = np.column_stack([np.repeat(columns, levels, axis=0), fresh])
        for j, y in enumerate(heads[:k]):
            if order.lt[x] >> y & 1:
                columns = columns[columns[:, k] >= columns[:, j]]
            elif order.lt[y] >> x & 1:
                columns = columns[columns[:, k] <= columns[:, j]]
        if len(columns) > COLUMNS:
            raise TooWide(f"{len(heads)} live values at a time have more than {COLUMNS} shifts")
    return columns


def price(sampling: Sampling, difference: Fraction, shift: Fraction) -> Price:
    """What a step costs for a difference of its input and a shift of the sample that guards compare."""
    first = _part(sampling.slopes, shift - difference)
    if first is None or not (sampling.reads_input and sampling.shows_second):
        return first
    scale = sampling.d_prime or Fraction(0)
    second = _part(sampling.second or (scale, scale), -difference)
    return None if second is None else first + second


def _part(slopes: Slopes, off: Fraction) -> Price:
    """What it costs when a shift is off the difference by so much."""
    slope = slopes[0] if off > 0 else slopes[1]
    return Fraction(0) if not off else None if slope is None else slope * abs(off)
