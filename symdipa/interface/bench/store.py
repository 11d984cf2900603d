"""A folder of results.

``sweep.json`` holds the settings, the machines, and a session for each time the sweep was started or went
on; ``runs.jsonl`` a run per line, written as soon as it ends; ``runs.csv`` the same as a table; ``inputs/``
the files. In ``runs.jsonl`` a line torn by a crash is dropped, and ``runs.csv`` is made anew from it.
"""

from __future__ import annotations

import csv
import fcntl
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, TextIO

from symdipa.interface.bench.measure import Measured
from symdipa.interface.bench.plan import BadSweep, Plan, Task
from symdipa.interface.saving import replace_file
from symdipa.model.patterns import Pattern

FORMAT, VERSION = "symdipa-bench", 1
SETTINGS, RUNS, TABLE, INPUTS, LOCK = "sweep.json", "runs.jsonl", "runs.csv", "inputs", ".lock"

COLUMNS = (
    "id", "item", "family", "size", "file", "engine", "encoding", "solver", "phase", "repetition",
    "outcome", "verdict", *(pattern.key for pattern in Pattern), "bound", "corollary",
    "seconds", "cpu_seconds", "check_seconds", "peak_mb", "exit_status", "remark", "wrong",
    "variables", "states", "transitions", "sha256", "limit_seconds", "limit_mb", "started", "host", "session",
)  # fmt: skip
"""The columns of a run, in this order in ``runs.csv``; new ones are only added at the end."""

Row = dict[str, Any]
"""A run: a value for each of ``COLUMNS`` (``None``: there is none)."""


@dataclass(frozen=True, slots=True)
class Content:
    """The text of an item and how large its automaton is."""

    data: bytes
    fmt: str
    sha256: str
    variables: int | None
    states: int | None
    transitions: int | None


def row(task: Task, plan: Plan, content: Content | None, measured: Measured, session: int) -> Row:
    """The row of a run."""
    item, patterns, wrong = task.item, measured.patterns or {}, ""
    if item.expected is not None and measured.verdict is not None:
        wrong = item.expected.contradicted_by(patterns, measured.verdict, measured.corollary, measured.bound)
    values = (
        task.id, item.key, item.family, item.size, item.file, *astuple(task.config),
        task.phase, task.repetition,
        measured.outcome, measured.verdict, *(patterns.get(pattern.key) for pattern in Pattern),
        measured.bound, measured.corollary, measured.seconds, measured.cpu_seconds, measured.check_seconds,
        measured.peak_mb, measured.exit_status, measured.remark, wrong,
        content.variables if content else None, content.states if content else None,
        content.transitions if content else None, content.sha256 if content else item.sha256,
        plan.seconds, plan.memory / 2**20, measured.started,
        measured.machine["host"] if measured.machine else None, session,
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


class Store:
    """The results of one sweep; only one process at a time may add to them."""

    def __init__(self, folder: Path, plan: Plan, rows: list[Row], data: dict[str, Any]) -> None:
        self.folder = folder
        self.plan = plan
        self.rows = rows
        self._ids = {row["id"] for row in rows}
        self._data = data
        self._lines: TextIO | None = None
        self._table: TextIO | None = None
        self._lock: TextIO | None = None

    @property
    def session(self) -> int:
        """The number of the session that is running (from 1)."""
        return len(self._data["sessions"])

    @property
    def sessions(self) -> list[dict[str, Any]]:
        return list(self._data["sessions"])

    @property
    def machines(self) -> list[dict[str, Any]]:
        """The machines, and versions on them, on which runs were measured."""
        return list(self._data["machines"])

    # ---------------------------------------------------------------------------------------- begin, read

    @classmethod
    def create(cls, folder: Path, plan: Plan, inputs: Mapping[str, bytes]) -> Store:
        """Begin a folder of results; ``inputs`` has the files of the plan by their ``stored`` names. Raises
        :class:`BadSweep`."""
        data: dict[str, Any] = {"format": FORMAT, "version": VERSION, "settings": plan.as_json()}
        store = cls(folder, plan, [], {**data, "sessions": [], "machines": []})
        try:
            folder.mkdir(parents=True, exist_ok=True)
            store._lock = _locked(folder)
            for name, content in inputs.items():
                (folder / name).parent.mkdir(exist_ok=True)
                replace_file(folder / name, content)
            replace_file(folder / RUNS, b"")
            store._save()
        except OSError as error:
            store.close()
            raise BadSweep(f"cannot write results to {folder}: {error.strerror}") from error
        return store

    @classmethod
    def load(cls, folder: Path) -> Store:
        """The results that a folder holds. Raises :class:`BadSweep` if it holds none."""
        try:
            data = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
            if data["format"] != FORMAT or data["version"] != VERSION:
                raise ValueError(f"this is format {data['format']} {data['version']}")
            plan = Plan.from_json(data["settings"])
            lines = (folder / RUNS).read_bytes().split(b"\n")
        except FileNotFoundError as error:
            raise BadSweep(f"{folder} holds no results of a sweep (no {Path(error.filename).name})") from None
        except NotADirectoryError:
            raise BadSweep(f"{folder} is not a folder") from None
        except OSError as error:
            raise BadSweep(f"cannot read the results in {folder}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadSweep(f"{folder / SETTINGS} is not the description of a sweep: {error}") from error
        rows = _rows(lines, {task.id for task in plan.tasks}, folder / RUNS)
        return cls(folder, plan, rows, data)

    @staticmethod
    def exists(folder: Path) -> bool:
        return (folder / SETTINGS).exists()

    @staticmethod
    def discard(folder: Path) -> None:
        """Remove the results in a folder, and nothing else in it."""
        lock = _locked(folder)
        for name in (SETTINGS, RUNS, TABLE):
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(folder / INPUTS, ignore_errors=True)
        lock.close()

    # --------------------------------------------------------------------------------------------- add

    def begin(self, session: dict[str, Any]) -> None:
        """Go on adding rows; ``session`` tells when, on what machine and how. Raises :class:`BadSweep`."""
        try:
            self._lock = self._lock or _locked(self.folder)
            replace_file(self.folder / RUNS, "".join(json.dumps(row) + "\n" for row in self.rows).encode())
            self._lines = (self.folder / RUNS).open("a", encoding="utf-8")
            self._table = (self.folder / TABLE).open("w", encoding="utf-8", newline="")
            rows = ([row[name] for name in COLUMNS] for row in self.rows)
            csv.writer(self._table, lineterminator="\n").writerows([COLUMNS, *rows])
            self._table.flush()
            self._data["sessions"].append(session)
            self._save()
        except OSError as error:
            raise BadSweep(f"cannot write results to {self.folder}: {error.strerror}") from error

    def add(self, row: Row, machine: dict[str, Any] | None = None) -> None:
        """Keep a row; it is on the disk when this returns. A run that is there already is not added again."""
        if self._lines is None or self._table is None:
            raise AssertionError("begin() comes first")
        if row["id"] in self._ids:
            return
        self._ids.add(row["id"])
        self.rows.append(row)
        if machine is not None and machine not in self._data["machines"]:
            self._data["machines"].append(machine)
            self._save()
        try:
            self._lines.write(json.dumps(row) + "\n")
            self._lines.flush()
            os.fsync(self._lines.fileno())
            csv.writer(self._table, lineterminator="\n").writerow([row[name] for name in COLUMNS])
            self._table.flush()
        except OSError as error:
            raise BadSweep(f"cannot write results to {self.folder}: {error.strerror}") from error

    def close(self) -> None:
        for file in (self._lines, self._table, self._lock):
            if file is not None:
                file.close()
        self._lines = self._table = self._lock = None

    def _save(self) -> None:
        replace_file(self.folder / SETTINGS, (json.dumps(self._data, indent=1) + "\n").encode())


def _rows(lines: list[bytes], known: set[str], file: Path) -> list[Row]:
    """The rows, without what a crash left in the middle of the last line."""
    found: dict[str, Row] = {}
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            read = json.loads(line)
            row = {name: read[name] for name in COLUMNS}
        except (ValueError, KeyError, TypeError) as error:
            if number == len(lines):
                continue
            raise BadSweep(f"{file}:{number}: this is not a run of a sweep") from error
        if row["id"] in known:
            found.setdefault(row["id"], row)
    return list(found.values())


def _locked(folder: Path) -> TextIO:
    lock = (folder / LOCK).open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise BadSweep(f"another sweep is running in {folder}") from None
    return lock
