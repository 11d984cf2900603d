"""Runs on which a bound by alignment may be attained: where a bound from below is looked for.

On a coarse graph a dearest path need not be a feasible run, and there are often many dearest paths. So two
things are tried: the path that the alignment explains itself by, with the best differences of all; and
feasible runs along dearest edges, taken in several orders, with the differences that the alignment fears.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from symdipa.bounds.alignment import Proof
from symdipa.bounds.alignment.explain import is_dearest
from symdipa.bounds.exact.flow import flow_bound
from symdipa.model.adjacency import Interval
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.control import Control
from symdipa.runs.graphs import shortest_path, the_path
from symdipa.runs.order import follow, initial
from symdipa.runs.witness import is_non_leaking

Span = tuple[int, int]
Looped = tuple[tuple[int, ...], tuple[Span, ...]]
"""A run, as transitions, and half-open ranges of positions that are loops and may be repeated."""

LARGEST_WALK = 3_000
"""A walk around a component, to repeat it in a bound from below, has at most so many steps."""

SHUFFLES = 6
"""So often dearest edges are taken in a random order (always the same ones)."""

LONGEST = 2_000
"""Longer runs are tried in no other order."""

ROUNDS = 10
"""Differences are changed for the better so often."""


def repeated(control: Control, path: Sequence[int]) -> Looped:
    """A path with walks around every component that it visits, as loops.

    They take every transition of the component, so that whatever forces a shift there is repeated, and each
    is there twice, so that differences of both signs are.
    """
    run: list[int] = []
    loops: list[Span] = []
    visited: set[int] = set()
    states = [control.initial, *(control.target[t] for t in path)]
    for position, q in enumerate(states):
        if control.component[q] not in visited:
            visited.add(control.component[q])
            for walk in _walks(control, q):
                loops.append((len(run), len(run) + len(walk)))
                run += walk
        if position < len(path):
            run.append(path[position])
    return tuple(run), tuple(loops)


def _walks(control: Control, start: int) -> list[list[int]]:
    """Closed walks from ``start``, each shortest through some transition, that together take all.

    Each is there twice in a row. Those that assign what they use are left out: they are no loops to repeat.
    """
    transitions = control.loops.get(control.component[start], ())
    outgoing: dict[int, list[int]] = {}
    for t in transitions:
        outgoing.setdefault(control.source[t], []).append(t)
    walks: list[list[int]] = []
    todo, length = dict.fromkeys(transitions), 0
    while todo and length < LARGEST_WALK:
        t = next(iter(todo))
        leaving, target = outgoing.__getitem__, control.target.__getitem__
        walk = [*the_path(start, control.source[t], leaving, target), t]
        walk += the_path(control.target[t], start, leaving, target)
        length += len(walk)
        if is_non_leaking(control, walk):
            walks.append(walk)
        for taken in walk:
            todo.pop(taken, None)
    return [walk for walk in walks for _ in range(2)]


def feasible(side: Proof, limits: Limits = UNLIMITED) -> Iterator[tuple[Looped, tuple[Fraction, ...]]]:
    """Feasible runs along dearest edges, with differences (without sensitivity) that cost much on them.

    Raises :class:`symdipa.model.errors.OutOfTime`.
    """
    rng = random.Random(0)
    orders: list[Callable[[int], float]] = [lambda e: e, lambda e: -e]
    orders += [lambda _: rng.random()] * SHUFFLES
    along = _Along(side, limits)
    seen: set[Looped] = set()
    for order in orders:
        run, loops = found = along.run(order)
        if found in seen:
            continue
        seen.add(found)
        yield found, along.differences(run, loops)
        if len(run) > LONGEST:
            return


class _Along:
    """The dearest edges of a proof: those on which its potentials are attained."""

    def __init__(self, side: Proof, limits: Limits) -> None:
        self.side, self.paths, self.control, self.limits = side, side.paths, side.control, limits
        self.interval: Interval = (side.low / side.sensitivity, side.high / side.sensitivity)
        paths = self.paths
        self.outgoing: list[list[int]] = [[] for _ in paths.component]
        for e, u in enumerate(paths.source):
            self.outgoing[u].append(e)
        self.dearest = [is_dearest(side, e) for e in range(len(paths.source))]
        self.edge = {t: e for e, t in enumerate(paths.transition)}

    def run(self, order: Callable[[int], float]) -> Looped:
        """As far as a feasible run gets along dearest edges, of which the least in ``order`` is tried first.

        Loops around a component are put in where they are feasible.
        """
        paths, control = self.paths, self.control
        run: list[int] = []
        loops: list[Span] = []
        visited: set[int] = set()
        facts, node = initial(control.variables), paths.initial

        def take(transitions: Sequence[int]) -> bool:
            nonlocal facts
            self.limits.check(f"bound from below, run of {len(run)} steps")
            following = follow(facts, [control.steps[t] for t in transitions])
            if following is None:
                return False
            facts = following
            run.extend(transitions)
            return True

        def inside(v: int) -> list[int]:
            here = paths.component[node]
            return [e for e in self.outgoing[v] if paths.component[paths.target[e]] == here]

        def may_go_on(v: int) -> bool:
            return any(self.dearest[e] for e in self.outgoing[v])

        while True:
            state = control.target[run[-1]] if run else control.initial
            if control.component[state] not in visited:
                visited.add(control.component[state])
                for walk in _walks(control, state):
                    if take(walk):
                        loops.append((len(run) - len(walk), len(run)))
            if not self.side.potential(node):
                break
            way = shortest_path(node, may_go_on, inside, paths.target.__getitem__)
            if way is None or not take([paths.transition[e] for e in way]):
                break
            if way:
                node = paths.target[way[-1]]
            onward = sorted((e for e in self.outgoing[node] if self.dearest[e]), key=order)
            edge = next((e for e in onward if take([paths.transition[e]])), None)
            if edge is None:
                break
            node = paths.target[edge]
        return tuple(run), tuple(loops)

    def differences(self, run: Sequence[int], loops: Sequence[Span]) -> tuple[Fraction, ...]:
        """For each sample the difference that its shift misses most, in loops both extremes in turn.

        Then, as long as that raises the flow, every difference takes the side that the flow is on.
        """
        low, high = self.interval
        chosen = [self._feared(t) if self.control.sampling[t].reads_input else Fraction(0) for t in run]
        for k, (a, b) in enumerate(loops):
            for j in range(a, b):
                if self.control.sampling[run[j]].reads_input:
                    chosen[j] = high if k % 2 else low
        best, value = tuple(chosen), Fraction(-1)
        for _ in range(ROUNDS):
            flow = flow_bound(self.control, run, loops, chosen, limits=self.limits)
            if flow.value is None or flow.value <= value:
                break
            best, value = tuple(chosen), flow.value
            net = [Fraction(0)] * (len(run) + 1)  # the last one is the ground, at -1
            for (i, j), amount in flow.flow.items():
                net[i] -= amount
                net[j] += amount
            for j, t in enumerate(run):
                if self.control.sampling[t].reads_input and net[j]:
                    chosen[j] = high if net[j] > 0 else low
        return best

    def _feared(self, t: int) -> Fraction:
        low, high = self.interval
        _, floor, ceiling = self.side.rule(self.edge[t])
        values = self.side.solution.values
        above = max((high - values[c] for c in ceiling), default=Fraction(-1))
        below = max((values[f] - low for f in floor), default=Fraction(-1))
        return high if above >= below else low
