"""Does a stream stay between two noisy limits?"""

from symdipa import laplace, mechanism


@mechanism
def inside(queries):
    """Two noisy limits, put in order; the first answer outside ends it."""
    low, high = laplace(4), 10 + laplace(4)
    if low > high:
        low, high = high, low
    for q in queries:
        if not low <= q + laplace(4) < high:
            yield "outside"
            return
        yield "inside"


@mechanism
def deviation(queries):
    """One noisy limit on both sides of zero."""
    limit = laplace(4)
    for q in queries:
        if abs(q + laplace(8)) >= limit:
            yield "outside"
            return
        yield "inside"


@mechanism
def inside_for_ever(queries):
    """Wrong: answers on both sides of a limit, without end."""
    low, high = laplace(4), 10 + laplace(4)
    for q in queries:
        noisy = q + laplace(4)
        yield "below" if noisy < low else "above" if noisy >= high else "inside"
