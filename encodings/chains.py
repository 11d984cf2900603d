"""Chains between a low and a high end, by marks and by ghosts (docs/theory.md, section 4).

Leaking pairs and privacy violating paths differ only in their ends (:class:`symdipa.runs.marks.Chain`), so
their modules both build on these two encodings.
"""

from __future__ import annotations

from collections.abc import Mapping

from symdipa.encodings.assembly import Extra, Parts, assemble
from symdipa.encodings.cycle_monitor import CycleMonitor
from symdipa.encodings.mark_bits import MarkBits
from symdipa.encodings.order_bits import OrderBits, OrderStep
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.runs.dataflow import OrderFacts, mark_facts
from symdipa.runs.marks import Chain
from symdipa.runs.order import members
from symdipa.systems.boolean import FALSE, TRUE, BooleanGraph, Lit
from symdipa.systems.system import System


def by_marks(facts: OrderFacts, pattern: Pattern, chain: Chain, limits: Limits) -> System:
    """Bad: some value had both marks, and no cycle is still open."""
    control = facts.control
    graph = BooleanGraph()
    order = OrderBits(graph, facts)
    monitor = CycleMonitor(graph, facts, lambda t: chain.marks(control.steps[t]))
    marks = MarkBits(graph, order, mark_facts(facts, chain, limits))

    def extra(t: int, effect: OrderStep, inside: Lit) -> Extra:
        return Extra(TRUE, marks.step(t, effect, inside))

    return assemble(
        pattern,
        "marks",
        graph,
        facts,
        order,
        monitor,
        Parts(
            extra=extra,
            open_bits=marks.open_bits,
            bits=marks.bits(),
            bad=lambda q: graph.conj(marks.hit_at(q), monitor.open_at(q) ^ 1),
            axioms=marks.axioms,
            broken_axioms=marks.broken_axioms,
        ),
        limits,
    )


def by_ghosts(facts: OrderFacts, pattern: Pattern, chain: Chain, limits: Limits) -> System:
    """The reference encoding: ghosts hold the samples at both ends of the stored chain (Def. ghosts).

    ``facts`` must have two ghosts. ``V1`` is assigned once, at ``k_2`` for a repeatable low end or at the
    output for an output one; ``V2`` likewise at ``k_{m-1}`` or at the output. A repeatable low end is seen
    when a non-leaking cycle uses a variable equal to ``V1`` as upper bound, a repeatable high end when one
    uses a variable equal to ``V2`` as lower bound. Bad: all that is needed was seen and ``V1`` is forced at
    or below ``V2``.
    """
    control = facts.control
    graph = BooleanGraph()
    order = OrderBits(graph, facts)
    monitor = CycleMonitor(graph, facts, lambda t: chain.marks(control.steps[t]))
    ghosts = (control.variables, control.variables + 1)
    repeats = (chain.low_repeats, chain.high_repeats)
    pick = [graph.variable(f"pick(V{i + 1})") for i in range(2)]
    done = [graph.variable(f"set(V{i + 1})") for i in range(2)]
    seen = [graph.variable(f"seen(V{i + 1})") for i in range(2)]

    def picks(t: int) -> Mapping[int, Lit]:
        return {
            ghosts[i]: graph.conj(pick[i], done[i] ^ 1)
            if repeats[i] or control.sampling[t].shows_sample
            else FALSE
            for i in range(2)
        }

    def extra(t: int, effect: OrderStep, inside: Lit) -> Extra:
        q, step = control.source[t], control.steps[t]
        update: dict[Lit, Lit] = {}
        for i, atoms in enumerate((step.lt, step.ge)):
            picked = picks(t)[ghosts[i]]
            update[done[i]] = graph.disj(done[i], picked)
            if repeats[i]:
                equal = graph.any(order.eq(q, x, ghosts[i]) for x in members(atoms))
                update[seen[i]] = graph.disj(seen[i], graph.conj(inside, equal))
        return Extra(TRUE, update)

    def bad(q: int) -> Lit:
        needed = [seen[i] for i in range(2) if repeats[i]]
        return graph.all([*needed, monitor.open_at(q) ^ 1, order.at_most(q, *ghosts)])

    def axioms(q: int) -> list[Lit]:
        found = [graph.implies(seen[i], done[i]) for i in range(2) if repeats[i]]
        for i, ghost in enumerate(ghosts):
            for x in members(facts.tracked(q) & ~(1 << ghost)):
                for fact in (order.eq(q, x, ghost), order.lt(q, x, ghost), order.lt(q, ghost, x)):
                    found.append(graph.implies(fact, done[i]))
        return found

    own = [*done, *(seen[i] for i in range(2) if repeats[i])]
    return assemble(
        pattern,
        "ghost",
        graph,
        facts,
        order,
        monitor,
        Parts(
            extra=extra,
            open_bits=lambda q: own,
            bits=own,
            bad=bad,
            axioms=axioms,
            choices=pick,
            picks=picks,
        ),
        limits,
    )
