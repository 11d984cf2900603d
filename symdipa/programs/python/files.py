"""Mechanisms in files. The file is run, as ``import`` would; nothing is done with what it prints."""

from __future__ import annotations

import ast
import linecache
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any

from symdipa.model.errors import InputProblem, InvalidInput, OutOfTime, Position, SymdipaError
from symdipa.model.limits import Limits
from symdipa.model.spelling import Dictionary
from symdipa.programs.python.mechanism import Mechanism
from symdipa.programs.python.run import PythonProgram, failure


def load(file: str, wanted: str | None, settings: Mapping[str, Any], limits: Limits) -> PythonProgram:
    """The mechanism of a file, the one of this name if there are several, with settings.

    Raises :class:`InvalidInput`, and :class:`~symdipa.model.errors.LimitReached` where it does not end.
    """
    with in_time(limits, f"running {file}"):
        found = {
            name: value
            for name, value in vars(_module(file)).items()
            if isinstance(value, Mechanism) and value.function.__code__.co_filename == file
        }
    return PythonProgram(_chosen(file, found, wanted), settings)


def _chosen(file: str, found: Mapping[str, Mechanism], wanted: str | None) -> Mechanism:
    if not found:
        raise _refused(file, "no mechanism is in this file: put @symdipa.mechanism before a function")
    if wanted is None and len(found) > 1:
        raise _refused(
            file, f"there are several mechanisms: {', '.join(found)}; name one, as {file}:{next(iter(found))}"
        )
    if wanted is None:
        return next(iter(found.values()))
    if wanted not in found:
        meant = Dictionary(list(found)).closest(wanted)
        hint = f"did you mean {meant}?" if meant else f"there is {', '.join(found)}"
        raise _refused(file, f"no mechanism {wanted} is in this file; {hint}")
    return found[wanted]


def _module(file: str) -> ModuleType:
    """The file as a module that has been run."""
    text = _text(file)
    module = ModuleType(f"symdipa_program_{PurePath(file).stem}")
    module.__file__ = file
    linecache.checkcache(file)
    sys.modules[module.__name__] = module  # dataclasses look there
    try:
        with redirect_stdout(sys.stderr):
            exec(compile(text, file, "exec", dont_inherit=True), module.__dict__)
    except SyntaxError as error:
        place = Position(error.lineno or 1, error.offset or 1)
        raise InvalidInput(
            [InputProblem("syntax", f"this is not Python: {error.msg}", place)], file
        ) from None
    except SymdipaError:
        raise
    except (Exception, SystemExit) as error:
        seen, _, where = failure(error, file)
        raise InvalidInput([InputProblem("program", seen, where)], file) from None
    finally:
        sys.modules.pop(module.__name__, None)
    return module


def _text(file: str) -> str:
    try:
        return Path(file).read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise _refused(file, "there is no such file", "file") from None
    except UnicodeDecodeError:
        raise _refused(file, "this is not a text in UTF-8", "encoding") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _refused(file, f"cannot be read: {reason}", "file") from None


def _refused(file: str, message: str, rule: str = "program") -> InvalidInput:
    return InvalidInput([InputProblem(rule, message)], file)


@contextmanager
def in_time(limits: Limits, doing: str) -> Iterator[None]:
    """Ends whatever runs inside when the time is up, where the system can do that."""
    left = limits.left()
    if (
        left is None
        or threading.current_thread() is not threading.main_thread()
        or not hasattr(signal, "SIGALRM")
    ):
        yield
        return

    def over(number: int, frame: object) -> None:
        raise OutOfTime(doing)

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, max(left, 0.001))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# ------------------------------------------------------------------------------- what a text tells, unrun

MADE_BY = "mechanism"
"""The name of the decorator, in ``symdipa`` and where it comes from."""


def decorated(file: str) -> list[str]:
    """The functions on top of a file that are decorated with ``@mechanism``, in their order.

    None if something else is done with that, or the file cannot be read.
    """
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    names = _Names(tree)
    found = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and any(map(names.is_decorator, node.decorator_list))
    ]
    return list(dict.fromkeys(found)) if names.uses == len(found) else []


class _Names:
    """What the decorator is called in a file."""

    def __init__(self, tree: ast.Module) -> None:
        self.own: set[str] = set()
        self.modules: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                here = (each.asname or each.name.partition(".")[0] for each in node.names)
                self.modules.update(
                    name for name, each in zip(here, node.names, strict=True) if _is_ours(each.name)
                )
            elif isinstance(node, ast.ImportFrom) and _is_ours(node.module or ""):
                self.own.update(each.asname or MADE_BY for each in node.names if each.name in (MADE_BY, "*"))
        self.uses = sum(isinstance(node, ast.expr) and self.is_named(node) for node in ast.walk(tree))
        """How often it is named besides."""

    def is_decorator(self, node: ast.expr) -> bool:
        return self.is_named(node.func if isinstance(node, ast.Call) else node)

    def is_named(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(name):
                return name in self.own
            case ast.Attribute(ast.Name(module), name):
                return module in self.modules and name == MADE_BY
        return False


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "symdipa"
