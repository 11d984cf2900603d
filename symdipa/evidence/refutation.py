"""Two adjacent inputs and an output event that show a violation in numbers (theory, section 5).

The construction follows Theorem B of weights.md. For one run, the best log-ratio per ``eps`` of two adjacent
inputs is ``c(s)``, with a sign for each input step that a maximum flow tells. The witness's cycles are taken
``l`` times; the mean of every input step is moved by ``t`` to one side (``alpha``), then by one more
(``beta``). The ratio of the run's probabilities tends to ``c(s)`` from below as ``t`` grows, and ``c(s)``
grows without bound with ``l``. Every number comes with the error that its computation bounds, and a ratio
above ``c(s)``, which would refute the computation, is never returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import ceil, inf
from typing import NamedTuple

from symdipa.bounds.exact.flow import Flow, flow_bound
from symdipa.bounds.exact.signs import best_signs
from symdipa.evidence.probability import (
    Budget,
    Interval,
    LogProbability,
    ProbabilityRefused,
    TotalLogProbability,
    log_probability,
    total_log_probability,
)
from symdipa.evidence.probability.total import Observed
from symdipa.model.automaton import Automaton
from symdipa.model.errors import LimitReached, OutOfTime, SymdipaError
from symdipa.model.limits import UNLIMITED, Limits, stopwatch
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Witness
from symdipa.runs.control import Control, control_graph
from symdipa.runs.graphs import classes
from symdipa.runs.properties import witness_distinct
from symdipa.runs.witness import dependency_graph

SIGNS = "how the inputs should differ"
MOST_STEPS = 2_000
"""Unrolled runs are not longer than this."""
ATTEMPTS, FAILURES = 40, 4
"""So many pairs are tried, so many computations may fail."""
OTHERS_ATTEMPTS, SPREADS, FEW_ROUNDS, NOTHING = 5, 3, 4, 0.02
"""Where other runs show the same outputs: so many numbers of rounds are tried, beginning with few, each with
so many ways to keep the roles of steps apart; a ratio that is less than this part of ``c(s)`` is nothing."""
MARGIN = Fraction(103, 100)
GUESSED_FROM = 16
"""The number of rounds is guessed from the growth of the constant up to here."""
MOST_PATTERNS = 256
"""So many combinations of signs of a leaking cycle are compared, else those of an unrolled run are taken."""
MOST_FOLLOWED, LONG_RUN = 40, (32, 64)
"""Of these so many are looked at in the long run: how the constant grows between so many rounds."""
FARTHEST = 64
"""The distance is doubled up to so many times the first one."""
SATURATED = 0.97
"""A ratio that is such a part of ``c(s)`` is taken not to gain from a larger distance."""
HALF_WIDTH = Fraction(1, 4)
"""Half the width of the interval around 0 in which a shown sample has to lie, in units of its noise scale."""


class NoCounterexample(SymdipaError):
    """No pair of inputs could be evaluated at all; the text says why."""


class Growth(NamedTuple):
    """The log-ratio per ``eps`` when the cycles of the witness are taken ``rounds`` times."""

    rounds: int
    log_ratio_per_eps: float
    error: float


@dataclass(frozen=True)
class Counterexample:
    """Adjacent inputs ``alpha`` and ``beta`` and an output event that tell them apart.

    ``run`` (positions of transitions) is the witness with its cycles taken ``rounds`` times. ``alpha[j]`` and
    ``beta[j]`` are what step ``j`` reads (``None`` at non-input steps), ``outputs[j]`` the interval in which
    a real output of step ``j`` has to lie (``None``: the run's own symbol). The logarithms of the event's
    probabilities are off by at most ``error_alpha`` and ``error_beta``. With ``all_runs`` they are those of
    the *outputs*, whatever run shows them, else those of this run alone. Other runs may read more inputs
    than this one; ``further`` are those that both streams go on with (none where no other run is possible).
    ``limit`` is ``c(s)`` of the run: its best log-ratio per ``eps`` for these signs. ``missing`` says why the
    ratio does not exceed ``exceeds``.
    """

    automaton: Automaton
    witness: Witness
    eps: Fraction
    exceeds: Fraction
    run: tuple[int, ...]
    rounds: int
    alpha: tuple[Fraction | None, ...]
    beta: tuple[Fraction | None, ...]
    outputs: tuple[Interval | None, ...]
    log_prob_alpha: float
    log_prob_beta: float
    error_alpha: float
    error_beta: float
    all_runs: bool
    limit: Fraction
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


@dataclass(frozen=True)
class Pair:
    """A run with two inputs and an output event, as :func:`log_probability` wants them."""

    run: tuple[int, ...]
    alpha: tuple[Fraction | None, ...]
    beta: tuple[Fraction | None, ...]
    outputs: tuple[Interval | None, ...]

    @property
    def further(self) -> tuple[Fraction, ...]:
        """Inputs behind those of the run, so that no other run with the same outputs ends for want of one."""
        return (Fraction(0),) * self.alpha.count(None)

    def observed(self, automaton: Automaton) -> list[Observed]:
        """The event as an observer states it: symbols, and intervals for real outputs."""
        seen: list[Observed] = []
        for t, window in zip(self.run, self.outputs, strict=True):
            output = automaton.transitions[t].output
            seen.append((window or (-inf, inf)) if output.symbol is None else output.symbol)
        return seen


def counterexample(
    automaton: Automaton,
    witness: Witness,
    exceeds: Fraction | int = 1,
    eps: Fraction | int = 1,
    *,
    tolerance: float = 1e-6,
    budget: Budget | None = None,
    growth: bool = True,
    distinct: bool | None = None,
    limits: Limits = UNLIMITED,
) -> Counterexample:
    """Adjacent inputs and an output event of which the log-ratio is larger than ``exceeds * eps``.

    The number of rounds and the distance of the inputs grow until the ratio, its error taken off, is large
    enough; or until the time of ``limits`` is over or nothing more can be computed within ``tolerance`` and
    ``budget``: then :attr:`Counterexample.missing` says so, and the best pair so far is returned.
    ``distinct`` says whether no other run shows the outputs of the witness (found out if not given); if
    others may, their probabilities are added. The time is honoured within a second or so, wherever it runs
    out. Raises :class:`NoCounterexample` if not even one pair could be evaluated and ``ValueError`` for
    numbers that are not positive.
    """
    exceeds, eps = Fraction(exceeds), Fraction(eps)
    if exceeds < 0 or eps <= 0 or tolerance <= 0:
        raise ValueError("exceeds must not be negative; eps and tolerance must be positive")
    control = control_graph(automaton)
    taken, quiet = stopwatch(), limits.heard_by(None)
    try:
        alone = distinct
        if alone is None:
            alone = witness_distinct(control, witness, limits=quiet)
        evaluation = Evaluation(automaton, eps, alone, tolerance, budget or Budget(), quiet)
        shape = Shape(control, witness, signs_of(control, witness, quiet), quiet)
    except OutOfTime:
        raise NoCounterexample("the time was over before it was known how the inputs should differ") from None
    search = _Search(shape, exceeds, evaluation, limits)
    try:
        found = search.solve()
    except OutOfTime:
        raise NoCounterexample("the time was over before it was known how many rounds are needed") from None
    table = search.growth(found) if growth else ()
    return replace(found.counterexample, growth=table, seconds=taken())


# -------------------------------------------------------------------------------------- the run and its signs

Table = tuple[Mapping[int, int], ...]
"""Signs by position of the witness; round ``k`` of a cycle takes entry ``k`` modulo their number."""


def unrolled(witness: Witness, rounds: int) -> list[tuple[int, int]]:
    """The witness with its cycles taken so many times: for each step its position in it, and the round."""
    found: list[tuple[int, int]] = []
    cycles = dict(witness.cycles)
    k = 0
    while k < len(witness.run):
        end = cycles.get(k, k + 1)
        turns = rounds if k in cycles else 1
        found += [(at, turn) for turn in range(turns) for at in range(k, end)]
        k = end
    return found


@dataclass(frozen=True, eq=False)
class Shape:
    """A witness and signs for it, to be unrolled any number of times."""

    control: Control
    witness: Witness
    table: Table
    limits: Limits = UNLIMITED
    known: dict[int, Fraction] = field(default_factory=dict, repr=False)

    def run(self, rounds: int) -> tuple[int, ...]:
        """The run with the cycles taken so many times."""
        return tuple(self.witness.run[at] for at, _ in unrolled(self.witness, rounds))

    def signs(self, rounds: int) -> tuple[int, ...]:
        """The signs of the steps of the unrolled run, 0 where no input is read."""
        return tuple(self.table[turn % len(self.table)][at] for at, turn in unrolled(self.witness, rounds))

    def limit(self, rounds: int) -> Fraction:
        """``c(s)`` of the unrolled run."""
        found = self.known.get(rounds)
        if found is None:
            found = self.known[rounds] = self._limit(rounds)
        return found

    def _limit(self, rounds: int) -> Fraction:
        run = self.run(rounds)
        found = best_flow(self.control, run, self.signs(rounds), self.limits).value
        assert found is not None  # without loops there is a largest flow
        return found


def best_flow(control: Control, run: Sequence[int], signs: Sequence[int], limits: Limits) -> Flow:
    """The largest flow for the signs of a run; its value is ``c(s)``."""
    return flow_bound(control, run, (), signs, limits=limits)


def signs_of(control: Control, witness: Witness, limits: Limits = UNLIMITED) -> Table:
    """Signs for which the constant of the unrolled witness grows without bound.

    One for each position, except that a cycle which compares with what it stored may need two in turn.
    """
    if witness.pattern is not Pattern.LEAKING_CYCLE:
        chosen = best_signs(control, witness.run, witness.cycles, limits=limits)
        return (dict(enumerate(map(int, chosen))),)
    (i, j), run = witness.cycles[0], witness.run
    inside = [k for k in range(i, j) if control.sampling[run[k]].reads_input]
    none: Mapping[int, int] = dict.fromkeys(range(len(run)), 0)
    tables: list[Table] = []
    for period in (1, 2):
        if 2 ** (period * len(inside)) > MOST_PATTERNS:
            break
        for signs in product((1, -1), repeat=period * len(inside)):
            turns = [signs[k * len(inside) : (k + 1) * len(inside)] for k in range(period)]
            tables.append(tuple({**none, **dict(zip(inside, turn, strict=True))} for turn in turns))
    best = _fastest(control, witness, tables, limits) or _signs_inside(control, witness, limits)
    for k in range(i):
        if control.sampling[run[k]].reads_input:
            choices = [tuple({**row, k: sign} for row in best) for sign in (1, -1)]
            best = max(choices, key=lambda table: Shape(control, witness, table, limits).limit(4))
    return best


def _fastest(control: Control, witness: Witness, tables: Sequence[Table], limits: Limits) -> Table | None:
    """The signs for which the constant grows fastest in the long run, of those that start well.

    What happens before the cycle may make a few rounds cost something that do not in the long run.
    """

    def rate(table: Table, first: int, last: int) -> Fraction:
        shape = Shape(control, witness, table, limits)
        return (shape.limit(last) - shape.limit(first)) / (last - first)

    early = sorted(((rate(table, 4, 6), -k) for k, table in enumerate(tables)), reverse=True)
    best, fastest = None, Fraction(0)
    for start, k in early[:MOST_FOLLOWED]:
        if start <= fastest:
            break
        found = rate(tables[-k], *LONG_RUN)
        if found > fastest:
            best, fastest = tables[-k], found
    return best


def _signs_inside(control: Control, witness: Witness, limits: Limits) -> Table:
    """The best signs of two rounds in the middle of an unrolled run."""
    shape = Shape(control, witness, ())
    chosen = best_signs(control, shape.run(6), limits=limits)
    rows: list[dict[int, int]] = [dict.fromkeys(range(len(witness.run)), 0) for _ in range(2)]
    for (at, turn), sign in zip(unrolled(witness, 6), chosen, strict=True):
        if turn in (2, 3):
            rows[turn % 2][at] = int(sign)
    return tuple(rows)


# ------------------------------------------------------------------------------------------ inputs and events


def pair(
    control: Control,
    run: Sequence[int],
    signs: Sequence[int],
    distance: Fraction,
    eps: Fraction,
    offsets: Sequence[Fraction] | None = None,
) -> Pair:
    """Inputs that move the means of the run's samples by ``distance``, and by one more, against the signs.

    A difference ``s_j`` of the shifts is paid for by samples that lie on the other side, so ``alpha`` has the
    mean of step ``j`` at ``-distance * s_j`` (plus ``offsets[j]``) and ``beta`` one unit farther. Inputs are
    multiples of 1/64, so that floats hold them, and their differences, exactly. A shown sample has to lie
    near 0, a shown second sample beyond its own mean under ``alpha``.
    """
    alpha: list[Fraction | None] = []
    beta: list[Fraction | None] = []
    outputs: list[Interval | None] = []
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
    return Pair(tuple(run), tuple(alpha), tuple(beta), tuple(outputs))


def largest_scale(control: Control, run: Sequence[int], eps: Fraction) -> Fraction:
    """The largest noise scale of the samples of a run (1/eps if none has any)."""
    return 1 / (min((d for t in run if (d := control.sampling[t].d)), default=Fraction(1)) * eps)


GRID, APART = 64, 8


def _rounded(x: Fraction) -> Fraction:
    return Fraction(round(x * GRID), GRID)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How probabilities are computed."""

    automaton: Automaton
    eps: Fraction
    alone: bool
    tolerance: float
    budget: Budget
    limits: Limits

    def of(self, pair: Pair) -> tuple[LogProbability, LogProbability, bool]:
        """The probabilities of the event on both inputs, and whether all runs are in them."""
        if not self.alone:
            try:
                first, second = (self._total(pair, inputs) for inputs in (pair.alpha, pair.beta))
                if first.complete and second.complete:
                    return first, second, True
            except OutOfTime:
                raise
            except (LimitReached, ProbabilityRefused):
                pass
        found = [self._single(pair, inputs) for inputs in (pair.alpha, pair.beta)]
        return found[0], found[1], self.alone

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

    def _single(self, pair: Pair, inputs: tuple[Fraction | None, ...]) -> LogProbability:
        return log_probability(
            self.automaton,
            pair.run,
            inputs,
            pair.outputs,
            self.eps,
            self.tolerance,
            self._affordable(),
            self.limits,
        )

    def _total(self, pair: Pair, inputs: tuple[Fraction | None, ...]) -> TotalLogProbability:
        return total_log_probability(
            self.automaton,
            [*(given for given in inputs if given is not None), *pair.further],
            pair.observed(self.automaton),
            self.eps,
            self.tolerance,
            self._affordable(),
            limits=self.limits,
        )


SWEPT_A_SECOND = 2_000_000
PAIRED_A_SECOND = 25_000_000
"""Numbers in tables of one grid, and in two-dimensional tables of all grids, that take about a second."""


# ------------------------------------------------------------------------------------------------- the search


@dataclass(frozen=True)
class _Found:
    counterexample: Counterexample
    distance: Fraction
    spread: int


@dataclass
class _Search:
    """More rounds and larger distances, until the ratio is large enough."""

    shape: Shape
    exceeds: Fraction
    evaluation: Evaluation
    limits: Limits
    best: _Found | None = None

    def solve(self) -> _Found:
        """The first pair that is large enough, else the best one, which then says what is missing."""
        missing = self._alone() if self.evaluation.alone else self._among_others()
        rounds = self._first_rounds()
        while self.best is None and rounds > 1:
            rounds //= 2
            try:
                self._tried(rounds, 1)
            except OutOfTime:
                break
            except (LimitReached, ProbabilityRefused):
                continue
        if self.best is None:
            raise NoCounterexample(f"no pair of inputs could be evaluated: {missing}")
        if self.best.counterexample.holds:
            return self.best
        return replace(self.best, counterexample=replace(self.best.counterexample, missing=missing))

    def _alone(self) -> str:
        """More rounds while the ratio is about the best for the run, larger distances while it is not."""
        rounds, failures, missing = self._first_rounds(), 0, ""
        # Chains of stored values need room, the more the longer they are.
        steps = 2 + rounds // 24 if self.shape.witness.pattern is Pattern.LEAKING_CYCLE else 1
        for attempt in range(ATTEMPTS):
            try:
                now = self._tried(rounds, steps)
            except OutOfTime:
                return self._over(rounds, attempt)
            except (LimitReached, ProbabilityRefused) as reason:
                missing, failures = str(reason), failures + 1
                if failures == FAILURES:
                    return missing
                steps, rounds = max(1, steps // 2), rounds + max(1, rounds // 4)
                continue
            if now.holds:
                return ""
            missing = f"the largest ratio of {attempt + 1} pairs that were tried is too small"
            reached = now.log_ratio / float(now.eps)
            saturated = reached >= SATURATED * float(now.limit)
            if saturated or steps >= FARTHEST:
                rounds = self._more(rounds, reached)
            else:
                rounds += rounds // 20
            if not saturated:
                steps *= 2
            if len(self.shape.run(rounds)) > MOST_STEPS:
                return f"{missing}, and more than {MOST_STEPS} steps would be needed"
        return missing

    def _over(self, rounds: int, tried: int) -> str:
        """How far the search got when its time was over."""
        before = f"after {tried} pair{'s' if tried > 1 else ''} of inputs " if tried else ""
        return f"the time was over {before}while {rounds} rounds were computed"

    def _more(self, rounds: int, reached: float) -> int:
        """So many rounds that the ratio should suffice, if it grows as it did."""
        wanted = rounds * float(self.exceeds) / reached if reached > 0 else 2 * rounds
        return max(rounds + 1, min(2 * rounds, ceil(1.02 * wanted)))

    def _among_others(self) -> str:
        """A few numbers of rounds, each with several ways to keep the roles of the steps apart."""
        rounds, missing = min(FEW_ROUNDS, self._first_rounds()), ""
        for attempt in range(OTHERS_ATTEMPTS):
            reached = -inf
            for spread in range(SPREADS):
                tried = attempt * SPREADS + spread
                try:
                    now = self._tried(rounds, 2, spread)
                except OutOfTime:
                    return self._over(rounds, tried)
                except (LimitReached, ProbabilityRefused) as reason:
                    return str(reason)
                if now.holds:
                    return ""
                missing = "other runs show the same outputs"
                if not now.all_runs:
                    return f"{missing}, and the probability of all of them could not be computed"
                reached = max(reached, now.log_ratio / float(now.eps))
            if reached < NOTHING * float(now.limit):
                return f"{missing} and make up for the difference in {rounds} rounds"
            rounds = self._more(rounds, reached)
        return f"the largest ratio that was found is too small ({missing})"

    def _tried(self, rounds: int, steps: int, spread: int = 0) -> Counterexample:
        unit, control = self._unit(), self.shape.control
        run = self.shape.witness.run
        own = [abs(s.mu) for t in run if not (s := control.sampling[t]).reads_input]
        base = max(own, default=Fraction(0))
        distance = base + steps * 2 * unit
        self.limits.check(f"{rounds} rounds, inputs around {float(distance):g}")
        found = self._evaluated(rounds, distance, spread)
        now, best = found.counterexample, self.best
        if best is None or (now.holds, now.log_ratio) > (
            best.counterexample.holds,
            best.counterexample.log_ratio,
        ):
            self.best = found
        return now

    def _first_rounds(self) -> int:
        """The least number of rounds of which the best ratio exceeds what is asked for, with some margin.

        The best ratio never falls with the rounds, and in the long run it grows about evenly. So a guess from
        few rounds is near, and few long runs need to be looked at.
        """
        wanted, limit = MARGIN * self.exceeds, self.shape.limit
        low, high = 0, 1
        while high < GUESSED_FROM and limit(high) <= wanted:
            low, high = high, 2 * high
        step = 1
        while limit(high) <= wanted:
            if len(self.shape.run(high)) > MOST_STEPS:
                raise NoCounterexample(
                    f"in {high} rounds ({len(self.shape.run(high))} steps) the best ratio is "
                    f"exp({limit(high)}*eps)"
                )
            growth = limit(high) - limit(low) if low else Fraction(0)
            ahead = ceil((wanted - limit(high)) * (high - low) / growth) if growth > 0 else 2 * high
            low, high = high, min(high + max(ahead, step), 2 * high + self._longest())
            step *= 2
        step = 1
        while high - low > 1:
            # The guess is rarely off by much: look close below it first.
            middle = max((low + high) // 2, high - step)
            low, high = (low, middle) if limit(middle) > wanted else (middle, high)
            step *= 2
        return high

    def _longest(self) -> int:
        """So many rounds are above the largest number of steps."""
        round_length = min(j - i for i, j in self.shape.witness.cycles)
        return MOST_STEPS // round_length + 1

    def _unit(self) -> Fraction:
        """The largest noise scale of the samples that matter, a distance in which ratios begin to show."""
        shape = self.shape
        return max(Fraction(1), largest_scale(shape.control, shape.witness.run, self.evaluation.eps))

    def _evaluated(self, rounds: int, distance: Fraction, spread: int) -> _Found:
        shape, evaluation = self.shape, self.evaluation
        run, signs, limit = shape.run(rounds), shape.signs(rounds), shape.limit(rounds)
        offsets = None
        if spread and (apart := roles(shape.control, run, signs, shape.limits)):
            offsets = [APART**spread * self._unit() * place for place in apart]
        tried = pair(shape.control, run, signs, distance, evaluation.eps, offsets)
        first, second, all_runs = evaluation.of(tried)
        found = Counterexample(
            evaluation.automaton,
            shape.witness,
            evaluation.eps,
            self.exceeds,
            run,
            rounds,
            tried.alpha,
            tried.beta,
            tried.outputs,
            first.value,
            second.value,
            first.error,
            second.error,
            all_runs,
            limit,
            max(first.method, second.method, key=len),
            () if evaluation.alone or not all_runs else tried.further,
        )
        only_this_run = evaluation.alone or not all_runs
        if only_this_run and found.log_ratio - found.error > float(limit * evaluation.eps) * (1 + 1e-12):
            raise ProbabilityRefused(
                f"computed a log-ratio of {found.log_ratio}, above {limit}*eps, which cannot be"
            )
        return _Found(found, distance, spread)

    def growth(self, found: _Found) -> tuple[Growth, ...]:
        """The ratio for fewer rounds, as far as the time allows."""
        last = found.counterexample
        counts = [1 << k for k in range(last.rounds.bit_length()) if 1 << k < last.rounds]
        eps, table = float(last.eps), []
        for rounds in counts:
            try:
                one = self._evaluated(rounds, found.distance, found.spread).counterexample
            except OutOfTime:
                break
            except (LimitReached, ProbabilityRefused):
                continue
            if one.all_runs == last.all_runs:
                table.append(Growth(rounds, one.log_ratio / eps, one.error / eps))
        return (*table, Growth(last.rounds, last.log_ratio / eps, last.error / eps))


def roles(
    control: Control, run: Sequence[int], signs: Sequence[int], limits: Limits = UNLIMITED
) -> list[Fraction] | None:
    """How far apart samples should lie so that other runs with the same outputs are unlikely, in units.

    Samples between which the dearest flow passes must stay side by side, or their order would cost nothing.
    The others are put apart in the order that the run forces: by the longest chain of such groups below.
    ``None`` where the order of the groups is not acyclic.
    """
    over = dependency_graph(control, run).over
    flow = best_flow(control, run, signs, limits).flow
    group = classes(len(run) + 1, [(i % (len(run) + 1), j % (len(run) + 1)) for i, j in flow])
    after: dict[int, set[int]] = {}
    degree = dict.fromkeys(group, 0)
    for i, targets in enumerate(over):
        for j in targets:
            if group[i] != group[j] and group[j] not in after.setdefault(group[i], set()):
                after[group[i]].add(group[j])
                degree[group[j]] += 1
    order, rank = [g for g, count in degree.items() if not count], dict.fromkeys(group, 0)
    for g in order:
        for k in after.get(g, ()):
            rank[k] = max(rank[k], rank[g] + 1)
            degree[k] -= 1
            if not degree[k]:
                order.append(k)
    if len(order) < len(degree):
        return None
    middle = Fraction(max(rank.values(), default=0), 2)
    return [rank[group[j]] - middle for j in range(len(run))]
