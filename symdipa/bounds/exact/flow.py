"""A bound on the constant from below: a flow on the dependency graph of one run (Thm. flow).

For fixed differences ``C`` is a linear program over the shifts. Its dual is a flow along the dependencies:
position ``j`` may create or absorb at most ``d_j`` (create what a shift above the difference costs, absorb
what one below it does, where these are not the same), a sample that a loop repeats has no limit, and samples
that are output are tied to the ground, which has none either, in both directions. Absorbing a unit at ``j``
earns the difference there, creating one costs it; so any flow proves that the constant is at least what it
earns.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import lcm

from symdipa.bounds.costs import Paid, Rate, rate_of, slope_cost
from symdipa.model.adjacency import Interval
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.control import Control, Slopes
from symdipa.runs.graphs import classes
from symdipa.runs.witness import dependency_graph, rounds_are_alike

FLOWING = "bound from below, flow on a run"

GROUND = -1
"""The node to which samples that are output are tied."""

Span = tuple[int, int]
"""A half-open range of positions."""

Arc = tuple[int, int]
"""A dependency ``(i, j)`` between positions ("sample i is below sample j"), or a tie to the ground."""


@dataclass(frozen=True)
class Flow:
    """A flow that certifies a bound from below, or ``value`` ``None`` when there is no largest.

    Positions are those of ``run``, of transitions of the control graph; those of ``loops`` (half-open ranges)
    may be repeated, and the positions ``unlimited`` are those among them whose samples nobody reads later
    (:func:`repeatable`). ``deltas`` are the differences. ``flow`` are the arcs that carry something. The
    value is the sum of ``delta * (inflow - outflow)`` over all positions, and of ``d' * |delta|`` where
    ``insample'`` is output.
    """

    value: Fraction | None
    run: tuple[int, ...]
    loops: tuple[Span, ...]
    deltas: tuple[Fraction, ...]
    flow: dict[Arc, Fraction]
    unlimited: frozenset[int]


def on_automaton(control: Control, flow: Flow, interval: Interval) -> Flow:
    """The run of a flow in transitions of the automaton, with its loops and the differences of its entries,
    which lie in the interval, and its value; of an automaton that is not plain without the arcs, which are
    those of the core."""
    if control.is_plain:
        return flow
    run, loops = control.whole(flow.run), control.whole_cycles(flow.run, flow.loops)
    deltas = control.whole_differences(flow.run, flow.deltas, interval)
    return Flow(flow.value, run, loops, deltas, {}, frozenset())


def flow_bound(
    control: Control,
    run: Sequence[int],
    loops: Sequence[Span],
    deltas: Sequence[Fraction | int],
    *,
    limits: Limits = UNLIMITED,
) -> Flow:
    """The largest flow for the differences, so that its value is ``C`` of the run with its loops repeated.

    ``value`` is ``None`` when repeating a loop costs more and more, or no shift has a finite cost. Raises
    ``ValueError`` for what is no feasible run, no loop or no difference of inputs, and
    :class:`symdipa.model.errors.OutOfTime`.
    """
    run, loops, differences = tuple(run), tuple(loops), tuple(map(Fraction, deltas))
    _check(control, run, loops, differences)
    unlimited = repeatable(control, run, loops)
    arcs, rates = _arcs(control, run), [rate_of(control.sampling[t]) for t in run]
    released = [slope_cost(rate.release, -delta) for rate, delta in zip(rates, differences, strict=True)]
    capacities = _capacities(rates, unlimited)
    certain = Fraction(0)
    for j, paid in enumerate(released):
        if paid is None or (paid and j in unlimited):
            return Flow(None, run, loops, differences, {}, unlimited)
        certain += paid
    if _is_endless(arcs, capacities, differences):
        return Flow(None, run, loops, differences, {}, unlimited)
    earned, flow = _LargestFlow(arcs, capacities, differences, limits).found
    return Flow(certain + earned, run, loops, differences, flow, unlimited)


def best_shifts(control: Control, flow: Flow, limits: Limits = UNLIMITED) -> tuple[Fraction, ...]:
    """An admissible shift of least cost for the run and the differences of a flow: it costs ``flow.value``.

    Raises ``ValueError`` where there is no largest flow, and :class:`symdipa.model.errors.OutOfTime`.
    """
    if flow.value is None:
        raise ValueError("repeating a loop costs more and more, or no shift has a finite cost")
    capacities = _capacities([rate_of(control.sampling[t]) for t in flow.run], flow.unlimited)
    return _LargestFlow(_arcs(control, flow.run), capacities, flow.deltas, limits).shifts


def leanings(
    control: Control,
    run: Sequence[int],
    loops: Sequence[Span],
    ends: Sequence[Interval],
    limits: Limits = UNLIMITED,
) -> tuple[Fraction, ...]:
    """For each position how much more it absorbs than creates, if it may do both.

    It creates at the least of its ``ends`` and absorbs at the largest, together no more than the larger of
    its capacities. Such a flow is one in two copies of the run: what one position creates and another absorbs
    is sent from one copy to the other, once by either of them. The differences to which positions lean are
    often the best ones. Raises :class:`symdipa.model.errors.OutOfTime`.
    """
    size = len(run) + 1  # the last place is the ground
    arcs = [(i % size, j % size) for i, j in _arcs(control, run)]
    capacities = _capacities([rate_of(control.sampling[t]) for t in run], repeatable(control, run, loops))
    finite = [most for both in capacities for most in both if most is not None]
    unit = lcm(*(most.denominator for most in finite))
    scale = lcm(*(end.denominator for pair in ends for end in pair))
    endless = sum(int(most * unit) for most in finite) + 1
    network = Network(6 * size + 2, limits)
    source, sink = 6 * size, 6 * size + 1
    first, second, upward, downward, up, down = range(0, 6 * size, size)
    for i, j in arcs:
        network.add(upward + i, up + j, endless, 0)
        network.add(downward + j, down + i, endless, 0)
        network.add(up + i, up + j, endless, 0)
        network.add(down + j, down + i, endless, 0)
    creating: list[tuple[int, int]] = []
    absorbing: list[tuple[int, int]] = []
    grounded = (None, None), (Fraction(0), Fraction(0))
    for j, (both, (least, most)) in enumerate([*zip(capacities, ends, strict=True), grounded]):
        created, absorbed = (endless if each is None else int(each * unit) for each in both)
        at_least, at_most = int(least * scale), -int(most * scale)
        network.add(source, first + j, max(created, absorbed), 0)
        network.add(second + j, sink, max(created, absorbed), 0)
        creating.append(
            (
                network.add(first + j, upward + j, created, at_least),
                network.add(down + j, second + j, created, at_least),
            )
        )
        absorbing.append(
            (
                network.add(first + j, downward + j, absorbed, at_most),
                network.add(up + j, second + j, absorbed, at_most),
            )
        )
    network.cheapest(source, sink)
    room = network.room
    return tuple(
        Fraction(sum(room[k + 1] for k in taken) - sum(room[k + 1] for k in given), unit)
        for given, taken in zip(creating[:-1], absorbing[:-1], strict=True)
    )


def _capacities(rates: Sequence[Rate], unlimited: frozenset[int]) -> list[Slopes]:
    """What each position may create and absorb; ``None``: without limit."""
    return [
        (_unless_free(rate.slopes[0]), _unless_free(rate.slopes[1])) if j in unlimited else rate.slopes
        for j, rate in enumerate(rates)
    ]


def _unless_free(slope: Paid) -> Paid:
    """The capacity of a sample that is repeated without end."""
    return slope if slope == 0 else None


def _arcs(control: Control, run: Sequence[int]) -> list[Arc]:
    """The dependencies of a run, and the ties of its outputs to the ground."""
    arcs = [(i, j) for i, over in enumerate(dependency_graph(control, run).over) for j in sorted(over)]
    for j, t in enumerate(run):
        if control.sampling[t].shows_sample:
            arcs += [(j, GROUND), (GROUND, j)]
    return arcs


def repeatable(control: Control, run: Sequence[int], loops: Sequence[Span]) -> frozenset[int]:
    """The positions on loops of which every copy has the same dependencies.

    No sample is read after the round, neither theirs nor one of the round that dependencies join with it.
    """
    over = dependency_graph(control, run).over
    readers: dict[int, list[int]] = {}
    for i, j in ((min(i, j), max(i, j)) for i, js in enumerate(over) for j in js):
        readers.setdefault(i, []).append(j)
    found: set[int] = set()
    for a, b in loops:
        inside = [(i - a, j - a) for i in range(a, b) for j in readers.get(i, ()) if j < b]
        number = classes(b - a, inside)
        read = {number[i - a] for i in range(a, b) if any(j >= b for j in readers.get(i, ()))}
        found.update(i for i in range(a, b) if number[i - a] not in read)
    return frozenset(found)


def _check(control: Control, run: Sequence[int], loops: Sequence[Span], deltas: Sequence[Fraction]) -> None:
    if any(control.target[s] != control.source[t] for s, t in pairwise(run)):
        raise ValueError("the transitions do not follow each other")
    if run and control.source[run[0]] != control.initial:
        raise ValueError("the run does not begin in the initial state")
    if not dependency_graph(control, run).is_acyclic:
        raise ValueError("the run is not feasible")
    for a, b in loops:
        if not (0 <= a < b <= len(run) and control.source[run[a]] == control.target[run[b - 1]]):
            raise ValueError(f"positions {a} to {b} are no loop of the run")
        if not rounds_are_alike(control, run[a:b]):
            raise ValueError(f"the loop at positions {a} to {b} assigns what it uses")
    if len(deltas) != len(run):
        raise ValueError("there must be one difference for each position")
    if any(delta and not control.sampling[t].moves for delta, t in zip(deltas, run, strict=True)):
        raise ValueError("a sample that no input moves has no difference")
    if any(deltas[j] != sign * deltas[i] for j, (i, sign) in control.linked(run).items()):
        raise ValueError("parts of one step have one difference, and negatives its negative")


class _LargestFlow:
    """A flow of greatest value, of those one of least amount; there must be a greatest value.

    Each of its ways earns something, so one of its ends has a capacity, and no place carries more than all
    capacities together.
    """

    def __init__(
        self,
        arcs: Sequence[Arc],
        capacities: Sequence[Slopes],
        deltas: Sequence[Fraction],
        limits: Limits,
    ) -> None:
        finite = [most for both in capacities for most in both if most is not None]
        self.unit = lcm(*(most.denominator for most in finite))
        self.scale = lcm(*(delta.denominator for delta in deltas))
        self.deltas = deltas
        places = len(capacities)
        self.network = network = Network(places + 3, limits)
        ground, self.source, self.sink = places, places + 1, places + 2
        endless = sum(int(most * self.unit) for most in finite) + 1
        self.links = [
            (arc, network.add(arc[0] % (ground + 1), arc[1] % (ground + 1), endless, 0)) for arc in arcs
        ]
        for j, (both, delta) in enumerate(zip(capacities, deltas, strict=True)):
            created, absorbed = (endless if most is None else int(most * self.unit) for most in both)
            network.add(self.source, j, created, int(delta * self.scale))
            network.add(j, self.sink, absorbed, -int(delta * self.scale))
        network.add(self.source, ground, endless, 0)
        network.add(ground, self.sink, endless, 0)
        self.earned = -network.cheapest(self.source, self.sink)

    @property
    def found(self) -> tuple[Fraction, dict[Arc, Fraction]]:
        """What the flow earns, and the flow."""
        room = self.network.room
        flow = {arc: Fraction(amount, self.unit) for arc, k in self.links if (amount := room[k + 1])}
        return Fraction(self.earned, self.unit * self.scale), flow

    @property
    def shifts(self) -> tuple[Fraction, ...]:
        """The dual solution: prices of places, with which no arc that has room earns anything."""
        self.network.add(self.source, self.sink, 1, 0)
        prices = self.network.distances(self.source)
        low, high = min((*self.deltas, Fraction(0))), max((*self.deltas, Fraction(0)))
        return tuple(
            high if price is None else min(max(Fraction(price, self.scale), low), high)
            for price in prices[: len(self.deltas)]
        )


def _is_endless(arcs: Sequence[Arc], capacities: Sequence[Slopes], deltas: Sequence[Fraction]) -> bool:
    """Whether a way from a place that creates without limit to one that absorbs so earns something."""
    over: dict[int, list[int]] = {}
    for i, j in arcs:
        over.setdefault(i, []).append(j)
    ground = {GROUND: Fraction(0)}
    creating = ground | {j: deltas[j] for j, (most, _) in enumerate(capacities) if most is None}
    absorbing = ground | {j: deltas[j] for j, (_, most) in enumerate(capacities) if most is None}
    for low in sorted(set(creating.values())):
        todo = [j for j in creating if creating[j] == low]
        seen = set(todo)
        while todo:
            for j in over.get(todo.pop(), ()):
                if j not in seen:
                    seen.add(j)
                    todo.append(j)
        if any(absorbing[j] > low for j in seen & absorbing.keys()):
            return True
    return False


@dataclass(eq=False)
class Network:
    """Arcs ``2k`` and ``2k+1`` are an arc and its reverse."""

    nodes: int
    limits: Limits
    head: list[int] = field(default_factory=list)
    room: list[int] = field(default_factory=list)
    price: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.out: list[list[int]] = [[] for _ in range(self.nodes)]

    def add(self, u: int, v: int, capacity: int, price: int) -> int:
        k = len(self.head)
        self.head += [v, u]
        self.room += [capacity, 0]
        self.price += [price, -price]
        self.out[u].append(k)
        self.out[v].append(k + 1)
        return k

    def cheapest(self, source: int, sink: int) -> int:
        """Send as much as makes the price least; returns that price.

        Primal and dual: all shortest ways at a time, as long as they have a negative price. There is no cycle
        of negative price to begin with, and these augmentations never make one.
        """
        total = 0
        while True:
            distance = self.distances(source)
            far = distance[sink]
            if far is None or far >= 0:
                return total
            while (rank := self._ranks(source, sink, distance)) is not None:
                total += far * self._block(source, sink, distance, rank)

    def distances(self, source: int) -> list[int | None]:
        """The price of a cheapest way to each node (Bellman and Ford, by a queue)."""
        distance: list[int | None] = [None] * self.nodes
        distance[source] = 0
        queue, waiting = deque([source]), {source}
        while queue:
            self.limits.check(FLOWING)
            u = queue.popleft()
            waiting.discard(u)
            here = distance[u]
            assert here is not None
            for k in self.out[u]:
                v = self.head[k]
                known = distance[v]
                if self.room[k] and (known is None or here + self.price[k] < known):
                    distance[v] = here + self.price[k]
                    if v not in waiting:
                        waiting.add(v)
                        queue.append(v)
        return distance

    def _tight(self, u: int, k: int, distance: Sequence[int | None]) -> bool:
        here = distance[u]
        return bool(self.room[k]) and here is not None and here + self.price[k] == distance[self.head[k]]

    def _ranks(self, source: int, sink: int, distance: Sequence[int | None]) -> list[int] | None:
        """For each node how many arcs it is away on cheapest ways; ``None`` if the sink is not reached."""
        rank = [-1] * self.nodes
        rank[source] = 0
        queue = deque([source])
        while queue:
            u = queue.popleft()
            for k in self.out[u]:
                if rank[self.head[k]] < 0 and self._tight(u, k, distance):
                    rank[self.head[k]] = rank[u] + 1
                    queue.append(self.head[k])
        return rank if rank[sink] >= 0 else None

    def _block(self, source: int, sink: int, distance: Sequence[int | None], rank: list[int]) -> int:
        """Fill ways of ascending rank until each has a full arc; returns the amount sent."""
        sent = 0
        turn = [0] * self.nodes
        way: list[int] = []
        node = source
        while True:
            if node == sink:
                self.limits.check(FLOWING)
                amount = min(self.room[k] for k in way)
                sent += amount
                for k in way:
                    self.room[k] -= amount
                    self.room[k ^ 1] += amount
                way, node = [], source
                continue
            while turn[node] < len(self.out[node]):
                k = self.out[node][turn[node]]
                if rank[self.head[k]] == rank[node] + 1 and self._tight(node, k, distance):
                    break
                turn[node] += 1
            else:
                if node == source:
                    return sent
                node = self.head[way.pop() ^ 1]
                turn[node] += 1
                continue
            way.append(k)
            node = self.head[k]
