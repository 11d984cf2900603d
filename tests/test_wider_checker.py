"""The checker of certificates about automata that are not the paper's, on certificates written by hand.

`benchmarks/mutate_checker.py` runs this file against mutants of the checker.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from symdipa import checker
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
    guarded,
    several,
    symbol,
    value,
    variables_of,
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


def made(states: Iterable[State], steps: Iterable[Transition], integer: bool = False) -> Automaton:
    """An automaton that the checker itself has to judge."""
    states, steps = list(states), tuple(steps)
    known = {state.name for state in states}
    states += [State(name) for name in dict.fromkeys(t.target for t in steps) if name not in known]
    return Automaton(tuple(states), states[0].name, steps, variables_of(steps), "", integer).trusted()


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


def test_examples():
    assert verified(GAP, GAP_ABOVE, GAP_BELOW) == [
        "D*eps-private with D = 1 for differences in [-1, 1]",
        "not D*eps-private with any D below 1 for differences in [-1, 1]",
    ]
    assert verified(RELEASED, RELEASED_GROWS) == [
        "not private for differences in [-1, 1]: a run costs as much as one likes"
    ]
    assert verified(EXPOSED, EXPOSED_GROWS) == [
        "not private for differences in [-1, 1]: a run costs as much as one likes"
    ]
    assert verified(OUTSIDE, OUTSIDE_ABOVE, OUTSIDE_BELOW) == [
        "D*eps-private with D = 1/2 for differences in [-1, 1]",
        "a run whose probabilities differ by 1/2*eps for differences in [-1, 1]",
    ]
