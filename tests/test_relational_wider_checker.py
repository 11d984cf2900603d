"""The checker of pairs of runs of the wider model: what claims too much breaks a rule.

`benchmarks/mutate_checker.py` runs this file against mutants of the checker.
"""

from __future__ import annotations

import json
import random
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from conftest import ROOT
from linear_examples import HALF, S, absolute, less, made, most, noisy, noisy_max, query, silent, step
from test_relational_wider import EXP, band, gap_max

from symdipa.bounds.relational import relational
from symdipa.checker import CertificateRefused, verify
from symdipa.evidence.certificates import bundle
from symdipa.model.automaton import (
    INSAMPLE_PRIME,
    Automaton,
    Noise,
    State,
    difference,
    several,
    symbol,
    value,
)


def certified(automaton: Automaton) -> dict[str, Any]:
    (certificate,) = relational(automaton, max_nodes=2_000).certificates
    content: dict[str, Any] = json.loads(json.dumps(certificate))
    return content


def rule_of(automaton: Automaton, certificate: dict[str, Any]) -> str:
    """The rule that the checker refuses the certificate by."""
    with pytest.raises(CertificateRefused) as refused:
        verify(automaton, bundle(automaton, [certificate]))
    return refused.value.rule


def of_constants(integer: bool = False) -> Automaton:
    """Is an entry below 5, then shown? Is it below 3?"""
    return made(
        [query("p", HALF), query("q", HALF), silent("r")],
        step("p", "q", "low", less(S, 5), store="x", integer=integer),
        step("p", "q", "high", most(5, S), store="x", integer=integer),
        step("q", "r", "above", most("x", S), integer=integer),
        step("q", "r", "below", less(S, "x"), integer=integer),
        step("r", "e", several(symbol("it"), value("x"))),
        integer=integer,
    )


def test_certificates_follow_the_schema():
    schema = json.loads((ROOT / "symdipa" / "files" / "formats" / "certificate.schema.json").read_text())
    follows = jsonschema.Draft202012Validator(schema).is_valid
    for automaton in (of_constants(), gap_max(2)):
        assert follows(json.loads(json.dumps(bundle(automaton, [certified(automaton)]))))


def moves_of(certificate: dict[str, Any]) -> list[dict[str, Any]]:
    return [move for node in certificate["nodes"] for move in node["moves"]]


def test_exponential_samples_are_not_shifted_below_their_difference():
    automaton = noisy_max(3, noise=EXP)
    certificate = certified(automaton)
    tied = [move for move in moves_of(certificate) if move["shift"] is not None]
    for shift in (["-1", "0"], ["0", "0"], ["-1", "-1"], ["-1", "999/1000"]):
        for move in tied:
            broken = deepcopy(certificate)
            moves_of(broken)[moves_of(certificate).index(move)]["shift"] = shift
            assert rule_of(automaton, broken) == "pair-shift"


def test_samples_without_noise_follow_their_difference():
    automaton = made(
        [query("p", None, Noise.NONE), query("q", HALF)],
        step("p", "q", "read", store="x"),
        step("q", "end", "above", most("x", S)),
        step("q", "end", "below", less(S, "x")),
    )
    certificate = certified(automaton)
    assert ["-1", "1"] in [move["shift"] for move in moves_of(certificate)]
    for shift in (["-1", "0"], ["0", "1"], ["1", "1"]):
        broken = deepcopy(certificate)
        for move in moves_of(broken):
            if move["shift"] == ["-1", "1"]:
                move["shift"] = shift
        assert rule_of(automaton, broken) == "pair-shift"


@pytest.mark.parametrize("integer", [False, True])
def test_values_that_are_shown_are_the_same(integer):
    automaton = of_constants(integer)
    certificate = certified(automaton)
    broken = deepcopy(certificate)
    number = json.dumps(["symbol it", "number"])
    asked = [node for node in broken["nodes"] if any(number in move["shows"] for move in node["moves"])]
    for node in asked:
        node["facts"] = [fact for fact in node["facts"] if fact[:2] != [[1, "x"], [2, "x"]]]
    assert asked and rule_of(automaton, broken) == "pair-output"


def test_facts_about_the_number_0():
    """That the first entry is below 5 says that the other copy's is: the shift is 0."""
    automaton = made(
        [query("p", HALF), silent("q")],
        step("p", "q", "read", store="x"),
        step("q", "e", "low", less("x", 5)),
        step("q", "e", "high", most(5, "x")),
    )
    certificate = certified(automaton)
    assert certificate["D"] == "1/2"
    facts = [fact for node in certificate["nodes"] for fact in node["facts"]]
    assert facts
    broken = deepcopy(certificate)
    for node in broken["nodes"]:
        node["facts"] = [[[1, "x"], [0, "0"], "<", "5"]] if node["facts"] else []
    assert rule_of(automaton, broken) == "pair-fact"
    for nowhere in ([0, "x"], [3, "0"], [1, "0"], [False, "0"]):
        broken = deepcopy(certificate)
        broken["nodes"][0]["facts"] = [[nowhere, [1, "x"], "<", "5"]]
        assert rule_of(automaton, broken) == "pair-node"


def test_copies_and_constants_are_followed():
    """The copy is what is shown; the constant is the same for both."""
    automaton = made(
        [query("p", HALF), query("q", HALF), silent("r")],
        step("p", "q", "read", store="x"),
        step("q", "r", "read", store="x", copy=[("y", "x"), ("z", 7)]),
        step("r", "e", several(value("y"), difference("z", "y"))),
    )
    certificate = certified(automaton)
    assert certificate["D"] == "1/2"
    broken = deepcopy(certificate)
    for node in broken["nodes"]:
        for fact in node["facts"]:
            fact[:2] = [[copy, {"y": "z", "z": "y"}.get(x, x)] for copy, x in fact[:2]]
    assert rule_of(automaton, broken) in ("pair-fact", "pair-output")


def test_integers_are_shifted_by_integers():
    automaton = replace(noisy_max(2), integer=True).trusted()
    certificate = certified(automaton)
    broken = deepcopy(certificate)
    for move in moves_of(broken):
        if move["shift"] == ["1", "1"]:
            move["shift"] = ["1/2", "1"]
    assert broken != certificate and rule_of(automaton, broken) == "pair-shift"
    wider = {"adjacency": ["-3/2", "3/2"]}
    (claim,) = verify(automaton, bundle(automaton, [certificate | wider])).claims
    assert claim.bound == 1
    assert rule_of(noisy_max(2), certified(noisy_max(2)) | wider) == "pair-potential"


def test_integers_that_are_less_are_less_by_one():
    """Of entries below 5 nothing is said but that they are at most 4, and of those from 5 on only that."""
    automaton = of_constants(integer=True)
    certificate = certified(automaton)
    assert certificate["D"] == "1"
    for bound, more in (("4", "3"), ("-5", "-6")):
        changed = deepcopy(certificate)
        for node in changed["nodes"]:
            node["facts"] = [[u, v, sign, more if c == bound else c] for u, v, sign, c in node["facts"]]
        assert changed != certificate and rule_of(automaton, changed) == "pair-fact"


def test_what_is_known_and_compared_again_stays_known():
    automaton = made(
        [query("p", HALF), silent("q"), silent("r")],
        step("p", "q", "low", less(S, 3), store="x"),
        step("p", "e", "high", most(3, S)),
        step("q", "r", "as before", less("x", 5)),
        step("q", "e", "never", most(5, "x")),
        step("r", "e", "as before", less("x", 4)),
        step("r", "e", "never", most(4, "x")),
    )
    assert certified(automaton)["D"] == "1/2"


def test_second_samples_in_a_list_are_paid_for():
    automaton = made(
        [State("q", True, HALF, d_prime=HALF)],
        step("q", "e", "none", less(S, 5)),
        step("q", "e", several(symbol("a"), INSAMPLE_PRIME), most(5, S)),
    )
    certificate = certified(automaton)
    assert certificate["D"] == "1"
    broken = deepcopy(certificate) | {"D": "3/4"}
    for node in broken["nodes"]:
        node["potential"] = str(min(Fraction(node["potential"]), Fraction(3, 4)))
    assert rule_of(automaton, broken) == "pair-potential"
    one_sided = replace(automaton.states[0], noise_prime=EXP)
    other = replace(automaton, states=(one_sided, *automaton.states[1:])).trusted()
    assert rule_of(other, certificate) == "pair-shift"


@pytest.mark.parametrize(
    "automaton",
    [
        absolute(1),
        made(
            [noisy("a", HALF), query("q", HALF)],
            step("a", "q", "s", store="t"),
            step("q", "e", "o", less(S, "-t")),
        ),
        made(
            [noisy("a", HALF), query("q", HALF)],
            step("a", "q", "s", store="t"),
            step("q", "e", "o", less("-t", S)),
        ),
    ],
)
def test_negatives_are_refused_by_the_checker(automaton):
    assert rule_of(automaton, certified(of_constants())) == "kind"


def test_too_many_pieces_are_refused(monkeypatch):
    automaton = band()
    certificate = certified(automaton)
    monkeypatch.setattr("symdipa.checker.relational.effects.MAX_PIECES", 0)
    assert rule_of(automaton, certificate) == "limit"


@pytest.mark.parametrize(
    "make", [lambda: noisy_max(3, noise=EXP), lambda: noisy_max(2, released=True), of_constants]
)
def test_no_small_change_proves_less(make):
    """Potentials lowered and shifts changed at random: refused, as there are inputs that cost as much."""
    automaton = make()
    certificate = certified(automaton)
    least = Fraction(certificate["D"]) - Fraction(1, 8)
    rng = random.Random(5)
    for _ in range(40):
        broken = deepcopy(certificate)
        broken["D"] = str(least)
        for node in broken["nodes"]:
            if rng.random() < 0.7:
                node["potential"] = str(min(Fraction(node["potential"]), least))
            for move in node["moves"]:
                if rng.random() < 0.2 and move["shift"] is not None:
                    move["shift"] = sorted((rng.choice(("-1", "0", "1")) for _ in range(2)), key=Fraction)
        assert rule_of(automaton, broken).startswith("pair-")


def without_stops(certificate: dict[str, Any], *states: str) -> dict[str, Any]:
    """As if no run stopped in these states."""
    broken = deepcopy(certificate)
    machine = broken["machine"]
    machine["edges"] = [
        edge for edge in machine["edges"] if edge[1] is not None or machine["states"][edge[0]] not in states
    ]
    return broken


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("drawn", [False, True])
def test_a_run_stops_at_a_tie_that_is_left_out(integer, drawn):
    """At exactly 5, if a sample has that value with positive probability, or a stored one is asked."""
    name = S if drawn else "x"
    automaton = made(
        [query("p", HALF), query("q", HALF) if drawn else silent("q")],
        step("p", "q", "read", store="x"),
        step("q", "e", "low", less(name, 5), integer=integer),
        step("q", "e", "high", less(5, name), integer=integer),
        step("e", "e", "go on"),
        integer=integer,
    )
    automaton = replace(automaton, states=(*automaton.states[:-1], silent("e"))).trusted()
    certificate = certified(automaton)
    assert certificate["D"] == "1/2"
    if drawn and not integer:
        assert without_stops(certificate, "q") == certificate
    else:
        assert rule_of(automaton, without_stops(certificate, "q")) == "machine-remarks"


def test_constants_that_are_drawn_stop_both_copies_alike():
    automaton = made(
        [query("p", HALF), noisy("q", None, Noise.NONE, mu=3)],
        step("p", "q", "read", store="x"),
        step("q", "e", "above", less(S, "x")),
    )
    certificate = certified(automaton)
    assert certificate["D"] == "1/2"
