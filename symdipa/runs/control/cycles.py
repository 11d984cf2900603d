"""Which transitions may be repeated: those with a way back that leaves alone what they compare."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symdipa.runs.graphs import component_numbers
from symdipa.runs.order import Mask, Step

Ends = Sequence[tuple[int, int]]

MOST_WORK = 1_000_000
"""How often two steps are compared at most; what has not been left out by then is taken for repeatable."""


def repeatable(
    steps: Sequence[Step], source: Sequence[int], target: Sequence[int], loops: Iterable[Sequence[int]]
) -> frozenset[int]:
    """The transitions that may lie on a non-leaking cycle, and perhaps some others (Thm. repeatable).

    ``loops`` are the transitions inside each strongly connected component.
    """
    ends = list(zip(source, target, strict=True))
    found: set[int] = set()
    todo = [tuple(loop) for loop in loops]
    work = 0
    while todo:
        loop = todo.pop()
        out, effort = _not_free(loop, steps, ends, MOST_WORK - work)
        work += effort
        if out:
            todo += _by_component([t for t in loop if t not in out], ends)
        else:
            found.update(loop)
    return frozenset(found)


def _not_free(loop: Sequence[int], steps: Sequence[Step], ends: Ends, most: int) -> tuple[set[int], int]:
    """Some transitions of a strongly connected set that are not free in it, if any, and the effort."""
    used = assigned = 0
    for t in loop:
        used |= steps[t].used
        assigned |= steps[t].asg
    # Of what a step uses and assigns only variables in conflict matter.
    alike: dict[tuple[Mask, Mask], set[int]] = {}
    for t in loop:
        alike.setdefault((steps[t].used & assigned, steps[t].asg & used), set()).add(t)
    effort = len(loop)
    if out := {t for (uses, assigns), these in alike.items() if uses & assigns for t in these}:
        return out, effort
    for (uses, assigns), these in alike.items():
        if not uses and not assigns:
            continue
        effort += len(loop)
        if effort > most:
            break
        beside = [t for t in loop if not (steps[t].asg & uses or steps[t].used & assigns)]
        if out := these.difference(*_by_component(beside, ends)):
            return out, effort
    return set(), effort


def _by_component(transitions: Sequence[int], ends: Ends) -> list[tuple[int, ...]]:
    """Those of the transitions that lie on closed paths of such, by component."""
    number: dict[int, int] = {}
    for t in transitions:
        for q in ends[t]:
            number.setdefault(q, len(number))
    edges = [(number[ends[t][0]], number[ends[t][1]]) for t in transitions]
    component = component_numbers(len(number), edges)
    found: dict[int, list[int]] = {}
    for t, (q, p) in zip(transitions, edges, strict=True):
        if component[q] == component[p]:
            found.setdefault(component[q], []).append(t)
    return [tuple(ts) for ts in found.values()]
