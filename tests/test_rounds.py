"""Leaking cycles by rounds: the count against an enumeration, the decision against the judge."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterable
from functools import cache

import brute_force as judge
import pytest
import random_automata as source

from symdipa.encodings.rounds import RoundSystems, components_without, near
from symdipa.engines.base import how_far
from symdipa.engines.bounded import Outcome, Search
from symdipa.engines.explicit import ExplicitEngine
from symdipa.engines.liveness import Liveness
from symdipa.engines.pdr import PDR
from symdipa.engines.symbolic import SymbolicEngine
from symdipa.files.families import generate
from symdipa.model.automaton import Automaton
from symdipa.model.errors import OutOfTime
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Status
from symdipa.runs.control import Control, control_graph
from symdipa.runs.dataflow import may_have_leaking_cycle, order_facts
from symdipa.runs.order import initial, members, update
from symdipa.runs.problem import Problem
from symdipa.runs.witness import complete
from symdipa.systems.invariants import check_invariant
from symdipa.systems.smt import ClauseSolver

LC = Pattern.LEAKING_CYCLE


@cache
def sample(i: int) -> Automaton:
    """Every fifth is a product: two automata that take turns."""
    rng = random.Random(f"rounds/{i}")
    if i % 5 == 4:
        return source.random_product(rng, (1, 2), (2, 3))
    return source.random_automaton(rng)


def liveness(example: Automaton, solver: str = "minisat", limits: Limits | None = None) -> Liveness:
    control = control_graph(example)
    return Liveness(control, order_facts(control), limits or Limits(), solver)


def shape(name: str) -> Automaton:
    return source.shape(next(make for _, make in source.SHAPES if make.__name__ == name))


def most_rounds(control: Control, inside: frozenset[int], x: int, cap: int) -> int:
    """How many rounds of ``x`` in a row some run makes inside, by enumeration; at most ``cap`` are told."""
    begin = (control.initial, initial(control.variables), False, 0)
    seen, todo, most = {begin}, [begin], 0
    while todo:
        q, order, assigned, rounds = todo.pop()
        most = max(most, rounds)
        for t in control.outgoing[q]:
            step, p = control.steps[t], control.target[t]
            following = update(order, step, control.live[p])
            if following is None:
                continue
            ends = t in inside and assigned and step.used >> x & 1
            waits = t in inside and (step.asg >> x & 1 or (assigned and not ends))
            count = min(cap, rounds + bool(ends)) if t in inside else 0
            after = (p, following, bool(waits), count)
            if after not in seen:
                seen.add(after)
                todo.append(after)
    return most


# The systems


def test_systems_count_rounds():
    seen: Counter[Outcome] = Counter()
    for i in range(150):
        control = control_graph(sample(i))
        facts = order_facts(control)
        systems = RoundSystems(facts)
        for inside in components_without(control, [t for t, c in enumerate(facts.cyclic) if c]):
            for x in members(control.conflicts(inside)):
                most = most_rounds(control, inside, x, cap=3)
                for rounds in (1, 2, 3):
                    system = systems.system(inside, x, rounds)
                    search = PDR(system, Limits(), "minisat").run()
                    assert (search.outcome is Outcome.UNSAFE) == (most >= rounds), (i, x, rounds)
                    if search.invariant is not None:
                        check_invariant(system, search.invariant, solver_name="minisat")
                    seen[search.outcome] += 1
    assert seen[Outcome.SAFE] > 10 and seen[Outcome.UNSAFE] > 50, seen


def test_rounds_are_counted_anew_outside():
    """A transition of the loop is left out: no rounds in a row, although the loop goes round."""
    control = control_graph(shape("_swap"))
    facts = order_facts(control)
    (loop,) = components_without(control, [t for t, c in enumerate(facts.cyclic) if c])
    x = next(members(control.conflicts(loop)))
    for inside in [loop - {t} for t in loop if control.steps[t].used >> x & 1]:
        assert most_rounds(control, loop, x, cap=2) == 2 and most_rounds(control, inside, x, cap=1) == 0
        system = RoundSystems(facts).system(inside, x, 1)
        assert PDR(system, Limits(), "minisat").run().outcome is Outcome.SAFE


def test_fewer_variables_allow_more_rounds():
    fewer = 0
    for i in range(200):
        control = control_graph(sample(i))
        facts = order_facts(control)
        for inside in components_without(control, [t for t, c in enumerate(facts.cyclic) if c]):
            for x in members(control.conflicts(inside)):
                part = control.restricted_to(near(control, inside, x))
                exact, loose = (most_rounds(c, inside, x, cap=3) for c in (control, part))
                assert loose >= exact, (i, x)
                fewer += near(control, inside, x) != (1 << control.variables) - 1
    assert fewer > 10


# The decision


def judged(example: Automaton, search: Search) -> Outcome:
    """What judge and explicit engine say; a run found is completed to a witness that the judge takes."""
    merged = judge.Merged(example, 200_000)
    present = merged.leaking_cycle() is not None
    assert (ExplicitEngine(Problem.of(example)).decide(LC).status is Status.PRESENT) == present
    if search.run:
        witness = complete(control_graph(example), LC, search.run, search.loops)
        assert judge.faults(example, LC, witness.run, witness.cycles, witness.path) == []
    return Outcome.UNSAFE if present else Outcome.SAFE


@pytest.mark.parametrize("block", range(8))
def test_rounds_agree_with_the_judge(block: int):
    seen: Counter[Outcome] = Counter()
    for i in range(block * 150, block * 150 + 150):
        search = liveness(sample(i)).run()
        assert search.outcome is judged(sample(i), search), i
        seen[search.outcome] += may_have_leaking_cycle(order_facts(control_graph(sample(i))))
    assert seen[Outcome.UNSAFE] > 20, seen


def test_rounds_agree_with_the_judge_on_z3():
    asked = [i for i in range(200) if may_have_leaking_cycle(order_facts(control_graph(sample(i))))]
    for i in asked:
        search = liveness(sample(i), "z3").run()
        assert search.outcome is judged(sample(i), search), i
    assert len(asked) > 40


@pytest.mark.parametrize("near_first", [True, False])
def test_proofs_agree_with_the_judge(monkeypatch: pytest.MonkeyPatch, near_first: bool):
    """Look for those without a leaking cycle, which are rare, and prove them in both ways."""
    if not near_first:
        monkeypatch.setattr(Liveness, "_near_proof", lambda self, effort, inside: None)
    else:
        monkeypatch.setattr("symdipa.engines.liveness.FRAMES", 1)
    proofs: Counter[int] = Counter()
    for i in range(1200, 2400):
        example = sample(i)
        if not may_have_leaking_cycle(order_facts(control_graph(example))):
            continue
        if ExplicitEngine(Problem.of(example)).decide(LC).status is Status.ABSENT:
            search = liveness(example).run()
            assert search.outcome is judged(example, search) is Outcome.SAFE, i
            assert search.sizes["proofs"] > 0 and search.method == "pdr"
            proofs[search.sizes["rounds"]] += 1
    assert sum(proofs.values()) > 10, proofs


def test_a_round_need_not_be_a_leaking_cycle():
    """Two rounds are feasible and no more, so one is made and two in a row inside the loop are not."""
    example = shape("_twice_only")
    control = control_graph(example)
    facts = order_facts(control)
    (inside,) = components_without(control, [t for t, c in enumerate(facts.cyclic) if c])
    counts = {x: most_rounds(control, inside, x, cap=9) for x in members(control.conflicts(inside))}
    assert max(counts.values()) >= 1
    for x, most in counts.items():
        for rounds, outcome in ((most, Outcome.UNSAFE), (most + 1, Outcome.SAFE)):
            if rounds:
                system = RoundSystems(facts).system(inside, x, rounds)
                assert PDR(system, Limits(), "minisat").run().outcome is outcome
    search = liveness(example).run()
    assert search.outcome is Outcome.SAFE and search.sizes["rounds"] == 2


@pytest.mark.parametrize("family", ["turing-overflow", "turing-odd"])
def test_a_counter_that_stops_takes_few_rounds(family: str):
    """The lasso's proof would have to speak of two configurations at once."""
    search = liveness(generate(family, 8)).run()
    assert search.outcome is Outcome.SAFE
    assert search.sizes["proofs"] == {"turing-overflow": 8, "turing-odd": 7}[family]
    assert search.sizes["rounds"] <= 4


def test_a_counter_that_wraps_is_walked():
    """Its only leaking cycle takes ``2**(n + 2) - 4`` steps."""
    example = generate("turing-wrap", 8)
    search = liveness(example).run()
    assert search.outcome is Outcome.UNSAFE and search.loops[0].taken
    assert len(search.loops[0].steps) == 2**10 - 4
    result = SymbolicEngine(Problem.of(example), solver="minisat").decide(LC)
    assert result.status is Status.PRESENT and result.witness is not None
    assert result.sizes["depth"] == len(result.witness.run) and result.sizes["rounds"] >= 1


# Limits


def test_a_bound_is_about_the_lasso():
    """Rounds would find more than the bound allows."""
    control = control_graph(generate("turing-wrap", 3))
    free = SymbolicEngine(Problem(control), solver="minisat").decide(LC)
    assert free.status is Status.PRESENT and free.sizes["depth"] > 20 and "rounds" in free.sizes
    bounded = SymbolicEngine(Problem(control), solver="minisat").decide(LC, Limits(bound=20))
    assert bounded.status is Status.UNKNOWN and how_far(20) in (bounded.reason or "")


def test_no_time_left():
    search = liveness(generate("turing-overflow", 3), limits=Limits(deadline=time.monotonic() - 1)).run()
    assert search.outcome is Outcome.OPEN and "time limit reached" in search.reason


def test_time_runs_out_during_a_walk():
    """``check`` is asked all the way."""
    told: list[str] = []
    search = liveness(generate("turing-wrap", 6), limits=Limits(progress=told.append)).run()
    assert search.outcome is Outcome.UNSAFE
    assert any(words == "walk of 256 steps" for words in told)


@pytest.mark.parametrize("family", ["turing-overflow", "turing-wrap"])
def test_time_runs_out_at_any_query(monkeypatch: pytest.MonkeyPatch, family: str):
    """Open, with how far the lasso got, until there is time enough."""
    control = control_graph(generate(family, 3))
    original, asked, allowed = ClauseSolver.check, 0, 0

    def check(self: ClauseSolver, assumptions: Iterable[int] = ()) -> bool:
        nonlocal asked
        asked += 1
        if asked > allowed:
            raise OutOfTime(reason="time limit reached in the solver")
        return original(self, assumptions)

    monkeypatch.setattr(ClauseSolver, "check", check)
    seen: Counter[Status] = Counter()
    while not seen[Status.ABSENT] + seen[Status.PRESENT]:
        asked = 0
        result = SymbolicEngine(Problem(control), solver="minisat").decide(LC)
        seen[result.status] += 1
        assert result.status is not Status.UNKNOWN or "time limit reached" in (result.reason or "")
        if "rounds" in result.sizes and result.status is Status.UNKNOWN:
            assert how_far(result.sizes["depth"]) in (result.reason or "")
            seen["rounds"] += 1
        allowed += 1 + allowed // 10
    assert seen["rounds"] > 1 and seen[Status.UNKNOWN] > 10
