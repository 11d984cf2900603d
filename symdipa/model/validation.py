"""The rules without which the theory says nothing of an automaton (Def. valid automaton).

One pure function per rule; each yields the places it objects to, with a message that says what would be
right. Output distinction and strong feasibility are not rules: an automaton without them is valid.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import nsmallest
from typing import Literal

from symdipa.model.errors import InputProblem, InvalidInput, Position
from symdipa.model.parts import BEYOND, AutomatonParts, Guard, State, Transition, computable, noise_scale
from symdipa.model.spelling import Dictionary

PATHS_SHOWN = 20
"""The number of variables for which the initialization rule shows a path; it only lists any further names."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a problem is about: the automaton, or a state or a transition by its index.

    ``part`` is ``"name"``, ``"d"``, ``"mu"``, ``"d_prime"`` or ``"mu_prime"`` of a state; ``"guard"``,
    ``"assign"``, ``"output"``, ``"source"`` or ``"target"`` of a transition. ``name`` is the variable of a
    guard that it is about, if any.
    """

    kind: Literal["automaton", "state", "transition"]
    index: int = 0
    part: str = ""
    name: str = ""


Locate = Callable[[Place], Position | None]
"""Tells where in a text a place was written."""

Finding = tuple[Place, str]


def validate(
    automaton: AutomatonParts, locate: Locate | None = None, extra: Iterable[InputProblem] = ()
) -> None:
    """Raise :class:`InvalidInput` with ``extra`` and every problem of the automaton, if there is any."""
    found = [*extra, *problems(automaton, locate)]
    if found:
        raise InvalidInput(found, automaton.name or None)


def problems(
    automaton: AutomatonParts, locate: Locate | None = None, *, partial: bool = False
) -> list[InputProblem]:
    """Every violation of a rule.

    With ``partial`` the automaton is what could be read of a broken text, so that only rules about a single
    state or transition are applied.
    """
    rules = LOCAL_RULES if partial else LOCAL_RULES | GLOBAL_RULES
    return [
        InputProblem(rule, message, locate(place) if locate else None)
        for rule, check in rules.items()
        for place, message in check(automaton)
    ]


# --------------------------------------------------------------------------------------------- structure


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
    for i, transition in enumerate(automaton.transitions):
        for part, name in (("source", transition.source), ("target", transition.target)):
            if name not in names:
                dictionary = dictionary or Dictionary(sorted(names))
                meant = dictionary.closest(name)
                hint = f"; did you mean {meant}?" if meant else ""
                message = f"the {part} {name!r} of a transition is not a state{hint}"
                yield Place("transition", i, part), message
        if transition.output.symbol == "":
            message = f"{_arrow(transition)} outputs a symbol with an empty name"
            yield Place("transition", i, "output"), message
        for name in sorted((transition.guard.used | transition.assign) - variables):
            message = f"variable {name!r} of {_arrow(transition)} is missing from the list of variables"
            yield Place("transition", i, "assign"), message


def _state_names(automaton: AutomatonParts) -> Iterator[Finding]:
    seen: set[str] = set()
    for i, state in enumerate(automaton.states):
        if not state.name:
            yield Place("state", i, "name"), "a state has an empty name"
        elif state.name in seen:
            message = f"state {state.name} is listed twice; give all its transitions in one place"
            yield Place("state", i, "name"), message
        seen.add(state.name)


# ------------------------------------------------------------------------------- guards and determinism


def guard(automaton: AutomatonParts) -> Iterator[Finding]:
    """No guard has both atoms of one variable."""
    for i, transition in enumerate(automaton.transitions):
        for name in sorted(transition.guard.ge & transition.guard.lt):
            yield (
                Place("transition", i, "guard"),
                f"the guard of {_arrow(transition)} can never hold: it asks for both insample >= {name} "
                f"and insample < {name}; keep one of them",
            )


def non_input(automaton: AutomatonParts) -> Iterator[Finding]:
    """A non-input state has at most one transition, with guard true."""
    outgoing = _by_source(automaton)
    listed = Counter(state.name for state in automaton.states)
    for state in automaton.states:
        if state.is_input or listed[state.name] > 1:
            continue
        leaving = outgoing.get(state.name, [])
        guarded = [i for i in leaving if not automaton.transitions[i].guard.is_true]
        if guarded:
            yield (
                Place("transition", guarded[0], "guard"),
                f"non-input state {state.name} has a transition with the guard "
                f"{brief(automaton.transitions[guarded[0]].guard)}; a non-input state takes its only "
                "transition always: drop the guard or make it an input state",
            )
        if len(leaving) > 1:
            yield (
                Place("transition", leaving[1]),
                f"non-input state {state.name} has {len(leaving)} transitions; it may have one, without "
                "a guard",
            )


def determinism(automaton: AutomatonParts) -> Iterator[Finding]:
    """Any two transitions of an input state have an opposite atom on some variable."""
    listed = Counter(state.name for state in automaton.states)
    silent = {state.name for state in automaton.states if not state.is_input}
    for name, leaving in _by_source(automaton).items():
        if len(leaving) < 2 or listed[name] > 1 or name in silent:
            continue
        guards = [automaton.transitions[i].guard for i in leaving]
        for j, earlier in enumerate(earlier_overlaps(guards)):
            first = next(bits(earlier), None)
            if first is not None and not any(guards[i].excludes(guards[i]) for i in (first, j)):
                which = f"transitions {first + 1} and {j + 1} of state {name}"
                both = f"{brief(guards[first])} and {brief(guards[j])}"
                yield (
                    Place("transition", leaving[j], "guard"),
                    f"{which} can both be taken: the guards {both} have no opposite atoms "
                    "(insample >= x in one, insample < x in the other)",
                )


def earlier_overlaps(guards: Sequence[Guard]) -> list[int]:
    """For every guard the set of earlier ones that can hold together with it, as a bit set of indices."""
    with_ge: dict[str, int] = {}
    with_lt: dict[str, int] = {}
    result = []
    for i, current in enumerate(guards):
        excluded = 0
        for name in current.ge:
            excluded |= with_lt.get(name, 0)
        for name in current.lt:
            excluded |= with_ge.get(name, 0)
        result.append((1 << i) - 1 & ~excluded)
        for name in current.ge:
            with_ge[name] = with_ge.get(name, 0) | 1 << i
        for name in current.lt:
            with_lt[name] = with_lt.get(name, 0) | 1 << i
    return result


def bits(number: int) -> Iterator[int]:
    """The positions of the one bits of a number, lowest first."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


# ---------------------------------------------------------------------------------------- parameters


SOME_SCALE = Fraction(1, 2)
"""What a message proposes for an inverse scale where there is none to go by."""


def parameters(automaton: AutomatonParts) -> Iterator[Finding]:
    """Parameters are rationals, scales are not negative, and positive where a sample of theirs matters."""
    outgoing = _by_source(automaton)
    for i, state in enumerate(automaton.states):
        leaving = [automaton.transitions[k] for k in outgoing.get(state.name, [])]
        yield from _scale(state, i, "d", state.d, _use_of_sample(leaving))
        shown = any(transition.output.shows_second for transition in leaving)
        yield from _scale(state, i, "d_prime", state.d_prime, "insampleprime is output" if shown else None)
        for part, mean in (("mu", state.mu), ("mu_prime", state.mu_prime)):
            if not isinstance(mean, Fraction):
                yield Place("state", i, part), _inexact(state, part, mean)
            elif not computable(mean):
                yield Place("state", i, part), _beyond(state, part)


def _scale(state: State, i: int, part: str, value: Fraction | None, use: str | None) -> Iterator[Finding]:
    place, shown = Place("state", i, part), "d'" if part == "d_prime" else part
    if value is None:
        if use:
            needs = f"state {state.name} needs {shown} > 0, because {use}; {shown} is not given"
            yield place, f"{needs}: write {_with_scales(state, second=part == 'd_prime')}"
    elif not isinstance(value, Fraction):
        yield place, _inexact(state, part, value)
    elif value < 0:
        message = f"{shown} of state {state.name} is {_number(value)}; it must not be negative"
        yield place, message
    elif value == 0 and use:
        remedy = f"a large {shown}, such as 100, is little noise; no noise is not possible"
        yield place, f"{shown} of state {state.name} is 0; it must be positive, because {use} ({remedy})"
    elif not computable(value):
        yield place, _beyond(state, shown)


def _with_scales(state: State, second: bool) -> str:
    """The header that the state needs: with its own ``d`` and ``mu``, also for the ``second`` sample."""
    missing = state.d is None
    d = SOME_SCALE if missing or not isinstance(state.d, Fraction) else state.d
    mu = state.mu if isinstance(state.mu, Fraction) else Fraction(0)
    numbers = [d, mu] + [d if d > 0 else SOME_SCALE, mu] * second
    kind = "" if state.is_input else ":non-input"
    header = f"({state.name}{kind}, {', '.join(map(_number, numbers))})"
    return f"for instance {header}" if missing else header


def _beyond(state: State, part: str) -> str:
    return f"{part} of state {state.name} {BEYOND}"


def _use_of_sample(leaving: Iterable[Transition]) -> str | None:
    for transition in leaving:
        if not transition.guard.is_true:
            return "its sample is compared"
        if transition.assign:
            return f"its sample is stored in {min(transition.assign)}"
        if transition.output.shows_sample:
            return "its sample is output"
    return None


def _inexact(state: State, part: str, value: object) -> str:
    return (
        f"{part} of state {state.name} is {value!r} of type {type(value).__name__}; parameters are exact: "
        "give a fractions.Fraction"
    )


def _number(value: Fraction) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


# ------------------------------------------------------------------------------------- initialization


def initialization(automaton: AutomatonParts) -> Iterator[Finding]:
    """On every path from the initial state a variable is assigned before a guard reads it.

    Forward data flow with bit sets finds the variables at fault; a path is searched only for those. A
    state that is listed twice leaves open where paths lead.
    """
    if len({state.name for state in automaton.states}) < len(automaton.states):
        return
    outgoing = _by_source(automaton)
    assigned = definitely_assigned(automaton, outgoing)
    index = {name: i for i, name in enumerate(_variables(automaton))}
    faulty: dict[str, int] = {}  # with the first transition that reads it
    for i, transition in enumerate(automaton.transitions):
        known = assigned.get(transition.source)
        if known is None:  # unreachable
            continue
        missing = [name for name in transition.guard.used if not known >> index[name] & 1]
        for name in sorted(missing):
            faulty.setdefault(name, i)
    names = list(faulty)
    stored = {name for transition in automaton.transitions for name in transition.assign}
    dictionary = Dictionary(sorted(stored))
    for name in names[:PATHS_SHOWN]:
        place, message = _unassigned(automaton, outgoing, name)
        meant = None if name in stored else dictionary.closest(name)
        yield place, never_stored(name, meant) if meant else message
    if names[PATHS_SHOWN:]:
        rest = ", ".join(names[PATHS_SHOWN : 2 * PATHS_SHOWN])
        more = ", ..." if len(names) > 2 * PATHS_SHOWN else ""
        count = len(names) - PATHS_SHOWN
        place = Place("transition", faulty[names[PATHS_SHOWN]], "guard")
        yield place, f"{count} more variables are read before they are assigned: {rest}{more}"


def never_stored(name: str, meant: str) -> str:
    """What is wrong with a variable that is read and nowhere assigned, while one with a similar name is."""
    return (
        f"variable {name} is read before it is assigned: no transition stores insample in it; "
        f"did you mean {meant}?"
    )


def definitely_assigned(automaton: AutomatonParts, outgoing: dict[str, list[int]]) -> dict[str, int]:
    """For every reachable state the variables assigned on *every* path to it, as a bit set.

    The bits follow :func:`_variables`. Greatest fixed point over a work list in order of discovery.
    """
    index = {name: i for i, name in enumerate(_variables(automaton))}
    masks = [sum(1 << index[name] for name in transition.assign) for transition in automaton.transitions]
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
    """The shortest path on which a guard reads ``name`` before any assignment to it."""
    parent: dict[str, str | None] = {automaton.initial: None}
    queue = [automaton.initial]
    for state in queue:  # grows while it is walked: breadth-first search
        for i in outgoing.get(state, ()):
            transition = automaton.transitions[i]
            if name in transition.guard.used:
                path = _path(parent, state)
                return Place("transition", i, "guard", name), (
                    f"variable {name} is read before it is assigned: on the path {path} no transition "
                    f"stores insample in {name}, and then the guard {brief(transition.guard)} of "
                    f"{_arrow(transition)} reads it"
                )
        for i in outgoing.get(state, ()):
            transition = automaton.transitions[i]
            if name not in transition.assign and transition.target not in parent:
                parent[transition.target] = state
                queue.append(transition.target)
    raise AssertionError(f"no path reads {name} unassigned, although the data flow says so")


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
        for name in (*transition.guard.ge, *transition.guard.lt, *transition.assign):
            names.setdefault(name)
    return list(names)


# ------------------------------------------------------------------------------------------------ doubts


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


FAR_ABOVE = 10
"""How many times the next smaller inverse scale the largest is, if it is far above the others."""


def little_noise(automaton: AutomatonParts) -> str | None:
    """Whether scales are so small that they may be upside down: all inverse scales that matter are above 1,
    or one is and is far above all others."""
    outgoing = _by_source(automaton)
    scales = []
    for state in automaton.states:
        leaving = [automaton.transitions[i] for i in outgoing.get(state.name, ())]
        if state.d and _use_of_sample(leaving):
            scales.append((state.d, "d", state.name))
        if state.d_prime and any(transition.output.shows_second for transition in leaving):
            scales.append((state.d_prime, "d'", state.name))
    if not scales:
        return None
    largest, which, name = max(scales, key=lambda scale: scale[0])
    others = [d for d, *_ in scales if d != largest]
    here = f"{which} = {_number(largest)} of state {name}"
    if min(d for d, *_ in scales) > 1:
        what = f"every d is above 1, and {here} means"
    elif largest > 1 and largest >= FAR_ABOVE * max(others):
        what = f"{here} is far above the others and means"
    else:
        return None
    upside_down = f"noise of scale {noise_scale(1 / largest)} is written {1 / largest}"
    return f"{what} Laplace noise of scale {noise_scale(largest)}; {upside_down}"


# --------------------------------------------------------------------------------------------- helpers


def _by_source(automaton: AutomatonParts) -> dict[str, list[int]]:
    """The transitions by the name of their source, which need not exist."""
    lists: dict[str, list[int]] = {}
    for i, transition in enumerate(automaton.transitions):
        lists.setdefault(transition.source, []).append(i)
    return lists


def _arrow(transition: Transition) -> str:
    return f"the transition {transition.source} -> {transition.target}"


def brief(guard: Guard) -> str:
    """The guard in parentheses, cut if it is long."""
    used = guard.used
    few = frozenset(nsmallest(8, used)) if len(used) > 8 else used
    text = str(replace(guard, ge=guard.ge & few, lt=guard.lt & few))
    if len(text) > 200:
        return f"({text[:197]}...)"
    return f"({text})" if few is used else f"({text} && ... {len(used) - 8} more)"


LOCAL_RULES: dict[str, Callable[[AutomatonParts], Iterator[Finding]]] = {
    "structure": structure,
    "guard": guard,
    "non-input": non_input,
    "determinism": determinism,
    "parameters": parameters,
}
GLOBAL_RULES: dict[str, Callable[[AutomatonParts], Iterator[Finding]]] = {"initialization": initialization}
