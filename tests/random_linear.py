"""Random valid automata of the wider model, to be judged by ``linear_judge``.

Every automaton is valid by construction: the guards of one state are the leaves of a decision tree (any two
have a comparison and its negation), each of them can hold, and variables are set before anything else
happens. Each feature has a probability of its own (:class:`Tastes`), drawn anew for every automaton, so that
there are calm ones with one feature and wild ones with many. Three kinds are mixed: a prefix that sets the
variables with loops in a row behind it, the same with states whose branches go anywhere, and known mechanisms
(``linear_examples``) with some changes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import linear_examples as known
from linear_runs import Unfolding, compared, is_feasible

from symdipa.model.automaton import (
    INSAMPLE,
    INSAMPLE_PRIME,
    Atom,
    Automaton,
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

SAMPLE = "insample"
SCALES = tuple(Fraction(n, 4) for n in (1, 1, 2, 2, 3, 4))
MEANS = tuple(Fraction(n, 2) for n in (0, 0, 0, 2, 4, -1))
NUMBERS = tuple(map(Fraction, (-2, -1, 0, 0, 1, 2, 3, 5)))


@dataclass
class Tastes:
    """How likely each feature is where it could be used."""

    constant: float
    offset: float
    mirror: float
    copy: float
    silent: float
    read: float
    non_input: float
    release: float
    gap: float
    raw: float
    second: float
    bare: float
    exponential: float
    noiseless: float
    loop_assign: float
    back: float
    integer: bool
    same: bool
    sides: dict[str, bool]

    @classmethod
    def draw(cls, rng: random.Random) -> Tastes:
        def some(*shares: float) -> float:
            return rng.choice((0.0, 0.0, *shares))

        return cls(
            constant=some(0.0, 0.15, 0.4),
            offset=some(0.0, 0.15, 0.3),
            mirror=some(0.15, 0.3),
            copy=some(0.0, 0.1, 0.3),
            silent=some(0.15, 0.3),
            read=some(0.0, 0.25),
            non_input=some(0.2, 0.4),
            release=some(0.0, 0.1, 0.3),
            gap=some(0.0, 0.1, 0.3),
            raw=some(0.0, 0.1),
            second=some(0.0, 0.1),
            bare=some(0.3),
            exponential=some(0.0, 0.3, 1.0),
            noiseless=some(0.0, 0.2),
            loop_assign=some(0.0, 0.1, 0.3),
            back=rng.choice((0.2, 0.35, 0.5)),
            integer=rng.random() < 0.2,
            same=rng.random() < 0.1,
            sides={x: rng.random() < 0.5 for x in "xyz"},
        )


@dataclass
class Draft:
    """An automaton under construction."""

    rng: random.Random
    tastes: Tastes
    states: dict[str, State] = field(default_factory=dict)
    steps: list[Transition] = field(default_factory=list)
    fresh: int = 0

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def state(self, name: str, is_input: bool, draws: bool = True) -> State:
        rng, noise, second = self.rng, Noise.LAPLACE, Noise.LAPLACE
        if self.chance(self.tastes.exponential):
            noise = Noise.EXPONENTIAL
        if self.chance(self.tastes.exponential / 2):
            second = Noise.EXPONENTIAL
        if self.chance(self.tastes.noiseless):
            noise = Noise.NONE
        means = [Fraction(round(m)) for m in MEANS] if self.tastes.integer else MEANS
        d = rng.choice(SCALES) if noise is not Noise.NONE else None
        made = State(
            name, is_input, d, rng.choice(means), rng.choice(SCALES), rng.choice(means), noise, second
        )
        self.states[name] = made if draws else State(name, is_input, draws=False)
        return self.states[name]

    def random_state(self, name: str) -> State:
        kind = self.rng.random()
        if kind < self.tastes.silent:
            return self.state(name, False, draws=False)
        if kind < self.tastes.silent + self.tastes.read:
            return self.state(name, True, draws=False)
        return self.state(name, not self.chance(self.tastes.non_input))

    def finish(self, initial: str) -> Automaton:
        """The reachable part; states without transitions are terminal."""
        reached = [initial]
        for name in reached:
            reached += sorted({t.target for t in self.steps if t.source == name} - set(reached))
        sources = {t.source for t in self.steps}
        shown = {t.source for t in self.steps if t.output.shows_second}
        states = []
        for name in reached:
            state = self.states[name] if name in sources else State(name)
            if name not in shown:
                state = replace(state, d_prime=None, mu_prime=Fraction(0), noise_prime=Noise.LAPLACE)
            states.append(state)
        steps = tuple(t for name in reached for t in self.steps if t.source == name)
        return Automaton(tuple(states), initial, steps, variables_of(steps), integer=self.tastes.integer)

    # guards

    def number(self) -> Fraction:
        return self.rng.choice(NUMBERS)

    def compare(self, state: State, readable: Sequence[str]) -> Atom | None:
        """A random comparison; most are of ``insample`` with a variable."""
        rng, tastes = self.rng, self.tastes
        if state.draws and not self.chance(0.1):
            first = Term(SAMPLE)
            others = list(readable)
        else:
            if not readable:
                return None
            first = Term(rng.choice(list(readable)))
            others = [x for x in readable if x != first.name]
        if not others or self.chance(tastes.constant):
            second = Term(None, self.number())
        else:
            second = Term(rng.choice(others))
            if self.chance(tastes.mirror):
                second = second.negative
            if self.chance(tastes.offset):
                second = second.plus(rng.choice((Fraction(-1), Fraction(1), Fraction(3))))
        low, high = (first, second) if self.chance(0.5) else (second, first)
        strict = self.chance(0.5) if tastes.integer else high.name != SAMPLE
        return atom(low, high, strict)

    def leaves(self, state: State, readable: Sequence[str], depth: int) -> list[frozenset[Atom]]:
        """The leaves of a decision tree that can be reached."""
        found = [frozenset[Atom]()]
        for _ in range(depth):
            parts = []
            for leaf in found:
                each = self.compare(state, readable)
                if each is None or (leaf and self.chance(0.3)):
                    parts.append(leaf)
                    continue
                sides = [leaf | {each}, leaf | {each.negation}]
                parts += [side for side in sides if can_hold(side, self.tastes.integer)]
            found = parts
        return found

    def against(self, leaf: Iterable[Atom]) -> int:
        """How many comparisons of ``insample`` are on the side that loops had better avoid."""
        count = 0
        for each in leaf:
            names = each.names - {SAMPLE}
            if SAMPLE in each.names:
                above = each.high.name == SAMPLE and not each.high.mirrored
                count += any(self.tastes.sides.get(x, True) != above for x in names) or (
                    not names and self.chance(0.5)
                )
        return count

    # what branches do

    def assignments(
        self, state: State, names: Sequence[str], share: float
    ) -> tuple[frozenset[str], tuple[tuple[str, str | Fraction], ...]]:
        rng = self.rng
        stored, copies = frozenset[str](), dict[str, str | Fraction]()
        if state.draws and self.chance(share):
            stored = frozenset({rng.choice(names)})
        if self.chance(self.tastes.copy):
            for _ in range(rng.choice((1, 1, 2))):
                x = rng.choice(names)
                others = [y for y in names if y != x]
                if x not in stored and others:
                    copies[x] = self.number() if self.chance(0.3) else rng.choice(others)
        return stored, tuple(copies.items())

    def outputs(self, state: State, names: Sequence[str], count: int, cyclic: bool) -> list[Output]:
        """Outputs of so many branches, which are told apart by them."""
        found: list[Output] = []
        had_bare = False
        for _ in range(count):
            self.fresh += 1
            name = symbol("o" if self.tastes.same else f"o{self.fresh}")
            items = self._numbers(state, names, cyclic)
            if items and not had_bare and self.chance(self.tastes.bare):
                had_bare = True
                found.append(items[0] if len(items) == 1 else several(*items))
            else:
                found.append(several(name, *items) if items else name)
        return found

    def _numbers(self, state: State, names: Sequence[str], cyclic: bool) -> list[Output]:
        rng, tastes = self.rng, self.tastes
        rarer = 0.5 if cyclic else 1.0
        items = []
        if names and self.chance(tastes.release * rarer):
            items.append(value(rng.choice(names)))
        if self.chance(tastes.gap):
            ends = [*names, SAMPLE] if state.draws else list(names)
            if len(ends) > 1:
                items.append(difference(*rng.sample(ends, 2)))
        if state.draws and self.chance(tastes.raw * rarer):
            items.append(INSAMPLE)
        if state.draws and self.chance(tastes.second * rarer):
            items.append(INSAMPLE_PRIME)
        return items

    def go(
        self,
        source: str,
        target: str,
        output: Output,
        leaf: Iterable[Atom] = (),
        stored: Iterable[str] = (),
        copies: Iterable[tuple[str, str | Fraction]] = (),
    ) -> None:
        guard = guarded(leaf, self.tastes.integer)
        self.steps.append(Transition(source, target, output, guard, frozenset(stored), tuple(copies)))


def can_hold(leaf: Iterable[Atom], integer: bool = False) -> bool:
    """Whether a conjunction holds with positive probability for some values of its variables."""
    atoms = list(leaf)
    names = sorted({name for each in atoms for name in each.names})
    place = {name: i for i, name in enumerate(names)}
    system = Unfolding([State(name) for name in names], integer)
    system.inequalities = [compared(a.low, a.high, a.strict, place.__getitem__) for a in atoms]
    return is_feasible(system)


def random_linear(
    rng: random.Random,
    variables: int | Sequence[int] = (1, 1, 2, 2, 3),
    states: int | Sequence[int] = (1, 2, 2, 3, 4),
) -> Automaton:
    """A valid random automaton with so many variables and so many states behind the prefix (or choices)."""
    n = variables if isinstance(variables, int) else rng.choice(variables)
    size = states if isinstance(states, int) else rng.choice(states)
    kind = rng.random()
    if kind < 0.2:
        return changed(rng, rng.choice(SHAPES)(rng))
    draft = Draft(rng, Tastes.draw(rng))
    names = list("xyz"[:n])
    draft.states["end"] = State("end")
    places = [f"q{i}" for i in range(size)]
    initial = _prefix(draft, names, places[0])
    if kind < 0.6:
        _loops(draft, names, places)
    else:
        _anywhere(draft, names, places)
    return draft.finish(initial)


def _prefix(draft: Draft, names: Sequence[str], then: str) -> str:
    """States that set the names one after another; the name of the first."""
    rng = draft.rng
    places = [f"p{i}" for i in range(len(names))] + [then]
    for i, x in enumerate(names):
        here, after, before = places[i], places[i + 1], names[:i]
        if i and draft.chance(draft.tastes.copy):
            state = draft.state(here, False, draws=False)
            copied = draft.number() if draft.chance(0.3) else rng.choice(before)
            (output,) = draft.outputs(state, before, 1, False)
            draft.go(here, after, output, copies=[(x, copied)])
            continue
        state = draft.state(here, is_input=draft.chance(0.4))
        leaves = draft.leaves(state, before, 1) if draft.chance(0.3) else [frozenset[Atom]()]
        kept = rng.randrange(len(leaves))
        for k, (leaf, output) in enumerate(
            zip(leaves, draft.outputs(state, before, len(leaves), False), strict=True)
        ):
            if k == kept or draft.chance(0.4):
                draft.go(here, after, output, leaf, stored={x})
            elif draft.chance(0.3):
                draft.go(here, "end", output, leaf)
    return places[0]


def _loops(draft: Draft, names: Sequence[str], places: Sequence[str]) -> None:
    """Each place loops on the branch that is best for privacy, and goes on with others."""
    for i, here in enumerate(places):
        after = places[i + 1] if i + 1 < len(places) else "end"
        state = draft.random_state(here)
        leaves = draft.leaves(state, names, draft.rng.choice((1, 1, 2)))
        draft.rng.shuffle(leaves)
        leaves.sort(key=draft.against)
        loops = len(leaves) > 1 and draft.chance(0.7)
        outputs = draft.outputs(state, names, len(leaves), loops)
        for k, (leaf, output) in enumerate(zip(leaves, outputs, strict=True)):
            cyclic = loops and k == 0
            share = draft.tastes.loop_assign if cyclic else 0.15
            stored, copies = draft.assignments(state, names, share)
            if cyclic:
                draft.go(here, here, output, leaf, stored, copies)
            elif k <= 1 or draft.chance(0.5):
                back = draft.chance(draft.tastes.back / 3)
                target = draft.rng.choice(places[: i + 1]) if back else after
                draft.go(here, target, output, leaf, stored, copies)


def _anywhere(draft: Draft, names: Sequence[str], places: Sequence[str]) -> None:
    """Branches go to any place."""
    for i, here in enumerate(places):
        state = draft.random_state(here)
        leaves = draft.leaves(state, names, draft.rng.choice((0, 1, 1, 2)))
        outputs = draft.outputs(state, names, len(leaves), True)
        for leaf, output in zip(leaves, outputs, strict=True):
            if len(leaves) > 1 and draft.chance(0.2):
                continue
            back = draft.chance(draft.tastes.back / (1 + 2 * draft.against(leaf)))
            forward = [*places[i + 1 :], "end"][:2]
            target = draft.rng.choice(places[: i + 1]) if back else draft.rng.choice(forward)
            share = draft.tastes.loop_assign if back else 0.15
            draft.go(here, target, output, leaf, *draft.assignments(state, names, share))


# Known mechanisms with changes

Shape = Callable[[random.Random], Automaton]


def _any_svt(rng: random.Random) -> Automaton:
    noise = rng.choice((Noise.LAPLACE, Noise.LAPLACE, Noise.EXPONENTIAL))
    cutoff = rng.choice((1, 1, 2, None))
    return known.svt(cutoff, rng.choice(SCALES), rng.choice(SCALES), rng.random() < 0.5, noise)


SHAPES: tuple[Shape, ...] = (
    _any_svt,
    _any_svt,
    lambda rng: known.absolute(rng.choice((1, 2)), rng.choice(SCALES), rng.choice(SCALES)),
    lambda rng: known.noisy_max(2, rng.choice(SCALES), rng.choice(tuple(Noise)[:2]), rng.random() < 0.5),
    lambda rng: known.sorted_range(),
    lambda rng: known.last_two(),
    lambda rng: known.released_threshold(),
    lambda rng: known.adaptive(),
    lambda rng: known.two_tests(),
    lambda rng: known.record(),
    lambda rng: known.harmless_cycle(),
)


def changed(rng: random.Random, automaton: Automaton, most: int = 3) -> Automaton:
    """The automaton after a few random changes that keep it valid."""
    for _ in range(rng.randrange(most + 1)):
        automaton = rng.choice(CHANGES)(rng, automaton)
    return automaton


def _other_state(rng: random.Random, automaton: Automaton) -> Automaton:
    """A state with other noise, or that reads no entry."""
    sources = {t.source for t in automaton.transitions}
    i = rng.choice([i for i, s in enumerate(automaton.states) if s.name in sources])
    state = automaton.states[i]
    if not state.draws:
        return automaton
    noise = rng.choice((*Noise, Noise.LAPLACE, Noise.LAPLACE, Noise.EXPONENTIAL))
    d = None if noise is Noise.NONE else rng.choice(SCALES)
    is_input = state.is_input if rng.random() < 0.7 else not state.is_input
    states = list(automaton.states)
    states[i] = replace(state, noise=noise, d=d, is_input=is_input)
    return replace(automaton, states=tuple(states))


def _other_comparison(rng: random.Random, automaton: Automaton) -> Automaton:
    """A comparison of a state, and its negation, replaced by another: an offset, or a mirror image."""
    choices = [(t.source, a) for t in automaton.transitions for a in sorted(t.guard.atoms, key=str)]
    if not choices:
        return automaton
    source, old = rng.choice(choices)
    number = Fraction(rng.choice((-1, 1, 2)))
    high = old.high.plus(number) if rng.random() < 0.5 else old.high.negative
    new = atom(old.low, high, old.strict)
    if new.low.name == new.high.name:
        return automaton
    steps = []
    for t in automaton.transitions:
        atoms = set(t.guard.atoms)
        if t.source == source:
            atoms = {new if a == old else new.negation if a == old.negation else a for a in atoms}
        if not can_hold(atoms, automaton.integer):
            return automaton
        steps.append(replace(t, guard=guarded(atoms, automaton.integer)))
    return replace(automaton, transitions=tuple(steps))


def _other_target(rng: random.Random, automaton: Automaton) -> Automaton:
    """A branch that goes back to where it comes from, or copies, if a variable is there."""
    i = rng.randrange(len(automaton.transitions))
    t = automaton.transitions[i]
    steps = list(automaton.transitions)
    if rng.random() < 0.5 and set(automaton.variables) <= _surely_set(automaton, t.source):
        steps[i] = replace(t, target=t.source)
    elif automaton.variables and set(automaton.variables) <= _surely_set(automaton, t.source):
        x = rng.choice(automaton.variables)
        if x not in t.assigned:
            others = [y for y in automaton.variables if y != x]
            copied: str | Fraction = rng.choice((*others, Fraction(1)))
            steps[i] = replace(t, copies=(*t.copies, (x, copied)))
    kept = _reached(automaton.initial, steps)
    return replace(
        automaton,
        states=tuple(s for s in automaton.states if s.name in kept),
        transitions=tuple(t for t in steps if t.source in kept),
        variables=variables_of(t for t in steps if t.source in kept),
    )


def _surely_set(automaton: Automaton, goal: str) -> set[str]:
    """The variables that every path to a state sets."""
    after: dict[str, set[str]] = {automaton.initial: set()}
    changing = True
    while changing:
        changing = False
        for t in automaton.transitions:
            if t.source in after:
                new = after[t.source] | t.assigned
                old = after.get(t.target)
                met = new if old is None else old & new
                if met != old:
                    after[t.target], changing = met, True
    return after.get(goal, set())


def _reached(initial: str, steps: Iterable[Transition]) -> set[str]:
    found, todo = {initial}, [initial]
    steps = list(steps)
    while todo:
        here = todo.pop()
        new = {t.target for t in steps if t.source == here} - found
        found |= new
        todo.extend(sorted(new))
    return found


CHANGES = (_other_state, _other_state, _other_comparison, _other_target)
