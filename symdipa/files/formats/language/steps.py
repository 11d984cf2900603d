"""What a step of a ``.dipa`` text stores and shows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction

from symdipa.files.formats.common import shown
from symdipa.files.formats.language.words import AHEAD, NAME, RESERVED, SECOND_SAMPLE, SIGNS, Words, means
from symdipa.model.automaton import (
    INSAMPLE,
    INSAMPLE_PRIME,
    TRUE,
    Guard,
    Output,
    OutputKind,
    difference,
    several,
    symbol,
    value,
)
from symdipa.model.parts import ENTRY, Update


@dataclass(slots=True)
class Arm:
    """A branch as it is written, with the offsets of its parts.

    One of the ``guards`` must hold. ``reads``, ``copied`` and ``shown`` are the variables of the guard, of
    the assignments and of the output, each with the offset of its first use, ``updates`` and ``updated`` what
    registers become and where that stands, ``quoted`` the symbols in quotes. A ``faulty`` branch could not be
    read in full, or stands where none may be.
    """

    at: int
    guard_at: int
    guards: tuple[Guard, ...] = (TRUE,)
    is_else: bool = False
    stored: dict[str, str | Fraction] = field(default_factory=dict)
    assign_at: int = 0
    output: Output = INSAMPLE
    output_at: int = 0
    target: str = ""
    target_at: int = 0
    reads: dict[str, int] = field(default_factory=dict)
    copied: dict[str, int] = field(default_factory=dict)
    updates: dict[str, Update] = field(default_factory=dict)
    updated: dict[str, int] = field(default_factory=dict)
    shown: dict[str, int] = field(default_factory=dict)
    quoted: set[str] = field(default_factory=set)
    faulty: bool = False


class StepParser(Words):
    """Parses assignments and outputs."""

    def late_assignments(self, branch: Arm) -> None:
        """Assignments behind the output: reported, and read as if they stood before it."""
        name = self.word
        message = f"assignments come before the output: write {name} := insample; output ..."
        self.report.add("spelling", message, self.offset)
        self.assignments(branch)

    def assignments(self, branch: Arm) -> None:
        """Everything that looks like an assignment."""
        while self.stores():
            at = self.offset
            name = self.name("a variable")
            operator = self.word
            if operator in ("-=", "*="):
                self.no_update(name, operator, at)
            else:
                if operator not in (":=", "+="):
                    self.expected(f"':=' after the variable {name}")
                self.advance()
                if operator == "+=" or self.is_sum(name):
                    if (update := self.update(name, operator == "+=", at)) is not None:
                        self.set_register(branch, update, at)
                elif (value := self.stored(name, branch)) is not None:
                    self.store(branch, name, value, at)
            if not (self.accept(",") or self.accept(";")):
                self.expected("';' or ',' after an assignment")

    def no_update(self, name: str, operator: str, at: int) -> None:
        """Report ``-=`` or ``*=``."""
        self.next += 1
        start = self.next
        self.skip_to(AHEAD | {","})
        what = "nothing is subtracted from a register" if operator == "-=" else "no register is multiplied"
        meant = f"-{name}" if operator == "-=" else f"2*{name}"
        written = f"{name} {operator} {self.written(start)}".strip()
        message = f"{what}: keep the sum, and write for instance {meant} in a mean"
        self.fault(f"{shown(written)}: {message}", at)

    def is_sum(self, name: str) -> bool:
        """Whether the value that stands here is one for a register: not if that stores what only a variable
        can, which the rules report."""
        registers = self.source.registers
        word, following = self.words[self.next : self.next + 2]
        if word in ("-", "+"):
            return name in registers and not following.lstrip(".")[:1].isdigit()
        if following in SIGNS:
            return name in registers or word in registers or word == ENTRY
        if name in registers:
            return word in registers or word == ENTRY or _is_zero(word)
        return word == ENTRY and word not in self.source.variables

    def update(self, name: str, adds: bool, at: int) -> Update | None:
        """What a register becomes: ``input``, ``r``, ``r + input``, ``0``; ``None`` after a fault."""
        start = self.next
        while self.word in SIGNS or _is_operand(self.word):
            joined = self.word in SIGNS or self.words[self.next + 1] in SIGNS
            self.next += 1
            if not joined:
                break
        words = self.words[start : self.next]
        if adds and words == [ENTRY]:
            self.lost = False
            return Update(name, name, True)
        sources = [word for word in words if word not in (ENTRY, "+")]
        adds_input = words.count(ENTRY) == 1
        if not adds and words[1::2] in ([], ["+"]) and len(sources) == len(words[::2]) - adds_input < 2:
            source = sources[0] if sources else ""
            if source in self.source.registers or not source:
                self.lost = False
                return Update(name, source or None, adds_input)
            if len(words) == 1 and _is_zero(source):
                self.lost = False
                return Update(name)
        written = f"{name} {'+=' if adds else ':='} {self.written(start)}".strip()
        self.fault(f"{shown(written)}: {_remedy(name, words)}", at)
        self.skip_to(AHEAD | {","})
        return None

    def set_register(self, branch: Arm, update: Update, at: int) -> None:
        before = branch.updates.setdefault(update.register, update)
        branch.updated.setdefault(update.register, at)
        if before != update:
            message = (
                f"{update.register} is updated twice in one step, {before} and {update}; keep one of them"
            )
            self.report.add("registers", message, at)

    def store(self, branch: Arm, name: str, value: str | Fraction, at: int) -> None:
        before = branch.stored.setdefault(name, value)
        if before != value:
            message = f"{name} is assigned twice in one step, {before} and {value}; keep one of them"
            self.report.add("assignment", message, at)

    def stored(self, name: str, branch: Arm) -> str | Fraction | None:
        """What is stored: ``insample``, a variable, or a number; ``None`` after a fault."""
        start, at, word = self.next, self.offset, self.word
        known = word in self.source.variables
        value: str | Fraction = word
        if word == "insample":
            self.advance()
        elif word in SECOND_SAMPLE:
            self.fault(
                "insampleprime cannot be stored, only output: let a state of its own draw what is stored"
            )
        elif not known and means(word, "insample"):
            self.expected(f"'insample', a variable or a number as the value of {name}", "insample")
        elif NAME.fullmatch(word) and word not in RESERVED:
            self.advance()
            branch.copied.setdefault(word, at)
        elif word in ("-", "+") and NAME.fullmatch(self.words[self.next + 1]):
            self.fault(
                f"{shown(word + self.words[self.next + 1])} is not stored: store the value itself, and "
                "compare with its negative"
            )
        elif word in ("-", "+") or word.lstrip(".")[:1].isdigit():
            self.next += word in ("-", "+")
            if self.numeral("a number such as 5 or -1/2", AHEAD | {","}):
                if self.accept("/"):
                    self.numeral("a positive number after '/'", AHEAD | {","})
                value = self.rational(start)
                self.lost = False
        else:
            sums = name in self.source.registers
            what = "'input', a register or 0" if sums else "'insample', a variable or a number"
            self.expected(f"{what} as the value of {name}")
        if self.word in SIGNS and not self.lost:
            self.no_sum(start, name)
        if self.lost:
            self.skip_to(AHEAD | {","})
            return None
        return value

    def no_sum(self, start: int, name: str) -> None:
        """Report a sum that is to be stored."""
        first = self.next
        self.skip_to(AHEAD | {","})
        written = self.written(start)
        value = self.words[start]
        self.fault(
            f"{shown(written)} is not stored: store {value}, and add the constant where it is compared, "
            f"such as insample >= {name} + 3",
            self.starts[first],
        )

    def output(self, branch: Arm) -> Output:
        """One output, or several with commas between."""
        items = [self.output_item(branch)]
        while self.word == "," and not self.stores(1):
            self.advance()
            items.append(self.output_item(branch))
        return several(*items) if len(items) > 1 else items[0]

    def output_item(self, branch: Arm) -> Output:
        word, following = self.words[self.next : self.next + 2]
        if self.source.quoted and self.source.quoted.pop(self.offset - 1, None) is not None:
            self.advance()
            branch.quoted.add(word)
            return symbol(word)
        if following == "-" and self.subtracts():
            return self.gap(branch)
        sign = word in ("-", "+")
        if self.words[self.next + sign].lstrip(".")[:1].isdigit():
            written = shown("".join(self.words[self.next : self.next + sign + 1]))
            self.fault(
                f"{written} is no output: a symbol begins with a letter (write for instance zero or o1), and "
                "the noisy number itself is output as insample"
            )
            self.next += sign + 1
            self.lost = False
            return INSAMPLE
        if sign and self.is_number(self.words[self.next + 1]):
            self.fault(f"{shown(word + self.words[self.next + 1])} is no output: output the value itself")
            self.next += 1
        if word == "input" and following in ("+", "*", "/"):
            self.fault("an input is output as a sample without noise: let the state draw it with inf")
        found = self.shown_value(branch)
        if self.word in ("+", "*", "/") or (self.word == "-" and found.kind is not OutputKind.SYMBOL):
            self.fault(
                f"{shown(self.word)}: values and differences of two are output, nothing else that is "
                "computed from them"
            )
            self.skip_to(AHEAD | {","})
            self.lost = False
        return found

    def shown_value(self, branch: Arm) -> Output:
        """A sample, the value of a variable, or a symbol."""
        at = self.offset
        if self.accept("insample"):
            return INSAMPLE
        if self.word in SECOND_SAMPLE:
            self.advance()
            return INSAMPLE_PRIME
        name = self.name("an output (insample, insampleprime or a name)")
        if name in self.source.variables:
            branch.shown.setdefault(name, at)
            return value(name)
        return symbol(name)

    def is_number(self, word: str) -> bool:
        """Whether a word stands for a number: a sample, or the value of a variable."""
        return word == "insample" or word in SECOND_SAMPLE or word in self.source.variables

    def subtracts(self) -> bool:
        """Whether ``-`` is meant to subtract, and is not part of a name: one of both names is that of a
        number, or there is space."""
        first, _, second = self.words[self.next : self.next + 3]
        tight = self.starts[self.next + 2] == self.offset + len(first) + 1
        return self.is_number(first) or self.is_number(second) or not (tight and NAME.fullmatch(second))

    def gap(self, branch: Arm) -> Output:
        """A difference of two numbers."""
        minuend = self.end_of_gap("a value to subtract from", branch)
        subtrahend = self.end_of_gap("a value to subtract", branch) if minuend and self.accept("-") else ""
        if subtrahend and self.word in SIGNS:
            self.fault(f"{shown(self.word)}: a difference has two values")
        if not minuend or not subtrahend or self.lost:
            self.skip_to(AHEAD | {","})
            self.lost = False
            return INSAMPLE
        return difference(minuend, subtrahend)

    def end_of_gap(self, what: str, branch: Arm) -> str:
        """A sample or a variable; empty after a fault."""
        word, at = self.word, self.offset
        if self.is_number(word) or (NAME.fullmatch(word) and word not in RESERVED):
            if word not in self.source.variables and means(word, "insample"):
                self.expected("'insample'", "insample")
                return ""
            self.advance()
            branch.shown.setdefault(word, at)
            return "insampleprime" if word in SECOND_SAMPLE else word
        if word.lstrip(".")[:1].isdigit():
            self.fault(f"{shown(word)}: a constant is known to all, so output the value itself")
        else:
            self.expected(what)
        return ""


def _is_operand(word: str) -> bool:
    """Whether a word may stand in a sum."""
    return word.lstrip(".")[:1].isdigit() or (NAME.fullmatch(word) is not None and word not in RESERVED)


def _is_zero(word: str) -> bool:
    return re.fullmatch(r"0+(\.0*)?|\.0+", word) is not None


def _remedy(name: str, words: list[str]) -> str:
    """What to write instead of an update that there is not."""
    numbers = [word for word in words if word.lstrip(".")[:1].isdigit()]
    if "*" in words or "/" in words:
        return f"a register holds entries as they are: write the factor in a mean, as 2*{name}"
    if "-" in words:
        return f"entries are only added in a register: write the sign in a mean, as -{name}"
    if numbers:
        return f"a register holds no constants but 0: add them in a mean, as {name} + {numbers[0]}"
    if ENTRY in words and words.count(ENTRY) > 1:
        return f"an entry is taken once: write the factor in a mean, as 2*{name}"
    if len(words) > 2:
        return "registers are added in a mean, which may have several"
    return f"a register becomes input, another register, that plus input, or 0, as {name} := {name} + input"
