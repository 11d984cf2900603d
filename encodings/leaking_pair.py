"""Leaking pair: a chain from one repeatable sample to another (Def. leaking pair)."""

from __future__ import annotations

from symdipa.encodings.chains import by_ghosts, by_marks
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.runs.control import Control
from symdipa.runs.dataflow import OrderFacts, may_have_chain, order_facts
from symdipa.runs.marks import Chain
from symdipa.systems.system import System


def systems(control: Control, facts: OrderFacts, encoding: str, limits: Limits) -> list[System]:
    """The systems of which one reaches a bad state iff there is a leaking pair.

    Empty when the dataflow (``facts``, without ghosts) already excludes it.
    """
    if not may_have_chain(facts, Chain.PAIR, limits):
        return []
    if encoding == "ghost":
        ghostly = order_facts(control, ghosts=2, precise=facts.precise, limits=limits)
        return [by_ghosts(ghostly, Pattern.LEAKING_PAIR, Chain.PAIR, limits)]
    return [by_marks(facts, Pattern.LEAKING_PAIR, Chain.PAIR, limits)]
