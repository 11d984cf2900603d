"""A non-leaking cycle in which an input transition outputs a real value (Def. disclosing cycle)."""

from __future__ import annotations

from symdipa.encodings.assembly import Addition, Extra, assemble
from symdipa.encodings.cycle_monitor import CycleMonitor
from symdipa.encodings.order_bits import OrderBits, OrderStep
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.runs.dataflow import OrderFacts, may_have_disclosing_cycle
from symdipa.systems.boolean import TRUE, BooleanGraph, Lit
from symdipa.systems.system import System


def systems(facts: OrderFacts, encoding: str, limits: Limits) -> list[System]:
    """A system that reaches a bad state iff there is a disclosing cycle; none if the dataflow excludes it.

    Bad: a watched cycle closed after a disclosing step. There is only one encoding.
    """
    if not may_have_disclosing_cycle(facts):
        return []

    def discloses(t: int) -> bool:
        return facts.control.sampling[t].discloses

    graph = BooleanGraph()
    monitor = CycleMonitor(graph, facts, discloses)
    disclosed = graph.variable("disclosed")

    def extra(t: int, effect: OrderStep, inside: Lit) -> Extra:
        new = graph.disj(disclosed, inside) if discloses(t) else disclosed
        return Extra(TRUE, {disclosed: new})

    def bad(q: int) -> Lit:
        return graph.conj(disclosed, monitor.open_at(q) ^ 1)

    added = Addition(extra, lambda q: [disclosed], [disclosed], bad)
    order = OrderBits(graph, facts)
    return [assemble(Pattern.DISCLOSING_CYCLE, encoding, order, monitor, added, limits)]
