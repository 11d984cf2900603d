"""The run bound: the exact supremum of the weights of runs (Def. run bound).

The weight of a position depends on the future: which samples will have a repeatable one below (``L``) or
above them (``G``), and which are read again. Two passes find it. Forward: nodes of the augmentation with the
marks of the live values *so far*. Backward: each of these nodes split by the values that the rest of a run
reads and their marks *at the end*. An edge and the future after it determine the future before it, and a run
ends with nothing to read: so every run has one path, whose edges know their costs; the bound is the longest.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from symdipa.bounds.costs import Rate, rates
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.augmentation import Augmentation
from symdipa.runs.graphs import component_numbers
from symdipa.runs.order import Mask, OrderState, Step, at_or_above, at_or_below, bounds


def run_bound(
    augmentation: Augmentation, limits: Limits = UNLIMITED, max_nodes: int | None = None
) -> Fraction | None:
    """The largest weight of a run (Def. run weight); ``None`` if it is infinite or marks clash.

    They do if the automaton is not well-formed, and may if it is (docs/weights.md, section 4).

    As in the augmentation of an automaton without leaking cycle, the transitions of non-leaking cycles are
    the edges inside a component, also for a run that takes such an edge without going round. Raises
    :class:`LimitReached` when there are more than ``max_nodes`` nodes of some kind, those of the augmentation
    included, and when the time is up.
    """
    if augmentation.at_most(max_nodes).leaks:
        return None
    marked = _forward(augmentation, max_nodes, limits)
    futures = None if marked is None else _backward(marked, max_nodes, limits)
    return None if futures is None else _longest(*futures)


class Reached(NamedTuple):
    """The marks after a step and before its assignment: ``L`` and ``G`` of variables and of its sample."""

    low: Mask
    high: Mask
    sample_low: bool
    sample_high: bool


def _reached(order: OrderState, low: Mask, high: Mask, step: Step, repeats: bool) -> Reached:
    if repeats:
        low |= at_or_above(order, step.lt)
        high |= at_or_below(order, step.ge)
    below, above = bounds(order, step)
    sample_low, sample_high = bool(low & below), bool(high & above)
    return Reached(
        low | above if sample_low else low, high | below if sample_high else high, sample_low, sample_high
    )


@dataclass(frozen=True, eq=False)
class MarkedAugmentation:
    """The augmentation with marks so far. Node ``v`` is node ``base[v]``; node 0 is the initial one.

    ``incoming[v]`` lists ``(u, e, reached)``: an edge from ``u`` over ``e``, and the marks that it gives.
    """

    graph: Augmentation
    base: tuple[int, ...]
    incoming: tuple[tuple[tuple[int, int, Reached], ...], ...]

    @cached_property
    def rates(self) -> tuple[Rate, ...]:
        return rates(self.graph.control)


def _forward(graph: Augmentation, max_nodes: int | None, limits: Limits) -> MarkedAugmentation | None:
    """Every node with marks, forward; ``None`` if some value gets both (a leaking pair)."""
    control, cyclic = graph.control, frozenset(graph.cyclic_edges)
    start = (0, 0, 0)
    number, nodes = {start: 0}, [start]
    incoming: list[list[tuple[int, int, Reached]]] = [[]]
    for u, (base, low, high) in enumerate(nodes):
        for e in graph.outgoing[base]:
            step, v = control.steps[graph.transition[e]], graph.target[e]
            after = _reached(graph.order[base], low, high, step, e in cyclic)
            if after.low & after.high or (after.sample_low and after.sample_high):
                return None
            live = control.live[graph.state[v]]
            old, fresh = live & ~step.asg, live & step.asg
            key = (
                v,
                after.low & old | (fresh if after.sample_low else 0),
                after.high & old | (fresh if after.sample_high else 0),
            )
            place = number.setdefault(key, len(nodes))
            if place == len(nodes):
                nodes.append(key)
                incoming.append([])
            incoming[place].append((u, e, after))
        _check(u, len(nodes), "nodes with marks", max_nodes, limits)
    return MarkedAugmentation(graph, tuple(base for base, _, _ in nodes), tuple(map(tuple, incoming)))


def _check(done: int, size: int, what: str, max_nodes: int | None, limits: Limits) -> None:
    if done % 64 == 0:
        limits.check(f"run bound, {size} {what}")
    if max_nodes is not None and size > max_nodes:
        raise LimitReached(Limit.SIZE, f"the run bound needs more than {max_nodes} {what}")


class Future(NamedTuple):
    """What the rest of a run does: the variables whose values it reads, and which are marked at its end."""

    used: Mask = 0
    low: Mask = 0
    high: Mask = 0


CostEdge = tuple[int, int, Fraction]
"""Source, target and cost."""


def _backward(
    marked: MarkedAugmentation, max_nodes: int | None, limits: Limits
) -> tuple[int, list[CostEdge]] | None:
    """Every marked node with every future, backward: how many there are, and the edges between them.

    Node 0 is the initial one. ``None`` if an output sample gets a mark.
    """
    number = {(v, Future()): v for v in range(len(marked.base))}
    nodes = list(number)
    edges: list[CostEdge] = []
    for v, (place, future) in enumerate(nodes):
        for u, e, reached in marked.incoming[place]:
            before, cost = _before(marked, u, e, reached, future)
            if cost is None:
                return None
            node = (u, before)
            source = number.setdefault(node, len(nodes))
            if source == len(nodes):
                nodes.append(node)
            edges.append((source, v, cost))
        _check(v, len(nodes), "nodes with futures", max_nodes, limits)
    return len(nodes), edges


def _before(
    marked: MarkedAugmentation, u: int, e: int, reached: Reached, future: Future
) -> tuple[Future, Fraction | None]:
    """The future before an edge of which the future after it is known, and the weight of its position.

    There is no weight if the sample is output and marked (a privacy violating path).

    A value that is read later has the marks that it has then. One that is read for the last time, and a
    sample that is not stored or not read, have those that the run has given so far and those of values below
    or above that are read later: nothing else can reach them.
    """
    graph = marked.graph
    control, t = graph.control, graph.transition[e]
    order, step = graph.order[marked.base[u]], control.steps[t]
    below, above = bounds(order, step)
    low, high = future.low & ~step.asg, future.high & ~step.asg
    kept, stored = future.used & ~step.asg, future.used & step.asg
    if stored:
        sample_low, sample_high = bool(future.low & stored), bool(future.high & stored)
    else:
        sample_low = reached.sample_low or bool(low & below)
        sample_high = reached.sample_high or bool(high & above)
    used = kept | step.used
    all_low = reached.low | at_or_above(order, low) | (above if sample_low else 0)
    all_high = reached.high | at_or_below(order, high) | (below if sample_high else 0)
    before = Future(used, all_low & used, all_high & used)
    shown, marks = control.sampling[t].shows_sample, sample_low or sample_high
    if shown and marks:
        return before, None
    quasi_cyclic = not (shown or stored or step.ge & ~before.high or step.lt & ~before.low)
    d, release = marked.rates[t].scales
    return before, release + (0 if quasi_cyclic else (marks + control.sampling[t].reads_input) * d)


def _longest(nodes: int, edges: list[CostEdge]) -> Fraction | None:
    """The longest path from node 0; ``None`` if some cycle costs anything.

    Every node lies on a path from there to an end: its future is that of some run.
    """
    component = component_numbers(nodes, [(u, v) for u, v, _ in edges])
    value = [Fraction(0)] * (max(component) + 1)
    for u, v, cost in sorted(edges, key=lambda edge: component[edge[0]]):  # edges lead to smaller numbers
        if component[u] != component[v]:
            value[component[u]] = max(value[component[u]], cost + value[component[v]])
        elif cost:
            return None
    return value[component[0]]
