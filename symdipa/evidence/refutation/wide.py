"""The search for a refutation in the wider model: inputs along rays, more rounds, larger distances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count
from math import ceil, inf

from symdipa.evidence.probability import ProbabilityRefused
from symdipa.evidence.refutation import rays
from symdipa.evidence.refutation.adjacent import are_adjacent
from symdipa.evidence.refutation.outcome import (
    MARGIN,
    MOST_STEPS,
    SATURATED,
    Growth,
    NoRefutation,
    Refutation,
)
from symdipa.model.adjacency import Interval
from symdipa.model.automaton import Automaton
from symdipa.model.errors import LimitReached, OutOfTime
from symdipa.model.limits import Limits
from symdipa.model.spelling import counted
from symdipa.model.verdict import Witness
from symdipa.runs.numbers import growth, shifts, system

DISTANCES = (0, 4, 16, 64)
"""How far inputs are moved along a ray, in units of the largest noise scale. Where they are not moved the
outputs are likeliest, if not as much likelier on one input as they can be."""
APART = (8, 32)
"""Where other runs show the same outputs: how far apart values begin, in these units, with inputs that move
by ``BEYOND`` times that."""
BEYOND = 1.5
ESCALATIONS = 6
"""How often the number of rounds is raised."""
CLOSE = (Fraction(1), Fraction(1, 4), Fraction(1, 16))
"""Where one of the inputs makes the run impossible: how close values begin."""


@dataclass
class WideSearch:
    """A witness whose cost grows with its rounds, and the pairs of inputs that are tried, which differ by
    numbers ``between`` two."""

    automaton: Automaton
    witness: Witness
    exceeds: Fraction
    evaluation: rays.WideEvaluation
    between: Interval
    limits: Limits
    rise: growth.Growth = field(init=False)
    best: tuple[Refutation, Fraction, Fraction] | None = None
    """The best so far, with how far apart its values begin and how far inputs are moved."""
    missing: str = ""

    def solve(self) -> Refutation:
        """The first pair that is large enough, else the best one, which then says what is missing."""
        run, cycles = self.witness.run, self.witness.cycles
        self.rise = growth.growth(
            self.automaton, run, cycles, *self.between, self.evaluation.limits, self.witness.letters
        )
        if self.rise.grows is None:
            raise NoRefutation(f"it was not shown that more rounds cost more: {self.rise.reason}")
        try:
            found = any(self._try(*attempt) for attempt in self._attempts())
        except OutOfTime:
            found, self.missing = False, "the time was over"
        if self.best is None:
            raise NoRefutation(f"no pair of inputs could be evaluated: {self.missing or 'none was found'}")
        best = self.best[0]
        return best if found else replace(best, missing=self.missing or "the ratios found are too small")

    @property
    def _period(self) -> int:
        return len(self.rise.deltas)

    def _attempts(self) -> Iterator[tuple[int, Fraction, Fraction]]:
        """Rounds, how far apart values begin, how far inputs are moved."""
        if self.rise.grows == "infinite":
            costs = self.rise.costs
            rounds = self._period * (costs.index(None) + 1 if None in costs else growth.ROUNDS)
            for close in CLOSE:
                found = self._ray(rounds, close)
                if found is not None and (edge := found.edge()) is not None:
                    yield rounds, close, Fraction(edge)
            return
        rounds = self._rounds()
        alone = self.evaluation.alone(self._steps(rounds))
        for _ in range(ESCALATIONS):
            unit = max(Fraction(1), self.evaluation.unit(self._steps(rounds)))
            if alone:
                tries = [(unit, unit * far) for far in DISTANCES]
            else:
                tries = [(unit * far, unit * far * Fraction(BEYOND)) for far in APART]
                tries.append((unit, unit * DISTANCES[1]))
            for apart, tau in tries:
                yield rounds, apart, Fraction(round(tau))
                if self._saturated(rounds):
                    break
            rounds += self._period * ceil(Fraction(rounds, 4 * self._period))
            if len(self._steps(rounds)) > MOST_STEPS:
                self.missing = f"more than {MOST_STEPS} steps would be needed"
                return

    def _saturated(self, rounds: int) -> bool:
        """Whether a larger distance would not help the best pair."""
        if self.best is None or self.best[0].rounds != rounds:
            return False
        best = self.best[0]
        return best.limit is not None and best.log_ratio >= SATURATED * float(best.limit * best.eps)

    def _steps(self, rounds: int) -> tuple[int, ...]:
        places = system.repeated(self.witness.run, self.witness.cycles, rounds)
        return tuple(self.witness.run[at] for at, _ in places)

    def _cost(self, rounds: int) -> Fraction | None:
        deltas = self.rise.differences(self.witness.run, self.witness.cycles, rounds)
        return shifts.cost(system.unrolled(self.automaton, self._steps(rounds)), deltas)

    def _rounds(self) -> int:
        """The least number of rounds that costs more than what is to be refuted, with some margin."""
        wanted, period = MARGIN * self.exceeds, self._period
        low, high = 0, 1
        for high in (1 << k for k in count()):
            self.limits.check(f"the costs of {counted(high * period, 'round')}")
            if len(self._steps(high * period)) > MOST_STEPS:
                raise NoRefutation(f"more than {MOST_STEPS} steps would be needed")
            least = self._cost(high * period)
            if least is None or least > wanted:
                break
            low = high
        while high - low > 1:
            middle = (low + high) // 2
            least = self._cost(middle * period)
            low, high = (low, middle) if least is None or least > wanted else (middle, high)
        return high * period

    def _try(self, rounds: int, apart: Fraction, tau: Fraction) -> bool:
        """Whether this pair refutes; the best is kept."""
        self.limits.check(f"{counted(rounds, 'round')}, inputs moved by {float(tau):g}")
        try:
            now = self._evaluated(rounds, apart, tau)
        except OutOfTime:
            raise
        except (LimitReached, ProbabilityRefused) as reason:
            self.missing = str(reason)
            return False
        if now is None:
            self.missing = "no inputs were found on which the run has a positive probability"
            return False
        best = self.best and self.best[0]
        if best is None or (now.holds, now.log_ratio) > (best.holds, best.log_ratio):
            self.best = now, apart, tau
        if not now.all_runs and now.log_ratio - now.error > self.exceeds * now.eps:
            self.missing = "other runs show the same outputs"
        return now.holds

    def _ray(self, rounds: int, apart: Fraction) -> rays.Ray | None:
        deltas = self.rise.differences(self.witness.run, self.witness.cycles, rounds)
        return rays.ray(self.automaton, self._steps(rounds), deltas, apart)

    def _evaluated(self, rounds: int, apart: Fraction, tau: Fraction) -> Refutation | None:
        run, ray = self._steps(rounds), self._ray(rounds, apart)
        if ray is None:
            return None
        pair = ray.pair(tau)
        if not are_adjacent(self.automaton, pair.differences):
            raise NoRefutation("the inputs that were made are not adjacent")
        first, second, all_runs = self.evaluation.of(pair)
        if first.value == -inf:
            return None
        limit = shifts.cost(ray.system, ray.deltas)
        found = Refutation(
            self.automaton,
            self.witness,
            self.evaluation.eps,
            self.exceeds,
            run,
            rounds,
            pair.alpha,
            pair.beta,
            pair.outputs,
            first.value,
            second.value,
            first.error,
            second.error,
            all_runs,
            limit,
            max(first.method, second.method, key=len),
            () if not all_runs or self.evaluation.alone(run) else self.evaluation.further(pair),
        )
        if limit is not None and self.evaluation.alone(run):
            most = float(limit * self.evaluation.eps) * (1 + 1e-12)
            if found.log_ratio - found.error > most:
                raise ProbabilityRefused(
                    f"computed a log-ratio of {found.log_ratio}, above {limit}*eps, which cannot be"
                )
        return found

    def growth(self) -> tuple[Growth, ...]:
        """The ratio for fewer rounds, as far as the time allows."""
        assert self.best is not None
        last, apart, tau = self.best
        eps, table = float(last.eps), []
        period = self._period
        for rounds in (period << k for k in range(last.rounds.bit_length()) if period << k < last.rounds):
            try:
                one = self._evaluated(rounds, apart, tau)
            except OutOfTime:
                break
            except (LimitReached, ProbabilityRefused):
                continue
            if one is not None and one.all_runs == last.all_runs:
                table.append(Growth(rounds, one.log_ratio / eps, one.error / eps))
        return (*table, Growth(last.rounds, last.log_ratio / eps, last.error / eps))
