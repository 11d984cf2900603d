"""A check from beginning to end: the problem, the answers of engines, bounds on ``D``, the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from symdipa.bounds import portfolio
from symdipa.bounds.portfolio import Portfolio
from symdipa.engines import lineup as lineups
from symdipa.engines.lineup import Lineup, ask
from symdipa.files.formats.halting import added, halt_shown, with_halt
from symdipa.model.adjacency import EITHER_WAY, TWO_SIDED, Adjacency, exact, named
from symdipa.model.automaton import Automaton
from symdipa.model.errors import LimitReached, Note, NoteKind, NothingToCertify, SymdipaError
from symdipa.model.limits import Limits, Progress, stopwatch
from symdipa.model.options import CheckOptions, patterns_of
from symdipa.model.patterns import Pattern
from symdipa.model.spelling import enumeration
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
    must_be_result,
    well_formed,
)
from symdipa.runs.control import control_graph
from symdipa.runs.numbers.growth import growth
from symdipa.runs.problem import Problem
from symdipa.runs.properties import find_distinct, output_distinct, strongly_feasible
from symdipa.runs.witness import replay
from symdipa.runs.witness.wayback import confirmed, on_automaton

if TYPE_CHECKING:
    from symdipa.evidence.certificates import Json
    from symdipa.evidence.hints import Hint
    from symdipa.evidence.refutation import Refutation

BUDGET_SECONDS = 20.0
"""How long all methods together may search for a bound within the budget of a check."""

EACH_SECONDS = 20.0
"""How long each method of :func:`weigh` may take by default."""

DECIDING_SHARE = 2 / 3
"""The part of the time for :func:`weigh` in which the patterns are to be decided."""

CONFIRM_SECONDS, NEAR = 10.0, 0.995
"""How long to search for two inputs that come near ``D``, and the fraction of it that is near enough."""

CONCRETE_SECONDS = 60.0
"""How long to search for inputs that refute a claim, by default."""

HALT_SECONDS, SHOWN_STOPS = 1.0, 3
"""How long the other reading of a stop may take, if the first took no longer; the most states named of it."""

NO_ALIGNMENT = "the bound comes from distances alone: no graph gave an alignment, which could be certified"
"""Why a bound has no certificate."""

GROWING = "a run that costs more and more"
"""The conflict of a witness that distances have found."""

HINT_SECONDS, HINT_SHARE = 5.0, 3
"""How long deciding one changed automaton may take, and how many times that all of them together."""


def check(
    automaton: Automaton,
    engine: str = "auto",
    *,
    encoding: str = "marks",
    solver: str | None = None,
    slicing: bool = True,
    patterns: Iterable[Pattern | str] | None = None,
    bound: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    bounds: bool = True,
    max_weight: Fraction | None = None,
    relational: bool = True,
    halt: str | None = None,
    progress: Progress | None = None,
) -> Result:
    """Decide whether an automaton is differentially private.

    ``engine``: ``"explicit"`` enumerates the augmentation; ``"z3"`` searches symbolically with the given
    ``encoding`` (``"marks"`` or ``"ghost"``); ``"both"`` runs both and compares; ``"auto"`` enumerates
    while the augmentation is small; beyond, a symbolic search and the enumeration race. ``solver`` is what
    the symbolic search runs on (:data:`symdipa.model.options.SOLVERS`; default: z3, and minisat for
    ``"auto"``), ``slicing`` whether it looks at one variable component at a time. ``patterns`` restricts the
    check, as :class:`Pattern` or by code like ``"LP"`` (default: all four; a verdict "private" needs all).
    ``bound`` is the largest unrolling (of symbolic searches), ``timeout`` is in seconds, ``memory`` in bytes
    (default: :func:`symdipa.model.limits.default_memory`).
    The bound on ``D`` (none without ``bounds``) is a cheap one, improved only if it is above ``max_weight``.
    Where runs with the same outputs leave privacy open, they are paired (experimental) unless
    ``relational`` is false.
    ``halt`` says whether it is seen that a run stops where no branch holds, ``"visible"`` or ``"hidden"``; if
    nothing does, it is hidden, and a note tells where the answer would be another one.
    ``progress`` is called with a few words now and then.

    Returns a :class:`Result`; limits lead to ``Status.UNKNOWN`` and never to an exception. On Linux an
    engine runs in a process of its own, which is killed if it does not stop (enumeration only beyond a small
    cap); elsewhere memory is not limited. Raises :class:`~symdipa.model.errors.InvalidInput` for an automaton
    that breaks the rules of the model, ``ValueError`` for an unknown engine, encoding, solver or pattern and
    for a bound, timeout or memory that is not positive.
    """
    options = CheckOptions(
        engine=engine,
        encoding=encoding,
        solver=solver,
        slicing=slicing,
        patterns=patterns_of(patterns),
        bound=bound,
        timeout=timeout,
        memory=memory,
        bounds=bounds,
        max_weight=max_weight,
        relational=relational,
    )
    return check_with(with_halt(automaton, halt), options, progress)


def check_with(automaton: Automaton, options: CheckOptions, progress: Progress | None = None) -> Result:
    """:func:`check` with its options as one value."""
    limits = Limits.of(options.timeout, options.memory, options.bound, progress)
    result = _checked(Problem.of(automaton), automaton, options, limits)

    def answer(shown: Automaton, left: Limits) -> Result:
        wanted = replace(options, max_weight=(_best(result) if options.bounds else None) or None)
        return _checked(Problem.of(shown), shown, wanted, left)

    return _with_stops(result, answer, limits)


def _checked(
    problem: Problem, automaton: Automaton, options: CheckOptions, limits: Limits, *, more: bool = False
) -> Result:
    """A check; ``more`` bounds are to follow, for which it leaves time."""
    engine, encoding, solver = options.engine, options.encoding, options.solver
    deciding = limits.share(DECIDING_SHARE) if more else limits
    work = _Check(problem, automaton, limits)
    with Lineup(problem, deciding) as lineup:
        engines = lineup.engines(engine, encoding, solver, options.slicing)
        work.answers = Answers(tuple(ask(each, options.patterns, deciding) for each in engines))
        work.find_witness()
        cap = _cap(work, engine in ("explicit", "both"))
        if not automaton.is_plain and work.well_formed is not False:
            work.find_cheap_bounds(Source.ALIGNMENT, cap, options.max_weight)
            if work.bounds is None:
                work.measure_distances(cap)
        elif work.verdict is Verdict.PRIVATE and options.bounds:
            source = Source.FALLBACK if engine == "z3" else Source.AUGMENTATION
            work.find_cheap_bounds(source, cap, options.max_weight, more=more)
        if work.verdict is Verdict.NOT_WELL_FORMED and options.relational:
            work.pair_runs(options.max_weight)
    return work.result(solver if engine == "z3" and solver else engine, encoding)


def _with_stops(result: Result, ask: Callable[[Automaton, Limits], Result], limits: Limits) -> Result:
    """The result, and a note if the answer may be another one where it is seen that a run stops.

    Only a private automaton can have another one: its runs are runs in the other reading, too (Def. halting),
    and so are violations. ``ask`` has as long as the first answer took, and :data:`HALT_SECONDS` at least.
    """
    if result.verdict is not Verdict.PRIVATE or result.automaton.halt:
        return result
    found, said = None, ""
    try:
        shown = halt_shown(result.automaton)
        if stops := list(dict.fromkeys(stop.source for stop in added(result.automaton, shown))):
            left = limits.within(max(HALT_SECONDS, result.seconds))
            found = ask(shown, left)
            more = [f"{len(stops) - SHOWN_STOPS} states more"] if len(stops) > SHOWN_STOPS else []
            where = enumeration([*stops[:SHOWN_STOPS], *more])
            remedy = f"it can stop in {where}; 'else output halt; goto halted' there counts that"
            said = (words := _if_seen(result, found)) and f"{words} ({remedy})"
    except LimitReached as limit:
        said = f"the answer is not known: {limit}"
    notes = [note for note in result.notes if note.kind is not NoteKind.STOP_SEEN]
    notes += [Note(NoteKind.STOP_SEEN, said)] if said else []
    return replace(result, stopping=found if said else None, notes=tuple(notes))


def _if_seen(result: Result, found: Result) -> str:
    """What is different in the other reading; nothing if nothing is."""
    match found.verdict:
        case Verdict.UNKNOWN:
            return "no answer was found in time"
        case Verdict.NOT_WELL_FORMED:
            return "it is not well-formed, and privacy not decided"
        case Verdict.NOT_PRIVATE:
            return "it is not private"
    best, other = _best(result), found.bounds
    if other is None or other.best is None:
        return "" if best is None else "it is private, but its D was not computed"
    if best is not None and other.best <= best:
        return ""
    return f"D = {other.best}" if other.optimal else f"D is at most {other.best}"


def _best(result: Result) -> Fraction | None:
    return result.bounds.best if result.bounds is not None else None


def compare(
    automaton: Automaton,
    *,
    bound: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Run every engine and encoding; ``answers`` has all answers, ``disagreements`` every contradiction.

    ``timeout`` and ``memory`` apply to each engine, as in :func:`check`, the ``timeout`` once more to what
    follows from the answers. Raises what :func:`check` raises.
    """
    everyone = Limits.of(None, memory, bound, progress)
    work = _Check(Problem.of(automaton), automaton, Limits.of(timeout, memory, bound, progress))
    with Lineup(work.problem, work.limits) as lineup:
        rounds = [ask(each, tuple(Pattern), everyone.within(timeout)) for each in lineup.every()]
        work.answers, work.limits = Answers(tuple(rounds)), everyone.within(timeout)
        work.find_witness()
        cap = _cap(work, enumerated=True)
        if not automaton.is_plain and work.well_formed is not False:
            work.find_cheap_bounds(Source.ALIGNMENT, cap)
            if work.bounds is None:
                work.measure_distances(cap)
        elif work.verdict is Verdict.PRIVATE:
            work.find_cheap_bounds(Source.AUGMENTATION, cap)
        if work.verdict is Verdict.NOT_WELL_FORMED:
            work.pair_runs()
    return work.result("all", None)


def disagreements(
    automaton: Automaton,
    patterns: Iterable[Pattern],
    *,
    bound: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
) -> tuple[str, ...]:
    """Only the disagreements that :func:`compare` would find on these patterns."""
    wanted = tuple(patterns)
    everyone = Limits.of(None, memory, bound)
    with Lineup(Problem.of(automaton), everyone.within(timeout)) as lineup:
        return Answers(
            tuple(ask(each, wanted, everyone.within(timeout)) for each in lineup.every())
        ).disagreements


def weigh(
    automaton: Automaton,
    methods: Sequence[str] | None = None,
    *,
    graph: str = "auto",
    adjacency: Adjacency = TWO_SIDED,
    sensitivity: Fraction | int = 1,
    timeout: float | None = None,
    memory: int | None = None,
    certified: bool = False,
    halt: str | None = None,
    progress: Progress | None = None,
) -> Result:
    """Check an automaton and bound ``D`` from above and from below, as well as possible.

    ``methods`` are some of :data:`symdipa.model.options.EVERY_METHOD`; by default alignment and exact are
    tried until the bounds meet, and where several runs show the same outputs, runs are paired. ``graph`` is
    that of the alignment. Adjacent inputs differ as ``adjacency`` says (``"two-sided"``, ``"monotone"``, or
    the range of the differences), times the ``sensitivity``. ``timeout`` (in seconds) is for everything;
    without it each method has :data:`EACH_SECONDS`. Where the automaton is not well-formed but other runs may
    make up for that, runs are paired whatever the methods; where it is not private there are no bounds. A
    bound proves privacy where the check left it open. ``certified``: look for a good bound that comes with a
    certificate, even if a better one is known. ``halt`` is as for :func:`check`, which says what is raised.
    """
    automaton, sensitivity = with_halt(automaton, halt), exact(sensitivity)
    cheap = methods is None and named(adjacency) == TWO_SIDED
    options = CheckOptions(timeout=timeout, memory=memory, bounds=cheap, relational=False)
    limits = Limits.of(timeout, memory, progress=progress)

    def answer(automaton: Automaton, limits: Limits) -> Result:
        problem = Problem.of(automaton)
        result = _checked(problem, automaton, options, limits, more=True)
        return _bounded(result, problem, methods, graph, adjacency, sensitivity, limits, certified)

    return _with_stops(answer(automaton, limits), answer, limits)


def with_bounds(
    result: Result,
    methods: Sequence[str] | None = None,
    *,
    graph: str = "auto",
    adjacency: Adjacency = TWO_SIDED,
    sensitivity: Fraction | int = 1,
    timeout: float | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """The result of a check with the bounds of :func:`weigh`; ``timeout`` is for all of them."""
    must_be_result(result)
    limits = Limits.of(timeout, memory, progress=progress)

    def bounded(result: Result, limits: Limits) -> Result:
        problem = Problem.of(result.automaton)
        return _bounded(result, problem, methods, graph, adjacency, sensitivity, limits)

    def answer(automaton: Automaton, limits: Limits) -> Result:
        options = CheckOptions(bounds=False)
        return bounded(_checked(Problem.of(automaton), automaton, options, limits, more=True), limits)

    return _with_stops(bounded(result, limits), answer, limits)


def _bounded(
    result: Result,
    problem: Problem,
    methods: Sequence[str] | None,
    graph: str,
    adjacency: Adjacency,
    sensitivity: Fraction | int,
    limits: Limits,
    certified: bool = False,
) -> Result:
    if result.verdict is Verdict.NOT_PRIVATE:
        return replace(result, bounds=None)
    known, question = result.bounds, (adjacency, sensitivity)
    paired = known is not None and known.relational is not None
    if known is not None and paired and methods is None and (known.adjacency, known.sensitivity) == question:
        return result
    bounds = portfolio.bounds_on(
        problem,
        methods,
        graph=graph,
        adjacency=adjacency,
        sensitivity=sensitivity,
        limits=limits,
        each=EACH_SECONDS if limits.deadline is None else None,
        single_runs=result.well_formed is not False,
        known=known,
        certified=certified,
    )
    verdict = decide(result.answers, result.distinct, bounds, result.automaton.is_plain)
    notes = result.notes
    if verdict is Verdict.NOT_WELL_FORMED:
        notes = tuple(dict.fromkeys((*notes, _unpaired(bounds))))
    return replace(result, bounds=bounds, verdict=verdict, notes=notes)


def _unpaired(bounds: Bounds) -> Note:
    """What to say where no pairs of runs make up for a violation."""
    reason = bounds.missing.get("relational", portfolio.NONE)
    return Note(NoteKind.NO_PAIRING, "" if reason == portfolio.NONE else f"; {reason}")


def confirm(
    result: Result, eps: Fraction | int = 1, *, timeout: float | None = None, progress: Progress | None = None
) -> Result:
    """The result with two inputs whose probabilities come near the best bound, if any are found.

    The search, at this ``eps``, takes at most ``timeout`` (and :data:`CONFIRM_SECONDS`) seconds. Where it
    finds nothing, a note of the kind ``NO_CONFIRMATION`` says why; where it is not private, there is nothing
    to look for, and the result is the same. Raises ``ValueError`` for bounds under another adjacency or
    sensitivity.
    """
    must_be_result(result)
    from symdipa.bounds.exact.flow import on_automaton as on_automaton_flow
    from symdipa.evidence import confirmation

    if result.bounds is None or result.bounds.best is None:
        if result.verdict is Verdict.NOT_PRIVATE:
            return result
        return _unconfirmed(result, "there is no bound on D to come near to")
    if timeout is not None and timeout <= 0:
        return _unconfirmed(result, "the time was over before it began")
    if result.bounds.adjacency != TWO_SIDED or result.bounds.sensitivity != 1:
        raise ValueError("two inputs are looked for under two-sided adjacency of sensitivity 1 only")
    if progress is not None:
        progress("two inputs that come near D")
    flow = result.bounds.flow
    try:
        found = confirmation.confirm(
            result.automaton,
            Fraction(eps),
            flow=flow and on_automaton_flow(control_graph(result.automaton), flow),
            enough=NEAR * float(result.bounds.best),
            limits=Limits.of(CONFIRM_SECONDS).within(timeout),
        )
    except confirmation.NoConfirmation as reason:
        return _unconfirmed(result, str(reason))
    return replace(result, confirmation=found)


def _unconfirmed(result: Result, reason: str) -> Result:
    return replace(result, notes=(*result.notes, Note(NoteKind.NO_CONFIRMATION, reason)))


def refute(
    result: Result,
    exceeds: Fraction | int = 1,
    eps: Fraction | int = 1,
    *,
    timeout: float | None = None,
    progress: Progress | None = None,
) -> Refutation | None:
    """Two inputs and an output event that refute ``exceeds*eps``-privacy at this ``eps``, from the witness.

    ``None`` where there is no violation. ``timeout`` is in seconds (default: :data:`CONCRETE_SECONDS`).
    Raises :class:`~symdipa.evidence.refutation.NoRefutation` where not one pair could be evaluated.
    """
    must_be_result(result)
    from symdipa.evidence import refutation

    if result.witness is None:
        return None
    limits = Limits.of(CONCRETE_SECONDS if timeout is None else timeout, progress=progress)
    return refutation.refute(
        result.automaton, result.witness, exceeds, eps, distinct=result.distinct, limits=limits
    )


def certify(result: Result, *, invariant: bool = False, timeout: float | None = None) -> Json:
    """A certificate of what :func:`weigh` found, as the content of a file (docs/certificates.md).

    For a private automaton it proves a bound on ``D`` and, where one was found, a bound from below; with
    ``invariant``, or without such a proof, that none of the four patterns occurs, which may take ``timeout``
    seconds. Otherwise it has the violation. Raises :class:`~symdipa.model.errors.NothingToCertify` where
    there is no proof, or, with ``invariant``, where a pattern occurs or could say nothing.
    """
    must_be_result(result)
    from symdipa.evidence import certificates

    reason, automaton = "no answer was found", result.automaton
    limits = Limits.of(EACH_SECONDS if timeout is None else timeout)
    if invariant and not automaton.is_plain:
        raise NothingToCertify(certificates.NOT_PLAIN)
    parts = [] if result.disagreements or (invariant and result.bounds) else _proofs(result, limits)
    if not parts and automaton.is_plain and result.bounds is not None and not result.disagreements:
        try:
            parts = [certificates.well_formed(control_graph(automaton), limits=limits)]
        except SymdipaError as error:
            reason = str(error)
    if not parts:
        raise NothingToCertify(reason)
    return certificates.bundle(automaton, parts)


def _proofs(result: Result, limits: Limits) -> list[Json]:
    """The certificates of a violation, and of the bounds: of the best from above that has one.

    Raises :class:`~symdipa.model.errors.NothingToCertify` where that of an automaton that is not one of the
    paper's has none.
    """
    from symdipa.evidence import certificates
    from symdipa.evidence.certificates import wider

    automaton, witness, bounds = result.automaton, result.witness, result.bounds
    plain, parts = automaton.is_plain, list[certificates.Json]()
    try:
        if witness is not None:
            parts.append(
                certificates.violation(control_graph(automaton), witness)
                if plain
                else wider.growth(automaton, witness.run, witness.cycles, limits=limits)
            )
        if bounds is None:
            return parts
        aligned, paired = bounds.alignment_proof, bounds.relational_proof
        if bounds.relational is not None and (
            bounds.alignment is None or bounds.relational < bounds.alignment
        ):
            proofs = list(paired.certificates) if paired is not None else []
        elif aligned is not None:
            proofs = certificates.private(aligned) if plain else wider.private(automaton, aligned, limits)
        else:
            proofs = []
    except LimitReached as limit:
        raise NothingToCertify(str(limit)) from limit
    if not (plain or parts or proofs or bounds.best is None):
        raise NothingToCertify(NO_ALIGNMENT)
    parts += proofs
    if proofs and bounds.flow is not None and bounds.lower:  # nobody doubts that D is at least 0
        question = bounds.flow, bounds.flow_range, bounds.sensitivity
        if plain:
            parts.append(certificates.lower_of_flow(*question))
        else:
            with suppress(NothingToCertify, LimitReached):
                parts.append(wider.lower_of_flow(automaton, *question, limits))
    return parts


def hints(result: Result, *, timeout: float | None = None) -> list[Hint] | None:
    """Changes that help, each tried and decided again; ``None`` where there is nothing to repair.

    All together may take ``timeout`` (and three times :data:`HINT_SECONDS`) seconds.
    """
    must_be_result(result)
    from symdipa.evidence.hints import hints as changes

    if result.witness is None or result.verdict is Verdict.PRIVATE:
        return None
    limits = Limits.of(HINT_SHARE * HINT_SECONDS).within(timeout)
    each = min(HINT_SECONDS, limits.left() or 0.0)

    def decided(changed: Automaton) -> Result | None:
        left = limits.left()
        return check(changed, timeout=min(each, left), relational=False) if left else None

    return changes(result.automaton, result.witness, decided)


def _cap(work: _Check, enumerated: bool) -> int | None:
    """The cap on an augmentation built for bounds alone; none if enumeration has succeeded."""
    done = enumerated and all(a.status.is_definite for a in work.answers.everything if a.engine == "explicit")
    return None if done else lineups.max_nodes(work.problem.control, lineups.MAX_CELLS)


class _Check:
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
        automaton, control = self.automaton, self.problem.control
        found: list[Witness] = []

        def settled(answer: PatternResult) -> PatternResult:
            told = confirmed(automaton, control, answer, self.limits)
            if told.witness is not None and answer.witness is not None:
                found.append(answer.witness)
            return told

        try:
            rounds = [{p: settled(a) for p, a in answers.items()} for answers in self.answers.rounds]
        except LimitReached as limit:
            self.notes.append(Note(NoteKind.DISTINCTNESS_OPEN, str(limit)))
            return
        self.answers = Answers(tuple(rounds))
        self._choose(sorted(found, key=lambda witness: len(witness.run)))

    def _choose(self, found: list[Witness]) -> None:
        """The first of these witnesses on the core whose outputs no other run shows, else the first one."""
        automaton, control = self.automaton, self.problem.control
        if not found:
            return
        try:
            best = found[0] if self.output_distinct else find_distinct(control, found, self.limits)
        except LimitReached as limit:
            best = None
            self.notes.append(Note(NoteKind.DISTINCTNESS_OPEN, str(limit)))
        told = on_automaton(automaton, control, best or found[0])
        if best is not None and growth(automaton, told.run, told.cycles, *EITHER_WAY).grows is None:
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
        witness = Witness(open_ones[0], tuple(found.run), tuple(found.loops), conflict=GROWING)
        told = on_automaton(automaton, control, witness)
        grown = growth(automaton, told.run, told.cycles, *EITHER_WAY, self.limits)
        if grown.grows is None:
            self.notes.append(
                Note(NoteKind.NOT_MEASURED, f"a run that seems to cost more and more: {grown.reason}")
            )
            return
        answer = PatternResult(witness.pattern, Status.PRESENT, "distances", "explicit", witness=told)
        self.answers = Answers(({**patterns, witness.pattern: answer},))
        self._choose([witness])

    def find_cheap_bounds(
        self, source: Source, cap: int | None, budget: Fraction | None = None, *, more: bool = False
    ) -> None:
        """Find cheap bounds, and better ones if these are above the budget.

        ``cap`` limits the nodes of an augmentation built for the bounds alone. Where ``more`` are to follow,
        alignment is left to them.
        """
        work = Portfolio(self.problem, enough=budget)
        seconds = portfolio.fallback_seconds(self.seconds())
        work.make(portfolio.cheap(cap), self.limits)
        if not more:
            work.make(portfolio.fallback(), self.limits.within(seconds))
        if not work.from_above and not more and self.automaton.is_plain:
            self.notes.append(Note(NoteKind.NO_BOUND, next(iter(work.missing.values()))))
        if "corollary" not in work.from_above:
            source = Source.ALIGNMENT
        if budget is not None and not work.settled:
            ladder = portfolio.ladder(self.problem.control.variables, pairing_seconds=None)
            work.make(ladder, self.limits.within(BUDGET_SECONDS))
        self.bounds = replace(work.bounds, source=source) if work.from_above else None

    def pair_runs(self, budget: Fraction | None = None) -> None:
        """Find a bound by relational alignment, which proves privacy in spite of a violation.

        With a budget it is tried as well whether ``D`` must be larger.
        """
        work = Portfolio(self.problem, enough=budget, single_runs=False)
        attempts = portfolio.pairing()
        work.make(attempts if budget is not None else attempts[:1], self.limits)
        if work.from_above:
            self.bounds = replace(work.bounds, source=Source.RELATIONAL)
        else:
            self.notes.append(_unpaired(work.bounds))

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
