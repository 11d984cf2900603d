"""The sparse vector technique that first looks with much noise, which costs less if that is enough."""

from symdipa import laplace, mechanism

MARGIN = 16


@mechanism
def adaptive_svt(queries):
    """A coarse look, then a finer one at the same query. One answer ends it."""
    t = laplace(2)
    for q in queries:
        coarse = q + laplace(16)
        if coarse - MARGIN >= t:
            yield "coarse", coarse - MARGIN - t
            return
        fine = q + laplace(8)
        if fine >= t:
            yield "fine", fine - t
            return
        yield "low"


@mechanism
def adaptive_for_ever(queries):
    """Wrong: there is no end to the answers."""
    t = laplace(2)
    for q in queries:
        if q + laplace(16) - MARGIN >= t:
            yield "coarse"
        else:
            yield "fine" if q + laplace(8) >= t else "low"
