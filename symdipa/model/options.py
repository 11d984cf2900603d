"""What can be chosen by name. The command line reads it at every start, so it imports next to nothing."""

from __future__ import annotations

ENGINES = ("auto", "explicit", "z3", "both")
"""How the four patterns are decided: see :func:`symdipa.analysis.check`."""

ENCODINGS = ("marks", "ghost")
"""How symbolic searches look for leaking pairs and violating paths."""

SOLVERS = ("z3", "minisat", "glucose", "cadical")
"""What symbolic searches run on."""

CHECKING_SOLVERS = ("cvc5", "z3")
"""What checks the invariants of a certificate."""

METHODS = ("corollary", "run", "alignment", "exact")
"""The methods for a bound on ``D`` that look at single runs."""

EVERY_METHOD = (*METHODS, "relational")

GRAPHS = ("control", "eq", "parts", "augmentation")
"""The graphs on which an alignment is looked for, from coarse to fine."""

FORMATS = ("dipa", "json")
"""The formats in which automata are read."""

QUERY_FORMATS = ("smtlib", "chc", "aiger", "btor2")
"""The formats in which a symbolic query is written."""
