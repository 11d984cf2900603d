"""The limit on memory that every search has, and what counts in the time and size of an input."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner
from conftest import EXAMPLES

from symdipa import analysis
from symdipa.engines import lineup
from symdipa.engines.processes import AVAILABLE, Race
from symdipa.evidence.exports import query
from symdipa.files import formats
from symdipa.files.families import generate
from symdipa.interface.cli import cli
from symdipa.model import limits as module
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Verdict

SVT = EXAMPLES / "well_formed" / "svt.dipa"
A_LEAKP = str(EXAMPLES / "leaking_pair" / "a_leakp.dipa")
GB = 2**30
linux = pytest.mark.skipif(not AVAILABLE, reason="memory is known on Linux only")


def invoke(*arguments, stdin=None):
    return CliRunner().invoke(cli, list(arguments), input=stdin)


# ---------------------------------------------------------------------------------- what is available


@pytest.fixture
def machine(tmp_path):
    """A machine with 8 GB, of which 4 are available; the files of its control groups can be added."""

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")
        return tmp_path

    write(proc__meminfo=f"MemTotal: {8 * 2**20} kB\nMemFree: 1 kB\nMemAvailable: {4 * 2**20} kB")
    return write


V2 = "sys__fs__cgroup__"
V1 = "sys__fs__cgroup__memory__"


def test_without_control_groups_the_machine_counts(machine, tmp_path):
    assert module.available_memory(tmp_path) == 4 * GB
    assert module.available_memory(machine(proc__self__cgroup="0::/")) == 4 * GB
    assert module.available_memory(tmp_path / "elsewhere") is None


@pytest.mark.parametrize(
    ("files", "available"),
    [
        ({"memory_dot_max": 3 * GB, "memory_dot_current": 2 * GB}, 1),
        ({"memory_dot_max": "max", "memory_dot_current": 2 * GB}, 4),
        ({"memory_dot_max": 3 * GB, "memory_dot_high": 2 * GB, "memory_dot_current": 0}, 2),
        ({"memory_dot_max": 64 * GB, "memory_dot_current": 0}, 4),
        (
            {
                "memory_dot_max": 3 * GB,
                "memory_dot_current": 2 * GB,
                "memory_dot_stat": f"anon 1\ninactive_file {GB}\nactive_file 5",
            },
            2,
        ),
    ],
)
@pytest.mark.parametrize("place", ["", "outer__", "outer__inner__"])
def test_control_groups_of_version_2(machine, files, available, place):
    machine(proc__self__cgroup="0::/outer/inner")
    root = machine(**{f"{V2}{place}{name}": text for name, text in files.items()})
    assert module.available_memory(root) == available * GB


@pytest.mark.parametrize("place", ["", "docker__a1__"])
def test_control_groups_of_version_1(machine, place):
    machine(proc__self__cgroup="5:cpu,cpuacct:/docker/a1\n4:memory:/docker/a1\n0::/docker/a1")
    used, limit = f"{V1}{place}memory_dot_usage_in_bytes", f"{V1}{place}memory_dot_limit_in_bytes"
    assert module.available_memory(machine(**{used: GB, limit: 3 * GB})) == 2 * GB
    assert module.available_memory(machine(**{used: GB, limit: 2**63 - 4096})) == 4 * GB


@linux
def test_the_default_is_what_is_held_and_three_quarters_of_the_rest(monkeypatch):
    monkeypatch.setattr(module, "resident", lambda: GB)
    monkeypatch.setattr(module, "available_memory", lambda: 4 * GB)
    assert module.default_memory() == Limits.of().memory == Limits.of(timeout := 5.0).memory == 4 * GB
    assert Limits.of(timeout, 2 * GB).memory == 2 * GB
    monkeypatch.setattr(module, "available_memory", lambda: None)
    assert Limits.of().memory is None


@linux
def test_work_in_this_process_ends_when_it_holds_too_much(monkeypatch):
    monkeypatch.setattr(module, "_looked", 0.0)
    with pytest.raises(LimitReached, match="memory limit of 1 MB reached at work") as caught:
        Limits(memory=2**20).check("work")
    assert caught.value.limit is Limit.MEMORY
    monkeypatch.setattr(module, "_looked", 0.0)
    Limits(memory=2**60).check("work")


# --------------------------------------------------------------------------------------- every engine


SMALL = """
from symdipa.model import limits
limits.default_memory = lambda: limits.resident() + {spare}
from symdipa.__main__ import main
main()
"""


def with_little_memory(environment, *arguments, spare=2**26):
    command = [sys.executable, "-c", SMALL.format(spare=spare), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)


@pytest.fixture
def pivot(tmp_path):
    path = tmp_path / "pivot.dipa"
    path.write_text(formats.dumps(generate("pivot", 18)))
    return str(path)


@linux
@pytest.mark.parametrize("arguments", [["check", "--engine", "explicit"], ["compare", "--bound", "2"]])
def test_a_check_without_options_has_a_limit(environment, pivot, arguments):
    done = with_little_memory(environment, *arguments, "--json", pivot)
    (line,) = done.stdout.splitlines()
    found = json.loads(line)
    reasons = [found["reasons"], *(answer["reason"] for answer in found.get("details", []))]
    assert done.returncode in (0, 3) and "memory limit of" in str(reasons)
    if arguments[0] == "check":
        assert found["verdict"] == "unknown" and "Traceback" not in done.stderr


@linux
@pytest.mark.parametrize("to", ["smtlib", "aiger"])
def test_a_query_without_options_has_a_limit(environment, tmp_path, to):
    path = tmp_path / "range.dipa"
    path.write_text(formats.dumps(generate("u-range", 40)))
    output = tmp_path / "query"
    arguments = ["encode", str(path), "--pattern", "PV", "--bound", "30", "--to", to, "-o", str(output)]
    done = with_little_memory(environment, *arguments)
    assert done.returncode == 3 and done.stdout == ""
    assert done.stderr.startswith(f"{path}: unknown: memory limit of ")
    assert not output.exists()


def test_the_time_of_a_query():
    arguments = ["encode", A_LEAKP, "--pattern", "LP", "--bound", "8", "--timeout"]
    done = invoke(*arguments, "1e-9")
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr.startswith(f"{A_LEAKP}: unknown: time limit reached")
    assert invoke(*arguments, "60").exit_code == 0
    with pytest.raises(LimitReached, match="time limit"):
        query.encode(formats.load(A_LEAKP), Pattern.LEAKING_PAIR, 8, limits=Limits(deadline=0.0))


@linux
def test_engines_share_the_memory(monkeypatch):
    """What one keeps from earlier counts for the next; it goes first, without an answer."""
    problem = analysis.Problem.of(generate("pivot", 3))
    first, second = (lineup.ExplicitEngine(problem, cap) for cap in (None, 10**9))
    races = []
    races += [Race([first], races), Race([second], races)]
    try:
        assert races[0].decide(Pattern.LEAKING_PAIR).status.is_definite
        assert races[0]._workers
        sizes = {engine: 2**40 * (2 - k) for k, engine in enumerate((first, second))}
        worker = type(races[0]._workers[first])
        monkeypatch.setattr(worker, "memory", property(lambda self: sizes[self.engine]))
        monkeypatch.setattr(second, "decide", lambda pattern, limits: __import__("time").sleep(60))
        answer = races[1].decide(Pattern.LEAKING_PAIR, Limits(memory=2**30))
        assert not races[0]._workers, "the larger one is gone"
        assert (answer.reason or "").startswith("memory limit of 1 GB reached")
    finally:
        for race in races:
            race.close()


@linux
def test_small_enumerations_stay_in_this_process(monkeypatch):
    monkeypatch.setattr(Race, "decide", lambda *_: pytest.fail("a process was asked"))
    for engine in ("auto", "explicit"):
        assert analysis.check(formats.load(SVT), engine).verdict is Verdict.PRIVATE


@pytest.mark.parametrize("given", [None, 5 * GB])
def test_bounds_have_the_limit_of_the_check(monkeypatch, given):
    seen = []
    monkeypatch.setattr(module, "default_memory", lambda: 7 * GB)
    real = analysis.portfolio.bounds_on

    def bounds_on(*arguments, limits, **options):
        seen.append(limits.memory)
        return real(*arguments, limits=limits, **options)

    monkeypatch.setattr(analysis.portfolio, "bounds_on", bounds_on)
    automaton = formats.load(SVT)
    analysis.weigh(automaton, memory=given)
    analysis.with_bounds(analysis.check(automaton), ["corollary"], memory=given)
    assert seen == [given or 7 * GB] * 2


# -------------------------------------------------------------------------------------------- reading


def test_a_pipe_into_which_nobody_writes(environment):
    command = [sys.executable, "-m", "symdipa", "check", "--timeout", "0.3", "-", "--format", "dipa"]
    process = subprocess.Popen(
        [*command, "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    )
    with process:
        assert process.wait(60) == 3
        found = json.loads(process.stdout.read())
    assert found["verdict"] == "unknown"
    assert found["error"]["message"] == "time limit reached at reading <stdin>"


@pytest.mark.parametrize("fmt", ["dipa", "json"])
@pytest.mark.parametrize(
    "command",
    ["check", "weight", "witness", "compare", "certify", "encode --pattern LP", "report -o page.html"],
)
def test_reading_counts_in_the_time(tmp_path, monkeypatch, fmt, command):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"large.{fmt}"
    path.write_text(formats.dumps(generate("svt", 200), fmt))
    name, *options = command.split()
    done = invoke(name, *options, "--timeout", "1e-6", str(path))
    assert done.exit_code == 3
    assert f"{path}: unknown: time limit reached at reading" in done.output


@pytest.mark.parametrize("fmt", ["dipa", "json"])
def test_readers_look_at_the_clock(fmt):
    text = formats.dumps(generate("svt", 5), fmt)
    seen = []
    formats.read(text, fmt, limits=Limits(progress=seen.append))
    assert len(seen) > 10


def test_standard_input_has_the_size_limit_of_files(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "MAX_BYTES", 100)
    path = tmp_path / "large.dipa"
    path.write_bytes(SVT.read_bytes())
    for arguments in ([str(path)], ["-", "--format", "dipa"]):
        done = invoke("check", *arguments, stdin=SVT.read_text())
        assert done.exit_code == 2 and "the file is larger than" in done.stderr
