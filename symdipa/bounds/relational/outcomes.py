"""What is known about the values of two copies, and how a step changes it.

*Facts* are a matrix of bounds: its rows and columns are the values of the first copy, then those of the
second, and entry ``(u, v)`` bounds ``u - v``: ``2 * c`` stands for ``< c``, ``2 * c + 1`` for ``<= c`` (on a
grid). Matrices are closed: they have every consequence of their bounds, except what :func:`folded` gives up.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symdipa.bounds.relational.shifts import ShiftRange
from symdipa.runs.order import Mask, Step, members

NONE = 1 << 60
"""No bound."""

SAME = 1
"""``<= 0``, the bound of a value on itself."""

BELOW = 0
"""``< 0``."""

Matrix = list[list[int]]
Facts = tuple[int, ...]
"""The rows of a matrix one after another."""

Values = tuple[Mask, Mask]
"""Variables of the first copy, and of the second one."""


def plus(a: int, b: int) -> int:
    """The bound on ``u - w`` that follows from those on ``u - v`` and ``v - w``."""
    if a >= NONE or b >= NONE:
        return NONE
    return (a >> 1) + (b >> 1) << 1 | (a & b & 1)


def at_most(c: int) -> int:
    return 2 * c + 1


def unfolded(facts: Facts, size: int) -> Matrix:
    """The matrix of the facts, with two more values of which nothing is known: the samples of a step."""
    matrix = [[*facts[i * size : (i + 1) * size], NONE, NONE] for i in range(size)]
    return [*matrix, [NONE] * size + [SAME, NONE], [NONE] * size + [NONE, SAME]]


def add(matrix: Matrix, u: int, v: int, bound: int) -> bool:
    """Add a bound on ``u - v`` in place; ``False`` if nothing satisfies the bounds then."""
    if plus(matrix[v][u], bound) < SAME:
        return False
    if matrix[u][v] <= bound:
        return True
    to_u = [plus(row[u], bound) for row in matrix]
    from_v = matrix[v][:]
    for row, first in zip(matrix, to_u, strict=True):
        if first >= NONE:
            continue
        for j, last in enumerate(from_v):
            if last < NONE:
                through = plus(first, last)
                if through < row[j]:
                    row[j] = through
    return True


def folded(matrix: Matrix, places: list[int], far: int) -> Facts:
    """The facts about the values at some places, weakened: no bounds beyond ``far`` remain."""
    bounds = (matrix[u][v] for u in places for v in places)
    return tuple(NONE if bound > at_most(far) else max(bound, at_most(-far)) for bound in bounds)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What becomes of facts in a step of two copies, each found once. Bounds beyond ``far`` are forgotten."""

    far: int
    _known: dict[tuple[Values, Facts, ShiftRange | None], Drawn] = field(default_factory=dict)

    def drawn(self, values: Values, facts: Facts, shift: ShiftRange | None) -> Drawn:
        """The step from facts about values, with the shift in a range (``None``: samples are not tied)."""
        key = values, facts, shift
        if key not in self._known:
            self._known[key] = _drawn(values, facts, shift, self.far)
        return self._known[key]


@dataclass(frozen=True, eq=False)
class Drawn:
    """Facts about values and samples, before a guard was read; ``places`` are the rows of the values."""

    matrix: Matrix
    places: dict[tuple[int, int], int]
    far: int
    _guarded: dict[tuple[Step, ...], Matrix | None] = field(default_factory=dict)
    _folded: dict[tuple[Step, Step, Values], Facts] = field(default_factory=dict)

    def after(self, one: Step, other: Step, later: Values) -> Facts | None:
        """The facts about the values ``later``, if the copies take these steps; ``None``: they cannot."""
        matrix = self._with_guards(one, other)
        if matrix is None:
            return None
        key = one, other, later
        if key not in self._folded:
            size, stored = len(self.places), (one.asg, other.asg)
            kept = [
                size + copy if stored[copy] >> x & 1 else self.places[copy, x]
                for copy in (0, 1)
                for x in members(later[copy])
            ]
            self._folded[key] = folded(matrix, kept, self.far)
        return self._folded[key]

    def _with_guards(self, *steps: Step) -> Matrix | None:
        """What is known once the guards of the first copy, or of both, hold."""
        if not steps:
            return self.matrix
        if steps not in self._guarded:
            *before, last = steps
            known = self._with_guards(*before)
            self._guarded[steps] = None if known is None else self._with_guard(known, len(before), last)
        return self._guarded[steps]

    def _with_guard(self, known: Matrix, copy: int, step: Step) -> Matrix | None:
        matrix, z = [row[:] for row in known], len(self.places) + copy
        holds = all(add(matrix, self.places[copy, x], z, BELOW) for x in members(step.ge)) and all(
            add(matrix, z, self.places[copy, x], BELOW) for x in members(step.lt)
        )
        return matrix if holds else None


def _drawn(values: Values, facts: Facts, shift: ShiftRange | None, far: int) -> Drawn:
    found = [(copy, x) for copy in (0, 1) for x in members(values[copy])]
    size = len(found)
    matrix = unfolded(facts, size)
    if shift is not None:  # the sample of the second copy is that of the first, shifted
        add(matrix, size + 1, size, at_most(shift[1]))
        add(matrix, size, size + 1, at_most(-shift[0]))
    return Drawn(matrix, {value: i for i, value in enumerate(found)}, far)
