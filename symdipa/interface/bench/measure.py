"""One run, ``symdipa check`` on one automaton in a process of its own, and its results."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from symdipa.interface.bench.machine import SOURCE, machine
from symdipa.interface.bench.plan import Config
from symdipa.interface.bench.process import OUT_OF_MEMORY, Ended, Process
from symdipa.interface.saving import replace_file
from symdipa.programs.loading import SUFFIXES

GRACE = 5.0
"""Seconds above its limit that a run may take to say how far it got before it is killed."""
MEMORY_GRACE = 1.1
"""The multiple of its memory limit at which a run is killed; at the limit it stops by itself."""
OUTCOMES = ("answered", "unknown", "time-out", "memory-out", "failed", "unusable", "skipped")
ANSWERED, UNKNOWN, TIME_OUT, MEMORY_OUT, FAILED, UNUSABLE, SKIPPED = OUTCOMES
LIMITS = (TIME_OUT, MEMORY_OUT)


@dataclass(frozen=True, slots=True)
class Job:
    """All that a run needs on any machine: the content of the file, and the options.

    ``program``, ``settings`` and ``claim`` are those of an :class:`~symdipa.interface.bench.plan.Item`.
    """

    id: str
    content: bytes
    fmt: str
    config: Config
    seconds: float
    memory: int
    seed: int
    program: str | None = None
    settings: tuple[str, ...] = ()
    claim: str | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """The results of a run. Times are in seconds, ``peak_mb`` in MiB; exact rationals are text. ``remark``
    explains the ``outcome``; ``bound`` is the smallest one on D, ``corollary`` the one that families
    document."""

    outcome: str
    remark: str = ""
    verdict: str | None = None
    patterns: dict[str, str] | None = None
    bound: str | None = None
    corollary: str | None = None
    seconds: float | None = None
    cpu_seconds: float | None = None
    check_seconds: float | None = None
    peak_mb: float | None = None
    exit_status: int | None = None
    started: str = ""
    machine: dict[str, Any] | None = None


def command(job: Job) -> list[str]:
    """The command of a run, without the file."""
    words = [sys.executable, "-m", "symdipa", "check", "--json", *job.config.arguments]
    words += ["--timeout", f"{job.seconds:g}", "--memory", str(job.memory)]
    words += [word for setting in job.settings for word in ("--set", setting)]
    return words + (["--max-weight", job.claim] if job.claim is not None else [])


class Started:
    """A run that has been started; :meth:`stop` ends it, or tidies up when it has ended.

    It reads an automaton from standard input, and a program from a file of its own.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.time = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        path = os.pathsep.join([str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])])
        self._folder = tempfile.TemporaryDirectory(prefix="symdipa-bench-")
        self.process = Process(
            [*command(job), *self._source()],
            {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": str(job.seed)},
            job.seconds + GRACE,
            int(job.memory * MEMORY_GRACE),
            2 * job.memory + 2**32,  # for what allocates faster than anybody can look
            job.content,
        )

    def _source(self) -> list[str]:
        """The words that name what is read."""
        if f".{self.job.fmt}" not in SUFFIXES:
            return ["--format", self.job.fmt, "-"]
        file = Path(self._folder.name, f"program.{self.job.fmt}")
        replace_file(file, self.job.content)
        return [f"{file}:{self.job.program}" if self.job.program else str(file)]

    def measured(self, ended: Ended) -> Measured:
        """What it gave."""
        return replace(judged(ended, self.job), started=self.time, machine=machine())

    def stop(self) -> None:
        self.process.stop()
        self._folder.cleanup()


def measure(job: Job) -> Measured:
    """Run to the end. Whatever the run does, this does not raise."""
    run = Started(job)
    try:
        return run.measured(run.process.wait())
    finally:
        run.stop()


def judged(ended: Ended, job: Job) -> Measured:
    """The results of a run whose process has ended."""
    answer = answer_of(ended.out)
    outcome, remark = _outcome(ended, answer, job)
    found = Measured(
        outcome,
        remark,
        seconds=round(ended.seconds, 4),
        cpu_seconds=round(ended.cpu, 4),
        peak_mb=round(ended.peak / 2**20, 1),
        exit_status=ended.status,
    )
    if answer is None or answer["verdict"] == "error":
        return found
    weight = {name: bound for name, bound in (answer["weight"] or {}).items() if bound is not None}
    best = min(weight.values(), key=Fraction, default=None)
    if answer["verdict"] == "private" and best is None and not remark:
        found = replace(found, remark="no D")
    return replace(
        found,
        verdict=answer["verdict"],
        patterns=answer["patterns"],
        bound=best,
        corollary=weight.get("corollary"),
        check_seconds=answer["seconds"],
    )


def _outcome(ended: Ended, answer: dict[str, Any] | None, job: Job) -> tuple[str, str]:
    if ended.killed == "time":
        return TIME_OUT, f"killed {GRACE:g} s after the limit"
    if ended.killed == "memory":
        return MEMORY_OUT, f"killed at {ended.held / 2**20:.0f} MB"
    if answer is None or answer["verdict"] == "error":
        if any(words in ended.out + ended.err for words in OUT_OF_MEMORY):
            return MEMORY_OUT, "out of memory"
        internal = answer is None or answer["error"].get("rule") == "internal"
        return (FAILED if internal else UNUSABLE), complaint(answer, ended.err, ended.status)
    if answer["disagreements"]:
        return FAILED, "; ".join(answer["disagreements"])
    if answer["verdict"] == "unknown":
        reasons = "; ".join(dict.fromkeys(answer["reasons"].values()))
        if "time limit" in reasons:
            return TIME_OUT, reasons
        return (MEMORY_OUT if "memory" in reasons else UNKNOWN), reasons
    return ANSWERED, ""


def answer_of(out: str) -> dict[str, Any] | None:
    """The JSON object that a process wrote, if it did."""
    try:
        answer = json.loads(out)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) and "verdict" in answer else None


def complaint(answer: dict[str, Any] | None, err: str, status: int) -> str:
    """The message of a process that failed: the error of its answer, else the last line it wrote."""
    if answer is not None:
        return str(answer["error"]["message"])[:200]
    last = "".join(err.strip().splitlines()[-1:])[:200]
    return last or (f"ended by signal {-status}" if status < 0 else f"status {status} without an answer")
