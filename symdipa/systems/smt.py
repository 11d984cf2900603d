"""The one place where a solver runs: an incremental interface for clauses, on z3 or on python-sat.

Solver variables are positive integers, literals are integers with a sign as in DIMACS. Clauses are handed
to z3 as text in batches, which costs a fraction of what z3's Python operators do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from symdipa.model.errors import Limit, LimitReached, OutOfTime
from symdipa.model.limits import UNLIMITED, Limits, stopwatch
from symdipa.model.options import SOLVERS, must_be_one_of
from symdipa.systems.boolean import BooleanGraph, Lit

Clause = Sequence[int]

SAT_SOLVERS = {"minisat": "Minisat22", "glucose": "Glucose4", "cadical": "Cadical153"}
"""Classes of python-sat by our names for them: the solvers but z3."""


@dataclass
class Effort:
    """How much solving was done, for reports."""

    queries: int = 0
    clauses: int = 0
    seconds: float = 0.0


class ClauseSolver(ABC):
    """An incremental solver for clauses with assumptions.

    After the deadline of the ``limits`` a check raises :class:`OutOfTime`. "Unknown" raises too: it is never
    taken for unsatisfiable.
    """

    def __init__(self, limits: Limits = UNLIMITED, effort: Effort | None = None) -> None:
        self.limits = limits
        self.effort = effort if effort is not None else Effort()
        self._variables = 0
        self.core: frozenset[int] = frozenset()
        """The assumptions that the last unsatisfiable check needed."""

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
        self._keep_time()
        seconds = stopwatch()
        try:
            return self._check(list(dict.fromkeys(assumptions)))
        finally:
            self.effort.queries += 1
            self.effort.seconds += seconds()

    def _keep_time(self, slack: float = 0.0) -> None:
        left = self.limits.left()
        if left is not None and left <= slack:
            raise OutOfTime(reason="time limit reached in the solver")

    @abstractmethod
    def _check(self, assumptions: list[int]) -> bool: ...

    @abstractmethod
    def value(self, literal: int) -> bool:
        """The value of a literal in the last model (false where the model leaves its variable open)."""

    def true(self, variables: Mapping[Lit, int]) -> set[Lit]:
        """The keys of those variables that are true in the last model."""
        return {key for key, variable in variables.items() if self.value(variable)}


def open_solver(name: str = "z3", limits: Limits = UNLIMITED, effort: Effort | None = None) -> ClauseSolver:
    """A fresh solver by its name in :data:`SOLVERS`; ``ValueError`` for another name."""
    must_be_one_of("solver", name, SOLVERS)
    return Z3Solver(limits, effort) if name == "z3" else SatSolver(name, limits, effort)


def load_solver(name: str) -> None:
    """Load the package of a solver, which takes longer than many a search."""
    import_module("z3" if name == "z3" else "pysat.solvers")


class Z3Solver(ClauseSolver):
    """z3 on finite-domain problems, which is about twice as fast here as its default.

    Terms are made, and models and cores read, by the functions of z3's C interface: its Python classes cost
    several times as much as the solving. ``_kept`` owns the terms.
    """

    SLACK = 0.2
    """Seconds by which a time limit may be too long: setting one costs as much as a short query."""

    def __init__(self, limits: Limits = UNLIMITED, effort: Effort | None = None) -> None:
        import z3

        super().__init__(limits, effort)
        self._z3: Any = z3
        self._solver: Any = z3.SolverFor("QF_FD")
        self._context: Any = z3.main_ctx().ref()
        self._kept: Any = z3.AstVector()
        self._sort: Any = z3.BoolSort()
        self._true: int = z3.Z3_mk_true(self._context).value
        self._terms: dict[int, Any] = {}
        self._declared: dict[int, Any] = {}
        self._literal: dict[int, int] = {}
        self._limit: float | None = None
        self._model: Any = None

    def add(self, clause: Clause) -> None:
        z3, context = self._z3, self._context
        self.effort.clauses += 1
        terms = [self._term(literal) for literal in clause]
        disjunction = terms[0] if len(terms) == 1 else z3.Z3_mk_or(context, len(terms), self._array(terms))
        z3.Z3_solver_assert(context, self._solver.solver, disjunction)

    def _array(self, terms: list[Any]) -> Any:
        return (self._z3.Ast * len(terms))(*terms)

    def _term(self, literal: int) -> Any:
        found = self._terms.get(literal)
        if found is None:
            z3, context = self._z3, self._context
            if literal > 0:
                symbol = z3.Z3_mk_int_symbol(context, literal)
                found = z3.Z3_mk_const(context, symbol, self._sort.ast)
            else:
                found = z3.Z3_mk_not(context, self._term(-literal))
            z3.Z3_ast_vector_push(context, self._kept.vector, found)
            self._terms[literal] = found
            self._literal[found.value] = literal
        return found

    def _check(self, assumptions: list[int]) -> bool:
        z3, context, solver = self._z3, self._context, self._solver.solver
        self._keep_deadline()
        terms = [self._term(literal) for literal in assumptions]
        answer = z3.Z3_solver_check_assumptions(context, solver, len(terms), self._array(terms))
        if answer == z3.Z3_L_TRUE:
            self._model = z3.ModelRef(z3.Z3_solver_get_model(context, solver), self._solver.ctx)
            return True
        if answer == z3.Z3_L_FALSE:
            core = z3.AstVector(z3.Z3_solver_get_unsat_core(context, solver), self._solver.ctx).vector
            size = z3.Z3_ast_vector_size(context, core)
            reasons = (z3.Z3_ast_vector_get(context, core, i).value for i in range(size))
            self.core = frozenset(self._literal[reason] for reason in reasons)
            return False
        self._keep_time(slack=0.01)
        raise LimitReached(Limit.SOLVER, f"the solver gave up: {self._solver.reason_unknown()}")

    def _keep_deadline(self) -> None:
        left = self.limits.left()
        if left is not None and (self._limit is None or self._limit > left + self.SLACK):
            self._limit = left
            self._solver.set("timeout", max(1, int(left * 1000)))

    def value(self, literal: int) -> bool:
        z3, context = self._z3, self._context
        variable = abs(literal)
        declared = self._declared.get(variable)
        if declared is None:
            application = z3.Z3_to_app(context, self._term(variable))
            declared = self._declared[variable] = z3.Z3_get_app_decl(context, application)
        value = z3.Z3_model_get_const_interp(context, self._model.model, declared)
        return (value is not None and value.value == self._true) == (literal > 0)


class SatSolver(ClauseSolver):
    """A CDCL solver of python-sat: microseconds a query, where z3's Python interface costs a millisecond.

    ``minisat`` and ``glucose`` keep the deadline inside long queries (by conflict budgets); ``cadical``
    cannot be interrupted and keeps it only between queries.
    """

    CONFLICTS_AT_A_TIME = 20_000

    def __init__(self, name: str, limits: Limits = UNLIMITED, effort: Effort | None = None) -> None:
        from pysat import solvers

        super().__init__(limits, effort)
        self._interruptible = name != "cadical"
        self._solver: Any = getattr(solvers, SAT_SOLVERS[name])()
        self._model: list[int] = []

    def add(self, clause: Clause) -> None:
        self.effort.clauses += 1
        self._solver.add_clause(clause)

    def _check(self, assumptions: list[int]) -> bool:
        if self._interruptible and self.limits.deadline is not None:
            answer = None
            while answer is None:
                self._solver.conf_budget(self.CONFLICTS_AT_A_TIME)
                answer = self._solver.solve_limited(assumptions=assumptions)
                if answer is None:
                    self._keep_time()
        else:
            answer = self._solver.solve(assumptions=assumptions)
        if answer:
            self._model = self._solver.get_model()
            return True
        self.core = frozenset(self._solver.get_core() or ())
        return False

    def value(self, literal: int) -> bool:
        place = abs(literal) - 1
        positive = place < len(self._model) and self._model[place] > 0
        return positive == (literal > 0)

    def true(self, variables: Mapping[Lit, int]) -> set[Lit]:
        model = self._model
        if variables and len(model) < self._variables:  # the solver has not seen the last ones
            model += [-1] * (self._variables - len(model))
        return {key for key, variable in variables.items() if model[variable - 1] > 0}


class Instance:
    """The clauses of those parts of a :class:`BooleanGraph` that were asked for: the encoder of all searches.

    Each conjunction becomes one solver variable with its three clauses (Tseitin), once per instance. The
    variables of the graph that were met are ``inputs``, with their solver variables. Those that are not
    ``open_here`` are false.
    """

    def __init__(self, graph: BooleanGraph, solver: ClauseSolver, open_here: Iterable[Lit]) -> None:
        self.graph = graph
        self.solver = solver
        self.open_here = self._unmet = frozenset(open_here)
        self.inputs: dict[Lit, int] = {}
        # The solver literals of literals of the graph, of either sign.
        self._of: dict[Lit, int] = {}

    @property
    def unmet(self) -> frozenset[Lit]:
        """The open variables that no clause is about yet."""
        if len(self._unmet) + len(self.inputs) != len(self.open_here):
            self._unmet = self.open_here - self.inputs.keys()
        return self._unmet

    def literal(self, literal: Lit) -> int:
        """The solver literal that is equal to a literal of the graph."""
        found = self._of.get(literal)
        if found is None:
            self._define(literal >> 1)
            found = self._of[literal]
        return found

    def _define(self, root: int) -> None:
        """Give a variable to a node and to all that it depends on, operands first."""
        of, operands_of, variable = self._of, self.graph.operands, self.solver.variable
        clauses: list[Clause] = []
        stack = [root]
        while stack:
            node = stack[-1]
            if 2 * node in of:
                stack.pop()
                continue
            operands = operands_of(node)
            if operands is None:
                new = variable()
                if 2 * node in self.open_here:
                    self.inputs[2 * node] = new
                else:  # the constant false, too
                    clauses.append((-new,))
            else:
                left, right = operands
                a, b = of.get(left), of.get(right)
                if a is None or b is None:
                    stack += [x >> 1 for x, known in ((left, a), (right, b)) if known is None]
                    continue
                new = variable()
                clauses += ((-new, a), (-new, b), (new, -a, -b))
            of[2 * node], of[2 * node + 1] = new, -new
            stack.pop()
        self.solver.add_all(clauses)
