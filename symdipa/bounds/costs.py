"""What a step costs: the summand of all bounds by shifts (docs/weights.md, section 1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from symdipa.model.adjacency import Interval
from symdipa.model.parts import Form
from symdipa.runs.control import Control, Sampling, Slopes

NOUGHT = Fraction(0)

Paid = Fraction | None
"""What something costs; ``None`` stands for infinitely much."""


def slope_cost(slopes: Slopes, miss: Fraction) -> Paid:
    """What a shift costs that is above the difference by ``miss`` (below it, if that is negative)."""
    above, below = slopes
    if miss > 0:
        return None if above is None else above * miss
    if miss < 0:
        return None if below is None else below * -miss
    return NOUGHT


@dataclass(frozen=True, slots=True)
class Rate:
    """A step costs what the shift of its sample misses the difference by, and what it releases.

    The difference is that of the inputs (or the one that is ``known``), 0 where the mean does not ``move``,
    and the other way round for a ``mirror``; the shift is that of the sample which guards compare. ``slopes``
    say what a unit of it costs above and below the difference. Those of ``release`` are about the second
    sample, whose shift is 0, if it is output and moves; otherwise they are free.
    """

    slopes: Slopes
    release: Slopes
    moves: bool
    mirror: bool = False
    known: Form | None = None
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Rates are keys throughout, and the hash of a fraction costs a modular inverse.
        slopes = (*self.slopes, self.release[0])
        ratios = [None if slope is None else slope.as_integer_ratio() for slope in slopes]
        object.__setattr__(self, "_hash", hash((*ratios, self.moves, self.mirror, self.known)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def scales(self) -> tuple[Fraction, Fraction]:
        """``d``, and ``d'`` if the second sample is released: what all slopes are if all noise is Laplace."""
        (d, _), (release, _) = self.slopes, self.release
        assert d is not None and release is not None, "an automaton of the paper"
        return d, release

    def differences(self, low: Fraction, high: Fraction) -> Interval:
        """Where the difference lies if that of an input is in ``[low, high]``."""
        if not self.moves:
            return NOUGHT, NOUGHT
        if self.known is not None:
            low = high = self.known.within(low, high)
        return (-high, -low) if self.mirror else (low, high)

    def cost(self, difference: Fraction, shift: Fraction) -> Paid:
        """What a step with this difference and this shift costs."""
        sample, second = slope_cost(self.slopes, shift - difference), slope_cost(self.release, -difference)
        return None if sample is None or second is None else sample + second

    def worst(
        self, floor: Iterable[Fraction], ceiling: Iterable[Fraction], low: Fraction, high: Fraction
    ) -> tuple[Fraction, Fraction] | None:
        """The greatest cost for inputs that differ by ``low`` to ``high``: of the sample, of the second one.

        The shift is the one nearest to the difference that is not below ``floor`` nor above ``ceiling``, of
        which no floor is above a ceiling. ``None`` if the cost is infinite.
        """
        low, high = self.differences(low, high)
        least, most = max(floor, default=None), min(ceiling, default=None)
        found = []
        for difference in (high, low):
            shift = difference
            if most is not None and shift > most:
                shift = most
            elif least is not None and shift < least:
                shift = least
            sample, second = (
                slope_cost(self.slopes, shift - difference),
                slope_cost(self.release, -difference),
            )
            if sample is None or second is None:
                return None
            found.append((sample, second))
        return max(found, key=sum)


def rate_of(sampling: Sampling) -> Rate:
    """What a transition that samples so pays. (A second sample that is not Laplace noise pays for itself.)"""
    released = sampling.moves and sampling.shows_second and sampling.second is None
    scale = (released and sampling.d_prime) or NOUGHT
    return Rate(sampling.slopes, (scale, scale), sampling.moves, sampling.mirror, sampling.difference)


def rates(control: Control) -> tuple[Rate, ...]:
    """The rates of all transitions; equal ones are one object."""
    known: dict[Rate, Rate] = {}
    return tuple(known.setdefault(rate, rate) for rate in map(rate_of, control.sampling))
