"""Do the engines say what the definitions say? Random automata, judged by ``tests/brute_force.py``.

Usage: ``python benchmarks/agree.py --seed 1 --count 3000 --jobs 2 --engines explicit,z3:ghost,z3:marks``

For each automaton (number ``i`` is made from the seed and ``i`` alone, so ``--only i`` repeats it) the judge
decides the four patterns by a search without bound on the length, which knows nothing of the engines'
algorithms, and each of its runs is confirmed by the literal definitions. Then every engine is asked through
:func:`symdipa.analysis.check`. It is a *disagreement* if

* an engine says present or absent and the judge the opposite (which of the two is wrong is told where an
  engine's witness settles it), or two engines contradict each other where the judge gave up;
* an engine's witness is not one: its run is not feasible, a cycle is none or leaks, an edge of its path is
  missing (``faults`` of the judge);
* an engine raises an exception.

``unknown`` and ``skipped`` are counted for each engine and never taken for an answer. ``--literal N`` also
compares the judge's search with the enumeration of all runs up to length ``N`` (capped, see ``CAP``).

With ``--wide`` (or ``--differ``) the automata are those of the wider model, the judge is another, and bounds
and certificates are asked for, too: ``agree_wide.py`` says what is compared.

Shown: how many automata have each pattern, several, exactly one, none; their sizes; the time of the judge and
of each engine; every disagreement as a ``.dipa`` text. The exit status is 1 if there is any.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import brute_force as judge  # noqa: E402
from random_automata import random_automaton, random_product  # noqa: E402

from symdipa.files import formats  # noqa: E402
from symdipa.model.automaton import Automaton  # noqa: E402
from symdipa.model.options import ENCODINGS, CheckOptions  # noqa: E402
from symdipa.model.patterns import Pattern  # noqa: E402
from symdipa.model.validation import validate  # noqa: E402
from symdipa.model.verdict import PatternResult, Status  # noqa: E402

CAP = 500
"""The literal search stops at a length that has more runs than this."""

Answers = dict[Pattern, bool | None]
"""Present, absent, or not known."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What is asked, of whom.

    An engine is named by words with colons between: ``explicit``, ``auto`` or ``z3``, then if wanted an
    encoding (``marks``, ``ghost``), a solver (``minisat``, ...) and ``whole`` for no slicing.
    """

    seed: int
    engines: tuple[str, ...]
    variables: tuple[int, ...]
    states: tuple[int, ...]
    literal: int
    timeout: float | None
    products: bool = False
    judge: bool = True


@dataclass(slots=True)
class Outcome:
    """All about one automaton. ``seconds`` and ``open`` (patterns without an answer) are by engine."""

    index: int
    sizes: tuple[int, int, int]
    present: tuple[Pattern, ...] = ()
    judged: bool = True
    seconds: dict[str, float] = field(default_factory=dict)
    open: dict[str, list[str]] = field(default_factory=dict)
    disagreements: list[str] = field(default_factory=list)
    text: str = ""


def examine(setup: Setup, index: int) -> Outcome:
    """Judge automaton number ``index``, ask the engines, compare."""
    rng = random.Random(f"{setup.seed}/{index}")
    draw = random_product if setup.products else random_automaton
    automaton = draw(rng, setup.variables, setup.states)
    validate(automaton)
    sizes = len(automaton.variables), len(automaton.states), len(automaton.transitions)
    outcome = Outcome(index, sizes)
    expected = _judged(automaton, setup, outcome)
    for name in setup.engines:
        _compare(automaton, name, expected, setup, outcome)
    outcome.present = tuple(p for p in Pattern if expected[p])
    if outcome.disagreements:
        outcome.text = formats.dumps(automaton)
    return outcome


def _judged(automaton: Automaton, setup: Setup, outcome: Outcome) -> Answers:
    """The judge's answers; where its search is too large, what a search of bounded length finds."""
    if not setup.judge:
        return dict.fromkeys(Pattern)
    start = time.perf_counter()
    try:
        runs = judge.decide(automaton)
    except judge.TooLarge:
        outcome.judged = False
        bounded = judge.patterns(automaton, 12, CAP)
        return {pattern: present or None for pattern, present in bounded.items()}
    outcome.seconds["judge"] = time.perf_counter() - start
    for pattern, run in runs.items():
        if run is not None and pattern not in judge.shows(automaton, run):
            outcome.disagreements.append(f"{pattern.short}: the judge's run does not show it: {run}")
    if setup.literal:
        bounded = judge.patterns(automaton, setup.literal, CAP)
        missed = [pattern.short for pattern in Pattern if bounded[pattern] and runs[pattern] is None]
        outcome.disagreements += [f"{short}: only the judge's literal search finds it" for short in missed]
    return {pattern: run is not None for pattern, run in runs.items()}


def _compare(automaton: Automaton, name: str, expected: Answers, setup: Setup, outcome: Outcome) -> None:
    """Ask one engine; where the judge gave up, its answer is what the engines after it are held against."""
    start = time.perf_counter()
    try:
        results = _asked(automaton, name, setup.timeout)
    except Exception as error:
        outcome.disagreements.append(f"{name}: {type(error).__name__}: {error}")
        return
    finally:
        outcome.seconds[name] = time.perf_counter() - start
    for pattern in Pattern:
        result = results[pattern]
        if result.status not in (Status.PRESENT, Status.ABSENT):
            outcome.open.setdefault(name, []).append(f"{pattern.short} {result.status.value}")
            continue
        present = result.status is Status.PRESENT
        if expected[pattern] is None:
            expected[pattern] = present
        complaint = _complaint(automaton, pattern, result, expected[pattern] is present)
        if complaint:
            outcome.disagreements.append(f"{name}, {pattern.short} {result.status.value}: {complaint}")


def _asked(automaton: Automaton, name: str, timeout: float | None) -> dict[Pattern, PatternResult]:
    from symdipa import analysis

    engine, *words = name.split(":")
    options = CheckOptions(engine, timeout=timeout)
    for word in words:
        if word == "whole":
            options = replace(options, slicing=False)
        elif word in ENCODINGS:
            options = replace(options, encoding=word)
        else:
            options = replace(options, solver=word)
    return dict(analysis.check_with(automaton, options).patterns)


def _complaint(automaton: Automaton, pattern: Pattern, result: PatternResult, agrees: bool) -> str:
    """What is wrong with an answer; empty if nothing is."""
    witness = result.witness
    if witness is None:
        return "" if agrees else "others say the opposite"
    found = judge.faults(automaton, pattern, witness.run, witness.cycles, witness.path)
    if found:
        return f"witness refused: {'; '.join(found)}: {witness}"
    return "" if agrees else f"others say the opposite, and are wrong: {witness}"


# The report


def report(setup: Setup, outcomes: Sequence[Outcome], seconds: float) -> str:
    """The whole report as text."""
    parts = _shares(setup, outcomes), _times(setup, outcomes, seconds), _disagreements(outcomes)
    return "\n".join(chain.from_iterable(parts))


def _shares(setup: Setup, outcomes: Sequence[Outcome]) -> Iterator[str]:
    count = len(outcomes)
    yield f"{count} automata, seed {setup.seed}, engines: {', '.join(setup.engines) or 'none'}"
    for place, what in enumerate(("variables", "states", "transitions")):
        values = sorted(outcome.sizes[place] for outcome in outcomes)
        yield f"  {what}: {values[0]} to {values[-1]}, median {values[count // 2]}"
    numbers = {p.title: sum(p in outcome.present for outcome in outcomes) for p in Pattern}
    several = Counter(len(outcome.present) for outcome in outcomes)
    numbers |= {"none (well-formed)": several[0], "exactly one": several[1]}
    numbers |= {"several": count - several[0] - several[1]}
    for what, number in numbers.items():
        yield f"  {what + ':':24}{number:6} {100 * number / count:5.1f} %"
    unjudged = [outcome.index for outcome in outcomes if not outcome.judged]
    yield f"  too large for the judge: {len(unjudged)} {unjudged[:20] or ''}"


def _times(setup: Setup, outcomes: Sequence[Outcome], seconds: float) -> Iterator[str]:
    yield f"time: {seconds:.1f} s in all"
    for name in ("judge", *setup.engines):
        times = sorted((outcome.seconds.get(name, 0.0), outcome.index) for outcome in outcomes)
        worst, index = times[-1]
        total, median = sum(t for t, _ in times), times[len(times) // 2][0]
        line = (
            f"  {name + ':':14}{total:8.1f} s, median {median:.4f} s, longest {worst:.3f} s (number {index})"
        )
        missing = Counter(what for outcome in outcomes for what in outcome.open.get(name, ()))
        if name != "judge":
            listed = ", ".join(f"{number} {what}" for what, number in sorted(missing.items()))
            line += f"; without an answer: {listed or 'none'}"
        yield line


def _disagreements(outcomes: Sequence[Outcome]) -> Iterator[str]:
    failing = [outcome for outcome in outcomes if outcome.disagreements]
    yield f"disagreements: {len(failing)}"
    for outcome in failing:
        yield f"\nnumber {outcome.index}:"
        yield from (f"  {line}" for line in outcome.disagreements)
        yield outcome.text


# The command


def run(work: Callable[[int], Any], indices: Sequence[int], jobs: int) -> list[Any]:
    """Examine the automata, in parallel if there are several jobs, with progress on standard error."""
    if jobs == 1:
        return list(_watched(map(work, indices), len(indices)))
    with ProcessPoolExecutor(jobs) as pool:
        return list(_watched(pool.map(work, indices, chunksize=4), len(indices)))


def _watched(outcomes: Iterator[Any], count: int) -> Iterator[Any]:
    shown, failing = 0.0, 0
    for done, outcome in enumerate(outcomes, 1):
        failing += bool(outcome.disagreements)
        if time.monotonic() - shown > 1 or done == count:
            shown = time.monotonic()
            print(f"\r{done}/{count}, {failing} disagreements", end="", file=sys.stderr, flush=True)
        yield outcome
    print(file=sys.stderr)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(","))


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--seed", type=int, default=0)
    add("--count", type=int, default=3000)
    add("--only", type=int, help="examine this number alone")
    add("--jobs", type=int, default=1)
    add("--engines", default=None, help="comma-separated; may be empty")
    add("--wide", action="store_true", help="automata of the wider model, their bounds and certificates")
    add("--differ", action="store_true", help="the same with registers, and with entries that may not differ")
    add("--variables", type=_numbers, default=(1, 2, 2, 3, 3, 4), help="choices, comma-separated")
    add("--states", type=_numbers, default=(2, 3, 4, 5, 6), help="states behind the prefix")
    add("--products", action="store_true", help="two automata taking turns, each with so many variables")
    add("--no-judge", dest="judge", action="store_false", help="hold the engines against each other only")
    add("--literal", type=int, default=0, metavar="N", help="also enumerate runs up to length N")
    add("--timeout", type=float, help="seconds for one engine on one automaton")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    options = arguments(words)
    named = "explicit,z3:ghost,z3:marks" if options.engines is None else options.engines
    engines = tuple(name for name in named.split(",") if name)
    indices = range(options.count) if options.only is None else [options.only]
    if options.wide or options.differ:
        return _wide(options, engines, indices)
    setup = Setup(
        options.seed,
        engines,
        options.variables,
        options.states,
        options.literal,
        options.timeout,
        options.products,
        options.judge,
    )
    start = time.monotonic()
    outcomes = run(partial(examine, setup), indices, options.jobs)
    print(report(setup, outcomes, time.monotonic() - start))
    return int(any(outcome.disagreements for outcome in outcomes))


def _wide(options: argparse.Namespace, engines: tuple[str, ...], indices: Sequence[int]) -> int:
    import agree_wide

    setup = agree_wide.Setup(options.seed, agree_wide.ENGINES if options.engines is None else engines)
    setup = replace(setup, differ=options.differ)
    if options.timeout is not None:
        setup = replace(setup, timeout=options.timeout)
    start = time.monotonic()
    outcomes = run(partial(agree_wide.examine, setup), indices, options.jobs)
    print(agree_wide.report(setup, outcomes, time.monotonic() - start))
    return int(any(outcome.disagreements for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
