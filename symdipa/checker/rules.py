"""The rules by name (docs/certificates.md explains each), and refusal by the first that is broken."""

from __future__ import annotations

from typing import NoReturn

from symdipa.model.errors import SymdipaError

RULES: dict[str, str] = {
    # the file
    "json": "the text is JSON, each key once, all numbers integers, not nested deeply",
    "shape": "every part has the type and the keys that the format asks for",
    "format": "format and version are known",
    "kind": "the kind of certificate is known and can be checked without a solver",
    "rational": 'rationals are texts like "5/4" with a bounded number of digits',
    "limit": "numbers and walks stay within the checker's limits",
    "automaton": "the certificate was made for this automaton",
    # the automaton
    "model-name": "states are listed once and every name that is used exists",
    "model-guard": "no guard asks for both sides of one variable",
    "model-determinism": "two transitions of a state have an opposite atom on some variable",
    "model-non-input": "a non-input state of the paper's automata has at most one transition",
    "model-noise": "noise that matters has a positive parameter",
    "model-initialization": "a variable is stored before it is read",
    "model-assignment": "a transition assigns each variable once, and copies variables and constants only",
    "model-sample": "a step without a sample uses none",
    "model-output": "what is shown are symbols, samples, values, and differences of variables and insample",
    "model-integer": "where samples are integers, means, constants and factors of registers are",
    "model-differ": "which entries differ is said by a text that has a meaning",
    "model-register": "registers are no variables, set once by a step, and get entries that it reads only",
    # claims about D
    "adjacency": "differences range over [L, H] with L <= 0 <= H, the sensitivity is positive",
    "contradiction": "no two claims of a file exclude each other",
    # private
    "base-node": "a base node has a control state and facts about different variables",
    "base-initial": "base node 0 has the initial state and no facts",
    "base-edge": "a base edge is a transition between the states of its nodes, given once",
    "base-fact": "facts of the target follow from those of the source and the transition",
    "base-complete": "a transition without an edge contradicts the facts, and its letters are there",
    "base-differ": "an edge has a letter if an entry is read, and leads where that may go",
    "base-register": "differences of registers follow, and those that a mean needs are known",
    "lift-node": "a lift node lies over a base node, its intervals are about variables and not empty",
    "lift-edge": "a lift edge lies over a base edge, given once",
    "lift-cover": "the lift covers every path of the base",
    "lift-kept": "an interval may only grow while the variable is kept",
    "lift-read": "a variable that a guard reads has an interval",
    "lift-order": "what guards and outputs ask of stored values holds for all their shifts, or by the facts",
    "lift-noise": "without noise the shift is the difference, and with exponential noise at most that",
    "lift-integer": "shifts of integers are integers",
    "lift-sample": "some shift of the sample respects guard, output and what is stored",
    "lift-potential": "potentials are not negative and pay for every edge",
    "private-bound": "the potential of an initial node is at most D",
    # private-in-parts (and the rules of private about bases and lifts, for every part)
    "trunk-initial": "one node of a trunk lies over base node 0",
    "part-variables": "no variable belongs to two parts",
    "part-sample": "what one part asks of a sample is compatible with what any other part asks",
    "part-potential": "every control state has a potential, none is negative, and they pay for transitions",
    # relational
    "machine-state": "a machine state stands for a control state or for having stopped; state 0 is initial",
    "machine-edge": "a machine edge is a way on from its state, given once with its remark",
    "machine-remarks": "every run has one accepted sequence of remarks, and not two",
    "suffix-class": "reading backwards, every sequence of letters that can be shown has one class",
    "suffix-able": "the able states of a class are all that can show its sequences",
    "suffix-sure": "the sure states of a class show its sequences whatever the samples are",
    "pair-node": "a node has machine states of both copies, a class, and facts about values that they hold",
    "pair-move": "a node has one move for each letter and each class of the rest",
    "pair-shift": "both samples may be tied, and the range of shifts is not empty",
    "pair-output": "the second copy shows what the first one shows",
    "pair-fact": "after a move some node has the states of both copies, and facts that follow",
    "pair-end": "where the first copy may end the second one may, too",
    "pair-potential": "potentials are not negative and pay for every move",
    "pair-initial": "every class that can be shown has an initial node without facts that costs at most D",
    # runs: lower bounds and violations
    "run-step": "a run is a chain of transitions from the initial state",
    "run-feasible": "the dependency graph of a run has no circle",
    "run-differ": "entries differ in a run as they may, and registers hold something when they are read",
    "run-means": "means around which samples lie closely do not depend on each other",
    "run-cycle": "cycles are parts of the run that lead from a state back to it and do not overlap",
    "cycle-repeats": "after one more round of a cycle the same values are possible",
    "cycle-differ": "after a round of a cycle the same entries may differ, and registers differ by the same",
    "cycle-leaking": "the cycle must not use a variable that it assigns",
    "others": "other runs stand beside one without cycles, and show what it shows",
    "difference": "a difference lies in [L, H] times the sensitivity, and is 0 where no input is read",
    "flow-edge": "flow goes along an edge of the dependency graph or to the ground, given once",
    "flow-amount": "flow is positive",
    "flow-repeated": "only the reader's end may be repeated, and only on a cycle",
    "flow-capacity": "what a sample creates or absorbs is at most d",
    "lower-bound": "the value of the flow is at least D",
    # violations
    "violation-pattern": "the pattern is one of the four, or growth for automata that are not the paper's",
    "violation-growth": "a flow that no capacity limits is worth something",
    "violation-cycles": "there are as many cycles as the pattern has, in the place that it asks for",
    "leaking-cycle": "a leaking cycle assigns a variable that it uses",
    "leaking-rounds": "each round is feasible and the order state repeats",
    "disclosing-output": "an input transition of the cycle outputs a real value",
    "path-edge": "the path follows edges of the dependency graph",
    "path-ends": "the path leaves and enters the cycles, or shown samples, as the pattern asks",
    # invariants, which this checker leaves to others
    "invariant-shape": "the invariant speaks of the bits that the encoding has in a control state",
    "invariant-holds": "a solver finds no state that contradicts an obligation",
}


class CertificateRefused(SymdipaError):
    """A certificate that proves nothing: it breaks ``rule``, one of :data:`RULES`; ``message`` says how."""

    def __init__(self, rule: str, message: str) -> None:
        if rule not in RULES:
            raise AssertionError(f"no rule {rule!r}")
        self.rule, self.message = rule, message
        super().__init__(rule, message)

    def __str__(self) -> str:
        return f"{self.message} [{self.rule}]"


def refuse(rule: str, message: str) -> NoReturn:
    raise CertificateRefused(rule, message)


def shown(value: object) -> str:
    """Something of a certificate in a message, never long."""
    text = repr(value) if isinstance(value, str | int | bool | None) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:40]}... ({len(text)} characters)"
