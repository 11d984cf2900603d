"""Sweeps of families and files over engines, each run in a process of its own, and their tables and plots."""

from symdipa.model import options

ENGINES = tuple(name for name in options.ENGINES if name != "both")
"""The engines that can be measured: each decides on its own."""
SOLVERS = ("default", *options.SOLVERS)
"""The solvers, and what the engine takes by itself."""
TABLES = ("md", "latex", "csv")
"""The forms of a table."""
