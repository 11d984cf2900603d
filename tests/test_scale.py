"""``benchmarks/scale.py``: what it makes of processes that succeed, fail, take too long or too much."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from dataclasses import replace

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
    assert rows[0] == ["family, N", "orders", "`explicit`", "`rings`"]
    assert [row[:2] for row in rows[2:]] == [
        ["svt 2", "4"], ["svt 3", "5"], ["parity-bad 2", "13"], ["parity-bad 3", "25"],
    ]  # fmt: skip
    assert all(re.fullmatch(r"\d+\.\d\d, \d+ MB", row[2]) for row in rows[2:])
    assert [row[3].partition(",")[0] for row in rows[2:]] == ["failed (2)", "-", "failed (2)", "-"]
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


def test_where_abc_was_not_asked_that_is_said(scale):
    out = {asked: json.dumps({**json.loads(answer("private")), "asked": asked}) for asked in (0, 2)}
    judged = {a: scale._judged(FAMILIES["svt"], "abc", 0, False, out[a], "", scale.Limits(9, 2)) for a in out}
    assert judged == {0: ("decided", scale.NOT_ASKED), 2: ("decided", "")}


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


def run_of(
    scale, family, size, engine="auto", seconds=1.0, *, before=False, outcome="decided", cpu=None, mb=20.0
):
    return scale.Run(family, size, engine, before, outcome, "", seconds, cpu or seconds, mb)


def test_wrong_answers_fail_the_benchmark(scale, monkeypatch, capsys):
    run = scale.Run("svt", 2, "z3", False, "WRONG", "leaking-pair is said to be present", 1.0, 1.0, 20.0)
    monkeypatch.setattr(scale, "measure", lambda *_: run)
    assert scale.main(["--families", "svt", "--sizes", "2", "--engines", "z3", "--repeat", "1"]) == 1
    assert "leaking-pair is said to be present" in capsys.readouterr().out


def test_doubling_is_told(scale):
    runs = [run_of(scale, "svt", n, "z3", n / 30) for n in (4, 8, 16)]
    assert list(scale.Report(runs, ["z3", "auto"]).growth()) == ["svt 8 to 16, z3: x 2.0"]


def test_before_and_now_stand_in_one_cell(scale):
    runs = [
        *(run_of(scale, "svt", 4, seconds=s, before=True, mb=50) for s in (3, 4, 9)),
        *(run_of(scale, "svt", 4, seconds=s) for s in (1, 2, 6)),
        run_of(scale, "svt", 4, "abc", 1.5),
        run_of(scale, "svt", 8, before=True, outcome="> 9 s"),
        run_of(scale, "svt", 8),
        run_of(scale, "svt", 8, "abc", 1.5),
    ]
    report = scale.Report(runs, ["auto", "abc"])
    assert [line.split(" | ")[2:] for line in report.table()][2:] == [
        ["4.00 → 2.00 (2.0x), 20 MB", "1.50, 20 MB |"],
        ["> 9 s → 1.00, 20 MB", "1.50, 20 MB |"],
    ]
    assert list(report.behind()) == ["svt 4 (2.00 and 1.50)"]
    assert "Slower than ABC with `auto`: svt 4" in report.text("a machine")
    runs[6] = replace(runs[6], remark=scale.NOT_ASKED)
    whole = run_of(scale, "svt", 4, "abc:whole", 3.0)
    assert list(scale.Report([*runs, whole], report.engines).behind()) == []
    whole = run_of(scale, "svt", 4, "abc:whole", 1.9)
    assert list(scale.Report([*runs, whole], report.engines).behind()) == ["svt 4 (2.00 and 1.90)"]


def test_processor_time_can_be_shown(scale):
    runs = [run_of(scale, "svt", 4, seconds=9, cpu=2.5)]
    assert "2.50, 20 MB" in "".join(scale.Report(runs, ["auto"], cpu=True).table())


def test_another_tree_is_what_runs(scale, tmp_path, monkeypatch):
    """Also where the present tree is the current folder, and where bytecode is not to be written."""
    other, file = tmp_path / "other", tmp_path / "svt.dipa"
    (other / "symdipa").mkdir(parents=True)
    (other / "symdipa" / "__init__.py").touch()
    (other / "symdipa" / "__main__.py").write_text("import sys; sys.exit(sys.dont_write_bytecode + 40)")
    file.write_text(scale.formats.dumps(scale.generate("svt", 2)), encoding="utf-8")
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    limits = scale.Limits(30, 8)
    before = scale.measure(FAMILIES["svt"], 2, "auto", file, limits, other)
    now = scale.measure(FAMILIES["svt"], 2, "auto", file, limits)
    assert (before.before, before.outcome) == (True, "failed (40)")
    assert (now.before, now.outcome) == (False, "decided")


def test_a_revision_is_checked_out_and_taken_away(scale, tmp_path, monkeypatch):
    def git(*words):
        subprocess.run(
            ["git", "-c", "user.name=n", "-c", "user.email=e", "-C", str(tmp_path), *words], check=True
        )

    git("init", "--quiet")
    for text in ("old", "new"):
        (tmp_path / "file").write_text(text)
        git("add", "file")
        git("commit", "--quiet", "-m", text)
    monkeypatch.setattr(scale, "ROOT", tmp_path)
    with scale.checked_out("HEAD~1") as tree:
        assert (tree / "file").read_text() == "old"
    assert not tree.exists()
    with scale.checked_out(None) as tree:
        assert tree is None
    short = subprocess.check_output(["git", "-C", str(tmp_path), "rev-parse", "--short", "HEAD~1"], text=True)
    assert scale.arguments(["--before", "HEAD~1"]).before == short.strip()
    with pytest.raises(SystemExit):
        scale.arguments(["--before", "HEAD~2"])


def test_trees_take_turns_and_what_takes_long_is_not_repeated(scale, tmp_path, monkeypatch):
    def measure(family, size, engine, file, limits, tree):
        late = engine == "z3" and tree is not None
        seconds = scale.LONG + 1 if engine == "explicit" else 1.0
        outcome = "> 9 s" if late else "decided"
        return run_of(scale, family.name, size, engine, seconds, before=tree is not None, outcome=outcome)

    monkeypatch.setattr(scale, "measure", measure)
    sizes, engines = {"svt": (2, 4)}, ["auto", "z3", "explicit", "abc"]
    runs = list(scale.sweep(sizes, engines, scale.Limits(9, 8), 2, tmp_path, engines[:3]))
    told = " ".join(f"{run.engine}{'-' if run.before else '+'}" for run in runs if run.size == 2)
    assert told == "auto- auto+ z3- z3+ explicit- explicit+ abc+ auto- auto+ z3+ abc+"
    told = " ".join(f"{run.engine}{'-' if run.before else '+'}" for run in runs if run.size == 4)
    assert told == "auto- auto+ z3+ explicit- explicit+ abc+ auto- auto+ z3+ abc+"


def test_the_table_is_put_into_a_page(scale, tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    words = ["--families", "svt", "--sizes", "4", "--engines", "auto", "--docs", str(page)]
    page.write_text("# Page\n")
    with pytest.raises(SystemExit):
        scale.main(words)
    page.write_text(f"# Page\n\n{scale.BEGIN}\nold\n{scale.END}\n\nEnd\n")
    monkeypatch.setattr(scale, "measure", lambda family, size, *_: run_of(scale, family.name, size))
    assert scale.main(words) == 0
    text = page.read_text()
    assert text.startswith("# Page\n") and text.endswith("\n\nEnd\n") and "old" not in text
    assert "| svt 4 | 6 | 1.00, 20 MB |" in text and "cores" in text
    assert "svt 4" in capsys.readouterr().out
    assert scale.main(words) == 0
    assert page.read_text().count("| svt 4 |") == 1


def test_the_history_tells_what_is_worse(scale, tmp_path, monkeypatch, capsys):
    file, times = tmp_path / "history.csv", [(1.0, 1.0, 20.0)]

    def measure(family, size, *_):
        seconds, cpu, mb = times[-1]
        return run_of(scale, family.name, size, seconds=seconds, cpu=cpu, mb=mb)

    def told():
        assert scale.main(["--main", "--families", "pivot", "--repeat", "1", "--history", str(file)]) == 0
        out = capsys.readouterr().out
        return [line.partition(":")[0] for line in out.splitlines() if line.partition(":")[0].isupper()]

    monkeypatch.setattr(scale, "measure", measure)
    assert told() == []
    assert file.read_text().count("pivot") == len(scale.MAIN["pivot"]) == 2
    for seconds, cpu, mb, words in [
        (1.2, 1.2, 24.0, []),
        (1.6, 1.6, 24.0, ["SLOWER"]),
        (3.0, 1.6, 24.0, []),  # only the machine was busy
        (3.0, 1.6, 48.0, ["LARGER"]),
        (0.01, 0.01, 20.0, []),
        (0.1, 0.1, 20.0, []),  # both are short
    ]:
        times.append((seconds, cpu, mb))
        assert told() == 2 * words
    monkeypatch.setattr(scale, "measure", lambda f, n, *_: run_of(scale, f.name, n, outcome="unknown"))
    assert told() == ["WORSE"]  # the larger one was not tried
    monkeypatch.setattr(scale.history, "machine", lambda: {**scale.machine(), "processor": "another"})
    monkeypatch.setattr(scale, "measure", lambda f, n, *_: run_of(scale, f.name, n, seconds=99.0))
    assert told() == []
    rows = file.read_text().splitlines()
    assert rows[0].split(",") == list(scale.history.COLUMNS)
    assert len(rows) == 1 + 2 * 7 + 1 + 2


def test_every_family_has_sizes(scale):
    assert set(scale.SIZES) == set(scale.QUICK) == set(scale.MAIN) == set(FAMILIES)
    assert all(set(numbers) <= set(scale.SIZES[name]) for name, numbers in scale.MAIN.items())
    for sizes in (scale.SIZES, scale.QUICK, scale.MAIN):
        for name, numbers in sizes.items():
            assert min(numbers) >= FAMILIES[name].smallest
            assert list(numbers) == sorted(numbers)
