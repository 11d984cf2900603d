"""The places of the lift: blocks of variables, their columns, and what steps do to profiles there.

*Blocks.* Variables that no transition brings together never influence each other's shifts, so profiles are
kept per block. Where there are few ways to shift all live values together, they are one block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from symdipa.bounds.exact.frames import Kit, ProfileFrame, Rows, StepTable, TooWide
from symdipa.bounds.exact.lift import NEVER, Costs, LiftedAugmentation
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.control import Control
from symdipa.runs.graphs import classes
from symdipa.runs.order import Mask, initial, members

Columns = NDArray[np.bool_]
"""Which columns of a frame are meant."""

TOGETHER = 400
"""All variables are one block if no place has more columns then."""

TOGETHER_LIVE = 12
"""Nor more tracked values."""


class Infinite(Exception):
    """Some profile has no finite entry."""


@dataclass(eq=False)
class Places:
    """The places of a lift, by their numbers, with the columns of each block in each of them."""

    lifted: LiftedAugmentation
    costs: Costs
    limits: Limits = UNLIMITED

    @property
    def control(self) -> Control:
        return self.lifted.graph.control

    @property
    def count(self) -> int:
        return len(self.lifted.places)

    @property
    def start(self) -> int:
        """The place where runs begin."""
        return self.lifted.place[self.lifted.start]

    @cached_property
    def ends(self) -> set[int]:
        """The places where runs may end."""
        return {self.lifted.place[v] for v in range(self.lifted.ends)}

    def joined(self, i: int) -> tuple[int, int]:
        """The places from which and to which a lifted edge leads."""
        return self.lifted.place[self.lifted.source[i]], self.lifted.place[self.lifted.target[i]]

    # Blocks and their columns

    @cached_property
    def kit(self) -> Kit:
        return Kit(self.control, self.costs, self.limits)

    @cached_property
    def blocks(self) -> tuple[Mask, ...]:
        """The blocks of variables."""
        everything = (1 << self.control.variables) - 1
        if self._fits(everything):
            return (everything,)
        groups = [list(members(step.touched)) for step in self.control.steps]
        number = classes(self.control.variables, [group for group in groups if group])
        blocks = [0] * (max(number) + 1)
        for x, b in enumerate(number):
            blocks[b] |= 1 << x
        return tuple(blocks)

    def _fits(self, variables: Mask) -> bool:
        for place in range(self.count):
            if self._tracked(place).bit_count() > TOGETHER_LIVE:
                return False
            try:
                if self._frame(place, variables).width > TOGETHER:
                    return False
            except TooWide:
                return False
        return True

    @property
    def one_block(self) -> bool:
        return len(self.blocks) == 1

    def _tracked(self, place: int) -> Mask:
        return self.lifted.tracked[self.lifted.places[place][0]]

    def _frame(self, place: int, variables: Mask) -> ProfileFrame:
        v = self.lifted.places[place][0]
        order = self.lifted.graph.order[self.lifted.base[v]]
        return self.kit.frame(order, self.lifted.tracked[v] & variables)

    @cached_property
    def frames(self) -> list[dict[int, ProfileFrame]]:
        """For each place the frames of the blocks with tracked values."""
        return [
            {b: self._frame(place, block) for b, block in enumerate(self.blocks) if tracked & block}
            for place, tracked in enumerate(map(self._tracked, range(self.count)))
        ]

    @cached_property
    def _nothing(self) -> ProfileFrame:
        return self.kit.frame(initial(self.control.variables), 0)

    def frame(self, place: int, block: int) -> ProfileFrame:
        return self.frames[place].get(block, self._nothing)

    @cached_property
    def block_of(self) -> tuple[int | None, ...]:
        """For each lifted edge the block whose values it compares or that its sample, if tracked, joins."""
        result: list[int | None] = []
        for i, v in enumerate(self.lifted.target):
            step = self.control.steps[self.lifted.transition(i)]
            concerned = step.used | step.asg & self.lifted.tracked[v]
            result.append(next((b for b, block in enumerate(self.blocks) if block & concerned), None))
        return tuple(result)

    # Steps

    def alone(self, t: int, difference: int) -> int:
        """What a transition costs that neither compares nor stores."""
        shift = self.costs.zero if self.control.sampling[t].shows_sample else difference
        return self.costs.price[t][difference][shift]

    def table(self, i: int, difference: int) -> StepTable:
        """The table of a lifted edge between places for the block that it concerns."""
        block = self.block_of[i]
        assert block is not None
        here, there = self.joined(i)
        before, after = self.frame(here, block), self.frame(there, block)
        return self.kit.table(before, after, self.lifted.transition(i), difference)

    def projection(self, i: int, block: int) -> StepTable | None:
        """What an edge between places does to a block that it does not concern; ``None``: nothing."""
        here, there = self.joined(i)
        before, after = self.frame(here, block), self.frame(there, block)
        return None if before is after else self.kit.projection(before, after)

    def carried(self, i: int, block: int, some: Rows) -> Rows:
        """Profiles of a block after a lifted edge between places that does not concern it."""
        table = self.projection(i, block)
        return some if table is None else table.apply(some)

    # Loops

    @cached_property
    def allowed(self) -> list[dict[int, Columns]]:
        """For each place and block that its loops read: the columns on which they cost nothing.

        Raises :class:`Infinite` where a loop always costs something.
        """
        result: list[dict[int, Columns]] = [{} for _ in range(self.count)]
        for place, inside in enumerate(self.lifted.inside):
            for i in inside:
                t, block = self.lifted.transition(i), self.block_of[i]
                for difference in self.costs.differences[t]:
                    if block is None:
                        if self.alone(t, difference):
                            raise Infinite
                        continue
                    free = self.kit.free(self.frames[place][block], t, difference)
                    result[place][block] = result[place].get(block, True) & free
        return result

    def masked(self, place: int, block: int, rows: Rows) -> Rows:
        """The profiles without the columns on which some loop of the place costs something."""
        mask = self.allowed[place].get(block)
        return rows if mask is None else np.where(mask, rows, NEVER)

    def after_loops(self, place: int, block: int, some: Rows) -> Rows:
        """The profiles once the loops of a place have been taken as often as one likes.

        Raises :class:`Infinite` where a profile has no finite entry then.
        """
        some = self.masked(place, block, some)
        if self.one_block:
            some = np.where(self.matters[place], some, NEVER)
        if (some.min(axis=1) >= NEVER).any():
            raise Infinite
        return some

    # What is ahead, where all variables are one block

    @cached_property
    def ahead(self) -> list[Rows]:
        """For each place and column what the rest costs if the adversary sees the shifts."""
        result: list[Rows] = [np.zeros(0, dtype=np.int64)] * self.count
        for place in self._last_first():
            here = np.zeros(self.frame(place, 0).width, dtype=np.int64)
            for table, there, extra in self._onward(place):
                after = result[there]
                carried = after if table is None else table.back(after)
                np.maximum(here, np.minimum(carried + extra, NEVER), out=here)
            result[place] = self.masked(place, 0, here)
        return result

    @cached_property
    def matters(self) -> list[Columns]:
        """For each place the columns that some rest of a run can go on from at a finite cost."""
        result: list[Columns] = [np.zeros(0, dtype=np.bool_)] * self.count
        for place in self._last_first():
            here = np.full(self.frame(place, 0).width, place in self.ends)
            for table, there, _ in self._onward(place):
                after = result[there]
                here |= after if table is None else table.back(np.where(after, 0, NEVER)) < NEVER
            result[place] = self.masked(place, 0, np.where(here, 0, NEVER)) < NEVER
        return result

    def _last_first(self) -> Iterator[int]:
        for place in reversed(range(self.count)):
            self.limits.check(f"exact constant, what is ahead of {place} places")
            yield place

    def _onward(self, place: int) -> Iterator[tuple[StepTable | None, int, int]]:
        """The ways on: a table (``None``: nothing changes), the place, and a cost that is certain."""
        for i in self.lifted.leaving[place]:
            t, (_, there) = self.lifted.transition(i), self.joined(i)
            for difference in self.costs.differences[t]:
                if self.block_of[i] is None:
                    yield self.projection(i, 0), there, self.alone(t, difference)
                else:
                    yield self.table(i, difference), there, 0
