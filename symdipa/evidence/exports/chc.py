"""Systems as constrained Horn clauses in SMT-LIB 2, for z3's Spacer and its kin.

A predicate for each control state says which values its bits may have there; bits that are false there in
every reachable state are left out. Satisfiable: the predicates can be chosen such that no bad state is
among them, so none is reachable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symdipa.evidence.exports.labels import labels, prefixes
from symdipa.evidence.exports.terms import Terms, quoted, variables_at
from symdipa.systems.boolean import FALSE, TRUE, Lit
from symdipa.systems.system import System


def to_chc(systems: Sequence[System], comments: Sequence[str] = ()) -> str:
    """One script: ``sat`` iff no system can reach a bad state."""
    lines = [*(f"; {line}" for line in comments), "(set-logic HORN)"]
    for system, prefix in zip(systems, prefixes(systems), strict=True):
        lines += _Clauses(system, prefix).lines()
    return "\n".join([*lines, "(check-sat)", ""])


class _Clauses:
    def __init__(self, system: System, prefix: str) -> None:
        self.system = system
        self.names = labels(system, prefix)
        rank = {bit: i for i, bit in enumerate(system.bits)}
        self.bits = {q: sorted(system.open_bits[q], key=rank.__getitem__) for q in system.places}

    def lines(self) -> Iterator[str]:
        system = self.system
        for q in system.places:
            yield f"(declare-fun {self._predicate(q)} ({' '.join(['Bool'] * len(self.bits[q]))}) Bool)"
        start = system.control.initial
        yield f"(assert {self._at(start, ['false'] * len(self.bits[start]))})"
        for edge, name in zip(system.edges, self.names.edges, strict=True):
            new = [edge.update.get(bit, bit) for bit in self.bits[edge.target]]
            yield f"; {name}"
            yield self._clause(edge.source, edge.guard, new, edge.target)
        for q, condition in system.bad.items():
            if q in self.bits:
                yield f"; bad at {self.names.locations[q]}"
                yield self._clause(q, condition, [], None)

    def _predicate(self, q: int) -> str:
        return quoted(self.names.locations[q])

    def _at(self, q: int, values: Sequence[str]) -> str:
        return f"({self._predicate(q)} {' '.join(values)})" if values else self._predicate(q)

    def _clause(self, q: int, condition: Lit, new: Sequence[Lit], target: int | None) -> str:
        """From ``q`` under a condition to ``target`` with new values; without target that is forbidden."""
        graph, values = variables_at(self.system, self.names, self.bits[q])
        bits, choices = (
            [graph.name(values[lit] >> 1) for lit in some] for some in (self.bits[q], self.system.choices)
        )
        condition, *new = self.system.graph.copy([condition, *new], graph, values)
        if condition == FALSE:
            return "; never"
        terms = Terms(graph, [condition, *new])
        here = self._at(q, bits)
        before = here if condition == TRUE else f"(and {here} {terms.text(condition)})"
        after = "false" if target is None else self._at(target, [terms.text(literal) for literal in new])
        needed = [*bits, *(name for name in choices if name in terms.variables)]
        bound = " ".join(f"({name} Bool)" for name in needed)
        body = terms.within_lets(f"(=> {before} {after})")
        return f"(assert (forall ({bound}) {body}))" if bound else f"(assert {body})"
