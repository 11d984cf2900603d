"""A layered drawing of a directed graph (the method of Sugiyama, Tagawa and Toda), from top to bottom.

Edges that close a cycle are reversed, every node gets a rank by the longest path, and an edge becomes a chain
of points, one on each layer that it passes. Its label is such a point, with a size, on a layer of its own
between the ranks: so labels overlap neither each other nor nodes; behind their labels edges to one node join.
The order on the layers follows from barycentres, the coordinates from least squares with distances kept.
Nothing is random.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
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


@dataclass
class _Vertex:
    """A node of the graph, or a point of the edge with the number ``link``."""

    layer: int
    left: float
    right: float
    half: float
    link: int = -1
    above: list[int] = field(default_factory=list)
    below: list[int] = field(default_factory=list)
    x: float = 0.0

    @property
    def gap(self) -> float:
        return NODE_GAP if self.link < 0 else LABEL_GAP


def layered(boxes: Sequence[Box], links: Sequence[LabelledEdge], root: int = 0) -> Layout:
    """Where nodes and edges go. ``root`` is at the top unless others lead to it from outside.

    Raises :class:`TooLarge`.
    """
    turned, order = _without_cycles(len(boxes), links, root)
    ranks = _ranks(len(boxes), links, turned, order, root)
    vertices, chains = _vertices(boxes, links, turned, ranks)
    layers = _ordered(vertices, order)
    _place(vertices, layers)
    tops = _heights(vertices, layers)
    return _layout(boxes, links, turned, vertices, chains, tops)


def _without_cycles(count: int, links: Sequence[LabelledEdge], root: int) -> tuple[list[bool], list[int]]:
    """Which links close a cycle in a depth-first search from the root; a topological order of the rest."""
    outgoing: list[list[int]] = [[] for _ in range(count)]
    for e, link in enumerate(links):
        outgoing[link.source].append(e)
    turned = [False] * len(links)
    state = [0] * count  # 1: on the path, 2: done
    finished: list[int] = []
    for start in (root, *range(count)) if count else ():
        if state[start]:
            continue
        state[start] = 1
        path = [(start, iter(outgoing[start]))]
        while path:
            node, edges = path[-1]
            for e in edges:
                target = links[e].target
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


def _ends(link: LabelledEdge, turned: bool) -> tuple[int, int]:
    return (link.target, link.source) if turned else (link.source, link.target)


def _ranks(
    count: int, links: Sequence[LabelledEdge], turned: Sequence[bool], order: Sequence[int], root: int
) -> list[int]:
    """The longest path to every node; one with more edges down than up moves down to its successors."""
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for link, turn in zip(links, turned, strict=True):
        u, v = _ends(link, turn)
        above[v].append(u)
        below[u].append(v)
    ranks = [0] * count
    for v in order:
        ranks[v] = max((ranks[u] + 1 for u in above[v]), default=0)
    for u in reversed(order):
        if len(below[u]) > len(above[u]) and u != root:
            ranks[u] = min(ranks[v] for v in below[u]) - 1
    return ranks


def _vertices(
    boxes: Sequence[Box], links: Sequence[LabelledEdge], turned: Sequence[bool], ranks: Sequence[int]
) -> tuple[list[_Vertex], list[list[int]]]:
    """Nodes first, then the points of edges; and for every edge its points from top to bottom.

    Behind their labels edges to one node share their points.
    """
    vertices = [
        _Vertex(2 * rank, box.rx + box.left, box.rx + box.right, max(box.ry, box.tall))
        for box, rank in zip(boxes, ranks, strict=True)
    ]
    chains: list[list[int]] = []
    trunks: dict[tuple[int, bool, int], int] = {}
    joined: set[tuple[int, int]] = set()
    for e, (link, turn) in enumerate(zip(links, turned, strict=True)):
        high, low = _ends(link, turn)
        first, last = 2 * ranks[high] + 1, 2 * ranks[low] - 1
        labelled = last if turn else first  # next to the node that it leaves
        chain: list[int] = []
        for layer in range(first, last + 1):
            key = link.target, turn, layer
            if layer == labelled:
                vertices.append(_Vertex(layer, link.width / 2, link.width / 2, link.height / 2, e))
                chain.append(len(vertices) - 1)
            elif key in trunks:
                chain.append(trunks[key])
            else:
                vertices.append(_Vertex(layer, 0.0, 0.0, 0.0, e))
                trunks[key] = len(vertices) - 1
                chain.append(trunks[key])
            if len(vertices) > MOST_POINTS:
                raise TooLarge
        for upper, lower in pairwise([high, *chain, low]):
            if (upper, lower) not in joined:
                joined.add((upper, lower))
                vertices[upper].below.append(lower)
                vertices[lower].above.append(upper)
        chains.append(chain)
    return vertices, chains


# ------------------------------------------------------------------------------------------------------ order


def _ordered(vertices: Sequence[_Vertex], order: Sequence[int]) -> list[list[int]]:
    """The layers, each from left to right, with few crossings."""
    layers: list[list[int]] = [[] for _ in range(1 + max((v.layer for v in vertices), default=-1))]
    seen = [False] * len(vertices)
    for start in order:
        work = [start]
        while work:
            v = work.pop()
            if not seen[v]:
                seen[v] = True
                layers[vertices[v].layer].append(v)
                work.extend(reversed(vertices[v].below))
    best, least = [list(layer) for layer in layers], _crossings(vertices, layers)
    stale = 0
    for sweep in range(SWEEPS):
        if not least or stale > 5:
            break
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            _sort(vertices, layers, layer, down, sweep % 4 >= 2)
        crossings = _crossings(vertices, layers)
        stale += 1
        if crossings < least:
            best, least, stale = [list(layer) for layer in layers], crossings, 0
    return best


def _sort(
    vertices: Sequence[_Vertex], layers: Sequence[list[int]], layer: list[int], down: bool, reverse_ties: bool
) -> None:
    """Order a layer by the mean place of neighbours on the layer above (``down``) or below."""
    if not layer:
        return
    k = vertices[layer[0]].layer + (-1 if down else 1)
    if not 0 <= k < len(layers):
        return
    place = {v: i for i, v in enumerate(layers[k])}
    own = {v: i for i, v in enumerate(layer)}

    def key(v: int) -> tuple[float, int]:
        near = vertices[v].above if down else vertices[v].below
        mean = sum(place[n] for n in near) / len(near) if near else float(own[v])
        return mean, -own[v] if reverse_ties else own[v]

    layer.sort(key=key)


def _crossings(vertices: Sequence[_Vertex], layers: Sequence[Sequence[int]]) -> int:
    count = 0
    for upper, lower in pairwise(layers):
        place = {v: i for i, v in enumerate(lower)}
        seen: list[int] = []
        for u in upper:
            ends = sorted(place[v] for v in vertices[u].below)
            count += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return count


# ------------------------------------------------------------------------------------------------ coordinates


def _place(vertices: Sequence[_Vertex], layers: Sequence[Sequence[int]]) -> None:
    """Give every vertex its ``x``: near its neighbours, in order, with the distances kept."""
    for layer in layers:
        x = 0.0
        for before, v in zip([None, *layer], layer, strict=False):
            x += 0.0 if before is None else _distance(vertices[before], vertices[v])
            vertices[v].x = x
    for sweep in range(PLACING):
        down, both = sweep % 2 == 0, sweep >= 4
        for layer in layers if down else reversed(layers):
            wanted, weights = [], []
            for v in layer:
                vertex = vertices[v]
                near = [*(vertex.above if down or both else ()), *(() if down and not both else vertex.below)]
                pulls = [(STRAIGHT if vertex.link >= 0 and vertices[n].link >= 0 else 1.0, n) for n in near]
                total = sum(w for w, _ in pulls)
                wanted.append(sum(w * vertices[n].x for w, n in pulls) / total if pulls else vertex.x)
                weights.append(total or 0.1)
            for v, x in zip(layer, _apart(vertices, layer, wanted, weights), strict=True):
                vertices[v].x = x
    left = min((v.x - v.left for v in vertices), default=0.0)
    for vertex in vertices:
        vertex.x = round(vertex.x - left, 1)


def _distance(left: _Vertex, right: _Vertex) -> float:
    return left.right + max(left.gap, right.gap) + right.left


def _apart(
    vertices: Sequence[_Vertex], layer: Sequence[int], wanted: Sequence[float], weights: Sequence[float]
) -> list[float]:
    """The places closest to the wanted ones (least squares) that keep the order and the distances.

    Measured from the place that the distances alone would give, the places must not decrease: pool adjacent
    violators.
    """
    offset = 0.0
    offsets = []
    for i, v in enumerate(layer):
        offset += _distance(vertices[layer[i - 1]], vertices[v]) if i else 0.0
        offsets.append(offset)
    pools: list[tuple[float, float, int]] = []  # mean, weight, how many
    for x, weight, off in zip(wanted, weights, offsets, strict=True):
        mean, total, count = x - off, weight, 1
        while pools and pools[-1][0] > mean:
            m, w, n = pools.pop()
            mean, total, count = (mean * total + m * w) / (total + w), total + w, count + n
        pools.append((mean, total, count))
    means = [mean for mean, _, count in pools for _ in range(count)]
    return [mean + off for mean, off in zip(means, offsets, strict=True)]


def _heights(vertices: Sequence[_Vertex], layers: Sequence[Sequence[int]]) -> list[tuple[float, float]]:
    """Top and bottom of every layer."""
    spans: list[tuple[float, float]] = []
    y = 0.0
    for k, layer in enumerate(layers):
        if k:
            aside = (abs(vertices[v].x - vertices[n].x) for v in layer for n in vertices[v].above)
            y += min(MOST_DROP, max(LEAST_DROP, SLOPE * max(aside, default=0.0)))
        height = 2 * max((vertices[v].half for v in layer), default=0.0)
        spans.append((y, y + height))
        y += height
    return spans


def _layout(
    boxes: Sequence[Box],
    links: Sequence[LabelledEdge],
    turned: Sequence[bool],
    vertices: Sequence[_Vertex],
    chains: Sequence[Sequence[int]],
    spans: Sequence[tuple[float, float]],
) -> Layout:
    centres = [Point(v.x, _middle(spans[v.layer])) for v in vertices[: len(boxes)]]
    downs, ups = _ports(boxes, vertices, True), _ports(boxes, vertices, False)
    routes = []
    for link, turn, chain in zip(links, turned, chains, strict=True):
        high, low = _ends(link, turn)
        start, end = downs[high][chain[0]], ups[low][chain[-1]]
        above = Point(centres[high].x + start, centres[high].y + boxes[high].edge(start))
        under = Point(centres[low].x + end, centres[low].y - boxes[low].edge(end))
        # Out of the layer of the node first, and into that of the other: beside them there are other nodes.
        passages = [
            Passage(above.x, above.y, spans[vertices[high].layer][1]),
            *(Passage(vertices[v].x, *spans[vertices[v].layer]) for v in chain),
            Passage(under.x, spans[vertices[low].layer][0], under.y),
        ]
        place = chain[-1] if turn else chain[0]
        label = Point(vertices[place].x, _middle(spans[vertices[place].layer]))
        if turn:
            passages = [Passage(x, bottom, top) for x, top, bottom in reversed(passages)]
            above, under = under, above
        routes.append(Route(above, tuple(passages), under, label))
    width = max((v.x + v.right for v in vertices), default=0.0)
    return Layout(width, spans[-1][1] if spans else 0.0, tuple(centres), tuple(routes))


def _middle(span: tuple[float, float]) -> float:
    return round((span[0] + span[1]) / 2, 1)


def _ports(boxes: Sequence[Box], vertices: Sequence[_Vertex], down: bool) -> list[dict[int, float]]:
    """Where the edges of every node to those below (``down``) or above it touch it, from its centre."""
    found = []
    for box, vertex in zip(boxes, vertices, strict=False):
        near: Iterable[int] = vertex.below if down else vertex.above
        ordered = sorted(near, key=lambda v: vertices[v].x)
        step = min(PORT, 1.4 * box.rx / max(1, len(ordered) - 1)) if len(ordered) > 1 else 0.0
        middle = (len(ordered) - 1) / 2
        found.append({v: round((i - middle) * step, 1) for i, v in enumerate(ordered)})
    return found
