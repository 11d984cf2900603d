"""What is known about the values of two copies, and how a step changes it.

*Facts* are a matrix of bounds: its rows and columns are the values of the first copy, then those of the
second, and entry ``(u, v)`` bounds ``u - v``: ``2 * c`` stands for ``< c``, ``2 * c + 1`` for ``<= c`` (on a
grid). Matrices are closed: they have every consequence of their bounds, except what :func:`folded` gives up.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symdipa.bounds.relational.machine import Leaf, LetterMachine
from symdipa.bounds.relational.shifts import ShiftRange
from symdipa.runs.order import members

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


LeafOutcomes = dict[int, list[tuple[int, Facts]]]
"""For each leaf of the first copy the leaves that the second may take then, with the facts afterwards."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The outcomes of steps of two copies, each found once. Bounds beyond ``far`` are forgotten."""

    machine: LetterMachine
    far: int
    _known: dict[tuple[int, int, Facts, ShiftRange | None], LeafOutcomes] = field(default_factory=dict)

    def of(self, q: int, p: int, facts: Facts, shift: ShiftRange | None) -> LeafOutcomes:
        """The outcomes in control states ``q`` and ``p``, with the shift in a range (``None``: not tied)."""
        key = (q, p, facts, shift)
        if key not in self._known:
            self._known[key] = self._find(q, p, facts, shift)
        return self._known[key]

    def _find(self, q: int, p: int, facts: Facts, shift: ShiftRange | None) -> LeafOutcomes:
        mine, its = list(members(self.machine.live(q))), list(members(self.machine.live(p)))
        size = len(mine) + len(its)
        z, other_z = size, size + 1
        place = {x: i for i, x in enumerate(mine)}
        other_place = {x: len(mine) + i for i, x in enumerate(its)}
        found: LeafOutcomes = {}
        for i, leaf in enumerate(self.machine.leaves_of(q)):
            found[i] = []
            matrix = unfolded(facts, size)
            if not _guarded(matrix, leaf, place, z):
                continue
            if shift is not None:  # the sample of the second copy is that of the first, shifted
                add(matrix, other_z, z, at_most(shift[1]))
                add(matrix, z, other_z, at_most(-shift[0]))
            for j, other in enumerate(self.machine.leaves_of(p)):
                both = [row[:] for row in matrix]
                if not _guarded(both, other, other_place, other_z):
                    continue
                places = self._kept(leaf, place, z) + self._kept(other, other_place, other_z)
                found[i].append((j, folded(both, places, self.far)))
        return found

    def _kept(self, leaf: Leaf, place: dict[int, int], z: int) -> list[int]:
        return [z if leaf.step.asg >> x & 1 else place[x] for x in members(self.machine.live(leaf.target))]


def _guarded(matrix: Matrix, leaf: Leaf, place: dict[int, int], z: int) -> bool:
    """Add the guard of a leaf on the sample at ``z``; ``False`` if it cannot hold."""
    return all(add(matrix, place[x], z, BELOW) for x in members(leaf.step.ge)) and all(
        add(matrix, z, place[x], BELOW) for x in members(leaf.step.lt)
    )
