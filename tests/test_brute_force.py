"""The judge itself: known answers, traps, and the literal search against the merged one."""

from __future__ import annotations

import importlib.util
import random
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import brute_force as judge
import pytest
import random_automata as source

from symdipa.model.automaton import (
    INSAMPLE,
    INSAMPLE_PRIME,
    Automaton,
    Guard,
    Output,
    State,
    Transition,
    symbol,
)
from symdipa.model.patterns import Pattern
from symdipa.model.validation import validate
from symdipa.model.verdict import PatternResult, Status, Witness

REAL = {"insample": INSAMPLE, "insample'": INSAMPLE_PRIME}


def automaton(rows: str, silent: str = "") -> Automaton:
    """An automaton from rows ``source -> target [output] atoms… :variables`` (``>x`` stands for ``>= x``)."""
    transitions = [_transition(row) for row in rows.strip().splitlines()]
    quarter = Fraction(1, 4)
    sources = dict.fromkeys(t.source for t in transitions)
    states = [State(q, q not in silent.split(), quarter, Fraction(0), quarter) for q in sources]
    return Automaton.build(states, transitions)


def _transition(row: str) -> Transition:
    origin, _, target, output, *rest = row.split()
    atoms = [word for word in rest if word[0] in "<>"]
    assign = [x for word in rest if word[0] == ":" for x in word[1:].split(",")]
    guard = Guard(*(frozenset(a[1:] for a in atoms if a[0] == kind) for kind in "><"))
    return Transition(origin, target, _output(output.strip("[]")), guard, frozenset(assign))


def _output(text: str) -> Output:
    return REAL.get(text) or symbol(text)


def found(automaton: Automaton) -> str:
    """The patterns that the merged search finds, each confirmed on its run by the literal definitions."""
    runs = {pattern: run for pattern, run in judge.decide(automaton).items() if run is not None}
    for pattern, run in runs.items():
        assert pattern in judge.shows(automaton, run)
    return names(runs)


def names(patterns: Iterable[Pattern]) -> str:
    return " ".join(sorted(pattern.short for pattern in patterns))


def literally(automaton: Automaton, length: int) -> str:
    present = judge.patterns(automaton, length)
    return names(pattern for pattern in present if present[pattern])


# Known answers (docs/theory.md, section 8)


def k_min_max(k: int) -> Automaton:
    rows = ["q1 -> q2 [read] :min,max"]
    for i in range(2, k + 1):
        rows += [
            f"q{i} -> q{i + 1} [read] >max >min :max",
            f"q{i} -> q{i + 1} [read] <max >min",
            f"q{i} -> q{i + 1} [read] <max <min :min",
        ]
    q = f"q{k + 1}"
    rows += [f"{q} -> end [bot] <max <min", f"{q} -> end [top] >max >min", f"{q} -> {q} [cont] <max >min"]
    return automaton("\n".join(rows))


def m_range(m: int) -> Automaton:
    rows = [f"s{i} -> s{i + 1} [init] :{'lh'[i % 2]}{i // 2}" for i in range(2 * m)]
    rows[-1] = rows[-1].replace(f"-> s{2 * m} ", "-> q0 ")
    for i in range(m):
        rows += [
            f"q{i} -> q{(i + 1) % m} [cont] >l{i} <h{i}",
            f"q{i} -> end [top] >l{i} >h{i}",
            f"q{i} -> end [bot] <l{i} <h{i}",
        ]
    return automaton("\n".join(rows), silent=" ".join(f"s{i}" for i in range(2 * m)))


A_LEAKP = """
    q0 -> q1 [init] :x
    q1 -> q2 [init] :y
    q2 -> q2 [top] >x
    q2 -> q3 [bot] <x
    q3 -> q3 [top] <y
    q3 -> q4 [bot] <x >y
"""

TWO_RANGE = """
    q1 -> q2 [bot] :u
    q2 -> q3 [bot] :v
    q3 -> q4 [bot] :w
    q4 -> q4 [cont] >u <v
    q4 -> end [low] <u <v
    q4 -> AGAIN [top] >u >v <w
    q4 -> end [high] >u >v >w
"""

EXAMPLES = {
    "SVT": ("", "q1 -> q2 [in] :x \n q2 -> q2 [bot] <x \n q2 -> q3 [top] >x", "q1"),
    "Num-Sparse": ("", "q1 -> q2 [in] :x \n q2 -> q2 [bot] <x \n q2 -> q3 [insample'] >x", "q1"),
    "DC-Example": (
        "DC",
        """q1 -> q2 [bot] :l
        q2 -> q3 [bot] :u
        q3 -> q3 [insample] >l <u
        q3 -> q4 [top] >l >u
        q3 -> q4 [low] <l <u""",
        "q1 q2",
    ),
    "Num-Range-1": (
        "PV",
        """q1 -> q2 [bot] :l
        q2 -> q3 [bot] :u
        q3 -> q3 [cont] >l <u
        q3 -> q4 [insample] >l >u""",
        "q1 q2",
    ),
    "Num-Range-2": (
        "",
        """q1 -> q2 [bot] :l
        q2 -> q3 [bot] :u
        q3 -> q3 [cont] >l <u
        q3 -> q4 [insample'] >l >u""",
        "q1 q2",
    ),
    "LC-Example": (
        "LC",
        """q1 -> q2 [bot] :x
        q2 -> q3 [bot] :y
        q3 -> q4 [bot] <y >x
        q4 -> q3 [bot] <y :y""",
        "q1 q2",
    ),
    "Two-Range-1": (
        "LP",
        TWO_RANGE.replace("AGAIN", "q5")
        + """    q5 -> q5 [cont] >v <w
        q5 -> end [bot] <v <w
        q5 -> end [top] >v >w""",
        "q1 q2 q3",
    ),
    "Two-Range-2": (
        "",
        TWO_RANGE.replace("AGAIN", "q5")
        + """    q5 -> q6 [init] :v
        q6 -> q6 [cont] >v <w
        q6 -> end [bot] <v <w
        q6 -> end [top] >v >w""",
        "q1 q2 q3 q5",
    ),
    "A_leakp": ("LP", A_LEAKP, "q0 q1"),
    "A_nwf": ("LC", "q0 -> q1 [top] :x \n q1 -> q0 [top] >x \n q1 -> q1 [top] <x", "q0"),
    "Below and above": ("LP", "q0 -> q1 [a] :x \n q1 -> q1 [b] >x \n q1 -> q1 [c] <x", "q0"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_known_answers(name: str) -> None:
    expected, rows, silent = EXAMPLES[name]
    example = automaton(rows, silent)
    assert found(example) == literally(example, 8) == expected


@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_k_min_max_is_well_formed(k: int) -> None:
    assert found(k_min_max(k)) == ""


@pytest.mark.parametrize("m", [1, 2, 3])
def test_m_range_is_well_formed(m: int) -> None:
    assert found(m_range(m)) == ""


# Traps


def test_pair_of_a_leakp_needs_the_step_after_both_loops() -> None:
    example = automaton(A_LEAKP, silent="q0 q1")
    assert judge.shows(example, (0, 1, 2, 3, 4, 5)) == {judge.LP}
    assert not judge.shows(example, (0, 1, 2, 2, 3, 4, 4))
    assert not judge.shows(example, (0, 1, 2, 3, 5))
    assert literally(example, 5) == "" and literally(example, 6) == "LP"


def test_two_rounds_of_one_cycle_are_a_pair() -> None:
    example = automaton("q0 -> q1 [a] :x \n q1 -> q2 [b] <x \n q2 -> q1 [c] >x")
    assert found(example) == "LP"
    assert not judge.shows(example, (0, 1, 2)) and not judge.shows(example, (0, 1, 2, 1))
    assert judge.shows(example, (0, 1, 2, 1, 2)) == {judge.LP}


def test_a_cycle_has_to_be_completed() -> None:
    rows = """q0 -> q1 [a] :x
        q1 -> q2 [b] <x
        q2 -> q1 [c] {first}
        q2 -> q3 [d] {other}
        q3 -> q3 [e] >x"""
    harmless = rows.format(first=">x :x", other="<x")
    assert found(automaton(harmless)) == "LC"  # the cycle q1 q2 assigns x: no pair
    assert found(automaton(rows.format(first=">x", other="<x"))) == "LP"
    once = "q0 -> q1 [a] :x \n q1 -> q2 [b] <x \n q2 -> q2 [e] >x"
    assert found(automaton(once)) == ""


@pytest.mark.parametrize(
    ("step", "expected"),
    [("", "LP"), (":z", ""), ("<z :z", ""), (">z :z", "LP"), (">x :z", "LP"), (">z :x", "LP")],
)
def test_a_link_of_the_chain_may_be_stored_anew(step: str, expected: str) -> None:
    """``z`` is stored above ``x``, then perhaps once more before the second loop reads it."""
    example = automaton(
        f"""q0 -> q1 [a] :x
        q1 -> q1 [b] <x
        q1 -> q2 [c] >x :z
        q2 -> q3 [d] {step}
        q3 -> q3 [e] >z
        q3 -> q4 [f] <z"""
    )
    assert found(example) == literally(example, 9) == expected


@pytest.mark.parametrize(("assigned", "expected"), [("", "LP"), (":z", "")])
def test_the_cycle_itself_may_overwrite_the_link(assigned: str, expected: str) -> None:
    """``x < z < y`` is complete after both loops, unless the second one stores ``z`` above ``y``."""
    example = automaton(
        f"""q0 -> q1 [a] :x
        q1 -> q2 [a] :y
        q2 -> q3 [a] :z
        q3 -> q3 [b] <x
        q3 -> q4 [c] >x <z
        q4 -> q4 [d] >y {assigned}
        q4 -> q5 [e] <y
        q5 -> q6 [f] >z <y"""
    )
    assert found(example) == literally(example, 10) == expected


def test_the_path_may_run_through_samples_that_are_never_stored() -> None:
    chain = """q0 -> q1 [a] :x
        q1 -> q2 [a] :y
        q2 -> q3 [a] :z
        q3 -> q3 [b] >y
        q3 -> q4 [c] <y
        q4 -> q4 [d] <x
        q4 -> q5 [e] >x
        q5 -> q6 [f] >x <z
        q6 -> q7 [g] {}"""
    assert found(automaton(chain.format(">z <y"))) == "LP"
    assert found(automaton(chain.format(">y <z"))) == ""


def test_a_violating_path_may_start_at_a_non_input_output() -> None:
    rows = """q0 -> q1 [a] :x
        q1 -> q2 [{}] {}
        q2 -> q2 [b] {}"""
    assert found(automaton(rows.format("insample", "<x", ">x"))) == "PV"
    assert found(automaton(rows.format("insample", "<x", "<x"))) == ""
    assert found(automaton(rows.format("insample", ">x", "<x"))) == "PV"
    assert found(automaton(rows.format("insample'", ">x", "<x"))) == ""
    silent = "q0 -> q1 [insample] :x \n q1 -> q1 [b] {}"
    assert found(automaton(silent.format("<x"), silent="q0")) == "PV"
    assert found(automaton(silent.format(">x"), silent="q0")) == "PV"
    assert found(automaton(silent.replace("insample", "a").format(">x"), silent="q0")) == ""


def test_a_violating_path_may_end_after_the_cycle() -> None:
    rows = "q0 -> q1 [a] :x \n q1 -> q1 [b] <x \n q1 -> q2 [c] >x \n q2 -> q3 [{}] {}"
    assert found(automaton(rows.format("insample", ">x"))) == "PV"
    assert found(automaton(rows.format("insample", "<x"))) == ""
    assert found(automaton(rows.format("insample'", ">x"))) == ""


def test_a_disclosing_cycle_reads_an_input_and_can_be_run() -> None:
    rows = "q0 -> q1 [a] :x \n q1 -> q2 [b] {} \n q2 -> q1 [{}]"
    assert found(automaton(rows.format(">x", "insample"))) == "DC"
    assert found(automaton(rows.format(">x", "insample'"))) == "DC"
    assert found(automaton(rows.format(">x", "insample"), silent="q2")) == ""
    assert found(automaton(rows.format(">x :x", "insample'"))) == "LC"
    assert found(automaton(rows.format(":x", "insample'"))) == "DC"
    blocked = """q0 -> q1 [a] :x
        q1 -> q2 [b] >x :y
        q2 -> q3 [c] <x >y
        q3 -> q3 [insample]"""
    assert found(automaton(blocked)) == ""


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(
    ("ways", "then"),
    [
        (((">x >y", "<x"), (">x >z", "<x")), (">x :y", ">x :z")),
        (((">x :y", "<x"), (">x :z", "<x")), (">x >y", ">x >z")),
    ],
    ids=["used", "assigned"],
)
def test_of_four_ways_round_one_discloses(
    first: int, ways: tuple[tuple[str, str], ...], then: tuple[str, str]
) -> None:
    """Only the round with ``< x`` both times is non-leaking, whatever is tried first."""
    (a, b), (c, d) = (pair if first else pair[::-1] for pair in ways)
    example = automaton(
        f"""q0 -> q1 [in] :x
        q1 -> q2 [in] >x :y
        q2 -> q3 [in] >x :z
        q3 -> q4 [a] {a}
        q3 -> q4 [b] {b}
        q4 -> q5 [insample'] {then[0]}
        q5 -> q6 [c] {c}
        q5 -> q6 [d] {d}
        q6 -> q3 [e] {then[1]}"""
    )
    assert found(example) == literally(example, 11) == "DC LC LP"


def test_leaking_cycles_have_to_be_repeatable() -> None:
    shapes = {
        "grows_for_ever": "LC",
        "two_step_record": "LC",
        "once_only": "",
        "twice_only": "",
        "delayed": "LC",
        "swap": "LC",
        "fresh_threshold": "LC",
    }
    for name, expected in shapes.items():
        example = source.shape(getattr(source, f"_{name}"))
        assert found(example) == literally(example, 9) == expected, name


@pytest.mark.parametrize(("name", "rounds"), [("once_only", 1), ("twice_only", 2), ("delayed", 5)])
def test_rounds_of_a_cycle(name: str, rounds: int) -> None:
    """One round of the cycle is feasible in each shape; what differs is how often."""
    example = source.shape(getattr(source, f"_{name}"))
    start = len(example.variables)
    body = [i for i, t in enumerate(example.transitions) if t.source in "abc" and t.target in "abc"]
    rho, cycle = [*range(start)], [next(i for i in body if example.transitions[i].source == q) for q in "ab"]
    cycle += [i for i in body if example.transitions[i].source == "c"]
    steps = [example.transitions[i] for i in rho + cycle * 5]
    length = len(cycle)
    feasible = [judge.is_feasible(steps[: start + m * length]) for m in range(1, 6)]
    assert feasible == [m <= rounds for m in range(1, 6)]
    assert judge.is_leaking(steps, start, start + length) == (rounds == 5)


def test_the_assignment_may_come_after_the_use() -> None:
    assert found(automaton("q0 -> q1 [a] :x \n q1 -> q2 [b] <x \n q2 -> q1 [c] :x")) == "LC"
    assert found(automaton("q0 -> q1 [a] :x \n q1 -> q2 [b] <x \n q2 -> q3 [c] :x")) == ""


@pytest.mark.parametrize("make", [make for _, make in source.SHAPES], ids=lambda make: make.__name__)
def test_shapes(make: object) -> None:
    expected = {
        "_leakp": "LP",
        "_leakp_apart": "LP",
        "_chain_overwritten": "",
        "_chain_kept": "LP",
        "_open_cycle": "LC",
        "_grows_for_ever": "LC",
        "_two_step_record": "LC",
        "_once_only": "",
        "_twice_only": "",
        "_delayed": "LC",
        "_fresh_threshold": "LC",
        "_same_loop_twice": "LP",
        "_both_ways": "LP",
        "_swap": "LC",
        "_two_ways_round": "LC LP",
    }
    example = source.shape(make)  # type: ignore[arg-type]
    validate(example)
    assert found(example) == literally(example, 10) == expected[make.__name__]  # type: ignore[attr-defined]


def test_witnesses_are_checked_piece_by_piece() -> None:
    example = automaton(A_LEAKP, silent="q0 q1")
    run, loops, path = (0, 1, 2, 3, 4, 5), ((4, 5), (2, 3)), (4, 1, 5, 0, 2)
    assert judge.faults(example, judge.LP, run, loops, path) == []
    assert judge.faults(example, judge.LP, run, loops[::-1], path)
    assert judge.faults(example, judge.LP, run, loops[:1], path)
    assert judge.faults(example, judge.LP, run, ((4, 5), (3, 4)), path)
    assert judge.faults(example, judge.LP, run, loops, (4, 1, 0, 2))
    assert judge.faults(example, judge.LP, run, loops, ())
    assert judge.faults(example, judge.LP, run[:5], loops, path[:2])
    assert judge.faults(example, judge.DC, run, loops[:1], ())
    assert judge.faults(example, judge.LC, run, loops[:1], ())
    assert judge.faults(example, judge.PV, run, loops[:1], (4, 1, 5))
    assert judge.faults(example, judge.LP, (1, 2, 3, 4, 5), loops, path)


def test_a_witness_may_start_or_end_at_an_output() -> None:
    example = automaton("q0 -> q1 [insample] :x \n q1 -> q1 [a] >x \n q1 -> q2 [insample] <x")
    assert judge.faults(example, judge.PV, (0, 1), ((1, 2),), (0, 1)) == []
    assert judge.faults(example, judge.PV, (0, 1, 2), ((1, 2),), (2, 0, 1)) == []
    assert judge.faults(example, judge.PV, (0, 1, 2), ((1, 2),), (2, 0))


# benchmarks/agree.py


@pytest.fixture
def agree() -> ModuleType:
    path = Path(__file__).resolve().parent.parent / "benchmarks" / "agree.py"
    spec = importlib.util.spec_from_file_location("agree", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["agree"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def echo(
    example: Automaton, lie: Pattern | None = None, silent: bool = False
) -> dict[Pattern, PatternResult]:
    """The judge's answers as an engine's, but for the pattern it lies about."""
    results = {}
    for pattern, run in judge.decide(example).items():
        present = (run is not None) != (pattern is lie)
        status = Status.UNKNOWN if silent else Status.PRESENT if present else Status.ABSENT
        results[pattern] = PatternResult(pattern, status, "echo")
    return results


def test_agree_finds_a_liar(
    agree: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--count", "5", "--engines", "echo", "--seed", "3"]
    monkeypatch.setattr(agree, "_asked", lambda example, name, timeout: echo(example))
    assert agree.main(options) == 0
    assert "disagreements: 0" in capsys.readouterr().out
    monkeypatch.setattr(agree, "_asked", lambda example, name, timeout: echo(example, silent=True))
    assert agree.main(options) == 0
    assert "without an answer: 5 DC unknown, 5 LC unknown" in capsys.readouterr().out
    for pattern in Pattern:
        monkeypatch.setattr(agree, "_asked", lambda example, name, timeout, lie=pattern: echo(example, lie))
        assert agree.main(options) == 1
        assert "disagreements: 5" in capsys.readouterr().out


def test_agree_refuses_a_false_witness_and_reports_a_crash(
    agree: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def forged(example: Automaton, name: str, timeout: float | None) -> dict[Pattern, PatternResult]:
        results = echo(example)
        present = [p for p in Pattern if results[p].status is Status.PRESENT]
        return results | {p: replace(results[p], witness=Witness(p, (0,), ((0, 1),))) for p in present}

    def crash(example: Automaton, name: str, timeout: float | None) -> dict[Pattern, PatternResult]:
        raise RuntimeError("out of order")

    monkeypatch.setattr(agree, "_asked", forged)
    assert agree.main(["--count", "5", "--engines", "echo"]) == 1
    assert "witness refused" in capsys.readouterr().out
    monkeypatch.setattr(agree, "_asked", crash)
    assert agree.main(["--only", "3", "--engines", "echo"]) == 1
    assert "RuntimeError: out of order" in capsys.readouterr().out


# Random automata


def sample(i: int, variables: tuple[int, ...] = (1, 2, 2, 3, 3)) -> Automaton:
    return source.random_automaton(random.Random(f"judge/{i}"), variables)


def test_random_automata_are_valid_and_varied() -> None:
    seen: Counter[str] = Counter()
    count = 1000
    for i in range(count):
        example = sample(i)
        validate(example)
        shown = found(example)
        seen.update(shown.split() or ["none"])
        seen["one"] += len(shown.split()) == 1
    assert all(seen[p.short] > count // 10 for p in Pattern), seen
    assert seen["none"] > count // 5 and seen["one"] > count // 4, seen


@pytest.mark.parametrize("block", range(5))
def test_literal_and_merged_search_agree(block: int) -> None:
    """What is found is confirmed by the definitions; what is absent is not found by the literal search."""
    late = 0
    for i in range(block * 50, block * 50 + 50):
        example = sample(i, (1, 2, 3, 4))
        expected, present = set(found(example).split()), set(literally_capped(example).split())
        assert present <= expected, (i, present, expected)
        late += len(expected - present)
    assert late <= 6


def literally_capped(example: Automaton) -> str:
    present = judge.patterns(example, 11, max_runs=300)
    return names(pattern for pattern in present if present[pattern])


def test_the_growing_graph_is_the_closure_of_the_dependency_graph() -> None:
    for i in range(150):
        example = sample(i)
        for run, _ in judge.feasible_runs(example, 7, max_runs=40):
            steps = [example.transitions[k] for k in run]
            graph = judge.EMPTY
            for step in steps:
                graph = graph.extend(step)  # type: ignore[assignment]
            edges = judge.dependency_edges(steps)
            for k, above in enumerate(graph.above):
                assert {j for j in range(len(run)) if above >> j & 1} == judge.reachable(edges, k)
                assert all((graph.below[j] >> k & 1) == (above >> j & 1) for j in range(len(run)))
            for k, t in enumerate(example.transitions):
                if t.source == (steps[-1].target if steps else example.initial):
                    assert judge.is_feasible([*steps, t]) == (graph.extend(t) is not None), (run, k)
