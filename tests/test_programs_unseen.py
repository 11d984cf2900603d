"""Programs whose outputs do not tell how many steps there are: the automaton shows more than the program."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from math import exp

import pytest

import symdipa
from symdipa.evidence.probability.total import total_log_probability
from symdipa.model.automaton import State, Transition, symbol
from symdipa.model.errors import NoteKind, NothingToCertify
from symdipa.programs.automaton.tidy import Steps
from symdipa.programs.automaton.unseen import uncounted
from symdipa.programs.loading import read_program

HEAD = "from symdipa import laplace, mechanism\n\n\n@mechanism\n"

SECOND_LOOK = """def look(queries):
    t = laplace(2)
    for q in queries:
        if q + laplace(4) >= t:
            {shown}
            if q + laplace(4) >= t:
                yield "high"
                return
        yield "low"
"""

RESAMPLED = """def resampled(queries):
    t = laplace(2)
    for q in queries:
        x = q + laplace(2)
        while x < t:
            x = q + laplace(2)
        yield "ok"
"""

TWO_NUMBERS = """def two(queries):
    q = next(queries)
    x = q + laplace(4)
    if x < 10:
        x = q + laplace(4)
    if x < 5:
        x = 5
    yield x
"""


def loaded(text, tmp_path):
    file = tmp_path / "mechanism.py"
    file.write_text(HEAD + text, encoding="utf-8")
    return read_program(str(file))


def is_told(result):
    return any(note.kind is NoteKind.UNSEEN_STEPS for note in result.notes)


@pytest.mark.parametrize("text", [SECOND_LOOK.format(shown="pass"), RESAMPLED])
def test_no_violation_where_steps_are_unseen(text, tmp_path):
    automaton = loaded(text, tmp_path)
    result = symdipa.check(automaton)
    assert result.verdict is symdipa.Verdict.NOT_WELL_FORMED
    assert is_told(result)
    with pytest.raises(NothingToCertify, match="what is seen does not tell"):
        symdipa.certify(result)


def test_probabilities_of_what_is_seen(tmp_path):
    automaton = loaded(SECOND_LOOK.format(shown="pass"), tmp_path)
    low, high = (
        exp(total_log_probability(automaton, [3], [word], unseen=automaton.unseen).value)
        for word in ("low", "high")
    )
    assert low + high == pytest.approx(1)
    at_once = exp(total_log_probability(automaton, [3], ["quiet", "low"]).value)
    assert 0.2 < at_once < low - 0.1


def test_a_counterexample_adds_up_all_runs_that_show_the_same(tmp_path):
    result = symdipa.check(loaded(SECOND_LOOK.format(shown="pass"), tmp_path))
    found = symdipa.refute(result, Fraction(1, 20), timeout=60)
    assert found.all_runs
    assert found.holds


def test_a_violation_where_the_program_shows_what_decides(tmp_path):
    result = symdipa.check(loaded(SECOND_LOOK.format(shown="yield 'maybe'"), tmp_path))
    assert result.verdict is symdipa.Verdict.NOT_PRIVATE
    assert not is_told(result)


def test_only_bounds_from_above_where_steps_are_unseen(tmp_path):
    result = symdipa.weigh(loaded(TWO_NUMBERS, tmp_path))
    assert result.verdict is symdipa.Verdict.PRIVATE
    assert is_told(result)
    assert result.bounds.best is not None
    assert result.bounds.needed is None
    assert not result.bounds.optimal
    kinds = {part["kind"] for part in symdipa.certify(result)["certificates"]}
    assert "private" in kinds
    assert "lower" not in kinds


# ------------------------------------------------------------------------- against all runs up to some length

LONGEST = 6


def random_steps(rng):
    names = [f"q{k}" for k in range(rng.randint(1, 4))]
    states = tuple(State(name, is_input=rng.random() < 0.3, draws=False) for name in names)
    letters = [symbol(name) for name in ("quiet", "a", "b")]
    found = {}
    for name in names:
        for _ in range(rng.randint(1, 2)):
            t = Transition(name, rng.choice(names), rng.choice(letters))
            found[t] = (t, (len(found) + 1,))
    return Steps(states, tuple(found.values()), {})


def seen_of(steps, run):
    """What is seen of a run."""
    reads = {state.name for state in steps.states if state.is_input}
    for t in run:
        if t.source in reads:
            yield "entry"
        if t.output != symbol("quiet"):
            yield t.output


def runs(steps, length):
    found = [((), steps.states[0].name)]
    for _ in range(length):
        found = [
            ((*run, t), t.target) for run, state in found for t, _ in steps.transitions if t.source == state
        ]
        yield from (run for run, _ in found)


def numbers_of_steps(steps):
    """For what is seen of runs that have just shown something, which of their steps may have shown it."""
    found = {}
    for run in runs(steps, LONGEST):
        if run[-1].output != symbol("quiet"):
            shown = tuple(itertools.accumulate(t.output != symbol("quiet") for t in run))
            found.setdefault(tuple(seen_of(steps, run)), set()).add(shown)
    return found


@pytest.mark.parametrize("seed", range(300))
def test_whatever_two_runs_leave_open_is_found(seed):
    steps = random_steps(random.Random(seed))
    if any(len(several) > 1 for several in numbers_of_steps(steps).values()):
        assert uncounted(steps, (symbol("quiet"),), ())


def test_both_answers_occur():
    found = [
        bool(uncounted(random_steps(random.Random(seed)), (symbol("quiet"),), ())) for seed in range(300)
    ]
    assert 50 < sum(found) < 250


def test_a_run_that_may_end_unseen():
    a, b = State("a", is_input=False, draws=False), State("b", is_input=False, draws=False)
    quiet, on = Transition("a", "b", symbol("quiet")), Transition("b", "a", symbol("on"))
    steps = Steps((a, b), ((quiet, (1,)), (on, (2,))), {})
    assert uncounted(steps, (symbol("quiet"),), ()) == ()
    assert uncounted(steps, (symbol("quiet"),), {"b"}) == ()
    assert uncounted(steps, (symbol("quiet"),), {"a", "b"}) == (1,)
