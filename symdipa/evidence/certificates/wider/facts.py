"""What is known in the nodes of a base: facts about the order of values that hold on every way there.

Facts are proposed, and those that do not follow on some edge are weakened or dropped until all do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from symdipa.checker.graphs import Edge
from symdipa.checker.wider.model import NOTHING, Model, Step
from symdipa.checker.wider.order import ZERO, Comparison, Order, Place, Value, compared, twins

WEAKER = {"<": "<=", "<=": None, "=": None, "!=": None}
"""What may still hold where a fact does not."""


@dataclass(frozen=True, slots=True)
class Fact:
    """``low`` and ``high`` are variables, negatives of them or numbers; the relation is as in the format."""

    relation: str
    low: Value
    high: Value

    @property
    def comparisons(self) -> list[Comparison]:
        match self.relation:
            case "!=":
                return []
            case "=":
                return [compared(self.low, self.high, False), compared(self.high, self.low, False)]
            case _:
                return [compared(self.low, self.high, self.relation == "<")]

    @property
    def apart(self) -> set[tuple[Place, Place]]:
        return twins(self.low.place, self.high.place) if self.relation == "!=" else set()

    @property
    def weaker(self) -> Fact | None:
        relation = WEAKER[self.relation]
        return None if relation is None else Fact(relation, self.low, self.high)

    @property
    def written(self) -> list[str]:
        return [self.relation, _written(self.low), _written(self.high)]


def _written(value: Value) -> str:
    name, mirrored = value.place
    if name is None:
        return str(value.plus)
    return f"-{name}" if mirrored else name


def before(step: Step, place: Place) -> Value:
    """What is in a place after a step, as it was before."""
    value = step.gets.get(place.name or "", Value(Place(place.name), NOTHING))
    return value.negative if place.mirrored else value


class Known:
    """The facts of all nodes, and what follows from them."""

    def __init__(self, model: Model, facts: Iterable[Iterable[Fact]], edges: Sequence[Edge]) -> None:
        self.model, self.edges = model, edges
        self.facts = [list(proposed) for proposed in facts]
        self.orders = [self._order(v) for v in range(len(self.facts))]
        self._settle()

    def _order(self, node: int) -> Order:
        return Order(self.model.integer, [c for fact in self.facts[node] for c in fact.comparisons])

    def _settle(self) -> None:
        leaving: list[list[Edge]] = [[] for _ in self.facts]
        for edge in self.edges:
            leaving[edge.source].append(edge)
        work = list(self.edges)
        while work:
            edge = work.pop()
            node = edge.target
            kept = self._following(edge)
            if kept != self.facts[node]:
                self.facts[node] = kept
                self.orders[node] = self._order(node)
                work += leaving[node]

    def _following(self, edge: Edge) -> list[Fact]:
        """What is left of the facts of an edge's target, in terms of what was there before it."""
        source, t, target, _ = edge
        if not self.facts[target]:
            return []
        step = self.model.steps[t]
        apart = {pair for fact in self.facts[source] for pair in fact.apart}
        after = self.orders[source].copy()
        after.learn_all(step.known, apart)
        if not after.is_possible:
            return self.facts[target]

        def holds(fact: Fact) -> bool:
            if fact.relation == "!=":
                one, other = (before(step, value.place).place for value in (fact.low, fact.high))
                fresh = self.model.is_continuous(step.sample) and (one.is_sample or other.is_sample)
                return (fresh and one != other) or (one, other) in apart
            return all(after.implies(_earlier(step, c)) for c in fact.comparisons)

        kept = []
        for proposed in self.facts[target]:
            fact: Fact | None = proposed
            while fact is not None and not holds(fact):
                fact = fact.weaker
            kept += [fact] if fact is not None else []
        return kept


def _earlier(step: Step, c: Comparison) -> Comparison:
    low, high = before(step, c.low), before(step, c.high)
    return Comparison(low.place, high.place, c.gap + high.plus - low.plus, c.strict)


def needs_difference(model: Model) -> bool:
    """Whether it matters anywhere that different samples have different values."""
    return not model.integer and any(
        not c.strict and c.low != c.high and not (c.low == ZERO and c.high == ZERO)
        for step in model.steps
        for c in step.known
    )


def different(values: Sequence[Value], mirrored: bool) -> list[Fact]:
    """That no two of these values are equal, nor one of them 0."""
    zero = Value(ZERO, NOTHING)
    found = [Fact("!=", one, other) for one, other in combinations([*values, zero], 2)]
    if mirrored:
        found += [Fact("!=", one, one.negative) for one in values]
        found += [Fact("!=", one, other.negative) for one, other in combinations(values, 2)]
    return found
