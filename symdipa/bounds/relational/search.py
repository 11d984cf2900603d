"""The search for shifts: the best strategy in the game on pairs of states."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf

from symdipa.bounds.relational.blocks import Block
from symdipa.bounds.relational.game import Game, GameNode, Option
from symdipa.bounds.relational.machine import Letter, LetterMachine
from symdipa.bounds.relational.shifts import ShiftMenu
from symdipa.bounds.relational.suffixes import SuffixClasses, suffixes
from symdipa.model.adjacency import Interval
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.graphs import components

MAX_CLASSES = 2_000
"""The most classes of what is shown later."""


@dataclass(frozen=True, eq=False)
class Strategy:
    """What we answer: for each node that can be reached the potential and one option for every challenge.

    Costs, potentials and shifts are integers, to be divided by ``cost_unit`` and ``unit``. ``classes`` are
    the classes of sequences, ``roots`` the nodes in which runs begin.
    """

    machine: LetterMachine
    classes: SuffixClasses
    interval: Interval
    unit: int
    cost_unit: int
    bound: Fraction
    roots: tuple[int, ...]
    blocks: tuple[Block, ...]
    nodes: tuple[GameNode, ...]
    potential: tuple[int, ...]
    chosen: tuple[tuple[tuple[Letter, int, Option], ...], ...]


def search(menu: ShiftMenu, memory: str, max_nodes: int, limits: Limits = UNLIMITED) -> Strategy | str:
    """The best strategy with the shifts of a menu; if none has a finite cost, what stands in the way.

    ``memory`` says how finely what will be shown is distinguished: one of
    :data:`symdipa.bounds.relational.suffixes.MEMORIES`. Raises
    :class:`symdipa.model.errors.LimitReached` above ``max_nodes`` pairs or :data:`MAX_CLASSES` classes, and
    when the time is up.
    """
    classes = suffixes(menu.machine, memory, MAX_CLASSES, limits)
    game = Game(menu.machine, classes, menu, max_nodes, limits)
    if not game.explore():
        return game.obstacle
    value, costly = _values(game)
    worst = max((value[root] for root in game.roots), default=0)
    if worst == inf:
        return (
            f"every round of a loop through {game.where(costly[0])} costs something"
            " (shifts that depend on the sample are not tried)"
        )
    return _strategy(game, value, int(worst))


def _strategy(game: Game, value: list[float], worst: int) -> Strategy:
    """The cheapest option for every challenge, for the nodes that can be reached."""
    queue = list(dict.fromkeys(game.roots))
    place = {v: i for i, v in enumerate(queue)}
    chosen: list[list[tuple[Letter, int, Option]]] = []
    for v in queue:  # grows while we walk
        chosen.append([])
        for challenge in game.challenges(v):
            option = min(challenge.options, key=lambda o: _paid(o, value))
            chosen[-1].append((challenge.letter, challenge.rest, option))
            for w in option.after:
                if w not in place:
                    place[w] = len(queue)
                    queue.append(w)
    cost_unit = game.menu.unit * game.menu.scale
    return Strategy(
        machine=game.machine,
        classes=game.classes,
        interval=game.menu.interval,
        unit=game.menu.unit,
        cost_unit=cost_unit,
        bound=Fraction(worst, cost_unit),
        roots=tuple(place[v] for v in game.roots),
        blocks=game.blocks,
        nodes=tuple(game.nodes[v] for v in queue),
        potential=tuple(int(value[v]) for v in queue),
        chosen=tuple(
            tuple(
                (letter, rest, Option(o.shift, o.cost, tuple(place[w] for w in o.after)))
                for letter, rest, o in picks
            )
            for picks in chosen
        ),
    )


def _values(game: Game) -> tuple[list[float], list[int]]:
    """The least values that satisfy the rules of the game, component by component; infinite where lost.

    Also the nodes where a loop costs something, whatever we answer.
    Raises :class:`symdipa.model.errors.OutOfTime`.
    """
    value: list[float] = [0] * len(game.nodes)
    costly: list[int] = []
    successors = [game.successors(v) for v in range(len(game.nodes))]
    edges = [(v, w) for v, following in enumerate(successors) for w in following]
    for component in components(len(game.nodes), edges):
        first = component[0]
        if len(component) > 1 or first in successors[first]:
            costly += _solve_cycle(game, component, successors, value)
        else:
            value[first] = _worth(game, first, value)
    return value, costly


def _solve_cycle(
    game: Game, component: list[int], successors: list[set[int]], value: list[float]
) -> list[int]:
    """The least values in a component with cycles, by a work list, those of its successors being known.

    Returns the nodes that are lost because a loop through them costs something.
    """
    costly: list[int] = []
    inside = set(component)
    before: dict[int, set[int]] = {}
    for v in component:
        for w in successors[v] & inside:
            before.setdefault(w, set()).add(v)
    ceiling = _ceiling(game, component, successors, value)
    work = inside
    while work:
        game.limits.check(f"relational alignment, values of {len(game.nodes)} pairs")
        later: set[int] = set()
        for v in sorted(work):
            worth = _worth(game, v, value)
            if ceiling < worth < inf:  # a loop that costs can be repeated at will
                costly.append(v)
                worth = inf
            if worth > value[v]:
                value[v] = worth
                later |= before.get(v, set())
        work = later
    return costly


def _ceiling(game: Game, component: list[int], successors: list[set[int]], value: list[float]) -> float:
    """No finite value in the component is larger: no node need be passed twice."""
    outside = [value[w] for v in component for w in successors[v] - set(component)]
    costs = (
        max((option.cost for challenge in game.challenges(v) for option in challenge.options), default=0)
        for v in component
    )
    return max((w for w in outside if w < inf), default=0) + sum(costs)


def _worth(game: Game, v: int, value: list[float]) -> float:
    """What the opponent gets at a node, given the values of those after it."""
    return max(
        (min((_paid(o, value) for o in challenge.options), default=inf) for challenge in game.challenges(v)),
        default=0,
    )


def _paid(option: Option, value: list[float]) -> float:
    """What an option costs at most, with all that follows."""
    return option.cost + max((value[w] for w in option.after), default=0)
