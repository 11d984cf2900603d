"""What all of the evidence has in common: it is about valid automata only."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symdipa.evidence import certificates
from symdipa.evidence.confirmation import confirm
from symdipa.evidence.exports.query import encode, encode_binary
from symdipa.evidence.probability import log_probability, total_log_probability
from symdipa.evidence.refutation import refute
from symdipa.evidence.simulation import simulate
from symdipa.model.automaton import Automaton, Guard, Output, OutputKind, State, Transition
from symdipa.model.errors import InvalidInput
from symdipa.model.options import QUERY_FORMATS
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Witness

PAIR = Pattern.LEAKING_PAIR
WITNESS = Witness(PAIR, (0, 1, 2), ((1, 2),))

ASK = {
    "log_probability": lambda a: log_probability(a, [0], [None]),
    "total_log_probability": lambda a: total_log_probability(a, [0], ["a", "b"]),
    "simulate": lambda a: simulate(a, [0, 1], n=10),
    "refute": lambda a: refute(a, WITNESS),
    "confirm": confirm,
    "bundle": lambda a: certificates.bundle(a, []),
    "verify": lambda a: certificates.verify(a, "{}"),
    "obligations": lambda a: certificates.obligations(a, {}),
    "encode_binary": lambda a: encode_binary(a, PAIR),
    **{f"encode {fmt}": lambda a, fmt=fmt: encode(a, PAIR, fmt=fmt) for fmt in QUERY_FORMATS},
}
"""Every public function that takes an automaton, on an automaton."""


def nondeterministic() -> Automaton:
    states = (State("s", False, Fraction(1, 4)), State("q", True, Fraction(1, 2)), State("e"))
    shown = [Output(OutputKind.SYMBOL, letter) for letter in "abc"]
    transitions = (
        Transition("s", "q", shown[0], assign=frozenset({"t"})),
        Transition("q", "q", shown[1]),
        Transition("q", "e", shown[2], Guard(ge=frozenset({"t"}))),
    )
    return Automaton(states, "s", transitions, ("t",))


@pytest.mark.parametrize("ask", ASK.values(), ids=ASK)
def test_no_evidence_about_an_automaton_that_breaks_the_rules(ask):
    with pytest.raises(InvalidInput, match="determinism"):
        ask(nondeterministic())
    with pytest.raises(TypeError, match=r"symdipa\.load"):
        ask("svt.dipa")
