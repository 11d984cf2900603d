"""All bounds on ``D`` of one automaton, from above and from below (theory, section 4; weights.md).

Upper bounds are by *method*: ``corollary`` and ``run`` are the paper's, on the augmentation; ``alignment``
proves a bound by shifting samples, on the cheapest graph that will do; ``exact`` is the best that any
argument about single runs can give; ``relational`` (experimental) pairs different runs with the same outputs
and may be below it. A bound from below is a flow on one run. Where the two meet the bound is
optimal.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from symdipa.model.adjacency import Adjacency, Interval, intervals
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import Limits
from symdipa.runs.control import Control

if TYPE_CHECKING:
    from symdipa.bounds.alignment import Alignment, Cost, Proof
    from symdipa.bounds.exact.flow import Flow
    from symdipa.bounds.relational import Relational
    from symdipa.runs.augmentation import Augmentation

    Breakdown = tuple[tuple[int, ...], tuple[Cost, ...]]
    """A run and what its steps cost, as :func:`symdipa.bounds.alignment.breakdown` gives them."""

METHODS = ("corollary", "run", "alignment", "exact")
"""The methods that look at single runs."""

EVERY_METHOD = (*METHODS, "relational")

TWO_SIDED = "two-sided"

Span = tuple[int, int]


CELLS = 2_000_000
"""An augmentation of so many nodes times variables is built unasked, for the exact method (some 200 MB)."""


@dataclass(frozen=True)
class Weighing:
    """Bounds on ``D``; all include the sensitivity.

    ``bounds`` are the upper bounds that were computed, by method; ``missing`` says why others were not.
    ``lower`` is a bound from below by ``flow`` (which is that of sensitivity 1, for differences in
    ``flow_range``), ``alignment`` and ``relational`` the proofs of the bounds of these names. ``by_state``
    and ``run`` tell where the former comes from.
    """

    bounds: Mapping[str, Fraction]
    missing: Mapping[str, str]
    lower: Fraction | None
    flow: Flow | None
    flow_range: Interval
    alignment: Alignment | None
    relational: Relational | None
    run: tuple[int, ...]
    by_state: tuple[Cost, ...]
    adjacency: Adjacency
    sensitivity: Fraction
    seconds: float

    @property
    def best(self) -> str | None:
        """The method of the smallest upper bound (of equal ones the first that comes with a certificate)."""
        order = ("alignment", "exact", "run", "corollary", "relational")
        return min((m for m in order if m in self.bounds), key=self.bounds.__getitem__, default=None)

    @property
    def upper(self) -> Fraction | None:
        """The smallest upper bound."""
        return min(self.bounds.values(), default=None)

    @property
    def optimal(self) -> bool:
        """Whether bounds from above and from below meet."""
        return self.upper is not None and self.upper == self.lower


def weigh(
    control: Control,
    methods: Iterable[str] | None = None,
    *,
    graph: str = "auto",
    adjacency: Adjacency = TWO_SIDED,
    sensitivity: Fraction | int = 1,
    enough: Fraction | None = None,
    seconds: float | None = None,
    deadline: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Weighing:
    """Bounds on ``D`` by the named methods of :data:`EVERY_METHOD`.

    Without ``methods`` the cheapest graphs are tried first, and it is over as soon as the bounds from above
    and below meet, or one of them decides whether ``D`` is at most ``enough``. ``corollary`` and ``run`` are
    about two-sided differences only. ``graph`` is that of the alignment. ``seconds`` limits every method,
    ``deadline``, a moment of ``time.monotonic()``, all of them. Raises ``ValueError`` for names and ranges
    that mean nothing.
    """
    wanted = None if methods is None else tuple(dict.fromkeys(methods))
    for method in wanted or ():
        if method not in EVERY_METHOD:
            raise ValueError(f"no method {method!r}; there are {', '.join(EVERY_METHOD)}")
    if Fraction(sensitivity) <= 0:
        raise ValueError(f"a sensitivity is positive, not {sensitivity}")
    work = _Weighing(control, graph, adjacency, Fraction(sensitivity), enough, seconds, deadline, progress)
    began = time.monotonic()
    if wanted is None:
        work.ladder()
    else:
        for method in EVERY_METHOD:
            if method in wanted:
                work.try_method(method)
        work.flow_from_alignment()
    run, by_state = work.explained()
    return Weighing(
        bounds=work.bounds,
        missing=work.missing,
        lower=work.lower,
        flow=work.flow,
        flow_range=work.flow_range,
        alignment=work.alignment,
        relational=work.relational,
        run=run,
        by_state=by_state,
        adjacency=adjacency,
        sensitivity=work.sensitivity,
        seconds=time.monotonic() - began,
    )


class _Weighing:
    """The bounds found so far."""

    def __init__(
        self,
        control: Control,
        graph: str,
        adjacency: Adjacency,
        sensitivity: Fraction,
        enough: Fraction | None,
        seconds: float | None,
        end: float | None,
        progress: Callable[[str], None] | None,
    ) -> None:
        self.control, self.graph, self.adjacency, self.sensitivity = control, graph, adjacency, sensitivity
        self.ranges = intervals(adjacency)
        self.enough, self.seconds, self.end, self.progress = enough, seconds, end, progress
        self.bounds: dict[str, Fraction] = {}
        self.missing: dict[str, str] = {}
        self.lower: Fraction | None = None
        self.flow: Flow | None = None
        self.flow_range = self.ranges[0]
        self.alignment: Alignment | None = None
        self.relational: Relational | None = None
        self._augmentation: Augmentation | None = None
        self._breakdowns: dict[Proof, Breakdown] = {}
        self._followed: set[Proof] = set()
        self.max_nodes: int | None = None

    def ladder(self) -> None:
        """Cheap graphs first, until the bounds meet; nobody asked for a method that takes much memory."""
        self.max_nodes = CELLS // max(1, self.control.variables)
        graphs = ("control", "auto") if self.graph == "auto" else (self.graph,)
        for graph in graphs:
            self._try("alignment", partial(self._align, graph))
            self.flow_from_alignment()
            if self._met():
                return
        self.try_method("exact")

    def _met(self) -> bool:
        """Whether no other bound is needed."""
        upper, lower, enough = min(self.bounds.values(), default=None), self.lower, self.enough
        if upper is None:
            return False
        return upper == lower or (
            enough is not None and (upper <= enough or (lower is not None and lower > enough))
        )

    def try_method(self, method: str) -> None:
        how: dict[str, Callable[[], Fraction | None]] = {
            "corollary": self._corollary,
            "run": self._run,
            "alignment": lambda: self._align(self.graph),
            "exact": self._exact,
            "relational": self._relational,
        }
        self._try(method, how[method])

    def _try(self, method: str, how: Callable[[], Fraction | None]) -> None:
        self._begin(method)
        try:
            bound = how()
        except LimitReached as limit:
            if method not in self.bounds:
                self.missing[method] = limit.reason
            return
        if bound is None:
            self.missing.setdefault(method, "there is none by this method")
        else:
            self.bounds[method] = min(bound, self.bounds.get(method, bound))
            self.missing.pop(method, None)

    def _begin(self, method: str) -> None:
        ends = [] if self.end is None else [self.end]
        if self.seconds is not None:
            ends.append(time.monotonic() + self.seconds)
        self.method, self.deadline = method, min(ends, default=None)

    @property
    def limits(self) -> Limits:
        return Limits(self.deadline, progress=None if self.progress is None else self._tell)

    def _tell(self, words: str) -> None:
        if self.progress is not None:
            self.progress(f"bound on D, {self.method}")

    def augmentation(self) -> Augmentation:
        """Built once, for all methods that need it."""
        from symdipa.runs.augmentation import augment

        if self._augmentation is None:
            self._augmentation = augment(self.control, self.max_nodes, self.limits)
        return self._augmentation

    def _two_sided_only(self) -> None:
        if self.adjacency != TWO_SIDED:
            raise LimitReached(Limit.METHOD, "this bound is about two-sided adjacency only")

    def _corollary(self) -> Fraction:
        from symdipa.bounds.corollary import corollary_bound

        self._two_sided_only()
        return corollary_bound(self.augmentation(), self.limits) * self.sensitivity

    def _run(self) -> Fraction | None:
        from symdipa.bounds.exact.run_bound import run_bound

        self._two_sided_only()
        found = run_bound(self.augmentation(), self.limits)
        return None if found is None else found * self.sensitivity

    def _align(self, graph: str) -> Fraction | None:
        from symdipa.bounds.alignment import align

        found = align(
            self.control,
            graph,
            None,
            adjacency=self.adjacency,
            sensitivity=self.sensitivity,
            goal=None if self.lower is None else self.lower / self.sensitivity,
            limits=self.limits,
        )
        known = self.alignment
        if found.bound is not None and (known is None or known.bound is None or found.bound < known.bound):
            self.alignment = found
        if found.bound is None and found.limits:
            raise LimitReached(Limit.METHOD, "; ".join(found.limits))
        return found.bound

    def _exact(self) -> Fraction | None:
        from symdipa.bounds.exact.profiles import ConstantLimit, exact_constant

        try:
            found = exact_constant(self.augmentation(), adjacency=self.adjacency, limits=self.limits)
        except ConstantLimit as limit:
            if limit.lower is not None and limit.lower.value is not None:
                best = limit.lower
                self._raise_to(best.run, best.loops, best.deltas, best.interval)
            raise
        if found.value is None:
            return None
        self._raise_to(found.run, found.loops, found.deltas, found.interval)
        return found.value * self.sensitivity

    def _relational(self) -> Fraction | None:
        from symdipa.bounds.relational import relational

        self.relational = relational(
            self.control,
            adjacency=self.adjacency,
            sensitivity=self.sensitivity,
            limits=self.limits,
        )
        if self.relational.bound is None and (limits := self.relational.limits):
            raise LimitReached(Limit.METHOD, "; ".join(limits))
        return self.relational.bound

    def flow_from_alignment(self) -> None:
        """A bound from below by a run on which the alignment bound is attained, if one is found."""
        if self.alignment is None:
            return
        self._begin("from below")
        for side, interval in self._sides():
            if side in self._followed:
                continue
            self._followed.add(side)
            for way in (self._along_best_signs, self._along_feasible_runs):
                with suppress(LimitReached):  # of time, or too much is alive on a run
                    way(side, interval)
                if self.lower == side.bound:
                    return

    def _along_best_signs(self, side: Proof, interval: Interval) -> None:
        """By the run that the alignment bound is explained by, if it is feasible."""
        from symdipa.bounds.exact.signs import FEW, KEPT, best_signs
        from symdipa.bounds.tight_runs import repeated
        from symdipa.runs.witness import dependency_graph

        run, loops = repeated(self.control, self._breakdown(side)[0])
        if not dependency_graph(self.control, run).is_acyclic:
            return
        for kept in (FEW, KEPT):
            deltas = best_signs(self.control, run, loops, interval=interval, kept=kept, limits=self.limits)
            self._raise_to(run, loops, deltas, interval)
            if self.lower == side.bound:
                return

    def _along_feasible_runs(self, side: Proof, interval: Interval) -> None:
        """By runs along edges that cost as much."""
        from symdipa.bounds.tight_runs import feasible

        for (run, loops), deltas in feasible(side, self.limits):
            self._raise_to(run, loops, deltas, interval)
            if self.lower == side.bound:
                return

    def _sides(self) -> list[tuple[Proof, Interval]]:
        assert self.alignment is not None
        scale = self.sensitivity
        return [(side, (side.low / scale, side.high / scale)) for side in self.alignment.sides]

    def _raise_to(
        self, run: Sequence[int], loops: Sequence[Span], deltas: Sequence[Fraction], interval: Interval
    ) -> None:
        """A bound from below by a run, if it is better than the one that is there."""
        from symdipa.bounds.exact.flow import flow_bound

        flow = flow_bound(self.control, run, loops, deltas, limits=self.limits)
        if flow.value is not None and (self.lower is None or flow.value * self.sensitivity > self.lower):
            self.lower, self.flow, self.flow_range = flow.value * self.sensitivity, flow, interval

    def explained(self) -> Breakdown:
        if self.alignment is None or not self.alignment.sides:
            return (), ()
        return self._breakdown(self.alignment.sides[0])

    def _breakdown(self, side: Proof) -> Breakdown:
        from symdipa.bounds.alignment import breakdown

        if side not in self._breakdowns:
            self._breakdowns[side] = breakdown(side)
        return self._breakdowns[side]
