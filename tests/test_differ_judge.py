"""The judge where sums of entries are in means and not every entry differs: its parts against each other."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction as F
from math import inf

import differ_examples as examples
import differ_words
import linear_judge as judge
import pytest
from linear_runs import (
    TWO_SIDED,
    cost_of_run,
    feasible_runs,
    is_bounded,
    is_feasible,
    is_solvable,
    least_cost,
    linear_program,
    orders,
    unfold,
)
from random_differ import has_bounds, random_differ, set_before_use, with_sums
from random_linear import random_linear
from test_linear_judge import check_answer, falls

from symdipa.files import formats
from symdipa.model.adjacency.differ import differ
from symdipa.model.automaton import Automaton, Noise
from symdipa.model.validation import problems


def drawn(i: int) -> Automaton:
    return random_differ(random.Random(f"differ/{i}"))


def allowed(automaton: Automaton):
    return lambda word: differ_words.allows(automaton.differ.text, word)


def test_random_answers_are_attained():
    kinds: Counter[str] = Counter()
    for i in range(120):
        automaton = drawn(i)
        answer = judge.growing(automaton, max_nodes=3000)
        kinds[answer.kind] += 1
        if answer.kind in ("finite", "infinite"):
            check_answer(automaton, answer)
            for n in range(3):
                word = word_of(automaton, *answer.rounds(n))
                assert differ_words.allows(automaton.differ.text, word), word
        if answer.kind in ("finite", "bounded"):
            assert judge.cost_of_runs(automaton, 5).value <= answer.value
    assert kinds["finite"] > 50 and kinds["infinite"] > 35 and kinds["unknown"] < 6


def word_of(automaton: Automaton, run, deltas) -> str:
    """The letters of the entries that a run reads."""
    read = unfold(automaton, run).inputs
    return "".join("~" if deltas[i] else "=" for i in read)


@pytest.mark.parametrize("interval", [TWO_SIDED, (F(-1, 2), F(2))], ids=str)
def test_merged_runs_cost_what_runs_cost(interval):
    """Sums as sets of entries, and words tried one by one; differences of registers carried along."""
    compared = summed = 0
    for i in range(120):
        automaton = drawn(i)
        runs = list(feasible_runs(automaton, 4, max_runs=12))
        longest = max(map(len, runs))
        length = longest - 1 if longest == 4 else longest
        explorers = [judge.Explorer(automaton, each) for each in orders(interval, automaton.integer)]
        many = any(len(each.deltas) > judge.MOST_DELTAS for each in explorers)
        if length < 1 or is_bounded(automaton) or many:
            continue
        runs = [run for run in runs if len(run) <= length]
        costs = [cost_of_run(automaton, run, interval, allowed(automaton)) for run in runs]
        dearest = max(cost for cost, _ in costs)
        assert judge.cost_of_runs(automaton, length, interval).value == dearest
        for run, (cost, _) in zip(runs, costs, strict=True):
            found = judge.dearest(automaton, run, interval)
            assert (F(-1) if found is None else found[0]) == cost
        compared += 1
        summed += any(state.registers for state in automaton.states) and dearest > 0
    assert compared > 70 and summed > 15


def test_shifts_need_only_few_values():
    """A solver that may choose any shift finds nothing cheaper than one of the differences, or 0."""
    rng = random.Random(2)
    compared = 0
    for i in range(150):
        automaton = drawn(i)
        if not automaton.registers:
            continue
        runs = [run for run in feasible_runs(automaton, 5, max_runs=15) if len(run) > 1]
        for run in rng.sample(runs, min(2, len(runs))):
            written = unfold(automaton, run)
            entries = [rng.choice((F(-1), F(0), F(1, 2), F(2))) for _ in written.states]
            deltas = written.differences(entries)
            among = sorted({s for d in [F(0), *deltas] for s in (d, -d)})
            cost = least_cost(written, deltas, among)
            assert float(cost) == pytest.approx(linear_program(written, deltas), abs=1e-6)
            compared += 1
    assert compared > 80


def test_nothing_between_the_ends_costs_more():
    rng = random.Random(3)
    compared = 0
    for i in range(150):
        automaton = drawn(i)
        if not automaton.registers or automaton.integer:
            continue
        runs = [run for run in feasible_runs(automaton, 4, max_runs=12) if len(run) > 1]
        for run in rng.sample(runs, min(2, len(runs))):
            highest, _ = cost_of_run(automaton, run, TWO_SIDED, allowed(automaton))
            written = unfold(automaton, run)
            for _ in range(5):
                numbers = (F(rng.randrange(-4, 5), 4) for _ in written.states)
                entries = [n if s.is_input else F(0) for n, s in zip(numbers, written.states, strict=True)]
                if not allowed(automaton)(word_of(automaton, run, entries)):
                    continue
                deltas = written.differences(entries)
                among = sorted({s for d in [F(0), *deltas] for s in (d, -d)})
                assert least_cost(written, deltas, among) <= highest
                compared += 1
    assert compared > 100


# Feasibility


def test_a_solver_finds_the_same_runs_feasible():
    seen: Counter[bool] = Counter()
    for i in range(60):
        automaton = random_linear(random.Random(f"solver/{i}"))
        for run in list(feasible_runs(automaton, 3, max_runs=20)):
            for t in range(len(automaton.transitions)):
                try:
                    written = unfold(automaton, (*run, t))
                except (ValueError, KeyError):
                    continue
                feasible = is_feasible(written)
                assert is_solvable(written) == feasible
                seen[feasible] += 1
    assert seen[True] > 200 and seen[False] > 20


@pytest.mark.parametrize(("number", "feasible"), [(0, False), (-1, True)])
def test_a_sum_without_noise_is_the_same_again(number, feasible):
    """It is not below itself; and what is below it does not move."""
    from linear_examples import S, less, step

    automaton = examples.made(
        [
            examples.reading("first"),
            examples.summing(examples.noisy("q", None, Noise.NONE), "r"),
            examples.summing(examples.noisy("p", None, Noise.NONE, mu=number), "r"),
        ],
        examples.adding(step("first", "q", "read"), r="input"),
        step("q", "p", "o", store="x"),
        step("p", "end", "below", less(S, "x")),
    )
    assert is_feasible(unfold(automaton, (0, 1, 2))) == feasible
    answer = judge.growing(automaton)
    assert (answer.kind, answer.value) == ("finite", 0)


# Probabilities


def test_integer_probabilities_fall_as_the_cost_says():
    """Along a ray of entries the log-ratio is never above the cost, and comes near it."""
    rng = random.Random(7)
    compared = 0
    for i in range(4000):
        automaton = random_differ(random.Random(f"integers/{i}"))
        if not automaton.integer or not any(state.registers for state in automaton.states):
            continue
        runs = [run for run in feasible_runs(automaton, 3, max_runs=12) if len(run) > 1]
        for run in rng.sample(runs, min(2, len(runs))):
            written = unfold(automaton, run)
            sums = any(len(mean) > 1 or set(mean) - {n} for n, mean in enumerate(written.means))
            if sum(state.draws for state in written.states) > 3 or not sums or is_bounded(automaton):
                continue
            cost, entries = cost_of_run(automaton, run, TWO_SIDED, allowed(automaton))
            if cost <= 0:
                continue
            numbers = [rng.choice((0, 1, 2)) for _ in written.numbers]
            start = [-8 * float(entry) for entry in entries]
            found = falls(written, entries, numbers, start, 24, eps=2.0, reach=50)
            if not found:
                continue
            compared += 1
            assert max(found) <= float(cost) + 1e-4
            assert max(found) >= (0.8 * float(cost) - 1e-6 if cost < inf else inf)
        if compared > 12:
            break
    assert compared > 10


RUNS = [
    (examples.released_sum, (0, 1, 3, 2, 4), [0.3], F(1)),
    (lambda: examples.smart_sum(2), (0, 1), [0.2, 0.4], F(2)),
    (lambda: examples.sliding_sums(2, F(1, 2)), (0, 1, 1), [0.1, 0.2], F(1)),
    (lambda: examples.tree(2, F(1, 2)), (0, 1, 2), [0.2, -0.1, 0.3], F(1)),
]


@pytest.mark.parametrize(("make", "run", "numbers", "expected"), RUNS)
def test_continuous_probabilities_fall_as_the_cost_says(make, run, numbers, expected):
    automaton = examples.under("entries=1", make())
    cost, entries = cost_of_run(automaton, run, TWO_SIDED, allowed(automaton))
    assert cost == expected
    start = [-6 * float(entry) for entry in entries]
    found = falls(unfold(automaton, run), entries, numbers, start, 16, reach=24, step=0.5)
    assert max(found) <= float(cost) + 0.03
    assert max(found) >= 0.85 * float(cost)


# The generator


def test_random_automata_obey_the_rules():
    seen: Counter[str] = Counter()
    for i in range(300):
        automaton = drawn(i)
        assert problems(automaton) == []
        assert has_bounds(automaton)
        assert formats.loads(formats.dumps(automaton, "dipa")) == automaton
        seen[automaton.differ.text.partition("=")[0]] += 1
        seen["registers"] += bool(automaton.registers)
        seen["integer"] += automaton.integer
        seen["bounded"] += is_bounded(automaton)
        for state in automaton.states:
            seen[state.noise.value] += 1
            seen["sums"] += bool(state.registers)
            seen["factors"] += any(k != 1 for _, k in state.registers)
            seen["read"] += state.is_input and not state.draws
        for t in automaton.transitions:
            for update in t.updates:
                seen["set to 0"] += update.source is None and not update.adds_input
                seen["copied"] += update.source not in (None, update.register)
                seen["added to"] += update.source == update.register
    assert all(count >= 10 for count in seen.values()), seen
    assert len(seen) == 16, seen


def test_orders_are_two_where_the_interval_is_lopsided():
    """A sum of entries that only grow: both orders count, and are alike."""
    automaton = examples.under("entries=2", examples.smart_sum(3))
    for interval in ((F(0), F(1)), (F(-1), F(0)), (F(-1, 2), F(1))):
        assert judge.growing(automaton, interval).value == 4
        assert len(orders(interval)) == 2


def test_what_has_no_bound_is_not_valid():
    """Sums at random places, with nothing taken away: exactly those without bound are refused."""
    seen: Counter[bool] = Counter()
    for i in range(400):
        rng = random.Random(f"bounds/{i}")
        text = rng.choice(("all", "pattern=(=~)*", "pattern==*(~{2}|=~*)", "window=3", "pattern=~{0,3}=*"))
        automaton = replace(drawn(i), differ=differ(text))
        automaton = with_sums(rng, automaton, rng.choice((0.2, 0.5, 0.8)))
        found = problems(automaton)
        assert has_bounds(automaton) == (not found), (automaton, found)
        seen[not found] += 1
    assert min(seen[True], seen[False]) > 20


def test_what_is_read_before_it_is_set_is_not_valid():
    refused = 0
    for i in range(300):
        automaton = drawn(i)
        steps = [n for n, t in enumerate(automaton.transitions) if t.updates]
        if not steps:
            continue
        n = random.Random(i).choice(steps)
        less = replace(automaton.transitions[n], updates=())
        automaton = replace(
            automaton, transitions=(*automaton.transitions[:n], less, *automaton.transitions[n + 1 :])
        )
        fine = set_before_use(automaton) == automaton
        early = [problem for problem in problems(automaton) if "before" in str(problem)]
        assert bool(early) != fine
        refused += not fine
    assert refused > 40
