"""Queries as files: the symbolic question about one pattern, so that another program can answer it.

``smtlib`` unrolls a system up to a bound, with a Boolean symbol for each control state, bit, choice and edge
of each frame (``loc(q3)@2``, ``lt(x,y)@2``, ...), as a formula of pySMT. ``chc``, ``aiger`` and ``btor2`` are
whole transition systems (:mod:`symdipa.evidence.exports.chc`, :mod:`symdipa.evidence.exports.aiger`,
:mod:`symdipa.evidence.exports.btor2`); the last two can be unrolled as well. One file answers one pattern,
also where several systems look for it.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from symdipa.encodings.catalogue import systems
from symdipa.evidence.exports.aiger import to_aiger, to_ascii_aiger
from symdipa.evidence.exports.btor2 import to_btor2
from symdipa.evidence.exports.chc import to_chc
from symdipa.evidence.exports.circuit import Circuit, circuit_of, unrolled
from symdipa.evidence.exports.labels import labels, legend, prefixes, printable
from symdipa.model.automaton import Automaton
from symdipa.model.errors import EncodingUnavailable
from symdipa.model.options import ENCODINGS, QUERY_FORMATS
from symdipa.model.patterns import Pattern
from symdipa.model.validation import validated
from symdipa.runs.control import control_graph
from symdipa.runs.dataflow import order_facts
from symdipa.systems.boolean import Lit
from symdipa.systems.system import System

ANSWERS = {
    "smtlib": "sat: such a run exists. unsat: none within the bound.",
    "chc": "unsat: such a run exists. sat: there is none.",
    "aiger": "The output can get high: such a run exists. It cannot: there is none{}.",
    "btor2": "The bad state is reachable: such a run exists. It is not: there is none{}.",
}


def encode(
    automaton: Automaton,
    pattern: Pattern,
    bound: int | None = None,
    encoding: str = "marks",
    fmt: str = "smtlib",
    *,
    reduce: bool = False,
) -> str:
    """A self-contained query: does a run (of at most ``bound`` steps) show ``pattern``?

    AIGER comes in its ASCII form; :func:`encode_binary` writes the other one. ``reduce`` leaves out what the
    dataflow shows to be constant; without it the query relies on nothing but the definitions. Raises
    :class:`EncodingUnavailable` for an unknown format or encoding, for ``smtlib`` without a bound and ``chc``
    with one, ``ValueError`` for a negative bound.
    """
    query = _Query(automaton, pattern, bound, encoding, reduce)
    if fmt not in QUERY_FORMATS:
        raise EncodingUnavailable(f"no format {fmt!r}; there are {', '.join(QUERY_FORMATS)}")
    if fmt == "smtlib" and bound is None:
        raise EncodingUnavailable("smtlib needs a bound; chc, aiger and btor2 ask without one")
    if fmt == "chc" and bound is not None:
        raise EncodingUnavailable("chc asks about runs of any length; smtlib, aiger and btor2 take a bound")
    comments = query.comments(fmt)
    if fmt == "smtlib":
        return _smtlib(query.formula(), comments)
    if fmt == "chc":
        return to_chc(query.systems, comments)
    write = to_btor2 if fmt == "btor2" else to_ascii_aiger
    return write(query.circuit(), comments)


def encode_binary(
    automaton: Automaton,
    pattern: Pattern,
    bound: int | None = None,
    encoding: str = "marks",
    *,
    reduce: bool = False,
) -> bytes:
    """The query of :func:`encode` as ``aiger``, in AIGER's binary form."""
    query = _Query(automaton, pattern, bound, encoding, reduce)
    return to_aiger(query.circuit(), query.comments("aiger"))


def bounded_formula(
    automaton: Automaton, pattern: Pattern, bound: int, encoding: str = "marks", *, reduce: bool = False
) -> list[Any]:
    """The query of :func:`encode` as pySMT formulas, to be taken together."""
    return _Query(automaton, pattern, bound, encoding, reduce).formula()


@dataclass(frozen=True)
class _Query:
    """One question in any format."""

    automaton: Automaton
    pattern: Pattern
    bound: int | None
    encoding: str
    reduce: bool

    def __post_init__(self) -> None:
        validated(self.automaton)
        if self.encoding not in ENCODINGS:
            raise EncodingUnavailable(f"no encoding {self.encoding!r}; there are {', '.join(ENCODINGS)}")
        if self.bound is not None and self.bound < 0:
            raise ValueError("the bound must not be negative")

    @cached_property
    def systems(self) -> list[System]:
        control = control_graph(self.automaton)
        return systems(self.pattern, control, order_facts(control, precise=self.reduce), self.encoding)

    def circuit(self) -> Circuit:
        circuit = circuit_of(self.systems)
        return circuit if self.bound is None else unrolled(circuit, self.bound)

    def formula(self) -> list[Any]:
        from pysmt.shortcuts import Or

        assert self.bound is not None
        paths: list[Any] = []
        ends: list[Any] = []
        for system, prefix in zip(self.systems, prefixes(self.systems), strict=True):
            path = _BoundedPath(system, self.bound, prefix)
            paths += path.path()
            ends += path.ends()
        return [*paths, Or(ends)]

    def comments(self, fmt: str) -> list[str]:
        """What is asked, what the answers mean, and what the names mean."""
        from symdipa import __version__

        name = f" of {printable(self.automaton.name)}" if self.automaton.name else ""
        steps = "any number of steps" if self.bound is None else f"at most {self.bound} steps"
        asked = f"symdipa {__version__}: {self.pattern.title}{name}, {steps}, encoding {self.encoding}"
        lines = [
            asked + (", constants of the dataflow left out" if self.reduce else ""),
            ANSWERS[fmt].format("" if self.bound is None else " within the bound"),
        ]
        if not self.systems:
            lines.append("Nothing is asked: no run can show it, by the control graph alone.")
        elif len(self.systems) > 1:  # the two directions of a violating path
            lines.append("Side by side: 0: the low end of the chain is output. 1: the high end is output.")
        names = [name for system in self.systems for name in labels(system).all]
        return [*lines, *legend(self.automaton, names)]


class _BoundedPath:
    """Unrolls one system into a pySMT formula; the path may end at any frame up to the bound."""

    def __init__(self, system: System, bound: int, prefix: str) -> None:
        self.system = system
        self.bound = bound
        self.prefix = prefix
        self.names = labels(system)

    def _symbol(self, name: str, frame: int) -> Any:
        from pysmt.shortcuts import Symbol

        return Symbol(f"{self.prefix}{name}@{frame}")

    def path(self) -> list[Any]:
        """A path from the initial state; ``step@k`` says that it goes on after frame ``k``."""
        parts = [self._initial()]
        for k in range(self.bound):
            further = self._symbol("step", k)
            parts += [further.Implies(part) for part in self._step(k)]
            if k:
                parts.append(further.Implies(self._symbol("step", k - 1)))
        return parts

    def ends(self) -> list[Any]:
        """The ways in which some frame of the path may be bad."""
        from pysmt.shortcuts import And

        later = [And(self._symbol("step", k), self._bad(k + 1)) for k in range(self.bound)]
        return [self._bad(0), *later]

    def _initial(self) -> Any:
        from pysmt.shortcuts import And, Not

        bits = [Not(self._bit(bit, 0)) for bit in self.system.bits]
        here = self.system.control.initial
        places = [
            self._location(q, 0) if q == here else Not(self._location(q, 0))
            for q in range(self.system.control.states)
        ]
        return And([*places, *bits])

    def _location(self, q: int, k: int) -> Any:
        return self._symbol(self.names.locations[q], k)

    def _bit(self, bit: Lit, k: int) -> Any:
        return self._symbol(self.names.of[bit], k)

    def _bad(self, k: int) -> Any:
        from pysmt.shortcuts import And, Or

        values = self._values(self.system.bad.values(), k)
        return Or([And(self._location(q, k), values(condition)) for q, condition in self.system.bad.items()])

    def _values(self, roots: Iterable[Lit], k: int) -> Any:
        """A function from literals of the graph to formulas over frame ``k``."""
        from pysmt.shortcuts import FALSE, And, Not

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
        from pysmt.shortcuts import And, ExactlyOne, Iff, Not

        system = self.system
        roots = [lit for edge in system.edges for lit in (edge.guard, *edge.update.values())]
        values = self._values([*roots, *system.bits], k)
        taken = [self._symbol(name, k) for name in self.names.edges]
        parts = [ExactlyOne(taken)]
        for edge, take in zip(system.edges, taken, strict=True):
            updates: Mapping[Lit, Lit] = edge.update
            places = [
                self._location(q, k + 1) if q == edge.target else Not(self._location(q, k + 1))
                for q in range(system.control.states)
            ]
            bits = [Iff(self._bit(bit, k + 1), values(updates.get(bit, bit))) for bit in system.bits]
            parts.append(
                take.Implies(And([self._location(edge.source, k), values(edge.guard), *places, *bits]))
            )
        return parts


def _smtlib(conjuncts: list[Any], header: list[str]) -> str:
    from pysmt.logics import QF_UF
    from pysmt.smtlib import commands
    from pysmt.smtlib.script import SmtLibScript

    out = io.StringIO()
    for line in header:
        out.write(f"; {line}\n")
    script = SmtLibScript()
    script.add(commands.SET_LOGIC, [QF_UF])
    symbols = {symbol.symbol_name(): symbol for part in conjuncts for symbol in part.get_free_variables()}
    for name in sorted(symbols):
        script.add(commands.DECLARE_FUN, [symbols[name]])
    for part in conjuncts:
        script.add(commands.ASSERT, [part])
    script.add(commands.CHECK_SAT, [])
    script.serialize(out, daggify=True)
    return out.getvalue()
