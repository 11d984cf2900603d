"""Ordered branches: an ``if ... elseif ...`` chain read as *first match wins* (Def. ordered branches)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count, islice

from symdipa.model.automaton import Atom, Guard, guarded
from symdipa.model.validation.comparisons import can_hold, excludes, implies, simplified
from symdipa.model.validation.guards import bits, earlier_overlaps, too_many

MAX_PIECES = 256
"""A branch that would have to be split into more transitions is refused."""


MAX_QUESTIONS, MAX_CASES = 32, 4_096
"""How many comparisons a guard may have, and how many cases there may be, where it is split case by case."""


class TooManyPieces(Exception):
    """The negation of the earlier guards has too many alternatives."""


def first_match(guards: Sequence[Guard], integer: bool = False) -> list[tuple[Guard, ...] | None]:
    """For every branch the disjoint guards under which it is the first to match.

    A branch that excludes all earlier ones keeps its guard. An empty tuple says that the branch can never
    be taken, ``None`` that it would need more than :data:`MAX_PIECES` guards. Guards that can never hold
    are left as they are. With ``integer`` all numbers are integers.
    """
    asked = [not too_many(guard) and can_hold(guard, integer) for guard in guards]
    result: list[tuple[Guard, ...] | None] = []
    for i, (current, mask) in enumerate(zip(guards, earlier_overlaps(guards, integer), strict=True)):
        if not mask or not asked[i]:
            result.append((current,))
            continue
        earlier = [guards[j] for j in bits(mask) if asked[j]]
        try:
            result.append(_without(current, earlier, integer))
        except TooManyPieces:
            result.append(_case_by_case(current, earlier, integer))
    return result


def _case_by_case(current: Guard, earlier: list[Guard], integer: bool) -> tuple[Guard, ...] | None:
    """``current`` and none of ``earlier``, which may be the many leaves of a tree of questions; ``None`` if
    that is too much work."""
    asked = [other.atoms for other in earlier]
    if any(len(each) > MAX_QUESTIONS for each in asked):
        return None
    try:
        found = tuple(islice(_split(current, asked, integer, count()), MAX_PIECES + 1))
    except TooManyPieces:
        return None
    return found if len(found) <= MAX_PIECES else None


def _split(
    piece: Guard, others: list[frozenset[Atom]], integer: bool, cases: Iterator[int]
) -> Iterator[Guard]:
    """``piece`` without others, of which is told what they ask besides, by cases of the comparison that
    most of them ask: those of a tree of questions leave nothing, however many they are."""
    if next(cases) > MAX_CASES:
        raise TooManyPieces
    if not others:
        yield piece
    elif all(others):
        asked = Counter(case for other in others for each in other for case in (each, each.negation))
        first = max(sorted(others[0], key=str), key=asked.__getitem__)
        for case in (first, first.negation):
            smaller = _and(piece, case)
            if can_hold(smaller, integer):
                known = {each for each in asked if implies(smaller.atoms, each, integer)}
                wrong = {each.negation for each in known}
                near = [other - known for other in others if wrong.isdisjoint(other)]
                yield from _split(smaller, near, integer, cases)


def _without(current: Guard, earlier: list[Guard], integer: bool) -> tuple[Guard, ...]:
    """``current`` and none of ``earlier``: first the negations without a choice, which may spare splits."""
    if not earlier:
        return (current,)
    if current.others or any(other.others for other in earlier):
        return _without_any(current, earlier, integer)
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


def _without_any(current: Guard, earlier: list[Guard], integer: bool) -> tuple[Guard, ...]:
    """The same where guards have comparisons of all kinds, of which some may imply others."""
    choices, piece = [], current
    for other in earlier:
        missing = _missing(current, other, integer)
        if not missing:
            return ()
        if len(missing) == 1:
            piece = _and(piece, missing[0].negation)
        else:
            choices.append((len(missing), other))
    pieces = [piece] if can_hold(piece, integer) else []
    for _, other in sorted(choices, key=lambda choice: choice[0]):
        pieces = [part for piece in pieces for part in subtract(piece, other, integer)]
        if len(pieces) > MAX_PIECES:
            raise TooManyPieces
    return tuple(simplified(piece, integer) if piece != current else piece for piece in pieces)


def subtract(piece: Guard, other: Guard, integer: bool = False) -> list[Guard]:
    """Disjoint guards that together say "``piece`` and not ``other``".

    With ``a, b, ...`` the atoms of ``other`` that ``piece`` does not imply these are
    ``piece && !a``, ``piece && a && !b``, and so on, as far as they can hold: none if there is no such atom,
    one if there is one.
    """
    if excludes(piece, other, integer):
        return [piece]
    if piece.others or other.others:
        return _subtract(piece, other, integer)
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


def _subtract(piece: Guard, other: Guard, integer: bool) -> list[Guard]:
    missing = _missing(piece, other, integer)
    if len(missing) > MAX_PIECES:
        raise TooManyPieces
    result = []
    for each in missing:
        rest = _and(piece, each.negation)
        if can_hold(rest, integer):
            result.append(rest)
        piece = _and(piece, each)
    return result


def _missing(piece: Guard, other: Guard, integer: bool) -> list[Atom]:
    """The comparisons of another guard that a guard does not imply."""
    atoms = piece.atoms
    return [each for each in sorted(other.atoms, key=str) if not implies(atoms, each, integer)]


def _and(piece: Guard, each: Atom) -> Guard:
    return guarded([*piece.atoms, each], True)  # which leaves comparisons as they are
