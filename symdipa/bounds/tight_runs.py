"""Runs on which a bound by alignment may be attained: where a bound from below is looked for.

On a coarse graph a path that attains the bound need not be a feasible run, and there are often many such
paths. So two things are tried: the path that explains the bound, with the best differences of all; and
feasible runs along *tight* edges, on which potentials are attained, taken in several orders, with the
differences that their shifts miss most.

Where there is no proof, a feasible run is taken along edges whose samples are dear. Where several runs show
the same outputs, short runs are tried besides: one that no other run can imitate bounds ``D`` itself.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, islice
from typing import Protocol

from symdipa.bounds.alignment import Proof
from symdipa.bounds.alignment.explain import is_tight
from symdipa.bounds.alignment.proofs import Paths
from symdipa.bounds.costs import rate_of
from symdipa.bounds.exact.flow import Span, flow_bound, leanings
from symdipa.model.adjacency import Interval
from symdipa.model.automaton import Noise
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.control import Control
from symdipa.runs.graphs import the_path
from symdipa.runs.numbers.growth import is_repeatable
from symdipa.runs.order import OrderState, follow, initial, update
from symdipa.runs.problem import Problem
from symdipa.runs.witness import feasible_runs, rounds_are_alike

Looped = tuple[tuple[int, ...], tuple[Span, ...]]
"""A run, as transitions, and the ranges of positions that are loops and may be repeated."""

Order = Callable[[int], float | Fraction]
"""Which edges are tried first: those of the least number."""

LARGEST_WALK = 3_000
"""The most steps of the walks around a component that are repeated in a bound from below."""

SHUFFLES = 6
"""How often tight edges are taken in a random order (always the same orders)."""

WAYS_ON = 6
"""How many ways on from a path are tried."""

LONGEST = 2_000
"""Above this length of a run no further order is tried."""

PATIENCE, TURNED = 5, 0.5
"""After so many rounds without a larger flow differences are not improved any more; in each round this share
of those that the flow leaves free change sides (always the same ones)."""

SETTLED = 0.75
"""Which share of the positions that lean to neither side settle on one before the others are asked again."""

MAX_PLACES, LONGEST_SHORT, SHORT_STEPS, SHORT_RUNS = 5_000, 200, 12, 400
"""How far :func:`short` goes: control states with an order, steps of runs to them; steps and number of all
runs."""


def is_real(problem: Problem, run: Sequence[int], loops: Sequence[Span], limits: Limits = UNLIMITED) -> bool:
    """Whether a run that the order of its values allows is known to have a positive probability.

    That is on some inputs, with its loops as often as one likes. The order is not all that matters where
    comparisons have an offset, where integers are compared in other ways than in the paper, and where a
    sample of bounded support is drawn besides constants or negatives, or means share entries: there the
    numbers are looked at.
    """
    control, automaton = problem.control, problem.automaton
    if control.is_plain:
        return True
    if automaton is None:
        return False
    taken = [automaton.transitions[t] for t in sorted(set(control.whole(run)))]
    atoms = [each for t in taken for each in t.guard.others]
    offset = any(None not in (each.low.name, each.high.name) and each.high.offset for each in atoms)
    drawing = [state for state in (automaton.state(t.source) for t in taken) if state.draws]
    bounded = any(state.noise is Noise.EXPONENTIAL for state in drawing)
    beside = control.origin[0] < 0 or any(sampling.mirror for sampling in control.sampling)
    rigid = any(state.noise is not Noise.LAPLACE for state in drawing)
    shared = rigid and bool(automaton.registers)
    if not (offset or (automaton.integer and atoms) or (bounded and beside) or shared):
        return True
    return is_repeatable(automaton, control.whole(run), control.whole_cycles(run, loops), limits)


def repeated(control: Control, path: Sequence[int]) -> Looped:
    """A path with walks around every component that it visits, as loops.

    They take every transition of the component, so that whatever forces a shift there is repeated, and each
    is there twice, so that differences of both signs are.
    """
    run: list[int] = []
    loops: list[Span] = []
    visited: set[int] = set()
    path = control.completed(path)
    states = [control.initial, *(control.target[t] for t in path)]
    for position, q in enumerate(states):
        if control.component[q] not in visited:
            visited.add(control.component[q])
            for walk in _walks(control, q):
                loops.append((len(run), len(run) + len(walk)))
                run += walk
        if position < len(path):
            run.append(path[position])
    return tuple(run), tuple(loops)


def continued(control: Control, path: Sequence[int], limits: Limits) -> Iterator[tuple[int, ...]]:
    """A path, and ways on to where runs end, if what comes after it may cost nothing and yet ask for shifts.

    That may be in automata that are not the paper's. No way on ends with the same transition as another.
    Raises :class:`symdipa.model.errors.OutOfTime`.
    """
    yield tuple(path)
    run = control.completed(path)
    order = follow(initial(control.variables), [control.steps[t] for t in run])
    if control.is_plain or order is None:
        return
    state = control.target[run[-1]] if run else control.initial
    for way in islice(_ways_on(control, state, order, limits), WAYS_ON):
        yield run + way


def _ways_on(control: Control, state: int, order: OrderState, limits: Limits) -> Iterator[tuple[int, ...]]:
    """Shortest feasible ways from a state to components that nothing leaves, by their last transitions."""
    ends, steps = control.last_components, control.steps
    start = state, order
    before: dict[tuple[int, OrderState], tuple[tuple[int, OrderState], int] | None] = {start: None}
    taken: set[int] = set()
    queue = deque([start])
    while queue and len(before) < MAX_PLACES:
        limits.check("bound from below, ways on")
        here = queue.popleft()
        if control.component[here[0]] in ends:
            continue
        for t in control.outgoing[here[0]]:
            q = control.target[t]
            after = update(here[1], steps[t], control.live[q])
            if after is None or (q, after) in before:
                continue
            before[q, after] = here, t
            queue.append((q, after))
            if control.component[q] in ends and t not in taken:
                taken.add(t)
                way, place = [], (q, after)
                while (came := before[place]) is not None:
                    place = came[0]
                    way.append(came[1])
                yield tuple(reversed(way))


def _walks(control: Control, start: int) -> list[list[int]]:
    """Closed walks from ``start``, each shortest through some transition, that together take all.

    Each is there twice in a row. Those that read what they have stored a round before are left out: they are
    no loops to repeat.
    """
    transitions = control.loops.get(control.component[start], ())
    outgoing: dict[int, list[int]] = {}
    for t in transitions:
        outgoing.setdefault(control.source[t], []).append(t)
    walks: list[list[int]] = []
    todo, length = dict.fromkeys(transitions), 0
    while todo and length < LARGEST_WALK:
        t = next(iter(todo))
        leaving, target = outgoing.__getitem__, control.target.__getitem__
        walk = [*the_path(start, control.source[t], leaving, target), t]
        walk += the_path(control.target[t], start, leaving, target)
        length += len(walk)
        if rounds_are_alike(control, walk):
            walks.append(walk)
        for taken in walk:
            todo.pop(taken, None)
    return [walk for walk in walks for _ in range(2)]


def feasible(side: Proof, limits: Limits = UNLIMITED) -> Iterator[tuple[Looped, tuple[Fraction, ...]]]:
    """Feasible runs along tight edges, with differences (without sensitivity) that cost much on them.

    Raises :class:`symdipa.model.errors.OutOfTime`.
    """
    rng = random.Random(0)
    orders: list[Order] = [lambda e: e, lambda e: -e]
    orders += [lambda _: rng.random()] * SHUFFLES
    edges = _TightEdges(side)
    interval, goal = (
        (side.low / side.sensitivity, side.high / side.sensitivity),
        side.bound / side.sensitivity,
    )
    seen: set[Looped] = set()
    for order in orders:
        found = _RunAlong(edges, limits).follow(order)
        if found in seen:
            continue
        seen.add(found)
        run = found[0]
        first = [_most_missed(side, edges.edge[t], interval) for t in run]
        yield found, _differences(side.control, found, interval, first, goal, limits)
        if len(run) > LONGEST:
            return


def dear(
    control: Control, interval: Interval, limits: Limits = UNLIMITED
) -> Iterator[tuple[Looped, tuple[Fraction, ...]]]:
    """A feasible run along edges whose samples, and those after them, are dear, with differences.

    For want of a proof that tells which edges are tight. Raises :class:`symdipa.model.errors.OutOfTime`.
    """
    edges = _DearEdges(control)
    found = _RunAlong(edges, limits).follow(lambda e: -edges.weight[e])
    first = [interval[1]] * len(found[0])
    yield found, _differences(control, found, interval, first, None, limits)


def short(control: Control, limits: Limits = UNLIMITED) -> Iterator[Looped]:
    """Short feasible runs, each with walks around what it visits as loops, if they are feasible, and without.

    First a shortest one to each transition, then all the shortest. Raises
    :class:`symdipa.model.errors.OutOfTime`.
    """
    seen: set[tuple[int, ...]] = set()
    for begun in chain(_to_each_transition(control, limits), feasible_runs(control, SHORT_STEPS, SHORT_RUNS)):
        run = control.completed(begun)
        if run in seen:
            continue
        seen.add(run)
        limits.check("bound from below, short runs")
        longer, loops = repeated(control, run)
        if loops and _is_feasible(control, longer):
            yield longer, loops
        if len(run) == len(begun) or _is_feasible(control, run):
            yield run, ()


def _is_feasible(control: Control, run: Sequence[int]) -> bool:
    return follow(initial(control.variables), [control.steps[t] for t in run]) is not None


def _to_each_transition(control: Control, limits: Limits) -> Iterator[tuple[int, ...]]:
    """For each transition a shortest feasible run that ends with it, as far as few places show one."""
    start = control.initial, initial(control.variables)
    way: dict[tuple[int, OrderState], tuple[int, ...]] = {start: ()}
    queue, taken = deque([start]), set[int]()
    while queue and len(way) < MAX_PLACES:
        limits.check("bound from below, short runs")
        q, order = queue.popleft()
        for t in control.outgoing[q]:
            after = update(order, control.steps[t], control.live[control.target[t]])
            if after is None:
                continue
            run = (*way[q, order], t)
            if t not in taken:
                taken.add(t)
                yield run
            place = control.target[t], after
            if place not in way and len(run) < LONGEST_SHORT:
                way[place] = run
                queue.append(place)


class _Edges(Protocol):
    """Edges of a graph that runs are led along, and what the rest of a run from a node may cost."""

    control: Control
    paths: Paths

    def leaving(self, node: int) -> list[int]: ...
    def rest(self, node: int) -> Fraction: ...


class _TightEdges:
    """The edges of a proof on which its potentials are attained."""

    def __init__(self, side: Proof) -> None:
        self.side, self.paths, self.control = side, side.paths, side.control
        self.tight = [is_tight(side, e) for e in range(len(self.paths.source))]
        self.edge = {t: e for e, t in enumerate(self.paths.transition)}
        self.rest = side.potential

    def leaving(self, node: int) -> list[int]:
        return [e for e in self.paths.outgoing[node] if self.tight[e]]


class _DearEdges:
    """All edges of the control graph between components; ``weight`` is what one and those after it may cost,
    with shifts as far as differences from them."""

    def __init__(self, control: Control) -> None:
        self.control = control
        steps = range(len(control.steps))
        component = control.component
        none = [False] * len(steps)
        self.paths = Paths(
            control.initial, control.source, control.target, steps, component, [True] * control.states, none
        )
        self.weight = [Fraction(0)] * len(steps)
        self._heaviest = [Fraction(0)] * (max(component) + 1)
        for e in sorted(steps, key=lambda e: component[control.source[e]]):  # numbered from the ends
            here, there = component[control.source[e]], component[control.target[e]]
            if here != there:
                sampling = control.sampling[e]
                cost = (sampling.d or 0) * (2 if sampling.reads_input else 1)
                self.weight[e] = cost + self._heaviest[there]
                self._heaviest[here] = max(self._heaviest[here], self.weight[e])

    def leaving(self, node: int) -> list[int]:
        component, target = self.paths.component, self.paths.target
        return [e for e in self.paths.outgoing[node] if component[target[e]] != component[node]]

    def rest(self, node: int) -> Fraction:
        return self._heaviest[self.paths.component[node]]


class _RunAlong:
    """A feasible run under construction, with the order of its stored samples."""

    def __init__(self, edges: _Edges, limits: Limits) -> None:
        self.edges, self.limits = edges, limits
        self.run: list[int] = []
        self.loops: list[Span] = []
        self._order = initial(edges.control.variables)
        self._node = edges.paths.initial
        self._visited: set[int] = set()

    def follow(self, order: Order) -> Looped:
        """As far as a feasible run gets along the edges, of which the least in ``order`` is tried first.

        Loops around a component are put in where they are feasible.
        """
        self._go_round()
        while self.edges.rest(self._node) and self._go_on(order):
            self._go_round()
        self._come_to_rest()
        if not self.edges.control.is_plain:
            self._go_to_the_end()
        return tuple(self.run), tuple(self.loops)

    def _come_to_rest(self) -> None:
        """Go on to the end of a transition of the automaton; if that is not feasible, back to its start."""
        control = self.edges.control
        rest = control.completed(self.run)[len(self.run) :]
        if rest and not self._take(rest):
            while not control.begins[self.run.pop()]:
                pass
            order = follow(initial(control.variables), [control.steps[t] for t in self.run])
            assert order is not None, "a feasible run"
            self._order = order
            self.loops = [(a, b) for a, b in self.loops if b <= len(self.run)]

    def _go_to_the_end(self) -> None:
        """Go on to where runs end, as far as that is feasible with all loops on the way."""
        control = self.edges.control
        for way in islice(_ways_on(control, self._state, self._order, self.limits), 1):
            for t in way:
                if not self._take([t]):
                    break
                self._go_round()
            self._come_to_rest()

    @property
    def _state(self) -> int:
        """The control state where the run is."""
        return self.edges.control.target[self.run[-1]] if self.run else self.edges.control.initial

    def _go_round(self) -> None:
        control, state = self.edges.control, self._state
        if control.component[state] in self._visited:
            return
        self._visited.add(control.component[state])
        for walk in _walks(control, state):
            if self._take(walk):
                self.loops.append((len(self.run) - len(walk), len(self.run)))

    def _go_on(self, order: Order) -> bool:
        """Take an edge to another component; whether there is a feasible one."""
        paths = self.edges.paths
        way = paths.way(self._node, lambda v: bool(self.edges.leaving(v)))
        if way is None or not self._take([paths.transition[e] for e in way]):
            return False
        if way:
            self._node = paths.target[way[-1]]
        onward = sorted(self.edges.leaving(self._node), key=order)
        edge = next((e for e in onward if self._take([paths.transition[e]])), None)
        if edge is None:
            return False
        self._node = paths.target[edge]
        return True

    def _take(self, transitions: Sequence[int]) -> bool:
        self.limits.check(f"bound from below, run of {len(self.run)} steps")
        following = follow(self._order, [self.edges.control.steps[t] for t in transitions])
        if following is None:
            return False
        self._order = following
        self.run.extend(transitions)
        return True


def _differences(
    control: Control,
    looped: Looped,
    interval: Interval,
    first: Sequence[Fraction],
    goal: Fraction | None,
    limits: Limits,
) -> tuple[Fraction, ...]:
    """Differences that cost much on a run: at ``first`` those given, in loops both extremes in turn.

    If they cost less than the ``goal``, those to which positions lean are tried. Then, as long as
    that raises the flow, every difference takes the side that the flow is on. Where there is no flow some
    change sides, outside of loops, which have both: the flow stays, so that nothing is lost.
    """
    (run, loops), (low, high), sampling = looped, interval, control.sampling
    linked = control.linked(run)
    readers: dict[int, list[tuple[int, int]]] = {}
    for j, (i, sign) in linked.items():
        readers.setdefault(i, []).append((j, sign))
    free = [sampling[t].reads_input and sampling[t].difference is None for t in run]
    inputs = [j for j, at_will in enumerate(free) if at_will and j not in linked]
    known = (rate_of(sampling[t]).differences(*interval)[0] for t in run)
    chosen = [Fraction(0) if at_will else difference for at_will, difference in zip(free, known, strict=True)]

    def choose(i: int, difference: Fraction) -> None:
        chosen[i] = difference
        for j, sign in readers.get(i, ()):
            chosen[j] = sign * difference

    def together(i: int, amounts: Sequence[Fraction]) -> Fraction:
        return sum((sign * amounts[j] for j, sign in readers.get(i, ())), amounts[i])

    for j in inputs:
        choose(j, first[j])
    turns = {j: high if k % 2 else low for k, (a, b) in enumerate(loops) for j in range(a, b)}
    for j in inputs:
        choose(j, turns.get(j, chosen[j]))
    rng = random.Random(0)

    def lean() -> None:
        """Settle on the sides that positions lean to. Many of those that lean to none take a random one; the
        others are asked again."""
        left = [i for i in inputs if i not in turns]
        while left and low < high:
            both = {j for i in left for j in (i, *(j for j, _ in readers.get(i, ())))}
            ends = [(low, high) if j in both else (each, each) for j, each in enumerate(chosen)]
            leaning, undecided = leanings(control, run, loops, ends, limits), left
            left = []
            for i in undecided:
                if side := together(i, leaning):
                    choose(i, high if side > 0 else low)
                elif rng.random() < SETTLED:
                    choose(i, rng.choice(interval))
                else:
                    left.append(i)

    best, value, stuck, leant = tuple(chosen), Fraction(-1), 0, False
    while stuck < PATIENCE and (goal is None or value < goal):
        flow = flow_bound(control, run, loops, chosen, limits=limits)
        if flow.value is None:
            break
        stuck = stuck + 1 if flow.value <= value else 0
        if flow.value > value:
            best, value = tuple(chosen), flow.value
        if not leant and (goal is None or value < goal):
            leant = True
            lean()
            continue
        net = [Fraction(0)] * (len(run) + 1)  # the last one is the ground, at -1
        for (i, j), amount in flow.flow.items():
            net[i] -= amount
            net[j] += amount
        for i in inputs:
            earned = together(i, net)
            if earned:
                choose(i, high if earned > 0 else low)
            elif i not in flow.unlimited and rng.random() < TURNED:
                choose(i, low + high - chosen[i])
    return best


def _most_missed(side: Proof, e: int, interval: Interval) -> Fraction:
    """The end of the interval that the shift of an edge's sample is farthest from."""
    low, high = interval
    _, floor, ceiling = side.rule(e)
    values = side.solution.values
    above = max((high - values[c] for c in ceiling), default=Fraction(-1))
    below = max((values[f] - low for f in floor), default=Fraction(-1))
    return high if above >= below else low
