"""The mechanisms of ``examples/programs``: their answers, and that automata do what programs do."""

from __future__ import annotations

import random
import re
from fractions import Fraction

import pytest
from conftest import ROOT
from programs_lockstep import Tape, Walk, shown_by_program

import symdipa
from symdipa.model.limits import UNLIMITED
from symdipa.programs.automaton import translated
from symdipa.programs.python.files import load

FOLDER = ROOT / "examples" / "programs"

ANSWERS = {
    "adaptive:adaptive_svt": "private, D = 3/4",
    "adaptive:adaptive_for_ever": "not private: a run that costs more and more",
    "alarm:alarm_once": "private, D = 1",
    "alarm:alarm_for_ever": "not private: leaking pair",
    "alarm:redrawn": "private, D = 1/2",
    "gaps:gap_svt": "private, D = 1",
    "gaps:answer_shown": "not private: violating path to a number that is shown",
    "gaps:fresh_answer": "private, D = 1",
    "histogram:histogram": "private, D = 1",
    "histogram:every_bin_differs": "private, D = 5",
    "histogram:large_bins_only": "private, D = 1",
    "histogram:empty_bins_shown": "not private: exposed comparison",
    "noisy_max:noisy_max": "private, D = 3/2",
    "noisy_max:with_its_value": "private, D = 3/2",
    "noisy_max:one_sided": "private, D = 1",
    "noisy_max:first_shown": "not private",
    "single_numbers:larger": "private, D = 1",
    "single_numbers:mean": "private, D = 1",
    "single_numbers:released_once": "private, D = 1",
    "single_numbers:released_twice": "private, D = 2",
    "ranges:inside": "private, D = 1",
    "ranges:deviation": "private, D = 1/2",
    "ranges:inside_for_ever": "not private: leaking pair",
    "sparse_vector:svt": "private, D = 1",
    "sparse_vector:without_cutoff": "not private: leaking pair",
    "sparse_vector:without_query_noise": "not private: exposed comparison",
    "sparse_vector:threshold_shown": "not private: violating path to the released value of t",
    "sums:total": "private, D = 1",
    "sums:prefix_sums": "private, D = 1",
    "sums:smart_sum": "private, D = 2",
    "sums:fresh_noise_on_everything": "not private: disclosing cycle",
    "sums:block_without_noise": "not private: exposed comparison",
    "watch:every_other": "not private: disclosing cycle",
    "watch:every_other_of_a_window": "private, D = 1",
    "watch:above_five": "private, D = 1",
}

PUBLIC_ADDED = {"sums:prefix_sums", "sums:smart_sum", "sums:block_without_noise"}
"""What they show is what was shown before plus something, and their automata show what is added."""


def program(name, **settings):
    file, _, function = name.partition(":")
    return load(str(FOLDER / f"{file}.py"), function, settings, UNLIMITED)


def test_all_examples_are_listed():
    found = set()
    for path in FOLDER.glob("*.py"):
        names = re.findall(r"^@mechanism.*\ndef (\w+)", path.read_text("utf-8"), re.MULTILINE)
        found |= {f"{path.stem}:{name}" for name in names}
    assert found == set(ANSWERS)


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer(name):
    result = symdipa.check(translated(program(name)).automaton, timeout=60)
    assert ANSWERS[name] in repr(result)


@pytest.mark.parametrize("name", ANSWERS)
def test_the_automaton_shows_what_the_program_shows(name):
    followed = program(name)
    translation = translated(followed)
    rng = random.Random(name)
    told = 0
    for _ in range(200):
        entries = [Fraction(rng.randint(-30, 30), 1 if followed.integer else 7) for _ in range(8)]
        tape = Tape(rng, followed.integer)
        inputs = followed.mechanism.inputs
        given = [list(entries)] if len(inputs) == 1 and inputs[0] != "x" else entries[: len(inputs)]
        expected = shown_by_program(followed.mechanism, given, tape, {})
        found = Walk(translation.automaton, entries, tape, translation.symbols).outputs(len(expected))
        if name in PUBLIC_ADDED:
            expected, found = ([plain for plain, _ in some] for some in (expected, found))
        assert found == expected
        told += len(expected)
    assert told > 100


def test_the_sparse_vector_technique_is_that_of_the_paper():
    automaton = translated(program("sparse_vector:svt")).automaton
    paper = symdipa.load(ROOT / "examples" / "well_formed" / "svt_cutoff_3.dipa")
    names = dict(zip([s.name for s in automaton.states], [s.name for s in paper.states], strict=True))
    outputs = {"quiet": "oinit", "low": "obot", "high": "otop"}
    assert {
        (names[t.source], names[t.target], len(t.guard.ge), len(t.guard.lt), outputs[t.output.symbol])
        for t in automaton.transitions
    } == {(t.source, t.target, len(t.guard.ge), len(t.guard.lt), t.output.symbol) for t in paper.transitions}
    assert [(s.d, s.mu, s.is_input) for s in automaton.states] == [
        (s.d, s.mu, s.is_input) for s in paper.states
    ]


@pytest.mark.parametrize("k", range(2, 9))
def test_noisy_max_of_any_size_from_one_function(k):
    automaton = translated(program("noisy_max:noisy_max", k=k)).automaton
    assert len(automaton.states) == 2 + k * (k - 1) // 2
    shown = {t.output.symbol for t in automaton.transitions} - {"read"}
    assert shown == {f"_{i}" for i in range(k)}
