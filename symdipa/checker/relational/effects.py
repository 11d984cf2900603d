"""What the steps of an automaton, plain or not, do and show, as the rules about pairs of runs see it."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import compress, product
from math import ceil, floor
from typing import NamedTuple

from symdipa.checker.claims import Inputs
from symdipa.checker.model import Model
from symdipa.checker.rules import refuse, shown
from symdipa.checker.wider import model as wider
from symdipa.checker.wider.order import SAMPLE, Comparison, Order, Place, Value
from symdipa.model.automaton import Noise, OutputKind

UNPROMPTED = "unprompted "
"""What the letters of steps that read no input begin with."""
STOP = "stop"
SHOWN_SAMPLE, SECOND_SAMPLE, NUMBER = SAMPLE, wider.SECOND, "number"
"""Real numbers in letters: the sample of a plain automaton, a second sample, any number of another one."""

MAX_VARIABLES = 12
"""The most variables that the guards of one state of a plain automaton may read."""
COMPARE_LESS = "let one step compare less, as a loop does that keeps the best value so far"
MAX_PIECES = 10_000
"""The most pieces of what the guards of a state leave out."""

Interval = tuple[Fraction, Fraction]

NOTHING = wider.NOTHING
OWN = Value(Place(SAMPLE), NOTHING)


@dataclass(frozen=True, eq=False, slots=True)
class Effect:
    """What a step does with values: its comparisons, what variables get, the differences that it shows."""

    guard: frozenset[Comparison]
    gets: tuple[tuple[str, Value], ...] = ()
    numbers: tuple[tuple[Value, Value], ...] = ()

    @property
    def content(self) -> Hashable:
        """The same for effects that are the same."""
        return self.guard, self.gets, self.numbers


class Drawn(NamedTuple):
    """How a state draws one of its samples; there is none of which nothing is said."""

    noise: Noise
    d: Fraction
    mu: Fraction

    def cost(
        self, apart: Fraction, differences: tuple[Fraction, Fraction], shift: Interval
    ) -> Fraction | None:
        """What shifts in a range cost at most, if the second copy's mean is larger by ``apart``; ``None``:
        for some difference none is allowed. The shift that costs nothing is ``apart`` minus the difference.
        """
        low, high = apart - differences[1], apart - differences[0]
        above, below = shift[0] - low, high - shift[1]
        if (below > 0 and self.noise is not Noise.LAPLACE) or (above > 0 and self.noise is Noise.NONE):
            return None
        return self.d * max(NOTHING, above, below)


class Drawing(NamedTuple):
    """What a state does before its transitions; it has a ``second`` sample if some of them shows it."""

    reads_input: bool
    sample: Drawn | None
    second: Drawn | None


@dataclass(frozen=True)
class Effects:
    """Steps are numbered as the transitions of the automaton; ``ends`` are their sources and targets.

    ``shows`` are their letters, without what says that no input was read, ``drawing`` are the states that
    have transitions.
    """

    initial: str
    variables: frozenset[str]
    leaving: dict[str, tuple[int, ...]]
    ends: tuple[tuple[str, str], ...]
    effects: tuple[Effect, ...]
    shows: tuple[str, ...]
    drawing: dict[str, Drawing]
    whole: wider.Model | None = None
    """The model of an automaton that is not plain."""

    @property
    def integer(self) -> bool:
        return self.whole is not None and self.whole.integer

    def differences(self, reads_input: bool, inputs: Inputs) -> Interval:
        low, high = inputs.differences(reads_input)
        return (Fraction(ceil(low)), Fraction(floor(high))) if self.integer else (low, high)

    @cached_property
    def real(self) -> dict[str, frozenset[str]]:
        """The kinds of real numbers that a letter shows (if any)."""
        return {
            text: frozenset(parts_of(text)) & {SHOWN_SAMPLE, SECOND_SAMPLE, NUMBER} for text in self.shows
        }

    def left_out(self, state: str) -> Iterator[Effect]:
        """What the guards of a state leave out, in pieces."""
        guards = [self.effects[t].guard for t in self.leaving[state]]
        if self.whole is None:
            yield from _left_out_of_plain(state, guards)
        else:
            yield from _left_out(self.whole, state)


def effects_of(model: Model | wider.Model) -> Effects:
    """What pairs of runs are about; an automaton that compares negatives is refused."""
    return _of_plain(model) if isinstance(model, Model) else _of_wider(model)


def parts_of(text: str) -> list[str]:
    """What a letter shows, one by one."""
    return [str(part) for part in json.loads(text)] if text.startswith("[") else [text]


# Plain automata


def _of_plain(model: Model) -> Effects:
    if SAMPLE in model.variables:
        refuse("model-name", "a variable has the name of a sample")
    drawing = {}
    for state, leaving in model.leaving.items():
        steps = [model.steps[t] for t in leaving]
        if steps:
            rates = steps[0].d, max(step.released for step in steps)
            sample, second = (
                Drawn(Noise.LAPLACE, d, mu) if d > 0 else None
                for d, mu in zip(rates, steps[0].means, strict=True)
            )
            drawing[state] = Drawing(steps[0].reads_input, sample, second)
    return Effects(
        initial=model.initial,
        variables=model.variables,
        leaving=model.leaving,
        ends=tuple((step.source, step.target) for step in model.steps),
        effects=tuple(
            Effect(_plain_guard(step.ge, step.lt), tuple((x, OWN) for x in sorted(step.assigned)))
            for step in model.steps
        ),
        shows=tuple(
            f"symbol {step.shows}"
            if step.shows is not None
            else (SHOWN_SAMPLE if step.shows_sample else SECOND_SAMPLE)
            for step in model.steps
        ),
        drawing=drawing,
    )


def _plain_guard(ge: frozenset[str], lt: frozenset[str]) -> frozenset[Comparison]:
    """Ties have probability 0, so all comparisons may as well be strict."""
    below = {Comparison(Place(x), OWN.place, NOTHING, True) for x in ge}
    return frozenset(below | {Comparison(OWN.place, Place(x), NOTHING, True) for x in lt})


def _left_out_of_plain(state: str, guards: list[frozenset[Comparison]]) -> Iterator[Effect]:
    """Every combination of sides of the variables under which no guard holds."""
    names = sorted({str(p.name) for guard in guards for c in guard for p in c[:2] if p != OWN.place})
    if len(names) > MAX_VARIABLES:
        refuse("limit", f"the guards of state {shown(state)} read more than {MAX_VARIABLES} variables")
    for sides in product((True, False), repeat=len(names)):
        ge = frozenset(compress(names, sides))
        region = _plain_guard(ge, frozenset(names) - ge)
        if not any(guard <= region for guard in guards):
            yield Effect(region)


# Others


def _of_wider(model: wider.Model) -> Effects:
    places = {p for step in model.steps for c in step.guard for p in c[:2]}
    if any(place.mirrored for place in places):
        refuse("kind", "pairs of runs are not about automata that compare negatives of values")
    drawing = {}
    for state, leaving in model.leaving.items():
        steps = [model.steps[t] for t in leaving]
        if steps:
            second = next((step.second for step in steps if step.second is not None), None)
            drawing[state] = Drawing(steps[0].reads_input, _drawn(steps[0].sample), _drawn(second))
    return Effects(
        initial=model.initial,
        variables=model.variables,
        leaving=model.leaving,
        ends=tuple((step.source, step.target) for step in model.steps),
        effects=tuple(
            Effect(frozenset(step.known), tuple(sorted(step.gets.items())), step.numbers)
            for step in model.steps
        ),
        shows=tuple(map(_shows, model.steps)),
        drawing=drawing,
        whole=model,
    )


def _drawn(sample: wider.Sample | None) -> Drawn | None:
    return None if sample is None else Drawn(sample.noise, sample.d, sample.mu)


def _shows(step: wider.Step) -> str:
    """A list is JSON, so that no two lists look alike."""
    second = OutputKind.INSAMPLE_PRIME
    parts = [
        f"symbol {symbol}" if symbol is not None else (SECOND_SAMPLE if kind is second else NUMBER)
        for symbol, kind in zip(step.shows, step.kinds, strict=True)
    ]
    return parts[0] if len(parts) == 1 else json.dumps(parts)


def _left_out(model: wider.Model, state: str) -> Iterator[Effect]:
    """Every combination of comparisons, one of each guard, that may all fail."""
    steps = [model.steps[t] for t in model.leaving[state]]
    pieces: list[tuple[Comparison, ...]] = [()]
    for step in steps:
        failing = [_negation(model, step, c) for c in step.guard]
        pieces = [(*piece, c) for piece in pieces for c in failing]
        pieces = [piece for piece in pieces if Order(model.integer, (*piece, *step.support)).is_possible]
        if len(pieces) > MAX_PIECES:
            cases = f"more than {MAX_PIECES:,} cases in which no branch of state {shown(state)} is taken"
            refuse("limit", f"there are {cases}; {COMPARE_LESS}")
    support = steps[0].support if steps else []
    for piece in pieces:
        yield Effect(frozenset((*piece, *support)))


def _negation(model: wider.Model, step: wider.Step, c: Comparison) -> Comparison:
    """What holds where a comparison fails; of a continuous sample, almost surely."""
    fresh = model.is_continuous(step.sample) and c.low != c.high and OWN.place in (c.low, c.high)
    return Comparison(c.high, c.low, -c.gap, fresh or not c.strict)
