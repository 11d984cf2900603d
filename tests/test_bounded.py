"""The bounded search: long paths, bounds, and ends; and the distances that it prunes by."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import brute_force as judge
import pytest
import random_automata as source
from test_brute_force import A_LEAKP, automaton

from symdipa.encodings import catalogue
from symdipa.engines.bounded import BoundedSearch, KInduction, Outcome
from symdipa.engines.explicit import ExplicitEngine
from symdipa.files.families import generate
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Status
from symdipa.runs.control import control_graph
from symdipa.runs.dataflow import order_facts
from symdipa.runs.problem import Problem
from symdipa.runs.witness import complete
from symdipa.systems.smt import SOLVERS
from symdipa.systems.system import System

LC, LP, DC, PV = Pattern
CLAUSES = 20_000
every_solver = pytest.mark.parametrize("solver", SOLVERS)


def systems_of(name: str, size: int, pattern: Pattern = LP) -> list[System]:
    control = control_graph(generate(name, size))
    return catalogue.systems(pattern, order_facts(control), "marks")


@every_solver
def test_violations_are_those_of_the_explicit_engine(solver: str):
    """A path is found where there is a violation, none where there is none; and what is found is one."""
    seen: Counter[Outcome] = Counter()
    for i in range(8 if solver == "z3" else 30):
        example = source.random_automaton(random.Random(f"bounded/{i}"), (1, 2, 2, 3), (2, 3, 4))
        control, explicit = control_graph(example), ExplicitEngine(Problem.of(example))
        for pattern in Pattern:
            for encoding in ("marks", "ghost"):
                outcomes = []
                for system in catalogue.systems(pattern, order_facts(control), encoding):
                    search = BoundedSearch(system, Limits(), solver, CLAUSES).run()
                    outcomes.append(search.outcome)
                    assert search.method == "bounded" and search.invariant is None
                    if search.outcome is Outcome.UNSAFE:
                        assert search.depth == len(search.run)
                        witness = complete(control, pattern, search.run, search.loops)
                        assert not judge.faults(example, pattern, witness.run, witness.cycles, witness.path)
                    elif search.outcome is Outcome.OPEN:
                        assert search.reason.startswith(f"the unrolling has more than {CLAUSES} clauses; ")
                present = explicit.decide(pattern).status is Status.PRESENT
                assert (Outcome.UNSAFE in outcomes) == present
                seen.update(outcomes)
    assert seen[Outcome.UNSAFE] > 5 and seen[Outcome.OPEN] > 3, seen


@every_solver
def test_the_bound_is_kept(solver: str):
    seen: Counter[Outcome] = Counter()
    for i in range(3 if solver == "z3" else 10):
        example = source.random_automaton(random.Random(f"bound/{i}"), (1, 2, 2), (2, 3))
        control = control_graph(example)
        for pattern in Pattern:
            for system in catalogue.systems(pattern, order_facts(control), "marks"):
                first = KInduction(system, Limits(), 15, "minisat").run()
                least = first.depth if first.outcome is Outcome.UNSAFE else None
                for bound in (0, 1, 3, 7, 15):
                    search = BoundedSearch(system, Limits(bound=bound), solver).run()
                    seen[search.outcome] += 1
                    found = least is not None and least <= bound
                    assert (search.outcome is Outcome.UNSAFE) == found
                    if found:
                        assert least is not None and least <= search.depth <= bound
                    elif search.outcome is Outcome.OPEN:
                        steps = "1 step" if bound == 1 else f"{bound} steps"
                        reason = f"the bound of {steps} was reached; no violation within {steps}"
                        assert (search.reason, search.depth) == (reason, bound)
    assert seen[Outcome.UNSAFE] > 2 and seen[Outcome.OPEN] > 2, seen


@pytest.mark.parametrize("solver", ["minisat", "cadical"])
def test_long_paths_are_found_in_a_few_queries(solver: str):
    (system,) = systems_of("turing-overflow", 4)
    search = BoundedSearch(system, Limits(), solver)
    found = search.run()
    assert found.outcome is Outcome.UNSAFE and found.depth > 60
    assert search.effort.queries < 6


def test_the_deadline_is_kept():
    (system,) = systems_of("pivot", 12)
    search = BoundedSearch(system, Limits(deadline=0.0), "minisat").run()
    assert search.outcome is Outcome.OPEN
    assert search.reason == "time limit reached at leaking pair, depth 0; no violation within 12 steps"


def test_nothing_bad_and_no_way():
    control = control_graph(automaton(A_LEAKP))
    (system,) = catalogue.systems(LP, order_facts(control), "marks")
    for harmless in (replace(system, bad={}), replace(system, edges=())):
        assert BoundedSearch(harmless, Limits(), "minisat").run().outcome is Outcome.SAFE
    at_start = replace(system, bad={system.control.initial: 1})
    search = BoundedSearch(at_start, Limits(bound=0), "minisat").run()
    assert (search.outcome, search.depth, search.run) == (Outcome.UNSAFE, 0, ())
    (straight,) = systems_of("pivot", 3)
    loops = {edge.source for edge in straight.edges if edge.source == edge.target}
    assert loops
    acyclic = replace(straight, edges=tuple(e for e in straight.edges if e.source != e.target))
    assert BoundedSearch(acyclic, Limits(), "minisat").run().outcome is Outcome.SAFE


def test_distances():
    """Against powers of the relation; bad states lie where marks can meet, not everywhere."""
    for name, size in (("pivot", 4), ("parity", 3), ("turing-wrap", 3)):
        for system in systems_of(name, size):
            onward = {(edge.source, edge.target) for edge in system.edges}
            now, reached = {system.control.initial}, dict[int, int]()
            to_bad: dict[int, int] = {}
            back = set(system.bad)
            for steps in range(system.control.states + 1):
                reached = {**dict.fromkeys(now, steps), **reached}
                to_bad = {**dict.fromkeys(back, steps), **to_bad}
                now = {p for q, p in onward if q in now}
                back = {q for q, p in onward if p in back}
            assert system.steps_from_start == reached and system.steps_to_bad == to_bad
    (pivot,) = systems_of("pivot", 4)
    assert min(pivot.steps_from_start[q] for q in pivot.bad) == 5


def test_where_no_run_arrives_there_are_no_axioms():
    example = automaton(A_LEAKP.rstrip() + "\n lost -> lost [n] >x <y", "q0 q1")
    control = control_graph(example)
    lost = example.index["lost"]
    found = 0
    for pattern in Pattern:
        for encoding in ("marks", "ghost"):
            for system in catalogue.systems(pattern, order_facts(control), encoding):
                found += 1
                assert list(system.axioms(lost)) == list(system.first_axioms(lost)) == []
                assert list(system.broken_axioms(lost, set(system.bits), frozenset())) == []
    assert found
