"""Graphs that cover the feasible runs: every feasible run has a path in them, from node 0.

The coarser the graph, the less it costs. What a graph knows about the order of the stored samples are
*facts* that hold whenever a run is in a node; a transition is left out only where they contradict its guard.
Where shifts have an order of their own, ``control`` has only what belongs to that.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.augmentation import Augmentation
from symdipa.runs.control import Control
from symdipa.runs.control.chains import Chain
from symdipa.runs.graphs import component_numbers, explore
from symdipa.runs.marks import Marks, advance
from symdipa.runs.order import Mask, OrderState, members

Classes = tuple[Mask, ...]
"""Sets of two or more variables that hold the same sample, disjoint and sorted."""

KnownOrder = tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]
"""Pairs ``(x, y)``: the sample of ``x`` is strictly below that of ``y``; both are the same (``x < y``)."""

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Cover:
    """A covering graph; node 0 is the initial one.

    Node ``v`` carries the control state ``state[v]``; edge ``e`` leads from ``source[e]`` to ``target[e]`` by
    ``transition[e]``. ``same[v]`` are the classes of equal variables, ``order[v]`` the order state if the
    graph knows one, ``marks[v]`` the marks ``L`` (``up``) and ``G`` (``down``) that the run so far has given,
    if the graph knows them. ``repeats`` says which edges count as inside a loop, if not those inside a
    component.
    """

    kind: str
    control: Control
    state: tuple[int, ...]
    source: tuple[int, ...]
    target: tuple[int, ...]
    transition: tuple[int, ...]
    same: tuple[Classes, ...]
    order: tuple[OrderState, ...] | None = None
    marks: tuple[Marks, ...] | None = None
    repeats: tuple[bool, ...] | None = None

    @property
    def nodes(self) -> int:
        return len(self.state)

    def live(self, node: int) -> Mask:
        return self.control.live[self.state[node]]

    def facts(self, node: int) -> KnownOrder:
        """What is known in the node about the order of the stored samples."""
        equal = frozenset((x, y) for c in self.same[node] for x in members(c) for y in members(c) if x < y)
        if self.order is None:
            return frozenset(), equal
        less = frozenset((x, y) for x, row in enumerate(self.order[node].lt) for y in members(row))
        return less, equal

    def closed(self, node: int, mask: Mask) -> Mask:
        """The variables that hold the sample of some variable of ``mask``."""
        for group in self.same[node]:
            if group & mask:
                mask |= group
        return mask

    @cached_property
    def cyclic(self) -> tuple[bool, ...]:
        """Whether an edge counts as inside a loop."""
        if self.repeats is not None:
            return self.repeats
        component = component_numbers(self.nodes, list(zip(self.source, self.target, strict=True)))
        return tuple(component[u] == component[v] for u, v in zip(self.source, self.target, strict=True))

    @cached_property
    def incoming(self) -> tuple[tuple[int, ...], ...]:
        lists: list[list[int]] = [[] for _ in self.state]
        for e, v in enumerate(self.target):
            lists[v].append(e)
        return tuple(map(tuple, lists))


def control_cover(control: Control) -> Cover:
    """The control graph as far as it is reachable: no facts at all."""
    state, source, target, transition = _explore(
        control, control.initial, lambda q: q, lambda _, t: control.target[t]
    )
    same: tuple[Classes, ...] = ((),) * len(state)
    return Cover("control", control.of_shifts, tuple(state), source, target, transition, same)


def eq_cover(control: Control, max_nodes: int | None = None, limits: Limits = UNLIMITED) -> Cover:
    """Control states with the variables that hold the same sample.

    A transition is impossible where its guard bounds the sample by one value from both sides (not if it is
    the shift of the sample that is bounded).
    """

    soft = control.soft

    def follow(node: tuple[int, Classes], t: int) -> tuple[int, Classes] | None:
        step, q = control.steps[t], control.target[t]
        if any(group & step.ge and group & step.lt and not group & soft for group in node[1]):
            return None
        live = control.live[q]
        fresh = step.asg & live
        kept = [group & ~step.asg & live for group in node[1]]
        return q, tuple(sorted(g for g in (*kept, fresh & ~soft, fresh & soft) if g & (g - 1)))

    start: tuple[int, Classes] = (control.initial, ())
    nodes, source, target, transition = _explore(control, start, lambda n: n[0], follow, max_nodes, limits)
    state, same = zip(*nodes, strict=True)
    return Cover("eq", control.of_shifts, state, source, target, transition, same)


def augmentation_cover(augmentation: Augmentation) -> Cover:
    """The augmentation: its paths are exactly the feasible runs."""
    return Cover(
        "augmentation",
        augmentation.control.of_shifts,
        augmentation.state,
        augmentation.source,
        augmentation.target,
        augmentation.transition,
        tuple(tuple(sorted({row for row in o.eq if row & (row - 1)})) for o in augmentation.order),
        augmentation.order,
    )


def marked_cover(cover: Cover, max_nodes: int | None = None, limits: Limits = UNLIMITED) -> Cover:
    """An augmentation refined by the marks ``L`` and ``G`` that the stored values have so far.

    Each edge inside a component of the augmentation counts as repeatable, which is right if there is no
    leaking cycle (and if there is one, no graph allows a bound).
    """
    control, order = cover.control, cover.order
    assert order is not None
    roles = Chain.PAIR.all_roles(control)
    leaving: list[dict[int, int]] = [{} for _ in range(cover.nodes)]
    for e, t in enumerate(cover.transition):
        leaving[cover.source[e]][t] = e

    def follow(node: tuple[int, Mask, Mask], t: int) -> tuple[int, Mask, Mask] | None:
        e = leaving[node[0]].get(t)
        if e is None:
            return None
        marks = advance(
            order[node[0]],
            Marks(node[1], node[2]),
            control.shifting(t),
            roles[t],
            repeats=cover.cyclic[e],
            keep=control.live[control.target[t]],
        )
        return cover.target[e], marks.up, marks.down

    nodes, source, target, transition = _explore(
        control, (0, 0, 0), lambda n: cover.state[n[0]], follow, max_nodes, limits
    )
    below = [v for v, _, _ in nodes]
    repeats = tuple(cover.cyclic[leaving[below[u]][t]] for u, t in zip(source, transition, strict=True))
    return Cover(
        cover.kind,
        control,
        tuple(cover.state[v] for v in below),
        source,
        target,
        transition,
        tuple(cover.same[v] for v in below),
        tuple(order[v] for v in below),
        tuple(Marks(up, down) for _, up, down in nodes),
        repeats,
    )


def _explore(
    control: Control,
    start: Key,
    state: Callable[[Key], int],
    follow: Callable[[Key, int], Key | None],
    max_nodes: int | None = None,
    limits: Limits = UNLIMITED,
) -> tuple[list[Key], tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Everything that is reachable, breadth first: nodes, and sources, targets and transitions of edges."""

    def following(node: Key) -> Iterator[tuple[int, Key]]:
        for t in control.outgoing[state(node)]:
            other = follow(node, t)
            if other is not None:
                yield t, other

    nodes, edges = explore([start], following, "the covering graph", max_nodes, limits)
    return nodes, tuple(u for u, _, _ in edges), tuple(v for _, _, v in edges), tuple(t for _, t, _ in edges)
