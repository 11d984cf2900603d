"""Whether some letters can be put in an order that costs more than any bound (Leung, Simon).

A table without its numbers is a matrix over ``FREE < PAID < GROWING < NEVER``: to get from one column to
another costs nothing, something, more and more, or is impossible. A product takes the greatest on each way
and the least of all ways. A loop that is *stable* (its square is itself) may be repeated more and more: what
costs something in every round grows then (:func:`repeated`). The costs of runs have no bound iff products and
repetitions, nested in any way, lead from the beginning to a matrix in which all is growing or impossible.

All orders of the letters are found by taking nodes out one by one, as a finite automaton is made a regular
expression. Only the matrices are kept that no other one is everywhere at least as high as: the adversary
wants high ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from symdipa.bounds.exact.distance.space import Letter, Space
from symdipa.model.errors import Limit, LimitReached

FREE, PAID, GROWING, NEVER = range(4)

MOST_LOOPS = 2_000
"""The most matrices of loops at a node."""

Matrix = NDArray[np.uint8]

_START, _END = -1, -2


@dataclass(frozen=True)
class Loop:
    """A closed path that is repeated as often as one likes."""

    body: Word


Word = tuple["int | Loop", ...]
"""Letters by their numbers, and loops of them."""


def expanded(word: Word, rounds: int) -> Iterator[int]:
    """The letters, with every loop taken so many times."""
    for item in word:
        if isinstance(item, Loop):
            for _ in range(rounds):
                yield from expanded(item.body, rounds)
        else:
            yield item


def product(left: Matrix, right: Matrix) -> Matrix:
    """What it takes to go the one way and then the other."""
    result = np.full((len(left), right.shape[1]), NEVER, dtype=np.uint8)
    for level in (GROWING, PAID, FREE):
        ways = (left <= level).astype(np.float32) @ (right <= level).astype(np.float32)
        result[ways > 0] = level
    return result


def repeated(loop: Matrix) -> tuple[Matrix, int]:
    """A loop that is repeated more and more, in multiples of the number that makes it stable.

    What remains free or paid passes through a column to which the loop leads back for nothing.
    """
    powers = [loop]
    while True:
        k = len(powers)
        if (k & 1) == 0 and (powers[k // 2 - 1] == powers[k - 1]).all():
            stable, count = powers[k // 2 - 1], k // 2
            break
        powers.append(product(powers[-1], loop))
    middle = stable.copy()
    middle[:] = NEVER
    own = stable.diagonal()
    np.fill_diagonal(middle, np.where(own == PAID, GROWING, own))
    return product(product(stable, middle), stable), count


@dataclass(frozen=True, eq=False)
class _Way:
    matrix: Matrix
    word: Word

    def then(self, other: _Way) -> _Way:
        return _Way(product(self.matrix, other.matrix), self.word + other.word)

    @property
    def is_lost(self) -> bool:
        """Whether no shift remains at a cost that has a bound."""
        return bool((self.matrix >= GROWING).all())


class _Found(Exception):
    def __init__(self, word: Word) -> None:
        super().__init__()
        self.word = word


def endless(space: Space, letters: Iterable[int]) -> Word | None:
    """A word of these letters from the beginning on that costs more and more, if there is one.

    Raises :class:`LimitReached` where there are more than :data:`MOST_LOOPS` kinds of loops at a node.
    """
    search = _Elimination(space, {letter: matrix(space.letters[letter]) for letter in set(letters)})
    try:
        search.run()
    except _Found as found:
        return _shortened(found.word, search)
    return None


def matrix(letter: Letter) -> Matrix:
    """The table of a letter without its numbers."""
    table = letter.table
    result = np.full((table.before, table.after), NEVER, dtype=np.uint8)
    result[table.sources, table.targets] = np.where(table.prices > 0, PAID, FREE)
    return result


@dataclass(eq=False)
class _Elimination:
    """Nodes are taken out one by one; ``ways[u][v]`` leads from ``u`` to ``v`` through those that are out."""

    space: Space
    matrices: dict[int, Matrix]
    ways: dict[int, dict[int, list[_Way]]] = field(default_factory=dict)

    def run(self) -> None:
        """Raises :class:`_Found` where costs have no bound."""
        nodes = {0}
        self._add(_START, 0, _Way(np.zeros((1, 1), dtype=np.uint8), ()))
        for i in sorted(self.matrices):
            letter = self.space.letters[i]
            nodes |= {letter.source, letter.target}
            self._add(letter.source, letter.target, _Way(self.matrices[i], (i,)))
        for v in nodes:
            self._add(v, _END, _Way(np.zeros((self.space.frames[v].width, 1), dtype=np.uint8), ()))
        while nodes:
            # So loops are those of whole nodes.
            v = min(nodes, key=lambda v: (self.space.whole[v], self._degree(v), -self.space.component[v], v))
            nodes.remove(v)
            self._take_out(v)

    def _degree(self, v: int) -> int:
        """How many ways there are when a node is taken out."""
        into = sum(len(ways[v]) for u, ways in self.ways.items() if u != v and v in ways)
        return into * sum(len(ways) for w, ways in self.ways[v].items() if w != v)

    def _take_out(self, v: int) -> None:
        self.space.limits.check("the distance, whether costs grow")
        leaving = self.ways.pop(v)
        loops = self._closed(leaving.pop(v, []))
        for u in list(self.ways):
            for one in self.ways[u].pop(v, []):
                for way in [one, *(one.then(loop) for loop in loops)]:
                    if u == _START and way.is_lost:
                        raise _Found(way.word)
                    for w, others in leaving.items():
                        for other in others:
                            self._add(u, w, way.then(other))

    def _add(self, u: int, v: int, way: _Way) -> None:
        if u == _START and way.is_lost:
            raise _Found(way.word)
        _offer(self.ways.setdefault(u, {}).setdefault(v, []), way)

    def _closed(self, loops: list[_Way]) -> list[_Way]:
        """The products and repetitions of loops at one node."""
        kept: list[_Way] = []
        generators: list[_Way] = []
        fresh: list[_Way] = []

        def offer(way: _Way) -> bool:
            if _is_idle(way.matrix) or not _offer(kept, way):
                return False
            fresh.append(way)
            if len(kept) > MOST_LOOPS:
                raise LimitReached(Limit.SIZE, f"more than {MOST_LOOPS} kinds of loops at a node")
            return True

        def generate(way: _Way) -> None:
            if offer(way):
                for other in [other for other in kept if other is not way]:
                    offer(other.then(way))
                generators.append(way)

        for loop in loops:
            generate(loop)
        while fresh:
            self.space.limits.check(f"the distance, {len(kept)} kinds of loops")
            way = fresh.pop(0)
            if not any(way is other for other in kept):
                continue
            growing, count = repeated(way.matrix)
            generate(_Way(growing, (Loop(way.word * count),)))
            for generator in list(generators):
                offer(way.then(generator))
        return kept

    # A word that was found

    def value(self, word: Word) -> Matrix | None:
        """The matrix of a word; ``None`` of the empty one."""
        result: Matrix | None = None
        for item in word:
            if isinstance(item, Loop):
                body = self.value(item.body)
                assert body is not None
                own, _ = repeated(body)
            else:
                own = self.matrices[item]
            result = own if result is None else product(result, own)
        return result

    def is_lost(self, word: Word) -> bool:
        value = self.value(word)
        return value is not None and bool((value[:1] >= GROWING).all())

    def ends(self, word: Word) -> list[int]:
        """The nodes before the items of a word and behind it."""
        return [
            *(self.space.letters[_first(item)].source for item in word),
            self.space.letters[_last(word[-1])].target,
        ]


def _first(item: int | Loop) -> int:
    return _first(item.body[0]) if isinstance(item, Loop) else item


def _last(item: int | Loop) -> int:
    return _last(item.body[-1]) if isinstance(item, Loop) else item


def _is_idle(loop: Matrix) -> bool:
    """Whether a loop is never worth more than staying."""
    return not loop.diagonal().any()


def _offer(kept: list[_Way], way: _Way) -> bool:
    """Keep a way unless another one is everywhere at least as high; drop those it makes superfluous."""
    if any((other.matrix >= way.matrix).all() for other in kept):
        return False
    kept[:] = [other for other in kept if not (way.matrix >= other.matrix).all()]
    kept.append(way)
    return True


def _shortened(word: Word, search: _Elimination) -> Word:
    """A word with the same effect without closed paths and repetitions that it does not need."""
    return _reduced(word, search.is_lost, search)


def _reduced(word: Word, is_lost: Callable[[Word], bool], search: _Elimination) -> Word:
    while True:
        shorter = next(filter(is_lost, _shorter(word, search)), None)
        if shorter is None:
            break
        word = shorter
    for i, item in enumerate(word):
        if isinstance(item, Loop):

            def still(body: Word, i: int = i, word: Word = word) -> bool:
                return bool(body) and is_lost((*word[:i], Loop(body), *word[i + 1 :]))

            word = (*word[:i], Loop(_reduced(item.body, still, search)), *word[i + 1 :])
    return word


def _shorter(word: Word, search: _Elimination) -> Iterator[Word]:
    """The word without a closed part, the longest first; then with a loop taken only once."""
    ends = search.ends(word) if word else []
    for length in range(len(word), 0, -1):
        for i in range(len(word) - length + 1):
            if ends[i] == ends[i + length]:
                yield word[:i] + word[i + length :]
    for i, item in enumerate(word):
        if isinstance(item, Loop):
            yield word[:i] + item.body + word[i + 1 :]
