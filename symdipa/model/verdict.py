"""Answers: of an engine about one pattern, and of the whole check (Def. verdict)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any

from symdipa.model.adjacency import EITHER_WAY, TWO_SIDED, Adjacency, Interval
from symdipa.model.automaton import Automaton
from symdipa.model.errors import Note
from symdipa.model.options import METHODS
from symdipa.model.patterns import Pattern

Proof = Any
"""What a bound was found by: carried along for certificates and reports, and not looked into here."""


class Status(Enum):
    """What is known about one pattern. ``UNKNOWN`` is never read as ``ABSENT``."""

    ABSENT = "absent"
    PRESENT = "present"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"

    @property
    def is_definite(self) -> bool:
        """Whether the pattern is known to be there, or not to be."""
        return self in (Status.ABSENT, Status.PRESENT)


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
    for leaking and disclosing cycles). ``conflict`` is a name of what is in conflict, where the automaton is
    not plain and the pattern does not say it (``"exposed comparison"``). ``letters`` say for each step what
    the entry that it reads does in two adjacent inputs (:mod:`symdipa.runs.control.unfolding`), where the
    automaton unfolds; else there are none.
    """

    pattern: Pattern
    run: tuple[int, ...]
    cycles: tuple[tuple[int, int], ...]
    path: tuple[int, ...] = ()
    conflict: str = ""
    letters: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What it shows, in words."""
        return self.conflict or self.pattern.title


@dataclass(frozen=True, slots=True)
class PatternResult:
    """What one engine, with one encoding, found out about one pattern.

    ``method`` is what decided (``"static"``, ``"bounded"``, ``"k-induction"``, ``"pdr"``, ``"explicit"``),
    ``reason`` why it is unknown, ``sizes`` how large the search was (such as ``{"order states": 81}``).
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


@dataclass(frozen=True)
class Answers:
    """What engines found out about the patterns: a round for each engine."""

    rounds: tuple[Mapping[Pattern, PatternResult], ...]

    @cached_property
    def by_pattern(self) -> dict[Pattern, PatternResult]:
        """About each pattern the first definite answer, else the first one."""
        found = {}
        for pattern in Pattern:
            answers = self.about(pattern) or [PatternResult(pattern, Status.SKIPPED, "none")]
            found[pattern] = next((a for a in answers if a.status.is_definite), answers[0])
        return found

    def about(self, pattern: Pattern) -> list[PatternResult]:
        """The answers of all engines that were asked about the pattern."""
        return [answers[pattern] for answers in self.rounds if pattern in answers]

    @property
    def everything(self) -> tuple[PatternResult, ...]:
        """Every answer, engine by engine."""
        return tuple(answer for answers in self.rounds for answer in answers.values())

    @cached_property
    def disagreements(self) -> tuple[str, ...]:
        """The patterns about which engines contradict each other, and which engine says what."""
        found = []
        for pattern in Pattern:
            sides: dict[Status, list[str]] = {}
            for answer in self.about(pattern):
                if answer.status.is_definite:
                    name = f"{answer.engine} ({answer.encoding})" if answer.encoding else answer.engine
                    sides.setdefault(answer.status, []).append(name)
            if len(sides) == 2:
                said = "; ".join(f"{status.value} says {', '.join(names)}" for status, names in sides.items())
                found.append(f"{pattern.title}: {said}")
        return tuple(found)


class Source(Enum):
    """How the cheap bounds were found; ``FALLBACK``: by an enumeration made for them alone."""

    AUGMENTATION = "augmentation"
    FALLBACK = "explicit-state fallback"
    ALIGNMENT = "alignment"
    RELATIONAL = "relational alignment"
    DISTANCES = "distances"


@dataclass(frozen=True)
class Bounds:
    """Proved bounds on ``D``, exact and for all ``eps``; the sensitivity is included.

    ``from_above`` has the bounds from above by method (:data:`symdipa.model.options.EVERY_METHOD`),
    ``missing`` says why others are not there. ``lower`` is a bound from below on what a run costs, by
    ``flow`` (without the sensitivity, for differences in ``flow_range``). ``needed`` is one on ``D``: the
    largest by a run whose outputs no other run shows, however often its loops are repeated, or by all runs
    that show the same. ``alignment_proof``, ``relational_proof`` and, where it is all those runs that prove
    ``needed``, ``alike_proof`` are what certificates are made of.
    """

    from_above: Mapping[str, Fraction] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    lower: Fraction | None = None
    flow: Proof | None = None
    flow_range: Interval = EITHER_WAY
    needed: Fraction | None = None
    alignment_proof: Proof | None = None
    relational_proof: Proof | None = None
    alike_proof: Proof | None = None
    adjacency: Adjacency = TWO_SIDED
    sensitivity: Fraction = Fraction(1)
    source: Source | None = None
    seconds: float = 0.0

    @property
    def crossed(self) -> list[tuple[str, Fraction, Fraction]]:
        """Methods whose bound from above is below one from below, which must not be, with both bounds.

        No method that argues about single runs may give less than a single run costs.
        """
        found = []
        for method, bound in self.from_above.items():
            least = (self.lower, self.needed) if method in METHODS else (self.needed,)
            largest = max((lower for lower in least if lower is not None), default=bound)
            if bound < largest:
                found.append((method, bound, largest))
        return found

    @property
    def corollary(self) -> Fraction | None:
        """The paper's bound."""
        return self.from_above.get("corollary")

    @property
    def run(self) -> Fraction | None:
        """The largest weight of a run."""
        return self.from_above.get("run")

    @property
    def alignment(self) -> Fraction | None:
        """The best bound by alignment."""
        return self.from_above.get("alignment")

    @property
    def exact(self) -> Fraction | None:
        """The exact constant of single runs."""
        return self.from_above.get("exact")

    @property
    def relational(self) -> Fraction | None:
        """The bound by pairs of runs with the same outputs (experimental)."""
        return self.from_above.get("relational")

    @property
    def best(self) -> Fraction | None:
        """The smallest bound from above."""
        return min(self.from_above.values(), default=None)

    @property
    def best_method(self) -> str | None:
        """The method of the smallest bound; of equal ones the first that does not rest on an experiment."""
        order = ("alignment", "exact", "run", "counting", "corollary", "relational")
        return min((m for m in order if m in self.from_above), key=self.from_above.__getitem__, default=None)

    @property
    def optimal(self) -> bool:
        """Whether no smaller ``D`` will do: the best bound from above is one from below, too, or 0."""
        return self.best is not None and (not self.best or self.best == self.needed)

    @property
    def optimal_for_single_runs(self) -> bool:
        """Whether arguments about one run at a time cannot give a better bound, but others might."""
        return self.best is not None and not self.optimal and self.best == self.lower

    @property
    def distinct(self) -> bool:
        """Whether ``lower`` is a bound on ``D``, and not only on what a single run costs."""
        return self.lower is not None and self.lower == self.needed


def decide(answers: Answers, distinct: bool | None, bounds: Bounds | None, plain: bool = True) -> Verdict:
    """The verdict, from what was found out about the patterns and about ``D``.

    ``distinct``: whether no other run shows the outputs of the violation. A bound by relational alignment
    proves privacy even of an automaton that is not well-formed; one by alignment where the patterns are open.
    Of an automaton that is not ``plain`` only a bound proves privacy (docs/theory.md, section 9).
    """
    statuses = {answer.status for answer in answers.by_pattern.values()}
    paired = bounds is not None and bounds.relational is not None
    aligned = bounds is not None and (bounds.alignment is not None or not (plain or bounds.best is None))
    if answers.disagreements:
        return Verdict.UNKNOWN
    if Status.PRESENT in statuses:
        if distinct:
            return Verdict.NOT_PRIVATE
        return Verdict.PRIVATE if paired else Verdict.NOT_WELL_FORMED
    if (plain and statuses == {Status.ABSENT}) or paired or aligned:
        return Verdict.PRIVATE
    return Verdict.UNKNOWN


def well_formed(answers: Answers) -> bool | None:
    """Whether none of the four patterns occurs; ``None`` while that is open."""
    statuses = {answer.status for answer in answers.by_pattern.values()}
    if Status.PRESENT in statuses:
        return False
    return True if statuses == {Status.ABSENT} else None


@dataclass(frozen=True, repr=False)
class Result:
    """The outcome of a check.

    ``answers`` are those of all engines, ``patterns`` has one for each of the four; ``engine`` is what
    decided (``"explicit"``, ``"z3"``, ``"both"``). ``witness`` is the violation on which the verdict rests,
    ``distinct`` whether no other run can produce its outputs. ``bounds`` are on ``D`` (``None``: not asked
    for, or not found). ``strongly_feasible`` is ``None`` when it is not established. ``notes`` begin with
    those on the automaton.
    """

    automaton: Automaton
    verdict: Verdict
    answers: Answers
    bounds: Bounds | None
    output_distinct: bool
    strongly_feasible: bool | None
    witness: Witness | None
    distinct: bool | None
    engine: str
    encoding: str | None
    seconds: float
    notes: tuple[Note, ...] = ()
    stopping: Result | None = None
    """The answer if it is seen that a run stops, where that may be another one (a note says which)."""
    confirmation: Proof | None = None
    """Two inputs that come near ``D``, if requested and found."""

    # How a result looks is for the rooms above; it is asked of the front of the package, which loads them.

    def __str__(self) -> str:
        """The report that ``symdipa check`` prints, or ``symdipa weight`` for a result of ``weigh``."""
        import symdipa

        return symdipa.text(self)

    def __repr__(self) -> str:
        import symdipa

        return f"<Result {symdipa.text(self, verbosity=-1)}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the report, and a picture."""
        import symdipa

        return symdipa.in_notebook(self)

    @property
    def patterns(self) -> Mapping[Pattern, PatternResult]:
        """What is known about each of the four patterns."""
        return self.answers.by_pattern

    @property
    def weight(self) -> Bounds | None:
        """The bounds, by the name that the command and the JSON object have for them."""
        return self.bounds

    @property
    def details(self) -> tuple[PatternResult, ...]:
        """Every answer of every engine."""
        return self.answers.everything

    @property
    def disagreements(self) -> tuple[str, ...]:
        """What engines contradict each other about, which is a bug."""
        return self.answers.disagreements

    @property
    def contradictions(self) -> tuple[str, ...]:
        """All that must not be: engines that disagree, crossed bounds, and inputs that refute one."""
        words = list(self.disagreements)
        if self.bounds is not None:
            for method, bound, lower in self.bounds.crossed:
                words.append(f"{method} proves D = {bound}, and a run that D is at least {lower}")
            best, found = self.bounds.best, self.confirmation
            if found is not None and best is not None and found.refutes(best):
                words.append(
                    f"two inputs with log-ratio {found.log_ratio_per_eps}*eps refute the bound of {best}"
                )
        return tuple(words)

    @property
    def experimental(self) -> bool:
        """Whether what is said of privacy or of ``D`` rests on relational alignment alone."""
        bounds = self.bounds
        return self.verdict is Verdict.PRIVATE and bounds is not None and bounds.best_method == "relational"

    @property
    def well_formed(self) -> bool | None:
        """Whether none of the four patterns occurs; ``None`` while that is open."""
        return well_formed(self.answers)


def must_be_result(value: object) -> None:
    """Raise ``TypeError`` for anything but a result, with the way to one."""
    if not isinstance(value, Result):
        kind = type(value).__name__
        raise TypeError(f"a Result is asked for, not {kind}; symdipa.check(automaton) gives one")
