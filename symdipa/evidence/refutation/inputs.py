"""Two inputs and an output event for a run with signs, and the probabilities of the event on both inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from math import inf

from symdipa.evidence.probability import (
    Budget,
    LogProbability,
    ProbabilityRefused,
    TotalLogProbability,
)
from symdipa.evidence.probability.linear.events import Asked, Item, alone
from symdipa.evidence.probability.poset import poset_of
from symdipa.evidence.probability.single import log_probability_of
from symdipa.evidence.probability.total import total_of
from symdipa.evidence.refutation.shape import best_flow
from symdipa.model.errors import LimitReached, OutOfTime
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.control import Control
from symdipa.runs.graphs import classes
from symdipa.runs.witness import dependency_graph

GRID = 64
"""Inputs are multiples of one over this."""
HALF_WIDTH = Fraction(1, 4)
"""Half the width of the interval around 0 in which a shown sample has to lie, in units of its noise scale."""
SWEPT_A_SECOND, PAIRED_A_SECOND = 2_000_000, 25_000_000
"""Numbers in tables of one grid, and in two-dimensional tables of all grids, that take about a second."""


@dataclass(frozen=True)
class InputPair:
    """Two inputs and an output event for a run, in the form that :func:`log_probability` takes."""

    run: tuple[int, ...]
    alpha: tuple[Fraction | None, ...]
    beta: tuple[Fraction | None, ...]
    outputs: tuple[Asked, ...]

    @property
    def differences(self) -> tuple[Fraction | None, ...]:
        """By how much the two inputs differ at each step."""
        both = zip(self.alpha, self.beta, strict=True)
        return tuple(None if a is None or b is None else a - b for a, b in both)

    @property
    def further(self) -> tuple[Fraction, ...]:
        """Inputs behind those of the run, so that no other run with the same outputs ends for want of one."""
        return (Fraction(0),) * self.alpha.count(None)

    def observed(self, control: Control) -> list[Item]:
        """The event as an observer states it: symbols, and intervals for real outputs."""
        seen: list[Item] = []
        for t, asked in zip(self.run, self.outputs, strict=True):
            output = control.sampling[t].output
            seen.append((alone(asked) or (-inf, inf)) if output.symbol is None else output.symbol)
        return seen


def input_pair(
    control: Control,
    run: Sequence[int],
    signs: Sequence[int],
    distance: Fraction,
    eps: Fraction,
    offsets: Sequence[Fraction] | None = None,
) -> InputPair:
    """Inputs that move the means of the run's samples by ``distance``, and by one more, against the signs.

    A difference ``s_j`` of the shifts is paid for by samples that lie on the other side, so ``alpha`` has the
    mean of step ``j`` at ``-distance * s_j`` (plus ``offsets[j]``) and ``beta`` one unit farther. Inputs are
    multiples of 1/64, so that floats hold them, and their differences, exactly. A shown sample has to lie
    near 0, a shown second sample beyond its own mean under ``alpha``.
    """
    alpha: list[Fraction | None] = []
    beta: list[Fraction | None] = []
    outputs: list[Asked] = []
    for j, t in enumerate(run):
        sampling, window = control.sampling[t], None
        if sampling.reads_input:
            mean = -distance * signs[j] + (offsets[j] if offsets else 0)
            low = _rounded(mean - sampling.mu)
            alpha.append(low)
            beta.append(low - signs[j])
            if sampling.shows_second:
                edge = float(low + sampling.mu_prime)
                window = (edge, inf) if signs[j] > 0 else (-inf, edge)
        else:
            alpha.append(None)
            beta.append(None)
        if sampling.shows_sample and sampling.d:
            half = float(max(_rounded(HALF_WIDTH / (sampling.d * eps)), Fraction(1, GRID)))
            window = (-half, half)
        elif sampling.output.is_real and window is None:
            window = (-inf, inf)
        outputs.append(window)
    return InputPair(tuple(run), tuple(alpha), tuple(beta), tuple(outputs))


def largest_scale(control: Control, run: Sequence[int], eps: Fraction) -> Fraction:
    """The largest noise scale of the samples of a run (1/eps if none has any)."""
    return 1 / (min((d for t in run if (d := control.sampling[t].d)), default=Fraction(1)) * eps)


def _rounded(x: Fraction) -> Fraction:
    return Fraction(round(x * GRID), GRID)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How probabilities are computed; ``distinct``: no other run shows the outputs of a run."""

    control: Control
    eps: Fraction
    distinct: bool
    tolerance: float
    budget: Budget
    limits: Limits
    grid: int = GRID

    def unit(self, run: Sequence[int]) -> Fraction:
        """The largest noise scale of the samples of a run."""
        return largest_scale(self.control, run, self.eps)

    def of(self, pair: InputPair) -> tuple[LogProbability, LogProbability, bool]:
        """The probabilities of the event on both inputs, and whether all runs are in them."""
        if not self.distinct:
            try:
                first, second = (self._total(pair, inputs) for inputs in (pair.alpha, pair.beta))
                if first.complete and second.complete:
                    return first, second, True
            except OutOfTime:
                raise
            except (LimitReached, ProbabilityRefused):
                pass
        found = [self._single(pair, inputs) for inputs in (pair.alpha, pair.beta)]
        return found[0], found[1], self.distinct

    def _affordable(self) -> Budget:
        """What the time left allows, at rather pessimistic speeds."""
        self.limits.check("the probabilities of a pair of inputs")
        left = self.limits.left()
        if left is None:
            return self.budget
        return replace(
            self.budget,
            sweep=min(self.budget.sweep, int(left * SWEPT_A_SECOND)),
            pairs=min(self.budget.pairs, int(left * PAIRED_A_SECOND)),
        )

    def _single(self, pair: InputPair, inputs: tuple[Fraction | None, ...]) -> LogProbability:
        windows = [alone(asked) for asked in pair.outputs]
        poset = poset_of(self.control, pair.run, inputs, windows, self.eps)
        return log_probability_of(poset, self.tolerance, self._affordable(), self.limits)

    def _total(self, pair: InputPair, inputs: tuple[Fraction | None, ...]) -> TotalLogProbability:
        return total_of(
            self.control,
            [*(given for given in inputs if given is not None), *pair.further],
            pair.observed(self.control),
            self.eps,
            self.tolerance,
            self._affordable(),
            limits=self.limits,
        )


def roles(
    control: Control, run: Sequence[int], signs: Sequence[int], limits: Limits = UNLIMITED
) -> list[Fraction] | None:
    """How far apart samples should lie so that other runs with the same outputs are unlikely, in units.

    Samples between which the largest flow passes must stay side by side, or their order would cost nothing.
    The others are put apart in the order that the run forces: by the longest chain of such groups below.
    ``None`` where the order of the groups is not acyclic.
    """
    over = dependency_graph(control, run).over
    flow = best_flow(control, run, signs, limits).flow
    group = classes(len(run) + 1, [(i % (len(run) + 1), j % (len(run) + 1)) for i, j in flow])
    below: dict[int, set[int]] = {g: set() for g in group}
    for i, targets in enumerate(over):
        for j in targets:
            if group[i] != group[j]:
                below[group[j]].add(group[i])
    rank: dict[int, int] = {}
    try:
        for g in TopologicalSorter(below).static_order():
            rank[g] = max((rank[k] + 1 for k in below[g]), default=0)
    except CycleError:
        return None
    middle = Fraction(max(rank.values(), default=0), 2)
    return [rank[group[j]] - middle for j in range(len(run))]
