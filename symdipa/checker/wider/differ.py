"""Which entries may differ, read from the text that says so, as an automaton.

A pattern has a letter for every entry: ``=`` where it is equal, ``~`` where it may differ (so it may be
equal, too). A pattern is allowed if it can be continued to one that the text describes. States are numbered
in the order in which words lead to them, short ones first and ``=`` before ``~``; no two of them allow the
same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, NoReturn

from symdipa.checker.rules import refuse, shown

Way = int | None
"""Where a letter leads; ``None``: nowhere, such an entry is not allowed."""
Moves = tuple[tuple[Way, Way], ...]
"""For each state where ``=`` and where ``~`` leads; state 0 is the initial one."""

EVERYWHERE: Moves = ((0, 0),)
"""Every entry may differ."""

MAX_NUMBER = 1_000
MAX_DEPTH = 150
MAX_PARTS = 20_000
"""The most letters and forks of a pattern with its repetitions written out,"""
MAX_STATES = 5_000
"""and the most states of its automaton."""

REPETITION = re.compile(r"[*+?]|\{([0-9]{1,9})(?:(,)([0-9]{1,9})?)?\}")


@lru_cache(maxsize=64)
def moves_of(text: str) -> Moves:
    """The automaton of a text such as ``entries=1``; refused if that means nothing."""
    if text == "all":
        return EVERYWHERE
    kind, sign, rest = text.partition("=")
    if kind == "pattern" and sign:
        return _least(_Machine(_read("".join(rest.split()))).subsets())
    if kind not in ("entries", "window") or not re.fullmatch("[0-9]{1,9}", rest):
        refuse("model-differ", f"{shown(text)} does not say which entries differ")
    number = int(rest)
    if not 1 <= number <= MAX_NUMBER:
        refuse("model-differ", f"{shown(text)} has a number that is not from 1 to {MAX_NUMBER}")
    if kind == "entries":
        return (*((k, k + 1) for k in range(number)), (number, None))
    return ((0, 1), *((k + 1, k + 1) for k in range(1, number)), (number, None))


# Reading an expression


class Repeated(NamedTuple):
    """A part so many times, any number of times from ``least`` on if ``most`` is ``None``."""

    part: Part
    least: int
    most: int | None
    height: int


class Choice(NamedTuple):
    ways: list[list[Part]]
    height: int


Part = str | Repeated | Choice
"""A letter, or more; ``height`` is how deep it is nested."""


def _read(text: str) -> Choice:
    """An expression without spaces."""
    found, end = _choice(text, 0, MAX_DEPTH)
    if end < len(text) or not text:
        _misread(text)
    return found


def _misread(text: str) -> NoReturn:
    refuse("model-differ", f"the pattern {shown(text)} is not written as patterns are")


def _higher(part: Part) -> int:
    """The height of what this is a part of."""
    height = 1 if isinstance(part, str) else part.height + 1
    if height > MAX_DEPTH:
        _refuse_depth()
    return height


def _refuse_depth() -> NoReturn:
    refuse("limit", f"a pattern is nested more than {MAX_DEPTH} deep")


def _choice(text: str, at: int, left: int) -> tuple[Choice, int]:
    """A choice and where it ends; ``left`` is how many parentheses may still be opened in it."""
    ways: list[list[Part]] = [[]]
    while at < len(text) and text[at] != ")":
        if text[at] == "|":
            ways.append([])
            at += 1
        else:
            part, at = _part(text, at, left)
            ways[-1].append(part)
    return Choice(ways, max([0, *(_higher(part) for way in ways for part in way)])), at


def _part(text: str, at: int, left: int) -> tuple[Part, int]:
    """A letter or a choice in parentheses, with the repetitions that follow."""
    part: Part
    if text[at] == "(":
        if not left:
            _refuse_depth()
        part, at = _choice(text, at + 1, left - 1)
        if at == len(text):
            _misread(text)
    elif text[at] in "=~.":
        part = "=" if text[at] == "=" else "~"
    else:
        _misread(text)
    at += 1
    while (match := REPETITION.match(text, at)) is not None:
        part, at = Repeated(part, *_counts(text, match), _higher(part)), match.end()
    return part, at


def _counts(text: str, match: re.Match[str]) -> tuple[int, int | None]:
    if match[1] is None:
        return int(match[0] == "+"), 1 if match[0] == "?" else None
    least = int(match[1])
    most = int(match[3]) if match[3] else None if match[2] else least
    if max(least, most or 0) > MAX_NUMBER or (most is not None and most < least):
        _misread(text)
    return least, most


# From the expression to an automaton


class _Machine:
    """A machine that guesses: for each of its nodes the letter that leads on (none: a fork) and where to.

    Every node leads to the end, which is node 0: so whatever it reads can be continued.
    """

    def __init__(self, whole: Part) -> None:
        self.letter: list[str | None] = [None]
        self.after: list[list[int]] = [[]]
        self.start = self._built(whole, 0)

    def _node(self, letter: str | None, after: Sequence[int]) -> int:
        if len(self.letter) >= MAX_PARTS:
            refuse("limit", f"a pattern has more than {MAX_PARTS} parts with its repetitions written out")
        self.letter.append(letter)
        self.after.append(list(after))
        return len(self.letter) - 1

    def _built(self, part: Part, then: int) -> int:
        """The node where a part begins that is followed by the node ``then``."""
        if isinstance(part, str):
            return self._node(part, [then])
        if isinstance(part, Repeated):
            return self._repeated(part, then)
        begins = []
        for way in part.ways:
            node = then
            for one in reversed(way):
                node = self._built(one, node)
            begins.append(node)
        return self._node(None, begins)

    def _repeated(self, repeated: Repeated, then: int) -> int:
        part, least, most, _ = repeated
        if most is None:
            fork = self._node(None, [then])
            node = self._built(part, fork)
            self.after[fork].append(node)
            then = node if least else fork
            least, most = max(least - 1, 0), max(least - 1, 0)
        end = then
        for _ in range(most - least):
            then = self._node(None, [end, self._built(part, then)])
        for _ in range(least):
            then = self._built(part, then)
        return then

    def _ahead(self, nodes: Sequence[int]) -> frozenset[int]:
        """The nodes with letters that may come next, if these nodes may."""
        seen = set(nodes)
        work = list(seen)
        while work:
            node = work.pop()
            if self.letter[node] is None:
                fresh = [n for n in self.after[node] if n not in seen]
                seen.update(fresh)
                work += fresh
        return frozenset(n for n in seen if self.letter[n] is not None)

    def subsets(self) -> Moves:
        """The automaton whose states say what may come next."""
        start = self._ahead([self.start])
        number, found = {start: 0}, list[tuple[Way, Way]]()
        for ahead in (states := [start]):  # grows while it is walked
            ways: list[Way] = []
            for letters in (("=", "~"), ("~",)):
                taken = [n for n in ahead if self.letter[n] in letters]
                following = self._ahead([m for n in taken for m in self.after[n]])
                if taken and following not in number:
                    number[following] = len(states)
                    states.append(following)
                ways.append(number[following] if taken else None)
            if len(states) > MAX_STATES:
                refuse("limit", f"the automaton of a pattern has more than {MAX_STATES} states")
            found.append((ways[0], ways[1]))
        return tuple(found)


def _least(moves: Moves) -> Moves:
    """The same with one state in place of all that allow the same, numbered as words lead to them."""
    kind = [0] * len(moves)
    while True:  # states are of one kind if they allow the same words of so many letters
        looks = [(kind[s], *(None if w is None else kind[w] for w in moves[s])) for s in range(len(moves))]
        names = {look: k for k, look in enumerate(dict.fromkeys(looks))}
        if len(names) == len(set(kind)):
            break
        kind = [names[look] for look in looks]
    number = {kind[0]: 0}
    found: list[tuple[Way, Way]] = []
    for state in (states := [0]):  # grows while it is walked
        ways: list[Way] = []
        for way in moves[state]:
            if way is not None and kind[way] not in number:
                number[kind[way]] = len(states)
                states.append(way)
            ways.append(None if way is None else number[kind[way]])
        found.append((ways[0], ways[1]))
    return tuple(found)
