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

from symdipa import formats
from symdipa.augmentation import augment
from symdipa.automaton import INSAMPLE_PRIME, Automaton, OutputKind, Transition
from symdipa.constant.flow import GROUND, Flow, flow_bound
from symdipa.constant.profiles import Exact, exact_constant
from symdipa.constant.run_bound import run_bound
from symdipa.control import control_of
from symdipa.engines.explicit import ExplicitEngine
from symdipa.families import generate
from symdipa.patterns import Pattern
from symdipa.verdict import Status
from symdipa.weight import corollary_bound

PEER = ROOT.parent / "shared" / "peer" / "dipaut"
F = Fraction
TWO_SIDED = (F(-1), F(1))
UP, DOWN = (F(0), F(1)), (F(-1), F(0))


def exact(example: Automaton, **options) -> Exact:
    return exact_constant(control_of(example), **options)


def example_file(name: str) -> Automaton:
    return formats.load(next(EXAMPLES.glob(f"*/{name}.dipa")))


def well_formed(example: Automaton) -> bool:
    engine = ExplicitEngine(control_of(example))
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
    graph = augment(control_of(example))
    cyclic = set(graph.cyclic_edges)
    best, level = F(0), [(0, ())]
    for _ in range(length):
        level = [(graph.target[e], (*way, e)) for v, way in level for e in graph.outgoing[v]]
        for _, way in level:
            steps = [example.transitions[graph.transition[e]] for e in way]
            best = max(best, weight_of_run(example, steps, [e in cyclic for e in way]))
    return best


# Published numbers (weights.md, section 7)


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
    assert (run_bound(control_of(example)), exact(example).value) == (run, value)


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
    assert (run_bound(control_of(example)), exact(example).value) == (run, value)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 8])
def test_ranges(m: int):
    example = generate("m-range", m)
    assert run_bound(control_of(example)) == max(F(1), F(m + 1, 4))
    assert exact(example).value == 1


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6, 7, 10, 20, 100])
def test_least_and_largest(k: int):
    example = generate("k-minmax", k)
    assert run_bound(control_of(example)) == F(k + 2, 4 * k) + F(1, 2)
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
    assert run_bound(control_of(example)) == 5
    assert exact(example).value == F(5, 4)


def test_a_chain():
    """Each sample below the next one: the two outer ones cannot pay for what the middle one is spared."""
    example = automaton("q0 -> q1 [a] :x \n q1 -> q2 [b] >x :y \n q2 -> q3 [c] >y")
    given = {"q0": F(1), "q1": F(2), "q2": F(1)}
    example = replace(example, states=tuple(replace(s, d=given.get(s.name)) for s in example.states))
    found = exact(example)
    assert found.value == 2 == dearest_of_run(example, (0, 1, 2))
    assert run_bound(control_of(example)) == 4


@pytest.mark.parametrize(
    ("name", "value"),
    [("svt", F(3, 4)), ("num_sparse", F(1)), ("range_1", F(1, 2)), ("k_min_max_3", F(5, 12))],
)
def test_monotone_adjacency(name: str, value: Fraction):
    assert exact(example_file(name), adjacency="monotone").value == value
    assert exact(example_file(name), adjacency="monotone", sensitivity=3).value == 3 * value


# Against the judges


def test_bounds_of_random_automata():
    """Infinite exactly when not well-formed; below the other bounds; attained by a flow on its run."""
    seen: Counter[str] = Counter()
    for i in range(300):
        agree(drawn(i), judged(i), seen)
    assert seen["well-formed"] > 80 and seen["infinite"] > 80, seen
    assert seen["below the run bound"] > 5 and seen["loops"] > 20 and seen["corollary below run"] >= 0, seen


def agree(example: Automaton, is_good: bool, seen: Counter[str]) -> None:
    control = control_of(example)
    found, run = exact(example), run_bound(control)
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
        chosen = flow_bound(control, result.run, result.loops, interval=result.interval)
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
        expected = brute(example, 6, interval, max_runs=60)
        if expected is not None:
            assert exact(example, adjacency=interval).value == expected
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


def test_two_ranges_need_eleven_steps():
    example = example_file("two_range_2")
    assert [exact(unrolled(example, n)).value for n in (10, 11, 12)] == [F(3, 2), F(2), F(2)]


def test_the_run_bound_is_the_heaviest_run():
    attained = 0
    for example in good(60):
        bound, best = run_bound(control_of(example)), heaviest(example, 7)
        assert bound is not None and best <= bound
        attained += best == bound
    assert attained > 40
    for i in range(40):
        example = unrolled(drawn(i), 5)
        if run_bound(control_of(example)) is not None:
            assert run_bound(control_of(example)) == heaviest(example, 5)
