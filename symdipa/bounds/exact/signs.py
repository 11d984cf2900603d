"""The best differences for one given run: profiles along the run (Def. profile)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from symdipa.bounds.exact.flow import Span, repeatable
from symdipa.bounds.exact.frames import LARGEST, Kit, ProfileFrame, Rows, maximal_rows
from symdipa.bounds.exact.lift import costs
from symdipa.model.adjacency import EITHER_WAY, Interval
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.control import Control
from symdipa.runs.graphs import classes
from symdipa.runs.order import Mask, Step, initial, members, update
from symdipa.runs.witness import dependency_graph

MOST_LEVELS = 3
"""The most levels of shifts that frames know."""

KEPT = 5_000
"""The most profiles kept at a position; if more compete, the differences need not be the best."""

FEW = 64
"""A first try: so few profiles are often enough, which shows where the bound from above is reached."""


def best_signs(
    control: Control,
    run: Sequence[int],
    loops: Sequence[Span] = (),
    *,
    interval: Interval = EITHER_WAY,
    kept: int = KEPT,
    limits: Limits = UNLIMITED,
) -> tuple[Fraction, ...]:
    """Differences in the interval for which the run, with its loops repeated, costs most.

    Where repeating a loop can cost more and more, it does for these differences. Samples that no dependency
    joins are treated apart. If more than ``kept`` profiles compete at a position, those of highest cost are
    kept, and the result need not be the best. Raises :class:`LimitReached` when too many values are live at a
    time, and when the time is up.
    """
    prices = costs(control, interval)
    if prices.largest * (len(run) + 1) > LARGEST:
        raise LimitReached(Limit.METHOD, "the scales have no common denominator of reasonable size")
    if len(prices.levels) > MOST_LEVELS:
        raise LimitReached(Limit.METHOD, "with mirrors the ends of the interval must be opposite, or one 0")
    graph = dependency_graph(control, run)
    if not graph.is_acyclic:
        raise ValueError("the run is not feasible")
    of_shifts = control.of_shifts
    kit, rigid = Kit(of_shifts, prices, limits), Kit(of_shifts, prices.rigid, limits)
    line = _Line(of_shifts, kit, rigid, tuple(run), repeatable(control, run, loops), kept)
    pairs = [(i, j) for j, (i, _) in line.linked.items()]
    number = classes(len(run), [*((i, *js) for i, js in enumerate(graph.over)), *pairs])
    groups: dict[int, list[int]] = {}
    for j, k in enumerate(number):
        groups.setdefault(k, []).append(j)
    chosen = [prices.zero] * len(run)
    for positions in groups.values():
        for j, difference in line.best(positions).items():
            chosen[j] = difference
    return tuple(prices.levels[difference] for difference in chosen)


@dataclass(frozen=True, eq=False)
class _Line:
    """A run of a graph of shifts. What a loop ``repeats`` is paid by the ``rigid`` kit."""

    control: Control
    kit: Kit
    rigid: Kit
    run: tuple[int, ...]
    repeats: frozenset[int]
    kept: int

    def best(self, positions: Sequence[int]) -> dict[int, int]:
        """The levels of the best differences at ascending positions that nothing joins with others."""
        rows = np.zeros((1, 1), dtype=np.int64)
        origins: list[tuple[tuple[int, ...], list[tuple[int, int]]]] = []
        frames = list(self._frames(positions))
        at = 0
        while at < len(positions):
            self.kit.limits.check(f"best differences, step {positions[at]} of {len(self.run)}")
            end = 1 + max(at, bisect_right(positions, self.last_linked.get(positions[at], -1)) - 1)
            together = tuple(positions[at:end])
            rows, origin = self._step(together, frames[at : end + 1], rows)
            origins.append((together, origin))
            at = end
        k = int(rows.min(axis=1).argmax())
        chosen: dict[int, int] = {}
        for together, origin in reversed(origins):
            k, difference = origin[k]
            chosen |= {j: self._level(j, difference, together[0]) for j in together}
        return chosen

    @cached_property
    def linked(self) -> dict[int, tuple[int, int]]:
        """For positions that read the input of an earlier one: that position, and 1 (-1: the negative)."""
        return self.control.linked(self.run)

    @cached_property
    def last_linked(self) -> dict[int, int]:
        """For positions whose input others read: the last of these."""
        return {i: j for j, (i, _) in self.linked.items()}

    def _level(self, j: int, difference: int, leader: int) -> int:
        """The level of the difference of a position if that of the leader has the given one."""
        if j == leader:
            return difference
        _, sign = self.linked.get(j, (leader, 0))
        return {1: difference, -1: self.kit.costs.top - difference, 0: self.kit.costs.zero}[sign]

    def _step(
        self, together: Sequence[int], frames: Sequence[ProfileFrame], rows: Rows
    ) -> tuple[Rows, list[tuple[int, int]]]:
        """The profiles after a position and those that read its input; for each the row it came from.

        Also the level of the difference by which it came.
        """
        moved, origin = [], []
        leader = together[0]
        for difference in self.kit.costs.differences[self.run[leader]]:
            some = rows
            for j, (before, after) in zip(together, pairwise(frames), strict=True):
                kit = self.rigid if j in self.repeats else self.kit
                some = kit.table(before, after, self.run[j], self._level(j, difference, leader)).apply(some)
            moved.append(some)
            origin += [(k, difference) for k in range(len(rows))]
        rows = np.concatenate(moved)
        best = maximal_rows(rows)
        if len(best) > self.kept:
            best = best[np.argsort(-rows[best].min(axis=1), kind="stable")[: self.kept]]
        return rows[best], [origin[k] for k in best]

    def _frames(self, positions: Sequence[int]) -> Iterator[ProfileFrame]:
        """The frames before the first of the positions and after each: of their values still to be read.

        Whoever reads such a value is one of the positions, and nothing else orders it. So their order states
        are followed on their own, over only the variables in which they leave something.
        """
        names = sorted({x for j in positions for x in self._kept(j)})
        place = {x: i for i, x in enumerate(names)}

        def local(variables: Iterable[int]) -> Mask:
            return sum(1 << place[x] for x in variables)

        order, holder = initial(len(names)), dict[int, int]()
        yield self.kit.frame(order, 0)
        for j in positions:
            step = self.control.steps[self.run[j]]
            holder |= dict.fromkeys(self._kept(j), j)
            holder = {x: i for x, i in holder.items() if self.last_read[i, x] > j}
            soft = local(names) if step.soft else 0
            own = Step(local(members(step.ge)), local(members(step.lt)), local(self._kept(j)), soft)
            following = update(order, own, tracked := local(holder))
            assert following is not None, "a feasible run"
            order = following
            yield self.kit.frame(order, tracked, names)

    def _kept(self, j: int) -> list[int]:
        """The variables from which what position ``j`` stores is read later."""
        return [x for x in members(self.control.steps[self.run[j]].asg) if (j, x) in self.last_read]

    @cached_property
    def last_read(self) -> dict[tuple[int, int], int]:
        """Who reads last what a position has stored in a variable."""
        holder: dict[int, int] = {}
        last: dict[tuple[int, int], int] = {}
        for j, t in enumerate(self.run):
            step = self.control.steps[t]
            last |= {(holder[x], x): j for x in members(step.used)}
            holder |= dict.fromkeys(members(step.asg), j)
        return last
