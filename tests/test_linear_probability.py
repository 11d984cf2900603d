"""Probabilities and simulation in the wider model, against closed forms, sums written out and each other."""

from __future__ import annotations

import random
from fractions import Fraction as F
from itertools import product
from math import exp, inf, isclose, log, sqrt

import pytest
from linear_models import (
    absolute,
    asked,
    at_most,
    below,
    build,
    constants,
    drawn,
    exact_query,
    exponential_svt,
    gap_svt,
    last_two,
    noisy_max,
    shown_once,
    silent,
    two_thresholds,
)
from random_automata import random_automaton
from test_probability import inputs_of, random_run

from symdipa.evidence.probability import ProbabilityRefused, log_probability, total_log_probability
from symdipa.evidence.probability.linear import events
from symdipa.evidence.probability.linear.lattice import Law
from symdipa.evidence.simulation import simulate
from symdipa.model.automaton import Guard, Noise, Term, difference, several, symbol, value
from symdipa.model.errors import LimitReached

LAPLACE, EXPONENTIAL, NONE = Noise.LAPLACE, Noise.EXPONENTIAL, Noise.NONE


def two(first, second, guard, integer=False, output="yes", rates=(F(1, 2), F(1, 4))):
    """A sample ``t`` without input, then one with input, if the guard holds."""
    return build(
        [drawn("a", rates[0], 0, first), asked("b", rates[1], 0, second)],
        [("a", [], {"t"}, "start", "b"), ("b", guard, (), output, "end")],
        integer,
    )


def chance(automaton, given, eps=1, outputs=None):
    found = log_probability(automaton, [0, 1], [None, given], outputs, eps)
    assert found.error < 1e-6
    return found.value


def close(a, b):
    return isclose(a, b, rel_tol=0, abs_tol=2e-6)


@pytest.mark.parametrize("eps", [F(1, 3), 1, 5])
@pytest.mark.parametrize("given", [-3, 0, F(7, 2), 40])
def test_two_exponential_samples(eps, given):
    a, b = 0.5 * float(eps), 0.25 * float(eps)
    later = a / (a + b) * exp(b * float(given))  # the mean of the second is lower, or the same
    wanted = 1 - b / (a + b) * exp(-a * float(given)) if given >= 0 else later
    found = chance(two(EXPONENTIAL, EXPONENTIAL, [at_most("t", "insample")]), given, eps)
    assert close(found, log(wanted))


def laplace_below(x, a, b):
    """The probability that a difference of two Laplace samples with different rates is at most ``x``."""
    if x > 0:
        return 1 - laplace_below(-x, a, b)
    return (b * b * exp(a * x) - a * a * exp(b * x)) / (2 * (b * b - a * a))


@pytest.mark.parametrize("offset", [F(0), F(3), F(-5, 2)])
@pytest.mark.parametrize("given", [-20, 1, 6])
def test_two_laplace_samples_with_an_offset(offset, given):
    found = chance(two(LAPLACE, LAPLACE, [at_most(Term("t", offset), "insample")]), given)
    assert close(found, log(laplace_below(given - float(offset), 0.5, 0.25)))


def test_a_gap():
    shown = several(symbol("high"), difference("insample", "t"))
    automaton = two(LAPLACE, LAPLACE, [], output=shown)
    found = chance(automaton, 2, outputs=[None, (F(1), F(3))])
    a, b = 0.5, 0.25
    assert close(found, log(laplace_below(1, a, b) - laplace_below(-1, a, b)))
    assert chance(automaton, 2) == 0  # any gap
    found = total_log_probability(automaton, [2], ["start", ("high", (1.0, 3.0))])
    assert close(found.value, log(laplace_below(1, a, b) - laplace_below(-1, a, b)))


def test_a_sample_between_a_threshold_and_its_negative():
    inside = [below("insample", "t"), below("-t", "insample")]
    automaton = two(LAPLACE, LAPLACE, inside, rates=(F(1), F(1)))
    # P(|z| < t) for independent standard Laplace samples: half of P(|z| < |t|).
    assert close(chance(automaton, 0), log(1 / 4))


def test_a_sample_without_noise():
    automaton = two(LAPLACE, NONE, [at_most("t", "insample")])
    assert close(chance(automaton, -4), log(exp(-2) / 2))
    shown = shown_once(NONE)
    assert log_probability(shown, [0], [3], [(2, 4)]).value == 0
    assert log_probability(shown, [0], [3], [(4, 5)]).value == -inf


def test_a_constant_and_a_copy():
    automaton = build(
        [drawn("a", F(1)), silent("s"), silent("u")],
        [
            ("a", [], {"x"}, "o", "s"),
            ("s", [below("x", 2)], (), "o", "u", (("y", "x"), ("x", F(1)))),
            ("u", [below("y", "x")], (), several(value("y"), value("x")), "end"),
        ],
    )
    run, nothing = [0, 1, 2], [None] * 3
    assert close(log_probability(automaton, run, nothing).value, log(1 - exp(-1) / 2))
    windows = [None, None, ((0.0, 9.0), (1.0, 1.0))]
    assert close(log_probability(automaton, run, nothing, windows).value, log((1 - exp(-1)) / 2))
    assert log_probability(automaton, run, nothing, [None, None, (None, (2.0, 3.0))]).value == -inf
    with pytest.raises(ValueError, match="2 numbers, not 1"):
        log_probability(automaton, run, nothing, [None, None, (0.0, 1.0)])


def weight(noise, rate, k):
    q = exp(-rate)
    if noise is LAPLACE:
        return (1 - q) / (1 + q) * q ** abs(k)
    return (1 - q) * q**k if k >= 0 else 0.0


GUARDS = {
    "at least": ([at_most("t", "insample")], lambda t, z: z >= t),
    "more": ([below("t", "insample")], lambda t, z: z > t),
    "offset": ([below("insample", Term("t", F(2)))], lambda t, z: z < t + 2),
    "inside": ([below("insample", "t"), below("-t", "insample")], lambda t, z: -t < z < t),
    "outside": ([below("insample", "t"), at_most("insample", "-t")], lambda t, z: z < t and z <= -t),
    "constants": ([at_most(-1, "insample"), below("t", 3)], lambda t, z: z >= -1 and t < 3),
    "itself": ([below("t", "-t"), at_most("t", "insample")], lambda t, z: t < 0 and z >= t),
}


@pytest.mark.parametrize("name", GUARDS)
@pytest.mark.parametrize("noises", list(product((LAPLACE, EXPONENTIAL), repeat=2)))
def test_integer_sums_against_sums_written_out(name, noises):
    guard, holds = GUARDS[name]
    automaton = two(*noises, guard, integer=True, rates=(F(1), F(1, 2)))
    total = 0.0
    for t, z in product(range(-45, 60), range(-70, 90)):
        if holds(t, z):
            total += weight(noises[0], 1.0, t) * weight(noises[1], 0.5, z - 2)
    assert close(chance(automaton, 2), log(total) if total else -inf) or total == 0


@pytest.mark.parametrize("noise", [LAPLACE, EXPONENTIAL])
@pytest.mark.parametrize("ends", [(None, None), (1, 4), (-3, 0), (-4, -2), (-2, None), (None, 3), (5, None)])
def test_one_integer_sample(noise, ends):
    low, high = ends
    law = Law(noise, 0.7, F(1), *(None if x is None else F(x) for x in ends))
    total = sum(
        weight(noise, 0.7, k - 1)
        for k in range(-60, 62)
        if (low is None or k >= low) and (high is None or k <= high)
    )
    assert isclose(exp(law.log_alone(True)), total, abs_tol=1e-12)


@pytest.mark.parametrize("seed", range(24))
def test_as_in_the_paper_for_its_automata(seed):
    rng = random.Random(seed)
    automaton = random_automaton(rng)
    run = random_run(rng, automaton, rng.choice((3, 5, 6)))
    eps = rng.choice((F(1, 2), F(1), F(3)))
    inputs = inputs_of(automaton, run, [F(rng.randrange(-12, 13), 4) for _ in run])
    windows = ((F(-1, 2), F(1)), (F(1, 4), inf), (-inf, F(0)), None)
    outputs = [rng.choice(windows) if automaton.transitions[t].output.is_real else None for t in run]
    wanted = log_probability(automaton, run, inputs, outputs, eps)
    found = events.log_probability(automaton, run, inputs, outputs, eps, 1e-5)
    assert found.value == wanted.value or abs(found.value - wanted.value) <= found.error + wanted.error + 1e-9


CASES = {
    "gap": (gap_svt(), [0, 1, 3]),
    "constants": (constants(), [6, -3]),
    "abs": (absolute(2), [0, -2, 3]),
    "exponential": (exponential_svt(), [0, 1, 2]),
    "noisy max": (noisy_max(3), [0, 1, 2]),
    "exponential max": (noisy_max(2, EXPONENTIAL), [0, 1]),
    "two thresholds": (two_thresholds(), [1]),
    "last two": (last_two(), [0, 1, 2]),
    "integer svt": (gap_svt(1, True, False, F(1, 4)), [0, 1, 2]),
    "integer gap": (gap_svt(2, True), [0, 2, 4]),
    "integer abs": (absolute(2, True), [0, -2, 3]),
    "integer exponential": (exponential_svt(True), [0, 1, 2]),
    "exact query": (exact_query(), [0, 1, -1]),
}
WINDOWS = [(-inf, -1.0), (0.0, 2.0), (3.0, inf)]
SAMPLES = 20_000


@pytest.mark.parametrize("name", CASES)
def test_simulation_and_probabilities_agree(name):
    automaton, inputs = CASES[name]
    found = simulate(automaton, inputs, 1, SAMPLES, 5, windows=WINDOWS)
    compared = 0
    for outputs in sorted(found.outputs, key=lambda o: -found.outputs[o])[:10]:
        if any(item is None for output in outputs for item in events.items_of(output or (None,))):
            continue
        p = total_log_probability(automaton, inputs, outputs).probability
        spread = sqrt(p * (1 - p) / SAMPLES)
        assert abs(found.showing(outputs) / SAMPLES - p) <= 4.5 * spread + 1e-12
        compared += 1
    assert compared


@pytest.mark.parametrize("automaton", [absolute(1), absolute(1, True), noisy_max(3), exponential_svt()])
def test_outputs_sum_to_one(automaton):
    count = 3
    inputs = [1, -1, 2][:count]
    total, work = 0.0, [()]
    symbols = sorted({part.symbol for t in automaton.transitions for part in t.output.parts if part.symbol})
    shapes = {tuple(part.symbol or (-inf, inf) for part in t.output.parts) for t in automaton.transitions}
    assert symbols
    while work:
        seen = work.pop()
        grown = [(*seen, shape[0] if len(shape) == 1 else shape) for shape in shapes]
        chances = [(one, total_log_probability(automaton, inputs, one)) for one in grown]
        possible = [one for one, p in chances if p.value > -inf]
        if possible:
            work += possible
        else:
            total += total_log_probability(automaton, inputs, seen).probability
    assert abs(total - 1) < 1e-5


def test_what_cannot_be_computed_is_refused():
    names = ["x", "y", "z", "w"]
    states = [drawn(name, F(1)) for name in names] + [asked("q", F(1))]
    following = [*names[1:], "q"]
    rows = [(name, [], {name}, "o", after) for name, after in zip(names, following, strict=True)]
    sums = [below("insample", name) for name in names]
    automaton = build(states, [*rows, ("q", sums, (), "in", "q")], integer=True)
    with pytest.raises(LimitReached, match="matter at the same time"):
        log_probability(automaton, [0, 1, 2, 3, *[4] * 4], [None] * 4 + [0, 1, 2, 3])
    with pytest.raises(ValueError, match="not an integer"):
        log_probability(gap_svt(1, True), [0, 1], [None, F(1, 2)])
    with pytest.raises(ValueError, match="not an integer"):
        simulate(gap_svt(1, True), [F(1, 2)])
    with pytest.raises(ProbabilityRefused, match="tolerance"):
        log_probability(gap_svt(1), [0, 1, 1], [None, 0, 1], tolerance=1e-30)
    with pytest.raises(ValueError, match="no output"):
        total_log_probability(gap_svt(1), [0], ["start", ("hihg", (0.0, 1.0))])


def test_guards_that_contradict_each_other():
    automaton = two(LAPLACE, LAPLACE, [below("insample", "t"), below(Term("t", F(1)), "insample")])
    assert chance(automaton, 0) == -inf
    assert Guard().is_true
