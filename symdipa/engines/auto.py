"""The cheapest way first: static arguments, then enumeration with a cap, then symbolic search."""

from __future__ import annotations

from dataclasses import replace

from symdipa.control import Control
from symdipa.engines.base import Engine
from symdipa.engines.explicit import ExplicitEngine
from symdipa.engines.symbolic import SymbolicEngine
from symdipa.errors import LimitReached
from symdipa.patterns import Pattern
from symdipa.verdict import PatternResult, Status

MAX_CELLS = 400_000
"""Up to how many nodes times variables the augmentation is enumerated before the symbolic search."""


def max_nodes(control: Control) -> int:
    """The cap on the augmentation of an automaton that :data:`MAX_CELLS` stands for."""
    return max(1, MAX_CELLS // max(1, control.variables))


class AutoEngine(Engine):
    """Asks an explicit engine with a cap, and a symbolic one where the cap was hit.

    Its answers bear the name of the engine that gave them.
    """

    name = "auto"

    def __init__(self, explicit: ExplicitEngine, symbolic: SymbolicEngine) -> None:
        self.explicit = explicit
        self.symbolic = symbolic

    def decide_statically(self, pattern: Pattern) -> PatternResult | None:
        answer = self.symbolic.decide_statically(pattern)
        return None if answer is None else replace(answer, engine="dataflow")

    def decide(self, pattern: Pattern) -> PatternResult:
        try:
            answer = self.decide_statically(pattern)
        except LimitReached as limit:
            return PatternResult(pattern, Status.UNKNOWN, "dataflow", reason=str(limit))
        if answer is not None:
            return answer
        first = self.explicit.decide(pattern)
        if first.status is not Status.UNKNOWN:
            return first
        second = self.symbolic.decide(pattern)
        seconds = first.seconds + second.seconds
        if second.status is Status.UNKNOWN:
            reason = f"{first.engine}: {first.reason}; {second.engine}: {second.reason}"
            return replace(second, reason=reason, seconds=seconds)
        return replace(second, seconds=seconds)
