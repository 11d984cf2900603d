"""Independent samples whose values and negatives are compared, with offsets: one after another is summed out.

All numbers at which something changes (means, ends of intervals, offsets) are multiples of one unit, so that
every comparison, however many samples it follows from, changes at points of a lattice. With integer noise the
sums over it are exact. Else integrals are sums by the trapezoidal rule whose ends are always such points: by
the formula of Euler and Maclaurin the error is a series in the square of the step, which halving it removes
term by term (Romberg). Tables are logarithms.

What is compared with at most one other sample that is left needs a line of the lattice, what is compared with
two a plane.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, exp, expm1, floor, gcd, inf, lcm, log, log1p
from typing import Any

import numpy as np

from symdipa.evidence.probability.laplace import Array, log_interval
from symdipa.evidence.probability.poset import ProbabilityRefused
from symdipa.model.automaton import Noise
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.numbers.possible import Edge, potentials

Ints = np.ndarray[Any, np.dtype[np.int64]]

BEHIND = 1e-3
"""Tables end, behind all places where anything changes, where densities have fallen to this part of the
tolerance."""
COARSEST = 0.5
"""The first step is not longer than this part of the least noise scale."""
AHEAD = 8
"""A finer lattice is taken to be more exact than the one before by this factor at least."""
HALVINGS = 9
"""How often the step is halved."""
ORDINARY = 600.0
"""Logarithms of numbers that are less than this apart are those of floats."""
ROUND = Fraction(1, 1000)
"""Numbers that have nothing as large as this in common are better rounded."""
LINE, PLANE, SPACE = 1 << 22, 24_000_000, 400_000_000
"""The most numbers in a line and in a plane, and the most that summing over a third sample looks at."""


@dataclass(frozen=True, slots=True)
class Law:
    """A sample with noise of inverse scale ``rate`` around ``mean``, asked to lie in ``[low, high]``."""

    noise: Noise
    rate: float
    mean: Fraction
    low: Fraction | None = None
    high: Fraction | None = None

    def within(self, low: Fraction | None, high: Fraction | None) -> Law:
        """The law with a further interval."""
        lows = [x for x in (self.low, low) if x is not None]
        highs = [x for x in (self.high, high) if x is not None]
        return replace(self, low=max(lows, default=None), high=min(highs, default=None))

    def log_weight(self, z: Array, integer: bool) -> Array:
        """The logarithm of the density, or of the probability of an integer, on the support."""
        far = self.rate * np.abs(z - float(self.mean))
        if not integer:
            return np.asarray(log(self.rate / (2 if self.noise is Noise.LAPLACE else 1)) - far)
        top = log(-expm1(-self.rate))
        return np.asarray(top - (log1p(exp(-self.rate)) if self.noise is Noise.LAPLACE else 0.0) - far)

    def log_alone(self, integer: bool) -> float:
        """The logarithm of the probability of the interval; an integer one has integer ends."""
        low = -inf if self.low is None else float(self.low - self.mean)
        high = inf if self.high is None else float(self.high - self.mean)
        if integer and low <= high:
            return self._whole(low, high)
        if self.noise is Noise.LAPLACE:
            return float(log_interval(self.rate, 0.0, low, high))
        low = max(low, 0.0)
        if low >= high:
            return -inf
        return -self.rate * low + (log(-expm1(self.rate * (low - high))) if high < inf else 0.0)

    def _whole(self, low: float, high: float) -> float:
        rate, found = self.rate, -inf
        # P(low <= k <= high) for k >= 0, then for k < 0 by symmetry.
        share = log1p(exp(-rate)) if self.noise is Noise.LAPLACE else 0.0
        sides = [(max(low, 0.0), high)]
        if self.noise is Noise.LAPLACE:
            sides.append((max(-high, 1.0), -low))
        for near, far in sides:
            if near <= far:
                part = log(-expm1(-rate * (far - near + 1))) if far < inf else 0.0
                found = float(np.logaddexp(found, -rate * near + part - share))
        return found


@dataclass(frozen=True, slots=True)
class Bound:
    """``sign_i * z_i <= sign_j * z_j + more``."""

    i: int
    sign_i: int
    j: int
    sign_j: int
    more: Fraction


@dataclass(frozen=True)
class Problem:
    """Samples by their laws, and bounds between two different ones each."""

    integer: bool
    laws: tuple[Law, ...]
    bounds: tuple[Bound, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The logarithm of a probability, its error, the method, and the size of the largest table."""

    value: float
    error: float
    method: str
    nodes: int = 0


CLOSED, LINES, PLANES, SUMS = "closed form", "a lattice", "a plane lattice", "sums over integers"
RANKING = (CLOSED, SUMS, LINES, PLANES)


def log_probability_of(problem: Problem, tolerance: float, limits: Limits = UNLIMITED) -> Answer:
    """The logarithm of the probability that all bounds hold.

    Raises :class:`ProbabilityRefused` where the error stays above ``tolerance`` and
    :class:`~symdipa.model.errors.LimitReached` where more values matter at a time than tables can have
    dimensions, or tables are too large.
    """
    if not possible(problem):
        return Answer(-inf, 0.0, "infeasible")
    problem = needed(problem, limits)
    value, error, nodes, methods = 0.0, 0.0, 0, {CLOSED}
    parts = connected(problem)
    known: dict[object, Answer] = {}
    for part in parts:
        if len(part) == 1:
            value += problem.laws[part[0]].log_alone(problem.integer)
            continue
        if value == -inf:
            break
        piece = restricted(problem, part)
        if piece not in known:
            limits.check("the samples of a run")
            known[piece] = _Component(piece, limits).solve(tolerance / len(parts))
        found = known[piece]
        value, error, nodes = value + found.value, error + found.error, max(nodes, found.nodes)
        methods.add(found.method)
    if value == -inf:
        return Answer(-inf, 0.0, "infeasible")
    error += 1e-15 * len(problem.laws) * (1 + abs(value))
    if error > tolerance:
        raise ProbabilityRefused(f"the error {error:.1e} is above the tolerance {tolerance:.1e}")
    return Answer(value, error, max(methods, key=RANKING.index), nodes)


def possible(problem: Problem) -> bool:
    """Whether bounds and intervals do not contradict each other; integers may have no room all the same."""
    strict, edges = not problem.integer, []
    for b in problem.bounds:
        (i, j), (k, m) = _sides(b.i, b.sign_i), _sides(b.j, b.sign_j)
        edges += [Edge(i, k, b.more, strict), Edge(m, j, b.more, strict)]
    for i, law in enumerate(problem.laws):
        up, down = _sides(i, 1)
        for low in (law.low, law.mean if law.noise is Noise.EXPONENTIAL else None):
            if low is not None:
                edges.append(Edge(down, up, -2 * low, strict))
        if law.high is not None:
            edges.append(Edge(up, down, 2 * law.high, strict))
    return potentials(2 * len(problem.laws), edges) is not None


def _sides(i: int, sign: int) -> tuple[int, int]:
    """The nodes of a sample with a sign, and of its negative."""
    return 2 * i + (sign < 0), 2 * i + (sign > 0)


def connected(problem: Problem) -> list[list[int]]:
    """The samples by the parts that no bound connects."""
    parent = list(range(len(problem.laws)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = i = parent[parent[i]]
        return i

    for b in problem.bounds:
        parent[root(b.i)] = root(b.j)
    groups: dict[int, list[int]] = {}
    for i in range(len(problem.laws)):
        groups.setdefault(root(i), []).append(i)
    return list(groups.values())


def restricted(problem: Problem, members: Sequence[int]) -> Problem:
    """The part with these samples."""
    number = {i: k for k, i in enumerate(members)}
    bounds = tuple(replace(b, i=number[b.i], j=number[b.j]) for b in problem.bounds if b.i in number)
    return Problem(problem.integer, tuple(problem.laws[i] for i in members), bounds)


Node = tuple[int, int]
"""A sample and a sign."""


def needed(problem: Problem, limits: Limits = UNLIMITED) -> Problem:
    """The problem without bounds that follow from others, so that fewer samples are neighbours."""
    closest: dict[tuple[int, int, int, int], Fraction] = {}
    for b in problem.bounds:
        if (b.i, b.sign_i) > (b.j, -b.sign_j):  # the same bound, of the negatives
            b = Bound(b.j, -b.sign_j, b.i, -b.sign_i, b.more)
        key = (b.i, b.sign_i, b.j, b.sign_j)
        closest[key] = min(closest.get(key, b.more), b.more)
    kept = [Bound(*key, more) for key, more in closest.items()]
    double = any(b.sign_i != b.sign_j for b in kept)
    scale = lcm(*(b.more.denominator for b in kept))
    arcs: dict[Node, dict[Node, int]] = {}
    into: Counter[Node] = Counter()

    def both(b: Bound) -> list[tuple[Node, Node]]:
        forth, back = ((b.i, b.sign_i), (b.j, b.sign_j)), ((b.j, -b.sign_j), (b.i, -b.sign_i))
        return [forth, back] if double else [forth if b.sign_i > 0 else back]

    for b in kept:
        for a, z in both(b):
            arcs.setdefault(a, {})[z] = int(b.more * scale)
            into[z] += 1
    result = []
    for b in sorted(kept, key=lambda b: (-b.more, b.i, b.j)):
        limits.check("which comparisons follow from others")
        for a, z in both(b):
            del arcs[a][z]
            into[z] -= 1
        a, z = both(b)[0]
        if not into[z] or not _reaches(arcs, a, z, int(b.more * scale)):
            result.append(b)
            for a, z in both(b):
                arcs[a][z] = int(b.more * scale)
                into[z] += 1
    result.sort(key=lambda b: (b.i, b.j, b.sign_i, b.sign_j))
    return Problem(problem.integer, problem.laws, tuple(result))


def _reaches(arcs: dict[Node, dict[Node, int]], start: Node, end: Node, most: int) -> bool:
    """Whether a chain of other bounds is at least as close."""
    if not arcs.get(start):
        return False
    best = {start: 0}
    work = [start]
    for _ in range(4 * len(arcs) + 4):
        following = []
        for a in work:
            for z, more in arcs.get(a, {}).items():
                far = best[a] + more
                if z not in best or far < best[z]:
                    best[z] = far
                    following.append(z)
        if not following:
            break
        work = following
    return end in best and best[end] <= most


# ------------------------------------------------------------------------------------------- ranges of tables


def log_less(a: Array, b: Array) -> Array:
    """``log(exp(a) - exp(b))`` where ``a >= b``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(np.isfinite(b), b - a, -np.inf)
        return np.asarray(np.where(gap < 0, a + np.log(-np.expm1(np.minimum(gap, 0.0))), -np.inf))


class Ranges:
    """Integrals (or sums, without a ``step``) of a unimodal table over any range of its points.

    On either side of the mode those up to a point are subtracted that are smaller, so nothing cancels.
    """

    def __init__(self, table: Array, step: float | None) -> None:
        self.step, self.mode = step, int(table.argmax())
        finite = table[np.isfinite(table)]
        self.top = float(finite.max()) if len(finite) else 0.0
        # Where all numbers are within what a float can hold, logarithms are taken at the end only.
        self.plain = len(finite) == 0 or self.top - float(finite.min()) < ORDINARY
        if self.plain:
            cells, nothing = np.exp(table - self.top), 0.0
            cells = cells if step is None else (cells[1:] + cells[:-1]) * (step / 2)
            rising, falling = np.cumsum(cells), np.cumsum(cells[::-1])
        else:
            cells, nothing = table, -np.inf
            cells = cells if step is None else np.logaddexp(cells[1:], cells[:-1]) + log(step / 2)
            rising, falling = np.logaddexp.accumulate(cells), np.logaddexp.accumulate(cells[::-1])
        self.rising = np.concatenate(([nothing], rising))
        self.falling = np.concatenate(([nothing], falling))[::-1]

    def between(self, low: Ints, high: Ints) -> Array:
        """From one point to another (to be included in a sum); ``-inf`` where that is empty."""
        last = len(self.rising) - 1
        low = np.clip(low, 0, last)
        past = np.clip(high + 1 if self.step is None else high, 0, last)
        up, down = np.minimum(past, self.mode), np.maximum(low, self.mode)
        ends = (
            (self.rising[up], self.rising[np.minimum(low, up)]),
            (self.falling[down], self.falling[np.maximum(past, down)]),
        )
        if not self.plain:
            return np.asarray(np.logaddexp(log_less(*ends[0]), log_less(*ends[1])))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log((ends[0][0] - ends[0][1]) + (ends[1][0] - ends[1][1])) + self.top)


# ------------------------------------------------------------------------------------------------ elimination


@dataclass
class _Component:
    """Samples that bounds connect."""

    problem: Problem
    limits: Limits
    method: str = LINES
    nodes: int = 0
    tail: float = 0.0

    def solve(self, tolerance: float) -> Answer:
        """The logarithm of the probability of all bounds together."""
        self.tail, ends = -log(tolerance * BEHIND), 2 * tolerance * BEHIND
        if self.problem.integer:
            value = self._attempt(Fraction(1))
            return Answer(value, ends + 1e-12, SUMS, self.nodes)
        unit, longest = self._unit(), COARSEST / max(law.rate for law in self.problem.laws)
        step = unit
        while step > longest:
            step /= 2
        rows: list[list[float]] = []
        error = inf
        for _ in range(HALVINGS):
            try:
                value = self._attempt(step)
            except LimitReached as reason:
                if not rows or reason.limit is not Limit.SIZE:
                    raise
                raise LimitReached(Limit.SIZE, f"{reason} (two steps differ by {error:.1e})") from None
            step /= 2
            if value == -inf:
                rows = []
                continue
            row = [value]
            for k, before in enumerate(rows[-1] if rows else []):
                row.append(row[k] + (row[k] - before) / (4 ** (k + 1) - 1))
            if rows:
                error = max(abs(row[-1] - row[-2]), abs(row[-1] - rows[-1][-1]) / AHEAD)
                if len(row) > 2 and error <= tolerance / 2:
                    return Answer(row[-1], error + ends, self.method, self.nodes)
            rows.append(row)
        if not rows:
            return Answer(-inf, 0.0, "infeasible", self.nodes)
        raise ProbabilityRefused(f"two steps still differ by {error:.1e}, above {tolerance / 2:.1e}")

    def _unit(self) -> Fraction:
        """The largest number of which all that matters is a multiple."""
        laws, bounds = self.problem.laws, self.problem.bounds
        numbers = [x for law in laws for x in (law.mean, law.low, law.high) if x is not None]
        numbers += [b.more for b in bounds]
        scale = lcm(*(x.denominator for x in numbers), 1)
        unit = gcd(*(int(x * scale) for x in numbers)) or scale
        mirrored = any(b.sign_i != b.sign_j for b in bounds)
        return Fraction(unit, scale * (2 if mirrored else 1))

    def _spans(self, step: Fraction) -> list[tuple[int, int]]:
        """The first and the last point of the table of each sample."""
        laws, bounds = self.problem.laws, self.problem.bounds
        kinks = [x for law in laws for x in (law.mean, law.low, law.high) if x is not None]
        if any(b.sign_i != b.sign_j for b in bounds):
            kinks += [-x for x in kinks]
        room = self._reach()
        first, last = float(min(kinks) - room), float(max(kinks) + room)
        slack = log(len(laws) + 1) / min(law.rate for law in laws)
        found = []
        for law in laws:
            tail = self.tail / law.rate + slack
            low, high = floor((first - tail) / float(step)), ceil((last + tail) / float(step))
            support = law.mean if law.noise is Noise.EXPONENTIAL else None
            for end in (law.low, support):
                low = low if end is None else max(low, ceil(end / step))
            if law.high is not None:
                high = min(high, floor(law.high / step))
            if high - low + 1 > LINE:
                unit = self._unit()
                coarse = f"; all are multiples of {unit} only: round inputs" if unit < ROUND else ""
                raise LimitReached(
                    Limit.SIZE, f"a table of {high - low + 1} numbers is above the limit of {LINE}{coarse}"
                )
            found.append((low, high))
        return found

    def _reach(self) -> Fraction:
        """The most that offsets move anything, in a chain of bounds."""
        near: dict[int, list[tuple[int, Fraction]]] = {}
        for b in self.problem.bounds:
            near.setdefault(b.i, []).append((b.j, abs(b.more)))
            near.setdefault(b.j, []).append((b.i, abs(b.more)))

        def farthest(start: int) -> tuple[Fraction, int]:
            best, work = {start: Fraction(0)}, [start]
            while work:
                i = min(work, key=lambda k: best[k])
                work.remove(i)
                for j, more in near.get(i, ()):
                    if j not in best:
                        best[j] = best[i] + more
                        work.append(j)
                    elif j in work:
                        best[j] = min(best[j], best[i] + more)
            return max((far, i) for i, far in best.items())

        return 2 * farthest(0)[0] if any(b.more for b in self.problem.bounds) else Fraction(0)

    def _attempt(self, step: Fraction) -> float:
        self.limits.check("a finer lattice")
        spans = self._spans(step)
        if any(a > b if self.problem.integer else a >= b for a, b in spans):
            return -inf
        return _Elimination(self, step, spans).value()


Table = dict[tuple[int, int], Array]


class _Elimination:
    """The tables of one attempt: a line for each sample that is left, planes for some pairs of them."""

    def __init__(self, component: _Component, step: Fraction, spans: Sequence[tuple[int, int]]) -> None:
        problem = component.problem
        self.component, self.limits = component, component.limits
        self.integer = problem.integer
        self.step = None if problem.integer else float(step)
        self.first = [a for a, _ in spans]
        self.size = [b - a + 1 for a, b in spans]
        self.laws = problem.laws
        self.lines: list[Array | None] = [None] * len(spans)  # made when it is needed
        self.touched = [False] * len(spans)
        self.planes: Table = {}
        self.bounds: dict[int, dict[int, list[tuple[int, int, int]]]] = {i: {} for i in range(len(spans))}
        for b in problem.bounds:
            more = int(b.more / step)
            # Of i by j, and of j by i: sign, sign, offset of sign * own <= sign * other + more.
            self.bounds[b.i].setdefault(b.j, []).append((b.sign_i, b.sign_j, more))
            self.bounds[b.j].setdefault(b.i, []).append((-b.sign_j, -b.sign_i, more))
        self.left = set(range(len(spans)))
        self.messages: dict[object, Array] = {}
        component.nodes = max(component.nodes, *self.size)

    def value(self) -> float:
        """The logarithm of the integral over all samples."""
        total = 0.0
        while self.left:
            self.limits.check("the tables of a lattice")
            z = min(self.left, key=self._effort)
            others = sorted(self._neighbours(z))
            self.left.remove(z)
            if not others:
                total += float(
                    self._ranges(self.line(z)).between(np.array([0]), np.array([self.size[z] - 1]))[0]
                )
                if total == -inf:
                    return total
            elif len(others) == 1:
                self._into_line(z, others[0])
            elif len(others) == 2:
                self._into_plane(z, others[0], others[1])
            else:
                raise LimitReached(
                    Limit.SIZE, f"{len(others) + 1} values matter at the same time; tables have at most two"
                )
            for y in others:
                del self.bounds[y][z]
        return total

    def _effort(self, z: int) -> tuple[int, int, int, int]:
        others = self._neighbours(z)
        planes = sum((min(z, y), max(z, y)) in self.planes for y in others)
        size = 1
        for y in others:
            size *= self.size[y]
        return len(others), planes, size, z

    def _neighbours(self, z: int) -> set[int]:
        return set(self.bounds[z])

    def line(self, z: int) -> Array:
        found = self.lines[z]
        if found is None:
            step = 1.0 if self.step is None else self.step
            points = (self.first[z] + np.arange(self.size[z], dtype=np.float64)) * step
            found = self.lines[z] = self.laws[z].log_weight(points, self.integer)
        return found

    def _ranges(self, table: Array) -> Ranges:
        return Ranges(table, self.step)

    def _limits_of(self, z: int, y: int) -> tuple[Ints, Ints]:
        """For each point of ``y`` the first and the last point of ``z``."""
        points = self.first[y] + np.arange(self.size[y])
        low = np.full(len(points), 0, dtype=np.int64)
        high = np.full(len(points), self.size[z] - 1, dtype=np.int64)
        for own, other, more in self.bounds[z][y]:
            end = own * (other * points + more) - self.first[z]
            if own > 0:
                high = np.minimum(high, end)
            else:
                low = np.maximum(low, end)
        return low, high

    def _key(self, z: int, *others: int) -> object:
        """What a sample is like that nothing was summed into."""
        return self.laws[z], tuple((y, tuple(sorted(self.bounds[z][y]))) for y in others)

    def _into_line(self, z: int, y: int) -> None:
        plane = self.planes.pop((min(z, y), max(z, y)), None)
        low, high = self._limits_of(z, y)
        if plane is None:
            key = self._key(z, y)
            message = None if self.touched[z] else self.messages.get(key)
            if message is None:
                message = self._ranges(self.line(z)).between(low, high)
                if not self.touched[z]:
                    self.messages[key] = message
        else:
            message = self._over_plane(self.line(z), plane if z < y else plane.T, low, high)
        self.lines[y] = self.line(y) + message
        self.touched[y] = True
        self.lines[z] = None

    def _over_plane(self, line: Array, plane: Array, low: Ints, high: Ints) -> Array:
        """The integral of ``line`` times ``plane``, over the rows between two for each column."""
        rows = np.arange(len(line))[:, None]
        table = line[:, None] + plane
        table[(rows < low) | (rows > high)] = -np.inf
        if self.step is not None:
            table -= log(2) * ((rows == low) | (rows == high))
            table[:, low >= high] = -np.inf
        top = table.max(axis=0)
        safe = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(
                np.log(np.exp(table - safe).sum(axis=0)) + safe + (log(self.step) if self.step else 0.0)
            )

    def _into_plane(self, z: int, y: int, w: int) -> None:
        if self.size[y] * self.size[w] > PLANE:
            raise LimitReached(
                Limit.SIZE,
                f"a plane of {self.size[y]} times {self.size[w]} numbers is above the limit of {PLANE}",
            )
        self.component.method = PLANES if not self.integer else SUMS
        first, second = (self.planes.pop((min(z, x), max(z, x)), None) for x in (y, w))
        first = None if first is None else (first if z < y else first.T)
        second = None if second is None else (second if z < w else second.T)
        low_y, high_y = self._limits_of(z, y)
        low_w, high_w = self._limits_of(z, w)
        line = self.line(z)
        grown = np.empty((self.size[y], self.size[w]))
        if first is not None and second is not None and self.size[z] * grown.size > SPACE:
            raise LimitReached(Limit.SIZE, "three values matter at the same time; tables have at most two")
        key = self._key(z, y, w)
        plain = first is None and second is None and not self.touched[z]
        known = self.messages.get(key) if plain else None
        if known is not None:
            grown = known
        elif first is None and second is None:
            ranges = self._ranges(line)
            block = max(1, (1 << 20) // self.size[w])
            for k in range(0, self.size[y], block):
                self.limits.check("a plane of a lattice")
                part = slice(k, k + block)
                grown[part] = ranges.between(
                    np.maximum(low_y[part, None], low_w), np.minimum(high_y[part, None], high_w)
                )
        elif first is not None:
            for k in range(self.size[y]):
                if k % 64 == 0:
                    self.limits.check("a plane of a lattice")
                low, high = np.maximum(low_y[k], low_w), np.minimum(high_y[k], high_w)
                if second is None:
                    grown[k] = self._ranges(line + first[:, k]).between(low, high)
                else:
                    grown[k] = self._over_plane(line + first[:, k], second, low, high)
        else:
            assert second is not None
            for k in range(self.size[w]):
                if k % 64 == 0:
                    self.limits.check("a plane of a lattice")
                low, high = np.maximum(low_y, low_w[k]), np.minimum(high_y, high_w[k])
                grown[:, k] = self._ranges(line + second[:, k]).between(low, high)
        if plain:
            self.messages[key] = grown
        known = self.planes.get((y, w))
        self.planes[y, w] = grown if known is None else known + grown
        self.bounds[y].setdefault(w, [])
        self.bounds[w].setdefault(y, [])
        self.lines[z] = None
