"""Stories: orders in words, comparisons as people write them, how a leaking cycle repeats."""

from __future__ import annotations

import pytest
from conftest import EXAMPLES

from symdipa.analysis import check, weigh
from symdipa.evidence.facts import Steps, link, orders_along, path_ends
from symdipa.files import formats
from symdipa.interface.reports import check as checks
from symdipa.interface.reports import objects
from symdipa.interface.reports import weight as weights
from symdipa.interface.reports.document import Inset, as_lines, as_text
from symdipa.interface.reports.story import dependency, run_table, run_with_facts, story
from symdipa.interface.reports.words import comparison, excerpt, gaps, link_text, order_text
from symdipa.model.automaton import Guard
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Witness
from symdipa.runs.control import control_graph
from symdipa.runs.order import OrderState
from symdipa.runs.witness import replay

LC, LP, DC, PV = Pattern


def flat(blocks) -> str:
    return " ".join(as_lines(blocks))


def order(text: str, names: str) -> OrderState:
    """An order state from its pairs: ``"a<b a<c c=d"``."""
    n = len(names)
    lt, eq = [0] * n, [1 << x for x in range(n)]
    for pair in text.split():
        a, sign, b = names.index(pair[0]), pair[1], names.index(pair[2])
        if sign == "<":
            lt[a] |= 1 << b
        else:
            eq[a] |= 1 << b
            eq[b] |= 1 << a
    return OrderState(tuple(lt), tuple(eq))


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ("", ""),
        ("a<b", "a < b"),
        ("b<a", "b < a"),
        ("a<b a<c b<c", "a < b < c"),
        ("a<b a<c", "a < b, a < c"),
        ("a<c b<c", "a < c, b < c"),
        ("a<b c<d", "a < b, c < d"),
        ("a=b", "a = b"),
        ("a=b a<c b<c", "a = b < c"),
        ("a=b c<d", "c < d, a = b"),
        ("a<b a<c a<d b<d c<d", "a < b < d, a < c < d"),
    ],
)
def test_orders_in_words(pairs, words):
    assert order_text(order(pairs, "abcd"), "abcd") == words


def test_what_was_never_stored_is_in_no_fact():
    assert order_text(OrderState((0, 0), (0, 0)), "ab") == ""


@pytest.mark.parametrize(
    ("guard", "words"),
    [
        (Guard(), "-"),
        (Guard(lt=frozenset("u")), "sample < u"),
        (Guard(ge=frozenset("l")), "l <= sample"),
        (Guard(frozenset("l"), frozenset("u")), "l <= sample < u"),
        (Guard(frozenset("lm"), frozenset("u")), "l, m <= sample < u"),
    ],
)
def test_comparisons_as_people_write_them(guard, words):
    assert comparison(guard, ["l", "m", "u"]) == words


def example(name):
    return formats.load(EXAMPLES / f"{name}.dipa")


def told(name, pattern, run, cycles, path=()):
    """The automaton with a witness that holds."""
    automaton = example(name)
    witness = Witness(pattern, run, cycles, path)
    replay(control_graph(automaton), witness)
    return automaton, witness


def test_facts_after_each_step():
    automaton = example("disclosing_cycle/dc_example")
    orders = orders_along(automaton, (0, 1, 2))
    assert [order_text(order, automaton.variables) for order in orders] == ["", "", "l < u"]
    automaton = formats.loads(
        "(a:non-input, 1, 0): x := insample; output o; goto b\n"
        "(b, 1, 0): if (insample < x) then y := insample; output o; goto c\n"
        "(c, 1, 0): if (insample < y && insample >= x) then output o; goto d"
    )
    with pytest.raises(AssertionError, match="not feasible"):
        list(orders_along(automaton, (0, 1, 2)))


def test_the_run_with_plain_comparisons():
    automaton, witness = told("disclosing_cycle/dc_example", DC, (0, 1, 2), ((2, 3),))
    table, _ = run_with_facts(automaton, witness)
    assert " ".join(table.rows[-1]) == "3 * q3 l <= sample < u insample - l < u q3"
    assert dependency(automaton, witness) == []


def test_a_loop_that_looks_back_one_round():
    automaton, witness = told("leaking_cycle/lc_example", LC, (0, 1, 2, 3), ((2, 4),))
    text = flat(dependency(automaton, witness)[0].blocks)
    assert "Step 3 compares with x2, stored in step 2 the first time, in later rounds in step 4 of" in text
    assert (
        "Step 4 compares with x2, stored in step 2 the first time, in later rounds in the same step" in text
    )
    assert "Before every round the comparisons so far force no order on the stored values" in text


def test_a_loop_that_looks_at_its_own_round():
    automaton, witness = told("leaking_cycle/threshold_per_input", LC, (0, 1), ((0, 2),))
    assert (
        as_lines(dependency(automaton, witness)[0].blocks)[0] == "Step 2 compares with x, stored in step 1."
    )


def test_a_loop_whose_order_grows_before_it_repeats():
    automaton = formats.loads(
        "(a:non-input, 1, 0): x := insample, y := insample; output o; goto b\n"
        "(b, 1, 0): if (insample >= y) then y := insample; output p; goto b"
    )
    witness = Witness(LC, (0, 1), ((1, 2),))
    replay(control_graph(automaton), witness)
    text = flat(dependency(automaton, witness)[0].blocks)
    assert "before round 1: x = y; before round 2: x < y; before round 3: the same as before round 2" in text


@pytest.mark.parametrize(
    ("name", "run", "path", "shown", "words"),
    [
        ("svt_releases_sample", (0, 1, 2), (1, 0, 2), 2, "every noisy value of step 2 lies below it"),
        ("svt_releases_threshold", (0, 1), (1, 0), 0, "Let every input of step 2 be larger by 1: each round"),
    ],
)
def test_why_a_number_costs(name, run, path, shown, words):
    automaton, witness = told(f"privacy_violating_path/{name}", PV, run, ((1, 2),), path)
    assert path_ends(automaton, witness).shown == shown
    assert words in story(automaton, witness).why_it_costs


def test_why_a_pair_costs_names_both_steps():
    automaton, witness = told("leaking_pair/svt_no_cutoff", LP, (0, 1, 2), ((1, 2), (2, 3)), (1, 0, 2))
    text = story(automaton, witness).why_it_costs
    assert "If every input of step 2 is larger by 1 and every input of step 3 smaller by 1" in text
    assert "they tell how every comparison came out" in text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "leaking_pair/svt_no_cutoff",
            "answers obot (step 2) and any number of answers otop (step 3). By way of x,",
        ),
        (
            "leaking_pair/a_leakp",
            "By way of x2 and x1, all noisy inputs behind the former lie below all noisy inputs behind",
        ),
        ("leaking_cycle/running_maximum", "every round of a loop stores a new max and compares with it"),
        ("disclosing_cycle/stream", "one run can show any number of noisy inputs"),
        ("privacy_violating_path/svt_releases_sample", "number that step 3 shows lies above all the noisy"),
    ],
)
def test_the_sentence_that_sums_it_up(name, words):
    automaton = example(name)
    witness = check(automaton, "explicit", relational=False).witness
    assert witness is not None and words in story(automaton, witness).in_short


def test_links_name_the_variable_and_where_it_was_stored():
    automaton, witness = told("leaking_pair/svt_no_cutoff", LP, (0, 1, 2), ((1, 2), (2, 3)), (1, 0, 2))
    low, high = (link(automaton, witness.run, *ends) for ends in ((1, 0), (0, 2)))
    steps = Steps(automaton, witness.run)
    assert link_text(automaton, witness.run, steps, low) == "step 2 asks for insample < x, stored in step 1"
    assert link_text(automaton, witness.run, steps, high) == "step 3 asks for insample >= x, stored in step 1"


def test_a_disclosing_loop_of_several_steps_names_the_one_that_shows():
    automaton = formats.loads(
        "(a, 1, 0): x := insample; output o; goto b\n(b, 1, 0): output insample; goto a"
    )
    words = flat(story(automaton, Witness(DC, (0, 1), ((0, 2),))).happens)
    assert "each round outputs a noisy input, in step 2. Nothing limits" in words


def test_where_there_is_nothing_to_compare_the_outputs_tell_numbers_only():
    automaton = example("disclosing_cycle/stream")
    witness = check(automaton, "explicit", relational=False).witness
    assert witness is not None
    text = story(automaton, witness).why_it_costs
    assert "no other run shows these outputs." in text and "comparison" not in text


def test_a_column_without_entries_is_left_out():
    automaton, witness = told("leaking_pair/svt_no_cutoff", LP, (0, 1, 2), ((1, 2), (2, 3)), (1, 0, 2))
    table, legend = run_with_facts(automaton, witness)
    assert "known order" not in table.head
    assert legend.startswith("Loop: A and B can be repeated. If: ")
    automaton, witness = told("disclosing_cycle/dc_example", DC, (0, 1, 2), ((2, 3),))
    table, legend = run_with_facts(automaton, witness)
    assert "known order" in table.head and "Known order: " in legend


def long_run(length=100):
    """A leaking pair at the end of a run, with a threshold from its beginning."""
    automaton = formats.loads(
        "(q0:non-input, 1, 0): x := insample; output start; goto s1\n"
        + "".join(f"(s{k}, 1, 0): output o{k}; goto s{k + 1}\n" for k in range(1, length))
        + f"(s{length}, 1, 0): if (insample < x) then output low; goto s{length} "
        f"elseif (insample >= x) then output high; goto end\n"
        "(end, 1, 0): if (insample >= x) then output top; goto end"
    )
    moves = [(t.source, str(t.output)) for t in automaton.transitions]
    last = [moves.index(move) for move in ((f"s{length}", "low"), (f"s{length}", "high"), ("end", "top"))]
    witness = Witness(
        LP, (*range(length), *last), ((length, length + 1), (length + 2, length + 3)), (length, 0, length + 2)
    )
    replay(control_graph(automaton), witness)
    return automaton, witness


def test_a_long_run_is_shown_by_its_ends_loops_and_dependency_path():
    automaton, witness = long_run()
    assert excerpt(witness) == excerpt(witness, 103) == [range(103)]
    assert excerpt(witness, 40) == [range(10), range(93, 103)]
    table, legend = run_with_facts(automaton, witness, 40)
    assert [row[0] for row in table.rows] == [*map(str, range(1, 11)), "...", *map(str, range(94, 104))]
    assert table.rows[10][-1] == "83 steps more" and "-v or --json shows all steps" in legend
    (short, note), (whole,) = run_table(automaton, witness, 40), run_table(automaton, witness)
    assert len(short.rows) == 21 and len(whole.rows) == 103 and short.head == whole.head
    assert "shows all steps" in note
    told = flat(story(automaton, witness, 40).happens)
    assert "start o1 o2 o3 o4 o5 o6 o7 o8 o9 [83 steps more] o93" in told
    assert told.endswith("o99 (low)* high (top)*")
    assert "o50" in flat(story(automaton, witness).happens)


def test_loops_in_the_middle_of_a_long_run_are_kept():
    run, loops = tuple(range(1000)), ((300, 304), (600, 900))
    shown = [k for piece in excerpt(Witness(LP, run, loops, (302, 500, 700)), 40) for k in piece]
    assert {*range(10), 300, 301, 302, 303, 600, 899, *range(990, 1000)} <= set(shown)
    assert len(shown) < 50
    few = excerpt(Witness(DC, run, ((500, 502),)), 40)
    assert few == [range(10), range(500, 502), range(990, 1000)] and gaps(few) == [
        "490 steps more",
        "488 steps more",
    ]
    # What is left out takes no less room than a single step.
    assert excerpt(Witness(DC, run, ((11, 12),)), 40) == [range(12), range(990, 1000)]


def test_values_between_loops_are_not_said_to_be_drawn_once_if_a_loop_draws_them():
    once = "by way of values that are drawn only once"
    automaton, witness = told("leaking_pair/svt_no_cutoff", LP, (0, 1, 2), ((1, 2), (2, 3)), (1, 0, 2))
    assert once in flat(story(automaton, witness).happens)
    automaton = formats.loads(
        "(a:non-input, 1, 0): x := insample; output o; goto b\n"
        "(b, 1, 0): if (insample < x) then y := insample; output p; goto c\n"
        "(c, 1, 0): if (insample >= x) then output q; goto b elseif (insample < x) then output r; goto d\n"
        "(d, 1, 0): if (insample < y) then output s; goto d"
    )
    witness = Witness(LP, (0, 1, 2, 1, 3, 4), ((5, 6), (2, 4)), (5, 3, 0, 2))
    replay(control_graph(automaton), witness)
    assert once not in flat(story(automaton, witness).happens)


def wider(name):
    automaton = formats.load(EXAMPLES / "linear" / f"{name}.dipa")
    return automaton, check(automaton)


@pytest.mark.parametrize(
    ("name", "short", "chain"),
    [
        (
            "svt_gap_forever",
            "any number of noisy inputs lie below any number of others or are tied to them by what is shown.",
            [
                ["sample 2 tied to sample 1", "step 2 shows insample - t"],
                ["sample 1 <= sample 3", "step 3 asks for insample >= t"],
            ],
        ),
        (
            "svt_released",
            "any number of noisy inputs lie on one side of the released value of t, which nothing can shift.",
            [
                ["sample 2 < sample 1", "step 2 asks for insample < t"],
                ["sample 1 is seen", "step 5 shows t"],
            ],
        ),
        (
            "fixed_limit_forever",
            "any number of noisy inputs lie on one side of the constant 5, which nothing can shift.",
            [["5 <= sample 1", "step 1 asks for insample >= 5"]],
        ),
        (
            "hysteresis_band_forever",
            "any number of noisy inputs lie below any number of others.",
            [
                ["sample 5 < sample 1 - 5", "step 5 asks for insample < t - 5"],
                ["sample 1 <= sample 2 - 5", "step 2 asks for insample >= t + 5"],
            ],
        ),
        (
            "exponential_shown",
            "step 1 compares or shows values whose noise cannot hide that an input moved.",
            [["sample 1 is seen", "step 1 shows insample"]],
        ),
    ],
)
def test_what_any_run_forces_is_told_from_the_lowest_value_to_the_highest(name, short, chain):
    automaton, result = wider(name)
    found = story(automaton, result.witness)
    assert found.in_short == f"In short: {short}"
    (table,) = (block.blocks[0] for block in found.happens if isinstance(block, Inset))
    assert [list(row) for row in table.rows] == chain


def test_a_negative_that_is_compared_is_told_as_one():
    automaton, result = wider("deviation_forever")
    assert result.witness.path[-1] in range(*result.witness.cycles[-1])
    assert "lie below the negatives of any number of others" in story(automaton, result.witness).in_short


def test_a_run_that_only_costs_more_and_more_has_no_order_to_tell():
    automaton, result = wider("deviation_forever")
    witness = Witness(LP, result.witness.run[:3], ((1, 2),), (), "a run that costs more and more")
    assert story(automaton, witness).in_short == "In short: every round of a loop costs something anew."
    legend = flat(run_with_facts(automaton, witness))
    assert "Loop: * can be repeated." in legend


def test_the_numbers_that_an_answer_is_about():
    for name, words in (("svt_integer", "exact integers"), ("svt_gap", "exact real numbers")):
        automaton, result = wider(name)
        assert words in " ".join(as_text(checks.document(name, result)).split())
        assert words in " ".join(as_text(weights.document(name, weigh(automaton))).split())
        told = objects.check(name, result)["assumed"]["arithmetic"]
        assert told == ("integer" if automaton.integer else "real")


def test_a_witness_in_json_says_what_is_in_conflict_and_copied():
    _, result = wider("svt_without_query_noise")
    assert objects.check("a", result)["witness"]["conflict"] == "exposed comparison"
    _, result = wider("last_two_forever")
    told = objects.check("a", result)["witness"]
    assert "conflict" not in told
    assert told["run"][1]["assign"] == ["y"] and told["run"][1]["copy"] == {"x": "y"}
    assert "copy" not in told["run"][0]


def test_the_steps_of_a_bound_from_below_are_those_of_the_automaton():
    automaton, _ = wider("deviation")
    bounds = weigh(automaton).bounds
    steps = len(control_graph(automaton).whole(bounds.flow.run))
    assert steps < len(bounds.flow.run)
    (table, *_) = weights.bound_table(automaton, bounds)
    assert table.rows[-1][-1] == f"a flow on a run of {steps} steps"
