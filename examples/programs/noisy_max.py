"""Report Noisy Max: which of k queries is largest, up to noise."""

import math

from symdipa import exponential, laplace, mechanism


@mechanism
def noisy_max(queries, *, k=3):
    """Only the index is shown."""
    best, index = -math.inf, 0
    for i in range(k):
        noisy = next(queries) + laplace(2)
        if noisy > best:
            best, index = noisy, i
    yield index


@mechanism
def with_its_value(queries, *, k=3):
    """The noisy value of the largest is shown, too, which every other query has to stay below."""
    noisy = [queries[i] + laplace(2) for i in range(k)]
    best = max(range(k), key=lambda i: noisy[i])
    yield best, noisy[best]


@mechanism
def one_sided(queries, *, k=2):
    """With exponential noise."""
    best, index = -math.inf, 0
    for i in range(k):
        noisy = next(queries) + exponential(2)
        if noisy > best:
            best, index = noisy, i
    yield index


@mechanism
def first_shown(queries):
    """Wrong: noise that only ever adds is shown, so some answers tell that the query is not above them."""
    yield next(queries) + exponential(2)
