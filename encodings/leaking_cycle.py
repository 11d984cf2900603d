"""Leaking cycle: a lasso over the order state that assigns and uses one variable (Def. leaking cycle).

At a guessed visit of a loop header the open order bits are copied and a candidate variable is chosen;
bad is to be there again in the same order state, having assigned and used that variable since.
"""

from __future__ import annotations

from functools import reduce
from operator import or_

from symdipa.encodings.assembly import Addition, Extra, assemble
from symdipa.encodings.cycle_monitor import CycleMonitor
from symdipa.encodings.order_bits import OrderBits, OrderStep
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.runs.dataflow import OrderFacts, may_have_leaking_cycle
from symdipa.runs.order import Mask, members
from symdipa.systems.boolean import FALSE, TRUE, BooleanGraph, Lit
from symdipa.systems.system import System


def systems(facts: OrderFacts, encoding: str, limits: Limits) -> list[System]:
    """A system that reaches a bad state iff there is a leaking cycle; none if the dataflow excludes it.

    There is only one encoding.
    """
    if not may_have_leaking_cycle(facts):
        return []
    control = facts.control
    candidates = {number: control.conflicts(ts) for number, ts in facts.loops.items()}

    def candidates_at(q: int) -> Mask:
        return candidates.get(facts.component[q], 0)

    graph = BooleanGraph()
    order = OrderBits(graph, facts)
    monitor = CycleMonitor(graph, facts, lambda t: candidates_at(control.source[t]) != 0, closes=False)
    names = control.variable_names
    every = reduce(or_, candidates.values(), 0)
    chosen = {x: graph.variable(f"chosen({names[x]})") for x in members(every)}
    choose = {x: graph.variable(f"choose({names[x]})") for x in members(every)}
    assigned, used = graph.variable("assigned"), graph.variable("used")
    copied = dict.fromkeys(bit for h in monitor.headers for bit in order.open_bits(h))
    saved = {bit: graph.variable(f"saved({graph.name(bit >> 1)})") for bit in copied}

    def open_bits(q: int) -> list[Lit]:
        if not candidates_at(q):
            return []
        here = [h for h in monitor.headers if facts.component[h] == facts.component[q]]
        copies = dict.fromkeys(saved[bit] for h in here for bit in order.open_bits(h))
        return [*(chosen[x] for x in members(candidates_at(q))), assigned, used, *copies]

    def extra(t: int, effect: OrderStep, inside: Lit) -> Extra:
        q = control.source[t]
        nothing = dict.fromkeys(open_bits(q), FALSE)
        step = control.steps[t]
        if inside == FALSE:
            return Extra(TRUE, nothing)
        begins = graph.conj(inside, monitor.is_open ^ 1)
        now = {x: graph.ite(begins, choose[x], chosen[x]) for x in members(candidates_at(q))}
        update: dict[Lit, Lit] = {chosen[x]: graph.conj(inside, lit) for x, lit in now.items()}
        for bit, atoms in ((assigned, step.asg), (used, step.used)):
            touches = graph.any(now[x] for x in members(candidates_at(q) & atoms))
            update[bit] = graph.conj(inside, graph.disj(graph.conj(begins ^ 1, bit), touches))
        here = set(order.open_bits(q))
        for bit, copy in saved.items():
            if copy in nothing:
                now_saved = graph.ite(begins, bit if bit in here else FALSE, copy)
                update[copy] = graph.conj(inside, now_saved)
        return Extra(_at_most_one(graph, list(now.values())), update)

    def bad(q: int) -> Lit:
        if q not in monitor.headers:
            return FALSE
        same = [graph.iff(bit, saved[bit]) for bit in order.open_bits(q)]
        return graph.all([monitor.open_at(q), monitor.begun_at(q), assigned, used, *same])

    def axioms(q: int) -> list[Lit]:
        here = [chosen[x] for x in members(candidates_at(q))]
        return [*(graph.implies(bit, monitor.is_open) for bit in open_bits(q)), _at_most_one(graph, here)]

    bits = [*chosen.values(), assigned, used, *saved.values()]
    added = Addition(extra, open_bits, bits, bad, axioms, choices=list(choose.values()))
    return [assemble(Pattern.LEAKING_CYCLE, encoding, order, monitor, added, limits)]


def _at_most_one(graph: BooleanGraph, literals: list[Lit]) -> Lit:
    return graph.all(graph.conj(a, b) ^ 1 for i, a in enumerate(literals) for b in literals[:i])
