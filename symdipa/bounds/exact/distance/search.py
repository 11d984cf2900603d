"""The exact constant of any augmentation, also of one with leaking cycles (Thm. distance).

The adversary chooses letter after letter, that is transitions and differences; the cost of a run is that of
the best shifts. This is a distance automaton, and the constant is the least upper bound of its costs.

*Below a cap.* What costs more than the cap counts as impossible. There are finitely many profiles then, and
of those in one node only the highest ones matter. If some shift remains for every run, the constant is at
most the cap; so no best shift was left out, and the highest least entry of a profile is exact.

*Above it.* Else there is a run that costs more than the cap. If its letters, in any order, can cost more and
more, which is decided by :mod:`~symdipa.bounds.exact.distance.growth`, there is no constant. Otherwise the
cap was too small and grows. This ends: there are finitely many sets of letters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from symdipa.bounds.exact.distance.growth import Loop, Word, endless, expanded
from symdipa.bounds.exact.distance.space import Space, no_denominator
from symdipa.bounds.exact.flow import Span
from symdipa.bounds.exact.frames import LARGEST, Rows
from symdipa.bounds.exact.lift import NEVER
from symdipa.bounds.exact.profiles import ConstantLimit, Exact
from symdipa.model.adjacency import TWO_SIDED, Adjacency, intervals
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.augmentation import Augmentation

MAX_PROFILES = 500_000
"""How many profiles are explored, unless the caller says otherwise."""

ROUNDS = 40
"""How often the loops of a growing run are taken to see by how much it grows."""

GROWTHS, FURTHER = 4, 30
"""How many times in a row a run must grow by the same amount, and how many times more on the whole."""


@dataclass(frozen=True)
class Distance(Exact):
    """The exact constant, with a run that attains it or one whose costs have no bound.

    ``run`` are transitions of the control graph, ``deltas`` the differences at its positions. Where ``value``
    is a number, ``run`` costs so much as it stands and ``loops`` is empty. Where it is ``None``, ``rigid``
    says that no shift of the run has a finite cost. Otherwise the run with every range of ``loops`` taken
    1, 2, 3, ... times costs more and more: by ``gain`` each time, if that is always the same. One range may
    lie in another. Loops begin and end between transitions of the automaton.
    """

    gain: Fraction | None = None
    rigid: bool = False


def distance_constant(
    augmentation: Augmentation,
    *,
    adjacency: Adjacency = TWO_SIDED,
    upper: Fraction | None = None,
    max_nodes: int = MAX_PROFILES,
    limits: Limits = UNLIMITED,
) -> Distance:
    """The optimal ``D`` of single runs, or that there is none.

    ``upper`` is a bound on it, if one is known: that makes the search shorter. Raises ``ValueError`` where it
    turns out to be wrong, :class:`ConstantLimit` (with the dearest run known) when ``max_nodes`` profiles
    have been explored, and :class:`LimitReached` when too many values are live at a time, and when the time
    is up.
    """
    found: list[Distance] = []
    reached: list[ConstantLimit] = []
    for interval in intervals(adjacency):
        search = _Search(Space(augmentation, interval, limits), upper, max_nodes)
        try:
            found.append(search.run())
        except ConstantLimit as limit:
            reached.append(limit)
        else:
            if found[-1].value is None:
                return found[-1]
    best: Exact = max([*found, *(limit.lower for limit in reached if limit.lower)], key=_value)
    if reached:
        raise ConstantLimit(reached[0].reason, best, upper)
    assert isinstance(best, Distance)
    return best


def distances(augmentation: Augmentation, limits: Limits = UNLIMITED) -> Distance:
    """:func:`distance_constant` for two-sided differences, as it is asked of another process."""
    return distance_constant(augmentation, limits=limits)


def _value(exact: Exact) -> Fraction:
    assert exact.value is not None
    return exact.value


@dataclass(eq=False)
class _Search:
    """Caps that grow until one is high enough."""

    space: Space
    upper: Fraction | None
    max_nodes: int
    lower: Distance | None = None
    bounded: list[frozenset[int]] = field(default_factory=list)
    undecided: str = ""

    def run(self) -> Distance:
        space = self.space
        most = None if self.upper is None else int(self.upper * space.unit)
        self.lower = Distance(Fraction(0), (), (), (), space.interval)
        cap = 2 * space.largest
        left = self.max_nodes
        while True:
            cap = cap if most is None else min(cap, most)
            if cap > LARGEST:
                raise no_denominator()
            capped = _Capped(space, cap, left)
            try:
                word = capped.run()
            except _TooMany:
                raise ConstantLimit(self._reason(cap), self.lower, self.upper) from None
            left -= len(capped.origin)
            if word is None:
                run, deltas = space.run(space.ended(capped.path(capped.best)))
                value = Fraction(capped.highest, space.unit)
                return Distance(value, run, (), deltas, space.interval)
            word = space.ended(word)
            cost = space.cost(word)
            if cost is None:
                return self._rigid(word)
            if cap == most:
                raise ValueError(f"D is at least {cost}, above the bound {self.upper}")
            run, deltas = space.run(word)
            self.lower = Distance(cost, run, (), deltas, space.interval)
            growing = self._growing(frozenset(word))
            if growing is not None:
                return growing
            cap = max(2 * cap, int(cost * space.unit))

    def _reason(self, cap: int) -> str:
        shown = Fraction(cap, self.space.unit)
        reason = f"more than {self.max_nodes} profiles for the distance, where D is not above {shown}"
        return f"{reason} ({self.undecided})" if self.undecided else reason

    def _rigid(self, letters: list[int]) -> Distance:
        run, deltas = self.space.run(letters)
        return Distance(None, run, (), deltas, self.space.interval, rigid=True)

    def _growing(self, letters: frozenset[int]) -> Distance | None:
        """A run of these letters that costs more and more, if there is one."""
        if any(letters <= known for known in self.bounded):
            return None
        try:
            word = endless(self.space, letters)
        except LimitReached as limit:
            if limit.limit is not Limit.SIZE:
                raise
            self.undecided = limit.reason
            return None
        if word is None:
            self.bounded.append(letters)
            return None
        return self._repeated(word)

    def _repeated(self, word: Word) -> Distance:
        """The run of a word whose cost has no bound, with enough rounds of its loops to grow evenly."""
        costs: list[Fraction] = []
        before, times, gain = 0, 1, None
        for rounds in range(1, ROUNDS + 1):
            letters = self.space.ended(expanded(word, rounds))
            cost = self.space.cost(letters)
            if cost is None:
                return self._rigid(letters)
            costs.append(cost)
            if (even := _even(costs)) is not None:
                further = self.space.cost(self.space.ended(expanded(word, rounds + FURTHER * even[1])))
                if further == cost + FURTHER * even[2]:
                    before, times, gain = even
                    break
        unrolled, loops = _unrolled(word, before, times)
        run, deltas = self.space.run(self.space.ended(unrolled))
        return Distance(None, run, tuple(loops), deltas, self.space.interval, gain)


def _even(costs: list[Fraction]) -> tuple[int, int, Fraction] | None:
    """If costs grow evenly in the end: after how many rounds, how many are one then, by how much."""
    for times in range(1, len(costs) // (GROWTHS + 1) + 1):
        last = costs[::-1][: times * (GROWTHS + 1) : times]
        gains = {one - other for one, other in pairwise(last)}
        if len(last) == GROWTHS + 1 and len(gains) == 1 and min(gains) > 0:
            return len(costs) - times * (GROWTHS + 1), times, gains.pop()
    return None


def _unrolled(word: Word, before: int, times: int) -> tuple[list[int], list[Span]]:
    """The letters of a word with some rounds of each loop before, then some more that are one; these."""
    letters: list[int] = []
    loops: list[Span] = []

    def walk(word: Word) -> None:
        for item in word:
            if not isinstance(item, Loop):
                letters.append(item)
                continue
            for _ in range(before):
                walk(item.body)
            start = len(letters)
            for _ in range(times):
                walk(item.body)
            loops.append((start, len(letters)))

    walk(word)
    return letters, loops


class _TooMany(Exception):
    """Too many profiles."""


@dataclass(eq=False)
class _Capped:
    """The profiles of all runs, where what costs more than ``cap`` counts as impossible.

    ``origin[k]`` is the profile from which profile ``k`` was reached, with the letter; profile 0 is the
    first. ``best`` is the one with the ``highest`` least entry.
    """

    space: Space
    cap: int
    most: int
    origin: list[tuple[int, int]] = field(default_factory=lambda: [(0, -1)])
    best: int = 0
    highest: int = 0

    def run(self) -> list[int] | None:
        """The letters of a run for which no shift remains; ``None`` if there is none.

        Of the profiles of a component the highest is gone on from first: most others are covered before it is
        their turn.
        """
        space = self.space
        self.rows = [np.zeros((0, frame.width), dtype=np.int64) for frame in space.frames]
        self.names: list[NDArray[np.intp]] = [np.zeros(0, dtype=np.intp) for _ in space.frames]
        self.rows[0], self.names[0] = space.before, np.zeros(1, dtype=np.intp)
        self.waiting = {0: space.before}
        self.queue = [(-space.component[0], 0.0, 0, 0)]
        while self.queue:
            _, _, name, here = heappop(self.queue)
            row = self.waiting.pop(name, None)
            if row is None:
                continue
            if name % 16 == 0:
                space.limits.check(f"the distance, {len(self.origin)} profiles")
            for i in space.leaving[here]:
                letter = space.letters[i]
                moved = letter.table.apply(row)
                moved[moved > self.cap] = NEVER
                if moved.min(initial=NEVER) >= NEVER:
                    return [*self.path(name), i]
                self._offer(letter.target, moved, name, i)
        return None

    def _offer(self, node: int, row: Rows, origin: int, letter: int) -> None:
        """Keep a profile unless another one of the node covers it; drop those that it covers."""
        rows = self.rows[node]
        if (rows >= row).all(axis=1).any():
            return
        name = len(self.origin)
        if name >= self.most:
            raise _TooMany
        self.origin.append((origin, letter))
        least = int(row.min())
        if least > self.highest:
            self.highest, self.best = least, name
        under = (rows <= row).all(axis=1)
        if under.any():
            for other in self.names[node][under]:
                self.waiting.pop(int(other), None)
            rows, self.names[node] = rows[~under], self.names[node][~under]
        self.rows[node] = np.concatenate([rows, row])
        self.names[node] = np.append(self.names[node], name)
        self.waiting[name] = row
        height = float(np.minimum(row, self.cap + 1).mean())
        heappush(self.queue, (-self.space.component[node], -height, name, node))

    def path(self, name: int) -> list[int]:
        """The letters that lead to a profile."""
        letters = []
        while name:
            name, letter = self.origin[name]
            letters.append(letter)
        return letters[::-1]
