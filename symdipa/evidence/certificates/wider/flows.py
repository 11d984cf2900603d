"""Certificates of bounds from below, and of costs without bound, for automata that are not the paper's.

A flow is sought on the run itself, along what the checker finds that its steps ask of shifts. Where it does
not take a cycle as it is, some rounds before it may help, or a few rounds in place of it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING, NamedTuple

from symdipa.checker.claims import Inputs
from symdipa.checker.rules import CertificateRefused
from symdipa.checker.wider.adjacent import check_free, means_of_run
from symdipa.checker.wider.model import Model, Sample, Step, model_of
from symdipa.checker.wider.runs import GROUND, Arc, End, Run, run_of
from symdipa.evidence.certificates.build import with_others
from symdipa.model.adjacency import EITHER_WAY, Interval
from symdipa.model.automaton import Automaton, Noise
from symdipa.model.errors import NothingToCertify
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.control import control_graph

if TYPE_CHECKING:
    from symdipa.bounds.exact.flow import Flow as CoreFlow
    from symdipa.bounds.portfolio import Below

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
    letters = control.whole_letters(flow.run)
    for way in _ways(automaton, run, cycles, adjacency, sensitivity, letters, differences):
        limits.check("a certificate of a bound from below")
        value, deltas, flows = way.largest(limits)
        if value > 0 and (found is None or value > found[0]):
            found = value, way, deltas, flows
        if value >= (flow.value or 0) * sensitivity:
            break
    if found is None:
        raise NothingToCertify("no flow on the run that was found has any value")
    value, way, deltas, flows = found
    claim = {"kind": "lower", **_inputs(adjacency, sensitivity), "D": str(value)}
    return claim | way.written(deltas, flows)


def lower_of_alike(
    automaton: Automaton, found: Below, sensitivity: Fraction | int = 1, limits: Limits = UNLIMITED
) -> Json:
    """All runs that show the same, each with a flow, as a certificate of a bound from below.

    Raises :class:`NothingToCertify` if the checker does not take one, or none of its flows is worth as much.
    """
    assert found.alike is not None
    model, alike, parts = model_of(automaton), found.alike, list[Json]()
    for transitions in alike.runs:
        limits.check("a certificate of a bound from below")
        entries = [Entry.fixed(d * sensitivity) for d in alike.differences_of(automaton, transitions)]
        run = _accepted(model, transitions, (), entries)
        if run is None:
            raise NothingToCertify("the checker does not take one of the runs with the same outputs")
        way = _Way(model, run, entries)
        value, deltas, flows = way.largest(limits)
        if value < found.value:
            raise NothingToCertify("no flow was found on one of the runs with the same outputs")
        parts.append(way.written(deltas, flows))
    claim = {"kind": "lower", **_inputs(found.interval, sensitivity)}
    return with_others(claim | parts[0], parts[1:], found.value)


def growth(
    automaton: Automaton,
    run: Sequence[int],
    cycles: Sequence[Span],
    adjacency: Interval = EITHER_WAY,
    sensitivity: Fraction | int = 1,
    limits: Limits = UNLIMITED,
    letters: Sequence[str] = (),
) -> Json:
    """A flow on a run that nothing limits, as a certificate of a violation.

    ``letters`` say of the steps which entries differ, where that matters. Raises :class:`NothingToCertify`
    if none is found.
    """
    followed = not cycles
    for way in _ways(automaton, run, cycles, adjacency, sensitivity, letters):
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
    letters: Sequence[str],
    differences: Sequence[Fraction] | None = None,
) -> Iterator[_Way]:
    """The run with its cycles written down in different ways, as far as the checker follows.

    ``differences`` are those of its entries; without them the letters tell.
    """
    model = model_of(automaton)
    inputs = Inputs(*adjacency, Fraction(sensitivity), adjacency[0] == -adjacency[1])
    found: Sequence[Fraction | None] = differences or [None] * len(run)
    given = [
        Entry.of(model.differences(model.steps[t], inputs), letters[p] if letters else None, difference)
        for p, (t, difference) in enumerate(zip(run, found, strict=True))
    ]
    cycles = sorted(cycles)
    kinds = [(before, 1) for before in range(ROUNDS)] + [(before, 2) for before in range(ROUNDS)]
    for before, listed in [*kinds, *((rounds, 0) for rounds in range(1, ROUNDS + 1))]:
        places, spans = _written_out(len(run), cycles, before, listed)
        transitions = [run[at] for at in places]
        entries = [given[at] for at in places]
        kept = _accepted(model, transitions, spans, entries)
        if kept is not None:
            yield _Way(model, kept, entries)
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


def _accepted(
    model: Model, transitions: Sequence[int], cycles: Sequence[Span], entries: list[Entry]
) -> Run | None:
    """The run with those of the cycles that the checker takes."""

    def taken(some: Sequence[Span]) -> Run | None:
        try:
            run = run_of(model, list(transitions), [list(cycle) for cycle in some], "the run")
            _Way(model, run, entries).check()
        except CertificateRefused:
            return None
        return run

    if (found := taken(cycles)) is not None or len(cycles) < 2:
        return found
    return taken([cycle for cycle in cycles if taken([cycle]) is not None])


class Entry(NamedTuple):
    """The difference of an entry that was found, and the least and the largest one that are possible."""

    difference: Fraction
    ends: Interval

    @classmethod
    def of(cls, ends: Interval, letter: str | None, found: Fraction | None) -> Entry:
        """Without a letter any difference is possible, and with most letters one is."""
        low, high = ends
        match letter:
            case None:
                return cls(found or Fraction(0), ends)
            case "~":
                return cls(found or high or low, ends)
            case "-" | "+":
                return cls.fixed(low if letter == "-" else high)
            case _:
                return cls.fixed(Fraction(0))

    @classmethod
    def fixed(cls, difference: Fraction) -> Entry:
        return cls(difference, (difference, difference))


@dataclass(frozen=True)
class _Way:
    """A run with cycles that the checker takes, with the entries that it reads."""

    model: Model
    run: Run
    entries: list[Entry]

    def check(self) -> None:
        """Raises :class:`CertificateRefused` if these entries may not differ so."""
        if self.model.unfolds:
            check_free(self.run, "the run")
            means_of_run(self.model, self.run, self._written_entries(), "the run")

    @cached_property
    def means(self) -> list[Fraction]:
        """The differences of the means."""
        entries = self._written_entries()
        return means_of_run(self.model, self.run, entries, "the run") if self.model.unfolds else entries

    def _ends(self, position: int) -> Interval:
        """The least and the largest difference of the mean that the entry of the step can make."""
        entry, mean = self.entries[position], self.means[position]
        low, high = entry.ends
        return mean - entry.difference + low, mean - entry.difference + high

    def _fixed(self, chosen: Mapping[int, Fraction]) -> _Way | None:
        """With differences of means that are chosen at some positions, by the entries there, and as they are
        elsewhere; ``None`` if these entries may not differ so."""
        entries = [
            Entry.fixed(entry.difference + chosen.get(p, mean) - mean)
            for p, (entry, mean) in enumerate(zip(self.entries, self.means, strict=True))
        ]
        way = _Way(self.model, self.run, entries)
        try:
            way.check()
        except CertificateRefused:
            return None
        return way

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
        assert end.position is not None
        amount = -absorbed if end.mirrored else absorbed
        return max(amount * x for x in self._ends(end.position))

    def _room(self, end: End, absorbed: int) -> Fraction | None:
        """How much a sample can absorb, or (-1) create; ``None``: as much as one likes."""
        sample = self._sample(end)
        amount = -absorbed if end.mirrored else absorbed
        if sample.noise is Noise.NONE or (sample.noise is Noise.EXPONENTIAL and amount < 0):
            return None
        return sample.d / 2 if self.mirrored else sample.d

    # The largest flow

    def largest(self, limits: Limits) -> tuple[Fraction, list[Fraction], list[Flow]]:
        """The value of the largest flow, the differences of entries, and that flow; 0 if there is no largest.

        Where further rounds read entries as the one in the run does, both what that one had and what is best
        for them is tried.
        """
        value, flows = self._largest(limits)
        if not self.model.unfolds:
            return value, self._written_entries(), flows
        found = Fraction(0), self._written_entries(), list[Flow]()
        for chosen in ({}, self._best_for_copies(flows)):
            if (way := self._fixed(chosen)) is not None:
                value, flows = way._largest(limits)
                found = max(found, (value, way._written_entries(), flows), key=lambda one: one[0])
        return found

    def _written_entries(self) -> list[Fraction]:
        return [entry.difference for entry in self.entries]

    def _best_for_copies(self, flows: Iterable[Flow]) -> dict[int, Fraction]:
        """The differences of means with which further rounds gain most."""
        found: dict[int, Fraction] = {}
        for flow in flows:
            copies = self._copies(flow.arc) if flow.repeated else (False, False)
            for end, is_copy, rises in zip(flow.arc, copies, (False, True), strict=True):
                if is_copy and end.position is not None:
                    found[end.position] = self._ends(end.position)[rises != end.mirrored]
        return found

    def _largest(self, limits: Limits) -> tuple[Fraction, list[Flow]]:
        from symdipa.bounds.exact.flow import Network

        arcs, steady = self._closed(self.run.arcs), self._closed(self.run.steady)
        ends = list(dict.fromkeys(end for arc in arcs for end in arc))
        if GROUND not in ends:
            ends.append(GROUND)
        place = {end: k for k, end in enumerate(ends)}
        source, sink = len(ends), len(ends) + 1
        rooms = {end: (self._room(end, 1), self._room(end, -1)) for end in ends if end != GROUND}
        worth = {end: self._worth(end, self.means) for end in rooms}
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
        heads: list[tuple[End, list[Flow]]] = []
        tails: dict[End, list[list[Flow]]] = {}
        for arc in steady:
            from_copy, to_copy = self._copies(arc)
            flow = [Flow(arc, Fraction(1), True)]
            if from_copy and to_copy:
                if (entries := self._worthy(flow)) is not None:
                    return entries, flow
            elif from_copy:
                heads.append((arc[1], flow))
            else:
                tails.setdefault(arc[0], []).append(flow)
        for end in dict.fromkeys(end for arc in arcs for end in arc):
            if self._is_open(end, -1):
                heads.append((end, []))
            if self._is_open(end, 1):
                tails.setdefault(end, []).insert(0, [])
        for first, head in heads:
            for end, path in _paths(first, after):
                for tail in tails.get(end, ()):
                    flows = [*head, *(Flow(arc, Fraction(1), False) for arc in path), *tail]
                    if (entries := self._worthy(flows)) is not None:
                        return entries, flows
        return None

    def _is_open(self, end: End, absorbed: int) -> bool:
        return end == GROUND or self._room(end, absorbed) is None

    def _worthy(self, flows: Sequence[Flow]) -> list[Fraction] | None:
        """Differences of entries with which these flows are worth something, if there are any."""
        absorbed: dict[int, Fraction] = defaultdict(Fraction)
        for flow in flows:
            for end, sign in zip(flow.arc, (-1, 1), strict=True):
                if end.position is not None:
                    absorbed[end.position] += -sign * flow.amount if end.mirrored else sign * flow.amount
        chosen = {p: self._ends(p)[amount > 0] for p, amount in absorbed.items() if amount}
        if sum(absorbed[p] * mean for p, mean in chosen.items()) <= 0:
            return None
        way = self._fixed(chosen)
        return None if way is None else way._written_entries()

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
