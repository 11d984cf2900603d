"""The engines of a check, by the names that users give, and the processes in which some of them run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from symdipa.engines import processes
from symdipa.engines.base import Engine
from symdipa.engines.explicit import ExplicitEngine, Staged
from symdipa.model.errors import LimitReached
from symdipa.model.limits import Limits
from symdipa.model.options import ENCODINGS
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import PatternResult
from symdipa.runs.control import Control
from symdipa.runs.problem import Problem

if TYPE_CHECKING:
    from symdipa.engines.symbolic import SymbolicEngine


FIRST_CELLS = 50_000
"""Up to how many nodes times variables the augmentation is enumerated before anything else is tried."""

MAX_CELLS = 150_000
"""And up to how many it is enumerated for the sake of the weight alone, where nothing cheaper gives one."""


def max_nodes(control: Control, cells: int) -> int:
    """The cap on the nodes of an augmentation that a number of cells (nodes times variables) stands for."""
    return max(1, cells // max(1, control.variables))


class Lineup:
    """The engines for one problem; a context that ends their processes.

    Where ``limits`` must hold, engines run in processes of their own.
    """

    def __init__(self, problem: Problem, limits: Limits) -> None:
        self.problem, self.limits = problem, limits
        self._races: list[processes.Race] = []

    def __enter__(self) -> Lineup:
        return self

    def __exit__(self, *_: object) -> None:
        for race in self._races:
            race.close()

    def engines(self, name: str, encoding: str, solver: str | None, slicing: bool) -> list[Engine]:
        """The engines of this name; those that search symbolically see slices if asked to."""
        explicit = [self._enumeration()] if name in ("explicit", "both") else []
        if name == "explicit":
            return explicit
        from symdipa.engines.sliced import SlicedEngine

        def make(problem: Problem) -> Engine:
            if name == "auto":
                return self._automatic(problem, encoding, solver)
            return _symbolic(problem, encoding, solver or "z3")

        chosen = SlicedEngine(self.problem, make) if slicing else make(self.problem)
        return [*explicit, chosen if name == "auto" else self._guarded(chosen)]

    def every(self) -> Iterator[Engine]:
        """Enumeration; symbolic search in both encodings; the same on another solver, slice by slice."""
        from symdipa.engines.sliced import SlicedEngine

        yield self._enumeration()
        for encoding in ENCODINGS:
            yield self._guarded(_symbolic(self.problem, encoding, "z3"))
        yield self._guarded(
            SlicedEngine(self.problem, lambda problem: _symbolic(problem, ENCODINGS[0], "minisat"))
        )

    def _enumeration(self) -> Engine:
        """Enumeration; a process of its own is worth it only beyond a small cap."""
        whole = ExplicitEngine(self.problem)
        guarded = self._guarded(whole)
        if guarded is whole:
            return whole
        return Staged(ExplicitEngine(self.problem, max_nodes(self.problem.control, FIRST_CELLS)), guarded)

    def _guarded(self, engine: Engine) -> Engine:
        """The engine in a process of its own, if there are limits that must hold."""
        return self._race([engine]) if self.limits.hard and processes.AVAILABLE else engine

    def _automatic(self, problem: Problem, encoding: str, solver: str | None) -> Engine:
        from symdipa.engines.auto import AutoEngine
        from symdipa.engines.symbolic import LongRuns

        solver = solver or "minisat"
        first = ExplicitEngine(problem, max_nodes(problem.control, FIRST_CELLS))
        symbolic = _symbolic(problem, encoding, solver)
        if not processes.AVAILABLE or processes.cores() == 1:
            return AutoEngine(first, symbolic, self._guarded(symbolic))
        rivals: list[Engine] = [symbolic, ExplicitEngine(problem)]
        if processes.cores() > 2:
            rivals.append(LongRuns(problem, encoding, solver))
        return AutoEngine(first, symbolic, self._race(rivals))

    def _race(self, engines: Sequence[Engine]) -> processes.Race:
        race = processes.Race(engines, self._races)
        self._races.append(race)
        return race


def _symbolic(problem: Problem, encoding: str, solver: str) -> SymbolicEngine:
    from symdipa.engines.symbolic import SymbolicEngine  # solvers are loaded only where they are used

    return SymbolicEngine(problem, encoding, solver)


def ask(engine: Engine, patterns: Sequence[Pattern], limits: Limits) -> dict[Pattern, PatternResult]:
    """The engine's answers, the cheap ones first: no search shall use up their time."""
    answers: dict[Pattern, PatternResult] = {}
    for pattern in patterns:
        try:
            answer = engine.decide_statically(pattern, limits)
        except LimitReached:
            break
        if answer is not None:
            answers[pattern] = answer
    for pattern in patterns:
        if pattern not in answers:
            answers[pattern] = engine.decide(pattern, limits)
    return {pattern: answers[pattern] for pattern in patterns}
