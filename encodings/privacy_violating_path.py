"""A chain between an output sample and a repeatable one, either way (Def. privacy-violating path)."""

from __future__ import annotations

from symdipa.encodings.chains import by_ghosts, by_marks
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.runs.control import Control
from symdipa.runs.dataflow import OrderFacts, may_have_chain, order_facts
from symdipa.runs.marks import Chain
from symdipa.systems.system import System


def systems(control: Control, facts: OrderFacts, encoding: str, limits: Limits) -> list[System]:
    """The systems of which one reaches a bad state iff there is a privacy violating path.

    One for each direction that the dataflow (``facts``, without ghosts) does not exclude.
    """
    both = (Chain.OUTPUT_BELOW, Chain.OUTPUT_ABOVE)
    chains = [chain for chain in both if may_have_chain(facts, chain, limits)]
    if encoding == "ghost" and chains:
        ghostly = order_facts(control, ghosts=2, precise=facts.precise, limits=limits)
        return [by_ghosts(ghostly, Pattern.PRIVACY_VIOLATING_PATH, chain, limits) for chain in chains]
    return [by_marks(facts, Pattern.PRIVACY_VIOLATING_PATH, chain, limits) for chain in chains]
