"""The probability of an event about a run, from its samples and comparisons, with the standard library alone.

The text of this file is part of every script that :mod:`~symdipa.evidence.refutation.script` writes, so it
imports nothing else of symdipa; nor does it share an algorithm with :mod:`symdipa.evidence.probability`.

A sample that is compared with one or two others only is a factor in closed form. The others are integrated
one after another, by Gauss's rule on panels between the places where anything has a kink; with integer noise
they are summed. Panels are halved until that makes no difference.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

ENOUGH = 1e-6
"""Halving the panels ends where it changes a logarithm by no more than this,"""
COARSEST, FINEST = -1, 6
"""or was done so often. (At first they are twice as wide as they would be.)"""
ROUGHEST = 1e-2
"""A larger change is not accepted where there is no time for more."""
MOST_WORK = 6_000_000
"""How many steps one integration may take, about."""
NODES = 8
"""Gauss's nodes on a panel."""
STEEP = 8.0
"""By what power of e factors may change on a panel at first."""
TAIL = 30.0
"""What is left out has probabilities that are smaller by this power of e, at least."""


Data = dict[str, Any]
"""A run, as a script holds it: ``samples`` (noise, inverse scale, constant, entries with factors), and
``comparisons`` of terms (a sign, the number of a sample, and what is added)."""


class TooMuchWork(Exception):
    """The probability cannot be computed like this; the text says why."""


@dataclass(frozen=True)
class Law:
    """Noise around a mean: ``laplace`` or ``exponential``, of integers where it is ``whole``; of its values
    those in ``[low, high]`` are asked for."""

    kind: str
    rate: float
    mean: Fraction
    low: Fraction | None
    high: Fraction | None
    whole: bool

    @property
    def ends(self) -> tuple[float, float]:
        """The interval in which it has to lie."""
        low = -math.inf if self.low is None else float(self.low)
        if self.kind == "exponential":
            low = max(low, float(self.mean))
        return low, math.inf if self.high is None else float(self.high)

    def log_density(self, x: float) -> float:
        """The logarithm of the density at a place in the interval (of the probability, if it is whole)."""
        away = abs(x - float(self.mean)) * self.rate
        if self.kind == "exponential":
            return (math.log(-math.expm1(-self.rate)) if self.whole else math.log(self.rate)) - away
        if self.whole:
            return math.log(math.tanh(self.rate / 2)) - away
        return math.log(self.rate / 2) - away

    def mass(self, low: float, high: float) -> float:
        """The probability of what lies between two numbers and in the interval."""
        own_low, own_high = self.ends
        low, high = max(low, own_low), min(high, own_high)
        if self.whole:
            low = low if low == -math.inf else math.ceil(low)
            high = high if high == math.inf else math.floor(high)
        if low > high or (low == high and not self.whole):
            return 0.0
        mean = float(self.mean)
        if self.kind == "exponential":
            return self._tail(low - mean, high - mean, 1.0)
        part = 1 / (1 + math.exp(-self.rate)) if self.whole else 0.5
        if low >= mean:
            return self._tail(low - mean, high - mean, part)
        if high <= mean:
            return self._tail(mean - high, mean - low, part)
        below = (mean - 1 if self.whole else mean) - low
        first = 1.0 if self.whole else 0.0
        return self._tail(first, below + first, part) + self._tail(0.0, high - mean, part)

    def _tail(self, near: float, far: float, part: float) -> float:
        """The probability of what lies so far from the mean on one side."""
        width = far - near + (1 if self.whole else 0)
        return -part * math.exp(-self.rate * near) * math.expm1(-self.rate * width)


@dataclass(frozen=True)
class Bound:
    """``sign * z[of] <= other_sign * z[other] + more``."""

    of: int
    sign: int
    other: int
    other_sign: int
    more: Fraction

    def seen_from(self, i: int) -> tuple[int, bool, int, float]:
        """For one of the two: the other one, and that this is at most (else at least) a sign times that,
        plus something."""
        more = float(self.more)
        if i == self.of:
            return self.other, self.sign > 0, self.sign * self.other_sign, self.sign * more
        return self.of, self.other_sign < 0, self.sign * self.other_sign, -self.other_sign * more


Interval = tuple[float, float]


def log_probability(laws: Sequence[Law], bounds: Sequence[Bound]) -> tuple[float, float]:
    """The logarithm of the probability that all bounds hold, and how far it may be off.

    ``-inf``: that is impossible. Raises :class:`TooMuchWork`.
    """
    if impossible(laws, bounds):
        return -math.inf, 0.0
    total = error = 0.0
    for part in components(len(laws), bounds):
        number = {i: k for k, i in enumerate(part)}
        own = [
            Bound(number[b.of], b.sign, number[b.other], b.other_sign, b.more)
            for b in bounds
            if b.of in number
        ]
        found, off = _settled([laws[i] for i in part], own)
        total, error = total + found, error + off
    return total, error


def impossible(laws: Sequence[Law], bounds: Sequence[Bound]) -> bool:
    """Whether no values are as asked for, exactly: a circle of bounds that cannot be closed.

    Nodes are the samples, their negatives and 0. Noise that is not whole fills no circle that just closes.
    """
    zero = 2 * len(laws)
    edges: list[tuple[int, int, Fraction]] = []  # value[i] <= value[j] + more

    def node(i: int, sign: int) -> int:
        return 2 * i + (sign < 0)

    def add(i: int, j: int, more: Fraction) -> None:
        edges.append((i, j, more))
        edges.append((j ^ 1 if j < zero else zero, i ^ 1 if i < zero else zero, more))

    for b in bounds:
        add(node(b.of, b.sign), node(b.other, b.other_sign), b.more)
    for i, law in enumerate(laws):
        lows = [law.low, law.mean if law.kind == "exponential" else None]
        for low in lows:
            if low is not None:
                add(node(i, -1), zero, -low)
        if law.high is not None:
            add(node(i, 1), zero, law.high)
    strict = 0 if all(law.whole for law in laws) else -1
    reach = [(Fraction(0), 0)] * (zero + 1)
    for _ in range(zero + 2):
        changed = False
        edges.reverse()  # so that chains in both directions are gone through at once
        for i, j, more in edges:
            now = reach[j][0] + more, reach[j][1] + strict
            if now < reach[i]:
                reach[i], changed = now, True
        if not changed:
            return False
    return True


def components(count: int, bounds: Iterable[Bound]) -> list[list[int]]:
    """The samples in groups of which no two are compared."""
    group = list(range(count))

    def root(i: int) -> int:
        while group[i] != i:
            i = group[i]
        return i

    for b in bounds:
        group[root(b.of)] = root(b.other)
    found: dict[int, list[int]] = {}
    for i in range(count):
        found.setdefault(root(i), []).append(i)
    return list(found.values())


def _settled(laws: list[Law], bounds: list[Bound]) -> tuple[float, float]:
    """The logarithm for samples that are all connected, as exact as it gets."""
    if len(laws) == 1:
        return math.log(laws[0].mass(-math.inf, math.inf)), 0.0
    if laws[0].whole:
        return _Integral(laws, bounds, 0).value(), 1e-9
    before, off = _Integral(laws, bounds, COARSEST).value(), math.inf
    for fine in range(COARSEST + 1, FINEST + 1):
        try:
            now = _Integral(laws, bounds, fine).value()
        except TooMuchWork:
            if off > ROUGHEST:
                raise
            break
        off, before = abs(now - before), now
        if off <= ENOUGH:
            break
    return before, off


def _gauss(count: int) -> tuple[list[float], list[float]]:
    """Gauss's nodes in [-1, 1] and their weights, by Newton's method on the Legendre polynomial."""
    nodes, weights = [], []
    for k in range(count):
        x, slope = math.cos(math.pi * (count - k - 0.25) / (count + 0.5)), 0.0
        for _ in range(50):
            p, q = 1.0, 0.0
            for n in range(count):
                p, q = ((2 * n + 1) * x * p - n * q) / (n + 1), p
            slope = count * (x * p - q) / (x * x - 1)
            x -= p / slope
        nodes.append(x)
        weights.append(2 / ((1 - x * x) * slope * slope))
    return nodes, weights


def _primitives(nodes: list[float]) -> list[list[float]]:
    """For each node the integral from -1 of the polynomial that is 1 there and 0 at the others, by powers."""
    found = []
    for k, x in enumerate(nodes):
        powers = [1.0]
        for j, y in enumerate(nodes):
            if j != k:
                shifted = [0.0, *powers]
                powers = [(s - y * p) / (x - y) for s, p in zip(shifted, [*powers, 0.0], strict=True)]
        integral = [0.0, *(p / (n + 1) for n, p in enumerate(powers))]
        integral[0] = -sum(c * (-1) ** n for n, c in enumerate(integral))
        found.append(integral)
    return found


PLACES, WEIGHTS = _gauss(NODES)
PRIMITIVES = _primitives(PLACES)


class _Grid:
    """Places of a sample: panels with their nodes, or integers."""

    def __init__(self, ends: list[float] | None, whole: range | None) -> None:
        self.ends, self.whole = ends or [], whole
        self.places: list[float] = []
        if whole is not None:
            self.places = [float(k) for k in whole]
        for a, b in pairwise(self.ends):
            self.places += [(a + b) / 2 + (b - a) / 2 * x for x in PLACES]

    def total(self, values: Sequence[float]) -> float:
        """The integral of a function with such values."""
        if self.whole is not None:
            return math.fsum(values)
        return self.up_to(values)(math.inf)

    def up_to(self, values: Sequence[float]) -> Callable[[float], float]:
        """The integral from below up to some place."""
        if self.whole is not None:
            sums, first = [0.0], self.whole.start
            for value in values:
                sums.append(sums[-1] + value)
            last = len(values)

            def counted(y: float) -> float:
                if y < first:
                    return 0.0
                return sums[last] if y >= first + last else sums[math.floor(y) - first + 1]

            return counted
        ends, sums = self.ends, [0.0]
        for k in range(len(ends) - 1):
            own = values[k * NODES : (k + 1) * NODES]
            part = sum(w * v for w, v in zip(WEIGHTS, own, strict=True))
            sums.append(sums[-1] + part * (ends[k + 1] - ends[k]) / 2)

        def integrated(y: float) -> float:
            k = bisect_right(ends, y) - 1
            if k < 0 or k >= len(ends) - 1:
                return 0.0 if k < 0 else sums[-1]
            half = (ends[k + 1] - ends[k]) / 2
            x, part = (y - ends[k]) / half - 1, 0.0
            for value, powers in zip(values[k * NODES : (k + 1) * NODES], PRIMITIVES, strict=True):
                if value:
                    at = 0.0
                    for power in reversed(powers):
                        at = at * x + power
                    part += value * at
            return sums[k] + part * half

        return integrated


Table = list[list[float]]


class _Integral:
    """Samples that are connected, at one fineness."""

    def __init__(self, laws: list[Law], bounds: list[Bound], fine: int) -> None:
        self.laws, self.fine, self.work = laws, fine, 0
        self.seen: list[list[tuple[int, bool, int, float]]] = [[] for _ in laws]
        for b in bounds:
            for i in (b.of, b.other):
                self.seen[i].append(b.seen_from(i))
        self.beside = [{other for other, *_ in seen} for seen in self.seen]
        self.factors = self._factors()
        self.core = [i for i in range(len(laws)) if i not in self.factors]

    def _factors(self) -> set[int]:
        """Samples to be integrated in closed form: ends first, then those between two that have others, too.

        No two of them are compared.
        """
        ends: set[int] = set()
        for i, beside in enumerate(self.beside):
            if len(beside) == 1 and not beside & ends:
                ends.add(i)
        inner = [beside - ends for beside in self.beside]
        found = set(ends)
        for i in range(len(self.laws)):
            between = i not in ends and len(inner[i]) == 2 and self.beside[i] == inner[i]
            if between and not inner[i] & found and all(len(inner[j]) > 2 for j in inner[i]):
                found.add(i)
        return found

    def value(self) -> float:
        """The logarithm of the probability."""
        self.grids = dict(zip(self.core, self._grids(), strict=True))
        self.scale = 0.0
        self.logs = {i: [self.laws[i].log_density(x) for x in grid.places] for i, grid in self.grids.items()}
        self.tables: dict[tuple[int, int], Table] = {}
        for i in sorted(self.factors):
            self._multiply(i)
        self.values = {i: self._scaled(logs) for i, logs in self.logs.items()}
        left = set(self.core)
        self.links = {i: {j for j in self.beside[i] if j in left} for i in left}
        for i, j in self.tables:
            self.links[i].add(j)
        while len(left) > 1:
            self._eliminate(min(left, key=self._cost))
            left = set(self.links)
        (last,) = left
        total = self.grids[last].total(self.values[last])
        if not total > 0:
            raise TooMuchWork("the probability is too small for what is left of the digits")
        return math.log(total) + self.scale

    def _cost(self, i: int) -> tuple[int, int, int]:
        """Which sample is to be integrated first: the one with fewest links, and few tables among them."""
        links = self.links[i]
        return len(links), sum((j, i) in self.tables for j in links), i

    def _did(self, steps: int) -> None:
        self.work += steps
        if self.work > MOST_WORK:
            raise TooMuchWork("too many values would have to be integrated one after another")

    def _scaled(self, logs: Iterable[float]) -> list[float]:
        """Numbers from their logarithms, the largest of which is put aside."""
        logs = list(logs)
        most = max(logs)
        if most == -math.inf:
            raise TooMuchWork("the probability is too small for what is left of the digits")
        self.scale += most
        return [math.exp(x - most) for x in logs]

    # ------------------------------------------------------------------------------------------- the places

    def _grids(self) -> Iterator[_Grid]:
        kinks = [self._own_kinks(i) for i in range(len(self.laws))]
        for _ in range(2):  # what one has is a kink of what it is compared with
            kinks = [
                own.union(*({s * k + more for k in kinks[j]} for j, _, s, more in self.seen[i]))
                if len(own) < 400
                else own
                for i, own in enumerate(kinks)
            ]
        for i in self.core:
            law = self.laws[i]
            low, high = law.ends
            far = (TAIL + len(self.beside[i]) * math.log(2)) / law.rate
            least, most = max(low, min(kinks[i]) - far), min(high, max(kinks[i]) + far)
            if law.whole:
                yield _Grid(None, range(math.ceil(least), math.floor(most) + 1))
            else:
                inner = sorted(k for k in kinks[i] if least < k < most)
                yield _Grid(list(self._panels(i, [least, *inner, most])), None)

    def _own_kinks(self, i: int) -> set[float]:
        return {float(self.laws[i].mean), *(end for end in self.laws[i].ends if math.isfinite(end))}

    def _panels(self, i: int, marks: list[float]) -> Iterator[float]:
        most = STEEP / 2**self.fine
        yield marks[0]
        for a, b in pairwise(marks):
            while a < b:
                step = most / self._steepness(i, a)
                step = most / max(self._steepness(i, a), self._steepness(i, min(a + step, b)))
                parts = math.ceil((b - a) / step - 1e-9)
                a = b if parts <= 1 else a + (step if parts > 2 else (b - a) / 2)
                self._did(NODES)
                yield a

    def _steepness(self, i: int, x: float) -> float:
        """How fast the logarithm of all factors changes, at most."""
        total = self.laws[i].rate
        for j in self.beside[i]:
            law = self.laws[j]
            sides = {(upper, s, more) for other, upper, s, more in self.seen[i] if other == j}
            if j not in self.factors or len(sides) > 1 or law.kind == "exponential":
                total += law.rate
                continue
            ((upper, s, more),) = sides
            # this is at most s*z + more: at least, if z is mirrored
            beyond = (x - more - s * float(law.mean)) * (-1 if upper else 1) * law.rate
            total += law.rate * math.exp(-max(0.0, min(beyond, 700.0)))
        return total

    # ------------------------------------------------------------------------------------------ the factors

    def _between(self, i: int, at: dict[int, float]) -> Interval:
        """Where a sample has to lie, given others."""
        low, high = -math.inf, math.inf
        for other, upper, s, more in self.seen[i]:
            if other in at:
                end = s * at[other] + more
                low, high = (low, min(high, end)) if upper else (max(low, end), high)
        return low, high

    def _multiply(self, i: int) -> None:
        """A sample in closed form becomes a factor of those that it is compared with."""
        law, beside = self.laws[i], sorted(self.beside[i])
        if len(beside) == 1:
            (j,) = beside
            places = self.grids[j].places
            self._did(len(places))
            for k, x in enumerate(places):
                mass = law.mass(*self._between(i, {j: x}))
                self.logs[j][k] += math.log(mass) if mass > 0 else -math.inf
            return
        a, b = beside
        self._did(len(self.grids[a].places) * len(self.grids[b].places))
        self._put(
            a,
            b,
            [
                [law.mass(*self._between(i, {a: x, b: y})) for y in self.grids[b].places]
                for x in self.grids[a].places
            ],
        )

    def _put(self, a: int, b: int, table: Table) -> None:
        """A factor of two samples, beside those that are there; its largest number is put aside."""
        if (a, b) in self.tables:
            known = self.tables[a, b]
            table = [[x * y for x, y in zip(*rows, strict=True)] for rows in zip(known, table, strict=True)]
        most = max(map(max, table))
        if not most > 0:
            raise TooMuchWork("the probability is too small for what is left of the digits")
        self.scale += math.log(most)
        self.tables[a, b] = [[x / most for x in row] for row in table]
        self.tables[b, a] = [list(column) for column in zip(*self.tables[a, b], strict=True)]

    # ---------------------------------------------------------------------------------------- one by one

    def _eliminate(self, i: int) -> None:
        """Integrate a sample: what is left is a factor of the one or two that it is linked to."""
        others = sorted(self.links.pop(i))
        for j in others:
            self.links[j].discard(i)
        grid, values = self.grids[i], self.values.pop(i)
        tables = {j: self.tables.pop((j, i)) for j in others if (j, i) in self.tables}
        for j in tables:
            del self.tables[i, j]
        if len(others) > 2:
            raise TooMuchWork("too many values have to be known at the same time")
        if len(others) == 1:
            (j,) = others
            self._did(len(grid.places) * (len(self.grids[j].places) if tables else 1))
            found = self._row(i, j, grid, values, tables.get(j), {})
            logs = [
                math.log(x) + math.log(y) if x > 0 and y > 0 else -math.inf
                for x, y in zip(self.values[j], found, strict=True)
            ]
            self.values[j] = self._scaled(logs)
            return
        a, b = sorted(others, key=lambda j: j not in tables)  # a row of a table is taken once
        self.links[a].add(b)
        self.links[b].add(a)
        across = len(self.grids[a].places) * len(self.grids[b].places)
        self._did(across * (len(grid.places) if b in tables else 4) + len(grid.places))
        rows = []
        for k, x in enumerate(self.grids[a].places):
            own = values if a not in tables else [v * t for v, t in zip(values, tables[a][k], strict=True)]
            rows.append(self._row(i, b, grid, own, tables.get(b), {a: x}))
        self._put(a, b, rows)

    def _row(
        self,
        i: int,
        j: int,
        grid: _Grid,
        values: Sequence[float],
        table: Table | None,
        at: dict[int, float],
    ) -> list[float]:
        """The integral of sample ``i`` for every place of sample ``j``, given others."""
        found = []
        up_to = grid.up_to(values)
        for k, y in enumerate(self.grids[j].places):
            if table is not None:
                up_to = grid.up_to([v * t for v, t in zip(values, table[k], strict=True)])
            low, high = self._between(i, {**at, j: y})
            if self.laws[i].whole and low > -math.inf:
                low = math.ceil(low) - 1
            found.append(max(0.0, up_to(high) - up_to(low)) if low < high else 0.0)
        return found


# --------------------------------------------------------------------------------------- runs on given inputs


def problem(run: Data, entries: Sequence[str], eps: str, whole: bool) -> tuple[list[Law], list[Bound]] | None:
    """The noise of a run on inputs, and the bounds that its comparisons are; ``None`` if it is impossible.

    A sample without noise is a number once the inputs are known.
    """
    laws: dict[int, Law] = {}
    known: dict[int, Fraction] = {}
    for n, (kind, d, constant, factors) in enumerate(run["samples"]):
        mean = Fraction(constant)
        mean += sum(Fraction(factor) * Fraction(entries[k]) for k, factor in factors.items())
        if kind == "none":
            known[n] = mean
        else:
            laws[n] = Law(kind, float(Fraction(d) * Fraction(eps)), mean, None, None, whole)
    bounds: list[Bound] = []

    def resolved(term: tuple[int, int | None, str]) -> tuple[int, int | None, Fraction]:
        sign, i, offset = term
        if i is None or i in known:
            return 1, None, Fraction(offset) + (sign * known[i] if i is not None else 0)
        return sign, i, Fraction(offset)

    def within(i: int, sign: int, most: Fraction) -> None:
        """``sign * z[i] <= most``"""
        law = laws[i]
        low = -most if sign < 0 else law.low
        high = most if sign > 0 else law.high
        low = max(low, law.low) if low is not None and law.low is not None else low
        high = min(high, law.high) if high is not None and law.high is not None else high
        laws[i] = Law(law.kind, law.rate, law.mean, low, high, law.whole)

    for lower, relation, higher in run["comparisons"]:
        (sign, i, offset), (other_sign, j, other_offset) = resolved(lower), resolved(higher)
        more = other_offset - offset
        if i is None and j is None:
            if more < 0 or (more == 0 and relation == "<"):
                return None
            continue
        if whole:
            more = Fraction(math.ceil(more) - 1 if relation == "<" else math.floor(more))
        if i is None and j is not None:
            within(j, -other_sign, more)
        elif i is not None and j is None:
            within(i, sign, more)
        elif i is not None and j is not None and i != j:
            bounds.append(Bound(i, sign, j, other_sign, more))
        elif i is not None and sign != other_sign:  # a value and its own negative
            within(i, sign, Fraction(math.floor(more / 2)) if whole else more / 2)
        elif more < 0 or (more == 0 and relation == "<"):
            return None
    used = {k for b in bounds for k in (b.of, b.other)}
    used |= {i for i, law in laws.items() if law.low is not None or law.high is not None}
    number = {i: k for k, i in enumerate(sorted(used))}
    numbered = [Bound(number[b.of], b.sign, number[b.other], b.other_sign, b.more) for b in bounds]
    return [laws[i] for i in number], numbered


def total(runs: Sequence[Data], entries: Sequence[str], eps: str, whole: bool) -> tuple[float, float]:
    """The logarithm of the probability that one of some runs is taken, and how far it may be off."""
    found = []
    for run in runs:
        asked = problem(run, entries, eps, whole)
        if asked is not None:
            one = log_probability(*asked)
            if one[0] > -math.inf:
                found.append(one)
    if not found:
        return -math.inf, 0.0
    most = max(value for value, _ in found)
    added = math.fsum(math.exp(value - most) for value, _ in found)
    return most + math.log(added), max(off for _, off in found)


def adjacent(
    alpha: Sequence[str],
    beta: Sequence[str],
    ranges: Sequence[tuple[str, str]],
    moves: Sequence[tuple[int | None, int | None]],
) -> bool:
    """Whether two inputs are adjacent: differences in one of the ranges, of entries that may differ.

    ``moves`` is an automaton that reads differences: from each state to which one an equal entry leads, and
    one that differs.
    """
    apart = [Fraction(a) - Fraction(b) for a, b in zip(alpha, beta, strict=True)]
    state: int | None = 0
    for each in apart:
        state = None if state is None else moves[state][1 if each else 0]
    return state is not None and any(
        all(Fraction(low) <= each <= Fraction(high) for each in apart) for low, high in ranges
    )


def refuted(data: Data) -> bool:
    """Compute both probabilities, tell them, and whether they refute what is claimed."""
    close = adjacent(data["alpha"], data["beta"], data["ranges"], data["moves"])
    print(f"adjacent inputs: {'yes' if close else 'NO'}")
    logs = []
    for name in ("alpha", "beta"):
        value, off = total(data["runs"], data[name], data["eps"], data["whole"])
        print(f"log Pr[{name}] = {value:.6f}   (error {off:.1g})")
        logs.append((value, off))
    (first, off), (second, other_off) = logs
    allowed = Fraction(data["claimed"]) * Fraction(data["eps"])
    ratio = first - second if first > -math.inf else -math.inf
    print(f"log-ratio = {ratio:.6f}; D = {data['claimed']} allows {float(allowed):.6f}")
    found = close and ratio - off - other_off > float(allowed)
    print(f"{data['claimed']}*eps-privacy at eps = {data['eps']} is {'refuted' if found else 'NOT refuted'}")
    return found
