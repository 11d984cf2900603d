"""The families: what is documented about sizes and answers, and that large members are built at once.

Answers are checked by the explicit engine and by the judge, sizes against the table of ``docs/families.md``.
"""

from __future__ import annotations

import time

import brute_force as judge
import pytest
from conftest import ROOT

from symdipa.analysis import check
from symdipa.files import formats
from symdipa.files.families import FAMILIES, LARGEST, generate
from symdipa.model import validation
from symdipa.model.errors import InvalidInput
from symdipa.model.verdict import Status, Verdict
from symdipa.runs.problem import Problem
from symdipa.runs.properties import output_distinct

NAMES = [
    "m-range", "k-minmax", "svt", "u-range", "pivot", "pivot-bad", "bracket", "bracket-bad", "running-max",
    "running-max-bad", "parity", "parity-bad", "turing-overflow", "turing-wrap", "turing-odd",
]  # fmt: skip
BUILT_AT = 1000


def rows(columns: int) -> dict[str, list[str]]:
    """A table of the page by its number of columns: the cells of each family."""
    lines = (ROOT / "docs" / "families.md").read_text(encoding="utf-8").splitlines()
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")
    ]
    return {row[0].strip("`"): row[1:] for row in cells if len(row) == columns}


ANSWERS, SIZES = rows(3), rows(5)


def documented(name: str, n: int) -> tuple[int, ...]:
    """Variables, states, transitions and augmented states as the page has them."""
    return tuple(eval(formula, {"N": n}) for formula in SIZES[name])


def small(*offsets: int):
    """Members with numbers above the smallest."""
    return [(name, family.smallest + i) for name, family in FAMILIES.items() for i in offsets]


def test_the_names_are_those_of_the_command_line():
    assert list(FAMILIES) == NAMES == list(ANSWERS) == list(SIZES)


@pytest.mark.parametrize(("name", "n"), small(0, 1, 2, 5))
def test_members_are_valid_and_have_the_documented_size(name, n):
    automaton = generate(name, n)
    validation.validate(automaton)
    sizes = len(automaton.variables), len(automaton.states), len(automaton.transitions)
    nodes = Problem.of(automaton).augmentation().nodes
    assert (*sizes, nodes) == documented(name, n)
    assert nodes == FAMILIES[name].nodes(n)


@pytest.mark.parametrize(("name", "n"), [*small(40), *small(999)])
def test_large_members_are_valid(name, n):
    automaton = generate(name, n)
    validation.validate(automaton)
    sizes = len(automaton.variables), len(automaton.states), len(automaton.transitions)
    assert sizes == documented(name, n)[:3]


@pytest.mark.parametrize(("name", "n"), small(0, 1, 2, 4))
def test_members_have_the_documented_answer(name, n):
    family = FAMILIES[name]
    result = check(generate(name, n), engine="explicit")
    assert {p for p, a in result.patterns.items() if a.status is Status.PRESENT} == family.patterns
    assert Status.UNKNOWN not in {a.status for a in result.patterns.values()}
    assert result.output_distinct is (name != "k-minmax" or n == 1)
    if family.patterns:
        assert result.verdict is Verdict.NOT_PRIVATE
        assert family.bound is None
    else:
        assert result.verdict is Verdict.PRIVATE
        assert result.weight.corollary == family.bound(n)


@pytest.mark.parametrize("name", FAMILIES)
def test_answers_are_written_as_they_are(name):
    family = FAMILIES[name]
    answer = ANSWERS[name][1]
    titles = {pattern.title for pattern in family.patterns}
    if family.patterns:
        assert {answer} == titles
        assert family.answer.startswith(f"not private: {answer}")
    else:
        bound = answer.removeprefix("private, D = ")
        assert family.answer == f"{answer} (corollary bound)".replace("2**(N - 1)", "2^(N-1)")
        assert family.bound(3) == eval(bound, {"N": 3})


@pytest.mark.parametrize(("name", "n"), small(0, 1, 2))
def test_the_judge_agrees(name, n):
    automaton = generate(name, n)
    runs = judge.decide(automaton)
    assert {pattern for pattern, run in runs.items() if run is not None} == FAMILIES[name].patterns
    for pattern, run in runs.items():
        # The literal check of a run is cubic at least.
        if run is not None and len(run) < 60:
            assert pattern in judge.shows(automaton, run)


@pytest.mark.parametrize(("name", "n"), small(0, 1))
def test_the_symbolic_engine_agrees(name, n):
    result = check(generate(name, n), engine="z3", solver="minisat")
    found = {p for p, a in result.patterns.items() if a.status is Status.PRESENT}
    assert found == FAMILIES[name].patterns
    assert Status.UNKNOWN not in {a.status for a in result.patterns.values()}


@pytest.mark.parametrize("name", ["pivot-bad", "bracket-bad", "running-max-bad"])
def test_one_input_is_not_enough_for_a_pair(name):
    family = FAMILIES[name]
    runs = judge.decide(family.build(1))
    assert not any(runs.values())
    with pytest.raises(InvalidInput, match="from 2 to"):
        generate(name, 1)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_violations_of_the_counters_are_as_long_as_documented(n):
    result = check(generate("turing-overflow", n), engine="explicit")
    start, _ = min(result.witness.cycles)
    assert start == 2 ** (n + 2) + n - 3
    result = check(generate("turing-wrap", n), engine="explicit")
    ((start, end),) = result.witness.cycles
    assert end - start == 2 ** (n + 2) - 4


def bits(n: int, start: int, step: int):
    """What a counter of n bits (the first is the lowest) reads until it overflows; ``step`` is 1 or 2."""
    for value in range(start, 2**n, step):
        if step == 2:
            yield "zero"
        for i in range(step.bit_length() - 1, n):
            yield ("zero", "one")[value >> i & 1]
            if not value >> i & 1:
                break


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize(("name", "step"), [("turing-overflow", 1), ("turing-wrap", 1), ("turing-odd", 2)])
def test_the_machines_are_counters(name, step, n):
    automaton = generate(name, n)
    graph = Problem.of(automaton).augmentation()
    outputs, node, seen = [], 0, set()
    while len(graph.outgoing[node]) == 1 and node not in seen:
        seen.add(node)
        (e,) = graph.outgoing[node]
        outputs.append(automaton.transitions[graph.transition[e]].output.symbol)
        node = graph.target[e]
    assert [symbol for symbol in outputs if symbol in ("zero", "one")] == list(bits(n, 0, step))
    at = automaton.states[graph.state[node]].name
    assert at == {"turing-overflow": "leak", "turing-wrap": "add1", "turing-odd": "halt"}[name]


@pytest.mark.parametrize("name", FAMILIES)
def test_large_members_are_built_at_once(name):
    start = time.process_time()
    automaton = generate(name, BUILT_AT)
    assert time.process_time() - start < 0.5
    assert output_distinct(automaton) is (name != "k-minmax")


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("fmt", ["dipa", "json"])
def test_members_survive_writing_and_reading(name, fmt):
    automaton = generate(name, 3)
    again = formats.loads(formats.dumps(automaton, fmt), fmt)
    assert (again.states, again.initial, set(again.transitions)) == (
        automaton.states,
        automaton.initial,
        set(automaton.transitions),
    )


@pytest.mark.parametrize(("name", "n"), [("svt", 0), ("svt", -3), ("m-range", LARGEST + 1), ("rings", 3)])
def test_unusable_requests_say_what_would_be_right(name, n):
    with pytest.raises(InvalidInput) as caught:
        generate(name, n)
    message = caught.value.problems[0].message
    assert "from 1 to" in message if name in FAMILIES else "m-range, k-minmax, svt" in message
