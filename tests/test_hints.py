"""Hints: the change they ask for does take the violation away, and is the one a designer would make."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from conftest import EXAMPLES, ROOT

from symdipa.analysis import check
from symdipa.evidence.hints import Hint, hints, limited
from symdipa.files import formats
from symdipa.model.automaton import Automaton
from symdipa.model.errors import InvalidInput
from symdipa.model.patterns import Pattern
from symdipa.model.validation import validate
from symdipa.model.verdict import Status, Verdict
from symdipa.programs.loading import read_program

SHARED = ROOT.parent / "shared"
FILES = [
    path
    for folder in (EXAMPLES, SHARED / "literature", SHARED / "peer")
    for path in sorted(folder.rglob("*.dipa"))
    if path.parent.name not in ("well_formed", "m_range", "k_min_max")
]


def explicit(automaton: Automaton):
    return check(automaton, "explicit", relational=False)


def hints_for(path: Path) -> list[Hint]:
    automaton = formats.load(path)
    witness = explicit(automaton).witness
    return [] if witness is None else hints(automaton, witness, explicit)


def example(name: str) -> list[Hint]:
    """The changes; that to promise less is left out."""
    return repairs(hints_for(EXAMPLES / f"{name}.dipa"))


def repairs(found: list[Hint]) -> list[Hint]:
    return [hint for hint in found if hint.kind != "one-entry"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_violation_has_a_change_that_makes_it_private(path):
    try:
        automaton = formats.load(path)
    except InvalidInput:
        pytest.skip("not an automaton of the model")
    result = explicit(automaton)
    if result.witness is None:
        return
    found = hints(automaton, result.witness, explicit)
    assert found
    for hint in found:
        assert hint.private and hint.outcome.startswith("private, D = ")
        validate(hint.automaton)
        again = check(hint.automaton, "z3")  # not the engine that was asked while making the hint
        assert again.verdict is Verdict.PRIVATE
        assert hint.changes and all(change.after != change.before for change in hint.changes)


def changes(hint: Hint) -> list[tuple[str, str]]:
    return [(change.before, change.after) for change in hint.changes]


def test_svt_without_cutoff_gets_one():
    first, second = example("leaking_pair/svt_no_cutoff")
    assert first.text == "Answer otop (test -> test) only a fixed number of times, then stop."
    assert changes(first) == [
        (
            "(test): if (insample >= x) then output otop; goto test",
            "(test): if (insample >= x) then output otop; goto stop",
        )
    ]
    assert first.outcome == "private, D = 5/4 if it stops after the first, D = 13/4 after 3"
    assert "obot" in second.text
    right = formats.load(EXAMPLES / "well_formed" / "svt.dipa")
    assert explicit(first.automaton).weight == explicit(right).weight


@pytest.mark.parametrize("cutoff", [1, 3])
def test_a_limit_is_the_cutoff_of_svt(cutoff):
    automaton = formats.load(EXAMPLES / "leaking_pair" / "svt_no_cutoff.dipa")
    result = explicit(limited(automaton, {2}, cutoff))
    right = formats.load(EXAMPLES / "well_formed" / ("svt.dipa" if cutoff == 1 else "svt_cutoff_3.dipa"))
    assert result.verdict is Verdict.PRIVATE
    assert len(result.automaton.states) == len(right.states)
    assert len(result.automaton.transitions) == len(right.transitions)


def test_a_published_number_is_drawn_once_more():
    first, second, third = example("privacy_violating_path/svt_releases_sample")
    assert changes(first) == [
        (
            "(test, 1/2, 0): if (insample >= x) then output insample; goto done",
            "(test, 1/2, 0, 1/2, 0): if (insample >= x) then output insampleprime; goto done",
        )
    ]
    assert first.outcome == "private, D = 7/4"  # that of num_sparse, the right mechanism
    assert "symbol instead of the number" in second.text and "obot" in third.text


def test_a_second_sample_keeps_the_noise_that_the_state_has():
    automaton = formats.loads(
        "(draw:non-input, 1/4, 0): x := insample; output o; goto test\n"
        "(test, 1/2, 0, 1/8, 3): if (insample < x) then output obot; goto test "
        "elseif (insample >= x) then output insample; goto done"
    )
    found = hints(automaton, explicit(automaton).witness, explicit)
    assert found[0].automaton.state("test").d_prime == Fraction(1, 8)


def test_a_threshold_is_kept_secret():
    first, _ = example("privacy_violating_path/svt_releases_threshold")
    assert first.kind == "symbol" and first.text.startswith("Keep the number secret (draw -> test)")


def test_a_mistake_that_is_made_again_is_repaired_again():
    literature = SHARED / "literature" / "lyu_alg3_c3.dipa"
    if not literature.exists():
        pytest.skip("the literature is not at hand")
    first = hints_for(literature)[0]
    assert "(q2 -> q3, q3 -> q4 and q4 -> q5)" in first.text and len(first.changes) == 3


def test_a_shared_threshold_is_drawn_anew():
    redraw = next(hint for hint in example("leaking_pair/two_range_1") if hint.kind == "redraw")
    assert redraw.text.startswith("Draw v anew between the two loops (after q4 -> q5)")
    assert changes(redraw)[1] == ("", "(redraw_v:non-input, 1/4, 1): v := insample; output oredrawn; goto q5")
    assert redraw.outcome == "private, D = 2"  # that of two_range_2, the right mechanism


def test_a_comparison_that_ties_two_thresholds_is_left_out():
    less = next(hint for hint in example("leaking_pair/a_leakp") if hint.kind == "compare-less")
    assert less.changes[0].after == "(q3): if (insample >= x2) then output obot; goto q4"


def test_a_threshold_is_not_stored_in_the_loop():
    keep = next(hint for hint in example("leaking_cycle/lc_example") if hint.kind == "keep")
    assert changes(keep) == [
        (
            "(q4): if (insample < x2) then x2 := insample; output obot; goto q3",
            "(q4): if (insample < x2) then output obot; goto q3",
        )
    ]


FRESH_THRESHOLD = """
(draw:non-input, 1/2, 0): x := insample; output oinit; goto test
(test, 1/4, 0):
    if (insample < x) then output obot; goto draw
    elseif (insample >= x) then output otop; goto done
"""


def test_a_threshold_is_drawn_before_the_loop():
    automaton = formats.loads(FRESH_THRESHOLD)
    first = hints(automaton, explicit(automaton).witness, explicit)[0]
    assert first.kind == "draw-once" and first.outcome == "private, D = 1"
    assert first.text == "Draw x once, before the loop, and not again in every round (after test -> draw)."
    assert changes(first) == [
        (
            "(test): if (insample < x) then output obot; goto draw",
            "(test): if (insample < x) then output obot; goto test",
        )
    ]


def test_a_variable_that_only_the_loop_draws_stays_drawn_there():
    # Without the draw nothing would be stored: no automaton, so no hint.
    automaton = formats.loads(
        "(start, 1, 0): output o; goto test\n"
        "(test:non-input, 1, 0): x := insample; output p; goto ask\n"
        "(ask, 1, 0): if (insample < x) then output q; goto start"
    )
    found = hints(automaton, explicit(automaton).witness, explicit)
    assert found and all(hint.kind != "draw-once" for hint in found)


def test_a_change_after_which_nothing_is_told_is_shown_only_if_there_is_no_other():
    (only,) = example("disclosing_cycle/stream")
    assert only.kind == "limit"
    automaton = formats.load(EXAMPLES / "disclosing_cycle" / "stream.dipa")
    result = explicit(automaton)

    def without_limits(changed):
        answer = explicit(changed)
        return None if any(t.target == "stop" for t in changed.transitions) else answer

    silent, less = hints(automaton, result.witness, without_limits)
    assert less.kind == "one-entry" and less.outcome == "private, D = 1/4"
    assert silent.silent and silent.outcome == "private, D = 0: the outputs tell nothing about the inputs"


def test_a_change_that_opens_another_leak_is_no_remedy():
    # Without storing the record it would be the sparse vector technique without cutoff.
    assert [hint.kind for hint in example("leaking_cycle/running_maximum")] == ["limit"]


def test_a_number_becomes_a_symbol():
    first, second = example("disclosing_cycle/dc_example")
    assert first.changes[0].after.endswith("output oshown; goto q3")
    assert "with a number (q3 -> q3)" in second.text


def test_two_mistakes_need_two_changes():
    automaton = formats.loads(
        "(draw:non-input, 1/4, 0): x := insample; output o; goto test\n"
        "(test, 1/2, 0): if (insample < x) then output obot; goto test "
        "elseif (insample >= x) then output insample; goto test"
    )
    found = hints(automaton, explicit(automaton).witness, explicit)
    assert all(hint.private and explicit(hint.automaton).verdict is Verdict.PRIVATE for hint in found)
    assert found[0].kind == "limit+second-sample"
    assert changes(found[0]) == [
        (
            "(test, 1/2, 0): if (insample >= x) then output insample; goto test",
            "(test, 1/2, 0, 1/2, 0): if (insample >= x) then output insampleprime; goto stop",
        )
    ]
    assert found[0].outcome == "private, D = 7/4"  # that of num_sparse


def test_without_an_answer_hints_claim_nothing():
    automaton = formats.load(EXAMPLES / "leaking_pair" / "svt_no_cutoff.dipa")
    found = hints(automaton, explicit(automaton).witness, lambda changed: None)
    assert found and not any(hint.private for hint in found)
    assert all("not decided" in hint.outcome for hint in found)


def test_a_change_that_only_moves_the_problem_says_so():
    automaton = formats.load(EXAMPLES / "leaking_cycle" / "running_maximum.dipa")

    def stubborn(changed):
        """No answer about anything that ends early, or promises less."""
        return None if "stop" in changed.index or not changed.differ.is_all else explicit(changed)

    found = hints(automaton, explicit(automaton).witness, stubborn)
    moved = next(hint for hint in found if hint.kind == "keep")
    assert moved.outcome == "no leaking cycle any more, but then there is a leaking pair"


def test_names_that_are_taken_are_not_taken_again():
    automaton = formats.loads(
        "(stop:non-input, 1/4, 0): x := insample; output o; goto test\n"
        "(test, 1/2, 0): if (insample < x) then output obot; goto test "
        "elseif (insample >= x) then output otop; goto test"
    )
    found = hints(automaton, explicit(automaton).witness, explicit)
    assert found[0].changes[0].after.endswith("goto stop_2")
    assert "after 3" in found[0].outcome
    assert {p: r.status for p, r in explicit(found[0].automaton).patterns.items()} == dict.fromkeys(
        Pattern, Status.ABSENT
    )


def test_one_entry_may_be_enough_to_promise():
    *_, last = hints_for(EXAMPLES / "leaking_pair" / "svt_no_cutoff.dipa")
    assert last.kind == "one-entry" and last.private and not last.silent
    assert changes(last) == [("", "differ entries=1")]
    assert last.outcome == "private, D = 1/2" == f"private, D = {explicit(last.automaton).bounds.best}"


# ------------------------------------------------------------------------------------------- of programs


SHOWS = """\
from symdipa import laplace, mechanism


@mechanism
def shows(queries):
    t = laplace(2)
    for q in queries:
        noisy = q + laplace(4)
        if noisy >= t:
            yield {}
            return
        yield "low"
"""


def hints_of_program(text: str, tmp_path) -> list[Hint]:
    path = tmp_path / "shows.py"
    path.write_text(text, encoding="utf-8")
    automaton = read_program(str(path))
    return repairs(hints(automaton, explicit(automaton).witness, explicit))


@pytest.mark.parametrize("shown", ["noisy", '"high", noisy', '[noisy, "high", noisy]'])
def test_a_program_shows_its_number_with_fresh_noise_or_not_at_all(shown, tmp_path):
    fresh, symbol, limit = hints_of_program(SHOWS.format(shown), tmp_path)
    assert [hint.kind for hint in (fresh, symbol, limit)] == ["second-sample", "symbol", "limit"]
    assert fresh.text == (
        "Show the input with fresh noise, laplace(4), and not the noisy value that was compared "
        "(lines 8 to 10)."
    )
    assert "insample" not in symbol.changes[0].after.partition("output")[2]
    assert all(hint.private and hint.lines[:2] == (8, 9) for hint in (fresh, symbol, limit))
    assert fresh.outcome != symbol.outcome == "private, D = 1"


def test_a_threshold_that_a_program_shows_is_not_drawn_again(tmp_path):
    kinds = [hint.kind for hint in hints_of_program(SHOWS.format('"high", t'), tmp_path)]
    assert kinds == ["symbol", "limit"]


def test_what_is_left_of_an_output_still_tells_branches_apart(tmp_path):
    text = SHOWS.format('"low", noisy')
    symbol = hints_of_program(text, tmp_path)[1]
    assert symbol.kind == "symbol" and "output oshown;" in symbol.changes[0].after
