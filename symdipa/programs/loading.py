"""Programs in files: which files they are, and the automaton of one.

A program in Python is run in order to read it; of one in C only what is understood is followed.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Mapping
from fractions import Fraction
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from symdipa.model.adjacency.differ import Differ
from symdipa.model.automaton import Automaton
from symdipa.model.limits import UNLIMITED, Limits

if TYPE_CHECKING:
    from symdipa.programs.python.mechanism import Mechanism
    from symdipa.programs.python.run import PythonProgram

SUFFIXES = (".py", ".c")
"""The suffixes of files that are programs."""


def is_program(name: str) -> bool:
    """Whether a file is a program: ``svt.py``, ``svt.c``, or ``svt.py:name``."""
    return PurePath(split(name)[0]).suffix.lower() in SUFFIXES


def read_program(
    name: str,
    settings: Mapping[str, Any] | None = None,
    halt: str | None = None,
    limits: Limits = UNLIMITED,
    differ: Differ | None = None,
) -> Automaton:
    """The automaton of the program ``FILE`` or ``FILE:NAME``, with these settings.

    ``halt`` and ``differ`` count instead of what the program says about them. Raises :class:`InvalidInput`
    and :class:`~symdipa.model.errors.LimitReached`.
    """
    file, wanted = split(name)
    if PurePath(file).suffix.lower() == ".c":
        return _in_c(file, wanted, settings or {}, halt, limits, differ)
    from symdipa.programs.python.files import load

    return _followed(load(file, wanted, settings or {}, limits), halt, limits, differ)


def automaton_of(
    mechanism: Mechanism,
    settings: Mapping[str, Any] | None = None,
    halt: str | None = None,
    limits: Limits = UNLIMITED,
    differ: Differ | None = None,
) -> Automaton:
    """The automaton of a mechanism in Python, as :func:`read_program` has that of one in a file."""
    from symdipa.programs.python.run import PythonProgram

    return _followed(PythonProgram(mechanism, settings or {}), halt, limits, differ)


def _followed(program: PythonProgram, halt: str | None, limits: Limits, differ: Differ | None) -> Automaton:
    from symdipa.programs.automaton import translated
    from symdipa.programs.python.files import in_time

    if halt is not None:
        program.halt = halt
    if differ is not None:
        program.differ = differ.text
    with in_time(limits, f"following {program.name}"):
        return translated(program, limits).automaton


def _in_c(
    file: str,
    wanted: str | None,
    settings: Mapping[str, Any],
    halt: str | None,
    limits: Limits,
    differ: Differ | None,
) -> Automaton:
    from symdipa.files.formats import text_of
    from symdipa.programs import c

    function = c.read(text_of(file, limits), wanted, settings, file)
    if halt is not None:
        function.halt = halt
    if differ is not None:
        function.differ, function.claim = differ.text, None  # what is claimed is about other inputs
    return c.automaton(function, limits).automaton


def mechanisms_in(name: str) -> list[str]:
    """All mechanisms that ``FILE.py`` stands for, as ``FILE.py:NAME`` if there are several; any other name
    itself.

    The text tells, and nothing is run. Where mechanisms are made otherwise than by a decorator of a function
    on top, and of a file that cannot be read, the name stands for itself: the reader says what there is.
    """
    file, wanted = split(name)
    if wanted is not None or PurePath(file).suffix.lower() != ".py":
        return [name]
    from symdipa.programs.python.files import decorated

    found = decorated(file)
    return [f"{file}:{each}" for each in found] if len(found) > 1 else [name]


def file_of(name: str) -> str:
    """The file that ``FILE`` or ``FILE:NAME`` names."""
    return split(name)[0]


def split(name: str) -> tuple[str, str | None]:
    """The file, and the function that is named in it."""
    file, colon, wanted = name.rpartition(":")
    if colon and PurePath(file).suffix.lower() in SUFFIXES and not set("/\\") & set(wanted):
        return file, wanted
    return name, None


def setting(text: str) -> tuple[str, Any]:
    """A setting as it is written: ``c=3``, ``scale=1/2``, ``names=('a', 'b')``, ``mode=fast``.

    Raises ``ValueError`` for a text without a name.
    """
    name, equals, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not equals or not name.isidentifier():
        raise ValueError(f"a setting is written NAME=VALUE, as in c=3, not {text!r}")
    return name, _value(value)


def _value(text: str) -> Any:
    try:
        number = Fraction(text)
    except (ValueError, ZeroDivisionError):
        pass
    else:
        return int(number) if number.denominator == 1 else number
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
