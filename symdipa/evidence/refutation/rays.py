"""Pairs of inputs along a ray, for automata of the wider model (Thm. B).

On the inputs ``x0`` the run has a positive probability. ``alpha`` is ``x0 - tau*Delta`` and ``beta`` is
``alpha - Delta``: as ``tau`` grows, the log-ratio per ``eps`` of the run, with the numbers that it shows in
fixed small windows, tends to its cost for the differences ``Delta``.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from math import floor, inf, log2

from symdipa.bounds.exact.flow import Flow
from symdipa.evidence.probability import (
    LogProbability,
    ProbabilityRefused,
    TotalLogProbability,
    Window,
    log_probability,
    total_log_probability,
)
from symdipa.evidence.probability.linear.events import (
    Asked,
    Item,
    Observed,
    is_seen,
    matching_runs,
    problem_of_run,
    windows_of,
)
from symdipa.evidence.probability.linear.lattice import possible
from symdipa.evidence.refutation.adjacent import after, ranges_of, worst_allowed
from symdipa.evidence.refutation.inputs import InputPair
from symdipa.model.adjacency import TWO_SIDED
from symdipa.model.adjacency.letters import EQUAL
from symdipa.model.automaton import Automaton, Noise, Output, validated
from symdipa.model.errors import LimitReached, OutOfTime
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.numbers.possible import feasible, solution
from symdipa.runs.numbers.shifts import cost, largest
from symdipa.runs.numbers.system import Sample, Shown, Span, System, Value, repeated, unrolled

CLOSER = tuple(Fraction(1, 4**k) for k in range(8))
"""How far apart values lie at least on the inputs of a ray, in units of what is asked for: the first of these
that is possible."""
FINER = 4
"""Numbers of a ray are multiples of that over this, and so far do windows reach to both sides."""
FARTHEST = 1 << 20
"""The end of a search along a ray for where a run becomes impossible."""
MOST_RUNS = 64
"""The most runs with the same outputs whose probabilities are added."""
ROUGHER = 1e-3
"""The error that is accepted where less cannot be had."""


def along_rays(automaton: Automaton) -> bool:
    """Whether pairs of inputs for a (valid) automaton are looked for here, and not by signs."""
    ours = validated(automaton).is_plain and not automaton.unseen
    return not ours or automaton.integer or automaton.adjacency != TWO_SIDED


@dataclass(frozen=True)
class Ray:
    """A run with ``deltas``, one for each step, the values ``centre`` of its samples, how near to them shown
    numbers have to lie, and where the ray starts: inputs with which samples lie around their centres."""

    automaton: Automaton
    run: tuple[int, ...]
    deltas: tuple[Fraction, ...]
    system: System
    centre: tuple[Fraction, ...]
    near: Fraction
    start: tuple[Fraction | None, ...]

    def pair(self, tau: Fraction | int) -> InputPair:
        """The two inputs at a distance, and the event."""
        moved = list(zip(self.start, self.deltas, strict=True))
        alpha = [None if x is None else x - tau * d for x, d in moved]
        beta = [None if x is None else x - (tau + 1) * d for x, d in moved]
        shown: list[list[Window]] = [[] for _ in self.run]
        for one in self.system.shown:
            if (sample := self._only_shown(one)) is not None:
                mean = sample.mean + sample.sum_of([x or Fraction(0) for x in alpha])
                window = _beyond(sample, mean, sample.sum_of(self.deltas), self.near)
            else:
                centre = self._value(one.value) - (self._value(one.subtrahend) if one.subtrahend else 0)
                window = float(centre - self.near), float(centre + self.near)
            shown[one.step].append(window)
        outputs: list[Asked] = [
            None if not windows else windows[0] if len(windows) == 1 else tuple(windows) for windows in shown
        ]
        return InputPair(self.run, tuple(alpha), tuple(beta), tuple(outputs))

    def edge(self) -> int | None:
        """How far inputs can be moved so that the run is possible on the first and not on the second.

        ``None``: that was not found. Inputs on which a run is possible have no gaps between them.
        """

        def ends(tau: int) -> bool:
            pair = self.pair(tau)
            return not self._possible(pair.beta, pair.outputs)

        low, high = -1, 0
        while not ends(high):
            low, high = high, 2 * high + 1
            if high > FARTHEST:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if ends(middle) else (middle, high)
        return high

    def _possible(self, inputs: Sequence[Fraction | None], outputs: Sequence[Asked]) -> bool:
        problem = problem_of_run(self.automaton, self.run, inputs, outputs)
        return problem is not None and possible(problem)

    def _only_shown(self, one: Shown) -> Sample | None:
        """The sample that is shown, if nothing else is asked of it."""
        i = one.value.sample
        if i is None or one.subtrahend is not None or self._uses[i] > 1:
            return None
        return self.system.samples[i]

    @cached_property
    def _uses(self) -> Counter[int | None]:
        """How often each sample is compared or shown."""
        compared = [value.sample for c in self.system.comparisons for value in (c.low, c.high)]
        shown = [v.sample for one in self.system.shown for v in (one.value, one.subtrahend) if v is not None]
        return Counter(compared + shown)

    def _value(self, value: Value) -> Fraction:
        own = Fraction(0) if value.sample is None else self.centre[value.sample]
        return value.sign * own + value.offset


def _beyond(sample: Sample, mean: Fraction, delta: Fraction, near: Fraction) -> Window:
    """Where a sample is as much likelier on ``alpha`` as it can be, of which no more is known."""
    if not delta:
        return -inf, inf
    edge = float(mean)
    if sample.noise is Noise.LAPLACE:
        return (edge, inf) if delta > 0 else (-inf, edge)
    if sample.noise is Noise.EXPONENTIAL and delta > 0:
        return edge, inf
    return edge, edge + float(near)


def ray(
    automaton: Automaton, run: Sequence[int], deltas: Sequence[Fraction], apart: Fraction = Fraction(1)
) -> Ray | None:
    """A ray for a run; ``None`` where no inputs are found on which the run has a positive probability.

    On these the values that are compared lie about ``apart`` from each other, or at least a power of 2 below
    it, if that is possible.
    """
    system = unrolled(automaton, run)
    most = Fraction(2) ** floor(log2(apart))
    for part in (*CLOSER, Fraction(0)) if automaton.integer else CLOSER:
        found = solution(system, most * part)
        if found is not None:
            grid = Fraction(1) if automaton.integer else most * part / FINER
            centre = tuple(
                x if s.noise is Noise.NONE and not s.reads_input else round(x / grid) * grid
                for s, x in zip(system.samples, found, strict=True)
            )
            near = Fraction(0) if automaton.integer else grid
            start = _start(system, centre, near)
            if start is not None:
                return Ray(automaton, tuple(run), tuple(deltas), system, centre, near, start)
    return None


STRICTEST = (Noise.NONE, Noise.EXPONENTIAL, Noise.LAPLACE)
"""Samples with such noise are put around their centres first: the first have to be there, the last need not.
"""


def _start(system: System, centre: Sequence[Fraction], near: Fraction) -> tuple[Fraction | None, ...] | None:
    """Inputs with which samples lie around their centres, those with much noise as far as sums allow it.

    ``None``: for samples without noise, or exponential ones, there are none.
    """
    wanted = [
        (STRICTEST.index(sample.noise), dict(sample.entries), value - sample.mean)
        for sample, value in zip(system.samples, centre, strict=True)
        if sample.entries and not sample.second
    ]
    entries = _Entries(len(system.reads))
    for kind, factors, value in sorted(wanted, key=lambda one: one[0]):
        exponential = STRICTEST[kind] is Noise.EXPONENTIAL
        missed = entries.ask(factors, value - near if exponential else value)
        if missed and (STRICTEST[kind] is Noise.NONE or (exponential and missed + near < 0)):
            return None
    found = entries.solved()
    if system.integer:
        found = [Fraction(round(x)) for x in found]
    return tuple(x if reads else None for x, reads in zip(found, system.reads, strict=True))


class _Entries:
    """Equations about entries. Each has a pivot, an entry that no later equation has, with the factor 1."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.rows: dict[int, tuple[dict[int, Fraction], Fraction]] = {}

    def ask(self, factors: dict[int, Fraction], value: Fraction) -> Fraction:
        """Ask that a sum of entries has a value; by how much it falls short, if earlier equations say so."""
        for pivot, (known, right) in self.rows.items():
            factor = factors.get(pivot)
            if factor:
                value -= factor * right
                for k, part in known.items():
                    factors[k] = factors.get(k, Fraction(0)) - factor * part
        left = {k: part for k, part in factors.items() if part}
        if not left:
            return value
        pivot = max(left)
        self.rows[pivot] = {k: part / left[pivot] for k, part in left.items()}, value / left[pivot]
        return Fraction(0)

    def solved(self) -> list[Fraction]:
        """Entries for which all equations hold, 0 where they leave a choice."""
        found = [Fraction(0)] * self.count
        for pivot, (known, right) in reversed(self.rows.items()):
            found[pivot] = right - sum(part * found[k] for k, part in known.items() if k != pivot)
        return found


@dataclass(frozen=True, eq=False)
class WideEvaluation:
    """How probabilities are computed; those of all runs with the outputs are added, if they are few."""

    automaton: Automaton
    eps: Fraction
    tolerance: float
    limits: Limits = UNLIMITED

    @property
    def grid(self) -> int:
        """Inputs that are tried are multiples of one over this."""
        return 1 if self.automaton.integer else 4

    def unit(self, run: Sequence[int]) -> Fraction:
        """The largest noise scale of the samples of a run (1/eps if none has any)."""
        scales = [d for s in unrolled(self.automaton, run).samples if (d := s.d)]
        return 1 / (min(scales, default=Fraction(1)) * self.eps)

    def alone(self, run: Sequence[int]) -> bool:
        """Whether control states alone tell that no other run shows what this one does."""
        anything: Window = (-inf, inf)
        states = [self.automaton.state(self.automaton.transitions[t].source) for t in run]
        seen: list[Observed] = []
        for output in shown_on(self.automaton, run):
            items = tuple(part.symbol if part.symbol is not None else anything for part in output.parts)
            seen.append(items[0] if len(items) == 1 else items)
        given = [Fraction(0)] * sum(state.is_input for state in states) + [Fraction(0)] * len(run)
        found = matching_runs(self.automaton, given, seen, False, self.limits, self.automaton.unseen)
        return all(other == tuple(run) for other in islice(found, 2))

    def further(self, pair: InputPair) -> tuple[Fraction, ...]:
        """Entries with which both inputs of a pair can go on, as many as other runs may read."""
        differ, count = self.automaton.differ, 0
        state = after(differ, pair.differences)
        while state is not None and count < len(pair.further):
            state, count = differ.after(state, EQUAL), count + 1
        return pair.further[: count if state is not None else count - 1]

    def of(self, pair: InputPair) -> tuple[LogProbability, LogProbability, bool]:
        """The probabilities of the event on both inputs, and whether all runs are in them."""
        try:
            return self._of(pair, self.tolerance)
        except OutOfTime:
            raise
        except (LimitReached, ProbabilityRefused):
            return self._of(pair, max(self.tolerance, ROUGHER))

    def _of(self, pair: InputPair, tolerance: float) -> tuple[LogProbability, LogProbability, bool]:
        with suppress(ProbabilityRefused, LimitReached):
            first, second = (self._total(pair, inputs, tolerance) for inputs in (pair.alpha, pair.beta))
            if first.complete and second.complete:
                return first, second, True
        self.limits.check("the probabilities of a pair of inputs")
        one, other = (
            log_probability(
                self.automaton, pair.run, inputs, pair.outputs, self.eps, tolerance, limits=self.limits
            )
            for inputs in (pair.alpha, pair.beta)
        )
        return one, other, False

    def _total(
        self, pair: InputPair, inputs: Sequence[Fraction | None], tolerance: float
    ) -> TotalLogProbability:
        return total_log_probability(
            self.automaton,
            [*(given for given in inputs if given is not None), *self.further(pair)],
            observed(self.automaton, pair.run, pair.outputs),
            self.eps,
            tolerance,
            max_runs=MOST_RUNS,
            limits=self.limits,
            unseen=self.automaton.unseen,
        )


def shown_on(automaton: Automaton, run: Sequence[int]) -> list[Output]:
    """The outputs on a run that are seen."""
    outputs = (automaton.transitions[t].output for t in run)
    return [output for output in outputs if is_seen(output, automaton.unseen)]


def observed(automaton: Automaton, run: Sequence[int], outputs: Sequence[Asked]) -> list[Observed]:
    """The event of a run as an observer states it: symbols, and intervals for numbers."""
    seen: list[Observed] = []
    for t, asked in zip(run, outputs, strict=True):
        output = automaton.transitions[t].output
        if not is_seen(output, automaton.unseen):
            continue
        windows = iter(windows_of(asked, output))
        items: list[Item] = [
            part.symbol if part.symbol is not None else next(windows) or (-inf, inf) for part in output.parts
        ]
        seen.append(items[0] if len(items) == 1 else tuple(items))
    return seen


# -------------------------------------------------------------------------------------------- candidate runs

TIMES = (1, 2, 4, 8, 16, 32)
"""How often the loops of a candidate run are taken, as long as that costs more, and once more."""

Candidate = tuple[Fraction, tuple[int, ...], tuple[Fraction, ...]]
"""A run with differences, behind what they cost."""


def candidates(
    automaton: Automaton, flow: Flow | None, longest: int, count: int, best: int, limits: Limits = UNLIMITED
) -> Iterator[Candidate]:
    """Runs with differences that cost much: that of a bound from below, then the best of short runs, each
    with its loops repeated."""
    if flow is not None:
        value = Fraction(-1)
        for times in TIMES:
            limits.check("the costs of a run")
            places = [at for at, _ in repeated(flow.run, flow.loops, times)]
            run, deltas = tuple(flow.run[at] for at in places), tuple(flow.deltas[at] for at in places)
            system = unrolled(automaton, run)
            found = cost(system, deltas) if feasible(system) else None
            if found is None or found < value:
                break
            yield found, run, deltas
            if found == value or not flow.loops:
                break
            value = found
        if value == flow.value:
            return
    ranked: list[Candidate] = []
    for run in short_runs(automaton, longest, count, limits):
        most = worst_allowed(automaton, unrolled(automaton, run), limits)
        if most is not None and most.value is not None:
            ranked.append((most.value, run, most.deltas))
    ranked.sort(key=lambda one: (-one[0], len(one[1]), one[1]))
    yield from ranked[:best]
    for before, run, _ in ranked[: 3 * best]:
        loops = loops_of(automaton, run)
        for times in TIMES[1:] if loops else ():
            one = _repeated(automaton, run, loops, times, limits)
            if one is None or one[0] < before:
                break
            yield one
            if one[0] == before:
                break
            before = one[0]


def _repeated(
    automaton: Automaton, run: tuple[int, ...], loops: Sequence[Span], times: int, limits: Limits
) -> Candidate | None:
    """A run with its loops repeated, and the differences that cost most: the same in every second round."""
    places = repeated(run, loops, times)
    longer = tuple(run[at] for at, _ in places)
    system = unrolled(automaton, longer)
    if not feasible(system):
        return None
    if not automaton.differ.is_all:
        most = worst_allowed(automaton, system, limits)
        return None if most is None or most.value is None else (most.value, longer, most.deltas)
    inside = [any(i <= at < j for i, j in loops) for at in range(len(run))]
    keys = [(at, turn % 2 if inside[at] else 0) for at, turn in places]
    inputs = sorted({key for key, reads in zip(keys, system.reads, strict=True) if reads})

    def placed(choice: Sequence[Fraction]) -> tuple[Fraction, ...]:
        table = dict(zip(inputs, choice, strict=True))
        return tuple(table.get(key, Fraction(0)) for key in keys)

    def of(choice: Sequence[Fraction]) -> Fraction | None:
        limits.check("the differences that cost most")
        return cost(system, placed(choice))

    choices = [largest(of, [(high, low)] * len(inputs))[0] for low, high in ranges_of(automaton)]
    known = [(value, longer, placed(choice)) for choice in choices if (value := of(choice)) is not None]
    return max(known, key=lambda one: one[0], default=None)


def short_runs(
    automaton: Automaton, longest: int, count: int, limits: Limits = UNLIMITED
) -> Iterator[tuple[int, ...]]:
    """The first feasible runs by their lengths."""
    work: deque[tuple[tuple[int, ...], int]] = deque([((), automaton.index[automaton.initial])])
    while work and count:
        limits.check("short runs")
        run, q = work.popleft()
        for t in automaton.outgoing[q]:
            longer = (*run, t)
            if count and feasible(unrolled(automaton, longer)):
                count -= 1
                yield longer
                if len(longer) < longest:
                    work.append((longer, automaton.index[automaton.transitions[t].target]))


def loops_of(automaton: Automaton, run: Sequence[int]) -> list[Span]:
    """Disjoint parts of a run that lead back to where they began, the shortest at each place."""
    found: list[Span] = []
    for i in range(len(run)):
        for j in range(i + 1, len(run) + 1):
            source, target = automaton.transitions[run[i]].source, automaton.transitions[run[j - 1]].target
            if source == target and (not found or i >= found[-1][1]):
                found.append((i, j))
                break
    return found
