"""Dependency graphs of runs and their chains, straight from the definitions (docs/theory.md, section 2)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from symdipa.runs.control import Control
from symdipa.runs.control.chains import Chain
from symdipa.runs.order import Step, members

Run = Sequence[int]

Above = tuple[frozenset[int], ...]
"""For each position of a run those whose samples are above its own."""


@dataclass(frozen=True)
class DependencyGraph:
    """``over[i]``: positions whose samples the guards force above sample ``i`` (Def. dependency graph).

    That is about shifts: those of the positions in ``over[i]`` are at most that of ``i``. ``above[i]`` is
    about values, the same unless shifts have an order of their own.
    """

    over: Above
    above: Above

    @property
    def is_acyclic(self) -> bool:
        """Whether the run is feasible."""
        degree = [0] * len(self.above)
        for j in chain.from_iterable(self.above):
            degree[j] += 1
        ready = [i for i, d in enumerate(degree) if d == 0]
        done = 0
        while ready:
            done += 1
            for j in self.above[ready.pop()]:
                degree[j] -= 1
                if degree[j] == 0:
                    ready.append(j)
        return done == len(self.above)


def dependency_graph(control: Control, run: Run) -> DependencyGraph:
    """The dependency graph of a run, straight from the definition."""
    over = _forced([control.shifting(t) for t in run])
    return DependencyGraph(over, _forced([control.forcing(t) for t in run]) if control.soft else over)


def _forced(steps: Sequence[Step]) -> Above:
    last: dict[int, int] = {}
    over: list[set[int]] = [set() for _ in steps]
    for j, step in enumerate(steps):
        for x in members(step.lt):
            over[j].add(last[x])
        for x in members(step.ge):
            over[last[x]].add(j)
        for x in members(step.asg):
            last[x] = j
    return tuple(map(frozenset, over))


def is_non_leaking(control: Control, cycle: Iterable[int]) -> bool:
    """Whether no variable used in the cycle is assigned in it."""
    return not control.conflicts(cycle)


def rounds_are_alike(control: Control, cycle: Sequence[int]) -> bool:
    """Whether all rounds of a cycle have the same dependencies, as no round reads what another has stored.

    In the automata of the paper that is so if the cycle is non-leaking. In others a round may also read what
    it has stored itself.
    """
    if control.is_plain:
        return is_non_leaking(control, cycle)
    stored, before = 0, 0
    for t in cycle:
        before |= control.steps[t].used & ~stored
        stored |= control.steps[t].asg
    return not before & stored


@dataclass(frozen=True)
class Ends:
    """Which positions may begin and end a chain, and what its first and last edges must be.

    A repeatable low end must have its first edge to an *earlier* position, a repeatable high end its last
    edge from an earlier one; an end that was output has no such condition.
    """

    low: frozenset[int]
    high: frozenset[int]
    low_repeats: bool
    high_repeats: bool
    may_be_one: bool = False
    """Whether one sample may be both ends of a chain, if neither is repeated."""


def find_chain(graph: DependencyGraph, ends: Ends) -> tuple[int, ...] | None:
    """A shortest dependency path from some low end to some high end, ``None`` if there is none."""
    chains = (_chain_from(graph, ends, start) for start in sorted(ends.low))
    return min((chain for chain in chains if chain is not None), key=len, default=None)


def _chain_from(graph: DependencyGraph, ends: Ends, start: int) -> tuple[int, ...] | None:
    if start in ends.high and ends.may_be_one and not (ends.low_repeats or ends.high_repeats):
        return (start,)
    reached = {start: start}
    queue = deque([start])
    while queue:
        i = queue.popleft()
        for j in sorted(graph.over[i]):
            if i == start and ends.low_repeats and j > i:
                continue
            if j in ends.high and (not ends.high_repeats or i < j):
                path = [j, i]
                while path[-1] != start:
                    path.append(reached[path[-1]])
                return tuple(reversed(path))
            if j not in reached:
                reached[j] = i
                queue.append(j)
    return None


def outputs_of(control: Control, run: Run) -> frozenset[int]:
    return frozenset(i for i, t in enumerate(run) if control.sampling[t].shows_sample)


def chain_ends(
    control: Control,
    run: Run,
    first: Iterable[int],
    last: Iterable[int],
    low: bool,
    high: bool,
    chain: Chain,
) -> Ends:
    """The ends of a chain: at the positions ``first`` if the ``low`` one is repeated, else anywhere; likewise
    the high end at the positions ``last``."""
    roles = [chain.roles(control.sampling[t]) for t in run]
    return Ends(
        frozenset(k for k in first if roles[k].low_repeated)
        if low
        else frozenset(k for k, role in enumerate(roles) if role.low),
        frozenset(k for k in last if roles[k].high_repeated)
        if high
        else frozenset(k for k, role in enumerate(roles) if role.high),
        low,
        high,
        chain is not Chain.RIGID_PAIR,
    )
