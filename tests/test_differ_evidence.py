"""Numbers for automata with sums of inputs, and where few entries differ: probabilities, pairs, hints."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import product
from math import exp, inf, isclose, log, sqrt

import pytest
from differ_models import noisy, prefix_sums, shown, smart_sum, sum_above, svt, tree, whole_sum

from symdipa import check
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
    difference,
    symbol,
    with_differ,
)
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Verdict, Witness
from symdipa.runs.numbers.shifts import cost
from symdipa.runs.numbers.system import unrolled


def below(rate, mean, x):
    """The probability that a Laplace sample lies below ``x``."""
    return 0.5 * exp(-rate * (mean - x)) if x < mean else 1 - 0.5 * exp(-rate * (x - mean))


def within(rate, mean, low, high):
    return below(rate, mean, high) - below(rate, mean, low)


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


def scaled(integer=False, noise=Noise.LAPLACE):
    """Registers that are copied, added to each other through copies, and scaled in a mean; second samples."""
    states = [
        State("a", draws=False),
        State("b", draws=False),
        State(
            "c",
            False,
            None if noise is Noise.NONE else F(1, 2),
            F(1),
            F(1, 4),
            F(-1),
            noise=noise,
            registers=(("s", F(2)), ("r", F(-1))),
        ),
    ]
    steps = [
        Transition("a", "b", symbol("o"), updates=shown("a", "b", "r := input, s := 0").updates),
        Transition("b", "c", symbol("o"), updates=shown("b", "c", "s := r + input").updates),
        Transition("c", "end", INSAMPLE_PRIME),
    ]
    steps[1] = Transition("b", "c", symbol("o"), updates=updates_of("s := r + input, r := s + input"))
    return Automaton.build(states, steps, differ="entries=1", integer=integer)


def updates_of(text):
    from differ_models import updates

    return updates(text)


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
    with pytest.raises(NoRefutation, match="entries that may not"):
        refute(prefix_sums(), witness, 5, 1, limits=Limits.of(10))


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
    automaton = Automaton.build(
        [noisy("a", 1), noisy("b", 1, "s"), noisy("c", 1, "s", reads=False)],
        [
            shown("a", "b", "s := input"),
            shown("b", "c", "s += input"),
            Transition("c", "c", difference("insample", "insample") if False else symbol("o")),
        ],
        differ="all" if False else "entries=1",
    )
    found = ray(automaton, (0, 1), [F(1), F(0)])
    start = [x for x in found.start if x is not None]
    means = [start[0], start[0] + start[1]]
    assert means == [found.centre[0], found.centre[1]]


def test_what_costs_most_among_what_is_allowed():
    system = unrolled(svt("all"), [0, 1, 1, 2, 2])
    assert worst_allowed(svt("all"), system).value == 3
    for text, value in (("entries=1", F(3, 4)), ("entries=2", F(3, 2)), ("window=2", F(3, 2))):
        automaton = svt(text)
        found = worst_allowed(automaton, system)
        assert found.value == value
        assert after(differ(text), [None, *found.deltas[1:]]) is not None
