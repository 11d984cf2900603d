"""Where the noise of a mechanism comes from when it runs: a secure sampler, or a seeded generator."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from math import expm1, inf, nextafter
from typing import Any

from symdipa.model.parts import Noise
from symdipa.programs.values import exact

GRID = 1 << 40
"""Where noise is not of integers, secure noise and inputs are multiples of one over this."""
LARGEST = 2.0**54
"""No secure noise has a larger scale, in steps of the grid: it would not fit into 64 bits."""


def rate(kind: Noise, scale: object, eps: Fraction) -> Fraction:
    """The inverse scale of noise; raises ``ValueError`` where the program asks for no positive scale."""
    known = exact(scale)
    if known is None or known <= 0:
        raise ValueError(f"{kind.value} noise of scale {scale!r} is drawn; a scale is a positive number")
    return eps / known


def positive(eps: object) -> Fraction:
    """The value of eps of a run; raises ``ValueError``."""
    known = exact(eps)
    if isinstance(eps, bool) or known is None or known <= 0:
        raise ValueError(f"eps is a positive number like 1 or 0.5, not {eps!r}")
    return known


# ------------------------------------------------------------------------------------------------- secure


class Exact:
    """A number of a run with secure noise. It is exact, whatever is done with it, and is rounded where it is
    shown: the digits of a sum of floats would tell about its parts."""

    __slots__ = ("value",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Fraction) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "<a number that was not shown>"

    def __str__(self) -> str:
        raise TypeError("a number that was not shown is used as something else; yield it, or compare it")

    __bool__ = __int__ = __float__ = __round__ = __trunc__ = __str__

    def __neg__(self) -> Exact:
        return Exact(-self.value)

    def __pos__(self) -> Exact:
        return self

    def __abs__(self) -> Exact:
        return Exact(abs(self.value))


def _computed(name: str, swapped: bool) -> Any:
    compute = getattr(operator, name)

    def method(self: Exact, other: object) -> Any:
        value = other.value if isinstance(other, Exact) else exact(other)
        if value is None:
            return NotImplemented
        return Exact(compute(value, self.value) if swapped else compute(self.value, value))

    return method


def _compared(name: str) -> Any:
    compare = getattr(operator, name)

    def method(self: Exact, other: object) -> bool:
        value = other.value if isinstance(other, Exact) else exact(other)
        if value is None and isinstance(other, float):
            value = other  # type: ignore[assignment]  # an infinity, which fractions compare with
        return NotImplemented if value is None else compare(self.value, value)

    return method


for _name in ("add", "sub", "mul", "truediv"):
    setattr(Exact, f"__{_name}__", _computed(_name, False))
    setattr(Exact, f"__r{_name}__", _computed(_name, True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Exact, f"__{_name}__", _compared(_name))


class Secure:
    """Noise from OpenDP's discrete Laplace distribution, whose probabilities are exact."""

    def __init__(self, eps: Fraction, whole: bool) -> None:
        self.eps, self.whole = eps, whole
        self.steps = 1 if whole else GRID
        """How many steps of the grid there are to 1."""
        self.made: dict[float, Callable[[int], int]] = {}

    def entry(self, value: Any) -> Exact:
        """A number of the input, on the grid: two that differ by at most 1 do so there."""
        return Exact(Fraction(round(value * self.steps), self.steps))

    def __call__(self, kind: Noise, scale: object) -> Exact:
        wanted = self.steps / rate(kind, scale, self.eps)
        nearest = float(wanted) if wanted < LARGEST else inf
        if not nearest < LARGEST:
            raise ValueError(f"noise of scale {scale}/eps is too large to be drawn at this eps")
        rounded = nearest if nearest >= wanted else nextafter(nearest, inf)  # never less noise
        if rounded not in self.made:
            self.made[rounded] = _discrete_laplace(rounded)
        draw = self.made[rounded]
        drawn = draw(0)
        while kind is Noise.EXPONENTIAL and drawn < 0:  # given that it is none of these it is geometric
            drawn = draw(0)
        return Exact(Fraction(drawn, self.steps))

    def shown(self, output: Any) -> Any:
        """What is seen of an output: numbers as integers, or as the floats next to a step of the grid."""
        if isinstance(output, tuple | list):
            return tuple(map(self.shown, output)) if isinstance(output, tuple) else [*map(self.shown, output)]
        if not isinstance(output, Exact):
            return output
        step = round(output.value * self.steps)
        return step if self.whole else float(Fraction(step, self.steps))


def _discrete_laplace(scale: float) -> Callable[[int], int]:
    try:
        import opendp.prelude as dp
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "secure noise comes from OpenDP, which is not installed: pip install 'symdipa[run]' (simulate "
            "does without)",
            name="opendp",
        ) from None
    dp.enable_features("contrib")  # where OpenDP keeps all noise whose proofs are not yet reviewed twice
    found: Callable[[int], int] = dp.m.make_laplace(
        dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), scale
    )
    return found


# ---------------------------------------------------------------------------------------------- simulated


class Simulated:
    """Noise from a generator of numpy: fast, the same again for the same seed, and not secure."""

    def __init__(self, eps: Fraction, whole: bool, seed: Any) -> None:
        import numpy as np

        self.eps, self.whole = eps, whole
        self.rng = np.random.default_rng(seed)

    def entry(self, value: Any) -> Any:
        return value if self.whole else float(value)

    def __call__(self, kind: Noise, scale: object) -> Any:
        inverse, rng = float(rate(kind, scale, self.eps)), self.rng
        if self.whole:
            up, down = (int(rng.geometric(-expm1(-inverse))) - 1 for _ in range(2))
            return up - down if kind is Noise.LAPLACE else up
        draw = rng.laplace if kind is Noise.LAPLACE else lambda _, scale: rng.exponential(scale)
        return float(draw(0.0, 1 / inverse))

    def shown(self, output: Any) -> Any:
        return output


# --------------------------------------------------------------------------------------------------- both


def number(value: Any, whole: bool) -> Any:
    """A number of the input; raises ``ValueError`` for what is none, and for a fraction among integers."""
    plain = value.item() if hasattr(value, "item") else value  # of numpy
    try:
        known = None if isinstance(plain, bool | str) else Fraction(plain)
    except (TypeError, ValueError, OverflowError):
        known = None
    if known is None:
        raise ValueError(f"inputs are numbers, not {value!r}")
    if not whole:
        return known
    if known.denominator != 1:
        raise ValueError(f"inputs of this mechanism are integers, not {value!r}")
    return int(known)
