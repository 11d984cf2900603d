"""Runs: that samples satisfy them, however often cycles are taken, and what shifts must obey."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from symdipa.checker.plain import alike
from symdipa.checker.plain.alike import Cycle
from symdipa.checker.plain.runs import cycles_of
from symdipa.checker.reading import items, number
from symdipa.checker.rules import refuse
from symdipa.checker.wider.model import Model, Step
from symdipa.checker.wider.order import Order, Place


class End(NamedTuple):
    """A sample by its position (``second``: the other one of its step), or the ground; or its negative."""

    position: int | None
    second: bool = False
    mirrored: bool = False

    @property
    def negative(self) -> End:
        return self if self.position is None else self._replace(mirrored=not self.mirrored)


GROUND = End(None)

Arc = tuple[End, End]
"""The first end must be shifted at least as far as the second one."""


@dataclass(frozen=True)
class Run:
    """A run that some samples satisfy however often its cycles are repeated, before the rounds in the run.

    ``arcs`` hold between the samples of the run, ``steady`` ones in each round of a cycle in the same way; of
    an arc between two ends its negative is not listed.
    """

    transitions: tuple[int, ...]
    steps: tuple[Step, ...]
    cycles: tuple[Cycle, ...]
    arcs: frozenset[Arc]
    steady: frozenset[Arc]

    def round_of(self, arc: Arc) -> range:
        """The positions of the cycle that the arc is steady in: that with the latest of its ends."""
        latest = max(end.position for end in arc if end.position is not None)
        return next(range(i, j) for i, j in self.cycles if latest in range(i, j))


@dataclass
class Walk:
    """What is known after some steps of a run.

    ``origin`` is the sample (or constant) that a variable holds. ``wavering`` are those whose value comes
    from before a cycle, but where the cycle is repeated would come from an earlier round.
    """

    order: Order
    origin: dict[str, End] = field(default_factory=dict)
    wavering: frozenset[str] = frozenset()


def run_of(model: Model, value: object, cycles: object, where: str) -> Run:
    transitions = tuple(
        number(item, f"{where}.run[{i}]", "run-step", len(model.steps))
        for i, item in enumerate(items(value, f"{where}.run"))
    )
    steps = tuple(model.steps[t] for t in transitions)
    state = model.initial
    for i, step in enumerate(steps):
        if step.source != state:
            refuse("run-step", f"{where}.run[{i}] does not begin where the run is")
        state = step.target
    ranges = cycles_of(steps, cycles, f"{where}.cycles")
    return Follower(model, steps, ranges, where).run(transitions)


class Follower:
    """Walks along a run once, and along each cycle once more."""

    def __init__(self, model: Model, steps: tuple[Step, ...], cycles: tuple[Cycle, ...], where: str) -> None:
        self.model, self.steps, self.cycles, self.where = model, steps, cycles, where
        self.arcs: set[Arc] = set()
        self.steady: set[Arc] = set()

    def run(self, transitions: tuple[int, ...]) -> Run:
        walk = Walk(Order(self.model.integer))
        inside = {p: range(i, j) for i, j in self.cycles for p in range(i, j)}
        for p in range(len(self.steps)):
            here = inside.get(p, range(0))
            if here and p == here[0]:
                walk.wavering |= self._changed(walk, here)
            self._take_arcs(walk, p, here)
            self._advance(walk, p, "run-feasible")
            if here and p == here[-1]:
                self._check_repeats(walk, here)
        return Run(transitions, self.steps, self.cycles, frozenset(self.arcs), frozenset(self.steady))

    def _changed(self, walk: Walk, cycle: range) -> set[str]:
        """The variables that hold something else before another round: another sample than before this one.

        A round may put back what was there, or a constant in place of one; then so does every round.
        """
        held: dict[str, Place] = {}
        for p in cycle:
            gets = self.steps[p].gets
            held |= {x: held.get(value.place.name or "", value.place) for x, value in gets.items()}
        changed: set[str] = set()
        while True:
            found = {
                x
                for x, place in held.items()
                if place.is_sample
                or place.name in changed
                or walk.origin.get(x) != (GROUND if place.name is None else walk.origin[place.name])
            }
            if found == changed:
                return changed
            changed = found

    def _check_repeats(self, walk: Walk, cycle: range) -> None:
        """After one more round the same values are possible: so it is after any number of rounds."""
        again = Walk(walk.order.copy(), dict(walk.origin))
        for p in cycle:
            self._advance(again, p, "cycle-repeats")
        live = self.model.live[self.steps[cycle[-1]].target]
        if again.order.facts != walk.order.facts or any(
            self._is_continuous(again.origin[x]) != self._is_continuous(walk.origin[x]) for x in live
        ):
            refuse(
                "cycle-repeats",
                f"{self.where}: after one more round of {list(cycle)} other values are possible",
            )

    def _is_continuous(self, end: End) -> bool:
        return end.position is not None and self.model.is_continuous(self.steps[end.position].sample)

    def _advance(self, walk: Walk, p: int, rule: str) -> None:
        """Take a step; two samples of which one is continuous are different."""
        step = self.steps[p]
        for c in step.known:
            low, high = resolved(walk.origin, p, c.low), resolved(walk.origin, p, c.high)
            differ = low != high and (self._is_continuous(low) or self._is_continuous(high))
            walk.order.learn(c._replace(strict=c.strict or differ))
        if not walk.order.is_possible:
            refuse(rule, f"{self.where}: no samples satisfy the guards up to position {p}")
        walk.order = walk.order.moved(step.gets, self.model.live[step.target])
        walk.origin |= {x: resolved(walk.origin, p, value.place) for x, value in step.gets.items()}

    def _take_arcs(self, walk: Walk, p: int, cycle: range) -> None:
        step = self.steps[p]
        for pair in step.asked:
            if walk.wavering.isdisjoint(place.name for place in pair):
                self._add((resolved(walk.origin, p, pair[0]), resolved(walk.origin, p, pair[1])), cycle)
        if step.second is not None:
            shown = End(p, second=True)
            self._add((shown, GROUND), cycle)
            self._add((GROUND, shown), cycle)
        wavering = {x for x, v in step.gets.items() if v.place.name in walk.wavering}
        walk.wavering = (walk.wavering - step.assigned) | wavering

    def _add(self, arc: Arc, cycle: range) -> None:
        if arc[0] != arc[1]:
            self.arcs.add(arc)
            if any(end.position in cycle for end in arc):
                self.steady.add(arc)


def resolved(origin: Mapping[str, End], p: int, place: Place) -> End:
    """The sample that is found in a place at a position."""
    if place.name is None:
        return GROUND
    end = End(p) if place.is_sample else origin[place.name]
    return end.negative if place.mirrored else end


# Output distinction


def is_distinct(model: Model, runs: Sequence[Run]) -> bool:
    """Whether no feasible run but these has the outputs of the first, however often its cycles repeat."""

    def imitations(state: str, order: Order, position: int) -> Iterator[tuple[int, str, Order]]:
        for t in model.leaving[state]:
            step = model.steps[t]
            if step.shows == runs[0].steps[position].shows:
                after = order.copy()
                for comparison in step.known:
                    after.learn(comparison)
                if after.is_possible:
                    yield t, step.target, after.moved(step.gets, model.live[step.target])

    start = model.initial, Order(model.integer)
    return alike.is_distinct(runs, runs[0].cycles, start, imitations, lambda order: order.facts)
