"""The probability of one run (docs/theory.md, section 7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import exp, inf, log, log1p

import numpy as np

from symdipa.evidence.probability import blocks, lumped, pairs, sweep
from symdipa.evidence.probability.grid import Grid, Maker, make_grid
from symdipa.evidence.probability.laplace import (
    Array,
    log_density,
    log_hazard_down,
    log_hazard_up,
    log_interval,
)
from symdipa.evidence.probability.linear import events, lattice
from symdipa.evidence.probability.linear.events import Asked, alone, is_wide
from symdipa.evidence.probability.poset import (
    Law,
    Number,
    Poset,
    ProbabilityRefused,
    check_numbers,
    plain_control,
    poset_of,
)
from symdipa.model.automaton import Automaton, Noise
from symdipa.model.errors import Limit, LimitReached, OutOfTime
from symdipa.model.limits import UNLIMITED, Limits

FEW, CHEAPER = 60, 2
"""The most states for which a sweep is preferred to two-dimensional tables: a number, and a share of nodes
times samples (a sweep passes over a line for each state, tables over a plane for each sample)."""
RELEVANT = -36.0
"""A sample is taken not to lie where the logarithm of its density is below this."""
FINER, ATTEMPTS = 1.4, 14
"""The factor by which the next grid has more cells, and the number of grids."""
MUCH_FINER, FAR_APART = 2.0, 0.1
"""The factor while two results are farther apart than this."""
FIRST_CELLS, SEARCH_CELLS = 12.0, 16.0
MISLED = 1.0
"""A coarse grid that was wrong by more may also have been wrong about where samples lie."""
TAIL = 30.0
"""Logarithms of densities fall by this much beyond the last kink before a grid ends."""
ROUNDING = 1e-13
"""The error of rounding in the wider model, for each sample and unit of the logarithm."""
NEGLIGIBLE = 1e-11
"""Cells at both ends are left out of a grid while all of them together change the logarithm by less."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The largest sizes; beyond them :class:`LimitReached` is raised.

    Nodes of a grid, down-sets of a sweep, numbers in all tables of one sweep, and numbers in all
    two-dimensional tables of one connected part (the default takes about a minute).
    """

    nodes: int = 400_000
    down_sets: int = 20_000
    sweep: int = 60_000_000
    pairs: int = 1_500_000_000


@dataclass(frozen=True, slots=True)
class LogProbability:
    """The logarithm ``value`` of a probability, off by ``error`` at most.

    ``error`` is computed: the difference of two resolutions, summed over the factors, and a bound on
    rounding. ``method`` names what was needed: ``"closed form"``, ``"tables"`` (one-dimensional),
    ``"down-sets"``, ``"pairs"`` (two-dimensional tables), ``"infeasible"`` (the probability is 0); in the
    wider model ``"a lattice"``, ``"a plane lattice"`` and ``"sums over integers"``.
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
    outputs: Sequence[Asked] | None = None,
    eps: Number = 1,
    tolerance: float = 1e-6,
    budget: Budget | None = None,
    limits: Limits = UNLIMITED,
) -> LogProbability:
    """The logarithm of the probability that the automaton takes exactly ``run`` (positions of transitions).

    ``inputs[j]`` is what step ``j`` reads, ``None`` at states without input. ``outputs[j]`` is the interval
    in which a real output of step ``j`` has to lie, ``None`` for any value and for symbols; where several
    numbers are shown, a tuple with one of these for each. Noise scales of
    states are inverse and in units of ``eps``. Raises :class:`ProbabilityRefused` when the computed error
    stays above ``tolerance``, :class:`LimitReached` when ``budget`` does not suffice and :class:`OutOfTime`
    when the time of ``limits`` does not.
    """
    if is_wide(automaton):
        problem = events.problem_of_run(automaton, run, inputs, outputs, eps)
        return log_probability_of_problem(problem, tolerance, budget or Budget(), limits)
    control = plain_control(automaton)
    check_numbers(inputs, eps)
    windows = None if outputs is None else [alone(asked) for asked in outputs]
    poset = poset_of(control, run, inputs, windows, eps)
    return log_probability_of(poset, tolerance, budget or Budget(), limits)


def log_probability_of_problem(
    problem: lattice.Problem | None, tolerance: float, budget: Budget, limits: Limits
) -> LogProbability:
    """The logarithm of the probability of a run of the wider model.

    Parts in which Laplace samples are in an order, and no more, are those of the paper.
    """
    if problem is None or not lattice.possible(problem):
        return LogProbability(-inf, 0.0, "infeasible")
    results = [LogProbability(0.0, 0.0, "closed form")]
    parts = lattice.connected(problem)
    for part in parts:
        piece = lattice.needed(lattice.restricted(problem, part), limits)
        order = _order(piece)
        if order is not None:
            results.append(log_probability_of(order, tolerance / len(parts), budget, limits))
        else:
            found = lattice.log_probability_of(piece, tolerance / len(parts), limits)
            results.append(LogProbability(found.value, found.error, found.method, found.nodes))
    value, error = sum(r.value for r in results), sum(r.error for r in results)
    if value == -inf:
        return LogProbability(-inf, 0.0, "infeasible")
    error += ROUNDING * len(problem.laws) * (1 + abs(value))
    most = max(results, key=lambda r: r.nodes)
    return LogProbability(value, error, most.method, most.nodes)


def _order(problem: lattice.Problem) -> Poset | None:
    """The order of the samples, if there is nothing else about them."""
    plain = all(b.sign_i == b.sign_j and not b.more for b in problem.bounds)
    if problem.integer or not plain or any(law.noise is not Noise.LAPLACE for law in problem.laws):
        return None
    over: list[set[int]] = [set() for _ in problem.laws]
    under: list[set[int]] = [set() for _ in problem.laws]
    for b in problem.bounds:
        low, high = (b.i, b.j) if b.sign_i > 0 else (b.j, b.i)
        over[low].add(high)
        under[high].add(low)
    laws = tuple(
        Law(
            law.rate,
            float(law.mean),
            -inf if law.low is None else float(law.low),
            inf if law.high is None else float(law.high),
        )
        for law in problem.laws
    )
    return Poset(laws, tuple(map(frozenset, over)), tuple(map(frozenset, under)), ())


def log_probability_of(poset: Poset, tolerance: float, budget: Budget, limits: Limits) -> LogProbability:
    """The logarithm of the probability that samples respect an order and their intervals."""
    if not poset.feasible:
        return LogProbability(-inf, 0.0, "infeasible")
    total = sum(float(log_interval(law.rate, law.mean, law.low, law.high)) for law in poset.apart)
    error, nodes, methods = 0.0, 0, {"closed form"}
    neighbours = [set(a | b) for a, b in zip(poset.over, poset.under, strict=True)]
    parts = blocks.connected(neighbours)
    known: dict[object, LogProbability] = {}
    for part in parts:
        if len(part) == 1:
            law = poset.laws[part[0]]
            total += float(log_interval(law.rate, law.mean, law.low, law.high))
            continue
        limits.check("the samples of a run")
        look = _look(poset, part)
        found = known.get(look)
        if found is None:
            component = _Component(poset, part, blocks.plan(neighbours, part), budget, limits)
            found = known[look] = component.solve(tolerance / len(parts))
        total, error, nodes = total + found.value, error + found.error, max(nodes, found.nodes)
        methods.add(found.method)
    if total == -inf:
        return LogProbability(-inf, 0.0, "infeasible")
    error += 1e-15 * (len(poset.laws) + len(poset.apart)) * (1 + abs(total))
    if error > tolerance:
        raise ProbabilityRefused(f"the error {error:.1e} is above the tolerance {tolerance:.1e}")
    ranking = ("closed form", "tables", "down-sets", "pairs")
    return LogProbability(total, error, max(methods, key=ranking.index), nodes)


def _look(poset: Poset, part: Sequence[int]) -> object:
    """What a connected part is like; parts that look alike have the same probability."""
    number = {i: k for k, i in enumerate(part)}
    return tuple((poset.laws[i], frozenset(number[k] for k in poset.over[i])) for i in part)


def tail_length(laws: Sequence[Law]) -> float:
    """How far beyond the last kink samples of these laws need to be followed."""
    return (TAIL + log(len(laws) + 1)) / min(law.rate for law in laws)


def kinks_of(laws: Sequence[Law]) -> list[float]:
    """Where densities or their integrals are not smooth, ascending."""
    ends = {end for law in laws for end in (law.low, law.high) if abs(end) < inf}
    return sorted(ends | {law.mean for law in laws})


Slope = Callable[[Array, float | None], Array]
"""A bound on how fast tables change at given points, if the result is about as large as the number given."""


def refine(
    solve: Callable[[Grid], float],
    kinks: Sequence[float],
    slope: Slope,
    tail: float,
    tolerance: float,
    budget: Budget,
    limits: Limits,
    ceiling: float = 0.0,
    degree: int = 0,
) -> tuple[float, float, int]:
    """``(value, error, nodes)`` of a logarithm computed on finer and finer grids until two agree.

    A coarse grid tells first where the cells are that matter. Each finer grid also reaches farther, so
    that two that agree confirm the ends as well. No result above ``ceiling`` is believed. In any gap between
    kinks tables may look like polynomials of degree ``degree``, however little their logarithms change there.
    """

    def attempt_on(grid: Grid) -> float:
        limits.check("tables on a finer grid")
        return solve(grid)

    def maker(low: float, high: float, about: float | None) -> Maker:
        return make_grid(kinks, lambda x: slope(x, about), (low, high), lambda x: slope(x, None), degree)

    low, high, before = _relevant(attempt_on, maker(kinks[0] - tail, kinks[-1] + tail, None))
    margin = 0.02 * (high - low)
    cells, error = FIRST_CELLS, inf
    for attempt in range(1, ATTEMPTS + 1):
        wider = margin * attempt
        grid = maker(low - wider, high + wider, min(before, ceiling)).grid(cells, attempt)
        try:
            if grid.size > budget.nodes:
                raise LimitReached(
                    Limit.SIZE, f"a grid of {grid.size} nodes is above the limit of {budget.nodes}"
                )
            value = attempt_on(grid)
        except OutOfTime:
            raise
        except LimitReached as reason:
            if attempt == 1:
                raise
            raise LimitReached(Limit.SIZE, f"{reason} (two resolutions differ by {error:.1e})") from None
        error = abs(value - before) if value != before else 0.0
        if attempt == 1 and error > MISLED:
            low, high = kinks[0] - tail, kinks[-1] + tail
        if attempt > 1 and error <= tolerance / 2 and value <= ceiling:
            return value, error, grid.size
        before, cells = value, cells * (FINER if error < FAR_APART else MUCH_FINER)
    raise ProbabilityRefused(f"two resolutions still differ by {error:.1e}, above {tolerance / 2:.1e}")


def _relevant(solve: Callable[[Grid], float], maker: Maker) -> tuple[float, float, float]:
    """The ends of the part of the line outside which no sample that matters lies, and the result.

    Both on a coarse grid.
    """
    grid = maker.grid(SEARCH_CELLS)
    whole = solve(grid)
    if whole == -inf:
        return float(grid.edges[0]), float(grid.edges[-1]), whole

    def enough(first: int, last: int) -> bool:
        return solve(Grid(grid.edges[first : last + 1], grid.nodes)) >= whole - NEGLIGIBLE

    last = _bisect(lambda k: enough(0, grid.cells - k), grid.cells - 1)
    first = _bisect(lambda k: enough(k, grid.cells - last), grid.cells - last - 1)
    return float(grid.edges[first]), float(grid.edges[grid.cells - last]), whole


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
class Kept:
    """A sample that has a table, with the laws of the samples directly above and below it that have none."""

    law: Law
    above: Counter[Law]
    below: Counter[Law]
    limits: Limits
    mass: float = 0.0

    def slope(self, x: Array) -> Array:
        """How fast the logarithm of its factors changes."""
        slope = np.full_like(x, self.law.rate)
        for laws, hazard in ((self.above, log_hazard_down), (self.below, log_hazard_up)):
            for law, count in laws.items():
                self.limits.check("where the samples of a run lie")
                slope += count * hazard(law.rate, law.mean, x)
        return slope

    def log_weight(self, x: Array) -> Array:
        """A bound on its factors: a sample between two kept ones is asked to respect this one only."""
        weight = log_density(self.law.rate, self.law.mean, x)
        weight = np.where((x >= self.law.low) & (x <= self.law.high), weight, -np.inf)
        for laws, low, high in ((self.above, x, inf), (self.below, -inf, x)):
            for law, count in laws.items():
                self.limits.check("where the samples of a run lie")
                weight = weight + count * log_interval(law.rate, law.mean, low, high)
        return weight

    def log_mass(self, tail: float) -> float:
        """A bound on the logarithm of the integral of :meth:`log_weight`, from its concavity."""
        kinks = kinks_of([self.law, *self.above, *self.below])
        edges = np.unique(np.clip([kinks[0] - tail, *kinks, kinks[-1] + tail], self.law.low, self.law.high))
        if len(edges) < 2:
            return -inf
        x = np.unique(np.concatenate([np.linspace(a, b, 65) for a, b in pairwise(edges)]))
        weight, widths = self.log_weight(x), np.diff(x)
        rise = np.diff(weight) / widths
        # Between two points a concave function lies below the lines through the neighbours on either side.
        left, right = np.concatenate(([inf], rise[:-1])), np.concatenate((rise[1:], [-inf]))
        from_left = weight[:-1] + np.maximum(left, 0) * widths
        from_right = weight[1:] + np.maximum(-right, 0) * widths
        top = np.minimum(from_left, from_right)
        top[0] = top[0] if len(top) > 1 else max(weight) + self.law.rate * widths[0]
        return float(np.logaddexp.reduce(top + np.log(widths))) + 0.1


@dataclass(frozen=True, slots=True)
class Sweeping:
    """How to sweep a block: its groups with an example of each, the steps, and the group of the root."""

    groups: Sequence[sweep.Group]
    examples: Sequence[int]
    steps: lumped.SweepPlan | Sequence[Sequence[sweep.Counts]]
    states: int
    root: int | None


@dataclass
class _Component:
    """A connected part of the order: its plan, and the tables of one attempt."""

    poset: Poset
    members: Sequence[int]
    plan: Sequence[blocks.Elimination]
    budget: Budget
    limits: Limits
    grid: Grid = field(init=False)
    tables: dict[int, Array] = field(init=False)
    plain: dict[Law, Array] = field(init=False)
    leaves: dict[tuple[Law, bool], Array] = field(init=False)
    kept: list[Kept] = field(init=False)
    kept_mass: float = field(init=False)
    ceiling: float = field(init=False)
    degree: int = field(init=False)
    allowance: pairs.Allowance = field(init=False)
    sweepings: dict[blocks.Elimination, Sweeping | LimitReached] = field(default_factory=dict)
    method: str = "tables"

    def solve(self, tolerance: float) -> LogProbability:
        laws = [self.poset.laws[i] for i in self.members]
        value, error, nodes = refine(
            self._attempt,
            kinks_of(laws),
            self._slope,
            tail_length(laws),
            tolerance,
            self.budget,
            self.limits,
            self.ceiling,
            self.degree,
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

    def _slope(self, x: Array, about: float | None) -> Array:
        """The rates of the samples that pull at a sample at ``x``, where a kept sample may lie there at all.

        If ``about`` is the logarithm of the result, a kept sample lies at ``x`` with at most the
        probability of its own factors there, times what the others can contribute, over the result.
        """
        slope = np.full_like(x, min(self.poset.laws[i].rate for i in self.members))
        for kept in self.kept:
            own = kept.slope(x)
            if about is not None and about > -inf:
                likely = kept.log_weight(x) + self.kept_mass - kept.mass - about
                own = np.where(likely > RELEVANT, own, 0.0)
            slope += own
        return slope

    def __post_init__(self) -> None:
        poset = self.poset
        leaves = {i for i in self.members if self._is_leaf(i)}
        if len(leaves) == len(self.members):  # two samples
            leaves.discard(self.members[0])
        tail = tail_length([poset.laws[i] for i in self.members])
        self.kept = []
        for i in self.members:
            self.limits.check("where the samples of a run lie")
            if i not in leaves:
                above = Counter(poset.laws[k] for k in poset.over[i] & leaves)
                below = Counter(poset.laws[k] for k in poset.under[i] & leaves)
                alone = [
                    Counter(
                        poset.laws[k] for k in side[i] & leaves if len(poset.over[k] | poset.under[k]) == 1
                    )
                    for side in (poset.over, poset.under)
                ]
                kept = Kept(poset.laws[i], above, below, self.limits)
                kept.mass = replace(kept, above=alone[0], below=alone[1]).log_mass(tail)
                self.kept.append(kept)
        self.kept_mass = sum(kept.mass for kept in self.kept)
        between = [i for i in leaves if len(poset.over[i] | poset.under[i]) > 1]
        self.allowance = pairs.Allowance(self.budget.pairs, self.limits)
        self.degree = len(self.kept) + len(between)
        self.ceiling = min(k.log_mass(tail) + self.kept_mass - k.mass for k in self.kept)

    def _is_leaf(self, i: int) -> bool:
        """Whether a sample gets no table: the last of its neighbours, beside one or between two of them."""
        over, under = self.poset.over[i], self.poset.under[i]
        return (
            len(over) <= 1
            and len(under) <= 1
            and all(k < i or len(self.poset.over[k] | self.poset.under[k]) > 1 for k in over | under)
            and not any(k > i for k in over | under)
        )

    def _density(self, law: Law) -> Array:
        table = self.plain.get(law)
        if table is None:
            table = self.plain[law] = pairs.density(self.grid, law)
        return table

    def _table(self, i: int) -> Array:
        """The density of a sample times the factors that it has got so far."""
        found = self.tables.get(i)
        return self._density(self.poset.laws[i]) if found is None else found

    def _integrate(self, part: blocks.Elimination) -> Array:
        self.limits.check("tables on a finer grid")
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

    def _block(self, part: blocks.Elimination) -> Array:
        """A block by the sweep if it has few states, else by pairs, else by the sweep after all."""
        few = max(FEW, len(part.members) * self.grid.size // CHEAPER)
        try:
            return self._sweep(part, min(few, self.budget.down_sets))
        except OutOfTime:
            raise
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
            result = pairs.integrate(pairs.Plane(self.grid, self.allowance), samples, part.root)
            self.method = "pairs"
            return result
        except OutOfTime:
            raise
        except LimitReached as reason:
            try:
                return self._sweep(part, self.budget.down_sets)
            except OutOfTime:
                raise
            except LimitReached as other:
                raise LimitReached(Limit.SIZE, f"{reason}; {other}") from None

    def _sweep(self, part: blocks.Elimination, limit: int) -> Array:
        sweeping = self._sweeping(part)
        if sweeping.states > limit:
            raise LimitReached(Limit.SIZE, f"the order of the samples has more than {limit} down-sets")
        size = self.grid.size * (1 if part.root is None else 2) * sweeping.states
        if size > self.budget.sweep:
            raise LimitReached(
                Limit.SIZE, f"sweeping takes {size} numbers, above the limit of {self.budget.sweep}"
            )
        densities = [
            self._table(i) if i != part.root else np.zeros_like(self.grid.x) for i in sweeping.examples
        ]
        if self.method == "tables":
            self.method = "down-sets"
        if isinstance(sweeping.steps, lumped.SweepPlan):
            return lumped.total(self.grid, sweeping.steps, densities, self.limits)
        assert sweeping.root is not None
        return sweep.sweep(self.grid, sweeping.groups, densities, sweeping.steps, sweeping.root, self.limits)

    def _sweeping(self, part: blocks.Elimination) -> Sweeping:
        """How to sweep a block; found once for all grids."""
        found = self.sweepings.get(part)
        if found is None:
            found = self.sweepings[part] = self._new_sweeping(part)
        if isinstance(found, LimitReached):
            raise found
        return found

    def _new_sweeping(self, part: blocks.Elimination) -> Sweeping | LimitReached:
        kinds: dict[tuple[object, ...], list[int]] = {}
        for i in sorted(part.members):
            over, under = self.poset.over[i] & part.members, self.poset.under[i] & part.members
            alone = i == part.root or i in self.tables
            kinds.setdefault((i,) if alone else (self.poset.laws[i], over, under), []).append(i)
        place = {i: g for g, members in enumerate(kinds.values()) for i in members}
        groups = [
            sweep.Group(
                len(members), frozenset(place[k] for k in self.poset.under[members[0]] & part.members)
            )
            for members in kinds.values()
        ]
        examples = [members[0] for members in kinds.values()]
        limit = self.budget.down_sets
        try:
            if part.root is None:
                steps = lumped.plan(groups, [kind[0] for kind in kinds], limit, self.limits)
                return Sweeping(groups, examples, steps, steps.states, None)
            levels = sweep.down_sets(groups, limit, self.limits)
        except OutOfTime:
            raise
        except LimitReached as reason:
            return reason
        return Sweeping(groups, examples, levels, sum(map(len, levels)), place[part.root])


def log_add(a: float, b: float) -> float:
    """``log(exp(a) + exp(b))``."""
    if b > a:
        a, b = b, a
    return a + log1p(exp(b - a)) if b > -inf else a
