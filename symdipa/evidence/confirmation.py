"""A confirmation: two adjacent inputs and an output event whose probabilities come near a proved ``D``.

A proved ``D`` bounds all of them, so this search also tests the proofs: no ratio that it finds, its error
taken off, may be above ``exp(D*eps)``. How near it comes shows how good the bound is.
Runs are ranked by their best ratio ``c(s)``; where other runs show the same outputs, the ratio of all of them
together counts, and inputs keep the roles of the samples apart. Then inputs are improved one by one.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf

from symdipa.bounds.exact.flow import Flow
from symdipa.bounds.portfolio import bounds_on
from symdipa.evidence.probability import Budget, ProbabilityRefused
from symdipa.evidence.refutation import rays
from symdipa.evidence.refutation.adjacent import are_adjacent, ranges_of
from symdipa.evidence.refutation.inputs import Evaluation, InputPair, input_pair, roles
from symdipa.evidence.refutation.rays import Candidate, Ray, WideEvaluation
from symdipa.evidence.refutation.shape import best_flow, best_signs_of
from symdipa.model.automaton import Automaton
from symdipa.model.errors import LimitReached, OutOfTime, SymdipaError
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.control import Control
from symdipa.runs.order import follow, initial
from symdipa.runs.problem import Problem
from symdipa.runs.properties import output_distinct
from symdipa.runs.witness import feasible_runs, is_non_leaking

ROUNDS = 4
"""How often each loop of a candidate run is unrolled."""
FAR = (4, 16, 64)
"""Distances of inputs from the means, in units of the largest noise scale."""
FARTHER, NEAR = (4, 16, 32, 64, 256), 0.999
"""The same along a ray, which ends where the ratio is this part of the best, or more."""
SPREADS, PARTS = (32, 8), (1.5, 1.0, 0.75)
"""How far apart the values of a run begin on it: far, and inputs move by these parts of it, so that no other
run with the same outputs is likely."""
WIDE_TOLERANCE, WIDE_LONGEST, WIDE_RUNS = 1e-4, 6, 60
"""The error of a logarithm that is accepted there, and the short runs that are ranked: their length, their
number."""
STEPS = (1, 2, 4, 8, 16)
"""By how much an input is moved, in the same units."""
LONGEST_LEAN = 24
"""In longer runs no other sample is tried in place of one."""
WEIGH_SECONDS, WEIGH_SHARE = 5.0, 0.125
"""The time for a bound from below, if none is given: these seconds, at most this part of the whole time."""


class NoConfirmation(SymdipaError):
    """No pair could be evaluated; the message says why."""


@dataclass(frozen=True)
class Confirmation:
    """The best of the pairs that were ``tried``.

    ``log_ratio_per_eps`` is off by at most ``error``. ``all_runs``: the probabilities of all runs with these
    outputs, not only of ``pair.run``.
    """

    pair: InputPair
    eps: Fraction
    log_ratio_per_eps: float
    error: float
    all_runs: bool
    tried: int
    log_prob_alpha: float
    log_prob_beta: float

    def refutes(self, bound: Fraction) -> bool:
        """Whether the automaton is not ``bound * eps``-private, which would be a contradiction to a proof."""
        return self.all_runs and self.log_ratio_per_eps - self.error > bound


def confirm(
    automaton: Automaton,
    eps: Fraction | int = 1,
    *,
    seed: int = 0,
    longest: int = 8,
    runs: int = 150,
    best_runs: int = 4,
    moves: int = 1_000,
    tolerance: float = 1e-6,
    flow: Flow | None = None,
    enough: float = inf,
    limits: Limits = UNLIMITED,
) -> Confirmation:
    """The pair with the largest ratio that is found within ``limits``.

    Ranked are ``runs`` runs of at most ``longest`` steps, the ``best_runs`` best are tried with inputs, and
    the best inputs are changed ``moves`` times. ``flow`` is a bound from below whose run comes first; it is
    computed unless it is given. The search ends at a log-ratio per ``eps`` of ``enough``. Raises
    :class:`NoConfirmation` if no pair could be evaluated.
    """
    if rays.along_rays(automaton):
        wide = WideEvaluation(automaton, Fraction(eps), max(tolerance, WIDE_TOLERANCE), limits)
        along = _BestPair(wide, automaton, random.Random(seed), enough)
        return _confirm_wide(
            along, wide, flow, min(longest, WIDE_LONGEST), min(runs, WIDE_RUNS), best_runs, moves
        )
    problem = Problem.of(automaton)
    control, eps = problem.control, Fraction(eps)
    ranking, weighing = limits.share(1 / 2), limits.share(WEIGH_SHARE).within(WEIGH_SECONDS)
    distinct = output_distinct(automaton)
    evaluation = Evaluation(control, eps, distinct, tolerance, Budget(), limits)
    search = _BestPair(evaluation, automaton, random.Random(seed), enough)
    if flow is None:
        flow = bounds_on(problem, limits=weighing).flow
    candidates: Iterable[tuple[int, ...]] = _runs(control, flow, longest, runs)
    if not distinct:  # sums over many runs take long
        candidates = (run for run in candidates if len(run) <= longest + ROUNDS)
    ranked = _ranked(control, candidates, ranking)
    # A long run has more loop samples to keep roles apart, where other runs show the same outputs.
    ranked.sort(key=lambda one: (-one[0], len(one[1]) if distinct else -len(one[1]), one[1]))
    for _, run, signs in ranked[:best_runs]:
        if search.done():
            break
        with suppress(OutOfTime):
            search.by_signs(evaluation, run, signs)
    return search.finished(moves)


def _confirm_wide(
    search: _BestPair,
    evaluation: WideEvaluation,
    flow: Flow | None,
    longest: int,
    count: int,
    best_runs: int,
    moves: int,
) -> Confirmation:
    """The same for the wider model: inputs along rays (Thm. B)."""
    automaton, limits = evaluation.automaton, evaluation.limits
    ranked = []
    with suppress(OutOfTime):
        for one in rays.candidates(automaton, flow, longest, count, best_runs, limits.share(1 / 3)):
            ranked.append(one)

    def rank(one: Candidate) -> tuple[Fraction, int, tuple[int, ...]]:
        value, run, _ = one
        return -value, len(run) if evaluation.alone(run) else -len(run), run

    ranked.sort(key=rank)
    for value, run, deltas in ranked[:best_runs]:
        if search.done():
            break
        with suppress(OutOfTime):
            search.along(evaluation, run, deltas, value)
    return search.finished(moves)


def _ranked(
    control: Control, runs: Iterable[tuple[int, ...]], limits: Limits
) -> list[tuple[Fraction, tuple[int, ...], tuple[int, ...]]]:
    """The best ratio of each run with the run and its signs, as far as the time allows."""
    found = []
    for run in runs:
        try:
            limits.check("the best ratio of a run")
            signs = best_signs_of(control, run, limits)
            value = best_flow(control, run, signs, limits).value
        except OutOfTime:
            break
        except LimitReached:
            continue
        assert value is not None
        found.append((value, run, signs))
    return found


def _runs(control: Control, flow: Flow | None, longest: int, count: int) -> Iterator[tuple[int, ...]]:
    """Candidates: the run of the bound from below, short runs, and each with its loops repeated."""
    seen = set()
    first = [] if flow is None else list(_repeated(control, flow.run, flow.loops))
    for run in feasible_runs(control, longest, count):
        first.append(run)
        disjoint: list[tuple[int, int]] = []
        for i in range(len(run)):
            for j in range(i + 1, min(i + 3, len(run)) + 1):
                closes = control.source[run[i]] == control.target[run[j - 1]]
                if closes and (not disjoint or i >= disjoint[-1][1]):
                    disjoint.append((i, j))
        first += _repeated(control, run, disjoint)
    for run in first:
        if run not in seen:
            seen.add(run)
            yield run


def lean(
    control: Control, run: tuple[int, ...], signs: tuple[int, ...], limits: Limits = UNLIMITED
) -> tuple[int, ...]:
    """The signs without those that the best ratio of the run does not need.

    Samples without a difference need not stay beside others, where another run might take their place. Where
    a transition is taken often, one more of its samples may stand in for a sample of another one.
    """

    def value(candidate: tuple[int, ...]) -> Fraction | None:
        return best_flow(control, run, candidate, limits).value

    def changed(candidate: tuple[int, ...], j: int, sign: int) -> tuple[int, ...]:
        return (*candidate[:j], sign, *candidate[j + 1 :])

    whole = value(signs)
    for j in range(len(run)):
        if signs[j] and value(changed(signs, j, 0)) == whole:
            signs = changed(signs, j, 0)
    often = [j for j, t in enumerate(run) if run.count(t) > 1 and control.sampling[t].reads_input]
    for j in range(len(run)):
        if signs[j] and j not in often and len(run) <= LONGEST_LEAN:
            tried = (
                changed(changed(signs, j, 0), k, sign) for k in often if not signs[k] for sign in (1, -1)
            )
            signs = next((other for other in tried if value(other) == whole), signs)
    return signs


def _repeated(
    control: Control, run: Sequence[int], loops: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, ...]]:
    """The run, and the run with its non-leaking loops unrolled, if that is feasible."""
    yield tuple(run)
    whole = list(run)
    for i, j in sorted(loops, reverse=True):
        if is_non_leaking(control, run[i:j]):
            whole[i:j] = list(run[i:j]) * ROUNDS
    if follow(initial(control.variables), [control.steps[t] for t in whole]) is not None:
        yield tuple(whole)


@dataclass
class _BestPair:
    """Tries pairs of inputs and keeps the best; one with a ratio of ``enough`` will do."""

    evaluation: Evaluation | WideEvaluation
    automaton: Automaton
    rng: random.Random
    enough: float
    tried: int = 0
    best: Confirmation | None = None
    refused: str = ""
    """Why the last pair was not evaluated."""

    def finished(self, moves: int) -> Confirmation:
        """The best pair after some moves of single inputs."""
        with suppress(OutOfTime):
            self.improve(moves)
        if self.best is None:
            raise NoConfirmation(self.refused or "there was no time to try a pair")
        return replace(self.best, tried=self.tried)

    def along(
        self,
        evaluation: WideEvaluation,
        run: tuple[int, ...],
        deltas: tuple[Fraction, ...],
        value: Fraction,
    ) -> None:
        """Try inputs along a ray until the ratio is near ``value``: farther and farther, or, where other runs
        show the same outputs, from where they are unlikely."""
        unit = self._unit(run)
        near = rays.ray(evaluation.automaton, run, deltas, unit)
        if near is None:
            self.refused = "no inputs were found on which the run has a positive probability"
            return
        tries: list[tuple[Ray | None, float]] = [(near, factor) for factor in FARTHER]
        if not evaluation.alone(run):
            for spread in SPREADS:
                apart = rays.ray(evaluation.automaton, run, deltas, spread * unit)
                tries += [(apart, spread * part) for part in PARTS]
            tries = [*tries[len(FARTHER) :], *tries[: len(FARTHER)]]
        hopeless: set[int] = set()
        for found, factor in tries:
            if found is None or id(found) in hopeless:
                continue
            before = self.tried
            ratio = self.evaluate(found.pair(max(1, round(factor * unit))))
            if self.done() or ratio >= NEAR * float(value):
                return
            if self.tried == before:
                hopeless.add(id(found))

    def by_signs(self, evaluation: Evaluation, run: tuple[int, ...], signs: tuple[int, ...]) -> None:
        """Try the inputs that are best for one run in the limit."""
        control, limits, eps = evaluation.control, evaluation.limits, evaluation.eps
        base = max((abs(control.sampling[t].mu) for t in run), default=Fraction(0))
        apart = None
        if not evaluation.distinct:
            signs = lean(control, run, signs, limits)
            apart = roles(control, run, signs, limits)
        for factor in FAR:
            distance = base + factor * self._unit(run)
            offsets = None if apart is None else [4 * distance * place for place in apart]
            self.evaluate(input_pair(control, run, signs, distance, eps, offsets))

    def done(self) -> bool:
        """Whether the best pair is good enough."""
        return self.best is not None and self.best.all_runs and self.best.log_ratio_per_eps >= self.enough

    def _unit(self, run: Sequence[int]) -> Fraction:
        return self.evaluation.unit(run)

    def evaluate(self, candidate: InputPair) -> float:
        """The ratio of a pair, which is kept if it is the best so far; one that cannot be evaluated does not
        count."""
        try:
            first, second, all_runs = self.evaluation.of(candidate)
        except (LimitReached, ProbabilityRefused) as reason:
            self.refused = f"their probabilities were not computed ({reason})"
            return -inf
        self.tried += 1
        if second.value == -inf:
            self.refused = "one of the two probabilities is 0"
            return -inf
        eps = float(self.evaluation.eps)
        ratio, error = (first.value - second.value) / eps, (first.error + second.error) / eps
        best = self.best
        if best is None or (all_runs, ratio) > (best.all_runs, best.log_ratio_per_eps):
            self.best = Confirmation(
                candidate, self.evaluation.eps, ratio, error, all_runs, self.tried, first.value, second.value
            )
        return ratio

    def improve(self, moves: int) -> None:
        """Move single inputs, and turn differences round, as long as there is time."""
        ends = sorted({end for ends in ranges_of(self.automaton) for end in ends})
        for _ in range(moves):
            if self.best is None or self.done():
                return
            self.evaluation.limits.check("inputs with a larger ratio")
            now = self.best.pair
            inputs = [j for j, a in enumerate(now.alpha) if a is not None]
            if not inputs:
                return
            unit = self._unit(now.run)
            alpha, beta = list(now.alpha), list(now.beta)
            for j in self.rng.sample(inputs, min(len(inputs), self.rng.choice((1, 1, 2)))):
                low, high = alpha[j], beta[j]
                assert low is not None and high is not None
                difference = high - low
                if self.rng.random() < 0.3:
                    difference = self.rng.choice(ends)
                grid = self.evaluation.grid
                step = Fraction(round(grid * unit * self.rng.choice(STEPS) * self.rng.choice((-1, 1))), grid)
                low += step * self.rng.choice((0, 1, 1))
                alpha[j], beta[j] = low, low + difference
            moved = replace(now, alpha=tuple(alpha), beta=tuple(beta))
            if are_adjacent(self.automaton, moved.differences):
                self.evaluate(moved)
