"""Numbers for automata with sums of inputs, and where few entries differ: probabilities, pairs, hints."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import product
from math import exp, inf, isclose, log, sqrt

import pytest
from differ_models import (
    ABOVE,
    BELOW,
    noisy,
    prefix_sums,
    shown,
    smart_sum,
    sum_above,
    svt,
    tree,
    updates,
    whole_sum,
)
from linear_models import at_most, below

import symdipa
from symdipa import check, hints
from symdipa.evidence.confirmation import confirm
from symdipa.evidence.probability import log_probability, total_log_probability
from symdipa.evidence.refutation import NoRefutation, refute
from symdipa.evidence.refutation.adjacent import after, worst_allowed
from symdipa.evidence.refutation.rays import observed, ray
from symdipa.evidence.simulation import occurrences, simulate
from symdipa.model.adjacency.differ import differ
from symdipa.model.automaton import (
    INSAMPLE_PRIME,
    Automaton,
    Guard,
    Noise,
    State,
    Transition,
    guarded,
    symbol,
    with_differ,
)
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Verdict, Witness
from symdipa.runs.numbers.shifts import cost
from symdipa.runs.numbers.system import unrolled


def laplace_below(rate, mean, x):
    """The probability that a Laplace sample lies below ``x``."""
    return 0.5 * exp(-rate * (mean - x)) if x < mean else 1 - 0.5 * exp(-rate * (x - mean))


def within(rate, mean, low, high):
    return laplace_below(rate, mean, high) - laplace_below(rate, mean, low)


# ---------------------------------------------------------------------------------------------- probabilities


def test_the_whole_sum_by_hand():
    inputs, windows = [F(1), F(-2), F(1, 2)], [(0, 2), (-3, 0), (-1, 1)]
    sums = [1, -1, -0.5]
    wanted = sum(log(within(1, s, *w)) for s, w in zip(sums, windows, strict=True))
    one = log_probability(whole_sum(), [0, 1, 1, 1], [None, *inputs], [None, *windows])
    total = total_log_probability(whole_sum(), inputs, ["start", *windows])
    assert isclose(one.value, wanted, abs_tol=1e-9) and isclose(total.value, wanted, abs_tol=1e-9)


@pytest.mark.parametrize("eps", [F(1, 2), 2])
def test_the_tree_by_hand(eps):
    means = [1, 2, 3, 3, 4, 7, 10]
    wanted = sum(log(within(float(eps) / 3, m, 0, 8)) for m in means)
    found = total_log_probability(tree(), [1, 2, 3, 4], [(0, 8)] * 7, eps)
    assert isclose(found.value, wanted, abs_tol=1e-9)


def test_blocks_forget_what_was_before_them():
    outputs = ["start", *[(-1, 1)] * 3]
    for first in product((0, 5), repeat=3):
        both = [*first, 1, 1, 1]
        one = total_log_probability(smart_sum(), first, outputs).value
        again = total_log_probability(smart_sum(), both, [*outputs, *outputs[1:]]).value
        wanted = sum(log(within(1, m, -1, 1)) for m in (1, 1, 3))
        assert isclose(again - one, wanted, abs_tol=1e-9)
    never = total_log_probability(smart_sum(reset=False), [1] * 6, [*outputs, *outputs[1:]]).value
    wanted = sum(log(within(1, m, -1, 1)) for m in (1, 1, 3, 1, 1, 6))
    assert isclose(never, wanted, abs_tol=1e-9)


def scaled(integer=False):
    """Registers that change at once, and a second sample around a mean with factors."""
    last = State("c", False, F(1, 2), F(1), F(1, 4), F(-1), registers=(("s", F(2)), ("r", F(-1))))
    return Automaton.build(
        [State("a", draws=False), State("b", draws=False), last],
        [
            shown("a", "b", "r := input, s := 0", symbol("o")),
            shown("b", "c", "s := r + input, r := s + input", symbol("o")),
            shown("c", "end", "", INSAMPLE_PRIME),
        ],
        integer=integer,
        differ="entries=1",
    )


def test_registers_change_all_at_once():
    """``r`` is ``s + input`` with the old ``s``, which is 0: so ``2*s - r = 2*(x + y) - y``."""
    mean = -1 + 2 * (3 + 4) - 4
    found = log_probability(scaled(), [0, 1, 2], [3, 4, None], [None, None, (8, 10)])
    assert isclose(found.value, log(within(1 / 4, mean, 8, 10)), abs_tol=1e-9)
    assert unrolled(scaled(), [0, 1, 2]).samples[-1].entries == ((0, F(2)), (1, F(1)))


MODELS = {
    "whole sum": (whole_sum(), [1, F(-1, 2), F(1, 4)]),
    "smart sum": (smart_sum(2), [1, F(-1, 2), 0, 1]),
    "smart sum without noise": (smart_sum(2, block=Noise.NONE), [1, F(-1, 2), 0, 1]),
    "tree": (tree(), [1, 0, F(-1, 2), 1]),
    "sum above": (sum_above(), [1, 2, 3, -1, 0, 1]),
    "sum above, twice": (sum_above(queries=("s", "s")), [1, 0, 1]),
    "svt": (svt(), [1, 0, 2]),
    "scaled": (scaled(), [1, 0]),
    "scaled, integer": (scaled(True), [1, 0]),
}
WINDOWS = ((-inf, 0.0), (1.0, 3.0))


@pytest.mark.parametrize("name", MODELS)
def test_simulation_and_probability_agree(name):
    automaton, inputs = MODELS[name]
    n = 20_000
    found = simulate(automaton, inputs, 1, n, seed=5, windows=WINDOWS)
    seen = {o: c for o, c in found.outputs.items() if None not in o}
    for outputs, _ in sorted(seen.items(), key=lambda one: -one[1])[:4]:
        share = exp(total_log_probability(automaton, inputs, list(outputs)).value)
        assert abs(found.showing(outputs) / n - share) <= 5 * sqrt(share * (1 - share) / n) + 1e-5
        count = occurrences(automaton, inputs, list(outputs), 1, n, seed=6)
        assert abs(count / n - share) <= 5 * sqrt(share * (1 - share) / n) + 1e-5


def test_who_may_differ_has_no_say_in_probabilities():
    automaton, inputs = svt("all"), [1, 0, 2]
    outputs = ["start", "above", "below", "above"]
    wanted = total_log_probability(automaton, inputs, outputs)
    for text in ("entries=2", "window=3", "pattern=(=~)*"):
        assert total_log_probability(with_differ(automaton, text), inputs, outputs) == wanted
        one = log_probability(with_differ(automaton, text), [0, 1, 2, 1], [None, *inputs])
        assert one == log_probability(automaton, [0, 1, 2, 1], [None, *inputs])


# -------------------------------------------------------------------------------------------- counterexamples

TWINS = {
    "whole sum": whole_sum(),
    "whole sum, three entries": whole_sum("entries=3"),
    "whole sum, a window": whole_sum("window=2"),
    "smart sum never reset": smart_sum(reset=False),
    "block sum without noise": smart_sum(block=Noise.NONE),
    "svt": svt("all"),
}


def examined(found):
    """The pair of a refutation, with everything checked that makes the inputs adjacent."""
    automaton = found.automaton
    differences = [None if a is None else a - b for a, b in zip(found.alpha, found.beta, strict=True)]
    assert all(delta is None or abs(delta) <= 1 for delta in differences)
    assert after(automaton.differ, differences) is not None
    assert [delta is None for delta in differences] == [
        not automaton.state(automaton.transitions[t].source).is_input for t in found.run
    ]
    most = automaton.differ.most
    assert most is None or sum(bool(delta) for delta in differences) <= most
    deltas = [delta or F(0) for delta in differences]
    assert found.limit == cost(unrolled(automaton, found.run), deltas)
    return found


@pytest.mark.parametrize("name", TWINS)
def test_wrong_twins_are_refuted_and_simulation_says_so(name):
    automaton = TWINS[name]
    result = check(automaton)
    assert result.verdict is Verdict.NOT_PRIVATE
    found = examined(refute(automaton, result.witness, 5, 1, limits=Limits.of(60)))
    assert found.holds and found.log_ratio - found.error > 5
    outputs, n = observed(automaton, found.run, found.outputs), 4_000_000
    counts = [
        occurrences(automaton, [x for x in inputs if x is not None], outputs, 1, n, seed=7)
        for inputs in (found.alpha, found.beta)
    ]
    for count, value in zip(counts, (found.log_prob_alpha, found.log_prob_beta), strict=True):
        share = exp(value)
        assert abs(count - n * share) <= 5 * sqrt(n * share * (1 - share)) + 1e-9
    assert counts[0] > 1_000 and counts[1] < 1_000


def test_what_one_entry_cannot_do_three_can():
    """The same automaton, private or not by who may differ."""
    assert check(svt("entries=1")).verdict is Verdict.PRIVATE
    found = check(svt("pattern=(=~)*"))
    assert found.verdict is Verdict.NOT_PRIVATE
    pair = examined(refute(svt("pattern=(=~)*"), found.witness, 5, 1, limits=Limits.of(60)))
    assert pair.holds
    first = [j for j, a in enumerate(pair.alpha) if a is not None][::2]
    assert all(pair.alpha[j] == pair.beta[j] for j in first)


def test_a_witness_that_says_nothing_of_entries_is_no_licence():
    """Without letters all entries would differ; that is said, and not called a counterexample."""
    witness = Witness(Pattern.DISCLOSING_CYCLE, (0,), ((0, 1),))
    with pytest.raises(NoRefutation, match="are not adjacent"):
        refute(prefix_sums(), witness, 5, 1, limits=Limits.of(10))


@pytest.mark.parametrize(("constant", "sign"), [(F(-7), 1), (F(5), -1), (F(100), -1), (F(1, 2), 1)])
def test_inputs_go_to_where_a_run_without_noise_ends(constant, sign):
    """Only inputs near the constant make a run possible on one of them, and not on the other."""
    low = at_most(constant, "insample") if sign > 0 else below("insample", constant)
    automaton = Automaton.build(
        [noisy("q", 1, noise=Noise.NONE)],
        [Transition("q", "q", symbol("o"), guarded([low]))],
        differ="entries=1",
    )
    found = examined(refute(automaton, check(automaton).witness, 5, 1, limits=Limits.of(20)))
    assert found.holds and found.log_ratio == inf and found.log_prob_alpha == 0


def test_further_entries_of_streams_that_end():
    """Streams of a pattern may have to end: no entries are added that there cannot be."""
    from symdipa.evidence.refutation.rays import WideEvaluation

    for text, count in (("pattern=~=~", 0), ("pattern=~=~=", 1), ("entries=2", 2)):
        automaton = svt(text)
        pair = ray(automaton, (0, 1, 1, 1), [F(0), F(1), F(0), F(-1)]).pair(0)
        further = WideEvaluation(automaton, F(1), 1e-4).further(
            pair.__class__((*pair.run, 0, 0), (*pair.alpha, None), (*pair.beta, None), pair.outputs)
        )
        assert further == (F(0),) * count


# ------------------------------------------------------------------------------------------------------- rays


def test_inputs_put_sums_where_they_should_be():
    """Samples without noise have to be where they are, the others as far as entries are left."""
    exactly = noisy("c", 1, "s", reads=False, noise=Noise.NONE)
    above = Guard(ge=frozenset({"x"}))
    automaton = Automaton.build(
        [noisy("a", 1), noisy("b", 1, "s"), exactly],
        [
            Transition("a", "b", symbol("o"), assign=frozenset({"x"}), updates=updates("s := input")),
            Transition("b", "c", symbol("o"), above, frozenset({"x"}), updates=updates("s += input")),
            Transition("c", "end", symbol("o"), above),
        ],
        differ="entries=1",
    )
    found = ray(automaton, (0, 1, 2), [F(1), F(0), F(0)])
    low, middle, high = found.centre
    assert low < middle < high
    first, second, _ = found.start
    assert first + second == high and first == low
    assert isclose(log_probability(automaton, (0, 1, 2), found.start).value, log(0.5 * 0.5), abs_tol=2)


def test_one_query_without_noise_has_one_value():
    """It is read twice, and cannot be on both sides of a threshold: no inputs do that."""
    exact = State("q", False, None, noise=Noise.NONE, registers=(("r", F(1)),))
    again = State("p", False, None, noise=Noise.NONE, registers=(("r", F(1)),))
    automaton = Automaton.build(
        [State("t", False, F(1)), State("r", draws=False), exact, again],
        [
            Transition("t", "r", symbol("o"), assign=frozenset({"t"})),
            shown("r", "q", "r := input", symbol("o")),
            Transition("q", "p", symbol("o"), ABOVE),
            Transition("p", "end", symbol("o"), BELOW),
        ],
        differ="entries=1",
    )
    assert ray(automaton, (0, 1, 2, 3), [F(0), F(1), F(0), F(0)]) is None


def test_what_costs_most_among_what_is_allowed():
    system = unrolled(svt("all"), [0, 1, 1, 2, 2])
    assert worst_allowed(svt("all"), system).value == 3
    for text, value in (("entries=1", F(3, 4)), ("entries=2", F(3, 2)), ("window=2", F(3, 2))):
        automaton = svt(text)
        found = worst_allowed(automaton, system)
        assert found.value == value
        assert after(differ(text), [None, *found.deltas[1:]]) is not None


# ------------------------------------------------------------------------- from the other side, and hints

NEAR = {
    "prefix sums": (prefix_sums(), F(1)),
    "smart sum": (smart_sum(), F(2)),
    "smart sum, a window": (smart_sum(differ="window=2"), F(4)),
    "tree": (tree(), F(1)),
    "tree, two entries": (tree("entries=2"), F(2)),
    "svt": (svt(), F(3, 4)),
    "svt, a window": (svt("window=3"), F(9, 4)),
    "sum above": (sum_above(), F(1, 4)),
    "sum above, twice": (sum_above(queries=("s", "s")), F(1, 2)),
}


@pytest.mark.parametrize("name", NEAR)
def test_two_inputs_come_near_the_constant(name):
    automaton, constant = NEAR[name]
    result = check(automaton)
    assert result.bounds.best == constant
    near(symdipa.confirm(result, eps=1, timeout=60).confirmation, automaton, constant)


@pytest.mark.parametrize("name", ["prefix sums", "smart sum", "svt", "svt, a window", "sum above"])
def test_short_runs_are_enough_to_come_near(name):
    """The search without a bound from below to start with."""
    automaton, constant = NEAR[name]
    near(confirm(automaton, 1, enough=0.99 * float(constant), limits=Limits.of(60)), automaton, constant)


def near(found, automaton, constant):
    assert found.all_runs and not found.refutes(constant)
    assert 0.98 * constant <= found.log_ratio_per_eps <= constant + F(found.error)
    assert after(automaton.differ, found.pair.differences) is not None
    assert all(delta is None or abs(delta) <= 1 for delta in found.pair.differences)


def test_moves_keep_to_who_may_differ():
    """The search turns differences round and makes new ones: of two inputs it keeps to what is allowed."""
    automaton = svt("window=2")
    found = confirm(automaton, 1, moves=60, best_runs=1, longest=4, limits=Limits.of(30))
    assert found.tried > 20
    assert after(automaton.differ, found.pair.differences) is not None and not found.refutes(F(3, 2))


@pytest.mark.parametrize(
    ("name", "kinds", "outcome"),
    [
        ("whole sum", ["reset", "limit"], "private, D = 1"),
        ("whole sum, three entries", ["reset", "limit"], "private, D = 3"),
        ("smart sum never reset", ["reset", "symbol", "limit"], "private, D = 2"),
        ("block sum without noise", ["noise"], "private, D = 2"),
        ("svt", ["limit", "limit", "one-entry"], "private, D = 2 if it stops after the first, D = 5 after 3"),
    ],
)
def test_hints_make_the_twins_right_again(name, kinds, outcome):
    found = hints(check(TWINS[name]))
    assert [hint.kind for hint in found] == kinds
    assert found[0].outcome == outcome
    for hint in found:
        again = check(hint.automaton, "explicit")
        assert hint.private and again.verdict is Verdict.PRIVATE
        assert hint.changes and all(change.before != change.after for change in hint.changes)


def test_a_sum_is_reset_where_it_was_used():
    first = hints(check(TWINS["smart sum never reset"]))[0]
    assert [(change.before, change.after) for change in first.changes] == [
        ("(q2): s += input; output insample; goto q0", "(q2): s := 0; output insample; goto q0")
    ]
    bare = hints(check(TWINS["block sum without noise"]))[0]
    assert [change.after for change in bare.changes] == ["(q2, 1, s): output insample; goto q0"]


def test_to_promise_less():
    last = hints(check(svt("pattern=(=~)*")))[-1]
    assert [(change.before, change.after) for change in last.changes] == [
        ("differ pattern=(=~)*", "differ entries=1")
    ]
    assert last.outcome == "private, D = 3/4"
    assert all(hint.kind != "one-entry" for hint in hints(check(whole_sum())))


def test_streams_that_are_too_long_have_no_differences():
    assert worst_allowed(svt("pattern=~=~"), unrolled(svt("all"), [0, 1, 1, 1, 1])) is None
    assert confirm(svt("pattern=~=~"), 1, enough=1.45, limits=Limits.of(20)).log_ratio_per_eps <= F(3, 2)
