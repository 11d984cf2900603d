"""What a step costs: the summand of all bounds by shifts (docs/weights.md, section 1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from symdipa.runs.control import Control, Sampling


@dataclass(frozen=True, slots=True)
class Rate:
    """A step costs ``d * |shift - difference| + release * |difference|``.

    The difference is that of the inputs, 0 where none is read; the shift is that of the sample which guards
    compare. ``d`` is the inverse scale of that sample (0 if not given), ``release`` that of the second sample
    if it is output and an input read, otherwise 0.
    """

    d: Fraction
    release: Fraction
    reads_input: bool

    def __hash__(self) -> int:
        # Rates are keys throughout, and the hash of a fraction costs a modular inverse.
        d, release = self.d.as_integer_ratio(), self.release.as_integer_ratio()
        return hash((d, release, self.reads_input))

    def cost(self, difference: Fraction, shift: Fraction) -> Fraction:
        return self.d * abs(shift - difference) + self.release * abs(difference)

    def worst(
        self, floor: Iterable[Fraction], ceiling: Iterable[Fraction], low: Fraction, high: Fraction
    ) -> tuple[Fraction, Fraction]:
        """The greatest cost for differences in ``[low, high]`` (around 0): of the sample, of the second one.

        The shift is the one nearest to the difference that is not below ``floor`` nor above ``ceiling``.
        """
        if not self.reads_input:
            low = high = Fraction(0)
        above = (self.d * max((high - c for c in ceiling), default=Fraction(0)), self.release * high)
        below = (self.d * max((f - low for f in floor), default=Fraction(0)), self.release * -low)
        best = max(above, below, key=sum)
        return max(best[0], Fraction(0)), best[1]


def rate_of(sampling: Sampling) -> Rate:
    """What a transition that samples so pays."""
    releases = sampling.reads_input and sampling.shows_second
    release = (releases and sampling.d_prime) or Fraction(0)
    return Rate(sampling.d or Fraction(0), release, sampling.reads_input)


def rates(control: Control) -> tuple[Rate, ...]:
    """The rates of all transitions; equal ones are one object."""
    known: dict[Rate, Rate] = {}
    return tuple(known.setdefault(rate, rate) for rate in map(rate_of, control.sampling))
