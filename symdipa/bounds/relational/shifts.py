"""The shifts to choose from, on a grid fine enough for all means and differences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import lcm

from symdipa.bounds.relational.machine import SAMPLE, SECOND, Letter, LetterMachine, output_of
from symdipa.model.adjacency import Interval

FAR = 3
"""Bounds on differences of values beyond this multiple of the largest difference of inputs are forgotten."""

ShiftRange = tuple[int, int]
"""The least and the largest shift, in units of the grid."""

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
    _known: dict[tuple[int, int, str], tuple[Priced, ...]] = field(default_factory=dict)

    @cached_property
    def unit(self) -> int:
        means = (mean for s in self.machine.control.sampling for mean in (s.mu, s.mu_prime))
        return lcm(*(number.denominator for number in (*means, *self.interval)))

    @cached_property
    def scale(self) -> int:
        """The common denominator of all inverse scales."""
        scales = (d for s in self.machine.control.sampling for d in (s.d, s.d_prime))
        return lcm(*(d.denominator for d in scales if d))

    @cached_property
    def far(self) -> int:
        return FAR * max(1, *(abs(self._grid(end)) for end in self.interval))

    def options(self, q: int, p: int, letter: Letter) -> tuple[Priced, ...]:
        """Ranges of shifts that may help, with their costs, the cheap ones first; none if nothing helps.

        The copies are in control states ``q`` and ``p`` and both show ``letter``. ``None`` in place of a
        range means that their samples are not tied.
        """
        key = q, p, output_of(letter)
        if key not in self._known:
            self._known[key] = tuple(self._options(*key))
        return self._known[key]

    def _options(self, q: int, p: int, shown: str) -> Iterator[Priced]:
        one, other = self.machine.sampling(q), self.machine.sampling(p)
        if one is None or other is None:
            yield None, 0
            return
        if one.reads_input != other.reads_input:
            return
        low, high = self.interval if one.reads_input else (Fraction(0), Fraction(0))
        released = 0
        if shown == SECOND:
            if one.d_prime is None or one.d_prime != other.d_prime:
                return
            mean = other.mu_prime - one.mu_prime
            released = self._price(one.d_prime, self._grid(max(mean - low, high - mean)))
        if one.d is None or one.d != other.d or not one.d:
            if shown != SAMPLE:
                yield None, released
            return
        mean = other.mu - one.mu
        a, b = self._grid(mean - high), self._grid(mean - low)
        ranges = {(0, 0)} if shown == SAMPLE else self._ranges(a, b, self._grid(mean))
        priced = {r: self._price(one.d, max(0, b - r[1], r[0] - a)) + released for r in ranges}
        yield from _undominated(priced)

    def _ranges(self, low: int, high: int, mean: int) -> set[ShiftRange]:
        """The ranges worth a try where the sample of the second copy differs by ``low`` to ``high``."""
        ends = [-self._grid(end) for end in self.interval]
        ranges = {(low, high), *((c, c) for c in ends)}
        return ranges if self.few else ranges | {(0, max(high, 0)), (min(low, 0), 0), (0, 0), (mean, mean)}

    def _grid(self, value: Fraction) -> int:
        return int(value * self.unit)

    def _price(self, d: Fraction, distance: int) -> int:
        return int(d * self.scale) * distance


def _undominated(priced: dict[ShiftRange, int]) -> Iterator[tuple[ShiftRange, int]]:
    """The ranges for which no other one inside them costs as little, the cheap ones first."""
    for r in sorted(priced, key=lambda r: (priced[r], r)):
        inside = (s for s in priced if s != r and priced[s] <= priced[r] and r[0] <= s[0] <= s[1] <= r[1])
        if next(inside, None) is None:
            yield r, priced[r]
