"""Engines in processes of their own: limits that hold against any engine, races, and nothing left behind."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from test_brute_force import A_LEAKP, automaton

from symdipa import analysis
from symdipa.bounds.corollary import corollary_bound
from symdipa.engines import lineup, processes
from symdipa.engines.base import Engine
from symdipa.engines.processes import Race
from symdipa.files import formats
from symdipa.files.families import generate
from symdipa.model.errors import Limit, LimitReached, WitnessRejected
from symdipa.model.limits import PAGE, UNLIMITED, Limits, resident
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import PatternResult, Status
from symdipa.runs.problem import Problem

pytestmark = pytest.mark.skipif(not processes.AVAILABLE, reason="processes are guarded on Linux only")

LEAKP = automaton(A_LEAKP, silent="q0 q1")
LP = Pattern.LEAKING_PAIR


class Scripted(Engine):
    """Does what it is told."""

    def __init__(self, name: str, act: Callable[[Pattern], Any], same_work: bool = False) -> None:
        self.name = name
        self.act = act
        self.same_work = same_work
        self.asked = 0
        self.process: Callable[..., Any] | None = None

    def kept_in_process(self, ask: Callable[..., Any] | None) -> None:
        self.process = ask

    def decide(self, pattern: Pattern, limits: Limits = UNLIMITED) -> PatternResult:
        self.asked += 1
        self.limits = limits
        return self.act(pattern) or PatternResult(pattern, Status.UNKNOWN, self.name, reason="no idea")


def saying(status: Status, name: str = "quick") -> Scripted:
    return Scripted(name, lambda pattern: PatternResult(pattern, status, name, sizes={"pid": os.getpid()}))


def stubborn(pattern: Pattern) -> None:
    """Neither looks at a clock nor listens to signals."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(60)


def greedy(pattern: Pattern) -> None:
    hoard = []
    while True:
        hoard.append(bytearray(2**24))
        hoard[-1][::PAGE] = bytes(len(range(0, 2**24, PAGE)))
        time.sleep(0.005)


def children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


@pytest.fixture(autouse=True)
def nothing_is_left():
    before = children()
    yield
    assert children() == before


def decided(engines: list[Engine], limits: Limits = UNLIMITED, memory: int | None = None) -> PatternResult:
    race = Race(engines)
    try:
        return race.decide(LP, replace(limits, memory=memory or limits.memory))
    finally:
        race.close()


def test_an_engine_that_was_ended_is_still_named_with_its_encoding():
    slow = Scripted("slow", stubborn)
    slow.encoding = "ghost"
    answer = Race([slow]).decide(LP, Limits.of(0.2))
    assert (answer.engine, answer.encoding, answer.status) == ("slow", "ghost", Status.UNKNOWN)


def test_an_answer_comes_from_another_process():
    answer = decided([saying(Status.ABSENT)])
    assert answer.status is Status.ABSENT and answer.sizes["pid"] != os.getpid()


def test_time_is_a_hard_limit():
    began = time.monotonic()
    answer = decided([Scripted("mule", stubborn)], Limits(deadline=began + 0.2))
    assert time.monotonic() - began < 5
    assert (answer.status, answer.engine, answer.reason) == (Status.UNKNOWN, "mule", "time limit reached")


def test_the_last_progress_is_told():
    def act(pattern: Pattern) -> None:
        mule.limits.check("depth 7")
        stubborn(pattern)

    mule = Scripted("mule", act)
    heard: list[str] = []
    limits = Limits(deadline=time.monotonic() + 0.4, progress=heard.append)
    assert decided([mule], limits).reason == "time limit reached at depth 7"
    assert set(heard) == {"depth 7"}


def test_memory_is_a_hard_limit():
    limit = resident() * 2 + 2**27
    answer = decided([Scripted("pig", greedy)], Limits(memory=limit))
    assert answer.status is Status.UNKNOWN
    assert (answer.reason or "").startswith("memory limit of ") and "reached" in (answer.reason or "")


def test_the_largest_goes_first():
    limit = resident() * 3 + 2**27

    def patient(pattern: Pattern) -> PatternResult:
        time.sleep(2)
        return PatternResult(pattern, Status.ABSENT, "patient")

    answer = decided([Scripted("pig", greedy), Scripted("patient", patient)], memory=limit)
    assert (answer.status, answer.engine) == (Status.ABSENT, "patient")


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL])
def test_a_crash_is_not_an_answer(number: signal.Signals):
    def act(pattern: Pattern) -> None:
        faulthandler.disable()  # pytest's own, which would tell of it
        os.kill(os.getpid(), number)

    answer = decided([Scripted("frail", act)])
    assert answer.status is Status.UNKNOWN
    assert answer.reason == f"its process ended unexpectedly (signal {number.name})"
    assert decided([Scripted("frail", lambda pattern: os._exit(3))]).reason == (
        "its process ended unexpectedly (status 3)"
    )


def test_out_of_memory_inside_is_a_limit():
    def act(pattern: Pattern) -> None:
        raise MemoryError

    assert decided([Scripted("full", act)]).reason == "out of memory"


class Odd(Exception):
    """Cannot be made from its arguments again."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__("odd")


@pytest.mark.parametrize("error", [WitnessRejected("step 3"), AssertionError("no"), Odd(1, 2)])
def test_internal_errors_stay_loud(error: Exception):
    def act(pattern: Pattern) -> None:
        raise error

    kind = RuntimeError if isinstance(error, Odd) else type(error)
    with pytest.raises(kind) as caught:
        decided([Scripted("wrong", act), Scripted("mule", stubborn)])
    told = str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))
    assert "in the process of engine wrong" in told and "Traceback" in told


def test_the_first_definite_answer_wins():
    for status in (Status.ABSENT, Status.PRESENT):
        answer = decided([Scripted("mule", stubborn), Scripted("shrug", lambda p: None), saying(status)])
        assert (answer.status, answer.engine) == (status, "quick")


def test_all_reasons_are_told():
    answer = decided([Scripted("one", lambda p: None), Scripted("two", lambda p: None)])
    assert answer.status is Status.UNKNOWN
    assert sorted((answer.reason or "").split("; ")) == ["one: no idea", "two: no idea"]


def test_who_answered_keeps_what_it_knows_and_who_was_busy_starts_again():
    def busy_first(pattern: Pattern) -> PatternResult | None:
        if pattern is LP:
            stubborn(pattern)
        return PatternResult(pattern, Status.ABSENT, "late", sizes={"asked": late.asked})

    late = Scripted("late", busy_first)
    quick = Scripted(
        "quick",
        lambda p: PatternResult(p, Status.ABSENT, "quick", sizes={"asked": quick.asked}) if p is LP else None,
    )
    race = Race([quick, late])
    try:
        assert race.decide(LP).engine == "quick"
        assert quick.process is not None and late.process is None
        assert quick.process(how_often_asked) == race.call(quick, how_often_asked) == 1
        second = race.decide(Pattern.LEAKING_CYCLE)
        assert (second.engine, second.sizes) == ("late", {"asked": 1})
        assert race.call(quick, how_often_asked) == 2
        assert quick.asked == late.asked == 0  # in this process
    finally:
        race.close()
    assert quick.process is None and late.process is None


def how_often_asked(engine: Scripted) -> int:
    return engine.asked


def test_a_limit_on_the_same_work_is_met_once():
    race = Race([Scripted("explicit", lambda p: None, same_work=True), saying(Status.ABSENT)])
    try:
        assert race.decide(LP).engine == "quick"
        assert race.decide(LP).engine == "quick"
    finally:
        race.close()
    explicit = Scripted("explicit", lambda p: None, same_work=True)
    race = Race([explicit])
    assert race.decide(LP).reason == race.decide(LP).reason == "no idea"
    assert explicit.process is None  # the autouse fixture sees that none is left, though nothing closed it


def test_a_call_is_limited_too():
    slow = Scripted("slow", lambda p: None)
    race = Race([slow])
    with pytest.raises(LimitReached, match="time limit reached"):
        race.call(slow, linger, Limits(deadline=time.monotonic() + 0.2))
    race.close()


def linger(engine: Engine, limits: Limits) -> None:
    time.sleep(60)


def test_a_call_may_answer_nothing_and_meet_a_limit():
    engine = saying(Status.ABSENT)
    race = Race([engine])
    try:
        assert race.decide(LP).status is Status.ABSENT
        limits = Limits(deadline=time.monotonic() + 60)
        assert race.call(engine, nothing, limits) is None
        with pytest.raises(LimitReached, match="too large"):
            race.call(engine, too_much, limits)
        assert engine.process is not None
        assert race.call(engine, how_often_asked) == 1, "it keeps what it knows"
    finally:
        race.close()


def nothing(engine: Engine, limits: Limits) -> None:
    return None


def too_much(engine: Engine, limits: Limits) -> None:
    raise LimitReached(Limit.SIZE, "too large")


# The check as a whole


@pytest.mark.parametrize("engine", ["auto", "explicit", "z3", "both"])
def test_guarded_checks_say_the_same(engine: str):
    for example in (LEAKP, generate("svt", 2), generate("u-range", 2)):
        free, guarded = (
            analysis.check(example, engine, relational=False),
            analysis.check(example, engine, timeout=60, memory=2**33, relational=False),
        )
        assert guarded.verdict is free.verdict and guarded.weight == free.weight
        assert guarded.witness == free.witness and guarded.engine == free.engine
        assert [a.status for a in guarded.details] == [a.status for a in free.details]


def test_auto_races_beyond_its_first_cap(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(processes, "cores", lambda: 2)
    monkeypatch.setattr(lineup, "FIRST_CELLS", 1)
    for example in (LEAKP, generate("pivot", 3), generate("pivot-bad", 3), generate("turing-wrap", 3)):
        result, plain = analysis.check(example), analysis.check(example, "explicit")
        assert result.verdict is plain.verdict
        best = [None if each.bounds is None else each.bounds.best for each in (result, plain)]
        assert best[0] == best[1]
        assert {a.engine for a in result.details} <= {"dataflow", "explicit", "minisat"}


def test_enumeration_that_won_gives_the_weight(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(processes, "cores", lambda: 2)
    monkeypatch.setattr(lineup, "FIRST_CELLS", 1)
    monkeypatch.setattr(lineup, "MAX_CELLS", 1)
    from symdipa.engines.symbolic import SymbolicEngine

    monkeypatch.setattr(
        SymbolicEngine,
        "decide",
        lambda self, p, limits: PatternResult(p, Status.UNKNOWN, "minisat", reason="asleep"),
    )
    example = generate("pivot", 3)
    result = analysis.check(example)
    assert result.engine == "dataflow+explicit" or result.engine == "explicit+dataflow"
    assert result.weight is not None
    assert result.weight.corollary == Problem.of(example).from_augmentation(corollary_bound)


def test_memory_too_small_for_the_enumeration(tmp_path: Path):
    """In a fresh process: this one may have grown so much that the enumeration would fit beside it."""
    file = tmp_path / "pivot.dipa"
    file.write_text(formats.dumps(generate("pivot", 16)), encoding="utf-8")
    command = [sys.executable, "-m", "symdipa", "check", "--json", "--engine", "explicit", "--memory", "100M"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([*command, str(file)], env=environment, capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout)
    assert done.returncode == 3 and answer["verdict"] == "unknown"
    assert len(answer["reasons"]) == 4
    assert all(reason.startswith("memory limit of 100 MB reached") for reason in answer["reasons"].values())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_no_process_outlives_the_command(number: signal.Signals, tmp_path: Path):
    file = tmp_path / "pivot.dipa"
    command = [sys.executable, "-m", "symdipa"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([*command, "generate", "pivot", "30", "-o", str(file)], env=environment, check=True)
    process = subprocess.Popen(
        [*command, "check", str(file)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + 60
    while len(workers := listed.read_text().split()) < 2:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    while any(_running(pid) for pid in workers):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _running(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
