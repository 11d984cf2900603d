"""Certificates that an automaton is well-formed: an inductive invariant of every system, and its obligations.

A system (docs/engines.md) walks along the control states with some Boolean bits; the automaton shows a
pattern iff one of the pattern's systems reaches a bad state. The systems here are built without the dataflow
analysis, so they rely on the definitions alone. An invariant gives for each control state conjunctions of
literals that no reachable state satisfies. What has to be shown is written in SMT-LIB, for any solver:

* *initially*: the claim of the initial state holds with all bits false;
* *preserved*: for every edge, a state that satisfies the claim before it satisfies the claim after it;
* *safe*: no state that satisfies the claim is bad.

The claim is the conjunction of the negated conjunctions and of the axioms of the system, all of them: nothing
about the bits is taken for granted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from symdipa.checker import Claim, Verified
from symdipa.checker import verify as check
from symdipa.checker.reading import items, members, table, text
from symdipa.checker.rules import refuse
from symdipa.encodings.catalogue import systems
from symdipa.evidence.certificates.build import Json
from symdipa.evidence.exports.labels import labels
from symdipa.evidence.exports.terms import Terms, variables_at
from symdipa.model.automaton import Automaton, validated
from symdipa.model.errors import Limit, LimitReached, NothingToCertify
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.options import ENCODINGS
from symdipa.model.patterns import Pattern
from symdipa.runs.control import Control, control_graph
from symdipa.runs.dataflow import order_facts
from symdipa.systems.boolean import FALSE, BooleanGraph, Lit
from symdipa.systems.system import Edge, System

Blocked = Mapping[int, tuple[frozenset[Lit], ...]]

SECOND_SOLVER = "cvc5"

NOT_PLAIN = "that no pattern occurs is no proof for an automaton that is not one of the paper's"
"""Why there is no invariant of others."""


@dataclass(frozen=True, slots=True)
class InvariantObligation:
    """A script whose one ``check-sat`` must answer ``unsat``; ``name`` says what it asks."""

    name: str
    script: str


# Making them


def well_formed(
    control: Control, encoding: str = "marks", limits: Limits = UNLIMITED, solver: str = "minisat"
) -> Json:
    """Find invariants by PDR and write them down.

    Raises :class:`NothingToCertify` if a pattern occurs, or that is not the question, and
    :class:`LimitReached` if it was not decided.
    """
    from symdipa.engines.bounded import Outcome
    from symdipa.engines.pdr import PDR

    if not control.is_plain:
        raise NothingToCertify(NOT_PLAIN)
    found: dict[str, list[Json]] = {}
    for pattern in Pattern:
        found[pattern.key] = []
        for system in _systems(control, pattern, encoding):
            search = PDR(system, limits, solver).run()
            if search.outcome is Outcome.UNSAFE:
                raise NothingToCertify(f"the automaton has a {pattern.title}")
            if search.invariant is None:
                raise LimitReached(Limit.DEPTH, search.reason or "no invariant was found")
            found[pattern.key].append(_written(system, search.invariant.blocked))
    return {"kind": "well-formed", "encoding": encoding, "patterns": found}


def _systems(control: Control, pattern: Pattern, encoding: str) -> list[System]:
    return systems(pattern, order_facts(control, precise=False), encoding)


def _names(system: System) -> list[str]:
    return [system.graph.name(bit >> 1) for bit in system.bits]


def _written(system: System, blocked: Blocked) -> Json:
    """Literals as in DIMACS: bit number from 1 on, negative if it is false."""
    number = {bit: i for i, bit in enumerate(system.bits, 1)}
    names = system.control.state_names
    return {
        "bits": _names(system),
        "blocked": {
            names[q]: sorted(
                sorted(number[lit & ~1] * (-1 if lit & 1 else 1) for lit in cube) for cube in cubes
            )
            for q, cubes in sorted(blocked.items())
            if cubes
        },
    }


# Verifying them


def verify(
    automaton: Automaton,
    certificate: str | bytes | Json,
    solver: str = SECOND_SOLVER,
    limits: Limits = UNLIMITED,
) -> Verified:
    """As :func:`symdipa.checker.verify`, with certificates of kind ``well-formed`` discharged by a solver.

    ``solver`` is ``cvc5`` or ``z3``, whichever did not find the invariant. Raises :class:`LimitReached` when
    the time is over or the solver gives up.
    """
    validated(automaton)
    return check(automaton, certificate, {"well-formed": partial(_discharge, solver=solver, limits=limits)})


def obligations(
    automaton: Automaton, certificate: Json, where: str = "the certificate"
) -> Iterator[InvariantObligation]:
    """What a ``well-formed`` certificate leaves to show, for this automaton.

    Raises :class:`InvalidInput` for an automaton that breaks the rules, and while they are asked for
    :class:`CertificateRefused` for a certificate that is not one of this automaton.
    """
    invariants = _invariants(control_graph(automaton), certificate, where)
    return chain.from_iterable(_Script(*invariant).obligations() for invariant in invariants)


def _discharge(automaton: Automaton, certificate: Json, where: str, solver: str, limits: Limits) -> Claim:
    for obligation in obligations(automaton, certificate, where):
        if _satisfiable(obligation.script, solver, limits):
            refuse("invariant-holds", f"{where}: {obligation.name} does not hold")
    return Claim("well-formed")


def _invariants(control: Control, certificate: Json, where: str) -> Iterator[tuple[Pattern, System, Blocked]]:
    members(certificate, where, ["kind", "encoding", "patterns"])
    encoding = text(certificate["encoding"], f"{where}.encoding")
    if encoding not in ENCODINGS:
        refuse("invariant-shape", f"{where} has an unknown encoding")
    parts = members(certificate["patterns"], f"{where}.patterns", [pattern.key for pattern in Pattern])
    for pattern in Pattern:
        at = f"{where}.patterns.{pattern.key}"
        wanted = _systems(control, pattern, encoding)
        for system, given in zip(wanted, items(parts[pattern.key], at, len(wanted)), strict=True):
            yield pattern, system, _read(system, given, at)


def _read(system: System, value: object, where: str) -> Blocked:
    parts = members(value, where, ["bits", "blocked"])
    if parts["bits"] != _names(system):
        refuse("invariant-shape", f"{where} is about other bits than the encoding has")
    number = {name: q for q, name in enumerate(system.control.state_names)}
    blocked = {}
    for name, cubes in table(parts["blocked"], f"{where}.blocked").items():
        if name not in number:
            refuse("invariant-shape", f"{where} speaks of a state that does not exist")
        q = number[name]
        blocked[q] = tuple(_cube(system, q, cube, where) for cube in items(cubes, f"{where}.blocked"))
    return blocked


def _cube(system: System, q: int, value: object, where: str) -> frozenset[Lit]:
    cube = set()
    for literal in items(value, where):
        if type(literal) is not int or not 0 < abs(literal) <= len(system.bits):
            refuse("invariant-shape", f"{where} has a literal of no bit")
        bit = system.bits[abs(literal) - 1]
        if bit not in system.open_bits[q]:
            refuse("invariant-shape", f"{where} speaks of bits that a control state does not have")
        cube.add(bit if literal > 0 else bit ^ 1)
    return frozenset(cube)


class _Script:
    """The obligations of one invariant in SMT-LIB; names are those of exported queries."""

    def __init__(self, pattern: Pattern, system: System, blocked: Blocked) -> None:
        self.pattern, self.system, self.blocked = pattern, system, blocked
        self.states, self.names = system.control.state_names, labels(system)
        self.claims: dict[int, list[Lit]] = {}

    def claim(self, q: int) -> list[Lit]:
        """Literals of the graph that hold in all reachable states at ``q``, it is claimed."""
        if q not in self.claims:
            graph = self.system.graph
            cubes = [graph.all(cube) ^ 1 for cube in self.blocked.get(q, ())]
            self.claims[q] = [*self.system.axioms(q), *cubes]
        return self.claims[q]

    def obligations(self) -> Iterator[InvariantObligation]:
        system = self.system
        reached = set(system.places)
        what = f"{self.pattern.title}, {system.encoding}:"
        yield InvariantObligation(f"{what} initially", self.initially())
        for edge in system.edges:
            if edge.source in reached:
                yield InvariantObligation(
                    f"{what} preserved by transition {edge.transition} from {self.states[edge.source]}",
                    self.preserved(edge),
                )
        for q in sorted(system.bad.keys() & reached):
            yield InvariantObligation(f"{what} safe in {self.states[q]}", self.safe(q))

    def initially(self) -> str:
        graph, values = variables_at(self.system, self.names, ())
        claim = self.claim(self.system.control.initial)
        return _script(graph, [], self.system.graph.copy(claim, graph, values))

    def safe(self, q: int) -> str:
        graph, values = variables_at(self.system, self.names, self.system.open_bits[q])
        return _script(graph, self.system.graph.copy([*self.claim(q), self.system.bad[q]], graph, values))

    def preserved(self, edge: Edge) -> str:
        """The claim after the edge is about the values that the update gives to the bits."""
        graph, values = variables_at(self.system, self.names, self.system.open_bits[edge.source])
        copy, opened = self.system.graph.copy, self.system.open_bits[edge.target]
        before = copy([*self.claim(edge.source), edge.guard], graph, values)
        new = copy([edge.update.get(bit, bit) for bit in opened], graph, values)
        after = dict.fromkeys(self.system.bits, FALSE) | dict(zip(opened, new, strict=True))
        return _script(graph, before, copy(self.claim(edge.target), graph, after))


def _script(graph: BooleanGraph, asserted: Sequence[Lit], refuted: Sequence[Lit] | None = None) -> str:
    """Can all the asserted literals hold, and not all the refuted ones?"""
    terms = Terms(graph, [*asserted, *(refuted or ())])
    parts = ["true", *map(terms.text, asserted)]
    if refuted is not None:
        parts.append(f"(not (and true true {' '.join(map(terms.text, refuted))}))")
    whole = f"(and true {' '.join(parts)})"
    lines = [f"(declare-const {name} Bool)" for name in sorted(terms.variables)]
    lines.append(f"(assert {terms.within_lets(whole)})")
    return "\n".join(["(set-logic QF_UF)", *lines, "(check-sat)", ""])


# Solvers that read SMT-LIB


def _satisfiable(script: str, solver: str, limits: Limits) -> bool:
    if solver not in _ASK:
        raise ValueError(f"no solver {solver!r} that reads SMT-LIB; there are {', '.join(_ASK)}")
    limits.check("an obligation of an invariant")
    left = limits.left()
    answer = _ASK[solver](script, None if left is None else max(1, int(1000 * left)))
    if answer not in ("sat", "unsat"):
        raise LimitReached(Limit.SOLVER, f"{solver} answers {answer!r} to an obligation of an invariant")
    return answer == "sat"


def _ask_cvc5(script: str, milliseconds: int | None) -> str:
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager())
    if milliseconds is not None:
        solver.setOption("tlimit-per", str(milliseconds))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "obligation")
    answers = []
    while not (command := parser.nextCommand()).isNull():
        answers.append(command.invoke(solver, parser.getSymbolManager()).strip())
    return " ".join(filter(None, answers))


def _ask_z3(script: str, milliseconds: int | None) -> str:
    import z3

    solver = z3.SolverFor("QF_FD")
    if milliseconds is not None:
        solver.set("timeout", milliseconds)
    solver.from_string(script)
    return str(solver.check())


_ASK: dict[str, Callable[[str, int | None], str]] = {"cvc5": _ask_cvc5, "z3": _ask_z3}
