"""The answer as a whole: what a violation proves, what agreement is worth, what else is reported."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product

import brute_force as judge
import pytest
import random_automata as source
from conftest import EXAMPLES
from test_brute_force import A_LEAKP, TWO_RANGE, automaton

from symdipa import analysis
from symdipa.engines.explicit import ExplicitEngine
from symdipa.engines.sliced import SlicedEngine
from symdipa.engines.symbolic import SymbolicEngine
from symdipa.files import formats
from symdipa.files.families import generate
from symdipa.model.automaton import Automaton
from symdipa.model.errors import LimitReached, NoteKind
from symdipa.model.limits import Limits
from symdipa.model.options import EVERY_METHOD
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import (
    Answers,
    Bounds,
    PatternResult,
    Result,
    Source,
    Status,
    Verdict,
    Witness,
    decide,
)
from symdipa.runs import properties
from symdipa.runs.control import control_graph
from symdipa.runs.problem import Problem
from symdipa.runs.properties import output_distinct, witness_distinct

LC, LP, DC, PV = Pattern
ENGINES = ("explicit", "z3", "both", "auto")

every_engine = pytest.mark.parametrize("engine", ENGINES)


def example_file(name: str) -> Automaton:
    return formats.load(next(EXAMPLES.glob(f"*/{name}.dipa")))


def sample(i: int) -> Automaton:
    return source.random_automaton(random.Random(f"verdict/{i}"))


def with_means(example: Automaton, **means: int) -> Automaton:
    """The automaton with other means; a state that is not named keeps its own."""
    states = (replace(s, mu=Fraction(means.get(s.name, s.mu))) for s in example.states)
    return replace(example, states=tuple(states))


# What follows from answers and bounds


def said(*statuses: Status | None) -> Answers:
    """The answers of one engine about the four patterns; ``None``: it was not asked."""
    asked = [(p, s) for p, s in zip(Pattern, statuses, strict=True) if s is not None]
    return Answers(({p: PatternResult(p, s, "explicit") for p, s in asked},))


def proved(*methods: str) -> Bounds:
    return Bounds(from_above=dict.fromkeys(methods, Fraction(1)))


A, P, U = Status.ABSENT, Status.PRESENT, Status.UNKNOWN
EVERY_ANSWER = [said(*statuses) for statuses in product((A, P, U, None), repeat=4)]
EVERY_BOUND = [
    None,
    proved(),
    *map(proved, EVERY_METHOD),
    proved("corollary", "exact"),
    proved(*EVERY_METHOD),
]


@pytest.mark.parametrize(
    ("answers", "distinct", "methods", "expected"),
    [
        ((A, A, A, A), None, None, Verdict.PRIVATE),
        ((A, A, A, A), None, (), Verdict.PRIVATE),  # whether or not there is a bound
        ((A, A, A, A), None, ("corollary",), Verdict.PRIVATE),
        # Nobody else shows what the violation shows: no bound makes up for that.
        ((A, P, A, A), True, None, Verdict.NOT_PRIVATE),
        ((U, P, None, A), True, None, Verdict.NOT_PRIVATE),
        # Others do, or it is open; pairs of runs may still prove privacy, single runs cannot.
        ((A, P, A, A), False, None, Verdict.NOT_WELL_FORMED),
        ((A, P, A, A), None, None, Verdict.NOT_WELL_FORMED),
        ((U, P, None, A), False, None, Verdict.NOT_WELL_FORMED),
        ((A, P, A, A), False, ("relational",), Verdict.PRIVATE),
        ((A, P, A, A), None, ("relational",), Verdict.PRIVATE),
        ((A, P, A, A), False, ("corollary", "run", "alignment", "exact"), Verdict.NOT_WELL_FORMED),
        # Unknown is never absent, nor is what nobody was asked about.
        ((A, U, A, A), None, None, Verdict.UNKNOWN),
        ((A, None, A, A), None, None, Verdict.UNKNOWN),
        ((None, None, None, None), None, None, Verdict.UNKNOWN),
        # An alignment is a proof by itself; the other bounds hold for well-formed automata only.
        ((A, U, A, A), None, ("alignment",), Verdict.PRIVATE),
        ((A, U, A, None), None, ("relational",), Verdict.PRIVATE),
        ((A, U, A, A), None, ("corollary", "run", "exact"), Verdict.UNKNOWN),
    ],
)
def test_the_verdict_from_answers_and_bounds(
    answers: tuple[Status | None, ...],
    distinct: bool | None,
    methods: tuple[str, ...] | None,
    expected: Verdict,
):
    assert decide(said(*answers), distinct, None if methods is None else proved(*methods)) is expected


def test_each_verdict_has_its_reason():
    """For all answers and bounds: what a verdict claims is there."""
    seen: Counter[Verdict] = Counter()
    for answers, distinct, bounds in product(EVERY_ANSWER, (None, False, True), EVERY_BOUND):
        statuses = [answer.status for answer in answers.by_pattern.values()]
        methods = set() if bounds is None else set(bounds.from_above)
        verdict = decide(answers, distinct, bounds)
        seen[verdict] += 1
        if verdict is Verdict.PRIVATE:
            by_patterns = statuses == [A] * 4
            by_alignment = "alignment" in methods and P not in statuses
            assert (
                by_patterns or by_alignment or ("relational" in methods and not (P in statuses and distinct))
            )
        elif verdict is Verdict.UNKNOWN:
            assert P not in statuses and statuses != [A] * 4 and not methods & {"alignment", "relational"}
        else:
            assert P in statuses
            assert (verdict is Verdict.NOT_PRIVATE) == (distinct is True)
    assert set(seen) == set(Verdict)


def test_no_verdict_rests_on_what_is_not_known():
    """With an open pattern in place of one that is decided, a verdict stays or becomes unknown."""
    for statuses, distinct in product(product((A, P, U, None), repeat=4), (None, False, True)):
        known = decide(said(*statuses), distinct, None)
        for i, instead in product(range(4), (U, None)):
            less = decide(said(*statuses[:i], instead, *statuses[i + 1 :]), distinct, None)
            assert less is known or less is Verdict.UNKNOWN


@pytest.mark.parametrize("bounds", EVERY_BOUND)
@pytest.mark.parametrize("distinct", [None, False, True])
def test_engines_that_contradict_each_other_leave_everything_open(
    distinct: bool | None, bounds: Bounds | None
):
    for other in (said(A, A, A, A), said(P, P, A, A)):
        answers = Answers((*said(P, A, A, A).rounds, *other.rounds))
        assert len(answers.disagreements) == 1
        assert decide(answers, distinct, bounds) is Verdict.UNKNOWN
    for other in (said(U, U, U, U), said(None, None, None, None), said(P, A, U, None)):
        answers = Answers((*other.rounds, *said(P, A, A, A).rounds))
        assert answers.disagreements == ()
        assert decide(answers, distinct, bounds) is decide(said(P, A, A, A), distinct, bounds)


# The four answers


@every_engine
def test_a_nwf_is_not_well_formed_and_no_more(engine: str):
    result = analysis.check(example_file("a_nwf"), engine=engine, relational=False)
    assert result.verdict is Verdict.NOT_WELL_FORMED
    assert result.well_formed is False and not result.output_distinct and result.distinct is False
    assert result.witness is not None and result.witness.pattern is LC
    assert result.bounds is None


TWO_RANGE_1 = automaton(
    TWO_RANGE.replace("[high]", "[top]").replace("AGAIN", "q5")
    + """    q5 -> q5 [cont] >v <w
        q5 -> end [bot] <v <w
        q5 -> end [top] >v >w""",
    silent="q1 q2 q3",
)
"""``q4`` shows ``top`` on two branches."""


@every_engine
@pytest.mark.parametrize("encoding", ["marks", "ghost"])
def test_a_distinct_witness_is_enough(engine: str, encoding: str):
    for example in (TWO_RANGE_1, example_file("two_range_1")):
        result = analysis.check(example, engine=engine, encoding=encoding)
        assert not result.output_distinct
        assert result.verdict is Verdict.NOT_PRIVATE and result.distinct is True
        assert result.witness is not None and result.witness.pattern is LP


@every_engine
def test_private_needs_all_four(engine: str):
    result = analysis.check(example_file("svt"), engine=engine)
    assert result.verdict is Verdict.PRIVATE and result.well_formed is True
    assert result.bounds is not None and result.bounds.best == Fraction(5, 4)
    assert result.witness is None and result.distinct is None
    for left_out in Pattern:
        asked = [p for p in Pattern if p is not left_out]
        part = analysis.check(example_file("svt"), engine=engine, patterns=asked)
        assert part.verdict is Verdict.UNKNOWN and part.well_formed is None and part.bounds is None
        assert part.patterns[left_out].status is Status.SKIPPED
        assert any(left_out.short in str(note) for note in part.notes)


@every_engine
def test_one_pattern_is_enough_for_a_violation(engine: str):
    example = automaton(A_LEAKP, silent="q0 q1")
    result = analysis.check(example, engine=engine, patterns=[LP])
    assert result.verdict is Verdict.NOT_PRIVATE
    assert {p: a.status for p, a in result.patterns.items()} == {
        LP: Status.PRESENT, LC: Status.SKIPPED, DC: Status.SKIPPED, PV: Status.SKIPPED,
    }  # fmt: skip


def test_unknown_beside_a_violation_does_not_hide_it(monkeypatch: pytest.MonkeyPatch):
    lie(monkeypatch, ExplicitEngine, lambda r: replace(r, status=Status.UNKNOWN) if r.pattern is PV else r)
    result = analysis.check(automaton(A_LEAKP, silent="q0 q1"), engine="explicit")
    assert result.verdict is Verdict.NOT_PRIVATE and result.well_formed is False
    result = analysis.check(example_file("svt"), engine="explicit")
    assert result.verdict is Verdict.UNKNOWN and result.well_formed is None and result.bounds is None


@every_engine
def test_the_verdict_follows_from_what_the_judge_finds(engine: str):
    seen: Counter[Verdict] = Counter()
    for i in range(70):
        runs = judge.decide(sample(i))
        result = analysis.check(sample(i), engine=engine, relational=False)
        for pattern in Pattern:
            expected = Status.ABSENT if runs[pattern] is None else Status.PRESENT
            assert result.patterns[pattern].status is expected, (i, pattern)
        present = any(run is not None for run in runs.values())
        assert (result.verdict is Verdict.PRIVATE) != present
        if present:
            witness = result.witness
            assert witness is not None
            assert judge.faults(sample(i), witness.pattern, witness.run, witness.cycles, witness.path) == []
            assert (result.verdict is Verdict.NOT_PRIVATE) == result.distinct
            assert result.distinct or not result.output_distinct
        assert result.output_distinct == output_distinct(sample(i))
        assert result.disagreements == ()
        seen[result.verdict] += 1
    assert min(seen[v] for v in (Verdict.PRIVATE, Verdict.NOT_PRIVATE, Verdict.NOT_WELL_FORMED)) > 3, seen


# Output distinction


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("a", "b", True),
        ("a", "a", False),
        ("a", "insample", True),
        ("a", "insample'", True),
        ("insample", "insample", False),
        ("insample", "insample'", False),
        ("insample'", "insample'", False),
    ],
)
def test_output_distinction(first: str, second: str, expected: bool):
    example = automaton(f"q0 -> q1 [o] :x \n q1 -> q2 [{first}] >x \n q1 -> q3 [{second}] <x")
    assert output_distinct(example) is expected
    assert analysis.check(example).output_distinct is expected


def test_the_same_output_in_different_states_is_distinct():
    assert output_distinct(automaton("q0 -> q1 [o] :x \n q1 -> q2 [o] >x \n q1 -> q3 [p] <x \n q2 -> q3 [o]"))


def leaking_loop(elsewhere: str) -> tuple[Automaton, Witness]:
    """A leaking cycle at ``q1``; what else has the same outputs is up to the caller."""
    example = automaton("q0 -> q1 [o] :x \n q1 -> q1 [a] >x :x \n " + elsewhere)
    return example, Witness(LC, (0, 1), ((1, 2),))


@pytest.mark.parametrize(
    ("elsewhere", "expected"),
    [
        ("q1 -> q2 [b] <x", True),
        ("q1 -> q1 [a] <x", False),  # both branches of the loop look alike
        ("q1 -> q2 [a] <x", False),  # the last round may be another, after however many
        ("q1 -> q2 [a] <x \n q2 -> q2 [a] >x", False),
        ("q1 -> q2 [b] <x \n q2 -> q2 [a] >x", True),
    ],
)
def test_distinct_along_the_repeated_witness(elsewhere: str, expected: bool):
    """Def. distinct witness: no other run produces the outputs, however often the cycles repeat."""
    example, witness = leaking_loop(elsewhere)
    assert witness_distinct(control_graph(example), witness) is expected
    assert imitated(example, witness, rounds=4) is not expected


def test_a_stray_run_that_gets_stuck_proves_nothing():
    """It looks alike at first, but cannot show the last output of the witness."""
    rows = "q0 -> q1 [o] :x \n q1 -> q2 [a] >x \n q1 -> q3 [a] <x \n q2 -> q2 [insample] \n q3 -> q3 [{}]"
    witness = Witness(DC, (0, 1, 3), ((2, 3),))
    assert witness_distinct(control_graph(automaton(rows.format("b"))), witness)
    assert not witness_distinct(control_graph(automaton(rows.format("insample'"))), witness)


def test_a_look_alike_may_need_several_rounds():
    """It shows two ``a`` before the last output, the witness as it stands only one."""
    example = automaton(
        """q0 -> q1 [insample] :x
        q1 -> q2 [o] :y
        q2 -> q2 [a] >x
        q2 -> q3 [a] <x >y
        q2 -> q5 [c] <x <y
        q3 -> q4 [a]
        q4 -> q5 [c]"""
    )
    witness = Witness(PV, (0, 1, 2, 4), ((2, 3),), (0, 2))
    assert judge.faults(example, PV, witness.run, witness.cycles, witness.path) == []
    assert not imitated(example, witness, rounds=1) and imitated(example, witness, rounds=2)
    assert not witness_distinct(control_graph(example), witness)


def test_look_alikes_that_no_run_can_take_do_not_count():
    rows = "q0 -> q1 [o] :x \n q1 -> q2 [o] {} :y \n q2 -> q2 [insample] >x \n q2 -> q2 [insample] <x >y"
    witness = Witness(DC, (0, 1, 2), ((2, 3),))
    above, below = (control_graph(automaton(rows.format(atom))) for atom in (">x", "<x"))
    assert witness_distinct(above, witness), "nothing is below x and above y once x < y"
    assert not witness_distinct(below, witness)


def test_real_outputs_look_alike_whatever_their_kind():
    rows = "q0 -> q1 [o] :x \n q1 -> q1 [insample] >x \n q1 -> q1 [{}] <x"
    witness = Witness(DC, (0, 1), ((1, 2),))
    for output, expected in (("insample'", False), ("insample", False), ("a", True)):
        assert witness_distinct(control_graph(automaton(rows.format(output))), witness) is expected


def test_reading_an_input_is_not_observed():
    """The look-alike reads an input where the witness reads none."""
    rows = """q0 -> q1 [o] :x
        q1 -> q2 [a] >x
        q1 -> q3 [a] <x
        q2 -> q1 [b] :x
        q3 -> q1 [b] :x"""
    witness = Witness(LC, (0, 1, 3), ((1, 3),))
    for silent in ("", "q2", "q3", "q2 q3"):
        assert not witness_distinct(control_graph(automaton(rows, silent)), witness)


def test_too_many_look_alikes_claim_less():
    example, witness = leaking_loop("q1 -> q2 [b] <x")
    assert witness_distinct(control_graph(example), witness)
    assert not witness_distinct(control_graph(example), witness, limit=1)


def imitated(example: Automaton, witness: Witness, rounds: int) -> bool:
    """Whether another feasible run has the outputs of the witness with each cycle taken ``rounds`` times."""
    whole: list[int] = []
    ends = dict(witness.cycles)
    k = 0
    while k < len(witness.run):
        j = ends.get(k, k + 1)
        whole += list(witness.run[k:j]) * (rounds if k in ends else 1)
        k = j
    runs: list[tuple[tuple[int, ...], str, judge.Graph]] = [((), example.initial, judge.EMPTY)]
    for asked in (example.transitions[t].output for t in whole):
        following = []
        for run, at, graph in runs:
            for t in example.outgoing[example.index[at]]:
                step = example.transitions[t]
                alike = step.output == asked or (step.output.is_real and asked.is_real)
                if alike and (grown := graph.extend(step)) is not None:
                    following.append(((*run, t), step.target, grown))
        runs = following[:5000]
    return any(run != tuple(whole) for run, _, _ in runs)


def test_distinct_witnesses_are_not_imitated():
    """By enumeration of all runs with the same outputs, for one to three rounds."""
    seen: Counter[bool] = Counter()
    for i in range(150):
        example = sample(i)
        engine = ExplicitEngine(Problem.of(example))
        for pattern in Pattern:
            witness = engine.decide(pattern).witness
            if witness is None:
                continue
            distinct = witness_distinct(engine.problem.control, witness)
            copies = [imitated(example, witness, rounds) for rounds in (1, 2, 3)]
            assert not (distinct and any(copies))
            seen[distinct] += not output_distinct(example)
            assert distinct or not output_distinct(example)
    assert seen[True] > 3 and seen[False] > 10, seen


# Strong feasibility


FORCED = "a -> b [o] :x \n b -> c [o] :y \n c -> d [p] >x <y"


@pytest.mark.parametrize(
    ("rows", "silent", "means", "expected"),
    [
        (FORCED, "a b", {"a": 0, "b": 1}, True),
        (FORCED, "a b", {"a": 1, "b": 0}, False),
        (FORCED, "a b", {"a": 1, "b": 1}, False),
        (FORCED, "a", {"a": 1, "b": 0}, True),
        (FORCED, "", {"a": 1, "b": 0}, True),
        # Nothing is forced when each branch compares with one of the two only.
        ("a -> b [o] :x \n b -> c [o] :y \n c -> d [p] >x \n c -> e [q] <x", "a b", {"a": 1, "b": 0}, True),
        # The order of two non-input samples by way of an input that is stored, and of one that is not.
        (
            "a -> b [o] :x \n b -> c [o] >x :z \n c -> d [o] :y \n d -> e [p] >z <y",
            "a c",
            {"a": 1, "c": 0},
            False,
        ),
        (
            "a -> b [o] :x \n b -> c [o] >x :z \n c -> d [o] :y \n d -> e [p] >z <y",
            "a c",
            {"a": 0, "c": 1},
            True,
        ),
        # x is drawn anew before it is compared with y.
        (
            "a -> b [o] :x \n b -> c [o] :y \n c -> d [o] :x \n d -> e [p] >x <y",
            "a b c",
            {"a": 2, "b": 1, "c": 0},
            True,
        ),
        # A clash that no run can show: the branch contradicts the one before it.
        (
            "a -> b [o] :x \n b -> c [o] :y \n c -> d [p] >x <y \n d -> e [q] >y <x",
            "a b",
            {"a": 0, "b": 1},
            True,
        ),
        # In a loop, from the second round on.
        (
            "a -> b [o] :x \n b -> c [p] >x :z \n c -> b [o] :x \n b -> d [q] <x",
            "a c",
            {"a": 0, "c": 1},
            True,
        ),
        (
            "a -> b [o] :x \n b -> d [o] :z \n d -> c [o] :y \n c -> e [p] >z <y \n e -> c [p] :y",
            "a b d e",
            {"b": 0, "d": 1, "e": 0},
            False,
        ),
    ],
)
def test_strong_feasibility(rows: str, silent: str, means: dict[str, int], expected: bool):
    assert analysis.check(with_means(automaton(rows, silent), **means)).strongly_feasible is expected


def test_strong_feasibility_may_stay_open(monkeypatch: pytest.MonkeyPatch):
    """Only where the dataflow sees a possible clash are runs enumerated, and that may be cut short."""
    monkeypatch.setattr(properties, "_enumerate", lambda *arguments: None)
    clash = with_means(automaton(FORCED, "a b"), a=1, b=0)
    assert analysis.check(clash).strongly_feasible is None
    assert analysis.check(with_means(clash, a=0, b=1)).strongly_feasible is True


def test_of_an_augmentation_that_is_too_large_only_a_part_is_looked_at(monkeypatch: pytest.MonkeyPatch):
    """It cannot be seen whole, but a clash may still be found there."""
    looked: list[int] = []
    enumerate_states = properties._enumerate

    def spied(control, most, limits):
        looked.append(most)
        return enumerate_states(control, most, limits)

    monkeypatch.setattr(properties, "_enumerate", spied)
    whole, problem = Problem.of(generate("parity", 4)), Problem.of(generate("parity", 4))
    assert properties.strongly_feasible(whole) is True
    with pytest.raises(LimitReached):
        problem.augmentation(max_nodes=20)
    assert not problem.is_larger_than(21) and problem.is_larger_than(20)
    monkeypatch.setattr(properties, "ENUMERATED", 20 * problem.control.variables)
    monkeypatch.setattr(properties, "GLANCED", 5)
    assert properties.strongly_feasible(problem) is None
    built = Problem.of(generate("parity", 4))
    assert built.is_larger_than(built.augmentation().nodes - 1)
    assert not built.is_larger_than(built.augmentation().nodes)
    assert properties.strongly_feasible(built) is None
    assert looked[-2:] == [5, 5]
    clash = Problem.of(with_means(automaton(FORCED, "a b"), a=1, b=0))
    monkeypatch.setattr(clash, "is_larger_than", lambda nodes: True)
    assert properties.strongly_feasible(clash) is False


def clashes(example: Automaton, length: int) -> bool:
    """Whether a feasible run forces a non-input sample below one of no larger mean, by enumeration."""
    for run, longer in judge.feasible_runs(example, length, max_runs=400):
        if longer:
            continue
        steps = [example.transitions[t] for t in run]
        edges = judge.dependency_edges(steps)
        silent = [k for k, step in enumerate(steps) if not example.state(step.source).is_input]
        mean = {k: example.state(steps[k].source).mu for k in silent}
        for i in silent:
            if any(mean[i] >= mean[j] for j in judge.reachable(edges, i) & set(silent)):
                return True
    return False


def test_strong_feasibility_by_enumeration():
    seen: Counter[tuple[bool | None, bool]] = Counter()
    for i in range(250):
        said = analysis.check(sample(i), engine="explicit").strongly_feasible
        found = clashes(sample(i), 8)
        assert said is not True or not found, i
        seen[said, found] += 1
    assert seen[True, False] > 50 and seen[False, True] > 20, seen
    assert seen[False, False] <= 3, "a clash that only long runs show"


@every_engine
def test_strong_feasibility_does_not_weaken_the_verdict(engine: str):
    example = with_means(automaton(A_LEAKP, silent="q0 q1"), q0=1, q1=0)
    turned = with_means(example, q0=0, q1=1)
    results = [analysis.check(e, engine=engine) for e in (example, turned)]
    assert {r.strongly_feasible for r in results} == {True, False}
    assert {r.verdict for r in results} == {Verdict.NOT_PRIVATE}


# Engines that contradict each other


def lie(
    monkeypatch: pytest.MonkeyPatch,
    engine: type[ExplicitEngine] | type[SymbolicEngine],
    distort: Callable[[PatternResult], PatternResult],
) -> None:
    honest = engine.decide

    def decide(self: ExplicitEngine | SymbolicEngine, pattern: Pattern, limits: Limits) -> PatternResult:
        return distort(honest(self, pattern, limits))  # type: ignore[arg-type]

    monkeypatch.setattr(engine, "decide", decide)


def denied(lied_about: Pattern) -> Callable[[PatternResult], PatternResult]:
    return lambda r: replace(r, status=Status.ABSENT, witness=None) if r.pattern is lied_about else r


def claimed(lied_about: Pattern, status: Status = Status.PRESENT) -> Callable[[PatternResult], PatternResult]:
    return lambda r: replace(r, status=status) if r.pattern is lied_about else r


@pytest.mark.parametrize("liar", [ExplicitEngine, SymbolicEngine])
def test_a_lying_engine_is_told_on(monkeypatch: pytest.MonkeyPatch, liar: type[ExplicitEngine]):
    lie(monkeypatch, liar, denied(LP))
    result = analysis.check(automaton(A_LEAKP, silent="q0 q1"), engine="both")
    (told,) = result.disagreements
    assert told.startswith("leaking pair: ")
    assert "present says" in told and "absent says" in told
    assert "explicit" in told and "z3 (marks)" in told


def test_every_contradiction_is_told(monkeypatch: pytest.MonkeyPatch):
    lie(monkeypatch, ExplicitEngine, lambda r: replace(r, status=Status.PRESENT))
    result = analysis.check(example_file("svt"), engine="both")
    assert [told.partition(":")[0] for told in result.disagreements] == [p.title for p in Pattern]


def test_compare_tells_who_is_on_which_side(monkeypatch: pytest.MonkeyPatch):
    lie(monkeypatch, ExplicitEngine, claimed(DC))
    result = analysis.compare(example_file("svt"))
    (told,) = result.disagreements
    assert told.startswith("disclosing cycle: present says explicit; absent says")
    assert "z3 (marks), z3 (ghost)" in told


def test_not_knowing_is_no_contradiction(monkeypatch: pytest.MonkeyPatch):
    lie(monkeypatch, ExplicitEngine, claimed(LP, Status.UNKNOWN))
    result = analysis.check(automaton(A_LEAKP, silent="q0 q1"), engine="both")
    assert result.disagreements == ()
    assert result.verdict is Verdict.NOT_PRIVATE and result.patterns[LP].engine == "z3"


@pytest.mark.parametrize("name", ["two_range_1", "svt"])
def test_what_follows_has_time_of_its_own_in_a_comparison(monkeypatch: pytest.MonkeyPatch, name: str):
    """The last engine uses up its time: neither the distinct witness nor ``D`` is lost."""
    late = 0

    def use_up(engine: SlicedEngine, pattern: Pattern, limits: Limits) -> None:
        nonlocal late
        time.sleep((limits.left() or 0.0) + 0.01)
        late += 1
        limits.check("the last slice")

    def out_of_time(engine: SlicedEngine, pattern: Pattern, limits: Limits) -> PatternResult:
        with pytest.raises(LimitReached) as limit:
            limits.check("the last slice")
        return PatternResult(pattern, Status.UNKNOWN, engine.name, reason=str(limit.value))

    monkeypatch.setattr(SlicedEngine, "decide_statically", use_up)
    monkeypatch.setattr(SlicedEngine, "decide", out_of_time)
    example = example_file(name)
    plain, result = analysis.check(example, "explicit"), analysis.compare(example, timeout=3)
    last = [a for a in result.details if a.engine == "minisat"]
    assert [a.status for a in last] == [Status.UNKNOWN] * 4
    assert all((a.reason or "").startswith("time limit reached at the last slice") for a in last)
    assert result.verdict is plain.verdict
    assert (result.distinct, result.strongly_feasible) == (plain.distinct, plain.strongly_feasible)
    assert (result.bounds is None) == (plain.bounds is None)
    if result.bounds is not None and plain.bounds is not None:
        assert (
            result.bounds.from_above == plain.bounds.from_above
            and result.bounds.source is Source.AUGMENTATION
        )
    assert result.notes == ()
    assert late == 1


# The engine that is chosen automatically


def small_enough_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """``auto`` may enumerate next to nothing, and does not race."""
    monkeypatch.setattr("symdipa.engines.lineup.FIRST_CELLS", 1)
    monkeypatch.setattr("symdipa.engines.lineup.MAX_CELLS", 1)
    monkeypatch.setattr("symdipa.engines.processes.cores", lambda: 1)


def auto(example: Automaton) -> Result:
    return analysis.check(example, engine="auto")


def test_auto_enumerates_what_is_small():
    result = auto(automaton(A_LEAKP, silent="q0 q1"))
    assert result.patterns[LP].engine == "explicit" and "explicit" in result.engine
    assert auto(example_file("a_nwf")).patterns[LC].method == "explicit"


def test_auto_turns_to_a_solver_above_the_cap_and_says_so(monkeypatch: pytest.MonkeyPatch):
    small_enough_for_nothing(monkeypatch)
    for example, pattern in ((automaton(A_LEAKP, silent="q0 q1"), LP), (example_file("a_nwf"), LC)):
        result = auto(example)
        answer = result.patterns[pattern]
        assert answer.status is Status.PRESENT
        assert answer.engine not in ("explicit", "auto") and answer.engine in result.engine
        assert "explicit" not in result.engine
        assert all(a.method != "explicit" for a in result.patterns.values())


def test_auto_without_an_answer_tells_both_reasons(monkeypatch: pytest.MonkeyPatch):
    small_enough_for_nothing(monkeypatch)
    result = analysis.check(automaton(A_LEAKP, silent="q0 q1"), engine="auto", bound=2)
    assert result.verdict is Verdict.UNKNOWN
    reason = result.patterns[LP].reason or ""
    assert "explicit: the augmentation has more than" in reason
    assert "no violation within 2 steps" in reason


def test_auto_agrees_with_itself_above_the_cap(monkeypatch: pytest.MonkeyPatch):
    below = [auto(sample(i)) for i in range(30)]
    small_enough_for_nothing(monkeypatch)
    for i, result in enumerate(below):
        above = auto(sample(i))
        # The symbolic engine may find another witness, and whether that one is distinct may differ.
        assert {p: a.status for p, a in above.patterns.items()} == {
            p: a.status for p, a in result.patterns.items()
        }


def test_above_the_cap_the_weight_is_by_alignment(monkeypatch: pytest.MonkeyPatch):
    small_enough_for_nothing(monkeypatch)
    result = auto(generate("m-range", 3))
    assert result.verdict is Verdict.PRIVATE
    assert (result.bounds.from_above, result.bounds.source) == ({"alignment": Fraction(1)}, Source.ALIGNMENT)


def test_between_the_caps_alignment_comes_first(monkeypatch: pytest.MonkeyPatch):
    """And the paper's bound where it finds nothing."""
    small_enough_for_nothing(monkeypatch)
    monkeypatch.setattr("symdipa.engines.lineup.MAX_CELLS", 10_000)
    example = generate("m-range", 3)
    assert auto(example).bounds.from_above == {"alignment": Fraction(1)}
    monkeypatch.setattr("symdipa.bounds.portfolio.FALLBACK_SECONDS", 0.0)
    monkeypatch.setattr("symdipa.bounds.portfolio.FALLBACK_SHARE", 0.0)
    result = auto(example)
    assert result.bounds.from_above == {"corollary": Fraction(1)}
    assert result.bounds.source is Source.AUGMENTATION
    assert not any(note.kind is NoteKind.NO_BOUND for note in result.notes)


def test_a_bound_of_nothing_is_a_bound(monkeypatch: pytest.MonkeyPatch):
    """``D = 0``: what is stored is never read."""
    small_enough_for_nothing(monkeypatch)
    example = automaton("p0 -> a [o] :x\na -> a [l] :x\n")
    found = auto(example).bounds
    assert (found.from_above, found.source) == ({"alignment": Fraction(0)}, Source.ALIGNMENT)


def test_without_any_bound_there_is_a_note(monkeypatch: pytest.MonkeyPatch):
    small_enough_for_nothing(monkeypatch)
    monkeypatch.setattr("symdipa.bounds.portfolio.FALLBACK_SECONDS", 0.0)
    monkeypatch.setattr("symdipa.bounds.portfolio.FALLBACK_SHARE", 0.0)
    result = auto(generate("m-range", 3))
    assert result.verdict is Verdict.PRIVATE and result.bounds is None
    assert any(note.kind is NoteKind.NO_BOUND for note in result.notes)


def test_the_search_for_a_distinct_witness_ends():
    """Number 1208 of agree.py's seed 20261129: very many runs imitate whatever is tried."""
    example = source.random_automaton(random.Random("20261129/1208"), (1, 2, 2, 3, 3, 4), (2, 3, 4, 5, 6))
    control, looks = control_graph(example), 0

    def count(_: str) -> None:
        nonlocal looks
        looks += 1

    known = [a.witness for a in analysis.check(example, "explicit").details if a.witness is not None]
    assert known and properties.find_distinct(control, known, Limits(progress=count)) is None
    assert 1_000 < looks < 3 * properties.LOOKS
