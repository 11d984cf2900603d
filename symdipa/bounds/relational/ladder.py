"""Relational alignment as a whole: several ways to distinguish runs, the best bound, checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from symdipa.bounds.relational.machine import LetterMachine, machine
from symdipa.bounds.relational.program import Program, program_of
from symdipa.bounds.relational.proof import Json, certificate
from symdipa.bounds.relational.search import Strategy, search
from symdipa.bounds.relational.shifts import ShiftMenu
from symdipa.checker.model import is_plain, model_of
from symdipa.checker.relational import check_relational
from symdipa.checker.rules import CertificateRefused, shown
from symdipa.checker.wider.model import model_of as wider_model_of
from symdipa.model.adjacency import TWO_SIDED, Adjacency, Interval, intervals
from symdipa.model.automaton import Automaton
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits, stopwatch

LADDER: tuple[tuple[bool, str], ...] = (
    (False, "none"),
    (True, "none"),
    (False, "letters"),
    (False, "whole"),
    (True, "letters"),
)
"""Whether letters have remarks, and what classes of sequences remember, in the order of trial.

There is no end of whole sequences where an automaton has a loop, so there that step is left out.
"""

SMALL, MAX_NODES = 5_000, 20_000
"""The most pairs of the searches that come first, and of those that follow."""

SEARCHING = 0.7
"""The part of the time that the search may take; the rest is left for the checker."""

PATIENCE, SHORT = 4, 1.0
"""How many times as long as a bound took a better one is looked for, and for how many seconds at least, where
it is not known how good one may be and the time is limited."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One search: which shifts it tried, how it told sequences apart, and why it found nothing (if so).

    ``limited``: the reason is a limit of time or size, so that more of it might help.
    """

    few: bool
    remarks: bool
    memory: str
    max_nodes: int
    reason: str = ""
    limited: bool = False


@dataclass(frozen=True, eq=False)
class Relational:
    """A proved bound on ``D``, or ``None``; it includes the sensitivity.

    ``certificates`` has one for each range of differences, accepted by the checker (none without a bound).
    """

    bound: Fraction | None
    certificates: tuple[Json, ...]
    trials: tuple[Trial, ...]

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why searches found nothing: the limits that were reached at last, and what stands in the way."""
        last = {(trial.remarks, trial.memory): trial for trial in self.trials if not trial.few}
        limits = [trial.reason for trial in last.values() if trial.limited]
        obstacles = [trial.reason for trial in last.values() if trial.reason and not trial.limited]
        return tuple(dict.fromkeys(limits + obstacles[:1]))


def relational(
    automaton: Automaton,
    *,
    adjacency: Adjacency = TWO_SIDED,
    sensitivity: Fraction | int = 1,
    enough: Fraction = Fraction(0),
    max_nodes: int = MAX_NODES,
    limits: Limits = UNLIMITED,
) -> Relational:
    """The best bound that pairs of runs prove within the limits, with ``max_nodes`` for each step.

    A bound of ``enough`` need not be improved.
    Every bound is checked. Raises :class:`symdipa.checker.CertificateRefused` if the checker refuses one (a
    mistake in here), and :class:`symdipa.model.errors.LimitReached` when there is no time to check, or the
    checker itself would have too much to do.
    """
    scale = Fraction(sensitivity)
    ladder = _Ladder(program_of(automaton), limits.share(SEARCHING), max_nodes)
    found = [ladder.best(interval, enough) for interval in intervals(adjacency, scale)]
    proved = [one for one in found if one is not None]
    if len(proved) < len(found):
        return Relational(None, (), tuple(ladder.trials))
    model = model_of(automaton) if is_plain(automaton) else wider_model_of(automaton)
    certificates = tuple(certificate(one, scale) for one in proved)

    def checking(nodes: int) -> None:
        limits.check(f"relational alignment, {nodes} pairs checked")

    try:
        claims = [check_relational(model, written, "the certificate", checking) for written in certificates]
    except CertificateRefused as refused:
        if refused.rule != "limit":
            raise
        reason = f"what was found is too large to be checked: {_told(refused.message, automaton)}"
        raise LimitReached(Limit.METHOD, reason) from refused
    bound = max((claim.bound for claim in claims if claim.bound is not None), default=None)
    return Relational(bound, certificates, tuple(ladder.trials))


def _told(message: str, automaton: Automaton) -> str:
    """What the checker says about a state, in words of the program if there is one."""
    for state in automaton.states:
        message = message.replace(f"state {shown(state.name)} ", f"{automaton.where(state.name)} ")
    return message


class _Ladder:
    def __init__(self, program: Program, limits: Limits, max_nodes: int) -> None:
        self.program, self.limits, self.max_nodes = program, limits, max_nodes
        self.trials: list[Trial] = []
        self.machines: dict[bool, LetterMachine | LimitReached] = {}

    def best(self, interval: Interval, enough: Fraction) -> Strategy | None:
        """The best strategy of all steps, or one that is good ``enough``: first of those that are small, then
        of the others."""
        best: Strategy | None = None
        small = min(SMALL, self.max_nodes)
        memories = [step for step in LADDER if step[1] != "whole" or not self.program.has_loop]
        steps = [Trial(few, *step, small) for few in (True, False) for step in memories]
        taken, limits = stopwatch(), self.limits
        for step in steps:  # grows while we walk
            last = step is steps[-1] and step.max_nodes == self.max_nodes
            found, trial = self.attempt(step, interval, limits if last else limits.share(1 / 2))
            self.trials.append(trial)
            if found is not None and (best is None or found.bound < best.bound):
                best = found
                if not enough and self.limits.deadline is not None:
                    limits = self.limits.within(max(SHORT, PATIENCE * taken()))
                if best.bound <= enough:
                    break
            if trial.limited and step.max_nodes < self.max_nodes:
                steps.append(replace(step, max_nodes=self.max_nodes))
        return best

    def _machine(self, remarks: bool) -> LetterMachine:
        """The machine, which is built once; one that is too large is so every time."""
        if remarks not in self.machines:
            try:
                self.machines[remarks] = machine(self.program, remarks)
            except LimitReached as limit:
                self.machines[remarks] = limit
        found = self.machines[remarks]
        if isinstance(found, LimitReached):
            raise found
        return found

    def attempt(self, step: Trial, interval: Interval, limits: Limits) -> tuple[Strategy | None, Trial]:
        try:
            menu = ShiftMenu(self._machine(step.remarks), interval, step.few)
            found = search(menu, step.memory, step.max_nodes, limits)
        except LimitReached as reached:
            return None, replace(step, reason=reached.reason, limited=True)
        if isinstance(found, str):
            return None, replace(step, reason=found)
        return found, step
