"""What is known about the values of two copies, and how a step changes it.

*Facts* are a matrix of bounds: its rows and columns are the values of the first copy, then those of the
second, and entry ``(u, v)`` bounds ``u - v``: ``2 * c`` stands for ``< c``, ``2 * c + 1`` for ``<= c`` (on a
grid). Matrices are closed: they have every consequence of their bounds, except what :func:`folded` gives up.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
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
    _known: dict[Hashable, Matrix | None] = field(default_factory=dict)
    _folded: dict[Hashable, Facts] = field(default_factory=dict)

    def after(
        self,
        values: tuple[Mask, Mask],
        facts: Facts,
        shift: ShiftRange | None,
        steps: tuple[Step, Step],
        later: tuple[Mask, Mask],
    ) -> Facts | None:
        """The facts about the values ``later``, from those about ``values``; ``None``: it cannot happen.

        The copies take ``steps``; the sample of the second one is that of the first, shifted by something in
        ``shift`` (``None``: they are not tied).
        """
        matrix = self._guarded(values, facts, shift, steps)
        if matrix is None:
            return None
        stored = steps[0].asg & later[0], steps[1].asg & later[1]
        key = (values, facts, shift, steps[0][:2], steps[1][:2], stored, later)
        if key not in self._folded:
            places = _places(values)
            size = len(places)
            kept = [
                size + copy if stored[copy] >> x & 1 else places[copy, x]
                for copy in (0, 1)
                for x in members(later[copy])
            ]
            self._folded[key] = folded(matrix, kept, self.far)
        return self._folded[key]

    def _guarded(
        self, values: tuple[Mask, Mask], facts: Facts, shift: ShiftRange | None, steps: Sequence[Step]
    ) -> Matrix | None:
        """What is known once the guards of ``steps`` hold, of the first copy or of both."""
        key = (values, facts, shift, *(step[:2] for step in steps))
        if key not in self._known:
            self._known[key] = self._guard(values, facts, shift, steps)
        return self._known[key]

    def _guard(
        self, values: tuple[Mask, Mask], facts: Facts, shift: ShiftRange | None, steps: Sequence[Step]
    ) -> Matrix | None:
        places = _places(values)
        z, other_z = len(places), len(places) + 1
        if not steps:
            matrix = unfolded(facts, len(places))
            if shift is not None:  # the sample of the second copy is that of the first, shifted
                add(matrix, other_z, z, at_most(shift[1]))
                add(matrix, z, other_z, at_most(-shift[0]))
            return matrix
        *before, last = steps
        known = self._guarded(values, facts, shift, before)
        if known is None:
            return None
        copy = len(before)
        matrix, sample = [row[:] for row in known], (z, other_z)[copy]
        holds = all(add(matrix, places[copy, x], sample, BELOW) for x in members(last.ge)) and all(
            add(matrix, sample, places[copy, x], BELOW) for x in members(last.lt)
        )
        return matrix if holds else None


def _places(values: tuple[Mask, Mask]) -> dict[tuple[int, int], int]:
    """The rows of the values of both copies, by copy and variable."""
    found = [(copy, x) for copy in (0, 1) for x in members(values[copy])]
    return {value: i for i, value in enumerate(found)}
