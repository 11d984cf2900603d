"""Which entries of adjacent inputs may differ: a regular set of patterns, as a finite automaton.

A pattern has a letter for every entry that is read: ``=`` where it is equal in both inputs, ``~`` where it
may differ (so it may be equal as well). ``all``: every entry; ``entries=K``: at most ``K`` of them;
``window=W``: those within ``W`` consecutive ones; ``pattern=RE``: as a regular expression over ``=`` and
``~`` says, in which ``.`` is ``~``. Streams have any length: a pattern is allowed if it can be continued to
one that matches (Def. adjacency automaton).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NoReturn

EQUAL, OTHER = "=", "~"
LETTERS = (EQUAL, OTHER)

MOST_ENTRIES = 1_000
"""The largest ``K`` and ``W``, and the most letters of a pattern with its repetitions written out."""

DEEPEST = 50
"""How deep parentheses are nested at most, and how often one part is marked as repeated."""

MOST_PARTS = 20_000
"""The most parts of a pattern, with its repetitions written out; some may have no letters."""

MOST_STATES = 5_000
"""The most states of an adjacency automaton."""

Moves = tuple[tuple[int | None, int | None], ...]
"""For each state where ``=`` and ``~`` lead; ``None``: no such entry is allowed. State 0 is the initial
one."""


@dataclass(frozen=True, slots=True)
class Differ:
    """Which entries may differ: a ``text`` of :func:`differ`, and the least automaton for it.

    Every state allows the pattern so far. Equal texts have equal automata.
    """

    text: str
    moves: Moves = field(compare=False, repr=False)

    @property
    def is_all(self) -> bool:
        """Whether every entry may differ."""
        return self.moves == ALL.moves

    @property
    def most(self) -> int | None:
        """How many entries differ at most; ``None``: any number."""
        return _most(self.moves)

    @property
    def words(self) -> str:
        """In words, as the beginning of a sentence that may go on with ``, by at most ...``."""
        kind, _, number = self.text.partition("=")
        if self.is_all:
            return "every entry may differ"
        if kind == "entries":
            return "one entry differs" if number == "1" else f"at most {number} entries differ"
        if kind == "window":
            return (
                "one entry differs" if number == "1" else f"entries within {number} consecutive ones differ"
            )
        return f"entries differ as in {number}"

    def after(self, state: int, letter: str) -> int | None:
        """Where a letter leads."""
        return self.moves[state][LETTERS.index(letter)]

    def __str__(self) -> str:
        return self.text


class DifferError(ValueError):
    """A text that is no ``differ``; ``at`` is the place in it where that shows."""

    def __init__(self, message: str, at: int = 0) -> None:
        super().__init__(message)
        self.at = at


@lru_cache(maxsize=256)
def differ(text: str) -> Differ:
    """The :class:`Differ` that a text such as ``entries=1`` names.

    Raises :class:`DifferError` (a ``ValueError``), which says what would be right.
    """
    kind, _, rest = text.partition("=")
    kind = kind.strip()
    start = len(text) - len(rest.lstrip())
    if kind == "all" and not rest.strip() and "=" not in text:
        return ALL
    if kind in ("entries", "window") and "=" in text:
        number = _number(kind, rest.strip(), start)
        moves = _entries(number) if kind == "entries" else _window(number)
        return Differ(f"{kind}={number}", moves)
    if kind == "pattern" and "=" in text:
        written = "".join(rest.split())
        if not written:
            raise DifferError("pattern= is followed by letters = and ~, such as pattern==*~=*", start)
        return Differ(f"pattern={written}", _pattern(rest, start))
    raise DifferError(
        f"which entries differ is all, entries=K, window=W or pattern=RE, not {text.strip()!r}"
        if text.strip()
        else "which entries differ is all, entries=K, window=W or pattern=RE"
    )


def _number(kind: str, text: str, at: int) -> int:
    if not re.fullmatch("[0-9]+", text) or int(text) < 1:
        raise DifferError(f"{kind}= is followed by a whole number from 1 on, not {text!r}", at)
    if len(text) > 9 or int(text) > MOST_ENTRIES:
        raise DifferError(f"{kind}= goes up to {MOST_ENTRIES}", at)
    return int(text)


def _entries(most: int) -> Moves:
    return tuple((k, k + 1 if k < most else None) for k in range(most + 1))


def _window(length: int) -> Moves:
    before = (0, 1)
    inside = [(k + 1, k + 1) for k in range(1, length)]
    return (before, *inside, (length, None))


ALL = Differ("all", ((0, 0),))
"""Every entry may differ."""


def _most(moves: Moves) -> int | None:
    """The most ``~`` on a path; a cycle has none iff there are at most as many as states."""
    found = [0] * len(moves)
    for turn in range(len(moves) + 1):
        changed = False
        for p, ways in enumerate(moves):
            for there, counts in zip(ways, (0, 1), strict=True):
                if there is not None and found[there] < found[p] + counts:
                    found[there], changed = found[p] + counts, True
        if not changed:
            return max(found)
        if turn == len(moves):
            return None
    raise AssertionError("unreachable")


# Regular expressions: letters and their places in the expression are states (Glushkov), sets of these count


@dataclass(frozen=True, slots=True)
class _Repeated:
    """A part of an expression so many times: with ``most`` ``None`` any number of them."""

    part: _Node
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class _Choice:
    ways: tuple[tuple[_Node, ...], ...]
    """Each of them parts that follow each other."""


_Node = str | _Repeated | _Choice
"""A letter, a repetition, or a choice."""

_COUNTS = re.compile(r"\{\s*([0-9]{1,9})\s*(?:(,)\s*([0-9]{1,9})?\s*)?\}")


class _Reader:
    """Reads an expression; ``at`` is where it begins in the text that it is a part of."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at
        self.next = 0

    def whole(self) -> _Choice:
        found = self.choice(0)
        if self.next < len(self.text):
            self.fault("the parenthesis closes nothing")
        return found

    def fault(self, message: str, at: int | None = None) -> NoReturn:
        raise DifferError(message, self.at + (self.next if at is None else at))

    @property
    def mark(self) -> str:
        """The next mark; empty at the end."""
        while self.text[self.next : self.next + 1].isspace():
            self.next += 1
        return self.text[self.next : self.next + 1]

    def choice(self, depth: int) -> _Choice:
        if depth > DEEPEST:
            self.fault(f"parentheses are nested more than {DEEPEST} deep")
        ways = [self.sequence(depth)]
        while self.mark == "|":
            self.next += 1
            ways.append(self.sequence(depth))
        return _Choice(tuple(ways))

    def sequence(self, depth: int) -> tuple[_Node, ...]:
        found = []
        while self.mark not in ("", "|", ")"):
            found.append(self.repeated(depth))
        return tuple(found)

    def repeated(self, depth: int) -> _Node:
        found, marks = self.atom(depth), 0
        while (mark := self.mark) in ("*", "+", "?", "{"):
            marks += 1
            if marks > DEEPEST:
                self.fault(f"one part is repeated by more than {DEEPEST} marks")
            if mark == "{":
                least, most = self.counts()
            else:
                self.next += 1
                least, most = int(mark == "+"), 1 if mark == "?" else None
            found = _Repeated(found, least, most)
        return found

    def atom(self, depth: int) -> _Node:
        mark, at = self.mark, self.next
        self.next += 1
        if mark == "(":
            found = self.choice(depth + 1)
            if self.mark != ")":
                self.fault("the parenthesis is not closed", at)
            self.next += 1
            return found
        if mark in ("*", "+", "?", "{"):
            self.fault(f"{mark} repeats nothing", at)
        if mark not in ("=", "~", "."):
            known = "= and ~, and of | * + ? {2,5} ( )"
            self.fault(f"{mark!r} is not known here: a pattern is made of {known}", at)
        return EQUAL if mark == EQUAL else OTHER

    def counts(self) -> tuple[int, int | None]:
        match = _COUNTS.match(self.text, self.next)
        if match is None:
            self.fault("a repetition is written {3}, {2,} or {2,5}")
        least = int(match[1])
        most = least if match[2] is None else None if match[3] is None else int(match[3])
        if most is not None and most < least:
            self.fault(f"{match[0]} has the larger number first")
        if max(least, most or 0) > MOST_ENTRIES:
            self.fault(f"{match[0]}: repetitions go up to {MOST_ENTRIES}")
        self.next = match.end()
        return least, most


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of an expression by its places: whether it may be empty, its first and last ones."""

    empty: bool
    first: frozenset[int]
    last: frozenset[int]


_NOTHING = _Piece(True, frozenset(), frozenset())


@dataclass(slots=True)
class _Places:
    """The places of an expression with its repetitions written out: their letters, and what follows them."""

    letters: list[str] = field(default_factory=list)
    follow: list[set[int]] = field(default_factory=list)
    parts: int = 0

    def piece(self, node: _Node) -> _Piece:
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise DifferError(f"a pattern has at most {MOST_PARTS} parts, with repetitions written out")
        if isinstance(node, _Choice):
            ways = [self.joined(map(self.piece, way)) for way in node.ways]
            return _Piece(
                any(way.empty for way in ways),
                frozenset[int]().union(*(way.first for way in ways)),
                frozenset[int]().union(*(way.last for way in ways)),
            )
        if isinstance(node, _Repeated):
            return self.joined(self.rounds(node))
        if len(self.letters) >= MOST_ENTRIES:
            raise DifferError(f"a pattern has at most {MOST_ENTRIES} letters, with repetitions written out")
        self.letters.append(node)
        self.follow.append(set())
        own = frozenset([len(self.letters) - 1])
        return _Piece(False, own, own)

    def rounds(self, node: _Repeated) -> Iterator[_Piece]:
        """The pieces of a repetition, one after another."""
        for k in range(max(node.least, 1) if node.most is None else node.most):
            piece = self.piece(node.part)
            if node.most is None and k >= node.least - 1:
                self.joined((piece, piece))
            yield _Piece(piece.empty or k >= node.least, piece.first, piece.last)

    def joined(self, pieces: Iterable[_Piece]) -> _Piece:
        found = _NOTHING
        for piece in pieces:
            for k in found.last:
                self.follow[k] |= piece.first
            found = _Piece(
                found.empty and piece.empty,
                found.first | piece.first if found.empty else found.first,
                piece.last | found.last if piece.empty else piece.last,
            )
        return found


def _pattern(text: str, at: int) -> Moves:
    """The least automaton of an expression."""
    places = _Places()
    whole = places.piece(_Reader(text, at).whole())
    return _least(whole.first, places)


def _least(first: frozenset[int], places: _Places) -> Moves:
    """The least automaton: its states are what may come next, as sets of places."""
    number, sets = {first: 0}, [first]
    moves: list[tuple[int | None, int | None]] = []
    for ahead in sets:  # grows while it is walked
        ways: list[int | None] = []
        for letters in ((EQUAL, OTHER), (OTHER,)):
            taken = [k for k in ahead if places.letters[k] in letters]
            following = frozenset[int]().union(*(places.follow[k] for k in taken))
            if taken and following not in number:
                if len(sets) >= MOST_STATES:
                    raise DifferError(f"the automaton of this pattern has more than {MOST_STATES} states")
                number[following] = len(sets)
                sets.append(following)
            ways.append(number[following] if taken else None)
        moves.append((ways[0], ways[1]))
    return _numbered(moves, _alike(moves))


def _alike(moves: Sequence[tuple[int | None, int | None]]) -> list[int]:
    """For each state the number of its class of those from which the same is allowed."""
    group = [0] * len(moves)
    while True:
        numbers: dict[object, int] = {}
        finer = [
            numbers.setdefault((g, *(None if q is None else group[q] for q in ways)), len(numbers))
            for g, ways in zip(group, moves, strict=True)
        ]
        if len(numbers) == len(set(group)):
            return group
        group = finer


def _numbered(moves: Sequence[tuple[int | None, int | None]], group: Sequence[int]) -> Moves:
    """The automaton of the classes, in the order in which letters lead to them."""
    place, members = {group[0]: 0}, [0]
    found = []
    for p in members:  # grows while it is walked
        ways: list[int | None] = []
        for q in moves[p]:
            if q is not None and group[q] not in place:
                place[group[q]] = len(members)
                members.append(q)
            ways.append(None if q is None else place[group[q]])
        found.append((ways[0], ways[1]))
    return tuple(found)


def each_of(text: str) -> Iterator[Differ]:
    """The one of a text, or those of a range such as ``entries=1..8``.

    Raises what :func:`differ` raises.
    """
    match = re.fullmatch(r"\s*(entries|window)\s*=\s*([0-9]+)\s*\.\.\s*([0-9]+)\s*", text)
    if match is None:
        yield differ(text)
        return
    kind, first, last = match[1], *(_number(match[1], match[k], match.start(k)) for k in (2, 3))
    if first > last:
        raise DifferError(f"the range {first}..{last} is empty", match.start(2))
    for number in range(first, last + 1):
        yield differ(f"{kind}={number}")
