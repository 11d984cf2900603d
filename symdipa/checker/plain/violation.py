"""Violations: a run, its cycles and path, held against the definitions (docs/theory.md, section 3)."""

from __future__ import annotations

from itertools import pairwise

from symdipa.checker.claims import Claim
from symdipa.checker.model import Model
from symdipa.checker.plain.alike import Cycle
from symdipa.checker.plain.runs import (
    NOTHING,
    Order,
    Run,
    after,
    check_non_leaking,
    conflicts,
    cycles_of,
    is_distinct,
    run_of,
)
from symdipa.checker.reading import items, members, number, numbers, text
from symdipa.checker.rules import refuse, shown

MAX_WALK = 1_000_000
"""The most steps that the rounds of a leaking cycle may have in all."""

PATTERNS = ("leaking-cycle", "leaking-pair", "disclosing-cycle", "privacy-violating-path")


def check_violation(model: Model, certificate: dict[str, object], where: str) -> Claim:
    pattern = text(certificate.get("pattern"), f"{where}.pattern")
    extra = {"leaking-cycle": ["rounds"], "disclosing-cycle": []}.get(pattern, ["path"])
    if pattern not in PATTERNS:
        refuse("violation-pattern", f"{where} has the unknown pattern {shown(pattern)}")
    members(certificate, where, ["kind", "pattern", "run", "cycles", *extra])
    run = run_of(model, certificate["run"], f"{where}.run")
    cycles = cycles_of(run.steps, certificate["cycles"], f"{where}.cycles")
    wanted = 2 if pattern == "leaking-pair" else 1
    if len(cycles) != wanted:
        refuse("violation-cycles", f"{where} has {len(cycles)} cycles, not {wanted}")
    if pattern == "leaking-cycle":
        _check_leaking(run, cycles[0], certificate["rounds"], where)
    else:
        for cycle in cycles:
            check_non_leaking(run, cycle, where)
        if pattern == "disclosing-cycle":
            _check_disclosing(run, cycles[0], where)
        else:
            path = _path(run, certificate["path"], f"{where}.path")
            (_check_pair if pattern == "leaking-pair" else _check_violating)(run, cycles, path, where)
    return Claim("violation", pattern=pattern, distinct=is_distinct(model, [run], cycles))


def _check_leaking(run: Run, cycle: Cycle, value: object, where: str) -> None:
    """The order state after ``first`` rounds is that after ``second`` rounds: all rounds are feasible."""
    _check_last(run, cycle, where)
    if not conflicts(run, cycle):
        refuse("leaking-cycle", f"{where}: the cycle assigns nothing that it uses")
    limit = MAX_WALK // (cycle[1] - cycle[0])
    first, second = numbers(value, f"{where}.rounds", "leaking-rounds", (limit, limit))
    if first >= second:
        refuse("leaking-rounds", f"{where}.rounds: the second number is not the larger one")
    order = _walk(run, (0, cycle[0]), NOTHING, where)
    known = order
    for done in range(1, second + 1):
        order = _walk(run, cycle, order, where)
        known = order if done == first else known
    if order != known:
        refuse("leaking-rounds", f"{where}: the order after {second} rounds is not that after {first}")


def _walk(run: Run, part: Cycle, order: Order, where: str) -> Order:
    for i in range(*part):
        following = after(order, run.steps[i])
        if following is None:
            refuse("leaking-rounds", f"{where}: a round of the cycle is not feasible")
        order = following
    return order


def _check_disclosing(run: Run, cycle: Cycle, where: str) -> None:
    _check_last(run, cycle, where)
    if not any(step.reads_input and step.shows is None for step in run.steps[slice(*cycle)]):
        refuse("disclosing-output", f"{where}: no input transition of the cycle outputs a real value")


def _check_last(run: Run, cycle: Cycle, where: str) -> None:
    if cycle[1] != len(run.steps):
        refuse("violation-cycles", f"{where}: the run does not end with its cycle")


def _path(run: Run, value: object, where: str) -> tuple[int, ...]:
    path = tuple(
        number(item, f"{where}[{k}]", "path-edge", len(run.steps))
        for k, item in enumerate(items(value, where))
    )
    if len(path) < 2:
        refuse("path-edge", f"{where} has no edge")
    for edge in pairwise(path):
        if edge not in run.edges:
            refuse("path-edge", f"{where}: no edge leads from position {edge[0]} to {edge[1]}")
    return path


def _leaves(cycle: Cycle, path: tuple[int, ...]) -> bool:
    """Whether the path leaves the cycle to an earlier position."""
    return path[0] in range(*cycle) and path[1] < path[0]


def _enters(cycle: Cycle, path: tuple[int, ...]) -> bool:
    """Whether the path enters the cycle from an earlier position."""
    return path[-1] in range(*cycle) and path[-2] < path[-1]


def _check_pair(run: Run, cycles: tuple[Cycle, ...], path: tuple[int, ...], where: str) -> None:
    if not _leaves(cycles[0], path):
        refuse("path-ends", f"{where}: the path does not leave its first cycle to an earlier position")
    if not _enters(cycles[1], path):
        refuse("path-ends", f"{where}: the path does not enter its second cycle from an earlier position")


def _check_violating(run: Run, cycles: tuple[Cycle, ...], path: tuple[int, ...], where: str) -> None:
    shown_below = run.steps[path[0]].shows_sample and _enters(cycles[0], path)
    shown_above = run.steps[path[-1]].shows_sample and _leaves(cycles[0], path)
    if not (shown_below or shown_above):
        refuse("path-ends", f"{where}: the path does not join a shown sample and the cycle")
