"""May and must facts per control state: polynomial, no solver (a cheap over- and under-approximation).

The order-state update is the transfer function of both: it is monotone, so it maps facts that *may* hold
(union over paths) and facts that *must* hold (intersection) to facts of the same kind. A must-fact that
contradicts a guard shows that a transition can never be taken.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import and_, or_
from typing import NamedTuple, TypeVar

from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.patterns import Pattern
from symdipa.runs.control import Control
from symdipa.runs.control.chains import Chain, chains_of
from symdipa.runs.control.cycles import repeatable
from symdipa.runs.graphs import component_numbers, loops_of
from symdipa.runs.marks import Marks, advance
from symdipa.runs.order import Mask, OrderState, Step, enabled, initial, propagate

T = TypeVar("T")


def fixed_point(
    control: Control,
    start: T,
    after: Callable[[int, T], T | None],
    join: Callable[[T, T], T],
    limits: Limits = UNLIMITED,
) -> list[T | None]:
    """What arrives in each control state, by a work list: the least solution of a forward dataflow problem.

    ``start`` holds initially, ``after(t, value)`` follows from ``value`` before transition ``t`` (``None``
    if it cannot be taken), ``join`` unites what arrives by two paths. ``None`` stays where nothing arrives.
    Raises :class:`symdipa.model.errors.OutOfTime`.
    """
    values: list[T | None] = [None] * control.states
    values[control.initial] = start
    work = deque([control.initial])
    waiting = {control.initial}
    while work:
        limits.check("dataflow")
        q = work.popleft()
        waiting.discard(q)
        before = values[q]
        assert before is not None
        for t in control.outgoing[q]:
            arriving = after(t, before)
            if arriving is None:
                continue
            p = control.target[t]
            known = values[p]
            joined = arriving if known is None else join(known, arriving)
            if joined != known:
                values[p] = joined
                if p not in waiting:
                    waiting.add(p)
                    work.append(p)
    return values


@dataclass(frozen=True, eq=False)
class OrderFacts:
    """What the order state may and must be in every control state.

    Variables ``control.variables`` and up are ghosts: each may be assigned at any step and is never dead.
    ``may[q]`` is a superset of every reachable order state at ``q``, ``must[q]`` a subset of every one; both
    are ``None`` where no run arrives. ``possible[t]`` is false for transitions that no run takes.
    ``tracked(q)`` are the variables kept at ``q``. Trivial facts prove nothing: they are not ``precise``.
    """

    control: Control
    ghosts: int
    may: tuple[OrderState | None, ...]
    must: tuple[OrderState | None, ...]
    possible: tuple[bool, ...]
    precise: bool = True

    @property
    def ghost_mask(self) -> Mask:
        return ((1 << self.ghosts) - 1) << self.control.variables

    @cached_property
    def marks(self) -> dict[Chain, MarkFacts]:
        """The may-marks found so far (:func:`mark_facts`)."""
        return {}

    def tracked(self, q: int) -> Mask:
        return self.control.live[q] | self.ghost_mask

    @cached_property
    def component(self) -> tuple[int, ...]:
        """Strongly connected components of the control graph without impossible transitions."""
        control = self.control
        edges = [
            (control.source[t], control.target[t]) for t, possible in enumerate(self.possible) if possible
        ]
        return component_numbers(control.states, edges)

    @cached_property
    def cyclic(self) -> tuple[bool, ...]:
        """Whether transition ``t`` is possible and inside a component."""
        source, target, cyclic = self.control.source, self.control.target, self.control.cyclic
        return tuple(
            possible and cyclic[t] and self.component[source[t]] == self.component[target[t]]
            for t, possible in enumerate(self.possible)
        )

    @cached_property
    def loops(self) -> dict[int, tuple[int, ...]]:
        """The possible transitions inside each component that has any, by component."""
        return loops_of(self.component, self.control.source, self.cyclic)

    @cached_property
    def repeatable(self) -> frozenset[int]:
        """The transitions that may lie on a non-leaking cycle (Thm. repeatable).

        If facts are not precise, all that lie inside components.
        """
        if not self.precise:
            return frozenset(t for t, cyclic in enumerate(self.cyclic) if cyclic)
        control = self.control
        return repeatable(control.steps, control.source, control.target, self.loops.values())


class _Both(NamedTuple):
    may: OrderState
    must: OrderState

    def after(self, step: Step, keep: Mask) -> _Both:
        may = propagate(self.may, step, keep)
        return _Both(may, may if self.must == self.may else propagate(self.must, step, keep))

    def join(self, other: _Both) -> _Both:
        may = OrderState(*(tuple(map(or_, a, b)) for a, b in zip(self.may, other.may, strict=True)))
        must = OrderState(*(tuple(map(and_, a, b)) for a, b in zip(self.must, other.must, strict=True)))
        return _Both(may, must)


def order_facts(
    control: Control, ghosts: int = 0, *, precise: bool = True, limits: Limits = UNLIMITED
) -> OrderFacts:
    """The least may-facts and greatest must-facts, by a work list over control states.

    Without ``precise`` the facts are trivial: anything may hold among live variables, nothing must. What
    is built on them relies on the definitions alone. Raises :class:`symdipa.model.errors.OutOfTime`.
    """
    size = control.variables + ghosts
    if not precise:
        return _trivial_facts(control, ghosts)
    ghost_mask = ((1 << ghosts) - 1) << control.variables
    choices = [choice << control.variables for choice in range(1 << ghosts)]
    watched = ghost_mask if control.soft else 0  # ghosts watch shifts

    def after(t: int, before: _Both) -> _Both | None:
        step, keep = control.steps[t], control.live[control.target[t]] | ghost_mask
        if not enabled(before.must, step):
            return None
        if not ghosts:
            return before.after(step, keep)
        variants = (Step(step.ge, step.lt, step.asg | choice, step.soft | watched) for choice in choices)
        return reduce(_Both.join, (before.after(variant, keep) for variant in variants))

    nothing = initial(size)
    found = fixed_point(control, _Both(nothing, nothing), after, _Both.join, limits)
    may = tuple(both and both.may for both in found)
    must = tuple(both and both.must for both in found)
    possible = []
    for t, step in enumerate(control.steps):
        before = must[control.source[t]]
        possible.append(before is not None and enabled(before, step))
    return OrderFacts(control, ghosts, may, must, tuple(possible))


def _trivial_facts(control: Control, ghosts: int) -> OrderFacts:
    size = control.variables + ghosts
    ghost_mask = ((1 << ghosts) - 1) << control.variables
    may = []
    for live in control.live:
        kept = live | ghost_mask
        soft = control.soft and control.soft | ghost_mask
        eq = tuple(kept & (soft if soft >> x & 1 else ~soft) if kept >> x & 1 else 0 for x in range(size))
        lt = tuple(row & ~(1 << x) for x, row in enumerate(eq))
        may.append(OrderState(lt, eq))
    must = [initial(size)] * control.states
    return OrderFacts(control, ghosts, tuple(may), tuple(must), (True,) * len(control.steps), precise=False)


@dataclass(frozen=True, eq=False)
class MarkFacts:
    """Which variables may carry marks in each control state, for one kind of chain.

    ``hit_at`` says whether some value may have carried both marks on the way to a control state; if that is
    so nowhere, there is no such chain.
    """

    chain: Chain
    up: tuple[Mask, ...]
    down: tuple[Mask, ...]
    hit_at: tuple[bool, ...]

    @property
    def hit(self) -> bool:
        """Whether some value may come to carry both marks."""
        return any(self.hit_at)


def mark_facts(facts: OrderFacts, chain: Chain, limits: Limits = UNLIMITED) -> MarkFacts:
    """May-marks on top of the may-order; all that may lie on a non-leaking cycle counts as repeated.

    They are found once for each kind of chain. Raises :class:`symdipa.model.errors.OutOfTime`.
    """
    known = facts.marks.get(chain)
    if known is None:
        known = facts.marks[chain] = _find_marks(facts, chain, limits)
    return known


def _find_marks(facts: OrderFacts, chain: Chain, limits: Limits) -> MarkFacts:
    control = facts.control
    if not facts.precise:
        marked = tuple(live & (control.soft or -1) for live in control.live)
        return MarkFacts(chain, marked, marked, (True,) * control.states)
    roles = chain.all_roles(control)

    def after(t: int, before: Marks) -> Marks | None:
        order = facts.may[control.source[t]]
        if order is None or not facts.possible[t]:
            return None
        return advance(
            order,
            before,
            control.shifting(t),
            roles[t],
            repeats=t in facts.repeatable,
            keep=control.live[control.target[t]],
            own=chain.own(control, control.source[t]),
        )

    def join(a: Marks, b: Marks) -> Marks:
        return Marks(a.up | b.up, a.down | b.down, a.hit or b.hit)

    found = (marks or Marks() for marks in fixed_point(control, Marks(), after, join, limits))
    up, down, hit = zip(*found, strict=True)
    return MarkFacts(chain, up, down, hit)


def may_have_leaking_cycle(facts: OrderFacts) -> bool:
    """Whether some control component assigns and uses one variable (otherwise there is no leaking cycle)."""
    return not facts.precise or any(map(facts.control.conflicts, facts.loops.values()))


def may_have_disclosing_cycle(facts: OrderFacts) -> bool:
    """Whether an input transition with a real output may lie on a non-leaking cycle."""
    sampling = facts.control.sampling
    return not facts.precise or any(sampling[t].discloses for t in facts.repeatable)


def may_have_chain(facts: OrderFacts, chain: Chain, limits: Limits = UNLIMITED) -> bool:
    """Whether a chain of this kind is not excluded by the may-marks."""
    return mark_facts(facts, chain, limits).hit


def graph_allows(pattern: Pattern, control: Control) -> bool:
    """Whether the control graph leaves open that the automaton shows the pattern, whatever the orders are."""
    if pattern is Pattern.LEAKING_CYCLE:
        return any(map(control.conflicts, control.loops.values()))
    if pattern is Pattern.DISCLOSING_CYCLE:
        return any(control.sampling[t].discloses for t in control.repeatable)
    return any(_ends_exist(chain, control, control.repeatable) for chain in chains_of(pattern, control))


def _ends_exist(chain: Chain, control: Control, repeated: frozenset[int]) -> bool:
    """Whether some samples can be the low end of a chain, and some the high end."""
    roles = chain.all_roles(control)
    low = any(role.low for role in roles)
    low = low or any(roles[t].low_repeated and control.shifting(t).lt for t in repeated)
    high = any(role.high for role in roles)
    return low and (high or any(roles[t].high_repeated and control.shifting(t).ge for t in repeated))


def may_be_present(pattern: Pattern, facts: OrderFacts, limits: Limits = UNLIMITED) -> bool:
    """Whether the dataflow leaves open that the automaton shows the pattern."""
    if pattern is Pattern.LEAKING_CYCLE:
        return may_have_leaking_cycle(facts)
    if pattern is Pattern.DISCLOSING_CYCLE:
        return may_have_disclosing_cycle(facts)
    return any(may_have_chain(facts, chain, limits) for chain in chains_of(pattern, facts.control))
