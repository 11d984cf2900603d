"""Where a run may be cut: the live values of the program as what an automaton keeps in a state.

Samples become variables, sums of inputs become registers, both called after the variables of the program that
lead to them; plain values are part of the state itself.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from symdipa.programs.snapshot import Snapshot
from symdipa.programs.values import ONE, Entry, Noise, Number, Sample, Symbol

Combination = tuple[tuple[str, Fraction], ...]
"""Entries and registers by name, with their factors, sorted."""

PENDING = "input"
"""The name of an entry that was asked for and is not read yet."""

RESERVED = frozenset(
    [
        *("insample", "insampleprime", "input", "if", "then", "elseif", "else", "output", "goto", "true"),
        *("and", "or", "abs", "noise", "halt", "differ"),
    ]
)
"""Words of the text language of automata, which no variable can be called."""


@dataclass(frozen=True, slots=True)
class Point:
    """A place that the run has passed, where it may be cut in two.

    ``key`` is equal for points after which the same can happen. ``variables`` are the names by which the
    state knows samples, with their names before; ``registers`` those of sums of inputs, with what they are
    the sums of. ``added``: what the program adds to a sample to get what it calls so. ``pending``: the name
    before of the entry that was asked for and is not read yet. ``shapes`` are the live values, for messages.
    """

    key: Hashable
    place: Hashable
    line: int
    variables: tuple[tuple[str, str], ...]
    registers: tuple[tuple[str, Combination], ...]
    pending: str | None
    shapes: Mapping[str, Hashable] = field(repr=False)
    added: Mapping[str, Fraction] = field(default_factory=dict, repr=False)


Renaming = list[tuple[Sample | Entry, str]]
"""What is called otherwise once the run is cut at a point."""


def combination(terms: Mapping[Entry, Fraction]) -> Combination:
    """Inputs in the words of the last point where the run was cut."""
    return tuple(sorted((entry.name, factor) for entry, factor in flat(terms).items()))


def flat(terms: Mapping[Entry, Fraction]) -> dict[Entry, Fraction]:
    """Inputs without names that count only if the run is cut."""
    if not any(entry.of for entry in terms):
        return dict(terms)
    found: dict[Entry, Fraction] = {}
    for entry, factor in terms.items():
        for part, share in (entry.of or {entry: ONE}).items():
            total = found.pop(part, Fraction(0)) + factor * share
            if total:
                found[part] = total
    return found


class Naming:
    """Names the live values of one point; ``pending`` is the entry that waits to be read."""

    def __init__(self, pending: Entry | None) -> None:
        self.pending = pending
        self.renaming: Renaming = []
        self._variables: dict[Sample, int] = {}
        self._noises: dict[Noise, int] = {}
        self._registers: dict[Hashable, tuple[Entry, str]] = {}
        self._taken: set[str] = set()
        self._was: list[tuple[str, str]] = []
        self._sums: list[tuple[str, Combination]] = []
        self._added: dict[str, Fraction] = {}

    def point(self, place: Hashable, line: int, snapshot: Snapshot) -> Point:
        """The point; afterwards the numbers of the snapshot are in its words."""
        for number, path in snapshot.numbers:  # samples first: an input that is one leaves it the name
            samples = _samples(number)
            alone = len(number.terms) == 1 and not number.public and samples and samples[0][1] == 1
            for sample, _ in samples:
                self._variable(sample, path, number.constant if alone else Fraction(0))
        keys = tuple(self._key(number, path) for number, path in snapshot.numbers)
        waits = self.pending is not None
        if self.pending is not None:
            self.renaming.append((self.pending, PENDING))
        names = tuple(name for name, _ in self._was)  # which inputs have a sample that is them
        return Point(
            (place, tuple(snapshot.shapes.items()), keys, names, waits),
            place,
            line,
            tuple(self._was),
            tuple(self._sums),
            self.pending.name if self.pending is not None else None,
            snapshot.shapes,
            self._added,
        )

    def _key(self, number: Number, path: str) -> Hashable:
        """What is to agree in both runs; puts registers into the number."""
        noises: list[Hashable] = []
        entries: dict[Entry, Fraction] = {}
        for symbol, factor in number.terms.items():
            if isinstance(symbol, Entry):
                entries[symbol] = factor
            elif isinstance(symbol, Noise):
                place = self._noises.setdefault(symbol, len(self._noises))
                noises.append((place, _ratio(factor), symbol.kind, _ratio(symbol.d), symbol.site))
        known = [(self._variables[s], _ratio(factor), s.shown) for s, factor in _samples(number)]
        sums = self._sums_of(number, flat(entries), path) if entries else None
        return tuple(known), tuple(noises), sums, _ratio(number.constant), number.public

    def _sums_of(self, number: Number, inputs: dict[Entry, Fraction], path: str) -> Hashable:
        """Puts the entry that waits and registers in place of the inputs of a number, and tells them."""
        terms: dict[Symbol, Fraction] = {s: k for s, k in number.terms.items() if not isinstance(s, Entry)}
        waiting = inputs.pop(self.pending, None) if self.pending is not None else None
        if waiting is not None and self.pending is not None:
            terms[self.pending] = waiting
        held = None
        if inputs:
            share = inputs[min(inputs, key=lambda entry: entry.age)]
            register, name = self._register({entry: k / share for entry, k in inputs.items()}, path)
            terms[register] = share
            held = name, _ratio(share)
        number.terms = terms
        return waiting and _ratio(waiting), held

    def _variable(self, sample: Sample, path: str, added: Fraction) -> None:
        if sample not in self._variables:
            self._variables[sample] = len(self._variables)
            name = self._name(path)
            self._was.append((name, sample.name))
            self._added[name] = added
            self.renaming.append((sample, name))

    def _register(self, inputs: dict[Entry, Fraction], path: str) -> tuple[Entry, str]:
        """The register for a sum of inputs, of which the oldest one has factor 1, and its name."""
        parts = sorted(inputs.items(), key=lambda item: item[0].age)
        found = tuple((entry, _ratio(factor)) for entry, factor in parts)
        if found not in self._registers:
            first = parts[0][0]
            register, name = first if len(parts) == 1 else Entry("", first.age, inputs), self._name(path)
            self._registers[found] = register, name
            self._sums.append((name, combination(inputs)))
            self.renaming.append((register, name))
        return self._registers[found]

    def _name(self, path: str) -> str:
        name = re.sub(r"\W", "_", path)
        name = f"_{name}" if not name.isidentifier() else name
        while name in self._taken or name in RESERVED:
            name += "_"
        self._taken.add(name)
        return name


def _samples(number: Number) -> list[tuple[Sample, Fraction]]:
    """The samples of a number with their factors, those that are subtracted last."""
    found = [(symbol, factor) for symbol, factor in number.terms.items() if isinstance(symbol, Sample)]
    if len(found) > 1:
        found.sort(key=lambda item: (item[1] < 0, item[0].name))
    return found


def _ratio(number: Fraction) -> tuple[int, int]:
    """A number as one that is soon hashed."""
    return number.as_integer_ratio()


# ---------------------------------------------------------------------------------------- to go on from there

Terms = Mapping[Symbol, Fraction]


@dataclass(frozen=True, slots=True)
class Kept:
    """What a run has at a point: the live ``numbers``; those that were drawn without noise, with the samples
    that they are; the entry that waits to be read; and how many names it has ``made``."""

    numbers: Sequence[Number] = ()
    exact: Sequence[tuple[Number, Sample]] = ()
    pending: Entry | None = None
    made: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    """What is remembered of a point, so that other runs can go on from there: what was :class:`Kept`, with
    terms, constants, and whether they are public, in place of the numbers."""

    point: Point
    numbers: tuple[tuple[Terms, Fraction, bool], ...]
    exact: tuple[tuple[int, Sample], ...]
    pending: Entry | None
    made: int

    @classmethod
    def of(cls, point: Point, kept: Kept) -> Memory:
        """What is to be remembered of a run that goes on."""
        copies = _Copies()
        index = {id(number): k for k, number in enumerate(kept.numbers)}
        return cls(
            point,
            tuple((copies.terms(number.terms), number.constant, number.public) for number in kept.numbers),
            tuple((index[id(number)], copies.sample(sample)) for number, sample in kept.exact),
            copies.entry(kept.pending),
            kept.made,
        )

    def fits(self, place: Hashable, snapshot: Snapshot) -> bool:
        """Whether another run is at the same place, with the same values."""
        same = self.point.place == place and self.point.shapes == snapshot.shapes
        return same and len(snapshot.numbers) + len(self.exact) == len(self.numbers)

    def recalled(self, numbers: Sequence[Number]) -> tuple[list[tuple[Number, Sample]], Entry | None]:
        """Puts the terms into the numbers of another run; those without noise, and the entry that waits."""
        copies = _Copies()
        for number, (terms, constant, public) in zip(numbers, self.numbers, strict=False):
            number.terms, number.constant, number.public = copies.terms(terms), constant, public
        exact = [(numbers[k], copies.sample(sample)) for k, sample in self.exact]
        return exact, copies.entry(self.pending)


class _Copies:
    """Copies of symbols, one for each, which do not change with them."""

    def __init__(self) -> None:
        self.of: dict[Symbol, Symbol] = {}

    def symbol(self, symbol: Symbol) -> Symbol:
        if symbol not in self.of:
            self.of[symbol] = symbol.copy()
        return self.of[symbol]

    def terms(self, terms: Terms) -> dict[Symbol, Fraction]:
        return {self.symbol(symbol): factor for symbol, factor in terms.items()}

    def sample(self, sample: Sample) -> Sample:
        found = self.symbol(sample)
        assert isinstance(found, Sample)
        return found

    def entry(self, entry: Entry | None) -> Entry | None:
        found = None if entry is None else self.symbol(entry)
        assert found is None or isinstance(found, Entry)
        return found
