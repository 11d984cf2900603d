"""``witness --concrete``, ``probability`` and ``simulate``."""

from __future__ import annotations

import json
import sys
import time
from math import exp

import pytest
from click.testing import CliRunner
from conftest import EXAMPLES

from symdipa.evidence.probability import log_probability
from symdipa.files.formats import load
from symdipa.interface.cli import cli
from symdipa.model.limits import Limits

SVT = str(EXAMPLES / "well_formed" / "svt.dipa")
NUM_SPARSE = str(EXAMPLES / "well_formed" / "num_sparse.dipa")
A_LEAKP = str(EXAMPLES / "leaking_pair" / "a_leakp.dipa")
LC_EXAMPLE = str(EXAMPLES / "leaking_cycle" / "lc_example.dipa")
A_NWF = str(EXAMPLES / "leaking_cycle" / "a_nwf.dipa")


def invoke(*arguments):
    return CliRunner().invoke(cli, list(arguments))


def told(*arguments):
    done = invoke(*arguments, "--json")
    return json.loads(done.stdout), done.exit_code


# ---------------------------------------------------------------------------------------- witness --concrete


def test_the_contract_of_a_counterexample():
    found, status = told("witness", "--no-hints", "--concrete", "--exceeds", "20", A_LEAKP)
    assert status == 1
    pair = found["counterexample"]
    assert pair["eps"] == 1.0 and pair["exceeds"] == "20"
    assert pair["log_ratio"] > 20 and pair["error"] < 1e-5
    assert {
        "run",
        "alpha",
        "beta",
        "outputs",
        "log_prob_alpha",
        "log_prob_beta",
        "all_runs",
        "growth",
    } <= set(pair)
    assert len(pair["run"]) == len(pair["alpha"]) == len(pair["beta"]) == len(pair["outputs"])
    for step, low, high in zip(pair["run"], pair["alpha"], pair["beta"], strict=True):
        assert (low is None) == (high is None) == (step["from"] in ("q0", "q1"))
        assert low is None or abs(low - high) <= 1
    assert pair["growth"][-1] == {"rounds": pair["rounds"], "log_ratio_per_eps": pair["log_ratio"]}
    # The object says all that is needed to compute the probabilities again.
    automaton = load(A_LEAKP)
    names = [(t.source, str(t.output), t.target) for t in automaton.transitions]
    run = [names.index((step["from"], step["output"], step["to"])) for step in pair["run"]]
    again = log_probability(automaton, run, pair["alpha"], pair["outputs"], pair["eps"])
    assert abs(again.value - pair["log_prob_alpha"]) < 1e-5


def test_a_counterexample_in_words():
    done = invoke("witness", "--no-hints", "--exceeds", "5/2", "--eps", "0.5", A_LEAKP)
    assert done.exit_code == 1
    section = done.stdout[done.stdout.index("A concrete counterexample") :]
    for words in (
        "Refutes 5/2*eps-privacy at eps = 0.5",
        "alpha",
        "beta",
        "+-",
        "rounds",
        "d = 1/4",
        "here 8",
    ):
        assert words in section


def test_without_concrete_nothing_is_added():
    found, _ = told("witness", "--no-hints", A_LEAKP)
    assert "counterexample" not in found
    assert "concrete" not in invoke("witness", "--no-hints", A_LEAKP).stdout


def test_where_no_pair_is_found_the_status_stays():
    found, status = told("witness", "--no-hints", "--concrete", A_NWF)
    assert status == 3 and found["verdict"] == "not-well-formed"
    assert found["counterexample"] is None
    assert "other runs" in found["counterexample_missing"]
    assert found["counterexample_best"]["all_runs"] is True
    done = invoke("witness", "--no-hints", "--concrete", A_NWF)
    assert done.exit_code == 3 and "No pair of inputs was found" in done.stdout


@pytest.mark.parametrize("hints", ["--hints", "--no-hints"])
def test_the_time_limit_is_for_everything_and_keeps_the_verdict(hints):
    began = time.process_time()
    done = invoke("witness", hints, "--exceeds", "300", "--timeout", "2", LC_EXAMPLE)
    assert time.process_time() - began < 4
    assert done.exit_code == 1 and done.stdout.startswith(f"{LC_EXAMPLE}: not private: leaking cycle\n")
    told = " ".join(done.stdout.split())
    assert "No pair of inputs is shown: " in told and "the time was over" in told
    found, status = told_in_time("--exceeds", "300", "--timeout", "1", LC_EXAMPLE)
    assert status == 1 and found["verdict"] == "not-private" and found["witness"]
    assert found["counterexample"] is None and "the time was over" in found["counterexample_missing"]


def told_in_time(*arguments):
    began = time.process_time()
    answer = told("witness", "--no-hints", *arguments)
    assert time.process_time() - began < 3
    return answer


def test_no_time_left_for_numbers(monkeypatch):
    from symdipa.interface.cli import deciding

    class Over(Limits):
        def left(self):
            return 0.0

    monkeypatch.setattr(deciding, "Limits", Over)
    done = invoke("witness", "--exceeds", "5", "--timeout", "9", A_LEAKP)
    assert done.exit_code == 1 and "What goes wrong" in done.stdout
    assert "No pair of inputs is shown: the time was over before it began" in done.stdout


def test_what_probabilities_rest_on():
    done = invoke("probability", SVT, "--outputs", "oinit", "--eps", "1/2")
    assert "at eps = 1/2, in exact real numbers, with" in done.stdout
    assert "q1  d = 1/4  Laplace noise of scale 4/eps around 0" in done.stdout
    done = invoke("simulate", SVT, "--inputs", "0", "-n", "10")
    assert "at eps = 1, in floating point, with" in done.stdout
    assert "q2  d = 1/2  Laplace noise of scale 2/eps around the input" in done.stdout


def test_what_is_reached_already_does_not_come_closer():
    limits = {"leaking_pair/svt_no_cutoff": False, "disclosing_cycle/stream": True}
    for name, is_reached in limits.items():
        path = str(EXAMPLES / f"{name}.dipa")
        told = " ".join(invoke("witness", "--no-hints", "--exceeds", "20", path).stdout.split())
        assert ("Inputs that are farther from 0 come closer to D = 21, which this run" in told) != is_reached
        assert (
            "The ratio refutes every D below the one that is reached. This run cannot pass D = 83/4; more "
            "rounds can." in told
        ) == is_reached


def test_private_automata_have_none():
    found, status = told("witness", "--concrete", SVT)
    assert status == 0 and found["counterexample"] is None and found["witness"] is None
    assert "it is private (symdipa weight --confirm" in invoke("witness", "--concrete", SVT).stdout


def test_the_picture(tmp_path):
    path = tmp_path / "growth.svg"
    assert invoke("witness", "--no-hints", "--plot", str(path), A_LEAKP).exit_code == 1
    text = path.read_text()
    assert all(words in text for words in ("rounds of the loops", "claimed D = 1", "a_leakp.dipa at eps = 1"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--plot", "growth.bmp", A_LEAKP], ".svg or .png"),
        (["--plot", "growth.svg", A_LEAKP, A_NWF], "one file"),
        (["--plot", "no/such/folder/growth.svg", A_LEAKP], "cannot write"),
        (["--exceeds", "0", A_LEAKP], "positive"),
        (["--eps", "zero", A_LEAKP], "positive"),
    ],
)
def test_wrong_usage_of_concrete(arguments, words):
    done = invoke("witness", "--no-hints", *arguments)
    assert done.exit_code == 2 and words in done.stderr


def test_matplotlib_is_optional(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = invoke("witness", "--no-hints", "--plot", "growth.png", A_LEAKP)
    assert done.exit_code == 2 and "pip install 'symdipa[plot]'" in done.stderr
    test_the_picture(tmp_path)


# ----------------------------------------------------------------------------------------------- probability


def test_the_ways_to_name_a_run_agree():
    ways = [
        ["--run", "0 1 1 2", "--inputs", "0 1 2"],
        ["--run", "0,1*2,2", "--inputs", "0, 1, 2"],
        ["--run", "q1 q2 q2 q2 q3", "--inputs", "0 1 2"],
        ["--outputs", "oinit obot*2 otop", "--inputs", "0/7 1.0 2"],
    ]
    values = [told("probability", SVT, *way)[0]["log_probability"] for way in ways]
    assert max(values) - min(values) < 1e-9
    assert values[0] == log_probability(load(SVT), [0, 1, 1, 2], [None, 0, 1, 2]).value


def test_probability_in_words_and_numbers():
    done = invoke("probability", SVT, "--outputs", "oinit otop", "--inputs", "-1", "--eps", "1/2")
    assert done.exit_code == 0
    assert done.stdout.startswith(f"{SVT}: probability 0.") and "+-" in done.stdout
    found, status = told("probability", SVT, "--outputs", "oinit otop", "--inputs", "-1", "--eps", "1/2")
    assert status == 0 and found["runs"] == 1 and found["complete"] and found["eps"] == 0.5
    assert found["probability"] == pytest.approx(exp(found["log_probability"]))
    assert 0 < found["error"] < 1e-6


def test_the_sum_over_runs():
    found, _ = told("probability", A_NWF, "--outputs", "otop*12", "--inputs", "1*12")
    assert abs(found["log_probability"]) < 1e-6 and found["runs"] is None
    assert "over all runs" in invoke("probability", A_NWF, "--outputs", "otop*12", "--inputs", "1*12").stdout


def test_intervals():
    parts = [
        told("probability", NUM_SPARSE, "--outputs", f"oinit obot {window}", "--inputs", "0 1")[0][
            "probability"
        ]
        for window in ("..0.5", "1/2..", "..", "-inf..inf")
    ]
    assert parts[0] + parts[1] == pytest.approx(parts[2]) == parts[3]
    whole, _ = told("probability", NUM_SPARSE, "--run", "0 1 2", "--inputs", "0 1")
    some, _ = told(
        "probability", NUM_SPARSE, "--run", "0 1 2", "--outputs", "oinit obot ..", "--inputs", "0 1"
    )
    assert whole["probability"] == some["probability"] == pytest.approx(parts[2])


def test_what_cannot_happen_has_probability_zero():
    found, status = told("probability", SVT, "--outputs", "oinit obot")
    assert status == 0 and found["log_probability"] == "-inf" and found["probability"] == 0
    assert "no run has these outputs" in invoke("probability", SVT, "--outputs", "oinit obot").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--run or --outputs"),
        (["--run", "0 9"], "0: q1 -> q2"),
        (["--run", "0 2 1", "--inputs", "1 2"], "leaves q2, but the run is in q3"),
        (["--run", "q2 q2"], "begins in q1"),
        (["--run", "q1 q3"], "no transition leads from q1 to q3"),
        (["--run", "0 1", "--inputs", "1 2"], "reads 1 input;"),
        (["--run", "0", "--outputs", "obot"], "outputs oinit, not obot"),
        (["--run", "0", "--outputs", "oinit obot"], "has 1 step;"),
        (["--outputs", "obott"], "there is no output 'obott'; did you mean obot?"),
        (["--outputs", "obot;obot"], "a list of outputs that one step shows, and every step shows one"),
        (["--outputs", "none"], "there are obot, oinit, otop"),
        (["--outputs", "1.5"], "a number is asked for by an interval like 0..1.5"),
        (["--outputs", "2..1"], "is empty"),
        (["--outputs", "oinit", "--inputs", "1 x"], "'x' is not a number"),
        (["--outputs", "oinit", "--inputs", "1e999999"], "cannot be computed with"),
        (["--outputs", "oinit*999999999"], "more than"),
        (["--outputs", "oinit", "--eps", "-1"], "positive"),
        (["--outputs", "oinit", "--tolerance", "0"], "positive"),
    ],
)
def test_wrong_usage_of_probability(arguments, words):
    done = invoke("probability", SVT, *arguments)
    assert done.exit_code == 2
    assert words in done.stderr


def test_an_accuracy_that_cannot_be_had():
    done = invoke("probability", SVT, "--run", "0 1 2", "--inputs", "1 2", "--tolerance", "1e-18")
    assert done.exit_code == 3 and "not computed" in done.stderr and not done.stdout


# -------------------------------------------------------------------------------------------------- simulate


def test_simulation_beside_computation():
    found, status = told("simulate", SVT, "--inputs", "0 1 2", "-n", "20000", "--seed", "3")
    assert status == 0 and found["samples"] == 20000
    assert sum(row["count"] for row in found["outputs"]) == 20000 == sum(found["stopped"].values())
    for row in found["outputs"]:
        assert abs(row["sigmas"]) < 4.5 and row["error"] < 1e-6
        alone, _ = told("probability", SVT, "--outputs", row["text"], "--inputs", "0 1 2")
        assert alone["probability"] == pytest.approx(row["computed"], abs=1e-7)


def test_the_same_seed_gives_the_same_simulation():
    arguments = ("simulate", A_NWF, "--inputs", "0 1 2", "-n", "1000", "--no-compare")
    first, second = (invoke(*arguments, "--seed", "5").stdout for _ in range(2))
    assert first == second and "deviation" not in first


def test_a_simulation_without_inputs_says_how_to_give_some(tmp_path):
    note = 'note: the automaton reads inputs, and there are none: give some, as in --inputs "0 1 2"\n'
    for flags in ([], ["--json"]):
        done = invoke("simulate", SVT, "-n", "10", *flags)
        assert done.exit_code == 0 and done.stderr == f"{SVT}: {note}"
    assert not invoke("simulate", SVT, "--inputs", "0", "-n", "10").stderr
    silent = tmp_path / "silent.dipa"
    silent.write_text("(start:non-input, 1/4, 0): output insample; goto done")
    assert not invoke("simulate", str(silent), "-n", "10").stderr


def test_windows():
    found, _ = told("simulate", NUM_SPARSE, "--inputs", "0 1", "--windows", "..0 0..1", "-n", "5000")
    texts = {row["text"]: row for row in found["outputs"]}
    assert "oinit ..0" in texts and "oinit (other)" in texts
    assert texts["oinit (other)"]["computed"] is None
    assert texts["oinit ..0"]["outputs"] == ["oinit", ["-inf", 0.0]]
    whole = invoke("simulate", NUM_SPARSE, "--inputs", "0 1", "-n", "500").stdout
    assert "oinit (number)" in whole and "sigma" in whole


def test_wrong_usage_of_simulate():
    assert "overlap" in invoke("simulate", NUM_SPARSE, "--windows", "0..2 1..3").stderr
    assert invoke("simulate", SVT, "-n", "0").exit_code == 2
    assert invoke("simulate", "no-such-file.dipa").exit_code == 2


def test_why_it_ended():
    done = invoke("simulate", A_NWF, "--inputs", "0*5", "-n", "100", "--max-steps", "3")
    assert "at the limit on steps" in done.stdout


# --------------------------------------------------------------------------------------------- of programs

SVT_PROGRAM = str(EXAMPLES / "programs" / "sparse_vector.py:svt")
NOISY_MAX = str(EXAMPLES / "programs" / "noisy_max.py:noisy_max")


def test_a_simulation_of_a_program_is_told_in_its_words():
    done = invoke("simulate", SVT_PROGRAM, "--inputs", "0 1 2", "-n", "200")
    assert " - high high high\n" in done.stdout and "at the end of the program" in done.stdout
    assert "quiet" not in done.stdout and "state" not in done.stdout
    assert "the program reads inputs, and there are none" in invoke("simulate", SVT_PROGRAM, "-n", "2").stderr
    told_in = invoke("simulate", NOISY_MAX, "--inputs", "0 1 2", "-n", "200").stdout
    assert "read read 2" in told_in and "_2" not in told_in


def test_outputs_of_a_program_are_asked_for_in_its_words():
    asked = ("--inputs", "0 1 2", "--outputs")
    words, _ = told("probability", SVT_PROGRAM, *asked, "- low low high")
    symbols, _ = told("probability", SVT_PROGRAM, *asked, "quiet low low high")
    assert words["probability"] == symbols["probability"] > 0.1 and words["outputs"] == symbols["outputs"]
    second, _ = told("probability", NOISY_MAX, *asked, "read read 2")
    assert second["outputs"] == ["read", "read", "_2"] and second["probability"] > 0.3
    forgotten = invoke("probability", SVT_PROGRAM, *asked, "low low high")
    assert "- stands for a step that shows nothing, which counts, too" in " ".join(forgotten.stdout.split())


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("0 1 2", "transition 2 leaves line 15, count = 0, but the run is in line 15, count = 1."),
        ("line15", "a run begins in line 12, not in line 15, count = 0"),
        ("line12 ended", "no transition leads from line 12 to ended."),
        ("9", "  1: line 15, count = 0 -> line 15, count = 1 if sample >= t: output high"),
        ("9", "  0: line 12 -> line 15, count = 0: shows nothing"),
    ],
)
def test_runs_of_a_program_are_told_by_its_lines(run, said):
    done = invoke("probability", SVT_PROGRAM, "--inputs", "0 1 2", "--run", run)
    assert done.exit_code == 2 and said in done.stderr
    assert "line15" not in done.stderr and "insample" not in done.stderr and "quiet" not in done.stderr


def test_outputs_of_a_run_of_a_program_are_told_in_its_words():
    asked = ("probability", SVT_PROGRAM, "--inputs", "0 1 2", "--run", "0 2 2 1", "--outputs")
    assert told(*asked, "- low low high")[1] == 0
    assert "step 1 of the run outputs -, not low" in invoke(*asked, "low low low high").stderr
    alone = ("probability", SVT_PROGRAM, "--inputs", "0", "--outputs", "- lo")
    assert "there is no output 'lo'; did you mean low?" in invoke(*alone).stderr
