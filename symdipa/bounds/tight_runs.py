"""Runs on which a bound by alignment may be attained: where a bound from below is looked for.

On a coarse graph a path that attains the bound need not be a feasible run, and there are often many such
paths. So two things are tried: the path that explains the bound, with the best differences of all; and
feasible runs along *tight* edges, on which potentials are attained, taken in several orders, with the
differences that their shifts miss most.

Where several runs show the same outputs, short runs are tried besides: one that no other run can imitate
bounds ``D`` itself.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import chain

from symdipa.bounds.alignment import Proof
from symdipa.bounds.alignment.explain import is_tight
from symdipa.bounds.exact.flow import Span, flow_bound
from symdipa.model.adjacency import Interval
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.control import Control
from symdipa.runs.graphs import the_path
from symdipa.runs.order import OrderState, follow, initial, update
from symdipa.runs.witness import feasible_runs, is_non_leaking

Looped = tuple[tuple[int, ...], tuple[Span, ...]]
"""A run, as transitions, and the ranges of positions that are loops and may be repeated."""

LARGEST_WALK = 3_000
"""The most steps of the walks around a component that are repeated in a bound from below."""

SHUFFLES = 6
"""How often tight edges are taken in a random order (always the same orders)."""

LONGEST = 2_000
"""Above this length of a run no further order is tried."""

ROUNDS = 10
"""How often differences are improved."""

MAX_PLACES, LONGEST_SHORT, SHORT_STEPS, SHORT_RUNS = 5_000, 200, 12, 400
"""How far :func:`short` goes: control states with an order, steps of runs to them; steps and number of all
runs."""


def repeated(control: Control, path: Sequence[int]) -> Looped:
    """A path with walks around every component that it visits, as loops.

    They take every transition of the component, so that whatever forces a shift there is repeated, and each
    is there twice, so that differences of both signs are.
    """
    run: list[int] = []
    loops: list[Span] = []
    visited: set[int] = set()
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


def _walks(control: Control, start: int) -> list[list[int]]:
    """Closed walks from ``start``, each shortest through some transition, that together take all.

    Each is there twice in a row. Those that assign what they use are left out: they are no loops to repeat.
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
        if is_non_leaking(control, walk):
            walks.append(walk)
        for taken in walk:
            todo.pop(taken, None)
    return [walk for walk in walks for _ in range(2)]


def feasible(side: Proof, limits: Limits = UNLIMITED) -> Iterator[tuple[Looped, tuple[Fraction, ...]]]:
    """Feasible runs along tight edges, with differences (without sensitivity) that cost much on them.

    Raises :class:`symdipa.model.errors.OutOfTime`.
    """
    rng = random.Random(0)
    orders: list[Callable[[int], float]] = [lambda e: e, lambda e: -e]
    orders += [lambda _: rng.random()] * SHUFFLES
    edges = _TightEdges(side)
    seen: set[Looped] = set()
    for order in orders:
        run, loops = found = _TightRun(edges, limits).follow(order)
        if found in seen:
            continue
        seen.add(found)
        yield found, _differences(edges, run, loops, limits)
        if len(run) > LONGEST:
            return


def short(control: Control, limits: Limits = UNLIMITED) -> Iterator[Looped]:
    """Short feasible runs, each with walks around what it visits as loops, if they are feasible, and without.

    First a shortest one to each transition, then all the shortest. Raises
    :class:`symdipa.model.errors.OutOfTime`.
    """
    seen: set[tuple[int, ...]] = set()
    for run in chain(_to_each_transition(control, limits), feasible_runs(control, SHORT_STEPS, SHORT_RUNS)):
        if run in seen:
            continue
        seen.add(run)
        limits.check("bound from below, short runs")
        longer, loops = repeated(control, run)
        steps = [control.steps[t] for t in longer]
        if loops and follow(initial(control.variables), steps) is not None:
            yield longer, loops
        yield run, ()


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


class _TightEdges:
    """The edges of a proof on which its potentials are attained."""

    def __init__(self, side: Proof) -> None:
        self.side, self.paths, self.control = side, side.paths, side.control
        self.tight = [is_tight(side, e) for e in range(len(self.paths.source))]
        self.edge = {t: e for e, t in enumerate(self.paths.transition)}

    def leaving(self, node: int) -> list[int]:
        return [e for e in self.paths.outgoing[node] if self.tight[e]]


class _TightRun:
    """A feasible run under construction, with the order of its stored samples."""

    def __init__(self, edges: _TightEdges, limits: Limits) -> None:
        self.edges, self.limits = edges, limits
        self.run: list[int] = []
        self.loops: list[Span] = []
        self._order = initial(edges.control.variables)
        self._node = edges.paths.initial
        self._visited: set[int] = set()

    def follow(self, order: Callable[[int], float]) -> Looped:
        """As far as a feasible run gets along tight edges, of which the least in ``order`` is tried first.

        Loops around a component are put in where they are feasible.
        """
        self._go_round()
        while self.edges.side.potential(self._node) and self._go_on(order):
            self._go_round()
        return tuple(self.run), tuple(self.loops)

    def _go_round(self) -> None:
        control = self.edges.control
        state = control.target[self.run[-1]] if self.run else control.initial
        if control.component[state] in self._visited:
            return
        self._visited.add(control.component[state])
        for walk in _walks(control, state):
            if self._take(walk):
                self.loops.append((len(self.run) - len(walk), len(self.run)))

    def _go_on(self, order: Callable[[int], float]) -> bool:
        """Take a tight edge to another component; whether there is a feasible one."""
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
    edges: _TightEdges, run: Sequence[int], loops: Sequence[Span], limits: Limits
) -> tuple[Fraction, ...]:
    """For each sample the difference that its shift misses most, in loops both extremes in turn.

    Then, as long as that raises the flow, every difference takes the side that the flow is on.
    """
    side, sampling = edges.side, edges.control.sampling
    low, high = interval = side.low / side.sensitivity, side.high / side.sensitivity
    chosen = [
        _most_missed(side, edges.edge[t], interval) if sampling[t].reads_input else Fraction(0) for t in run
    ]
    for k, (a, b) in enumerate(loops):
        for j in range(a, b):
            if sampling[run[j]].reads_input:
                chosen[j] = high if k % 2 else low
    best, value = tuple(chosen), Fraction(-1)
    for _ in range(ROUNDS):
        flow = flow_bound(edges.control, run, loops, chosen, limits=limits)
        if flow.value is None or flow.value <= value:
            break
        best, value = tuple(chosen), flow.value
        net = [Fraction(0)] * (len(run) + 1)  # the last one is the ground, at -1
        for (i, j), amount in flow.flow.items():
            net[i] -= amount
            net[j] += amount
        for j, t in enumerate(run):
            if sampling[t].reads_input and net[j]:
                chosen[j] = high if net[j] > 0 else low
    return best


def _most_missed(side: Proof, e: int, interval: Interval) -> Fraction:
    """The end of the interval that the shift of an edge's sample is farthest from."""
    low, high = interval
    _, floor, ceiling = side.rule(e)
    values = side.solution.values
    above = max((high - values[c] for c in ceiling), default=Fraction(-1))
    below = max((values[f] - low for f in floor), default=Fraction(-1))
    return high if above >= below else low
