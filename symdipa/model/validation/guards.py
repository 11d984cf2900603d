"""Rules about guards: each can hold, and no two of one state hold together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from symdipa.model.parts import BEYOND, Atom, AutomatonParts, Guard, Noise, State, computable, guarded
from symdipa.model.validation.comparisons import can_hold, conflict, excludes
from symdipa.model.validation.places import Finding, Place, all_of, arrow, brief, by_source

MOST_COMPARISONS = 256
"""The most comparisons of one guard besides those of ``insample`` with variables."""


def ties_count(state: State, integer: bool) -> bool:
    """Whether it is told apart if a sample of the state equals what it is compared with, or is less."""
    return integer or state.noise is Noise.NONE


def too_many(guard: Guard) -> bool:
    """Whether a guard has so many comparisons that nobody asks whether they can hold."""
    return len(guard.others) > MOST_COMPARISONS


def guard(automaton: AutomatonParts) -> Iterator[Finding]:
    """Every guard can hold, and says each comparison in the one way that there is."""
    ties: dict[str, bool] = {}
    for i, transition in enumerate(automaton.transitions):
        asked = transition.guard
        for name in sorted(asked.ge & asked.lt):
            yield (
                Place("transition", i, "guard"),
                f"the guard of {arrow(transition)} can never hold: it asks for both insample >= {name} "
                f"and insample < {name}; keep one of them",
            )
        if not asked.others:
            continue
        ties = ties or {state.name: ties_count(state, automaton.integer) for state in automaton.states}
        place = Place("transition", i, "guard")
        if too_many(asked):
            yield (
                place,
                f"the guard of {arrow(transition)} has {len(asked.others)} comparisons besides those of "
                f"insample with variables; at most {MOST_COMPARISONS} are followed",
            )
        elif asked != guarded(asked.atoms, ties.get(transition.source, False)):
            yield (
                place,
                f"the guard of {arrow(transition)} says a comparison in a way that is not its usual one: "
                "make it with guarded([atom(low, high, strict), ...])",
            )
        elif any(not computable(each.high.offset - each.low.offset) for each in asked.others):
            yield place, f"a constant in the guard of {arrow(transition)} {BEYOND}"
        elif not asked.ge & asked.lt and not can_hold(asked, automaton.integer):
            yield place, _never(arrow(transition), asked, automaton.integer)


def _never(which: str, guard: Guard, integer: bool) -> str:
    atoms = conflict(guard, integer)
    if len(atoms) == 1:
        return f"the guard of {which} can never hold: no number satisfies {atoms[0]}; leave it out"
    exclude = "never hold together" if len(atoms) > 2 else "exclude each other"
    where = " for integers" if integer else ""
    return f"the guard of {which} can never hold: {all_of(atoms)} {exclude}{where}; leave one of them out"


def determinism(automaton: AutomatonParts) -> Iterator[Finding]:
    """Any two transitions of a state exclude each other."""
    listed = Counter(state.name for state in automaton.states)
    for name, leaving in by_source(automaton).items():
        if len(leaving) < 2 or listed[name] > 1:
            continue
        guards = [automaton.transitions[i].guard for i in leaving]
        for j, earlier in enumerate(earlier_overlaps(guards, automaton.integer)):
            first = next(bits(earlier), None)
            if first is not None and all(can_hold(guards[i], automaton.integer) for i in (first, j)):
                which = f"transitions {first + 1} and {j + 1} of state {name}"
                both = f"{brief(guards[first])} and {brief(guards[j])}"
                reason = (
                    "can hold together"
                    if guards[first].others or guards[j].others
                    else "have no opposite atoms (insample >= x in one, insample < x in the other)"
                )
                yield (
                    Place("transition", leaving[j], "guard"),
                    f"{which} can both be taken: the guards {both} {reason}",
                )


def earlier_overlaps(guards: Sequence[Guard], integer: bool = False) -> list[int]:
    """For every guard the set of earlier ones that can hold together with it, as a bit set of indices.

    For two guards that compare ``insample`` with variables only, an opposite atom is the only way to exclude
    each other.
    """
    with_ge: dict[str, int] = {}
    with_lt: dict[str, int] = {}
    with_other: dict[Atom, int] = {}
    rich = 0
    result = []
    for i, current in enumerate(guards):
        excluded = 0
        for name in current.ge:
            excluded |= with_lt.get(name, 0)
        for name in current.lt:
            excluded |= with_ge.get(name, 0)
        for each in current.others:
            excluded |= with_other.get(each.negation, 0)
        overlaps = (1 << i) - 1 & ~excluded
        if current.others or rich:
            asked = overlaps if current.others else overlaps & rich
            for j in bits(asked) if not too_many(current) else ():
                if not too_many(guards[j]) and excludes(current, guards[j], integer):
                    overlaps &= ~(1 << j)
        result.append(overlaps)
        rich |= bool(current.others) << i
        for name in current.ge:
            with_ge[name] = with_ge.get(name, 0) | 1 << i
        for name in current.lt:
            with_lt[name] = with_lt.get(name, 0) | 1 << i
        for each in current.others:
            with_other[each] = with_other.get(each, 0) | 1 << i
    return result


def bits(number: int) -> Iterator[int]:
    """The positions of the one bits of a number, lowest first."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
