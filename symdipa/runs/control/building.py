"""The control graph of an automaton, in numbers."""

from __future__ import annotations

from dataclasses import replace

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
    control = (_unfolded if automaton.unfolds else _of_steps)(automaton, limits)
    return control if automaton.shows_steps else replace(control, shows_steps=False)


def _unfolded(automaton: Automaton, limits: Limits) -> Control:
    """The control graph of the product with who may differ; its transitions are those of the automaton."""
    from symdipa.runs.control.unfolding import unfolding

    product = unfolding(automaton, limits)
    control = _of_steps(product.automaton, limits)
    if control.is_plain:
        count = len(control.steps)
        control = replace(
            control,
            origin=tuple(range(count)),
            begins=(True,) * count,
            keys=tuple((name, False) for name in automaton.variables),
            names=(automaton.variables,) * control.states,
        )
    return replace(
        control,
        origin=tuple(-1 if t < 0 else product.origin[t] for t in control.origin),
        letters=tuple("" if t < 0 else product.letters[t] for t in control.origin),
    )


def _of_steps(automaton: Automaton, limits: Limits) -> Control:
    """The control graph of an automaton in which every entry may differ, but for known differences."""
    if not automaton.plain_steps:
        from symdipa.runs.control.core import core

        return core(automaton, limits)
    number = automaton.variable_index

    def mask(names: frozenset[str]) -> Mask:
        return sum(1 << number[name] for name in names)

    def sampling(t: Transition) -> Sampling:
        q = automaton.state(t.source)
        moved = q.is_input or bool(q.registers)
        return Sampling(moved, q.d, q.mu, q.d_prime, q.mu_prime, t.output, difference=t.difference)

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
