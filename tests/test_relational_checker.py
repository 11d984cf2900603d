"""The checker of certificates that pair runs: what holds is verified, what claims too much breaks a rule.

`benchmarks/mutate_checker.py` runs this file against mutants of the checker.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from fractions import Fraction
from functools import cache
from itertools import islice, product
from typing import Any

import pytest
from test_checker import DROP, Json, about, dipa, mutilated, rule_of, tampered
from test_relational import DIFFERENT_NOISE, HALF, STOPS, example, proved, read, report_noisy_max, samples

from symdipa.checker import CertificateRefused, verify
from symdipa.checker.model import model_of
from symdipa.checker.relational import check_relational
from symdipa.evidence.certificates import bundle
from symdipa.files.families import generate
from symdipa.model.automaton import TRUE, Automaton, Guard, State, Transition, symbol

# ------------------------------------------------------------------------------ certificates written by hand

TWO_SIDED = {"adjacency": ["-1", "1"], "sensitivity": "1"}
PASSED, NOT_PASSED = [[2, "x"], [1, "x"], "<=", "1"], [[1, "x"], [2, "x"], "<=", "1"]


def node(first: int, second: int, suffix: int, potential: str, *moves: Json, facts: object = ()) -> Json:
    return {
        "first": [first],
        "second": [second],
        "suffix": suffix,
        "facts": list(facts),
        "potential": potential,
        "moves": list(moves),
    }


def move(shows: str, suffix: int, shift: tuple[str, str] | None, *after: int, remark: str = "") -> Json:
    interval = None if shift is None else list(shift)
    return {"shows": shows, "remark": remark, "suffix": suffix, "shift": interval, "after": list(after)}


READ, ABOVE, BELOW, OUT, P, Q = (f"symbol {name}" for name in ("read", "above", "below", "o", "p", "q"))
STOP, END = "stop", "unprompted stop"
UP, DOWN, FREE, SAME = ("1", "1"), ("-1", "-1"), ("-1", "1"), ("0", "0")

LESS = dipa("""
(a, 1/2, 0): x := insample; output read; goto b
(b, 1/2, 0): if (insample >= x) then output above; goto c elseif (insample < x) then output below; goto c
""")
LESS_PROOF = {
    "kind": "relational",
    **TWO_SIDED,
    "D": "1",
    "machine": {
        "states": ["a", "b", "c", None],
        "accepting": [0, 1, 2, 3],
        "edges": [[0, 0, "", 1], [1, 1, "", 2], [1, 2, "", 2], [2, None, "", 3]],
    },
    "suffixes": {
        # nothing; stop; above ...; below ...; read; read, above ...; read, below ...
        "able": [[0, 1, 2, 3], [2], [1], [1], [0], [0], [0]],
        "sure": [[0, 1, 2, 3], [2], [], [], [0], [], []],
        "before": [
            [0, END, "", 1],
            [0, ABOVE, "", 2],
            [1, ABOVE, "", 2],
            [0, BELOW, "", 3],
            [1, BELOW, "", 3],
            [0, READ, "", 4],
            [2, READ, "", 5],
            [3, READ, "", 6],
        ],
    },
    "nodes": [
        node(0, 0, 5, "1", move(READ, 2, FREE, 2)),
        node(0, 0, 6, "1", move(READ, 3, FREE, 3)),
        node(1, 1, 2, "1", move(ABOVE, 0, UP, 4), move(ABOVE, 1, UP, 5), facts=[PASSED]),
        node(1, 1, 3, "1", move(BELOW, 0, DOWN, 4), move(BELOW, 1, DOWN, 5), facts=[NOT_PASSED]),
        node(2, 2, 0, "0"),
        node(2, 2, 1, "0"),
        node(0, 0, 0, "0"),
        node(0, 0, 4, "0"),
    ],
    "initial": [0, 1, 6, 7],
}

LESS_UNSURE = tampered(
    LESS_PROOF,
    ("suffixes.sure", [[]] * 7),
    ("nodes.5.moves", [move(END, 0, None, 8)]),
    ("nodes.7.moves", [move(READ, 0, FREE, 9)]),
    ("nodes.8", node(3, 3, 0, "0")),
    ("nodes.9", node(1, 1, 0, "0")),
)
"""The same without sure states: moves instead."""

SHOWN = dipa("""
(a, 1/2, 0, 1/4, 0): x := insample; output insample; goto b
(b, 1/2, 0, 1/3, 0): if (insample >= x) then output insampleprime; goto c
                     elseif (insample < x) then output below; goto c
""")
SHOWN_PROOF = {
    **LESS_PROOF,
    "D": "4/3",
    "suffixes": {
        # nothing or stop; insample; insample' ...; below ...; insample, insample' ...; insample, below ...
        "able": [[0, 1, 2, 3], [0], [1], [1], [0], [0]],
        "sure": [[]] * 6,
        "before": [
            [0, END, "", 0],
            [0, "insample", "", 1],
            [0, "insampleprime", "", 2],
            [0, BELOW, "", 3],
            [2, "insample", "", 4],
            [3, "insample", "", 5],
        ],
    },
    "nodes": [
        node(0, 0, 0, "0"),
        node(0, 0, 1, "1/2", move("insample", 0, SAME, 4)),
        node(0, 0, 4, "4/3", move("insample", 2, SAME, 5)),
        node(0, 0, 5, "1", move("insample", 3, SAME, 6)),
        node(1, 1, 0, "0"),
        node(1, 1, 2, "5/6", move("insampleprime", 0, SAME, 7), facts=[[[2, "x"], [1, "x"], "<=", "0"]]),
        node(1, 1, 3, "1/2", move(BELOW, 0, SAME, 7), facts=[[[1, "x"], [2, "x"], "<=", "0"]]),
        node(2, 2, 0, "0", move(END, 0, None, 8)),
        node(3, 3, 0, "0"),
    ],
    "initial": [0, 1, 2, 3],
}


def fork(left: str, right: str, output: str) -> Automaton:
    """Nobody sees which of two states shows a real number."""
    return dipa(f"""
    (a, 1/2, 0): x := insample; output read; goto b
    (b, 1/2, 0): if (insample >= x) then output read; goto c elseif (insample < x) then output read; goto e
    (c{left}): output {output}; goto f
    (e{right}): output {output}; goto f
    """)


def fork_proof(letter: str, shift: tuple[str, str] | None, costs: tuple[str, str, str, str]) -> Json:
    """With any of the four pairs of states after the second step, each at its own cost."""
    return {
        "kind": "relational",
        "adjacency": ["-1", "1/2"],
        "sensitivity": "2",
        "D": max(costs, key=Fraction),
        "machine": {
            "states": ["a", "b", "c", "e", "f", None],
            "accepting": [0, 1, 2, 3, 4, 5],
            "edges": [
                [0, 0, "", 1],
                [1, 1, "", 2],
                [1, 2, "", 3],
                [2, 3, "", 4],
                [3, 4, "", 4],
                [4, None, "", 5],
            ],
        },
        "suffixes": {
            "able": [[0, 1, 2, 3, 4, 5], [4], [2, 3], [1], [0], [0, 1], [0]],
            "sure": [[0, 1, 2, 3, 4, 5], [4], [], [], [], [0, 1], [0]],
            "before": [
                [0, END, "", 1],
                [0, letter, "", 2],
                [1, letter, "", 2],
                [2, READ, "", 3],
                [3, READ, "", 4],
                [0, READ, "", 5],
                [5, READ, "", 6],
            ],
        },
        "nodes": [
            node(0, 0, 0, "0"),
            node(0, 0, 5, "0"),
            node(0, 0, 6, "0"),
            node(0, 0, 4, max(costs, key=Fraction), move(READ, 3, None, 4)),
            node(1, 1, 3, max(costs, key=Fraction), move(READ, 2, None, 5, 6, 7, 8)),
            *(
                node(u, v, 2, cost, move(letter, 0, shift, 9), move(letter, 1, shift, 10))
                for (u, v), cost in zip(((2, 2), (2, 3), (3, 2), (3, 3)), costs, strict=True)
            ),
            node(4, 4, 0, "0"),
            node(4, 4, 1, "0"),
        ],
        "initial": [0, 1, 2, 3],
    }


FORK = fork(", 1/4, 1, 1/3, 5", ", 1/4, 3, 1/3, 9", "insample")
FORK_PRIME = fork(", 1/4, 1, 1/3, 5", ", 1/4, 3, 1/3, 9", "insampleprime")
FORK_PROOF = fork_proof("insample", SAME, ("1/2", "1", "3/4", "1/2"))
FORKED = {
    **node(2, 2, 2, "1", move("insample", 0, SAME, 9), move("insample", 1, SAME, 10)),
    "first": [2, 3],
    "second": [2, 3],
}
"""Both states of both copies at once, at the cost of the dearest pair."""
PRIME_PROOF = fork_proof("insampleprime", None, ("2/3", "2", "5/3", "2/3"))
TIED_PROOF = fork_proof("insampleprime", UP, ("7/6", "11/4", "8/3", "7/6"))
"""The same with a shift that helps nobody, for ``1/4`` times 2, 3, 4 and 2 more."""


def either(suffix: int, *moves: Json, facts: object = ()) -> Json:
    """Each copy is in c or in g."""
    return {**node(2, 2, suffix, "0", *moves, facts=facts), "first": [2, 3], "second": [2, 3]}


X_ABOVE_Y = [[1, "y"], [1, "x"], "<=", "0"]
OTHER_X_ABOVE_Y = [[2, "y"], [2, "x"], "<=", "0"]

ENDS = dipa("""
(a, 1/2, 0): x := insample; output read; goto b
(b, 1/2, 0): if (insample >= x) then x := insample, y := insample; output read; goto c
             elseif (insample < x) then x := insample, y := insample; output read; goto g
(c, 1/2, 0): if (insample >= x && insample < y) then output read; goto f
(g, 1/2, 0): if (insample >= x && insample < y) then output read; goto f
""")
"""All runs show the same: in c and g the two variables hold one sample, so that the guard never holds."""
ENDS_PROOF = {
    **LESS_PROOF,
    "D": "0",
    "machine": {
        "states": ["a", "b", "c", "g", "f", None],
        "accepting": [0, 1, 2, 3, 4, 5],
        "edges": [
            [0, 0, "", 1],
            [1, 1, "", 2],
            [1, 2, "", 3],
            [2, None, "", 5],
            [2, 3, "", 4],
            [3, None, "", 5],
            [3, 4, "", 4],
            [4, None, "", 5],
        ],
    },
    "suffixes": {
        # nothing; stop; read ...; read ..., stop; end; read ..., end
        "able": [[0, 1, 2, 3, 4, 5], [2, 3], [0, 1, 2, 3], [0, 1], [4], [0, 1, 2, 3]],
        "sure": [[]] * 6,
        "before": [
            [0, STOP, "", 1],
            [0, READ, "", 2],
            [2, READ, "", 2],
            [1, READ, "", 3],
            [3, READ, "", 3],
            [0, END, "", 4],
            [4, READ, "", 5],
            [5, READ, "", 5],
        ],
    },
    "nodes": [
        node(0, 0, 0, "0"),
        node(0, 0, 2, "0", move(READ, 0, None, 4), move(READ, 2, None, 5)),
        node(0, 0, 3, "0", move(READ, 3, None, 6)),
        node(0, 0, 5, "0", move(READ, 5, None, 7)),
        node(1, 1, 0, "0"),
        node(1, 1, 2, "0", move(READ, 0, None, 8), move(READ, 2, None, 9)),
        node(1, 1, 3, "0", move(READ, 1, None, 10)),
        node(1, 1, 5, "0", move(READ, 5, None, 11)),
        either(0),
        either(2, move(READ, 0, None), facts=[X_ABOVE_Y]),
        either(1, move(STOP, 0, None, 12), facts=[OTHER_X_ABOVE_Y]),
        either(5, move(READ, 4, None), facts=[X_ABOVE_Y]),
        node(5, 5, 0, "0"),
    ],
    "initial": [0, 1, 2, 3],
}


def stopper(guard: str) -> Automaton:
    return dipa(f"""
    (a, 1/2, 0): x := insample; output read; goto b
    (b, 1/2, 0): if (insample {guard} x) then output above; goto c
    """)


STOPPER, STOPPER_BELOW = stopper(">="), stopper("<")
STOPPER_PROOF = {
    **LESS_PROOF,
    "machine": {
        "states": ["a", "b", "c", None],
        "accepting": [0, 1, 2, 3],
        "edges": [[0, 0, "", 1], [1, 1, "", 2], [1, None, "", 3], [2, None, "", 3]],
    },
    "suffixes": {
        # nothing; end; above ...; stop; read; read, above ...; read, stop
        "able": [[0, 1, 2, 3], [2], [1], [1], [0], [0], [0]],
        "sure": [[0, 1, 2, 3], [2], [], [], [0], [], []],
        "before": [
            [0, END, "", 1],
            [0, ABOVE, "", 2],
            [1, ABOVE, "", 2],
            [0, STOP, "", 3],
            [0, READ, "", 4],
            [2, READ, "", 5],
            [3, READ, "", 6],
        ],
    },
    "nodes": [
        node(0, 0, 5, "1", move(READ, 2, FREE, 2)),
        node(0, 0, 6, "1", move(READ, 3, FREE, 3)),
        node(1, 1, 2, "1", move(ABOVE, 0, UP, 4), move(ABOVE, 1, UP, 5), facts=[PASSED]),
        node(1, 1, 3, "1", move(STOP, 0, DOWN, 8), facts=[NOT_PASSED]),
        node(2, 2, 0, "0"),
        node(2, 2, 1, "0"),
        node(0, 0, 0, "0"),
        node(0, 0, 4, "0"),
        node(3, 3, 0, "0"),
    ],
}
"""Whether the run stops tells how the samples compare."""

STOPPER_BELOW_PROOF = tampered(
    STOPPER_PROOF,
    ("nodes.2.moves", [move(ABOVE, 0, DOWN, 4), move(ABOVE, 1, DOWN, 5)]),
    ("nodes.2.facts", [NOT_PASSED]),
    ("nodes.3.moves", [move(STOP, 0, UP, 8)]),
    ("nodes.3.facts", [PASSED]),
)

FORESEEN = dipa("""
(a, 1/2, 0): x := insample; output o; goto b
(b, 1/2, 0): if (insample >= x) then output p; goto c elseif (insample < x) then output q; goto c
""")
FORESEEN_PROOF = {
    **LESS_PROOF,
    "machine": {
        "states": ["a", "b", "b", "c", None],
        "accepting": [0, 1, 3, 4],
        "edges": [[0, 0, "up", 1], [0, 0, "down", 2], [1, 1, "", 3], [2, 2, "", 3], [3, None, "", 4]],
    },
    "suffixes": {
        # nothing; stop; p ...; q ...; o (up), p ...; o (down), q ...; o (up)
        "able": [[0, 1, 3, 4], [3], [1], [2], [0], [0], [0]],
        "sure": [[0, 1, 3, 4], [3], [], [], [], [], [0]],
        "before": [
            [0, END, "", 1],
            [0, P, "", 2],
            [1, P, "", 2],
            [0, Q, "", 3],
            [1, Q, "", 3],
            [2, OUT, "up", 4],
            [3, OUT, "down", 5],
            [0, OUT, "up", 6],
        ],
    },
    "nodes": [
        node(0, 0, 0, "0"),
        node(0, 0, 6, "0"),
        node(0, 0, 4, "1", move(OUT, 2, FREE, 4, remark="up")),
        node(0, 0, 5, "1", move(OUT, 3, FREE, 5, remark="down")),
        node(1, 1, 2, "1", move(P, 0, UP, 6), move(P, 1, UP, 7), facts=[PASSED]),
        node(2, 2, 3, "1", move(Q, 0, DOWN, 6), move(Q, 1, DOWN, 7), facts=[NOT_PASSED]),
        node(3, 3, 0, "0"),
        node(3, 3, 1, "0"),
    ],
    "initial": [0, 1, 2, 3],
}
"""A remark tells in advance how the next sample will compare."""

SILENTLY = "unprompted symbol read"
SILENT = dipa("""
(a:non-input, 1/2, 0): x := insample; output read; goto b
(b, 1/2, 0): if (insample >= x) then output above; goto c elseif (insample < x) then output below; goto c
""")
SILENT_PROOF = tampered(
    LESS_PROOF,
    *((f"suffixes.before.{i}.1", SILENTLY) for i in (5, 6, 7)),
    ("nodes.0.moves", [move(SILENTLY, 2, SAME, 2)]),
    ("nodes.1.moves", [move(SILENTLY, 3, SAME, 3)]),
    ("nodes.2.moves", [move(ABOVE, 0, ("0", "1"), 4), move(ABOVE, 1, ("0", "1"), 5)]),
    ("nodes.2.facts", [[[2, "x"], [1, "x"], "<=", "0"]]),
    ("nodes.3.moves", [move(BELOW, 0, ("-1", "0"), 4), move(BELOW, 1, ("-1", "0"), 5)]),
    ("nodes.3.facts", [[[1, "x"], [2, "x"], "<=", "0"]]),
    *((f"nodes.{v}.potential", "1/2") for v in range(4)),
    ("D", "1/2"),
)
"""The first sample has no input: unshifted it costs nothing."""

CHAIN = dipa("""
(a, 1/2, 0): x := insample; output o; goto b
(b, 1/2, 0): if (insample >= x) then y := insample; output p; goto c
             elseif (insample < x) then output q; goto d
""")
CHAIN_PROOF = {
    **LESS_PROOF,
    "D": "5/2",
    "machine": {
        "states": ["a", "b", "c", "d", None],
        "accepting": [0, 1, 2, 3, 4],
        "edges": [[0, 0, "", 1], [1, 1, "", 2], [1, 2, "", 3], [2, None, "", 4], [3, None, "", 4]],
    },
    "suffixes": {
        # nothing, o, or stop, also after one another; p ...; q ...; o, p ...; o, q ...
        "able": [[0, 1, 2, 3, 4], [1], [1], [0], [0]],
        "sure": [[]] * 5,
        "before": [
            [0, END, "", 0],
            [0, OUT, "", 0],
            [0, P, "", 1],
            [0, Q, "", 2],
            [1, OUT, "", 3],
            [2, OUT, "", 4],
        ],
    },
    "nodes": [
        node(0, 0, 0, "0", move(OUT, 0, FREE, 1)),
        node(1, 1, 0, "0"),
        node(0, 0, 3, "5/2", move(OUT, 1, ("-3", "-3"), 3)),
        node(1, 1, 1, "1/2", move(P, 0, SAME, 4), facts=[[[2, "x"], [1, "x"], "<=", "-3"]]),
        node(
            2,
            2,
            0,
            "0",
            move(END, 0, None, 7),
            facts=[
                [[2, "x"], [2, "y"], "<", "-3"],
                [[1, "x"], [1, "y"], "<", "0"],
                [[2, "x"], [1, "x"], "<=", "-3"],
                [[1, "y"], [2, "y"], "<=", "0"],
                [[2, "y"], [1, "y"], "<=", "0"],
                [[1, "y"], [1, "y"], "<=", "0"],
            ],
        ),
        node(0, 0, 4, "1", move(OUT, 2, FREE, 6)),
        node(1, 1, 2, "1", move(Q, 0, DOWN, 8), facts=[NOT_PASSED]),
        node(4, 4, 0, "0"),
        node(3, 3, 0, "0", move(END, 0, None, 7)),
    ],
    "initial": [0, 2, 5],
}
"""Facts about several values follow from each other. (The first shift is larger than need be.)"""

HOLD: dict[str, tuple[Automaton, Json]] = {
    "less": (LESS, LESS_PROOF),
    "less unsure": (LESS, LESS_UNSURE),
    "shown": (SHOWN, SHOWN_PROOF),
    "fork": (FORK, FORK_PROOF),
    "fork prime": (FORK_PRIME, PRIME_PROOF),
    "fork tied": (FORK_PRIME, TIED_PROOF),
    "ends": (ENDS, ENDS_PROOF),
    "stopper": (STOPPER, STOPPER_PROOF),
    "stopper below": (STOPPER_BELOW, STOPPER_BELOW_PROOF),
    "foreseen": (FORESEEN, FORESEEN_PROOF),
    "silent": (SILENT, SILENT_PROOF),
    "chain": (CHAIN, CHAIN_PROOF),
}


@pytest.mark.parametrize("name", HOLD)
def test_what_is_proved_by_hand_is_verified(name):
    automaton, certificate = HOLD[name]
    (claim,) = verify(automaton, about(automaton, certificate)).claims
    assert claim.kind == "private" and claim.bound == Fraction(certificate["D"])
    assert [str(claim.inputs.low), str(claim.inputs.high)] == certificate["adjacency"]
    assert str(claim.inputs.sensitivity) == certificate["sensitivity"]


# Tampering

HUGE = "1" * 1001
VACUOUS = [[[1, "x"], [2, "x"], "<", "0"], [[2, "x"], [1, "x"], "<=", "0"]]
"""Facts that contradict each other: of such a node everything is true."""
SILENCE = move(READ, 2, None)
SAMES = [move(ABOVE, 0, SAME, 4), move(ABOVE, 1, SAME, 5)]
ABOVES = [move(ABOVE, 0, None, 4), move(ABOVE, 1, None, 5)]

TAMPERED: list[tuple[str, str, list[tuple[str, object]]]] = [
    # the claim
    ("less", "pair-initial", [("D", "999/1000")]),
    ("less", "pair-initial", [("D", "-1")]),
    ("less", "rational", [("D", "NaN")]),
    ("less", "rational", [("D", float("nan"))]),
    ("less", "rational", [("D", float("inf"))]),
    ("less", "rational", [("D", 1)]),
    ("less", "rational", [("D", Fraction(1))]),
    ("less", "rational", [("D", HUGE)]),
    ("less", "adjacency", [("adjacency", ["1", "-1"])]),
    ("less", "adjacency", [("sensitivity", "0")]),
    ("less", "adjacency", [("sensitivity", "-1")]),
    ("less", "pair-potential", [("adjacency", ["-1", "1001/1000"])]),
    ("less", "pair-potential", [("adjacency", ["-1001/1000", "1"])]),
    ("less", "pair-potential", [("sensitivity", "1001/1000")]),
    ("less", "shape", [("proof", "obvious")]),
    ("less", "shape", [("D", DROP)]),
    ("less", "shape", [("nodes", {})]),
    ("less", "shape", [("nodes.0.note", "")]),
    ("less", "shape", [("nodes.0.moves.0.note", "")]),
    ("less", "shape", [("machine.note", "")]),
    ("less", "shape", [("suffixes.note", "")]),
    ("less", "shape", [("initial", "0167")]),
    # the machine
    ("less", "machine-state", [("machine.states", [])]),
    ("less", "machine-state", [("machine.states.0", "b")]),
    ("less", "machine-state", [("machine.states.0", None)]),
    ("less", "machine-state", [("machine.states.4", "d")]),
    ("less", "shape", [("machine.states.4", 0)]),
    ("less", "machine-state", [("machine.accepting.4", 4)]),
    ("less", "machine-state", [("machine.accepting.4", -1)]),
    ("less", "shape", [("machine.accepting.4", True)]),
    ("less", "machine-edge", [("machine.edges.4", [0, 0, "", 1])]),
    ("less", "machine-edge", [("machine.edges.4", [0, 0, "", 2])]),
    ("less", "machine-edge", [("machine.edges.4", [4, 0, "", 1])]),
    ("less", "machine-edge", [("machine.edges.4", [0, 0, "again", 4])]),
    ("less", "machine-edge", [("machine.edges.4", [0, 3, "again", 1])]),
    ("less", "machine-edge", [("machine.edges.4", [0, -3, "again", 1])]),
    ("less", "machine-edge", [("machine.edges.4", [1, 0, "again", 1])]),
    ("less", "machine-edge", [("machine.edges.4", [0, 0, "again", 2])]),
    ("less", "machine-edge", [("machine.edges.4", [2, None, "again", 2])]),
    ("less", "machine-edge", [("machine.edges.4", [3, None, "", 3])]),
    ("less", "machine-edge", [("machine.edges.4", [3, 0, "", 1])]),
    ("less", "shape", [("machine.edges.4", [0, 0, 0, 1])]),
    ("less", "shape", [("machine.edges.4", [0, 0, "again"])]),
    ("less", "machine-remarks", [("machine.accepting", [1, 2, 3])]),
    ("less", "machine-remarks", [("machine.accepting", [0, 1, 2])]),
    ("less", "machine-remarks", [("machine.edges.3", DROP)]),
    ("less", "machine-remarks", [("machine.edges.4", [0, 0, "again", 1])]),
    ("foreseen", "machine-remarks", [("machine.accepting.4", 2)]),
    ("foreseen", "machine-remarks", [("machine.edges.3", DROP)]),
    ("foreseen", "machine-remarks", [("machine.edges.5", [2, 1, "", 3])]),
    ("stopper", "machine-remarks", [("machine.edges.2", DROP)]),
    # what is shown later
    ("less", "suffix-class", [("suffixes", {"able": [], "sure": [], "before": []})]),
    ("less", "suffix-class", [("suffixes.able.7", [])]),
    ("less", "suffix-class", [("suffixes.sure.7", [])]),
    ("less", "suffix-class", [("suffixes.able.2", [4])]),
    ("less", "suffix-class", [("suffixes.sure.2", [4])]),
    ("less", "suffix-class", [("suffixes.before.8", [7, READ, "", 0])]),
    ("less", "suffix-class", [("suffixes.before.8", [4, READ, "", 7])]),
    ("less", "suffix-class", [("suffixes.before.8", [0, END, "", 0])]),
    ("less", "suffix-class", [("suffixes.before.7", DROP)]),
    ("less", "suffix-class", [("suffixes.before.0", DROP)]),
    ("less", "shape", [("suffixes.before.8", [4, READ, ""])]),
    ("less", "shape", [("suffixes.before.8", [4, None, "", 0])]),
    ("less", "suffix-able", [("suffixes.able.0", [0, 1, 2])]),
    ("less", "suffix-able", [("suffixes.able.3", [])]),
    ("less", "suffix-able", [("suffixes.able.6", [])]),
    ("less", "suffix-able", [("suffixes.before.7", [3, READ, "", 2])]),
    ("foreseen", "suffix-sure", [("suffixes.sure.0", [0, 1, 2, 3, 4])]),
    ("less", "suffix-sure", [("suffixes.sure.1", [2, 3])]),
    ("less", "suffix-sure", [("suffixes.sure.1", [1, 2])]),
    ("less", "suffix-sure", [("suffixes.sure.2", [1])]),
    ("less", "suffix-sure", [("suffixes.sure.3", [1])]),
    ("less", "suffix-sure", [("suffixes.sure.5", [0])]),
    ("less", "suffix-sure", [("suffixes.sure.6", [0])]),
    ("less", "suffix-sure", [("suffixes.sure.2", [0])]),
    ("less unsure", "suffix-sure", [("suffixes.sure.1", [2])]),
    ("less unsure", "suffix-sure", [("suffixes.sure.4", [0])]),
    ("stopper", "suffix-sure", [("suffixes.sure.1", [1, 2])]),
    ("stopper", "suffix-sure", [("suffixes.sure.2", [1])]),
    ("foreseen", "suffix-sure", [("suffixes.sure.4", [0])]),
    # real numbers are never sure, although every run shows them
    ("fork", "suffix-sure", [("suffixes.sure.2", [2])]),
    ("fork prime", "suffix-sure", [("suffixes.sure.2", [2])]),
    # nodes
    ("less", "pair-node", [("nodes.0.first", [4])]),
    ("less", "pair-node", [("nodes.0.second", [4])]),
    ("less", "pair-node", [("nodes.0.second", [-1])]),
    ("less", "pair-node", [("nodes.0.suffix", 7)]),
    ("less", "shape", [("nodes.0.first", ["0"])]),
    ("less", "shape", [("nodes.0.first", 0)]),
    ("less", "rational", [("nodes.0.potential", "1e0")]),
    ("less", "rational", [("nodes.0.potential", None)]),
    ("less", "pair-node", [("nodes.2.facts.1", [[2, "x"], [1, "x"], "<", "1001/1000"])]),
    ("less", "pair-node", [("nodes.2.facts.0.2", "=")]),
    ("less", "pair-node", [("nodes.2.facts.0.2", ["<="])]),
    ("less", "pair-node", [("nodes.2.facts.0.0", [3, "x"])]),
    ("less", "pair-node", [("nodes.2.facts.0.0", [0, "x"])]),
    ("less", "pair-node", [("nodes.2.facts.0.1", [True, "x"])]),
    ("less", "pair-node", [("nodes.2.facts.0.1", [1.0, "x"])]),
    ("less", "pair-node", [("nodes.2.facts.0.1", [1, ""])]),
    ("less", "pair-node", [("nodes.2.facts.0.1", [1, "y"])]),
    ("less", "shape", [("nodes.2.facts.0.1", [1, None])]),
    ("less", "shape", [("nodes.2.facts.0.1", [1])]),
    ("less", "shape", [("nodes.2.facts.0", [[2, "x"], [1, "x"], "<="])]),
    ("less", "rational", [("nodes.2.facts.0.3", 1)]),
    ("less", "pair-move", [("nodes.0.moves.0.suffix", 7)]),
    ("less", "pair-move", [("nodes.0.moves.0.after", [10])]),
    ("less", "pair-move", [("nodes.0.moves.0.after", [-7])]),
    ("less", "pair-initial", [("initial.4", 8)]),
    ("less", "pair-initial", [("initial.4", -8)]),
    ("less", "shape", [("initial.4", True)]),
    # potentials
    ("less", "pair-potential", [("nodes.0.potential", "999/1000"), ("D", "999/1000")]),
    ("less", "pair-potential", [("nodes.1.potential", "999/1000")]),
    ("less", "pair-potential", [("nodes.2.potential", "999/1000")]),
    ("less", "pair-potential", [("nodes.3.potential", "999/1000")]),
    ("less", "pair-potential", [("nodes.4.potential", "1/1000")]),
    ("less", "pair-potential", [("nodes.4.potential", "-1/1000"), ("nodes.2.potential", "999/1000")]),
    ("less", "pair-potential", [("nodes.6.potential", "-1/1000")]),
    ("less", "pair-potential", [("nodes.7.potential", "-1/1000")]),
    *(
        (name, "pair-potential", [(f"nodes.{v}.potential", str(Fraction(potential) - Fraction(1, 1000)))])
        for name, potentials in {
            "shown": {1: "1/2", 2: "4/3", 3: "1", 5: "5/6", 6: "1/2"},
            "fork": {5: "1/2", 6: "1", 7: "3/4", 8: "1/2"},
            "fork prime": {5: "2/3", 6: "2", 7: "5/3", 8: "2/3"},
            "fork tied": {5: "7/6", 6: "11/4", 7: "8/3", 8: "7/6"},
            "silent": {2: "1/2", 3: "1/2"},
            "chain": {2: "5/2", 3: "1/2"},
        }.items()
        for v, potential in potentials.items()
    ),
    ("silent", "pair-potential", [("nodes.0.moves.0.shift", ["1/1000", "1/1000"])]),
    ("silent", "pair-potential", [("nodes.0.moves.0.shift", ["-1/1000", "-1/1000"])]),
    ("fork", "pair-potential", [("nodes.3.potential", "999/1000")]),
    ("fork", "pair-potential", [("nodes.11", {**FORKED, "potential": "999/1000"})]),
    # initial nodes
    ("less", "pair-initial", [("initial", [])]),
    *(("less", "pair-initial", [(f"initial.{i}", DROP)]) for i in range(4)),
    ("less", "pair-initial", [("nodes.8", node(1, 1, 5, "0")), ("initial.0", 8)]),
    ("less", "pair-initial", [("nodes.8", node(1, 0, 5, "0")), ("initial.0", 8)]),
    ("less", "pair-initial", [("nodes.8", node(0, 1, 5, "1", SILENCE, facts=VACUOUS)), ("initial.0", 8)]),
    ("less", "pair-initial", [("nodes.0.facts", [[[1, "x"], [2, "x"], "<=", "0"]])]),
    *(
        ("less", "pair-initial", [("nodes.8", {**node(0, 0, 5, "0"), copy: []}), ("initial.0", 8)])
        for copy in ("first", "second")
    ),
    # moves
    ("less", "pair-move", [("nodes.0.moves", [])]),
    ("less", "pair-move", [("nodes.2.moves.1", DROP)]),
    ("less", "pair-move", [("nodes.2.moves.2", move(ABOVE, 0, UP, 4))]),
    ("less", "pair-move", [("nodes.0.moves.0.remark", "up")]),
    ("less", "pair-move", [("nodes.0.moves.0.shows", "read")]),
    ("less", "pair-move", [("nodes.0.moves.0.suffix", 3)]),
    ("less unsure", "pair-move", [("nodes.5.moves", [])]),
    ("less", "pair-shift", [("nodes.0.moves.0.shift", ["1", "-1"])]),
    ("less", "pair-shift", [("nodes.0.moves.0.shift", ["1/1000", "0"])]),
    ("less", "rational", [("nodes.0.moves.0.shift", ["-1", None])]),
    ("less", "shape", [("nodes.0.moves.0.shift", ["-1"])]),
    ("less", "shape", [("nodes.0.moves.0.shift", "free")]),
    ("less unsure", "pair-shift", [("nodes.5.moves.0.shift", ["0", "0"])]),
    ("less", "pair-shift", [("nodes.8", node(1, 2, 2, "0", *SAMES))]),
    ("less", "pair-shift", [("nodes.8", node(2, 1, 1, "0", move(END, 0, SAME, 8)))]),
    ("shown", "pair-shift", [("nodes.1.moves.0.shift", None)]),
    ("shown", "pair-shift", [("nodes.1.moves.0.shift", ["0", "1/1000"])]),
    ("shown", "pair-shift", [("nodes.1.moves.0.shift", ["-1/1000", "0"])]),
    ("shown", "pair-shift", [("nodes.1.moves.0.shift", ["-1", "1"])]),
    # outputs
    ("less", "pair-output", [("nodes.2.moves.0.shift", ["999/1000", "1"])]),
    ("less", "pair-output", [("nodes.3.moves.0.shift", ["-1", "-999/1000"])]),
    ("less", "pair-output", [("nodes.2.moves.0.shift", None)]),
    ("less", "pair-output", [("nodes.2.facts", []), ("nodes.3.facts", [])]),
    ("less", "pair-output", [("nodes.2.second", [1, 3]), ("nodes.0.moves.0.after", [2])]),
    ("stopper", "pair-output", [("nodes.2.moves.0.shift", None)]),
    ("stopper", "pair-output", [("nodes.3.moves.0.shift", None)]),
    ("stopper", "pair-output", [("nodes.3.moves.0.shift", ["-1", "-999/1000"])]),
    ("stopper below", "pair-output", [("nodes.2.moves.0.shift", None)]),
    ("stopper below", "pair-output", [("nodes.3.moves.0.shift", None)]),
    ("ends", "pair-fact", [("nodes.9.facts", [])]),
    ("ends", "pair-output", [("nodes.10.facts", [])]),
    ("ends", "pair-fact", [("nodes.11.facts", [])]),
    ("ends", "pair-output", [("nodes.10.facts.0.3", "1/1000")]),
    *(
        ("ends", "pair-output", [("nodes.13", {**either(1, move(STOP, 0, None, 12)), "second": second})])
        for second in ([2], [3], [2, 3])
    ),
    ("chain", "pair-output", [("nodes.3.moves.0.shift", ["-3001/1000", "0"]), ("nodes.4.facts", [])]),
    ("foreseen", "pair-output", [("nodes.8", node(1, 2, 2, "0", move(P, 0, None), move(P, 1, None)))]),
    ("less", "pair-output", [("nodes.8", node(1, 2, 2, "0", *ABOVES))]),
    ("less", "pair-output", [("nodes.8", node(1, 3, 2, "0", *ABOVES))]),
    # facts
    ("less", "pair-fact", [("nodes.2.facts.0.3", "999/1000")]),
    ("less", "pair-fact", [("nodes.2.facts.0.2", "<")]),
    ("less", "pair-fact", [("nodes.3.facts.0.3", "999/1000")]),
    ("less", "pair-fact", [("nodes.0.moves.0.shift", ["-1", "1001/1000"])]),
    ("less", "pair-fact", [("nodes.1.moves.0.shift", ["-1001/1000", "1"])]),
    ("less", "pair-fact", [("nodes.0.moves.0.shift", None)]),
    ("less", "pair-fact", [("nodes.2.facts.1", [[1, "x"], [1, "x"], "<=", "-1/1000"])]),
    ("less", "pair-fact", [("nodes.2.facts.1", [[1, "x"], [1, "x"], "<", "0"])]),
    ("less", "pair-fact", [("nodes.0.moves.0.after", [])]),
    ("less", "pair-fact", [("nodes.2.moves.0.after", [5])]),
    ("less", "pair-fact", [("nodes.2.moves.1.after", [4])]),
    *(
        ("ends", "pair-fact", [(f"nodes.{v}.{key}", [u])])
        for v in (8, 10, 11)
        for key in ("first", "second")
        for u in (2, 3)
    ),
    ("ends", "pair-fact", [("nodes.8.first", [])]),
    ("less", "pair-fact", [("nodes.8", node(2, 3, 0, "0")), ("nodes.2.moves.0.after", [8])]),
    ("less", "pair-fact", [("nodes.8", node(3, 2, 0, "0")), ("nodes.2.moves.0.after", [8])]),
    *(("fork", "pair-fact", [(f"nodes.4.moves.0.after.{i}", DROP)]) for i in range(4)),
    ("chain", "pair-fact", [("nodes.4.facts.0.3", "-3001/1000")]),
    ("chain", "pair-fact", [("nodes.4.facts.1.3", "-1/1000")]),
    ("chain", "pair-fact", [("nodes.4.facts.2.2", "<")]),
    ("chain", "pair-fact", [("nodes.4.facts.2.3", "-3001/1000")]),
    ("chain", "pair-fact", [("nodes.4.facts.3.2", "<")]),
    ("chain", "pair-fact", [("nodes.4.facts.4.3", "-1/1000")]),
    ("chain", "pair-fact", [("nodes.4.facts.5.2", "<")]),
    ("chain", "pair-fact", [("nodes.4.facts.6", [[2, "y"], [2, "x"], "<=", "1000"])]),
    ("chain", "pair-fact", [("nodes.4.facts.6", [[1, "x"], [2, "x"], "<=", "1000"])]),
    # ends
    ("foreseen", "pair-end", [("nodes.8", node(1, 2, 0, "0"))]),
    ("foreseen", "pair-end", [("nodes.8", node(3, 2, 0, "0"))]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "rule", "changes"), TAMPERED)
def test_what_was_tampered_with_is_refused(name, rule, changes):
    automaton, certificate = HOLD[name]
    assert rule_of(automaton, about(automaton, tampered(certificate, *changes))) == rule


STILL_HOLD: list[tuple[str, list[tuple[str, object]]]] = [
    ("less", [("D", "2")]),
    ("less", [("adjacency", ["-1/2", "1/2"]), ("sensitivity", "2")]),
    ("less", [("adjacency", ["0", "1"])]),
    ("less", [("nodes.0.potential", "1001/1000"), ("D", "1001/1000")]),
    ("less", [("nodes.2.facts.0.3", "1/2"), ("nodes.0.moves.0.shift", ["-1", "1/2"]), ("D", "2"),
              ("nodes.0.potential", "5/4")]),
    ("less", [("nodes.2.moves.0.shift", ["1", "2"])]),
    ("less", [("nodes.3.moves.0.shift", ["-2", "-1"])]),
    ("less", [("nodes.2.facts.1", [[1, "x"], [1, "x"], "<", "1/1000"])]),
    ("less", [("nodes.8", node(1, 1, 5, "0"))]),
    ("less", [("nodes.8", node(1, 1, 2, "0", move(ABOVE, 0, None), move(ABOVE, 1, None), facts=VACUOUS))]),
    ("less", [("nodes.8", node(1, 1, 2, "0", move(ABOVE, 0, None), move(ABOVE, 1, None),
                               facts=[[[1, "x"], [1, "x"], "<", "0"]]))]),
    ("chain", [("nodes.3.moves.0.shift", ["-3", "0"]), ("nodes.4.facts", [])]),
    ("less", [("initial", [0, 0, 2, 1, 6, 7])]),
    ("less", [("nodes.0.moves.1", move(READ, 3, None)), ("nodes.4.moves", [move("nonsense", 0, None, 0)])]),
    ("foreseen", [("nodes.8", node(2, 1, 0, "0"))]),
    ("foreseen", [("nodes.8", node(2, 2, 0, "0"))]),
    ("foreseen", [("nodes.8", node(1, 2, 3, "0"))]),
    ("foreseen", [("nodes.8", node(3, 2, 2, "0"))]),
    ("fork", [("adjacency", ["0", "1/2"])]),
    ("fork", [("nodes.11", FORKED)]),
    ("less unsure", [("nodes.10", {**node(0, 0, 0, "0"), "second": [0, 1, 2, 3]})]),
    ("chain", [("nodes.4.facts.0.2", "<="), ("nodes.4.facts.1.3", "1/2")]),
    ("shown", [("suffixes.before.6", [4, "insample", "", 4])]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "changes"), STILL_HOLD)
def test_what_is_changed_within_the_rules_still_holds(name, changes):
    automaton, certificate = HOLD[name]
    assert rule_of(automaton, about(automaton, tampered(certificate, *changes))) is None


@pytest.mark.parametrize(
    ("left", "right", "letter"),
    [
        (", 1/4, 1, 1/3, 5", ", 1/2, 3, 1/3, 9", "insample"),
        (", 1/4, 1, 1/3, 5", ", 1/4, 3, 1/2, 9", "insampleprime"),
    ],
)
def test_states_that_differ_are_not_paired(left, right, letter):
    automaton = fork(left, right, letter)
    proof = fork_proof(letter, SAME if letter == "insample" else None, ("9", "9", "9", "9"))
    assert rule_of(automaton, about(automaton, proof)) == "pair-shift"


@pytest.mark.parametrize("letter", ["insample", "insampleprime"])
def test_whether_an_input_is_read_is_seen(letter):
    """Of a fork that shows the same, but reads an input on one side only."""
    automaton = fork(", 1/4, 1, 1/3, 5", ":non-input, 1/4, 3, 1/3, 9", letter)
    proof = fork_proof(letter, SAME if letter == "insample" else None, ("9", "9", "9", "9"))
    assert rule_of(automaton, about(automaton, proof)) == "suffix-class"
    other = [
        *proof["suffixes"]["before"],
        [0, f"unprompted {letter}", "", 2],
        [1, f"unprompted {letter}", "", 2],
    ]
    assert rule_of(automaton, about(automaton, tampered(proof, ("suffixes.before", other)))) == "pair-output"


def test_samples_with_different_noise_need_no_tie():
    automaton = fork(", 1/4, 1, 1/3, 5", ", 1/2, 3, 1/3, 9", "insampleprime")
    assert rule_of(automaton, about(automaton, PRIME_PROOF)) is None
    assert rule_of(automaton, about(automaton, TIED_PROOF)) == "pair-shift"


@pytest.mark.parametrize("d", [None, Fraction(0), Fraction(-1)])
def test_nothing_is_gained_by_noise_that_is_not_positive(d):
    """Such noise is allowed where nobody looks at the sample; there a tie would cost nothing, or less."""
    automaton = Automaton(
        (State("a", d=d), State("b")), "a", (Transition("a", "b", symbol("o"), TRUE, frozenset()),), ()
    )
    proof = {
        **LESS_PROOF,
        "D": "0",
        "machine": {
            "states": ["a", "b", None],
            "accepting": [0, 1, 2],
            "edges": [[0, 0, "", 1], [1, None, "", 2]],
        },
        "suffixes": {
            "able": [[0, 1, 2]],
            "sure": [[]],
            "before": [[0, OUT, "", 0], [0, END, "", 0]],
        },
        "nodes": [
            node(0, 0, 0, "0", move(OUT, 0, None, 1)),
            node(1, 1, 0, "0", move(END, 0, None, 2)),
            node(2, 2, 0, "0"),
        ],
        "initial": [0],
    }
    assert rule_of(automaton, about(automaton, proof)) is None
    for shift in (["0", "0"], ["5", "5"], ["-1", "1"]):
        tied = tampered(proof, ("nodes.0.moves.0.shift", shift), ("nodes.1.potential", "0"))
        assert rule_of(automaton, about(automaton, tied)) == "pair-shift"


def test_a_variable_without_a_name_is_no_sample():
    """Were its fact one about the sample, no guard could ever hold, and nothing would be left to prove."""
    states, x = (State("a", d=HALF), State("b", d=HALF), State("c")), frozenset([""])
    moves = (
        Transition("a", "b", symbol("read"), TRUE, x),
        Transition("b", "c", symbol("above"), Guard(ge=x)),
        Transition("b", "c", symbol("below"), Guard(lt=x)),
    )
    automaton = Automaton(states, "a", moves, ("",))
    bare = tampered(
        LESS_PROOF,
        ("nodes.2.facts", []),
        ("nodes.3.facts", []),
        *((f"nodes.{v}.potential", "0") for v in range(4)),
        *((f"nodes.{v}.moves.{m}.shift", list(FREE)) for v, m in [(2, 0), (2, 1), (3, 0), (3, 1)]),
        ("D", "0"),
    )
    assert rule_of(automaton, about(automaton, bare)) == "pair-output"
    named = tampered(
        LESS_PROOF,
        ("nodes.2.facts", [[[2, ""], [1, ""], "<=", "1"]]),
        ("nodes.3.facts", [[[1, ""], [2, ""], "<=", "1"]]),
    )
    assert rule_of(automaton, about(automaton, named)) is None


def test_the_certificate_of_another_automaton():
    assert rule_of(FORK, about(FORK_PRIME, PRIME_PROOF)) == "automaton"
    for automaton, proof in ((FORK, PRIME_PROOF), (FORK_PRIME, FORK_PROOF), (STOPPER_BELOW, STOPPER_PROOF)):
        assert rule_of(automaton, about(automaton, proof)) in ("suffix-class", "pair-output")


# Limits and progress


def rule_and_message(automaton: Automaton, certificate: Json) -> tuple[str, str]:
    with pytest.raises(CertificateRefused) as refused:
        verify(automaton, about(automaton, certificate))
    return refused.value.rule, refused.value.message


def test_what_would_take_for_ever_is_refused(monkeypatch):
    monkeypatch.setattr("symdipa.checker.relational.effects.MAX_VARIABLES", 1)
    assert rule_of(LESS, about(LESS, LESS_PROOF)) is None
    assert rule_of(ENDS, about(ENDS, ENDS_PROOF)) == "limit"
    monkeypatch.setattr("symdipa.checker.relational.effects.MAX_VARIABLES", 2)
    monkeypatch.setattr("symdipa.checker.relational.check.MAX_SETS", 7)
    assert rule_of(FORESEEN, about(FORESEEN, FORESEEN_PROOF)) is None
    monkeypatch.setattr("symdipa.checker.relational.check.MAX_SETS", 6)
    rule, message = rule_and_message(FORESEEN, FORESEEN_PROOF)
    assert rule == "limit" and "6 pairs" in message
    assert rule_of(LESS, about(LESS, LESS_PROOF)) is None
    monkeypatch.setattr("symdipa.checker.relational.check.MAX_SETS", 4)
    assert rule_of(LESS, about(LESS, LESS_PROOF)) is None
    monkeypatch.setattr("symdipa.checker.relational.check.MAX_SETS", 3)
    rule, message = rule_and_message(LESS, LESS_PROOF)
    assert rule == "limit" and "3 sets" in message


def test_a_variable_with_the_name_of_the_sample_is_refused():
    automaton = Automaton(
        (State("a", True, HALF), State("b", True, HALF)),
        "a",
        (
            Transition("a", "b", symbol("read"), TRUE, frozenset({"insample"})),
            Transition("b", "a", symbol("above"), Guard(ge=frozenset({"insample"}))),
        ),
        ("insample",),
    )
    assert rule_of(automaton, about(automaton, LESS_PROOF)) == "model-name"


def test_sums_may_not_grow_for_ever(monkeypatch):
    third = tampered(CHAIN_PROOF, ("nodes.3.facts.0.3", "-3"), ("nodes.4.facts.3.3", "1/1000000007"))
    assert rule_of(CHAIN, about(CHAIN, third)) is None
    monkeypatch.setattr("symdipa.checker.reading.MAX_BITS", 29)
    assert rule_of(CHAIN, about(CHAIN, CHAIN_PROOF)) is None
    assert rule_of(CHAIN, about(CHAIN, third)) == "limit"


def test_progress_is_told_node_by_node():
    told: list[int] = []
    check_relational(model_of(LESS), LESS_PROOF, "here", told.append)
    assert told == list(range(8))


# One step of facts

ALIKE = dipa("""
(a, 1/2, 0): x := insample; output o; goto b
(b, 1/2, 0): y := insample; output o; goto c
(c, 1/2, 0): if (insample >= x) then y := insample; output o; goto d
             elseif (insample < x) then x := insample; output o; goto d
""")
ALIKE_PROOF = {
    **LESS_PROOF,
    "D": "0",
    "machine": {
        "states": ["a", "b", "c", "d", None],
        "accepting": [0, 1, 2, 3, 4],
        "edges": [[0, 0, "", 1], [1, 1, "", 2], [2, 2, "", 3], [2, 3, "", 3], [3, None, "", 4]],
    },
    "suffixes": {
        "able": [[0, 1, 2, 3, 4]],
        "sure": [[]],
        "before": [[0, END, "", 0], [0, OUT, "", 0]],
    },
    "nodes": [
        *(node(u, u, 0, "0", move(OUT, 0, None, u + 1)) for u in range(3)),
        node(3, 3, 0, "0", move(END, 0, None, 4)),
        node(4, 4, 0, "0"),
    ],
    "initial": [0],
}
VARIABLES = [(1, "x"), (1, "y"), (2, "x"), (2, "y")]
INSTANT = Fraction(1, 1000)
"""``u < v + c`` says as much as ``u <= v + c - INSTANT`` while all numbers are integers and chains short."""


def random_facts(rng: random.Random, most: int) -> list[list[Any]]:
    chosen = rng.sample([(u, v) for u in VARIABLES for v in VARIABLES], rng.randint(0, most))
    return [[list(u), list(v), rng.choice(("<", "<=")), str(rng.randint(-1, 2))] for u, v in chosen]


def as_edges(facts: list[list[Any]]) -> list[tuple[Any, Any, Fraction]]:
    """``(u, v, c)`` for ``u - v <= c``."""
    return [(tuple(u), tuple(v), Fraction(c) - INSTANT * (relation == "<")) for u, v, relation, c in facts]


def least(edges: list[tuple[Any, Any, Fraction]], begin: Any) -> dict[Any, Fraction] | None:
    """The least ``c`` with ``begin - v <= c``, for every ``v``; ``None`` if there is no solution at all."""
    ends = {begin} | {u for u, _, _ in edges} | {v for _, v, _ in edges}
    bound = {begin: Fraction(0)}
    everywhere = dict.fromkeys(ends, Fraction(0))  # as if from a place before all others
    for _ in range(len(ends) + 1):
        for found in (bound, everywhere):
            for u, v, c in edges:
                if u in found and found[u] + c < found.get(v, found[u] + c + 1):
                    found[v] = found[u] + c
    return None if any(everywhere[u] + c < everywhere[v] for u, v, c in edges) else bound


def step_is_right(facts: list[list[Any]], shift: tuple[int, int] | None, claimed: list[list[Any]]) -> bool:
    """Whether the claimed facts follow in each of the four ways that both copies can go on from c."""
    tie = [] if shift is None else [((2, "z"), (1, "z"), shift[1]), ((1, "z"), (2, "z"), -shift[0])]
    for stored in product("yx", "yx"):
        guards = [
            ((copy, "x"), (copy, "z"), -INSTANT) if y == "y" else ((copy, "z"), (copy, "x"), -INSTANT)
            for copy, y in zip((1, 2), stored, strict=True)
        ]
        edges = as_edges(facts) + [(u, v, Fraction(c)) for u, v, c in [*tie, *guards]]
        if least(edges, (1, "x")) is None:
            continue
        fresh = {(copy, y): (copy, "z") for copy, y in zip((1, 2), stored, strict=True)}
        for u, v, c in as_edges(claimed):
            known = least(edges, fresh.get(u, u))
            assert known is not None
            if known.get(fresh.get(v, v), c + 1) > c:
                return False
    return True


@pytest.mark.parametrize("seed", range(4))
def test_one_step_of_facts_against_shortest_paths(seed):
    rng = random.Random(seed)
    told = {True: 0, False: 0}
    for _ in range(150):
        facts, claimed = random_facts(rng, 6), random_facts(rng, rng.choice((1, 3)))
        low, high = sorted((rng.randint(-2, 2), rng.randint(-2, 2)))
        shift = rng.choice([None, (low, high), (low, low)])
        interval = None if shift is None else (str(low), str(shift[1]))
        proof = tampered(
            ALIKE_PROOF,
            ("nodes.5", node(2, 2, 0, "2", move(OUT, 0, interval, 6), facts=facts)),
            ("nodes.6", node(3, 3, 0, "0", move(END, 0, None, 4), facts=claimed)),
        )
        right = step_is_right(facts, shift, claimed)
        told[right] += 1
        assert rule_of(ALIKE, about(ALIKE, proof)) == (None if right else "pair-fact"), (
            facts,
            shift,
            claimed,
        )
    assert min(told.values()) > 20


# Mutilations


@pytest.mark.parametrize("name", ["less", "less unsure", "stopper", "stopper below", "foreseen"])
def test_mutilated_certificates_are_refused_or_true(name):
    """Two samples are compared, which can cost no less than both of them, shifted apart."""
    automaton, certificate = HOLD[name]
    rng = random.Random(name)
    file = about(automaton, certificate)
    held = 0
    for _ in range(200):
        try:
            claims = verify(automaton, mutilated(rng, file)).claims
        except CertificateRefused:
            continue
        for claim in claims:
            low, high = claim.inputs.differences(True)
            assert claim.bound >= (high - low) * HALF
            held += 1
    assert held, "a test that compares nothing"


# Certificates that the search found

FOUND: dict[str, Callable[[], Automaton]] = {
    "hidden maximum": lambda: example("leaking_cycle/hidden_maximum"),
    "redraws": lambda: example("leaking_cycle/unseen_redraws"),
    "noisy max": lambda: report_noisy_max(2),
    "k-minmax": lambda: generate("k-minmax", 2),
    "stops": lambda: read(STOPS),
    "different noise": lambda: read(DIFFERENT_NOISE.format("1/2, 3")),
    "random": lambda: next(islice(samples(129, 30), 10, None)),
}


@cache
def found(name: str) -> tuple[Automaton, Json]:
    """An automaton with a certificate for it, as a file has it."""
    automaton = FOUND[name]()
    (certificate,) = proved(automaton, max_nodes=400).certificates
    return automaton, json.loads(json.dumps(certificate))


def hidden() -> tuple[Automaton, Json]:
    return found("hidden maximum")


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_is_verified(name):
    automaton, certificate = found(name)
    (claim,) = verify(automaton, about(automaton, certificate)).claims
    assert claim.kind == "private" and claim.bound == Fraction(certificate["D"])


def breaches() -> Iterator[tuple[str, str, Callable[[dict[str, Any]], None]]]:
    """Ways to break a certificate of the hidden maximum, each with the rule that must notice."""

    def nodes(c: dict[str, Any], **wanted: Any) -> list[dict[str, Any]]:
        return [n for n in c["nodes"] if all(n[key] == value for key, value in wanted.items())]

    def moving(c: dict[str, Any], shows: str) -> tuple[dict[str, Any], dict[str, Any]]:
        return next((n, m) for n in c["nodes"] for m in n["moves"] if m["shows"] == shows and m["after"])

    def costly(c: dict[str, Any]) -> dict[str, Any]:
        return next(n for n in c["nodes"] if Fraction(n["potential"]) > 0 and n["moves"])

    def shift(c: dict[str, Any], shows: str, value: Any) -> None:
        moving(c, shows)[1]["shift"] = value

    yield "D lowered", "pair-initial", lambda c: c.update(D="1")
    yield "a potential lowered", "pair-potential", lambda c: costly(c).update(potential="0")
    yield "a negative potential", "pair-potential", lambda c: c["nodes"][-1].update(potential="-1")
    yield "no initial node", "pair-initial", lambda c: c.update(initial=[])
    yield "a move left out", "pair-move", lambda c: moving(c, "symbol stop")[0].update(moves=[])
    yield "a move twice", "pair-move", lambda c: costly(c)["moves"].append(costly(c)["moves"][0])
    yield "no shift of the limit", "pair-fact", lambda c: shift_all(c, "symbol start", ["0", "0"])
    yield "no shift at the end", "pair-output", lambda c: shift_all(c, "symbol above", ["0", "0"])
    yield "no node after a move", "pair-fact", lambda c: moving(c, "symbol read")[1].update(after=[])
    yield "an empty range", "pair-shift", lambda c: shift(c, "symbol read", ["1", "-1"])
    yield "an unknown state", "machine-state", lambda c: c["machine"]["states"].append("nowhere")
    yield "another first state", "machine-state", lambda c: c["machine"]["states"].__setitem__(0, "q1")
    yield "an edge astray", "machine-edge", lambda c: c["machine"]["edges"][0].__setitem__(3, 0)
    yield "an edge missing", "machine-remarks", lambda c: c["machine"]["edges"].pop(0)
    yield (
        "a second remark",
        "machine-remarks",
        lambda c: c["machine"]["edges"].append(
            [*c["machine"]["edges"][0][:2], "twice", c["machine"]["edges"][0][3]]
        ),
    )
    yield "nothing accepted", "machine-remarks", lambda c: c["machine"].update(accepting=[])
    yield (
        "all sure",
        "suffix-sure",
        lambda c: c["suffixes"].update(
            sure=[list(range(len(c["machine"]["states"])))] * len(c["suffixes"]["sure"])
        ),
    )
    yield "none able", "suffix-able", lambda c: c["suffixes"]["able"].__setitem__(0, [])
    yield "a class missing", "suffix-class", lambda c: c["suffixes"]["before"].pop()
    yield (
        "a class twice",
        "suffix-class",
        lambda c: c["suffixes"]["before"].append(c["suffixes"]["before"][0]),
    )
    yield "a fact invented", "pair-fact", lambda c: facts_tightened(c)
    yield (
        "an unknown variable",
        "pair-node",
        lambda c: c["nodes"][0]["facts"].append([[1, "nothing"], [2, "max"], "<", "0"]),
    )
    yield (
        "an initial node with facts",
        "pair-initial",
        lambda c: c["nodes"][c["initial"][-1]]["facts"].append([[1, "max"], [2, "max"], "<", "0"]),
    )

    def shift_all(c: dict[str, Any], shows: str, value: Any) -> None:
        for node in c["nodes"]:
            for move in node["moves"]:
                if move["shows"].removeprefix("unprompted ") == shows:
                    move["shift"] = value

    def facts_tightened(c: dict[str, Any]) -> None:
        initial = set(c["initial"])
        for i, node in enumerate(c["nodes"]):
            if i not in initial and node["facts"]:
                node["facts"] = [[u, v, "<", "-2"] for u, v, *_ in node["facts"]]


BREACHES = list(breaches())


@pytest.mark.parametrize(("rule", "change"), [row[1:] for row in BREACHES], ids=[row[0] for row in BREACHES])
def test_every_breach_is_refused_by_its_rule(rule, change):
    automaton, certificate = hidden()
    broken = deepcopy(certificate)
    change(broken)
    with pytest.raises(CertificateRefused) as refused:
        verify(automaton, bundle(automaton, [broken]))
    assert refused.value.rule == rule, str(refused.value)
