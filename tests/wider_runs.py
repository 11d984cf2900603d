"""Runs of any automata by brute force: what they ask of samples and shifts, and what they cost.

It reads the automaton, and shares nothing with the checker and the engines: samples are found by z3, costs by
trying all shifts by -1, 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import z3

from symdipa.model.automaton import Automaton, Noise, OutputKind, State, Term, Transition


class Number(NamedTuple):
    """A constant, plus or minus the sample of a position (``sign`` 0: none)."""

    sign: int
    sample: int
    plus: Fraction


@dataclass(frozen=True)
class Unrolled:
    """A run with its comparisons ``(low, high, strict)`` and ties of samples (a shown value is tied to 0)."""

    automaton: Automaton
    steps: tuple[Transition, ...]
    comparisons: tuple[tuple[Number, Number, bool], ...]
    ties: tuple[tuple[Number, Number], ...]

    def state(self, j: int) -> State:
        return self.automaton.state(self.steps[j].source)


def unrolled(automaton: Automaton, run: Sequence[int]) -> Unrolled:
    held: dict[str, Number] = {}
    steps = tuple(automaton.transitions[t] for t in run)
    comparisons, ties = [], []
    zero = Number(0, 0, Fraction(0))
    for j, step in enumerate(steps):
        own = Number(1, j, Fraction(0))
        before = held | {"insample": own}
        for each in step.guard.atoms:
            comparisons.append((number(each.low, before), number(each.high, before), each.strict))
        held |= {x: before[y] if isinstance(y, str) else Number(0, 0, y) for x, y in step.copies}
        held |= dict.fromkeys(step.assign, own)
        after = held | {"insample": own}
        for part in step.output.parts:
            if part.kind is OutputKind.INSAMPLE:
                ties.append((own, zero))
            elif part.kind is OutputKind.VALUE:
                ties.append((after[part.names[0]], zero))
            elif part.kind is OutputKind.DIFFERENCE:
                ties.append((after[part.names[0]], after[part.names[1]]))
    return Unrolled(automaton, steps, tuple(comparisons), tuple(ties))


def number(term: Term, held: dict[str, Number]) -> Number:
    if term.name is None:
        return Number(0, 0, term.offset)
    sign, sample, plus = held[term.name]
    way = -1 if term.mirrored else 1
    return Number(way * sign, sample, way * plus + term.offset)


def feasible(run: Unrolled) -> bool:
    """Whether samples satisfy the guards with positive probability, for some inputs."""
    integer = run.automaton.integer
    sample = [(z3.Int if integer else z3.Real)(f"z{j}") for j in range(len(run.steps))]
    solver = z3.Solver()
    noisy = [run.state(j).noise is not Noise.NONE and not integer for j in range(len(run.steps))]
    for low, high, strict in run.comparisons:
        if low.sign * (low.sample + 1) != high.sign * (high.sample + 1):
            strict = strict or any(end.sign and noisy[end.sample] for end in (low, high))
        left, right = (
            end.sign * sample[end.sample] + z3.Q(*end.plus.as_integer_ratio()) for end in (low, high)
        )
        solver.add(left < right if strict else left <= right)
    for j in range(len(run.steps)):
        state = run.state(j)
        if state.draws and not state.is_input and state.noise is not Noise.LAPLACE:
            mean = z3.Q(*state.mu.as_integer_ratio())
            solver.add(sample[j] >= mean if state.noise is Noise.EXPONENTIAL else sample[j] == mean)
    return solver.check() == z3.sat


INFINITE = float("inf")


def price(noise: Noise, d: Fraction | None, miss: Fraction) -> Fraction | float:
    """What it costs to miss a difference by so much (shift minus difference)."""
    if noise is Noise.NONE:
        return INFINITE if miss else Fraction(0)
    if noise is Noise.EXPONENTIAL and miss > 0:
        return INFINITE
    return (d or Fraction(0)) * abs(miss)


def shifts(run: Unrolled) -> Iterator[tuple[int, ...]]:
    """All shifts by -1, 0 and 1 that respect the run."""
    pairs = [(low, high) for low, high, _ in run.comparisons]
    pairs += [pair for one, other in run.ties for pair in ((one, other), (other, one))]
    asked: list[list[tuple[Number, Number]]] = [[] for _ in run.steps]
    for low, high in pairs:
        last = max((end.sample for end in (low, high) if end.sign), default=None)
        if last is not None:
            asked[last].append((low, high))

    def extend(chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(chosen) == len(run.steps):
            yield chosen
            return
        j = len(chosen)
        for shift in (-1, 0, 1) if run.state(j).draws else (0,):
            longer = (*chosen, shift)
            if all(
                low.sign * longer[low.sample] >= high.sign * longer[high.sample] for low, high in asked[j]
            ):
                yield from extend(longer)

    return extend(())


def released(run: Unrolled, differences: Sequence[Fraction | int]) -> Fraction | float:
    """What showing second samples costs."""
    total: Fraction | float = Fraction(0)
    for j, step in enumerate(run.steps):
        if step.output.shows_second:
            state = run.state(j)
            total += price(state.noise_prime, state.d_prime, Fraction(-differences[j]))
    return total


def cost(run: Unrolled, differences: Sequence[Fraction | int]) -> Fraction | float:
    """What the run costs for differences among -1, 0 and 1."""
    return released(run, differences) + least(run, list(shifts(run)), differences)


def least(
    run: Unrolled, candidates: list[tuple[int, ...]], differences: Sequence[Fraction | int]
) -> Fraction | float:
    drawn = [(j, run.state(j)) for j in range(len(run.steps)) if run.state(j).draws]
    return min(
        sum((price(s.noise, s.d, Fraction(shift[j] - differences[j])) for j, s in drawn), Fraction(0))
        for shift in candidates
    )


def dearest_differences(run: Unrolled) -> Fraction | float:
    """The cost for the worst differences of -1 and 1."""
    candidates = list(shifts(run))
    ends = [(-1, 1) if run.state(j).is_input else (0,) for j in range(len(run.steps))]
    return max(least(run, candidates, d) + released(run, d) for d in product(*ends))


def runs(automaton: Automaton, length: int) -> Iterator[tuple[int, ...]]:
    """All runs of at most this length, feasible or not."""
    work = [((), automaton.initial)]
    while work:
        run, state = work.pop()
        yield run
        if len(run) < length:
            leaving = automaton.outgoing[automaton.index[state]]
            work += [((*run, t), automaton.transitions[t].target) for t in leaving]


def dearest(automaton: Automaton, length: int) -> Fraction | float:
    found = (unrolled(automaton, run) for run in runs(automaton, length))
    return max(dearest_differences(run) for run in found if feasible(run))
