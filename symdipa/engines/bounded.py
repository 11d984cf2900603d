"""Bounded search and k-induction on unrolled systems.

Base case: no path of ``k`` steps from the initial state ends in a bad state. Step case: no path of ``k``
steps through states that satisfy the axioms, are pairwise different and not bad before the end, ends in a
bad state. Both together prove that no bad state is reachable (Sheeran, Singh, Stalmarck 2000). Simple-path
constraints are added when a model breaks them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from symdipa.engines.base import Limits, how_far
from symdipa.engines.unrolling import Unrolling
from symdipa.errors import LimitReached
from symdipa.smt import open_solver
from symdipa.system import Invariant, System
from symdipa.witness import Loop


class Outcome(Enum):
    SAFE = "safe"
    UNSAFE = "unsafe"
    OPEN = "open"


@dataclass(frozen=True)
class Search:
    """How a search ended.

    ``run`` and ``loops`` of a bad path if unsafe, ``reason`` if open, ``invariant`` where a proof gives one.
    """

    outcome: Outcome
    method: str
    depth: int
    run: tuple[int, ...] = ()
    loops: tuple[Loop, ...] = ()
    reason: str = ""
    invariant: Invariant | None = None


@dataclass
class KInduction:
    """Bounded search with proofs by induction; stops for good at ``max_depth``.

    Once the step case has ``max_clauses`` clauses no more proofs are tried, only the bounded search goes on.
    """

    system: System
    limits: Limits
    max_depth: int | None = None
    solver: str = "z3"
    max_clauses: int | None = None
    _base: Unrolling = field(init=False)
    _step: Unrolling | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._base = Unrolling(self.system, open_solver(self.solver, self.limits.deadline), anchored=True)

    def run(self) -> Search:
        """Search and prove with growing depth until the answer is known or a limit is reached."""
        depth = 0
        try:
            while True:
                self.limits.check(f"{self.system.pattern.title}, depth {depth}")
                if self._base_reaches_bad(depth):
                    path, last = self._base.path(depth)
                    loops = self.system.loops(path, last)
                    run = tuple(edge.transition for edge, _ in path)
                    return Search(Outcome.UNSAFE, "bounded", depth, run, tuple(loops))
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
            self._step = Unrolling(
                self.system, open_solver(self.solver, self.limits.deadline), anchored=False
            )
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
