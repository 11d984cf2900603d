"""What each node of the game costs at most, if we answer as well as possible."""

from __future__ import annotations

from math import inf

from symdipa.bounds.relational.game import Game, Option
from symdipa.runs.graphs import components


def values(game: Game) -> list[float]:
    """The least values that satisfy the rules of the game, component by component; infinite where lost.

    Raises :class:`symdipa.model.errors.OutOfTime`.
    """
    value: list[float] = [0] * len(game.nodes)
    successors = [game.successors(v) for v in range(len(game.nodes))]
    edges = [(v, w) for v, following in enumerate(successors) for w in following]
    for component in components(len(game.nodes), edges):
        first = component[0]
        if len(component) > 1 or first in successors[first]:
            _solve_cycle(game, component, successors, value)
        else:
            value[first] = _worth(game, first, value)
    return value


def _solve_cycle(game: Game, component: list[int], successors: list[set[int]], value: list[float]) -> None:
    """The least values in a component with cycles, by a work list, those of its successors being known."""
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
            if worth > ceiling:  # a loop that costs can be repeated at will
                worth = inf
            if worth > value[v]:
                value[v] = worth
                later |= before.get(v, set())
        work = later


def _ceiling(game: Game, component: list[int], successors: list[set[int]], value: list[float]) -> float:
    """No finite value in the component is larger: no node need be passed twice."""
    inside = set(component)
    outside = [value[w] for v in component for w in successors[v] if w not in inside]
    costs = (
        max((option.cost for challenge in game.challenges(v) for option in challenge.options), default=0)
        for v in component
    )
    return max((w for w in outside if w < inf), default=0) + sum(costs)


def _worth(game: Game, v: int, value: list[float]) -> float:
    """What the opponent gets at a node, given the values of those after it."""
    return max(
        (min((paid(o, value) for o in challenge.options), default=inf) for challenge in game.challenges(v)),
        default=0,
    )


def paid(option: Option, value: list[float]) -> float:
    """What an option costs at most, with all that follows."""
    return option.cost + max((value[w] for w in option.after), default=0)
