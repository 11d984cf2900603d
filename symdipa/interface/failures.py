"""What is said of failures that no command foresees: one line, and the exit status that goes with it.

Nothing but Python itself and the errors is needed here. A failure inside deciding one file is the business of
the command, which goes on with the other files; what arrives here ends the process.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from enum import IntEnum
from pathlib import Path
from typing import TextIO

from symdipa.model.errors import LimitReached, SymdipaError, WitnessRejected


class Exit(IntEnum):
    """What the exit status says; with several files the first of ``PRECEDENCE`` that occurred."""

    PRIVATE = 0
    NOT_PRIVATE = 1
    UNUSABLE = 2
    UNKNOWN = 3
    BUG = 4
    INTERRUPTED = 130
    BROKEN_PIPE = 141


EXHAUSTED = frozenset([errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE])
"""Errors of a system that has no more processes, memory or files to give."""

PACKAGES = {
    "click": "click",
    "highspy": "highspy",
    "numpy": "numpy",
    "pycparser": "pycparser",
    "pysat": "python-sat",
    "rich": "rich",
    "rustworkx": "rustworkx",
    "z3": "z3-solver",
}
"""The packages that every installation of symdipa has, by the module that is imported."""

EXTRAS = {"distributed": "cluster", "matplotlib": "plot"}
"""Packages that come with an extra of symdipa, by name; their modules have the same name."""


def missing_package(error: BaseException) -> str | None:
    """One line that names the package and how to install it, if its absence is what the error is about."""
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    module = error.name.partition(".")[0]
    if module in PACKAGES:
        return f"the package {PACKAGES[module]} is not installed: pip install symdipa"
    if module in EXTRAS:
        return f"the package {module} is not installed: pip install 'symdipa[{EXTRAS[module]}]'"
    return None


def told(error: BaseException) -> tuple[str, Exit]:
    """One line about a failure that nobody handled, and the exit status.

    It is 3 where a limit was met, 4 where an answer did not pass its check, else 2: there is no answer.
    """
    if (missing := missing_package(error)) is not None:
        return missing, Exit.UNUSABLE
    if isinstance(error, MemoryError):
        return "unknown: out of memory", Exit.UNKNOWN
    if isinstance(error, LimitReached):
        return f"unknown: {error}", Exit.UNKNOWN
    if isinstance(error, SymdipaError) and not isinstance(error, WitnessRejected):
        return str(error), Exit.UNUSABLE
    if isinstance(error, UnicodeEncodeError) and error.encoding != "utf-8":
        letter = error.object[error.start]
        return (
            f"cannot write to standard output: its encoding {error.encoding} has no {letter!a}; "
            "set PYTHONIOENCODING=utf-8",
            Exit.UNUSABLE,
        )
    if isinstance(error, OSError):
        return _refused_by_system(error), Exit.UNUSABLE
    import traceback  # only where something failed

    inner = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(inner[-1].filename).name}, line {inner[-1].lineno})" if inner else ""
    said = " ".join(f"{type(error).__name__}: {error}".split())
    status = Exit.BUG if isinstance(error, WitnessRejected) else Exit.UNUSABLE
    return f"this is a bug in symdipa: please report it together with the file: {said}{where}", status


def _refused_by_system(error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {reason}"
    if error.errno in EXHAUSTED:
        return f"the system refuses: {reason}"
    return f"cannot write to standard output: {reason}"


# ----------------------------------------------------------------------------------------- standard streams


def open_closed_streams() -> None:
    """Put something in the place of standard streams that were closed when the process was started.

    Otherwise the next file that is opened would get their number. Reading from the input and writing to the
    output fails, as it would without this; complaints are lost.
    """
    ways = {"stdin": os.O_WRONLY, "stdout": os.O_RDONLY, "stderr": os.O_WRONLY}
    for number, (name, flags) in enumerate(ways.items()):
        if getattr(sys, name) is not None:
            continue
        opened = os.open(os.devnull, flags)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
        os.set_inheritable(number, True)
        mode = "r" if number == 0 else "w"
        stream = open(number, mode, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)


def discard(*streams: TextIO) -> None:
    """Let go of what streams could not write: Python tries once more when it ends, and complains then."""
    for stream in streams:
        with suppress(OSError, ValueError, io.UnsupportedOperation):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
