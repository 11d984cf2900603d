"""What shifting the samples of a run costs, exactly (Thm. A, Thm. B), and which inputs make it cost most.

Signs are those of docs/weights.md. ``Delta`` is the first input minus the second, ``sigma`` the shift: sample
``i`` below sample ``j`` asks ``sigma_i >= sigma_j``, a shown number ``sigma = 0``, a shown difference equal
shifts, and a mirrored value has the negative shift. The cost of a sample is ``d*|sigma - Delta|``, for
exponential noise ``d*(Delta - sigma)`` and infinite above ``Delta``, without noise infinite but at ``Delta``.
The least cost, times ``eps``, is the supremum of the logarithm of how much likelier the run's outputs are on
the first input than on the second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

from symdipa.model.automaton import Noise
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.numbers.system import Comparison, Frame, Shown, System, Value


def cost(system: System, deltas: Sequence[Fraction | int]) -> Fraction | None:
    """The least cost of an admissible shift for these differences of the entries, by the steps that read them
    (first input minus second).

    Differences of steps without input do not matter. ``None``: every shift costs infinitely much.
    """
    found = best_shift(system, deltas)
    return None if found is None else found[0]


def best_shift(
    system: System, deltas: Sequence[Fraction | int]
) -> tuple[Fraction, tuple[Fraction, ...]] | None:
    """The least cost, and the shift of each sample with which it is reached; ``None`` if it is infinite.

    A cost is a sum over neighbouring levels (the differences and 0) of what it costs that samples are above
    or below: one smallest cut for each.
    """
    sides, frame = (2 if system.mirrored else 1), system.frame
    whole = [sample.sum_of(deltas) for sample in system.samples]
    levels = sorted({Fraction(0), *whole, *((-x for x in whole) if sides == 2 else ())})
    place = {level: k for k, level in enumerate(levels)}
    places = [[place[x], place[-x]] if sides == 2 else [place[x]] for x in whole]
    shifts = [[0] * sides for _ in whole]
    total = Fraction(0)
    for k in range(1, len(levels)):
        cut = _Cut(frame)
        cut.hold(frame.ground, above=place[Fraction(0)] >= k)
        for i, sample in enumerate(system.samples):
            for side in range(sides):
                above = places[i][side] >= k
                rigid = sample.noise is Noise.NONE
                # The shift of an exponential sample is not above its difference; mirrored, not below it.
                rigid |= sample.noise is Noise.EXPONENTIAL and above == bool(side)
                if rigid:
                    cut.hold(sides * i + side, above)
                else:
                    cut.price(sides * i + side, above, frame.rates[i])
        least = cut.least()
        if least is None:
            return None
        total += least * (levels[k] - levels[k - 1])
        for i, shift in enumerate(shifts):
            for side in range(sides):
                if cut.above[sides * i + side]:
                    shift[side] = k
    best = tuple((levels[s[0]] - levels[s[1]]) / 2 if sides == 2 else levels[s[0]] for s in shifts)
    return total / (frame.scale * sides), best


class _Cut:
    """Who is above and who is below a level, so that it costs least: a smallest cut, by a largest flow."""

    def __init__(self, frame: Frame) -> None:
        self.source, self.sink = frame.ground + 1, frame.ground + 2
        self.arcs: list[list[int]] = [[] for _ in range(frame.ground + 3)]
        self.target: list[int] = []
        self.room: list[int | None] = []  # ``None``: unlimited
        self.above: list[bool] = []
        for a, b in frame.forced:
            self._arc(a, b, None)

    def _arc(self, a: int, b: int, room: int | None) -> None:
        self.arcs[a].append(len(self.target))
        self.arcs[b].append(len(self.target) + 1)
        self.target += (b, a)
        self.room += (room, 0)

    def hold(self, node: int, above: bool) -> None:
        """The node has to be above, or below."""
        self._arc(*((self.source, node) if above else (node, self.sink)), None)

    def price(self, node: int, above: bool, price: int) -> None:
        """What it costs if the node is not above, or not below."""
        if price:
            self._arc(*((self.source, node) if above else (node, self.sink)), price)

    def least(self) -> int | None:
        """The least cost, ``None`` if it is infinite; tells who is :attr:`above`, as few as can be."""
        total, bound = 0, sum(room or 0 for room in self.room) + 1
        while True:
            level = self._levels()
            if level[self.sink] < 0:
                self.above = [k >= 0 for k in level]
                return total
            following = [0] * len(self.arcs)
            while pushed := self._push(level, following, bound):
                if pushed >= bound:
                    return None
                total += pushed

    def _levels(self) -> list[int]:
        level = [-1] * len(self.arcs)
        level[self.source] = 0
        work = [self.source]
        for a in work:
            for arc in self.arcs[a]:
                b = self.target[arc]
                if level[b] < 0 and self.room[arc] != 0:
                    level[b] = level[a] + 1
                    work.append(b)
        return level

    def _push(self, level: list[int], following: list[int], bound: int) -> int:
        """Push along one shortest path; 0 if there is none left."""
        path: list[int] = []
        a = self.source
        while a != self.sink:
            arcs = self.arcs[a]
            while following[a] < len(arcs):
                arc = arcs[following[a]]
                if self.room[arc] != 0 and level[self.target[arc]] == level[a] + 1:
                    break
                following[a] += 1
            else:
                if not path:
                    return 0
                a = self.target[path.pop() ^ 1]
                following[a] += 1
                continue
            path.append(arc)
            a = self.target[arc]
        pushed = bound
        for arc in path:
            room = self.room[arc]
            pushed = pushed if room is None else min(pushed, room)
        if pushed < bound:
            for arc in path:
                room, back = self.room[arc], self.room[arc ^ 1]
                self.room[arc] = None if room is None else room - pushed
                self.room[arc ^ 1] = None if back is None else back + pushed
        return pushed


EXHAUSTIVE = 10
"""Up to so many inputs that may matter together, all their differences are tried."""
ASCENTS = 4
"""How many starts a search has that does not try all."""


@dataclass(frozen=True)
class Worst:
    """The largest least cost found (``None``: infinite), the difference of each step, and whether no
    differences cost more."""

    value: Fraction | None
    deltas: tuple[Fraction, ...]
    exact: bool


def worst(
    system: System,
    low: Fraction | int,
    high: Fraction | int,
    limits: Limits = UNLIMITED,
    letters: Sequence[str] = (),
) -> Worst:
    """The differences between ``low`` and ``high`` that cost most; by convexity at the ends.

    Parts of the run that are not compared with each other are looked at one by one. ``letters`` say what is
    known of the entry of each step (:mod:`symdipa.runs.control.unfolding`).
    """
    deltas = [Fraction(0)] * len(system.reads)
    total, exact = Fraction(0), True
    for part, inputs in _parts(system):

        def of(choice: Sequence[Fraction]) -> Fraction | None:
            limits.check("the differences that cost most")
            return cost(part, _placed(len(system.reads), inputs, choice))  # noqa: B023

        known = (letters[step] if letters else "" for step in inputs)
        choice, sure = largest(of, [ends_of(letter, low, high) for letter in known])
        value = of(choice)
        for step, delta in zip(inputs, choice, strict=True):
            deltas[step] = delta
        if value is None:
            return Worst(None, tuple(deltas), True)
        total, exact = total + value, exact and sure
    return Worst(total, tuple(deltas), exact)


def ends_of(letter: str, low: Fraction | int, high: Fraction | int) -> tuple[Fraction, ...]:
    """The differences to try of an entry of which a letter says what is known (nothing if it is empty)."""
    known = {"=": (Fraction(0),), "-": (Fraction(low),), "+": (Fraction(high),)}
    return known.get(letter) or tuple(dict.fromkeys((Fraction(high), Fraction(low))))


def _placed(length: int, steps: Sequence[int], choice: Sequence[Fraction]) -> list[Fraction]:
    placed = [Fraction(0)] * length
    for step, delta in zip(steps, choice, strict=True):
        placed[step] = delta
    return placed


def largest(
    of: Callable[[Sequence[Fraction]], Fraction | None], choices: Sequence[Sequence[Fraction]]
) -> tuple[tuple[Fraction, ...], bool]:
    """Where a function of numbers is largest (``None`` is infinite) that are chosen from these, one or two
    for each; and whether all were tried."""

    def rank(choice: tuple[Fraction, ...]) -> tuple[bool, Fraction]:
        value = of(choice)
        return value is None, value or Fraction(0)

    first = tuple(ends[0] for ends in choices)
    open_places = [k for k, ends in enumerate(choices) if len(ends) > 1]
    if not open_places:
        return first, True
    if len(open_places) <= EXHAUSTIVE:
        best, top = first, (False, Fraction(-1))
        for choice in product(*choices):
            if (now := rank(choice)) > top:
                best, top = choice, now
            if top[0]:
                break
        return best, True
    starts = [
        tuple(ends[(k >> s) % 2 if s and len(ends) > 1 else 0] for k, ends in enumerate(choices))
        for s in range(ASCENTS)
    ]
    found = [_ascended(rank, start, choices, open_places) for start in starts]
    return max(found, key=lambda one: one[1])[0], False


def _ascended(
    rank: Callable[[tuple[Fraction, ...]], tuple[bool, Fraction]],
    start: tuple[Fraction, ...],
    choices: Sequence[Sequence[Fraction]],
    places: Sequence[int],
) -> tuple[tuple[Fraction, ...], tuple[bool, Fraction]]:
    """Turn single differences, then neighbouring ones, as long as that helps."""

    def turned(choice: tuple[Fraction, ...], some: tuple[int, ...]) -> tuple[Fraction, ...]:
        return tuple(choices[k][x == choices[k][0]] if k in some else x for k, x in enumerate(choice))

    best, top = start, rank(start)
    better = True
    while better and not top[0]:
        better = False
        for some in [*((k,) for k in places), *pairwise(places)]:
            other = turned(best, some)
            now = rank(other)
            if now > top:
                best, top, better = other, now, True
    return best, top


def _parts(system: System) -> Iterator[tuple[System, list[int]]]:
    """The parts of a system that nothing but constants connects, each with the steps whose inputs matter."""
    parent = list(range(len(system.samples)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = i = parent[parent[i]]
        return i

    touched = set(system.grounded)
    for a, b in system.tied:
        touched |= {a, b}
        parent[root(a)] = root(b)
    for c in system.comparisons:
        ends = [v.sample for v in (c.low, c.high) if v.sample is not None]
        touched |= set(ends)
        if len(ends) == 2:
            parent[root(ends[0])] = root(ends[1])
    by_step: dict[int, int] = {}
    for i, sample in enumerate(system.samples):
        if i in touched:
            for step, _ in sample.entries:
                parent[root(i)] = root(by_step.setdefault(step, i))
    groups: dict[int, list[int]] = {}
    for i in sorted(touched):
        groups.setdefault(root(i), []).append(i)
    for members in groups.values():
        yield (
            _restricted(system, members),
            sorted({step for i in members for step, _ in system.samples[i].entries}),
        )


def _restricted(system: System, members: Sequence[int]) -> System:
    number: dict[int | None, int | None] = {i: k for k, i in enumerate(members)}
    number[None] = None

    def inside(*values: Value | None) -> bool:
        ends = [v.sample for v in values if v is not None and v.sample is not None]
        return bool(ends) and ends[0] in number

    def moved(value: Value) -> Value:
        return Value(number[value.sample], value.offset, value.mirrored)

    return System(
        system.integer,
        system.reads,
        tuple(system.samples[i] for i in members),
        tuple(
            Comparison(moved(c.low), moved(c.high), c.strict, c.step)
            for c in system.comparisons
            if inside(c.low, c.high)
        ),
        tuple(
            Shown(s.step, moved(s.value), None if s.subtrahend is None else moved(s.subtrahend))
            for s in system.shown
            if inside(s.value, s.subtrahend)
        ),
    )
