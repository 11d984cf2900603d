"""Bounded search and k-induction on unrolled systems.

Base case: no path of ``k`` steps from the initial state ends in a bad state. Step case: no path of ``k``
steps through states that satisfy the axioms, are pairwise different and not bad before the end, ends in a
bad state. Both together prove that no bad state is reachable (Sheeran, Singh, Stalmarck 2000). Simple-path
constraints are added when a model breaks them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from symdipa.engines.base import how_far
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import Limits
from symdipa.model.spelling import counted
from symdipa.runs.witness import Loop
from symdipa.systems.boolean import Lit
from symdipa.systems.smt import Effort, open_solver
from symdipa.systems.system import Edge, Invariant, System
from symdipa.systems.unrolling import Unrolling


class Outcome(Enum):
    SAFE = "safe"
    UNSAFE = "unsafe"
    OPEN = "open"


@dataclass(frozen=True)
class Search:
    """How a search ended.

    ``run`` and ``loops`` are of a bad path if unsafe, ``reason`` is why it is open, ``invariant`` what a
    proof may give, ``sizes`` how large the search was, for reports.
    """

    outcome: Outcome
    method: str
    depth: int
    run: tuple[int, ...] = ()
    loops: tuple[Loop, ...] = ()
    reason: str = ""
    invariant: Invariant | None = None
    sizes: Mapping[str, int] = field(default_factory=dict, compare=False)


@dataclass
class KInduction:
    """Bounded search with proofs by induction; stops for good at ``max_depth``.

    Once the step case has ``max_clauses`` clauses, only the bounded search continues.
    """

    system: System
    limits: Limits
    max_depth: int | None = None
    solver: str = "z3"
    max_clauses: int | None = None
    _step: Unrolling | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._base = Unrolling(self.system, open_solver(self.solver, self.limits), anchored=True)

    def run(self) -> Search:
        """Search and prove with growing depth until the answer is known or a limit is reached."""
        search = self._run()
        unrollings = [self._base] if self._step is None else [self._base, self._step]
        clauses = sum(unrolling.solver.effort.clauses for unrolling in unrollings)
        return replace(search, sizes={"unrolling clauses": clauses})

    def _run(self) -> Search:
        depth = 0
        try:
            while True:
                self.limits.check(f"{self.system.pattern.title}, depth {depth}")
                if self._base_reaches_bad(depth):
                    return unsafe(self.system, *self._base.path(depth))
                if self._step_closes(depth):
                    return Search(Outcome.SAFE, "k-induction", depth)
                if self.max_depth is not None and depth >= self.max_depth:
                    reason = f"{how_far(depth)}, and no proof by induction of that depth"
                    return Search(Outcome.OPEN, "k-induction", depth, reason=reason)
                if not self._base.extend():
                    return Search(Outcome.SAFE, "bounded", depth)
                depth += 1
        except LimitReached as limit:
            return Search(Outcome.OPEN, "k-induction", depth, reason=f"{limit}; {how_far(depth - 1)}")

    def _base_reaches_bad(self, depth: int) -> bool:
        if not self._base.bad(depth):
            return False
        bad = self._base.bad_literal(depth)
        if self._base.solver.check([bad]):
            return True
        self._base.solver.add([-bad])
        return False

    def _step_closes(self, depth: int) -> bool:
        """Whether no simple path of ``depth`` good states leads to a bad one."""
        if self._step is None:
            self._step = Unrolling(self.system, open_solver(self.solver, self.limits), anchored=False)
        step = self._step
        if self.max_clauses is not None and step.solver.effort.clauses > self.max_clauses:
            return False
        if depth and not step.extend():
            return True
        bad = step.bad_literal(depth)
        while step.solver.check([bad]):
            if not step.satisfies_axioms():
                continue
            states = [step.state(k) for k in range(depth + 1)]
            equal = [(i, j) for j in range(depth + 1) for i in range(j) if states[i] == states[j]]
            if not equal:
                step.solver.add([-bad])
                return False
            for i, j in equal:
                step.differ(i, j)
        return True


@dataclass
class BoundedSearch:
    """Looks for long bad paths only: no proof, no shortest path.

    One query asks for a bad state in any frame up to a bound that grows geometrically. Showing that no short
    path is bad is the hard part of an unrolling and useless here, so the first bound is twice the distance of
    the remotest control state. The search ends for good when the unrolling has ``max_clauses`` clauses.
    """

    system: System
    limits: Limits
    solver: str = "z3"
    max_clauses: int = 5_000_000
    effort: Effort = field(init=False, default_factory=Effort)

    def run(self) -> Search:
        """Search until a bad path is found, no path is long enough to go on, or a limit is reached."""
        system, bound = self.system, self.limits.bound
        least = system.steps_to_bad.get(system.control.initial)
        if least is None:
            return Search(Outcome.SAFE, "bounded", 0)
        done = least - 1 if bound is None else min(least - 1, bound)
        goal = 2 * max(system.steps_from_start.values()) + 1
        try:
            solver = open_solver(self.solver, self.limits, self.effort)
            unrolling = Unrolling(system, solver, anchored=True, bound=bound)
            while True:
                complete = not self._unroll(unrolling, goal if bound is None else min(goal, bound))
                depth = len(unrolling.frames) - 1
                if done < depth:
                    found = self._some_bad(unrolling, done + 1, depth)
                    if found is not None:
                        path, last = unrolling.path(found)
                        return unsafe(system, _without_detours(system, path), last)
                    done = depth
                if complete and bound is None:
                    return Search(Outcome.SAFE, "bounded", depth)
                if bound is not None and (complete or depth >= bound):
                    done = bound
                    raise LimitReached(Limit.DEPTH, f"the bound of {counted(bound, 'step')} was reached")
                goal *= 2
        except LimitReached as limit:
            return Search(Outcome.OPEN, "bounded", max(done, 0), reason=f"{limit}; {how_far(done)}")

    def _unroll(self, unrolling: Unrolling, depth: int) -> bool:
        """Add frames up to ``depth``; whether there are paths that long."""
        while len(unrolling.frames) <= depth:
            self.limits.check(f"{self.system.pattern.title}, depth {len(unrolling.frames) - 1}")
            if self.effort.clauses > self.max_clauses:
                raise LimitReached(Limit.SIZE, f"the unrolling has more than {self.max_clauses} clauses")
            if not unrolling.extend():
                return False
        return True

    def _some_bad(self, unrolling: Unrolling, first: int, last: int) -> int | None:
        """The first bad frame, among these, of some path; if there is none, they are excluded."""
        solver = unrolling.solver
        bad = {k: unrolling.bad_literal(k) for k in range(first, last + 1) if unrolling.bad(k)}
        some = solver.variable()
        solver.add([-some, *bad.values()])
        if solver.check([some]):
            return next(k for k, literal in bad.items() if solver.value(literal))
        solver.add_all([-literal] for literal in bad.values())
        return None


Path = Sequence[tuple[Edge, Mapping[Lit, bool]]]
"""Edges, each with the values of bits and choices before it."""


def unsafe(system: System, path: Path, last: Mapping[Lit, bool]) -> Search:
    """The answer that a path is bad; ``last`` are the values at its end."""
    run = tuple(edge.transition for edge, _ in path)
    return Search(Outcome.UNSAFE, "bounded", len(run), run, tuple(system.loops(path, last)))


def _without_detours(system: System, path: Path) -> Path:
    """The path without the parts that lead from a state back to the same state."""
    states = [(edge.source, tuple(values[bit] for bit in system.bits)) for edge, values in path]
    latest = {state: place for place, state in enumerate(states)}
    kept = []
    place = 0
    while place < len(path):
        place = latest[states[place]]
        kept.append(path[place])
        place += 1
    return kept
