"""From a profile back to a run and differences that reach it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from symdipa.bounds.exact.flow import Span
from symdipa.bounds.exact.places import Columns, Places
from symdipa.bounds.exact.products import ZERO, Choice, Product, like, lowered

Kept = Sequence[Sequence[Product]]
"""For each place the products that a search has kept."""


def attained(
    places: Places, kept: Kept, choice: Choice, place: int
) -> tuple[tuple[int, ...], tuple[Span, ...], tuple[Fraction, ...]]:
    """A run that reaches the choice in the place, its loops, and the differences of its inputs."""
    way = []
    while place != places.start:
        i, difference, choice = _origin(places, kept, choice, place)
        way.append((i, difference))
        place, _ = places.joined(i)
    trip = _Trip(places, places.lifted.start)
    for i, difference in reversed(way):
        trip.tour()
        trip.go_to(places.lifted.source[i])
        trip.take(i, difference)
    trip.tour()
    return (
        tuple(places.lifted.transition(i) for i in trip.edges),
        tuple(trip.loops),
        tuple(places.costs.levels[difference] for difference in trip.differences),
    )


def _origin(places: Places, kept: Kept, choice: Choice, place: int) -> tuple[int, int, Choice]:
    """The edge and the difference by which the choice was reached, and from which one."""
    for i in places.lifted.entering[place]:
        here, _ = places.joined(i)
        for product in kept[here]:
            found = _origin_in(places, choice, place, i, product)
            if found is not None:
                return i, *found
    raise AssertionError("a profile came from nowhere")


def _origin_in(
    places: Places, choice: Choice, place: int, i: int, product: Product
) -> tuple[int, Choice] | None:
    """The difference and the profile of the product from which the edge leads to the choice, if any."""
    block, t = places.block_of[i], places.lifted.transition(i)
    elsewhere = _in_other_blocks(places, choice, place, i, product)
    if elsewhere is None:
        return None
    before, after_total = elsewhere
    for difference in places.costs.differences[t]:
        if block is None:
            if after_total + places.alone(t, difference) == choice.total:
                return difference, before
            continue
        some, row = product.rows.get(block, ZERO), choice.rows.get(block, ZERO)
        after = places.after_loops(place, block, places.table(i, difference).apply(some))
        for k, least in enumerate(after.min(axis=1)):
            if after_total + least == choice.total and (lowered(after[k : k + 1]) == row).all():
                if block not in product.rows:
                    return difference, before
                own = some[k : k + 1]
                return difference, Choice(before.total + int(own.min()), {**before.rows, block: lowered(own)})
    return None


def _in_other_blocks(
    places: Places, choice: Choice, place: int, i: int, product: Product
) -> tuple[Choice, int] | None:
    """The rows that become those of the choice in blocks that an edge does not concern, and their total."""
    rows, before_total, after_total = {}, product.constant, product.constant
    for b, some in product.rows.items():
        if b != places.block_of[i]:
            after = places.after_loops(place, b, places.carried(i, b, some))
            k = like(after, choice.rows.get(b, ZERO))
            if k is None:
                return None
            after_total += int(after[k].min())
            before_total += int(some[k].min())
            rows[b] = lowered(some[k : k + 1])
    return Choice(before_total, rows), after_total


@dataclass(eq=False)
class _Trip:
    """A run under construction: lifted edges, levels of the differences, and the loops."""

    places: Places
    node: int
    edges: list[int] = field(default_factory=list)
    differences: list[int] = field(default_factory=list)
    loops: list[Span] = field(default_factory=list)

    def take(self, i: int, difference: int) -> None:
        self.edges.append(i)
        self.differences.append(difference)
        self.node = self.places.lifted.target[i]

    def go_to(self, node: int) -> None:
        """Walk on inside the place."""
        for i in self.places.lifted.walk(self.node, node):
            self.take(i, self.places.costs.zero)

    def tour(self) -> None:
        """Go round loops that together forbid what all loops of the place forbid."""
        places, place = self.places, self.places.lifted.place[self.node]
        left = {b: np.ones(places.frames[place][b].width, dtype=np.bool_) for b in places.allowed[place]}
        for block, allowed in places.allowed[place].items():
            reading = [i for i in places.lifted.inside[place] if places.block_of[i] == block]
            while (left[block] & ~allowed).any():
                self._round(min(reading, key=lambda i: self._forbidding(i, left)[0]), left)

    def _forbidding(self, i: int, left: dict[int, Columns]) -> tuple[int, int]:
        """How many columns are left after a step in a loop, and for which difference; as few as possible."""
        places, block = self.places, self.places.block_of[i]
        if block is None:
            return 0, places.costs.zero
        t, frame = places.lifted.transition(i), places.frames[places.lifted.place[self.node]][block]
        return min(
            (int((left[block] & places.kit.free(frame, t, d)).sum()), d) for d in places.costs.differences[t]
        )

    def _round(self, i: int, left: dict[int, Columns]) -> None:
        """Go round a loop through an edge; every step forbids as many of the remaining columns as it can."""
        places, lifted = self.places, self.places.lifted
        frames = places.frames[lifted.place[self.node]]
        self.go_to(lifted.source[i])
        start = len(self.edges)
        for step in [i, *lifted.walk(lifted.target[i], lifted.source[i])]:
            block, t = places.block_of[step], lifted.transition(step)
            _, difference = self._forbidding(step, left)
            if block is not None:
                left[block] = left[block] & places.kit.free(frames[block], t, difference)
            self.take(step, difference)
        self.loops.append((start, len(self.edges)))
