"""Sweeping the line with as few states as possible: samples with one future are counted, not named.

As in :mod:`symdipa.evidence.probability.sweep` samples are placed one after another, from the left (or
right). What is still to come depends on the placed samples only by what they leave: two samples of one law
that may be placed now and have to lie below the same others are interchangeable, whatever had to lie below
them. So a state says how many samples of each *class* (law, samples above) may be placed now, and which
groups wait. A chain of values each of which bounds one further sample of the same law, as a leaking cycle
makes it, has quadratically many states instead of exponentially many down-sets.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from symdipa.evidence.probability.grid import Grid, scaled
from symdipa.evidence.probability.laplace import Array
from symdipa.evidence.probability.sweep import Group
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits

CHUNK = 2_000_000
"""About how many numbers are computed at a time."""

FIRST_LIMIT = 100
"""The states that both directions may have at first; then more, since one of them may have far too many."""

Indices = np.ndarray[tuple[int], np.dtype[np.intp]]
Waiting = tuple[tuple[int, ...], int]
"""A state: how many samples of each class may be placed, and the groups that no longer wait, as bits."""


@dataclass(frozen=True, eq=False)
class SweepLevel:
    """The steps from the states with ``k`` samples placed to those with ``k + 1``, ordered by target.

    Step ``n`` places one of ``choices[n]`` samples of group ``group[n]``; the steps to a state begin at its
    entry of ``starts``.
    """

    source: Indices
    group: Indices
    choices: Array
    starts: Indices


@dataclass(frozen=True, eq=False)
class SweepPlan:
    """All steps, from no sample to all of them; ``down``: placed from the right end of the line."""

    levels: tuple[SweepLevel, ...]
    states: int
    down: bool


def plan(
    groups: Sequence[Group], keys: Sequence[Hashable], limit: int, limits: Limits = UNLIMITED
) -> SweepPlan:
    """The plan with fewer states of the two directions; :class:`LimitReached` above ``limit`` states.

    ``keys`` tell which groups have the same density.
    """
    sizes = [group.size for group in groups]
    under = [group.under for group in groups]
    over = [frozenset(k for k, below in enumerate(under) if g in below) for g in range(len(groups))]
    both = (_Classes(sizes, under, over, keys), _Classes(sizes, over, under, keys))
    tried = min(limit, FIRST_LIMIT)
    while True:
        plans = [
            plan for down, classes in enumerate(both) if (plan := _plan(classes, tried, bool(down), limits))
        ]
        if plans:
            return min(plans, key=lambda plan: plan.states)
        if tried == limit:
            raise LimitReached(Limit.SIZE, f"the order of the samples has more than {limit} down-sets")
        tried = min(limit, 4 * tried)


class _Classes:
    """The groups, by what matters once they may be placed."""

    def __init__(
        self,
        sizes: Sequence[int],
        before: Sequence[frozenset[int]],
        after: Sequence[frozenset[int]],
        keys: Sequence[Hashable],
    ) -> None:
        number: dict[Hashable, int] = {}
        self.sizes = sizes
        self.of = [number.setdefault((key, a), len(number)) for key, a in zip(keys, after, strict=True)]
        self.count = len(number)
        self.example = [self.of.index(c) for c in range(self.count)]
        self.members = [0] * self.count
        for g, c in enumerate(self.of):
            self.members[c] |= 1 << g
        # What lies after one sample of a class lies after all of them, so groups wait for whole classes.
        self.needs = [frozenset(self.of[u] for u in b) for b in before]
        self.waiting_for: list[list[int]] = [[] for _ in range(self.count)]
        for g, needs in enumerate(self.needs):
            for c in needs:
                self.waiting_for[c].append(g)

    def start(self) -> Waiting:
        return self._freed([0] * self.count, 0, [g for g, needs in enumerate(self.needs) if not needs])

    def steps(self, state: Waiting) -> Iterator[tuple[int, int, Waiting]]:
        """Class placed, number of choices, state afterwards."""
        counts, free = state
        for c, left in enumerate(counts):
            if left:
                after = [*counts]
                after[c] -= 1
                following = (tuple(after), free)
                if self._complete(following, c):
                    ready = [
                        g
                        for g in self.waiting_for[c]
                        if all(self._complete(following, n) for n in self.needs[g])
                    ]
                    following = self._freed(after, free, ready)
                yield c, left, following

    def _complete(self, state: Waiting, c: int) -> bool:
        return not state[0][c] and not self.members[c] & ~state[1]

    def _freed(self, counts: list[int], free: int, ready: Sequence[int]) -> Waiting:
        for g in ready:
            counts[self.of[g]] += self.sizes[g]
            free |= 1 << g
        return tuple(counts), free


def _plan(classes: _Classes, limit: int, down: bool, limits: Limits) -> SweepPlan | None:
    """The plan of one direction, ``None`` above ``limit`` states."""
    states, found = [classes.start()], 1
    levels = []
    for _ in range(sum(classes.sizes)):
        number: dict[Waiting, int] = {}
        steps = []
        for source, state in enumerate(states):
            limits.check("the down-sets of the samples of a run")
            for c, choices, following in classes.steps(state):
                target = number.setdefault(following, len(number))
                steps.append((target, source, classes.example[c], choices))
            if found + len(number) > limit:
                return None
        found += len(number)
        steps.sort()
        columns = np.array(steps, dtype=np.intp).T
        starts = np.searchsorted(columns[0], np.arange(len(number)))
        levels.append(SweepLevel(columns[1], columns[2], columns[3].astype(float), starts))
        states = list(number)
    return SweepPlan(tuple(levels), found, down)


def total(grid: Grid, steps: SweepPlan, densities: Sequence[Array], limits: Limits = UNLIMITED) -> Array:
    """The logarithm of the probability of the order; ``densities`` are the tables of the groups.

    Tables are values relative to a scale for each state and cell, so that logarithms are only needed cell by
    cell.
    """
    half, turn = grid.half, slice(None, None, -1 if steps.down else 1)
    half = half[turn]
    tops, values = zip(*(scaled(table[turn, turn]) for table in densities), strict=True)
    top, density = np.stack(tops)[..., 0], np.stack(values)
    scale, table = np.zeros((1, grid.cells)), np.ones((1, *grid.x.shape))
    for depth, level in enumerate(steps.levels):
        scale, table = _placed(level, scale, table, top, density, limits)
        with np.errstate(divide="ignore"):
            whole = np.log(table @ grid.weights * half) + scale
        if depth == len(steps.levels) - 1:
            return np.asarray(np.logaddexp.reduce(whole, axis=1)[0])
        scale, table = _integrated(grid, half, scale, table, whole)
    raise AssertionError("an order without samples")


def _placed(
    level: SweepLevel, scale: Array, table: Array, top: Array, density: Array, limits: Limits
) -> tuple[Array, Array]:
    """One more sample at each node: the sums over the steps to each state."""
    weight = scale[level.source] + top[level.group] + np.log(level.choices)[:, None]
    grown = np.maximum.reduceat(weight, level.starts, axis=0)
    ends = np.append(level.starts[1:], len(level.source))
    with np.errstate(invalid="ignore"):
        weight = np.exp(weight - np.repeat(grown, ends - level.starts, axis=0))
    weight = np.nan_to_num(weight, nan=0.0)
    result = np.empty((len(level.starts), *table.shape[1:]))
    size = max(1, CHUNK // table[0].size)
    first = 0
    while first < len(result):
        limits.check("a sweep over the samples of a run")
        last = first + 1
        while last < len(result) and ends[last] - level.starts[first] <= size:
            last += 1
        some = slice(level.starts[first], ends[last - 1])
        terms = table[level.source[some]] * density[level.group[some]]
        terms *= weight[some, :, None]
        result[first:last] = np.add.reduceat(terms, level.starts[first:last] - level.starts[first], axis=0)
        first = last
    return grown, result


def _integrated(grid: Grid, half: Array, scale: Array, table: Array, whole: Array) -> tuple[Array, Array]:
    """Running integrals from the left end, given those of whole cells (by their logarithms)."""
    before = np.full_like(whole, -np.inf)
    before[:, 1:] = np.logaddexp.accumulate(whole, axis=1)[:, :-1]
    inside = np.maximum(table @ grid.partial.T, 0) * half[:, None]
    largest = inside.max(axis=-1)
    with np.errstate(divide="ignore"):
        grown = np.maximum(before, scale + np.log(largest))
    base = np.where(np.isfinite(grown), grown, 0.0)
    inside *= np.exp(np.where(largest > 0, scale - base, -np.inf))[..., None]
    inside += np.exp(before - base)[..., None]
    return grown, inside
