"""What somebody expects of a mechanism, as ``D <= 1``, and whether it is so."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from symdipa.analysis import check_with, with_bounds
from symdipa.model.adjacency import TWO_SIDED, Interval, intervals
from symdipa.model.automaton import Automaton
from symdipa.model.limits import Limits, Progress
from symdipa.model.options import CheckOptions
from symdipa.model.parts import computable
from symdipa.model.verdict import Result, Verdict

if TYPE_CHECKING:
    from symdipa.checker import Claim


def _within(inner: Interval, outer: Interval) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


SPELLINGS = "private, not private, D <= 1 or D = 5/4"
"""What an expectation looks like."""


@dataclass(frozen=True)
class Known:
    """What is known of an automaton: whether it is private, and between which numbers ``D`` lies."""

    private: bool | None = None
    best: Fraction | None = None
    needed: Fraction | None = None

    @classmethod
    def of(cls, result: Result) -> Known:
        """What a result tells."""
        private = {Verdict.PRIVATE: True, Verdict.NOT_PRIVATE: False}.get(result.verdict)
        bounds = result.bounds
        if bounds is None or private is None or result.contradictions:
            return cls(None if result.contradictions else private)
        return cls(private, bounds.best, bounds.needed)

    @classmethod
    def proved(cls, automaton: Automaton, claims: Iterable[Claim], stops_seen: bool) -> Known:
        """What the claims of a certificate tell about the inputs that the automaton is for.

        ``stops_seen``: they are about observers who see that a run stops. What these cannot tell apart, no
        other one can; but not the other way round.
        """
        private, best, needed = None, None, None
        asked, own = intervals(automaton.adjacency), automaton.differ.text
        for claim in claims:
            of = claim.inputs
            if claim.kind == "private" and of is not None:
                if of.both and of.differ in ("all", own) and any(_within(one, of.ends) for one in asked):
                    private = True
                    best = claim.bound if best is None or claim.bound is None else min(best, claim.bound)
            elif claim.distinct and automaton.shows_steps and not stops_seen:
                if of is not None and not (of.differ == own and any(_within(of.ends, one) for one in asked)):
                    continue
                if claim.kind == "violation":
                    private = False
                elif claim.kind == "lower" and claim.bound is not None:
                    needed = max(needed or Fraction(0), claim.bound)
        return cls(private, best, needed)


@dataclass(frozen=True)
class Expectation:
    """That an automaton is private, with a ``D`` of at most this and, if ``exactly``, no smaller one; or that
    it is not ``private``."""

    private: bool = True
    at_most: Fraction | None = None
    exactly: bool = False

    def __str__(self) -> str:
        if self.at_most is None:
            return "private" if self.private else "not private"
        return f"D {'=' if self.exactly else '<='} {self.at_most}"

    def judged(self, known: Known) -> tuple[bool | None, str]:
        """Whether it is so (``None``: that is not known), and what is known instead."""
        if known.private is None or known.private != self.private:
            said = {None: "it was not decided whether it is private", True: "it is private"}
            return (None if known.private is None else False), said.get(known.private, "it is not private")
        if self.at_most is None:
            return True, "it is private" if self.private else "it is not private"
        if known.needed is not None and known.needed > self.at_most:
            return False, f"a run proves that D is at least {known.needed}"
        if known.best is None:
            return None, "it is private, but no bound on D was proved"
        if known.best > self.at_most:
            return None, f"the best bound that was proved is {known.best}"
        if not self.exactly:
            return True, f"D is at most {known.best}"
        if known.best < self.at_most:
            return False, f"D is at most {known.best}"
        if known.needed is None or known.needed < self.at_most:
            return None, f"D is at most {known.best}, and it was not proved that it is no less"
        return True, f"D is {known.best}"


def expectation(text: str) -> Expectation:
    """An expectation as it is written (:data:`SPELLINGS`); raises ``ValueError``."""
    plain = " ".join(text.split())
    if plain in ("private", "not private"):
        return Expectation(plain == "private")
    found = re.fullmatch(r"D ?(<=|≤|==?) ?([0-9]{1,50}(?:[./][0-9]{1,50})?)", plain)
    try:
        bound = Fraction(found[2]) if found else None
    except ZeroDivisionError:
        bound = None
    if found is None or bound is None or not computable(bound):
        raise ValueError(f"an expectation is {SPELLINGS}, not {text!r}")
    return Expectation(True, bound, found[1].startswith("="))


def decided(
    automaton: Automaton,
    expected: Expectation,
    *,
    timeout: float | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """An automaton decided as far as an expectation asks for, with bounds on ``D`` if it is about them."""
    limits = Limits.of(timeout, memory)
    options = CheckOptions(timeout=timeout, memory=memory, max_weight=expected.at_most or None)
    result = check_with(automaton, options, progress)
    if expected.at_most is None or result.verdict is Verdict.NOT_PRIVATE:
        return result
    usual = automaton.adjacency == TWO_SIDED
    if usual and expected.judged(Known.of(result))[0] is not None:
        return result
    return with_bounds(
        result if usual else replace(result, bounds=None),
        adjacency=automaton.adjacency,
        timeout=limits.left(),
        memory=memory,
        progress=progress,
    )
