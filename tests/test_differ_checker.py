"""The checker where not every entry may differ, and with registers, on certificates written by hand.

`benchmarks/mutate_checker.py` runs this file against mutants of the checker.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from fractions import Fraction
from functools import cache

import differ_examples as examples
import jsonschema
import pytest
from conftest import ROOT
from differ_examples import adding, made, reading, summing, under
from linear_examples import S, less, most, noisy, query, step
from test_wider_checker import DROP, TWO_SIDED, about, rule_of, tampered, verified

from symdipa import checker
from symdipa.analysis import certify, weigh
from symdipa.checker.wider import differ as differs
from symdipa.checker.wider.adjacent import Apart, check_letters
from symdipa.checker.wider.differ import moves_of
from symdipa.checker.wider.model import model_of
from symdipa.model.adjacency.differ import ALL, Differ, differ
from symdipa.model.adjacency.letters import DifferError
from symdipa.model.automaton import (
    INSAMPLE,
    INSAMPLE_PRIME,
    Automaton,
    Noise,
    State,
    Transition,
    Update,
    several,
    value,
)

Json = dict
half, quarter = Fraction(1, 2), Fraction(1, 4)
EXP, NONE = Noise.EXPONENTIAL, Noise.NONE


# Which entries differ


def product_moves(text: str):
    """What the product makes of a text; ``None`` if it refuses it."""
    try:
        return differ(text).moves
    except DifferError:
        return None


def checker_moves(text: str):
    """What the checker makes of it."""
    try:
        return moves_of.__wrapped__(text)
    except checker.CertificateRefused as refused:
        assert refused.rule == "model-differ"
        return None


def random_pattern(rng: random.Random, depth: int) -> str:
    kind = rng.random()
    if depth == 0 or kind < 0.35:
        return rng.choice("=~.")
    if kind < 0.55:
        return "".join(random_pattern(rng, depth - 1) for _ in range(rng.randint(0, 3)))
    if kind < 0.75:
        return f"({'|'.join(random_pattern(rng, depth - 1) for _ in range(rng.randint(1, 3)))})"
    n = rng.randint(0, 3)
    times = rng.choice(["*", "+", "?", f"{{{n}}}", f"{{{n},}}", f"{{{n},{n + rng.randint(0, 2)}}}"])
    return f"({random_pattern(rng, depth - 1)}){times}"


@pytest.mark.parametrize("seed", range(4))
def test_two_parsers_agree_on_random_patterns(seed):
    rng = random.Random(seed)
    refused = 0
    for _ in range(1000):
        written = list(random_pattern(rng, rng.randint(1, 5)))
        for _ in range(rng.choice((0, 0, 0, 0, 1, 2)) if written else 0):
            written[rng.randrange(len(written))] = rng.choice("=~.()|*+?{},x")
        text = "pattern=" + "".join(written)
        assert checker_moves(text) == product_moves(text), text
        refused += product_moves(text) is None
    assert 50 < refused < 400


def test_what_texts_mean():
    assert moves_of("all") == moves_of("pattern=~*") == moves_of("pattern=(~|=~)*~*") == ((0, 0),)
    assert moves_of("entries=1") == moves_of("window=1") == moves_of("pattern==*~?=*") == ((0, 1), (1, None))
    assert moves_of("entries=2") == ((0, 1), (1, 2), (2, None))
    assert moves_of("window=3") == ((0, 1), (2, 2), (3, 3), (3, None))
    assert moves_of("pattern==~=") == ((1, None), (2, 2), (3, None), (None, None))
    assert moves_of("pattern=()") == moves_of("pattern=|") == ((None, None),)
    for text in ("entries=1000", "window=1000", "pattern=={200}", "pattern=(=~){12}.*"):
        assert moves_of(text) == differ(text).moves


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "some",
            "all=",
            "entries",
            "entries=",
            "entries=0",
            "entries=1001",
            "entries=-1",
            "entries=1.5",
        ),
        *("window=0", "window=1001", "window=²", "window=0000000001", "pattern", "pattern=", "pattern=x"),
        *("pattern='", "pattern==0", "pattern=(=')"),
        *("pattern=(", "pattern=)", "pattern=(=", "pattern==)", "pattern=*", "pattern=|*", "pattern=(+)"),
        *("pattern=={2,1}", "pattern=={}", "pattern=={,2}", "pattern=={1001}", "pattern=={0,1001}"),
        *("pattern=={2", "pattern=={1001,}", "pattern==2", "pattern=={2}}", "words=1"),
    ],
)
def test_texts_without_meaning_are_refused(text):
    assert checker_moves(text) is None
    assert product_moves(text) is None
    automaton = replace(examples.noisy_entries(), differ=Differ(text, ALL.moves))
    with pytest.raises(checker.CertificateRefused) as refused:
        checker.digest(automaton)
    assert refused.value.rule == "model-differ" and refused.value.message


def deep(depth: int) -> str:
    return "pattern=" + "(" * depth + "~" + ")" * depth


@pytest.mark.parametrize(
    ("most", "beyond"),
    [
        (deep(149), deep(150)),
        ("pattern=" + "(" * 150 + ")" * 150, "pattern=" + "(" * 151 + ")" * 151),
        ("pattern=~" + "?" * 149, "pattern=~" + "?" * 150),
        ("pattern=" + "(" * 74 + "~?" + ")?" * 74, "pattern=" + "(" * 75 + "~" + ")?" * 75),
        ("pattern=" + "(=|" * 149 + "~" + ")" * 149, "pattern=" + "(=|" * 149 + "(~)" + ")" * 149),
        ("pattern=(={1000}){19}", "pattern=(={1000}){20}"),
    ],
)
def test_patterns_that_are_too_large_are_refused(most, beyond, monkeypatch):
    monkeypatch.setattr(differs, "MAX_STATES", 20_000)
    monkeypatch.setattr(differs, "_least", lambda moves: moves)
    assert moves_of.__wrapped__(most)
    for text in (beyond, "pattern=((((){1000}){1000}){1000}){1000}", "pattern==" + "*" * 5000, deep(5000)):
        with pytest.raises(checker.CertificateRefused) as refused:
            moves_of.__wrapped__(text)
        assert refused.value.rule == "limit"


def test_automata_that_are_too_large_are_refused(monkeypatch):
    monkeypatch.setattr(differs, "MAX_STATES", 5)
    assert moves_of.__wrapped__("pattern=~={3}") == differ("pattern=~={3}").moves
    with pytest.raises(checker.CertificateRefused) as refused:
        moves_of.__wrapped__("pattern=~={4}")
    assert refused.value.rule == "limit"


# The digest


def test_the_digest_covers_which_entries_differ():
    plain, wide = examples.svt_for_ever(), examples.partial_sum(2)
    everyone = [plain, *(under(text, plain) for text in ("entries=1", "entries=2", "window=2", "pattern=~="))]
    everyone += [wide, under("entries=1", wide)]
    assert len({checker.digest(automaton) for automaton in everyone}) == len(everyone)
    assert checker.digest(under("pattern=~*", plain)) == checker.digest(plain)
    assert checker.digest(replace(under("entries=1", plain), name="x")) == checker.digest(everyone[1])


@pytest.mark.parametrize(
    "updates",
    [
        (),
        (Update("s", None, False),),
        (Update("s", None, True),),
        (Update("s", "s", True),),
        (Update("s", "r", True),),
        (Update("r", None, True),),
        (Update("s", None, True), Update("r", None, True)),
    ],
)
def test_the_digest_covers_registers(updates):
    base = examples.partial_sum(1)
    changed = replace(base, transitions=(replace(base.transitions[0], updates=updates), base.transitions[1]))
    assert (checker.digest(changed) == checker.digest(base)) is (updates == base.transitions[0].updates)
    for registers in ((), (("s", half),), (("r", Fraction(1)),), (("r", Fraction(1)), ("s", Fraction(1)))):
        states = (base.states[0], replace(base.states[1], registers=registers), base.states[2])
        assert checker.digest(replace(base, states=states)) != checker.digest(base)


def test_the_order_of_updates_and_registers_is_nothing():
    one, other = Update("s", None, True), Update("r", None, True)
    first = examples.partial_sum(1)
    two = [
        replace(first, transitions=(replace(first.transitions[0], updates=found), first.transitions[1]))
        for found in ((one, other), (other, one))
    ]
    object.__setattr__(two[1].transitions[0], "updates", (one, other))
    object.__setattr__(two[0].transitions[0], "updates", (other, one))
    assert checker.digest(two[0]) == checker.digest(two[1])


# Certificates

SVT = under("entries=1", examples.svt_for_ever())
FRESH = under("entries=1", examples.fresh_sums())


def svt_edges() -> list:
    return [
        *([0, 0, 1], [1, 1, 1, "="], [1, 1, 2, "~"], [1, 2, 1, "="], [1, 2, 2, "~"]),
        *([2, 1, 2, "="], [2, 2, 2, "="]),
    ]


SVT_PRIVATE = {
    "kind": "private",
    **TWO_SIDED,
    "D": "3/4",
    "base": {
        "nodes": [{"state": "a"}, {"state": "q0"}, {"state": "q0", "differ": 1}],
        "edges": svt_edges(),
    },
    "lift": {
        "cover": "forward",
        "shifts": {"t": ["0", "0"]},
        "nodes": [
            {"base": 0, "potential": "3/4"},
            {"base": 1, "potential": "3/4"},
            {"base": 2, "potential": "0"},
        ],
        "edges": svt_edges(),
    },
}
SVT_LOWER = {
    "kind": "lower",
    **TWO_SIDED,
    "D": "3/4",
    "run": [0, 2, 1, 2],
    "cycles": [[1, 2]],
    "differences": ["0", "0", "0", "-1"],
    "flow": [{"from": 3, "to": 0, "amount": "3/4"}, {"from": 0, "to": 2, "amount": "1/4"}],
}
FRESH_GROWS = {
    "kind": "violation",
    "pattern": "growth",
    **TWO_SIDED,
    "run": [0, 1],
    "cycles": [[1, 2]],
    "differences": ["1", "0"],
    "flow": [{"from": "ground", "to": 1, "amount": "1", "repeated": True}],
}

TOTAL = under(
    "entries=1",
    made(
        [reading("p"), reading("q"), replace(noisy("sum", quarter), registers=(("s", Fraction(2)),))],
        adding(step("p", "q", "read"), s="input"),
        adding(step("q", "sum", "read"), s="s+input"),
        step("sum", "end", INSAMPLE),
    ),
)
"""Twice the sum of two entries is shown once."""


def total_edges() -> list:
    return [
        *([0, 0, 1, "="], [0, 0, 2, "-"], [0, 0, 3, "+"]),
        *([1, 1, 4, "="], [1, 1, 5, "-"], [1, 1, 6, "+"], [2, 1, 5, "="], [3, 1, 6, "="]),
        *([4, 2, 7], [5, 2, 8], [6, 2, 8]),
    ]


TOTAL_PRIVATE = {
    "kind": "private",
    **TWO_SIDED,
    "D": "1/2",
    "base": {
        "nodes": [
            {"state": "p"},
            {"state": "q", "registers": {"s": "0"}},
            {"state": "q", "differ": 1, "registers": {"s": "-1"}},
            {"state": "q", "differ": 1, "registers": {"s": "1"}},
            {"state": "sum", "registers": {"s": "0"}},
            {"state": "sum", "differ": 1, "registers": {"s": "-1"}},
            {"state": "sum", "differ": 1, "registers": {"s": "1"}},
            {"state": "end"},
            {"state": "end", "differ": 1},
        ],
        "edges": total_edges(),
    },
    "lift": {
        "cover": "backward",
        "shifts": {},
        "nodes": [
            *({"base": v, "potential": "1/2"} for v in (0, 1, 2, 3)),
            {"base": 4, "potential": "0"},
            *({"base": v, "potential": "1/2"} for v in (5, 6)),
            *({"base": v, "potential": "0"} for v in (7, 8)),
        ],
        "edges": total_edges(),
    },
}
TOTAL_LOWER = {
    "kind": "lower",
    **TWO_SIDED,
    "D": "1/2",
    "run": [0, 1, 2],
    "differences": ["0", "-1", "0"],
    "flow": [{"from": 2, "to": "ground", "amount": "1/4"}],
}

PARTED = under("pattern=~=*", examples.known.svt(1, queries=quarter))
"""Only the first entry may differ."""

PARTED_PRIVATE = {
    "kind": "private-in-parts",
    **TWO_SIDED,
    "D": "1/4",
    "ground": {
        "nodes": [
            {"state": "a", "potential": "1/4"},
            {"state": "q0", "potential": "1/4"},
            {"state": "q1", "differ": 1, "potential": "0"},
            {"state": "q0", "differ": 1, "potential": "0"},
        ],
        "edges": [[0, 0, 1], [1, 1, 2, "~"], [1, 2, 3, "~"], [3, 1, 2, "="], [3, 2, 3, "="]],
    },
    "parts": [
        {
            "variables": ["t"],
            "base": {
                "nodes": [{"ground": 0}, {"ground": 1}, {"ground": 2}, {"ground": 3}],
                "edges": [[0, 0, 1], [1, 1, 2, "~"], [1, 2, 3, "~"], [3, 1, 2, "="], [3, 2, 3, "="]],
            },
            "lift": {
                "cover": "forward",
                "shifts": {"t": ["0", "0"]},
                "nodes": [{"base": 0}, {"base": 1}, {"base": 2}, {"base": 3}],
                "edges": [[0, 0, 1], [1, 1, 2, "~"], [1, 2, 3, "~"], [3, 1, 2, "="], [3, 2, 3, "="]],
            },
        }
    ],
}


@cache
def follows():
    schema = json.loads((ROOT / "symdipa" / "files" / "formats" / "certificate.schema.json").read_text())
    return jsonschema.Draft202012Validator(schema).is_valid


def test_what_holds_is_verified():
    assert verified(SVT, SVT_PRIVATE, SVT_LOWER) == [
        "D*eps-private with D = 3/4 for differences in [-1, 1] (entries=1)",
        "not D*eps-private with any D below 3/4 for differences in [-1, 1] (entries=1)",
    ]
    assert verified(FRESH, FRESH_GROWS) == [
        "not private for differences in [-1, 1] (entries=1): a run costs as much as one likes"
    ]
    assert [claim[-14:] for claim in verified(TOTAL, TOTAL_PRIVATE, TOTAL_LOWER)] == ["1] (entries=1)"] * 2
    assert verified(PARTED, PARTED_PRIVATE) == [
        "D*eps-private with D = 1/4 for differences in [-1, 1] (pattern=~=*)"
    ]
    for automaton, certificate in (
        (SVT, SVT_PRIVATE),
        (SVT, SVT_LOWER),
        (FRESH, FRESH_GROWS),
        (TOTAL, TOTAL_PRIVATE),
        (PARTED, PARTED_PRIVATE),
    ):
        assert follows()(about(automaton, certificate))


def test_one_direction():
    one_way = {"adjacency": ["0", "2"], "sensitivity": "1/2"}
    claim = "D*eps-private in one direction with D = 3/4 for differences (first minus second) in [0, 2]"
    assert verified(SVT, SVT_PRIVATE | one_way) == [f"{claim} times 1/2 (entries=1)"]


def test_the_examples_of_the_documentation():
    text = (
        (ROOT / "docs" / "certificates.md").read_text(encoding="utf-8").split("### Which entries differ")[1]
    )
    found = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    names = {"q0": "a", "q": "q0"}
    private = json.loads(json.dumps(SVT_PRIVATE))
    for node in found[1]["base"]["nodes"]:
        node["state"] = names[node["state"]]
    swapped = [[u, {1: 2, 2: 1}.get(t, t), v, *letter] for u, t, v, *letter in svt_edges()]
    for part in (private["base"], private["lift"], found[1]["base"], found[1]["lift"]):
        part["edges"] = sorted(part["edges"])
    assert sorted(swapped) == sorted(svt_edges())
    assert found == [FRESH_GROWS, private]


@pytest.mark.parametrize(
    ("rule", "place", "new"),
    [
        ("private-bound", "D", "749/1000"),
        ("lift-potential", "lift.nodes.1.potential", "749/1000"),
        ("lift-potential", "lift.nodes.2.potential", "1/1000"),
        ("lift-potential", "lift.shifts.t", ["1/1000", "1/1000"]),
        ("base-initial", "base.nodes.0.differ", 1),
        ("base-differ", "base.nodes.1.differ", 1),
        ("base-differ", "base.nodes.2.differ", 0),
        ("base-differ", "base.nodes.2.differ", 2),
        ("base-differ", "base.edges.0", [0, 0, 1, "="]),
        ("base-differ", "base.edges.1", [1, 1, 1]),
        ("base-differ", "base.edges.1", [1, 1, 1, "x"]),
        ("base-edge", "base.edges.1", [1, 1, 1, "~"]),
        ("base-edge", "base.edges.2", [1, 1, 2, "="]),
        ("base-differ", "base.edges.2", [1, 1, 1, "~"]),
        ("base-differ", "base.edges.7", [2, 1, 2, "~"]),
        ("base-complete", "base.edges.0", DROP),
        ("base-complete", "base.edges.1", DROP),
        ("base-complete", "base.edges.2", DROP),
        ("base-complete", "base.edges.5", DROP),
        ("base-complete", "base.edges.2", [1, 1, 2, "-"]),
        ("base-complete", "base.edges.2", [1, 1, 2, "+"]),
        ("base-edge", "base.edges.7", [1, 1, 2, "~"]),
        ("lift-edge", "lift.edges.2", [1, 1, 2, "-"]),
        ("lift-edge", "lift.edges.2", [1, 1, 2]),
        ("lift-edge", "lift.edges.7", [1, 1, 2, "~"]),
        ("lift-cover", "lift.edges.2", DROP),
        ("lift-cover", "lift.edges.5", DROP),
        ("shape", "base.edges.0", [0, 0, 1, ""]),
        ("shape", "base.edges.1", [1, 1, 1, 1]),
        ("shape", "base.edges.1", [1, 1, 1, None]),
        ("shape", "base.edges.1", [1, 1, 1, "=", "="]),
        ("shape", "base.edges.1", [1, 1]),
        ("shape", "base.edges.1", "1"),
        ("shape", "base.nodes.1.differ", "0"),
        ("shape", "base.nodes.1.registers", ["s"]),
        ("rational", "base.nodes.1.registers", {"t": 1}),
        ("base-node", "base.nodes.1.registers", {"t": "1"}),
    ],
)
def test_what_was_tampered_with_is_refused(rule, place, new):
    automaton = SVT
    if rule == "rational":
        place, new, automaton = place, {"s": 1}, TOTAL
        assert rule_of(automaton, tampered(TOTAL_PRIVATE, (place, new))) == rule
        return
    assert rule_of(automaton, tampered(SVT_PRIVATE, (place, new))) == rule


def test_both_ends_do_for_what_lies_between():
    edges = [*svt_edges()[:2], [1, 1, 2, "-"], [1, 1, 2, "+"], *svt_edges()[3:]]
    good = tampered(SVT_PRIVATE, ("base.edges", edges), ("lift.edges", list(edges)))
    assert rule_of(SVT, good) is None
    assert rule_of(SVT, tampered(good, ("lift.edges.3", DROP))) == "lift-cover"
    for end in (2, 3):
        assert rule_of(SVT, tampered(good, (f"base.edges.{end}", DROP))) == "base-complete"


def test_each_end_is_paid_for():
    """An entry is shown once; after ``+`` a potential of 1 is left, for nothing."""
    edges = [[0, 0, 0, "="], [0, 0, 1, "-"], [0, 0, 2, "+"], [1, 0, 1, "="], [2, 0, 2, "="]]
    good = {
        "kind": "private",
        "adjacency": ["-2", "1"],
        "sensitivity": "1",
        "D": "2",
        "base": {
            "nodes": [{"state": "q"}, {"state": "q", "differ": 1}, {"state": "q", "differ": 1}],
            "edges": edges,
        },
        "lift": {
            "cover": "forward",
            "shifts": {},
            "nodes": [
                {"base": 0, "potential": "2"},
                {"base": 1, "potential": "0"},
                {"base": 2, "potential": "1"},
            ],
            "edges": list(edges),
        },
    }
    once = under("entries=1", examples.noisy_entries())
    assert rule_of(once, good) is None
    assert rule_of(once, tampered(good, ("adjacency", ["-1", "2"]))) == "lift-potential"
    assert rule_of(once, tampered(good, ("lift.nodes.1.potential", "1/1000"))) == "lift-potential"
    assert rule_of(once, tampered(good, ("lift.nodes.2.potential", "1001/1000"))) == "lift-potential"
    assert rule_of(once, tampered(good, ("adjacency", ["-2", "0"]))) is None
    between = [*edges[:1], [0, 0, 1, "~"], [0, 0, 2, "+"], *edges[3:]]
    assert rule_of(once, tampered(good, ("base.edges", between), ("lift.edges", list(between)))) is None
    between = [*edges[:1], [0, 0, 1, "-"], [0, 0, 2, "~"], *edges[3:]]
    found = rule_of(once, tampered(good, ("base.edges", between), ("lift.edges", list(between))))
    assert found == "lift-potential"


@pytest.mark.parametrize(
    ("rule", "place", "new"),
    [
        ("private-bound", "D", "499/1000"),
        ("lift-potential", "lift.nodes.5.potential", "499/1000"),
        ("lift-potential", "lift.nodes.6.potential", "499/1000"),
        ("lift-potential", "lift.nodes.2.potential", "499/1000"),
        ("lift-potential", "adjacency", ["-2", "1"]),
        ("base-register", "adjacency", ["0", "0"]),
        ("base-register", "sensitivity", "2"),
        ("base-initial", "base.nodes.0.registers", {"s": "0"}),
        ("base-register", "base.nodes.1.registers", {"s": "1"}),
        ("base-register", "base.nodes.1.registers", {}),
        ("base-register", "base.nodes.1.registers", DROP),
        ("base-register", "base.nodes.2.registers", {"s": "0"}),
        ("base-register", "base.nodes.5.registers", {"s": "-2"}),
        ("base-register", "base.nodes.5.registers", DROP),
        ("base-register", "base.nodes.8.registers", {"s": "1"}),
        ("base-register", "base.edges.1", [0, 0, 2, "~"]),
        ("base-register", "base.edges.2", [0, 0, 3, "~"]),
        ("base-register", "base.edges.2", [0, 0, 2, "+"]),
        ("base-complete", "base.edges.1", DROP),
        ("base-complete", "base.edges.2", DROP),
        ("base-complete", "base.edges.0", DROP),
        ("base-complete", "base.edges.9", DROP),
        ("base-differ", "base.nodes.7.differ", 1),
        ("base-differ", "base.edges.9", [5, 2, 8, "="]),
    ],
)
def test_registers_that_were_tampered_with_are_refused(rule, place, new):
    found = rule_of(TOTAL, tampered(TOTAL_PRIVATE, (place, new)))
    if place == "adjacency" and new == ["-2", "1"]:
        rule = "base-register"
    assert found == rule


def test_an_entry_and_a_register_add_up():
    """What is left afterwards, for nothing, pays where they cancel out."""
    automaton = under(
        "all",
        made(
            [reading("p"), summing(query("q", Fraction(1)), "s")],
            adding(step("p", "q", "o"), s="input"),
            step("q", "e", INSAMPLE),
        ),
    )
    edges = [[0, 0, 1, "-"], [0, 0, 2, "+"]]
    edges += [[1, 1, 4, "-"], [1, 1, 3, "+"], [2, 1, 3, "-"], [2, 1, 4, "+"]]
    least, largest = ({"state": "q", "registers": {"s": end}} for end in ("-1", "1"))
    good = {
        "kind": "private",
        **TWO_SIDED,
        "D": "2",
        "base": {
            "nodes": [{"state": "p"}, least, largest, {"state": "e"}, {"state": "e"}],
            "edges": edges,
        },
        "lift": {
            "cover": "forward",
            "shifts": {},
            "nodes": [{"base": v, "potential": "0" if v == 4 else "2"} for v in range(5)],
            "edges": list(edges),
        },
    }
    assert rule_of(automaton, good) is None
    assert rule_of(automaton, tampered(good, ("lift.nodes.4.potential", "1/1000"))) == "lift-potential"
    assert rule_of(automaton, tampered(good, ("lift.nodes.3.potential", "2001/1000"))) == "lift-potential"


def test_a_register_that_is_not_followed_needs_one_letter_only():
    """Where no mean to come has it, an entry that is only added to it is as good as equal."""
    automaton = under(
        "entries=1",
        made(
            [reading("p"), query("q", half)], adding(step("p", "q", "read"), s="input"), step("q", "e", "o")
        ),
    )
    shown = under(
        "entries=1",
        made(
            [query("p", half), query("q", half)],
            adding(step("p", "q", INSAMPLE), s="input"),
            step("q", "e", "o"),
        ),
    )
    edges = [[0, 0, 1, "="], [1, 1, 2, "="], [1, 1, 3, "~"]]
    nodes = [{"state": "p"}, {"state": "q"}, {"state": "e"}, {"state": "e", "differ": 1}]
    good = {
        "kind": "private",
        **TWO_SIDED,
        "D": "0",
        "base": {"nodes": nodes, "edges": edges},
        "lift": {
            "cover": "forward",
            "shifts": {},
            "nodes": [{"base": v, "potential": "0"} for v in range(4)],
            "edges": list(edges),
        },
    }
    assert rule_of(automaton, good) is None
    assert rule_of(automaton, tampered(good, ("base.nodes.1.registers", {"s": "0"}))) == "base-complete"
    assert rule_of(shown, good) == "base-complete"
    summed = replace(
        automaton, states=(automaton.states[0], summing(query("q", half), "s"), *automaton.states[2:])
    )
    assert rule_of(summed, good) is None, "nothing depends on the mean of q"
    reset = replace(
        automaton,
        transitions=(
            replace(automaton.transitions[0], updates=(Update("s", None, False),)),
            *automaton.transitions[1:],
        ),
    )
    assert rule_of(reset, tampered(good, ("base.nodes.1.registers", {"s": "0"}))) is None
    kept = tampered(good, ("base.nodes.1.registers", {"s": "0"}), ("base.nodes.2.registers", {"s": "0"}))
    kept = tampered(kept, ("base.nodes.3.registers", {"s": "0"}))
    assert rule_of(reset, kept) is None, "a register that is not updated, or not by the entry, is known still"
    for update in (Update("s", "s", False), Update("s", None, False)):
        again = replace(
            reset, transitions=(reset.transitions[0], replace(reset.transitions[1], updates=(update,)))
        )
        assert rule_of(again, kept) is None
    more = replace(
        reset,
        transitions=(reset.transitions[0], replace(reset.transitions[1], updates=(Update("s", "s", True),))),
    )
    assert rule_of(more, kept) == "base-register"
    unused = tampered(good, ("base.edges.2", DROP), ("lift.edges.2", DROP), ("lift.nodes.3", DROP))
    unused = tampered(unused, ("base.nodes.3", DROP))
    assert rule_of(automaton, unused) is None, "nothing depends on the mean of q"


def test_nothing_is_asked_where_no_entry_is_allowed():
    once = under("pattern=~", examples.noisy_entries())
    good = {
        "kind": "private",
        **TWO_SIDED,
        "D": "1",
        "base": {"nodes": [{"state": "q"}, {"state": "q", "differ": 1}], "edges": [[0, 0, 1, "~"]]},
        "lift": {
            "cover": "forward",
            "shifts": {},
            "nodes": [{"base": 0, "potential": "1"}, {"base": 1, "potential": "0"}],
            "edges": [[0, 0, 1, "~"]],
        },
    }
    assert rule_of(once, good) is None
    assert rule_of(under("pattern=~=", examples.noisy_entries()), good) == "base-complete"
    more = ("base.edges.1", [1, 0, 1, "="])
    assert rule_of(once, tampered(good, more)) == "base-differ"


LETTERS = ("=", "~", "-", "+")


@pytest.mark.parametrize(
    "text", ["all", "entries=1", "pattern=~=*", "pattern==", "pattern==~*", "pattern=(==~)*"]
)
def test_letters_that_are_enough(text):
    """By the definition: all that may come must be covered."""
    shapes = {
        "mean": under(text, made([query("q", half)], step("q", "q", INSAMPLE))),
        "second": under(text, made([State("q", d_prime=half)], step("q", "q", INSAMPLE_PRIME))),
        "register": under(
            text,
            made(
                [reading("q"), summing(noisy("r", half), "s")],
                adding(step("q", "r", "o"), s="input"),
                step("r", "r", INSAMPLE),
            ),
        ),
        "nothing": under(text, made([reading("q")], step("q", "q", "o"))),
        "unused": under(text, made([query("q", half)], step("q", "q", "o"))),
    }
    for shape, automaton in shapes.items():
        model = model_of(automaton)
        for state, (equal, other) in enumerate(model.moves):
            for chosen in range(16):
                letters = [letter for k, letter in enumerate(LETTERS) if chosen >> k & 1]
                if any((equal if letter == "=" else other) is None for letter in letters):
                    continue
                free = shape in ("nothing", "unused")
                ends = "~" in letters or {"-", "+"} <= set(letters)
                may_be_equal = equal is None or "=" in letters or (ends and equal == other)
                may_differ = other is None or ends or ("=" in letters and free)
                registers = {"s": Fraction(0)} if shape == "register" else {}
                there = {x: Apart((equal if x == "=" else other) or 0, registers) for x in letters}
                try:
                    check_letters(model, Apart(state), 0, there, "here")
                except checker.CertificateRefused as refused:
                    assert refused.rule == "base-complete"
                    assert not (may_be_equal and may_differ), (shape, state, letters)
                else:
                    assert may_be_equal and may_differ, (shape, state, letters)


MADE = [
    (
        automaton,
        checker.digest(automaton),
        certify(weigh(automaton, adjacency=adjacency, timeout=60))["certificates"],
    )
    for automaton, adjacency in (
        (under("window=2", examples.smart_sum(2)), "two-sided"),
        (under("window=2", examples.sliding_sums(3, half)), "two-sided"),
        (under("entries=1", examples.sliding_sums(2, half)), (-2, 1)),
        (under("entries=1", examples.fresh_sums()), "two-sided"),
        (under("pattern=~={2}", examples.fresh_sums()), (-2, 1)),
        (under("all", examples.adaptive()), "monotone"),
    )
]
"""What is made by those who are not trusted."""


def test_what_was_found_is_verified():
    for automaton, digest, certificates in MADE:
        assert checker.digest(automaton) == digest
        assert verified(automaton, *certificates)
        for part in certificates:
            if part["kind"] == "private":
                for v, node in enumerate(part["lift"]["nodes"]):
                    if Fraction(node["potential"]):
                        less_paid = str(Fraction(node["potential"]) * Fraction(99, 100))
                        place = f"lift.nodes.{v}.potential"
                        found = rule_of(automaton, tampered(part, (place, less_paid)))
                        assert found == "lift-potential"
                for v, node in enumerate(part["base"]["nodes"]):
                    for r, difference in node.get("registers", {}).items():
                        changed = str(Fraction(difference) + half)
                        place = f"base.nodes.{v}.registers.{r}"
                        assert rule_of(automaton, tampered(part, (place, changed))) == "base-register"
            elif part["kind"] == "lower":
                above = str(Fraction(part["D"]) + Fraction(1, 100))
                assert rule_of(automaton, tampered(part, ("D", above))) == "lower-bound"


# Parts


@pytest.mark.parametrize(
    ("rule", "place", "new"),
    [
        ("private-bound", "D", "249/1000"),
        ("part-potential", "ground.nodes.1.potential", "249/1000"),
        ("part-potential", "ground.nodes.0.potential", "-1/4"),
        ("part-potential", "ground.nodes.3.potential", "1/1000"),
        ("part-potential", "parts.0.lift.shifts.t", ["1/1000", "1/1000"]),
        ("part-variables", "parts.0.variables", ["u"]),
        ("part-variables", "parts.0.variables", ["t", "t"]),
        ("lift-read", "parts", []),
        ("lift-read", "parts.0.lift.shifts", {}),
        ("lift-node", "parts.0.variables", []),
        ("lift-kept", "parts.0.lift.nodes.3.shifts", {"t": ["1", "1"]}),
        ("base-node", "parts.0.base.nodes.1.ground", 4),
        ("base-edge", "parts.0.base.nodes.3.ground", 1),
        ("base-initial", "parts.0.base.nodes.0.ground", 1),
        ("base-initial", "parts.0.base.nodes.0.facts", [["<=", "1", "1"]]),
        ("base-initial", "parts.0.base.nodes", []),
        ("base-initial", "ground.nodes.0.state", "q0"),
        ("base-initial", "ground.nodes.0.differ", 1),
        ("base-initial", "ground.nodes", []),
        ("base-node", "ground.nodes.1.state", "x"),
        ("base-differ", "ground.nodes.2.differ", 0),
        ("base-complete", "ground.edges.3", DROP),
        ("base-complete", "parts.0.base.edges.3", DROP),
        ("base-fact", "parts.0.base.nodes.1.facts", [["<", "t", "5"]]),
        ("base-edge", "parts.0.base.edges.1", [1, 1, 2, "="]),
        ("lift-cover", "parts.0.lift.edges.3", DROP),
        ("shape", "ground.nodes.1.facts", []),
        ("shape", "parts.0.base.nodes.1.state", "q0"),
        ("shape", "parts.0.lift.nodes.1.more", "1"),
        ("shape", "potentials", {}),
    ],
)
def test_parts_that_were_tampered_with_are_refused(rule, place, new):
    assert rule_of(PARTED, tampered(PARTED_PRIVATE, (place, new))) == rule


def test_potentials_of_the_ground_are_not_negative():
    less_paid = [(f"ground.nodes.{v}.potential", "0" if v < 2 else "-1/4") for v in range(4)]
    assert rule_of(PARTED, tampered(PARTED_PRIVATE, ("D", "0"), *less_paid)) == "part-potential"


NEVER = under(
    "pattern=~",
    made(
        [query("a", half), examples.known.silent("b"), examples.known.silent("c")],
        step("a", "b", "o", store="x"),
        step("b", "c", "low", less("x", 5)),
        step("b", "e", "high", most(5, "x")),
        step("c", "e", "lower", less("x", 7)),
        step("c", "e", "never", most(7, "x")),
    ),
)
"""The last transition is impossible."""


def test_what_the_facts_exclude_needs_no_edge():
    edges = [[0, 0, 1, "~"], [1, 1, 2], [1, 2, 3], [2, 3, 3]]
    states = [{"state": "a"}, *({"state": q, "differ": 1} for q in "bce")]
    facts = [[], [], [["<", "x", "5"]], []]
    good = {
        "kind": "private",
        **TWO_SIDED,
        "D": "1/2",
        "base": {
            "nodes": [node | {"facts": known} for node, known in zip(states, facts, strict=True)],
            "edges": edges,
        },
        "lift": {
            "cover": "forward",
            "shifts": {"x": ["0", "0"]},
            "nodes": [{"base": v, "potential": "0" if v else "1/2"} for v in range(4)],
            "edges": list(edges),
        },
    }
    parted = {
        "kind": "private-in-parts",
        **TWO_SIDED,
        "D": "1/2",
        "ground": {
            "nodes": [node | {"potential": "0" if v else "1/2"} for v, node in enumerate(states)],
            "edges": [*edges, [2, 4, 3]],
        },
        "parts": [
            {
                "variables": ["x"],
                "base": {
                    "nodes": [{"ground": v, "facts": known} for v, known in enumerate(facts)],
                    "edges": list(edges),
                },
                "lift": good["lift"] | {"nodes": [{"base": v} for v in range(4)]},
            }
        ],
    }
    assert rule_of(NEVER, good) is None
    assert rule_of(NEVER, tampered(good, ("base.nodes.2.facts", []))) == "base-complete"
    assert rule_of(NEVER, tampered(good, ("base.nodes.2.facts.0.2", "3"))) == "base-fact"
    assert rule_of(NEVER, parted) is None
    assert rule_of(NEVER, tampered(parted, ("D", "499/1000"))) == "private-bound"
    assert rule_of(NEVER, tampered(parted, ("parts.0.base.nodes.2.facts", []))) == "base-complete"
    assert rule_of(NEVER, tampered(parted, ("ground.edges.4", DROP))) == "base-complete"
    assert rule_of(NEVER, tampered(parted, ("ground.nodes.2.potential", "1/4"))) == "part-potential"
    whole = tampered(parted, ("parts.0.base.nodes.2.facts", []), ("parts.0.base.edges.4", [2, 4, 3]))
    assert rule_of(NEVER, whole) == "lift-cover"
    assert rule_of(NEVER, tampered(whole, ("parts.0.lift.edges.4", [2, 4, 3]))) is None


def test_parts_agree_on_a_sample():
    """It is compared with what one part has, and stored for the other one."""
    automaton = made(
        [noisy("a", half), query("b", half), examples.known.silent("c")],
        step("a", "b", "o", store="t"),
        step("b", "c", "high", most("t", S), store="y"),
        step("b", "e", "low", less(S, "t")),
        step("c", "e", "up", most(0, "y")),
        step("c", "e", "down", less("y", 0)),
    )
    edges = [[0, 0, 1], [1, 1, 2], [1, 2, 3], [2, 3, 3], [2, 4, 3]]

    def part(x: str) -> Json:
        nodes = [{"base": v} for v in range(4)]
        lift = {"cover": "forward", "shifts": {x: ["0", "0"]}, "nodes": nodes, "edges": list(edges)}
        if x == "y":
            lift["nodes"] = [{"base": v, "shifts": {"y": None}} if v != 2 else {"base": v} for v in range(4)]
        base = {"nodes": [{"ground": v} for v in range(4)], "edges": list(edges)}
        return {"variables": [x], "base": base, "lift": lift}

    potentials = ["1/2", "1/2", "0", "0"]
    good = {
        "kind": "private-in-parts",
        **TWO_SIDED,
        "D": "1/2",
        "ground": {
            "nodes": [{"state": q, "potential": p} for q, p in zip("abce", potentials, strict=True)],
            "edges": edges,
        },
        "parts": [part("t"), part("y")],
    }
    assert rule_of(automaton, good) is None
    assert follows()(about(automaton, good))
    assert rule_of(automaton, tampered(good, ("D", "499/1000"))) == "private-bound"
    rich = tampered(good, ("D", "5"), ("ground.nodes.0.potential", "5"), ("ground.nodes.1.potential", "4"))
    assert rule_of(automaton, tampered(rich, ("parts.0.lift.shifts.t", ["1", "1"]))) is None
    assert rule_of(automaton, tampered(rich, ("parts.0.lift.shifts.t", ["-1", "-1"]))) == "part-sample"
    assert rule_of(automaton, tampered(rich, ("parts.1", DROP))) == "lift-read"
    assert rule_of(automaton, tampered(rich, ("parts.0", DROP))) == "lift-read"
    assert rule_of(automaton, tampered(rich, ("parts.1.variables.1", "t"))) == "part-variables"


# Runs


@pytest.mark.parametrize(
    ("rule", "place", "new"),
    [
        ("lower-bound", "D", "751/1000"),
        ("run-differ", "differences", ["0", "1", "0", "-1"]),
        ("run-differ", "differences", ["0", "0", "1", "-1"]),
        ("difference", "differences", ["1", "0", "0", "0"]),
        ("difference", "differences", ["0", "0", "0", "-2"]),
        ("lower-bound", "differences", ["0", "0", "0", "0"]),
        ("lower-bound", "differences", ["0", "0", "0", "1"]),
        ("cycle-differ", "cycles", [[3, 4]]),
        ("flow-capacity", "flow.1.amount", "249/1000"),
    ],
)
def test_runs_that_were_tampered_with_are_refused(rule, place, new):
    assert rule_of(SVT, tampered(SVT_LOWER, (place, new))) == rule


@pytest.mark.parametrize(
    ("rule", "place", "new"),
    [
        ("violation-growth", "differences", ["-1", "0"]),
        ("violation-growth", "differences", ["0", "0"]),
        ("run-differ", "differences", ["1", "1"]),
        ("cycle-differ", "differences", ["0", "1"]),
        ("flow-repeated", "cycles", []),
        ("flow-capacity", "flow.0.repeated", False),
    ],
)
def test_growth_that_was_tampered_with_is_refused(rule, place, new):
    assert rule_of(FRESH, tampered(FRESH_GROWS, (place, new))) == rule


def test_further_rounds_are_like_the_one_in_the_run():
    """Where every entry may differ a round may differ from the next: write both."""
    always = under("all", FRESH)
    falls = tampered(FRESH_GROWS, ("flow.0.from", 1), ("flow.0.to", "ground"))
    assert rule_of(always, FRESH_GROWS) is None
    assert rule_of(always, falls) == "violation-growth"
    assert rule_of(always, tampered(falls, ("differences", ["-1", "0"]))) is None
    assert rule_of(always, tampered(FRESH_GROWS, ("differences", ["0", "1"]))) == "cycle-differ"
    twice = [("run", [0, 1, 1]), ("cycles", [[1, 3]]), ("differences", ["0", "1", "-1"])]
    assert rule_of(always, tampered(FRESH_GROWS, *twice)) is None
    late = tampered(FRESH_GROWS, *twice, ("flow.0.to", 2))
    assert rule_of(always, late) == "violation-growth", "the sum is larger before this entry is added"


def test_registers_in_runs():
    total = tampered(
        TOTAL_LOWER, ("differences", ["1", "0", "0"]), ("flow.0.from", "ground"), ("flow.0.to", 2)
    )
    assert rule_of(TOTAL, total) is None
    assert rule_of(TOTAL, tampered(total, ("differences", ["-1", "0", "0"]))) == "lower-bound"
    assert rule_of(TOTAL, tampered(TOTAL_LOWER, ("differences", ["-1", "-1", "0"]))) == "run-differ"
    last = under("pattern=~~", TOTAL)
    assert rule_of(last, TOTAL_LOWER) is None, "no entry may come any more, and none does"
    assert rule_of(under("pattern=~", TOTAL), TOTAL_LOWER) == "run-differ"
    every = under("all", TOTAL)
    both = tampered(TOTAL_LOWER, ("differences", ["-1", "-1", "0"]))
    assert rule_of(every, tampered(both, ("D", "1"))) is None
    assert rule_of(every, tampered(both, ("D", "1001/1000"))) == "lower-bound"


def close(*steps: Transition, **states: State) -> Automaton:
    """Adds up two entries, then goes on."""
    parts = {"p": reading("p"), "q": reading("q")} | states
    start = [adding(step("p", "q", "read"), r="input"), adding(step("q", "a", "read"), s="r+input")]
    return made(parts.values(), *start, *steps)


def exact(name: str, **factors: int) -> State:
    """A state whose sample is a sum of registers."""
    return replace(noisy(name, None, NONE), registers=tuple((r, Fraction(k)) for r, k in factors.items()))


def test_means_that_depend_on_each_other():
    def grows(automaton: Automaton, run: list[int], **more: object) -> str | None:
        differences = ["1", *["0"] * (len(run) - 1)]
        flow = [{"from": "ground", "to": run.index(2), "amount": "1"}]
        claim = {"kind": "violation", "pattern": "growth", **TWO_SIDED, "run": run, "flow": flow}
        return rule_of(automaton, claim | {"differences": differences} | more)

    one = close(step("a", "e", INSAMPLE), a=exact("a", s=1))
    assert grows(one, [0, 1, 2]) is None
    two = [step("a", "b", INSAMPLE, store="x"), step("b", "e", "o", less(S, "x"))]
    assert grows(close(*two, a=exact("a", s=1), b=exact("b", r=1)), [0, 1, 2, 3]) is None
    assert grows(close(*two, a=exact("a", s=1, r=1), b=exact("b", s=1, r=-2)), [0, 1, 2, 3]) is None
    for again in ({"s": 1}, {"s": 2}, {"s": -3}):
        assert grows(close(*two, a=exact("a", s=1), b=exact("b", **again)), [0, 1, 2, 3]) == "run-means"
    laplace = replace(exact("b", s=1), noise=Noise.LAPLACE, d=half)
    assert grows(close(*two, a=exact("a", s=1), b=laplace), [0, 1, 2, 3]) is None
    above = replace(exact("b", s=1), noise=EXP, d=half)
    assert grows(close(*two, a=exact("a", s=1), b=above), [0, 1, 2, 3]) == "run-means"
    unseen = [two[0], step("b", "e", "o")]
    assert grows(close(*unseen, a=exact("a", s=1), b=exact("b", s=1)), [0, 1, 2, 3]) is None
    own = replace(exact("b", s=1), is_input=True)
    assert grows(close(*two, a=exact("a", s=1), b=own), [0, 1, 2, 3]) is None
    three = [
        step("a", "b", INSAMPLE, store="x"),
        step("b", "c", "o", less(S, "x")),
        step("c", "e", "o", less(S, "x")),
    ]
    triple = {"a": exact("a", s=1), "b": exact("b", r=1)}
    assert grows(close(*three, **triple, c=exact("c", s=1, r=2)), [0, 1, 2, 3, 4]) == "run-means"
    plain = [step("a", "b", INSAMPLE, store="x"), step("b", "e", "o", less(S, "x"))]
    assert grows(close(*plain, a=exact("a", s=1), b=noisy("b", None, NONE)), [0, 1, 2, 3]) is None
    read = close(
        adding(step("a", "b", INSAMPLE, store="x"), t="input"),
        step("b", "e", "o", less(S, "x")),
        a=replace(exact("a", s=1), is_input=True),
        b=exact("b", t=1),
    )
    assert grows(read, [0, 1, 2, 3]) is None
    again = made(
        [replace(exact("p"), is_input=True), reading("q"), exact("a", r=1, s=1), exact("b", r=1)],
        adding(step("p", "q", "o", store="x"), r="input"),
        adding(step("q", "a", "o"), s="input"),
        step("a", "b", INSAMPLE, store="y"),
        step("b", "e", "o", less(S, "y"), most("x", S)),
    )
    assert grows(again, [0, 1, 2]) is None
    assert grows(again, [0, 1, 2, 3]) == "run-means", "the first one read what the last one has"
    copied = made(
        [reading("p"), reading("q"), exact("a", s=1), exact("b", r=1)],
        adding(step("p", "q", "o"), r="input"),
        adding(step("q", "a", "o"), s="r"),
        *two,
    )
    assert grows(copied, [0, 1, 2]) is None
    assert grows(copied, [0, 1, 2, 3]) == "run-means"
    twice = made(
        [reading("p"), reading("q"), exact("a", s=1), exact("b", r=1, u=1)],
        adding(step("p", "q", "o"), r="input"),
        adding(step("q", "a", "o"), s="r+input", u="input"),
        *two,
    )
    assert grows(twice, [0, 1, 2, 3]) == "run-means"
    updated = [two[0], adding(two[1], s="0")]
    assert grows(close(*updated, a=exact("a", s=1), b=exact("b", r=1)), [0, 1, 2, 3]) is None


def test_means_that_depend_on_each_other_in_cycles():
    def grows(automaton: Automaton, run: list[int], cycles: list[list[int]], at: int) -> str | None:
        flow = [{"from": "ground", "to": at, "amount": "1", "repeated": any(i <= at < j for i, j in cycles)}]
        claim = {"kind": "violation", "pattern": "growth", **TWO_SIDED, "run": run, "cycles": cycles}
        return rule_of(automaton, claim | {"differences": ["1", *["0"] * (len(run) - 1)], "flow": flow})

    again = close(step("a", "a", INSAMPLE), a=exact("a", s=1))
    assert grows(again, [0, 1, 2], [], 2) is None
    assert grows(again, [0, 1, 2], [[2, 3]], 2) == "run-means"
    fresh = close(
        adding(step("a", "b", "o"), s="input"), step("b", "a", INSAMPLE), a=reading("a"), b=exact("b", s=1)
    )
    after = ["0", "0", "0", "0", "1", "0"]
    rounds = {"run": [0, 1, 2, 3, 2, 3], "cycles": [[2, 4]], "differences": after}
    shown = [{"from": "ground", "to": 5, "amount": "1"}]
    claim = {"kind": "violation", "pattern": "growth", **TWO_SIDED, **rounds, "flow": shown}
    assert rule_of(fresh, claim) is None
    claim |= {"run": [0, 1, 2, 3], "cycles": [[2, 4]], "differences": ["0", "0", "1", "0"]}
    claim |= {"flow": [{"from": "ground", "to": 3, "amount": "1", "repeated": True}]}
    assert rule_of(fresh, claim) is None
    late = close(
        step("a", "a", "low", most(S, 0)),
        step("a", "b", "high", less(0, S)),
        step("b", "e", INSAMPLE),
        a=noisy("a", half),
        b=exact("b", s=1),
    )
    assert grows(late, [0, 1, 2, 3, 4], [[2, 3]], 4) is None
    mixed = close(
        adding(step("a", "a", "low", most(S, 0)), s="r"),
        step("a", "b", "high", less(0, S)),
        step("b", "e", INSAMPLE),
        a=noisy("a", half),
        b=exact("b", s=1),
    )
    assert grows(mixed, [0, 1, 3, 4], [], 3) is None
    assert grows(mixed, [0, 1, 2, 3, 4], [], 4) is None
    assert grows(mixed, [0, 1, 2, 3, 4], [[2, 3]], 4) == "run-means"
    first = exact("first", r=1)
    for factors in ({"r": 1}, {"r": 1, "s": 1}, {"s": 1}):
        before = close(
            step("a", "b", INSAMPLE, store="x"),
            adding(step("b", "b", "low", most(S, "x")), r="s"),
            step("b", "c", "high", less("x", S)),
            step("c", "e", INSAMPLE, less(S, "x")),
            a=replace(first, name="a"),
            b=noisy("b", half),
            c=exact("c", **factors),
        )
        assert grows(before, [0, 1, 2, 4, 5], [], 2) is None or factors == {"r": 1}
        assert grows(before, [0, 1, 2, 3, 4, 5], [[3, 4]], 2) == (
            None if factors == {"s": 1} else "run-means"
        )
    own = close(
        adding(step("a", "a", "o", most(S, 0)), s="input"),
        step("a", "e", INSAMPLE, less(0, S)),
        a=replace(exact("a", s=1), is_input=True),
    )
    claim |= {"run": [0, 1, 2, 3], "cycles": [[2, 3]], "differences": ["0", "0", "0", "1"]}
    claim |= {"flow": [{"from": "ground", "to": 3, "amount": "1"}]}
    assert rule_of(own, claim) is None


# The automaton


@pytest.mark.parametrize(
    ("rule", "automaton"),
    [
        ("model-register", made([query("q", half)], adding(step("q", "q", "o", store="s"), s="input"))),
        ("model-register", made([query("q", half)], adding(step("q", "q", "o"), insample="input"))),
        ("model-register", made([query("q", half)], adding(step("q", "q", "o"), insampleprime="input"))),
        (
            "model-register",
            made([query("q", half)], replace(step("q", "q", "o"), updates=(Update("", None, True),))),
        ),
        (
            "model-register",
            made([query("q", half)], replace(step("q", "q", "o"), updates=(Update("s", "", True),))),
        ),
        ("model-register", made([noisy("q", half)], adding(step("q", "q", "o"), s="input"))),
        (
            "model-register",
            made(
                [query("q", half)],
                replace(step("q", "q", "o"), updates=(Update("s", None, True), Update("s", None, False))),
            ),
        ),
        ("model-register", made([summing(query("q", half), "x")], step("q", "q", "o", store="x"))),
        ("model-initialization", made([summing(query("q", half), "s")], step("q", "q", INSAMPLE))),
        ("model-initialization", made([query("q", half)], adding(step("q", "q", "o"), s="s+input"))),
        ("model-initialization", made([query("q", half)], adding(step("q", "q", "o"), s="r"))),
        (
            "model-integer",
            replace(
                made(
                    [reading("p"), replace(query("q", half), registers=(("s", half),))],
                    adding(step("p", "q", "o"), s="input"),
                    step("q", "q", INSAMPLE),
                ),
                integer=True,
            ),
        ),
    ],
)
def test_automata_that_are_not_valid_are_refused(rule, automaton):
    assert rule_of(automaton, SVT_PRIVATE) == rule
    assert rule_of(under("entries=1", automaton), SVT_PRIVATE) == rule


def test_integers():
    """Ends are rounded inwards, and factors are integers."""
    whole = replace(TOTAL, integer=True)
    assert rule_of(whole, TOTAL_PRIVATE) is None
    wide = {"adjacency": ["-3/2", "3/2"]}
    assert rule_of(whole, TOTAL_PRIVATE | wide) is None
    assert rule_of(TOTAL, TOTAL_PRIVATE | wide) == "base-register"
    assert rule_of(whole, TOTAL_LOWER | wide | {"differences": ["0", "-3/2", "0"]}) == "difference"


def test_other_kinds_refuse_such_automata_by_name():
    for automaton in (SVT, under("all", TOTAL), under("entries=1", examples.known.histogram())):
        for kind in ("relational", "well-formed"):
            with pytest.raises(checker.CertificateRefused, match=kind) as refused:
                others = {kind: lambda *_: pytest.fail("not to be asked")}
                checker.verify(automaton, about(automaton, {"kind": kind}), others)
            assert refused.value.rule == "kind"
    assert rule_of(SVT, tampered(FRESH_GROWS, ("pattern", "leaking-pair"))) == "violation-pattern"


def test_letters_are_for_automata_that_unfold():
    everyone = under("all", SVT)
    assert rule_of(everyone, SVT_PRIVATE) == "shape"
    assert rule_of(under("pattern=~*", SVT), SVT_PRIVATE) == "shape"
    exponential = under("all", examples.known.one_exponential())
    bare = {"nodes": [{"state": "q"}], "edges": [[0, 0, 0, "~"]]}
    claim = {"kind": "private", **TWO_SIDED, "D": "1", "base": bare, "lift": SVT_PRIVATE["lift"]}
    assert rule_of(exponential, claim) == "shape"
    summed = made(
        [query("p", half), query("q", half)], adding(step("p", "q", "o"), s="input"), step("q", "e", "o")
    )
    bare_edges = claim | {"base": {"nodes": [{"state": "p"}, {"state": "q"}], "edges": [[0, 0, 1]]}}
    assert rule_of(summed, bare_edges) == "base-differ", "it has a register, even if nothing depends on it"
    bare = {"nodes": [{"state": "q", "differ": 0}], "edges": []}
    assert rule_of(exponential, claim | {"base": bare}) == "shape"


def test_two_numbers_that_are_shown_move_alike():
    both = replace(query("q", half), d_prime=quarter, registers=(("s", Fraction(1)),))
    automaton = under(
        "entries=1",
        made(
            [reading("p"), both],
            adding(step("p", "q", "o"), s="input"),
            step("q", "e", several(INSAMPLE, INSAMPLE_PRIME)),
        ),
    )
    claim = {"kind": "lower", **TWO_SIDED, "D": "3/4", "run": [0, 1], "differences": ["1", "0"]}
    claim |= {
        "flow": [
            {"from": "ground", "to": 1, "amount": "1/2"},
            {"from": "ground", "to": "1'", "amount": "1/4"},
        ]
    }
    assert rule_of(automaton, claim) is None
    assert rule_of(automaton, claim | {"D": "751/1000"}) == "lower-bound"
    assert value("x").names == ("x",)
