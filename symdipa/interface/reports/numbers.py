"""Numbers as people write them: short, and with an error that is no smaller than it is."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp, floor, inf, log, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symdipa.evidence.probability import Window
    from symdipa.evidence.probability.linear.events import Asked

DECIMALS = 9


def number(x: Fraction | float) -> str:
    """A number as short as exactness allows: ``9``, ``-0.25``, ``1/3``."""
    x = Fraction(x)
    if x.denominator == 1:
        return str(x.numerator)
    rest = x.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return f"{float(x):.12g}" if rest == 1 else str(x)


def interval(window: Window | None) -> str:
    low, high = window or (-inf, inf)
    if (low, high) == (-inf, inf):
        return "(any)"
    left = "(-inf" if low == -inf else f"[{low:g}"
    right = "inf)" if high == inf else f"{high:g}]"
    return f"in {left}, {right}"


def intervals(asked: Asked) -> str:
    """What is asked of the numbers of a step, one after another."""
    if asked is None or not isinstance(asked[0], tuple | None):
        return interval(asked)
    return " and ".join(interval(window) for window in asked)


ROUNDING: float = 0.5 * 10**-DECIMALS
"""The error of rounding to so many decimals."""


def measured(value: float, error: float) -> tuple[str, str]:
    """A number with its error, which also covers that the number is rounded; the error is rounded up."""
    if abs(value) == inf:
        return f"{value}", ""
    return f"{round(value, DECIMALS) + 0.0:.{DECIMALS}f}", f"+- {error_text(error + ROUNDING)}"


def reaches(value: float, error: float, bound: Fraction) -> bool:
    """Whether a number is as large as the bound, as far as the error that is shown can tell."""
    return value + error + ROUNDING >= float(bound)


def error_text(error: float) -> str:
    """An error with one digit, rounded up."""
    if error <= 0:
        return "0"
    whole = floor(log10(error))
    digit = ceil(error / 10.0**whole * (1 - 1e-12))
    return f"{digit // 10 or digit}e{whole + digit // 10:+03d}"


def power(logarithm: float) -> str:
    """``exp(logarithm)`` in powers of ten, also where no float reaches."""
    if abs(logarithm) == inf:
        return "infinity" if logarithm > 0 else "0"
    exponent = logarithm / log(10)
    whole = floor(exponent)
    if -4 <= whole < 0:
        return f"{10**exponent:.6f}"
    mantissa = f"{10 ** (exponent - whole):.4f}"
    if mantissa == "10.0000":
        mantissa, whole = "1.0000", whole + 1
    return f"{mantissa}e{whole:+03d}"


def times(logarithm: float) -> str:
    """A ratio from its logarithm."""
    return power(logarithm) if logarithm >= log(1e6) else f"{exp(logarithm):.2f}"
