"""The parameters of a state of a ``.dipa`` text: noise scales, and means, which are linear in registers."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from symdipa.files.formats.common import eps_in, shown
from symdipa.files.formats.language.words import INFINITE, NAME, RESERVED, SECOND_SAMPLE, Words
from symdipa.model.automaton import Noise
from symdipa.model.parts import ENTRY, signed_sum
from symdipa.model.spelling import Dictionary

Scale = tuple[Noise, Fraction | None]
NO_SCALE: Scale = (Noise.LAPLACE, None)

HEADER_MARKS = frozenset([":", ",", ")"])
BODY = frozenset(["if", "output", "goto", ""])
_SIGNS = ("-", "+")

_A_NUMBER = "a number such as 1/4, 0.25 or -3"
_A_MEAN = f"{_A_NUMBER}, or a sum such as s + 1/2 with a register s"

LONGEST_PRODUCT = 6
"""The most words of a product in a mean."""

LONGEST_PARAMETER = 40
"""In more words than this nobody looks for ``eps``."""


@dataclass(slots=True)
class Mean:
    """A mean as it is written: a number, and registers with their factors and where they stand."""

    constant: Fraction = Fraction(0)
    factors: dict[str, Fraction] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)

    def with_number(self, constant: Fraction) -> str:
        """As text, with another number."""
        return signed_sum(
            [*((factor, name) for name, factor in sorted(self.factors.items())), (constant, "")]
        )


class ParameterParser(Words):
    """Parses scales and means."""

    def scale(self) -> Scale:
        """``1/4``, ``exp 1/4`` or ``inf``."""
        word = self.word
        if word == "exp":
            self.advance()
            opened = self.word == "("
            if opened:
                message = "exp stands before its number, without parentheses: write for instance exp 1/4"
                self.report.add("spelling", message, self.offset)
                self.next += 1
            found = self.number("a number after exp, such as exp 1/4")
            self.next += opened and self.word == ")"
            return Noise.EXPONENTIAL, found
        if word[:1].isdigit() or word.casefold() not in INFINITE:
            return Noise.LAPLACE, self.number(_A_NUMBER)
        if word != "inf":
            self.report.add("spelling", f"{shown(self.word)}: no noise is written inf", self.offset)
        self.advance()
        if self.word not in HEADER_MARKS and self.word not in BODY:
            start = self.next
            self.skip_to(HEADER_MARKS)
            scale = shown(f"inf {self.written(start)}")
            message = f"{scale}: inf is no noise and has no scale; write inf, or the scale alone"
            self.report.add("number", message, self.starts[start])
        return Noise.NONE, None

    def mean(self) -> Mean:
        """A sum of multiples of registers and a number; what is wrong with it is reported."""
        if (constant := self.with_eps(True)) is not None:
            return Mean(constant)
        if self.word.isdecimal() and self.words[self.next + 1] in HEADER_MARKS:
            return Mean(self.number(_A_NUMBER))
        found, numbers, what = Mean(), 0, _A_MEAN
        while True:
            sign = -1 if self.word == "-" else 1
            self.next += self.word in _SIGNS
            at, read = self.offset, self.product(what)
            if read is None:
                self.skip_to(HEADER_MARKS)
                return found
            register, factor = read
            if not register:
                numbers += 1
                found.constant = sign * factor if sign < 0 else factor
            elif register not in found.factors:
                found.factors[register], found.places[register] = sign * factor, at
            else:
                self.fault(f"{register} stands twice in this mean; give it one factor", at)
            if numbers > 1:
                self.fault("a mean has one number; write the sum of these", at)
            if self.word not in _SIGNS:
                break
            what = "a number or a register"
        if self.word not in HEADER_MARKS and self.word not in BODY:
            self.fault(
                f"{shown(self.word)}: a mean is a sum of multiples of registers and a number: 2*s + 1/2"
            )
            self.skip_to(HEADER_MARKS)
        return found

    def product(self, what: str) -> tuple[str, Fraction] | None:
        """A number, or a register (else empty) with its factor: ``2*s``, ``s/2``, ``1/2*s``; ``None`` after a
        fault."""
        register, factor, start, operator = "", Fraction(1), self.next, ""
        while True:
            word, at = self.word, self.next
            if word.lstrip(".")[:1].isdigit():
                value = self.multiple(operator != "/")
                if operator == "/" and not value:
                    written = "".join(self.words[start : self.next])
                    self.report.add("number", f"{shown(written)} divides by zero", self.starts[start])
                    value = Fraction(1)
                factor = factor / value if operator == "/" else factor * value if operator else value
            elif self.may_be_register(what, operator, register):
                register = word
                self.advance()
            else:
                return None
            if self.word not in ("*", "/"):
                break
            if at - start > LONGEST_PRODUCT:
                self.fault("a register has one factor: multiply these numbers", self.starts[start])
                return None
            operator = self.word
            self.next += 1
            what = "a positive number after '/'" if operator == "/" else "a number or a register after '*'"
        if register and not factor:
            self.fault(f"{shown(self.written(start))} is always 0; leave it out", self.starts[start])
            factor = Fraction(1)
        return register, factor

    def multiple(self, may_be_fraction: bool) -> Fraction:
        """A number; a register right behind it is reported, and passed over."""
        start, word = self.next, self.word
        self.advance()
        meant = word.lstrip("0123456789.")
        if meant and meant in self.source.registers:
            number = word.removesuffix(meant)
            self.fault(f"{shown(word)}: a product is written with *, as {number}*{meant}", self.starts[start])
            self.lost = False
            return Fraction(1)
        if may_be_fraction and self.word == "/" and self.words[self.next + 1].lstrip(".")[:1].isdigit():
            self.next += 2
        return self.rational(start)

    def may_be_register(self, what: str, operator: str, before: str) -> bool:
        """Whether the word is a register at its place; else that is reported."""
        word = self.word
        if word.casefold() in INFINITE:
            self.report.add("number", f"{shown(word)}: a mean is a number", self.offset)
        elif word == ENTRY:
            self.fault(
                "input is not written in a mean: in an input state the entry that is read is added by "
                "itself, and an earlier one is kept in a register (s := input)"
            )
        elif word == "insample" or word in SECOND_SAMPLE:
            self.fault(f"{shown(word)}: there are no samples in a mean, only registers and numbers")
        elif not NAME.fullmatch(word) or word in RESERVED:
            self.expected(what)
        elif word not in self.source.registers:
            self.no_register(word)
        elif operator == "/":
            self.fault(f"{shown('/ ' + word)}: nothing is divided by a register")
        elif before:
            self.fault(
                f"{shown(f'{before}*{word}')}: a mean is linear in registers, without products of them"
            )
        else:
            return True
        return False

    def no_register(self, word: str) -> None:
        """Report a name in a mean that is none of a register."""
        if word in self.source.variables:
            self.fault(
                f"{word} is a variable: in a mean there are only registers ({word} := input), and numbers"
            )
        elif meant := Dictionary(sorted(self.source.registers)).closest(word):
            self.expected(_A_NUMBER, meant)
        else:
            self.expected(f"{_A_NUMBER}, or a register ('{word} := input' or '{word} := 0' makes it one)")

    def number(self, what: str, is_mean: bool = False) -> Fraction:
        """A rational; a malformed one is reported and read as 1."""
        start = self.next
        if (found := self.with_eps(is_mean)) is not None:
            return found
        word = self.word
        if word.casefold() in INFINITE:
            self.report.add("number", f"{shown(word)} stands alone; {what} was expected", self.offset)
            self.next += 1
            return Fraction(1)
        if word in ("-", "+"):
            self.next += 1
        if not self.numeral(what, HEADER_MARKS):
            return Fraction(1)
        if self.accept("/") and not self.numeral("a positive number after '/'", HEADER_MARKS):
            return Fraction(1)
        return self.rational(start)

    def with_eps(self, is_mean: bool) -> Fraction | None:
        """A parameter with ``eps`` in it: reported, and read as the number to write; ``None`` for others."""
        if not self.source.mentions_eps:
            return None
        start, end, depth = self.offset, self.next, 0
        while (word := self.words[end]) not in BODY and (depth or word not in HEADER_MARKS):
            depth += (word == "(") - (word == ")")
            end += 1
            if end - self.next > LONGEST_PARAMETER:
                return None
        found = eps_in(self.text[start : self.starts[end]].strip())
        if found is None:
            return None
        self.next = end
        if is_mean:
            message = f"{shown(found.written)}: a mean is a number, the same for every eps"
            self.report.add("number", message, start)
            return Fraction(0)
        self.report.add("number", found.message, start)
        return found.meant or Fraction(1)
