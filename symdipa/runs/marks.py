"""Marks: leaking pairs and violating paths by one pass over a run (Def. marks).

A chain leads from a *low end* to a *high end* through samples forced upward. Every stored value carries
two marks: ``up`` says that the low end of a chain lies below it (or is it), ``down`` that the high end
lies above it (or is it). A value with both is on a chain. What the ends are depends on the
:class:`~symdipa.runs.control.chains.Chain`.
"""

from __future__ import annotations

from typing import NamedTuple

from symdipa.runs.control.chains import Roles
from symdipa.runs.order import Mask, OrderState, Step, at_or_above, at_or_below, bounds


class Marks(NamedTuple):
    """``up`` and ``down`` marks as sets of variables; ``hit`` once some value had both."""

    up: Mask = 0
    down: Mask = 0
    hit: bool = False


def advance(
    order: OrderState,
    marks: Marks,
    step: Step,
    roles: Roles,
    *,
    repeats: bool,
    keep: Mask,
    own: tuple[Mask, Mask] | None = None,
) -> Marks:
    """The marks after ``step`` (its part about shifts), taken in ``order`` (where it is enabled).

    ``repeats``: the step belongs to a non-leaking cycle of the run. ``keep`` are the variables to track
    afterwards. ``own`` is :meth:`~symdipa.runs.control.chains.Chain.own` where a sample does not mark itself.
    """
    up, down, hit = marks
    if repeats and roles.low_repeated:
        up |= at_or_above(order, step.lt)
    if repeats and roles.high_repeated:
        down |= at_or_below(order, step.ge)
    below, above = bounds(order, step)
    low, high = own or (0, 0)
    sample_up, sample_down = bool((up | low) & below), bool((down | high) & above)
    if own is None:
        sample_up, sample_down = sample_up or roles.low, sample_down or roles.high
    if sample_up or roles.low:
        up |= above
    if sample_down or roles.high:
        down |= below
    hit = hit or bool(up & (down | high) or down & low) or (sample_up and (sample_down or roles.high))
    hit = hit or (sample_down and roles.low)
    old, fresh = ~step.asg & keep, step.asg & keep
    return Marks(up & old | (fresh if sample_up else 0), down & old | (fresh if sample_down else 0), hit)
