"""Counts of several bins, each with noise of its own."""

from symdipa import laplace, mechanism


@mechanism(differ="entries=1", integer=True)
def histogram(counts, *, bins=5):
    """One record is in one bin."""
    for _ in range(bins):
        yield next(counts) + laplace(1)


@mechanism(integer=True)
def every_bin_differs(counts, *, bins=5):
    """The same where one person is in every bin: it costs as much for each."""
    for _ in range(bins):
        yield next(counts) + laplace(1)


@mechanism(differ="entries=1", integer=True)
def large_bins_only(counts, *, bins=5, least=10):
    """Small counts are left out, after noise was added."""
    for _ in range(bins):
        noisy = next(counts) + laplace(1)
        yield noisy if noisy >= least else "small"


@mechanism(differ="entries=1", integer=True)
def empty_bins_shown(counts, *, bins=5):
    """Wrong: whether a bin is empty is told without noise."""
    for _ in range(bins):
        count = next(counts)
        yield "empty" if count == 0 else count + laplace(1)
