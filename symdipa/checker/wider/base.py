"""Bases: graphs in which every feasible run has a path, and what is known in their nodes.

Where not all entries may differ, or means have registers, nodes say how far inputs went apart, and edges how
the entry differs. In a certificate in parts the *ground* says that once for all, and the bases stand on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from symdipa.checker.claims import Inputs
from symdipa.checker.graphs import Base, Edge, Way, base_edges, state_of
from symdipa.checker.reading import NUMERAL, items, members, number, rational, text
from symdipa.checker.rules import refuse, shown
from symdipa.checker.wider.adjacent import LETTERS, Apart, apart_of, check_edge, check_letters
from symdipa.checker.wider.model import Model, Step
from symdipa.checker.wider.order import ZERO, Comparison, Order, Place, Value, compared, twins


@dataclass(frozen=True)
class Facts:
    """Comparisons of values, and pairs of places ``apart``: their difference has no given value, but with
    probability 0."""

    comparisons: tuple[Comparison, ...] = ()
    apart: frozenset[tuple[Place, Place]] = frozenset()


@dataclass(frozen=True)
class Known:
    """What is known in a node: what follows from its facts, and how far inputs went apart."""

    order: Order
    apart: Apart


@dataclass(frozen=True)
class Ground:
    """A graph of control states without facts, with potentials."""

    base: Base
    apart: tuple[Apart, ...]
    potential: tuple[Fraction, ...]


def base_of(model: Model, value: object, where: str, inputs: Inputs) -> tuple[Base, list[Known]]:
    """A base by itself."""
    parts = members(value, where, ["nodes", "edges"])
    states: list[str] = []
    facts: list[Facts] = []
    apart: list[Apart] = []
    for v, item in enumerate(items(parts["nodes"], f"{where}.nodes")):
        here = f"{where}.nodes[{v}]"
        node = members(item, here, ["state"], ["facts", *_told(model)])
        states.append(state_of(node, model.leaving, here))
        facts.append(facts_of(model, node.get("facts", []), f"{here}.facts"))
        apart.append(apart_of(model, node, here))
    _check_initial(model, states, facts, apart, where)
    goal = _edges(model, states, apart, parts["edges"], f"{where}.edges", inputs)
    orders = [Order(model.integer, known.comparisons) for known in facts]
    for v, state in enumerate(states):
        for t in model.leaving[state]:
            targets = _targets(goal, v, t)
            after = possible_after(model, t, orders[v], facts[v])
            if after is not None:
                _check_complete(model, apart, v, t, targets)
                for target in targets.values():
                    check_facts(model, Edge(v, t, target), after, facts)
    return Base(tuple(states), goal), [Known(o, a) for o, a in zip(orders, apart, strict=True)]


def ground_of(model: Model, value: object, where: str, inputs: Inputs) -> Ground:
    parts = members(value, where, ["nodes", "edges"])
    states: list[str] = []
    apart: list[Apart] = []
    potentials: list[Fraction] = []
    for v, item in enumerate(items(parts["nodes"], f"{where}.nodes")):
        here = f"{where}.nodes[{v}]"
        node = members(item, here, ["state", "potential"], _told(model))
        states.append(state_of(node, model.leaving, here))
        apart.append(apart_of(model, node, here))
        potentials.append(rational(node["potential"], f"{here}.potential"))
        if potentials[v] < 0:
            refuse("part-potential", f"{here} has a negative potential")
    _check_initial(model, states, [Facts()], apart, where)
    goal = _edges(model, states, apart, parts["edges"], f"{where}.edges", inputs)
    for v, state in enumerate(states):
        for t in model.leaving[state]:
            _check_complete(model, apart, v, t, _targets(goal, v, t))
    return Ground(Base(tuple(states), goal), tuple(apart), tuple(potentials))


def base_on(
    model: Model, ground: Ground, value: object, where: str
) -> tuple[Base, list[Order], tuple[int, ...]]:
    """A base that stands on the ground, what follows from its facts, and where its nodes stand."""
    parts = members(value, where, ["nodes", "edges"])
    below: list[int] = []
    facts: list[Facts] = []
    for v, item in enumerate(items(parts["nodes"], f"{where}.nodes")):
        here = f"{where}.nodes[{v}]"
        node = members(item, here, ["ground"], ["facts"])
        below.append(number(node["ground"], f"{here}.ground", "base-node", len(ground.apart)))
        facts.append(facts_of(model, node.get("facts", []), f"{here}.facts"))
    if not below or below[0] or facts[0] != Facts():
        refuse("base-initial", f"{where}: node 0 does not stand on node 0 without facts")
    states = [ground.base.state[g] for g in below]
    goal = dict(base_edges(model.steps, states, parts["edges"], f"{where}.edges", letters=model.unfolds))
    leaving: list[list[Way]] = [[] for _ in ground.apart]
    for way in ground.base.goal:
        leaving[way[0]].append(way)
    for (v, t, letter), target in goal.items():
        if ground.base.goal.get((below[v], t, letter)) != below[target]:
            refuse("base-edge", f"{where}: the edge from {v} by transition {t} stands on no edge")
    orders = [Order(model.integer, known.comparisons) for known in facts]
    for v, g in enumerate(below):
        for _, t, letter in leaving[g]:
            after = possible_after(model, t, orders[v], facts[v])
            if after is not None:
                if (v, t, letter) not in goal:
                    refuse("base-complete", f"base node {v} has no edge for transition {t}{letter}")
                check_facts(model, Edge(v, t, goal[v, t, letter]), after, facts)
    return Base(tuple(states), goal), orders, tuple(below)


def _told(model: Model) -> list[str]:
    """The keys of nodes that say how far inputs went apart."""
    return ["differ", "registers"] if model.unfolds else []


def _check_initial(
    model: Model, states: Sequence[str], facts: Sequence[Facts], apart: Sequence[Apart], where: str
) -> None:
    if not states or states[0] != model.initial or facts[0] != Facts() or apart[0] != Apart():
        refuse("base-initial", f"{where}: node 0 is not the initial state without facts")


def _edges(
    model: Model, states: Sequence[str], apart: Sequence[Apart], value: object, where: str, inputs: Inputs
) -> dict[Way, int]:
    goal = dict(base_edges(model.steps, states, value, where, letters=model.unfolds))
    if model.unfolds:
        for (source, t, letter), target in goal.items():
            check_edge(model, apart, Edge(source, t, target, letter), inputs)
    return goal


def _targets(goal: dict[Way, int], node: int, t: int) -> dict[str, int]:
    """By letter where edges by a transition lead."""
    return {letter: goal[node, t, letter] for letter in LETTERS if (node, t, letter) in goal}


def _check_complete(model: Model, apart: Sequence[Apart], node: int, t: int, targets: dict[str, int]) -> None:
    if model.unfolds:
        there = {letter: apart[target] for letter, target in targets.items()}
        check_letters(model, apart[node], t, there, f"base node {node}")
    elif not targets:
        refuse("base-complete", f"base node {node} has no edge for transition {t}")


# Facts


def possible_after(model: Model, t: int, order: Order, facts: Facts) -> Order | None:
    """What is known when a transition is taken, in terms of before; ``None`` if it is impossible."""
    after = order.copy()
    after.learn_all(model.steps[t].known, facts.apart)
    return after if after.is_possible else None


def check_facts(model: Model, edge: Edge, after: Order, facts: Sequence[Facts]) -> None:
    """Facts at the target follow, in terms of what was there before."""
    source, target = edge.source, edge.target
    step, apart = model.steps[edge.transition], facts[source].apart
    for fact in facts[target].comparisons:
        low, high = _before(step, fact.low), _before(step, fact.high)
        if not after.implies(Comparison(low.place, high.place, fact.gap + high.plus - low.plus, fact.strict)):
            refuse("base-fact", f"facts of base node {target} do not follow on the edge from {source}")
    for pair in facts[target].apart:
        one, other = (_before(step, place).place for place in pair)
        fresh = model.is_continuous(step.sample) and one != other and (one.is_sample or other.is_sample)
        if not fresh and (one, other) not in apart:
            refuse(
                "base-fact", f"base node {target} has values apart that were not on the edge from {source}"
            )


def _before(step: Step, place: Place) -> Value:
    """What is in a place after the step, as it was before."""
    if place.name not in step.gets:
        return Value(place, Fraction(0))
    value = step.gets[place.name]
    return value.negative if place.mirrored else value


def facts_of(model: Model, value: object, where: str) -> Facts:
    found: list[Comparison] = []
    apart: set[tuple[Place, Place]] = set()
    for fact in items(value, where):
        relation, *ends = (text(part, where) for part in items(fact, where, 3))
        one, other = (_named_value(model, end, where) for end in ends)
        match relation:
            case "<" | "<=":
                found.append(compared(one, other, relation == "<"))
            case "=":
                found += [compared(one, other, False), compared(other, one, False)]
            case "!=":
                apart |= twins(one.place, other.place)
            case _:
                refuse("base-node", f"{where} has the relation {shown(relation)}")
    return Facts(tuple(found), frozenset(apart))


def _named_value(model: Model, name: str, where: str) -> Value:
    """A variable, one with a minus sign before it, or a number."""
    if name in model.variables:
        return Value(Place(name), Fraction(0))
    if name[:1] == "-" and name[1:] in model.variables:
        return Value(Place(name[1:], True), Fraction(0))
    if not NUMERAL.fullmatch(name):
        refuse(
            "base-node", f"{where} has {shown(name)}, which is no variable, no negative of one and no number"
        )
    return Value(ZERO, rational(name, where))
