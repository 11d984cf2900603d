"""The examples on who is adjacent, and their answers in one table; and what makes a twin the wrong one.

(tests/test_linear_examples.py holds every engine, with proofs, to the first line of each.)
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from conftest import EXAMPLES

from symdipa.analysis import check, weigh
from symdipa.files import formats
from symdipa.model.automaton import with_differ
from symdipa.model.errors import InvalidInput
from symdipa.model.verdict import Verdict

DC, LP, PV = "disclosing cycle", "leaking pair", "privacy violating path"

ANSWERS: dict[str, tuple[str, str]] = {
    "answer_again": ("all", DC),
    "answer_kept": ("all", "1"),
    "block_sums": ("entries=1", "1"),
    "block_sums_without_noise": ("entries=1", PV),
    "changes": ("entries=1", "1"),
    "changes_from_first": ("entries=1", DC),
    "histogram": ("entries=1", "1"),
    "histogram_all": ("all", "5"),
    "known_in_turn": ("pattern=(=~)*", "1"),
    "known_out_of_turn": ("pattern=(~=)*", f"{DC} + {PV}"),
    "prefix_sums": ("entries=1", "1"),
    "prefix_sums_all": ("all", DC),
    "sliding_sums": ("window=3", "1"),
    "sliding_sums_all": ("all", DC),
    "smart_sum": ("entries=1", "2"),
    "smart_sum_never_reset": ("entries=1", DC),
    "sum_alarm": ("entries=1", "1"),
    "sum_alarm_one_threshold": ("entries=1", PV),
    "svt_all": ("all", LP),
    "svt_one_entry": ("entries=1", "3/4"),
    "svt_window": ("window=3", "9/4"),
    "total": ("entries=1", "1"),
    "total_forever": ("entries=1", DC),
    "tree": ("entries=1", "1"),
    "tree_never_reset": ("entries=1", DC),
}
"""For each file which entries differ, and its D or the pattern by which it is not private."""


def example(name: str):
    return formats.load(EXAMPLES / "adjacency" / f"{name}.dipa")


def test_the_table_has_all_files():
    assert sorted(ANSWERS) == sorted(path.stem for path in (EXAMPLES / "adjacency").glob("*.dipa"))


@pytest.mark.parametrize("name", ANSWERS)
def test_the_first_line_says_what_the_table_does(name: str):
    differ, answer = ANSWERS[name]
    first = (EXAMPLES / "adjacency" / f"{name}.dipa").read_text(encoding="utf-8").splitlines()[0]
    if answer[0].isdigit():
        assert first == f"# expect: private, D = {answer} (optimal)"
    else:
        assert first == f"# expect: {answer}; not private"
    assert str(example(name).differ) == differ


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("prefix_sums", "prefix_sums_all"), ("histogram", "histogram_all"), ("svt_window", "svt_all")),
        *(("svt_one_entry", "svt_window"), ("sliding_sums", "sliding_sums_all")),
    ],
)
def test_twins_that_differ_by_who_is_adjacent_only(one: str, other: str):
    right, wrong = example(one), example(other)
    assert with_differ(right, wrong.differ).transitions == wrong.transitions
    assert right.states == wrong.states and right.differ != wrong.differ


@pytest.mark.parametrize("name", ["total", "total_forever", "smart_sum_never_reset", "tree_never_reset"])
def test_sums_that_go_on_need_few_entries_that_differ(name: str):
    with pytest.raises(InvalidInput, match="may differ by more and more"):
        with_differ(example(name), "all")


@pytest.mark.parametrize(
    ("name", "entries", "best"),
    [
        ("total", 3, 3),
        ("block_sums", 4, 4),
        ("smart_sum", 2, 4),
        ("tree", 2, 2),
        ("prefix_sums", 7, 7),
        ("histogram", 9, 5),
        ("svt_one_entry", 4, 3),
        ("sum_alarm", 2, 2),
    ],
)
def test_more_entries_that_differ(name: str, entries: int, best: int):
    bounds = weigh(with_differ(example(name), f"entries={entries}")).bounds
    assert bounds is not None and (bounds.best, bounds.lower) == (best, best)


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        ("well_formed/svt", "1/2 1 5/4 5/4 5/4 5/4"),
        ("well_formed/num_sparse", "1 3/2 7/4 7/4 7/4 7/4"),
        ("well_formed/k_min_max_3", "1/4 1/2 7/12 2/3 3/4 5/6"),
        ("linear/svt_gap", "1/8 1/4 3/8 1/2 5/8 3/4"),
        ("leaking_pair/svt_no_cutoff", "1/2 1 3/2 2 5/2 3"),
    ],
)
def test_the_table_by_the_number_of_entries(name: str, answers: str):
    """As in docs/weights.md, section 6."""
    automaton = formats.load(EXAMPLES / f"{name}.dipa")
    for number, answer in enumerate(map(Fraction, answers.split()), start=1):
        for which in ("entries", "window"):
            bounds = weigh(with_differ(automaton, f"{which}={number}")).bounds
            assert bounds is not None and (bounds.best, bounds.lower) == (answer, answer), (which, number)


def test_a_block_sum_may_differ_in_every_entry():
    # Each loop begins it anew, so it stays bounded; but an answer that is shown for ever is not private then.
    assert check(with_differ(example("block_sums"), "all")).verdict is Verdict.NOT_PRIVATE
    once = with_differ(example("histogram"), "window=2")
    assert weigh(once).bounds.best == Fraction(2)
