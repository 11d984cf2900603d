"""The game on pairs of states, as far as it has to be explored.

A node has the states of both copies, facts about their values, and the class of what both still have to show.
The opponent names the next letter and the class of the rest; we answer with a range of shifts for the sample;
then the opponent places the sample, and both copies go on. A node is *lost* where the second copy may show
something other than the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from symdipa.bounds.relational.machine import Letter, LetterMachine
from symdipa.bounds.relational.outcomes import Facts, Outcomes
from symdipa.bounds.relational.shifts import ShiftMenu, ShiftRange
from symdipa.bounds.relational.suffixes import SuffixClasses
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import Limits

GameNode = tuple[int, int, Facts, int]
"""The states of both copies, facts, the class of the rest."""


@dataclass(frozen=True, slots=True)
class Option:
    """A range of shifts (``None``: samples are not tied), its cost, where both copies may be afterwards."""

    shift: ShiftRange | None
    cost: int
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Challenge:
    """What the opponent may say, and the options that are not lost."""

    letter: Letter
    rest: int
    options: list[Option]


@dataclass(eq=False)
class Game:
    """The nodes that were met, by their numbers; ``challenges`` of those that were expanded."""

    machine: LetterMachine
    classes: SuffixClasses
    menu: ShiftMenu
    max_nodes: int
    limits: Limits
    nodes: list[GameNode] = field(default_factory=list)
    _number: dict[GameNode, int] = field(default_factory=dict)
    _challenges: list[tuple[Challenge, ...] | None] = field(default_factory=list)
    _lost: list[bool] = field(default_factory=list)
    _references: list[list[tuple[int, Challenge, Option]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._outcomes = Outcomes(self.machine, self.menu.far)
        self.roots = [self._node((0, 0, (), s)) for s, able in enumerate(self.classes.able) if 0 in able]

    def challenges(self, v: int) -> tuple[Challenge, ...]:
        """The challenges of a node; what no option that is left leads to has none and does not count."""
        return () if self._lost[v] else self._challenges[v] or ()

    def successors(self, v: int) -> set[int]:
        return {w for challenge in self.challenges(v) for option in challenge.options for w in option.after}

    def explore(self) -> bool:
        """Expand what an option that is not lost leads to, depth first; ``False`` once a root is lost.

        Raises :class:`LimitReached` above ``max_nodes`` nodes, and when the time is up.
        """
        work = self.roots[::-1]
        kept = set(self.roots)
        done = 0
        while work:
            v = work.pop()
            if self._challenges[v] is not None or self._lost[v] or not (v in kept or self._wanted(v)):
                continue
            challenges = self._challenges[v] = self._expand(self.nodes[v])
            done += 1
            if done % 64 == 0:
                self.limits.check(f"relational alignment, {done} pairs")
            if len(self.nodes) > self.max_nodes:
                raise LimitReached(
                    Limit.SIZE, f"relational alignment has more than {self.max_nodes} pairs to look at"
                )
            work += self._refer(v, challenges)
            if not all(challenge.options for challenge in challenges):
                self._lose(v)
                if any(self._lost[root] for root in self.roots):
                    return False
        return True

    def _node(self, node: GameNode) -> int:
        place = self._number.setdefault(node, len(self.nodes))
        if place == len(self.nodes):
            self.nodes.append(node)
            self._challenges.append(None)
            self._lost.append(False)
            self._references.append([])
        return place

    def _refer(self, v: int, challenges: Sequence[Challenge]) -> list[int]:
        """Note who leads where; the nodes after ``v`` that were not expanded."""
        later = []
        for challenge in challenges:
            for option in challenge.options:
                for w in option.after:
                    self._references[w].append((v, challenge, option))
                    if self._challenges[w] is None:
                        later.append(w)
        return later

    # Nodes that are lost

    def _wanted(self, v: int) -> bool:
        return any(
            not self._lost[u] and option in challenge.options for u, challenge, option in self._references[v]
        )

    def _lose(self, v: int) -> None:
        """Strike out every option that leads to a lost node; a challenge without options loses its node."""
        self._lost[v] = True
        work = [v]
        while work:
            for u, challenge, option in self._references[work.pop()]:
                if option in challenge.options:
                    challenge.options.remove(option)
                    if not challenge.options and not self._lost[u]:
                        self._lost[u] = True
                        work.append(u)

    # One node

    def _expand(self, node: GameNode) -> tuple[Challenge, ...]:
        """The challenges of a node; one without options where the second copy is lost."""
        first, second, _, rest = node
        if second in self.classes.sure[rest]:
            return ()
        if second not in self.classes.able[rest]:
            return (Challenge(("", ""), rest, []),)
        found = []
        for letter, later in self.classes.after[rest]:
            able, edges = self.classes.able[later], self.machine.edges[first]
            ways = [(e.leaf, e.target) for e in edges if e.letter == letter and e.target in able]
            if ways:
                found.append(Challenge(letter, later, self._options(node, later, letter, ways)))
        return tuple(found)

    def _options(
        self, node: GameNode, later: int, letter: Letter, ways: list[tuple[int, int]]
    ) -> list[Option]:
        """The options that are not lost, up to one after which nothing is left to do."""
        q, p = (self.machine.state[u] for u in node[:2])
        options = []
        for shift, cost in self.menu.options(q, p, letter):
            after = self._after(node, later, shift, letter, ways)
            if after is not None and not any(self._lost[w] for w in after):
                options.append(Option(shift, cost, after))
                if not after:
                    break
        return options

    def _after(
        self,
        node: GameNode,
        later: int,
        shift: ShiftRange | None,
        letter: Letter,
        ways: list[tuple[int, int]],
    ) -> tuple[int, ...] | None:
        """The nodes after a letter and a range of shifts; ``None`` if the second copy may go astray."""
        first, second, facts, _ = node
        outcomes = self._outcomes.of(self.machine.state[first], self.machine.state[second], facts, shift)
        onward, able = self.machine.onward[second], self.classes.able[later]
        found: dict[GameNode, None] = {}
        for leaf, target in ways:
            for other, known in outcomes[leaf]:
                there = onward.get((other, letter))
                if there is None or there not in able:
                    return None
                found[target, there, known, later] = None
        return tuple(self._node(node) for node in found)
