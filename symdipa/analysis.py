"""The check as a whole: engines, verdict, weight."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from symdipa.engines import processes
from symdipa.engines.base import Engine, Limits, Progress
from symdipa.engines.explicit import ExplicitEngine
from symdipa.model.automaton import Automaton
from symdipa.model.errors import LimitReached
from symdipa.model.options import ENCODINGS, CheckOptions, patterns_of
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import PatternResult, Result, Status, Verdict, Weight, Witness
from symdipa.runs.control import Control, control_of
from symdipa.runs.properties import find_distinct, output_distinct, strongly_feasible
from symdipa.runs.witness import replay

if TYPE_CHECKING:
    from symdipa.engines.processes import Race
    from symdipa.engines.symbolic import SymbolicEngine

RUN_BOUND_NODES = 400
"""Up to this size of its graphs the run bound comes with a check: it costs next to nothing."""

WEIGHING_SECONDS = 20.0
"""So long each method may take that looks for a bound within a budget."""

ALIGNMENT_SECONDS = 1.0
"""So long a bound by alignment is looked for where the augmentation is too large."""


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
    relational: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Decide whether an automaton is differentially private.

    ``engine``: ``"explicit"`` enumerates the augmentation; ``"z3"`` searches symbolically with the given
    ``encoding`` (``"marks"`` or ``"ghost"``); ``"both"`` runs both and compares; ``"auto"`` enumerates while
    the augmentation is small; beyond, a symbolic search and the enumeration race. ``solver`` is what the
    symbolic search runs on (:data:`symdipa.model.options.SOLVERS`; default: z3, and minisat for ``"auto"``),
    ``slicing`` whether it looks at one variable component at a time. ``patterns`` restricts the check, as
    :class:`Pattern` or by code like ``"LP"`` (default: all four; a verdict "private" needs all). ``bound`` is
    the largest unrolling (of symbolic searches), ``timeout`` is in seconds, ``memory`` in bytes. The bound on
    ``D`` (none without ``bounds``) is what costs little; where that is above ``max_weight``, better ones are
    looked for. Where runs with the same outputs leave privacy open, ``relational`` has them paired
    (experimental). ``progress`` is called with a few words now and then.

    Returns a :class:`Result`; limits lead to ``Status.UNKNOWN`` and never to an exception. On Linux an
    engine under a limit on time or memory runs in a process of its own, which is ended if it does not yield;
    elsewhere there is no limit on memory. Raises ``ValueError`` for an unknown engine, encoding, solver or
    pattern and for a bound, timeout or memory that is not positive.
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
    return check_with(automaton, options, progress)


def check_with(automaton: Automaton, options: CheckOptions, progress: Progress | None = None) -> Result:
    """:func:`check` with its options as one value."""
    engine, solver, timeout = options.engine, options.solver, options.timeout
    began = time.monotonic()
    limits = Limits(options.bound, None if timeout is None else began + timeout, progress, options.memory)
    name = solver if engine == "z3" and solver else engine
    with _Session(
        control_of(automaton), limits, options.bounds, options.max_weight, options.relational
    ) as session:
        engines = session.engines(engine, options.encoding, solver, options.slicing)
        rounds = [session.run(each, options.patterns) for each in engines]
        return session.conclude(rounds, name, options.encoding, began)


def compare(
    automaton: Automaton,
    *,
    bound: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Run every engine and encoding; ``details`` has all answers, ``disagreements`` every contradiction.

    ``timeout`` and ``memory`` are for each engine, as in :func:`check`. Raises ``ValueError`` for a bound,
    timeout or memory that is not positive.
    """
    CheckOptions(bound=bound, timeout=timeout, memory=memory)  # refuses limits that are none
    began = time.monotonic()
    with _Session(control_of(automaton), Limits(bound, None, progress, memory)) as session:
        return session.conclude(session.run_every(tuple(Pattern), timeout), "all", None, began)


def disagreements(
    automaton: Automaton,
    patterns: Iterable[Pattern],
    *,
    bound: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
) -> tuple[str, ...]:
    """What :func:`compare` says about disagreements on these patterns, and nothing else."""
    with _Session(control_of(automaton), Limits(bound, None, None, memory)) as session:
        return _disagreements(session.run_every(tuple(patterns), timeout))


Answers = dict[Pattern, PatternResult]


@dataclass
class _Session:
    """One automaton under check, with what several engines and the weight share."""

    control: Control
    limits: Limits
    bounds: bool = True
    max_weight: Fraction | None = None
    relational: bool = False

    def __post_init__(self) -> None:
        self.explicit = ExplicitEngine(self.control, self.limits)
        self._races: list[Race] = []
        self._enumerations: list[ExplicitEngine] = []

    def __enter__(self) -> _Session:
        return self

    def __exit__(self, *_: object) -> None:
        for race in self._races:
            race.close()

    def engines(self, name: str, encoding: str, solver: str | None, slicing: bool) -> list[Engine]:
        """The engines of this name; those that search symbolically see slices if asked to."""
        from symdipa.engines.auto import MAX_CELLS, max_nodes
        from symdipa.engines.sliced import SlicedEngine

        explicit = [self.guarded(self.explicit)] if name in ("explicit", "both") else []
        if name == "explicit":
            return explicit
        if not explicit:  # enumeration was not asked for: keep it small where the weight needs it
            self.explicit = ExplicitEngine(self.control, self.limits, max_nodes(self.control, MAX_CELLS))

        def make(control: Control) -> Engine:
            if name == "auto":
                return self.automatic(control, encoding, solver)
            return self.symbolic(control, encoding, solver or "z3")

        chosen = SlicedEngine(self.control, make, self.limits) if slicing else make(self.control)
        return [*explicit, chosen if name == "auto" else self.guarded(chosen)]

    def run_every(self, patterns: Sequence[Pattern], timeout: float | None) -> list[Answers]:
        """The answers of every engine, each with so many seconds."""
        rounds = []
        for chosen in self.every():
            self.limits.deadline = None if timeout is None else time.monotonic() + timeout
            rounds.append(self.run(self.guarded(chosen), patterns))
        return rounds

    def every(self) -> Iterator[Engine]:
        """Enumeration; symbolic search in both encodings; the same on another solver, slice by slice."""
        from symdipa.engines.sliced import SlicedEngine

        yield self.explicit
        for encoding in ENCODINGS:
            yield self.symbolic(self.control, encoding, "z3")
        yield SlicedEngine(
            self.control, lambda control: self.symbolic(control, ENCODINGS[0], "minisat"), self.limits
        )

    def guarded(self, engine: Engine) -> Engine:
        """The engine in a process of its own, if there are limits that must hold."""
        return self._race([engine]) if self.limits.hard and processes.AVAILABLE else engine

    def symbolic(self, control: Control, encoding: str, solver: str) -> SymbolicEngine:
        from symdipa.engines.symbolic import SymbolicEngine  # solvers are loaded only where they are used

        return SymbolicEngine(control, encoding, self.limits, solver)

    def automatic(self, control: Control, encoding: str, solver: str | None) -> Engine:
        from symdipa.engines.auto import FIRST_CELLS, AutoEngine, max_nodes

        first = ExplicitEngine(control, self.limits, max_nodes(control, FIRST_CELLS))
        symbolic = self.symbolic(control, encoding, solver or "minisat")
        if processes.AVAILABLE and processes.cores() > 1:
            later = ExplicitEngine(control, self.limits)
            self._enumerations += [first, later]
            rivals = [symbolic, later]
            if processes.cores() > 2:
                from symdipa.engines.symbolic import LongRuns

                rivals.append(LongRuns(control, encoding, self.limits, solver or "minisat"))
            memory = self.limits.memory or processes.machine_memory() // 2
            return AutoEngine(first, symbolic, self._race(rivals, memory))
        self._enumerations.append(first)
        return AutoEngine(first, symbolic, self.guarded(symbolic))

    def _race(self, engines: Sequence[Engine], memory: int | None = None) -> Race:
        race = processes.Race(engines, self.limits, memory)
        self._races.append(race)
        return race

    def run(self, engine: Engine, patterns: Sequence[Pattern]) -> Answers:
        """The engine's answers, the cheap ones first: no search shall use up their time."""
        answers: Answers = {}
        for pattern in patterns:
            try:
                answer = engine.decide_statically(pattern)
            except LimitReached:
                break
            if answer is not None:
                answers[pattern] = answer
        for pattern in patterns:
            if pattern not in answers:
                answers[pattern] = engine.decide(pattern)
        return {pattern: answers[pattern] for pattern in patterns}

    def conclude(self, rounds: list[Answers], engine: str, encoding: str | None, began: float) -> Result:
        automaton = self.control.automaton
        answers = {pattern: _merge(pattern, rounds) for pattern in Pattern}
        notes: list[str] = []
        distinct_outputs = output_distinct(automaton)
        witness, distinct = self._best_witness(answers, distinct_outputs, notes)
        disagreements = _disagreements(rounds)
        verdict = Verdict.UNKNOWN if disagreements else _verdict(answers, distinct)
        skipped = [p.short for p, answer in answers.items() if answer.status is Status.SKIPPED]
        if skipped and verdict is Verdict.UNKNOWN:
            notes.append(f"not asked for: {', '.join(skipped)}; a verdict needs all four patterns")
        weight = None
        if verdict is Verdict.PRIVATE and self.bounds:
            weight = self._within_budget(self._weight(engine, notes))
        elif verdict is Verdict.NOT_WELL_FORMED and self.relational:
            weight = self._paired(notes)
            verdict = verdict if weight is None else Verdict.PRIVATE
        deciders = dict.fromkeys(
            a.engine for a in answers.values() if a.status in (Status.ABSENT, Status.PRESENT)
        )
        return Result(
            automaton=automaton,
            verdict=verdict,
            patterns=answers,
            weight=weight,
            output_distinct=distinct_outputs,
            strongly_feasible=self._strongly_feasible(),
            witness=witness,
            distinct=distinct,
            engine="+".join(deciders) or "none" if engine == "auto" else engine,
            encoding=encoding,
            seconds=time.monotonic() - began,
            notes=tuple(notes),
            details=tuple(answer for answers_of_one in rounds for answer in answers_of_one.values()),
            disagreements=disagreements,
        )

    def _best_witness(
        self, answers: Mapping[Pattern, PatternResult], sure: bool, notes: list[str]
    ) -> tuple[Witness | None, bool | None]:
        """A witness that nobody else's outputs can imitate if one is found, else the first; which it is.

        All are replayed once more; one that fails is an internal error.
        """
        witnesses = [a.witness for a in answers.values() if a.witness is not None]
        for witness in witnesses:
            replay(self.control, witness)
        try:
            best = witnesses[0] if sure and witnesses else find_distinct(self.control, witnesses, self._tick)
            if best is not None:
                return best, True
        except LimitReached as limit:
            notes.append(f"whether the violation is output-distinct was not established: {limit}")
        return (witnesses[0], False) if witnesses else (None, None)

    def _strongly_feasible(self) -> bool | None:
        try:
            return strongly_feasible(self.control, tick=self._tick)
        except LimitReached:
            return None

    def _tick(self, *_: int) -> None:
        self.limits.check("properties of the automaton")

    def _weight(self, engine: str, notes: list[str]) -> Weight | None:
        """Bounds on ``D`` that cost little; ``symdipa.bounds.portfolio`` looks for the best."""
        enumerates = engine in ("auto", "explicit", "both", "all")
        try:
            corollary = self._corollary_bound()
        except LimitReached as limit:
            alignment = self._alignment_bound()
            if alignment is not None:
                return Weight(alignment=alignment, source="alignment")
            notes.append(f"no bound on D was computed (the weight needs the augmentation): {limit}")
            return None
        source = "augmentation" if enumerates else "explicit-state fallback"
        return Weight(corollary=corollary, run=self._run_bound(), source=source)

    def _within_budget(self, weight: Weight | None) -> Weight | None:
        """Better bounds, where the cheap ones are above the budget."""
        best = weight.best if weight else None
        if self.max_weight is None or (best is not None and best <= self.max_weight):
            return weight
        from symdipa.bounds.portfolio import weigh

        left = WEIGHING_SECONDS
        if self.limits.deadline is not None:
            left = max(0.0, min(left, self.limits.deadline - time.monotonic()))
        found = weigh(
            self.control,
            enough=self.max_weight,
            deadline=time.monotonic() + left,
            progress=self.limits.progress,
        )
        if not found.bounds:
            return weight
        weight = weight or Weight(source="alignment")
        return replace(
            weight,
            alignment=found.bounds.get("alignment", weight.alignment),
            exact=found.bounds.get("exact"),
            lower=found.lower,
        )

    def _paired(self, notes: list[str]) -> Weight | None:
        """A bound by relational alignment, which proves privacy although there is a violation."""
        from symdipa.bounds.relational import RELATIONAL_SECONDS, relational

        left = RELATIONAL_SECONDS
        if self.limits.deadline is not None:
            left = max(0.0, min(left, self.limits.deadline - time.monotonic()))
        try:
            found = relational(self.control, seconds=left, tick=self._tick)
        except LimitReached as limit:
            notes.append(f"relational alignment came to no end: {limit}")
            return None
        if found.bound is None:
            notes.append("; ".join(["relational alignment found no bound on D", *found.limits]))
            return None
        return Weight(relational=found.bound, source="relational alignment")

    def _run_bound(self) -> Fraction | None:
        from symdipa.bounds.exact.run_bound import run_bound

        try:
            return run_bound(self.control, self._tick, RUN_BOUND_NODES)
        except LimitReached:
            return None

    def _alignment_bound(self) -> Fraction | None:
        from symdipa.bounds.alignment import align

        for graph in ("control", "auto"):
            left = ALIGNMENT_SECONDS
            if self.limits.deadline is not None:
                left = min(left, self.limits.deadline - time.monotonic())
            if left <= 0:
                return None
            try:
                found = align(self.control, graph, seconds=left, tick=self._tick).bound
            except LimitReached:
                return None
            if found is not None:
                return found
        return None

    def _corollary_bound(self) -> Fraction:
        """The bound from an enumeration that was made before (here, or in another process) or is made now."""
        for engine in [self.explicit, *self._enumerations]:
            if engine.control is self.control:
                if engine.enumerated:
                    return engine.corollary_bound()
                for race in self._races:
                    if race.has_finished(engine):
                        bound: Fraction = race.call(engine, "corollary_bound")
                        return bound
        return self.explicit.corollary_bound()


def _merge(pattern: Pattern, rounds: list[Answers]) -> PatternResult:
    """What several engines say about one pattern: the first definite answer, else the first."""
    answers = [answers[pattern] for answers in rounds if pattern in answers]
    if not answers:
        return PatternResult(pattern, Status.SKIPPED, "none")
    definite = [a for a in answers if a.status in (Status.PRESENT, Status.ABSENT)]
    return definite[0] if definite else answers[0]


def _verdict(answers: Mapping[Pattern, PatternResult], distinct: bool | None) -> Verdict:
    statuses = {answer.status for answer in answers.values()}
    if Status.PRESENT in statuses:
        return Verdict.NOT_PRIVATE if distinct else Verdict.NOT_WELL_FORMED
    return Verdict.PRIVATE if statuses == {Status.ABSENT} else Verdict.UNKNOWN


def _disagreements(rounds: list[Answers]) -> tuple[str, ...]:
    found = []
    for pattern in Pattern:
        sides: dict[Status, list[str]] = {}
        for answers in rounds:
            answer = answers.get(pattern)
            if answer is not None and answer.status in (Status.PRESENT, Status.ABSENT):
                name = f"{answer.engine} ({answer.encoding})" if answer.encoding else answer.engine
                sides.setdefault(answer.status, []).append(name)
        if len(sides) == 2:
            told = "; ".join(f"{status.value} says {', '.join(names)}" for status, names in sides.items())
            found.append(f"{pattern.title}: {told}")
    return tuple(found)
