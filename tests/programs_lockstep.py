"""A program on numbers and its automaton side by side: with the same inputs and the same noise both show the
same. Written from the meaning of automata; nothing of the translation is used."""

from __future__ import annotations

from collections import defaultdict, deque
from fractions import Fraction
from itertools import islice

from symdipa.model.parts import SAMPLE, Noise, OutputKind
from symdipa.model.validation.samples import use_of_sample
from symdipa.programs.automaton import END, MORE, QUIET, READ
from symdipa.programs.python.play import outputs
from symdipa.programs.values import exact

MOST = 60
"""So many outputs are compared."""


class Tape:
    """Noise by kind and inverse scale, in the order in which the program asks for it."""

    def __init__(self, rng, whole: bool) -> None:
        self.rng, self.whole = rng, whole
        self.drawn = defaultdict(deque)

    def __call__(self, kind, scale):
        parts = 1 if self.whole else 1_000_003  # so many that no two values are equal
        least = 0 if kind is Noise.EXPONENTIAL else -40 * parts
        noise = Fraction(self.rng.randint(least, 40 * parts), parts)
        self.drawn[kind, 1 / exact(scale)].append(noise)
        return noise

    def next(self, kind, d):
        return self.drawn[kind, d].popleft()


def shown_by_program(mechanism, inputs, tape, settings):
    """The outputs of the program, each as its plain parts and its numbers that depend on noise; up to where
    an entry is missing."""
    found = []
    try:
        for value in islice(outputs(mechanism, inputs, tape, settings), MOST):
            found.append(flat(value))
    except RuntimeError as error:
        assert "StopIteration" in str(error)
    return found


def flat(value):
    """The texts of an output, and its numbers."""
    parts = value if isinstance(value, tuple) else (value,)
    numbers = [part for part in parts if is_number(part)]
    return [str(part) for part in parts if not is_number(part)], numbers


def is_number(part):
    return isinstance(part, int | Fraction) and not isinstance(part, bool)


def agree(some, others):
    """Whether outputs are the same, but for constants that are added to numbers (which noise is not)."""
    return len(some) == len(others) and all(
        texts == other_texts
        and len(numbers) == len(other_numbers)
        and all((x - y).denominator <= 12 for x, y in zip(numbers, other_numbers, strict=True))
        for (texts, numbers), (other_texts, other_numbers) in zip(some, others, strict=True)
    )


def shows_known_values(automaton):
    """Whether gaps may be shown of which one end is known: then the translation shows the other end."""
    kinds = {part.kind for t in automaton.transitions for part in t.output.parts}
    constants = any(not isinstance(value, str) for t in automaton.transitions for _, value in t.copies)
    noiseless = any(state.draws and state.noise is Noise.NONE for state in automaton.states)
    others = {OutputKind.VALUE, OutputKind.INSAMPLE} & kinds
    return OutputKind.DIFFERENCE in kinds and bool(others or constants or noiseless)


class Walk:
    """An automaton that makes its steps on given entries and noise."""

    def __init__(self, automaton, entries, tape, symbols=None) -> None:
        self.automaton, self.symbols = automaton, symbols
        self.entries, self.tape = deque(entries), tape
        self.promised, self.most = 0, len(self.entries)
        self.state = self.automaton.initial
        self.values: dict[str, Fraction] = {}
        self.registers: dict[str, Fraction] = {}

    def outputs(self, most):
        """What it shows, as :func:`flat` does, until it has shown so much or can do no more."""
        found = []
        while len(found) < most and (output := self.step()) is not None:
            parts = output.parts
            if self.symbols is not None and parts[0].symbol in (READ, QUIET, MORE, END):
                continue
            told = [self.meaning(part) for part in parts]
            numbers = [part for part in told if is_number(part)]
            found.append(([part for part in told if not is_number(part)], numbers))
        return found

    def meaning(self, part):
        if part.kind is not OutputKind.SYMBOL:
            return self.number(part)
        if self.symbols is None:
            return part.symbol
        kind, *rest = self.symbols[part.symbol]
        if kind == "constant" and rest[0] not in ("True", "False", "None"):
            return Fraction(rest[0])
        return rest[0] if rest else kind

    def number(self, part):
        if part.kind is OutputKind.INSAMPLE:
            return self.values[SAMPLE]
        if part.kind is OutputKind.INSAMPLE_PRIME:
            return self.second
        first, *second = (self.values[name] for name in part.names)
        return first - sum(second)

    def step(self):
        """The output of the next step; ``None`` at the end, or where an entry is missing."""
        state = self.automaton.state(self.state)
        leaving = [t for t in self.automaton.transitions if t.source == state.name]
        if not leaving or (state.is_input and not self.entries):
            return None
        entry = self.entries.popleft() if state.is_input else Fraction(0)
        self.values.pop(SAMPLE, None)
        if state.draws and use_of_sample(leaving) is not None:
            self.values[SAMPLE] = self.sample(state, leaving) + entry
        [taken] = [t for t in leaving if all(map(self.holds, t.guard.atoms))] or [None]
        if taken is None:
            return None
        old = dict(self.values)
        self.values.update((x, old[SAMPLE]) for x in taken.assign)
        self.values.update({x: old[y] if isinstance(y, str) else y for x, y in taken.copies})
        sums = dict(self.registers)
        for update in taken.updates:
            held = sums[update.source] if update.source is not None else Fraction(0)
            self.registers[update.register] = held + (entry if update.adds_input else 0)
        if taken.output.shows_second:
            self.second = entry + self.mean(state, state.mu_prime, sums)
            if state.noise_prime is not Noise.NONE:
                self.second += self.tape.next(state.noise_prime, state.d_prime)
        self.state = taken.target
        return taken.output

    def sample(self, state, leaving):
        if self.symbols is not None and {t.output.symbol for t in leaving} & {MORE, END}:
            self.promised += 1  # as every entry is asked for that is read
            return Fraction(1 if self.promised <= self.most else -1)
        mean = self.mean(state, state.mu, self.registers)
        return mean if state.noise is Noise.NONE else mean + self.tape.next(state.noise, state.d)

    def mean(self, state, mu, registers):
        return mu + sum(k * registers[r] for r, k in state.registers)

    def holds(self, atom):
        low, high = (self.term(term) for term in (atom.low, atom.high))
        return low < high if atom.strict else low <= high

    def term(self, term):
        value = self.values[term.name] if term.name is not None else Fraction(0)
        return term.offset + (-value if term.mirrored else value)
