"""Runs the flow chart of a function on a trace: numbers are computed with, the unknown is asked for.

Where the stream has no end, so has the count of its entries. What counts then is how far an index is ahead of
the entries that were read, its value as long as it is not above a *threshold*, and its remainder by a
*modulus* (:class:`Detail`). Both are as small as the program lets them be: where a comparison or ``%`` needs
more, the run is given up with :class:`Coarse`, and all starts again in more detail.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, lcm
from operator import add, ge, gt, le, lt, mul, sub, truediv
from typing import Any, TypeVar

from symdipa.model.adjacency import TWO_SIDED, Adjacency
from symdipa.model.errors import Position
from symdipa.model.parts import Noise
from symdipa.programs.c.arithmetic import (
    EPS,
    ArithmeticProblem,
    Known,
    Multiple,
    calculated,
    compared,
    negative,
)
from symdipa.programs.c.chart import (
    COMPARISONS,
    Assign,
    Binary,
    Chart,
    Choice,
    Draw,
    End,
    Entry,
    Expression,
    Name,
    Number,
    Show,
    Test,
    Unary,
)
from symdipa.programs.c.liveness import Liveness, liveness, subscripts
from symdipa.programs.c.parameters import (
    LENGTH,
    Values,
    index_variables,
    is_unknown,
    unknown_variables,
    without_ends,
)
from symdipa.programs.trace import Refused, Trace
from symdipa.programs.values import Number as Unknown

MOST_DETAIL = 10_000
"""The largest threshold and modulus."""

MOST_KEPT = 20
"""So many entries of a stream without end are kept at most."""


@dataclass(frozen=True)
class Detail:
    """How much of an index without end is known; ``every_entry``: all that were read are kept."""

    threshold: int = 0
    modulus: int = 1
    every_entry: bool = False


class Coarse(Exception):
    """More detail is needed: this much."""

    def __init__(self, detail: Detail) -> None:
        super().__init__(detail)
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Index:
    """A position in a stream without end."""

    value: int

    def __str__(self) -> str:
        return str(self.value)


Result = TypeVar("Result")
Value = Known | Index | Unknown

_ASKED: dict[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_COMPUTED: dict[str, Callable[[Any, Any], Unknown]] = {
    "+": add,
    "-": sub,
    "*": mul,
    "/": truediv,
}


@dataclass
class Function:
    """A function with values of its parameters, as a program that runs on a trace.

    ``differ`` and ``adjacency`` say who is adjacent; ``claim`` is the wanted bound on ``D``, if there is one.
    """

    chart: Chart
    values: Values
    source: str | None = None
    differ: str = "all"
    adjacency: Adjacency = TWO_SIDED
    claim: Fraction | None = None
    detail: Detail = Detail()
    integer: bool = False
    halt: str | None = None
    notes: dict[str, Position] = field(default_factory=dict)
    """What was noticed, and where first."""
    text: str = field(default="", repr=False)
    """What is in the file."""
    has_shown: bool = False
    """Whether a run came to an output,"""
    is_refused: bool = False
    """or did what cannot be followed."""

    def __post_init__(self) -> None:
        self.indices = index_variables(self.chart) if self.values.endless else frozenset[str]()
        for one in self.chart.instructions:
            if isinstance(one, Test):
                one.condition = without_ends(one.condition, self.values.endless, self.indices)
        self.live: Liveness = liveness(self.chart)
        self.unknown = unknown_variables(self.chart)
        self.wanted = subscripts(self.chart, self.live)

    @property
    def name(self) -> str:
        return self.chart.name

    @property
    def extent(self) -> tuple[int, int]:
        """All lines of the file, of which annotations are a part."""
        return 1, max(1, len(self.text.splitlines()))

    @property
    def shows(self) -> bool:
        """Whether a run can come to an output."""
        return self.live.shows[self.chart.start]

    def run(self, trace: Trace) -> None:
        """Run it from its beginning to its end. Raises :class:`Coarse`."""
        _Run(self, trace).run()

    def in_detail(self, work: Callable[[], Result]) -> Result:
        """What some work on runs comes to, in as much detail as it needs."""
        while True:
            try:
                return work()
            except Coarse as coarse:
                self.detail = coarse.detail


class _Run:
    def __init__(self, function: Function, trace: Trace) -> None:
        self.function, self.trace = function, trace
        self.chart, self.detail = function.chart, function.detail
        self.variables: dict[str, Value] = dict(function.values.of)
        self.variables[self.chart.budget] = Multiple(Fraction(1), 1)
        self.entries: dict[int, Unknown] = {}
        self.entries_read = 0
        self.at = Position(1, 1)
        trace.where = lambda: self.at

    # ------------------------------------------------------------------------------------- instructions

    def run(self) -> None:
        """Run to the end."""
        try:
            self._run()
        except ArithmeticProblem as problem:
            self.function.is_refused = True
            self.trace.refuse(problem.seen, problem.remedy)
        except Refused:
            self.function.is_refused = True
            raise

    def _run(self) -> None:
        code, needed = self.chart.instructions, self.function.live.needed
        place = self.chart.start
        while True:
            one = code[place]
            if not self.function.live.shows[place]:
                return
            if not needed[place]:
                place = self._skipped(one)
                continue
            self.at = one.at
            self.point(place)
            match one:
                case Assign(_, target, value, whole):
                    assert value is not None
                    self.variables[target] = self.stored(target, self.value(value), whole)
                    place = one.next
                case Show(_, value):
                    self.show(self.value(value))
                    place = one.next
                case Test(_, condition):
                    place = one.yes if self.holds(condition) else one.no
                case End():
                    return

    def _skipped(self, one: object) -> int:
        """Where to go on behind what does not matter."""
        if isinstance(one, Assign) and one.value is None:
            self.variables.pop(one.target, None)
        assert isinstance(one, Assign | Test)
        return one.next

    def point(self, place: int) -> None:
        """Tell the trace where the run is, with all that the rest of it depends on."""
        live = self.function.live.before[place]
        reads = self.chart.stream in live
        if reads:
            self._forget_entries(place)
        values: dict[str, Hashable | Unknown] = {}
        known = sorted((live & self.variables.keys()) - {self.chart.budget})
        for name in known:
            value = self.variables[name]
            if isinstance(value, Index):
                values[name] = self._seen(value, reads)
            elif isinstance(value, Multiple):
                values[name] = (EPS, value.coefficient, value.power)
            elif name not in self.function.values.of:
                values[name] = value
        positions = any(isinstance(self.variables[name], Index) for name in known)
        if reads and not positions:
            values[f"entries of {self.chart.stream}"] = self.entries_read
        if reads:
            for number, entry in self.entries.items():
                values[f"{self.chart.stream}_{self.entries_read - number}"] = entry
        self.trace.point(place, self.at.line, values)

    def _seen(self, index: Index, reads: bool) -> Hashable:
        value, detail = index.value, self.detail
        ahead = value - self.entries_read if reads else None
        return "index", ahead, min(value, detail.threshold + 1), value % detail.modulus

    def _forget_entries(self, place: int) -> None:
        """Forget the entries that are not wanted any more, and read those that never will be."""
        wanted = self.function.wanted
        if wanted is None or self.detail.every_entry:
            return
        kept = set()
        for name, ahead in wanted[place]:
            value = self.variables.get(name, 0) if name else 0
            if isinstance(value, int | Index):
                kept.add(ahead + (value.value if isinstance(value, Index) else value))
        first = min(kept, default=0)
        while self.entries_read < first and self.exists(self.entries_read):
            self.read_entry()
        self.entries = {number: entry for number, entry in self.entries.items() if number in kept}

    def stored(self, target: str, value: Value, whole: bool) -> Value:
        """What a variable of its type makes of a value."""
        if target in self.function.indices and isinstance(value, int):
            return Index(value)
        if whole and isinstance(value, Fraction):
            if value.denominator != 1:
                raise ArithmeticProblem(
                    f"{target} is an int, so C cuts off what {value} has behind the point",
                    f"declare it as float {target}",
                )
            return int(value)
        if whole and isinstance(value, Unknown | Multiple):
            what = value.words if isinstance(value, Unknown) else f"a multiple of {EPS}"
            self.note(f"{target} holds {what}")
        return Fraction(value) if not whole and isinstance(value, int) else value

    def note(self, text: str) -> None:
        self.function.notes.setdefault(text, self.at)

    def show(self, value: Value) -> None:
        if isinstance(value, Index):
            raise _without_end(f"{value} is shown")
        if isinstance(value, Multiple):
            raise ArithmeticProblem(
                f"{value} is shown, which depends on {EPS}", "show a number or a noisy value"
            )
        self.function.has_shown = True
        self.trace.show(value)

    # --------------------------------------------------------------------------------------- conditions

    def holds(self, condition: Expression) -> bool:
        """Whether a condition holds; the trace is asked if that depends on what is not known.

        What is known is looked at first: the order does not count, and so less is asked.
        """
        match condition:
            case Binary(_, "&&" | "||" as op, left, right):
                decisive = op == "||"
                unknown = self.function.unknown
                if is_unknown(left, unknown) and not is_unknown(right, unknown):
                    with suppress(ArithmeticProblem):  # the left side may be what rules that out
                        return decisive if self.holds(right) == decisive else self.holds(left)
                return decisive if self.holds(left) == decisive else self.holds(right)
            case Unary(_, "!", inner):
                return not self.holds(inner)
            case Binary(at, op, left, right) if op in COMPARISONS:
                one, other = self.value(left), self.value(right)
                self.at = at
                return self.compared(op, one, other)
        return self.compared("!=", self.value(condition), 0)

    def compared(self, op: str, one: Value, other: Value) -> bool:
        if isinstance(one, Unknown) or isinstance(other, Unknown):
            a, b = (self.unknown(side, op) for side in (one, other))
            if op in ("==", "!="):
                return (a == b) == (op == "==")
            return _ASKED[op](a, b)
        if isinstance(one, Index) or isinstance(other, Index):
            return self.compared_positions(op, one, other)
        return compared(op, one, other)

    def compared_positions(self, op: str, one: Known | Index, other: Known | Index) -> bool:
        """Compare a position without end with a number; above the threshold all are alike."""
        number = one if isinstance(other, Index) else other
        if not isinstance(number, (int, Fraction)):
            raise _without_end(f"{one} {op} {other}")
        self.needs(threshold=ceil(abs(Fraction(number))))
        a, b = (side.value if isinstance(side, Index) else side for side in (one, other))
        return compared(op, a, b)

    def needs(self, threshold: int = 0, modulus: int = 1) -> None:
        """Give up the run if positions are not known in this much detail."""
        now = self.detail
        wanted = replace(now, threshold=max(now.threshold, threshold), modulus=lcm(now.modulus, modulus))
        if wanted != now:
            if max(wanted.threshold, wanted.modulus) > MOST_DETAIL:
                raise _without_end(f"{max(threshold, modulus)} is more than {MOST_DETAIL}")
            raise Coarse(wanted)

    def unknown(self, value: Value, op: str) -> Unknown | Fraction:
        """A side of an operation whose other side is not known."""
        if isinstance(value, Multiple):
            raise ArithmeticProblem(
                f"{op} has {value} on one side and a value that is not known on the other",
                f"noisy values go with numbers that do not depend on {EPS}",
            )
        if isinstance(value, Index):
            raise _without_end(f"{value} {op} a value that is not known")
        return value if isinstance(value, Unknown) else Fraction(value)

    # --------------------------------------------------------------------------------------- expressions

    def value(self, expression: Expression) -> Value:
        """The value of an expression. Raises :class:`ArithmeticProblem`."""
        match expression:
            case Number(_, number):
                return number
            case Name(at, name):
                if name not in self.variables:
                    self.at = at
                    raise ArithmeticProblem(f"{name} has no value yet", f"declare it with one, as {name} = 0")
                return self.variables[name]
            case Entry(at, _, index):
                position = self.value(index)
                self.at = at
                return self.entry(position)
            case Draw(at, scale):
                wanted = self.value(scale)
                self.at = at
                return self.noise(wanted, at)
            case Choice(_, condition, yes, no):
                return self.value(yes if self.holds(condition) else no)
            case Unary(_, "!") | Binary(_, "&&" | "||"):
                return int(self.holds(expression))
            case Binary(_, op) if op in COMPARISONS:
                return int(self.holds(expression))
            case Unary(at, op, inner):
                return self.changed(op, self.value(inner), at)
            case Binary(at, op, left, right):
                one, other = self.value(left), self.value(right)
                self.at = at
                if op in ("min", "max"):
                    return one if self.compared("<", one, other) == (op == "min") else other
                return self.computed(op, one, other)
        raise AssertionError(expression)

    def changed(self, op: str, value: Value, at: Position) -> Value:
        """``-value`` or ``fabs(value)``."""
        self.at = at
        if isinstance(value, Index):
            raise _without_end(f"{op} of a position")
        if op == "-" or self.compared("<", value, 0):
            return -value if isinstance(value, Unknown) else negative(value)
        return value

    def computed(self, op: str, one: Value, other: Value) -> Value:
        if isinstance(one, Unknown) or isinstance(other, Unknown):
            a, b = (self.unknown(side, op) for side in (one, other))
            if op == "%":
                seen = next(side.words for side in (a, b) if isinstance(side, Unknown))
                raise ArithmeticProblem(
                    f"% has {seen} on one side", "sums, differences, multiples and comparisons are followed"
                )
            return _COMPUTED[op](a, b)
        if isinstance(one, Index) or isinstance(other, Index):
            return self.moved(op, one, other)
        return calculated(op, one, other)

    def moved(self, op: str, one: Known | Index, other: Known | Index) -> Known | Index:
        """Arithmetic with a position without end: another one nearby, or its remainder."""
        if isinstance(one, Index) and isinstance(other, int):
            if op in "+-":
                return Index(one.value + other if op == "+" else one.value - other)
            if op == "%" and other:
                self.needs(modulus=abs(other))
                return one.value % other
        if op == "+" and isinstance(one, int) and isinstance(other, Index):
            return Index(one + other.value)
        raise _without_end(f"{one} {op} {other}")

    def noise(self, scale: Value, at: Position) -> Unknown:
        if isinstance(scale, Multiple) and scale.power == -1 and scale.coefficient > 0:
            return self.trace.noise(Noise.LAPLACE, 1 / scale.coefficient, at)
        if isinstance(scale, Multiple | Unknown):
            what = scale.words if isinstance(scale, Unknown) else str(scale)
        else:
            what = f"{scale}, which does not depend on {EPS}"
        raise ArithmeticProblem(f"the scale of noise is {what}", f"write a positive number over {EPS}")

    # ------------------------------------------------------------------------------------------ entries

    def entry(self, index: Value) -> Unknown:
        """The entry of the stream at this position; those before it are read first."""
        stream = self.chart.stream
        position = index.value if isinstance(index, Index) else index
        if isinstance(position, Unknown):
            raise ArithmeticProblem(
                f"{stream}[...] has {position.words} as its index",
                "which entry is read must not depend on inputs or noise",
            )
        if not isinstance(position, int):
            raise ArithmeticProblem(f"{stream}[...] has an index that is no int", "declare it as int")
        if position < 0:
            raise ArithmeticProblem(f"{stream}[{position}] is read", "entries begin with 0")
        if not self.exists(position):
            raise ArithmeticProblem(
                f"{stream}[{position}] is read, but there are {self.function.values.of[LENGTH]} entries",
                f"compare the index with {LENGTH} first",
            )
        while self.entries_read <= position:
            self.read_entry()
        if position not in self.entries:
            raise Coarse(replace(self.detail, every_entry=True))
        return self.entries[position]

    def exists(self, position: int) -> bool:
        """Whether the stream is that long, as far as that is known."""
        length = self.function.values.of.get(LENGTH)
        return length is None or position < length

    def read_entry(self) -> None:
        stream = self.chart.stream
        if self.function.values.endless and len(self.entries) >= MOST_KEPT:
            raise ArithmeticProblem(
                f"more than {MOST_KEPT} entries of {stream} are kept, as any may be read again",
                f"give their number, as --set {LENGTH}=5, or read only {stream}[i + 1] and the like",
            )
        self.entries[self.entries_read] = self.trace.read()
        self.entries_read += 1


def _without_end(seen: str) -> ArithmeticProblem:
    return ArithmeticProblem(
        f"{seen}, and there is no end to positions in the stream",
        f"give the number of entries, as --set {LENGTH}=5",
    )
