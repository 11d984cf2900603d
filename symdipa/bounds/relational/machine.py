"""Machines: an automaton whose every way on has a letter, what is visible with a hidden remark.

Visible is what a step outputs, and whether it read an input. A machine is *complete*: where no guard holds,
or a state has no transition, it shows that it stops. A letter may carry a *remark* about the rest of the run,
which no observer sees: which samples stored by this step are final, that is, never replaced while the
variable is live. Every run has exactly one sequence of remarks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from symdipa.model.automaton import OutputKind
from symdipa.runs.control import Control, Sampling
from symdipa.runs.graphs import explore
from symdipa.runs.order import Mask, Step, members

Letter = tuple[str, str]
"""What is shown (``stop``, ``symbol`` and its name, ``insample``, ``insampleprime``; after
:data:`UNPROMPTED` if no input was read), and the remark."""

UNPROMPTED = "unprompted "
"""What the letters of steps without input begin with."""

STOP = "stop"
SAMPLE, SECOND = OutputKind.INSAMPLE.value, OutputKind.INSAMPLE_PRIME.value

STOPPED = -1
"""The control state of a machine that has stopped."""

MAX_STATES = 2_000
"""The most states of a machine."""


def output_of(letter: Letter) -> str:
    """What is shown, whether or not an input was read."""
    return letter[0].removeprefix(UNPROMPTED)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A way to go on from a control state; ``transition`` is ``None`` where the machine stops.

    The leaves of a state exclude one another and together leave no sample out.
    """

    transition: int | None
    step: Step
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

    control: Control
    state: tuple[int, ...]
    leaves: tuple[tuple[Leaf, ...], ...]
    edges: tuple[tuple[MachineEdge, ...], ...]
    accepting: frozenset[int]

    def leaves_of(self, q: int) -> tuple[Leaf, ...]:
        return () if q == STOPPED else self.leaves[q]

    def sampling(self, q: int) -> Sampling | None:
        """How the samples of a control state are drawn; a state without transitions only stops.

        The machine is that of a whole automaton, so all transitions of the state say the same.
        """
        numbers = () if q == STOPPED else self.control.outgoing[q]
        return self.control.sampling[numbers[0]] if numbers else None

    def name(self, u: int) -> str:
        """The control state of a machine state."""
        q = self.state[u]
        return "(stopped)" if q == STOPPED else self.control.state_names[q]

    def drawing(self, q: int) -> tuple[bool, Fraction | None, Fraction, Fraction | None, Fraction] | None:
        """How the samples of a control state are drawn, whatever is then shown."""
        s = self.sampling(q)
        return None if s is None else (s.reads_input, s.d, s.mu, s.d_prime, s.mu_prime)

    @cached_property
    def onward(self) -> tuple[dict[tuple[int, Letter], int], ...]:
        """For each state the target by leaf and letter."""
        return tuple({(e.leaf, e.letter): e.target for e in edges} for edges in self.edges)


def _leaves(control: Control) -> tuple[tuple[Leaf, ...], ...]:
    """The leaves of every control state."""
    found = []
    for numbers in control.outgoing:
        steps = [control.steps[t] for t in numbers]
        leaves = [
            Leaf(t, step, control.target[t], _shows(control, t))
            for t, step in zip(numbers, steps, strict=True)
        ]
        reads = any(control.sampling[t].reads_input for t in numbers)
        stop = STOP if reads else UNPROMPTED + STOP
        leaves += [Leaf(None, Step(ge, lt, 0), STOPPED, stop) for ge, lt in _rest(steps, 0, 0)]
        found.append(tuple(leaves))
    return tuple(found)


def _shows(control: Control, t: int) -> str:
    sampling = control.sampling[t]
    kind, name = sampling.output.kind.value, sampling.output.symbol
    return ("" if sampling.reads_input else UNPROMPTED) + (kind if name is None else f"symbol {name}")


def _rest(steps: Sequence[Step], ge: Mask, lt: Mask) -> Iterator[tuple[Mask, Mask]]:
    """The region given by atoms without what the guards cover, in pieces that exclude one another."""
    if ge & lt:
        return
    if not steps:
        yield ge, lt
        return
    first, *others = steps
    for x in members(first.ge):
        yield from _rest(others, ge, lt | 1 << x)
        ge |= 1 << x
    for x in members(first.lt):
        yield from _rest(others, ge | 1 << x, lt)
        lt |= 1 << x


Promise = tuple[int, Mask, Mask]
"""Control state, variables whose value is to be replaced, variables whose value is final."""


def machine(control: Control, remarks: bool) -> LetterMachine:
    """The machine of an automaton, with remarks about final values or without.

    Raises :class:`symdipa.model.errors.LimitReached` above :data:`MAX_STATES` states.
    """
    leaves = _leaves(control)
    ways: list[tuple[int, str]] = []
    number: dict[tuple[int, str], int] = {}

    def following(node: Promise) -> Iterator[tuple[int, Promise]]:
        q = node[0]
        for i, leaf in enumerate(leaves[q] if q != STOPPED else ()):
            for remark, after in _promises(control, node, leaf, remarks):
                way = number.setdefault((i, remark), len(ways))
                if way == len(ways):
                    ways.append((i, remark))
                yield way, after

    start: Promise = (control.initial, 0, 0)
    nodes, edges = explore([start], following, "the machine with remarks", MAX_STATES)
    leaving: list[list[MachineEdge]] = [[] for _ in nodes]
    for u, way, v in edges:
        i, remark = ways[way]
        leaving[u].append(MachineEdge(i, (leaves[nodes[u][0]][i].shows, remark), v))
    return LetterMachine(
        control,
        tuple(q for q, _, _ in nodes),
        leaves,
        tuple(map(tuple, leaving)),
        frozenset(i for i, (_, replaced, _) in enumerate(nodes) if not replaced),
    )


def _promises(control: Control, node: Promise, leaf: Leaf, remarks: bool) -> Iterator[tuple[str, Promise]]:
    """The remarks that a leaf may carry, with what is promised afterwards."""
    _, replaced, final = node
    if not remarks:
        yield "", (leaf.target, 0, 0)
        return
    live = 0 if leaf.target == STOPPED else control.live[leaf.target]
    asg = leaf.step.asg
    if final & asg or replaced & ~asg & ~live:
        return  # a final value is replaced, or one that was to be replaced dies
    fresh = asg & live
    subset = fresh
    while True:  # every subset of the variables stored may be final
        names = ",".join(control.variable_names[x] for x in members(subset))
        yield names, (leaf.target, replaced & ~asg | fresh & ~subset, (final & ~asg & live) | subset)
        if not subset:
            return
        subset = (subset - 1) & fresh
