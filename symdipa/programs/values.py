"""Symbolic numbers: linear in what a run has read and in the noise that it has drawn.

A :class:`Number` is what a program computes with in place of a number that is not known. It behaves like a
number as long as it stays one that an automaton can hold; everything else is refused, with what to do
instead. A comparison asks the trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isfinite, isinf
from typing import Any, NoReturn, Protocol, TypeGuard

from symdipa.model import parts


class Judge(Protocol):
    """Who knows what a run has done so far, and answers for numbers: the trace."""

    is_running: bool

    def less(self, left: Number, right: Number, *, strict: bool) -> bool:
        """Whether a number is less than another one, or at most if not ``strict``."""

    def equal(self, left: Number, right: Number) -> bool:
        """Whether two numbers are equal."""

    def made(self, number: Number) -> None:
        """Hear of a sum."""

    def refuse(self, seen: str, remedy: str = "") -> NoReturn:
        """Say that something cannot be followed, and what to do instead."""


@dataclass(slots=True, eq=False)
class Entry:
    """An entry of the input, or the sum of entries that a register holds, under a ``name``.

    ``age`` is larger for later ones. ``of``: what it will be the name of if the run is cut where it was made;
    ``None`` once it is a name of its own. ``site`` is the place in the program that read an entry.
    """

    name: str
    age: int
    of: Mapping[Entry, Fraction] | None = None
    site: object = None

    def copy(self) -> Entry:
        return Entry(self.name, self.age, self.of, self.site)


@dataclass(slots=True, eq=False)
class Noise:
    """Noise around 0 with inverse scale ``d``, made at ``site`` in the program.

    Until it is needed nothing is drawn, since the mean is what the program adds to it. Then there is a
    :class:`Sample`, and the noise is a number that is linear in that: ``drawn``.
    """

    kind: parts.Noise
    d: Fraction
    site: object
    line: int
    drawn: Number | None = None

    def copy(self) -> Noise:
        return Noise(self.kind, self.d, self.site, self.line, self.drawn)


@dataclass(slots=True, eq=False)
class Sample:
    """A sample of the automaton under a ``name``. ``shown``: its value was output, so it is public; ``used``:
    it was compared or shown. ``age`` is larger for later ones.

    ``site`` is that of the noise that was drawn, ``None`` where there is none.
    """

    name: str
    site: object
    line: int
    kind: parts.Noise
    age: int
    shown: bool = False
    used: bool = False

    def copy(self) -> Sample:
        return Sample(self.name, self.site, self.line, self.kind, self.age, self.shown, self.used)


Symbol = Entry | Noise | Sample

ONE = Fraction(1)

AN_INPUT = "an input"
"""How messages speak of sums of entries."""

SMALL_DENOMINATOR = 1_000_000


def exact(value: object) -> Fraction | None:
    """A plain number; of those that a float may stand for a simple one (``0.1`` is 1/10, ``4 / 3`` is 4/3).

    ``None`` for anything else.
    """
    if isinstance(value, int | Fraction):
        return Fraction(value)
    if isinstance(value, float) and isfinite(value):
        simple = Fraction(value).limit_denominator(SMALL_DENOMINATOR)
        return simple if float(simple) == value else Fraction(value)
    return Fraction(value) if isinstance(value, Decimal) and value.is_finite() else None


def _is_infinite(value: object) -> TypeGuard[float]:
    return isinstance(value, float) and isinf(value)


class Number:
    """A sum of symbols with factors (none is 0) and a constant.

    ``public``: plus a number that can be computed from what was shown before. Programs never change one; the
    trace replaces noise that was drawn, and what it knows by another name.
    """

    __slots__ = ("constant", "public", "terms", "trace")

    def __init__(
        self,
        trace: Judge,
        terms: Mapping[Any, Fraction] | None = None,
        constant: Fraction = Fraction(0),
        public: bool = False,
    ) -> None:
        self.trace = trace
        self.terms: dict[Symbol, Fraction] = dict(terms or {})
        self.constant = constant
        self.public = public

    @property
    def is_constant(self) -> bool:
        return not self.terms and not self.public

    @property
    def entries(self) -> dict[Entry, Fraction]:
        """Its inputs, with their factors."""
        return {each: factor for each, factor in self.terms.items() if isinstance(each, Entry)}

    @property
    def samples(self) -> dict[Sample, Fraction]:
        """The samples that were drawn, with their factors."""
        return {each: factor for each, factor in self.terms.items() if isinstance(each, Sample)}

    @property
    def noises(self) -> dict[Noise, Fraction]:
        """The noise that it was made with, with its factors."""
        return {each: factor for each, factor in self.terms.items() if isinstance(each, Noise)}

    @property
    def words(self) -> str:
        """How messages speak of it."""
        noisy = len(self.terms) - len(self.entries)
        if noisy:
            return "a noisy value" if noisy == 1 else "a sum of noisy values"
        return AN_INPUT if self.terms else "a value that was shown" if self.public else str(self.constant)

    def plus(self, other: Number, factor: Fraction = ONE) -> Number:
        """The sum with ``factor`` times another number."""
        terms, constant = dict(self.terms), self.constant
        for each, coefficient in other.terms.items():  # fractions are slow, and most are 0 or 1
            more = coefficient if factor is ONE else factor * coefficient
            total = terms.pop(each) + more if each in terms else more
            if total:
                terms[each] = total
        if other.constant:
            constant += factor * other.constant
        return Number(self.trace, terms, constant, self.public or (other.public and factor != 0))

    def times(self, factor: Fraction) -> Number:
        """The number times a factor."""
        return Number(self.trace).plus(self, factor)

    def like(self, value: Fraction) -> Number:
        """A number that is known, of the same trace."""
        return Number(self.trace, constant=value)

    # ----------------------------------------------------------------------------------------- as a number

    def __add__(self, other: object) -> Number:
        return self._made(self.plus(self._number(other, "+")))

    __radd__ = __add__

    def __sub__(self, other: object) -> Number:
        return self._made(self.plus(self._number(other, "-"), -ONE))

    def __rsub__(self, other: object) -> Number:
        return self._made(self._number(other, "-").plus(self, -ONE))

    def __mul__(self, other: object) -> Number:
        factor = self._number(other, "*")
        if self.is_constant:
            return factor.times(self.constant)
        if not factor.is_constant:
            self._refuse(
                f"{self.words} is multiplied by {factor.words}",
                "only products with numbers that are known are followed, such as 2 * q",
            )
        return self.times(factor.constant)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Number:
        divisor = self._number(other, "/")
        if not divisor.is_constant:
            self._refuse(
                f"{self.words} is divided by {divisor.words}",
                "only quotients by numbers that are known are followed, such as q / 2",
            )
        if not divisor.constant:
            self._refuse(f"{self.words} is divided by 0", "divide by another number")
        return self.times(1 / divisor.constant)

    def __rtruediv__(self, other: object) -> NoReturn:
        self._refuse(
            f"a number is divided by {self.words}", "compare with a multiple instead: a / b < 2 as a < 2 * b"
        )

    def __neg__(self) -> Number:
        return self.times(-ONE)

    def __pos__(self) -> Number:
        return self

    def __abs__(self) -> Absolute:
        return Absolute(self)

    def __lt__(self, other: object) -> bool:
        if isinstance(other, Absolute):
            return other > self
        if _is_infinite(other):
            return other > 0
        return self.trace.less(self, self._number(other, "<"), strict=True)

    def __le__(self, other: object) -> bool:
        if isinstance(other, Absolute):
            return other >= self
        if _is_infinite(other):
            return other > 0
        return self.trace.less(self, self._number(other, "<="), strict=False)

    def __gt__(self, other: object) -> bool:
        if isinstance(other, Absolute):
            return other < self
        if _is_infinite(other):
            return other < 0
        return self.trace.less(self._number(other, ">"), self, strict=True)

    def __ge__(self, other: object) -> bool:
        if isinstance(other, Absolute):
            return other <= self
        if _is_infinite(other):
            return other < 0
        return self.trace.less(self._number(other, ">="), self, strict=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Number) and exact(other) is None:
            return False  # as a number is no text, and not None
        return self.trace.equal(self, self._number(other, "=="))

    # --------------------------------------------------------------------------------------- what it is not

    def __bool__(self) -> bool:
        self._refuse(f"{self.words} stands as a condition", "compare it with something, as in noisy >= 0")

    def __hash__(self) -> int:
        self._refuse(
            f"{self.words} is a key of a dictionary or a member of a set",
            "keep it in a variable, or in a list at a position that is known",
        )

    def __int__(self) -> int:
        self._rounded("int")

    def __complex__(self) -> complex:
        self._rounded("complex")

    def __round__(self, digits: object = None) -> NoReturn:
        self._rounded("round")

    def __trunc__(self) -> NoReturn:
        self._rounded("trunc")

    def __floor__(self) -> NoReturn:
        self._rounded("floor")

    def __ceil__(self) -> NoReturn:
        self._rounded("ceil")

    def __index__(self) -> int:
        self._refuse(
            f"{self.words} is used as a position or a count", "only numbers that are known can be; compare it"
        )

    def __float__(self) -> float:
        self._refuse(
            f"{self.words} is turned into a float, as functions of math do",
            "sums, differences, multiples and comparisons are followed; float() can be left out",
        )

    def __str__(self) -> str:
        self._refuse(f"{self.words} is turned into text", "show the value itself: yield noisy, or a tuple")

    def __format__(self, spec: str) -> str:
        return str(self)

    def __repr__(self) -> str:
        return str(self) if self.trace.is_running else f"<{self.words}>"

    def __iter__(self) -> NoReturn:
        self._refuse(f"{self.words} is used as if it were a list", "loop over the stream of inputs")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        self._refuse(f"{self.words} is pickled", "keep it in a variable")

    def __copy__(self) -> Number:
        return self

    def __deepcopy__(self, memo: object) -> Number:
        return self

    def _no_operation(self, other: object = None, *more: object) -> NoReturn:
        self._refuse(
            f"{self.words} is an operand of **, //, %, divmod, @ or an operation on bits",
            "sums, differences, multiples and comparisons are followed",
        )

    __pow__ = __rpow__ = __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = _no_operation
    __divmod__ = __rdivmod__ = __matmul__ = __rmatmul__ = __lshift__ = __rlshift__ = _no_operation
    __rshift__ = __rrshift__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _no_operation
    __invert__ = _no_operation

    def _made(self, number: Number) -> Number:
        self.trace.made(number)
        return number

    def _rounded(self, function: str) -> NoReturn:
        self._refuse(
            f"{function}() of {self.words}",
            "show the value as it is and round it outside, or have integer noise",
        )

    def _number(self, other: object, operator: str) -> Number:
        if isinstance(other, Number):
            return other
        if isinstance(other, Absolute):
            return other.number
        known = exact(other)
        if known is None:
            kind = "None" if other is None else f"a value of type {type(other).__name__}"
            self._refuse(
                f"{operator} has {self.words} on one side and {kind} on the other",
                "both sides have to be numbers",
            )
        return self.like(known)

    def _refuse(self, seen: str, remedy: str) -> NoReturn:
        self.trace.refuse(seen, remedy)


class Absolute:
    """The absolute value of a number: compared with another one it is two comparisons, one for each side; for
    everything else its sign is asked for."""

    __slots__ = ("inner",)

    def __init__(self, inner: Number) -> None:
        self.inner = inner

    @property
    def number(self) -> Number:
        return self.inner if self.inner >= 0 else -self.inner

    def __ge__(self, other: Any) -> bool:
        return bool(self.inner >= other or -self.inner >= other)

    def __gt__(self, other: Any) -> bool:
        return bool(self.inner > other or -self.inner > other)

    def __lt__(self, other: Any) -> bool:
        return not self >= other

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __abs__(self) -> Absolute:
        return self


def _of_number(operation: str) -> Any:
    def method(self: Absolute, *operands: Any) -> Any:
        return getattr(self.number, operation)(*operands)

    return method


for _operation in (
    *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "neg", "pos", "eq", "hash", "bool"),
    *("pow", "rpow", "mod", "rmod", "floordiv", "rfloordiv", "int", "float", "index", "complex", "round"),
    *("trunc", "floor", "ceil", "str", "format", "repr", "iter", "reduce_ex"),
):
    setattr(Absolute, f"__{_operation}__", _of_number(f"__{_operation}__"))
