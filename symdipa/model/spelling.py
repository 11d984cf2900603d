"""Words in messages: what a misspelt name was meant to be, lists of names, counted things."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache

SHORTEST = 3
"""Names with fewer letters are close only if they differ in case."""

SHORT = 4
"""Names with fewer letters may have one letter more or less, but no other one: ``lop`` is ``loop``, and
``low`` is not ``log``."""

LONG = 6
"""Names of this length may have two slips, shorter ones one: ``init`` and ``exit`` are different words."""

ALIKE = 0.8
MAX_COMPARED = 64
"""Longer names are not compared: it would take too long."""

_DIGITS = re.compile(r"\d+")


class Dictionary:
    """Names that can be looked up by a misspelling.

    Names that differ only in digits (``q5``, ``q6``) are not close: they are usually meant to be different.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._by_letters: dict[str, list[str]] = {}
        for name in dict.fromkeys(names):
            self._by_letters.setdefault(_letters(name), []).append(name)

    def closest(self, name: str) -> str | None:
        """The name that was most likely meant, if any is close; never ``name`` itself."""
        letters, folded = _letters(name), name.casefold()
        near = [n for n in self._by_letters.get(letters, ()) if n != name and n.casefold() == folded]
        if not near:
            near = [n for other, names in self._by_letters.items() if _alike(letters, other) for n in names]
        return max(near, key=lambda other: SequenceMatcher(None, name, other).ratio(), default=None)


def similar(name: str, known: Sequence[str]) -> str | None:
    """The one of a closed list of names that was most likely meant: here a resemblance is enough, since no
    other name can be right."""
    return Dictionary(known).closest(name) or next(
        iter(get_close_matches(name[:MAX_COMPARED], known, 1)), None
    )


def no_such(kind: str, name: str, known: Sequence[str]) -> str:
    """The complaint about a name that nothing has, with the one that was meant or those that there are."""
    meant = similar(name, known)
    hint = f"did you mean {meant}?" if meant else f"there are {', '.join(known) or 'none'}"
    return f"there is no {kind} {name!r}; {hint}"


def enumeration(words: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *rest, last = words
    return f"{', '.join(rest)} and {last}" if rest else last


def counted(count: int, one: str, many: str = "") -> str:
    """``1 step``, ``2 steps``; ``many`` is the plural, if it is not that with an ``s``."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def _letters(name: str) -> str:
    return _DIGITS.sub("", name).casefold()


@lru_cache(maxsize=1 << 14)
def _alike(a: str, b: str) -> bool:
    shorter, longer = sorted((len(a), len(b)))
    if a == b or shorter < SHORTEST or longer > MAX_COMPARED:
        return False
    if shorter < SHORT:
        return longer == shorter + 1 and edit_distance(a, b, 1) == 1
    slips = 2 if shorter >= LONG else 1
    if longer - shorter <= slips and edit_distance(a, b, slips) <= slips:
        return True
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    ratios = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)  # from the cheapest
    return all(ratio() >= ALIKE for ratio in ratios)


def edit_distance(a: str, b: str, limit: int) -> int:
    """How many letters to insert, drop, change or swap with the next; cut short above ``limit``."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, before_that, row = row, before, [i]
        for j, y in enumerate(b, 1):
            best = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and y == a[i - 2]:
                best = min(best, before_that[j - 2] + 1)
            row.append(best)
        before = above
        if min(row) > limit:
            return limit + 1
    return row[-1]
