"""What the readers share: positions, quoting of offending text, exact numbers, the result of a parse."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from symdipa.model.automaton import Automaton
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

_NUMERAL = re.compile(r"[0-9]+(?:\.[0-9]+)?|\.[0-9]+")


@dataclass(frozen=True)
class Parsed:
    """What a reader made of a text: perhaps an automaton, where its parts stood, and what is wrong.

    ``partial`` says that parts of the text could not be read and are missing from the automaton.
    """

    automaton: Automaton | None
    locate: Locate | None = None
    problems: tuple[InputProblem, ...] = ()
    partial: bool = False


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


def capped(problems: Sequence[InputProblem]) -> list[InputProblem]:
    """At most :data:`MAX_PROBLEMS` of the problems, and a last one that counts the others."""
    ordered = sorted(problems, key=InputProblem.place)
    rest = ordered[MAX_PROBLEMS:]
    if not rest:
        return ordered
    at_least = "at least " if len(problems) >= STOP_AFTER else ""
    last = InputProblem("more", f"and {at_least}{len(rest)} more problems from here on", rest[0].position)
    return [*ordered[:MAX_PROBLEMS], last]
