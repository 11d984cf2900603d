"""Mechanisms as programs: an automaton is found by running the program on symbolic values.

A *front end* runs a program of its language on a :class:`~symdipa.programs.trace.Trace`: it makes the inputs
(:meth:`Trace.read`) and the noise (:meth:`Trace.noise`), computes with them as with numbers
(:mod:`~symdipa.programs.values`), tells what is shown (:meth:`Trace.show`) and where the run is, with its live
values (:meth:`Trace.point`). A comparison of what is not known asks the trace, which goes one way; all ways are
found by running the program again and again from the start (:mod:`~symdipa.programs.explore`), and what is
found becomes an automaton (:mod:`~symdipa.programs.automaton`).
"""
