"""Systems unrolled up to a bound, as an SMT-LIB 2 script.

Each frame has a Boolean symbol for each control state, bit, choice and edge: ``loc(q3)@2``, ``lt(x,y)@2``.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Any

from pysmt.logics import QF_UF
from pysmt.shortcuts import FALSE, And, ExactlyOne, Iff, Not, Or, Symbol
from pysmt.smtlib import commands
from pysmt.smtlib.script import SmtLibScript

from symdipa.evidence.exports.labels import labels, prefixes
from symdipa.systems.boolean import Lit
from symdipa.systems.system import System


def to_smtlib(systems: Sequence[System], bound: int, comments: Sequence[str] = ()) -> str:
    """One script: ``sat`` iff some system has a path of at most ``bound`` steps to a bad state."""
    unrolled = [_BoundedPath(*named, bound) for named in zip(systems, prefixes(systems), strict=True)]
    conjuncts = [part for path in unrolled for part in path.path()]
    conjuncts.append(Or([end for path in unrolled for end in path.ends()]))
    script = SmtLibScript()
    script.add(commands.SET_LOGIC, [QF_UF])
    symbols = {symbol.symbol_name(): symbol for part in conjuncts for symbol in part.get_free_variables()}
    for name in sorted(symbols):
        script.add(commands.DECLARE_FUN, [symbols[name]])
    for part in conjuncts:
        script.add(commands.ASSERT, [part])
    script.add(commands.CHECK_SAT, [])
    out = io.StringIO()
    out.writelines(f"; {line}\n" for line in comments)
    script.serialize(out, daggify=True)
    return out.getvalue()


class _BoundedPath:
    """Unrolls one system; the path may end at any frame up to the bound."""

    def __init__(self, system: System, prefix: str, bound: int) -> None:
        self.system, self.prefix, self.bound = system, prefix, bound
        self.names = labels(system)

    def path(self) -> list[Any]:
        """A path from the initial state; ``step@k`` says that it goes on after frame ``k``."""
        bits = [Not(self._bit(bit, 0)) for bit in self.system.bits]
        parts = [And([*self._only_at(self.system.control.initial, 0), *bits])]
        for k in range(self.bound):
            further = self._symbol("step", k)
            parts += [further.Implies(part) for part in self._step(k)]
            if k:
                parts.append(further.Implies(self._symbol("step", k - 1)))
        return parts

    def ends(self) -> list[Any]:
        """The ways in which some frame of the path may be bad."""
        later = [And(self._symbol("step", k), self._bad(k + 1)) for k in range(self.bound)]
        return [self._bad(0), *later]

    def _symbol(self, name: str, frame: int) -> Any:
        return Symbol(f"{self.prefix}{name}@{frame}")

    def _location(self, q: int, k: int) -> Any:
        return self._symbol(self.names.locations[q], k)

    def _only_at(self, here: int, k: int) -> list[Any]:
        """In frame ``k`` control is at one state and at no other."""
        places = [self._location(q, k) for q in range(self.system.control.states)]
        return [place if q == here else Not(place) for q, place in enumerate(places)]

    def _bit(self, bit: Lit, k: int) -> Any:
        return self._symbol(self.names.of[bit], k)

    def _bad(self, k: int) -> Any:
        values = self._values(self.system.bad.values(), k)
        return Or([And(self._location(q, k), values(condition)) for q, condition in self.system.bad.items()])

    def _values(self, roots: Iterable[Lit], k: int) -> Any:
        """A function from literals of the graph to formulas over frame ``k``."""
        graph = self.system.graph
        value: dict[int, Any] = {0: FALSE()}

        def of(literal: Lit) -> Any:
            node = value[literal >> 1]
            return Not(node) if literal & 1 else node

        for node in graph.cone(roots):
            operands = graph.operands(node)
            if operands is not None:
                value[node] = And(of(operands[0]), of(operands[1]))
            elif node:
                value[node] = self._bit(2 * node, k)
        return of

    def _step(self, k: int) -> list[Any]:
        system = self.system
        roots = [lit for edge in system.edges for lit in (edge.guard, *edge.update.values())]
        values = self._values([*roots, *system.bits], k)
        taken = [self._symbol(name, k) for name in self.names.edges]
        parts = [ExactlyOne(taken)]
        for edge, take in zip(system.edges, taken, strict=True):
            before = [self._location(edge.source, k), values(edge.guard)]
            bits = [Iff(self._bit(bit, k + 1), values(edge.update.get(bit, bit))) for bit in system.bits]
            parts.append(take.Implies(And([*before, *self._only_at(edge.target, k + 1), *bits])))
        return parts
