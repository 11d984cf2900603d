"""The counting bound: what a run costs if no sample is shifted (Thm. counting).

To shift nothing is always admissible, and then each sample costs its difference times its slope. Where few
entries differ, and sums of them are shown few times, that has a bound, which takes no longer to find than a
longest path.
"""

from __future__ import annotations

from fractions import Fraction

from symdipa.bounds.costs import NOUGHT, rates
from symdipa.model.adjacency import Interval
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.control import Control


def counting_bound(control: Control, interval: Interval, limits: Limits = UNLIMITED) -> Fraction | None:
    """The most that a path through the control graph costs unshifted, for entries that differ so.

    ``None`` if a loop costs something, or a step infinitely much. Raises
    :class:`symdipa.model.errors.OutOfTime`.
    """
    paid = rates(control)
    prices = {rate: rate.worst([NOUGHT], [NOUGHT], *interval) for rate in set(paid)}
    leaving: list[list[tuple[int, Fraction]]] = [[] for _ in range(max(control.component) + 1)]
    for t, rate in enumerate(paid):
        price = prices[rate]
        if price is None or (control.cyclic[t] and any(price)):
            return None
        here, there = control.component[control.source[t]], control.component[control.target[t]]
        if here != there:
            leaving[here].append((there, sum(price, NOUGHT)))
    most: list[Fraction] = []
    for ways in leaving:  # which lead to components with smaller numbers
        limits.check("the counting bound")
        most.append(max((price + most[there] for there, price in ways), default=NOUGHT))
    return most[control.component[control.initial]]
