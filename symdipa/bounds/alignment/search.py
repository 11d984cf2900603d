"""Alignment over one graph or over a ladder of graphs, from cheap to sharp."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from symdipa.bounds.alignment.graphs import Cover, augmentation_cover, control_cover, eq_cover, marked_cover
from symdipa.bounds.alignment.lifts import canonical, lift
from symdipa.bounds.alignment.linear import solve
from symdipa.bounds.alignment.nearest import nearest
from symdipa.bounds.alignment.parts import SHARED, Parted, parted, shared, shares
from symdipa.bounds.alignment.program import Constraints, Program, intervals, points
from symdipa.bounds.alignment.proofs import PartedSide, Proof, Side
from symdipa.bounds.alignment.rounding import DENOMINATORS, INTEGERS, Solution, evaluate, rounded
from symdipa.model.adjacency import TWO_SIDED, Adjacency, Interval
from symdipa.model.adjacency import intervals as intervals_of
from symdipa.model.errors import Limit, LimitReached, OutOfTime
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.options import GRAPHS
from symdipa.runs.problem import Problem

K = TypeVar("K")
V = TypeVar("V")

Way = tuple[str, str, bool]
"""A graph, prophecies, and whether shifts are intervals."""

LADDER: tuple[Way, ...] = (
    ("control", "", False),
    ("control", "", True),
    ("eq", "", True),
    ("parts", "", True),
    ("parts", "C", True),
    ("parts", "CS", True),
    ("eq", "C", True),
    ("augmentation", "", True),
    ("augmentation", "LG", False),
    ("eq", "CK", True),
    ("augmentation", "C", True),
    ("augmentation", "CK", True),
    ("augmentation", "CKLG", True),
)
"""The order in which ``auto`` tries graphs."""

FORESIGHT: tuple[Way, ...] = (
    ("eq", "M", False),
    ("augmentation", "CKM", True),
    ("augmentation", "CKMLG", True),
)
"""What it tries besides where means are known to rise or fall."""


@dataclass(frozen=True, slots=True)
class Size:
    """The most nodes of a graph or lift, and the most pairs of node and variable with shifts of their own."""

    nodes: int | None
    pairs: int | None

    def within(self, nodes: int | None) -> Size:
        return self if nodes is None or self.nodes is None else Size(min(nodes, self.nodes), self.pairs)


NO_SHIFTS = "no shifts satisfy the rules"
NO_ROUNDING = "no rounding of the shifts found satisfies the rules exactly"

NOT_IN_PARTS = "there are no parts where differences are shown or comparisons have an offset"
NO_TRUNK = "prophecies are shared by parts of automata of the paper only"

WITHOUT_BOUND = Size(20_000, 200_000)
WITH_BOUND = Size(2_000, 5_000)
IN_PARTS = Size(200_000, 100_000)
"""What ``auto`` tries while it has no bound (in parts, too), and to improve one that it has."""


@dataclass(frozen=True, slots=True)
class GraphAttempt:
    """One graph that was tried for one range: the bound, or why there is none."""

    graph: str
    lift: str
    intervals: bool
    bound: Fraction | None
    reason: str


@dataclass(frozen=True, eq=False)
class Alignment:
    """A proved bound on ``D``, or ``None`` where no graph that was tried gave one.

    ``sides`` has one proof for each order in which adjacent inputs are compared (one where the interval is
    symmetric), the one of the largest bound first; empty if there is no bound.
    """

    bound: Fraction | None
    adjacency: tuple[Interval, ...]
    sensitivity: Fraction
    sides: tuple[Proof, ...]
    attempts: tuple[GraphAttempt, ...]

    @property
    def limits(self) -> tuple[str, ...]:
        """The limits that ended attempts."""
        reasons = dict.fromkeys(attempt.reason for attempt in self.attempts)
        return tuple(reason for reason in reasons if reason not in ("", NO_SHIFTS, NO_ROUNDING))

    @property
    def graph(self) -> str | None:
        return self.sides[0].graph if self.sides else None

    @property
    def lift(self) -> str | None:
        return self.sides[0].lift if self.sides else None

    @property
    def intervals(self) -> bool:
        return bool(self.sides) and self.sides[0].intervals


@dataclass(frozen=True, eq=False)
class Built:
    """The graphs and programs of a problem that were built, to be used again."""

    covers: dict[tuple[str, Size], Cover | LimitReached] = field(default_factory=dict)
    programs: dict[tuple[Way, Size], Program | Parted | LimitReached] = field(default_factory=dict)


def align(
    problem: Problem,
    graph: str = "auto",
    lift: str | None = "",
    intervals: bool = False,
    adjacency: Adjacency = TWO_SIDED,
    sensitivity: Fraction | int = 1,
    goal: Fraction | None = None,
    max_nodes: int | None = None,
    limits: Limits = UNLIMITED,
    hasty: bool = False,
    built: Built | None = None,
) -> Alignment:
    """Prove a bound on ``D`` by alignment.

    ``graph`` is ``control``, ``eq``, ``augmentation`` or ``parts`` (:mod:`symdipa.bounds.alignment.parts`),
    with the prophecies ``lift`` (letters of ``UCKMLGS``) and shifts that are ``intervals`` or points.
    ``auto`` goes up the :data:`LADDER` as far as sizes allow and keeps the best bound (so does a named graph
    with ``lift`` ``None``, on its own part); it ends early where that reaches ``goal``, a bound from below
    (before sensitivity). ``adjacency`` is ``two-sided``, ``monotone`` or the interval in which one input
    minus the other lies; ``sensitivity`` multiplies it (in whole numbers where inputs are integers).

    If ``hasty``, shifts are as near to 0 as rules allow, and no linear program is solved. ``built`` is what
    earlier calls for the same problem have built.

    A named graph with a named lift raises :class:`LimitReached` above ``max_nodes`` and when the time is up;
    else that is noted, and the next way is tried. Raises ``ValueError`` for names and ranges that mean
    nothing.
    """
    adjacency, scale = problem.differences(adjacency, sensitivity)
    ranges = intervals_of(adjacency)
    ways = _ways(graph, lift, intervals)
    if problem.control.has_known and (graph == "auto" or lift is None):
        ways += [way for way in FORESIGHT if graph in ("auto", way[0])]
    may_fail = graph == "auto" or lift is None
    climb = _Climb(problem, scale, limits, may_fail, None if hasty else goal or Fraction(0), built or Built())
    best: list[Proof | None] = [None] * len(ranges)
    for way in ways:
        for i, interval in enumerate(ranges):
            known = best[i]
            if known is not None and known.bound <= (goal or 0) * scale:
                continue
            size = Size(max_nodes, None)
            if graph == "auto":
                bounded = known is not None
                size = IN_PARTS if way[0] == "parts" else WITH_BOUND if bounded else WITHOUT_BOUND
                size = size.within(max_nodes)
                if not climb.worthwhile(way, size, bounded):
                    continue
            side = climb.attempt(way, size, interval)
            if side is not None and (known is None or side.bound < known.bound):
                best[i] = side
    sides = sorted((side for side in best if side is not None), key=lambda side: -side.bound)
    if len(sides) < len(ranges):
        return Alignment(None, ranges, scale, (), tuple(climb.attempts))
    return Alignment(sides[0].bound, ranges, scale, tuple(sides), tuple(climb.attempts))


def _ways(graph: str, lift: str | None, intervals: bool) -> list[Way]:
    """What a caller has asked for, in order; raises ``ValueError`` for what means nothing."""
    if graph not in ("auto", *GRAPHS):
        raise ValueError(f"a graph is auto, {', '.join(GRAPHS)}, not {graph!r}")
    letters = canonical(lift or "")
    if graph in ("control", "eq", "parts") and "L" in letters:
        raise ValueError(f"the prophecies L and G need the augmentation, not {graph}")
    if SHARED in letters and (graph not in ("auto", "parts") or letters == SHARED):
        raise ValueError("S is for prophecies that parts share")
    if graph == "auto" or lift is None:
        return [way for way in LADDER if graph in ("auto", way[0])]
    return [(graph, letters, intervals)]


class _Climb:
    """The graphs tried so far, with the covers and programs that were built, which both sides share.

    Unless an attempt ``may_fail``, its limit is raised. Linear programs are solved where shifts found without
    one give a bound above the ``goal``; without a goal never.
    """

    def __init__(
        self,
        problem: Problem,
        sensitivity: Fraction,
        limits: Limits,
        may_fail: bool,
        goal: Fraction | None,
        built: Built,
    ) -> None:
        self.problem, self.sensitivity, self.limits = problem, sensitivity, limits
        self.may_fail, self.goal = may_fail, goal
        self.attempts: list[GraphAttempt] = []
        self._covers, self._programs = built.covers, built.programs

    def worthwhile(self, way: Way, size: Size, bounded: bool) -> bool:
        """Whether the graph knows more than those before it on the ladder.

        Parts are for want of any bound, and one part alone is the augmentation. There are none where shifts
        have an order of their own, and only automata of the paper have a trunk.
        """
        graph, letters, _ = way
        if graph == "parts":
            control = self.problem.control
            if bounded or control.soft or len(shares(control)) == 1:
                return False
            return SHARED not in letters or (control.is_plain and bool(shared(control)))
        coarser = {"control": None, "eq": "control", "augmentation": "eq"}[graph]
        if coarser is None or "L" in letters or "M" in letters or (letters and graph == "eq"):
            return True
        try:
            here, before = self._cover(graph, size), self._cover(coarser, size)
        except LimitReached:
            return True  # the attempt will say so
        return (here.nodes, len(here.source)) != (before.nodes, len(before.source))

    def attempt(self, way: Way, size: Size, interval: Interval) -> Proof | None:
        """The proof that a graph gives for one range of differences, if any."""
        side, reason = None, ""
        try:
            side, reason = self._prove(way, self._program(way, size), *interval)
        except LimitReached as limit:
            if not self.may_fail:
                raise
            reason = limit.reason
        self.attempts.append(GraphAttempt(*way, side.bound if side is not None else None, reason))
        return side

    def _prove(
        self, way: Way, program: Program | Parted, low: Fraction, high: Fraction
    ) -> tuple[Proof | None, str]:
        graph, letters, wide = way
        solution, reason = self._solution(program.constraints, low, high)
        if solution is None:
            return None, reason
        scale = self.sensitivity
        proved = low * scale, high * scale, solution.bound * scale, solution, scale
        on = self.problem.control, graph, canonical(letters), wide
        if isinstance(program, Program):
            return Side(*proved, *on, program), reason
        return PartedSide(*proved, *on, program), reason

    def _solution(
        self, constraints: Constraints, low: Fraction, high: Fraction
    ) -> tuple[Solution | None, str]:
        """The best shifts found, and what ended the search for better ones, or why there are none."""
        integers = self.problem.is_integer
        found: list[Solution] = []
        for wanted in dict.fromkeys((Fraction(0), Fraction(0) if integers else (low + high) / 2)):
            self.limits.check("alignment, nearest shifts")
            values = nearest(constraints, low, high, wanted)
            if values is None:
                return None, NO_SHIFTS
            if not integers or all(value.denominator == 1 for value in values):
                found += filter(None, [evaluate(constraints, values, low, high)])
        best = min(found, key=lambda solution: solution.bound, default=None)
        if self.goal is None or (best is not None and best.bound <= self.goal):
            return best, "" if best is not None else NO_ROUNDING
        try:
            floats = solve(constraints, low, high, self.limits)
        except LimitReached as limit:
            if best is None or not self.may_fail:
                raise
            return best, limit.reason
        if floats is not None:
            grids = INTEGERS if integers else DENOMINATORS
            # Of equally good ones the solver's: they tell better which differences cost much on a run.
            found = [*filter(None, [rounded(constraints, *floats, low, high, grids)]), *found]
        best = min(found, key=lambda solution: solution.bound, default=None)
        return best, "" if best is not None else NO_SHIFTS if floats is None else NO_ROUNDING

    def _program(self, way: Way, size: Size) -> Program | Parted:
        graph, letters, wide = way

        def build() -> Program | Parted:
            if graph == "parts":
                if self.problem.control.soft:
                    raise LimitReached(Limit.METHOD, NOT_IN_PARTS)
                if SHARED in letters and not self.problem.control.is_plain:
                    raise LimitReached(Limit.METHOD, NO_TRUNK)
                return parted(self.problem.control, letters, wide, size.nodes, size.pairs, self.limits)
            cover = self._cover("marked" if "L" in letters else graph, size)
            lifted = lift(cover, letters, size.nodes, self.limits)
            return (intervals if wide else points)(lifted, size.pairs, self.limits)

        return _remembered(self._programs, (way, size), build)

    def _cover(self, kind: str, size: Size) -> Cover:
        def build() -> Cover:
            match kind:
                case "control":
                    return control_cover(self.problem.control)
                case "eq":
                    return eq_cover(self.problem.control, size.nodes, self.limits)
                case "augmentation":
                    augmentation = self.problem.augmentation(self.limits, size.nodes)
                    return augmentation_cover(augmentation.at_most(size.nodes))
                case _:
                    return marked_cover(self._cover("augmentation", size), size.nodes, self.limits)

        return _remembered(self._covers, (kind, size), build)


def _remembered(known: dict[K, V | LimitReached], key: K, build: Callable[[], V]) -> V:
    """What was built before under the key, or now; a limit that was reached is reached again."""
    if key not in known:
        try:
            known[key] = build()
        except OutOfTime:
            raise  # there may be more time when it is tried again
        except LimitReached as limit:
            known[key] = limit
    found = known[key]
    if isinstance(found, LimitReached):
        raise found
    return found
