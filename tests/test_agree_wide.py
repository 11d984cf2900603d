"""``benchmarks/agree.py --wide``: it notices wrong verdicts, witnesses, bounds and crashes."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from fractions import Fraction
from types import ModuleType

import pytest
from conftest import ROOT

from symdipa import analysis
from symdipa.model.verdict import Verdict

OPTIONS = ["--wide", "--engines", "explicit", "--seed", "5"]


@pytest.fixture
def agree(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The command; without ``--differ``, for automata of the paper's class only."""
    modules = {}
    for name in ("agree_wide", "agree"):
        spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
        assert spec is not None and spec.loader is not None
        modules[name] = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, modules[name])  # dataclasses look their module up
        spec.loader.exec_module(modules[name])
    wide = modules["agree_wide"]
    plain = wide.automaton_of

    def mostly_plain(setup, index):
        return plain(setup if setup.differ else replace(setup, plain=1.0), index)

    monkeypatch.setattr(wide, "automaton_of", mostly_plain)
    return modules["agree"]


def said(agree: ModuleType, capsys: pytest.CaptureFixture[str], count: int = 4) -> tuple[int, str]:
    status = agree.main([*OPTIONS, "--count", str(count)])
    return status, capsys.readouterr().out


def test_all_agree(agree, capsys):
    status, out = said(agree, capsys, 8)
    assert status == 0, out
    assert "disagreements: 0" in out
    for words in ("judge: finite", "judge: infinite", "certified: private", "certified: violation"):
        assert words in out


def test_all_agree_about_sums_and_entries_that_differ(agree, capsys):
    status = agree.main(["--differ", "--engines", "explicit", "--seed", "5", "--count", "8"])
    out = capsys.readouterr().out
    assert status == 0, out
    assert "disagreements: 0" in out and "sums in means" in out


@pytest.mark.parametrize("verdict", [Verdict.PRIVATE, Verdict.NOT_PRIVATE])
def test_a_wrong_verdict(agree, capsys, monkeypatch, verdict):
    honest = analysis.check_with
    monkeypatch.setattr(
        analysis, "check_with", lambda *given: replace(honest(*given), verdict=verdict, witness=None)
    )
    status, out = said(agree, capsys)
    assert status == 1
    words = "runs cost without bound" if verdict is Verdict.PRIVATE else "no run costs more than"
    assert words in out


def test_a_witness_that_costs_the_same_for_ever(agree, capsys, monkeypatch):
    honest = analysis.check_with

    def stuck(*given):
        result = honest(*given)
        if result.witness is None:
            return result
        return replace(result, witness=replace(result.witness, cycles=()))

    monkeypatch.setattr(analysis, "check_with", stuck)
    status, out = said(agree, capsys)
    assert status == 1
    assert "the cost of the witness does not grow" in out


def test_a_bound_that_is_too_small(agree, capsys, monkeypatch):
    honest = analysis.weigh

    def boastful(*given, **options):
        result = honest(*given, **options)
        if result.bounds is None:
            return result
        less = {m: max(bound - Fraction(1, 8), 0) for m, bound in result.bounds.from_above.items()}
        return replace(result, bounds=replace(result.bounds, from_above=less))

    monkeypatch.setattr(analysis, "weigh", boastful)
    status, out = said(agree, capsys)
    assert status == 1
    assert "and runs cost" in out


def test_a_crash(agree, capsys, monkeypatch):
    def crash(*given, **options):
        raise RuntimeError("out of order")

    monkeypatch.setattr(analysis, "check_with", crash)
    monkeypatch.setattr(analysis, "weigh", crash)
    status, out = said(agree, capsys, 1)
    assert status == 1
    assert "explicit: RuntimeError" in out and "weigh: RuntimeError" in out
