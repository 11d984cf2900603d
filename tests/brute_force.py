"""The judge: the four bad patterns straight from their definitions (docs/theory.md, section 3).

Nothing here is shared with the engines: of symdipa only the automaton and the names of the patterns are
imported, and there is no order-state update, no augmentation, no mark and no ghost. There are runs,
dependency graphs on positions, and cycles that are ranges of positions.

**Literal.** :func:`shows` tells which patterns one feasible run shows, condition by condition.
:func:`patterns` asks that of every feasible run up to a length. Its "present" is definite, its "absent"
holds for that length only.

**Merged.** :func:`decide` has no bound on the length. It searches *annotated runs*, that is runs with up to
two chosen, non-overlapping cycles, the last of which may still be open, and drops a run if an earlier one
has the same *key*. Every part of a key is read off the dependency graph of the run itself. A variable is
*live* at a control state if some path reads it before assigning it. The key is

* the control state,
* for live ``x``, ``y``: whether ``last(x)`` and ``last(y)`` are one position, or joined by a path, and which,
* for each chosen cycle its role (does the path leave it or enter it?) and for each live ``x`` whether the
  part of the path at that cycle reaches ``last(x)`` (is reached from it), and likewise for outputs,
* for an open cycle its first control state, the variables used and assigned so far (as far as the rest of
  the control component could use or assign them), and for a disclosing cycle whether it disclosed,
* whether the two ends of the path are already joined.

*Why equal keys may be merged.* An edge of a later position joins it to another later position or to
``last(x)`` for a variable that is read before it is assigned again, so a live one. A path that uses later
positions therefore consists of later edges and of old paths between positions ``last(x)``, ``x`` live, apart
from its first part, which may start at an old end of the path, and its last part. The key tells about
all of these which exist. So two annotated runs with one key have the same feasible continuations, with
the same chances of closing their cycles and of joining the ends. There are finitely many keys, so the
search ends.

Whatever :func:`decide` finds is a run, and :func:`shows` can be asked whether it shows the pattern
(``tests/test_brute_force.py`` always does); in the other direction :func:`patterns` must not find anything
that :func:`decide` calls absent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from itertools import pairwise, product

from symdipa.model.automaton import Automaton, OutputKind, Transition
from symdipa.model.patterns import Pattern

LC = Pattern.LEAKING_CYCLE
LP = Pattern.LEAKING_PAIR
DC = Pattern.DISCLOSING_CYCLE
PV = Pattern.PRIVACY_VIOLATING_PATH

Run = tuple[int, ...]
"""Positions into ``automaton.transitions``, from the initial state."""

Range = tuple[int, int]
"""A cycle of a run as a half-open range of its positions."""


# Runs and their dependency graphs


def last(steps: Sequence[Transition], variable: str, j: int) -> int:
    """``last(x, j)``: the last position before ``j`` that assigns ``x``."""
    return max(i for i in range(j) if variable in steps[i].assign)


def dependency_edges(steps: Sequence[Transition]) -> list[Range]:
    """The edges ``i -> j`` ("sample ``i`` is below sample ``j``") that the guards of a run force."""
    edges = set()
    for j, step in enumerate(steps):
        edges |= {(j, last(steps, x, j)) for x in step.guard.lt}
        edges |= {(last(steps, x, j), j) for x in step.guard.ge}
    return sorted(edges)


def reachable(edges: Sequence[Range], start: int) -> set[int]:
    """The positions at the end of a path of at least one edge from ``start``."""
    found: set[int] = set()
    todo = [start]
    while todo:
        here = todo.pop()
        new = {j for i, j in edges if i == here} - found
        found |= new
        todo.extend(new)
    return found


def is_feasible(steps: Sequence[Transition]) -> bool:
    """Whether the dependency graph is acyclic."""
    edges = dependency_edges(steps)
    return all(i not in reachable(edges, i) for i in range(len(steps)))


def is_path_of(automaton: Automaton, run: Run) -> bool:
    """Whether the transitions follow each other from the initial state."""
    at = automaton.initial
    for step in (automaton.transitions[i] for i in run):
        if step.source != at:
            return False
        at = step.target
    return True


def cycles(steps: Sequence[Transition]) -> list[Range]:
    """All cycles of a run: the ranges that end in the control state in which they start."""
    n = len(steps)
    return [(i, j) for i in range(n) for j in range(i + 1, n + 1) if steps[i].source == steps[j - 1].target]


def used_in(steps: Sequence[Transition]) -> set[str]:
    return {x for step in steps for x in step.guard.used}


def assigned_in(steps: Sequence[Transition]) -> set[str]:
    return {x for step in steps for x in step.assign}


def non_leaking_cycles(steps: Sequence[Transition]) -> list[Range]:
    """The cycles that assign no variable that they use."""
    return [(i, j) for i, j in cycles(steps) if not used_in(steps[i:j]) & assigned_in(steps[i:j])]


# The four patterns on one run


def has_leaking_pair(steps: Sequence[Transition]) -> bool:
    """Def. leaking pair: a path whose first edge goes back from ``C1`` and whose last goes on to ``C2``."""
    edges = dependency_edges(steps)
    ranges = non_leaking_cycles(steps)
    back = [(k1, k2) for k1, k2 in edges if k2 < k1 and _on_some(k1, ranges)]
    forth = [(k, km) for k, km in edges if k < km and _on_some(km, ranges)]
    for k1, k2 in back:
        upward = reachable(edges, k2) | {k2}
        if any(k in upward and _on_disjoint(k1, km, ranges) for k, km in forth):
            return True
    return False


def _on_some(k: int, ranges: Sequence[Range]) -> bool:
    return any(i <= k < j for i, j in ranges)


def _on_disjoint(k1: int, km: int, ranges: Sequence[Range]) -> bool:
    """Whether the positions lie on two of the cycles that do not overlap."""
    first = [(i, j) for i, j in ranges if i <= k1 < j]
    second = [(i, j) for i, j in ranges if i <= km < j]
    return any(j <= a or b <= i for (i, j), (a, b) in product(first, second))


def has_violating_path(steps: Sequence[Transition]) -> bool:
    """Def. privacy-violating path: from an output of ``insample`` on to ``C``, or from ``C`` back to one."""
    edges = dependency_edges(steps)
    ranges = non_leaking_cycles(steps)
    outputs = {k for k, step in enumerate(steps) if step.output.kind is OutputKind.INSAMPLE}
    for i, j in edges:
        if i < j and _on_some(j, ranges) and any(i == k or i in reachable(edges, k) for k in outputs):
            return True
        if j < i and _on_some(i, ranges) and (reachable(edges, j) | {j}) & outputs:
            return True
    return False


def has_disclosing_cycle(automaton: Automaton, steps: Sequence[Transition]) -> bool:
    """Def. disclosing cycle, for the prefix of the run that ends in the cycle."""
    return any(_discloses(automaton, t) for i, j in non_leaking_cycles(steps) for t in steps[i:j])


def _discloses(automaton: Automaton, step: Transition) -> bool:
    return automaton.state(step.source).is_input and step.output.is_real


def has_leaking_cycle(steps: Sequence[Transition]) -> bool:
    """Def. leaking cycle, for the prefix of the run that ends in the cycle."""
    return any(is_leaking(steps, i, j) for i, j in cycles(steps))


def is_leaking(steps: Sequence[Transition], i: int, j: int) -> bool:
    """Whether ``C = [i, j)`` assigns and uses one variable, and ``rho C^m`` is feasible for every ``m``.

    Rounds are added one by one until the graph has a cycle (not repeatable), or until the relation
    between the positions ``last(x)`` (same position, or path from one to the other) is one that an earlier
    round left behind. From then on the rounds repeat: later edges touch old positions only there, so whether
    the next round is feasible, and which relation it leaves behind, depends on the relation alone. One of
    the two must happen, since ``n`` variables have at most ``3^(n*n)`` relations.
    """
    body = steps[i:j]
    if not used_in(body) & assigned_in(body):
        return False
    graph: Graph | None = EMPTY
    for step in steps[:i]:
        graph = graph and graph.extend(step)
    seen = set()
    while graph is not None and (relation := graph.relation(sorted(graph.last))) not in seen:
        seen.add(relation)
        for step in body:
            graph = graph and graph.extend(step)
    return graph is not None


def shows(automaton: Automaton, run: Run) -> frozenset[Pattern]:
    """The patterns that a run shows; it must be a feasible run from the initial state.

    Leaking and disclosing cycles may lie anywhere in the run: the definition speaks of runs that end with
    the cycle, which is then a prefix. (A longer run shows whatever a prefix shows.)
    """
    steps = [automaton.transitions[i] for i in run]
    if not is_path_of(automaton, run) or not is_feasible(steps):
        raise ValueError(f"not a feasible run: {run}")
    found = {
        LC: has_leaking_cycle(steps),
        LP: has_leaking_pair(steps),
        DC: has_disclosing_cycle(automaton, steps),
        PV: has_violating_path(steps),
    }
    return frozenset(pattern for pattern, present in found.items() if present)


# Somebody else's witness


def faults(automaton: Automaton, pattern: Pattern, run: Run, ranges: Sequence[Range], path: Run) -> list[str]:
    """What keeps a witness (run, cycles, dependency path) from showing the pattern; nothing if it does."""
    steps = [automaton.transitions[i] for i in run]
    if not is_path_of(automaton, run) or not is_feasible(steps):
        return ["not a feasible run from the initial state"]
    if any(r not in cycles(steps) for r in ranges) or len(ranges) != (2 if pattern is LP else 1):
        return ["a range is no cycle, or there are too few or too many"]
    if pattern is LC:
        return [] if is_leaking(steps, *ranges[0]) else ["the cycle does not leak for ever"]
    found = [] if set(ranges) <= set(non_leaking_cycles(steps)) else ["a cycle uses what it assigns"]
    if pattern is DC:
        discloses = any(_discloses(automaton, t) for t in steps[slice(*ranges[0])])
        return found if discloses else [*found, "nothing is disclosed"]
    if len(path) < 2 or set(pairwise(path)) - set(dependency_edges(steps)):
        return [*found, "the path is not one of the dependency graph"]
    return found + _faults_of_path(steps, pattern, ranges, path)


def _faults_of_path(
    steps: Sequence[Transition], pattern: Pattern, ranges: Sequence[Range], path: Run
) -> list[str]:
    leaves = path[1] < path[0] and path[0] in range(*ranges[0])
    enters = path[-2] < path[-1] and path[-1] in range(*ranges[-1])
    if pattern is LP:
        (i, j), (a, b) = ranges
        found = [] if leaves and enters else ["the path does not lead from the first cycle to the second"]
        return found if j <= a or b <= i else [*found, "the cycles overlap"]
    starts, ends = (steps[k].output.kind is OutputKind.INSAMPLE for k in (path[0], path[-1]))
    return [] if (starts and enters) or (leaves and ends) else ["the path does not join output and cycle"]


# Dependency graphs that grow with the run


@dataclass(frozen=True, slots=True)
class Graph:
    """The transitive closure of the dependency graph of a feasible run, as bit sets of positions.

    ``above[i]`` holds the ends of the paths from ``i``, ``below[i]`` the starts of the paths to ``i``
    (at least one edge); ``last`` is ``last(x, n)`` where the run has length ``n``.
    """

    above: tuple[int, ...]
    below: tuple[int, ...]
    last: dict[str, int]

    def extend(self, step: Transition) -> Graph | None:
        """The graph with one more position; ``None`` if it has a cycle."""
        last, above, below = self.last, self.above, self.below
        lower = upper = 0
        for x in step.guard.ge:
            lower |= 1 << last[x] | below[last[x]]
        for x in step.guard.lt:
            upper |= 1 << last[x] | above[last[x]]
        if lower & upper:
            return None
        here = len(above)
        new = 1 << here
        if lower:
            above = tuple(a | upper | new if lower >> i & 1 else a for i, a in enumerate(above))
        if upper:
            below = tuple(b | lower | new if upper >> i & 1 else b for i, b in enumerate(below))
        if step.assign:
            last = last | dict.fromkeys(step.assign, here)
        return Graph((*above, upper), (*below, lower), last)

    def relation(self, variables: Sequence[str]) -> Hashable:
        """For each pair of the variables whether they have one position, or which is below the other."""
        places = [self.last[x] for x in variables]
        return tuple(0 if p == q else 1 if self.above[p] >> q & 1 else 2 for p in places for q in places)

    def upward(self, positions: int) -> int:
        """The positions and everything above them."""
        return positions | _union(self.above, positions)

    def downward(self, positions: int) -> int:
        """The positions and everything below them."""
        return positions | _union(self.below, positions)

    def places(self, variables: frozenset[str]) -> int:
        """The positions ``last(x)`` of the variables."""
        return _mask(self.last[x] for x in variables)


EMPTY = Graph((), (), {})


def _mask(positions: Iterator[int]) -> int:
    mask = 0
    for i in positions:
        mask |= 1 << i
    return mask


def _union(sets: Sequence[int], positions: int) -> int:
    result, i = 0, 0
    while positions >> i:
        if positions >> i & 1:
            result |= sets[i]
        i += 1
    return result


def feasible_runs(
    automaton: Automaton, max_length: int, max_runs: int | None = None
) -> Iterator[tuple[Run, bool]]:
    """All feasible runs up to a length, shorter ones first, and whether they are extended later on.

    With ``max_runs`` no longer runs are built as soon as one length has more than that many.
    """
    level: list[tuple[Run, str, Graph]] = [((), automaton.initial, EMPTY)]
    for length in range(max_length + 1):
        following: list[tuple[Run, str, Graph]] = []
        stop = length == max_length or (max_runs is not None and len(level) > max_runs)
        for run, at, graph in level:
            before = len(following)
            for i in () if stop else automaton.outgoing[automaton.index[at]]:
                step = automaton.transitions[i]
                if (extended := graph.extend(step)) is not None:
                    following.append(((*run, i), step.target, extended))
            yield run, len(following) > before
        level = following


def patterns(automaton: Automaton, max_length: int, max_runs: int | None = None) -> dict[Pattern, bool]:
    """Which patterns a feasible run of at most ``max_length`` positions shows; the literal reference.

    Only runs that are not extended are looked at, since they show what their prefixes show.
    """
    found: set[Pattern] = set()
    for run, extended in feasible_runs(automaton, max_length, max_runs):
        if not extended:
            found |= shows(automaton, run)
        if len(found) == len(Pattern):
            break
    return {pattern: pattern in found for pattern in Pattern}


# The merged search


class TooLarge(Exception):
    """The merged search gave up: more annotated runs than allowed."""


class Role(Enum):
    """What a chosen cycle is for: the path leaves it backwards, or enters it forwards, or it discloses."""

    LEAVES = "k1 is on it, k2 < k1"
    ENTERS = "km is on it, k(m-1) < km"
    DISCLOSES = "it outputs a real value"


@dataclass(frozen=True, slots=True)
class Annotated:
    """A run with chosen cycles.

    ``to_come`` are the roles of cycles not chosen yet. ``opened`` is the position where the open cycle of
    role ``role`` starts. ``lows`` are the positions ``k_2`` at which the path may start (after the edge that
    leaves ``C1``), ``highs`` the positions ``k_{m-1}`` at which it may end; for a violating path the
    outputs of ``insample`` stand for one of them. ``disclosed`` tells whether the open cycle did.
    """

    run: Run
    at: str
    graph: Graph
    to_come: tuple[Role, ...]
    role: Role | None = None
    opened: int = 0
    used: frozenset[str] = frozenset()
    assigned: frozenset[str] = frozenset()
    lows: int = 0
    highs: int = 0
    disclosed: bool = False

    @property
    def is_linked(self) -> bool:
        """Whether a path leads from a possible ``k_2`` to a possible ``k_{m-1}`` (they may be one)."""
        return bool(self.graph.upward(self.lows) & self.highs)


class Merged:
    """The searches of :func:`decide` for one automaton."""

    def __init__(self, automaton: Automaton, max_nodes: int) -> None:
        self.automaton = automaton
        self.max_nodes = max_nodes
        self.successors = [
            [(i, automaton.transitions[i]) for i in outgoing] for outgoing in automaton.outgoing
        ]
        self.live = _live(automaton)
        self.order = {q: sorted(variables) for q, variables in self.live.items()}
        self.reach = _control_reach(automaton)
        self.component = {q: frozenset(r for r in rs if q in self.reach[r]) for q, rs in self.reach.items()}
        inner = {
            q: [t for t in automaton.transitions if {t.source, t.target} <= c]
            for q, c in self.component.items()
        }
        self.usable = {q: used_in(ts) for q, ts in inner.items()}
        self.assignable = {q: assigned_in(ts) for q, ts in inner.items()}
        self.nodes = 0

    # steps

    def steps_from(self, node: Annotated) -> Iterator[Annotated]:
        """All ways to open a cycle, to close it, or to go on by one transition."""
        if node.role is None and node.to_come and node.at in self.component[node.at]:
            yield replace(node, role=node.to_come[0], to_come=node.to_come[1:], opened=len(node.run))
        if self._moved(node) and node.at == self._first(node) and self._contributes(node):
            yield replace(node, role=None, used=frozenset(), assigned=frozenset())
        for i, step in self.successors[self.automaton.index[node.at]]:
            after = self._step(node, i, step)
            if after is not None:
                yield after

    def _first(self, node: Annotated) -> str:
        """The control state in which the open cycle starts."""
        return self.automaton.transitions[node.run[node.opened]].source if self._moved(node) else node.at

    @staticmethod
    def _moved(node: Annotated) -> bool:
        """Whether there is an open cycle, and a transition of it."""
        return node.role is not None and node.opened < len(node.run)

    @staticmethod
    def _contributes(node: Annotated) -> bool:
        """Whether the open cycle does what its role asks for; there is no use for it otherwise."""
        contribution = {Role.LEAVES: node.lows, Role.ENTERS: node.highs, Role.DISCLOSES: node.disclosed}
        return node.role is not None and bool(contribution[node.role])

    def _step(self, node: Annotated, i: int, step: Transition) -> Annotated | None:
        """The run with one more transition; ``None`` if that is not feasible or breaks the open cycle."""
        graph = node.graph.extend(step)
        if graph is None:
            return None
        after = Annotated(
            (*node.run, i), step.target, graph, node.to_come, node.role, node.opened,
            node.used, node.assigned, node.lows, node.highs, node.disclosed,
        )  # fmt: skip
        if node.role is None:
            return after
        if step.target not in self.component[node.at]:
            return None
        used, assigned = node.used | step.guard.used, node.assigned | step.assign
        if used & assigned:
            return None
        lows, highs, disclosed = node.lows, node.highs, node.disclosed
        if node.role is Role.LEAVES:
            lows |= node.graph.places(step.guard.lt)
        elif node.role is Role.ENTERS:
            highs |= node.graph.places(step.guard.ge)
        else:
            disclosed |= _discloses(self.automaton, step)
        return replace(after, used=used, assigned=assigned, lows=lows, highs=highs, disclosed=disclosed)

    # keys

    def key(self, node: Annotated) -> Hashable:
        """What later positions can tell of this run; see the module's docstring."""
        order, graph = self.order[node.at], node.graph
        parts: list[Hashable] = [node.at, graph.relation(order), len(node.to_come), node.role]
        if node.role is not None:
            # ``to_come`` and ``role`` tell the role of an earlier cycle
            first = self._first(node)
            parts += [first, self._moved(node), node.used & self.assignable[first]]
            parts += [node.assigned & self.usable[first], node.disclosed]
        if node.is_linked:
            return (*parts, True)
        up, down = graph.upward(node.lows), graph.downward(node.highs)
        parts += [tuple((up >> graph.last[x] & 1, down >> graph.last[x] & 1) for x in order)]
        return tuple(parts)

    def search(
        self,
        start: Annotated,
        is_goal: Callable[[Annotated], bool],
        also: Callable[[Annotated], Annotated] = lambda node: node,
    ) -> Run | None:
        """The run of a first goal, or ``None`` if no annotated run from ``start`` is one."""
        seen = {self.key(start)}
        todo = deque([start])
        while todo:
            for node in map(also, self.steps_from(todo.popleft())):
                if is_goal(node):
                    return node.run
                if (key := self.key(node)) not in seen:
                    seen.add(key)
                    todo.append(node)
                    self._count()
        return None

    def _count(self) -> None:
        self.nodes += 1
        if self.nodes > self.max_nodes:
            raise TooLarge(f"more than {self.max_nodes} annotated runs")

    def _start(self, *roles: Role) -> Annotated:
        return Annotated((), self.automaton.initial, EMPTY, roles)

    # the patterns

    def leaking_pair(self) -> Run | None:
        """Def. leaking pair; the two cycles may come in either order."""
        if not any(t.guard.lt for t in self.automaton.transitions):
            return None
        if not any(t.guard.ge for t in self.automaton.transitions):
            return None
        for roles in ((Role.LEAVES, Role.ENTERS), (Role.ENTERS, Role.LEAVES)):
            run = self.search(self._start(*roles), _is_joined)
            if run is not None:
                return run
        return None

    def violating_path(self) -> Run | None:
        """Def. privacy-violating path; an output of ``insample`` is one end of the path."""
        if not any(t.output.kind is OutputKind.INSAMPLE for t in self.automaton.transitions):
            return None
        for role, end in ((Role.LEAVES, "highs"), (Role.ENTERS, "lows")):
            also = partial(self._with_output, end=end)
            run = self.search(self._start(role), _is_joined, also)
            if run is not None:
                return run
        return None

    def _with_output(self, node: Annotated, end: str) -> Annotated:
        """The node with its last position among the ends of the path, if it outputs ``insample``."""
        if not node.run or self.automaton.transitions[node.run[-1]].output.kind is not OutputKind.INSAMPLE:
            return node
        return replace(node, **{end: getattr(node, end) | 1 << len(node.run) - 1})

    def disclosing_cycle(self) -> Run | None:
        """Def. disclosing cycle."""
        if not any(_discloses(self.automaton, t) for t in self.automaton.transitions):
            return None
        return self.search(self._start(Role.DISCLOSES), lambda node: node.role is None and node.disclosed)

    def leaking_cycle(self) -> Run | None:
        """Def. leaking cycle: a closed walk on keys that assigns and uses one variable.

        If ``rho C^m`` is feasible for all ``m``, two of these runs have the same key: the rounds between
        them are such a walk. Conversely a run of such a walk can be repeated, as its end has the key
        of its start.
        """
        walks = self._walks()
        back: dict[Hashable, set[Hashable]] = {}
        for origin, (_, edges) in walks.items():
            for _, target in edges:
                back.setdefault(target, set()).add(origin)
        forward = {node: {target for _, target in edges} for node, (_, edges) in walks.items()}
        done: set[Hashable] = set()
        for node in walks:
            if node in done:
                continue
            component = _closure(forward, node) & _closure(back, node)
            done |= component | {node}
            run = self._leaking_walk(walks, node, component)
            if run is not None:
                return run
        return None

    def _walks(self) -> dict[Hashable, tuple[Run, list[tuple[int, Hashable]]]]:
        """For each key a run that has it, and the keys after one more transition."""
        start = self._start()
        walks: dict[Hashable, tuple[Run, list[tuple[int, Hashable]]]] = {self.key(start): ((), [])}
        todo = deque([start])
        while todo:
            node = todo.popleft()
            edges = walks[self.key(node)][1]
            for after in self.steps_from(node):
                key = self.key(after)
                edges.append((after.run[-1], key))
                if key not in walks:
                    walks[key] = (after.run, [])
                    todo.append(after)
                    self._count()
        return walks

    def _leaking_walk(
        self,
        walks: dict[Hashable, tuple[Run, list[tuple[int, Hashable]]]],
        start: Hashable,
        component: set[Hashable],
    ) -> Run | None:
        """A run through the component that ends with a leaking cycle; ``None`` if there is none."""
        inner = {n: [(i, m) for i, m in walks[n][1] if m in component] for n in component}
        assigning = {x: edge for edge in _edges(inner) for x in self.automaton.transitions[edge[1]].assign}
        using = {x: edge for edge in _edges(inner) for x in self.automaton.transitions[edge[1]].guard.used}
        for x in sorted(assigning.keys() & using.keys()):
            (n, i, m), (p, j, q) = assigning[x], using[x]
            walk = (*_way(inner, start, n), i, *_way(inner, m, p), j, *_way(inner, q, start))
            return (*walks[start][0], *walk)
        return None


def _is_joined(node: Annotated) -> bool:
    """Whether all cycles are chosen and closed, and the path exists."""
    return node.role is None and not node.to_come and node.is_linked


def _edges(inner: dict[Hashable, list[tuple[int, Hashable]]]) -> list[tuple[Hashable, int, Hashable]]:
    return [(n, i, m) for n, out in inner.items() for i, m in out]


def _closure(graph: dict[Hashable, set[Hashable]], start: Hashable) -> set[Hashable]:
    """Everything at the end of a walk of at least one edge."""
    found: set[Hashable] = set()
    todo = [start]
    while todo:
        new = graph.get(todo.pop(), set()) - found
        found |= new
        todo.extend(new)
    return found


def _way(edges: dict[Hashable, list[tuple[int, Hashable]]], start: Hashable, goal: Hashable) -> Run:
    """The transitions of a shortest walk from one key to another; there must be one."""
    ways: dict[Hashable, Run] = {start: ()}
    todo = deque([start])
    while goal not in ways:
        here = todo.popleft()
        for i, there in edges[here]:
            if there not in ways:
                ways[there] = (*ways[here], i)
                todo.append(there)
    return ways[goal]


def _live(automaton: Automaton) -> dict[str, frozenset[str]]:
    """For each control state the variables that some path reads before assigning them."""
    live: dict[str, frozenset[str]] = {state.name: frozenset() for state in automaton.states}
    changed = True
    while changed:
        changed = False
        for t in automaton.transitions:
            more = live[t.source] | t.guard.used | (live[t.target] - t.assign)
            changed |= more != live[t.source]
            live[t.source] = more
    return live


def _control_reach(automaton: Automaton) -> dict[str, frozenset[str]]:
    """For each control state those at the end of a path of at least one transition."""
    graph: dict[Hashable, set[Hashable]] = {}
    for t in automaton.transitions:
        graph.setdefault(t.source, set()).add(t.target)
    return {s.name: frozenset(map(str, _closure(graph, s.name))) for s in automaton.states}


def decide(automaton: Automaton, max_nodes: int = 200_000) -> dict[Pattern, Run | None]:
    """For each pattern a run that shows it, or ``None`` if no feasible run of any length does.

    Raises :class:`TooLarge` if there are more than ``max_nodes`` annotated runs.
    """
    merged = Merged(automaton, max_nodes)
    return {
        LC: merged.leaking_cycle(),
        LP: merged.leaking_pair(),
        DC: merged.disclosing_cycle(),
        PV: merged.violating_path(),
    }
