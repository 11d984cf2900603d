"""Control-explicit PDR: property-directed reachability with a frame of clauses per control state.

After Bradley (2011) and Een, Mishchenko, Brayton (2011), with the names of those papers. The control state
stays outside the solver: a cube belongs to a control state and speaks of the bits that are open there, and
each control state has one small incremental solver for the steps that leave it.

Not every step counts. Edges of the control graph that close a cycle (:func:`back_edges`) cost one, others
nothing: ``frames[i]`` over-approximates what is reachable with at most ``i`` rounds, so that an automaton
with a long way to its loops needs as few frames as one with a short way. Within a frame the free edges are
acyclic, and cubes are taken in the order of the control states along them. Under a bound every step costs
one, and no obligation is asked again at a higher level: then no path is longer than the bound.

A cube blocked at level ``i`` is blocked below, too.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from symdipa.engines.base import how_far
from symdipa.engines.bounded import Outcome, Search, unsafe
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import Limits
from symdipa.model.spelling import counted
from symdipa.runs.graphs import depth_first
from symdipa.systems.boolean import FALSE, Lit
from symdipa.systems.smt import ClauseSolver, Effort, Instance, open_solver
from symdipa.systems.system import Edge, Invariant, System

Cube = frozenset[Lit]
"""A conjunction of literals of bits."""

EMPTY: Cube = frozenset()
"""The cube of all states."""


@dataclass(frozen=True)
class Obligation:
    """``cube`` at control state ``q`` must be shown unreachable up to ``level``.

    ``edge`` and ``choices`` lead from every state of the cube into the cube of ``successor`` (into a bad
    state if that is ``None``).
    """

    q: int
    cube: Cube
    level: int
    edge: Edge | None = None
    choices: Mapping[Lit, bool] = field(default_factory=dict)
    successor: Obligation | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Way:
    """An edge with its cost in levels."""

    edge: Edge
    cost: int


def back_edges(system: System) -> tuple[set[int], list[int]]:
    """The numbers of edges without which the control graph is acyclic, and each state's place in its order.

    They are the back edges of a depth-first search from the initial control state.
    """
    states = system.control.states
    edges = [(edge.source, edge.target) for edge in system.edges]
    found, left = depth_first((system.control.initial, *range(states)), edges)
    place = [0] * states
    for position, q in enumerate(reversed(left)):
        place[q] = position
    return found, place


class Lengths:
    """The least number of steps with which the control graph reaches each state, level by level."""

    def __init__(self, system: System, ways: Mapping[int, Sequence[Way]], place: Sequence[int]) -> None:
        self._ways = [
            (way.edge.source, q, way.cost) for q in sorted(ways, key=place.__getitem__) for way in ways[q]
        ]
        self._states = system.control.states
        self._initial = system.control.initial
        self._reached: set[int] = set()
        self._length: dict[int, int] = {}
        self._level = -1

    def advance(self) -> None:
        """Go on to paths that cost one more."""
        self._level += 1
        before = self._length
        now: dict[int, int] = {} if self._level else {self._initial: 0}
        for q, p, cost in self._ways:
            length = (before if cost else now).get(q)
            if length is not None:
                now[p] = min(now.get(p, length + 1), length + 1)
        self._length = now
        self._reached |= now.keys()

    @property
    def unreached(self) -> list[int]:
        """The states that no path within the level reaches."""
        return [q for q in range(self._states) if q not in self._reached]

    @property
    def within(self) -> int:
        """The largest number of steps for which all paths cost less than the level."""
        return min(self._length.values(), default=self._level * self._states) - 1


class Frames:
    """The blocked cubes: in ``levels[i][q]`` those of control state ``q`` blocked up to level ``i`` only."""

    def __init__(self) -> None:
        self.levels: list[dict[int, set[Cube]]] = []

    def block(self, q: int, cube: Cube, level: int) -> None:
        """Block a cube up to a level, in place of the cubes that it covers there."""
        for cubes in self.levels[: level + 1]:
            here = cubes.get(q)
            if here:
                here.difference_update([other for other in here if cube <= other])
        self.levels[level].setdefault(q, set()).add(cube)

    def excludes(self, q: int, cube: Cube, level: int) -> bool:
        """Whether the cube is covered by one that is blocked up to the level."""
        return any(other <= cube for cubes in self.levels[level:] for other in cubes.get(q, ()))

    def of(self, q: int) -> list[tuple[Cube, int]]:
        """The blocked cubes of a control state with their levels."""
        return [(cube, level) for level, cubes in enumerate(self.levels) for cube in cubes.get(q, ())]

    def beyond(self, level: int) -> Invariant:
        """What is blocked further than up to the level."""
        clauses: dict[int, list[Cube]] = {}
        for cubes in self.levels[level + 1 :]:
            for q, here in cubes.items():
                if here:
                    clauses.setdefault(q, []).extend(sorted(here, key=sorted))
        return Invariant({q: tuple(cubes) for q, cubes in clauses.items()})


class _Leaving:
    """The solver of one control state: the steps that leave it, and its frames.

    It has those bits only that some question was about, so what does not matter costs nothing; the others are
    *unknown*. Clauses of level ``i`` are switched on by an activation literal. The axioms of the system hold
    always.
    """

    REBUILD_AFTER = 3000

    def __init__(
        self,
        system: System,
        q: int,
        open_one: Callable[[], ClauseSolver],
        blocked: Callable[[], Iterable[tuple[Cube, int]]],
    ) -> None:
        self.system, self.q, self._open_one, self._blocked = system, q, open_one, blocked
        self._axioms: list[Lit] = []
        self._true: set[Lit] = set()
        self._build()

    def _build(self) -> None:
        system = self.system
        self.solver = self._open_one()
        self.instance = Instance(system.graph, self.solver, (*system.open_bits[self.q], *system.choices))
        self.literal = self.instance.literal
        self._goals: dict[int, dict[Lit, int | None]] = {}
        self._level: list[int] = []
        self._spent = 0
        for axiom in dict.fromkeys([*system.first_axioms(self.q), *self._axioms]):
            self.solver.add([self.literal(axiom)])
        for cube, level in self._blocked():
            self.block(cube, level)

    def goals(self, edge: Edge, cube: Cube) -> dict[int, Lit] | Lit:
        """What must hold before ``edge`` for the cube to hold after it: solver literals, and whose they are.

        A literal of the cube that never holds after the edge is returned alone.
        """
        known = self._goals.setdefault(edge.transition, {})
        goals: dict[int, Lit] = {}
        for literal in cube:
            goal = known.get(literal)
            if goal is None:
                bit = literal & ~1
                # A bit that is not open here is false.
                new = edge.update.get(bit, bit if bit in self.instance.open_here else FALSE) ^ (literal & 1)
                goal = known[literal] = 0 if new == FALSE else self.literal(new)
            if goal == 0:
                return literal
            goals[goal] = literal
        return goals

    def _activation(self, level: int) -> int:
        while len(self._level) <= level:
            self._level.append(self.solver.variable())
        return self._level[level]

    def frame(self, level: int) -> list[int]:
        """The assumptions that switch on frame ``level``."""
        self._activation(level)
        return self._level[level:]

    def block(self, cube: Cube, level: int) -> None:
        self.solver.add([-self._activation(level), *[-self.literal(x) for x in cube]])

    def temporarily(self, clause: Sequence[int]) -> int:
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
        instance = self.instance
        while self.solver.check(assumptions):
            self._true = self.solver.true(instance.inputs)
            broken = self.system.broken_axioms(self.q, self._true, instance.unmet)
            if not broken:
                return True
            self._axioms += broken
            self.solver.add_all([self.literal(axiom)] for axiom in broken)
        return False

    def needed_for(self, conclusion: Sequence[int]) -> tuple[Cube, dict[Lit, bool]]:
        """The bits of the last model of :meth:`check` that force this, together with its choices; these."""
        true = self._true
        # In a fixed order, whatever was asked first: which of several cores is found depends on it.
        met = sorted(self.instance.inputs.items())
        inputs = {v if x in true else -v: x if x in true else x ^ 1 for x, v in met}
        switch = self.temporarily([-literal for literal in conclusion])
        if self.solver.check([*inputs, switch]):
            raise AssertionError("bits and choices do not decide what a step does")
        self.retire(switch)
        choices = {c: c in true for c in self.system.choices if c in self.instance.inputs}
        core = (inputs[v] for v in self.solver.core if v in inputs)
        return frozenset(x for x in core if x & ~1 not in choices), choices


@dataclass(frozen=True, slots=True)
class Entry:
    """A step into a cube by ``edge`` from frame ``level``, in the last model of ``leaving``.

    ``wanted`` are the solver literals that say that the step can be taken and leads into the cube.
    """

    leaving: _Leaving
    edge: Edge
    level: int
    wanted: Sequence[int]


class PDR:
    """Decides one system; complete, up to the limits.

    ``max_frames`` ends the search after that many frames, whatever the lengths of paths.
    """

    def __init__(
        self, system: System, limits: Limits, solver: str = "z3", max_frames: int | None = None
    ) -> None:
        self.system, self.limits, self.solver, self.max_frames = system, limits, solver, max_frames
        self.effort = Effort()
        self.depth = 0
        self.initial = system.control.initial
        self._leaving: dict[int, _Leaving] = {}
        costly, self._place = back_edges(system)
        if limits.bound is not None:
            costly = set(range(len(system.edges)))
        # _ways[q]: the edges into q.
        self._ways: dict[int, list[Way]] = {}
        for number, edge in enumerate(system.edges):
            self._ways.setdefault(edge.target, []).append(Way(edge, int(number in costly)))
        self._frames = Frames()
        self._lengths = Lengths(system, self._ways, self._place)
        self._ticket = count()
        # Up to how many steps there is no violation; at first those that do not get to a bad control state.
        self._finished = system.steps_to_bad.get(self.initial, 1) - 1
        if limits.bound is not None:
            self._finished = min(self._finished, limits.bound)

    def run(self) -> Search:
        """Search until an invariant or a bad path is found, or a limit is reached."""
        bound = self.limits.bound
        try:
            self._new_frame()
            while True:
                counterexample = self._strengthen()
                if counterexample is not None:
                    return self._unsafe(counterexample)
                self._new_frame()
                self._finished = max(self._finished, self._lengths.within)
                level = self._propagate()
                if level is not None:
                    invariant = self._frames.beyond(level)
                    return Search(Outcome.SAFE, "pdr", self.depth, invariant=invariant, sizes=self._sizes())
                if bound is not None and self.depth >= bound:
                    raise LimitReached(Limit.DEPTH, f"the bound of {counted(bound, 'step')} was reached")
                if self.max_frames is not None and self.depth >= self.max_frames:
                    raise LimitReached(Limit.DEPTH, f"no more than {self.max_frames} frames were wanted")
                self.depth += 1
        except LimitReached as limit:
            reason = f"{limit}; {how_far(self._finished)}"
            return Search(Outcome.OPEN, "pdr", self.depth, reason=reason, sizes=self._sizes())

    def _sizes(self) -> dict[str, int]:
        return {"frames": len(self._frames.levels)}

    def _new_frame(self) -> None:
        """Add a frame in which the control states are blocked that no path of its cost reaches."""
        level = len(self._frames.levels)
        self._frames.levels.append({})
        self._lengths.advance()
        for q in self._lengths.unreached:
            self._add(q, EMPTY, level)

    def _solver(self, q: int) -> _Leaving:
        found = self._leaving.get(q)
        if found is None:
            found = self._leaving[q] = _Leaving(
                self.system,
                q,
                lambda: open_solver(self.solver, self.limits, self.effort),
                lambda: self._frames.of(q),
            )
        return found

    def _is_initial(self, q: int, cube: Cube) -> bool:
        """Whether the cube contains the initial state, where every bit is false."""
        return q == self.initial and all(literal & 1 for literal in cube)

    def _tick(self) -> None:
        self.limits.check(f"{self.system.pattern.title}, frame {self.depth}")

    def _strengthen(self) -> Obligation | None:
        """Block every bad state of the last frame, or find a path to one."""
        for q in sorted(self.system.bad, key=self._place.__getitem__):
            if EMPTY in self._frames.levels[self.depth].get(q, ()):
                continue
            leaving = self._solver(q)
            while True:
                self._tick()
                bad = leaving.literal(self.system.bad[q])
                if not leaving.check([*leaving.frame(self.depth), bad]):
                    break
                cube, _ = leaving.needed_for([bad])
                found = self._block(Obligation(q, cube, self.depth))
                if found is not None:
                    return found
        return None

    def _block(self, first: Obligation) -> Obligation | None:
        """Discharge an obligation and those it entails; if that fails, the one at the initial state."""
        queue: list[tuple[int, int, int, Obligation]] = []

        def ask(obligation: Obligation) -> None:
            entry = obligation.level, self._place[obligation.q], next(self._ticket), obligation
            heapq.heappush(queue, entry)

        ask(first)
        while queue:
            obligation = queue[0][-1]
            q, cube, level = obligation.q, obligation.cube, obligation.level
            if self._is_initial(q, cube):
                return obligation
            if self._frames.excludes(q, cube, level):
                heapq.heappop(queue)
                continue
            self._tick()
            found = self._entry(q, cube, level)
            if isinstance(found, Entry):
                ask(self._lift(found, obligation))
                continue
            heapq.heappop(queue)
            small = self._generalise(q, self._keep_away(q, found, cube), level)
            reached = self._push(q, small, level)
            if reached < self.depth and self.limits.bound is None:
                ask(replace(obligation, level=reached + 1))
        return None

    def _add(self, q: int, cube: Cube, level: int) -> None:
        self._frames.block(q, cube, level)
        if q in self._leaving:
            self._leaving[q].block(cube, level)

    def _entry(self, q: int, cube: Cube, level: int, blocked: bool = False) -> Entry | Cube:
        """A step into the cube from where ``level`` allows it, or the part of the cube that excludes one.

        Steps from the cube itself do not count (relative induction); with ``blocked`` the cube is blocked
        one level below, so that there are none.
        """
        needed: set[Lit] = set()
        for way in self._ways.get(q, ()):
            edge, before = way.edge, level - way.cost
            if before < 0:
                continue
            leaving = self._solver(edge.source)
            leaving.refresh()
            goals = leaving.goals(edge, cube)
            if isinstance(goals, int):
                needed.add(goals)
                continue
            wanted = [leaving.literal(edge.guard), *goals]
            assumptions = [*leaving.frame(before), *wanted]
            if edge.source == q and not blocked:
                # It costs, so ``before`` is a lower level, of which the rest of the cube may be a part.
                switch = leaving.temporarily([-leaving.literal(x) for x in cube])
                possible = leaving.check([*assumptions, switch])
                leaving.retire(switch)
            else:
                possible = leaving.check(assumptions)
            if possible:
                return Entry(leaving, edge, before, wanted)
            needed.update([goals[x] for x in leaving.solver.core if x in goals])
        return frozenset(needed)

    def _lift(self, entry: Entry, successor: Obligation) -> Obligation:
        """The bits before the step that matter: with the same choices they lead into the successor's cube."""
        cube, choices = entry.leaving.needed_for(entry.wanted)
        return Obligation(entry.edge.source, cube, entry.level, entry.edge, choices, successor)

    def _generalise(self, q: int, cube: Cube, level: int) -> Cube:
        """Drop literals while the rest stays unreachable from the frame before and away from the start.

        One is left: that a control state is not reached at all is rare.
        """
        for literal in sorted(cube):
            if literal not in cube:
                continue
            smaller = cube - {literal}
            if not smaller or self._is_initial(q, smaller):
                continue
            found = self._entry(q, smaller, level)
            if not isinstance(found, Entry):
                cube = self._keep_away(q, found, smaller)
        return cube

    def _keep_away(self, q: int, core: Cube, whole: Cube) -> Cube:
        """The core; if it contains the initial state, with one positive literal of the whole cube added."""
        if not self._is_initial(q, core):
            return core
        positive = [literal for literal in whole if not literal & 1]
        if not positive:
            raise AssertionError("a cube to be blocked contains the initial state")
        return core | {min(positive)}

    def _push(self, q: int, cube: Cube, level: int) -> int:
        """Block the cube at ``level`` and as far beyond as is possible at once; how far it got."""
        while True:
            self._add(q, cube, level)
            if level >= self.depth:
                return level
            found = self._entry(q, cube, level + 1, blocked=True)
            if isinstance(found, Entry):
                return level
            cube = self._keep_away(q, found, cube)
            level += 1

    def _propagate(self) -> int | None:
        """Push blocked cubes to later frames; the level of a frame equal to the next one, if any."""
        for level in range(self.depth + 1):
            blocked = self._frames.levels[level]
            for q in sorted(blocked, key=self._place.__getitem__):
                for cube in sorted(blocked[q], key=sorted):
                    if cube not in blocked[q]:
                        continue
                    self._tick()
                    if not isinstance(self._entry(q, cube, level + 1, blocked=True), Entry):
                        self._add(q, cube, level + 1)
            if not any(blocked.values()):
                return level
        return None

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
        return replace(unsafe(system, path, values), method="pdr", sizes=self._sizes())
