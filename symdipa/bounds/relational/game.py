"""The game on pairs of states, as far as it has to be explored.

A node has the blocks of both copies, which know the class of what is still to be shown, and facts about their
values.
The opponent names the next letter and the class of the rest; we answer with a range of shifts for the sample;
then the opponent places the sample, and both copies go on. A node is *lost* where the second copy may show
something other than the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from symdipa.bounds.relational.blocks import Ask, Block, blocks_of
from symdipa.bounds.relational.machine import Leaf, Letter, LetterMachine, output_of
from symdipa.bounds.relational.outcomes import Facts, Grid, Outcomes, ShiftRange, Values
from symdipa.bounds.relational.program import Action
from symdipa.bounds.relational.shifts import ShiftMenu
from symdipa.bounds.relational.suffixes import SuffixClasses
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import Limits

GameNode = tuple[int, int, Facts]
"""The blocks of both copies, and facts about their live values (none where the second one is sure)."""


@dataclass(frozen=True, slots=True)
class Option:
    """A range of shifts (``None``: samples are not tied), its cost, where both copies may be afterwards."""

    shift: ShiftRange | None
    cost: int
    after: tuple[int, ...]


class Step(NamedTuple):
    """What both copies do at once, the blocks where they are then (``there`` is ``None`` where the second one
    shows something else), and the values that they still need."""

    one: Action
    other: Action
    target: int
    there: int | None
    later: Values


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
    _known_steps: dict[tuple[int, int, Ask], list[Step]] = field(default_factory=dict)
    _stuck: tuple[int, Letter] | None = None

    def __post_init__(self) -> None:
        program = self.machine.program
        self._outcomes = Outcomes(Grid(self.menu.far, self.menu.unit, program.integer, program.has_zero))
        self.blocks, number = blocks_of(self.machine, self.classes, self.limits)
        starts = [number[s, 0] for s, able in enumerate(self.classes.able) if 0 in able]
        self.roots = [self._node((block, block, self._outcomes.nothing)) for block in starts]

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
            stuck = [challenge.letter for challenge in challenges if not challenge.options]
            if stuck:
                self._lose(v)
                if any(self._lost[root] for root in self.roots):
                    self._stuck = v, stuck[0]
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

    def where(self, v: int) -> str:
        """The control states of both copies, named once if they are in the same."""
        places = (self.machine.where(self.blocks[block].state) for block in self.nodes[v][:2])
        return " and ".join(dict.fromkeys(places))

    @property
    def obstacle(self) -> str:
        """Why the exploration came to nothing."""
        if self._stuck is None:
            return ""
        v, letter = self._stuck
        return (
            f"in {self.where(v)} no shift suits all samples that show {output_of(letter)!r}"
            " (shifts that depend on the sample are not tried)"
        )

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
        first, second = self.blocks[node[0]], self.blocks[node[1]]
        if second.sure:
            return ()
        return tuple(Challenge(*ask, self._options(node, ask)) for ask in first.ways)

    def _options(self, node: GameNode, ask: Ask) -> list[Option]:
        """The options that are not lost, up to one after which nothing is left to do."""
        q, p = (self.machine.state[self.blocks[block].state] for block in node[:2])
        options = []
        for shift, cost in self.menu.options(q, p, ask[0]):
            after = self._after(node, ask, shift)
            if after is not None and not any(self._lost[w] for w in after):
                options.append(Option(shift, cost, after))
                if not after:
                    break
        return options

    def _after(self, node: GameNode, ask: Ask, shift: ShiftRange | None) -> tuple[int, ...] | None:
        """The nodes after a letter and a range of shifts; ``None`` if the second copy may go astray."""
        values = self.blocks[node[0]].live, self.blocks[node[1]].live
        drawn = self._outcomes.drawn(values, node[2], shift)
        found: dict[GameNode, None] = {}
        for step in self._steps(node[0], node[1], ask):
            facts = drawn.after(step.one, step.other, step.later)
            if facts is None:
                continue
            if step.there is None or not drawn.show_the_same(step.one, step.other):
                return None
            found[step.target, step.there, () if self.blocks[step.there].sure else facts] = None
        return tuple(self._node(node) for node in found)

    def _steps(self, p: int, q: int, ask: Ask) -> list[Step]:
        """All that both copies may do in these blocks if the first one shows what is asked for."""
        if (p, q, ask) not in self._known_steps:
            first, second = self.blocks[p], self.blocks[q]
            leaves, onward = self._leaves(first), second.ways.get(ask, {})
            found = self._known_steps[p, q, ask] = []
            for leaf, target in first.ways[ask].items():
                for other, its in enumerate(self._leaves(second)):
                    there = onward.get(other)
                    later = (0, 0) if there is None else (self.blocks[target].live, self.blocks[there].live)
                    found.append(Step(leaves[leaf].action, its.action, target, there, later))
        return self._known_steps[p, q, ask]

    def _leaves(self, block: Block) -> tuple[Leaf, ...]:
        return self.machine.leaves_of(self.machine.state[block.state])
