"""``symdipa bench``: limits that hold, sweeps that go on, results that resume, tables and pictures."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import EXAMPLES, ROOT

from symdipa.engines import processes
from symdipa.files import formats
from symdipa.files.families import FAMILIES, generate
from symdipa.interface.bench import machine, measure, plots, presets, store, sweep, tables
from symdipa.interface.bench.measure import Job, Measured
from symdipa.interface.bench.plan import (
    BadSweep,
    Config,
    Expected,
    Plan,
    Task,
    configs,
    documented,
    member,
    sizes,
)
from symdipa.interface.bench.process import Process
from symdipa.interface.bench.store import COLUMNS, Store
from symdipa.interface.cli import cli
from symdipa.model.patterns import Pattern

linux = pytest.mark.skipif(
    not processes.AVAILABLE, reason="memory is watched, and processes die with their parent, on Linux only"
)

ANSWER = {
    "verdict": "private",
    "patterns": {pattern.key: "absent" for pattern in Pattern},
    "weight": {"corollary": "5/4", "run": "5/4", "alignment": None},
    "reasons": {},
    "seconds": 0.01,
    "disagreements": [],
    "error": None,
}
"""What a run says of ``svt``."""


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def saying(**changes) -> list[str]:
    return python(f"print({json.dumps(ANSWER | changes)!r})")


HANG = python(
    "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(60)"
)
EAT = python("held = []\nimport time\nwhile True: held.append(bytearray(2**22)); time.sleep(0.002)")
CRASH = python("import os; os.kill(os.getpid(), 11)")


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(holds, seconds: float = 20.0) -> None:
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.02)


# ---------------------------------------------------------------------------------------------- what to run


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("7", (7,)),
        ("1,2,5,10:80:10", (1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80)),
        ("3:5", (3, 4, 5)),
        ("10:29:10", (10, 20)),
        (" 5 , 2,2:3", (2, 3, 5)),
    ],
)
def test_sizes_are_read(text, found):
    assert sizes(text) == found


@pytest.mark.parametrize(
    ("text", "part", "words"),
    [
        ("", "''", "is not a number"),
        ("1,,3", "''", "is not a number"),
        ("1,x,3", "'x'", "is not a number"),
        ("-3", "'-3'", "is not a number"),
        ("1.5", "'1.5'", "is not a number"),
        ("2,10:80:0", "'10:80:0'", "step must be at least 1"),
        ("80:10", "'80:10'", "ends below its beginning"),
        ("1:2:3:4", "'1:2:3:4'", "is not a number"),
        ("1:90000000", "'1:90000000'", "more than 10000 sizes"),
    ],
)
def test_sizes_that_are_none_are_refused_with_the_part(text, part, words):
    with pytest.raises(BadSweep) as refused:
        sizes(text)
    assert part in str(refused.value) and words in str(refused.value)


def test_members_are_checked_against_their_family():
    assert member("pivot-bad", 3).expected == documented(FAMILIES["pivot-bad"])
    assert member("svt", 3).expected.bound == "5/4"
    with pytest.raises(BadSweep, match="from 2 to 100000, not 1"):
        member("pivot-bad", 1)
    with pytest.raises(BadSweep, match="no family 'rings'"):
        member("rings", 1)


def test_every_configuration_stands_once():
    found = configs(("auto", "explicit", "z3"), ("marks", "ghost"), ("default", "minisat"))
    assert [config.title for config in found] == [
        "auto/marks", "auto/marks on minisat", "auto/ghost", "auto/ghost on minisat", "explicit",
        "z3/marks", "z3/marks on minisat", "z3/ghost", "z3/ghost on minisat",
    ]  # fmt: skip
    assert [config.title for config in configs(("z3",), ("marks",), ("default",))] == ["z3"]
    arguments = ["--engine", "z3", "--encoding", "ghost", "--solver", "minisat"]
    assert Config("z3", "ghost", "minisat").arguments == arguments


def plan_of(*members: tuple[str, int], engines=("explicit",), **settings) -> Plan:
    items = tuple(member(*each) for each in members)
    return Plan(items, configs(engines, ("marks",), ("default",)), **settings)


def test_a_plan_survives_being_written():
    plan = plan_of(("svt", 1), ("pivot-bad", 2), engines=("auto", "z3"), seconds=2.5, preset="m-range")
    assert Plan.from_json(json.loads(json.dumps(plan.as_json()))) == plan
    assert plan.differs_from(plan) == []
    assert plan.differs_from(plan_of(("svt", 1), engines=("auto", "z3"))) == [
        "files or members", "--timeout", "--preset"
    ]  # fmt: skip


def test_configurations_take_turns_and_only_the_first_item_warms_up():
    plan = plan_of(("svt", 1), ("svt", 2), engines=("auto", "explicit"), warmup=1, repeat=2)
    told = [(task.item.size, task.phase, task.repetition, task.config.engine) for task in plan.tasks]
    assert told[:4] == [
        (1, "warm-up", 1, "auto"), (1, "warm-up", 1, "explicit"),
        (1, "measured", 1, "auto"), (1, "measured", 1, "explicit"),
    ]  # fmt: skip
    assert len(told) == 2 + 2 * 4 and ("warm-up" not in {phase for size, phase, *_ in told if size == 2})
    assert len({task.id for task in plan.tasks}) == len(told)


# ------------------------------------------------------------------------------------------- one process


def ended(command, seconds=20.0, **limits):
    return Process(command, os.environ, seconds, **limits).wait()


def test_a_process_is_measured():
    found = ended(python("import sys; print(sys.stdin.read()[::-1]); sys.exit(3)"), content=b"abc")
    assert (found.status, found.killed, found.out, found.err) == (3, "", "cba\n", "")
    assert 0 < found.seconds < 20 and found.cpu > 0


@linux
def test_the_peak_is_that_of_the_process_and_not_ours():
    ours = bytearray(os.urandom(1)) * (120 * 2**20)
    small = ended(python("import time; time.sleep(0.2)"))
    large = ended(python("a = b'x' * (150 * 2**20); import time; time.sleep(0.3)"))
    assert len(ours) and small.peak < 60 * 2**20
    assert 150 * 2**20 < large.peak < 250 * 2**20


CHILDREN = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, '-I', '-S', '-c', 'import time; time.sleep(60)'])
print(os.getpid(), child.pid, flush=True)
"""


def test_a_process_that_hangs_is_killed_with_its_children():
    found = ended(python(CHILDREN + "time.sleep(60)"), seconds=0.6)
    assert (found.killed, found.status) == ("time", -signal.SIGKILL) and 0.6 <= found.seconds < 5
    wait_until(lambda: not any(alive(int(pid)) for pid in found.out.split()))


def test_what_a_process_leaves_behind_is_killed():
    found = ended(python(CHILDREN))
    assert (found.killed, found.status) == ("", 0) and found.seconds < 20
    wait_until(lambda: not any(alive(int(pid)) for pid in found.out.split()))


@linux
def test_memory_counts_for_all_processes_together():
    child = "a = b'x' * (60 * 2**20); import time; time.sleep(60)"
    code = f"import subprocess, sys\nfor _ in range(3): subprocess.Popen([sys.executable, '-I', '-S', '-c', {child!r}])\nimport time; time.sleep(60)"  # noqa: E501
    found = ended(python(code), memory=150 * 2**20)
    assert found.killed == "memory" and found.held > 150 * 2**20 > found.peak


def test_an_interrupted_wait_kills_the_process(monkeypatch):
    process = Process(HANG, os.environ, 60)
    pid = process._process.pid

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("symdipa.interface.bench.process.rest", interrupt)
    with pytest.raises(KeyboardInterrupt):
        process.wait()
    assert not alive(pid)


# ----------------------------------------------------------------------------------------------- one run


def job(seconds=20.0, memory=2**30, config=None, content=None, fmt="dipa") -> Job:
    data = formats.dumps(generate("svt", 1)).encode() if content is None else content
    return Job("svt 1", data, fmt, config or Config("explicit"), seconds, memory, 0)


def test_a_run_is_a_check():
    found = measure.measure(job())
    assert (found.outcome, found.verdict, found.bound, found.corollary) == (
        "answered",
        "private",
        "5/4",
        "5/4",
    )
    assert found.exit_status == 0 and found.seconds > found.check_seconds > 0 and found.peak_mb > 5
    assert found.machine["python"] and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found.started)


def test_a_run_says_itself_that_it_reached_a_limit():
    content = formats.dumps(generate("pivot", 20)).encode()
    found = measure.measure(job(seconds=0.5, content=content))
    assert (found.outcome, found.verdict) == ("time-out", "unknown") and "time limit" in found.remark
    if processes.AVAILABLE:
        found = measure.measure(job(memory=60 * 2**20, content=content))
        assert (found.outcome, found.verdict) == ("memory-out", "unknown")


def test_a_run_on_what_is_no_automaton_is_unusable():
    found = measure.measure(job(content=b"(q1, nonsense"))
    assert found.outcome == "unusable" and found.remark and found.exit_status == 2


def unknown(reason: str) -> list[str]:
    return saying(verdict="unknown", reasons={"leaking-pair": reason}, weight=None)


def failing(message: str, rule: str) -> list[str]:
    return saying(verdict="error", error={"message": message, "rule": rule})


@pytest.mark.parametrize(
    ("command", "outcome", "remark"),
    [
        (saying(), "answered", ""),
        (saying(weight=None), "answered", "no D"),
        (HANG, "time-out", "killed"),
        pytest.param(EAT, "memory-out", "killed at", marks=linux),
        (python("raise MemoryError"), "memory-out", "out of memory"),
        (CRASH, "failed", "ended by signal 11"),
        (python("print('hello')"), "failed", "status 0 without an answer"),
        (python("print('[1]')"), "failed", "status 0 without an answer"),
        (python("{}['it broke']"), "failed", "KeyError: 'it broke'"),
        (failing("internal error", "internal"), "failed", "internal error"),
        (failing("out of memory", "internal"), "memory-out", "out of memory"),
        (failing("no state", "syntax"), "unusable", "no state"),
        (unknown("bound 3 reached"), "unknown", "bound 3"),
        (unknown("time limit reached"), "time-out", "time limit"),
        (unknown("memory limit of 1 GB reached"), "memory-out", "memory limit"),
        (saying(disagreements=["one says this, one that"]), "failed", "one says this"),
    ],
)
def test_whatever_a_run_does_is_recorded(monkeypatch, command, outcome, remark):
    monkeypatch.setattr(measure, "command", lambda job: command)
    monkeypatch.setattr(measure, "GRACE", 0.2)
    found = measure.measure(job(seconds=0.3 if command is HANG else 20, memory=100 * 2**20))
    assert found.outcome == outcome and remark in found.remark


# --------------------------------------------------------------------------------------- results in a folder


def begun(folder: Path, plan: Plan) -> Store:
    results = Store.create(folder, plan, {})
    results.begin({"started": "now", "jobs": 1})
    return results


def row(plan: Plan, task: Task, **values):
    measured = Measured(
        "answered", verdict="private", bound="5/4", corollary="5/4", seconds=1.5, peak_mb=20.0
    )
    found = store.row(task, plan, None, measured, 1)
    return found | {pattern.key: "absent" for pattern in Pattern} | values


def test_rows_are_on_the_disk_once_as_lines_and_as_csv(tmp_path):
    plan = plan_of(("svt", 1), warmup=0)
    results = begun(tmp_path, plan)
    for task in (*plan.tasks, plan.tasks[0]):
        results.add(row(plan, task))
    lines = (tmp_path / "runs.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == [task.id for task in plan.tasks]
    assert all(tuple(json.loads(line)) == COLUMNS for line in lines)
    table = list(csv.DictReader(io.StringIO((tmp_path / "runs.csv").read_text())))
    assert [line["id"] for line in table] == [task.id for task in plan.tasks]
    assert {line["leaking-pair"] for line in table} == {"absent"}
    results.close()
    assert Store.load(tmp_path).rows == results.rows


def test_a_torn_line_is_made_again(tmp_path):
    plan = plan_of(("svt", 1), warmup=0)
    results = begun(tmp_path, plan)
    for task in plan.tasks[:2]:
        results.add(row(plan, task))
    results.close()
    lines = tmp_path / "runs.jsonl"
    lines.write_bytes(lines.read_bytes()[:-40])
    results = Store.load(tmp_path)
    assert [found["id"] for found in results.rows] == [plan.tasks[0].id]
    results.begin({"started": "later", "jobs": 1})
    for task in plan.tasks:
        results.add(row(plan, task))
    results.close()
    assert len(lines.read_text().splitlines()) == len(plan.tasks) == len(Store.load(tmp_path).rows)
    assert len(list(csv.reader(io.StringIO((tmp_path / "runs.csv").read_text())))) == len(plan.tasks) + 1


def test_a_broken_line_in_the_middle_is_refused(tmp_path):
    plan = plan_of(("svt", 1), warmup=0)
    results = begun(tmp_path, plan)
    results.add(row(plan, plan.tasks[0]))
    results.close()
    lines = tmp_path / "runs.jsonl"
    lines.write_text('{"id": 1}\n' + lines.read_text())
    with pytest.raises(BadSweep, match=r"runs\.jsonl:1: this is not a run"):
        Store.load(tmp_path)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": "x", "version": 1}', '{"format": "symdipa-bench"}']
)
def test_a_folder_that_is_no_sweep_is_refused(tmp_path, text):
    with pytest.raises(BadSweep, match="holds no results"):
        Store.load(tmp_path)
    (tmp_path / "sweep.json").write_text(text)
    with pytest.raises(BadSweep, match="not the description of a sweep"):
        Store.load(tmp_path)


def test_two_sweeps_do_not_write_into_one_folder(tmp_path):
    results = begun(tmp_path, plan_of(("svt", 1)))
    with pytest.raises(BadSweep, match="another sweep is running"):
        Store.load(tmp_path).begin({})
    results.close()
    again = Store.load(tmp_path)
    again.begin({})
    again.close()


# -------------------------------------------------------------------------------------------- whole sweeps


@pytest.fixture
def planted(monkeypatch):
    """Have runs do something else: ``planted(function of the job)``; a list says which jobs were run.

    Only runs that hang are killed soon: how fast the others are on a busy machine does not matter.
    """
    made: list[str] = []

    def plant(choose):
        def command(job: Job) -> list[str]:
            made.append(job.id)
            chosen = choose(job)
            monkeypatch.setattr(measure, "GRACE", 0.2 if chosen is HANG else 60.0)  # read after this call
            return chosen

        monkeypatch.setattr(measure, "command", command)
        return made

    return plant


def invoke(*words: str):
    return CliRunner().invoke(cli, ["bench", *map(str, words)], catch_exceptions=False)


def outcomes(folder: Path) -> dict[str, str]:
    return {found["id"]: found["outcome"] for found in Store.load(folder).rows}


@linux
def test_a_sweep_goes_on_after_whatever_a_run_does(planted, tmp_path):
    does = {"svt 1": saying(), "svt 2": EAT, "svt 3": CRASH, "svt 4": HANG, "svt 5": saying()}
    planted(lambda job: does[job.id.partition("|")[0]])
    limits = ["--timeout", "0.6", "--memory", "100M", "--no-skip", "--warmup", "0", "--repeat", "2"]
    done = invoke("--family", "svt", "--sizes", "1:5", "--engine", "explicit", *limits, "-o", tmp_path)
    assert done.exit_code == 4  # one crashed
    assert [*outcomes(tmp_path).values()] == [
        "answered", "answered", "memory-out", "skipped", "failed", "skipped", "time-out", "skipped",
        "answered", "answered",
    ]  # fmt: skip
    assert "FAILED: svt 3" in done.stderr and "ended by signal 11" in done.stderr
    cells = [line.split("|")[7].strip() for line in done.stdout.splitlines() if line.startswith("| svt")]
    assert cells[1:4] == ["> 100 MB", "failed", "> 0.6 s"] and " (" in cells[0]


def test_larger_members_are_not_tried_after_a_limit(planted, tmp_path):
    made = planted(lambda job: HANG if job.id.startswith("svt 2|explicit") else saying())
    words = ["--family", "svt", "--sizes", "1:4", "--engine", "explicit,auto", "--timeout", "0.3"]
    done = invoke(*words, "--warmup", "0", "--repeat", "1", "-o", tmp_path)
    assert done.exit_code == 3
    assert [name for name in made if "explicit" in name] == [
        "svt 1|explicit|measured|1", "svt 2|explicit|measured|1"
    ]  # fmt: skip
    assert len([name for name in made if "auto" in name]) == 4
    found = outcomes(tmp_path)
    assert len(found) == 8 and found["svt 4|explicit|measured|1"] == "skipped"
    assert "not tried, since a smaller member reached a limit" in done.stdout
    shown = invoke("--table", "md", "-o", tmp_path)
    assert (shown.exit_code, shown.stdout) == (0, done.stdout)


def test_several_runs_at_a_time(planted, tmp_path):
    planted(lambda job: python(f"import time; time.sleep(0.5); print({json.dumps(ANSWER)!r})"))
    began = time.monotonic()
    words = ["--family", "svt", "--sizes", "1:2", "--engine", "explicit", "--warmup", "0", "--jobs", "6"]
    assert invoke(*words, "-o", tmp_path).exit_code == 0
    assert time.monotonic() - began < 6 * 0.5
    assert len(outcomes(tmp_path)) == 6


def test_engines_that_disagree_are_loud(planted, tmp_path):
    present = {**ANSWER["patterns"], "leaking-pair": "present"}
    planted(lambda job: saying(verdict="not-private", patterns=present) if "|z3|" in job.id else saying())
    file = EXAMPLES / "well_formed" / "svt.dipa"
    done = invoke(file, "--engine", "z3,explicit", "--warmup", "0", "--repeat", "1", "-o", tmp_path)
    assert done.exit_code == 4
    assert "leaking pair is present for z3 and absent for explicit" in done.stderr
    assert "CONTRADICTION" in done.stdout


@pytest.mark.parametrize(
    ("family", "answer", "words"),
    [
        ("pivot-bad", {}, "leaking-pair is said to be absent"),
        ("svt", {"verdict": "not-private"}, "the verdict is not-private"),
        ("svt", {"weight": {"corollary": "3"}}, "the corollary bound is 3 instead of 5/4"),
    ],
)
def test_an_answer_that_is_not_the_documented_one_is_loud(planted, tmp_path, family, answer, words):
    planted(lambda job: saying(**answer))
    options = ["--engine", "explicit", "--warmup", "0", "--repeat", "1", "-o", tmp_path]
    done = invoke("--family", family, "--sizes", "2", *options)
    assert done.exit_code == 4
    assert f"WRONG by explicit: {words}" in done.stderr and "CONTRADICTION" in done.stdout


def test_files_and_folders_are_swept_and_bad_ones_are_told(tmp_path):
    folder = tmp_path / "some"
    (folder / "deeper").mkdir(parents=True)
    good = formats.dumps(generate("svt", 1))
    (folder / "deeper" / "good.dipa").write_text(good)
    (folder / "bad.dipa").write_text("(q1, 1/2")
    (folder / "other.txt").write_text("no automaton")
    options = ["--engine", "explicit", "--warmup", "0", "--repeat", "1", "-o", tmp_path / "results"]
    done = invoke(folder, *options)
    assert done.exit_code == 2
    assert "bad.dipa:1:" in done.stderr
    rows = Store.load(tmp_path / "results").rows
    assert [(Path(found["item"]).name, found["outcome"]) for found in rows] == [
        ("bad.dipa", "unusable"), ("good.dipa", "answered")
    ]  # fmt: skip
    assert (rows[1]["variables"], rows[1]["states"], rows[1]["transitions"]) == (1, 3, 3)
    (stored,) = (tmp_path / "results" / "inputs").iterdir()
    assert stored.read_text() == good
    (folder / "deeper" / "good.dipa").write_text(good + "# changed\n")
    changed = invoke(folder, *options)
    assert changed.exit_code == 2 and "another sweep, with other files or members" in changed.stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--family", "svt"], "--family needs --sizes"),
        (["--sizes", "1"], "--sizes needs something to run"),
        (["--family", "svt", "--sizes", "1,b"], "'b' in the sizes '1,b'"),
        (["--family", "rings", "--sizes", "1"], "no family 'rings'"),
        (["--family", "svt", "--sizes", "0"], "from 1 to 100000, not 0"),
        (
            ["--family", "svt", "--family", "pivot", "--family", "bracket", "--sizes", "1", "--sizes", "2"],
            "once for each",
        ),
        (["--preset", "m-range", "--sizes", "3"], "--preset says by itself"),
        (["--preset", "table2"], "'table2'"),
        (["--family", "svt", "--sizes", "1", "--engine", "auto,abc"], "'abc' is not an engine"),
        (["--family", "svt", "--sizes", "1", "--solver", "yices"], "'yices' is not a solver"),
        (["--family", "svt", "--sizes", "1", "--timeout", "0"], "not a positive number of seconds"),
        (["--family", "svt", "--sizes", "1", "--memory", "much"], "'much' is not a size"),
        (["--family", "svt", "--sizes", "1", "--jobs", "2", "--dask", "tcp://x:1"], "give one of them"),
        (["--plot", "x.bmp"], "must end in .svg, .png or .pdf"),
        (["no-such-file.dipa"], "no such file"),
        (["--table", "md"], "holds no results of a sweep"),
        ([], "holds no results of a sweep"),
        (["--engine", "z3"], "--engine needs something to run"),
    ],
)
def test_wrong_usage_is_told(tmp_path, monkeypatch, words, complaint):
    monkeypatch.chdir(tmp_path)
    done = invoke(*words)
    assert done.exit_code == 2
    assert complaint in done.stderr


def test_finished_results_are_shown_without_a_run(planted, tmp_path):
    made = planted(lambda job: saying())
    words = ["--family", "svt", "--sizes", "1,2", "--engine", "explicit", "-o", tmp_path]
    assert invoke(*words).exit_code == 0
    count = len(made)
    assert count == 1 + 2 * 3
    again = invoke(*words)
    assert again.exit_code == 0 and "all 7 runs are in" in again.stderr
    shown = invoke("--table", "csv", "-o", tmp_path)
    assert len(made) == count and len(list(csv.DictReader(io.StringIO(shown.stdout)))) == 2
    other = invoke(*words, "--repeat", "4")
    assert other.exit_code == 2 and "with other --repeat" in other.stderr and "--restart" in other.stderr
    assert invoke(*words, "--repeat", "4", "--restart").exit_code == 0
    assert len(made) == count + 1 + 2 * 4


# ------------------------------------------------------------------------------ interrupted, and resumed

DRIVER = f"""
import sys
from symdipa.interface.bench import measure
answer = {json.dumps(ANSWER)!r}
code = "import time, os; open(os.environ['PIDS'], 'a').write(str(os.getpid()) + ' '); time.sleep(0.15)"
code += "; print(%r)" % answer
measure.command = lambda job: [sys.executable, "-I", "-S", "-c", code]
from symdipa.__main__ import main
main()
"""


def start(folder: Path, environment, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", DRIVER, "bench", "--family", "svt", "--sizes", "1:4", "--engine",
               "auto,explicit", "--repeat", "2", "-o", str(folder / "results"), *words]  # fmt: skip
    environment = {**environment, "PIDS": str(folder / "pids")}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
    )


def shape(table: str) -> list[list[str]]:
    """A CSV table without what differs from run to run: times and memory."""
    keep = ("item", "variables", "states", "transitions", "answer", "engine", "outcome", "runs", "bound")
    return [[line[name] for name in keep] for line in csv.DictReader(io.StringIO(table))]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory, environment) -> list[list[str]]:
    """The table of a sweep that nothing interrupts."""
    whole = start(tmp_path_factory.mktemp("whole"), environment, "--table", "csv", "--jobs", "4")
    out, _ = whole.communicate(timeout=60)
    assert whole.returncode == 0
    return shape(out)


@linux
@pytest.mark.parametrize("jobs", ["1", "3"])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_sweep_that_is_killed_half_way_goes_on(tmp_path, environment, uninterrupted, how, jobs):
    lines = tmp_path / "results" / "runs.jsonl"
    first = start(tmp_path, environment, "--jobs", jobs)
    wait_until(lambda: lines.exists() and len(lines.read_text().splitlines()) >= 5)
    first.send_signal(how)
    _, told = first.communicate(timeout=10)
    assert first.returncode == (130 if how is signal.SIGINT else -signal.SIGKILL)
    # A run that ends at that very moment may still be told behind it.
    assert how is signal.SIGKILL or "interrupted\n" in told
    pids = (tmp_path / "pids").read_text().split()
    wait_until(lambda: not any(alive(int(pid)) for pid in pids), 5)
    had = len(Store.load(tmp_path / "results").rows)
    assert 5 <= had < 18
    second = start(tmp_path, environment, "--table", "csv", "--jobs", "4")
    found, told = second.communicate(timeout=60)
    assert second.returncode == 0
    assert f"going on: {had} of 18 runs are there" in told
    assert shape(found) == uninterrupted and len(uninterrupted) == 8
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    assert sorted(found["id"] for found in rows) == sorted(
        task.id for task in Store.load(tmp_path / "results").plan.tasks
    )
    assert {found["session"] for found in rows} == {1, 2}


def test_without_anything_to_run_an_interrupted_sweep_goes_on(planted, tmp_path):
    made = planted(lambda job: saying())
    plan = plan_of(("svt", 1), ("svt", 2))
    results = begun(tmp_path, plan)
    results.add(row(plan, plan.tasks[0]))
    results.close()
    shown = invoke("-o", tmp_path, "--table", "md")
    assert shown.exit_code == 0 and not made
    assert "not run yet" in shown.stdout and "6 of 7 runs have not been made" in shown.stderr
    assert invoke("-o", tmp_path).exit_code == 0
    assert made == [task.id for task in plan.tasks[1:]]


CLUSTER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None)
    workers = [nanny.process.process.pid for nanny in cluster.workers.values()]
    print(cluster.scheduler_address, *workers, flush=True)
    sys.stdin.read()
    cluster.close(timeout=5)
"""


# Dask is loaded in other processes only: it changes how exceptions are pickled, which other tests look at.
with_dask = pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed")


@pytest.fixture
def cluster(tmp_path, environment):
    """A cluster of two workers on this machine: its address and the processes of the workers."""
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    process = subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        stderr=subprocess.DEVNULL, env=environment, cwd=tmp_path,
    )  # fmt: skip
    address, *pids = process.stdout.readline().split()
    yield address, [int(pid) for pid in pids]
    process.communicate(timeout=20)


@with_dask
def test_a_cluster_loses_no_row_when_a_worker_dies(cluster, tmp_path, environment):
    address, workers = cluster
    assert len(workers) == 2
    words = ["--family", "svt", "--sizes", "1:4", "--engine", "explicit", "--dask", address]
    command = [sys.executable, "-m", "symdipa", "bench", *words, "-o", str(tmp_path / "results")]
    sweeping = subprocess.Popen(
        command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    lines = tmp_path / "results" / "runs.jsonl"
    wait_until(lambda: lines.exists() and len(lines.read_text().splitlines()) >= 2, 40)
    os.kill(workers[0], signal.SIGKILL)
    out, err = sweeping.communicate(timeout=100)
    assert sweeping.returncode == 0, err
    results = Store.load(tmp_path / "results")
    found = [json.loads(line)["id"] for line in lines.read_text().splitlines()]
    assert sorted(found) == sorted(task.id for task in results.plan.tasks)
    assert {row["outcome"] for row in results.rows} == {"answered"}
    assert results.sessions[0]["dask"] == address and len(out.splitlines()) > 4
    assert not re.search("Traceback", err)


@with_dask
def test_a_cluster_that_is_not_there_is_told(tmp_path, environment):
    driver = (
        "from symdipa.interface.bench import cluster; cluster.PATIENCE = 0.5; "
        "from symdipa.__main__ import main; main()"
    )
    words = ["bench", "--family", "svt", "--sizes", "1", "-o", str(tmp_path), "--dask", "tcp://127.0.0.1:9"]
    command = [sys.executable, "-c", driver, *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 2 and "there is no Dask scheduler at tcp://127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr


def test_dask_is_optional(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = invoke("--family", "svt", "--sizes", "1", "-o", tmp_path, "--dask", "tcp://127.0.0.1:9")
    assert done.exit_code == 2 and "symdipa[cluster]" in done.stderr


# ------------------------------------------------------------------------------------- tables and pictures


@pytest.fixture
def mixed(tmp_path) -> Store:
    """Results with all that can happen: two sizes answered, a time-out, one out of memory, one not tried."""
    plan = plan_of(*(("m-range", n) for n in (1, 10, 20, 80)), engines=("auto", "explicit"), warmup=0,
                   seconds=9.0, preset="m-range")  # fmt: skip
    results = begun(tmp_path / "mixed", plan)
    for task in plan.tasks:
        size, engine = task.item.size, task.config.engine
        limit = {("explicit", 20): "time-out", ("auto", 80): "memory-out", ("explicit", 80): "skipped"}
        outcome = limit.get((engine, size), "answered")
        if outcome != "answered" and task.repetition > 1:
            outcome = "skipped"
        seconds = None if outcome == "skipped" else size / 10 + task.repetition
        said = {} if outcome == "answered" else {"verdict": None, "bound": None, "corollary": None}
        values = {"wrong": "", "bound": "1", "corollary": "1", "outcome": outcome, "seconds": seconds, **said}
        results.add(row(plan, task, **values))
    results.close()
    return results


def test_the_table_as_markdown(mixed):
    lines = tables.table(mixed, "md").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    assert rows[0] == [
        "item", "variables", "states", "transitions", "answer", "D", "auto, s", "MB", "explicit, s", "MB",
        "DiPAut, s (published, not measured here)",
    ]  # fmt: skip
    assert rows[2][4:] == ["private", "1", "2.10 (1.10-3.10)", "20", "2.10 (1.10-3.10)", "20", "0.227"]
    assert rows[4][6:10] == ["4.00 (3.00-5.00)", "20", "> 9 s", "20"]
    assert rows[5][6:] == ["> 2048 MB", "20", "-", "", "506.33"]
    assert len({len(line) for line in lines if line.startswith("|")}) == 1
    assert any("numbers of others, from other machines" in line for line in lines)


def test_the_table_as_latex(mixed):
    text = tables.table(mixed, "latex")
    assert text.count(r"\\") >= 5 and r"\begin{tabular}{lrrrlrrrrrr}" in text
    assert "$>$ 9 s" in text and r"reports/*\_result.csv" in text
    body = text.split(r"\midrule")[1].split(r"\bottomrule")[0].strip().splitlines()
    assert [line.count("&") for line in body] == [10] * 4
    assert tables._escaped("a_b & 5% {~^\\}") == (
        r"a\_b \& 5\% \{\textasciitilde{}\textasciicircum{}\textbackslash{}\}"
    )


def test_the_table_as_csv(mixed):
    found = list(csv.DictReader(io.StringIO(tables.table(mixed, "csv"))))
    assert tuple(found[0])[:-1] == tables.CSV_COLUMNS
    assert tuple(found[0])[-1] == "dipaut_seconds_published_not_measured_here"
    assert [(line["size"], line["engine"], line["outcome"]) for line in found[4:]] == [
        ("20", "auto", "answered"), ("20", "explicit", "time-out"),
        ("80", "auto", "memory-out"), ("80", "explicit", "skipped"),
    ]  # fmt: skip
    assert (found[0]["median_seconds"], found[0]["runs"]) == ("2.1", "3")


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_the_picture(mixed, tmp_path, suffix, start):
    files = [tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"]
    for file in files:
        plots.plot(mixed, file)
    assert files[0].read_bytes().startswith(start)
    assert files[0].read_bytes() == files[1].read_bytes()


def legend_and_axes(results: Store, monkeypatch, tmp_path):
    kept = []
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda figure, path, **_: kept.append(figure))
    plots.plot(results, tmp_path / "x.png")
    (figure,) = kept
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()], figure.axes[0]


def test_the_picture_of_families_marks_limits_and_what_others_measured(mixed, monkeypatch, tmp_path):
    titles, axes = legend_and_axes(mixed, monkeypatch, tmp_path)
    assert titles[:2] == ["auto", "explicit"] and sorted(titles[2:5]) == [
        "limit, 9 s",
        "memory-out",
        "time-out",
    ]
    assert titles[5:] == ["DiPAut (published, not measured here)"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    marks = {line.get_label(): (*line.get_xdata(), *line.get_ydata()) for line in axes.lines}
    assert marks["time-out"] == (20, 9.0) and marks["memory-out"] == (80, 9.0)


def test_the_picture_of_files_lists_them(monkeypatch, tmp_path):
    items = tuple(item for item, _ in presets.PRESETS["table1"].items(EXAMPLES))
    plan = Plan(items, configs(("auto",), ("marks",), ("default",)), preset="table1", warmup=0, repeat=1)
    results = begun(tmp_path, plan)
    with pytest.raises(plots.NothingToDraw):
        plots.plot(results, tmp_path / "x.png")
    for task in plan.tasks:
        results.add(row(plan, task))
    results.close()
    titles, axes = legend_and_axes(results, monkeypatch, tmp_path)
    assert titles[0] == "auto" and all("published, not measured here" in title for title in titles[1:3])
    assert [label.get_text() for label in axes.get_yticklabels()] == [item.key for item in items]


def test_pictures_can_be_read_without_colour():
    looks = [plots._look(place) for place in range(28)]
    assert len({(look["marker"], str(look["linestyle"])) for look in looks}) == 28


def test_matplotlib_is_optional(mixed, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = invoke("--plot", "x.svg", "-o", mixed.folder)
    assert done.exit_code == 2 and "symdipa[plot]" in done.stderr


# ---------------------------------------------------------------------------------------------- presets


def test_the_sizes_of_a_preset_are_those_of_its_figure():
    assert sizes("2,5,10,20:200:20") == tuple(
        item.size for item, _ in presets.PRESETS["k-minmax"].items(None)
    )


def test_the_examples_of_table1_say_what_is_expected_of_them():
    for item, path in presets.PRESETS["table1"].items(EXAMPLES):
        assert item.published in presets.DIPAUT
        if path is None:
            continue
        first = path.read_text(encoding="utf-8").splitlines()[0]
        titles = [pattern.title for pattern in Pattern if pattern.key in item.expected.patterns]
        bound = f"private, D = {item.expected.bound} (corollary bound)"
        assert first == "# expect: " + (f"{' + '.join(titles)}; not private" if titles else bound)


def test_every_size_of_the_figures_has_a_published_number():
    for name in ("k-minmax", "m-range"):
        assert {item.key for item, _ in presets.PRESETS[name].items(None)} <= set(presets.DIPAUT)


def test_missing_examples_are_told(tmp_path, monkeypatch):
    with pytest.raises(BadSweep, match=r"not in .*elsewhere.*--examples FOLDER"):
        presets.examples(tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path)
    assert presets.examples(None) == EXAMPLES
    assert (machine.SOURCE / "symdipa" / "__main__.py").is_file()
    done = invoke("--preset", "table1", "--examples", tmp_path, "-o", tmp_path / "results")
    assert done.exit_code == 2 and str(tmp_path) in done.stderr


def test_the_preset_of_mechanisms_has_every_program_with_its_answer():
    from test_programs_examples import ANSWERS

    items = presets.PRESETS["mechanisms"].items(EXAMPLES)
    told = {item.key.replace(".py", ""): item.expected for item, _ in items}
    assert {*told} == {*ANSWERS} and all(path.is_file() for _, path in items)
    for name, answer in ANSWERS.items():
        assert told[name].verdict == ("private" if answer.startswith("private") else "not-private")
        if answer.startswith("private"):  # a check without a claim may stop at a larger bound
            assert Fraction(told[name].least) <= Fraction(answer.partition(" = ")[2])


def clones(folder: Path) -> Path:
    for tool, places, mechanisms in presets.PEERS:
        where = folder.joinpath(tool, *places[0])
        where.mkdir(parents=True)
        for name, *_ in mechanisms:
            header = "int f(float q[], int size, float epsilon, int NN)" if "sparse" in name else "int size"
            (where / f"{name}.c").write_text(header)
    return folder


def test_the_files_of_others_are_run_with_and_without_parameters(tmp_path):
    items = [item for item, _ in presets.peers(clones(tmp_path))]
    assert len(items) == 2 * (17 + 9)
    assert {item.settings for item in items if "sparse" in item.key} == {(), ("size=5", "NN=1")}
    assert {item.settings for item in items if "smartsum" in item.key} == {(), ("size=5",)}
    wrong = next(item for item in items if item.key == "checkdp/badnoisymax size=5")
    assert (wrong.claim, wrong.expected.least) == ("1", "5/2")
    plan = Plan(tuple(items), configs(("auto",), ("marks",), ("default",)), preset="mechanisms")
    assert Plan.from_json(json.loads(json.dumps(plan.as_json()))) == plan


def test_files_of_others_that_are_missing_are_told(tmp_path):
    with pytest.raises(BadSweep, match=r"no folder .*checkdp: --peer wants"):
        list(presets.peers(tmp_path))
    (clones(tmp_path) / "shadowdp" / "examples" / "original" / "smartsum.c").unlink()
    with pytest.raises(BadSweep, match=r"needs the file smartsum\.c of shadowdp"):
        list(presets.peers(tmp_path))
    done = invoke("--preset", "table1", "--peer", tmp_path, "-o", tmp_path / "results")
    assert done.exit_code == 2 and "--peer is for --preset mechanisms" in done.stderr


def test_the_preset_of_mechanisms_has_one_engine_and_a_column_of_claims(planted, tmp_path):
    made = planted(lambda job: saying(weight={"alignment": "9"}, verdict=right[job.id.partition("|")[0]]))
    right = {item.key: item.expected.verdict for item, _ in presets.PRESETS["mechanisms"].items(EXAMPLES)}
    done = invoke("--preset", "mechanisms", "--warmup", "0", "--repeat", "1", "-o", tmp_path, "--jobs", "4")
    assert done.exit_code == 0 and {name.split("|")[1] for name in made} == {"auto"}
    line = next(line for line in done.stdout.splitlines() if "sums.py:smart_sum" in line)
    assert [cell.strip() for cell in line.split("|")[5:8]] == ["private", "9", "2"]
    assert "* Claimed: the D that publications claim" in done.stdout
    table = invoke("-o", tmp_path, "--table", "csv").stdout
    assert {row["item"]: row["claim"] for row in csv.DictReader(io.StringIO(table))}["gaps.py:gap_svt"] == "1"


def test_a_bound_below_the_known_d_is_a_contradiction():
    known = Expected(None, "private", least="5/2")
    assert known.contradicted_by({"leaking-pair": "present"}, "private", None, "5/2") == ""
    assert known.contradicted_by({}, "private", None, "2") == "a bound on D is 2, and D is 5/2"


def test_a_program_is_run_with_its_settings_and_its_claim():
    content = (EXAMPLES / "programs" / "sparse_vector.py").read_bytes()
    given = job(content=content, fmt="py", config=Config("auto"))
    found = measure.measure(replace(given, program="svt", settings=("c=1",), claim="1"))
    assert (found.outcome, found.verdict, found.bound, found.exit_status) == ("answered", "private", "1", 0)
    found = measure.measure(replace(given, program="svt", settings=("c=1",), claim="1/2"))
    assert (found.outcome, found.bound, found.exit_status) == ("answered", "1", 1)
    found = measure.measure(replace(given, program="nothing"))
    assert found.outcome == "unusable" and "nothing" in found.remark


def test_programs_are_named_one_by_one(tmp_path):
    program = EXAMPLES / "programs" / "sparse_vector.py"
    few = ["--engine", "auto", "--warmup", "0", "--repeat", "1", "-o", tmp_path]
    done = invoke(f"{program}:svt", *few)
    assert done.exit_code == 0 and f"| {program}:svt |" in done.stdout and "| private |" in done.stdout
    done = invoke(f"{program}:other", *few, "--restart")
    assert done.exit_code == 2 and "other" in done.stderr


def test_programs_have_settings(tmp_path):
    program = f"{EXAMPLES / 'programs' / 'sparse_vector.py'}:svt"
    few = ["--engine", "auto", "--warmup", "0", "--repeat", "1", "-o", tmp_path]
    done = invoke("--set", "queries=1", program, *few, "--table", "csv")
    assert done.exit_code == 0 and f"{program} queries=1" in done.stdout
    found = Store.load(tmp_path)
    assert [item.settings for item in found.plan.items] == [("queries=1",)]
    found.close()
    assert "another sweep" in invoke(program, *few).stderr
    done = invoke("--set", "nobody=1", program, *few, "--restart")
    assert done.exit_code == 2 and "nobody" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "c=1", EXAMPLES / "well_formed" / "svt.dipa"], "--set is for programs, and"),
        (["--set", "c=1", "--family", "svt", "--sizes", "1"], "--set is for programs: name their files"),
        (["--set", "c", EXAMPLES / "programs" / "alarm.py"], "a setting is written NAME=VALUE"),
        (["--set", "c=1", "--set", "c=2", EXAMPLES / "programs" / "alarm.py"], "c is set twice"),
        (["--set", "c=1", "--preset", "mechanisms"], "give no files, --family, --sizes or --set"),
        (["--set", "c=1"], "--set needs something to run"),
    ],
)
def test_settings_are_for_programs(words, said, tmp_path):
    done = invoke(*words, "-o", tmp_path / "results")
    assert done.exit_code == 2 and said in done.stderr


def test_the_documentation_names_every_column_and_outcome():
    text = (ROOT / "docs" / "bench.md").read_text(encoding="utf-8")
    for name in (*COLUMNS, *tables.CSV_COLUMNS, *measure.OUTCOMES, *presets.PRESETS):
        assert f"`{name}`" in text, name


def test_sweep_on_this_machine_stops_its_runs(planted, tmp_path):
    planted(lambda job: HANG)
    plan = plan_of(("svt", 1), warmup=0, repeat=2)
    results = begun(tmp_path, plan)
    executor = sweep.Local(2)
    pids = []

    def interrupt(news):
        if len(news.running) == 2:
            pids.extend(run.process._process.pid for run in executor._running.values())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep.sweep(results, executor, interrupt)
    assert len(pids) == 2 and not any(alive(pid) for pid in pids)
    results.close()


def test_a_program_that_is_not_decided_contradicts_nothing():
    expected = Expected(None, "not-private")
    assert expected.contradicted_by({}, "not-well-formed", None) == ""
    assert "private" in expected.contradicted_by({}, "private", None)
    known = Expected(("LP",), "not-private")
    assert "not-well-formed" in known.contradicted_by({}, "not-well-formed", None)
