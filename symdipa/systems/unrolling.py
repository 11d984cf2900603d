"""Unrolling a system into clauses, one frame a step, never rebuilt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from symdipa.systems.boolean import Lit
from symdipa.systems.smt import ClauseSolver, Instance
from symdipa.systems.system import Edge, System


@dataclass(frozen=True, eq=False)
class Frame:
    """The solver variables of one point in time: control states, bits, choices, the edge taken next.

    ``alive`` says that the path is at least this long; if not, the frame is at no control state.
    """

    alive: int
    location: Mapping[int, int]
    bit: Mapping[Lit, int]
    choice: Mapping[Lit, int]
    instance: Instance
    edge: dict[int, int]


class Unrolling:
    """A path of a system in a solver.

    Frame 0 is the initial state if ``anchored``, else any state that satisfies the system's axioms (which
    are inductive, so that later frames satisfy them as well; see :meth:`satisfies_axioms`). Paths may be
    shorter than the unrolling. Control states that no path of at most ``bound`` steps goes through on its way
    to a bad condition are left out, and so are bits that are not relevant.
    """

    def __init__(
        self, system: System, solver: ClauseSolver, anchored: bool, bound: int | None = None
    ) -> None:
        self.system, self.solver, self.anchored, self.bound = system, solver, anchored, bound
        self.frames: list[Frame] = []
        self._outgoing: dict[int, list[int]] = {}
        for number, edge in enumerate(system.edges):
            self._outgoing.setdefault(edge.source, []).append(number)
        later = () if anchored else (edge.target for edge in system.edges)
        self._add_first(sorted({system.control.initial, *later}))

    def _new_frame(self, layer: list[int]) -> Frame:
        solver, system = self.solver, self.system
        alive = solver.variable()
        location = {q: solver.variable() for q in layer}
        open_here = dict.fromkeys(b for q in layer for b in system.relevant[q])
        instance = Instance(system.graph, solver, {*open_here, *system.choices})
        bit = {b: instance.literal(b) for b in open_here}
        choice = {c: instance.literal(c) for c in system.choices}
        frame = Frame(alive, location, bit, choice, instance, {})
        self.frames.append(frame)
        solver.add([-alive, *location.values()])
        solver.add_all([-here, alive] for here in location.values())
        at_most_one(solver, list(location.values()))
        closed: dict[Lit, list[int]] = {b: [] for b in bit}
        for q in layer:
            for b in system.relevant[q]:
                closed[b].append(location[q])
        for b, places in closed.items():
            if len(places) < len(layer):
                solver.add([-bit[b], *places])
        return frame

    def _add_first(self, layer: list[int]) -> None:
        frame = self._new_frame(layer)
        self.solver.add([frame.alive])
        if self.anchored:
            self.solver.add_all([-variable] for variable in frame.bit.values())
            return
        for q, here in frame.location.items():
            known = {*self.system.relevant[q], *self.system.choices}
            for axiom in self.system.first_axioms(q):
                if self.system.graph.variables(axiom) <= known:
                    self.solver.add([-here, frame.instance.literal(axiom)])

    def extend(self) -> bool:
        """Add a frame; ``False`` (and nothing added) when no path is that long."""
        before, solver, edges = self.frames[-1], self.solver, self.system.edges
        layer = list(before.location)
        numbers = [n for q in layer for n in self._outgoing.get(q, ()) if self._matters(edges[n].target)]
        if not numbers:
            return False
        after = self._new_frame(sorted({edges[n].target for n in numbers}))
        for n in numbers:
            before.edge[n] = solver.variable()
        solver.add([-after.alive, *before.edge.values()])
        at_most_one(solver, list(before.edge.values()))
        for q in layer:
            # No step beyond a dead end: its location is excluded by having no edge.
            onward = [before.edge[n] for n in self._outgoing.get(q, ()) if n in before.edge]
            solver.add([-after.alive, -before.location[q], *onward])
        for n in numbers:
            self._add_edge(before, after, edges[n], before.edge[n])
        return True

    def _matters(self, q: int) -> bool:
        """Whether a path that is at ``q`` in the next frame may still become bad."""
        rest = self.system.steps_to_bad.get(q)
        return rest is not None and (self.bound is None or len(self.frames) + rest <= self.bound)

    def _add_edge(self, before: Frame, after: Frame, edge: Edge, taken: int) -> None:
        solver = self.solver
        solver.add([-taken, before.location[edge.source]])
        solver.add([-taken, after.location[edge.target]])
        solver.add([-taken, before.instance.literal(edge.guard)])
        for bit in self.system.relevant[edge.target]:
            new, value = after.bit[bit], before.instance.literal(edge.update.get(bit, bit))
            solver.add_all([(-taken, -new, value), (-taken, new, -value)])

    def bad(self, k: int) -> list[tuple[int, int]]:
        """The bad conditions of frame ``k`` as (control state, solver literal of the condition)."""
        frame = self.frames[k]
        return [
            (q, frame.instance.literal(condition))
            for q, condition in self.system.bad.items()
            if q in frame.location
        ]

    def bad_literal(self, k: int) -> int:
        """A literal that implies that frame ``k`` is bad, and is implied by it."""
        solver, frame = self.solver, self.frames[k]
        bad = solver.variable()
        cases = []
        for q, condition in self.bad(k):
            case = solver.variable()
            here = frame.location[q]
            solver.add_all([(-case, here), (-case, condition), (case, -here, -condition)])
            cases.append(case)
            solver.add([bad, -case])
        solver.add([-bad, *cases])
        return bad

    def differ(self, i: int, j: int) -> None:
        """Require that frames ``i`` and ``j`` are different states."""
        solver, a, b = self.solver, self.frames[i], self.frames[j]
        reasons = []
        for q in sorted(a.location.keys() & b.location.keys()):
            # One is at q and the other is not; enough to say so one way round, as both are somewhere.
            reason = solver.variable()
            solver.add_all([(-reason, a.location[q]), (-reason, -b.location[q])])
            reasons.append(reason)
        reasons += [a.location[q] for q in sorted(a.location.keys() - b.location.keys())]
        for bit in dict.fromkeys([*a.bit, *b.bit]):
            if bit in a.bit and bit in b.bit:
                reason = solver.variable()
                x, y = a.bit[bit], b.bit[bit]
                solver.add_all([(-reason, x, y), (-reason, -x, -y)])
                reasons.append(reason)
            else:
                reasons.append(a.bit[bit] if bit in a.bit else b.bit[bit])
        solver.add(reasons)

    def satisfies_axioms(self) -> bool:
        """Whether frame 0 of the last model satisfies the axioms; if not, those it breaks are added."""
        q, bits = self.state(0)
        unknown = frozenset(self.system.open_bits[q]).difference(self.system.relevant[q])
        broken = self.system.broken_axioms(q, bits, unknown)
        frame = self.frames[0]
        for axiom in broken:
            self.solver.add([-frame.location[q], frame.instance.literal(axiom)])
        return not broken

    def state(self, k: int) -> tuple[int, frozenset[Lit]]:
        """The control state and the true bits of frame ``k`` in the last model."""
        frame, value = self.frames[k], self.solver.value
        q = next(q for q, variable in frame.location.items() if value(variable))
        return q, frozenset(bit for bit, variable in frame.bit.items() if value(variable))

    def path(self, k: int) -> tuple[list[tuple[Edge, dict[Lit, bool]]], dict[Lit, bool]]:
        """The first ``k`` steps of the last model, for :meth:`System.loops`."""
        steps = []
        for frame in self.frames[:k]:
            number = next(n for n, variable in frame.edge.items() if self.solver.value(variable))
            steps.append((self.system.edges[number], self._values(frame)))
        return steps, self._values(self.frames[k])

    def _values(self, frame: Frame) -> dict[Lit, bool]:
        values = dict.fromkeys(self.system.bits, False)
        for literal, variable in (*frame.bit.items(), *frame.choice.items()):
            values[literal] = self.solver.value(variable)
        return values


def at_most_one(solver: ClauseSolver, literals: Iterable[int]) -> None:
    """At most one literal is true: pairwise for few, otherwise by a ladder of fresh variables."""
    literals = list(literals)
    if len(literals) <= 5:
        solver.add_all((-a, -b) for i, a in enumerate(literals) for b in literals[:i])
        return
    before: int | None = None
    for literal in literals:
        some = solver.variable()
        solver.add([-literal, some])
        if before is not None:
            solver.add_all([(-before, some), (-before, -literal)])
        before = some
