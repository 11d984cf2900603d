"""What alignment proves: a bound on ``D`` for one range of differences, on one graph or in parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from symdipa.bounds.alignment.lifts import LiftedCover
from symdipa.bounds.alignment.parts import Part, Parted
from symdipa.bounds.alignment.program import Program
from symdipa.bounds.alignment.rounding import Solution
from symdipa.bounds.costs import Rate
from symdipa.model.adjacency import Interval
from symdipa.runs.control import Control
from symdipa.runs.graphs import shortest_path

Rule = tuple[Rate, tuple[int, ...], tuple[int, ...]]
"""What a step pays, and the unknowns that its sample must be above and below."""


@dataclass(frozen=True, eq=False)
class Paths:
    """A graph whose paths are paid for; ``stores[e]`` says that a sample is kept for a guard to come."""

    initial: int
    source: Sequence[int]
    target: Sequence[int]
    transition: Sequence[int]
    component: Sequence[int]
    ends: Sequence[bool]
    stores: Sequence[bool]

    @cached_property
    def outgoing(self) -> list[list[int]]:
        """For each node the edges that leave it."""
        lists: list[list[int]] = [[] for _ in self.component]
        for e, u in enumerate(self.source):
            lists[u].append(e)
        return lists

    def way(self, node: int, goal: Callable[[int], bool]) -> list[int] | None:
        """A shortest path inside the component of a node to where the goal holds."""
        component, target = self.component, self.target

        def inside(v: int) -> list[int]:
            return [e for e in self.outgoing[v] if component[target[e]] == component[node]]

        return shortest_path(node, goal, inside, target.__getitem__)


@dataclass(frozen=True, eq=False)
class Proof(ABC):
    """A proof that differences in ``[low, high]`` cost at most ``bound``; all numbers include sensitivity.

    ``graph`` is one of :data:`symdipa.model.options.GRAPHS`, lifted by the prophecies ``lift``. With
    ``intervals`` a stored sample may follow the difference inside an interval of shifts.
    """

    low: Fraction
    high: Fraction
    bound: Fraction
    solution: Solution
    sensitivity: Fraction
    control: Control
    graph: str
    lift: str
    intervals: bool

    @cached_property
    @abstractmethod
    def paths(self) -> Paths:
        """The graph whose paths the potentials pay for."""

    @abstractmethod
    def rule(self, e: int) -> Rule:
        """What edge ``e`` of ``paths`` must pay."""

    def potential(self, node: int) -> Fraction:
        """What the rest of a run from a node of ``paths`` costs at most."""
        return self.solution.potentials[self.paths.component[node]] * self.sensitivity

    def scaled(self, interval: tuple[int, int]) -> Interval:
        """The values of two unknowns, with the sensitivity."""
        low, high = interval
        return self.solution.values[low] * self.sensitivity, self.solution.values[high] * self.sensitivity


@dataclass(frozen=True, eq=False)
class Side(Proof):
    """A proof on one graph, the lifted graph of ``program``."""

    program: Program

    @property
    def lifted(self) -> LiftedCover:
        return self.program.lift

    @cached_property
    def paths(self) -> Paths:
        lift = self.lifted
        steps = self.control.steps
        return Paths(
            lift.initial,
            lift.source,
            lift.target,
            lift.transition,
            lift.component,
            lift.ends,
            [bool(steps[t].asg & lift.tracked[v]) for t, v in zip(lift.transition, lift.target, strict=True)],
        )

    def rule(self, e: int) -> Rule:
        program = self.program
        return program.rate[self.lifted.transition[e]], program.floor[e], program.ceiling[e]

    def shift(self, node: int, x: int) -> Interval:
        """The interval of shifts of a variable that is tracked in the lifted node."""
        return self.scaled(self.program.interval(node, x))


@dataclass(frozen=True, eq=False)
class PartedSide(Proof):
    """A proof in parts: the potentials are those of control states (or nodes of the trunk), the shifts those
    of each part."""

    parted: Parted

    @cached_property
    def paths(self) -> Paths:
        control, possible = self.parted.control, self.parted.possible
        return Paths(
            control.initial,
            [control.source[t] for t in possible],
            [control.target[t] for t in possible],
            [self.parted.whole(t) for t in possible],
            control.component,
            [True] * control.states if self.parted.trunk is None else self.parted.trunk.ends,
            [bool(control.steps[t].asg & control.live[control.target[t]]) for t in possible],
        )

    def rule(self, e: int) -> Rule:
        return self.parted.rules[self.parted.possible[e]]

    def shift(self, part: Part, node: int, x: int) -> Interval:
        """The interval of shifts of a variable of the part's graph, which it owns, in a node of its lift."""
        return self.scaled(part.interval(node, x))
