"""Sweeps of families and files over engines, each run in a process of its own, and their tables and plots."""

ENGINES = ("auto", "explicit", "z3")
ENCODINGS = ("marks", "ghost")
SOLVERS = ("default", "z3", "minisat", "glucose", "cadical")
PRESETS = ("table1", "k-minmax", "m-range")
"""What can be asked for by name (the command line knows it without loading what does the work)."""
