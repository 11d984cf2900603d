"""What a search may use, and where it reports progress: one value that is passed along.

Also what there is to use: the memory that this machine has, and what processes hold of it (Linux; elsewhere
nothing is known of that, and memory has no limit).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from symdipa.model.errors import Limit, LimitReached, OutOfTime

Progress = Callable[[str], None]

MEMORY_SHARE = Fraction(3, 4)
"""The part of the available memory that a check may take where no limit is given."""

POLL = 0.05
"""Seconds between looks at the memory that is held."""

PAGE = os.sysconf("SC_PAGE_SIZE") if sys.platform == "linux" else 4096

_looked = 0.0
"""When this process last looked at its memory."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of some piece of work; parts of it get narrower ones by :meth:`within`.

    ``deadline`` is a reading of :func:`time.monotonic`, ``memory`` the number of bytes that all processes of
    a check may hold together, ``bound`` the largest unrolling. ``progress`` is called now and then with a
    few words on the current work. ``None`` is no limit.
    """

    deadline: float | None = None
    memory: int | None = None
    bound: int | None = None
    progress: Progress | None = None

    @classmethod
    def of(
        cls,
        seconds: float | None = None,
        memory: int | None = None,
        bound: int | None = None,
        progress: Progress | None = None,
    ) -> Limits:
        """Limits that begin now; that on memory is :func:`default_memory` where none is given.

        Raises ``ValueError`` for a limit that is not positive.
        """
        must_be_positive(timeout=seconds, memory=memory, bound=bound)
        return cls(None, memory or default_memory(), bound, progress).within(seconds)

    @property
    def hard(self) -> bool:
        """Whether something must end a search that does not end by itself."""
        return self.deadline is not None or self.memory is not None

    def check(self, doing: str) -> None:
        """Report progress; raise :class:`LimitReached` when the time is up or this process holds too much."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise OutOfTime(doing)
        if self.memory is not None:
            _look_at_memory(self.memory, doing)
        if self.progress is not None:
            self.progress(doing)

    def left(self) -> float | None:
        """The seconds that are left, never negative; ``None`` without a deadline."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def within(self, seconds: float | None) -> Limits:
        """The same limits with a deadline at most this many seconds from now."""
        if seconds is None:
            return self
        end = time.monotonic() + seconds
        return replace(self, deadline=end if self.deadline is None else min(self.deadline, end))

    def share(self, part: float) -> Limits:
        """Limits for a part of the time that is left."""
        left = self.left()
        return self if left is None else self.within(part * left)

    def heard_by(self, progress: Progress | None) -> Limits:
        """The same limits, reporting to ``progress``."""
        return replace(self, progress=progress)


UNLIMITED = Limits()


def must_be_positive(**values: Fraction | float | None) -> None:
    """Raise ``ValueError`` for a value that is not positive, by its name, and ``TypeError`` for no number."""
    for what, value in values.items():
        if value is not None and not isinstance(value, int | float | Fraction):
            raise TypeError(f"{what} is a number, not {value!r}")
        if value is not None and not value > 0:
            raise ValueError(f"{what} must be positive, not {value}")


def _look_at_memory(most: int, doing: str) -> None:
    global _looked
    now = time.monotonic()
    if now - _looked < POLL:
        return
    _looked = now
    if resident() > most:
        raise out_of_memory(most, doing)


def out_of_memory(most: int, doing: str = "") -> LimitReached:
    """What is said when more than ``most`` bytes are held."""
    size = f"{most / 2**30:.3g} GB" if most >= 2**30 else f"{most / 2**20:.3g} MB"
    return LimitReached(Limit.MEMORY, f"memory limit of {size} reached", doing)


# --------------------------------------------------------------------------------------------- the machine


def resident(pid: int | None = None) -> int:
    """The bytes of memory that a process holds, this one by default (0 if it is gone, or not on Linux)."""
    try:
        return int(Path(f"/proc/{'self' if pid is None else pid}/statm").read_bytes().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def default_memory() -> int | None:
    """The limit where none is given: what this process holds, and three quarters of what is available."""
    available = available_memory()
    return None if available is None else resident() + int(MEMORY_SHARE * available)


def available_memory(root: Path = Path("/")) -> int | None:
    """The bytes that can be had now, on this machine and in the control groups of this process.

    ``root`` is where ``proc`` and ``sys`` are. ``None`` where that is not known.
    """
    try:
        lines = (root / "proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    free = [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    return min([*free, *(limit - used for limit, used in _groups(root))], default=None)


def machine_memory() -> int:
    """The bytes of memory that this machine, or the control group of this process, has (Linux)."""
    return min([os.sysconf("SC_PHYS_PAGES") * PAGE, *(limit for limit, _ in _groups(Path("/")))])


def _groups(root: Path) -> Iterator[tuple[int, int]]:
    """The limit of each control group that has one, and what it uses of that, files that can go left out."""
    with suppress(OSError, ValueError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers:  # version 2
                yield from _group(root / "sys/fs/cgroup", path, "memory.current", "memory.max", "memory.high")
            elif "memory" in controllers.split(","):
                top = root / "sys/fs/cgroup/memory"
                yield from _group(top, path, "memory.usage_in_bytes", "memory.limit_in_bytes")


def _group(top: Path, path: str, use: str, *limits: str) -> Iterator[tuple[int, int]]:
    """Those of a group and of all above it. In a container ``path`` may be that of the host; the group of the
    container is then at the top."""
    inner = top / path.strip("/")
    for folder in (inner, *(above for above in inner.parents if above.is_relative_to(top))):
        used = _number(folder / use)
        for name in limits:
            if (limit := _number(folder / name)) is not None and used is not None:
                yield limit, max(0, used - _file_cache(folder))


def _number(file: Path) -> int | None:
    with suppress(OSError, ValueError):
        return int(file.read_text())
    return None


def _file_cache(folder: Path) -> int:
    """The bytes of files in memory that have not been used lately."""
    with suppress(OSError, ValueError):
        for line in (folder / "memory.stat").read_text().splitlines():
            name, _, count = line.partition(" ")
            if name in ("inactive_file", "total_inactive_file"):
                return int(count)
    return 0


def stopwatch() -> Callable[[], float]:
    """A function that returns the seconds since it was made."""
    began = time.monotonic()
    return lambda: time.monotonic() - began
