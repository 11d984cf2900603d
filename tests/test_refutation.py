"""Refutations: every violation refutes any D, and nothing refutes a D that is proved."""

from __future__ import annotations

import json
import random
import sys
import time
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import inf
from pathlib import Path

import pytest
from conftest import EXAMPLES, ROOT, WIDER_EXAMPLES, runs_with_outputs
from random_automata import random_automaton

from symdipa import check
from symdipa.bounds.portfolio import bounds_on
from symdipa.evidence.confirmation import NoConfirmation, confirm
from symdipa.evidence.probability import (
    Budget,
    log_probability,
    total_log_probability,
)
from symdipa.evidence.refutation import NoRefutation, refute
from symdipa.evidence.refutation.inputs import Evaluation, input_pair, roles
from symdipa.evidence.refutation.search import MARGIN, _Escalation
from symdipa.evidence.refutation.shape import Shape, signs_of, unrolled
from symdipa.files.families import generate
from symdipa.files.formats import load, loads
from symdipa.interface.pictures import growth, plotting
from symdipa.interface.reports import numbers, objects
from symdipa.interface.reports import refutation as report
from symdipa.interface.reports.document import as_text
from symdipa.model.automaton import OutputKind
from symdipa.model.errors import OutOfTime
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Verdict
from symdipa.runs.control import control_graph
from symdipa.runs.problem import Problem

INDISTINCT = ("a_nwf", "paper_nwf", "hidden_maximum", "unseen_redraws")
"""These have one output symbol: whatever a run loses, the others make up for."""
SHARED = ROOT.parent / "shared"
PEER = SHARED / "peer" / "dipaut"
BROKEN = ("leaking_cycle", "leaking_pair", "disclosing_cycle", "privacy_violating_path")


def _published():
    """The files of others that are known not to be private: by what is expected of them or by their place."""
    listed = SHARED / "literature" / "expect.json"
    if listed.exists():
        for name, wanted in json.loads(listed.read_text(encoding="utf-8")).items():
            if wanted["patterns"] and name not in INDISTINCT:
                yield listed.with_name(f"{name}.dipa")
    for folder in BROKEN:
        # Those with "non_input" in their names lie outside the model.
        yield from (p for p in (PEER / "examples" / folder).glob("*.dipa") if "non_input" not in p.stem)
    yield from (PEER / "simple_examples").glob("*_1.dipa")
    yield from (PEER / "simple_examples").glob("*_cycle.dipa")


VIOLATING = sorted(
    path for folder in BROKEN for path in (EXAMPLES / folder).glob("*.dipa") if path.stem not in INDISTINCT
)
WIDER = [path for path in WIDER_EXAMPLES if "not private" in path.read_text().split("\n")[0]]
PUBLISHED = sorted(_published())


def refuted(path, exceeds, **options):
    """A refutation for a file that is not private, with everything checked that is claimed."""
    automaton = load(path)
    result = check(automaton)
    assert result.verdict is Verdict.NOT_PRIVATE
    found = refute(automaton, result.witness, exceeds, distinct=result.distinct, growth=False, **options)
    examine(found)
    assert found.holds, found.missing
    return found


def examine(found):
    """What is claimed, computed once more by hand where that is possible."""
    automaton, run = found.automaton, found.run
    assert run == tuple(found.witness.run[at] for at, _ in unrolled(found.witness, found.rounds))
    where = automaton.initial
    for j, t in enumerate(run):
        transition, state = automaton.transitions[t], automaton.state(where)
        assert transition.source == where
        where = transition.target
        low, high = found.alpha[j], found.beta[j]
        assert (low is None) == (high is None) == (not state.is_input)
        if low is not None and high is not None:
            assert Fraction(float(low)) == low and Fraction(float(high)) == high
            assert abs(float(high) - float(low)) <= 1
        assert (found.outputs[j] is None) == (not transition.output.is_real)
    assert found.error < (1e-5 if automaton.is_plain else 1e-4)
    if found.all_runs and not found.further and found.limit is not None:
        assert found.log_ratio - found.error <= float(found.limit * found.eps) * (1 + 1e-12)
    if found.holds:
        assert found.all_runs and found.log_ratio - found.error > found.exceeds * found.eps


@pytest.mark.parametrize("exceeds", [1, 5, 20])
@pytest.mark.parametrize("path", VIOLATING + WIDER, ids=lambda path: path.stem)
def test_examples(path, exceeds):
    found = refuted(path, exceeds)
    if exceeds > 5:
        return
    for inputs, value in ((found.alpha, found.log_prob_alpha), (found.beta, found.log_prob_beta)):
        again = log_probability(found.automaton, found.run, inputs, found.outputs, found.eps)
        assert again.value == value or abs(again.value - value) <= again.error + found.error


@pytest.mark.parametrize("exceeds", [1, 5, 20])
@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_published_mechanisms(path, exceeds):
    refuted(path, exceeds)


def test_the_observer_sees_no_other_run():
    for name in (
        "leaking_pair/two_range_1",
        "leaking_cycle/lc_example",
        "privacy_violating_path/num_range_1",
    ):
        found = refuted(EXAMPLES / f"{name}.dipa", 1)
        stream = [a for a in found.alpha if a is not None]
        seen = [
            window or found.automaton.transitions[t].output.symbol
            for t, window in zip(found.run, found.outputs, strict=True)
        ]
        assert [one.run for one in runs_with_outputs(found.automaton, stream + [0] * 20, seen)] == [found.run]
        total = total_log_probability(found.automaton, stream, seen, found.eps)
        assert abs(total.value - found.log_prob_alpha) <= total.error + found.error_alpha


@pytest.mark.parametrize("eps", [Fraction(1, 10), Fraction(1, 3), Fraction(8)])
@pytest.mark.parametrize("name", ["leaking_pair/a_leakp", "leaking_cycle/svt_redrawn_threshold"])
def test_any_eps(name, eps):
    found = refuted(EXAMPLES / f"{name}.dipa", Fraction(7, 2), eps=eps)
    assert found.log_ratio > 3.5 * eps


def test_the_ratio_grows_with_the_rounds():
    automaton = load(EXAMPLES / "leaking_pair" / "a_leakp.dipa")
    found = refute(automaton, check(automaton).witness, 20)
    assert [g.rounds for g in found.growth] == [1, 2, 4, 8, 16, 32, found.rounds]
    assert all(a.log_ratio_per_eps < b.log_ratio_per_eps for a, b in pairwise(found.growth))
    assert found.growth[-1].log_ratio_per_eps == found.log_ratio > 20
    assert all(g.error < 1e-5 for g in found.growth)


@pytest.mark.parametrize(
    "path",
    [EXAMPLES / "leaking_pair" / "a_leakp.dipa", EXAMPLES / "leaking_cycle" / "a_nwf.dipa", *VIOLATING[:3]],
    ids=lambda p: p.stem,
)
def test_the_ratio_never_decreases_with_the_distance(path):
    """A theorem: the negative logarithm is convex in the inputs, so its differences do not decrease."""
    automaton = load(path)
    control, witness = control_graph(automaton), check(automaton).witness
    shape = Shape(control, witness, signs_of(control, witness))
    evaluation = Evaluation(control, Fraction(1), True, 1e-6, Budget(), Limits.of(60))
    ratios, event = [], None
    for distance in (0, 2, 8, 32):
        tried = input_pair(control, shape.run(3), shape.signs(3), Fraction(distance), Fraction(1))
        event = event or tried.outputs  # that of a shown second sample would move with the distance
        tried = replace(tried, outputs=event)
        first, second, _ = evaluation.of(tried)
        ratios.append((first.value - second.value, first.error + second.error))
    assert all(a[0] <= b[0] + a[1] + b[1] for a, b in pairwise(ratios))
    assert ratios[-1][0] <= shape.best_ratio(3) + ratios[-1][1]


@pytest.mark.parametrize("block", range(4))
def test_random_automata(block):
    refutations = 0
    for seed in range(15 * block, 15 * block + 15):
        automaton = random_automaton(random.Random(seed), variables=(1, 2, 3))
        result = check(automaton)
        if result.verdict is Verdict.NOT_PRIVATE:
            found = refute(automaton, result.witness, 2, distinct=result.distinct, growth=False)
            examine(found)
            assert found.holds, (seed, found.missing)
            refutations += 1
    assert refutations >= 5


def test_a_cycle_that_pays_only_at_first():
    # A first value with little noise lets a few rounds cost something, whatever the signs are.
    automaton = loads(
        "(p, 1/2, 0): x := insample; output o; goto a\n"
        "(a, 1/12, 0): if (insample >= x) then x := insample; output more; goto a"
    )
    result = check(automaton)
    assert result.witness.pattern is Pattern.LEAKING_CYCLE
    found = refute(automaton, result.witness, 4, distinct=result.distinct, growth=False)
    examine(found)
    assert found.holds


def test_other_runs_with_the_same_outputs_count():
    # One output symbol: an observer learns nothing, though one run alone has a ratio beyond all bounds.
    automaton = load(EXAMPLES / "leaking_cycle" / "a_nwf.dipa")
    result = check(automaton)
    found = refute(automaton, result.witness, 1)
    examine(found)
    assert found.all_runs and not found.holds and found.further
    assert abs(found.log_ratio) <= found.error + 1e-9
    assert "other runs" in found.missing
    alone = refute(automaton, result.witness, 1, distinct=True, growth=False)
    assert alone.log_ratio > 1


def test_other_runs_that_do_not_make_up_for_it():
    # A loop between two states that are not output-distinct; which of the two was left shows later.
    automaton = loads(
        "(p, 1/4, 0): x := insample; output o; goto a\n"
        "(a, 1/4, 0):\n"
        "    if (insample < x) then output o; goto a\n"
        "    elseif (insample >= x) then output o; goto b\n"
        "(b, 1/4, 0):\n"
        "    if (insample >= x) then output up; goto b\n"
        "    elseif (insample < x) then output down; goto a"
    )
    result = check(automaton)
    found = refute(automaton, result.witness, 2, distinct=False, growth=False)
    examine(found)
    assert found.all_runs


def test_when_the_time_does_not_suffice():
    automaton = load(EXAMPLES / "leaking_cycle" / "lc_example.dipa")
    with pytest.raises(NoRefutation, match="time"):
        refute(automaton, check(automaton).witness, 20, limits=Limits.of(1e-9))
    found = refute(
        automaton, check(automaton).witness, 20, budget=Budget(down_sets=200, pairs=1), growth=False
    )
    assert not found.holds and found.missing
    text = as_text(report.document(found))
    assert "No pair of inputs was found" in text and "does not depend on it" in text.replace("\n  ", " ")


@pytest.mark.parametrize("seconds", [0.2, 1.0])
@pytest.mark.parametrize(
    "name",
    ["leaking_cycle/lc_example", "leaking_cycle/running_maximum", "leaking_pair/two_range_1"],
)
def test_time_limits_are_honoured_in_the_middle_of_a_probability(name, seconds):
    automaton = load(EXAMPLES / f"{name}.dipa")
    result = check(automaton)
    began, cpu = time.monotonic(), time.process_time()
    try:
        found = refute(automaton, result.witness, 300, distinct=result.distinct, limits=Limits.of(seconds))
        missing = found.missing
    except NoRefutation as reason:
        missing = str(reason)
    if time.monotonic() - began < seconds:  # a fast machine needs no limit
        assert missing is None
        return
    assert missing is None or "the time was over" in missing
    assert time.process_time() - cpu < seconds + 1


def test_how_far_it_got_when_the_time_was_over(monkeypatch):
    automaton = load(EXAMPLES / "leaking_pair" / "two_range_1.dipa")
    result, real, calls = check(automaton), Evaluation.of, []

    def slow_after_two(self, candidate):
        calls.append(candidate)
        if len(calls) > 2:
            raise OutOfTime()
        first, second, all_runs = real(self, candidate)
        return first, replace(second, value=first.value - 1), all_runs  # so that it goes on

    monkeypatch.setattr(Evaluation, "of", slow_after_two)
    found = refute(automaton, result.witness, 2, distinct=result.distinct)
    assert not found.holds and found.log_ratio == 1
    assert "the time was over after 2 pairs of inputs while" in found.missing
    assert "The best pair that was found" in " ".join(as_text(report.document(found)).split())


@pytest.mark.parametrize("exceeds", [1, 7, 20, 60])
def test_the_number_of_rounds_is_the_least_one(exceeds):
    for path in VIOLATING:
        automaton = load(path)
        control, witness = control_graph(automaton), check(automaton).witness
        shape = Shape(control, witness, signs_of(control, witness))
        search = _Escalation(automaton, shape, Fraction(exceeds), None, UNLIMITED)
        rounds = search._first_rounds()
        assert shape.best_ratio(rounds) > MARGIN * exceeds
        assert rounds == 1 or shape.best_ratio(rounds - 1) <= MARGIN * exceeds


def test_more_rounds_than_a_run_may_have():
    automaton = load(EXAMPLES / "leaking_pair" / "a_leakp.dipa")
    with pytest.raises(NoRefutation, match=r"in \d+ rounds \(\d+ steps\) the best ratio is exp"):
        refute(automaton, check(automaton).witness, 3_000, limits=Limits.of(300))


@pytest.mark.parametrize("options", [{"exceeds": -1}, {"eps": 0}, {"tolerance": 0}])
def test_numbers_that_mean_nothing(options):
    automaton = load(EXAMPLES / "leaking_pair" / "a_leakp.dipa")
    with pytest.raises(ValueError):
        refute(automaton, check(automaton).witness, **options)


def test_events_of_shown_numbers():
    automaton = loads("(a, 1, 3, 1/2, -1): output insampleprime; goto a")
    found = refute(automaton, check(automaton).witness, 2)
    examine(found)
    assert found.holds and found.log_ratio == pytest.approx(found.rounds / 2, abs=1e-9)
    kinds = {automaton.transitions[t].output.kind for t in found.run}
    assert kinds == {OutputKind.INSAMPLE_PRIME}
    assert all(window is not None and inf in map(abs, window) for window in found.outputs)


# Nothing refutes what is proved


@pytest.mark.parametrize("path", sorted((EXAMPLES / "well_formed").glob("*.dipa")), ids=lambda p: p.stem)
def test_no_pair_above_a_proved_bound(path):
    automaton = load(path)
    proved = bounds_on(Problem.of(automaton), each=5).best
    # For the sum over all runs of k-MinMax the signs of one run alone do little: the roles are kept apart.
    few = {"longest": 5, "moves": 0} if path.stem == "k_min_max_3" else {"moves": 3}
    found = confirm(automaton, best_runs=1, limits=Limits.of(60), **few)
    assert found is not None and found.all_runs
    assert found.log_ratio_per_eps - found.error <= proved
    if path.stem in ("svt", "range_1", "num_sparse", "hysteresis_once", "k_min_max_3"):
        assert found.log_ratio_per_eps > 0.98 * float(proved)


def test_the_best_pair_of_2_min_max_comes_near_to_its_bound():
    automaton = generate("k-minmax", 2)
    found = confirm(automaton, moves=0, best_runs=1, longest=5, limits=Limits.of(60))
    assert found is not None and found.all_runs
    assert 0.98 < found.log_ratio_per_eps - found.error <= 1


@pytest.mark.parametrize("name", ["m-range", "k-minmax"])
def test_the_search_for_the_best_pair_ends_in_time(name):
    began = time.process_time()
    try:
        found = confirm(generate(name, 6), best_runs=9, moves=10**6, limits=Limits.of(1.5))
        assert found.tried
    except NoConfirmation as reason:
        assert "time" in str(reason)  # on a busy machine
    assert time.process_time() - began < 3


def test_groups_without_flow_are_put_in_order():
    automaton = load(EXAMPLES / "well_formed" / "range_1.dipa")
    control = control_graph(automaton)
    apart = roles(control, (0, 1, 2, 3), (0, 0, 0, 0))  # no differences, no flow: only the order is left
    assert apart is not None and apart[0] < apart[2] < apart[1]


# Reports


@pytest.fixture(scope="module")
def leaking_pair():
    automaton = load(EXAMPLES / "leaking_pair" / "a_leakp.dipa")
    return refute(automaton, check(automaton).witness, 5)


def test_text(leaking_pair):
    text = as_text(report.document(leaking_pair))
    for words in ("Refutes 5*eps-privacy at eps = 1", "scale 4/eps", "d = 1/4", "real numbers", "rounds"):
        assert words in text
    assert f"logarithm {leaking_pair.log_ratio:.9f}"[10:] in text
    assert max(map(len, text.splitlines())) <= 100


def test_json(leaking_pair):
    told = json.loads(json.dumps(objects.concrete(leaking_pair)))["counterexample"]
    assert told["log_ratio"] == told["log_prob_alpha"] - told["log_prob_beta"] > 5
    assert len(told["run"]) == len(told["alpha"]) == len(told["beta"]) == len(told["outputs"])
    assert told["exceeds"] == "5" and told["eps"] == 1.0 and told["all_runs"] is True
    assert set(told["growth"][0]) == {"rounds", "log_ratio_per_eps"}


def test_infinite_ends_are_text():
    assert objects.interval((-inf, 0.5)) == ["-inf", 0.5]
    assert objects.interval((0, inf)) == [0.0, "inf"]


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_picture(leaking_pair, tmp_path, suffix):
    path = tmp_path / f"growth.{suffix}"
    growth.plot(leaking_pair, "a_leakp", path)
    first = path.read_bytes()
    assert first.startswith(b"\x89PNG" if suffix == "png" else b"<svg")
    growth.plot(leaking_pair, "a_leakp", path)
    assert path.read_bytes() == first


def test_pictures_that_cannot_be_drawn(monkeypatch):
    with pytest.raises(plotting.PlotUnavailable, match=r"\.svg or \.png"):
        plotting.check_plot(Path("growth.bmp"))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(plotting.PlotUnavailable, match=r"symdipa\[plot\]"):
        plotting.check_plot(Path("growth.png"))
    plotting.check_plot(Path("growth.svg"))


def test_numbers_as_people_write_them():
    assert [numbers.number(x) for x in (Fraction(9), Fraction(-1, 4), Fraction(1, 3))] == [
        "9",
        "-0.25",
        "1/3",
    ]
    assert [numbers.power(x) for x in (-inf, 0.0, -230.2585092994046)] == ["0", "1.0000e+00", "1.0000e-100"]
    assert [numbers.error_text(x) for x in (0.0, 1.01e-9, 9.5e-9, 3e-5)] == ["0", "2e-09", "1e-08", "3e-05"]
