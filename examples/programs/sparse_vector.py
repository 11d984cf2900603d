"""The sparse vector technique: which queries lie above a noisy threshold, until c of them did."""

from symdipa import laplace, mechanism


@mechanism
def svt(queries, *, c=3):
    """Half of the budget is for the threshold, which is drawn once, and half for the c answers above it.

    Answers below it are free.
    """
    t = laplace(2)
    count = 0
    for q in queries:
        if q + laplace(4 * c) >= t:
            yield "high"
            count += 1
            if count == c:
                return
        else:
            yield "low"


@mechanism
def without_cutoff(queries):
    """Wrong: every answer above the threshold costs, and there is no end to them."""
    t = laplace(2)
    for q in queries:
        yield "high" if q + laplace(4) >= t else "low"


@mechanism
def without_query_noise(queries):
    """Wrong: a query itself is compared, so where it lies exactly shows in the answer."""
    t = laplace(1)
    for q in queries:
        if q >= t:
            yield "high"
            return
        yield "low"


@mechanism
def threshold_shown(queries, *, c=1):
    """Wrong: whoever knows the threshold sees what the answers below it have cost."""
    t = laplace(2)
    count = 0
    for q in queries:
        if q + laplace(4 * c) >= t:
            yield "high"
            count += 1
            if count == c:
                yield t
                return
        else:
            yield "low"
