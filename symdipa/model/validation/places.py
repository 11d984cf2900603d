"""Where a problem is, and the words that all rules use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import nsmallest
from typing import Literal

from symdipa.model.errors import Position
from symdipa.model.parts import Atom, AutomatonParts, Guard, Transition


@dataclass(frozen=True, slots=True)
class Place:
    """What a problem is about: the automaton, or a state or a transition by its index.

    ``part`` is ``"name"``, ``"d"``, ``"mu"``, ``"d_prime"`` or ``"mu_prime"`` of a state; ``"guard"``,
    ``"assign"``, ``"updates"``, ``"output"``, ``"source"`` or ``"target"`` of a transition. ``name`` is the
    variable or the register that it is about, if any.
    """

    kind: Literal["automaton", "state", "transition"]
    index: int = 0
    part: str = ""
    name: str = ""


Locate = Callable[[Place], Position | None]
"""Tells where in a text a place was written."""

Finding = tuple[Place, str]


def by_source(automaton: AutomatonParts) -> dict[str, list[int]]:
    """The transitions by the name of their source, which need not exist."""
    lists: dict[str, list[int]] = {}
    for i, transition in enumerate(automaton.transitions):
        lists.setdefault(transition.source, []).append(i)
    return lists


def registers_of(automaton: AutomatonParts) -> frozenset[str]:
    """All registers: the names in means, and those of updates."""
    found = {name for state in automaton.states for name, _ in state.registers}
    for transition in automaton.transitions:
        for update in transition.updates:
            found.add(update.register)
            if update.source is not None:
                found.add(update.source)
    return frozenset(found)


def arrow(transition: Transition) -> str:
    return f"the transition {transition.source} -> {transition.target}"


def path_text(states: Sequence[str]) -> str:
    """States on a path, of many the first and the last ones."""
    left_out = [f"... ({len(states) - 15} more states) ..."] if len(states) > 16 else []
    return " -> ".join([*states[:12], *left_out, *states[-3:]] if left_out else states)


def number(value: Fraction) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def brief(guard: Guard) -> str:
    """The guard in parentheses, cut if it is long."""
    used = guard.used
    few = frozenset(nsmallest(8, used)) if len(used) > 8 else used
    others = frozenset(each for each in guard.others if each.names <= few | {"insample"})
    text = str(Guard(guard.ge & few, guard.lt & few, others))
    if len(text) > 200:
        return f"({text[:197]}...)"
    return f"({text})" if few is used else f"({text} && ... {len(used) - 8} more)"


def all_of(atoms: list[Atom]) -> str:
    """Comparisons as a list: ``insample < 3 and insample >= 5``."""
    *rest, last = map(str, atoms)
    return f"{', '.join(rest)} and {last}" if rest else last
