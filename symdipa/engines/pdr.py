"""Control-explicit PDR: property-directed reachability with a frame of clauses per control state.

After Bradley (2011) and Een, Mishchenko, Brayton (2011), with the names of those papers. The control state
stays outside the solver: a cube belongs to a control state and speaks of the bits that are open there, and
each control state has one small incremental solver for the steps that leave it. ``frames[i]`` over-
approximates what is reachable in at most ``i`` steps; a cube blocked at level ``i`` is blocked below, too.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count

from symdipa.boolean import Lit
from symdipa.engines.base import Limits, how_far
from symdipa.engines.bounded import Outcome, Search
from symdipa.errors import LimitReached
from symdipa.smt import ClauseSolver, Effort, Instance, open_solver
from symdipa.system import Edge, Invariant, System

Cube = frozenset[Lit]
"""A conjunction of literals of bits."""


@dataclass(frozen=True)
class Obligation:
    """``cube`` at control state ``q`` must be shown unreachable within ``level`` steps.

    ``edge`` and ``choices`` lead from every state of the cube into the cube of ``successor`` (into a bad
    state if that is ``None``).
    """

    q: int
    cube: Cube
    level: int
    edge: Edge | None = None
    choices: Mapping[Lit, bool] = field(default_factory=dict)
    successor: Obligation | None = None


@dataclass(frozen=True)
class Predecessor:
    """A cube at ``edge.source`` all of whose states step by ``edge`` into the cube asked for."""

    edge: Edge
    cube: Cube
    choices: Mapping[Lit, bool]


class _Leaving:
    """The solver of one control state: its bits, the steps that leave it, and its frames.

    Clauses of level ``i`` are switched on by an activation literal. The axioms of the system hold always.
    """

    REBUILD_AFTER = 3000

    def __init__(self, system: System, q: int, open_one: Callable[[], ClauseSolver]) -> None:
        self.system, self.q, self._open_one = system, q, open_one
        self.blocked: list[tuple[Cube, int]] = []
        self._axioms: list[Lit] = []
        self._true: set[Lit] = set()
        self._build()

    def _build(self) -> None:
        system = self.system
        self.solver = self._open_one()
        self.bit = {b: self.solver.variable() for b in system.open_bits[self.q]}
        self.choice = {c: self.solver.variable() for c in system.choices}
        self.instance = Instance(system.graph, self.solver, {**self.bit, **self.choice})
        self._level: list[int] = []
        self._spent = 0
        for axiom in dict.fromkeys([*system.first_axioms(self.q), *self._axioms]):
            self.solver.add([self.instance.literal(axiom)])
        for cube, level in self.blocked:
            self._add(cube, level)

    def literal(self, literal: Lit) -> int:
        variable = self.bit[literal & ~1]
        return -variable if literal & 1 else variable

    def _activation(self, level: int) -> int:
        while len(self._level) <= level:
            self._level.append(self.solver.variable())
        return self._level[level]

    def frame(self, level: int) -> list[int]:
        """The assumptions that switch on frame ``level``."""
        self._activation(level)
        return self._level[level:]

    def block(self, cube: Cube, level: int) -> None:
        self.blocked.append((cube, level))
        self._add(cube, level)

    def _add(self, cube: Cube, level: int) -> None:
        self.solver.add([-self._activation(level), *(-self.literal(x) for x in cube)])

    def temporarily(self, clause: Iterable[int]) -> int:
        """A literal that switches on a clause for one query."""
        switch = self.solver.variable()
        self.solver.add([-switch, *clause])
        self._spent += 1
        return switch

    def retire(self, switch: int) -> None:
        self.solver.add([-switch])

    def refresh(self) -> None:
        """Start over with a fresh solver once many one-time clauses have piled up."""
        if self._spent > self.REBUILD_AFTER:
            self._build()

    def check(self, assumptions: list[int]) -> bool:
        """Whether some state that satisfies the axioms fits; axioms are added when a model breaks them."""
        while self.solver.check(assumptions):
            true = self.solver.true(self.bit.values())
            self._true = {b for b, variable in self.bit.items() if variable in true}
            broken = self.system.broken_axioms(self.q, self._true)
            if not broken:
                return True
            self._axioms += broken
            self.solver.add_all([self.instance.literal(axiom)] for axiom in broken)
        return False

    def state(self) -> tuple[Cube, dict[Lit, bool]]:
        """The bits (as a full cube) and choices of the last model that :meth:`check` found."""
        chosen = self.solver.true(self.choice.values())
        cube = frozenset(b if b in self._true else b ^ 1 for b in self.bit)
        return cube, {c: variable in chosen for c, variable in self.choice.items()}


class PDR:
    """Decides one system; complete, up to the limits."""

    def __init__(self, system: System, limits: Limits, solver: str = "z3") -> None:
        self.system = system
        self.limits = limits
        self.solver = solver
        self.effort = Effort()
        self.initial = system.control.initial
        self._leaving: dict[int, _Leaving] = {}
        self._incoming: dict[int, list[Edge]] = {}
        for edge in system.edges:
            self._incoming.setdefault(edge.target, []).append(edge)
        # blocked[i][q]: the cubes blocked up to level i and no further.
        self.blocked: list[dict[int, set[Cube]]] = [{}]
        self._ticket = count()
        self._finished = -1  # up to how many steps there is no violation

    @property
    def depth(self) -> int:
        return len(self.blocked) - 1

    def run(self) -> Search:
        """Search until an invariant or a bad path is found, or a limit is reached."""
        try:
            if self._bad_at_start():
                return Search(Outcome.UNSAFE, "pdr", 0)
            self._finished = 0
            while True:
                if self.limits.bound is not None and self.depth >= self.limits.bound:
                    raise LimitReached(f"the bound of {self.limits.bound} frames was reached")
                self.blocked.append({})
                counterexample = self._strengthen()
                if counterexample is not None:
                    return self._unsafe(counterexample)
                self._finished = self.depth
                level = self._propagate()
                if level is not None:
                    return Search(Outcome.SAFE, "pdr", self.depth, invariant=self._invariant(level))
        except LimitReached as limit:
            reason = f"{limit}; {how_far(self._finished)}"
            return Search(Outcome.OPEN, "pdr", self.depth, reason=reason)

    def _solver(self, q: int) -> _Leaving:
        found = self._leaving.get(q)
        if found is None:
            found = self._leaving[q] = _Leaving(
                self.system, q, lambda: open_solver(self.solver, self.limits.deadline, self.effort)
            )
            for level, cubes in enumerate(self.blocked):
                for cube in cubes.get(q, ()):
                    found.block(cube, level)
        return found

    def _bad_at_start(self) -> bool:
        condition = self.system.bad.get(self.initial)
        if condition is None:
            return False
        return self.system.graph.evaluate([condition], dict.fromkeys(self.system.bits, False))[0]

    def _is_initial(self, q: int, cube: Cube) -> bool:
        """Whether the cube contains the initial state, where every bit is false."""
        return q == self.initial and all(literal & 1 for literal in cube)

    def _strengthen(self) -> Obligation | None:
        """Block every bad state of the last frame, or find a path to one."""
        for q, condition in self.system.bad.items():
            leaving = self._solver(q)
            while True:
                self.limits.check(f"{self.system.pattern.title}, frame {self.depth}")
                bad = leaving.instance.literal(condition)
                if not leaving.check([*leaving.frame(self.depth), bad]):
                    break
                cube, _ = leaving.state()
                cube = self._lift_bad(leaving, cube, bad)
                found = self._block(Obligation(q, cube, self.depth))
                if found is not None:
                    return found
        return None

    def _lift_bad(self, leaving: _Leaving, cube: Cube, bad: int) -> Cube:
        literals = {leaving.literal(x): x for x in cube}
        if leaving.solver.check([*literals, -bad]):
            raise AssertionError("a bad state is not bad")
        return frozenset(literals[x] for x in leaving.solver.core if x in literals)

    def _block(self, first: Obligation) -> Obligation | None:
        """Discharge an obligation and those that it brings; if that fails, the one of the initial state."""
        queue = [(first.level, next(self._ticket), first)]
        while queue:
            _, _, obligation = heapq.heappop(queue)
            q, cube, level = obligation.q, obligation.cube, obligation.level
            if self._is_initial(q, cube):
                return obligation
            if self._is_blocked(q, cube, level):
                continue
            self.limits.check(f"{self.system.pattern.title}, frame {self.depth}")
            found = self._predecessor(q, cube, level)
            if isinstance(found, Predecessor):
                before = Obligation(
                    found.edge.source, found.cube, level - 1, found.edge, found.choices, obligation
                )
                heapq.heappush(queue, (before.level, next(self._ticket), before))
                heapq.heappush(queue, (level, next(self._ticket), obligation))
                continue
            small = self._generalise(q, self._keep_away(q, found, cube), level)
            smaller, reached = self._push(q, small, level)
            self._add(q, smaller, reached)
            if reached < self.depth:
                again = Obligation(
                    q, cube, reached + 1, obligation.edge, obligation.choices, obligation.successor
                )
                heapq.heappush(queue, (again.level, next(self._ticket), again))
        return None

    def _is_blocked(self, q: int, cube: Cube, level: int) -> bool:
        return any(other <= cube for cubes in self.blocked[level:] for other in cubes.get(q, ()))

    def _add(self, q: int, cube: Cube, level: int) -> None:
        for cubes in self.blocked[1 : level + 1]:
            here = cubes.get(q)
            if here:
                here.difference_update([other for other in here if cube <= other])
        self.blocked[level].setdefault(q, set()).add(cube)
        if q in self._leaving:
            self._leaving[q].block(cube, level)

    def _predecessor(self, q: int, cube: Cube, level: int) -> Predecessor | Cube:
        """A step from frame ``level - 1`` into the cube, or the part of the cube that excludes one.

        Steps from the cube itself do not count (relative induction).
        """
        if level == 0:
            raise AssertionError("an obligation at level 0 that is not initial")
        needed: set[Lit] = set()
        for edge in self._incoming.get(q, ()):
            found = self._step_into(edge, cube, level - 1)
            if isinstance(found, Predecessor):
                return found
            needed |= found
        return frozenset(needed)

    def _step_into(self, edge: Edge, cube: Cube, level: int) -> Predecessor | Cube:
        if level == 0 and edge.source != self.initial:
            return frozenset()
        leaving = self._solver(edge.source)
        leaving.refresh()
        solver, instance = leaving.solver, leaving.instance
        goals: dict[int, Lit] = {}
        for literal in cube:
            bit = literal & ~1
            new = self._new_value(leaving, edge, bit)
            goal = instance.literal(new ^ (literal & 1))
            goals[goal] = literal
        assumptions = [instance.literal(edge.guard), *goals]
        switch = None
        if level == 0:
            assumptions += [-variable for variable in leaving.bit.values()]
        else:
            assumptions += leaving.frame(level)
            if edge.source == edge.target:
                switch = leaving.temporarily(-leaving.literal(x) for x in cube)
                assumptions.append(switch)
        satisfiable = leaving.check(assumptions)
        result: Predecessor | Cube
        if satisfiable:
            state, choices = leaving.state()
            result = Predecessor(edge, self._lift(leaving, edge, state, choices, goals), choices)
        else:
            result = frozenset(goals[x] for x in solver.core if x in goals)
        if switch is not None:
            leaving.retire(switch)
        return result

    def _new_value(self, leaving: _Leaving, edge: Edge, bit: Lit) -> Lit:
        """The new value of a bit as a function of the open bits of the source (a closed bit is false)."""
        new = edge.update.get(bit, bit)
        return new if new != bit or bit in leaving.bit else 0

    def _lift(
        self, leaving: _Leaving, edge: Edge, state: Cube, choices: Mapping[Lit, bool], goals: Iterable[int]
    ) -> Cube:
        """The bits of a predecessor that matter: with the same choices they lead into the goal."""
        instance = leaving.instance
        switch = leaving.temporarily([-instance.literal(edge.guard), *(-goal for goal in goals)])
        literals = {leaving.literal(x): x for x in state}
        chosen = [leaving.choice[c] if value else -leaving.choice[c] for c, value in choices.items()]
        if leaving.solver.check([*literals, *chosen, switch]):
            raise AssertionError("a predecessor does not step into the cube")
        core = leaving.solver.core
        leaving.retire(switch)
        return frozenset(literals[x] for x in core if x in literals)

    def _generalise(self, q: int, cube: Cube, level: int) -> Cube:
        """Drop literals while the rest stays unreachable from the frame before and away from the start."""
        for literal in sorted(cube):
            if literal not in cube or len(cube) == 1:
                continue
            smaller = cube - {literal}
            if self._is_initial(q, smaller):
                continue
            found = self._predecessor(q, smaller, level)
            if not isinstance(found, Predecessor):
                cube = self._keep_away(q, found, smaller)
        return cube

    def _keep_away(self, q: int, core: Cube, whole: Cube) -> Cube:
        """The core with, if it would contain the initial state, one positive literal of the whole cube."""
        if not self._is_initial(q, core):
            return core
        positive = [literal for literal in whole if not literal & 1]
        if not positive:
            raise AssertionError("a cube to be blocked contains the initial state")
        return core | {min(positive)}

    def _push(self, q: int, cube: Cube, level: int) -> tuple[Cube, int]:
        """The highest level at which the cube can be blocked at once, with the cube."""
        while level < self.depth:
            found = self._predecessor(q, cube, level + 1)
            if isinstance(found, Predecessor):
                break
            cube = self._keep_away(q, found, cube)
            level += 1
        return cube, level

    def _propagate(self) -> int | None:
        """Push blocked cubes to later frames; the level of a frame equal to the next one, if any."""
        for level in range(1, self.depth):
            for q in sorted(self.blocked[level]):
                for cube in sorted(self.blocked[level].get(q, ()), key=sorted):
                    if cube not in self.blocked[level].get(q, ()):
                        continue
                    self.limits.check(f"{self.system.pattern.title}, frame {self.depth}")
                    if not isinstance(self._predecessor(q, cube, level + 1), Predecessor):
                        self._add(q, cube, level + 1)
            if not any(self.blocked[level].values()):
                return level
        return None

    def _invariant(self, level: int) -> Invariant:
        clauses: dict[int, list[Cube]] = {}
        for cubes in self.blocked[level + 1 :]:
            for q, here in cubes.items():
                clauses.setdefault(q, []).extend(sorted(here, key=sorted))
        return Invariant({q: tuple(cubes) for q, cubes in clauses.items()})

    def _unsafe(self, obligation: Obligation) -> Search:
        """Follow the choices of the obligations from the initial state."""
        system = self.system
        values = dict.fromkeys(system.bits, False)
        path: list[tuple[Edge, Mapping[Lit, bool]]] = []
        current: Obligation | None = obligation
        while current is not None and current.edge is not None:
            edge = current.edge
            now = {**values, **dict.fromkeys(system.choices, False), **current.choices}
            path.append((edge, now))
            new = system.graph.evaluate(edge.update.values(), now)
            values = {**values, **dict(zip(edge.update, new, strict=True))}
            current = current.successor
        run = tuple(edge.transition for edge, _ in path)
        loops = system.loops(path, values)
        return Search(Outcome.UNSAFE, "pdr", len(run), run, tuple(loops))
