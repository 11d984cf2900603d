"""The judge of the wider model: known constants, and its parts held against each other."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import inf

import linear_examples as examples
import linear_judge as judge
import numpy as np
import pytest
from linear_runs import (
    TWO_SIDED,
    Unfolding,
    cost_of_run,
    feasible_runs,
    is_feasible,
    least_cost,
    levels,
    linear_program,
    log_probability,
    orders,
    unfold,
)
from random_linear import can_hold, random_linear

from symdipa.files import formats
from symdipa.model.automaton import Atom, Automaton, Noise, State, Term, atom
from symdipa.model.validation import problems

F = Fraction
NAMES, MAKERS = [row[0] for row in examples.ROWS], [row[1:] for row in examples.ROWS]


@pytest.mark.parametrize(("make", "differ", "expected"), MAKERS, ids=NAMES)
def test_known_constants(make, differ, expected):
    automaton = make()
    answer = judge.growing(automaton, differ=differ)
    check_answer(automaton, answer, differ=differ)
    if expected is None:
        assert answer.kind == "infinite"
    else:
        assert (answer.kind, answer.value) == ("finite", expected)


def check_answer(automaton: Automaton, answer: judge.Answer, interval=TWO_SIDED, differ=None) -> None:
    """The run of the answer costs that much; an infinite cost is one of a run, or of runs that cost more and
    more as their loops are repeated."""
    costs = []
    for n in range(1, 6):
        run, deltas = answer.rounds(n)
        assert is_feasible(unfold(automaton, run))
        found = [
            judge.cost_along(automaton, run, deltas, each, differ)
            for each in orders(interval, automaton.integer)
            if all(each[0] <= delta <= each[1] for delta in deltas)
        ]
        assert None not in found
        costs.append(max(found))
    if answer.kind == "finite":
        assert set(costs) == {answer.value}
    elif answer.kind == "infinite" and costs[0] < inf:
        assert costs == sorted(set(costs))


def drawn(i: int) -> Automaton:
    return random_linear(random.Random(f"judge/{i}"))


def test_random_answers_are_attained():
    kinds = Counter()
    for i in range(150):
        automaton = drawn(i)
        answer = judge.growing(automaton, max_nodes=4000)
        kinds[answer.kind] += 1
        check_answer(automaton, answer) if answer.kind != "unknown" else None
        short = judge.cost_of_runs(automaton, 6)
        if answer.kind == "finite":
            assert short.value <= answer.value
    assert kinds["finite"] > 50 and kinds["infinite"] > 40 and kinds["unknown"] < 5


@pytest.mark.parametrize("interval", [TWO_SIDED, (F(0), F(1)), (F(-1, 2), F(2))], ids=str)
def test_merged_runs_cost_what_runs_cost(interval):
    """The search and the literal definitions: which runs are feasible, and what is the dearest."""
    compared = 0
    for i in range(40):
        automaton = drawn(i)
        runs = list(feasible_runs(automaton, 4, max_runs=30))
        longest = max(map(len, runs))
        if longest < 2:
            continue
        # the last level may be large: it is left out
        length = longest - 1 if longest == 4 else longest
        dearest = max(cost_of_run(automaton, run, interval)[0] for run in runs if len(run) <= length)
        assert judge.cost_of_runs(automaton, length, interval).value == dearest
        compared += 1
    assert compared > 25


def test_which_runs_are_feasible():
    """Step by step, with bounds carried along, and all at once."""
    for i in range(60):
        automaton = drawn(i)
        explorer = judge.Explorer(automaton, TWO_SIDED)
        level = [((), explorer.start())]
        runs = {()}
        for _ in range(5):
            level = [
                ((*run, move.transition), (at, there))
                for run, (q, where) in level
                for move, at, there in explorer.followers(q, where)
            ][:60]
            runs |= {run for run, _ in level}
            if len(level) == 60:
                break
        if len(level) == 60:
            longest = max(map(len, runs))
            for run in runs:
                assert is_feasible(unfold(automaton, run))
            runs = {run for run in runs if len(run) < longest}
        assert runs == set(feasible_runs(automaton, max(map(len, runs))))


def test_shifts_need_only_few_values():
    """A solver that may choose any shift finds nothing cheaper."""
    rng = random.Random(2)
    compared = 0
    for i in range(60):
        automaton = drawn(i)
        runs = [run for run in feasible_runs(automaton, 6, max_runs=15) if len(run) > 1]
        for run in rng.sample(runs, min(3, len(runs))):
            written = unfold(automaton, run)
            low, high = rng.choice([TWO_SIDED, (F(-1, 2), F(2))])
            deltas = [rng.choice((low, high)) if s.is_input else F(0) for s in written.states]
            cost = least_cost(written, deltas, levels((low, high)))
            assert float(cost) == pytest.approx(linear_program(written, deltas), abs=1e-6)
            compared += 1
    assert compared > 80


# Feasibility in integers


def every_system(rng: random.Random) -> tuple[list[Atom], list[str]]:
    """A few random comparisons of two or three numbers, constants and mirror images among them."""
    names = ["x", "y", "z"][: rng.choice((2, 3))]
    found = []
    for _ in range(rng.randrange(2, 7)):
        a, b = rng.sample(names, 2)
        low = Term(a, mirrored=rng.random() < 0.4)
        high = Term(b, F(rng.randrange(-2, 3)), rng.random() < 0.4)
        if rng.random() < 0.2:
            high = Term(a, high.offset, not low.mirrored)
        if rng.random() < 0.2:
            high = Term(None, high.offset)
        found.append(atom(low, high, rng.random() < 0.4))
    return found, names


def number(term: Term, values):
    found = 0 if term.name is None else values[term.name]
    return float(term.offset) + (-found if term.mirrored else found)


def test_integers_are_found_if_there_are_any():
    """All small integers are tried."""
    rng = random.Random(5)
    reals_only = 0
    for _ in range(400):
        atoms, names = every_system(rng)
        box = np.meshgrid(*[np.arange(-9, 10)] * len(names), indexing="ij")
        holds = np.ones(box[0].shape, dtype=bool)
        for each in atoms:
            low, high = (number(term, dict(zip(names, box, strict=True))) for term in (each.low, each.high))
            holds &= low < high if each.strict else low <= high
        assert can_hold(atoms, integer=True) == holds.any()
        reals_only += bool(not holds.any() and can_hold(atoms))
    assert reals_only > 5


def test_equality_counts_only_without_noise():
    low, high = atom(Term("x"), Term("y"), False), atom(Term("y"), Term("x"), False)
    assert not can_hold([low, high])
    assert can_hold([low, high], integer=True)
    system = Unfolding([State("x", noise=Noise.NONE), State("y", noise=Noise.NONE)], False)
    from linear_runs import compared

    place = {"x": 0, "y": 1}
    system.inequalities = [compared(a.low, a.high, a.strict, place.__getitem__) for a in (low, high)]
    assert is_feasible(system)


# Probabilities


def falls(written: Unfolding, deltas, numbers, start, rounds: int, eps: float = 1.0, **grid) -> list[float]:
    """How far the log-probability falls from each point of the ray to the next."""
    points = ([x + n * float(d) for x, d in zip(start, deltas, strict=True)] for n in range(rounds))
    logarithms = [log_probability(written, point, numbers, eps, **grid) for point in points]
    return [(a - b) / eps for a, b in pairwise(logarithms) if a > -inf]


def test_integer_probabilities_fall_as_the_cost_says():
    """Along a ray of inputs the log-ratio is never above the cost, and comes near it."""
    rng = random.Random(11)
    compared = 0
    for i in range(2000):
        automaton = random_linear(random.Random(f"integers/{i}"), (1, 2), (1, 2))
        if not automaton.integer:
            continue
        runs = [run for run in feasible_runs(automaton, 3, max_runs=20) if len(run) > 1]
        for run in rng.sample(runs, min(2, len(runs))):
            written = unfold(automaton, run)
            if sum(state.draws for state in written.states) > 3 or not written.inputs:
                continue
            cost, deltas = cost_of_run(automaton, run)
            numbers = [rng.choice((0, 1, 2)) for _ in written.numbers]
            start = [-8 * float(delta) - float(s.mu) for s, delta in zip(written.states, deltas, strict=True)]
            found = falls(written, deltas, numbers, start, 24, eps=2.0, reach=50)
            if not found:
                continue
            compared += 1
            assert max(found) <= float(cost) + 1e-4
            assert max(found) >= (0.8 * float(cost) - 1e-6 if cost < inf else inf)
        if compared > 70:
            break
    assert compared > 60


CONTINUOUS = [
    (lambda: examples.svt(1, F(1, 2), F(1, 2)), (0, 1), []),
    (lambda: examples.svt(1, F(1, 2), F(1, 2)), (0, 2), []),
    (lambda: examples.svt(1, F(1), F(1, 2), gap=True), (0, 1), [0.5]),
    (lambda: examples.svt(1, F(1, 2), F(1, 4), noise=Noise.EXPONENTIAL), (0, 1), []),
    (lambda: examples.noisy_max(2, released=True), (0, 1, 4), [0.25]),
    (lambda: examples.noisy_max(2, noise=Noise.EXPONENTIAL), (0, 1, 4), []),
    (lambda: examples.absolute(1, F(1, 2), F(1, 2)), (0, 1), []),
    (lambda: examples.absolute(1, F(1, 2), F(1, 2)), (0, 3), []),
    (examples.two_tests, (0, 3), []),
    (examples.last_two, (0, 1, 2, 3), [0.3, -0.2]),
]


@pytest.mark.parametrize(("make", "run", "numbers"), CONTINUOUS)
def test_continuous_probabilities_fall_as_the_cost_says(make, run, numbers):
    automaton = make()
    written = unfold(automaton, run)
    cost, deltas = cost_of_run(automaton, run)
    start = [-6 * float(delta) for delta in deltas]
    fine = 0.1 if len(written.states) < 4 else 0.5
    found = falls(written, deltas, numbers, start, 20, eps=2.0, reach=30, step=fine)
    assert max(found) <= float(cost) + 0.03
    assert max(found) >= 0.85 * float(cost)


def test_random_automata_obey_the_rules():
    for i in range(200):
        automaton = drawn(i)
        assert problems(automaton) == []
        assert formats.loads(formats.dumps(automaton, "dipa")) == automaton


def test_a_generator_worth_its_name():
    """Private ones with all kinds of constants, and others; every feature is there."""
    seen: Counter[str] = Counter()
    for i in range(300):
        automaton = drawn(i)
        seen["plain"] += automaton.is_plain
        seen["integer"] += automaton.integer
        seen["distinct"] += judge.is_distinct(automaton)
        for state in automaton.states:
            seen[state.noise.value] += 1
            seen["silent"] += not state.draws and not state.is_input
            seen["read"] += not state.draws and state.is_input
        for t in automaton.transitions:
            seen["copies"] += bool(t.copies)
            seen["released"] += bool(t.output.values)
            seen["gap"] += bool(t.output.differences)
            for each in t.guard.atoms:
                terms = each.low, each.high
                seen["constant"] += any(term.name is None for term in terms)
                seen["offset"] += any(term.name is not None and term.offset != 0 for term in terms)
                seen["mirrored"] += any(term.mirrored for term in terms)
    assert all(count >= 10 for count in seen.values()), seen
    assert len(seen) == 14 and seen["distinct"] > 200
