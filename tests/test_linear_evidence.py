"""Pairs of inputs in the wider model: that come near D, and that refute any D; and the commands."""

from __future__ import annotations

import json
from fractions import Fraction as F

import pytest
from click.testing import CliRunner
from linear_models import (
    absolute,
    asked,
    at_most,
    below,
    build,
    constants,
    drawn,
    endless_gap,
    exact_query,
    exponential_svt,
    gap_svt,
    last_two,
    noisy_max,
    shown_once,
    two_thresholds,
)

from symdipa.bounds.exact.flow import Flow
from symdipa.evidence.confirmation import NoConfirmation, confirm
from symdipa.evidence.refutation import NoRefutation, refute
from symdipa.interface.cli import cli
from symdipa.interface.reports import objects
from symdipa.interface.reports import refutation as report
from symdipa.model.automaton import Noise, value
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Witness

EXPONENTIAL = Noise.EXPONENTIAL
NEAR = {
    "gap": (gap_svt(), F(1)),
    "constants": (constants(), F(1)),
    "abs, once": (absolute(), F(1, 2)),
    "abs, twice": (absolute(2), F(3, 4)),
    "exponential svt": (exponential_svt(), F(1)),
    "exponential max": (noisy_max(2, EXPONENTIAL, False), F(1)),
    "noisy max with its value": (noisy_max(3), F(3, 2)),
    "last two": (last_two(), F(1)),
    "integer svt": (gap_svt(1, True, False, F(1, 4)), F(1)),
    "integer gap": (gap_svt(2, True), F(1)),
    "integer exponential svt": (exponential_svt(True), F(1)),
    "integer max": (noisy_max(3, integer=True), F(3, 2)),
}


@pytest.mark.parametrize("name", NEAR)
def test_two_inputs_come_near_the_constant(name):
    automaton, constant = NEAR[name]
    found = confirm(automaton, 1, enough=0.995 * float(constant), limits=Limits.of(60))
    assert found.all_runs and not found.refutes(constant)
    assert 0.99 * constant <= found.log_ratio_per_eps <= constant + F(found.error)


def test_two_thresholds_and_other_values_of_eps():
    found = confirm(two_thresholds(), 1, enough=0.98, limits=Limits.of(120))
    assert 0.98 <= found.log_ratio_per_eps <= 1
    for eps in (F(1, 4), F(6)):
        found = confirm(last_two(), eps, enough=0.995, limits=Limits.of(60))
        assert 0.99 <= found.log_ratio_per_eps <= 1


def test_the_run_of_a_bound_from_below_comes_first():
    deltas = tuple(map(F, (0, 1, -1, 1, -1)))
    flow = Flow(F(1), (0, 1, 2, 3, 4), ((1, 2), (3, 4)), deltas, {}, frozenset())
    found = confirm(gap_svt(), 1, flow=flow, enough=0.99, limits=Limits.of(60))
    assert found.log_ratio_per_eps >= 0.99
    assert set(found.pair.run) <= {0, 1, 2, 3, 4}


def test_where_nothing_is_found_the_reason_is_said():
    with pytest.raises(NoConfirmation):
        confirm(shown_once(EXPONENTIAL), 1, limits=Limits.of(5))


def release():
    """A threshold that is shown, then compared for ever."""
    return build(
        [drawn("t", F(1, 2)), asked("q", F(1, 2))],
        [("t", [], {"t"}, value("t"), "q"), ("q", [below("insample", "t")], (), "low", "q")],
    )


def absolute_forever():
    outside = [below("insample", "t"), at_most("insample", "-t")]
    inside = [below("insample", "t"), below("-t", "insample")]
    return build(
        [drawn("t", F(1, 4), 2), asked("q", F(1, 8))],
        [
            ("t", [], {"t"}, "start", "q"),
            ("q", [at_most("t", "insample")], (), "up", "q"),
            ("q", outside, (), "down", "q"),
            ("q", inside, (), "in", "q"),
        ],
    )


def integer_chain():
    return build(
        [asked("a", F(1, 2)), asked("b", F(1, 2))],
        [("a", [], {"x"}, "o", "b"), ("b", [at_most("x", "insample")], {"x"}, "up", "b")],
        integer=True,
    )


VIOLATIONS = {
    "constant": (constants(True), (0,), ((0, 1),)),
    "gap": (endless_gap(), (0, 1, 2), ((1, 2), (2, 3))),
    "released": (release(), (0, 1), ((1, 2),)),
    "abs": (absolute_forever(), (0, 3, 1), ((1, 2), (2, 3))),
    "integer chain": (integer_chain(), (0, 1), ((1, 2),)),
    "exact query": (exact_query(), (0, 1, 2), ((1, 2),)),
    "exact query, once": (exact_query(1), (0, 1, 2), ()),
    "exponential": (shown_once(EXPONENTIAL), (0,), ()),
    "without noise": (shown_once(Noise.NONE), (0,), ()),
    "integer exponential": (shown_once(EXPONENTIAL, True), (0,), ()),
}


@pytest.mark.parametrize("name", VIOLATIONS)
def test_violations_are_refuted_in_numbers(name):
    automaton, run, cycles = VIOLATIONS[name]
    witness = Witness(Pattern.LEAKING_PAIR, run, cycles)
    for exceeds in (1, 4):
        found = refute(automaton, witness, exceeds, 1, limits=Limits.of(60))
        assert found.holds and found.all_runs
        assert found.log_ratio > exceeds
        assert found.limit is None or found.log_ratio - found.error <= found.limit
        for a, b in zip(found.alpha, found.beta, strict=True):
            assert a is None or abs(a - b) <= 1
        assert json.loads(json.dumps(objects.concrete(found), allow_nan=False))
        assert "Refutes" in report.claim(found)
        assert report.steps_table(found).rows and report.number_table(found).rows and report.whose(found)


def test_what_does_not_grow_is_not_refuted():
    witness = Witness(Pattern.LEAKING_PAIR, (0, 1, 2), ((1, 2),))
    with pytest.raises(NoRefutation, match="not shown that more rounds cost more"):
        refute(gap_svt(), witness, 3, 1)


GAP = """
(t:non-input, 1/2, 0): t := insample; output start; goto q
(q, 1/8, 0):
    if (insample < t) then output low; goto q
    elseif (insample >= t) then output high, insample - t; goto end
"""


def run(tmp_path, *arguments, text=GAP):
    file = tmp_path / "gap.dipa"
    file.write_text(text)
    return CliRunner().invoke(cli, [arguments[0], str(file), *arguments[1:]])


def test_probability_of_a_list(tmp_path):
    asked_for = ["--outputs", "start low high;0..1", "--inputs", "0 1"]
    found = run(tmp_path, "probability", *asked_for)
    assert found.exit_code == 0 and "probability 0.025029" in found.output
    found = json.loads(run(tmp_path, "probability", *asked_for, "--run", "0 1 2", "--json").output)
    assert found["outputs"] == ["start", "low", ["high", [0.0, 1.0]]]
    assert abs(found["log_probability"] + 3.687723583) < 1e-6


def test_what_is_wrong_with_a_list_is_said(tmp_path):
    found = run(tmp_path, "probability", "--run", "0 2", "--outputs", "start high", "--inputs", "1")
    assert found.exit_code == 2 and "outputs the list high; a number" in found.output
    found = run(tmp_path, "probability", "--outputs", "start hihg;0..1", "--inputs", "1")
    assert found.exit_code == 2 and "did you mean high?" in found.output
    found = run(
        tmp_path, "probability", "--outputs", "start", "--inputs", "1/2", text=f"noise integer\n{GAP}"
    )
    assert found.exit_code == 2 and "inputs are integers" in found.output


def test_simulation_of_a_list(tmp_path):
    found = run(tmp_path, "simulate", "--inputs", "0 1", "--windows", "..0 0..1", "-n", "2000")
    assert found.exit_code == 0
    assert "start high;0..1" in found.output and "start low high;(other)" in found.output
