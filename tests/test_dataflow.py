"""Components, liveness, may and must facts against everything that the explicit augmentation reaches.

(Variable components are in ``test_slicing.py``, webs in ``test_webs.py``.)
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import brute_force as judge
import pytest
import random_automata as source

from symdipa.encodings.catalogue import ENCODINGS, systems
from symdipa.engines.explicit import ExplicitEngine
from symdipa.files.families import generate
from symdipa.model.automaton import Automaton
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Status
from symdipa.runs import dataflow
from symdipa.runs.augmentation import Augmentation, augment
from symdipa.runs.control import Control, control_graph, cycles
from symdipa.runs.control.chains import PLAIN, Chain
from symdipa.runs.control.cycles import repeatable
from symdipa.runs.dataflow import OrderFacts, mark_facts, order_facts
from symdipa.runs.marks import Marks, advance
from symdipa.runs.order import OrderState, Step, initial, update
from symdipa.runs.problem import Problem

COUNT = 150


@cache
def sample(i: int) -> Automaton:
    return source.random_automaton(random.Random(f"dataflow/{i}"), (1, 2, 3, 4))


def explicit(i: int) -> Augmentation:
    return augment(control_graph(sample(i)))


def within(a: OrderState, b: OrderState) -> bool:
    return all(not x & ~y for x, y in zip((*a.lt, *a.eq), (*b.lt, *b.eq), strict=True))


@pytest.mark.parametrize("precise", [True, False])
def test_may_and_must_enclose_every_reachable_order_state(precise: bool):
    musts = 0
    for i in range(COUNT):
        graph = explicit(i)
        facts = order_facts(graph.control, precise=precise)
        for q, order in zip(graph.state, graph.order, strict=True):
            may, must = facts.may[q], facts.must[q]
            assert may is not None and must is not None
            assert within(order, may) and within(must, order)
            musts += any(must.lt)
    assert (musts > 50) == precise


# Liveness and components


def test_live_are_the_variables_read_before_they_are_assigned_again():
    """Written once more as a search forward from each state."""
    for i in range(COUNT):
        example = sample(i)
        for q, live in zip(example.states, explicit(i).control.live, strict=True):
            for place, x in enumerate(example.variables):
                seen, todo, read = {q.name}, [q.name], False
                while todo:
                    here = todo.pop()
                    for t in (t for t in example.transitions if t.source == here):
                        read |= x in t.guard.used
                        if x not in t.assign and t.target not in seen:
                            seen.add(t.target)
                            todo.append(t.target)
                assert bool(live >> place & 1) == read


def test_dropping_dead_variables_changes_no_answer():
    """By the explicit engine, with and without liveness, and by the judge."""
    seen: Counter[tuple[Pattern, bool]] = Counter()
    smaller = 0
    for i in range(COUNT):
        control = explicit(i).control
        every = (1 << control.variables) - 1
        keeping = replace(control, live=(every,) * control.states)
        runs = judge.decide(sample(i))
        for pattern in Pattern:
            present = runs[pattern] is not None
            for one in (control, keeping):
                answer = ExplicitEngine(Problem(one)).decide(pattern)
                assert answer.status is (Status.PRESENT if present else Status.ABSENT)
            seen[pattern, present] += 1
        smaller += explicit(i).nodes < augment(keeping).nodes
    assert smaller > 20 and min(seen.values()) > 5, (smaller, seen)


def test_cycles_of_the_augmentation_lie_in_a_component_of_the_control_graph():
    """So do all their variables: one that a cycle assigns and uses is a conflict of the component."""
    seen: Counter[str] = Counter()
    for i in range(COUNT):
        graph = explicit(i)
        control = graph.control
        facts = order_facts(control)
        for edges in graph.loops:
            taken = {graph.transition[e] for e in edges}
            for loops in (control.loops, facts.loops):
                (around,) = (ts for ts in loops.values() if taken & set(ts))
                assert taken <= set(around)
                assert not graph.conflicts(edges) & ~control.conflicts(around)
            seen["leaking" if graph.conflicts(edges) else "not leaking"] += 1
            seen["disclosing"] += any(control.sampling[t].discloses for t in taken)
    assert min(seen.values()) > 20 and len(seen) == 3, seen


def test_leaking_and_disclosing_cycles_lie_in_one_component():
    """Those of witnesses, which the definitions have confirmed."""
    seen: Counter[Pattern] = Counter()
    for i in range(COUNT):
        control = explicit(i).control
        facts = order_facts(control)
        for pattern in (Pattern.LEAKING_CYCLE, Pattern.DISCLOSING_CYCLE):
            witness = ExplicitEngine(Problem(control)).decide(pattern).witness
            if witness is None:
                continue
            a, b = witness.cycles[0]
            cycle = set(witness.run[a:b])
            for loops in (control.loops, facts.loops):
                (around,) = (ts for ts in loops.values() if cycle <= set(ts))
                if pattern is Pattern.LEAKING_CYCLE:
                    assert control.conflicts(cycle) & control.conflicts(around)
                else:
                    assert any(control.sampling[t].discloses for t in around)
            seen[pattern] += 1
    assert min(seen.values()) > 5 and len(seen) == 2, seen


# Facts about the order, marks


def test_impossible_transitions_are_never_taken():
    seen: Counter[str] = Counter()
    for i in range(COUNT):
        graph = explicit(i)
        facts = order_facts(graph.control)
        taken = set(graph.transition)
        cyclic = {graph.transition[e] for e in graph.cyclic_edges}
        for t, possible in enumerate(facts.possible):
            assert possible or t not in taken
            assert facts.cyclic[t] or t not in cyclic
            seen[f"{possible}/{t in taken}"] += 1
    assert seen["False/False"] > 20 and seen["True/True"] > 500, seen


def test_states_without_facts_are_never_reached():
    unreached = 0
    for i in range(COUNT):
        graph = explicit(i)
        nowhere = {q for q, may in enumerate(order_facts(graph.control).may) if may is None}
        assert not nowhere & set(graph.state)
        unreached += len(nowhere)
    assert unreached


def marked(graph: Augmentation, chain: Chain) -> tuple[set[tuple[int, Marks]], bool]:
    """All marks that any choice of repeated steps leads to: every edge on a non-leaking cycle
    may count as repeated."""
    control = graph.control
    repeated = {e for core in graph.non_leaking_cores() for e in core}
    seen = {(0, Marks())}
    todo, hit = list(seen), False
    while todo:
        v, marks = todo.pop()
        for e in graph.outgoing[v]:
            t, u = graph.transition[e], graph.target[e]
            for repeats in {False, e in repeated}:
                after = advance(
                    graph.order[v],
                    marks,
                    control.steps[t],
                    chain.roles(control.sampling[t]),
                    repeats=repeats,
                    keep=control.live[graph.state[u]],
                )
                hit |= after.hit
                following = (u, Marks(after.up, after.down))
                if following not in seen:
                    seen.add(following)
                    todo.append(following)
    return seen, hit


@pytest.mark.parametrize("chain", PLAIN)
def test_may_marks_enclose_every_reachable_mark(chain: Chain):
    hits: Counter[tuple[bool, bool]] = Counter()
    for i in range(COUNT):
        graph = explicit(i)
        facts = mark_facts(order_facts(graph.control), chain)
        seen, hit = marked(graph, chain)
        for v, marks in seen:
            q = graph.state[v]
            assert not marks.up & ~facts.up[q] and not marks.down & ~facts.down[q]
        assert facts.hit or not hit
        hits[facts.hit, hit] += 1
    assert hits[True, True] > 5 and hits[False, False] > 5, hits


def test_what_is_excluded_statically_is_absent():
    """By the explicit engine and by the judge, for what each encoding skips."""
    excluded: Counter[Pattern] = Counter()
    for i in range(COUNT):
        control = explicit(i).control
        facts = order_facts(control)
        runs = judge.decide(sample(i))
        engine = ExplicitEngine(Problem(control))
        for pattern in Pattern:
            sides = {encoding: systems(pattern, facts, encoding) for encoding in ENCODINGS}
            assert len({len(found) for found in sides.values()}) == 1
            if not sides["marks"]:
                assert engine.decide(pattern).status is Status.ABSENT
                assert runs[pattern] is None
                excluded[pattern] += 1
    assert min(excluded[pattern] for pattern in Pattern) > COUNT // 3, excluded


def test_trivial_facts_exclude_nothing():
    for i in range(20):
        control = explicit(i).control
        facts = order_facts(control, precise=False)
        assert all(facts.possible) and not facts.precise
        assert all(systems(pattern, facts, "marks") for pattern in Pattern)
        assert dataflow.may_have_leaking_cycle(facts) and dataflow.may_have_disclosing_cycle(facts)


# Ghosts: two more variables that any step may or may not assign.


def with_ghosts(control: Control, facts: OrderFacts) -> Iterator[tuple[int, OrderState, int | None]]:
    """Reachable states with ghosts, each once, and each transition taken from one of them."""
    start = (control.initial, initial(control.variables + 2))
    seen, todo = {start}, [start]
    while todo:
        q, order = todo.pop()
        yield q, order, None
        for t in control.outgoing[q]:
            step, p = control.steps[t], control.target[t]
            for more in range(4):
                grown = Step(step.ge, step.lt, step.asg | more << control.variables)
                after = update(order, grown, facts.tracked(p))
                if after is None:
                    continue
                yield q, order, t
                if (p, after) not in seen:
                    seen.add((p, after))
                    todo.append((p, after))


@pytest.mark.parametrize("precise", [True, False])
def test_facts_about_ghosts_enclose_every_choice_of_assignments(precise: bool):
    about_ghosts = 0
    for i in range(40):
        graph = explicit(i)
        if graph.nodes > 25:
            continue
        control = graph.control
        facts = order_facts(control, ghosts=2, precise=precise)
        assert facts.ghost_mask == 3 << control.variables
        for q, order, t in with_ghosts(control, facts):
            may, must = facts.may[q], facts.must[q]
            assert may is not None and must is not None
            assert t is None or facts.possible[t]
            assert within(order, may) and within(must, order)
            assert not must.eq[-1] and not must.eq[-2], "a ghost need not be assigned"
            about_ghosts += bool(order.lt[-1] or order.lt[-2])
    assert about_ghosts > 1000


def test_ghosts_change_nothing_about_the_variables():
    for i in range(COUNT):
        control = explicit(i).control
        plain, ghostly = order_facts(control), order_facts(control, ghosts=2)
        assert plain.possible == ghostly.possible
        mine = (1 << control.variables) - 1
        for a, b in zip((*plain.may, *plain.must), (*ghostly.may, *ghostly.must), strict=True):
            assert (a is None) == (b is None)
            if a is not None and b is not None:
                assert a.lt == tuple(row & mine for row in b.lt[: control.variables])
                assert a.eq == tuple(row & mine for row in b.eq[: control.variables])


# Which transitions may be repeated


def on_non_leaking_cycles(control: Control) -> set[int]:
    """Transitions on closed paths of the control graph that assign nothing they use: for every choice of what
    may be assigned, what is left of the graph."""
    found: set[int] = set()
    for assigned in range(1 << control.variables):
        edges = {
            t: (control.source[t], control.target[t])
            for t, step in enumerate(control.steps)
            if not step.asg & ~assigned and not step.used & assigned
        }
        for t, (q, p) in edges.items():
            reached, todo = {p}, [p]
            while todo:
                here = todo.pop()
                following = {b for a, b in edges.values() if a == here} - reached
                reached |= following
                todo += following
            if q in reached:
                found.add(t)
    return found


def test_what_is_on_a_non_leaking_cycle_is_repeatable():
    seen: Counter[str] = Counter()
    for i in range(COUNT):
        control = explicit(i).control
        literal = on_non_leaking_cycles(control)
        assert literal <= control.repeatable
        facts = order_facts(control)
        assert facts.repeatable <= {t for t, cyclic in enumerate(facts.cyclic) if cyclic}
        for core in explicit(i).non_leaking_cores():
            assert {explicit(i).transition[e] for e in core} <= facts.repeatable
        seen["left out"] += sum(control.cyclic) - len(control.repeatable)
        seen["kept"] += len(literal)
        seen["too many"] += len(control.repeatable - literal)
    assert seen["left out"] > 50 and seen["kept"] > 100 and seen["too many"] < 20, seen


def test_what_is_too_much_to_compare_counts_as_repeatable(monkeypatch: pytest.MonkeyPatch):
    control = control_graph(generate("turing-wrap", 4))
    assert not control.repeatable
    monkeypatch.setattr(cycles, "MOST_WORK", 0)
    crude = repeatable(control.steps, control.source, control.target, control.loops.values())
    assert crude == {t for t, cyclic in enumerate(control.cyclic) if cyclic}


@pytest.mark.parametrize("cells", [1, 3, 20, 200])
def test_a_machine_without_end_has_no_leaking_pair_whatever_its_size(cells: int):
    control = control_graph(generate("turing-wrap", cells))
    assert not dataflow.graph_allows(Pattern.LEAKING_PAIR, control)
    assert dataflow.graph_allows(Pattern.LEAKING_CYCLE, control)
    odd = control_graph(generate("turing-odd", cells + 1))
    assert {odd.state_names[odd.source[t]] for t in odd.repeatable} == {"leak"}
    if cells < 50:  # its first cell is never written, so that the state ``leak`` is out of reach
        assert not dataflow.may_be_present(Pattern.LEAKING_PAIR, order_facts(odd))
