"""The command line: statuses, streams, and how it behaves when it is interrupted."""

from __future__ import annotations

import dataclasses
import fcntl
import glob
import json
import os
import pty
import re
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from click.testing import CliRunner
from conftest import EXAMPLES, ROOT

from symdipa import analysis
from symdipa.files import families, formats
from symdipa.interface import failures
from symdipa.interface.cli import COMMANDS, cli
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Answers, PatternResult, Status, Verdict

SVT = str(EXAMPLES / "well_formed" / "svt.dipa")
A_LEAKP = str(EXAMPLES / "leaking_pair" / "a_leakp.dipa")
LAST_TWO = str(EXAMPLES / "linear" / "last_two.dipa")
LC_EXAMPLE = str(EXAMPLES / "leaking_cycle" / "lc_example.dipa")
A_NWF = str(EXAMPLES / "leaking_cycle" / "a_nwf.dipa")
UNDECIDED = """
(draw, 1/4, 0): t := insample; output o; goto low
(low, 1/4, 0): if (insample < t) then output s; goto low elseif (insample >= t) then output s; goto high
(high, 1/4, 0): if (insample < t) then output s; goto end elseif (insample >= t) then output s; goto high
(end, 1/4, 0): if (insample < t) then output b; goto done elseif (insample >= t) then output a; goto end
"""
"""A leaking pair whose loops show what other runs show; no pairs of runs make up for it."""
BROKEN = "(q1, 1/4, 0): output o; goto q2\n(q2, x, 0): output o; goto q3\n(q3, 1, 0): output ; goto q4"


def invoke(*arguments, stdin=None):
    return CliRunner().invoke(cli, list(arguments), input=stdin)


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def broken(tmp_path):
    path = tmp_path / "broken.dipa"
    path.write_text(BROKEN)
    return str(path)


# ---------------------------------------------------------------------------------------------- check


def test_private_is_status_0():
    done = invoke("check", SVT)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == f"{SVT}: private, D = 5/4 (corollary bound)"
    assert done.stderr == ""


def test_a_violation_is_status_1():
    done = invoke("check", A_LEAKP)
    assert done.exit_code == 1
    assert "not private: leaking pair" in done.stdout.splitlines()[0]


@pytest.mark.parametrize("command", ["check", "witness", "weight", "compare"])
def test_a_violation_that_proves_nothing_is_status_3(tmp_path, command):
    file = tmp_path / "open.dipa"
    file.write_text(UNDECIDED)
    done = invoke(command, str(file))
    assert done.exit_code == 3
    first = done.stdout.splitlines()[0]
    assert "not well-formed, privacy not decided: " in first and "there is no D" not in first


def test_quiet_is_one_line_a_file():
    done = invoke("check", "-q", SVT, A_LEAKP, A_NWF)
    assert len(done.stdout.splitlines()) == 3
    assert done.exit_code == 1


def test_verbose_tells_the_noise():
    for path in (A_LEAKP, SVT):
        assert "d = 1/4  Laplace noise of scale 4/eps around" in invoke("check", "-v", path).stdout


@pytest.mark.parametrize("engine", ["auto", "explicit", "z3", "both"])
@pytest.mark.parametrize("encoding", ["ghost", "marks"])
def test_engines_and_encodings_can_be_chosen(engine, encoding):
    done = invoke("check", "--json", "--engine", engine, "--encoding", encoding, A_LEAKP)
    assert done.exit_code == 1
    assert objects(done.stdout)[0]["patterns"]["leaking-pair"] == "present"


def test_patterns_can_be_chosen_and_the_others_are_skipped():
    done = invoke("check", "--json", "--pattern", "lc", "--pattern", "DC", A_LEAKP)
    (found,) = objects(done.stdout)
    assert found["patterns"] == {
        "leaking-cycle": "absent",
        "leaking-pair": "skipped",
        "disclosing-cycle": "absent",
        "privacy-violating-path": "skipped",
    }
    assert found["verdict"] == "unknown"
    assert done.exit_code == 3


def test_json_is_one_object_a_line_and_nothing_else(broken):
    done = invoke("check", "--json", SVT, broken, A_LEAKP)
    assert done.exit_code == 2
    assert done.stderr == ""
    private, error, leaking = objects(done.stdout)
    assert private["verdict"] == "private"
    assert private["weight"]["corollary"] == "5/4"
    assert private["witness"] is None and private["error"] is None
    assert error["verdict"] == "error"
    assert error["error"]["line"] == 2 and error["error"]["column"] > 0
    assert len(error["errors"]) > 1
    assert leaking["witness"]["pattern"] == "leaking-pair"


def test_problems_go_to_standard_error_with_their_places(broken):
    done = invoke("check", broken)
    assert done.exit_code == 2
    assert done.stdout == ""
    first, second = done.stderr.splitlines()
    assert first.startswith(f"{broken}:2:") and second.startswith(f"{broken}:3:")


@pytest.mark.parametrize("name", ["no-such-file.dipa", "examples", "pyproject.toml"])
def test_files_that_cannot_be_used(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    done = invoke("check", name)
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{name}: ")
    said = line.removeprefix(f"{name}: ")
    assert name not in said.replace(f"{name}{os.sep}", "")  # what is in a folder has a name of its own


def test_standard_input():
    text = (EXAMPLES / "well_formed" / "svt.dipa").read_text()
    done = invoke("check", "-q", "-", "--format", "dipa", stdin=text)
    assert done.exit_code == 0
    assert done.stdout == "<stdin>: private, D = 5/4 (corollary bound)\n"
    as_json = formats.dumps(formats.loads(text), "json")
    done = invoke("check", "--json", "-", "--format", "json", stdin=as_json)
    assert objects(done.stdout)[0]["file"] == "-"


@pytest.mark.parametrize("command", ["check", "weight"])
def test_a_folder_stands_for_the_automata_in_it(tmp_path, command):
    (tmp_path / "deeper.dipa").mkdir()
    for name in ("b", "a"):
        shutil.copy(SVT, tmp_path / f"{name}.dipa")
    (tmp_path / "package.json").write_text('{"name": "not an automaton"}')
    (tmp_path / "notes.txt").write_text("nor is this")
    (tmp_path / "c.json").write_text(formats.dumps(formats.load(SVT), "json"))
    found = objects(invoke(command, "--json", A_LEAKP, str(tmp_path)).stdout)
    assert [Path(each["file"]).name for each in found] == ["a_leakp.dipa", "a.dipa", "b.dipa", "c.json"]
    done = invoke(command, str(tmp_path / "deeper.dipa"))
    assert done.exit_code == 2 and "no automaton (.dipa or .json) is in this folder" in done.stderr


def test_a_folder_of_folders_names_one_that_has_automata():
    done = invoke("check", str(EXAMPLES))
    assert done.exit_code == 2
    assert f"are not searched; {EXAMPLES / 'adjacency'} has some" in done.stderr


@pytest.mark.parametrize("name", ["ok.cert", "ok.json", "ok"])
def test_a_certificate_in_the_place_of_an_automaton_is_told(tmp_path, name):
    path = tmp_path / name
    assert invoke("certify", SVT, "-o", str(tmp_path / "ok.json")).exit_code == 0
    (tmp_path / "ok.json").rename(path)
    said = "this is a certificate, not an automaton; verify takes the automaton first, then the certificate"
    for arguments in (
        ["verify", str(path), SVT],
        ["verify", "--format", "json", str(path), SVT],
        ["check", str(path)],
    ):
        done = invoke(*arguments)
        assert (done.exit_code, done.stderr) == (2, f"{path}: {said}\n")
    assert invoke("verify", SVT, str(path)).exit_code == 0


def test_an_automaton_may_have_the_words_of_a_certificate(tmp_path):
    path = tmp_path / "odd.json"
    odd = dataclasses.replace(formats.load(SVT), name='"format": "symdipa-certificate"')
    path.write_text(formats.dumps(odd, "json"))
    assert formats.load(path) == odd


@pytest.mark.parametrize("command", ["check", "weight", "certify", "report"])
def test_the_default_of_halt_is_what_the_file_says(command):
    said = " ".join(invoke(command, "--help").stdout.split())
    assert "Default: as FILE says, else hidden; check, weight, certify and report then decide both." in said


def test_a_folder_is_explained_by_every_command_that_takes_files():
    context = click.Context(cli)
    takes_files = [
        name
        for name in COMMANDS
        if any(each.name == "files" for each in cli.get_command(context, name).params)
    ]
    assert {"check", "weight", "report"} <= set(takes_files)
    for name in takes_files:
        assert "A folder among FILE... stands for the automata in it" in invoke(name, "--help").stdout


def test_strict_turns_overlaps_into_errors(tmp_path):
    path = tmp_path / "overlap.dipa"
    path.write_text(
        "(a:non-input, 1, 0): x := insample; output o; goto b\n"
        "(b:non-input, 1, 1): y := insample; output o; goto c\n"
        "(c, 1, 0): if (insample < x) then output low; goto d elseif (insample >= y) then output up; goto d"
    )
    loose = invoke("check", str(path))
    assert loose.exit_code == 0 and "note: " in loose.stdout
    assert invoke("check", "--strict", str(path)).exit_code == 2
    (found,) = objects(invoke("check", "--json", str(path)).stdout)
    assert found["notes"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["check", "-"],
        ["check", "-", "-", "--format", "dipa"],
        ["check", "--bound", "0", SVT],
        ["check", "--timeout", "0", SVT],
        ["check", "--timeout", "-1", SVT],
        ["check", "--timeout", "nan", SVT],
        ["check", "--timeout", "inf", SVT],
        ["check", "--timeout", "soon", SVT],
        ["check", "--pattern", "XY", SVT],
        ["check", "--engine", "guess", SVT],
        ["frobnicate"],
        ["generate"],
        ["generate", "svt"],
        ["generate", "svt", "0"],
        ["generate", "svt", "-3"],
        ["generate", "svt", "3", "-o", "b.png"],
        ["generate", "svt", "3", "--no-such-option"],
        ["convert", SVT, "-o", "b.png"],
        ["chek", SVT],
        [SVT],
        ["generate", "svt", "many"],
        ["generate", "rings", "3"],
        ["convert", SVT],
        ["convert", SVT, "--to", "pdf"],
        ["witness"],
        ["witness", "--pattern", "XY", SVT],
        ["encode", SVT],
        ["encode", SVT, "--pattern", "LP", "--bound", "-1"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_status_2(arguments):
    done = invoke(*arguments)
    assert done.exit_code == 2
    assert "Error: " in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["generate", "svtt", "3"], "there is no family 'svtt'; did you mean svt?"),
        (["generate", "svt", "-3"], "N must be a positive number, not -3"),
        (["generate", "svt", "-33", "-o", "x.dipa"], "N must be a positive number, not -33"),
        (["convert", SVT, "-o", "b.png"], ".png is the suffix of no format that is written"),
        (["convert", SVT, "-o", "b.png"], "there are .dipa, .json, .dot, .gv, .svg"),
        (["generate", "svt", "3", "-o", "b.png"], ".png is the suffix of no format that is written"),
        (["mine.dipa"], "to decide a file: symdipa check mine.dipa"),
        ([str(EXAMPLES)], f"symdipa check {EXAMPLES}"),
        (["chek"], "did you mean check?"),
        (["frobnicate"], "there are bench, certify, check, compare, convert"),
        (["check", "--pattern", "XY", SVT], "there are LC (leaking-cycle), LP (leaking-pair)"),
    ],
    ids=str,
)
def test_wrong_usage_is_told_what_would_be_right(arguments, words):
    assert words in invoke(*arguments).stderr


@pytest.mark.parametrize("name", ["LP", "lp", "leaking-pair", "leaking_pair", "Leaking pair"])
def test_patterns_have_short_and_long_names(name):
    done = invoke("check", "--json", "--pattern", name, "--pattern", "PV", A_LEAKP)
    statuses = objects(done.stdout)[0]["patterns"]
    assert [key for key, status in statuses.items() if status != "skipped"] == [
        "leaking-pair",
        "privacy-violating-path",
    ]
    assert invoke("encode", "--pattern", name, "--bound", "3", A_LEAKP).exit_code == 0


def test_the_metavar_of_patterns_is_in_the_case_of_the_documentation():
    for command in ("check", "encode"):
        assert "LC|LP|DC|PV" in invoke(command, "--help").stdout


@pytest.mark.parametrize("flag", ["--slicing", "--no-slicing"])
def test_slicing_can_be_switched_off(monkeypatch, flag):
    seen = []
    real = analysis.check_with

    def check(automaton, options, progress):
        seen.append(options.slicing)
        return real(automaton, options, progress)

    monkeypatch.setattr(analysis, "check_with", check)
    assert invoke("check", "-q", flag, SVT).exit_code == 0
    assert seen == [flag == "--slicing"]


DOUBTFUL = (
    "(start:non-input, 1/4, 0): t := insample; output ready; goto watch\n"
    "(watch, 1/2, 0): if (insample < t) then output low; goto watch\n"
    "elseif (insample < t) then output high; goto wacth\n"
    "elseif (insample >= t) then output top; goto done\n"
)


def test_notes_that_make_a_verdict_doubtful_are_seen_even_when_quiet():
    done = invoke("check", "-q", "-", "--format", "dipa", stdin=DOUBTFUL)
    assert done.stdout == "<stdin>: private, D = 5/4 (corollary bound)\n"
    branch, target = done.stderr.splitlines()
    assert branch.startswith("<stdin>: note: 3:8: branch 2 of state watch can never be taken")
    assert target.startswith("<stdin>: note: 3:46: state wacth is only a target")
    loud = invoke("check", "-", "--format", "dipa", stdin=DOUBTFUL)
    assert loud.stderr == "" and loud.stdout.count("note: ") >= 2
    assert invoke("check", "-q", "--json", "-", "--format", "dipa", stdin=DOUBTFUL).stderr == ""


def test_notes_that_only_tell_how_branches_were_read_are_not_shown_when_quiet():
    text = DOUBTFUL.replace("wacth", "watch").replace("elseif (insample < t)", "elseif (true)")
    text = "".join(text.splitlines(keepends=True)[:3])
    done = invoke("check", "-q", "-", "--format", "dipa", stdin=text)
    assert done.stderr == "" and len(done.stdout.splitlines()) == 1


def test_both_engines_are_shown_side_by_side():
    lines = invoke("check", "--engine", "both", A_LEAKP).stdout.splitlines()
    (pair,) = (line.split("  ") for line in lines if line.strip().startswith("leaking pair "))
    assert pair[-1].strip() == "explicit; z3 bounded"


# -------------------------------------------------------------------------------------------- witness


def test_witness_tells_the_story_at_length():
    done = invoke("witness", A_LEAKP)
    assert done.exit_code == 1 and done.stderr == ""
    titles = [line for line in done.stdout.splitlines() if line and line[0] != " "]
    assert titles == [
        f"{A_LEAKP}: not private: leaking pair",
        "What goes wrong",
        "The run, step by step",
        "What forces the order",
        "How the samples are drawn",
        "What would help",
    ]
    assert (
        "step 5 (loop A) -[x2]-> step 2 -[x2]-> step 6 -[x1]-> step 1 -[x1]-> step 3 (loop B)" in done.stdout
    )
    assert "x2 <= sample < x1  obot    -          x2 < x1" in done.stdout
    assert "write       (q3): if (insample >= x2) then output obot; goto q4" in done.stdout


def test_witness_of_a_private_file_says_why_there_is_none():
    done = invoke("witness", SVT)
    assert done.exit_code == 0
    assert "There is no run to show: each of the four patterns is proved absent." in done.stdout
    assert sum("by an argument on the control graph" in line for line in done.stdout.splitlines()) == 4


def test_a_long_run_is_whole_with_v_and_in_json(tmp_path):
    file = tmp_path / "tu.dipa"
    assert invoke("generate", "turing-overflow", "6", "-o", str(file)).exit_code == 0
    (found,) = objects(invoke("witness", "--no-hints", "--json", str(file)).stdout)
    steps = len(found["witness"]["run"])
    assert steps > 100 and len(found["facts"]) == steps
    for command in (["check"], ["witness", "--no-hints"]):
        short, whole = invoke(*command, str(file)).stdout, invoke(*command, "-v", str(file)).stdout
        assert len(short.splitlines()) < 100 < steps < len(whole.splitlines())
        assert short.count("steps more") == 2 and "-v or --json shows all steps." in short
        assert "steps more" not in whole and "shows all steps" not in whole


def test_witness_and_weight_point_at_each_other():
    done = invoke("witness", "--exceeds", "4", SVT)
    assert done.exit_code == 0 and done.stdout.count("symdipa weight --confirm") == 1
    assert "concrete counterexample" not in done.stdout and "verdict does not depend" not in done.stdout
    (found,) = objects(invoke("witness", "--concrete", "--json", SVT).stdout)
    assert "symdipa weight --confirm" in found["counterexample_missing"]
    done = invoke("weight", "--confirm", A_LEAKP)
    assert done.exit_code == 1 and "there is no D (symdipa witness shows why)" in done.stdout
    assert "come near D" not in done.stdout + done.stderr


def test_witness_of_one_pattern():
    done = invoke("witness", "--pattern", "leaking-pair", A_LEAKP)
    assert done.exit_code == 1 and "What goes wrong" in done.stdout
    done = invoke("witness", "--pattern", "LC", A_LEAKP)
    assert done.exit_code == invoke("check", "--pattern", "LC", A_LEAKP).exit_code == 3
    first, second, *_ = done.stdout.splitlines()
    assert first == f"{A_LEAKP}: no leaking cycle"
    assert second.split(maxsplit=3)[3] == "by an argument on the control graph, without search"


def test_witness_says_by_what_a_pattern_was_excluded():
    done = invoke("witness", "--pattern", "PV", "--engine", "explicit", SVT)
    assert re.search(r"by enumeration of all orders of the stored samples \(\d+ order states\)", done.stdout)


def test_witness_that_is_not_conclusive_claims_no_loss(tmp_path):
    file = tmp_path / "open.dipa"
    file.write_text(UNDECIDED)
    done = invoke("witness", str(file))
    assert done.exit_code == 3
    assert "That alone does not prove a loss of privacy" in done.stdout
    assert "No D is large enough" not in done.stdout and "Why that costs" not in done.stdout


def test_witness_not_decided(tmp_path):
    done = invoke("witness", "--engine", "z3", "--bound", "2", A_LEAKP)
    assert done.exit_code == 3
    assert "There is no run to show so far." in done.stdout


def test_witness_names_the_other_patterns_of_the_file(tmp_path):
    path = tmp_path / "two.dipa"
    path.write_text(
        "(draw:non-input, 1/4, 0): x := insample; output o; goto test\n"
        "(test, 1/2, 0): if (insample < x) then output obot; goto test "
        "elseif (insample >= x) then output insample; goto test"
    )
    done = invoke("witness", str(path))
    assert done.exit_code == 1
    assert "also a disclosing cycle and privacy violating path" in " ".join(done.stdout.split())
    assert "--pattern DC or --pattern PV" in " ".join(done.stdout.split())
    for short in ("LP", "DC", "PV"):
        assert "What goes wrong" in invoke("witness", "--pattern", short, "--no-hints", str(path)).stdout


def test_witness_as_json(broken):
    done = invoke("witness", "--json", A_LEAKP, SVT)
    assert done.exit_code == 1
    leaking, private = objects(done.stdout)
    (plain,) = objects(invoke("check", "--json", A_LEAKP).stdout)
    assert set(leaking) == set(private) == {*plain, "story", "facts", "hints"}
    assert {k: v for k, v in leaking.items() if k in plain and k != "seconds"} == {
        k: v for k, v in plain.items() if k != "seconds"
    }
    assert leaking["facts"] == ["", "", "", "", "", "x2 < x1"]
    assert all(hint["private"] and hint["changes"] for hint in leaking["hints"])
    assert private["witness"] is private["story"] is private["hints"] is None
    (error,) = objects(invoke("witness", "--json", broken).stdout)
    assert error["verdict"] == "error"


def test_hints_can_be_left_out():
    assert "What would help" not in invoke("witness", "--no-hints", A_LEAKP).stdout
    (found,) = objects(invoke("witness", "--no-hints", "--json", A_LEAKP).stdout)
    assert found["hints"] is None and found["story"]


def test_a_witness_that_does_not_replay_is_an_internal_error(monkeypatch):
    def shortened(control, found):
        return dataclasses.replace(found, path=found.path[:-1])

    monkeypatch.setattr("symdipa.runs.witness.completion.shorten", shortened)
    for command in ("check", "witness"):
        done = invoke(command, "--engine", "explicit", A_LEAKP)
        assert done.exit_code == 4 and done.stdout == ""
        assert "internal error" in done.stderr and "WitnessRejected" in done.stderr


# ------------------------------------------------------------------------------------------- statuses


def pretend(monkeypatch, **outcomes):
    """Let ``analysis.check_with`` answer by the name of the automaton."""
    real = analysis.check(formats.load(SVT))

    def check(automaton, *arguments, **options):
        outcome = outcomes[automaton.name]
        if isinstance(outcome, BaseException):
            raise outcome
        return dataclasses.replace(real, **outcome)

    monkeypatch.setattr(analysis, "check_with", check)


QUARREL = Answers(
    tuple(
        {Pattern.LEAKING_PAIR: PatternResult(Pattern.LEAKING_PAIR, status, status.value)}
        for status in (Status.ABSENT, Status.PRESENT)
    )
)
OPEN = {p: PatternResult(p, Status.UNKNOWN, "z3", reason="time limit") for p in Pattern}
OUTCOMES = {
    "private": ({"verdict": Verdict.PRIVATE}, 0),
    "leaks": ({"verdict": Verdict.NOT_PRIVATE}, 1),
    "malformed": ({"verdict": Verdict.NOT_WELL_FORMED}, 3),
    "open": ({"verdict": Verdict.UNKNOWN, "answers": Answers((OPEN,))}, 3),
    "quarrel": ({"verdict": Verdict.UNKNOWN, "answers": QUARREL}, 4),
    "crash": (ZeroDivisionError("oh"), 4),
    "rejected": (LimitReached(Limit.SIZE, "too much"), 4),
    "memory": (MemoryError(), 3),
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Files whose names are the outcomes that a check of them has."""
    pretend(monkeypatch, **{name: outcome for name, (outcome, _) in OUTCOMES.items()})
    text = (EXAMPLES / "well_formed" / "svt.dipa").read_text()
    for name in OUTCOMES:
        (tmp_path / f"{name}.dipa").write_text(text)
    (tmp_path / "broken.dipa").write_text(BROKEN)
    return lambda *names: [str(tmp_path / f"{name}.dipa") for name in names]


@pytest.mark.parametrize("name", OUTCOMES)
def test_status_of_one_file(files, name):
    assert invoke("check", *files(name)).exit_code == OUTCOMES[name][1]


@pytest.mark.parametrize(
    ("names", "status"),
    [
        (["private", "open"], 3),
        (["open", "leaks", "private"], 1),
        (["leaks", "broken", "open"], 2),
        (["broken", "quarrel", "leaks"], 4),
        (["private", "private"], 0),
    ],
)
def test_several_files_the_first_of_4_2_1_3_0(files, names, status):
    assert invoke("check", *files(*names)).exit_code == status


def test_a_disagreement_is_loud(files):
    done = invoke("check", *files("quarrel"))
    assert "ENGINES DISAGREE" in done.stdout and "absent says absent; present says present" in done.stdout


def test_a_failure_is_no_traceback_and_does_not_stop_the_others(files):
    done = invoke("check", "-q", *files("crash", "private"))
    assert "private" in done.stdout
    assert "please report" in done.stderr and "Traceback" not in done.stderr
    (crash, _) = objects(invoke("check", "--json", *files("crash", "private")).stdout)
    assert crash["verdict"] == "error" and "ZeroDivisionError" in crash["error"]["message"]


# -------------------------------------------------------------------------------------- other commands


def test_compare_says_first_that_engines_agree():
    done = invoke("compare", A_LEAKP)
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0] == f"{A_LEAKP}: engines agree: not private: leaking pair"
    for engine in ("explicit", "z3 ghost", "z3 marks"):
        assert sum(line.strip().startswith(f"{engine} ") for line in lines) == len(Pattern)


def test_the_time_of_compare_is_for_each_engine():
    assert "Give up on an engine after this long" in " ".join(invoke("compare", "--help").stdout.split())
    assert "Give up on a file after this long" in " ".join(invoke("check", "--help").stdout.split())


def test_compare_as_json():
    (found,) = objects(invoke("compare", "--json", SVT).stdout)
    assert found["verdict"] == "private" and found["disagreements"] == []
    ways = {(answer["engine"], answer["encoding"]) for answer in found["details"]}
    assert {("explicit", None), ("z3", "ghost"), ("z3", "marks")} <= ways


@pytest.mark.parametrize("fmt", ["dipa", "json"])
def test_convert_keeps_the_automaton(tmp_path, fmt):
    target = tmp_path / f"copy.{fmt}"
    target.write_text("something older")
    done = invoke("convert", A_LEAKP, "--force", "-o", str(target))
    assert done.exit_code == 0 and done.stdout == ""
    assert done.stderr == f"wrote the automaton as {fmt} to {target}\n"
    before, after = formats.load(A_LEAKP), formats.load(target)
    assert (before.states, before.transitions) == (after.states, after.transitions)


def test_convert_to_dot_on_standard_output():
    assert invoke("convert", SVT, "--to", "dot").stdout.startswith("digraph")


def test_convert_of_a_broken_file(broken):
    done = invoke("convert", broken, "--to", "json")
    assert done.exit_code == 2 and done.stdout == ""


def test_output_that_cannot_be_written(tmp_path):
    done = invoke("generate", "svt", "2", "-o", str(tmp_path / "no" / "such.dipa"))
    assert done.exit_code == 2
    assert "cannot write" in done.stderr


def test_generate_lists_the_families():
    done = invoke("generate", "--list")
    assert done.exit_code == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(families.FAMILIES)


@pytest.mark.parametrize("name", families.FAMILIES)
def test_what_is_generated_can_be_checked(tmp_path, name):
    text = invoke("generate", name, "2").stdout
    expected = 1 if families.FAMILIES[name].patterns else 0
    assert invoke("check", "-q", "-", "--format", "dipa", stdin=text).exit_code == expected
    target = tmp_path / "two.json"
    assert invoke("generate", name, "2", "-o", str(target)).exit_code == 0
    assert formats.load(target).transitions == families.generate(name, 2).transitions


@pytest.mark.parametrize("encoding", ["ghost", "marks"])
def test_encode_writes_a_query(tmp_path, encoding):
    target = tmp_path / "query.smt2"
    options = ["--pattern", "LP", "--bound", "8", "--encoding", encoding, "-o", str(target)]
    done = invoke("encode", A_LEAKP, *options)
    assert done.exit_code == 0, done.stderr
    assert "(check-sat)" in target.read_text()


@pytest.mark.parametrize(
    ("options", "name", "begins"),
    [
        ([], "query.aig", b"aig "),
        ([], "query.aag", b"aag "),
        (["--bound", "4"], "QUERY.AIG", b"aig "),
        ([], "query.btor2", b"; symdipa "),
        (["--to", "btor2"], "query.txt", b"; symdipa "),
        (["--to", "aiger"], "query", b"aig "),
        ([], "query.smt2", b"; symdipa "),
    ],
)
def test_the_format_of_a_query(tmp_path, options, name, begins):
    target = tmp_path / name
    done = invoke("encode", A_LEAKP, "--pattern", "LP", *options, "-o", str(target))
    assert done.exit_code == 0 and done.stdout == ""
    assert re.fullmatch(rf"wrote the query as \w+ to {re.escape(str(target))}\n", done.stderr)
    assert target.read_bytes().startswith(begins)


def test_queries_on_standard_output():
    for options, word in ((["--bound", "3"], "(set-logic QF_UF)"), ([], "(set-logic HORN)")):
        done = invoke("encode", A_LEAKP, "--pattern", "LP", *options)
        assert done.exit_code == 0 and word in done.stdout
    done = invoke("encode", A_LEAKP, "--pattern", "LP", "--to", "aiger")
    assert done.exit_code == 0 and done.stdout_bytes.startswith(b"aig ")
    assert done.stdout_bytes.rstrip().endswith(b"output obot")  # the comments come last


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--to", "smtlib"], "give --bound N, or --to chc for all runs"),
        (["--to", "chc", "--bound", "3"], "leave out --bound, or use --to smtlib"),
        (["--to", "dimacs"], "'dimacs' is not one of"),
        (["-o", "no/such/folder.aig"], "cannot write no/such/folder.aig"),
    ],
)
def test_queries_that_cannot_be_written(options, message):
    done = invoke("encode", A_LEAKP, "--pattern", "LP", *options)
    assert done.exit_code == 2 and message in done.stderr


def test_no_binary_text_on_a_terminal(monkeypatch):
    terminal = SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("symdipa.interface.cli.writing.sys", terminal)
    done = invoke("encode", A_LEAKP, "--pattern", "LP", "--to", "aiger")
    assert done.exit_code == 2 and "give -o FILE.aig, or FILE.aag for ASCII" in done.stderr


def test_reduced_queries_are_smaller():
    whole, reduced = (
        invoke("encode", A_LEAKP, "--pattern", "LP", *options).stdout for options in ([], ["--reduce"])
    )
    assert len(reduced) < len(whole)
    assert "constants of the dataflow left out" in reduced.splitlines()[0]


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_has_an_example(command):
    for flag in ("-h", "--help"):
        done = invoke(*command, flag)
        assert done.exit_code == 0
        assert "Example" in done.stdout


def examples_of(command):
    """The examples of a help text, as words with globs expanded."""
    text = invoke(*command, "--help").stdout.partition("Example")[2]
    for line in text.splitlines():
        found = re.match(r"(?:s?: | +)(symdipa .*)", line)
        if found is None:
            return
        words = shlex.split(found[1])[1:]
        yield [name for word in words for name in (glob.glob(word) if "*." in word else [word])]


NEEDED = {
    "": [],
    "minimize": [["convert", A_LEAKP, "-o", "big.dipa"]],
    "verify": [["certify", SVT, "-o", "svt.cert.json"]],
}
"""What has to be done before the examples of a command run, beside having the folder of examples at hand."""


@pytest.mark.parametrize("command", sorted({"", *COMMANDS} - {"bench"}))  # whose examples take hours
def test_examples_of_help_texts_run(command, tmp_path, monkeypatch):
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    program = tmp_path / "bin" / "symdipa"  # for the command that minimize calls
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m symdipa "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)
    for arguments in NEEDED.get(command, []):
        assert invoke(*arguments).exit_code == 0
    shutil.copy(SVT, "mine.dipa")
    examples = list(examples_of([command] if command else []))
    assert examples
    for arguments in examples:
        done = invoke(*arguments)
        assert done.exit_code in (0, 1) and "rror" not in done.stderr, done.output


def test_the_table_of_commands_is_that_of_the_help():
    assert sorted(COMMANDS) == list(COMMANDS)
    context = click.Context(cli)
    for name, (_, short_help) in COMMANDS.items():
        command = cli.get_command(context, name)
        assert command.name == name and command.get_short_help_str(200) == short_help
        assert re.search(rf"^  {name} +{re.escape(short_help[:40])}", invoke("--help").stdout, re.MULTILINE)


# ------------------------------------------------------------------------------------------- processes


def test_version_and_help_are_quick(run):
    spans = []
    for _ in range(6):
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert run("--help").returncode == 0
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        spans.append(end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime)
    assert min(spans) < 0.2
    assert run("--version").stdout.startswith("symdipa, version ")


HIDING = "import sys; sys.modules[{!r}] = None\nfrom symdipa.__main__ import main\nmain()"


@pytest.mark.parametrize(
    ("module", "package", "arguments"),
    [
        ("click", "click", ["--help"]),
        ("rustworkx", "rustworkx", ["check", SVT, SVT]),
        ("rustworkx", "rustworkx", ["check", "--json", SVT]),
        ("rustworkx", "rustworkx", ["report", "-o", os.devnull, SVT]),
        ("z3", "z3-solver", ["check", "--engine", "z3", A_LEAKP]),
        ("z3", "z3-solver", ["check", "--engine", "z3", "--timeout", "50", A_LEAKP]),
        (
            "pysat",
            "python-sat",
            ["check", "--engine", "z3", "--solver", "minisat", "--timeout", "50", A_LEAKP],
        ),
        ("highspy", "highspy", ["weight", LAST_TWO]),
        ("numpy", "numpy", ["simulate", SVT, "-n", "10"]),
    ],
)
def test_a_missing_package_is_named_with_what_installs_it(environment, module, package, arguments):
    done = subprocess.run(
        [sys.executable, "-c", HIDING.format(module), *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
    )
    assert done.stderr == f"Error: the package {package} is not installed: pip install symdipa\n"
    assert (done.returncode, done.stdout) == (2, "")


def test_packages_that_can_be_missing_are_the_dependencies():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    def names(requirements):
        return {re.match("[a-z0-9-]+", requirement)[0] for requirement in requirements}

    assert set(failures.PACKAGES.values()) == names(project["dependencies"])
    for package, extra in failures.EXTRAS.items():
        assert package in names(project["optional-dependencies"][extra])
        told = failures.missing_package(ModuleNotFoundError(name=f"{package}.figure"))
        assert told.endswith(f"pip install 'symdipa[{extra}]'")
    assert failures.missing_package(ModuleNotFoundError(name="symdipa" + ".nothing")) is None
    assert failures.missing_package(ImportError(name="numpy")) is None


def test_a_reader_that_leaves_is_no_error(environment):
    command = [sys.executable, "-m", "symdipa", "check", "-q", SVT, SVT]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(60) == 141


def interrupted(command, environment, ready):
    """Send Ctrl-C once the process has written ``ready``; its status, standard error, and the delay."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
    )
    with process:
        if ready:
            assert process.stdout.readline().strip() == ready
        time.sleep(0.7)
        start = time.perf_counter()
        process.send_signal(signal.SIGINT)
        status = process.wait(30)
        return status, process.stderr.read(), time.perf_counter() - start


PIGEONS = """
import sys
from symdipa.__main__ import leave_on_interrupt
leave_on_interrupt()
import z3
s = z3.Solver()
p = [[z3.Bool(f"p{i}_{j}") for j in range(12)] for i in range(13)]
for row in p: s.add(z3.Or(row))
for j in range(12):
    for i in range(13):
        for k in range(i): s.add(z3.Or(z3.Not(p[i][j]), z3.Not(p[k][j])))
print("searching", flush=True)
s.check()
"""


def test_ctrl_c_while_a_solver_searches(environment):
    status, errors, delay = interrupted([sys.executable, "-c", PIGEONS], environment, "searching")
    assert (status, errors) == (130, "interrupted\n")
    assert delay < 2


def pivot(k):
    """Inputs on either side of a pivot, then loops between each of them and the pivot: 2**k orders."""
    lines = ["(p, 1, 0): p := insample; output o; goto a1"]
    for i in range(1, k + 1):
        onward = f"a{i + 1}" if i < k else "s1"
        lines.append(
            f"(a{i}, 1, 0): if (insample < p) then x{i} := insample; output low; goto {onward} "
            f"elseif (insample >= p) then x{i} := insample; output high; goto {onward}"
        )
    for i in range(1, k + 1):
        lines.append(
            f"(s{i}, 1, 0): if (insample >= x{i} && insample < p) then output inside; goto s{i} "
            f"elseif (insample < x{i}) then output below; goto s{i + 1}"
        )
    return "\n".join(lines)


@pytest.mark.parametrize("engine", ["explicit", "z3"])
def test_ctrl_c_and_time_limit_while_deciding(environment, tmp_path, engine):
    path = tmp_path / "pivot.dipa"
    path.write_text(pivot(20))
    command = [sys.executable, "-m", "symdipa", "check", "--engine", engine, str(path)]
    status, errors, delay = interrupted(command, environment, None)
    assert (status, errors) == (130, "interrupted\n")
    assert delay < 2
    start = time.perf_counter()
    done = invoke("check", "--json", "--engine", engine, "--timeout", "1", str(path))
    assert time.perf_counter() - start < 10  # generous: the tests share the machine
    assert done.exit_code == 3
    (found,) = objects(done.stdout)
    assert found["verdict"] == "unknown" and found["reasons"]["leaking-pair"]


def test_ctrl_c_while_numbers_are_computed(environment, tmp_path):
    # The verdict and the story are out by then: only the search for two inputs is given up.
    found = tmp_path / "told"
    command = [sys.executable, "-m", "symdipa", "witness", "--no-hints", "--exceeds", "300", LC_EXAMPLE]
    with found.open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, env=environment, text=True)
        with process:
            limit = time.perf_counter() + 60
            while "Assumed" not in found.read_text() and time.perf_counter() < limit:
                time.sleep(0.05)
            time.sleep(0.3)
            start = time.perf_counter()
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
            assert time.perf_counter() - start < 2
            assert process.stderr.read() == "interrupted\n"
    told = found.read_text()
    assert told.startswith(f"{LC_EXAMPLE}: not private: leaking cycle\n") and "The run, step by step" in told
    assert "A concrete counterexample" not in told


def test_ctrl_c_while_waiting_for_input(environment):
    command = [sys.executable, "-m", "symdipa", "check", "-", "--format", "dipa"]
    status, errors, delay = interrupted(command, environment, None)
    assert (status, errors) == (130, "interrupted\n")
    assert delay < 2


def test_progress_is_shown_on_a_terminal_only(environment, run):
    assert run("check", SVT).stderr == ""
    leader, follower = pty.openpty()
    try:
        command = [sys.executable, "-m", "symdipa", "check", "--engine", "z3", A_LEAKP]
        terminal = {**environment, "TERM": "xterm"}
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=follower, env=terminal, timeout=60)
        os.set_blocking(leader, False)
        shown = os.read(leader, 1 << 16).decode()
    finally:
        os.close(leader)
        os.close(follower)
    assert "a_leakp.dipa" in shown
    assert b"\x1b" not in done.stdout
    assert done.stdout.startswith(A_LEAKP.encode())


@pytest.mark.parametrize("columns", [20, 60, 200])
def test_prose_is_as_wide_as_the_terminal(environment, run, columns):
    """But no wider than elsewhere, where the width is the same everywhere; tables are never broken."""
    arguments = ["check", "--pattern", "LP", A_LEAKP]
    leader, follower = pty.openpty()
    try:
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        command = [sys.executable, "-m", "symdipa", *arguments]
        environment = {name: value for name, value in environment.items() if name != "COLUMNS"}
        subprocess.run(command, stdout=follower, env={**environment, "NO_COLOR": "1"}, timeout=60)
        os.set_blocking(leader, False)
        shown = os.read(leader, 1 << 16).decode().replace("\r\n", "\n")
    finally:
        os.close(leader)
        os.close(follower)
    piped = run(*arguments).stdout
    assert shown.split() == piped.split()
    assert (shown == piped) is (columns >= 100)
    told = shown.partition("\n\n")[0].splitlines()[1:]  # between the headline and the table
    sentences = [line for line in told if not line.startswith("    ")]  # and without what is set in
    width = {20: 40, 60: 60, 200: 100}[columns]
    assert width - 20 < max(map(len, sentences)) <= width
    assert "q3    insample >= x2 && insample < x1" in shown


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("symdipa che", ["plain,check"]),
        ("symdipa check ", ["file,"]),
        ("symdipa witness a.dipa exam", ["file,exam"]),
        ("symdipa convert ", ["file,"]),
        ("symdipa verify a.dipa ", ["file,"]),
        ("symdipa minimize ", ["file,"]),
        ("symdipa simulate ", ["file,"]),
        ("symdipa certify a.dipa -o ", ["file,"]),
        ("symdipa generate piv", ["plain,pivot", "plain,pivot-bad"]),
        ("symdipa bench --family turing-o", ["plain,turing-overflow", "plain,turing-odd"]),
        ("symdipa new num", ["plain,numeric-sparse"]),
        ("symdipa new svt --cut", ["plain,--cutoff"]),
        ("symdipa witness --pattern l", ["plain,LC", "plain,LP"]),
        ("symdipa chekc x", []),
        ("symdipa new stv x", []),
    ],
)
def test_shells_complete(line, offered):
    environment = {
        "COMP_WORDS": line,
        "COMP_CWORD": str(line.count(" ")),
        "_SYMDIPA_COMPLETE": "bash_complete",
    }
    done = CliRunner().invoke(cli, [], prog_name="symdipa", env=environment)
    assert (done.stdout.split(), done.stderr) == (offered, "")


def test_statuses_are_known_to_the_shell(run):
    assert run("check", "-q", SVT).returncode == 0
    assert run("check", "-q", A_LEAKP).returncode == 1
    assert run("check", "-q", "nowhere.dipa").returncode == 2
