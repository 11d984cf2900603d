"""Sweeping the line over the down-sets of an order: any number of live values, one-dimensional tables.

For a down-set ``S`` of the samples let ``f_S(x)`` be the probability that those of ``S`` lie below ``x`` in
an allowed order. Then ``f_S' = sum of density_z * f_(S - z)`` over the maximal ``z`` of ``S``: all terms are
positive, so nothing cancels. Samples that cannot be told apart are counted instead of named, which makes the
rounds of a loop with equal inputs a chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from symdipa.evidence.probability.grid import Grid
from symdipa.evidence.probability.laplace import Array
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits

Counts = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """``size`` interchangeable samples; ``under`` are the groups all of whose samples must lie below."""

    size: int
    under: frozenset[int]


def down_sets(groups: Sequence[Group], limit: int, limits: Limits = UNLIMITED) -> list[list[Counts]]:
    """The down-sets as counts, by the number of their samples; :class:`LimitReached` above ``limit``."""
    levels = [[(0,) * len(groups)]]
    found = 1
    for _ in range(sum(group.size for group in groups)):
        following: dict[Counts, None] = {}
        for counts in levels[-1]:
            limits.check("the down-sets of the samples of a run")
            for g in addable(groups, counts):
                following.setdefault((*counts[:g], counts[g] + 1, *counts[g + 1 :]))
            if found + len(following) > limit:
                raise LimitReached(Limit.SIZE, f"the order of the samples has more than {limit} down-sets")
        found += len(following)
        levels.append(list(following))
    return levels


def addable(groups: Sequence[Group], counts: Counts) -> list[int]:
    """The groups whose next sample may be placed above a down-set."""
    return [
        g
        for g, group in enumerate(groups)
        if counts[g] < group.size and all(counts[u] == groups[u].size for u in group.under)
    ]


def sweep(
    grid: Grid,
    groups: Sequence[Group],
    densities: Sequence[Array],
    levels: Sequence[Sequence[Counts]],
    root: int,
    limits: Limits = UNLIMITED,
) -> Array:
    """The logarithm of the probability of the order as a table of the value of ``root``.

    The root is a group of one sample. ``densities`` are the tables of the groups; its own is not multiplied
    in.
    """
    below = _sweep_up(grid, groups, densities, levels, root, limits)
    above = _sweep_down(grid, groups, densities, levels, root, limits)
    message = np.full(grid.x.shape, -np.inf)
    for counts, table in below.items():
        if all(counts[u] == groups[u].size for u in groups[root].under):
            message = np.logaddexp(message, table + above[(*counts[:root], 1, *counts[root + 1 :])])
    return message


def _sweep_up(
    grid: Grid,
    groups: Sequence[Group],
    densities: Sequence[Array],
    levels: Sequence[Sequence[Counts]],
    root: int,
    limits: Limits,
) -> dict[Counts, Array]:
    """``f_S`` for the down-sets without the root."""
    found = {levels[0][0]: np.zeros(grid.x.shape)}
    kept = dict(found)
    for level in levels[:-1]:
        grown: dict[Counts, Array] = {}
        for counts in level:
            limits.check("a sweep over the samples of a run")
            if counts not in found:
                continue
            for g in addable(groups, counts):
                if g == root:
                    continue
                after = (*counts[:g], counts[g] + 1, *counts[g + 1 :])
                term = found[counts] + densities[g] + np.log(groups[g].size - counts[g])
                grown[after] = np.logaddexp(grown[after], term) if after in grown else term
        found = _integrated(grid.below, grown)
        kept.update(found)
    return kept


def _sweep_down(
    grid: Grid,
    groups: Sequence[Group],
    densities: Sequence[Array],
    levels: Sequence[Sequence[Counts]],
    root: int,
    limits: Limits,
) -> dict[Counts, Array]:
    """For the down-sets with the root: the probability that the others lie above, in an allowed order."""
    found = {levels[-1][0]: np.zeros(grid.x.shape)}
    kept = dict(found)
    for level in reversed(levels[:-1]):
        grown: dict[Counts, Array] = {}
        for counts in level:
            limits.check("a sweep over the samples of a run")
            if not counts[root]:
                continue
            for g in addable(groups, counts):
                after = (*counts[:g], counts[g] + 1, *counts[g + 1 :])
                term = found[after] + densities[g] + np.log(groups[g].size - counts[g])
                grown[counts] = np.logaddexp(grown[counts], term) if counts in grown else term
        found = _integrated(grid.above, grown)
        kept.update(found)
    return kept


def _integrated(running: Callable[[Array], Array], tables: dict[Counts, Array]) -> dict[Counts, Array]:
    if not tables:
        return {}
    return dict(zip(tables, running(np.stack(list(tables.values()))), strict=True))
