"""Which entries of two adjacent inputs differ as a run goes on, and by how much that moves means.

A step that reads an entry has a *letter*: ``=`` (the entry is equal in both inputs), ``-`` and ``+`` (it
differs by the least, by the largest difference), ``~`` (by any in between). It leads from one state of the
adjacency automaton to another one and, where the difference is one number, to known differences of the
registers that get the entry. A run has a difference for each entry, which are equal where it is 0.

Why not all letters are needed. What shifts cost, with the best of them, is convex in the differences of the
entries: a mean of two admissible families of shifts is admissible, and the cost of a sample is convex. The
differences of means are linear in those of entries. So ``-`` and ``+`` together do for ``~``. Let ``=`` and
``~`` lead to the same state: then ``=`` allows no more afterwards than they do, and 0 lies between the ends.
And ``=`` does for ``~`` if nothing of the run, as far as it is followed, depends on the entry: after ``=`` at
least as much is allowed as after ``~``, for an entry that may differ may be equal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from symdipa.checker.claims import Inputs
from symdipa.checker.graphs import Edge, Interval
from symdipa.checker.reading import number, rational, table
from symdipa.checker.rules import refuse, shown
from symdipa.checker.wider.model import Model, Step
from symdipa.checker.wider.runs import Run
from symdipa.model.automaton import Noise

EQUAL, ANY, LEAST, LARGEST = "=", "~", "-", "+"
LETTERS = ("", EQUAL, ANY, LEAST, LARGEST)
NOTHING = Fraction(0)


@dataclass(frozen=True)
class Apart:
    """How far two inputs went apart: the state of the adjacency automaton, and by how much registers differ,
    as far as that is known (the first input minus the second)."""

    state: int = 0
    registers: Mapping[str, Fraction] = field(default_factory=dict)


def apart_of(model: Model, node: dict[str, object], where: str) -> Apart:
    """What a node says about it."""
    state = number(node.get("differ", 0), f"{where}.differ", "base-differ", len(model.moves))
    known = table(node.get("registers", {}), f"{where}.registers")
    names = {r for step in model.steps for r in (*step.sums, *step.registers)}
    for r in known:
        if r not in names:
            refuse("base-node", f"{where} is about {shown(r)}, which is no register")
    return Apart(state, {r: rational(value, f"{where}.registers") for r, value in known.items()})


def entry(model: Model, step: Step, letter: str, inputs: Inputs) -> Interval:
    """The least and the largest difference of the entry of a step; 0 where none is read."""
    low, high = model.differences(step, inputs)
    return {ANY: (low, high), LEAST: (low, low), LARGEST: (high, high)}.get(letter, (NOTHING, NOTHING))


def means(step: Step, apart: Apart, read: Interval, where: str) -> Interval:
    """The least and the largest difference of the means of a step."""
    moved = NOTHING
    for r, factor in step.factors if step.uses_mean else ():
        if r not in apart.registers:
            refuse("base-register", f"{where} has {shown(r)} in a mean, whose difference is not known")
        moved += factor * apart.registers[r]
    return read[0] + moved, read[1] + moved


def means_of_step(model: Model, t: int, letter: str, apart: Apart, inputs: Inputs) -> Interval:
    """The same of a transition with a letter (which there is not, where every entry may differ)."""
    step = model.steps[t]
    read = entry(model, step, letter if model.unfolds else ANY, inputs)
    return means(step, apart, read, f"transition {t}{letter}")


def check_edge(model: Model, nodes: Sequence[Apart], edge: Edge, inputs: Inputs) -> None:
    """The letter is one of the step, and leads to what the target knows."""
    step, here, there = model.steps[edge.transition], nodes[edge.source], nodes[edge.target]
    where = f"base edge {edge.source}, transition {edge.transition}{edge.letter}, {edge.target}"
    if edge.letter not in ((EQUAL, ANY, LEAST, LARGEST) if step.reads_input else ("",)):
        refuse("base-differ", f"{where} has not a letter as its step has one")
    low, high = entry(model, step, edge.letter, inputs)
    if there.state != state_after(model, here.state, edge.letter):
        refuse("base-differ", f"{where} does not lead where its letter does")
    for r, difference in there.registers.items():
        if low != high and r in step.sums and step.sums[r].adds:
            refuse("base-register", f"{where}: {shown(r)} gets an entry that may differ by any number")
        if _after(step, r, here.registers, low) != difference:
            refuse("base-register", f"{where}: the difference of {shown(r)} does not follow")


def state_after(model: Model, state: int, letter: str) -> int | None:
    """Where a letter leads in the adjacency automaton."""
    if not letter:
        return state
    equal, other = model.moves[state]
    return equal if letter == EQUAL else other


def _after(step: Step, r: str, registers: Mapping[str, Fraction], read: Fraction) -> Fraction | None:
    """The difference of a register after a step that reads an entry with this difference, if it is known."""
    if r not in step.sums:
        return registers.get(r)
    source, adds = step.sums[r].source, step.sums[r].adds
    known = NOTHING if source is None else registers.get(source)
    return known if known is None or not adds else known + read


def known_after(
    step: Step, registers: Mapping[str, Fraction], read: Fraction, kept: Iterable[str]
) -> dict[str, Fraction]:
    """What is known of the differences of those registers that are kept."""
    found = {r: _after(step, r, registers, read) for r in kept}
    return {r: known for r, known in found.items() if known is not None}


def check_letters(model: Model, apart: Apart, t: int, targets: Mapping[str, Apart], where: str) -> None:
    """The letters with which edges leave a node by a transition are enough."""
    step = model.steps[t]
    if not step.reads_input:
        covered = "" in targets
    else:
        equal, other = model.moves[apart.state]
        either = ANY in targets or (LEAST in targets and LARGEST in targets)
        alike = EQUAL in targets and not _matters(step, targets[EQUAL].registers)
        covered = (EQUAL in targets or equal is None or equal == other) and (either or alike or other is None)
    if not covered:
        refuse("base-complete", f"{where} has no edge for transition {t}, or not for all that may differ")


def _matters(step: Step, known: Collection[str]) -> bool:
    """Whether something depends on the entry that a step reads, if of registers only these are followed."""
    return step.uses_mean or any(each.adds and r in known for r, each in step.sums.items())


# Runs


def means_of_run(model: Model, run: Run, entries: Sequence[Fraction], where: str) -> list[Fraction]:
    """The differences of the means of a run, from those of its entries; they are the same in each round."""
    found = []
    gone = [Apart()]
    for p, step in enumerate(run.steps):
        here, read = gone[p], entries[p]
        _, mean = means(step, here, (read, read), f"{where}: position {p}")
        found.append(mean)
        letter = "" if not step.reads_input else ANY if read else EQUAL
        if (state := state_after(model, here.state, letter)) is None:
            refuse("run-differ", f"{where}: the entry at position {p} may not be such a one")
        gone.append(Apart(state, known_after(step, here.registers, read, model.kept[step.target])))
    for i, j in run.cycles:
        if gone[i] != gone[j]:
            refuse("cycle-differ", f"{where}: after a round of {[i, j]} inputs are not apart as before it")
    return found


def check_free(run: Run, where: str) -> None:
    """Means around which samples lie closely may be any numbers, all of them together.

    That is so if each has an entry that those before it do not have: the one that its own step reads. It is
    also so if, as linear forms, those of each cycle are independent in the entries of one round, and those
    outside of cycles in the entries outside, of which alone they are made.
    """
    close = {p for p, step in enumerate(run.steps) if _is_close(step)}
    if all(run.steps[p].reads_input for p in close):
        return
    registers: dict[str, Form | None] = {}
    forms: list[Form] = []
    at = 0
    for i, j in [*sorted(run.cycles), (len(run.steps), len(run.steps))]:
        _check_stretch(run, range(at, i), close, registers, forms, where)
        inside: dict[str, Form | None] = {r: {} for r in registers}
        _check_stretch(run, range(i, j), close, inside, [], where)
        registers |= {r: None for p in range(i, j) for r in run.steps[p].sums}
        at = j


def _check_stretch(
    run: Run,
    stretch: range,
    close: set[int],
    registers: dict[str, Form | None],
    forms: list[Form],
    where: str,
) -> None:
    """Means of a part of a run are independent of each other, and of those with the given forms.

    ``registers`` are what they hold before it, and then after it; ``None``: more than is known.
    """
    for p in stretch:
        step = run.steps[p]
        own = {p: Fraction(1)} if step.reads_input else {}
        mean: Form | None = own
        for r, factor in step.factors:
            mean = _plus(mean, registers[r], factor)
        if p in close and (mean is None or not _independent(mean, forms)):
            refuse("run-means", f"{where}: the mean at position {p} may depend on others")
        registers |= {
            r: _plus(own if each.adds else {}, registers[each.source] if each.source else {}, Fraction(1))
            for r, each in step.sums.items()
        }


Form = dict[int, Fraction]
"""A sum of entries by their positions, with factors that are not 0."""


def _is_close(step: Step) -> bool:
    """Whether a sample that matters is drawn above its mean, or at it, and the mean depends on entries."""
    laplace = step.sample is None or step.sample.noise is Noise.LAPLACE
    return step.uses_sample and not laplace and (step.reads_input or bool(step.factors))


def _plus(one: Form | None, other: Form | None, factor: Fraction) -> Form | None:
    """The sum of a form and ``factor`` times another one, if both are known."""
    return None if one is None or other is None else _sum(one, other, factor)


def _sum(one: Form, other: Form, factor: Fraction) -> Form:
    found = {p: one.get(p, NOTHING) + factor * other.get(p, NOTHING) for p in one.keys() | other.keys()}
    return {p: number for p, number in found.items() if number}


def _independent(form: Form, forms: list[Form]) -> bool:
    """Whether a form is no sum of multiples of the others.

    Then it joins them. Each of them is without the first entries of those before it.
    """
    for other in forms:
        pivot = min(other)
        form = _sum(form, other, -form.get(pivot, NOTHING) / other[pivot])
    if form:
        forms.append(form)
    return bool(form)
