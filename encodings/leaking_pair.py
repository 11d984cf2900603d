"""Leaking pair: a chain from one repeatable sample to another (Def. leaking pair)."""

from __future__ import annotations

from symdipa.encodings.chains import systems_with_chains
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.runs.dataflow import OrderFacts
from symdipa.systems.system import System


def systems(facts: OrderFacts, encoding: str, limits: Limits) -> list[System]:
    """A system that reaches a bad state iff there is a leaking pair; none if the dataflow excludes it."""
    return systems_with_chains(Pattern.LEAKING_PAIR, facts, encoding, limits)
