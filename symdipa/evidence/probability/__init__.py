"""Probabilities of what an automaton does on given inputs, to an accuracy that is computed.

:func:`log_probability` is about one run, :func:`total_log_probability` about an output sequence, whatever
run produces it. This package needs numpy; nothing that decides privacy imports it.
"""

from symdipa.evidence.probability.poset import ProbabilityRefused, Window
from symdipa.evidence.probability.single import Budget, LogProbability, log_probability
from symdipa.evidence.probability.total import TotalLogProbability, total_log_probability

__all__ = [
    "Budget",
    "LogProbability",
    "ProbabilityRefused",
    "TotalLogProbability",
    "Window",
    "log_probability",
    "total_log_probability",
]
