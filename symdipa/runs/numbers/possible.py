"""Whether a run is possible: has a positive probability on some inputs. Exact, in fractions or integers."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from math import ceil, floor, lcm

from symdipa.model.automaton import Noise
from symdipa.runs.numbers import linked
from symdipa.runs.numbers.system import System, Value


def feasible(system: System) -> bool:
    """Whether the run has a positive probability on some inputs.

    Over the reals a comparison with a sample that has noise is as good as strict. Samples lie above their
    mean if their noise is exponential, and at it without noise, where no input moves it.
    """
    if system.linked:
        return linked.solved(system) is not None
    return Differences(system).solved() is not None


def solution(system: System, margin: Fraction = Fraction(0)) -> tuple[Fraction, ...] | None:
    """Values of all samples with which the run is taken; ``None`` if there are none.

    Comparisons with noise hold by more than ``margin``, over the integers by as much.
    """
    if system.linked:
        values = linked.solved(system, margin)
        return None if values is None else values[0]
    bounds = Differences(system, margin=margin)
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


class Differences:
    """The comparisons as bounds on differences of nodes: each sample has one, and its negative another one.

    Where nothing is mirrored the negatives are left out, and constants are differences from the ground.
    """

    def __init__(self, system: System, strict: bool = False, margin: Fraction = Fraction(0)) -> None:
        """``strict``: over the reals all comparisons of samples are taken to be so, also those without noise.
        ``margin``: by how much those with noise hold, over the integers."""
        self.system = system
        self.double = system.mirrored
        self.ground = len(system.samples) * (2 if self.double else 1)
        self.edges: list[Edge] = []
        for c in system.comparisons:
            ends = [system.samples[v.sample] for v in (c.low, c.high) if v.sample is not None]
            noisy = any(sample.noise is not Noise.NONE for sample in ends)
            low = replace(c.low, offset=c.low.offset + margin) if noisy and system.integer else c.low
            self.add(low, c.high, c.strict or (not system.integer and (noisy or (strict and bool(ends)))))
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
