"""An automaton as pairs of runs see it: what each step compares, stores and shows, with all numbers.

Runs are paired step by step, and what is known of their values are bounds on differences. That needs no core
(:mod:`symdipa.runs.control.core`): a step is a transition of the automaton itself, offsets, constants and
copies are what they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import NamedTuple

from symdipa.model.automaton import (
    Atom,
    Automaton,
    Noise,
    Output,
    OutputKind,
    State,
    Term,
    Transition,
    validated,
)
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.parts import SAMPLE as SAMPLE_NAME
from symdipa.runs.control import Slopes
from symdipa.runs.control.core import slopes
from symdipa.runs.graphs import component_numbers
from symdipa.runs.order import Mask, members

Place = int
"""The number of a variable, or one of the two that follow."""

SAMPLE: Place = -1
"""The sample of the step."""
ZERO: Place = -2
"""The number 0."""

Source = tuple[Place, Fraction]
"""What is in a place before the step, plus a constant."""

UNPROMPTED = "unprompted "
"""What the letters of steps without input begin with."""

SHOWN, SECOND, NUMBER = OutputKind.INSAMPLE.value, OutputKind.INSAMPLE_PRIME.value, "number"
"""Real numbers in letters: the sample of a plain automaton, the second one, any other number."""

REAL = frozenset({SHOWN, SECOND, NUMBER})

NIL = Fraction(0)

MIRRORED = "relational alignment compares no value with the negative of another one"


class Comparison(NamedTuple):
    """``low <= high + gap``, or ``<`` if it is strict."""

    low: Place
    high: Place
    gap: Fraction
    strict: bool

    def negation(self, continuous: bool) -> Comparison:
        """What holds where it does not; a ``continuous`` sample equals nothing else, almost surely."""
        never = continuous and self.low != self.high and SAMPLE in self[:2]
        return Comparison(self.high, self.low, -self.gap, never or not self.strict)


Guard = tuple[Comparison, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Action:
    """What a step does with values; those that do the same are one object.

    It stores its sample in ``asg``, and in the variables of ``copies`` what is named there. ``shown`` are the
    numbers that it shows, as differences of what was there before. ``used`` are the variables that are
    compared or shown. Actions that are ``alike`` compare and show the same.
    """

    guard: Guard
    asg: Mask
    copies: tuple[tuple[int, Source], ...]
    shown: tuple[tuple[Source, Source], ...]
    used: Mask
    alike: int

    @property
    def assigned(self) -> Mask:
        return self.asg | sum(1 << x for x, _ in self.copies)

    def stored(self, later: Mask) -> tuple[Mask, tuple[tuple[int, Source], ...]]:
        """What it stores, as far as the values ``later`` matter."""
        copies = tuple(copy for copy in self.copies if later >> copy[0] & 1) if self.copies else ()
        return self.asg & later, copies

    def before(self, later: Mask) -> Mask:
        """The variables on which the values ``later`` depend."""
        found = later & ~self.assigned
        for x, (place, _) in self.copies:
            if later >> x & 1 and place >= 0:
                found |= 1 << place
        return found

    def heirs(self) -> dict[int, int]:
        """The variables that are replaced, but copied before, with the first variable that gets the value."""
        found: dict[int, int] = {}
        for x, (place, _) in self.copies:
            if place >= 0 and self.assigned >> place & 1:
                found.setdefault(place, x)
        return found


@dataclass(frozen=True, eq=False)
class Actions:
    """The actions that were met."""

    _known: dict[tuple[object, ...], Action] = field(default_factory=dict)
    _kinds: dict[tuple[object, ...], int] = field(default_factory=dict)

    def of(
        self,
        guard: Iterable[Comparison],
        asg: Mask = 0,
        copies: Iterable[tuple[int, Source]] = (),
        shown: Iterable[tuple[Source, Source]] = (),
    ) -> Action:
        key = tuple(sorted(set(guard))), asg, tuple(sorted(copies)), tuple(shown)
        if key not in self._known:
            places = {place for c in key[0] for place in c[:2]}
            places |= {place for pair in key[3] for place, _ in pair}
            used = sum(1 << x for x in places if x >= 0)
            alike = self._kinds.setdefault((key[0], key[3]), len(self._kinds))
            self._known[key] = Action(*key, used, alike)
        return self._known[key]


class Drawing(NamedTuple):
    """How samples are drawn; ``None`` in place of slopes: there is none, or nothing is known of its noise."""

    reads_input: bool
    slopes: Slopes | None
    mu: Fraction
    second: Slopes | None
    mu_prime: Fraction


@dataclass(frozen=True, eq=False)
class Program:
    """Transitions and states are numbered as in the automaton; ``places`` are what messages call states,
    ``shows`` the letters of transitions.

    ``drawing[q]`` is ``None`` for a state without transitions; ``continuous[q]``: its sample has any given
    value with probability 0. ``integer``: all numbers are integers.
    """

    state_names: tuple[str, ...]
    places: tuple[str, ...]
    variable_names: tuple[str, ...]
    initial: int
    outgoing: tuple[tuple[int, ...], ...]
    target: tuple[int, ...]
    actions: tuple[Action, ...]
    shows: tuple[str, ...]
    drawing: tuple[Drawing | None, ...]
    continuous: tuple[bool, ...]
    integer: bool
    known: Actions

    @cached_property
    def live(self) -> tuple[Mask, ...]:
        """The variables whose values matter from a state on."""
        entering: list[list[tuple[int, int]]] = [[] for _ in self.state_names]
        live = [0] * len(self.state_names)
        for q, numbers in enumerate(self.outgoing):
            for t in numbers:
                entering[self.target[t]].append((q, t))
                live[q] |= self.actions[t].used
        work = [q for q, mask in enumerate(live) if mask]
        while work:
            q = work.pop()
            for p, t in entering[q]:
                grown = live[p] | self.actions[t].before(live[q])
                if grown != live[p]:
                    live[p] = grown
                    work.append(p)
        return tuple(live)

    @cached_property
    def has_loop(self) -> bool:
        arrows = [(q, self.target[t]) for q, numbers in enumerate(self.outgoing) for t in numbers]
        component = component_numbers(len(self.state_names), arrows)
        return any(component[q] == component[p] for q, p in arrows)

    @cached_property
    def unit(self) -> int:
        """The common denominator of all numbers that are added to samples, or compared."""
        drawings = [drawing for drawing in self.drawing if drawing is not None]
        means = [mean for drawing in drawings for mean in (drawing.mu, drawing.mu_prime)]
        return lcm(*(number.denominator for number in (*means, *self.gaps)))

    @cached_property
    def gaps(self) -> frozenset[Fraction]:
        """The constants that are compared, stored or shown, and the offsets of comparisons."""
        found = {c.gap for action in self.actions for c in action.guard}
        found |= {plus for action in self.actions for _, (_, plus) in action.copies}
        found |= {plus for action in self.actions for pair in action.shown for _, plus in pair}
        return frozenset(found)

    @cached_property
    def has_zero(self) -> bool:
        """Whether some value is compared with a constant, or is one."""
        return any(ZERO in {*c[:2]} for action in self.actions for c in action.guard) or any(
            place == ZERO for action in self.actions for _, (place, _) in action.copies
        )

    @cached_property
    def is_anchored(self) -> bool:
        """Whether some shift has to be 0: values are shown, or compared with constants."""
        return self.has_zero or any(action.shown for action in self.actions)


def program_of(automaton: Automaton) -> Program:
    """The program of an automaton.

    Raises :class:`symdipa.model.errors.InvalidInput` for one that breaks the rules of the model, and
    :class:`symdipa.model.errors.LimitReached` where it compares the negative of a value with another one.
    """
    validated(automaton)
    compiler = _Compiler(automaton)
    transitions = automaton.transitions
    actions = tuple(map(compiler.action, transitions))
    drawings = {state.name: _drawing(state) for state in automaton.states}
    return Program(
        state_names=tuple(state.name for state in automaton.states),
        places=tuple(automaton.where(state.name) for state in automaton.states),
        variable_names=automaton.variables,
        initial=automaton.index[automaton.initial],
        outgoing=automaton.outgoing,
        target=tuple(automaton.index[t.target] for t in transitions),
        actions=actions,
        shows=tuple(map(compiler.shows, transitions)),
        drawing=tuple(
            drawings[state.name] if automaton.outgoing[q] else None
            for q, state in enumerate(automaton.states)
        ),
        continuous=tuple(map(compiler.is_continuous, automaton.states)),
        integer=automaton.integer,
        known=compiler.known,
    )


class _Compiler:
    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.plain = automaton.is_plain and not automaton.integer
        self.known = Actions()

    def is_continuous(self, state: State) -> bool:
        return state.draws and state.noise is not Noise.NONE and not self.automaton.integer

    def action(self, t: Transition) -> Action:
        state = self.automaton.state(t.source)
        number = self.automaton.variable_index
        sample: Source = (ZERO, state.mu) if _is_constant(state) else (SAMPLE, NIL)
        continuous = self.is_continuous(state)

        def source(term: Term) -> Source:
            if term.mirrored:
                raise LimitReached(Limit.METHOD, MIRRORED)
            if term.name is None:
                return ZERO, term.offset
            place, plus = sample if term.name == SAMPLE_NAME else (number[term.name], NIL)
            return place, plus + term.offset

        def compared(each: Atom) -> Comparison:
            (low, plus), (high, more) = source(each.low), source(each.high)
            strict = each.strict or (continuous and SAMPLE in (low, high) and low != high)
            return Comparison(low, high, more - plus, strict)

        copies = {number[x]: (number[y], NIL) if isinstance(y, str) else (ZERO, y) for x, y in t.copies}
        stored = sum(1 << number[x] for x in t.assign)
        if sample[0] == ZERO:
            copies |= dict.fromkeys(members(stored), sample)
            stored = 0

        def after(name: str) -> Source:
            """What a name stands for in an output, where assignments have been made."""
            if name == SAMPLE_NAME or stored >> number[name] & 1:
                return sample
            return copies.get(number[name], (number[name], NIL))

        shown = [] if self.plain else [pair for part in t.output.parts for pair in _pairs(part)]
        return self.known.of(
            map(compared, t.guard.atoms),
            stored,
            copies.items(),
            [(after(one), (ZERO, NIL) if other is None else after(other)) for one, other in shown],
        )

    def shows(self, t: Transition) -> str:
        """The letter of a transition, without a remark."""
        prompted = self.automaton.state(t.source).is_input
        parts = list(map(self._shows, t.output.parts))
        return ("" if prompted else UNPROMPTED) + (parts[0] if len(parts) == 1 else json.dumps(parts))

    def _shows(self, part: Output) -> str:
        if part.symbol is not None:
            return f"symbol {part.symbol}"
        return part.kind.value if part.kind is OutputKind.INSAMPLE_PRIME or self.plain else NUMBER


def parts_of(shown: str) -> tuple[str, ...]:
    """What a letter (without what says that no input was read) shows, one by one."""
    return tuple(json.loads(shown)) if shown.startswith("[") else (shown,)


def _pairs(part: Output) -> Iterator[tuple[str, str | None]]:
    """The number that is shown as a difference (of a name and 0)."""
    match part.kind:
        case OutputKind.INSAMPLE:
            yield SAMPLE_NAME, None
        case OutputKind.VALUE:
            yield part.names[0], None
        case OutputKind.DIFFERENCE:
            yield part.names[0], part.names[1]


def _is_constant(state: State) -> bool:
    """Whether the sample of a state is its mean."""
    return state.draws and state.noise is Noise.NONE and not state.is_input


def _drawing(state: State) -> Drawing:
    tied = state.draws and not _is_constant(state)
    return Drawing(
        state.is_input,
        _known(state.noise, state.d) if tied else None,
        state.mu,
        _known(state.noise_prime, state.d_prime) if state.draws else None,
        state.mu_prime,
    )


def _known(noise: Noise, d: Fraction | None) -> Slopes | None:
    return slopes(noise, d) if d or noise is Noise.NONE else None
