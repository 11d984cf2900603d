"""The game of the adversary and the shifts as a finite graph with tables (Def. profile, Def. augmentation).

A node is a node of the augmentation. In the middle of a chain it is one for each difference that was chosen,
as long as another part of the chain takes that, too (a mirror: its negative). What leads into a chain that
cannot be ended is left out. A *letter* leads from node to node: an edge of the augmentation and a difference.
The *columns* of a node are the ways to shift the values that are read later (where there are soft twins,
these) that some choice of shifts leads to. The table of a letter says from which column one may get to which,
and what that costs. A mirror that is stored has the negative shift of its sample: that costs no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from math import lcm

import numpy as np
from numpy.typing import NDArray

from symdipa.bounds.costs import rates
from symdipa.bounds.exact.frames import COLUMNS, LARGEST, Rows, StepTable, TooWide
from symdipa.bounds.exact.lift import NEVER
from symdipa.model.adjacency import Interval
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.augmentation import Augmentation
from symdipa.runs.graphs import component_numbers
from symdipa.runs.order import Mask, members

MOST_ENTRIES = 20_000_000
"""The most ways of all tables together."""


Place = dict[int, int]
"""For each variable whose shift matters its class of equal variables."""


@dataclass(frozen=True, eq=False)
class Frame:
    """The columns of a node, in the order of their ``codes``: a row of levels each, one for each class."""

    where: Place
    columns: Rows
    codes: Rows

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
    _entries: int = 0

    def __post_init__(self) -> None:
        control = self.graph.control
        found = {*self.interval, Fraction(0)}
        known = (sampling.difference for sampling in control.sampling)
        found |= {form.within(*self.interval) for form in known if form is not None}
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
        self._opposite = self._opposites()
        self._set_prices()
        self._explore()

    def _set_prices(self) -> None:
        paid = rates(self.graph.control)
        known = {rate: [[rate.cost(a, b) for b in self.levels] for a in self.levels] for rate in set(paid)}
        finite = [p for table in known.values() for row in table for p in row if p is not None]
        self.unit = lcm(*(p.denominator for p in finite))
        self.largest = int(max(finite, default=Fraction(0)) * self.unit)
        if self.largest > LARGEST:
            raise no_denominator()
        numbers = {
            rate: np.array(
                [[NEVER if p is None else int(p * self.unit) for p in row] for row in table], dtype=np.int64
            )
            for rate, table in known.items()
        }
        self.prices = [numbers[rate] for rate in paid]

    # Nodes and letters

    def _explore(self) -> None:
        graph = self.graph
        whole = [not graph.control.is_between(q) for q in graph.state]
        to_be_ended = self._before(whole, lambda e: True)
        reading = self._before([False] * graph.nodes, lambda e: not whole[graph.source[e]], self._reads)
        start = (0, -1)
        number, nodes = {start: 0}, [start]
        found: list[tuple[int, int, int, int]] = []
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
                    self.leaving[here].append(len(found))
                    found.append((here, there, e, difference))
        self.component = component_numbers(len(nodes), [(here, there) for here, there, _, _ in found])
        self._set_frames([self._place(v) for v, _ in nodes], found)
        tables: dict[tuple[int, int, int, int], StepTable] = {}
        for here, there, e, difference in found:
            before, after, t = self.frames[here], self.frames[there], graph.transition[e]
            key = (id(before), id(after), t, difference)
            if key not in tables:
                tables[key] = self._table(before, after, t, difference)
            self.letters.append(Letter(here, there, e, difference, tables[key]))

    def _reads(self, e: int) -> bool:
        """Whether a difference is to be chosen."""
        sampling = self.graph.control.sampling[self.graph.transition[e]]
        return sampling.reads_input and sampling.difference is None

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
        if sampling.difference is not None:
            known = sampling.difference.within(*self.interval)
            return (self.levels.index(-known if sampling.mirror else known),)
        if chosen < 0:
            return self.ends
        return (len(self.levels) - 1 - chosen if sampling.mirror else chosen,)

    # Columns and tables

    def _opposites(self) -> dict[int, int]:
        """For each variable that stores a mirror the one that stores its sample."""
        control = self.graph.control
        found: dict[int, int] = {}
        entering = dict(zip(control.target, range(len(control.steps)), strict=True))
        for t, sampling in enumerate(control.sampling):
            stored = control.shifting(t).asg & self.tracked
            if sampling.mirror and stored:
                own = control.shifting(entering[control.source[t]]).asg & self.tracked
                found |= dict(zip(members(stored), members(own), strict=False))
        return found

    def _place(self, v: int) -> Place:
        """The variables that matter in a node of the augmentation."""
        order = self.graph.order[v]
        live = self.graph.control.live[self.graph.state[v]] & self.tracked
        own = [x for x in members(live) if order.eq[x]]
        first = {x: next(members(order.eq[x] & live)) for x in own}
        heads = sorted(set(first.values()))
        if len(self.levels) ** len(heads) > NEVER:
            raise TooWide(f"{len(heads)} live values at a time")
        return {x: heads.index(first[x]) for x in own}

    def _set_frames(self, places: list[Place], found: list[tuple[int, int, int, int]]) -> None:
        """Find the columns that can be reached; nodes with the same ones have one frame."""
        codes = [np.zeros(0, dtype=np.int64) for _ in places]
        codes[0] = np.zeros(1, dtype=np.int64)
        queue, waiting = [(-self.component[0], 0)], {0}
        while queue:
            _, here = heappop(queue)
            waiting.discard(here)
            self.limits.check(f"the distance, {sum(map(len, codes))} ways to shift live values")
            columns = self._columns(codes[here], places[here])
            for i in self.leaving[here]:
                _, there, e, difference = found[i]
                t = self.graph.transition[e]
                _, _, reached = self._ways(columns, places[here], places[there], t, difference)
                union = np.union1d(codes[there], reached)
                if len(union) > len(codes[there]):
                    if len(union) > COLUMNS:
                        live = len(set(places[there].values()))
                        raise TooWide(f"{live} live values at a time have more than {COLUMNS} shifts")
                    codes[there] = union
                    if there not in waiting:
                        waiting.add(there)
                        heappush(queue, (-self.component[there], there))
        frames: dict[object, Frame] = {}
        for some, place in zip(codes, places, strict=True):
            key = (tuple(place.items()), some.tobytes())
            if key not in frames:
                frames[key] = Frame(place, self._columns(some, place), some)
            self.frames.append(frames[key])

    def _columns(self, codes: Rows, place: Place) -> Rows:
        """The levels that the codes stand for."""
        powers = self._powers(place)
        return codes[:, None] // powers[None, :] % len(self.levels)

    def _powers(self, place: Place) -> Rows:
        return np.array([len(self.levels) ** k for k in range(len(set(place.values())))], dtype=np.int64)

    def _ways(
        self, columns: Rows, before: Place, after: Place, t: int, difference: int
    ) -> tuple[NDArray[np.intp], Rows, Rows]:
        """From which columns one may get where: these, levels of the sample, codes of columns."""
        step, sampling = self.graph.control.shifting(t), self.graph.control.sampling[t]
        stored = step.asg & sum(1 << x for x in after)
        top = len(self.levels) - 1
        floor = np.zeros(len(columns), dtype=np.int64)
        ceiling = np.full(len(columns), top, dtype=np.int64)
        for x in members(step.lt):
            np.maximum(floor, columns[:, before[x]], out=floor)
        for x in members(step.ge):
            np.minimum(ceiling, columns[:, before[x]], out=ceiling)
        mirrored = members(stored) if sampling.mirror else ()
        twins = [self._opposite[x] for x in mirrored if self._opposite.get(x, -1) in before]
        if sampling.shows_sample:
            choices = [np.full(len(columns), self.zero)]
        elif twins:
            choices = [top - columns[:, before[twins[0]]]]
        elif stored:
            choices = [np.full(len(columns), level) for level in range(top + 1)]
        else:
            choices = [np.clip(difference, floor, ceiling)]
        own = self.prices[t][difference]
        fitting = [np.flatnonzero((floor <= s) & (s <= ceiling) & (own[s] < NEVER)) for s in choices]
        sources = np.concatenate(fitting)
        shifts = np.concatenate([s[some] for s, some in zip(choices, fitting, strict=True)])
        powers = self._powers(after)
        reached = np.zeros(len(sources), dtype=np.int64)
        for place, x in {place: x for x, place in after.items()}.items():
            reached += powers[place] * (shifts if stored >> x & 1 else columns[sources, before[x]])
        return sources, shifts, reached

    def _table(self, before: Frame, after: Frame, t: int, difference: int) -> StepTable:
        sources, shifts, reached = self._ways(before.columns, before.where, after.where, t, difference)
        targets = np.searchsorted(after.codes, reached)
        order = np.argsort(targets, kind="stable")
        sources, targets, prices = sources[order], targets[order], self.prices[t][difference][shifts][order]
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
            raise no_denominator()
        least = int(profile.min(initial=NEVER))
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


def no_denominator() -> LimitReached:
    """What is raised where costs are too large as multiples of a common unit."""
    return LimitReached(Limit.METHOD, "the scales have no common denominator of reasonable size")
