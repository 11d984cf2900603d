"""Run what a plan still lacks, several runs at a time, by an executor: here, or on a cluster."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from symdipa.interface.bench.measure import ANSWERED, LIMITS, SKIPPED, UNUSABLE, Job, Measured, Started
from symdipa.interface.bench.plan import Item, Plan, Task
from symdipa.interface.bench.process import rest
from symdipa.interface.bench.store import Content, Row, Store, row
from symdipa.model.automaton import Automaton
from symdipa.model.errors import LimitReached
from symdipa.model.limits import POLL, Limits

PATIENCE = 60.0
"""Seconds for reading a program, before the runs."""


class Executor(Protocol):
    """Where runs are made."""

    def has_room(self) -> bool:
        """Whether another run should be started now."""

    def start(self, job: Job) -> None: ...

    def ended(self) -> list[tuple[str, Measured]]:
        """Wait a moment; the runs that ended, by the ``id`` of their jobs."""

    def close(self) -> None:
        """Stop what is still running."""


class Local:
    """Runs on this machine, ``jobs`` at a time, each a process of its own."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._running: dict[str, Started] = {}

    def has_room(self) -> bool:
        return len(self._running) < self.jobs

    def start(self, job: Job) -> None:
        self._running[job.id] = Started(job)

    def ended(self) -> list[tuple[str, Measured]]:
        rest([run.process for run in self._running.values()], POLL)
        found = []
        for name, run in list(self._running.items()):
            if (ended := run.process.look()) is not None:
                del self._running[name]
                run.stop()
                found.append((name, run.measured(ended)))
        return found

    def close(self) -> None:
        for run in self._running.values():
            run.stop()
        self._running.clear()


@dataclass(frozen=True, slots=True)
class News:
    """Progress: a row that has come (``None``: nothing yet), and the runs that are going on."""

    row: Row | None
    running: tuple[str, ...]


class _Reached:
    """Which limits were reached: what comes after them is not tried."""

    def __init__(self, plan: Plan) -> None:
        self._skip = plan.skip
        self._cells: dict[tuple[str, str], str] = {}
        self._sizes: dict[tuple[str | None, str], int] = {}

    def note(self, task: Task, outcome: str) -> None:
        if outcome in (ANSWERED, SKIPPED):
            return
        self._cells.setdefault((task.item.key, task.config.title), outcome)
        if outcome in LIMITS and task.item.size is not None:
            key = (task.item.family, task.config.title)
            self._sizes[key] = min(task.item.size, self._sizes.get(key, task.item.size))

    def reason(self, task: Task) -> str:
        """Why a run is not made; empty if it is."""
        if outcome := self._cells.get((task.item.key, task.config.title)):
            return f"an earlier run of it: {outcome}"
        size = self._sizes.get((task.item.family, task.config.title))
        if self._skip and task.item.size is not None and size is not None and size < task.item.size:
            return f"{task.item.family} {size} reached a limit"
        return ""


def sweep(store: Store, executor: Executor, tell: Callable[[News], None]) -> None:
    """Make all runs that the results lack, and add their rows; ``tell`` is called for each and in between.
    The store must have begun. Whatever ends this early, the runs are stopped and the rows are kept."""
    plan = store.plan
    reached = _Reached(plan)
    have = {found["id"]: found for found in store.rows}
    for task in plan.tasks:
        if task.id in have:
            reached.note(task, have[task.id]["outcome"])
    pending = deque(task for task in plan.tasks if task.id not in have)
    running: dict[str, Task] = {}

    def add(task: Task, measured: Measured) -> None:
        reached.note(task, measured.outcome)
        content = content_of(task.item, store.folder) if task.item.problem is None else None
        found = row(task, plan, content, measured, store.session)
        store.add(found, measured.machine)
        tell(News(found, tuple(running)))

    try:
        while pending or running:
            while pending and executor.has_room():
                task = pending.popleft()
                if task.item.problem is not None:
                    add(task, Measured(UNUSABLE, task.item.problem))
                elif why := reached.reason(task):
                    add(task, Measured(SKIPPED, why))
                else:
                    content = content_of(task.item, store.folder)
                    executor.start(_job(task, plan, content))
                    running[task.id] = task
                    tell(News(None, tuple(running)))
            if running:
                for name, measured in executor.ended():
                    add(running.pop(name), measured)
                tell(News(None, tuple(running)))
    finally:
        executor.close()


def _job(task: Task, plan: Plan, content: Content) -> Job:
    item, limits = task.item, (plan.seconds, plan.memory, plan.seed)
    read = content.data, content.fmt, task.config
    return Job(task.id, *read, *limits, item.program, item.settings, item.claim)


@lru_cache(maxsize=8)
def content_of(item: Item, folder: Path) -> Content:
    """The text of an item and its size (``None``: it takes too long); ``folder`` holds the results."""
    from symdipa.files import formats
    from symdipa.files.families import generate

    if item.family is not None and item.size is not None:
        member = generate(item.family, item.size)
        data, fmt = formats.dumps(member).encode(), "dipa"
        found: Automaton | None = member
    else:
        file = folder / str(item.stored)
        data, fmt = file.read_bytes(), file.suffix[1:]
        found = automaton_of(item, file)
    digest = hashlib.sha256(data).hexdigest()
    if found is None:
        return Content(data, fmt, digest, None, None, None)
    sizes = (len(found.variables), len(found.states), len(found.transitions))
    return Content(data, fmt, digest, *sizes)


def automaton_of(item: Item, file: Path) -> Automaton | None:
    """The automaton in the file of an item; ``None`` if that takes too long. Raises :class:`InvalidInput`."""
    from symdipa.files import formats
    from symdipa.programs.loading import SUFFIXES, read_program, setting

    if file.suffix.lower() not in SUFFIXES:
        return formats.read_file(str(file))
    name = f"{file}:{item.program}" if item.program else str(file)
    try:
        return read_program(name, dict(map(setting, item.settings)), limits=Limits.of(seconds=PATIENCE))
    except LimitReached:
        return None
