"""Ordered branches: an ``if ... elseif ...`` chain read as *first match wins* (Def. ordered branches)."""

from __future__ import annotations

from collections.abc import Sequence

from symdipa.model.automaton import Guard
from symdipa.model.validation import bits, earlier_overlaps

MAX_PIECES = 256
"""A branch that would have to be split into more transitions is refused."""


class TooManyPieces(Exception):
    """The negation of the earlier guards has too many alternatives."""


def first_match(guards: Sequence[Guard]) -> list[tuple[Guard, ...] | None]:
    """For every branch the disjoint guards under which it is the first to match.

    A branch that excludes all earlier ones keeps its guard. An empty tuple says that the branch can never
    be taken, ``None`` that it would need more than :data:`MAX_PIECES` guards. Guards with a contradiction
    never match; they are left as they are.
    """
    result: list[tuple[Guard, ...] | None] = []
    for current, mask in zip(guards, earlier_overlaps(guards), strict=True):
        if current.ge & current.lt:
            result.append((current,))
            continue
        earlier = [guards[i] for i in bits(mask) if not guards[i].ge & guards[i].lt]
        try:
            result.append(_without(current, earlier))
        except TooManyPieces:
            result.append(None)
    return result


def _without(current: Guard, earlier: list[Guard]) -> tuple[Guard, ...]:
    """``current`` and none of ``earlier``: first the negations without a choice, which may spare splits."""
    if not earlier:
        return (current,)
    at_least, below = set(current.ge), set(current.lt)
    choices = []
    for other in earlier:
        ge, lt = other.ge - current.ge, other.lt - current.lt
        if not ge and not lt:
            return ()
        if len(ge) + len(lt) == 1:
            at_least |= lt
            below |= ge
        else:
            choices.append((len(ge) + len(lt), other))
    if at_least & below:
        return ()
    pieces = [Guard(frozenset(at_least), frozenset(below))]
    for _, other in sorted(choices, key=lambda choice: choice[0]):
        pieces = [part for piece in pieces for part in subtract(piece, other)]
        if len(pieces) > MAX_PIECES:
            raise TooManyPieces
    return tuple(pieces)


def subtract(piece: Guard, other: Guard) -> list[Guard]:
    """Disjoint guards that together say "``piece`` and not ``other``".

    With ``a, b, ...`` the atoms of ``other`` that ``piece`` does not imply these are
    ``piece && !a``, ``piece && a && !b``, and so on: none if there is no such atom, one if there is one.
    """
    if piece.excludes(other):
        return [piece]
    if len(other.ge - piece.ge) + len(other.lt - piece.lt) > MAX_PIECES:
        raise TooManyPieces
    result = []
    for name in sorted(other.ge - piece.ge):
        result.append(Guard(piece.ge, piece.lt | {name}))
        piece = Guard(piece.ge | {name}, piece.lt)
    for name in sorted(other.lt - piece.lt):
        result.append(Guard(piece.ge | {name}, piece.lt))
        piece = Guard(piece.ge, piece.lt | {name})
    return result
