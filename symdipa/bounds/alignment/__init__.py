"""The alignment bound: the least ``D`` provable by shifting samples (docs/weights.md, section 2).

:func:`align` proves a bound, :func:`breakdown` says where it comes from. Floats only ever suggest shifts;
what is returned has been computed in fractions.
"""

from symdipa.bounds.alignment.explain import Cost, breakdown
from symdipa.bounds.alignment.proofs import PartedSide, Proof, Side
from symdipa.bounds.alignment.search import Alignment, Built, GraphAttempt, align

__all__ = ["Alignment", "Built", "Cost", "GraphAttempt", "PartedSide", "Proof", "Side", "align", "breakdown"]
