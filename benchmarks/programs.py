"""Do programs mean what their automata mean? Random automata, written as programs and translated back.

Usage: ``python benchmarks/programs.py --seed 1 --count 500 --jobs 2``

Number ``i`` is made from the seed and ``i`` alone, so ``--only i`` repeats it: an automaton of the paper's
class, one of the wider model, or one with registers where only some entries may differ (``--kinds
plain,linear,differ`` chooses among them). It is written as a program in Python
(``tests/programs_written.py``) that is followed as any other. It is a *disagreement* if

* with the same inputs and noise the program, the automaton that it was written from, and the one that it was
  translated to do not show the same;
* one automaton is private and the other is not, or a bound on ``D`` of one from above is below one of the
  other from below;
* less is known of the translation: no verdict, or a bound on ``D`` that is worse; of the paper's class
  already if it is another one;
* anybody raises an exception, but for programs that are refused, which are counted with the reason.

Shown: what was followed, refused and compared, how long it took, every disagreement with the program. The
exit status is 1 if there is any.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "benchmarks")]

from agree import run  # noqa: E402
from agree_wide import disagreements, timed  # noqa: E402
from programs_lockstep import agree, beside  # noqa: E402
from programs_written import with_own_scales, without_dead_variables, written  # noqa: E402
from random_automata import random_automaton  # noqa: E402
from random_differ import random_differ  # noqa: E402
from random_linear import random_linear  # noqa: E402

from symdipa import analysis  # noqa: E402
from symdipa.model.automaton import Automaton  # noqa: E402
from symdipa.model.errors import InvalidInput  # noqa: E402
from symdipa.model.limits import UNLIMITED  # noqa: E402
from symdipa.model.verdict import Result, Verdict  # noqa: E402
from symdipa.programs.automaton import Translation, translated  # noqa: E402
from symdipa.programs.python.files import load  # noqa: E402
from symdipa.programs.python.run import PythonProgram  # noqa: E402

KINDS: dict[str, Callable[[random.Random], Automaton]] = {
    "plain": random_automaton,
    "linear": random_linear,
    "differ": random_differ,
}

RUNS, TIMEOUT = 40, 20.0
"""Runs in lock step of each program, and seconds for a question."""

DECIDED = {Verdict.PRIVATE, Verdict.NOT_PRIVATE}

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Setup:
    """What is asked: so many runs in lock step, verdicts and bounds within so many seconds."""

    seed: int
    kinds: tuple[str, ...] = tuple(KINDS)
    runs: int = RUNS
    timeout: float = TIMEOUT


@dataclass(slots=True)
class Outcome:
    """All about one program."""

    index: int
    seen: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    disagreements: list[str] = field(default_factory=list)
    text: str = ""

    def timed(self, what: str, work: Callable[[], Made]) -> Made:
        start = time.process_time()
        try:
            return work()
        finally:
            self.seconds[what] = self.seconds.get(what, 0.0) + time.process_time() - start


def automaton_of(setup: Setup, index: int) -> tuple[str, Automaton]:
    """Automaton number ``index`` and its kind: one that reads something, as programs do."""
    rng = random.Random(f"{setup.seed}/{index}")
    kind = rng.choice(setup.kinds)
    while True:
        automaton = without_dead_variables(KINDS[kind](rng))
        leaving = {t.source for t in automaton.transitions}
        if any(state.is_input and state.name in leaving for state in automaton.states):
            return kind, automaton


def examine(setup: Setup, index: int) -> Outcome:
    """Write a program, run it beside its automaton, compare the answers."""
    kind, automaton = automaton_of(setup, index)
    outcome = Outcome(index, Counter([kind]))
    try:
        _in_lock_step(setup, with_own_scales(automaton), outcome)
        _compare_answers(setup, kind, automaton, outcome)
    except InvalidInput as refused:
        for problem in refused.problems:
            outcome.seen[f"refused: {re.sub(r'[0-9]+', 'N', problem.message)}"] += 1
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        outcome.disagreements.append(f"{type(error).__name__} at {place}: {error}")
    if outcome.disagreements:
        outcome.text = written(automaton)
    return outcome


def _followed(automaton: Automaton, outcome: Outcome) -> tuple[PythonProgram, Translation]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "written.py"
        file.write_text(written(automaton), encoding="utf-8")
        program = load(str(file), None, {}, UNLIMITED)
        return program, outcome.timed("following", lambda: translated(program))


def _in_lock_step(setup: Setup, automaton: Automaton, outcome: Outcome) -> None:
    """Compare what is shown; every sample has a scale of its own, by which they are told apart."""
    program, translation = _followed(automaton, outcome)
    outcome.seen["followed"] += 1
    start = time.process_time()
    rng = random.Random(outcome.index)
    for entries, *pairs in beside(automaton, program.mechanism, translation, rng, setup.runs):
        outcome.seen["outputs in lock step"] += len(pairs[0][0])
        for who, (shown, found) in zip(("automaton", "translation"), pairs, strict=True):
            if not agree(found, shown):
                outcome.disagreements.append(f"the {who} shows {found}, the program {shown} on {entries}")
        if outcome.disagreements:
            break
    outcome.seconds["lock step"] = time.process_time() - start


def _compare_answers(setup: Setup, kind: str, automaton: Automaton, outcome: Outcome) -> None:
    """Compare verdicts and bounds."""
    _, translation = _followed(automaton, outcome)
    ask = partial(analysis.weigh, timeout=setup.timeout)
    origin = outcome.timed("the automaton", lambda: ask(automaton))
    found = outcome.timed("the translation", lambda: ask(translation.automaton))
    pair = f"{origin.verdict.value} / {found.verdict.value}"
    outcome.seen[f"verdicts: {pair}"] += 1
    decided = {origin.verdict, found.verdict} & DECIDED
    if len(decided) > 1 or (origin.verdict in DECIDED and found.verdict not in DECIDED):
        outcome.disagreements.append(f"verdicts: {pair}")
    if origin.verdict is found.verdict is Verdict.PRIVATE:
        _compare_bounds(kind == "plain", origin, found, outcome)


def _compare_bounds(exactly: bool, origin: Result, found: Result, outcome: Outcome) -> None:
    bounds = [result.bounds for result in (origin, found)]
    best = [inf if each is None or each.best is None else each.best for each in bounds]
    least = [-inf if each is None or each.needed is None else each.needed for each in bounds]
    told = f"D: {least[0]} to {best[0]} / {least[1]} to {best[1]}"
    outcome.seen["the same D" if best[0] == best[1] else "another bound on D"] += 1
    contradiction = least[0] > best[1] or least[1] > best[0]
    weaker = best[0] < best[1] or (least[0] > least[1] and least[1] < best[1])
    if contradiction or weaker or (exactly and best[0] != best[1]):
        outcome.disagreements.append(told)


# The report


def report(setup: Setup, outcomes: Sequence[Outcome], seconds: float) -> str:
    """The whole report as text."""
    return "\n".join([*_counted(setup, outcomes), *disagreements(outcomes), f"time: {seconds:.0f} s"])


def _counted(setup: Setup, outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield f"{len(outcomes)} programs, seed {setup.seed}, {setup.runs} runs of each"
    seen: Counter[str] = Counter()
    for outcome in outcomes:
        seen.update(outcome.seen)
    for what, number in sorted(seen.items()):
        which = [str(outcome.index) for outcome in outcomes if outcome.seen[what]][:8]
        rare = number < len(outcomes) / 10
        yield f"{number:7}  {what}" + (f" (number {', '.join(which)})" if rare else "")
    yield from timed(outcomes)


# The command


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--seed", type=int, default=0)
    add("--count", type=int, default=500)
    add("--only", type=int, help="examine this number alone")
    add("--jobs", type=int, default=1)
    add("--kinds", default=",".join(KINDS), help="comma-separated")
    add("--runs", type=int, default=RUNS, help="runs in lock step")
    add("--timeout", type=float, default=TIMEOUT, help="seconds for one question")
    options = parser.parse_args(words)
    setup = Setup(options.seed, tuple(options.kinds.split(",")), options.runs, options.timeout)
    indices = range(options.count) if options.only is None else [options.only]
    start = time.monotonic()
    outcomes = run(partial(examine, setup), indices, options.jobs)
    print(report(setup, outcomes, time.monotonic() - start))
    return int(any(outcome.disagreements for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
