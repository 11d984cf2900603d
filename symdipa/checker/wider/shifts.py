"""Shifts of samples and of stored values, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from symdipa.checker.graphs import Edge, Interval, Lift, check_kept, check_passed_on, named
from symdipa.checker.rules import refuse, shown
from symdipa.checker.wider.model import Sample, Step
from symdipa.checker.wider.order import Order, Place
from symdipa.model.automaton import Noise

POINT = (Fraction(0), Fraction(0))


def check_integers(lift: Lift, where: str) -> None:
    """Shifts of integers are integers."""
    for intervals in (lift.everywhere, *(node.own for node in lift.nodes)):
        for x, found in intervals.items():
            if found is not None and any(end.denominator != 1 for end in found):
                refuse("lift-integer", f"{where}.lift has shifts of {shown(x)} that are no integers")


def check_stored(lift: Lift, step: Step, edge: Edge) -> None:
    """What is kept or copied has its shifts in the interval of its new place; constants have the shift 0."""
    check_kept(lift, step.assigned, edge)
    for x, value in step.gets.items():
        if not value.place.is_sample:
            check_passed_on(_shifts(lift, edge.source, value.place), lift.interval(edge.target, x), x, edge)


def _shifts(lift: Lift, node: int, place: Place) -> Interval | None:
    """The shifts that a place other than the sample may have in the node."""
    if place.name is None:
        return POINT
    found = lift.interval(node, place.name)
    return (-found[1], -found[0]) if found is not None and place.mirrored else found


@dataclass
class Range:
    """What the shift of a sample must be at least and at most; ``left`` are the pairs that are asked about
    variables of other parts."""

    floors: list[Fraction] = field(default_factory=list)
    ceilings: list[Fraction] = field(default_factory=list)
    left: set[tuple[Place, Place]] = field(default_factory=set)

    def add(self, other: Range) -> None:
        """That what another one asks holds as well."""
        self.floors += other.floors
        self.ceilings += other.ceilings
        self.left |= other.left

    def agrees(self, other: Range) -> bool:
        """Whether no floor is above a ceiling of the other one."""
        return not (self.floors and other.ceilings) or max(self.floors) <= min(other.ceilings)


def range_of(lift: Lift, order: Order, step: Step, edge: Edge) -> Range:
    """What an edge asks of the shift of the sample; refused if nothing does it.

    Where the facts say that something is asked for already, nothing is.
    """
    source, target = edge.source, edge.target
    found = Range()
    floors, ceilings = found.floors, found.ceilings
    for low, high in step.asked:
        if order.bound(low, high) is not None:
            continue
        names = {place.name for place in (low, high) if place.name is not None and not place.is_sample}
        if not names <= lift.variables:
            found.left.add((low, high))
            continue
        if low.is_sample and high.is_sample:  # one of them is the negative
            (ceilings if low.mirrored else floors).append(Fraction(0))
        elif low.is_sample:
            most = _read(lift, source, high, edge)[1]
            if low.mirrored:
                ceilings.append(-most)
            else:
                floors.append(most)
        elif high.is_sample:
            least = _read(lift, source, low, edge)[0]
            if high.mirrored:
                floors.append(-least)
            else:
                ceilings.append(least)
        elif _read(lift, source, low, edge)[0] < _read(lift, source, high, edge)[1]:
            refuse("lift-order", f"{named(edge)}: a value may be shifted less than another one asks for")
    for x, value in step.gets.items():
        stored = lift.interval(target, x)
        if value.place.is_sample and stored is not None:
            floors.append(stored[0])
            ceilings.append(stored[1])
    if not found.agrees(found):
        refuse("lift-sample", f"{named(edge)}: no shift of the sample fits")
    return found


def _read(lift: Lift, node: int, place: Place, edge: Edge) -> Interval:
    found = _shifts(lift, node, place)
    if found is None:
        refuse("lift-read", f"{named(edge)} reads {shown(place.name)}, which has no interval")
    return found


def cost_of(step: Step, difference: Fraction, asked: Range) -> Fraction:
    """What the best shifts of the samples of a step cost, the second of which is shown.

    It is convex in the difference, so one of the extreme differences is the worst.
    """
    zero = [Fraction(0)]
    return _cost(step.sample, difference, asked.floors, asked.ceilings) + _cost(
        step.second, difference, zero, zero
    )


def _cost(
    sample: Sample | None, difference: Fraction, floors: list[Fraction], ceilings: list[Fraction]
) -> Fraction:
    """What the best shift of a sample costs; refused where none has a finite cost."""
    if sample is None:
        return Fraction(0)
    short = max([Fraction(0), *(floor - difference for floor in floors)])
    far = max([Fraction(0), *(difference - ceiling for ceiling in ceilings)])
    if (sample.noise is not Noise.LAPLACE and short) or (sample.noise is Noise.NONE and far):
        refuse("lift-noise", f"no shift of a sample with {sample.noise.value} noise has a finite cost")
    return sample.d * max(short, far)
