"""Sums of a stream in which one entry differs, with as little noise as possible."""

from symdipa import laplace, mechanism


@mechanism(differ="entries=1")
def total(queries):
    """The sum of all entries, when they have ended."""
    found = 0
    for q in queries:
        found += q
    yield found + laplace(1)


@mechanism(differ="entries=1")
def prefix_sums(queries):
    """Every prefix sum, each the one before plus one noisy entry."""
    out = 0
    for q in queries:
        out = out + q + laplace(1)
        yield out


@mechanism(differ="entries=1")
def smart_sum(queries, *, block=3):
    """Prefix sums from noisy entries, and from noisy sums of whole blocks."""
    out, inside, place = 0, 0, 0
    start = 0
    for q in queries:
        place += 1
        if place < block:
            out = out + q + laplace(1)
            inside += q
        else:
            start = start + inside + q + laplace(1)
            out, inside, place = start, 0, 0
        yield out


@mechanism(differ="entries=1")
def fresh_noise_on_everything(queries):
    """Wrong: the entry that differs is in every sum from then on."""
    found = 0
    for q in queries:
        found += q
        yield found + laplace(1)


@mechanism(differ="entries=1")
def block_without_noise(queries, *, block=3):
    """Wrong: the sum of a block is shown as it is."""
    out, inside, place = 0, 0, 0
    for q in queries:
        place += 1
        if place < block:
            out = out + q + laplace(1)
            inside += q
        else:
            out, inside, place = inside + q, 0, 0
        yield out
