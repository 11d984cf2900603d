"""The augmentation: control states with order states, as a finite graph (Def. augmentation)."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import cached_property

from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.control import Control
from symdipa.runs.graphs import component_numbers, shortest_path
from symdipa.runs.order import Mask, OrderState, initial, update

MOST_EDGE_SETS = 100_000
"""How many edge sets are examined for non-leaking cycles."""


@dataclass(frozen=True, eq=False)
class Augmentation:
    """Reachable pairs of control state and order state; node 0 is the initial one.

    Edge ``e`` leads from ``source[e]`` to ``target[e]`` by transition ``transition[e]``; ``outgoing[v]``
    lists edges. ``parent[v]`` is the edge by which a breadth-first search first met ``v`` (-1 for node 0).
    """

    control: Control
    state: tuple[int, ...]
    order: tuple[OrderState, ...]
    source: tuple[int, ...]
    target: tuple[int, ...]
    transition: tuple[int, ...]
    outgoing: tuple[tuple[int, ...], ...]
    parent: tuple[int, ...]

    @property
    def nodes(self) -> int:
        return len(self.state)

    def at_most(self, nodes: int | None) -> Augmentation:
        """This graph; raises :class:`LimitReached` if it is larger, as building it under that cap does."""
        if nodes is not None and self.nodes > nodes:
            raise too_large(nodes)
        return self

    @cached_property
    def component(self) -> tuple[int, ...]:
        """For each node the number of its strongly connected component."""
        return component_numbers(self.nodes, list(zip(self.source, self.target, strict=True)))

    @cached_property
    def cyclic_edges(self) -> tuple[int, ...]:
        """The edges inside a strongly connected component."""
        return tuple(
            e
            for e, (u, v) in enumerate(zip(self.source, self.target, strict=True))
            if self.component[u] == self.component[v]
        )

    def conflicts(self, edges: Iterable[int]) -> Mask:
        """The variables that are used on some of the edges and assigned on some."""
        return self.control.conflicts(self.transition[e] for e in edges)

    def by_component(self, edges: Iterable[int]) -> list[tuple[int, ...]]:
        """The given edges grouped by strongly connected components of the graph that they alone form."""
        chosen = list(edges)
        ends = sorted({self.source[e] for e in chosen} | {self.target[e] for e in chosen})
        local = {node: i for i, node in enumerate(ends)}
        pairs = [(local[self.source[e]], local[self.target[e]]) for e in chosen]
        number = component_numbers(len(ends), pairs)
        groups: dict[int, list[int]] = {}
        for e, (u, v) in zip(chosen, pairs, strict=True):
            if number[u] == number[v]:
                groups.setdefault(number[u], []).append(e)
        return [tuple(groups[i]) for i in sorted(groups)]

    @cached_property
    def loops(self) -> list[tuple[int, ...]]:
        """The edges of each component that has any."""
        return self.by_component(self.cyclic_edges)

    @cached_property
    def leaks(self) -> bool:
        """Whether there is a leaking cycle: a component that assigns and uses one variable."""
        return any(map(self.conflicts, self.loops))

    def run_to(self, node: int) -> list[int]:
        """The edges of a shortest path from node 0."""
        path = []
        while (e := self.parent[node]) >= 0:
            path.append(e)
            node = self.source[e]
        return path[::-1]

    def path(self, start: int, goals: Set[int], allowed: Set[int]) -> list[int]:
        """A shortest path over allowed edges to one of the goals; there must be one."""

        def leaving(node: int) -> Iterable[int]:
            return (e for e in self.outgoing[node] if e in allowed)

        path = shortest_path(start, goals.__contains__, leaving, self.target.__getitem__)
        assert path is not None, "there is no such path"
        return path

    def round_trip(self, edge: int, allowed: Set[int]) -> list[int]:
        """A shortest closed path over allowed edges that begins with ``edge``; there must be one."""
        return [edge, *self.path(self.target[edge], {self.source[edge]}, allowed)]

    def non_leaking_cores(self, limits: Limits = UNLIMITED) -> list[tuple[int, ...]]:
        """Edge sets, each strongly connected and without a variable both assigned and used in it.

        Every closed path without such a variable lies inside one of them, and each edge of one of them
        lies on such a closed path: these are the non-leaking cycles, all of them. Where a component has a
        conflicting variable, either the edges that assign it or those that use it must go. Raises
        :class:`LimitReached` after :data:`MOST_EDGE_SETS`, and when the time is up.
        """
        cores: list[tuple[int, ...]] = []
        seen: set[tuple[int, ...]] = set()
        work = list(self.loops)
        while work:
            edges = work.pop()
            if edges in seen:
                continue
            seen.add(edges)
            limits.check(f"{len(seen)} edge sets for non-leaking cycles")
            if len(seen) > MOST_EDGE_SETS:
                raise LimitReached(
                    Limit.SIZE, f"more than {MOST_EDGE_SETS} ways to choose a non-leaking cycle"
                )
            conflict = self.conflicts(edges)
            if not conflict:
                cores.append(edges)
                continue
            bit = conflict & -conflict
            steps = self.control.steps
            for keep in (
                [e for e in edges if not steps[self.transition[e]].asg & bit],
                [e for e in edges if not steps[self.transition[e]].used & bit],
            ):
                work.extend(self.by_component(keep))
        return sorted(set(cores))


def too_large(max_nodes: int) -> LimitReached:
    """What is raised where the augmentation has more than ``max_nodes`` nodes."""
    return LimitReached(Limit.SIZE, f"the augmentation has more than {max_nodes} nodes")


def augment(control: Control, max_nodes: int | None = None, limits: Limits = UNLIMITED) -> Augmentation:
    """The augmentation of an automaton, breadth first.

    Variables that are dead in a control state are dropped from the order states there. Equal relations are
    kept once. Raises :class:`LimitReached` above ``max_nodes`` nodes, and when the time is up.
    """
    start = (control.initial, initial(control.variables))
    number = {start: 0}
    nodes = [start]
    source: list[int] = []
    target: list[int] = []
    transition: list[int] = []
    outgoing: list[tuple[int, ...]] = []
    parent = [-1]
    shared: dict[tuple[Mask, ...], tuple[Mask, ...]] = {}
    done = 0
    while done < len(nodes):
        q, order = nodes[done]
        first = len(source)
        for t in control.outgoing[q]:
            p = control.target[t]
            following = update(order, control.steps[t], control.live[p])
            if following is None:
                continue
            node = (p, following)
            v = number.get(node)
            if v is None:
                v = len(nodes)
                lt, eq = following
                node = (p, OrderState(shared.setdefault(lt, lt), shared.setdefault(eq, eq)))
                number[node] = v
                nodes.append(node)
                parent.append(len(source))
            source.append(done)
            target.append(v)
            transition.append(t)
        outgoing.append(tuple(range(first, len(source))))
        done += 1
        if done % 16 == 0:
            limits.check(f"{len(nodes)} order states")
        if max_nodes is not None and len(nodes) > max_nodes:
            raise too_large(max_nodes)
    return Augmentation(
        control,
        tuple(q for q, _ in nodes),
        tuple(order for _, order in nodes),
        tuple(source),
        tuple(target),
        tuple(transition),
        tuple(outgoing),
        tuple(parent),
    )


@dataclass(frozen=True)
class Quotient:
    """The coarsest bisimulation quotient: ``block[v]`` of each node, edges as (block, transition, block)."""

    blocks: int
    block: tuple[int, ...]
    edges: tuple[tuple[int, int, int], ...]

    @cached_property
    def component(self) -> tuple[int, ...]:
        """For each block the number of its component; edges lead to equal or smaller numbers."""
        return component_numbers(self.blocks, [(u, v) for u, _, v in self.edges])


def bisimulation_quotient(augmentation: Augmentation, limits: Limits = UNLIMITED) -> Quotient:
    """Partition refinement on (control state, enabled transitions with the blocks they lead to).

    Each transition has at most one successor in a node, so a node's signature is a tuple. Only nodes
    with a successor in a block that was split are examined again.
    """
    nodes = augmentation.nodes
    incoming: list[list[int]] = [[] for _ in range(nodes)]
    for u, v in zip(augmentation.source, augmentation.target, strict=True):
        incoming[v].append(u)
    block = list(augmentation.state)
    members: dict[int, set[int]] = {}
    for v, b in enumerate(block):
        members.setdefault(b, set()).add(v)
    fresh = max(members) + 1
    dirty = set(members)
    while dirty:
        b = dirty.pop()
        limits.check(f"bisimulation quotient, {len(members)} blocks")
        if len(members[b]) == 1:
            continue
        groups: dict[tuple[tuple[int, int], ...], list[int]] = {}
        for v in sorted(members[b]):
            signature = tuple(
                (augmentation.transition[e], block[augmentation.target[e]]) for e in augmentation.outgoing[v]
            )
            groups.setdefault(signature, []).append(v)
        if len(groups) == 1:
            continue
        # The largest group keeps the name, so that few nodes change their block.
        moved = sorted(groups.values(), key=len)[:-1]
        for group in moved:
            members[b].difference_update(group)
            members[fresh] = set(group)
            for v in group:
                block[v] = fresh
            fresh += 1
        for group in moved:
            dirty.update(block[u] for v in group for u in incoming[v])
        # Nodes that stayed in b may lead to others of b that moved.
        dirty.add(b)
    names = {b: i for i, b in enumerate(dict.fromkeys(block))}
    numbered = tuple(names[b] for b in block)
    edges = dict.fromkeys(
        (numbered[u], t, numbered[v])
        for u, t, v in zip(augmentation.source, augmentation.transition, augmentation.target, strict=True)
    )
    return Quotient(len(names), numbered, tuple(edges))
