"""A few single numbers instead of a stream."""

from symdipa import laplace, mechanism


def noisy(x, scale):
    return x + laplace(scale)


@mechanism
def larger(x, y):
    """Which of two numbers is larger, and by how much."""
    a, b = noisy(x, 2), noisy(y, 2)
    yield ("x", a - b) if a >= b else ("y", b - a)


@mechanism
def mean(x, y):
    """The mean of two numbers."""
    yield (x + y) / 2 + laplace(1)


@mechanism
def released_once(x):
    """What has been shown is public: it may be compared and added to as one likes."""
    a = noisy(x, 1)
    yield a
    for limit in (0, 10, 20):
        yield a >= limit


@mechanism
def released_twice(x):
    """The same number with fresh noise: it costs twice."""
    yield noisy(x, 1)
    yield noisy(x, 1)
