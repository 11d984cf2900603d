"""The checker of certificates: what holds is verified, what was tampered with breaks a rule.

The certificates here are written by hand, so these tests know nothing of the code that makes certificates.
`benchmarks/mutate_checker.py` runs this file against mutants of the checker. (Certificates that pair runs:
`test_relational_checker.py`.)
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import pytest

from symdipa import checker
from symdipa.files.formats import loads
from symdipa.model.automaton import INSAMPLE, INSAMPLE_PRIME, Automaton, Guard, State, Transition, symbol

Json = dict


# ------------------------------------------------------------------------------------------------ automata


def dipa(text: str) -> Automaton:
    return loads(text, "dipa")


SVT = dipa("""
(q1:non-input, 1/4, 0): x := insample; output init; goto q2
(q2, 1/2, 0): if (insample < x) then output bot; goto q2 elseif (insample >= x) then output top; goto q3
""")
"""Transitions: 0 stores x, 1 is the loop, 2 leaves it."""

FLOOR = dipa("""
(q1:non-input, 1/4, 0): x := insample; output init; goto q2
(q2, 1/2, 0): if (insample >= x) then output bot; goto q2 elseif (insample < x) then output top; goto q3
""")
"""SVT upside down."""

ORDERED = dipa("""
(a:non-input, 1/4, 0): x := insample, y := insample; output o; goto b
(b, 1/2, 0): if (insample >= x && insample < y) then output p; goto b
             elseif (insample >= x && insample >= y) then y := insample; output q; goto c
(c, 1/2, 0): if (insample >= y && insample < x) then output r; goto c
             elseif (insample < y && insample >= x) then output s; goto end
""")
"""In b both variables hold one sample, in c x is below y: neither loop (1, 3) can be taken."""

SHOWN = dipa("""
(a, 1/2, 0, 1/4, 0): x := insample; output insample; goto b
(b, 1/2, 0, 1/3, 0): if (insample >= x) then output insampleprime; goto end
""")

RECORD = dipa("""
(a:non-input, 1/4, 0): x := insample; output o; goto b
(b, 1/4, 0): if (insample >= x) then x := insample; output p; goto b
             elseif (insample < x) then output q; goto end
""")
"""A leaking cycle (1)."""

DELAYED = dipa("""
(p:non-input, 1/4, 0): x := insample; output o; goto p1
(p1:non-input, 1/4, 0): y := insample; output o; goto p2
(p2:non-input, 1/4, 0): z := insample; output o; goto a
(a, 1/4, 0): if (insample >= x) then output a; goto b
(b, 1/4, 0): if (insample >= z) then x := insample; output b; goto c
(c, 1/4, 0): if (insample >= y) then z := insample; output c; goto a
""")
"""A leaking cycle (3, 4, 5) whose order is not at rest at once."""

ONCE = dipa("""
(p:non-input, 1/4, 0): x := insample; output o; goto p1
(p1:non-input, 1/4, 0): y := insample; output o; goto a
(a, 1/4, 0): if (insample >= x && insample < y) then output a; goto b
(b, 1/4, 0): if (insample >= y) then x := insample; output b; goto a
""")
"""A cycle (2, 3) that can be taken once only: afterwards x is above y."""

PAIR = dipa("""
(q1:non-input, 1/4, 0): x := insample; output init; goto q2
(q2, 1/2, 0): if (insample < x) then output bot; goto q2 elseif (insample >= x) then output top; goto q2
""")
"""A leaking pair: the loops 1 and 2."""

TIED = dipa("""
(p:non-input, 1/4, 0): y := insample, z := insample; output o; goto p1
(p1:non-input, 1/4, 0): x := insample; output o; goto a
(a, 1/4, 0): if (insample >= x && insample < y) then output a; goto b
(b, 1/4, 0): if (insample >= z) then x := insample; output b; goto a
""")
"""As ONCE, because y and z are the same sample."""

SWAP = dipa("""
(p:non-input, 1/4, 0): u := insample; output o; goto p1
(p1, 1/4, 0): if (insample >= u) then x := insample; output o; goto p2
(p2:non-input, 1/4, 0): z := insample; output o; goto a
(a, 1/4, 0): if (insample >= z) then t := insample; output a; goto b
(b, 1/4, 0): if (insample >= x) then z := insample; output b; goto c
(c, 1/4, 0): if (insample >= t) then x := insample; output c; goto a
""")
"""A leaking cycle (3, 4, 5) in which u is known to be below x and below z in turn."""

OVERWRITES = dipa("""
(p:non-input, 1/4, 0): x := insample, y := insample; output o; goto a
(a, 1/4, 0): if (insample < y) then x := insample; output p; goto a
             elseif (insample >= y) then output q; goto b
(b, 1/4, 0): if (insample >= x) then output r; goto b elseif (insample < x) then output s; goto b
""")
"""The loop 1 stores x and does not read it; the loops 3 and 4 read it."""

PIVOT = dipa("""
(q:non-input, 1/4, 0): p := insample; output o; goto a
(a, 1/8, 0): if (insample >= p) then x := insample; output up; goto b
             elseif (insample < p) then x := insample; output down; goto b
(b, 1/4, 0): if (insample < p && insample >= x) then output in; goto b
             elseif (insample < p && insample < x) then output below; goto end
             elseif (insample >= p && insample < x) then output middle; goto end
             elseif (insample >= p && insample >= x) then output above; goto end
""")
"""The loop 3 can be taken only after 2."""

IMPOSSIBLE = dipa("""
(a:non-input, 1/4, 0): x := insample, y := insample; output o; goto b
(b, 1/2, 0, 1/2, 0): if (insample >= x && insample < y) then output insampleprime; goto b
                     elseif (insample >= x && insample >= y) then output q; goto end
""")
"""The loop 1 would show an input again and again."""

SHOWS = dipa("""
(a, 1/2, 0, 1/4, 0): output insample; goto b
(b, 1/2, 0, 1/3, 0): output insampleprime; goto end
""")

REDRAW = dipa("(a, 1/4, 0): x := insample; output o; goto a")
SHOWING = dipa("(a, 1/4, 0): output insample; goto a")
TAKING_TURNS = dipa("(a, 1/4, 0, 1/4, 0): output insampleprime; goto b (b, 1/4, 0): output o; goto a")
STREAM = dipa("(a, 1/4, 0, 1/4, 0): output insampleprime; goto a")
SILENT_STREAM = dipa("(a:non-input, 1/4, 0): output insample; goto b (b:non-input, 1/4, 0): output o; goto a")

SHOWN_ABOVE = dipa("""
(a:non-input, 1/4, 0): x := insample; output insample; goto b
(b, 1/4, 0): if (insample < x) then output p; goto b elseif (insample >= x) then output q; goto c
(c, 1/4, 0): if (insample >= x) then output p; goto c
""")
"""Two violating paths: the loop 1 below the shown sample, the loop 3 above it."""


# -------------------------------------------------------------------------------------------- certificates


def about(automaton: Automaton, *certificates: Json) -> Json:
    return {
        "format": "symdipa-certificate",
        "version": 1,
        "automaton": {"name": automaton.name, "sha256": checker.digest(automaton)},
        "certificates": list(certificates),
    }


TWO_SIDED = {"adjacency": ["-1", "1"], "sensitivity": "1"}

SVT_BASE = {
    "nodes": [{"state": "q1"}, {"state": "q2"}, {"state": "q3"}],
    "edges": [[0, 0, 1], [1, 1, 1], [1, 2, 2]],
}

SVT_PRIVATE = {
    "kind": "private",
    **TWO_SIDED,
    "D": "5/4",
    "base": SVT_BASE,
    "lift": {
        "cover": "forward",
        "shifts": {"x": ["-1", "-1"]},
        "nodes": [
            {"base": 0, "potential": "5/4"},
            {"base": 1, "potential": "1"},
            {"base": 2, "potential": "0"},
        ],
        "edges": [[0, 0, 1], [1, 1, 1], [1, 2, 2]],
    },
}

SVT_LIFTED = {
    **SVT_PRIVATE,
    "lift": {
        "cover": "backward",
        "shifts": {},
        "nodes": [
            {"base": 0, "potential": "5/4"},
            {"base": 1, "potential": "1", "shifts": {"x": ["-1", "-1"]}},
            {"base": 1, "potential": "0", "shifts": {"x": None}},
            {"base": 2, "potential": "0"},
        ],
        "edges": [[0, 0, 1], [0, 0, 2], [1, 1, 1], [1, 1, 2], [1, 2, 3]],
    },
}
"""The loop in two copies: in the second (node 2) nothing will be read any more."""

FLOOR_PRIVATE = deepcopy(SVT_PRIVATE)
FLOOR_PRIVATE["lift"]["shifts"]["x"] = ["1", "1"]

ORDERED_PRIVATE = {
    "kind": "private",
    **TWO_SIDED,
    "D": "1",
    "base": {
        "nodes": [
            {"state": "a"},
            {"state": "b", "facts": [["=", "x", "y"]]},
            {"state": "c", "facts": [["<", "x", "y"]]},
            {"state": "end", "facts": []},
        ],
        "edges": [[0, 0, 1], [1, 2, 2], [2, 4, 3]],
    },
    "lift": {
        "cover": "forward",
        "shifts": {"x": ["0", "0"], "y": ["0", "0"]},
        "nodes": [
            {"base": 0, "potential": "1"},
            {"base": 1, "potential": "1"},
            {"base": 2, "potential": "1/2", "shifts": {"y": ["-1", "0"]}},
            {"base": 3, "potential": "0", "shifts": {"y": None}},
        ],
        "edges": [[0, 0, 1], [1, 2, 2], [2, 4, 3]],
    },
}

SHOWN_PRIVATE = {
    "kind": "private",
    **TWO_SIDED,
    "D": "4/3",
    "base": {
        "nodes": [{"state": "a"}, {"state": "b"}, {"state": "end"}],
        "edges": [[0, 0, 1], [1, 1, 2]],
    },
    "lift": {
        "cover": "forward",
        "shifts": {"x": ["0", "0"]},
        "nodes": [
            {"base": 0, "potential": "4/3"},
            {"base": 1, "potential": "5/6"},
            {"base": 2, "potential": "0"},
        ],
        "edges": [[0, 0, 1], [1, 1, 2]],
    },
}

ORDERED_IN_PARTS = {
    "kind": "private-in-parts",
    **TWO_SIDED,
    "D": "1",
    "potentials": {"a": "1", "b": "1", "c": "1/2", "end": "0"},
    "parts": [
        {
            "variables": ["y", "x"],
            "base": ORDERED_PRIVATE["base"],
            "lift": ORDERED_PRIVATE["lift"]
            | {"nodes": [{"base": 0}, {"base": 1}, {"base": 2, "shifts": {"y": ["-1", "0"]}},
                         {"base": 3, "shifts": {"y": None}}]},
        }
    ],
}  # fmt: skip

SHOWN_IN_PARTS = {
    "kind": "private-in-parts",
    **TWO_SIDED,
    "D": "4/3",
    "potentials": {"a": "4/3", "b": "5/6", "end": "0"},
    "parts": [
        {
            "variables": ["x"],
            "base": SHOWN_PRIVATE["base"],
            "lift": SHOWN_PRIVATE["lift"] | {"nodes": [{"base": 0}, {"base": 1}, {"base": 2}]},
        }
    ],
}

IMPOSSIBLE_IN_PARTS = {
    "kind": "private-in-parts",
    **TWO_SIDED,
    "D": "1/2",
    "potentials": {"a": "1/2", "b": "1/2", "end": "0"},
    "parts": [
        {
            "variables": ["x", "y"],
            "base": {
                "nodes": [{"state": "a"}, {"state": "b", "facts": [["=", "x", "y"]]}, {"state": "end"}],
                "edges": [[0, 0, 1], [1, 2, 2]],
            },
            "lift": {
                "cover": "forward",
                "shifts": {"x": ["0", "0"], "y": ["0", "0"]},
                "nodes": [{"base": 0}, {"base": 1}, {"base": 2}],
                "edges": [[0, 0, 1], [1, 2, 2]],
            },
        }
    ],
}

SHOWS_IN_NO_PART = {
    "kind": "private-in-parts",
    **TWO_SIDED,
    "D": "5/6",
    "potentials": {"a": "5/6", "b": "1/3", "end": "0"},
    "parts": [],
}

PIVOT_IN_PARTS = {
    "kind": "private-in-parts",
    **TWO_SIDED,
    "D": "1",
    "potentials": {"q": "1", "a": "3/4", "b": "1/2", "end": "0"},
    "parts": [
        {
            "variables": ["p"],
            "base": {
                "nodes": [{"state": "q"}, {"state": "a"}, {"state": "b"}, {"state": "end"}],
                "edges": [[0, 0, 1], [1, 1, 2], [1, 2, 2], [2, 3, 2], [2, 4, 3], [2, 5, 3], [2, 6, 3]],
            },
            "lift": {
                "cover": "forward",
                "shifts": {"p": ["-1", "-1"]},
                "nodes": [{"base": 0}, {"base": 1}, {"base": 2}, {"base": 3}],
                "edges": [[0, 0, 1], [1, 1, 2], [1, 2, 2], [2, 3, 2], [2, 4, 3], [2, 5, 3], [2, 6, 3]],
            },
        },
        {
            "variables": ["x"],
            "base": {
                "nodes": [
                    {"state": "q"},
                    {"state": "a"},
                    {"state": "b", "facts": [["<", "p", "x"]]},
                    {"state": "b", "facts": [["<", "x", "p"]]},
                    {"state": "end"},
                ],
                "edges": [[0, 0, 1], [1, 1, 2], [1, 2, 3], [2, 4, 4], [2, 5, 4], [2, 6, 4], [3, 3, 3],
                          [3, 4, 4], [3, 6, 4]],
            },
            "lift": {
                "cover": "forward",
                "shifts": {"x": ["1", "1"]},
                "nodes": [
                    {"base": 0},
                    {"base": 1},
                    {"base": 2, "shifts": {"x": ["-1", "-1"]}},
                    {"base": 3},
                    {"base": 4, "shifts": {"x": None}},
                ],
                "edges": [[0, 0, 1], [1, 1, 2], [1, 2, 3], [2, 4, 4], [2, 5, 4], [2, 6, 4], [3, 3, 3],
                          [3, 4, 4], [3, 6, 4]],
            },
        },
    ],
}  # fmt: skip
"""The shift of x depends on whether it lies below p, of p on nothing."""

SVT_LOWER = {
    "kind": "lower",
    **TWO_SIDED,
    "D": "5/4",
    "run": [0, 1, 2],
    "cycles": [[1, 2]],
    "differences": ["0", "-1", "1"],
    "flow": [
        {"from": 1, "to": 0, "amount": "3/4", "repeated": True},
        {"from": 0, "to": 2, "amount": "1/2"},
    ],
}


def on_trunk(certificate: Json) -> Json:
    """The same over a trunk that splits nothing: its nodes are the states in the order of the potentials."""
    number = {state: str(i) for i, state in enumerate(certificate["potentials"])}
    edges = certificate["parts"][0]["base"]["edges"]
    copy = deepcopy(certificate) | {
        "trunk": {
            "base": {"nodes": [{"state": state} for state in number], "edges": deepcopy(edges)},
            "lift": {
                "cover": "backward",
                "shifts": {},
                "nodes": [{"base": i} for i in range(len(number))],
                "edges": deepcopy(edges),
            },
        },
        "potentials": {number[state]: found for state, found in certificate["potentials"].items()},
    }
    for part in copy["parts"]:
        for node in part["base"]["nodes"]:
            node["state"] = number[node["state"]]
    return copy


PIVOT_ON_TRUNK = on_trunk(PIVOT_IN_PARTS)

FLOOR_LOWER = {
    **SVT_LOWER,
    "differences": ["0", "1", "-1"],
    "flow": [
        {"from": 0, "to": 1, "amount": "3/4", "repeated": True},
        {"from": 2, "to": 0, "amount": "1/2"},
    ],
}

SVT_ROUNDS = {
    "kind": "lower",
    **TWO_SIDED,
    "D": "5/4",
    "run": [0, 1, 1, 2],
    "differences": ["0", "-1", "-1", "1"],
    "flow": [
        {"from": 1, "to": 0, "amount": "1/2"},
        {"from": 2, "to": 0, "amount": "1/4", "repeated": False},
        {"from": 0, "to": 3, "amount": "1/2"},
    ],
}

SHOWN_LOWER = {
    "kind": "lower",
    **TWO_SIDED,
    "D": "4/3",
    "run": [0, 1],
    "differences": ["1", "1"],
    "flow": [{"from": "ground", "to": 0, "amount": "1"}, {"from": 0, "to": 1, "amount": "1/2"}],
}

TWINS = dipa("""
(a, 1/2, 0): x := insample; output o; goto b
(b, 1/2, 0): if (insample < x) then output p; goto c elseif (insample >= x) then output p; goto d
(c, 1/4, 0): if (insample >= x) then output q; goto end elseif (insample < x) then output r; goto end
(d, 1/4, 0): if (insample >= x) then output q; goto end elseif (insample < x) then output r; goto end
""")
TWINS_LOWER = {
    "kind": "lower",
    **TWO_SIDED,
    "D": "1/2",
    "run": [0, 1, 3],
    "differences": ["-1", "1", "1"],
    "flow": [{"from": 0, "to": 2, "amount": "1/4"}],
    "others": [{"run": [0, 2, 5], "flow": [{"from": 0, "to": 1, "amount": "1/4"}]}],
}
"""Both runs that show o, p, q are worth as much."""

READS_LESS = dipa("""
(a:non-input, 1/4, 0): x := insample; output o; goto b
(b, 1/2, 0): if (insample < x) then output p; goto c elseif (insample >= x) then output p; goto d
(c:non-input, 1/2, 0): output q; goto e
(d, 1/2, 0): if (insample >= x) then output q; goto f elseif (insample < x) then output u; goto end
(e, 1/4, 0): if (insample >= x) then output r; goto end elseif (insample < x) then output s; goto end
(f, 1/4, 0): if (insample >= x) then output r; goto end elseif (insample < x) then output s; goto end
""")
READS_LESS_LOWER = {
    "kind": "lower",
    **TWO_SIDED,
    "D": "1/4",
    "run": [0, 1, 3, 6],
    "differences": ["0", "0", "0", "1"],
    "flow": [{"from": 0, "to": 3, "amount": "1/4"}],
    "others": [{"run": [0, 2, 4, 8], "flow": [{"from": 0, "to": 2, "amount": "1/4"}]}],
}
"""The second entry is read in the last step, or in the one before, and a third one then."""
READS_MORE_LOWER = {
    **READS_LESS_LOWER,
    "run": [0, 2, 4, 8],
    "differences": ["0", "0", "1", "-1"],
    "flow": [{"from": 0, "to": 2, "amount": "1/4"}],
    "others": [{"run": [0, 1, 3, 6], "flow": [{"from": 0, "to": 3, "amount": "1/4"}]}],
}

RECORD_LEAKS = {
    "kind": "violation",
    "pattern": "leaking-cycle",
    "run": [0, 1],
    "cycles": [[1, 2]],
    "rounds": [0, 1],
}
DELAYED_LEAKS = {**RECORD_LEAKS, "run": [0, 1, 2, 3, 4, 5], "cycles": [[3, 6]], "rounds": [2, 3]}

SWAP_LEAKS = {**DELAYED_LEAKS, "rounds": [1, 3]}

PAIR_LEAKS = {
    "kind": "violation",
    "pattern": "leaking-pair",
    "run": [0, 1, 2],
    "cycles": [[1, 2], [2, 3]],
    "path": [1, 0, 2],
}
STREAM_DISCLOSES = {"kind": "violation", "pattern": "disclosing-cycle", "run": [0], "cycles": [[0, 1]]}
BELOW_SHOWN = {
    "kind": "violation",
    "pattern": "privacy-violating-path",
    "run": [0, 1],
    "cycles": [[1, 2]],
    "path": [1, 0],
}
ABOVE_SHOWN = {**BELOW_SHOWN, "run": [0, 2, 3], "cycles": [[2, 3]], "path": [0, 2]}

HOLD: dict[str, tuple[Automaton, Json]] = {
    "svt": (SVT, SVT_PRIVATE),
    "svt lifted": (SVT, SVT_LIFTED),
    "floor": (FLOOR, FLOOR_PRIVATE),
    "ordered": (ORDERED, ORDERED_PRIVATE),
    "shown": (SHOWN, SHOWN_PRIVATE),
    "pivot": (PIVOT, PIVOT_IN_PARTS),
    "trunk": (PIVOT, PIVOT_ON_TRUNK),
    "ordered in parts": (ORDERED, ORDERED_IN_PARTS),
    "shown in parts": (SHOWN, SHOWN_IN_PARTS),
    "impossible": (IMPOSSIBLE, IMPOSSIBLE_IN_PARTS),
    "in no part": (SHOWS, SHOWS_IN_NO_PART),
    "svt lower": (SVT, SVT_LOWER),
    "floor lower": (FLOOR, FLOOR_LOWER),
    "svt rounds": (SVT, SVT_ROUNDS),
    "shown lower": (SHOWN, SHOWN_LOWER),
    "twins": (TWINS, TWINS_LOWER),
    "reads less": (READS_LESS, READS_LESS_LOWER),
    "reads more": (READS_LESS, READS_MORE_LOWER),
    "record": (RECORD, RECORD_LEAKS),
    "delayed": (DELAYED, DELAYED_LEAKS),
    "pair": (PAIR, PAIR_LEAKS),
    "swap": (SWAP, SWAP_LEAKS),
    "stream": (STREAM, STREAM_DISCLOSES),
    "below shown": (SHOWN_ABOVE, BELOW_SHOWN),
    "above shown": (SHOWN_ABOVE, ABOVE_SHOWN),
}


def verify(automaton: Automaton, *certificates: Json) -> tuple[checker.Claim, ...]:
    return checker.verify(automaton, about(automaton, *certificates)).claims


def rule_of(automaton: Automaton, file: object) -> str | None:
    """The rule that a file breaks."""
    try:
        checker.verify(automaton, file)
    except checker.CertificateRefused as refused:
        assert refused.message and str(refused).endswith(f" [{refused.rule}]")
        return refused.rule
    return None


@pytest.mark.parametrize("name", HOLD)
def test_what_holds_is_verified(name):
    automaton, certificate = HOLD[name]
    (claim,) = verify(automaton, certificate)
    assert claim.kind == certificate["kind"].removesuffix("-in-parts")
    assert claim.bound == (Fraction(certificate["D"]) if "D" in certificate else None)
    assert claim.pattern == certificate.get("pattern")
    text = json.dumps(about(automaton, certificate))
    assert (
        checker.verify(automaton, text).claims == checker.verify(automaton, text.encode()).claims == (claim,)
    )


def test_a_file_may_hold_several():
    claims = verify(SVT, SVT_PRIVATE, SVT_LOWER, SVT_LIFTED)
    assert [claim.kind for claim in claims] == ["private", "lower", "private"]
    assert [str(claim) for claim in claims[:2]] == [
        "D*eps-private with D = 5/4 for differences in [-1, 1]",
        "not D*eps-private with any D below 5/4 for differences in [-1, 1]",
    ]


def test_claims_in_words():
    (claim,) = verify(PAIR, PAIR_LEAKS)
    assert str(claim) == "not private: a leaking pair"
    assert str(replace(claim, distinct=False)) == "not well-formed: a leaking pair"
    (claim,) = verify(SVT, scaled(SVT_LOWER, 2))
    assert str(replace(claim, distinct=False)) == (
        "a run whose probabilities differ by 5/2*eps for differences in [-1, 1] times 2"
    )


# --------------------------------------------------------------------------------------------- tampering

DROP = object()


def tampered(certificate: Json, *changes: tuple[str, object]) -> Json:
    """A copy with changes at places such as ``lift.nodes.1.potential``; a new index appends to a list."""
    copy = deepcopy(certificate)
    for place, value in changes:
        *way, last = place.split(".")
        part = copy
        for key in way:
            part = part[int(key) if isinstance(part, list) else key]
        if isinstance(part, list):
            if value is DROP:
                del part[int(last)]
            elif int(last) == len(part):
                part.append(value)
            else:
                part[int(last)] = value
        elif value is DROP:
            del part[last]
        else:
            part[last] = value
    return copy


def scaled(certificate: Json, factor: int) -> Json:
    """A lower bound for a sensitivity: differences and value are multiplied by it."""
    return certificate | {
        "sensitivity": str(factor),
        "D": str(Fraction(certificate["D"]) * factor),
        "differences": [str(Fraction(d) * factor) for d in certificate["differences"]],
    }


def flow(source: object, target: object, amount: object, **more: object) -> Json:
    return {"from": source, "to": target, "amount": amount, **more}


HUGE = "1" * 1001

TAMPERED: list[tuple[str, str, str, object]] = [
    # name of a certificate that holds, rule, place, value
    ("svt", "lift-potential", "lift.nodes.0.potential", "1249/1000"),
    ("svt", "lift-potential", "lift.nodes.1.potential", "999/1000"),
    ("svt", "lift-potential", "lift.nodes.1.potential", "1001/1000"),
    ("svt", "lift-potential", "lift.nodes.2.potential", "1/1000"),
    ("svt", "lift-potential", "lift.nodes.2.potential", "-1/1000"),
    ("svt", "private-bound", "D", "1249/1000"),
    ("svt", "private-bound", "D", "-5/4"),
    ("svt", "lift-potential", "lift.shifts.x", ["-1", "-999/1000"]),
    ("svt", "lift-potential", "lift.shifts.x", ["-1001/1000", "-1"]),
    ("svt", "lift-node", "lift.shifts.x", ["-1", "-1001/1000"]),
    ("svt", "lift-node", "lift.shifts.z", ["0", "0"]),
    ("svt", "lift-node", "lift.nodes.1.shifts", {"z": None}),
    ("svt", "lift-read", "lift.shifts", {}),
    ("svt", "lift-read", "lift.shifts.x", None),
    ("svt", "lift-read", "lift.nodes.1.shifts", {"x": None}),
    ("svt", "lift-kept", "lift.nodes.2.shifts", {"x": ["-1/2", "1"]}),
    ("svt", "lift-kept", "lift.nodes.2.shifts", {"x": ["-2", "-3/2"]}),
    ("svt", "lift-cover", "lift.edges.2", DROP),
    ("svt", "lift-cover", "lift.edges.1", DROP),
    ("svt", "lift-cover", "lift.edges.0", DROP),
    ("svt", "lift-cover", "lift.nodes.3", {"base": 1, "potential": "1"}),
    ("svt", "lift-edge", "lift.nodes.0.base", 2),
    ("svt", "lift-edge", "lift.edges.3", [1, 2, 2]),
    ("svt", "lift-edge", "lift.edges.3", [1, 2, 1]),
    ("svt", "lift-edge", "lift.edges.3", [2, 2, 2]),
    ("svt", "lift-edge", "lift.edges.3", [0, 3, 1]),
    ("svt", "lift-edge", "lift.edges.3", [3, 0, 1]),
    ("svt", "lift-edge", "lift.edges.3", [0, 0, 3]),
    ("svt", "lift-edge", "lift.edges.3", [-1, 0, 1]),
    ("svt", "lift-node", "lift.nodes.1.base", 3),
    ("svt", "lift-node", "lift.nodes.1.base", -2),
    ("svt", "shape", "lift.nodes.1.base", True),
    ("svt", "shape", "lift.nodes.1.base", 1.0),
    ("svt", "shape", "lift.nodes.1.base", None),
    ("svt", "shape", "lift.cover", "both"),
    ("svt", "shape", "lift.cover", ["forward"]),
    ("svt", "shape", "lift.shifts", []),
    ("svt", "shape", "lift.shifts.x", "-1"),
    ("svt", "shape", "lift.shifts.x", ["-1"]),
    ("svt", "shape", "lift.shifts", {"x": ["-1", "-1"], 3: None}),
    ("svt", "shape", "lift.edges.1", [1, 1]),
    ("svt", "shape", "lift.edges.1", {"0": 1}),
    ("svt", "shape", "lift.edges.1", "112"),
    ("svt", "shape", "lift", DROP),
    ("svt", "shape", "lift.nodes", DROP),
    ("svt", "shape", "lift.nodes", None),
    ("svt", "shape", "note", "a key too many"),
    ("svt", "shape", "lift.nodes.1.facts", []),
    ("svt", "shape", "sensitivity", DROP),
    ("svt", "base-edge", "base.edges.2", [1, 2, 1]),
    ("svt", "base-edge", "base.edges.2", [2, 2, 2]),
    ("svt", "base-edge", "base.edges.2", [1, 3, 2]),
    ("svt", "base-edge", "base.edges.2", [3, 2, 2]),
    ("svt", "base-edge", "base.edges.2", [1, 2, 3]),
    ("svt", "base-edge", "base.edges.3", [1, 2, 2]),
    ("svt", "base-complete", "base.edges.2", DROP),
    ("svt", "base-complete", "base.edges.0", DROP),
    ("svt", "base-initial", "base.nodes", []),
    ("svt", "base-initial", "base.nodes.0.state", "q2"),
    ("svt", "base-node", "base.nodes.1.state", "q4"),
    ("svt", "shape", "base.nodes.1.state", 2),
    ("svt", "shape", "base.nodes.1", "q2"),
    ("svt", "adjacency", "adjacency", ["1/1000", "1"]),
    ("svt", "adjacency", "adjacency", ["-1", "-1/1000"]),
    ("svt", "adjacency", "sensitivity", "0"),
    ("svt", "adjacency", "sensitivity", "-1"),
    ("svt", "lift-potential", "adjacency", ["-1", "1001/1000"]),
    ("svt", "lift-potential", "adjacency", ["-1001/1000", "1"]),
    ("svt", "lift-potential", "sensitivity", "1001/1000"),
    ("svt", "rational", "D", float("nan")),
    ("svt", "rational", "D", "nan"),
    ("svt", "rational", "D", "1e3"),
    ("svt", "rational", "D", "5/0"),
    ("svt", "rational", "D", "5/00"),
    ("svt", "rational", "D", "5/-4"),
    ("svt", "rational", "D", " 5/4"),
    ("svt", "rational", "D", "5/4\n"),
    ("svt", "rational", "D", "٥/٤"),
    ("svt", "rational", "D", ""),
    ("svt", "rational", "D", HUGE),
    ("svt", "rational", "D", "5/" + HUGE),
    ("svt", "rational", "D", 2),
    ("svt", "rational", "D", None),
    ("svt", "rational", "D", ["5/4"]),
    ("svt", "kind", "kind", "secret"),
    ("svt", "kind", "kind", "well-formed"),
    ("svt", "shape", "kind", DROP),
    ("svt", "shape", "kind", ["private"]),
    ("svt lifted", "lift-cover", "lift.cover", "forward"),
    ("svt lifted", "lift-cover", "lift.edges.1", DROP),
    ("svt lifted", "lift-cover", "lift.edges.3", DROP),
    ("svt lifted", "lift-read", "lift.nodes.1.shifts", {}),
    ("svt lifted", "lift-kept", "lift.nodes.2.shifts", {"x": ["2", "2"]}),
    ("svt lifted", "private-bound", "lift.nodes.4", {"base": 0, "potential": "3/2"}),
    ("ordered", "base-complete", "base.nodes.1.facts", []),
    ("ordered", "base-complete", "base.nodes.2.facts", []),
    ("ordered", "base-fact", "base.nodes.2.facts.1", ["=", "x", "y"]),
    ("ordered", "base-fact", "base.nodes.2.facts.0", ["<", "y", "x"]),
    ("ordered", "base-fact", "base.nodes.1.facts.1", ["<", "x", "y"]),
    ("ordered", "base-fact", "base.nodes.3.facts.0", ["<", "y", "x"]),
    ("ordered", "base-fact", "base.nodes.3.facts.0", ["=", "x", "y"]),
    ("ordered", "base-initial", "base.nodes.0.facts", [["<", "x", "y"]]),
    ("ordered", "base-initial", "base.nodes.0.facts", [["=", "x", "y"]]),
    ("ordered", "base-node", "base.nodes.1.facts.0", ["=", "x", "x"]),
    ("ordered", "base-node", "base.nodes.1.facts.0", ["=", "x", "z"]),
    ("ordered", "base-node", "base.nodes.1.facts.0", ["=", "z", "x"]),
    ("ordered", "base-node", "base.nodes.1.facts.0", [">", "x", "y"]),
    ("ordered", "base-node", "base.nodes.1.facts.0", ["<=", "x", "y"]),
    ("ordered", "shape", "base.nodes.1.facts.0", ["=", "x", 3]),
    ("ordered", "shape", "base.nodes.1.facts.0", "x=y"),
    ("ordered", "shape", "base.nodes.1.facts.0", ["=", "x"]),
    ("ordered", "lift-kept", "lift.nodes.3.shifts", {}),
    ("ordered", "lift-kept", "lift.nodes.3.shifts.y", ["-1", "-1/2"]),
    ("ordered", "lift-kept", "lift.nodes.3.shifts.y", ["-1/2", "0"]),
    ("ordered", "lift-sample", "lift.nodes.2.shifts.y", ["-1", "1/1000"]),
    ("ordered", "lift-sample", "lift.nodes.2.shifts.y", ["1/1000", "1/1000"]),
    ("ordered", "lift-kept", "lift.nodes.2.shifts.x", ["1/2", "1/2"]),
    ("ordered", "lift-sample", "lift.nodes.1.shifts", {"x": ["-1", "-1"]}),
    ("shown", "lift-sample", "lift.shifts.x", ["1/1000", "1"]),
    ("shown", "lift-sample", "lift.shifts.x", ["-1", "-1/1000"]),
    ("shown", "lift-potential", "lift.nodes.0.potential", "1333/1000"),
    ("shown", "lift-potential", "lift.nodes.1.potential", "833/1000"),
    ("pivot", "private-bound", "D", "999/1000"),
    ("pivot", "part-potential", "potentials.q", "999/1000"),
    ("pivot", "part-potential", "potentials.a", "749/1000"),
    ("pivot", "part-potential", "potentials.b", "499/1000"),
    ("pivot", "part-potential", "potentials.b", "501/1000"),
    ("pivot", "part-potential", "potentials.end", "-1/1000"),
    ("pivot", "part-potential", "potentials.end", "1/1000"),
    ("pivot", "part-potential", "potentials.end", DROP),
    ("pivot", "part-potential", "potentials.nowhere", "0"),
    ("pivot", "shape", "potentials", []),
    ("pivot", "shape", "potentials", DROP),
    ("pivot", "rational", "potentials.end", 0),
    ("pivot", "part-potential", "adjacency", ["-1", "1001/1000"]),
    ("pivot", "part-potential", "adjacency", ["-1001/1000", "1"]),
    ("pivot", "part-potential", "sensitivity", "1001/1000"),
    ("pivot", "adjacency", "sensitivity", "0"),
    ("pivot", "part-variables", "parts.1.variables", ["p", "x"]),
    ("pivot", "part-variables", "parts.1.variables", ["x", "x"]),
    ("pivot", "part-variables", "parts.1.variables", ["x", "y"]),
    ("pivot", "lift-node", "parts.1.variables", []),
    ("pivot", "lift-node", "parts.0.lift.shifts.x", ["1", "1"]),
    ("pivot", "lift-node", "parts.0.lift.nodes.2.shifts", {"x": ["1", "1"]}),
    ("pivot", "shape", "parts.1.variables", "x"),
    ("pivot", "shape", "parts.1.variables", [1]),
    ("pivot", "shape", "parts.1.variables", DROP),
    ("pivot", "shape", "parts.1.facts", []),
    ("pivot", "shape", "parts", {}),
    ("pivot", "shape", "parts.0.lift.nodes.0.potential", "1"),
    ("pivot", "lift-read", "parts.0", DROP),
    ("pivot", "lift-read", "parts.1", DROP),
    ("pivot", "lift-read", "parts", []),
    ("pivot", "lift-read", "parts.1.lift.nodes.3.shifts", {"x": None}),
    ("pivot", "part-sample", "parts.1.lift.shifts.x", ["-2", "-2"]),
    ("pivot", "part-sample", "parts.1.lift.nodes.2.shifts.x", ["-999/1000", "1"]),
    ("pivot", "part-sample", "parts.0.lift.shifts.p", ["-1001/1000", "-1"]),
    ("pivot", "part-potential", "parts.0.lift.shifts.p", ["-1", "-999/1000"]),
    ("pivot", "part-potential", "parts.1.lift.shifts.x", ["999/1000", "1"]),
    ("pivot", "base-complete", "parts.1.base.nodes.2.facts", []),
    ("pivot", "base-complete", "parts.1.base.nodes.3.facts", []),
    ("pivot", "base-fact", "parts.1.base.nodes.3.facts", [["=", "x", "p"]]),
    ("pivot", "base-initial", "parts.1.base.nodes.0.state", "a"),
    ("pivot", "lift-cover", "parts.1.lift.edges.5", DROP),
    ("pivot", "lift-cover", "parts.0.lift.edges.3", DROP),
    ("trunk", "private-bound", "D", "999/1000"),
    ("trunk", "part-potential", "potentials.2", "499/1000"),
    ("trunk", "part-potential", "potentials.q", "1"),
    ("trunk", "part-potential", "trunk", DROP),
    ("trunk", "shape", "trunk.parts", []),
    ("trunk", "shape", "trunk.lift.nodes.2.potential", "1"),
    ("trunk", "lift-node", "trunk.lift.shifts.x", ["1", "1"]),
    ("trunk", "trunk-initial", "trunk.lift.nodes.4", {"base": 0}),
    ("trunk", "lift-cover", "trunk.lift.nodes.4", {"base": 3}),
    ("trunk", "lift-cover", "trunk.lift.edges.6", DROP),
    ("trunk", "base-complete", "trunk.base.edges.6", DROP),
    ("trunk", "base-initial", "trunk.base.nodes.0.state", "a"),
    ("trunk", "base-fact", "trunk.base.nodes.2.facts", [["<", "p", "x"]]),
    ("trunk", "base-node", "parts.1.base.nodes.1.state", "a"),
    ("trunk", "base-edge", "parts.1.base.nodes.4.state", "2"),
    ("trunk", "base-complete", "parts.1.base.nodes.3.facts", []),
    ("trunk", "part-sample", "parts.1.lift.shifts.x", ["-2", "-2"]),
    ("ordered in parts", "part-potential", "potentials.a", "999/1000"),
    ("ordered in parts", "part-potential", "potentials.c", "501/1000"),
    ("ordered in parts", "base-complete", "parts.0.base.nodes.1.facts", []),
    ("ordered in parts", "lift-node", "parts.0.variables", ["y"]),
    ("shown in parts", "part-potential", "potentials.a", "1333/1000"),
    ("shown in parts", "lift-sample", "parts.0.lift.shifts.x", ["1/1000", "1"]),
    ("in no part", "part-potential", "potentials.a", "833/1000"),
    ("in no part", "part-potential", "potentials.b", "333/1000"),
    ("svt lower", "lower-bound", "D", "1251/1000"),
    ("svt lower", "lower-bound", "flow.0.amount", "749/1000"),
    ("svt lower", "flow-capacity", "flow.0.amount", "751/1000"),
    ("svt lower", "flow-capacity", "flow.1.amount", "501/1000"),
    ("svt lower", "flow-capacity", "flow.0.repeated", False),
    ("svt lower", "flow-repeated", "cycles", []),
    ("svt lower", "flow-repeated", "cycles", DROP),
    ("svt lower", "flow-repeated", "flow.1.repeated", True),
    ("svt lower", "shape", "flow.0.repeated", 1),
    ("svt lower", "shape", "flow.0.repeated", None),
    ("svt lower", "flow-amount", "flow.0.amount", "0"),
    ("svt lower", "flow-amount", "flow.0.amount", "-3/4"),
    ("svt lower", "flow-edge", "flow.2", flow(1, 2, "1")),
    ("svt lower", "flow-edge", "flow.2", flow(0, 1, "1")),
    ("svt lower", "flow-edge", "flow.2", flow(2, 0, "1")),
    ("svt lower", "flow-edge", "flow.2", flow(0, 2, "1/1000")),
    ("svt lower", "flow-edge", "flow.2", flow("ground", 0, "1")),
    ("svt lower", "flow-edge", "flow.2", flow(0, "ground", "1")),
    ("svt lower", "flow-edge", "flow.2", flow("ground", "ground", "1")),
    ("svt lower", "flow-edge", "flow.0.to", 3),
    ("svt lower", "flow-edge", "flow.0.from", -2),
    ("svt lower", "shape", "flow.0.from", "sky"),
    ("svt lower", "shape", "flow.0.from", ["ground"]),
    ("svt lower", "shape", "flow.0", [1, 0, "3/4"]),
    ("svt lower", "rational", "flow.0.amount", "inf"),
    ("svt lower", "difference", "differences.0", "-1/1000"),
    ("svt lower", "difference", "differences.2", "1001/1000"),
    ("svt lower", "difference", "differences.1", "-1001/1000"),
    ("svt lower", "lower-bound", "differences.2", "999/1000"),
    ("svt lower", "shape", "differences", ["0", "-1"]),
    ("svt lower", "difference", "adjacency", ["-999/1000", "1"]),
    ("svt lower", "difference", "sensitivity", "1/2"),
    ("svt lower", "run-step", "run", [1, 1, 2]),
    ("svt lower", "run-step", "run", [0, 2, 1]),
    ("svt lower", "run-step", "run", [0, 1, 3]),
    ("svt lower", "run-step", "run", [0, 1, -1]),
    ("svt lower", "shape", "run", [0, 1, "2"]),
    ("svt lower", "shape", "run", [0, True, 2]),
    ("svt lower", "shape", "run", "012"),
    ("svt lower", "run-cycle", "cycles.0", [1, 3]),
    ("svt lower", "run-cycle", "cycles.0", [0, 1]),
    ("svt lower", "run-cycle", "cycles.0", [1, 1]),
    ("svt lower", "run-cycle", "cycles.0", [1, 4]),
    ("svt lower", "run-cycle", "cycles.0", [3, 2]),
    ("svt lower", "run-cycle", "cycles.1", [1, 2]),
    ("floor lower", "lower-bound", "D", "1251/1000"),
    ("floor lower", "difference", "adjacency", ["-1", "999/1000"]),
    ("svt rounds", "flow-capacity", "flow.0.amount", "501/1000"),
    ("svt rounds", "flow-repeated", "flow.1.repeated", True),
    ("svt lower", "others", "others", [{"run": [0, 1, 2], "flow": []}]),
    ("twins", "lower-bound", "D", "501/1000"),
    ("twins", "lower-bound", "others.0.flow", []),
    ("twins", "lower-bound", "differences.1", "-1"),
    ("twins", "lower-bound", "others.0.flow.0.amount", "249/1000"),
    ("twins", "flow-capacity", "others.0.flow.0.amount", "501/1000"),
    ("twins", "flow-edge", "others.0.flow.0.to", 0),
    ("twins", "flow-repeated", "others.0.flow.0.repeated", True),
    ("twins", "others", "others.0.run", [0, 2]),
    ("twins", "others", "others.0.run", [0, 2, 6]),
    ("twins", "run-step", "others.0.run", [0, 1, 5]),
    ("twins", "run-step", "others.0.run", [0, 2, 9]),
    ("twins", "shape", "others.0.run", DROP),
    ("twins", "shape", "others.0.flow", DROP),
    ("twins", "shape", "others.0.D", "1/2"),
    ("twins", "shape", "others", {}),
    ("twins", "shape", "others.0", [0, 2, 5]),
    ("reads less", "lower-bound", "differences.3", "999/1000"),
    ("reads less", "lower-bound", "others.0.flow", [flow(0, 2, "1/8"), flow(0, 3, "1/8")]),
    ("shown lower", "lower-bound", "D", "1334/1000"),
    ("shown lower", "flow-capacity", "flow.0.amount", "1001/1000"),
    ("shown lower", "flow-repeated", "flow.0.repeated", True),
    ("shown lower", "flow-edge", "flow.2", flow("ground", 1, "1/2")),
    ("shown lower", "flow-edge", "flow.2", flow("ground", 0, "1/2")),
    ("record", "leaking-rounds", "rounds", [1, 1]),
    ("record", "leaking-rounds", "rounds", [1, 0]),
    ("record", "leaking-rounds", "rounds", [-1, 1]),
    ("record", "leaking-rounds", "rounds", [0, 10**7]),
    ("record", "shape", "rounds", [0]),
    ("record", "shape", "rounds", DROP),
    ("record", "shape", "path", [0, 1]),
    ("record", "run-step", "run", [1]),
    ("record", "violation-cycles", "run", [0, 1, 2]),
    ("record", "violation-cycles", "cycles", []),
    ("record", "violation-pattern", "pattern", "leak"),
    ("record", "shape", "pattern", DROP),
    ("record", "shape", "pattern", ["leaking-cycle"]),
    ("delayed", "leaking-rounds", "rounds", [0, 1]),
    ("delayed", "leaking-rounds", "rounds", [0, 3]),
    ("delayed", "leaking-rounds", "rounds", [1, 2]),
    ("delayed", "run-cycle", "cycles.0", [3, 5]),
    ("swap", "leaking-rounds", "rounds", [1, 2]),
    ("swap", "leaking-rounds", "rounds", [1, 4]),
    ("swap", "leaking-rounds", "rounds", [0, 2]),
    ("pair", "path-edge", "path", [1, 2]),
    ("pair", "path-edge", "path", [2, 0, 1]),
    ("pair", "path-edge", "path", [1]),
    ("pair", "path-edge", "path", []),
    ("pair", "path-edge", "path", [1, 0, 3]),
    ("pair", "path-edge", "path", [1, -3, 2]),
    ("pair", "path-ends", "path", [1, 0]),
    ("pair", "path-ends", "path", [0, 2]),
    ("pair", "path-ends", "cycles", [[2, 3], [1, 2]]),
    ("pair", "violation-cycles", "cycles", [[1, 2]]),
    ("pair", "run-cycle", "cycles", [[1, 2], [1, 3]]),
    ("pair", "run-cycle", "cycles", [[1, 3], [2, 3]]),
    ("pair", "shape", "rounds", [0, 1]),
    ("pair", "shape", "path", DROP),
    ("stream", "shape", "path", [0, 0]),
    ("stream", "violation-cycles", "run", [0, 0]),
]


@pytest.mark.parametrize(("name", "rule", "place", "value"), TAMPERED)
def test_what_was_tampered_with_is_refused(name, rule, place, value):
    automaton, certificate = HOLD[name]
    assert rule_of(automaton, about(automaton, tampered(certificate, (place, value)))) == rule


@pytest.mark.parametrize("graph", ["base", "lift"])
def test_edges_of_the_paper_have_no_letters(graph):
    """The schema has them, for other automata."""
    automaton, certificate = HOLD["svt"]
    with_letter = tampered(certificate, (f"{graph}.edges.2", [1, 2, 2, "="]))
    assert rule_of(automaton, about(automaton, with_letter)) == "shape"


LONGER = [("run", [0, 2, 3, 3]), ("cycles", [[3, 4]])]

TAMPERED_TWICE: list[tuple[str, str, list[tuple[str, object]]]] = [
    ("svt", "lift-cover", [("lift.nodes", []), ("lift.edges", [])]),
    ("svt lifted", "lift-cover", [("lift.nodes.3", DROP), ("lift.edges.4", DROP)]),
    ("svt lifted", "lift-cover", [("lift.nodes", [{"base": 1, "potential": "0"}]), ("lift.edges", [])]),
    (
        "svt",
        "lift-cover",
        [("lift.nodes.0", DROP), ("lift.edges", [[0, 1, 0], [0, 2, 1]])],
    ),
    # a cheaper loop that leads the run from the copy that reads x into the one that does not, and back
    (
        "pivot",
        "part-sample",
        [
            ("parts.1.base.nodes.3.facts", []),
            ("parts.1.base.edges.9", [3, 5, 4]),
            ("parts.1.lift.edges.9", [3, 5, 4]),
        ],
    ),
    (
        "pivot",
        "part-sample",
        [
            ("D", "9/8"),
            ("potentials.q", "9/8"),
            ("potentials.a", "7/8"),
            ("parts.1.lift.nodes.2.shifts.x", ["-2", "-2"]),
            ("parts.1.base.nodes.2.facts", []),
            ("parts.1.base.edges.9", [2, 3, 2]),
            ("parts.1.lift.edges.9", [2, 3, 2]),
        ],
    ),
    ("impossible", "base-complete", [("parts.0.base.nodes.1.facts", [])]),
    (
        "impossible",
        "part-potential",
        [
            ("parts.0.base.nodes.1.facts", []),
            ("parts.0.base.edges.2", [1, 1, 1]),
            ("parts.0.lift.edges.2", [1, 1, 1]),
        ],
    ),
    ("in no part", "part-potential", [("adjacency", ["0", "1"]), ("potentials.a", "833/1000")]),
    ("in no part", "part-potential", [("adjacency", ["-1", "0"]), ("potentials.a", "833/1000")]),
    ("svt lifted", "lift-edge", [("lift.edges.5", [2, 2, 3]), ("lift.edges.6", [2, 2, 3])]),
    ("svt lifted", "lift-kept", [("lift.edges.5", [2, 1, 1])]),
    ("svt lifted", "lift-read", [("lift.edges.5", [2, 1, 2])]),
    # nothing of the base but a node; nothing of the lift but an end
    ("svt", "base-complete", [("base.nodes", [{"state": "q1"}]), ("base.edges", [])]),
    ("shown", "lift-potential", [("lift.shifts", {}), ("lift.nodes.1.shifts", {"x": ["-1/2", "1"]})]),
    ("shown lower", "lower-bound", [("differences.0", "1/2")]),
    ("shown lower", "lower-bound", [("differences.1", "1/2"), ("D", "12/13")]),
    ("pair", "path-ends", [("run", [0, 1, 2, 1]), ("cycles", [[1, 2], [3, 4]]), ("path", [1, 0, 2])]),
    ("pair", "path-ends", [("run", [0, 2, 1, 2]), ("cycles", [[1, 2], [3, 4]]), ("path", [2, 0, 3])]),
    ("above shown", "path-ends", [*LONGER, ("path", [0, 2])]),
    ("above shown", "path-ends", [("run", [0, 1, 2, 3]), ("cycles", [[3, 4]]), ("path", [1, 0])]),
    ("above shown", "path-ends", [("run", [0, 1, 2, 3]), ("cycles", [[3, 4]]), ("path", [1, 0, 3])]),
    ("below shown", "path-ends", [("run", [0, 1, 2]), ("path", [1, 0, 2])]),
]


@pytest.mark.parametrize(("name", "rule", "changes"), TAMPERED_TWICE)
def test_what_was_tampered_with_in_several_places_is_refused(name, rule, changes):
    automaton, certificate = HOLD[name]
    assert rule_of(automaton, about(automaton, tampered(certificate, *changes))) == rule


STILL_HOLD: list[tuple[str, list[tuple[str, object]]]] = [
    ("svt", [("D", "3/2")]),
    ("svt", [("D", "10/8")]),
    ("svt", [("D", "005/4")]),
    ("svt", [("lift.nodes.0.potential", "5/4"), ("lift.nodes.2.potential", "0/7")]),
    ("svt", [("adjacency", ["-1", "0"]), ("sensitivity", "1")]),
    ("svt", [("adjacency", ["0", "1"])]),
    ("svt", [("sensitivity", "1/2"), ("adjacency", ["-2", "2"])]),
    ("svt", [("base.nodes.1.facts", [])]),
    ("svt", [("lift.edges", [[1, 2, 2], [1, 1, 1], [0, 0, 1]])]),
    ("svt", [("lift.cover", "backward")]),
    ("svt", [("lift.nodes.2.shifts", {"x": ["-1", "-1"]})]),
    ("svt", [("lift.nodes.2.shifts", {"x": ["-3/2", "-1"]})]),
    ("svt", [("lift.nodes.2.shifts", {"x": ["-1", "-1/2"]})]),
    ("svt", [("lift.nodes.0.shifts", {"x": None})]),
    ("svt", [("lift.nodes.0.shifts", {"x": ["7", "8"]})]),
    ("svt", [("lift.nodes.3", {"base": 2, "potential": "0"}), ("lift.edges.3", [1, 2, 3])]),
    ("pivot", [("D", "3/2"), ("potentials.q", "5/4")]),
    ("pivot", [("parts.1.base.nodes.4.facts", [])]),
    ("pivot", [("parts.0.lift.cover", "backward"), ("parts.1.lift.cover", "backward")]),
    ("pivot", [("parts.0.lift.nodes.0.shifts", {"p": None})]),
    ("ordered in parts", [("parts.1", {"variables": [], "base": ORDERED_PRIVATE["base"],
        "lift": {"cover": "forward", "shifts": {}, "nodes": [{"base": v} for v in range(4)],
                 "edges": ORDERED_PRIVATE["base"]["edges"]}})]),
    ("svt lifted", [("lift.nodes.2.shifts", {})]),
    ("svt lifted", [("lift.nodes.2.shifts", DROP)]),
    ("svt lifted", [("lift.nodes.2.shifts", {"x": ["-1", "2"]})]),
    ("ordered", [("base.nodes.3.facts.0", ["<", "x", "y"]), ("base.nodes.1.facts.0", ["=", "y", "x"])]),
    ("ordered", [("base.nodes.1.facts.1", ["=", "y", "x"])]),
    ("ordered", [("base.nodes.3.facts", DROP)]),
    ("ordered", [("lift.nodes.3.shifts.y", ["-1", "0"])]),
    ("ordered", [("lift.nodes.3.shifts.y", ["-2", "1"])]),
    ("svt", [("lift.nodes.3", {"base": 2, "potential": "7"})]),
    ("ordered", [("lift.nodes.2.shifts.y", ["-1/2", "-1/2"]), ("lift.nodes.1.potential", "5/4"),
                 ("lift.nodes.0.potential", "5/4"), ("D", "5/4")]),
    ("ordered", [("lift.nodes.2.shifts.x", ["0", "0"])]),
    ("ordered", [("lift.nodes.2.shifts.x", ["-1/1000", "1"]), ("lift.nodes.2.shifts.y", ["-1", "-1/1000"]),
                 ("lift.nodes.2.potential", "501/1000"), ("lift.nodes.1.potential", "2"),
                 ("lift.nodes.0.potential", "2"), ("D", "2"), ("lift.nodes.3.shifts.x", None)]),
    # an edge that the facts exclude may be there all the same, with whatever facts behind it
    ("ordered", [("base.nodes.4", {"state": "b", "facts": [["<", "y", "x"]]}), ("base.edges.3", [1, 1, 4]),
                 ("base.edges.4", [4, 2, 2]), ("lift.nodes.4", {"base": 4, "potential": "1"}),
                 ("lift.edges.3", [1, 1, 4]), ("lift.edges.4", [4, 2, 2]), ("D", "3/2"),
                 ("lift.nodes.1.potential", "3/2"), ("lift.nodes.0.potential", "3/2")]),
    ("svt lower", [("D", "1")]),
    ("svt lower", [("D", "-1")]),
    ("svt lower", [("D", "1249/1000"), ("flow.0.amount", "749/1000")]),
    ("svt lower", [("adjacency", ["-2", "1"])]),
    ("svt lower", [("differences.1", "1")]),
    ("svt lower", [("run", [0, 1]), ("differences", ["0", "0"]), ("flow", []), ("D", "0")]),
    ("shown lower", [("differences.0", "-1"), ("flow", [flow(0, 1, "1/2")])]),
    ("shown lower", [("differences.0", "-1"), ("flow", [flow(0, 1, "1/4"), flow(0, "ground", "1/4")]),
                     ("D", "13/12")]),
    ("shown lower", [("differences.1", "-1"), ("flow", [flow("ground", 0, "1/2")]), ("D", "5/6")]),
    ("shown lower", [("differences.1", "1/2"), ("D", "11/12")]),
    ("swap", [("rounds", [2, 4])]),
    ("record", [("rounds", [0, 2])]),
    ("record", [("rounds", [3, 7])]),
    ("record", [("run", [0, 1, 1]), ("cycles", [[1, 3]])]),
    ("delayed", [("rounds", [2, 5])]),
    ("pair", [("run", [0, 1, 2, 1]), ("path", [1, 0, 2])]),
    ("pair", [("run", [0, 2, 1]), ("cycles", [[2, 3], [1, 2]]), ("path", [2, 0, 1])]),
    ("pair", [("run", [0, 1, 1, 2, 2]), ("cycles", [[1, 3], [3, 5]]), ("path", [2, 0, 4])]),
    ("above shown", [("run", [0, 2, 3, 3]), ("cycles", [[2, 4]]), ("path", [0, 3])]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "changes"), STILL_HOLD)
def test_what_is_changed_within_the_rules_still_holds(name, changes):
    automaton, certificate = HOLD[name]
    assert rule_of(automaton, about(automaton, tampered(certificate, *changes))) is None


def test_an_edge_that_the_facts_exclude_still_has_to_be_covered_and_paid():
    edge = tampered(ORDERED_PRIVATE, ("base.edges.3", [1, 1, 1]))
    assert rule_of(ORDERED, about(ORDERED, edge)) == "lift-cover"
    paid = tampered(edge, ("lift.edges.3", [1, 1, 1]), ("lift.shifts.x", ["1/2", "1/2"]))
    assert rule_of(ORDERED, about(ORDERED, paid)) == "lift-sample"


# ------------------------------------------------------------------------------------- runs and their cycles


def violation(pattern: str, run: list[int], cycles: list[list[int]], **more: object) -> Json:
    return {"kind": "violation", "pattern": pattern, "run": run, "cycles": cycles, **more}


SAME = dipa("""
(a:non-input, 1/4, 0): x := insample, y := insample; output o; goto b
(b, 1/4, 0): if (insample >= x && insample < y) then output p; goto b
""")
"""The loop cannot be taken: both variables hold one sample."""

APART = dipa("""
(a:non-input, 1/4, 0): x := insample; output o; goto b
(b:non-input, 1/4, 0): y := insample; output o; goto c
(c, 1/4, 0): if (insample >= x && insample < y) then output p; goto d
(d, 1/4, 0): if (insample >= y && insample < x) then output p; goto e
""")
"""Each guard can hold; not both."""

CLIMB = dipa("""
(a:non-input, 1/4, 0): x := insample; output o; goto b
(b, 1/4, 0, 1/4, 0): if (insample >= x) then output insample; goto c
(c, 1/4, 0): x := insample; output p; goto b
""")
"""A cycle (1, 2) that assigns what it uses, discloses and compares."""


@pytest.mark.parametrize(
    ("rule", "automaton", "certificate"),
    [
        ("run-feasible", SAME, violation("disclosing-cycle", [0, 1], [[1, 2]])),
        ("run-feasible", APART, violation("disclosing-cycle", [0, 1, 2, 3], [[3, 4]])),
        ("leaking-rounds", ONCE, violation("leaking-cycle", [0, 1, 2, 3], [[2, 4]], rounds=[0, 1])),
        ("leaking-rounds", ONCE, violation("leaking-cycle", [0, 1, 2, 3], [[2, 4]], rounds=[1, 2])),
        ("leaking-rounds", TIED, violation("leaking-cycle", [0, 1, 2, 3], [[2, 4]], rounds=[2, 3])),
        ("leaking-cycle", SVT, violation("leaking-cycle", [0, 1], [[1, 2]], rounds=[0, 1])),
        ("leaking-cycle", REDRAW, violation("leaking-cycle", [0], [[0, 1]], rounds=[0, 1])),
        (None, TAKING_TURNS, violation("disclosing-cycle", [0, 1], [[0, 2]])),
        (
            "path-ends",
            OVERWRITES,
            violation("leaking-pair", [0, 1, 2, 3], [[1, 2], [3, 4]], path=[1, 3]),
        ),
        (
            "path-ends",
            OVERWRITES,
            violation("leaking-pair", [0, 1, 2, 4], [[3, 4], [1, 2]], path=[3, 1]),
        ),
        ("cycle-leaking", CLIMB, violation("disclosing-cycle", [0, 1, 2], [[1, 3]])),
        ("cycle-leaking", CLIMB, violation("leaking-pair", [0, 1, 2, 1, 2], [[1, 3], [3, 5]], path=[0, 1])),
        (
            "cycle-leaking",
            CLIMB,
            violation("privacy-violating-path", [0, 1, 2, 1, 2], [[3, 5]], path=[2, 3]),
        ),
        ("disclosing-output", SVT, violation("disclosing-cycle", [0, 1], [[1, 2]])),
        ("disclosing-output", SILENT_STREAM, violation("disclosing-cycle", [0, 1], [[0, 2]])),
        ("violation-cycles", STREAM, violation("disclosing-cycle", [0, 0], [[0, 1], [1, 2]])),
        ("run-cycle", STREAM, violation("disclosing-cycle", [], [[0, 0]])),
        ("path-ends", SVT, violation("privacy-violating-path", [0, 1, 2], [[1, 2]], path=[1, 0, 2])),
        ("path-ends", SVT, violation("privacy-violating-path", [0, 1], [[1, 2]], path=[1, 0])),
    ],
)
def test_runs_that_do_not_show_the_pattern(rule, automaton, certificate):
    assert rule_of(automaton, about(automaton, certificate)) == rule


def test_rounds_are_not_walked_for_ever(monkeypatch):
    monkeypatch.setattr("symdipa.checker.plain.violation.MAX_WALK", 30)
    twice = tampered(DELAYED_LEAKS, ("run", [0, 1, 2, 3, 4, 5, 3, 4, 5]), ("cycles", [[6, 9]]))
    assert rule_of(DELAYED, about(DELAYED, twice | {"rounds": [1, 9]})) is None
    assert rule_of(DELAYED, about(DELAYED, twice | {"rounds": [1, 10]})) == "leaking-rounds"


def test_flow_to_the_ground_is_not_repeated():
    bound = {**SVT_LOWER, "run": [0], "cycles": [[0, 1]], "differences": ["1"], "D": "1/4"}
    bound["flow"] = [flow("ground", 0, "1/4")]
    assert rule_of(SHOWING, about(SHOWING, bound)) is None
    assert rule_of(SHOWING, about(SHOWING, tampered(bound, ("flow.0.repeated", True)))) == "flow-repeated"


def test_a_lower_bound_must_not_repeat_a_cycle_that_leaks():
    flows = [flow(0, 1, "1/4", repeated=True)]
    bound = {**SVT_LOWER, "run": [0, 1], "differences": ["0", "0"], "flow": flows, "D": "0"}
    assert rule_of(RECORD, about(RECORD, bound)) == "cycle-leaking"
    assert rule_of(PAIR, about(PAIR, {**bound, "run": [0, 2]})) is None


def test_repeated_flow_is_counted_at_the_other_end():
    # x can absorb or create 1/4, whoever is at the other end
    flows = [flow(0, 1, "1/4", repeated=True)]
    bound = {**SVT_LOWER, "run": [0, 2], "differences": ["0", "0"], "flow": flows, "D": "1/4"}
    assert rule_of(PAIR, about(PAIR, bound)) is None
    assert rule_of(PAIR, about(PAIR, tampered(bound, ("flow.0.amount", "1/3")))) == "flow-capacity"
    assert rule_of(PAIR, about(PAIR, tampered(bound, ("D", "1/3")))) == "lower-bound"
    both = [*flows, flow(2, 0, "1/2", repeated=True)]
    wider = bound | {"run": [0, 2, 1], "cycles": [[1, 2], [2, 3]], "differences": ["0"] * 3, "flow": both}
    assert rule_of(PAIR, about(PAIR, wider | {"D": "3/4"})) is None
    assert rule_of(PAIR, about(PAIR, wider | {"D": "4/5"})) == "lower-bound"
    assert rule_of(PAIR, about(PAIR, wider | {"D": "2", "adjacency": ["-3", "2"]})) is None
    assert rule_of(PAIR, about(PAIR, wider | {"D": "21/10", "adjacency": ["-3", "2"]})) == "lower-bound"


def test_a_repeated_step_without_input_has_no_difference():
    automaton = dipa("""
    (a:non-input, 1/4, 0): x := insample; output o; goto b
    (b, 1/4, 0): if (insample >= x) then output p; goto c
    (c:non-input, 1/4, 0): output q; goto b
    """)
    bound = {**SVT_LOWER, "run": [0, 1, 2], "cycles": [[1, 3]], "differences": ["0"] * 3, "D": "1/4"}
    bound["flow"] = [flow(0, 1, "1/4", repeated=True)]
    assert rule_of(automaton, about(automaton, bound)) is None
    assert rule_of(automaton, about(automaton, bound | {"differences": ["0", "0", "1/9"]})) == "difference"


# ---------------------------------------------------------------------------------------------- distinction


def distinct(automaton: Automaton, certificate: Json) -> bool | None:
    (claim,) = verify(automaton, certificate)
    return claim.distinct


@pytest.mark.parametrize(
    "name", [name for name, (_, c) in HOLD.items() if not c["kind"].startswith("private")]
)
def test_the_runs_above_are_distinct(name):
    assert distinct(*HOLD[name]) is True


def looking_alike(loop: str, leave: str, more: str = "") -> Automaton:
    return dipa(f"""
    (a:non-input, 1/4, 0): x := insample, y := insample; output o; goto b
    (b, 1/4, 0, 1/4, 0): if (insample < x) then output {loop}; goto b
                         elseif (insample >= x) then output {leave}; goto c
    {more}""")


def test_another_run_with_the_same_outputs():
    loop = violation("disclosing-cycle", [0, 1], [[1, 2]])
    assert distinct(looking_alike("insampleprime", "p"), loop) is True
    assert distinct(looking_alike("insample", "insampleprime"), loop) is False
    assert distinct(looking_alike("insampleprime", "insample"), loop) is False


def test_all_runs_with_the_same_outputs_are_as_good_as_a_distinct_one():
    first, (other,) = TWINS_LOWER["run"], TWINS_LOWER["others"]
    assert distinct(TWINS, tampered(TWINS_LOWER, ("others", DROP))) is False
    assert distinct(TWINS, tampered(TWINS_LOWER, ("others", []))) is False
    again = {"run": first, "flow": TWINS_LOWER["flow"]}
    assert distinct(TWINS, tampered(TWINS_LOWER, ("others", [again]))) is False
    assert distinct(TWINS, tampered(TWINS_LOWER, ("others", [again, other, other]))) is True
    two = [{"run": [0, 1], "flow": []}]
    certificate = TWINS_LOWER | {"D": "0", "run": [0, 2], "differences": ["0", "0"], "flow": []}
    assert distinct(TWINS, certificate | {"others": two}) is True
    assert distinct(TWINS, certificate | {"others": []}) is False


def test_another_run_counts_though_it_comes_back():
    automaton = dipa("""
    (a:non-input, 1/4, 0): x := insample; output o; goto b
    (b, 1/4, 0): if (insample < x) then output p; goto c elseif (insample >= x) then output p; goto c
    (c, 1/4, 0): output q; goto end
    """)
    run = SVT_LOWER | {"run": [0, 1, 3], "cycles": [], "flow": [], "D": "0", "differences": ["0"] * 3}
    assert distinct(automaton, run) is False
    assert distinct(automaton, run | {"others": [{"run": [0, 2, 3], "flow": []}]}) is True


def test_another_run_that_dies_later_does_not_count():
    certificate = tampered(SVT_LOWER, ("run", [0, 1, 2]), ("cycles", []), ("flow", []), ("D", "0"))
    assert distinct(looking_alike("p", "q"), certificate) is True
    assert distinct(looking_alike("p", "p"), certificate) is False
    goes_on = "(c, 1/4, 0): output r; goto e"
    assert distinct(looking_alike("p", "p", goes_on), certificate) is False
    imitates = "(c, 1/4, 0): output p; goto e"
    assert distinct(looking_alike("p", "p", imitates), certificate) is False
    on = tampered(certificate, ("run", [0, 1, 2, 3]), ("differences", ["0"] * 4))
    assert distinct(looking_alike("p", "p", goes_on), on) is True
    assert distinct(looking_alike("p", "p", imitates), on) is False


def test_another_run_whose_guards_contradict_each_other_does_not_count():
    text = """
    (a:non-input, 1/4, 0): x := insample, y := insample; output o; goto b
    (b, 1/4, 0): if (insample < x) then output p; goto b2 elseif (insample >= x) then output p; goto c
    (b2, 1/4, 0): output q; goto end
    (c, 1/4, 0): if (insample >= y {}) then output q; goto end
    """
    certificate = SVT_LOWER | {"run": [0, 1, 3], "cycles": [], "flow": [], "D": "0", "differences": ["0"] * 3}
    assert distinct(dipa(text.format("")), certificate) is False
    assert distinct(dipa(text.format("&& insample < x")), certificate) is True  # x and y are one sample


def test_another_run_that_stores_one_of_two_equal_samples_anew_counts():
    text = """
    (a:non-input, 1/4, 0): x := insample, y := insample; output o; goto b
    (b, 1/4, 0): if (insample < x) then output p; goto b2
                 elseif (insample >= x) then x := insample; output p; goto c
    (b2, 1/4, 0): output q; goto end
    (c, 1/4, 0): if ({}) then output q; goto end
    """
    certificate = SVT_LOWER | {"run": [0, 1, 3], "cycles": [], "flow": [], "D": "0", "differences": ["0"] * 3}
    # x lies above y when c is reached
    assert distinct(dipa(text.format("insample >= y && insample < x")), certificate) is False
    assert distinct(dipa(text.format("insample >= x && insample < y")), certificate) is True
    turned = text.replace("insample < x", "insample > x", 1).replace("insample >= x", "insample <= x", 1)
    assert distinct(dipa(turned.format("insample >= y && insample < x")), certificate) is True
    assert distinct(dipa(turned.format("insample >= x && insample < y")), certificate) is False


def test_another_run_that_needs_a_further_round_counts():
    automaton = dipa("""
    (a:non-input, 1/4, 0): x := insample; output o; goto b
    (b, 1/4, 0): if (insample < x) then output p; goto b2 elseif (insample >= x) then output p; goto c
    (b2, 1/4, 0): if (insample < x) then output q; goto b elseif (insample >= x) then output r; goto end
    (c, 1/4, 0): output q; goto d
    (d, 1/4, 0): output p; goto e
    (e, 1/4, 0): output q; goto f
    (f, 1/4, 0): output p; goto g
    (g, 1/4, 0): output r; goto end
    """)
    once = SVT_LOWER | {"run": [0, 1, 4], "differences": ["0"] * 3, "cycles": [], "flow": [], "D": "0"}
    assert distinct(automaton, once) is True  # p, r
    twice = once | {"run": [0, 1, 3, 1, 4], "differences": ["0"] * 5}
    assert distinct(automaton, twice) is True  # p, q, p, r
    longer = once | {"run": [0, 1, 3, 1, 3, 1, 4], "differences": ["0"] * 7}
    assert distinct(automaton, longer) is False  # p, q, p, q, p, r, as by way of c
    assert distinct(automaton, twice | {"cycles": [[1, 3]]}) is False
    other = dipa("""
    (a:non-input, 1/4, 0): x := insample; output o; goto b
    (b, 1/4, 0): if (insample < x) then output p; goto b elseif (insample >= x) then output p; goto c
    (c, 1/4, 0): output p; goto d
    (d, 1/4, 0): if (insample < x) then output q; goto end
    """)
    # o, p, p, q is shown by 0, 2, 3, 4 alone, and there is nothing to repeat
    assert distinct(other, once | {"run": [0, 2, 3, 4], "differences": ["0"] * 4}) is True
    ahead = dipa("""
    (a:non-input, 1/4, 0): x := insample; output o; goto b
    (b, 1/4, 0): if (insample < x) then output p; goto b elseif (insample >= x) then output p; goto c
    (c, 1/4, 0): if (insample < x) then output p; goto d elseif (insample >= x) then output r; goto e
    (d, 1/4, 0): output r; goto end
    """)
    # o, p, p, r: once round the loop and out, or out at once and on by d
    assert distinct(ahead, once | {"run": [0, 2, 4], "differences": ["0"] * 3}) is True
    assert distinct(ahead, once | {"run": [0, 1, 2, 4], "differences": ["0"] * 4}) is False


def test_when_other_runs_could_be_anywhere_distinction_is_not_claimed(monkeypatch):
    monkeypatch.setattr("symdipa.checker.plain.alike.MAX_IMITATORS", 2)
    assert distinct(SVT, SVT_LOWER) is False


# ------------------------------------------------------------------------------------------------- the file


def test_another_automaton():
    assert rule_of(FLOOR, about(SVT, SVT_PRIVATE)) == "automaton"
    named = replace(SVT, name="svt")
    with pytest.raises(
        checker.CertificateRefused, match=r"made for the automaton 'svt' with digest '\w{12}', not"
    ):
        checker.verify(FLOOR, about(named, SVT_PRIVATE))
    with pytest.raises(checker.CertificateRefused, match=r"made for an automaton with"):
        checker.verify(FLOOR, tampered(about(SVT, SVT_PRIVATE), ("automaton.name", DROP)))


def changed(number: int, **changes: object) -> Automaton:
    transitions = list(SHOWN.transitions)
    transitions[number] = replace(transitions[number], **changes)
    return replace(SHOWN, transitions=tuple(transitions))


def changed_state(**changes: object) -> Automaton:
    return replace(SHOWN, states=(replace(SHOWN.states[0], **changes), *SHOWN.states[1:]))


def test_the_digest_tells_automata_apart():
    automata = [
        SHOWN,
        replace(SHOWN, initial="b"),
        replace(SHOWN, transitions=SHOWN.transitions[::-1]),
        replace(SHOWN, transitions=SHOWN.transitions[:1]),
        replace(SHOWN, states=SHOWN.states[::-1]),
        changed(0, source="b"),
        changed(0, target="a"),
        changed(0, output=INSAMPLE_PRIME),
        changed(0, output=symbol("insample")),
        changed(0, output=symbol("real")),
        changed(0, assign=frozenset()),
        changed(1, guard=Guard()),
        changed(1, guard=Guard(lt=frozenset("x"))),
        changed_state(is_input=False),
        changed_state(d=Fraction(1, 3)),
        changed_state(d=None),
        changed_state(mu=Fraction(1, 3)),
        changed_state(d_prime=Fraction(1, 3)),
        changed_state(mu_prime=Fraction(1, 3)),
        changed_state(name="q"),
    ]
    digests = list(map(checker.digest, automata))
    assert len(set(digests)) == len(automata)
    assert all(len(d) == 64 and set(d) <= set("0123456789abcdef") for d in digests)


def test_the_digest_does_not_depend_on_names_for_people_or_on_the_order_of_sets():
    assert checker.digest(SVT) == checker.digest(replace(SVT, name="other", variables=("x", "y")))
    wide = [changed(1, guard=Guard(ge=frozenset(names))) for names in (list("xyzuvw"), list("wvuzyx"))]
    assert checker.digest(wide[0]) == checker.digest(wide[1])


def test_the_digest_is_the_documented_one():
    assert checker.digest(SHOWN) == "15643c962aaa943226361e49ded295e4642660285b15d86e78a14b593bb4da7a"
    assert checker.digest(SVT) == "94da2116121104af3c29414a016548b08ff9c66e4a15bfd54af37c5ed22c4012"


@pytest.mark.parametrize(
    ("rule", "place", "value"),
    [
        ("format", "format", "symdipa-automaton"),
        ("format", "format", None),
        ("format", "version", 2),
        ("format", "version", "1"),
        ("format", "version", True),
        ("format", "version", 1.0),
        ("shape", "version", DROP),
        ("shape", "format", DROP),
        ("shape", "automaton", DROP),
        ("shape", "certificates", DROP),
        ("shape", "certificates", []),
        ("shape", "certificates", {}),
        ("shape", "certificates.0", []),
        ("shape", "certificates.0", "private"),
        ("shape", "comment", ""),
        ("shape", "automaton", "svt"),
        ("shape", "automaton.sha256", 5),
        ("shape", "automaton.sha256", DROP),
        ("shape", "automaton.name", 5),
        ("shape", "automaton.size", 5),
        ("automaton", "automaton.sha256", ""),
    ],
)
def test_the_frame_of_a_file(rule, place, value):
    assert rule_of(SVT, tampered(about(SVT, SVT_PRIVATE), (place, value))) == rule


def test_which_kinds_there_are():
    for kind in ("private", "private-in-parts", "lower", "relational"):
        assert rule_of(SVT, about(SVT, {"kind": kind})) == "shape"
    assert rule_of(SVT, about(SVT, {"kind": "upper"})) == "kind"


def test_an_invariant_needs_a_solver():
    with pytest.raises(checker.CertificateRefused, match="only a solver"):
        verify(SVT, {"kind": "well-formed"})


def test_others_may_check_other_kinds():
    seen = []

    def solve(given: Automaton, certificate: Json, where: str) -> checker.Claim:
        seen.append((given, certificate, where))
        return checker.Claim("well-formed")

    others = {"well-formed": solve}
    file = about(SVT, SVT_PRIVATE, {"kind": "well-formed"})
    claims = checker.verify(SVT, file, others).claims
    assert [claim.kind for claim in claims] == ["private", "well-formed"]
    assert str(claims[1]) == "well-formed: none of the four patterns"
    assert seen == [(SVT, {"kind": "well-formed"}, "certificates[1]")]
    broken = tampered(file, ("certificates.0.D", "1"))
    for given in (broken, about(FLOOR, {"kind": "well-formed"}), about(SVT, {"kind": "secret"})):
        with pytest.raises(checker.CertificateRefused):
            checker.verify(SVT, given, others)


def test_claims_of_a_file_do_not_exclude_each_other():
    file = about(STREAM, STREAM_DISCLOSES, {"kind": "well-formed"})
    with pytest.raises(checker.CertificateRefused) as refused:
        checker.verify(STREAM, file, {"well-formed": lambda *_: checker.Claim("well-formed")})
    assert refused.value.rule == "contradiction"


def test_bytes_are_utf_8():
    text = json.dumps(about(SVT, SVT_PRIVATE))
    assert [rule_of(SVT, text.encode(code)) for code in ("utf-8", "utf-16", "utf-32")] == [
        None,
        "json",
        "json",
    ]


DEEP = 100_000


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("json", ""),
        ("json", "{"),
        ("json", b"\xff\xfe"),
        ("json", "\ufeff{}"),
        ("json", "[" * DEEP + "]" * DEEP),
        ("json", '{"a":' * DEEP + "1" + "}" * DEEP),
        ("json", '{"format": NaN}'),
        ("json", '{"format": -Infinity}'),
        ("json", '{"format": 1.5}'),
        ("json", '{"format": 1e999999999}'),
        ("json", '{"format": 1' + "0" * 15 + "}"),
        ("json", '{"format": 1' + "0" * 100_000 + "}"),
        ("json", '{"format": 1, "format": 1}'),
        ("shape", '{"format": 1' + "0" * 14 + "}"),
        ("shape", "[]"),
        ("shape", "null"),
        ("shape", "{}"),
        ("shape", '"private"'),
    ],
    ids=str,
)
def test_texts_that_are_no_certificate(rule, text):
    assert rule_of(SVT, text) == rule


def test_a_rational_may_be_long_but_not_too_long():
    long = "1" + "0" * 999
    assert rule_of(SVT, about(SVT, tampered(SVT_PRIVATE, ("D", f"{long}/1")))) is None
    assert rule_of(SVT, about(SVT, tampered(SVT_PRIVATE, ("D", f"{long}0/1")))) == "rational"
    assert rule_of(SVT, about(SVT, tampered(SVT_PRIVATE, ("D", f"{long}/{long}0")))) == "rational"


def test_sums_may_not_grow_for_ever(monkeypatch):
    assert rule_of(SVT, about(SVT, SVT_LOWER)) is None
    monkeypatch.setattr("symdipa.checker.reading.MAX_BITS", 60)
    small = tampered(SVT_ROUNDS, ("flow.1.amount", f"1/{3**18}"), ("D", "0"))
    assert rule_of(SVT, about(SVT, small)) is None
    large = tampered(small, ("flow.0.amount", f"1/{7**15}"))
    assert rule_of(SVT, about(SVT, large)) == "limit"
    wide = tampered(scaled(SVT_LOWER, 2**61), ("D", "0"))
    assert rule_of(SVT, about(SVT, wide)) == "limit"


def test_no_refusal_without_a_rule():
    with pytest.raises(AssertionError):
        checker.CertificateRefused("no-rule", "")


# -------------------------------------------------------------------------------------------- the automaton


def automaton(states: list[State], transitions: list[Transition], initial: str = "a") -> Automaton:
    return Automaton(tuple(states), initial, tuple(transitions), ("x", "y", "z"))


def step(source: str = "a", target: str = "b", output: object = None, **more: object) -> Transition:
    guard = Guard(frozenset(more.get("ge", "")), frozenset(more.get("lt", "")))
    shown = output if output is not None else symbol("o")
    return Transition(source, target, shown, guard, frozenset(more.get("assign", "")))


A, B = State("a", d=Fraction(1)), State("b", d=Fraction(1))
QUIET = State("a", is_input=False, d=Fraction(1))
STORE = step(assign="x")
NOTHING = {
    **SVT_LOWER,
    "run": [],
    "differences": [],
    "flow": [],
    "cycles": [],
    "D": "0",
}


@pytest.mark.parametrize(
    ("rule", "states", "transitions"),
    [
        (None, [A, B], [STORE]),
        ("model-name", [A, A, B], [STORE]),
        ("model-name", [B], []),
        ("model-name", [A], [STORE]),
        ("model-name", [A, B], [step(source="c")]),
        ("model-name", [A, B], [step(assign="u")]),
        ("model-name", [A, B], [STORE, step("b", "b", ge="xu")]),
        ("model-name", [A, B], [STORE, step("b", "b", lt="xu")]),
        ("model-guard", [A, B], [STORE, step("b", "b", ge="x", lt="x")]),
        ("model-non-input", [QUIET, B], [STORE, step("a", "a", assign="x")]),
        ("model-initialization", [QUIET, B], [step(ge="x")]),
        ("model-initialization", [QUIET, B], [step(lt="x")]),
        (None, [QUIET, B], [STORE]),
        (None, [A, replace(B, is_input=False)], [STORE]),
        ("model-determinism", [A, B], [STORE, step("b", "a"), step("b", "b", lt="x")]),
        ("model-determinism", [A, B], [STORE, step("b", "a", lt="x"), step("b", "b", lt="x")]),
        ("model-determinism", [A, B], [STORE, step("b", "a", ge="x"), step("b", "b", ge="x")]),
        (None, [A, B], [STORE, step("b", "a", ge="x"), step("b", "b", lt="x")]),
        (None, [A, B], [STORE, step("b", "a", lt="x"), step("b", "b", ge="x")]),
        ("model-noise", [State("a"), B], [STORE]),
        ("model-noise", [State("a", d=Fraction(0)), B], [STORE]),
        ("model-noise", [State("a", d=Fraction(-1)), B], [STORE]),
        ("model-noise", [State("a"), B], [step(output=INSAMPLE)]),
        ("model-noise", [A, State("b")], [STORE, step("b", "b", ge="x")]),
        ("model-noise", [A, State("b")], [STORE, step("b", "b", lt="x")]),
        ("model-noise", [A, B], [step(output=INSAMPLE_PRIME)]),
        ("model-noise", [State("a", d_prime=Fraction(0)), B], [step(output=INSAMPLE_PRIME)]),
        ("model-noise", [State("a", d_prime=Fraction(-1)), B], [step(output=INSAMPLE_PRIME)]),
        (None, [State("a", d_prime=Fraction(1)), B], [step(output=INSAMPLE_PRIME)]),
        (None, [State("a"), State("b")], [step()]),
        ("model-initialization", [A, B], [step(ge="x")]),
        ("model-initialization", [A, B], [step(lt="x")]),
        ("model-initialization", [A, B], [step(lt="x", assign="x")]),
        ("model-initialization", [A, B], [STORE, step("b", "b", lt="y")]),
        ("model-initialization", [A, B], [step(assign="y"), step("b", "a", lt="y"), step("b", "b", ge="xy")]),
        (None, [A, B, State("c")], [STORE, step("c", "b")]),
    ],
)  # fmt: skip
def test_automata_that_the_theory_does_not_speak_about(rule, states, transitions):
    # c is not reached, so it may read what it likes
    given = automaton(states, transitions)
    assert rule_of(given, about(given, NOTHING)) == rule


def test_a_variable_must_be_stored_on_every_way():
    ways = [
        step("a", "b", assign="xy"),
        step("b", "c", lt="x"),
        step("b", "d", ge="x"),
        step("c", "e", assign="x"),
        step("d", "e"),
        step("e", "f", lt="x"),
    ]
    states = [State(name, d=Fraction(1)) for name in "abcdef"]
    good = automaton(states, ways)
    assert rule_of(good, about(good, NOTHING)) is None
    for order in (ways, ways[::-1]):
        bad = automaton(states, [replace(t, assign=t.assign - {"y"}, guard=t.guard) for t in order])
        assert rule_of(bad, about(bad, NOTHING)) is None
        worse = [replace(t, target="c" if t.target == "b" else t.target) for t in order]
        worse = [replace(t, assign=frozenset("y")) if t.source in "ac" else t for t in worse]
        assert (
            rule_of(automaton(states, worse), about(automaton(states, worse), NOTHING))
            == "model-initialization"
        )


def test_a_variable_that_one_of_two_ways_does_not_store():
    states = [State(name, d=Fraction(1)) for name in "abcde"]
    for first, second in (("x", "y"), ("y", "x")):
        ways = [
            step("a", "b", assign="y"),
            step("b", "c", lt="y", assign=first),
            step("b", "d", ge="y", assign=second),
            step("c", "e"),
            step("d", "e"),
            step("e", "e", lt="x"),
        ]
        given = automaton(states, ways)
        assert rule_of(given, about(given, NOTHING)) == "model-initialization"
        given = automaton(states, [*ways[:-1], step("e", "e", lt="y")])
        assert rule_of(given, about(given, NOTHING)) is None
        ways = [
            step("a", "b", assign="z"),
            step("b", "c", lt="z", assign=first),
            step("b", "d", ge="z", assign=second),
            *ways[3:5],
        ]
        for read in "xy":
            given = automaton(states, [*ways, step("e", "e", lt=read)])
            assert rule_of(given, about(given, NOTHING)) == "model-initialization"
            at_once = [ways[0], *(replace(way, target="e") for way in ways[1:3])]
            given = automaton(states, [*at_once, step("e", "e", lt=read)])
            assert rule_of(given, about(given, NOTHING)) == "model-initialization"
    # a way that arrives late and stores less, through states that were looked at before
    late = [
        step("a", "b", assign="x"), step("b", "c", lt="x"), step("b", "d", ge="x"), step("c", "a"),
        step("d", "e", lt="x"),
    ]  # fmt: skip
    given = automaton(states, late, "b")
    assert rule_of(given, about(given, NOTHING)) == "model-initialization"


# -------------------------------------------------------------------------------- facts, by the definitions


def automata_with_two_variables() -> Iterator[Automaton]:
    """A state that stores both variables in all possible relations, then one step of any kind."""
    subsets = [frozenset(), frozenset("x"), frozenset("y"), frozenset("xy")]
    for ge, lt, assign in product(subsets, repeat=3):
        if not ge & lt:
            yield automaton(
                [A, B, State("c")],
                [step(assign="xy"), Transition("b", "c", symbol("o"), Guard(ge, lt), assign)],
            )


FACTS = [["<", "x", "y"], ["<", "y", "x"], ["=", "x", "y"]]


def holds(fact: list[str], x: int, y: int) -> bool:
    return {"<": x < y, "=": x == y}[fact[0]] if fact[1] == "x" else y < x


@pytest.mark.parametrize("given", list(automata_with_two_variables()))
def test_one_step_of_facts_against_all_orders_of_numbers(given):
    """A fact may be claimed iff it is true of all samples that the facts before and the guard allow."""
    final = given.transitions[1]
    for known in [[], FACTS[:1], FACTS[1:2], FACTS[2:]]:
        after = set()
        for x, y, sample in product(range(0, 10, 2), range(0, 10, 2), range(-1, 10, 2)):
            if all(holds(fact, x, y) for fact in known):
                values = {"x": x, "y": y}
                if all(sample > values[v] for v in final.guard.ge) and all(
                    sample < values[v] for v in final.guard.lt
                ):
                    after.add(tuple(sample if v in final.assign else values[v] for v in "xy"))
        # node 3 is not reached; it is there to have any facts before the step
        for claimed in [None, *FACTS]:
            nodes = [
                {"state": "a"},
                {"state": "b"},
                {"state": "c"},
                {"state": "b", "facts": known},
                {"state": "c", "facts": [claimed] if claimed else []},
            ]
            shifts = {"x": None, "y": None}
            private = {
                "kind": "private", **TWO_SIDED, "D": "9",
                "base": {"nodes": nodes, "edges": [[0, 0, 1], [1, 1, 2], [3, 1, 4]]},
                "lift": {
                    "cover": "forward",
                    "shifts": {"x": ["0", "0"], "y": ["0", "0"]},
                    "nodes": [
                        {"base": 0, "potential": "9"}, {"base": 1, "potential": "4"},
                        {"base": 2, "potential": "0", "shifts": shifts},
                    ],
                    "edges": [[0, 0, 1], [1, 1, 2]],
                },
            }  # fmt: skip
            true = claimed is None or all(holds(claimed, x, y) for x, y in after)
            assert rule_of(given, about(given, private)) == (None if true else "base-fact")
        private["base"]["edges"].pop()
        assert rule_of(given, about(given, private)) == ("base-complete" if after else None)


# ------------------------------------------------------------- claims against a search for the dearest run


def dependencies(steps: list[Transition]) -> list[tuple[int, int]]:
    last, edges = {}, []
    for j, taken in enumerate(steps):
        edges += [(j, last[x]) for x in taken.guard.lt] + [(last[x], j) for x in taken.guard.ge]
        last |= dict.fromkeys(taken.assign, j)
    return edges


def run_cost(given: Automaton, steps: list[Transition], low: Fraction, high: Fraction) -> Fraction:
    """The exponent of a run for the worst differences, by trying all extreme differences and shifts."""
    edges = dependencies(steps)
    states = [given.state(taken.source) for taken in steps]
    shifts = [{low, Fraction(0), high} if t.output != INSAMPLE else {Fraction(0)} for t in steps]
    allowed = [s for s in product(*shifts) if all(s[i] >= s[j] for i, j in edges)]
    worst = Fraction(0)
    for differences in product(*({low, high} if state.is_input else {Fraction(0)} for state in states)):
        release = sum(
            (state.d_prime or 0) * abs(difference)
            for state, taken, difference in zip(states, steps, differences, strict=True)
            if taken.output == INSAMPLE_PRIME
        )
        cost = min(
            sum((state.d or 0) * abs(s - d) for state, s, d in zip(states, shift, differences, strict=True))
            for shift in allowed
        )
        worst = max(worst, cost + release)
    return worst


def runs(given: Automaton, length: int) -> Iterator[list[Transition]]:
    work: list[list[Transition]] = [[]]
    while work:
        steps = work.pop()
        yield steps
        if len(steps) < length:
            state = steps[-1].target if steps else given.initial
            work += [[*steps, t] for t in given.transitions if t.source == state]


def feasible(steps: list[Transition]) -> bool:
    edges = set(dependencies(steps))
    for _ in steps:
        edges |= {(i, k) for i, j in edges for j2, k in edges if j == j2}
    return all(i != j for i, j in edges)


@cache
def dearest(given: Automaton, low: Fraction, high: Fraction, length: int) -> Fraction:
    return max(run_cost(given, steps, low, high) for steps in runs(given, length) if feasible(steps))


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        *product(["svt", "floor", "shown"], [("-1", "1"), ("0", "1"), ("-2", "1"), ("-1/2", "3")]),
        ("ordered", ("-1", "1")),
    ],
)
def test_a_private_claim_is_never_below_the_dearest_run(name, ends):
    """For all kinds of shifts, the least bound that is accepted is at least what some run costs."""
    given, certificate = HOLD[name]
    low, high = map(Fraction, ends)
    needed = dearest(given, low, high, 4)
    grid = sorted({low, high, Fraction(0)})
    ranges = [[str(a), str(b)] for a in grid for b in grid if a <= b]
    if name == "ordered":  # three shifts are chosen
        ranges = [pair for pair in ranges if pair != ["0", "1"]][:4]
    nodes = certificate["lift"]["nodes"]
    places = [f"lift.shifts.{x}" for x in certificate["lift"]["shifts"]]
    places += [
        f"lift.nodes.{v}.shifts.{x}"
        for v, node in enumerate(nodes)
        for x, own in node.get("shifts", {}).items()
        if own
    ]
    found = []
    for chosen in product(ranges, repeat=len(places)):
        changes = zip(places, chosen, strict=True)
        found.append(least_bound(given, tampered(certificate, ("adjacency", list(ends)), *changes)))
    bounds = [bound for bound in found if bound is not None]
    assert bounds and min(bounds) >= needed
    assert name == "ordered" or min(bounds) < needed + Fraction(1, 12)


def least_bound(given: Automaton, certificate: Json) -> Fraction | None:
    """The least multiple of 1/12 that the checker accepts as bound with these shifts."""
    nodes = certificate["lift"]["nodes"]
    certificate["D"] = "1000"
    for v, node in enumerate(nodes):
        node["potential"] = str(1000 - 100 * v)
    for node in reversed(nodes):  # edges lead to later nodes or to the same one
        low, high = -1, 96
        while high - low > 1:
            middle = (low + high) // 2
            node["potential"] = str(Fraction(middle, 12))
            rule = rule_of(given, about(given, certificate))
            if rule not in (None, "lift-potential"):
                return None
            low, high = (middle, high) if rule else (low, middle)
        if high == 96:
            return None
        node["potential"] = str(Fraction(high, 12))
    return Fraction(nodes[0]["potential"])


@pytest.mark.parametrize("name", ["svt lower", "floor lower", "svt rounds", "shown lower"])
def test_a_lower_claim_is_the_cost_of_a_run(name):
    """Repeated two more rounds, the run costs what the flow is worth and no more."""
    given, certificate = HOLD[name]
    run = certificate["run"]
    for i, j in certificate.get("cycles", []):
        run = run[:i] + 2 * run[i:j] + run[i:]
    steps = [given.transitions[t] for t in run]
    assert run_cost(given, steps, Fraction(-1), Fraction(1)) == Fraction(certificate["D"])


# ------------------------------------------------------------------------------------------------- fuzzing

JUNK = [
    None, True, 0, 1, 2, -1, 10**14, 1.5, float("nan"), "", "x", "0", "1", "-1", "1/2", "5/4", "1/0",
    "ground", [], {},
    [0, 1, 2], ["-1", "1"], ["0", "0"], {"x": None}, [["<", "x", "y"]],
]  # fmt: skip


def places(value: object, way: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    if way:
        yield way
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*way, key))
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from places(part, (*way, i))


def mutilated(rng: random.Random, value: Json) -> Json:
    copy = deepcopy(value)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        way = rng.choice(list(places(copy)))
        part = copy
        for key in way[:-1]:
            part = part[key]
        match rng.randrange(4):
            case 0:
                del part[way[-1]]
            case 1 if isinstance(part, list):
                part.insert(way[-1], deepcopy(rng.choice([*JUNK, part[way[-1]]])))
            case 2 if isinstance(part, list):
                part[way[-1]], part[0] = part[0], part[way[-1]]
            case _:
                part[way[-1]] = deepcopy(rng.choice(JUNK))
    return copy


@pytest.mark.parametrize("name", HOLD)
def test_mutilated_certificates_are_refused_or_true(name):
    given, certificate = HOLD[name]
    rng = random.Random(name)
    file = about(given, certificate)
    for _ in range(150):
        broken = mutilated(rng, file)
        try:
            claims = checker.verify(given, broken).claims
        except checker.CertificateRefused:
            continue
        for claim in claims:
            if claim.kind != "violation":
                low, high = claim.inputs.differences(True)
                cost = dearest(given, low, high, 4)
                assert claim.bound >= cost if claim.kind == "private" else claim.bound <= cost
