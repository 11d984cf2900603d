"""The best differences for one given run: profiles along the run (weights.md, section 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from symdipa.adjacency import TWO_SIDED, Interval
from symdipa.constant.flow import repeatable
from symdipa.constant.frames import LARGEST, NEVER, Frame, Kit, Rows, maximal_rows
from symdipa.constant.lift import costs
from symdipa.control import Control, classes
from symdipa.errors import LimitReached
from symdipa.order import Mask, OrderState, initial, members, update
from symdipa.witness import dependency_graph

KEPT = 5_000
"""As many profiles are kept at a position; if more compete, the differences need not be the best."""


def best_signs(
    control: Control,
    run: Sequence[int],
    loops: Sequence[tuple[int, int]] = (),
    *,
    interval: Interval = TWO_SIDED,
    kept: int = KEPT,
    watch: Callable[[], None] = lambda: None,
) -> tuple[Fraction, ...]:
    """Differences in the interval for which the run, with its loops repeated, costs most.

    Where repeating a loop costs more and more they are such that it does. Samples that no dependency joins
    are treated apart. Raises :class:`LimitReached` when too many values are live at a time. If ever more than
    ``kept`` profiles compete, the dearest are kept, and the result need not be the best. ``watch`` is called
    at every position and may raise.
    """
    prices = costs(control, interval)
    if prices.largest * (len(run) + 1) > LARGEST:
        raise LimitReached("the scales have no common denominator of reasonable size")
    line = _Line(control, Kit(control, prices), tuple(run), repeatable(control, run, loops), kept)
    over = dependency_graph(control, run).over
    number = classes(len(run), [(i, *js) for i, js in enumerate(over)])
    groups: dict[int, list[int]] = {}
    for j, k in enumerate(number):
        groups.setdefault(k, []).append(j)
    chosen = [prices.zero] * len(run)
    for positions in groups.values():
        for j, difference in line.best(frozenset(positions), watch).items():
            chosen[j] = difference
    return tuple(prices.levels[difference] for difference in chosen)


@dataclass(frozen=True, eq=False)
class _Line:
    control: Control
    kit: Kit
    run: tuple[int, ...]
    repeats: frozenset[int]
    kept: int

    def best(self, positions: frozenset[int], watch: Callable[[], None]) -> dict[int, int]:
        """The levels of the best differences at positions that nothing joins with others."""
        rows = np.zeros((1, 1), dtype=np.int64)
        origins: list[tuple[int, list[tuple[int, int]]]] = []
        for j in sorted(positions):
            watch()
            rows, origin = self._step(positions, j, rows)
            origins.append((j, origin))
        k = int(rows.min(axis=1).argmax())
        chosen = {}
        for j, origin in reversed(origins):
            k, chosen[j] = origin[k]
        return chosen

    def _step(self, positions: frozenset[int], j: int, rows: Rows) -> tuple[Rows, list[tuple[int, int]]]:
        """The profiles after position ``j``, and from which row and by which difference each of them came."""
        before, after = self._frame(positions, j), self._frame(positions, j + 1)
        t = self.run[j]
        moved, origin = [], []
        for difference in self.kit.costs.differences[t]:
            some = rows
            if j in self.repeats:
                some = np.where(self.kit.free(before, t, difference), rows, NEVER)
            moved.append(self.kit.table(before, after, t, difference).apply(some))
            origin += [(k, difference) for k in range(len(rows))]
        rows = np.concatenate(moved)
        best = maximal_rows(rows)
        if len(best) > self.kept:
            best = best[np.argsort(-rows[best].min(axis=1), kind="stable")[: self.kept]]
        return rows[best], [origin[k] for k in best]

    def _frame(self, positions: frozenset[int], j: int) -> Frame:
        """The frame of the values of these positions that are read at position ``j`` or later."""
        return self.kit.frame(
            self.orders[j], sum(1 << x for x, i in self.holders[j].items() if i in positions)
        )

    @cached_property
    def orders(self) -> list[OrderState]:
        """The order state before each position and at the end."""
        orders = [initial(self.control.variables)]
        for t in self.run:
            following = update(orders[-1], self.control.steps[t])
            if following is None:
                raise ValueError("the run is not feasible")
            orders.append(following)
        return orders

    @cached_property
    def holders(self) -> list[dict[int, int]]:
        """Before each position and at the end: the variables still to be read, with who stored them."""
        last: dict[int, int] = {}
        holding = [dict(last)]
        for j, t in enumerate(self.run):
            last |= dict.fromkeys(members(self.control.steps[t].asg), j)
            holding.append(dict(last))
        read: Mask = 0
        for j in reversed(range(len(self.run) + 1)):
            if j < len(self.run):
                step = self.control.steps[self.run[j]]
                read = step.used | read & ~step.asg
            holding[j] = {x: i for x, i in holding[j].items() if read >> x & 1}
        return holding
