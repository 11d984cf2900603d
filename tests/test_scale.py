"""``benchmarks/scale.py``: what it makes of processes that succeed, fail, take too long or too much."""

from __future__ import annotations

import importlib.util
import json
import sys

import pytest
from conftest import ROOT

from symdipa.files.families import FAMILIES


@pytest.fixture(scope="module")
def scale():
    spec = importlib.util.spec_from_file_location("scale", ROOT / "benchmarks" / "scale.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["scale"] = module
    spec.loader.exec_module(module)
    return module


def answer(verdict, weight=None, message=None, reason=None, **patterns):
    names = ["leaking-cycle", "leaking-pair", "disclosing-cycle", "privacy-violating-path"]
    said = dict.fromkeys(names, "absent") | {name.replace("_", "-"): what for name, what in patterns.items()}
    error = None if message is None else {"message": message}
    reasons = {} if reason is None else {"leaking-pair": reason}
    whole = {"verdict": verdict, "patterns": said, "weight": weight, "reasons": reasons, "error": error}
    return json.dumps(whole)


def test_members_are_measured_with_every_engine(scale, tmp_path, capsys):
    raw = tmp_path / "runs"
    engines = ["--engines", "explicit,rings", "--raw", str(raw)]
    assert scale.main(["--families", "svt,parity-bad", "--sizes", "2,3", "--repeat", "2", *engines]) == 0
    told = capsys.readouterr().out.splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in told if line.startswith("|")]
    assert rows[0] == ["family", "N", "augmented states", "`explicit`", "`rings`"]
    assert [row[:3] for row in rows[2:]] == [
        ["svt", "2", "4"], ["svt", "3", "5"], ["parity-bad", "2", "13"], ["parity-bad", "3", "25"],
    ]  # fmt: skip
    assert all(" s, " in row[3] and row[3].endswith(" MB") for row in rows[2:])
    assert [row[4].partition(",")[0] for row in rows[2:]] == ["failed (2)", "-", "failed (2)", "-"]
    assert any("Python" in line and "cores" in line for line in told)
    runs = [json.loads(line) for line in raw.read_text(encoding="utf-8").splitlines()]
    assert len(runs) == 4 * 2 + 2
    assert all(run["megabytes"] > 5 and run["seconds"] > 0.05 for run in runs if run["engine"] == "explicit")


@pytest.mark.parametrize("killed", [False, True])
def test_a_process_that_takes_too_long_is_recorded(scale, tmp_path, monkeypatch, killed):
    if killed:
        monkeypatch.setattr(scale, "GRACE", -0.3)  # before the process ends by itself
    file = tmp_path / "pivot.dipa"
    file.write_text(scale.formats.dumps(scale.generate("pivot", 20)), encoding="utf-8")
    run = scale.measure(FAMILIES["pivot"], 20, "explicit", file, scale.Limits(0.5, 8))
    assert run.outcome == "> 0.5 s"
    assert (run.remark == "killed") is killed


def test_a_process_that_needs_too_much_memory_is_recorded(scale, tmp_path):
    file = tmp_path / "svt.dipa"
    file.write_text(scale.formats.dumps(scale.generate("svt", 2)), encoding="utf-8")
    run = scale.measure(FAMILIES["svt"], 2, "explicit", file, scale.Limits(30, 0.025))
    assert run.outcome == "> 0.025 GB" or run.outcome.startswith("failed")


@pytest.mark.parametrize(
    ("family", "out", "err", "outcome"),
    [
        ("svt", answer("private", {"corollary": "1"}), "", ("decided", "")),
        ("svt", answer("private"), "", ("decided", "no D")),
        ("svt", answer("unknown", reason="time limit reached"), "", ("> 9 s", "time limit reached")),
        ("svt", answer("unknown", reason="bound 3 reached"), "", ("unknown", "bound 3 reached")),
        ("svt", answer("error", message="it broke"), "", ("failed (4)", "it broke")),
        ("svt", answer("error", message="out of memory"), "", ("> 2 GB", "out of memory")),
        ("svt", "", "Traceback\nMemoryError", ("> 2 GB", "out of memory")),
        ("svt", "", "Traceback\nKeyError: 1\n", ("failed (4)", "KeyError: 1")),
        ("svt", "", "", ("failed (4)", "")),
        ("pivot-bad", answer("not-private", leaking_pair="present"), "", ("decided", "")),
        ("pivot-bad", answer("unknown", leaking_pair="unknown", reason="x"), "", ("unknown", "x")),
        ("pivot-bad", answer("private"), "", ("WRONG", "leaking-pair is said to be absent")),
        ("svt", answer("x", leaking_pair="present"), "", ("WRONG", "leaking-pair is said to be present")),
        ("pivot-bad", answer("private", leaking_pair="present"), "", ("WRONG", "the verdict is private")),
    ],
)  # fmt: skip
def test_what_comes_out_is_read(scale, family, out, err, outcome):
    assert scale._judged(FAMILIES[family], "z3", 4, False, out, err, scale.Limits(9, 2)) == outcome


def test_wrong_answers_fail_the_benchmark(scale, monkeypatch, capsys):
    run = scale.Run("svt", 2, "z3", "WRONG", "leaking-pair is said to be present", 1.0, 1.0, 20.0)
    monkeypatch.setattr(scale, "measure", lambda *_: run)
    assert scale.main(["--families", "svt", "--sizes", "2", "--engines", "z3", "--repeat", "1"]) == 1
    assert "leaking-pair is said to be present" in capsys.readouterr().out


def test_doubling_is_told(scale):
    runs = [scale.Run("svt", n, "z3", "decided", "", n / 30, 0, 1) for n in (4, 8, 16)]
    assert list(scale.growth(runs, ["z3", "auto"])) == ["svt 8 to 16, z3: x 2.0"]


def test_every_family_has_sizes(scale):
    assert set(scale.SIZES) == set(scale.QUICK) == set(FAMILIES)
    for sizes in (scale.SIZES, scale.QUICK):
        for name, numbers in sizes.items():
            assert min(numbers) >= FAMILIES[name].smallest
            assert list(numbers) == sorted(numbers)
