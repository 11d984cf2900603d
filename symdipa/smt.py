"""The one place where a solver runs: an incremental interface for clauses, on z3 or on python-sat.

Solver variables are positive integers, literals are integers with a sign as in DIMACS. Clauses are handed
to z3 as text in batches, which costs a fraction of what z3's Python operators do.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symdipa.boolean import FALSE, TRUE, BooleanGraph, Lit
from symdipa.errors import LimitReached

Clause = Sequence[int]

SAT_SOLVERS = {"minisat": "minisat22", "glucose": "glucose4", "cadical": "cadical153"}
"""Solvers of python-sat by our names for them."""

SOLVERS = ("z3", *SAT_SOLVERS)


@dataclass
class Effort:
    """How much solving was done, for reports."""

    queries: int = 0
    clauses: int = 0
    seconds: float = 0.0


class ClauseSolver(ABC):
    """An incremental solver for clauses with assumptions.

    ``deadline`` is a reading of :func:`time.monotonic` after which a check raises
    :class:`LimitReached`. An answer "unknown" raises too: it is never taken for unsatisfiable.
    """

    def __init__(self, deadline: float | None = None, effort: Effort | None = None) -> None:
        self.deadline = deadline
        self.effort = effort if effort is not None else Effort()
        self._variables = 0
        self._core: frozenset[int] = frozenset()

    def variable(self) -> int:
        """A fresh variable."""
        self._variables += 1
        return self._variables

    @abstractmethod
    def add(self, clause: Clause) -> None:
        """Assert a disjunction of literals."""

    def add_all(self, clauses: Iterable[Clause]) -> None:
        for clause in clauses:
            self.add(clause)

    def check(self, assumptions: Iterable[int] = ()) -> bool:
        """Whether the clauses can be satisfied together with the assumptions.

        Afterwards :meth:`value` reads the model, or :attr:`core` tells which assumptions were needed.
        Raises :class:`LimitReached` when the solver gives up or the time is over.
        """
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise LimitReached("time limit reached in the solver")
        began = time.monotonic()
        try:
            return self._check(list(dict.fromkeys(assumptions)))
        finally:
            self.effort.queries += 1
            self.effort.seconds += time.monotonic() - began

    @abstractmethod
    def _check(self, assumptions: list[int]) -> bool: ...

    @property
    def core(self) -> frozenset[int]:
        """The assumptions that the last unsatisfiable check needed."""
        return self._core

    @abstractmethod
    def value(self, literal: int) -> bool:
        """The value of a literal in the last model (false where the model leaves its variable open)."""

    def true(self, variables: Iterable[int]) -> set[int]:
        """Those of the variables that are true in the last model."""
        return {variable for variable in variables if self.value(variable)}


def open_solver(
    name: str = "z3", deadline: float | None = None, effort: Effort | None = None
) -> ClauseSolver:
    """A fresh solver by its name in :data:`SOLVERS`; ``ValueError`` for another name."""
    if name == "z3":
        return Z3Solver(deadline, effort)
    if name in SAT_SOLVERS:
        return SatSolver(name, deadline, effort)
    raise ValueError(f"no solver {name!r}; there are {', '.join(SOLVERS)}")


class Z3Solver(ClauseSolver):
    """z3 on finite-domain problems, which is about twice as fast here as its default."""

    def __init__(self, deadline: float | None = None, effort: Effort | None = None) -> None:
        import z3

        super().__init__(deadline, effort)
        self._z3: Any = z3
        self._solver: Any = z3.SolverFor("QF_FD")
        self._declared = 0
        self._terms: dict[int, Any] = {}
        self._pending: list[str] = []
        self._model: Any = None

    def add(self, clause: Clause) -> None:
        self._pending.append(
            "(assert (or " + " ".join([f"v{x}" if x > 0 else f"(not v{-x})" for x in clause]) + "))"
            if clause
            else "(assert false)"
        )

    def _flush(self) -> None:
        if self._declared < self._variables:
            fresh = range(self._declared + 1, self._variables + 1)
            self._solver.from_string("".join([f"(declare-const v{x} Bool)" for x in fresh]))
            self._declared = self._variables
        if self._pending:
            self.effort.clauses += len(self._pending)
            self._solver.from_string("".join(self._pending))
            self._pending.clear()

    def _term(self, literal: int) -> Any:
        found = self._terms.get(literal)
        if found is None:
            found = self._z3.Bool(f"v{literal}") if literal > 0 else self._z3.Not(self._term(-literal))
            self._terms[literal] = found
        return found

    def _check(self, assumptions: list[int]) -> bool:
        z3 = self._z3
        self._flush()
        if self.deadline is not None:
            self._solver.set("timeout", max(1, int((self.deadline - time.monotonic()) * 1000)))
        chosen = {literal: self._term(literal) for literal in assumptions}
        answer = self._solver.check(*chosen.values())
        if answer == z3.sat:
            self._model = self._solver.model()
            return True
        if answer == z3.unsat:
            reasons = {reason.get_id() for reason in self._solver.unsat_core()}
            self._core = frozenset(literal for literal, term in chosen.items() if term.get_id() in reasons)
            return False
        if self.deadline is not None and time.monotonic() >= self.deadline - 0.01:
            raise LimitReached("time limit reached in the solver")
        raise LimitReached(f"the solver gave up: {self._solver.reason_unknown()}")

    def value(self, literal: int) -> bool:
        z3 = self._z3
        value = self._model.get_interp(self._term(abs(literal)).decl())
        positive = value is not None and z3.Z3_get_bool_value(value.ctx.ref(), value.as_ast()) == z3.Z3_L_TRUE
        return bool(positive == (literal > 0))


class SatSolver(ClauseSolver):
    """A CDCL solver of python-sat: microseconds a query, where z3's Python interface costs a millisecond.

    ``minisat`` and ``glucose`` keep the deadline inside long queries (by conflict budgets); ``cadical``
    cannot be interrupted and keeps it only between queries.
    """

    CONFLICTS_AT_A_TIME = 20_000

    def __init__(self, name: str, deadline: float | None = None, effort: Effort | None = None) -> None:
        from pysat.solvers import Solver

        super().__init__(deadline, effort)
        self._interruptible = name != "cadical"
        self._solver: Any = Solver(name=SAT_SOLVERS[name])
        self._model: list[int] = []

    def add(self, clause: Clause) -> None:
        self.effort.clauses += 1
        self._solver.add_clause(list(clause))

    def _check(self, assumptions: list[int]) -> bool:
        if self._interruptible and self.deadline is not None:
            answer = None
            while answer is None:
                self._solver.conf_budget(self.CONFLICTS_AT_A_TIME)
                answer = self._solver.solve_limited(assumptions=assumptions)
                if answer is None and time.monotonic() >= self.deadline:
                    raise LimitReached("time limit reached in the solver")
        else:
            answer = self._solver.solve(assumptions=assumptions)
        if answer:
            self._model = self._solver.get_model()
            return True
        self._core = frozenset(self._solver.get_core() or ())
        return False

    def value(self, literal: int) -> bool:
        place = abs(literal) - 1
        positive = place < len(self._model) and self._model[place] > 0
        return positive == (literal > 0)

    def true(self, variables: Iterable[int]) -> set[int]:
        model = self._model
        known = len(model)
        return {variable for variable in variables if variable <= known and model[variable - 1] > 0}


class Instance:
    """The clauses of parts of a :class:`BooleanGraph`, with its variables mapped to solver variables.

    Each conjunction becomes one solver variable with its three clauses (Tseitin), once per instance.
    """

    def __init__(self, graph: BooleanGraph, solver: ClauseSolver, variables: Mapping[Lit, int]) -> None:
        self.graph = graph
        self.solver = solver
        self._of: dict[int, int] = {literal >> 1: variable for literal, variable in variables.items()}
        self._true: int | None = None

    def literal(self, literal: Lit) -> int:
        """The solver literal that is equal to a literal of the graph."""
        if literal in (FALSE, TRUE):
            if self._true is None:
                self._true = self.solver.variable()
                self.solver.add([self._true])
            return self._true if literal == TRUE else -self._true
        node = literal >> 1
        if node not in self._of:
            for missing in self.graph.cone([literal]):
                if missing and missing not in self._of:
                    self._define(missing)
        found = self._of[node]
        return -found if literal & 1 else found

    def _define(self, node: int) -> None:
        operands = self.graph.operands(node)
        variable = self._of[node] = self.solver.variable()
        if operands is None:
            return
        a, b = (-self._of[x >> 1] if x & 1 else self._of[x >> 1] for x in operands)
        self.solver.add_all([(-variable, a), (-variable, b), (variable, -a, -b)])
