"""The explicit engine: every pattern on the augmentation, no formulas; the symbolic engines' judge.

Leaking cycles are components of the augmentation that assign and use one variable. Non-leaking cycles are
the closed paths inside its *cores* (:meth:`Augmentation.non_leaking_cores`). Chains are found by a
breadth-first search over nodes with marks, of which only the maximal ones are kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from symdipa.engines.base import Engine
from symdipa.model.errors import LimitReached
from symdipa.model.limits import UNLIMITED, Limits, stopwatch
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import PatternResult, Status, Witness
from symdipa.runs.augmentation import Augmentation
from symdipa.runs.control import Control
from symdipa.runs.control.chains import Chain, chains_of
from symdipa.runs.marks import Marks, advance
from symdipa.runs.order import Mask, members
from symdipa.runs.problem import Compute, Problem
from symdipa.runs.witness import Loop, complete

T = TypeVar("T")


class ExplicitEngine(Engine):
    """Decides patterns by enumerating the augmentation.

    ``max_nodes`` caps its size: beyond it every answer is ``UNKNOWN``.
    """

    name = "explicit"
    same_work = True

    def __init__(self, problem: Problem, max_nodes: int | None = None) -> None:
        self.problem, self.max_nodes = problem, max_nodes
        self._cores: list[tuple[int, ...]] | None = None

    def decide(self, pattern: Pattern, limits: Limits = UNLIMITED) -> PatternResult:
        seconds = stopwatch()
        witness, status, reason = None, Status.UNKNOWN, None
        sizes = {}
        try:
            augmentation = self.problem.augmentation(limits, self.max_nodes)
            witness = _Enumeration(augmentation, self, limits).search(pattern)
            status = Status.ABSENT if witness is None else Status.PRESENT
            sizes = {"order states": augmentation.nodes}
        except LimitReached as limit:
            reason = str(limit)
        return PatternResult(
            pattern,
            status,
            self.name,
            method=None if status is Status.UNKNOWN else "explicit",
            witness=witness,
            reason=reason,
            sizes=sizes,
            seconds=seconds(),
        )

    def cores(self, graph: Augmentation, limits: Limits) -> list[tuple[int, ...]]:
        """The non-leaking cores of the augmentation, found once."""
        if self._cores is None:
            self._cores = graph.non_leaking_cores(limits=limits)
        return self._cores

    def kept_in_process(self, ask: Callable[..., Any] | None) -> None:
        self.problem.built_elsewhere(None if ask is None else partial(ask, _compute))


def _compute(engine: ExplicitEngine, compute: Compute[T], limits: Limits) -> T:
    """What is made of the augmentation in the process of the engine."""
    return compute(engine.problem.augmentation(limits, engine.max_nodes), limits)


class Staged(Engine):
    """Enumeration up to the cap of ``first`` in this process, and beyond it by ``whole``.

    Small automata are decided by then; large ones deserve a process whose limits are hard.
    """

    name = "explicit"
    same_work = True

    def __init__(self, first: ExplicitEngine, whole: Engine) -> None:
        self.first, self.whole = first, whole

    def decide(self, pattern: Pattern, limits: Limits = UNLIMITED) -> PatternResult:
        answer = self.first.decide(pattern, limits)
        if answer.status is not Status.UNKNOWN:
            return answer
        whole = self.whole.decide(pattern, limits)
        return replace(whole, seconds=answer.seconds + whole.seconds)


@dataclass(frozen=True)
class _Enumeration:
    """The search for one pattern on the augmentation."""

    graph: Augmentation
    engine: ExplicitEngine
    limits: Limits

    @property
    def control(self) -> Control:
        return self.graph.control

    def search(self, pattern: Pattern) -> Witness | None:
        """A witness of the pattern; ``None`` if there is none."""
        if pattern is Pattern.LEAKING_CYCLE:
            return self._leaking_cycle()
        if pattern is Pattern.DISCLOSING_CYCLE:
            return self._disclosing_cycle()
        return self._chain(pattern)

    def _leaking_cycle(self) -> Witness | None:
        graph = self.graph
        for edges in graph.loops:
            if conflict := graph.conflicts(edges):
                return self._witness_cycle(Pattern.LEAKING_CYCLE, self._leaking_closed_path(edges, conflict))
        return None

    def _leaking_closed_path(self, edges: tuple[int, ...], conflict: Mask) -> list[int]:
        """A short closed path that assigns and uses one of the variables of ``conflict``."""
        graph, steps = self.graph, self.control.steps
        allowed = frozenset(edges)
        found = []
        for x in islice(members(conflict), 8):
            assigning = [e for e in edges if steps[graph.transition[e]].asg >> x & 1]
            using = [e for e in edges if steps[graph.transition[e]].used >> x & 1]
            for first in assigning[:4]:
                self.limits.check("leaking cycle, shortest lasso")
                found.append(self._closed_path(first, using, allowed))
        return min(found, key=len)

    def _closed_path(self, first: int, using: Sequence[int], allowed: Set[int]) -> list[int]:
        """A short closed path over allowed edges, from ``first`` on, that takes an edge of ``using``."""
        graph = self.graph
        if first in using:
            return graph.round_trip(first, allowed)
        there = [first, *graph.path(graph.target[first], {graph.source[e] for e in using}, allowed)]
        second = next(e for e in using if graph.source[e] == graph.target[there[-1]])
        return [*there, second, *graph.path(graph.target[second], {graph.source[first]}, allowed)]

    def _disclosing_cycle(self) -> Witness | None:
        graph, sampling = self.graph, self.control.sampling
        found: list[list[int]] = []
        for core in self.engine.cores(graph, self.limits):
            allowed = frozenset(core)
            disclosing = (e for e in core if sampling[graph.transition[e]].discloses)
            found += [graph.round_trip(e, allowed) for e in disclosing]
        return self._witness_cycle(Pattern.DISCLOSING_CYCLE, min(found, key=len)) if found else None

    def _witness_cycle(self, pattern: Pattern, closed: list[int]) -> Witness:
        graph = self.graph
        before = [graph.transition[e] for e in graph.run_to(graph.source[closed[0]])]
        cycle = tuple(graph.transition[e] for e in closed)
        return complete(self.control, pattern, before, [Loop(len(before), cycle, taken=False)])

    def _chain(self, pattern: Pattern) -> Witness | None:
        for chain in chains_of(pattern, self.control):
            cores = self.engine.cores(self.graph, self.limits)
            found = ChainSearch(self.graph, cores, chain, self.limits).run()
            if found is not None:
                return complete(self.control, pattern, *found)
        return None


Open = tuple[int, int]
"""An open cycle: the number of its core and the node where it began."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A node of the search tree: a node of the augmentation with marks and perhaps an open cycle."""

    node: int
    marks: Marks
    open: Open | None
    edge: int = -1
    before: Visit | None = None
    began: bool = False


class ChainSearch:
    """Breadth-first search for a chain (:class:`symdipa.runs.control.chains.Chain`).

    An edge marks as a repetition in two ways. If it lies on a cycle that assigns nothing live, that cycle
    can be inserted just before it and changes nothing else: it marks at once. Otherwise the cycle really
    has to be taken, since it overwrites values that may carry marks: the search *opens* it at its first
    edge and stays inside its core until it is back where it began.
    """

    def __init__(
        self, graph: Augmentation, cores: list[tuple[int, ...]], chain: Chain, limits: Limits = UNLIMITED
    ) -> None:
        self.graph, self.chain, self.limits = graph, chain, limits
        self.control = graph.control
        self.roles = chain.all_roles(self.control)
        # Edges of closed paths that assign nothing live: they need no core, since a variable that such a
        # path uses and assigns would be live after the assignment.
        self.free: dict[int, frozenset[int]] = {
            e: group
            for group in map(
                frozenset, graph.by_component(filter(self._assigns_nothing_live, graph.cyclic_edges))
            )
            for e in group
        }
        self.cores = [core for core in cores if not all(e in self.free for e in core)]
        self.core_edges = [frozenset(core) for core in self.cores]
        self.cores_of: dict[int, list[int]] = {}
        for number, core in enumerate(self.cores):
            for e in core:
                if e not in self.free and chain.marks(self.control, graph.transition[e]):
                    self.cores_of.setdefault(e, []).append(number)

    def _assigns_nothing_live(self, e: int) -> bool:
        return (
            not self.control.steps[self.graph.transition[e]].asg
            & self.control.live[self.graph.state[self.graph.target[e]]]
        )

    def run(self) -> tuple[list[int], list[Loop]] | None:
        """The transitions of a run with a chain and the loops it may take, ``None`` if there is no chain."""
        root = Visit(0, Marks(), None)
        maximal: dict[tuple[int, Open | None], list[Marks]] = {(0, None): [root.marks]}
        queue = deque([root])
        done = 0
        while queue:
            visit = queue.popleft()
            done += 1
            if done % 64 == 0:
                self.limits.check(f"{done} marked nodes")
            if visit.marks not in maximal[visit.node, visit.open]:
                continue  # a visit with more marks came since
            for following in self._successors(visit):
                if following.marks.hit:
                    if (ended := self._ended(following)) is not None:
                        return self._found(ended)
                    continue
                if _keep(maximal.setdefault((following.node, following.open), []), following.marks):
                    queue.append(following)
        return None

    def _successors(self, visit: Visit) -> Iterable[Visit]:
        graph = self.graph
        for e in graph.outgoing[visit.node]:
            if visit.open is not None:
                core, start = visit.open
                if e in self.core_edges[core]:
                    closed = graph.target[e] == start
                    yield self._take(visit, e, True, None if closed else visit.open)
                continue
            yield self._take(visit, e, e in self.free, None)
            for core in self.cores_of.get(e, ()):
                closed = graph.target[e] == visit.node
                yield self._take(visit, e, True, None if closed else (core, visit.node), began=True)

    def _take(self, visit: Visit, e: int, repeats: bool, opened: Open | None, began: bool = False) -> Visit:
        graph, control = self.graph, self.control
        t, target = graph.transition[e], graph.target[e]
        marks = advance(
            graph.order[visit.node],
            visit.marks,
            control.shifting(t),
            self.roles[t],
            repeats=repeats,
            keep=control.live[graph.state[target]],
            own=self.chain.own(control, graph.state[visit.node]),
        )
        return Visit(target, marks, opened, e, visit, began)

    def _ended(self, visit: Visit) -> Visit | None:
        """Further steps to the end of a transition of the automaton; ``None`` if they are forbidden."""
        while self.control.is_between(self.graph.state[visit.node]):
            found = next(iter(self._successors(visit)), None)
            if found is None:
                return None
            visit = found
        return visit

    def _found(self, last: Visit) -> tuple[list[int], list[Loop]]:
        visits: list[Visit] = []
        visit = last
        while visit.before is not None:
            visits.append(visit)
            visit = visit.before
        visits.reverse()
        graph = self.graph
        edges = [v.edge for v in visits]
        if last.open is not None:
            core, start = last.open
            edges += graph.path(last.node, {start}, self.core_edges[core])
        return [graph.transition[e] for e in edges], self._loops(visits, edges)

    def _loops(self, visits: list[Visit], edges: list[int]) -> list[Loop]:
        transition = self.graph.transition
        loops = []
        inside = 0
        for i, visit in enumerate(visits):
            if visit.began:
                start = self.graph.source[visit.edge]
                end = next(j for j in range(i, len(edges)) if self.graph.target[edges[j]] == start) + 1
                loops.append(Loop(i, tuple(transition[e] for e in edges[i:end]), taken=True))
                inside = end
            elif i >= inside and visit.edge in self.free:
                closed = self.graph.round_trip(visit.edge, self.free[visit.edge])
                loops.append(Loop(i, tuple(transition[e] for e in closed), taken=False))
        return loops


def _keep(maximal: list[Marks], marks: Marks) -> bool:
    """Add ``marks`` to an antichain unless some member has them all; drop the members it covers."""
    for other in maximal:
        if not (marks.up & ~other.up or marks.down & ~other.down):
            return False
    maximal[:] = [m for m in maximal if m.up & ~marks.up or m.down & ~marks.down]
    maximal.append(marks)
    return True
