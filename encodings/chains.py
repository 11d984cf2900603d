"""Chains between a low and a high end, by marks and by ghosts (docs/theory.md, section 4).

Leaking pairs and privacy violating paths differ only in their ends
(:class:`symdipa.runs.control.chains.Chain`), so their modules both build on these two encodings. Marks in
bits are ``up(x)`` and ``down(x)`` for each variable, and ``hit`` (Def. marks);
:func:`symdipa.runs.marks.advance` is their specification.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from symdipa.encodings.assembly import Addition, Extra, assemble
from symdipa.encodings.cycle_monitor import CycleMonitor
from symdipa.encodings.order_bits import OrderBits, OrderStep
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.runs.control.chains import Chain, End, chains_of
from symdipa.runs.dataflow import MarkFacts, OrderFacts, mark_facts, may_have_chain, order_facts
from symdipa.runs.order import Mask, OrderState, members
from symdipa.systems.boolean import FALSE, TRUE, BooleanGraph, Lit
from symdipa.systems.system import System


def systems_with_chains(pattern: Pattern, facts: OrderFacts, encoding: str, limits: Limits) -> list[System]:
    """A system for each chain of the pattern that the dataflow (``facts``, without ghosts) leaves open."""
    chains = [chain for chain in chains_of(pattern, facts.control) if may_have_chain(facts, chain, limits)]
    if encoding == "ghost" and chains:
        ghostly = order_facts(facts.control, ghosts=2, precise=facts.precise, limits=limits)
        return [by_ghosts(ghostly, pattern, chain, limits) for chain in chains]
    return [by_marks(facts, pattern, chain, limits) for chain in chains]


def by_marks(facts: OrderFacts, pattern: Pattern, chain: Chain, limits: Limits) -> System:
    """Bad: some value had both marks, and no cycle is still open."""
    control = facts.control
    graph = BooleanGraph()
    order = OrderBits(graph, facts)
    monitor = CycleMonitor(graph, facts, lambda t: chain.marks(control, t))
    marks = MarkBits(graph, order, mark_facts(facts, chain, limits))

    def extra(t: int, effect: OrderStep, inside: Lit) -> Extra:
        return Extra(TRUE, marks.step(t, effect, inside))

    def bad(q: int) -> Lit:
        return graph.conj(marks.hit_at(q), monitor.open_at(q) ^ 1)

    added = Addition(extra, marks.open_bits, marks.bits(), bad, marks.axioms, marks.broken_axioms)
    return assemble(pattern, "marks", order, monitor, added, limits)


class MarkBits:
    """The marks of the values held by the variables, for one kind of chain."""

    def __init__(self, graph: BooleanGraph, order: OrderBits, facts: MarkFacts) -> None:
        self.graph = graph
        self.order = order
        self.facts = facts
        self.hit = graph.variable("hit")
        names = order.facts.control.variable_names
        self._up = [graph.variable(f"up({name})") for name in names]
        self._down = [graph.variable(f"down({name})") for name in names]
        self._place = {bit: (1 << x, 0) for x, bit in enumerate(self._up)}
        self._place |= {bit: (0, 1 << x) for x, bit in enumerate(self._down)}

    def up(self, q: int, x: int) -> Lit:
        return self._up[x] if self.facts.up[q] >> x & 1 else FALSE

    def down(self, q: int, x: int) -> Lit:
        return self._down[x] if self.facts.down[q] >> x & 1 else FALSE

    def hit_at(self, q: int) -> Lit:
        """Whether some value came to carry both marks on the way to ``q``."""
        return self.hit if self.facts.hit_at[q] else FALSE

    def open_bits(self, q: int) -> list[Lit]:
        return [
            *(self._up[x] for x in members(self.facts.up[q])),
            *(self._down[x] for x in members(self.facts.down[q])),
            *([self.hit] if self.facts.hit_at[q] else []),
        ]

    def bits(self) -> list[Lit]:
        return [*self._up, *self._down, self.hit]

    def step(self, t: int, effect: OrderStep, inside: Lit) -> dict[Lit, Lit]:
        """New values of the bits after transition ``t``; ``inside``: it belongs to a non-leaking cycle."""
        graph, order, chain = self.graph, self.order, self.facts.chain
        control = order.facts.control
        q, p, step, roles = (
            control.source[t],
            control.target[t],
            control.steps[t],
            chain.roles(control.sampling[t]),
        )
        tracked = list(members(order.facts.tracked(q) & (control.soft or -1)))
        up = {x: self.up(q, x) for x in tracked}
        down = {x: self.down(q, x) for x in tracked}
        if roles.low_repeated:
            # ``above`` is what lies at or above an upper bound of the sample: what a repetition marks.
            up = {x: graph.disj(lit, graph.conj(inside, effect.above[x])) for x, lit in up.items()}
        if roles.high_repeated:
            down = {x: graph.disj(lit, graph.conj(inside, effect.below[x])) for x, lit in down.items()}
        own = chain.own(control, q)
        low, high = own or (0, 0)
        sample_up = graph.any(
            effect.below[x] if low >> x & 1 else graph.conj(up[x], effect.below[x]) for x in tracked
        )
        sample_down = graph.any(
            effect.above[x] if high >> x & 1 else graph.conj(down[x], effect.above[x]) for x in tracked
        )
        hits = [sample_up] if roles.high else []
        hits += [sample_down] if roles.low else []
        if own is None:
            sample_up = TRUE if roles.low else sample_up
            sample_down = TRUE if roles.high else sample_down
        rising = TRUE if roles.low else sample_up
        falling = TRUE if roles.high else sample_down
        up = {x: graph.disj(lit, graph.conj(rising, effect.above[x])) for x, lit in up.items()}
        down = {x: graph.disj(lit, graph.conj(falling, effect.below[x])) for x, lit in down.items()}
        hits += [graph.conj(up[x], TRUE if high >> x & 1 else down[x]) for x in tracked]
        hits += [down[x] for x in tracked if low >> x & 1]
        update = dict.fromkeys(self.open_bits(q), FALSE)
        if self.facts.hit_at[p]:
            update[self.hit] = graph.any([self.hit_at(q), *hits, graph.conj(sample_up, sample_down)])
        for x in members(self.facts.up[p]):
            update[self._up[x]] = sample_up if step.asg >> x & 1 else up.get(x, FALSE)
        for x in members(self.facts.down[p]):
            update[self._down[x]] = sample_down if step.asg >> x & 1 else down.get(x, FALSE)
        return update

    def broken_axioms(self, q: int, rows: OrderState, bits: Set[Lit], unknown: frozenset[Lit]) -> list[Lit]:
        """Some of the axioms that relations and true bits break whatever the unknown bits are, if any."""
        graph, at_most = self.graph, self.order.at_most
        up, down = self._marked(q, bits)
        found: list[Lit] = []
        if not up | down:
            return found
        if up & down and self.hit not in bits and self.hit not in unknown:
            both = (graph.conj(self._up[x], self._down[x]) for x in members(up & down))
            found += [graph.implies(pair, self.hit_at(q)) for pair in both]
        perhaps_up, perhaps_down = self._marked(q, unknown)
        for x in members(up):
            for y in members((rows.lt[x] | rows.eq[x]) & ~(up | perhaps_up)):
                carried = graph.conj(at_most(q, x, y), self._up[x])
                found.append(graph.implies(carried, self.up(q, y)))
        for x in members(self.order.facts.tracked(q) & ~(down | perhaps_down)) if down else ():
            for y in members((rows.lt[x] | rows.eq[x]) & down):
                carried = graph.conj(at_most(q, x, y), self._down[y])
                found.append(graph.implies(carried, self.down(q, x)))
        return found

    def _marked(self, q: int, bits: Set[Lit]) -> tuple[Mask, Mask]:
        """The variables whose marks ``up`` and ``down`` are open at ``q`` and among these bits."""
        up = down = 0
        for bit in self._place.keys() & bits:
            above, below = self._place[bit]
            up, down = up | above, down | below
        return up & self.facts.up[q], down & self.facts.down[q]

    def axioms(self, q: int) -> list[Lit]:
        """Marks are closed along the order, and a value with both is a hit."""
        graph, order = self.graph, self.order
        may = order.facts.may[q]
        assert may is not None
        found = []
        for x in members(order.facts.tracked(q) & (order.facts.control.soft or -1)):
            found.append(graph.implies(graph.conj(self.up(q, x), self.down(q, x)), self.hit_at(q)))
            for y in members((may.lt[x] | may.eq[x]) & ~(1 << x)):
                at_most = order.at_most(q, x, y)
                found.append(graph.implies(graph.conj(at_most, self.up(q, x)), self.up(q, y)))
                found.append(graph.implies(graph.conj(at_most, self.down(q, y)), self.down(q, x)))
        return found


def by_ghosts(facts: OrderFacts, pattern: Pattern, chain: Chain, limits: Limits) -> System:
    """The reference encoding: ghosts hold the samples at both ends of the stored chain (Def. ghosts).

    ``facts`` must have two ghosts. ``V1`` is assigned once, at ``k_2`` for a repeated low end, and else at
    the low end itself; ``V2`` likewise at ``k_{m-1}`` or at the high end. A repeated low end is seen when a
    non-leaking cycle uses a variable equal to ``V1`` as upper bound, a repeated high end when one uses a
    variable equal to ``V2`` as lower bound. Bad: all that is needed was seen and ``V1`` is forced at or below
    ``V2`` (strictly, if they must not be the same sample).
    """
    control = facts.control
    graph = BooleanGraph()
    order = OrderBits(graph, facts)
    monitor = CycleMonitor(graph, facts, lambda t: chain.marks(control, t))
    ghosts = (control.variables, control.variables + 1)
    roles = chain.all_roles(control)
    steps = [control.shifting(t) for t in range(len(control.steps))]
    repeats = (
        chain.low_end is End.REPEATED
        or any(r.low_repeated and s.lt for r, s in zip(roles, steps, strict=True)),
        chain.high_end is End.REPEATED
        or any(r.high_repeated and s.ge for r, s in zip(roles, steps, strict=True)),
    )
    pick = [graph.variable(f"pick(V{i + 1})") for i in range(2)]
    done = [graph.variable(f"set(V{i + 1})") for i in range(2)]
    seen = [graph.variable(f"seen(V{i + 1})") for i in range(2)]

    def picks(t: int) -> Mapping[int, Lit]:
        ends = (roles[t].low, roles[t].high)
        return {
            ghosts[i]: graph.conj(pick[i], done[i] ^ 1) if repeats[i] or ends[i] else FALSE for i in range(2)
        }

    def extra(t: int, effect: OrderStep, inside: Lit) -> Extra:
        q, step, role = control.source[t], steps[t], roles[t]
        update: dict[Lit, Lit] = {}
        ends = (
            (step.lt if role.low_repeated else 0, role.low),
            (step.ge if role.high_repeated else 0, role.high),
        )
        for i, (atoms, is_end) in enumerate(ends):
            picked = picks(t)[ghosts[i]]
            update[done[i]] = graph.disj(done[i], picked)
            if repeats[i]:
                equal = graph.any(order.eq(q, x, ghosts[i]) for x in members(atoms))
                now = graph.disj(seen[i], graph.conj(inside, equal))
                update[seen[i]] = graph.disj(now, picked) if is_end else now
        return Extra(TRUE, update)

    def bad(q: int) -> Lit:
        needed = [seen[i] for i in range(2) if repeats[i]]
        below = order.lt if chain is Chain.RIGID_PAIR else order.at_most
        return graph.all([*needed, monitor.open_at(q) ^ 1, below(q, *ghosts)])

    def axioms(q: int) -> list[Lit]:
        found = [graph.implies(seen[i], done[i]) for i in range(2) if repeats[i]]
        for i, ghost in enumerate(ghosts):
            for x in members(facts.tracked(q) & ~(1 << ghost)):
                for fact in (order.eq(q, x, ghost), order.lt(q, x, ghost), order.lt(q, ghost, x)):
                    found.append(graph.implies(fact, done[i]))
        return found

    own = [*done, *(seen[i] for i in range(2) if repeats[i])]
    added = Addition(extra, lambda q: own, own, bad, axioms, choices=pick, picks=picks)
    return assemble(pattern, "ghost", order, monitor, added, limits)
