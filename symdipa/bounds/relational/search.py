"""The search for shifts: a game on pairs of states.

A node has the states of the two copies, facts about the values that they hold, and the class of what both
still have to show. The opponent says the next letter and the class of the rest; we answer with a range of
shifts for the sample that is drawn; then the opponent says where the sample lies, and both copies go on. The
value of a node is what we pay at most, infinite where the second copy may show something else than the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import inf, lcm

from symdipa.bounds.relational.facts import (
    BELOW,
    Facts,
    Matrix,
    add,
    at_most,
    folded,
    unfolded,
)
from symdipa.bounds.relational.machine import SAMPLE, SECOND, STOPPED, Leaf, Letter, Machine
from symdipa.bounds.relational.suffixes import Suffixes, suffixes
from symdipa.model.adjacency import Interval
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.graphs import components
from symdipa.runs.order import Mask, members

MAX_CLASSES = 2_000
MAX_NODES = 20_000
FAR = 3
"""Bounds on differences of values beyond so many times the largest difference of inputs are forgotten."""

Node = tuple[int, int, Facts, int]
"""The states of both copies, facts, the class of the rest."""

Pieces = dict[int, list[tuple[int, Facts]]]
"""For each leaf of the first copy the leaves that the second may take then, with the facts afterwards."""


@dataclass(frozen=True, slots=True)
class Option:
    """A range of shifts (``None``: samples are not tied), its cost, where both copies may be afterwards."""

    shift: tuple[int, int] | None
    cost: int
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """What the opponent may say, and the options that are not lost."""

    letter: Letter
    rest: int
    options: list[Option]


@dataclass(frozen=True, eq=False)
class Strategy:
    """What we answer: for each node that can be reached the potential and one option for every branch.

    Costs, potentials and shifts are integers, to be divided by ``cost_unit`` and ``unit``. ``classes`` are
    the classes of sequences, ``roots`` the nodes in which runs begin.
    """

    machine: Machine
    classes: Suffixes
    interval: Interval
    unit: int
    cost_unit: int
    bound: Fraction
    roots: tuple[int, ...]
    nodes: tuple[Node, ...]
    potential: tuple[int, ...]
    chosen: tuple[tuple[tuple[Letter, int, Option], ...], ...]
    searched: int


def search(
    machine: Machine,
    interval: Interval,
    memory: str = "none",
    max_nodes: int = MAX_NODES,
    max_classes: int = MAX_CLASSES,
    limits: Limits = UNLIMITED,
) -> Strategy | None:
    """The best strategy for differences of inputs in ``interval``; ``None`` if none has a finite cost.

    ``memory`` tells how finely what will be shown is told apart (:data:`MEMORIES`).

    Raises :class:`LimitReached` above ``max_nodes`` and ``max_classes``, and when the time is up.
    """
    classes = suffixes(machine, memory, max_classes, limits)
    return _Search(machine, interval, classes, max_nodes, limits).solve()


@dataclass(eq=False)
class _Search:
    machine: Machine
    interval: Interval
    classes: Suffixes
    max_nodes: int
    limits: Limits
    nodes: list[Node] = field(default_factory=list)
    number: dict[Node, int] = field(default_factory=dict)
    branches: list[tuple[Branch, ...] | None] = field(default_factory=list)
    lost: list[bool] = field(default_factory=list)
    references: list[list[tuple[int, Branch, Option]]] = field(default_factory=list)
    pieces: dict[tuple[int, int, Facts, tuple[int, int] | None], Pieces] = field(default_factory=dict)

    # Numbers on a grid

    @cached_property
    def unit(self) -> int:
        means = (mean for s in self.machine.control.sampling for mean in (s.mu, s.mu_prime))
        return lcm(*(number.denominator for number in (*means, *self.interval)))

    @cached_property
    def scale(self) -> int:
        """The common denominator of all inverse scales."""
        scales = (d for s in self.machine.control.sampling for d in (s.d, s.d_prime))
        return lcm(*(d.denominator for d in scales if d))

    @cached_property
    def far(self) -> int:
        return FAR * max(1, *(abs(self._grid(end)) for end in self.interval))

    def _grid(self, value: Fraction) -> int:
        return int(value * self.unit)

    # The game

    def solve(self) -> Strategy | None:
        roots = [self._node((0, 0, (), s)) for s, able in enumerate(self.classes.able) if 0 in able]
        if not self._explore(roots):
            return None
        value = self._values()
        worst = max((value[root] for root in roots), default=0)
        return None if worst == inf else self._strategy(roots, value, int(worst))

    def _explore(self, roots: list[int]) -> bool:
        """Expand what an option that is not lost leads to, depth first; ``False`` once a root is lost."""
        work = roots[::-1]
        kept = set(roots)
        done = 0
        while work:
            v = work.pop()
            if self.branches[v] is not None or self.lost[v] or not (v in kept or self._wanted(v)):
                continue
            branches = self._expand(self.nodes[v])
            self.branches[v] = branches
            done += 1
            if done % 64 == 0:
                self.limits.check(f"relational alignment, {done} pairs")
            if len(self.nodes) > self.max_nodes:
                raise LimitReached(
                    Limit.SIZE, f"relational alignment has more than {self.max_nodes} pairs to look at"
                )
            for branch in branches:
                for option in branch.options:
                    for w in option.after:
                        self.references[w].append((v, branch, option))
                        if self.branches[w] is None:
                            work.append(w)
            if not all(branch.options for branch in branches):
                self._lose(v)
                if any(self.lost[root] for root in roots):
                    return False
        return True

    def _wanted(self, v: int) -> bool:
        return any(not self.lost[u] and option in branch.options for u, branch, option in self.references[v])

    def _lose(self, v: int) -> None:
        """Strike out every option that leads to a lost node; a branch without options loses its node."""
        self.lost[v] = True
        work = [v]
        while work:
            for u, branch, option in self.references[work.pop()]:
                if option in branch.options:
                    branch.options.remove(option)
                    if not branch.options and not self.lost[u]:
                        self.lost[u] = True
                        work.append(u)

    def _node(self, node: Node) -> int:
        place = self.number.setdefault(node, len(self.nodes))
        if place == len(self.nodes):
            self.nodes.append(node)
            self.branches.append(None)
            self.lost.append(False)
            self.references.append([])
        return place

    def _expand(self, node: Node) -> tuple[Branch, ...]:
        """The branches of a node; one without options where the second copy is lost."""
        first, second, _, rest = node
        if second in self.classes.sure[rest]:
            return ()
        if second not in self.classes.able[rest]:
            return (Branch(("", ""), rest, []),)
        q, p = self.machine.state[first], self.machine.state[second]
        found = []
        for letter, later in self.classes.after[rest]:
            able = self.classes.able[later]
            ways = [
                (e.leaf, e.target)
                for e in self.machine.edges[first]
                if e.letter == letter and e.target in able
            ]
            if not ways:
                continue
            options = []
            for shift, cost in self._menu(q, p, letter):
                after = self._after(node, later, shift, letter, ways)
                if after is not None and not any(self.lost[w] for w in after):
                    options.append(Option(shift, cost, after))
                    if not after:
                        break
            found.append(Branch(letter, later, options))
        return tuple(found)

    def _after(
        self,
        node: Node,
        later: int,
        shift: tuple[int, int] | None,
        letter: Letter,
        ways: list[tuple[int, int]],
    ) -> tuple[int, ...] | None:
        """The nodes after a letter and a range of shifts; ``None`` if the second copy may go astray."""
        first, second, facts, _ = node
        q, p = self.machine.state[first], self.machine.state[second]
        key = (q, p, facts, shift)
        if key not in self.pieces:
            self.pieces[key] = self._pieces(q, p, facts, shift)
        pieces, onward, able = self.pieces[key], self.machine.onward[second], self.classes.able[later]
        found: dict[Node, None] = {}
        for leaf, target in ways:
            for other, known in pieces[leaf]:
                there = onward.get((other, letter))
                if there is None or there not in able:
                    return None
                found[target, there, known, later] = None
        return tuple(self._node(node) for node in found)

    def _menu(self, q: int, p: int, letter: Letter) -> Iterator[tuple[tuple[int, int] | None, int]]:
        """Ranges of shifts that may help, with their costs, the cheap ones first; none if nothing helps."""
        one, other = self.machine.sampling(q), self.machine.sampling(p)
        if one is None or other is None:
            yield None, 0
            return
        if one.reads_input != other.reads_input:
            return
        low, high = self.interval if one.reads_input else (Fraction(0), Fraction(0))
        released = 0
        if letter[0] == SECOND:
            if one.d_prime is None or one.d_prime != other.d_prime:
                return
            mean = other.mu_prime - one.mu_prime
            released = self._price(one.d_prime, self._grid(max(high + mean, -low - mean)))
        if one.d is None or one.d != other.d or not one.d:
            if letter[0] != SAMPLE:
                yield None, released  # samples that nothing ties
            return
        mean = other.mu - one.mu
        a, b = self._grid(low + mean), self._grid(high + mean)
        points = {0, self._grid(self.interval[0]), self._grid(self.interval[1]), self._grid(mean)}
        ranges = {(a, b)} | {(c, c) for c in points} | {(0, max(b, 0)), (min(a, 0), 0)}
        if letter[0] == SAMPLE:
            ranges = {(0, 0)}
        priced = {r: self._price(one.d, max(0, b - r[1], r[0] - a)) + released for r in ranges}
        for r in sorted(priced, key=lambda r: (priced[r], r)):
            inside = (s for s in priced if s != r and priced[s] <= priced[r] and r[0] <= s[0] <= s[1] <= r[1])
            if next(inside, None) is None:  # no other range costs no more and says more
                yield r, priced[r]

    def _price(self, d: Fraction, distance: int) -> int:
        return int(d * self.scale) * distance

    # Where the sample lies

    def _pieces(self, q: int, p: int, facts: Facts, shift: tuple[int, int] | None) -> Pieces:
        mine, its = list(members(self.machine.live(q))), list(members(self.machine.live(p)))
        size = len(mine) + len(its)
        z, other_z = size, size + 1
        place = {x: i for i, x in enumerate(mine)}
        other_place = {x: len(mine) + i for i, x in enumerate(its)}
        found: Pieces = {}
        for i, leaf in enumerate(self.machine.leaves_of(q)):
            found[i] = []
            matrix = unfolded(facts, size, 2)
            if not _guarded(matrix, leaf, place, z):
                continue
            if shift is not None:
                low, high = shift
                _tie(matrix, z, other_z, low, high)
            for j, other in enumerate(self.machine.leaves_of(p)):
                both = [row[:] for row in matrix]
                if not _guarded(both, other, other_place, other_z):
                    continue
                places = self._kept(leaf, place, z) + self._kept(other, other_place, other_z)
                found[i].append((j, folded(both, places, self.far)))
        return found

    def _kept(self, leaf: Leaf, place: dict[int, int], z: int) -> list[int]:
        live: Mask = self.machine.live(leaf.target) if leaf.target != STOPPED else 0
        return [z if leaf.step.asg >> x & 1 else place[x] for x in members(live)]

    # Values

    def _values(self) -> list[float]:
        """The least values that satisfy the rules of the game, component by component."""
        value: list[float] = [0] * len(self.nodes)
        edges = [(v, w) for v in range(len(self.nodes)) for w in self._successors(v)]
        for component in components(len(self.nodes), edges):
            inside = set(component)
            cyclic = len(component) > 1 or component[0] in self._successors(component[0])
            if not cyclic:
                value[component[0]] = self._worth(component[0], value)
                continue
            outside = [value[w] for v in component for w in self._successors(v) if w not in inside]
            ceiling = max((w for w in outside if w < inf), default=0) + sum(
                max((o.cost for b in self._of(v) for o in b.options), default=0) for v in component
            )
            before: dict[int, set[int]] = {}
            for v in component:
                for w in self._successors(v):
                    if w in inside:
                        before.setdefault(w, set()).add(v)
            work = set(component)
            while work:
                self.limits.check(f"relational alignment, values of {len(self.nodes)} pairs")
                later: set[int] = set()
                for v in sorted(work):
                    worth = self._worth(v, value)
                    if worth > ceiling:  # a loop that costs can be repeated at will
                        worth = inf
                    if worth > value[v]:
                        value[v] = worth
                        later |= before.get(v, set())
                work = later
        return value

    def _of(self, v: int) -> tuple[Branch, ...]:
        """The branches of a node; what no option that is left leads to has none and does not count."""
        return () if self.lost[v] else self.branches[v] or ()

    def _successors(self, v: int) -> set[int]:
        return {w for branch in self._of(v) for option in branch.options for w in option.after}

    def _worth(self, v: int, value: list[float]) -> float:
        return max((min((_paid(o, value) for o in b.options), default=inf) for b in self._of(v)), default=0)

    def _strategy(self, roots: list[int], value: list[float], worst: int) -> Strategy:
        reached = dict.fromkeys(roots)
        chosen: list[tuple[tuple[Letter, int, Option], ...]] = []
        queue = list(reached)
        for v in queue:  # grows while we walk
            picks = []
            for branch in self._of(v):
                option = min(branch.options, key=lambda o: _paid(o, value))
                picks.append((branch.letter, branch.rest, option))
                for w in option.after:
                    if w not in reached:
                        reached[w] = None
                        queue.append(w)
            chosen.append(tuple(picks))
        place = {v: i for i, v in enumerate(queue)}
        return Strategy(
            machine=self.machine,
            classes=self.classes,
            interval=self.interval,
            unit=self.unit,
            cost_unit=self.unit * self.scale,
            bound=Fraction(worst, self.unit * self.scale),
            roots=tuple(place[v] for v in roots),
            nodes=tuple(self.nodes[v] for v in queue),
            potential=tuple(int(value[v]) for v in queue),
            chosen=tuple(
                tuple(
                    (letter, rest, Option(o.shift, o.cost, tuple(place[w] for w in o.after)))
                    for letter, rest, o in picks
                )
                for picks in chosen
            ),
            searched=len(self.nodes),
        )


def _paid(option: Option, value: list[float]) -> float:
    return option.cost + max((value[w] for w in option.after), default=0)


def _guarded(matrix: Matrix, leaf: Leaf, place: dict[int, int], z: int) -> bool:
    """Add the guard of a leaf on the sample at ``z``; ``False`` if it cannot hold."""
    return all(add(matrix, place[x], z, BELOW) for x in members(leaf.step.ge)) and all(
        add(matrix, z, place[x], BELOW) for x in members(leaf.step.lt)
    )


def _tie(matrix: Matrix, z: int, other_z: int, low: int, high: int) -> None:
    """Let the sample of the second copy be that of the first, shifted by something in ``[low, high]``."""
    add(matrix, other_z, z, at_most(high))
    add(matrix, z, other_z, at_most(-low))
