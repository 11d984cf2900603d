"""Certificates of privacy in parts: shifts of some variables at a time, potentials of control states.

Why the rules prove the claim. Every part is a base and a lift as in :mod:`symdipa.checker.private`, so a
feasible run has a path in each part's lift; a transition that some lift has no edge for is in no run. Walk
along all paths at once and choose for every sample the shift nearest to the difference among those that all
parts allow: there is one, because what any two parts ask is compatible (*sample*). Each variable that is read
belongs to a part and has its interval there (*read*), so all shifts respect the guards and outputs. What a
sample costs is at most what the largest floor and the least ceiling of all edges for its transition make it
cost, and that is paid by the potentials of the control states.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

from symdipa.checker.claims import Claim, inputs_of
from symdipa.checker.model import Model
from symdipa.checker.private import Lift, cost, lift_of, range_of
from symdipa.checker.reading import items, members, rational, table, text
from symdipa.checker.refusal import refuse, shown

Range = tuple[list[Fraction], list[Fraction]]
"""What shifts of a sample must be at least, and at most."""


def check_in_parts(model: Model, certificate: dict[str, object], where: str) -> Claim:
    keys = ["kind", "adjacency", "sensitivity", "D", "potentials", "parts"]
    members(certificate, where, keys)
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
        if potential[step.source] - potential[step.target] < cost(step, inputs, floors, ceilings):
            refuse("part-potential", f"transition {t} costs more than the potential falls")
    if potential[model.initial] > bound:
        refuse("private-bound", "the initial state has a potential above D")
    return Claim("private", bound, inputs)


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
        parts.append(lift_of(model, content, here, frozenset(names), priced=False))
    return parts


def _asked(model: Model, lift: Lift) -> dict[int, Range]:
    """What the edges for each transition ask of its sample, all together."""
    found: dict[int, Range] = {}
    for edge in lift.edges:
        floors, ceilings = range_of(lift, model.steps[edge[1]], edge)
        above, below = found.setdefault(edge[1], ([], []))
        above += floors
        below += ceilings
    return found
