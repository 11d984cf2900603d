"""The corollary bound: the published numbers, and a naive computation straight from its description."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
import random_automata as source
from conftest import EXAMPLES, ROOT
from test_brute_force import automaton

from symdipa import analysis
from symdipa.bounds.alignment import Alignment
from symdipa.bounds.corollary import corollary_bound
from symdipa.engines.explicit import ExplicitEngine
from symdipa.files import formats
from symdipa.files.families import generate
from symdipa.model.automaton import INSAMPLE_PRIME, Automaton, Transition
from symdipa.model.errors import OutOfTime
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Bounds, Source, Status, Verdict
from symdipa.runs.augmentation import Augmentation, augment, bisimulation_quotient
from symdipa.runs.control import control_graph
from symdipa.runs.problem import Problem

PEER = ROOT.parent / "shared" / "peer" / "dipaut"

Block = Hashable


def bound(example: Automaton) -> Fraction:
    return corollary_bound(augment(control_graph(example)))


def example_file(name: str) -> Automaton:
    return formats.load(next(EXAMPLES.glob(f"*/{name}.dipa")))


def well_formed(example: Automaton) -> bool:
    engine = ExplicitEngine(Problem.of(example))
    return all(engine.decide(pattern).status is Status.ABSENT for pattern in Pattern)


# Published numbers (docs/theory.md, section 8; docs/weights.md, section 9)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("svt", Fraction(5, 4)),
        ("num_sparse", Fraction(7, 4)),
        ("num_range_2", Fraction(5, 4)),
        ("two_range_2", Fraction(2)),
        ("range_1", Fraction(1)),
        ("m_range_2", Fraction(1)),
        ("k_min_max_3", Fraction(1)),
    ],
)
def test_published_bounds(name: str, expected: Fraction):
    assert bound(example_file(name)) == expected


@pytest.mark.parametrize(("family", "expected"), [("m-range", 1), ("k-minmax", 1), ("svt", Fraction(5, 4))])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 10, 20])
def test_families_have_one_bound_for_every_size(family: str, n: int, expected: Fraction):
    assert bound(generate(family, n)) == expected


@pytest.mark.skipif(not PEER.is_dir(), reason="the peer's automata are not at hand")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("example_23", Fraction(5, 2)),
        ("example_25", Fraction(5, 3)),
        ("example_27", Fraction(7, 3)),
        ("example_28_2_1307", Fraction(7, 3)),
        ("example_n_equal_3", Fraction(5, 8)),
    ],
)
def test_bounds_of_the_peers_automata(name: str, expected: Fraction):
    (path,) = PEER.rglob(f"well_formed/{name}.dipa")
    assert bound(formats.load(path)) == expected


# The rules of the bound, one by one (every state has d = d' = 1/4)


def test_an_input_costs_twice_its_scale_and_a_silent_step_once():
    rows = "q0 -> q1 [a] :x \n q1 -> q2 [b] >x \n q2 -> q3 [c]"
    assert bound(automaton(rows)) == Fraction(6, 4)
    assert bound(automaton(rows, silent="q0")) == Fraction(5, 4)
    assert bound(automaton(rows, silent="q0 q2")) == Fraction(4, 4)


def test_a_second_sample_costs_its_own_scale_once():
    rows = "q0 -> q1 [{}] :x \n q1 -> q2 [b] >x"
    assert bound(automaton(rows.format("insample'"))) - bound(automaton(rows.format("a"))) == Fraction(1, 4)
    assert bound(automaton(rows.format("insample"))) == bound(automaton(rows.format("a")))


def test_a_loop_is_free_unless_it_stores_what_is_read_later():
    loop = "q0 -> q1 [a] :x \n q1 -> q1 [b] >x {} \n q1 -> q2 [c] <x \n q2 -> q3 [d] {}"
    assert bound(automaton(loop.format("", ""))) == Fraction(6, 4)
    assert bound(automaton(loop.format(":y", ""))) == Fraction(6, 4), "nobody reads it"
    # y is stored before the loop, too, so that it may be read behind it.
    first = "p -> q0 [o] :y \n "
    once, often = (bound(automaton(first + loop.format(stored, ">y"))) for stored in ("", ":y"))
    assert often - once == Fraction(2, 4)


def test_the_heaviest_of_several_ways_counts():
    rows = "q0 -> q1 [a] :x \n q1 -> q2 [b] >x \n q1 -> q3 [c] <x \n q3 -> q4 [d] \n q4 -> q2 [insample']"
    assert bound(automaton(rows)) == Fraction(9, 4)


def test_impossible_ways_cost_nothing():
    rows = "q0 -> q1 [a] :x \n q1 -> q2 [b] >x :y \n q2 -> q3 [c] >y {} \n q3 -> q4 [d] \n q4 -> q5 [e]"
    assert bound(automaton(rows.format(""))) == Fraction(10, 4)
    assert bound(automaton(rows.format("<x"))) == Fraction(4, 4)


def test_states_without_scale_cost_nothing():
    from symdipa.model.automaton import State

    lone = Automaton((State("q"),), "q", ())
    assert bound(lone) == 0


# A naive computation


def read_later(example: Automaton, t: Transition) -> bool:
    """Whether some guard may still read what the transition stores."""
    todo, seen = [(t.target, x) for x in t.assign], set()
    while todo:
        q, x = todo.pop()
        for u in (u for u in example.transitions if u.source == q):
            if x in u.guard.used:
                return True
            if x not in u.assign and (u.target, x) not in seen:
                seen.add((u.target, x))
                todo.append((u.target, x))
    return False


def cost(example: Automaton, t: Transition, cyclic: bool) -> Fraction:
    state = example.state(t.source)
    weight = Fraction(0)
    if not cyclic or read_later(example, t):
        weight += (2 if state.is_input else 1) * (state.d or 0)
    return weight + (state.d_prime or 0) * (t.output == INSAMPLE_PRIME)


def naive_bound(example: Automaton, graph: Augmentation, block: Sequence[Block]) -> Fraction:
    """The heaviest path through the components of the graph whose nodes are the blocks."""
    edges = {
        (block[u], t, block[v]) for u, t, v in zip(graph.source, graph.transition, graph.target, strict=True)
    }
    reach = {b: {b} for b in block}
    changed = True
    while changed:
        changed = False
        for u, _, v in edges:
            changed |= not reach[v] <= reach[u]
            reach[u] |= reach[v]
    component = {b: frozenset(c for c in reach[b] if b in reach[c]) for b in reach}

    @cache
    def heaviest(here: frozenset[Block]) -> Fraction:
        inner = [e for e in edges if e[0] in here and e[2] in here]
        leaving = [e for e in edges if e[0] in here and e[2] not in here]
        inside = sum((cost(example, example.transitions[t], cyclic=True) for _, t, _ in inner), Fraction(0))
        onward = [
            cost(example, example.transitions[t], False) + heaviest(component[v]) for _, t, v in leaving
        ]
        return inside + max(onward, default=Fraction(0))

    return heaviest(component[block[0]])


def naive_blocks(graph: Augmentation) -> list[Block]:
    """Refine the partition by control states, all nodes at a time, until nothing splits."""
    block: list[Block] = list(graph.state)
    while True:
        signature = [
            (block[v], frozenset((graph.transition[e], block[graph.target[e]]) for e in graph.outgoing[v]))
            for v in range(graph.nodes)
        ]
        number = {s: i for i, s in enumerate(dict.fromkeys(signature))}
        if len(number) == len(set(block)):
            return block
        block = [number[s] for s in signature]


@cache
def sample(i: int) -> Automaton:
    return source.random_automaton(random.Random(f"weight/{i}"), (1, 2, 3, 4))


@cache
def explicit(i: int) -> Augmentation:
    return augment(control_graph(sample(i)))


def test_the_quotient_is_the_coarsest_stable_partition():
    seen: Counter[bool] = Counter()
    for i in range(200):
        graph = explicit(i)
        quotient = bisimulation_quotient(graph)
        naive = naive_blocks(graph)
        pairs = set(zip(quotient.block, naive, strict=True))
        assert len(pairs) == len(set(naive)) == quotient.blocks
        assert set(quotient.block) == set(range(quotient.blocks))
        assert set(quotient.edges) == {
            (quotient.block[u], t, quotient.block[v])
            for u, t, v in zip(graph.source, graph.transition, graph.target, strict=True)
        }
        assert len(set(quotient.edges)) == len(quotient.edges)
        seen[quotient.blocks < graph.nodes] += 1
    assert min(seen.values()) > 20, seen


def test_components_of_the_quotient_come_in_topological_order():
    for i in range(50):
        quotient = bisimulation_quotient(explicit(i))
        assert all(quotient.component[u] >= quotient.component[v] for u, _, v in quotient.edges)


def test_the_bound_is_the_naive_one():
    """Also for automata that are not well-formed, where it means nothing."""
    values, formed = set(), 0
    for i in range(200):
        graph = explicit(i)
        assert corollary_bound(graph) == naive_bound(sample(i), graph, naive_blocks(graph))
        values.add(corollary_bound(graph))
        formed += well_formed(sample(i))
    assert len(values) > 50 and formed > 20


def test_without_the_quotient_one_range_would_cost_more():
    """The order of the two thresholds becomes known in the loop: twice the exits, on one path."""
    example = generate("m-range", 1)
    graph = augment(control_graph(example))
    assert naive_bound(example, graph, range(graph.nodes)) == Fraction(3, 2)
    assert naive_bound(example, graph, naive_blocks(graph)) == corollary_bound(graph) == 1


def test_the_quotient_never_makes_the_bound_worse():
    better = 0
    for i in range(200):
        graph = explicit(i)
        raw = naive_bound(sample(i), graph, range(graph.nodes))
        assert corollary_bound(graph) <= raw
        better += corollary_bound(graph) < raw
    assert better > 10


# What depends on the scales only


def test_the_bound_is_linear_in_the_scales():
    rng = random.Random("scales")
    for i in range(40):
        example = sample(i)
        factor = Fraction(rng.randrange(1, 9), rng.randrange(1, 9))
        scaled = replace(
            example,
            states=tuple(
                replace(s, d=s.d and s.d * factor, d_prime=s.d_prime and s.d_prime * factor)
                for s in example.states
            ),
        )
        assert bound(scaled) == factor * bound(example)


def test_the_bound_does_not_depend_on_means_and_names():
    rng = random.Random("means")
    for i in range(40):
        example = sample(i)
        states = (replace(s, mu=Fraction(rng.randrange(9)), name=s.name + "!") for s in example.states)
        steps = (replace(t, source=t.source + "!", target=t.target + "!") for t in example.transitions)
        moved = Automaton(tuple(states), example.initial + "!", tuple(steps), example.variables)
        assert bound(moved) == bound(example)


# How results carry it


def test_only_private_automata_have_a_weight():
    for i in range(60):
        example = sample(i)
        result = analysis.check(example, engine="explicit")
        assert (result.bounds is not None) == (result.verdict is Verdict.PRIVATE)
        if result.bounds is not None:
            run = result.bounds.run
            assert result.bounds.corollary == bound(example)
            assert result.bounds.best == (
                result.bounds.corollary if run is None else min(run, bound(example))
            )


def test_the_source_of_the_weight_is_told():
    example = example_file("svt")
    found = analysis.check(example, engine="explicit").bounds
    assert found.from_above == {"corollary": Fraction(5, 4), "run": Fraction(5, 4)}
    assert found.source is Source.AUGMENTATION
    for engine in ("z3", "both"):
        weight = analysis.check(example, engine=engine).bounds
        assert weight is not None and weight.corollary == Fraction(5, 4)
    weight = analysis.check(example, engine="z3").bounds
    assert weight is not None and weight.source is Source.FALLBACK


def test_a_weight_that_takes_too_long_is_left_to_alignment(monkeypatch: pytest.MonkeyPatch):
    def never(*_: object, **__: object) -> Fraction:
        raise OutOfTime("256 order states")

    monkeypatch.setattr("symdipa.bounds.corollary.corollary_bound", never)
    result = analysis.check(example_file("svt"), engine="z3")
    assert result.verdict is Verdict.PRIVATE
    assert (result.bounds.from_above, result.bounds.source) == (
        {"alignment": Fraction(5, 4)},
        Source.ALIGNMENT,
    )


def test_alignment_in_place_of_the_weight_has_its_time_once(monkeypatch: pytest.MonkeyPatch):
    deadlines = []

    def late(*_: object, limits: Limits = UNLIMITED, **__: object) -> Alignment:
        deadlines.append(limits.deadline)
        raise OutOfTime("a linear program")

    def never(*_: object, **__: object) -> Fraction:
        raise OutOfTime("256 order states")

    monkeypatch.setattr("symdipa.bounds.corollary.corollary_bound", never)
    monkeypatch.setattr("symdipa.bounds.alignment.align", late)
    result = analysis.check(example_file("svt"), engine="z3")
    assert result.verdict is Verdict.PRIVATE and result.bounds is None
    first, second = deadlines  # on the control graph, on any
    assert first is not None and first == second


def test_the_best_of_several_bounds_is_the_smallest():
    half, third = Fraction(1, 2), Fraction(1, 3)
    assert Bounds().best is None
    assert Bounds({"corollary": half}).best == half
    assert Bounds({"corollary": half, "run": third}).best == third
    assert Bounds({"corollary": half, "run": third, "alignment": Fraction(0)}).best == 0
