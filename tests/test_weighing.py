"""All bounds side by side: their order, where they meet, and what limits do."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest
import random_automata as source

from symdipa import analysis
from symdipa.bounds.alignment import breakdown
from symdipa.bounds.portfolio import Below, bounds_on
from symdipa.bounds.same_outputs import Alike, runs_alike
from symdipa.checker import verify
from symdipa.evidence.certificates import bundle, lower_of_flow, private, wider
from symdipa.files import formats
from symdipa.files.families import generate
from symdipa.model.adjacency import EITHER_WAY
from symdipa.model.errors import NothingToCertify
from symdipa.model.options import METHODS
from symdipa.model.parts import Origin
from symdipa.model.verdict import Verdict
from symdipa.runs.control import control_graph
from symdipa.runs.numbers.possible import feasible
from symdipa.runs.numbers.system import unrolled
from symdipa.runs.problem import Problem


def well_formed(count: int):
    found = 0
    for i in range(10_000):
        example = source.random_automaton(random.Random(f"weighing/{i}"))
        if analysis.check(example, "explicit", relational=False).verdict is Verdict.PRIVATE:
            found += 1
            yield example
        if found == count:
            return


def test_the_bounds_are_in_order_and_certified():
    optimal = 0
    for example in well_formed(60):
        everything = bounds_on(Problem.of(example), METHODS)
        bounds = everything.from_above
        assert everything.missing.keys() <= {"counting"}  # a loop that costs something unshifted
        assert bounds["exact"] <= min(bounds.values()) and everything.lower == bounds["exact"]
        found = bounds_on(Problem(control_graph(example)))  # a control graph alone: no runs are paired
        assert found.best is not None and found.lower is not None and found.alignment_proof is not None
        assert found.lower <= everything.lower <= found.best <= bounds["alignment"]
        optimal += found.optimal or found.optimal_for_single_runs
        parts = [*private(found.alignment_proof), lower_of_flow(found.flow, found.flow_range)]
        claims = verify(example, bundle(example, parts)).claims
        assert claims[0].bound == found.alignment and claims[-1].bound == found.lower
        assert sum(cost.amount for cost in breakdown(found.alignment_proof.sides[0])[1]) == found.alignment
    assert optimal > 50


def test_sensitivity_and_adjacency_scale():
    automaton = generate("k-minmax", 3)
    two, one = bounds_on(Problem.of(automaton)), bounds_on(Problem.of(automaton), adjacency="monotone")
    assert (two.best, two.lower) == (Fraction(5, 6), Fraction(5, 6))
    assert (one.best, one.lower) == (Fraction(5, 12), Fraction(5, 12))
    thrice = bounds_on(Problem.of(automaton), sensitivity=3)
    assert (thrice.best, thrice.lower) == (Fraction(5, 2), Fraction(5, 2))
    missing = bounds_on(Problem.of(automaton), ("corollary", "run"), adjacency="monotone")
    assert not missing.from_above and set(missing.missing) == {"corollary", "run"}


def test_large_automata_without_their_augmentation():
    for family, n, bound in (
        ("m-range", 120, Fraction(1)),
        ("k-minmax", 60, Fraction(31, 120) + Fraction(1, 2)),
    ):
        found = bounds_on(Problem.of(generate(family, n)))
        assert found.best == found.lower == bound


def test_no_time_is_told():
    found = bounds_on(Problem.of(generate("k-minmax", 40)), METHODS, each=1e-9)
    assert not found.from_above and set(found.missing) == set(METHODS) and found.best is None


def test_names_that_mean_nothing():
    automaton = generate("svt", 1)
    for wrong in ({"methods": ["guess"]}, {"graph": "x"}, {"sensitivity": 0}, {"adjacency": "x"}):
        with pytest.raises(ValueError):
            bounds_on(Problem.of(automaton), **wrong)  # type: ignore[arg-type]


# -------------------------------------------------------------------------------- runs with the same outputs

LARGEST = """\
(a, 1/2, 0): x := insample; output o; goto b
(b, 1/2, 0): if (insample >= x) then x := insample; output o; goto c else output o; goto c
(c, 1/2, 0): if (insample >= x) then output insample; goto e else output x; goto e
"""
EITHER_SIDE = """\
(a, 1/4, 0):
    if (insample >= 5) then output far; goto e
    elseif (insample <= -5) then output far; goto e
    else output near; goto e
"""
LESS_READ = """\
(a:non-input, 1, 0): if (insample >= 0) then output o; goto b else output o; goto c
(b, 1/4, 0): if (insample >= 5) then output p; goto d else output q; goto d
(c:non-input, 1/4, 0): if (insample >= 5) then output p; goto d else output q; goto d
(d, 1, 0): output insample; goto e
"""

TWINS = """\
(a, 1/2, 0): x := insample; output o; goto b
(b, 1/2, 0): if (insample < x) then output p; goto c elseif (insample >= x) then output p; goto d
(c, 1/4, 0): if (insample >= x) then output q; goto end elseif (insample < x) then output r; goto end
(d, 1/4, 0): if (insample >= x) then output q; goto end elseif (insample < x) then output r; goto end
"""
ONE_SAMPLE = """\
(a, 1/2, 0): x := insample; output o; goto b
(b, 1/2, 0): y := insample; output o; goto c
(c:silent): if (x <= y) then y := x; output o; goto d elseif (y < x) then output o; goto d
(d:silent): if (y <= x) then output o; goto e elseif (x < y) then output o; goto e
"""
"""After the copy a sample is compared with itself, which it equals."""


def test_a_sample_equals_itself():
    automaton = formats.loads(ONE_SAMPLE)
    found = bounds_on(Problem.of(automaton))
    assert not found.crossed and found.needed is None and found.best == 0
    differences = (Fraction(1), Fraction(-1), Fraction(0), Fraction(0))
    alike = runs_alike(automaton, (0, 1, 2, 4), differences)
    assert alike is not None and alike.runs == ((0, 1, 2, 4), (0, 1, 3, 4))
    assert feasible(unrolled(automaton, (0, 1, 2, 4))) and not feasible(unrolled(automaton, (0, 1, 2, 5)))


def test_all_runs_that_show_the_same_bound_d_from_below():
    automaton = formats.loads(LARGEST)
    found = bounds_on(Problem.of(automaton), ("alignment", "relational"))
    assert not found.crossed and found.optimal
    assert found.needed == found.lower == found.best == Fraction(3, 2)
    result = analysis.check(automaton, max_weight=Fraction(1))
    assert result.bounds is not None and result.bounds.needed == Fraction(3, 2)


def test_runs_that_the_checker_does_not_take_have_no_certificate():
    automaton = formats.loads(ONE_SAMPLE)
    for run, why in (((0, 1, 2, 5), "does not take"), ((0, 1, 3, 4), "no flow")):
        alike = Alike(Fraction(1), (run,), (Fraction(0),) * 4)
        found = Below(alike.value, None, EITHER_WAY, alike)  # type: ignore[arg-type]
        with pytest.raises(NothingToCertify, match=why):
            wider.lower_of_alike(automaton, found)


@pytest.mark.parametrize("text", [LARGEST, EITHER_SIDE, LESS_READ, TWINS])
def test_a_certificate_of_all_runs_that_show_the_same(text):
    automaton = formats.loads(text)
    result = analysis.weigh(automaton)
    alike = result.bounds.alike_proof
    certificate = analysis.certify(result)
    claims = verify(automaton, certificate).claims
    needed = [claim.bound for claim in claims if claim.kind == "lower" and claim.distinct]
    assert needed == [result.bounds.needed]
    given = [len(each["others"]) for each in certificate["certificates"] if "others" in each]
    assert given == ([] if alike is None else [len(alike.alike.runs) - 1])
    assert (text == EITHER_SIDE) == (alike is None)


@pytest.mark.parametrize(
    ("text", "run", "differences", "least"),
    [
        (LARGEST, (0, 1, 3), (-1, -1, -1), Fraction(3, 2)),
        (LARGEST, (0, 1, 3), (-1, 1, -1), 1),
        (LARGEST, (0, 2, 4), (0, 0, -1), Fraction(1, 2)),
        (LARGEST, (0, 2, 4), (0, 0, 1), 0),
        (EITHER_SIDE, (0,), (-1,), 0),  # below -5 a smaller entry costs nothing
        (EITHER_SIDE, (2,), (-1,), Fraction(1, 4)),
        (LESS_READ, (0, 2, 6), (0, 1, 0), Fraction(1, 4)),
        (LESS_READ, (0, 2, 6), (0, 0, 1), 0),  # the other run has the first entry there, which is equal
    ],
)
def test_the_cheapest_run_with_the_same_outputs_counts(text, run, differences, least):
    automaton = formats.loads(text)
    alike = runs_alike(automaton, run, tuple(map(Fraction, differences)))
    assert alike is not None and alike.value == least and alike.runs[0] == run


def test_nothing_is_said_of_too_many_runs_or_of_unseen_steps(monkeypatch):
    automaton, unseen = formats.loads(LARGEST), formats.loads(LARGEST)
    lines = Origin("f.py", "", 1, 1, {}, {}, {}, {}, frozenset("o"), uncounted=(1,))
    unseen = replace(unseen, origin=lines)
    differences = (Fraction(-1),) * 3
    assert runs_alike(unseen, (0, 1, 3), differences) is None
    monkeypatch.setattr("symdipa.bounds.same_outputs.MOST_RUNS", 3)
    assert runs_alike(automaton, (0, 1, 3), differences) is None
