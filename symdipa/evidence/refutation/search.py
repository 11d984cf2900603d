"""The search for a refutation: more rounds and larger distances, until the ratio is large enough."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, inf

from symdipa.evidence.probability import Budget, ProbabilityRefused
from symdipa.evidence.refutation.adjacent import ranges_of
from symdipa.evidence.refutation.inputs import Evaluation, input_pair, largest_scale, roles
from symdipa.evidence.refutation.outcome import (
    MARGIN,
    MOST_STEPS,
    SATURATED,
    Growth,
    NoRefutation,
    Refutation,
)
from symdipa.evidence.refutation.rays import WideEvaluation, along_rays
from symdipa.evidence.refutation.shape import Shape, signs_of
from symdipa.evidence.refutation.wide import WideSearch
from symdipa.model.automaton import Automaton
from symdipa.model.errors import LimitReached, OutOfTime
from symdipa.model.limits import UNLIMITED, Limits, stopwatch
from symdipa.model.patterns import Pattern
from symdipa.model.spelling import counted
from symdipa.model.verdict import Witness
from symdipa.runs.control import control_graph
from symdipa.runs.properties import witness_distinct

ATTEMPTS, FAILURES = 40, 4
"""How many pairs are tried, and how many computations may fail."""
OTHERS_ATTEMPTS, SPREADS, FEW_ROUNDS = 5, 3, 4
"""Where other runs show the same outputs: how many numbers of rounds are tried, in how many ways each keeps
the roles of steps apart, and the largest number of rounds to begin with."""
NOTHING = 0.02
"""A ratio below this part of ``c(s)`` will not become large by more rounds."""
APART = 8
"""How many times farther apart each of these ways puts the roles than the one before."""
GUESSED_FROM = 16
"""The number of rounds is guessed from the growth of ``c(s)`` up to here."""
WIDE_TOLERANCE = 1e-4
"""The error of a logarithm that is accepted in the wider model."""
FARTHEST = 64
"""The largest distance, in units of the first one; distances are doubled."""


def refute(
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
) -> Refutation:
    """Adjacent inputs and an output event whose log-ratio is larger than ``exceeds * eps``.

    The number of rounds and the distance of the inputs grow until the ratio, its error taken off, is large
    enough. If the time of ``limits`` runs out first, or nothing more can be computed within ``tolerance`` and
    ``budget``, the best pair so far is returned, and :attr:`Refutation.missing` says why.
    ``distinct`` says whether no other run shows the outputs of the witness (found out if not given); if
    others may, their probabilities are added. The time is honoured within a second or so. Raises
    :class:`NoRefutation` if not even one pair could be evaluated and ``ValueError`` for numbers that are not
    positive.
    """
    wide = along_rays(automaton)
    exceeds, eps = Fraction(exceeds), Fraction(eps)
    if exceeds < 0 or eps <= 0 or tolerance <= 0:
        raise ValueError("exceeds must not be negative; eps and tolerance must be positive")
    taken, quiet = stopwatch(), limits.heard_by(None)
    if wide:
        along = WideEvaluation(automaton, eps, max(tolerance, WIDE_TOLERANCE), quiet)
        best, wider = _best_way(automaton, witness, exceeds, along, limits)
        return replace(best, growth=wider.growth() if growth else (), seconds=taken())
    control = control_graph(automaton)
    try:
        if distinct is None:
            distinct = witness_distinct(control, witness, limits=quiet)
        evaluation = Evaluation(control, eps, distinct, tolerance, budget or Budget(), quiet)
        shape = Shape(control, witness, signs_of(control, witness, quiet), quiet)
    except OutOfTime:
        raise NoRefutation("the time was over before it was known how the inputs should differ") from None
    search = _Escalation(automaton, shape, exceeds, evaluation, limits)
    try:
        found = search.solve()
    except OutOfTime:
        raise NoRefutation("the time was over before it was known how many rounds are needed") from None
    table = search.growth(found) if growth else ()
    return replace(found.refutation, growth=table, seconds=taken())


def _best_way(
    automaton: Automaton, witness: Witness, exceeds: Fraction, along: WideEvaluation, limits: Limits
) -> tuple[Refutation, WideSearch]:
    """The first pair that is large enough, of inputs that differ in one order or the other; else the best."""
    found: list[tuple[Refutation, WideSearch]] = []
    missing = NoRefutation("")
    ways = ranges_of(automaton)
    for left, between in zip(range(len(ways), 0, -1), ways, strict=True):
        part = limits.share(1 / left)
        evaluation = replace(along, limits=part.heard_by(None))
        search = WideSearch(automaton, witness, exceeds, evaluation, between, part)
        try:
            found.append((search.solve(), search))
        except NoRefutation as reason:
            missing = reason
        except OutOfTime:
            missing = NoRefutation("the time was over before it was known how the inputs should differ")
        if found and found[-1][0].holds:
            return found[-1]
    if not found:
        raise missing
    return max(found, key=lambda one: (one[0].all_runs, one[0].log_ratio))


@dataclass(frozen=True)
class _Tried:
    refutation: Refutation
    distance: Fraction
    spread: int


@dataclass
class _Escalation:
    """More rounds and larger distances, until the ratio is large enough; ``best`` is the best pair so far."""

    automaton: Automaton
    shape: Shape
    exceeds: Fraction
    evaluation: Evaluation
    limits: Limits
    best: _Tried | None = None
    tried: int = 0

    def solve(self) -> _Tried:
        """The first pair that is large enough, else the best one, which then says what is missing."""
        missing = self._alone() if self.evaluation.distinct else self._among_others()
        rounds = self._first_rounds()
        while self.best is None and rounds > 1:
            rounds //= 2
            try:
                self._try(rounds, 1)
            except OutOfTime:
                break
            except (LimitReached, ProbabilityRefused):
                continue
        if self.best is None:
            raise NoRefutation(f"no pair of inputs could be evaluated: {missing}")
        if self.best.refutation.holds:
            return self.best
        return replace(self.best, refutation=replace(self.best.refutation, missing=missing))

    def _alone(self) -> str:
        """More rounds while the ratio is about the best for the run, larger distances while it is not.

        Inputs that are moved no farther than the means of other steps come first: with them outputs are
        likeliest, if not as much likelier on one input as they can be.
        """
        rounds, failures, missing = self._first_rounds(), 0, ""
        try:
            if self._try(rounds, 0).holds:
                return ""
        except OutOfTime:
            return self._over(rounds)
        except (LimitReached, ProbabilityRefused):
            pass
        # Chains of stored values need room, the more the longer they are.
        steps = 2 + rounds // 24 if self.shape.witness.pattern is Pattern.LEAKING_CYCLE else 1
        for _ in range(ATTEMPTS):
            try:
                now = self._try(rounds, steps)
            except OutOfTime:
                return self._over(rounds)
            except (LimitReached, ProbabilityRefused) as reason:
                missing, failures = str(reason), failures + 1
                if failures == FAILURES:
                    return missing
                steps, rounds = max(1, steps // 2), rounds + max(1, rounds // 4)
                continue
            if now.holds:
                return ""
            missing = f"the largest ratio of {counted(self.tried, 'pair')} that were tried is too small"
            reached = now.log_ratio / float(now.eps)
            saturated = reached >= SATURATED * float(now.limit or 0)
            if saturated or steps >= FARTHEST:
                rounds = self._more(rounds, reached)
            else:
                rounds += rounds // 20
            if not saturated:
                steps *= 2
            if len(self.shape.run(rounds)) > MOST_STEPS:
                return f"{missing}, and more than {MOST_STEPS} steps would be needed"
        return missing

    def _over(self, rounds: int) -> str:
        """How far the search got within its time."""
        before = f"after {counted(self.tried, 'pair')} of inputs " if self.tried else ""
        return f"the time was over {before}while {counted(rounds, 'round was', 'rounds were')} computed"

    def _more(self, rounds: int, reached: float) -> int:
        """The number of rounds after which the ratio should suffice, if it grows as it did."""
        wanted = rounds * float(self.exceeds) / reached if reached > 0 else 2 * rounds
        return max(rounds + 1, min(2 * rounds, ceil(1.02 * wanted)))

    def _among_others(self) -> str:
        """A few numbers of rounds, each with several ways to keep the roles of the steps apart."""
        rounds, missing = min(FEW_ROUNDS, self._first_rounds()), ""
        for _ in range(OTHERS_ATTEMPTS):
            reached = -inf
            for spread in range(SPREADS):
                try:
                    now = self._try(rounds, 2, spread)
                except OutOfTime:
                    return self._over(rounds)
                except (LimitReached, ProbabilityRefused) as reason:
                    return str(reason)
                if now.holds:
                    return ""
                missing = "other runs show the same outputs"
                if not now.all_runs:
                    return f"{missing}, and the probability of all of them could not be computed"
                reached = max(reached, now.log_ratio / float(now.eps))
            if reached < NOTHING * float(now.limit or 0):
                return f"{missing} and make up for the difference in {counted(rounds, 'round')}"
            rounds = self._more(rounds, reached)
        return f"the largest ratio that was found is too small ({missing})"

    def _try(self, rounds: int, steps: int, spread: int = 0) -> Refutation:
        sampling = self.shape.control.sampling
        own = [abs(sampling[t].mu) for t in self.shape.witness.run if not sampling[t].reads_input]
        distance = max(own, default=Fraction(0)) + steps * 2 * self._unit()
        self.limits.check(f"{rounds} rounds, inputs around {float(distance):g}")
        found = self._evaluated(rounds, distance, spread)
        self.tried += 1
        now, best = found.refutation, self.best
        if best is None or (now.holds, now.log_ratio) > (best.refutation.holds, best.refutation.log_ratio):
            self.best = found
        return now

    def _first_rounds(self) -> int:
        """The least number of rounds whose best ratio exceeds what is to be refuted, with some margin.

        The best ratio never falls with the rounds, and in the long run it grows about evenly. So a guess from
        a few rounds is near, and few long runs need to be examined.
        """
        wanted, ratio = MARGIN * self.exceeds, self.shape.best_ratio
        low, high = 0, 1
        while high < GUESSED_FROM and ratio(high) <= wanted:
            low, high = high, 2 * high
        longest = (
            MOST_STEPS // min(j - i for i, j in self.shape.witness.cycles) + 1
        )  # above all that is tried
        step = 1
        while ratio(high) <= wanted:
            if (steps := len(self.shape.run(high))) > MOST_STEPS:
                long = f"{counted(high, 'round')} ({counted(steps, 'step')})"
                raise NoRefutation(f"in {long} the best ratio is exp({ratio(high)}*eps)")
            growth = ratio(high) - ratio(low) if low else Fraction(0)
            ahead = ceil((wanted - ratio(high)) * (high - low) / growth) if growth > 0 else 2 * high
            low, high = high, min(high + max(ahead, step), 2 * high + longest)
            step *= 2
        step = 1
        while high - low > 1:
            # The guess is rarely off by much: search close below it first.
            middle = max((low + high) // 2, high - step)
            low, high = (low, middle) if ratio(middle) > wanted else (middle, high)
            step *= 2
        return high

    def _unit(self) -> Fraction:
        """The largest noise scale of the samples that matter, a distance in which ratios begin to show."""
        shape = self.shape
        return max(Fraction(1), largest_scale(shape.control, shape.witness.run, self.evaluation.eps))

    def _evaluated(self, rounds: int, distance: Fraction, spread: int) -> _Tried:
        shape, evaluation = self.shape, self.evaluation
        run, signs, limit = shape.run(rounds), shape.signs(rounds), shape.best_ratio(rounds)
        offsets = None
        if spread and (apart := roles(shape.control, run, signs, shape.limits)):
            offsets = [APART**spread * self._unit() * place for place in apart]
        tried = input_pair(shape.control, run, signs, distance, evaluation.eps, offsets)
        first, second, all_runs = evaluation.of(tried)
        found = Refutation(
            self.automaton,
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
            () if evaluation.distinct or not all_runs else tried.further,
        )
        only_this_run = evaluation.distinct or not all_runs
        if only_this_run and found.log_ratio - found.error > float(limit * evaluation.eps) * (1 + 1e-12):
            raise ProbabilityRefused(
                f"computed a log-ratio of {found.log_ratio}, above {limit}*eps, which cannot be"
            )
        return _Tried(found, distance, spread)

    def growth(self, found: _Tried) -> tuple[Growth, ...]:
        """The ratio for fewer rounds, as far as the time allows."""
        last = found.refutation
        counts = [1 << k for k in range(last.rounds.bit_length()) if 1 << k < last.rounds]
        eps, table = float(last.eps), []
        for rounds in counts:
            try:
                one = self._evaluated(rounds, found.distance, found.spread).refutation
            except OutOfTime:
                break
            except (LimitReached, ProbabilityRefused):
                continue
            if one.all_runs == last.all_runs:
                table.append(Growth(rounds, one.log_ratio / eps, one.error / eps))
        return (*table, Growth(last.rounds, last.log_ratio / eps, last.error / eps))
