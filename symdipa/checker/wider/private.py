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

In parts (``private-in-parts``) the nodes of the ground say that, and have the potentials. Every part is a
base on the ground with a lift. Walk along all of them at once, and give each sample the shift nearest to the
difference among those that all parts allow. What a comparison asks is asked by one part at least: by the
intervals of its variables, or by its facts, which follow from what was asked before.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations

from symdipa.checker.claims import Claim, Inputs, inputs_of
from symdipa.checker.graphs import (
    Base,
    Lift,
    Way,
    check_initial_potentials,
    covering_lift,
    named,
)
from symdipa.checker.reading import items, members, rational, text
from symdipa.checker.rules import refuse, shown
from symdipa.checker.wider.adjacent import Apart, means_of_step
from symdipa.checker.wider.base import Ground, base_of, base_on, ground_of
from symdipa.checker.wider.model import Model
from symdipa.checker.wider.order import Order, Place
from symdipa.checker.wider.shifts import Range, check_integers, check_stored, cost_of, range_of


def check_private(model: Model, certificate: dict[str, object], where: str) -> Claim:
    members(certificate, where, ["kind", "adjacency", "sensitivity", "D", "base", "lift"])
    inputs = inputs_of(certificate, where, model.differ)
    bound = rational(certificate["D"], f"{where}.D")
    base, known = base_of(model, certificate["base"], f"{where}.base", inputs)
    lift = _lift(model, base, certificate["lift"], f"{where}.lift", model.variables, priced=True)
    for edge in lift.edges:
        here, step = known[lift.nodes[edge.source].base], model.steps[edge.transition]
        check_stored(lift, step, edge)
        asked = range_of(lift, here.order, step, edge)
        paid = lift.nodes[edge.source].potential - lift.nodes[edge.target].potential
        if paid < _cost(model, edge.transition, edge.letter, here.apart, inputs, asked):
            refuse("lift-potential", f"{named(edge)} costs more than the potential falls")
    check_initial_potentials(lift, bound)
    return Claim("private", bound, inputs)


def _lift(
    model: Model, base: Base, value: object, where: str, variables: frozenset[str], *, priced: bool
) -> Lift:
    steps = len(model.steps)
    lift = covering_lift(base, value, where, variables, steps, priced=priced, letters=model.unfolds)
    if model.integer:
        check_integers(lift, where)
    return lift


def _cost(model: Model, t: int, letter: str, apart: Apart, inputs: Inputs, asked: Range) -> Fraction:
    """What a transition with a letter costs at most."""
    differences = means_of_step(model, t, letter, apart, inputs)
    return max(cost_of(model.steps[t], difference, asked) for difference in differences)


# In parts


Asked = dict[Way, Range]
"""What all edges over an edge of the ground ask, together."""


def check_in_parts(model: Model, certificate: dict[str, object], where: str) -> Claim:
    members(certificate, where, ["kind", "adjacency", "sensitivity", "D", "ground", "parts"])
    inputs = inputs_of(certificate, where, model.differ)
    bound = rational(certificate["D"], f"{where}.D")
    ground = ground_of(model, certificate["ground"], f"{where}.ground", inputs)
    parts = list(_parts(model, ground, certificate["parts"], f"{where}.parts"))
    for way, target in ground.base.goal.items():
        ranges = [part[way] for part in parts if way in part]
        if len(ranges) < len(parts):
            continue  # a part shows that no run gets there
        source, t, letter = way
        _check_answered(model, t, ranges)
        if not all(one.agrees(other) for one, other in permutations(ranges, 2)):
            refuse("part-sample", f"transition {t}: no shift of the sample fits for two parts")
        asked = Range()
        for one in ranges:
            asked.add(one)
        paid = ground.potential[source] - ground.potential[target]
        if paid < _cost(model, t, letter, ground.apart[source], inputs, asked):
            refuse("part-potential", f"transition {t}{letter} costs more than the potential falls")
    if ground.potential[0] > bound:
        refuse("private-bound", "node 0 of the ground has a potential above D")
    return Claim("private", bound, inputs)


def _parts(model: Model, ground: Ground, value: object, where: str) -> Iterator[Asked]:
    taken: set[str] = set()
    for k, item in enumerate(items(value, where)):
        here = f"{where}[{k}]"
        content = members(item, here, ["variables", "base", "lift"])
        names = [text(x, f"{here}.variables") for x in items(content["variables"], f"{here}.variables")]
        for x in names:
            if x not in model.variables or x in taken:
                refuse("part-variables", f"{here} has {shown(x)}, which is no variable or is in another part")
            taken.add(x)
        base, orders, below = base_on(model, ground, content["base"], f"{here}.base")
        lift = _lift(model, base, content["lift"], f"{here}.lift", frozenset(names), priced=False)
        yield _asked(model, lift, orders, below)


def _asked(model: Model, lift: Lift, orders: list[Order], below: tuple[int, ...]) -> Asked:
    found: Asked = {}
    for edge in lift.edges:
        node, step = lift.nodes[edge.source].base, model.steps[edge.transition]
        check_stored(lift, step, edge)
        way = below[node], edge.transition, edge.letter
        found.setdefault(way, Range()).add(range_of(lift, orders[node], step, edge))
    return found


def _check_answered(model: Model, t: int, ranges: list[Range]) -> None:
    """What the transition asks about is asked by one part at least."""
    pairs: set[tuple[Place, Place]] = set(model.steps[t].asked)
    for one in ranges:
        pairs &= one.left
    if pairs:
        refuse("lift-read", f"transition {t} compares or shows what no part has shifts for")
