"""Whether a run costs more and more when its cycles are taken again and again, for however many rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Literal

from symdipa.model.automaton import Automaton, Noise
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.numbers.drift import drifts
from symdipa.runs.numbers.possible import Differences, feasible
from symdipa.runs.numbers.shifts import cost, ends_of, largest
from symdipa.runs.numbers.system import Span, System, Walk, repeated, unrolled

ROUNDS = 4
"""Costs are stated up to this number of rounds (or of pairs of rounds)."""
REPEATS = 4
"""A loop whose effect has not come to rest after so many rounds is not shown to be repeatable."""
TOGETHER = 3
"""Up to so many rounds of a cycle (or pairs of rounds) are looked at together."""


@dataclass(frozen=True)
class Growth:
    """Whether a run costs more and more when its cycles are taken again and again.

    ``grows``: every ``len(deltas)`` further rounds of each cycle add so much or more, whatever all else is
    shifted by; or ``"infinite"``: it is at once; ``None``: neither was shown. ``reason`` says why not,
    or why the run is feasible with any number of rounds. ``deltas`` has the difference of every position
    of the run, a row for each round in turn; ``costs`` are those of n = 1, 2, 3, ... times these rounds.
    """

    grows: Fraction | Literal["infinite"] | None
    deltas: tuple[tuple[Fraction, ...], ...]
    costs: tuple[Fraction | None, ...]
    reason: str

    def differences(self, run: Sequence[int], cycles: Sequence[Span], times: int) -> tuple[Fraction, ...]:
        """The difference of every step of the run with each cycle taken ``times`` times."""
        return tuple(self.deltas[turn % len(self.deltas)][at] for at, turn in repeated(run, cycles, times))


def growth(
    automaton: Automaton,
    run: Sequence[int],
    cycles: Sequence[Span],
    low: Fraction | int,
    high: Fraction | int,
    limits: Limits = UNLIMITED,
    letters: Sequence[str] = (),
) -> Growth:
    """Whether the run with all cycles taken n = 1, 2, 3, ... times is feasible and costs more and more.

    ``cycles`` are disjoint ranges of positions. What a round costs is looked at alone: samples outside of the
    cycles are shifted for nothing, and what a cycle stores and finds stored by itself is left open; so the
    costs of rounds add up to a bound from below, however many there are. If they cost nothing alone, rounds
    amid others are looked at, once further ones ask no more of what is stored. ``letters`` say what is
    known of the entry of each step, if the automaton was unfolded.
    """
    rising = _Rising(automaton, tuple(run), tuple(sorted(cycles)), limits)
    possible, reason = rising.repeatable()
    if not possible:
        return Growth(None, (), (), reason)
    ends = [ends_of(letter, low, high) for letter in letters or [""] * len(run)]
    last = Growth(None, (), (), "there are no differences with which each round costs more")
    for together, period in product(range(1, TOGETHER + 1), (1, 2)):
        found = rising.by(period, together, ends, reason)
        if found is not None:
            return found
    return last


def is_repeatable(
    automaton: Automaton, run: Sequence[int], cycles: Sequence[Span], limits: Limits = UNLIMITED
) -> bool:
    """Whether the run is feasible, and known to be so with its cycles taken any number of times."""
    return _Rising(automaton, tuple(run), tuple(sorted(cycles)), limits).repeatable()[0]


@dataclass
class _Rising:
    """A run and its cycles."""

    automaton: Automaton
    run: tuple[int, ...]
    cycles: tuple[Span, ...]
    limits: Limits

    def __post_init__(self) -> None:
        self.systems: dict[int, System] = {}
        self.alone: dict[int, System] = {}

    def system(self, times: int) -> System:
        """The run with each cycle taken so many times."""
        if times not in self.systems:
            steps = [self.run[at] for at, _ in repeated(self.run, self.cycles, times)]
            self.systems[times] = unrolled(self.automaton, steps)
        return self.systems[times]

    def rounds(self, times: int) -> System:
        """So many rounds of each cycle alone: all else has no price, and what cycles store is not followed
        into them or out of them."""
        if times not in self.alone:
            walk = Walk(self.automaton)
            open_at: dict[int, set[str]] = {}
            for i, j in self.cycles:
                stored = self._changed(i, j)
                open_at[i] = open_at.get(i, set()) | stored
                open_at[j] = open_at.get(j, set()) | stored
            inside = set()
            for at, turn in repeated(self.run, self.cycles, times):
                cycle = next((span for span in self.cycles if span[0] <= at < span[1]), None)
                if cycle is None or (turn == 0 and at == cycle[0]):
                    for name in sorted(open_at.get(at, set()) & walk.held.keys()):
                        walk.held[name] = walk.anything()
                if cycle is not None:
                    inside.add(len(walk.reads))
                walk.step(self.run[at])
            system = walk.system()
            free = [s if s.step in inside else replace(s, d=Fraction(0)) for s in system.samples]
            self.alone[times] = replace(system, samples=tuple(free))
        return self.alone[times]

    def amid(self, rest: int, times: int) -> System:
        """The run with so many rounds of each cycle, and ``rest`` more before and after; all but those have
        no price and show nothing."""
        inside = set()
        for step, (at, turn) in enumerate(repeated(self.run, self.cycles, 2 * rest + times)):
            if rest <= turn < rest + times and any(i <= at < j for i, j in self.cycles):
                inside.add(step)
        system = self.system(2 * rest + times)
        free = [s if s.step in inside else replace(s, d=Fraction(0)) for s in system.samples]
        return replace(
            system, samples=tuple(free), shown=tuple(one for one in system.shown if one.step in inside)
        )

    def _changed(self, i: int, j: int) -> set[str]:
        """The variables that do not hold what they held, once a cycle has been taken."""
        walk = Walk(self.automaton)
        for t in self.run[:i]:
            walk.step(t)
        before = dict(walk.held)
        for t in self.run[i:j]:
            walk.step(t)
        return {name for name, value in walk.held.items() if before.get(name) != value}

    def cost(self, system: System, times: int, rows: Sequence[Sequence[Fraction]]) -> Fraction | None:
        self.limits.check("the costs of repeating a loop")
        deltas = [rows[turn % len(rows)][at] for at, turn in repeated(self.run, self.cycles, times)]
        return cost(system, deltas)

    def by(
        self, period: int, together: int, ends: Sequence[tuple[Fraction, ...]], reason: str
    ) -> Growth | None:
        """The growth for the best differences that are repeated after ``period`` rounds, of the ``ends`` that
        there are for each position of the run."""
        positions = [k for k, t in enumerate(self.run) if self._reads(t)]
        inside = [k for k in positions if any(i <= k < j for i, j in self.cycles)]
        outside = [k for k in positions if k not in inside]
        places = [(row, k) for row in range(period) for k in inside] + [(0, k) for k in outside]

        def rows(choice: Sequence[Fraction]) -> tuple[tuple[Fraction, ...], ...]:
            table = [[Fraction(0)] * len(self.run) for _ in range(period)]
            for (row, k), delta in zip(places, choice, strict=True):
                table[row][k] = delta
                for other in table if k in outside else ():
                    other[k] = delta
            return tuple(map(tuple, table))

        count = period * together

        def alone(choice: Sequence[Fraction]) -> Fraction | None:
            return self.cost(self.rounds(count), count, rows(choice))

        def amid(choice: Sequence[Fraction]) -> Fraction | None:
            return self.cost(self.amid(rest, count), 2 * rest + count, rows(choice))

        rest = self._rest_of_all(period)
        for rise in (alone, amid) if rest else (alone,):
            choice, _ = largest(rise, [ends[k] for _, k in places])
            table, rising = rows(choice), rise(choice)
            costs = tuple(self.cost(self.system(n * period), n * period, table) for n in range(1, ROUNDS + 1))
            if rise is alone and (rising is None or None in costs):
                return Growth("infinite", table, costs, reason)
            if rising is not None and rising > 0 and None not in costs:
                return Growth(rising / together, table, costs, reason)
        return None

    def _rest_of_all(self, period: int) -> int:
        """After how many rounds, a multiple of the period, no cycle asks more of what is stored; 0: it is not
        known, or a shift is not free where it costs nothing."""
        if any(sample.noise is not Noise.LAPLACE for sample in self.system(1).samples):
            return 0
        rests = [self._at_rest(i, j) for i, j in self.cycles]
        known = [rest for rest in rests if rest is not None]
        return -(-max(known) // period) * period if known and len(known) == len(rests) else 0

    def _reads(self, t: int) -> bool:
        return self.automaton.state(self.automaton.transitions[t].source).is_input

    # Whether a run can be taken with any number of rounds.

    def repeatable(self) -> tuple[bool, str]:
        """Whether the run is feasible with its cycles taken any number of times, and why."""
        if not feasible(self.system(1)):
            return False, "the run is not feasible"
        if self.cycles and self.system(2).linked:
            why = "samples without noise share entries"
            return False, f"{why}, so it was not shown that the run is feasible for every number of rounds"
        if all(not self._carries(i, j) for i, j in self.cycles):
            return True, "no round reads what another round of its cycle stored: all may be alike"
        rest = 1
        for i, j in self.cycles:
            after = self._at_rest(i, j)
            if after is None:
                for times in range(2, REPEATS + 1):
                    if not feasible(self.system(times)):
                        return False, f"with {times} rounds the run is not feasible"
                if len(self.cycles) == 1 and drifts(self.system(3), self._rounds_of(3), (i, j)):
                    return True, "the values of each round can be those of the round before and a drift"
                return False, "it was not shown that the run is feasible for every number of rounds"
            rest = max(rest, after)
        for times in range(2, rest + 1):
            if Differences(self.system(times), strict=True).solved() is None or not feasible(
                self.system(times)
            ):
                return False, f"with {times} rounds the run is not feasible"
        return True, "further rounds bound what is stored no more closely"

    def _rounds_of(self, times: int) -> list[Span]:
        return repeated(self.run, self.cycles, times)

    def _carries(self, i: int, j: int) -> bool:
        """Whether a round reads what the one before has stored."""
        inside = [self.automaton.transitions[t] for t in self.run[i:j]]
        stored: set[str] = set()
        first: set[str] = set()
        for t in inside:
            first |= t.reads - stored
            stored |= t.assigned
            first |= t.output.reads - stored
        return bool(first & stored)

    def _at_rest(self, i: int, j: int) -> int | None:
        """After how many rounds one more bounds the values before and after the cycle no more closely."""
        before = self._effect(i, j, 1)
        for times in range(1, REPEATS + 1):
            after = self._effect(i, j, times + 1)
            if before is None or after is None:
                return None
            if before == after:
                return times
            before = after
        return None

    def _effect(self, i: int, j: int, times: int) -> object:
        """What some rounds ask of the values before and after them, whatever the former are."""
        self.limits.check("whether a loop can be repeated")
        walk = Walk(self.automaton)
        for t in self.run[:i]:
            walk.step(t)
        names = sorted(walk.held)
        walk = Walk(self.automaton)
        for name in names:
            walk.held[name] = walk.anything()
        for t in self.run[i:j] * times:
            walk.step(t)
        after = {name: walk.held[name] for name in sorted(walk.held)}
        system = walk.system()
        if system.integer and system.mirrored:
            return None
        bounds = Differences(system, strict=True)
        places = [*range(len(names)), *(v.sample for v in after.values() if v.sample is not None)]
        sides = 2 if bounds.double else 1
        kept = [bounds.ground, *(sides * k + side for k in places for side in range(sides))]
        closest = _closest(bounds, frozenset(kept))
        if closest is None:
            return None
        constants = {name: value.offset for name, value in after.items() if value.sample is None}
        return constants, [closest.get((a, b)) for a in kept for b in kept]


def _closest(
    bounds: Differences, kept: frozenset[int]
) -> dict[tuple[int, int], tuple[Fraction, bool]] | None:
    """The closest bounds between some nodes, ``None`` if there is a contradiction."""
    over: dict[int, dict[int, tuple[Fraction, bool]]] = {}
    under: dict[int, set[int]] = {}

    def add(low: int, high: int, more: Fraction, strict: bool) -> bool:
        if low == high:
            return more > 0 or (more == 0 and not strict)
        known = over.setdefault(low, {}).get(high)
        if known is None or (more, not strict) < (known[0], not known[1]):
            over[low][high] = more, strict
            under.setdefault(high, set()).add(low)
        return True

    def through(node: int) -> bool:
        above = over.get(node, {})
        return all(
            add(low, high, over[low][node][0] + more, over[low][node][1] or strict)
            for low in under.get(node, set()).copy()
            for high, (more, strict) in list(above.items())
        )

    if not all(add(edge.low, edge.high, edge.more, edge.strict) for edge in bounds.edges):
        return None
    rest = set(range(bounds.ground + 1)) - kept
    while rest:
        node = min(rest, key=lambda k: (len(over.get(k, {})) * len(under.get(k, ())), k))
        rest.remove(node)
        if not through(node):
            return None
        for high in over.pop(node, {}):
            under[high].discard(node)
        for low in under.pop(node, set()):
            del over[low][node]
    for node in kept:
        if not through(node):
            return None
    return {(low, high): bound for low, above in over.items() for high, bound in above.items()}
