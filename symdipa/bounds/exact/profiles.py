"""The exact constant by profiles (docs/weights.md, section 3).

The adversary chooses a run and the differences of its inputs, then the shifts are chosen as cheaply as
possible. The search goes forward over the places of the lift. In each it keeps the profiles that the
adversary can reach and that no other one covers; inside a component every step must cost nothing, as it can
be repeated. The answer is the profile of highest cost at an end.

*Pruning* (for one block of variables). If the adversary also saw the shifts as they are chosen, step by step,
the rest of the run would cost ``ahead``; no profile can do better than its least sum with ``ahead``. The
first searches keep the few most promising profiles of each place and give a lower bound; what cannot exceed
it is left out of the last one, which is complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from symdipa.bounds.exact.attained import attained
from symdipa.bounds.exact.flow import Span
from symdipa.bounds.exact.frames import LARGEST, TooWide, maximal
from symdipa.bounds.exact.lift import NEVER, LiftedAugmentation, costs, lift
from symdipa.bounds.exact.places import Infinite, Places
from symdipa.bounds.exact.products import ZERO, Choice, Product, united
from symdipa.model.adjacency import TWO_SIDED, Adjacency, Interval, intervals
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.augmentation import Augmentation

BUDGET = 100_000_000
"""The most entries of profiles that are computed, unless the caller says otherwise."""

BEAMS = (1, 30)
"""How many profiles of a place the first searches keep."""


@dataclass(frozen=True)
class Exact:
    """The exact constant: the largest ``C`` of a run and of differences of its inputs.

    ``value`` is ``None`` if there is no largest (then the rest is empty). ``run`` are the transitions of a
    run that attains it when its ``loops``, half-open ranges of positions, are repeated often enough;
    ``deltas`` are the differences of the inputs at its positions (0 at steps without input), which lie in
    ``interval``; in a loop they hold for all its copies.
    """

    value: Fraction | None
    run: tuple[int, ...]
    loops: tuple[Span, ...]
    deltas: tuple[Fraction, ...]
    interval: Interval


class ConstantLimit(LimitReached):
    """The budget was used up: the constant is at least that of ``lower`` and at most ``upper`` (if known)."""

    def __init__(self, reason: str, lower: Exact | None, upper: Fraction | None) -> None:
        super().__init__(Limit.SIZE, reason)
        self.lower, self.upper = lower, upper


def exact_constant(
    augmentation: Augmentation,
    budget: int = BUDGET,
    *,
    adjacency: Adjacency = TWO_SIDED,
    limits: Limits = UNLIMITED,
) -> Exact:
    """The optimal ``D`` of single runs; infinite exactly when the automaton is not well-formed.

    ``adjacency`` is ``"two-sided"``, ``"monotone"`` or the interval in which one input minus the other lies.
    Raises :class:`ConstantLimit` when ``budget`` entries of profiles have been computed, and
    :class:`LimitReached` when too many values are live at a time, and when the time is up.
    """
    chosen = intervals(adjacency)
    if not any(map(any, chosen)):  # the inputs are equal, whatever leaks
        return Exact(Fraction(0), (), (), (), chosen[0])
    if augmentation.leaks:
        return Exact(None, (), (), (), chosen[0])
    search = partial(_worst, chosen, budget, limits)
    try:
        return search(lift(augmentation, limits))
    except TooWide:
        everything = (1 << augmentation.control.variables) - 1
        return search(lift(augmentation, limits, foresee=everything))


def _worst(chosen: tuple[Interval, ...], budget: int, limits: Limits, lifted: LiftedAugmentation) -> Exact:
    """The largest constant over the intervals."""
    found: list[Exact] = []
    reached: list[ConstantLimit] = []
    for interval in chosen:
        try:
            places = Places(lifted, costs(lifted.graph.control, interval), limits)
            found.append(_ProfileSearch(places, budget).run())
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


class _OutOfBudget(Exception):
    """The entries of profiles are spent."""


@dataclass(eq=False)
class _ProfileSearch:
    """Forward over the places, with the number of entries that were computed."""

    places: Places
    budget: int
    spent: int = 0

    def run(self) -> Exact:
        if self.places.costs.largest * (self.places.count + 1) > LARGEST:
            raise LimitReached(Limit.METHOD, "the scales have no common denominator of reasonable size")
        try:
            return self._run()
        except Infinite:
            return Exact(None, (), (), (), self.places.costs.interval)

    def _run(self) -> Exact:
        best: Exact | None = None
        upper = self._upper()
        try:
            for beam in (*BEAMS, None) if self.places.one_block else (None,):
                if best is None or upper is None or _value(best) < upper:
                    best = self._better(best, beam)
        except _OutOfBudget as limit:
            raise ConstantLimit(str(limit), best, upper) from None
        assert best is not None
        return best

    def _upper(self) -> Fraction | None:
        """What the adversary gets who sees the shifts; ``None`` if that is infinite or not computed."""
        if not self.places.one_block:
            return None
        (least,) = self.places.ahead[self.places.start]
        return None if least >= NEVER else Fraction(int(least), self.places.costs.unit)

    def _better(self, best: Exact | None, beam: int | None) -> Exact:
        """A search that keeps ``beam`` profiles of each place (all if ``None``); the better result."""
        places = self.places
        floor = -1 if best is None else int(_value(best) * places.costs.unit)
        kept: list[list[Product]] = []
        for place in range(places.count):
            kept.append(self._gather(place, kept, floor, beam))
        found = [(product.highest(), -place) for place in places.ends for product in kept[place]]
        highest, end = max(found, key=lambda one: (one[0].total, one[1]), default=(Choice(floor, {}), 0))
        if highest.total <= floor:
            assert best is not None
            return best
        value = Fraction(highest.total, places.costs.unit)
        return Exact(value, *attained(places, kept, highest, -end), places.costs.interval)

    def _gather(self, place: int, kept: list[list[Product]], floor: int, beam: int | None) -> list[Product]:
        """The profiles that arrive in a place, as far as they may exceed ``floor``."""
        arrived = [Product(0, {})] if place == self.places.start else []
        for i in self.places.lifted.entering[place]:
            here, _ = self.places.joined(i)
            arrived += [self._moved(i, product) for product in kept[here]]
        arrived = [self._settled(place, product) for product in arrived]
        if not self.places.one_block:
            return united(arrived)
        ahead = self.places.ahead[place]
        if 0 not in self.places.frames[place]:
            constant = max((product.constant for product in arrived), default=-1)
            return [Product(constant, {})] if constant + int(ahead[0]) > floor else []
        if not arrived:
            return []
        rows = np.minimum(np.concatenate([product.rows[0] + product.constant for product in arrived]), NEVER)
        hopes = (rows + ahead).min(axis=1)
        rows, hopes = rows[hopes > floor], hopes[hopes > floor]
        if beam is not None and len(rows) > beam:
            rows = rows[np.argsort(-hopes, kind="stable")[: 4 * beam]]
        rows = maximal(rows)[:beam]
        return [Product(0, {0: rows})] if len(rows) else []

    def _moved(self, i: int, product: Product) -> Product:
        """The product after a lifted edge between places."""
        places = self.places
        t, block, (_, there) = places.lifted.transition(i), places.block_of[i], places.joined(i)
        differences = places.costs.differences[t]
        moved = {b: places.carried(i, b, some) for b, some in product.rows.items() if b != block}
        constant = product.constant
        if block is None:
            constant += max(places.alone(t, d) for d in differences)
        else:
            before = product.rows.get(block, ZERO)
            moved[block] = np.concatenate([places.table(i, d).apply(before) for d in differences])
            self._spend(moved[block].size)
        for b in [b for b in moved if b not in places.frames[there]]:
            constant += int(moved.pop(b).max())
            if constant >= NEVER:
                raise Infinite
        return Product(constant, moved)

    def _settled(self, place: int, product: Product) -> Product:
        """The product once the loops of a place have been taken as often as one likes."""
        rows = {block: self.places.after_loops(place, block, some) for block, some in product.rows.items()}
        return Product(product.constant, rows)

    def _spend(self, entries: int) -> None:
        self.spent += entries
        self.places.limits.check(f"exact constant, {self.spent} profile entries")
        if self.spent > self.budget:
            raise _OutOfBudget(f"more than {self.budget} profile entries for the exact constant")
