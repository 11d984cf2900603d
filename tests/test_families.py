"""The families: their sizes and answers, and that large members are built at once."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest

from symdipa import formats, validation
from symdipa.analysis import check
from symdipa.errors import InvalidInput
from symdipa.families import FAMILIES, LARGEST, generate
from symdipa.verdict import Verdict

SIZES = {
    "m-range": lambda n: (2 * n, 3 * n + 1, 5 * n),
    "k-minmax": lambda n: (2, n + 2, 3 * n + 1),
    "svt": lambda n: (1, n + 2, 2 * n + 1),
}
"""Variables, states and transitions of the member for ``n`` (theory, section 7)."""

DISTINCT = {"m-range": True, "k-minmax": False, "svt": True}
BOUND = {"m-range": Fraction(1), "k-minmax": Fraction(1), "svt": Fraction(5, 4)}


def test_every_family_is_covered_here():
    assert set(FAMILIES) == set(SIZES) == set(DISTINCT) == set(BOUND)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("n", [1, 2, 3, 7, 40])
def test_members_are_valid_and_have_the_documented_size(name, n):
    automaton = generate(name, n)
    validation.validate(automaton)
    sizes = len(automaton.variables), len(automaton.states), len(automaton.transitions)
    assert sizes == SIZES[name](n)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 10])
def test_members_are_private_with_the_documented_bound(name, n):
    result = check(generate(name, n), engine="explicit")
    assert result.verdict is Verdict.PRIVATE
    assert result.weight.corollary == BOUND[name]
    assert result.output_distinct is (DISTINCT[name] or n == 1)
    assert FAMILIES[name].answer == f"private, D = {BOUND[name]} (corollary bound)"


@pytest.mark.parametrize("name", FAMILIES)
def test_large_members_are_built_at_once(name):
    start = time.perf_counter()
    automaton = generate(name, 1000)
    assert time.perf_counter() - start < 0.5
    assert len(automaton.states) == SIZES[name](1000)[1]


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("fmt", ["dipa", "json"])
def test_members_survive_writing_and_reading(name, fmt):
    automaton = generate(name, 3)
    again = formats.loads(formats.dumps(automaton, fmt), fmt)
    assert (again.states, again.initial, set(again.transitions)) == (
        automaton.states,
        automaton.initial,
        set(automaton.transitions),
    )


@pytest.mark.parametrize(("name", "n"), [("svt", 0), ("svt", -3), ("m-range", LARGEST + 1), ("rings", 3)])
def test_unusable_requests_say_what_would_be_right(name, n):
    with pytest.raises(InvalidInput) as caught:
        generate(name, n)
    message = caught.value.problems[0].message
    assert "from 1 to" in message if name in FAMILIES else "m-range, k-minmax, svt" in message
