"""The run of a refutation: a witness with its cycles unrolled, and the sign of each difference of inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from symdipa.bounds.exact.flow import Flow, flow_bound
from symdipa.bounds.exact.signs import best_signs
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Witness
from symdipa.runs.control import Control

MOST_PATTERNS = 256
"""The most combinations of signs of a leaking cycle that are compared; if there are more, those that are best
for an unrolled run are taken."""
MOST_FOLLOWED, LONG_RUN = 40, (32, 64)
"""How many are compared in the long run, by the growth of ``c(s)`` between these numbers of rounds."""

Table = tuple[Mapping[int, int], ...]
"""Signs by position of the witness; round ``k`` of a cycle takes entry ``k`` modulo their number."""


def unrolled(witness: Witness, rounds: int) -> list[tuple[int, int]]:
    """The witness with each cycle taken ``rounds`` times: for each step its position in it, and the round."""
    found: list[tuple[int, int]] = []
    cycles = dict(witness.cycles)
    k = 0
    while k < len(witness.run):
        end = cycles.get(k, k + 1)
        turns = rounds if k in cycles else 1
        found += [(at, turn) for turn in range(turns) for at in range(k, end)]
        k = end
    return found


@dataclass(frozen=True, eq=False)
class Shape:
    """A witness and signs for it, to be unrolled any number of times."""

    control: Control
    witness: Witness
    table: Table
    limits: Limits = UNLIMITED
    known: dict[int, Fraction] = field(default_factory=dict, repr=False)

    def run(self, rounds: int) -> tuple[int, ...]:
        """The run with each cycle taken ``rounds`` times."""
        return tuple(self.witness.run[at] for at, _ in unrolled(self.witness, rounds))

    def signs(self, rounds: int) -> tuple[int, ...]:
        """The signs of the steps of the unrolled run, 0 where no input is read."""
        return tuple(self.table[turn % len(self.table)][at] for at, turn in unrolled(self.witness, rounds))

    def best_ratio(self, rounds: int) -> Fraction:
        """``c(s)`` of the unrolled run: the best log-ratio per ``eps`` over all distances."""
        if rounds not in self.known:
            found = best_flow(self.control, self.run(rounds), self.signs(rounds), self.limits).value
            assert found is not None  # without loops there is a largest flow
            self.known[rounds] = found
        return self.known[rounds]


def best_flow(control: Control, run: Sequence[int], signs: Sequence[int], limits: Limits) -> Flow:
    """The largest flow for the signs of a run; its value is ``c(s)``."""
    return flow_bound(control, run, (), signs, limits=limits)


def best_signs_of(
    control: Control, run: Sequence[int], limits: Limits, loops: Sequence[tuple[int, int]] = ()
) -> tuple[int, ...]:
    """The signs of the differences for which the run, with its loops repeated, costs most."""
    return tuple(map(int, best_signs(control, run, loops, limits=limits)))


def signs_of(control: Control, witness: Witness, limits: Limits = UNLIMITED) -> Table:
    """Signs for which ``c(s)`` of the unrolled witness grows without bound.

    One for each position; only a cycle that compares with what it stored may need two in turn.
    """
    if witness.pattern is not Pattern.LEAKING_CYCLE:
        return (dict(enumerate(best_signs_of(control, witness.run, limits, witness.cycles))),)
    (i, j), run = witness.cycles[0], witness.run
    inside = [k for k in range(i, j) if control.sampling[run[k]].reads_input]
    none: Mapping[int, int] = dict.fromkeys(range(len(run)), 0)
    tables: list[Table] = []
    for period in (1, 2):
        if 2 ** (period * len(inside)) > MOST_PATTERNS:
            break
        for signs in product((1, -1), repeat=period * len(inside)):
            turns = [signs[k * len(inside) : (k + 1) * len(inside)] for k in range(period)]
            tables.append(tuple({**none, **dict(zip(inside, turn, strict=True))} for turn in turns))
    best = _fastest(control, witness, tables, limits) or _signs_inside(control, witness, limits)
    for k in range(i):
        if control.sampling[run[k]].reads_input:
            choices = [tuple({**row, k: sign} for row in best) for sign in (1, -1)]
            best = max(choices, key=lambda table: Shape(control, witness, table, limits).best_ratio(4))
    return best


def _fastest(control: Control, witness: Witness, tables: Sequence[Table], limits: Limits) -> Table | None:
    """The signs for which ``c(s)`` grows fastest in the long run, among those that start well.

    Because of what precedes the cycle, the first rounds may cost something where later ones do not.
    """

    def rate(table: Table, first: int, last: int) -> Fraction:
        shape = Shape(control, witness, table, limits)
        return (shape.best_ratio(last) - shape.best_ratio(first)) / (last - first)

    early = sorted(((rate(table, 4, 6), -k) for k, table in enumerate(tables)), reverse=True)
    best, fastest = None, Fraction(0)
    for start, k in early[:MOST_FOLLOWED]:
        if start <= fastest:
            break
        found = rate(tables[-k], *LONG_RUN)
        if found > fastest:
            best, fastest = tables[-k], found
    return best


def _signs_inside(control: Control, witness: Witness, limits: Limits) -> Table:
    """The best signs of two rounds in the middle of an unrolled run."""
    shape = Shape(control, witness, ())
    chosen = best_signs_of(control, shape.run(6), limits)
    rows: list[dict[int, int]] = [dict.fromkeys(range(len(witness.run)), 0) for _ in range(2)]
    for (at, turn), sign in zip(unrolled(witness, 6), chosen, strict=True):
        if turn in (2, 3):
            rows[turn % 2][at] = sign
    return tuple(rows)
