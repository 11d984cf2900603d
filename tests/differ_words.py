"""What the text of a ``differ`` means, straight from its definition.

A word has a letter for every entry: ``=`` or ``~``. A ``~`` of an expression covers both. A word is allowed
if it can be continued to one that matches. Expressions are read by a small reader of their own and taken
apart by Brzozowski's derivatives: the derivative of an expression by a letter matches what is left of its
words that begin with this letter. Of symdipa nothing is imported.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import product
from typing import Any

LETTERS = "=~"

Expression = tuple[Any, ...]
"""``("letter", "=" or "~")``, ``("row", first, rest)``, ``("or", frozenset)``, ``("star", part)``.

A choice of nothing matches no word, and is no part of another expression. So every other one matches some.
"""

NEVER: Expression = ("or", frozenset())
EMPTY: Expression = ("star", NEVER)
"""Matches the empty word alone."""


def row(first: Expression, rest: Expression) -> Expression:
    """One after the other."""
    if NEVER in (first, rest):
        return NEVER
    if EMPTY in (first, rest):
        return rest if first == EMPTY else first
    if first[0] == "row":
        return ("row", first[1], row(first[2], rest))
    return ("row", first, rest)


def either(*ways: Expression) -> Expression:
    """One of these."""
    found = frozenset(one for way in ways for one in (way[1] if way[0] == "or" else [way]))
    return next(iter(found)) if len(found) == 1 else ("or", found)


def star(part: Expression) -> Expression:
    """Any number of times."""
    return part if part[0] == "star" else ("star", part)


def times(part: Expression, least: int, most: int | None) -> Expression:
    """So many times; ``most`` is ``None``: or more often."""
    found = star(part) if most is None else EMPTY
    for _ in range((most or least) - least):
        found = either(EMPTY, row(part, found))
    for _ in range(least):
        found = row(part, found)
    return found


@cache
def is_over(expression: Expression) -> bool:
    """Whether the empty word matches."""
    kind = expression[0]
    if kind == "row":
        return is_over(expression[1]) and is_over(expression[2])
    return kind == "star" or (kind == "or" and any(map(is_over, expression[1])))


@cache
def after(expression: Expression, letter: str) -> Expression:
    """The derivative."""
    kind, *parts = expression
    if kind == "letter":
        return EMPTY if parts[0] in ("~", letter) else NEVER
    if kind == "or":
        return either(*(after(way, letter) for way in parts[0]))
    if kind == "star":
        return row(after(parts[0], letter), expression)
    first, rest = parts
    taken = row(after(first, letter), rest)
    return either(taken, after(rest, letter)) if is_over(first) else taken


# Texts

_MARK = re.compile(r"\s*(\{\s*\d+\s*(?:,\s*\d*\s*)?\}|.)")


def meaning(text: str) -> Expression:
    """The expression of a text such as ``entries=2`` or ``pattern==*~``."""
    kind, _, rest = text.partition("=")
    equal, other = ("letter", "="), ("letter", "~")
    if kind == "all":
        return star(other)
    if kind == "pattern":
        marks = _MARK.findall(rest)
        found = _ways(marks)
        if marks:
            raise ValueError(f"{marks} are left over")
        return found
    number = int(rest)
    if kind == "entries":
        return row(star(equal), times(row(other, star(equal)), 0, number))
    if kind == "window":
        return row(star(equal), row(times(other, 0, number), star(equal)))
    raise ValueError(text)


def _ways(marks: list[str]) -> Expression:
    """Reads a choice, and takes its marks away."""
    found = [_row(marks)]
    while marks and marks[0] == "|":
        marks.pop(0)
        found.append(_row(marks))
    return either(*found)


def _row(marks: list[str]) -> Expression:
    found = EMPTY
    while marks and marks[0] not in "|)":
        part = _atom(marks)
        while marks and marks[0][0] in "*+?{":
            part = times(part, *_counts(marks.pop(0)))
        found = row(found, part)
    return found


def _atom(marks: list[str]) -> Expression:
    mark = marks.pop(0)
    if mark != "(":
        return ("letter", {"=": "=", "~": "~", ".": "~"}[mark])
    found = _ways(marks)
    if marks.pop(0) != ")":
        raise ValueError("a parenthesis is not closed")
    return found


def _counts(mark: str) -> tuple[int, int | None]:
    if mark in "*+?":
        return int(mark == "+"), 1 if mark == "?" else None
    least, comma, most = mark.strip("{} ").partition(",")
    return int(least), int(most) if most.strip() else None if comma else int(least)


# Words


def allows(text: str, word: str) -> bool:
    """Whether entries may differ so."""
    left = meaning(text)
    for letter in word:
        left = after(left, letter)
    return left != NEVER


def words(length: int) -> Iterator[str]:
    """All words of at most this length."""
    for n in range(length + 1):
        yield from map("".join, product(LETTERS, repeat=n))


def moves(text: str) -> list[tuple[int | None, int | None]]:
    """Where each letter leads from each state; states are derivatives, and may be alike."""
    return _moves(meaning(text))


@lru_cache(maxsize=1024)
def _moves(start: Expression) -> list[tuple[int | None, int | None]]:
    number, todo = {start: 0}, [start]
    found = []
    for expression in todo:  # grows while it is walked
        ways: list[int | None] = []
        for letter in LETTERS:
            left = after(expression, letter)
            if left != NEVER and left not in number:
                number[left] = len(todo)
                todo.append(left)
            ways.append(None if left == NEVER else number[left])
        found.append((ways[0], ways[1]))
    return found


def random_text(rng: random.Random, depth: int = 3) -> str:
    """A random expression."""
    kind = rng.random()
    if not depth or kind < 0.3:
        return rng.choice("==~~.")
    if kind < 0.6:
        return random_text(rng, depth - 1) + rng.choice(("", " ")) + random_text(rng, depth - 1)
    if kind < 0.75:
        return f"({random_text(rng, depth - 1)}|{random_text(rng, depth - 1)})"
    part = random_text(rng, depth - 1)
    part = f"({part})" if len(part) > 1 else part
    least = rng.randrange(3)
    counted = (f"{{{least}}}", f"{{{least},}}", f"{{{least},{least + rng.randrange(3)}}}")
    return part + rng.choice(("*", "*", "+", "?", *counted))
