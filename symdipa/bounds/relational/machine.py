"""Machines: an automaton whose every way on has a letter, what is visible with a hidden remark.

Visible is what a step outputs, and whether it read an input. A machine is *complete*: where no guard holds,
or a state has no transition, it shows that it stops. A letter may carry a *remark* about the rest of the run,
which no observer sees: which samples stored by this step are final, that is, never replaced while the
variable is live. Every run has exactly one sequence of remarks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from symdipa.bounds.relational.outcomes import is_possible
from symdipa.bounds.relational.program import (
    REAL,
    SAMPLE,
    UNPROMPTED,
    Action,
    Drawing,
    Guard,
    Program,
    parts_of,
)
from symdipa.runs.graphs import explore
from symdipa.runs.order import Mask, members

Letter = tuple[str, str]
"""What is shown (``stop``, ``symbol`` and its name, ``insample``, ``insampleprime``, ``number``, or a list of
these as JSON; after ``unprompted`` if no input was read), and the remark."""

STOP = "stop"

STOPPED = -1
"""The control state of a machine that has stopped."""

MAX_STATES = 2_000
"""The most states of a machine."""


def output_of(letter: Letter) -> str:
    """What is shown, whether or not an input was read."""
    return letter[0].removeprefix(UNPROMPTED)


def numbers_of(letter: Letter) -> frozenset[str]:
    """The kinds of real numbers that are shown."""
    return REAL.intersection(parts_of(output_of(letter)))


@dataclass(frozen=True, slots=True)
class Leaf:
    """A way to go on from a control state; ``transition`` is ``None`` where the machine stops.

    The leaves of a state exclude one another and together leave no sample out.
    """

    transition: int | None
    action: Action
    target: int
    shows: str


@dataclass(frozen=True, slots=True)
class MachineEdge:
    leaf: int
    letter: Letter
    target: int


@dataclass(frozen=True, eq=False)
class LetterMachine:
    """States are numbered, 0 is initial. ``state`` is the control state of each, ``edges`` leave it.

    ``leaves`` are those of each control state, ``accepting`` the states in which no remark is open.
    """

    program: Program
    state: tuple[int, ...]
    leaves: tuple[tuple[Leaf, ...], ...]
    edges: tuple[tuple[MachineEdge, ...], ...]
    accepting: frozenset[int]

    def leaves_of(self, q: int) -> tuple[Leaf, ...]:
        return () if q == STOPPED else self.leaves[q]

    def where(self, u: int) -> str:
        """The control state of a machine state, in words."""
        q = self.state[u]
        return "the end" if q == STOPPED else self.program.places[q]

    def drawing(self, q: int) -> Drawing | None:
        """How the samples of a control state are drawn, whatever is then shown; one without transitions only
        stops."""
        return None if q == STOPPED else self.program.drawing[q]

    @cached_property
    def onward(self) -> tuple[dict[tuple[int, Letter], int], ...]:
        """For each state the target by leaf and letter."""
        return tuple({(e.leaf, e.letter): e.target for e in edges} for edges in self.edges)


def _leaves(program: Program) -> tuple[tuple[Leaf, ...], ...]:
    """The leaves of every control state."""
    found = []
    for q, numbers in enumerate(program.outgoing):
        actions = [program.actions[t] for t in numbers]
        leaves = [
            Leaf(t, action, program.target[t], program.shows[t])
            for t, action in zip(numbers, actions, strict=True)
        ]
        drawing = program.drawing[q]
        stop = STOP if drawing is not None and drawing.reads_input else UNPROMPTED + STOP
        pieces = _rest(program, [action.guard for action in actions], (), program.continuous[q])
        leaves += [Leaf(None, program.known.of(region), STOPPED, stop) for region in pieces]
        found.append(tuple(leaves))
    return tuple(found)


def _rest(program: Program, guards: Sequence[Guard], region: Guard, continuous: bool) -> Iterator[Guard]:
    """The region without what the guards cover, in pieces that exclude one another."""
    if not is_possible(region, program.unit, program.integer):
        return
    if not guards:
        yield region
        return
    first, *others = guards
    for comparison in sorted(first, key=lambda c: (c.high != SAMPLE, c)):  # lower bounds first
        yield from _rest(program, others, (*region, comparison.negation(continuous)), continuous)
        region = (*region, comparison)


Promise = tuple[int, Mask, Mask]
"""Control state, variables whose value is to be replaced, variables whose value is final."""


def machine(program: Program, remarks: bool) -> LetterMachine:
    """The machine of an automaton, with remarks about final values or without.

    Raises :class:`symdipa.model.errors.LimitReached` above :data:`MAX_STATES` states.
    """
    leaves = _leaves(program)
    ways: list[tuple[int, str]] = []
    number: dict[tuple[int, str], int] = {}

    def following(node: Promise) -> Iterator[tuple[int, Promise]]:
        q = node[0]
        for i, leaf in enumerate(leaves[q] if q != STOPPED else ()):
            for remark, after in _promises(program, node, leaf, remarks):
                way = number.setdefault((i, remark), len(ways))
                if way == len(ways):
                    ways.append((i, remark))
                yield way, after

    start: Promise = (program.initial, 0, 0)
    nodes, edges = explore([start], following, "the machine with remarks", MAX_STATES)
    leaving: list[list[MachineEdge]] = [[] for _ in nodes]
    for u, way, v in edges:
        i, remark = ways[way]
        leaving[u].append(MachineEdge(i, (leaves[nodes[u][0]][i].shows, remark), v))
    return LetterMachine(
        program,
        tuple(q for q, _, _ in nodes),
        leaves,
        tuple(map(tuple, leaving)),
        frozenset(i for i, (_, replaced, _) in enumerate(nodes) if not replaced),
    )


def _promises(program: Program, node: Promise, leaf: Leaf, remarks: bool) -> Iterator[tuple[str, Promise]]:
    """The remarks that a leaf may carry, with what is promised afterwards.

    A value that is replaced, but copied before, is what it was promised to be where it lives on.
    """
    if not remarks:
        yield "", (leaf.target, 0, 0)
        return
    live = 0 if leaf.target == STOPPED else program.live[leaf.target]
    assigned, heirs = leaf.action.assigned, leaf.action.heirs()

    def still(promised: Mask) -> Mask:
        return promised & ~assigned | sum(1 << x for y, x in heirs.items() if promised >> y & 1)

    _, replaced, final = node
    if final & assigned & ~sum(1 << y for y in heirs) or still(replaced) & ~live:
        return  # a final value is replaced, or one that was to be replaced dies
    fresh = leaf.action.asg & live
    subset = fresh
    while True:  # every subset of the variables stored may be final
        names = ",".join(program.variable_names[x] for x in members(subset))
        yield names, (leaf.target, still(replaced) | fresh & ~subset, still(final) & live | subset)
        if not subset:
            return
        subset = (subset - 1) & fresh
