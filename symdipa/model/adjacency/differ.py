"""Which entries of adjacent inputs may differ: a regular set of patterns, as a finite automaton.

A pattern has a letter for every entry that is read: ``=`` where it is equal in both inputs, ``~`` where it
may differ (so it may be equal as well). ``all``: every entry; ``entries=K``: at most ``K`` of them;
``window=W``: those within ``W`` consecutive ones; ``pattern=RE``: as a regular expression over ``=`` and
``~`` says, in which ``.`` is ``~``. Streams have any length: a pattern is allowed if it can be continued to
one that matches (Def. adjacency automaton).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from symdipa.model.adjacency.letters import LETTERS, MOST_ENTRIES, DifferError, Moves


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
        from symdipa.model.adjacency.expressions import automaton_of

        return Differ(f"pattern={written}", automaton_of(rest, start))
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
