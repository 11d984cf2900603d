"""The rule that registers have bounded differences (Def. adjacency automaton).

A register is a sum of entries, each of them taken once. So its difference is bounded if no more than so many
entries that may differ come together in it: if no loop of the automaton, taken together with the adjacency
automaton, adds another one to what it keeps. Only what a mean still reads counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from symdipa.model.adjacency.differ import ALL
from symdipa.model.adjacency.letters import LETTERS, OTHER, Moves
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.parts import AutomatonParts
from symdipa.model.validation.places import Finding, Place, by_source, path_text, registers_of

MOST_MOVES = 300_000
"""The most ways in which registers pass on their sums that are followed."""

LONGEST_SHOWN = 60
"""The most letters of a pattern that a message quotes."""

Node = tuple[str, int, str]
"""Where a sum is kept: at a state, in a state of the adjacency automaton, in a register."""

Moved = tuple[Node, int | None]
"""Where a sum is kept next; the transition that adds an entry that may differ to it, if one does."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop that adds more and more to a register: the transition that does, and whose mean then has it."""

    register: str
    adds: int
    path: str
    reader: str


def bounded(automaton: AutomatonParts) -> Iterator[Finding]:
    """No sum that a mean reads grows by more and more entries that may differ."""
    names, differ = sorted(registers_of(automaton)), automaton.differ
    which = differ.text if len(differ.text) <= LONGEST_SHOWN else f"{differ.text[: LONGEST_SHOWN - 3]}..."
    try:
        found = _growing(automaton, names, ALL.moves) if names else []
        if found and not differ.is_all:
            found = _growing(automaton, names, differ.moves) if differ.most is None else []
    except LimitReached:
        yield (
            Place("automaton"),
            f"it takes too long to see whether sums stay bounded (differ {which}): there are "
            f"{len(automaton.states)} states, {len(names)} registers, and {len(differ.moves)} states of that "
            "pattern; simplify it",
        )
        return
    for loop in found:
        yield (
            Place("transition", loop.adds, "updates", loop.register),
            f"the sum in register {loop.register} may differ by more and more (differ {which}): the loop "
            f"{loop.path} adds entries that may differ to it without end, and the mean of state "
            f"{loop.reader} has it; set it to 0 in the loop ({loop.register} := 0), or let fewer entries "
            "differ (differ entries=1)",
        )


def _growing(automaton: AutomatonParts, names: Sequence[str], moves: Moves) -> list[Loop]:
    """One loop for each register that grows. Raises :class:`LimitReached`."""
    passed, going_on = _passed_on(automaton, names, moves)
    means = {(state.name, name) for state in automaton.states for name, _ in state.registers}

    def is_read(node: Node) -> bool:
        return (node[0], node[2]) in means and node[:2] in going_on

    live: set[Node] = set()  # nodes whose sum a mean still reads
    found: dict[str, Loop] = {}
    for component in _components(passed):
        inside = set(component)
        if not any(is_read(node) or any(there in live for there, _ in passed[node]) for node in component):
            continue
        live |= inside
        for node in component:
            for there, adds in passed[node]:
                if adds is not None and there in inside and there[2] not in found:
                    back = _path(passed, there, {node}.__contains__)
                    reader = _path(passed, there, is_read)[-1][0]
                    path = path_text(_once([node[0], *(place[0] for place in back)]))
                    found[there[2]] = Loop(there[2], adds, path, reader)
    return [found[name] for name in names if name in found]


def _once(loop: list[str]) -> list[str]:
    """The states of a loop, if it is taken several times those of one time."""
    steps = len(loop) - 1
    rounds = (n for n in range(1, steps) if steps % n == 0 and loop[n:] == loop[:-n])
    return loop[: next(rounds, steps) + 1]


def _passed_on(
    automaton: AutomatonParts, names: Sequence[str], moves: Moves
) -> tuple[dict[Node, list[Moved]], set[tuple[str, int]]]:
    """What becomes of sums, in the product of the automaton and the adjacency automaton; from which of its
    states there is a step."""
    outgoing = by_source(automaton)
    reads = {state.name: state.is_input for state in automaton.states}
    updates = [{each.register: each for each in t.updates} for t in automaton.transitions]
    start = (automaton.initial, 0)
    known, work, count = {start}, [start], 0
    passed: dict[Node, list[Moved]] = {}
    going_on: set[tuple[str, int]] = set()
    for state, a in work:  # grows while it is walked
        for name in names:
            passed[state, a, name] = []
        for i in outgoing.get(state, ()):
            target = automaton.transitions[i].target
            ways = zip(LETTERS, moves[a], strict=True) if reads.get(state, True) else [("", a)]
            for letter, b in ways:
                if b is None:
                    continue
                going_on.add((state, a))
                if (target, b) not in known:
                    known.add((target, b))
                    work.append((target, b))
                for name in names:
                    update = updates[i].get(name)
                    source = name if update is None else update.source
                    if source is not None:
                        count += 1
                        adds = update is not None and update.adds_input and letter == OTHER
                        passed[state, a, source].append(((target, b, name), i if adds else None))
            if count > MOST_MOVES:
                raise LimitReached(Limit.SIZE, "too many registers, states and patterns")
    return passed, going_on


def _path(passed: Mapping[Node, list[Moved]], start: Node, is_goal: Callable[[Node], bool]) -> list[Node]:
    """A shortest path to a goal, which there is."""
    before: dict[Node, Node | None] = {start: None}
    for node in (queue := [start]):  # grows while it is walked
        if is_goal(node):
            path = [node]
            while (earlier := before[path[-1]]) is not None:
                path.append(earlier)
            return path[::-1]
        for there, _ in passed[node]:
            if there not in before:
                before[there] = node
                queue.append(there)
    raise AssertionError("no path to a node that is reached")


def _components(passed: Mapping[Node, list[Moved]]) -> Iterator[list[Node]]:
    """The strongly connected components, those behind before those ahead (Tarjan 1972, without recursion)."""
    number: dict[Node, int] = {}
    lowest: dict[Node, int] = {}
    waiting: list[Node] = []
    done: set[Node] = set()
    for root in passed:
        work = [] if root in number else [(root, iter(passed[root]))]
        while work:
            node, ways = work[-1]
            if node not in number:
                number[node] = lowest[node] = len(number)
                waiting.append(node)
            there = next((there for there, _ in ways if there not in done), None)
            if there is None:
                work.pop()
                if work:
                    above = work[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] == number[node]:
                    component = [waiting.pop()]
                    while component[-1] != node:
                        component.append(waiting.pop())
                    done.update(component)
                    yield component
            elif there in number:
                lowest[node] = min(lowest[node], number[there])
            else:
                work.append((there, iter(passed[there])))
