"""Bounds from below: a flow on the dependency graph of one run (Thm. flow).

Why the rules prove the claim. By weak duality: for all shifts that respect the edges, and vanish at samples
that are output, the sum of ``d*|shift - difference|`` is at least that of ``difference * (inflow -
outflow)``. A part of the flow may be repeated: the reader's end then stands for as many more rounds of its
cycle as are needed, before the one in the run. Their samples are compared with the same stored values,
nothing reads what they store, and each may take the difference that gains most.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from symdipa.checker.claims import Claim, Inputs, inputs_of
from symdipa.checker.model import Model
from symdipa.checker.plain.alike import Cycle, others_of, shared_entries
from symdipa.checker.plain.runs import Run, check_non_leaking, cycles_of, is_distinct, run_of
from symdipa.checker.reading import bounded, items, members, number, rational, truth
from symdipa.checker.rules import refuse

GROUND = "ground"
End = int | str


@dataclass(frozen=True, slots=True)
class Flow:
    source: End
    target: End
    amount: Fraction
    repeated: bool

    @property
    def reader(self) -> int:
        """The later position: its guard reads what the other one stored."""
        return max(end for end in (self.source, self.target) if isinstance(end, int))


def check_lower(model: Model, certificate: dict[str, object], where: str) -> Claim:
    keys = ["kind", "adjacency", "sensitivity", "D", "run", "differences", "flow"]
    members(certificate, where, keys, ["cycles", "others"])
    inputs = inputs_of(certificate, where)
    bound = rational(certificate["D"], f"{where}.D")
    run = run_of(model, certificate["run"], f"{where}.run")
    cycles = cycles_of(run.steps, certificate.get("cycles", []), f"{where}.cycles")
    for cycle in cycles:
        check_non_leaking(run, cycle, where)
    differences = _differences(run, inputs, certificate["differences"], f"{where}.differences")
    _check_worth(bound, run, cycles, inputs, differences, certificate["flow"], where)
    runs = [run]
    for parts, place in others_of(certificate.get("others", []), cycles, f"{where}.others"):
        other = run_of(model, parts["run"], f"{place}.run")
        shared = shared_entries(run, differences, other, place)
        _check_worth(bound, other, (), inputs, shared, parts["flow"], place)
        runs.append(other)
    return Claim("lower", bound, inputs, distinct=is_distinct(model, runs, cycles))


def _check_worth(
    bound: Fraction,
    run: Run,
    cycles: tuple[Cycle, ...],
    inputs: Inputs,
    differences: list[Fraction],
    flow: object,
    where: str,
) -> None:
    flows = _flows(run, flow, f"{where}.flow")
    value = _within_capacity(run, differences, flows)
    value += _repeated(run, cycles, inputs, flows)
    for step, difference in zip(run.steps, differences, strict=True):
        value = bounded(value + step.released * abs(difference))
    if value < bound:
        refuse("lower-bound", f"{where}: the flow is worth less than D")


def _differences(run: Run, inputs: Inputs, value: object, where: str) -> list[Fraction]:
    found = []
    for j, item in enumerate(items(value, where, len(run.steps))):
        difference = rational(item, f"{where}[{j}]")
        low, high = inputs.differences(run.steps[j].reads_input)
        if not low <= difference <= high:
            refuse("difference", f"{where}[{j}] is not between {low} and {high}")
        found.append(difference)
    return found


def _flows(run: Run, value: object, where: str) -> list[Flow]:
    seen: set[tuple[End, End, bool]] = set()
    found = []
    for f, item in enumerate(items(value, where)):
        flow = _flow(run, item, f"{where}[{f}]")
        key = (flow.source, flow.target, flow.repeated)
        if key in seen:
            refuse("flow-edge", f"{where}[{f}] is given twice")
        seen.add(key)
        found.append(flow)
    return found


def _flow(run: Run, value: object, where: str) -> Flow:
    parts = members(value, where, ["from", "to", "amount"], ["repeated"])
    source, target = (_end(run, parts[key], f"{where}.{key}") for key in ("from", "to"))
    amount = rational(parts["amount"], f"{where}.amount")
    repeated = truth(parts.get("repeated", False), f"{where}.repeated")
    if amount <= 0:
        refuse("flow-amount", f"{where} is not positive")
    positions = [end for end in (source, target) if isinstance(end, int)]
    if len(positions) == 1:
        if not run.steps[positions[0]].shows_sample:
            refuse("flow-edge", f"{where} ties a sample to the ground that is not output")
        if repeated:
            refuse("flow-repeated", f"{where}: flow to the ground cannot be repeated")
    elif (source, target) not in run.edges:
        refuse("flow-edge", f"{where} is along no edge of the dependency graph")
    return Flow(source, target, amount, repeated)


def _end(run: Run, value: object, where: str) -> End:
    return GROUND if value == GROUND else number(value, where, "flow-edge", len(run.steps))


def _within_capacity(run: Run, differences: list[Fraction], flows: list[Flow]) -> Fraction:
    """The value of the flow at the samples of the run, each of which absorbs or creates at most ``d``."""
    absorbed = [Fraction(0)] * len(run.steps)
    for flow in flows:
        for end, amount in ((flow.source, -flow.amount), (flow.target, flow.amount)):
            if isinstance(end, int) and not (flow.repeated and end == flow.reader):
                absorbed[end] = bounded(absorbed[end] + amount)
    value = Fraction(0)
    for j, amount in enumerate(absorbed):
        if abs(amount) > run.steps[j].d:
            refuse("flow-capacity", f"position {j} of the run absorbs or creates more than d")
        value = bounded(value + differences[j] * amount)
    return value


def _repeated(run: Run, cycles: tuple[Cycle, ...], inputs: Inputs, flows: list[Flow]) -> Fraction:
    """The value of the flow at samples of further rounds."""
    repeatable = {j for cycle in cycles for j in range(*cycle)}
    value = Fraction(0)
    for flow in flows:
        if flow.repeated:
            if flow.reader not in repeatable:
                refuse("flow-repeated", f"position {flow.reader} of the run is on no cycle")
            low, high = inputs.differences(run.steps[flow.reader].reads_input)
            value = bounded(value + flow.amount * (high if flow.reader == flow.target else -low))
    return value
