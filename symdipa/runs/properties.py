"""How much a violation proves: output distinction and strong feasibility (docs/theory.md, section 6)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, islice
from math import inf
from operator import or_
from typing import NamedTuple

from symdipa.model.automaton import Automaton, Output
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.verdict import Witness
from symdipa.runs.control import Control
from symdipa.runs.control.slicing import cut
from symdipa.runs.dataflow import OrderFacts, fixed_point, order_facts
from symdipa.runs.order import OrderState, bounds, initial, members, update
from symdipa.runs.problem import Problem
from symdipa.runs.witness import LASSOS, LONGEST_TRIED, MAX_SETTLED, feasible_runs, witnesses_on

TRIED_ON_ONE_RUN = 8
IMITATORS = 2_000
CONTINUATIONS = 60
LOOKS = 20_000
SHORT_RUNS = 400
"""How far :func:`find_distinct` goes: witnesses on one run, pairs followed for one, ways to go on; places of
other runs examined in all, after the known witnesses; and runs from the initial state."""

ENUMERATED, GLANCED = 40_000, 250
"""How many states times variables :func:`strongly_feasible` enumerates at most, and how many states where it
is known that there are more."""


# Output distinction: no other run has the same outputs


def output_distinct(automaton: Automaton) -> bool:
    """Whether transitions of one state have outputs of different shape (symbols and places of numbers), and
    all steps are seen."""
    if not automaton.shows_steps:
        return False
    for numbers in automaton.outgoing:
        shapes = [automaton.transitions[t].output.shape for t in numbers]
        if len(set(shapes)) < len(shapes):
            return False
    return True


Look = tuple[int, OrderState]
"""Where another run is: its control state and order state."""


def run_distinct(
    control: Control,
    run: Sequence[int],
    cycles: Sequence[tuple[int, int]] = (),
    limit: int = 50_000,
    limits: Limits = UNLIMITED,
) -> bool:
    """Whether no other run can produce the outputs of this one, however often its cycles repeat.

    Follows, along the run with its cycles repeated, a second run that takes other transitions with
    the same outputs (a real value may be any real value; which steps read an input is not observed). Only
    feasible runs count. After ``limit`` pairs, and where steps are unseen, the answer is ``False``, the one
    that claims less. Raises :class:`symdipa.model.errors.OutOfTime`.
    """
    return control.shows_steps and _imitations(control, run, cycles, limit, _Looks(limits)) == frozenset()


def witness_distinct(
    control: Control, witness: Witness, limit: int = 50_000, limits: Limits = UNLIMITED
) -> bool:
    """:func:`run_distinct` of the run of a witness."""
    return run_distinct(control, witness.run, witness.cycles, limit, limits)


class _LookedEnough(Exception):
    """All looks are spent."""


@dataclass
class _Looks:
    """How many more places of other runs may be examined."""

    limits: Limits
    left: float = inf

    def spend(self, places: int = 1) -> None:
        self.limits.check("output distinction")
        self.left -= places
        if self.left < 0:
            raise _LookedEnough


def _imitations(
    control: Control, run: Sequence[int], cycles: Sequence[tuple[int, int]], limit: int, looks: _Looks
) -> frozenset[Look] | None:
    """Where other runs with the outputs of the whole run end; ``None`` if ``limit`` was reached."""
    back = {j: i for i, j in control.whole_cycles(run, cycles)}
    run = [t for t in run if control.is_plain or control.begins[t]]
    # A pair: the position in the run, and control state and order of the other run; ``strayed`` once
    # it has taken another transition than the run.
    origin = control.origin or range(len(control.steps))
    start = (0, *_beginning(control), False)
    seen: set[tuple[int, int, OrderState, bool]] = {start}
    queue = deque([start])
    ends: set[Look] = set()
    while queue:
        looks.spend()
        position, q, order, strayed = queue.popleft()
        if position == len(run) and strayed:
            ends.add((q, order))
        followers = []
        if position in back:
            followers.append((back[position], q, order, strayed))
        if position < len(run):
            followers += [
                (position + 1, p, after, strayed or origin[t] != origin[run[position]])
                for t, p, after in _same_output(control, q, order, control.output(run[position]))
            ]
        for follower in followers:
            if follower not in seen:
                seen.add(follower)
                queue.append(follower)
        if len(seen) > limit:
            return None
    return frozenset(ends)


def _beginning(control: Control) -> Look:
    """Where a run is before the first transition of the automaton."""
    q, order = control.initial, initial(control.variables)
    while control.is_between(q):
        (t,) = control.outgoing[q]
        following = update(order, control.steps[t], control.live[control.target[t]])
        assert following is not None, "what is before a run is always possible"
        q, order = control.target[t], following
    return q, order


def _taken(control: Control, t: int, order: OrderState) -> Look | None:
    """Where a run is after the transition of the automaton that begins with ``t``, if it may take it."""
    for part in control.chains[t]:
        following = update(order, control.steps[part], control.live[control.target[part]])
        if following is None:
            return None
        order = following
    return control.target[control.chains[t][-1]], order


def _same_output(
    control: Control, q: int, order: OrderState, asked: Output
) -> Iterator[tuple[int, int, OrderState]]:
    """The steps that may show an output: transition, control state and order state afterwards."""
    for t in control.outgoing[q]:
        if control.output(t).shape == asked.shape and (found := _taken(control, t, order)) is not None:
            yield t, *found


def find_distinct(control: Control, known: Sequence[Witness], limits: Limits = UNLIMITED) -> Witness | None:
    """A distinct witness near the known ones; ``None`` if not found.

    Candidates are the known witnesses; other witnesses of their patterns on the same runs, and on the first
    :data:`SHORT_RUNS` runs from the initial state; and each of them on a run that goes on until all imitators
    fail (leaking and disclosing cycles end their run, so they are not continued). The search ends after
    :data:`LOOKS`. Raises :class:`symdipa.model.errors.OutOfTime`.
    """
    for witness in known:
        if witness_distinct(control, witness, limits=limits):
            return witness
    if not known or not control.shows_steps:
        return None
    patterns = dict.fromkeys(witness.pattern for witness in known)
    longest = min(max(len(witness.run) for witness in known) + 1, LONGEST_TRIED)
    near = ((w.pattern, w.run) for w in known if len(w.run) <= MAX_SETTLED)
    far = ((p, run) for run in feasible_runs(control, longest, SHORT_RUNS) for p in patterns)
    looks = _Looks(limits, LOOKS)

    def others() -> Iterator[Witness]:
        for pattern, run in chain(near, far):
            looks.spend()
            yield from islice(witnesses_on(control, pattern, run), TRIED_ON_ONE_RUN)

    tried: set[Witness] = set()
    with suppress(_LookedEnough):
        for witness in chain(known, others()):
            if witness in tried:
                continue
            tried.add(witness)
            found = _continued(control, witness, looks)
            if found is not None:
                return found
    return None


def _continued(control: Control, witness: Witness, looks: _Looks) -> Witness | None:
    """The witness on its run continued until no other run shows the outputs, if a short one does; ``None`` as
    well if the run cannot complete the transition of the automaton in which it ends."""
    imitators = _imitations(control, witness.run, witness.cycles, IMITATORS, looks)
    if imitators is None:
        return None
    order, origin = initial(control.variables), control.origin or range(len(control.steps))
    whole = witness.run if witness.pattern in LASSOS else control.completed(witness.run)
    for t in whole:
        following = update(order, control.steps[t], control.live[control.target[t]])
        if following is None:
            return None
        order = following
    queue = deque([(whole, order, imitators)])
    seen = {(whole[-1], order, imitators)}
    while queue:
        run, order, imitators = queue.popleft()
        if not imitators:
            return replace(witness, run=run)
        if witness.pattern in LASSOS:
            return None
        q = control.target[run[-1]]
        for t in control.outgoing[q]:
            looks.spend(len(imitators))
            output = control.output(t)
            taken = _taken(control, t, order)
            if taken is None or len(seen) > CONTINUATIONS:
                continue
            after = taken[1]
            others = {look[1:] for q, o in imitators for look in _same_output(control, q, o, output)}
            others |= {
                look[1:] for look in _same_output(control, q, order, output) if origin[look[0]] != origin[t]
            }
            follower = (t, after, frozenset(others))
            if follower not in seen:
                seen.add(follower)
                queue.append(((*run, *control.chains[t]), after, frozenset(others)))
    return None


# Strong feasibility: forced orders of non-input samples agree with their means


class Means(NamedTuple):
    """Per variable the largest mean of a non-input sample at or below it, the smallest at or above it.

    A mean is given by its place among all means (:func:`_places`); it is infinite where there is no such
    sample.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]

    def joined(self, other: Means) -> Means:
        """What may hold if either may."""
        return Means(tuple(map(max, self.low, other.low)), tuple(map(min, self.high, other.high)))


def strongly_feasible(problem: Problem, limits: Limits = UNLIMITED) -> bool | None:
    """Whether the automaton is strongly feasible, ``None`` when that is not established.

    Each variable component that stores a non-input sample is examined by itself: first without control flow,
    then by dataflow over may-facts on its slice; where both see a possible clash, feasible runs are
    enumerated as far as :data:`ENUMERATED` says: nodes of the augmentation, each with means. It is defined
    for plain automata only. Raises :class:`symdipa.model.errors.OutOfTime`.
    """
    if not problem.control.is_plain:
        return None
    control, separated, components = problem.control, problem.separated, problem.components
    sampled = zip(separated.steps, separated.sampling, strict=True)
    stored = reduce(or_, (step.asg for step, sampling in sampled if not sampling.reads_input), 0)
    clear: dict[OrderFacts, bool] = {}
    most = ENUMERATED // max(1, control.variables)
    if problem.is_larger_than(most):
        most = min(most, GLANCED)
    for variables in components:
        limits.check("strong feasibility")
        if not variables & stored:
            continue
        facts = problem.flat_facts(variables)
        if facts not in clear:
            clear[facts] = _no_clash_possible(facts)
        if clear[facts]:
            continue
        part = cut(separated, variables).control
        if _no_clash_possible(order_facts(part, limits=limits)):
            continue
        # The slice forgets what other components forbid, so a clash has to be found on the whole.
        if len(components) > 1 and _enumerate(part, ENUMERATED // variables.bit_count(), limits):
            continue
        return _enumerate(control, most, limits)
    return True


class _Clash(Exception):
    """A sample may be forced below one of no larger mean."""


def _no_clash_possible(facts: OrderFacts) -> bool:
    control, places = facts.control, _places(facts.control)

    def after(t: int, before: Means) -> Means | None:
        order = facts.may[control.source[t]]
        if order is None or not facts.possible[t]:
            return None
        following = _advance(control, places, order, before, t)
        if following is None:
            raise _Clash
        return following

    try:
        fixed_point(control, _nothing(control), after, Means.joined)
    except _Clash:
        return False
    return True


def _enumerate(control: Control, limit: int, limits: Limits) -> bool | None:
    places = _places(control)
    start = (control.initial, initial(control.variables), _nothing(control))
    seen: set[tuple[int, OrderState, Means]] = {start}
    queue = deque([start])
    while queue:
        limits.check(f"strong feasibility, {len(seen)} states")
        q, order, means = queue.popleft()
        for t in control.outgoing[q]:
            p = control.target[t]
            after = update(order, control.steps[t], control.live[p])
            if after is None:
                continue
            new = _advance(control, places, order, means, t)
            if new is None:
                return False
            if (p, after, new) not in seen:
                seen.add((p, after, new))
                queue.append((p, after, new))
        if len(seen) > limit:
            return None
    return True


def _nothing(control: Control) -> Means:
    return Means((-inf,) * control.variables, (inf,) * control.variables)


def _places(control: Control) -> list[int]:
    """For each transition the place of its mean among all: places compare and hash faster than fractions."""
    place = {mu: i for i, mu in enumerate(sorted({sampling.mu for sampling in control.sampling}))}
    return [place[sampling.mu] for sampling in control.sampling]


def _advance(
    control: Control, places: Sequence[int], order: OrderState, means: Means, t: int
) -> Means | None:
    """The means after transition ``t``; ``None`` if it forces a sample below one of no larger mean."""
    step = control.steps[t]
    low, high = list(means.low), list(means.high)
    below, above = bounds(order, step)
    largest = max((low[x] for x in members(below)), default=-inf)
    smallest = min((high[x] for x in members(above)), default=inf)
    if largest >= smallest:
        return None
    for x in members(above):
        low[x] = max(low[x], largest)
    for x in members(below):
        high[x] = min(high[x], smallest)
    keep = control.live[control.target[t]]
    for x in members(step.asg):
        reads_input = control.sampling[t].reads_input
        low[x], high[x] = (largest, smallest) if reads_input else (places[t], places[t])
    for x in range(control.variables):
        if not keep >> x & 1:
            low[x], high[x] = -inf, inf
    return Means(tuple(low), tuple(high))
