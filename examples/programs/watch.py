"""Mechanisms that watch a stream for ever. Some may."""

from symdipa import laplace, mechanism


@mechanism
def every_other(queries):
    """Wrong where every entry may differ: every other one is shown."""
    shown = True
    for q in queries:
        if shown:
            yield q + laplace(1)
        else:
            yield "hidden"
        shown = not shown


@mechanism(differ="window=2")
def every_other_of_a_window(queries):
    """The same where only two entries that follow each other may differ."""
    shown = True
    for q in queries:
        if shown:
            yield q + laplace(1)
        else:
            yield "hidden"
        shown = not shown


@mechanism(differ="entries=1")
def above_five(queries):
    """A fixed limit, and one entry that differs."""
    for q in queries:
        yield q + laplace(1) >= 5
