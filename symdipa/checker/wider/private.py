"""Certificates of privacy: shifts and potentials on a graph that covers the runs (Thm. wider alignment).

Why the rules prove the claim. Follow a feasible run in the base and in the lift, and give each sample a shift
in the edge's range, as near to the difference as its noise allows. Then (1) the shift of every stored value
lies in the interval of its variable, and (2) whenever the facts bound the difference of two places from
above, the first one is shifted at least as far as the second: facts follow from comparisons of this run by
adding up and halving, and (3) what the comparisons and outputs ask of shifts is asked on every edge: of the
sample by its range, of stored values by their intervals, or by the facts (2). So the shifted samples give the
same run and the same numbers, and the densities change by what the potentials pay.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from symdipa.checker.claims import Claim, Inputs, inputs_of
from symdipa.checker.graphs import (
    Base,
    Edge,
    Interval,
    Lift,
    base_edges,
    check_initial_potentials,
    check_kept,
    check_passed_on,
    covering_lift,
    named,
    state_of,
)
from symdipa.checker.reading import NUMERAL, items, members, rational, text
from symdipa.checker.rules import refuse, shown
from symdipa.checker.wider.model import Model, Sample, Step
from symdipa.checker.wider.order import ZERO, Comparison, Order, Place, Value, compared, twins
from symdipa.model.automaton import Noise

POINT = (Fraction(0), Fraction(0))


def check_private(model: Model, certificate: dict[str, object], where: str) -> Claim:
    members(certificate, where, ["kind", "adjacency", "sensitivity", "D", "base", "lift"])
    inputs = inputs_of(certificate, where)
    bound = rational(certificate["D"], f"{where}.D")
    base, orders = _base(model, certificate["base"], f"{where}.base")
    lift = covering_lift(
        base, certificate["lift"], f"{where}.lift", model.variables, len(model.steps), priced=True
    )
    if model.integer:
        _check_integers(lift, where)
    for edge in lift.edges:
        _check_edge(model, lift, orders[lift.nodes[edge[0]].base], inputs, edge)
    check_initial_potentials(lift, bound)
    return Claim("private", bound, inputs)


# The base: a graph that covers all feasible runs


@dataclass(frozen=True)
class Facts:
    """Comparisons of values, and pairs of places ``apart``: their difference has no given value, but with
    probability 0."""

    comparisons: tuple[Comparison, ...] = ()
    apart: frozenset[tuple[Place, Place]] = frozenset()


def _base(model: Model, value: object, where: str) -> tuple[Base, list[Order]]:
    """The base, and for every node all that follows from its facts."""
    parts = members(value, where, ["nodes", "edges"])
    states: list[str] = []
    facts: list[Facts] = []
    for v, item in enumerate(items(parts["nodes"], f"{where}.nodes")):
        node = members(item, f"{where}.nodes[{v}]", ["state"], ["facts"])
        states.append(state_of(node, model.leaving, f"{where}.nodes[{v}]"))
        facts.append(_facts(model, node.get("facts", []), f"{where}.nodes[{v}].facts"))
    if not states or states[0] != model.initial or facts[0] != Facts():
        refuse("base-initial", f"{where}: node 0 is not the initial state without facts")
    goal = dict(base_edges(model.steps, states, parts["edges"], f"{where}.edges"))
    orders = [Order(model.integer, known.comparisons) for known in facts]
    for v, state in enumerate(states):
        for t in model.leaving[state]:
            _check_leaving(model, (v, t, goal.get((v, t))), orders[v], facts)
    return Base(tuple(states), goal), orders


def _check_leaving(model: Model, edge: tuple[int, int, int | None], order: Order, facts: list[Facts]) -> None:
    """Facts at the target follow, in terms of what was there before; or the step is impossible."""
    source, t, target = edge
    step, apart = model.steps[t], facts[source].apart
    after = order.copy()
    after.learn_all(step.known, apart)
    if not after.is_possible:
        return
    if target is None:
        refuse("base-complete", f"base node {source} has no edge for transition {t}")
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


def _facts(model: Model, value: object, where: str) -> Facts:
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


# Shifts and what they cost


def _check_integers(lift: Lift, where: str) -> None:
    """Shifts of integers are integers."""
    for intervals in (lift.everywhere, *(node.own for node in lift.nodes)):
        for x, found in intervals.items():
            if found is not None and any(end.denominator != 1 for end in found):
                refuse("lift-integer", f"{where}.lift has shifts of {shown(x)} that are no integers")


def _check_edge(model: Model, lift: Lift, order: Order, inputs: Inputs, edge: Edge) -> None:
    source, t, target = edge
    step = model.steps[t]
    _check_stored(lift, step, edge)
    floors, ceilings = _range(lift, order, step, edge)
    if floors and ceilings and max(floors) > min(ceilings):
        refuse("lift-sample", f"{named(edge)}: no shift of the sample fits")
    paid = lift.nodes[source].potential - lift.nodes[target].potential
    for difference in model.differences(step, inputs):
        cost = _cost(step.sample, difference, floors, ceilings) + _cost(
            step.second, difference, [Fraction(0)], [Fraction(0)]
        )
        if paid < cost:
            refuse("lift-potential", f"{named(edge)} costs more than the potential falls")


def _check_stored(lift: Lift, step: Step, edge: Edge) -> None:
    """What is kept or copied has its shifts in the interval of its new place; constants have the shift 0."""
    source, _, target = edge
    check_kept(lift, step.assigned, edge)
    for x, value in step.gets.items():
        if not value.place.is_sample:
            check_passed_on(_shifts(lift, source, value.place), lift.interval(target, x), x, edge)


def _shifts(lift: Lift, node: int, place: Place) -> Interval | None:
    """The shifts that a place other than the sample may have in the node."""
    if place.name is None:
        return POINT
    found = lift.interval(node, place.name)
    return (-found[1], -found[0]) if found is not None and place.mirrored else found


def _range(lift: Lift, order: Order, step: Step, edge: Edge) -> tuple[list[Fraction], list[Fraction]]:
    """What the shift of the sample must be at least and at most.

    Where the facts say that something is asked for already, nothing is.
    """
    source, _, target = edge
    floors: list[Fraction] = []
    ceilings: list[Fraction] = []
    for low, high in step.asked:
        if order.bound(low, high) is not None:
            continue
        if low.is_sample and high.is_sample:  # one of them is the negative
            (ceilings if low.mirrored else floors).append(Fraction(0))
        elif low.is_sample:
            most = _read(lift, source, high, edge)[1]
            if low.mirrored:
                ceilings.append(-most)
            else:
                floors.append(most)
        elif high.is_sample:
            least = _read(lift, source, low, edge)[0]
            if high.mirrored:
                floors.append(-least)
            else:
                ceilings.append(least)
        elif _read(lift, source, low, edge)[0] < _read(lift, source, high, edge)[1]:
            refuse("lift-order", f"{named(edge)}: a value may be shifted less than another one asks for")
    for x, value in step.gets.items():
        stored = lift.interval(target, x)
        if value.place.is_sample and stored is not None:
            floors.append(stored[0])
            ceilings.append(stored[1])
    return floors, ceilings


def _read(lift: Lift, node: int, place: Place, edge: Edge) -> Interval:
    found = _shifts(lift, node, place)
    if found is None:
        refuse("lift-read", f"{named(edge)} reads {shown(place.name)}, which has no interval")
    return found


def _cost(
    sample: Sample | None, difference: Fraction, floors: list[Fraction], ceilings: list[Fraction]
) -> Fraction:
    """What the best shift costs; refused where none has a finite cost.

    It is convex in the difference, so one of the extreme differences is the worst.
    """
    if sample is None:
        return Fraction(0)
    short = max([Fraction(0), *(floor - difference for floor in floors)])
    far = max([Fraction(0), *(difference - ceiling for ceiling in ceilings)])
    if (sample.noise is not Noise.LAPLACE and short) or (sample.noise is Noise.NONE and far):
        refuse("lift-noise", f"no shift of a sample with {sample.noise.value} noise has a finite cost")
    return sample.d * max(short, far)
