"""What automata are made of: outputs, guards, states and transitions, as frozen values.

Numbers are exact (:class:`fractions.Fraction`). Noise is given as in the paper by *inverse* scale: a
state with ``d = 1/4`` adds Laplace noise of scale ``4/eps``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Protocol


class OutputKind(Enum):
    """What a transition outputs: a symbol, the sample compared by guards, or the second sample."""

    SYMBOL = "symbol"
    INSAMPLE = "insample"
    INSAMPLE_PRIME = "insampleprime"


@dataclass(frozen=True, slots=True)
class Output:
    """An output: ``symbol`` is set exactly when ``kind`` is ``OutputKind.SYMBOL``."""

    kind: OutputKind
    symbol: str | None = None

    def __post_init__(self) -> None:
        if (self.kind is OutputKind.SYMBOL) != (self.symbol is not None):
            raise ValueError("an output has a symbol exactly when its kind is SYMBOL")

    @property
    def is_real(self) -> bool:
        """Whether a real number (``insample`` or ``insample'``) is output."""
        return self.kind is not OutputKind.SYMBOL

    @property
    def shows_sample(self) -> bool:
        """Whether ``insample`` is output."""
        return self.kind is OutputKind.INSAMPLE

    @property
    def shows_second(self) -> bool:
        """Whether ``insample'`` is output."""
        return self.kind is OutputKind.INSAMPLE_PRIME

    def __str__(self) -> str:
        return self.symbol if self.symbol is not None else self.kind.value


INSAMPLE = Output(OutputKind.INSAMPLE)
INSAMPLE_PRIME = Output(OutputKind.INSAMPLE_PRIME)


def symbol(name: str) -> Output:
    """The output that shows the symbol ``name``."""
    return Output(OutputKind.SYMBOL, name)


@dataclass(frozen=True, slots=True)
class Guard:
    """A conjunction of atoms: ``insample >= x`` for ``x`` in ``ge`` and ``insample < x`` for ``x`` in ``lt``.

    The empty guard is ``true``.
    """

    ge: frozenset[str] = frozenset()
    lt: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "ge", _names("ge", self.ge))
        object.__setattr__(self, "lt", _names("lt", self.lt))

    @property
    def used(self) -> frozenset[str]:
        """The variables the guard reads."""
        return self.ge | self.lt

    @property
    def is_true(self) -> bool:
        return not self.ge and not self.lt

    def excludes(self, other: Guard) -> bool:
        """Whether no sample satisfies both guards: an opposite atom on some variable.

        That is the only way for a conjunction of two satisfiable guards to be unsatisfiable for every
        value of the variables.
        """
        return bool(self.ge & other.lt or self.lt & other.ge)

    def text(self, order: Iterable[str] = ()) -> str:
        """The guard as text, atoms in the given order of variables (others follow by name)."""
        ranking = {name: place for place, name in enumerate(order)}
        names = sorted(self.used, key=lambda name: (ranking.get(name, len(ranking)), name))
        atoms = [f"insample >= {x}" for x in names if x in self.ge]
        atoms += [f"insample < {x}" for x in names if x in self.lt]
        return " && ".join(atoms) if atoms else "true"

    def __str__(self) -> str:
        return self.text()


def _names(what: str, names: Iterable[str]) -> frozenset[str]:
    """A set of variables from any iterable of names, but not from a lone string, which is a mistake."""
    if isinstance(names, str):
        raise TypeError(f"{what} takes a set of variables: write {what}={{{names!r}}}")
    return frozenset(names)


TRUE = Guard()


@dataclass(frozen=True, slots=True)
class State:
    """A control state with ``P(q) = (d, mu, d', mu')``.

    ``d`` and ``d_prime`` are inverse noise scales in units of eps (``None``: not given), ``mu`` and
    ``mu_prime`` the means that are added to the input. ``is_input``: a step from the state reads an input.
    """

    name: str
    is_input: bool = True
    d: Fraction | None = None
    mu: Fraction = Fraction(0)
    d_prime: Fraction | None = None
    mu_prime: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        for name in ("d", "mu", "d_prime", "mu_prime"):
            value = getattr(self, name)
            if type(value) is int:  # exact, so no reason to ask for more
                object.__setattr__(self, name, Fraction(value))


LARGEST = Fraction(10) ** 100
"""No number of an automaton or of a question is larger, or smaller than one over it (but for 0)."""

BEYOND = "cannot be computed with: numbers lie between 1e-100 and 1e100 in size"


def computable(number: Fraction) -> bool:
    """Whether a number is within ``LARGEST``, so that floating point can hold it and products with others."""
    return number == 0 or 1 / LARGEST <= abs(number) <= LARGEST


def noise_scale(d: Fraction) -> str:
    """The scale of the noise with inverse scale ``d > 0`` as text: ``4/eps``, ``5/(2*eps)``."""
    scale = 1 / d
    return f"{scale}/eps" if scale.denominator == 1 else f"{scale.numerator}/({scale.denominator}*eps)"


@dataclass(frozen=True, slots=True)
class Transition:
    """One transition; the guard reads the old values, then ``insample`` is stored in ``assign``."""

    source: str
    target: str
    output: Output
    guard: Guard = TRUE
    assign: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not isinstance(self.output, Output):
            raise TypeError(f"an output is symbol('name'), INSAMPLE or INSAMPLE_PRIME, not {self.output!r}")
        object.__setattr__(self, "assign", _names("assign", self.assign))


class AutomatonParts(Protocol):
    """All parts of an automaton, whether or not they obey the rules of the model."""

    @property
    def states(self) -> tuple[State, ...]: ...
    @property
    def initial(self) -> str: ...
    @property
    def transitions(self) -> tuple[Transition, ...]: ...
    @property
    def variables(self) -> tuple[str, ...]: ...
    @property
    def name(self) -> str: ...
