"""The probability of one run (theory, section 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import exp, inf, log, log1p

import numpy as np

from symdipa.automaton import Automaton
from symdipa.errors import LimitReached
from symdipa.probability import blocks, pairs, sweep
from symdipa.probability.grid import Grid, Maker, make_grid
from symdipa.probability.laplace import (
    Array,
    log_density,
    log_hazard_down,
    log_hazard_up,
    log_interval,
)
from symdipa.probability.poset import (
    Interval,
    Law,
    Number,
    Poset,
    ProbabilityRefused,
    check_numbers,
    poset_of,
)

FEW = 60
"""Up to so many down-sets a sweep is preferred to two-dimensional tables."""
FINER, ATTEMPTS = 1.6, 12
FIRST_CELLS, SEARCH_CELLS = 12.0, 24.0
TAIL = 30.0
"""Logarithms of densities fall by this much beyond the last kink before a grid ends."""
NEGLIGIBLE = 1e-11
"""Cells at both ends are left out of a grid while all of them together change the logarithm by less."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits on the work: nodes of a grid, down-sets of a sweep, numbers held in all tables of a sweep,
    and numbers computed in two-dimensional tables. Beyond them :class:`LimitReached` is raised."""

    nodes: int = 400_000
    down_sets: int = 4_000
    sweep: int = 60_000_000
    pairs: int = 1_500_000_000


@dataclass(frozen=True, slots=True)
class LogProbability:
    """The logarithm ``value`` of a probability, off by ``error`` at most.

    ``error`` is computed: the difference of two resolutions, summed over the factors, and a bound on
    rounding. ``method`` names what was needed: ``"closed form"``, ``"tables"`` (one-dimensional),
    ``"down-sets"``, ``"pairs"`` (two-dimensional tables), ``"infeasible"`` (the probability is 0).
    ``nodes`` is the size of the largest grid.
    """

    value: float
    error: float
    method: str
    nodes: int = 0

    @property
    def probability(self) -> float:
        """The probability itself (0 when it is too small for a float)."""
        return exp(self.value) if self.value > -745 else 0.0


def log_probability(
    automaton: Automaton,
    run: Sequence[int],
    inputs: Sequence[Number | None],
    outputs: Sequence[Interval | None] | None = None,
    eps: Number = 1,
    tolerance: float = 1e-6,
    budget: Budget | None = None,
) -> LogProbability:
    """The logarithm of the probability that the automaton takes exactly ``run`` (positions of transitions).

    ``inputs[j]`` is what step ``j`` reads, ``None`` at non-input states. ``outputs[j]`` is the interval in
    which a real output of step ``j`` has to lie, ``None`` for any value and for symbols. Noise scales of
    states are inverse and in units of ``eps``. Raises :class:`ProbabilityRefused` when the computed error
    stays above ``tolerance`` and :class:`LimitReached` when ``budget`` does not suffice.
    """
    check_numbers(inputs, eps)
    return log_probability_of(poset_of(automaton, run, inputs, outputs, eps), tolerance, budget or Budget())


def log_probability_of(poset: Poset, tolerance: float, budget: Budget) -> LogProbability:
    """The logarithm of the probability that samples respect an order and their intervals."""
    if not poset.feasible:
        return LogProbability(-inf, 0.0, "infeasible")
    total = sum(float(log_interval(law.rate, law.mean, law.low, law.high)) for law in poset.apart)
    error, nodes, methods = 0.0, 0, {"closed form"}
    neighbours = [set(a | b) for a, b in zip(poset.over, poset.under, strict=True)]
    parts = blocks.connected(neighbours)
    for part in parts:
        if len(part) == 1:
            law = poset.laws[part[0]]
            total += float(log_interval(law.rate, law.mean, law.low, law.high))
            continue
        found = _Component(poset, part, blocks.plan(neighbours, part), budget).solve(tolerance / len(parts))
        total, error, nodes = total + found.value, error + found.error, max(nodes, found.nodes)
        methods.add(found.method)
    if total == -inf:
        return LogProbability(-inf, 0.0, "infeasible")
    error += 1e-15 * (len(poset.laws) + len(poset.apart)) * (1 + abs(total))
    if error > tolerance:
        raise ProbabilityRefused(f"the error {error:.1e} is above the tolerance {tolerance:.1e}")
    ranking = ("closed form", "tables", "down-sets", "pairs")
    return LogProbability(total, error, max(methods, key=ranking.index), nodes)


def tail_length(laws: Sequence[Law]) -> float:
    """How far beyond the last kink samples of these laws need to be followed."""
    return (TAIL + log(len(laws) + 1)) / min(law.rate for law in laws)


def kinks_of(laws: Sequence[Law]) -> list[float]:
    """Where densities or their integrals are not smooth, ascending."""
    ends = {end for law in laws for end in (law.low, law.high) if abs(end) < inf}
    return sorted(ends | {law.mean for law in laws})


def refine(
    solve: Callable[[Grid], float],
    kinks: Sequence[float],
    slope: Callable[[Array], Array],
    tail: float,
    tolerance: float,
    budget: Budget,
) -> tuple[float, float, int]:
    """``(value, error, nodes)`` of a logarithm computed on finer and finer grids until two agree.

    A coarse grid tells first where the cells are that matter. Each finer grid also reaches farther, so
    that two that agree confirm the ends as well.
    """
    low, high = _relevant(solve, make_grid(kinks, slope, (kinks[0] - tail, kinks[-1] + tail)))
    margin = 0.02 * (high - low)
    first = make_grid(kinks, slope, (low - margin, high + margin))
    quality = min(1.0, first.quality(FIRST_CELLS + len(kinks)))
    before, error = None, inf
    for attempt in range(1, ATTEMPTS + 1):
        wider = margin * attempt
        grid = make_grid(kinks, slope, (low - wider, high + wider)).grid(quality)
        try:
            if grid.size > budget.nodes:
                raise LimitReached(f"a grid of {grid.size} nodes is above the limit of {budget.nodes}")
            value = solve(grid)
        except LimitReached as reason:
            if before is None:
                raise
            raise LimitReached(f"{reason} (two resolutions differ by {error:.1e})") from None
        if before is not None:
            error = abs(value - before) if value != before else 0.0
            if error <= tolerance / 2:
                return value, error, grid.size
        before, quality = value, quality * FINER
    raise ProbabilityRefused(f"two resolutions still differ by {error:.1e}, above {tolerance / 2:.1e}")


def _relevant(solve: Callable[[Grid], float], maker: Maker) -> tuple[float, float]:
    """The ends of the part of the line outside which no sample that matters lies (on a coarse grid)."""
    grid = maker.grid(maker.quality(SEARCH_CELLS))
    whole = solve(grid)
    if whole == -inf:
        return float(grid.edges[0]), float(grid.edges[-1])

    def enough(first: int, last: int) -> bool:
        return solve(Grid(grid.edges[first : last + 1], grid.nodes)) >= whole - NEGLIGIBLE

    last = _bisect(lambda k: enough(0, grid.cells - k), grid.cells - 1)
    first = _bisect(lambda k: enough(k, grid.cells - last), grid.cells - last - 1)
    return float(grid.edges[first]), float(grid.edges[grid.cells - last])


def _bisect(holds: Callable[[int], bool], limit: int) -> int:
    """The largest number up to ``limit`` for which ``holds``, given that it holds at 0 and stops once."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low


@dataclass
class _Component:
    """A connected part of the order: its plan, and the tables of one attempt."""

    poset: Poset
    members: Sequence[int]
    plan: Sequence[blocks.Part]
    budget: Budget
    grid: Grid = field(init=False)
    tables: dict[int, Array] = field(init=False)
    plain: dict[Law, Array] = field(init=False)
    leaves: dict[tuple[Law, bool], Array] = field(init=False)
    method: str = "tables"

    def solve(self, tolerance: float) -> LogProbability:
        laws = [self.poset.laws[i] for i in self.members]
        value, error, nodes = refine(
            self._attempt, kinks_of(laws), self._slope, tail_length(laws), tolerance, self.budget
        )
        return LogProbability(value, error, self.method, nodes)

    def _attempt(self, grid: Grid) -> float:
        self.grid = grid
        self.tables, self.plain, self.leaves = {}, {}, {}
        for part in self.plan:
            result = self._integrate(part)
            if part.root is None:
                return float(result)
            self.tables[part.root] = self._table(part.root) + result
        raise AssertionError("a plan ends with a part without root")

    def _slope(self, x: Array) -> Array:
        """A bound on how fast logarithms of tables change: the rates of the samples that pull at ``x``."""
        slope = np.zeros_like(x)
        counted: dict[tuple[Law, bool, bool], int] = {}
        for i in self.members:
            law, over, under = self.poset.laws[i], self.poset.over[i], self.poset.under[i]
            inner = len(over) + len(under) > 1
            key = (Law(law.rate, law.mean), bool(over) or inner, bool(under) or inner)
            counted[key] = counted.get(key, 0) + 1
        smallest = min(self.poset.laws[i].rate for i in self.members)
        for (law, up, down), count in counted.items():
            if up and down:
                slope += count * law.rate
            elif up:
                slope += count * log_hazard_up(law.rate, law.mean, x)
            else:
                slope += count * log_hazard_down(law.rate, law.mean, x)
        return slope + smallest

    def _density(self, law: Law) -> Array:
        table = self.plain.get(law)
        if table is None:
            x = self.grid.x
            table = log_density(law.rate, law.mean, x)
            table = self.plain[law] = np.where((x > law.low) & (x < law.high), table, -np.inf)
        return table

    def _table(self, i: int) -> Array:
        """The density of a sample times the factors that it has got so far."""
        found = self.tables.get(i)
        return self._density(self.poset.laws[i]) if found is None else found

    def _integrate(self, part: blocks.Part) -> Array:
        if len(part.members) == 1:
            return self.grid.total(self._table(*part.members))
        if len(part.members) == 2 and part.root is not None:
            (i,) = part.members - {part.root}
            return self._leaf(i, above=part.root in self.poset.under[i])
        return self._block(part)

    def _leaf(self, i: int, above: bool) -> Array:
        """The probability that a sample lies above (below) each node, with its factors."""
        law = self.poset.laws[i]
        if i in self.tables:
            return (self.grid.above if above else self.grid.below)(self.tables[i])
        found = self.leaves.get((law, above))
        if found is None:
            x = self.grid.x
            low, high = (np.maximum(x, law.low), law.high) if above else (law.low, np.minimum(x, law.high))
            found = self.leaves[law, above] = log_interval(law.rate, law.mean, low, high)
        return found

    def _block(self, part: blocks.Part) -> Array:
        """A block by the sweep if it has few down-sets, else by pairs, else by the sweep after all."""
        try:
            return self._sweep(part, min(FEW, self.budget.down_sets))
        except LimitReached:
            pass
        samples = [
            pairs.Sample(
                i,
                self.poset.laws[i],
                self.tables.get(i),
                self.poset.under[i] & part.members,
                self.poset.over[i] & part.members,
            )
            for i in sorted(part.members)
        ]
        try:
            result = pairs.integrate(self.grid, samples, part.root, self.budget.pairs)
            self.method = "pairs"
            return result
        except LimitReached as reason:
            try:
                return self._sweep(part, self.budget.down_sets)
            except LimitReached as other:
                raise LimitReached(f"{reason}; {other}") from None

    def _sweep(self, part: blocks.Part, limit: int) -> Array:
        kinds: dict[object, list[int]] = {}
        for i in sorted(part.members):
            over, under = self.poset.over[i] & part.members, self.poset.under[i] & part.members
            alone = i == part.root or i in self.tables
            kinds.setdefault(i if alone else (self.poset.laws[i], over, under), []).append(i)
        place = {i: g for g, members in enumerate(kinds.values()) for i in members}
        groups = [
            sweep.Group(
                len(members), frozenset(place[k] for k in self.poset.under[members[0]] & part.members)
            )
            for members in kinds.values()
        ]
        levels = sweep.down_sets(groups, limit)
        size = self.grid.size * (1 if part.root is None else 2) * sum(map(len, levels))
        if size > self.budget.sweep:
            raise LimitReached(f"sweeping takes {size} numbers, above the limit of {self.budget.sweep}")
        densities = [
            self._table(members[0]) if members[0] != part.root else np.zeros_like(self.grid.x)
            for members in kinds.values()
        ]
        root = None if part.root is None else place[part.root]
        if self.method == "tables":
            self.method = "down-sets"
        return sweep.sweep(self.grid, groups, densities, levels, root)


def log_add(a: float, b: float) -> float:
    """``log(exp(a) + exp(b))``."""
    if b > a:
        a, b = b, a
    return a + log1p(exp(b - a)) if b > -inf else a
