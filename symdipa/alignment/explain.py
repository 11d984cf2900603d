"""Where an alignment bound comes from: the dearest run, step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from symdipa.alignment.lifts import Lift
from symdipa.alignment.program import split_cost
from symdipa.alignment.search import Side
from symdipa.control import shortest_path

THRESHOLD, TEST, RELEASE = "threshold", "test", "release"


@dataclass(frozen=True, slots=True)
class Cost:
    """What one step of the dearest run pays.

    ``position`` is that of ``transition`` in the run, ``state`` the control state. ``why``: the sample is
    stored and read later (``threshold``), compared (``test``), or a sample is output (``release``).
    """

    position: int
    transition: int
    state: str
    why: str
    amount: Fraction


def breakdown(side: Side) -> tuple[tuple[int, ...], tuple[Cost, ...]]:
    """A path of the graph that costs ``side.bound``, as transitions, and its costs (which add up to it).

    The path begins in the initial state and goes on until it may end, so it has the future that its lift
    foretells. On a graph other than the augmentation it need not be a feasible run.
    """
    lift = side.lifted
    path = _dearest(side)
    costs = []
    for position, e in enumerate(path):
        t = lift.transition[e]
        sample, other = edge_cost(side, e)
        state = lift.control.state_names[lift.control.source[t]]
        costs += [
            Cost(position, t, state, why, amount)
            for why, amount in ((_why(lift, e), sample), (RELEASE, other))
            if amount
        ]
    return tuple(lift.transition[e] for e in path), tuple(costs)


def edge_cost(side: Side, e: int) -> tuple[Fraction, Fraction]:
    """What an edge of the lifted graph costs, for the compared sample and for the other one."""
    program, values = side.program, side.solution.values
    sample, other = split_cost(
        program.rate[side.lifted.transition[e]],
        [values[f] for f in program.floor[e]],
        [values[c] for c in program.ceiling[e]],
        side.low / side.sensitivity,
        side.high / side.sensitivity,
    )
    return sample * side.sensitivity, other * side.sensitivity


def _why(lift: Lift, e: int) -> str:
    t = lift.transition[e]
    if lift.control.outputs_insample[t]:
        return RELEASE
    return THRESHOLD if lift.control.steps[t].asg & lift.tracked[lift.target[e]] else TEST


def _dearest(side: Side) -> list[int]:
    """Edges from the initial node on which the potentials are attained, to a node where a run may end."""
    lift = side.lifted
    outgoing: list[list[int]] = [[] for _ in range(lift.nodes)]
    for e, u in enumerate(lift.source):
        outgoing[u].append(e)

    def attained(e: int) -> bool:
        u, v = lift.source[e], lift.target[e]
        if lift.component[u] == lift.component[v]:
            return False
        return side.potential(u) == sum(edge_cost(side, e), side.potential(v))

    def walk(start: int, goal: Callable[[int], bool], within: int | None = None) -> list[int]:
        def leaving(v: int) -> list[int]:
            return [e for e in outgoing[v] if within in (None, lift.component[lift.target[e]])]

        path = shortest_path(start, goal, leaving, lift.target.__getitem__)
        assert path is not None, "the potentials of the graph are not attained"
        return path

    path: list[int] = []
    node = lift.initial
    while side.potential(node):
        leaving = walk(node, lambda v: any(map(attained, outgoing[v])), within=lift.component[node])
        path += leaving
        node = lift.target[leaving[-1]] if leaving else node
        step = next(filter(attained, outgoing[node]))
        path.append(step)
        node = lift.target[step]
    return path + walk(node, lift.ends.__getitem__)
