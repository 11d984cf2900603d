"""All ways to a bound on ``D``, in the order in which they are tried (docs/weights.md).

Bounds from above are by *method*: ``corollary`` and ``run`` are the paper's, on the augmentation;
``counting`` shifts nothing, which is at hand for any size where few entries differ;
``alignment`` shifts samples, on the cheapest graph that will do; ``exact`` is the best that any argument
about single runs can give; ``relational`` (experimental) pairs different runs with the same outputs and may
be below it. A bound from below is a flow on one run; if no other run shows its outputs, it is one on ``D``,
and where it meets a bound from above, that is optimal.

Four orders: with every check (:func:`cheap`) corollary and run, or alignment (:func:`fallback`) where the
augmentation is large, or corollary after all (:func:`last_resort`); for the best bound (:func:`ladder`)
alignment from coarse to fine graphs with the flows that it leads to, then exact, then :func:`pairing` of
runs, until the bounds meet; methods by name (:func:`asked_for`) all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from symdipa.model.adjacency import TWO_SIDED, Adjacency, Interval, intervals
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits, stopwatch
from symdipa.model.options import EVERY_METHOD
from symdipa.model.verdict import Bounds
from symdipa.runs.problem import Problem
from symdipa.runs.properties import output_distinct, run_distinct

if TYPE_CHECKING:
    from symdipa.bounds.alignment import Alignment, Built, Proof
    from symdipa.bounds.exact.flow import Flow, Span
    from symdipa.bounds.relational import Relational
    from symdipa.bounds.same_outputs import Alike

CELLS = 2_000_000
"""Nodes times variables of the largest augmentation that is built unasked (for the exact method): 200 MB."""

SMALL_RUN_BOUND = 400
"""The most nodes of the graphs of a run bound that comes with every check."""

FALLBACK_SECONDS = 1.0
"""How long alignment may take in all where the augmentation is too large for the paper's bounds,"""
FALLBACK_SHARE = 0.5
"""or this share of what the check took so far, if that is longer."""

AT_HAND_SECONDS = 0.7
"""How long the exact constant is looked for before anything else where no certificate is wanted."""

PAIRING_SECONDS = 5.0
"""How long runs are paired where nobody asked for it,"""
TELLING_SECONDS = 2.0
"""and how long a run is looked for that other runs cannot imitate and that costs as much."""

EACH_SHARE = 0.5
"""The most of the time that is left for one method: those after it shall have some."""

NONE = "there is none by this method"
"""Why a bound is missing where a method has come to its end."""

CERTIFIED = ("alignment", "relational")
"""The methods whose bounds come with a certificate."""

MAX_IMITATORS = 10_000
"""The most pairs that are followed to see whether other runs show the same outputs."""


@dataclass(frozen=True)
class Attempt:
    """One way to a bound: a method, or ``below``, ``dear`` or ``telling`` runs.

    ``graph`` and ``lift`` are those of an alignment, which solves no linear program if it is ``hasty``. It is
    made only ``when`` the portfolio needs it, and may take so many ``seconds``, and a ``share`` of the time
    that is left.
    """

    method: str
    graph: str = "auto"
    max_nodes: int | None = None
    when: Callable[[Portfolio], bool] = lambda _: True
    lift: str | None = None
    seconds: float | None = None
    share: float = 1.0
    hasty: bool = False


@dataclass(frozen=True)
class Below:
    """What a run costs at least, with the sensitivity, by a flow for differences in ``interval``; or, with
    ``alike``, what it and all the others with its outputs do."""

    value: Fraction
    flow: Flow
    interval: Interval
    alike: Alike | None = None


def bounds_on(
    problem: Problem,
    methods: Iterable[str] | None = None,
    *,
    graph: str = "auto",
    adjacency: Adjacency = TWO_SIDED,
    sensitivity: Fraction | int = 1,
    limits: Limits = UNLIMITED,
    each: float | None = None,
    single_runs: bool = True,
    known: Bounds | None = None,
    certified: bool = False,
) -> Bounds:
    """Bounds on ``D`` from above and from below.

    By the ``methods`` of :data:`~symdipa.model.options.EVERY_METHOD`; without them from cheap graphs on until
    the bounds meet. ``graph`` is that of the alignment, ``each`` the seconds that every method may take.
    Without ``single_runs``, which have no bound where some run loses privacy without limit, runs are paired.
    ``known`` are bounds of a check, which count where no methods are named. ``certified``: the search goes on
    as long as the best bound is one that comes without a certificate. Raises ``ValueError`` for names
    and ranges that mean nothing.
    """
    seconds = stopwatch()
    if isinstance(methods, str):
        methods = [methods]
    wanted = None if methods is None else tuple(methods)
    attempts = ladder(problem.control.variables, graph) if wanted is None else asked_for(wanted, graph)
    if not single_runs:
        attempts = pairing(None if wanted and "relational" in wanted else PAIRING_SECONDS)
    portfolio = Portfolio(problem, adjacency, sensitivity, single_runs=single_runs, certified=certified)
    portfolio.make(attempts, limits, each)
    if known is not None and wanted is None:
        portfolio.fall_back_on(known)
    return replace(portfolio.bounds, seconds=seconds())


def cheap(max_nodes: int | None = None) -> tuple[Attempt, ...]:
    """What comes with every check: the paper's bounds, if there are some and the augmentation is small, or
    what costs nothing to find where not every entry differs."""

    def applies(portfolio: Portfolio) -> bool:
        return portfolio.problem.control.is_plain

    return (
        Attempt("corollary", max_nodes=max_nodes, when=applies),
        Attempt("run", max_nodes=SMALL_RUN_BOUND, when=lambda portfolio: "corollary" in portfolio.from_above),
        Attempt("counting", when=lambda portfolio: bool(portfolio.problem.control.letters)),
    )


def fallback() -> tuple[Attempt, ...]:
    """Alignment where there is no bound yet, on the control graph without intervals first."""
    return tuple(
        Attempt("alignment", graph, lift=lift, when=lambda portfolio: not portfolio.from_above)
        for graph, lift in (("control", ""), ("auto", None))
    )


def last_resort(max_nodes: int | None) -> tuple[Attempt, ...]:
    """The paper's bound on a larger augmentation, where alignment has none."""

    def helps(portfolio: Portfolio) -> bool:
        return not portfolio.from_above and portfolio.problem.control.is_plain

    return (Attempt("corollary", max_nodes=max_nodes, when=helps),)


def fallback_seconds(taken: float) -> float:
    """How long the fallback may take in a check that has taken so many seconds."""
    return max(FALLBACK_SECONDS, FALLBACK_SHARE * taken)


def at_hand() -> Attempt:
    """The exact constant of an augmentation that is there, which may be the cheapest way to know it all."""

    def helps(portfolio: Portfolio) -> bool:
        return "corollary" in portfolio.from_above and not portfolio.settled

    return Attempt("exact", when=helps, seconds=AT_HAND_SECONDS)


def ladder(
    variables: int, graph: str = "auto", pairing_seconds: float | None = PAIRING_SECONDS
) -> tuple[Attempt, ...]:
    """Cheap graphs first, until the bounds meet; nothing that takes much memory."""
    return (*single_runs(variables, graph), *pairing(pairing_seconds))


def single_runs(variables: int, graph: str = "auto") -> tuple[Attempt, ...]:
    """The steps of the ladder that are about runs one by one."""
    graphs = ("control", "auto") if graph == "auto" else (graph,)
    steps = [
        step
        for each in graphs
        for hasty in (True, False)
        for step in (Attempt("alignment", each, hasty=hasty), Attempt("below"))
    ]
    steps.append(Attempt("exact", max_nodes=CELLS // max(1, variables)))

    def helps(portfolio: Portfolio) -> bool:
        return not portfolio.settled_for_single_runs

    def in_want(portfolio: Portfolio) -> bool:
        return portfolio.upper is None and portfolio.problem.control.is_plain

    steps = [replace(step, when=helps, share=EACH_SHARE) for step in steps]
    return (*steps, Attempt("dear", when=in_want, share=EACH_SHARE))


def pairing(seconds: float | None = PAIRING_SECONDS) -> tuple[Attempt, ...]:
    """A run is looked for that no other can imitate; then runs are paired, until the bound is what it costs.

    That can help only where several runs show the same outputs. ``seconds`` are for the pairs.
    """

    def helps(portfolio: Portfolio) -> bool:
        whole = portfolio.problem.automaton is not None
        return whole and not (portfolio.output_distinct or portfolio.settled or portfolio.upper == 0)

    return (
        Attempt("telling", when=helps, seconds=TELLING_SECONDS),
        Attempt("relational", when=helps, seconds=seconds, share=EACH_SHARE),
    )


def asked_for(methods: Iterable[str], graph: str = "auto") -> tuple[Attempt, ...]:
    """All of these methods, cheap ones first, and bounds from below.

    Raises ``ValueError`` for the name of no method.
    """
    wanted = set(methods)
    for method in wanted - set(EVERY_METHOD):
        raise ValueError(f"no method {method!r}; there are {', '.join(EVERY_METHOD)}")
    single = [method for method in EVERY_METHOD if method in wanted - {"relational"}]
    found = [*(Attempt(method, graph, share=EACH_SHARE) for method in single), Attempt("below")]
    if "relational" in wanted:
        telling, _ = pairing()
        found += [telling, Attempt("relational", share=EACH_SHARE)]
    return tuple(found)


class Portfolio:
    """The bounds on ``D`` found so far.

    With ``enough`` they are settled once it is known whether ``D`` is at most that. Without ``single_runs``
    it is of no interest what a run costs that others may imitate. Where they are to be ``certified``, those
    of :data:`CERTIFIED` methods count. ``corollary`` and ``run`` are about two-sided differences only, and
    about automata of the paper. ``adjacency`` and ``sensitivity`` are in whole numbers where inputs are
    integers. Raises ``ValueError`` for ranges that mean nothing.
    """

    def __init__(
        self,
        problem: Problem,
        adjacency: Adjacency = TWO_SIDED,
        sensitivity: Fraction | int = 1,
        enough: Fraction | None = None,
        single_runs: bool = True,
        certified: bool = False,
    ) -> None:
        if Fraction(sensitivity) <= 0:
            raise ValueError(f"a sensitivity is positive, not {sensitivity}")
        self.problem = problem
        self.adjacency, self.sensitivity = problem.differences(adjacency, sensitivity)
        self.ranges = intervals(self.adjacency)
        self.enough, self.single_runs, self.certified = enough, single_runs, certified
        self.from_above: dict[str, Fraction] = {}
        self.missing: dict[str, str] = {}
        self.output_distinct = problem.automaton is not None and output_distinct(problem.automaton)
        self.costliest: Below | None = None
        self.telling: Below | None = None
        self.alignment: Alignment | None = None
        self.relational: Relational | None = None
        self._built: Built | None = None
        self._followed: set[Proof] = set()
        self._from_runs = {
            "below": self._from_below,
            "dear": self._from_dear_runs,
            "telling": self._from_telling_runs,
        }

    @property
    def bounds(self) -> Bounds:
        """What was found."""
        below = self.below
        return Bounds(
            from_above=dict(self.from_above),
            missing=dict(self.missing),
            lower=None if below is None else below.value,
            flow=None if below is None else below.flow,
            flow_range=self.ranges[0] if below is None else below.interval,
            needed=self.needed,
            alike_proof=self.telling if self.telling is not None and self.telling.alike else None,
            alignment_proof=self.alignment,
            relational_proof=self.relational,
            adjacency=self.adjacency,
            sensitivity=self.sensitivity,
        )

    @property
    def upper(self) -> Fraction | None:
        """The best bound from above."""
        return min(self.from_above.values(), default=None)

    @property
    def below(self) -> Below | None:
        """The bound from below that says most.

        That is the one on ``D`` if single runs are not known to cost more, or if what they cost is above a
        bound that pairs of runs prove; else it is the largest cost of a single run.
        """
        single, telling = self.costliest, self.telling
        if single is None or telling is None:
            return single or telling
        paired = self.from_above.get("relational")
        without_use = paired is not None and single.value > paired
        return telling if without_use or telling.value == single.value else single

    @property
    def needed(self) -> Fraction | None:
        """The best bound on ``D`` from below."""
        return None if self.telling is None else self.telling.value

    @property
    def settled(self) -> bool:
        """Whether no better bound is needed."""
        counted = {m: bound for m, bound in self.from_above.items() if not self.certified or m in CERTIFIED}
        upper, enough, needed = min(counted.values(), default=None), self.enough, self.needed
        if upper is None:
            return False
        return (
            upper == needed
            or (enough is not None and upper <= enough)
            or (enough is not None and needed is not None and needed > enough)
        )

    @property
    def settled_for_single_runs(self) -> bool:
        """Whether no better bound is needed, or none can be had by arguments about single runs."""
        return self.settled or (self.costliest is not None and self.costliest.value == self.upper)

    def make(
        self, attempts: Sequence[Attempt], limits: Limits = UNLIMITED, each: float | None = None
    ) -> None:
        """Make the attempts that are still needed in their turn, within ``each`` seconds one by one."""
        for attempt in attempts:
            if attempt.when(self):
                self._make(attempt, limits.share(attempt.share).within(each).within(attempt.seconds))

    def fall_back_on(self, known: Bounds) -> None:
        """Take over bounds from above that were known before, if they are better than those found here.

        They are for two-sided differences and a sensitivity of 1, as those of every check.
        """
        if self.adjacency != TWO_SIDED or known.best is None:
            return
        scaled = {method: bound * self.sensitivity for method, bound in known.from_above.items()}
        if self.upper is None or min(scaled.values()) < self.upper:
            for method, bound in scaled.items():
                self._keep(method, bound)

    def _make(self, attempt: Attempt, limits: Limits) -> None:
        method = attempt.method
        if (from_below := self._from_runs.get(method)) is not None:
            with suppress(LimitReached):
                from_below(limits)
            return
        try:
            limits.check(f"bound on D, {method}")
            bound = self._found(attempt, limits)
        except LimitReached as limit:
            if method not in self.from_above:
                self.missing[method] = limit.reason
            return
        if bound is None:
            self.missing.setdefault(method, NONE)
        else:
            self._keep(method, bound)

    def _keep(self, method: str, bound: Fraction) -> None:
        self.from_above[method] = min(bound, self.from_above.get(method, bound))
        self.missing.pop(method, None)

    def _found(self, attempt: Attempt, limits: Limits) -> Fraction | None:
        match attempt.method:
            case "corollary":
                return self._corollary(attempt.max_nodes, limits)
            case "run":
                return self._run(attempt.max_nodes, limits)
            case "counting":
                return self._counting(limits)
            case "alignment":
                return self._align(attempt.graph, attempt.lift, attempt.hasty, limits)
            case "exact":
                return self._exact(attempt.max_nodes, limits)
            case _:
                return self._relational(limits)

    def _paper_only(self) -> None:
        if not self.problem.control.is_plain:
            raise LimitReached(Limit.METHOD, "this bound is about the paper's automata only")
        if self.adjacency != TWO_SIDED:
            raise LimitReached(Limit.METHOD, "this bound is about two-sided adjacency only")

    def _corollary(self, max_nodes: int | None, limits: Limits) -> Fraction:
        from symdipa.bounds.corollary import corollary_bound

        self._paper_only()
        return self.problem.from_augmentation(corollary_bound, limits, max_nodes) * self.sensitivity

    def _run(self, max_nodes: int | None, limits: Limits) -> Fraction | None:
        from symdipa.bounds.exact.run_bound import run_bound

        self._paper_only()
        bound = partial(run_bound, max_nodes=max_nodes)
        found = self.problem.from_augmentation(bound, limits, max_nodes)
        return None if found is None else found * self.sensitivity

    def _counting(self, limits: Limits) -> Fraction | None:
        from symdipa.bounds.counting import counting_bound

        found = [counting_bound(self.problem.control, interval, limits) for interval in self.ranges]
        proved = [bound for bound in found if bound is not None]
        return max(proved) * self.sensitivity if len(proved) == len(found) else None

    def _align(self, graph: str, lift: str | None, hasty: bool, limits: Limits) -> Fraction | None:
        from symdipa.bounds.alignment import Built, align

        if self._built is None:
            self._built = Built()
        found = align(
            self.problem,
            graph,
            lift,
            adjacency=self.adjacency,
            sensitivity=self.sensitivity,
            goal=None if self.costliest is None else self.costliest.value / self.sensitivity,
            limits=limits,
            hasty=hasty,
            built=self._built,
        )
        known = self.alignment
        if found.bound is not None and (known is None or known.bound is None or found.bound <= known.bound):
            self.alignment = found
        if found.bound is None and found.limits:
            raise LimitReached(Limit.METHOD, "; ".join(found.limits))
        return found.bound

    def _exact(self, max_nodes: int | None, limits: Limits) -> Fraction | None:
        from symdipa.bounds.exact.distance import distance_constant
        from symdipa.bounds.exact.profiles import ConstantLimit, exact_constant

        augmentation = self.problem.augmentation(limits, max_nodes)
        constant = exact_constant if self.problem.control.is_plain else distance_constant
        try:
            found = constant(augmentation, adjacency=self.adjacency, limits=limits)
        except ConstantLimit as limit:
            if limit.lower is not None and limit.lower.value is not None:
                best = limit.lower
                self._raise_to(best.run, best.loops, best.deltas, best.interval, limits)
            raise
        if found.value is None:
            return None
        self._raise_to(found.run, found.loops, found.deltas, found.interval, limits)
        return found.value * self.sensitivity

    def _relational(self, limits: Limits) -> Fraction | None:
        from symdipa.bounds.relational import relational

        if self.problem.automaton is None:
            raise ValueError("runs are paired of whole automata only")
        if self.problem.automaton.unfolds:
            raise LimitReached(
                Limit.METHOD,
                "runs are paired only where every entry may differ, and no entry is kept for later",
            )
        self.relational = relational(
            self.problem.automaton,
            adjacency=self.adjacency,
            sensitivity=self.sensitivity,
            enough=self.needed or Fraction(0),
            limits=limits,
        )
        if self.relational.bound is None and (reasons := self.relational.reasons):
            raise LimitReached(Limit.METHOD, "; ".join(reasons))
        return self.relational.bound

    def _from_below(self, limits: Limits) -> None:
        """A bound from below by a run on which the alignment bound is attained, if one is found."""
        if self.alignment is None:
            return
        scale = self.sensitivity
        for side in self.alignment.sides:
            if side in self._followed:
                continue
            self._followed.add(side)
            interval = side.low / scale, side.high / scale
            for way in (self._along_best_signs, self._along_feasible_runs):
                with suppress(LimitReached):  # of time, or too much is alive on a run
                    way(side, interval, limits)
                if self._reached(side):
                    return

    def _reached(self, side: Proof) -> bool:
        """Whether some run is known to cost what is proved of one range."""
        return self.costliest is not None and self.costliest.value == side.bound

    def _along_best_signs(self, side: Proof, interval: Interval, limits: Limits) -> None:
        """By the run that explains the alignment bound, if it is feasible, or one that goes on from there."""
        from symdipa.bounds.alignment import breakdown
        from symdipa.bounds.exact.signs import FEW, KEPT, best_signs
        from symdipa.bounds.tight_runs import continued, repeated
        from symdipa.runs.witness import dependency_graph

        control = self.problem.control
        for path in continued(control, breakdown(side)[0], limits):
            run, loops = repeated(control, path)
            if not dependency_graph(control, run).is_acyclic:
                continue
            for kept in (FEW, KEPT):
                deltas = best_signs(control, run, loops, interval=interval, kept=kept, limits=limits)
                self._raise_to(run, loops, deltas, interval, limits)
                if self._reached(side):
                    return

    def _along_feasible_runs(self, side: Proof, interval: Interval, limits: Limits) -> None:
        """By runs along edges on which the bound is attained."""
        from symdipa.bounds.tight_runs import feasible

        for (run, loops), deltas in feasible(side, limits):
            self._raise_to(run, loops, deltas, interval, limits)
            if self._reached(side):
                return

    def _from_telling_runs(self, limits: Limits) -> None:
        """Bounds on ``D`` by short runs that other runs cannot imitate, until the one from above is met."""
        from symdipa.bounds.exact.signs import FEW, best_signs
        from symdipa.bounds.tight_runs import short

        control = self.problem.control
        for run, loops in short(control, limits):
            if not self._distinct(run, loops, limits):
                continue
            for low, high in self.ranges:
                with suppress(LimitReached):
                    deltas = best_signs(control, run, loops, interval=(low, high), kept=FEW, limits=limits)
                    self._raise_to(run, loops, deltas, (low, high), limits)
            if self.settled:
                return

    def _from_dear_runs(self, limits: Limits) -> None:
        """A bound from below by a run of dear samples, where no proof tells what is dear."""
        from symdipa.bounds.tight_runs import dear

        for interval in self.ranges:
            for (run, loops), deltas in dear(self.problem.control, interval, limits):
                self._raise_to(run, loops, deltas, interval, limits)

    def _raise_to(
        self,
        run: Sequence[int],
        loops: Sequence[Span],
        deltas: Sequence[Fraction],
        interval: Interval,
        limits: Limits,
    ) -> None:
        """Bounds from below by a run, if they are better than those that are there."""
        from symdipa.bounds.exact.flow import flow_bound
        from symdipa.bounds.tight_runs import is_real

        flow = flow_bound(self.problem.control, run, loops, deltas, limits=limits)
        if flow.value is None:
            return
        value = flow.value * self.sensitivity
        costs_more = self.costliest is None or value > self.costliest.value
        improves = value > (self.needed or 0)
        if not ((costs_more or improves) and is_real(self.problem, flow.run, flow.loops, limits)):
            return
        found = Below(value, flow, interval)
        if costs_more and self.single_runs:
            self.costliest = found
        if improves and self._distinct(flow.run, flow.loops, limits):
            self.telling = found
        elif improves and not flow.loops:
            self._tell_by_alike(found, limits)

    def _tell_by_alike(self, found: Below, limits: Limits) -> None:
        """The bound on ``D`` by a run that other runs imitate: what all of them cost, for the same inputs."""
        from symdipa.bounds.same_outputs import runs_alike

        control, automaton, run = self.problem.control, self.problem.automaton, found.flow.run
        if automaton is None:
            return
        differences = control.whole_differences(run, found.flow.deltas, found.interval)
        alike = runs_alike(automaton, control.whole(run), differences, limits)
        if alike is not None and alike.value * self.sensitivity > (self.needed or 0):
            self.telling = replace(found, value=alike.value * self.sensitivity, alike=alike)

    def _distinct(self, run: Sequence[int], loops: Sequence[Span], limits: Limits) -> bool:
        if self.output_distinct:
            return True
        try:
            return run_distinct(self.problem.control, run, loops, MAX_IMITATORS, limits)
        except LimitReached:
            return False
