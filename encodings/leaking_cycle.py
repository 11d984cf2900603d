"""Leaking cycle: a lasso over the order state that assigns and uses one variable (Def. leaking cycle).

At a guessed visit of a loop header the open order bits are copied and a candidate variable is chosen;
bad is to be there again in the same order state, having assigned and used that variable since.
"""

from __future__ import annotations

from symdipa.encodings.assembly import Extra, Parts, assemble
from symdipa.encodings.cycle_monitor import CycleMonitor
from symdipa.encodings.order_bits import OrderBits, OrderStep
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.runs.control import Control
from symdipa.runs.dataflow import OrderFacts, may_have_leaking_cycle
from symdipa.runs.order import Mask, members
from symdipa.systems.boolean import FALSE, TRUE, BooleanGraph, Lit
from symdipa.systems.system import System


def systems(control: Control, facts: OrderFacts, encoding: str, limits: Limits) -> list[System]:
    """A system that reaches a bad state iff there is a leaking cycle; none if the dataflow excludes it.

    There is only one encoding.
    """
    if not may_have_leaking_cycle(facts):
        return []
    candidates: dict[int, Mask] = {
        number: conflicts for number, ts in facts.loops.items() if (conflicts := control.conflicts(ts))
    }

    def relevant(t: int) -> bool:
        return facts.component[control.source[t]] in candidates

    graph = BooleanGraph()
    order = OrderBits(graph, facts)
    monitor = CycleMonitor(graph, facts, relevant, closes=False)
    names = control.variable_names
    every = 0
    for conflicts in candidates.values():
        every |= conflicts
    chosen = {x: graph.variable(f"chosen({names[x]})") for x in members(every)}
    choose = {x: graph.variable(f"choose({names[x]})") for x in members(every)}
    assigned, used = graph.variable("assigned"), graph.variable("used")
    saved: dict[Lit, Lit] = {}
    for h in monitor.headers:
        for bit in order.open_bits(h):
            if bit not in saved:
                saved[bit] = graph.variable(f"saved({graph.name(bit >> 1)})")

    def candidates_at(q: int) -> Mask:
        return candidates.get(facts.component[q], 0)

    def open_bits(q: int) -> list[Lit]:
        if not candidates_at(q):
            return []
        here = [h for h in monitor.headers if facts.component[h] == facts.component[q]]
        copies = dict.fromkeys(saved[bit] for h in here for bit in order.open_bits(h))
        return [*(chosen[x] for x in members(candidates_at(q))), assigned, used, *copies]

    def extra(t: int, effect: OrderStep, inside: Lit) -> Extra:
        q = control.source[t]
        mine = open_bits(q)
        step = control.steps[t]
        if inside == FALSE:
            return Extra(TRUE, dict.fromkeys(mine, FALSE))
        begins = graph.conj(inside, monitor.is_open ^ 1)
        now = {x: graph.ite(begins, choose[x], chosen[x]) for x in members(candidates_at(q))}
        update: dict[Lit, Lit] = {chosen[x]: graph.conj(inside, lit) for x, lit in now.items()}
        for bit, atoms in ((assigned, step.asg), (used, step.used)):
            touches = graph.any(now[x] for x in members(candidates_at(q) & atoms))
            update[bit] = graph.conj(inside, graph.disj(graph.conj(begins ^ 1, bit), touches))
        here = set(order.open_bits(q))
        for bit, copy in saved.items():
            if copy in mine:
                now_saved = graph.ite(begins, bit if bit in here else FALSE, copy)
                update[copy] = graph.conj(inside, now_saved)
        return Extra(_at_most_one(graph, list(now.values())), update)

    def bad(q: int) -> Lit:
        if q not in monitor.headers:
            return FALSE
        same = [graph.iff(bit, saved[bit]) for bit in order.open_bits(q)]
        return graph.all([monitor.open_at(q), monitor.begun_at(q), assigned, used, *same])

    def axioms(q: int) -> list[Lit]:
        mine = open_bits(q)
        return [
            *(graph.implies(bit, monitor.is_open) for bit in mine),
            *([_at_most_one(graph, [chosen[x] for x in members(candidates_at(q))])] if mine else []),
        ]

    return [
        assemble(
            Pattern.LEAKING_CYCLE,
            encoding,
            graph,
            facts,
            order,
            monitor,
            Parts(
                extra=extra,
                open_bits=open_bits,
                bits=[*chosen.values(), assigned, used, *saved.values()],
                bad=bad,
                axioms=axioms,
                choices=list(choose.values()),
            ),
            limits,
        )
    ]


def _at_most_one(graph: BooleanGraph, literals: list[Lit]) -> Lit:
    return graph.all(graph.conj(a, b) ^ 1 for i, a in enumerate(literals) for b in literals[:i])
