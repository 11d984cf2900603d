"""A run of any automaton as a system: its samples, what they compare, and what they show.

Values that were copied are followed back to the sample that they are, or to a number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

from symdipa.model.automaton import Automaton, Noise, OutputKind, State, Term
from symdipa.model.parts import SAMPLE, SECOND_SAMPLE

Span = tuple[int, int]
"""A half-open range of positions of a run."""

Entries = tuple[tuple[int, Fraction], ...]
"""A sum of entries, as pairs of the step that reads one and its factor, which is not 0; by steps."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample that a step of a run draws around ``mean``, plus a sum of ``entries``: pairs of the step that
    read one, and its factor.

    ``d`` is its inverse noise scale (0: no noise). ``second``: the other sample of the step, which is only
    shown.
    """

    step: int
    noise: Noise
    d: Fraction
    mean: Fraction
    entries: Entries
    second: bool = False

    @property
    def reads_input(self) -> bool:
        """Whether its mean depends on inputs."""
        return bool(self.entries)

    def sum_of(self, values: Sequence[Fraction | int]) -> Fraction:
        """The sum of its entries, or of their differences, from those of all steps."""
        return sum((factor * values[step] for step, factor in self.entries), Fraction(0))


@dataclass(frozen=True, slots=True)
class Value:
    """A sample (by its number), or its negative if it is ``mirrored``, plus ``offset``; or that constant."""

    sample: int | None
    offset: Fraction = Fraction(0)
    mirrored: bool = False

    @property
    def sign(self) -> int:
        return -1 if self.mirrored else 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """``low <= high``, or ``low < high`` if it is ``strict``, asked at a step."""

    low: Value
    high: Value
    strict: bool
    step: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A number that a step shows, or a difference: less the ``subtrahend``, if there is one."""

    step: int
    value: Value
    subtrahend: Value | None = None


@dataclass(frozen=True)
class System:
    """A run in numbers. ``reads`` says of every step whether it reads an input."""

    integer: bool
    reads: tuple[bool, ...]
    samples: tuple[Sample, ...]
    comparisons: tuple[Comparison, ...]
    shown: tuple[Shown, ...]

    @cached_property
    def mirrored(self) -> bool:
        """Whether a value is compared with its negative, or the negative of another."""
        return any(
            c.low.mirrored != c.high.mirrored and c.low.sample is not None and c.high.sample is not None
            for c in self.comparisons
        )

    @cached_property
    def linked(self) -> bool:
        """Whether samples without two-sided noise share entries, so that their places depend on each other.

        They do not if each of them has an entry of its own.
        """
        often = Counter(
            step for sample in self.samples if sample.noise is not Noise.LAPLACE for step, _ in sample.entries
        )
        return any(
            sample.entries and all(often[step] > 1 for step, _ in sample.entries)
            for sample in self.samples
            if sample.noise is not Noise.LAPLACE
        )

    @cached_property
    def frame(self) -> Frame:
        """What costs for all differences have in common."""
        return _frame(self)

    @cached_property
    def grounded(self) -> frozenset[int]:
        """The samples whose own values are shown."""
        found = set()
        for one in self.shown:
            ends = [v.sample for v in (one.value, one.subtrahend) if v is not None and v.sample is not None]
            if len(ends) == 1:
                found.add(ends[0])
        return frozenset(found)

    @cached_property
    def tied(self) -> tuple[tuple[int, int], ...]:
        """The pairs of samples whose difference is shown."""
        found = []
        for one in self.shown:
            a, b = one.value.sample, None if one.subtrahend is None else one.subtrahend.sample
            if a is not None and b is not None and a != b:
                found.append((a, b))
        return tuple(found)


def unrolled(automaton: Automaton, run: Sequence[int]) -> System:
    """The system of a run, which is positions of transitions from the initial state on.

    Raises ``ValueError`` for what is no run.
    """
    where = automaton.initial
    for t in run:
        transition = automaton.transitions[t]
        if transition.source != where:
            raise ValueError(f"a step leaves {transition.source}, but the run is in {where}")
        where = transition.target
    walk = Walk(automaton)
    for t in run:
        walk.step(t)
    return walk.system()


def repeated(run: Sequence[int], cycles: Sequence[Span], times: int) -> list[Span]:
    """For every step of the run with each cycle taken ``times`` times: its position in ``run``, the round."""
    found: list[Span] = []
    ends, k = dict(cycles), 0
    while k < len(run):
        end = ends.get(k, k + 1)
        found += [(at, turn) for turn in range(times if k in ends else 1) for at in range(k, end)]
        k = end
    return found


class Walk:
    """A run step by step: who holds which value."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.held: dict[str, Value] = {}
        self.sums: dict[str, dict[int, Fraction]] = {}
        self.reads: list[bool] = []
        self.samples: list[Sample] = []
        self.comparisons: list[Comparison] = []
        self.shown: list[Shown] = []

    def step(self, t: int) -> None:
        transition, step = self.automaton.transitions[t], len(self.reads)
        state = self.automaton.state(transition.source)
        self.reads.append(state.is_input)
        now = dict(self.held)
        entries = self._entries(state, step)
        if state.draws and (state.d or state.noise is Noise.NONE):
            d = state.d or Fraction(0)
            now[SAMPLE] = self._drawn(Sample(step, state.noise, d, state.mu, entries))
        for each in sorted(transition.guard.atoms, key=str):
            low, high = self._value(each.low, now), self._value(each.high, now)
            if (low.sample, low.mirrored) == (high.sample, high.mirrored):  # that says nothing of the sample
                low, high = Value(None, low.offset), Value(None, high.offset)
            self.comparisons.append(Comparison(low, high, each.strict, step))
        for x in transition.assign:
            self.held[x] = now[SAMPLE]
        for x, y in transition.copies:
            self.held[x] = now[y] if isinstance(y, str) else Value(None, y)
        names = dict(self.held)
        if SAMPLE in now:
            names[SAMPLE] = now[SAMPLE]
        if transition.output.shows_second:
            d = state.d_prime or Fraction(0)
            sample = Sample(step, state.noise_prime, d, state.mu_prime, entries, second=True)
            names[SECOND_SAMPLE] = self._drawn(sample)
        for part in transition.output.parts:
            if part.kind is OutputKind.INSAMPLE:
                self.shown.append(Shown(step, names[SAMPLE]))
            elif part.kind is OutputKind.INSAMPLE_PRIME:
                self.shown.append(Shown(step, names[SECOND_SAMPLE]))
            elif part.kind is OutputKind.VALUE:
                self.shown.append(Shown(step, names[part.names[0]]))
            elif part.kind is OutputKind.DIFFERENCE:
                self.shown.append(Shown(step, names[part.names[0]], names[part.names[1]]))
        if transition.updates:
            before = dict(self.sums)
            for update in transition.updates:
                own = dict(before.get(update.source, {})) if update.source is not None else {}
                if update.adds_input:
                    own[step] = own.get(step, Fraction(0)) + 1
                self.sums[update.register] = own

    def _entries(self, state: State, step: int) -> Entries:
        """What the means of a state are moved by."""
        found = {step: Fraction(1)} if state.is_input else {}
        for register, factor in state.registers:
            for entry, times in self.sums.get(register, {}).items():
                found[entry] = found.get(entry, Fraction(0)) + factor * times
        return tuple(sorted((entry, times) for entry, times in found.items() if times))

    def system(self) -> System:
        return System(
            self.automaton.integer,
            tuple(self.reads),
            tuple(self.samples),
            tuple(self.comparisons),
            tuple(self.shown),
        )

    def anything(self) -> Value:
        """A value of which nothing is known, and which is shifted for nothing."""
        return self._drawn(Sample(-1, Noise.LAPLACE, Fraction(0), Fraction(0), ()))

    def _drawn(self, sample: Sample) -> Value:
        self.samples.append(sample)
        return Value(len(self.samples) - 1)

    @staticmethod
    def _value(term: Term, now: dict[str, Value]) -> Value:
        if term.name is None:
            return Value(None, term.offset)
        held = now[term.name]
        sign = -1 if term.mirrored else 1
        return Value(held.sample, sign * held.offset + term.offset, term.mirrored and held.sample is not None)


@dataclass(frozen=True)
class Frame:
    """What the costs of a run have in common: rates as integers in units of one over ``scale``, and pairs of
    nodes of which the second is above a level wherever the first is."""

    scale: int
    rates: tuple[int, ...]
    ground: int
    forced: tuple[tuple[int, int], ...]


def _frame(system: System) -> Frame:
    double = system.mirrored
    ground = len(system.samples) * (2 if double else 1)
    scale = lcm(*(s.d.denominator for s in system.samples), 1)

    def node(value: Value, other: bool = False) -> int:
        if value.sample is None:
            return ground
        return 2 * value.sample + (value.mirrored != other) if double else value.sample

    pairs: dict[tuple[int, int], None] = {}
    for c in system.comparisons:
        low, high = (c.high, c.low) if not double and (c.low.mirrored or c.high.mirrored) else (c.low, c.high)
        pairs[node(high), node(low)] = None
        if double:
            pairs[node(low, True), node(high, True)] = None
    ties = [(Value(a), Value(b)) for a, b in system.tied]
    ties += [(Value(a), Value(None)) for a in system.grounded]
    for a, b in ties:
        for other in (False, True) if double else (False,):
            pairs[node(a, other), node(b, other)] = None
            pairs[node(b, other), node(a, other)] = None
    rates = tuple(int(s.d * scale) for s in system.samples)
    return Frame(scale, rates, ground, tuple((a, b) for a, b in pairs if a != b))
