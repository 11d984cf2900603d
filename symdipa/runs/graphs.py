"""Graphs with numbered nodes: reachability, shortest paths, components, depth-first search."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

import rustworkx

from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.order import Mask

Node = TypeVar("Node", bound=Hashable)


def explore(
    starts: Iterable[Node],
    following: Callable[[Node], Iterable[tuple[int, Node]]],
    what: str,
    max_nodes: int | None = None,
    limits: Limits = UNLIMITED,
) -> tuple[list[Node], list[tuple[int, int, int]]]:
    """Everything that is reached, breadth first: nodes, and edges ``(node, label, following node)``.

    ``following(node)`` yields labels with nodes; ``what`` names the graph. Raises :class:`LimitReached` above
    ``max_nodes`` nodes, and when the time is up.
    """
    nodes = list(starts)
    number = {node: i for i, node in enumerate(nodes)}
    edges: list[tuple[int, int, int]] = []
    for i, node in enumerate(nodes):  # grows while we walk
        for label, other in following(node):
            place = number.setdefault(other, len(nodes))
            if place == len(nodes):
                nodes.append(other)
            edges.append((i, label, place))
        if i % 16 == 0:
            limits.check(f"{what}, {len(nodes)} nodes")
        if max_nodes is not None and len(nodes) > max_nodes:
            raise LimitReached(Limit.SIZE, f"{what} has more than {max_nodes} nodes")
    return nodes, edges


def shortest_path(
    start: int,
    is_goal: Callable[[int], bool],
    leaving: Callable[[int], Iterable[int]],
    target: Callable[[int], int],
) -> list[int] | None:
    """The edges of a shortest path from a node to a goal, ``None`` if there is none.

    ``leaving`` are the edges of a node that may be taken.
    """
    reached: dict[int, tuple[int, int]] = {}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        if is_goal(node):
            path = []
            while node != start:
                node, edge = reached[node]
                path.append(edge)
            return path[::-1]
        for edge in leaving(node):
            other = target(edge)
            if other != start and other not in reached:
                reached[other] = node, edge
                queue.append(other)
    return None


def the_path(
    start: int, goal: int, leaving: Callable[[int], Iterable[int]], target: Callable[[int], int]
) -> list[int]:
    """The edges of a shortest path between two nodes that are known to have one."""
    path = shortest_path(start, goal.__eq__, leaving, target)
    assert path is not None, "there is no such path"
    return path


def classes(size: int, together: Iterable[Iterable[int]]) -> list[int]:
    """The finest classes of ``0..size-1`` that keep each given group (never empty) together.

    A number for each element; classes are numbered by their first elements.
    """
    parent = list(range(size))

    def root(x: int) -> int:
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for group in together:
        first, *others = group
        top = root(first)
        for x in others:
            parent[root(x)] = top
    number: dict[int, int] = {}
    return [number.setdefault(root(x), len(number)) for x in range(size)]


def united(sets: Iterable[Mask]) -> list[Mask]:
    """The finest disjoint sets that keep each given set together, ordered by their first members.

    What :func:`classes` finds, at a price that does not depend on how much the sets overlap: each step of the
    inner loop but the first for a set unites two sets for good.
    """
    parent: dict[int, int] = {}
    whole: dict[int, Mask] = {}

    def root(x: int) -> int:
        while (above := parent.setdefault(x, x)) != x:
            parent[x] = x = parent[above]
        return x

    for rest in sets:
        top, together = -1, 0
        while rest:
            found = root((rest & -rest).bit_length() - 1)
            top = found if top < 0 else top
            parent[found] = top
            part = whole.pop(found, 1 << found)
            together |= part
            rest &= ~part
        if together:
            whole[top] = together
    return sorted(whole.values(), key=lambda part: part & -part)


def loops_of(
    component: Sequence[int], source: Sequence[int], cyclic: Sequence[bool]
) -> dict[int, tuple[int, ...]]:
    """The transitions that lie inside a component, by component."""
    found: dict[int, list[int]] = {}
    for t, inside in enumerate(cyclic):
        if inside:
            found.setdefault(component[source[t]], []).append(t)
    return {number: tuple(ts) for number, ts in found.items()}


def components(nodes: int, edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Strongly connected components of the graph on ``0..nodes-1``, successors before predecessors."""
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from_no_data(list(edges))
    return [sorted(c) for c in rustworkx.strongly_connected_components(graph)]


def component_numbers(nodes: int, edges: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """For each node the number of its component; nodes on no cycle have a component of their own.

    Edges lead to equal or smaller numbers.
    A single node without a loop shares its component with itself only, so an edge ``(u, v)`` lies on a
    cycle exactly when both ends have the same number.
    """
    number = [0] * nodes
    for i, component in enumerate(components(nodes, edges)):
        for node in component:
            number[node] = i
    return tuple(number)


def depth_first(roots: Iterable[int], edges: Sequence[tuple[int, int]]) -> tuple[set[int], list[int]]:
    """The back edges of a depth-first search, by their numbers, and the nodes in the order it leaves them.

    ``roots`` are all nodes, in the order in which searches begin. Without the back edges the graph is
    acyclic, and the nodes left last come first in its order.
    """
    following: dict[int, list[tuple[int, int]]] = {}
    for number, (u, v) in enumerate(edges):
        following.setdefault(u, []).append((number, v))
    back: set[int] = set()
    left: list[int] = []
    active: dict[int, bool] = {}
    for root in roots:
        if root in active:
            continue
        active[root] = True
        stack = [(root, iter(following.get(root, ())))]
        while stack:
            node, rest = stack[-1]
            for number, v in rest:
                if v not in active:
                    active[v] = True
                    stack.append((v, iter(following.get(v, ()))))
                    break
                if active[v]:
                    back.add(number)
            else:
                active[node] = False
                left.append(node)
                stack.pop()
    return back, left


def cycle_headers(nodes: Iterable[int], edges: Sequence[tuple[int, int]]) -> set[int]:
    """A set of nodes that meets every cycle: the targets of back edges of a depth-first search."""
    return {edges[number][1] for number in depth_first(nodes, edges)[0]}
