"""Relational alignment as a whole: several ways to tell runs apart, the best bound, checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from time import monotonic

from symdipa.adjacency import Adjacency, Interval, intervals
from symdipa.checker.model import model_of
from symdipa.checker.relational import check_relational
from symdipa.control import Control
from symdipa.errors import LimitReached
from symdipa.relational.machine import Machine, machine
from symdipa.relational.proof import Json, certificate
from symdipa.relational.search import Strategy, search

LADDER: tuple[tuple[bool, str], ...] = (
    (False, "none"),
    (False, "letters"),
    (True, "none"),
    (False, "whole"),
    (True, "letters"),
)
"""Whether letters have remarks, and what classes of sequences remember, in the order in which they are tried."""

RELATIONAL_SECONDS = 5.0
"""So long it is looked for unless the caller says otherwise."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One step of the ladder for one range: the pairs looked at and the bound, or why there is none."""

    remarks: bool
    memory: str
    pairs: int
    bound: Fraction | None
    reason: str
    seconds: float


@dataclass(frozen=True, eq=False)
class Relational:
    """A proved bound on ``D``, or ``None``; it includes the sensitivity.

    ``certificates`` has one for each range of differences, all accepted by the checker; empty without a bound.
    """

    bound: Fraction | None
    certificates: tuple[Json, ...]
    trials: tuple[Trial, ...]


def relational(
    control: Control,
    *,
    adjacency: Adjacency = "two-sided",
    sensitivity: Fraction | int = 1,
    seconds: float | None = RELATIONAL_SECONDS,
    tick: Callable[[int], None] | None = None,
) -> Relational:
    """The best bound that pairs of runs prove within ``seconds``.

    Every bound is checked by :mod:`symdipa.checker` before it is returned; its refusal is a mistake in here
    and raises :class:`symdipa.checker.CertificateRefused`. ``tick`` may raise to end the work.
    """
    scale = Fraction(sensitivity)
    work = _Work(control, None if seconds is None else monotonic() + seconds, tick)
    found = [work.best(interval) for interval in intervals(adjacency, scale)]
    proved = [one for one in found if one is not None]
    if len(proved) < len(found):
        return Relational(None, (), tuple(work.trials))
    model = model_of(control.automaton)
    certificates = tuple(certificate(one, scale) for one in proved)
    claims = [check_relational(model, written, "the certificate") for written in certificates]
    bound = max((claim.bound for claim in claims if claim.bound is not None), default=None)
    return Relational(bound, certificates, tuple(work.trials))


class _Work:
    def __init__(
        self, control: Control, deadline: float | None, tick: Callable[[int], None] | None
    ) -> None:
        self.control, self.deadline, self.tick = control, deadline, tick
        self.trials: list[Trial] = []
        self.machines: dict[bool, Machine] = {}

    def best(self, interval: Interval) -> Strategy | None:
        best: Strategy | None = None
        for remarks, memory in LADDER:
            found = self.attempt(remarks, memory, interval)
            if found is not None and (best is None or found.bound < best.bound):
                best = found
                if not best.bound:
                    break
        return best

    def attempt(self, remarks: bool, memory: str, interval: Interval) -> Strategy | None:
        began, found, reason = monotonic(), None, ""
        try:
            if remarks not in self.machines:
                self.machines[remarks] = machine(self.control, remarks)
            found = search(self.machines[remarks], interval, memory, self.deadline, tick=self.tick)
            reason = "" if found else "the second copy can always be led astray"
        except LimitReached as limit:
            reason = str(limit)
        pairs, bound = (found.searched, found.bound) if found else (0, None)
        self.trials.append(Trial(remarks, memory, pairs, bound, reason, monotonic() - began))
        return found
