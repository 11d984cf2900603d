"""The control graph in numbers: steps as bit sets, components, liveness."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from symdipa.model.automaton import Automaton, OutputKind
from symdipa.model.validation import validated
from symdipa.runs.graphs import component_numbers, loops_of
from symdipa.runs.order import Mask, Step


@dataclass(frozen=True, eq=False)
class Control:
    """A control graph in numbers: a whole automaton, numbered as in it, or a slice of one.

    ``steps``, ``reads_input``, ``outputs_insample``, ``outputs_real`` and ``mean`` (the mean that the state
    adds) are per transition, so that a slice may join control states and keep what transitions do.
    ``live[q]`` are the variables with a path from ``q`` to a guard that reads them before they are
    assigned again. ``component[q]`` numbers the strongly connected components; ``cyclic[t]`` says whether
    transition ``t`` lies inside one.
    """

    automaton: Automaton
    state_names: tuple[str, ...]
    variable_names: tuple[str, ...]
    steps: tuple[Step, ...]
    source: tuple[int, ...]
    target: tuple[int, ...]
    outgoing: tuple[tuple[int, ...], ...]
    reads_input: tuple[bool, ...]
    outputs_insample: tuple[bool, ...]
    outputs_real: tuple[bool, ...]
    mean: tuple[Fraction, ...]
    initial: int
    live: tuple[Mask, ...]
    component: tuple[int, ...]
    cyclic: tuple[bool, ...]

    @property
    def variables(self) -> int:
        return len(self.variable_names)

    @property
    def states(self) -> int:
        return len(self.state_names)

    @cached_property
    def loops(self) -> dict[int, tuple[int, ...]]:
        """The transitions inside each component that has any, by component."""
        return loops_of(self.component, self.source, self.cyclic)

    @property
    def shape(self) -> Hashable:
        """All but names and scales: what dataflow finds is the same for control graphs of the same shape."""
        return (
            self.states,
            self.variables,
            self.steps,
            self.source,
            self.target,
            self.reads_input,
            self.outputs_insample,
            self.outputs_real,
            self.mean,
            self.initial,
            self.live,
            self.component,
            self.cyclic,
        )

    def conflicts(self, transitions: Iterable[int]) -> Mask:
        """The variables that some of the transitions use and some assign."""
        used = assigned = 0
        for t in transitions:
            used |= self.steps[t].used
            assigned |= self.steps[t].asg
        return used & assigned


def control_graph(automaton: Automaton) -> Control:
    """The control graph of an automaton, in numbers.

    Raises :class:`~symdipa.model.errors.InvalidInput` for an automaton that breaks the rules of the model.
    """
    validated(automaton)
    number = automaton.variable_index

    def mask(names: Iterable[str]) -> Mask:
        result = 0
        for name in names:
            result |= 1 << number[name]
        return result

    transitions = automaton.transitions
    steps = tuple(Step(mask(t.guard.ge), mask(t.guard.lt), mask(t.assign)) for t in transitions)
    source = tuple(automaton.index[t.source] for t in transitions)
    target = tuple(automaton.index[t.target] for t in transitions)
    component = component_numbers(len(automaton.states), list(zip(source, target, strict=True)))
    return Control(
        automaton=automaton,
        state_names=tuple(state.name for state in automaton.states),
        variable_names=automaton.variables,
        steps=steps,
        source=source,
        target=target,
        outgoing=automaton.outgoing,
        reads_input=tuple(automaton.state(t.source).is_input for t in transitions),
        outputs_insample=tuple(t.output.kind is OutputKind.INSAMPLE for t in transitions),
        outputs_real=tuple(t.output.is_real for t in transitions),
        mean=tuple(automaton.state(t.source).mu for t in transitions),
        initial=automaton.index[automaton.initial],
        live=liveness(len(automaton.states), steps, source, target),
        component=component,
        cyclic=tuple(component[s] == component[t] for s, t in zip(source, target, strict=True)),
    )


def liveness(
    states: int, steps: Sequence[Step], source: Sequence[int], target: Sequence[int]
) -> tuple[Mask, ...]:
    """Backward fixed point: ``live(q) = U over q -t-> p of used(t) | (live(p) minus asg(t))``."""
    incoming: list[list[int]] = [[] for _ in range(states)]
    for t, q in enumerate(target):
        incoming[q].append(t)
    live = [0] * states
    for t, step in enumerate(steps):
        live[source[t]] |= step.used
    work = [q for q in range(states) if live[q]]
    while work:
        q = work.pop()
        for t in incoming[q]:
            p = source[t]
            grown = live[p] | live[q] & ~steps[t].asg
            if grown != live[p]:
                live[p] = grown
                work.append(p)
    return tuple(live)
