"""Readers and writers: ``.dipa`` text, JSON, and Graphviz DOT (written only).

Whatever is wrong with an input (the file itself, its encoding, its syntax or the automaton) is an
:class:`~symdipa.model.errors.InvalidInput` that carries all problems with line and column.
"""

from __future__ import annotations

import io
import os
import re
import select
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from typing import BinaryIO

from symdipa.files.formats import dipa, dot, json_format
from symdipa.files.formats.common import READING, Parsed, capped, shown
from symdipa.files.formats.halting import with_halt
from symdipa.model.adjacency.differ import Differ
from symdipa.model.adjacency.differ import differ as read_differ
from symdipa.model.automaton import Automaton, validated
from symdipa.model.errors import InputProblem, InvalidInput, LimitReached, Position
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.validation import problems

READERS: dict[str, Callable[[str, bool, Limits], Parsed]] = {"dipa": dipa.parse, "json": json_format.parse}
WRITERS: dict[str, Callable[[Automaton], str]] = {
    "dipa": dipa.write,
    "json": json_format.write,
    "dot": dot.write,
}
MAX_BYTES = 1 << 28
"""Larger files are refused instead of read into memory."""

CHUNK, WAIT = 1 << 20, 0.1
"""So many bytes are read at a time, and so many seconds waited for some."""

_CERTIFICATE = re.compile(r'"format"\s*+:\s*+"symdipa-certificate"')
"""What the text of a certificate says, and that of an automaton cannot."""

_SETTING = re.compile(r"(?:halt|noise|differ)\s")
"""What stands before the states of a text."""

_SUFFIXES = [f".{name}" for name in READERS]
_OR_GIVE = f"or give the format: {' or '.join(READERS)}"


def read(
    data: str | bytes,
    fmt: str | None,
    source: str | None = None,
    strict: bool = False,
    halt: str | None = None,
    limits: Limits = UNLIMITED,
    differ: Differ | None = None,
) -> Automaton:
    """Read an automaton in the format ``fmt`` (``None``: recognized by its content).

    With ``strict`` overlapping branches are problems; otherwise the first match wins and a note says so.
    ``halt`` (one of :data:`~symdipa.model.options.HALTS`) counts instead of what the text says about halting,
    and ``differ`` instead of what it says about who may differ.
    Raises :class:`InvalidInput`, and :class:`~symdipa.model.errors.LimitReached`.
    """
    text = _automaton_text(data, source)
    fmt = fmt or detect(None, text, source)
    if fmt not in READERS:
        known = ", ".join(READERS)
        raise _refused("format", f"there is no format {shown(fmt)} to read; the formats are {known}", source)
    limits.check(READING)
    parsed = READERS[fmt](text, strict, limits)
    limits.check(READING)
    found, automaton = list(parsed.problems), parsed.automaton
    if automaton is not None:
        if differ is not None:
            automaton = replace(automaton, differ=differ)
        found += problems(automaton, parsed.locate, partial=parsed.partial)
        limits.check(READING)
    if found or automaton is None:
        raise InvalidInput(capped(found), source)
    return _halting(automaton.trusted(), halt or parsed.halt, source)


def _halting(automaton: Automaton, halt: str, source: str | None) -> Automaton:
    try:
        return with_halt(automaton, halt or None)
    except LimitReached as limit:
        raise _refused("halt", f"it cannot be shown where the run stops: {limit}", source) from None


def read_file(
    path: str | os.PathLike[str],
    fmt: str | None = None,
    strict: bool = False,
    halt: str | None = None,
    limits: Limits = UNLIMITED,
    differ: Differ | None = None,
) -> Automaton:
    """Read a file; its suffix determines the format, or its content if it has none.

    An automaton without a name of its own is named after the file.
    """
    source = os.fspath(path)
    text = _automaton_text(_bytes_of(source, limits), source)
    automaton = read(text, fmt or detect(source, text), source, strict, halt, limits, differ)
    return (
        automaton if automaton.name else replace(automaton, name=_readable(PurePath(source).stem)).trusted()
    )


def text_of(path: str | os.PathLike[str], limits: Limits = UNLIMITED) -> str:
    """The text of a file, with line ends ``\n``. Raises :class:`InvalidInput` where it has none."""
    source = os.fspath(path)
    return _decode(_bytes_of(source, limits), source)


def _readable(name: str) -> str:
    """The name without what is no text in it."""
    return name.encode("utf-8", "replace").decode()


def automata_in(folder: str | os.PathLike[str]) -> list[str]:
    """The files in a folder that are read without being named, sorted: ``.dipa``, and ``.json`` files that
    say near their beginning that they are automata."""
    names = (os.path.join(folder, name) for name in sorted(os.listdir(folder)))
    return [name for name in names if os.path.isfile(name) and _announces_an_automaton(name)]


def _announces_an_automaton(name: str) -> bool:
    suffix = PurePath(name).suffix.lower()
    if suffix != ".json":
        return suffix == ".dipa"
    try:
        with open(name, "rb") as handle:
            return json_format.FORMAT.encode() in handle.read(1 << 12)
    except OSError:
        return True  # it is the reader's to complain


def load(
    path: str | os.PathLike[str],
    strict: bool = False,
    halt: str | None = None,
    fmt: str | None = None,
    differ: Differ | str | None = None,
) -> Automaton:
    """The automaton in a file; ``halt`` is ``"visible"`` or ``"hidden"``, and ``differ`` a text like
    ``"entries=1"``, if not as the file says; ``fmt`` is ``"dipa"`` or ``"json"`` if its name does not say it.
    """
    return read_file(path, fmt, strict, halt, differ=_differ(differ))


def loads(
    text: str,
    fmt: str = "dipa",
    strict: bool = False,
    halt: str | None = None,
    differ: Differ | str | None = None,
) -> Automaton:
    """The automaton in a text, as :func:`load`."""
    return read(text, fmt, strict=strict, halt=halt, differ=_differ(differ))


def _differ(given: Differ | str | None) -> Differ | None:
    return read_differ(given) if isinstance(given, str) else given


def dumps(automaton: Automaton, fmt: str = "dipa") -> str:
    """The automaton as text in one of the formats ``dipa``, ``json`` and ``dot``.

    Raises :class:`InvalidInput` for an unknown format and for an automaton that the format cannot express or
    that breaks the rules of the model.
    """
    if fmt not in WRITERS:
        known = ", ".join(WRITERS)
        raise _refused("format", f"there is no format {shown(fmt)} to write; the formats are {known}", None)
    return WRITERS[fmt](validated(automaton))


def detect(name: str | None, content: str, source: str | None = None) -> str:
    """The format of a file: by its suffix, or without one by how its content begins."""
    suffix = PurePath(name).suffix.lower().removeprefix(".") if name else ""
    start = content.lstrip()[:8]
    by_content = "dipa" if _SETTING.match(start) else {"{": "json", "(": "dipa", "#": "dipa"}.get(start[:1])
    if suffix in READERS:
        if by_content and by_content != suffix:
            message = f"the suffix is .{suffix} but the content looks like {by_content}; rename the file or "
            raise _refused("format", f"{message}give the format: {by_content}", name)
        return suffix
    if suffix in ("py", "c"):
        message = "this is a program, and no automaton; check it on the command line, or check its function"
        raise _refused("format", message, name)
    if suffix:
        message = (
            f"unknown suffix {shown('.' + suffix)}; the known ones are {' and '.join(_SUFFIXES)} ({_OR_GIVE})"
        )
        raise _refused("format", message, name)
    if by_content is None:
        message = f"cannot tell the format; name the file {' or '.join(_SUFFIXES)}, {_OR_GIVE}"
        raise _refused("format", message, name or source)
    return by_content


def content(stream: BinaryIO, source: str, limits: Limits = UNLIMITED) -> bytes:
    """All that a stream holds. Raises :class:`InvalidInput` where it is too large or cannot be read."""
    found = bytearray()
    try:
        while chunk := _available(stream, source, limits):
            found += chunk
            if len(found) > MAX_BYTES:
                break
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _refused("file", f"cannot be read: {reason}", source) from None
    if len(found) > MAX_BYTES:
        raise _refused("file", f"the file is larger than {MAX_BYTES >> 20} MiB", source)
    return bytes(found)


def _available(stream: BinaryIO, source: str, limits: Limits) -> bytes:
    """The next bytes; a pipe into which nobody writes is given up when the time is over."""
    while (left := limits.left()) is not None and sys.platform != "win32":
        limits.check(f"reading {source}")
        try:
            if select.select([stream], [], [], min(left, WAIT))[0]:
                break
        except (OSError, ValueError, TypeError):  # no stream of the system, or a broken one: reading tells
            break
    limits.check(f"reading {source}")
    return stream.read1(CHUNK) if isinstance(stream, io.BufferedIOBase) else stream.read(CHUNK)


def _bytes_of(source: str, limits: Limits) -> bytes:
    try:
        handle = open(source, "rb")  # noqa: SIM115
    except FileNotFoundError:
        raise _refused("file", "there is no such file", source) from None
    except IsADirectoryError:
        raise _refused("file", _no_file(source), source) from None
    except PermissionError:
        raise _refused("file", "no permission to read this file", source) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _refused("file", f"cannot read this file: {reason}", source) from None
    with handle:
        return content(handle, source, limits)


def _no_file(folder: str) -> str:
    """What to name where a folder is no file."""
    if _holds_automata(folder):
        return "this is a folder; name a file in it"
    try:
        inside = sorted(entry.path for entry in os.scandir(folder) if entry.is_dir())
    except OSError as error:
        return f"this is a folder, in which nothing can be read: {error.strerror}"
    none = "no automaton (.dipa or .json) is in this folder"
    if not inside:
        return none
    filled = next(filter(_holds_automata, inside), None)
    hint = f"; {_readable(filled)} has some" if filled is not None else ""
    return f"{none}, and folders in it are not searched{hint}"


def _holds_automata(folder: str) -> bool:
    """Whether automata are seen in a folder; in one that cannot be read none are."""
    try:
        return bool(automata_in(folder))
    except OSError:
        return False


def _refused(rule: str, message: str, source: str | None, position: Position | None = None) -> InvalidInput:
    return InvalidInput([InputProblem(rule, message, position)], source)


def _automaton_text(data: str | bytes, source: str | None) -> str:
    """The text, refused if it is the other kind of file that symdipa writes as JSON."""
    text = _decode(data, source)
    if text.lstrip()[:1] == "{" and _CERTIFICATE.search(text):
        message = (
            "this is a certificate, not an automaton; verify takes the automaton first, then the certificate"
        )
        raise _refused("format", message, source)
    return text


def _decode(data: str | bytes, source: str | None) -> str:
    """The text with line ends ``\\n`` and without a byte order mark."""
    text = data if isinstance(data, str) else _from_utf8(data, source)
    if (offset := text.find("\0")) >= 0:
        before = text[:offset].encode("utf-8", "replace")
        raise _undecodable(before, len(before), "a NUL character: this is a binary file, not a text", source)
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _from_utf8(data: bytes, source: str | None) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _refused("encoding", "the file is encoded as UTF-16; save it as UTF-8", source, Position(1, 1))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        start = error.start
    if b"\0" in data[:start]:
        return data[:start].decode("utf-8")
    what = f"the byte 0x{data[start]:02x}, which is not UTF-8; save the file as UTF-8"
    raise _undecodable(data, start, what, source)


def _undecodable(data: bytes, offset: int, what: str, source: str | None) -> InvalidInput:
    before = data[:offset].decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    place = Position(before.count("\n") + 1, len(before) - before.rfind("\n"))
    return _refused("encoding", f"offset {offset} holds {what}", source, place)
