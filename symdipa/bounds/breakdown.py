"""Where the best bound on ``D`` comes from: a run, and what its steps cost (which adds up to the bound)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from symdipa.bounds.alignment import breakdown
from symdipa.bounds.alignment.explain import RELEASE, TEST, THRESHOLD, Cost
from symdipa.bounds.costs import rate_of
from symdipa.bounds.exact.flow import Flow, best_shifts
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
    """A run, as transitions, and the costs of its steps. Those of an alignment need not be a feasible run."""

    way: Along
    run: tuple[int, ...]
    costs: tuple[Cost, ...]


def breakdown_of(automaton: Automaton, bounds: Bounds) -> Breakdown | None:
    """What the best bound from above consists of; ``None`` where no run is known that costs as much."""
    proof, best = bounds.alignment_proof, bounds.best
    if best is None:
        return None
    if proof is not None and proof.bound == best:
        return Breakdown(Along.ALIGNMENT, *breakdown(proof.sides[0]))
    if bounds.flow is None or bounds.lower != best:
        return None
    costs = flow_costs(control_graph(automaton), bounds.flow, bounds.sensitivity)
    return Breakdown(Along.FLOW, bounds.flow.run, costs)


def flow_costs(control: Control, flow: Flow, sensitivity: Fraction) -> tuple[Cost, ...]:
    """What the steps of the run of a flow cost with the best shifts, those that are free left out."""
    over = dependency_graph(control, flow.run).over
    read = {min(i, j) for i, js in enumerate(over) for j in js}
    shifts = best_shifts(control, flow)
    costs = []
    for j, (t, shift, delta) in enumerate(zip(flow.run, shifts, flow.deltas, strict=True)):
        sampling, rate = control.sampling[t], rate_of(control.sampling[t])
        why = RELEASE if sampling.shows_sample else THRESHOLD if j in read else TEST
        state = control.state_names[control.source[t]]
        paid = ((why, rate.d * abs(shift - delta)), (RELEASE, rate.release * abs(delta)))
        costs += [Cost(j, t, state, reason, amount * sensitivity) for reason, amount in paid if amount]
    return tuple(costs)
