"""The order state: what the guards of a run force among the stored samples (Def. order state).

Variables are numbered; a set of variables is an ``int`` whose bit ``x`` says whether variable ``x`` is in
it. Everything is a pure function. This is the one definition of the update: the explicit engine and the
replay of witnesses call it, the symbolic update is tested against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

Mask = int


class Step(NamedTuple):
    """What a transition does to the order: sets of lower bounds, upper bounds and assigned variables.

    Variables of ``soft`` hold shifts instead of values (Def. soft order): what is known of them orders
    shifts, is never strict, contradicts nothing, and is never mixed with what is known of values.
    """

    ge: Mask
    lt: Mask
    asg: Mask
    soft: Mask = 0

    @property
    def used(self) -> Mask:
        return self.ge | self.lt

    @property
    def touched(self) -> Mask:
        """The variables that it uses or assigns."""
        return self.ge | self.lt | self.asg

    def restricted_to(self, variables: Mask) -> Step:
        """What is left of the step if there are no other variables; these keep their numbers."""
        return Step(self.ge & variables, self.lt & variables, self.asg & variables, self.soft & variables)


class OrderState(NamedTuple):
    """``lt[x]`` are the variables forced strictly above ``x``, ``eq[x]`` those that hold its sample.

    A *tracked* variable is in its own ``eq`` row; an untracked one (never assigned, or dead) has empty
    rows and is in no row. ``lt`` is transitively closed and respects ``eq``.
    """

    lt: tuple[Mask, ...]
    eq: tuple[Mask, ...]

    def up(self, x: int) -> Mask:
        """The variables at or above ``x``."""
        return self.lt[x] | self.eq[x]


def initial(variables: int) -> OrderState:
    """The order state before any step: nothing is tracked."""
    return OrderState((0,) * variables, (0,) * variables)


def members(mask: Mask) -> Iterator[int]:
    """The numbers in a set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def image(mask: Mask, sets: Sequence[Mask] | Mapping[int, Mask]) -> Mask:
    """The union of the sets that stand for the members of ``mask``."""
    result = 0
    while mask:
        low = mask & -mask
        result |= sets[low.bit_length() - 1]
        mask ^= low
    return result


def at_or_above(order: OrderState, mask: Mask) -> Mask:
    """The variables whose sample is forced at or above that of some variable of ``mask``."""
    result = 0
    while mask:
        low = mask & -mask
        x = low.bit_length() - 1
        result |= order.lt[x] | order.eq[x]
        mask ^= low
    return result


def at_or_below(order: OrderState, mask: Mask) -> Mask:
    """The variables whose sample is forced at or below that of some variable of ``mask``."""
    if not mask:
        return 0
    result = 0
    for x, (lt, eq) in enumerate(zip(order.lt, order.eq, strict=True)):
        if (lt | eq) & mask:
            result |= 1 << x
    return result


def bounds(order: OrderState, step: Step) -> tuple[Mask, Mask]:
    """``(below, above)``: the variables forced at or below, strictly above, the sample of ``step``."""
    return at_or_below(order, step.ge), at_or_above(order, step.lt)


def enabled(order: OrderState, step: Step) -> bool:
    """Whether the guard is consistent with the order: no upper bound at or below a lower bound."""
    return not at_or_above(order, step.lt) & step.ge & ~step.soft


def update(order: OrderState, step: Step, keep: Mask = -1) -> OrderState | None:
    """The order state after ``step``, or ``None`` if the step is not enabled.

    Only the variables of ``keep`` stay tracked; dropping a dead variable loses no fact about the others,
    because ``lt`` is closed.
    """
    below, above = bounds(order, step)
    return None if above & step.ge & ~step.soft else _after(order, step, keep, below, above)


def follow(order: OrderState, steps: Iterable[Step]) -> OrderState | None:
    """The order state after several steps, or ``None`` if one of them is not enabled."""
    for step in steps:
        following = update(order, step)
        if following is None:
            return None
        order = following
    return order


def propagate(order: OrderState, step: Step, keep: Mask = -1) -> OrderState:
    """The facts after ``step``, whether it is enabled or not.

    Monotone in ``order``, so that it also maps facts that *may* hold to all that may hold afterwards.
    """
    return _after(order, step, keep, *bounds(order, step))


def _after(order: OrderState, step: Step, keep: Mask, below: Mask, above: Mask) -> OrderState:
    if keep == -1 and not step.asg and not (below and above):
        return order  # nothing comes, nothing goes, nothing is learnt
    old = ~step.asg & keep
    fresh = step.asg & keep
    if step.soft:
        return _after_both(order, step.soft, old, fresh, below, above)
    over_sample = above & old
    lt, eq = [], []
    bit = 1
    for above_x, same_x in zip(order.lt, order.eq, strict=True):
        if bit & old:
            lt.append((above_x | above) & old | fresh if bit & below else above_x & old)
            eq.append(same_x & old)
        elif bit & fresh:
            lt.append(over_sample)
            eq.append(fresh)
        else:
            lt.append(0)
            eq.append(0)
        bit <<= 1
    return OrderState(tuple(lt), tuple(eq))


def _after_both(
    order: OrderState, soft: Mask, old: Mask, fresh: Mask, below: Mask, above: Mask
) -> OrderState:
    """The facts after a step where some variables are soft: facts join variables of one kind only."""
    lt, eq = [], []
    for x, (above_x, same_x) in enumerate(zip(order.lt, order.eq, strict=True)):
        kind = soft & ~(1 << x) if soft >> x & 1 else ~soft
        if old >> x & 1:
            lt.append((above_x | above & kind) & old | fresh & kind if below >> x & 1 else above_x & old)
            eq.append(same_x & old)
        elif fresh >> x & 1:
            lt.append(above & old & kind)
            eq.append(fresh & (kind | 1 << x))
        else:
            lt.append(0)
            eq.append(0)
    return OrderState(tuple(lt), tuple(eq))
