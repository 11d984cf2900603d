"""The sparse vector technique that also tells by how much an answer exceeds the threshold."""

from symdipa import laplace, mechanism


@mechanism
def gap_svt(queries, *, c=2):
    """The gap is free: it is the same if the answer and the threshold move together."""
    t = laplace(2)
    count = 0
    for q in queries:
        noisy = q + laplace(4 * c)
        if noisy >= t:
            yield "high", noisy - t
            count += 1
            if count == c:
                return
        else:
            yield "low"


@mechanism
def answer_shown(queries, *, c=2):
    """Wrong: the answer itself is shown, and with it where the threshold was for all that came before."""
    t = laplace(2)
    count = 0
    for q in queries:
        noisy = q + laplace(4 * c)
        if noisy >= t:
            yield "high", noisy
            count += 1
            if count == c:
                return
        else:
            yield "low"


@mechanism
def fresh_answer(queries, *, c=2):
    """Right again: the answer that is shown has noise of its own."""
    t = laplace(3)
    count = 0
    for q in queries:
        if q + laplace(6 * c) >= t:
            yield "high", q + laplace(3 * c)
            count += 1
            if count == c:
                return
        else:
            yield "low"
