"""The shifts to choose from, on a grid fine enough for all means and differences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, lcm

from symdipa.bounds.relational.machine import Letter, LetterMachine, numbers_of
from symdipa.bounds.relational.outcomes import ShiftRange
from symdipa.bounds.relational.program import SECOND, SHOWN
from symdipa.model.adjacency import Interval
from symdipa.runs.control import Slopes

FAR = 3
"""Bounds on differences of values beyond this multiple of the largest difference of inputs are forgotten."""

Priced = tuple[ShiftRange | None, int]
"""A range (``None``: the samples are not tied) and what it costs."""


@dataclass(frozen=True, eq=False)
class ShiftMenu:
    """Ranges of shifts with their costs, for differences of inputs (first minus second) in ``interval``.

    Shifts are multiples of ``1/unit``, costs multiples of ``1/(unit * scale)``. With ``few`` there are three
    ranges: to follow the difference, and to shift by the least or the largest one. That is how single samples
    are singled out (the winner's, say), and leaves few facts to tell apart.
    """

    machine: LetterMachine
    interval: Interval
    few: bool = False
    _known: dict[tuple[int, int, frozenset[str]], tuple[Priced, ...]] = field(default_factory=dict)

    @cached_property
    def ends(self) -> Interval:
        """The least and the largest difference: of integers, an integer."""
        low, high = self.interval
        return (Fraction(ceil(low)), Fraction(floor(high))) if self.machine.program.integer else (low, high)

    @cached_property
    def unit(self) -> int:
        return lcm(self.machine.program.unit, *(end.denominator for end in self.ends))

    @cached_property
    def scale(self) -> int:
        """The common denominator of all inverse scales."""
        drawings = [drawing for drawing in self.machine.program.drawing if drawing is not None]
        slopes = [d for drawing in drawings for pair in (drawing.slopes, drawing.second) for d in pair or ()]
        return lcm(*(d.denominator for d in slopes if d))

    @cached_property
    def far(self) -> int:
        gaps = max(map(abs, self.machine.program.gaps), default=Fraction(0))
        return FAR * max(1, *(abs(self._grid(end)) for end in (*self.ends, gaps)))

    def options(self, q: int, p: int, letter: Letter) -> tuple[Priced, ...]:
        """Ranges of shifts that may help, with their costs, the cheap ones first; none if nothing helps.

        The copies are in control states ``q`` and ``p`` and both show ``letter``. ``None`` in place of a
        range means that their samples are not tied.
        """
        key = q, p, numbers_of(letter)
        if key not in self._known:
            self._known[key] = tuple(self._options(*key))
        return self._known[key]

    def _options(self, q: int, p: int, numbers: frozenset[str]) -> Iterator[Priced]:
        one, other = self.machine.drawing(q), self.machine.drawing(p)
        if one is None or other is None:
            yield None, 0
            return
        if one.reads_input != other.reads_input:
            return
        low, high = self.ends if one.reads_input else (Fraction(0), Fraction(0))
        released = 0
        if SECOND in numbers:
            if one.second is None or one.second != other.second:
                return
            mean = other.mu_prime - one.mu_prime
            price = self._price(one.second, (0, 0), self._grid(mean - high), self._grid(mean - low))
            if price is None:
                return
            released = price
        if one.slopes is None or one.slopes != other.slopes:
            if SHOWN not in numbers:
                yield None, released
            return
        mean = other.mu - one.mu
        a, b = self._grid(mean - high), self._grid(mean - low)
        ranges = {(0, 0)} if SHOWN in numbers else self._ranges(a, b, self._grid(mean))
        prices = {r: self._price(one.slopes, r, a, b) for r in ranges}
        yield from _undominated({r: price + released for r, price in prices.items() if price is not None})

    def _ranges(self, low: int, high: int, mean: int) -> set[ShiftRange]:
        """The ranges worth a try where the sample of the second copy differs by ``low`` to ``high``."""
        ends = [-self._grid(end) for end in self.ends]
        ranges = {(low, high), *((c, c) for c in ends)}
        if self.few:
            return ranges | {(0, 0)} if self.machine.program.is_anchored else ranges
        return ranges | {(0, max(high, 0)), (min(low, 0), 0), (0, 0), (mean, mean)}

    def _grid(self, value: Fraction) -> int:
        return int(value * self.unit)

    def _price(self, slopes: Slopes, shift: ShiftRange, low: int, high: int) -> int | None:
        """The cost of a range where the sample of the second copy differs by ``low`` to ``high``.

        Slopes are about the first copy minus the second, shifts about the second minus the first: so a shift
        that is larger than that difference is below it.
        """
        below, above = slopes
        paid = 0
        for d, distance in ((above, shift[0] - low), (below, high - shift[1])):
            if distance > 0:
                if d is None:
                    return None
                paid = max(paid, int(d * self.scale) * distance)
        return paid


def _undominated(priced: dict[ShiftRange, int]) -> Iterator[tuple[ShiftRange, int]]:
    """The ranges for which no other one inside them costs as little, the cheap ones first."""
    for r in sorted(priced, key=lambda r: (priced[r], r)):
        inside = (s for s in priced if s != r and priced[s] <= priced[r] and r[0] <= s[0] <= s[1] <= r[1])
        if next(inside, None) is None:
            yield r, priced[r]
