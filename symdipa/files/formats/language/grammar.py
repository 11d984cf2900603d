"""The grammar of the text language ``.dipa``: from a text to states as they were written.

A text is cut at the state headers and each piece is parsed by itself, without recursion, so that no
nesting is too deep. ``docs/formats.md`` describes the language.

One fault hides no other: after a fault the parser skips, in silence, to the next word it can rely on. A word
close to the keyword that must stand there is read as that keyword.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from symdipa.files.formats.common import READING, Report, shown
from symdipa.files.formats.language.guards import GuardParser
from symdipa.files.formats.language.parameters import (
    BODY,
    HEADER_MARKS,
    NO_SCALE,
    Mean,
    ParameterParser,
    Scale,
)
from symdipa.files.formats.language.steps import Arm, StepParser
from symdipa.files.formats.language.words import (
    AHEAD,
    NAME,
    RESERVED,
    SYNONYMS,
    Source,
    means,
    names_in_means,
    registers_in,
    stored_in,
)
from symdipa.model.adjacency.differ import ALL, Differ, differ
from symdipa.model.adjacency.letters import DifferError
from symdipa.model.automaton import State
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.options import HALTS
from symdipa.model.spelling import counted
from symdipa.model.validation.guards import ties_count

Kind = tuple[bool, bool]
"""Whether a state reads an input, and whether it draws a sample."""
INPUT: Kind = (True, True)
NON_INPUT: Kind = (False, True)
_KINDS: dict[str, Kind] = {"input": INPUT, "read": (True, False), "silent": (False, False)}

_SETTING = re.compile(r"\s*(halt|noise|differ)[ \t]+([^\n]*?)[ \t]*(?:\n|\Z)")
"""A line before the states."""
_SETTINGS = frozenset(["halt", "noise", "differ"])
_NAMED = re.compile(r"\(\s*+([^\W\d]\w*+)")
"""The beginning of a header, with the name of the state."""
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
    r"|(?=:\s*+(?:non|input|read|silent)\b|,\s*+(?:[-+.0-9]|(?:exp|inf)\b)|\)\s*+:))"
)
"""The beginning of a state, or of something that was meant to be one; no guard looks like this."""

_BRANCHES = frozenset(["elseif", "else"])

FATAL = frozenset(["syntax", "name"])
"""The rules of faults after which a part of the text is missing from what is read."""

EXAMPLE = "(q1,1/4,0): if (insample < x) then output obot; goto q2"


@dataclass(slots=True)
class Listing:
    """One state as written."""

    at: int
    state: State
    parameters_at: dict[str, int]
    registers_at: dict[str, int] = field(default_factory=dict)
    branches: list[Arm] = field(default_factory=list)


@dataclass(slots=True)
class Listings:
    """A text as far as it can be read: what stands before the states, its variables, and the states."""

    halt: str = ""
    integer: bool = False
    differ: Differ | None = None
    variables: frozenset[str] = frozenset()
    registers: frozenset[str] = frozenset()
    states: list[Listing] = field(default_factory=list)


def parse_listings(text: str, report: Report, limits: Limits = UNLIMITED) -> Listings:
    """What the text says about halting and noise, and all its states, as far as they can be read."""
    text, quotes = _without_asides(text, report)
    starts = []
    for match in _HEADER.finditer(text):
        limits.check(READING)
        starts.append(match.start())
    first = starts[0] if starts else len(text)
    states = " " * first + text[first:]
    stored = stored_in(states)
    source = Source(text, report, stored, registers_in(states, names_in_means(states, starts), stored))
    source.quoted = dict(_may_be_quoted(quotes))
    found = Listings(variables=source.variables, registers=source.registers)
    _settings(source, first, found, quotes)
    for start, end in pairwise([*starts, len(text)]):
        if report.full:
            break
        limits.check(READING)
        listing = _StateParser(source, start, end).parse()
        if listing is not None:
            found.states.append(listing)
    _report_quotes(quotes, source)
    return found


def _settings(source: Source, first: int, found: Listings, quotes: list[re.Match[str]]) -> None:
    """Read the lines before the ``first`` state."""
    report, at = source.report, 0
    while said := _SETTING.match(source.text, at, first):
        word, choice, at_choice = said[1], said[2], said.start(2)
        if word == "differ":
            _differ(report, choice, at_choice, found, quotes)
        elif word == "noise":
            remedy = "is said once" if found.integer else f"is integer, not {shown(choice)}"
            if found.integer or choice != "integer":
                report.add("syntax", f"noise {remedy}", at_choice)
            found.integer = True
        else:
            remedy = "is said once" if found.halt else f"is {' or '.join(HALTS)}, not {shown(choice)}"
            if found.halt or choice not in HALTS:
                report.add("syntax", f"halt {remedy}", at_choice)
            found.halt = found.halt or choice
        at = said.end()
    source.integer = found.integer
    if stray := source.text[at:first].strip():
        message = f"expected a state such as {EXAMPLE}, found {shown(stray)}"
        report.add("syntax", message, first - len(source.text[at:first].lstrip()))


def _differ(report: Report, choice: str, at: int, found: Listings, quotes: list[re.Match[str]]) -> None:
    """Read which entries differ."""
    if found.differ is not None:
        report.add("syntax", "differ is said once", at)
        return
    found.differ = ALL
    if quoted := next((match for match in quotes if match.start() == at - 1), None):
        quotes.remove(quoted)
        report.add("spelling", f"{shown(quoted[0])} stands without quotes", at - 1)
        choice = quoted["quoted"]
    try:
        found.differ = differ(choice)
    except DifferError as error:
        report.add("differ", str(error), at + error.at)


def _without_asides(text: str, report: Report) -> tuple[str, list[re.Match[str]]]:
    """The text without comments and quotes, every word at its place, and what stands in quotes; comments of
    other languages are reported."""
    foreign: list[re.Match[str]] = []
    quotes: list[re.Match[str]] = []

    def instead(match: re.Match[str]) -> str:
        if match["comment"] is not None:
            foreign.append(match)
        if match["quoted"] is None:
            return re.sub(r"[^\n]", " ", match[0])
        quotes.append(match)
        return f" {_unquoted(match)}".ljust(len(match[0]))

    text = _ASIDE.sub(instead, text)
    if foreign:
        more = f" ({len(foreign) - 1} more like this below)" if foreign[1:] else ""
        mark = foreign[0][0][:1] if foreign[0][0].startswith("%") else foreign[0][0][:2]
        report.add("spelling", f"'{mark}': a comment begins with #{more}", foreign[0].start())
    return text, quotes


def _unquoted(match: re.Match[str]) -> str:
    return re.sub(r"^(?=\d|$)|\W", "_", match["quoted"])


def _may_be_quoted(quotes: list[re.Match[str]]) -> Iterator[tuple[int, str]]:
    """What is a symbol in quotes if it is output, by the offset of the quotes."""
    for match in quotes:
        name = match["quoted"]
        if match[0] == f"'{name}'" and NAME.fullmatch(name) and name not in RESERVED:
            yield match.start(), name


def _report_quotes(quotes: list[re.Match[str]], source: Source) -> None:
    """Report quotes where none may be."""
    symbols = dict(_may_be_quoted(quotes))
    for match in quotes:
        at, name = match.start(), _unquoted(match)
        if source.report.full:
            return
        if at in source.quoted or at not in symbols:
            said = (
                "symbols with the name of a variable stand in single quotes"
                if name in source.variables
                else ""
            )
            said = f"{said}; write '{name}'" if said else f"names stand without quotes; write {name}"
            source.report.add("spelling", f"{shown(match[0])}: {said}", at)


class _HeaderParser(ParameterParser):
    """Parses ``(name: kind, d, mu, d', mu'):``."""

    def header(self) -> Listing:
        at = self.offset
        self.next = 1  # every piece begins with a parenthesis
        name = self.name("the name of a state")
        if not name:
            self.skip_to(HEADER_MARKS)
        kind = self.kind(name) if self.accept(":") else INPUT
        in_order, self.sound = self.sound, True
        state = f"state {name}" if name else "the state"
        scales: list[Scale] = []
        means: list[Mean] = []
        places: list[int] = []
        while self.accept(","):
            if not places and (self.word in _KINDS or self.non_input()):
                kind = self.kind_behind_comma(name)
                continue
            places.append(self.offset)
            if len(places) % 2:
                scales.append(self.scale())
            else:
                means.append(self.mean())
        if not self.accept(")"):
            self.expected(f"')' after the parameters of {state}")
            self.pass_over(")")
        if not self.accept(":"):
            self.expected(f"':' after the header of {state}")
            self.pass_over(":")
        if name and self.sound and len(places) not in (0, 2, 4):
            given = counted(len(places), "parameter")
            wanted = "2 (d and mu: inverse noise scale and mean) or 4 (d, mu, d', mu')"
            self.fault(f"state {name} has {given}; give {wanted}", at)
        if self.word in BODY or self.stores():
            self.lost = False
        is_input, draws = kind
        if not (self.sound and in_order):  # nothing about its parameters shall follow from that
            some = Fraction(1) if draws else None
            return Listing(at, State(name, is_input, some, d_prime=some, draws=draws), {})
        (noise, d), (noise_prime, d_prime) = (*scales, *[NO_SCALE] * 2)[:2]
        first, second = (*means, Mean(), Mean())[:2]
        if len(means) > 1 and first.factors != second.factors:
            self.unlike_means(first, second, places[3])
        registers = tuple((register, factor) for register, factor in first.factors.items() if factor)
        listed = State(
            name, is_input, d, first.constant, d_prime, second.constant, noise, noise_prime, draws, registers
        )
        keys = ["d", "mu", "d_prime", "mu_prime"]
        return Listing(at, listed, dict(zip(keys, places, strict=False)), first.places)

    def unlike_means(self, first: Mean, second: Mean, at: int) -> None:
        """Report means that do not have the same registers."""
        message = "both means of a state have the same registers, each with the same factor: after "
        message += f"{first.with_number(first.constant)}, write {first.with_number(second.constant)} here"
        self.report.add("registers", message, at)

    def pass_over(self, mark: str) -> None:
        """Go behind a mark that ends the header, if it comes before the body."""
        at = self.next
        while self.words[at] != mark:
            if self.words[at] in BODY or self.stores(at - self.next):
                return
            at += 1
        self.next = at + 1

    def kind(self, name: str) -> Kind:
        """The kind of the state; other words are reported, and read as the closest one."""
        if (found := _KINDS.get(self.word)) is not None:
            self.advance()
            return found
        if self.words[self.next : self.next + 3] == ["non", "-", "input"]:
            self.next += 3
            return NON_INPUT
        if self.non_input():
            meant = "non-input"
        else:
            meant = next((kind for kind in _KINDS if means(self.word, kind)), "")
        self.expected(f"'input', 'non-input', 'read' or 'silent' after '{name}:'", meant)
        self.skip_to(HEADER_MARKS)
        return NON_INPUT if meant == "non-input" else _KINDS.get(meant, INPUT)

    def non_input(self) -> bool:
        """Whether something like ``non-input`` stands here."""
        word = self.word.casefold()
        return word == "non" or re.fullmatch(r"non_?input", word) is not None

    def kind_behind_comma(self, name: str) -> Kind:
        """``(q, non-input, ...)``: the kind of the state."""
        word = self.word if self.word in _KINDS else "non-input"
        rest = ", ..." if word in ("input", "non-input") else ""
        message = f"the kind of a state stands behind a colon: write ({name}:{word}{rest})"
        self.report.add("spelling", message, self.offset)
        self.skip_to(HEADER_MARKS)
        return _KINDS.get(word, NON_INPUT)


class _StateParser(_HeaderParser, GuardParser, StepParser):
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
        ties = ties_count(listing.state, self.source.integer)
        kind = "if" if self.opens_chain() else "step"
        while kind:
            self.sound = True
            branch = Arm(at, guard_at=at if kind == "else" else self.offset, is_else=kind == "else")
            if kind == "if":
                branch.guards = self.guard(branch.reads, ties)
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
        if named and (following in ("(", "insample") or means(word, "if")):
            self.expected("'if', 'output' or an assignment", "if" if means(word, "if") else "")
            self.advance()
            return True
        return False

    def to_next_branch(self, branch: Arm, may_follow: bool) -> bool:
        """Go to the next branch, or to the end; whether that is in order."""
        word, following = self.words[self.next : self.next + 2]
        if not word or (may_follow and (word in _BRANCHES or any(means(word, b) for b in _BRANCHES))):
            return True
        if self.stores():
            self.fault(f"assignments come before the output: write {word} := insample; output ...")
        elif word in _SETTINGS and NAME.fullmatch(following):
            self.fault(f"a line that begins with {word} stands before the states")
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
        guarded = following in ("(", "insample") or SYNONYMS.get(word.casefold()) == "elseif"
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
        while True:
            self.assignments(branch)
            if self.expect("output", "or an assignment such as 'x := insample'"):
                branch.output_at = self.offset
                first = self.next - 1
                branch.output = self.output(branch)
                said = range(first, self.next)
                break
            self.skip_to(AHEAD)
            if self.word != "output":
                if self.word != ";" or not (self.stores(1) or self.words[self.next + 1] == "output"):
                    break
                self.advance()
        if self.word in (";", ",") and self.stores(1):
            self.advance()
            self.late_assignments(branch)
        elif not self.accept(";"):
            if self.at_end():
                self.no_goto(said, target)
                return
            self.expected("';' after the output")
            if not means(self.word, "goto"):
                self.skip_to(AHEAD)
            self.accept(";")
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
