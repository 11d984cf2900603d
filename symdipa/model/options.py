"""The names to choose from, and the options of a check. Imports little: every command line needs it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from symdipa.model.limits import must_be_positive
from symdipa.model.patterns import Pattern

ENGINES = ("auto", "explicit", "z3", "both")
"""How the four patterns are decided: see :func:`symdipa.analysis.check`."""

ENCODINGS = ("marks", "ghost")
"""How symbolic searches look for leaking pairs and violating paths."""

SOLVERS = ("z3", "minisat", "glucose", "cadical")
"""What symbolic searches run on."""

CHECKING_SOLVERS = ("cvc5", "z3")
"""What checks the invariants of a certificate."""

METHODS = ("corollary", "run", "counting", "alignment", "exact")
"""The methods for a bound on ``D`` that consider single runs."""

EVERY_METHOD = (*METHODS, "relational")

GRAPHS = ("control", "eq", "parts", "augmentation")
"""The graphs on which an alignment is sought, from coarse to fine."""

HALTS = ("hidden", "visible")
"""Whether it is seen that a run stops (Def. halting)."""

FORMATS = ("dipa", "json")
"""The formats in which automata are read."""

QUERY_FORMATS = ("smtlib", "chc", "aiger", "btor2")
"""The formats in which a symbolic query is written."""


@dataclass(frozen=True)
class CheckOptions:
    """The options of :func:`symdipa.check` as one value.

    ``engine``, ``encoding`` and ``solver`` are names of the lists above (``solver`` is ``None`` for the
    engine's default). With ``slicing`` symbolic searches take one variable component at a time. ``patterns``
    are those to decide, in the order of :class:`Pattern`. ``bound`` is the largest unrolling in steps,
    ``timeout`` is in seconds, ``memory`` in bytes. ``bounds``: bound ``D``; ``max_weight``: the wanted bound;
    ``relational``: pair runs with the same outputs where a violation proves nothing (experimental). Raises
    ``ValueError`` for an unknown name and for a limit that is not positive.
    """

    engine: str = ENGINES[0]
    encoding: str = ENCODINGS[0]
    solver: str | None = None
    slicing: bool = True
    patterns: tuple[Pattern, ...] = tuple(Pattern)
    bound: int | None = None
    timeout: float | None = None
    memory: int | None = None
    bounds: bool = True
    max_weight: Fraction | None = None
    relational: bool = True

    def __post_init__(self) -> None:
        must_be_one_of("engine", self.engine, ENGINES)
        must_be_one_of("encoding", self.encoding, ENCODINGS)
        must_be_one_of("solver", SOLVERS[0] if self.solver is None else self.solver, SOLVERS)
        must_be_positive(
            bound=self.bound, timeout=self.timeout, memory=self.memory, max_weight=self.max_weight
        )
        if self.max_weight is not None and not self.bounds:
            raise ValueError("max_weight is about a bound on D: bounds must not be False")
        object.__setattr__(self, "patterns", tuple(p for p in Pattern if p in self.patterns))


def must_be_one_of(what: str, name: str, names: tuple[str, ...]) -> None:
    """Raise ``ValueError`` for a name that is not among the names."""
    if name not in names:
        raise ValueError(f"no {what} {name!r}; there are {', '.join(names)}")


def patterns_of(names: Iterable[Pattern | str] | None) -> tuple[Pattern, ...]:
    """Patterns given as such or by two-letter codes like ``"LP"``; all four for ``None``.

    Raises ``ValueError`` for another code.
    """
    if names is None:
        return tuple(Pattern)
    several = [names] if isinstance(names, str) else names
    return tuple(name if isinstance(name, Pattern) else Pattern.from_short(name) for name in several)
