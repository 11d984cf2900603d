"""What automata are made of: outputs, guards, states and transitions, as frozen values.

Numbers are exact (:class:`fractions.Fraction`). Noise is given as in the paper by *inverse* scale: a
state with ``d = 1/4`` adds Laplace noise of scale ``4/eps``.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Literal, NamedTuple, Protocol

from symdipa.model.adjacency.differ import Differ


class Noise(Enum):
    """The noise of a sample, by what shifting it costs (Def. shift cost).

    ``LAPLACE`` on both sides of the mean, ``EXPONENTIAL`` from the mean upwards only; ``NONE``: the sample is
    its mean.
    """

    LAPLACE = "laplace"
    EXPONENTIAL = "exponential"
    NONE = "none"


SAMPLE, SECOND_SAMPLE = "insample", "insampleprime"
"""The words for the two samples of a step, where a variable could stand."""

ENTRY = "input"
"""The word for the entry that a step reads, where a register could stand."""


class OutputKind(Enum):
    """What an output shows: a symbol, one of the two samples, the value of a variable, the difference of two
    of these numbers, or several of all these in a list."""

    SYMBOL = "symbol"
    INSAMPLE = SAMPLE
    INSAMPLE_PRIME = SECOND_SAMPLE
    VALUE = "value"
    DIFFERENCE = "difference"
    SEVERAL = "several"


@dataclass(frozen=True, slots=True)
class Output:
    """An output: ``symbol`` is set exactly when ``kind`` is ``OutputKind.SYMBOL``.

    ``names`` are the variable of a ``VALUE``, and both ends of a ``DIFFERENCE`` (variables or one of the two
    samples), of which the second is subtracted. ``items`` are those of ``SEVERAL``, none of them a list.
    Values are those *after* the assignments of the step.
    """

    kind: OutputKind
    symbol: str | None = None
    names: tuple[str, ...] = ()
    items: tuple[Output, ...] = ()

    def __post_init__(self) -> None:
        if (self.kind is OutputKind.SYMBOL) != (self.symbol is not None):
            raise ValueError("an output has a symbol exactly when its kind is SYMBOL")
        if len(self.names) != (self.kind is OutputKind.VALUE) + 2 * (self.kind is OutputKind.DIFFERENCE):
            raise ValueError("a value has one name, a difference two, and nothing else has any")
        if self.items and (self.kind is not OutputKind.SEVERAL or any(item.items for item in self.items)):
            raise ValueError("only a list has items, and none of them is a list")

    @property
    def parts(self) -> tuple[Output, ...]:
        """What is shown, one by one: the items of a list, else the output itself."""
        return self.items if self.kind is OutputKind.SEVERAL else (self,)

    def _shows(self, kind: OutputKind) -> bool:
        return self.kind is kind or (bool(self.items) and any(item.kind is kind for item in self.items))

    @property
    def shape(self) -> tuple[str | None, ...]:
        """The symbols at their places, ``None`` for each number: outputs of different shape are different."""
        return tuple(part.symbol for part in self.parts)

    @property
    def is_real(self) -> bool:
        """Whether a real number is output."""
        return any(part.kind is not OutputKind.SYMBOL for part in self.parts)

    @property
    def shows_sample(self) -> bool:
        """Whether ``insample`` itself is output."""
        return self._shows(OutputKind.INSAMPLE)

    @property
    def shows_second(self) -> bool:
        """Whether ``insample'`` itself is output."""
        return self._shows(OutputKind.INSAMPLE_PRIME)

    @property
    def values(self) -> frozenset[str]:
        """The variables whose values are output (released)."""
        return frozenset(part.names[0] for part in self.parts if part.kind is OutputKind.VALUE)

    @property
    def differences(self) -> tuple[tuple[str, str], ...]:
        """The pairs (variables or samples) whose difference is output."""
        return tuple(
            (part.names[0], part.names[1]) for part in self.parts if part.kind is OutputKind.DIFFERENCE
        )

    @property
    def reads(self) -> frozenset[str]:
        """The variables that must hold a value when it is made."""
        if not self.names and not self.items:
            return frozenset()
        names = frozenset(name for part in self.parts for name in part.names)
        return names - {SAMPLE, SECOND_SAMPLE}

    def text(self, variables: Container[str] = ()) -> str:
        """As in the text language: symbols that have the name of one of the variables stand in quotes."""
        if self.kind is OutputKind.SEVERAL:
            return ", ".join(item.text(variables) for item in self.items)
        if self.symbol is not None:
            return f"'{self.symbol}'" if self.symbol in variables else self.symbol
        return " - ".join(self.names) or self.kind.value

    def __str__(self) -> str:
        return self.text()


INSAMPLE = Output(OutputKind.INSAMPLE)
INSAMPLE_PRIME = Output(OutputKind.INSAMPLE_PRIME)


def symbol(name: str) -> Output:
    """The output that shows the symbol ``name``."""
    return Output(OutputKind.SYMBOL, name)


def value(name: str) -> Output:
    """The output that shows the value of a variable (it is *released*)."""
    return Output(OutputKind.VALUE, names=(name,))


def difference(minuend: str, subtrahend: str) -> Output:
    """The output that shows a difference of two variables or samples: a *gap*."""
    return Output(OutputKind.DIFFERENCE, names=(minuend, subtrahend))


def several(*items: Output) -> Output:
    """The output that shows all the items, in this order."""
    return Output(OutputKind.SEVERAL, items=tuple(items))


@dataclass(frozen=True, slots=True)
class Term:
    """A number that a guard compares: a variable or ``insample``, or its negative, plus a constant.

    Without a ``name`` it is the constant ``offset``. ``mirrored``: the negative of the named value.
    """

    name: str | None
    offset: Fraction = Fraction(0)
    mirrored: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", Fraction(self.offset))
        if self.name is None and self.mirrored:
            object.__setattr__(self, "mirrored", False)
            object.__setattr__(self, "offset", -self.offset)

    @property
    def negative(self) -> Term:
        """The negative of the term."""
        return Term(self.name, -self.offset, not self.mirrored and self.name is not None)

    def plus(self, number: Fraction) -> Term:
        """The term plus a number."""
        return Term(self.name, self.offset + number, self.mirrored)

    def __str__(self) -> str:
        if self.name is None:
            return str(self.offset)
        sign = "-" if self.mirrored else ""
        if not self.offset:
            return f"{sign}{self.name}"
        return f"{sign}{self.name} {'+' if self.offset > 0 else '-'} {abs(self.offset)}"


@dataclass(frozen=True, slots=True)
class Atom:
    """A comparison ``low <= high``, or ``low < high`` if it is ``strict``; made by :func:`atom`."""

    low: Term
    high: Term
    strict: bool

    @property
    def negation(self) -> Atom:
        """The comparison that holds exactly where this one does not."""
        return atom(self.high, self.low, not self.strict)

    @property
    def names(self) -> frozenset[str]:
        """The names on both sides, ``insample`` among them if it is compared."""
        return frozenset(name for name in (self.low.name, self.high.name) if name is not None)

    @property
    def bounds_sample(self) -> Literal["above", "below", ""]:
        """From which side ``insample`` is bounded, if it is compared."""
        if self.low.name == SAMPLE:
            return "below" if self.low.mirrored else "above"
        if self.high.name == SAMPLE:
            return "above" if self.high.mirrored else "below"
        return ""

    def __str__(self) -> str:
        low, high = self.low, self.high
        if low.name != high.name and any(term.name == SAMPLE and term.mirrored for term in (low, high)):
            low, high = high.negative, low.negative
        turned = low.name is None or (high.name == SAMPLE and low.name != SAMPLE)
        left, right = (high, low) if turned else (low, high)
        if left.name:
            left, right = left.plus(-left.offset), right.plus(-left.offset)
        return f"{left} {'>' if turned else '<'}{'' if self.strict else '='} {right}"


def atom(low: Term, high: Term, strict: bool) -> Atom:
    """The comparison in the one form that it has: equal comparisons are equal values.

    A constant stands alone on its side; else the offsets are on the side of ``high``. At most one side is
    mirrored.
    """
    if (low.mirrored and (high.mirrored or high.name is None)) or (high.mirrored and low.name is None):
        low, high = high.negative, low.negative
    elif low.mirrored != high.mirrored and low.name != high.name:
        other = high.negative, low.negative  # -a <= b is -b <= a
        low, high = min((low, high), other, key=lambda pair: (pair[0].name or "", pair[1].name or ""))
    if low.name is None:
        return Atom(low.plus(-high.offset), high.plus(-high.offset), strict)
    return Atom(low.plus(-low.offset), high.plus(-low.offset), strict)


@dataclass(frozen=True, slots=True)
class Guard:
    """A conjunction of atoms: ``insample >= x`` for ``x`` in ``ge`` and ``insample < x`` for ``x`` in ``lt``,
    and all ``others``.

    The empty guard is ``true``. ``others`` has no comparison that ``ge`` or ``lt`` can say (:func:`guarded`).
    """

    ge: frozenset[str] = frozenset()
    lt: frozenset[str] = frozenset()
    others: frozenset[Atom] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "ge", _names("ge", self.ge))
        object.__setattr__(self, "lt", _names("lt", self.lt))
        object.__setattr__(self, "others", frozenset(self.others))

    @property
    def used(self) -> frozenset[str]:
        """The variables the guard reads."""
        if not self.others:
            return self.ge | self.lt
        names = {term.name for each in self.others for term in (each.low, each.high)}
        return self.ge | self.lt | {name for name in names if name is not None and name != SAMPLE}

    @property
    def is_true(self) -> bool:
        return not self.ge and not self.lt and not self.others

    @property
    def compares_sample(self) -> bool:
        """Whether ``insample`` is compared."""
        return bool(self.ge or self.lt or any(each.bounds_sample for each in self.others))

    @property
    def atoms(self) -> frozenset[Atom]:
        """All comparisons in one form."""
        sample = Term(SAMPLE)
        return frozenset(
            {atom(Term(x), sample, False) for x in self.ge}
            | {atom(sample, Term(x), True) for x in self.lt}
            | self.others
        )

    def excludes(self, other: Guard) -> bool:
        """Whether no sample satisfies both guards: an opposite atom on some variable.

        That is the only way for a conjunction of two satisfiable guards to be unsatisfiable for every
        value of the variables, if they compare nothing but ``insample`` with variables (for others see
        :mod:`symdipa.model.validation.comparisons`).
        """
        return bool(self.ge & other.lt or self.lt & other.ge)

    def text(self, order: Iterable[str] = ()) -> str:
        """The guard as text, atoms in the given order of variables (others follow by name)."""
        ranking = {name: place for place, name in enumerate(order)}
        names = sorted(self.used, key=lambda name: (ranking.get(name, len(ranking)), name))
        atoms = [f"insample >= {x}" for x in names if x in self.ge]
        atoms += [f"insample < {x}" for x in names if x in self.lt]
        atoms += sorted(map(str, self.others))
        return " && ".join(atoms) if atoms else "true"

    def __str__(self) -> str:
        return self.text()


def _names(what: str, names: Iterable[str]) -> frozenset[str]:
    """A set of variables from any iterable of names, but not from a lone string, which is a mistake."""
    if isinstance(names, str):
        raise TypeError(f"{what} takes a set of variables: write {what}={{{names!r}}}")
    return frozenset(names)


TRUE = Guard()


def guarded(atoms: Iterable[Atom], integer: bool = False) -> Guard:
    """The guard that says all these comparisons.

    Where samples are neither ``integer`` nor without noise, equality with one has probability 0, so all that
    bounds ``insample`` from below is not strict, and all that bounds it from above is.
    """
    ge, lt, others = set(), set(), set()
    for each in atoms:
        side = each.bounds_sample
        if side and not integer and each.strict != (side == "above"):
            each = Atom(each.low, each.high, side == "above")
        low, high = each.low, each.high
        name = low.name if side == "below" else high.name
        if name in (None, SAMPLE) or low.mirrored or high.mirrored or low.offset or high.offset:
            others.add(each)
        elif side == "below" and not each.strict:
            ge.add(name)
        elif side == "above" and each.strict:
            lt.add(name)
        else:
            others.add(each)
    return Guard(frozenset(ge), frozenset(lt), frozenset(others))


@dataclass(frozen=True, slots=True)
class State:
    """A control state with ``P(q) = (d, mu, d', mu')``.

    ``d`` and ``d_prime`` are inverse noise scales in units of eps (``None``: not given, or no noise), ``mu``
    and ``mu_prime`` the means that are added to the input. ``registers`` are added to both means: pairs of a
    register and its factor, which is not 0, sorted by names. ``is_input``: a step from the state reads an
    input. A state that does not draw has no samples: it is *silent*, or only reads.
    """

    name: str
    is_input: bool = True
    d: Fraction | None = None
    mu: Fraction = Fraction(0)
    d_prime: Fraction | None = None
    mu_prime: Fraction = Fraction(0)
    noise: Noise = Noise.LAPLACE
    noise_prime: Noise = Noise.LAPLACE
    draws: bool = True
    registers: tuple[tuple[str, Fraction], ...] = ()

    def __post_init__(self) -> None:
        for name in ("d", "mu", "d_prime", "mu_prime"):
            value = getattr(self, name)
            if type(value) is int:  # exact, so no reason to ask for more
                object.__setattr__(self, name, Fraction(value))
        if self.registers:
            factors = ((r, Fraction(k) if isinstance(k, int) else k) for r, k in self.registers)
            object.__setattr__(self, "registers", tuple(sorted(factors, key=lambda one: one[0])))

    def mean_text(self, second: bool = False) -> str:
        """The mean of one of the samples as text, less the input: ``1/2``, ``s + 1/2``, ``2*s - r``."""
        number = self.mu_prime if second else self.mu
        parts = [(factor, name) for name, factor in self.registers]
        return signed_sum([*parts, (number, "")]) if parts else str(number)


def signed_sum(parts: Iterable[tuple[Fraction, str]]) -> str:
    """A sum of names with factors, and of numbers (with an empty name), as text; what is 0 is left out."""
    told = ""
    for factor, name in parts:
        if factor:
            size = abs(factor)
            term = name if name and size == 1 else f"{size}*{name}" if name else str(size)
            told += f" {'-' if factor < 0 else '+'} {term}" if told else f"{'-' if factor < 0 else ''}{term}"
    return told or "0"


LARGEST = Fraction(10) ** 100
"""No number of an automaton or of a question is larger, or smaller than one over it (but for 0)."""

BEYOND = "cannot be computed with: numbers lie between 1e-100 and 1e100 in size"


def computable(number: Fraction) -> bool:
    """Whether a number is within ``LARGEST``, so that floating point can hold it and products with others."""
    return number == 0 or 1 / LARGEST <= abs(number) <= LARGEST


def noise_scale(d: Fraction) -> str:
    """The scale of the noise with inverse scale ``d > 0`` as text: ``4/eps``, ``5/(2*eps)``."""
    scale = 1 / d
    return f"{scale}/eps" if scale.denominator == 1 else f"{scale.numerator}/({scale.denominator}*eps)"


@dataclass(frozen=True, slots=True)
class Update:
    """What a register becomes: the old value of ``source`` (0 if there is none), plus the entry that the step
    reads if it ``adds_input``."""

    register: str
    source: str | None = None
    adds_input: bool = False

    @property
    def value(self) -> str:
        """The new value as text: ``0``, ``input``, ``r``, ``r + input``."""
        if self.source is None:
            return "input" if self.adds_input else "0"
        return f"{self.source} + input" if self.adds_input else self.source

    def __str__(self) -> str:
        if self.adds_input and self.source == self.register:
            return f"{self.register} += input"
        return f"{self.register} := {self.value}"


class Form(NamedTuple):
    """A known difference: ``least`` times the least difference of an entry plus ``largest`` times the largest
    one. So it holds for every adjacency."""

    least: Fraction
    largest: Fraction

    def within(self, low: Fraction, high: Fraction) -> Fraction:
        """Its value if the differences of entries lie between these."""
        return self.least * low + self.largest * high

    def plus(self, other: Form, factor: Fraction = Fraction(1)) -> Form:
        """The sum with ``factor`` times the other one."""
        return Form(self.least + factor * other.least, self.largest + factor * other.largest)


ZERO = Form(Fraction(0), Fraction(0))


@dataclass(frozen=True, slots=True)
class Transition:
    """One transition; the guard reads the old values, then ``insample`` is stored in ``assign``.

    ``copies`` are further assignments, of the old value of a variable or of a constant, as pairs of the
    variable and what it gets. ``updates`` are those of registers, one for each at most. All are made at once,
    from the old values.

    ``difference`` is that of the means of the source, where it is known; only
    :mod:`symdipa.runs.control.unfolding` makes transitions that have one.
    """

    source: str
    target: str
    output: Output
    guard: Guard = TRUE
    assign: frozenset[str] = frozenset()
    copies: tuple[tuple[str, str | Fraction], ...] = ()
    updates: tuple[Update, ...] = ()
    difference: Form | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.output, Output):
            raise TypeError(f"an output is symbol('name'), INSAMPLE, value('x'), ..., not {self.output!r}")
        object.__setattr__(self, "assign", _names("assign", self.assign))
        if self.copies:
            copies = ((x, Fraction(y) if isinstance(y, int) else y) for x, y in self.copies)
            object.__setattr__(
                self, "copies", tuple(sorted(copies, key=lambda copy: (copy[0], str(copy[1]))))
            )
        if self.updates:
            object.__setattr__(
                self, "updates", tuple(sorted(self.updates, key=lambda update: update.register))
            )

    @property
    def assigned(self) -> frozenset[str]:
        """The variables that get a new value."""
        return self.assign | {x for x, _ in self.copies} if self.copies else self.assign

    @property
    def reads(self) -> frozenset[str]:
        """The variables whose old values matter: those of the guard, copied ones, and shown ones."""
        if not self.copies and self.output.symbol is not None:
            return self.guard.used
        copied = {y for _, y in self.copies if isinstance(y, str)}
        return self.guard.used | copied | (self.output.reads - self.assigned)

    @property
    def stores(self) -> tuple[tuple[str, str], ...]:
        """All assignments, as pairs of a variable and what it gets, in the words of the text language."""
        return (*((x, SAMPLE) for x in sorted(self.assign)), *((x, str(y)) for x, y in self.copies))


@dataclass(frozen=True)
class Origin:
    """The program that an automaton was made from, and the way back to its lines.

    ``text`` is that of its ``file``, ``first`` and ``last`` are the lines of the function. ``states`` has the
    line where the program is in a state, ``steps`` the lines that each transition passes, in their order.
    ``values`` are the plain values of variables in a state. ``outputs`` has the symbols that stand for what
    the program shows otherwise, with that; nothing stands for what nobody sees. ``quiet`` are
    the symbols of steps in which it shows nothing. ``uncounted`` are lines from
    which a run may go on unseen, and show something, as far as anybody knows
    (:mod:`symdipa.programs.automaton.unseen`); none if outputs tell how many steps there are. ``added`` to a
    variable, and ``added_to_samples`` of a state, gives what the program calls so. ``seconds`` has the line
    that draws the second sample of a state.
    """

    file: str
    text: str = field(repr=False)
    first: int
    last: int
    states: Mapping[str, int]
    steps: Mapping[Transition, tuple[int, ...]]
    values: Mapping[str, Mapping[str, str]]
    outputs: Mapping[str, str]
    quiet: frozenset[str] = frozenset()
    uncounted: tuple[int, ...] = ()
    added: Mapping[str, Fraction] = field(default_factory=dict)
    added_to_samples: Mapping[str, Fraction] = field(default_factory=dict)
    seconds: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_c(self) -> bool:
        """Whether it is a program in C."""
        return self.file.lower().endswith(".c")

    def lines(self, move: Transition) -> tuple[int, ...]:
        """The lines that a step passes; of one that the program does not have, where it would begin."""
        line = self.states.get(move.source)
        return self.steps.get(move) or (() if line is None else (line,))

    def listing(self, lines: range) -> list[str]:
        """What is written in these lines."""
        written = self.text.expandtabs(4).split("\n")[lines.start - 1 : lines.stop - 1]
        return ["".join(c if c.isprintable() else " " for c in line).rstrip() for line in written]

    def code(self, line: int) -> str:
        """What is written in a line, without the room before it."""
        return "".join(self.listing(range(line, line + 1))).strip()

    def place(self, state: str, second: bool = False) -> str:
        """What a state, or its second sample, is called in words: ``line 15``, or its own name where no line
        is known."""
        line = (self.seconds if second else self.states).get(state)
        return state if line is None else f"line {line}"

    def place_with_values(self, state: str) -> str:
        """The same, with the values that tell it from other states in the line: ``line 15, count = 1``."""
        here, place = self.values.get(state, {}), self.place(state)
        alike = [self.values.get(other, {}) for other in self.states if self.place(other) == place]
        differing = [x for x, value in here.items() if any(other.get(x, value) != value for other in alike)]
        return ", ".join([place, *(f"{x} = {here[x]}" for x in differing)])

    @property
    def shown(self) -> range:
        """The lines of the function and all between them and those of functions that it calls."""
        passed = [self.first, self.last, *(line for lines in self.steps.values() for line in lines)]
        return range(min(passed), max(passed) + 1)


class AutomatonParts(Protocol):
    """All parts of an automaton, whether or not they obey the rules of the model."""

    @property
    def states(self) -> tuple[State, ...]: ...
    @property
    def initial(self) -> str: ...
    @property
    def transitions(self) -> tuple[Transition, ...]: ...
    @property
    def variables(self) -> tuple[str, ...]: ...
    @property
    def name(self) -> str: ...
    @property
    def integer(self) -> bool: ...
    @property
    def differ(self) -> Differ: ...
