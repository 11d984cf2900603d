"""Making an automaton smaller while it stays interesting, by delta debugging (Zeller and Hildebrandt 2002).

What is left out or simplified, many places at a time and then one by one, again and again until no single
step of :func:`single_steps` can be made: then the automaton is 1-minimal.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from symdipa.model.automaton import (
    INSAMPLE,
    Automaton,
    Guard,
    OutputKind,
    State,
    Transition,
    reachable,
    symbol,
    variables_of,
)
from symdipa.model.validation import problems

PLAIN = symbol("o")
"""What a transition outputs if it does not matter."""


def size(automaton: Automaton) -> tuple[int, ...]:
    """What every step makes smaller: transitions, states, variables, atoms, assignments, numbers, outputs."""
    moves = automaton.transitions
    return (
        len(moves),
        len(automaton.states),
        len(automaton.variables),
        sum(len(t.guard.ge) + len(t.guard.lt) for t in moves),
        sum(len(t.assign) for t in moves),
        sum(map(_oddity, automaton.states)),
        sum(_strangeness(t) for t in moves),
    )


def in_words(automaton: Automaton) -> str:
    """``3 states, 4 transitions, 1 variable``"""
    counts = {
        "state": len(automaton.states),
        "transition": len(automaton.transitions),
        "variable": len(automaton.variables),
    }
    return ", ".join(f"{n} {what}{'' if n == 1 else 's'}" for what, n in counts.items())


def single_steps(automaton: Automaton) -> Iterator[Automaton]:
    """Everything that one step can make of a valid automaton; only smaller and valid ones."""
    for kind in KINDS:
        for place in kind.places(automaton):
            found = _tidy(kind.without(automaton, [place]))
            if size(found) < size(automaton) and not problems(found):
                yield found


@dataclass
class Minimizer:
    """Looks for a small automaton of which ``interesting`` says yes, as it must of ``automaton`` itself.

    ``best`` is the smallest so far, whatever ends the search. ``runs`` counts the questions to
    ``interesting``; none is asked twice, all are about valid automata. ``progress`` is told now and then how
    far it is.
    """

    automaton: Automaton
    interesting: Callable[[Automaton], bool]
    progress: Callable[[str], None] | None = None
    best: Automaton = field(init=False)
    runs: int = field(init=False, default=0)
    _dull: set[Automaton] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self.best = self.automaton

    def starts(self) -> bool:
        """Whether the automaton is interesting at all."""
        return self._asked(self.automaton)

    def run(self, deadline: float | None = None) -> bool:
        """Make ``best`` 1-minimal; ``False`` if the deadline (as :func:`time.monotonic` reads) came first."""
        try:
            before = None
            while before != self.best:
                before = self.best
                for kind in KINDS:
                    self._thin_out(kind, deadline)
        except _TimeIsUp:
            return False
        return True

    def _thin_out(self, kind: _Kind, deadline: float | None) -> None:
        """Leave out what one can of one kind: halves of the places first, single ones at last."""
        many = max(1, len(kind.places(self.best)) // 2) if kind.together else 1
        while many:
            start = 0
            while places := kind.places(self.best)[start : start + many]:
                if deadline is not None and time.monotonic() >= deadline:
                    raise _TimeIsUp
                # After a success other places have moved to where these were.
                start += 0 if self._try(kind.without(self.best, places)) else many
            many //= 2

    def _try(self, candidate: Automaton) -> bool:
        candidate = _tidy(candidate)
        if candidate in self._dull or not size(candidate) < size(self.best) or problems(candidate):
            return False
        if not self._asked(candidate):
            self._dull.add(candidate)
            return False
        self.best = candidate
        return True

    def _asked(self, candidate: Automaton) -> bool:
        self.runs += 1
        if self.progress is not None:
            self.progress(f"run {self.runs}, {in_words(self.best)}")
        return self.interesting(candidate)


class _TimeIsUp(Exception):
    pass


def _tidy(automaton: Automaton) -> Automaton:
    """Without the states that no path reaches and the variables that no transition has."""
    found = reachable(automaton)
    kept = set(variables_of(found.transitions))
    return replace(found, variables=tuple(x for x in automaton.variables if x in kept))


# -------------------------------------------------------------------------------------- what can be changed


@dataclass(frozen=True)
class _Kind:
    """A kind of change: the places where it can be made, and making it at some of them.

    ``together``: it is worth while to change many places at once.
    """

    places: Callable[[Automaton], Sequence[Any]]
    without: Callable[[Automaton, Sequence[Any]], Automaton]
    together: bool = True


def _with_moves(automaton: Automaton, change: Callable[[int, Transition], Transition]) -> Automaton:
    moves = tuple(change(t, move) for t, move in enumerate(automaton.transitions))
    return replace(automaton, transitions=moves)


def _moves(automaton: Automaton) -> Sequence[int]:
    return range(len(automaton.transitions))


def _without_moves(automaton: Automaton, gone: Collection[int]) -> Automaton:
    kept = (move for t, move in enumerate(automaton.transitions) if t not in gone)
    return replace(automaton, transitions=tuple(kept))


def _pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    return [(x, y) for x in names for y in names if x != y]


def _pairs_of_states(automaton: Automaton) -> list[tuple[str, str]]:
    return _pairs([state.name for state in automaton.states])


def _without_state(automaton: Automaton, pairs: Sequence[tuple[str, str]]) -> Automaton:
    """Whoever goes to the first state of a pair goes to the second instead; also the start of the run."""
    ((gone, other),) = pairs
    states = tuple(state for state in automaton.states if state.name != gone)
    moves = tuple(
        replace(move, target=other) if move.target == gone else move
        for move in automaton.transitions
        if move.source != gone
    )
    initial = other if automaton.initial == gone else automaton.initial
    return replace(automaton, states=states, initial=initial, transitions=moves)


def _renamed(move: Transition, name: Callable[[str], str | None]) -> Transition:
    """A transition with other variables; ``None``: without that variable."""

    def names(old: frozenset[str]) -> frozenset[str]:
        return frozenset(new for x in old if (new := name(x)) is not None)

    return replace(move, guard=Guard(names(move.guard.ge), names(move.guard.lt)), assign=names(move.assign))


def _variables(automaton: Automaton) -> Sequence[str]:
    return automaton.variables


def _without_variables(automaton: Automaton, gone: Collection[str]) -> Automaton:
    return _with_moves(automaton, lambda t, move: _renamed(move, lambda x: None if x in gone else x))


def _pairs_of_variables(automaton: Automaton) -> list[tuple[str, str]]:
    return _pairs(automaton.variables)


def _one_variable(automaton: Automaton, pairs: Sequence[tuple[str, str]]) -> Automaton:
    """The second variable of a pair in the place of the first."""
    ((gone, other),) = pairs
    return _with_moves(automaton, lambda t, move: _renamed(move, lambda x: other if x == gone else x))


def _atoms(automaton: Automaton) -> list[tuple[int, str]]:
    moves = enumerate(automaton.transitions)
    return [(t, x) for t, move in moves for x in automaton.variables if x in move.guard.used]


def _without_atoms(automaton: Automaton, gone: Collection[tuple[int, str]]) -> Automaton:
    def change(t: int, move: Transition) -> Transition:
        names = {x for s, x in gone if s == t}
        return replace(move, guard=Guard(move.guard.ge - names, move.guard.lt - names))

    return _with_moves(automaton, change)


def _stores(automaton: Automaton) -> list[tuple[int, str]]:
    moves = enumerate(automaton.transitions)
    return [(t, x) for t, move in moves for x in automaton.variables if x in move.assign]


def _without_stores(automaton: Automaton, gone: Collection[tuple[int, str]]) -> Automaton:
    return _with_moves(
        automaton, lambda t, move: replace(move, assign=move.assign - {x for s, x in gone if s == t})
    )


NUMBERS: list[dict[str, Any]] = [
    {"d": None, "mu": Fraction(0), "d_prime": None, "mu_prime": Fraction(0)},
    {"d_prime": None, "mu_prime": Fraction(0)},
    {"d": Fraction(1)},
    {"d_prime": Fraction(1)},
    {"mu": Fraction(0)},
    {"mu_prime": Fraction(0)},
    {"is_input": True},
]
"""The parameters that a state gets in their simplest form, in one step each."""


def _oddity(state: State) -> int:
    """How far the parameters of a state are from being simple."""
    scales = sum(0 if d is None else 1 if d == 1 else 2 for d in (state.d, state.d_prime))
    return scales + sum(map(bool, (state.mu, state.mu_prime))) + (not state.is_input)


def _numbers(automaton: Automaton) -> list[tuple[int, int]]:
    return [
        (q, k)
        for q, state in enumerate(automaton.states)
        for k, simple in enumerate(NUMBERS)
        if _oddity(replace(state, **simple)) < _oddity(state)
    ]


def _simple_numbers(automaton: Automaton, places: Collection[tuple[int, int]]) -> Automaton:
    states = list(automaton.states)
    for q, k in places:
        changed = replace(states[q], **NUMBERS[k])
        if _oddity(changed) < _oddity(states[q]):
            states[q] = changed
    return replace(automaton, states=tuple(states))


def _strangeness(move: Transition) -> int:
    """How far an output is from a symbol that says nothing."""
    if move.output == PLAIN:
        return 0
    return {OutputKind.SYMBOL: 1, OutputKind.INSAMPLE: 2, OutputKind.INSAMPLE_PRIME: 3}[move.output.kind]


def _outputs(automaton: Automaton) -> list[int]:
    return [t for t, move in enumerate(automaton.transitions) if move.output != PLAIN]


def _plain_outputs(automaton: Automaton, places: Collection[int]) -> Automaton:
    return _with_moves(automaton, lambda t, move: replace(move, output=PLAIN) if t in places else move)


def _second_samples(automaton: Automaton) -> list[int]:
    moves = enumerate(automaton.transitions)
    return [t for t, move in moves if move.output.kind is OutputKind.INSAMPLE_PRIME]


def _first_samples(automaton: Automaton, places: Collection[int]) -> Automaton:
    return _with_moves(automaton, lambda t, move: replace(move, output=INSAMPLE) if t in places else move)


KINDS = (
    _Kind(_moves, _without_moves),
    _Kind(_variables, _without_variables),
    _Kind(_pairs_of_states, _without_state, together=False),
    _Kind(_pairs_of_variables, _one_variable, together=False),
    _Kind(_atoms, _without_atoms),
    _Kind(_stores, _without_stores),
    _Kind(_numbers, _simple_numbers),
    _Kind(_outputs, _plain_outputs),
    _Kind(_second_samples, _first_samples),
)
"""In this order, over and over: what takes most away comes first."""
