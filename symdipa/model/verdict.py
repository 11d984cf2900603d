"""Answers: of an engine about one pattern, and of the whole check (theory, section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from symdipa.model.automaton import Automaton
from symdipa.model.patterns import Pattern


class Status(Enum):
    """What is known about one pattern. ``UNKNOWN`` is never read as ``ABSENT``."""

    ABSENT = "absent"
    PRESENT = "present"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"


class Verdict(Enum):
    """The four answers about an automaton."""

    PRIVATE = "private"
    NOT_PRIVATE = "not-private"
    NOT_WELL_FORMED = "not-well-formed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Witness:
    """A run that shows a pattern.

    ``run`` are positions into ``automaton.transitions``, from the initial state. ``cycles`` are half-open
    ranges ``(i, j)`` of positions of ``run``: the leaking cycle; the two cycles of a leaking pair, first
    the one of ``path[0]``, then the one of ``path[-1]``; the disclosing cycle; the one cycle of a
    violating path. ``path`` is the dependency path ``k_1 -> ... -> k_m`` as positions of ``run`` (empty
    for leaking and disclosing cycles).
    """

    pattern: Pattern
    run: tuple[int, ...]
    cycles: tuple[tuple[int, int], ...]
    path: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PatternResult:
    """What one engine found out about one pattern.

    ``method`` tells what decided (``"static"``, ``"bounded"``, ``"k-induction"``, ``"pdr"``,
    ``"explicit"``), ``reason`` why it is unknown, ``sizes`` how large the search was (for instance
    ``{"order states": 81}`` or ``{"depth": 12}``), ``engine`` and ``encoding`` who says so.
    """

    pattern: Pattern
    status: Status
    engine: str
    method: str | None = None
    encoding: str | None = None
    witness: Witness | None = None
    reason: str | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0


class Source(Enum):
    """How the bounds of a check came about; ``FALLBACK``: by an enumeration that nobody had asked for."""

    AUGMENTATION = "augmentation"
    FALLBACK = "explicit-state fallback"
    ALIGNMENT = "alignment"
    RELATIONAL = "relational alignment"


@dataclass(frozen=True, slots=True)
class Weight:
    """Proved bounds on ``D`` (``None``: not computed); ``source`` says how they came about.

    ``lower`` is one from below, by a single run.
    """

    corollary: Fraction | None = None
    run: Fraction | None = None
    alignment: Fraction | None = None
    exact: Fraction | None = None
    relational: Fraction | None = None
    lower: Fraction | None = None
    source: Source | None = None

    @property
    def best(self) -> Fraction | None:
        """The smallest of the bounds that were computed."""
        bounds = (self.corollary, self.run, self.alignment, self.exact, self.relational)
        return min((b for b in bounds if b is not None), default=None)


class NoteKind(Enum):
    """What a note is about; the value is its sentence, with a place for what differs."""

    NOT_ASKED = "not asked for: {}; a verdict needs all four patterns"
    DISTINCTNESS_OPEN = "whether the violation is output-distinct was not established: {}"
    NO_BOUND = "no bound on D was computed (the weight needs the augmentation): {}"
    PAIRING_OPEN = "relational alignment came to no end: {}"
    NO_PAIRING = "relational alignment found no bound on D{}"


@dataclass(frozen=True, slots=True)
class Note:
    """A remark of a check. ``text`` is what differs in its kind: names, a reason. ``str`` is the sentence."""

    kind: NoteKind
    text: str

    def __str__(self) -> str:
        return self.kind.value.format(self.text)


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a check.

    ``patterns`` has an entry for each of the four; ``engine`` is what decided (``"explicit"``, ``"z3"``,
    ``"both"``). ``witness`` is the violation on which the verdict rests, ``distinct`` whether no other run
    can produce its outputs. ``strongly_feasible`` is ``None`` when it is not established.
    ``disagreements`` is empty unless two engines contradict each other, which is a bug.
    """

    automaton: Automaton
    verdict: Verdict
    patterns: Mapping[Pattern, PatternResult]
    weight: Weight | None
    output_distinct: bool
    strongly_feasible: bool | None
    witness: Witness | None
    distinct: bool | None
    engine: str
    encoding: str | None
    seconds: float
    notes: tuple[Note, ...] = ()
    details: tuple[PatternResult, ...] = ()
    disagreements: tuple[str, ...] = ()

    @property
    def well_formed(self) -> bool | None:
        """Whether none of the four patterns occurs; ``None`` while that is open."""
        statuses = {result.status for result in self.patterns.values()}
        if Status.PRESENT in statuses:
            return False
        return True if statuses == {Status.ABSENT} else None
