"""Strong feasibility: forced orders of non-input samples agree with their means (theory, section 1)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import NamedTuple

from symdipa.runs.control import Control
from symdipa.runs.dataflow import OrderFacts, fixed_point, order_facts
from symdipa.runs.order import Mask, OrderState, bounds, initial, members, update
from symdipa.runs.slicing import cut, flatten, separate, transitions_touching, variable_components


class Means(NamedTuple):
    """Per variable the largest mean of a non-input sample at or below it, the smallest at or above it."""

    low: tuple[Fraction | None, ...]
    high: tuple[Fraction | None, ...]


def strongly_feasible(
    control: Control, limit: int = 5_000, tick: Callable[[], None] = lambda: None
) -> bool | None:
    """Whether the automaton is strongly feasible, ``None`` when that is not established.

    One variable component at a time, of variables that were split where it helps: first without control
    flow, then by dataflow over may-facts on its slice; where both see a possible clash, feasible runs are
    enumerated, up to ``limit`` states. ``tick`` may raise to end the work.
    """
    separated = separate(control).control
    components = variable_components(separated)
    touching = transitions_touching(separated, components)
    clear: dict[Hashable, bool] = {}
    for variables in components:
        tick()
        flat = flatten(separated, variables, touching[variables])
        shape = flat.shape
        if shape not in clear:
            clear[shape] = _no_clash_possible(flat, order_facts(flat))
        if clear[shape]:
            continue
        part = cut(separated, variables).control
        if _no_clash_possible(part, order_facts(part, tick=tick)) or _enumerate(part, limit, tick):
            continue
        # The slice forgets what other components forbid, so a clash has to be found on the whole.
        return _enumerate(control, limit if control.variables < 100 else 0, tick)
    return True


class _Clash(Exception):
    """A sample may be forced below one of no larger mean."""


def _no_clash_possible(control: Control, facts: OrderFacts) -> bool:
    def after(t: int, before: Means) -> Means | None:
        order = facts.may[control.source[t]]
        if order is None or not facts.possible[t]:
            return None
        following = _advance(control, order, before, t)
        if following is None:
            raise _Clash
        return following

    try:
        fixed_point(control, _nothing(control), after, _join)
    except _Clash:
        return False
    return True


def _enumerate(control: Control, limit: int, tick: Callable[[], None]) -> bool | None:
    start = (control.initial, initial(control.variables), _nothing(control))
    seen: set[tuple[int, OrderState, Means]] = {start}
    queue = deque([start])
    while queue:
        tick()
        q, order, means = queue.popleft()
        for t in control.outgoing[q]:
            p = control.target[t]
            after = update(order, control.steps[t], control.live[p])
            if after is None:
                continue
            new = _advance(control, order, means, t)
            if new is None:
                return False
            if (p, after, new) not in seen:
                seen.add((p, after, new))
                queue.append((p, after, new))
        if len(seen) > limit:
            return None
    return True


def _nothing(control: Control) -> Means:
    none: tuple[None, ...] = (None,) * control.variables
    return Means(none, none)


def _advance(control: Control, order: OrderState, means: Means, t: int) -> Means | None:
    """The means after transition ``t``; ``None`` if it forces a sample below one of no larger mean."""
    step = control.steps[t]
    low, high = list(means.low), list(means.high)
    below, above = bounds(order, step)
    largest = _largest(low, below)
    smallest = _smallest(high, above)
    if largest is not None and smallest is not None and largest >= smallest:
        return None
    for x in members(above):
        low[x] = _max(low[x], largest)
    for x in members(below):
        high[x] = _min(high[x], smallest)
    keep = control.live[control.target[t]]
    for x in members(step.asg):
        low[x], high[x] = (
            (largest, smallest) if control.reads_input[t] else (control.mean[t], control.mean[t])
        )
    for x in range(control.variables):
        if not keep >> x & 1:
            low[x] = high[x] = None
    return Means(tuple(low), tuple(high))


def _max(a: Fraction | None, b: Fraction | None) -> Fraction | None:
    return b if a is None else a if b is None else max(a, b)


def _min(a: Fraction | None, b: Fraction | None) -> Fraction | None:
    return b if a is None else a if b is None else min(a, b)


def _largest(values: list[Fraction | None], mask: Mask) -> Fraction | None:
    found = None
    for x in members(mask):
        found = _max(found, values[x])
    return found


def _smallest(values: list[Fraction | None], mask: Mask) -> Fraction | None:
    found = None
    for x in members(mask):
        found = _min(found, values[x])
    return found


def _join(a: Means, b: Means) -> Means:
    return Means(
        tuple(_max(x, y) for x, y in zip(a.low, b.low, strict=True)),
        tuple(_min(x, y) for x, y in zip(a.high, b.high, strict=True)),
    )
