"""Rules about names: states are listed once, what is used exists, and no name means two things."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from symdipa.model.parts import SAMPLE, SECOND_SAMPLE, AutomatonParts
from symdipa.model.spelling import Dictionary
from symdipa.model.validation.places import Finding, Place, arrow, registers_of


def structure(automaton: AutomatonParts) -> Iterator[Finding]:
    """States are listed once and named; every name that is used exists."""
    yield from _state_names(automaton)
    names, dictionary = {state.name for state in automaton.states}, None
    if not automaton.states:
        yield Place("automaton"), "the automaton has no state; it needs at least an initial one"
    elif automaton.initial not in names:
        yield Place("automaton"), f"the initial state {automaton.initial!r} is not among the states"
    variables = set(automaton.variables)
    if len(variables) < len(automaton.variables):
        yield Place("automaton"), "a variable is listed twice; list each once"
    if "" in variables:
        yield Place("automaton"), "a variable has an empty name"
    for name in sorted(variables & {SAMPLE, SECOND_SAMPLE}):
        yield Place("automaton"), _sample_as_variable(name)
    for i, transition in enumerate(automaton.transitions):
        for part, name in (("source", transition.source), ("target", transition.target)):
            if name not in names:
                dictionary = dictionary or Dictionary(sorted(names))
                meant = dictionary.closest(name)
                hint = f"; did you mean {meant}?" if meant else ""
                message = f"the {part} {name!r} of a transition is not a state{hint}"
                yield Place("transition", i, part), message
        if transition.output.symbol == "" or any(part.symbol == "" for part in transition.output.items):
            message = f"{arrow(transition)} outputs a symbol with an empty name"
            yield Place("transition", i, "output"), message
        if transition.reads <= variables and transition.assigned <= variables:
            continue
        missing = (transition.reads | transition.assigned) - variables
        for name in sorted(missing - {SAMPLE, SECOND_SAMPLE} - registers_of(automaton)):
            message = f"variable {name!r} of {arrow(transition)} is missing from the list of variables"
            yield Place("transition", i, "assign"), message


def _sample_as_variable(name: str) -> str:
    if name == SAMPLE:
        return "a variable is called insample, the word for the sample of a step; rename it"
    return (
        "insampleprime is no variable: it can only be output, and is neither compared nor stored "
        "(a state of its own draws a sample for that)"
    )


def _state_names(automaton: AutomatonParts) -> Iterator[Finding]:
    seen: set[str] = set()
    for i, state in enumerate(automaton.states):
        if not state.name:
            yield Place("state", i, "name"), "a state has an empty name"
        elif state.name in seen:
            message = f"state {state.name} is listed twice; give all its transitions in one place"
            yield Place("state", i, "name"), message
        seen.add(state.name)


def reached(initial: str, arrows: Mapping[str, Iterable[str]]) -> set[str]:
    """The states to which a path leads from the initial one; ``arrows`` has the targets by their sources."""
    found, work = {initial}, [initial]
    for name in work:  # which grows
        for target in arrows.get(name, ()):
            if target not in found:
                found.add(target)
                work.append(target)
    return found


def misspelt_targets(
    initial: str, listed: Iterable[str], arrows: Mapping[str, Iterable[str]]
) -> dict[str, str]:
    """Targets that are not listed as states, each with the state that was meant.

    That is one with nearly the same name to which no path leads, as it would if the target were spelt right.
    """
    names = dict.fromkeys(listed)
    found = reached(initial, arrows)
    dictionary = Dictionary(name for name in names if name not in found)
    targets = dict.fromkeys(target for several in arrows.values() for target in several)
    return {t: meant for t in targets if t and t not in names and (meant := dictionary.closest(t))}


def misspelt(target: str, meant: str, listing: str) -> str:
    """The message about a target that :func:`misspelt_targets` found; ``listing`` makes a state of it."""
    return (
        f"state {target} is not listed, and no path leads to {meant}: did you mean {meant}? "
        f"(if not, list it: {listing})"
    )
