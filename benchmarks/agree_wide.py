"""Do engines, bounds and certificates say what the costs of runs say? Random automata of the wider model.

Usage: ``python benchmarks/agree.py --wide --seed 1 --count 3000 --jobs 2``, or ``--differ``

Number ``i`` is made from the seed and ``i`` alone, so ``--only i`` repeats it. The judge
(``tests/linear_judge.py``) knows only what a run costs. Then everybody is asked through the public functions.
It is a *disagreement* if

* an engine says that an automaton is private and no ``D`` exists, or that it is not and one does (where runs
  can be told apart by their outputs; else only what single runs tell counts), or two engines contradict each
  other where the judge gave up;
* the run of a violation is not feasible, or does not cost more and more as its cycles are repeated;
* a bound for single runs is below ``D``, or below what a short run costs, the exact constant or a bound that
  is called optimal is not ``D`` (the constant may be above where the core has more runs than are possible), a
  bound from below is above it; all this once more for a random range of differences;
* a certificate cannot be made where a proof is at hand, is refused, or claims what is not so;
* anybody raises an exception.

With ``--differ`` they have registers, too, and only some entries may differ (``tests/random_differ.py``).

``unknown`` is counted, by reason. The exit status is 1 if there is any disagreement.
"""

from __future__ import annotations

import random
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Protocol, TypeVar

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import linear_judge as judge  # noqa: E402
from random_automata import random_automaton  # noqa: E402
from random_differ import random_differ  # noqa: E402
from random_linear import random_linear  # noqa: E402

import symdipa  # noqa: E402
from symdipa import analysis  # noqa: E402
from symdipa.files import formats  # noqa: E402
from symdipa.model.automaton import Automaton, Noise  # noqa: E402
from symdipa.model.errors import NothingToCertify  # noqa: E402
from symdipa.model.options import ENCODINGS, METHODS, CheckOptions  # noqa: E402
from symdipa.model.verdict import Bounds, Result, Verdict  # noqa: E402

ENGINES = ("explicit", "z3:marks", "z3:ghost", "z3:marks:minisat")
LENGTH, NODES = 7, 6_000
"""Short runs, and how large the searches of the judge may be."""
LISTED = 8
ENDING = ("finite", "bounded")
"""What the judge says where no run costs more than its value."""
ENDS = tuple(Fraction(n, 2) for n in (0, 1, 2, 4))


@dataclass(frozen=True, slots=True)
class Setup:
    """What is asked. ``plain`` is the share of automata of the paper's class; ``differ``: with registers,
    and entries that may not differ."""

    seed: int
    engines: tuple[str, ...] = ENGINES
    timeout: float = 20.0
    plain: float = 0.1
    max_nodes: int = NODES
    bounds: bool = True
    differ: bool = False


@dataclass(slots=True)
class Outcome:
    """All about one automaton."""

    index: int
    seen: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    disagreements: list[str] = field(default_factory=list)
    text: str = ""

    def wrong(self, who: str, what: str) -> None:
        self.disagreements.append(f"{who}: {what}")


def automaton_of(setup: Setup, index: int) -> tuple[Automaton, random.Random]:
    """Automaton number ``index``."""
    rng = random.Random(f"{setup.seed}/{index}")
    if setup.differ:
        return random_differ(rng), rng
    if rng.random() < setup.plain:
        return random_automaton(rng, (1, 2, 2, 3), (2, 3, 4)), rng
    return random_linear(rng), rng


def examine(setup: Setup, index: int) -> Outcome:
    """Judge an automaton, ask everybody, compare."""
    automaton, rng = automaton_of(setup, index)
    outcome = Outcome(index)
    _describe(automaton, setup, outcome)
    start = time.perf_counter()
    truth = judge.growing(automaton, max_nodes=setup.max_nodes)
    outcome.seconds["judge"] = time.perf_counter() - start
    outcome.seen[f"judge: {truth.kind}"] += 1
    if truth.kind == "finite":
        outcome.seen[f"D = {truth.value}"] += 1
    verdicts: dict[str, Verdict] = {}
    for name in setup.engines:
        result = _asked(name, outcome, lambda name=name: _checked(automaton, name, setup.timeout))
        if result is not None:
            verdicts[name] = result.verdict
            _compare_verdict(automaton, name, result, truth, outcome)
    if {Verdict.PRIVATE, Verdict.NOT_PRIVATE} <= set(verdicts.values()):
        outcome.wrong("engines", ", ".join(f"{name} says {v.value}" for name, v in verdicts.items()))
    if setup.bounds:
        _weighed(automaton, truth, setup, outcome)
        _ranged(automaton, rng, setup, outcome)
    if outcome.disagreements:
        try:
            outcome.text = formats.dumps(automaton, "dipa")
        except Exception:
            outcome.text = repr(automaton)
    return outcome


def _describe(automaton: Automaton, setup: Setup, outcome: Outcome) -> None:
    seen = outcome.seen
    atoms = [each for t in automaton.transitions for each in t.guard.atoms]
    terms = [term for each in atoms for term in (each.low, each.high)]
    features = {
        "plain": automaton.is_plain,
        "registers": bool(automaton.registers),
        "sums in means": any(state.registers for state in automaton.states),
        f"differ {automaton.differ.text.partition('=')[0]}": setup.differ,
        "integer": automaton.integer,
        "told apart by outputs": judge.is_distinct(automaton),
        "silent or reading states": any(not state.draws for state in automaton.states),
        "exponential noise": any(s.noise is Noise.EXPONENTIAL for s in automaton.states),
        "states without noise": any(s.noise is Noise.NONE for s in automaton.states),
        "copies": any(t.copies for t in automaton.transitions),
        "values released": any(t.output.values for t in automaton.transitions),
        "gaps": any(t.output.differences for t in automaton.transitions),
        "constants": any(term.name is None for term in terms),
        "offsets": any(term.name is not None and term.offset for term in terms),
        "mirror images": any(term.mirrored for term in terms),
    }
    for name, there in features.items():
        seen[name] += bool(there)


def _checked(automaton: Automaton, name: str, timeout: float) -> Result:
    engine, *words = name.split(":")
    options = CheckOptions(engine, timeout=timeout, bounds=False, relational=False)
    for word in words:
        options = replace(options, **{"encoding" if word in ENCODINGS else "solver": word})
    return analysis.check_with(automaton, options)


def _asked(who: str, outcome: Outcome, ask) -> Result | None:
    start = time.perf_counter()
    try:
        return ask()
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        outcome.wrong(who, f"{type(error).__name__} at {place}: {error}")
        return None
    finally:
        outcome.seconds[who] = outcome.seconds.get(who, 0.0) + time.perf_counter() - start


def _compare_verdict(
    automaton: Automaton, who: str, result: Result, truth: judge.Answer, outcome: Outcome
) -> None:
    verdict, distinct = result.verdict, judge.is_distinct(automaton)
    outcome.seen[f"{who}: {verdict.value}"] += 1
    if verdict is Verdict.UNKNOWN:
        for reason in _reasons(result):
            outcome.seen[f"{who} does not know: {reason}"] += 1
        if truth.kind != "unknown":
            outcome.seen[f"{who} does not know, and the judge does"] += 1
        return
    if verdict is Verdict.PRIVATE and truth.kind == "infinite" and _by_single_runs(result):
        outcome.wrong(who, f"private, and runs cost without bound: {_shown(truth)}")
    if verdict is not Verdict.PRIVATE and truth.kind in ENDING:
        outcome.wrong(who, f"{verdict.value}, and no run costs more than {truth.value}: {result.witness}")
    if verdict is Verdict.NOT_WELL_FORMED and distinct:
        outcome.wrong(who, "not said to be not private, and runs are told apart by their outputs")
    if verdict is not Verdict.PRIVATE:
        if result.witness is None:
            outcome.wrong(who, "a violation without a witness")
        else:
            _check_witness(automaton, who, result, outcome)


def _by_single_runs(result: Result) -> bool:
    return result.bounds is None or result.bounds.best_method != "relational"


def _reasons(result: Result) -> set[str]:
    """Why something is not known, without numbers."""
    found = {str(answer.reason) for answer in result.patterns.values() if answer.reason}
    found |= {note.sentence for note in result.notes} if not found else set()
    return {re.sub(r"\d+", "N", reason)[:100] for reason in found} or {"no reason"}


def _check_witness(automaton: Automaton, who: str, result: Result, outcome: Outcome) -> None:
    """The costs of the run as its cycles are taken more often must grow, or be infinite.

    Where entries are marked by letters, for these: of the first input minus the second, or the other way.
    """
    witness = result.witness
    costs: list[list[judge.Cost]] = []
    for letters in dict.fromkeys((witness.letters, tuple(map(TURNED.get, witness.letters)))):
        costs.append([])
        for n in range(1, 5):
            run, marks = (repeated(row, witness.cycles, n) for row in (witness.run, letters))
            found = judge.dearest(automaton, run, letters=marks)
            if found is None:
                outcome.wrong(who, f"with {n} rounds, the run of the witness is not possible: {witness}")
                return
            costs[-1].append(found[0])
    if any(inf in each for each in costs):
        outcome.seen["witness: no shift is left"] += 1
        return
    # a record is broken twice before it costs more: not every single round need count
    if not any(each == sorted(each) and each[0] < each[-1] for each in costs):
        shown = " or ".join(str(list(map(str, each))) for each in costs)
        outcome.wrong(who, f"the cost of the witness does not grow, {shown}: {witness}")
    outcome.seen["witness: cost grows"] += 1


TURNED = {"": "", "=": "=", "~": "~", "-": "+", "+": "-"}
"""What is said of an entry if the inputs change places."""

Step = TypeVar("Step")


def repeated(run: Sequence[Step], cycles: Sequence[tuple[int, int]], n: int) -> tuple[Step, ...]:
    """The run with each of the cycles, which do not overlap, taken ``n`` times; or what its steps have."""
    found = list(run)
    for i, j in sorted(set(cycles), reverse=True):
        found[i:j] = found[i:j] * n
    return tuple(found)


def _shown(truth: judge.Answer) -> str:
    run, deltas = truth.rounds(2)
    return f"run {run}, differences {', '.join(map(str, deltas))}"


# Bounds and certificates


def _weighed(automaton: Automaton, truth: judge.Answer, setup: Setup, outcome: Outcome) -> None:
    result = _asked("weigh", outcome, lambda: analysis.weigh(automaton, timeout=setup.timeout))
    if result is None:
        return
    for line in result.contradictions:
        outcome.wrong("weigh", f"contradicts itself: {line}")
    _compare_verdict(automaton, "weigh", result, truth, outcome)
    short = judge.cost_of_runs(automaton, LENGTH, max_nodes=setup.max_nodes)
    _compare_bounds("weigh", result, automaton, truth, short, outcome)
    _certified(automaton, result, truth, outcome)


def _ranged(automaton: Automaton, rng: random.Random, setup: Setup, outcome: Outcome) -> None:
    """Bounds for other differences."""
    interval = -rng.choice(ENDS), rng.choice(ENDS)
    who = f"weigh, differences in [{interval[0]}, {interval[1]}]"
    truth = judge.growing(automaton, interval, max_nodes=setup.max_nodes)
    start = time.perf_counter()
    inner = Outcome(outcome.index)
    result = _asked(who, inner, lambda: analysis.weigh(automaton, adjacency=interval, timeout=setup.timeout))
    outcome.seconds["ranges"] = time.perf_counter() - start
    if result is not None and truth.kind != "infinite":
        # a verdict is about differences in [-1, 1]; a range may do without what makes it "not private"
        short = judge.cost_of_runs(automaton, LENGTH, interval, max_nodes=setup.max_nodes)
        _compare_bounds(who, result, automaton, truth, short, inner)
    outcome.seen["ranges weighed"] += result is not None and result.bounds is not None
    outcome.disagreements += inner.disagreements


def _compare_bounds(
    who: str,
    result: Result,
    automaton: Automaton,
    truth: judge.Answer,
    short: judge.Answer,
    outcome: Outcome,
) -> None:
    bounds, distinct, more_runs = result.bounds, judge.is_distinct(automaton), _has_more_runs(automaton)
    if bounds is None or not (bounds.from_above or bounds.lower is not None):
        outcome.seen["weigh: no bounds"] += 1
        return
    least = truth.value if truth.kind in ("finite", "infinite") else short.value
    if truth.kind == "unknown":
        least = max(least, truth.value)
    if truth.kind in ENDING and short.value > truth.value:
        outcome.wrong("judge", f"a run costs {short.value}, above {truth.value}: {short.run}")
    for method, bound in bounds.from_above.items():
        if bound < least and (method in METHODS or distinct):
            outcome.wrong(who, f"{method} proves {bound}, and runs cost {least}: {_shown(truth)}")
    if truth.kind not in ENDING:
        return
    for name, lower in (("lower", bounds.lower), ("needed", bounds.needed)):
        if lower is not None and lower > truth.value:
            outcome.wrong(who, f"{name} bound {lower}, and no run costs more than {truth.value}")
    if truth.kind == "bounded":
        return
    if bounds.exact is not None and bounds.exact > truth.value and more_runs:
        outcome.seen["exact, on more runs than are possible"] += 1
    elif bounds.exact is not None and bounds.exact != truth.value:
        outcome.wrong(who, f"exactly {bounds.exact}, and runs cost at most {truth.value}: {_shown(truth)}")
    if bounds.optimal_for_single_runs and bounds.best != truth.value:
        outcome.wrong(who, f"{bounds.best} is called best for single runs, which cost {truth.value}")
    if bounds.optimal and distinct and bounds.best != truth.value:
        outcome.wrong(who, f"{bounds.best} is called optimal, and {truth.value} will do")
    outcome.seen["bounds from above"] += bool(bounds.from_above)
    outcome.seen["... the best is D"] += bounds.best == truth.value
    outcome.seen["... and called so"] += bounds.optimal or bounds.optimal_for_single_runs
    _explain_missing(bounds, outcome)


def _has_more_runs(automaton: Automaton) -> bool:
    """Whether the product may look at runs that are not possible: it orders values without offsets, and
    integers as if they were never equal (docs/limits.md)."""
    terms = (term for t in automaton.transitions for each in t.guard.others for term in (each.low, each.high))
    return automaton.integer or any(term.name is not None and term.offset for term in terms)


def _explain_missing(bounds: Bounds, outcome: Outcome) -> None:
    for method, reason in bounds.missing.items():
        outcome.seen[f"no {method}: {re.sub(r'[0-9]+', 'N', reason)[:80]}"] += 1


def _certified(automaton: Automaton, result: Result, truth: judge.Answer, outcome: Outcome) -> None:
    if result.verdict is Verdict.UNKNOWN:
        return
    try:
        made = analysis.certify(result, timeout=20)
    except NothingToCertify as nothing:
        outcome.seen[f"no certificate: {re.sub(r'[0-9]+', 'N', str(nothing))[:80]}"] += 1
        if result.bounds is not None and result.bounds.alignment_proof is not None:
            outcome.wrong("certify", f"nothing to certify: {nothing}")
        return
    except Exception as error:
        outcome.wrong("certify", f"{type(error).__name__}: {error}")
        return
    try:
        import json

        claims = symdipa.verify(automaton, json.dumps(made)).claims
    except Exception as error:
        outcome.wrong("verify", f"{type(error).__name__}: {error}")
        return
    for claim in claims:
        outcome.seen[f"certified: {claim.kind}"] += 1
        if claim.kind == "private" and truth.kind == "infinite" and _by_single_runs(result):
            outcome.wrong("verify", f"accepted: {claim}")
        single = judge.is_distinct(automaton) or _by_single_runs(result)
        if claim.kind == "private" and truth.kind == "finite" and claim.bound < truth.value and single:
            outcome.wrong("verify", f"accepted, and runs cost {truth.value}: {claim}")
        if claim.kind == "lower" and truth.kind in ENDING and claim.bound > truth.value:
            outcome.wrong("verify", f"accepted, and no run costs more than {truth.value}: {claim}")
        if claim.kind not in ("private", "lower", "well-formed") and truth.kind in ENDING:
            outcome.wrong("verify", f"accepted, and no run costs more than {truth.value}: {claim}")


# The report


def report(setup: Setup, outcomes: Sequence[Outcome], seconds: float) -> str:
    """The whole report as text."""
    return "\n".join([*_counted(setup, outcomes), *disagreements(outcomes), f"time: {seconds:.0f} s"])


def _counted(setup: Setup, outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield f"{len(outcomes)} automata, seed {setup.seed}, engines: {', '.join(setup.engines) or 'none'}"
    seen: Counter[str] = Counter()
    for outcome in outcomes:
        seen.update(outcome.seen)
    values = sorted((Fraction(k[4:]), n) for k, n in seen.items() if k.startswith("D = "))
    for what, number in seen.items():
        if not what.startswith("D = ") and number:
            which = [str(outcome.index) for outcome in outcomes if outcome.seen[what]][:LISTED]
            rare = "unknown" in what or "not know" in what or what.startswith("no ")
            yield f"{number:7}  {what}" + (f" (number {', '.join(which)})" if rare else "")
    listed = ", ".join(f"{value} ({number})" for value, number in values)
    yield f"values of D: {listed}"
    yield from timed(outcomes)


class Timed(Protocol):
    """What was found out about a number, how long that took, and what it was if there was a disagreement."""

    index: int
    seconds: dict[str, float]
    disagreements: list[str]
    text: str


def timed(outcomes: Sequence[Timed]) -> Iterator[str]:
    """How long each part took."""
    for name in dict.fromkeys(name for outcome in outcomes for name in outcome.seconds):
        times = sorted((outcome.seconds.get(name, 0.0), outcome.index) for outcome in outcomes)
        worst, index = times[-1]
        yield (
            f"  {name + ':':20}{sum(t for t, _ in times):8.1f} s, "
            f"median {times[len(times) // 2][0]:.4f} s, longest {worst:.3f} s (number {index})"
        )


def disagreements(outcomes: Sequence[Timed]) -> Iterator[str]:
    """What disagreed, and on what."""
    failing = [outcome for outcome in outcomes if outcome.disagreements]
    for outcome in failing:
        yield f"\nnumber {outcome.index}:"
        yield from (f"  {line}" for line in outcome.disagreements)
        yield outcome.text
    yield f"disagreements: {len(failing)}"
