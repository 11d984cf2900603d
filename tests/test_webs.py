"""Def-use webs: what splitting promises, on random automata that use their variables again and again."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache, reduce
from itertools import pairwise
from operator import or_

import brute_force as judge
import pytest
import random_automata as source
from test_brute_force import automaton
from test_slicing import WAYS, said, truth

from symdipa.engines.explicit import ExplicitEngine
from symdipa.engines.sliced import SlicedEngine
from symdipa.engines.symbolic import SymbolicEngine
from symdipa.model.automaton import Automaton, State, Transition, variables_of
from symdipa.model.errors import InvalidInput
from symdipa.model.patterns import Pattern
from symdipa.model.validation import validate
from symdipa.model.verdict import Status
from symdipa.runs.augmentation import augment
from symdipa.runs.control import Control, control_graph, slicing
from symdipa.runs.control.slicing import Split, cut, separate, split, variable_components
from symdipa.runs.order import Mask, OrderState, members
from symdipa.runs.problem import Problem
from symdipa.runs.properties import strongly_feasible
from symdipa.runs.witness import dependency_graph, is_non_leaking, replay

LC, LP, DC, PV = Pattern


def in_sequence(rng: random.Random, parts: list[Automaton]) -> Automaton:
    """The parts in a row on *the same variables*: where one ends, or sometimes before, the next begins.

    It begins at its initial state, so that everything is stored anew, or at any other where that is valid,
    so that it reads what the part before it has stored.
    """
    parts = [_renamed(part, i) for i, part in enumerate(parts)]
    transitions: list[Transition] = []
    links: list[tuple[int, Automaton]] = []
    for part, following in pairwise(parts):
        ends = {s.name for s in part.states} - {t.source for t in part.transitions}
        for t in part.transitions:
            if t.target in ends or rng.random() < 0.1:
                links.append((len(transitions), following))
                t = replace(t, target=following.initial)
            transitions.append(t)
    transitions += parts[-1].transitions
    for k, following in links:
        if rng.random() < 0.4:
            entry = rng.choice(following.states).name
            changed = [*transitions[:k], replace(transitions[k], target=entry), *transitions[k + 1 :]]
            transitions = changed if _is_valid(_assembled(parts, changed)) else transitions
    return _assembled(parts, transitions)


def _is_valid(automaton: Automaton) -> bool:
    try:
        validate(automaton)
    except InvalidInput:
        return False
    return True


def _assembled(parts: list[Automaton], transitions: list[Transition]) -> Automaton:
    """The part of these transitions that is reachable from the initial state of the first part."""
    reached = [parts[0].initial]
    for q in reached:
        reached += sorted({t.target for t in transitions if t.source == q} - set(reached))
    kept = tuple(t for t in transitions if t.source in reached)
    sources = {t.source for t in kept}
    states = tuple(
        s if s.name in sources else State(s.name) for part in parts for s in part.states if s.name in reached
    )
    return Automaton(states, parts[0].initial, kept, variables_of(kept))


def _renamed(part: Automaton, i: int) -> Automaton:
    """The automaton with other names for its states."""
    return Automaton(
        tuple(replace(s, name=f"{s.name}_{i}") for s in part.states),
        f"{part.initial}_{i}",
        tuple(replace(t, source=f"{t.source}_{i}", target=f"{t.target}_{i}") for t in part.transitions),
        part.variables,
    )


@cache
def sequence(i: int) -> Automaton:
    rng = random.Random(f"webs/{i}")
    parts = [source.random_automaton(rng, (1, 2, 2), (1, 2, 3)) for _ in range(rng.choice((2, 2, 3)))]
    found = in_sequence(rng, parts)
    validate(found)
    return found


def mixed(i: int) -> Automaton:
    """Every third automaton is one as the other tests have it, of a prefix and loops that assign."""
    return source.random_automaton(random.Random(f"webs/{i}")) if i % 3 == 0 else sequence(i)


def walks(control: Control, rng: random.Random, count: int, length: int) -> Iterator[list[int]]:
    """Paths of the control graph from the initial state, feasible or not."""
    for _ in range(count):
        here, path = control.initial, []
        while len(path) < length and control.outgoing[here]:
            path.append(rng.choice(control.outgoing[here]))
            here = control.target[path[-1]]
        yield path


# Webs by definition


def by_definition(example: Automaton) -> set[frozenset[tuple[int, str]]]:
    """The webs that have a use, each as its definitions (transition, variable); found one path at a time."""
    reached = [example.initial]
    for q in reached:
        reached += sorted({t.target for t in example.transitions if t.source == q} - set(reached))
    users: dict[tuple[int, str], set[tuple[int, str]]] = {}
    for k, t in enumerate(example.transitions):
        for x in t.assign if t.source in reached else ():
            seen, todo = {t.target}, [t.target]
            while todo:
                for j in example.outgoing[example.index[todo.pop()]]:
                    u = example.transitions[j]
                    if x in u.guard.used:
                        users.setdefault((j, x), set()).add((k, x))
                    if x not in u.assign and u.target not in seen:
                        seen.add(u.target)
                        todo.append(u.target)
    webs: set[frozenset[tuple[int, str]]] = set()
    for definitions in users.values():
        joined = {web for web in webs if web & definitions}
        webs = (webs - joined) | {frozenset(definitions).union(*joined)}
    return webs


def test_webs_are_the_classes_of_definitions_that_share_a_use():
    parts: Counter[int] = Counter()
    dead = 0
    for i in range(300):
        example = mixed(i)
        parted = split(control_graph(example))
        found: dict[int, set[tuple[int, str]]] = {}
        for k, step in enumerate(parted.control.steps):
            for w in members(step.asg):
                found.setdefault(w, set()).add((k, example.variables[parted.variable[w]]))
        assert set(map(frozenset, found.values())) == by_definition(example)
        assert set(found) == set(range(parted.control.variables))
        dead += sum(map(len, found.values())) < sum(len(t.assign) for t in example.transitions)
        parts[max(Counter(parted.variable).values(), default=0)] += 1
    assert parts[1] > 50 and parts[2] > 50 and parts[3] > 10 and dead > 50, (parts, dead)


def test_a_split_changes_nothing_but_variables():
    for i in range(100):
        control = control_graph(mixed(i))
        for parted in (split(control), separate(control)):
            new = parted.control
            names = set(new.variable_names)
            assert len(names) == new.variables == len(parted.variable)
            for w, x in enumerate(parted.variable):
                alone = parted.variable.count(x) == 1
                assert (new.variable_names[w] == control.variable_names[x]) == alone
                assert new.variable_names[w].startswith(control.variable_names[x])
            for k, step in enumerate(new.steps):
                old = control.steps[k]
                assert merged(parted, step.ge) == old.ge and merged(parted, step.lt) == old.lt
                assert not merged(parted, step.asg) & ~old.asg
            for field in ("source", "target", "outgoing", "initial", "component", "cyclic", "state_names"):
                assert getattr(new, field) == getattr(control, field)


def merged(parted: Split, mask: Mask) -> Mask:
    """What the new variables are parts of; no two of one variable may be in the set."""
    found = [1 << parted.variable[w] for w in members(mask)]
    assert len(found) == len(set(found))
    return sum(found)


def test_names_stay_apart():
    """Also where the automaton has a variable whose name looks like that of a web."""
    rows = "a -> b [o] :x#1 \n b -> c [o] :x \n c -> d [o] >x >x#1 :x \n d -> e [o] >x"
    found = split(control_graph(automaton(rows))).control.variable_names
    assert found == ("x#1", "x#1'", "x#2")


def test_a_use_that_nothing_reaches_disappears():
    """In an unreachable state, which no automaton of a file needs to have."""
    base = automaton("a -> b [o] :x \n b -> c [o] >x")
    lost = automaton("d -> e [o] :x \n e -> d [o] >x").transitions
    states = (*base.states, State("d", d=1), State("e", d=1))
    parted = split(control_graph(Automaton(states, "a", (*base.transitions, *lost), ("x",))))
    assert [step.used for step in parted.control.steps] == [0, 1, 0, 0]
    assert [step.asg for step in parted.control.steps] == [1, 0, 0, 0]


# Runs, cycles, order states


def test_dependency_graphs_are_the_same_for_every_path():
    edges = 0
    for i in range(200):
        control = control_graph(mixed(i))
        for parted in (split(control), separate(control)):
            for path in walks(control, random.Random(i), 15, 20):
                graph = dependency_graph(control, path)
                assert dependency_graph(parted.control, path) == graph
                edges += sum(map(len, graph.over))
    assert edges > 20_000


def test_cycles_leak_by_names_exactly_if_they_leak_by_webs():
    """Every closed path, whether it is feasible, and can be taken again, or not."""
    seen: Counter[bool] = Counter()
    for i in range(200):
        control = control_graph(mixed(i))
        parted = split(control).control
        for path in walks(control, random.Random(i), 10, 14):
            for a in range(len(path)):
                for b in range(a + 1, len(path) + 1):
                    if control.source[path[a]] == control.target[path[b - 1]]:
                        harmless = is_non_leaking(control, path[a:b])
                        assert is_non_leaking(parted, path[a:b]) == harmless
                        seen[harmless] += 1
    assert seen[True] > 1000 and seen[False] > 1000, seen


def test_a_live_variable_has_one_live_web():
    """At every reachable state: so splitting makes no order state larger."""
    for i in range(200):
        control = control_graph(mixed(i))
        for parted in (split(control), separate(control)):
            for old, new in zip(control.live, parted.control.live, strict=True):
                assert merged(parted, new) == old


def renamed(parted: Split, order: OrderState) -> OrderState:
    """An order state of the split as one of the whole."""
    lt, eq = [0] * parted.whole.variables, [0] * parted.whole.variables
    for w, x in enumerate(parted.variable):
        assert not (lt[x] and order.lt[w]) and not (eq[x] and order.eq[w])
        lt[x] |= merged(parted, order.lt[w])
        eq[x] |= merged(parted, order.eq[w])
    return OrderState(tuple(lt), tuple(eq))


def test_the_augmentation_is_the_same_but_for_names():
    nodes = 0
    for i in range(200):
        control = control_graph(mixed(i))
        whole = augment(control)
        for parted in (split(control), separate(control)):
            graph = augment(parted.control)
            for field in ("state", "source", "target", "transition", "outgoing"):
                assert getattr(graph, field) == getattr(whole, field)
            assert tuple(renamed(parted, order) for order in graph.order) == whole.order
        nodes += whole.nodes
    assert nodes > 1500


# The patterns


def answers(engine: ExplicitEngine | SymbolicEngine, example: Automaton) -> set[Pattern]:
    """The patterns that are present; every witness has to be one on the variables of the whole."""
    found = set()
    for pattern in Pattern:
        answer = engine.decide(pattern)
        assert answer.status in (Status.PRESENT, Status.ABSENT)
        if answer.witness is not None:
            replay(control_graph(example), answer.witness)
            w = answer.witness
            assert judge.faults(example, pattern, w.run, w.cycles, w.path) == []
            found.add(pattern)
    return found


@pytest.mark.parametrize("block", range(4))
def test_patterns_are_judged_alike_with_and_without_webs(block: int):
    """By the judge, and by the explicit engine on the whole, on webs, and on what slices are cut from."""
    seen: Counter[tuple[str, bool]] = Counter()
    parts = 0
    for i in range(block * 260, block * 260 + 260):
        example, control = mixed(i), control_graph(mixed(i))
        expected = {pattern for pattern, run in judge.decide(example).items() if run is not None}
        assert answers(ExplicitEngine(Problem(control)), example) == expected
        parted = split(control)
        assert answers(ExplicitEngine(Problem(parted.control)), example) == expected, i
        assert answers(ExplicitEngine(Problem(separate(control).control)), example) == expected, i
        parts += parted.control.variables > len(set(parted.variable))
        seen.update((pattern.short, pattern in expected) for pattern in Pattern)
    assert parts > 80, parts
    assert all(seen[pattern.short, present] > 4 for pattern in Pattern for present in (True, False)), seen


def test_patterns_are_judged_alike_by_symbolic_search_on_webs():
    for i in range(60):
        example = sequence(i)
        control = control_graph(example)
        expected = answers(ExplicitEngine(Problem(control)), example)
        parted = split(control).control
        assert answers(SymbolicEngine(Problem(parted), solver="minisat"), example) == expected, i


@pytest.mark.parametrize("block", range(3))
def test_sequences_are_judged_alike_with_and_without_slices(block: int):
    more = 0
    for i in range(block * 40, block * 40 + 40):
        example = sequence(i)
        expected = truth(example)
        for way in WAYS:
            assert said(example, way) == expected, (i, way)
        control = control_graph(example)
        more += len(variable_components(separate(control).control)) > len(variable_components(control))
    assert more > 10, more


def test_strong_feasibility_is_judged_alike():
    seen: Counter[bool | None] = Counter()
    for i in range(150):
        control = control_graph(mixed(i))
        seen[strongly_feasible(Problem(control))] += 1
        assert strongly_feasible(Problem(split(control).control)) == strongly_feasible(Problem(control))
    assert seen[True] > 20 and seen[False] > 5, seen


# Automata made to break a careless splitter

TRAPS: dict[str, tuple[str, str, int]] = {
    # name: patterns, rows, number of webs
    "used before it is assigned, round the cycle": (
        "LC",
        "p -> a [o] :x \n a -> b [o] >x \n b -> a [o] :x",
        1,
    ),
    "the first of two assignments in the cycle is dead": (
        "LC",
        "p -> a [o] :x \n a -> b [o] >x :x \n b -> a [o] :x",
        1,
    ),
    "the cycle assigns what only another way round uses": (
        "LC",
        "p -> a [o] :x \n a -> b [o] :x \n b -> a [o] >x \n b -> c [n] <x \n c -> a [o]",
        1,
    ),
    "assigned in the cycle, used only after it": (
        "DC",
        "p -> a [o] :x \n a -> b [o] >x :x \n b -> c [insample] \n c -> b [o] :x",
        1,
    ),
    "stored for one purpose before the loop and for another in it": (
        "LC",
        "p -> q [o] :x \n q -> a [o] >x \n a -> b [o] :x \n b -> a [o] >x",
        2,
    ),
    "one way stores anew, the other does not": (
        "LP",
        "p -> a [o] :x \n a -> a [l] <x \n a -> b [m] >x \n b -> c [o] >x \n b -> d [n] <x :x"
        "\n c -> e [o] \n d -> e [o] \n e -> e [r] >x",
        1,
    ),
    "one way stores anew, and only there is a chain": (
        "LP",
        "p -> q [o] :x \n q -> a [o] :y \n a -> a [l] <y >x \n a -> e [n] <y <x \n a -> b [m] >y :x"
        "\n b -> e [o] >x \n b -> e [n] <x \n e -> e [r] >x",
        2,
    ),
    "every way stores anew": (
        "",
        "p -> a [o] :x \n a -> a [l] <x \n a -> b [m] >x \n b -> c [o] >x \n b -> d [n] <x"
        "\n c -> e [o] :x \n d -> e [o] :x \n e -> e [r] >x",
        2,
    ),
    "stored anew behind a step without a guard": (
        "",
        "p -> a [o] :x \n a -> a [l] <x \n a -> b [m] >x \n b -> e [o] :x \n e -> e [r] >x",
        2,
    ),
    "what was stored before comes along through another variable": (
        "LP",
        "p -> a [o] :x \n a -> a [l] <x \n a -> b [m] >x :y \n b -> c [o] :x \n c -> e [o] >y :x"
        "\n e -> e [r] >x",
        3,
    ),
    "two purposes meet at a use": (
        "LP",
        "p -> a [o] :x \n a -> b [k] <x \n a -> c [m] >x :x \n b -> c [o] \n c -> c [l] <x \n c -> d [m] >x"
        "\n d -> d [r] >x",
        1,
    ),
    "an output that is stored twice": (
        "PV",
        "p -> a [o] :x \n a -> b [insample] >x :x \n b -> b [l] >x \n b -> c [m] <x :x \n c -> d [r] <x",
        3,
    ),
    "a cycle that cannot be taken again": (
        "",
        "p -> q [o] :y \n q -> a [o] :x \n a -> b [o] >x <y \n b -> a [o] >y :x",
        2,
    ),
}


@pytest.mark.parametrize("name", TRAPS)
def test_traps(name: str):
    expected, rows, number = TRAPS[name]
    example = automaton(rows)
    control = control_graph(example)
    assert truth(example) == expected
    assert [said(example, way) for way in WAYS] == [expected] * len(WAYS)
    found = split(control)
    assert {p.short for p in answers(ExplicitEngine(Problem(found.control)), example)} == set(
        expected.split()
    )
    assert len(by_definition(example)) == found.control.variables == number


def single(sets: Iterable[Mask]) -> list[Mask]:
    """Careless: each definition has a variable of its own, which uses read of the first that reaches them."""
    return [1 << d for d in members(reduce(or_, sets, 0))]


def forward(control: Control, start: Mask, after: Callable[[int, Mask], Mask], join: object) -> list[Mask]:
    """Careless: what reaches a state by a way round is forgotten."""
    found = {control.initial: start}
    order = [control.initial]
    for place, q in enumerate(order):
        for t in control.outgoing[q]:
            p = control.target[t]
            if p not in found:
                order.append(p)
            if p not in order[: place + 1]:
                found[p] = found.get(p, 0) | after(t, found[q])
    return [found.get(q, 0) for q in range(control.states)]


@pytest.mark.parametrize(
    ("careless", "name"),
    [
        (single, "used before it is assigned, round the cycle"),
        (single, "the first of two assignments in the cycle is dead"),
        (single, "one way stores anew, and only there is a chain"),
        (forward, "used before it is assigned, round the cycle"),
        (forward, "the first of two assignments in the cycle is dead"),
        (forward, "a cycle that cannot be taken again"),
    ],
)
def test_the_traps_are_traps(monkeypatch: pytest.MonkeyPatch, careless: Callable[..., object], name: str):
    monkeypatch.setattr(slicing, "united" if careless is single else "fixed_point", careless)
    expected, rows, _ = TRAPS[name]
    engine = ExplicitEngine(Problem(split(control_graph(automaton(rows))).control))
    found = {p.short for p in Pattern if engine.decide(p).status is Status.PRESENT}
    assert found != set(expected.split())


# Slices of webs


def phases(n: int) -> Automaton:
    """``n`` phases store two inputs, one on either side of a scratch threshold ``x``; ``n`` loops read them.

    Which of ``l`` and ``r`` is the upper one is open in each phase, so there are more than ``2^n`` order
    states. The phases have nothing in common but the scratch variable. Well-formed.
    """
    rows = []
    for i in range(n):
        rows += [
            f"a{i} -> b{i} [o] :x",
            f"b{i} -> c{i} [o] >x :l{i}",
            f"b{i} -> d{i} [p] <x :l{i}",
            f"c{i} -> a{i + 1} [o] <x :r{i}",
            f"d{i} -> a{i + 1} [o] >x :r{i}",
        ]
    for i in range(n):
        here, after = f"a{n + i}", f"a{n + i + 1}"
        rows += [
            f"{here} -> {here} [o] >l{i} <r{i}",
            f"{here} -> {here} [p] >r{i} <l{i}",
            f"{here} -> {after} [q] <l{i} <r{i}",
        ]
    return automaton("\n".join(rows))


def test_a_scratch_variable_does_not_keep_phases_together():
    for n in (2, 5, 8):
        control = control_graph(phases(n))
        assert variable_components(control) == [(1 << control.variables) - 1]
        separated = separate(control).control
        found = variable_components(separated)
        assert [len(list(members(c))) for c in found] == [3] * n
        sizes = [augment(cut(separated, c).control).nodes for c in found]
        assert len(set(sizes)) == 1 and sizes[0] < 20
        whole = augment(control).nodes
        assert whole > 2**n


def test_the_sliced_engine_splits_first():
    asked: list[frozenset[str]] = []

    def make(part: Problem) -> ExplicitEngine:
        asked.append(frozenset(part.control.variable_names))
        return ExplicitEngine(part)

    control = control_graph(phases(3))
    engine = SlicedEngine(Problem(control), make)
    assert {engine.decide(pattern).status for pattern in Pattern} == {Status.ABSENT}
    assert asked[0] == frozenset(control.variable_names)
    assert set(asked[1:]) == {frozenset({f"x#{i + 1}", f"l{i}", f"r{i}"}) for i in range(3)}


def test_webs_of_one_component_share_a_variable():
    rows = "p -> a [o] :x \n a -> b [o] >x :y \n b -> c [o] :x \n c -> d [o] >x >y"
    control = control_graph(automaton(rows))
    assert split(control).control.variable_names == ("x#1", "x#2", "y")
    assert separate(control).control.variable_names == ("x", "y")
    rows = "p -> a [o] :x \n a -> b [o] >x :y \n b -> b1 [o] >y \n b1 -> c [o] :x"
    rows += "\n c -> d [o] >x :x \n d -> e [o] >x"
    control = control_graph(automaton(rows))
    assert split(control).control.variable_names == ("x#1", "x#2", "x#3", "y")
    assert separate(control).control.variable_names == ("x#1", "x#2", "y")
