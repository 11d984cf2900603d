"""A check from beginning to end: the problem, the answers of engines, bounds on ``D``, the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symdipa.analysis.work import Work, checked, unopened, unpaired
from symdipa.bounds import portfolio
from symdipa.engines.lineup import Lineup, ask
from symdipa.files.formats.halting import added, halt_shown, with_halt
from symdipa.model.adjacency import TWO_SIDED, Adjacency, exact, named
from symdipa.model.adjacency.differ import Differ
from symdipa.model.automaton import Automaton, unseen_steps, validated, with_differ
from symdipa.model.errors import LimitReached, Note, NoteKind, NothingToCertify, SymdipaError
from symdipa.model.limits import Limits, Progress
from symdipa.model.options import CheckOptions, patterns_of
from symdipa.model.patterns import Pattern
from symdipa.model.spelling import enumeration
from symdipa.model.verdict import Answers, Bounds, Result, Verdict, decide, must_be_result
from symdipa.runs.control import control_graph
from symdipa.runs.problem import Problem

if TYPE_CHECKING:
    from symdipa.evidence.certificates import Json
    from symdipa.evidence.hints import Hint
    from symdipa.evidence.refutation import Refutation
    from symdipa.programs.python.mechanism import Mechanism

LEAST_SECONDS = 1e-3
"""What is left of a time that is over, for work that then says so."""

EACH_SECONDS = 20.0
"""How long each method of :func:`weigh` may take by default."""

CONFIRM_SECONDS, NEAR = 10.0, 0.995
"""How long to search for two inputs that come near ``D``, and the fraction of it that is near enough."""

CONCRETE_SECONDS = 60.0
"""How long to search for inputs that refute a claim, by default."""

HALT_SECONDS, SHOWN_STOPS = 1.0, 3
"""How long the other reading of a stop may take, if the first took no longer; the most states named of it."""

NO_ALIGNMENT = "the bound comes from distances alone: no graph gave an alignment, which could be certified"
"""Why a bound has no certificate."""

HINT_SECONDS, HINT_SHARE = 5.0, 3
"""How long deciding one changed automaton may take, and how many times that all of them together."""


def check(
    automaton: Automaton | Mechanism,
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
    differ: Differ | str | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Result:
    """Decide whether an automaton, or a mechanism with these ``settings``, is differentially private.

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
    nothing does, it is hidden, and a note tells where the answer would be another one. ``differ`` says which
    entries of adjacent inputs may differ, such as ``"entries=1"``, if not as the automaton says.
    ``progress`` is called with a few words now and then.

    Returns a :class:`Result`; limits lead to ``Status.UNKNOWN`` and never to an exception. On Linux an
    engine runs in a process of its own, which is killed if it does not stop (enumeration only beyond a small
    cap); elsewhere memory is not limited. Raises :class:`~symdipa.model.errors.InvalidInput` for an automaton
    that breaks the rules of the model or a program that cannot be followed, ``ValueError`` for an unknown
    engine, encoding, solver or pattern and for a bound, timeout or memory that is not positive,
    :class:`~symdipa.model.errors.LimitReached` while a program is followed.
    """
    limits = Limits.of(timeout, memory)
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
    found = with_settings(automaton, settings, halt, differ, limits)
    if found is not automaton and timeout is not None:
        options = replace(options, timeout=max(limits.left() or 0.0, LEAST_SECONDS))
    return check_with(found, options, progress)


def with_settings(
    subject: Automaton | Mechanism,
    settings: Mapping[str, Any],
    halt: str | None,
    differ: Differ | str | None,
    limits: Limits,
) -> Automaton:
    """The automaton, or that of a mechanism with these settings, in the reading that is asked for."""
    if not isinstance(subject, Automaton):
        from symdipa.model.adjacency.differ import differ as read_differ
        from symdipa.programs.loading import automaton_of
        from symdipa.programs.python.mechanism import Mechanism

        if isinstance(subject, Mechanism):
            wanted = read_differ(differ) if isinstance(differ, str) else differ
            return automaton_of(subject, settings, halt, limits, wanted)
    if settings:
        names = enumeration(settings)
        raise TypeError(f"{names} is neither an option nor, of an automaton, a setting")
    return with_halt(differing(subject, differ), halt)


def differing(automaton: Automaton, differ: Differ | str | None) -> Automaton:
    """The automaton as if these entries may differ; ``None``: as it says itself."""
    return automaton if differ is None else with_differ(validated(automaton), differ)


def check_with(automaton: Automaton, options: CheckOptions, progress: Progress | None = None) -> Result:
    """:func:`check` with its options as one value."""
    limits = Limits.of(options.timeout, options.memory, options.bound, progress)
    result = _about(automaton, limits, lambda problem: checked(problem, automaton, options, limits))

    def answer(shown: Automaton, left: Limits) -> Result:
        wanted = replace(options, max_weight=(_best(result) if options.bounds else None) or None)
        return _about(shown, left, lambda problem: checked(problem, shown, wanted, left, aside=True))

    return _with_stops(result, answer, limits)


def _about(automaton: Automaton, limits: Limits, work: Callable[[Problem], Result]) -> Result:
    """What the work makes of the problem of an automaton; unknown where limits forbid to set it up."""
    try:
        problem = Problem.of(automaton, limits)
    except LimitReached as limit:
        return unopened(automaton, limit)
    return work(problem)


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
            origin = result.automaton.origin
            stops = list(dict.fromkeys(map(result.automaton.place, stops)))
            more = [f"{len(stops) - SHOWN_STOPS} {'states' if origin is None else 'lines'} more"]
            where = enumeration([*stops[:SHOWN_STOPS], *(more if len(stops) > SHOWN_STOPS else [])])
            counts = (
                "'else output halt; goto halted' there counts" if origin is None else "--halt visible counts"
            )
            remedy = f"it can stop in {where}; {counts} that"
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

    def compared(problem: Problem) -> Result:
        work = Work(problem, automaton, Limits.of(timeout, memory, bound, progress))
        with Lineup(problem, work.limits) as lineup:
            rounds = [ask(each, tuple(Pattern), everyone.within(timeout)) for each in lineup.every()]
            work.answers, work.limits = Answers(tuple(rounds)), everyone.within(timeout)
            work.conclude(enumerated=True)
        return work.result("all", None)

    return _about(automaton, everyone.within(timeout), compared)


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
    automaton: Automaton | Mechanism,
    methods: Sequence[str] | None = None,
    *,
    graph: str = "auto",
    adjacency: Adjacency = TWO_SIDED,
    sensitivity: Fraction | int = 1,
    timeout: float | None = None,
    memory: int | None = None,
    certified: bool = False,
    halt: str | None = None,
    differ: Differ | str | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Result:
    """Check an automaton, or a mechanism with these ``settings``, and bound ``D`` from both sides.

    ``methods`` are some of :data:`symdipa.model.options.EVERY_METHOD`; by default alignment and exact are
    tried until the bounds meet, and where several runs show the same outputs, runs are paired. ``graph`` is
    that of the alignment. Adjacent inputs differ as ``adjacency`` says (``"two-sided"``, ``"monotone"``, or
    the range of the differences), times the ``sensitivity``. ``timeout`` (in seconds) is for everything;
    without it each method has :data:`EACH_SECONDS`. Where the automaton is not well-formed but other runs may
    make up for that, runs are paired whatever the methods; where it is not private there are no bounds. A
    bound proves privacy where the check left it open. ``certified``: look for a good bound that comes with a
    certificate, even if a better one is known. ``halt`` and ``differ`` are as for :func:`check`, which says
    what is raised.
    """
    sensitivity = exact(sensitivity)
    cheap = methods is None and named(adjacency) == TWO_SIDED
    options = CheckOptions(timeout=timeout, memory=memory, bounds=cheap, relational=False)
    limits = Limits.of(timeout, memory, progress=progress)
    found = with_settings(automaton, settings, halt, differ, limits)

    def answer(automaton: Automaton, limits: Limits) -> Result:
        def weighed(problem: Problem) -> Result:
            result = checked(problem, automaton, options, limits, more=True)
            return _bounded(result, problem, methods, graph, adjacency, sensitivity, limits, certified)

        return _about(automaton, limits, weighed)

    return _with_stops(answer(found, limits), answer, limits)


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
    """The result of a check with the bounds of :func:`weigh`; ``timeout`` is for all of them.

    If it is 0 or soon over, what was known stays, and a note says why there is no bound.
    """
    must_be_result(result)
    limits = _what_is_left(timeout, memory, progress)

    def bounded() -> Result:
        try:
            problem = Problem.of(result.automaton, limits)
        except LimitReached as limit:
            return _unbounded(result, limit, adjacency, sensitivity)
        return _bounded(result, problem, methods, graph, adjacency, sensitivity, limits)

    def answer(automaton: Automaton, limits: Limits) -> Result:
        def weighed(problem: Problem) -> Result:
            result = checked(problem, automaton, CheckOptions(bounds=False), limits, more=True)
            return _bounded(result, problem, methods, graph, adjacency, sensitivity, limits)

        return _about(automaton, limits, weighed)

    return _with_stops(bounded(), answer, limits)


def _what_is_left(
    seconds: float | None, memory: int | None = None, progress: Progress | None = None
) -> Limits:
    """Limits of work that goes on where other work has ended: no time may be left for it."""
    if seconds:
        return Limits.of(seconds, memory, progress=progress)
    return Limits.of(None, memory, progress=progress).within(seconds)


def _unbounded(
    result: Result, limit: LimitReached, adjacency: Adjacency, sensitivity: Fraction | int
) -> Result:
    """The result where the search for bounds could not begin; those for another adjacency do not count."""
    known, question = result.bounds, (named(adjacency), exact(sensitivity))
    if result.verdict is Verdict.NOT_PRIVATE:
        return replace(result, bounds=None)
    if known is not None and (known.adjacency, known.sensitivity) == question:
        return result
    bounds = Bounds(missing={"alignment": str(limit)}, adjacency=question[0], sensitivity=question[1])
    return replace(result, bounds=bounds, notes=(*result.notes, Note(NoteKind.NO_BOUND, str(limit))))


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
        notes = tuple(dict.fromkeys((*notes, unpaired(bounds))))
    return replace(result, bounds=bounds, verdict=verdict, notes=notes)


def confirm(
    result: Result, eps: Fraction | int = 1, *, timeout: float | None = None, progress: Progress | None = None
) -> Result:
    """The result with two inputs whose probabilities come near the best bound, if any are found.

    The search, at this ``eps``, takes at most ``timeout`` (and :data:`CONFIRM_SECONDS`) seconds. Where it
    finds nothing, a note of the kind ``NO_CONFIRMATION`` says why; where it is not private, there is nothing
    to look for, and the result is the same. Raises ``ValueError`` for bounds with a sensitivity other than 1.
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
    if not result.automaton.shows_steps:
        return _unconfirmed(result, "how many steps it makes is not seen")
    if result.bounds.sensitivity != 1:
        raise ValueError("two inputs are looked for with sensitivity 1 only")
    if progress is not None:
        progress("two inputs that come near D")
    flow = result.bounds.flow
    try:
        found = confirmation.confirm(
            replace(result.automaton, adjacency=result.bounds.adjacency),
            Fraction(eps),
            flow=flow and on_automaton_flow(control_graph(result.automaton), flow, result.bounds.flow_range),
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
    limits = _what_is_left(CONCRETE_SECONDS if timeout is None else timeout, progress=progress)
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
    limits = _what_is_left(EACH_SECONDS if timeout is None else timeout)
    if invariant and not _is_of_the_paper(automaton):
        raise NothingToCertify(certificates.NOT_PLAIN)
    parts = [] if result.disagreements or (invariant and result.bounds) else _proofs(result, limits)
    if not parts and _is_of_the_paper(automaton) and result.bounds is not None and not result.disagreements:
        try:
            parts = [certificates.well_formed(control_graph(automaton), limits=limits)]
        except SymdipaError as error:
            reason = str(error)
    if not parts:
        raise NothingToCertify(reason)
    return certificates.bundle(automaton, parts)


def _is_of_the_paper(automaton: Automaton) -> bool:
    """Whether the checker takes it for one of the paper's, which have real noise."""
    return automaton.is_plain and not automaton.integer


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
        if witness is not None and not automaton.shows_steps:
            raise NothingToCertify(str(unseen_steps(automaton)))
        if witness is not None:
            parts.append(
                certificates.violation(control_graph(automaton), witness)
                if _is_of_the_paper(automaton)
                else wider.growth(
                    automaton, witness.run, witness.cycles, letters=witness.letters, limits=limits
                )
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
    return [*parts, *_from_below(automaton, bounds, bool(proofs), limits)]


def _from_below(automaton: Automaton, bounds: Bounds, proved: bool, limits: Limits) -> list[Json]:
    """The certificates of bounds from below: of one run, if a bound from above is ``proved``, and of all runs
    that show the same, if they say more."""
    from symdipa.evidence import certificates
    from symdipa.evidence.certificates import wider

    if not automaton.shows_steps:
        return []
    flow, alike, sensitivity, parts = (
        bounds.flow,
        bounds.alike_proof,
        bounds.sensitivity,
        list[certificates.Json](),
    )
    paper = _is_of_the_paper(automaton)
    told = alike is not None and alike.value == bounds.lower
    if proved and flow is not None and bounds.lower and not told:  # nobody doubts that D is at least 0
        question = flow, bounds.flow_range, sensitivity
        with suppress(NothingToCertify, LimitReached):
            parts.append(
                certificates.lower_of_flow(*question)
                if paper
                else wider.lower_of_flow(automaton, *question, limits)
            )
    if alike is not None:
        with suppress(NothingToCertify, LimitReached):
            parts.append(
                certificates.lower_of_alike(automaton, alike, sensitivity)
                if paper
                else wider.lower_of_alike(automaton, alike, sensitivity, limits)
            )
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
