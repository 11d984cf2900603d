"""Marks: leaking pairs and violating paths by one pass over a run (Def. marks).

A chain leads from a *low end* to a *high end* through samples forced upward. Every stored value carries
two marks: ``up`` says that the low end of a chain lies below it (or is it), ``down`` that the high end
lies above it (or is it). A value with both is on a chain. What the ends are depends on the
:class:`Chain`: a sample that a non-leaking cycle can repeat, or one that was output as ``insample``.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from symdipa.model.patterns import Pattern
from symdipa.runs.order import Mask, OrderState, Step, at_or_above, at_or_below, bounds


class Chain(Enum):
    """The chains to look for: which end is repeatable and which is output.

    ``PAIR``: both ends repeatable (leaking pair, marks ``L`` and ``G``). ``OUTPUT_BELOW``: the low end is
    output, the high end repeatable (``U`` and ``G``). ``OUTPUT_ABOVE``: the low end repeatable, the high
    end output (``L`` and ``D``). The last two are the two halves of the privacy violating path.
    """

    PAIR = (True, True)
    OUTPUT_BELOW = (False, True)
    OUTPUT_ABOVE = (True, False)

    def __init__(self, low_repeats: bool, high_repeats: bool) -> None:
        self.low_repeats = low_repeats
        self.high_repeats = high_repeats

    def marks(self, step: Step) -> bool:
        """Whether a repetition of ``step`` marks anything that this chain needs."""
        return bool((self.low_repeats and step.lt) or (self.high_repeats and step.ge))


def chains_of(pattern: Pattern) -> tuple[Chain, ...]:
    """The chains any of which shows the pattern (none for the patterns that are cycles)."""
    return {
        Pattern.LEAKING_PAIR: (Chain.PAIR,),
        Pattern.PRIVACY_VIOLATING_PATH: (Chain.OUTPUT_BELOW, Chain.OUTPUT_ABOVE),
    }.get(pattern, ())


class Marks(NamedTuple):
    """``up`` and ``down`` marks as sets of variables; ``hit`` once some value had both."""

    up: Mask = 0
    down: Mask = 0
    hit: bool = False


def advance(
    order: OrderState, marks: Marks, step: Step, chain: Chain, *, repeats: bool, output: bool, keep: Mask
) -> Marks:
    """The marks after ``step``, taken in ``order`` (where it is enabled).

    ``repeats``: the step belongs to a non-leaking cycle of the run. ``output``: it outputs ``insample``.
    ``keep`` are the variables to track afterwards.
    """
    up, down, hit = marks
    if repeats and chain.low_repeats:
        up |= at_or_above(order, step.lt)
    if repeats and chain.high_repeats:
        down |= at_or_below(order, step.ge)
    below, above = bounds(order, step)
    sample_up = bool(up & below) or (output and not chain.low_repeats)
    sample_down = bool(down & above) or (output and not chain.high_repeats)
    if sample_up:
        up |= above
    if sample_down:
        down |= below
    hit = hit or bool(up & down) or (sample_up and sample_down)
    old, fresh = ~step.asg & keep, step.asg & keep
    return Marks(up & old | (fresh if sample_up else 0), down & old | (fresh if sample_down else 0), hit)
