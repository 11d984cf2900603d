"""Slices: what they promise, and automata made to break a careless slicer."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise

import brute_force as judge
import pytest
import random_automata as source
from test_brute_force import automaton, names

from symdipa import analysis
from symdipa.bounds.costs import rates
from symdipa.engines import processes
from symdipa.engines.explicit import ExplicitEngine
from symdipa.engines.sliced import SlicedEngine
from symdipa.model.automaton import INSAMPLE_PRIME, Automaton, State, variables_of
from symdipa.model.patterns import Pattern
from symdipa.model.validation import validate
from symdipa.model.verdict import Status, Witness
from symdipa.runs.control import Control, control_graph
from symdipa.runs.control.slicing import Slice, cut, flatten, transitions_touching, variable_components
from symdipa.runs.graphs import classes, united
from symdipa.runs.order import Mask, initial, members, update
from symdipa.runs.problem import Problem
from symdipa.runs.witness import dependency_graph

LC, LP, DC, PV = Pattern

WAYS = [("auto", None, True), ("auto", None, False), ("z3", "minisat", True), ("z3", "minisat", False)]


@cache
def product(i: int) -> Automaton:
    return source.random_product(random.Random(f"slicing/{i}"))


def pruned(i: int) -> Automaton:
    """A product without some of its ways: what one part does decides where the other can go."""
    rng = random.Random(f"pruned/{i}")
    whole = source.random_product(rng, (1, 2, 2))
    kept = [t for t in whole.transitions if t.assign or rng.random() > 0.3]
    reached = [whole.initial]
    for q in reached:
        reached += sorted({t.target for t in kept if t.source == q} - set(reached))
    kept = [t for t in kept if t.source in reached]
    sources = {t.source for t in kept}
    states = [s if s.name in sources else State(s.name) for s in whole.states if s.name in reached]
    return Automaton(tuple(states), whole.initial, tuple(kept), variables_of(kept))


def mask(control: Control, letters: str) -> Mask:
    return sum(1 << control.variable_names.index(x) for x in letters.split())


def slices(control: Control, rng: random.Random) -> Iterator[Slice]:
    """Those of the components, one of any variables, with and without further transitions."""
    every = (1 << control.variables) - 1
    further = rng.sample(range(len(control.steps)), min(2, len(control.steps)))
    for variables in (0, every, rng.randrange(every + 1), *variable_components(control)):
        yield cut(control, variables)
        yield cut(control, variables, further)


def said(example: Automaton, way: tuple[str, str | None, bool]) -> str:
    """The patterns that are present by one way of asking; every witness is held against the definitions."""
    engine, solver, slicing = way
    result = analysis.check(example, engine=engine, solver=solver, slicing=slicing, relational=False)
    for pattern, answer in result.patterns.items():
        assert answer.status in (Status.PRESENT, Status.ABSENT), answer
        if witness := answer.witness:
            assert judge.faults(example, pattern, witness.run, witness.cycles, witness.path) == []
        assert (answer.witness is not None) == (answer.status is Status.PRESENT)
    return names(p for p, answer in result.patterns.items() if answer.status is Status.PRESENT)


def truth(example: Automaton) -> str:
    return names(pattern for pattern, run in judge.decide(example).items() if run is not None)


# Components


def connected(example: Automaton) -> set[frozenset[str]]:
    """The classes of variables by definition: joined by sharing a transition, any number of times."""
    classes = {frozenset([x]) for x in example.variables}
    for t in example.transitions:
        touched = t.guard.used | t.assign
        joined = {c for c in classes if c & touched}
        if joined:
            classes = (classes - joined) | {frozenset().union(*joined)}
    return classes


def test_sets_are_united_as_their_members_are():
    rng = random.Random(7)
    for _ in range(300):
        size = rng.randrange(1, 90)
        groups = [rng.sample(range(size), rng.randint(1, min(size, 6))) for _ in range(rng.randrange(30))]
        groups += [range(rng.randrange(size), size)] * rng.randrange(3)
        number = classes(size, groups)
        listed = {x for group in groups for x in group}
        expected: dict[int, int] = {}
        for x in sorted(listed):
            expected[number[x]] = expected.get(number[x], 0) | 1 << x
        assert united([0, *(sum(1 << x for x in group) for group in groups)]) == list(expected.values())


def test_components_are_the_classes_of_what_shares_a_transition():
    sizes: Counter[int] = Counter()
    examples = [product(i) for i in range(60)]
    examples += [source.random_automaton(random.Random(f"classes/{i}"), (1, 3, 5)) for i in range(60)]
    for example in examples:
        control = control_graph(example)
        found = variable_components(control)
        named = [frozenset(example.variables[x] for x in members(c)) for c in found]
        assert set(named) == connected(example) and len(named) == len(set(named))
        firsts = [next(members(c)) for c in found]
        assert firsts == sorted(firsts)
        touching = transitions_touching(control, found)
        for variables, class_ in zip(found, named, strict=True):
            assert touching[variables] == [
                k for k, t in enumerate(example.transitions) if class_ & (t.guard.used | t.assign)
            ]
        sizes[len(found)] += 1
    assert sizes[1] > 10 and sizes[2] > 40


def test_edges_of_a_dependency_graph_stay_in_a_component():
    """What the slicer rests on: every edge is one of exactly one component."""
    for i in range(20):
        control = control_graph(product(i))
        parts = variable_components(control)
        for run, _ in judge.feasible_runs(product(i), 12, 60):
            edges = {(a, b) for a, over in enumerate(dependency_graph(control, run).over) for b in over}
            shared: list[set[tuple[int, int]]] = []
            for variables in parts:
                own = [t for t in run if (control.steps[t].used | control.steps[t].asg) & variables]
                at = [k for k, t in enumerate(run) if t in own]
                part = dependency_graph(control, own)
                shared.append({(at[a], at[b]) for a, over in enumerate(part.over) for b in over})
            assert set().union(*shared) == edges and sum(map(len, shared)) == len(edges)


@pytest.mark.parametrize(
    ("rows", "classes"),
    [
        ("a -> b [o] :x \n b -> c [o] :y \n c -> d [o] >x \n d -> e [o] >y", "x|y"),
        ("a -> b [o] :x,y", "x y"),
        ("a -> b [o] :x \n b -> c [o] >x :y", "x y"),
        ("a -> b [o] :x \n b -> c [o] :y \n c -> d [o] >x <y", "x y"),
        ("a -> b [o] :x \n b -> c [o] :y \n c -> d [o] :z \n d -> e [o] >y >x \n e -> f [o] <y <z", "x y z"),
        ("a -> b [o] :x \n b -> c [o] :y \n c -> d [o] :z \n d -> e [o] >x >z \n e -> f [o] <y", "x z|y"),
    ],
)
def test_what_joins_variables(rows: str, classes: str):
    example = automaton(rows)
    assert connected(example) == {frozenset(c.split()) for c in classes.split("|")}
    found = variable_components(control_graph(example))
    assert {frozenset(example.variables[x] for x in members(c)) for c in found} == connected(example)


# A slice over-approximates


def walk(part: Slice, kept: list[int]) -> list[int]:
    """The run of the slice that takes these transitions of the whole; there must be exactly one."""
    here, run = part.control.initial, []
    for t in kept:
        (u,) = (u for u in part.control.outgoing[here] if part.origin[u] == t)
        run.append(u)
        here = part.control.target[u]
    return run


def is_feasible(control: Control, run: list[int]) -> bool:
    order = initial(control.variables)
    for t in run:
        following = update(order, control.steps[t])
        if following is None:
            return False
        order = following
    return True


def test_feasible_runs_project_to_feasible_runs_of_the_slice():
    runs = shorter = 0
    for i in range(40):
        example, control = product(i), control_graph(product(i))
        for part in slices(control, random.Random(i)):
            for run, _ in judge.feasible_runs(example, 14, 40):
                projected = walk(part, [t for t in run if t in part.kept])
                assert is_feasible(part.control, projected)
                assert dependency_graph(part.control, projected).is_acyclic
                runs += 1
                shorter += len(projected) < len(run)
    assert runs > 10_000 and shorter > runs / 3


def test_cycles_project_to_cycles_with_what_they_use_and_assign():
    """Taken twice, since a cycle of the whole may begin between two kept transitions."""
    cycles = 0
    for i in range(40):
        example, control = product(i), control_graph(product(i))
        for part in slices(control, random.Random(i)):
            for run, _ in judge.feasible_runs(example, 12, 25):
                for a, b in judge.cycles([example.transitions[t] for t in run]):
                    once = [t for t in run[:b] if t in part.kept]
                    round_ = [t for t in run[a:b] if t in part.kept]
                    if not round_:
                        continue
                    projected = walk(part, once + round_)
                    cycle = projected[len(once) :]
                    assert part.control.source[cycle[0]] == part.control.target[cycle[-1]]
                    assert all(part.control.cyclic[u] for u in cycle)
                    cycles += 1
    assert cycles > 1000


def test_transitions_of_a_slice_do_what_those_of_the_whole_do():
    for i in range(40):
        control = control_graph(product(i))
        for part in slices(control, random.Random(i)):
            local = part.control
            assert part.kept >= {
                t
                for t, step in enumerate(control.steps)
                if any(x in part.variable for x in members(step.touched))
            }
            for u, t in enumerate(part.origin):
                assert t in part.kept and part.state[local.target[u]] == control.target[t]
                assert local.sampling[u] == control.sampling[t]
                for ours, theirs in zip(local.steps[u], control.steps[t], strict=True):
                    assert [part.variable[x] for x in members(ours)] == [
                        x for x in members(theirs) if x in part.variable
                    ]


def test_transitions_of_a_slice_keep_their_noise_outputs_and_means():
    """They have other numbers than in the automaton, whose states all differ here."""
    renumbered = 0
    for i in range(40):
        one = Fraction(1)
        states = (
            replace(s, d=one / (k + 2), mu=k * one, d_prime=one / (k + 99), mu_prime=-k * one)
            for k, s in enumerate(product(i).states)
        )
        example = replace(product(i), states=tuple(states))
        control = control_graph(example)
        for part in slices(control, random.Random(i)):
            paid = rates(part.control)
            for u, t in enumerate(part.origin):
                transition, sampling = example.transitions[t], part.control.sampling[u]
                state = example.state(transition.source)
                assert sampling.output == transition.output
                assert (sampling.d, sampling.d_prime) == (state.d, state.d_prime)
                assert (sampling.mu, sampling.mu_prime) == (state.mu, state.mu_prime)
                assert sampling.reads_input == paid[u].moves == state.is_input
                released = state.is_input and transition.output == INSAMPLE_PRIME
                assert paid[u].slopes == (state.d, state.d)
                assert paid[u].release == ((state.d_prime,) * 2 if released else (0, 0))
                renumbered += u != t
    assert renumbered > 1000


# Lifting


def test_what_is_lifted_is_a_run_of_the_whole():
    """From any path of the slice, with a range that is a cycle there, and positions for a chain."""
    cycles = longer = 0
    for i in range(40):
        control = control_graph(product(i))
        rng = random.Random(f"lift/{i}")
        for part in slices(control, rng):
            for _ in range(5):
                path, here = [], part.control.initial
                while len(path) < 12 and part.control.outgoing[here]:
                    path.append(rng.choice(part.control.outgoing[here]))
                    here = part.control.target[path[-1]]
                closed = tuple(
                    (a, b)
                    for a in range(len(path))
                    for b in range(a + 1, len(path) + 1)
                    if part.control.source[path[a]] == part.control.target[path[b - 1]]
                )
                witness = Witness(LP, tuple(path), closed, tuple(range(len(path))))
                lifted = part.lift(witness)
                here = control.initial
                for t in lifted.run:
                    assert control.source[t] == here
                    here = control.target[t]
                assert [lifted.run[k] for k in lifted.path] == [part.origin[u] for u in path]
                assert [k for k, t in enumerate(lifted.run) if t in part.kept] == list(lifted.path)
                for (a, b), (c, d) in zip(closed, lifted.cycles, strict=True):
                    assert control.source[lifted.run[c]] == control.target[lifted.run[d - 1]]
                    inside = [t for t in lifted.run[c:d] if t in part.kept]
                    assert inside == [part.origin[u] for u in path[a:b]]
                cycles += len(closed)
                longer += len(lifted.run) > len(path)
    assert cycles > 1000 and longer > 200


def test_a_violation_of_the_slice_of_everything_is_one_of_the_whole():
    """With no variable left out, what is collapsed touches nothing: lifting must always succeed."""
    lifted = 0
    for i in range(60):
        example, control = product(i), control_graph(product(i))
        real = [t for t, s in enumerate(control.sampling) if s.discloses]
        part = cut(control, (1 << control.variables) - 1, real)
        for pattern in Pattern:
            found = ExplicitEngine(Problem(part.control)).decide(pattern)
            assert (found.witness is None) == (
                ExplicitEngine(Problem(control)).decide(pattern).witness is None
            )
            if found.witness is not None:
                back = part.lift(found.witness)
                assert judge.faults(example, pattern, back.run, back.cycles, back.path) == []
                assert pattern is LC or part.to_blame(back) == 0
                lifted += 1
    assert lifted > 30


def test_a_flat_slice_takes_its_transitions_in_any_order():
    for i in range(20):
        control = control_graph(product(i))
        components = variable_components(control)
        touching = transitions_touching(control, components)
        for variables in components:
            flat = flatten(control, variables, touching[variables])
            part = cut(control, variables)
            place = {t: k for k, t in enumerate(touching[variables])}
            assert set(flat.source) | set(flat.target) <= {0} and flat.live == ((1 << flat.variables) - 1,)
            assert flat.variable_names == part.control.variable_names
            for u, t in enumerate(part.origin):
                k = place[t]
                assert flat.steps[k] == part.control.steps[u]
                assert flat.sampling[k] == control.sampling[t]
                assert flat.cyclic[k] or not part.control.cyclic[u]


# Automata made to break a careless slicer


STORED = "p0 -> p1 [o] :x \n p1 -> p2 [o] :y \n p2 -> p3 [o] :z \n p3 -> p4 [o] :u \n p4 -> a [o] :v \n"
"""Five thresholds of which nothing is known; then control is at ``a``."""

TRAPS: dict[str, tuple[str, str]] = {
    # (a) A chain through a variable that neither of the loops mentions.
    "chain through a third variable": (
        "LP",
        STORED + "a -> a [l] <x \n a -> b [m] >x <y \n b -> c [q] >u <v \n c -> d [n] >y <z"
        "\n d -> d [r] >z \n d -> end [s] <z",
    ),
    "the same the wrong way round": (
        "",
        STORED + "a -> a [l] <x \n a -> b [m] >x >y \n b -> c [q] >u <v \n c -> d [n] <y <z"
        "\n d -> d [r] >z \n d -> end [s] <z",
    ),
    "chain through a third variable, closed after both loops": (
        "LP",
        STORED + "a -> a [l] <x \n a -> d [m] >x \n d -> d [r] >z <v \n d -> b [s] <z <v"
        "\n b -> c [q] >x <y \n c -> end [n] >y <z",
    ),
    "chain through a variable that is overwritten on the way": (
        "LP",
        STORED + "a -> a [l] <x \n a -> b [m] >x :y \n b -> c [q] >u <v \n c -> c1 [n] >y :z"
        "\n c1 -> d [n] :y \n d -> d [r] >z \n d -> end [s] <z >y",
    ),
    "chain through a variable that is overwritten too early": (
        "",
        STORED + "a -> a [l] <x \n a -> b [m] >x :y \n b -> c1 [q] >u <v \n c1 -> c [n] :y"
        "\n c -> d [n] >y :z \n d -> d [r] >z \n d -> end [s] <z >y",
    ),
    "chain from an output through a third variable": (
        "PV",
        STORED + "a -> b [insample] <y >v \n b -> c [q] >u \n c -> d [n] >y <z"
        "\n d -> d [r] >z \n d -> end [s] <z",
    ),
    # (g) A variable that is used again for something else: its webs are in different components.
    "chain through a scratch variable": (
        "LP",
        STORED + "a -> a [l] <x \n a -> b [m] >x :u \n b -> c [q] >u <y \n c -> d0 [n] :u"
        "\n d0 -> d [n] >u <v \n d -> d [r] >y \n d -> end [s] <y",
    ),
    "chain through a scratch variable, used again too early": (
        "",
        STORED + "a -> a [l] <x \n a -> b [m] >x :u \n b -> c0 [q] :u \n c0 -> c [q] >u <y \n c -> d0 [n] :u"
        "\n d0 -> d [n] >u <v \n d -> d [r] >y \n d -> end [s] <y",
    ),
    "the scratch variable's second use forbids the way": (
        "",
        STORED + "a -> a [l] <x \n a -> b [m] >x :u \n b -> c [q] >u <y \n c -> c1 [n] :u"
        "\n c1 -> c2 [n] >u <v \n c2 -> d [n] <u >v \n d -> d [r] >y \n d -> end [s] <y",
    ),
    # (f) Components joined only by an assignment under the other's guard.
    "joined by an assignment under the other's guard": (
        "LP",
        "p0 -> p1 [o] :x \n p1 -> p2 [o] >x :z \n p2 -> p3 [o] :u \n p3 -> a [o] >u"
        "\n a -> a [l] <x \n a -> d [m] >x \n d -> d [r] >z",
    ),
    "joined by an assignment above the other's guard": (
        "",
        "p0 -> p1 [o] :x \n p1 -> p2 [o] <x :z \n p2 -> p3 [o] :u \n p3 -> a [o] >u"
        "\n a -> a [l] <x \n a -> d [m] >x \n d -> d [r] >z",
    ),
    "joined by an assignment in common": (
        "LP",
        "p0 -> p1 [o] :x,z \n p1 -> p2 [o] :u \n p2 -> a [o] >u"
        "\n a -> a [l] <x \n a -> d [m] >x \n d -> d [r] >z",
    ),
    "parted again by an assignment": (
        "",
        "p0 -> p1 [o] :x,z \n p1 -> p2 [o] :u \n p2 -> p3 [o] :z \n p3 -> a [o] >u"
        "\n a -> a [l] <x \n a -> d [m] >x \n d -> d [r] >z",
    ),
    # (b) The connecting path of the slice is infeasible because of another component.
    "short way infeasible, long way feasible": (
        "LP",
        STORED + "a -> e [k] >u <v \n e -> e [l] <x \n e -> f [m] >x <y"
        "\n f -> d [q] >v <u \n f -> g [q2] <v \n g -> h [q] \n h -> d [q]"
        "\n d -> d [r] >y \n d -> end [s] <y",
    ),
    "every way infeasible": (
        "",
        STORED + "a -> e [k] >u <v \n e -> e [l] <x \n e -> f [m] >x <y"
        "\n f -> d [q] >v <u \n f -> g [q2] <v \n g -> h [q] \n h -> d [q] >v <u"
        "\n d -> d [r] >y \n d -> end [s] <y",
    ),
    "two ways, each infeasible after its own past": (
        "",
        STORED + "a -> e [k] >u <v \n a -> e2 [k2] >v <u \n e -> e [l] <x >z \n e -> f [m] >x <y"
        "\n e2 -> f2 [m] >x <y \n f -> d [q] >v <u \n f2 -> d [q] >u <v"
        "\n d -> d [r] >y \n d -> end [s] <y",
    ),
    "two ways, feasible after the past of the longer": (
        "LP",
        STORED + "a -> e [k] >u <v \n a -> e0 [k2] >v <u \n e0 -> e1 [k3] \n e1 -> e [k4]"
        "\n e -> e [l] <x \n e -> f [m] >x <y \n f -> d [q] >v <u \n d -> d [r] >y \n d -> end [s] <y",
    ),
    "infeasible by one component or by another": (
        "",
        "p0 -> p1 [o] :x \n p1 -> p2 [o] :y \n p2 -> p3 [o] :u \n p3 -> p4 [o] :v \n p4 -> p5 [o] :w"
        "\n p5 -> a [o] :t \n a -> a1 [k] >u <v \n a1 -> e [k] >w <t \n e -> e [l] <x \n e -> f [m] >x <y"
        "\n f -> d [q] >v <u \n f -> g [q2] <v \n g -> d [q] >t <w"
        "\n d -> d [r] >y \n d -> end [s] <y",
    ),
    "infeasible by one component or by another, but for the longest way": (
        "LP",
        "p0 -> p1 [o] :x \n p1 -> p2 [o] :y \n p2 -> p3 [o] :u \n p3 -> p4 [o] :v \n p4 -> p5 [o] :w"
        "\n p5 -> a [o] :t \n a -> a1 [k] >u <v \n a1 -> e [k] >w <t \n e -> e [l] <x \n e -> f [m] >x <y"
        "\n f -> d [q] >v <u \n f -> g [q2] <v \n g -> d [q] >t <w \n g -> h [q2] <t \n h -> h1 [q]"
        "\n h1 -> d [q] \n d -> d [r] >y \n d -> end [s] <y",
    ),
    "the same guard twice, stored anew in between on the long way": (
        "LP",
        STORED + "a -> e [k] >u <v \n e -> e [l] <x \n e -> f [m] >x <y"
        "\n f -> g [q] <z \n f -> h [q2] >z \n g -> d [q] >v <u \n h -> i [q] :u \n i -> d [q] >v <u"
        "\n d -> d [r] >y \n d -> end [s] <y",
    ),
    "after the loops it cannot go on to close the chain": (
        "",
        STORED + "a -> e [k] >u <v \n e -> e [l] >x \n e -> f [m] <x \n f -> f [n] <y \n f -> g [n2] >y"
        "\n g -> h [q] >v <u \n h -> end [r] <x >y",
    ),
    "an output behind what another component forbids": (
        "",
        STORED + "a -> e [k] >u <v \n e -> e [l] >x \n e -> f [m] <x \n f -> g [q] >v <u"
        "\n g -> end [insample] <x",
    ),
    "an output behind a longer way": (
        "PV",
        STORED + "a -> e [k] >u <v \n e -> e [l] >x \n e -> f [m] <x \n f -> g [q] >v <u"
        "\n f -> h [q2] <v \n h -> g [q] >u \n g -> end [insample] <x",
    ),
    # (c) Non-leaking in the slice; in the whole another component leaks on the way round.
    "the way round leaks": (
        "LC",
        STORED + "a -> b [l] <x \n b -> c [q] >u \n c -> a [q] :u"
        "\n a -> f [m] >x <y \n f -> d [n] >z <v \n d -> d [r] >y",
    ),
    "a longer way round does not leak": (
        "LC LP",
        STORED + "a -> b [l] <x \n b -> c [q] >u \n c -> a [q] :u \n b -> c1 [q2] <u \n c1 -> c2 [q]"
        "\n c2 -> c3 [q] \n c3 -> a [q] \n a -> f [m] >x <y \n f -> d [n] >z <v \n d -> d [r] >y",
    ),
    "the way round leaks, but not for ever": (
        "",
        STORED + "a -> b [l] <x \n b -> c [q] >u <v \n c -> a [q] >v :u"
        "\n a -> f [m] >x <y \n f -> d [n] >z \n d -> d [r] >y",
    ),
    "both loops leak on their short ways": (
        "LC LP",
        STORED + "a -> b [l] <x \n b -> a [q] >u :u \n b -> c1 [q2] <u \n c1 -> a [q]"
        "\n a -> f [m] >x <y \n f -> d [n] >z \n d -> g [r] >y \n g -> d [q] >v :v \n g -> h [q2] <v"
        "\n h -> d [q]",
    ),
    "a disclosing cycle leaks on its way round": (
        "LC",
        STORED + "a -> b [insample'] >x \n b -> c [q] >u \n c -> a [q] :u \n a -> d [m] <x <y",
    ),
    "a disclosing cycle with a way round that does not leak": (
        "DC LC",
        STORED + "a -> b [insample'] >x \n b -> c [q] >u \n c -> a [q] :u \n a -> d [m] <x <y"
        "\n b -> c1 [q2] <u \n c1 -> c2 [q] \n c2 -> a [q] >z",
    ),
    # (d) A leaking cycle that the other component lets pass twice.
    "leaking cycle that can be taken twice": (
        "",
        STORED + "a -> a1 [l] >u :u \n a1 -> b [q] >x <y \n b -> c [q] >z :x \n c -> a [q] >y :z",
    ),
    "leaking cycle with a way round for ever": (
        "LC",
        STORED + "a -> a1 [l] >u :u \n a1 -> b [q] >x <y \n b -> c [q] >z :x \n c -> a [q] >y :z"
        "\n a1 -> e1 [q2] <x \n e1 -> e2 [q] \n e2 -> e3 [q] \n e3 -> e4 [q] \n e4 -> a [q]",
    ),
    "leaking cycle that can be taken once": (
        "",
        STORED + "a -> a1 [l] >u :u \n a1 -> b [q] >x <y \n b -> a [q] >y <z :x",
    ),
    "two leaking cycles that exclude each other": (
        "",
        STORED + "a -> a1 [l] >u :u \n a1 -> b [q] >x <y \n b -> a [q] >y :x",
    ),
    # (e) A disclosing cycle that the guards of others forbid.
    "disclosing cycle that others forbid": (
        "",
        STORED + "a -> b [k] >u <v \n b -> c [insample] \n c -> b [q] >v <u \n c -> d [q2] <v >x",
    ),
    "disclosing cycle that others forbid the short way": (
        "DC",
        STORED + "a -> b [k] >u <v \n b -> c [insample] \n c -> b [q] >v <u"
        "\n c -> d [q2] <v >x \n d -> e [q] \n e -> b [q]",
    ),
    "disclosing cycle that cannot be reached": (
        "",
        STORED + "a -> b [k] >u <v \n b -> c [q] >v <u \n c -> c [insample] >x",
    ),
    "disclosing cycle that is reached the long way": (
        "DC",
        STORED + "a -> b [k] >u <v \n b -> c [q] >v <u \n b -> d [q2] <v \n d -> c [q] >y"
        "\n c -> c [insample] >x",
    ),
    "disclosing cycle through two components that clash": (
        "",
        STORED + "a -> b [k] >u <v \n a -> b2 [k2] >v <u >x <y \n b -> c [insample] \n c -> b [q] >v <u"
        "\n b2 -> c2 [insample] \n c2 -> b2 [q] >y <x",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TRAPS)
def test_traps(name: str):
    expected, rows = TRAPS[name]
    example = automaton(rows)
    validate(example)
    assert len(connected(example)) > 1
    assert truth(example) == expected
    assert [said(example, way) for way in WAYS] == [expected] * len(WAYS)


def present(control: Control, letters: str, pattern: Pattern) -> bool:
    """Whether the slice for some variables shows a pattern."""
    real = [t for t, s in enumerate(control.sampling) if s.discloses]
    part = cut(control, mask(control, letters), real if pattern is DC else ())
    return ExplicitEngine(Problem(part.control)).decide(pattern).status is Status.PRESENT


@pytest.mark.parametrize(
    ("name", "letters", "pattern"),
    [
        ("every way infeasible", "x y", LP),
        ("two ways, each infeasible after its own past", "x y z", LP),
        ("infeasible by one component or by another", "x y", LP),
        ("infeasible by one component or by another", "x y u v", LP),
        ("infeasible by one component or by another", "x y w t", LP),
        ("after the loops it cannot go on to close the chain", "x y", LP),
        ("an output behind what another component forbids", "x", PV),
        ("the way round leaks", "x y", LP),
        ("a disclosing cycle leaks on its way round", "x y", DC),
        ("leaking cycle that can be taken twice", "u", LC),
        ("leaking cycle that can be taken once", "u", LC),
        ("two leaking cycles that exclude each other", "u", LC),
        ("disclosing cycle that others forbid", "", DC),
        ("disclosing cycle that cannot be reached", "", DC),
        ("disclosing cycle that cannot be reached", "x y", DC),
    ],
)
def test_the_traps_are_traps(name: str, letters: str, pattern: Pattern):
    """The slice shows what the whole does not."""
    expected, rows = TRAPS[name]
    assert pattern.short not in expected.split()
    assert present(control_graph(automaton(rows)), letters, pattern)


@pytest.mark.parametrize(
    ("name", "letters", "pattern"),
    [
        ("chain through a third variable", "x z", LP),
        ("chain through a third variable, closed after both loops", "x z", LP),
        ("chain through a variable that is overwritten on the way", "x z", LP),
        ("chain from an output through a third variable", "z", PV),
        ("joined by an assignment under the other's guard", "x", LP),
        ("joined by an assignment in common", "z", LP),
    ],
)
def test_less_than_a_component_is_too_little(name: str, letters: str, pattern: Pattern):
    """A slice for the variables of the two loops alone loses the violation; the component keeps it."""
    expected, rows = TRAPS[name]
    control = control_graph(automaton(rows))
    assert pattern.short in expected.split()
    assert not present(control, letters, pattern)
    first = mask(control, letters.split()[0])
    (component,) = (c for c in variable_components(control) if c & first)
    assert present(control, " ".join(control.variable_names[x] for x in members(component)), pattern)


def test_spurious_violations_grow_the_slice_by_what_is_to_blame():
    """Component by component, and no further than needed."""
    control = control_graph(automaton(TRAPS["infeasible by one component or by another"][1]))
    asked: list[frozenset[str]] = []

    def make(part: Problem) -> ExplicitEngine:
        if part.control is not control:
            asked.append(frozenset(part.control.variable_names))
        return ExplicitEngine(part)

    result = SlicedEngine(Problem(control), make).decide(LP)
    assert result.status is Status.ABSENT
    assert asked[0] == {"x", "y"}
    assert len(asked) == 3 and all(a < b for a, b in pairwise(asked))
    assert asked[1] in ({"x", "y", "u", "v"}, {"x", "y", "w", "t"})


def test_what_has_no_part_in_it_stays_out_of_the_slice():
    rows = "n0 -> n1 [o] :c \n n1 -> p0 [o] >c \n" + TRAPS["every way infeasible"][1]
    control = control_graph(automaton(rows))
    asked: list[frozenset[str]] = []

    def make(part: Problem) -> ExplicitEngine:
        asked.append(frozenset(part.control.variable_names))
        return ExplicitEngine(part)

    assert SlicedEngine(Problem(control), make).decide(LP).status is Status.ABSENT
    assert asked == [frozenset("xyzuvc"), frozenset("xy"), frozenset("xyuv")]


# Random products


@pytest.mark.parametrize("block", range(4))
def test_products_are_judged_alike_with_and_without_slices(block: int):
    seen: Counter[tuple[str, bool]] = Counter()
    for i in range(block * 30, block * 30 + 30):
        example = product(i)
        expected = truth(example)
        for way in WAYS:
            assert said(example, way) == expected, (i, way)
        seen.update((pattern.short, pattern.short in expected.split()) for pattern in Pattern)
    assert seen["LC", True] > 4 and seen["PV", True] > 1, seen
    assert all(seen[pattern.short, False] > 4 for pattern in Pattern)


def test_spurious_violations_of_products_are_seen_through(monkeypatch: pytest.MonkeyPatch):
    """Where ways are missing a slice is often too generous; what it then says is not repeated."""
    spurious: Counter[Pattern] = Counter()
    original = Slice.to_blame

    def to_blame(self: Slice, witness: Witness) -> Mask:
        spurious[witness.pattern] += 1
        blamed = original(self, witness)
        assert blamed == 0 or blamed & ~sum(1 << x for x in self.variable) or witness.pattern is LC
        return blamed

    monkeypatch.setattr(Slice, "to_blame", to_blame)
    monkeypatch.setattr(processes, "AVAILABLE", False)  # what a worker counts would be lost
    for i in range(180):
        example = pruned(i)
        validate(example)
        expected = truth(example)
        for way in WAYS:
            if way[2]:
                assert said(example, way) == expected, (i, way)
    assert spurious.total() > 20 and len(spurious) > 2, spurious


@pytest.mark.parametrize("encoding", ["marks", "ghost"])
def test_products_with_another_encoding(encoding: str):
    for i in range(20):
        result = analysis.check(
            product(i), engine="z3", solver="glucose", encoding=encoding, relational=False
        )
        assert names(p for p, a in result.patterns.items() if a.status is Status.PRESENT) == truth(product(i))
