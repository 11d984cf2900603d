"""Runs of the wider model in numbers: feasibility, costs of shifts and growth, against search and solvers."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction as F
from itertools import product

import pytest
import z3
from linear_models import (
    absolute,
    asked,
    at_most,
    below,
    build,
    constants,
    drawn,
    endless_gap,
    exact_query,
    exponential_svt,
    gap_svt,
    last_two,
    noisy_max,
    shown_once,
    two_thresholds,
)

from symdipa.model.automaton import Noise, Term, value
from symdipa.runs.numbers.growth import growth
from symdipa.runs.numbers.possible import feasible, solution
from symdipa.runs.numbers.shifts import best_shift, cost, worst
from symdipa.runs.numbers.system import Comparison, Sample, Shown, System, Value, repeated, unrolled

NOISES = (Noise.LAPLACE, Noise.LAPLACE, Noise.EXPONENTIAL, Noise.NONE)


def some_entries(rng, j, integer):
    """Often the own entry; of reals also sums of it and of those of earlier steps."""
    if rng.random() < 0.3:
        return ()
    if integer or rng.random() < 0.6:
        return ((j, F(1)),)
    steps = [i for i in range(j + 1) if rng.random() < 0.6]
    return tuple((i, F(rng.choice((1, 1, -1, 2)))) for i in steps)


def random_system(rng, integer=False, mirrored=True):
    count = rng.choice((2, 3, 4))
    samples = tuple(
        Sample(
            j,
            rng.choice(NOISES),
            F(rng.randrange(1, 5), 2),
            F(rng.randrange(-2, 3)),
            some_entries(rng, j, integer),
        )
        for j in range(count)
    )
    samples = tuple(s if s.noise is not Noise.NONE else replace(s, d=F(0)) for s in samples)

    def some():
        if rng.random() < 0.2:
            return Value(None, F(rng.randrange(-3, 4)))
        offset = F(rng.choice((0, 0, 1, -2)))
        return Value(rng.randrange(count), offset, mirrored and rng.random() < 0.25)

    comparisons = tuple(Comparison(some(), some(), rng.random() < 0.5, 0) for _ in range(rng.randrange(1, 6)))
    shown = []
    if rng.random() < 0.3:
        shown.append(Shown(0, Value(rng.randrange(count))))
    if rng.random() < 0.3:
        shown.append(Shown(0, Value(rng.randrange(count)), Value(rng.randrange(count))))
    return System(integer, (True,) * count, samples, comparisons, tuple(shown))


def number(variables, value):
    own = 0 if value.sample is None else value.sign * variables[value.sample]
    return own + z3.RealVal(str(value.offset))


def satisfiable(system):
    """The same question for a solver."""
    make = z3.Int if system.integer else z3.Real
    variables = [make(f"z{i}") for i in range(len(system.samples))]
    solver = z3.Solver()
    for c in system.comparisons:
        ends = [v.sample for v in (c.low, c.high) if v.sample is not None]
        noisy = any(system.samples[i].noise is not Noise.NONE for i in ends)
        low, high = number(variables, c.low), number(variables, c.high)
        strict = c.strict or (noisy and not system.integer)
        solver.add(low < high if strict else low <= high)
    for z, s in zip(variables, system.samples, strict=True):
        if system.integer and s.entries:
            continue  # which no other has: the sample may lie anywhere
        mean = z3.RealVal(str(s.mean)) + z3.Sum(
            z3.RealVal(0), *(z3.RealVal(str(k)) * make(f"e{i}") for i, k in s.entries)
        )
        if s.noise is Noise.NONE:
            solver.add(z == mean)
        if s.noise is Noise.EXPONENTIAL:
            solver.add(z >= mean if system.integer else z > mean)
    return solver.check() == z3.sat


@pytest.mark.parametrize("integer", [False, True])
def test_feasibility_against_a_solver(integer):
    rng = random.Random(7)
    for _ in range(300):
        system = random_system(rng, integer)
        assert feasible(system) == satisfiable(system)
        found = solution(system)
        assert (found is not None) == feasible(system)
        for c in system.comparisons if found is not None else ():
            low, high = (
                (0 if v.sample is None else v.sign * found[v.sample]) + v.offset for v in (c.low, c.high)
            )
            assert low < high or (low == high and not c.strict)


def cost_by_search(system, deltas):
    moved = [sum((k * deltas[i] for i, k in s.entries), F(0)) for s in system.samples]
    levels = sorted({F(0), *moved, *(-d for d in moved)})
    best = None
    for shift in product(levels, repeat=len(system.samples)):

        def of(v, shift=shift):
            return F(0) if v.sample is None else v.sign * shift[v.sample]

        if any(of(c.low) < of(c.high) for c in system.comparisons):
            continue
        if any(of(s.value) - (of(s.subtrahend) if s.subtrahend else 0) for s in system.shown):
            continue
        total = F(0)
        for s, sigma in zip(system.samples, shift, strict=True):
            delta = sum((k * deltas[i] for i, k in s.entries), F(0))
            if (s.noise is Noise.NONE and sigma != delta) or (s.noise is Noise.EXPONENTIAL and sigma > delta):
                break
            total += s.d * abs(sigma - delta)
        else:
            best = total if best is None else min(best, total)
    return best


def test_costs_against_search():
    rng = random.Random(3)
    infinite = 0
    for _ in range(400):
        system = random_system(rng)
        deltas = [rng.choice((F(-1), F(1), F(0), F(1, 2))) for _ in system.samples]
        wanted = cost_by_search(system, deltas)
        infinite += wanted is None
        assert cost(system, deltas) == wanted
        if wanted is not None:
            least, shift = best_shift(system, deltas)
            assert least == wanted and len(shift) == len(deltas)
    assert 20 < infinite < 300


def test_the_worst_differences_are_the_worst():
    rng = random.Random(5)
    for _ in range(60):
        system = random_system(rng)
        costs = [cost(system, list(d)) for d in product((F(-1), F(1)), repeat=len(system.samples))]
        found = worst(system, -1, 1)
        assert found.exact
        assert found.value == (None if None in costs else max(costs))


def runs(automaton, longest):
    work = [((), automaton.initial)]
    while work:
        run, where = work.pop()
        yield run
        if len(run) < longest:
            for t in automaton.outgoing[automaton.index[where]]:
                work.append(((*run, t), automaton.transitions[t].target))


ANSWERS = {
    "constants": (constants(), 3, F(1)),
    "abs": (absolute(), 5, F(1, 2)),
    "exponential svt": (exponential_svt(), 4, F(1)),
    "noisy max of 2": (noisy_max(2, Noise.EXPONENTIAL, False), 3, F(1)),
    "noisy max of 3": (noisy_max(3), 5, F(3, 2)),
    "last two": (last_two(), 4, F(1)),
    "two thresholds": (two_thresholds(), 7, F(1)),
    "integer svt": (gap_svt(1, True, False, F(1, 4)), 5, F(1)),
    "exact query": (exact_query(1), 3, None),
    "one exponential sample": (shown_once(Noise.EXPONENTIAL), 1, None),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_known_answers(name):
    automaton, longest, answer = ANSWERS[name]
    best = F(0)
    for run in runs(automaton, longest):
        system = unrolled(automaton, run)
        if feasible(system):
            found = worst(system, -1, 1).value
            if found is None:
                assert answer is None
                return
            best = max(best, found)
    assert best == answer


def test_gaps_are_free_and_loops_lift_the_threshold():
    run, cycles = (0, 1, 2, 3, 4), ((1, 2), (3, 4))
    longer = [run[at] for at, _ in repeated(run, cycles, 4)]
    assert worst(unrolled(gap_svt(), longer), -1, 1).value == 1
    assert growth(gap_svt(), run, cycles, -1, 1).grows is None


def chain(*guard, integer=False):
    first, last = asked("a", F(1, 2)), asked("b", F(1, 2))
    return build([first, last], [("a", [], {"x"}, "o", "b"), ("b", guard, {"x"}, "up", "b")], integer)


GROWING = {
    "constant": (constants(True), (0,), ((0, 1),), F(1, 2)),
    "gap": (endless_gap(), (0, 1, 2), ((1, 2), (2, 3)), F(1, 4)),
    "gap alone": (endless_gap(), (0, 2), ((1, 2),), F(1, 4)),
    "exact query": (exact_query(), (0, 1, 2), ((1, 2),), "infinite"),
    "exact query, once": (exact_query(1), (0, 1, 2), (), "infinite"),
    "released": (
        build(
            [drawn("t", F(1, 2)), asked("q", F(1, 2))],
            [("t", [], {"t"}, value("t"), "q"), ("q", [below("insample", "t")], (), "low", "q")],
        ),
        (0, 1),
        ((1, 2),),
        F(1, 2),
    ),
    "chain": (chain(at_most("x", "insample")), (0, 1), ((1, 2),), F(1)),
    "integer chain": (chain(at_most("x", "insample"), integer=True), (0, 1), ((1, 2),), F(1)),
    "bounded chain": (
        chain(at_most(Term("x", F(1)), "insample"), below("insample", 5)),
        (0, 1),
        ((1, 2),),
        None,
    ),
    "svt": (exponential_svt(), (0, 1, 2), ((1, 2),), None),
}


@pytest.mark.parametrize("name", GROWING)
def test_growth(name):
    automaton, run, cycles, grows = GROWING[name]
    found = growth(automaton, run, cycles, -1, 1)
    assert found.grows == grows, found.reason
    if isinstance(grows, F):
        period = len(found.deltas)
        for n in (1, 2, 6):
            longer = [run[at] for at, _ in repeated(run, cycles, n * period)]
            least = cost(unrolled(automaton, longer), found.differences(run, cycles, n * period))
            assert least >= n * grows


def test_a_run_begins_where_the_automaton_does():
    with pytest.raises(ValueError, match="leaves q0"):
        unrolled(gap_svt(), [1])
