"""The control graph of an automaton: what engines, encodings and bounds work on (Def. core).

:mod:`~symdipa.runs.control.graph` holds it, :mod:`~symdipa.runs.control.building` makes it of an automaton,
by way of :mod:`~symdipa.runs.control.core` where the automaton is not one of the paper's.
"""

from symdipa.runs.control.building import control_graph
from symdipa.runs.control.graph import (
    FREE,
    NOTHING,
    Control,
    Sampling,
    Slopes,
    assembled,
    liveness,
)

__all__ = ["FREE", "NOTHING", "Control", "Sampling", "Slopes", "assembled", "control_graph", "liveness"]
