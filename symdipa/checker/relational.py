"""Certificates of privacy that pair runs (docs/weights.md, section 7).

Why the rules prove the claim. Fix two inputs with differences (first minus second) in the range, and the
letters that are shown, real numbers included. For a machine state, values of the variables and the letters
still to come let ``f`` be the probability that the rest of a run shows them under the first input, ``g`` the
same under the second one.
Claim, for every node: if the values ``s`` and ``s'`` of the two copies satisfy its facts, the letters have
its class and its potential is ``c``, then ``f(first, s) <= exp(c*eps) * g(second, s')``.

By induction on the number of letters. If the second state is sure, ``g`` is 1. Without letters ``f`` is 0 or
1, and ``g`` is 1 where ``f`` is (*end*). Otherwise there is one next letter and one class of the rest, and a
move for them (*move*). If it ties the samples, the second one is the first one plus a number that depends on
the node, the letters and the difference of the inputs alone: substitute it in the integral that ``g`` is. The
densities differ by ``exp`` of the cost times ``eps``; for almost every sample of the first copy that goes on
as the letters ask, the second copy shows the same letter (*output*) and both are in a node whose facts hold
(*fact*), and the induction hypothesis applies (*potential*). If it does not tie them, the hypothesis holds
for every two samples, hence for the averages. Until the second state is sure, both copies have read equally
many inputs (*shift*).

A letter has a remark that is not shown. As every run has exactly one sequence of remarks (*remarks*), what is
visible has as probability the sum over all remarks, on both sides, and the inequality survives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import compress, product

from symdipa.checker.claims import Claim, Inputs, inputs_of
from symdipa.checker.model import Model, Step
from symdipa.checker.reading import bounded, interval, items, members, number, rational, text
from symdipa.checker.rules import refuse, shown

Letter = tuple[str, str]
Value = tuple[int, str | None]
"""A variable of one of the copies, 1 or 2; ``None``: the sample that it draws."""

Bound = tuple[Fraction, int]
"""``<= c`` as ``(c, WEAK)``, ``< c`` as ``(c, STRICT)``: the smaller pair says more."""

Facts = dict[tuple[Value, Value], Bound]
"""Bounds on the difference of the first value and the second one."""

STRICT, WEAK = -1, 0
STOP = "stop"
SAMPLE, OTHER_SAMPLE = "insample", "insampleprime"

MAX_VARIABLES = 12
"""The most variables that the guards of one state may read."""
MAX_SETS = 100_000
"""The most sets of machine states that are examined."""


@dataclass(frozen=True, slots=True)
class Way:
    """A transition of a control state, or part of what its guards leave out (``number`` is ``None``)."""

    number: int | None
    ge: frozenset[str]
    lt: frozenset[str]
    assigned: frozenset[str]


@dataclass(frozen=True)
class Machine:
    """``state`` is the control state of each machine state, ``None`` once it has stopped.

    ``edges[u, t, remark]`` is the target by transition ``t`` (``None``: stopping).
    """

    model: Model
    state: tuple[str | None, ...]
    accepting: frozenset[int]
    edges: dict[tuple[int, int | None, str], int]

    @cached_property
    def ways(self) -> dict[str | None, tuple[Way, ...]]:
        """All that can happen in a control state; the ways exclude one another and leave nothing out."""
        found: dict[str | None, tuple[Way, ...]] = {None: ()}
        for state in sorted({q for q in self.state if q is not None}):
            found[state] = tuple(_ways(self.model, state))
        return found

    @cached_property
    def leaving(self) -> tuple[tuple[tuple[int | None, str, int], ...], ...]:
        """For each machine state the transition, remark and target of its edges."""
        found: list[list[tuple[int | None, str, int]]] = [[] for _ in self.state]
        for (u, t, remark), v in self.edges.items():
            found[u].append((t, remark, v))
        return tuple(map(tuple, found))

    def letter(self, t: int | None, remark: str) -> Letter:
        return self.shows(t), remark

    def shows(self, t: int | None) -> str:
        if t is None:
            return STOP
        step = self.model.steps[t]
        if step.shows is not None:
            return f"symbol {step.shows}"
        return SAMPLE if step.shows_sample else OTHER_SAMPLE

    def steps(self, u: int) -> list[Step]:
        """The transitions of the state, which have its noise in common; without any it draws no sample."""
        numbers = [way.number for way in self.ways[self.state[u]]]
        return [self.model.steps[t] for t in numbers if t is not None]


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
    first: int
    second: int
    suffix: int
    facts: Facts
    potential: Fraction
    moves: dict[tuple[Letter, int], Move]


def check_relational(
    model: Model, certificate: dict[str, object], where: str, tick: Callable[[int], None] | None = None
) -> Claim:
    """Check a certificate; ``tick`` is called for every node, with its number, and may raise."""
    keys = ["kind", "adjacency", "sensitivity", "D", "machine", "suffixes", "nodes", "initial"]
    members(certificate, where, keys)
    inputs = inputs_of(certificate, where)
    bound = rational(certificate["D"], f"{where}.D")
    machine = _machine(model, certificate["machine"], f"{where}.machine")
    _check_remarks(machine)
    suffixes = _suffixes(machine, certificate["suffixes"], f"{where}.suffixes")
    _check_suffixes(machine, suffixes)
    found = items(certificate["nodes"], f"{where}.nodes")
    nodes = [
        _node(machine, suffixes, len(found), item, f"{where}.nodes[{v}]") for v, item in enumerate(found)
    ]
    for v, node in enumerate(nodes):
        if tick is not None:
            tick(v)
        _check_node(machine, suffixes, inputs, nodes, node, f"{where}.nodes[{v}]")
    listed = items(certificate["initial"], f"{where}.initial")
    initial = [nodes[number(i, f"{where}.initial", "pair-initial", len(nodes))] for i in listed]
    _check_initial(suffixes, initial, bound)
    return Claim("private", bound, inputs)


def _check_initial(suffixes: Suffixes, initial: list[Node], bound: Fraction) -> None:
    covered = {
        node.suffix
        for node in initial
        if (node.first, node.second) == (0, 0) and not node.facts and node.potential <= bound
    }
    for s, able in enumerate(suffixes.able):
        if 0 in able and s not in covered:
            refuse("pair-initial", f"no initial node is about class {s} and costs at most D")


# The machine


def _machine(model: Model, value: object, where: str) -> Machine:
    parts = members(value, where, ["states", "accepting", "edges"])
    states: list[str | None] = []
    for item in items(parts["states"], f"{where}.states"):
        state = None if item is None else text(item, f"{where}.states")
        if state is not None and state not in model.leaving:
            refuse("machine-state", f"{where} has the unknown state {shown(item)}")
        states.append(state)
    if not states or states[0] != model.initial:
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
        taken = None if t is None else number(t, place, "machine-edge", len(model.steps))
        key = (u, taken, text(remark, place))
        if key in edges:
            refuse("machine-edge", f"{place} is given twice")
        edges[key] = v
        leads = (states[u], states[v])
        if taken is None:
            fits = states[u] is not None and states[v] is None
        else:
            fits = leads == (model.steps[taken].source, model.steps[taken].target)
        if not fits:
            refuse("machine-edge", f"{place} does not lead from its state to its target")
    return Machine(model, tuple(states), accepting, edges)


def _ways(model: Model, state: str) -> Iterator[Way]:
    """The transitions of a state, and every combination of atoms under which none is taken."""
    steps = [(t, model.steps[t]) for t in model.leaving[state]]
    for t, step in steps:
        yield Way(t, step.ge, step.lt, step.assigned)
    names = sorted(frozenset[str]().union(*(step.used for _, step in steps)))
    if len(names) > MAX_VARIABLES:
        refuse("limit", f"the guards of state {shown(state)} read more than {MAX_VARIABLES} variables")
    for sides in product((True, False), repeat=len(names)):
        ge = frozenset(compress(names, sides))
        lt = frozenset(names) - ge
        if not any(step.ge <= ge and step.lt <= lt for _, step in steps):
            yield Way(None, ge, lt, frozenset())


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
                letter = machine.letter(t, remark)
                s = suffixes.before.get((rest, letter))
                if s is None:
                    refuse("suffix-class", f"{shown(letter[0])} before class {rest} has no class")
                if u not in suffixes.able[s]:
                    refuse("suffix-able", f"machine state {u} is able to show class {s}")
    for s, sure in enumerate(suffixes.sure):
        for (letter, rest), u in product(suffixes.after[s], sure):
            for way in machine.ways[machine.state[u]]:
                there = machine.edges.get((u, way.number, letter[1]))
                right = machine.shows(way.number) == letter[0] and letter[0] not in (SAMPLE, OTHER_SAMPLE)
                if not right or there not in suffixes.sure[rest]:
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
    return Node(
        number(parts["first"], where, "pair-node", len(machine.state)),
        number(parts["second"], where, "pair-node", len(machine.state)),
        number(parts["suffix"], where, "pair-node", len(suffixes.able)),
        facts,
        rational(parts["potential"], f"{where}.potential"),
        moves,
    )


def _value(machine: Machine, item: object, where: str) -> Value:
    copy, x = items(item, where, 2)
    if copy not in (1, 2) or type(copy) is not int or text(x, where) not in machine.model.variables:
        refuse("pair-node", f"{where}: {shown(x)} is no variable of copy 1 or 2")
    assert isinstance(x, str)
    return copy, x


def _check_node(
    machine: Machine, suffixes: Suffixes, inputs: Inputs, nodes: list[Node], node: Node, where: str
) -> None:
    if node.potential < 0:
        refuse("pair-potential", f"{where} has a negative potential")
    if node.second in suffixes.sure[node.suffix]:
        return
    if node.suffix == 0 and node.first in machine.accepting and node.second not in machine.accepting:
        refuse("pair-end", f"{where}: the second copy may not end here")
    for letter, rest in suffixes.after[node.suffix]:
        ways = [
            (t, v)
            for t, remark, v in machine.leaving[node.first]
            if machine.letter(t, remark) == letter and v in suffixes.able[rest]
        ]
        if not ways:
            continue
        if machine.state[node.second] is None:
            refuse("pair-output", f"{where}: the second copy has stopped, the first one goes on")
        move = node.moves.get((letter, rest))
        if move is None:
            refuse("pair-move", f"{where} has no move for {shown(letter[0])} before class {rest}")
        paid = _cost(machine, inputs, node, letter, move, where)
        _check_move(machine, nodes, node, letter, rest, move, dict(ways), paid, where)


def _cost(machine: Machine, inputs: Inputs, node: Node, letter: Letter, move: Move, where: str) -> Fraction:
    """What the move costs at most, over all differences of the inputs."""
    steps, other_steps = machine.steps(node.first), machine.steps(node.second)
    if not steps or not other_steps:
        if move.shift is not None:
            refuse("pair-shift", f"{where} ties a sample that a state without transitions does not draw")
        return Fraction(0)
    one, other = steps[0], other_steps[0]
    if one.reads_input != other.reads_input:
        refuse("pair-shift", f"{where}: only one of the copies reads an input")
    low, high = inputs.differences(one.reads_input)
    (mean, mean_prime), (other_mean, other_mean_prime) = one.means, other.means
    shows, _ = letter
    paid = Fraction(0)
    if shows == OTHER_SAMPLE:
        rate, *others = {step.released for step in steps + other_steps if step.released}
        if others:
            refuse("pair-shift", f"{where}: the copies show a second sample with different noise")
        apart = other_mean_prime - mean_prime
        paid = rate * max(apart - low, high - apart)
    if move.shift is None:
        if shows == SAMPLE:
            refuse("pair-shift", f"{where}: a sample that is shown must be tied")
        return paid
    a, b = move.shift
    if a > b or one.d != other.d or one.d <= 0:
        refuse("pair-shift", f"{where}: the samples have different noise, or no shift is in the range")
    if shows == SAMPLE and (a or b):
        refuse("pair-shift", f"{where}: a sample that is shown must not be shifted")
    apart = other_mean - mean
    return paid + one.d * max(Fraction(0), apart - low - b, a - (apart - high))


def _check_move(
    machine: Machine,
    nodes: list[Node],
    node: Node,
    letter: Letter,
    rest: int,
    move: Move,
    targets: dict[int | None, int],
    paid: Fraction,
    where: str,
) -> None:
    for v in move.after:
        if nodes[v].potential + paid > node.potential:
            refuse("pair-potential", f"{where}: its potential does not pay for the move to node {v}")
    z, other_z = (1, None), (2, None)
    tie: Facts = {}
    if move.shift is not None:
        low, high = move.shift
        tie = {(other_z, z): (high, WEAK), (z, other_z): (-low, WEAK)}
    for way in machine.ways[machine.state[node.first]]:
        if way.number not in targets:
            continue
        for other in machine.ways[machine.state[node.second]]:
            both = _closed([node.facts, tie, _guard(way, 1), _guard(other, 2)])
            if both is None:
                continue
            there = machine.edges.get((node.second, other.number, letter[1]))
            if machine.shows(other.number) != letter[0] or there is None:
                refuse("pair-output", f"{where}: the second copy may not show {shown(letter[0])}")
            if not any(
                (nodes[v].first, nodes[v].second, nodes[v].suffix) == (targets[way.number], there, rest)
                and _follow(nodes[v].facts, both, way.assigned, other.assigned)
                for v in move.after
            ):
                refuse("pair-fact", f"{where}: no node after {shown(letter[0])} fits both copies")


def _guard(way: Way, copy: int) -> Facts:
    z = (copy, None)
    strictly = Fraction(0), STRICT
    return {((copy, x), z): strictly for x in way.ge} | {(z, (copy, x)): strictly for x in way.lt}


def _closed(parts: list[Facts]) -> Facts | None:
    """All bounds that follow from these, at most one for each pair; ``None``: they contradict each other."""
    bounds = {ends: bound for part in parts for ends, bound in part.items()}
    values = dict.fromkeys(v for ends in bounds for v in ends)
    for middle, u, v in product(values, values, values):
        first, last = bounds.get((u, middle)), bounds.get((middle, v))
        if first is not None and last is not None:
            through = bounded(first[0] + last[0]), min(first[1], last[1])
            bounds[u, v] = min(through, bounds.get((u, v), through))
    return None if any(u == v and bound < (0, WEAK) for (u, v), bound in bounds.items()) else bounds


def _follow(facts: Facts, known: Facts, assigned: frozenset[str], other_assigned: frozenset[str]) -> bool:
    """Whether the facts hold once both copies have stored their samples."""
    fresh = {1: assigned, 2: other_assigned}

    def held(value: Value) -> Value:
        copy, x = value
        return (copy, None) if x in fresh[copy] else value

    for (u, v), bound in facts.items():
        u, v = held(u), held(v)
        best = (Fraction(0), WEAK) if u == v else known.get((u, v))
        if best is None or best > bound:
            return False
    return True
