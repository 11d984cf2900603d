"""Mechanisms as programs: an automaton is found by running the program on symbolic values.

A *front end* runs a program of its language on a :class:`~symdipa.programs.trace.Trace`: it asks that for
inputs (``read``) and noise (``noise``), computes with them as with numbers
(:mod:`~symdipa.programs.values`), tells what is shown (``show``), and where the run is and what its live
values are (``point``). A comparison of what is not known asks the trace, which goes one way; all ways are
found by running the program again and again from the start (:mod:`~symdipa.programs.explore`), and what is
found becomes an automaton (:mod:`~symdipa.programs.automaton`).
"""
