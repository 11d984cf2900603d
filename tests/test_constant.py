"""The run bound, the exact constant and flows: published numbers, and judges that share nothing with them.

The judges know automata, runs and dependency graphs (``brute_force``), and nothing of symdipa's constant: the
cost of a run is found by trying all shifts, a flow is checked arc by arc, the weight of a run comes from its
definition.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import lcm

import brute_force
import numpy as np
import pytest
import random_automata as source
from conftest import EXAMPLES, ROOT
from test_brute_force import automaton

from symdipa.bounds import tight_runs
from symdipa.bounds.alignment import search
from symdipa.bounds.corollary import corollary_bound
from symdipa.bounds.exact import flow, frames, places, profiles
from symdipa.bounds.exact.flow import GROUND, Flow, flow_bound
from symdipa.bounds.exact.lift import costs, lift
from symdipa.bounds.exact.profiles import ConstantLimit, Exact, exact_constant
from symdipa.bounds.exact.run_bound import run_bound
from symdipa.bounds.exact.signs import best_signs
from symdipa.bounds.portfolio import bounds_on
from symdipa.engines.explicit import ExplicitEngine
from symdipa.files import formats
from symdipa.files.families import generate
from symdipa.model.adjacency import intervals
from symdipa.model.automaton import INSAMPLE_PRIME, Automaton, Guard, OutputKind, State, Transition, symbol
from symdipa.model.errors import LimitReached, OutOfTime
from symdipa.model.limits import UNLIMITED
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Status
from symdipa.runs.augmentation import augment
from symdipa.runs.control import Control, control_graph
from symdipa.runs.graphs import classes
from symdipa.runs.problem import Problem
from symdipa.runs.witness import dependency_graph

PEER = ROOT.parent / "shared" / "peer" / "dipaut"
F = Fraction
TWO_SIDED = (F(-1), F(1))
UP, DOWN = (F(0), F(1)), (F(-1), F(0))


def exact(example: Automaton, **options) -> Exact:
    return exact_constant(augment(control_graph(example)), **options)


def example_file(name: str) -> Automaton:
    return formats.load(next(EXAMPLES.glob(f"*/{name}.dipa")))


def well_formed(example: Automaton) -> bool:
    engine = ExplicitEngine(Problem.of(example))
    return all(engine.decide(pattern).status is Status.ABSENT for pattern in Pattern)


@cache
def drawn(i: int) -> Automaton:
    return source.random_automaton(random.Random(f"constant/{i}"), (1, 2, 2, 3), (2, 3, 4))


@cache
def judged(i: int) -> bool:
    return well_formed(drawn(i))


def good(count: int) -> Iterator[Automaton]:
    """The first few well-formed ones."""
    found = 0
    for i in range(100_000):
        if judged(i):
            yield drawn(i)
            found += 1
            if found == count:
                return


def unrolled(example: Automaton, length: int) -> Automaton:
    """The automaton for ``length`` steps: every state in as many copies, no cycle."""
    states, transitions = [], []
    layer = [example.initial]
    for k in range(length + 1):
        states += [replace(example.state(q), name=f"{q}.{k}") for q in layer]
        leaving = [t for t in example.transitions if t.source in layer] if k < length else []
        transitions += [replace(t, source=f"{t.source}.{k}", target=f"{t.target}.{k + 1}") for t in leaving]
        layer = list(dict.fromkeys(t.target for t in leaving))
    return Automaton(tuple(states), f"{example.initial}.0", tuple(transitions), example.variables)


# Judges


def scale(example: Automaton, t: Transition, second: bool = False) -> Fraction:
    state = example.state(t.source)
    if second:
        return (state.d_prime or F(0)) * (t.output == INSAMPLE_PRIME)
    return state.d or F(0)


def dearest_of_run(example: Automaton, run: Sequence[int], interval=TWO_SIDED) -> Fraction:
    """``max over Delta of C(Delta) + ...`` of a run as it stands, by trying all shifts and differences."""
    steps = [example.transitions[i] for i in run]
    unit = lcm(
        *(scale(example, t).denominator * scale(example, t, True).denominator for t in steps),
        *(end.denominator for end in interval),
    )
    unit *= unit
    edges = brute_force.dependency_edges(steps)
    levels = sorted({interval[0], F(0), interval[1]})
    choices = [[F(0)] if t.output.kind is OutputKind.INSAMPLE else levels for t in steps]
    shifts = [s for s in product(*choices) if all(s[i] >= s[j] for i, j in edges)]
    ends = sorted(set(interval))
    differences = list(product(*(ends if example.state(t.source).is_input else [F(0)] for t in steps)))
    total = np.zeros((len(differences), len(shifts)), dtype=np.int64)
    for j, t in enumerate(steps):
        by_shift = np.array([int(s[j] * unit) for s in shifts], dtype=np.int64)
        by_difference = np.array([int(d[j] * unit) for d in differences], dtype=np.int64)
        total += int(scale(example, t) * unit) * np.abs(by_difference[:, None] - by_shift[None, :])
        total += int(scale(example, t, True) * unit) * np.abs(by_difference[:, None])
    return F(int(total.min(axis=1).max()), unit * unit)


def brute(example: Automaton, length: int, interval=TWO_SIDED, max_runs: int = 400) -> Fraction | None:
    """The dearest run of at most ``length`` steps; ``None`` if there are too many."""
    runs = [r for r, more in brute_force.feasible_runs(example, length) if not more]
    if len(runs) > max_runs:
        return None
    return max((dearest_of_run(example, r, interval) for r in runs), default=F(0))


def check_flow(example: Automaton, found: Flow, value: Fraction) -> None:
    """All that a flow has to satisfy to prove that the constant is at least ``value``."""
    steps = [example.transitions[i] for i in found.run]
    assert brute_force.is_path_of(example, found.run) and brute_force.is_feasible(steps)
    edges = brute_force.dependency_edges(steps)
    for a, b in found.loops:
        assert steps[a].source == steps[b - 1].target
        assert not brute_force.used_in(steps[a:b]) & brute_force.assigned_in(steps[a:b])
    for j in found.unlimited:
        assert any(a <= j < b for a, b in found.loops)
        assert all(max(edge) == j for edge in edges if j in edge), "read later"
    balance: Counter[int] = Counter()
    for (i, j), amount in found.flow.items():
        assert amount > 0
        if GROUND in (i, j):
            assert steps[max(i, j)].output.kind is OutputKind.INSAMPLE
        else:
            assert (i, j) in edges
        balance[i] -= amount
        balance[j] += amount
    earned = F(0)
    for j, (t, delta) in enumerate(zip(steps, found.deltas, strict=True)):
        assert example.state(t.source).is_input or not delta
        assert j in found.unlimited or abs(balance[j]) <= scale(example, t)
        earned += delta * balance[j] + scale(example, t, True) * abs(delta)
    assert earned == value


def weight_of_run(example: Automaton, steps: Sequence[Transition], repeats: Sequence[bool]) -> Fraction:
    """The weight of a run from its definition; ``repeats`` tells which positions are on a cycle."""
    edges = brute_force.dependency_edges(steps)
    over = {i: brute_force.reachable(edges, i) | {i} for i in range(len(steps))}
    low = {k for i, j in edges if repeats[i] and j < i for k in over[j]}
    high = {k for i, j in edges if repeats[j] and i < j for k in range(len(steps)) if i in over[k]}
    total = F(0)
    for j, t in enumerate(steps):
        reads = example.state(t.source).is_input
        held = {x: brute_force.last(steps, x, j) for x in t.guard.used}
        stored = any(max(edge) > j and j in edge for edge in edges)
        free = (
            t.output.kind is not OutputKind.INSAMPLE
            and not stored
            and all(held[x] in high for x in t.guard.ge)
            and all(held[x] in low for x in t.guard.lt)
        )
        total += (not free) * ((j in low or j in high) + reads) * scale(example, t)
        total += reads * scale(example, t, True)
    return total


def heaviest(example: Automaton, length: int) -> Fraction:
    """The heaviest run of at most ``length`` steps."""
    graph = augment(control_graph(example))
    cyclic = set(graph.cyclic_edges)
    best, level = F(0), [(0, ())]
    for _ in range(length):
        level = [(graph.target[e], (*way, e)) for v, way in level for e in graph.outgoing[v]]
        for _, way in level:
            steps = [example.transitions[graph.transition[e]] for e in way]
            best = max(best, weight_of_run(example, steps, [e in cyclic for e in way]))
    return best


# Published numbers (docs/weights.md, section 9)


TABLE = [
    ("svt", F(5, 4), F(5, 4)),
    ("num_sparse", F(7, 4), F(7, 4)),
    ("num_range_2", F(5, 4), F(5, 4)),
    ("two_range_2", F(2), F(2)),
    ("range_1", F(1), F(1)),
    ("m_range_2", F(1), F(1)),
    ("k_min_max_3", F(11, 12), F(5, 6)),
]


@pytest.mark.parametrize(("name", "run", "value"), TABLE)
def test_published_numbers(name: str, run: Fraction, value: Fraction):
    example = example_file(name)
    assert (run_bound(augment(control_graph(example))), exact(example).value) == (run, value)


@pytest.mark.skipif(not PEER.is_dir(), reason="the peer's automata are not at hand")
@pytest.mark.parametrize(
    ("name", "run", "value"),
    [
        ("example_23", F(7, 4), F(7, 4)),
        ("example_25", F(5, 3), F(5, 3)),
        ("example_27", F(7, 3), F(7, 3)),
        ("example_28_2_1307", F(7, 6), F(1)),
        ("example_n_equal_3", F(5, 8), F(5, 8)),
    ],
)
def test_numbers_of_the_peers_automata(name: str, run: Fraction, value: Fraction):
    example = formats.load(next(PEER.rglob(f"well_formed/{name}.dipa")))
    assert (run_bound(augment(control_graph(example))), exact(example).value) == (run, value)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 8])
def test_ranges(m: int):
    example = generate("m-range", m)
    assert run_bound(augment(control_graph(example))) == max(F(1), F(m + 1, 4))
    assert exact(example).value == 1


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6, 7, 10, 20, 100])
def test_least_and_largest(k: int):
    example = generate("k-minmax", k)
    assert run_bound(augment(control_graph(example))) == F(k + 2, 4 * k) + F(1, 2)
    odd = {3: F(5, 6), 5: F(4, 5), 7: F(11, 14)}
    assert exact(example).value == odd.get(k, F(k + 2, 4 * k) + F(1, 2))


def test_svt_without_its_loop():
    """Ten queries in a row: no run repeats anything, so nothing is marked."""
    rows = ["q0 -> q1 [init] :x"]
    for k in range(1, 11):
        rows += [f"q{k} -> q{k + 1} [below] <x", f"q{k} -> end [above] >x"]
    example = automaton("\n".join(rows), silent="q0")
    states = [replace(s, d=F(1, 4) if s.name == "q0" else F(1, 2)) for s in example.states]
    example = replace(example, states=tuple(states))
    assert run_bound(augment(control_graph(example))) == 5
    assert exact(example).value == F(5, 4)


def test_a_chain():
    """Each sample below the next one: the two outer ones cannot pay for what the middle one is spared."""
    example = automaton("q0 -> q1 [a] :x \n q1 -> q2 [b] >x :y \n q2 -> q3 [c] >y")
    given = {"q0": F(1), "q1": F(2), "q2": F(1)}
    example = replace(example, states=tuple(replace(s, d=given.get(s.name)) for s in example.states))
    found = exact(example)
    assert found.value == 2 == dearest_of_run(example, (0, 1, 2))
    assert run_bound(augment(control_graph(example))) == 4


@pytest.mark.parametrize(
    ("name", "value"),
    [("svt", F(3, 4)), ("num_sparse", F(1)), ("range_1", F(1, 2)), ("k_min_max_3", F(5, 12))],
)
def test_monotone_adjacency(name: str, value: Fraction):
    assert exact(example_file(name), adjacency="monotone").value == value
    sides = [exact(example_file(name), adjacency=(3 * low, 3 * high)).value for low, high in (UP, DOWN)]
    assert sides == [3 * value, 3 * value], "adjacency is symmetric"


# Against the judges


def test_bounds_of_random_automata():
    """Infinite exactly when not well-formed; below the other bounds; attained by a flow on its run."""
    seen: Counter[str] = Counter()
    for i in range(300):
        agree(drawn(i), judged(i), seen)
    assert seen["well-formed"] > 80 and seen["infinite"] > 80, seen
    assert seen["below the run bound"] > 5 and seen["loops"] > 20 and seen["corollary below run"] >= 0, seen


def best_flow(control: Control, run, loops=(), interval=TWO_SIDED) -> Flow:
    """The largest flow for the best differences."""
    return flow_bound(control, run, loops, best_signs(control, run, loops, interval=interval))


def agree(example: Automaton, is_good: bool, seen: Counter[str]) -> None:
    control = control_graph(example)
    found, run = exact(example), run_bound(augment(control))
    monotone = exact(example, adjacency="monotone")
    assert (found.value is not None) == is_good
    assert (run is not None) == is_good
    assert (monotone.value is not None) == is_good
    if found.value is None or run is None or monotone.value is None:
        seen["infinite"] += 1
        return
    corollary = corollary_bound(augment(control))
    assert found.value <= run
    assert found.value <= corollary
    assert monotone.value <= found.value <= 2 * monotone.value
    for result in (found, monotone):
        dual = flow_bound(control, result.run, result.loops, result.deltas)
        assert dual.value == result.value
        check_flow(example, dual, result.value)
        assert all(delta in (0, *result.interval) for delta in result.deltas)
        chosen = best_flow(control, result.run, result.loops, result.interval)
        assert chosen.value == result.value, "no better signs on the witness than the best"
    seen["well-formed"] += 1
    seen["below the run bound"] += found.value < run
    seen["corollary below run"] += corollary < run
    seen["loops"] += bool(found.loops)
    seen["long"] += len(found.run) > 8


@pytest.mark.parametrize("interval", [TWO_SIDED, UP, DOWN, (F(-1, 2), F(2))], ids=str)
def test_without_cycles_the_constant_is_that_of_brute_force(interval):
    compared = 0
    for i in range(60):
        example = unrolled(drawn(i), 6)
        expected = [brute(example, 6, ends, max_runs=60) for ends in intervals(interval)]
        if None not in expected:
            assert exact(example, adjacency=interval).value == max(expected)
            compared += 1
    assert compared > 30


def test_runs_of_bounded_length_never_exceed_the_constant():
    """... and reach it where few steps suffice."""
    reached = 0
    for example in good(40):
        best, found = brute(example, 7, max_runs=60), exact(example).value
        assert found is not None and (best is None or best <= found)
        reached += best == found
    assert reached > 10


def test_unrolling_approaches_the_constant():
    reached = 0
    for example in good(60):
        values = [exact(unrolled(example, n)).value for n in (2, 4, 8, 16)]
        found = exact(example).value
        assert all(a <= b for a, b in pairwise([*values, found]))
        reached += values[-1] == found
    assert reached > 40


def test_two_ranges_need_twelve_steps():
    example = example_file("two_range_2")
    assert [exact(unrolled(example, n)).value for n in (10, 11, 12, 13)] == [F(3, 2), F(7, 4), F(2), F(2)]


def test_the_run_bound_is_the_heaviest_run():
    attained = 0
    for example in good(60):
        bound, best = run_bound(augment(control_graph(example))), heaviest(example, 7)
        assert bound is not None and best <= bound
        attained += best == bound
    assert attained > 40
    for i in range(40):
        example = unrolled(drawn(i), 5)
        if run_bound(augment(control_graph(example))) is not None:
            assert run_bound(augment(control_graph(example))) == heaviest(example, 5)


# Flows


def dearest_for(example: Automaton, run: Sequence[int], deltas: Sequence[Fraction]) -> Fraction:
    """``C(Delta)`` and the costs of ``insample'``, by trying all shifts among the differences and 0."""
    steps = [example.transitions[i] for i in run]
    edges = brute_force.dependency_edges(steps)
    levels = sorted({F(0), *deltas})
    choices = [[F(0)] if t.output.kind is OutputKind.INSAMPLE else levels for t in steps]
    least = min(
        sum((scale(example, t) * abs(a - b) for t, a, b in zip(steps, shift, deltas, strict=True)), F(0))
        for shift in product(*choices)
        if all(shift[i] >= shift[j] for i, j in edges)
    )
    return least + sum((scale(example, t, True) * abs(d) for t, d in zip(steps, deltas, strict=True)), F(0))


def random_run(rng: random.Random, example: Automaton, length: int) -> tuple[int, ...]:
    runs = [run for run, _ in brute_force.feasible_runs(example, length, max_runs=200)]
    longest = max(map(len, runs))
    return rng.choice([run for run in runs if len(run) == longest])


def some_deltas(rng: random.Random, example: Automaton, run: Sequence[int], *among) -> list[Fraction]:
    reads = [example.state(example.transitions[i].source).is_input for i in run]
    return [rng.choice(among) if yes else F(0) for yes in reads]


def test_a_largest_flow_is_worth_what_the_cheapest_shifts_cost():
    rng = random.Random("flows")
    outputs = 0
    for i in range(200):
        example = drawn(i)
        run = random_run(rng, example, 6)
        deltas = some_deltas(rng, example, run, F(-1), F(1), F(0), F(1, 2))
        found = flow_bound(control_graph(example), run, (), deltas)
        expected = dearest_for(example, run, deltas)
        assert found.value == expected
        check_flow(example, found, expected)
        outputs += any(GROUND in arc for arc in found.flow)
    assert outputs > 5


@pytest.mark.parametrize("interval", [TWO_SIDED, UP, (F(-1, 3), F(2))], ids=str)
def test_sides_that_positions_lean_to_cost_much(interval):
    """Without a goal and from a bad start: never more than the best differences, which are all tried, and
    mostly as much."""
    rng = random.Random("leaning")
    best = less = 0
    for i in range(60):
        example = drawn(i)
        control, run = control_graph(example), random_run(rng, example, 6)
        first = [F(0)] * len(run)
        found = tight_runs._differences(control, (run, ()), interval, first, None, UNLIMITED)
        assert all(
            delta in interval for delta, t in zip(found, run, strict=True) if control.sampling[t].moves
        )
        cost, most = dearest_for(example, run, found), dearest_of_run(example, run, interval)
        assert cost <= most
        best += cost == most
        less += cost < most
        leaning = flow.leanings(control, run, (), [(F(0), F(0))] * len(run))
        assert leaning == (F(0),) * len(run), "nothing is earned"
    assert best > 54, (best, less)


def test_a_long_run_leans_to_the_best_sides_at_once(monkeypatch: pytest.MonkeyPatch):
    """So neither a linear program nor many flows are needed."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a linear program")

    monkeypatch.setattr(search, "solve", refuse)
    monkeypatch.setattr(tight_runs, "TURNED", 0)
    for n in (4, 6, 7):
        found = bounds_on(Problem.of(generate("turing-odd", n)))
        assert found.lower == found.best == F(5 * 2 ** (n - 1) + n, 4) - 1


@pytest.mark.parametrize("interval", [TWO_SIDED, UP, DOWN, (F(-1, 3), F(2))], ids=str)
def test_the_best_signs_of_a_run(interval):
    rng = random.Random("signs")
    for i in range(60):
        example = drawn(i)
        run = random_run(rng, example, 6)
        found = best_flow(control_graph(example), run, interval=interval)
        assert found.value == dearest_of_run(example, run, interval)
        chosen = best_signs(control_graph(example), run, interval=interval)
        assert found.deltas == chosen and all(delta in (0, *interval) for delta in chosen)


def test_the_best_signs_of_groups_that_take_turns():
    rng = random.Random("groups")
    several = 0
    for _ in range(40):
        example = source.random_product(rng)
        run = random_run(rng, example, 6)
        found = best_flow(control_graph(example), run)
        assert found.value == dearest_of_run(example, run)
        edges = dependency_graph(control_graph(example), run).over
        group = classes(len(run), [(i, *js) for i, js in enumerate(edges)])
        several += sum(size > 1 for size in Counter(group).values()) > 1
    assert several > 5


def expanded(found: Exact, rounds: int) -> tuple[list[int], list[Fraction]]:
    """The run with each of its loops taken so often, and its differences."""
    run: list[int] = []
    deltas: list[Fraction] = []
    at = 0
    for a, b in [*found.loops, (len(found.run), len(found.run))]:
        run += [*found.run[at:a], *(found.run[a:b] * rounds)]
        deltas += [*found.deltas[at:a], *(found.deltas[a:b] * rounds)]
        at = b
    return run, deltas


def test_loops_stand_for_many_rounds():
    looping = 0
    for example in good(120):
        found = exact(example)
        values = [
            flow_bound(control_graph(example), *_split(expanded(found, n))).value for n in (1, 2, 4, 40)
        ]
        assert all(a is not None and b is not None and a <= b for a, b in pairwise(values))
        assert values[-1] == found.value
        looping += values[0] != values[-1]
    assert looping > 5


def _split(pair):
    run, deltas = pair
    return run, (), deltas


def test_a_loop_that_costs_more_and_more_has_no_largest_flow():
    rows = "q0 -> q1 [a] :x \n q1 -> q1 [b] >x \n q1 -> q2 [c] <x \n q2 -> q2 [d] <x"
    control = control_graph(automaton(rows))
    assert flow_bound(control, (0, 1), [(1, 2)], [-1, 1]).value == F(1, 2)
    pair = (0, 1, 2, 3)
    assert flow_bound(control, pair, [(1, 2), (3, 4)], [0, 1, 0, -1]).value is None
    assert best_flow(control, pair, [(1, 2), (3, 4)]).value is None, "the best signs find that"
    assert flow_bound(control, pair, [(1, 2)], [0, 1, 0, -1]).value is not None
    shown = control_graph(automaton("q0 -> q0 [insample]"))
    assert flow_bound(shown, (0,), [(0, 1)], [1]).value is None
    assert flow_bound(shown, (0,), [(0, 1)], [0]).value == 0
    assert flow_bound(shown, (0,), [], [1]).value == F(1, 4)
    second = control_graph(automaton("q0 -> q0 [insample']"))
    assert flow_bound(second, (0,), [(0, 1)], [-1]).value is None
    assert flow_bound(second, (0,), [], [-1]).value == F(1, 4)


def test_a_sample_that_is_read_later_has_one_copy():
    """Each round stores ``y`` anew; only what the last one stored is compared."""
    rows = "p -> q0 [i] :x \n q0 -> q1 [a] :y \n q1 -> q1 [b] <x :y \n q1 -> q2 [c] >x >y"
    control = control_graph(automaton(rows))
    found = flow_bound(control, (0, 1, 2, 3), [(2, 3)], [0, 0, -1, 1])
    assert found.value == F(1, 2) and not found.unlimited


@pytest.mark.parametrize(
    ("run", "loops", "deltas", "problem"),
    [
        ((1,), [], [0], "begin in the initial state"),
        ((0, 0), [], [0, 0], "follow each other"),
        ((0, 1, 2), [], [0, 0], "one difference for each"),
        ((0, 1, 2), [(0, 2)], [0, 0, 0], "no loop"),
        ((0, 1, 2), [(1, 9)], [0, 0, 0], "no loop"),
        ((0, 1, 2), [], [1, 0, 0], "that no input moves"),
        ((0, 1, 3), [(2, 3)], [0, 0, 0], "assigns what it uses"),
        ((0, 4, 5), [], [0, 0, 0], "not feasible"),
    ],
)
def test_what_is_no_run_with_loops_is_refused(run, loops, deltas, problem):
    rows = """q0 -> q1 [a] :x
    q1 -> q2 [b] >x
    q2 -> q3 [c] <x
    q2 -> q2 [d] >x :x
    q1 -> q4 [e] <x :y
    q4 -> q5 [f] >x <y"""
    with pytest.raises(ValueError, match=problem):
        flow_bound(control_graph(automaton(rows, silent="q0")), run, loops, deltas)


def test_witnesses_become_certificates():
    from symdipa import checker
    from symdipa.evidence import certificates as certificate

    for example in [*good(40), *(example_file(name) for name, _, _ in TABLE)]:
        for adjacency in ("two-sided", "monotone", (F(-3, 2), F(3))):
            found = exact(example, adjacency=adjacency)
            dual = flow_bound(control_graph(example), found.run, found.loops, found.deltas)
            paper = certificate.bundle(example, [certificate.lower_of_flow(dual, found.interval)])
            (claim,) = checker.verify(example, certificate.dumps(paper)).claims
            assert claim.bound == found.value


# Blocks, limits and options


def blockwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "TOGETHER", 0)


def test_variables_that_never_meet_may_be_treated_apart(monkeypatch: pytest.MonkeyPatch):
    drawn = [source.random_product(random.Random(f"blocks/{i}")) for i in range(60)]
    together = [exact(example) for example in drawn]
    blockwise(monkeypatch)
    several = 0
    for example, one in zip(drawn, together, strict=True):
        whole = lift(augment(control_graph(example)))
        several += len(places.Places(whole, costs(whole.graph.control, TWO_SIDED)).blocks) > 1
        apart = exact(example)
        assert apart.value == one.value
        if apart.value is not None:
            dual = flow_bound(control_graph(example), apart.run, apart.loops, apart.deltas)
            check_flow(example, dual, apart.value)
    assert several > 20 and sum(one.value is not None for one in together) > 10


def test_no_block_changes_the_answer_for_one_block(monkeypatch: pytest.MonkeyPatch):
    examples = list(good(60))
    values = [exact(example).value for example in examples]
    blockwise(monkeypatch)
    assert [exact(example).value for example in examples] == values


def test_beams_only_help(monkeypatch: pytest.MonkeyPatch):
    """Without a first search nothing is pruned."""
    examples = [*good(60), generate("k-minmax", 7)]
    values = [exact(example).value for example in examples]
    monkeypatch.setattr(profiles, "BEAMS", ())
    assert [exact(example).value for example in examples] == values


def test_a_used_up_budget_leaves_both_bounds():
    example = generate("k-minmax", 9)
    whole = exact(example)
    lowers = 0
    for budget in (10, 100, 300, 600, 900, 1200):
        try:
            assert exact(example, budget=budget).value == whole.value
        except ConstantLimit as limit:
            assert isinstance(limit, LimitReached) and str(budget) in str(limit)
            assert limit.upper is None or limit.upper >= whole.value
            if limit.lower is not None:
                lower = limit.lower
                assert lower.value is not None and lower.value <= whole.value
                dual = flow_bound(control_graph(example), lower.run, lower.loops, lower.deltas)
                check_flow(example, dual, lower.value)
                lowers += 1
    assert lowers
    with pytest.raises(ConstantLimit) as caught:
        exact(example, budget=700, adjacency="monotone")
    upper = caught.value.upper
    assert upper is None or upper >= exact(example, adjacency="monotone").value


def test_nodes_and_time_end_the_search():
    graph = augment(control_graph(generate("u-range", 3)))
    for few in (5, 70):
        with pytest.raises(LimitReached, match=f"more than {few}"):
            run_bound(graph, max_nodes=few)
    with pytest.raises(LimitReached, match="the augmentation has more than 5 nodes"):
        run_bound(graph, max_nodes=5)
    for work in (exact_constant, run_bound):
        with pytest.raises(
            OutOfTime, match=r"time limit reached at (run bound|the lift for the exact constant), \d+ nodes"
        ):
            work(graph, limits=UNLIMITED.within(0))


def test_what_is_foreseen_does_not_matter(monkeypatch: pytest.MonkeyPatch):
    """Tracking fewer values in more nodes comes to the same; it is what is done when there are too many."""
    examples = [*good(40), generate("u-range", 2), generate("pivot", 3), generate("m-range", 3)]
    values = [exact(example).value for example in examples]

    def all_foreseen(*arguments, foresee: int = 0):
        return lift(*arguments, foresee=-1)

    monkeypatch.setattr(profiles, "lift", all_foreseen)
    assert [exact(example).value for example in examples] == values


def test_fewer_values_are_tracked_where_all_live_ones_are_too_many():
    """Ten values that may meet are live; at most six of them are read in the end."""
    names = ["c", *(f"{kind}{i}" for kind in "xy" for i in range(5))]
    stored = [f"q{i} -> q{i + 1} [a] :{name}" for i, name in enumerate(names)]
    rest = ["q11 -> r [b] <c", "r -> end [c] <x0 <x1 <x2 <x3 <x4", "r -> t [f] >x0", "t -> end [g] <x0 <y0"]
    more = ["q11 -> s [d] >c", "s -> end [e] >y0 >y1 >y2 >y3 >y4"]
    wide, narrow = automaton("\n".join(stored + rest + more)), automaton("\n".join(stored + rest))
    with pytest.raises(LimitReached, match="10 live values"):
        profiles._worst((TWO_SIDED,), 10**8, UNLIMITED, lift(augment(control_graph(wide))))
    found = exact(wide)
    assert found.value is not None and found.value == exact(narrow).value
    check_flow(wide, flow_bound(control_graph(wide), found.run, (), found.deltas), found.value)


def test_too_many_live_values_are_refused():
    names = [f"x{i}" for i in range(12)]
    steps = [Transition(f"q{i}", f"q{i + 1}", symbol("a"), assign={x}) for i, x in enumerate(names)]
    steps.append(Transition("q12", "end", symbol("b"), Guard(ge=names)))
    example = Automaton.build([State(f"q{i}", True, F(1)) for i in range(13)], steps)
    with pytest.raises(LimitReached, match="live values"):
        exact(example)


def test_scales_without_a_common_denominator_are_refused():
    example = automaton("q0 -> q1 [a] :x \n q1 -> q2 [b] >x \n q2 -> q3 [c]")
    tiny = {"q0": F(1, 2**61 - 1), "q1": F(1, 2**31 - 1)}
    example = replace(example, states=tuple(replace(s, d=tiny.get(s.name, s.d)) for s in example.states))
    with pytest.raises(LimitReached, match="denominator"):
        exact(example)
    with pytest.raises(LimitReached, match="denominator"):
        best_flow(control_graph(example), (0, 1))
    assert flow_bound(control_graph(example), (0, 1), (), [-1, 1]).value == 2 * tiny["q0"]


def test_adjacency_and_sensitivity():
    assert intervals("monotone", 3) == ((0, 3), (-3, 0))
    assert intervals((F(-1, 2), F(2)), F(1, 2)) == ((F(-1, 4), F(1)), (F(-1), F(1, 4)))
    assert intervals((F(-2), F(2)), F(1, 2)) == ((F(-1), F(1)),) == intervals("two-sided")
    for wrong in ("sideways", (F(1), F(2)), (F(-2), F(-1))):
        with pytest.raises(ValueError, match=r"adjacency is one of|contains 0"):
            intervals(wrong)
    with pytest.raises(ValueError, match="not negative"):
        intervals("two-sided", -1)
    for example in good(30):
        value = exact(example).value
        assert value is not None
        assert exact(example, adjacency=(F(-5, 3), F(5, 3))).value == F(5, 3) * value
        assert exact(example, adjacency=(F(-2), F(2))).value == 2 * value
        assert exact(example, adjacency=(F(0), F(0))).value == 0
        up, down, monotone = (exact(example, adjacency=given).value for given in (UP, DOWN, "monotone"))
        assert up == down == monotone <= value <= 2 * monotone


def test_a_leaking_cycle_has_no_constant_whatever_the_differences():
    example = example_file("svt_redrawn_threshold")
    assert all(exact(example, adjacency=given).value is None for given in (TWO_SIDED, UP, DOWN, "monotone"))
    assert exact(example, adjacency=(F(0), F(0))).value == 0


def test_a_state_without_scale_costs_nothing():
    lone = Automaton((State("q"),), "q", ())
    assert exact(lone) == Exact(F(0), (), (), (), TWO_SIDED)
    assert run_bound(augment(control_graph(lone))) == 0


def test_few_profiles_give_a_bound_still():
    """If not all profiles along a run are kept, the signs are valid, only maybe not the best."""
    example = generate("k-minmax", 9)
    found = exact(example)
    control = control_graph(example)
    for kept in (1, 2, 5000):
        deltas = best_signs(control, found.run, found.loops, kept=kept)
        value = flow_bound(control, found.run, found.loops, deltas).value
        assert value is not None and value <= found.value
    assert value == found.value


@pytest.mark.parametrize("cells", [frames.CELLS, 40, 1])
def test_maximal_profiles_are_those_that_no_other_covers(monkeypatch, cells):
    monkeypatch.setattr(frames, "CELLS", cells)
    rng = np.random.default_rng(5)
    for _ in range(150):
        shape = (rng.integers(0, 30), rng.integers(1, 70 if cells == 40 else 5))
        rows = rng.integers(0, rng.choice([2, 4, 9]), shape)
        rows[rng.random(shape) < 0.1] = frames.NEVER
        expected = {
            tuple(row)
            for row in rows
            if not any((other >= row).all() and (other > row).any() for other in rows)
        }
        found = frames.maximal(rows)
        assert len(found) == len(expected) and set(map(tuple, found)) == expected
