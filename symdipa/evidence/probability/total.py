"""The probability of an output sequence, whatever run produces it.

An observer sees outputs, not which steps read an input. Either the runs with these outputs are few and are
added up one by one; or the distribution of the stored values is carried along the outputs, one table for each
control state and number of inputs read, which works while at most two values are alive.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import exp, inf

import numpy as np

from symdipa.evidence.probability.grid import Grid
from symdipa.evidence.probability.laplace import Array, log_interval
from symdipa.evidence.probability.linear import events
from symdipa.evidence.probability.linear.events import (
    Asked,
    Item,
    Observed,
    intervals_of,
    is_wide,
    items_of,
    matching_runs,
)
from symdipa.evidence.probability.pairs import Allowance, Joint, Plane, Sample, drop, place
from symdipa.evidence.probability.poset import (
    Law,
    Number,
    Poset,
    Window,
    check_numbers,
    law_of,
    plain_control,
    poset_of,
)
from symdipa.evidence.probability.single import (
    Budget,
    LogProbability,
    kinks_of,
    log_add,
    log_probability_of,
    log_probability_of_problem,
    refine,
    tail_length,
)
from symdipa.model.automaton import Automaton
from symdipa.model.errors import LimitReached, OutOfTime
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.spelling import no_such
from symdipa.runs.control import Control
from symdipa.runs.order import OrderState, initial, members, update

FEW_RUNS = 8
"""The most runs that are added up one by one where tables could do it."""
MAX_RUNS = 2_000
"""The most runs that are added up."""


@dataclass(frozen=True, slots=True)
class TotalLogProbability(LogProbability):
    """The logarithm of the probability of an output sequence.

    ``runs`` is the number of runs added up, ``None`` when tables cover all of them at once. ``complete``
    is ``False`` when there are more runs than were added up: the value is a lower bound then.
    """

    runs: int | None = None
    complete: bool = True


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """A run that can produce an output sequence, with what :func:`log_probability` wants to know."""

    run: tuple[int, ...]
    inputs: tuple[Number | None, ...]
    outputs: tuple[Window | None, ...]


def total_log_probability(
    automaton: Automaton,
    inputs: Sequence[Number],
    outputs: Sequence[Observed],
    eps: Number = 1,
    tolerance: float = 1e-6,
    budget: Budget | None = None,
    max_runs: int = MAX_RUNS,
    exact: bool = False,
    limits: Limits = UNLIMITED,
    unseen: Container[str] = (),
) -> TotalLogProbability:
    """The logarithm of the probability that the first outputs are ``outputs`` when ``inputs`` are read.

    ``inputs`` are the numbers that input states read one after another; ``outputs`` has a symbol for each
    step, or an interval for a real output (of any kind), or a tuple of these for a list. A step that finds
    no input left does not happen. With ``exact`` only runs that read *all* inputs count, otherwise some may
    be left over. Steps whose output is one of the symbols ``unseen`` are not among the outputs, and may come
    between them (in the wider model only). Raises :class:`OutOfTime` when the time of ``limits`` is over,
    ``ValueError`` for a symbol that is never output.
    """
    wide = is_wide(automaton)
    check_numbers(inputs, eps)
    _check_outputs(automaton, outputs)
    if wide:
        budget = budget or Budget()
        return _added_wide(
            automaton, inputs, outputs, eps, tolerance, budget, max_runs, exact, limits, unseen
        )
    seen = [items_of(output) for output in outputs]
    if any(len(items) != 1 for items in seen):
        raise ValueError("the automaton shows one thing at each step")
    control, one = plain_control(automaton), [items[0] for items in seen]
    return total_of(control, inputs, one, eps, tolerance, budget or Budget(), max_runs, exact, limits)


def _added_wide(
    automaton: Automaton,
    inputs: Sequence[Number],
    outputs: Sequence[Observed],
    eps: Number,
    tolerance: float,
    budget: Budget,
    max_runs: int,
    exact: bool,
    limits: Limits,
    unseen: Container[str],
) -> TotalLogProbability:
    """The runs of an automaton of the wider model with the outputs, added up one by one."""
    windows: list[Asked] = [intervals_of(output) or None for output in outputs]
    known: dict[tuple[int, ...], LogProbability] = {}
    complete = True
    for run in matching_runs(automaton, inputs, outputs, exact, limits, unseen):
        if len(known) == max_runs:
            complete = False
            break
        stream = iter(inputs)
        states = [automaton.state(automaton.transitions[t].source) for t in run]
        read = [next(stream) if state.is_input else None for state in states]
        asked = events.aligned(automaton, run, windows, unseen)
        problem = events.problem_of_run(automaton, run, read, asked, eps)
        known[run] = log_probability_of_problem(problem, tolerance, budget, limits)
    results = list(known.values())
    value = reduce(log_add, (result.value for result in results), -inf)
    error = sum(r.error * exp(r.value - value) for r in results if r.value > -inf)
    method = "sum of runs" if len(results) != 1 else results[0].method
    nodes = max((r.nodes for r in results), default=0)
    return TotalLogProbability(value, error, method, nodes, len(results), complete)


def _check_outputs(automaton: Automaton, outputs: Sequence[Observed]) -> None:
    """Refuse symbols that the automaton does not have: their probability would be 0 without a word."""
    if isinstance(outputs, str):
        raise TypeError("outputs are a list with a symbol or an interval for each step, not a text")
    known = sorted(
        {part.symbol for t in automaton.transitions for part in t.output.parts if part.symbol is not None}
    )
    for output in outputs:
        for item in items_of(output):
            if isinstance(item, str) and item not in known:
                raise ValueError(no_such("output", item, known))


def total_of(
    control: Control,
    inputs: Sequence[Number],
    outputs: Sequence[Item],
    eps: Number,
    tolerance: float,
    budget: Budget,
    max_runs: int = MAX_RUNS,
    exact: bool = False,
    limits: Limits = UNLIMITED,
) -> TotalLogProbability:
    """As :func:`total_log_probability`, for a control graph."""
    search = MatchingRuns(control, tuple(inputs), tuple(outputs), exact, limits)
    first = search.some(FEW_RUNS + 1)
    if len(first) > FEW_RUNS:
        try:
            return _Filter(search, eps, budget).solve(tolerance)
        except OutOfTime:
            raise
        except LimitReached:
            first = search.some(max_runs + 1)
    return _added(control, first, eps, tolerance, budget, max_runs, limits)


def _added(
    control: Control,
    found: Sequence[ObservedRun],
    eps: Number,
    tolerance: float,
    budget: Budget,
    max_runs: int,
    limits: Limits,
) -> TotalLogProbability:
    known: dict[Poset, LogProbability] = {}
    complete = len(found) <= max_runs
    results = []
    for one in found[:max_runs]:
        limits.check("the probability of one run after another")
        poset = poset_of(control, one.run, one.inputs, one.outputs, eps)
        if poset not in known:
            known[poset] = log_probability_of(poset, tolerance, budget, limits)
        results.append(known[poset])
    value = reduce(log_add, (result.value for result in results), -inf)
    error = sum(r.error * exp(r.value - value) for r in results if r.value > -inf)
    method = "sum of runs" if len(results) != 1 else results[0].method
    nodes = max((r.nodes for r in results), default=0)
    return TotalLogProbability(value, error, method, nodes, len(results), complete)


@dataclass(frozen=True)
class MatchingRuns:
    """Runs along an output sequence."""

    control: Control
    inputs: tuple[Number, ...]
    outputs: tuple[Item, ...]
    exact: bool
    limits: Limits

    def matching(self, state: int, step: int, read: int) -> Iterator[int]:
        """The transitions from a state that can show the output of a step."""
        asked = self.outputs[step]
        for t in self.control.outgoing[state]:
            sampling = self.control.sampling[t]
            output = sampling.output
            fits = output.symbol == asked if isinstance(asked, str) else output.is_real
            if fits and not (sampling.reads_input and read >= len(self.inputs)):
                yield t

    def after(self, t: int, read: int) -> int:
        """How many inputs were read after a transition."""
        return read + self.control.sampling[t].reads_input

    def some(self, limit: int) -> list[ObservedRun]:
        """The feasible runs with the outputs, not more than ``limit`` of them."""
        control = self.control
        found: list[ObservedRun] = []
        work: list[tuple[tuple[int, ...], int, int, OrderState]] = []
        work.append(((), control.initial, 0, initial(control.variables)))
        while work and len(found) < limit:
            self.limits.check("the runs with the outputs")
            run, q, read, order = work.pop()
            if len(run) == len(self.outputs):
                found.append(self._observed(run))
                continue
            for t in reversed(list(self.matching(q, len(run), read))):
                p, after = control.target[t], self.after(t, read)
                if (len(run) + 1, p, after) not in self.useful:
                    continue
                following = update(order, control.steps[t], control.live[p])
                if following is not None:
                    work.append(((*run, t), p, after, following))
        return found

    @cached_property
    def useful(self) -> set[tuple[int, int, int]]:
        """Step, state and inputs read from which the control graph leads to the end."""
        control = self.control
        layers = [{(control.initial, 0)}]
        for step in range(len(self.outputs)):
            self.limits.check("the states from which the outputs can follow")
            layers.append(
                {
                    (control.target[t], self.after(t, read))
                    for q, read in layers[-1]
                    for t in self.matching(q, step, read)
                }
            )
        last = {(q, read) for q, read in layers[-1] if not self.exact or read == len(self.inputs)}
        result = {(len(self.outputs), q, read) for q, read in last}
        for step in reversed(range(len(self.outputs))):
            self.limits.check("the states from which the outputs can follow")
            for q, read in layers[step]:
                if any(
                    (step + 1, control.target[t], self.after(t, read)) in result
                    for t in self.matching(q, step, read)
                ):
                    result.add((step, q, read))
        return result

    def _observed(self, run: tuple[int, ...]) -> ObservedRun:
        inputs: list[Number | None] = []
        outputs: list[Window | None] = []
        stream = iter(self.inputs)
        for t, asked in zip(run, self.outputs, strict=True):
            inputs.append(next(stream) if self.control.sampling[t].reads_input else None)
            outputs.append(None if isinstance(asked, str) else asked)
        return ObservedRun(run, tuple(inputs), tuple(outputs))


Classes = tuple[tuple[int, ...], ...]
Situation = tuple[int, int, Classes]
"""A control state, how many inputs were read, and which live variables hold the same value."""


@dataclass
class _Filter:
    """The joint distribution of control state and live values, carried along the outputs."""

    search: MatchingRuns
    eps: Number
    budget: Budget

    def solve(self, tolerance: float) -> TotalLogProbability:
        self.control = self.search.control
        self.allowance = Allowance(self.budget.pairs, self.search.limits)
        laws = self._laws()
        if not laws:
            value = self._attempt(Grid(np.array([-1.0, 1.0]), 4))
            return TotalLogProbability(value, 1e-14 * len(self.search.outputs), "closed form", 0, None)
        value, error, nodes = refine(
            self._attempt,
            kinks_of(laws),
            self._slope,
            tail_length(laws),
            tolerance,
            self.budget,
            self.search.limits,
            degree=len(self.search.outputs),
        )
        if value == -inf:
            return TotalLogProbability(value, 0.0, "infeasible", nodes, None)
        error += 1e-15 * len(self.search.outputs) * (1 + abs(value))
        return TotalLogProbability(value, error, "forward tables", nodes, None)

    def _laws(self) -> list[Law]:
        """The laws of all samples that may matter; remembers per step how fast they can change tables."""
        found: dict[Law, None] = {}
        self.rates = 0.0
        for step in range(len(self.search.outputs)):
            self.search.limits.check("the samples that matter")
            rates = [0.0]
            for at, q, read in self.search.useful:
                if at != step:
                    continue
                for t in self.search.matching(q, step, read):
                    law = self._law(t, step, read)
                    if law is not None:
                        found.setdefault(law)
                        rates.append(law.rate)
            self.rates += max(rates)
        self.least = min((law.rate for law in found), default=1.0)
        return list(found)

    def _slope(self, x: Array, about: float | None) -> Array:
        return np.full_like(x, self.rates + self.least)

    def _window(self, step: int) -> Window:
        asked = self.search.outputs[step]
        return (-inf, inf) if isinstance(asked, str) else (float(asked[0]), float(asked[1]))

    def _input(self, t: int, read: int) -> Number | None:
        return self.search.inputs[read] if self.control.sampling[t].reads_input else None

    def _law(self, t: int, step: int, read: int) -> Law | None:
        """The law of the sample of a step, ``None`` if its value does not matter."""
        window = self._window(step)
        if not self.control.sampling[t].shows_sample:
            window = (-inf, inf)
        stored = self.control.steps[t].asg & self.control.live[self.control.target[t]]
        if not stored and not self.control.steps[t].used and window == (-inf, inf):
            return None
        return law_of(self.control.sampling[t], self._input(t, read), self.eps, window)

    def _second(self, t: int, step: int, read: int) -> float:
        """The logarithm of the probability of an ``insample'`` output."""
        window = self._window(step)
        sampling = self.control.sampling[t]
        if not sampling.shows_second or window == (-inf, inf):
            return 0.0
        law = law_of(sampling, self._input(t, read), self.eps, window, second=True)
        return float(log_interval(law.rate, law.mean, law.low, law.high))

    def _attempt(self, grid: Grid) -> float:
        plane = Plane(grid, self.allowance)
        now: dict[Situation, Joint] = {(self.control.initial, 0, ()): Joint()}
        for step in range(len(self.search.outputs)):
            following: dict[Situation, Joint] = {}
            for (q, read, classes), state in now.items():
                self.search.limits.check("tables along the outputs")
                for t in self.search.matching(q, step, read):
                    after = self.search.after(t, read)
                    if (step + 1, self.control.target[t], after) not in self.search.useful:
                        continue
                    moved = self._moved(plane, t, step, read, classes, state)
                    if moved is not None:
                        kept, grown = moved
                        target = (self.control.target[t], after, kept)
                        following[target] = _sum(following[target], grown) if target in following else grown
            now = following
        value = -inf
        for state in now.values():
            while state.live:
                state = drop(plane, state, state.live[0])
            value = log_add(value, state.number)
        return value

    def _moved(
        self, plane: Plane, t: int, step: int, read: int, classes: Classes, state: Joint
    ) -> tuple[Classes, Joint] | None:
        """The live variables and the table after a transition; ``None`` if it contradicts itself."""
        moves, live = self.control.steps[t], self.control.live[self.control.target[t]]
        owner = {x: group[0] for group in classes for x in group}
        under = frozenset(owner[x] for x in members(moves.ge))
        over = frozenset(owner[x] for x in members(moves.lt))
        if under & over:
            return None
        names: dict[int, int] = {}
        kept: list[tuple[int, ...]] = []
        for group in classes:
            left = tuple(x for x in group if live >> x & 1 and not moves.asg >> x & 1)
            if left:
                names[group[0]] = left[0]
                kept.append(left)
        dying = frozenset(group[0] for group in classes) - names.keys()
        stored = tuple(members(moves.asg & live))
        if stored:
            names[-1] = stored[0]
            kept.append(stored)
        law = self._law(t, step, read)
        if law is None:
            for x in sorted(dying):
                state = drop(plane, state, x)
        else:
            state = place(plane, state, Sample(-1, law, None, under, over), bool(stored), dying)
        return tuple(sorted(kept)), _renamed(state, names, self._second(t, step, read))


def _renamed(state: Joint, names: dict[int, int], factor: float) -> Joint:
    """The table with other names for its values, multiplied by a constant."""
    live = tuple(sorted(names[x] for x in state.live))
    if state.regions is not None:
        regions = {
            (names[a], names[b]): pair.times(high=np.full(pair.sign.shape[:2], factor)) if factor else pair
            for (a, b), pair in state.regions.items()
        }
        return Joint(live, 0.0, None, regions)
    if state.line is not None:
        return Joint(live, 0.0, state.line + factor)
    return Joint(live, state.number + factor)


def _sum(a: Joint, b: Joint) -> Joint:
    if a.regions is not None and b.regions is not None:
        regions = dict(a.regions)
        for order, pair in b.regions.items():
            regions[order] = regions[order] + pair if order in regions else pair
        return Joint(a.live, 0.0, None, regions)
    if a.line is not None and b.line is not None:
        return Joint(a.live, 0.0, np.logaddexp(a.line, b.line))
    return Joint(a.live, log_add(a.number, b.number))
