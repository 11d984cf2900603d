"""The alignment bound on random automata: proofs re-checked, and held against runs from the definitions.

Of the alignment package only results are used here; rules, order facts, prophecies and the cost of single
runs are written down a second time, straight from docs/weights.md, section 1.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from math import lcm

import brute_force as judge
import numpy as np
import pytest
import random_automata as source
from test_alignment import example

from symdipa.bounds.alignment import PartedSide, Side, align, breakdown, search
from symdipa.bounds.alignment.graphs import augmentation_cover, control_cover, eq_cover, marked_cover
from symdipa.bounds.alignment.lifts import LiftedCover, lift
from symdipa.bounds.alignment.linear import solve
from symdipa.bounds.alignment.nearest import nearest
from symdipa.bounds.alignment.program import Constraints
from symdipa.bounds.alignment.rounding import evaluate
from symdipa.bounds.costs import Rate
from symdipa.checker import verify
from symdipa.engines.explicit import ExplicitEngine
from symdipa.evidence.certificates import bundle
from symdipa.evidence.certificates.build import one_sided
from symdipa.files.families import generate
from symdipa.model.adjacency import intervals
from symdipa.model.automaton import Automaton, OutputKind, Transition
from symdipa.model.errors import LimitReached
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Status
from symdipa.runs.augmentation import augment
from symdipa.runs.control import control_graph
from symdipa.runs.order import members
from symdipa.runs.problem import Problem

How = tuple[str, str, bool]

LIFTS = ("", "U", "C", "CK")
ALL: list[How] = [
    *product(("control", "eq", "parts", "augmentation"), LIFTS, (False, True)),
    *product(("augmentation",), ("LG", "CKLG"), (False, True)),
]
RANGES = [(Fraction(-1), Fraction(1)), (Fraction(0), Fraction(1)), (Fraction(-1), Fraction(0))]


RATE = Rate((Fraction(1), Fraction(1)), (Fraction(0), Fraction(0)), True)


def automata(count: int, seed: str, **sizes: object) -> Iterator[Automaton]:
    for i in range(count):
        yield source.random_automaton(random.Random(f"{seed} {i}"), **sizes)  # type: ignore[arg-type]


def well_formed(automaton: Automaton) -> bool:
    engine = ExplicitEngine(Problem.of(automaton))
    return all(engine.decide(pattern).status is Status.ABSENT for pattern in Pattern)


def bounds(automaton: Automaton, hows: Iterable[How] = ALL, **options: object) -> dict[How, Fraction | None]:
    control = control_graph(automaton)
    return {
        how: align(Problem(control), how[0], how[1], how[2], **options).bound  # type: ignore[arg-type]
        for how in hows
    }


# Orders among bounds, and whether there is one


def refinements() -> Iterator[tuple[How, How]]:
    """Pairs of ways: the second one allows whatever the first one does.

    What a part takes for a loop need not be one of the augmentation, so the prophecies about loops differ.
    """
    for graph, letters, wide in ALL:
        if not wide:
            yield (graph, letters, False), (graph, letters, True)
        if not letters:
            for finer in ("eq", "augmentation"):
                if (
                    graph in ("control", "eq", "parts")
                    and graph != finer
                    and (graph, finer) != ("parts", "eq")
                ):
                    yield (graph, letters, wide), (finer, letters, wide)
            if graph == "control":
                yield (graph, letters, wide), ("parts", letters, wide)
            for more in ("U", "C", "CK"):
                yield (graph, letters, wide), (graph, more, wide)
        elif letters in ("U", "C"):
            if (graph, letters) == ("parts", "U"):
                yield (graph, letters, wide), ("augmentation", letters, wide)
            yield (graph, letters, wide), (graph, "CK", wide)
        elif letters == "CK" and graph == "augmentation":
            yield (graph, letters, wide), (graph, "CKLG", wide)
            yield (graph, "LG", wide), (graph, "CKLG", wide)


def test_finer_graphs_are_never_worse_and_marks_always_find_a_bound():
    good = bad = better = 0
    for automaton in automata(60, "finer"):
        found = bounds(automaton)
        for coarse, fine in refinements():
            if (known := found[coarse]) is not None:
                assert found[fine] is not None, (coarse, fine)
                assert found[fine] <= known, (coarse, fine)
                better += found[fine] < known
        if well_formed(automaton):
            good += 1
            assert found["augmentation", "LG", False] is not None
        else:
            bad += 1
            assert set(found.values()) == {None}
    assert good > 15
    assert bad > 15
    assert better > 25


def test_differences_of_one_sign_have_a_bound_for_the_same_automata():
    for automaton in automata(40, "signs"):
        control, good = control_graph(automaton), well_formed(automaton)
        assert (align(Problem(control), "augmentation", "LG", adjacency="monotone").bound is not None) == good


def test_auto_is_at_least_as_good_as_every_step_of_its_ladder():
    for automaton in automata(30, "auto"):
        found = align(Problem.of(automaton))
        tried = [a.bound for a in found.attempts if a.bound is not None]
        assert found.bound == min(tried, default=None)
        assert (found.bound is not None) == well_formed(automaton)


# The proof, checked anew


def check(side: Side, automaton: Automaton) -> None:
    """Everything that a proof must satisfy (Def. alignment program)."""
    _check_base(side, automaton)
    _check_lifts(side)
    for e in range(len(side.lifted.source)):
        _check_edge(side, automaton, e)
    assert all(side.potential(v) <= side.bound for v, base in enumerate(side.lifted.base) if base == 0)
    assert all(side.potential(v) >= 0 for v in range(side.lifted.nodes))


Facts = tuple[set[tuple[str, str]], set[tuple[str, str]]]


def _facts(side: Side, node: int) -> Facts:
    name = side.lifted.cover.control.variable_names
    less, same = side.lifted.cover.facts(node)
    equal = {(name[x], name[y]) for x, y in same}
    return {(name[x], name[y]) for x, y in less}, equal | {(y, x) for x, y in equal}


def _check_base(side: Side, automaton: Automaton) -> None:
    """Node 0 knows nothing, and a transition has an edge unless the facts contradict its guard."""
    cover = side.lifted.cover
    assert cover.control.state_names[cover.state[0]] == automaton.initial
    assert _facts(side, 0) == (set(), set())
    leaving = {(cover.source[e], t): cover.target[e] for e, t in enumerate(cover.transition)}
    assert len(leaving) == len(cover.source)
    for v, q in enumerate(cover.state):
        facts = _facts(side, v)
        for t in automaton.outgoing[q]:
            step = automaton.transitions[t]
            if (v, t) not in leaving:
                assert _contradicts(facts, step)
                continue
            target = leaving[v, t]
            assert cover.control.state_names[cover.state[target]] == step.target
            less, same = _facts(side, target)
            known = _after(facts, step)
            assert less <= known[0]
            assert same <= known[1]


def _contradicts(facts: Facts, step: Transition) -> bool:
    less, same = facts
    return any(y == z or (z, y) in less | same for y in step.guard.ge for z in step.guard.lt)


def _after(facts: Facts, step: Transition) -> Facts:
    """What is known after a step, by closing everything among the old values and the sample ``!``."""
    less, same = facts
    names = {x for pair in less | same for x in pair} | step.guard.used | {"!"}
    strict = set(less) | {(y, "!") for y in step.guard.ge} | {("!", z) for z in step.guard.lt}
    weak = strict | same | {(x, x) for x in names}
    for k, i, j in product(sorted(names), repeat=3):
        if (i, k) in weak and (k, j) in weak:
            weak.add((i, j))
    for i, j in set(weak):
        for k in names:
            if (i, j) in strict and (j, k) in weak:
                strict.add((i, k))
    for k, i, j in product(sorted(names), repeat=3):
        if (i, k) in weak and (k, j) in strict:
            strict.add((i, j))

    def holders(value: str) -> set[str]:
        kept = {value} - step.assign - {"!"}
        return set(step.assign) if value == "!" else kept

    return (
        {(x, y) for i, j in strict for x in holders(i) for y in holders(j)},
        {(x, y) for i, j in same for x in holders(i) for y in holders(j)}
        | {(x, y) for x in step.assign for y in step.assign if x != y},
    )


def _check_lifts(side: Side) -> None:
    """Every base node has a lift, and every lift of the target of a base edge an edge over that edge."""
    cover, lifted = side.lifted.cover, side.lifted
    over: dict[int, list[int]] = {}
    for v, base in enumerate(lifted.base):
        over.setdefault(base, []).append(v)
    assert set(over) == set(range(cover.nodes))
    edges = set(zip(lifted.edge, lifted.target, strict=True))
    for e, (u, v) in enumerate(zip(cover.source, cover.target, strict=True)):
        assert all((e, node) in edges for node in over[v])
        assert all(lifted.base[lifted.source[i]] == u for i, b in enumerate(lifted.edge) if b == e)


def shifts(side: Side, node: int) -> dict[int, tuple[Fraction, Fraction]]:
    """The interval of shifts of every variable tracked in a lifted node."""
    return {x: side.shift(node, x) for x in members(side.lifted.tracked[node])}


def _check_edge(side: Side, automaton: Automaton, e: int) -> None:
    lifted, names = side.lifted, side.lifted.cover.control.variable_names
    u, v = lifted.source[e], lifted.target[e]
    step = automaton.transitions[lifted.transition[e]]
    state = automaton.state(step.source)
    here = {names[x]: ends for x, ends in shifts(side, u).items()}
    there = {names[x]: ends for x, ends in shifts(side, v).items()}
    assert all(side.low <= low <= high <= side.high for low, high in there.values())
    assert step.guard.used <= set(here)
    lows = [here[x][1] for x in step.guard.lt]
    highs = [here[x][0] for x in step.guard.ge]
    for x, (low, high) in there.items():
        if x in step.assign:
            lows.append(low)
            highs.append(high)
        else:
            assert low <= here[x][0]
            assert here[x][1] <= high
    if step.output.kind is OutputKind.INSAMPLE:
        lows.append(Fraction(0))
        highs.append(Fraction(0))
    assert all(low <= high for low in lows for high in highs)
    released = step.output.kind is OutputKind.INSAMPLE_PRIME and state.is_input
    costs = []
    for difference in (side.low, Fraction(0), side.high) if state.is_input else (Fraction(0),):
        nearest = min(max([difference, *lows]), *highs) if highs else max([difference, *lows])
        miss = abs(nearest - difference)
        costs.append((state.d * miss if miss else 0) + (state.d_prime * abs(difference) if released else 0))
    assert side.potential(u) >= max(costs) + side.potential(v)


def test_every_proof_holds():
    proofs = graphs = 0
    rng = random.Random("proofs")
    for automaton in automata(60, "proofs"):
        if not well_formed(automaton):
            continue
        for how in rng.sample(ALL, 5):
            low, high = rng.choice([*RANGES, (Fraction(-1, 3), Fraction(2))])
            found = align(
                Problem.of(automaton),
                *how,
                adjacency=(low, high),
                sensitivity=rng.choice((1, 1, Fraction(5, 2))),
            )
            for side in found.sides:
                if isinstance(side, PartedSide):  # the checker knows nothing of how parts are made
                    (claim,) = verify(automaton, bundle(automaton, [one_sided(side)])).claims
                    assert claim.bound == side.bound
                else:
                    check(side, automaton)
                _, costs = breakdown(side)
                assert sum(cost.amount for cost in costs) == side.bound
                proofs += 1
                graphs |= 1 << ALL.index(how)
    assert proofs > 40
    assert graphs.bit_count() > 20


@pytest.mark.parametrize("name", ["svt", "num_sparse", "two_range_2", "m_range_2", "k_min_max_3"])
@pytest.mark.parametrize("adjacency", ["two-sided", "monotone"])
def test_every_proof_of_the_ladder_holds(name: str, adjacency: str):
    automaton = example(name)
    found = align(Problem.of(automaton), adjacency=adjacency)
    assert len(found.sides) == (2 if adjacency == "monotone" else 1)
    for side in found.sides:
        check(side, automaton)


# Single runs (Thm. A and Thm. B)


def worst(automaton: Automaton, run: Sequence[int], low: Fraction, high: Fraction) -> Fraction:
    """The largest over the differences of the least over the shifts of what they cost together.

    ``low`` and ``high`` are integers. ``|shift - difference|`` is the sum, over the unit steps between them,
    of whether exactly one of the two lies above the step. The rules ask for the bits of each step alone, so
    each step has a minimum of its own, over the sets of positions that may lie above it.
    """
    steps = [automaton.transitions[t] for t in run]
    states = [automaton.state(step.source) for step in steps]
    edges = judge.dependency_edges(steps)
    unit = lcm(*(d.denominator for s in states for d in (s.d, s.d_prime) if d is not None))
    weight = np.array([int((s.d or 0) * unit) for s in states])
    released = np.array(
        [
            int(s.d_prime * unit) if s.is_input and t.output.kind is OutputKind.INSAMPLE_PRIME else 0
            for s, t in zip(states, steps, strict=True)
        ]
    )
    differences = np.array(list(product(*((int(low), int(high)) if s.is_input else (0,) for s in states))))
    shown = [t.output.kind is OutputKind.INSAMPLE for t in steps]
    costs = np.abs(differences) @ released
    for level in range(int(low), int(high)):  # the step from level to level + 1
        above = [
            bits
            for bits in product((0, 1), repeat=len(steps))
            if all(bits[i] >= bits[j] for i, j in edges)  # what lies below shifts at least as far
            and all(bit == (level < 0) for bit, fixed in zip(bits, shown, strict=True) if fixed)
        ]
        sets, wanted = np.array(above), (differences > level).astype(int)
        misses = (sets @ weight)[:, None] + (wanted @ weight)[None, :] - 2 * (sets * weight) @ wanted.T
        costs = costs + misses.min(axis=0)
    return Fraction(int(costs.max()), unit)


def runs(automaton: Automaton, length: int, limit: int, rng: random.Random) -> list[tuple[int, ...]]:
    """Some feasible runs that are not extended within the length."""
    found = [run for run, extended in judge.feasible_runs(automaton, length, 300) if run and not extended]
    return found if len(found) <= limit else rng.sample(found, limit)


def test_the_cost_of_single_runs():
    """What the test believes about runs, on the numbers that are known."""
    minmax = generate("k-minmax", 3)
    lengths = [run for run, _ in judge.feasible_runs(minmax, 6) if run]
    assert max(worst(minmax, run, *RANGES[0]) for run in lengths) == Fraction(5, 6)
    svt = example("svt")
    lengths = [run for run, _ in judge.feasible_runs(svt, 6) if run]
    assert max(worst(svt, run, *RANGES[0]) for run in lengths) == Fraction(5, 4)
    assert max(max(worst(svt, run, *side) for side in RANGES[1:]) for run in lengths) == Fraction(3, 4)


def test_no_run_costs_more_than_the_bound():
    rng = random.Random("runs")
    tight = judged = 0
    for automaton in automata(80, "runs"):
        if not well_formed(automaton):
            continue
        chosen = runs(automaton, 7, 25, rng)
        for low, high in RANGES:
            orders = intervals((low, high))
            dearest = max(
                (worst(automaton, run, *order) for run in chosen for order in orders), default=Fraction(0)
            )
            for how in [("control", "", True), *rng.sample(ALL, 2), ("augmentation", "CKLG", True)]:
                found = align(Problem.of(automaton), *how, adjacency=(low, high)).bound
                assert found is None or found >= dearest, (how, low, high)
            tight += found == dearest
            judged += 1
    assert judged > 60
    assert tight > 2 * judged / 5


def test_an_automaton_without_choices_is_as_good_as_its_run():
    """On one run without reads of a value both as threshold and test, alignment is exact; never below."""
    for automaton in automata(40, "straight"):
        for run in runs(automaton, 6, 2, random.Random(str(automaton.name))):
            alone = _straight(automaton, run)
            found = align(Problem.of(alone), "augmentation", "CKLG", True).bound
            exact = worst(automaton, run, *RANGES[0])
            assert found is not None
            assert exact <= found <= 2 * exact


def _straight(automaton: Automaton, run: Sequence[int]) -> Automaton:
    """The automaton whose only way is the run (its states numbered)."""
    steps = [automaton.transitions[t] for t in run]
    names = [f"s{i}" for i in range(len(run) + 1)]
    transitions = tuple(
        replace(step, source=here, target=there)
        for step, (here, there) in zip(steps, pairwise(names), strict=True)
    )
    states = [replace(automaton.state(t.source), name=n) for t, n in zip(steps, names, strict=False)]
    last = replace(automaton.state(steps[-1].target), name=names[-1])
    return Automaton((*states, last), names[0], transitions, automaton.variables)


# Prophecies, against the futures of runs


def covers(automaton: Automaton) -> Iterator[tuple[LiftedCover, Sequence[bool]]]:
    """Lifts of all kinds with the edges of their covers that are inside loops."""
    control = control_graph(automaton)
    augmentation = augmentation_cover(augment(control))
    for cover in (control_cover(control), eq_cover(control), augmentation):
        yield lift(cover, "UC"), cover.cyclic
        yield lift(cover, "CK"), cover.cyclic
    marked = marked_cover(augmentation)
    yield lift(marked, "LG"), marked.cyclic


def test_prophecies_come_true():
    rng = random.Random("prophecies")
    counts = dict.fromkeys("UCKLG", 0)
    for automaton in automata(40, "prophecies"):
        chosen = runs(automaton, 7, 12, rng)
        for lifted, cyclic in covers(automaton):
            for run in chosen:
                _check_prophecies(automaton, lifted, cyclic, run, counts)
    assert min(counts.values()) > 50, counts


def _check_prophecies(
    automaton: Automaton,
    lifted: LiftedCover,
    cyclic: Sequence[bool],
    run: Sequence[int],
    counts: dict[str, int],
) -> None:
    cover, names = lifted.cover, automaton.variables
    base, path = 0, []
    for t in run:
        (e,) = (e for e in range(len(cover.source)) if cover.source[e] == base and cover.transition[e] == t)
        path.append(e)
        base = cover.target[e]
    (node,) = (v for v in range(lifted.nodes) if lifted.base[v] == base and lifted.ends[v])
    steps = [automaton.transitions[t] for t in run]
    loops = [cyclic[e] for e in path]
    low, high = _marked(steps, loops)
    for i in reversed(range(len(run))):
        (node,) = (
            u
            for u, v, e in zip(lifted.source, lifted.target, lifted.edge, strict=True)
            if v == node and e == path[i]
        )
        for x, name in enumerate(names):
            if not cover.live(lifted.base[node]) >> x & 1:
                continue
            held = judge.last(steps, name, i)
            if cover.kind == "control":  # equal variables are not known there
                below, above, inside = _reads(steps, loops, i, {name})
            else:
                same = {y for y in names if any(y in s.assign for s in steps[:i])}
                same = {y for y in same if judge.last(steps, y, i) == held}
                below, above, inside = _reads(steps, loops, i, same)
            read = bool(below or above)
            kinds = "".join({"U": "U", "C": "Cc", "K": "Kk"}.get(letter, letter) for letter in lifted.letters)
            truth = {
                "U": read,
                "C": bool(below & inside),
                "c": bool(above & inside),
                "K": bool(below - inside),
                "k": bool(above - inside),
                "L": read and held in low,
                "G": read and held in high,
            }
            for kind, mask in zip(kinds, lifted.bits[node], strict=True):
                assert bool(mask >> x & 1) == truth[kind], (kind, name, i, run)
                counts[kind.upper()] += truth[kind]
            if set("UK") & set(lifted.letters):
                assert bool(lifted.tracked[node] >> x & 1) == read


def _reads(
    steps: Sequence[Transition], loops: Sequence[bool], i: int, holders: set[str]
) -> tuple[set[int], set[int], set[int]]:
    """The later positions that read the value as lower bound, as upper bound, and those inside loops."""
    below, above = set(), set()
    for j in range(i, len(steps)):
        if holders & steps[j].guard.ge:
            below.add(j)
        if holders & steps[j].guard.lt:
            above.add(j)
        holders = holders - steps[j].assign
    return below, above, {j for j, loop in enumerate(loops) if loop}


def _marked(steps: Sequence[Transition], loops: Sequence[bool]) -> tuple[set[int], set[int]]:
    """The positions above, and those below, a sample on a loop that was compared with an earlier one."""
    edges = judge.dependency_edges(steps)
    low, high = set(), set()
    for i, j in edges:
        if j < i and loops[i]:
            low |= {j} | judge.reachable(edges, j)
        if i < j and loops[j]:
            high |= {i} | {k for k in range(len(steps)) if i in judge.reachable(edges, k)}
    return low, high


def test_a_lift_that_grows_too_large_is_given_up():
    cover = control_cover(control_graph(generate("m-range", 6)))
    with pytest.raises(LimitReached, match="more than 50 nodes"):
        lift(cover, "CK", max_nodes=50)


# Without a linear program


def test_shifts_without_a_solver_exist_where_the_solver_finds_some(monkeypatch: pytest.MonkeyPatch):
    """They cost no less than the solver's, and their proofs hold."""
    seen: Counter[str] = Counter()
    asked: list[tuple[bool, bool]] = []

    def both(constraints: Constraints, low: Fraction, high: Fraction, wanted: Fraction) -> object:
        found = nearest(constraints, low, high, wanted)
        asked.append((found is None, solve(constraints, low, high) is None))
        return found

    monkeypatch.setattr(search, "nearest", both)
    for i, automaton in enumerate(automata(60, "nearest")):
        problem, adjacency = Problem(control_graph(automaton)), ("two-sided", "monotone")[i % 2]
        for graph, letters, wide in ALL:
            quick = align(problem, graph, letters, wide, adjacency=adjacency, hasty=True)
            if quick.bound is None:
                seen["none"] += 1
                continue
            found = align(problem, graph, letters, wide, adjacency=adjacency)
            assert found.bound is not None and found.bound <= quick.bound
            seen["the same" if found.bound == quick.bound else "more"] += 1
            for side in quick.sides:
                if isinstance(side, Side):
                    check(side, automaton)
    assert all(one == other for one, other in asked)
    assert min(seen[key] for key in ("none", "the same", "more")) > 20, seen


def test_of_what_may_be_anything_the_nearest_is_taken():
    """Each unknown is as near to the number wanted as in any solution: all are tried."""
    values = [Fraction(v) for v in (-1, 0, 1)]
    rng = random.Random("nearest")
    none = 0
    for _ in range(300):
        at_most = frozenset((rng.randrange(4), rng.randrange(4)) for _ in range(rng.randrange(6)))
        groups = tuple(
            (0, 0, RATE, (), (rng.randrange(4),))
            if rng.random() < 0.5
            else (0, 0, RATE, (rng.randrange(4),), ())
            for _ in range(rng.randrange(3))
        )
        constraints = Constraints(4, at_most, groups, 1, 0)
        allowed = [
            solution
            for solution in product([Fraction(0)], *[values] * 3)
            if evaluate(constraints, solution, Fraction(-1), Fraction(1)) is not None
        ]
        for wanted in values:
            found = nearest(constraints, Fraction(-1), Fraction(1), wanted)
            assert (found is None) == (not allowed)
            none += found is None
            if found is not None:
                assert found in allowed
                for u, value in enumerate(found):
                    assert abs(value - wanted) == min(abs(solution[u] - wanted) for solution in allowed)
    assert 50 < none < 850
