"""The graphs of a certificate of privacy: a base that covers the runs, and a lift of it with shifts.

Here is what they look like and that a lift covers its base; what facts and shifts must obey is elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol

from symdipa.checker.reading import interval, items, members, number, numbers, rational, table, text
from symdipa.checker.rules import refuse, shown

Interval = tuple[Fraction, Fraction]
Intervals = dict[str, Interval | None]


class Edge(NamedTuple):
    """``letter`` says which entry is read on it, where that matters."""

    source: int
    transition: int
    target: int
    letter: str = ""


Way = tuple[int, int, str]
"""A node, with the transition and the letter of an edge that leaves it."""

COVERS = ("forward", "backward")


class Ends(Protocol):
    """What a transition joins."""

    @property
    def source(self) -> str: ...
    @property
    def target(self) -> str: ...


@dataclass(frozen=True)
class Base:
    """``goal[v, t, letter]`` is the target of the one edge from node ``v`` by transition ``t`` with it."""

    state: tuple[str, ...]
    goal: dict[Way, int]


@dataclass(frozen=True)
class LiftNode:
    """A lift node; ``own`` are its intervals in place of those that hold everywhere (``None``: none)."""

    base: int
    potential: Fraction
    own: Intervals


@dataclass(frozen=True)
class Lift:
    """``everywhere`` is for nodes without their own intervals; ``variables`` are those it has shifts for."""

    variables: frozenset[str]
    everywhere: Intervals
    nodes: tuple[LiftNode, ...]
    edges: tuple[Edge, ...]

    def interval(self, node: int, x: str) -> Interval | None:
        """The shifts that the value of ``x`` may have in the node."""
        own = self.nodes[node].own
        return own[x] if x in own else self.everywhere.get(x)


def state_of(node: dict[str, object], states: Mapping[str, object], where: str) -> str:
    """The control state of a base node."""
    state = text(node["state"], f"{where}.state")
    if state not in states:
        refuse("base-node", f"{where} has the unknown state {shown(state)}")
    return state


def edges_of(
    value: object, where: str, rule: str, nodes: int, transitions: int, *, letters: bool
) -> Iterator[tuple[str, Edge]]:
    """Edges with their places; with ``letters`` those that read an entry have one."""
    sizes = (nodes, transitions, nodes)
    for e, item in enumerate(items(value, where)):
        here = f"{where}[{e}]"
        parts = items(item, here)
        letter = text(parts[3], here) if letters and len(parts) == 4 else ""
        source, t, target = numbers(parts[:3] if letter else parts, here, rule, sizes)
        yield here, Edge(source, t, target, letter)


def base_edges(
    steps: Sequence[Ends], states: Sequence[str], value: object, where: str, *, letters: bool
) -> Iterator[tuple[Way, int]]:
    seen = set()
    for here, edge in edges_of(value, where, "base-edge", len(states), len(steps), letters=letters):
        source, t, target, letter = edge
        if (steps[t].source, steps[t].target) != (states[source], states[target]):
            refuse("base-edge", f"{here}: transition {t} does not join the states of its nodes")
        if (source, t, letter) in seen:
            refuse("base-edge", f"{here} is a second edge for one node and transition")
        seen.add((source, t, letter))
        yield (source, t, letter), target


def covering_lift(
    base: Base,
    value: object,
    where: str,
    variables: frozenset[str],
    transitions: int,
    *,
    priced: bool,
    letters: bool,
) -> Lift:
    """A lift that covers the base, with shifts of the variables; ``transitions`` is how many there are.

    Its nodes have potentials if it is ``priced``, its edges letters as those of the base.
    """
    parts = members(value, where, ["cover", "shifts", "nodes", "edges"])
    cover = text(parts["cover"], f"{where}.cover")
    if cover not in COVERS:
        refuse("shape", f'{where}.cover is {shown(cover)}, neither "forward" nor "backward"')
    everywhere = _intervals(variables, parts["shifts"], f"{where}.shifts")
    nodes = tuple(
        _lift_node(variables, base, node, f"{where}.nodes[{v}]", priced)
        for v, node in enumerate(items(parts["nodes"], f"{where}.nodes"))
    )
    edges: dict[Edge, None] = {}
    given = edges_of(parts["edges"], f"{where}.edges", "lift-edge", len(nodes), transitions, letters=letters)
    for here, edge in given:
        if base.goal.get(over(nodes, edge)) != nodes[edge.target].base:
            refuse("lift-edge", f"{here} is over no base edge")
        if edge in edges:
            refuse("lift-edge", f"{here} is given twice")
        edges[edge] = None
    lift = Lift(variables, everywhere, nodes, tuple(edges))
    _check_cover(base, lift, cover)
    return lift


def over(nodes: Sequence[LiftNode], edge: Edge) -> Way:
    """Which base edge is below an edge of the lift."""
    return nodes[edge.source].base, edge.transition, edge.letter


def _lift_node(variables: frozenset[str], base: Base, value: object, where: str, priced: bool) -> LiftNode:
    node = members(value, where, ["base", "potential"] if priced else ["base"], ["shifts"])
    over = number(node["base"], f"{where}.base", "lift-node", len(base.state))
    potential = rational(node.get("potential", "0"), f"{where}.potential")
    if potential < 0:
        refuse("lift-potential", f"{where} has a negative potential")
    return LiftNode(over, potential, _intervals(variables, node.get("shifts", {}), f"{where}.shifts"))


def _intervals(variables: frozenset[str], value: object, where: str) -> Intervals:
    found: Intervals = {}
    for x, ends in table(value, where).items():
        if x not in variables:
            refuse("lift-node", f"{where} is about {shown(x)}, which is no variable of it")
        found[x] = None if ends is None else interval(ends, f"{where} of {shown(x)}")
        if (known := found[x]) is not None and known[0] > known[1]:
            refuse("lift-node", f"{where} of {shown(x)} is empty")
    return found


def _check_cover(base: Base, lift: Lift, cover: str) -> None:
    """Each path of the base from node 0 has one of the lift over it, from a node over node 0."""
    above: list[list[int]] = [[] for _ in base.state]
    for v, node in enumerate(lift.nodes):
        above[node.base].append(v)
    starts = {(edge.source, edge.transition, edge.letter) for edge in lift.edges}
    arrives = {(over(lift.nodes, edge), edge.target) for edge in lift.edges}
    if not above[0]:
        refuse("lift-cover", "base node 0 has no lift node")
    for way, target in base.goal.items():
        source, t, letter = way
        if cover == "forward":
            missing = [v for v in above[source] if (v, t, letter) not in starts]
        else:
            missing = [v for v in above[target] if (way, v) not in arrives]
            if not above[target]:
                refuse("lift-cover", f"base node {target} has no lift node")
        if missing:
            refuse("lift-cover", f"lift node {missing[0]} lacks the edge over {source}, transition {t}")


def check_initial_potentials(lift: Lift, bound: Fraction) -> None:
    for v, node in enumerate(lift.nodes):
        if node.base == 0 and node.potential > bound:
            refuse("private-bound", f"initial lift node {v} has a potential above D")


def check_kept(lift: Lift, assigned: frozenset[str], edge: Edge) -> None:
    """Variables without an interval of their own at either end have the same one at both."""
    source, target = edge.source, edge.target
    for x in (lift.nodes[source].own.keys() | lift.nodes[target].own.keys()) - assigned:
        check_passed_on(lift.interval(source, x), lift.interval(target, x), x, edge)


def check_passed_on(here: Interval | None, there: Interval | None, x: str, edge: Edge) -> None:
    """What has its shift in the first interval may be in ``x``, whose shifts are in the second one."""
    if there is not None and (here is None or here[0] < there[0] or here[1] > there[1]):
        refuse(
            "lift-kept", f"{named(edge)}: {shown(x)} is kept, but its shifts do not fit in its new interval"
        )


def named(edge: Edge) -> str:
    return f"lift edge {edge.source}, transition {edge.transition}{edge.letter}, {edge.target}"
