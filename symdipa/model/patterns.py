"""The four bad patterns; an automaton without any of them is *well-formed* (theory, section 3)."""

from __future__ import annotations

from enum import Enum


class Pattern(Enum):
    """A bad pattern. ``short`` is the two-letter code of the command line, ``key`` the name in JSON."""

    LEAKING_CYCLE = ("LC", "leaking-cycle", "leaking cycle")
    LEAKING_PAIR = ("LP", "leaking-pair", "leaking pair")
    DISCLOSING_CYCLE = ("DC", "disclosing-cycle", "disclosing cycle")
    PRIVACY_VIOLATING_PATH = ("PV", "privacy-violating-path", "privacy violating path")

    def __init__(self, short: str, key: str, title: str) -> None:
        self.short = short
        self.key = key
        self.title = title

    @classmethod
    def from_short(cls, short: str) -> Pattern:
        """The pattern with this two-letter code; ``ValueError`` names the codes there are."""
        for pattern in cls:
            if pattern.short == short.upper():
                return pattern
        raise ValueError(f"no pattern {short!r}; there are {', '.join(p.short for p in cls)}")
