"""The rules of alignment over a lifted graph (docs/weights.md, section 2).

Unknowns are numbers in the range of the shifts, which is that of the differences; unknown 0 is the constant
0. The rules (Def. alignment program) ask that one unknown be *at most* another, and set the cost of an edge:
its sample may follow the difference down to the largest of ``floor[e]`` and up to the least of
``ceiling[e]``. A sample with one fixed shift has that unknown in both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from symdipa.bounds.alignment.lifts import LiftedCover
from symdipa.bounds.costs import Rate, rates
from symdipa.model.adjacency import Interval
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.graphs import classes, component_numbers
from symdipa.runs.order import members

ZERO = 0

ShiftEnds = tuple[int, int]
"""The unknowns that are the ends of an interval of shifts (the same one twice for a point)."""

Group = tuple[int, int, Rate, tuple[int, ...], tuple[int, ...]]
"""A step between (or inside) components: ``(from, to, rate, floor, ceiling)``."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """What is to be solved: rules ``at_most`` between unknowns, and ``groups`` of steps that must be paid.

    Components are numbered from the ends; runs begin in component ``initial``.
    """

    unknowns: int
    at_most: frozenset[tuple[int, int]]
    groups: tuple[Group, ...]
    components: int
    initial: int

    @cached_property
    def rates(self) -> frozenset[Rate]:
        return frozenset(rate for _, _, rate, _, _ in self.groups)

    def shifts(self, low: Fraction, high: Fraction) -> Interval:
        """The range of the shifts for inputs that differ by ``low`` to ``high``: that of all differences."""
        ends = [low, high]
        for rate in self.rates:
            if rate.mirror or rate.known is not None:
                ends += rate.differences(low, high)
        return min(ends), max(ends)


@dataclass(frozen=True, eq=False)
class Program:
    """The rules on one graph: ``at_most`` between unknowns, ``floor`` and ``ceiling`` per edge of the lift.

    ``interval`` gives the unknowns of a tracked variable in a node. ``rate`` is per transition.
    """

    lift: LiftedCover
    unknowns: int
    at_most: frozenset[tuple[int, int]]
    floor: tuple[tuple[int, ...], ...]
    ceiling: tuple[tuple[int, ...], ...]
    interval: Callable[[int, int], ShiftEnds]
    rate: tuple[Rate, ...]

    @property
    def nodes(self) -> int:
        return self.lift.nodes

    @cached_property
    def constraints(self) -> Constraints:
        """The steps that differ, once each."""
        lift, component = self.lift, self.lift.component
        ends = ((component[u], component[v]) for u, v in zip(lift.source, lift.target, strict=True))
        asked = zip(map(self.rate.__getitem__, lift.transition), self.floor, self.ceiling, strict=True)
        groups = dict.fromkeys((*joined, *rule) for joined, rule in zip(ends, asked, strict=True))
        return Constraints(
            self.unknowns, self.at_most, tuple(groups), max(component) + 1, component[lift.initial]
        )


# What has which shift


class _Pairs:
    """Which pairs of node and tracked variable need a shift of their own, and what links them.

    ``fresh[e]`` are the variables that edge ``e`` assigns and whose shift matters afterwards. A variable that
    only one edge so assigns always has the shift of that edge's sample: ``once`` are these variables, with
    their edges, and only the others have pairs. ``kept`` are the links of pairs over edges that keep the
    variable.
    """

    def __init__(self, lift: LiftedCover, max_pairs: int | None, limits: Limits) -> None:
        steps = lift.control.steps
        self.fresh = tuple(
            steps[t].asg & lift.tracked[v] for v, t in zip(lift.target, lift.transition, strict=True)
        )
        once = many = 0
        for mask in self.fresh:
            many |= once & mask
            once |= mask
        self.once = {x: e for e, mask in enumerate(self.fresh) for x in members(mask & ~many)}
        self.number: dict[tuple[int, int], int] = {}
        for v, tracked in enumerate(lift.tracked):
            if v % 256 == 0:
                limits.check(f"alignment, shifts in {v} of {lift.nodes} nodes")
            for x in members(tracked & many):
                self.number[v, x] = len(self.number)
            if max_pairs is not None and len(self.number) > max_pairs:
                raise LimitReached(
                    Limit.SIZE, f"more than {max_pairs} pairs of node and variable have shifts of their own"
                )
        self.kept: list[tuple[int, int]] = []
        for e, (u, v, t) in enumerate(zip(lift.source, lift.target, lift.transition, strict=True)):
            if e % 256 == 0:
                limits.check(f"alignment, shifts on {e} of {len(lift.edge)} edges")
            self.kept += [
                (self.number[u, x], self.number[v, x])
                for x in members(many & lift.tracked[v] & ~steps[t].asg)
            ]


def points(lift: LiftedCover, max_pairs: int | None = None, limits: Limits = UNLIMITED) -> Program:
    """One shift per def-use web: what the edges that store one sample or keep a variable join.

    Raises :class:`LimitReached` above ``max_pairs`` pairs of node and variable (variables that only one edge
    assigns do not count), and when the time is up.
    """
    pairs = _Pairs(lift, max_pairs, limits)
    first = 1 + len(pairs.number)  # the elements to join: the constant, the pairs, what the edges store
    sample = {e: first + i for i, e in enumerate(e for e, fresh in enumerate(pairs.fresh) if fresh)}
    groups: list[list[int]] = [[1 + p, 1 + q] for p, q in pairs.kept]
    for e, element in sample.items():
        held = [1 + pairs.number[lift.target[e], x] for x in members(pairs.fresh[e]) if x not in pairs.once]
        released = [ZERO] if lift.control.sampling[lift.transition[e]].shows_sample else []
        groups.append([element, *held, *released])
    shift = classes(first + len(sample), groups)

    def interval(node: int, x: int) -> ShiftEnds:
        found = shift[sample[pairs.once[x]] if x in pairs.once else 1 + pairs.number[node, x]]
        return found, found

    def stored(e: int) -> ShiftEnds:
        found = shift[sample[e]] if e in sample else ZERO
        return found, found

    return _program(pairs, lift, max(shift) + 1, set(), interval, stored)


def intervals(lift: LiftedCover, max_pairs: int | None = None, limits: Limits = UNLIMITED) -> Program:
    """An interval for what each edge stores, and hulls of intervals where different ones meet.

    A stored sample may follow the difference inside its interval. A pair that always holds what one edge
    stored, or what one other pair held, has the same interval; so have the pairs on a cycle of kept values.

    Raises :class:`LimitReached` above ``max_pairs`` pairs of node and variable (variables that only one edge
    assigns do not count), and when the time is up.
    """
    pairs = _Pairs(lift, max_pairs, limits)
    unknowns = 1
    at_most: set[tuple[int, int]] = set()

    def new() -> ShiftEnds:
        nonlocal unknowns
        unknowns += 2
        at_most.add((unknowns - 2, unknowns - 1))
        return unknowns - 2, unknowns - 1

    samples: list[ShiftEnds] = []
    number = component_numbers(len(pairs.number), pairs.kept)
    arriving: list[dict[ShiftEnds, None]] = [{} for _ in range(max(number, default=-1) + 1)]
    for e, fresh in enumerate(pairs.fresh):
        released = lift.control.sampling[lift.transition[e]].shows_sample
        samples.append((ZERO, ZERO) if released or not fresh else new())
        for x in members(fresh):
            if x not in pairs.once:
                arriving[number[pairs.number[lift.target[e], x]]][samples[e]] = None
    onward: list[set[int]] = [set() for _ in arriving]
    for p, q in pairs.kept:
        if number[p] != number[q]:
            onward[number[p]].add(number[q])
    hulls: list[ShiftEnds] = [(ZERO, ZERO)] * len(arriving)
    for group in reversed(range(len(arriving))):  # links lead to equal or smaller numbers
        parts = arriving[group]
        if len(parts) == 1:
            (hulls[group],) = parts
        else:
            low, high = hulls[group] = new()
            for a, b in parts:
                at_most |= {(low, a), (b, high)}
        for later in sorted(onward[group]):
            arriving[later][hulls[group]] = None

    def interval(node: int, x: int) -> ShiftEnds:
        return samples[pairs.once[x]] if x in pairs.once else hulls[number[pairs.number[node, x]]]

    return _program(pairs, lift, unknowns, at_most, interval, samples.__getitem__)


def _program(
    pairs: _Pairs,
    lift: LiftedCover,
    unknowns: int,
    at_most: set[tuple[int, int]],
    interval: Callable[[int, int], ShiftEnds],
    stored: Callable[[int], ShiftEnds],
) -> Program:
    """The rules for every edge, given the unknowns."""
    rate, sampling = rates(lift.control), lift.control.sampling
    floor, ceiling = [], []
    for e, (u, t) in enumerate(zip(lift.source, lift.transition, strict=True)):
        step = lift.control.steps[t]
        down = {interval(u, x)[1] for x in members(step.lt)}
        up = {interval(u, x)[0] for x in members(step.ge)}
        if pairs.fresh[e] or sampling[t].shows_sample:
            low, high = stored(e)
            at_most.update((f, low) for f in down)
            at_most.update((high, c) for c in up)
            down, up = {low}, {high}
        else:
            at_most.update((f, c) for f in down for c in up)
        if (down or up) and not (sampling[t].given or sampling[t].d):
            raise ValueError(f"transition {t} needs the scale of its sample")
        floor.append(tuple(sorted(down)))
        ceiling.append(tuple(sorted(up)))
    rules = frozenset((a, b) for a, b in at_most if a != b)
    return Program(lift, unknowns, rules, tuple(floor), tuple(ceiling), interval, rate)
