"""Relational alignment as a whole: several ways to distinguish runs, the best bound, checked."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from symdipa.bounds.relational.machine import LetterMachine, machine
from symdipa.bounds.relational.proof import Json, certificate
from symdipa.bounds.relational.search import Strategy, search
from symdipa.checker.model import model_of
from symdipa.checker.relational import check_relational
from symdipa.model.adjacency import TWO_SIDED, Adjacency, Interval, intervals
from symdipa.model.automaton import Automaton
from symdipa.model.errors import LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.control import Control, control_graph

LADDER: tuple[tuple[bool, str], ...] = (
    (False, "none"),
    (False, "letters"),
    (True, "none"),
    (False, "whole"),
    (True, "letters"),
)
"""Whether letters have remarks, and what classes of sequences remember, in the order of trial."""

RELATIONAL_SECONDS = 5.0
"""How long a search for a bound may take that nobody limited otherwise."""

SMALL, MAX_NODES = 4_000, 20_000
"""The most pairs of the searches that come first, and of those that follow."""

SEARCHING = 0.7
"""The part of the time that the search may take; the rest is left for the checker."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One step of the ladder for one range, and the limit that was reached, if any."""

    remarks: bool
    memory: str
    limit: str


@dataclass(frozen=True, eq=False)
class Relational:
    """A proved bound on ``D``, or ``None``; it includes the sensitivity.

    ``certificates`` has one for each range of differences, accepted by the checker (none without a bound).
    """

    bound: Fraction | None
    certificates: tuple[Json, ...]
    trials: tuple[Trial, ...]

    @property
    def limits(self) -> tuple[str, ...]:
        """The limits that were reached at last, each once."""
        last = {(trial.remarks, trial.memory): trial.limit for trial in self.trials}
        return tuple(dict.fromkeys(limit for limit in last.values() if limit))


def relational(
    automaton: Automaton,
    *,
    adjacency: Adjacency = TWO_SIDED,
    sensitivity: Fraction | int = 1,
    max_nodes: int = MAX_NODES,
    limits: Limits = UNLIMITED,
) -> Relational:
    """The best bound that pairs of runs prove within the limits, with ``max_nodes`` for each step.

    Every bound is checked. Raises :class:`symdipa.checker.CertificateRefused` if the checker refuses one (a
    mistake in here), and :class:`symdipa.model.errors.OutOfTime` when there is no time to check.
    """
    scale = Fraction(sensitivity)
    ladder = _Ladder(control_graph(automaton), limits.share(SEARCHING), max_nodes)
    found = [ladder.best(interval) for interval in intervals(adjacency, scale)]
    proved = [one for one in found if one is not None]
    if len(proved) < len(found):
        return Relational(None, (), tuple(ladder.trials))
    model = model_of(automaton)
    certificates = tuple(certificate(one, scale) for one in proved)

    def checking(nodes: int) -> None:
        limits.check(f"relational alignment, {nodes} pairs checked")

    claims = [check_relational(model, written, "the certificate", checking) for written in certificates]
    bound = max((claim.bound for claim in claims if claim.bound is not None), default=None)
    return Relational(bound, certificates, tuple(ladder.trials))


class _Ladder:
    def __init__(self, control: Control, limits: Limits, max_nodes: int) -> None:
        self.control, self.limits, self.max_nodes = control, limits, max_nodes
        self.trials: list[Trial] = []
        self.machines: dict[bool, LetterMachine] = {}

    def best(self, interval: Interval) -> Strategy | None:
        """The best strategy of all steps: first of those that are small, then of the others."""
        best: Strategy | None = None
        steps = [(*step, min(SMALL, self.max_nodes)) for step in LADDER]
        for remarks, memory, nodes in steps:  # grows while we walk
            last = (remarks, memory, nodes) == steps[-1] and nodes == self.max_nodes
            limits = self.limits if last else self.limits.share(1 / 2)
            found = self.attempt(remarks, memory, interval, nodes, limits)
            if found is not None and (best is None or found.bound < best.bound):
                best = found
                if not best.bound:
                    break
            if found is None and self.trials[-1].limit and nodes < self.max_nodes:
                steps.append((remarks, memory, self.max_nodes))
        return best

    def attempt(
        self, remarks: bool, memory: str, interval: Interval, nodes: int, limits: Limits
    ) -> Strategy | None:
        found, limit = None, ""
        try:
            if remarks not in self.machines:
                self.machines[remarks] = machine(self.control, remarks)
            found = search(self.machines[remarks], interval, memory, nodes, limits)
        except LimitReached as reached:
            limit = reached.reason
        self.trials.append(Trial(remarks, memory, limit))
        return found
