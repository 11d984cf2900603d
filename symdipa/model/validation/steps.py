"""Rules about what a step stores and shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from symdipa.model.parts import (
    BEYOND,
    SECOND_SAMPLE,
    AutomatonParts,
    Output,
    OutputKind,
    computable,
)
from symdipa.model.validation.places import Finding, Place, arrow


def assignment(automaton: AutomatonParts) -> Iterator[Finding]:
    """A step stores one value in a variable, and another one than it has."""
    for i, transition in enumerate(automaton.transitions):
        if not transition.copies:
            continue
        times = Counter([*transition.assign, *(x for x, _ in transition.copies)])
        for name in sorted(name for name, count in times.items() if count > 1):
            values = " and ".join(value for x, value in transition.stores if x == name)
            place = Place("transition", i, "assign")
            yield place, f"{arrow(transition)} assigns {name} twice, {values}; keep one of them"
        for name, value in transition.copies:
            place = Place("transition", i, "assign", str(value))
            if value == name:
                yield place, f"{name} := {name} of {arrow(transition)} changes nothing; leave it out"
            elif not isinstance(value, str | Fraction):
                message = f"{arrow(transition)} stores {value!r} of type {type(value).__name__} in {name}"
                yield place, f"{message}; constants are exact: give a fractions.Fraction"
            elif isinstance(value, Fraction) and not computable(value):
                yield place, f"the constant that {arrow(transition)} stores in {name} {BEYOND}"


def output(automaton: AutomatonParts) -> Iterator[Finding]:
    """A list has two or more items; a difference is one of two different numbers, and not of the second
    sample."""
    for i, transition in enumerate(automaton.transitions):
        shown = transition.output
        if not shown.names and shown.kind is not OutputKind.SEVERAL:
            continue
        place = Place("transition", i, "output")
        if shown.kind is OutputKind.SEVERAL and len(shown.items) < 2:
            remedy = "output the item itself" if shown.items else "output for instance a symbol"
            yield place, f"{arrow(transition)} outputs a list of {len(shown.items)}; {remedy}"
        for part in shown.parts:
            if part.kind is OutputKind.DIFFERENCE and (fault := _difference(part)):
                place = Place("transition", i, "output", part.names[0])
                yield place, f"{arrow(transition)} outputs {part}, {fault}"


def _difference(part: Output) -> str:
    """What is wrong with a difference, if anything is."""
    minuend, subtrahend = part.names
    if minuend == subtrahend:
        return "which is always 0; leave it out, or subtract something else"
    if SECOND_SAMPLE in part.names:
        one_by_one = f"output {', '.join(part.names)}"
        return f"and differences with insampleprime are not followed: show them one by one ({one_by_one})"
    return ""
