"""Facts about the values that two copies hold: bounds on differences, strict or weak.

Bounds are integers on a grid: ``2 * c`` stands for ``< c`` and ``2 * c + 1`` for ``<= c``. Rows and columns
of a matrix are the values of the first copy, then those of the second; entry ``(u, v)`` bounds ``u - v``. All
functions keep matrices closed: every consequence of the bounds is in them, except for what
:func:`weakened` gives up.
"""

from __future__ import annotations

NONE = 1 << 60
"""No bound."""

SAME = 1
"""``<= 0``, the bound of a value on itself."""

BELOW = 0
"""``< 0``."""

Matrix = list[list[int]]
Facts = tuple[int, ...]
"""The rows of a matrix one after another."""


def plus(a: int, b: int) -> int:
    """The bound on ``u - w`` that follows from those on ``u - v`` and ``v - w``."""
    if a >= NONE or b >= NONE:
        return NONE
    return (a >> 1) + (b >> 1) << 1 | (a & b & 1)


def at_most(c: int) -> int:
    return 2 * c + 1


def unfolded(facts: Facts, size: int, more: int) -> Matrix:
    """The matrix of the facts, with so ``more`` values of which nothing is known."""
    matrix = [[*facts[i * size : (i + 1) * size], *[NONE] * more] for i in range(size)]
    matrix += [[NONE] * (size + more) for _ in range(more)]
    for i in range(size, size + more):
        matrix[i][i] = SAME
    return matrix


def add(matrix: Matrix, u: int, v: int, bound: int) -> bool:
    """Add a bound on ``u - v`` in place; ``False`` if nothing satisfies the bounds then."""
    if plus(matrix[v][u], bound) < SAME:
        return False
    if matrix[u][v] <= bound:
        return True
    to_u = [plus(row[u], bound) for row in matrix]
    from_v = matrix[v][:]
    for row, first in zip(matrix, to_u, strict=True):
        if first >= NONE:
            continue
        for j, last in enumerate(from_v):
            if last < NONE:
                through = plus(first, last)
                if through < row[j]:
                    row[j] = through
    return True


def folded(matrix: Matrix, places: list[int], far: int) -> Facts:
    """The facts about the values at some places, weakened: no bounds beyond ``far`` remain."""
    return tuple(weakened(matrix[u][v], far) for u in places for v in places)


def weakened(bound: int, far: int) -> int:
    """A bound that follows and is one of finitely many."""
    if bound > at_most(far):
        return NONE
    return max(bound, at_most(-far))
