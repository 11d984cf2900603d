"""Witnesses of every violating file at hand: they replay, are the judge's too, and are as short as can be."""

from __future__ import annotations

import random
from pathlib import Path

import brute_force as judge
import pytest
import random_automata as source
from conftest import EXAMPLES, ROOT, WIDER
from test_brute_force import automaton as drawn

from symdipa.analysis import check
from symdipa.files import formats
from symdipa.model.automaton import Automaton
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Result, Verdict, Witness
from symdipa.runs.control import control_graph
from symdipa.runs.properties import find_distinct, output_distinct, witness_distinct
from symdipa.runs.witness import feasible_runs, replay, shorten, witnesses_on

LC, LP, DC, PV = Pattern
SHARED = ROOT.parent / "shared"
VIOLATING = [
    path
    for folder in (EXAMPLES, SHARED / "literature", SHARED / "peer")
    for path in sorted(folder.rglob("*.dipa"))
    if path.parent.name not in ("well_formed", "m_range", "k_min_max", *WIDER)
    and "non_input" not in path.stem
]
"""Those of the peer with "non_input" in their names lie outside the model."""
ENGINES = [
    ("explicit", "marks", None),
    ("z3", "marks", "z3"),
    ("z3", "marks", "minisat"),
    ("z3", "ghost", "minisat"),
]


def found_by_engines(example: Automaton) -> list[Result]:
    return [
        check(example, engine, encoding=e, solver=solver, relational=False) for engine, e, solver in ENGINES
    ]


@pytest.mark.parametrize("path", VIOLATING, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_violating_file_has_a_witness_that_replays(path: Path):
    example = formats.load(path)
    control = control_graph(example)
    for result in found_by_engines(example):
        assert (result.verdict is Verdict.PRIVATE) == (result.witness is None)
        shown = [found.witness for found in result.patterns.values() if found.witness is not None]
        for witness in shown + ([result.witness] if result.witness else []):
            replay(control, witness)
            assert judge.faults(example, witness.pattern, witness.run, witness.cycles, witness.path) == []
        for witness in shown:
            assert len(witness.run) == shortest(example, witness)


def shortest(example: Automaton, witness: Witness) -> int:
    """The length of the shortest run that shows the pattern, by trying all."""
    control = control_graph(example)
    for run in feasible_runs(control, len(witness.run), 100_000):
        if witness.pattern in judge.shows(example, run):
            return len(run)
    raise AssertionError("the witness itself is no such run")


def test_random_witnesses_are_as_short_as_can_be():
    seen = 0
    for i in range(40):
        example = source.random_automaton(random.Random(f"short/{i}"))
        lengths: dict[Pattern, int] = {}
        for result in (
            check(example, "explicit", relational=False),
            check(example, "z3", solver="minisat", relational=False),
        ):
            for pattern, found in result.patterns.items():
                if found.witness is not None and len(found.witness.run) <= 6:
                    least = lengths.get(pattern) or shortest(example, found.witness)
                    assert len(found.witness.run) == lengths.setdefault(pattern, least), (i, found)
                    seen += 1
    assert seen > 50


def test_a_long_witness_is_not_worked_on_for_ever():
    rows = ["q0 -> q1 [a] :x", *(f"q{i} -> q{i + 1} [b]" for i in range(1, 100)), "q100 -> q100 [c] <x :x"]
    example = drawn("\n".join(rows))
    witness = Witness(LC, tuple(range(101)), ((100, 101),))
    replay(control_graph(example), witness)
    assert shorten(control_graph(example), witness) == witness


def test_a_detour_of_a_middling_witness_is_cut_out():
    rows = ["q0 -> q1 [a] :x", "q1 -> q1 [b] <x", "q1 -> q2 [c] >x"]
    rows += [*(f"q{i} -> q{i + 1} [b]" for i in range(2, 30)), "q30 -> q30 [c] <x :x"]
    example = drawn("\n".join(rows))
    run = (0, 1, 1, 1, *range(2, 32))
    witness = Witness(LC, run, ((33, 34),))
    replay(control_graph(example), witness)
    assert len(shorten(control_graph(example), witness).run) == 31


def test_witnesses_on_a_run_are_those_of_the_judge():
    for i in range(40):
        example = source.random_automaton(random.Random(f"on/{i}"))
        control = control_graph(example)
        for run in feasible_runs(control, 6, 60):
            shown = judge.shows(example, run)
            for pattern in Pattern:
                found = list(witnesses_on(control, pattern, run))
                for witness in found:
                    assert witness.run == run[: len(witness.run)]
                    replay(control, witness)
                if pattern in (LP, PV):
                    assert bool(found) == (pattern in shown), (i, run, pattern)
                elif pattern in shown:
                    assert found, (i, run, pattern)


def test_runs_come_by_length_and_are_feasible():
    rows = """q0 -> q1 [a] :x
        q1 -> q1 [b] <x :y
        q1 -> q2 [c] >x :y
        q2 -> q3 [d] <y >x
        q2 -> q1 [e] >y"""
    example = drawn(rows)
    runs = list(feasible_runs(control_graph(example), 4, 1000))
    assert runs == sorted(runs, key=len) and len(set(runs)) == len(runs)
    assert all(judge.is_feasible([example.transitions[t] for t in run]) for run in runs)
    assert list(feasible_runs(control_graph(example), 4, 3)) == runs[:3]


# Another witness where the first can be imitated


def test_a_run_goes_on_until_its_imitators_fail():
    # q1 and q4 show the same up to the last step, which only one of them can take.
    rows = """q0 -> q1 [a] :x
        q1 -> q2 [b] <x
        q1 -> q4 [b] >x
        q2 -> q2 [c] <x
        q2 -> q3 [d] >x
        q3 -> q3 [e] >x
        q3 -> q6 [f] <x
        q4 -> q4 [c] <x
        q4 -> q5 [d] >x
        q5 -> q5 [e] >x
        q5 -> q6 [g] <x"""
    example = drawn(rows)
    result = check(example, "explicit", relational=False)
    pair = result.patterns[LP].witness
    assert pair is not None and not witness_distinct(control_graph(example), pair)
    assert result.verdict is Verdict.NOT_PRIVATE and result.distinct
    assert result.witness is not None and len(result.witness.run) == len(pair.run) + 1
    assert witness_distinct(control_graph(example), result.witness)


def test_a_witness_on_another_run_is_found():
    # The shortest pair is below q1, where both branches show the same; the other way is longer and distinct.
    rows = """q0 -> q1 [a] :x
        q1 -> q2 [b] <x
        q1 -> q3 [c] >x
        q2 -> q2 [o] <x
        q2 -> q2 [o] >x
        q3 -> q4 [d]
        q4 -> q4 [p] <x
        q4 -> q4 [q] >x"""
    example = drawn(rows)
    first = check(example, "explicit", relational=False).patterns[LP].witness
    assert first is not None and not witness_distinct(control_graph(example), first)
    found = find_distinct(control_graph(example), [first])
    assert found is not None and len(found.run) > len(first.run)
    assert check(example, "explicit", relational=False).verdict is Verdict.NOT_PRIVATE


def test_where_everything_can_be_imitated_nothing_is_found():
    example = formats.load(EXAMPLES / "leaking_cycle" / "a_nwf.dipa")
    witness = check(example).witness
    assert witness is not None and find_distinct(control_graph(example), [witness]) is None
    assert find_distinct(control_graph(example), []) is None


def test_random_distinct_witnesses_hold():
    found = 0
    for i in range(150):
        example = source.random_automaton(random.Random(f"dist/{i}"))
        if output_distinct(example):
            continue
        result = check(example, "explicit", relational=False)
        if result.distinct:
            assert result.verdict is Verdict.NOT_PRIVATE and result.witness is not None
            replay(control_graph(example), result.witness)
            assert witness_distinct(control_graph(example), result.witness)
            found += 1
    assert found > 5
