"""A bound on ``D`` from below by all runs that show the same (Thm. same outputs)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from symdipa.model.automaton import Automaton
from symdipa.model.limits import UNLIMITED, Limits

MOST_RUNS = 1_000
"""So many runs, and beginnings of runs, are looked at."""


def least_cost(
    automaton: Automaton,
    run: Sequence[int],
    differences: Sequence[Fraction],
    limits: Limits = UNLIMITED,
) -> Fraction | None:
    """What each run with the outputs of this one costs at least, for these differences of the entries.

    ``differences`` are those of the steps of the run; entries that only other runs read are equal. ``None``
    if there are too many runs, if steps are unseen, or if every run costs infinitely much.
    """
    from symdipa.runs.numbers.possible import feasible
    from symdipa.runs.numbers.shifts import cost
    from symdipa.runs.numbers.system import unrolled

    if not automaton.shows_steps:
        return None
    reads = [automaton.state(t.source).is_input for t in automaton.transitions]
    entries = [difference for t, difference in zip(run, differences, strict=True) if reads[t]]
    alike = _alike(automaton, run, limits)
    if alike is None:
        return None
    least: Fraction | None = None
    for other in alike:
        limits.check("runs with the same outputs")
        following: Iterator[Fraction] = iter(entries)
        given = [next(following, Fraction(0)) if reads[t] else Fraction(0) for t in other]
        system = unrolled(automaton, other)
        found = cost(system, given)
        if found is not None and (least is None or found < least) and feasible(system):
            least = found
    return least


def _alike(automaton: Automaton, run: Sequence[int], limits: Limits) -> list[tuple[int, ...]] | None:
    """All paths that show the outputs of a run, step by step (a number may be any number); ``None`` if there
    are too many."""
    paths: list[tuple[int, ...]] = [()]
    for t in run:
        shape = automaton.transitions[t].output.shape
        longer = []
        for path in paths:
            limits.check("runs with the same outputs")
            where = automaton.transitions[path[-1]].target if path else automaton.initial
            leaving = automaton.outgoing[automaton.index[where]]
            longer += [(*path, u) for u in leaving if automaton.transitions[u].output.shape == shape]
        if len(longer) > MOST_RUNS:
            return None
        paths = longer
    return paths
