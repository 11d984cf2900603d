"""The letters of patterns of equal and differing entries, and automata over them."""

from __future__ import annotations

EQUAL, OTHER = "=", "~"
LETTERS = (EQUAL, OTHER)

MOST_ENTRIES = 1_000
"""The largest ``K`` and ``W``, and the most letters of a pattern with its repetitions written out."""

Moves = tuple[tuple[int | None, int | None], ...]
"""For each state where ``=`` and ``~`` lead; ``None``: no such entry is allowed. State 0 is the initial
one."""


class DifferError(ValueError):
    """A text that is no ``differ``; ``at`` is the place in it where that shows."""

    def __init__(self, message: str, at: int = 0) -> None:
        super().__init__(message)
        self.at = at
