"""The probability of an order of Laplace samples in closed form, to many digits, for small orders.

A sum over linear extensions of iterated integrals of piecewise exponential polynomials. Written straight from
the definition and sharing nothing with :mod:`symdipa.evidence.probability` but the order itself.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial, inf

from mpmath import mp, mpf

DIGITS = 60


def number(x):
    return mpf(x.numerator) / x.denominator


def at(terms, x):
    return sum((c * number(x) ** n * mp.exp(number(a * x)) for (n, a), c in terms.items()), mpf(0))


def antiderivative(terms):
    result = {}
    for (n, a), c in terms.items():
        if a == 0:
            parts = [(n + 1, c / (n + 1))]
        else:
            parts = [
                (n - k, c * (-1) ** k * factorial(n) / factorial(n - k) / number(a) ** (k + 1))
                for k in range(n + 1)
            ]
        for m, value in parts:
            result[m, a] = result.get((m, a), mpf(0)) + value
    return result


class Line:
    """Cells between kinks; functions are one exponential polynomial ``{(power, rate): factor}`` a cell."""

    def __init__(self, laws):
        ends = {e for rate, mean, low, high in laws for e in (mean, low, high) if abs(e) < inf}
        self.ends = sorted(Fraction(e) for e in ends)

    def density(self, law):
        rate, mean, low, high = law
        cells = []
        for i in range(len(self.ends) + 1):
            left = self.ends[i - 1] if i else -inf
            right = self.ends[i] if i < len(self.ends) else inf
            if left < low or right > high:
                cells.append({})
            elif right <= mean:
                cells.append({(0, rate): number(rate) / 2 * mp.exp(-number(rate * mean))})
            else:
                cells.append({(0, -rate): number(rate) / 2 * mp.exp(number(rate * mean))})
        return cells

    def integral(self, cells):
        """The integral from the left end as a function of the right end, and in all."""
        total, result = mpf(0), []
        for i, terms in enumerate(cells):
            primitive = antiderivative(terms)
            start = at(primitive, self.ends[i - 1]) if i else mpf(0)
            constant = total - start
            function = dict(primitive)
            function[0, Fraction(0)] = function.get((0, Fraction(0)), mpf(0)) + constant
            result.append(function)
            total = at(function, self.ends[i]) if i < len(self.ends) else function[0, Fraction(0)]
        return result, total


def product(f, g):
    result = {}
    for (n, a), c in f.items():
        for (m, b), d in g.items():
            result[n + m, a + b] = result.get((n + m, a + b), mpf(0)) + c * d
    return result


def log_probability(laws, below):
    """``laws`` are ``(rate, mean, low, high)`` in fractions, ``below[j]`` the samples forced under ``j``."""
    mp.dps = DIGITS
    line = Line(laws)
    densities = [line.density(law) for law in laws]
    one = [{(0, Fraction(0)): mpf(1)} for _ in range(len(line.ends) + 1)]

    def extend(placed, function):
        total = mpf(0)
        for j in range(len(laws)):
            if j not in placed and below[j] <= placed:
                grown = [product(f, g) for f, g in zip(function, densities[j], strict=True)]
                integral, whole = line.integral(grown)
                total += whole if len(placed) == len(laws) - 1 else extend(placed | {j}, integral)
        return total

    result = extend(frozenset(), one) if laws else mpf(1)
    return mp.log(result) if result > 0 else -inf
