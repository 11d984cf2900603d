"""Certificates of privacy: shifts and potentials on a graph that covers the runs (Thm. wider alignment).

Why the rules prove the claim. Follow a feasible run in the base and in the lift, and give each sample a shift
in the edge's range, as near to the difference as its noise allows. Then (1) the shift of every stored value
lies in the interval of its variable, and (2) whenever the facts bound the difference of two places from
above, the first one is shifted at least as far as the second: facts follow from comparisons of this run by
adding up and halving, and (3) what the comparisons and outputs ask of shifts is asked on every edge: of the
sample by its range, of stored values by their intervals, or by the facts (2). So the shifted samples give the
same run and the same numbers, and the densities change by what the potentials pay.

Where not all entries may differ, or means have registers, nodes say how far inputs went apart, and edges how
the entry differs. Every pattern that is allowed has a path, or paths of which it is a mean
(:mod:`~symdipa.checker.wider.adjacent`), and on each of them the differences of means are those of the run.
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
from symdipa.checker.wider.adjacent import (
    ANY,
    LETTERS,
    Apart,
    apart_of,
    check_edge,
    check_letters,
    entry,
    means,
)
from symdipa.checker.wider.model import Model, Sample, Step
from symdipa.checker.wider.order import ZERO, Comparison, Order, Place, Value, compared, twins
from symdipa.model.automaton import Noise

POINT = (Fraction(0), Fraction(0))


def check_private(model: Model, certificate: dict[str, object], where: str) -> Claim:
    members(certificate, where, ["kind", "adjacency", "sensitivity", "D", "base", "lift"])
    inputs = inputs_of(certificate, where, model.differ)
    bound = rational(certificate["D"], f"{where}.D")
    base, known = _base(model, certificate["base"], f"{where}.base", inputs)
    lift = covering_lift(
        base,
        certificate["lift"],
        f"{where}.lift",
        model.variables,
        len(model.steps),
        priced=True,
        letters=model.unfolds,
    )
    if model.integer:
        _check_integers(lift, where)
    for edge in lift.edges:
        _check_edge(model, lift, known[lift.nodes[edge.source].base], inputs, edge)
    check_initial_potentials(lift, bound)
    return Claim("private", bound, inputs)


# The base: a graph that covers all feasible runs


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


def _base(model: Model, value: object, where: str, inputs: Inputs) -> tuple[Base, list[Known]]:
    """The base, and what is known in its nodes."""
    parts = members(value, where, ["nodes", "edges"])
    states: list[str] = []
    facts: list[Facts] = []
    gone: list[Apart] = []
    for v, item in enumerate(items(parts["nodes"], f"{where}.nodes")):
        here = f"{where}.nodes[{v}]"
        node = members(item, here, ["state"], ["facts", *(["differ", "registers"] if model.unfolds else [])])
        states.append(state_of(node, model.leaving, here))
        facts.append(_facts(model, node.get("facts", []), f"{here}.facts"))
        gone.append(apart_of(model, node, here))
    if not states or states[0] != model.initial or facts[0] != Facts() or gone[0] != Apart():
        refuse("base-initial", f"{where}: node 0 is not the initial state without facts")
    goal = dict(base_edges(model.steps, states, parts["edges"], f"{where}.edges", letters=model.unfolds))
    if model.unfolds:
        for (source, t, letter), target in goal.items():
            check_edge(model, gone, Edge(source, t, target, letter), inputs)
    orders = [Order(model.integer, known.comparisons) for known in facts]
    for v, state in enumerate(states):
        for t in model.leaving[state]:
            targets = {letter: goal[v, t, letter] for letter in LETTERS if (v, t, letter) in goal}
            _check_leaving(model, v, t, targets, orders[v], facts, gone)
    return Base(tuple(states), goal), [Known(o, a) for o, a in zip(orders, gone, strict=True)]


def _check_leaving(
    model: Model,
    source: int,
    t: int,
    targets: dict[str, int],
    order: Order,
    facts: list[Facts],
    gone: list[Apart],
) -> None:
    """Edges by a transition are complete, and lead where facts follow; or the step is impossible."""
    after = order.copy()
    after.learn_all(model.steps[t].known, facts[source].apart)
    if not after.is_possible:
        return
    if model.unfolds:
        there = {letter: gone[target] for letter, target in targets.items()}
        check_letters(model, gone[source], t, there, f"base node {source}")
    elif not targets:
        refuse("base-complete", f"base node {source} has no edge for transition {t}")
    for target in targets.values():
        _check_facts(model, Edge(source, t, target), after, facts)


def _check_facts(model: Model, edge: Edge, after: Order, facts: list[Facts]) -> None:
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


def _check_edge(model: Model, lift: Lift, known: Known, inputs: Inputs, edge: Edge) -> None:
    step = model.steps[edge.transition]
    _check_stored(lift, step, edge)
    floors, ceilings = _range(lift, known.order, step, edge)
    if floors and ceilings and max(floors) > min(ceilings):
        refuse("lift-sample", f"{named(edge)}: no shift of the sample fits")
    paid = lift.nodes[edge.source].potential - lift.nodes[edge.target].potential
    read = entry(model, step, edge.letter if model.unfolds else ANY, inputs)
    for difference in means(step, known.apart, read, named(edge)):
        cost = _cost(step.sample, difference, floors, ceilings) + _cost(
            step.second, difference, [Fraction(0)], [Fraction(0)]
        )
        if paid < cost:
            refuse("lift-potential", f"{named(edge)} costs more than the potential falls")


def _check_stored(lift: Lift, step: Step, edge: Edge) -> None:
    """What is kept or copied has its shifts in the interval of its new place; constants have the shift 0."""
    check_kept(lift, step.assigned, edge)
    for x, value in step.gets.items():
        if not value.place.is_sample:
            check_passed_on(_shifts(lift, edge.source, value.place), lift.interval(edge.target, x), x, edge)


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
    source, target = edge.source, edge.target
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
