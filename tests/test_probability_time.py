"""Probabilities end in time: long computations check their limits often, and give up when told to."""

from __future__ import annotations

import time
from contextlib import suppress
from math import inf

import pytest
from conftest import EXAMPLES

from symdipa.evidence.probability import (
    Budget,
    ProbabilityRefused,
    log_probability,
    total_log_probability,
)
from symdipa.files.families.published import k_minmax
from symdipa.files.formats import load, loads
from symdipa.model.errors import LimitReached, OutOfTime
from symdipa.model.limits import UNLIMITED, Limits

GAP = 0.7
"""Seconds of the processor between two checks that are allowed."""


def example(name):
    return load(next(EXAMPLES.glob(f"*/{name}.dipa")))


def chain(limits):
    """A leaking cycle: a sweep that counts samples by classes."""
    run, inputs = [0, 1, *[2, 3] * 40], [None] * 2 + [30, -30] * 40
    return log_probability(example("lc_example"), run, inputs, limits=limits)


def planes(limits):
    """Two live values: two-dimensional tables."""
    n = 20
    run = [0, 1, 2] + [3] * n + [5] + [7] * n + [8]
    inputs = [None] * 3 + [8] * n + [8] + [-8] * (n + 1)
    return log_probability(example("two_range_1"), run, inputs, budget=Budget(down_sets=1), limits=limits)


def far_too_many_values(limits):
    """Many live values and no way to have few of them: the search for an order of elimination."""
    names = [f"x{i}" for i in range(40)]
    text = "".join(
        f"(s{i}:non-input, 1, {i}): {x} := insample; output o; goto s{i + 1}\n" for i, x in enumerate(names)
    )
    pairs = [(x, y) for i, x in enumerate(names) for y in names[i + 1 : i + 4]]
    for i, (x, y) in enumerate(pairs, len(names)):
        text += f"(s{i}, 1, 0): if (insample >= {x} && insample < {y}) then output in; goto s{i + 1}\n"
    automaton = loads(text)
    run = list(range(len(automaton.transitions)))
    inputs = [None] * len(names) + [1] * len(pairs)
    return log_probability(automaton, run, inputs, limits=limits)


def blocks(limits):
    """A block that hangs on the rest by one sample: a sweep that keeps the value of its root."""
    text = "(a:non-input, 1, 0): x := insample; output o; goto b\n"
    for i, letter in enumerate("bcdefg"):
        text += (
            f"({letter}, 1, {i}): if (insample >= x) then y{i} := insample; output o; goto {chr(99 + i)}\n"
        )
    text += "(h, 1, 0): if (insample >= y0 && insample >= y1 && insample >= y2) then output o; goto i\n"
    text += "(i, 1, 0): if (insample >= y3 && insample >= y4 && insample >= y5) then output o; goto j\n"
    return log_probability(
        loads(text), list(range(9)), [None] + [0] * 8, budget=Budget(pairs=1), limits=limits
    )


def one_threshold(limits):
    """One live value, and hundreds of kinks."""
    return log_probability(example("svt"), [0, *[1] * 800], [None, *range(800)], limits=limits)


def components(limits):
    """Many parts, no two of them alike."""
    run, inputs = [0, 2] * 60, [x for i in range(60) for x in (None, i / 8)]
    return log_probability(example("svt_redrawn_threshold"), run, inputs, limits=limits)


def forward(limits):
    """The distribution of the stored values, carried along the outputs."""
    inputs = [0.25, 1, -1, 0.5, 2, 0.75, -0.5]
    return total_log_probability(k_minmax(4), inputs, ["oread"] * 4 + ["ocontinue"] * 3, limits=limits)


def many_runs(limits):
    """More runs than can be added up."""
    outputs = ["otop"] * 14
    return total_log_probability(
        example("a_nwf"), [1] * 14, outputs, budget=Budget(nodes=10), max_runs=300, limits=limits
    )


COMPUTATIONS = [chain, planes, far_too_many_values, blocks, one_threshold, components, forward, many_runs]


class Recorder:
    """Progress that remembers the longest time between two reports, in seconds of the processor.

    It can end the computation at a report, or after some seconds.
    """

    def __init__(self, stop=None, seconds=inf):
        self.stop, self.ended = stop, time.monotonic() + seconds
        self.reports, self.gap, self.last = 0, 0.0, time.process_time()

    def __call__(self, doing):
        now = time.process_time()
        self.gap, self.last = max(self.gap, now - self.last), now
        self.reports += 1
        if self.reports == self.stop or time.monotonic() > self.ended:
            raise OutOfTime(doing)
        assert self.stop is None or self.reports < self.stop, "it went on after its time"


@pytest.mark.parametrize("compute", COMPUTATIONS, ids=lambda f: f.__name__)
def test_limits_are_checked_often_and_end_a_computation_at_any_time(compute):
    patience = Recorder(seconds=2)
    with suppress(LimitReached, ProbabilityRefused):
        compute(Limits(progress=patience))
    with suppress(OutOfTime):
        patience("the end")
    assert patience.reports > 5 and patience.gap < GAP
    for stop in {1, 2, 3, patience.reports // 8, patience.reports // 3} - {0}:
        with pytest.raises(OutOfTime):
            compute(Limits(progress=Recorder(stop)))


def test_a_deadline():
    assert planes(Limits.of(600)) == planes(UNLIMITED)
    with pytest.raises(OutOfTime, match=r"time limit reached at the samples of a run"):
        planes(Limits(deadline=time.monotonic() - 1))
