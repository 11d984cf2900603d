"""Certificates of privacy: shifts and potentials on a graph that covers the runs (Thm. alignment).

``private`` has shifts for all variables at once, ``private-in-parts`` for some at a time, with potentials of
control states.

Why the rules prove the claim. Let a feasible run and the differences of two adjacent inputs be given. The
base has a path with the transitions of the run (*initial*, *complete*), and its facts are true on it
(*fact*); the lift has a path over that path, from an initial node (*cover*). Walk along it and choose for
every sample the shift in the edge's range that is nearest to the difference. The shift of every stored
value lies in the interval of its variable (*sample*, *kept*), so all shifts respect the guards and outputs.
What they cost is paid by the potentials edge by edge (*potential*), in all at most the initial potential,
which is at most ``D`` (*bound*).

Why that is so in parts. Every part is such a base with a lift, but for the potentials, so a feasible run has
a path in each part's lift; a transition that some lift has no edge for is in no run. Walk along all paths at
once and choose for every sample the shift nearest to the difference among those that all parts allow: there
is one, because what any two parts ask is compatible (*part-sample*). Each variable that is read belongs to a
part and has its interval there (*read*), so all shifts respect the guards and outputs. What a sample costs is
at most what the largest floor and the least ceiling of all edges for its transition make it cost, and that is
paid by the potentials of the control states (*part-potential*).

With a ``trunk``, a base with a lift without shifts, all this is about another automaton, whose states are the
nodes of that lift, and whose transitions its edges. Every feasible run has a path over it in the lift, from
the one node over base node 0: so it is a run of that automaton, with the same guards, samples and outputs.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations

from symdipa.checker.claims import Claim, Inputs, inputs_of
from symdipa.checker.graphs import (
    Base,
    Edge,
    Lift,
    base_edges,
    check_initial_potentials,
    check_kept,
    covering_lift,
    named,
    state_of,
)
from symdipa.checker.model import Model, Step
from symdipa.checker.plain.runs import NOTHING, Order, after
from symdipa.checker.reading import items, members, rational, table, text
from symdipa.checker.rules import refuse, shown

Range = tuple[list[Fraction], list[Fraction]]
"""What shifts of a sample must be at least, and at most."""


def check_private(model: Model, certificate: dict[str, object], where: str) -> Claim:
    keys = ["kind", "adjacency", "sensitivity", "D", "base", "lift"]
    members(certificate, where, keys)
    inputs = inputs_of(certificate, where)
    bound = rational(certificate["D"], f"{where}.D")
    lift = _lift(model, certificate, where, model.variables, priced=True)
    for edge in lift.edges:
        _check_edge(model, lift, inputs, edge)
    check_initial_potentials(lift, bound)
    return Claim("private", bound, inputs)


def _lift(
    model: Model, content: dict[str, object], where: str, variables: frozenset[str], *, priced: bool
) -> Lift:
    """A lift with shifts of the variables over a base that covers all feasible runs, and covers it.

    Its nodes have potentials if it is ``priced``.
    """
    base = _base(model, content["base"], f"{where}.base")
    return covering_lift(
        base,
        content["lift"],
        f"{where}.lift",
        variables,
        len(model.steps),
        priced=priced,
        letters=False,
    )


# The base: a graph that covers all feasible runs


def _base(model: Model, value: object, where: str) -> Base:
    parts = members(value, where, ["nodes", "edges"])
    states, orders = [], []
    for v, node in enumerate(items(parts["nodes"], f"{where}.nodes")):
        state, order = _base_node(model, node, f"{where}.nodes[{v}]")
        states.append(state)
        orders.append(order)
    if not states or states[0] != model.initial or orders[0] != NOTHING:
        refuse("base-initial", f"{where}: node 0 is not the initial state without facts")
    goal = dict(base_edges(model.steps, states, parts["edges"], f"{where}.edges", letters=False))
    for v, state in enumerate(states):
        for t in model.leaving[state]:
            target = goal.get((v, t, ""))
            following = after(orders[v], model.steps[t])
            if target is None:
                if following is not None:
                    refuse("base-complete", f"base node {v} has no edge for transition {t}")
            elif following is not None:
                there = orders[target]
                if not (there.less <= following.less and there.same <= following.same):
                    refuse("base-fact", f"facts of base node {target} do not follow on the edge from {v}")
    return Base(tuple(states), goal)


def _base_node(model: Model, value: object, where: str) -> tuple[str, Order]:
    node = members(value, where, ["state"], ["facts"])
    state = state_of(node, model.leaving, where)
    less, same = set(), set()
    for fact in items(node.get("facts", []), f"{where}.facts"):
        relation, x, y = (text(part, f"{where}.facts") for part in items(fact, f"{where}.facts", 3))
        if relation not in ("<", "=") or x == y or not {x, y} <= model.variables:
            refuse("base-node", f"{where} has the fact {shown(x)} {shown(relation)} {shown(y)}")
        if relation == "<":
            less.add((x, y))
        else:
            same |= {(x, y), (y, x)}
    return state, Order(frozenset(less), frozenset(same))


# Shifts and what they cost


def _check_edge(model: Model, lift: Lift, inputs: Inputs, edge: Edge) -> None:
    step = model.steps[edge.transition]
    floors, ceilings = _checked_range(lift, step, edge)
    paid = lift.nodes[edge.source].potential - lift.nodes[edge.target].potential
    if paid < _cost(step, inputs, floors, ceilings):
        refuse("lift-potential", f"{named(edge)} costs more than the potential falls")


def _checked_range(lift: Lift, step: Step, edge: Edge) -> Range:
    """What the shift of the sample must be at least and at most on an edge; refused if nothing is both."""
    check_kept(lift, step.assigned, edge)
    floors, ceilings = _range(lift, step, edge.source, edge.target, named(edge))
    if floors and ceilings and max(floors) > min(ceilings):
        refuse("lift-sample", f"{named(edge)}: no shift of the sample fits")
    return floors, ceilings


def _range(lift: Lift, step: Step, source: int, target: int, where: str) -> Range:
    """What the shift of the sample must be at least and at most: guard, output, and where it is stored."""
    floors, ceilings = [], []
    for x in step.used & lift.variables:
        read = lift.interval(source, x)
        if read is None:
            refuse("lift-read", f"{where} reads {shown(x)}, which has no interval")
        if x in step.lt:
            floors.append(read[1])
        else:
            ceilings.append(read[0])
    for x in step.assigned:
        stored = lift.interval(target, x)
        if stored is not None:
            floors.append(stored[0])
            ceilings.append(stored[1])
    if step.shows_sample:
        floors.append(Fraction(0))
        ceilings.append(Fraction(0))
    return floors, ceilings


def _cost(step: Step, inputs: Inputs, floors: list[Fraction], ceilings: list[Fraction]) -> Fraction:
    """The cost of the worst difference: ``d`` for what the nearest shift misses, ``d'`` for a release.

    The cost is convex in the difference, so one of the extreme differences is the worst.
    """
    costs = []
    for difference in inputs.differences(step.reads_input):
        misses = [floor - difference for floor in floors] + [difference - ceiling for ceiling in ceilings]
        costs.append(step.d * max([Fraction(0), *misses]) + step.released * abs(difference))
    return max(costs)


# In parts


def check_in_parts(model: Model, certificate: dict[str, object], where: str) -> Claim:
    keys = ["kind", "adjacency", "sensitivity", "D", "potentials", "parts"]
    members(certificate, where, keys, ["trunk"])
    if "trunk" in certificate:
        model = _split(model, certificate["trunk"], f"{where}.trunk")
    inputs = inputs_of(certificate, where)
    bound = rational(certificate["D"], f"{where}.D")
    potential = _potentials(model, certificate["potentials"], f"{where}.potentials")
    parts = _parts(model, certificate["parts"], f"{where}.parts")
    asked = [_asked(model, lift) for lift in parts]
    owned = frozenset[str]().union(*(lift.variables for lift in parts))
    for t, step in enumerate(model.steps):
        ranges = [ranges[t] for ranges in asked if t in ranges]
        if len(ranges) < len(parts):
            continue  # a part shows that no run gets there
        if not step.used <= owned:
            refuse("lift-read", f"transition {t} reads a variable that belongs to no part")
        for (floors, _), (_, ceilings) in permutations(ranges, 2):
            if floors and ceilings and max(floors) > min(ceilings):
                refuse("part-sample", f"transition {t}: no shift of the sample fits for two parts")
        shown_sample = [Fraction(0)] if step.shows_sample else []
        floors = [f for floors, _ in ranges for f in floors] + shown_sample
        ceilings = [c for _, ceilings in ranges for c in ceilings] + shown_sample
        if potential[step.source] - potential[step.target] < _cost(step, inputs, floors, ceilings):
            refuse("part-potential", f"transition {t} costs more than the potential falls")
    if potential[model.initial] > bound:
        refuse("private-bound", "the initial state has a potential above D")
    return Claim("private", bound, inputs)


def _split(model: Model, value: object, where: str) -> Model:
    """The automaton whose states and transitions are the nodes and edges of a lift that covers the runs."""
    content = members(value, where, ["base", "lift"])
    lift = _lift(model, content, where, frozenset(), priced=False)
    initial = [v for v, node in enumerate(lift.nodes) if node.base == 0]
    if len(initial) > 1:
        refuse("trunk-initial", f"{where}.lift has nodes {initial[0]} and {initial[1]} over base node 0")
    leaving: list[list[int]] = [[] for _ in lift.nodes]
    for e, edge in enumerate(lift.edges):
        leaving[edge.source].append(e)
    return Model(
        str(initial[0]),
        tuple(
            replace(model.steps[edge.transition], source=str(edge.source), target=str(edge.target))
            for edge in lift.edges
        ),
        {str(v): tuple(found) for v, found in enumerate(leaving)},
        model.variables,
    )


def _potentials(model: Model, value: object, where: str) -> dict[str, Fraction]:
    found = {state: rational(number, where) for state, number in table(value, where).items()}
    if found.keys() != model.leaving.keys():
        refuse("part-potential", f"{where} are not those of the control states")
    if min(found.values()) < 0:
        refuse("part-potential", f"{where} are negative somewhere")
    return found


def _parts(model: Model, value: object, where: str) -> list[Lift]:
    parts: list[Lift] = []
    taken: set[str] = set()
    for k, item in enumerate(items(value, where)):
        here = f"{where}[{k}]"
        content = members(item, here, ["variables", "base", "lift"])
        names = [text(x, f"{here}.variables") for x in items(content["variables"], f"{here}.variables")]
        for x in names:
            if x not in model.variables or x in taken:
                refuse("part-variables", f"{here} has {shown(x)}, which is no variable or is in another part")
            taken.add(x)
        parts.append(_lift(model, content, here, frozenset(names), priced=False))
    return parts


def _asked(model: Model, lift: Lift) -> dict[int, Range]:
    """What the edges for each transition ask of its sample, all together."""
    found: dict[int, Range] = {}
    for edge in lift.edges:
        floors, ceilings = _checked_range(lift, model.steps[edge.transition], edge)
        above, below = found.setdefault(edge.transition, ([], []))
        above += floors
        below += ceilings
    return found
