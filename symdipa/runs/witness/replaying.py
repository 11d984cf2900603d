"""The replay of witnesses: it knows runs, cycles and dependency graphs only, and nothing of the engines."""

from __future__ import annotations

from itertools import pairwise

from symdipa.model.errors import WitnessRejected
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Witness
from symdipa.runs.control import Control
from symdipa.runs.control.chains import Chain, chains_of
from symdipa.runs.order import OrderState, follow, initial
from symdipa.runs.witness.dependency import DependencyGraph, Run, dependency_graph, is_non_leaking


def replay(control: Control, witness: Witness) -> None:
    """Check a witness against the definitions; raise :class:`WitnessRejected` with the first broken rule."""
    run = witness.run
    where = control.initial
    for i, t in enumerate(run):
        _require(control.source[t] == where, f"step {i} does not start where the run is")
        where = control.target[t]
    graph = dependency_graph(control, run)
    _require(graph.is_acyclic, "the run is not feasible")
    for i, j in witness.cycles:
        _require(0 <= i < j <= len(run), "a cycle is not a range of the run")
        _require(control.source[run[i]] == control.target[run[j - 1]], "a cycle does not close")
    if control.is_plain or witness.pattern not in CHAINS:
        _PATTERN_RULES[witness.pattern](control, witness, graph)
    else:
        _replay_chain(control, witness, graph)


CHAINS = (Pattern.LEAKING_PAIR, Pattern.PRIVACY_VIOLATING_PATH)


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise WitnessRejected(rule)


def _replay_leaking_cycle(control: Control, witness: Witness, graph: DependencyGraph) -> None:
    """The order state after whole rounds repeats, so ``rho C^m`` is feasible for all ``m``."""
    _require(len(witness.cycles) == 1, "a leaking cycle has one cycle")
    (i, j), run = witness.cycles[0], witness.run
    _require(j == len(run), "the run does not end with its cycle")
    _require(not is_non_leaking(control, run[i:j]), "the cycle assigns no variable that it uses")
    orders_by_round(control, witness)


def orders_by_round(control: Control, witness: Witness) -> tuple[list[OrderState], int]:
    """The order states before the rounds of a leaking cycle until one comes back, and the place of that one.

    Raises :class:`WitnessRejected` if one of these rounds is not feasible.
    """
    ((i, j),) = witness.cycles

    def after(order: OrderState, part: Run) -> OrderState:
        following = follow(order, [control.steps[t] for t in part])
        if following is None:
            raise WitnessRejected("a round of the cycle is not feasible")
        return following

    order = after(initial(control.variables), witness.run[:i])
    seen: dict[OrderState, int] = {}
    while order not in seen:
        seen[order] = len(seen)
        order = after(order, witness.run[i:j])
    return list(seen), seen[order]


def _replay_disclosing_cycle(control: Control, witness: Witness, graph: DependencyGraph) -> None:
    _require(len(witness.cycles) == 1, "a disclosing cycle has one cycle")
    i, j = witness.cycles[0]
    cycle = witness.run[i:j]
    _require(j == len(witness.run), "the run does not end with its cycle")
    _require(is_non_leaking(control, cycle), "the cycle is leaking")
    _require(
        any(control.sampling[t].discloses for t in cycle),
        "no input transition of the cycle outputs a real value",
    )


def _chain_holds(witness: Witness, graph: DependencyGraph) -> None:
    path = witness.path
    _require(len(path) >= 2, "the dependency path is too short")
    _require(all(0 <= k < len(witness.run) for k in path), "the dependency path leaves the run")
    _require(all(k in graph.over[i] for i, k in pairwise(path)), "the dependency path has a missing edge")


def _replay_leaking_pair(control: Control, witness: Witness, graph: DependencyGraph) -> None:
    _require(len(witness.cycles) == 2, "a leaking pair has two cycles")
    (a, b), (c, d) = witness.cycles
    _require(b <= c or d <= a, "the cycles overlap")
    for i, j in witness.cycles:
        _require(is_non_leaking(control, witness.run[i:j]), "a cycle is leaking")
    _chain_holds(witness, graph)
    path = witness.path
    _require(
        a <= path[0] < b and path[1] < path[0],
        "the path does not leave its first cycle to an earlier position",
    )
    _require(
        c <= path[-1] < d and path[-2] < path[-1],
        "the path does not enter its last cycle from an earlier one",
    )


def _replay_violating_path(control: Control, witness: Witness, graph: DependencyGraph) -> None:
    _require(len(witness.cycles) == 1, "a violating path has one cycle")
    i, j = witness.cycles[0]
    run, path = witness.run, witness.path
    _require(is_non_leaking(control, run[i:j]), "the cycle is leaking")
    _chain_holds(witness, graph)
    output_below = control.sampling[run[path[0]]].shows_sample and i <= path[-1] < j and path[-2] < path[-1]
    output_above = i <= path[0] < j and path[1] < path[0] and control.sampling[run[path[-1]]].shows_sample
    _require(output_below or output_above, "the path does not join an output sample and the cycle")


def kind_of(control: Control, witness: Witness) -> Chain | None:
    """The first kind of chain that the path of a witness joins two ends of; ``None`` if it is of no kind."""
    run, path = witness.run, witness.path
    taken = {k for i, j in witness.cycles for k in range(i, j)}
    leaves = len(path) > 1 and path[0] in taken and path[1] < path[0]
    enters = len(path) > 1 and path[-1] in taken and path[-2] < path[-1]
    for chain in chains_of(witness.pattern, control):
        first, last = (chain.roles(control.sampling[run[k]]) for k in (path[0], path[-1]))
        low = first.low or (leaves and first.low_repeated)
        high = last.high or (enters and last.high_repeated)
        if low and high and (len(path) > 1 or chain is not Chain.RIGID_PAIR):
            return chain
    return None


def _replay_chain(control: Control, witness: Witness, graph: DependencyGraph) -> None:
    """A chain of one of the kinds that show the pattern, and cycles that can be repeated at its ends."""
    run, path = witness.run, witness.path
    for i, j in witness.cycles:
        _require(is_non_leaking(control, run[i:j]), "a cycle is leaking")
    taken = [k for i, j in witness.cycles for k in range(i, j)]
    _require(len(taken) == len(set(taken)), "the cycles overlap")
    _require(bool(path) and all(0 <= k < len(run) for k in path), "the dependency path leaves the run")
    _require(all(k in graph.over[i] for i, k in pairwise(path)), "the dependency path has a missing edge")
    _require(kind_of(control, witness) is not None, "the path does not join two ends of a chain")


_PATTERN_RULES = {
    Pattern.LEAKING_CYCLE: _replay_leaking_cycle,
    Pattern.LEAKING_PAIR: _replay_leaking_pair,
    Pattern.DISCLOSING_CYCLE: _replay_disclosing_cycle,
    Pattern.PRIVACY_VIOLATING_PATH: _replay_violating_path,
}
