"""The probability of an event about a run, from its samples and comparisons, with the standard library alone.

The text of this file is part of every script that :mod:`~symdipa.evidence.refutation.script` writes, so it
imports nothing else of symdipa, and shares no code with :mod:`symdipa.evidence.probability`.

A sample that is compared with one other only is a factor in closed form. Others that only have an order are
placed one after another along the line (:class:`_Sweep`). Else they are integrated one after another
(:class:`_Tables`), and those between two others are factors, too. All of this is done by Gauss's rule on
panels between the places where anything has a kink; with integer noise it is summed. Panels are halved until
that makes no difference.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from operator import mul
from typing import Any, NamedTuple

ENOUGH = 1e-4
"""Halving the panels ends where it changes a logarithm by no more than this,"""
FINEST = 6
"""or was done so often."""
ROUGHEST = 2e-2
"""A larger change is not accepted where there is no time for more."""
MOST_WORK = 400_000_000
"""How many steps the integrations of connected samples may take: about ten seconds."""
OF_MASS, OF_ROW, OF_INTEGRAL = 25, 6, 15
"""How many steps these take; a product of two numbers in a table takes one."""
MOST_STATES = 20_000
"""How many ways samples may be placed in up to some point of the line."""
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


@dataclass
class Work:
    """What may be done for connected samples, ``until`` a time (of :func:`time.monotonic`)."""

    until: float = math.inf
    left: int = MOST_WORK

    def did(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooMuchWork("too many values would have to be integrated one after another")
        if time.monotonic() > self.until:
            raise TooMuchWork("the time was over")


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

    def seen_from(self, i: int) -> tuple[int, bool, int, Fraction]:
        """For one of the two: the other one, and that this is at most (else at least) a sign times that,
        plus something."""
        if i == self.of:
            return self.other, self.sign > 0, self.sign * self.other_sign, self.sign * self.more
        return self.of, self.other_sign < 0, self.sign * self.other_sign, -self.other_sign * self.more


Interval = tuple[float, float]


def log_probability(
    laws: Sequence[Law], bounds: Sequence[Bound], until: float = math.inf
) -> tuple[float, float]:
    """The logarithm of the probability that all bounds hold, and how far it may be off.

    ``-inf``: that is impossible. Raises :class:`TooMuchWork`, also where it is not known ``until`` a time.
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
        found, off = _settled([laws[i] for i in part], own, Work(until))
        total, error = total + found, error + off
    return total, error


def added(logs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The logarithm of a sum of probabilities, and how far it may be off."""
    most = max(value for value, _ in logs)
    total = math.fsum(math.exp(value - most) for value, _ in logs)
    return most + math.log(total), max(off for _, off in logs)


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


def _settled(laws: Sequence[Law], bounds: Sequence[Bound], work: Work) -> tuple[float, float]:
    """The logarithm for samples that are all connected, as exact as it gets."""
    if len(laws) == 1:
        return math.log(laws[0].mass(-math.inf, math.inf)), 0.0
    if laws[0].whole:
        return _Tables(laws, bounds, work).value(0), 1e-9
    sweep = _Sweep(laws, bounds, work)
    samples = sweep if sweep.levels else _Tables(laws, bounds, work)
    before, off = samples.value(samples.coarsest), math.inf
    for fine in range(samples.coarsest + 1, FINEST + 1):
        try:
            now = samples.value(fine)
        except TooMuchWork:
            if off > ROUGHEST:
                raise
            break
        off, before = abs(now - before), now
        if off <= ENOUGH:
            break
    return before, off


# ------------------------------------------------------------------------------------------------- the places


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


def _weights_up_to(x: float) -> list[float]:
    """By which weights of its values a function on a panel is integrated up to some place in it."""
    found = []
    for powers in PRIMITIVES:
        at = 0.0
        for power in reversed(powers):
            at = at * x + power
        found.append(at)
    return found


PLACES, WEIGHTS = _gauss(NODES)
PRIMITIVES = _primitives(PLACES)
UP_TO_NODES = [_weights_up_to(x) for x in PLACES]


class _Grid:
    """Places of a sample: panels with their nodes, or integers."""

    def __init__(self, ends: list[float] | None, whole: range | None) -> None:
        self.ends, self.whole = ends or [], whole
        self.places: list[float] = []
        if whole is not None:
            self.places = [float(k) for k in whole]
        for a, b in pairwise(self.ends):
            self.places += [(a + b) / 2 + (b - a) / 2 * x for x in PLACES]

    def sums(self, values: Sequence[float]) -> list[float]:
        """The integrals of a function with such values from below up to the ends of panels."""
        found = [0.0]
        if self.whole is not None:
            for value in values:
                found.append(found[-1] + value)
            return found
        for k, (a, b) in enumerate(pairwise(self.ends)):
            own = values[k * NODES : (k + 1) * NODES]
            found.append(found[-1] + sum(map(mul, WEIGHTS, own)) * (b - a) / 2)
        return found

    def cut(self, y: float) -> Cut:
        """How the integral up to some place is made of such sums and of values."""
        last = len(self.places if self.whole is not None else self.ends[1:])
        if self.whole is not None:
            first = self.whole.start
            return Cut(0 if y < first else last if y >= first + last else math.floor(y) - first + 1, ())
        k = bisect_right(self.ends, y) - 1
        if k < 0 or k >= last:
            return Cut(0 if k < 0 else last, ())
        half = (self.ends[k + 1] - self.ends[k]) / 2
        return Cut(k, tuple(half * weight for weight in _weights_up_to((y - self.ends[k]) / half - 1)))

    def running(self, values: Sequence[float]) -> list[float]:
        """The integrals of a function with such values from below up to every place."""
        found, sums = [], self.sums(values)
        for k, (a, b) in enumerate(pairwise(self.ends)):
            own, half = values[k * NODES : (k + 1) * NODES], (b - a) / 2
            found += [max(0.0, sums[k] + half * sum(map(mul, weights, own))) for weights in UP_TO_NODES]
        return found


class Cut(NamedTuple):
    """An integral up to some place: that of so many panels, and values of the next one by their weights."""

    panels: int
    weights: tuple[float, ...]

    def of(self, sums: Sequence[float], values: Sequence[float]) -> float:
        """The integral of a function with such sums and values."""
        if not self.weights:
            return sums[self.panels]
        first = self.panels * NODES
        part: float = sum(map(mul, self.weights, values[first : first + NODES]))
        return sums[self.panels] + part


Table = list[list[float]]
CutEnd = tuple[float, float, Cut, Cut]
EVERYWHERE: CutEnd = -math.inf, math.inf, Cut(0, ()), Cut(-1, ())


Side = tuple[bool, int, float]
Seen = tuple[int, bool, int, float]
"""What :meth:`Bound.seen_from` tells, a sample and on which side of it."""


State = tuple[tuple[int, ...], frozenset[int]]


class _Samples:
    """Samples that are connected. Those in the ``core`` are not integrated in closed form. At first panels
    are wider, by a power of 2, than they would be."""

    coarsest = -1

    def __init__(self, laws: Sequence[Law], bounds: Sequence[Bound], work: Work) -> None:
        self.laws, self.bounds, self.work = laws, bounds, work
        self.seen: list[list[Seen]] = [[] for _ in laws]
        for b in bounds:
            for i in (b.of, b.other):
                other, upper, s, more = b.seen_from(i)
                self.seen[i].append((other, upper, s, float(more)))
        self.beside = [{other for other, *_ in seen} for seen in self.seen]
        self.factors = self._factors()
        self.core = [i for i in range(len(laws)) if i not in self.factors]
        self.sides = {i: self._sides(i) for i in self.core}
        self.places: dict[int, list[float]] = {}
        self.logs: dict[int, list[float]] = {}
        self.fine, self.scale = 0, 0.0

    def value(self, fine: int) -> float:
        """The logarithm of the probability, at a fineness."""
        self.fine, self.scale = fine, 0.0
        self._put_aside(self._value())
        return self.scale

    def _value(self) -> float:
        """The probability, apart from what was put aside."""
        raise NotImplementedError

    def _factors(self) -> set[int]:
        """Samples that are compared with one other one only (which is none of them)."""
        found: set[int] = set()
        for i, beside in enumerate(self.beside):
            if len(beside) == 1 and not beside & found:
                found.add(i)
        return found

    def _sides(self, i: int) -> Counter[tuple[Law, frozenset[Side]]]:
        """The factors of a sample: their laws, and on which sides of what they see it."""
        seen: dict[int, set[Side]] = {}
        for other, upper, s, more in self.seen[i]:
            if other in self.factors:
                seen.setdefault(other, set()).add((upper, s, more))
        return Counter((self.laws[j], frozenset(sides)) for j, sides in seen.items())

    def _put_aside(self, factor: float, times: int = 1) -> None:
        """A factor of the probability is put aside, so many times."""
        if not factor > 0:
            raise TooMuchWork("the probability is too small for what is left of the digits")
        self.scale += times * math.log(factor)

    def _scaled(self, logs: Sequence[float], times: int = 1) -> list[float]:
        """Numbers from their logarithms, the largest of which is put aside."""
        most = max(logs)
        self._put_aside(1.0 if most > -math.inf else 0.0)
        self.scale += times * most
        return [math.exp(x - most) for x in logs]

    def _own_kinks(self, i: int) -> set[float]:
        return {float(self.laws[i].mean), *(end for end in self.laws[i].ends if math.isfinite(end))}

    def _panels(
        self, marks: list[float], steepness: Callable[[float], float], degree: int = 0
    ) -> Iterator[float]:
        """The ends of panels, with some marks among them; between two of these there may be polynomials of
        some degree, too."""
        most = STEEP / 2**self.fine
        yield marks[0]
        for a, b in pairwise(marks):
            least = degree / (b - a)
            while a < b:
                step = most / (least + steepness(a))
                step = most / (least + max(steepness(a), steepness(min(a + step, b))))
                parts = math.ceil((b - a) / step - 1e-9)
                a = b if parts <= 1 else a + (step if parts > 2 else (b - a) / 2)
                self.work.did(OF_MASS)
                yield a

    def _steepness(self, i: int, x: float) -> float:
        """How fast the logarithms of a density and of the factors change, at most."""
        total = self.laws[i].rate
        for (law, sides), times in self.sides[i].items():
            if len(sides) > 1 or law.kind == "exponential":
                total += times * law.rate
                continue
            ((upper, s, more),) = sides
            # this is at most s*z + more: at least, if z is mirrored
            beyond = (x - more - s * float(law.mean)) * (-1 if upper else 1) * law.rate
            total += times * law.rate * math.exp(-max(0.0, min(beyond, 700.0)))
        return total

    def _far(self, i: int) -> float:
        """How far behind everything that matters the density of a sample matters."""
        return (TAIL + len(self.beside[i]) * math.log(2)) / self.laws[i].rate

    def _ends(self, seen: Iterable[Seen], j: int) -> list[Interval]:
        """Where a sample that sees others has to lie because of one of them, for every place of that."""
        own = [(upper, s, more) for other, upper, s, more in seen if other == j]
        found = []
        for x in self.places[j]:
            low, high = -math.inf, math.inf
            for upper, s, more in own:
                end = s * x + more
                low, high = (low, min(high, end)) if upper else (max(low, end), high)
            found.append((low, high))
        return found

    def _multiply(self, law: Law, seen: Sequence[Seen], times: int) -> None:
        """Samples in closed form that are alike become a factor of the one that they are compared with."""
        ((j, *_), *_) = seen
        self.work.did(OF_MASS * len(self.places[j]))
        logs = self.logs[j]
        for k, (low, high) in enumerate(self._ends(seen, j)):
            mass = law.mass(low, high)
            logs[k] += times * math.log(mass) if mass > 0 else -math.inf


# ---------------------------------------------------------------------------------------- samples in an order


Kind = tuple[Law, Fraction, frozenset[tuple[tuple[Law, tuple[Side, ...]], int]]]
"""A law, how far it is moved, and its factors: how often there is one with such a law that sees so."""


class _Sweep(_Samples):
    """Samples between which there is an order, once they are moved.

    They are placed one after another from one end of the line. Those that may be placed at some point, are
    alike and have the same ones behind them cannot be told apart: a state is how many of each such kind may
    be placed, and which others still wait. ``levels`` are the steps to the states with one sample more, each
    with its source, a sample, and how many like it there are to choose from. There are none if this is not
    possible, or takes too many states.
    """

    coarsest = -3

    def __init__(self, laws: Sequence[Law], bounds: Sequence[Bound], work: Work) -> None:
        super().__init__(laws, bounds, work)
        self.levels: list[list[list[tuple[int, int, int]]]] = []
        self.down = False
        if not self._align():
            return
        self.kinds: dict[Kind, list[int]] = {}
        for i in self.core:
            self.kinds.setdefault(self._kind(i), []).append(i)
        under: dict[int, set[int]] = {i: set() for i in self.core}
        over: dict[int, set[int]] = {i: set() for i in self.core}
        for low, high, _ in self.pairs:
            under[high].add(low)
            over[low].add(high)
        tried = [self._states(under, over), self._states(over, under)]
        self.levels = min(filter(None, tried), key=lambda levels: sum(map(len, levels)), default=[])
        self.down = bool(self.levels) and self.levels is tried[1]

    def _align(self) -> bool:
        """Move the samples of the core so that the ``pairs`` are an order; whether that is possible."""
        core, links = set(self.core), {i: dict[int, Fraction]() for i in self.core}
        self.pairs: list[tuple[int, int, Fraction]] = []
        for b in self.bounds:
            if b.of in core and b.other in core:
                low, high = (b.of, b.other) if b.sign > 0 else (b.other, b.of)
                self.pairs.append((low, high, b.more))
                links[low][high], links[high][low] = -b.more, b.more
                if b.sign != b.other_sign:
                    return False
        self.moved = {self.core[0]: Fraction(0)}
        work = [self.core[0]]
        for i in work:
            for j, more in links[i].items():
                if j not in self.moved:
                    self.moved[j] = self.moved[i] + more
                    work.append(j)
        return all(self.moved[low] - self.moved[high] == more for low, high, more in self.pairs)

    def _kind(self, i: int) -> Kind:
        """What the density of a sample depends on, with its factors."""
        factors = Counter(
            (self.laws[j], tuple(sorted((upper, s, more) for _, upper, s, more in self.seen[j])))
            for j in self.beside[i] & self.factors
        )
        return self.laws[i], self.moved[i], frozenset(factors.items())

    def _states(
        self, under: dict[int, set[int]], over: dict[int, set[int]]
    ) -> list[list[list[tuple[int, int, int]]]] | None:
        """The levels; ``None`` where there are too many states."""
        number: dict[tuple[int, frozenset[int]], int] = {}
        alike = {i: samples[0] for samples in self.kinds.values() for i in samples}
        kind = {i: number.setdefault((alike[i], frozenset(over[i])), len(number)) for i in self.core}
        example = {kind[i]: i for i in self.core}
        waiting = frozenset(i for i in self.core if under[i])

        def freed(counts: list[int], waiting: frozenset[int], now: Iterable[int]) -> State:
            free = {i for i in now if not under[i] & waiting and not any(counts[kind[u]] for u in under[i])}
            for i in free:
                counts[kind[i]] += 1
            return tuple(counts), waiting - free

        states = {freed([0] * len(number), waiting, set(self.core) - waiting): 0}
        levels, found = [], 0
        for _ in self.core:
            following: dict[State, int] = {}
            level: list[list[tuple[int, int, int]]] = []
            for (counts, waits), source in states.items():
                self.work.did(OF_ROW * len(counts))
                for c, choices in enumerate(counts):
                    if not choices:
                        continue
                    left = [*counts[:c], choices - 1, *counts[c + 1 :]]
                    i = example[c]
                    state = freed(left, waits, waits & over[i] if choices == 1 else ())
                    target = following.setdefault(state, len(following))
                    if target == len(level):
                        level.append([])
                    level[target].append((source, i, choices))
            found += len(level)
            if found > MOST_STATES:
                return None
            levels.append(level)
            states = following
        return levels

    def _value(self) -> float:
        grid = self._grid()
        densities = self._densities(grid)
        tables = [[1.0] * len(grid.places)]
        for level in self.levels:
            following = []
            for steps in level:
                self.work.did(len(grid.places) * (OF_INTEGRAL + OF_ROW * len(steps)))
                total = [0.0] * len(grid.places)
                for source, i, choices in steps:
                    factors = zip(total, densities[i], tables[source], strict=True)
                    total = [x + choices * density * y for x, density, y in factors]
                following.append(total)
            most = max(map(max, following))
            self._put_aside(most)
            last = [[x / most for x in values] for values in following]
            tables = [grid.running(values) for values in last]
        return grid.sums(last[0])[-1]

    def _grid(self) -> _Grid:
        """The same panels for all samples, from the end at which the first are placed."""
        kinks, least, most = set[float](), math.inf, -math.inf
        for i in self.core:
            own = self._own_kinks(i)
            for other, _, s, more in self.seen[i]:
                if other in self.factors:
                    own |= {s * kink + more for kink in self._own_kinks(other)}
            moved, far = float(self.moved[i]), self._far(i)
            kinks |= {kink - moved for kink in own}
            least, most = min(least, min(own) - moved - far), max(most, max(own) - moved + far)
        inner = sorted(kink for kink in kinks if least < kink < most)

        def steepness(x: float) -> float:
            return sum(
                len(samples) * self._steepness(samples[0], x + float(moved))
                for (_, moved, _), samples in self.kinds.items()
            )

        ends = list(self._panels([least, *inner, most], steepness, len(self.core)))
        return _Grid([-end for end in reversed(ends)] if self.down else ends, None)

    def _densities(self, grid: _Grid) -> dict[int, list[float]]:
        """The densities of samples with their factors, the largest number of each put aside."""
        found: dict[int, list[float]] = {}
        for (law, moved, factors), samples in self.kinds.items():
            i, (low, high) = samples[0], law.ends
            self.places[i] = [(-x if self.down else x) + float(moved) for x in grid.places]
            self.logs[i] = [law.log_density(x) if low <= x <= high else -math.inf for x in self.places[i]]
            for (factor, seen), times in factors:
                self._multiply(factor, [(i, *each) for each in seen], times)
            found |= dict.fromkeys(samples, self._scaled(self.logs[i], len(samples)))
        return found


# ------------------------------------------------------------------------------- samples one after another


class _Tables(_Samples):
    """Samples that are integrated one after another, with factors of two of them as tables."""

    def _factors(self) -> set[int]:
        """Also those between two samples that have others, too. No two of them are compared."""
        ends = super()._factors()
        inner = [beside - ends for beside in self.beside]
        found = set(ends)
        for i in range(len(self.laws)):
            between = i not in ends and len(inner[i]) == 2 and self.beside[i] == inner[i]
            if between and not inner[i] & found and all(len(inner[j]) > 2 for j in inner[i]):
                found.add(i)
        return found

    def _order(self) -> Iterator[tuple[int, list[int]]]:
        """The samples but for the last, as they are integrated, and to which one or two each is linked then.

        Next is the one with fewest links, and few tables among them.
        """
        core = set(self.core)
        links = {i: self.beside[i] & core for i in self.core}
        tables = [self.beside[i] for i in self.factors if len(self.beside[i]) == 2]
        for a, b in tables:
            links[a].add(b)
            links[b].add(a)

        def cost(i: int) -> tuple[int, int, int]:
            return len(links[i]), sum({i, j} in tables for j in links[i]), i

        while len(links) > 1:
            i = min(links, key=cost)
            others = sorted(links.pop(i))
            if len(others) > 2:
                raise TooMuchWork("too many values have to be known at the same time")
            for j in others:
                links[j] = (links[j] | set(others)) - {i, j}
            tables.append(set(others))
            yield i, others

    def _value(self) -> float:
        order = list(self._order())
        self.grids = dict(zip(self.core, self._grids(), strict=True))
        self.places = {i: grid.places for i, grid in self.grids.items()}
        self.logs = {i: [self.laws[i].log_density(x) for x in places] for i, places in self.places.items()}
        self.tables: dict[tuple[int, int], Table] = {}
        alike = Counter((self.laws[i], tuple(sorted(self.seen[i]))) for i in sorted(self.factors))
        for (law, seen), times in alike.items():
            self._multiply(law, seen, times)
        self.values = {i: self._scaled(logs) for i, logs in self.logs.items()}
        for i, others in order:
            self._eliminate(i, others)
        ((last, values),) = self.values.items()
        return self.grids[last].sums(values)[-1]

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
            law, far = self.laws[i], self._far(i)
            low, high = law.ends
            least, most = max(low, min(kinks[i]) - far), min(high, max(kinks[i]) + far)
            if law.whole:
                yield _Grid(None, range(math.ceil(least), math.floor(most) + 1))
            else:
                inner = sorted(k for k in kinks[i] if least < k < most)
                yield _Grid(list(self._panels([least, *inner, most], partial(self._steepness, i))), None)

    def _steepness(self, i: int, x: float) -> float:
        core = sum(self.laws[j].rate for j in self.beside[i] - self.factors)
        return super()._steepness(i, x) + core

    def _multiply(self, law: Law, seen: Sequence[Seen], times: int) -> None:
        """The same, and those between two others become a factor of both."""
        beside = {other for other, *_ in seen}
        if len(beside) == 1:
            super()._multiply(law, seen, times)
            return
        a, b = sorted(beside)
        ends, others = self._ends(seen, a), self._ends(seen, b)
        self.work.did(OF_MASS * len(ends) * len(others))
        table = [
            [law.mass(max(low, other_low), min(high, other_high)) for other_low, other_high in others]
            for low, high in ends
        ]
        self._put(a, b, table, times)

    def _put(self, a: int, b: int, table: Table, times: int = 1) -> None:
        """A factor of two samples, so many times; its largest number is put aside."""
        most = max(map(max, table))
        self._put_aside(most, times)
        table = [[(x / most) ** times for x in row] for row in table]
        known = self.tables.get((a, b))
        if known is not None:
            table = [[x * y for x, y in zip(*rows, strict=True)] for rows in zip(known, table, strict=True)]
        self.tables[a, b] = table
        self.tables[b, a] = [list(column) for column in zip(*table, strict=True)]

    def _eliminate(self, i: int, others: Sequence[int]) -> None:
        """Integrate a sample: what is left is a factor of the one or two that it is linked to."""
        grid, values = self.grids[i], self.values.pop(i)
        tables = {j: self.tables.pop((j, i)) for j in others if (j, i) in self.tables}
        for j in tables:
            del self.tables[i, j]
        *first, last = sorted(others, key=lambda j: j not in tables)  # a row of a table is taken once
        table, ends = tables.get(last), self._cut_ends(i, last)
        each = len(ends) * (OF_INTEGRAL + (OF_ROW * len(values) if table else 0))
        if not first:
            self.work.did(each)
            found = self._row(grid, values, EVERYWHERE, ends, table)
            logs = [
                math.log(x) + math.log(y) if x > 0 and y > 0 else -math.inf
                for x, y in zip(self.values[last], found, strict=True)
            ]
            self.values[last] = self._scaled(logs)
            return
        (a,), rows = first, []
        for k, end in enumerate(self._cut_ends(i, a)):
            self.work.did(each + OF_ROW * len(values))
            own = list(map(mul, values, tables[a][k])) if a in tables else values
            rows.append(self._row(grid, own, end, ends, table))
        self._put(a, last, rows)

    def _cut_ends(self, i: int, j: int) -> list[CutEnd]:
        """Where a sample has to lie because of another one, with the integrals up to both ends."""
        grid, found = self.grids[i], []
        for low, high in self._ends(self.seen[i], j):
            if self.laws[i].whole and low > -math.inf:
                low = math.ceil(low) - 1
            found.append((low, high, grid.cut(low), grid.cut(high)))
        return found

    def _row(
        self, grid: _Grid, values: Sequence[float], end: CutEnd, ends: Sequence[CutEnd], table: Table | None
    ) -> list[float]:
        """The integral of a sample that has to lie as ``end`` says, for every place of one that bounds it."""
        sums, found = grid.sums(values), []
        own_low, own_high, from_own, to_own = end
        own = values
        for k, (low, high, start, stop) in enumerate(ends):
            if table is not None:
                own = list(map(mul, values, table[k]))
                sums = grid.sums(own)
            if own_low > low:
                low, start = own_low, from_own
            if own_high < high:
                high, stop = own_high, to_own
            found.append(max(0.0, stop.of(sums, own) - start.of(sums, own)) if low < high else 0.0)
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


def total(
    runs: Sequence[Data], entries: Sequence[str], eps: str, whole: bool, until: float = math.inf
) -> tuple[float, float]:
    """The logarithm of the probability that one of some runs is taken, and how far it may be off."""
    found = []
    for run in runs:
        asked = problem(run, entries, eps, whole)
        if asked is not None:
            one = log_probability(*asked, until)
            if one[0] > -math.inf:
                found.append(one)
    return added(found) if found else (-math.inf, 0.0)


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


def refuted(data: Data, until: float = math.inf) -> bool:
    """Compute both probabilities, ``until`` a time, tell them, and whether they refute what is claimed."""
    close = adjacent(data["alpha"], data["beta"], data["ranges"], data["moves"])
    print(f"adjacent inputs: {'yes' if close else 'NO'}")
    logs = []
    for name in ("alpha", "beta"):
        value, off = total(data["runs"], data[name], data["eps"], data["whole"], until)
        print(f"log Pr[{name}] = {value:.6f}   (error {off:.1g})")
        logs.append((value, off))
    (first, off), (second, other_off) = logs
    allowed = Fraction(data["claimed"]) * Fraction(data["eps"])
    ratio = first - second if first > -math.inf else -math.inf
    print(f"log-ratio = {ratio:.6f}; D = {data['claimed']} allows {float(allowed):.6f}")
    found = close and ratio - off - other_off > float(allowed)
    print(f"{data['claimed']}*eps-privacy at eps = {data['eps']} is {'refuted' if found else 'NOT refuted'}")
    return found
