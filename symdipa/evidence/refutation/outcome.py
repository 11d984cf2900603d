"""What a search for a refutation returns."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from symdipa.evidence.probability.linear.events import Asked
from symdipa.model.automaton import Automaton
from symdipa.model.errors import SymdipaError
from symdipa.model.verdict import Witness

MOST_STEPS = 2_000
"""Unrolled runs are not longer than this."""
MARGIN = Fraction(103, 100)
"""How much larger than what is to be refuted ``c(s)`` has to be."""
SATURATED = 0.97
"""A ratio above this part of ``c(s)`` is taken not to gain from a larger distance."""


class NoRefutation(SymdipaError):
    """No pair of inputs could be evaluated at all; the text says why."""


class Growth(NamedTuple):
    """The log-ratio per ``eps`` when the cycles of the witness are taken ``rounds`` times."""

    rounds: int
    log_ratio_per_eps: float
    error: float


@dataclass(frozen=True)
class Refutation:
    """Adjacent inputs ``alpha`` and ``beta`` and an output event that tell them apart.

    ``run`` (positions of transitions) is the witness with its cycles taken ``rounds`` times. ``alpha[j]`` and
    ``beta[j]`` are what step ``j`` reads (``None`` at non-input steps), ``outputs[j]`` the interval in which
    a real output of step ``j`` has to lie (``None``: the run's own symbol; a tuple for several numbers).
    The logarithms of the event's probabilities are off by at most ``error_alpha`` and ``error_beta``. With ``all_runs`` they are those of
    the *outputs*, whatever run shows them, else those of this run alone. Other runs may read more inputs
    than this one; ``further`` are those that both streams go on with (none where no other run is possible).
    ``limit`` is ``c(s)`` of the run: its best log-ratio per ``eps`` for these signs (``None``: as large as one
    likes). ``missing`` says why the ratio does not exceed ``exceeds``.
    """

    automaton: Automaton
    witness: Witness
    eps: Fraction
    exceeds: Fraction
    run: tuple[int, ...]
    rounds: int
    alpha: tuple[Fraction | None, ...]
    beta: tuple[Fraction | None, ...]
    outputs: tuple[Asked, ...]
    log_prob_alpha: float
    log_prob_beta: float
    error_alpha: float
    error_beta: float
    all_runs: bool
    limit: Fraction | None
    method: str
    further: tuple[Fraction, ...] = ()
    growth: tuple[Growth, ...] = ()
    seconds: float = 0.0
    missing: str | None = None

    @property
    def log_ratio(self) -> float:
        return self.log_prob_alpha - self.log_prob_beta

    @property
    def error(self) -> float:
        """How far :attr:`log_ratio` may be off."""
        return self.error_alpha + self.error_beta

    @property
    def holds(self) -> bool:
        """Whether this refutes ``exceeds * eps``-privacy: all runs counted, and the error taken off."""
        return self.all_runs and self.log_ratio - self.error > self.exceeds * self.eps
