"""The order state in bits, and its update by one transition as formulas (Def. order state).

For each pair of variables there is a bit ``lt(x,y)`` and, unordered, ``eq(x,y)``. Where the dataflow says
that a fact cannot hold in a control state its bit is the constant false there, where it must hold the
constant true; only the others are *open*. :mod:`symdipa.runs.order` is the specification of the update.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from symdipa.runs.dataflow import OrderFacts
from symdipa.runs.order import Mask, OrderState, Step, members
from symdipa.systems.boolean import FALSE, TRUE, BooleanGraph, Lit, constant

Fact = tuple[str, int, int]
"""``"lt"`` or ``"eq"``, and two variables."""


@dataclass(frozen=True)
class OrderStep:
    """One transition's effect: ``guard`` (it is enabled), the bounds of its sample, and new bit values.

    ``below[x]`` says that ``x`` is forced at or below the sample, ``above[x]`` that it is forced above it.
    """

    guard: Lit
    below: Mapping[int, Lit]
    above: Mapping[int, Lit]
    update: Mapping[Lit, Lit]


class OrderBits:
    """The bits of the order state of one automaton with ghosts (numbered after the variables)."""

    def __init__(self, graph: BooleanGraph, facts: OrderFacts) -> None:
        self.graph = graph
        self.facts = facts
        names = facts.control.variable_names
        self._names = [*names, *(f"V{g + 1}" for g in range(facts.ghosts))]
        self._bits: dict[str, dict[tuple[int, int], Lit]] = {"lt": {}, "eq": {}}
        self._open: dict[int, Mapping[Lit, Fact]] = {}
        self._constant: dict[int, OrderState] = {}
        self._unknown: dict[int, tuple[frozenset[Lit], OrderState]] = {}
        self.soft = facts.control.soft and facts.control.soft | facts.ghost_mask
        """The variables that hold shifts: facts about these are not strict and contradict nothing."""

    def lt(self, q: int, x: int, y: int) -> Lit:
        """``x lt y`` at control state ``q``."""
        return FALSE if x == y else self.value(q, ("lt", x, y))

    def eq(self, q: int, x: int, y: int) -> Lit:
        """``x eq y`` at control state ``q`` (both tracked there)."""
        if x == y:
            return TRUE
        return self.value(q, ("eq", x, y) if x < y else ("eq", y, x))

    def at_most(self, q: int, x: int, y: int) -> Lit:
        """``x lt y`` or ``x eq y``."""
        return self.graph.disj(self.lt(q, x, y), self.eq(q, x, y))

    def open_facts(self, q: int) -> Mapping[Lit, Fact]:
        """The facts that the dataflow leaves open at ``q``, by their bits."""
        found = self._open.get(q)
        if found is None:
            found = self._open[q] = {self.value(q, fact): fact for fact in self._find_open(q)}
        return found

    def _find_open(self, q: int) -> Iterator[Fact]:
        may, must = self.facts.may[q], self.facts.must[q]
        assert may is not None and must is not None
        for x in range(len(self._names)):
            for y in members(may.lt[x] & ~must.lt[x]):
                if x != y:
                    yield "lt", x, y
            for y in members(may.eq[x] & ~must.eq[x]):
                if x < y:
                    yield "eq", x, y

    def value(self, q: int, fact: Fact) -> Lit:
        """A fact about different variables (for ``eq`` in ascending order) at control state ``q``."""
        kind, x, y = fact
        may, must = self.facts.may[q], self.facts.must[q]
        assert may is not None and must is not None
        always, ever = (must.lt, may.lt) if kind == "lt" else (must.eq, may.eq)
        holds = always[x] >> y & 1
        if holds or not ever[x] >> y & 1:
            return constant(bool(holds))
        bit = self._bits[kind].get((x, y))
        if bit is None:
            bit = self.graph.variable(f"{kind}({self._names[x]},{self._names[y]})")
            self._bits[kind][x, y] = bit
        return bit

    def open_bits(self, q: int) -> list[Lit]:
        return list(self.open_facts(q))

    def all_bits(self) -> list[Lit]:
        """Every bit made so far."""
        return [bit for bits in self._bits.values() for bit in bits.values()]

    def step(self, q: int, step: Step, p: int, picks: Mapping[int, Lit]) -> OrderStep:
        """The effect of ``step`` from ``q`` to ``p``; ``picks[g]``: whether ghost ``g`` is assigned too."""
        graph = self.graph
        tracked = self.facts.tracked(q)
        below = {
            x: graph.any(self.at_most(q, x, y) for y in self._near(q, x, step.ge)) for x in members(tracked)
        }
        above = {
            x: graph.any(self.at_most(q, y, x) for y in self._near(q, x, step.lt, down=True))
            for x in members(tracked)
        }
        hard = ~self.soft
        guard = graph.all(
            self.at_most(q, z, y) ^ 1 for y in members(step.ge & hard) for z in members(step.lt & hard)
        )
        return OrderStep(guard, below, above, self._update(q, step, p, picks, below, above))

    def _near(self, q: int, x: int, among: Mask, down: bool = False) -> Iterator[int]:
        """The members of ``among`` that may be at or above ``x`` (``down``: at or below it)."""
        may = self.facts.may[q]
        assert may is not None
        for y in members(among):
            low, high = (y, x) if down else (x, y)
            if x == y or (may.lt[low] | may.eq[low]) >> high & 1:
                yield y

    def _update(
        self,
        q: int,
        step: Step,
        p: int,
        picks: Mapping[int, Lit],
        below: Mapping[int, Lit],
        above: Mapping[int, Lit],
    ) -> dict[Lit, Lit]:
        graph = self.graph
        tracked = self.facts.tracked(q)

        def assigned(x: int) -> Lit:
            return picks[x] if x in picks else constant(bool(step.asg >> x & 1))

        def kept(kind: str, x: int, y: int) -> Lit:
            if not (tracked >> x & 1 and tracked >> y & 1):
                return FALSE
            if kind == "eq":
                return self.eq(q, x, y)
            return graph.disj(self.lt(q, x, y), graph.conj(below[x], above[y]))

        update = dict.fromkeys(self.open_facts(q), FALSE)
        for bit, (kind, x, y) in self.open_facts(p).items():
            ax, ay = assigned(x), assigned(y)
            if ax == ay == FALSE:
                update[bit] = kept(kind, x, y)
                continue
            if kind == "lt":
                fresh_x = graph.conj(ay ^ 1, above.get(y, FALSE))
                old_x = graph.ite(ay, below.get(x, FALSE), kept(kind, x, y))
            else:
                fresh_x = ay
                old_x = graph.conj(ay ^ 1, kept(kind, x, y))
            update[bit] = graph.ite(ax, fresh_x, old_x)
        return update

    def rows(self, q: int, bits: Set[Lit]) -> OrderState:
        """The relations at ``q`` in a state with these true bits (which need not satisfy the axioms)."""
        must, named = self._constants(q), self.open_facts(q)
        lt, eq = list(must.lt), list(must.eq)
        for bit in named.keys() & bits:
            kind, x, y = named[bit]
            if kind == "lt":
                lt[x] |= 1 << y
            else:
                eq[x] |= 1 << y
                eq[y] |= 1 << x
        return OrderState(tuple(lt), tuple(eq))

    def _constants(self, q: int) -> OrderState:
        """What holds in every state at ``q``, with ``eq`` reflexive."""
        found = self._constant.get(q)
        if found is None:
            must = self.facts.must[q]
            assert must is not None
            tracked = self.facts.tracked(q)
            eq = tuple(row | tracked & 1 << x for x, row in enumerate(must.eq))
            found = self._constant[q] = OrderState(must.lt, eq)
        return found

    def broken_axioms(self, q: int, rows: OrderState, unknown: frozenset[Lit]) -> list[Lit]:
        """Some of the axioms at ``q`` that relations break whatever the unknown bits are, if any."""
        graph, lt, eq = self.graph, rows.lt, rows.eq
        perhaps = self._perhaps(q, unknown)
        found = []
        for x in range(len(lt)):
            strict = not self.soft >> x & 1
            if not (lt[x] or eq[x] & ~(1 << x)) or _is_closed(rows, perhaps, x, strict):
                continue
            above, same_too = lt[x] | perhaps.lt[x], eq[x] | perhaps.eq[x]
            for y in members(lt[x]):
                if strict and lt[y] >> x & 1:
                    found.append(graph.conj(self.lt(q, x, y), self.lt(q, y, x)) ^ 1)
                if strict and eq[x] >> y & 1:
                    found.append(graph.conj(self.lt(q, x, y), self.eq(q, x, y)) ^ 1)
                for z in members((lt[y] | eq[y]) & ~(above | 1 << x)):
                    both = graph.conj(self.lt(q, x, y), self.at_most(q, y, z))
                    found.append(graph.implies(both, self.lt(q, x, z)))
            for y in members(eq[x] & ~(1 << x)):
                same = self.eq(q, x, y)
                for z in members(lt[y] & ~(above | 1 << x)):
                    found.append(graph.implies(graph.conj(same, self.lt(q, y, z)), self.lt(q, x, z)))
                for z in members(eq[y] & ~same_too):
                    found.append(graph.implies(graph.conj(same, self.eq(q, y, z)), self.eq(q, x, z)))
        return found

    def _perhaps(self, q: int, unknown: frozenset[Lit]) -> OrderState:
        """The relations that hold at ``q`` if all unknown bits are true; the last answer is kept."""
        known = self._unknown.get(q)
        if known is None or known[0] is not unknown:
            known = self._unknown[q] = unknown, self.rows(q, unknown)
        return known[1]

    def axioms(self, q: int) -> list[Lit]:
        """What every order state satisfies, as far as bits are open at ``q``.

        ``lt`` is a strict order, disjoint from ``eq`` (of values; of shifts it is a preorder); ``eq`` is an
        equivalence and a congruence for it.
        The axioms are preserved by every step, so engines may assume them.
        """
        graph = self.graph
        tracked = list(members(self.facts.tracked(q)))
        may = self.facts.may[q]
        assert may is not None
        found = []
        for x in tracked:
            for y in members((may.lt[x] | may.eq[x]) & ~(1 << x)):
                lt, eq = self.lt(q, x, y), self.eq(q, x, y)
                if not self.soft >> x & 1:
                    found.append(graph.conj(lt, eq) ^ 1)
                    found.append(graph.conj(lt, self.lt(q, y, x)) ^ 1)
                for z in members((may.lt[y] | may.eq[y]) & ~(1 << x | 1 << y)):
                    both = graph.conj(lt, self.at_most(q, y, z))
                    found.append(graph.implies(both, self.lt(q, x, z)))
                    found.append(graph.implies(graph.conj(eq, self.lt(q, y, z)), self.lt(q, x, z)))
                    found.append(graph.implies(graph.conj(eq, self.eq(q, y, z)), self.eq(q, x, z)))
        return [axiom for axiom in dict.fromkeys(found) if axiom != TRUE]


def _is_closed(rows: OrderState, perhaps: OrderState, x: int, strict: bool) -> bool:
    """Whether the relations of ``x`` satisfy all axioms, as is nearly always so; fast."""
    lt, eq = rows.lt, rows.eq
    above, same = lt[x], eq[x]
    rest, after = above, 0
    while rest:
        lowest = rest & -rest
        rest ^= lowest
        y = lowest.bit_length() - 1
        after |= lt[y] | eq[y]
    above |= perhaps.lt[x]
    if after & ~(above if strict else above | 1 << x) or (strict and lt[x] & same):
        return False
    rest = same & ~(1 << x)
    same |= perhaps.eq[x]
    while rest:
        lowest = rest & -rest
        rest ^= lowest
        y = lowest.bit_length() - 1
        if lt[y] & ~above or eq[y] & ~same:
            return False
    return True
