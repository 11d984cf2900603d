"""Bounded queries as files: the symbolic question in SMT-LIB 2, so that another solver can answer it.

The formula is built in pySMT, with a Boolean symbol for each control state, bit, choice and edge of each
frame (``loc(q3)@2``, ``lt(x,y)@2``, ...). It is satisfiable iff some run of at most ``bound`` monitored
steps shows the pattern.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any

from symdipa.automaton import Automaton
from symdipa.boolean import Lit
from symdipa.control import control_of
from symdipa.dataflow import order_facts
from symdipa.encodings.catalogue import ENCODINGS, systems
from symdipa.errors import EncodingUnavailable
from symdipa.patterns import Pattern
from symdipa.system import System

FORMATS = ("smtlib",)


def encode(
    automaton: Automaton,
    pattern: Pattern,
    bound: int,
    encoding: str = "marks",
    fmt: str = "smtlib",
    *,
    reduce: bool = False,
) -> str:
    """A self-contained query: does a run of at most ``bound`` steps show ``pattern``?

    ``reduce`` leaves out what the dataflow shows to be constant; without it the query relies on nothing
    but the definitions. Raises :class:`EncodingUnavailable` for an unknown format or encoding,
    ``ValueError`` for a negative bound.
    """
    if fmt not in FORMATS:
        raise EncodingUnavailable(f"no format {fmt!r}; there are {', '.join(FORMATS)}")
    if encoding not in ENCODINGS:
        raise EncodingUnavailable(f"no encoding {encoding!r}; there are {', '.join(ENCODINGS)}")
    if bound < 0:
        raise ValueError("the bound must not be negative")
    conjuncts = bounded_formula(automaton, pattern, bound, encoding, reduce=reduce)
    return _smtlib(conjuncts, _header(automaton, pattern, bound, encoding, reduce))


def bounded_formula(
    automaton: Automaton, pattern: Pattern, bound: int, encoding: str = "marks", *, reduce: bool = False
) -> list[Any]:
    """The query of :func:`encode` as pySMT formulas, to be taken together."""
    from pysmt.shortcuts import Or

    control = control_of(automaton)
    facts = order_facts(control, precise=reduce)
    found = systems(pattern, control, facts, encoding)
    prefixes = [f"{i}:" for i in range(len(found))] if len(found) > 1 else [""]
    paths: list[Any] = []
    ends: list[Any] = []
    for system, prefix in zip(found, prefixes, strict=False):
        query = _BoundedQuery(system, bound, prefix)
        paths += query.path()
        ends += query.ends()
    return [*paths, Or(ends)]


class _BoundedQuery:
    """Unrolls one system into a pySMT formula; the path may end at any frame up to the bound."""

    def __init__(self, system: System, bound: int, prefix: str) -> None:
        self.system = system
        self.bound = bound
        self.prefix = prefix
        states = system.control.state_names
        names = _distinct(
            [f"loc({state})" for state in states]
            + [system.graph.name(literal >> 1) for literal in (*system.bits, *system.choices)]
        )
        self.location_names = names[: len(states)]
        self.names = dict(zip((*system.bits, *system.choices), names[len(states) :], strict=True))

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
        return self._symbol(self.location_names[q], k)

    def _bit(self, bit: Lit, k: int) -> Any:
        return self._symbol(self.names[bit], k)

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
        taken = [self._symbol(f"take({n})", k) for n in range(len(system.edges))]
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


def _distinct(names: list[str]) -> list[str]:
    """The names without what SMT-LIB cannot quote, and with primes where two would be the same."""
    taken: set[str] = set()
    result = []
    for name in names:
        name = _printable(name).replace("|", "!").replace("\\", "/")
        while name in taken:
            name += "'"
        taken.add(name)
        result.append(name)
    return result


def _printable(name: str) -> str:
    """A name fit for one line of a text: control characters and line breaks become question marks."""
    return "".join(c if c.isprintable() else "?" for c in name)


def _header(automaton: Automaton, pattern: Pattern, bound: int, encoding: str, reduce: bool) -> list[str]:
    from symdipa import __version__

    name = f" of {_printable(automaton.name)}" if automaton.name else ""
    return [
        f"symdipa {__version__}: {pattern.title}{name}, at most {bound} steps, encoding {encoding}"
        + (", constants of the dataflow left out" if reduce else ""),
        "sat: such a run exists. unsat: none within the bound.",
    ]


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
