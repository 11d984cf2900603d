"""The judge of the wider model: what runs cost, straight from the definition of shifts and their costs.

Nothing here is shared with the product: of symdipa only the values of the model are imported. There is no
core, no order state, no pattern and no engine; runs one by one are in ``linear_runs``.

**Merged.** :func:`growing` has no bound on the length. It explores nodes of three parts:

* the control state, with the place in the adjacency automaton, and what the registers that are yet to be
  read differ by,
* *where*: which values the live variables hold, and every bound on a value, on a sum and on a difference of
  two values that the guards so far imply. Bounds are numbers, so this is exact for offsets and constants, too
  (then there may be infinitely many nodes, and the search ends at its cap),
* the *profile*: for each choice of shifts for the stored values the least cost so far, less the least of all.

An edge gains what the least cost of all grows by. ``D`` is the largest sum of gains: infinite if a cycle
gains anything or no shift is left, else the length of a longest path.

Profiles are *clipped*: whatever lies more than ``K`` above the least is taken to be ``K`` above it. A run of
clipped cost ``v`` costs at least ``v``, and exactly ``v`` if ``v < K``, as every cost that was clipped was at
least ``K``. So a cycle with gain is a proof that there is no ``D``, and a longest path shorter than ``K`` is
``D``; otherwise ``K`` is doubled.

**Limits.** Costs may also grow where no cycle gains: a loop makes one choice of shifts dearer and dearer, and
what comes after it needs this choice. Whether costs are bounded is decided by Leung's algorithm for distance
automata (``linear_limits``): matrices of the least costs from shifts to shifts, of which only is kept whether
they are nothing, something, or without bound, are closed under products and under taking loops for ever.

**Entries.** Each step that reads is taken once for an entry that is equal and once for each end of the
interval, as the adjacency automaton allows. (``C`` is convex in the differences of entries, so nothing
between the ends costs more.) Where sums of entries bound samples without noise, or with noise on one side,
runs may be impossible, which is not noticed; what is found is then confirmed by
:func:`~linear_runs.is_solvable`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, lcm
from typing import Any, TypeVar

import differ_words
from linear_limits import Limits, Pumped, TooLarge, components
from linear_runs import (
    TWO_SIDED,
    Cost,
    Held,
    Inequality,
    Interval,
    Run,
    assigned,
    compared,
    drawn,
    feasible_runs,
    has_known_mean,
    in_integers,
    is_bounded,
    is_feasible,
    orders,
    price,
    second_price,
    unfold,
)

from symdipa.model.automaton import Automaton, Noise, Output, OutputKind, State

# ------------------------------------------------------------------------------------- who may differ


@dataclass(frozen=True, slots=True)
class Differ:
    """Which entries may differ: where each place goes by an equal entry and by another (``None``: nowhere).

    The first place is initial.
    """

    equal: tuple[int | None, ...]
    other: tuple[int | None, ...]


ALL = Differ((None,), (0,))
"""Every entry may differ. (That it may also be equal is a difference between the ends.)"""


def entries(k: int) -> Differ:
    """At most ``k`` entries."""
    return Differ(tuple(range(k + 1)), (*range(1, k + 1), None))


def window(w: int) -> Differ:
    """Entries within ``w`` consecutive ones: none yet, then inside the window, then behind it."""
    return Differ((0, *range(2, w + 1), w), (1, *range(2, w + 1), None))


def meant(text: str, whole: bool = False) -> Differ:
    """What the text of a ``differ`` means.

    Where both lead to the same place, an equal entry is between the ends: it is left out, unless ``whole``.
    """
    moves = differ_words.moves(text)
    equal = (None if p == q and not whole else p for p, q in moves)
    return Differ(tuple(equal), tuple(q for _, q in moves))


Place = tuple[int, tuple[int, ...]]
"""A place in the adjacency automaton, and the differences of the live registers, in units."""

MOST_DELTAS = 12
"""So many differences of means are few enough for a search."""

# ------------------------------------------------------------------------------------------ merged nodes

CLOSED = 1
"""Bounds are written as ``2 * bound + CLOSED``, or without ``CLOSED`` if they are strict."""


@dataclass(frozen=True, slots=True, eq=False)
class Where:
    """What is known of the live variables: for each what it holds (a place or a constant), and the bounds.

    Places are numbered by the variables that hold them. ``rigid``: whether a place has no noise. ``bounds``
    is a square matrix, row by row, of bounds on ``value(row) - value(column)``; place ``p`` has the rows
    ``2p`` and, for its negative, ``2p + 1``; the last row is 0. ``None`` is no bound. (One explorer makes no
    two that are equal.)
    """

    holds: tuple[Held, ...]
    rigid: tuple[bool, ...]
    bounds: tuple[tuple[int | None, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """What a transition asks of shifts: each sum of factors is at most 0, and those of ``ties`` are 0.

    Places are those of before, and one more for the sample. ``kept`` are the places that are left, in order.
    """

    transition: int
    state: State
    sample: bool
    sums: tuple[tuple[tuple[int, int], ...], ...]
    ties: tuple[tuple[tuple[int, int], ...], ...]
    kept: tuple[int, ...]
    second: bool

    def allows(self, shifts: Sequence[int]) -> bool:
        """Whether these shifts are admissible."""
        for each in self.sums:
            total = 0
            for p, f in each:
                total += f * shifts[p]
            if total > 0:
                return False
        return not any(sum(f * shifts[p] for p, f in each) for each in self.ties)


Profile = tuple[tuple[tuple[int, ...], int], ...]
"""The least cost for shifts of the places, sorted; shifts and costs are counted in units."""


def live_registers(automaton: Automaton) -> dict[str, frozenset[str]]:
    """For each control state the registers that some path reads in a mean before it sets them anew."""
    live = {state.name: frozenset(r for r, _ in state.registers) for state in automaton.states}
    changed = True
    while changed:
        changed = False
        for t in automaton.transitions:
            sources = {update.register: update.source for update in t.updates}
            before = {sources.get(r, r) for r in live[t.target]}
            more = live[t.source] | {r for r in before if r is not None}
            changed |= more != live[t.source]
            live[t.source] = more
    return live


def live_variables(automaton: Automaton) -> dict[str, frozenset[str]]:
    """For each control state the variables that some path reads before it assigns them."""
    live: dict[str, frozenset[str]] = {state.name: frozenset() for state in automaton.states}
    changed = True
    while changed:
        changed = False
        for t in automaton.transitions:
            after = live[t.target] | t.output.reads
            copied = {y for x, y in t.copies if isinstance(y, str) and x in after}
            more = live[t.source] | t.guard.used | copied | (after - t.assigned)
            changed |= more != live[t.source]
            live[t.source] = more
    return live


class Explorer:
    """The nodes of one automaton, made as they are asked for."""

    def __init__(self, automaton: Automaton, interval: Interval, differ: Differ | None = None) -> None:
        self.automaton, self.differ = automaton, differ or meant(automaton.differ.text)
        low, high = in_integers(interval) if automaton.integer else interval
        self.live = {q: tuple(sorted(xs)) for q, xs in live_variables(automaton).items()}
        self.unit = lcm(*(number.denominator for number in self._numbers()))
        self.registers = {q: tuple(sorted(rs)) for q, rs in live_registers(automaton).items()}
        factors = [k.denominator for s in automaton.states for _, k in s.registers]
        self.delta_unit = lcm(low.denominator, high.denominator) * lcm(*factors)
        scales = [d for s in automaton.states for d in (s.d, s.d_prime) if d is not None]
        self.cost_unit = lcm(*(d.denominator for d in scales))
        self.ends = sorted({int(low * self.delta_unit), int(high * self.delta_unit)})
        self._differences: dict[tuple[int, Place], list[tuple[int, int, Place]]] = {}
        self.deltas = self._deltas()
        self.levels = sorted({s for delta in self.deltas for s in (delta, -delta)} | {0})
        self._wheres: dict[tuple[object, ...], Where] = {}
        self._prices: dict[tuple[str, int], list[tuple[int, int]]] = {}
        self._moves: dict[tuple[int, tuple[Held, ...]], Move] = {}
        self._followers: dict[tuple[str, Where], list[tuple[Move, str, Where]]] = {}
        self._profiles: dict[tuple[Move, int, Profile, int | None], tuple[int, Profile] | None] = {}

    def _numbers(self) -> Iterator[Fraction]:
        for state in self.automaton.states:
            yield state.mu
        for t in self.automaton.transitions:
            yield from (term.offset for each in t.guard.atoms for term in (each.low, each.high))
            yield from (y for _, y in t.copies if isinstance(y, Fraction))

    def _deltas(self) -> set[int]:
        """The differences of all means on all paths, feasible or not."""
        found = set[int]()
        seen = {(self.automaton.initial, self.outset)}
        todo = list(seen)
        for at, place in todo:  # grows while it is walked
            for i in self.automaton.outgoing[self.automaton.index[at]]:
                for _, delta, after in self.differences(i, place):
                    found.add(delta)
                    there = self.automaton.transitions[i].target, after
                    if there not in seen:
                        seen.add(there)
                        todo.append(there)
        return found

    def in_costs(self, cost: int) -> Fraction:
        """A cost as a number."""
        return Fraction(cost, self.cost_unit * self.delta_unit)

    # where

    def start(self) -> tuple[str, Where]:
        if self.live[self.automaton.initial]:
            raise ValueError("a variable is read before it is set")
        return self.automaton.initial, self._where((), (), ((CLOSED,),))

    def _where(self, *parts: Any) -> Where:
        if parts not in self._wheres:
            self._wheres[parts] = Where(*parts)
        return self._wheres[parts]

    def followers(self, at: str, where: Where) -> list[tuple[Move, str, Where]]:
        """The feasible steps from here, and where they lead."""
        if (at, where) not in self._followers:
            found = []
            for i in self.automaton.outgoing[self.automaton.index[at]]:
                if (after := self._step(at, where, i)) is not None:
                    found.append((after[0], self.automaton.transitions[i].target, after[1]))
            self._followers[at, where] = found
        return self._followers[at, where]

    def _step(self, at: str, where: Where, i: int) -> tuple[Move, Where] | None:
        step, state = self.automaton.transitions[i], self.automaton.state(at)
        new = len(where.rigid)
        sample = drawn(state, new)
        memory = dict(zip(self.live[at], where.holds, strict=True))
        named = memory if sample is None else memory | {"insample": sample}
        rules = [compared(a.low, a.high, a.strict, named.__getitem__) for a in step.guard.atoms]
        if isinstance(sample, int) and state.noise is Noise.EXPONENTIAL and has_known_mean(state):
            rules.append(Inequality(((new, -1),), -state.mu, False))
        fresh = isinstance(sample, int)
        rigid = (*where.rigid, state.noise is Noise.NONE) if fresh else where.rigid
        matrix = self._closed(where, rigid, rules)
        if matrix is None:
            return None
        after = assigned(step, memory, sample)
        held = [after[x] for x in self.live[step.target]]
        kept = list(dict.fromkeys(h for h in held if isinstance(h, int)))
        rows = [row for p in kept for row in (2 * p, 2 * p + 1)] + [len(matrix) - 1]
        there = self._where(
            tuple(kept.index(h) if isinstance(h, int) else h for h in held),
            tuple(rigid[p] for p in kept),
            tuple(tuple(matrix[r][c] for c in rows) for r in rows),
        )
        key = i, where.holds
        if key not in self._moves:
            sums = {rule.factors for rule in rules[: len(step.guard.atoms)] if rule.factors}
            self._moves[key] = Move(
                i, state, fresh, tuple(sorted(sums)), _ties(step.output, after),
                tuple(kept), step.output.shows_second,
            )  # fmt: skip
        return self._moves[key], there

    def _closed(
        self, where: Where, rigid: tuple[bool, ...], rules: Sequence[Inequality]
    ) -> list[list[int | None]] | None:
        """All bounds that follow, ``None`` if they contradict each other."""
        old, size = len(where.bounds) - 1, 2 * len(rigid) + 1
        matrix: list[list[int | None]] = [[None] * size for _ in range(size)]
        names = [*range(old), size - 1]
        for r, row in zip(names, where.bounds, strict=True):
            for c, bound in zip(names, row, strict=True):
                matrix[r][c] = bound
        for r in range(size):
            matrix[r][r] = CLOSED
        integer = self.automaton.integer
        for rule in rules:
            strict = rule.strict or (not integer and not all(rigid[p] for p, _ in rule.factors))
            bound = int(rule.bound * self.unit)
            coded = 2 * (bound - strict) + CLOSED if integer else 2 * bound + (0 if strict else CLOSED)
            ends = [2 * p + (f < 0) for p, f in rule.factors for _ in range(abs(f))]
            if not ends:
                if coded < CLOSED:
                    return None
                continue
            pairs = [(ends[0], size - 1), (size - 1, ends[0] ^ 1)]
            if len(ends) == 2:
                pairs = [(ends[0], ends[1] ^ 1), (ends[1], ends[0] ^ 1)]
            for r, c in pairs:
                if matrix[r][c] is None or coded < matrix[r][c]:
                    matrix[r][c] = coded
        while True:
            if not _close(matrix):
                return None
            if not integer or not _tighten(matrix):
                return matrix

    # profiles

    def step_profile(
        self, move: Move, delta: int, profile: Profile, clip: int | None
    ) -> tuple[int, Profile] | None:
        """What the least cost gains by a step, and the profile after it; ``None`` if no shift is left."""
        key = move, delta, profile, clip
        if key not in self._profiles:
            self._profiles[key] = self._stepped(move, delta, profile, clip)
        return self._profiles[key]

    def _stepped(
        self, move: Move, delta: int, profile: Profile, clip: int | None
    ) -> tuple[int, Profile] | None:
        state = move.state
        fixed = self._units(second_price(state, Fraction(delta))) if move.second else 0
        choices = self._choices(move, delta)
        best: dict[tuple[int, ...], int] = {}
        for shifts, cost in profile if fixed is not None else ():
            for s, more in choices:
                every = (*shifts, s)
                if not move.allows(every):
                    continue
                after = tuple(every[p] for p in move.kept)
                total = cost + more + fixed
                if total < best.get(after, total + 1):
                    best[after] = total
        if not best:
            return None
        least = min(best.values())
        limit = max(best.values()) if clip is None else clip
        return least, tuple(sorted((shifts, min(cost - least, limit)) for shifts, cost in best.items()))

    def _choices(self, move: Move, delta: int) -> list[tuple[int, int]]:
        """The shifts of the sample of a step, with their costs."""
        if not move.sample:
            return [(0, 0)]
        key = move.state.name, delta
        if key not in self._prices:
            noise, d = move.state.noise, move.state.d
            self._prices[key] = [
                (s, cost)
                for s in self.levels
                if (cost := self._units(price(noise, d, Fraction(s - delta)))) is not None
            ]
        return self._prices[key]

    def _units(self, cost: Cost) -> int | None:
        return None if cost == inf else int(cost * self.cost_unit)

    # nodes

    @property
    def outset(self) -> Place:
        if self.registers[self.automaton.initial]:
            raise ValueError("a register is read before it is set")
        return 0, ()

    def begin(self) -> Node:
        return Node(*self.start(), self.outset, (((), 0),))

    def successors(self, node: Node, clip: int | None) -> Iterator[tuple[Move, int, int, Node | None]]:
        """Each step from a node: with which difference of the entry, what it gains, and the node.

        The node is ``None`` if no shift is left.
        """
        for move, target, where in self.followers(node.at, node.where):
            for entry, delta, place in self.differences(move.transition, node.place):
                found = self.step_profile(move, delta, node.profile, clip)
                if found is None:
                    yield move, entry, 0, None
                else:
                    yield move, entry, found[0], Node(target, where, place, found[1])

    def differences(self, transition: int, place: Place) -> list[tuple[int, int, Place]]:
        """What the entry of a step may differ by, what its mean differs by then, and the place after it."""
        key = transition, place
        if key not in self._differences:
            state = self.automaton.state(self.automaton.transitions[transition].source)
            equal, other = self.differ.equal[place[0]], self.differ.other[place[0]]
            entries = [(0, place[0])]
            if state.is_input:
                entries = [] if equal is None else [(0, equal)]
                entries += [] if other is None else [(end, other) for end in self.ends]
            self._differences[key] = [self._difference(transition, place, *each) for each in entries]
        return self._differences[key]

    def _difference(self, transition: int, place: Place, entry: int, after: int) -> tuple[int, int, Place]:
        step = self.automaton.transitions[transition]
        state = self.automaton.state(step.source)
        before = dict(zip(self.registers[step.source], place[1], strict=True))
        delta = sum((k * before[r] for r, k in state.registers), Fraction(entry * state.is_input))
        new = dict(before)
        for update in step.updates:
            if update.register in self.registers[step.target]:
                source = 0 if update.source is None else before[update.source]
                new[update.register] = source + entry * update.adds_input
        registers = tuple(new[r] for r in self.registers[step.target])
        return entry, int(delta) if state.draws else 0, (after, registers)


@dataclass(frozen=True, slots=True)
class Node:
    at: str
    where: Where
    place: Place
    profile: Profile


def _ties(output: Output, values: dict[str, Held]) -> tuple[tuple[tuple[int, int], ...], ...]:
    """The sums of shifts that must be 0 for what is shown."""
    found = []
    for part in output.parts:
        if part.kind is OutputKind.SYMBOL or part.kind is OutputKind.INSAMPLE_PRIME:
            continue
        names = part.names or ("insample",)
        factors: dict[int, int] = {}
        for name, sign in zip(names, (1, -1), strict=False):
            held = values[name]
            if isinstance(held, int):
                factors[held] = factors.get(held, 0) + sign
        found.append(tuple((p, f) for p, f in factors.items() if f))
    return tuple(factors for factors in found if factors)


def _close(matrix: list[list[int | None]]) -> bool:
    """Floyd and Warshall; whether the bounds are consistent."""
    size = range(len(matrix))
    for k in size:
        through = matrix[k]
        for row in matrix:
            first = row[k]
            if first is None:
                continue
            for c in size:
                second = through[c]
                if second is None:
                    continue
                total = ((first >> 1) + (second >> 1)) * 2 | (first & second & 1)
                known = row[c]
                if known is None or total < known:
                    row[c] = total
    return all(matrix[r][r] >= CLOSED for r in size)


def _tighten(matrix: list[list[int | None]]) -> bool:
    """Whether a bound could be sharpened because values are integers: ``2x <= 3`` is ``x <= 1``."""
    changed, zero = False, len(matrix) - 1
    for r in range(zero):
        twice = matrix[r][r ^ 1]
        if twice is None:
            continue
        half = (twice >> 1) // 2
        for row, column, bound in ((r, r ^ 1, 2 * half), (r, zero, half), (zero, r ^ 1, half)):
            known = matrix[row][column]
            if known is None or 2 * bound + CLOSED < known:
                matrix[row][column], changed = 2 * bound + CLOSED, True
    return changed


# Searches


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search found.

    ``kind`` is ``"finite"``, ``"infinite"``, ``"bounded"`` or ``"unknown"``. ``value`` is ``D``, or what it
    is at least; or at most, if it is bounded (then the run may be impossible). The run costs that much; where
    a cycle gains, its rounds follow the run; otherwise ``pumped`` gives runs whose costs grow. Differences
    are of entries, the second input minus the first.
    """

    kind: str
    value: Cost
    run: Run = ()
    deltas: tuple[Fraction, ...] = ()
    cycle: Run = ()
    cycle_deltas: tuple[Fraction, ...] = ()
    nodes: int = 0
    pumped: Pumped | None = None

    def rounds(self, n: int) -> tuple[Run, tuple[Fraction, ...]]:
        """The run with everything that repeats taken ``n`` times, and its differences."""
        if self.pumped is not None:
            steps = self.pumped(n)
            return tuple(t for t, _ in steps), tuple(delta for _, delta in steps)
        return self.run + n * self.cycle, self.deltas + n * self.cycle_deltas


def cost_of_runs(
    automaton: Automaton,
    length: int,
    interval: Interval = TWO_SIDED,
    differ: Differ | None = None,
    max_nodes: int = 20_000,
) -> Answer:
    """The largest cost of a feasible run of at most so many steps, and the run; shorter ones at the cap."""
    best = Answer("finite", Fraction(0))
    if is_bounded(automaton):
        for run in feasible_runs(automaton, length, max_runs=50):
            found = dearest(automaton, run, interval, differ)
            if found is not None and found[0] > best.value:
                best = Answer("infinite" if found[0] == inf else "finite", found[0], run, found[1])
        return best
    for each in orders(interval, automaton.integer):
        explorer = Explorer(automaton, each, differ)
        level = {explorer.begin(): (0, (), ())}
        nodes = max_nodes if len(explorer.deltas) > MOST_DELTAS else 0
        for _ in range(length):
            following: dict[Node, tuple[int, Run, tuple[Fraction, ...]]] = {}
            for node, (gained, run, deltas) in level.items():
                for move, delta, gain, after in explorer.successors(node, None):
                    way = (*run, move.transition), (*deltas, Fraction(delta, explorer.delta_unit))
                    if after is None:
                        return Answer("infinite", inf, *way)
                    if after not in following or gained + gain > following[after][0]:
                        following[after] = gained + gain, *way
            level = undominated(following)
            nodes += len(level)
            if nodes > max_nodes:
                break
            for gained, run, deltas in level.values():
                if (value := explorer.in_costs(gained)) > best.value:
                    best = Answer("finite", value, run, deltas)
    return best


def cost_along(
    automaton: Automaton,
    run: Run,
    deltas: Sequence[Fraction],
    interval: Interval,
    differ: Differ | None = None,
) -> Cost | None:
    """``C`` of a run for these differences of entries, step by step; ``None`` if it is not feasible, or if
    they are not allowed."""
    explorer = Explorer(automaton, interval, differ)
    (at, where), place, profile, total = explorer.start(), explorer.outset, (((), 0),), 0
    for transition, entry in zip(run, deltas, strict=True):
        steps = {move.transition: (move, q, there) for move, q, there in explorer.followers(at, where)}
        ways = {each[0]: each[1:] for each in explorer.differences(transition, place)}
        if transition not in steps or entry * explorer.delta_unit not in ways:
            return None
        move, at, where = steps[transition]
        delta, place = ways[int(entry * explorer.delta_unit)]
        found = explorer.step_profile(move, delta, profile, None)
        if found is None:
            return inf
        total, profile = total + found[0], found[1]
    return explorer.in_costs(total)


Best = TypeVar("Best", bound=tuple[Any, ...])


def undominated(level: dict[Node, Best]) -> dict[Node, Best]:
    """The nodes of a level that cost more, for some shifts, than each other node of the same place.

    ``level`` has what was gained on the way to a node, and the way. What comes later is the same for all.
    """
    places: dict[Any, list[tuple[dict[tuple[int, ...], int], Node]]] = {}
    for node, (gained, *_) in sorted(level.items(), key=lambda each: -each[1][0]):
        costs = {shifts: gained + cost for shifts, cost in node.profile}
        kept = places.setdefault((node.at, node.where, node.place), [])
        if not any(
            all(cost >= costs.get(shifts, -1) for shifts, cost in other.items())
            and other.keys() <= costs.keys()
            for other, _ in kept
        ):
            kept.append((costs, node))
    return {node: level[node] for kept in places.values() for _, node in kept}


def dearest(
    automaton: Automaton,
    run: Run,
    interval: Interval = TWO_SIDED,
    differ: Differ | None = None,
    letters: Sequence[str] = (),
) -> tuple[Cost, tuple[Fraction, ...]] | None:
    """The largest ``C`` of a run, with the differences of its entries; ``None`` if it is not feasible.

    Each step may have a letter: ``=`` the entry is equal, ``-`` and ``+`` its difference is the lower or the
    upper end of the interval, ``~`` one of both.
    """
    best: tuple[Cost, tuple[Fraction, ...]] | None = None
    if is_bounded(automaton) and not is_feasible(unfold(automaton, run)):
        return None
    differ = differ or meant(automaton.differ.text, whole=bool(letters))
    for each in orders(interval, automaton.integer):
        explorer = Explorer(automaton, each, differ)
        meanings = {"": (0,), "=": (0,), "-": explorer.ends[:1], "+": explorer.ends[-1:], "~": explorer.ends}
        level: dict[Node, tuple[int, tuple[Fraction, ...]]] = {explorer.begin(): (0, ())}
        for n, transition in enumerate(run):
            following: dict[Node, tuple[int, tuple[Fraction, ...]]] = {}
            for node, (gained, deltas) in level.items():
                for move, delta, gain, after in explorer.successors(node, None):
                    if move.transition != transition or (letters and delta not in meanings[letters[n]]):
                        continue
                    way = (*deltas, Fraction(delta, explorer.delta_unit))
                    if after is None:
                        return (inf, way) if is_feasible(unfold(automaton, run)) else None
                    if after not in following or gained + gain > following[after][0]:
                        following[after] = gained + gain, way
            level = undominated(following)
        for gained, deltas in level.values():
            if best is None or explorer.in_costs(gained) > best[0]:
                best = explorer.in_costs(gained), deltas
    return best


def growing(
    automaton: Automaton,
    interval: Interval = TWO_SIDED,
    differ: Differ | None = None,
    max_nodes: int = 20_000,
) -> Answer:
    """Whether there is a ``D``, and which: both orders of adjacent inputs are searched."""
    found = []
    for each in orders(interval, automaton.integer):
        explorer = Explorer(automaton, each, differ)
        if len(explorer.deltas) > MOST_DELTAS:
            return Answer("unknown", Fraction(0))
        found.append(_growing(explorer, max_nodes))
        if found[-1].kind == "infinite":
            return _confirmed(automaton, found[-1])
    least = max(found, key=lambda answer: answer.value)
    return next(
        (replace(least, kind="unknown") for answer in found if answer.kind == "unknown"),
        _confirmed(automaton, least),
    )


def _confirmed(automaton: Automaton, answer: Answer) -> Answer:
    """What is known where runs may be impossible, because sums of entries bound samples."""
    if not is_bounded(automaton):
        return answer
    if all(is_feasible(unfold(automaton, answer.rounds(n)[0])) for n in range(5)):
        return answer
    return replace(answer, kind="bounded") if answer.kind == "finite" else Answer("unknown", Fraction(0))


def _growing(explorer: Explorer, max_nodes: int) -> Answer:
    dearest = max((d for s in explorer.automaton.states for d in (s.d, s.d_prime) if d), default=Fraction(1))
    reach = max(1, *map(abs, explorer.levels))
    clip = max(4, 4 * int(dearest * explorer.cost_unit) * reach)
    least: Cost = Fraction(0)
    cap, asked = max_nodes // 10, False
    while True:
        answer = None
        try:
            answer = _clipped(explorer, clip, cap)
        except TooLarge:
            if cap == max_nodes:
                return Answer("unknown", least, nodes=max_nodes)
        if answer and (answer.kind == "infinite" or answer.value < explorer.in_costs(clip)):
            return answer
        if (answer is None or least) and not asked:
            asked, cap = True, max_nodes
            if (found := _limitless(explorer, max_nodes)) is not None:
                return found
        if answer:
            least = answer.value
            clip *= 2


def _limitless(explorer: Explorer, max_nodes: int) -> Answer | None:
    """That costs are without bound, if that can be found out."""
    try:
        pumped = Limits(explorer, max_nodes // 4).search()
    except TooLarge:
        return None
    return None if pumped is None else Answer("infinite", inf, pumped=pumped)


def _clipped(explorer: Explorer, clip: int, max_nodes: int) -> Answer:
    start = explorer.begin()
    number, nodes = {start: 0}, [start]
    came: list[tuple[int, int, int] | None] = [None]  # from which node, by which transition and difference
    edges: Edges = [[]]

    def way(n: int) -> list[tuple[int, int]]:
        steps = []
        while (step := came[n]) is not None:
            n = step[0]
            steps.append(step[1:])
        return steps[::-1]

    def split(steps: Sequence[tuple[int, int]]) -> tuple[Run, tuple[Fraction, ...]]:
        return tuple(t for t, _ in steps), tuple(Fraction(d, explorer.delta_unit) for _, d in steps)

    todo = deque([0])
    while todo:
        n = todo.popleft()
        for move, delta, gain, after in explorer.successors(nodes[n], clip):
            step = move.transition, delta
            if after is None:
                return Answer("infinite", inf, *split([*way(n), step]), nodes=len(nodes))
            if after not in number:
                number[after] = len(nodes)
                nodes.append(after)
                came.append((n, *step))
                edges.append([])
                todo.append(number[after])
                if len(nodes) > max_nodes:
                    raise TooLarge
            edges[n].append((number[after], gain, *step))

    component = components([[m for m, *_ in out] for out in edges])
    for n, out in enumerate(edges):
        for m, gain, *step in out:
            if gain and component[n] == component[m]:
                cycle = [(step[0], step[1]), *_way_back(edges, component, m, n)]
                return Answer("infinite", inf, *split(way(n)), *split(cycle), nodes=len(nodes))

    return _longest(explorer, edges, component, split)


Edges = list[list[tuple[int, int, int, int]]]
"""For each node the edges: to which node, gain, transition, difference."""


def _longest(
    explorer: Explorer,
    edges: Edges,
    component: Sequence[int],
    split: Callable[[Sequence[tuple[int, int]]], tuple[Run, tuple[Fraction, ...]]],
) -> Answer:
    """A path of largest gain, where none is gained within components.

    Components are numbered from the last to the first: no edge leads to a larger number.
    """
    members: dict[int, list[int]] = {}
    for n, c in enumerate(component):
        members.setdefault(c, []).append(n)
    total, entered = {component[0]: 0}, {component[0]: 0}
    came_by: dict[int, tuple[int, tuple[int, int]]] = {}
    for c in sorted(members, reverse=True):
        for n in members[c]:
            for m, gain, *step in edges[n]:
                other = component[m]
                if other != c and total[c] + gain > total.get(other, -1):
                    total[other], entered[other] = total[c] + gain, m
                    came_by[other] = n, (step[0], step[1])
    last = max(total, key=total.__getitem__)
    at, goal, steps = last, entered[last], list[tuple[int, int]]()
    while at in came_by:
        source, step = came_by[at]
        steps = [step, *_way_back(edges, component, entered[at], goal), *steps]
        at, goal = component[source], source
    steps = [*_way_back(edges, component, 0, goal), *steps]
    return Answer("finite", explorer.in_costs(total[last]), *split(steps), nodes=len(edges))


def _way_back(edges: Edges, component: Sequence[int], start: int, goal: int) -> list[tuple[int, int]]:
    """The steps of a shortest way within one component."""
    ways: dict[int, list[tuple[int, int]]] = {start: []}
    todo = deque([start])
    while goal not in ways:
        n = todo.popleft()
        for m, _, *step in edges[n]:
            if m not in ways and component[m] == component[start]:
                ways[m] = [*ways[n], (step[0], step[1])]
                todo.append(m)
    return ways[goal]


# ----------------------------------------------------------------------------------------- outputs


def is_distinct(automaton: Automaton) -> bool:
    """Whether no two transitions of a state can show the same: then a run is known by its outputs."""
    return all(
        len({automaton.transitions[i].output.shape for i in outgoing}) == len(outgoing)
        for outgoing in automaton.outgoing
    )
