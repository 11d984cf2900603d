"""The order state against the dependency graph of runs, closed here straight from the definitions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest
import random_automata as source
from hypothesis import given, settings
from hypothesis import strategies as st

from symdipa.runs.control import Control, control_graph
from symdipa.runs.order import (
    OrderState,
    Step,
    at_or_above,
    at_or_below,
    bounds,
    enabled,
    initial,
    members,
    propagate,
    update,
)

Reach = list[list[bool]]


def last_positions(steps: Sequence[Step], j: int) -> dict[int, int]:
    """``last(x, j)`` for every variable that is assigned before ``j``."""
    return {x: i for i, step in enumerate(steps[:j]) for x in members(step.asg)}


def closure(steps: Sequence[Step]) -> Reach:
    """``reach[i][j]``: a path of at least one edge forces sample ``i`` below sample ``j``."""
    n = len(steps)
    reach = [[False] * n for _ in range(n)]
    for j, step in enumerate(steps):
        last = last_positions(steps, j)
        for x in members(step.lt):
            reach[j][last[x]] = True
        for x in members(step.ge):
            reach[last[x]][j] = True
    for k in range(n):
        for i in range(n):
            if reach[i][k]:
                reach[i] = [a or b for a, b in zip(reach[i], reach[k], strict=True)]
    return reach


def feasible(steps: Sequence[Step]) -> bool:
    reach = closure(steps)
    return not any(reach[i][i] for i in range(len(steps)))


def expected(steps: Sequence[Step], variables: int, keep: int = -1) -> OrderState:
    """The order state by its definition: paths and equality between last positions."""
    reach, last = closure(steps), last_positions(steps, len(steps))
    held = {x: i for x, i in last.items() if keep >> x & 1}
    rows = [
        (
            sum(1 << y for y in held if x in held and reach[held[x]][held[y]]),
            sum(1 << y for y in held if x in held and held[x] == held[y]),
        )
        for x in range(variables)
    ]
    return OrderState(tuple(lt for lt, _ in rows), tuple(eq for _, eq in rows))


def assert_closed(order: OrderState) -> None:
    """``lt`` is a strict order, disjoint from the equivalence ``eq`` and respects it."""
    for x, (lt, eq) in enumerate(zip(order.lt, order.eq, strict=True)):
        assert not lt & eq and (eq >> x & 1 or not lt | eq)
        for y in members(lt):
            assert order.lt[y] & ~lt == 0 and order.eq[y] & ~lt == 0
        for y in members(eq):
            assert order.lt[y] == lt and order.eq[y] == eq


def walks(prefix: str, count: int, length: int) -> Iterator[tuple[Control, list[int], int]]:
    """Random feasible runs of random automata, step by step: the run so far and the state it is in."""
    for i in range(count):
        rng = random.Random(f"{prefix}/{i}")
        control = control_graph(source.random_automaton(rng, (1, 2, 3, 4)))
        run: list[int] = []
        at = control.initial
        while len(run) < length:
            yield control, run, at
            ways = [t for t in control.outgoing[at] if feasible([control.steps[u] for u in (*run, t)])]
            if not ways:
                break
            run.append(rng.choice(ways))
            at = control.target[run[-1]]


def after(control: Control, run: Sequence[int], live: bool) -> OrderState:
    order: OrderState | None = initial(control.variables)
    for t in run:
        assert order is not None
        order = update(order, control.steps[t], control.live[control.target[t]] if live else -1)
    assert order is not None
    return order


def test_facts_are_paths_between_last_positions():
    facts = 0
    for control, run, _ in walks("order", 150, 12):
        order = after(control, run, live=False)
        assert order == expected([control.steps[t] for t in run], control.variables)
        assert_closed(order)
        facts += any(order.lt)
    assert facts > 400


@pytest.mark.parametrize("live", [False, True])
def test_a_step_is_enabled_iff_the_graph_stays_acyclic(live: bool):
    seen = {True: 0, False: 0}
    for control, run, at in walks("enabled", 200, 12):
        order = after(control, run, live)
        steps = [control.steps[t] for t in run]
        for t in control.outgoing[at]:
            acyclic = feasible([*steps, control.steps[t]])
            assert enabled(order, control.steps[t]) == acyclic
            assert (update(order, control.steps[t]) is not None) == acyclic
            seen[acyclic] += 1
    assert min(seen.values()) > 50, seen


def test_dropping_dead_variables_loses_nothing_about_the_others():
    dropped = 0
    for control, run, at in walks("live", 150, 12):
        whole, lean = after(control, run, live=False), after(control, run, live=True)
        steps = [control.steps[t] for t in run]
        assert lean == expected(steps, control.variables, keep=control.live[at])
        assert_closed(lean)
        dropped += any(w & ~v for w, v in zip(whole.eq, lean.eq, strict=True))
    assert dropped > 200


# Runs of any shape: reads only of what was assigned, otherwise free.

VARIABLES = 4
masks = st.integers(0, 2**VARIABLES - 1)
drafts = st.lists(st.tuples(masks, masks, masks), max_size=9)


def runnable(draft: Sequence[tuple[int, int, int]]) -> list[Step]:
    """The longest feasible run that a draft contains, with reads cut down to what is assigned."""
    steps: list[Step] = []
    held = 0
    for ge, lt, asg in draft:
        step = Step(ge & held, lt & held & ~ge, asg)
        if feasible([*steps, step]):
            steps.append(step)
            held |= asg
    return steps


@settings(derandomize=True, max_examples=300)
@given(drafts, masks)
def test_any_run(draft: list[tuple[int, int, int]], keep: int):
    steps = runnable(draft)
    order = initial(VARIABLES)
    for step in steps[:-1]:
        order = propagate(order, step)
    for step in steps[-1:]:
        assert enabled(order, step)
        order = propagate(order, step, keep)
    assert order == expected(steps, VARIABLES, keep if steps else -1)
    assert_closed(order)


@settings(derandomize=True, max_examples=200)
@given(drafts, st.tuples(masks, masks))
def test_bounds_are_what_is_forced_around_the_next_sample(
    draft: list[tuple[int, int, int]], atoms: tuple[int, int]
):
    steps = runnable(draft)
    last = last_positions(steps, len(steps))
    held = sum(1 << x for x in last)
    step = Step(atoms[0] & held, atoms[1] & held & ~atoms[0], 0)
    order = initial(VARIABLES)
    for taken in steps:
        order = propagate(order, taken)
    below, above = bounds(order, step)
    whole = [*steps, step]
    if feasible(whole):
        reach = closure(whole)
        assert below == sum(1 << x for x, i in last.items() if reach[i][-1])
        assert above == sum(1 << x for x, i in last.items() if reach[-1][i])
    else:
        assert below & above


def random_order(rng: random.Random) -> OrderState:
    def row() -> int:
        return rng.randrange(2**VARIABLES) & rng.randrange(2**VARIABLES)

    return OrderState(tuple(row() for _ in range(VARIABLES)), tuple(row() for _ in range(VARIABLES)))


def within(a: OrderState, b: OrderState) -> bool:
    return all(not x & ~y for x, y in zip((*a.lt, *a.eq), (*b.lt, *b.eq), strict=True))


def test_more_facts_before_a_step_never_mean_fewer_after_it():
    """Not only for order states: the dataflow runs the update on unions and intersections of them."""
    rng = random.Random("monotone")
    for _ in range(2000):
        many, other = random_order(rng), random_order(rng)
        few = OrderState(
            tuple(x & y for x, y in zip(many.lt, other.lt, strict=True)),
            tuple(x & y for x, y in zip(many.eq, other.eq, strict=True)),
        )
        step = Step(*(rng.randrange(2**VARIABLES) for _ in range(3)))
        keep = rng.randrange(2**VARIABLES)
        assert within(propagate(few, step, keep), propagate(many, step, keep))
        assert enabled(few, step) or not enabled(many, step)


def test_the_two_sides_of_a_relation_agree():
    rng = random.Random("sides")
    for _ in range(500):
        order = random_order(rng)
        for x in range(VARIABLES):
            assert at_or_above(order, 1 << x) == order.up(x)
            assert at_or_below(order, 1 << x) == sum(1 << y for y in range(VARIABLES) if order.up(y) >> x & 1)


def test_small_cases_by_hand():
    stored = propagate(initial(3), Step(0, 0, 0b011))
    assert stored == OrderState((0, 0, 0), (0b011, 0b011, 0))
    higher = update(stored, Step(0b001, 0, 0b100))
    assert higher == OrderState((0b100, 0b100, 0), (0b011, 0b011, 0b100))
    assert update(higher, Step(0b100, 0b010, 0)) is None
    # The old fact about variable 0 goes, the new one is about the new sample, and 2 stays above 1.
    assert update(higher, Step(0b100, 0, 0b001)) == OrderState((0, 0b101, 0b001), (0b001, 0b010, 0b100))
    assert update(stored, Step(0b001, 0b010, 0)) is None
