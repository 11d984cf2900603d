"""Where several runs show the same outputs: one verdict, one D and one status in every command."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import random_automata as source
from click.testing import CliRunner
from conftest import EXAMPLES

import symdipa
from symdipa import Verdict, analysis
from symdipa.bounds import portfolio
from symdipa.bounds.breakdown import breakdown_of, flow_costs
from symdipa.bounds.exact.flow import flow_bound
from symdipa.bounds.exact.signs import best_signs
from symdipa.bounds.tight_runs import short
from symdipa.checker.model import model_of
from symdipa.checker.plain.runs import is_distinct, run_of
from symdipa.evidence import confirmation
from symdipa.files.families import generate
from symdipa.interface.cli import cli
from symdipa.interface.html.sections import Checked, headline
from symdipa.interface.reports import objects
from symdipa.interface.reports.document import Tone
from symdipa.interface.reports.weight import bound_text
from symdipa.model.errors import NoteKind
from symdipa.model.limits import Limits
from symdipa.model.verdict import Bounds
from symdipa.runs.control import control_graph
from symdipa.runs.properties import run_distinct

HIDDEN = """
(draw:non-input, 1/2, 10): t := insample; output dot; goto q
(q, 1/4, 0): if (insample < t) then output dot; goto q elseif (insample >= t) then output dot; goto q
"""
"""AboveThreshold without a cutoff, of which nobody sees the answers: D = 0."""

FINALS = """
(a, 1, 0): m := insample; output read; goto b
(b, 1, 0):
    if (insample < m) then output read; goto c
    elseif (insample >= m) then m := insample; output read; goto d
(c, 1, 0): if (insample < m) then output first; goto done elseif (insample >= m) then output third; goto done
(d, 1, 0): if (insample < m) then output second; goto done elseif (insample >= m) then output third; goto done
"""
"""Report Noisy Max of three: the run that shows "first" is the only one, and costs 2."""

FOUR = """
(a, 1/2, 0): m := insample; output read; goto b
(b, 1/2, 0):
    if (insample < m) then output read; goto c1
    elseif (insample >= m) then m := insample; output read; goto c2
(c1, 1/2, 0):
    if (insample < m) then output read; goto d1
    elseif (insample >= m) then m := insample; output read; goto d3
(c2, 1/2, 0):
    if (insample < m) then output read; goto d2
    elseif (insample >= m) then m := insample; output read; goto d3
(d1, 1/2, 0): if (insample < m) then output one; goto end elseif (insample >= m) then output four; goto end
(d2, 1/2, 0): if (insample < m) then output two; goto end elseif (insample >= m) then output four; goto end
(d3, 1/2, 0): if (insample < m) then output three; goto end elseif (insample >= m) then output four; goto end
"""
"""The same of four with half of the noise scale: single runs cost 2, pairs of runs prove 1."""

UNSEEN_SWITCH = """
(a, 1/4, 0): x := insample; output s; goto b
(b, 1/4, 0): if (insample < x) then output s; goto c elseif (insample >= x) then output s; goto c
(c, 1/4, 0): if (insample < x) then output low; goto end elseif (insample >= x) then output high; goto end
"""
"""Nobody sees the comparison in the middle."""


def file(folder: Path, text: str) -> str:
    path = folder / "a.dipa"
    path.write_text(text)
    return str(path)


def invoke(*words: str) -> Any:
    return CliRunner().invoke(cli, list(words))


def told(*words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(invoke(*words).stdout)
    return found


# One verdict


def test_every_command_has_the_same_answer(tmp_path: Path):
    path, page, certificate = file(tmp_path, HIDDEN), tmp_path / "r.html", tmp_path / "c.json"
    for command in ("check", "witness", "weight", "compare"):
        done = invoke(command, path)
        assert done.exit_code == 0
        assert "private, D = 0, by relational alignment (experimental)" in done.stdout.splitlines()[0]
    assert invoke("report", path, "-o", str(page)).exit_code == 0
    assert '<p class="verdict experimental">' in page.read_text(encoding="utf-8")
    assert invoke("certify", path, "-o", str(certificate)).exit_code == 0
    assert "D*eps-private with D = 0" in invoke("verify", path, str(certificate)).stdout


def test_what_is_private_needs_no_hints(tmp_path: Path):
    result = symdipa.check(symdipa.loads(HIDDEN))
    assert result.witness is not None and result.well_formed is False
    assert analysis.hints(result) is None
    assert "What would help" not in invoke("witness", file(tmp_path, HIDDEN)).stdout


def test_bounds_of_a_check_are_kept_where_runs_were_paired():
    result = symdipa.check(symdipa.loads(HIDDEN))
    assert analysis.with_bounds(result).bounds is result.bounds
    again = analysis.with_bounds(result, adjacency="monotone")
    assert again.verdict is Verdict.PRIVATE and again.bounds.relational == 0


def test_output_distinct_automata_are_not_paired(monkeypatch: pytest.MonkeyPatch):
    def paired(*_: object) -> None:
        raise AssertionError("runs were paired")

    monkeypatch.setattr(portfolio.Portfolio, "_relational", paired)
    automaton = symdipa.load(EXAMPLES / "well_formed" / "svt.dipa")
    assert symdipa.check(automaton, max_weight=Fraction(1)).bounds.best == Fraction(5, 4)
    assert analysis.weigh(automaton).bounds.optimal
    with pytest.raises(AssertionError):
        symdipa.check(symdipa.loads(HIDDEN))


# The status


@pytest.mark.parametrize(
    ("text", "budget", "status", "said"),
    [
        (FOUR, "1", 0, ""),  # pairs of runs prove it
        (FOUR, "9/10", 1, "a run proves that D is at least 1"),
        (FINALS, "2", 0, ""),
        (FINALS, "7/4", 1, "a run proves that D is at least 2"),
        (HIDDEN, "1/100", 0, ""),
    ],
)
def test_a_budget_is_exceeded_only_by_proof(tmp_path: Path, text, budget, status, said):
    path = file(tmp_path, text)
    for command in ("check", "weight"):
        done = invoke(command, "--max-weight", budget, path)
        assert done.exit_code == status and said in " ".join(done.stdout.split())


def test_a_bound_above_the_budget_proves_nothing(tmp_path: Path):
    done = invoke("weight", "--method", "run", "--max-weight", "9/5", file(tmp_path, FOUR))
    assert done.exit_code == 3 and "undecided: the best bound that was proved, 2, is above" in done.stdout


# How good a bound is


@pytest.mark.parametrize(
    ("text", "best", "how", "optimal"),
    [(FOUR, 1, "relational", True), (FINALS, 2, "exact", True), (HIDDEN, 0, "relational", True)],
)
def test_a_run_that_nobody_imitates_proves_that_d_is_optimal(text, best, how, optimal):
    found = analysis.weigh(symdipa.loads(text))
    assert (found.bounds.best, found.bounds.best_method, found.bounds.optimal) == (best, how, optimal)
    told = objects.weight("a", found)
    assert told["optimal"] is True and told["needed"] == (str(best) if best else None)
    if best:
        control = control_graph(found.automaton)
        assert found.bounds.lower == best and run_distinct(control, found.bounds.flow.run)


def test_optimal_for_single_runs_is_not_optimal():
    found = analysis.weigh(generate("k-minmax", 2), ["alignment"])
    assert not found.output_distinct and not found.bounds.optimal and found.bounds.needed is None
    assert found.bounds.optimal_for_single_runs
    assert objects.weight("a", found)["optimal"] == "single-runs"
    assert objects.weight("a", analysis.weigh(generate("k-minmax", 2), ["run"]))["optimal"] is False


def test_a_run_is_distinct_for_the_checker_and_for_the_bounds_alike():
    seen = set()
    for i in range(60):
        automaton = source.random_automaton(random.Random(f"distinct/{i}"))
        control, model = control_graph(automaton), model_of(automaton)
        for k, (run, loops) in enumerate(short(control)):
            if k == 25:
                break
            expected = is_distinct(model, [run_of(model, list(run), "run")], loops)
            assert run_distinct(control, run, loops) is expected
            seen.add((bool(loops), expected))
    assert len(seen) == 4


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (Bounds({"relational": Fraction(1)}, lower=Fraction(1), needed=Fraction(1)), "D = 1 (optimal)"),
        (
            Bounds({"relational": Fraction(2)}, lower=Fraction(1), needed=Fraction(1)),
            "D is at most 2, at least 1",
        ),
        (Bounds({"relational": Fraction(0)}), "D = 0"),
    ],
)
def test_a_bound_by_an_experimental_method_is_called_so(bounds, words):
    assert bound_text(bounds) == f"{words}, by relational alignment (experimental)"


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (Bounds({"exact": Fraction(2)}, lower=Fraction(2), needed=Fraction(2)), "D = 2 (optimal)"),
        (Bounds({"exact": Fraction(2)}, lower=Fraction(2)), "D = 2 (optimal for single runs)"),
        (Bounds({"run": Fraction(2)}, lower=Fraction(1), needed=Fraction(1)), "D is at most 2, at least 1"),
        (Bounds({"run": Fraction(2)}, lower=Fraction(1)), "D is at most 2"),  # other runs may help
        (Bounds({"run": Fraction(3)}, lower=Fraction(2), needed=Fraction(1)), "D is at most 3, at least 1"),
        (
            Bounds({"run": Fraction(2)}, lower=Fraction(2), needed=Fraction(1)),
            "D = 2 (optimal for single runs)",
        ),
    ],
)
def test_a_single_run_bounds_d_only_if_it_is_distinct(bounds, words):
    assert bound_text(bounds) == words


def test_the_page_has_another_sign_for_what_is_experimental():
    tones = {}
    for name, text in (("paired", HIDDEN), ("proved", FINALS)):
        result = symdipa.check(symdipa.loads(text))
        tones[name] = headline(Checked(name, result, weighed=analysis.with_bounds(result))).tone
    assert tones == {"paired": Tone.LIKELY, "proved": Tone.GOOD}


# Where it comes from


@pytest.mark.parametrize("text", [FOUR, FINALS, UNSEEN_SWITCH])
def test_the_costs_add_up_to_the_best_bound(text):
    found = analysis.weigh(symdipa.loads(text))
    parts = breakdown_of(found.automaton, found.bounds)
    assert sum(cost.amount for cost in parts.costs) == found.bounds.best
    assert sum(Fraction(part["cost"]) for part in objects.weight("a", found)["by_state"]) == found.bounds.best


def test_no_costs_that_add_up_to_something_else():
    found = analysis.weigh(symdipa.loads(FOUR), ["run", "alignment", "relational"])
    relational = Bounds({"alignment": Fraction(2), "relational": Fraction(1)}, lower=Fraction(2))
    assert breakdown_of(found.automaton, relational) is None


def test_the_costs_of_a_run_are_those_of_its_flow():
    """Strong duality: the best shifts cost what the largest flow is worth, loops and outputs included."""
    compared = 0
    for i in range(80):
        control = control_graph(source.random_automaton(random.Random(f"costs/{i}")))
        for k, (run, loops) in enumerate(short(control)):
            if k == 12:
                break
            flow = flow_bound(control, run, loops, best_signs(control, run, loops))
            if flow.value is not None:
                compared += bool(flow.value and loops)
                costs = flow_costs(control, flow, Fraction(3))
                assert sum(cost.amount for cost in costs) == 3 * flow.value
    assert compared > 20


# Limits


def test_weight_falls_back_on_what_a_check_finds(monkeypatch: pytest.MonkeyPatch):
    automaton = symdipa.load(EXAMPLES / "well_formed" / "svt.dipa")
    monkeypatch.setattr(portfolio, "ladder", lambda *_: ())
    found = analysis.weigh(automaton, sensitivity=2).bounds
    assert found.best == found.corollary == Fraction(5, 2)
    assert analysis.weigh(automaton, ["exact"]).bounds.corollary is None  # what was asked for, no more
    assert analysis.weigh(automaton, adjacency="monotone").bounds.best is None


def test_a_timeout_is_for_all_methods_together(monkeypatch: pytest.MonkeyPatch):
    """By a clock that is a second later whenever somebody looks at it."""
    ticks, deadlines = count(), []

    def late(self: portfolio.Portfolio, attempt: portfolio.Attempt, limits: Limits) -> None:
        deadlines.append(limits.deadline)

    monkeypatch.setattr("symdipa.model.limits.time", SimpleNamespace(monotonic=lambda: next(ticks)))
    monkeypatch.setattr(portfolio.Portfolio, "_make", late)
    analysis.weigh(symdipa.load(EXAMPLES / "well_formed" / "svt.dipa"), timeout=10_000)
    assert len(deadlines) > 3
    assert all(deadline is not None and deadline <= 10_010 for deadline in deadlines)


def test_unknown_is_not_the_absence_of_a_constant(tmp_path: Path):
    path = tmp_path / "r.dipa"
    assert invoke("generate", "running-max", "16", "-o", str(path)).exit_code == 0
    done = invoke("weight", "--timeout", "0.3", str(path))
    assert done.exit_code == 3
    first = " ".join(done.stdout.split())
    assert ": unknown: " in first and "no D was found" in first and "there is no D" not in first


def test_confirm_says_why_it_found_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def nothing(*_: object, **__: object) -> None:
        raise confirmation.NoConfirmation("a grid is too large")

    monkeypatch.setattr(confirmation, "confirm", nothing)
    result = analysis.confirm(analysis.weigh(symdipa.loads(FINALS)))
    assert result.confirmation is None and result.notes[-1].kind is NoteKind.NO_CONFIRMATION
    done = invoke("weight", "--confirm", file(tmp_path, FINALS))
    assert done.exit_code == 0
    assert "no two inputs that come near D were found: a grid is too large" in " ".join(done.stdout.split())


def test_a_search_without_a_pair_gives_its_reason():
    """Thresholds with next to no noise: no grid is fine enough for them and wide enough for the rest."""
    far = symdipa.loads(
        "(a:non-input, 1000, 300): x := insample; output s; goto b\n"
        "(b:non-input, 1000, 1000): y := insample; output s; goto c\n"
        "(c, 1/2, 0): if (insample < x) then output low; goto end "
        "elseif (insample >= x) then output high; goto d\n"
        "(d, 1/2, 0): if (insample < y) then output low; goto end "
        "elseif (insample >= y) then output high; goto end"
    )
    with pytest.raises(confirmation.NoConfirmation, match=r"probabilities were not computed.*grid"):
        confirmation.confirm(far)


# Certificates


@pytest.mark.parametrize(
    ("text", "words", "kinds", "bound"),
    [
        (FOUR, [], ["relational", "lower"], "1"),
        (FOUR, ["--method", "alignment"], ["private", "lower"], "2"),
        (FINALS, [], ["relational", "lower"], "2"),  # the exact constant is the same and has no certificate
        (FINALS, ["--method", "alignment"], ["private", "lower"], "3"),
        (FINALS, ["--method", "relational"], ["relational", "lower"], "2"),
        (HIDDEN, [], ["violation", "relational"], "0"),
    ],
)
def test_the_best_bound_that_has_a_certificate_is_certified(tmp_path: Path, text, words, kinds, bound):
    path, out = file(tmp_path, text), tmp_path / "c.json"
    assert invoke("certify", *words, path, "-o", str(out)).exit_code == 0
    written = json.loads(out.read_text())["certificates"]
    assert [part["kind"] for part in written] == kinds
    assert next(part["D"] for part in written if part["kind"] in ("private", "relational")) == bound
    assert invoke("verify", path, str(out)).exit_code == 0


def test_no_numbers_are_looked_for_against_what_is_private():
    """A private automaton with a violation that other runs make up for is sent to the search for D."""
    path = str(EXAMPLES / "leaking_cycle" / "unseen_redraws.dipa")
    found = CliRunner().invoke(cli, ["witness", "--no-hints", "--concrete", path])
    assert found.exit_code == 0 and "it is private (symdipa weight --confirm" in " ".join(
        found.stdout.split()
    )
    page = CliRunner().invoke(cli, ["report", "-o", "-", path])
    assert page.exit_code == 0 and "private, D = 0" in page.stdout and "Two inputs" not in page.stdout
