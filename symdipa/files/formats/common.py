"""What the readers share: positions, quoting of offending text, exact numbers, the result of a parse."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from symdipa.model.automaton import Automaton, noise_scale
from symdipa.model.errors import InputProblem, Position
from symdipa.model.validation import Locate

MAX_DIGITS = 1000
"""Longer numerals are refused: no noise parameter needs them, and arithmetic on them gets slow."""

MAX_PROBLEMS = 50
"""The number of problems of a file that are shown; the rest is counted."""

LONGEST_SHOWN = 40
"""The most letters of the text that a problem quotes."""

STOP_AFTER = 1000
"""The number of problems after which a reader gives up on a text."""

READING = "reading the file"
"""What a limit on time or memory then ends."""

_WORD = re.compile(r"[\w.]+|\S")
_FACTOR = re.compile(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)?(eps|epsilon|ε)?")
_LAPLACE = frozenset(["lap", "laplace"])
_NUMERAL = re.compile(r"[0-9]+(?:\.[0-9]+)?|\.[0-9]+")


@dataclass(frozen=True)
class Parsed:
    """What a reader made of a text: perhaps an automaton, where its parts stood, and what is wrong.

    ``partial`` says that parts of the text could not be read and are missing from the automaton. ``halt`` is
    what it says about halting, which the automaton is not affected by.
    """

    automaton: Automaton | None
    locate: Locate | None = None
    problems: tuple[InputProblem, ...] = ()
    partial: bool = False
    halt: str = ""


@dataclass
class Report:
    """Collects the problems of one text."""

    text: str
    problems: list[InputProblem] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", self.text))]

    def position(self, offset: int) -> Position:
        """Line and column of an offset into the text."""
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1] + 1)

    def add(self, rule: str, message: str, offset: int) -> None:
        self.problems.append(InputProblem(rule, message, self.position(offset)))

    @property
    def full(self) -> bool:
        return len(self.problems) >= STOP_AFTER


def shown(text: str) -> str:
    """The text in quotes, on one line, printable and not too long."""
    cut = text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."
    return "'" + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in cut) + "'"


@lru_cache(maxsize=1024)
def rational(text: str) -> Fraction:
    """The exact value of ``1/4``, ``-3``, ``0.25``, ...; ``ValueError`` says what is wrong."""
    sign = -1 if text.startswith("-") else 1
    parts = text.removeprefix("-" if sign < 0 else "+").split("/")
    if len(parts) > 2 or not all(_NUMERAL.fullmatch(part) for part in parts):
        raise ValueError(
            f"{shown(text)} is not a number; write an integer, a fraction such as 1/4 or a decimal "
            "such as 0.25 (no exponents)"
        )
    if max(map(len, parts)) > MAX_DIGITS:
        raise ValueError(f"{shown(text)} has more than {MAX_DIGITS} digits")
    numbers = [int(part) if part.isdecimal() else Fraction(part) for part in parts]
    if len(numbers) == 2 and numbers[1] == 0:
        raise ValueError(f"{shown(text)} divides by zero")
    return Fraction(sign * numbers[0], *numbers[1:])


@dataclass(frozen=True, slots=True)
class Scaled:
    """A parameter that was written with ``eps``, and the number that was ``meant``, if that is clear."""

    written: str
    meant: Fraction | None

    @property
    def message(self) -> str:
        if self.meant is None:
            example = "noise of scale 4/eps is written 1/4"
            return f"{shown(self.written)}: d is a number without eps, the inverse of the scale: {example}"
        meant = f"write {self.meant} for noise of scale {noise_scale(self.meant)}"
        return f"{shown(self.written)}: eps is not written, and d is the inverse of the scale: {meant}"


def eps_in(text: str) -> Scaled | None:
    """What a parameter with ``eps`` in it stands for; ``None`` for one without."""
    words = _WORD.findall(text.casefold())
    if not any((factor := _FACTOR.fullmatch(word)) and factor[2] for word in words):
        return None
    return Scaled(text, _inverse_scale(words))


def _inverse_scale(words: list[str]) -> Fraction | None:
    """The ``d`` that a product with ``eps`` stands for: both ``4/eps``, a scale, and ``eps/4`` are 1/4.

    ``None`` if it is no such product, or may be read in two ways as ``1/4eps``.
    """
    stack = [(Fraction(1), 0, 1)]
    """For every open parenthesis: coefficient, power of eps, and the sign before it, -1 for a division."""
    sign, factors = 1, 0  # the sign of the next factor; how many stand behind the last sign
    for word in words[words[0] in _LAPLACE :]:
        if word == "(":
            stack.append((Fraction(1), 0, sign))
            sign, factors = 1, 0
            continue
        if word in ("*", "·", "/"):
            sign, factors = -1 if word == "/" else 1, 0
            continue
        if word == ")" and len(stack) > 1:
            value, power, sign = stack.pop()
            factors = 0
        elif (found := _FACTOR.fullmatch(word)) and len(word) <= MAX_DIGITS:
            if sign < 0 and found[1] and found[2]:
                return None
            value, power = Fraction(found[1] or 1), int(found[2] is not None)
        else:
            return None
        if value == 0 or (factors and sign < 0):
            return None
        coefficient, total, before = stack[-1]
        stack[-1] = coefficient * value**sign, total + sign * power, before
        factors += 1
    coefficient, total, _ = stack[-1]
    if len(stack) > 1 or abs(total) != 1:
        return None
    return coefficient if total == 1 else 1 / coefficient


def capped(problems: Sequence[InputProblem]) -> list[InputProblem]:
    """At most :data:`MAX_PROBLEMS` of the problems, and a last one that counts the others."""
    ordered = sorted(problems, key=InputProblem.place)
    rest = ordered[MAX_PROBLEMS:]
    if not rest:
        return ordered
    at_least = "at least " if len(problems) >= STOP_AFTER else ""
    last = InputProblem("more", f"and {at_least}{len(rest)} more problems from here on", rest[0].position)
    return [*ordered[:MAX_PROBLEMS], last]
