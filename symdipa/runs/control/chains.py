"""Chains of forced samples between two ends in conflict: what a sample must be to end one (Def. conflict)."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from symdipa.model.patterns import Pattern
from symdipa.runs.control.graph import FREE, Control, Kind, Sampling
from symdipa.runs.order import Mask


class End(Enum):
    """What ends a chain: a sample whose shift must be near 0, or near the difference of its input.

    ``REPEATED``: it depends on an input, and a non-leaking cycle can repeat it. ``FIXED``: it was shown (or
    is a constant); or it depends on no input, and a non-leaking cycle can repeat it or its noise allows no
    shift that way. ``RIGID``: it depends on an input, and its noise allows no shift that way.
    """

    REPEATED = "repeated"
    FIXED = "fixed"
    RIGID = "rigid"


class Roles(NamedTuple):
    """Whether a sample is a low or a high end of a chain if it is repeated, and whether it is one anyway."""

    low_repeated: bool
    high_repeated: bool
    low: bool
    high: bool


class Chain(Enum):
    """The chains to look for, by their low and their high end.

    ``PAIR``: both ends repeated (leaking pair, marks ``L`` and ``G``). ``OUTPUT_BELOW``: the low end is
    fixed, the high end repeated (``U`` and ``G``). ``OUTPUT_ABOVE``: the low end repeated, the high end fixed
    (``L`` and ``D``). These are the two halves of the privacy violating path. The others are *exposed
    comparisons*: an end is rigid. In a ``RIGID_PAIR`` the ends are different samples.
    """

    PAIR = (End.REPEATED, End.REPEATED)
    OUTPUT_BELOW = (End.FIXED, End.REPEATED)
    OUTPUT_ABOVE = (End.REPEATED, End.FIXED)
    RIGID_PAIR = (End.RIGID, End.RIGID)
    RIGID_BELOW = (End.RIGID, End.REPEATED)
    RIGID_ABOVE = (End.REPEATED, End.RIGID)
    FIXED_BELOW_RIGID = (End.FIXED, End.RIGID)
    RIGID_BELOW_FIXED = (End.RIGID, End.FIXED)

    def __init__(self, low: End, high: End) -> None:
        self.low_end = low
        self.high_end = high

    @property
    def repeats(self) -> tuple[bool, bool]:
        """Whether the low end, and the high end, is an input sample that is repeated."""
        return self.low_end is End.REPEATED, self.high_end is End.REPEATED

    def roles(self, sampling: Sampling) -> Roles:
        """What a sample can be in such a chain."""
        return self._roles(sampling.kind)

    def all_roles(self, control: Control) -> list[Roles]:
        """What the sample of each transition can be in such a chain."""
        known = {kind: self._roles(kind) for kind in set(control.kinds)}
        return [known[kind] for kind in control.kinds]

    def _roles(self, kind: Kind) -> Roles:
        above, below = kind.given or FREE
        low_repeated, low = _as_end(self.low_end, kind, kind.rises, above is None)
        high_repeated, high = _as_end(self.high_end, kind, kind.falls, below is None)
        return Roles(low_repeated, high_repeated, low, high)

    def marks(self, control: Control, t: int) -> bool:
        """Whether a repetition of a transition marks anything that this chain needs."""
        roles, step = self._roles(control.kinds[t]), control.shifting(t)
        return bool((roles.low_repeated and step.lt) or (roles.high_repeated and step.ge))

    def own(self, control: Control, q: int) -> tuple[Mask, Mask] | None:
        """The values stored in a state that are low ends themselves, and high ends, of a ``RIGID_PAIR``.

        Such a value has no mark from itself: it is not a pair. ``None`` for other chains.
        """
        if self is not Chain.RIGID_PAIR:
            return None
        shifting = control.soft or -1
        return control.capped[q] & shifting, control.based[q] & shifting


def _as_end(end: End, kind: Kind, moves: bool, rigid: bool) -> tuple[bool, bool]:
    """Whether a sample is such an end if it is repeated, and anyway; it ``moves`` away from the other end, or
    is ``rigid``: no shift towards it is allowed."""
    if end is End.REPEATED:
        return moves, False
    if end is End.RIGID:
        return False, moves and rigid
    still = not kind.moves
    return still and kind.given != FREE, kind.shown or (still and rigid)


PLAIN = (Chain.PAIR, Chain.OUTPUT_BELOW, Chain.OUTPUT_ABOVE)
"""Those that the four patterns are about."""

EXPOSED = (
    Chain.RIGID_PAIR,
    Chain.RIGID_BELOW,
    Chain.RIGID_ABOVE,
    Chain.FIXED_BELOW_RIGID,
    Chain.RIGID_BELOW_FIXED,
)
"""Those with a rigid end."""


def chains_of(pattern: Pattern, control: Control) -> tuple[Chain, ...]:
    """The chains any of which shows the pattern (none for the patterns that are cycles)."""
    if pattern is Pattern.LEAKING_PAIR:
        return (Chain.PAIR,)
    if pattern is Pattern.PRIVACY_VIOLATING_PATH:
        return PLAIN[1:] + EXPOSED if control.has_rigid else PLAIN[1:]
    return ()
