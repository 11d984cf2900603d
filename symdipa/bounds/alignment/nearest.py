"""Shifts without a solver: each as near to one number as the rules allow (docs/weights.md, section 2).

Take the least values that satisfy the rules and the greatest ones, and for each unknown the middle one of
both and that number. If one unknown must be at most another, so are its three; so the middle ones satisfy all
rules. With 0 they are much like the shifts in the proof of Thm. sufficiency.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from symdipa.bounds.alignment.program import ZERO, Constraints


def nearest(
    constraints: Constraints, low: Fraction, high: Fraction, wanted: Fraction
) -> tuple[Fraction, ...] | None:
    """The values nearest to ``wanted`` with which no loop costs anything; ``None`` if there are none."""
    ends = _ends(constraints, low, high)
    if ends is None:
        return None
    least, greatest = ends
    above: list[list[int]] = [[] for _ in range(constraints.unknowns)]
    below: list[list[int]] = [[] for _ in range(constraints.unknowns)]
    for a, b in constraints.at_most:
        above[a].append(b)
        below[b].append(a)
    _spread(least, above)
    mirrored = [-value for value in greatest]
    _spread(mirrored, below)
    greatest = [-value for value in mirrored]
    if any(a > b for a, b in zip(least, greatest, strict=True)):
        return None
    return tuple(max(a, min(wanted, b)) for a, b in zip(least, greatest, strict=True))


def _ends(
    constraints: Constraints, low: Fraction, high: Fraction
) -> tuple[list[Fraction], list[Fraction]] | None:
    """The least and the greatest value of each unknown by itself: no loop costs, no step infinitely much."""
    first, last = constraints.shifts(low, high)
    least, greatest = [first] * constraints.unknowns, [last] * constraints.unknowns
    least[ZERO] = greatest[ZERO] = Fraction(0)
    for here, there, rate, floor, ceiling in constraints.groups:
        loop = here == there
        down, up = rate.differences(low, high)
        above, below = rate.slopes
        if loop and any(rate.release) and (down or up):
            return None
        if above is None or (loop and above):
            for f in floor:
                greatest[f] = min(greatest[f], down)
        if below is None or (loop and below):
            for c in ceiling:
                least[c] = max(least[c], up)
    return least, greatest


def _spread(values: list[Fraction], onward: Sequence[Sequence[int]]) -> None:
    """Raise values until none is above one that is onward: the greatest first, each place once."""
    places: dict[Fraction, list[int]] = {}
    for u, value in enumerate(values):
        places.setdefault(value, []).append(u)
    done = [False] * len(values)
    for value in sorted(places, reverse=True):
        todo = [u for u in places[value] if not done[u]]
        for u in todo:
            done[u] = True
        while todo:
            for v in onward[todo.pop()]:
                if not done[v]:
                    done[v], values[v] = True, value
                    todo.append(v)
