"""The symbolic engine: dataflow, then bounded search and induction, then PDR or rounds; solver z3."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from symdipa.engines.base import Engine, how_far
from symdipa.model.errors import LimitReached
from symdipa.model.limits import UNLIMITED, Limits, stopwatch
from symdipa.model.options import ENCODINGS, SOLVERS, must_be_one_of
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import PatternResult, Status
from symdipa.runs.dataflow import graph_allows, may_be_present
from symdipa.runs.problem import Problem
from symdipa.runs.witness import complete

if TYPE_CHECKING:
    from symdipa.engines.bounded import Search
    from symdipa.systems.system import System

INDUCTION_DEPTH = 12
"""Up to this depth bounded search with k-induction is tried; simple paths get expensive beyond."""

INDUCTION_CLAUSES = 8_000
"""And up to this size of the step case: beyond, PDR is through before induction gives up."""


class SymbolicEngine(Engine):
    """Decides patterns on symbolic systems over control states and ``lt``/``eq`` bits.

    Its name is that of the solver: who is asked is who is reported. Encodings and searches are loaded when
    something is searched; most patterns are excluded before.
    """

    encoding: str

    def __init__(self, problem: Problem, encoding: str = "marks", solver: str = "z3") -> None:
        must_be_one_of("encoding", encoding, ENCODINGS)
        must_be_one_of("solver", solver, SOLVERS)
        self.problem = problem
        self.encoding = encoding
        self.name = self.solver = solver

    def load(self) -> None:
        import symdipa.encodings.catalogue
        import symdipa.engines.liveness  # noqa: F401 (which needs all other searches)
        from symdipa.systems.smt import load_solver

        load_solver(self.solver)

    def decide_statically(self, pattern: Pattern, limits: Limits = UNLIMITED) -> PatternResult | None:
        seconds, problem = stopwatch(), self.problem
        if graph_allows(pattern, problem.control) and may_be_present(pattern, problem.facts(limits), limits):
            return None
        return PatternResult(pattern, Status.ABSENT, self.name, "static", self.encoding, seconds=seconds())

    def decide(self, pattern: Pattern, limits: Limits = UNLIMITED) -> PatternResult:
        from symdipa.encodings.catalogue import systems
        from symdipa.engines.bounded import Outcome

        seconds = stopwatch()
        status, method, reason, witness = Status.UNKNOWN, None, None, None
        sizes: dict[str, int] = {}
        try:
            searches = []
            control, facts = self.problem.control, self.problem.facts(limits)
            for system in systems(pattern, facts, self.encoding, limits):
                searches.append(search := self._search(system, limits))
                if search.outcome is Outcome.UNSAFE:
                    break
            status, method, reason = _combine(searches)
            if searches:
                sizes["depth"] = max(search.depth for search in searches)
            for search in searches:
                for what, size in search.sizes.items():
                    sizes[what] = max(size, sizes.get(what, 0))
            if invariants := [s.invariant for s in searches if s.invariant is not None]:
                sizes["clauses"] = sum(invariant.clauses for invariant in invariants)
            if status is Status.PRESENT:
                witness = complete(control, pattern, searches[-1].run, searches[-1].loops)
        except LimitReached as limit:
            reason = str(limit)
        return PatternResult(
            pattern,
            status,
            self.name,
            method=method,
            encoding=self.encoding,
            witness=witness,
            reason=reason,
            sizes=sizes,
            seconds=seconds(),
        )

    def _search(self, system: System, limits: Limits) -> Search:
        """Bounded search with induction up to a moderate depth, PDR beyond; a proof by PDR is checked.

        Leaking cycles beyond are decided by counting rounds, unless there is a bound: that is about
        the length of the lasso. Where no path of moderate length can be bad, nothing is unrolled.
        """
        from symdipa.engines.bounded import KInduction, Outcome
        from symdipa.engines.liveness import Liveness
        from symdipa.engines.pdr import PDR
        from symdipa.systems.invariants import check_invariant

        bound = limits.bound
        first = INDUCTION_DEPTH if bound is None else min(bound, INDUCTION_DEPTH)
        least = system.steps_to_bad.get(system.control.initial, 0)
        if bound is None and least > first:
            first = 0
        search = KInduction(system, limits, first, self.solver, INDUCTION_CLAUSES).run()
        out_of_time = search.depth < first
        if search.outcome is not Outcome.OPEN or out_of_time or bound == first:
            return search
        if system.pattern is Pattern.LEAKING_CYCLE and bound is None:
            found = Liveness(self.problem.control, self.problem.facts(limits), limits, self.solver).run()
            if found.outcome is Outcome.OPEN:
                depth = max(search.depth, least - 1)
                return replace(found, depth=depth, reason=f"{found.reason}; {how_far(depth)}")
            return found
        search = PDR(system, limits, self.solver).run()
        if search.invariant is not None:
            check_invariant(system, search.invariant, limits, self.solver)
        return search


class LongRuns(SymbolicEngine):
    """Looks for long violations only, with bounds that grow geometrically; proves next to nothing.

    Where PDR walks back from a violation step by step, one query about many steps may find it first: runs
    of simulated machines are of that kind. A rival in a race, of use where there is a core to spare.
    """

    def __init__(self, problem: Problem, encoding: str = "marks", solver: str = "z3") -> None:
        super().__init__(problem, encoding, solver)
        self.name = f"{solver} for long runs"

    def _search(self, system: System, limits: Limits) -> Search:
        from symdipa.engines.bounded import BoundedSearch

        return BoundedSearch(system, limits, self.solver).run()


def _combine(searches: list[Search]) -> tuple[Status, str | None, str | None]:
    """Status, method and reason of a pattern from those of its systems (none: excluded by dataflow)."""
    from symdipa.engines.bounded import Outcome

    if not searches:
        return Status.ABSENT, "static", None
    for search in searches:
        if search.outcome is Outcome.UNSAFE:
            return Status.PRESENT, search.method, None
    for search in searches:
        if search.outcome is Outcome.OPEN:
            return Status.UNKNOWN, None, search.reason
    methods = ("bounded", "k-induction", "pdr")
    return Status.ABSENT, max((search.method for search in searches), key=methods.index), None
