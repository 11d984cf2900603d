"""Certificates of privacy for automata that are not the paper's, from an alignment on their cores.

A chain of the core is one edge again, a slot is what the variables say that name it, and a sample and its
mirror, with half of the noise each, are one sample: where the shifts of a slot and of its mirror are not
negatives of each other, those half-way between are as good. Potentials are computed anew.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import ceil, floor
from typing import TYPE_CHECKING

from symdipa.checker.claims import Inputs
from symdipa.checker.graphs import Edge
from symdipa.checker.wider.adjacent import ANY, Apart, entry, known_after, means, state_after
from symdipa.checker.wider.model import Model, Sample, Step, model_of
from symdipa.checker.wider.order import Order, Place, Value
from symdipa.evidence.certificates.build import graphs
from symdipa.evidence.certificates.wider.facts import Fact, Known, different, needs_difference
from symdipa.model.adjacency import Interval
from symdipa.model.automaton import Automaton, Noise
from symdipa.model.errors import NothingToCertify
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.control.graph import Key, What
from symdipa.runs.control.unfolding import live_registers
from symdipa.runs.graphs import component_numbers
from symdipa.runs.order import members
from symdipa.runs.problem import Problem

if TYPE_CHECKING:
    from symdipa.bounds.alignment import Alignment
    from symdipa.bounds.alignment.graphs import Cover
    from symdipa.bounds.alignment.lifts import LiftedCover
    from symdipa.bounds.alignment.proofs import PartedSide, Proof, Side

Json = dict[str, object]
Intervals = dict[str, Interval]

POINT = Fraction(0), Fraction(0)

MAX_NODES = 20_000
"""The most nodes of a graph that is tried in place of parts."""


def private(automaton: Automaton, alignment: Alignment, limits: Limits = UNLIMITED) -> list[Json]:
    """A proved bound on ``D`` as certificates, one for each range of differences.

    ``D`` is the bound, or what a certificate can pay for if that is more. A proof in parts has a certificate
    only where steps are those of the paper; else another graph is tried. Raises :class:`NothingToCertify` if
    nothing comes of it.
    """
    from symdipa.bounds.alignment import PartedSide

    if automaton.plain_steps and not automaton.integer:
        return [
            in_parts(automaton, side) if isinstance(side, PartedSide) else one_sided(automaton, side)
            for side in alignment.sides
        ]
    return [one_sided(automaton, side) for side in _whole(automaton, alignment, limits)]


def _whole(automaton: Automaton, alignment: Alignment, limits: Limits) -> list[Proof]:
    """The proofs, or others that are on one graph each."""
    from symdipa.bounds.alignment import Side, align

    sides: list[Proof] = [side for side in alignment.sides if isinstance(side, Side)]
    if len(sides) == len(alignment.sides):
        return sides  # none without a bound
    problem, found = Problem.of(automaton), []
    question = alignment.adjacency[0], alignment.sensitivity
    for graph in ("eq", "augmentation"):
        other = align(problem, graph, None, False, *question, max_nodes=MAX_NODES, limits=limits)
        found += [other] if other.bound is not None else []
    if not found:
        raise NothingToCertify("the bound is by alignment in parts, and no one graph gave another")
    best = min(found, key=lambda other: other.bound or 0)
    return [side for side in best.sides if isinstance(side, Side)]


def one_sided(automaton: Automaton, side: Proof) -> Json:
    """A proof on the core for one range of differences as a certificate about the automaton.

    Raises :class:`NothingToCertify` where shifts cost something in loops.
    """
    from symdipa.bounds.alignment import Side

    assert isinstance(side, Side)
    model = model_of(automaton)
    contracted = Contracted(automaton, side)
    known = Known(model, contracted.proposed(model), contracted.edges)
    inputs = _inputs(side)
    apart = gone_apart(automaton, model, contracted.edges, inputs)
    ways = [
        _Lift(
            model, inputs, contracted, known, apart, [contracted.shifts(v, turned) for v in contracted.lifted]
        )
        for turned in contracted.roundings(automaton.integer)
    ]
    best = min(ways, key=lambda way: way.bound)
    return {
        "kind": "private",
        **_claim(side, max(side.bound, best.bound)),
        "base": {
            "nodes": [
                {"state": state}
                | _written_apart(gone)
                | ({"facts": [fact.written for fact in facts]} if facts else {})
                for state, gone, facts in zip(contracted.states(), apart, known.facts, strict=True)
            ],
            "edges": [_written(edge) for edge in contracted.edges],
        },
        "lift": best.written("backward" if side.lifted.letters else "forward"),
    }


def in_parts(automaton: Automaton, side: PartedSide) -> Json:
    """A proof in parts, on a core of which each transition is one of the automaton with a letter."""
    control, model = side.control, model_of(automaton)

    def edge(source: int, t: int, target: int) -> list[int | str]:
        return _written(Edge(source, control.origin[t], target, control.letters[t]))

    place = {control.initial: 0}
    edges: list[Edge] = []
    for q in (order := [control.initial]):  # grows while it is walked
        for t in control.outgoing[q]:
            there = control.target[t]
            if there not in place:
                place[there] = len(order)
                order.append(there)
            edges.append(Edge(place[q], control.origin[t], place[there], control.letters[t]))
    states = {0: automaton.initial} | {e.target: automaton.transitions[e.transition].target for e in edges}
    apart = gone_apart(automaton, model, edges, _inputs(side))
    return {
        "kind": "private-in-parts",
        **_claim(side, side.bound),
        "ground": {
            "nodes": [
                {"state": states[v], "potential": str(side.potential(q))} | _written_apart(apart[v])
                for v, q in enumerate(order)
            ],
            "edges": [_written(edge) for edge in edges],
        },
        "parts": [
            {"variables": [control.variable_names[x] for x in members(part.share.own)]}
            | graphs(part.lifted, partial(side.shift, part), place=lambda q: {"ground": place[q]}, edge=edge)
            for part in side.parted.parts
        ],
    }


def _claim(side: Proof, bound: Fraction) -> Json:
    return {
        "adjacency": _pair((side.low / side.sensitivity, side.high / side.sensitivity)),
        "sensitivity": str(side.sensitivity),
        "D": str(bound),
    }


def _inputs(side: Proof) -> Inputs:
    return Inputs(side.low, side.high, Fraction(1), both=side.low == -side.high)


def gone_apart(automaton: Automaton, model: Model, edges: Iterable[Edge], inputs: Inputs) -> list[Apart]:
    """How far inputs went apart in each node of a graph, as far as registers matter.

    Of the edges that lead to a node the first leaves one that comes before it.
    """
    live = live_registers(automaton)
    found = {0: Apart()}
    for source, t, target, letter in edges:
        if target not in found:
            step, here = model.steps[t], found[source]
            state = state_after(model, here.state, letter)
            assert state is not None
            read, _ = entry(model, step, letter, inputs)
            found[target] = Apart(state, known_after(step, here.registers, read, live[step.target]))
    return [found[v] for v in range(len(found))]


def _pair(interval: Interval) -> list[str]:
    return [str(end) for end in interval]


def _written(edge: Edge) -> list[int | str]:
    return [edge.source, edge.transition, edge.target, *([edge.letter] if edge.letter else [])]


def _written_apart(apart: Apart) -> Json:
    registers = {r: str(difference) for r, difference in sorted(apart.registers.items())}
    return ({"differ": apart.state} if apart.state else {}) | ({"registers": registers} if registers else {})


# From the core to the automaton


class Contracted:
    """The graphs of a proof without what lies inside of transitions.

    ``nodes`` are the nodes of the cover that stay, in the order of their new numbers, ``lifted`` those of the
    lift. Edges are between new numbers, by transitions of the automaton.
    """

    def __init__(self, automaton: Automaton, side: Side) -> None:
        self.automaton, self.side, self.control = automaton, side, side.control
        self.lift: LiftedCover = side.lifted
        self.cover: Cover = self.lift.cover
        self.nodes: dict[int, int] = {}
        self.edges: list[Edge] = []
        self._contract_base()
        self.lifted: dict[int, int] = {}
        self.lift_edges: list[Edge] = []
        self._contract_lift()
        soft = self.control.soft
        self.number: dict[Key, int] = {
            key: x for x, key in enumerate(self.control.keys) if not soft or soft >> x & 1
        }

    def _is_between(self, node: int) -> bool:
        return self.control.is_between(self.cover.state[node])

    def _edge(self, source: int, t: int, target: int) -> Edge:
        """An edge by the transition of which the core's ``t`` is the first part."""
        letter = self.control.letters[t] if self.control.letters else ""
        return Edge(source, self.control.origin[t], target, letter)

    def _contract_base(self) -> None:
        leaving: dict[int, list[int]] = defaultdict(list)
        for e, u in enumerate(self.cover.source):
            leaving[u].append(e)

        def end(node: int) -> int | None:
            """Where the transition ends that has come to the node, if it can be taken."""
            while self._is_between(node):
                if not leaving[node]:
                    return None
                (e,) = leaving[node]
                node = self.cover.target[e]
            return node

        start = end(0)
        assert start is not None, "constants are drawn in their order"
        self.nodes[start] = 0
        work = [start]
        for node in work:  # grows while it is walked
            for e in leaving[node]:
                target = end(self.cover.target[e])
                if target is None:
                    continue
                if target not in self.nodes:
                    self.nodes[target] = len(self.nodes)
                    work.append(target)
                self.edges.append(self._edge(self.nodes[node], self.cover.transition[e], self.nodes[target]))

    def _contract_lift(self) -> None:
        """Backward from where runs may end: each node has one edge over each base edge that leads to it."""
        lift, base = self.lift, self.lift.base
        entering: dict[int, list[int]] = defaultdict(list)
        for e, v in enumerate(lift.target):
            entering[v].append(e)

        def begins(node: int) -> Iterator[tuple[int, int]]:
            """Where transitions begin that end in the node, and the first parts of them."""
            inside = [node]
            while inside:
                for e in entering[inside.pop()]:
                    u = lift.source[e]
                    if not self._is_between(base[u]):
                        yield u, lift.transition[e]
                    else:
                        inside.append(u)

        work = [v for v, b in enumerate(base) if lift.ends[v] and b in self.nodes]
        self.lifted |= {v: i for i, v in enumerate(work)}
        for node in work:  # grows while it is walked
            for source, t in begins(node):
                if base[source] not in self.nodes:
                    continue
                if source not in self.lifted:
                    self.lifted[source] = len(self.lifted)
                    work.append(source)
                self.lift_edges.append(self._edge(self.lifted[source], t, self.lifted[node]))

    # What nodes are about

    def states(self) -> Iterator[str]:
        """The automaton's state of each node, which edges tell."""
        states = {0: self.automaton.initial}
        for source, t, target, _ in self.edges:
            assert states[source] == self.automaton.transitions[t].source
            states[target] = self.automaton.transitions[t].target
        return (states[v] for v in range(len(self.nodes)))

    def naming(self, node: int) -> Mapping[str, What]:
        """What the variables stand for in a node of the cover, those that matter."""
        found = self.control.names[self.cover.state[node]]
        return {x: what for x, what in zip(self.automaton.variables, found, strict=True) if what is not None}

    def proposed(self, model: Model) -> Iterator[list[Fact]]:
        """For each new node the facts that the core knows: what is equal, what is below what."""
        apart = needs_difference(model)
        mirrored = any(mirror for _, mirror in self.control.keys)
        for node in self.nodes:
            if node == next(iter(self.nodes)):
                yield []
                continue
            names: dict[What, list[str]] = defaultdict(list)
            for x, what in self.naming(node).items():
                names[what].append(x)
            slots = {what: Value(Place(xs[0]), Fraction(0)) for what, xs in names.items()}
            found = [Fact("=", slots[what], _value(x)) for what, xs in names.items() for x in xs[1:]]
            for what, value in slots.items():
                if isinstance(what, Fraction):
                    found.append(Fact("=", value, _constant(what)))
            free: dict[What, Value] = {what: v for what, v in slots.items() if isinstance(what, str)}
            found += self._ordered(node, free)
            if apart:
                found += different(list(free.values()), mirrored)
            yield found

    def _ordered(self, node: int, slots: Mapping[What, Value]) -> Iterator[Fact]:
        less, _ = self.cover.facts(node)
        seen = set()

        def known(key: Key) -> Value | None:
            what, mirrored = key
            if isinstance(what, Fraction):
                return _constant(what)
            value = slots.get(what)
            return value and (value.negative if mirrored else value)

        for x, y in sorted(less):
            if self.control.soft >> x & 1:
                continue
            low, high = known(self.control.keys[x]), known(self.control.keys[y])
            if low is None or high is None or low.place.name is high.place.name is None:
                continue
            if (high.negative, low.negative) not in seen:
                seen.add((low, high))
                yield Fact("<", low, high)

    # Shifts

    def shifts(self, node: int, turned: Callable[[Fraction], Fraction]) -> Intervals:
        """The intervals of the variables in a node of the lift; what is half-way is ``turned``."""
        found: Intervals = {}
        for x, what in self.naming(self.lift.base[node]).items():
            interval = POINT if isinstance(what, Fraction) else self._interval(node, what)
            if interval is not None:
                low, high = interval
                found[x] = turned(low), turned(high)
        return found

    def _interval(self, node: int, slot: str) -> Interval | None:
        sides = []
        for mirrored in (False, True):
            x = self.number.get((slot, mirrored))
            if x is not None and self.lift.tracked[node] >> x & 1:
                low, high = self.side.shift(node, x)
                sides.append((-high, -low) if mirrored else (low, high))
        if not sides:
            return None
        lows, highs = zip(*sides, strict=True)
        return sum(lows, Fraction(0)) / len(sides), sum(highs, Fraction(0)) / len(sides)

    def roundings(self, integer: bool) -> Sequence[Callable[[Fraction], Fraction]]:
        """How to go on with numbers half-way between others: towards 0 or away from it, for integers."""
        if not integer:
            return [lambda shift: shift]
        return [
            lambda shift: Fraction(floor(shift) if shift > 0 else ceil(shift)),
            lambda shift: Fraction(ceil(shift) if shift > 0 else floor(shift)),
        ]


def _value(name: str) -> Value:
    return Value(Place(name), Fraction(0))


def _constant(number: Fraction) -> Value:
    return Value(Place(None), number)


# What it costs


class _Lift:
    """The lift with these intervals, and the least potentials that pay for it."""

    def __init__(
        self,
        model: Model,
        inputs: Inputs,
        graphs: Contracted,
        known: Known,
        apart: list[Apart],
        shifts: list[Intervals],
    ) -> None:
        self.model, self.inputs, self.apart, self.shifts = model, inputs, apart, shifts
        self.base = [graphs.nodes[graphs.lift.base[v]] for v in graphs.lifted]
        self.edges, self.known = graphs.lift_edges, known
        self.potentials = self._potentials()

    @property
    def bound(self) -> Fraction:
        return max(p for p, base in zip(self.potentials, self.base, strict=True) if base == 0)

    def _potentials(self) -> list[Fraction]:
        component = component_numbers(len(self.base), [(u, v) for u, _, v, _ in self.edges])
        potential = [Fraction(0)] * (max(component) + 1)
        for edge in sorted(self.edges, key=lambda edge: component[edge.source]):
            here, there = component[edge.source], component[edge.target]
            paid = self._cost(edge)
            if here != there:  # components are numbered from the ends
                potential[here] = max(potential[here], paid + potential[there])
            elif paid:
                raise NothingToCertify("the shifts that were found on the core cost something in a loop")
        return [potential[c] for c in component]

    def _cost(self, edge: Edge) -> Fraction:
        """What an edge costs at most, with the best shift of its sample."""
        u, t, v, letter = edge
        step = self.model.steps[t]
        read = entry(self.model, step, letter or ANY, self.inputs)
        floors, ceilings = self._range(self.known.orders[self.base[u]], step, self.shifts[u], self.shifts[v])
        zero = [Fraction(0)]
        return max(
            _price(step.sample, difference, floors, ceilings) + _price(step.second, difference, zero, zero)
            for difference in means(step, self.apart[self.base[u]], read, "an edge")
        )

    def _range(
        self, order: Order, step: Step, here: Intervals, there: Intervals
    ) -> tuple[list[Fraction], list[Fraction]]:
        """What the shift of the sample must be at least and at most."""
        floors: list[Fraction] = []
        ceilings: list[Fraction] = []
        for low, high in step.asked:
            if low == high or order.bound(low, high) is not None:
                continue
            if low.is_sample and high.is_sample:  # one is the negative of the other
                (ceilings if low.mirrored else floors).append(Fraction(0))
            elif low.is_sample:
                least, most = _shifted(here, high)
                (ceilings if low.mirrored else floors).append(-most if low.mirrored else most)
            elif high.is_sample:
                least, most = _shifted(here, low)
                (floors if high.mirrored else ceilings).append(-least if high.mirrored else least)
        for x, value in step.gets.items():
            if value.place.is_sample and x in there:
                floors.append(there[x][0])
                ceilings.append(there[x][1])
        return floors, ceilings

    # Writing it down

    def written(self, cover: str) -> Json:
        everywhere = self._everywhere()
        own = self._own(everywhere)
        return {
            "cover": cover,
            "shifts": {x: _pair(everywhere[x]) for x in sorted(everywhere)},
            "nodes": [
                {"base": base, "potential": str(potential)}
                | (
                    {"shifts": {x: shift and _pair(shift) for x, shift in sorted(mine.items())}}
                    if mine
                    else {}
                )
                for base, potential, mine in zip(self.base, self.potentials, own, strict=True)
            ],
            "edges": [_written(edge) for edge in self.edges],
        }

    def _everywhere(self) -> Intervals:
        """The commonest interval of each variable."""
        counts: dict[str, Counter[Interval]] = defaultdict(Counter)
        for shifts in self.shifts:
            for x, shift in shifts.items():
                counts[x][shift] += 1
        return {x: count.most_common(1)[0][0] for x, count in counts.items()}

    def _own(self, everywhere: Intervals) -> list[dict[str, Interval | None]]:
        """What differs: another interval, or none where a value does not matter and must not be bound."""
        own: list[dict[str, Interval | None]] = [
            {x: shift for x, shift in shifts.items() if shift != everywhere[x]} for shifts in self.shifts
        ]

        def interval(node: int, place: Place) -> Interval | None:
            if place.name is None:
                return POINT
            mine = own[node]
            found = mine[place.name] if place.name in mine else everywhere.get(place.name)
            return found and ((-found[1], -found[0]) if place.mirrored else found)

        leaving: list[list[Edge]] = [[] for _ in self.base]
        for edge in self.edges:
            leaving[edge.source].append(edge)
        work = list(self.edges)
        while work:
            u, t, v, _ = work.pop()
            step = self.model.steps[t]
            for x, (low, high) in everywhere.items():
                if x in self.shifts[v] or x in own[v]:
                    continue
                place = step.gets[x].place if x in step.gets else Place(x)
                held = None if place.is_sample else interval(u, place)
                if held is None or held[0] < low or held[1] > high:
                    own[v][x] = None
                    work += leaving[v]
        return own


def _shifted(shifts: Intervals, place: Place) -> Interval:
    """The shifts that a place other than the sample may have."""
    if place.name is None:
        return POINT
    low, high = shifts[place.name]
    return (-high, -low) if place.mirrored else (low, high)


def _price(
    sample: Sample | None, difference: Fraction, floors: Iterable[Fraction], ceilings: Iterable[Fraction]
) -> Fraction:
    if sample is None:
        return Fraction(0)
    short = max((f - difference for f in floors), default=Fraction(0))
    far = max((difference - c for c in ceilings), default=Fraction(0))
    if (sample.noise is not Noise.LAPLACE and short > 0) or (sample.noise is Noise.NONE and far > 0):
        raise NothingToCertify("the shifts that were found on the core cost infinitely much")
    return sample.d * max(short, far, Fraction(0))
