"""Small random automata beyond the paper's, and certificates for them by trying."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import product

from symdipa.checker.wider.model import Model
from symdipa.checker.wider.order import ZERO, Comparison, Order, Place
from symdipa.model.automaton import (
    INSAMPLE,
    INSAMPLE_PRIME,
    TRUE,
    Atom,
    Automaton,
    Guard,
    Noise,
    Output,
    State,
    Term,
    Transition,
    atom,
    difference,
    guarded,
    several,
    symbol,
    value,
    variables_of,
)

Json = dict
NOISES = [Noise.LAPLACE] * 5 + [Noise.EXPONENTIAL] * 2 + [Noise.NONE]


def made(states: Iterable[State], steps: Iterable[Transition], integer: bool = False) -> Automaton:
    """An automaton that the checker itself has to judge."""
    states, steps = list(states), tuple(steps)
    known = {state.name for state in states}
    states += [State(name) for name in dict.fromkeys(t.target for t in steps) if name not in known]
    return Automaton(tuple(states), states[0].name, steps, variables_of(steps), "", integer).trusted()


def random_automaton(rng: random.Random) -> Automaton:
    """Stores two values, then compares in two states that may be taken again."""
    integer = rng.random() < 0.2
    states = [random_state(rng, name, name in "ab" or rng.random() < 0.8) for name in "abcd"]
    steps = [store(rng, states[0], "x", "b", ()), store(rng, states[1], "y", "c", ("x",))]
    for state, ways in ((states[2], "ccd"), (states[3], "dde")):
        names = ["x", "y", *(["insample"] if state.draws else [])]
        cut = random_atom(rng, names)
        for side in (cut, cut.negation):
            more = [random_atom(rng, names)] if rng.random() < 0.3 else []
            steps.append(random_step(rng, state, rng.choice(ways), guarded([side, *more], integer)))
    return made(states, steps, integer)


def random_state(rng: random.Random, name: str, draws: bool) -> State:
    noise, second = rng.choice(NOISES), rng.choice(NOISES)
    d, d_prime = (None if n is Noise.NONE else Fraction(rng.randint(1, 4), 4) for n in (noise, second))
    mean, is_input = Fraction(rng.choice((0, 0, 1))), rng.random() < 0.6
    if not draws:
        return State(name, is_input and rng.random() < 0.5, draws=False)
    return State(name, is_input, d, mean, d_prime, Fraction(0), noise, second)


def store(rng: random.Random, state: State, x: str, target: str, known: tuple[str, ...]) -> Transition:
    if known and rng.random() < 0.2:
        return Transition(state.name, target, symbol("o"), TRUE, frozenset(), ((x, rng.choice(known)),))
    if rng.random() < 0.2:
        return Transition(state.name, target, symbol("o"), TRUE, frozenset(), ((x, rng.choice((0, 1))),))
    return Transition(state.name, target, symbol("o"), TRUE, frozenset(x))


def random_atom(rng: random.Random, names: list[str]) -> Atom:
    one = Term(names[-1] if rng.random() < 0.8 else rng.choice(names))
    other = Term(rng.choice(names[:2]))
    match rng.randrange(6):
        case 0:
            other = Term(None, Fraction(rng.choice((0, 1))))
        case 1:
            other = other.plus(Fraction(rng.choice((-1, 1))))
        case 2:
            other = other.negative
    low, high = rng.choice(((one, other), (other, one)))
    return atom(low, high, rng.random() < 0.5)


def random_step(rng: random.Random, state: State, target: str, guard: Guard) -> Transition:
    store, copies = frozenset[str](), ()
    if rng.random() < 0.3:
        copies = ((rng.choice("xy"), rng.choice(("x", "y", 0, 1))),)
    elif rng.random() < 0.3 and state.draws:
        store = frozenset(rng.choice("xy"))
    return Transition(state.name, target, random_output(rng, state), guard, store, copies)


def random_output(rng: random.Random, state: State) -> Output:
    name = symbol(rng.choice("pq"))
    if rng.random() < 0.7:
        return name
    shown = [value("x"), difference("x", "y")]
    if state.draws:
        shown += [INSAMPLE, INSAMPLE_PRIME, difference("insample", rng.choice("xy"))]
    return several(name, rng.choice(shown))


# Certificates


def facts_of(order: Order, names: Iterable[str]) -> list[list[str]]:
    """What facts can say of an order."""
    texts = {ZERO: "0"} | {Place(x, m): "-" * m + x for x in names for m in (False, True)}
    found = []
    for one, other in product(texts, repeat=2):
        for gap, text in ((0, texts[other]), (1, "1")):
            if one != other and (gap == 0 or other == ZERO):
                for relation in ("<", "<="):
                    if order.implies(Comparison(one, other, Fraction(gap), relation == "<")):
                        found.append([relation, texts[one], text])
                        break
    return found


def base_of(model: Model, facts: bool, limit: int = 60) -> Json | None:
    """A graph of control states, with the facts that follow if wanted; without it if it is too large."""
    nodes: list[Json] = [{"state": model.initial}]
    orders, edges = [Order(model.integer)], []
    for v, node in enumerate(nodes):  # grows while we walk
        for t in model.leaving[node["state"]]:
            step = model.steps[t]
            after = orders[v].copy()
            for comparison in step.known:
                after.learn(comparison)
            if after.is_possible:
                known = after.moved(step.gets, model.live[step.target]) if facts else Order(model.integer)
                kept = facts_of(known, model.live[step.target])
                there = {"state": step.target} | ({"facts": kept} if kept else {})
                if there not in nodes:
                    nodes.append(there)
                    orders.append(known)
                edges.append([v, t, nodes.index(there)])
        if len(nodes) > limit:
            return None
    return {"nodes": nodes, "edges": edges}


def lowered(certificate: Json, holds: Callable[[Json], bool]) -> Json | None:
    """The certificate with least potentials, node by node from the end; ``None`` if it holds with none."""
    nodes = certificate["lift"]["nodes"]
    if not holds(certificate):
        return None
    states = [node["state"] for node in certificate["base"]["nodes"]]
    for state in sorted(set(states), reverse=True):
        here = [v for v, s in enumerate(states) if s == state]
        low, high = -1, 8 * 16 * 5
        while high - low > 1:
            middle = (low + high) // 2
            for v in here:
                nodes[v]["potential"] = str(Fraction(middle, 16) if middle < 8 * 16 * 5 else 999)
            certificate["D"] = nodes[0]["potential"]
            low, high = (low, middle) if holds(certificate) else (middle, high)
        if high == 8 * 16 * 5:
            return None
        for v in here:
            nodes[v]["potential"] = str(Fraction(high, 16))
        certificate["D"] = nodes[0]["potential"]
    return certificate


SHIFTS = [["-1", "-1"], ["0", "0"], ["1", "1"], ["-1", "1"], ["0", "1"], ["-1", "0"]]


def private_try(rng: random.Random, base: Json, ends: tuple[int, int] = (-1, 1)) -> Json:
    """Some shifts, and potentials that fall from state to state."""
    shifts = {x: rng.choice(SHIFTS) for x in "xy"}
    nodes = []
    for v, node in enumerate(base["nodes"]):
        own = {x: rng.choice([*SHIFTS, None]) for x in "xy" if rng.random() < 0.12}
        high = 8 * (ord("f") - ord(node["state"]))
        nodes.append({"base": v, "potential": str(high)} | ({"shifts": own} if own else {}))
    return {
        "kind": "private",
        "adjacency": [str(end) for end in ends],
        "sensitivity": "1",
        "D": "999",
        "base": base,
        "lift": {"cover": "forward", "shifts": shifts, "nodes": nodes, "edges": base["edges"]},
    }
