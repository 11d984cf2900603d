"""``weight``, ``certify`` and ``verify`` as they are used: texts, JSON, exit statuses."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from conftest import PLAIN_EXAMPLES, ROOT

from symdipa import check
from symdipa.bounds.alignment import search
from symdipa.files import formats
from symdipa.files.families import generate
from symdipa.interface.cli import cli

EXAMPLES = ROOT / "examples"
SVT = str(EXAMPLES / "well_formed" / "svt.dipa")
THREE = str(EXAMPLES / "well_formed" / "k_min_max_3.dipa")
LEAKP = str(EXAMPLES / "leaking_pair" / "a_leakp.dipa")
WELL_FORMED = sorted((EXAMPLES / "well_formed").glob("*.dipa"))
OTHERS = sorted(set(PLAIN_EXAMPLES) - set(WELL_FORMED))


def invoke(*words: str) -> Any:
    return CliRunner().invoke(cli, list(words))


def told(*words: str) -> dict[str, Any]:
    done = invoke("weight", "--json", *words)
    (line,) = done.stdout.splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


def test_the_optimal_constant_is_told_with_its_proofs():
    done = invoke("weight", SVT)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == f"{SVT}: private, D = 5/4 (optimal)"
    assert "  alignment   5/4  on the control graph\n" in done.stdout
    assert "  from below  5/4  a flow on a run of 4 steps\n" in done.stdout
    assert "Laplace noise of scale 4/eps" in done.stdout
    found = told(THREE)
    assert found["bounds"]["alignment"] == found["bounds"]["lower"] == "5/6"
    assert found["optimal"] == "single-runs"  # several runs show the same outputs
    assert told(SVT)["optimal"] is True and told("--method", "run", THREE)["optimal"] is False
    assert found["graph"] == "eq" and found["adjacency"] == "two-sided" and found["sensitivity"] == "1"
    assert sum(Fraction(part["cost"]) for part in found["by_state"]) == Fraction(5, 6)
    assert {part["why"] for part in found["by_state"]} <= {"threshold", "test", "release"}
    assert found["run"][0]["from"] == formats.load(THREE).initial


def test_methods_by_name():
    found = told("--method", "all", THREE)
    assert found["bounds"] == {
        "corollary": "1", "run": "11/12", "counting": None, "alignment": "5/6", "exact": "5/6",
        "relational": "5/6", "lower": "5/6",
    }  # fmt: skip
    found = told("--method", "run", THREE)
    assert found["bounds"]["run"] == "11/12" and found["bounds"]["alignment"] is None
    printed = invoke("weight", "--method", "run", THREE).stdout
    assert printed.startswith(f"{THREE}: private, D is at most 11/12\n")
    assert "  run  11/12  the paper's, on the augmentation\n" in printed


@pytest.mark.parametrize(
    "options", [(), ("--graph", "parts"), ("--method", "all"), ("--adjacency", "monotone")]
)
@pytest.mark.parametrize("example", WELL_FORMED, ids=lambda path: path.stem)
def test_the_answer_is_short_and_its_proof_fits_a_line(example, options):
    lines = invoke("weight", *options, str(example)).stdout.splitlines()
    assert len(lines[0].removeprefix(str(example))) < 80
    assert lines[0].startswith(f"{example}: private, D = ")
    assert max(map(len, lines[1:])) <= 100


@pytest.mark.parametrize(
    "options, bound",
    [
        (["--adjacency", "monotone"], "3/4"),
        (["--adjacency=-1,1"], "5/4"),
        (["--sensitivity", "2"], "5/2"),
        (["--sensitivity", "0.5", "--graph", "augmentation"], "5/8"),
    ],
)
def test_other_adjacencies(options: list[str], bound: str):
    found = told(*options, SVT)
    assert found["bounds"]["alignment"] == found["bounds"]["lower"] == bound


def test_a_named_graph_is_used_with_what_may_be_foreseen_on_it():
    found = told("--method", "alignment", "--graph", "eq", THREE)
    assert (found["bounds"]["alignment"], found["graph"]) == ("5/6", "eq")
    assert told("--method", "alignment", "--graph", "control", THREE)["bounds"]["alignment"] is None


def test_a_budget_is_kept():
    for command in (["weight"], ["weight", "--json"]):
        assert invoke(*command, "--max-weight", "5/4", SVT).exit_code == 0
        over = invoke(*command, "--max-weight", "6/5", SVT)
        assert over.exit_code == 1 and "a run proves that D is at least 5/4" in over.stdout


@pytest.mark.parametrize(
    "k, budget, bound, code",
    [
        (3, "11/12", "D = 11/12 (run bound)", 0),  # the cheap bound will do
        (3, "5/6", "D = 5/6 (alignment bound)", 0),
        (3, "4/5", "D = 5/6 (alignment bound)", 3),
        (5, "4/5", "D = 4/5 (exact bound)", 0),
    ],
)
def test_check_looks_for_a_bound_within_the_budget(tmp_path: Path, k, budget, bound, code):
    file = tmp_path / "a.dipa"
    file.write_text(formats.dumps(generate("k-minmax", k)))
    done = invoke("check", "-q", "--max-weight", budget, str(file))
    assert (done.exit_code, bound in done.stdout) == (code, True)
    assert ("above the budget" in done.stderr) is (code == 3)
    assert (
        json.loads(invoke("check", "--json", "--max-weight", budget, str(file)).stdout)["verdict"]
        == "private"
    )


def test_a_budget_is_nothing_to_what_is_not_private():
    done = invoke("check", "-q", "--max-weight", "5", LEAKP)
    assert done.exit_code == 1 and "budget" not in done.output


def test_without_a_bound_the_budget_is_undecided(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(search, "LADDER", ())  # no alignment at all; the augmentation is far too large
    file = tmp_path / "a.dipa"
    file.write_text(formats.dumps(generate("u-range", 20)))
    done = invoke("check", "--max-weight", "1", "--timeout", "20", str(file))
    assert done.exit_code == 3 and "whether D is at most 1, the budget, was not decided" in done.stdout


def test_the_budget_is_exceeded_by_the_best_bound_that_was_proved(tmp_path: Path):
    """Single runs cost 5/6, but other runs show the same outputs, so that D may be smaller."""
    file = tmp_path / "a.dipa"
    file.write_text(formats.dumps(generate("k-minmax", 3)))
    done = invoke("check", "--max-weight", "3/5", str(file))
    assert done.exit_code == 3 and "the best bound that was proved, 5/6, is above the budget" in done.stdout
    assert invoke("check", "--max-weight", "5/6", str(file)).exit_code == 0


def test_a_run_proves_that_the_budget_is_exceeded(tmp_path: Path):
    file = tmp_path / "a.dipa"
    file.write_text(formats.dumps(generate("u-range", 12)))
    assert invoke("check", "--max-weight", "7/8", str(file)).exit_code == 1
    assert invoke("check", "--max-weight", "1", str(file)).exit_code == 0


def test_two_inputs_come_near_the_constant():
    found = told("--confirm", SVT)["confirmed"]
    assert found["all_runs"] and 0.99 * 1.25 < found["log_ratio_per_eps"] <= 1.25 + found["error"]
    assert found["eps"] == 1 and all(
        a is None or abs(a - b) <= 1 for a, b in zip(found["alpha"], found["beta"], strict=True)
    )
    done = invoke("weight", "--eps", "1/2", SVT)
    assert "In numbers, at eps = 0.5" in done.stdout and "% of it" in done.stdout
    assert told(SVT)["confirmed"] is None


def test_two_inputs_are_as_adjacent_as_is_asked():
    found = told("--confirm", "--adjacency", "monotone", SVT)["confirmed"]
    apart = {a - b for a, b in zip(found["alpha"], found["beta"], strict=True) if a is not None}
    assert 0.99 * 0.75 < found["log_ratio_per_eps"] <= 0.75 + found["error"]
    assert min(apart) >= 0 or max(apart) <= 0


def test_inputs_that_refute_a_bound_are_a_bug(monkeypatch: pytest.MonkeyPatch):
    from symdipa.model.verdict import Bounds

    monkeypatch.setattr(Bounds, "best", Fraction(1))
    done = invoke("weight", "--confirm", SVT)
    assert done.exit_code == 4 and "CONTRADICTION" in done.stdout


def test_without_privacy_there_is_no_constant():
    done = invoke("weight", LEAKP)
    assert done.exit_code == 1 and done.stdout.startswith(
        f"{LEAKP}: not private: leaking pair; there is no D (symdipa witness shows why)\n"
    )
    found = told(LEAKP)
    assert found["verdict"] == "not-private" and set(found["bounds"].values()) == {None}


@pytest.mark.parametrize(
    "words, said",
    [
        (["--adjacency", "sideways"], "two-sided, monotone"),
        (["--adjacency", "1,2"], "contains 0"),
        (["--sensitivity", "0"], "not a positive number"),
        (["--sensitivity", "1/0"], "not a positive number"),
        (["--sensitivity", "1e999999999"], "cannot be computed with"),
        (["--adjacency=-1,1e999999999"], "cannot be computed with"),
        (["--max-weight", "x"], "not a positive number"),
        (["--confirm", "--sensitivity", "2"], "--confirm is about sensitivity 1 only"),
        (["--method", "guess"], "corollary"),
    ],
)
def test_wrong_usage(words: list[str], said: str):
    done = invoke("weight", *words, SVT)
    assert done.exit_code == 2 and said in done.stderr


@pytest.mark.parametrize("file", [*WELL_FORMED, *OTHERS], ids=lambda f: f.stem)
def test_every_example_is_certified_and_verified(file: Path, tmp_path: Path):
    out = tmp_path / "cert.json"
    assert invoke("certify", str(file), "-o", str(out)).exit_code == 0
    done = invoke("verify", str(file), str(out))
    assert done.exit_code == 0, done.output
    first, *claims = done.stdout.splitlines()
    assert first == f"{out}: accepted" and claims
    expected = "D*eps-private with D = " if file in WELL_FORMED else ("not private", "not well-formed")
    assert any(word in claims[0] for word in ([expected] if isinstance(expected, str) else expected))


def test_refusals_name_the_rule(tmp_path: Path):
    out = tmp_path / "cert.json"
    invoke("certify", SVT, "-o", str(out))
    cert = json.loads(out.read_text())
    other = invoke("verify", THREE, str(out))
    assert other.exit_code == 1 and "[rule automaton]" in other.stdout
    cert["certificates"][0]["D"] = "1"
    out.write_text(json.dumps(cert))
    done = invoke("verify", "--json", SVT, str(out))
    found = json.loads(done.stdout)
    assert done.exit_code == 1 and not found["accepted"] and found["rule"] == "private-bound"
    out.write_text("{")
    assert invoke("verify", SVT, str(out)).exit_code == 2
    assert invoke("verify", SVT, str(tmp_path / "none")).exit_code == 2
    assert invoke("verify", str(tmp_path / "none"), str(out)).exit_code == 2


def test_invariants_where_no_bound_is_asked_for(tmp_path: Path):
    out = tmp_path / "cert.json"
    assert invoke("certify", "--invariant", SVT, "-o", str(out)).exit_code == 0
    done = invoke("verify", "--solver", "z3", SVT, str(out))
    assert done.exit_code == 0 and "none of the four patterns (invariants discharged by z3)" in done.stdout


def test_no_invariants_for_an_automaton_with_a_pattern():
    """Its bound is by pairs of runs, so that it is private all the same."""
    done = invoke("certify", "--invariant", str(EXAMPLES / "leaking_cycle" / "hidden_maximum.dipa"))
    assert done.exit_code == 3 and not done.stdout
    assert "nothing to certify: the automaton has a leaking cycle" in done.stderr


def test_check_tells_the_best_cheap_bound(tmp_path: Path):
    done = invoke("check", "-q", THREE)
    assert done.stdout == f"{THREE}: private, D = 11/12 (run bound)\n"
    file = tmp_path / "large.dipa"
    file.write_text(formats.dumps(generate("m-range", 300)))
    found = json.loads(invoke("check", "--json", str(file)).stdout)
    assert found["weight"] == {
        "corollary": None, "run": None, "counting": None, "alignment": "1", "exact": None, "relational": None
    }  # fmt: skip


def test_methods_that_find_nothing_say_why():
    """Where nothing else is known: the release of the maximum needs more than pairs of runs."""
    program = "examples/programs/noisy_max.py:with_its_value"
    done = invoke("weight", "--method", "relational", "--set", "k=5", "--timeout", "0.5", str(ROOT / program))
    first, row = done.stdout.splitlines()[:2]
    assert first.endswith("no D was found") and row.split()[:2] == ["relational", "-"]
    assert len(row.split()) > 3


def test_a_budget_is_positive():
    automaton = formats.load(SVT)
    with pytest.raises(ValueError, match="max_weight must be positive"):
        check(automaton, max_weight=Fraction(0))
