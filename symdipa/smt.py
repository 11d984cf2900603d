"""The one place where a solver runs: an incremental interface for clauses, on z3.

Solver variables are positive integers, literals are integers with a sign as in DIMACS. Clauses are handed
to z3 as text in batches, which costs a fraction of what z3's Python operators do.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from symdipa.boolean import FALSE, TRUE, BooleanGraph, Lit
from symdipa.errors import LimitReached

Clause = Sequence[int]


@dataclass
class Effort:
    """How much solving was done, for reports."""

    queries: int = 0
    clauses: int = 0
    seconds: float = 0.0


@dataclass
class ClauseSolver:
    """An incremental solver for clauses with assumptions.

    ``deadline`` is a reading of :func:`time.monotonic` after which a check raises
    :class:`LimitReached`. An answer "unknown" raises too: it is never taken for unsatisfiable.
    """

    deadline: float | None = None
    effort: Effort = field(default_factory=Effort)

    def __post_init__(self) -> None:
        import z3

        self._z3: Any = z3
        self._solver: Any = z3.SolverFor("QF_FD")
        self._variables = 0
        self._declared = 0
        self._constants: dict[int, Any] = {}
        self._terms: dict[int, Any] = {}
        self._pending: list[str] = []
        self._model: Any = None
        self._core: frozenset[int] = frozenset()

    def variable(self) -> int:
        """A fresh variable."""
        self._variables += 1
        return self._variables

    def add(self, clause: Clause) -> None:
        """Assert a disjunction of literals."""
        self._pending.append(
            "(assert (or " + " ".join([f"v{x}" if x > 0 else f"(not v{-x})" for x in clause]) + "))"
            if clause
            else "(assert false)"
        )

    def add_all(self, clauses: Iterable[Clause]) -> None:
        for clause in clauses:
            self.add(clause)

    def _flush(self) -> None:
        if self._declared < self._variables:
            fresh = range(self._declared + 1, self._variables + 1)
            self._solver.from_string("".join([f"(declare-const v{x} Bool)" for x in fresh]))
            self._declared = self._variables
        if self._pending:
            self.effort.clauses += len(self._pending)
            self._solver.from_string("".join(self._pending))
            self._pending.clear()

    def _constant(self, variable: int) -> Any:
        found = self._constants.get(variable)
        if found is None:
            found = self._constants[variable] = self._z3.Bool(f"v{variable}")
        return found

    def _literal(self, literal: int) -> Any:
        found = self._terms.get(literal)
        if found is None:
            constant = self._constant(abs(literal))
            found = self._terms[literal] = constant if literal > 0 else self._z3.Not(constant)
        return found

    def check(self, assumptions: Iterable[int] = ()) -> bool:
        """Whether the clauses can be satisfied together with the assumptions.

        Afterwards :meth:`value` reads the model, or :attr:`core` tells which assumptions were needed.
        Raises :class:`LimitReached` when z3 gives up or the time is over.
        """
        z3 = self._z3
        self._flush()
        if self.deadline is not None:
            remaining = self.deadline - time.monotonic()
            if remaining <= 0:
                raise LimitReached("time limit reached in the solver")
            self._solver.set("timeout", max(1, int(remaining * 1000)))
        chosen = {literal: self._literal(literal) for literal in assumptions}
        began = time.monotonic()
        answer = self._solver.check(*chosen.values())
        self.effort.queries += 1
        self.effort.seconds += time.monotonic() - began
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

    @property
    def core(self) -> frozenset[int]:
        """The assumptions that the last unsatisfiable check needed."""
        return self._core

    def value(self, literal: int) -> bool:
        """The value of a literal in the last model (false where the model leaves it open)."""
        z3 = self._z3
        value = self._model.get_interp(self._constant(abs(literal)).decl())
        positive = value is not None and z3.Z3_get_bool_value(value.ctx.ref(), value.as_ast()) == z3.Z3_L_TRUE
        return bool(positive == (literal > 0))


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
