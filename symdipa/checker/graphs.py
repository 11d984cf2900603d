"""The graphs of a certificate of privacy: a base that covers the runs, and a lift of it with shifts.

Here is what they look like and that a lift covers its base; what facts and shifts must obey is elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from symdipa.checker.reading import interval, items, members, number, numbers, rational, table, text
from symdipa.checker.rules import refuse, shown

Interval = tuple[Fraction, Fraction]
Intervals = dict[str, Interval | None]
Edge = tuple[int, int, int]
"""Source, transition, target."""

COVERS = ("forward", "backward")


class Ends(Protocol):
    """What a transition joins."""

    @property
    def source(self) -> str: ...
    @property
    def target(self) -> str: ...


@dataclass(frozen=True)
class Base:
    """``goal[v, t]`` is the target of the one edge from node ``v`` by transition ``t``."""

    state: tuple[str, ...]
    goal: dict[tuple[int, int], int]


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


def base_edges(
    steps: Sequence[Ends], states: Sequence[str], value: object, where: str
) -> Iterator[tuple[tuple[int, int], int]]:
    sizes = (len(states), len(steps), len(states))
    seen = set()
    for e, edge in enumerate(items(value, where)):
        source, t, target = numbers(edge, f"{where}[{e}]", "base-edge", sizes)
        step = steps[t]
        if (step.source, step.target) != (states[source], states[target]):
            refuse("base-edge", f"{where}[{e}]: transition {t} does not join the states of its nodes")
        if (source, t) in seen:
            refuse("base-edge", f"{where}[{e}] is a second edge for one node and transition")
        seen.add((source, t))
        yield (source, t), target


def covering_lift(
    base: Base, value: object, where: str, variables: frozenset[str], transitions: int, *, priced: bool
) -> Lift:
    """A lift that covers the base, with shifts of the variables; ``transitions`` is how many there are.

    Its nodes have potentials if it is ``priced``.
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
    sizes = (len(nodes), transitions, len(nodes))
    edges: dict[tuple[int, ...], None] = {}
    for e, edge in enumerate(items(parts["edges"], f"{where}.edges")):
        found = numbers(edge, f"{where}.edges[{e}]", "lift-edge", sizes)
        source, t, target = found
        if base.goal.get((nodes[source].base, t)) != nodes[target].base:
            refuse("lift-edge", f"{where}.edges[{e}] is over no base edge")
        if found in edges:
            refuse("lift-edge", f"{where}.edges[{e}] is given twice")
        edges[found] = None
    lift = Lift(variables, everywhere, nodes, tuple((s, t, v) for s, t, v in edges))
    _check_cover(base, lift, cover)
    return lift


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
    over: list[list[int]] = [[] for _ in base.state]
    for v, node in enumerate(lift.nodes):
        over[node.base].append(v)
    starts = {(source, t) for source, t, _ in lift.edges}
    arrives = {(lift.nodes[source].base, t, target) for source, t, target in lift.edges}
    if not over[0]:
        refuse("lift-cover", "base node 0 has no lift node")
    for (source, t), target in base.goal.items():
        if cover == "forward":
            missing = [v for v in over[source] if (v, t) not in starts]
        else:
            missing = [v for v in over[target] if (source, t, v) not in arrives]
            if not over[target]:
                refuse("lift-cover", f"base node {target} has no lift node")
        if missing:
            refuse("lift-cover", f"lift node {missing[0]} lacks the edge over {source}, transition {t}")


def check_initial_potentials(lift: Lift, bound: Fraction) -> None:
    for v, node in enumerate(lift.nodes):
        if node.base == 0 and node.potential > bound:
            refuse("private-bound", f"initial lift node {v} has a potential above D")


def check_kept(lift: Lift, assigned: frozenset[str], edge: Edge) -> None:
    """Variables without an interval of their own at either end have the same one at both."""
    source, _, target = edge
    for x in (lift.nodes[source].own.keys() | lift.nodes[target].own.keys()) - assigned:
        check_passed_on(lift.interval(source, x), lift.interval(target, x), x, edge)


def check_passed_on(here: Interval | None, there: Interval | None, x: str, edge: Edge) -> None:
    """What has its shift in the first interval may be in ``x``, whose shifts are in the second one."""
    if there is not None and (here is None or here[0] < there[0] or here[1] > there[1]):
        refuse(
            "lift-kept", f"{named(edge)}: {shown(x)} is kept, but its shifts do not fit in its new interval"
        )


def named(edge: Edge) -> str:
    source, t, target = edge
    return f"lift edge {source}, transition {t}, {target}"
