"""A function of C as a flow chart: expressions, and instructions that say which comes next.

The place of a run in the code is the number of an instruction. ``x += 1``, ``for`` and ``do`` are written out
with what is here; variables of inner blocks that have the name of an outer one get another (``x_2``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from symdipa.model.errors import Position

# ---------------------------------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Number:
    """A numeral; an ``int`` if it is one in C, else a fraction."""

    at: Position
    value: int | Fraction

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, slots=True)
class Name:
    """A variable or a parameter."""

    at: Position
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the stream: ``q[index]``."""

    at: Position
    stream: str
    index: Expression

    def __str__(self) -> str:
        return f"{self.stream}[{self.index}]"


@dataclass(frozen=True, slots=True)
class Draw:
    """A sample of Laplace noise of this scale: ``Lap(scale)``."""

    at: Position
    scale: Expression

    def __str__(self) -> str:
        return f"Lap({self.scale})"


@dataclass(frozen=True, slots=True)
class Unary:
    """``-e`` or ``!e``, or a function of one number."""

    at: Position
    op: str
    inner: Expression

    def __str__(self) -> str:
        return f"{self.op}({self.inner})" if self.op.isalpha() else f"{self.op}{_bracketed(self.inner)}"


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic, a comparison, ``&&`` or ``||``, or a function of two numbers."""

    at: Position
    op: str
    left: Expression
    right: Expression

    def __str__(self) -> str:
        if self.op.isalpha():
            return f"{self.op}({self.left}, {self.right})"
        return f"{_bracketed(self.left)} {self.op} {_bracketed(self.right)}"


@dataclass(frozen=True, slots=True)
class Choice:
    """``condition ? yes : no``."""

    at: Position
    condition: Expression
    yes: Expression
    no: Expression

    def __str__(self) -> str:
        return f"{_bracketed(self.condition)} ? {_bracketed(self.yes)} : {_bracketed(self.no)}"


Expression = Number | Name | Entry | Draw | Unary | Binary | Choice

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
LOGICAL = ("&&", "||")


def _bracketed(inner: Expression) -> str:
    return f"({inner})" if isinstance(inner, Binary | Choice) and not _is_call(inner) else str(inner)


def _is_call(inner: Expression) -> bool:
    return isinstance(inner, Binary) and inner.op.isalpha()


def parts(expression: Expression) -> tuple[Expression, ...]:
    """What an expression is directly made of."""
    match expression:
        case Entry(_, _, inner) | Draw(_, inner) | Unary(_, _, inner):
            return (inner,)
        case Binary(_, _, left, right):
            return (left, right)
        case Choice(_, condition, yes, no):
            return (condition, yes, no)
    return ()


def within(expression: Expression) -> list[Expression]:
    """The expression and all that it is made of."""
    found = [expression]
    for one in found:
        found.extend(parts(one))
    return found


def names(expression: Expression) -> frozenset[str]:
    """The variables and parameters in an expression, and the stream if an entry of it is read."""
    found = within(expression)
    return frozenset(
        [one.name for one in found if isinstance(one, Name)]
        + [one.stream for one in found if isinstance(one, Entry)]
    )


# ---------------------------------------------------------------------------------------- instructions


@dataclass(slots=True)
class Assign:
    """``target = value``; without a value the variable holds none from here on. ``whole``: it is an int."""

    at: Position
    target: str
    value: Expression | None
    whole: bool
    next: int = -1


@dataclass(slots=True)
class Show:
    """An output."""

    at: Position
    value: Expression
    next: int = -1


@dataclass(slots=True)
class Test:
    """A condition and where the run goes on. ``inside`` are the instructions of both branches of an ``if``,
    with ``next`` behind them; a loop has none."""

    at: Position
    condition: Expression
    yes: int = -1
    no: int = -1
    next: int = -1
    inside: range | None = None


@dataclass(slots=True)
class End:
    """The end of the run."""

    at: Position


Instruction = Assign | Show | Test | End


def successors(instruction: Instruction) -> tuple[int, ...]:
    """The instructions that may come next; only one where the answer of a test is known."""
    match instruction:
        case Test(_, Number(_, known)):
            return (instruction.yes if known else instruction.no,)
        case Assign() | Show():
            return (instruction.next,)
        case Test():
            return (instruction.yes, instruction.no)
    return ()


@dataclass(slots=True)
class Parameter:
    """A parameter that is a number."""

    at: Position
    name: str
    whole: bool


@dataclass(slots=True)
class Chart:
    """A function. ``stream`` is the parameter whose entries are read, ``budget`` the one that is eps, and
    ``listed`` the variable whose assignments are outputs, if there is one."""

    name: str = ""
    stream: str = ""
    budget: str = ""
    listed: str = ""
    parameters: list[Parameter] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)
    start: int = 0

    def lines(self) -> dict[int, int]:
        """The line of each instruction."""
        return {place: one.at.line for place, one in enumerate(self.instructions)}
