"""The checker of certificates about automata that are not the paper's, on certificates written by hand.

`benchmarks/mutate_checker.py` runs this file against mutants of the checker.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from itertools import product

import pytest
import z3
from conftest import ROOT
from wider_random import base_of, lowered, made, private_try, random_automaton
from wider_runs import INFINITE, cost, dearest, feasible, number, runs, unrolled

from symdipa import checker
from symdipa.checker.claims import Inputs
from symdipa.checker.model import is_plain
from symdipa.checker.wider import flows
from symdipa.checker.wider.model import model_of
from symdipa.checker.wider.order import SAMPLE, ZERO, Bound, Order, Place, Value, compared
from symdipa.checker.wider.runs import run_of
from symdipa.model.automaton import (
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
    guarded,
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


def guard(*atoms: str, integer: bool = False) -> Guard:
    """From texts like ``"insample >= t + 3"``."""
    found = []
    for text in atoms:
        relation = next(sign for sign in (" >= ", " <= ", " < ", " > ") if sign in text)
        left, right = map(term, text.split(relation))
        low, high = (right, left) if ">" in relation else (left, right)
        found.append(atom(low, high, "=" not in relation))
    return guarded(found, integer)


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
    found = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    assert found == [GAP_ABOVE, GAP_BELOW, OUTSIDE_BELOW, RELEASED_GROWS, EXPOSED_GROWS]


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
    back = [{"from": 2, "to": 0, "amount": "1/4"}]
    loss = GAP_BELOW | {"flow": back, "differences": ["0", "0", "-1"]}
    assert rule_of(GAP, loss | {"D": "1/4"}) is None
    assert rule_of(GAP, loss | {"D": "26/100"}) == "lower-bound"
    assert rule_of(OUTSIDE, OUTSIDE_BELOW | {"D": "501/1000"}) == "lower-bound"
    assert rule_of(OUTSIDE, tampered(OUTSIDE_BELOW, ("flow.1.to", "0"))) == "flow-capacity"
    assert rule_of(OUTSIDE, tampered(OUTSIDE_BELOW, ("flow.1.amount", "1/16"))) == "flow-capacity"


def test_only_some_kinds_are_for_wider_automata():
    for kind in ("private-in-parts", "relational", "well-formed"):
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
                step("b", "o", "b", guarded([atom(Term("x", half), Term("insample"), False)])), integer=True
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
    integer = more.get("integer", False)
    branches = [step("b", "o", "b", guard(text, integer=integer)) for text in (one, other)]
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
    moved = order.moved(gets)
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
    moved = order.moved({})
    assert moved.facts == {
        (ZERO, Place("x"), Bound(Fraction(-1), -1)),
        (Place("x", True), ZERO, Bound(Fraction(-1), -1)),
        (Place("x", True), Place("x"), Bound(Fraction(-2), -1)),
    }
    stored = order.moved({"y": own})
    assert stored.implies(compared(Value(Place("y"), Fraction(0)), x, True))
    assert order.moved({"y": x}).facts > moved.facts


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
def test_the_range_of_a_sample(noise, text):
    """The least potential that pays for one step, against the definition of what its shift may be."""
    shown = {None: [INSAMPLE, value("x"), difference("insample", "x"), symbol("o")]}.get(text, [symbol("o")])
    for output, ends, low in product(shown, [(-1, -1), (0, 0), (-1, 1), (0, 1)], (-1, 0)):
        when = guard(text) if text else TRUE
        d = None if noise is Noise.NONE else half
        automaton = made(
            [State("a", True, half), State("b", True, d, noise=noise), State("z", draws=False)],
            [step("a", "o", "b", store="x"), step("b", output, "c", when), WIDER],
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
                "shifts": {"x": [str(end) for end in ends]},
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
