"""What comparisons say together: whether all can hold, and whether they exclude or imply others.

A comparison bounds the difference of two numbers, and bounds can all hold if and only if no circle of them
is negative (Bellman-Ford). Every name stands for two numbers, its value and the negative of that, since
``a < b`` also says ``-b < -a``. Over the reals that is exact. Integers that are strictly ordered differ by 1,
and of two bounds on ``2*x`` that meet the value is even (Lahiri and Musuvathi 2005).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, floor, inf, lcm

from symdipa.model.parts import SAMPLE, Atom, Guard, Term, guarded

Node = tuple[str | None, bool]
"""The number that a term is without its offset: a name, and whether it is mirrored."""

Bounds = dict[tuple[Node, Node], int]
"""For a pair of nodes how much larger than the first the second may be."""


def satisfiable(atoms: Iterable[Atom], integer: bool = False) -> bool:
    """Whether all comparisons hold for some numbers in place of the names; ``integer``: for integers."""
    bounds = _bounds(list(atoms), integer)
    if any(start == end and bound < 0 for (start, end), bound in bounds.items()):
        return False
    if _has_negative_circle(bounds):
        return False
    mirrored = integer and any(start[1] != end[1] and start[0] and end[0] for start, end in bounds)
    return not mirrored or _meets_at_integers(bounds)


def excludes(guard: Guard, other: Guard, integer: bool = False) -> bool:
    """Whether two guards, both of which can hold, never hold together."""
    if guard.excludes(other):
        return True
    if (not guard.others and not other.others) or not _names(guard) & _names(other):
        return False
    few, many = sorted((guard.others, other.others), key=len)
    return any(each.negation in many for each in few) or not satisfiable(guard.atoms | other.atoms, integer)


def implies(atoms: frozenset[Atom], other: Atom, integer: bool = False) -> bool:
    """Whether a comparison holds wherever all the others do."""
    return other in atoms or not satisfiable([*_connected(atoms, other), other.negation], integer)


def can_hold(guard: Guard, integer: bool = False) -> bool:
    """Whether a guard holds for some numbers."""
    if guard.ge & guard.lt:
        return False
    return not guard.others or satisfiable(guard.atoms, integer)


def conflict(guard: Guard, integer: bool = False) -> list[Atom]:
    """Some of the comparisons of a guard that can never hold: no fewer of them exclude each other."""
    kept = sorted(guard.atoms, key=str)
    for each in list(kept):
        fewer = [other for other in kept if other != each]
        if not satisfiable(fewer, integer):
            kept = fewer
    return kept


def simplified(guard: Guard, integer: bool = False) -> Guard:
    """The guard without comparisons that the rest of them implies."""
    if not guard.others:
        return guard
    kept = guard.atoms
    for each in sorted(kept, key=lambda atom: (str(atom), atom.strict)):
        rest = kept - {each}
        if implies(rest, each, integer):
            kept = rest
    return guarded(kept, True)


def _names(guard: Guard) -> frozenset[str]:
    return guard.used | {SAMPLE} if guard.compares_sample else guard.used


def _connected(atoms: Iterable[Atom], other: Atom) -> list[Atom]:
    """The comparisons that are on circles with another one: names lead from one to the next."""
    names, found, rest = set(other.names), list[Atom](), list(atoms)
    while True:
        near = [each for each in rest if not names.isdisjoint(each.names)]
        if not near:
            return found
        found += near
        rest = [each for each in rest if names.isdisjoint(each.names)]
        names.update(name for each in near for name in each.names)


def _bounds(atoms: list[Atom], integer: bool) -> Bounds:
    """The bounds that the comparisons set, scaled so that a strict one is one less than if it were not."""
    offsets = [(each.high.offset, each.low.offset) for each in atoms]
    scale = lcm(*(offset.denominator for pair in offsets for offset in pair)) * (2 * len(atoms) + 1)
    found: Bounds = {}
    for each, (high, low) in zip(atoms, offsets, strict=True):
        if integer:
            bound = ceil(high - low) - 1 if each.strict else floor(high - low)
        else:
            bound = high.numerator * (scale // high.denominator) - low.numerator * (scale // low.denominator)
            bound -= each.strict
        pairs = ((_node(each.high), _node(each.low)), (_mirror(each.low), _mirror(each.high)))
        for pair in pairs:
            found[pair] = min(bound, found.get(pair, bound))
    return found


def _node(term: Term) -> Node:
    return term.name, term.mirrored


def _mirror(term: Term) -> Node:
    return term.name, not term.mirrored and term.name is not None


def _has_negative_circle(bounds: Bounds) -> bool:
    """Whether the least distances from everywhere do not settle.

    There are as many rounds as a path without a circle can have edges. It meets both nodes of ``insample``
    at most once, which spares most of the rounds for guards that compare little else.
    """
    edges = [(start, end, bound) for (start, end), bound in bounds.items()]
    least = {node: 0 for pair in bounds for node in pair}
    longest = min(len(least), 4 + sum(SAMPLE not in (start[0], end[0]) for start, end in bounds))
    for _ in range(longest + 1):
        changed = False
        for start, end, bound in edges:
            if least[start] + bound < least[end]:
                least[end] = least[start] + bound
                changed = True
        if not changed:
            return False
    return True


def _meets_at_integers(bounds: Bounds) -> bool:
    """Whether no number has to be half of an odd one (all bounds are integers, no circle is negative)."""
    nodes = sorted({node for pair in bounds for node in pair}, key=str)
    least: dict[tuple[Node, Node], float] = dict(bounds)
    for middle in nodes:
        for start in nodes:
            first = least.get((start, middle), inf)
            if first < inf:
                for end in nodes:
                    through = first + least.get((middle, end), inf)
                    if through < least.get((start, end), inf):
                        least[start, end] = through
    for name in {name for name, _ in nodes if name}:
        up, down = (
            least.get(((name, True), (name, False)), inf),
            least.get(((name, False), (name, True)), inf),
        )
        if up + down == 0 and up % 2:
            return False
    return True
