"""Systems as one sequential circuit, and what remains of it within a bound.

It is the base of AIGER, BTOR2 and SMT-LIB.

Control states and bits are latches; choices and one line for each edge are inputs. In each step the first
edge whose line is high, whose source is where control is and whose guard holds, is taken; if there is none
the state stays as it is. Several systems stand side by side and do not touch each other. ``bad`` is high
where one of them is in a bad state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symdipa.evidence.exports.labels import labels, prefixes
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.systems.boolean import FALSE, TRUE, BooleanGraph, Lit, constant
from symdipa.systems.system import System


@dataclass(frozen=True, slots=True)
class Latch:
    """A variable of the graph that has the value of ``following`` one step later."""

    value: Lit
    following: Lit
    initially: bool


@dataclass(frozen=True, eq=False)
class Circuit:
    """Inputs and latches are variables of ``graph``, with names that are all different."""

    graph: BooleanGraph
    inputs: tuple[Lit, ...]
    latches: tuple[Latch, ...]
    bad: Lit

    @property
    def roots(self) -> list[Lit]:
        """What has to be computed in a step: whether it is bad, and what the latches have after it."""
        return [self.bad, *(latch.following for latch in self.latches)]

    def names(self) -> list[str]:
        """Those of the inputs, then those of the latches."""
        return [self.graph.name(lit >> 1) for lit in (*self.inputs, *(latch.value for latch in self.latches))]


def circuit_of(systems: Sequence[System], limits: Limits = UNLIMITED) -> Circuit:
    """The circuit that can get bad iff one of the systems can. Raises ``LimitReached``."""
    graph = BooleanGraph()
    inputs: list[Lit] = []
    latches: list[Latch] = []
    bad = FALSE
    for system, prefix in zip(systems, prefixes(systems), strict=True):
        bad = graph.disj(bad, _add(system, prefix, graph, inputs, latches, limits))
    return Circuit(graph, tuple(inputs), tuple(latches), bad)


def _add(
    system: System,
    prefix: str,
    graph: BooleanGraph,
    inputs: list[Lit],
    latches: list[Latch],
    limits: Limits,
) -> Lit:
    """Add one system to the inputs and latches; where it is bad."""
    names, start = labels(system, prefix), system.control.initial
    location = {q: graph.variable(names.locations[q]) for q in system.places}
    value = {literal: graph.variable(name) for literal, name in names.of.items()}
    lines = [graph.variable(name) for name in names.edges]
    following: dict[Lit, list[Lit]] = {latch: [] for latch in location.values()}
    following |= {value[bit]: [] for bit in system.bits}
    idle = TRUE
    for edge, line in zip(system.edges, lines, strict=True):
        limits.check("the circuit of the query")
        new = [edge.update.get(bit, bit) for bit in system.bits]
        guard, *new = system.graph.copy([edge.guard, *new], graph, value)
        taken = graph.all([idle, line, location[edge.source], guard])
        idle = graph.conj(idle, taken ^ 1)
        following[location[edge.target]].append(taken)
        for bit, literal in zip(system.bits, new, strict=True):
            following[value[bit]].append(graph.conj(taken, literal))
    for latch, cases in following.items():
        stays = graph.conj(idle, latch)
        latches.append(Latch(latch, graph.disj(graph.any(cases), stays), latch == location[start]))
    inputs += [*(value[choice] for choice in system.choices), *lines]
    bad = {q: condition for q, condition in system.bad.items() if q in location}
    conditions = system.graph.copy(bad.values(), graph, value)
    return graph.any(graph.conj(location[q], c) for q, c in zip(bad, conditions, strict=True))


def unrolled(circuit: Circuit, bound: int, limits: Limits = UNLIMITED) -> Circuit:
    """A circuit without latches that is bad iff the given one can get bad within ``bound`` steps.

    Its inputs are those of the steps one after another: ``choose(x)@3`` is that of the fourth.
    Raises ``LimitReached``.
    """
    graph, before = BooleanGraph(), circuit.graph
    inputs: list[Lit] = []
    state = {latch.value: constant(latch.initially) for latch in circuit.latches}
    bad = FALSE
    for k in range(bound + 1):
        limits.check(f"step {k} of the query")
        given = {i: graph.variable(f"{before.name(i >> 1)}@{k}") for i in circuit.inputs}
        values = {**state, **given}
        here, *after = before.copy(circuit.roots, graph, values)
        bad = graph.disj(bad, here)
        state = {latch.value: new for latch, new in zip(circuit.latches, after, strict=True)}
        inputs += given.values()
    needed = set(graph.cone([bad]))
    return Circuit(graph, tuple(i for i in inputs if i >> 1 in needed), (), bad)
