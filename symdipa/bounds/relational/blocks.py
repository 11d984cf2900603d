"""Machine states that go on alike, as far as a class of what is shown later can tell.

The candidates of Report Noisy Max are interchangeable: if the fifth one is the answer, it makes no difference
which of the first four leads. So for every class its states fall into *blocks*: two states are in one block
if they draw alike and the ways on that show a sequence of the class have the same guards, store the same
values, and lead to the same blocks. The game is about blocks, and about the values that they may still read.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

from symdipa.bounds.relational.machine import Leaf, Letter, LetterMachine
from symdipa.bounds.relational.suffixes import SuffixClasses
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.order import Mask

Place = tuple[int, int]
"""A class of sequences and a machine state that is able to show them."""

Ask = tuple[Letter, int]
"""A letter and the class of the rest."""


@dataclass(frozen=True, eq=False)
class Block:
    """States that go on alike while they show a sequence of a class; ``state`` is any of them.

    ``live`` are the variables that they may read by then. ``ways`` has for each letter and class of the rest
    the leaves (of ``state``) that show it, with the blocks to which they lead; the others do not show it.
    """

    suffix: int
    states: tuple[int, ...]
    live: Mask
    sure: bool
    ways: dict[Ask, dict[int, int]]

    @property
    def state(self) -> int:
        return self.states[0]


def blocks_of(
    machine: LetterMachine, classes: SuffixClasses, limits: Limits = UNLIMITED
) -> tuple[tuple[Block, ...], dict[Place, int]]:
    """The coarsest blocks, and which of them each place belongs to.

    Raises :class:`symdipa.model.errors.OutOfTime`.
    """
    places = _Places(machine, classes, limits)
    live = places.live()
    number = places.coarsest(live)
    members: dict[int, list[Place]] = {}
    for place, block in number.items():
        members.setdefault(block, []).append(place)
    found = []
    for block in range(len(members)):
        place = s, u = members[block][0]
        ways: dict[Ask, dict[int, int]] = {}
        for ask, leaf, target in places.ways[place]:
            ways.setdefault(ask, {})[leaf] = number[target]
        states = tuple(state for _, state in members[block])
        found.append(Block(s, states, live[place], u in classes.sure[s], ways))
    return tuple(found), number


class _Places:
    """All places, with the ways that leave them: what is asked for, the leaf, the place where it leads."""

    def __init__(self, machine: LetterMachine, classes: SuffixClasses, limits: Limits) -> None:
        self.machine, self.classes, self.limits = machine, classes, limits
        self.ways = {
            (s, u): tuple(self._ways(s, u)) for s, able in enumerate(classes.able) for u in sorted(able)
        }

    def _ways(self, s: int, u: int) -> Iterator[tuple[Ask, int, Place]]:
        for ask in self.classes.after[s]:
            letter, rest = ask
            for edge in self.machine.edges[u]:
                if edge.letter == letter and edge.target in self.classes.able[rest]:
                    yield ask, edge.leaf, (rest, edge.target)

    def _leaves(self, u: int) -> tuple[Leaf, ...]:
        return self.machine.leaves_of(self.machine.state[u])

    def live(self) -> dict[Place, Mask]:
        """The variables that the guards at each place read, and those at the places after it."""
        live: dict[Place, Mask] = {}
        for place in self.ways:
            live[place] = 0
            for leaf in self._leaves(place[1]):
                live[place] |= leaf.action.used
        changed = True
        while changed:
            self.limits.check(f"relational alignment, what is read at {len(live)} places")
            changed = False
            for place, ways in self.ways.items():
                leaves, known = self._leaves(place[1]), live[place]
                for _, way, target in ways:
                    live[place] |= leaves[way].action.before(live[target])
                changed |= live[place] != known
        return live

    def coarsest(self, live: Mapping[Place, Mask]) -> dict[Place, int]:
        """The numbers of the blocks: places are told apart until those that are not go on alike."""

        def alike(place: Place) -> Hashable:
            s, u = place
            return s, live[place], u in self.classes.sure[s], self.machine.drawing(self.machine.state[u])

        number = _numbered({place: alike(place) for place in self.ways})
        count = 0
        while count < (count := len(set(number.values()))):
            self.limits.check(f"relational alignment, {count} kinds of places")
            found: dict[Place, Hashable] = {}
            for place, ways in self.ways.items():
                leaves = self._leaves(place[1])
                onward = frozenset(
                    (ask, action.alike, *action.stored(live[target]), number[target])
                    for ask, leaf, target in ways
                    for action in [leaves[leaf].action]
                )
                found[place] = number[place], onward
            number = _numbered(found)
        return number


def _numbered(kinds: Mapping[Place, Hashable]) -> dict[Place, int]:
    numbers: dict[Hashable, int] = {}
    return {place: numbers.setdefault(kind, len(numbers)) for place, kind in kinds.items()}
