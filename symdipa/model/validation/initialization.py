"""The rule that a variable has a value when it is read: forward data flow."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from symdipa.model.parts import AutomatonParts, Transition
from symdipa.model.spelling import Dictionary
from symdipa.model.validation.places import Finding, Place, arrow, brief, by_source, path_text, registers_of

PATHS_SHOWN = 20
"""The number of variables for which the initialization rule shows a path; it only lists any further names."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What holds values from step to step, variables or registers: by the names that a transition assigns,
    those that it reads, and what is wrong with one that it reads ``too_soon``, with the path before it."""

    what: str
    names: Iterable[str]
    assigned: Callable[[Transition], Iterable[str]]
    reads: Callable[[Transition], frozenset[str]]
    too_soon: Callable[[int, str, str], Finding]
    never: Callable[[str, str], str]
    """What is wrong with a name that is nowhere assigned, while one with a similar name is."""


def initialization(automaton: AutomatonParts) -> Iterator[Finding]:
    """On every path from the initial state a variable is assigned before it is compared, copied or output."""
    registers = registers_of(automaton)

    def too_soon(i: int, name: str, path: str) -> Finding:
        transition = automaton.transitions[i]
        part, reader = _reader(transition, name)
        return Place("transition", i, part, name), (
            f"variable {name} is read before it is assigned: on the path {path} no transition "
            f"stores insample in {name}, and then {reader} of {arrow(transition)} reads it"
        )

    reads = (lambda t: t.reads - registers) if registers else (lambda t: t.reads)
    names = _variables(automaton)
    yield from unset(automaton, Kept("variables", names, lambda t: t.assigned, reads, too_soon, never_stored))


def unset(automaton: AutomatonParts, kept: Kept) -> Iterator[Finding]:
    """What is read before it has a value.

    Forward data flow with bit sets finds the names at fault; a path is searched only for those. A
    state that is listed twice leaves open where paths lead.
    """
    if len({state.name for state in automaton.states}) < len(automaton.states):
        return
    outgoing = by_source(automaton)
    index = {name: i for i, name in enumerate(kept.names)}
    assigned = definitely_assigned(automaton, outgoing, index, kept)
    faulty: dict[str, int] = {}  # with the first transition that reads it
    for i, transition in enumerate(automaton.transitions):
        known = assigned.get(transition.source)
        if known is None:  # unreachable
            continue
        missing = [name for name in kept.reads(transition) if not known >> index[name] & 1]
        for name in sorted(missing):
            faulty.setdefault(name, i)
    names = list(faulty)
    stored = {name for transition in automaton.transitions for name in kept.assigned(transition)}
    dictionary = Dictionary(sorted(stored))
    for name in names[:PATHS_SHOWN]:
        place, message = kept.too_soon(*_unassigned(automaton, outgoing, name, kept))
        meant = None if name in stored else dictionary.closest(name)
        yield place, kept.never(name, meant) if meant else message
    if names[PATHS_SHOWN:]:
        rest = ", ".join(names[PATHS_SHOWN : 2 * PATHS_SHOWN])
        more = ", ..." if len(names) > 2 * PATHS_SHOWN else ""
        count = len(names) - PATHS_SHOWN
        place, _ = kept.too_soon(faulty[names[PATHS_SHOWN]], names[PATHS_SHOWN], "")
        yield place, f"{count} more {kept.what} are read before they are assigned: {rest}{more}"


def never_stored(name: str, meant: str) -> str:
    """What is wrong with a variable that is read and nowhere assigned, while one with a similar name is."""
    return (
        f"variable {name} is read before it is assigned: no transition stores insample in it; "
        f"did you mean {meant}?"
    )


def definitely_assigned(
    automaton: AutomatonParts, outgoing: dict[str, list[int]], index: dict[str, int], kept: Kept
) -> dict[str, int]:
    """For every reachable state the names assigned on *every* path to it, as a bit set.

    ``index`` has the bits. Greatest fixed point over a work list in order of discovery.
    """
    masks = [sum(1 << index[name] for name in kept.assigned(t)) for t in automaton.transitions]
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


def _unassigned(
    automaton: AutomatonParts, outgoing: dict[str, list[int]], name: str, kept: Kept
) -> tuple[int, str, str]:
    """The shortest path on which something reads ``name`` before any assignment to it: the transition that
    does, the name, and the path."""
    parent: dict[str, str | None] = {automaton.initial: None}
    queue = [automaton.initial]
    for state in queue:  # grows while it is walked: breadth-first search
        for i in outgoing.get(state, ()):
            if name in kept.reads(automaton.transitions[i]):
                return i, name, _path(parent, state)
        for i in outgoing.get(state, ()):
            transition = automaton.transitions[i]
            if name not in kept.assigned(transition) and transition.target not in parent:
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
    return path_text(states[::-1])


def _variables(automaton: AutomatonParts) -> list[str]:
    """The listed variables and, should the list be incomplete, the ones that occur."""
    names = dict.fromkeys(automaton.variables)
    for transition in automaton.transitions:
        for name in (*transition.reads, *transition.assigned):
            names.setdefault(name)
    return list(names)
