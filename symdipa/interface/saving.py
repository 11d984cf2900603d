"""Files that commands write: which may be, and the one place where a file is written.

An existing file is replaced as a whole or left as it was, whatever happens on the way. It is refused where it
is one of the inputs or where its suffix says another format; a ``.dipa`` file, which somebody may have
written by hand, is replaced only by ``force``.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from symdipa.interface.interrupts import on_interrupt
from symdipa.model.errors import SymdipaError

SUFFIXES = {
    ".dipa": ("dipa",),
    ".json": ("json",),
    ".dot": ("dot",),
    ".gv": ("dot",),
    ".svg": ("svg",),
    ".png": ("png",),
    ".pdf": ("pdf",),
    ".html": ("html",),
    ".htm": ("html",),
    ".smt2": ("smtlib", "chc"),
    ".aig": ("aiger",),
    ".aag": ("aiger",),
    ".btor2": ("btor2",),
    ".btor": ("btor2",),
}
"""The suffixes that say something, and the formats that they may stand for."""

STANDARD_INPUT = "-"


class OutputRefused(SymdipaError):
    """A file that must not be written, or not like this."""


def check_output(path: Path, fmt: str, inputs: Sequence[str] = (), force: bool = False) -> None:
    """Complain about a file in which ``fmt`` cannot be written, before anything is computed.

    ``inputs`` are the names of the files that are read, ``"-"`` for standard input. Raises
    :class:`OutputRefused`.
    """
    if any(_same(path, name) for name in inputs):
        raise OutputRefused(f"{path} is one of the inputs: write to another file")
    meant = SUFFIXES.get(path.suffix.lower())
    if meant is not None and fmt not in meant:
        raise OutputRefused(f"what is written is {fmt}, and the name {path} says {path.suffix.lower()[1:]}")
    if path.suffix.lower() == ".dipa" and path.is_file() and not force:
        raise OutputRefused(f"{path} is there already: give --force to replace it")
    if not path.parent.is_dir():
        raise OutputRefused(f"cannot write {path}: {path.parent} is no folder")


def _same(path: Path, name: str) -> bool:
    try:
        there = os.fstat(0) if name == STANDARD_INPUT else os.stat(name)
        return os.path.samestat(path.stat(), there) and stat.S_ISREG(there.st_mode)
    except (OSError, ValueError):
        return False


def replace_file(path: Path, data: bytes) -> None:
    """Write a file; one that is there keeps its permissions, and its content if anything fails.

    Links are followed. What is no plain file, as ``/dev/stdout``, is written to directly. Raises ``OSError``.
    """
    try:
        before = path.stat()
    except FileNotFoundError:
        before = None
    if before is not None and not stat.S_ISREG(before.st_mode):
        path.write_bytes(data)
        return
    target = Path(os.path.realpath(path))
    if before is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    new = target.with_name(f".symdipa-{os.urandom(6).hex()}")

    def remove() -> None:
        with suppress(OSError):
            new.unlink()

    with on_interrupt(remove):
        try:
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as out:
                out.write(data)
            if before is not None:
                if hasattr(os, "chown"):
                    with suppress(OSError):
                        os.chown(new, before.st_uid, before.st_gid)
                os.chmod(new, stat.S_IMODE(before.st_mode))
            os.replace(new, target)
        except BaseException:
            remove()
            raise


def create_file(path: Path, data: bytes) -> None:
    """Write a file that must not be there yet. Raises ``FileExistsError`` and other ``OSError``."""
    path.open("xb").close()
    try:
        replace_file(path, data)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
