"""Runs on which samples without two-sided noise share entries: whether they are possible, by a solver.

Such a sample lies at its mean, or above it, and the means of several are sums of the same entries. That is
no system of differences any more; it is one of linear inequalities.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symdipa.model.errors import Limit, LimitReached
from symdipa.model.parts import Noise

if TYPE_CHECKING:
    from symdipa.runs.numbers.system import System, Value

EFFORT = 5_000_000
"""How much the solver may do, in its own units: a few seconds."""


def solved(
    system: System, margin: Fraction = Fraction(0)
) -> tuple[tuple[Fraction, ...], dict[int, Fraction]] | None:
    """Values of the samples, and of the entries by their steps, with which the run is taken; ``None`` if
    there are none. Comparisons with noise hold by more than ``margin``, over the integers by as much.

    Raises :class:`~symdipa.model.errors.LimitReached` where the solver does not find out, which is about
    integers without bounds.
    """
    import z3

    make = z3.Int if system.integer else z3.Real
    samples = [make(f"sample{i}") for i in range(len(system.samples))]
    entries = {step: make(f"entry{step}") for sample in system.samples for step, _ in sample.entries}
    number = _number(z3, system.integer)

    def term(value: Value) -> Any:
        if value.sample is None:
            return number(value.offset)
        return (-samples[value.sample] if value.mirrored else samples[value.sample]) + number(value.offset)

    solver = z3.Solver()
    for c in system.comparisons:
        ends = [system.samples[v.sample] for v in (c.low, c.high) if v.sample is not None]
        noisy = any(sample.noise is not Noise.NONE for sample in ends)
        low, high = term(c.low) + number(margin if noisy else Fraction(0)), term(c.high)
        solver.add(low < high if c.strict or (noisy and not system.integer) else low <= high)
    for own, sample in zip(samples, system.samples, strict=True):
        if sample.noise is Noise.LAPLACE:
            continue
        mean = number(sample.mean)
        for step, factor in sample.entries:
            mean = mean + number(factor) * entries[step]
        if sample.noise is Noise.NONE:
            solver.add(own == mean)
        else:
            solver.add(own >= mean if system.integer else own > mean)
    solver.set("rlimit", EFFORT)
    answer = solver.check()
    if answer == z3.unknown:
        raise LimitReached(Limit.SOLVER, "whether integers can be such sums was not found out")
    if answer == z3.unsat:
        return None
    model = solver.model()

    def value(of: Any) -> Fraction:
        found = model.eval(of, model_completion=True)
        if system.integer:
            return Fraction(found.as_long())
        return Fraction(found.numerator_as_long(), found.denominator_as_long())

    return tuple(map(value, samples)), {step: value(entry) for step, entry in entries.items()}


def _number(z3: Any, integer: bool) -> Any:
    """A number as the solver takes it; fractions of integers are exact reals."""

    def number(x: Fraction) -> Any:
        return z3.IntVal(int(x)) if integer and x.denominator == 1 else z3.Q(x.numerator, x.denominator)

    return number
