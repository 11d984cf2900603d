"""Is an invariant one? Checked apart from the engine that found it (initiation, consecution, safety)."""

from __future__ import annotations

from symdipa.boolean import Lit
from symdipa.smt import ClauseSolver, Instance, open_solver
from symdipa.system import Edge, Invariant, System


class InvariantRejected(AssertionError):
    """An invariant that an engine claims is none: an internal error."""


def check_invariant(
    system: System, invariant: Invariant, deadline: float | None = None, solver_name: str = "z3"
) -> None:
    """Raise :class:`InvariantRejected` with the first obligation that fails.

    The claim is the conjunction, per control state, of the system's first axioms and of the negations of
    the blocked cubes. The other axioms, that the bits describe an order with marks closed along it, are
    preserved by the update whatever the automaton; they are assumed where a model would break them. Every
    obligation is a query to a fresh solver. Raises :class:`symdipa.errors.LimitReached` at the deadline.
    """
    graph, start = system.graph, system.control.initial
    for q, cubes in invariant.blocked.items():
        known = set(system.open_bits[q]) if 0 <= q < system.control.states else set()
        if any(literal & ~1 not in known for cube in cubes for literal in cube):
            raise InvariantRejected(f"the invariant speaks of bits that control state {q} does not have")
    claims = {q: _claim(system, invariant, q) for q in {start, *(edge.target for edge in system.edges)}}
    nothing = dict.fromkeys(system.bits, False)
    if not all(graph.evaluate(claims[start], nothing)):
        raise InvariantRejected("the invariant does not hold initially")
    for edge in system.edges:
        if edge.source in claims and _escapes(system, claims, edge, solver_name, deadline):
            raise InvariantRejected(f"the invariant is not preserved by edge {edge.transition}")
    for q, condition in system.bad.items():
        if q in claims and _satisfiable(system, q, [*claims[q], condition], solver_name, deadline):
            raise InvariantRejected(f"the invariant admits a bad state at control state {q}")


def _claim(system: System, invariant: Invariant, q: int) -> list[Lit]:
    graph = system.graph
    return [*system.first_axioms(q), *(graph.all(cube) ^ 1 for cube in invariant.blocked.get(q, ()))]


def _escapes(
    system: System, claims: dict[int, list[Lit]], edge: Edge, solver_name: str, deadline: float | None
) -> bool:
    """Whether the edge can lead from the claim at its source out of the claim at its target."""
    solver = open_solver(solver_name, deadline)
    before = _instance(system, edge.source, solver)
    for claim in claims[edge.source]:
        solver.add([before.literal(claim)])
    solver.add([before.literal(edge.guard)])
    after = {bit: solver.variable() for bit in system.open_bits[edge.target]}
    for bit, variable in after.items():
        value = before.literal(edge.update.get(bit, bit))
        solver.add_all([(-variable, value), (variable, -value)])
    claimed = Instance(system.graph, solver, after)
    solver.add([-claimed.literal(claim) for claim in claims[edge.target]])
    return _check(system, edge.source, solver, before)


def _satisfiable(
    system: System, q: int, literals: list[Lit], solver_name: str, deadline: float | None
) -> bool:
    solver = open_solver(solver_name, deadline)
    instance = _instance(system, q, solver)
    for literal in literals:
        solver.add([instance.literal(literal)])
    return _check(system, q, solver, instance)


def _check(system: System, q: int, solver: ClauseSolver, instance: Instance) -> bool:
    """Whether some state at ``q`` that satisfies all axioms fits."""
    while solver.check():
        bits = {bit for bit in system.open_bits[q] if solver.value(instance.literal(bit))}
        broken = system.broken_axioms(q, bits)
        if not broken:
            return True
        for axiom in broken:
            solver.add([instance.literal(axiom)])
    return False


def _instance(system: System, q: int, solver: ClauseSolver) -> Instance:
    """The bits of one control state; those that are not open there are false."""
    bits = {bit: solver.variable() for bit in system.bits}
    for bit in set(system.bits) - set(system.open_bits[q]):
        solver.add([-bits[bit]])
    return Instance(system.graph, solver, bits)
