"""Literals of a Boolean graph as SMT-LIB 2 terms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from symdipa.evidence.exports.labels import Labels
from symdipa.systems.boolean import FALSE, TRUE, BooleanGraph, Lit
from symdipa.systems.system import System


def variables_at(system: System, names: Labels, opened: Iterable[Lit]) -> tuple[BooleanGraph, dict[Lit, Lit]]:
    """A graph with a variable for each open bit and each choice of a system, and the values of all of them.

    Bits that are not open are false.
    """
    graph = BooleanGraph()
    values = dict.fromkeys(system.bits, FALSE)
    values |= {literal: graph.variable(quoted(names.of[literal])) for literal in (*opened, *system.choices)}
    return graph, values


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
