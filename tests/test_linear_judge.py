"""The judge of the wider model: known constants, and its parts held against each other."""

from __future__ import annotations

from math import inf

import linear_judge as judge
import pytest
from linear_examples import ROWS
from linear_runs import TWO_SIDED, is_feasible, orders, unfold


@pytest.mark.parametrize(
    ("make", "differ", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_known_constants(make, differ, expected):
    automaton = make()
    answer = judge.growing(automaton, differ=differ)
    if expected is None:
        assert answer.kind == "infinite"
        check_growth(automaton, answer)
    else:
        assert (answer.kind, answer.value) == ("finite", expected)
        assert judge.cost_along(automaton, answer.run, answer.deltas, TWO_SIDED) == expected
        assert is_feasible(unfold(automaton, answer.run))


def check_growth(automaton, answer, interval=TWO_SIDED):
    """An infinite cost is one of a run, or of runs whose costs grow as it says."""
    costs = []
    for n in range(1, 6):
        run, deltas = answer.rounds(n)
        assert is_feasible(unfold(automaton, run))
        found = {judge.cost_along(automaton, run, deltas, each) for each in orders(interval)}
        costs.append(max(found))
    if costs[0] < inf:
        assert costs == sorted(set(costs))
