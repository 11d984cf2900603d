"""What can be chosen: names, and the options of a check. It imports little: every command line needs it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from symdipa.model.patterns import Pattern

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


@dataclass(frozen=True)
class CheckOptions:
    """How an automaton is to be decided: what :func:`symdipa.check` takes beside it, as one value.

    ``engine``, ``encoding`` and ``solver`` are names of the lists above; ``solver`` is ``None`` for what the
    engine takes by itself. ``slicing`` is whether symbolic searches look at one variable component at a time,
    ``patterns`` what is asked for, in the order of :class:`Pattern`. ``bound`` is the largest unrolling in
    steps, ``timeout`` in seconds, ``memory`` in bytes. ``bounds`` is whether ``D`` is bounded, ``max_weight``
    the bound that is wanted, ``relational`` whether runs with the same outputs are paired where a violation
    proves nothing. Raises ``ValueError`` for an unknown name and for a limit that is not positive.
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
    relational: bool = False

    def __post_init__(self) -> None:
        _must_be_one_of("engine", self.engine, ENGINES)
        _must_be_one_of("encoding", self.encoding, ENCODINGS)
        _must_be_one_of("solver", self.solver or SOLVERS[0], SOLVERS)
        for limit in ("bound", "timeout", "memory", "max_weight"):
            value = getattr(self, limit)
            if value is not None and not value > 0:
                raise ValueError(f"{limit} must be positive, not {value}")
        if self.max_weight is not None and not self.bounds:
            raise ValueError("max_weight is about a bound on D: bounds must not be False")
        object.__setattr__(self, "patterns", tuple(p for p in Pattern if p in self.patterns))


def _must_be_one_of(what: str, name: str, names: tuple[str, ...]) -> None:
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
