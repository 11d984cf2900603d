"""Where the sample of a step may lie: which ways both copies may take, and what is known afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field

from symdipa.bounds.relational.facts import BELOW, Facts, Matrix, add, at_most, folded, unfolded
from symdipa.bounds.relational.machine import STOPPED, Leaf, LetterMachine
from symdipa.bounds.relational.shifts import ShiftRange
from symdipa.runs.order import Mask, members

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
            matrix = unfolded(facts, size, 2)
            if not _guarded(matrix, leaf, place, z):
                continue
            if shift is not None:
                _tie(matrix, z, other_z, *shift)
            for j, other in enumerate(self.machine.leaves_of(p)):
                both = [row[:] for row in matrix]
                if not _guarded(both, other, other_place, other_z):
                    continue
                places = self._kept(leaf, place, z) + self._kept(other, other_place, other_z)
                found[i].append((j, folded(both, places, self.far)))
        return found

    def _kept(self, leaf: Leaf, place: dict[int, int], z: int) -> list[int]:
        live: Mask = self.machine.live(leaf.target) if leaf.target != STOPPED else 0
        return [z if leaf.step.asg >> x & 1 else place[x] for x in members(live)]


def _guarded(matrix: Matrix, leaf: Leaf, place: dict[int, int], z: int) -> bool:
    """Add the guard of a leaf on the sample at ``z``; ``False`` if it cannot hold."""
    return all(add(matrix, place[x], z, BELOW) for x in members(leaf.step.ge)) and all(
        add(matrix, z, place[x], BELOW) for x in members(leaf.step.lt)
    )


def _tie(matrix: Matrix, z: int, other_z: int, low: int, high: int) -> None:
    """Let the sample of the second copy be that of the first, shifted by something in ``[low, high]``."""
    add(matrix, other_z, z, at_most(high))
    add(matrix, z, other_z, at_most(-low))
