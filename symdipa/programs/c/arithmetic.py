"""Numbers of C that are known: integers, fractions, and multiples of a power of eps.

An ``int`` is a Python ``int`` and a ``float`` a fraction, exact; so ``1.0 / 3`` is a third.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from fractions import Fraction

from symdipa.model.parts import computable

EPS = "epsilon"


@dataclass(frozen=True, slots=True)
class Multiple:
    """``coefficient * eps ** power``, both not 0."""

    coefficient: Fraction
    power: int

    def __str__(self) -> str:
        power = abs(self.power)
        eps = EPS if power == 1 else f"{EPS}^{power}"
        if self.power < 0:
            return f"{self.coefficient}/{eps}" if self.coefficient.denominator == 1 else (
                f"{self.coefficient.numerator}/({self.coefficient.denominator}*{eps})"
            )  # fmt: skip
        return eps if self.coefficient == 1 else f"{self.coefficient}*{eps}"


Known = int | Fraction | Multiple


class ArithmeticProblem(Exception):
    """What cannot be computed: what was ``seen``, and the ``remedy``."""

    def __init__(self, seen: str, remedy: str) -> None:
        super().__init__(seen, remedy)
        self.seen, self.remedy = seen, remedy

    def __str__(self) -> str:
        return f"{self.seen}; {self.remedy}"


_COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def calculated(op: str, one: Known, other: Known) -> Known:
    """A sum, difference, product, quotient or remainder, as C has it."""
    if op == "%":
        return _remainder(one, other)
    a, b = _coefficient(one), _coefficient(other)
    p, q = _power(one), _power(other)
    if op in "+-":
        if p != q and a and b:
            raise ArithmeticProblem(
                f"{one} {op} {other} depends on how large {EPS} is",
                f"add multiples of {EPS} only to each other",
            )
        return _made(a + b if op == "+" else a - b, p if a else q, one, other)
    if op == "*":
        return _made(a * b, p + q, one, other)
    if not b:
        raise ArithmeticProblem(f"{one} is divided by 0", "divide by another number")
    if isinstance(one, int) and isinstance(other, int):
        if one % other:
            raise ArithmeticProblem(
                f"{one} / {other} divides integers, so C cuts off what is behind the point",
                f"make one of them a float, as in {one}.0 / {other}",
            )
        return one // other
    return _made(Fraction(a) / b, p - q, one, other)


def compared(op: str, one: Known, other: Known) -> bool:
    """Whether a comparison holds."""
    a, b = _coefficient(one), _coefficient(other)
    if _power(one) == _power(other) or not a or not b:
        return bool(_COMPARE[op](a, b))
    if (a > 0) != (b > 0):
        return bool(_COMPARE[op](a, b))
    raise ArithmeticProblem(
        f"{one} {op} {other} depends on how large {EPS} is", f"compare multiples of {EPS} with each other"
    )


def negative(number: Known) -> Known:
    return Multiple(-number.coefficient, number.power) if isinstance(number, Multiple) else -number


def _remainder(one: Known, other: Known) -> int:
    for number in (one, other):
        if not isinstance(number, int):
            raise ArithmeticProblem(f"% has {number} on one side, which is no int", "declare both as int")
    assert isinstance(one, int) and isinstance(other, int)
    if not other:
        raise ArithmeticProblem(f"{one} % 0 has no value", "divide by another number")
    rest = abs(one) % abs(other)
    return -rest if one < 0 else rest


def _coefficient(number: Known) -> int | Fraction:
    return number.coefficient if isinstance(number, Multiple) else number


def _power(number: Known) -> int:
    return number.power if isinstance(number, Multiple) else 0


def _made(coefficient: int | Fraction, power: int, *operands: Known) -> Known:
    if not computable(Fraction(coefficient)):
        raise ArithmeticProblem("a number is beyond 1e100 in size, or below 1e-100", "use smaller ones")
    if power and coefficient:
        return Multiple(Fraction(coefficient), power)
    whole = all(isinstance(one, int) for one in operands)
    return int(coefficient) if whole else Fraction(coefficient)
