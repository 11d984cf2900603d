"""What the rest of a run will show: sequences of letters, distinguished as far as a machine can.

A class has the states that are ``able`` to show its sequences (as far as the control graph knows), and those
that are ``sure`` to, whatever their samples. It may also remember which letters occur, or the whole sequence.
"""

from __future__ import annotations

from dataclasses import dataclass

from symdipa.bounds.relational.machine import Letter, LetterMachine, numbers_of
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits

States = frozenset[int]

MEMORIES = ("none", "letters", "whole")
"""What a class remembers of its sequences besides the states: nothing, which letters occur, everything."""


@dataclass(frozen=True, eq=False)
class SuffixClasses:
    """Classes of sequences by number; 0 is that of the empty one.

    ``before[(s, letter)]`` is the class of the letter followed by a sequence of class ``s``; where no state
    can show that, there is none. ``after[s]`` are the pairs with ``before[pair] == s``.
    """

    able: tuple[States, ...]
    sure: tuple[States, ...]
    before: dict[tuple[int, Letter], int]
    after: tuple[tuple[tuple[Letter, int], ...], ...]


def suffixes(
    machine: LetterMachine, memory: str, max_classes: int, limits: Limits = UNLIMITED
) -> SuffixClasses:
    """All classes with one of the :data:`MEMORIES`.

    Raises :class:`LimitReached` above ``max_classes``, and when the time is up.
    """
    into: dict[int, dict[Letter, set[int]]] = {}
    for u, edges in enumerate(machine.edges):
        for edge in edges:
            into.setdefault(edge.target, {}).setdefault(edge.letter, set()).add(u)
    start: tuple[States, States, tuple[Letter, ...]] = (machine.accepting, machine.accepting, ())
    classes = [start]
    number = {start: 0}
    before: dict[tuple[int, Letter], int] = {}
    after: list[list[tuple[Letter, int]]] = [[]]
    for s, (able, sure, known) in enumerate(classes):  # grows while we walk
        limits.check(f"relational alignment, {len(classes)} classes of sequences")
        found: dict[Letter, set[int]] = {}
        for v in able:
            for letter, sources in into.get(v, {}).items():
                found.setdefault(letter, set()).update(sources)
        for letter in sorted(found):
            certain = frozenset(u for u in found[letter] if _certain(machine, u, letter, sure))
            key = frozenset(found[letter]), certain, _with(letter, known, memory)
            place = number.setdefault(key, len(classes))
            if place == len(classes):
                if place >= max_classes:
                    raise LimitReached(Limit.SIZE, f"more than {max_classes} classes of what is shown later")
                classes.append(key)
                after.append([])
            before[s, letter] = place
            after[place].append((letter, s))
    return SuffixClasses(
        tuple(able for able, _, _ in classes),
        tuple(sure for _, sure, _ in classes),
        before,
        tuple(map(tuple, after)),
    )


def _with(letter: Letter, known: tuple[Letter, ...], memory: str) -> tuple[Letter, ...]:
    """What is remembered of a sequence, from its first letter and what is remembered of the rest."""
    if memory == "none":
        return ()
    return (letter, *known) if memory == "whole" else tuple(sorted({letter, *known}))


def _certain(machine: LetterMachine, u: int, letter: Letter, sure: States) -> bool:
    """Whether the state shows the letter and then is in one of the sure states, whatever its sample is."""
    leaves = range(len(machine.leaves[machine.state[u]]))
    return not numbers_of(letter) and all(machine.onward[u].get((i, letter)) in sure for i in leaves)
