"""Random valid automata with sums of entries, and random sets of entries that may differ.

Automata of ``random_linear``, and streaming mechanisms (``differ_examples``) with some changes, get
registers: updates at random transitions, sums in the means of random states. What would not be valid is taken
away again: registers that are read where some path has not set them, and, if differences had no bound, all of
it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import differ_examples as known
import differ_words
from linear_judge import live_registers
from random_linear import SCALES, changed, random_linear

from symdipa.model.adjacency.differ import differ
from symdipa.model.automaton import Automaton, State, Transition, Update

FACTORS = tuple(Fraction(n, 2) for n in (2, 2, 2, 2, 4, -2, 1))
MOST_STATES = 6
"""So many states of an adjacency automaton are enough."""
LARGEST, MOST_PLACES = 8, 3_000
"""Differences of registers beyond this, or more places than this, count as having no bound."""

SHAPES: tuple[Callable[[random.Random], Automaton], ...] = (
    lambda rng: known.released_sum(rng.choice(SCALES)),
    lambda rng: known.partial_sum(rng.choice((1, 2, 3)), rng.choice(SCALES)),
    lambda rng: known.noisy_entries(rng.choice(SCALES)),
    lambda rng: known.fresh_sums(rng.choice(SCALES)),
    lambda rng: known.smart_sum(rng.choice((1, 2, 3)), rng.choice(SCALES)),
    lambda rng: known.tree(rng.choice((2, 2, 4)), rng.choice(SCALES)),
    lambda rng: known.sliding_sums(rng.choice((1, 2, 3)), rng.choice(SCALES)),
    lambda rng: known.adaptive(),
    lambda rng: known.svt_for_ever(),
)


def random_differ(rng: random.Random) -> Automaton:
    """A valid random automaton of the wider model, with registers in three of four."""
    text = random_text(rng)
    if rng.random() < 0.25:
        automaton = changed(rng, rng.choice(SHAPES)(rng), 2)
    else:
        automaton = random_linear(rng, (1, 1, 2, 2), (1, 2, 2, 3))
    automaton = set_before_use(replace(automaton, differ=differ(text)))
    for often in (0.6, 0.4, 0.3, 0.2, 0.1) if rng.random() < 0.75 else ():
        summed = without_names(with_sums(rng, automaton, often))
        if has_bounds(summed):
            return summed
    return automaton if has_bounds(automaton) else without_sums(automaton)


def random_text(rng: random.Random) -> str:
    """Which entries may differ."""
    kind = rng.random()
    if kind < 0.15:
        return "all"
    if kind < 0.4:
        return f"entries={rng.choice((1, 1, 2, 3))}"
    if kind < 0.55:
        return f"window={rng.choice((1, 2, 2, 3))}"
    while True:
        part = differ_words.random_text(rng, rng.choice((1, 2, 3)))
        text = rng.choice((part, f"({part})*", f"({part})*", f"=*({part})=*", f"({part})=*", f"({part})~*"))
        moves = differ_words.moves(f"pattern={text}")
        dull = all(other is None for _, other in moves) or (None, None) in moves
        if len(moves) <= MOST_STATES and (not dull or rng.random() < 0.1):
            return f"pattern={text}"


# Registers


def with_sums(rng: random.Random, automaton: Automaton, often: float) -> Automaton:
    """The automaton with registers at random places; what it has of them stays."""
    names = rng.choice((("r",), ("r", "s")))
    sources = {t.source for t in automaton.transitions}
    states = tuple(_summing(rng, s, names, often) if s.name in sources else s for s in automaton.states)
    reads = {state.name: state.is_input for state in automaton.states}
    steps = tuple(
        _updating(rng, t, names, reads[t.source], often if t.source != automaton.initial else 1.0)
        for t in automaton.transitions
    )
    if automaton.integer:
        states = tuple(
            replace(s, registers=tuple((r, k) for r, k in s.registers if k.denominator == 1)) for s in states
        )
    return set_before_use(replace(automaton, states=states, transitions=steps))


def _summing(rng: random.Random, state: State, names: tuple[str, ...], often: float) -> State:
    if not state.draws:
        return replace(state, is_input=state.is_input or rng.random() < 0.5)
    if state.registers or (state.d is None and rng.random() < 0.7):
        return state
    return replace(
        state, registers=tuple((r, rng.choice(FACTORS)) for r in names if rng.random() < 0.5 + often / 2)
    )


def _updating(
    rng: random.Random, step: Transition, names: tuple[str, ...], reads: bool, often: float
) -> Transition:
    found = {update.register: update for update in step.updates}
    for r in names:
        if r in found or rng.random() > often:
            continue
        source = rng.choice((None, *names, r)) if reads else rng.choice((None, *names))
        adds = reads and rng.random() < 0.7
        if adds or source != r:
            found[r] = Update(r, source, adds)
    return replace(step, updates=tuple(found.values()))


def without_sums(automaton: Automaton) -> Automaton:
    return replace(
        automaton,
        states=tuple(replace(state, registers=()) for state in automaton.states),
        transitions=tuple(replace(step, updates=()) for step in automaton.transitions),
    )


def set_before_use(automaton: Automaton) -> Automaton:
    """The automaton without what uses a register that some path has not set, or an entry where none is."""
    reads = {state.name: state.is_input for state in automaton.states}

    def is_known(update: Update, at: str) -> bool:
        return reads[at] >= update.adds_input and update.source in (None, *known.get(at, ()))

    while True:
        known = surely_set(automaton)
        states = tuple(
            replace(s, registers=tuple(one for one in s.registers if one[0] in known.get(s.name, ())))
            for s in automaton.states
        )
        steps = tuple(
            replace(t, updates=tuple(u for u in t.updates if is_known(u, t.source)))
            for t in automaton.transitions
        )
        if (states, steps) == (automaton.states, automaton.transitions):
            return automaton
        automaton = replace(automaton, states=states, transitions=steps)


def without_names(automaton: Automaton) -> Automaton:
    """The automaton without registers that are in no mean and get no entry: nothing shows what they are."""
    updates = [u for t in automaton.transitions for u in t.updates]
    found = {r for s in automaton.states for r, _ in s.registers} | {
        u.register for u in updates if u.adds_input
    }
    for _ in updates:
        found |= {u.register for u in updates if u.source in found}
        found |= {u.source for u in updates if u.register in found and u.source is not None}
    steps = (
        replace(t, updates=tuple(u for u in t.updates if u.register in found)) for t in automaton.transitions
    )
    return replace(automaton, transitions=tuple(steps))


def surely_set(automaton: Automaton) -> dict[str, frozenset[str]]:
    """The registers that every path to a state sets."""
    after = {automaton.initial: frozenset[str]()}
    changing = True
    while changing:
        changing = False
        for t in automaton.transitions:
            if t.source in after:
                new = after[t.source] | {update.register for update in t.updates}
                met = new & after.get(t.target, new)
                if met != after.get(t.target):
                    after[t.target], changing = met, True
    return after


def has_bounds(automaton: Automaton) -> bool:
    """Whether differences of the registers that are yet to be read are small on all paths."""
    live, moves = live_registers(automaton), differ_words.moves(automaton.differ.text)
    start: tuple[str, int, tuple[tuple[str, int], ...]] = (automaton.initial, 0, ())
    seen, todo = {start}, [start]
    for at, place, pairs in todo:  # grows while it is walked
        before = dict(pairs)
        if len(seen) > MOST_PLACES or any(abs(number) > LARGEST for number in before.values()):
            return False
        for t in automaton.transitions:
            if t.source != at:
                continue
            ways = [(place, (0,))]
            if automaton.state(at).is_input:
                ways = list(zip(moves[place], ((0,), (-1, 0, 1)), strict=True))
            for there, entries in ways:
                for entry in entries if there is not None else ():
                    new = before | {
                        u.register: before.get(u.source, 0) + entry * u.adds_input for u in t.updates
                    }
                    kept = tuple(sorted((r, number) for r, number in new.items() if r in live[t.target]))
                    after = t.target, there, kept
                    if after not in seen:
                        seen.add(after)
                        todo.append(after)
    return True
