"""Programs in files: which files they are, and the automaton of one. A program is run in order to read it."""

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

SUFFIXES = (".py",)
"""The suffixes of files that are programs."""


def is_program(name: str) -> bool:
    """Whether a file is a program: ``svt.py``, or ``svt.py:name``."""
    return PurePath(_split(name)[0]).suffix.lower() in SUFFIXES


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
    from symdipa.programs.automaton import translated
    from symdipa.programs.python.files import in_time, load

    file, wanted = _split(name)
    program = load(file, wanted, settings or {}, limits)
    if halt is not None:
        program.halt = halt
    if differ is not None:
        program.differ = differ.text
    with in_time(limits, f"following {program.name}"):
        return translated(program, limits).automaton


def automaton_of(
    model: Automaton | Mechanism, settings: Mapping[str, Any], limits: Limits = UNLIMITED
) -> Automaton:
    """The automaton of a mechanism with these settings; an automaton is itself, and has none."""
    if not isinstance(model, Automaton):
        from symdipa.programs.python.mechanism import Mechanism

        if isinstance(model, Mechanism):
            return model.translated(settings, limits).automaton
    if settings:
        raise TypeError(f"{next(iter(settings))} is neither an option nor, here, a parameter of a mechanism")
    return model


def _split(name: str) -> tuple[str, str | None]:
    """The file and what is named in it."""
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
