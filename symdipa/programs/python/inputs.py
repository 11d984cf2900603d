"""What a mechanism gets as a parameter: a stream of entries, or one entry."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NoReturn

from symdipa.programs.trace import Trace
from symdipa.programs.values import Number

SETTINGS = "what is known has a default, as in scale=2, or stands behind a *: all other parameters are inputs"
"""What to do where an input stands in place of a setting."""


class Inputs:
    """A parameter of a mechanism. It is a stream, looped over or asked for ``next``; or a list, whose entries
    are asked for in order by their positions; or a number, where the program computes with it.

    ``size`` is how many entries there are, ``None`` where there is no end.
    """

    def __init__(self, trace: Trace, name: str, size: int | None) -> None:
        self.trace, self.name, self.size = trace, name, size
        self.count = 0
        self.is_over = False
        self.use = ""
        self.last: Number | None = None

    def described(self) -> object:
        """What is different about it in the course of a run."""
        count = None if self.use == "stream" and self.size is None else self.count
        return self.name, self.use, count, self.is_over, self.last

    # ---------------------------------------------------------------------------------------- as a stream

    def __iter__(self) -> Iterator[Number]:
        if self.use:
            self.refuse(
                f"{self.name} is used again after it was used as a {self.use}",
                f"loop over it once, or hold iter({self.name}) in a variable and go on with that",
            )
        self.use = "stream"
        return Stream(self)

    def __next__(self) -> Number:
        self.used("stream")
        return self.entry()

    def entry(self) -> Number:
        if self.is_over or self.count == self.size:
            raise StopIteration
        self.count += 1
        return self.trace.read(self.name)

    # ------------------------------------------------------------------------------------------ as a list

    def __len__(self) -> int:
        if self.size is None:
            self.refuse(f"the length of {self.name} is not known", f"set it: --set {self.name}=5")
        return self.size

    def __getitem__(self, position: object) -> Number:
        self.used("list")
        if not isinstance(position, int) or isinstance(position, bool):
            self.refuse(f"{self.name}[{position!r}] is asked for", "ask for one entry by its position")
        if position < 0:
            position += len(self)
        if self.size is not None and not 0 <= position < self.size:
            raise IndexError(f"{self.name} has {self.size} entries")
        if self.last is not None and position == self.count - 1:
            return self.last
        if position < self.count:
            self.refuse(
                f"{self.name}[{position}] is asked for after {self.name}[{self.count - 1}]",
                "entries are read in order; keep in a variable what is needed again",
            )
        while self.count <= position:
            self.count += 1
            self.last = self.trace.read(self.name)
        assert self.last is not None
        return self.last

    # ---------------------------------------------------------------------------------------- as a number

    @property
    def number(self) -> Number:
        self.used("number")
        if self.last is None:
            self.last = self.trace.read(self.name)
        return self.last

    def used(self, use: str) -> None:
        if self.use not in ("", use):
            self.refuse(f"{self.name} is used as a {self.use} and as a {use}", "use it as one of them")
        self.use = use

    def refuse(self, seen: str, remedy: str) -> NoReturn:
        self.trace.refuse(seen, remedy)

    def __bool__(self) -> bool:
        self.refuse(f"{self.name} stands as a condition", "compare it, or loop over it")

    def __rtruediv__(self, number: object) -> NoReturn:
        self.refuse(f"a number is divided by {self.name}, which is an input", SETTINGS)

    __hash__ = None  # type: ignore[assignment]


def _forwarded(operation: str) -> Any:
    def method(self: Inputs, *operands: Any) -> Any:
        others = [each.number if isinstance(each, Inputs) else each for each in operands]
        return getattr(self.number, operation)(*others)

    return method


for _operation in (
    *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "neg", "pos", "abs"),
    *("lt", "le", "gt", "ge", "eq", "int", "float", "index", "round", "trunc", "floor", "ceil"),
    *("str", "format", "repr", "mod", "floordiv", "pow"),
):
    setattr(Inputs, f"__{_operation}__", _forwarded(f"__{_operation}__"))


class Stream:
    """The iterator of a parameter: it has no state of its own. Where it is called by hand there is a next
    entry, unless the size says otherwise."""

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Number:
        return self.inputs.entry()

    def described(self) -> object:
        return self.inputs


class Loop(Stream):
    """A stream that is looped over. ``passed`` is called before every entry, and tells whether it may make a
    difference that the loop ends here: then a stream without a size may end."""

    def __init__(self, stream: Stream, passed: Callable[[FrameType], bool]) -> None:
        super().__init__(stream.inputs)
        self.passed = passed

    def __next__(self) -> Number:
        inputs = self.inputs
        if self.passed(sys._getframe(1)) and inputs.size is None and not inputs.is_over:
            inputs.is_over = inputs.trace.ends()
        return inputs.entry()
