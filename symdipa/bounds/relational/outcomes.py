"""What is known about the values of two copies, and how a step changes it.

*Facts* are a matrix of bounds: its rows and columns are the values of the first copy, then those of the
second, then, where there are constants, the number 0; entry ``(u, v)`` bounds ``u - v``: ``2 * c`` stands for
``< c``, ``2 * c + 1`` for ``<= c`` (on a grid). Matrices are closed: they have every consequence of their
bounds, except what :func:`folded` gives up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from symdipa.bounds.relational.program import SAMPLE, ZERO, Action, Comparison, Guard, Place, Source
from symdipa.runs.order import Mask, members

NONE = 1 << 60
"""No bound."""

SAME = 1
"""``<= 0``, the bound of a value on itself."""

BELOW = 0
"""``< 0``."""

ShiftRange = tuple[int, int]
"""The least and the largest shift, in units of the grid."""

Matrix = list[list[int]]
Facts = tuple[int, ...]
"""The rows of a matrix one after another."""

Values = tuple[Mask, Mask]
"""Variables of the first copy, and of the second one."""


def plus(a: int, b: int) -> int:
    """The bound on ``u - w`` that follows from those on ``u - v`` and ``v - w``."""
    if a >= NONE or b >= NONE:
        return NONE
    return (a >> 1) + (b >> 1) << 1 | (a & b & 1)


def at_most(c: int) -> int:
    return 2 * c + 1


def unfolded(facts: Facts, size: int) -> Matrix:
    """The matrix of the facts, with two more values of which nothing is known: the samples of a step."""
    matrix = [[*facts[i * size : (i + 1) * size], NONE, NONE] for i in range(size)]
    return [*matrix, [NONE] * size + [SAME, NONE], [NONE] * size + [NONE, SAME]]


def add(matrix: Matrix, u: int, v: int, bound: int) -> bool:
    """Add a bound on ``u - v`` in place; ``False`` if nothing satisfies the bounds then."""
    if plus(matrix[v][u], bound) < SAME:
        return False
    if matrix[u][v] <= bound:
        return True
    from_v = [(j, last) for j, last in enumerate(matrix[v]) if last < NONE]
    for row in matrix:
        if row[u] < NONE:
            first = plus(row[u], bound)
            for j, last in from_v:
                through = (first & -2) + (last & -2) | (first & last & 1)  # plus(first, last)
                if through < row[j]:
                    row[j] = through
    return True


def folded(matrix: Matrix, kept: list[tuple[int, int]], far: int) -> Facts:
    """The facts about some values, given by their rows and what is added, weakened: no bounds beyond ``far``
    remain."""
    least, most = at_most(-far), at_most(far)
    found: list[int] = []
    for u, plus in kept:
        row = matrix[u]
        for v, more in kept:
            bound = row[v]
            if bound < NONE:
                bound += 2 * (plus - more)
            found.append(NONE if bound > most else max(bound, least))
    return tuple(found)


def bound_of(comparison: Comparison, unit: int, integer: bool) -> int:
    """The bound that a comparison is, on a grid of ``1/unit``; of integers none is strict."""
    if not comparison.gap and not integer:
        return BELOW if comparison.strict else SAME
    gap = int(comparison.gap * unit)
    if not comparison.strict:
        return at_most(gap)
    return at_most(gap - unit) if integer else 2 * gap


def is_possible(region: Guard, unit: int, integer: bool) -> bool:
    """Whether some values satisfy all the comparisons."""
    rows = {place: row for row, place in enumerate(dict.fromkeys(place for c in region for place in c[:2]))}
    matrix = [[SAME if u == v else NONE for v in rows] for u in rows]
    return all(add(matrix, rows[c.low], rows[c.high], bound_of(c, unit, integer)) for c in region)


Bounds = tuple[tuple[Place, Place, int], ...]
"""The bound on the difference of two places, for some of them."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Numbers are multiples of ``1/unit``, bounds beyond ``far`` are forgotten. With ``zero`` facts are about
    the number 0, too."""

    far: int
    unit: int
    integer: bool
    zero: bool
    _guards: dict[Action, Bounds] = field(default_factory=dict)

    def guard(self, action: Action) -> Bounds:
        """What its guard says."""
        if action not in self._guards:
            self._guards[action] = tuple(
                (c.low, c.high, bound_of(c, self.unit, self.integer)) for c in action.guard
            )
        return self._guards[action]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What becomes of facts in a step of two copies, each found once."""

    grid: Grid
    _known: dict[tuple[Values, Facts, ShiftRange | None], Drawn] = field(default_factory=dict)

    @property
    def nothing(self) -> Facts:
        """The facts where neither copy has a value."""
        return (SAME,) if self.grid.zero else ()

    def drawn(self, values: Values, facts: Facts, shift: ShiftRange | None) -> Drawn:
        """The step from facts about values, with the shift in a range (``None``: samples are not tied)."""
        key = values, facts, shift
        if key not in self._known:
            self._known[key] = _drawn(values, facts, shift, self.grid)
        return self._known[key]


Row = tuple[int, int]
"""A row of a matrix, and what is added to its value."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Facts about values and samples, before a guard was read; ``places`` are the rows of the values."""

    matrix: Matrix
    places: dict[tuple[int, int], int]
    grid: Grid
    _guarded: dict[tuple[Action, ...], Matrix | None] = field(default_factory=dict)
    _folded: dict[tuple[Action, Action, Values], Facts] = field(default_factory=dict)

    def after(self, one: Action, other: Action, later: Values) -> Facts | None:
        """The facts about the values ``later``, if the copies take these steps; ``None``: they cannot."""
        matrix = self._with_guards(one, other)
        if matrix is None:
            return None
        key = one, other, later
        if key not in self._folded:
            kept = [
                self._stored(copy, action, x)
                for copy, action in enumerate((one, other))
                for x in members(later[copy])
            ]
            kept += [(self._row(0, ZERO), 0)] if self.grid.zero else []
            self._folded[key] = folded(matrix, kept, self.grid.far)
        return self._folded[key]

    def show_the_same(self, one: Action, other: Action) -> bool:
        """Whether both copies certainly show the same numbers, if they take these steps."""
        if not (one.shown or other.shown):
            return True
        matrix = self._with_guards(one, other)
        if matrix is None or len(one.shown) != len(other.shown):
            return False
        return all(
            self._apart(matrix, low, other_low) == self._apart(matrix, high, other_high) is not None
            for (low, high), (other_low, other_high) in zip(one.shown, other.shown, strict=True)
        )

    def _apart(self, matrix: Matrix, one: Source, other: Source) -> int | None:
        """By how much a value of the first copy is larger than one of the second, if that is known."""
        plus = int((one[1] - other[1]) * self.grid.unit)
        if one[0] == other[0] == ZERO:
            return plus
        if ZERO in (one[0], other[0]) and not self.grid.zero:
            return None
        u, v = self._row(0, one[0]), self._row(1, other[0])
        most, least = matrix[u][v], matrix[v][u]
        known = most & least & 1 and most >> 1 == -(least >> 1) and most < NONE
        return (most >> 1) + plus if known else None

    def _row(self, copy: int, place: Place) -> int:
        if place >= 0:
            return self.places[copy, place]
        samples = len(self.matrix) - 2
        return samples + copy if place == SAMPLE else samples - 1

    def _stored(self, copy: int, action: Action, x: int) -> Row:
        """Where the value is that a variable has after the step."""
        if action.asg >> x & 1:
            return self._row(copy, SAMPLE), 0
        if action.copies:
            place, plus = dict(action.copies).get(x, (x, Fraction(0)))
            return self._row(copy, place), int(plus * self.grid.unit)
        return self.places[copy, x], 0

    def _with_guards(self, *actions: Action) -> Matrix | None:
        """What is known once the guards of the first copy, or of both, hold."""
        if not actions:
            return self.matrix
        if actions not in self._guarded:
            *before, last = actions
            known = self._with_guards(*before)
            self._guarded[actions] = None if known is None else self._with_guard(known, len(before), last)
        return self._guarded[actions]

    def _with_guard(self, known: Matrix, copy: int, action: Action) -> Matrix | None:
        asked = [
            (self._row(copy, low), self._row(copy, high), bound)
            for low, high, bound in self.grid.guard(action)
        ]
        if any(plus(known[v][u], bound) < SAME for u, v, bound in asked):
            return None
        new = [each for each in asked if known[each[0]][each[1]] > each[2]]
        if not new:
            return known
        matrix = [row[:] for row in known]
        return matrix if all(add(matrix, u, v, bound) for u, v, bound in new) else None


def _drawn(values: Values, facts: Facts, shift: ShiftRange | None, grid: Grid) -> Drawn:
    found = [(copy, x) for copy in (0, 1) for x in members(values[copy])]
    size = len(found) + grid.zero
    matrix = unfolded(facts, size)
    if shift is not None:  # the sample of the second copy is that of the first, shifted
        add(matrix, size + 1, size, at_most(shift[1]))
        add(matrix, size, size + 1, at_most(-shift[0]))
    return Drawn(matrix, {value: i for i, value in enumerate(found)}, grid)
