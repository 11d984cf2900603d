"""Bounds from below, and costs without bound: a flow between the samples of one run (Thm. wider flow).

Why the rules prove the claim. Take the run with as many more rounds of its cycles as are needed: some samples
satisfy it. Arcs are comparisons that hold between its samples, ties of numbers that are shown; add them up
with the amounts of the flow. What a sample absorbs, times its distance from its mean, is then in all
at least the value of the flow, as far as inputs go apart along the differences. A sample within its capacity
pays that much for its distance in the density. Repeated flow goes through further rounds, a little
through each: there each sample has as much capacity as is needed, and the difference that gains most. Where
not all entries may differ, or means have registers, further rounds are like the one in the run: they read
entries with the same differences, and registers differ as before, so it may be repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from symdipa.checker.claims import Claim, Inputs, inputs_of
from symdipa.checker.plain.alike import others_of, shared_entries
from symdipa.checker.reading import bounded, items, members, number, rational, text, truth
from symdipa.checker.rules import refuse, shown
from symdipa.checker.wider.adjacent import check_free, means_of_run
from symdipa.checker.wider.model import Model, Sample
from symdipa.checker.wider.runs import GROUND, Arc, End, Run, is_distinct, run_of
from symdipa.model.automaton import Noise

Amounts = dict[tuple[int, bool], Fraction]
"""What samples absorb: those of a position, and its second one."""


@dataclass(frozen=True, slots=True)
class Flow:
    arc: Arc
    amount: Fraction
    repeated: bool


def check_lower(model: Model, certificate: dict[str, object], where: str) -> Claim:
    keys = ["kind", "adjacency", "sensitivity", "D", "run", "differences", "flow"]
    members(certificate, where, keys, ["cycles", "others"])
    bound = rational(certificate["D"], f"{where}.D")
    run, inputs, differences = _run_and_inputs(model, certificate, where)
    _check_worth(bound, _value(model, run, inputs, differences, certificate["flow"], where), where)
    runs = [run]
    for parts, place in others_of(certificate.get("others", []), run.cycles, f"{where}.others"):
        other = run_of(model, parts["run"], [], place)
        shared = shared_entries(run, differences, other, place)
        _check_worth(bound, _value(model, other, inputs, shared, parts["flow"], place), place)
        runs.append(other)
    return Claim("lower", bound, inputs, distinct=is_distinct(model, runs))


def _check_worth(bound: Fraction, value: Fraction, where: str) -> None:
    if value < bound:
        refuse("lower-bound", f"{where}: the flow is worth less than D")


def check_violation(model: Model, certificate: dict[str, object], where: str) -> Claim:
    """A flow that no capacity limits and that is worth anything is worth as much as one likes."""
    if text(certificate.get("pattern"), f"{where}.pattern") != "growth":
        refuse(
            "violation-pattern",
            f'{where} is about another automaton than the paper\'s, its pattern not "growth"',
        )
    keys = ["kind", "pattern", "adjacency", "sensitivity", "run", "differences", "flow"]
    members(certificate, where, keys, ["cycles"])
    run, inputs, differences = _run_and_inputs(model, certificate, where)
    if _value(model, run, inputs, differences, certificate["flow"], where, Fraction(0)) <= 0:
        refuse("violation-growth", f"{where}: the flow is worth nothing")
    return Claim("violation", inputs=inputs, pattern="growth", distinct=is_distinct(model, [run]))


def _run_and_inputs(
    model: Model, certificate: dict[str, object], where: str
) -> tuple[Run, Inputs, list[Fraction]]:
    """The run, the inputs, and the differences of those that it reads."""
    inputs = inputs_of(certificate, where, model.differ)
    run = run_of(model, certificate["run"], certificate.get("cycles", []), where)
    differences = _differences(model, run, inputs, certificate["differences"], f"{where}.differences")
    if model.unfolds:
        check_free(run, where)
    return run, inputs, differences


def _value(
    model: Model,
    run: Run,
    inputs: Inputs,
    differences: list[Fraction],
    flow: object,
    where: str,
    share: Fraction = Fraction(1),
) -> Fraction:
    """What the flow is worth, if samples need no more than this share of their capacity."""
    if model.unfolds:
        differences = means_of_run(model, run, differences, where)
    flows = _flows(run, flow, f"{where}.flow")
    value, absorbed = Fraction(0), Amounts()
    for each in flows:
        copies: Amounts = {}
        round_of = run.round_of(each.arc) if each.repeated else range(0)
        for end, amount in ((each.arc[0], -each.amount), (each.arc[1], each.amount)):
            if end.position is not None:
                side = copies if end.position in round_of else absorbed
                key = (end.position, end.second)
                side[key] = bounded(side.get(key, Fraction(0)) + (-amount if end.mirrored else amount))
        for (position, _), amount in copies.items():
            ends = model.differences(run.steps[position], inputs)
            if model.unfolds:
                ends = differences[position], differences[position]
            value = bounded(value + max(amount * difference for difference in ends))
    for (position, second), amount in absorbed.items():
        step = run.steps[position]
        if not _is_within(step.second if second else step.sample, amount, share):
            refuse(
                "flow-capacity",
                f"{where}: position {position} of the run absorbs or creates more than it can",
            )
        value = bounded(value + differences[position] * amount)
    return value


def _is_within(sample: Sample | None, amount: Fraction, share: Fraction) -> bool:
    """Whether a sample can absorb so much: ``amount * w`` is nowhere more than its distance ``w`` costs."""
    if sample is None or sample.noise is Noise.NONE:
        return True
    absorbs = amount if sample.noise is Noise.EXPONENTIAL else abs(amount)
    return absorbs <= share * sample.d


def _differences(model: Model, run: Run, inputs: Inputs, value: object, where: str) -> list[Fraction]:
    found = []
    for j, item in enumerate(items(value, where, len(run.steps))):
        difference = rational(item, f"{where}[{j}]")
        low, high = model.differences(run.steps[j], inputs)
        if not low <= difference <= high or (model.integer and difference.denominator != 1):
            refuse("difference", f"{where}[{j}] is not a possible one between {low} and {high}")
        found.append(difference)
    return found


def _flows(run: Run, value: object, where: str) -> list[Flow]:
    found = [_flow(run, item, f"{where}[{f}]") for f, item in enumerate(items(value, where))]
    if len({(flow.arc, flow.repeated) for flow in found}) < len(found):
        refuse("flow-edge", f"{where} has the same flow twice")
    return found


def _flow(run: Run, value: object, where: str) -> Flow:
    parts = members(value, where, ["from", "to", "amount"], ["repeated"])
    arc = _end(run, parts["from"], f"{where}.from"), _end(run, parts["to"], f"{where}.to")
    amount = rational(parts["amount"], f"{where}.amount")
    repeated = truth(parts.get("repeated", False), f"{where}.repeated")
    if amount <= 0:
        refuse("flow-amount", f"{where} is not positive")
    either = {arc, (arc[1].negative, arc[0].negative)}
    if either.isdisjoint(run.arcs):
        refuse("flow-edge", f"{where} is along nothing that the run compares or ties together")
    if repeated and either.isdisjoint(run.steady):
        refuse("flow-repeated", f"{where}: this flow is on no cycle")
    return Flow(arc, amount, repeated)


def _end(run: Run, value: object, where: str) -> End:
    """A position, also as text; ``"-2"`` is the negative of sample 2, ``"2'"`` its second sample."""
    if value == "ground":
        return GROUND
    if not isinstance(value, str):
        return End(number(value, where, "flow-edge", len(run.steps)))
    digits, second = value.removeprefix("-").removesuffix("'"), value.endswith("'")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 9:
        refuse("shape", f"{where} is {shown(value)}, which is no end of a flow")
    return End(number(int(digits), where, "flow-edge", len(run.steps)), second, value.startswith("-"))
