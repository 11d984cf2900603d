"""Random automata written as programs: the program, what it is translated to and the automaton that it was
written from show the same on the same inputs and noise, and have the same answers."""

from __future__ import annotations

import copy
import random
from fractions import Fraction

import pytest
from programs_lockstep import Tape, Walk, agree, shown_by_program
from programs_written import with_own_scales, without_dead_variables, written
from random_automata import random_automaton
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
    return any(state.is_input for state in automaton.states)


def releases(automaton):
    """Whether values of variables are shown: then they count as known, and may be left out of differences."""
    return any(t.output.values for t in automaton.transitions)


def drawn(make, seed):
    """A random automaton, other than one of those that no program can be."""
    rng = random.Random(seed)
    while True:
        automaton = without_dead_variables(make(rng))
        if reads(automaton):
            return automaton


@pytest.mark.parametrize("make", [random_automaton, random_linear])
@pytest.mark.parametrize("seed", range(40))
def test_programs_do_what_their_automata_do(make, seed, tmp_path):
    automaton = with_own_scales(drawn(make, seed))
    program = loaded(automaton, tmp_path)
    translation = translated(program)
    rng = random.Random(seed)
    parts = 1 if automaton.integer else 10_007
    for _ in range(40):
        entries = [Fraction(rng.randint(-20 * parts, 20 * parts), parts) for _ in range(10)]
        tape = Tape(rng, automaton.integer)
        expected = shown_by_program(program.mechanism, [list(entries)], tape, {})
        same = copy.deepcopy(tape)
        origin = Walk(automaton, entries, same).outputs(len(expected))
        found = Walk(translation.automaton, entries, tape, translation.symbols).outputs(len(expected))
        assert agree(origin, expected)
        if releases(automaton):
            expected, found = ([(texts, []) for texts, _ in some] for some in (expected, found))
        assert agree(found, expected)


@pytest.mark.parametrize("seed", range(40))
def test_programs_have_the_answers_of_their_automata(seed, tmp_path):
    automaton = drawn(random_automaton, 1000 + seed)
    translation = translated(loaded(automaton, tmp_path))
    expected = symdipa.check(automaton, timeout=30)
    result = symdipa.check(translation.automaton, timeout=30)
    assert result.verdict is expected.verdict
    if expected.bounds is not None and not any(t.output.shows_second for t in automaton.transitions):
        assert result.bounds.best == expected.bounds.best
