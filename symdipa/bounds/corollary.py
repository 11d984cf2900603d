"""The corollary bound: what a proof of well-formedness gives (docs/weights.md, section 4)."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.augmentation import Augmentation, bisimulation_quotient
from symdipa.runs.control import Control


def corollary_bound(augmentation: Augmentation, limits: Limits = UNLIMITED) -> Fraction:
    """The paper's bound on ``D`` (Def. corollary bound), exact; meaningful for well-formed automata only.

    Taken on the strongly connected components of the augmentation after the bisimulation quotient: an
    edge costs ``e*w1 + w2`` with ``e = 2`` for an input step and 1 otherwise; ``w1`` is ``d`` unless the
    edge lies on a cycle and what it assigns is never read later; ``w2`` is ``d'`` if ``insample'`` is
    output. A component costs the sum of its edges, a path of components the sum of those and of the edges
    between them; the bound is the heaviest path from the initial block. Raises
    :class:`symdipa.model.errors.OutOfTime`.
    """
    control = augmentation.control
    quotient = bisimulation_quotient(augmentation, limits)
    scales = (scale for s in control.sampling for scale in (s.d, s.d_prime) if scale is not None)
    unit = lcm(*{scale.denominator for scale in scales})  # costs are whole numbers of 1/unit
    inside = [0] * (max(quotient.component) + 1)
    leaving: dict[int, list[tuple[int, int]]] = {}
    for u, t, v in quotient.edges:
        here, there = quotient.component[u], quotient.component[v]
        cost = _edge_cost(control, t, unit, cyclic=here == there)
        if here == there:
            inside[here] += cost
        else:
            leaving.setdefault(here, []).append((cost, there))
    heaviest = [0] * len(inside)
    for here, own in enumerate(inside):  # edges lead to equal or smaller numbers
        onward = max((cost + heaviest[there] for cost, there in leaving.get(here, ())), default=0)
        heaviest[here] = own + onward
    return Fraction(heaviest[quotient.component[quotient.block[0]]], unit)


def _edge_cost(control: Control, t: int, unit: int, cyclic: bool) -> int:
    """The cost of an edge in units of ``1/unit``, of which all inverse scales are multiples."""
    sampling, cost = control.sampling[t], 0
    kept = control.steps[t].asg & control.live[control.target[t]]
    if sampling.d is not None and not (cyclic and not kept):
        cost += (2 if sampling.reads_input else 1) * _units(sampling.d, unit)
    if sampling.shows_second and sampling.d_prime is not None:
        cost += _units(sampling.d_prime, unit)
    return cost


def _units(scale: Fraction, unit: int) -> int:
    return scale.numerator * (unit // scale.denominator)
