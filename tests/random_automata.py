"""Random valid automata that are worth judging.

Every automaton is valid by construction: guards of one state are the leaves of a decision tree (so any two
have an opposite atom), a non-input state has one unguarded transition, and a variable is read only behind
the transitions that store it first. Three kinds are mixed:

* *staged*: a prefix that stores variables, often under guards on earlier ones, so that order facts
  arise; then loops of one to three states in a row, with exits, links back, loops that assign; then a tail
  of guards on two variables that may relate the thresholds once the loops are over;
* *free*: a prefix and then a few states whose transitions go anywhere;
* *shaped*: a template that is hard for a checker (the paper's ``A_leakp``, an overwritten link of a chain,
  cycles that stop being feasible after one, two or three rounds, cycles that grow for ever …) with a few
  random changes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

from symdipa.model.automaton import (
    INSAMPLE,
    INSAMPLE_PRIME,
    TRUE,
    Automaton,
    Guard,
    Output,
    State,
    Transition,
    symbol,
    variables_of,
)

NAMES = ("x", "y", "z", "w", "v", "u", "t", "s")
SCALES = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(1, 12))
MEANS = (Fraction(0), Fraction(0), Fraction(1), Fraction(2), Fraction(-1, 2))


@dataclass
class Tastes:
    """Probabilities, drawn anew for every automaton so that the mix has calm and wild ones.

    If ``sided``, loops prefer to be below some variables and above the others: without that, nearly every
    automaton with two loops has a leaking pair.
    """

    real: float
    cyclic_real: float
    loop_assign: float
    non_input: float
    back: float
    same_symbol: float
    sided: frozenset[str] | None

    @classmethod
    def draw(cls, rng: random.Random) -> Tastes:
        floors = frozenset(x for x in NAMES[:6] if rng.random() < 0.5)
        floors |= frozenset(NAMES[i + 6] for i in range(len(NAMES) - 6) if NAMES[i] in floors)
        return cls(
            sided=floors if rng.random() < 0.75 else None,
            real=rng.choice((0.0, 0.0, 0.1, 0.3)),
            cyclic_real=rng.choice((0.0, 0.0, 0.0, 0.5)),
            loop_assign=rng.choice((0.0, 0.0, 0.1, 0.3)),
            non_input=rng.choice((0.0, 0.2, 0.4)),
            back=rng.choice((0.0, 0.0, 0.1, 0.25)),
            same_symbol=rng.choice((0.0, 0.0, 0.5)),
        )

    def against(self, guard: Guard) -> int:
        """How many atoms a loop with this guard has on the wrong side."""
        return 0 if self.sided is None else len(guard.ge - self.sided) + len(guard.lt & self.sided)


@dataclass
class Draft:
    """An automaton under construction."""

    rng: random.Random
    states: dict[str, State] = field(default_factory=dict)
    transitions: list[Transition] = field(default_factory=list)

    def state(self, name: str, is_input: bool = True) -> None:
        rng = self.rng
        parameters = (rng.choice(SCALES), rng.choice(MEANS), rng.choice(SCALES), rng.choice(MEANS))
        self.states[name] = State(name, is_input, *parameters)

    def go(
        self, source: str, target: str, output: Output, guard: Guard = TRUE, assign: Iterable[str] = ()
    ) -> None:
        self.transitions.append(Transition(source, target, output, guard, frozenset(assign)))

    def finish(self, initial: str) -> Automaton:
        """The reachable part as an automaton; states without transitions become terminal."""
        reached = [initial]
        for name in reached:
            reached += sorted({t.target for t in self.transitions if t.source == name} - set(reached))
        sources = {t.source for t in self.transitions}
        states = tuple(self.states[q] if q in sources else State(q) for q in reached)
        transitions = tuple(t for t in self.transitions if t.source in reached)
        return Automaton(states, initial, transitions, variables_of(transitions))


def random_automaton(
    rng: random.Random,
    variables: int | Sequence[int] = (1, 2, 2, 3, 3),
    states: int | Sequence[int] = (2, 3, 4, 5),
) -> Automaton:
    """A valid random automaton.

    ``variables`` is the number of variables, ``states`` the number of states behind the prefix that stores
    them (or choices for either). Both are targets that the automaton may miss by a little.
    """
    n = variables if isinstance(variables, int) else rng.choice(variables)
    size = states if isinstance(states, int) else rng.choice(states)
    kind = rng.random()
    if kind < 0.25 and (fitting := [make for count, make in SHAPES if count <= n]):
        return _shaped(rng, n, rng.choice(fitting))
    return (_staged if kind < 0.75 else _free)(rng, list(NAMES[:n]), size)


# Guards and outputs


def tree(rng: random.Random, readable: Sequence[str], depth: int, extra: float = 0.15) -> list[Guard]:
    """The leaves of a random decision tree on the readable variables, with a few more atoms."""
    leaves = [TRUE]
    for _ in range(min(depth, len(readable))):
        leaves = [part for leaf in leaves for part in _split(rng, leaf, readable)]
    return [_narrowed(rng, leaf, readable) if rng.random() < extra else leaf for leaf in leaves]


def _split(rng: random.Random, leaf: Guard, readable: Sequence[str]) -> list[Guard]:
    left = sorted(set(readable) - leaf.used)
    if not left or (not leaf.is_true and rng.random() < 0.25):
        return [leaf]
    x = rng.choice(left)
    return [Guard(leaf.ge | {x}, leaf.lt), Guard(leaf.ge, leaf.lt | {x})]


def _narrowed(rng: random.Random, leaf: Guard, readable: Sequence[str]) -> Guard:
    left = sorted(set(readable) - leaf.used)
    return rng.choice(_split(rng, leaf, left[:1])) if left else leaf


class Outputs:
    """Hands out the outputs of one state: at most one real one, symbols mostly distinct."""

    def __init__(self, rng: random.Random, tastes: Tastes) -> None:
        self.rng, self.tastes = rng, tastes
        self.count, self.had_real = 0, False
        self.one_symbol = rng.random() < tastes.same_symbol

    def next(self, cyclic: bool) -> Output:
        share = self.tastes.cyclic_real if cyclic else self.tastes.real
        if not self.had_real and self.rng.random() < share:
            self.had_real = True
            return self.rng.choice((INSAMPLE, INSAMPLE, INSAMPLE_PRIME))
        self.count += not self.one_symbol
        return symbol(f"o{self.count}")


# Staged and free automata


def _prefix(rng: random.Random, draft: Draft, names: list[str], tastes: Tastes, then: str) -> str:
    """States that store the names one after another and go on to ``then``; the first one's name."""
    places = [f"p{i}" for i in range(len(names))] + [then]
    for i, x in enumerate(names):
        here, after = places[i], places[i + 1]
        draft.state(here, is_input=rng.random() < 0.6)
        outputs = Outputs(rng, tastes)
        if not draft.states[here].is_input or not i or rng.random() < 0.2:
            draft.go(here, after, outputs.next(False), TRUE, {x})
            continue
        leaves = tree(rng, names[:i], rng.choice((1, 1, 2)))
        kept = rng.randrange(len(leaves))
        for k, leaf in enumerate(leaves):
            if k == kept or rng.random() < 0.6:
                more = {y for y in names[:i] if rng.random() < 0.07}
                draft.go(here, after, outputs.next(False), leaf, {x} | more)
            elif rng.random() < 0.2:
                draft.go(here, "end", outputs.next(False), leaf)
    return places[0]


def _staged(rng: random.Random, names: list[str], size: int) -> Automaton:
    """A prefix, loops in a row, a tail. A late variable is stored on the way into one of the loops."""
    tastes, draft = Tastes.draw(rng), Draft(rng)
    draft.state("end")
    late = names[-1] if len(names) > 1 and rng.random() < 0.3 else None
    early = [x for x in names if x != late]
    loops = _loop_lengths(rng, size)
    gate = rng.randrange(1, len(loops) + 1) if late is not None else len(loops) + 1
    entries = [f"l{b}0" for b in range(len(loops))] + ["t0"]
    initial = _prefix(rng, draft, early, tastes, entries[0])
    for b, length in enumerate(loops):
        readable = names if late is not None and b >= gate else early
        entered = {late} if late is not None and b + 1 == gate else set()
        _loop(rng, draft, tastes, b, length, entries, readable, entered)
    _tail(rng, draft, tastes, names if late is None or gate <= len(loops) else early)
    return draft.finish(initial)


def _loop_lengths(rng: random.Random, size: int) -> list[int]:
    """Lengths of the loops, ``size`` in all."""
    lengths: list[int] = []
    while sum(lengths) < size:
        lengths.append(min(rng.choice((1, 1, 1, 2, 2, 3)), size - sum(lengths)))
    return lengths


def _loop(
    rng: random.Random,
    draft: Draft,
    tastes: Tastes,
    b: int,
    length: int,
    entries: list[str],
    readable: list[str],
    entered: set[str],
) -> None:
    """Loop number ``b``: some leaf of each state goes on in the loop, others leave or link back.

    ``entered`` is stored by whatever goes on to the next loop.
    """
    places = [f"l{b}{i}" for i in range(length)]
    for i, here in enumerate(places):
        following = places[(i + 1) % length]
        draft.state(here, is_input=length == 1 or rng.random() >= tastes.non_input)
        outputs = Outputs(rng, tastes)
        if not draft.states[here].is_input:
            draft.go(here, following, outputs.next(True), TRUE, _some(rng, readable, tastes.loop_assign))
            continue
        leaves = tree(rng, readable, rng.choice((1, 1, 2, 2, 3)))
        rng.shuffle(leaves)
        leaves.sort(key=tastes.against)
        draft.go(here, following, outputs.next(True), leaves[0], _some(rng, readable, tastes.loop_assign))
        for k, leaf in enumerate(leaves[1:]):
            if (k == 0 and i == 0) or rng.random() < 0.4:
                assign = entered | _some(rng, readable, 0.1)
                draft.go(here, entries[b + 1], outputs.next(False), leaf, assign)
            elif rng.random() < tastes.back / (1 + tastes.against(leaf)):
                # an earlier loop, or this one again: whatever is read there was stored before
                target = rng.choice([*entries[: b + 1], *places])
                draft.go(here, target, outputs.next(True), leaf, _some(rng, readable, tastes.loop_assign))
            elif rng.random() < 0.3:
                draft.go(here, "end", outputs.next(False), leaf)


def _some(rng: random.Random, names: Sequence[str], share: float) -> set[str]:
    """One of the names with this probability, rarely two."""
    if rng.random() >= share:
        return set()
    return {rng.choice(names) for _ in range(rng.choice((1, 1, 1, 2)))}


def _tail(rng: random.Random, draft: Draft, tastes: Tastes, readable: list[str]) -> None:
    """One or two states behind the loops, with guards on two variables: orders that only come late."""
    length = rng.choice((0, 1, 1, 2))
    places = [f"t{i}" for i in range(length)] + ["end"] if length else ["t0"]
    draft.state("t0")
    for here, after in pairwise(places):
        draft.state(here)
        outputs = Outputs(rng, tastes)
        for leaf in tree(rng, readable, 2):
            if rng.random() < 0.6:
                draft.go(here, after, outputs.next(False), leaf, _some(rng, readable, 0.15))


def _free(rng: random.Random, names: list[str], size: int) -> Automaton:
    """A prefix, then states whose transitions go anywhere behind the prefix."""
    tastes, draft = Tastes.draw(rng), Draft(rng)
    draft.state("end")
    places = [f"s{i}" for i in range(size)]
    initial = _prefix(rng, draft, names, tastes, places[0])
    for i, here in enumerate(places):
        draft.state(here, is_input=rng.random() >= tastes.non_input)
        outputs = Outputs(rng, tastes)
        leaves = tree(rng, names, rng.choice((1, 1, 2, 2))) if draft.states[here].is_input else [TRUE]
        for leaf in leaves:
            if len(leaves) > 1 and rng.random() < 0.25:
                continue
            forward = [*places[i + 1 :], "end"]
            back = rng.random() < 0.45 / (1 + 2 * tastes.against(leaf))
            target = rng.choice(places[: i + 1]) if back else rng.choice(forward[:2])
            cyclic = target in places[: i + 1]
            assign = _some(rng, names, tastes.loop_assign if cyclic else 0.15)
            draft.go(here, target, outputs.next(cyclic), leaf, assign)
    return draft.finish(initial)


# Shapes


Step = tuple[str, str, str, str, str]
"""Source, target, variables in ``ge``, in ``lt``, assigned; names are single letters."""


def _leakp() -> list[Step]:
    """The paper's ``A_leakp``: the pair closes after both loops."""
    return [("a", "a", "x", "", ""), ("a", "b", "", "x", ""),
            ("b", "b", "", "y", ""), ("b", "c", "y", "x", "")]  # fmt: skip


def _leakp_apart() -> list[Step]:
    """As ``A_leakp``, with the order closed two steps after the loops, through samples never stored."""
    return [("a", "a", "x", "", ""), ("a", "b", "", "x", ""), ("b", "b", "", "y", ""),
            ("b", "c", "y", "", ""), ("c", "d", "z", "x", ""), ("d", "e", "y", "z", "")]  # fmt: skip


def _chain_overwritten() -> list[Step]:
    """The link ``z`` of the chain is stored anew in the second loop, which spoils the chain."""
    return [("a", "a", "", "x", ""), ("a", "b", "x", "z", ""), ("b", "b", "y", "", "z"),
            ("b", "c", "", "y", ""), ("c", "d", "z", "y", "")]  # fmt: skip


def _chain_kept() -> list[Step]:
    """The chain goes through a variable that is overwritten only after it has done its work."""
    return [("a", "a", "", "x", ""), ("a", "b", "x", "", "z"), ("b", "c", "z", "y", ""),
            ("c", "c", "y", "", "z"), ("c", "d", "", "y", "")]  # fmt: skip


def _open_cycle() -> list[Step]:
    """The edge that would make the pair lies on a way round that assigns what it uses."""
    return [("a", "b", "", "x", ""), ("a", "c", "x", "", ""), ("b", "a", "y", "", "x"),
            ("c", "c", "y", "", ""), ("c", "d", "x", "y", "")]  # fmt: skip


def _grows_for_ever() -> list[Step]:
    """A record is broken again and again: a leaking cycle from the first round."""
    return [("a", "a", "x", "", "x"), ("a", "b", "", "x", "")]


def _two_step_record() -> list[Step]:
    """Use and assignment in different states of the loop, with a ceiling."""
    return [("a", "b", "x", "y", ""), ("b", "a", "x", "y", "x"), ("b", "c", "y", "", "")]


def _once_only() -> list[Step]:
    """Feasible for one round: ``x`` below ``y`` is asked for, then ``x`` is stored above ``y``."""
    return [("a", "b", "x", "y", ""), ("b", "a", "y", "", "x"), ("b", "c", "", "y", "")]


def _twice_only() -> list[Step]:
    """Feasible for two rounds: ``z`` carries the order of ``y`` to ``x`` with a delay of one."""
    return [("a", "b", "x", "y", ""), ("b", "c", "z", "", "x"), ("c", "a", "y", "", "z")]


def _delayed() -> list[Step]:
    """As before without the contradiction: the order settles after a few rounds."""
    return [("a", "b", "x", "", ""), ("b", "c", "z", "", "x"), ("c", "a", "y", "", "z")]


def _fresh_threshold() -> list[Step]:
    """A threshold is drawn anew whenever it was passed."""
    return [("a", "a", "x", "", ""), ("a", "b", "", "x", ""), ("b", "a", "", "", "x")]


def _same_loop_twice() -> list[Step]:
    """Two rounds of one loop are the pair once the two thresholds are ordered."""
    return [("a", "b", "", "x", ""), ("b", "a", "y", "", ""),
            ("b", "c", "", "y", ""), ("c", "d", "x", "y", "")]  # fmt: skip


def _both_ways() -> list[Step]:
    """Two branches of a loop, one below and one above a threshold."""
    return [("a", "b", "x", "", ""), ("b", "a", "", "", ""), ("a", "c", "", "x", ""),
            ("c", "a", "", "y", "")]  # fmt: skip


def _swap() -> list[Step]:
    """Two thresholds are stored in turn, between and outside each other."""
    return [("a", "b", "x", "", "y"), ("b", "a", "y", "", "x"), ("b", "c", "", "y", "")]


def _two_ways_round() -> list[Step]:
    """Of two ways round a loop one overwrites what the loop uses; the order is the same after both."""
    return [("a", "b", "x", "", "y"), ("b", "c", "x", "", "y"), ("b", "c", "", "x", ""),
            ("c", "b", "", "y", ""), ("c", "d", "y", "", ""), ("d", "d", "y", "", "")]  # fmt: skip


SHAPES: list[tuple[int, Callable[[], list[Step]]]] = [
    (2, _leakp), (3, _leakp_apart), (3, _chain_overwritten), (3, _chain_kept), (2, _open_cycle),
    (1, _grows_for_ever), (2, _two_step_record), (2, _once_only), (3, _twice_only), (3, _delayed),
    (1, _fresh_threshold), (2, _same_loop_twice), (2, _both_ways), (2, _swap),
    (2, _two_ways_round),
]  # fmt: skip


def shape(make: Callable[[], list[Step]], rng: random.Random | None = None) -> Automaton:
    """A shape as it stands, behind non-input states that store its variables."""
    steps = make()
    names = [x for x in NAMES if any(x in "".join(step[2:]) for step in steps)]
    rng = rng or random.Random(0)
    draft = Draft(rng)
    for i, x in enumerate(names):
        draft.state(f"p{i}", is_input=False)
        draft.go(f"p{i}", f"p{i + 1}" if i + 1 < len(names) else "a", symbol("o"), TRUE, {x})
    _body(draft, steps, [symbol(f"o{i}") for i in range(len(steps))])
    return draft.finish("p0")


def _body(draft: Draft, steps: list[Step], outputs: list[Output]) -> None:
    for step, output in zip(steps, outputs, strict=True):
        for name in step[:2]:
            if name not in draft.states:
                draft.state(name)
        source, target, ge, lt, assign = step
        draft.go(source, target, output, Guard(frozenset(ge), frozenset(lt)), assign)


def _shaped(rng: random.Random, n: int, make: Callable[[], list[Step]]) -> Automaton:
    """A shape behind a random prefix, with a few changes; a change that makes it invalid is not made."""
    tastes, draft, steps = Tastes.draw(rng), Draft(rng), make()
    letters = {x for step in steps for x in "".join(step[2:])}
    names = (
        sorted(letters, key=NAMES.index) + [x for x in NAMES if x not in letters][: max(0, n - len(letters))]
    )
    rng.shuffle(names)
    for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
        changed = _changed(rng, steps, names)
        steps = changed if _deterministic(changed) else steps
    rng.shuffle(steps)
    draft.state("end")
    initial = _prefix(rng, draft, names, tastes, "a")
    handed: dict[str, Outputs] = {}
    outputs = [
        handed.setdefault(step[0], Outputs(rng, tastes)).next(cyclic=step[1] <= step[0]) for step in steps
    ]
    _body(draft, steps, outputs)
    automaton = draft.finish(initial)
    return replace(automaton, states=tuple(_maybe_silent(rng, automaton, s) for s in automaton.states))


def _changed(rng: random.Random, steps: list[Step], names: list[str]) -> list[Step]:
    """One atom turned round, added or dropped, one assignment added or dropped, or one target moved."""
    k = rng.randrange(len(steps))
    source, target, ge, lt, assign = steps[k]
    x = rng.choice(names)
    match rng.randrange(5):
        case 0:
            ge, lt = lt, ge
        case 1:
            ge, lt = (ge, lt) if x in ge + lt else rng.choice(((ge + x, lt), (ge, lt + x)))
        case 2:
            ge, lt = ge.replace(x, ""), lt.replace(x, "")
        case 3:
            assign = assign.replace(x, "") if x in assign else assign + x
        case 4:
            target = rng.choice(sorted({q for step in steps for q in step[:2]}))
    return [*steps[:k], (source, target, ge, lt, assign), *steps[k + 1 :]]


def _deterministic(steps: list[Step]) -> bool:
    """Whether any two steps from one state have an opposite atom."""
    return all(
        set(s[2]) & set(t[3]) or set(s[3]) & set(t[2])
        for i, s in enumerate(steps)
        for t in steps[:i]
        if s[0] == t[0]
    )


def _maybe_silent(rng: random.Random, automaton: Automaton, state: State) -> State:
    """The state, sometimes as a non-input one if its transition allows that."""
    leaving = [t for t in automaton.transitions if t.source == state.name]
    if len(leaving) == 1 and leaving[0].guard.is_true and rng.random() < 0.4:
        return replace(state, is_input=False)
    return state


def random_product(
    rng: random.Random, variables: int | Sequence[int] = (1, 2), states: int | Sequence[int] = (2, 3)
) -> Automaton:
    """Two random automata taking turns: valid, with variables in components that share no transition.

    A state is a pair of states and whose turn it is; whether the turn passes is drawn for every step of
    the product. ``variables`` and ``states`` are those of each part.
    """
    parts = [_tagged(random_automaton(rng, variables, states), tag) for tag in "ab"]
    start = (parts[0].initial, parts[1].initial, 0)
    seen, work = {start: None}, [start]
    states_found: list[State] = []
    transitions: list[Transition] = []
    while work:
        here = work.pop()
        turn = here[2]
        part = parts[turn]
        name = _joined(here)
        states_found.append(replace(part.state(here[turn]), name=name))
        for t in part.outgoing[part.index[here[turn]]]:
            moved = part.transitions[t]
            there = (
                (moved.target, here[1], turn ^ (rng.random() < 0.7))
                if turn == 0
                else (here[0], moved.target, turn ^ (rng.random() < 0.7))
            )
            if there not in seen:
                seen[there] = None
                work.append(there)
            transitions.append(replace(moved, source=name, target=_joined(there)))
    return Automaton(tuple(states_found), _joined(start), tuple(transitions), variables_of(transitions))


def _joined(place: tuple[str, str, int]) -> str:
    return f"{place[0]}_{place[1]}_{int(place[2])}"


def _tagged(automaton: Automaton, tag: str) -> Automaton:
    """The automaton with ``tag`` before every name of a state and of a variable."""

    def names(variables: Iterable[str]) -> frozenset[str]:
        return frozenset(tag + x for x in variables)

    return Automaton(
        tuple(replace(state, name=tag + state.name) for state in automaton.states),
        tag + automaton.initial,
        tuple(
            replace(
                t,
                source=tag + t.source,
                target=tag + t.target,
                guard=Guard(names(t.guard.ge), names(t.guard.lt)),
                assign=names(t.assign),
            )
            for t in automaton.transitions
        ),
        tuple(tag + x for x in automaton.variables),
    )
