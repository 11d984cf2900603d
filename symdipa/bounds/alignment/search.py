"""Alignment over one graph or over a ladder of graphs, from cheap to sharp."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from symdipa.bounds.alignment.graphs import Cover, augmentation_cover, control_cover, eq_cover, marked_cover
from symdipa.bounds.alignment.lifts import canonical, lift
from symdipa.bounds.alignment.parts import Parted, parted, shares
from symdipa.bounds.alignment.program import Program, intervals, points, solve
from symdipa.bounds.alignment.proofs import PartedSide, Proof, Side
from symdipa.bounds.alignment.rounding import rounded
from symdipa.model.adjacency import Adjacency, Interval
from symdipa.model.adjacency import intervals as intervals_of
from symdipa.model.errors import LimitReached
from symdipa.model.limits import UNLIMITED, Limits, stopwatch
from symdipa.model.options import GRAPHS
from symdipa.runs.control import Control

K = TypeVar("K")
V = TypeVar("V")

LADDER: tuple[tuple[str, str, bool], ...] = (
    ("control", "", False),
    ("control", "", True),
    ("eq", "", True),
    ("eq", "C", True),
    ("parts", "", True),
    ("parts", "C", True),
    ("augmentation", "", True),
    ("augmentation", "LG", False),
    ("eq", "CK", True),
    ("augmentation", "C", True),
    ("augmentation", "CK", True),
    ("augmentation", "CKLG", True),
)
"""Graph, prophecies and whether intervals, in the order in which ``auto`` tries them."""


@dataclass(frozen=True, slots=True)
class Size:
    """The most nodes of a graph or lift, and the most pairs of node and variable with shifts of their own."""

    nodes: int | None
    pairs: int | None

    def within(self, nodes: int | None) -> Size:
        return self if nodes is None or self.nodes is None else Size(min(nodes, self.nodes), self.pairs)


NO_SHIFTS = "no shifts satisfy the rules"
NO_ROUNDING = "no rounding of the shifts found satisfies the rules exactly"

WITHOUT_BOUND = Size(20_000, 100_000)
WITH_BOUND = Size(2_000, 5_000)
IN_PARTS = Size(200_000, 100_000)
"""What ``auto`` tries while it has no bound (in parts, too), and to better one that it has."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One graph that was tried for one range: its size and the bound, or why there is none."""

    graph: str
    lift: str
    intervals: bool
    nodes: int
    bound: Fraction | None
    reason: str
    seconds: float


@dataclass(frozen=True, eq=False)
class Alignment:
    """A proved bound on ``D``, or ``None`` where no graph that was tried gave one.

    ``sides`` has one proof for each range of differences (monotone adjacency has two), the one of the largest
    bound first; empty if there is no bound.
    """

    bound: Fraction | None
    adjacency: tuple[Interval, ...]
    sensitivity: Fraction
    sides: tuple[Proof, ...]
    attempts: tuple[Attempt, ...]

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


def align(
    control: Control,
    graph: str = "auto",
    lift: str | None = "",
    intervals: bool = False,
    adjacency: Adjacency = "two-sided",
    sensitivity: Fraction | int = 1,
    goal: Fraction | None = None,
    max_nodes: int | None = None,
    limits: Limits = UNLIMITED,
) -> Alignment:
    """Prove a bound on ``D`` by alignment.

    ``graph`` is ``control``, ``eq``, ``augmentation`` or ``parts`` (:mod:`symdipa.bounds.alignment.parts`),
    with the prophecies ``lift`` (letters of ``UCKLG``) and shifts that are ``intervals`` or points. ``auto``
    goes up the :data:`LADDER` as far as sizes allow and keeps the best bound (so does a named graph with
    ``lift`` ``None``, on its own part); it ends early where that reaches ``goal``, a bound from below (before
    sensitivity). ``adjacency`` is ``two-sided``, ``monotone`` or the range of the differences;
    ``sensitivity`` multiplies it. A range ``[L, H]`` speaks of one
    direction only: where either input may be the larger one, ``[-H, -L]`` is needed, too (which is what
    ``monotone`` does with ``[0, 1]``; one side alone may have a bound even where the automaton is not
    private).

    A named graph with a named lift raises :class:`LimitReached` above ``max_nodes`` and when the time is up;
    else that is noted, and the next way is tried.
    """
    ranges = intervals_of(adjacency)
    scale = Fraction(sensitivity)
    climbs = graph == "auto" or lift is None
    letters = canonical(lift or "")
    steps = [step for step in LADDER if graph in ("auto", step[0])]
    if not climbs:
        steps = [(graph, letters, intervals)]
    if graph not in ("auto", *GRAPHS):
        raise ValueError(f"a graph is auto, {', '.join(GRAPHS)}, not {graph!r}")
    if graph in ("control", "eq", "parts") and "L" in letters:
        raise ValueError(f"the prophecies L and G need the augmentation, not {graph}")
    work = _Work(control, climbs, limits)
    best: list[Proof | None] = [None] * len(ranges)
    attempts: list[Attempt] = []
    for kind, letters, wide in steps:
        for i, (low, high) in enumerate(ranges):
            known = best[i]
            if known is not None and known.bound <= (goal or 0) * scale:
                continue
            size = Size(max_nodes, None)
            if graph == "auto":
                affordable = IN_PARTS if kind == "parts" else WITHOUT_BOUND if known is None else WITH_BOUND
                size = affordable.within(max_nodes)
                if not work.worthwhile(kind, letters, size, known is not None):
                    continue
            attempt, side = work.attempt(kind, letters, wide, size, low, high, scale)
            attempts.append(attempt)
            if side is not None and (known is None or side.bound < known.bound):
                best[i] = side
    sides = [side for side in best if side is not None]
    if len(sides) < len(ranges):
        return Alignment(None, ranges, scale, (), tuple(attempts))
    sides.sort(key=lambda side: -side.bound)
    return Alignment(sides[0].bound, ranges, scale, tuple(sides), tuple(attempts))


class _Work:
    """Covers and lifts that were built, so that the ladder and both sides share them."""

    def __init__(self, control: Control, auto: bool, limits: Limits) -> None:
        self.control = control
        self.auto = auto
        self.limits = limits
        self.covers: dict[tuple[str, Size], Cover | LimitReached] = {}
        self.programs: dict[tuple[str, str, bool, Size], Program | Parted | LimitReached] = {}

    def worthwhile(self, kind: str, letters: str, size: Size, bounded: bool) -> bool:
        """Whether the graph can tell more than those before it on the ladder.

        Parts are for want of any bound, and one part alone is the augmentation.
        """
        if kind == "parts":
            return not bounded and len(shares(self.control)) > 1
        coarser = {"control": None, "eq": "control", "augmentation": "eq"}[kind]
        if coarser is None or "L" in letters or (letters and kind == "eq"):
            return True
        try:
            here, before = self.cover(kind, size), self.cover(coarser, size)
        except LimitReached:
            return True  # the attempt will say so
        return (here.nodes, len(here.source)) != (before.nodes, len(before.source))

    def attempt(
        self, kind: str, letters: str, wide: bool, size: Size, low: Fraction, high: Fraction, scale: Fraction
    ) -> tuple[Attempt, Proof | None]:
        spent = stopwatch()
        nodes, bound, reason, side = 0, None, "", None
        try:
            program = self.program(kind, letters, wide, size)
            nodes = program.nodes
            side, reason = self.prove(program, low, high, scale)
            bound = side.bound if side is not None else None
        except LimitReached as limit:
            if not self.auto:
                raise
            reason = limit.reason
        return Attempt(kind, letters, wide, nodes, bound, reason, spent()), side

    def prove(
        self, program: Program | Parted, low: Fraction, high: Fraction, scale: Fraction
    ) -> tuple[Proof | None, str]:
        floats = solve(program.problem, low, high, self.limits)
        if floats is None:
            return None, NO_SHIFTS
        solution = rounded(program.problem, *floats, low, high)
        if solution is None:
            return None, NO_ROUNDING
        found = low * scale, high * scale, solution.bound * scale, solution, scale
        return (Side(*found, program) if isinstance(program, Program) else PartedSide(*found, program)), ""

    def program(self, kind: str, letters: str, wide: bool, size: Size) -> Program | Parted:
        def build() -> Program | Parted:
            if kind == "parts":
                return parted(self.control, letters, wide, size.nodes, size.pairs, self.limits)
            cover = self.cover("marked" if "L" in letters else kind, size)
            lifted = lift(cover, letters, size.nodes, self.limits)
            return (intervals if wide else points)(lifted, size.pairs, self.limits)

        return _remembered(self.programs, (kind, letters, wide, size), build)

    def cover(self, kind: str, size: Size) -> Cover:
        def build() -> Cover:
            match kind:
                case "control":
                    return control_cover(self.control)
                case "eq":
                    return eq_cover(self.control, size.nodes, self.limits)
                case "augmentation":
                    return augmentation_cover(self.control, size.nodes, self.limits)
                case _:
                    return marked_cover(self.cover("augmentation", size), size.nodes, self.limits)

        return _remembered(self.covers, (kind, size), build)


def _remembered(known: dict[K, V | LimitReached], key: K, build: Callable[[], V]) -> V:
    """What was built before under the key, or now; a limit that was reached is reached again."""
    if key not in known:
        try:
            known[key] = build()
        except LimitReached as limit:
            known[key] = limit
    found = known[key]
    if isinstance(found, LimitReached):
        raise found
    return found
