"""Claims in test suites and on the command line: they pass where they are true, and tell where not."""

from __future__ import annotations

import json
import shlex
from fractions import Fraction

import pytest
from click.testing import CliRunner
from conftest import ROOT

import symdipa
from symdipa import InvalidInput, Verdict, laplace, mechanism
from symdipa.analysis.expectations import Expectation, Known, expectation
from symdipa.interface.cli import cli
from symdipa.testing import assert_not_private, assert_private

SVT = str(ROOT / "examples" / "programs" / "sparse_vector.py")
PLAIN = ROOT / "examples" / "well_formed" / "svt_cutoff_3.dipa"
LEAKY = ROOT / "examples" / "leaking_pair" / "a_leakp.dipa"


@mechanism
def once(queries, *, scale=1):
    """A mechanism outside of any package, as a test has it."""
    yield next(queries) + laplace(scale)


@mechanism
def without_end(queries):
    for q in queries:
        yield q + laplace(1)


# ------------------------------------------------------------------------------------------- the helper


@pytest.mark.parametrize("at_most", [None, 1, "1", 1.5, Fraction(7, 5)])
def test_what_is_true_passes(at_most):
    for subject in (once, f"{SVT}:svt", PLAIN, str(PLAIN), symdipa.load(PLAIN)):
        assert assert_private(subject, at_most=at_most).verdict is Verdict.PRIVATE


def test_settings_are_those_of_the_program():
    assert assert_private(once, scale=2, at_most="1/2").bounds.best == Fraction(1, 2)
    assert assert_private(f"{SVT}:svt", c=1, at_most=1).automaton.states != symdipa.load(PLAIN).states
    with pytest.raises(InvalidInput, match="once has no parameter c"):
        assert_private(once, c=3)
    with pytest.raises(TypeError, match="c: only programs have parameters"):
        assert_private(PLAIN, c=3)


@pytest.mark.parametrize("subject", [without_end, f"{SVT}:without_cutoff", LEAKY, symdipa.load(LEAKY)])
def test_what_is_not_private_fails_with_the_report(subject):
    with pytest.raises(AssertionError) as failed:
        assert_private(subject, at_most=1)
    said = str(failed.value)
    assert "is not shown to be as asserted, D <= 1: it is not private" in said
    assert "Outputs of the run" in said and "not private: " in said.splitlines()[2]
    assert assert_not_private(subject).verdict is Verdict.NOT_PRIVATE


def test_a_claim_that_is_too_strong_fails():
    with pytest.raises(AssertionError, match="D <= 1/2: a run proves that D is at least 1"):
        assert_private(f"{SVT}:svt", at_most=Fraction(1, 2))
    with pytest.raises(
        AssertionError, match="once is not shown to be as asserted, not private: it is private"
    ):
        assert_not_private(once)


def test_how_inputs_differ_and_stops_are_seen_can_be_said():
    assert assert_private(without_end, differ="entries=2", at_most=2).bounds.best == 2
    with pytest.raises(AssertionError, match="D is at least 2"):
        assert_private(without_end, differ="entries=2", at_most=1)
    assert assert_private(PLAIN, differ="entries=1", halt="visible").automaton.differ.text == "entries=1"


def test_what_is_not_decided_in_time_fails():
    with pytest.raises((AssertionError, symdipa.SymdipaError), match=r"time|not decided"):
        assert_private(symdipa.generate("m-range", 40), at_most=1, timeout=0.001)


@pytest.mark.parametrize("wrong", [-1, "x", True, "1/0", [1]])
def test_a_bound_is_a_number(wrong):
    with pytest.raises(ValueError, match="at_most is a number"):
        assert_private(once, at_most=wrong)


def test_only_what_can_be_decided_is_asserted_about():
    with pytest.raises(TypeError, match="a mechanism, an automaton or the name of a file"):
        assert_private(lambda queries: None)
    with pytest.raises(ValueError, match="halt"):
        assert_private(once, halt="maybe")


# ---------------------------------------------------------------------------------------------- expectations


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("private", Expectation()),
        ("not  private", Expectation(False)),
        ("D <= 1", Expectation(True, Fraction(1))),
        ("D<=5/4", Expectation(True, Fraction(5, 4))),
        ("D = 0.5", Expectation(True, Fraction(1, 2), True)),
        ("D == 2", Expectation(True, Fraction(2), True)),
    ],
)
def test_expectations_are_read(text, meant):
    assert expectation(text) == meant
    assert expectation(str(meant)) == meant


@pytest.mark.parametrize(
    "text", ["", "D", "D < 1", "D <= -1", "D <= 1/0", "D <= x", "1", "D <= 1e400", "D>=1"]
)
def test_other_expectations_are_refused(text):
    with pytest.raises(ValueError, match="an expectation is private, not private, D <= 1 or D = 5/4"):
        expectation(text)


ONE, TWO = Fraction(1), Fraction(2)


@pytest.mark.parametrize(
    ("text", "known", "answer"),
    [
        ("private", Known(True), True),
        ("private", Known(False), False),
        ("private", Known(None), None),
        ("not private", Known(False), True),
        ("not private", Known(True, ONE), False),
        ("not private", Known(None), None),
        ("D <= 1", Known(True, ONE), True),
        ("D <= 1", Known(True, TWO), None),
        ("D <= 1", Known(True, TWO, TWO), False),
        ("D <= 1", Known(True), None),
        ("D <= 1", Known(False), False),
        ("D <= 1", Known(None), None),
        ("D = 1", Known(True, ONE), None),
        ("D = 1", Known(True, ONE, ONE), True),
        ("D = 2", Known(True, ONE, ONE), False),
        ("D = 1", Known(True, TWO, TWO), False),
    ],
)
def test_expectations_are_judged_by_what_is_known(text, known, answer):
    assert expectation(text).judged(known)[0] is answer


# ------------------------------------------------------------------------------------------ symdipa verify


def verify(*arguments):
    return CliRunner().invoke(cli, ["verify", *map(str, arguments)])


@pytest.mark.parametrize(
    ("file", "expected", "status", "said"),
    [
        (f"{SVT}:svt", "D <= 1", 0, "as expected, D <= 1: D is at most 1"),
        (f"{SVT}:svt", "D = 1", 0, "as expected, D = 1: D is 1"),
        (f"{SVT}:svt", "D = 2", 1, "not as expected, D = 2: D is at most 1"),
        (f"{SVT}:svt", "D <= 1/2", 1, "not as expected, D <= 1/2: a run proves that D is at least 1"),
        (f"{SVT}:svt", "not private", 1, "not as expected, not private: it is private"),
        (f"{SVT}:without_cutoff", "private", 1, "not as expected, private: it is not private"),
        (f"{SVT}:without_cutoff", "not private", 0, "as expected, not private: it is not private"),
        (PLAIN, "D <= 1", 0, "as expected"),
    ],
)
def test_a_file_is_compared_with_what_is_expected(file, expected, status, said):
    done = verify(file, "--expect", expected)
    assert done.exit_code == status, done.output
    assert f"{file}: {said}" in done.stdout
    found = json.loads(verify(file, "--expect", expected, "--json").stdout)
    assert (found["expected"], found["as_expected"]) == (str(expectation(expected)), status == 0)


def test_what_differs_from_an_expectation_is_reported():
    done = verify(f"{SVT}:without_cutoff", "--expect", "D <= 1")
    assert "not private: leaking pair" in done.stdout and "without_cutoff: private" not in done.stdout


def test_what_is_not_decided_is_no_success(tmp_path):
    done = verify(PLAIN, "--expect", "D <= 1", "--timeout", "1e-6")
    assert done.exit_code == 3


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    found = {}
    for name in ("svt", "without_cutoff"):
        found[name] = tmp_path_factory.mktemp("certificates") / f"{name}.json"
        assert CliRunner().invoke(cli, ["certify", f"{SVT}:{name}", "-o", str(found[name])]).exit_code == 0
    return found


@pytest.mark.parametrize(
    ("name", "expected", "status"),
    [
        ("svt", "D <= 1", 0),
        ("svt", "D = 1", 0),
        ("svt", "private", 0),
        ("svt", "D <= 3/4", 1),
        ("svt", "not private", 1),
        ("without_cutoff", "not private", 0),
        ("without_cutoff", "D <= 5", 1),
    ],
)
def test_a_certificate_is_compared_with_what_is_expected(name, expected, status, certified):
    done = verify(f"{SVT}:{name}", certified[name], "--expect", expected)
    assert done.exit_code == status, done.output
    assert "accepted" in done.stdout and ("not as expected" in done.stdout) == bool(status)
    found = json.loads(verify(f"{SVT}:{name}", certified[name], "--expect", expected, "--json").stdout)
    assert found["accepted"] and found["as_expected"] == (status == 0)


def test_a_certificate_about_other_inputs_says_nothing_about_these(tmp_path):
    file, cert = tmp_path / "once.dipa", tmp_path / "once.json"
    file.write_text("(q, 1, 0): output insample; goto r\n", encoding="utf-8")
    for question in (["--adjacency", "monotone"], ["--sensitivity", "1/2"]):
        assert CliRunner().invoke(cli, ["certify", str(file), *question, "-o", str(cert)]).exit_code == 0
        assert verify(file, cert).exit_code == 0
        done = verify(file, cert, "--expect", "D <= 1")
        assert done.exit_code == 3 and "undecided" in done.stdout, done.output
    assert (
        CliRunner().invoke(cli, ["certify", str(file), "--sensitivity", "2", "-o", str(cert)]).exit_code == 0
    )
    assert verify(file, cert, "--expect", "D <= 2").exit_code == 0
    assert verify(file, cert, "--expect", "D = 1").exit_code == 3


def test_a_refused_certificate_meets_no_expectation(certified):
    done = verify(f"{SVT}:svt", certified["without_cutoff"], "--expect", "private")
    assert done.exit_code == 1 and "refused" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([PLAIN], "give a certificate CERT, or say with --expect"),
        ([PLAIN, "--expect", "D <= x"], "an expectation is"),
        ([PLAIN, "--expect", "private", "--solver", "z3"], "--solver is for certificates"),
        (["nothing.dipa", "--expect", "private"], "no such file"),
        ([PLAIN, "nothing.json", "--expect", "private"], "cannot be read"),
    ],
)
def test_what_cannot_be_verified_is_said(arguments, said):
    done = verify(*arguments)
    assert done.exit_code == 2 and said in done.output


# ----------------------------------------------------------------------------------------- other people's CI


def test_hooks_and_the_workflow_call_what_there_is(monkeypatch):
    yaml = pytest.importorskip("yaml")
    monkeypatch.chdir(ROOT)
    hooks = {
        hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    }
    ci = ROOT / "examples" / "ci"
    [repository] = yaml.safe_load((ci / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    calls = []
    for used in repository["hooks"]:
        hook = hooks[used["id"]]
        files = ["examples/well_formed/svt.dipa"] if hook.get("pass_filenames", True) else []
        calls.append([*hook["entry"].split(), *used.get("args", []), *files])
    [job] = yaml.safe_load((ci / "privacy.yml").read_text("utf-8"))["jobs"].values()
    calls += [shlex.split(step["run"]) for step in job["steps"] if step.get("run", "").startswith("symdipa ")]
    assert len(calls) == 4
    for program, *arguments in calls:
        assert program == "symdipa"
        done = CliRunner().invoke(cli, arguments)
        assert done.exit_code == 0, done.output
