"""Checks invariants (initiation, consecution, safety), independently of the engine that found them."""

from __future__ import annotations

from collections.abc import Sequence

from symdipa.model.limits import UNLIMITED, Limits
from symdipa.systems.boolean import FALSE, Lit
from symdipa.systems.smt import ClauseSolver, Instance, open_solver
from symdipa.systems.system import Edge, Invariant, System


class InvariantRejected(AssertionError):
    """What an engine claims to be an invariant is none: an internal error."""


def check_invariant(
    system: System, invariant: Invariant, limits: Limits = UNLIMITED, solver_name: str = "z3"
) -> None:
    """Raise :class:`InvariantRejected` with the first obligation that fails.

    The claim is the conjunction, per control state, of the system's first axioms and of the negations of
    the blocked cubes. The other axioms, that the bits describe an order with marks closed along it, are
    preserved by every update; they are assumed where a model would break them. The obligations of one control
    state share a solver. Raises :class:`symdipa.model.errors.LimitReached`.
    """
    graph, start = system.graph, system.control.initial
    for q, cubes in invariant.blocked.items():
        known = set(system.open_bits[q]) if 0 <= q < system.control.states else set()
        if any(literal & ~1 not in known for cube in cubes for literal in cube):
            raise InvariantRejected(f"the invariant speaks of bits that control state {q} does not have")
    nothing = dict.fromkeys(system.bits, False)
    held = [*system.first_axioms(start), *(graph.all(cube) ^ 1 for cube in invariant.blocked.get(start, ()))]
    if not all(graph.evaluate(held, nothing)):
        raise InvariantRejected("the invariant does not hold initially")
    claimed = {q: _Claimed(system, invariant, q, open_solver(solver_name, limits)) for q in system.places}
    for edge in system.edges:
        if edge.source in claimed and claimed[edge.source].escapes(edge):
            raise InvariantRejected(f"the invariant is not preserved by edge {edge.transition}")
    for q, condition in system.bad.items():
        if q in claimed and claimed[q].allows([condition]):
            raise InvariantRejected(f"the invariant admits a bad state at control state {q}")


class _Claimed:
    """A solver for the states of the invariant at one control state."""

    def __init__(self, system: System, invariant: Invariant, q: int, solver: ClauseSolver) -> None:
        self.system, self.invariant, self.q, self.solver = system, invariant, q, solver
        self._now = Instance(system.graph, solver, (*system.open_bits[q], *system.choices))
        for axiom in system.first_axioms(q):
            solver.add([self._now.literal(axiom)])
        for cube in invariant.blocked.get(q, ()):
            solver.add([-self._now.literal(x) for x in cube])

    def escapes(self, edge: Edge) -> bool:
        """Whether the edge can lead out of what is claimed at its target."""
        system, update = self.system, edge.update
        after = {bit: update.get(bit, bit) for bit in system.open_bits[edge.target]}
        axioms = system.graph.copy(system.first_axioms(edge.target), system.graph, after)
        return any(self.allows([edge.guard, axiom ^ 1]) for axiom in axioms) or any(
            self.allows([edge.guard, *(after[x & ~1] ^ x & 1 for x in cube)])
            for cube in self.invariant.blocked.get(edge.target, ())
        )

    def allows(self, conditions: Sequence[Lit]) -> bool:
        """Whether some claimed state that satisfies all axioms, and some choices, meet the conditions."""
        if FALSE in conditions:
            return False
        assumptions = [self._now.literal(condition) for condition in conditions]
        while self.solver.check(assumptions):
            broken = self._broken_axioms()
            if not broken:
                return True
            self.solver.add_all([self._now.literal(axiom)] for axiom in broken)
        return False

    def _broken_axioms(self) -> Sequence[Lit]:
        """Those that the last model breaks, by the bits that were asked about if these are enough."""
        true = self.solver.true(self._now.inputs)
        broken_axioms = self.system.broken_axioms
        return broken_axioms(self.q, true, self._now.unmet) or broken_axioms(self.q, true, frozenset())
