"""The symbolic systems against their specifications, by walking them with concrete bits.

Nothing here runs a solver: a system is a graph of Boolean functions, and small ones can be enumerated.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

import brute_force as judge
import pytest
import random_automata as source
from test_brute_force import A_LEAKP, automaton

from symdipa.encodings import catalogue
from symdipa.encodings.order_bits import OrderBits
from symdipa.model.automaton import Automaton
from symdipa.model.patterns import Pattern
from symdipa.runs.augmentation import augment
from symdipa.runs.control import Control, control_graph
from symdipa.runs.control.chains import Chain, End
from symdipa.runs.dataflow import OrderFacts, order_facts
from symdipa.runs.marks import Marks, advance
from symdipa.runs.order import OrderState, Step, bounds, enabled, initial, members, update
from symdipa.systems.boolean import FALSE, TRUE, BooleanGraph, Lit
from symdipa.systems.system import Edge, System

LC, LP, DC, PV = Pattern

Bits = frozenset[Lit]
Place = tuple[int, Bits]
"""A state of a system: the control state and the bits that are true."""


class Walker:
    """Concrete steps of a system: all values of the choices that an edge depends on, side by side.

    The values of a literal under ``2**k`` valuations of ``k`` choices are the bits of one number.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self.bit = {system.graph.name(b >> 1): b for b in system.bits}
        self.choice = {system.graph.name(c >> 1): c for c in system.choices}
        self.begin: Place = (system.control.initial, frozenset())
        self.leaving: dict[int, list[tuple[Edge, list[int], list[Lit]]]] = {}
        for edge in system.edges:
            cone = system.graph.cone([edge.guard, *edge.update.values()])
            mine = [c for c in system.choices if c >> 1 in cone]
            self.leaving.setdefault(edge.source, []).append((edge, cone, mine))

    def steps(self, place: Place) -> Iterator[tuple[Edge, frozenset[str], Bits]]:
        """Every possible step: its edge, the names of the choices made, the bits afterwards."""
        q, bits = place
        graph = self.system.graph
        for edge, cone, choices in self.leaving.get(q, ()):
            width = 1 << len(choices)
            every = (1 << width) - 1
            value = {b >> 1: every for b in bits} | {0: 0}
            for k, c in enumerate(choices):
                value[c >> 1] = sum(1 << v for v in range(width) if v >> k & 1)

            def of(lit: Lit, value: dict[int, int] = value, every: int = every) -> int:
                return value.get(lit >> 1, 0) ^ (every if lit & 1 else 0)

            for node in cone:
                if (operands := graph.operands(node)) is not None:
                    value[node] = of(operands[0]) & of(operands[1])
            same = {b for b in bits if b not in edge.update}
            new = {b: of(lit) for b, lit in edge.update.items()}
            for v in members(of(edge.guard)):
                chosen = frozenset(graph.name(c >> 1) for k, c in enumerate(choices) if v >> k & 1)
                yield edge, chosen, frozenset(same | {b for b, lanes in new.items() if lanes >> v & 1})

    def places(self, cap: int, least: bool = False) -> set[Place] | None:
        """The reachable states; above ``cap`` of them ``None``, or as many as were found if ``least``."""
        seen = {self.begin}
        todo = [self.begin]
        while todo and len(seen) <= cap:
            for edge, _, after in self.steps(todo.pop()):
                if (edge.target, after) not in seen:
                    seen.add((edge.target, after))
                    todo.append((edge.target, after))
        return seen if least or len(seen) <= cap else None

    def holds(self, literal: Lit, bits: Bits) -> bool:
        return self.system.graph.evaluate([literal], {b: b in bits for b in self.system.bits})[0]

    def is_bad(self, place: Place) -> bool:
        return self.holds(self.system.bad.get(place[0], 0), place[1])


@cache
def sample(i: int) -> Automaton:
    return source.random_automaton(random.Random(f"encodings/{i}"), (1, 2, 2, 3), (1, 2, 3))


def systems(example: Automaton, pattern: Pattern, encoding: str, precise: bool = True) -> list[System]:
    control = control_graph(example)
    return catalogue.systems(pattern, order_facts(control, precise=precise), encoding)


def order_agrees(
    names: list[str], facts: OrderFacts, bit: dict[str, Lit], place: Place, order: OrderState
) -> bool:
    """Whether bits and constants say what the order state says."""
    q, bits = place
    must = facts.must[q]
    assert must is not None
    for (x, a), (y, b) in product(enumerate(names), repeat=2):
        true = {kind for kind in ("lt", "eq") if bit.get(f"{kind}({a},{b})") in bits}
        true |= {"lt"} if must.lt[x] >> y & 1 else set()
        true |= {"eq"} if must.eq[x] >> y & 1 or bit.get(f"eq({b},{a})") in bits else set()
        said = {"lt"} if order.lt[x] >> y & 1 else {"eq"} if order.eq[x] >> y & 1 else set()
        if x != y and true != said:
            return False
    return True


def test_the_walk_evaluates_as_the_graph_does():
    for i in range(30):
        for system in systems(sample(i), LP, "ghost"):
            walker = Walker(system)
            for place in sorted(walker.places(cap=30, least=True), key=lambda p: (p[0], sorted(p[1])))[:20]:
                given = dict.fromkeys(system.bits, False) | dict.fromkeys(place[1], True)
                made = product((False, True), repeat=len(system.choices))
                for edge, choices in product([e for e in system.edges if e.source == place[0]], made):
                    values = given | dict(zip(system.choices, choices, strict=True))
                    allowed, *new = system.graph.evaluate([edge.guard, *edge.update.values()], values)
                    after = given | dict(zip(edge.update, new, strict=True))
                    result = frozenset(b for b, value in after.items() if value)
                    assert not allowed or result in {b for e, _, b in walker.steps(place) if e is edge}


# The order state in bits


@pytest.mark.parametrize("precise", [True, False])
def test_the_update_in_bits_is_the_pure_update(precise: bool):
    """Every transition out of every node of the augmentation, whether it is enabled or not."""
    seen: Counter[bool] = Counter()
    for i in range(250):
        control = control_graph(source.random_automaton(random.Random(f"bits/{i}"), (1, 2, 3, 4)))
        graph, facts = BooleanGraph(), order_facts(control, precise=precise)
        bits, nodes = OrderBits(graph, facts), augment(control)
        effects = {
            t: bits.step(control.source[t], step, control.target[t], {})
            for t, step in enumerate(control.steps)
            if facts.possible[t]
        }
        for q, order in zip(nodes.state, nodes.order, strict=True):
            values = valuation(bits, q, order)
            for t in control.outgoing[q]:
                step, p = control.steps[t], control.target[t]
                after = update(order, step, control.live[p])
                seen[after is not None] += 1
                if not facts.possible[t]:
                    assert after is None
                    continue
                effect = effects[t]
                assert graph.evaluate([effect.guard], values) == [after is not None]
                if after is None:
                    continue
                for side, mask in zip((effect.below, effect.above), bounds(order, step), strict=True):
                    assert mask == sum(1 << x for x, lit in side.items() if graph.evaluate([lit], values)[0])
                new = dict(zip(effect.update, graph.evaluate(effect.update.values(), values), strict=True))
                assert {b for b, v in (values | new).items() if v} == {
                    b for b, v in valuation(bits, p, after).items() if v
                }
    assert min(seen.values()) > 100, seen


def valuation(bits: OrderBits, q: int, order: OrderState) -> dict[Lit, bool]:
    """The values of all bits in an order state; what is constant at ``q`` must have its value."""
    values = dict.fromkeys(bits.all_bits(), False)
    for x, y in product(members(bits.facts.tracked(q)), repeat=2):
        for literal, true in (
            (bits.lt(q, x, y), order.lt[x] >> y & 1),
            (bits.eq(q, x, y), order.eq[x] >> y & 1),
        ):
            if literal <= TRUE:
                assert literal == true
            else:
                values[literal] = bool(true)
    return values


# Marks and ghosts: the systems step as the pure functions say


CHAINS = {"LP": [Chain.PAIR], "PV": [Chain.OUTPUT_BELOW, Chain.OUTPUT_ABOVE]}


def chain_systems(example: Automaton, encoding: str, precise: bool) -> Iterator[tuple[Chain, System]]:
    """The systems of the chain patterns with the chain each is for."""
    from symdipa.runs.dataflow import may_have_chain

    facts = order_facts(control_graph(example), precise=precise)
    for pattern in (LP, PV):
        chains = [c for c in CHAINS[pattern.short] if may_have_chain(facts, c)]
        yield from zip(chains, systems(example, pattern, encoding, precise), strict=True)


def inside(walker: Walker, place: Place, chosen: frozenset[str]) -> bool:
    """Whether a step belongs to a watched cycle: one is open or begins at a header."""
    system = walker.system
    return walker.bit["open"] in place[1] or ("start" in chosen and place[0] in system.begins)


@pytest.mark.parametrize("precise", [True, False])
def test_mark_bits_are_the_marks(precise: bool):
    steps: Counter[Chain] = Counter()
    for i in range(100):
        control = control_graph(sample(i))
        facts = order_facts(control, precise=precise)
        for chain, system in chain_systems(sample(i), "marks", precise):
            steps[chain] += follow_marks(control, facts, chain, Walker(system), cap=250)
    assert min(steps.values()) > 100, steps


def follow_marks(control: Control, facts: OrderFacts, chain: Chain, walker: Walker, cap: int) -> int:
    """Walk system and specification side by side; the number of steps compared."""
    start = (walker.begin, initial(control.variables), Marks())
    seen, todo, count = {start}, [start], 0
    while todo and len(seen) < cap:
        place, order, marks = todo.pop()
        taken = set()
        for edge, chosen, bits in walker.steps(place):
            t, p = edge.transition, edge.target
            step, keep = control.steps[t], control.live[p]
            repeats = inside(walker, place, chosen)
            after = update(order, step, keep)
            assert after is not None
            now = advance(
                order,
                marks,
                step,
                chain.roles(control.sampling[t]),
                repeats=repeats,
                keep=keep,
            )
            assert order_agrees(list(control.variable_names), facts, walker.bit, (p, bits), after)
            assert marked(walker, bits) == (names(control, now.up), names(control, now.down), now.hit)
            taken.add(t)
            count += 1
            if ((p, bits), after, now) not in seen:
                seen.add(((p, bits), after, now))
                todo.append(((p, bits), after, now))
        watching = walker.bit["open"] in place[1]
        free = {t for t in control.outgoing[place[0]] if enabled(order, control.steps[t])}
        assert taken == free or (watching and taken <= free), "an unwatched run may go anywhere"
    return count


def names(control: Control, mask: int) -> set[str]:
    return {control.variable_names[x] for x in members(mask)}


def marked(walker: Walker, bits: Bits) -> tuple[set[str], set[str], bool]:
    said = [n for n, b in walker.bit.items() if b in bits]
    up, down = ({n[len(k) : -1] for n in said if n.startswith(k)} for k in ("up(", "down("))
    return up, down, "hit" in said


@dataclass(frozen=True)
class Ghosts:
    """What the ghost encoding remembers besides the order: which ghosts are set, which ends were seen."""

    done: frozenset[int] = frozenset()
    seen: frozenset[int] = frozenset()


@pytest.mark.parametrize("precise", [True, False])
def test_ghost_bits_are_an_order_state_with_two_more_variables(precise: bool):
    steps: Counter[Chain] = Counter()
    for i in range(40):
        control = control_graph(sample(i))
        facts = order_facts(control, ghosts=2, precise=precise)
        for chain, system in chain_systems(sample(i), "ghost", precise):
            steps[chain] += follow_ghosts(control, facts, chain, Walker(system), cap=150)
    assert min(steps.values()) > 100 and sum(steps.values()) > 3000, steps


def follow_ghosts(control: Control, facts: OrderFacts, chain: Chain, walker: Walker, cap: int) -> int:
    n = control.variables
    repeats = (chain.low_end is End.REPEATED, chain.high_end is End.REPEATED)
    start = (walker.begin, initial(n + 2), Ghosts())
    seen, todo, count = {start}, [start], 0
    while todo and len(seen) < cap:
        place, order, ghosts = todo.pop()
        for edge, chosen, bits in walker.steps(place):
            t, p = edge.transition, edge.target
            step = control.steps[t]
            picked = {
                g
                for g in (0, 1)
                if f"pick(V{g + 1})" in chosen
                and g not in ghosts.done
                and (repeats[g] or control.sampling[t].shows_sample)
            }
            assigned = sum(1 << n + g for g in picked)
            after = update(order, Step(step.ge, step.lt, step.asg | assigned), facts.tracked(p))
            assert after is not None
            found = {
                g
                for g, atoms in enumerate((step.lt, step.ge))
                if repeats[g] and inside(walker, place, chosen) and order.eq[n + g] & atoms
            }
            now = Ghosts(ghosts.done | picked, ghosts.seen | found)
            assert order_agrees([*control.variable_names, "V1", "V2"], facts, walker.bit, (p, bits), after)
            for kind, numbers in (("set", now.done), ("seen", now.seen)):
                assert {g for g in (0, 1) if walker.bit.get(f"{kind}(V{g + 1})") in bits} == numbers
            count += 1
            if ((p, bits), after, now) not in seen:
                seen.add(((p, bits), after, now))
                todo.append(((p, bits), after, now))
    return count


# The monitor


def walks(system: System, rng: random.Random, length: int) -> list[tuple[Place, Edge, frozenset[str], Bits]]:
    """A random path through a system."""
    walker = Walker(system)
    place, path = walker.begin, []
    for _ in range(length):
        ways = list(walker.steps(place))
        if not ways:
            break
        # Begin a cycle where that is possible, more often than not.
        eager = [way for way in ways if walker.bit["open"] in way[2]]
        edge, chosen, bits = rng.choice(eager if eager and rng.random() < 0.6 else ways)
        path.append((place, edge, chosen, bits))
        place = (edge.target, bits)
    return path


@pytest.mark.parametrize("pattern", [LP, DC, PV])
def test_a_watched_cycle_closes_where_it_began_and_is_not_leaking(pattern: Pattern):
    rng = random.Random("monitor2")
    closed: Counter[bool] = Counter()
    for i in range(900):
        control = control_graph(sample(i))
        for system in systems(sample(i), pattern, "marks"):
            walker, is_open = Walker(system), system.is_open
            for _ in range(3):
                start, used, assigned = None, 0, 0
                for place, edge, chosen, bits in walks(system, rng, 25):
                    if start is None and inside(walker, place, chosen):
                        start, used, assigned = edge.source, 0, 0
                    used |= control.steps[edge.transition].used
                    assigned |= control.steps[edge.transition].asg
                    if start is None:
                        assert is_open not in bits
                        continue
                    assert not used & assigned, "a watched cycle uses what it assigns"
                    if is_open not in bits:
                        assert edge.target == start, "a cycle closed elsewhere"
                        closed[bool(assigned)] += 1
                        start = None
                    else:
                        assert edge.target != start, "a cycle should have closed"
    assert closed[True] > (10 if pattern is LP else 0) and closed[False] > 100, closed


def test_a_lasso_remembers_the_order_with_which_it_began():
    rng = random.Random("lasso")
    kept: Counter[bool] = Counter()
    for i in range(150):
        control = control_graph(sample(i))
        for system in systems(sample(i), LC, "marks"):
            walker = Walker(system)
            for _ in range(3):
                begun: Place | None = None
                used = assigned = 0
                for place, edge, chosen, bits in walks(system, rng, 25):
                    if begun is None and inside(walker, place, chosen):
                        begun, used, assigned = place, 0, 0
                    if begun is None:
                        continue
                    assert system.is_open in bits, "a lasso is never let go"
                    step = control.steps[edge.transition]
                    used, assigned = used | step.used, assigned | step.asg
                    said = {n for n, b in walker.bit.items() if b in bits}
                    before = {n for n, b in walker.bit.items() if b in begun[1]}
                    saved = {n for n in before if f"saved({n})" in walker.bit}
                    assert {n[6:-1] for n in said if n.startswith("saved(")} == saved
                    chosen_now = {n[7:-1] for n in said if n.startswith("chosen(")}
                    assert len(chosen_now) <= 1
                    assert ("used" in said) == bool(chosen_now & names(control, used))
                    assert ("assigned" in said) == bool(chosen_now & names(control, assigned))
                    if walker.is_bad((edge.target, bits)):
                        assert edge.target == begun[0] and {"used", "assigned"} <= said
                        kept[bool(saved)] += 1
    assert kept[True] and kept[False], kept


LOOPS = """
    q0 -> q1 [a] :x
    q1 -> q2 [b] :y
    q2 -> q3 [c] >x >y
    q2 -> q4 [d] <x >y
    q3 -> q2 [e] :x
    q4 -> q4 [f] <y
    q4 -> q2 [g] >y
"""


def cycles_watched(example: Automaton, length: int) -> set[tuple[tuple[int, ...], frozenset[str]]]:
    """The cycles (as transitions) that the leaking pair's monitor can watch, with what it protects."""
    (system,) = systems(example, LP, "marks", precise=False)
    walker = Walker(system)
    seen: set[tuple[Place, tuple[int, ...]]] = {(walker.begin, ())}
    todo, found = list(seen), set()
    while todo:
        place, cycle = todo.pop()
        for edge, chosen, bits in walker.steps(place):
            grown = (*cycle, edge.transition) if inside(walker, place, chosen) else ()
            if grown and system.is_open not in bits:
                kept = {n for n in chosen if n.startswith("protect(")} if not cycle else set()
                kept |= {n for n, b in walker.bit.items() if n.startswith("protected(") and b in place[1]}
                found.add((grown, frozenset(n.partition("(")[2][:-1] for n in kept)))
                grown = ()
            following = ((edge.target, bits), grown)
            if len(grown) <= length and following not in seen:
                seen.add(following)
                todo.append(following)
    return found


def test_which_cycles_are_watched_and_what_they_protect():
    """``x`` is used and assigned in the component: a cycle may do one of the two."""
    watched = cycles_watched(automaton(LOOPS), 4)
    cycles = {cycle for cycle, _ in watched}
    assert (5,) in cycles
    assert any(set(cycle) == {3, 6} for cycle in cycles)
    assert not any({2, 4} <= set(cycle) for cycle in cycles), "this way round assigns the x that it uses"
    assert all("x" in kept for cycle, kept in watched if 3 in cycle)
    assert {frozenset(), frozenset({"x"})} == {kept for cycle, kept in watched if cycle == (5,)}


# Invariants, and what is bad


CASES = [(pattern, encoding) for pattern in (LP, PV) for encoding in catalogue.ENCODINGS]
CASES += [(LC, "marks"), (DC, "marks")]


@pytest.mark.parametrize("precise", [True, False])
@pytest.mark.parametrize(("pattern", "encoding"), CASES, ids=lambda value: getattr(value, "short", value))
def test_reachable_bad_states_are_the_judges_patterns(pattern: Pattern, encoding: str, precise: bool):
    """All states of small systems: axioms hold, closed bits are false, bad is reached iff there is a run."""
    seen: Counter[bool] = Counter()
    for i in range(300 if encoding == "marks" else 180 if precise else 80):
        found = systems(sample(i), pattern, encoding, precise)
        reached = [Walker(system).places(cap=400) for system in found]
        present = judge.decide(sample(i))[pattern] is not None
        bad = False
        for system, places in zip(found, reached, strict=True):
            walker = Walker(system)
            axioms = {q: system.graph.all(system.axioms(q)) for q in {q for q, _ in places or ()}}
            for q, bits in places or ():
                assert bits <= set(system.open_bits[q])
                assert walker.holds(axioms[q], bits)
                bad |= walker.is_bad((q, bits))
        assert present or not bad
        if None not in reached:
            assert present == bad
            seen[present] += bool(found)
    # Which steps may be repeated leaves little more to ask of a disclosing cycle.
    assert seen[True] > 4 and (seen[False] > 2 or (pattern is DC and precise)), seen


def test_bits_and_choices_cover_what_the_formulas_read():
    for i in range(60):
        for (pattern, encoding), precise in product(CASES, (True, False)):
            for system in systems(sample(i), pattern, encoding, precise):
                bits, choices = set(system.bits), set(system.choices)
                for q in range(system.control.states):
                    assert set(system.open_bits[q]) <= bits
                for condition in system.bad.values():
                    assert reads(system, condition) <= bits
                for edge in system.edges:
                    assert set(edge.update) <= bits
                    # What an update reads of the state is open where the edge starts.
                    mine = reads(system, edge.guard, *edge.update.values())
                    assert mine <= set(system.open_bits[edge.source]) | choices


def test_what_is_not_relevant_changes_nothing_ahead():
    """Flipping it leaves guards on ways to bad states, bad conditions and the relevant bits after a step."""
    rng = random.Random("relevant")
    left_out = flipped = 0
    for i in range(60):
        for (pattern, encoding), precise in product(CASES, (True, False)):
            for system in systems(sample(i), pattern, encoding, precise):
                relevant = system.relevant
                for q, bits in enumerate(system.open_bits):
                    assert set(relevant[q]) <= set(bits)
                    assert q not in system.steps_to_bad or not {system.is_open}.intersection(bits) - {
                        *relevant[q]
                    }
                    left_out += len(bits) - len(relevant[q])
                edges = [edge for edge in system.edges if edge.target in system.steps_to_bad]
                for edge in rng.sample(edges, min(3, len(edges))):
                    q, p = edge.source, edge.target
                    asked = [edge.guard, system.bad.get(q, FALSE), system.begins.get(q, FALSE)]
                    asked += [edge.update.get(bit, bit) for bit in relevant[p]]
                    values = dict.fromkeys(system.bits, False)
                    values |= {bit: rng.random() < 0.5 for bit in (*system.open_bits[q], *system.choices)}
                    others = {bit: rng.random() < 0.5 for bit in {*system.open_bits[q]} - {*relevant[q]}}
                    answers = system.graph.evaluate(asked, values)
                    assert answers == system.graph.evaluate(asked, values | others)
                    flipped += any(values[bit] != value for bit, value in others.items())
    assert left_out > 1000 and flipped > 300, (left_out, flipped)


def reads(system: System, *literals: Lit) -> set[Lit]:
    graph = system.graph
    return {2 * n for n in graph.cone(literals) if n and graph.operands(n) is None}


def test_an_unknown_encoding_is_refused():
    control = control_graph(automaton(A_LEAKP))
    with pytest.raises(ValueError, match="no encoding 'magic'"):
        catalogue.systems(LP, order_facts(control), "magic")


def test_a_leakp_is_bad_only_after_its_last_transition():
    """The state in which the pair is complete has no successors."""
    example = automaton(A_LEAKP, silent="q0 q1")
    for encoding in catalogue.ENCODINGS:
        (system,) = systems(example, LP, encoding)
        walker = Walker(system)
        places = walker.places(cap=5000)
        assert places is not None
        bad = {q for q, bits in places if walker.is_bad((q, bits))}
        assert {example.states[q].name for q in bad} == {"q4"}
