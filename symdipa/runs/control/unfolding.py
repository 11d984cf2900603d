"""The product of an automaton with its adjacency automaton and with the differences of its registers.

Where not every entry may differ, or sums of entries are added to means, a step of the automaton stands for
several ones, by what the entry that it reads does in the two inputs (Def. unfolding):

* ``=``: it is equal in both;
* ``~``: it may differ, by anything that the adjacency allows;
* ``-`` and ``+``: it differs by the least, or by the largest, difference that the adjacency allows. These
  stand for ``~`` where registers keep the difference, so that all differences of registers are known.

Costs are convex in the differences of entries, so that ends are enough; and as ``~`` covers ``=``, an equal
entry is of interest only where it leads to another state of the adjacency automaton. What is allowed after
``~`` is allowed after ``=`` as well, so an entry that moves nothing is taken to be equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from symdipa.model.adjacency.letters import EQUAL, OTHER
from symdipa.model.automaton import Automaton, State, Transition
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.parts import ZERO, Form

MAX_STATES = 100_000
"""The most states of a product."""

LEAST, LARGEST = "-", "+"

ENTRY = {EQUAL: ZERO, LEAST: Form(Fraction(1), Fraction(0)), LARGEST: Form(Fraction(0), Fraction(1))}
"""What letters say of the difference of an entry, where they say it."""

Place = tuple[int, int, tuple[tuple[str, Form], ...]]
"""A control state, a state of the adjacency automaton, and the differences of the registers that matter."""


@dataclass(frozen=True)
class Unfolding:
    """An ``automaton`` in which every entry may differ and nothing is known of registers but the differences
    of transitions. ``origin`` has for each transition the one that it comes from, ``letters`` its letter
    (empty if no entry is read)."""

    automaton: Automaton
    origin: tuple[int, ...]
    letters: tuple[str, ...]


def unfolding(automaton: Automaton, limits: Limits = UNLIMITED) -> Unfolding:
    """The product, as far as it is reached.

    Raises :class:`~symdipa.model.errors.LimitReached` above :data:`MAX_STATES`, and when the time is up.
    """
    live = live_registers(automaton)
    start: Place = (automaton.index[automaton.initial], 0, ())
    names = {start: automaton.initial}
    used = {automaton.initial: 1}
    work = [start]
    transitions, origin, letters = [], [], []
    for place in work:  # grows while it is walked
        limits.check(f"the product with who may differ, {len(work)} states")
        for t in automaton.outgoing[place[0]]:
            move = automaton.transitions[t]
            q = automaton.index[move.target]
            for letter, adjacent, difference, registers in _steps(automaton, live, place, move):
                there = q, adjacent, registers
                if there not in names:
                    if len(work) >= MAX_STATES:
                        size = f"the product with who may differ has more than {MAX_STATES} states"
                        raise LimitReached(Limit.SIZE, size)
                    count = used[move.target] = used.get(move.target, 0) + 1
                    names[there] = move.target if count == 1 else f"{move.target}@{count}"
                    work.append(there)
                transitions.append(
                    replace(move, source=names[place], target=names[there], updates=(), difference=difference)
                )
                origin.append(t)
                letters.append(letter)
    states = tuple(replace(automaton.states[q], name=names[q, a, r]) for q, a, r in work)
    product = Automaton(
        states,
        automaton.initial,
        tuple(transitions),
        automaton.variables,
        automaton.name,
        automaton.integer,
    )
    return Unfolding(product.trusted(), tuple(origin), tuple(letters))


def _steps(
    automaton: Automaton, live: dict[str, frozenset[str]], place: Place, move: Transition
) -> Iterator[tuple[str, int, Form | None, tuple[tuple[str, Form], ...]]]:
    """The letters with which a transition is taken: each with the state of the adjacency automaton that it
    leads to, the difference of the means, if it is known, and those of registers afterwards."""
    _, adjacent, held = place
    state, registers = automaton.state(move.source), dict(held)
    kept = live[move.target]
    for letter, there in _letters(automaton, state, move, kept, adjacent):
        entry = ENTRY.get(letter, ZERO)
        difference = None
        if state.draws and letter != OTHER and (state.is_input or state.registers):
            difference = entry if state.is_input else ZERO
            for register, factor in state.registers:
                difference = difference.plus(registers[register], factor)
        after = dict(registers)
        for update in move.updates:
            form = ZERO if update.source is None else registers.get(update.source, ZERO)
            after[update.register] = form.plus(entry) if update.adds_input else form
        yield letter, there, difference, tuple(sorted((r, form) for r, form in after.items() if r in kept))


def _letters(
    automaton: Automaton, state: State, move: Transition, kept: frozenset[str], adjacent: int
) -> Iterator[tuple[str, int]]:
    if not state.is_input:
        yield "", adjacent
        return
    equal, other = automaton.differ.moves[adjacent]
    flows = any(update.adds_input and update.register in kept for update in move.updates)
    if not flows and not state.draws:
        other = None
    if equal is not None and equal != other:
        yield EQUAL, equal
    if other is not None:
        for letter in (LEAST, LARGEST) if flows or state.registers else (OTHER,):
            yield letter, other


def live_registers(automaton: Automaton) -> dict[str, frozenset[str]]:
    """For each state the registers whose values matter from there on."""
    live = {state.name: frozenset(r for r, _ in state.registers) for state in automaton.states}
    entering: dict[str, list[Transition]] = {name: [] for name in live}
    for move in automaton.transitions:
        entering[move.target].append(move)
    work = [name for name, own in live.items() if own]
    while work:
        target = work.pop()
        for move in entering[target]:
            sources = {update.register: update.source for update in move.updates}
            needed = {sources.get(r, r) for r in live[target]} - {None}
            found = live[move.source] | {r for r in needed if r is not None}
            if found != live[move.source]:
                live[move.source] = found
                work.append(move.source)
    return live
