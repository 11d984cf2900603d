"""How far does each engine get? Whole `check` processes on growing members of the families, side by side.

Usage: ``python benchmarks/scale.py --families pivot,bracket-bad --limit 60 --repeat 3``

Every measurement is one ``python -m symdipa check`` in a process of its own, from start-up to exit, on a
``.dipa`` file. Engines are columns: ``auto``, ``explicit``, ``z3``, and ``z3:minisat`` for ``--engine z3
--solver minisat`` (and so on), and ``abc`` where Debian's ``berkeley-abc`` is installed: its ``pdr`` on the
AIGER of what our dataflow leaves open (``abc_reference.py --check``), as a reference. Where that is
nothing, ABC does not run; ``abc:whole`` asks it about the whole system. The engines take turns within each
repetition, so that a busy machine is busy for all of them. Shown are the medians of the wall-clock time and
of the peak resident memory (that of the largest process, if there are several). What doubling the number
costs is said below: ``--families k-minmax --sizes 1000,2000,4000 --engines auto,abc,abc:whole`` measures
that.

A process gets ``--timeout LIMIT`` and is killed when it ignores that, and may use ``--memory`` GB of address
space. Runs that reach a limit are shown as such and not repeated, and larger members of the family are not
tried with that engine (``-``). Where the answer is private but no bound on D came with it, the cell says
"no D". Answers are compared with what the family documents: a wrong one is shown, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from abc_reference import program  # noqa: E402

from symdipa.files import formats  # noqa: E402
from symdipa.files.families import FAMILIES, Family, generate  # noqa: E402
from symdipa.interface.bench.machine import described, load, machine  # noqa: E402
from symdipa.interface.bench.measure import answer_of  # noqa: E402
from symdipa.interface.bench.plan import documented  # noqa: E402
from symdipa.interface.bench.process import OUT_OF_MEMORY, Process  # noqa: E402

ABC = "abc"
ENGINES = ("auto", "explicit", "z3", "z3:minisat", *([ABC] if program() else []))
HARD = (8, 16, 24, 32)
SIZES: dict[str, tuple[int, ...]] = {
    "m-range": (40, 80, 500, 1000),
    "k-minmax": (200, 2000),
    "svt": (1000,),
    "u-range": (5, 10, 20, 100),
    "pivot": HARD,
    "pivot-bad": HARD,
    "bracket": HARD,
    "bracket-bad": HARD,
    "running-max": HARD,
    "running-max-bad": HARD,
    "parity": (4, 8, 12, 16),
    "parity-bad": (4, 8, 16, 32),
    "turing-overflow": (2, 4, 6, 8, 12, 16),
    "turing-wrap": (2, 4, 6, 8, 12, 16),
    "turing-odd": (2, 4, 6, 8, 12, 16),
}
QUICK: dict[str, tuple[int, ...]] = {
    "m-range": (10, 40),
    "k-minmax": (200,),
    "svt": (100,),
    "u-range": (4, 8),
    **dict.fromkeys(
        ("pivot", "bracket", "running-max", "pivot-bad", "bracket-bad", "running-max-bad"), (4, 8)
    ),
    **dict.fromkeys(("parity", "parity-bad", "turing-overflow", "turing-wrap", "turing-odd"), (2, 4)),
}
GRACE = 5.0
"""So many seconds above the limit a process may take to come to its end before it is killed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """For one process: seconds, and gigabytes of address space."""

    seconds: float
    memory: float


@dataclass(frozen=True, slots=True)
class Run:
    """One process. ``outcome`` is ``"decided"``, or why there is no answer; ``remark`` stands beside it."""

    family: str
    size: int
    engine: str
    outcome: str
    remark: str
    seconds: float
    cpu: float
    megabytes: float


# ------------------------------------------------------------------------------------------ one process


def measure(family: Family, size: int, engine: str, file: Path, limits: Limits) -> Run:
    """Run ``check`` once. Never raises for what the process does."""
    name, _, solver = engine.partition(":")
    seconds = f"{limits.seconds:g}"
    if name == ABC:
        reference = str(ROOT / "benchmarks" / "abc_reference.py")
        command = [sys.executable, reference, *(["--whole"] if solver else []), "--limit", seconds, "--check"]
    else:
        command = [sys.executable, "-m", "symdipa", "check", "--json", "--engine", name]
        command += [*(["--solver", solver] if solver else []), "--timeout", seconds]
    command.append(str(file))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    space = int(limits.memory * 2**30)
    ended = Process(command, environment, limits.seconds + GRACE, address_space=space).wait()
    killed = ended.killed == "time"
    outcome, remark = _judged(family, engine, ended.status, killed, ended.out, ended.err, limits)
    megabytes = ended.peak / 2**20
    return Run(family.name, size, engine, outcome, remark, ended.seconds, ended.cpu, megabytes)


def _judged(
    family: Family, engine: str, status: int, killed: bool, out: str, err: str, limits: Limits
) -> tuple[str, str]:
    """What came out of a process, and a remark on it."""
    if killed:
        return f"> {limits.seconds:g} s", "killed"
    answer = answer_of(out)
    if answer is None or answer["verdict"] == "error":
        if any(words in out + err for words in OUT_OF_MEMORY):
            return f"> {limits.memory:g} GB", "out of memory"
        return f"failed ({status})", _complaint(answer, err)
    if wrong := documented(family).contradicted_by(answer["patterns"], answer["verdict"], None):
        return "WRONG", wrong
    if answer["verdict"] == "unknown":
        reasons = "; ".join(dict.fromkeys(answer.get("reasons", {}).values()))
        late = "time limit" in reasons
        return f"> {limits.seconds:g} s" if late else "unknown", reasons
    has_bound = answer["verdict"] != "private" or answer["weight"] or engine.startswith(ABC)
    return "decided", "" if has_bound else "no D"


def _complaint(answer: dict[str, Any] | None, err: str) -> str:
    """The message of a process that failed: the error of its answer, else the last line it wrote."""
    if answer is not None:
        return str(answer["error"]["message"])[:200]
    return "".join(err.strip().splitlines()[-1:])[:200]


# ------------------------------------------------------------------------------------------- the sweep


def sweep(
    sizes: dict[str, tuple[int, ...]], engines: Sequence[str], limits: Limits, repeat: int
) -> Iterator[Run]:
    """Every process in turn; what reached a limit is not tried again, nor with larger members."""
    with tempfile.TemporaryDirectory() as folder:
        for name, numbers in sizes.items():
            alive = list(engines)
            for size in numbers:
                file = Path(folder) / f"{name}-{size}.dipa"
                file.write_text(formats.dumps(generate(name, size)), encoding="utf-8")
                for _ in range(repeat):
                    for engine in list(alive):
                        run = measure(FAMILIES[name], size, engine, file, limits)
                        if run.outcome not in ("decided", "WRONG"):
                            alive.remove(engine)
                        yield run
                file.unlink()


# ------------------------------------------------------------------------------------------- the report


def table(runs: Sequence[Run], engines: Sequence[str]) -> Iterator[str]:
    """A line for each member: seconds and megabytes of each engine."""
    yield "| family | N | augmented states | " + " | ".join(_title(engine) for engine in engines) + " |"
    yield "|---|--:|--:|" + "--:|" * len(engines)
    for family, size in dict.fromkeys((run.family, run.size) for run in runs):
        here = [run for run in runs if (run.family, run.size) == (family, size)]
        cells = [_cell([run for run in here if run.engine == engine]) for engine in engines]
        nodes = _number(FAMILIES[family].nodes(size))
        yield f"| {family} | {size} | {nodes} | " + " | ".join(cells) + " |"


def _title(engine: str) -> str:
    name, _, solver = engine.partition(":")
    if name == ABC:
        return "ABC `pdr`" + (", whole system" if solver else "")
    return f"`{name}`" + (f" on {solver}" if solver else "")


def _cell(runs: Sequence[Run]) -> str:
    if not runs:
        return "-"
    last = runs[-1]
    memory = f"{statistics.median(run.megabytes for run in runs):.0f} MB"
    if last.outcome != "decided":
        return f"{last.outcome}, {memory}"
    time_taken = f"{statistics.median(run.seconds for run in runs):.2f} s"
    return ", ".join([time_taken, memory, *([last.remark] if last.remark else [])])


def _number(n: int) -> str:
    return str(n) if n < 10**6 else f"{n:.1e}" if n < 10**300 else f"10^{len(str(n)) - 1}"


def growth(runs: Sequence[Run], engines: Sequence[str]) -> Iterator[str]:
    """What doubling a number costs, where both members take long enough to tell."""
    for family in dict.fromkeys(run.family for run in runs):
        for engine in engines:
            times: dict[int, list[float]] = {}
            for run in runs:
                if (run.family, run.engine, run.outcome) == (family, engine, "decided"):
                    times.setdefault(run.size, []).append(run.seconds)
            medians = {size: statistics.median(values) for size, values in times.items()}
            for size, seconds in medians.items():
                if 2 * size in medians and seconds > 0.2:
                    yield f"{family} {size} to {2 * size}, {engine}: x {medians[2 * size] / seconds:.1f}"


def surroundings(limits: Limits, repeat: int) -> str:
    """The line that says on what this ran."""
    return (
        f"{described(machine())}; load {load() or 0:.1f}; limits {limits.seconds:g} s, {limits.memory:g} GB; "
        f"{'medians of ' + str(repeat) if repeat > 1 else 'one run each'}; {time.strftime('%Y-%m-%d')}"
    )


# ------------------------------------------------------------------------------------------ the command


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--families", help="comma-separated; default: all")
    add("--sizes", help="comma-separated numbers for each of the families instead of the listed ones")
    add("--engines", default=",".join(ENGINES), help="comma-separated, as z3:SOLVER for a solver")
    add("--solver", help="the same as z3:SOLVER as a further engine")
    add("--limit", type=float, metavar="SECONDS", help="for one process; default 60, quick 10")
    add("--memory", type=float, default=8.0, metavar="GB", help="address space of one process")
    add("--repeat", type=int, metavar="N", help="runs of each; default 3, quick 1")
    add("--quick", action="store_true", help="small members, once")
    add("--raw", type=Path, metavar="FILE", help="also write every run as a line of JSON")
    options = parser.parse_args(words)
    options.limit = options.limit or (10.0 if options.quick else 60.0)
    options.repeat = options.repeat or (1 if options.quick else 3)
    options.engines = [name for name in options.engines.split(",") if name]
    if options.solver and f"z3:{options.solver}" not in options.engines:
        options.engines.append(f"z3:{options.solver}")
    names = options.families.split(",") if options.families else list(FAMILIES)
    if unknown := [name for name in names if name not in FAMILIES]:
        parser.error(f"no family {unknown[0]}; there are {', '.join(FAMILIES)}")
    listed = QUICK if options.quick else SIZES
    numbers = tuple(map(int, options.sizes.split(","))) if options.sizes else None
    options.sizes = {name: numbers or listed[name] for name in names}
    return options


def main(words: Sequence[str] | None = None) -> int:
    options = arguments(words)
    limits = Limits(options.limit, options.memory)
    line = surroundings(limits, options.repeat)
    runs: list[Run] = []
    try:
        for run in sweep(options.sizes, options.engines, limits, options.repeat):
            runs.append(run)
            told = f"{run.family} {run.size} {run.engine}: {run.outcome} {run.seconds:.2f} s {run.remark}"
            print(told.rstrip(), file=sys.stderr, flush=True)
            if options.raw:
                with options.raw.open("a", encoding="utf-8") as raw:
                    raw.write(json.dumps(asdict(run)) + "\n")
    except KeyboardInterrupt:
        print("interrupted; this is what there is", file=sys.stderr)
    print("\n".join(table(runs, options.engines)))
    print(f"\n{line}")
    if grown := list(growth(runs, options.engines)):
        print("\nDoubling: " + "; ".join(grown))
    remarks = {(run.family, run.size, run.engine): run for run in runs if run.outcome != "decided"}
    for run in remarks.values():
        print(f"* {run.family} {run.size} {run.engine}: {run.outcome}: {run.remark or 'no more is known'}")
    return int(any(run.outcome == "WRONG" for run in runs))


if __name__ == "__main__":
    sys.exit(main())
