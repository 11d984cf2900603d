"""How far does the alignment bound get? Time, memory and growth by doubling, on members of the families.

Usage: ``python benchmarks/weights.py`` or ``python benchmarks/weights.py --only k-minmax --limit 120``

Every measurement is a process of its own. First the whole command: ``symdipa weight`` on a file, with the
check, the bounds from above and from below. Then alignment alone on named graphs: building the graph and its
lift, the linear program, the exact proof. Shown are the sizes, the seconds (of each part; medians of
``--repeat`` processes), the peak resident memory, and by what factor time grew since the line before (2 is
linear growth where the number doubles). Bounds are compared with what is known: a wrong one is shown, and the
exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from symdipa.bounds.alignment.graphs import Cover, augmentation_cover, control_cover, eq_cover, marked_cover  # noqa: E402
from symdipa.bounds.alignment.lifts import lift  # noqa: E402
from symdipa.bounds.alignment.linear import solve  # noqa: E402
from symdipa.bounds.alignment.parts import Parted, parted  # noqa: E402
from symdipa.bounds.alignment.program import Program, intervals, points  # noqa: E402
from symdipa.bounds.alignment.rounding import rounded  # noqa: E402
from symdipa.files.families import generate  # noqa: E402
from symdipa.files.formats import dumps  # noqa: E402
from symdipa.runs.augmentation import augment  # noqa: E402
from symdipa.runs.control import Control, control_graph  # noqa: E402


@dataclass(frozen=True)
class Series:
    """One family on one graph, for growing numbers."""

    family: str
    graph: str
    lift: str
    wide: bool
    numbers: tuple[int, ...]
    bound: Callable[[int], Fraction]


def minmax(k: int) -> Fraction:
    """Half of the differences up, half down; so an odd number is a little cheaper."""
    return Fraction(k + 2 - k % 2, 4 * k) + Fraction(1, 2)


def turing(n: int) -> Fraction:
    return Fraction(5 * 2 ** (n - 1) + n, 4) - 1


SERIES = (
    Series("m-range", "control", "", False, (625, 1250, 2500, 5000), lambda _: Fraction(1)),
    Series("m-range", "control", "", True, (625, 1250, 2500, 5000), lambda _: Fraction(1)),
    Series("svt", "control", "", False, (1250, 2500, 5000), lambda _: Fraction(5, 4)),
    Series("k-minmax", "eq", "C", True, (250, 500, 1000, 2000), minmax),
    Series("k-minmax", "eq", "CK", True, (50, 100, 200), minmax),
    Series("k-minmax", "augmentation", "LG", False, (250, 500, 1000), minmax),
    Series("pivot", "augmentation", "", True, (8, 9, 10), lambda _: Fraction(1)),
    Series("pivot", "parts", "", True, (16, 32, 64, 128), lambda _: Fraction(1)),
    Series("bracket", "parts", "", True, (16, 32, 64, 128), lambda _: Fraction(5, 4)),
    Series("u-range", "parts", "C", True, (25, 50, 100), lambda _: Fraction(1)),
    Series("turing-odd", "augmentation", "", True, (6, 7, 8), turing),
)


@dataclass(frozen=True)
class Whole:
    """``symdipa weight`` on one family, for growing numbers."""

    family: str
    numbers: tuple[int, ...]
    bound: Callable[[int], Fraction]


WHOLE = (
    Whole("m-range", (125, 250, 500, 1000, 2000), lambda _: Fraction(1)),
    Whole("k-minmax", (125, 250, 500, 1000, 2000), minmax),
    Whole("svt", (125, 250, 500, 1000), lambda _: Fraction(5, 4)),
)


def cover_of(control: Control, graph: str, letters: str) -> Cover:
    if graph == "control":
        return control_cover(control)
    if graph == "eq":
        return eq_cover(control)
    cover = augmentation_cover(augment(control))
    return marked_cover(cover) if "L" in letters else cover


def measure(family: str, number: int, graph: str, letters: str, wide: bool) -> dict[str, Any]:
    """One proof, and what it took (the automaton itself is not counted)."""
    control = control_graph(generate(family, number))
    times = [perf_counter()]
    program: Program | Parted
    if graph == "parts":
        program = parted(control, letters, wide)
    else:
        program = (intervals if wide else points)(lift(cover_of(control, graph, letters), letters))
    times.append(perf_counter())
    low, high = Fraction(-1), Fraction(1)
    floats = solve(program.constraints, low, high)
    times.append(perf_counter())
    solution = floats and rounded(program.constraints, *floats, low, high)
    times.append(perf_counter())
    return {
        "nodes": program.nodes,
        "unknowns": program.constraints.unknowns,
        "bound": str(solution.bound) if solution else None,
        "seconds": [after - before for before, after in pairwise(times)],
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def command(family: str, number: int) -> dict[str, Any]:
    """What ``symdipa weight`` says of a file, and what it took, start-up included."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "automaton.dipa"
        file.write_text(dumps(generate(family, number)), encoding="utf-8")
        began = perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "symdipa", "weight", "--json", str(file)],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        )
        seconds = perf_counter() - began
    bounds = {name: Fraction(bound) for name, bound in json.loads(done.stdout)["bounds"].items() if bound}
    lower = bounds.pop("lower", None)
    return {
        "bound": str(min(bounds.values(), default=None)),
        "lower": str(lower),
        "seconds": [seconds],
        "megabytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
    }


def measured(one: Sequence[object], limit: float) -> dict[str, Any] | None:
    """A measurement in a process of its own; ``None`` if it takes longer than ``limit`` seconds."""
    command = [sys.executable, __file__, "--one", *map(str, one)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=True)
    except subprocess.TimeoutExpired:
        return None
    return dict(json.loads(done.stdout))


def doubled(
    numbers: Sequence[int],
    one: Callable[[int], Sequence[object]],
    bound: Callable[[int], Fraction],
    columns: Sequence[str],
    repeat: int,
    limit: float,
) -> bool:
    """The lines of a table; whether all bounds are right."""
    right, before = True, None
    for number in numbers:
        found = [measured(one(number), limit) for _ in range(repeat)]
        rows = [row for row in found if row is not None]
        if len(rows) < len(found):
            print(f"{number:>6}  more than {limit} s", flush=True)
            break
        parts = [statistics.median(times) for times in zip(*(row["seconds"] for row in rows), strict=True)]
        total = sum(parts)
        growth = f"{total / before:.1f}" if before else ""
        before = total
        row, expected = rows[0], str(bound(number))
        good = row["bound"] == row.get("lower", expected) == expected
        right = right and good
        sizes = "".join(f" {row[column]:>8}" for column in columns)
        seconds = "".join(f" {part:>7.2f}" for part in parts)
        memory = statistics.median(row["megabytes"] for row in rows)
        wrong = "" if good else f"  WRONG, not {expected} (from below {row.get('lower')})"
        print(f"{number:>6}{sizes}{seconds} {growth:>6} {memory:>5.0f}  {row['bound']}{wrong}", flush=True)
    return right


def show_whole(whole: Whole, repeat: int, limit: float) -> bool:
    print(f"\nsymdipa weight, {whole.family}")
    print(f"{'n':>6} {'seconds':>7} {'growth':>6} {'MB':>5}  D")
    return doubled(whole.numbers, lambda n: (whole.family, n), whole.bound, (), repeat, limit)


def show(series: Series, repeat: int, limit: float) -> bool:
    shifts = "intervals" if series.wide else "points"
    print(f"\n{series.family} on {series.graph}, lift {series.lift or '-'}, {shifts}")
    print(
        f"{'n':>6} {'nodes':>8} {'unknowns':>8} {'build':>7} {'solve':>7} {'prove':>7}"
        f" {'growth':>6} {'MB':>5}  D"
    )
    return doubled(
        series.numbers,
        lambda n: (series.family, n, series.graph, series.lift, int(series.wide)),
        series.bound,
        ("nodes", "unknowns"),
        repeat,
        limit,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", help="one family")
    parser.add_argument("--repeat", type=int, default=1, help="processes for each measurement")
    parser.add_argument("--limit", type=float, default=120, help="seconds for one process")
    parser.add_argument("--one", nargs="+", help="(inside)")
    chosen = parser.parse_args(arguments)
    if chosen.one:
        family, number, *how = chosen.one
        if how:
            graph, letters, wide = how
            print(json.dumps(measure(family, int(number), graph, letters, wide == "1")))
        else:
            print(json.dumps(command(family, int(number))))
        return 0
    results = [
        show_whole(whole, chosen.repeat, chosen.limit)
        for whole in WHOLE
        if chosen.only in (None, whole.family)
    ]
    results += [
        show(series, chosen.repeat, chosen.limit) for series in SERIES if chosen.only in (None, series.family)
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
