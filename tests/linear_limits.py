"""Whether the costs of all runs have a bound: Leung's algorithm for distance automata.

Of a cost is kept whether it is nothing, something, larger than any bound, or infinite; a sum is a maximum of
these, a choice a minimum. A matrix has the costs of a piece of a run from each choice of shifts of the stored
values to each. The matrices of the steps are closed under products and under taking a loop for ever: then
only such ways stay below a bound as rest, for nothing, on some choice. There is no bound on the costs of all
runs exactly if some product from the start has nothing cheaper than *larger than any bound*.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from linear_judge import Explorer, Move, Where
    from linear_judge import Place as Adjacent

NOTHING, SOMETHING, UNBOUNDED, NEVER = range(4)

Place = tuple[str, "Where", "Adjacent"]
"""A node of the judge without its profile."""

Pumped = Callable[[int], list[tuple[int, Fraction]]]
"""The steps (transition, difference of its entry) of a piece with its loops, and theirs, taken so often."""


class TooLarge(Exception):
    """There are more nodes than allowed."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Steps from one place to another, and their costs."""

    source: Place
    target: Place
    costs: np.ndarray
    steps: Pumped


@dataclass(slots=True)
class Pieces:
    """Pieces that are known to be possible, by the place where they end; ``new`` are those to go on from."""

    cap: int
    at: dict[Place, list[Piece]]
    seen: set[tuple[Place, Place, bytes]]
    new: deque[Piece]

    @classmethod
    def none(cls, cap: int) -> Pieces:
        return cls(cap, {}, set(), deque())

    def add(self, piece: Piece) -> None:
        key = piece.source, piece.target, piece.costs.tobytes()
        if key in self.seen:
            return
        self.seen.add(key)
        self.at.setdefault(piece.target, []).append(piece)
        self.new.append(piece)
        if len(self.seen) > self.cap:
            raise TooLarge


class Limits:
    """The search for runs whose costs have no bound. Raises :class:`TooLarge` at the cap."""

    def __init__(self, explorer: Explorer, cap: int) -> None:
        self.explorer, self.cap = explorer, cap
        self.start: Place = (*explorer.start(), explorer.outset)
        self.shifts: dict[Place, list[tuple[int, ...]]] = {}
        self.links: dict[Place, list[Piece]] = {}
        self._find_places()
        places = list(self.links)
        number = {place: n for n, place in enumerate(places)}
        found = components([[number[link.target] for link in self.links[place]] for place in places])
        self.component = {place: found[n] for place, n in number.items()}
        self.rows, self.pieces = Pieces.none(cap), Pieces.none(cap)

    def _find_places(self) -> None:
        """All places, the shifts that are possible there, and the steps between them."""
        explorer = self.explorer
        steps: dict[Place, list[tuple[Place, Move, int, int]]] = {}
        possible: dict[Place, set[tuple[int, ...]]] = {self.start: {()}}
        todo = [self.start]
        while todo:
            here = todo.pop()
            if here not in steps:
                steps[here] = [
                    ((target, where, place), move, entry, delta)
                    for move, target, where in explorer.followers(here[0], here[1])
                    for entry, delta, place in explorer.differences(move.transition, here[2])
                ]
                if len(steps) > self.cap:
                    raise TooLarge
            for there, move, _, delta in steps[here]:
                known = possible.setdefault(there, set())
                before = len(known)
                for shifts in list(possible[here]):
                    known |= {after for after, _ in self._costs(move, delta, shifts)}
                if len(known) > before or there not in steps:
                    todo.append(there)
        self.shifts = {place: sorted(shifts) for place, shifts in possible.items()}
        for here, following in steps.items():
            self.links[here] = [
                Piece(here, there, self._matrix(here, there, move, delta), self._one(move, entry))
                for there, move, entry, delta in following
            ]

    def _costs(self, move: Move, delta: int, shifts: tuple[int, ...]) -> list[tuple[tuple[int, ...], int]]:
        found = self.explorer.step_profile(move, delta, ((shifts, 0),), None)
        return [] if found is None else [(after, found[0] + cost) for after, cost in found[1]]

    def _matrix(self, here: Place, there: Place, move: Move, delta: int) -> np.ndarray:
        columns = {shifts: n for n, shifts in enumerate(self.shifts[there])}
        matrix = np.full((len(self.shifts[here]), len(columns)), NEVER, dtype=np.uint8)
        for row, shifts in enumerate(self.shifts[here]):
            for after, cost in self._costs(move, delta, shifts):
                matrix[row, columns[after]] = SOMETHING if cost else NOTHING
        return matrix

    def _one(self, move: Move, entry: int) -> Pumped:
        steps = [(move.transition, Fraction(entry, self.explorer.delta_unit))]
        return lambda n: steps

    def search(self) -> Pumped | None:
        """Runs whose costs have no bound, if there are any.

        Rows from the start are followed everywhere, matrices within components, where all loops are.
        """
        nowhere = np.zeros((1, 1), dtype=np.uint8)
        self.rows.add(Piece(self.start, self.start, nowhere, lambda n: []))
        if (found := self._follow_rows()) is not None:
            return found
        for links in self.links.values():
            for link in filter(self._stays, links):
                self.pieces.add(link)
        while self.pieces.new:
            piece = self.pieces.new.popleft()
            for link in filter(self._stays, self.links[piece.target]):
                self.pieces.add(joined(piece, link))
            if piece.source != piece.target or (loop := for_ever(piece)) is None:
                continue
            if any(link.target == loop.target and same(link, loop) for link in self.links[loop.source]):
                continue
            self.links[loop.source].append(loop)
            for known in list(self.pieces.at[loop.source]):
                self.pieces.add(joined(known, loop))
            self.pieces.add(loop)
            for row in list(self.rows.at[loop.source]):
                self.rows.add(joined(row, loop))
            if (found := self._follow_rows()) is not None:
                return found
        return None

    def _stays(self, link: Piece) -> bool:
        return self.component[link.source] == self.component[link.target]

    def _follow_rows(self) -> Pumped | None:
        while self.rows.new:
            row = self.rows.new.popleft()
            if row.costs.min() == UNBOUNDED:
                return row.steps
            for link in self.links[row.target]:
                self.rows.add(joined(row, link))
        return None


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The costs of one piece after another."""
    return np.maximum(a[:, :, None], b[None, :, :]).min(axis=1, initial=NEVER)


def same(first: Piece, second: Piece) -> bool:
    return bool((first.costs == second.costs).all())


def joined(first: Piece, second: Piece) -> Piece:
    """One piece after another."""
    return Piece(
        first.source,
        second.target,
        product(first.costs, second.costs),
        lambda n: first.steps(n) + second.steps(n),
    )


def for_ever(loop: Piece) -> Piece | None:
    """A loop taken for ever; ``None`` if it costs the same as a few rounds of it."""
    power, often = loop.costs, 1
    while not (product(power, power) == power).all():
        power, often = product(power, loop.costs), often + 1
    rest = np.diag(power).copy()
    rest[rest == SOMETHING] = UNBOUNDED
    limit = product(np.maximum(power, rest[None, :]), power)
    if (limit == power).all():
        return None
    return Piece(loop.source, loop.target, limit, lambda n: loop.steps(n) * (often * n))


def components(ahead: Sequence[Sequence[int]]) -> list[int]:
    """The number of the component of each node (Tarjan): no edge leads to a larger one."""
    index: list[int | None] = [None] * len(ahead)
    low, number, stack = [0] * len(ahead), [-1] * len(ahead), list[int]()
    found, clock = 0, 0
    for root in range(len(ahead)):
        if index[root] is not None:
            continue
        work = [(root, iter(ahead[root]))]
        index[root] = low[root] = clock
        clock += 1
        stack.append(root)
        while work:
            n, rest = work[-1]
            for m in rest:
                if index[m] is None:
                    index[m] = low[m] = clock
                    clock += 1
                    stack.append(m)
                    work.append((m, iter(ahead[m])))
                    break
                if number[m] < 0:
                    low[n] = min(low[n], low[m])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[n])
                if low[n] == index[n]:
                    while number[n] < 0:
                        number[stack.pop()] = found
                    found += 1
    return number
