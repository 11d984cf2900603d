"""Near-optimal shifts by linear programming in floats: nothing of this is proved."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import inf
from sys import float_info
from typing import Any

from symdipa.bounds.alignment.program import ZERO, Constraints
from symdipa.bounds.costs import Paid, Rate, slope_cost
from symdipa.model.errors import Limit, LimitReached, OutOfTime
from symdipa.model.limits import UNLIMITED, Limits

MOST = float_info.max
"""The largest float that is not infinite."""

TOLERANCE = 1e-9
"""What the solver may take for satisfied; the least ``d`` is scaled to 1."""


def solve(
    constraints: Constraints, low: Fraction, high: Fraction, limits: Limits = UNLIMITED
) -> tuple[list[float], float] | None:
    """Near-optimal values of the unknowns, and the bound they seem to give; ``None`` if there are none.

    Where each unknown can have one value only, nothing is optimised, and the bound is infinite: what these
    values give is best. Nothing of this is proved. Raises :class:`LimitReached` if the solver gives up or the
    time is up.
    """
    rates = {rate for _, _, rate, _, _ in constraints.groups}
    scale = min((slope for rate in rates for slope in rate.slopes if slope), default=Fraction(1))
    scaled = {rate: _Scaled(rate, scale, low, high) for rate in rates}
    if any(inf in step.released for step in scaled.values()):
        return None
    ranges = _ranges(constraints, scaled, *constraints.shifts(low, high))
    if ranges is None:
        return None
    lower, upper = ranges
    binding = [(a, b) for a, b in sorted(constraints.at_most) if upper[a] > lower[b]]
    if lower == upper:
        return None if binding else (lower, inf)
    first = constraints.unknowns  # the potential of component c is column first + c
    rows = _Rows()
    for here, there, rate, floor, ceiling in constraints.groups:
        if here == there:
            continue
        step = scaled[rate]
        onward = [(first + there, 1.0), (first + here, -1.0)]
        rows.add(onward, -max(step.released))
        if 0 < step.below < inf:
            for c in ceiling:
                rows.add([*onward, (c, -step.below)], -step.below * step.most - step.released[1])
        if 0 < step.above < inf:
            for f in floor:
                rows.add([*onward, (f, step.above)], step.above * step.least - step.released[0])
    for a, b in binding:
        rows.add([(a, 1.0), (b, -1.0)], 0.0)
    goal = first + constraints.initial
    lower += [0.0] * constraints.components
    upper += [inf] * constraints.components
    solution = rows.minimise(goal, lower, upper, limits)
    if solution is None:
        return None
    return solution[:first], solution[goal] * float(scale)


class _Scaled:
    """A rate in floats: slopes, and for the least and largest difference what the second sample costs."""

    def __init__(self, rate: Rate, scale: Fraction, low: Fraction, high: Fraction) -> None:
        self.above, self.below = (_scaled(slope, scale) for slope in rate.slopes)
        least, most = rate.differences(low, high)
        self.released = [_scaled(slope_cost(rate.release, -end), scale) for end in (least, most)]
        self.least, self.most = float(least), float(most)


def _scaled(paid: Paid, scale: Fraction) -> float:
    return inf if paid is None else float(paid / scale)


def _ranges(
    constraints: Constraints, scaled: Mapping[Rate, _Scaled], low: Fraction, high: Fraction
) -> tuple[list[float], list[float]] | None:
    """The least and the largest values of the unknowns: no loop costs, and no step infinitely much."""
    lower, upper = [float(low)] * constraints.unknowns, [float(high)] * constraints.unknowns
    lower[ZERO] = upper[ZERO] = 0.0
    for here, there, rate, floor, ceiling in constraints.groups:
        step, free = scaled[rate], 0.0 if here == there else MOST
        if here == there and any(step.released):
            return None
        if step.above > free:
            for f in floor:
                upper[f] = min(upper[f], step.least)
        if step.below > free:
            for c in ceiling:
                lower[c] = max(lower[c], step.most)
    return None if any(a > b for a, b in zip(lower, upper, strict=True)) else (lower, upper)


class _Rows:
    """Rows ``sum of coefficient * column <= bound`` of a sparse linear program."""

    def __init__(self) -> None:
        self.starts = [0]
        self.columns: list[int] = []
        self.coefficients: list[float] = []
        self.bounds: list[float] = []

    def add(self, terms: list[tuple[int, float]], bound: float) -> None:
        for column, coefficient in terms:
            self.columns.append(column)
            self.coefficients.append(coefficient)
        self.starts.append(len(self.columns))
        self.bounds.append(bound)

    def minimise(
        self, goal: int, lower: list[float], upper: list[float], limits: Limits
    ) -> list[float] | None:
        """The values of the columns that make column ``goal`` least; ``None`` if there are none."""
        import highspy

        class Silent(highspy.Highs):  # type: ignore[misc]
            def enableCallbacks(self) -> None:
                """None are needed, and enabling them writes a banner to the standard output."""

        limits.check(f"alignment, linear program with {len(self.bounds)} rows")
        solver = Silent()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        solver.setOptionValue("primal_feasibility_tolerance", TOLERANCE)
        solver.setOptionValue("dual_feasibility_tolerance", TOLERANCE)
        if (seconds := limits.left()) is not None:
            solver.setOptionValue("time_limit", seconds)
        solver.passModel(self._model(goal, lower, upper))
        solver.run()
        status = solver.getModelStatus()
        if (
            status == highspy.HighsModelStatus.kNotset
        ):  # other code in this process has asked for more threads
            highspy.Highs.resetGlobalScheduler(True)
            solver.run()
            status = solver.getModelStatus()
        if status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible):
            return None
        if status != highspy.HighsModelStatus.kOptimal:
            reason = f"the linear program was not solved ({solver.modelStatusToString(status).lower()})"
            if status == highspy.HighsModelStatus.kTimeLimit:
                raise OutOfTime(reason=reason)
            raise LimitReached(Limit.SOLVER, reason)
        return [float(value) for value in solver.getSolution().col_value]

    def _model(self, goal: int, lower: list[float], upper: list[float]) -> Any:
        """The linear program as the solver takes it."""
        import highspy
        import numpy as np

        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = len(lower), len(self.bounds)
        objective = np.zeros(len(lower))
        objective[goal] = 1.0
        model.col_cost_ = objective
        model.col_lower_ = np.array(lower)
        model.col_upper_ = np.array(upper)
        model.row_lower_ = np.full(len(self.bounds), -highspy.kHighsInf)
        model.row_upper_ = np.array(self.bounds)
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = np.array(self.starts)
        model.a_matrix_.index_ = np.array(self.columns)
        model.a_matrix_.value_ = np.array(self.coefficients)
        return model
