"""The history of the main rows of ``scale.py``: a line for each in a small file that is kept with the source.

Times depend on the machine, so a row is held against the last one of the same machine. It is *slower* if its
wall-clock time and its processor time have both grown by more than so many per cent: other programs stretch
the first, a rival that was ended a moment later the second. Times below :data:`SHORT` seconds count as that:
they are what starting costs on a good or a bad day.
"""

from __future__ import annotations

import csv
import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from symdipa.interface.bench.machine import machine

if TYPE_CHECKING:
    from scale import Run

COLUMNS = ("date", "revision", "machine", "family", "size", "outcome", "seconds", "cpu", "megabytes")
SHORT = 0.1

Row = dict[str, str]


def entry(runs: Iterable[Run]) -> list[Row]:
    """A row for each member: the medians of its runs."""
    members: dict[tuple[str, int], list[Run]] = {}
    for run in runs:
        members.setdefault((run.family, run.size), []).append(run)
    found = machine()
    python = ".".join(found["python"].split(".")[:2])
    here = (
        f"{found['processor']}; {found['cores']} cores; {found['memory_mb'] / 1024:.0f} GB; Python {python}"
    )
    date = time.strftime("%Y-%m-%d %H:%M")
    return [
        {
            "date": date,
            "revision": found["commit"],
            "machine": here,
            "family": family,
            "size": str(size),
            "outcome": some[-1].outcome,
            "seconds": f"{statistics.median(run.seconds for run in some):.2f}",
            "cpu": f"{statistics.median(run.cpu for run in some):.2f}",
            "megabytes": f"{statistics.median(run.megabytes for run in some):.0f}",
        }
        for (family, size), some in members.items()
    ]


def add(file: Path, rows: Sequence[Row], per_cent: float) -> list[str]:
    """Add the rows to the file; what is worse than the last time on the same machine, in words."""
    known: list[Row] = []
    if file.exists():
        with file.open(encoding="utf-8", newline="") as lines:
            known = list(csv.DictReader(lines))
    with file.open("a", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, COLUMNS, lineterminator="\n")
        if not known:
            writer.writeheader()
        writer.writerows(rows)
    last = {_place(row): row for row in known}
    return [
        words for row in rows if _place(row) in last for words in _worse(last[_place(row)], row, per_cent)
    ]


def _place(row: Row) -> tuple[str, str, str]:
    return row["machine"], row["family"], row["size"]


def _worse(old: Row, new: Row, per_cent: float) -> Iterator[str]:
    place, since = f"{new['family']} {new['size']}", f"since {old['revision']}, {old['date']}"
    if new["outcome"] != old["outcome"]:
        if old["outcome"] == "decided":
            yield f"WORSE: {place}: {new['outcome']}, was decided {since}"
        return
    factor = 1 + per_cent / 100

    def grown(column: str, least: float) -> bool:
        return float(new[column]) > factor * max(float(old[column]), least)

    if grown("seconds", SHORT) and grown("cpu", SHORT):
        cpu = f"processor {old['cpu']} to {new['cpu']} s"
        yield f"SLOWER: {place}: {old['seconds']} to {new['seconds']} s ({cpu}) {since}"
    if grown("megabytes", 1):
        yield f"LARGER: {place}: {old['megabytes']} MB to {new['megabytes']} MB {since}"
