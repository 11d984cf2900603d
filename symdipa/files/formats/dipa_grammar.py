"""The grammar of the text language ``.dipa``: from a text to states as they were written.

A text is cut at the state headers and each piece is parsed by itself, without recursion, so that no
nesting is too deep. ``docs/formats.md`` describes the language.

One fault hides no other: after a fault the parser skips, in silence, to the next word it can rely on. A word
close to the keyword that must stand there is read as that keyword.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

from symdipa.files.formats.common import READING, Report, eps_in, rational, shown
from symdipa.model.automaton import INSAMPLE, INSAMPLE_PRIME, TRUE, Guard, Output, State, symbol
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.options import HALTS
from symdipa.model.spelling import counted, edit_distance

RESERVED = frozenset(
    ["insample", "insampleprime", "if", "then", "elseif", "else", "output", "goto", "true", "and"]
)
"""Words that cannot name a state, a variable or an output symbol."""

_HALT = re.compile(r"\s*halt[ \t]+(\S+)[ \t]*(?:\n|\Z)")
"""A line before the states."""
NAME = re.compile(r"[^\W\d]\w*")
_NAMED = re.compile(r"\(\s*+([^\W\d]\w*+)")
"""The beginning of a header, with the name of the state."""
_TOKEN = re.compile(r"[^\W\d]\w*+'?|\.?[0-9][\w.]*|:=|>=|<=|==|!=|&&|\|\||\S")
_ASIDE = re.compile(
    r"[#/%\-\"'`“‘](?:(?<=#)[^\n]*"
    r"|(?P<comment>(?:(?<=(?<!\w)/)/|(?<=(?<!\w)%)|(?<=(?<!\w)-)-(?=\s|[^\W\d]))[^\n]*|(?<=/)\*.*?(?:\*/|\Z))"
    r"|(?<=(?<!\w)[\"'`“‘])(?P<quoted>[^\"'`“”‘’\n]*)[\"'`”’])",
    re.DOTALL,
)
"""Comments, comments of other languages, and words in quotes. It starts with their first letters, which makes
the search ten times as fast."""
_HEADER = re.compile(
    r"\(\s*+(?:(?!insample\b)\w++(?:-\w++)*+'?\s*+(?=[:,0-9]|\)\s*+:)"
    r"|(?=:\s*+(?:non|input)\b|,\s*+[-+.0-9]|\)\s*+:))"
)
"""The beginning of a state, or of something that was meant to be one; no guard looks like this."""

_AND = frozenset(["&&", "and", "∧"])
_AT_LEAST = frozenset([">=", ">", "≥"])
_BELOW = frozenset(["<", "<=", "≤"])
_COMPARES = _AT_LEAST | _BELOW
_BEGINS_NUMBER = tuple("-+.0123456789")
_OR = frozenset(["||", "|", "or", "∨"])
_STORES = frozenset([":=", "="])
_SECOND_SAMPLE = frozenset(["insampleprime", "insample'"])
_EPS = re.compile("eps|ε", re.IGNORECASE)
_INFINITE = frozenset(["inf", "infinity", "infty", "oo", "∞"])
_SYNONYMS = {"elif": "elseif", "elsif": "elseif"}

_AHEAD = frozenset(["output", "goto", ";", "elseif", "else"])
"""Words at which the parser can go on inside a state."""

_HEADER_MARKS = frozenset([":", ",", ")"])
_BODY = frozenset(["if", "output", "goto", ""])
_BRANCHES = frozenset(["elseif", "else"])
_AFTER_NAME = frozenset([";", ",", ":", ")", "&&", *_STORES, ""])

LONGEST_PARAMETER = 40
"""In more words than this nobody looks for ``eps``."""

FATAL = frozenset(["syntax", "name"])
"""The rules of faults after which a part of the text is missing from what is read."""

EXAMPLE = "(q1,1/4,0): if (insample < x) then output obot; goto q2"


@dataclass(slots=True)
class Arm:
    """A branch as it is written, with the offsets of its parts.

    ``reads`` are the variables of the guard, each with the offset of its first use. A ``faulty`` branch could
    not be read in full, or stands where none may be.
    """

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
    reads: dict[str, int] = field(default_factory=dict)
    faulty: bool = False


@dataclass(slots=True)
class Listing:
    """One state as written."""

    at: int
    state: State
    parameters_at: dict[str, int]
    branches: list[Arm] = field(default_factory=list)


def parse_listings(text: str, report: Report, limits: Limits = UNLIMITED) -> tuple[str, list[Listing]]:
    """What the text says about halting, and all its states, as far as they can be read."""
    text = _without_asides(text, report)
    starts = []
    for match in _HEADER.finditer(text):
        limits.check(READING)
        starts.append(match.start())
    first = starts[0] if starts else len(text)
    halt, at = "", 0
    while said := _HALT.match(text, at, first):
        if halt or said[1] not in HALTS:
            remedy = "is said once" if halt else f"is {' or '.join(HALTS)}, not {shown(said[1])}"
            report.add("syntax", f"halt {remedy}", said.start(1))
        halt, at = halt or said[1], said.end()
    if stray := text[at:first].strip():
        message = f"expected a state such as {EXAMPLE}, found {shown(stray)}"
        report.add("syntax", message, first - len(text[at:first].lstrip()))
    listings = []
    for start, end in pairwise([*starts, len(text)]):
        if report.full:
            break
        limits.check(READING)
        listing = _StateParser(text, start, end, report).parse()
        if listing is not None:
            listings.append(listing)
    return halt, listings


def _without_asides(text: str, report: Report) -> str:
    """The text without comments and quotes, every word at its place; what is foreign is reported."""
    foreign: list[re.Match[str]] = []

    def instead(match: re.Match[str]) -> str:
        if match["comment"] is not None:
            foreign.append(match)
        if (quoted := match["quoted"]) is None:
            return re.sub(r"[^\n]", " ", match[0])
        name = re.sub(r"^(?=\d|$)|\W", "_", quoted)
        if not report.full:
            report.add(
                "spelling", f"{shown(match[0])}: names stand without quotes; write {name}", match.start()
            )
        return f" {name}".ljust(len(match[0]))

    text = _ASIDE.sub(instead, text)
    if foreign:
        more = f" ({len(foreign) - 1} more like this below)" if foreign[1:] else ""
        mark = foreign[0][0][:1] if foreign[0][0].startswith("%") else foreign[0][0][:2]
        report.add("spelling", f"'{mark}': a comment begins with #{more}", foreign[0].start())
    return text


class _Words:
    """The words of a piece of text, read one after the other, and complaints about them."""

    def __init__(self, text: str, start: int, end: int, report: Report) -> None:
        self.text = text
        self.mentions_eps = _EPS.search(text, start, end) is not None
        self.words: list[str] = _TOKEN.findall(text, start, end)
        self.starts = [match.start() for match in _TOKEN.finditer(text, start, end)]
        last = self.starts[-1] + len(self.words[-1])
        self.words += [""] * 3  # the end of the piece, and as far as the parser looks ahead
        self.starts += [last] * 3
        self.next = 0
        self.end, self.is_last = end, end == len(text)
        self.report = report
        self.lost = False
        """Set by a fault, until a word is found that was expected."""
        self.sound = True
        """Cleared by a fault."""

    @property
    def word(self) -> str:
        return self.words[self.next]

    @property
    def offset(self) -> int:
        return self.starts[self.next]

    def found(self) -> str:
        if self.word:
            return shown(self.word)
        return "the end of the text" if self.is_last else "the next state"

    def fault(self, message: str, offset: int | None = None, rule: str = "syntax") -> None:
        """Report a fault, unless it may be the consequence of another one."""
        self.sound = False
        if not self.lost:
            self.report.add(rule, message, self.offset if offset is None else offset)
        self.lost = True

    def expected(self, what: str, meant: str = "") -> None:
        hint = f"; did you mean '{meant}'?" if meant else ""
        self.fault(f"expected {what}, found {self.found()}{hint}")

    def advance(self) -> None:
        """Pass over a word that is at its place."""
        self.next += 1
        self.lost = False

    def accept(self, word: str) -> bool:
        if self.words[self.next] == word:
            self.advance()
            return True
        return False

    def expect(self, word: str, where: str) -> bool:
        """Pass over the word, misspelt or not; otherwise report that it is missing, and stay."""
        if self.accept(word):
            return True
        misspelt = _means(self.word, word)
        self.expected(f"'{word}' {where}", word if misspelt else "")
        if misspelt:
            self.advance()
        return misspelt

    def skip_to(self, stops: frozenset[str]) -> None:
        while self.word and self.word not in stops:
            self.next += 1

    def stores(self, ahead: int = 0) -> bool:
        """Whether an assignment stands here, or ``ahead`` words further on."""
        word, following = self.words[self.next + ahead : self.next + ahead + 2]
        return following in _STORES and word not in RESERVED and NAME.fullmatch(word) is not None

    def name(self, what: str) -> str:
        """A name; empty if there is none."""
        word, following = self.words[self.next : self.next + 2]
        if word in RESERVED or word == "insample'":
            self.fault(f"{shown(word)} is a reserved word and cannot be {what}", rule="name")
            if following in _AFTER_NAME or word not in _AHEAD:
                self.next += 1
            return ""
        if not NAME.fullmatch(word):
            number = word[:1].isdigit()
            self.expected(f"{what}{' (a name starts with a letter or _)' if number else ''}")
            self.next += number
            return ""
        self.next += 1
        if following == "-" and NAME.fullmatch(self.words[self.next + 1]):
            word = self.hyphenated(word)
        return word

    def hyphenated(self, word: str) -> str:
        """A name with ``-`` in it: reported, and read with ``_``."""
        start = self.starts[self.next - 1]
        written = word
        while self.word == "-" and NAME.fullmatch(self.words[self.next + 1]):
            word += f"_{self.words[self.next + 1]}"
            written += f"-{self.words[self.next + 1]}"
            self.next += 2
        self.fault(
            f"{shown(written)} is not a name, which has only letters, digits and _; write {word}", start
        )
        self.lost = False
        return word


class _HeaderParser(_Words):
    """Parses ``(name: kind, d, mu, d', mu'):``."""

    def header(self) -> Listing:
        at = self.offset
        self.next = 1  # every piece begins with a parenthesis
        name = self.name("the name of a state")
        if not name:
            self.skip_to(_HEADER_MARKS)
        is_input = self.kind(name) if self.accept(":") else True
        in_order, self.sound = self.sound, True
        state = f"state {name}" if name else "the state"
        numbers: list[Fraction] = []
        places: list[int] = []
        while self.accept(","):
            if not places and (self.word == "input" or self.silent()):
                is_input = self.kind_behind_comma(name)
                continue
            places.append(self.offset)
            numbers.append(self.number(is_mean=len(places) % 2 == 0))
        if not self.accept(")"):
            self.expected(f"')' after the parameters of {state}")
            self.pass_over(")")
        if not self.accept(":"):
            self.expected(f"':' after the header of {state}")
            self.pass_over(":")
        if name and self.sound and len(numbers) not in (0, 2, 4):
            given = counted(len(numbers), "parameter")
            wanted = "2 (d and mu: inverse noise scale and mean) or 4 (d, mu, d', mu')"
            self.fault(f"state {name} has {given}; give {wanted}", at)
        if self.word in _BODY or self.stores():
            self.lost = False
        if not (self.sound and in_order):  # nothing about its parameters shall follow from that
            return Listing(at, State(name, is_input, Fraction(1), d_prime=Fraction(1)), {})
        keys = ["d", "mu", "d_prime", "mu_prime"][: len(numbers)]
        listed = replace(State(name, is_input), **dict(zip(keys, numbers, strict=True)))
        return Listing(at, listed, dict(zip(keys, places, strict=True)))

    def pass_over(self, mark: str) -> None:
        """Go behind a mark that ends the header, if it comes before the body."""
        at = self.next
        while self.words[at] != mark:
            if self.words[at] in _BODY or self.stores(at - self.next):
                return
            at += 1
        self.next = at + 1

    def kind(self, name: str) -> bool:
        """Whether the state is an input state; other words are reported, and read as the closest one."""
        if self.accept("input"):
            return True
        if self.words[self.next : self.next + 3] == ["non", "-", "input"]:
            self.next += 3
            return False
        silent = self.silent()
        meant = "non-input" if silent else "input" if _means(self.word, "input") else ""
        self.expected(f"'input' or 'non-input' after '{name}:'", meant)
        self.skip_to(_HEADER_MARKS)
        return not silent

    def silent(self) -> bool:
        """Whether something like ``non-input`` stands here."""
        word = self.word.casefold()
        return word == "non" or re.fullmatch(r"non_?input", word) is not None

    def kind_behind_comma(self, name: str) -> bool:
        """``(q, non-input, ...)``: whether it is an input state."""
        is_input = self.word == "input"
        kind = "input" if is_input else "non-input"
        message = f"the kind of a state stands behind a colon: write ({name}:{kind}, ...)"
        self.report.add("spelling", message, self.offset)
        self.skip_to(_HEADER_MARKS)
        return is_input

    def number(self, is_mean: bool) -> Fraction:
        """A rational; a malformed one is reported and read as 1."""
        start = self.next
        if (found := self.with_eps(is_mean)) is not None:
            return found
        if self.word.casefold() in _INFINITE:
            remedy = "d is a number, and a large one, such as 100, is little noise; no noise is not possible"
            message = f"{shown(self.word)}: {'a mean is a number' if is_mean else remedy}"
            self.report.add("number", message, self.offset)
            self.next += 1
            return Fraction(1)
        if self.word in ("-", "+"):
            self.next += 1
        if not self.numeral("a number such as 1/4, 0.25 or -3"):
            return Fraction(1)
        if self.accept("/") and not self.numeral("a positive number after '/'"):
            return Fraction(1)
        try:
            return rational("".join(self.words[start : self.next]))
        except ValueError as error:
            self.report.add("number", str(error), self.starts[start])
            return Fraction(1)

    def with_eps(self, is_mean: bool) -> Fraction | None:
        """A parameter with ``eps`` in it: reported, and read as the number to write; ``None`` for others."""
        if not self.mentions_eps:
            return None
        start, end, depth = self.offset, self.next, 0
        while (word := self.words[end]) not in _BODY and (depth or word not in _HEADER_MARKS):
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

    def numeral(self, what: str) -> bool:
        """Anything that begins like one; whether it is one, :func:`rational` knows."""
        if self.word.lstrip(".")[:1].isdigit():
            self.next += 1
            return True
        self.expected(what)
        self.skip_to(_HEADER_MARKS)
        return False


class _GuardParser(_Words):
    """Parses what a branch compares its sample with."""

    def guard(self, branch: Arm) -> None:
        at_least: set[str] = set()
        below: set[str] = set()
        opened: list[int] = []
        while True:
            while self.accept("("):
                opened.append(self.starts[self.next - 1])
            if not self.accept("true"):
                self.atom(branch, at_least, below)
            while opened and self.accept(")"):
                opened.pop()
            if not self.conjunction():
                break
        branch.guard = Guard(frozenset(at_least), frozenset(below))
        if opened and self.word in ("then", ""):
            place = self.report.position(opened[-1])
            self.expected(f"')' for the '(' at {place.line}:{place.column}")
        if self.word == ")":
            self.expected("'then' (this ')' closes nothing)")
        if not self.expect("then", "or '&&' after a comparison") and not self.stores():
            self.skip_to(_AHEAD | {"then"})
            self.accept("then")

    def conjunction(self) -> bool:
        """Whether another comparison follows; passes over the word between."""
        if self.word in _AND:
            self.advance()
        elif self.word in _OR:
            self.fault(f"{shown(self.word)}: a guard is a conjunction; write one branch for each alternative")
            self.advance()
        elif self.word == "&" or self.word.lower() == "and":
            self.expected("'&&'")
            self.advance()
        else:
            return False
        return True

    def atom(self, branch: Arm, at_least: set[str], below: set[str]) -> None:
        """``insample >= x`` and its relatives; equality has probability 0, so strictness is ignored."""
        left, operator, right = self.words[self.next : self.next + 3]
        if left == "insample" and operator in _COMPARES:
            self.next += 2
            self.variable(branch, at_least if operator in _AT_LEAST else below)
        elif right == "insample" and operator in _COMPARES:
            self.variable(branch, below if operator in _AT_LEAST else at_least)
            self.next += 2
            if self.word in _COMPARES:
                second, other = self.words[self.next : self.next + 2]
                both = f"{left} {operator} insample && insample {second} {other}"
                self.report.add("spelling", f"a comparison has two sides: write {both}", self.offset)
                self.next += 1
                self.variable(branch, at_least if second in _AT_LEAST else below)
        else:
            self.bad_atom(left, operator, right)
            self.skip_atom()

    def variable(self, branch: Arm, side: set[str]) -> None:
        at = self.offset
        if self.word.startswith(_BEGINS_NUMBER):
            self.expected("a variable (a constant goes into the mean of the state)")
            self.skip_atom()
        elif name := self.name("a variable"):
            side.add(name)
            branch.reads.setdefault(name, at)

    def bad_atom(self, left: str, operator: str, right: str) -> None:
        """Report what cannot be read as a comparison, at the word that is to blame."""
        compares = operator in _COMPARES
        if left in _SECOND_SAMPLE:
            self.fault("guards compare insample with variables; insample' can only be output")
        elif left in ("!", "not", "¬"):
            self.fault(f"{shown(left)}: there is no negation; write insample < x for !(insample >= x)")
        elif left == "insample":
            self.next += 1
            constant = " (a constant goes into the mean of the state)" if self.word in ("+", "-") else ""
            self.expected(f"'>=' or '<' after insample{constant}")
        elif _means(left, "insample"):
            self.expected("'insample'", "insample")
        elif compares and NAME.fullmatch(left) and left not in RESERVED:
            self.next += 2
            meant = "insample" if _means(right, "insample") else ""
            self.expected("'insample', which one side of a comparison must be", meant)
        else:
            self.expected("a comparison such as insample >= x", "true" if _means(left, "true") else "")

    def skip_atom(self) -> None:
        """Go to the end of something that was meant to be a comparison."""
        depth = 0
        while self.word and self.word not in _AHEAD | {"then"}:
            if depth == 0 and (self.word == ")" or self.word in _AND | _OR):
                return
            depth += (self.word == "(") - (self.word == ")")
            self.next += 1


class _StateParser(_HeaderParser, _GuardParser):
    """Parses the piece of text that holds one state."""

    def parse(self) -> Listing | None:
        """The state, or as much of it as could be read; ``None`` if not even its name could."""
        listing = self.header()
        self.body(listing)
        return listing if listing.state.name else None

    def body(self, listing: Listing) -> None:
        if not self.word:
            return
        at, in_order = self.offset, True
        kind = "if" if self.opens_chain() else "step"
        while kind:
            self.sound = True
            branch = Arm(at, TRUE, at if kind == "else" else self.offset, is_else=kind == "else")
            if kind == "if":
                self.guard(branch)
            self.step(branch, self.some_target(listing.state.name, kind))
            branch.faulty = not (self.sound and in_order)
            listing.branches.append(branch)
            while self.accept(";"):
                pass
            in_order &= self.to_next_branch(branch, may_follow=kind == "if")
            at = self.offset
            kind = self.opens_branch()

    def opens_chain(self) -> bool:
        """Whether branches begin here; passes over their ``if``."""
        if self.accept("if"):
            return True
        word, following = self.words[self.next : self.next + 2]
        if word == "(":
            self.expected("'if' before a condition")
            self.lost = False
            return True
        named = word not in ("output", "goto") and NAME.fullmatch(word)
        if named and (following in ("(", "insample") or _means(word, "if")):
            self.expected("'if', 'output' or an assignment", "if" if _means(word, "if") else "")
            self.advance()
            return True
        return False

    def to_next_branch(self, branch: Arm, may_follow: bool) -> bool:
        """Go to the next branch, or to the end; whether that is in order."""
        word, following = self.words[self.next : self.next + 2]
        if not word or (may_follow and (word in _BRANCHES or any(_means(word, b) for b in _BRANCHES))):
            return True
        if self.stores():
            self.fault(f"assignments come before the output: write {word} := insample; output ...")
        elif following in (",", ":") and NAME.fullmatch(word):
            self.fault(f"a state begins with a parenthesis: write ({word}")
        what = "'elseif', 'else' or the next state" if may_follow else "the next state"
        step = f"'goto {branch.target}'" if branch.target else "the step"
        self.expected(f"{what} after {step}")
        self.skip_to(_BRANCHES)
        return False

    def opens_branch(self) -> str:
        """The kind of branch that begins here (``if``, ``else``), if any; passes over its keywords."""
        if self.accept("elseif"):
            return "if"
        if self.accept("else"):
            if self.word == "if" or self.words[self.next + 1] == "(":
                return "if" if self.expect("if", "before a condition") else "else"
            return "else"
        word, following = self.words[self.next : self.next + 2]
        if not word:
            return ""
        guarded = following in ("(", "insample") or _SYNONYMS.get(word.casefold()) == "elseif"
        self.expected("'elseif', 'else' or the next state", "elseif" if guarded else "else")
        self.next += 1
        if not following:
            return ""
        self.lost = False
        return "if" if guarded else "else"

    def some_target(self, own: str, kind: str) -> str:
        """A state of the text to which a branch of this kind may well go; empty if none can be named."""
        following = _NAMED.match(self.text, self.end)
        after = following[1] if following and following[1] not in RESERVED else ""
        return (after or own) if kind == "step" else (own or after)

    def step(self, branch: Arm, target: str) -> None:
        """``x := insample, y := insample; output o; goto q``; ``target`` is what ``q`` may be if it is
        missing."""
        branch.assign_at, said = self.offset, range(0)
        stored: set[str] = set()
        while True:
            self.assignments(stored)
            if self.expect("output", "or an assignment such as 'x := insample'"):
                branch.output_at = self.offset
                first = self.next - 1
                branch.output = self.output()
                said = range(first, self.next)
                break
            self.skip_to(_AHEAD)
            if self.word != "output":
                if self.word != ";" or not (self.stores(1) or self.words[self.next + 1] == "output"):
                    break
                self.advance()
        if self.word in (";", ",") and self.stores(1):
            self.advance()
            self.late_assignments(stored)
        elif not self.accept(";"):
            if self.at_end():
                self.no_goto(said, target)
                return
            self.expected("';' after the output")
            if not _means(self.word, "goto"):
                self.skip_to(_AHEAD)
            self.accept(";")
        branch.assign = frozenset(stored)
        if self.at_end():
            self.no_goto(said, target)
            return
        if self.names_only_a_state():
            self.report.add("spelling", f"write goto {self.word}", self.offset)
        elif not self.expect("goto", "after the output"):
            self.skip_to(_BRANCHES | {"goto"})
            if not self.accept("goto"):
                return
        branch.target_at = self.offset
        branch.target = self.name("the state to go to")

    def at_end(self) -> bool:
        return self.word in _BRANCHES or not self.word

    def names_only_a_state(self) -> bool:
        """Whether ``goto`` is missing before the name of a state."""
        word, following = self.words[self.next : self.next + 2]
        ends = following in _BRANCHES | {"", ";"}
        return ends and NAME.fullmatch(word) is not None and word not in RESERVED

    def no_goto(self, said: range, target: str) -> None:
        """Report that a step ends behind the words of its output; if nothing is output, that is the fault."""
        if len(said) < 2:
            return
        at = self.starts[said[0]]
        written = " ".join(self.text[at : self.starts[said[-1]] + len(self.words[said[-1]])].split())
        remedy = f": write {written if self.sound else 'output ...'}; goto {target}" if target else ""
        self.fault(f"{shown(written)} does not say where to go next{remedy}", at)

    def late_assignments(self, stored: set[str]) -> None:
        """Assignments behind the output: reported, and read as if they stood before it."""
        name = self.word
        message = f"assignments come before the output: write {name} := insample; output ..."
        self.report.add("spelling", message, self.offset)
        self.assignments(stored)

    def assignments(self, stored: set[str]) -> None:
        """Everything that looks like an assignment."""
        while self.stores():
            name = self.name("a variable")
            if self.word != ":=":
                self.expected(f"':=' after the variable {name}")
            self.advance()
            stored.add(name)
            if not self.accept("insample"):
                meant = "insample" if _means(self.word, "insample") else ""
                self.expected(f"'insample', the only value that {name} can store", meant)
                self.skip_to(_AHEAD | {","})
            if not (self.accept(",") or self.accept(";")):
                self.expected("';' or ',' after an assignment")

    def output(self) -> Output:
        if self.accept("insample"):
            return INSAMPLE
        if self.word in _SECOND_SAMPLE:
            self.advance()
            return INSAMPLE_PRIME
        sign = self.word in ("-", "+")
        if self.words[self.next + sign].lstrip(".")[:1].isdigit():
            written = shown("".join(self.words[self.next : self.next + sign + 1]))
            self.fault(
                f"{written} is no output: a symbol begins with a letter (write for instance zero or o1), and "
                "the noisy number itself is output as insample"
            )
            self.next += sign + 1
            self.lost = False
            return INSAMPLE
        return symbol(self.name("an output (insample, insampleprime or a name)"))


def _means(word: str, keyword: str) -> bool:
    """Whether a word that stands where the keyword must stand is a misspelling of it."""
    folded = word.casefold()
    if word in RESERVED or not NAME.fullmatch(word) or len(word) > 2 * len(keyword):
        return False
    if folded in RESERVED or folded in _SYNONYMS:
        return _SYNONYMS.get(folded, folded) == keyword
    slips = 0 if len(keyword) < 4 else 1 if len(keyword) < 6 else 2
    return edit_distance(folded, keyword, slips) <= slips
