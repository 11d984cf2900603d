"""Random automata written as programs: the program, what it is translated to and the automaton that it was
written from show the same on the same inputs and noise, and have the same answers."""

from __future__ import annotations

import importlib
import random
import sys

import pytest
from conftest import ROOT
from programs_lockstep import agree, beside
from programs_written import with_own_scales, without_dead_variables, written
from random_automata import random_automaton
from random_differ import random_differ
from random_linear import random_linear

import symdipa
from symdipa.model.limits import UNLIMITED
from symdipa.programs.automaton import translated
from symdipa.programs.python.files import load


def loaded(automaton, folder):
    file = folder / "written.py"
    file.write_text(written(automaton), encoding="utf-8")
    return load(str(file), None, {}, UNLIMITED)


def reads(automaton):
    leaving = {t.source for t in automaton.transitions}
    return any(state.is_input and state.name in leaving for state in automaton.states)


def drawn(make, seed):
    """A random automaton, other than one of those that no program can be."""
    rng = random.Random(seed)
    while True:
        automaton = without_dead_variables(make(rng))
        if reads(automaton):
            return automaton


@pytest.mark.parametrize("make", [random_automaton, random_linear, random_differ])
@pytest.mark.parametrize("seed", range(40))
def test_programs_do_what_their_automata_do(make, seed, tmp_path):
    automaton = with_own_scales(drawn(make, seed))
    program = loaded(automaton, tmp_path)
    translation = translated(program)
    for _, (expected, origin), (shown, found) in beside(
        automaton, program.mechanism, translation, random.Random(seed), 40
    ):
        assert agree(origin, expected)
        assert agree(found, shown)


@pytest.mark.parametrize("seed", range(40))
def test_programs_have_the_answers_of_their_automata(seed, tmp_path):
    automaton = drawn(random_automaton, 1000 + seed)
    translation = translated(loaded(automaton, tmp_path))
    expected = symdipa.check(automaton, timeout=30)
    result = symdipa.check(translation.automaton, timeout=30)
    assert result.verdict is expected.verdict
    if expected.bounds is not None and not any(t.output.shows_second for t in automaton.transitions):
        assert result.bounds.best == expected.bounds.best


# benchmarks/programs.py


@pytest.fixture(scope="module")
def benchmark():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        yield importlib.import_module("programs")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


@pytest.mark.parametrize(
    ("seed", "number"),
    [
        *((1, number) for number in (33, 47, 64, 77, 153, 186, 304, 332, 349, 401, 456, 491)),
        *((20261129, number) for number in (25, 40, 71, 124, 175, 197, 353, 398, 418, 470)),
        *((20261130, number) for number in (115, 125, 152)),
    ],
)
def test_programs_that_were_not_what_they_were_written_from(seed, number, benchmark):
    """Their answers were other ones, or less was known; some were written or compared wrongly."""
    outcome = benchmark.examine(benchmark.Setup(seed), number)
    assert outcome.seen["followed"] and not outcome.disagreements


@pytest.mark.parametrize(
    ("seed", "number", "said"), [(2, 280, ""), (2, 388, ""), (3, 45, "made of several sums")]
)
def test_programs_that_were_not_followed(seed, number, said, benchmark):
    """There is one reason that counts, if any: what the model does not have."""
    outcome = benchmark.examine(benchmark.Setup(seed), number)
    assert not outcome.disagreements
    refused = [what for what in outcome.seen if what.startswith("refused")]
    assert len(refused) == bool(said) and all(said in what for what in refused)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda text: text.replace("yield 'o1'", "yield 'o9'"), "the automaton shows"),
        (lambda text: text.replace("laplace(", "laplace(7 * "), "D: "),
    ],
)
def test_the_benchmark_notices_wrong_programs(wrong, said, benchmark, monkeypatch):
    monkeypatch.setattr(benchmark, "written", lambda automaton: wrong(written(automaton)))
    monkeypatch.setattr(benchmark, "with_own_scales", lambda automaton: automaton)
    if said == "D: ":
        monkeypatch.setattr(benchmark, "_in_lock_step", lambda *arguments: None)
    setup = benchmark.Setup(1, ("plain",))
    found = [benchmark.examine(setup, number) for number in range(12)]
    told = [line for outcome in found for line in outcome.disagreements]
    assert any(line.startswith(said) for line in told), told
    assert "disagreements: 0" not in benchmark.report(setup, found, 1.0)
