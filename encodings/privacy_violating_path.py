"""A chain between an output sample and a repeatable one, either way (Def. privacy-violating path)."""

from __future__ import annotations

from symdipa.encodings.chains import systems_with_chains
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.runs.dataflow import OrderFacts
from symdipa.systems.system import System


def systems(facts: OrderFacts, encoding: str, limits: Limits) -> list[System]:
    """Systems, one of which reaches a bad state iff there is a privacy violating path.

    There is one for each direction that the dataflow does not exclude.
    """
    return systems_with_chains(Pattern.PRIVACY_VIOLATING_PATH, facts, encoding, limits)
