"""From the graph of the runs of a program to its automaton (:mod:`~symdipa.programs.automaton.building`)."""

from symdipa.programs.automaton.building import END, MORE, QUIET, READ, Translation, translated

__all__ = ["END", "MORE", "QUIET", "READ", "Translation", "translated"]
