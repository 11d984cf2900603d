"""A bound on ``D`` from below by all runs that show the same (Thm. same outputs)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from symdipa.model.automaton import Automaton
from symdipa.model.limits import UNLIMITED, Limits

MOST_RUNS = 1_000
"""So many runs, and beginnings of runs, are looked at."""


@dataclass(frozen=True)
class Alike:
    """All feasible runs of an automaton that show the same, and what each of them costs at least.

    ``differences`` are those of the steps of the first run; the others read the same entries.
    """

    value: Fraction
    runs: tuple[tuple[int, ...], ...]
    differences: tuple[Fraction, ...]

    def differences_of(self, automaton: Automaton, run: Sequence[int]) -> list[Fraction]:
        """Those of the steps of one of the runs; entries that only it reads are equal."""
        return _given(automaton, self.runs[0], self.differences, run)


def runs_alike(
    automaton: Automaton,
    run: Sequence[int],
    differences: Sequence[Fraction],
    limits: Limits = UNLIMITED,
) -> Alike | None:
    """What each run with the outputs of this one costs at least, for these differences of its steps.

    ``None`` if there are too many runs, if steps are unseen, or if every run costs infinitely much.
    """
    from symdipa.runs.numbers.possible import feasible
    from symdipa.runs.numbers.shifts import cost
    from symdipa.runs.numbers.system import unrolled

    if not automaton.shows_steps:
        return None
    paths = _alike(automaton, run, limits)
    if paths is None:
        return None
    runs, costs = [tuple(run)], list[Fraction]()
    for other in paths:
        limits.check("runs with the same outputs")
        system = unrolled(automaton, other)
        if not feasible(system):
            continue
        if other != runs[0]:
            runs.append(other)
        found = cost(system, _given(automaton, run, differences, other))
        if found is not None:
            costs.append(found)
    return Alike(min(costs), tuple(runs), tuple(differences)) if costs else None


def _given(
    automaton: Automaton, run: Sequence[int], differences: Sequence[Fraction], other: Sequence[int]
) -> list[Fraction]:
    reads = [automaton.state(t.source).is_input for t in automaton.transitions]
    read = (difference for t, difference in zip(run, differences, strict=True) if reads[t])
    return [next(read, Fraction(0)) if reads[t] else Fraction(0) for t in other]


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
