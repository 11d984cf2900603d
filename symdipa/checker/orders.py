"""Facts about the order of the stored samples and what a step does to them (theory, section 2)."""

from __future__ import annotations

from typing import NamedTuple

from symdipa.checker.model import Step

Pairs = frozenset[tuple[str, str]]


class Order(NamedTuple):
    """``(x, y)`` in ``less``: the sample in ``x`` is forced below that in ``y``; in ``same``: both are one.

    ``same`` has both ``(x, y)`` and ``(y, x)``; that a variable is the same as itself is not written down.
    """

    less: Pairs
    same: Pairs


NOTHING = Order(frozenset(), frozenset())


def after(order: Order, step: Step) -> Order | None:
    """What holds after the step; ``None`` if the guard contradicts what holds before it.

    Every fact of the result follows from the facts given. If these are all facts that a run forces, so is the
    result.
    """
    below = {x for x, y in order.less | order.same if y in step.ge} | step.ge
    above = {y for x, y in order.less | order.same if x in step.lt} | step.lt
    if below & above:
        return None
    new = step.assigned
    less = {(x, y) for x, y in order.less if x not in new and y not in new}
    less |= {(x, y) for x in below - new for y in above - new}
    less |= {(x, y) for x in below - new for y in new}
    less |= {(x, y) for x in new for y in above - new}
    same = {(x, y) for x, y in order.same if x not in new and y not in new}
    same |= {(x, y) for x in new for y in new if x != y}
    return Order(frozenset(less), frozenset(same))
