"""Leaking cycle by counting rounds: k-liveness (Claessen and Sorensson 2012), without a copy of the order.

A *round* of a variable is an assignment of it and, later, a use. A run that repeats a leaking cycle has any
number of rounds; if no run has ``k`` of them in a row, there is no such cycle. Order states are finitely
many, so for some ``k`` either this holds or a run with ``k`` rounds shows a leaking cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import pairwise

from symdipa.encodings.assembly import Addition, Extra, assemble
from symdipa.encodings.cycle_monitor import CycleMonitor
from symdipa.encodings.order_bits import OrderBits, OrderStep
from symdipa.model.limits import UNLIMITED
from symdipa.model.patterns import Pattern
from symdipa.runs.control import Control
from symdipa.runs.dataflow import OrderFacts
from symdipa.runs.graphs import component_numbers, loops_of
from symdipa.runs.order import Mask, Step
from symdipa.systems.boolean import FALSE, TRUE, BooleanGraph, Lit, constant
from symdipa.systems.system import System


def components_without(
    control: Control, transitions: Iterable[int], left_out: Set[int] = frozenset()
) -> list[frozenset[int]]:
    """The transitions inside the components that are left of a control graph of these transitions."""
    kept = [t for t in sorted(transitions) if t not in left_out]
    number = component_numbers(control.states, [(control.source[t], control.target[t]) for t in kept])
    cyclic = [False] * len(control.steps)
    for t in kept:
        cyclic[t] = number[control.source[t]] == number[control.target[t]]
    return [frozenset(ts) for ts in loops_of(number, control.source, cyclic).values()]


def near(control: Control, inside: Iterable[int], x: int) -> Mask:
    """``x`` and the variables that are compared with a sample together with it."""
    found = 1 << x
    for t in inside:
        if control.steps[t].used >> x & 1:
            found |= control.steps[t].used
    return found


class RoundSystems:
    """Systems that count rounds; they share one graph and the formulas of the order."""

    def __init__(self, facts: OrderFacts) -> None:
        self.facts = facts
        self.graph = BooleanGraph()
        self._order = _SharedOrder(self.graph, facts)
        self._nothing_watched = CycleMonitor(self.graph, facts, lambda t: False)

    def system(self, inside: Set[int], x: int, rounds: int) -> System:
        """Bad: ``rounds`` rounds of ``x`` since the last transition that is not in ``inside``."""
        counter = _Counter(self.graph, self.facts.control, inside, x, rounds)
        added = Addition(counter.extra, counter.open_bits, counter.bits, counter.bad, counter.axioms)
        order, monitor = self._order, self._nothing_watched
        return assemble(Pattern.LEAKING_CYCLE, "rounds", order, monitor, added, UNLIMITED)


class _SharedOrder(OrderBits):
    """Order bits that make the formulas of a transition once for all systems."""

    def __init__(self, graph: BooleanGraph, facts: OrderFacts) -> None:
        super().__init__(graph, facts)
        self._steps: dict[tuple[int, Step, int], OrderStep] = {}

    def step(self, q: int, step: Step, p: int, picks: Mapping[int, Lit]) -> OrderStep:
        key = (q, step, p)
        found = self._steps.get(key)
        if found is None:
            found = self._steps[key] = super().step(q, step, p, picks)
        return found


class _Counter:
    """The bits ``assigned`` (an assignment waits for its use) and ``rounds>=j`` for each ``j`` asked."""

    def __init__(self, graph: BooleanGraph, control: Control, inside: Set[int], x: int, rounds: int) -> None:
        self.graph, self.control, self.inside, self.x = graph, control, inside, x
        self.places = {control.target[t] for t in inside}
        name = control.variable_names[x]
        self.assigned = graph.variable(f"assigned({name})")
        self.reached = [graph.variable(f"rounds({name})>={j + 1}") for j in range(rounds)]
        self.bits = [self.assigned, *self.reached]

    def open_bits(self, q: int) -> Sequence[Lit]:
        return self.bits if q in self.places else ()

    def extra(self, t: int, effect: OrderStep, inside: Lit) -> Extra:
        control, graph = self.control, self.graph
        if t not in self.inside:
            return Extra(TRUE, dict.fromkeys(self.open_bits(control.source[t]), FALSE))
        step = control.steps[t]
        uses, assigns = bool(step.used >> self.x & 1), bool(step.asg >> self.x & 1)
        ends = graph.conj(self.assigned, constant(uses))
        update = {self.assigned: TRUE if assigns else graph.conj(self.assigned, ends ^ 1)}
        for before, bit in pairwise([TRUE, *self.reached]):
            update[bit] = graph.disj(bit, graph.conj(ends, before))
        return Extra(TRUE, update)

    def bad(self, q: int) -> Lit:
        return self.reached[-1] if q in self.places else FALSE

    def axioms(self, q: int) -> list[Lit]:
        """Whoever has made ``j + 1`` rounds has made ``j``."""
        if q not in self.places:
            return []
        return [self.graph.implies(more, fewer) for fewer, more in pairwise(self.reached)]
