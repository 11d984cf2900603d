"""The rule that a variable has a value when it is read: forward data flow."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from symdipa.model.parts import AutomatonParts, Transition
from symdipa.model.spelling import Dictionary
from symdipa.model.validation.places import Finding, Place, arrow, brief, by_source

PATHS_SHOWN = 20
"""The number of variables for which the initialization rule shows a path; it only lists any further names."""


def initialization(automaton: AutomatonParts) -> Iterator[Finding]:
    """On every path from the initial state a variable is assigned before it is compared, copied or output.

    Forward data flow with bit sets finds the variables at fault; a path is searched only for those. A
    state that is listed twice leaves open where paths lead.
    """
    if len({state.name for state in automaton.states}) < len(automaton.states):
        return
    outgoing = by_source(automaton)
    index = {name: i for i, name in enumerate(_variables(automaton))}
    assigned = definitely_assigned(automaton, outgoing, index)
    faulty: dict[str, int] = {}  # with the first transition that reads it
    for i, transition in enumerate(automaton.transitions):
        known = assigned.get(transition.source)
        if known is None:  # unreachable
            continue
        missing = [name for name in transition.reads if not known >> index[name] & 1]
        for name in sorted(missing):
            faulty.setdefault(name, i)
    names = list(faulty)
    stored = {name for transition in automaton.transitions for name in transition.assigned}
    dictionary = Dictionary(sorted(stored))
    for name in names[:PATHS_SHOWN]:
        place, message = _unassigned(automaton, outgoing, name)
        meant = None if name in stored else dictionary.closest(name)
        yield place, never_stored(name, meant) if meant else message
    if names[PATHS_SHOWN:]:
        rest = ", ".join(names[PATHS_SHOWN : 2 * PATHS_SHOWN])
        more = ", ..." if len(names) > 2 * PATHS_SHOWN else ""
        count = len(names) - PATHS_SHOWN
        first = faulty[names[PATHS_SHOWN]]
        place = Place("transition", first, _reader(automaton.transitions[first], names[PATHS_SHOWN])[0])
        yield place, f"{count} more variables are read before they are assigned: {rest}{more}"


def never_stored(name: str, meant: str) -> str:
    """What is wrong with a variable that is read and nowhere assigned, while one with a similar name is."""
    return (
        f"variable {name} is read before it is assigned: no transition stores insample in it; "
        f"did you mean {meant}?"
    )


def definitely_assigned(
    automaton: AutomatonParts, outgoing: dict[str, list[int]], index: dict[str, int]
) -> dict[str, int]:
    """For every reachable state the variables assigned on *every* path to it, as a bit set.

    ``index`` has the bits. Greatest fixed point over a work list in order of discovery.
    """
    masks = [sum(1 << index[name] for name in transition.assigned) for transition in automaton.transitions]
    assigned = {automaton.initial: 0}
    queue, waiting = deque([automaton.initial]), {automaton.initial}
    while queue:
        state = queue.popleft()
        waiting.discard(state)
        before = assigned[state]
        for i in outgoing.get(state, ()):
            target, after = automaton.transitions[i].target, before | masks[i]
            known = assigned.get(target)
            if known is None or known & ~after:
                assigned[target] = after if known is None else known & after
                if target not in waiting:
                    waiting.add(target)
                    queue.append(target)
    return assigned


def _unassigned(automaton: AutomatonParts, outgoing: dict[str, list[int]], name: str) -> Finding:
    """The shortest path on which something reads ``name`` before any assignment to it."""
    parent: dict[str, str | None] = {automaton.initial: None}
    queue = [automaton.initial]
    for state in queue:  # grows while it is walked: breadth-first search
        for i in outgoing.get(state, ()):
            transition = automaton.transitions[i]
            if name in transition.reads:
                path = _path(parent, state)
                part, reader = _reader(transition, name)
                return Place("transition", i, part, name), (
                    f"variable {name} is read before it is assigned: on the path {path} no transition "
                    f"stores insample in {name}, and then {reader} of {arrow(transition)} reads it"
                )
        for i in outgoing.get(state, ()):
            transition = automaton.transitions[i]
            if name not in transition.assigned and transition.target not in parent:
                parent[transition.target] = state
                queue.append(transition.target)
    raise AssertionError(f"no path reads {name} unassigned, although the data flow says so")


def _reader(transition: Transition, name: str) -> tuple[str, str]:
    """The part of a transition that reads a variable: by its key, and in words."""
    if name in transition.guard.used:
        return "guard", f"the guard {brief(transition.guard)}"
    copy = next((f"{x} := {y}" for x, y in transition.copies if y == name), None)
    return ("assign", f"the assignment {copy}") if copy else ("output", f"the output {transition.output}")


def _path(parent: dict[str, str | None], state: str) -> str:
    states = [state]
    before = parent[state]
    while before is not None:
        states.append(before)
        before = parent[before]
    states.reverse()
    if len(states) > 16:
        states[12:-3] = [f"... ({len(states) - 15} more states) ..."]
    return " -> ".join(states)


def _variables(automaton: AutomatonParts) -> list[str]:
    """The listed variables and, should the list be incomplete, the ones that occur."""
    names = dict.fromkeys(automaton.variables)
    for transition in automaton.transitions:
        for name in (*transition.reads, *transition.assigned):
            names.setdefault(name)
    return list(names)
