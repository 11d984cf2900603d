"""Where a run may be cut: the live values of the program as what an automaton keeps in a state.

Samples become variables, sums of inputs become registers, both called after the variables of the program that
lead to them; plain values are part of the state itself.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
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
    the sums of. ``pending``: the name before of the entry that was asked for and is not read yet. ``shapes``
    are the live values, for messages.
    """

    key: Hashable
    place: Hashable
    line: int
    variables: tuple[tuple[str, str], ...]
    registers: tuple[tuple[str, Combination], ...]
    pending: str | None
    shapes: Mapping[str, Hashable] = field(repr=False)


Renaming = list[tuple[Sample | Entry, str]]
"""What is called otherwise once the run is cut at a point."""


def combination(terms: Mapping[Entry, Fraction]) -> Combination:
    """Inputs in the words of the last point where the run was cut."""
    return tuple(sorted((entry.name, factor) for entry, factor in flat(terms).items()))


def flat(terms: Mapping[Entry, Fraction]) -> dict[Entry, Fraction]:
    """Inputs without names that count only if the run is cut."""
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
        self._registers: dict[tuple[tuple[Entry, Fraction], ...], Entry] = {}
        self._taken: set[str] = set()
        self._was: list[tuple[str, str]] = []
        self._sums: list[tuple[str, Combination]] = []

    def point(self, place: Hashable, line: int, snapshot: Snapshot) -> Point:
        """The point; afterwards the numbers of the snapshot are in its words."""
        keys = tuple(self._key(number, path) for number, path in snapshot.numbers)
        waits = self.pending is not None
        if self.pending is not None:
            self.renaming.append((self.pending, PENDING))
        return Point(
            (place, tuple(snapshot.shapes.items()), keys, waits),
            place,
            line,
            tuple(self._was),
            tuple(self._sums),
            self.pending.name if self.pending is not None else None,
            snapshot.shapes,
        )

    def _key(self, number: Number, path: str) -> Hashable:
        """What is to agree in both runs; puts registers into the number."""
        samples = [
            (self._variable(sample, path), factor, sample.shown)
            for sample, factor in sorted(number.samples.items(), key=lambda item: _place(item[0], item[1]))
        ]
        noises = [
            (self._noises.setdefault(noise, len(self._noises)), factor, noise.kind, noise.d, noise.site)
            for noise, factor in number.noises.items()
        ]
        inputs = flat(number.entries)
        waiting = inputs.pop(self.pending, Fraction(0)) if self.pending is not None else Fraction(0)
        terms: dict[Symbol, Fraction] = {s: k for s, k in number.terms.items() if not isinstance(s, Entry)}
        if waiting and self.pending is not None:
            terms[self.pending] = waiting
        held: tuple[str, Fraction] | None = None
        if inputs:
            first = min(inputs, key=lambda entry: entry.age)
            share = inputs[first]
            register = self._register({entry: k / share for entry, k in inputs.items()}, path)
            terms[register] = share
            held = next(name for entry, name in self.renaming if entry is register), share
        number.terms = terms
        return tuple(samples), tuple(noises), waiting, held, number.constant, number.public

    def _variable(self, sample: Sample, path: str) -> int:
        if sample not in self._variables:
            self._variables[sample] = len(self._variables)
            name = self._name(path)
            self._was.append((name, sample.name))
            self.renaming.append((sample, name))
        return self._variables[sample]

    def _register(self, inputs: dict[Entry, Fraction], path: str) -> Entry:
        found = tuple(sorted(inputs.items(), key=lambda item: item[0].age))
        if found not in self._registers:
            first, share = found[0]
            register = first if len(found) == 1 and share == 1 else Entry("", first.age, inputs)
            self._registers[found] = register
            name = self._name(path)
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


def _place(sample: Sample, factor: Fraction) -> tuple[bool, str]:
    return factor < 0, sample.name
