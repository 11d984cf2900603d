"""Patterns of equal and differing entries, written as regular expressions, as their least automata.

Letters and their places in the expression are states (Glushkov); sets of these count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from symdipa.model.adjacency.letters import EQUAL, MOST_ENTRIES, OTHER, DifferError, Moves

DEEPEST = 50
"""How deep parentheses are nested at most, and how often one part is marked as repeated."""

MOST_PARTS = 20_000
"""The most parts of a pattern, with its repetitions written out; some may have no letters."""

MOST_STATES = 5_000
"""The most states of an adjacency automaton."""


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


def automaton_of(text: str, at: int) -> Moves:
    """The least automaton of an expression, which stands at this place of the text that it is a part of.

    Raises :class:`~symdipa.model.adjacency.letters.DifferError`.
    """
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
