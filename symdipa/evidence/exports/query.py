"""Queries as files: the symbolic question about one pattern, so that another program can answer it.

``smtlib`` is a circuit unrolled up to a bound. ``chc``, ``aiger`` and ``btor2`` are whole transition systems;
the last two can be unrolled as well. One file answers one pattern, even where several systems look for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from symdipa.encodings.catalogue import systems
from symdipa.evidence.exports.aiger import to_aiger, to_ascii_aiger
from symdipa.evidence.exports.btor2 import to_btor2
from symdipa.evidence.exports.chc import to_chc
from symdipa.evidence.exports.circuit import Circuit, circuit_of, unrolled
from symdipa.evidence.exports.labels import labels, legend, prefixes, printable
from symdipa.evidence.exports.smtlib import to_smtlib
from symdipa.model.automaton import Automaton, validated
from symdipa.model.errors import EncodingUnavailable
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.options import ENCODINGS, QUERY_FORMATS, patterns_of
from symdipa.model.patterns import Pattern
from symdipa.model.spelling import counted
from symdipa.runs.control import control_graph
from symdipa.runs.control.chains import End, chains_of
from symdipa.runs.dataflow import OrderFacts, may_have_chain, order_facts
from symdipa.systems.system import System

ENDS = {
    End.REPEATED: "an input that a cycle repeats",
    End.FIXED: "a known or shown number",
    End.RIGID: "an input whose noise allows no such shift",
}
ANSWERS = {
    "smtlib": "sat: such a run exists. unsat: none within the bound.",
    "chc": "unsat: such a run exists. sat: there is none.",
    "aiger": "The output can get high: such a run exists. It cannot: there is none{}.",
    "btor2": "The bad state is reachable: such a run exists. It is not: there is none{}.",
}


def encode(
    automaton: Automaton,
    pattern: Pattern | str,
    bound: int | None = None,
    encoding: str = "marks",
    fmt: str = "smtlib",
    *,
    reduce: bool = False,
    limits: Limits = UNLIMITED,
) -> str:
    """A self-contained query: does a run (of at most ``bound`` steps) show ``pattern`` (also by its code)?

    AIGER comes in its ASCII form; :func:`encode_binary` writes the other one. ``reduce`` leaves out what the
    dataflow shows to be constant; without it the query relies on nothing but the definitions. Raises
    :class:`EncodingUnavailable` for an unknown format or encoding, for ``smtlib`` without a bound and ``chc``
    with one, ``ValueError`` for a negative bound, :class:`~symdipa.model.errors.LimitReached`.
    """
    (pattern,) = patterns_of([pattern])
    query = _Query(automaton, pattern, bound, encoding, reduce, limits)
    if fmt not in QUERY_FORMATS:
        raise EncodingUnavailable(f"no format {fmt!r}; there are {', '.join(QUERY_FORMATS)}")
    if fmt == "smtlib" and bound is None:
        raise EncodingUnavailable("smtlib needs a bound; chc, aiger and btor2 ask without one")
    if fmt == "chc" and bound is not None:
        raise EncodingUnavailable("chc asks about runs of any length; smtlib, aiger and btor2 take a bound")
    comments = query.comments(fmt)
    if fmt == "smtlib" and bound is not None:
        return to_smtlib(circuit_of(query.systems, limits), bound, comments, limits)
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
    limits: Limits = UNLIMITED,
) -> bytes:
    """The query of :func:`encode` as ``aiger``, in AIGER's binary form."""
    query = _Query(automaton, pattern, bound, encoding, reduce, limits)
    return to_aiger(query.circuit(), query.comments("aiger"))


@dataclass(frozen=True)
class _Query:
    """One question in any format."""

    automaton: Automaton
    pattern: Pattern
    bound: int | None
    encoding: str
    reduce: bool
    limits: Limits

    def __post_init__(self) -> None:
        validated(self.automaton)
        if self.encoding not in ENCODINGS:
            raise EncodingUnavailable(f"no encoding {self.encoding!r}; there are {', '.join(ENCODINGS)}")
        if self.bound is not None and self.bound < 0:
            raise ValueError("the bound must not be negative")

    @cached_property
    def facts(self) -> OrderFacts:
        return order_facts(control_graph(self.automaton), precise=self.reduce, limits=self.limits)

    @cached_property
    def systems(self) -> list[System]:
        return systems(self.pattern, self.facts, self.encoding, self.limits)

    def circuit(self) -> Circuit:
        circuit = circuit_of(self.systems, self.limits)
        return circuit if self.bound is None else unrolled(circuit, self.bound, self.limits)

    def comments(self, fmt: str) -> list[str]:
        """What is asked, what the answers mean, and what the names mean."""
        from symdipa import __version__

        name = f" of {printable(self.automaton.name)}" if self.automaton.name else ""
        steps = "any number of steps" if self.bound is None else f"at most {counted(self.bound, 'step')}"
        asked = f"symdipa {__version__}: {self.pattern.title}{name}, {steps}, encoding {self.encoding}"
        lines = [
            asked + (", constants of the dataflow left out" if self.reduce else ""),
            ANSWERS[fmt].format("" if self.bound is None else " within the bound"),
        ]
        if not self.systems:
            lines.append("Nothing is asked: no run can show it, by the control graph alone.")
        elif self.pattern is Pattern.PRIVACY_VIOLATING_PATH and not self.facts.control.is_plain:
            lines += self._chains()
        elif len(self.systems) > 1:  # the two directions of a violating path
            lines.append("Side by side: 0: the low end of the chain is output. 1: the high end is output.")
        names = [name for system in self.systems for name in labels(system).all]
        return [*lines, *legend(self.automaton, self.facts.control, names)]

    def _chains(self) -> Iterator[str]:
        """What the ends of the chains of the systems are."""
        every = chains_of(self.pattern, self.facts.control)
        chains = [chain for chain in every if may_have_chain(self.facts, chain, self.limits)]
        for prefix, chain in zip(prefixes(self.systems), chains, strict=True):
            low, high = ENDS[chain.low_end], ENDS[chain.high_end]
            yield f"{prefix or 'Chain:'} the low end is {low}, the high end {high}."
