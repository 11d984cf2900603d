"""A counterexample as a program of its own, which computes both probabilities again.

It needs Python's standard library and nothing else, and holds the runs with the outputs, as what they draw
and compare (:mod:`symdipa.runs.numbers.system`), both inputs, and the code of
:mod:`~symdipa.evidence.refutation.recompute`.
"""

from __future__ import annotations

import ast
import io
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from fractions import Fraction
from importlib.resources import files
from itertools import islice
from math import inf
from pprint import pformat
from typing import Any

from symdipa import __version__
from symdipa.evidence.probability.linear.events import aligned, exact, is_seen, matching_runs, windows_of
from symdipa.evidence.refutation import recompute
from symdipa.evidence.refutation.adjacent import ranges_of
from symdipa.evidence.refutation.outcome import NoRefutation, Refutation
from symdipa.evidence.refutation.rays import MOST_RUNS, observed
from symdipa.model.automaton import Automaton, Noise
from symdipa.model.errors import OutOfTime
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.runs.numbers.system import Value, unrolled

KINDS = {Noise.LAPLACE: "laplace", Noise.EXPONENTIAL: "exponential", Noise.NONE: "none"}
Term = tuple[int, int | None, str]


def script(found: Refutation, limits: Limits = UNLIMITED) -> str:
    """The program of a counterexample, which was run once.

    Raises :class:`NoRefutation` where nothing is refuted, or not by such a program, or that is not known
    within the time of ``limits`` (which is honoured within a second or so).
    """
    if not found.holds:
        raise NoRefutation(f"there is no counterexample to write: {found.missing or 'nothing is refuted'}")
    try:
        data = contents(found, limits)
        left = limits.left()
        with redirect_stdout(io.StringIO()):
            confirmed = recompute.refuted(data, inf if left is None else time.monotonic() + left)
    except OutOfTime:
        raise NoRefutation("the time was over before it was known what it has to hold") from None
    except recompute.TooMuchWork as reason:
        raise NoRefutation(f"a program of its own cannot compute the probabilities: {reason}") from None
    if not confirmed:
        raise NoRefutation("computed again, the probabilities do not refute it clearly enough")
    return "".join(_parts(found, data))


def contents(found: Refutation, limits: Limits = UNLIMITED) -> recompute.Data:
    """What a program has to know."""
    automaton, further = found.automaton, [str(x) for x in found.further]
    entries = [Fraction(x) for x in found.alpha if x is not None] + list(found.further)
    seen = observed(automaton, found.run, found.outputs)
    found_runs = matching_runs(automaton, entries, seen, False, limits, automaton.unseen)
    runs = list(islice(found_runs, MOST_RUNS + 1))
    if len(runs) > MOST_RUNS:
        raise NoRefutation("too many runs show the same outputs for a program of its own")
    return {
        "claimed": str(found.exceeds),
        "eps": str(found.eps),
        "whole": automaton.integer,
        "ranges": [(str(low), str(high)) for low, high in ranges_of(automaton)],
        "moves": list(automaton.differ.moves),
        "alpha": [str(x) for x in found.alpha if x is not None] + further,
        "beta": [str(x) for x in found.beta if x is not None] + further,
        "runs": [_run(found, run) for run in runs],
    }


def _run(found: Refutation, run: Sequence[int]) -> dict[str, Any]:
    """What a run draws, compares and shows."""
    automaton = found.automaton
    system = unrolled(automaton, run)
    number = {j: k for k, j in enumerate(j for j, reads in enumerate(system.reads) if reads)}
    samples = [
        (KINDS[s.noise], str(s.d), str(s.mean), {number[j]: str(factor) for j, factor in s.entries})
        for s in system.samples
    ]
    comparisons = [(_term(c.low), "<" if c.strict else "<=", _term(c.high)) for c in system.comparisons]
    outputs = [automaton.transitions[t].output for t in run]
    steps = zip(found.run, found.outputs, strict=True)
    seen = (each for t, each in steps if is_seen(automaton.transitions[t].output, automaton.unseen))
    asked = zip(aligned(automaton, run, seen, automaton.unseen), outputs, strict=True)
    windows = [window for each, output in asked for window in windows_of(each, output)]
    for shown, window in zip(system.shown, windows, strict=True):
        if window is None:
            continue
        other = shown.subtrahend or Value(None)
        low, high = window
        if low > -inf:
            comparisons.append((_term(other, exact(low)), "<=", _term(shown.value)))
        if high < inf:
            comparisons.append((_term(shown.value), "<=", _term(other, exact(high))))
    return {"steps": list(_steps(automaton, run)), "samples": samples, "comparisons": comparisons}


def _term(value: Value, more: Fraction = Fraction(0)) -> Term:
    return value.sign, value.sample, str(value.offset + more)


def _steps(automaton: Automaton, run: Sequence[int]) -> Iterator[str]:
    """The steps of a run for a reader."""
    for step, t in enumerate(run, 1):
        transition = automaton.transitions[t]
        guard = str(transition.guard)
        condition = "" if guard in ("", "true") else f" if {guard}"
        yield f"{step}: {transition.source} -> {transition.target}{condition}, shows {transition.output}"


def _plain(text: str) -> str:
    """A text that ends no docstring, whatever it is."""
    return "".join(c if c.isascii() and (c.isalnum() or c in " _-.,:=()~*") else "?" for c in text)


def _parts(found: Refutation, data: recompute.Data) -> Iterator[str]:
    name = found.automaton.name or "a mechanism"
    source = files("symdipa.evidence.refutation").joinpath("recompute.py").read_text(encoding="utf-8")
    body = ast.parse(source).body
    imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    lines = source.splitlines(keepends=True)
    first, last = imports[0].lineno - 1, imports[-1].end_lineno or 0
    yield f'''#!/usr/bin/env python3
"""A counterexample to a privacy claim, as a program (written by symdipa {__version__}).

Claimed: {_plain(name)} is D*eps-private with D = {found.exceeds}; where inputs are adjacent,
{_plain(found.automaton.differ.words)}, by numbers in one of the "ranges" below. Here are two
such inputs, alpha and beta, and outputs that are more than exp(D*eps) times as likely on alpha as on beta, at
eps = {found.eps}.

This program computes both probabilities. Its exit status is 0 if they refute the claim, and 1 if they do not.
It needs Python 3.10 or later, and nothing else.

What is to be compared with the mechanism are the "runs", all that show the outputs: their "steps"; their
"samples" (noise, inverse scale in units of eps, mean without inputs, and by which factors which entries are
in it); and their "comparisons". There (1, 0, "3") is sample 0 plus 3, (-1, 0, "0") the negative of sample 0,
and (1, None, "3") the number 3. A number that is shown has to lie in an interval: that is two comparisons.
"""

'''
    yield from lines[first:last]
    yield f"\nDATA = {pformat(data, width=110, compact=True, sort_dicts=False)}\n"
    yield from lines[last:]
    yield """

if __name__ == "__main__":
    raise SystemExit(0 if refuted(DATA) else 1)
"""
