"""What the exact constant is computed on: costs in whole numbers, and the augmentation lifted by its futures.

The search tracks the shifts of the *live* values, those that some guard may still read. Of the samples that a
loop stores in a variable only the last one matters. So nodes are split by foresight: which variables stored
in some loop hold a value that the rest of the run *will* read; only these are tracked. An edge and the
foresight after it determine the one before it, so this *lift* is found backward. Making a run longer loses
nothing, so runs end in one node of each component without a way out.

Without leaking cycle, the tracked variables and their order are the same in all nodes of a component of the
lift, and nothing that is stored inside one is tracked (or it would be read, and then overwritten, on the way
round). A component is therefore one *place* of the search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import lcm

from symdipa.bounds.costs import Paid, rates
from symdipa.model.adjacency import Interval
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.augmentation import Augmentation
from symdipa.runs.control import Control
from symdipa.runs.graphs import component_numbers, components, explore, the_path
from symdipa.runs.order import Mask

NEVER = 1 << 60
"""A cost that stands for infinity."""


@dataclass(frozen=True, eq=False)
class Costs:
    """The costs of all transitions for differences in one interval, as whole multiples of ``1/unit``.

    A shift is a *level*, an index into ``levels`` (low, 0, high without repetition; with mirrors also their
    negatives). ``price[t][a][b]`` is what ``t`` costs when the difference has level ``a`` and the shift level
    ``b``, :data:`NEVER` if that is infinite. ``differences[t]`` are the levels of the extreme differences of
    ``t``.
    """

    interval: Interval
    levels: tuple[Fraction, ...]
    zero: int
    unit: int
    price: tuple[tuple[tuple[int, ...], ...], ...]
    differences: tuple[tuple[int, ...], ...]

    @property
    def top(self) -> int:
        return len(self.levels) - 1

    @property
    def largest(self) -> int:
        """No transition costs more."""
        finite = (cost for price in self.price for row in price for cost in row if cost < NEVER)
        return max(finite, default=0)

    @property
    def rigid(self) -> Costs:
        """The same where nothing but what is free is allowed, as in loops."""
        price = tuple(tuple(tuple(cost and NEVER for cost in row) for row in table) for table in self.price)
        return replace(self, price=price)


def costs(control: Control, interval: Interval) -> Costs:
    """The costs of the transitions of an automaton."""
    paid = rates(control)
    different = set(paid)
    ends = {interval[0], Fraction(0), interval[1]}
    ends |= {end for rate in different if rate.known is not None for end in rate.differences(*interval)}
    if any(rate.mirror for rate in different):
        ends |= {-end for end in ends}
    levels = tuple(sorted(ends))
    slopes = (slope for rate in different for slope in (*rate.slopes, *rate.release) if slope is not None)
    unit = lcm(*(level.denominator for level in levels)) * lcm(*(slope.denominator for slope in slopes))

    def whole(cost: Paid) -> int:
        return NEVER if cost is None else min(int(cost * unit), NEVER - 1)

    table = {rate: tuple(tuple(whole(rate.cost(a, b)) for b in levels) for a in levels) for rate in different}
    extreme = {
        rate: tuple(sorted({levels.index(end) for end in rate.differences(*interval)})) for rate in different
    }
    return Costs(
        interval,
        levels,
        levels.index(Fraction(0)),
        unit,
        tuple(table[rate] for rate in paid),
        tuple(extreme[rate] for rate in paid),
    )


@dataclass(frozen=True, eq=False)
class LiftedAugmentation:
    """The lifted augmentation: node ``v`` lies over ``base[v]`` and tracks the values of ``tracked[v]``.

    Edge ``i`` leads from ``source[i]`` to ``target[i]`` over edge ``edge[i]`` of the augmentation. Runs begin
    in ``start`` and end in one of the first ``ends`` nodes.
    """

    graph: Augmentation
    base: tuple[int, ...]
    tracked: tuple[Mask, ...]
    source: tuple[int, ...]
    target: tuple[int, ...]
    edge: tuple[int, ...]
    start: int
    ends: int

    def transition(self, i: int) -> int:
        return self.graph.transition[self.edge[i]]

    @cached_property
    def places(self) -> list[list[int]]:
        """The components, from the start on: predecessors before successors."""
        return components(len(self.base), list(zip(self.source, self.target, strict=True)))[::-1]

    @cached_property
    def place(self) -> list[int]:
        """For each node the number of its component in ``places``."""
        number = {v: i for i, nodes in enumerate(self.places) for v in nodes}
        return [number[v] for v in range(len(self.base))]

    @cached_property
    def inside(self) -> list[list[int]]:
        """For each place its inner edges."""
        return self._edges(self.source, inner=True)

    @cached_property
    def leaving(self) -> list[list[int]]:
        """For each place the edges from it to others."""
        return self._edges(self.source, inner=False)

    @cached_property
    def entering(self) -> list[list[int]]:
        """For each place the edges to it from others."""
        return self._edges(self.target, inner=False)

    def _edges(self, ends: Iterable[int], inner: bool) -> list[list[int]]:
        lists: list[list[int]] = [[] for _ in self.places]
        for i, v in enumerate(ends):
            if (self.place[self.source[i]] == self.place[self.target[i]]) is inner:
                lists[self.place[v]].append(i)
        return lists

    def walk(self, start: int, goal: int) -> list[int]:
        """A shortest path inside a place."""
        allowed: dict[int, list[int]] = {}
        for i in self.inside[self.place[start]]:
            allowed.setdefault(self.source[i], []).append(i)
        return the_path(start, goal, lambda u: allowed.get(u, ()), self.target.__getitem__)


def lift(graph: Augmentation, limits: Limits = UNLIMITED, *, foresee: Mask = 0) -> LiftedAugmentation:
    """The lift of an augmentation.

    ``foresee`` are variables to track only if they will be read, besides those for which it has to be so:
    there is less to track in more nodes. Raises :class:`symdipa.model.errors.OutOfTime`.
    """
    incoming: list[list[int]] = [[] for _ in range(graph.nodes)]
    for e, v in enumerate(graph.target):
        incoming[v].append(e)
    control = graph.control
    live = [control.live[q] for q in graph.state]
    foreseen = foresee
    for e in graph.cyclic_edges:
        foreseen |= control.steps[graph.transition[e]].asg & live[graph.target[e]]

    def preceding(node: tuple[int, Mask]) -> Iterator[tuple[int, tuple[int, Mask]]]:
        v, read = node
        for e in incoming[v]:
            step = control.steps[graph.transition[e]]
            yield e, (graph.source[e], (step.used | read & ~step.asg) & foreseen)

    ends = [(v, 0) for v in _last(graph)]
    nodes, found = explore(ends, preceding, "the lift for the exact constant", limits=limits)
    return LiftedAugmentation(
        graph,
        tuple(v for v, _ in nodes),
        tuple(read | live[v] & ~foreseen for v, read in nodes),
        tuple(u for _, _, u in found),
        tuple(v for v, _, _ in found),
        tuple(e for _, e, _ in found),
        nodes.index((0, 0)),
        len(ends),
    )


def _last(graph: Augmentation) -> list[int]:
    """One node of each component that no edge leaves."""
    number = component_numbers(graph.nodes, list(zip(graph.source, graph.target, strict=True)))
    left = {number[u] for u, v in zip(graph.source, graph.target, strict=True) if number[u] != number[v]}
    first = {number[v]: v for v in reversed(range(graph.nodes))}
    return sorted(v for component, v in first.items() if component not in left)
