"""A circuit unrolled up to a bound, as an SMT-LIB 2 script.

Each frame has a Boolean symbol for each latch and each input: ``loc(q3)@2``, ``lt(x,y)@2``.
"""

from __future__ import annotations

from collections.abc import Sequence

from symdipa.evidence.exports.circuit import Circuit
from symdipa.evidence.exports.terms import Terms, quoted
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.systems.boolean import BooleanGraph, Lit


def to_smtlib(circuit: Circuit, bound: int, comments: Sequence[str] = (), limits: Limits = UNLIMITED) -> str:
    """A script: ``sat`` iff the circuit can get bad within ``bound`` steps. Raises ``LimitReached``."""
    script = _Unrolled(circuit, limits)
    start = [_literal(script.symbol(latch.value, 0), latch.initially) for latch in circuit.latches]
    parts = start + [step for k in range(bound) for step in script.step(k)]
    parts.append(_joined("or", [script.bad(k) for k in range(bound + 1)]))
    lines = [f"; {line}" for line in comments]
    lines.append("(set-logic QF_UF)")
    lines += [f"(declare-fun {name} () Bool)" for name in script.declared]
    lines += [f"(assert {part})" for part in parts]
    return "\n".join([*lines, "(check-sat)", ""])


class _Unrolled:
    """Terms over the symbols of frames, and those symbols in the order of their first use."""

    def __init__(self, circuit: Circuit, limits: Limits) -> None:
        self.circuit, self.limits = circuit, limits
        self.declared: dict[str, None] = {}

    def symbol(self, variable: Lit, frame: int) -> str:
        name = _at(self.circuit, variable, frame)
        self.declared[name] = None
        return name

    def step(self, k: int) -> list[str]:
        """What the latches have after frame ``k``, one term for all that share parts."""
        self.limits.check(f"step {k} of the query")
        latches = self.circuit.latches
        terms, values = self._terms([latch.following for latch in latches], k)
        after = [
            f"(= {self.symbol(latch.value, k + 1)} {terms.text(value)})"
            for latch, value in zip(latches, values, strict=True)
        ]
        return [terms.within_lets(_joined("and", after))] if after else []

    def bad(self, k: int) -> str:
        terms, [bad] = self._terms([self.circuit.bad], k)
        return terms.within_lets(terms.text(bad))

    def _terms(self, roots: Sequence[Lit], k: int) -> tuple[Terms, list[Lit]]:
        circuit, graph = self.circuit, BooleanGraph()
        variables = [*(latch.value for latch in circuit.latches), *circuit.inputs]
        names = [_at(circuit, variable, k) for variable in variables]
        values = {variable: graph.variable(name) for variable, name in zip(variables, names, strict=True)}
        copies = circuit.graph.copy(roots, graph, values)
        terms = Terms(graph, copies)
        self.declared |= {name: None for name in names if name in terms.variables}
        return terms, copies


def _at(circuit: Circuit, variable: Lit, frame: int) -> str:
    return quoted(f"{circuit.graph.name(variable >> 1)}@{frame}")


def _literal(symbol: str, positive: bool) -> str:
    return symbol if positive else f"(not {symbol})"


def _joined(connective: str, terms: Sequence[str]) -> str:
    return terms[0] if len(terms) == 1 else f"({connective} {' '.join(terms)})"
