"""Every engine against the judge, and what an engine says when it does not know."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache

import brute_force as judge
import pytest
import random_automata as source
from conftest import EXAMPLES
from test_brute_force import A_LEAKP, automaton

from symdipa import analysis
from symdipa.encodings.catalogue import systems
from symdipa.engines.base import Engine, how_far
from symdipa.engines.bounded import KInduction, Outcome, Search
from symdipa.engines.explicit import ExplicitEngine
from symdipa.engines.pdr import PDR
from symdipa.engines.symbolic import SymbolicEngine
from symdipa.files import formats
from symdipa.files.families import generate
from symdipa.model.automaton import Automaton
from symdipa.model.errors import OutOfTime
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import PatternResult, Status, Verdict
from symdipa.runs.augmentation import augment
from symdipa.runs.control import control_graph
from symdipa.runs.dataflow import order_facts
from symdipa.runs.problem import Problem
from symdipa.runs.witness import complete
from symdipa.systems.invariants import InvariantRejected, check_invariant
from symdipa.systems.smt import ClauseSolver

LC, LP, DC, PV = Pattern

Make = Callable[[Automaton], Engine]


def explicit(example: Automaton) -> Engine:
    return ExplicitEngine(Problem.of(example))


def z3_marks(example: Automaton) -> Engine:
    return SymbolicEngine(Problem.of(example), "marks")


def z3_ghost(example: Automaton) -> Engine:
    return SymbolicEngine(Problem.of(example), "ghost")


ENGINES = [explicit, z3_marks, z3_ghost]
SYMBOLIC = [z3_marks, z3_ghost]
every_engine = pytest.mark.parametrize("make", ENGINES, ids=lambda make: make.__name__)
both_encodings = pytest.mark.parametrize("make", SYMBOLIC, ids=lambda make: make.__name__)


@cache
def sample(i: int) -> Automaton:
    return source.random_automaton(random.Random(f"engines/{i}"))


@cache
def judged(i: int) -> dict[Pattern, judge.Run | None]:
    return judge.decide(sample(i))


def decided(engine: Engine, limits: Limits = UNLIMITED) -> dict[Pattern, PatternResult]:
    return {pattern: engine.decide(pattern, limits) for pattern in Pattern}


def faults(example: Automaton, result: PatternResult) -> list[str]:
    """What the judge has against the witness of a result."""
    witness = result.witness
    if result.status is not Status.PRESENT or witness is None:
        consistent = witness is None and result.status is not Status.PRESENT
        return [] if consistent else ["witness and status differ"]
    return judge.faults(example, result.pattern, witness.run, witness.cycles, witness.path)


def example_file(name: str) -> Automaton:
    return formats.load(next(EXAMPLES.glob(f"*/{name}.dipa")))


def ring(n: int) -> Automaton:
    """``n`` thresholds, compared in pairs round and round: very many order states, and a leaking pair."""
    rows = [f"s{i} -> s{i + 1} [init] :x{i}" for i in range(n)]
    rows[-1] = rows[-1].replace(f"-> s{n} ", "-> r0 ")
    for i in range(n):
        step, low, high = f"r{i} -> r{(i + 1) % n}", f"x{i}", f"x{(i + 1) % n}"
        rows += [f"{step} [0] >{low} <{high}", f"{step} [1] <{low}", f"{step} [2] >{low} >{high}"]
    return automaton("\n".join(rows))


# Agreement


@every_engine
@pytest.mark.parametrize("block", range(5))
def test_engines_agree_with_the_judge(make: Make, block: int):
    seen: Counter[tuple[Pattern, Status]] = Counter()
    for i in range(block * 50, block * 50 + 50):
        for pattern, result in decided(make(sample(i))).items():
            expected = Status.ABSENT if judged(i)[pattern] is None else Status.PRESENT
            assert result.status is expected, (i, result)
            assert faults(sample(i), result) == [], (i, result)
            seen[pattern, result.status] += 1
    assert all(seen[p, s] > 2 for p in Pattern for s in (Status.PRESENT, Status.ABSENT)), seen


@every_engine
@pytest.mark.parametrize("shape", [shape for _, shape in source.SHAPES], ids=lambda shape: shape.__name__)
def test_shapes_that_are_hard(make: Make, shape: Callable[[], list[source.Step]]):
    example = source.shape(shape)
    expected = judge.decide(example)
    for pattern, result in decided(make(example)).items():
        assert (result.status is Status.PRESENT) == (expected[pattern] is not None)
        assert result.status is not Status.UNKNOWN
        assert faults(example, result) == []


@every_engine
@pytest.mark.parametrize("loop", ["x", "y"])
def test_ways_that_mark_different_variables_do_not_hide_each_other(make: Make, loop: str):
    """Both ways lead to one order state, with marks of which neither covers the other."""
    example = automaton(
        f"""q0 -> q1 [o] :x
        q1 -> q2 [o] :y
        q2 -> q3 [o] :z
        q3 -> a [l] >z
        q3 -> b [r] <z
        a -> a [l] <x
        a -> c [m] >x
        b -> b [l] <y
        b -> c [m] >y
        c -> c [l] >{loop}
        c -> d [m] <{loop}
        d -> e [n] >x
        e -> f [n] >y"""
    )
    result = make(example).decide(LP)
    assert result.status is Status.PRESENT and faults(example, result) == []


@pytest.mark.parametrize("encoding", ["marks", "ghost"])
def test_pdr_agrees_with_the_judge_and_its_invariants_are_invariants(encoding: str):
    """On its own: as part of the engine it only sees what induction leaves open."""
    proofs = paths = 0
    for i in range(20):
        control = control_graph(sample(i))
        for pattern in Pattern:
            searches = []
            for system in systems(pattern, order_facts(control), encoding):
                search = PDR(system, Limits()).run()
                searches.append(search.outcome)
                if search.outcome is Outcome.SAFE:
                    assert search.invariant is not None
                    check_invariant(system, search.invariant)
                    proofs += 1
                else:
                    assert search.outcome is Outcome.UNSAFE
                    witness = complete(control, pattern, search.run, search.loops)
                    found = PatternResult(pattern, Status.PRESENT, "pdr", witness=witness)
                    assert faults(sample(i), found) == []
                    paths += 1
            assert (Outcome.UNSAFE in searches) == (judged(i)[pattern] is not None), (i, pattern)
    assert proofs > 3 and paths > 5


def test_an_invariant_with_a_clause_too_few_is_refused():
    refused = 0
    for i in range(40):
        control = control_graph(sample(i))
        for system in systems(LP, order_facts(control), "marks"):
            proof = PDR(system, Limits()).run().invariant
            if proof is None:
                continue
            for q, cubes in proof.blocked.items():
                for k in range(len(cubes)):
                    weak = replace(proof, blocked={**proof.blocked, q: cubes[:k] + cubes[k + 1 :]})
                    try:
                        check_invariant(system, weak)
                    except InvariantRejected:
                        refused += 1
            strong = replace(proof, blocked={**proof.blocked, control.initial: (frozenset(),)})
            with pytest.raises(InvariantRejected, match="initially"):
                check_invariant(system, strong)
    assert refused > 10


# Which method decided


def test_a_pivot_has_no_leaking_pair_by_induction():
    """The dataflow cannot tell: there are repeated samples on both sides of the pivot."""
    for make in SYMBOLIC:
        result = make(generate("pivot", 2)).decide(LP)
        assert result.status is Status.ABSENT
        assert result.method == "k-induction"
        assert result.sizes["depth"] > 0


def test_a_nwf_has_no_leaking_pair_whatever_the_orders():
    """Both atoms are in one component, but no cycle leaves alone what it compares (Thm. repeatable)."""
    for make in SYMBOLIC:
        result = make(example_file("a_nwf")).decide(LP)
        assert (result.status, result.method) == (Status.ABSENT, "static")


@both_encodings
def test_proofs_without_enumeration(make: Make):
    methods: Counter[str | None] = Counter()
    for family, n in (("m-range", 10), ("k-minmax", 20)):
        engine = make(generate(family, n))
        for pattern in Pattern:
            result = engine.decide(pattern)
            assert result.status is Status.ABSENT and result.method != "explicit"
            assert "order states" not in result.sizes
            methods[result.method] += 1
    assert set(methods) <= {"static", "bounded", "k-induction", "pdr"}


def test_results_say_who_decided():
    methods: dict[str, set[str | None]] = {"explicit": set(), "z3": set()}
    for i in range(15):
        for make in ENGINES:
            for result in decided(make(sample(i))).values():
                assert result.engine == make(sample(i)).name
                assert result.encoding == {z3_marks: "marks", z3_ghost: "ghost"}.get(make)
                assert result.reason is None and result.seconds >= 0
                assert result.status is Status.ABSENT or result.method not in ("static", "k-induction")
                methods[result.engine].add(result.method)
    assert methods["explicit"] == {"explicit"}
    assert methods["z3"] >= {"static", "bounded", "k-induction"} and "explicit" not in methods["z3"]


@pytest.mark.parametrize(("engine", "told"), [("explicit", {"explicit"}), ("z3", {"z3"})])
def test_check_asks_the_engine_it_was_told_to(engine: str, told: set[str]):
    result = analysis.check(example_file("svt"), engine=engine)
    assert result.engine == engine
    assert {answer.engine for answer in result.patterns.values()} == told
    assert {answer.engine for answer in result.details} == told


def test_both_runs_both():
    result = analysis.check(example_file("svt"), engine="both", encoding="ghost")
    assert Counter(answer.engine for answer in result.details) == {"explicit": 4, "z3": 4}
    assert {answer.encoding for answer in result.details} == {None, "ghost"}
    assert result.disagreements == ()


def test_compare_runs_everything():
    result = analysis.compare(example_file("two_range_2"))
    sides = Counter((answer.engine, answer.encoding) for answer in result.details)
    names = [("explicit", None), ("z3", "marks"), ("z3", "ghost"), ("minisat", "marks")]
    assert sides == dict.fromkeys(names, 4)
    assert result.disagreements == () and result.verdict is Verdict.PRIVATE


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="no engine 'magic'"):
        analysis.check(example_file("svt"), engine="magic")
    with pytest.raises(ValueError, match="no encoding 'magic'"):
        analysis.check(example_file("svt"), engine="z3", encoding="magic")
    with pytest.raises(ValueError, match="no encoding 'magic'"):
        SymbolicEngine(Problem.of(example_file("svt")), "magic")


# Limits: unknown is never absent


def needing_depth() -> list[tuple[Automaton, Pattern, str, int]]:
    """Proofs of random automata whose induction needs some depth."""
    found = []
    for i in range(35):
        for make, encoding in ((z3_marks, "marks"), (z3_ghost, "ghost")):
            result = make(sample(i)).decide(LP)
            if result.method == "k-induction" and result.sizes["depth"] >= 2:
                found.append((sample(i), LP, encoding, result.sizes["depth"]))
    return found


def test_a_bound_below_the_proof_gives_unknown():
    cases = needing_depth()
    assert len(cases) > 3
    for example, pattern, encoding, depth in cases:
        for bound in {0, depth - 1}:
            result = SymbolicEngine(Problem.of(example), encoding).decide(pattern, Limits(bound=bound))
            assert result.status is Status.UNKNOWN and result.method is None and result.witness is None
            assert how_far(bound) in (result.reason or "")
        result = SymbolicEngine(Problem.of(example), encoding).decide(pattern, Limits(bound=depth))
        assert result.status is Status.ABSENT


def test_a_bound_below_the_violation_gives_unknown():
    cases = 0
    for i in range(25):
        for pattern in Pattern:
            found = z3_marks(sample(i)).decide(pattern)
            if found.status is not Status.PRESENT:
                continue
            depth = found.sizes["depth"]
            assert z3_marks(sample(i)).decide(pattern, Limits(bound=depth)).status is Status.PRESENT
            below = z3_marks(sample(i)).decide(pattern, Limits(bound=depth - 1))
            # The other direction of a violating path may be shorter, but nothing may be called absent.
            assert below.status is Status.UNKNOWN
            assert f"no violation within {depth - 1} steps" in (below.reason or "")
            cases += 1
    assert cases > 10


def test_pdr_stops_at_the_bound(monkeypatch: pytest.MonkeyPatch):
    """With induction cut short, PDR has to decide, and obeys the same bound."""
    monkeypatch.setattr("symdipa.engines.symbolic.INDUCTION_DEPTH", 0)
    seen: Counter[str | None] = Counter()
    for i in range(40):
        for pattern in (LP, LC):
            free, tight = (
                z3_marks(sample(i)).decide(pattern, limits) for limits in (UNLIMITED, Limits(bound=1))
            )
            assert (free.status is Status.PRESENT) == (judged(i)[pattern] is not None)
            assert faults(sample(i), free) == []
            assert tight.status in (free.status, Status.UNKNOWN)
            assert tight.status is not Status.UNKNOWN or "within 1 step" in (tight.reason or "")
            seen[free.method] += 1
            seen["cut"] += tight.status is not free.status
    assert seen["pdr"] > 15 and seen["cut"] > 15, seen


def test_nothing_is_unrolled_that_cannot_be_bad(monkeypatch: pytest.MonkeyPatch):
    """Where every path to a violation is longer than what induction goes for; a bound is kept."""
    unrolled: list[int | None] = []
    run = KInduction.run

    def spied(self: KInduction) -> Search:
        unrolled.append(self.max_depth)
        return run(self)

    monkeypatch.setattr(KInduction, "run", spied)
    for family in ("pivot", "pivot-bad", "turing-wrap", "turing-odd"):
        for size in (2, 10, 14):
            if size > 2 and family.startswith("turing"):
                continue  # these walk for long
            engine = SymbolicEngine(Problem.of(generate(family, size)), solver="minisat")
            plain = ExplicitEngine(Problem.of(generate(family, size)))
            for pattern in (LP, LC):
                assert engine.decide(pattern).status is plain.decide(pattern).status
                found = engine.decide(pattern, Limits(bound=3))
                assert found.status is not Status.PRESENT and found.reason != ""
    assert 12 in unrolled and 0 in unrolled and 3 in unrolled, unrolled


@every_engine
def test_no_time_left(make: Make):
    """What needs a search is unknown; what follows from the dataflow does not wait for the clock."""
    past = Limits(deadline=time.monotonic() - 1)
    for pattern, result in decided(make(ring(6)), past).items():
        if result.method == "static":
            assert pattern is not LP and result.status is Status.ABSENT
            continue
        assert result.status is Status.UNKNOWN and result.method is None
        assert "time limit reached" in (result.reason or "")


def test_time_runs_out_at_any_query(monkeypatch: pytest.MonkeyPatch):
    """Unknown, and the depth that is told is one that was searched."""
    control = control_graph(sample(1))
    (system,) = systems(LP, order_facts(control), "ghost")
    original, asked = ClauseSolver.check, 0
    allowed = 0

    def check(self: ClauseSolver, assumptions: Iterable[int] = ()) -> bool:
        nonlocal asked
        asked += 1
        if asked > allowed:
            raise OutOfTime(reason="time limit reached in the solver")
        return original(self, assumptions)

    monkeypatch.setattr(ClauseSolver, "check", check)
    reached = []
    while True:
        asked = 0
        search = KInduction(system, Limits(), solver="minisat").run()
        if search.outcome is Outcome.SAFE:
            break
        assert search.outcome is Outcome.OPEN
        told = search.reason.removeprefix("time limit reached in the solver; ")
        reached.append(next(depth for depth in range(-1, 100) if told == how_far(depth)))
        assert SymbolicEngine(Problem(control), "ghost", solver="minisat").decide(LP).status is Status.UNKNOWN
        allowed += 1
    assert max(reached) == search.depth - 1 > 2


def test_check_passes_its_limits_on():
    for engine in ("explicit", "z3", "both", "auto"):
        result = analysis.check(ring(6), engine=engine, timeout=1e-9)
        assert result.verdict is Verdict.UNKNOWN
        assert result.weight is None and result.witness is None
        answer = result.patterns[LP]
        assert answer.status is Status.UNKNOWN and "time limit" in (answer.reason or "")


def test_a_cap_on_nodes_gives_unknown():
    for example in (ring(3), automaton(A_LEAKP)):
        size = Problem.of(example).augmentation().nodes
        for cap in (1, size - 1):
            engine = ExplicitEngine(Problem.of(example), max_nodes=cap)
            for result in decided(engine).values():
                assert result.status is Status.UNKNOWN
                assert result.reason == f"the augmentation has more than {cap} nodes"
                assert result.sizes == {}
        enough = ExplicitEngine(Problem.of(example), max_nodes=size)
        assert all(result.status is not Status.UNKNOWN for result in decided(enough).values())


def test_order_states_share_equal_relations():
    """What one order state takes is what enumeration takes: there are millions of them."""
    graph = augment(control_graph(generate("running-max", 5)))
    relations = [relation for order in graph.order[1:] for relation in order]
    assert len({id(relation) for relation in relations}) == len(set(relations)) < len(relations)


def test_progress_is_told():
    told: list[str] = []
    limits = Limits(progress=told.append)
    explicit(ring(6)).decide(LC, limits)
    decided(z3_marks(example_file("a_leakp")), limits)
    assert any("order states" in words for words in told)
    assert any("leaking pair, depth" in words for words in told)


# Dead ends


PREFIX = "p0 -> p1 [o] :x \n p1 -> a [o] :y \n"
DEAD_ENDS = {
    "the pair is complete at the end": (
        "LP",
        "a -> a [l] >x \n a -> b [m] <x \n b -> b [n] <y \n b -> end [r] <x >y",
    ),
    "the last step outputs the end of a path": (
        "PV",
        "a -> a [l] <x \n a -> b [m] >x \n b -> end [insample] >x",
    ),
    "the only path of the system": ("PV", "a -> b [insample] >x \n b -> b [l] >y \n b -> c [m] <y >x"),
    "a loop with nowhere else to go": ("DC", "a -> b [m] \n b -> b [insample]"),
    "an exit that no run can take": (
        "",
        "a -> b [m] >x <y \n b -> c [l] >y <x \n c -> c [insample]",
    ),
    "no loop at all": ("", "a -> b [insample] >x \n b -> end [insample] <y"),
    "one transition": ("", ""),
}


@every_engine
@pytest.mark.parametrize("name", DEAD_ENDS)
def test_dead_ends(make: Make, name: str):
    patterns, rows = DEAD_ENDS[name]
    example = automaton(PREFIX + rows)
    expected = judge.decide(example)
    assert name.startswith("the only") or {p.short for p in Pattern if expected[p]} == set(patterns.split())
    for pattern, result in decided(make(example)).items():
        assert result.status is (Status.PRESENT if expected[pattern] else Status.ABSENT)
        assert faults(example, result) == []


def test_bad_states_without_successors_are_found_at_their_depth():
    """No frame may be added first: beyond the last state there is no step, hence no model."""
    control = control_graph(automaton(A_LEAKP, silent="q0 q1"))
    for encoding in ("marks", "ghost"):
        (system,) = systems(LP, order_facts(control), encoding)
        search = KInduction(system, Limits()).run()
        assert search.outcome is Outcome.UNSAFE
        end = control.target[search.run[-1]]
        assert not control.outgoing[end] and search.depth == len(search.run)
        pdr = PDR(system, Limits()).run()
        assert pdr.outcome is Outcome.UNSAFE and control.target[pdr.run[-1]] == end


@every_engine
def test_an_automaton_without_transitions(make: Make):
    from symdipa.model.automaton import State

    example = Automaton((State("only"),), "only", ())
    assert all(r.status is Status.ABSENT for r in decided(make(example)).values())
