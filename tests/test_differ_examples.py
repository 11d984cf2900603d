"""Streaming mechanisms and their wrong twins: the judge, every engine, exact bounds, proofs."""

from __future__ import annotations

import differ_examples as examples
import linear_judge as judge
import pytest

from symdipa.analysis import certify, check, weigh
from symdipa.evidence.certificates import verify
from symdipa.model.verdict import Verdict

NAMES = [name for name, *_ in examples.ROWS]
ROWS = [(examples.under(text, make()), expected) for _, make, text, expected in examples.ROWS]
ENGINES = [("explicit", "marks"), ("z3", "ghost"), ("z3", "marks"), ("both", "ghost"), ("both", "marks")]


@pytest.mark.parametrize(("automaton", "expected"), ROWS, ids=NAMES)
def test_the_judge(automaton, expected):
    answer = judge.growing(automaton)
    assert answer.kind == ("infinite" if expected is None else "finite")
    if expected is not None:
        assert answer.value == expected


@pytest.mark.parametrize(("engine", "encoding"), ENGINES, ids=lambda value: value)
@pytest.mark.parametrize(("automaton", "expected"), ROWS, ids=NAMES)
def test_engines(automaton, expected, engine, encoding):
    result = check(automaton, engine, encoding=encoding)
    assert not result.disagreements
    assert result.verdict is (Verdict.NOT_PRIVATE if expected is None else Verdict.PRIVATE)


@pytest.mark.parametrize(("automaton", "expected"), ROWS, ids=NAMES)
def test_the_bound_is_exact(automaton, expected):
    bounds = weigh(automaton).bounds
    if expected is None:
        assert bounds is None or (bounds.best is None and bounds.lower is None)
    else:
        assert bounds is not None
        assert (bounds.best, bounds.optimal, bounds.crossed) == (expected, True, [])


@pytest.mark.parametrize(("automaton", "expected"), ROWS, ids=NAMES)
def test_it_is_proved(automaton, expected):
    claims = verify(automaton, certify(weigh(automaton))).claims
    if expected is None:
        assert [claim.kind for claim in claims] == ["violation"]
    else:
        assert [(claim.kind, claim.bound) for claim in claims] == [("private", expected), ("lower", expected)]


@pytest.mark.parametrize(("engine", "encoding"), ENGINES, ids=lambda value: value)
def test_two_loops_that_leak_together(engine, encoding):
    automaton = examples.under("entries=1", examples.records())
    answer = judge.growing(automaton)
    assert answer.kind == "infinite"
    costs = [judge.dearest(automaton, answer.rounds(n)[0])[0] for n in range(1, 5)]
    assert costs == sorted(set(costs))
    assert check(automaton, engine, encoding=encoding).verdict is Verdict.NOT_PRIVATE
