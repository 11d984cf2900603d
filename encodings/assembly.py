"""Putting a system together from its parts: order, monitor, and what the pattern adds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from symdipa.encodings.cycle_monitor import CycleMonitor
from symdipa.encodings.order_bits import OrderBits, OrderStep
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.runs.order import OrderState
from symdipa.systems.boolean import FALSE, TRUE, Lit
from symdipa.systems.system import Edge, System


@dataclass(frozen=True)
class Extra:
    """What a pattern adds to a transition: a further guard, and new values of its own bits."""

    guard: Lit
    update: Mapping[Lit, Lit]


@dataclass(frozen=True)
class Addition:
    """What a pattern adds to a system.

    ``extra(t, effect, inside)`` is its share of transition ``t``; ``picks(t)`` the ghosts assigned by it;
    ``open_bits(q)`` its bits that may be true at ``q``; ``bad(q)`` the bad condition there.
    """

    extra: Callable[[int, OrderStep, Lit], Extra]
    open_bits: Callable[[int], Sequence[Lit]]
    bits: Sequence[Lit]
    bad: Callable[[int], Lit]
    axioms: Callable[[int], Sequence[Lit]] = lambda q: ()
    broken_axioms: Callable[[int, OrderState, Set[Lit], frozenset[Lit]], Sequence[Lit]] | None = None
    """Those of ``axioms`` that a state with this order and these true bits breaks, whatever the unknown ones
    are; ``None``: they are few."""
    choices: Sequence[Lit] = ()
    picks: Callable[[int], Mapping[int, Lit]] = lambda t: {}


def assemble(
    pattern: Pattern, encoding: str, order: OrderBits, monitor: CycleMonitor, added: Addition, limits: Limits
) -> System:
    """The system whose steps do what order, monitor and pattern say, together.

    Raises :class:`symdipa.model.errors.OutOfTime`.
    """
    graph, facts = order.graph, order.facts
    control = facts.control
    edges: list[Edge] = []
    for t, possible in enumerate(facts.possible):
        if not possible:
            continue
        limits.check(f"encoding, {len(edges)} transitions")
        q, p = control.source[t], control.target[t]
        effect = order.step(q, control.steps[t], p, added.picks(t))
        watched = monitor.step(t)
        extra = added.extra(t, effect, watched.inside)
        guard = graph.all([effect.guard, watched.guard, extra.guard])
        if guard == FALSE:
            continue
        update = {**effect.update, **watched.update, **extra.update}
        edges.append(Edge(t, q, p, guard, {bit: new for bit, new in update.items() if new != bit}))
    reached = [q for q in range(control.states) if facts.may[q] is not None]
    open_bits: list[tuple[Lit, ...]] = [()] * control.states
    for q in reached:
        open_bits[q] = (*order.open_bits(q), *monitor.open_bits(q), *added.open_bits(q))
    ends = (q for q in reached if not control.is_between(q))
    bad = {q: condition for q in ends if (condition := added.bad(q)) != FALSE}

    def axioms(q: int) -> list[Lit]:
        if facts.may[q] is None:
            return []
        return _without_true([*order.axioms(q), *monitor.axioms(q), *added.axioms(q)])

    def first_axioms(q: int) -> list[Lit]:
        if facts.may[q] is None:
            return []
        few = added.axioms(q) if added.broken_axioms is None else []
        return _without_true([*monitor.axioms(q), *few])

    def broken_axioms(q: int, bits: Set[Lit], unknown: frozenset[Lit]) -> list[Lit]:
        if facts.may[q] is None:
            return []
        rows = order.rows(q, bits)
        more = [] if added.broken_axioms is None else added.broken_axioms(q, rows, bits, unknown)
        return [*order.broken_axioms(q, rows, unknown), *more]

    return System(
        pattern=pattern,
        encoding=encoding,
        control=control,
        graph=graph,
        bits=(*order.all_bits(), *monitor.bits(), *added.bits),
        choices=(*monitor.choices, *added.choices),
        open_bits=tuple(open_bits),
        edges=tuple(edges),
        bad=bad,
        begins=monitor.begins(),
        is_open=monitor.is_open,
        axioms=axioms,
        first_axioms=first_axioms,
        broken_axioms=broken_axioms,
        rest_open_at_end=not monitor.closes,
    )


def _without_true(literals: Iterable[Lit]) -> list[Lit]:
    return [literal for literal in dict.fromkeys(literals) if literal != TRUE]
