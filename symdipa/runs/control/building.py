"""The control graph of an automaton, in numbers."""

from __future__ import annotations

from symdipa.model.automaton import Automaton, Transition, validated
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.control.graph import Control, Sampling, assembled
from symdipa.runs.order import Mask, Step


def control_graph(automaton: Automaton, limits: Limits = UNLIMITED) -> Control:
    """The control graph of an automaton, in numbers.

    Raises :class:`~symdipa.model.errors.InvalidInput` for an automaton that breaks the rules of the model,
    and what :func:`~symdipa.runs.control.core.core` raises.
    """
    validated(automaton)
    if not automaton.is_plain:
        from symdipa.runs.control.core import core

        return core(automaton, limits)
    number = automaton.variable_index

    def mask(names: frozenset[str]) -> Mask:
        return sum(1 << number[name] for name in names)

    def sampling(t: Transition) -> Sampling:
        q = automaton.state(t.source)
        return Sampling(q.is_input, q.d, q.mu, q.d_prime, q.mu_prime, t.output)

    transitions = automaton.transitions
    return assembled(
        state_names=tuple(state.name for state in automaton.states),
        variable_names=automaton.variables,
        steps=tuple(Step(mask(t.guard.ge), mask(t.guard.lt), mask(t.assign)) for t in transitions),
        sampling=tuple(map(sampling, transitions)),
        source=tuple(automaton.index[t.source] for t in transitions),
        target=tuple(automaton.index[t.target] for t in transitions),
        initial=automaton.index[automaton.initial],
    )
