"""Laplace distributions in logarithms, without subtracting nearly equal numbers.

A law is given by its *rate* ``k`` (the inverse scale; a state's ``d`` times eps) and its mean ``m``; its
density is ``k/2 * exp(-k*|z - m|)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]
LOG_2 = float(np.log(2.0))


def log_density(rate: float, mean: float, z: Array) -> Array:
    """The logarithm of the density at ``z``."""
    return np.asarray(np.log(rate / 2) - rate * np.abs(z - mean))


def log_interval(rate: float, mean: float, low: Array | float, high: Array | float) -> Array:
    """The logarithm of the probability of ``[low, high]``; ``-inf`` where ``low >= high``."""
    u = rate * (np.asarray(low, dtype=float) - mean)
    v = rate * (np.asarray(high, dtype=float) - mean)
    u, v = np.broadcast_arrays(u, v)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        gap = np.where(v > u, u - v, 0.0)
        one_sided = -np.maximum(np.maximum(u, -v), 0.0) - LOG_2 + np.log(-np.expm1(gap))
        across = np.log(-0.5 * np.expm1(np.minimum(u, 0.0)) - 0.5 * np.expm1(-np.maximum(v, 0.0)))
    return np.where(v > u, np.where((u < 0) & (v > 0), across, one_sided), -np.inf)


def log_interval_continued(rate: float, mean: float, low: Array, high: Array) -> Array:
    """As :func:`log_interval` for ends on one side of the mean, with ``|.|`` of the analytic continuation.

    Where ``low > high`` the continued probability is negative; the result is the logarithm of its size.
    """
    u, v = rate * (low - mean), rate * (high - mean)
    gap = np.abs(u - v)
    with np.errstate(divide="ignore"):  # log(exp(gap) - 1), less the larger of the exponents
        grown = gap + np.log(-np.expm1(-gap))
    return np.asarray(-np.maximum(np.maximum(u, v), np.maximum(-u, -v)) - LOG_2 + grown)


def log_hazard_up(rate: float, mean: float, x: Array) -> Array:
    """How fast ``log P[z <= x]`` grows at ``x``: density over distribution function, at most the rate."""
    return np.asarray(np.exp(log_density(rate, mean, x) - log_interval(rate, mean, -np.inf, x)))


def log_hazard_down(rate: float, mean: float, x: Array) -> Array:
    """How fast ``log P[z >= x]`` falls at ``x``."""
    return np.asarray(np.exp(log_density(rate, mean, x) - log_interval(rate, mean, x, np.inf)))
