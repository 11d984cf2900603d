"""One measured process: its limits are hard, its end is noticed at once, and nothing of it stays behind.

It gets a session of its own, so that it can be killed with all that it started, and on Linux it dies with the
process that measures it. Memory is read from ``/proc``; elsewhere only the limit on the time holds, and the
peak is what the system reports at the end.
"""

from __future__ import annotations

import ctypes  # noqa: F401 (loaded before a child process needs it, where imports could block)
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from symdipa.engines.processes import AVAILABLE, die_with
from symdipa.model.limits import POLL, resident

LARGEST_OUTPUT = 2**30
"""The bytes that a process may write into one file."""
OUT_OF_MEMORY = ("MemoryError", "bad_alloc", "out of memory", "Cannot allocate memory")
"""Words of programs that got no more memory."""
_MAXRSS = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended.

    ``status`` is its exit status, or minus the signal that ended it; ``killed`` names the limit for which it
    was killed (``"time"``, ``"memory"``, or empty). ``seconds`` is wall-clock time, ``cpu`` that of all its
    processes, ``peak`` the bytes of memory that the largest of them held at most; ``held`` is what all
    together held when they were killed for it.
    """

    status: int
    killed: str
    seconds: float
    cpu: float
    peak: int
    held: int
    out: str
    err: str


class Process:
    """A running command.

    :meth:`look` kills it at the limits ``seconds`` and ``memory`` (bytes held by it and all that it started);
    ``address_space`` (bytes) is a limit that the system keeps for each of its processes. ``content`` is what
    it reads from standard input.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        seconds: float,
        memory: int | None = None,
        address_space: int | None = None,
        content: bytes = b"",
    ) -> None:
        self.seconds = seconds
        self.memory = memory
        self._out = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._err = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._killed = ""
        self._held = 0
        self._peak = 0
        self._inherited = resident(os.getpid())
        parent = os.getpid()

        def prepare() -> None:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_OUTPUT, LARGEST_OUTPUT))
            if address_space is not None:
                resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
            if AVAILABLE:
                die_with(parent)

        given = tempfile.TemporaryFile()  # noqa: SIM115
        given.write(content)
        given.seek(0)
        self._began = time.perf_counter()
        try:
            self._process = subprocess.Popen(
                command, stdin=given, stdout=self._out, stderr=self._err, env=dict(environment),
                start_new_session=True, preexec_fn=prepare,
            )  # fmt: skip
        except BaseException:
            self._close()
            raise
        finally:
            given.close()
        self.handle = _handle(self._process.pid)

    def look(self) -> Ended | None:
        """How it ended, if it has; until then its limits are enforced."""
        pid = self._process.pid
        # It stays a zombie until its whole group is killed, so that nobody else can get the group's number.
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return self._end()
        held = 0
        for each in _family(pid):
            held += resident(each)
            self._peak = max(self._peak, _peak(each))
        if time.perf_counter() - self._began > self.seconds:
            self._kill("time")
        elif self.memory is not None and held > self.memory:
            self._held = held
            self._kill("memory")
        return None

    def wait(self) -> Ended:
        """Wait for the end. Whatever interrupts the waiting kills the process."""
        try:
            while (ended := self.look()) is None:
                rest([self], POLL)
        except BaseException:
            self.stop()
            raise
        return ended

    def stop(self) -> None:
        """Kill it with all that it started, and forget it."""
        if self._process.returncode is None:
            self._kill("stopped")
            os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
            self._end()

    def _kill(self, why: str) -> None:
        self._killed = self._killed or why
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _end(self) -> Ended:
        seconds = time.perf_counter() - self._began
        pid = self._process.pid
        with suppress(ProcessLookupError, PermissionError):  # what it left behind
            os.killpg(pid, signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        if self.handle is not None:
            os.close(self.handle)
        # Between fork and exec the child counts as large as we are: only more than that is its own.
        highest = usage.ru_maxrss * _MAXRSS
        if highest > 1.02 * self._inherited + 2**20 or not self._peak:
            self._peak = max(self._peak, highest)
        for file in (self._out, self._err):
            file.seek(0)
        out, err = self._out.read(), self._err.read()
        self._close()
        cpu = usage.ru_utime + usage.ru_stime
        killed = self._killed if self._process.returncode < 0 else ""
        return Ended(self._process.returncode, killed, seconds, cpu, self._peak, self._held, out, err)

    def _close(self) -> None:
        self._out.close()
        self._err.close()


def rest(processes: Sequence[Process], seconds: float) -> None:
    """Sleep until one of the processes ends, at most for these seconds."""
    handles = [process.handle for process in processes if process.handle is not None]
    if len(handles) < len(processes):
        seconds = min(seconds, 0.005)
    waiting = select.poll()
    for handle in handles:
        waiting.register(handle, select.POLLIN)
    waiting.poll(1000 * seconds)


def _handle(pid: int) -> int | None:
    """A file descriptor that can be read when the process has ended; ``None`` where there are none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _family(pid: int) -> Iterator[int]:
    """The process and all processes below it, as far as Linux tells."""
    yield pid
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                for child in (task / "children").read_text().split():
                    yield from _family(int(child))


def _peak(pid: int) -> int:
    """The bytes of memory that a process has held at most (0 if it is gone)."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0
