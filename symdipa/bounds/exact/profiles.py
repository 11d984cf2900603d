"""The exact constant by profiles (docs/weights.md, section 3).

The adversary chooses a run and the differences of its inputs, then the shifts are chosen as cheaply as
possible. Forward over the places of the lift, each keeps the profiles that the adversary can reach and that
no other one covers; inside a component every step must cost nothing, as it can be repeated. The answer is the
dearest profile at an end.

*Blocks.* Variables that no transition brings together never influence each other's shifts. Profiles are then
kept per block: a :class:`Product` stands for every combination of one profile of each block. Where there are
few ways to shift all live values together, they are one block.

*Pruning* (for one block). If the adversary also saw the shifts as they are chosen, step by step, the rest of
the run would cost ``ahead``; no profile can do better than its least sum with ``ahead``. A first
search keeps the few most promising profiles of each place and gives a lower bound; what cannot exceed it is
left out of the second one, which is complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from symdipa.bounds.exact.frames import LARGEST, NEVER, Frame, Kit, Rows, Table, TooWide, maximal
from symdipa.bounds.exact.lift import Costs, Lift, costs, lift
from symdipa.model.adjacency import Adjacency, Interval, intervals
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.augmentation import Augmentation
from symdipa.runs.control import Control
from symdipa.runs.graphs import classes
from symdipa.runs.order import Mask, initial, members

BUDGET = 100_000_000
"""As many entries of profiles may be computed, unless the caller says otherwise."""

TOGETHER = 400
"""All variables are one block if no place has more columns then."""

BEAMS = (1, 30)
"""How many profiles of a place the first searches keep."""


@dataclass(frozen=True)
class Exact:
    """The exact constant: the largest ``C`` of a run and of differences of its inputs.

    ``value`` is ``None`` if there is no largest (then nothing else is told). ``run`` are the transitions of a
    run that attains it when its ``loops``, half-open ranges of positions, are repeated often enough;
    ``deltas`` are the differences of the inputs at its positions (0 at steps without input), which lie in
    ``interval``; in a loop they hold for all its copies. ``sizes`` tell how large the search was.
    """

    value: Fraction | None
    run: tuple[int, ...]
    loops: tuple[tuple[int, int], ...]
    deltas: tuple[Fraction, ...]
    interval: Interval
    sizes: dict[str, int] = field(default_factory=dict, compare=False)


class ConstantLimit(LimitReached):
    """The budget was used up: the constant is at least that of ``lower`` and at most ``upper`` (if known)."""

    def __init__(self, reason: str, lower: Exact | None, upper: Fraction | None) -> None:
        super().__init__(Limit.SIZE, reason)
        self.lower, self.upper = lower, upper


def exact_constant(
    augmentation: Augmentation,
    budget: int = BUDGET,
    *,
    adjacency: Adjacency = "two-sided",
    sensitivity: Fraction | int = 1,
    max_nodes: int | None = None,
    limits: Limits = UNLIMITED,
) -> Exact:
    """The optimal ``D`` of single runs; infinite exactly when the automaton is not well-formed.

    ``adjacency`` is ``"two-sided"``, ``"monotone"`` or an interval over which differences range. An interval
    that does not extend to both sides of 0 is refused for automata with a leaking cycle. Raises
    :class:`ConstantLimit` when ``budget`` entries of profiles have been computed, :class:`LimitReached` when
    the lift has more than ``max_nodes`` nodes, when too many values are live at a time, and when the time is
    up.
    """
    chosen = intervals(adjacency, sensitivity)
    if augmentation.leaks and any(map(any, chosen)):
        if adjacency != "monotone" and not chosen[0][0] < 0 < chosen[0][1]:
            raise LimitReached(Limit.METHOD, "one-sided differences and a leaking cycle: no profiles")
        return Exact(None, (), (), (), chosen[0])
    search = partial(_worst, chosen, budget, limits)
    try:
        return search(lift(augmentation, max_nodes, limits))
    except TooWide:
        everything = (1 << augmentation.control.variables) - 1
        return search(lift(augmentation, max_nodes, limits, foresee=everything))


def _worst(chosen: tuple[Interval, ...], budget: int, limits: Limits, lifted: Lift) -> Exact:
    """The largest constant for some of the intervals."""
    found: list[Exact] = []
    reached: list[ConstantLimit] = []
    for interval in chosen:
        try:
            found.append(_Search(lifted, costs(lifted.graph.control, interval), budget, limits).run())
        except ConstantLimit as limit:
            reached.append(limit)
        else:
            if found[-1].value is None:
                return found[-1]
    if not reached:
        return max(found, key=_value)
    lower = max([*found, *(limit.lower for limit in reached if limit.lower)], key=_value, default=None)
    upper: Fraction | None = Fraction(0)
    for bound in [*(limit.upper for limit in reached), *map(_value, found)]:
        upper = None if bound is None or upper is None else max(bound, upper)
    raise ConstantLimit(reached[0].reason, lower, upper)


def _value(exact: Exact) -> Fraction:
    assert exact.value is not None
    return exact.value


@dataclass(frozen=True, eq=False)
class Product:
    """Profiles block by block: every combination of one row of each, and of ``constant``, is reached.

    Blocks without tracked values have no rows; their costs are in ``constant``.
    """

    constant: int
    rows: dict[int, Rows]

    def normal(self) -> Product:
        """The same with the costs that are certain in ``constant``, rows maximal and in a fixed order."""
        constant, rows = self.constant, {}
        for block, some in self.rows.items():
            if len(some) == 1 and not some.min():
                rows[block] = some
                continue
            certain = int(some.min(axis=1).max())
            constant += certain
            rows[block] = maximal(np.where(some >= NEVER, NEVER, some - certain))
        return Product(constant, rows)

    def dearest(self) -> Choice:
        """The profile with the highest least entry."""
        rows, total = {}, self.constant
        for block, some in self.rows.items():
            least = some.min(axis=1)
            k = int(least.argmax())
            rows[block], total = _lowered(some[k : k + 1]), total + int(least[k])
        return Choice(total, rows)

    def apart_from(self, block: int | None) -> tuple[tuple[int, bytes], ...]:
        """What two products must share so that they may be united in that block."""
        return tuple((b, some.tobytes()) for b, some in sorted(self.rows.items()) if b != block)


def _united(products: list[Product]) -> list[Product]:
    """Fewer products for the same profiles: those that differ in one block only become one."""
    blocks: list[int | None] = [*products[0].rows] if products else []
    products = [product.normal() for product in products]
    changed = len(products) > 1
    while changed:
        changed = False
        for block in blocks or [None]:
            groups: dict[tuple[tuple[int, bytes], ...], list[Product]] = {}
            for product in products:
                groups.setdefault(product.apart_from(block), []).append(product)
            if len(groups) < len(products):
                changed = True
                products = [_union(group, block) for group in groups.values()]
    return products


def _union(group: list[Product], block: int | None) -> Product:
    if len(group) == 1:
        return group[0]
    if block is None:
        return max(group, key=lambda product: product.constant)
    some = [product.rows[block] + product.constant for product in group]
    return Product(0, {**group[0].rows, block: np.minimum(np.concatenate(some), NEVER)}).normal()


@dataclass(frozen=True)
class Choice:
    """One profile: a row for each block, least entry 0, and what the prefix costs at least in all."""

    total: int
    rows: dict[int, Rows]


class _Infinite(Exception):
    """Some profile has no finite entry."""


@dataclass(eq=False)
class _Search:
    lifted: Lift
    costs: Costs
    budget: int
    limits: Limits
    spent: int = 0

    @property
    def graph(self) -> Augmentation:
        return self.lifted.graph

    @property
    def control(self) -> Control:
        return self.lifted.graph.control

    @cached_property
    def kit(self) -> Kit:
        return Kit(self.control, self.costs, self.limits)

    @cached_property
    def nothing(self) -> Frame:
        return self.kit.frame(initial(self.control.variables), 0)

    def run(self) -> Exact:
        if self.costs.largest * (len(self.lifted.places) + 1) > LARGEST:
            raise LimitReached(Limit.METHOD, "the scales have no common denominator of reasonable size")
        try:
            return self._run()
        except _Infinite:
            return Exact(None, (), (), (), self.costs.interval, self._sizes())

    def _run(self) -> Exact:
        best: Exact | None = None
        upper = self._upper()
        try:
            for beam in BEAMS if self.prunes else ():
                if best is None or upper is None or _value(best) < upper:
                    best = self._better(best, beam)
            if best is None or upper is None or _value(best) < upper:
                best = self._better(best, None)
        except _OutOfBudget as limit:
            raise ConstantLimit(str(limit), best, upper) from None
        assert best is not None
        return Exact(best.value, best.run, best.loops, best.deltas, best.interval, self._sizes())

    def _sizes(self) -> dict[str, int]:
        return {"lifted nodes": len(self.lifted.base), "profile entries": self.spent}

    def _upper(self) -> Fraction | None:
        """What the adversary gets who sees the shifts; ``None`` if that is infinite or not computed."""
        if not self.prunes:
            return None
        (least,) = self.ahead[self.lifted.place[self.lifted.start]]
        return None if least >= NEVER else Fraction(int(least), self.costs.unit)

    # Blocks and frames

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
        for place in range(len(self.lifted.places)):
            if self.lifted.tracked[self._some(place)].bit_count() > 12:
                return False
            try:
                if self._frame(place, variables).width > TOGETHER:
                    return False
            except LimitReached:
                return False
        return True

    @property
    def prunes(self) -> bool:
        return len(self.blocks) == 1

    def _some(self, place: int) -> int:
        return self.lifted.places[place][0]

    def _frame(self, place: int, variables: Mask) -> Frame:
        v = self._some(place)
        return self.kit.frame(self.graph.order[self.lifted.base[v]], self.lifted.tracked[v] & variables)

    @cached_property
    def frames(self) -> list[dict[int, Frame]]:
        """For each place the frames of the blocks with tracked values."""
        return [
            {b: self._frame(place, block) for b, block in enumerate(self.blocks) if tracked & block}
            for place, tracked in enumerate(
                self.lifted.tracked[self._some(p)] for p in range(len(self.lifted.places))
            )
        ]

    def _frame_at(self, place: int, block: int) -> Frame:
        return self.frames[place].get(block, self.nothing)

    @cached_property
    def block_of(self) -> tuple[int | None, ...]:
        """For each lifted edge the block whose values it compares or that its sample, if tracked, joins."""
        result: list[int | None] = []
        for i, v in enumerate(self.lifted.target):
            step = self.control.steps[self.lifted.transition(i)]
            concerned = step.used | step.asg & self.lifted.tracked[v]
            result.append(next((b for b, block in enumerate(self.blocks) if block & concerned), None))
        return tuple(result)

    def _alone(self, t: int, difference: int) -> int:
        """What a transition costs that neither compares nor stores."""
        shift = self.costs.zero if self.control.sampling[t].shows_sample else difference
        return self.costs.price[t][difference][shift]

    @cached_property
    def allowed(self) -> list[dict[int, NDArray[np.bool_]]]:
        """For each place and block that its loops read: the columns on which they cost nothing.

        Raises :class:`_Infinite` where a loop always costs something.
        """
        result: list[dict[int, NDArray[np.bool_]]] = [{} for _ in self.lifted.places]
        for place, inside in enumerate(self.lifted.inside):
            for i in inside:
                t, block = self.lifted.transition(i), self.block_of[i]
                for difference in self.costs.differences[t]:
                    if block is None:
                        if self._alone(t, difference):
                            raise _Infinite
                        continue
                    free = self.kit.free(self.frames[place][block], t, difference)
                    result[place][block] = result[place].get(block, True) & free
        return result

    # What is ahead

    @cached_property
    def ahead(self) -> list[Rows]:
        """For each place and column of the one block what the rest costs if the adversary sees the shifts."""
        result: list[Rows] = [np.zeros(0, dtype=np.int64)] * len(self.lifted.places)
        for place in reversed(range(len(result))):
            self._spend(0)
            here = np.zeros(self._frame_at(place, 0).width, dtype=np.int64)
            for table, there, extra in self._onward(place):
                after = result[there]
                carried = after if table is None else table.back(after)
                np.maximum(here, np.minimum(carried + extra, NEVER), out=here)
            result[place] = self._masked(place, 0, here)
        return result

    @cached_property
    def matters(self) -> list[NDArray[np.bool_]]:
        """For each place the columns that some rest of a run can go on from at a finite cost."""
        result: list[NDArray[np.bool_]] = [np.zeros(0, dtype=np.bool_)] * len(self.lifted.places)
        ends = {self.lifted.place[v] for v in range(self.lifted.ends)}
        for place in reversed(range(len(result))):
            self._spend(0)
            here = np.full(self._frame_at(place, 0).width, place in ends)
            for table, there, _ in self._onward(place):
                after = result[there]
                here |= after if table is None else table.back(np.where(after, 0, NEVER)) < NEVER
            result[place] = self._masked(place, 0, np.where(here, 0, NEVER)) < NEVER
        return result

    def _onward(self, place: int) -> Iterator[tuple[Table | None, int, int]]:
        for i in self.lifted.leaving[place]:
            t, there = self.lifted.transition(i), self.lifted.place[self.lifted.target[i]]
            for difference in self.costs.differences[t]:
                if self.block_of[i] is None:
                    before, after = self._frame_at(place, 0), self._frame_at(there, 0)
                    table = None if before is after else self.kit.projection(before, after)
                    yield table, there, self._alone(t, difference)
                else:
                    yield self._table(i, difference), there, 0

    def _table(self, i: int, difference: int) -> Table:
        """The table of a lifted edge between places for the block that it concerns."""
        block = self.block_of[i]
        assert block is not None
        here, there = (self.lifted.place[v] for v in (self.lifted.source[i], self.lifted.target[i]))
        before, after = self._frame_at(here, block), self._frame_at(there, block)
        return self.kit.table(before, after, self.lifted.transition(i), difference)

    def _masked(self, place: int, block: int, rows: Rows) -> Rows:
        mask = self.allowed[place].get(block)
        return rows if mask is None else np.where(mask, rows, NEVER)

    # The search

    def _better(self, best: Exact | None, beam: int | None) -> Exact:
        """A search that keeps ``beam`` profiles of each place (all if ``None``); the better result."""
        floor = -1 if best is None else int(_value(best) * self.costs.unit)
        kept: list[list[Product]] = []
        for place in range(len(self.lifted.places)):
            kept.append(self._gather(place, kept, floor, beam))
        found = [(product.dearest(), -place) for place in self._ends() for product in kept[place]]
        dearest, end = max(found, key=lambda one: (one[0].total, one[1]), default=(Choice(floor, {}), 0))
        if dearest.total <= floor:
            assert best is not None
            return best
        return self._explained(dearest, -end, kept)

    def _ends(self) -> set[int]:
        return {self.lifted.place[v] for v in range(self.lifted.ends)}

    def _gather(self, place: int, kept: list[list[Product]], floor: int, beam: int | None) -> list[Product]:
        """The profiles that arrive in a place, as far as they may exceed ``floor``."""
        arrived: list[Product] = []
        if place == self.lifted.place[self.lifted.start]:
            arrived.append(Product(0, {}))
        for i in self.lifted.entering[place]:
            for product in kept[self.lifted.place[self.lifted.source[i]]]:
                arrived.append(self._moved(i, product))
        arrived = [self._settled(place, product) for product in arrived]
        if not self.prunes:
            return _united(arrived)
        if 0 not in self.frames[place]:
            constant = max((product.constant for product in arrived), default=-1)
            return [Product(constant, {})] if constant + int(self.ahead[place][0]) > floor else []
        if not arrived:
            return []
        rows = np.minimum(np.concatenate([product.rows[0] + product.constant for product in arrived]), NEVER)
        hopes = (rows + self.ahead[place]).min(axis=1)
        rows, hopes = rows[hopes > floor], hopes[hopes > floor]
        if beam is not None and len(rows) > beam:
            rows = rows[np.argsort(-hopes, kind="stable")[: 4 * beam]]
        rows = maximal(rows)[:beam]
        return [Product(0, {0: rows})] if len(rows) else []

    def _moved(self, i: int, product: Product) -> Product:
        """The product after a lifted edge between places."""
        t, block = self.lifted.transition(i), self.block_of[i]
        differences, there = self.costs.differences[t], self.lifted.place[self.lifted.target[i]]
        moved = {b: self._carried(i, b, some) for b, some in product.rows.items() if b != block}
        constant = product.constant
        if block is None:
            constant += max(self._alone(t, d) for d in differences)
        else:
            before = product.rows.get(block, _ZERO)
            moved[block] = np.concatenate([self._table(i, d).apply(before) for d in differences])
            self._spend(moved[block].size)
        settled = [b for b in moved if b not in self.frames[there]]
        for b in settled:
            constant += int(moved.pop(b).max())
            if constant >= NEVER:
                raise _Infinite
        return Product(constant, moved)

    def _carried(self, i: int, block: int, some: Rows) -> Rows:
        """Profiles of a block after a lifted edge between places that does not concern it."""
        before = self._frame_at(self.lifted.place[self.lifted.source[i]], block)
        after = self._frame_at(self.lifted.place[self.lifted.target[i]], block)
        return some if before is after else self.kit.projection(before, after).apply(some)

    def _settled(self, place: int, product: Product) -> Product:
        """The product once the loops of a place have been taken as often as one likes."""
        rows = {block: self._after_loops(place, block, some) for block, some in product.rows.items()}
        return Product(product.constant, rows)

    def _after_loops(self, place: int, block: int, some: Rows) -> Rows:
        some = self._masked(place, block, some)
        if self.prunes:
            some = np.where(self.matters[place], some, NEVER)
        if (some.min(axis=1) >= NEVER).any():
            raise _Infinite
        return some

    def _spend(self, entries: int) -> None:
        self.spent += entries
        self.limits.check(f"exact constant, {self.spent} profile entries")
        if self.spent > self.budget:
            raise _OutOfBudget(f"more than {self.budget} profile entries for the exact constant")

    # The way back

    def _explained(self, choice: Choice, place: int, kept: list[list[Product]]) -> Exact:
        """A run and differences that reach the choice in the place."""
        total, way = choice.total, []
        while place != self.lifted.place[self.lifted.start]:
            i, difference, choice = self._origin(choice, place, kept)
            way.append((i, difference))
            place = self.lifted.place[self.lifted.source[i]]
        trip = _Trip(self, self.lifted.start)
        for i, difference in reversed(way):
            trip.tour()
            trip.go_to(self.lifted.source[i])
            trip.take(i, difference)
        trip.tour()
        levels = self.costs.levels
        return Exact(
            Fraction(total, self.costs.unit),
            tuple(self.lifted.transition(i) for i in trip.edges),
            tuple(trip.loops),
            tuple(levels[difference] for difference in trip.differences),
            self.costs.interval,
        )

    def _origin(self, choice: Choice, place: int, kept: list[list[Product]]) -> tuple[int, int, Choice]:
        """The edge and the difference by which the choice was reached, and from which one."""
        for i in self.lifted.entering[place]:
            for product in kept[self.lifted.place[self.lifted.source[i]]]:
                found = self._origin_in(choice, place, i, product)
                if found is not None:
                    return i, *found
        raise AssertionError("a profile came from nowhere")

    def _origin_in(self, choice: Choice, place: int, i: int, product: Product) -> tuple[int, Choice] | None:
        """The difference and the profile of the product from which the edge leads to the choice, if any."""
        block, t = self.block_of[i], self.lifted.transition(i)
        before, before_total, after_total = {}, product.constant, product.constant
        for b, some in product.rows.items():
            if b != block:
                after = self._after_loops(place, b, self._carried(i, b, some))
                k = _like(after, choice.rows.get(b, _ZERO))
                if k is None:
                    return None
                after_total += int(after[k].min())
                before_total += int(some[k].min())
                before[b] = _lowered(some[k : k + 1])
        for difference in self.costs.differences[t]:
            if block is None:
                if after_total + self._alone(t, difference) == choice.total:
                    return difference, Choice(before_total, before)
                continue
            some = product.rows.get(block, _ZERO)
            after = self._after_loops(place, block, self._table(i, difference).apply(some))
            for k, least in enumerate(after.min(axis=1)):
                row = choice.rows.get(block, _ZERO)
                if after_total + least == choice.total and (_lowered(after[k : k + 1]) == row).all():
                    if block in product.rows:
                        before[block] = _lowered(some[k : k + 1])
                        before_total += int(some[k].min())
                    return difference, Choice(before_total, before)
        return None


_ZERO = np.zeros((1, 1), dtype=np.int64)


def _lowered(rows: Rows) -> Rows:
    """Every row with least entry 0."""
    return np.where(rows >= NEVER, NEVER, rows - rows.min(axis=1, keepdims=True))


def _like(rows: Rows, row: Rows) -> int | None:
    """The dearest of the rows that differ from the given one by a constant."""
    fitting = np.flatnonzero((_lowered(rows) == row).all(axis=1))
    return int(fitting[rows[fitting].min(axis=1).argmax()]) if len(fitting) else None


class _OutOfBudget(Exception):
    pass


@dataclass(eq=False)
class _Trip:
    """A run under construction: lifted edges, levels of the differences, and the loops."""

    search: _Search
    node: int
    edges: list[int] = field(default_factory=list)
    differences: list[int] = field(default_factory=list)
    loops: list[tuple[int, int]] = field(default_factory=list)

    def take(self, i: int, difference: int) -> None:
        self.edges.append(i)
        self.differences.append(difference)
        self.node = self.search.lifted.target[i]

    def go_to(self, node: int) -> None:
        """Walk on inside the place."""
        for i in self.search.lifted.walk(self.node, node):
            self.take(i, self.search.costs.zero)

    def tour(self) -> None:
        """Go round loops that together forbid what all loops of the place forbid."""
        search, place = self.search, self.search.lifted.place[self.node]
        left = {
            block: np.ones(search.frames[place][block].width, dtype=np.bool_)
            for block in search.allowed[place]
        }
        for block, allowed in search.allowed[place].items():
            reading = [i for i in search.lifted.inside[place] if search.block_of[i] == block]
            while (left[block] & ~allowed).any():
                self._round(min(reading, key=lambda i: self._forbidding(i, left)[0]), left)

    def _forbidding(self, i: int, left: dict[int, NDArray[np.bool_]]) -> tuple[int, int]:
        """How many columns are left after a step in a loop, and for which difference; as few as possible."""
        search, block = self.search, self.search.block_of[i]
        if block is None:
            return 0, search.costs.zero
        t, frame = search.lifted.transition(i), search.frames[search.lifted.place[self.node]][block]
        return min(
            (int((left[block] & search.kit.free(frame, t, d)).sum()), d) for d in search.costs.differences[t]
        )

    def _round(self, i: int, left: dict[int, NDArray[np.bool_]]) -> None:
        """Go round a loop through an edge; every step forbids as many of the columns left as it can."""
        search, lifted = self.search, self.search.lifted
        self.go_to(lifted.source[i])
        start = len(self.edges)
        for step in [i, *lifted.walk(lifted.target[i], lifted.source[i])]:
            block, t = search.block_of[step], lifted.transition(step)
            _, difference = self._forbidding(step, left)
            if block is not None:
                frame = search.frames[lifted.place[self.node]][block]
                left[block] = left[block] & search.kit.free(frame, t, difference)
            self.take(step, difference)
        self.loops.append((start, len(self.edges)))
