"""``auto``: which way is tried first, when it turns to the next, and what it says about it."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import brute_force as judge
import pytest
import random_automata as source
from test_brute_force import A_LEAKP, automaton

from symdipa import analysis
from symdipa.engines import lineup as module
from symdipa.engines import processes
from symdipa.engines.auto import AutoEngine
from symdipa.engines.base import Engine
from symdipa.engines.explicit import ExplicitEngine
from symdipa.engines.lineup import max_nodes
from symdipa.engines.sliced import METHODS, SlicedEngine
from symdipa.engines.symbolic import LongRuns, SymbolicEngine
from symdipa.files.families import generate
from symdipa.model.automaton import Automaton
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.options import SOLVERS
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import PatternResult, Status, Verdict
from symdipa.runs import problem as problem_module
from symdipa.runs.control import control_graph
from symdipa.runs.problem import Problem

LC, LP, DC, PV = Pattern

LEAKP = automaton(A_LEAKP, silent="q0 q1")
NODES = Problem.of(LEAKP).augmentation().nodes

TWO = """
    p0 -> p1 [o] :x
    p1 -> p2 [o] :y
    p2 -> p3 [o] :u
    p3 -> a [o] >u :v
    a -> a [l] >x
    a -> b [m] <x
    b -> b [n] <y
    b -> c [r] <x >y
    c -> c [r] >u <v
"""
"""Two components: a leaking pair over ``x`` and ``y``, a harmless loop over ``u`` and ``v``."""


@pytest.fixture(autouse=True)
def one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one core there is no race: it is certain who answers."""
    monkeypatch.setattr(processes, "cores", lambda: 1)


class Recorded:
    """The engines of an automaton, with limits of their own, and a record of who was asked what."""

    def __init__(
        self,
        example: Automaton,
        cap: int | None = None,
        explicit: Limits = UNLIMITED,
        symbolic: Limits = UNLIMITED,
        solver: str = "minisat",
    ) -> None:
        problem = Problem.of(example)
        self.asked: list[str] = []
        first = ExplicitEngine(problem, cap)
        second = SymbolicEngine(problem, "marks", solver)
        self.note(second, "decide_statically", "static", symbolic)
        self.note(first, "decide", "explicit", explicit)
        self.note(second, "decide", "symbolic", symbolic)
        self.engine = AutoEngine(first, second)

    def note(self, engine: Engine, method: str, name: str, limits: Limits) -> None:
        original: Callable[[Pattern, Limits], Any] = getattr(engine, method)

        def noted(pattern: Pattern, _: Limits) -> Any:
            self.asked.append(name)
            return original(pattern, limits)

        setattr(engine, method, noted)

    def decide(self, pattern: Pattern) -> tuple[list[str], PatternResult]:
        self.asked.clear()
        return self.asked, self.engine.decide(pattern)


def statuses(result: analysis.Result) -> dict[Pattern, Status]:
    return {pattern: answer.status for pattern, answer in result.patterns.items()}


def truth(example: Automaton) -> dict[Pattern, Status]:
    return {p: Status.PRESENT if run else Status.ABSENT for p, run in judge.decide(example).items()}


@cache
def product(i: int) -> Automaton:
    return source.random_product(random.Random(f"auto/{i}"))


# One way after the other


def test_static_arguments_come_first():
    """Then nobody else is asked, whatever the caps and limits."""
    for cap in (None, 1):
        asked, answer = Recorded(LEAKP, cap).decide(LC)
        assert asked == ["static"]
        assert answer.status is Status.ABSENT and answer.witness is None and answer.reason is None
        assert (answer.engine, answer.method) == ("dataflow", "static")


def test_enumeration_comes_second():
    asked, answer = Recorded(LEAKP).decide(LP)
    assert asked == ["static", "explicit"]
    assert answer.status is Status.PRESENT
    assert (answer.engine, answer.method, answer.encoding) == ("explicit", "explicit", None)
    assert answer.sizes == {"order states": NODES}


@pytest.mark.parametrize("solver", SOLVERS)
def test_symbolic_search_comes_last_and_bears_the_name_of_its_solver(solver: str):
    asked, answer = Recorded(LEAKP, NODES - 1, solver=solver).decide(LP)
    assert asked == ["static", "explicit", "symbolic"]
    assert answer.status is Status.PRESENT and answer.witness is not None and answer.reason is None
    assert (answer.engine, answer.method, answer.encoding) == (solver, "bounded", "marks")
    assert "order states" not in answer.sizes


def test_the_cap_is_met_exactly():
    assert Recorded(LEAKP, NODES).decide(LP)[1].engine == "explicit"
    assert Recorded(LEAKP, NODES - 1).decide(LP)[1].engine == "minisat"


def test_seconds_are_those_of_all_that_was_tried(monkeypatch: pytest.MonkeyPatch):
    engine = Recorded(LEAKP, 1).engine
    for part, seconds in ((engine.explicit, 2.0), (engine.symbolic, 3.0)):
        original = part.decide
        monkeypatch.setattr(
            part,
            "decide",
            lambda p, limits, original=original, s=seconds: replace(original(p, limits), seconds=s),
        )
    assert engine.decide(LP).seconds == 5.0


def test_a_cap_that_was_hit_is_not_tried_again(monkeypatch: pytest.MonkeyPatch):
    tried = Counter[str]()
    original = problem_module.augment

    def augment(*arguments: Any) -> Any:
        tried["augment"] += 1
        return original(*arguments)

    monkeypatch.setattr(problem_module, "augment", augment)
    recorded = Recorded(generate("u-range", 4), 5)
    for pattern in Pattern:
        assert recorded.decide(pattern)[1].status is Status.ABSENT
    assert recorded.decide(LP)[0] == ["static", "explicit", "symbolic"]
    assert tried["augment"] == 1


def test_every_answer_is_one_of_the_three():
    seen: Counter[tuple[str, str | None]] = Counter()
    for i in range(25):
        example = source.random_automaton(random.Random(f"ways/{i}"))
        expected = truth(example)
        for cap in (None, 20, 1):
            recorded = Recorded(example, cap)
            for pattern in Pattern:
                asked, answer = recorded.decide(pattern)
                assert answer.status is expected[pattern]
                way = {"dataflow": "static", "explicit": "explicit", "minisat": "symbolic"}[answer.engine]
                assert asked[-1] == way and asked == ["static", "explicit", "symbolic"][: len(asked)]
                assert (way == "symbolic") == (answer.encoding == "marks" and answer.engine == "minisat")
                if witness := answer.witness:
                    faults = judge.faults(example, pattern, witness.run, witness.cycles, witness.path)
                    assert faults == []
                seen[answer.engine, answer.method] += 1
    assert {engine for engine, _ in seen} == {"dataflow", "explicit", "minisat"}
    assert {method for engine, method in seen if engine == "dataflow"} == {"static"}
    assert {method for engine, method in seen if engine == "explicit"} == {"explicit"}
    assert {"bounded", "k-induction"} <= {m for e, m in seen if e == "minisat"} <= set(METHODS) - {"explicit"}


# Not knowing


def test_reasons_of_both_are_told():
    asked, answer = Recorded(LEAKP, 3, symbolic=Limits(bound=2)).decide(LP)
    assert asked == ["static", "explicit", "symbolic"]
    assert answer.status is Status.UNKNOWN and answer.witness is None and answer.method is None
    assert answer.engine == "minisat"
    assert answer.reason == (
        "explicit: the augmentation has more than 3 nodes; minisat: no violation within 2 steps,"
        " and no proof by induction of that depth"
    )
    assert answer.sizes["depth"] == 2 and answer.sizes["unrolling clauses"] > 0


def test_an_answer_of_either_is_enough():
    past = Limits(deadline=time.monotonic() - 1)
    assert Recorded(LEAKP, 3, symbolic=Limits(bound=9)).decide(LP)[1].status is Status.PRESENT
    assert Recorded(LEAKP, symbolic=Limits(bound=1)).decide(LP)[1].status is Status.PRESENT
    late = Recorded(generate("u-range", 4), explicit=past)
    assert [late.decide(p)[1].status for p in Pattern] == [Status.ABSENT] * 4


def test_no_time_for_the_dataflow():
    past = Limits(deadline=time.monotonic() - 1)
    asked, answer = Recorded(LEAKP, symbolic=past).decide(LP)
    assert asked == ["static"]
    assert answer.status is Status.UNKNOWN
    assert (answer.engine, answer.reason) == ("dataflow", "time limit reached at dataflow")


def test_no_time_after_the_dataflow(monkeypatch: pytest.MonkeyPatch):
    recorded = Recorded(LEAKP, 1, symbolic=Limits(deadline=time.monotonic() - 1))
    monkeypatch.setattr(recorded.engine.symbolic, "decide_statically", lambda *_: None)
    asked, answer = recorded.decide(LP)
    assert asked == ["explicit", "symbolic"]
    assert answer.status is Status.UNKNOWN and answer.engine == "minisat"
    assert (answer.reason or "").startswith("explicit: the augmentation has more than 1 nodes; minisat: time")


# The cap


def test_the_cap_shrinks_with_the_variables():
    few, many, none = (control_graph(e) for e in (LEAKP, generate("m-range", 10), automaton("a -> a [o]")))
    assert max_nodes(few, 80) == 40 and max_nodes(many, 80) == 4 and max_nodes(none, 80) == 80
    assert max_nodes(few, 3) == 1 and max_nodes(many, 3) == 1


def test_check_keeps_to_the_cap(monkeypatch: pytest.MonkeyPatch):
    for cells, engine in ((2 * NODES, "explicit"), (2 * NODES - 1, "minisat")):
        monkeypatch.setattr(module, "FIRST_CELLS", cells)
        for slicing in (True, False):  # there is one component: the slice is the whole
            result = analysis.check(LEAKP, slicing=slicing)
            assert result.patterns[LP].engine == engine
            assert result.verdict is Verdict.NOT_PRIVATE
            assert result.engine == f"dataflow+{engine}"
    assert analysis.check(LEAKP, solver="z3").patterns[LP].engine == "z3"


def test_each_slice_has_a_cap_of_its_own(monkeypatch: pytest.MonkeyPatch):
    """Above the cap as a whole, but not one component at a time."""
    example = automaton(TWO)
    whole = Problem.of(example).augmentation().nodes * 4
    monkeypatch.setattr(module, "FIRST_CELLS", whole - 1)
    assert analysis.check(example, slicing=False).patterns[LP].engine == "minisat"
    assert analysis.check(example, slicing=True).patterns[LP].engine == "explicit"
    monkeypatch.setattr(module, "FIRST_CELLS", whole)
    assert analysis.check(example, slicing=False).patterns[LP].engine == "explicit"


@pytest.mark.parametrize("slicing", [True, False])
def test_the_cap_decides_who_answers_and_not_what(monkeypatch: pytest.MonkeyPatch, slicing: bool):
    seen: Counter[str] = Counter()
    for i in range(25):
        expected = truth(product(i))
        for cells in (400_000, 120, 30, 1):
            monkeypatch.setattr(module, "FIRST_CELLS", cells)
            result = analysis.check(product(i), slicing=slicing, relational=False)
            assert statuses(result) == expected, (i, cells)
            told = dict.fromkeys(answer.engine for answer in result.patterns.values())
            assert result.engine == "+".join(told) and "auto" not in told
            for answer in result.patterns.values():
                assert {"dataflow": "static", "explicit": "explicit"}.get(answer.engine, answer.method) == (
                    answer.method
                )
                assert answer.engine != "minisat" or answer.encoding == "marks"
            seen.update([*told])
            seen["both"] += {"explicit", "minisat"} <= set(told)
    assert min(seen[name] for name in ("dataflow", "explicit", "minisat")) > 1, seen
    assert slicing or not seen["both"]  # one automaton is enumerated or it is not


# Slices


class Told(Engine):
    """Says what it was told to say about whatever it is asked."""

    def __init__(self, status: Status, name: str, method: str | None, **sizes: int) -> None:
        self.status, self.name, self.method, self.sizes = status, name, method, sizes

    def decide(self, pattern: Pattern, limits: Limits = UNLIMITED) -> PatternResult:
        reason = f"{self.name} gave up" if self.status is Status.UNKNOWN else None
        return PatternResult(
            pattern, self.status, self.name, self.method, reason=reason, sizes=self.sizes, seconds=1.0
        )


def loops(*names: str) -> Automaton:
    """One component for each name, and a loop that leaks on each."""
    rows = [f"p{x} -> {y} [o] :{x}" for x, y in zip(names, [*(f"p{y}" for y in names[1:]), "a"], strict=True)]
    rows += [f"{x} -> {y} [l] >{y} :{y}" for x, y in pairwise(("a", *names))]
    return automaton("\n".join([*rows, f"{names[-1]} -> a [b]"]))


def together(example: Automaton, **told: Engine) -> PatternResult:
    """The answer about leaking cycles, where the slice for a variable is decided as told."""

    whole = Problem.of(example)

    def make(part: Problem) -> Engine:
        if part is whole or part.control.variables > 1:
            return Told(Status.UNKNOWN, "auto", None)
        return told[part.control.variable_names[0]]

    return SlicedEngine(whole, make).decide(LC)


def test_slices_that_are_all_absent_are_told_by_the_dearest():
    example = loops("x", "y", "z")
    answer = together(
        example,
        x=Told(Status.ABSENT, "explicit", "explicit", **{"order states": 7}),
        y=Told(Status.ABSENT, "minisat", "pdr", depth=4, clauses=9),
        z=Told(Status.ABSENT, "dataflow", "static"),
    )
    assert (answer.status, answer.engine, answer.method) == (Status.ABSENT, "minisat", "pdr")
    assert answer.sizes == {"slices": 3, "order states": 7, "depth": 4, "clauses": 9}
    for cheap, dear in pairwise(METHODS):
        for first, second in ((cheap, dear), (dear, cheap)):
            ways = {"x": first, "y": second, "z": cheap}
            told = {x: Told(Status.ABSENT, f"by {way}", way, depth=1) for x, way in ways.items()}
            answer = together(example, **told)
            assert (answer.engine, answer.method) == (f"by {dear}", dear)


def test_one_open_slice_leaves_it_open():
    for open_one in "xyz":
        told: dict[str, Engine] = {x: Told(Status.ABSENT, "explicit", "explicit") for x in "xyz"}
        told[open_one] = Told(Status.UNKNOWN, "minisat", None)
        answer = together(loops("x", "y", "z"), **told)
        assert (answer.status, answer.engine) == (Status.UNKNOWN, "minisat")
        assert answer.reason == "minisat gave up" and answer.method is None


@pytest.mark.parametrize("rows", [("x y", "u v"), ("u v", "x y")])
def test_a_violation_is_told_although_another_slice_is_open(
    monkeypatch: pytest.MonkeyPatch, rows: tuple[str, str]
):
    """Whichever comes first: the other slice stays open at a bound, and nobody minds."""
    monkeypatch.setattr(module, "FIRST_CELLS", 1)
    example = automaton(slow_and_quick(*rows))
    assert statuses(analysis.check(example, slicing=False))[LC] is Status.PRESENT
    result = analysis.check(example, bound=7, patterns=["LC"])
    assert result.patterns[LC].status is Status.PRESENT
    assert (answer := result.patterns[LC]).witness is not None and answer.engine == "minisat"
    control = control_graph(example)
    answers = {
        x: SlicedEngine(Problem(control), lambda part: SymbolicEngine(part, "marks", "minisat"))
        ._decide_from(LC, 3 << control.variable_names.index(x), Limits(bound=7))
        .status
        for x in ("x", "u")
    }
    assert answers == {"x": Status.UNKNOWN, "u": Status.PRESENT}


def slow_and_quick(first: str, second: str) -> str:
    """On ``x``, ``y`` a loop that leaks far away; on ``u``, ``v`` one that leaks soon."""
    a, b, c, d = (*first.split(), *second.split())
    prefix = [f"p{i} -> p{i + 1} [o] :{x}" for i, x in enumerate((a, b, c, d))]
    quick = ["p4 -> p4 [l] >u :u", "p4 -> s0 [m] <u >v"]
    slow = [f"s{i} -> s{i + 1} [n] >x <y" for i in range(9)]
    return "\n".join([*prefix, *quick, *slow, "s9 -> s9 [n] >x :x"])


def test_unknown_reasons_of_slices(monkeypatch: pytest.MonkeyPatch):
    """Of the slice that stayed open, with both of its reasons."""
    monkeypatch.setattr(module, "FIRST_CELLS", 1)
    example = automaton(TWO)
    result = analysis.check(example, bound=1)
    assert result.verdict is Verdict.UNKNOWN and result.witness is None and result.weight is None
    answer = result.patterns[LP]
    assert answer.status is Status.UNKNOWN and answer.engine == "minisat"
    assert (answer.reason or "").startswith("explicit: the augmentation has more than 1 nodes; minisat: no")
    assert "within 1 step" in (answer.reason or "")
    assert result.engine == "dataflow"  # that is who decided something
    result = analysis.check(example, timeout=1e-9)
    assert result.verdict is Verdict.UNKNOWN
    assert all("time limit" in (a.reason or "") for a in result.patterns.values() if a.reason)
    assert result.patterns[LP].status is Status.UNKNOWN


def test_no_slice_left_is_decided_by_the_dataflow():
    example = automaton(TWO)
    result = analysis.check(example, patterns=["LC"])
    answer = result.patterns[LC]
    assert (answer.status, answer.engine, answer.method) == (Status.ABSENT, "dataflow", "static")
    asked = analysis.check(example, engine="z3", patterns=["LC"]).patterns[LC]
    assert (asked.status, asked.engine, asked.method) == (Status.ABSENT, "z3", "static")


def test_with_cores_to_spare_long_runs_are_looked_for_as_well(monkeypatch: pytest.MonkeyPatch):
    """Where its rivals get nowhere, the search for long runs finds the violation, and is named for it."""
    from symdipa.engines import symbolic as symbolic_module

    monkeypatch.setattr(processes, "cores", lambda: 4)
    monkeypatch.setattr(module, "FIRST_CELLS", 100)

    def nowhere(*_):
        raise processes.LimitReached(processes.Limit.SIZE, "nowhere")

    monkeypatch.setattr(symbolic_module.SymbolicEngine, "_search", nowhere)
    monkeypatch.setattr(problem_module, "augment", nowhere)
    bad = generate("pivot-bad", 6)
    found = analysis.check(bad, patterns=[LP])
    assert found.patterns[LP].status is Status.PRESENT and found.patterns[LP].method == "bounded"
    witness = found.patterns[LP].witness
    assert witness is not None
    assert not judge.faults(bad, LP, tuple(witness.run), witness.cycles, witness.path)


@pytest.mark.parametrize("seed", range(60))
def test_long_runs_agree_with_the_judge(seed: int):
    """It may come to no answer, and says so; an answer is right."""
    example = source.random_automaton(random.Random(seed), 3)
    truth = judge.decide(example)
    for pattern in Pattern:
        found = LongRuns(Problem.of(example), solver="minisat").decide(pattern, Limits(bound=12))
        right = Status.PRESENT if truth[pattern] else Status.ABSENT
        assert found.status in (right, Status.UNKNOWN) and found.engine == "minisat for long runs"
