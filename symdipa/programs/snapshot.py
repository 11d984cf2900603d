"""What the live values of a program are, as something that can be compared with those of another run.

Equal snapshots mean that the rest of the run is the same, up to the names of symbolic numbers: those stand
in a list, and in the shapes of values their positions in it. Mutable values are numbered, so that it counts
where one and the same list is meant.
"""

from __future__ import annotations

import functools
import types
import warnings
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

from symdipa.programs.values import Absolute, Number

PLAIN = (int, float, complex, str, bytes, Fraction, Decimal, type(None), type(...))
FIXED = (type, types.ModuleType, types.BuiltinFunctionType, types.CodeType, property, Enum)
"""Kinds of values that are the same object in every run, and do not change."""

MOST_VALUES = 20_000
"""The most values that one snapshot is made of."""

Describe = Callable[[object], object]
"""What a value is, as another value, for kinds that only a front end knows; ``NotImplemented`` for others."""


class Unknown(Exception):
    """A value of a kind that cannot be compared with that of another run; ``path`` leads to it."""

    def __init__(self, value: object, path: str) -> None:
        super().__init__(path)
        self.value, self.path = value, path


@dataclass(slots=True)
class Snapshot:
    """``shapes`` by the names of the live variables; ``numbers`` with the paths that lead to them."""

    shapes: dict[str, Hashable] = field(default_factory=dict)
    numbers: list[tuple[Number, str]] = field(default_factory=list)
    _known: dict[int, int] = field(default_factory=dict)
    _kept: list[object] = field(default_factory=list)
    """Values that were made for the snapshot: as long as they are there, no other has their identity."""

    _describe: Describe = lambda value: NotImplemented

    @classmethod
    def of(cls, values: Mapping[str, object], describe: Describe | None = None) -> Snapshot:
        """The snapshot of variables, which come in the same order in all runs. Raises :class:`Unknown`."""
        found = cls()
        if describe is not None:
            found._describe = describe
        for name in sorted(values, key=lambda name: not isinstance(values[name], Number)):
            found.shapes[name] = found._shape(values[name], name)
        return found

    def _shape(self, value: Any, path: str) -> Hashable:
        if isinstance(value, Number):
            self.numbers.append((value, path))
            return "number", len(self.numbers) - 1
        if isinstance(value, Absolute):
            return "abs", self._shape(value.inner, path)
        if isinstance(value, PLAIN) and type(value).__module__ in ("builtins", "fractions", "decimal"):
            return type(value).__name__, repr(value) if isinstance(value, float) else value
        if isinstance(value, FIXED):
            return "object", id(value)
        if type(value) in (tuple, range, slice, frozenset):
            return self._parts(value, path)
        if id(value) in self._known:
            return "same", self._known[id(value)]
        self._known[id(value)] = number = len(self._known)
        self._kept.append(value)
        if number > MOST_VALUES:
            raise Unknown(value, path)
        return number, self._parts(value, path)

    def _parts(self, value: Any, path: str) -> Hashable:
        kind = type(value)
        if kind in (tuple, list):
            return kind.__name__, tuple(self._shape(each, f"{path}_{i}") for i, each in enumerate(value))
        if kind is dict:
            return "dict", tuple(
                (self._shape(key, f"{path}_key"), self._shape(each, f"{path}_{key}"))
                for key, each in value.items()
            )
        if kind in (set, frozenset):
            members = sorted((repr(self._shape(each, path)), each) for each in value) if value else []
            return kind.__name__, tuple(text for text, _ in members)
        if kind in (range, slice):
            return kind.__name__, value.start, value.stop, value.step
        described = self._describe(value)
        if described is not NotImplemented:
            return kind.__name__, self._shape(described, path)
        if kind is types.FunctionType:
            cells = [_content(cell) for cell in value.__closure__ or ()]
            inside = (value.__code__, cells, value.__defaults__, value.__kwdefaults__)
            return "function", self._made(inside, path)
        if kind is types.MethodType:
            return "method", self._made((value.__func__, value.__self__), path)
        if kind is functools.partial:
            return "partial", self._made((value.func, value.args, value.keywords), path)
        return kind.__name__, self._made(_reduced(value, path), path)

    def _made(self, value: object, path: str) -> Hashable:
        self._kept.append(value)
        return self._shape(value, path)


def _content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return "an empty cell"


def _reduced(value: Any, path: str) -> object:
    """What the value is made of, as its class tells :mod:`pickle`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that tools of itertools will not tell for ever
            reduced = value.__reduce_ex__(2)
    except Exception:
        raise Unknown(value, path) from None
    if isinstance(reduced, str):
        return reduced
    made = list(reduced)
    for k in (3, 4):  # iterators of the items of a list, and of a dictionary
        if len(made) > k and made[k] is not None:
            made[k] = list(made[k])
    return tuple(made)
