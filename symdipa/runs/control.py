"""The control graph in numbers: steps as bit sets, components, liveness."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

import rustworkx

from symdipa.model.automaton import Automaton, OutputKind
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.validation import validated
from symdipa.runs.order import Mask, Step

T = TypeVar("T")
Node = TypeVar("Node", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Control:
    """A control graph in numbers: a whole automaton, numbered as in it, or a slice of one.

    ``steps``, ``reads_input``, ``outputs_insample``, ``outputs_real`` and ``mean`` (the mean that the state
    adds) are per transition, so that a slice may join control states and keep what transitions do.
    ``live[q]`` are the variables with a path from ``q`` to a guard that reads them before they are
    assigned again. ``component[q]`` numbers the strongly connected components; ``cyclic[t]`` says whether
    transition ``t`` lies inside one.
    """

    automaton: Automaton
    state_names: tuple[str, ...]
    variable_names: tuple[str, ...]
    steps: tuple[Step, ...]
    source: tuple[int, ...]
    target: tuple[int, ...]
    outgoing: tuple[tuple[int, ...], ...]
    reads_input: tuple[bool, ...]
    outputs_insample: tuple[bool, ...]
    outputs_real: tuple[bool, ...]
    mean: tuple[Fraction, ...]
    initial: int
    live: tuple[Mask, ...]
    component: tuple[int, ...]
    cyclic: tuple[bool, ...]

    @property
    def variables(self) -> int:
        return len(self.variable_names)

    @property
    def states(self) -> int:
        return len(self.state_names)

    @cached_property
    def loops(self) -> dict[int, tuple[int, ...]]:
        """The transitions inside each component that has any, by component."""
        return loops_of(self.component, self.source, self.cyclic)

    @property
    def shape(self) -> Hashable:
        """All but names and scales: what dataflow finds is the same for control graphs of the same shape."""
        return (
            self.states,
            self.variables,
            self.steps,
            self.source,
            self.target,
            self.reads_input,
            self.outputs_insample,
            self.outputs_real,
            self.mean,
            self.initial,
            self.live,
            self.component,
            self.cyclic,
        )

    def conflicts(self, transitions: Iterable[int]) -> Mask:
        """The variables that some of the transitions use and some assign."""
        used = assigned = 0
        for t in transitions:
            used |= self.steps[t].used
            assigned |= self.steps[t].asg
        return used & assigned


def control_of(automaton: Automaton) -> Control:
    """The numbered control graph of an automaton (computed once per automaton).

    Raises :class:`~symdipa.model.errors.InvalidInput` for an automaton that breaks the rules of the model.
    """
    cached = validated(automaton).__dict__.get("_control")
    if cached is None:
        cached = automaton.__dict__["_control"] = _build(automaton)
    assert isinstance(cached, Control)
    return cached


def _build(automaton: Automaton) -> Control:
    number = automaton.variable_index

    def mask(names: Iterable[str]) -> Mask:
        result = 0
        for name in names:
            result |= 1 << number[name]
        return result

    transitions = automaton.transitions
    steps = tuple(Step(mask(t.guard.ge), mask(t.guard.lt), mask(t.assign)) for t in transitions)
    source = tuple(automaton.index[t.source] for t in transitions)
    target = tuple(automaton.index[t.target] for t in transitions)
    component = component_numbers(len(automaton.states), list(zip(source, target, strict=True)))
    return Control(
        automaton=automaton,
        state_names=tuple(state.name for state in automaton.states),
        variable_names=automaton.variables,
        steps=steps,
        source=source,
        target=target,
        outgoing=automaton.outgoing,
        reads_input=tuple(automaton.state(t.source).is_input for t in transitions),
        outputs_insample=tuple(t.output.kind is OutputKind.INSAMPLE for t in transitions),
        outputs_real=tuple(t.output.is_real for t in transitions),
        mean=tuple(automaton.state(t.source).mu for t in transitions),
        initial=automaton.index[automaton.initial],
        live=liveness(len(automaton.states), steps, source, target),
        component=component,
        cyclic=tuple(component[s] == component[t] for s, t in zip(source, target, strict=True)),
    )


def liveness(
    states: int, steps: Sequence[Step], source: Sequence[int], target: Sequence[int]
) -> tuple[Mask, ...]:
    """Backward fixed point: ``live(q) = U over q -t-> p of used(t) | (live(p) minus asg(t))``."""
    incoming: list[list[int]] = [[] for _ in range(states)]
    for t, q in enumerate(target):
        incoming[q].append(t)
    live = [0] * states
    for t, step in enumerate(steps):
        live[source[t]] |= step.used
    work = [q for q in range(states) if live[q]]
    while work:
        q = work.pop()
        for t in incoming[q]:
            p = source[t]
            grown = live[p] | live[q] & ~steps[t].asg
            if grown != live[p]:
                live[p] = grown
                work.append(p)
    return tuple(live)


def fixed_point(
    control: Control,
    start: T,
    after: Callable[[int, T], T | None],
    join: Callable[[T, T], T],
    tick: Callable[[], None] | None = None,
) -> list[T | None]:
    """What arrives in each control state, by a work list: the least solution of a forward dataflow problem.

    ``start`` holds initially, ``after(t, value)`` follows from ``value`` before transition ``t`` (``None``
    if it cannot be taken), ``join`` unites what arrives on two ways. ``None`` stays where nothing arrives.
    ``tick`` may raise to end the work.
    """
    values: list[T | None] = [None] * control.states
    values[control.initial] = start
    work = deque([control.initial])
    waiting = {control.initial}
    while work:
        if tick is not None:
            tick()
        q = work.popleft()
        waiting.discard(q)
        before = values[q]
        assert before is not None
        for t in control.outgoing[q]:
            arriving = after(t, before)
            if arriving is None:
                continue
            p = control.target[t]
            known = values[p]
            joined = arriving if known is None else join(known, arriving)
            if joined != known:
                values[p] = joined
                if p not in waiting:
                    waiting.add(p)
                    work.append(p)
    return values


def explore(
    starts: Iterable[Node],
    following: Callable[[Node], Iterable[tuple[int, Node]]],
    what: str,
    max_nodes: int | None = None,
    tick: Callable[[int], None] | None = None,
) -> tuple[list[Node], list[tuple[int, int, int]]]:
    """Everything that is reached, breadth first: nodes, and edges ``(node, label, following node)``.

    ``following(node)`` yields labels with nodes. ``tick`` is called with the number of nodes now and then and
    may raise to end the work. Raises :class:`LimitReached` above ``max_nodes``; ``what`` names the graph.
    """
    nodes = list(starts)
    number = {node: i for i, node in enumerate(nodes)}
    edges: list[tuple[int, int, int]] = []
    for i, node in enumerate(nodes):  # grows while we walk
        for label, other in following(node):
            place = number.setdefault(other, len(nodes))
            if place == len(nodes):
                nodes.append(other)
            edges.append((i, label, place))
        if tick is not None and i % 16 == 0:
            tick(len(nodes))
        if max_nodes is not None and len(nodes) > max_nodes:
            raise LimitReached(Limit.SIZE, f"{what} has more than {max_nodes} nodes")
    return nodes, edges


def shortest_path(
    start: int,
    is_goal: Callable[[int], bool],
    leaving: Callable[[int], Iterable[int]],
    target: Callable[[int], int],
) -> list[int] | None:
    """The edges of a shortest path from a node to a goal, ``None`` if there is none.

    ``leaving`` are the edges of a node that may be taken.
    """
    reached: dict[int, tuple[int, int]] = {}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        if is_goal(node):
            path = []
            while node != start:
                node, edge = reached[node]
                path.append(edge)
            return path[::-1]
        for edge in leaving(node):
            other = target(edge)
            if other != start and other not in reached:
                reached[other] = node, edge
                queue.append(other)
    return None


def the_path(
    start: int, goal: int, leaving: Callable[[int], Iterable[int]], target: Callable[[int], int]
) -> list[int]:
    """The edges of a shortest path between two nodes that are known to have one."""
    path = shortest_path(start, goal.__eq__, leaving, target)
    assert path is not None, "there is no such path"
    return path


def classes(size: int, together: Iterable[Iterable[int]]) -> list[int]:
    """The finest classes of ``0..size-1`` that keep each given group (never empty) together.

    A number for each element; classes are numbered by their first elements.
    """
    parent = list(range(size))

    def root(x: int) -> int:
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for group in together:
        first, *others = group
        top = root(first)
        for x in others:
            parent[root(x)] = top
    number: dict[int, int] = {}
    return [number.setdefault(root(x), len(number)) for x in range(size)]


def loops_of(
    component: Sequence[int], source: Sequence[int], cyclic: Sequence[bool]
) -> dict[int, tuple[int, ...]]:
    """The transitions that lie inside a component, by component."""
    found: dict[int, list[int]] = {}
    for t, inside in enumerate(cyclic):
        if inside:
            found.setdefault(component[source[t]], []).append(t)
    return {number: tuple(ts) for number, ts in found.items()}


def components(nodes: int, edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Strongly connected components of the graph on ``0..nodes-1``, successors before predecessors."""
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from_no_data(list(edges))
    return [sorted(c) for c in rustworkx.strongly_connected_components(graph)]


def component_numbers(nodes: int, edges: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """For each node the number of its component; nodes on no cycle have a component of their own.

    A single node without a loop shares its component with itself only, so an edge ``(u, v)`` lies on a
    cycle exactly when both ends have the same number.
    """
    number = [0] * nodes
    for i, component in enumerate(components(nodes, edges)):
        for node in component:
            number[node] = i
    return tuple(number)


def depth_first(roots: Iterable[int], edges: Sequence[tuple[int, int]]) -> tuple[set[int], list[int]]:
    """The back edges of a depth-first search, by their numbers, and the nodes in the order it leaves them.

    ``roots`` are all nodes, in the order in which searches begin. Without the back edges the graph is
    acyclic, and the nodes left last come first in its order.
    """
    following: dict[int, list[tuple[int, int]]] = {}
    for number, (u, v) in enumerate(edges):
        following.setdefault(u, []).append((number, v))
    back: set[int] = set()
    left: list[int] = []
    active: dict[int, bool] = {}
    for root in roots:
        if root in active:
            continue
        active[root] = True
        stack = [(root, iter(following.get(root, ())))]
        while stack:
            node, rest = stack[-1]
            for number, v in rest:
                if v not in active:
                    active[v] = True
                    stack.append((v, iter(following.get(v, ()))))
                    break
                if active[v]:
                    back.add(number)
            else:
                active[node] = False
                left.append(node)
                stack.pop()
    return back, left


def cycle_headers(nodes: Iterable[int], edges: Sequence[tuple[int, int]]) -> set[int]:
    """A set of nodes that meets every cycle: the targets of back edges of a depth-first search."""
    return {edges[number][1] for number in depth_first(nodes, edges)[0]}
