"""What comparisons say of values, with all that follows.

A *place* is where a number is found: a variable, the sample of the step, or the number 0, and its negative
is one, too. Comparisons bound the difference of two places. Bounds follow from others by adding them up, and
half of a bound on ``x - (-x)`` and of one on ``(-y) - y`` bound ``x - y``; over the integers they are
rounded. That is all: bounds have a solution exactly if these rules find no contradiction, and what they say
of some places is exactly for which of their values all others can be found (A. Mine, *The octagon abstract
domain*, 2006; over the integers R. Bagnara, P. M. Hill, E. Zaffanella, *Weakly-relational shapes for numeric
abstractions*, 2009).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from fractions import Fraction
from math import ceil, floor
from typing import NamedTuple

SAMPLE = "insample"


class Place(NamedTuple):
    """A variable, the sample or (``None``) the number 0; ``mirrored``: the negative of it."""

    name: str | None
    mirrored: bool = False

    @property
    def negative(self) -> Place:
        return self if self.name is None else Place(self.name, not self.mirrored)

    @property
    def is_sample(self) -> bool:
        return self.name == SAMPLE


ZERO = Place(None)


class Value(NamedTuple):
    """What is in a place, plus a constant."""

    place: Place
    plus: Fraction

    @property
    def negative(self) -> Value:
        return Value(self.place.negative, -self.plus)


class Comparison(NamedTuple):
    """``low <= high + gap``, or ``low < high + gap`` if it is strict."""

    low: Place
    high: Place
    gap: Fraction
    strict: bool


def compared(low: Value, high: Value, strict: bool) -> Comparison:
    return Comparison(low.place, high.place, high.plus - low.plus, strict)


def twins(low: Place, high: Place) -> set[tuple[Place, Place]]:
    """The pairs of places that are as far apart as these two, on either side."""
    return {(low, high), (high, low), (low.negative, high.negative), (high.negative, low.negative)}


class Bound(NamedTuple):
    """An upper bound on a difference, which it stays below if ``beyond`` is -1 and may reach if it is 0.

    Of two bounds the lesser one says more.
    """

    number: Fraction
    beyond: int

    def after(self, other: Bound) -> Bound:
        """The bound on the sum."""
        return Bound(self.number + other.number, min(self.beyond, other.beyond))


NONE_LEFT = Bound(Fraction(0), 0)
"""The bound on the difference of a place and itself."""


class Order:
    """Bounds on differences of places, with all that follow."""

    def __init__(self, integer: bool, known: Iterable[Comparison] = ()) -> None:
        self.integer = integer
        self.is_possible = True
        self._above: dict[Place, dict[Place, Bound]] = {}
        """``_above[low][high]`` bounds ``low - high``."""
        for comparison in known:
            self.learn(comparison)

    def copy(self) -> Order:
        twin = Order(self.integer)
        twin.is_possible = self.is_possible
        twin._above = {low: dict(bounds) for low, bounds in self._above.items()}
        return twin

    def bound(self, low: Place, high: Place) -> Bound | None:
        """The least bound on the difference, if there is any."""
        return NONE_LEFT if low == high else self._above.get(low, {}).get(high)

    def implies(self, comparison: Comparison) -> bool:
        bound = self.bound(comparison.low, comparison.high)
        return bound is not None and bound <= self._bound_of(comparison)

    def learn(self, comparison: Comparison) -> None:
        """Add a comparison and what follows."""
        bound = self._bound_of(comparison)
        low, high = comparison.low, comparison.high
        self._insert(low, high, bound)
        self._insert(high.negative, low.negative, bound)
        self._halve()

    def learn_all(self, known: Iterable[Comparison], apart: Set[tuple[Place, Place]]) -> None:
        """Add comparisons and what follows; those of values that are ``apart`` are strict.

        What must have a given value is apart from what is apart from the numbers.
        """
        comparisons = tuple(known)
        for comparison in comparisons:
            self.learn(comparison)
        for comparison in comparisons:
            low, high = comparison.low, comparison.high
            pairs = [(low, high)]
            pairs += [(ZERO, high)] if self._is_given(low) else []
            pairs += [(low, ZERO)] if self._is_given(high) else []
            if not apart.isdisjoint(pairs):
                self.learn(comparison._replace(strict=True))

    def _is_given(self, place: Place) -> bool:
        """Whether there is only one value that a place can have."""
        above, below = self.bound(place, ZERO), self.bound(ZERO, place)
        return above is not None and below is not None and above.after(below) == NONE_LEFT

    def _bound_of(self, comparison: Comparison) -> Bound:
        bound = Bound(comparison.gap, -1 if comparison.strict else 0)
        return rounded(bound) if self.integer else bound

    def _insert(self, low: Place, high: Place, bound: Bound) -> None:
        below = {low: NONE_LEFT} | {
            place: bounds[low] for place, bounds in self._above.items() if low in bounds
        }
        above = {high: NONE_LEFT} | self._above.get(high, {})
        for lower, first in below.items():
            for upper, last in above.items():
                self._note(lower, upper, first.after(bound).after(last))

    def _note(self, low: Place, high: Place, bound: Bound) -> None:
        known = self.bound(low, high)
        if known is not None and known <= bound:
            return
        if low == high:
            self.is_possible = False
        else:
            self._above.setdefault(low, {})[high] = bound

    def _halve(self) -> None:
        """From bounds on the doubles of values to bounds on values and differences."""
        twice = {ZERO: NONE_LEFT}
        for place, bounds in self._above.items():
            if place.negative in bounds:
                twice[place] = self._even(bounds[place.negative])
        for low, first in twice.items():
            for other, last in twice.items():
                number, beyond = first.after(last)
                self._note(low, other.negative, Bound(number / 2, beyond))

    def _even(self, bound: Bound) -> Bound:
        return Bound(Fraction(2 * floor(bound.number / 2)), 0) if self.integer else bound

    def moved(self, gets: Mapping[str, Value], names: Iterable[str]) -> Order:
        """What is known of these variables after assignments: all at once, each gets a value of before."""
        places = {ZERO: Value(ZERO, Fraction(0))}
        for x in names:
            value = gets.get(x, Value(Place(x), Fraction(0)))
            places |= {Place(x): value, Place(x, True): value.negative}
        holding: dict[Place, list[tuple[Place, Fraction]]] = {}
        for place, value in places.items():
            holding.setdefault(value.place, []).append((place, value.plus))
        after = Order(self.integer)
        for low, (place, plus) in places.items():
            for other, bound in ({place: NONE_LEFT} | self._above.get(place, {})).items():
                for high, over in holding.get(other, ()):
                    if low != high:
                        moved = Bound(bound.number + plus - over, bound.beyond)
                        after._above.setdefault(low, {})[high] = moved
        return after

    @property
    def facts(self) -> frozenset[tuple[Place, Place, Bound]]:
        """All bounds, to compare one order with another."""
        return frozenset((low, high, b) for low, bounds in self._above.items() for high, b in bounds.items())


def rounded(bound: Bound) -> Bound:
    """What a bound says of integers."""
    number = floor(bound.number) if not bound.beyond else ceil(bound.number) - 1
    return Bound(Fraction(number), 0)
