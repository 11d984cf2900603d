"""Where an alignment bound comes from: a path that attains it, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from symdipa.bounds.alignment.proofs import Proof
from symdipa.runs.graphs import shortest_path

THRESHOLD, TEST, RELEASE = "threshold", "test", "release"


@dataclass(frozen=True, slots=True)
class Cost:
    """What one step of the path pays.

    ``position`` is that of ``transition`` in the run, ``state`` the control state. ``why``: the sample is
    stored and read later (``threshold``), compared (``test``), or a sample is output (``release``).
    """

    position: int
    transition: int
    state: str
    why: str
    amount: Fraction


def breakdown(side: Proof) -> tuple[tuple[int, ...], tuple[Cost, ...]]:
    """A path of the graph that costs ``side.bound``, as transitions, and its costs (which add up to it).

    The path begins in the initial state and goes on until it may end, so it has the future that its lift
    foretells. On a graph other than the augmentation it need not be a feasible run.
    """
    paths, control = side.paths, side.control
    path = _tight_path(side)
    costs = []
    for position, e in enumerate(path):
        t = paths.transition[e]
        sample, other = edge_cost(side, e)
        why = RELEASE if control.sampling[t].shows_sample else THRESHOLD if paths.stores[e] else TEST
        costs += [
            Cost(position, t, control.state_names[control.source[t]], reason, amount)
            for reason, amount in ((why, sample), (RELEASE, other))
            if amount
        ]
    return tuple(paths.transition[e] for e in path), tuple(costs)


def edge_cost(side: Proof, e: int) -> tuple[Fraction, Fraction]:
    """What an edge of the graph costs, for the compared sample and for the other one."""
    rate, floor, ceiling = side.rule(e)
    values = side.solution.values
    worst = rate.worst(
        [values[f] for f in floor],
        [values[c] for c in ceiling],
        side.low / side.sensitivity,
        side.high / side.sensitivity,
    )
    assert worst is not None, "an edge of a proof has a cost"
    sample, other = worst
    return sample * side.sensitivity, other * side.sensitivity


def is_tight(side: Proof, e: int) -> bool:
    """Whether an edge leads on to another component, and the potential of its source is attained on it."""
    paths = side.paths
    u, v = paths.source[e], paths.target[e]
    if paths.component[u] == paths.component[v]:
        return False
    return side.potential(u) == sum(edge_cost(side, e), side.potential(v))


def _tight_path(side: Proof) -> list[int]:
    """Edges from the initial node on which the potentials are attained, to a node where a run may end."""
    paths = side.paths
    attained = partial(is_tight, side)
    path: list[int] = []
    node = paths.initial
    while side.potential(node):
        leaving = paths.way(node, lambda v: any(map(attained, paths.outgoing[v])))
        assert leaving is not None, "the potentials of the graph are not attained"
        path += leaving
        node = paths.target[leaving[-1]] if leaving else node
        step = next(filter(attained, paths.outgoing[node]))
        path.append(step)
        node = paths.target[step]
    outgoing, target = paths.outgoing.__getitem__, paths.target.__getitem__
    rest = shortest_path(node, paths.ends.__getitem__, outgoing, target)
    assert rest is not None, "no run ends"
    return path + rest
