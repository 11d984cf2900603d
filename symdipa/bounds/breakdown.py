"""Where the best bound on ``D`` comes from: a run, and what its steps cost (which adds up to the bound)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from symdipa.bounds.alignment import breakdown
from symdipa.bounds.alignment.explain import RELEASE, TEST, THRESHOLD, Cost
from symdipa.bounds.costs import rate_of, slope_cost
from symdipa.bounds.exact.flow import Flow, best_shifts
from symdipa.model.adjacency import EITHER_WAY, Interval
from symdipa.model.automaton import Automaton
from symdipa.model.verdict import Bounds
from symdipa.runs.control import Control, control_graph
from symdipa.runs.witness import dependency_graph

__all__ = ["Along", "Breakdown", "Cost", "breakdown_of", "flow_costs"]


class Along(Enum):
    """How the costs of a run were found."""

    ALIGNMENT = "on the dearest run of the alignment"
    FLOW = "on the run that gives the bound from below"


@dataclass(frozen=True)
class Breakdown:
    """A run, as transitions of the automaton, and the costs of its steps.

    Those of an alignment need not be a feasible run. ``letters`` are those of the entries, if the automaton
    unfolds, whose differences lie between the ``ends``.
    """

    way: Along
    run: tuple[int, ...]
    costs: tuple[Cost, ...]
    letters: tuple[str, ...] = ()
    ends: Interval = EITHER_WAY


def breakdown_of(automaton: Automaton, bounds: Bounds) -> Breakdown | None:
    """What the best bound from above consists of; ``None`` where no run is known that costs as much."""
    proof, best = bounds.alignment_proof, bounds.best
    if best is None:
        return None
    if proof is not None and proof.bound == best:
        side = proof.sides[0]
        found = _of_automaton(automaton, side.control, Along.ALIGNMENT, *breakdown(side))
        return replace(found, ends=(side.low, side.high))
    if bounds.flow is None or bounds.lower != best:
        return None
    control = control_graph(automaton)
    costs = flow_costs(control, bounds.flow, bounds.sensitivity)
    found = _of_automaton(automaton, control, Along.FLOW, bounds.flow.run, costs)
    low, high = bounds.flow_range
    return replace(found, ends=(low * bounds.sensitivity, high * bounds.sensitivity))


def _of_automaton(
    automaton: Automaton, control: Control, way: Along, run: tuple[int, ...], costs: tuple[Cost, ...]
) -> Breakdown:
    """The breakdown of a run of the control graph, whose transitions may be parts of the automaton's."""
    if control.is_plain:
        return Breakdown(way, run, costs)
    places = control.places(run)
    amounts: dict[tuple[int, int, str], Fraction] = {}
    for cost in costs:
        key = places[cost.position], control.origin[cost.transition], cost.why
        amounts[key] = amounts.get(key, Fraction(0)) + cost.amount
    whole = tuple(
        Cost(position, t, automaton.transitions[t].source, why, amount)
        for (position, t, why), amount in amounts.items()
    )
    return Breakdown(way, control.whole(run), whole, control.whole_letters(run))


def flow_costs(control: Control, flow: Flow, sensitivity: Fraction) -> tuple[Cost, ...]:
    """What the steps of the run of a flow cost with the best shifts, those that are free left out.

    Steps are those of the control graph.
    """
    over = dependency_graph(control, flow.run).over
    read = {min(i, j) for i, js in enumerate(over) for j in js}
    shifts = best_shifts(control, flow)
    costs = []
    for j, (t, shift, delta) in enumerate(zip(flow.run, shifts, flow.deltas, strict=True)):
        sampling, rate = control.sampling[t], rate_of(control.sampling[t])
        why = RELEASE if sampling.shows_sample else THRESHOLD if j in read else TEST
        state = control.state_names[control.source[t]]
        paid = ((why, slope_cost(rate.slopes, shift - delta)), (RELEASE, slope_cost(rate.release, -delta)))
        costs += [Cost(j, t, state, reason, amount * sensitivity) for reason, amount in paid if amount]
    return tuple(costs)
