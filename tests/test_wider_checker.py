"""The checker of certificates about automata that are not the paper's, on certificates written by hand.

`benchmarks/mutate_checker.py` runs this file against mutants of the checker.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from itertools import product

import jsonschema
import pytest
import z3
from conftest import ROOT
from wider_random import base_of, lowered, made, private_try, random_automaton
from wider_runs import INFINITE, Unrolled, cost, dearest, feasible, runs, unrolled

from symdipa import checker
from symdipa.checker.graphs import Edge
from symdipa.checker.model import is_plain
from symdipa.checker.wider import base, flows
from symdipa.checker.wider.model import model_of
from symdipa.checker.wider.order import SAMPLE, ZERO, Bound, Order, Place, Value, compared
from symdipa.checker.wider.runs import End, run_of
from symdipa.model.automaton import (
    INSAMPLE,
    INSAMPLE_PRIME,
    TRUE,
    Automaton,
    Guard,
    Noise,
    Output,
    State,
    Term,
    Transition,
    atom,
    difference,
    several,
    symbol,
    value,
)

Json = dict
half, quarter, eighth = Fraction(1, 2), Fraction(1, 4), Fraction(1, 8)


# ------------------------------------------------------------------------------------------------ automata


def term(text: str) -> Term:
    """``"x"``, ``"-x"``, ``"x + 3"`` or ``"5"``."""
    name, _, plus = text.partition(" + ")
    mirrored = name.startswith("-") and not name[1:].isdigit()
    bare = name.removeprefix("-") if mirrored else name
    if bare.removeprefix("-").isdigit():
        return Term(None, Fraction(bare))
    return Term(bare, Fraction(plus or 0), mirrored)


def guard(*atoms: str) -> Guard:
    """From texts like ``"insample >= t + 3"``, each as it is written."""
    ge, lt, others = set(), set(), set()
    for text in atoms:
        relation = next(sign for sign in (" >= ", " <= ", " < ", " > ") if sign in text)
        left, right = text.split(relation)
        if (
            left == "insample"
            and right.isidentifier()
            and right != "insample"
            and relation in (" >= ", " < ")
        ):
            (ge if relation == " >= " else lt).add(right)
        else:
            low, high = (right, left) if ">" in relation else (left, right)
            others.add(atom(term(low), term(high), "=" not in relation))
    return Guard(frozenset(ge), frozenset(lt), frozenset(others))


def step(
    source: str,
    output: str | Output,
    target: str,
    when: Guard | str = TRUE,
    store: Iterable[str] | str = (),
    copy: Iterable[tuple[str, str | Fraction | int]] = (),
) -> Transition:
    shown = symbol(output) if isinstance(output, str) else output
    condition = guard(when) if isinstance(when, str) else when
    assigned = frozenset(store.split() if isinstance(store, str) else store)
    return Transition(source, target, shown, condition, assigned, tuple(copy))


GAP = made(
    [State("q0", False, half), State("q", True, quarter)],
    [
        step("q0", "init", "q", store="t"),
        step("q", "low", "q", "insample < t"),
        step("q", several(symbol("high"), difference("insample", "t")), "end", "insample >= t"),
    ],
)
"""SVT that shows by how much the first answer is above the threshold."""

RELEASED = made(
    [State("q0", False, half), State("q", True, quarter), State("out", False, draws=False)],
    [
        step("q0", "init", "q", store="t"),
        step("q", "low", "q", "insample < t"),
        step("q", "high", "out", "insample >= t"),
        step("out", value("t"), "end"),
    ],
)
"""SVT whose threshold is released in the end."""

EXPOSED = made(
    [State("q0", False, half), State("q", True, noise=Noise.NONE)],
    [
        step("q0", "init", "q", store="t"),
        step("q", "low", "q", "insample < t"),
        step("q", "high", "end", "insample >= t"),
    ],
)
"""SVT without noise on the queries."""

OUTSIDE = made(
    [State("q0", False, quarter), State("q", True, eighth)],
    [
        step("q0", "init", "q", store="t"),
        step("q", "in", "q", guard("insample < t", "insample >= -t")),
        step("q", "out", "end", "insample >= t"),
        step("q", "out", "end", guard("insample < t", "insample <= -t")),
    ],
)
"""Is a query outside a noisy interval around 0?"""

REPLACED = made(
    [
        State("p", True, half),
        State("q", True, half),
        State("r", True, half),
        State("out", False, draws=False),
    ],
    [
        step("p", "a", "q", store="x"),
        step("q", "b", "r", store="y"),
        step("r", "c", "out", store="y", copy=[("x", "y")]),
        step("out", several(value("x"), value("y")), "end"),
    ],
)
"""Keeps the last two of three samples by copying."""


# -------------------------------------------------------------------------------------------- certificates


def about(automaton: Automaton, *certificates: Json) -> Json:
    return {
        "format": "symdipa-certificate",
        "version": 1,
        "automaton": {"sha256": checker.digest(automaton)},
        "certificates": list(certificates),
    }


def verified(automaton: Automaton, *certificates: Json) -> list[str]:
    return [str(claim) for claim in checker.verify(automaton, about(automaton, *certificates)).claims]


TWO_SIDED = {"adjacency": ["-1", "1"], "sensitivity": "1"}

GAP_ABOVE = {
    "kind": "private",
    **TWO_SIDED,
    "D": "1",
    "base": {
        "nodes": [{"state": "q0"}, {"state": "q"}, {"state": "end"}],
        "edges": [[0, 0, 1], [1, 1, 1], [1, 2, 2]],
    },
    "lift": {
        "cover": "forward",
        "shifts": {"t": ["-1", "-1"]},
        "nodes": [
            {"base": 0, "potential": "1"},
            {"base": 1, "potential": "1/2"},
            {"base": 2, "potential": "0"},
        ],
        "edges": [[0, 0, 1], [1, 1, 1], [1, 2, 2]],
    },
}
GAP_BELOW = {
    "kind": "lower",
    **TWO_SIDED,
    "D": "1",
    "run": [0, 1, 2],
    "cycles": [[1, 2]],
    "differences": ["0", "-1", "1"],
    "flow": [
        {"from": 1, "to": 0, "amount": "3/4", "repeated": True},
        {"from": 0, "to": 2, "amount": "1/4"},
    ],
}
RELEASED_GROWS = {
    "kind": "violation",
    "pattern": "growth",
    **TWO_SIDED,
    "run": [0, 1, 2, 3],
    "cycles": [[1, 2]],
    "differences": ["0", "0", "0", "0"],
    "flow": [
        {"from": 1, "to": 0, "amount": "1", "repeated": True},
        {"from": 0, "to": "ground", "amount": "1"},
    ],
}
EXPOSED_GROWS = {
    "kind": "violation",
    "pattern": "growth",
    **TWO_SIDED,
    "run": [0, 1, 2],
    "differences": ["0", "-1", "1"],
    "flow": [{"from": 1, "to": 0, "amount": "1"}, {"from": 0, "to": 2, "amount": "1"}],
}
OUTSIDE_ABOVE = {
    "kind": "private",
    **TWO_SIDED,
    "D": "1/2",
    "base": {
        "nodes": [{"state": "q0"}, {"state": "q"}, {"state": "end"}],
        "edges": [[0, 0, 1], [1, 1, 1], [1, 2, 2], [1, 3, 2]],
    },
    "lift": {
        "cover": "forward",
        "shifts": {"t": ["-1", "-1"]},
        "nodes": [
            {"base": 0, "potential": "1/2"},
            {"base": 1, "potential": "1/4"},
            {"base": 2, "potential": "0"},
        ],
        "edges": [[0, 0, 1], [1, 1, 1], [1, 2, 2], [1, 3, 2]],
    },
}
OUTSIDE_BELOW = {
    "kind": "lower",
    **TWO_SIDED,
    "D": "1/2",
    "run": [0, 1, 3],
    "cycles": [[1, 2]],
    "differences": ["0", "0", "-1"],
    "flow": [
        {"from": 1, "to": 0, "amount": "3/8", "repeated": True},
        {"from": 2, "to": "-0", "amount": "1/8"},
    ],
}


def rule_of(automaton: Automaton, *certificates: Json) -> str | None:
    """The rule that certificates break."""
    try:
        checker.verify(automaton, about(automaton, *certificates))
    except checker.CertificateRefused as refused:
        assert refused.message
        return refused.rule
    return None


DROP = object()


def tampered(certificate: Json, *changes: tuple[str, object]) -> Json:
    """A copy with changes at places such as ``lift.nodes.1.potential``; a new index appends to a list."""
    copy = deepcopy(certificate)
    for place, new in changes:
        *way, last = (int(key) if key.isdigit() else key for key in place.split("."))
        part = copy
        for key in way:
            part = part[key]
        if new is DROP:
            del part[last]
        elif isinstance(part, list) and last == len(part):
            part.append(new)
        else:
            part[last] = new
    return copy


GAP_CLAIMS = [
    "D*eps-private with D = 1 for differences in [-1, 1]",
    "not D*eps-private with any D below 1 for differences in [-1, 1]",
]
GROWS = "not private for differences in [-1, 1]: a run costs as much as one likes"


def test_what_holds_is_verified():
    assert verified(GAP, GAP_ABOVE, GAP_BELOW) == GAP_CLAIMS
    assert verified(RELEASED, RELEASED_GROWS) == verified(EXPOSED, EXPOSED_GROWS) == [GROWS]
    assert verified(OUTSIDE, OUTSIDE_ABOVE, OUTSIDE_BELOW) == [
        "D*eps-private with D = 1/2 for differences in [-1, 1]",
        "a run whose probabilities differ by 1/2*eps for differences in [-1, 1]",
    ]


def test_the_examples_of_the_documentation():
    text = (ROOT / "docs" / "certificates.md").read_text(encoding="utf-8")
    text = text.split("### Which entries differ")[0]
    found = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    assert found == [GAP_ABOVE, GAP_BELOW, OUTSIDE_BELOW, RELEASED_GROWS, EXPOSED_GROWS]
    schema = json.loads((ROOT / "symdipa" / "files" / "formats" / "certificate.schema.json").read_text())
    follows = jsonschema.Draft202012Validator(schema).is_valid
    facts = [["<=", "t", "-1/2"], ["!=", "t", "-t"]]
    for certificate in (
        *found,
        tampered(GAP_ABOVE, ("base.nodes.1.facts", facts)),
        tampered(GAP_BELOW, ("flow.0.to", "0'")),
        tampered(EXPOSED_GROWS, ("cycles", [])),
    ):
        assert follows(about(GAP, certificate))
    for certificate in (
        tampered(GAP_ABOVE, ("base.nodes.1.facts", [[">", "t", "0"]])),
        tampered(GAP_BELOW, ("flow.0.to", "x")),
        tampered(EXPOSED_GROWS, ("pattern", "leaking-pair")),
        tampered(EXPOSED_GROWS, ("flow", DROP)),
    ):
        assert not follows(about(GAP, certificate))


@pytest.mark.parametrize(
    ("rule", "place", "new"),
    [
        ("private-bound", "D", "999/1000"),
        ("lift-potential", "lift.nodes.0.potential", "999/1000"),
        ("lift-potential", "lift.nodes.1.potential", "499/1000"),
        ("lift-potential", "lift.nodes.1.potential", "501/1000"),
        ("lift-potential", "lift.nodes.2.potential", "1/1000"),
        ("lift-potential", "lift.shifts.t", ["-9/10", "-9/10"]),
        ("lift-potential", "lift.shifts.t", ["-11/10", "-11/10"]),
        ("lift-potential", "lift.shifts.t", ["-1", "-9/10"]),
        ("lift-sample", "lift.shifts.t", ["-11/10", "-1"]),
        ("lift-read", "lift.shifts", {}),
        ("lift-read", "lift.nodes.1.shifts", {"t": None}),
        ("lift-kept", "lift.nodes.2.shifts", {"t": ["0", "0"]}),
        ("lift-node", "lift.shifts.u", ["0", "0"]),
        ("lift-cover", "lift.edges.1", DROP),
        ("lift-edge", "lift.edges.3", [1, 1, 2]),
        ("base-edge", "base.edges.3", [1, 1, 2]),
        ("base-complete", "base.edges.1", DROP),
        ("base-initial", "base.nodes.0.state", "q"),
        ("base-initial", "base.nodes.0.facts", [["<=", "1", "1"]]),
        ("base-initial", "base.nodes.0.facts", [["!=", "t", "0"]]),
        ("base-initial", "base.nodes", []),
        ("base-node", "base.nodes.1.state", "p"),
        ("base-node", "base.nodes.1.facts", [["<", "t", "u"]]),
        ("base-node", "base.nodes.1.facts", [["<", "--t", "t"]]),
        ("base-node", "base.nodes.1.facts", [["<=", "+t", "t"]]),
        ("base-node", "base.nodes.1.facts", [[">", "t", "0"]]),
        ("base-node", "base.nodes.1.facts", [["<", "t", ""]]),
        ("base-node", "base.nodes.1.facts", [["<", "t", "1.5"]]),
        ("rational", "base.nodes.1.facts", [["<", "t", "1/0"]]),
        ("shape", "base.nodes.1.facts", [["<", "t"]]),
        ("shape", "base.nodes.1.facts", [["<", "t", 1]]),
        ("shape", "base.nodes.1.more", 1),
        ("shape", "base.more", 1),
        ("shape", "more", 1),
        ("base-fact", "base.nodes.1.facts", [["<", "t", "5"]]),
        ("base-fact", "base.nodes.1.facts", [["<=", "-5", "t"]]),
        ("base-fact", "base.nodes.1.facts", [["=", "t", "0"]]),
        ("base-fact", "base.nodes.1.facts", [["!=", "t", "t"]]),
        ("adjacency", "adjacency", ["1", "2"]),
        ("rational", "D", 1),
    ],
)
def test_what_was_tampered_with_is_refused(rule, place, new):
    assert rule_of(GAP, tampered(GAP_ABOVE, (place, new))) == rule


@pytest.mark.parametrize(
    "facts",
    [
        [["!=", "t", "0"], ["!=", "5", "t"], ["!=", "t", "-t"], ["!=", "-t", "t"]],
        [["<", "2", "5"], ["<=", "5", "5"], ["=", "t", "t"], ["<=", "-t", "-t"], ["=", "-1/2", "-1/2"]],
    ],
)
def test_facts_that_follow(facts):
    nodes = [("base.nodes.1.facts", facts), ("base.nodes.2.facts", facts)]
    assert rule_of(GAP, tampered(GAP_ABOVE, *nodes)) is None


@pytest.mark.parametrize(
    ("rule", "certificate", "place", "new"),
    [
        ("lower-bound", GAP_BELOW, "D", "1001/1000"),
        ("flow-capacity", GAP_BELOW, "flow.0.amount", "751/1000"),
        ("flow-capacity", GAP_BELOW, "flow.1.amount", "249/1000"),
        ("flow-capacity", GAP_BELOW, "flow.1.amount", "251/1000"),
        ("flow-amount", GAP_BELOW, "flow.1.amount", "0"),
        ("flow-amount", GAP_BELOW, "flow.1.amount", "-1/8"),
        ("flow-capacity", GAP_BELOW, "flow.0.repeated", False),
        ("flow-repeated", GAP_BELOW, "flow.1.repeated", True),
        ("flow-repeated", GAP_BELOW, "cycles", []),
        ("flow-repeated", GAP_BELOW, "cycles", DROP),
        ("flow-edge", GAP_BELOW, "flow.0.from", 3),
        ("flow-edge", GAP_BELOW, "flow.0.from", "ground"),
        ("flow-edge", GAP_BELOW, "flow.0.from", "-1"),
        ("flow-edge", GAP_BELOW, "flow.0.from", "1'"),
        ("flow-edge", GAP_BELOW, "flow.0.from", "9"),
        ("flow-edge", GAP_BELOW, "flow.0.to", 2),
        ("flow-edge", GAP_BELOW, "flow.2", {"from": "1", "to": 0, "amount": "1/8", "repeated": True}),
        ("flow-edge", GAP_BELOW, "flow.2", {"from": 0, "to": 2, "amount": "1/8", "repeated": False}),
        ("shape", GAP_BELOW, "flow.0.to", "x"),
        ("shape", GAP_BELOW, "flow.0.to", ""),
        ("shape", GAP_BELOW, "flow.0.to", "--0"),
        ("shape", GAP_BELOW, "flow.0.to", "²"),
        ("shape", GAP_BELOW, "flow.0.to", "0''"),
        ("shape", GAP_BELOW, "flow.0.to", "0000000000"),
        ("shape", GAP_BELOW, "flow.0.to", None),
        ("shape", GAP_BELOW, "flow.0.more", 1),
        ("shape", GAP_BELOW, "flow.0.repeated", 1),
        ("shape", GAP_BELOW, "more", 1),
        ("difference", GAP_BELOW, "differences.1", "-11/10"),
        ("difference", GAP_BELOW, "differences.1", "11/10"),
        ("difference", GAP_BELOW, "differences.0", "1"),
        ("shape", GAP_BELOW, "differences.3", "0"),
        ("lower-bound", GAP_BELOW, "differences.2", "999/1000"),
        ("run-step", GAP_BELOW, "run.0", 1),
        ("run-step", GAP_BELOW, "run.0", 3),
        ("run-step", GAP_BELOW, "run.2", 0),
        ("run-cycle", GAP_BELOW, "cycles.0", [0, 1]),
        ("run-cycle", GAP_BELOW, "cycles.1", [1, 2]),
        ("violation-pattern", RELEASED_GROWS, "pattern", "leaking-pair"),
        ("violation-growth", RELEASED_GROWS, "flow", []),
        ("violation-growth", RELEASED_GROWS, "adjacency", ["0", "1"]),
        ("flow-capacity", RELEASED_GROWS, "flow.0.amount", "2"),
        ("flow-capacity", RELEASED_GROWS, "flow.0.repeated", False),
        ("shape", RELEASED_GROWS, "D", "1"),
        ("shape", RELEASED_GROWS, "more", "1"),
    ],
)
def test_flows_that_were_tampered_with(rule, certificate, place, new):
    automaton = GAP if certificate is GAP_BELOW else RELEASED
    assert rule_of(automaton, tampered(certificate, (place, new))) == rule


def test_other_ends_and_signs_of_flows():
    twin = [
        {"from": "-0", "to": "-1", "amount": "3/4", "repeated": True},
        {"from": "-2", "to": "-0", "amount": "1/4"},
    ]
    assert verified(GAP, GAP_BELOW | {"flow": twin}) == GAP_CLAIMS[1:]
    assert rule_of(GAP, tampered(GAP_BELOW, ("flow.0.to", "000000000"))) is None
    back = [{"from": 2, "to": 0, "amount": "1/4"}]
    loss = GAP_BELOW | {"flow": back, "differences": ["0", "0", "-1"]}
    assert rule_of(GAP, loss | {"D": "1/4"}) is None
    assert rule_of(GAP, loss | {"D": "26/100"}) == "lower-bound"
    assert rule_of(OUTSIDE, OUTSIDE_BELOW | {"D": "501/1000"}) == "lower-bound"
    assert rule_of(OUTSIDE, tampered(OUTSIDE_BELOW, ("flow.1.to", "0"))) == "flow-capacity"
    assert rule_of(OUTSIDE, tampered(OUTSIDE_BELOW, ("flow.1.amount", "1/16"))) == "flow-capacity"


def test_only_some_kinds_are_for_wider_automata():
    for kind in ("well-formed",):
        others = {kind: lambda *_: pytest.fail("not to be asked")}
        with pytest.raises(checker.CertificateRefused, match="of the paper only") as refused:
            checker.verify(GAP, about(GAP, {"kind": kind}), others)
        assert refused.value.rule == "kind"
    assert rule_of(GAP, {"kind": "new"}) == "kind"


# ------------------------------------------------------------------------------------------- the automaton


def with_step(number: int, **changes: object) -> Automaton:
    steps = list(EVERYTHING.transitions)
    steps[number] = replace(steps[number], **changes)
    return replace(EVERYTHING, transitions=tuple(steps))


def with_state(number: int, **changes: object) -> Automaton:
    states = list(EVERYTHING.states)
    states[number] = replace(states[number], **changes)
    return replace(EVERYTHING, states=tuple(states))


EVERYTHING = made(
    [State("a", True, half, 1, quarter, 2), State("b", True, half, 0, quarter, 0), State("c")],
    [
        step("a", "o", "b", store="x"),
        step("b", difference("insample", "x"), "c", guard("insample >= x + 1"), "y", [("x", "x"), ("z", 5)]),
        step("b", several(value("x"), symbol("s")), "c", "insample < -x"),
    ],
)

DIFFERENT = [
    EVERYTHING,
    replace(EVERYTHING, integer=True),
    replace(EVERYTHING, initial="b"),
    with_state(0, name="d"),
    with_state(0, is_input=False),
    with_state(0, d=quarter),
    with_state(0, d=None),
    with_state(0, mu=Fraction(2)),
    with_state(0, d_prime=half),
    with_state(0, mu_prime=Fraction(1)),
    with_state(0, noise=Noise.EXPONENTIAL),
    with_state(0, noise=Noise.NONE),
    with_state(0, noise_prime=Noise.EXPONENTIAL),
    with_state(0, noise_prime=Noise.NONE),
    with_state(0, draws=False),
    with_step(0, source="b"),
    with_step(0, target="c"),
    with_step(0, output=symbol("p")),
    with_step(0, output=INSAMPLE),
    with_step(0, output=INSAMPLE_PRIME),
    with_step(0, output=value("x")),
    with_step(0, output=value("y")),
    with_step(0, output=symbol("value")),
    with_step(0, output=difference("x", "y")),
    with_step(0, output=difference("y", "x")),
    with_step(0, output=several(symbol("o"))),
    with_step(0, output=several(symbol("o"), value("x"))),
    with_step(0, output=several(value("x"), symbol("o"))),
    with_step(0, assign=frozenset("y")),
    with_step(0, assign=frozenset()),
    with_step(1, copies=(("z", 5),)),
    with_step(1, copies=(("x", "x"), ("z", 6))),
    with_step(1, copies=(("x", "x"), ("z", "5"))),
    with_step(1, copies=(("x", "y"), ("z", 5))),
    with_step(1, copies=(("y", "x"), ("z", 5))),
    *(
        with_step(1, guard=guard(text))
        for text in (
            *("insample >= x", "insample < x", "insample <= x + 1", "insample > x + 1", "insample >= x + 2"),
            *("x >= insample + 1", "insample >= y + 1", "insample >= -x", "insample >= 1", "y >= x + 1"),
        )
    ),
]


def test_the_digest_tells_automata_apart():
    digests = [checker.digest(automaton) for automaton in DIFFERENT]
    assert len(set(digests)) == len(digests)
    assert checker.digest(replace(EVERYTHING, name="n", variables=("z", "y", "x"))) == digests[0]


def test_the_digest_is_the_documented_one():
    form = (
        '["wider",false,"a",[["a",true,"1/2","1","1/4","2","laplace","laplace",true],'
        '["b",true,"1/2","0","1/4","0","laplace","laplace",true],'
        '["c",true,null,"0",null,"0","laplace","laplace",true]],'
        '[["a","b",[],[],["x"],["symbol","o"],[],[]],'
        '["b","c",[],[],["y"],["real","difference","insample","x"],'
        '[[["x",false,"0"],["insample",false,"-1"],false]],[["x",["variable","x"]],["z",["constant","5"]]]],'
        '["b","c",[],[],[],["several",["real","value","x"],["symbol","s"]],'
        '[[["insample",false,"0"],["x",true,"0"],true]],[]]]]'
    )
    assert checker.digest(EVERYTHING) == sha256(form.encode()).hexdigest()


def test_which_automata_are_plain():
    simple = made([State("a", True, half, 0, half), State("b", True, half)], [step("a", "o", "b", store="x")])
    assert is_plain(simple)
    more = [
        replace(simple, integer=True),
        *(
            replace(simple, states=(replace(simple.states[0], **new), *simple.states[1:]))
            for new in ({"noise": Noise.NONE}, {"noise_prime": Noise.EXPONENTIAL}, {"draws": False})
        ),
        *(
            replace(simple, transitions=(*simple.transitions, t))
            for t in (
                step("b", value("x"), "b"),
                step("b", difference("x", "x"), "b"),
                step("b", several(symbol("o")), "b"),
                step("b", "o", "b", "insample >= 5"),
                step("b", "o", "b", copy=[("x", 5)]),
            )
        ),
    ]
    assert not any(is_plain(automaton) for automaton in more)
    for shown in (INSAMPLE, INSAMPLE_PRIME, symbol("p")):
        assert is_plain(
            replace(simple, transitions=(*simple.transitions, step("b", shown, "b", "insample < x")))
        )
    quiet = replace(simple, states=(simple.states[0], replace(simple.states[1], is_input=False)))
    assert is_plain(quiet)
    for text in ("insample < x", "insample >= x"):
        assert not is_plain(replace(quiet, transitions=(*quiet.transitions, step("b", "o", "b", text))))


EMPTY = {"kind": "lower", **TWO_SIDED, "D": "0", "run": [], "differences": [], "flow": []}
A = State("a", True, half, 0, half)
FIRST = step("a", "o", "b", store="x")
WIDER = step("z", value("x"), "z")
"""Makes an automaton a wider one; its state is never reached."""


def fresh(*steps: Transition, integer: bool = False, **more: object) -> Automaton:
    """An automaton whose state ``a`` stores ``x``, and whose state ``b`` has these transitions."""
    made_b = State("b", **({"d": half, "d_prime": half} | more))
    return made([A, made_b, State("z", d=half), State("w", d=half)], [FIRST, *steps, WIDER], integer)


@pytest.mark.parametrize(
    ("rule", "automaton"),
    [
        (None, fresh(step("b", "p", "b"))),
        ("model-name", replace(fresh(), states=(A, A, State("b"), State("z", d=half)))),
        ("model-name", replace(fresh(), initial="c")),
        ("model-name", replace(fresh(), variables=())),
        ("model-name", replace(fresh(), variables=("x", "insample"))),
        ("model-name", replace(fresh(), variables=("x", "insampleprime"))),
        ("model-name", replace(fresh(), variables=("x", ""))),
        ("model-name", replace(fresh(), transitions=(FIRST, WIDER, step("c", "o", "b")))),
        ("model-name", replace(fresh(), transitions=(FIRST, WIDER, step("b", "o", "c")))),
        *(
            ("model-name", replace(fresh(), transitions=(FIRST, WIDER, t)))
            for t in (
                step("b", "o", "b", "insample >= u"),
                step("b", "o", "b", "insample < u"),
                step("b", "o", "b", "insample < u + 1"),
                step("b", "o", "b", store="u"),
                step("b", "o", "b", store="insample"),
                step("b", "o", "b", copy=[("insample", 5)]),
                step("b", "o", "b", copy=[("u", 5)]),
                step("b", "o", "b", copy=[("x", "u")]),
                step("b", value("u"), "b"),
                step("b", difference("x", "u"), "b"),
                step("b", several(symbol("o"), value("u")), "b"),
            )
        ),
        ("model-assignment", fresh(step("b", "o", "b", store="x", copy=[("x", 5)]))),
        ("model-assignment", fresh(step("b", "o", "b", copy=[("x", 5), ("x", 6)]))),
        *(
            ("model-assignment", replace(fresh(step("b", "o", "b", copy=[("x", y)])), variables=("x",)))
            for y in ("insample", "insampleprime")
        ),
        ("model-output", fresh(step("b", value("insample"), "b"))),
        ("model-output", fresh(step("b", value("insampleprime"), "b"))),
        ("model-output", fresh(step("b", difference("insampleprime", "x"), "b"))),
        ("model-output", fresh(step("b", difference("x", "insampleprime"), "b"))),
        ("model-output", fresh(step("b", several(symbol("o"), difference("x", "insampleprime")), "b"))),
        ("model-output", fresh(step("b", several(symbol("o"), several()), "b"))),
        (
            "model-output",
            fresh(step("b", several(difference("insample", "x"), difference("insampleprime", "x")), "b")),
        ),
        ("model-sample", fresh(step("b", "o", "b", "insample >= x"), draws=False)),
        ("model-sample", fresh(step("b", "o", "b", "insample <= 5"), draws=False)),
        ("model-sample", fresh(step("b", "o", "b", store="x"), draws=False)),
        ("model-sample", fresh(step("b", INSAMPLE, "b"), draws=False)),
        ("model-sample", fresh(step("b", INSAMPLE_PRIME, "b"), draws=False)),
        ("model-sample", fresh(step("b", difference("x", "insample"), "b"), draws=False)),
        (None, fresh(step("b", value("x"), "b", "x < 5"), draws=False)),
        (None, fresh(step("b", "o", "b", copy=[("x", 5)]), draws=False, d=None)),
        *(
            ("model-noise", fresh(t, d=d))
            for d in (None, Fraction(0), Fraction(-1))
            for t in (
                step("b", "o", "b", "insample >= x"),
                step("b", "o", "b", "insample < 5"),
                step("b", "o", "b", store="x"),
                step("b", INSAMPLE, "b"),
                step("b", several(symbol("o"), difference("x", "insample")), "b"),
            )
        ),
        ("model-noise", fresh(step("b", INSAMPLE, "b"), d=None, noise=Noise.EXPONENTIAL)),
        (None, fresh(step("b", INSAMPLE, "b"), d=None, noise=Noise.NONE)),
        (None, fresh(step("b", "o", "b", "x < 5"), d=None)),
        (None, fresh(step("b", "o", "b", copy=[("x", 5)]), d=None)),
        ("model-noise", fresh(step("b", INSAMPLE_PRIME, "b"), d_prime=None)),
        ("model-noise", fresh(step("b", INSAMPLE_PRIME, "b"), d_prime=Fraction(0))),
        ("model-noise", fresh(step("b", INSAMPLE_PRIME, "b"), d_prime=None, noise_prime=Noise.EXPONENTIAL)),
        (None, fresh(step("b", INSAMPLE_PRIME, "b"), d_prime=None, noise_prime=Noise.NONE)),
        (None, fresh(step("b", "o", "b"), d_prime=None)),
        (None, fresh(step("b", "o", "b", "insample >= x + 3"), integer=True)),
        ("model-integer", fresh(step("b", "o", "b"), integer=True, mu=half)),
        ("model-integer", fresh(step("b", "o", "b"), integer=True, mu_prime=half)),
        ("model-integer", fresh(step("b", "o", "b", copy=[("x", half)]), integer=True)),
        (
            "model-integer",
            fresh(
                step(
                    "b", "o", "b", Guard(others=frozenset({atom(Term("x", half), Term("insample"), False)}))
                ),
                integer=True,
            ),
        ),
        (None, fresh(step("b", "o", "b"), mu=half)),
        ("model-initialization", fresh(step("b", value("y"), "b"), step("w", "o", "b", store="y"))),
        ("model-initialization", fresh(step("b", "o", "b", "y < 5"), step("w", "o", "b", store="y"))),
        ("model-initialization", fresh(step("b", "o", "b", "insample < -y"), step("w", "o", "b", store="y"))),
        (
            "model-initialization",
            fresh(step("b", "o", "b", copy=[("x", "y")]), step("w", "o", "b", store="y")),
        ),
        (None, fresh(step("b", several(value("y"), value("w")), "b", store="y", copy=[("w", "x")]))),
        ("model-initialization", replace(fresh(), initial="z")),
        (
            "model-initialization",
            made(
                [A, State("b", True, half), State("c", True, half), State("e", draws=False)],
                [
                    FIRST,
                    step("b", "o", "c", "insample < x"),
                    step("b", "o", "e", "insample >= x", store="y"),
                    step("c", "o", "e"),
                    step("e", value("y"), "e"),
                ],
            ),
        ),
    ],
)
def test_automata_that_the_theory_does_not_speak_about(rule, automaton):
    assert rule_of(automaton, EMPTY) == rule


def test_a_variable_that_one_of_two_ways_does_not_store():
    for read, order in product("yz", (1, -1)):
        ways = [
            step("b", "p", "e", "insample < x", "y"),
            step("b", "q", "e", "insample >= x", "z"),
            step("e", value(read), "f"),
        ][::order]
        assert rule_of(fresh(*ways), EMPTY) == "model-initialization"


@pytest.mark.parametrize(
    ("one", "other", "more", "apart"),
    [
        ("insample < x", "insample >= x", {}, True),
        ("insample < x", "insample < x", {}, False),
        ("insample < x", "insample > 5", {}, False),
        ("insample < 5", "insample >= 5", {}, True),
        ("insample <= 5", "insample >= 5", {}, True),
        ("insample <= 5", "insample >= 5", {"noise": Noise.NONE}, False),
        ("insample <= 5", "insample >= 5", {"integer": True}, False),
        ("insample <= 5", "insample >= 6", {"integer": True}, True),
        ("insample < 5", "insample > 4", {"integer": True}, True),
        ("insample < 5", "insample > 4", {}, False),
        ("insample <= 5", "insample > 4", {"integer": True}, False),
        ("insample >= x + 1", "insample < x", {}, True),
        ("insample < x + 1", "insample >= x", {}, False),
        ("insample >= -x", "insample < -x", {}, True),
        ("insample >= -x", "insample < x", {}, False),
        ("x < 5", "x >= 5", {}, True),
        ("x <= 5", "x >= 5", {}, False),
        ("insample < 5", "insample >= 4", {"noise": Noise.NONE, "is_input": False, "mu": Fraction(3)}, True),
        ("insample < 5", "insample < 4", {"noise": Noise.NONE, "is_input": False, "mu": Fraction(3)}, False),
        ("insample < 5", "insample < 4", {"noise": Noise.NONE, "mu": Fraction(4)}, False),
        ("insample < 5", "insample < 4", {"noise": Noise.EXPONENTIAL, "mu": Fraction(4)}, False),
        (
            "insample < 5",
            "insample < 4",
            {"noise": Noise.EXPONENTIAL, "is_input": False, "mu": Fraction(4)},
            True,
        ),
        ("insample < 5", "insample < 4", {"is_input": False, "mu": Fraction(4)}, False),
        ("insample <= -insample", "insample >= 1", {"integer": True}, True),
        ("insample <= -insample", "insample >= 0", {"integer": True}, False),
    ],
)
def test_branches_must_exclude_each_other(one, other, more, apart):
    branches = [step("b", "o", "b", guard(text)) for text in (one, other)]
    rule = None if apart else "model-determinism"
    assert rule_of(fresh(*branches, **more), EMPTY) == rule
    assert rule_of(fresh(*branches[::-1], **more), EMPTY) == rule


# ------------------------------------------------------------------------------- comparisons and their sums

NAMES = ("x", "y", "z")


def symbolic(place: Place, numbers: dict[str, z3.ArithRef]) -> z3.ArithRef:
    bare = numbers[place.name] if place.name else z3.RealVal(0)
    return -bare if place.mirrored else bare


def as_formula(comparison, numbers) -> z3.BoolRef:
    low, high, gap, strict = comparison
    left, right = symbolic(low, numbers), symbolic(high, numbers) + z3.Q(*gap.as_integer_ratio())
    return left < right if strict else left <= right


def random_comparison(rng: random.Random, names: Sequence[str] = NAMES):
    places = [ZERO, *(Place(x, mirrored) for x in names for mirrored in (False, False, True))]
    low, high = rng.choice(places), rng.choice(places)
    return compared(Value(low, Fraction(0)), Value(high, Fraction(rng.randint(-3, 4), 2)), rng.random() < 0.5)


def holds_in(solver: z3.Solver, formula: z3.BoolRef) -> bool:
    return solver.check(z3.Not(formula)) == z3.unsat


@pytest.mark.parametrize("seed", range(24))
def test_what_follows_from_comparisons(seed):
    """Exactly what a solver finds to follow, also after assignments."""
    rng = random.Random(seed)
    integer = seed % 2 == 1
    numbers = {x: (z3.Int if integer else z3.Real)(x) for x in NAMES}
    order, solver = Order(integer), z3.Solver()
    for _ in range(rng.randint(2, 6)):
        comparison = random_comparison(rng)
        before = order.copy()
        order.learn(comparison)
        if solver.check(as_formula(comparison, numbers)) == z3.sat:
            solver.add(as_formula(comparison, numbers))
            assert order.is_possible
        else:
            assert not order.is_possible
            assert before.is_possible, "a copy is one"
            order = before
    for _ in range(12):
        comparison = random_comparison(rng)
        assert order.implies(comparison) == holds_in(solver, as_formula(comparison, numbers)), comparison
    gets = {
        x: Value(rng.choice([Place("x"), Place("y", True), Place("z"), ZERO]), Fraction(rng.randint(-1, 1)))
        for x in rng.sample([*NAMES, "w"], 2)
    }
    moved = order.moved(gets, [*NAMES, "w"])
    after = dict(numbers)
    for x, (place, plus) in gets.items():
        after[x] = symbolic(place, numbers) + z3.Q(*plus.as_integer_ratio())
    after.setdefault("w", z3.Real("w"))
    for _ in range(12):
        comparison = random_comparison(rng, (*NAMES, "w"))
        assert moved.implies(comparison) == holds_in(solver, as_formula(comparison, after)), comparison


def test_a_sample_is_forgotten():
    own, x = Value(Place(SAMPLE), Fraction(0)), Value(Place("x"), Fraction(0))
    order = Order(False, [compared(own, x, True), compared(Value(ZERO, Fraction(1)), own, False)])
    moved = order.moved({}, ["x"])
    assert moved.facts == {
        (ZERO, Place("x"), Bound(Fraction(-1), -1)),
        (Place("x", True), ZERO, Bound(Fraction(-1), -1)),
        (Place("x", True), Place("x"), Bound(Fraction(-2), -1)),
    }
    assert order.moved({}, []).facts == set()
    stored = order.moved({"y": own}, "xy")
    assert stored.implies(compared(Value(Place("y"), Fraction(0)), x, True))
    assert order.moved({"y": x}, "xy").facts > moved.facts


# ------------------------------------------------------------------------------------- shifts of one sample


def nearest_cost(noise: Noise, allowed: Sequence[Fraction], difference: Fraction) -> Fraction | float:
    """With ``d = 1/2``, by trying shifts."""
    costs = [INFINITE]
    for shift in allowed:
        miss = shift - difference
        if noise is Noise.LAPLACE or miss == 0 or (noise is Noise.EXPONENTIAL and miss < 0):
            costs.append(abs(miss) / 2)
    return min(costs)


GRID = [Fraction(n, 2) for n in range(-6, 7)]
ATOMS = [
    *("insample >= x", "insample < x", "insample >= x + 3", "insample < x + 3", "insample >= -x"),
    *("insample < -x", "insample >= 5", "insample < 5", "insample < -insample", "insample >= -insample"),
    *("insample <= insample + 1", "x < 5", "x >= 5", "x < -x", "x >= -x", "-x < x + 1"),
]


@pytest.mark.parametrize("text", [*ATOMS, None])
@pytest.mark.parametrize("noise", Noise)
@pytest.mark.parametrize("x", ["x", "a"])
def test_the_range_of_a_sample(noise, text, x):
    """The least potential that pays for one step, against the definition of what its shift may be."""
    shown = {None: [INSAMPLE, value(x), difference("insample", x), symbol("o")]}.get(text, [symbol("o")])
    text = text and re.sub(r"\bx\b", x, text)
    for output, ends, low in product(shown, [(-1, -1), (0, 0), (-1, 1), (0, 1)], (-1, 0)):
        when = guard(text) if text else TRUE
        d = None if noise is Noise.NONE else half
        automaton = made(
            [State("a", True, half), State("b", True, d, noise=noise), State("z", draws=False)],
            [step("a", "o", "b", store=x), step("b", output, "c", when), replace(WIDER, output=value(x))],
        )
        run = unrolled(automaton, [0, 1])
        pairs = [(a, b) for a, b, _ in run.comparisons] + [p for a, b in run.ties for p in ((a, b), (b, a))]
        allowed = [
            shift
            for shift in GRID
            if all(
                low.sign * (held, shift)[low.sample] >= high.sign * (held, shift)[high.sample]
                for low, high in pairs
                for held in map(Fraction, ends)
            )
        ]
        costs = [nearest_cost(noise, allowed, Fraction(delta)) for delta in (low, 1)]
        least = max(costs)
        certificate = {
            "kind": "private",
            "adjacency": [str(low), "1"],
            "sensitivity": "1",
            "D": "99",
            "base": {"nodes": [{"state": q} for q in "abc"], "edges": [[0, 0, 1], [1, 1, 2]]},
            "lift": {
                "cover": "forward",
                "shifts": {x: [str(end) for end in ends]},
                "nodes": [{"base": v, "potential": p} for v, p in enumerate(("99", "9", "0"))],
                "edges": [[0, 0, 1], [1, 1, 2]],
            },
        }
        if least == INFINITE:
            assert rule_of(automaton, certificate) in ("lift-noise", "lift-sample", "lift-order")
        else:
            exact = tampered(certificate, ("lift.nodes.1.potential", str(least)))
            assert rule_of(automaton, exact) is None
            less = tampered(certificate, ("lift.nodes.1.potential", str(least - Fraction(1, 1000))))
            assert rule_of(automaton, less) == "lift-potential"


def chain(automaton: Automaton, potentials: Sequence[str], shifts: Json, facts: Json | None = None) -> Json:
    """A certificate for an automaton whose states follow each other, by way of its first transitions."""
    states = [automaton.initial, *(t.target for t in automaton.transitions)][: len(potentials)]
    edges = [[v, v, v + 1] for v in range(len(potentials) - 1)]
    nodes = [
        {"state": q} | ({"facts": (facts or {})[v]} if v in (facts or {}) else {})
        for v, q in enumerate(states)
    ]
    return {
        "kind": "private",
        **TWO_SIDED,
        "D": potentials[0],
        "base": {"nodes": nodes, "edges": edges},
        "lift": {
            "cover": "forward",
            "shifts": shifts,
            "nodes": [{"base": v, "potential": p} for v, p in enumerate(potentials)],
            "edges": edges,
        },
    }


def test_copies_pass_shifts_on():
    good = chain(REPLACED, ["1", "1", "1/2", "0", "0"], {"x": ["0", "0"], "y": ["0", "0"]})
    none = {"x": None, "y": None}
    for v, own in ((1, {"x": None}), (2, {"x": None}), (4, none)):
        good = tampered(good, (f"lift.nodes.{v}.shifts", own))
    assert verified(REPLACED, good) == ["D*eps-private with D = 1 for differences in [-1, 1]"]
    for new in ({"y": None}, {"y": ["0", "1"]}, {"y": ["-1", "1"]}, {"y": ["-1", "0"]}):
        assert rule_of(REPLACED, tampered(good, ("lift.nodes.2.shifts", {"x": None} | new))) == "lift-kept"
    for new in (["-1", "1"], ["0", "1"], ["-1", "0"]):
        assert rule_of(REPLACED, tampered(good, ("lift.nodes.3.shifts", {"x": new}))) == "lift-order"
        assert rule_of(REPLACED, tampered(good, ("lift.nodes.3.shifts", {"y": new}))) == "lift-order"
    assert rule_of(REPLACED, tampered(good, ("lift.nodes.3.shifts", {"x": None}))) == "lift-read"
    below = {
        "kind": "lower",
        **TWO_SIDED,
        "D": "1",
        "run": [0, 1, 2, 3],
        "differences": ["0", "1", "-1", "0"],
        "flow": [{"from": "ground", "to": 1, "amount": "1/2"}, {"from": 2, "to": "ground", "amount": "1/2"}],
    }
    assert verified(REPLACED, below) == [GAP_CLAIMS[1]]
    assert rule_of(REPLACED, tampered(below, ("flow.0.to", 0))) == "flow-edge"


def test_a_sample_between_several_values():
    both = two_values(
        step("c", "o", "d", copy=[("z", 0)]),
        step("d", "p", "e", guard("insample < x", "insample < y", "insample >= z")),
        step("d", "q", "e", guard("insample >= x", "insample >= y", "insample < z", "z < 5")),
        c=SILENT,
        d=State("d", True, half),
    )
    for number, (x, y), rule in [
        (3, ("0", "-1"), None),
        (3, ("-1", "1"), "lift-sample"),
        (3, ("1", "-1"), "lift-sample"),
        (4, ("0", "1"), None),
        (4, ("-1", "1"), "lift-sample"),
        (4, ("1", "-1"), "lift-sample"),
    ]:
        automaton = replace(both, transitions=(*both.transitions[:3], both.transitions[number]))
        shifts = {"x": [x, x], "y": [y, y], "z": ["0", "0"]}
        assert rule_of(automaton, chain(automaton, ["9", "8", "7", "7", "0"], shifts)) == rule


def test_negatives_have_shifts_if_their_variables_have():
    mirrored = fresh(step("b", "o", "c", "insample < -x"))
    assert rule_of(mirrored, chain(mirrored, ["9", "8", "0"], {"x": ["0", "0"]})) is None
    assert rule_of(mirrored, chain(mirrored, ["9", "8", "0"], {})) == "lift-read"
    silent = fresh(step("b", "o", "c", "5 < -x"), draws=False, d=None)
    assert rule_of(silent, chain(silent, ["9", "0", "0"], {"x": ["0", "0"]})) is None
    assert rule_of(silent, chain(silent, ["9", "0", "0"], {})) == "lift-read"


CONSTANT = made(
    [State("a", True, half), State("b", True, half)],
    [step("a", "o", "b", copy=[("x", 5)]), step("b", "p", "c", "insample >= x", copy=[("x", "x")])],
)


def test_constants_are_not_shifted():
    for ends, rule in [
        (["0", "0"], None),
        (["-1", "0"], "lift-potential"),
        (["0", "1"], None),
        (["1", "1"], "lift-kept"),
        (["-1", "-1"], "lift-kept"),
    ]:
        shifts = {"x": ends}
        assert rule_of(CONSTANT, chain(CONSTANT, ["1/2", "1/2", "0"], shifts)) == rule, ends
    loose = chain(CONSTANT, ["1", "1", "0"], {"x": ["-1", "0"]})
    assert rule_of(CONSTANT, loose) is None
    assert rule_of(CONSTANT, tampered(loose, ("lift.nodes.2.shifts", {"x": ["0", "0"]}))) == "lift-kept"
    assert rule_of(CONSTANT, tampered(loose, ("lift.nodes.2.shifts", {"x": ["-1", "1"]}))) is None
    flow = {"from": "ground", "to": 1, "amount": "1/2"}
    below = {
        "kind": "lower",
        **TWO_SIDED,
        "D": "1/2",
        "run": [0, 1],
        "differences": ["0", "1"],
        "flow": [flow],
    }
    assert rule_of(CONSTANT, below) is None
    twin = {"from": "-1", "to": "ground", "amount": "1/2"}
    assert rule_of(CONSTANT, below | {"flow": [twin]}) is None
    assert rule_of(CONSTANT, tampered(below, ("flow.0.to", "ground"))) == "flow-edge"


TWINS = made(
    [State("a", True, half), State("b", draws=False), State("c", draws=False)],
    [
        step("a", "o", "b", store="x y"),
        step("b", difference("x", "y"), "c", guard("x <= y + 3", "y <= x + 3"), copy=[("z", "x")]),
        step("c", difference("z", "y"), "d", "z < y + 1"),
    ],
)
"""Compares one sample with itself, under other names."""


def test_the_facts_say_that_values_have_the_same_shift():
    shifts = {x: ["-1", "1"] for x in "xyz"}
    same = [["=", "x", "y"]]
    facts = {1: same, 2: [*same, ["=", "z", "y"]]}
    good = chain(TWINS, ["0", "0", "0", "0"], shifts, facts)
    assert verified(TWINS, good) == ["D*eps-private with D = 0 for differences in [-1, 1]"]
    assert (
        rule_of(TWINS, tampered(good, ("base.nodes.1.facts", []), ("base.nodes.2.facts", []))) == "lift-order"
    )
    assert rule_of(TWINS, tampered(good, ("base.nodes.1.facts", [["<=", "x", "y"]]))) == "base-fact"
    one_way = ("base.nodes.1.facts", [["<=", "x", "y"]]), ("base.nodes.2.facts", [["<=", "z", "y"]])
    assert rule_of(TWINS, tampered(good, *one_way)) == "lift-order"
    without = tampered(good, ("lift.shifts", {"x": ["-1", "1"]}))
    assert rule_of(TWINS, without) is None, "nothing is asked of shifts"
    points = {x: ["0", "0"] for x in "xyz"}
    assert rule_of(TWINS, chain(TWINS, ["1/2", "0", "0", "0"], points)) is None


def two_values(*steps: Transition, integer: bool = False, **states: State) -> Automaton:
    """Stores x, then y, and goes to c."""
    parts = {"a": State("a", True, half), "b": State("b", True, half), "c": State("c", True, half)} | states
    begin = [step("a", "o", "b", store="x"), step("b", "o", "c", store="y")]
    return made(parts.values(), [*begin, *steps], integer)


def follows(automaton: Automaton, before: list[list[str]], fact: list[str], number: int = 2) -> bool:
    """Whether a fact holds after a transition if the facts before it are given."""
    model = model_of(automaton)
    step = model.steps[number]
    given = base.facts_of(model, before, "")
    asked = base.facts_of(model, [fact], "")
    after = base.possible_after(model, number, Order(model.integer, given.comparisons), given)
    if after is None:
        return True
    try:
        base.check_facts(model, Edge(0, number, 1), after, [given, asked])
    except checker.CertificateRefused as refused:
        assert refused.rule == "base-fact"
        return False
    assert step.source == automaton.transitions[number].source
    return True


def excluded(automaton: Automaton, before: list[list[str]], number: int = 2) -> bool:
    """Whether a transition is impossible after these facts."""
    model = model_of(automaton)
    given = base.facts_of(model, before, "")
    return base.possible_after(model, number, Order(model.integer, given.comparisons), given) is None


SILENT = State("c", draws=False)
CONSTANT_MEAN = {"is_input": False, "mu": Fraction(3)}


@pytest.mark.parametrize(
    ("automaton", "before", "fact", "expected"),
    [
        (two_values(step("c", "o", "d", "insample < x", "y")), [], ["<", "y", "x"], True),
        (two_values(step("c", "o", "d", "insample < x", "y")), [], ["<", "x", "y"], False),
        (two_values(step("c", "o", "d", "insample >= x", "y")), [], ["<", "x", "y"], True),
        (two_values(step("c", "o", "d", "insample >= x", "y"), integer=True), [], ["<", "x", "y"], False),
        (two_values(step("c", "o", "d", "insample >= x", "y"), integer=True), [], ["<=", "x", "y"], True),
        (
            two_values(step("c", "o", "d", "insample >= x", "y"), c=State("c", noise=Noise.NONE)),
            [],
            ["<", "x", "y"],
            False,
        ),
        (two_values(step("c", "o", "d", "insample >= x", "x")), [["<", "y", "x"]], ["<", "y", "x"], True),
        (two_values(step("c", "o", "d", "insample >= x", "x")), [["<=", "y", "x"]], ["<", "y", "x"], True),
        (two_values(step("c", "o", "d", "insample >= x", "x")), [["<", "x", "y"]], ["<", "x", "y"], False),
        (two_values(step("c", "o", "d", copy=[("x", "y")])), [["<", "y", "5"]], ["<", "x", "5"], True),
        (two_values(step("c", "o", "d", copy=[("x", "y")])), [], ["=", "x", "y"], True),
        (
            two_values(step("c", "o", "d", copy=[("x", "y"), ("y", "x")])),
            [["<", "x", "y"]],
            ["<", "y", "x"],
            True,
        ),
        (
            two_values(step("c", "o", "d", copy=[("x", "y"), ("y", "x")])),
            [["<", "x", "y"]],
            ["<", "x", "y"],
            False,
        ),
        (two_values(step("c", "o", "d", copy=[("x", 5)])), [], ["=", "x", "5"], True),
        (two_values(step("c", "o", "d", copy=[("x", 5)])), [], ["=", "-x", "-5"], True),
        (two_values(step("c", "o", "d", copy=[("x", 5)])), [], ["<=", "x", "9/2"], False),
        (two_values(step("c", "o", "d", copy=[("x", 5)])), [["<", "5", "y"]], ["<", "x", "y"], True),
        (two_values(step("c", "o", "d", copy=[("x", 5)])), [["<=", "5", "y"]], ["<", "x", "y"], False),
        (two_values(step("c", "o", "d", "x < y + -1", copy=[]), c=SILENT), [], ["<", "x", "y"], True),
        (two_values(step("c", "o", "d", "x < y + 1", copy=[]), c=SILENT), [], ["<", "x", "y"], False),
        (two_values(step("c", "o", "d", "x <= y"), c=SILENT), [], ["<", "x", "y"], False),
        (two_values(step("c", "o", "d", "x <= y"), c=SILENT), [["!=", "x", "y"]], ["<", "x", "y"], True),
        (two_values(step("c", "o", "d", "x <= y"), c=SILENT), [["!=", "y", "x"]], ["<", "x", "y"], True),
        (two_values(step("c", "o", "d", "x <= y"), c=SILENT), [["!=", "-y", "-x"]], ["<", "x", "y"], True),
        (two_values(step("c", "o", "d", "x <= y"), c=SILENT), [["!=", "-y", "x"]], ["<", "x", "y"], False),
        (two_values(step("c", "o", "d", "x <= y"), c=SILENT), [["!=", "x", "0"]], ["<", "x", "y"], False),
        (two_values(step("c", "o", "d", "x <= -y"), c=SILENT), [["!=", "-y", "x"]], ["<", "x", "-y"], True),
        (two_values(step("c", "o", "d", "x <= 5"), c=SILENT), [["!=", "x", "0"]], ["<", "x", "5"], True),
        (two_values(step("c", "o", "d", store="y")), [], ["!=", "x", "y"], True),
        (two_values(step("c", "o", "d", store="y")), [], ["!=", "-y", "x"], True),
        (two_values(step("c", "o", "d", store="y")), [], ["!=", "-y", "y"], True),
        (two_values(step("c", "o", "d", store="y")), [], ["!=", "7", "y"], True),
        (two_values(step("c", "o", "d", store="x y")), [], ["!=", "x", "y"], False),
        (two_values(step("c", "o", "d", store="y")), [], ["!=", "x", "0"], False),
        (two_values(step("c", "o", "d", store="y"), integer=True), [], ["!=", "x", "y"], False),
        (
            two_values(step("c", "o", "d", store="y"), c=State("c", noise=Noise.NONE)),
            [],
            ["!=", "x", "y"],
            False,
        ),
        (two_values(step("c", "o", "d", copy=[("z", "y")])), [["!=", "x", "y"]], ["!=", "z", "x"], True),
        (two_values(step("c", "o", "d", copy=[("x", "y")])), [["!=", "x", "y"]], ["!=", "x", "y"], False),
        (
            two_values(step("c", "o", "d", copy=[("z", "y")]), c=SILENT),
            [["!=", "x", "y"]],
            ["!=", "z", "x"],
            True,
        ),
        (two_values(step("c", "o", "d"), c=SILENT), [], ["!=", "y", "x"], False),
        (two_values(step("c", "o", "d", copy=[("x", 1)])), [["!=", "y", "0"]], ["!=", "x", "y"], True),
        (
            two_values(step("c", "o", "d", store="y"), c=State("c", False, half, 3)),
            [],
            ["<=", "3", "y"],
            False,
        ),
        (
            two_values(step("c", "o", "d", store="y"), c=State("c", True, half, 3, noise=Noise.EXPONENTIAL)),
            [],
            ["<=", "3", "y"],
            False,
        ),
        *(
            (
                two_values(step("c", "o", "d", store="y"), c=State("c", False, half, 3, noise=noise)),
                [],
                fact,
                x,
            )
            for noise, fact, x in [
                (Noise.EXPONENTIAL, ["<=", "3", "y"], True),
                (Noise.EXPONENTIAL, ["<=", "y", "3"], False),
                (Noise.NONE, ["<=", "3", "y"], True),
                (Noise.NONE, ["<=", "y", "3"], True),
                (Noise.NONE, ["<", "y", "3"], False),
            ]
        ),
        (two_values(step("c", "o", "d", "insample < -x", "y")), [["<", "0", "x"]], ["<", "y", "0"], True),
        (two_values(step("c", "o", "d", "x <= -x"), c=SILENT), [], ["<=", "x", "0"], True),
        (two_values(step("c", "o", "d", "x <= -x"), c=SILENT), [], ["<=", "0", "-x"], True),
        (two_values(step("c", "o", "d", "x < 1"), c=SILENT, integer=True), [], ["<=", "x", "0"], True),
        (two_values(step("c", "o", "d", "x < 1"), c=SILENT, integer=True), [], ["<", "x", "1/2"], True),
        (two_values(step("c", "o", "d", "x < 1"), c=SILENT), [], ["<=", "x", "0"], False),
    ],
)
def test_facts_after_a_step(automaton, before, fact, expected):
    assert follows(automaton, before, fact) is expected


@pytest.mark.parametrize(
    ("automaton", "before", "expected"),
    [
        (two_values(step("c", "o", "d", guard("insample >= y", "insample < x"))), [["<", "x", "y"]], True),
        (two_values(step("c", "o", "d", guard("insample >= y", "insample < x"))), [["<=", "x", "y"]], True),
        (two_values(step("c", "o", "d", guard("insample >= y", "insample < x"))), [["<", "y", "x"]], False),
        (
            two_values(step("c", "o", "d", guard("insample >= y + 1", "insample < x"))),
            [["<", "y", "x"]],
            False,
        ),
        (two_values(step("c", "o", "d", guard("insample >= 5", "insample < x"))), [["<", "x", "3"]], True),
        (two_values(step("c", "o", "d", "x <= y"), c=SILENT), [["<=", "y", "x"]], False),
        (two_values(step("c", "o", "d", "x <= y"), c=SILENT), [["<=", "y", "x"], ["!=", "x", "y"]], True),
        (two_values(step("c", "o", "d", "x < y"), c=SILENT), [["<=", "y", "x"]], True),
        (
            two_values(step("c", "o", "d", guard("x < y", "y < x + 1")), c=SILENT, integer=True),
            [],
            True,
        ),
        (two_values(step("c", "o", "d", guard("x < y", "y < x + 1")), c=SILENT), [], False),
    ],
)
def test_steps_that_facts_exclude(automaton, before, expected):
    assert excluded(automaton, before) is expected


def test_a_variable_may_be_called_like_a_number():
    strange = made(
        [State("a", True, half), State("b", True, half)],
        [step("a", "o", "b", store="x 5 -x"), step("b", "o", "c", copy=[("5", "x")])],
    )
    model = model_of(strange)
    found = base.facts_of(model, [["<=", "5", "-x"], ["<=", "--x", "-5"]], "")
    assert [(c.low, c.high) for c in found.comparisons] == [
        (Place("5"), Place("-x")),
        (Place("-x", True), Place("5", True)),
    ]


INTEGER = made(
    [State("q0", False, half), State("q", True, quarter)],
    [
        step("q0", "init", "q", store="t"),
        step("q", "low", "q", "insample < t"),
        step(
            "q",
            several(symbol("high"), difference("insample", "t")),
            "end",
            "insample >= t",
        ),
    ],
    integer=True,
)


def test_shifts_of_integers_are_integers():
    assert verified(INTEGER, GAP_ABOVE, GAP_BELOW) == GAP_CLAIMS
    for place in ("lift.shifts.t", "lift.nodes.1.shifts"):
        for ends in (["-3/2", "-1"], ["-1", "-1/2"]):
            new = ends if place.endswith(".t") else {"t": ends}
            assert rule_of(INTEGER, tampered(GAP_ABOVE, (place, new))) == "lift-integer"
    wide = {"adjacency": ["-3/2", "3/2"]}
    assert rule_of(INTEGER, GAP_ABOVE | wide) is None, "integers differ by 1 at most"
    assert rule_of(GAP, GAP_ABOVE | wide) == "lift-potential"
    assert rule_of(INTEGER, GAP_BELOW | wide) is None
    assert rule_of(INTEGER, tampered(GAP_BELOW, ("differences.1", "-1/2"))) == "difference"
    assert rule_of(INTEGER, tampered(GAP_BELOW | wide, ("differences.1", "-3/2"))) == "difference"
    assert rule_of(INTEGER, tampered(GAP_BELOW | wide, ("D", "1001/1000"))) == "lower-bound"
    large = {"adjacency": ["-1/2", "1/2"], "sensitivity": "4"}
    assert rule_of(INTEGER, GAP_BELOW | large) is None
    assert rule_of(INTEGER, GAP_ABOVE | large) == "lift-potential"


def second(noise: Noise, d: Fraction | None = half) -> Automaton:
    return made(
        [State("a", True, d_prime=d, noise_prime=noise)],
        [step("a", several(symbol("o"), INSAMPLE_PRIME), "b")],
    )


@pytest.mark.parametrize(
    ("noise", "low", "high", "cost"),
    [
        (Noise.LAPLACE, -1, 1, half),
        (Noise.LAPLACE, 0, 2, 1),
        (Noise.LAPLACE, -2, 0, 1),
        (Noise.EXPONENTIAL, 0, 1, half),
        (Noise.EXPONENTIAL, -1, 1, None),
        (Noise.EXPONENTIAL, -1, 0, None),
        (Noise.NONE, 0, 0, 0),
        (Noise.NONE, 0, 1, None),
        (Noise.NONE, -1, 0, None),
    ],
)
def test_second_samples_are_shown(noise, low, high, cost):
    automaton = second(noise, None if noise is Noise.NONE else half)
    inputs = {"adjacency": [str(low), str(high)]}
    base = {"nodes": [{"state": "a"}, {"state": "b"}], "edges": [[0, 0, 1]]}
    above = chain(automaton, [str(cost or 0), "0"], {}) | inputs
    assert above["base"] == base
    assert rule_of(automaton, above) == ("lift-noise" if cost is None else None)
    if cost:
        assert rule_of(automaton, chain(automaton, [str(cost - Fraction(1, 1000)), "0"], {}) | inputs)
    run = {**inputs, "sensitivity": "1", "run": [0]}
    for end, arc in ((high, ("ground", "0'")), (low, ("0'", "ground"))):
        flow = [{"from": arc[0], "to": arc[1], "amount": "1/2"}]
        below = {"kind": "lower", **run, "D": str(abs(end) / 2), "differences": [str(end)], "flow": flow}
        below["D"] = str(Fraction(abs(end), 2))
        assert rule_of(automaton, below) is None
        more = tampered(below, ("flow.0.amount", "501/1000"))
        limited = noise is Noise.LAPLACE or (noise is Noise.EXPONENTIAL and end == high)
        assert rule_of(automaton, more) == ("flow-capacity" if limited else None)
        grows = {"kind": "violation", "pattern": "growth", **run, "differences": [str(end)], "flow": flow}
        expected = "flow-capacity" if limited else None if end else "violation-growth"
        assert rule_of(automaton, grows) == expected


def test_the_side_of_exponential_noise():
    """Below the mean there is nothing: a test from above becomes impossible, one from below only rarer."""
    below, above = (
        made([State("a", True, half, noise=Noise.EXPONENTIAL)], [step("a", "o", "b", text)])
        for text in ("insample < 5", "insample >= 5")
    )
    run = {**TWO_SIDED, "run": [0]}
    rarer = {"kind": "lower", **run, "D": "1/2", "differences": ["1"]}
    rarer["flow"] = [{"from": "ground", "to": 0, "amount": "1/2"}]
    assert rule_of(above, rarer) is None
    assert rule_of(above, tampered(rarer, ("flow.0.amount", "501/1000"))) == "flow-capacity"
    impossible = {"kind": "violation", "pattern": "growth", **run, "differences": ["-1"]}
    impossible["flow"] = [{"from": 0, "to": "ground", "amount": "1"}]
    assert verified(below, impossible) == [GROWS]
    assert rule_of(above, chain(above, ["1/2", "0"], {})) is None
    assert rule_of(below, chain(below, ["9", "0"], {})) == "lift-noise"

    def chance(mean: float, test: Automaton) -> float:
        tail = min(1.0, math.exp(-(5 - mean) / 2))
        return tail if test is above else 1 - tail

    # alpha minus beta is 1, and -1: the numbers behind the two claims
    assert math.log(chance(4, above) / chance(3, above)) == pytest.approx(0.5)
    assert chance(4, below) > 0 == chance(5, below)


# --------------------------------------------------------------------------------------------------- runs


def grows(run: list[int], cycles: list[list[int]], *flow: tuple[object, ...], **more: object) -> Json:
    arcs = [
        {"from": a, "to": b, "amount": str(f)} | ({"repeated": True} if rest else {})
        for a, b, f, *rest in flow
    ]
    return {
        "kind": "violation",
        "pattern": "growth",
        **TWO_SIDED,
        "run": run,
        "cycles": cycles,
        "differences": ["0"] * len(run),
        "flow": arcs,
    } | more


def below(bound: object, *parts: object, **more: object) -> Json:
    certificate = grows(*parts, **more) | {"kind": "lower", "D": str(bound)}
    del certificate["pattern"]
    return certificate


BOTH = two_values(
    step("c", "low", "c", "insample < x"),
    step("c", "high", "e", guard("insample >= x", "insample < y")),
    step("c", "top", "f", guard("insample >= x", "insample >= y")),
    step("e", "again", "e", "insample >= x"),
    step("f", value("x"), "g"),
    e=State("e", True, half),
    f=State("f", draws=False),
)
"""Loops against two values: a leaking pair (2 and 5), and a released threshold."""


def test_patterns_are_growth():
    pair = grows([0, 1, 2, 3, 5], [[2, 3], [4, 5]], (2, 0, 1, True), (0, 4, 1, True))
    assert verified(BOTH, pair) == [GROWS]
    assert verified(BOTH, pair | {"adjacency": ["0", "1"]}) == [
        "not private for differences (first minus second) in [0, 1]: a run costs as much as one likes"
    ]
    assert rule_of(BOTH, pair | {"adjacency": ["0", "0"]}) == "violation-growth"
    assert rule_of(BOTH, tampered(pair, ("cycles", [[2, 3]]))) == "flow-repeated"
    path = grows([0, 1, 2, 4, 6], [[2, 3]], (2, 0, 1, True), (0, "ground", 1))
    assert verified(BOTH, path) == [GROWS]
    assert rule_of(BOTH, tampered(path, ("adjacency", ["0", "1"]))) == "violation-growth"
    disclosing = made([State("a", True, half)], [step("a", several(symbol("o"), INSAMPLE), "a")])
    for arc in ((0, "ground", 1, True), ("ground", 0, 1, True)):
        assert verified(disclosing, grows([0], [[0, 1]], arc)) == [GROWS]
    other = made([State("a", True, d_prime=half)], [step("a", several(symbol("o"), INSAMPLE_PRIME), "a")])
    for arc in (("0'", "ground", 1, True), ("ground", "0'", 1, True)):
        assert verified(other, grows([0], [[0, 1]], arc)) == [GROWS]
    assert rule_of(other, grows([0], [], ("0'", "ground", 1, True))) == "flow-repeated"


RECORD = made(
    [State("a", False, half), State("b", True, half)],
    [
        step("a", "o", "b", store="x"),
        step("b", "up", "b", "insample >= x + 1", store="x"),
        step("b", "down", "c", "insample < x + 1"),
    ],
)
"""A leaking cycle, by steps of at least 1."""


def capped(integer: bool = False) -> Automaton:
    """As RECORD, but from 1 on, and not above 5."""
    steps = list(RECORD.transitions)
    steps[0] = step("a", "o", "b", copy=[("x", 1)])
    steps[1] = step("b", "up", "b", guard("insample >= x + 1", "insample < 5"), store="x")
    return replace(RECORD, transitions=tuple(steps), integer=integer)


def test_a_leaking_cycle_is_two_rounds():
    good = grows([0, 1, 1], [[1, 3]], (1, 2, 1, True))
    assert verified(RECORD, good) == [GROWS]
    assert rule_of(RECORD, tampered(good, ("flow.0.repeated", False))) == "flow-capacity"
    assert rule_of(RECORD, tampered(good, ("flow.0.from", 0))) == "flow-edge"
    assert (
        rule_of(RECORD, tampered(good, ("cycles", [[1, 2]]), ("flow.0.from", 0), ("flow.0.to", 1)))
        == "flow-edge"
    )
    for integer in (False, True):
        assert rule_of(capped(integer), good) == "cycle-repeats"
        short = good | {"cycles": []}
        assert rule_of(capped(integer), short) == "flow-repeated"
        assert rule_of(capped(integer), below(0, [0, *[1] * 3], [])) is None
        assert rule_of(capped(integer), below(0, [0, *[1] * 4], [])) == "run-feasible"
    free = replace(capped(), transitions=(RECORD.transitions[0], *capped().transitions[1:]))
    assert rule_of(free, good) is None, "the first value may be as low as one likes"


def test_an_order_that_comes_to_rest():
    """That z is below y is only known after two rounds."""
    late = two_values(
        step("c", "o", "d", copy=[("z", "y")]),
        step("d", "o", "d", "insample >= x", store="x", copy=[("z", "y"), ("y", "x")]),
        step("d", "p", "e", guard("insample < x", "insample >= z")),
        c=SILENT,
        d=State("d", True, half),
    )
    for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0]):
        same = replace(late, transitions=tuple(late.transitions[t] for t in order))
        assert rule_of(same, below(0, order, [[3, 4]])) == "cycle-repeats"
        assert rule_of(same, below(0, [*order[:4], *order[3:]], [[4, 5]])) is None


def test_what_is_known_is_compared_at_the_end_of_a_round():
    reset = made(
        [State("a", draws=False), State("b", True, half), State("c", draws=False)],
        [
            step("a", "o", "b", copy=[("y", 0)]),
            step("b", "p", "c", "insample >= y", "y"),
            step("c", "q", "b", "y < 5", copy=[("y", 0)]),
        ],
    )
    assert rule_of(reset, below(0, [0, 1, 2], [[1, 3]])) is None


def test_whether_values_are_noisy_must_come_to_rest():
    """In the run y is an input without noise, and may be 5; after another round it is a noisy one."""
    steps = [
        step("a", "o", "b", store="x y"),
        step("b", "p", "c", "insample < 5"),
        step("b", "q", "d", "insample >= 5"),
        step("c", "r", "b", store="x", copy=[("y", "x")]),
        step("d", "s", "e", guard("y <= 5", "y >= 5")),
    ]
    states = [
        State("a", True, noise=Noise.NONE),
        *(State(q, True, half) for q in "bc"),
        State("d", draws=False),
    ]
    mixed = made(states, steps)
    assert rule_of(mixed, below(0, [0, 1, 3, 2, 4], [])) is None
    assert rule_of(mixed, below(0, [0, 1, 3, 2, 4], [[1, 3]])) == "cycle-repeats"
    assert rule_of(mixed, below(0, [0, 1, 3, 1, 3, 2, 4], [])) == "run-feasible"
    noisy = made([State("a", True, half), *states[1:]], [*steps[:4], step("d", "s", "e", "y <= 5")])
    assert rule_of(noisy, below(0, [0, 1, 3, 2, 4], [[1, 3]])) is None


def test_values_that_nobody_reads_do_not_matter():
    for anew, rule in (("y", None), ("", "cycle-repeats")):
        first = two_values(
            step("c", "o", "d", copy=[("y", "x")]),
            step("d", "o", "d", "insample >= x + 1", store="x"),
            step("d", "p", "e", "insample < x + 1", store=anew),
            step("e", value("y"), "f"),
            c=SILENT,
            d=State("d", True, half),
            e=State("e", draws=False),
        )
        assert rule_of(first, below(0, [0, 1, 2, 3, 4, 5], [[3, 4]])) == rule


def test_which_runs_are_feasible():
    tests = two_values(
        step("c", "o", "d", guard("insample >= x", "insample < y")),
        step("d", "p", "e", "x < y"),
        step("d", "q", "e", "y <= x"),
        step("e", "r", "g", "x <= -y + -1"),
        d=State("d", draws=False),
        e=State("e", draws=False),
    )
    assert rule_of(tests, below(0, [0, 1, 2, 3, 5], [])) is None
    assert rule_of(tests, below(0, [0, 1, 2, 4], [])) == "run-feasible"
    itself = two_values(step("c", "o", "d", "insample <= insample + 0"))
    assert rule_of(itself, below(0, [0, 1, 2], [])) is None
    for c, mean in ((Noise.NONE, 5), (Noise.EXPONENTIAL, 5), (Noise.EXPONENTIAL, 4)):
        known = two_values(step("c", "o", "d", "insample < 5"), c=State("c", False, half, mean, noise=c))
        assert rule_of(known, below(0, [0, 1, 2], [])) == (None if mean == 4 else "run-feasible")
    at_most = two_values(step("c", "o", "d", "insample <= 5"), c=State("c", False, half, 5, noise=Noise.NONE))
    assert rule_of(at_most, below(0, [0, 1, 2], [])) is None


EQUAL = [("x <= y", "y <= x"), ("x <= 0", "0 <= x"), ("x <= -x", "-x <= x")]


@pytest.mark.parametrize(("one", "other"), EQUAL)
@pytest.mark.parametrize("noise", Noise)
@pytest.mark.parametrize("integer", [False, True])
def test_different_samples_are_not_equal(one, other, noise, integer):
    """But with probability 0: if one of them is continuous."""
    noisy = {"d": None if noise is Noise.NONE else half, "noise": noise}
    automaton = two_values(
        step("c", "o", "d", one),
        step("d", "o", "e", other),
        integer=integer,
        a=State("a", True, **noisy),
        b=State("b", True, noise=Noise.NONE),
        c=SILENT,
        d=State("d", draws=False),
    )
    possible = integer or noise is Noise.NONE
    assert rule_of(automaton, below(0, [0, 1, 2, 3], [])) == (None if possible else "run-feasible")


def test_one_sample_is_equal_to_itself():
    assert rule_of(TWINS, below(0, [0, 1, 2], [])) is None
    assert rule_of(TWINS, below(0, [0, 1, 2], [], (0, 0, 1))) == "flow-edge"
    copied = made(
        [State("a", True, half), State("b", draws=False), State("c", draws=False)],
        [
            step("a", "o", "b", store="x"),
            step("b", "o", "c", copy=[("y", "x")]),
            step("c", "o", "d", "x < y"),
        ],
    )
    assert rule_of(copied, below(0, [0, 1, 2], [])) == "run-feasible"


def test_flow_follows_what_cycles_do_to_variables():
    """An arc about a value that every round finds changed is none; nor is one about it later."""
    shifting = two_values(
        step("c", "o", "c", guard("insample >= x", "insample < z"), store="y", copy=[("x", "y")]),
        step("c", "p", "d", guard("insample >= x", "insample >= z")),
        step("d", "q", "e", guard("insample < x", "insample < y")),
        step("d", "r", "e", guard("insample < x", "insample >= y")),
        b=State("b", True, half),
        d=State("d", True, half),
    )
    begin = [step("a0", "o", "a", store="z")]
    shifting = replace(
        shifting,
        states=(State("a0", True, half), *shifting.states),
        initial="a0",
        transitions=(*begin, *shifting.transitions),
    )
    run, cycle = [0, 1, 2, 3, 3, 4], [4, 5]
    assert rule_of(shifting, below(0, run, [])) is None
    quiet = ["0"] * 6
    flow = lambda a, b, *more: below(0, run, [cycle], (a, b, "1/8", *more), differences=quiet)  # noqa: E731
    assert rule_of(shifting, below(0, run, [], (3, 4, "1/8"))) == "flow-edge"
    assert rule_of(shifting, below(0, run, [], (2, 4, "1/8"))) is None
    assert rule_of(shifting, flow(4, 0)) is None, "z is kept"
    assert rule_of(shifting, flow(4, 0, True)) is None
    assert rule_of(shifting, flow(2, 4)) == "flow-edge", "x changes from round to round"
    assert rule_of(shifting, below(0, run, [], (3, 5, "1/8"))) is None
    assert rule_of(shifting, flow(3, 5)) == "flow-edge", "and is still another one after them"
    again = [*run, 5]
    assert rule_of(shifting, below(0, again, [], (6, 4, "1/8"))) is None
    assert rule_of(shifting, below(0, again, [cycle], (6, 4, "1/8"))) is None, "y is that of the last round"
    assert rule_of(shifting, below(0, again, [], (6, 3, "1/8"))) is None
    assert rule_of(shifting, below(0, again, [cycle], (6, 3, "1/8"))) == "flow-edge"


def test_flow_within_a_round_may_be_repeated():
    fresh_round = made(
        [State("a", True, half), State("b", True, quarter)],
        [
            step("a", "o", "b", store="x"),
            step("b", several(symbol("p")), "a", "insample >= x"),
            step("b", "q", "c", "insample < x"),
        ],
    )
    assert verified(fresh_round, grows([0, 1], [[0, 2]], (0, 1, 1, True))) == [GROWS]
    assert rule_of(fresh_round, below(2, [0, 1], [[0, 2]], (0, 1, 1, True))) is None
    assert (
        rule_of(fresh_round, below(2, [0, 1], [[0, 2]], (0, 1, 1, True)) | {"D": "2001/1000"})
        == "lower-bound"
    )
    lonely = grows([0, 1], [[0, 2]], (0, 1, 1, True)) | {"adjacency": ["0", "1"]}
    assert rule_of(fresh_round, lonely) is None
    mirrored = made([State("a", True, half)], [step("a", "o", "a", "insample >= -insample")])
    assert rule_of(mirrored, below(2, [0], [[0, 1]], ("-0", 0, 1, True))) is None
    assert rule_of(mirrored, below("2001/1000", [0], [[0, 1]], ("-0", 0, 1, True))) == "lower-bound"
    assert rule_of(mirrored, below("1/2", [0], [], ("-0", 0, "1/4"), differences=["1"])) is None
    assert rule_of(mirrored, below(0, [0], [], ("-0", 0, "251/1000"))) == "flow-capacity"


# ------------------------------------------------------------------------------------------- distinctness


def distinct(automaton: Automaton, run: list[int], cycles: Iterable[tuple[int, int]] = ()) -> bool | None:
    (claim,) = checker.verify(automaton, about(automaton, below(0, run, list(map(list, cycles))))).claims
    return claim.distinct


def alike(one: Output, other: Output, *, text: str = "insample < x") -> Automaton:
    more = "insample >= x" if text == "insample < x" else "insample >= 5"
    return fresh(step("b", one, "b", text), step("b", other, "b", more))


def test_outputs_tell_runs_apart():
    p, q = symbol("p"), symbol("q")
    for one, other, apart in [
        (p, q, True),
        (p, p, False),
        (p, several(p), False),
        (p, several(p, q), True),
        (several(p, q), several(q, p), True),
        (INSAMPLE, value("x"), False),
        (INSAMPLE, several(difference("insample", "x")), False),
        (several(p, INSAMPLE), several(p, value("x")), False),
        (several(p, INSAMPLE), several(INSAMPLE, p), True),
        (several(p, INSAMPLE), several(p, q), True),
    ]:
        assert distinct(alike(one, other), [0, 1, 1]) is apart
        assert distinct(alike(one, other), [0, 1], [(1, 2)]) is apart


def test_another_run_counts_though_it_comes_back():
    back = fresh(
        step("b", "p", "c", "insample < x"), step("b", "p", "c", "insample >= x"), step("c", "q", "e")
    )
    assert distinct(back, [0, 1, 3]) is False


def test_runs_that_are_impossible_are_not_mistaken_for_others():
    p = symbol("p")
    silent = {"draws": False, "d": None}
    for second_guard, apart in (("x >= 4", True), ("x >= 3", False), ("x > 3", True)):
        twofold = made(
            [State("a", draws=False), State("b", **silent)],
            [
                step("a", "o", "b", copy=[("x", 3)]),
                step("b", p, "c", guard("x < 3" if second_guard == "x >= 3" else "x < 4")),
                step("b", p, "c", second_guard if second_guard != "x > 3" else "x >= 4"),
            ],
        )
        if second_guard == "x >= 3":
            assert rule_of(twofold, below(0, [0, 1], [])) == "run-feasible"
        else:
            assert distinct(twofold, [0, 1]) is apart
    later = fresh(
        step("b", p, "c", "insample < x"),
        step("b", p, "e", "insample >= x", store="x"),
        step("c", "end", "c"),
        step("e", "other", "e"),
    )
    assert distinct(later, [0, 1]) is False
    assert distinct(later, [0, 1, 3]) is True
    assert distinct(later, [0, 1, 3], [(2, 3)]) is True


def test_another_run_that_needs_a_further_round_counts():
    p, q = symbol("p"), symbol("q")
    rounds = fresh(
        step("b", p, "b", "insample < x"),
        step("b", p, "c", "insample >= x"),
        step("c", p, "e"),
        step("e", p, "f"),
        step("f", q, "f"),
    )
    assert distinct(rounds, [0, 1]) is False
    only = fresh(
        step("b", p, "b", "insample < x"),
        step("b", q, "c", guard("insample >= x", "insample < 5")),
        step("b", p, "d", guard("insample >= x", "insample >= 5")),
        step("d", p, "e"),
        step("e", q, "e"),
    )
    assert distinct(only, [0, 1, 2]) is True
    assert distinct(only, [0, 1, 2], [(1, 2)]) is False


def test_when_other_runs_could_be_anywhere_distinction_is_not_claimed(monkeypatch):
    assert distinct(GAP, [0, 1, 2], [(1, 2)]) is True
    monkeypatch.setattr("symdipa.checker.plain.alike.MAX_IMITATORS", 2)
    assert distinct(GAP, [0, 1, 2], [(1, 2)]) is False


# ------------------------------------------------------------------------------------------- by brute force


def all_wider(seeds: Iterable[int]) -> Iterator[tuple[int, random.Random, Automaton]]:
    for seed in seeds:
        rng = random.Random(seed)
        automaton = random_automaton(rng)
        if not is_plain(automaton) and rule_of(automaton, EMPTY) is None:
            yield seed, rng, automaton


@pytest.mark.parametrize("first", range(0, 24, 4))
def test_bounds_are_not_below_the_dearest_run(first):
    """Random shifts, with the least potentials that the checker accepts."""
    for seed, rng, automaton in all_wider(range(first, first + 4)):
        best: Fraction | None = None
        for facts in (False, True):
            base = base_of(model_of(automaton), facts)
            for _ in range(8 if base else 0):
                found = lowered(private_try(rng, base), lambda c, a=automaton: rule_of(a, c) is None)
                if found is not None and (best is None or Fraction(found["D"]) < best):
                    best = Fraction(found["D"])
        assert best is None or best >= dearest(automaton, 4), seed


@dataclass(frozen=True)
class Trial:
    """A flow through a run with cycles, which may be worth what the checker says."""

    automaton: Automaton
    run: tuple[int, ...]
    cycles: tuple[tuple[int, int], ...]
    differences: tuple[int, ...]
    flow: tuple[tuple[tuple[End, End], Fraction, bool], ...]

    def certificate(self, kind: str = "lower") -> Json:
        arcs = [(*map(end_text, arc), f, *[True] * rest) for arc, f, rest in self.flow]
        parts = (list(self.run), list(map(list, self.cycles)), *arcs)
        differences = {"differences": list(map(str, self.differences))}
        return below(0, *parts, **differences) if kind == "lower" else grows(*parts, **differences)

    def longer(self, rounds: int) -> tuple[Unrolled, list[int], Fraction]:
        """The run with so many rounds for each repeated arc, its differences, and how much flow fits in."""
        plan: dict[int, list[tuple[tuple[End, End], Fraction]]] = {i: [] for i, _ in self.cycles}
        room = Fraction(10**6)
        for arc, amount, repeated in self.flow:
            if repeated:
                start, end = self.cycle_of(arc)
                plan[start] += [(arc, amount)] * rounds
                for p in range(start, end):
                    for second in (False, True):
                        gain = gains(arc, p, second) * amount
                        room = min(
                            room, rounds * self.capacity(p, second, gain) / abs(gain) if gain else room
                        )
        run: list[int] = []
        differences: list[int] = []
        for p, t in enumerate(self.run):
            for start, end in self.cycles:
                if p == start:
                    for arc, _ in plan[start]:
                        run += self.run[start:end]
                        differences += [self.best(arc, q) for q in range(start, end)]
            run.append(t)
            differences.append(self.differences[p])
        return unrolled(self.automaton, run), differences, room

    def cycle_of(self, arc: tuple[End, End]) -> tuple[int, int]:
        latest = max(end.position for end in arc if end.position is not None)
        return next((i, j) for i, j in self.cycles if i <= latest < j)

    def best(self, arc: tuple[End, End], p: int) -> int:
        gain = gains(arc, p, False) + gains(arc, p, True)
        reads = self.automaton.state(self.automaton.transitions[self.run[p]].source).is_input
        return (gain > 0) - (gain < 0) if reads else 0

    def capacity(self, p: int, second: bool, gain: Fraction) -> Fraction:
        state = self.automaton.state(self.automaton.transitions[self.run[p]].source)
        noise, d = (state.noise_prime, state.d_prime) if second else (state.noise, state.d)
        endless = noise is Noise.NONE or (noise is Noise.EXPONENTIAL and gain < 0)
        return Fraction(10**9) if endless else Fraction(d or 0)


def gains(arc: tuple[End, End], p: int, second: bool) -> int:
    signs = [(end, -1 if (way < 0) != end.mirrored else 1) for end, way in zip(arc, (-1, 1), strict=True)]
    return sum(sign for end, sign in signs if (end.position, end.second) == (p, second))


def end_text(end: End) -> str:
    return "ground" if end.position is None else "-" * end.mirrored + str(end.position) + "'" * end.second


def trials(rng: random.Random, automaton: Automaton, run: tuple[int, ...]) -> Iterator[Trial]:
    source = [automaton.transitions[t].source for t in run] + [automaton.transitions[run[-1]].target]
    loops = [(i, j) for i in range(len(run)) for j in range(i + 1, len(run) + 1) if source[i] == source[j]]
    cycles: list[tuple[int, int]] = []
    for i, j in rng.sample(loops, min(len(loops), 2)):
        if all(j <= k or m <= i for k, m in cycles):
            cycles.append((i, j))
    cycles.sort()
    try:
        walked = run_of(model_of(automaton), list(run), list(map(list, cycles)), "")
    except checker.CertificateRefused as refused:
        if refused.rule == "run-feasible":
            assert not feasible(unrolled(automaton, run))
        return
    for times in (0, 1, 2):
        longer = list(run)
        for i, j in reversed(cycles):
            longer[i:i] = list(run[i:j]) * times
        assert feasible(unrolled(automaton, longer))
    arcs = sorted(walked.arcs, key=str)
    for _ in range(6 if arcs else 0):
        flow = tuple(
            (arc, Fraction(rng.randint(1, 4), 8), arc in walked.steady and rng.random() < 0.6)
            for arc in rng.sample(arcs, min(len(arcs), rng.randint(1, 3)))
        )
        signs = tuple(rng.choice((-1, 1)) if step.reads_input else 0 for step in walked.steps)
        yield Trial(automaton, run, tuple(cycles), signs, flow)


@pytest.mark.parametrize("first", range(0, 30, 5))
def test_flows_are_not_worth_more_than_runs_cost(first):
    """Random runs with random flows: what they are worth, with further rounds written out."""
    for seed, rng, automaton in all_wider(range(first, first + 5)):
        found = [run for run in runs(automaton, 4) if len(run) > 2]
        for trial in (
            t for run in rng.sample(found, min(3, len(found))) for t in trials(rng, automaton, run)
        ):
            for kind in ("lower", "violation"):
                certificate = trial.certificate(kind)
                if rule_of(automaton, certificate) is not None:
                    continue
                longer, differences, room = trial.longer(1)
                if len(longer.steps) < 10:
                    share = Fraction(1 if kind == "lower" else 0)
                    model = model_of(automaton)
                    given = flows._run_and_inputs(model, certificate, "")
                    worth = flows._value(model, *given, certificate["flow"], "", share)
                    if kind == "lower":
                        room = min(room, Fraction(1))
                    assert cost(longer, differences) >= room * worth, (seed, trial)
