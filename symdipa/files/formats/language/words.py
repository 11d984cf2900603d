"""The words of a ``.dipa`` text, read one after the other, and complaints about them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from symdipa.files.formats.common import Report, rational, shown
from symdipa.model.parts import ENTRY
from symdipa.model.spelling import edit_distance

RESERVED = frozenset(
    ["insample", "insampleprime", "if", "then", "elseif", "else", "output", "goto", "true", "and"]
)
"""Words that cannot name a state, a variable or an output symbol."""

NAME = re.compile(r"[^\W\d]\w*")
_TOKEN = re.compile(r"[^\W\d]\w*+'?|\.?[0-9][\w.]*|[:+\-*]=|>=|<=|==|!=|&&|\|\||\S")
_STORED = re.compile(r"\b([^\W\d]\w*+)\s*+[:+-]?=(?!=)")
"""What looks like an assignment, in the rawest of texts."""

_VALUE = re.compile(
    r"\b([^\W\d]\w*+)\s*+(?:([+\-*])=|:?=(?!=))\s*+([-+]?\s*+[\w.]++(?:\s*+[-+*/]\s*+[\w.]++)*+)"
)
"""The name to which a value is assigned, or added (with the sign), and the value."""
_TAKES = re.compile(r"(?<!non-)\binput\b|[+\-*]=")
"""What a text without registers does not have."""
_FREE = re.compile(r"(?<![\w.])[^\W\d]\w*+")
_KIND = re.compile(r"\s*+(?:non|input|read|silent)\b")

INFINITE = frozenset(["inf", "infinity", "infty", "oo", "∞"])
NO_REGISTERS = frozenset([ENTRY, "exp", "eps", "epsilon", "ε"]) | INFINITE
"""Words that mean something else in the header of a state."""

STORES = frozenset([":=", "=", "+=", "-=", "*="])
SECOND_SAMPLE = frozenset(["insampleprime", "insample'"])
SYNONYMS = {"elif": "elseif", "elsif": "elseif"}

AHEAD = frozenset(["output", "goto", ";", "elseif", "else"])
"""Words at which the parser can go on inside a state."""

_AFTER_NAME = frozenset([";", ",", ":", ")", "&&", "||", *STORES, ""])
SIGNS = frozenset(["+", "-", "*", "/"])


def stored_in(text: str) -> frozenset[str]:
    """The names to which something is assigned in the text: its variables, unless they are misspelt."""
    return frozenset(_STORED.findall(text)) - RESERVED


def names_in_means(text: str, headers: Iterable[int]) -> frozenset[str]:
    """The names in the means of the states whose headers begin at these offsets."""
    found = set[str]()
    for at, following in pairwise((*headers, len(text))):
        end = text.find(")", at, following)
        _, *parameters = text[at : following if end < 0 else end].split(",")
        behind_comma = parameters and _KIND.match(parameters[0]) is not None
        for mean in parameters[2 if behind_comma else 1 :: 2]:
            found.update(_FREE.findall(re.split("[:;=]", mean, maxsplit=1)[0]))
    return frozenset(found) - RESERVED - NO_REGISTERS


def registers_in(text: str, in_means: frozenset[str], stored: frozenset[str]) -> frozenset[str]:
    """The registers among the names that something is stored in: those to which the entry that is read is
    assigned or added, and those in means, or to or from which registers are assigned, if no sample is.

    Where something is stored in ``input`` that is a name like others.
    """
    if not in_means and not _TAKES.search(text):
        return frozenset()
    words = frozenset([ENTRY]) - stored
    found, links, samples = set[str](), dict[str, set[str]](), set[str]()
    for name, sign, value in _VALUE.findall(text):
        names = set(_FREE.findall(value))
        if sign or names & words:
            found.add(name)
        if "insample" in names:
            samples.add(name)
        for other in names - RESERVED - words - {name}:
            links.setdefault(name, set()).add(other)
            links.setdefault(other, set()).add(name)
    found |= (in_means & stored) - samples
    work = list(found)
    for name in work:  # grows while it is walked
        for other in links.get(name, ()):
            if other not in found and other not in samples:
                found.add(other)
                work.append(other)
    return frozenset(found)


@dataclass
class Source:
    """A text without comments, and what the parser of a state has to know about all of it.

    ``variables`` are the names that something is stored in, ``registers`` those of them that hold sums of
    entries. ``quoted`` has the words in quotes by the offset
    of their quotes; those that stand where quotes may be are taken out.
    """

    text: str
    report: Report
    variables: frozenset[str] = frozenset()
    registers: frozenset[str] = frozenset()
    quoted: dict[int, str] = field(default_factory=dict)
    integer: bool = False

    @cached_property
    def mentions_eps(self) -> bool:
        folded = self.text.casefold()
        return "eps" in folded or "ε" in folded


class Words:
    """The words of a piece of text, from ``start`` to ``end``."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        text = source.text
        self.source, self.text, self.report = source, text, source.report
        found = list(_TOKEN.finditer(text, start, end))
        self.words = [match[0] for match in found]
        self.starts = [match.start() for match in found]
        last = self.starts[-1] + len(self.words[-1])
        self.words += [""] * 4  # the end of the piece, and as far as the parser looks ahead
        self.starts += [last] * 4
        self.next = 0
        self.end, self.is_last = end, end == len(text)
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
        if self.words[self.next] != word:
            return False
        self.next += 1
        self.lost = False
        return True

    def expect(self, word: str, where: str) -> bool:
        """Pass over the word, misspelt or not; otherwise report that it is missing, and stay."""
        if self.accept(word):
            return True
        misspelt = means(self.word, word)
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
        return following in STORES and word not in RESERVED and NAME.fullmatch(word) is not None

    def numeral(self, what: str, marks: frozenset[str]) -> bool:
        """Anything that begins like one; whether it is one, :func:`rational` knows. Else go to a mark."""
        if self.word.lstrip(".")[:1].isdigit():
            self.next += 1
            return True
        self.expected(what)
        self.skip_to(marks)
        return False

    def rational(self, start: int) -> Fraction:
        """The number in the words since ``start``; a malformed one is reported and read as 1."""
        try:
            return rational("".join(self.words[start : self.next]))
        except ValueError as error:
            self.report.add("number", str(error), self.starts[start])
            return Fraction(1)

    def written(self, start: int) -> str:
        """The text of the words since ``start``, on one line."""
        if start == self.next:
            return ""
        last = self.next - 1
        return " ".join(self.text[self.starts[start] : self.starts[last] + len(self.words[last])].split())

    def name(self, what: str) -> str:
        """A name; empty if there is none."""
        word, following = self.words[self.next : self.next + 2]
        if word in RESERVED or word == "insample'":
            self.fault(f"{shown(word)} is a reserved word and cannot be {what}", rule="name")
            if following in _AFTER_NAME or word not in AHEAD:
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


def means(word: str, keyword: str) -> bool:
    """Whether a word that stands where the keyword must stand is a misspelling of it."""
    folded = word.casefold()
    if word in RESERVED or not NAME.fullmatch(word) or len(word) > 2 * len(keyword):
        return False
    if folded in RESERVED or folded in SYNONYMS:
        return SYNONYMS.get(folded, folded) == keyword
    slips = 0 if len(keyword) < 4 else 1 if len(keyword) < 6 else 2
    return edit_distance(folded, keyword, slips) <= slips
