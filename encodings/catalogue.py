"""Which encodings there are: from a pattern to the systems that decide it."""

from __future__ import annotations

from symdipa.encodings import disclosing_cycle, leaking_cycle, leaking_pair, privacy_violating_path
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.options import ENCODINGS, must_be_one_of
from symdipa.model.patterns import Pattern
from symdipa.runs.dataflow import OrderFacts
from symdipa.systems.system import System

_SYSTEMS = {
    Pattern.LEAKING_CYCLE: leaking_cycle.systems,
    Pattern.LEAKING_PAIR: leaking_pair.systems,
    Pattern.DISCLOSING_CYCLE: disclosing_cycle.systems,
    Pattern.PRIVACY_VIOLATING_PATH: privacy_violating_path.systems,
}


def systems(pattern: Pattern, facts: OrderFacts, encoding: str, limits: Limits = UNLIMITED) -> list[System]:
    """Systems, one of which reaches a bad state iff the automaton shows ``pattern``.

    ``facts`` (without ghosts) says what is constant; the list is empty when it already excludes the
    pattern. Raises ``ValueError`` for an unknown encoding and :class:`symdipa.model.errors.OutOfTime`.
    """
    must_be_one_of("encoding", encoding, ENCODINGS)
    return _SYSTEMS[pattern](facts, encoding, limits)
