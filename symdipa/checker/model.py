"""The paper's automata in plain sets, once they are known to obey the rules (Def. valid automaton).

:mod:`symdipa.checker.wider.model` is about all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from symdipa.checker.rules import refuse
from symdipa.checker.wider.differ import EVERYWHERE, moves_of
from symdipa.model.automaton import Automaton, Noise, OutputKind, State, Transition


@dataclass(frozen=True)
class Step:
    """A transition with what its state adds to it.

    ``shows`` is the symbol that is output, ``None`` for a real value; ``shows_sample`` says that the real
    value is ``insample``, ``released`` is ``d'`` if it is ``insample'`` and 0 otherwise. ``means`` are those
    that the state adds to ``insample`` and to ``insample'``.
    """

    source: str
    target: str
    ge: frozenset[str]
    lt: frozenset[str]
    assigned: frozenset[str]
    reads_input: bool
    shows: str | None
    shows_sample: bool
    d: Fraction
    released: Fraction
    means: tuple[Fraction, Fraction]

    @property
    def used(self) -> frozenset[str]:
        return self.ge | self.lt


@dataclass(frozen=True)
class Model:
    """Steps are numbered as the transitions of the automaton; ``leaving`` are the steps of each state."""

    initial: str
    steps: tuple[Step, ...]
    leaving: dict[str, tuple[int, ...]]
    variables: frozenset[str]


SIMPLE = (OutputKind.SYMBOL, OutputKind.INSAMPLE, OutputKind.INSAMPLE_PRIME)


def is_plain(automaton: Automaton) -> bool:
    """Whether it is one of the paper's."""
    if unfolds(automaton):
        return False
    inputs = {state.name for state in automaton.states if state.is_input}
    return (
        not automaton.integer
        and all(s.draws and s.noise is s.noise_prime is Noise.LAPLACE for s in automaton.states)
        and all(
            t.output.kind in SIMPLE
            and not (t.guard.others or t.copies)
            and (t.source in inputs or not (t.guard.ge or t.guard.lt))
            for t in automaton.transitions
        )
    )


def unfolds(automaton: Automaton) -> bool:
    """Whether some entries may differ and others not, or there are registers."""
    return (
        moves_of(automaton.differ.text) != EVERYWHERE
        or any(state.registers for state in automaton.states)
        or any(transition.updates for transition in automaton.transitions)
    )


def model_of(automaton: Automaton) -> Model:
    """A plain automaton in steps; refused if it is not one that the theory speaks about."""
    _check_names(automaton)
    states = {state.name: state for state in automaton.states}
    leaving: dict[str, list[int]] = {name: [] for name in states}
    steps = []
    for t, transition in enumerate(automaton.transitions):
        leaving[transition.source].append(t)
        steps.append(_step(transition, states[transition.source], f"transition {t}"))
    model = Model(
        automaton.initial,
        tuple(steps),
        {name: tuple(found) for name, found in leaving.items()},
        frozenset(automaton.variables),
    )
    for name, state in states.items():
        _check_branches(model, state, leaving[name])
    _check_initialization(model)
    return model


def _check_names(automaton: Automaton) -> None:
    names = {state.name for state in automaton.states}
    if len(names) < len(automaton.states):
        refuse("model-name", "a state is listed twice")
    if automaton.initial not in names:
        refuse("model-name", "the initial state does not exist")
    variables = frozenset(automaton.variables)
    for t, transition in enumerate(automaton.transitions):
        if transition.source not in names or transition.target not in names:
            refuse("model-name", f"transition {t} has an end that is no state")
        if not transition.guard.ge | transition.guard.lt | transition.assign <= variables:
            refuse("model-name", f"transition {t} has a variable that is not listed")


def _step(transition: Transition, state: State, where: str) -> Step:
    guard, kind = transition.guard, transition.output.kind
    if guard.ge & guard.lt:
        refuse("model-guard", f"{where} asks for both sides of a variable")
    d, d_prime = state.d or Fraction(0), state.d_prime or Fraction(0)
    shows_sample, shows_other = kind is OutputKind.INSAMPLE, kind is OutputKind.INSAMPLE_PRIME
    if d <= 0 and (guard.ge or guard.lt or transition.assign or shows_sample):
        refuse("model-noise", f"{where} compares, stores or outputs insample, but d is not positive")
    if d_prime <= 0 and shows_other:
        refuse("model-noise", f"{where} outputs insample', but d' is not positive")
    return Step(
        source=transition.source,
        target=transition.target,
        ge=guard.ge,
        lt=guard.lt,
        assigned=transition.assign,
        reads_input=state.is_input,
        shows=transition.output.symbol,
        shows_sample=shows_sample,
        d=d,
        released=d_prime if shows_other else Fraction(0),
        means=(Fraction(state.mu), Fraction(state.mu_prime)),
    )


def _check_branches(model: Model, state: State, leaving: list[int]) -> None:
    steps = [model.steps[t] for t in leaving]
    if not state.is_input and len(steps) > 1:
        refuse("model-non-input", f"the non-input state {state.name!r} has two transitions")
    for one, other in combinations(steps, 2):
        if not (one.ge & other.lt or one.lt & other.ge):
            refuse("model-determinism", f"two transitions of {state.name!r} do not exclude each other")


def _check_initialization(model: Model) -> None:
    """Every path stores a variable before a guard reads it: a fixed point of what is surely stored."""
    stored = {model.initial: frozenset[str]()}
    work = [model.initial]
    while work:
        state = work.pop()
        for t in model.leaving[state]:
            step = model.steps[t]
            if not step.used <= stored[state]:
                refuse("model-initialization", f"transition {t} reads a variable that may not be stored yet")
            after = stored[state] | step.assigned
            known = stored.get(step.target)
            if known is None or not known <= after:
                stored[step.target] = after if known is None else known & after
                work.append(step.target)
