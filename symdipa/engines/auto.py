"""The cheapest way first: static arguments, then enumeration with a cap, then symbolic search."""

from __future__ import annotations

from dataclasses import replace

from symdipa.engines.base import Engine
from symdipa.engines.explicit import ExplicitEngine
from symdipa.engines.symbolic import SymbolicEngine
from symdipa.model.errors import LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import PatternResult, Status


class AutoEngine(Engine):
    """Asks an explicit engine with a cap, and where the cap was hit the engine ``beyond``.

    That is the symbolic one, or a race in which it takes part. Answers bear the name of who gave them.
    """

    name = "auto"

    def __init__(
        self, explicit: ExplicitEngine, symbolic: SymbolicEngine, beyond: Engine | None = None
    ) -> None:
        self.explicit = explicit
        self.symbolic = symbolic
        self.beyond = beyond or symbolic

    def decide_statically(self, pattern: Pattern, limits: Limits = UNLIMITED) -> PatternResult | None:
        answer = self.symbolic.decide_statically(pattern, limits)
        return None if answer is None else replace(answer, engine="dataflow")

    def decide(self, pattern: Pattern, limits: Limits = UNLIMITED) -> PatternResult:
        try:
            answer = self.decide_statically(pattern, limits)
        except LimitReached as limit:
            return PatternResult(pattern, Status.UNKNOWN, "dataflow", reason=str(limit))
        if answer is not None:
            return answer
        first = self.explicit.decide(pattern, limits)
        if first.status is not Status.UNKNOWN:
            return first
        second = self.beyond.decide(pattern, limits)
        if second.status is Status.UNKNOWN and self.beyond.name == self.symbolic.name:  # not a race
            reason = f"{first.engine}: {first.reason}; {second.engine}: {second.reason}"
            second = replace(second, reason=reason)
        return replace(second, seconds=first.seconds + second.seconds)
