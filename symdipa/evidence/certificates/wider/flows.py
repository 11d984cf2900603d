"""Certificates of bounds from below, and of costs without bound, for automata that are not the paper's.

A flow is sought on the run itself, along what the checker finds that its steps ask of shifts. Where it does
not take a cycle as it is, some rounds before it may help, or a few rounds in place of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm
from typing import TYPE_CHECKING, NamedTuple

from symdipa.checker.claims import Inputs
from symdipa.checker.rules import CertificateRefused
from symdipa.checker.wider.model import Model, Sample, Step, model_of
from symdipa.checker.wider.runs import GROUND, Arc, End, Run, run_of
from symdipa.model.adjacency import EITHER_WAY, Interval
from symdipa.model.automaton import Automaton, Noise
from symdipa.model.errors import NothingToCertify
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.control import control_graph

if TYPE_CHECKING:
    from symdipa.bounds.exact.flow import Flow as CoreFlow

Json = dict[str, object]

Span = tuple[int, int]
"""A half-open range of positions of a run."""

ROUNDS = 4
"""The most rounds that are written down in place of a cycle."""


class Flow(NamedTuple):
    """As in a certificate."""

    arc: Arc
    amount: Fraction
    repeated: bool


def lower_of_flow(
    automaton: Automaton,
    flow: CoreFlow,
    adjacency: Interval = EITHER_WAY,
    sensitivity: Fraction | int = 1,
    limits: Limits = UNLIMITED,
) -> Json:
    """A flow that was found on the core, as a certificate; its differences are those without the sensitivity.

    Other ways to write down the cycles are tried until the flow is worth as much, and the best one counts.
    Raises :class:`NothingToCertify` if no flow has any value.
    """
    control = control_graph(automaton)
    run, cycles = control.whole(flow.run), control.whole_cycles(flow.run, flow.loops)
    entries = control.whole_differences(flow.run, flow.deltas, adjacency)
    differences = [delta * sensitivity for delta in entries]
    found = None
    for way in _ways(automaton, run, cycles, adjacency, sensitivity):
        limits.check("a certificate of a bound from below")
        deltas = [differences[at] for at in way.places]
        value, flows = way.largest(deltas, limits)
        if value > 0 and (found is None or value > found[0]):
            found = value, way, deltas, flows
        if value >= (flow.value or 0) * sensitivity:
            break
    if found is None:
        raise NothingToCertify("no flow on the run that was found has any value")
    value, way, deltas, flows = found
    claim = {"kind": "lower", **_inputs(adjacency, sensitivity), "D": str(value)}
    return claim | way.written(deltas, flows)


def growth(
    automaton: Automaton,
    run: Sequence[int],
    cycles: Sequence[Span],
    adjacency: Interval = EITHER_WAY,
    sensitivity: Fraction | int = 1,
    limits: Limits = UNLIMITED,
) -> Json:
    """A flow on a run that nothing limits, as a certificate of a violation.

    Raises :class:`NothingToCertify` if none is found.
    """
    followed = not cycles
    for way in _ways(automaton, run, cycles, adjacency, sensitivity):
        limits.check("a certificate of a violation")
        followed |= bool(way.run.cycles)
        if (found := way.endless()) is not None:
            claim = {"kind": "violation", "pattern": "growth", **_inputs(adjacency, sensitivity)}
            return claim | way.written(*found)
    if not followed:
        raise NothingToCertify(
            "the checker does not follow the cycles of the violation, in which values drift"
        )
    raise NothingToCertify("no flow without limit was found on the run of the violation")


def _inputs(adjacency: Interval, sensitivity: Fraction | int) -> Json:
    return {"adjacency": [str(end) for end in adjacency], "sensitivity": str(sensitivity)}


def _ways(
    automaton: Automaton,
    run: Sequence[int],
    cycles: Sequence[Span],
    adjacency: Interval,
    sensitivity: Fraction | int,
) -> Iterator[_Way]:
    """The run with its cycles written down in different ways, as far as the checker follows."""
    model = model_of(automaton)
    inputs = Inputs(*adjacency, Fraction(sensitivity), adjacency[0] == -adjacency[1])
    cycles = sorted(cycles)
    kinds = [(before, 1) for before in range(ROUNDS)] + [(before, 2) for before in range(ROUNDS)]
    for before, listed in [*kinds, *((rounds, 0) for rounds in range(1, ROUNDS + 1))]:
        places, spans = _written_out(len(run), cycles, before, listed)
        transitions = [run[at] for at in places]
        kept = _accepted(model, transitions, spans)
        if kept is not None:
            yield _Way(model, kept, inputs, places)
        if not cycles:
            return


def _written_out(
    length: int, cycles: Sequence[Span], before: int, listed: int
) -> tuple[list[int], list[Span]]:
    """Positions of the run with some rounds before each cycle of some rounds, and the new cycles."""
    places: list[int] = []
    spans: list[Span] = []
    ends, at = dict(cycles), 0
    while at < length:
        end = ends.get(at)
        if end is None:
            places.append(at)
            at += 1
            continue
        places += [*range(at, end)] * before
        if listed:
            spans.append((len(places), len(places) + listed * (end - at)))
        places += [*range(at, end)] * listed
        at = end
    return places, spans


def _accepted(model: Model, transitions: Sequence[int], cycles: Sequence[Span]) -> Run | None:
    """The run with those of the cycles that the checker takes."""

    def taken(some: Sequence[Span]) -> Run | None:
        try:
            return run_of(model, list(transitions), [list(cycle) for cycle in some], "the run")
        except CertificateRefused:
            return None

    if (found := taken(cycles)) is not None or len(cycles) < 2:
        return found
    return taken([cycle for cycle in cycles if taken([cycle]) is not None])


@dataclass(frozen=True)
class _Way:
    """A run with cycles that the checker takes; ``places`` are its positions in the run that was given."""

    model: Model
    run: Run
    inputs: Inputs
    places: list[int]

    @property
    def mirrored(self) -> bool:
        return any(end.mirrored for arc in self.run.arcs for end in arc)

    def _closed(self, arcs: frozenset[Arc]) -> list[Arc]:
        """The arcs, with those between negatives where there are any."""
        found = sorted(arcs, key=str)
        if self.mirrored:
            found += [(high.negative, low.negative) for low, high in found]
        return list(dict.fromkeys(found))

    def _copies(self, arc: Arc) -> tuple[bool, bool]:
        """Which ends of a repeated arc are samples of further rounds."""
        inside = self.run.round_of(arc)
        low, high = arc
        return low.position in inside, high.position in inside

    def _step(self, end: End) -> Step:
        assert end.position is not None
        return self.run.steps[end.position]

    def _sample(self, end: End) -> Sample:
        step = self._step(end)
        sample = step.second if end.second else step.sample
        assert sample is not None
        return sample

    def _gain(self, end: End, absorbed: int) -> Fraction:
        """What a further round gains at most by a unit that a copy absorbs, or (-1) creates."""
        amount = -absorbed if end.mirrored else absorbed
        return max(amount * x for x in self.model.differences(self._step(end), self.inputs))

    def _room(self, end: End, absorbed: int) -> Fraction | None:
        """How much a sample can absorb, or (-1) create; ``None``: as much as one likes."""
        sample = self._sample(end)
        amount = -absorbed if end.mirrored else absorbed
        if sample.noise is Noise.NONE or (sample.noise is Noise.EXPONENTIAL and amount < 0):
            return None
        return sample.d / 2 if self.mirrored else sample.d

    # The largest flow

    def largest(self, deltas: Sequence[Fraction], limits: Limits) -> tuple[Fraction, list[Flow]]:
        """The value of the largest flow, and that flow; 0 if there is no largest."""
        from symdipa.bounds.exact.flow import Network

        arcs, steady = self._closed(self.run.arcs), self._closed(self.run.steady)
        ends = list(dict.fromkeys(end for arc in arcs for end in arc))
        if GROUND not in ends:
            ends.append(GROUND)
        place = {end: k for k, end in enumerate(ends)}
        source, sink = len(ends), len(ends) + 1
        rooms = {end: (self._room(end, 1), self._room(end, -1)) for end in ends if end != GROUND}
        worth = {end: self._worth(end, deltas) for end in rooms}
        gains = {arc: self._gains(arc) for arc in steady}
        unit = lcm(*(room.denominator for both in rooms.values() for room in both if room is not None), 1)
        scale = lcm(*(x.denominator for x in (*worth.values(), *(g for g, _, _ in gains.values()))), 1)
        endless = 1 + sum(int(room * unit) for both in rooms.values() for room in both if room is not None)
        network = Network(len(ends) + 2, limits)
        links: list[tuple[Arc, bool, int]] = []
        for low, high in arcs:
            links.append(((low, high), False, network.add(place[low], place[high], endless, 0)))
        for arc, (gain, from_copy, to_copy) in gains.items():
            if from_copy and to_copy:
                if gain > 0:
                    return Fraction(0), []
                continue
            start = source if from_copy else place[arc[0]]
            goal = sink if to_copy else place[arc[1]]
            links.append((arc, True, network.add(start, goal, endless, -int(gain * scale))))
        for end, both in rooms.items():
            absorbs, creates = (endless if room is None else int(room * unit) for room in both)
            network.add(source, place[end], creates, int(worth[end] * scale))
            network.add(place[end], sink, absorbs, -int(worth[end] * scale))
        network.add(source, place[GROUND], endless, 0)
        network.add(place[GROUND], sink, endless, 0)
        earned = -network.cheapest(source, sink)
        amounts = [(arc, network.room[k + 1], repeated) for arc, repeated, k in links]
        if any(amount >= endless for _, amount, _ in amounts):
            return Fraction(0), []
        flows = [Flow(arc, Fraction(amount, unit), repeated) for arc, amount, repeated in amounts if amount]
        return Fraction(earned, unit * scale), flows

    def _worth(self, end: End, deltas: Sequence[Fraction]) -> Fraction:
        assert end.position is not None
        return -deltas[end.position] if end.mirrored else deltas[end.position]

    def _gains(self, arc: Arc) -> tuple[Fraction, bool, bool]:
        """What a unit of repeated flow gains, and which of its ends are copies."""
        low, high = arc
        from_copy, to_copy = self._copies(arc)
        if from_copy and to_copy and (low.position, low.second) == (high.position, high.second):
            both = self._gain(high, 1), self._gain(high, -1)
            return (2 * both[0] if low.mirrored != high.mirrored else Fraction(0)), True, True
        gain = (self._gain(low, -1) if from_copy else 0) + (self._gain(high, 1) if to_copy else 0)
        return Fraction(gain), from_copy, to_copy

    # A flow without limit

    def endless(self) -> tuple[list[Fraction], list[Flow]] | None:
        """A path between ends that no capacity limits and that is worth something, with the differences."""
        arcs, steady = self._closed(self.run.arcs), self._closed(self.run.steady)
        after: dict[End, list[Arc]] = {}
        for arc in arcs:
            after.setdefault(arc[0], []).append(arc)
        starts: list[Flow | End] = []
        for arc in steady:
            gain, from_copy, to_copy = self._gains(arc)
            if from_copy and to_copy:
                if gain > 0:
                    return [Fraction(0)] * len(self.places), [Flow(arc, Fraction(1), True)]
            elif from_copy:
                starts.append(Flow(arc, Fraction(1), True))
        ends = list(dict.fromkeys(end for arc in arcs for end in arc))
        starts += [end for end in ends if self._is_open(end, -1)]
        finals: dict[End, list[Flow | None]] = {}
        for end in ends:
            if self._is_open(end, 1):
                finals.setdefault(end, []).append(None)
        for arc in steady:
            if self._copies(arc) == (False, True):
                finals.setdefault(arc[0], []).append(Flow(arc, Fraction(1), True))
        for start in starts:
            first = start.arc[1] if isinstance(start, Flow) else start
            for end, path in _paths(first, after):
                for final in finals.get(end, ()):
                    flows = [Flow(arc, Fraction(1), False) for arc in path]
                    head = [start] if isinstance(start, Flow) else []
                    tail = [final] if final is not None else []
                    if (deltas := self._worthy(start, final or end)) is not None and (head or tail or path):
                        return deltas, [*head, *flows, *tail]
        return None

    def _is_open(self, end: End, absorbed: int) -> bool:
        return end == GROUND or self._room(end, absorbed) is None

    def _worthy(self, start: Flow | End, final: Flow | End) -> list[Fraction] | None:
        """Differences with which a path between these ends is worth something, if there are any."""
        fixed = [end for end in (start, final) if isinstance(end, End) and end != GROUND]
        gained = sum(
            (
                self._gain(end.arc[k], 1 if k else -1)
                for k, end in enumerate((start, final))
                if isinstance(end, Flow)
            ),
            Fraction(0),
        )
        positions = sorted({end.position for end in fixed if end.position is not None})
        choices = [self.model.differences(self.run.steps[p], self.inputs) for p in positions]
        for choice in product(*choices):
            deltas = [Fraction(0)] * len(self.places)
            for p, delta in zip(positions, choice, strict=True):
                deltas[p] = delta
            value = gained
            if isinstance(start, End) and start != GROUND:
                value -= self._worth(start, deltas)
            if isinstance(final, End) and final != GROUND:
                value += self._worth(final, deltas)
            if value > 0:
                return deltas
        return None

    # Writing it down

    def written(self, deltas: Sequence[Fraction], flows: Sequence[Flow]) -> Json:
        return {
            "run": list(self.run.transitions),
            "cycles": [list(cycle) for cycle in self.run.cycles],
            "differences": [str(delta) for delta in deltas],
            "flow": [
                {"from": _written(flow.arc[0]), "to": _written(flow.arc[1]), "amount": str(flow.amount)}
                | ({"repeated": True} if flow.repeated else {})
                for flow in flows
            ],
        }


def _paths(start: End, after: dict[End, list[Arc]]) -> Iterator[tuple[End, list[Arc]]]:
    """A shortest path to each end that can be reached, that of no arcs first."""
    paths: dict[End, list[Arc]] = {start: []}
    work = deque([start])
    while work:
        end = work.popleft()
        yield end, paths[end]
        for arc in after.get(end, ()):
            if arc[1] not in paths:
                paths[arc[1]] = [*paths[end], arc]
                work.append(arc[1])


def _written(end: End) -> int | str:
    if end.position is None:
        return "ground"
    if not (end.mirrored or end.second):
        return end.position
    return f"{'-' if end.mirrored else ''}{end.position}{chr(39) if end.second else ''}"
