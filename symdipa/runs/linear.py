"""Runs of any automaton in numbers: their samples, what they compare and show, and what shifting them costs.

A run is unrolled into a :class:`System`: a sample for each draw, comparisons between samples and constants
(values that were copied are followed back), and the numbers that are shown. On it the questions of the wider
model are exact: whether the run has a positive probability on some inputs, and the least cost of an
admissible shift (Thm. A, Thm. B).

Signs are those of docs/weights.md. ``Delta`` is the first input minus the second, ``sigma`` the shift: sample
``i`` below sample ``j`` asks ``sigma_i >= sigma_j``, a shown number ``sigma = 0``, a shown difference equal
shifts, and a mirrored value has the negative shift. The cost of a sample is ``d*|sigma - Delta|``, for
exponential noise ``d*(Delta - sigma)`` and infinite above ``Delta``, without noise infinite but at ``Delta``.
The least cost, times ``eps``, is the supremum of the logarithm of how much likelier the run's outputs are on
the first input than on the second.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from itertools import product
from math import ceil, floor, lcm
from typing import Literal

from symdipa.model.automaton import Automaton, Noise, OutputKind, Term
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.parts import SAMPLE, SECOND_SAMPLE

Span = tuple[int, int]
"""A half-open range of positions of a run."""

# ------------------------------------------------------------------------------------------------- unrolling


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample that a step of a run draws around ``mean``, plus the input if it ``reads_input``.

    ``d`` is its inverse noise scale (0: no noise). ``second``: the other sample of the step, which is only
    shown.
    """

    step: int
    noise: Noise
    d: Fraction
    mean: Fraction
    reads_input: bool
    second: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """A sample (by its number), or its negative if it is ``mirrored``, plus ``offset``; or that constant."""

    sample: int | None
    offset: Fraction = Fraction(0)
    mirrored: bool = False

    @property
    def sign(self) -> int:
        return -1 if self.mirrored else 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """``low <= high``, or ``low < high`` if it is ``strict``, asked at a step."""

    low: Value
    high: Value
    strict: bool
    step: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A number that a step shows, or a difference: less the ``subtrahend``, if there is one."""

    step: int
    value: Value
    subtrahend: Value | None = None


@dataclass(frozen=True)
class System:
    """A run in numbers. ``reads`` says of every step whether it reads an input."""

    integer: bool
    reads: tuple[bool, ...]
    samples: tuple[Sample, ...]
    comparisons: tuple[Comparison, ...]
    shown: tuple[Shown, ...]

    @cached_property
    def mirrored(self) -> bool:
        """Whether a value is compared with its negative, or the negative of another."""
        return any(
            c.low.mirrored != c.high.mirrored and c.low.sample is not None and c.high.sample is not None
            for c in self.comparisons
        )

    @cached_property
    def frame(self) -> _Frame:
        """What costs for all differences have in common."""
        return _frame(self)

    @cached_property
    def grounded(self) -> frozenset[int]:
        """The samples whose own values are shown."""
        found = set()
        for one in self.shown:
            ends = [v.sample for v in (one.value, one.subtrahend) if v is not None and v.sample is not None]
            if len(ends) == 1:
                found.add(ends[0])
        return frozenset(found)

    @cached_property
    def tied(self) -> tuple[tuple[int, int], ...]:
        """The pairs of samples whose difference is shown."""
        found = []
        for one in self.shown:
            a, b = one.value.sample, None if one.subtrahend is None else one.subtrahend.sample
            if a is not None and b is not None and a != b:
                found.append((a, b))
        return tuple(found)


def unrolled(automaton: Automaton, run: Sequence[int]) -> System:
    """The system of a run, which is positions of transitions from the initial state on.

    Raises ``ValueError`` for what is no run.
    """
    where = automaton.initial
    for t in run:
        transition = automaton.transitions[t]
        if transition.source != where:
            raise ValueError(f"a step leaves {transition.source}, but the run is in {where}")
        where = transition.target
    walk = _Walk(automaton)
    for t in run:
        walk.step(t)
    return walk.system()


def repeated(run: Sequence[int], cycles: Sequence[Span], times: int) -> list[Span]:
    """For every step of the run with each cycle taken ``times`` times: its position in ``run``, the round."""
    found: list[Span] = []
    ends, k = dict(cycles), 0
    while k < len(run):
        end = ends.get(k, k + 1)
        found += [(at, turn) for turn in range(times if k in ends else 1) for at in range(k, end)]
        k = end
    return found


class _Walk:
    """A run step by step: who holds which value."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.held: dict[str, Value] = {}
        self.reads: list[bool] = []
        self.samples: list[Sample] = []
        self.comparisons: list[Comparison] = []
        self.shown: list[Shown] = []

    def step(self, t: int) -> None:
        transition, step = self.automaton.transitions[t], len(self.reads)
        state = self.automaton.state(transition.source)
        self.reads.append(state.is_input)
        now = dict(self.held)
        if state.draws and (state.d or state.noise is Noise.NONE):
            d = state.d or Fraction(0)
            now[SAMPLE] = self._drawn(Sample(step, state.noise, d, state.mu, state.is_input))
        for each in sorted(transition.guard.atoms, key=str):
            low, high = self._value(each.low, now), self._value(each.high, now)
            self.comparisons.append(Comparison(low, high, each.strict, step))
        for x in transition.assign:
            self.held[x] = now[SAMPLE]
        for x, y in transition.copies:
            self.held[x] = now[y] if isinstance(y, str) else Value(None, y)
        names = dict(self.held)
        if SAMPLE in now:
            names[SAMPLE] = now[SAMPLE]
        if transition.output.shows_second:
            d = state.d_prime or Fraction(0)
            sample = Sample(step, state.noise_prime, d, state.mu_prime, state.is_input, second=True)
            names[SECOND_SAMPLE] = self._drawn(sample)
        for part in transition.output.parts:
            if part.kind is OutputKind.INSAMPLE:
                self.shown.append(Shown(step, names[SAMPLE]))
            elif part.kind is OutputKind.INSAMPLE_PRIME:
                self.shown.append(Shown(step, names[SECOND_SAMPLE]))
            elif part.kind is OutputKind.VALUE:
                self.shown.append(Shown(step, names[part.names[0]]))
            elif part.kind is OutputKind.DIFFERENCE:
                self.shown.append(Shown(step, names[part.names[0]], names[part.names[1]]))

    def system(self) -> System:
        return System(
            self.automaton.integer,
            tuple(self.reads),
            tuple(self.samples),
            tuple(self.comparisons),
            tuple(self.shown),
        )

    def anything(self) -> Value:
        """A value of which nothing is known, and which is shifted for nothing."""
        return self._drawn(Sample(-1, Noise.LAPLACE, Fraction(0), Fraction(0), False))

    def _drawn(self, sample: Sample) -> Value:
        self.samples.append(sample)
        return Value(len(self.samples) - 1)

    @staticmethod
    def _value(term: Term, now: dict[str, Value]) -> Value:
        if term.name is None:
            return Value(None, term.offset)
        held = now[term.name]
        sign = -1 if term.mirrored else 1
        return Value(held.sample, sign * held.offset + term.offset, term.mirrored and held.sample is not None)


# ----------------------------------------------------------------------------------------------- feasibility


def feasible(system: System) -> bool:
    """Whether the run has a positive probability on some inputs.

    Over the reals a comparison with a sample that has noise is as good as strict. Samples lie above their
    mean if their noise is exponential, and at it without noise, where no input moves it.
    """
    return _Bounds(system).solved() is not None


def solution(system: System, margin: Fraction = Fraction(0)) -> tuple[Fraction, ...] | None:
    """Values of all samples with which the run is taken; ``None`` if there are none.

    Comparisons with noise hold by more than ``margin``, over the integers by as much.
    """
    bounds = _Bounds(system, margin=margin)
    found = bounds.solved(margin)
    if found is None or not system.integer or not system.mirrored:
        return found
    return bounds.rounded(found)


@dataclass(frozen=True, slots=True)
class Edge:
    """Node ``low`` is at most node ``high`` plus ``more`` (less than that, if it is ``strict``)."""

    low: int
    high: int
    more: Fraction
    strict: bool


def potentials(
    nodes: int, edges: Sequence[Edge], margin: Fraction = Fraction(0)
) -> tuple[list[int], int] | None:
    """Numbers for the nodes that respect all edges, strict ones by more than ``margin``, as multiples of one
    over the second result; ``None`` if there are none."""
    scale = lcm(margin.denominator, *(edge.more.denominator for edge in edges))
    unit = len(edges) + 2  # a circle has fewer strict edges
    into: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for edge in edges:
        more = (edge.more - (margin if edge.strict else 0)) * scale
        into[edge.high].append((edge.low, int(more) * unit - edge.strict))
    value, length = [0] * nodes, [0] * nodes
    work, waiting = deque(range(nodes)), [True] * nodes
    while work:
        high = work.popleft()
        waiting[high] = False
        for low, far in into[high]:
            if value[low] > value[high] + far:
                value[low], length[low] = value[high] + far, length[high] + 1
                if length[low] > nodes:
                    return None
                if not waiting[low]:
                    waiting[low] = True
                    work.append(low)
    return value, unit * scale


class _Bounds:
    """The comparisons as bounds on differences of nodes: each sample has one, and its negative another one.

    Where nothing is mirrored the negatives are left out, and constants are differences from the ground.
    """

    def __init__(self, system: System, strict: bool = False, margin: Fraction = Fraction(0)) -> None:
        """``strict``: over the reals all comparisons are taken to be so, also those that have no noise.
        ``margin``: by how much those with noise hold, over the integers."""
        self.system = system
        self.double = system.mirrored
        self.ground = len(system.samples) * (2 if self.double else 1)
        self.edges: list[Edge] = []
        for c in system.comparisons:
            noisy = any(
                v.sample is not None and system.samples[v.sample].noise is not Noise.NONE
                for v in (c.low, c.high)
            )
            low = replace(c.low, offset=c.low.offset + margin) if noisy and system.integer else c.low
            self.add(low, c.high, c.strict or ((noisy or strict) and not system.integer))
        for i, sample in enumerate(system.samples):
            mean = Value(None, sample.mean)
            if not sample.reads_input and sample.noise is not Noise.LAPLACE:
                exponential = sample.noise is Noise.EXPONENTIAL
                self.add(mean, Value(i), exponential and not system.integer)
                if not exponential:
                    self.add(Value(i), mean, False)

    def add(self, low: Value, high: Value, strict: bool) -> None:
        """A comparison; over the integers none need be strict."""
        more = high.offset - low.offset
        if low.sample is None and high.sample is None:
            self.edges.append(self._edge(self.ground, self.ground, more, strict))
        elif self.double and (low.sample is None or high.sample is None):
            value, sign = (low, 1) if high.sample is None else (high, -1)
            assert value.sample is not None  # sign * value <= more, doubled
            up, down = self._nodes(value, sign)
            more, strict = self._whole(more, strict)
            self.edges.append(Edge(up, down, 2 * more, strict))
        elif self.double:
            (a, mirror_a), (b, mirror_b) = self._nodes(low), self._nodes(high)
            self.edges.append(self._edge(a, b, more, strict))
            self.edges.append(self._edge(mirror_b, mirror_a, more, strict))
        else:
            if low.sample is None or high.sample is None:
                a, b = self._single(low), self._single(high)
            else:
                a, b = low.sample, high.sample
            if low.mirrored or high.mirrored:
                a, b = b, a  # -a <= -b, or a constant on one side
            self.edges.append(self._edge(a, b, more, strict))

    def _single(self, value: Value) -> int:
        return self.ground if value.sample is None else value.sample

    def _nodes(self, value: Value, sign: int = 1) -> tuple[int, int]:
        assert value.sample is not None
        minus = value.sign * sign < 0
        return 2 * value.sample + minus, 2 * value.sample + (not minus)

    def _edge(self, low: int, high: int, more: Fraction, strict: bool) -> Edge:
        more, strict = self._whole(more, strict)
        if self.system.integer and self.double and low ^ 1 == high and low != self.ground:
            more = Fraction(2 * (more // 2))  # twice the value
        return Edge(low, high, more, strict)

    def _whole(self, more: Fraction, strict: bool) -> tuple[Fraction, bool]:
        """What is said of integers by a bound."""
        if not self.system.integer:
            return more, strict
        return Fraction(ceil(more) - 1 if strict else floor(more)), False

    def solved(self, margin: Fraction = Fraction(0)) -> tuple[Fraction, ...] | None:
        """Values of the samples, halves among them where mirrored ones are asked to be integers."""
        found = potentials(self.ground + 1, self.edges, margin)
        if found is None:
            return None
        value, unit = found
        if not self.double:
            ends = [Fraction(value[i] - value[self.ground], unit) for i in range(len(self.system.samples))]
            return tuple(ends)
        if self.system.integer and not self._tight(value, unit):
            return None
        return tuple(
            Fraction(value[2 * i] - value[2 * i + 1], 2 * unit) for i in range(len(self.system.samples))
        )

    def _tight(self, value: Sequence[int], unit: int) -> bool:
        """Whether twice a value, which is even, fits between its bounds (Bagnara et al.: that is enough)."""
        into: list[list[tuple[int, int]]] = [[] for _ in value]
        for edge in self.edges:
            into[edge.high].append((edge.low, int(edge.more) * unit))

        def bound(start: int, end: int) -> int | None:
            """The least bound of ``end`` less ``start``: paths whose weights are made positive."""
            best, heap = {start: 0}, [(0, start)]
            while heap:
                far, node = heappop(heap)
                if node == end:
                    return far - value[start] + value[end]
                if far > best[node]:
                    continue
                for low, more in into[node]:
                    grown = far + more + value[node] - value[low]
                    if grown < best.get(low, grown + 1):
                        best[low] = grown
                        heappush(heap, (grown, low))
            return None

        for i in range(len(self.system.samples)):
            up, down = bound(2 * i + 1, 2 * i), bound(2 * i, 2 * i + 1)
            if up is not None and down is not None and up // unit // 2 + down // unit // 2 < 0:
                return False
        return True

    def rounded(self, found: tuple[Fraction, ...]) -> tuple[Fraction, ...] | None:
        """Integers near a solution with halves; ``None`` where this simple search finds none."""
        while (i := next((i for i, x in enumerate(found) if x.denominator > 1), None)) is not None:
            for whole in (floor(found[i]), ceil(found[i])):
                fixed, before = Value(None, Fraction(whole)), len(self.edges)
                self.add(Value(i), fixed, False)
                self.add(fixed, Value(i), False)
                better = self.solved()
                if better is not None:
                    found = better
                    break
                del self.edges[before:]
            else:
                return None
        return found


# ------------------------------------------------------------------------------------------ costs of shifts


def cost(system: System, deltas: Sequence[Fraction | int]) -> Fraction | None:
    """The least cost of an admissible shift for these differences of the steps (first input minus second).

    Differences of steps without input do not matter. ``None``: every shift costs infinitely much.
    """
    found = best_shift(system, deltas)
    return None if found is None else found[0]


def best_shift(
    system: System, deltas: Sequence[Fraction | int]
) -> tuple[Fraction, tuple[Fraction, ...]] | None:
    """The least cost, and the shift of each sample with which it is reached; ``None`` if it is infinite.

    A cost is a sum over neighbouring levels (the differences and 0) of what it costs that samples are above
    or below: one smallest cut for each.
    """
    sides, frame = (2 if system.mirrored else 1), system.frame
    whole = [_difference(system, deltas, i) for i in range(len(system.samples))]
    levels = sorted({Fraction(0), *whole, *((-x for x in whole) if sides == 2 else ())})
    place = {level: k for k, level in enumerate(levels)}
    places = [[place[x], place[-x]] if sides == 2 else [place[x]] for x in whole]
    shifts = [[0] * sides for _ in whole]
    total = Fraction(0)
    for k in range(1, len(levels)):
        cut = _Cut(frame)
        cut.hold(frame.ground, above=place[Fraction(0)] >= k)
        for i, sample in enumerate(system.samples):
            for side in range(sides):
                above = places[i][side] >= k
                rigid = sample.noise is Noise.NONE
                # The shift of an exponential sample is not above its difference; mirrored, not below it.
                rigid |= sample.noise is Noise.EXPONENTIAL and above == bool(side)
                if rigid:
                    cut.hold(sides * i + side, above)
                else:
                    cut.price(sides * i + side, above, frame.rates[i])
        least = cut.least()
        if least is None:
            return None
        total += least * (levels[k] - levels[k - 1])
        for i, shift in enumerate(shifts):
            for side in range(sides):
                if cut.above[sides * i + side]:
                    shift[side] = k
    best = tuple((levels[s[0]] - levels[s[1]]) / 2 if sides == 2 else levels[s[0]] for s in shifts)
    return total / (frame.scale * sides), best


def _difference(system: System, deltas: Sequence[Fraction | int], i: int) -> Fraction:
    sample = system.samples[i]
    return Fraction(deltas[sample.step]) if sample.reads_input else Fraction(0)


@dataclass(frozen=True)
class _Frame:
    """What the costs of a run have in common: rates as integers in units of one over ``scale``, and pairs of
    nodes of which the second is above a level wherever the first is."""

    scale: int
    rates: tuple[int, ...]
    ground: int
    forced: tuple[tuple[int, int], ...]


def _frame(system: System) -> _Frame:
    double = system.mirrored
    ground = len(system.samples) * (2 if double else 1)
    scale = lcm(*(s.d.denominator for s in system.samples), 1)

    def node(value: Value, other: bool = False) -> int:
        if value.sample is None:
            return ground
        return 2 * value.sample + (value.mirrored != other) if double else value.sample

    pairs: dict[tuple[int, int], None] = {}
    for c in system.comparisons:
        low, high = (c.high, c.low) if not double and (c.low.mirrored or c.high.mirrored) else (c.low, c.high)
        pairs[node(high), node(low)] = None
        if double:
            pairs[node(low, True), node(high, True)] = None
    ties = [(Value(a), Value(b)) for a, b in system.tied]
    ties += [(Value(a), Value(None)) for a in system.grounded]
    for a, b in ties:
        for other in (False, True) if double else (False,):
            pairs[node(a, other), node(b, other)] = None
            pairs[node(b, other), node(a, other)] = None
    rates = tuple(int(s.d * scale) for s in system.samples)
    return _Frame(scale, rates, ground, tuple((a, b) for a, b in pairs if a != b))


class _Cut:
    """Who is above and who is below a level, so that it costs least: a smallest cut, by a largest flow."""

    def __init__(self, frame: _Frame) -> None:
        self.source, self.sink = frame.ground + 1, frame.ground + 2
        self.arcs: list[list[int]] = [[] for _ in range(frame.ground + 3)]
        self.target: list[int] = []
        self.room: list[int | None] = []  # ``None``: unlimited
        self.above: list[bool] = []
        for a, b in frame.forced:
            self._arc(a, b, None)

    def _arc(self, a: int, b: int, room: int | None) -> None:
        self.arcs[a].append(len(self.target))
        self.arcs[b].append(len(self.target) + 1)
        self.target += (b, a)
        self.room += (room, 0)

    def hold(self, node: int, above: bool) -> None:
        """The node has to be above, or below."""
        self._arc(*((self.source, node) if above else (node, self.sink)), None)

    def price(self, node: int, above: bool, price: int) -> None:
        """What it costs if the node is not above, or not below."""
        if price:
            self._arc(*((self.source, node) if above else (node, self.sink)), price)

    def least(self) -> int | None:
        """The least cost, ``None`` if it is infinite; tells who is :attr:`above`, as few as can be."""
        total, bound = 0, sum(room or 0 for room in self.room) + 1
        while True:
            level = self._levels()
            if level[self.sink] < 0:
                self.above = [k >= 0 for k in level]
                return total
            following = [0] * len(self.arcs)
            while pushed := self._push(level, following, bound):
                if pushed >= bound:
                    return None
                total += pushed

    def _levels(self) -> list[int]:
        level = [-1] * len(self.arcs)
        level[self.source] = 0
        work = [self.source]
        for a in work:
            for arc in self.arcs[a]:
                b = self.target[arc]
                if level[b] < 0 and self.room[arc] != 0:
                    level[b] = level[a] + 1
                    work.append(b)
        return level

    def _push(self, level: list[int], following: list[int], bound: int) -> int:
        """Push along one shortest path; 0 if there is none left."""
        path: list[int] = []
        a = self.source
        while a != self.sink:
            arcs = self.arcs[a]
            while following[a] < len(arcs):
                arc = arcs[following[a]]
                if self.room[arc] != 0 and level[self.target[arc]] == level[a] + 1:
                    break
                following[a] += 1
            else:
                if not path:
                    return 0
                a = self.target[path.pop() ^ 1]
                following[a] += 1
                continue
            path.append(arc)
            a = self.target[arc]
        pushed = bound
        for arc in path:
            room = self.room[arc]
            pushed = pushed if room is None else min(pushed, room)
        if pushed < bound:
            for arc in path:
                room, back = self.room[arc], self.room[arc ^ 1]
                self.room[arc] = None if room is None else room - pushed
                self.room[arc ^ 1] = None if back is None else back + pushed
        return pushed


# ------------------------------------------------------------------------------------------ the worst inputs

EXHAUSTIVE = 10
"""Up to so many inputs that may matter together, all their differences are tried."""
ASCENTS = 4
"""How many starts a search has that does not try all."""


@dataclass(frozen=True)
class Worst:
    """The largest least cost found (``None``: infinite), the difference of each step, and whether no
    differences cost more."""

    value: Fraction | None
    deltas: tuple[Fraction, ...]
    exact: bool


def worst(system: System, low: Fraction | int, high: Fraction | int, limits: Limits = UNLIMITED) -> Worst:
    """The differences between ``low`` and ``high`` that cost most; by convexity at the ends.

    Parts of the run that are not compared with each other are looked at one by one.
    """
    ends = tuple(dict.fromkeys((Fraction(high), Fraction(low))))
    deltas = [Fraction(0)] * len(system.reads)
    total, exact = Fraction(0), True
    for part, inputs in _parts(system):

        def of(choice: Sequence[Fraction]) -> Fraction | None:
            limits.check("the differences that cost most")
            return cost(part, _placed(len(system.reads), inputs, choice))  # noqa: B023

        choice, sure = largest(of, len(inputs), ends)
        value = of(choice)
        for step, delta in zip(inputs, choice, strict=True):
            deltas[step] = delta
        if value is None:
            return Worst(None, tuple(deltas), True)
        total, exact = total + value, exact and sure
    return Worst(total, tuple(deltas), exact)


def _placed(length: int, steps: Sequence[int], choice: Sequence[Fraction]) -> list[Fraction]:
    placed = [Fraction(0)] * length
    for step, delta in zip(steps, choice, strict=True):
        placed[step] = delta
    return placed


def largest(
    of: Callable[[Sequence[Fraction]], Fraction | None], count: int, ends: Sequence[Fraction]
) -> tuple[tuple[Fraction, ...], bool]:
    """Where a function of ``count`` ends is largest (``None`` is infinite), and whether all were tried."""
    if len(ends) == 1 or not count:
        return (ends[0],) * count, True

    def rank(choice: tuple[Fraction, ...]) -> tuple[bool, Fraction]:
        value = of(choice)
        return value is None, value or Fraction(0)

    if count <= EXHAUSTIVE:
        best, top = (ends[0],) * count, (False, Fraction(-1))
        for choice in product(ends, repeat=count):
            if (now := rank(choice)) > top:
                best, top = choice, now
            if top[0]:
                break
        return best, True
    starts = [tuple(ends[(k >> s) % 2 if s else 0] for k in range(count)) for s in range(ASCENTS)]
    found = [_ascended(rank, start, ends) for start in starts]
    return max(found, key=lambda one: one[1])[0], False


def _ascended(
    rank: Callable[[tuple[Fraction, ...]], tuple[bool, Fraction]],
    start: tuple[Fraction, ...],
    ends: Sequence[Fraction],
) -> tuple[tuple[Fraction, ...], tuple[bool, Fraction]]:
    """Turn single differences, then neighbouring ones, as long as that helps."""

    def turned(choice: tuple[Fraction, ...], places: tuple[int, ...]) -> tuple[Fraction, ...]:
        return tuple(ends[x == ends[0]] if k in places else x for k, x in enumerate(choice))

    best, top = start, rank(start)
    better = True
    while better and not top[0]:
        better = False
        count = len(best)
        for places in [*((k,) for k in range(count)), *((k, k + 1) for k in range(count - 1))]:
            other = turned(best, places)
            now = rank(other)
            if now > top:
                best, top, better = other, now, True
    return best, top


def _parts(system: System) -> Iterator[tuple[System, list[int]]]:
    """The parts of a system that nothing but constants connects, each with the steps whose inputs matter."""
    parent = list(range(len(system.samples)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = i = parent[parent[i]]
        return i

    touched = set(system.grounded)
    for a, b in system.tied:
        touched |= {a, b}
        parent[root(a)] = root(b)
    for c in system.comparisons:
        ends = [v.sample for v in (c.low, c.high) if v.sample is not None]
        touched |= set(ends)
        if len(ends) == 2:
            parent[root(ends[0])] = root(ends[1])
    by_step: dict[int, int] = {}
    for i, sample in enumerate(system.samples):
        if i in touched and sample.reads_input:
            parent[root(i)] = root(by_step.setdefault(sample.step, i))
    groups: dict[int, list[int]] = {}
    for i in sorted(touched):
        groups.setdefault(root(i), []).append(i)
    for members in groups.values():
        yield (
            _restricted(system, members),
            sorted({system.samples[i].step for i in members if system.samples[i].reads_input}),
        )


def _restricted(system: System, members: Sequence[int]) -> System:
    number: dict[int | None, int | None] = {i: k for k, i in enumerate(members)}
    number[None] = None

    def inside(*values: Value | None) -> bool:
        ends = [v.sample for v in values if v is not None and v.sample is not None]
        return bool(ends) and ends[0] in number

    def moved(value: Value) -> Value:
        return Value(number[value.sample], value.offset, value.mirrored)

    return System(
        system.integer,
        system.reads,
        tuple(system.samples[i] for i in members),
        tuple(
            Comparison(moved(c.low), moved(c.high), c.strict, c.step)
            for c in system.comparisons
            if inside(c.low, c.high)
        ),
        tuple(
            Shown(s.step, moved(s.value), None if s.subtrahend is None else moved(s.subtrahend))
            for s in system.shown
            if inside(s.value, s.subtrahend)
        ),
    )


# ------------------------------------------------------------------------------------------------- repetition

ROUNDS = 4
"""Costs are stated up to this number of rounds (or of pairs of rounds)."""
REPEATS = 4
"""A loop whose effect has not come to rest after so many rounds is not shown to be repeatable."""
TOGETHER = 3
"""Up to so many rounds of a cycle (or pairs of rounds) are looked at together."""


@dataclass(frozen=True)
class Growth:
    """Whether a run costs more and more when its cycles are taken again and again.

    ``grows``: every ``len(deltas)`` further rounds of each cycle add so much or more, whatever all else is
    shifted by; or ``"infinite"``: it is at once; ``None``: neither was shown. ``reason`` says why not,
    or why the run is feasible with any number of rounds. ``deltas`` has the difference of every position
    of the run, a row for each round in turn; ``costs`` are those of n = 1, 2, 3, ... times these rounds.
    """

    grows: Fraction | Literal["infinite"] | None
    deltas: tuple[tuple[Fraction, ...], ...]
    costs: tuple[Fraction | None, ...]
    reason: str

    def differences(self, run: Sequence[int], cycles: Sequence[Span], times: int) -> tuple[Fraction, ...]:
        """The difference of every step of the run with each cycle taken ``times`` times."""
        return tuple(self.deltas[turn % len(self.deltas)][at] for at, turn in repeated(run, cycles, times))


def growth(
    automaton: Automaton,
    run: Sequence[int],
    cycles: Sequence[Span],
    low: Fraction | int,
    high: Fraction | int,
    limits: Limits = UNLIMITED,
) -> Growth:
    """Whether the run with all cycles taken n = 1, 2, 3, ... times is feasible and costs more and more.

    ``cycles`` are disjoint ranges of positions. What a round costs is looked at alone: samples outside of the
    cycles are shifted for nothing, and what a cycle stores and finds stored by itself is left open; so the
    costs of rounds add up to a bound from below, however many there are.
    """
    rising = _Rising(automaton, tuple(run), tuple(sorted(cycles)), limits)
    possible, reason = rising.repeatable()
    if not possible:
        return Growth(None, (), (), reason)
    ends = tuple(dict.fromkeys((Fraction(high), Fraction(low))))
    last = Growth(None, (), (), "there are no differences with which each round costs more")
    for together, period in product(range(1, TOGETHER + 1), (1, 2)):
        found = rising.by(period, together, ends, reason)
        if found is not None:
            return found
    return last


@dataclass
class _Rising:
    """A run and its cycles."""

    automaton: Automaton
    run: tuple[int, ...]
    cycles: tuple[Span, ...]
    limits: Limits

    def __post_init__(self) -> None:
        self.systems: dict[int, System] = {}
        self.alone: dict[int, System] = {}

    def system(self, times: int) -> System:
        """The run with each cycle taken so many times."""
        if times not in self.systems:
            steps = [self.run[at] for at, _ in repeated(self.run, self.cycles, times)]
            self.systems[times] = unrolled(self.automaton, steps)
        return self.systems[times]

    def rounds(self, times: int) -> System:
        """So many rounds of each cycle alone: all else has no price, and what cycles store is not followed
        into them or out of them."""
        if times not in self.alone:
            walk = _Walk(self.automaton)
            open_at: dict[int, set[str]] = {}
            for i, j in self.cycles:
                stored = {x for t in self.run[i:j] for x in self.automaton.transitions[t].assigned}
                open_at[i] = open_at.get(i, set()) | stored
                open_at[j] = open_at.get(j, set()) | stored
            inside = set()
            for at, turn in repeated(self.run, self.cycles, times):
                cycle = next((span for span in self.cycles if span[0] <= at < span[1]), None)
                if cycle is None or (turn == 0 and at == cycle[0]):
                    for name in sorted(open_at.get(at, set()) & walk.held.keys()):
                        walk.held[name] = walk.anything()
                if cycle is not None:
                    inside.add(len(walk.reads))
                walk.step(self.run[at])
            system = walk.system()
            free = [s if s.step in inside else replace(s, d=Fraction(0)) for s in system.samples]
            self.alone[times] = replace(system, samples=tuple(free))
        return self.alone[times]

    def cost(self, system: System, times: int, rows: Sequence[Sequence[Fraction]]) -> Fraction | None:
        self.limits.check("the costs of repeating a loop")
        deltas = [rows[turn % len(rows)][at] for at, turn in repeated(self.run, self.cycles, times)]
        return cost(system, deltas)

    def by(self, period: int, together: int, ends: tuple[Fraction, ...], reason: str) -> Growth | None:
        """The growth for the best differences that are repeated after ``period`` rounds."""
        positions = [k for k, t in enumerate(self.run) if self._reads(t)]
        inside = [k for k in positions if any(i <= k < j for i, j in self.cycles)]
        outside = [k for k in positions if k not in inside]
        places = [(row, k) for row in range(period) for k in inside] + [(0, k) for k in outside]

        def rows(choice: Sequence[Fraction]) -> tuple[tuple[Fraction, ...], ...]:
            table = [[Fraction(0)] * len(self.run) for _ in range(period)]
            for (row, k), delta in zip(places, choice, strict=True):
                table[row][k] = delta
                for other in table if k in outside else ():
                    other[k] = delta
            return tuple(map(tuple, table))

        def rise(choice: Sequence[Fraction]) -> Fraction | None:
            return self.cost(self.rounds(period * together), period * together, rows(choice))

        choice, _ = largest(rise, len(places), ends)
        table, rising = rows(choice), rise(choice)
        costs = tuple(self.cost(self.system(n * period), n * period, table) for n in range(1, ROUNDS + 1))
        if rising is None or None in costs:
            return Growth("infinite", table, costs, reason)
        return Growth(rising / together, table, costs, reason) if rising > 0 else None

    def _reads(self, t: int) -> bool:
        return self.automaton.state(self.automaton.transitions[t].source).is_input

    # Whether a run can be taken with any number of rounds.

    def repeatable(self) -> tuple[bool, str]:
        """Whether the run is feasible with its cycles taken any number of times, and why."""
        if not feasible(self.system(1)):
            return False, "the run is not feasible"
        if all(not self._carries(i, j) for i, j in self.cycles):
            return True, "no round reads what another round of its cycle stored: all may be alike"
        rest = 1
        for i, j in self.cycles:
            after = self._at_rest(i, j)
            if after is None:
                for times in range(2, REPEATS + 1):
                    if not feasible(self.system(times)):
                        return False, f"with {times} rounds the run is not feasible"
                return False, "it was not shown that the run is feasible for every number of rounds"
            rest = max(rest, after)
        for times in range(2, rest + 1):
            if _Bounds(self.system(times), strict=True).solved() is None or not feasible(self.system(times)):
                return False, f"with {times} rounds the run is not feasible"
        return True, "further rounds bound what is stored no more closely"

    def _carries(self, i: int, j: int) -> bool:
        """Whether a round reads what the one before has stored."""
        inside = [self.automaton.transitions[t] for t in self.run[i:j]]
        stored: set[str] = set()
        first: set[str] = set()
        for t in inside:
            first |= t.reads - stored
            stored |= t.assigned
            first |= t.output.reads - stored
        return bool(first & stored)

    def _at_rest(self, i: int, j: int) -> int | None:
        """After how many rounds one more bounds the values before and after the cycle no more closely."""
        before = self._effect(i, j, 1)
        for times in range(1, REPEATS + 1):
            after = self._effect(i, j, times + 1)
            if before is None or after is None:
                return None
            if before == after:
                return times
            before = after
        return None

    def _effect(self, i: int, j: int, times: int) -> object:
        """What some rounds ask of the values before and after them, whatever the former are."""
        self.limits.check("whether a loop can be repeated")
        walk = _Walk(self.automaton)
        for t in self.run[:i]:
            walk.step(t)
        names = sorted(walk.held)
        walk = _Walk(self.automaton)
        for name in names:
            walk.held[name] = walk.anything()
        for t in self.run[i:j] * times:
            walk.step(t)
        after = {name: walk.held[name] for name in sorted(walk.held)}
        system = walk.system()
        if system.integer and system.mirrored:
            return None
        bounds = _Bounds(system, strict=True)
        places = [*range(len(names)), *(v.sample for v in after.values() if v.sample is not None)]
        sides = 2 if bounds.double else 1
        kept = [bounds.ground, *(sides * k + side for k in places for side in range(sides))]
        closest = _closest(bounds, frozenset(kept))
        if closest is None:
            return None
        constants = {name: value.offset for name, value in after.items() if value.sample is None}
        return constants, [closest.get((a, b)) for a in kept for b in kept]


def _closest(bounds: _Bounds, kept: frozenset[int]) -> dict[tuple[int, int], tuple[Fraction, bool]] | None:
    """The closest bounds between some nodes, ``None`` if there is a contradiction."""
    over: dict[int, dict[int, tuple[Fraction, bool]]] = {}
    under: dict[int, set[int]] = {}

    def add(low: int, high: int, more: Fraction, strict: bool) -> bool:
        if low == high:
            return more > 0 or (more == 0 and not strict)
        known = over.setdefault(low, {}).get(high)
        if known is None or (more, not strict) < (known[0], not known[1]):
            over[low][high] = more, strict
            under.setdefault(high, set()).add(low)
        return True

    def through(node: int) -> bool:
        above = over.get(node, {})
        return all(
            add(low, high, over[low][node][0] + more, over[low][node][1] or strict)
            for low in under.get(node, set()).copy()
            for high, (more, strict) in list(above.items())
        )

    if not all(add(edge.low, edge.high, edge.more, edge.strict) for edge in bounds.edges):
        return None
    rest = set(range(bounds.ground + 1)) - kept
    while rest:
        node = min(rest, key=lambda k: (len(over.get(k, {})) * len(under.get(k, ())), k))
        rest.remove(node)
        if not through(node):
            return None
        for high in over.pop(node, {}):
            under[high].discard(node)
        for low in under.pop(node, set()):
            del over[low][node]
    for node in kept:
        if not through(node):
            return None
    return {(low, high): bound for low, above in over.items() for high, bound in above.items()}
