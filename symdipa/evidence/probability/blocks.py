"""Splitting an order where one sample separates it, so that what is left is small.

A sample with one neighbour becomes a factor of the neighbour; so does a whole block of samples that hangs on
the rest by one sample. What remains of each connected part is one sample or one block.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import rustworkx


@dataclass(frozen=True, slots=True)
class Elimination:
    """Samples to be integrated out together; ``root`` (one of them) is kept and gets the result.

    Without a root the result is the factor of a connected part of the order.
    """

    members: frozenset[int]
    root: int | None


def connected(neighbours: list[set[int]]) -> list[list[int]]:
    """The connected parts of an undirected graph, each in ascending order."""
    graph = _graph(neighbours)
    return sorted(sorted(part) for part in rustworkx.connected_components(graph))


def plan(neighbours: list[set[int]], nodes: Iterable[int]) -> list[Elimination]:
    """The parts of one connected graph in an order in which they can be integrated out; the last has no root.

    Of several blocks the largest is the last.
    """
    nodes = list(nodes)
    left = {i: set(neighbours[i]) for i in nodes}
    parts: list[Elimination] = []
    work = [i for i in nodes if len(left[i]) == 1]
    while work:
        i = work.pop()
        if i not in left or len(left[i]) != 1:
            continue
        (k,) = left.pop(i)
        left[k].discard(i)
        parts.append(Elimination(frozenset((i, k)), k))
        if len(left[k]) == 1:
            work.append(k)
    if len(left) == 1:
        return [*parts, Elimination(frozenset(left), None)]
    return parts + _plan_blocks(left)


def _plan_blocks(left: dict[int, set[int]]) -> list[Elimination]:
    graph = _graph([left.get(i, set()) for i in range(max(left) + 1)])
    blocks: dict[int, set[int]] = {}
    for edge, number in rustworkx.biconnected_components(graph).items():
        blocks.setdefault(number, set()).update(edge)
    holders: dict[int, set[int]] = {}
    for number, block in blocks.items():
        for i in block:
            holders.setdefault(i, set()).add(number)
    order = sorted(blocks, key=lambda b: (len(blocks[b]), sorted(blocks[b])))
    parts = []
    while len(order) > 1:
        # The block tree has two leaves at least, so a smaller block than the last can be taken off.
        for number in order[:-1]:
            shared = [i for i in blocks[number] if len(holders[i]) > 1]
            if len(shared) == 1:
                break
        else:
            raise AssertionError("a tree of blocks without leaves")
        parts.append(Elimination(frozenset(blocks[number]), shared[0]))
        holders[shared[0]].discard(number)
        order.remove(number)
    return [*parts, Elimination(frozenset(blocks[order[0]]), None)]


def _graph(neighbours: list[set[int]]) -> rustworkx.PyGraph:
    graph = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from(range(len(neighbours)))
    graph.add_edges_from_no_data([(i, k) for i, targets in enumerate(neighbours) for k in targets if i < k])
    return graph
