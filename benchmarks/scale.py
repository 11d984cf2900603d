"""How far does each engine get? Whole `check` processes on growing members of the families, side by side.

Usage: ``python benchmarks/scale.py --before HEAD~20 --docs docs/scaling.md --history benchmarks/history.csv``

Every measurement is one ``python -m symdipa check`` in a process of its own, from start-up to exit, on a
``.dipa`` file. Engines are columns: ``auto``, ``explicit``, ``z3``, and ``z3:minisat`` for ``--engine z3
--solver minisat`` (and so on), and ``abc`` where Debian's ``berkeley-abc`` is installed: its ``pdr`` on the
AIGER of what our dataflow leaves open (``abc_reference.py --check``), as a reference. Where that is nothing,
ABC does not run ("not asked"); ``abc:whole`` asks it about the whole system. Both count from the start-up of
Python on, as ours do, but they decide the patterns only: neither D nor the other reading of stops. All take
turns within each repetition, so that a busy machine is busy for all of them. Shown are the medians of the
wall-clock time (``--cpu``: of the processor time, which other programs disturb less) and of the peak resident
memory (that of the largest process, if there are several). The compiled bytecode of both trees is there
before anything is measured. What doubling the number costs is said below: ``--families k-minmax --sizes
1000,2000,4000 --engines auto,abc,abc:whole`` measures that.

``--before REVISION`` checks that out into a folder of its own and has it take turns with the present tree,
for the engines that are ``--compared``; cells are ``before → now``. ``--docs FILE`` puts what is printed
between the two comments in FILE that say so. ``--history FILE`` adds the main rows (:data:`MAIN`; ``--main``
measures only these) with ``auto`` to a file and says which have become slower or larger since the last time
on the same machine.

A process gets ``--timeout LIMIT`` and is killed when it ignores that, and may use ``--memory`` GB of address
space. Runs that reach a limit are shown as such and not repeated, and larger members of the family are not
tried with that engine (``-``); runs of more than :data:`LONG` seconds are not repeated. Where the answer is
private but no bound on D came with it, the cell says "no D". Answers are compared with what the family
documents: a wrong one is shown, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import history  # noqa: E402
from abc_reference import program  # noqa: E402

from symdipa.files import formats  # noqa: E402
from symdipa.files.families import FAMILIES, Family, generate  # noqa: E402
from symdipa.interface.bench.machine import described, load, machine  # noqa: E402
from symdipa.interface.bench.measure import answer_of  # noqa: E402
from symdipa.interface.bench.plan import documented  # noqa: E402
from symdipa.interface.bench.process import OUT_OF_MEMORY, Process  # noqa: E402

ABC = "abc"
WHOLE = "abc:whole"
ENGINES = ("auto", "explicit", "z3", "z3:minisat", *([ABC, WHOLE] if program() else []))
COMPARED = ("auto", "z3:minisat")
"""The engines that are measured before and now."""
NOT_ASKED = "not asked"
"""The remark where the dataflow left nothing to ABC."""
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
MAIN: dict[str, tuple[int, ...]] = {
    "m-range": (40, 1000),
    "k-minmax": (2000,),
    "svt": (1000,),
    "u-range": (20, 100),
    **dict.fromkeys(("pivot", "bracket", "running-max"), (16, 32)),
    **dict.fromkeys(("pivot-bad", "bracket-bad", "running-max-bad", "parity-bad"), (32,)),
    "parity": (16,),
    **dict.fromkeys(("turing-overflow", "turing-wrap", "turing-odd"), (8,)),
}
"""The rows of which a history is kept."""
BEGIN, END = "<!-- benchmarks/scale.py: from here -->", "<!-- benchmarks/scale.py: to here -->"
LONG = 5.0
"""Runs of so many seconds are not repeated."""
GRACE = 5.0
"""So many seconds above the limit a process may take to come to its end before it is killed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """For one process: seconds, and gigabytes of address space."""

    seconds: float
    memory: float


@dataclass(frozen=True, slots=True)
class Run:
    """One process. ``outcome`` is ``"decided"``, or why there is no answer; ``remark`` stands beside it.

    ``before``: it ran on the tree that the present one is compared with.
    """

    family: str
    size: int
    engine: str
    before: bool
    outcome: str
    remark: str
    seconds: float
    cpu: float
    megabytes: float


# ------------------------------------------------------------------------------------------ one process


def measure(
    family: Family, size: int, engine: str, file: Path, limits: Limits, before: Path | None = None
) -> Run:
    """Run ``check`` once, of the tree ``before`` or of this one. Never raises for what the process does."""
    name, _, solver = engine.partition(":")
    seconds = f"{limits.seconds:g}"
    if name == ABC:
        reference = str(ROOT / "benchmarks" / "abc_reference.py")
        command = [sys.executable, reference, *(["--whole"] if solver else []), "--limit", seconds, "--check"]
    else:
        command = [sys.executable, "-m", "symdipa", "check", "--json", "--engine", name]
        command += [*(["--solver", solver] if solver else []), "--timeout", seconds]
    command.append(str(file))
    environment = {**os.environ, "PYTHONPATH": str(before or ROOT), "PYTHONSAFEPATH": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    space = int(limits.memory * 2**30)
    ended = Process(command, environment, limits.seconds + GRACE, address_space=space).wait()
    killed = ended.killed == "time"
    outcome, remark = _judged(family, engine, ended.status, killed, ended.out, ended.err, limits)
    megabytes = ended.peak / 2**20
    place = family.name, size, engine, before is not None
    return Run(*place, outcome, remark, ended.seconds, ended.cpu, megabytes)


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
    if engine.startswith(ABC):
        return "decided", "" if answer["asked"] else NOT_ASKED
    return "decided", "no D" if answer["verdict"] == "private" and not answer["weight"] else ""


def _complaint(answer: dict[str, Any] | None, err: str) -> str:
    """The message of a process that failed: the error of its answer, else the last line it wrote."""
    if answer is not None:
        return str(answer["error"]["message"])[:200]
    return "".join(err.strip().splitlines()[-1:])[:200]


# ------------------------------------------------------------------------------------------- the sweep


@contextmanager
def checked_out(revision: str | None) -> Iterator[Path | None]:
    """A tree of its own with that revision, compiled, as long as the context lasts."""
    if revision is None:
        yield None
        return
    git = ["git", "-C", str(ROOT), "worktree"]
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "before"
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), revision], check=True)
        try:
            compiled(tree)
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def compiled(tree: Path) -> None:
    """Compile what is measured: otherwise its first run would do that, or all if they may not write."""
    compileall.compile_dir(tree / "symdipa", quiet=2)
    compileall.compile_dir(tree / "encodings", quiet=2)


def sweep(
    sizes: dict[str, tuple[int, ...]],
    engines: Sequence[str],
    limits: Limits,
    repeat: int,
    before: Path | None = None,
    compared: Sequence[str] = COMPARED,
) -> Iterator[Run]:
    """Every process in turn; what reached a limit is not tried again, nor with larger members.

    The ``compared`` engines run in the tree ``before`` as well.
    """
    both = [before, None] if before is not None else [None]
    turns = [(engine, tree) for engine in engines for tree in (both if engine in compared else [None])]
    with tempfile.TemporaryDirectory() as folder:
        for name, numbers in sizes.items():
            alive = list(turns)
            for size in numbers:
                file = Path(folder) / f"{name}-{size}.dipa"
                file.write_text(formats.dumps(generate(name, size)), encoding="utf-8")
                again = list(alive)
                for _ in range(repeat):
                    for turn in list(again):
                        engine, tree = turn
                        run = measure(FAMILIES[name], size, engine, file, limits, tree)
                        if run.outcome not in ("decided", "WRONG"):
                            alive.remove(turn)
                        if turn not in alive or run.seconds > LONG:
                            again.remove(turn)
                        yield run
                file.unlink()


# ------------------------------------------------------------------------------------------- the report


@dataclass(frozen=True, slots=True)
class Report:
    """What is told of the runs. ``cpu``: times are those of the processor."""

    runs: Sequence[Run]
    engines: Sequence[str]
    cpu: bool = False

    def members(self) -> list[tuple[str, int]]:
        return list(dict.fromkeys((run.family, run.size) for run in self.runs))

    def of(self, family: str, size: int, engine: str, before: bool = False) -> list[Run]:
        place = family, size, engine, before
        return [run for run in self.runs if (run.family, run.size, run.engine, run.before) == place]

    def seconds(self, runs: Sequence[Run]) -> float | None:
        """The median of their times; ``None`` if there is one that has not decided."""
        if not runs or any(run.outcome != "decided" for run in runs):
            return None
        return statistics.median(run.cpu if self.cpu else run.seconds for run in runs)

    def table(self) -> Iterator[str]:
        """A line for each member: seconds and megabytes of each engine."""
        yield "| family, N | orders | " + " | ".join(map(_title, self.engines)) + " |"
        yield "|---|--:|" + "--:|" * len(self.engines)
        for family, size in self.members():
            orders = _number(FAMILIES[family].nodes(size))
            cells = [self._cell(family, size, engine) for engine in self.engines]
            yield f"| {family} {size} | {orders} | " + " | ".join(cells) + " |"

    def _cell(self, family: str, size: int, engine: str) -> str:
        old, new = (self.of(family, size, engine, before) for before in (True, False))
        if not new and not old:
            return "-"
        memory = f"{statistics.median(run.megabytes for run in new or old):.0f} MB"
        if not any(run.before and run.engine == engine for run in self.runs):
            return f"{self._time(new)}, {memory}"
        before, now = self.seconds(old), self.seconds(new)
        ratio = f" ({before / now:.1f}x)" if before and now else ""
        return f"{self._time(old)} → {self._time(new)}{ratio}, {memory}"

    def _time(self, runs: Sequence[Run]) -> str:
        taken = self.seconds(runs)
        if taken is None:
            return runs[-1].outcome if runs else "-"
        return f"{taken:.2f}" + (f" {runs[-1].remark}" if runs[-1].remark else "")

    def growth(self) -> Iterator[str]:
        """What doubling a number costs the first engine, where both members take long enough to tell."""
        engine = self.engines[0]
        times = {member: self.seconds(self.of(*member, engine)) for member in self.members()}
        for (family, size), taken in times.items():
            twice = times.get((family, 2 * size))
            if taken and twice and taken > 0.2:
                yield f"{family} {size} to {2 * size}, {engine}: x {twice / taken:.1f}"

    def behind(self) -> Iterator[str]:
        """The members that ABC decides before ``auto`` does, both from start-up to exit.

        Where the dataflow leaves nothing to it, it is asked about the whole system.
        """
        for family, size in self.members():
            theirs = self.of(family, size, ABC)
            if any(run.remark == NOT_ASKED for run in theirs):
                theirs = self.of(family, size, WHOLE)
            ours, abc = self.seconds(self.of(family, size, "auto")), self.seconds(theirs)
            if abc is not None and (ours is None or ours > abc):
                yield f"{family} {size} ({'open' if ours is None else f'{ours:.2f}'} and {abc:.2f})"

    def text(self, surroundings: str) -> str:
        """The table and what follows from it."""
        paragraphs = ["\n".join(self.table()), surroundings]
        if {"auto", ABC} <= set(self.engines):
            paragraphs.append(f"Slower than ABC with `auto`: {'; '.join(self.behind()) or 'none'}.")
        if grown := list(self.growth()):
            paragraphs.append(f"Doubling N: {'; '.join(grown)}.")
        return "\n\n".join(paragraphs)


def _title(engine: str) -> str:
    name, _, solver = engine.partition(":")
    if name == ABC:
        return "ABC `pdr`" + (", whole system" if solver else "")
    return f"`{name}`" + (f" on {solver}" if solver else "")


def _number(n: int) -> str:
    return str(n) if n < 10**6 else f"{n:.1e}" if n < 10**300 else f"10^{len(str(n)) - 1}"


def surroundings(options: argparse.Namespace) -> str:
    """The line that says on what this ran."""
    found = {**machine(), "system": platform.system()}
    return (
        f"{described(found)}; load {load() or 0:.1f}; limits {options.limit:g} s, {options.memory:g} GB; "
        f"{'medians of ' + str(options.repeat) if options.repeat > 1 else 'one run each'}; "
        f"{'processor time; ' if options.cpu else ''}"
        f"{'before: ' + options.before + '; ' if options.before else ''}{time.strftime('%Y-%m-%d')}"
    )


def put_into(file: Path, text: str) -> None:
    """Put the text between the two comments of a page."""
    page = file.read_text(encoding="utf-8")
    above, rest = page.split(BEGIN + "\n", 1)
    _, below = rest.split(END, 1)
    file.write_text(f"{above}{BEGIN}\n\n{text}\n\n{END}{below}", encoding="utf-8")


# ------------------------------------------------------------------------------------------ the command


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--families", help="comma-separated; default: all")
    add("--sizes", help="comma-separated numbers for each of the families instead of the listed ones")
    add("--engines", help="comma-separated, as z3:SOLVER for a solver")
    add("--solver", help="the same as z3:SOLVER as a further engine")
    add("--limit", type=float, metavar="SECONDS", help="for one process; default 60, quick 10")
    add("--memory", type=float, default=8.0, metavar="GB", help="address space of one process")
    add("--repeat", type=int, metavar="N", help="runs of each; default 3, quick 1")
    add("--quick", action="store_true", help="small members, once")
    add("--main", action="store_true", help="the rows of the history only, with auto")
    add("--cpu", action="store_true", help="show processor time")
    add("--before", metavar="REVISION", help="also measure this revision, in turn with the present tree")
    add(
        "--compared",
        default=",".join(COMPARED),
        metavar="ENGINES",
        help="with which engines; default: %(default)s",
    )
    add("--docs", type=Path, metavar="FILE", help="put the table into this page")
    add(
        "--history",
        type=Path,
        metavar="FILE",
        help="add the main rows, and say which are worse than the last",
    )
    add("--worse", type=float, default=25.0, metavar="PERCENT", help="by how much; default 25")
    add("--raw", type=Path, metavar="FILE", help="also write every run as a line of JSON")
    options = parser.parse_args(words)
    if options.before:
        git = ["git", "-C", str(ROOT), "rev-parse", "--short", f"{options.before}^{{commit}}"]
        found = subprocess.run(git, capture_output=True, text=True, check=False)
        if found.returncode:
            parser.error(f"no revision {options.before}")
        options.before = found.stdout.strip()
    options.limit = options.limit or (10.0 if options.quick else 60.0)
    options.repeat = options.repeat or (1 if options.quick else 3)
    listed = MAIN if options.main else QUICK if options.quick else SIZES
    options.engines = [name for name in (options.engines or "").split(",") if name]
    options.engines = options.engines or (["auto"] if options.main else list(ENGINES))
    if options.solver and f"z3:{options.solver}" not in options.engines:
        options.engines.append(f"z3:{options.solver}")
    names = options.families.split(",") if options.families else list(FAMILIES)
    if unknown := [name for name in names if name not in FAMILIES]:
        parser.error(f"no family {unknown[0]}; there are {', '.join(FAMILIES)}")
    if options.docs and not all(mark in options.docs.read_text(encoding="utf-8") for mark in (BEGIN, END)):
        parser.error(f"{options.docs} has no lines {BEGIN} and {END}")
    numbers = tuple(map(int, options.sizes.split(","))) if options.sizes else None
    options.sizes = {name: numbers or listed[name] for name in names}
    return options


def main(words: Sequence[str] | None = None) -> int:
    options = arguments(words)
    limits = Limits(options.limit, options.memory)
    line = surroundings(options)
    runs: list[Run] = []
    compiled(ROOT)
    with checked_out(options.before) as before:
        try:
            compared = options.compared.split(",")
            for run in sweep(options.sizes, options.engines, limits, options.repeat, before, compared):
                runs.append(run)
                told = f"{run.family} {run.size} {run.engine}{' before' if run.before else ''}: {run.outcome}"
                print(f"{told} {run.seconds:.2f} s {run.remark}".rstrip(), file=sys.stderr, flush=True)
                if options.raw:
                    with options.raw.open("a", encoding="utf-8") as raw:
                        raw.write(json.dumps(asdict(run)) + "\n")
        except KeyboardInterrupt:
            print("interrupted; this is what there is", file=sys.stderr)
    report = Report(runs, options.engines, options.cpu)
    text = report.text(line)
    print(text)
    remarks = {(r.family, r.size, r.engine, r.before): r for r in runs if r.outcome != "decided"}
    for run in remarks.values():
        print(f"* {run.family} {run.size} {run.engine}: {run.outcome}: {run.remark or 'no more is known'}")
    if options.docs:
        put_into(options.docs, text)
    if options.history:
        kept = [r for r in runs if r.engine == "auto" and not r.before and r.size in MAIN[r.family]]
        for worse in history.add(options.history, history.entry(kept), options.worse):
            print(worse)
    return int(any(run.outcome == "WRONG" for run in runs))


if __name__ == "__main__":
    sys.exit(main())
