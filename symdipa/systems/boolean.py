"""One hash-consed Boolean graph, from which clauses and SMT-LIB terms are made.

An and-inverter graph: a *literal* is an ``int``, twice the number of a node plus 1 if it is negated. Node
0 is the constant false, so the literals 0 and 1 are ``FALSE`` and ``TRUE``. Other nodes are variables or
conjunctions of two literals; equal conjunctions are the same node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

Lit = int
FALSE: Lit = 0
TRUE: Lit = 1


def constant(value: bool) -> Lit:
    return TRUE if value else FALSE


class BooleanGraph:
    """A growing graph of Boolean functions."""

    def __init__(self) -> None:
        self._operands: list[tuple[Lit, Lit] | None] = [None]
        self._names: dict[int, str] = {}
        self._node: dict[tuple[Lit, Lit], int] = {}

    def variable(self, name: str) -> Lit:
        """A fresh variable; the name is for people and need not be unique."""
        node = len(self._operands)
        self._operands.append(None)
        self._names[node] = name
        return 2 * node

    def name(self, node: int) -> str:
        """The name of a variable's node."""
        return self._names[node]

    def operands(self, node: int) -> tuple[Lit, Lit] | None:
        """The two literals of a conjunction, ``None`` for a variable or the constant."""
        return self._operands[node]

    def conj(self, a: Lit, b: Lit) -> Lit:
        """``a and b``."""
        if a == FALSE or b == FALSE or a == b ^ 1:
            return FALSE
        if a in (TRUE, b):
            return b
        if b == TRUE:
            return a
        key = (a, b) if a < b else (b, a)
        node = self._node.get(key)
        if node is None:
            node = len(self._operands)
            self._operands.append(key)
            self._node[key] = node
        return 2 * node

    def disj(self, a: Lit, b: Lit) -> Lit:
        """``a or b``."""
        return self.conj(a ^ 1, b ^ 1) ^ 1

    def all(self, literals: Iterable[Lit]) -> Lit:
        """The conjunction of any number of literals."""
        result = TRUE
        for literal in literals:
            result = self.conj(result, literal)
        return result

    def any(self, literals: Iterable[Lit]) -> Lit:
        """The disjunction of any number of literals."""
        result = FALSE
        for literal in literals:
            result = self.disj(result, literal)
        return result

    def implies(self, a: Lit, b: Lit) -> Lit:
        return self.disj(a ^ 1, b)

    def iff(self, a: Lit, b: Lit) -> Lit:
        return self.conj(self.implies(a, b), self.implies(b, a))

    def ite(self, condition: Lit, then: Lit, otherwise: Lit) -> Lit:
        """``then`` if ``condition`` else ``otherwise``."""
        if then == otherwise:
            return then
        return self.disj(self.conj(condition, then), self.conj(condition ^ 1, otherwise))

    def cone(self, literals: Iterable[Lit]) -> list[int]:
        """All nodes on which the literals depend, operands before the nodes that use them."""
        # Operands always have smaller numbers, so ascending order is topological.
        found: set[int] = set()
        stack = [literal >> 1 for literal in literals]
        while stack:
            node = stack.pop()
            if node in found:
                continue
            found.add(node)
            operands = self._operands[node]
            if operands is not None:
                stack.extend(literal >> 1 for literal in operands)
        return sorted(found)

    def variables(self, literal: Lit) -> set[Lit]:
        """The variables that a literal depends on."""
        return {2 * node for node in self.cone([literal]) if node and self._operands[node] is None}

    def supports(self, variables: Sequence[Lit]) -> list[int]:
        """For each node which of these variables it depends on, as a set of their positions."""
        found = [0] * len(self._operands)
        for position, variable in enumerate(variables):
            found[variable >> 1] = 1 << position
        for node, operands in enumerate(self._operands):
            if operands is not None:
                found[node] = found[operands[0] >> 1] | found[operands[1] >> 1]
        return found

    def copy(self, literals: Iterable[Lit], into: BooleanGraph, values: Mapping[Lit, Lit]) -> list[Lit]:
        """The same functions in another graph.

        ``values`` has a literal there for every variable (its positive literal) on which they depend.
        """
        literals = list(literals)
        found: dict[int, Lit] = {0: FALSE}
        for node in self.cone(literals):
            operands = self._operands[node]
            if operands is not None:
                a, b = operands
                found[node] = into.conj(found[a >> 1] ^ a & 1, found[b >> 1] ^ b & 1)
            elif node:
                found[node] = values[2 * node]
        return [found[literal >> 1] ^ literal & 1 for literal in literals]

    def evaluate(self, literals: Iterable[Lit], valuation: Mapping[Lit, bool]) -> list[bool]:
        """The values of literals when the variables (their positive literals) have the given values."""
        literals = list(literals)
        value: dict[int, bool] = {0: False}
        for node in self.cone(literals):
            operands = self._operands[node]
            if operands is not None:
                a, b = operands
                value[node] = (value[a >> 1] ^ bool(a & 1)) and (value[b >> 1] ^ bool(b & 1))
            elif node:
                value[node] = valuation[2 * node]
        return [value[literal >> 1] ^ bool(literal & 1) for literal in literals]
