"""Alignment in parts: known bounds of families with many orders, certificates, random automata."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from copy import deepcopy
from fractions import Fraction

import pytest
from conftest import ROOT
from random_automata import random_automaton, random_product

from symdipa.bounds.alignment import PartedSide, align, breakdown
from symdipa.bounds.alignment.parts import Share, parted, shared, shares
from symdipa.bounds.exact.flow import flow_bound
from symdipa.bounds.exact.profiles import exact_constant
from symdipa.bounds.portfolio import Attempt, Portfolio, bounds_on
from symdipa.bounds.tight_runs import dear, feasible
from symdipa.checker import CertificateRefused, verify
from symdipa.evidence.certificates import bundle, dumps
from symdipa.evidence.certificates.build import private
from symdipa.files.families import generate
from symdipa.files.formats import loads
from symdipa.model.errors import LimitReached
from symdipa.runs.augmentation import augment
from symdipa.runs.control import control_graph
from symdipa.runs.problem import Problem

KNOWN = [
    ("pivot", 3, Fraction(1)),
    ("pivot", 24, Fraction(1)),
    ("bracket", 3, Fraction(5, 4)),
    ("bracket", 16, Fraction(5, 4)),
    ("u-range", 3, Fraction(1)),
    ("u-range", 12, Fraction(1)),
    ("running-max", 3, Fraction(1)),
    ("running-max", 16, Fraction(1)),
]


@pytest.mark.parametrize(("family", "n", "bound"), KNOWN)
def test_families_with_exponentially_many_orders(family, n, bound):
    automaton = generate(family, n)
    found = align(Problem.of(automaton), "parts", None)
    (side,) = found.sides
    assert isinstance(side, PartedSide) and found.graph == "parts" and found.bound == bound
    _, costs = breakdown(side)
    assert sum(cost.amount for cost in costs) == bound
    (claim,) = verify(automaton, dumps(bundle(automaton, private(found)))).claims
    assert (claim.kind, claim.bound) == ("private", bound)


@pytest.mark.parametrize(
    ("family", "n"), [("pivot", 14), ("bracket", 12), ("u-range", 12), ("u-range", 20), ("running-max", 12)]
)
def test_feasible_runs_show_that_the_bound_is_optimal(family, n):
    found = bounds_on(Problem.of(generate(family, n)))
    assert found.optimal and found.alignment_proof is not None and found.alignment_proof.graph == "parts"
    assert "exact" not in found.missing


def test_differences_are_improved_until_the_flow_meets_the_bound():
    """Hundreds of values that nothing repeats: which sides are best is found by way of many flows."""
    automaton = generate("turing-odd", 8)
    found = bounds_on(Problem.of(automaton), ("alignment",), graph="augmentation")
    assert found.lower == found.best == 161


@pytest.mark.parametrize("adjacency", ["monotone", (Fraction(-1, 2), Fraction(2))])
def test_other_adjacencies_and_sensitivities(adjacency):
    automaton = generate("pivot", 4)
    problem = Problem.of(automaton)
    whole = align(problem, "augmentation", "CK", True, adjacency, Fraction(3, 2))
    parts = align(problem, "parts", "CK", True, adjacency, Fraction(3, 2))
    assert parts.bound == whole.bound
    claims = verify(automaton, bundle(automaton, private(parts))).claims
    assert max(claim.bound for claim in claims) == parts.bound


def test_a_dear_run_where_no_proof_tells_what_is_dear():
    """The orders of parity 16 are too many for all but the corollary bound, which this run meets."""
    problem = Problem.of(generate("parity", 16))
    ((run, loops), deltas), *more = dear(problem.control, (Fraction(-1), Fraction(1)))
    assert not more and loops and flow_bound(problem.control, run, loops, deltas).value == Fraction(5, 4)
    portfolio = Portfolio(problem)
    portfolio.make([Attempt("dear")])
    assert portfolio.bounds.lower == Fraction(5, 4) and not portfolio.bounds.from_above


@pytest.mark.parametrize("seed", range(2))
def test_dear_runs_of_random_automata_cost_no_more_than_the_exact_constant(seed):
    rng = random.Random(f"dear/{seed}")
    met = 0
    for _ in range(60):
        control = control_graph(random_automaton(rng, (2, 3), (2, 3, 4)))
        exact = exact_constant(augment(control)).value
        if exact is None:
            continue
        for (run, loops), deltas in dear(control, (Fraction(-1), Fraction(1))):
            value = flow_bound(control, run, loops, deltas).value
            assert value is not None and value <= exact
            met += value == exact
    assert met > 3


def test_who_watches_whom():
    control = control_graph(generate("pivot", 3))
    p, *rest = (control.variable_names.index(x) for x in ("p", "x1", "x2", "x3"))
    assert set(shares(control)) == {
        Share(1 << p, 1 << p),
        *(Share(1 << x, 1 << x | 1 << p) for x in rest),
    }
    pairs = shares(control_graph(generate("u-range", 3)))  # each side watches the other: owned together
    assert len(pairs) == 3 and all(
        own == watched and own.bit_count() == 2 for own, watched in map(_masks, pairs)
    )


def _masks(share: Share) -> tuple[int, int]:
    return share.own, share.watched


def test_limits():
    control = control_graph(generate("pivot", 6))
    nodes = parted(control).nodes
    assert parted(control, max_nodes=nodes).nodes == nodes
    with pytest.raises(LimitReached):
        parted(control, max_nodes=nodes - 1)
    with pytest.raises(LimitReached):
        align(Problem(control), "parts", "", max_nodes=nodes - 1)
    with pytest.raises(ValueError, match="need the augmentation"):
        align(Problem(control), "parts", "LG")


def test_parts_agree_on_the_future_of_what_they_share():
    """What is stored as the maximum is a value of its own: whether it stays the maximum decides on both."""
    control = control_graph(generate("running-max", 3))
    assert shared(control) == 1 << control.variable_names.index("m")
    assert align(Problem(control), "parts", "C", True).bound is None
    found = align(Problem(control), "parts", "CS", True)
    assert found.bound == 1 and found.lift == "CS"
    (side,) = found.sides
    assert isinstance(side, PartedSide) and side.parted.trunk is not None
    assert not shared(control_graph(generate("u-range", 3)))


def test_a_trunk_is_needed():
    """The transition of a part's edge is that of the trunk's: another one has another future."""
    automaton = generate("running-max", 2)
    (made,) = private(align(Problem.of(automaton), "parts", "CS", True))
    assert made["trunk"]["lift"]["cover"] == "backward"
    states = len(automaton.states)
    assert len(made["trunk"]["base"]["nodes"]) <= states < len(made["trunk"]["lift"]["nodes"])
    verify(automaton, bundle(automaton, [made]))
    for e in range(len(made["trunk"]["lift"]["edges"])):
        less = deepcopy(made)
        del less["trunk"]["lift"]["edges"][e]
        with pytest.raises(CertificateRefused):
            verify(automaton, bundle(automaton, [less]))


@pytest.mark.parametrize(("graph", "letters"), [("parts", "S"), ("eq", "CS"), ("augmentation", "CS")])
def test_only_parts_share_prophecies(graph, letters):
    with pytest.raises(ValueError, match="parts share"):
        align(Problem(control_graph(generate("pivot", 2))), graph, letters)


def test_a_shown_sample_that_several_parts_store():
    automaton = loads(
        """
        (a:non-input, 1/4, 0): x := insample, y := insample; output insample; goto b
        (b, 1/2, 0): if (insample < x) then output p; goto c elseif (insample >= x) then output q; goto c
        (c, 1/2, 0): if (insample < y) then output p; goto end elseif (insample >= y) then output q; goto end
        """,
        "dipa",
    )
    control = control_graph(automaton)
    assert len(shares(control)) == 2
    found = align(Problem(control), "parts", "")
    assert found.bound == 1 == exact_constant(augment(control)).value
    verify(automaton, bundle(automaton, private(found)))


def test_a_cycle_that_cannot_be_repeated_is_no_loop_of_a_run():
    """It can be taken once, and stores what it reads: repeating it is no way to a bound from below."""
    automaton = loads(
        """
        (p0, 1/2, 0): y := insample; output o1; goto p1
        (p1:non-input, 1/2, 0): z := insample; output o1; goto p2
        (p2:non-input, 1/4, 2): x := insample; output o1; goto a
        (a, 1, 0): if (insample < y && insample >= x) then output o1; goto b
        (b, 1, 0): if (insample >= z) then x := insample; output o1; goto c
        (c, 1/12, 2, 1, 1): if (insample >= y) then z := insample; output insampleprime; goto a
        """,
        "dipa",
    )
    control = control_graph(automaton)
    found = bounds_on(Problem(control))
    assert found.best is not None and found.optimal and found.best == exact_constant(augment(control)).value
    for side in align(Problem(control), "augmentation", None).sides:
        for (_, loops), _ in feasible(side):
            assert loops == ()


@pytest.mark.parametrize("seed", range(3))
def test_bounds_of_random_automata_are_true(seed):
    rng = random.Random(f"parts/{seed}")
    bounded = tight = refused = 0
    for i in range(40):
        automaton = random_product(rng) if i % 3 == 0 else random_automaton(rng, (2, 3), (2, 3, 4))
        control = control_graph(automaton)
        exact = exact_constant(augment(control)).value
        for letters, wide in (("", False), ("", True), ("C", True), ("CK", True), ("CS", True)):
            found = align(Problem(control), "parts", letters, wide)
            if found.bound is None:
                continue
            assert exact is not None and found.bound >= exact
            bounded += 1
            tight += found.bound == exact
            (made,) = private(found)
            assert verify(automaton, bundle(automaton, [made])).claims[0].bound == found.bound
            if found.bound:
                less = deepcopy(made) | {"D": str(found.bound * Fraction(999, 1000))}
                with pytest.raises(CertificateRefused, match="private-bound"):
                    verify(automaton, bundle(automaton, [less]))
                refused += 1
            for (run, loops), deltas in feasible(found.sides[0]):
                value = flow_bound(control, run, loops, deltas).value
                assert value is not None and value <= exact
    assert bounded > 20 and tight > 5 and refused > 10


@pytest.mark.parametrize(
    ("one", "bound"),
    [
        (("pivot", "4", "parts", "", "1"), "1"),
        (("k-minmax", "4", "eq", "C", "1"), "7/8"),
        (("m-range", "3", "control", "", "0"), "1"),
        (("svt", "3"), "5/4"),
    ],
)
def test_the_benchmark_measures_what_is_proved(one, bound):
    """``benchmarks/weights.py`` builds its problems from the same pieces."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "weights.py"), "--one", *one],
        capture_output=True,
        text=True,
        check=True,
    )
    told = json.loads(done.stdout)
    assert told["bound"] == bound == told.get("lower", bound) and told["megabytes"] > 1
