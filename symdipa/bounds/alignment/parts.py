"""Alignment in parts: the shifts of a few variables at a time may depend on the order of a few others.

A graph that knows the order of ``n`` values may have ``n!`` nodes. A *part* owns some variables and watches
some (its own among them). Its graph is the augmentation of the automaton with the watched variables only,
lifted by what the future does with the owned ones. It covers all runs, so during a run each part is always in
one of its nodes, where its variables have intervals of shifts. A sample must obey all parts that own what its
guard reads or where it is stored, whatever nodes they are in. Potentials belong to control states.

If part ``k`` asks a sample to be at least ``f[k]`` and at most ``c[k]``, it needs ``f[k] <= c[l]`` for all
``k`` and ``l``, and costs what the largest ``f`` and the least ``c`` say. Comparing two parts at a time is
enough, so the problem grows with the sum of the parts' graphs, not with their product.

Parts may have to agree on the future of a value that several of them watch: a running maximum is also what
was stored beside it, and which shift both need depends on whether it is the last one. Then the automaton is
first split by what the future does with the *shared* variables. That graph is the *trunk*; it covers all
runs, and its nodes and edges take the place of control states and transitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import permutations
from operator import or_

from symdipa.bounds.alignment.graphs import augmentation_cover
from symdipa.bounds.alignment.lifts import LiftedCover, lift
from symdipa.bounds.alignment.program import ZERO, Constraints, Program, ShiftEnds, intervals, points
from symdipa.bounds.costs import Rate, rates
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.augmentation import augment
from symdipa.runs.control import Control, assembled
from symdipa.runs.control.slicing import restrict
from symdipa.runs.order import Mask, members

SHARED = "S"
"""The letter of a trunk."""

WATCHED = 3
"""The most variables that a part watches and does not own."""


@dataclass(frozen=True, slots=True)
class Share:
    """The variables that a part owns, and those that it watches (the owned ones included)."""

    own: Mask
    watched: Mask


def shares(control: Control) -> tuple[Share, ...]:
    """Each variable watches those that guards read together with it, as far as they have as many companions.

    For example, thresholds that are all compared with one pivot watch the pivot, and the pivot watches none
    of them. Variables that watch the same ones are owned together.
    """
    companions = [0] * control.variables
    for step in control.steps:
        for x in members(step.used):
            companions[x] |= step.used & ~(1 << x)
    number = [mask.bit_count() for mask in companions]
    owners: dict[Mask, Mask] = {}
    for x, mask in enumerate(companions):
        near = sorted((y for y in members(mask) if number[y] >= number[x]), key=lambda y: -number[y])
        watched = reduce(or_, (1 << y for y in near[:WATCHED]), 1 << x)
        owners[watched] = owners.get(watched, 0) | 1 << x
    return tuple(Share(own, watched) for watched, own in owners.items())


def shared(control: Control) -> Mask:
    """The variables that some part watches and does not own."""
    return reduce(or_, (share.watched & ~share.own for share in shares(control)), 0)


@dataclass(frozen=True, eq=False)
class Part:
    """A share with its graph and its rules; unknown ``u`` of ``program`` is ``u + offset`` (0 stays 0).

    Variables of the graph are the watched ones, numbered anew.
    """

    share: Share
    program: Program
    offset: int

    @property
    def lifted(self) -> LiftedCover:
        return self.program.lift

    def interval(self, node: int, x: int) -> ShiftEnds:
        """The unknowns that are the ends of the interval of a variable of the graph in a lifted node."""
        low, high = self.program.interval(node, x)
        return self._number(low), self._number(high)

    def rules(self) -> Iterator[tuple[int, int]]:
        """The unknowns of which one is at most the other."""
        return ((self._number(a), self._number(b)) for a, b in self.program.at_most)

    @cached_property
    def asked(self) -> dict[int, tuple[frozenset[int], frozenset[int]]]:
        """For every transition on some edge: all unknowns that its sample must be above, and below."""
        found: dict[int, tuple[set[int], set[int]]] = {}
        for e, t in enumerate(self.lifted.transition):
            floor, ceiling = found.setdefault(t, (set(), set()))
            floor.update(map(self._number, self.program.floor[e]))
            ceiling.update(map(self._number, self.program.ceiling[e]))
        return {t: (frozenset(floor), frozenset(ceiling)) for t, (floor, ceiling) in found.items()}

    def _number(self, unknown: int) -> int:
        return unknown and unknown + self.offset


@dataclass(frozen=True, eq=False)
class Parted:
    """The problem in parts, of ``control``: the automaton, or its ``trunk`` if there is one.

    ``possible`` are the transitions that every part allows; ``rules`` say what they pay, and which unknowns
    their samples must be above and below.
    """

    control: Control
    trunk: LiftedCover | None
    parts: tuple[Part, ...]
    possible: tuple[int, ...]
    rules: dict[int, tuple[Rate, tuple[int, ...], tuple[int, ...]]]
    constraints: Constraints

    @property
    def nodes(self) -> int:
        """The nodes of all parts' graphs together."""
        return sum(part.lifted.nodes for part in self.parts)

    def whole(self, t: int) -> int:
        """The transition of the automaton that a transition of ``control`` is."""
        return t if self.trunk is None else self.trunk.transition[t]


def parted(
    control: Control,
    letters: str = "",
    wide: bool = True,
    max_nodes: int | None = None,
    max_pairs: int | None = None,
    limits: Limits = UNLIMITED,
) -> Parted:
    """The problem in the parts that :func:`shares` proposes.

    With ``S`` among the ``letters`` there is a trunk, split by the other ones for the shared variables.
    Raises :class:`LimitReached` above ``max_nodes`` nodes in all, and above ``max_pairs`` pairs of node and
    variable in one part, and when the time is up.
    """
    trunk = None
    if SHARED in letters:
        letters = letters.replace(SHARED, "")
        trunk = _lifted(control, shared(control), shared(control), letters, max_nodes, limits)
        control = _along(control, trunk)
    parts: list[Part] = []
    nodes = offset = 0
    for share in shares(control):
        left = None if max_nodes is None else max_nodes - nodes
        program = _program(control, share, letters, wide, left, max_pairs, limits)
        parts.append(Part(share, program, offset))
        nodes += program.lift.nodes
        offset += program.unknowns - 1
        if max_nodes is not None and nodes > max_nodes:
            raise LimitReached(Limit.SIZE, f"the parts have more than {max_nodes} nodes")
    rate = rates(control)
    at_most = {rule for part in parts for rule in part.rules()}
    possible = [t for t in range(len(control.steps)) if all(t in part.asked for part in parts)]
    rules = {}
    for t in possible:
        floors, ceilings = _sample(control, parts, t, at_most)
        rules[t] = rate[t], tuple(sorted(floors)), tuple(sorted(ceilings))
    component = control.component
    groups = dict.fromkeys(
        (component[control.source[t]], component[control.target[t]], *rules[t]) for t in possible
    )
    constraints = Constraints(
        1 + offset, frozenset(at_most), tuple(groups), max(component) + 1, component[control.initial]
    )
    return Parted(control, trunk, tuple(parts), tuple(possible), rules, constraints)


def _sample(
    control: Control, parts: list[Part], t: int, at_most: set[tuple[int, int]]
) -> tuple[set[int], set[int]]:
    """What the sample must be above and below in any part; adds that what two parts ask agrees."""
    step = control.steps[t]
    asked = [part.asked[t] for part in parts if part.share.own & step.touched]
    if control.sampling[t].shows_sample:
        asked.append((frozenset({ZERO}), frozenset({ZERO})))
    for (floors, _), (_, ceilings) in permutations(asked, 2):
        at_most |= {(f, c) for f in floors for c in ceilings if f != c}
    return {f for floors, _ in asked for f in floors}, {c for _, ceilings in asked for c in ceilings}


def _program(
    control: Control,
    share: Share,
    letters: str,
    wide: bool,
    max_nodes: int | None,
    max_pairs: int | None,
    limits: Limits,
) -> Program:
    """The rules of one part alone: the watched variables make its graph, the owned ones have shifts."""
    lifted = _lifted(control, share.watched, share.own, letters, max_nodes, limits)
    return (intervals if wide else points)(lifted, max_pairs, limits)


def _lifted(
    control: Control, watched: Mask, own: Mask, letters: str, max_nodes: int | None, limits: Limits
) -> LiftedCover:
    """The graph of some watched variables, lifted by what the future does with some of them."""
    local = restrict(control, watched)
    cover = augmentation_cover(augment(local, max_nodes, limits))
    owned = sum(1 << i for i, x in enumerate(members(watched)) if own >> x & 1)
    return lift(replace(cover, control=local.restricted_to(owned)), letters, max_nodes, limits)


def _along(control: Control, trunk: LiftedCover) -> Control:
    """The control graph split into the nodes of the trunk, which are its states."""
    return assembled(
        state_names=tuple(map(str, range(trunk.nodes))),
        variable_names=control.variable_names,
        steps=tuple(control.steps[t] for t in trunk.transition),
        sampling=tuple(control.sampling[t] for t in trunk.transition),
        source=trunk.source,
        target=trunk.target,
        initial=trunk.initial,
    )
