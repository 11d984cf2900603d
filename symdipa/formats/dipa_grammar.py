"""The grammar of the text language ``.dipa``: from a text to states as they were written.

A text is cut at the state headers and each piece is parsed by itself, without recursion, so that one
fault hides no other and no nesting is too deep. ``docs/formats.md`` describes the language.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from symdipa.automaton import INSAMPLE, INSAMPLE_PRIME, TRUE, Guard, Output, State, symbol
from symdipa.formats.common import Report, rational, shown

RESERVED = frozenset(
    ["insample", "insampleprime", "if", "then", "elseif", "else", "output", "goto", "true", "and"]
)
"""Words that cannot name a state, a variable or an output symbol."""

NAME = re.compile(r"[^\W\d]\w*")
_TOKEN = re.compile(r"[^\W\d]\w*+'?|\.?[0-9][\w.]*|:=|>=|<=|==|!=|&&|\|\||\S")
_COMMENT = re.compile(r"#[^\n]*")
_HEADER = re.compile(r"\(\s*+(?:\w++'?\s*+)?+(?=[:,0-9]|\)\s*+:)")
"""The beginning of a state, or of something that was meant to be one; no guard looks like this."""

_AND = frozenset(["&&", "and", "∧"])
_AT_LEAST = frozenset([">=", ">", "≥"])
_BELOW = frozenset(["<", "<=", "≤"])
_SECOND_SAMPLE = frozenset(["insampleprime", "insample'"])

FATAL = frozenset(["syntax", "name"])
"""The rules of faults after which the rest of a state is not read."""

EXAMPLE = "(q1,1/4,0): if (insample < x) then output obot; goto q2"


@dataclass(slots=True)
class Branch:
    """One transition as written, with the offsets of its parts."""

    at: int
    guard: Guard
    guard_at: int
    is_else: bool = False
    assign: frozenset[str] = frozenset()
    assign_at: int = 0
    output: Output = INSAMPLE
    output_at: int = 0
    target: str = ""
    target_at: int = 0


@dataclass(slots=True)
class Listing:
    """One state as written."""

    at: int
    state: State
    parameters_at: dict[str, int]
    branches: list[Branch] = field(default_factory=list)


class _Fault(Exception):
    """A syntax error: the rest of the state cannot be read."""

    def __init__(self, rule: str, message: str, offset: int) -> None:
        super().__init__(message)
        self.rule, self.message, self.offset = rule, message, offset


def parse_listings(text: str, report: Report) -> list[Listing]:
    """All states of the text, one after the other, as far as they can be read."""
    text = _COMMENT.sub(lambda match: " " * len(match[0]), text)
    starts = [match.start() for match in _HEADER.finditer(text)]
    first = starts[0] if starts else len(text)
    if stray := text[:first].strip():
        before = first - len(text[:first].lstrip())
        message = f"expected a state such as {EXAMPLE}, found {shown(stray)}"
        report.add("syntax", message, before)
    listings = []
    for start, end in pairwise([*starts, len(text)]):
        if report.full:
            break
        listing = _StateParser(text, start, end, report).parse()
        if listing is not None:
            listings.append(listing)
    return listings


class _StateParser:
    """Parses the piece of text that holds one state."""

    def __init__(self, text: str, start: int, end: int, report: Report) -> None:
        tokens = [(match[0], match.start()) for match in _TOKEN.finditer(text, start, end)]
        self.words = [word for word, _ in tokens]
        self.starts = [offset for _, offset in tokens]
        last = self.starts[-1] + len(self.words[-1])
        self.words.append("")  # a sentinel: the end of the piece
        self.starts.append(last)
        self.next = 0
        self.is_last = end == len(text)
        self.report = report

    def parse(self) -> Listing | None:
        listing = None
        try:
            listing = self.header()
            self.body(listing)
        except _Fault as fault:
            self.report.add(fault.rule, fault.message, fault.offset)
        return listing

    # Helpers over the list of tokens.

    def found(self) -> str:
        word = self.words[self.next]
        if word:
            return shown(word)
        return "the end of the text" if self.is_last else "the next state"

    def expected(self, what: str) -> _Fault:
        return _Fault("syntax", f"expected {what}, found {self.found()}", self.starts[self.next])

    def accept(self, word: str) -> bool:
        if self.words[self.next] == word:
            self.next += 1
            return True
        return False

    def expect(self, word: str, where: str) -> None:
        if self.words[self.next] != word:
            raise self.expected(f"'{word}' {where}")
        self.next += 1

    def name(self, what: str) -> str:
        word, offset = self.words[self.next], self.starts[self.next]
        if word in RESERVED or word == "insample'":
            raise _Fault("name", f"{shown(word)} is a reserved word and cannot be {what}", offset)
        if not NAME.fullmatch(word):
            hint = " (a name starts with a letter or _)" if word[:1].isdigit() else ""
            raise self.expected(f"{what}{hint}")
        self.next += 1
        return word

    # The header: (name:kind, d, mu, d', mu'):

    def header(self) -> Listing:
        at = self.starts[0]
        self.expect("(", "before a state")
        name = self.name("the name of a state")
        is_input = self.kind(name) if self.accept(":") else True
        numbers: list[Fraction] = []
        places: list[int] = []
        while self.accept(","):
            places.append(self.starts[self.next])
            numbers.append(self.number())
        self.expect(")", f"after the parameters of state {name}")
        self.expect(":", f"after the header of state {name}")
        if len(numbers) not in (0, 2, 4):
            message = (
                f"state {name} has {len(numbers)} parameters; give 2 (d and mu: inverse noise scale and "
                "mean) or 4 (d, mu, d', mu')"
            )
            raise _Fault("syntax", message, at)
        keys = ["d", "mu", "d_prime", "mu_prime"][: len(numbers)]
        state = State(name, is_input, **dict(zip(keys, numbers, strict=True)))
        return Listing(at, state, dict(zip(keys, places, strict=True)))

    def kind(self, name: str) -> bool:
        if self.accept("input"):
            return True
        if self.words[self.next : self.next + 3] == ["non", "-", "input"]:
            self.next += 3
            return False
        raise self.expected(f"'input' or 'non-input' after '{name}:'")

    def number(self) -> Fraction:
        """A rational; a malformed one is reported and read as 1, and the parse goes on."""
        start = self.next
        if self.words[self.next] in ("-", "+"):
            self.next += 1
        self.numeral("a number such as 1/4, 0.25 or -3")
        if self.accept("/"):
            self.numeral("a positive number after '/'")
        try:
            return rational("".join(self.words[start : self.next]))
        except ValueError as error:
            self.report.add("number", str(error), self.starts[start])
            return Fraction(1)

    def numeral(self, what: str) -> None:
        """Anything that begins like one; whether it is one, :func:`rational` knows."""
        if not self.words[self.next].lstrip(".")[:1].isdigit():
            raise self.expected(what)
        self.next += 1

    # The body: one unguarded step, or a chain of branches.

    def body(self, listing: Listing) -> None:
        if self.words[self.next] == "if":
            self.chain(listing)
        elif self.words[self.next]:
            at = self.starts[self.next]
            listing.branches.append(self.step(Branch(at, TRUE, at)))
        while self.accept(";"):
            pass
        if self.words[self.next]:
            more = not listing.branches[-1].guard.is_true
            what = "'elseif', 'else' or the next state" if more else "the next state"
            raise self.expected(f"{what} after 'goto {listing.branches[-1].target}'")

    def chain(self, listing: Listing) -> None:
        at = self.starts[self.next]
        self.next += 1
        while True:
            guard_at = self.starts[self.next]
            listing.branches.append(self.step(Branch(at, self.guard(), guard_at)))
            while self.accept(";"):
                pass
            at = self.starts[self.next]
            if self.accept("elseif"):
                continue
            if not self.accept("else"):
                return
            if not self.accept("if"):
                listing.branches.append(self.step(Branch(at, TRUE, at, is_else=True)))
                return

    def step(self, branch: Branch) -> Branch:
        """``x := insample, y := insample; output o; goto q``"""
        branch.assign_at = self.starts[self.next]
        branch.assign = self.assignments()
        self.expect("output", "after the assignments")
        branch.output_at = self.starts[self.next]
        branch.output = self.output()
        self.expect(";", "after the output")
        self.expect("goto", "after the output")
        branch.target_at = self.starts[self.next]
        branch.target = self.name("the state to go to")
        return branch

    def assignments(self) -> frozenset[str]:
        names: list[str] = []
        while self.words[self.next] != "output":
            if not NAME.fullmatch(self.words[self.next]) or self.words[self.next] in RESERVED:
                raise self.expected("'output' or an assignment such as 'x := insample'")
            names.append(self.name("a variable"))
            self.expect(":=", f"after the variable {names[-1]}")
            if not self.accept("insample"):
                raise self.expected(f"'insample', the only value that {names[-1]} can store")
            if not self.accept(","):
                self.expect(";", "or ',' after an assignment")
        return frozenset(names)

    def output(self) -> Output:
        word = self.words[self.next]
        if word == "insample":
            self.next += 1
            return INSAMPLE
        if word in _SECOND_SAMPLE:
            self.next += 1
            return INSAMPLE_PRIME
        return symbol(self.name("an output (insample, insampleprime or a name)"))

    # Guards: a conjunction with any number of parentheses, up to ``then``.

    def guard(self) -> Guard:
        at_least: set[str] = set()
        below: set[str] = set()
        opened: list[int] = []
        while True:
            while self.accept("("):
                opened.append(self.starts[self.next - 1])
            if not self.accept("true"):
                self.atom(at_least, below)
            while opened and self.accept(")"):
                opened.pop()
            if self.words[self.next] not in _AND:
                break
            self.next += 1
        if opened and self.words[self.next] in ("then", ""):
            place = self.report.position(opened[-1])
            raise self.expected(f"')' for the '(' at {place.line}:{place.column}")
        self.after_guard()
        return Guard(frozenset(at_least), frozenset(below))

    def after_guard(self) -> None:
        word = self.words[self.next]
        if word in ("||", "|", "or", "∨"):
            message = f"{shown(word)}: a guard is a conjunction; write one branch for each alternative"
            raise _Fault("syntax", message, self.starts[self.next])
        if word == "&":
            raise self.expected("'&&'")
        if word == ")":
            raise self.expected("'then' (this ')' closes nothing)")
        self.expect("then", "or '&&' after a comparison")

    def atom(self, at_least: set[str], below: set[str]) -> None:
        """``insample >= x`` and its relatives; equality has probability 0, so strictness is ignored."""
        left, operator, right = self.words[self.next : self.next + 3] + [""] * max(
            0, self.next + 3 - len(self.words)
        )
        if left == "insample" and operator in _AT_LEAST | _BELOW:
            self.next += 2
            if right[:1] in "-+.0123456789":
                raise self.expected("a variable (a constant goes into the mean of the state)")
            (at_least if operator in _AT_LEAST else below).add(self.name("a variable"))
        elif right == "insample" and operator in _AT_LEAST | _BELOW:
            (below if operator in _AT_LEAST else at_least).add(self.name("a variable"))
            self.next += 2
        else:
            raise self.bad_atom(left, operator)

    def bad_atom(self, left: str, operator: str) -> _Fault:
        offset = self.starts[self.next]
        if left in _SECOND_SAMPLE:
            message = "guards compare insample with variables; insample' can only be output"
            return _Fault("syntax", message, offset)
        if left in ("!", "not", "¬"):
            message = f"{shown(left)}: there is no negation; write insample < x for !(insample >= x)"
            return _Fault("syntax", message, offset)
        if left == "insample":
            self.next += 1
            return self.expected("'>=' or '<' after insample")
        if NAME.fullmatch(left) and left not in RESERVED and operator in _AT_LEAST | _BELOW:
            self.next += 2
            return self.expected("'insample', which one side of a comparison must be")
        return self.expected("a comparison such as insample >= x")
