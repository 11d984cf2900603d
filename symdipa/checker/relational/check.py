"""Certificates of privacy that pair runs (docs/weights.md, section 7).

Why the rules prove the claim. Fix two inputs with differences (first minus second) in the range, and the
letters that are shown, real numbers included; they tell which steps read an input. For a machine state,
values of the variables and the letters still to come let ``f`` be the probability that the rest of a run
shows them under the first input, ``g`` the same under the second one. Claim, for every node: if the letters
have its class, its potential is ``c``, and values ``s`` and ``s'`` of the two copies satisfy its facts, then
``f(u, s) <= exp(c*eps) * g(v, s')`` for each of its first states ``u`` and each of its second states ``v``.

By induction on the number of letters. If ``v`` is sure, ``g`` is 1. Without letters ``f`` is 0 or 1, and
``g`` is 1 where ``f`` is (*end*). Otherwise there is one next letter and one class of the rest, and a move
for them (*move*). The letter says whether the step reads an input, and both copies have read equally many so
far: so both read the same position of their inputs, or neither reads (*shift*). If the move ties the samples,
the second one is the first one plus a number that depends on the node, the letters and the difference of the
inputs alone: substitute it in the integral that ``g`` is. The densities differ by ``exp`` of the cost times
``eps``; for almost every sample of the first copy that goes on as the letters ask, the second copy shows the
same letter (*output*) and both are in a node whose facts hold (*fact*), and the induction hypothesis applies
(*potential*). If it does not tie them, the hypothesis holds for every two samples, hence for the averages.
(Real numbers may be asked to lie in any set: both copies show the same ones, so what the set leaves to the
rest is the same for both.)

A letter has a remark that is not shown. As every run has exactly one sequence of remarks (*remarks*), what is
visible has as probability the sum over all remarks, on both sides, and the inequality survives.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product

from symdipa.checker.claims import Claim, Inputs, inputs_of
from symdipa.checker.model import Model
from symdipa.checker.reading import bounded, interval, items, members, number, rational, text
from symdipa.checker.relational.effects import (
    NOTHING,
    SECOND_SAMPLE,
    SHOWN_SAMPLE,
    STOP,
    UNPROMPTED,
    Drawing,
    Drawn,
    Effect,
    Effects,
    Interval,
    effects_of,
)
from symdipa.checker.rules import refuse, shown
from symdipa.checker.wider.model import Model as WiderModel
from symdipa.checker.wider.order import ZERO as NOWHERE
from symdipa.checker.wider.order import Comparison, Place
from symdipa.checker.wider.order import Value as Held

Letter = tuple[str, str]
Value = tuple[int, str | None]
"""A variable of one of the copies, 1 or 2, or (``None``) the sample that it draws. What no copy has
is the number 0."""

Bound = tuple[Fraction, int]
"""``<= c`` as ``(c, WEAK)``, ``< c`` as ``(c, STRICT)``: the smaller pair says more."""

Facts = dict[tuple[Value, Value], Bound]
"""Bounds on the difference of the first value and the second one,"""
Known = tuple[tuple[tuple[Value, Value], Bound], ...]
"""and the same as a key."""

STRICT, WEAK = -1, 0
UNSHIFTED = NOTHING, NOTHING
NOTHING_APART = NOTHING, WEAK
ZERO: Value = (0, None)
ZERO_NAME = "0"
ASTRAY = -1
"""In place of a machine state: where another letter leads."""

MAX_SETS = 100_000
"""The most sets of machine states that are examined."""


@dataclass(frozen=True, slots=True)
class Way:
    """A transition of a control state, or part of what its guards leave out (``number`` is ``None``)."""

    number: int | None
    effect: Effect


@dataclass(frozen=True)
class Machine:
    """``state`` is the control state of each machine state, ``None`` once it has stopped.

    ``edges[u, t, remark]`` is the target by transition ``t`` (``None``: stopping).
    """

    steps: Effects
    state: tuple[str | None, ...]
    accepting: frozenset[int]
    edges: dict[tuple[int, int | None, str], int]

    @cached_property
    def ways(self) -> dict[str | None, tuple[Way, ...]]:
        """All that can happen in a control state; the ways leave nothing out, and the same effect is one."""
        found: dict[str | None, tuple[Way, ...]] = {None: ()}
        known: dict[Hashable, Effect] = {}
        for state in sorted({q for q in self.state if q is not None}):
            ways = [(t, self.steps.effects[t]) for t in self.steps.leaving[state]]
            left_out = [(None, effect) for effect in self.steps.left_out(state)]
            found[state] = tuple(
                Way(t, known.setdefault(effect.content, effect)) for t, effect in (*ways, *left_out)
            )
        return found

    @cached_property
    def leaving(self) -> tuple[tuple[tuple[int | None, str, int], ...], ...]:
        """For each machine state the transition, remark and target of its edges."""
        found: list[list[tuple[int | None, str, int]]] = [[] for _ in self.state]
        for (u, t, remark), v in self.edges.items():
            found[u].append((t, remark, v))
        return tuple(map(tuple, found))

    @cached_property
    def drawing(self) -> tuple[Drawing | None, ...]:
        """How each machine state draws; one without transitions does not."""
        return tuple(None if state is None else self.steps.drawing.get(state) for state in self.state)

    def shows(self, u: int, t: int | None) -> str:
        """What is visible of a step from ``u`` by transition ``t``."""
        drawing = self.drawing[u]
        shows = STOP if t is None else self.steps.shows[t]
        return ("" if drawing is not None and drawing.reads_input else UNPROMPTED) + shows

    def numbers(self, letter: Letter) -> frozenset[str]:
        """The kinds of real numbers that a letter shows."""
        return self.steps.real.get(letter[0].removeprefix(UNPROMPTED), frozenset())

    def can_show(self, u: int, letter: Letter, able: frozenset[int]) -> bool:
        """Whether an edge with this letter leads from ``u`` to an able state."""
        return any((self.shows(u, t), remark) == letter and v in able for t, remark, v in self.leaving[u])

    def ways_on(self, states: frozenset[int], letter: Letter) -> dict[Effect, set[int]]:
        """What the states may do, and where that leads; to :data:`ASTRAY` if they do not show the letter."""
        shows, remark = letter
        found: dict[Effect, set[int]] = {}
        for u in states:
            for way in self.ways[self.state[u]]:
                v = self.edges.get((u, way.number, remark), ASTRAY)
                right = self.shows(u, way.number) == shows
                found.setdefault(way.effect, set()).add(v if right else ASTRAY)
        return found


@dataclass(frozen=True)
class Suffixes:
    able: tuple[frozenset[int], ...]
    sure: tuple[frozenset[int], ...]
    before: dict[tuple[int, Letter], int]

    @cached_property
    def after(self) -> tuple[tuple[tuple[Letter, int], ...], ...]:
        """For each class the letters and classes of the rest that make it."""
        found: list[list[tuple[Letter, int]]] = [[] for _ in self.able]
        for (rest, letter), s in self.before.items():
            found[s].append((letter, rest))
        return tuple(map(tuple, found))


@dataclass(frozen=True)
class Move:
    shift: tuple[Fraction, Fraction] | None
    after: tuple[int, ...]


@dataclass(frozen=True)
class Node:
    first: frozenset[int]
    second: frozenset[int]
    suffix: int
    facts: Facts
    potential: Fraction
    moves: dict[tuple[Letter, int], Move]


def check_relational(
    model: Model | WiderModel,
    certificate: dict[str, object],
    where: str,
    tick: Callable[[int], None] | None = None,
) -> Claim:
    """Check a certificate; ``tick`` is called for every node, with its number, and may raise."""
    keys = ["kind", "adjacency", "sensitivity", "D", "machine", "suffixes", "nodes", "initial"]
    members(certificate, where, keys)
    inputs = inputs_of(certificate, where)
    bound = rational(certificate["D"], f"{where}.D")
    machine = _machine(effects_of(model), certificate["machine"], f"{where}.machine")
    _check_remarks(machine)
    suffixes = _suffixes(machine, certificate["suffixes"], f"{where}.suffixes")
    _check_suffixes(machine, suffixes)
    found = items(certificate["nodes"], f"{where}.nodes")
    nodes = [
        _node(machine, suffixes, len(found), item, f"{where}.nodes[{v}]") for v, item in enumerate(found)
    ]
    known = Closures(machine.steps.integer)
    for v, node in enumerate(nodes):
        if tick is not None:
            tick(v)
        _check_node(machine, suffixes, inputs, nodes, node, known, f"{where}.nodes[{v}]")
    listed = items(certificate["initial"], f"{where}.initial")
    initial = [nodes[number(i, f"{where}.initial", "pair-initial", len(nodes))] for i in listed]
    _check_initial(suffixes, initial, bound)
    return Claim("private", bound, inputs)


def _check_initial(suffixes: Suffixes, initial: list[Node], bound: Fraction) -> None:
    covered = {
        node.suffix
        for node in initial
        if 0 in node.first and 0 in node.second and not node.facts and node.potential <= bound
    }
    for s, able in enumerate(suffixes.able):
        if 0 in able and s not in covered:
            refuse("pair-initial", f"no initial node is about class {s} and costs at most D")


# The machine


def _machine(steps: Effects, value: object, where: str) -> Machine:
    parts = members(value, where, ["states", "accepting", "edges"])
    states: list[str | None] = []
    for item in items(parts["states"], f"{where}.states"):
        state = None if item is None else text(item, f"{where}.states")
        if state is not None and state not in steps.leaving:
            refuse("machine-state", f"{where} has the unknown state {shown(item)}")
        states.append(state)
    if not states or states[0] != steps.initial:
        refuse("machine-state", f"{where}: state 0 is not the initial one")
    accepting = frozenset(
        number(item, f"{where}.accepting", "machine-state", len(states))
        for item in items(parts["accepting"], f"{where}.accepting")
    )
    edges: dict[tuple[int, int | None, str], int] = {}
    for i, item in enumerate(items(parts["edges"], f"{where}.edges")):
        place = f"{where}.edges[{i}]"
        source, t, remark, target = items(item, place, 4)
        u = number(source, place, "machine-edge", len(states))
        v = number(target, place, "machine-edge", len(states))
        taken = None if t is None else number(t, place, "machine-edge", len(steps.ends))
        key = (u, taken, text(remark, place))
        if key in edges:
            refuse("machine-edge", f"{place} is given twice")
        edges[key] = v
        if taken is None:
            fits = states[u] is not None and states[v] is None
        else:
            fits = steps.ends[taken] == (states[u], states[v])
        if not fits:
            refuse("machine-edge", f"{place} does not lead from its state to its target")
    return Machine(steps, tuple(states), accepting, edges)


def _check_remarks(machine: Machine) -> None:
    """Every path of ways has an accepted sequence of remarks, and not two of them."""
    seen_sets = {frozenset([0])}
    work = list(seen_sets)
    while work:
        here = work.pop()
        if not here & machine.accepting:
            refuse("machine-remarks", "a run has no accepted sequence of remarks")
        control = machine.state[next(iter(here))]  # all of them stand for the same
        for t in {way.number for way in machine.ways[control]}:
            there = frozenset(v for u in here for taken, _, v in machine.leaving[u] if taken == t)
            if there not in seen_sets:
                seen_sets.add(there)
                work.append(there)
        if len(seen_sets) > MAX_SETS:
            refuse("limit", f"more than {MAX_SETS} sets of machine states")
    seen = {(0, 0, False)}
    pairs = list(seen)
    while pairs:
        one, other, differ = pairs.pop()
        if differ and one in machine.accepting and other in machine.accepting:
            refuse("machine-remarks", "a run has two accepted sequences of remarks")
        for t, remark, v in machine.leaving[one]:
            for taken, told, w in machine.leaving[other]:
                pair = (v, w, differ or remark != told)
                if taken == t and pair not in seen:
                    seen.add(pair)
                    pairs.append(pair)
        if len(seen) > MAX_SETS:
            refuse("limit", f"more than {MAX_SETS} pairs of machine states")


# Classes of what is shown later


def _suffixes(machine: Machine, value: object, where: str) -> Suffixes:
    parts = members(value, where, ["able", "sure", "before"])

    def sets(key: str) -> tuple[frozenset[int], ...]:
        place = f"{where}.{key}"
        return tuple(
            frozenset(number(u, place, "suffix-class", len(machine.state)) for u in items(item, place))
            for item in items(parts[key], place)
        )

    able, sure = sets("able"), sets("sure")
    if not able or len(able) != len(sure):
        refuse("suffix-class", f"{where} has {len(able)} able and {len(sure)} sure sets")
    before: dict[tuple[int, Letter], int] = {}
    for i, item in enumerate(items(parts["before"], f"{where}.before")):
        place = f"{where}.before[{i}]"
        rest, shows, remark, s = items(item, place, 4)
        key = (
            number(rest, place, "suffix-class", len(able)),
            (text(shows, place), text(remark, place)),
        )
        if key in before:
            refuse("suffix-class", f"{place}: a letter before a class makes two classes")
        before[key] = number(s, place, "suffix-class", len(able))
    return Suffixes(able, sure, before)


def _check_suffixes(machine: Machine, suffixes: Suffixes) -> None:
    if not machine.accepting <= suffixes.able[0]:
        refuse("suffix-able", "an accepting state is not able to show nothing")
    if not suffixes.sure[0] <= machine.accepting:
        refuse("suffix-sure", "a state that is sure to show nothing is not accepting")
    for rest, able in enumerate(suffixes.able):
        for u, edges in enumerate(machine.leaving):
            for t, remark, v in edges:
                if v not in able:
                    continue
                letter = machine.shows(u, t), remark
                s = suffixes.before.get((rest, letter))
                if s is None:
                    refuse("suffix-class", f"{shown(letter[0])} before class {rest} has no class")
                if u not in suffixes.able[s]:
                    refuse("suffix-able", f"machine state {u} is able to show class {s}")
    for s, sure in enumerate(suffixes.sure):
        for (letter, rest), u in product(suffixes.after[s], sure):
            real = machine.numbers(letter)
            for way in machine.ways[machine.state[u]]:
                there = machine.edges.get((u, way.number, letter[1]))
                if real or machine.shows(u, way.number) != letter[0] or there not in suffixes.sure[rest]:
                    refuse("suffix-sure", f"machine state {u} is not sure to show class {s}")
            if machine.state[u] is None:
                refuse("suffix-sure", f"machine state {u} has stopped and shows nothing more")


# Nodes


def _node(machine: Machine, suffixes: Suffixes, count: int, value: object, where: str) -> Node:
    parts = members(value, where, ["first", "second", "suffix", "facts", "potential", "moves"])
    facts: Facts = {}
    for item in items(parts["facts"], f"{where}.facts"):
        u, v, relation, c = items(item, f"{where}.facts", 4)
        if relation not in ("<", "<="):
            refuse("pair-node", f"{where} has the relation {shown(relation)}")
        ends = _value(machine, u, f"{where}.facts"), _value(machine, v, f"{where}.facts")
        if ends in facts:
            refuse("pair-node", f"{where} has two facts about the same values")
        facts[ends] = rational(c, f"{where}.facts"), STRICT if relation == "<" else WEAK
    moves: dict[tuple[Letter, int], Move] = {}
    for i, item in enumerate(items(parts["moves"], f"{where}.moves")):
        place = f"{where}.moves[{i}]"
        move = members(item, place, ["shows", "remark", "suffix", "shift", "after"])
        key = (
            (text(move["shows"], place), text(move["remark"], place)),
            number(move["suffix"], place, "pair-move", len(suffixes.able)),
        )
        if key in moves:
            refuse("pair-move", f"{place} is given twice")
        shift = None if move["shift"] is None else interval(move["shift"], place)
        after = items(move["after"], place)
        moves[key] = Move(shift, tuple(number(v, place, "pair-move", count) for v in after))
    first, second = (
        frozenset(number(u, where, "pair-node", len(machine.state)) for u in items(parts[key], where))
        for key in ("first", "second")
    )
    return Node(
        first,
        second,
        number(parts["suffix"], where, "pair-node", len(suffixes.able)),
        facts,
        rational(parts["potential"], f"{where}.potential"),
        moves,
    )


def _value(machine: Machine, item: object, where: str) -> Value:
    copy, x = items(item, where, 2)
    if type(copy) is int and copy == 0 and x == ZERO_NAME:
        return ZERO
    if copy not in (1, 2) or type(copy) is not int or text(x, where) not in machine.steps.variables:
        refuse("pair-node", f"{where}: {shown(x)} is no variable of copy 1 or 2")
    assert isinstance(x, str)
    return copy, x


@dataclass(frozen=True)
class Closures:
    """What follows from facts and guards, found once: nodes have much in common."""

    integer: bool
    _found: dict[tuple[Known, Effect, Effect], Facts | None] = field(default_factory=dict)
    _guards: dict[tuple[int, Effect], Facts] = field(default_factory=dict)
    _stored: dict[tuple[Effect, Effect], dict[Value, tuple[Value, Fraction]]] = field(default_factory=dict)

    def with_guards(self, before: Known, one: Effect, other: Effect) -> Facts | None:
        """What is known once the guards of both steps hold; ``None``: they cannot."""
        key = before, one, other
        if key not in self._found:
            facts = dict(before)
            for guard in (self._guard(1, one), self._guard(2, other)):
                for ends, bound in guard.items():
                    facts[ends] = min(bound, facts.get(ends, bound))
            self._found[key] = _closed(facts)
        return self._found[key]

    def _guard(self, copy: int, effect: Effect) -> Facts:
        if (copy, effect) not in self._guards:
            facts: Facts = {}
            for c in effect.guard:
                ends, bound = (_held(copy, c.low), _held(copy, c.high)), self._bound(c)
                facts[ends] = min(bound, facts.get(ends, bound))
            self._guards[copy, effect] = facts
        return self._guards[copy, effect]

    def _bound(self, c: Comparison) -> Bound:
        """Integers that differ by less than a number differ by at most one less."""
        if c.strict and self.integer:
            return c.gap - 1, WEAK
        return c.gap, STRICT if c.strict else WEAK

    def stored(self, one: Effect, other: Effect) -> dict[Value, tuple[Value, Fraction]]:
        """What the variables get that both copies store: a value of before, plus a constant."""
        if (one, other) not in self._stored:
            self._stored[one, other] = {
                (copy, x): (_held(copy, value.place), value.plus)
                for copy, effect in ((1, one), (2, other))
                for x, value in effect.gets
            }
        return self._stored[one, other]


def _held(copy: int, place: Place) -> Value:
    if place == NOWHERE:
        return ZERO
    return copy, None if place.is_sample else place.name


def _closed(known: Facts) -> Facts | None:
    """All bounds that follow from these, at most one for each pair; ``None``: they contradict each other."""
    bounds = dict(known)
    values = dict.fromkeys(v for ends in bounds for v in ends)
    for middle, u in product(values, values):
        first = bounds.get((u, middle))
        if first is None:
            continue
        for v in values:
            last = bounds.get((middle, v))
            if last is not None:
                through = bounded(first[0] + last[0]), min(first[1], last[1])
                bounds[u, v] = min(through, bounds.get((u, v), through))
    return None if any(u == v and bound < (0, WEAK) for (u, v), bound in bounds.items()) else bounds


def _check_node(
    machine: Machine,
    suffixes: Suffixes,
    inputs: Inputs,
    nodes: list[Node],
    node: Node,
    known: Closures,
    where: str,
) -> None:
    if node.potential < 0:
        refuse("pair-potential", f"{where} has a negative potential")
    unsure = node.second - suffixes.sure[node.suffix]
    if not unsure:
        return
    if node.suffix == 0 and node.first & machine.accepting and not unsure <= machine.accepting:
        refuse("pair-end", f"{where}: the second copy may not end here")
    for letter, rest in suffixes.after[node.suffix]:
        able = suffixes.able[rest]
        going = frozenset(u for u in node.first if machine.can_show(u, letter, able))
        if not going:
            continue
        if any(machine.state[v] is None for v in unsure):
            refuse("pair-output", f"{where}: the second copy has stopped, the first one goes on")
        move = node.moves.get((letter, rest))
        if move is None:
            refuse("pair-move", f"{where} has no move for {shown(letter[0])} before class {rest}")
        drawings = product({machine.drawing[u] for u in going}, {machine.drawing[v] for v in unsure})
        paid = max(_cost(machine, inputs, pair, letter, move, where) for pair in drawings)
        for v in move.after:
            if nodes[v].potential + paid > node.potential:
                refuse("pair-potential", f"{where}: its potential does not pay for the move to node {v}")
        after = [nodes[v] for v in move.after if nodes[v].suffix == rest]
        _check_move(machine, node, letter, able, move, (going, unsure), after, known, where)


def _cost(
    machine: Machine,
    inputs: Inputs,
    drawings: tuple[Drawing | None, Drawing | None],
    letter: Letter,
    move: Move,
    where: str,
) -> Fraction:
    """What the move costs at most, over all differences of the inputs, for samples drawn like that."""
    one, other = drawings
    if one is None or other is None:
        if move.shift is not None:
            refuse("pair-shift", f"{where} ties a sample that a state without transitions does not draw")
        return Fraction(0)
    differences = machine.steps.differences(one.reads_input, inputs)
    numbers = machine.numbers(letter)
    paid = Fraction(0)
    if SECOND_SAMPLE in numbers and one.second is not None:  # else nothing of this kind is shown
        paid = _paid(one.second, other.second or one.second, differences, UNSHIFTED, where)
    if move.shift is None:
        if SHOWN_SAMPLE in numbers:
            refuse("pair-shift", f"{where}: a sample that is shown must be tied")
        return paid
    if one.sample is None or other.sample is None:
        refuse("pair-shift", f"{where} ties a sample of which nothing is known")
    if SHOWN_SAMPLE in numbers and move.shift != UNSHIFTED:
        refuse("pair-shift", f"{where}: a sample that is shown must not be shifted")
    if machine.steps.integer and any(end.denominator > 1 for end in move.shift):
        refuse("pair-shift", f"{where} shifts an integer by no integer")
    return paid + _paid(one.sample, other.sample, differences, move.shift, where)


def _paid(one: Drawn, other: Drawn, differences: Interval, shift: Interval, where: str) -> Fraction:
    if shift[0] > shift[1] or one._replace(mu=other.mu) != other:
        refuse("pair-shift", f"{where}: the samples have different noise, or no shift is in the range")
    cost = one.cost(other.mu - one.mu, differences, shift)
    if cost is None:
        refuse("pair-shift", f"{where}: the noise allows no shift in the range for some difference")
    return cost


def _check_move(
    machine: Machine,
    node: Node,
    letter: Letter,
    able: frozenset[int],
    move: Move,
    states: tuple[frozenset[int], frozenset[int]],
    after: list[Node],
    known: Closures,
    where: str,
) -> None:
    """All ways on from the states of both copies, those with one guard together."""
    z, other_z = (1, None), (2, None)
    tie: Facts = {}
    if move.shift is not None:
        low, high = move.shift
        tie = {(other_z, z): (high, WEAK), (z, other_z): (-low, WEAK)}
    before = tuple({**node.facts, **tie}.items())
    others = machine.ways_on(states[1], letter)
    for step, reached in machine.ways_on(states[0], letter).items():
        targets = reached & able
        if not targets:
            continue
        for other, there in others.items():
            both = known.with_guards(before, step, other)
            if both is None:
                continue
            if ASTRAY in there or not _same_numbers(step, other, both):
                refuse("pair-output", f"{where}: the second copy may not show {shown(letter[0])}")
            if not any(
                targets <= then.first
                and there <= then.second
                and _follow(then.facts, both, known.stored(step, other))
                for then in after
            ):
                refuse("pair-fact", f"{where}: no node after {shown(letter[0])} fits both copies")


def _same_numbers(one: Effect, other: Effect, known: Facts) -> bool:
    """Whether both copies show the same numbers: both ends of a difference are apart by the same."""
    return len(one.numbers) == len(other.numbers) and all(
        _apart(low, other_low, known) == _apart(high, other_high, known) is not None
        for (low, high), (other_low, other_high) in zip(one.numbers, other.numbers, strict=True)
    )


def _apart(value: Held, other: Held, known: Facts) -> Fraction | None:
    """By how much a value of the first copy is larger than one of the second, if that is known."""
    u, v = _held(1, value.place), _held(2, other.place)
    most, least = (_best(known, *ends) for ends in ((u, v), (v, u)))
    if most is None or least is None or most[0] != -least[0]:
        return None
    return most[0] + value.plus - other.plus


def _best(known: Facts, u: Value, v: Value) -> Bound | None:
    return NOTHING_APART if u == v else known.get((u, v))


def _follow(facts: Facts, known: Facts, stored: Mapping[Value, tuple[Value, Fraction]]) -> bool:
    """Whether the facts hold once both copies have stored what they store."""
    for (u, v), bound in facts.items():
        (u, plus), (v, more) = stored.get(u, (u, NOTHING)), stored.get(v, (v, NOTHING))
        best = _best(known, u, v)
        if best is not None and plus is not more:
            best = best[0] + plus - more, best[1]
        if best is None or best > bound:
            return False
    return True
