"""Systems as constrained Horn clauses in SMT-LIB 2, for z3's Spacer and its kin.

A predicate for each control state says which values its bits may have there; bits that are false there in
every reachable state are left out. Satisfiable: the predicates can be chosen such that no bad state is
among them, so none is reachable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from symdipa.evidence.exports.labels import labels, prefixes
from symdipa.systems.boolean import FALSE, TRUE, BooleanGraph, Lit
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
        self.places = sorted({system.control.initial, *(edge.target for edge in system.edges)})
        rank = {bit: i for i, bit in enumerate(system.bits)}
        self.bits = {q: sorted(system.open_bits[q], key=rank.__getitem__) for q in self.places}

    def lines(self) -> Iterator[str]:
        system = self.system
        for q in self.places:
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
        graph = BooleanGraph()
        names = {bit: quoted(self.names.of[bit]) for bit in (*self.bits[q], *self.system.choices)}
        values = dict.fromkeys(self.system.bits, FALSE)
        values |= {literal: graph.variable(name) for literal, name in names.items()}
        condition, *new = self.system.graph.copy([condition, *new], graph, values)
        if condition == FALSE:
            return "; never"
        terms = Terms(graph, [condition, *new])
        here = self._at(q, [names[bit] for bit in self.bits[q]])
        before = here if condition == TRUE else f"(and {here} {terms.text(condition)})"
        after = "false" if target is None else self._at(target, [terms.text(literal) for literal in new])
        needed = {names[bit] for bit in self.bits[q]} | terms.variables
        bound = " ".join(f"({name} Bool)" for name in names.values() if name in needed)
        body = terms.within_lets(f"(=> {before} {after})")
        return f"(assert (forall ({bound}) {body}))" if bound else f"(assert {body})"


class Terms:
    """Literals of a graph as SMT-LIB terms; what several of them need is named once, by ``let``."""

    def __init__(self, graph: BooleanGraph, roots: Sequence[Lit]) -> None:
        self._graph = graph
        self._operands: dict[int, list[Lit]] = {}
        self._level: dict[int, int] = {}
        self.variables: set[str] = set()
        uses: dict[int, int] = {}
        cone = graph.cone(roots)
        for literal in (*roots, *(lit for node in cone for lit in graph.operands(node) or ())):
            uses[literal >> 1] = uses.get(literal >> 1, 0) + 1
        self._shared: dict[int, str] = {}
        self._text: dict[Lit, str] = {FALSE: "false", TRUE: "true"}
        bindings: dict[int, list[str]] = {}
        for node in cone:
            operands = graph.operands(node)
            if operands is None:
                if node:
                    name = graph.name(node)
                    self.variables.add(name)
                    self._text |= {2 * node: name, 2 * node + 1: f"(not {name})"}
                continue
            flat: list[Lit] = []
            for lit in operands:
                whole = not lit & 1 and lit >> 1 in self._operands and lit >> 1 not in self._shared
                flat += self._operands[lit >> 1] if whole else [lit]
            self._operands[node] = flat
            level = max((self._level.get(lit >> 1, 0) for lit in flat), default=0)
            self._level[node] = level
            if uses[node] > 1:
                name = f"n{len(self._shared) + 1}"
                bindings.setdefault(level, []).append(f"({name} {self._conjunction(flat)})")
                self._shared[node] = name
                self._level[node] = level + 1
                self._text |= {2 * node: name, 2 * node + 1: f"(not {name})"}
        self._bindings = [bindings[level] for level in sorted(bindings)]

    def text(self, literal: Lit) -> str:
        """The literal as a term, in which shared parts have names."""
        known = self._text.get(literal)
        if known is not None:
            return known
        operands = self._operands[literal >> 1]
        return self._disjunction(operands) if literal & 1 else self._conjunction(operands)

    def _conjunction(self, literals: Sequence[Lit]) -> str:
        return f"(and {' '.join(self.text(lit) for lit in literals)})"

    def _disjunction(self, literals: Sequence[Lit]) -> str:
        return f"(or {' '.join(self.text(lit ^ 1) for lit in literals)})"

    def within_lets(self, term: str) -> str:
        """A term that may use the names of shared parts, with their meanings around it."""
        for group in reversed(self._bindings):
            term = f"(let ({' '.join(group)}) {term})"
        return term


def quoted(name: str) -> str:
    """A symbol of SMT-LIB 2; the name has no bar and no backslash."""
    return name if re.fullmatch(r"[A-Za-z_][0-9A-Za-z_]*", name) else f"|{name}|"
