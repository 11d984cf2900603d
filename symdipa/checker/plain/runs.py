"""Runs: the order that they force, dependency graphs and cycles (docs/theory.md, sections 2 and 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from symdipa.checker.graphs import Ends
from symdipa.checker.model import Model, Step
from symdipa.checker.plain import alike
from symdipa.checker.plain.alike import Cycle
from symdipa.checker.reading import items, number, numbers
from symdipa.checker.rules import refuse

Pairs = frozenset[tuple[str, str]]


# Facts about the order of the stored samples, and what a step does to them


class Order(NamedTuple):
    """``(x, y)`` in ``less``: the sample in ``x`` is forced below that in ``y``; in ``same``: both are one.

    ``same`` has both ``(x, y)`` and ``(y, x)``; that a variable is the same as itself is not written down.
    """

    less: Pairs
    same: Pairs


NOTHING = Order(frozenset(), frozenset())


def after(order: Order, step: Step) -> Order | None:
    """What holds after the step; ``None`` if the guard contradicts what holds before it.

    Every fact of the result follows from the facts given. If these are all facts that a run forces, so is the
    result.
    """
    below = {x for x, y in order.less | order.same if y in step.ge} | step.ge
    above = {y for x, y in order.less | order.same if x in step.lt} | step.lt
    if below & above:
        return None
    new = step.assigned
    less = {(x, y) for x, y in order.less if x not in new and y not in new}
    less |= {(x, y) for x in below - new for y in above - new}
    less |= {(x, y) for x in below - new for y in new}
    less |= {(x, y) for x in new for y in above - new}
    same = {(x, y) for x, y in order.same if x not in new and y not in new}
    same |= {(x, y) for x in new for y in new if x != y}
    return Order(frozenset(less), frozenset(same))


# Runs


@dataclass(frozen=True)
class Run:
    """A feasible run and the edges ``(i, j)`` of its dependency graph (sample ``i`` below sample ``j``)."""

    transitions: tuple[int, ...]
    steps: tuple[Step, ...]
    edges: frozenset[tuple[int, int]]


def run_of(model: Model, value: object, where: str) -> Run:
    transitions = tuple(
        number(item, f"{where}[{i}]", "run-step", len(model.steps))
        for i, item in enumerate(items(value, where))
    )
    steps = tuple(model.steps[t] for t in transitions)
    state = model.initial
    for i, step in enumerate(steps):
        if step.source != state:
            refuse("run-step", f"{where}[{i}] does not begin where the run is")
        state = step.target
    edges = _dependencies(steps)
    if not _acyclic(len(steps), edges):
        refuse("run-feasible", f"{where}: no samples satisfy its guards")
    return Run(transitions, steps, edges)


def _dependencies(steps: tuple[Step, ...]) -> frozenset[tuple[int, int]]:
    """From the definition: ``j -> last(x, j)`` for upper bounds, ``last(x, j) -> j`` for lower bounds."""
    last: dict[str, int] = {}
    edges = set()
    for j, step in enumerate(steps):
        edges |= {(j, last[x]) for x in step.lt}
        edges |= {(last[x], j) for x in step.ge}
        last.update(dict.fromkeys(step.assigned, j))
    return frozenset(edges)


def _acyclic(size: int, edges: frozenset[tuple[int, int]]) -> bool:
    above: list[list[int]] = [[] for _ in range(size)]
    waiting = [0] * size
    for i, j in edges:
        above[i].append(j)
        waiting[j] += 1
    done = [i for i in range(size) if waiting[i] == 0]
    for i in done:  # grows while we walk
        for j in above[i]:
            waiting[j] -= 1
            if waiting[j] == 0:
                done.append(j)
    return len(done) == size


def cycles_of(steps: Sequence[Ends], value: object, where: str) -> tuple[Cycle, ...]:
    """Half-open ranges of positions, each leading from a state back to it; no two overlap."""
    found: list[Cycle] = []
    for c, item in enumerate(items(value, where)):
        size = len(steps)
        i, j = numbers(item, f"{where}[{c}]", "run-cycle", (size, size + 1))
        if i >= j or steps[i].source != steps[j - 1].target:
            refuse("run-cycle", f"{where}[{c}] does not lead from a state back to it")
        found.append((i, j))
    taken: set[int] = set()
    for i, j in found:
        if not taken.isdisjoint(range(i, j)):
            refuse("run-cycle", f"{where}: two cycles overlap")
        taken.update(range(i, j))
    return tuple(found)


def conflicts(run: Run, cycle: Cycle) -> frozenset[str]:
    """The variables that the cycle uses and assigns."""
    part = run.steps[slice(*cycle)]
    used = frozenset(x for step in part for x in step.used)
    return used & {x for step in part for x in step.assigned}


def check_non_leaking(run: Run, cycle: Cycle, where: str) -> None:
    """A feasible run with a cycle that uses nothing it assigns stays feasible when that is repeated."""
    if conflicts(run, cycle):
        refuse("cycle-leaking", f"{where}: the cycle {list(cycle)} uses a variable that it assigns")


# Output distinction


def is_distinct(model: Model, runs: Sequence[Run], cycles: tuple[Cycle, ...]) -> bool:
    """Whether no feasible run but these has the outputs of the first, however often its cycles repeat."""

    def imitations(state: str, order: Order, position: int) -> Iterator[tuple[int, str, Order]]:
        for t in model.leaving[state]:
            step = model.steps[t]
            following = after(order, step) if step.shows == runs[0].steps[position].shows else None
            if following is not None:
                yield t, step.target, following

    return alike.is_distinct(runs, cycles, (model.initial, NOTHING), imitations)
