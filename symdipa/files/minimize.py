"""Making an automaton smaller while it stays interesting, by delta debugging (Zeller and Hildebrandt 2002).

The changes of :data:`CHANGES` are made at many places at once and then one by one, repeatedly, until no
single one can be made: then the automaton is 1-minimal.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import permutations
from typing import Any

from symdipa.model.adjacency.differ import ALL
from symdipa.model.automaton import (
    INSAMPLE,
    Atom,
    Automaton,
    Guard,
    Noise,
    Output,
    OutputKind,
    State,
    Term,
    Transition,
    Update,
    atom,
    guarded,
    reachable,
    several,
    symbol,
    variables_of,
)
from symdipa.model.parts import SAMPLE, SECOND_SAMPLE
from symdipa.model.spelling import counted
from symdipa.model.validation import problems
from symdipa.model.validation.guards import ties_count

PLAIN = symbol("o")
"""What a transition outputs if it does not matter."""


def size(automaton: Automaton) -> tuple[int, ...]:
    """What every step makes smaller: transitions, states, variables, atoms, assignments, numbers, outputs."""
    moves = automaton.transitions
    return (
        len(moves),
        len(automaton.states),
        len(automaton.variables),
        sum(len(t.guard.ge) + len(t.guard.lt) + 2 * len(t.guard.others) for t in moves),
        sum(len(t.assign) + len(t.copies) + len(t.updates) + sum(map(_work, t.updates)) for t in moves),
        sum(map(_oddity, automaton.states)) + automaton.integer + (not automaton.differ.is_all),
        sum(_strangeness(t) for t in moves),
    )


def in_words(automaton: Automaton) -> str:
    """``3 states, 4 transitions, 1 variable``"""
    counts = {
        "state": len(automaton.states),
        "transition": len(automaton.transitions),
        "variable": len(automaton.variables),
    }
    return ", ".join(counted(n, what) for what, n in counts.items())


@dataclass
class Minimizer:
    """Looks for a small automaton that is ``interesting``, as ``automaton`` itself must be.

    ``best`` is the smallest so far, whatever ends the search. ``runs`` counts the calls of ``interesting``,
    all on different, valid automata. ``progress`` hears now and then how far the search is.
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
                for change in CHANGES:
                    self._thin_out(change, deadline)
        except _TimeIsUp:
            return False
        return True

    def _thin_out(self, change: Simplification, deadline: float | None) -> None:
        """Make one kind of change wherever possible: at half of the places first, at single ones last."""
        many = max(1, len(change.places(self.best)) // 2) if change.together else 1
        while many:
            start = 0
            while places := change.places(self.best)[start : start + many]:
                if deadline is not None and time.monotonic() >= deadline:
                    raise _TimeIsUp
                # After a success other places have moved to where these were.
                start += 0 if self._try(change.made(self.best, places)) else many
            many //= 2

    def _try(self, candidate: Automaton) -> bool:
        candidate = tidy(candidate)
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


def tidy(automaton: Automaton) -> Automaton:
    """Without the states that no path reaches and the variables that no transition has."""
    found = reachable(automaton)
    kept = set(variables_of(found.transitions))
    if any(move.guard.others for move in found.transitions):
        ties = {state.name: ties_count(state, found.integer) for state in found.states}
        found = _with_moves(found, lambda _, move: _comparing(move, move.guard.atoms, ties[move.source]))
    return replace(found, variables=tuple(x for x in automaton.variables if x in kept))


# -------------------------------------------------------------------------------------- what can be changed


@dataclass(frozen=True)
class Simplification:
    """A way to simplify: the places where it applies, and the result of applying it at some of them.

    ``together``: it is worthwhile to change many places at once.
    """

    places: Callable[[Automaton], Sequence[Any]]
    made: Callable[[Automaton, Sequence[Any]], Automaton]
    together: bool = True


def _with_moves(automaton: Automaton, change: Callable[[int, Transition], Transition]) -> Automaton:
    moves = tuple(change(t, move) for t, move in enumerate(automaton.transitions))
    return replace(automaton, transitions=moves)


def _without_moves(automaton: Automaton, gone: Collection[int]) -> Automaton:
    kept = (move for t, move in enumerate(automaton.transitions) if t not in gone)
    return replace(automaton, transitions=tuple(kept))


def _pairs(names: Iterable[str]) -> list[tuple[str, str]]:
    return list(permutations(names, 2))


def _without_state(automaton: Automaton, pairs: Sequence[tuple[str, str]]) -> Automaton:
    """Transitions to the first state of a pair lead to the second instead; so does the start of the run."""
    ((gone, other),) = pairs
    states = tuple(state for state in automaton.states if state.name != gone)
    moves = tuple(
        replace(move, target=other) if move.target == gone else move
        for move in automaton.transitions
        if move.source != gone
    )
    initial = other if automaton.initial == gone else automaton.initial
    return replace(automaton, states=states, initial=initial, transitions=moves)


def _renamed(automaton: Automaton, name: Callable[[str], str | None]) -> Automaton:
    """The automaton with other variables; ``None``: without that variable."""

    def names(old: frozenset[str]) -> frozenset[str]:
        return frozenset(new for x in old if (new := name(x)) is not None)

    def named(x: str | None) -> str | None:
        return x if x is None or x in (SAMPLE, SECOND_SAMPLE) else name(x)

    def change(t: int, move: Transition) -> Transition:
        others = (_renamed_atom(each, named) for each in move.guard.others)
        guard = Guard(names(move.guard.ge), names(move.guard.lt), frozenset(filter(None, others)))
        assign = names(move.assign)
        copies = {
            new: value
            for x, y in move.copies
            if (new := name(x)) is not None and new not in assign
            if (value := name(y) if isinstance(y, str) else y) not in (None, new)
        }
        parts = [_renamed_output(part, named) for part in move.output.parts]
        output = _listed([part for part in parts if part is not None])
        return replace(move, guard=guard, assign=assign, copies=tuple(copies.items()), output=output)

    return _with_moves(automaton, change)


def _renamed_atom(each: Atom, name: Callable[[str | None], str | None]) -> Atom | None:
    """The comparison of other variables; ``None`` where it says nothing, or a variable is gone."""
    low, high = (Term(name(term.name), term.offset, term.mirrored) for term in (each.low, each.high))
    if any(new.name is None and old.name for new, old in ((low, each.low), (high, each.high))):
        return None
    return None if (low.name, low.mirrored) == (high.name, high.mirrored) else atom(low, high, each.strict)


def _renamed_output(part: Output, name: Callable[[str | None], str | None]) -> Output | None:
    """A single output with other variables; ``None`` where one is gone, or subtracted from itself."""
    names = tuple(new for x in part.names if (new := name(x)) is not None)
    return replace(part, names=names) if len(set(names)) == len(part.names) else None


def _listed(parts: Sequence[Output]) -> Output:
    return several(*parts) if len(parts) > 1 else parts[0] if parts else PLAIN


def _one_variable(automaton: Automaton, pairs: Sequence[tuple[str, str]]) -> Automaton:
    """The second variable of a pair in the place of the first."""
    ((gone, other),) = pairs
    return _renamed(automaton, lambda x: other if x == gone else x)


def _touching(automaton: Automaton, touched: Callable[[Transition], frozenset[str]]) -> list[tuple[int, str]]:
    moves = enumerate(automaton.transitions)
    return [(t, x) for t, move in moves for x in automaton.variables if x in touched(move)]


def _without_atoms(automaton: Automaton, gone: Collection[tuple[int, str]]) -> Automaton:
    def change(t: int, move: Transition) -> Transition:
        names = {x for s, x in gone if s == t}
        return replace(move, guard=replace(move.guard, ge=move.guard.ge - names, lt=move.guard.lt - names))

    return _with_moves(automaton, change)


def _without_stores(automaton: Automaton, gone: Collection[tuple[int, str]]) -> Automaton:
    return _with_moves(
        automaton, lambda t, move: replace(move, assign=move.assign - {x for s, x in gone if s == t})
    )


def _comparing(move: Transition, atoms: Iterable[Atom], ties: bool) -> Transition:
    return replace(move, guard=guarded(atoms, ties))


def _places(automaton: Automaton, parts: Callable[[Transition], Iterable[Any]]) -> list[tuple[int, Any]]:
    """Parts of transitions, with the position of the transition."""
    return [(t, part) for t, move in enumerate(automaton.transitions) for part in parts(move)]


def _without_others(automaton: Automaton, gone: Collection[tuple[int, Atom]]) -> Automaton:
    def change(t: int, move: Transition) -> Transition:
        kept = frozenset(each for each in move.guard.others if (t, each) not in gone)
        return replace(move, guard=replace(move.guard, others=kept))

    return _with_moves(automaton, change)


def _without_copies(automaton: Automaton, gone: Collection[tuple[int, Any]]) -> Automaton:
    def change(t: int, move: Transition) -> Transition:
        return replace(move, copies=tuple(copy for copy in move.copies if (t, copy) not in gone))

    return _with_moves(automaton, change)


def _work(update: Update) -> int:
    """How far an update is from setting a register to 0."""
    return (update.source is not None) + update.adds_input


def _without_updates(automaton: Automaton, gone: Collection[tuple[int, Update]]) -> Automaton:
    def change(t: int, move: Transition) -> Transition:
        return replace(move, updates=tuple(each for each in move.updates if (t, each) not in gone))

    return _with_moves(automaton, change)


def _simpler_updates(automaton: Automaton, places: Collection[tuple[int, Update]]) -> Automaton:
    """Registers are set to 0, or to nothing but the entry, instead."""

    def change(t: int, move: Transition) -> Transition:
        updates = (
            Update(each.register, None, each.adds_input and each.source is not None)
            if (t, each) in places
            else each
            for each in move.updates
        )
        return replace(move, updates=tuple(updates))

    return _with_moves(automaton, change)


def _without_items(automaton: Automaton, gone: Collection[tuple[int, int]]) -> Automaton:
    def change(t: int, move: Transition) -> Transition:
        if not move.output.items:
            return move
        return replace(
            move, output=_listed([item for k, item in enumerate(move.output.items) if (t, k) not in gone])
        )

    return _with_moves(automaton, change)


NUMBERS: list[dict[str, Any]] = [
    {
        **{"d": None, "mu": Fraction(0), "noise": Noise.LAPLACE, "registers": ()},
        **{"d_prime": None, "mu_prime": Fraction(0), "noise_prime": Noise.LAPLACE},
    },
    {"d_prime": None, "mu_prime": Fraction(0), "noise_prime": Noise.LAPLACE},
    {"d": Fraction(1), "noise": Noise.LAPLACE},
    {"d_prime": Fraction(1), "noise_prime": Noise.LAPLACE},
    {"d": Fraction(1)},
    {"d_prime": Fraction(1)},
    {"mu": Fraction(0)},
    {"mu_prime": Fraction(0)},
    {"is_input": True},
    {"draws": True},
]
"""The parameters that a state gets in their simplest form, in one step each."""


def _oddity(state: State) -> int:
    """How far the parameters of a state are from being simple."""
    scales = sum(0 if d is None else 1 if d == 1 else 2 for d in (state.d, state.d_prime))
    noises = sum(2 * (noise is not Noise.LAPLACE) for noise in (state.noise, state.noise_prime))
    means = sum(map(bool, (state.mu, state.mu_prime)))
    factors = sum(1 if factor == 1 else 2 for _, factor in state.registers)
    return scales + noises + means + factors + (not state.is_input) + (not state.draws)


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


def _in_means(automaton: Automaton) -> list[tuple[int, str]]:
    return [(q, register) for q, state in enumerate(automaton.states) for register, _ in state.registers]


def _without_registers(automaton: Automaton, gone: Collection[tuple[int, str]]) -> Automaton:
    states = (
        replace(state, registers=tuple(one for one in state.registers if (q, one[0]) not in gone))
        for q, state in enumerate(automaton.states)
    )
    return replace(automaton, states=tuple(states))


def _taken_once(automaton: Automaton, places: Collection[tuple[int, str]]) -> Automaton:
    """Registers have the factor 1 in means."""
    states = (
        replace(
            state, registers=tuple((r, Fraction(1) if (q, r) in places else k) for r, k in state.registers)
        )
        for q, state in enumerate(automaton.states)
    )
    return replace(automaton, states=tuple(states))


def _strangeness(move: Transition) -> int:
    """How far an output is from a symbol that says nothing."""
    if move.output == PLAIN:
        return 0
    return sum(STRANGENESS[part.kind] for part in move.output.parts) + len(move.output.items)


STRANGENESS = {
    OutputKind.SYMBOL: 1,
    OutputKind.INSAMPLE: 2,
    OutputKind.INSAMPLE_PRIME: 3,
    OutputKind.VALUE: 4,
    OutputKind.DIFFERENCE: 5,
}


def _showing(automaton: Automaton, places: Collection[int], output: Output) -> Automaton:
    return _with_moves(automaton, lambda t, move: replace(move, output=output) if t in places else move)


CHANGES = (
    Simplification(lambda a: range(len(a.transitions)), _without_moves),
    Simplification(lambda a: a.variables, lambda a, gone: _renamed(a, lambda x: None if x in gone else x)),
    Simplification(lambda a: _pairs(state.name for state in a.states), _without_state, together=False),
    Simplification(lambda a: _pairs(a.variables), _one_variable, together=False),
    Simplification(lambda a: _touching(a, lambda move: move.guard.used), _without_atoms),
    Simplification(lambda a: _touching(a, lambda move: move.assign), _without_stores),
    Simplification(lambda a: _places(a, lambda move: sorted(move.guard.others, key=str)), _without_others),
    Simplification(lambda a: _places(a, lambda move: move.copies), _without_copies),
    Simplification(lambda a: _places(a, lambda move: move.updates), _without_updates),
    Simplification(_in_means, _without_registers),
    Simplification(_in_means, _taken_once),
    Simplification(lambda a: _places(a, lambda move: filter(_work, move.updates)), _simpler_updates),
    Simplification(_numbers, _simple_numbers),
    Simplification(lambda a: [0] * a.integer, lambda a, _: replace(a, integer=False)),
    Simplification(lambda a: [0] * (not a.differ.is_all), lambda a, _: replace(a, differ=ALL)),
    Simplification(
        lambda a: [t for t, move in enumerate(a.transitions) if move.output != PLAIN],
        lambda a, places: _showing(a, places, PLAIN),
    ),
    Simplification(lambda a: _places(a, lambda move: range(len(move.output.items))), _without_items),
    Simplification(
        lambda a: [t for t, move in enumerate(a.transitions) if move.output.shows_second],
        lambda a, places: _showing(a, places, INSAMPLE),
    ),
)
"""In this order, repeatedly: first what takes most away."""
