"""Witnesses: from a run that an engine found to one that is checked against the definitions.

:func:`replay` is the judge: it knows runs, cycles and dependency graphs only (docs/theory.md, sections 2
and 3) and shares nothing with the engines. :func:`complete` turns a raw find into a :class:`Witness`.
"""

from symdipa.runs.witness.completion import Loop, complete, finished
from symdipa.runs.witness.dependency import dependency_graph, is_non_leaking, rounds_are_alike
from symdipa.runs.witness.nearby import (
    LASSOS,
    LONGEST_TRIED,
    MAX_SETTLED,
    feasible_runs,
    shorten,
    witnesses_on,
)
from symdipa.runs.witness.replaying import orders_by_round, replay

__all__ = [
    "LASSOS",
    "LONGEST_TRIED",
    "MAX_SETTLED",
    "Loop",
    "complete",
    "dependency_graph",
    "feasible_runs",
    "finished",
    "is_non_leaking",
    "orders_by_round",
    "replay",
    "rounds_are_alike",
    "shorten",
    "witnesses_on",
]
