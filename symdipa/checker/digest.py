"""The digest that ties a certificate to its automaton."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from hashlib import sha256

from symdipa.checker.model import is_plain, unfolds
from symdipa.model.automaton import Automaton, Output, State, Term, Transition

WIDER = "wider"
"""The first word about an automaton that is not plain."""


def digest(automaton: Automaton) -> str:
    """SHA-256 of the canonical form: everything but the automaton's name and the order of variables."""
    form = _plain(automaton) if is_plain(automaton) else _wider(automaton, unfolds(automaton))
    return sha256(json.dumps(list(form), separators=(",", ":")).encode()).hexdigest()


def _plain(automaton: Automaton) -> Iterator[object]:
    yield automaton.initial
    yield [_state(state) for state in automaton.states]
    yield [_transition(t) for t in automaton.transitions]


def _wider(automaton: Automaton, differs: bool) -> Iterator[object]:
    """Which entries differ, and registers, are a part of it only where there is such a thing."""
    yield WIDER
    yield automaton.integer
    yield automaton.initial
    yield [
        [
            *(*_state(state), state.noise.value, state.noise_prime.value, state.draws),
            *([_registers(state)] if differs else []),
        ]
        for state in automaton.states
    ]
    yield [
        [*_transition(t), _others(t), _copies(t), *([_updates(t)] if differs else [])]
        for t in automaton.transitions
    ]
    if differs:
        yield automaton.differ.text


def _state(state: State) -> list[object]:
    numbers = (state.d, state.mu, state.d_prime, state.mu_prime)
    return [state.name, state.is_input, *(None if value is None else _number(value) for value in numbers)]


def _transition(t: Transition) -> list[object]:
    return [t.source, t.target, sorted(t.guard.ge), sorted(t.guard.lt), sorted(t.assign), _output(t.output)]


def _output(output: Output) -> list[object]:
    if output.items:
        return [output.kind.value, *map(_output, output.items)]
    if output.symbol is not None:
        return ["symbol", output.symbol]
    return ["real", output.kind.value, *output.names]


def _others(t: Transition) -> list[list[object]]:
    return sorted([_term(each.low), _term(each.high), each.strict] for each in t.guard.others)


def _term(term: Term) -> list[object]:
    """A constant has no name, and the empty one here: names of variables are not empty."""
    return [term.name or "", term.mirrored, _number(term.offset)]


def _copies(t: Transition) -> list[object]:
    return [[x, ["variable", y] if isinstance(y, str) else ["constant", _number(y)]] for x, y in t.copies]


def _registers(state: State) -> list[object]:
    return [[name, _number(factor)] for name, factor in sorted(state.registers)]


def _updates(t: Transition) -> list[object]:
    """A register that is not named is the number 0: names are not empty."""
    return [list(update) for update in sorted((u.register, u.source or "", u.adds_input) for u in t.updates)]


def _number(value: Fraction) -> str:
    return str(Fraction(value))
