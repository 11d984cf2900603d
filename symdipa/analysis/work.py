"""The work on one automaton: answers of engines, a witness that counts, bounds, and what follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from symdipa.bounds import portfolio
from symdipa.bounds.portfolio import Portfolio
from symdipa.engines import lineup as lineups
from symdipa.engines.lineup import Lineup, ask
from symdipa.model.adjacency import EITHER_WAY
from symdipa.model.automaton import Automaton
from symdipa.model.errors import LimitReached, Note, NoteKind
from symdipa.model.limits import Limits, stopwatch
from symdipa.model.options import CheckOptions
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import (
    Answers,
    Bounds,
    PatternResult,
    Result,
    Source,
    Status,
    Verdict,
    Witness,
    decide,
    well_formed,
)
from symdipa.runs.problem import Problem
from symdipa.runs.properties import find_distinct, output_distinct, strongly_feasible
from symdipa.runs.witness import replay
from symdipa.runs.witness.wayback import confirmed, on_automaton

BUDGET_SECONDS = 20.0
"""How long all methods together may search for a bound within the budget of a check."""

DECIDING_SHARE = 2 / 3
"""The part of the time for :func:`weigh` in which the patterns are to be decided."""

GROWING = "a run that costs more and more"
"""The conflict of a witness that distances have found."""


def checked(
    problem: Problem,
    automaton: Automaton,
    options: CheckOptions,
    limits: Limits,
    *,
    more: bool = False,
    aside: bool = False,
) -> Result:
    """A check; ``more`` bounds are to follow, for which it leaves time.

    ``aside``: it is a remark on another check, and whatever bound is found first will do.
    """
    engine, encoding, solver = options.engine, options.encoding, options.solver
    deciding = limits.share(DECIDING_SHARE) if more else limits
    work = Work(problem, automaton, limits)
    with Lineup(problem, deciding) as lineup:
        engines = lineup.engines(engine, encoding, solver, options.slicing)
        work.answers = Answers(tuple(ask(each, options.patterns, deciding) for each in engines))
        work.conclude(options, enumerated=engine in ("explicit", "both"), more=more, aside=aside)
    return work.result(solver if engine == "z3" and solver else engine, encoding)


def unopened(automaton: Automaton, limit: LimitReached) -> Result:
    """The result where the work could not begin."""
    reason = str(limit)
    open_ones = {p: PatternResult(p, Status.UNKNOWN, "none", reason=reason) for p in Pattern}
    return Result(
        automaton=automaton,
        verdict=Verdict.UNKNOWN,
        answers=Answers((open_ones,)),
        bounds=None,
        output_distinct=output_distinct(automaton),
        strongly_feasible=None,
        witness=None,
        distinct=None,
        engine="none",
        encoding=None,
        seconds=0.0,
        notes=automaton.notes,
    )


def outermost(loops: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The loops that lie in no other one."""
    return tuple(
        (i, j) for i, j in loops if not any(a <= i and j <= b and (a, b) != (i, j) for a, b in loops)
    )


def unpaired(bounds: Bounds) -> Note:
    """What to say where no pairs of runs make up for a violation."""
    reason = bounds.missing.get("relational", portfolio.NONE)
    return Note(NoteKind.NO_PAIRING, "" if reason == portfolio.NONE else f"; {reason}")


DEFAULT = CheckOptions()
"""What a check does if nothing is asked for."""


class Work:
    """What is known so far about one automaton."""

    def __init__(self, problem: Problem, automaton: Automaton, limits: Limits) -> None:
        self.problem, self.automaton, self.limits = problem, automaton, limits
        self.seconds = stopwatch()
        self.answers = Answers(())
        self.output_distinct = output_distinct(automaton)
        self.witness: Witness | None = None
        self.distinct: bool | None = None
        self.bounds: Bounds | None = None
        self.notes: list[Note] = list(automaton.notes)

    @property
    def well_formed(self) -> bool | None:
        """Whether none of the patterns occurs; ``None`` while that is open."""
        return well_formed(self.answers)

    @property
    def verdict(self) -> Verdict:
        return decide(self.answers, self.distinct, self.bounds, self.automaton.is_plain)

    def conclude(
        self,
        options: CheckOptions = DEFAULT,
        *,
        enumerated: bool = False,
        more: bool = False,
        aside: bool = False,
    ) -> None:
        """What follows from the answers: a witness, and bounds as far as they are asked for or needed.

        Of a plain automaton the patterns decide, and bounds come on top. Of another one a bound is the proof
        of privacy. ``enumerated``: enumeration was to decide; ``more`` bounds are to follow; ``aside``: any
        bound within the budget is as good as another.
        """
        self.find_witness()
        budget = options.max_weight
        if not self.automaton.is_plain:
            if self.well_formed is not False:
                self.find_cheap_bounds(Source.ALIGNMENT, enumerated, budget, more=more)
                if self.bounds is None:
                    self.measure_distances(self.cap(enumerated, lineups.MAX_CELLS))
                self._settle_by_bound()
        elif self.verdict is Verdict.PRIVATE and options.bounds:
            source = Source.FALLBACK if options.engine == "z3" else Source.AUGMENTATION
            self.find_cheap_bounds(source, enumerated, budget, more=more, aside=aside)
        if self.verdict is Verdict.NOT_WELL_FORMED and options.relational:
            self.pair_runs(budget)

    def _settle_by_bound(self) -> None:
        """Where there is a bound, no run costs more and more: patterns that are open do not occur."""
        if self.bounds is None or self.bounds.best is None:
            return
        open_ones = [p for p, a in self.answers.by_pattern.items() if a.status is Status.UNKNOWN]
        if open_ones:
            settled = {p: PatternResult(p, Status.ABSENT, "bound", "bound") for p in open_ones}
            self.answers = Answers((*self.answers.rounds, settled))

    def cap(self, enumerated: bool, cells: int) -> int | None:
        """The cap on an augmentation built for bounds alone; none if enumeration has succeeded."""
        explicit = (a for a in self.answers.everything if a.engine == "explicit")
        done = enumerated and all(answer.status.is_definite for answer in explicit)
        return None if done else lineups.max_nodes(self.problem.control, cells)

    def find_witness(self) -> None:
        """Choose a witness whose outputs no other run shows, else the first, and note which of the two it is.

        All are replayed once more; one that fails is an internal error. Of an automaton that is not plain
        they must be confirmed by what their runs cost, and are told on the automaton.
        """
        control = self.problem.control
        for answer in self.answers.everything:
            if answer.witness is not None:
                replay(control, answer.witness)
        if not control.is_plain:
            self._find_confirmed()
            return
        witnesses = [a.witness for a in self.answers.by_pattern.values() if a.witness is not None]
        try:
            sure = self.output_distinct and witnesses
            best = witnesses[0] if sure else find_distinct(control, witnesses, self.limits)
        except LimitReached as limit:
            best = None
            self.notes.append(Note(NoteKind.DISTINCTNESS_OPEN, str(limit)))
        if best is not None:
            self.witness, self.distinct = best, True
        elif witnesses:
            self.witness, self.distinct = witnesses[0], False

    def _find_confirmed(self) -> None:
        """:meth:`find_witness` on a core."""
        found: dict[Witness, PatternResult] = {}

        def settled(answer: PatternResult) -> PatternResult:
            raw = answer.witness
            if raw is None:
                return answer
            if raw not in found:
                found[raw] = confirmed(self.automaton, self.problem.control, answer, self.limits)
            told = found[raw]
            return replace(
                answer, status=told.status, method=told.method, witness=told.witness, reason=told.reason
            )

        rounds = [{p: settled(a) for p, a in answers.items()} for answers in self.answers.rounds]
        self.answers = Answers(tuple(rounds))
        sure = [raw for raw, told in found.items() if told.witness is not None]
        self._choose(sorted(sure, key=lambda witness: len(witness.run)))

    def _choose(self, found: list[Witness]) -> None:
        """The first of these witnesses on the core whose outputs no other run shows, else the first one."""
        if not found:
            return
        from symdipa.runs.numbers.growth import growth

        automaton, control = self.automaton, self.problem.control
        try:
            best = found[0] if self.output_distinct else find_distinct(control, found, self.limits)
        except LimitReached as limit:
            best = None
            self.notes.append(Note(NoteKind.DISTINCTNESS_OPEN, str(limit)))
        told = on_automaton(automaton, control, best or found[0])
        if best is not None:
            rising = growth(automaton, told.run, told.cycles, *EITHER_WAY, letters=told.letters)
            if rising.grows is None:
                best, told = None, on_automaton(automaton, control, found[0])
        self.witness, self.distinct = told, best is not None

    def measure_distances(self, cap: int | None) -> None:
        """Find the exact constant, or a run that costs more and more, where nothing else decides.

        Such a run is a witness of the first pattern that is open.
        """
        from symdipa.bounds.exact.distance import distances

        try:
            found = self.problem.from_augmentation(distances, self.limits, cap)
        except LimitReached as limit:
            self.notes.append(Note(NoteKind.NOT_MEASURED, str(limit)))
            return
        if found.value is not None:
            self.bounds = Bounds(from_above={"exact": found.value}, source=Source.DISTANCES)
            return
        automaton, control = self.automaton, self.problem.control
        patterns = self.answers.by_pattern
        open_ones = [p for p, a in patterns.items() if a.status is Status.UNKNOWN] or list(patterns)
        witness = Witness(open_ones[0], tuple(found.run), outermost(found.loops), conflict=GROWING)
        answer = PatternResult(witness.pattern, Status.PRESENT, "distances", "explicit", witness=witness)
        told = confirmed(automaton, control, answer, self.limits)
        if told.witness is None:
            self.notes.append(Note(NoteKind.NOT_MEASURED, str(told.reason)))
            return
        self.answers = Answers(({**patterns, witness.pattern: told},))
        self._choose([witness])

    def find_cheap_bounds(
        self,
        source: Source,
        enumerated: bool,
        budget: Fraction | None = None,
        *,
        more: bool = False,
        aside: bool = False,
    ) -> None:
        """Find cheap bounds, and better ones if these are above the budget.

        The paper's on a small augmentation, else alignment, else the paper's on a larger one. Where ``more``
        are to follow, alignment is left to them, but for an automaton that is not plain, of which any bound
        is a proof.
        """
        work = Portfolio(self.problem, enough=budget)
        seconds = portfolio.fallback_seconds(self.seconds())
        plain = self.automaton.is_plain
        first, largest = (self.cap(enumerated, most) for most in (lineups.FIRST_CELLS, lineups.MAX_CELLS))
        work.make(portfolio.cheap(first if plain and not more else largest), self.limits)
        if more and not plain:
            work.make(portfolio.fallback(), self.limits)
        elif not more:
            steps = portfolio.fallback() if plain else portfolio.single_runs(self.problem.control.variables)
            work.make(steps, self.limits.within(seconds))
            work.make(portfolio.last_resort(largest), self.limits)
        if not work.from_above and not more and plain:
            self.notes.append(Note(NoteKind.NO_BOUND, next(iter(work.missing.values()))))
        if "corollary" not in work.from_above:
            source = Source.ALIGNMENT
        if budget is not None and not work.settled:
            ladder = portfolio.ladder(self.problem.control.variables, pairing_seconds=None)
            first_of_all = (portfolio.at_hand(),) if aside else ()
            work.make((*first_of_all, *ladder), self.limits.within(BUDGET_SECONDS))
        self.bounds = replace(work.bounds, source=source) if work.from_above else None

    def pair_runs(self, budget: Fraction | None = None) -> None:
        """Find a bound by relational alignment, which proves privacy in spite of a violation."""
        work = Portfolio(self.problem, enough=budget, single_runs=False)
        work.make(portfolio.pairing(), self.limits)
        if work.from_above:
            self.bounds = replace(work.bounds, source=Source.RELATIONAL)
        else:
            self.notes.append(unpaired(work.bounds))

    def result(self, engine: str, encoding: str | None) -> Result:
        """All in one value."""
        patterns, verdict = self.answers.by_pattern, self.verdict
        skipped = [p.short for p, answer in patterns.items() if answer.status is Status.SKIPPED]
        if skipped and verdict is Verdict.UNKNOWN:
            self.notes.append(Note(NoteKind.NOT_ASKED, ", ".join(skipped)))
        deciders = dict.fromkeys(a.engine for a in patterns.values() if a.status.is_definite)
        return Result(
            automaton=self.automaton,
            verdict=verdict,
            answers=self.answers,
            bounds=self.bounds,
            output_distinct=self.output_distinct,
            strongly_feasible=self._strongly_feasible(),
            witness=self.witness,
            distinct=self.distinct,
            engine="+".join(deciders) or "none" if engine == "auto" else engine,
            encoding=encoding,
            seconds=self.seconds(),
            notes=tuple(self.notes),
        )

    def _strongly_feasible(self) -> bool | None:
        try:
            return strongly_feasible(self.problem, limits=self.limits)
        except LimitReached:
            return None
