"""A layered drawing of a directed graph (the method of Sugiyama, Tagawa and Toda), from top to bottom.

Edges that close a cycle are reversed, every node gets a rank by the longest path, and an edge becomes a chain
of points, one on each layer that it passes. Its label is such a point, with a size, on a layer of its own
between the ranks: so labels overlap neither each other nor nodes; behind their labels edges to one node join.
The order on the layers follows from barycentres, the coordinates from least squares with distances kept.
Nothing is random.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from math import sqrt
from typing import NamedTuple

NODE_GAP, LABEL_GAP = 26.0, 12.0
"""Least distances beside nodes, and between points of edges and their labels."""
LEAST_DROP, MOST_DROP, SLOPE = 20.0, 64.0, 0.14
"""Least and largest distance between layers; the farther edges go sideways, the more."""
SWEEPS, PLACING = 24, 40
STRAIGHT = 6.0
"""How much more two points of an edge that follow each other pull at each other than at a node."""
PORT = 18.0
"""How far apart edges touch a node, if there is room."""
MOST_POINTS = 10_000
"""More points of edges than this are not drawn."""


class TooLarge(Exception):
    """The drawing would have more than ``MOST_POINTS`` points."""


class Point(NamedTuple):
    x: float
    y: float


@dataclass(frozen=True)
class Box:
    """A node: half of its width and height, whether it is an ellipse, and the room to the left and right of
    it, of which ``tall`` is half the height."""

    rx: float
    ry: float
    round: bool = False
    left: float = 0.0
    right: float = 0.0
    tall: float = 0.0

    def edge(self, dx: float) -> float:
        """How far the border is from the middle line, at the distance ``dx`` from the centre."""
        return self.ry * sqrt(max(0.0, 1 - (dx / self.rx) ** 2)) if self.round else self.ry

    def border(self, dy: float) -> float:
        """The same to the side, at the height ``dy``."""
        return self.rx * sqrt(max(0.0, 1 - (dy / self.ry) ** 2)) if self.round else self.rx


@dataclass(frozen=True)
class LabelledEdge:
    """An edge between two different nodes, by their numbers, with the size of its label."""

    source: int
    target: int
    width: float = 0.0
    height: float = 0.0


class Passage(NamedTuple):
    """A vertical part of an edge: across one layer."""

    x: float
    top: float
    bottom: float


@dataclass(frozen=True)
class Route:
    """The way of an edge: its ends at the borders of its nodes, and in order the layers that it passes, those
    of the nodes included."""

    start: Point
    passages: tuple[Passage, ...]
    end: Point
    label: Point

    @property
    def falls(self) -> bool:
        """Whether it runs downwards."""
        return self.end.y > self.start.y

    def turned(self) -> Route:
        """The same way in the other direction."""
        back = tuple(Passage(p.x, p.bottom, p.top) for p in reversed(self.passages))
        return Route(self.end, back, self.start, self.label)


@dataclass(frozen=True)
class Layout:
    """Where everything is; ``routes`` in the order of the links."""

    width: float
    height: float
    centres: tuple[Point, ...]
    routes: tuple[Route, ...]


@dataclass(eq=False)
class _Vertex:
    """A node of the graph, or a point of an edge (``inner``)."""

    layer: int
    left: float
    right: float
    half: float
    inner: bool = True
    above: list[_Vertex] = field(default_factory=list)
    below: list[_Vertex] = field(default_factory=list)
    x: float = 0.0

    def gap(self, right: _Vertex) -> float:
        """The least distance from the next one on the layer."""
        between = LABEL_GAP if self.inner and right.inner else NODE_GAP
        return self.right + between + right.left


def layered(boxes: Sequence[Box], edges: Sequence[LabelledEdge], root: int = 0) -> Layout:
    """Where nodes and edges go. ``root`` is at the top unless others lead to it. Raises :class:`TooLarge`."""
    turned, order = _without_cycles(len(boxes), edges, root)
    ends = [
        (edge.target, edge.source) if turn else (edge.source, edge.target)
        for edge, turn in zip(edges, turned, strict=True)
    ]
    ranks = _ranks(len(boxes), ends, order, root)
    nodes = [
        _Vertex(2 * rank, box.rx + box.left, box.rx + box.right, max(box.ry, box.tall), inner=False)
        for box, rank in zip(boxes, ranks, strict=True)
    ]
    chains = _chains(edges, turned, ends, nodes)
    layers = _ordered([nodes[v] for v in order])
    _place(layers)
    spans = _heights(layers)
    downs, ups = _ports(boxes, nodes, True), _ports(boxes, nodes, False)
    routes = []
    for edge, (high, low), chain in zip(edges, ends, chains, strict=True):
        start, end = downs[high][chain[0]], ups[low][chain[-1]]
        above = Point(nodes[high].x + start, _middle(spans[2 * ranks[high]]) + boxes[high].edge(start))
        under = Point(nodes[low].x + end, _middle(spans[2 * ranks[low]]) - boxes[low].edge(end))
        # Out of the layer of the node first, and into that of the other: beside them there are other nodes.
        passages = (
            Passage(above.x, above.y, spans[2 * ranks[high]][1]),
            *(Passage(point.x, *spans[point.layer]) for point in chain),
            Passage(under.x, spans[2 * ranks[low]][0], under.y),
        )
        labelled = chain[0] if high == edge.source else chain[-1]
        route = Route(above, passages, under, Point(labelled.x, _middle(spans[labelled.layer])))
        routes.append(route if high == edge.source else route.turned())
    width = max((v.x + v.right for layer in layers for v in layer), default=0.0)
    centres = tuple(Point(node.x, _middle(spans[node.layer])) for node in nodes)
    return Layout(width, spans[-1][1] if spans else 0.0, centres, tuple(routes))


def _without_cycles(count: int, edges: Sequence[LabelledEdge], root: int) -> tuple[list[bool], list[int]]:
    """Which edges close a cycle in a depth-first search from the root; a topological order of the rest."""
    outgoing: list[list[int]] = [[] for _ in range(count)]
    for e, edge in enumerate(edges):
        outgoing[edge.source].append(e)
    turned = [False] * len(edges)
    state = [0] * count  # 1: on the path, 2: done
    finished: list[int] = []
    for start in (root, *range(count)) if count else ():
        if state[start]:
            continue
        state[start] = 1
        path = [(start, iter(outgoing[start]))]
        while path:
            node, leaving = path[-1]
            for e in leaving:
                target = edges[e].target
                if state[target] == 1:
                    turned[e] = True
                elif state[target] == 0:
                    state[target] = 1
                    path.append((target, iter(outgoing[target])))
                    break
            else:
                state[node] = 2
                finished.append(node)
                path.pop()
    return turned, finished[::-1]


def _ranks(count: int, ends: Sequence[tuple[int, int]], order: Sequence[int], root: int) -> list[int]:
    """The longest path to every node; one with more edges down than up moves down to its successors."""
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for high, low in ends:
        above[low].append(high)
        below[high].append(low)
    ranks = [0] * count
    for v in order:
        ranks[v] = max((ranks[u] + 1 for u in above[v]), default=0)
    for u in reversed(order):
        if len(below[u]) > len(above[u]) and u != root:
            ranks[u] = min(ranks[v] for v in below[u]) - 1
    return ranks


def _chains(
    edges: Sequence[LabelledEdge],
    turned: Sequence[bool],
    ends: Sequence[tuple[int, int]],
    nodes: Sequence[_Vertex],
) -> list[list[_Vertex]]:
    """For every edge its points from top to bottom, tied to its nodes; behind their labels edges to one node
    share them."""
    chains: list[list[_Vertex]] = []
    trunks: dict[tuple[int, bool, int], _Vertex] = {}
    joined: set[tuple[_Vertex, _Vertex]] = set()
    count = len(nodes)
    for edge, turn, (high, low) in zip(edges, turned, ends, strict=True):
        first, last = nodes[high].layer + 1, nodes[low].layer - 1
        labelled = last if turn else first  # next to the node that it leaves
        chain: list[_Vertex] = []
        for layer in range(first, last + 1):
            key = edge.target, turn, layer
            if layer == labelled:
                chain.append(_Vertex(layer, edge.width / 2, edge.width / 2, edge.height / 2))
                count += 1
            elif key in trunks:
                chain.append(trunks[key])
            else:
                chain.append(trunks.setdefault(key, _Vertex(layer, 0.0, 0.0, 0.0)))
                count += 1
            if count > MOST_POINTS:
                raise TooLarge
        for upper, lower in pairwise([nodes[high], *chain, nodes[low]]):
            if (upper, lower) not in joined:
                joined.add((upper, lower))
                upper.below.append(lower)
                lower.above.append(upper)
        chains.append(chain)
    return chains


# ------------------------------------------------------------------------------------------------------ order


def _ordered(nodes: Sequence[_Vertex]) -> list[list[_Vertex]]:
    """The layers, each from left to right, with few crossings."""
    layers: list[list[_Vertex]] = [[] for _ in range(1 + max((v.layer for v in nodes), default=-1))]
    seen: set[_Vertex] = set()
    for start in nodes:
        work = [start]
        while work:
            v = work.pop()
            if v not in seen:
                seen.add(v)
                layers[v.layer].append(v)
                work.extend(reversed(v.below))
    best, least = [list(layer) for layer in layers], _crossings(layers)
    stale = 0
    for sweep in range(SWEEPS):
        if not least or stale > 5:
            break
        down = sweep % 2 == 0
        for upper, lower in pairwise(layers) if down else pairwise(reversed(layers)):
            _sort(upper, lower, down, sweep % 4 >= 2)
        crossings = _crossings(layers)
        stale += 1
        if crossings < least:
            best, least, stale = [list(layer) for layer in layers], crossings, 0
    return best


def _sort(fixed: Sequence[_Vertex], layer: list[_Vertex], down: bool, reverse_ties: bool) -> None:
    """Order a layer by the mean place of neighbours on the ``fixed`` one, above it (``down``) or below."""
    place = {v: i for i, v in enumerate(fixed)}
    own = {v: i for i, v in enumerate(layer)}

    def key(v: _Vertex) -> tuple[float, int]:
        near = v.above if down else v.below
        mean = sum(place[n] for n in near) / len(near) if near else float(own[v])
        return mean, -own[v] if reverse_ties else own[v]

    layer.sort(key=key)


def _crossings(layers: Sequence[Sequence[_Vertex]]) -> int:
    count = 0
    for upper, lower in pairwise(layers):
        place = {v: i for i, v in enumerate(lower)}
        seen: list[int] = []
        for u in upper:
            ends = sorted(place[v] for v in u.below)
            count += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return count


# ------------------------------------------------------------------------------------------------ coordinates


def _place(layers: Sequence[Sequence[_Vertex]]) -> None:
    """Give every vertex its ``x``: near its neighbours, in order, with the distances kept."""
    for layer in layers:
        for before, v in pairwise(layer):
            v.x = before.x + before.gap(v)
    for sweep in range(PLACING):
        down, both = sweep % 2 == 0, sweep >= 4
        for layer in layers if down else reversed(layers):
            wanted, weights = [], []
            for v in layer:
                near = [*(v.above if down or both else ()), *(() if down and not both else v.below)]
                pulls = [(STRAIGHT if v.inner and n.inner else 1.0, n) for n in near]
                total = sum(w for w, _ in pulls)
                wanted.append(sum(w * n.x for w, n in pulls) / total if pulls else v.x)
                weights.append(total or 0.1)
            for v, x in zip(layer, _apart(layer, wanted, weights), strict=True):
                v.x = x
    left = min((v.x - v.left for layer in layers for v in layer), default=0.0)
    for v in (v for layer in layers for v in layer):
        v.x = round(v.x - left, 1)


def _apart(layer: Sequence[_Vertex], wanted: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The places closest to the wanted ones (least squares) that keep the order and the distances: measured
    from the places that the distances alone would give, they must not decrease (pool adjacent violators)."""
    offsets = list(accumulate((left.gap(right) for left, right in pairwise(layer)), initial=0.0))
    pools: list[tuple[float, float, int]] = []  # mean, weight, how many
    for x, weight, offset in zip(wanted, weights, offsets, strict=True):
        mean, total, count = x - offset, weight, 1
        while pools and pools[-1][0] > mean:
            m, w, n = pools.pop()
            mean, total, count = (mean * total + m * w) / (total + w), total + w, count + n
        pools.append((mean, total, count))
    means = [mean for mean, _, count in pools for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def _heights(layers: Sequence[Sequence[_Vertex]]) -> list[tuple[float, float]]:
    """Top and bottom of every layer."""
    spans: list[tuple[float, float]] = []
    y = 0.0
    for k, layer in enumerate(layers):
        if k:
            aside = (abs(v.x - n.x) for v in layer for n in v.above)
            y += min(MOST_DROP, max(LEAST_DROP, SLOPE * max(aside, default=0.0)))
        height = 2 * max((v.half for v in layer), default=0.0)
        spans.append((y, y + height))
        y += height
    return spans


def _middle(span: tuple[float, float]) -> float:
    return round((span[0] + span[1]) / 2, 1)


def _ports(boxes: Sequence[Box], nodes: Sequence[_Vertex], down: bool) -> list[dict[_Vertex, float]]:
    """Where the edges of every node to those below (``down``) or above it touch it, from its centre."""
    found = []
    for box, node in zip(boxes, nodes, strict=True):
        ordered = sorted(node.below if down else node.above, key=lambda v: v.x)
        step = min(PORT, 1.4 * box.rx / max(1, len(ordered) - 1)) if len(ordered) > 1 else 0.0
        middle = (len(ordered) - 1) / 2
        found.append({v: round((i - middle) * step, 1) for i, v in enumerate(ordered)})
    return found
