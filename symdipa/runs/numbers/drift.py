"""Cycles in which values drift: why a run may be feasible with any number of rounds though no two are alike.

A cycle like ``x := insample`` where ``insample >= x + 2`` never comes to rest. But if the samples of its
second and third round can be the same but for one amount, the *drift*, the same works for all further rounds:
what a round compares with the one before holds again, and what it compares with numbers that do not drift
holds more and more if the drift has the right sign. What comes after the cycle may drift along with its last
round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

from symdipa.model.parts import Noise

if TYPE_CHECKING:
    from symdipa.runs.numbers.system import System, Value

Span = tuple[int, int]

Difference = tuple[int, int, Fraction, bool]
"""``(a, b, most, strict)``: node ``a`` exceeds node ``b`` by at most that much, or by less."""

GROUND = -1


def drifts(system: System, places: Sequence[Span], cycle: Span) -> bool:
    """Whether some drift works for a cycle of a run, of which ``system`` has three rounds.

    ``places`` has for each step of the system the position in the run, and the round. Systems with mirrored
    values are not looked at.
    """
    if system.mirrored:
        return False
    kind = _Kinds(system, places, cycle)
    scale = sum(abs(value.offset) for c in system.comparisons for value in (c.low, c.high)) + 1
    return any(kind.solvable(Fraction(drift)) for drift in (0, scale, -scale))


class _Kinds:
    """Which samples are of the second round, of the third, and after the cycle."""

    def __init__(self, system: System, places: Sequence[Span], cycle: Span) -> None:
        self.system = system
        i, j = cycle
        where = [places[sample.step] for sample in system.samples]
        self.turn = [turn if i <= at < j else None for at, turn in where]
        self.after = [at >= j for at, _ in where]
        numbers: dict[tuple[int, bool, int], int] = {}
        self.same: list[int] = []
        for k, (sample, (at, turn)) in enumerate(zip(system.samples, where, strict=True)):
            key = (at, sample.second, min(turn, 1) if i <= at < j else 0)
            self.same.append(numbers.setdefault(key, k))

    def solvable(self, drift: Fraction) -> bool:
        """Whether the system has a solution in which the third round is the second one plus the drift."""
        along = self._along() if drift else set()
        return _has_solution(len(self.turn), list(self._differences(drift, along)), self.system.integer)

    def _along(self) -> set[int]:
        """The samples behind the cycle that drift with its last round: those compared with it, and so on."""
        found = {k for k, turn in enumerate(self.turn) if turn == 2}
        grown = True
        while grown:
            grown = False
            for c in self.system.comparisons:
                ends = {value.sample for value in (c.low, c.high)} - {None}
                new = {k for k in ends if k is not None and self.after[k]} - found
                if ends & found and new:
                    found |= new
                    grown = True
        return found

    def _differences(self, drift: Fraction, along: set[int]) -> Iterator[Difference]:
        for c in self.system.comparisons:
            if self._is_kept(c.low, c.high, drift, along):
                low, high = self._node(c.low, drift), self._node(c.high, drift)
                yield low[0], high[0], high[1] - low[1], c.strict
            else:
                yield GROUND, GROUND, Fraction(-1), True
        for k, sample in enumerate(self.system.samples):
            if sample.reads_input or sample.noise is Noise.LAPLACE:
                continue
            yield GROUND, self.same[k], -sample.mean, False
            if sample.noise is Noise.NONE:
                yield self.same[k], GROUND, sample.mean, False
            if self._moves(k, along) and (drift < 0 or (drift and sample.noise is Noise.NONE)):
                yield GROUND, GROUND, Fraction(-1), True

    def _is_kept(self, low: Value, high: Value, drift: Fraction, along: set[int]) -> bool:
        """Whether the comparison goes on to hold when what drifts has drifted on."""
        moving = [value.sample is not None and self._moves(value.sample, along) for value in (low, high)]
        turns = [None if value.sample is None else self.turn[value.sample] for value in (low, high)]
        if moving[0] == moving[1] or set(turns) == {0, 1}:  # a round with the one before
            return True
        return drift <= 0 if moving[0] else drift >= 0

    def _moves(self, k: int, along: set[int]) -> bool:
        return k in along or self.turn[k] in (1, 2)

    def _node(self, value: Value, drift: Fraction) -> tuple[int, Fraction]:
        """The node whose value this is, up to a number that is added."""
        if value.sample is None:
            return GROUND, value.offset
        moved = drift if self.turn[value.sample] == 2 else Fraction(0)
        return self.same[value.sample], value.offset + moved


def _has_solution(nodes: int, differences: list[Difference], integer: bool) -> bool:
    """Whether numbers have these differences: no circle of them is negative, or 0 with a strict one."""
    small = Fraction(1) if integer else Fraction(1, 1 + len(differences)) * _least(differences)
    level = [Fraction(0)] * (nodes + 1)
    for _ in range(nodes + 2):
        changed = False
        for a, b, most, strict in differences:
            bound = level[b] + most - (small if strict else 0)
            if level[a] > bound:
                level[a], changed = bound, True
        if not changed:
            return True
    return False


def _least(differences: list[Difference]) -> Fraction:
    """A number that all sums of the bounds are multiples of."""
    return Fraction(1, lcm(*(most.denominator for _, _, most, _ in differences)))
