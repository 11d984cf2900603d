"""The solver layer: unknown is never unsatisfiable, cores are assumptions, clauses are the functions."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from symdipa.model.errors import LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.problem import Problem
from symdipa.systems.boolean import FALSE, TRUE, BooleanGraph, Lit
from symdipa.systems.smt import SOLVERS, ClauseSolver, Effort, Instance, open_solver

every_solver = pytest.mark.parametrize("name", SOLVERS)

Clauses = list[list[int]]


def with_variables(name: str, count: int, clauses: Sequence[Sequence[int]] = ()) -> ClauseSolver:
    solver = open_solver(name)
    for _ in range(count):
        solver.variable()
    solver.add_all(clauses)
    return solver


def random_clauses(rng: random.Random, variables: int, count: int) -> Clauses:
    return [
        [rng.choice((-1, 1)) * rng.randint(1, variables) for _ in range(rng.choice((1, 2, 3, 3, 3)))]
        for _ in range(count)
    ]


def satisfiable(variables: int, clauses: Sequence[Sequence[int]]) -> bool:
    """By the table of all valuations."""
    rows = product((False, True), repeat=variables)
    return any(all(any(row[abs(x) - 1] == (x > 0) for x in clause) for clause in clauses) for row in rows)


def pigeons(solver: ClauseSolver, holes: int) -> None:
    """One pigeon more than there are holes: short to say, long to refute by resolution."""
    place = [[solver.variable() for _ in range(holes)] for _ in range(holes + 1)]
    solver.add_all(place)
    for hole in range(holes):
        for a in range(holes + 1):
            solver.add_all([-place[a][hole], -place[b][hole]] for b in range(a))


# Answers, models, cores


@every_solver
def test_answers_models_and_cores(name: str):
    """Against the table of all valuations, clause by clause, with changing assumptions."""
    rng = random.Random(f"smt/{name}")
    answers = {True: 0, False: 0}
    for _ in range(25):
        clauses: Clauses = []
        solver = with_variables(name, 6)
        for _ in range(8):
            more = random_clauses(rng, 6, 2)
            clauses += more
            solver.add_all(more)
            assumed = rng.sample([x for v in range(1, 7) for x in (v, -v)], rng.randrange(5))
            whole = [*clauses, *([x] for x in assumed)]
            answer = solver.check(assumed)
            assert answer == satisfiable(6, whole)
            answers[answer] += 1
            if answer:
                assert all(any(solver.value(x) for x in clause) for clause in whole)
                assert all(solver.value(v) != solver.value(-v) for v in range(1, 7))
            else:
                assert solver.core <= set(assumed)
                assert not satisfiable(6, [*clauses, *([x] for x in solver.core)])
    assert min(answers.values()) > 40, answers


@every_solver
def test_an_empty_clause_and_an_empty_problem(name: str):
    solver = with_variables(name, 2)
    assert solver.check()
    solver.add([])
    assert not solver.check()
    assert not solver.check([1]) and solver.core <= {1}


@every_solver
def test_opposite_assumptions_are_both_to_blame(name: str):
    solver = with_variables(name, 2)
    assert not solver.check([1, 2, -1])
    assert solver.core == {1, -1}
    assert solver.check([1, 2])


@every_solver
def test_assumptions_hold_for_one_check_only(name: str):
    solver = with_variables(name, 3, [[1, 2], [-1, 3]])
    assert not solver.check([-1, -2])
    assert solver.check([1]) and solver.value(3)
    assert solver.check([-1]) and solver.value(2)
    assert solver.check()


@every_solver
def test_variables_that_no_clause_mentions_have_a_value(name: str):
    solver = with_variables(name, 3, [[1]])
    late = solver.variable()
    assert solver.check()
    for variable in (2, 3, late):
        assert solver.value(variable) != solver.value(-variable)


@every_solver
def test_what_is_true_by_name(name: str):
    solver = with_variables(name, 4, [[1, 2], [-1], [-3]])
    assert solver.check([4])
    assert solver.true({10: 1, 20: 2, 30: 3, 40: 4}) == {20, 40}
    solver.add([1, -4])
    assert solver.true({40: 4}) == {40}, "the model stays when clauses are added"
    assert not solver.check([4])


@every_solver
def test_effort_is_counted(name: str):
    effort = Effort()
    solver = open_solver(name, effort=effort)
    a, b = solver.variable(), solver.variable()
    solver.add_all([[a, b], [-a]])
    solver.check()
    solver.check([-b])
    assert effort.queries == 2 and effort.clauses == 2 and effort.seconds > 0
    assert open_solver(name, effort=effort).effort is effort


def test_unknown_solvers_are_refused():
    with pytest.raises(ValueError, match="no solver 'abacus'"):
        open_solver("abacus")


# Unknown is never unsatisfiable


@every_solver
def test_no_time_left(name: str):
    solver = open_solver(name, Limits(deadline=time.monotonic() - 1))
    a = solver.variable()
    solver.add_all([[a], [-a]])
    with pytest.raises(LimitReached, match="time limit reached in the solver"):
        solver.check()


@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "cadical"])
def test_time_runs_out_during_a_query(name: str):
    """A problem that takes far longer than allowed; the answer is neither yes nor no."""
    solver = open_solver(name, UNLIMITED.within(0.3))
    pigeons(solver, 11)
    began = time.monotonic()
    with pytest.raises(LimitReached, match="in the solver"):
        solver.check()
    assert time.monotonic() - began < 20


class Undecided:
    """Stands in for z3's solver and says why it never knows."""

    def __init__(self, real: Any) -> None:
        self.real = real

    def reason_unknown(self) -> str:
        return "incomplete"

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


def never_know(monkeypatch: pytest.MonkeyPatch) -> None:
    original = z3.SolverFor
    monkeypatch.setattr(z3, "SolverFor", lambda *arguments, **more: Undecided(original(*arguments, **more)))
    monkeypatch.setattr(z3, "Z3_solver_check_assumptions", lambda *_: z3.Z3_L_UNDEF)


def test_a_solver_that_gives_up_is_believed(monkeypatch: pytest.MonkeyPatch):
    never_know(monkeypatch)
    for clauses in ([[1]], [[1], [-1]]):
        solver = with_variables("z3", 1, clauses)
        with pytest.raises(LimitReached, match="the solver gave up: incomplete"):
            solver.check()
        with pytest.raises(LimitReached):
            solver.check([1])


def test_an_engine_on_a_solver_that_gives_up_knows_nothing(monkeypatch: pytest.MonkeyPatch):
    from test_brute_force import A_LEAKP, automaton

    from symdipa.engines.symbolic import SymbolicEngine
    from symdipa.model.patterns import Pattern
    from symdipa.model.verdict import Status
    from symdipa.runs.control import control_graph

    never_know(monkeypatch)
    a_nwf = "q0 -> q1 [top] :x \n q1 -> q0 [top] >x \n q1 -> q1 [top] <x"
    for rows, silent, pattern in (
        (A_LEAKP, "q0 q1", Pattern.LEAKING_PAIR),
        (a_nwf, "q0", Pattern.LEAKING_CYCLE),
    ):
        for encoding in ("marks", "ghost"):
            control = control_graph(automaton(rows, silent))
            result = SymbolicEngine(Problem(control), encoding).decide(pattern)
            assert result.status is Status.UNKNOWN and result.witness is None
            assert "the solver gave up" in (result.reason or "")


@pytest.mark.parametrize("name", [name for name in SOLVERS if name not in ("z3", "cadical")])
def test_a_budget_that_ends_is_renewed_until_the_deadline(name: str, monkeypatch: pytest.MonkeyPatch):
    """A SAT solver's "no answer within the budget" is not taken for "no"."""
    monkeypatch.setattr("symdipa.systems.smt.SatSolver.CONFLICTS_AT_A_TIME", 1)
    solver = open_solver(name, UNLIMITED.within(60))
    pigeons(solver, 5)
    assert not solver.check()
    free = with_variables(name, 6, random_clauses(random.Random("budget"), 6, 9))
    free.limits = UNLIMITED.within(60)
    assert free.check() == with_variables("z3", 6, random_clauses(random.Random("budget"), 6, 9)).check()


# Boolean graphs and their clauses


@st.composite
def graphs(draw: st.DrawFn) -> tuple[BooleanGraph, list[Lit], list[Lit]]:
    """A random graph over four variables, with those and with all its functions."""
    graph = BooleanGraph()
    inputs = [graph.variable(f"v{i}") for i in range(4)]
    made = [FALSE, TRUE, *inputs]
    for _ in range(draw(st.integers(0, 12))):
        operation = draw(st.sampled_from([graph.conj, graph.disj, graph.implies, graph.iff, graph.ite]))
        arity = 3 if operation == graph.ite else 2
        operands = [draw(st.sampled_from(made)) ^ draw(st.integers(0, 1)) for _ in range(arity)]
        made.append(operation(*operands))
    return graph, inputs, made


@every_solver
@settings(derandomize=True, max_examples=40)
@given(drawn=graphs(), data=st.data())
def test_clauses_are_the_functions(
    name: str, drawn: tuple[BooleanGraph, list[Lit], list[Lit]], data: st.DataObject
):
    """Every function has, under every valuation, the value that the graph gives it; and no other."""
    graph, inputs, made = drawn
    solver = open_solver(name)
    instance = Instance(graph, solver, inputs)
    variables = {v: instance.literal(v) for v in inputs}
    assert instance.inputs == variables
    functions = [instance.literal(lit) for lit in made]
    row = data.draw(st.lists(st.booleans(), min_size=4, max_size=4))
    values = graph.evaluate(made, dict(zip(inputs, row, strict=True)))
    assumed = [x if value else -x for x, value in zip(variables.values(), row, strict=True)]
    assert solver.check(assumed)
    assert [solver.value(x) for x in functions] == values
    for x, value in zip(functions, values, strict=True):
        assert not solver.check([*assumed, -x if value else x])


@settings(derandomize=True, max_examples=100)
@given(graphs())
def test_a_definition_adds_no_constraint(drawn: tuple[BooleanGraph, list[Lit], list[Lit]]):
    """Functions have fresh variables; whatever the inputs are, the clauses can be satisfied."""
    graph, inputs, made = drawn
    solver = open_solver("minisat")
    instance = Instance(graph, solver, inputs)
    variables = {v: instance.literal(v) for v in inputs}
    before = [instance.literal(lit) for lit in made]
    count = solver.effort.clauses
    assert [instance.literal(lit) for lit in made] == before
    assert [instance.literal(lit ^ 1) for lit in made] == [-x for x in before]
    assert solver.effort.clauses == count, "nothing is defined twice"
    for row in product((False, True), repeat=len(inputs)):
        assert solver.check([x if value else -x for x, value in zip(variables.values(), row, strict=True)])


@every_solver
@settings(derandomize=True, max_examples=20)
@given(drawn=graphs(), row=st.lists(st.booleans(), min_size=4, max_size=4))
def test_variables_that_are_not_open_are_false_and_the_others_met_when_asked_about(
    name: str, drawn: tuple[BooleanGraph, list[Lit], list[Lit]], row: list[bool]
):
    graph, inputs, made = drawn
    closed = {v for v, is_closed in zip(inputs, row, strict=True) if is_closed}
    solver = open_solver(name)
    instance = Instance(graph, solver, {*inputs} - closed)
    assert not instance.inputs
    last = instance.literal(made[-1])
    cone = {2 * node for node in graph.cone([made[-1]])}
    assert instance.inputs.keys() == {v for v in inputs if v in cone and v not in closed}
    values = dict.fromkeys(inputs, False)
    (value,) = graph.evaluate([made[-1]], values)
    assert not solver.check([*(-x for x in instance.inputs.values()), -last if value else last])
    assert not any(solver.check([instance.literal(v)]) for v in closed)


@settings(derandomize=True, max_examples=200)
@given(graphs(), st.lists(st.booleans(), min_size=4, max_size=4))
def test_operations_mean_what_they_are_called(
    drawn: tuple[BooleanGraph, list[Lit], list[Lit]], row: list[bool]
):
    graph, inputs, made = drawn
    values = dict(zip(inputs, row, strict=True))

    def value(lit: Lit) -> bool:
        return graph.evaluate([lit], values)[0]

    for a, b in zip(made, reversed(made), strict=True):
        assert value(a ^ 1) is not value(a)
        assert value(graph.conj(a, b)) == (value(a) and value(b))
        assert value(graph.disj(a, b)) == (value(a) or value(b))
        assert value(graph.implies(a, b)) == (not value(a) or value(b))
        assert value(graph.iff(a, b)) == (value(a) == value(b))
        assert value(graph.ite(a, b, a ^ 1)) == (value(b) if value(a) else not value(a))
    assert value(graph.all(made[2:])) == all(map(value, made[2:]))
    assert value(graph.any(made[1:])) and value(graph.any(made[2:])) == any(map(value, made[2:]))
    assert graph.all([]) == TRUE and graph.any([]) == FALSE


def test_equal_conjunctions_are_one_node():
    graph = BooleanGraph()
    a, b = graph.variable("a"), graph.variable("b")
    assert graph.conj(a, b) == graph.conj(b, a)
    assert graph.conj(a, a) == a and graph.conj(a, a ^ 1) == FALSE
    assert graph.conj(a, TRUE) == graph.conj(TRUE, a) == a and graph.conj(FALSE, a) == FALSE
    assert graph.variable("a") != a, "names are for people"
    assert graph.cone([graph.conj(a, b)]) == [a >> 1, b >> 1, graph.conj(a, b) >> 1]


def test_deep_graphs_are_no_danger():
    graph = BooleanGraph()
    inputs = [graph.variable(f"v{i}") for i in range(5000)]
    chain = FALSE
    for v in inputs:
        chain = graph.iff(chain, v)
    values = dict.fromkeys(inputs, True)
    assert graph.evaluate([chain], values) == [False]
    solver = open_solver("minisat")
    instance = Instance(graph, solver, inputs)
    assert solver.check([instance.literal(chain)])
