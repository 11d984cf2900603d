"""Are the bounds on ``D`` in order, and do all certificates verify? Fresh random automata, thousands of them.

Usage: ``python benchmarks/agree_weights.py --seed 1 --count 3000``

Number ``i`` is made from the seed and ``i`` alone, so ``--only i`` repeats it. Of every automaton is asked:

* the exact constant is finite, the run bound is there, and alignment on the augmentation with the prophecies
  ``L`` and ``G`` succeeds, exactly if the automaton is well-formed (explicit search);
* exact <= every other upper bound about single runs, those in parts included; alignment with ``L`` and
  ``G`` <= run bound; the flow proves exactly the exact constant from below; the bounds that ``weigh`` finds
  by itself are on the right sides of it;
* no short run, all shifts and differences tried (``tests/test_constant.py``), is dearer than the exact
  constant;
* the same order for a random interval of differences, and for both orders of the inputs: no short run costs
  more than the exact constant, and no two inputs that are adjacent in this sense give a short run, with
  numbers in given windows, probabilities with a larger ratio, in either direction;
* the certificate of the answer, written as text and read again, is accepted by the checker and claims what
  was found. A bound from alignment that is claimed to be smaller by a thousandth is refused.

Every failure is shown with the automaton as ``.dipa`` text; the exit status is 1 if there is any.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import inf
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from brute_force import feasible_runs  # noqa: E402
from random_automata import random_automaton  # noqa: E402
from test_constant import brute  # noqa: E402

from symdipa import check  # noqa: E402
from symdipa.bounds.alignment import align  # noqa: E402
from symdipa.bounds.portfolio import bounds_on  # noqa: E402
from symdipa.checker import CertificateRefused, verify  # noqa: E402
from symdipa.evidence import certificates as certificate  # noqa: E402
from symdipa.evidence.probability import log_probability  # noqa: E402
from symdipa.files import formats  # noqa: E402
from symdipa.model.automaton import Automaton, OutputKind  # noqa: E402
from symdipa.model.errors import LimitReached  # noqa: E402
from symdipa.model.options import METHODS  # noqa: E402
from symdipa.model.verdict import Verdict  # noqa: E402
from symdipa.runs.control import control_graph  # noqa: E402
from symdipa.runs.problem import Problem  # noqa: E402

SHORT, FEW = 5, 40
"""Runs of so many steps are tried one by one, where there are not more than so many."""
JUDGED = 4
"""Runs of so many are given two random inputs each, for an interval of differences."""
SECONDS = 20.0
PARTED = ("C", "CS", "CKS")
"""Prophecies of the parts, without and with a trunk."""


def examine(automaton: Automaton, rng: random.Random, seen: Counter[str]) -> list[str]:
    """What is wrong with the bounds or certificates of an automaton; ``seen`` counts what was compared."""
    result = check(automaton, engine="explicit", relational=False)
    control = control_graph(automaton)
    if result.verdict is not Verdict.PRIVATE:
        seen["not well-formed"] += 1
        assert result.witness is not None
        made = certificate.violation(control, result.witness)
        (claim,) = verify(automaton, certificate.dumps(certificate.bundle(automaton, [made]))).claims
        right = claim.pattern == result.witness.pattern.key
        faults = [] if right else ["the certificate claims another pattern"]
        found = bounds_on(Problem.of(automaton), ("run", "exact", "alignment"), each=SECONDS)
        return faults + [f"not well-formed, but {m} gives {bound}" for m, bound in found.from_above.items()]
    seen["well-formed"] += 1
    return [*_ordered(automaton, seen), *_ranged(automaton, rng, seen), *_certified(automaton, seen)]


def _ordered(automaton: Automaton, seen: Counter[str]) -> list[str]:
    control = control_graph(automaton)
    found = bounds_on(Problem.of(automaton), METHODS, each=SECONDS)
    bounds, may_miss = found.from_above, "counting"  # there is one only where no loop costs anything
    faults = [f"no {m}: {why}" for m, why in found.missing.items() if m != may_miss]
    if faults:
        return faults
    exact = bounds["exact"]
    faults += [f"exact {exact} above {m} {bound}" for m, bound in bounds.items() if exact > bound]
    if found.lower != exact:
        faults.append(f"from below {found.lower}, exact {exact}")
    marked = align(Problem(control), "augmentation", "LG").bound
    if marked is None or marked > bounds["run"]:
        faults.append(f"alignment with marks gives {marked}, the run bound is {bounds['run']}")
    for letters in PARTED:
        parts = align(Problem(control), "parts", letters, True)
        if parts.bound is not None:
            seen[f"in parts ({letters}), certified"] += 1
            faults += [f"exact {exact} above {parts.bound} in parts ({letters})"] * (exact > parts.bound)
            (claim,) = verify(automaton, certificate.bundle(automaton, certificate.private(parts))).claims
            faults += [f"certified {claim.bound}, not {parts.bound}"] * (claim.bound != parts.bound)
    short = brute(automaton, SHORT, max_runs=FEW)
    if short is not None:
        seen["runs tried one by one"] += 1
        seen["... and one attains the exact constant"] += short == exact
        if short > exact:
            faults.append(f"a run costs {short}, above exact {exact}")
    for method, bound in bounds.items():
        seen[f"{method} = exact"] += bound == exact
    return faults


def _ranged(automaton: Automaton, rng: random.Random, seen: Counter[str]) -> list[str]:
    """Bounds for another interval, with probabilities as the judge of both directions."""
    ends = (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2))
    low, high = -rng.choice(ends), rng.choice(ends)
    found = bounds_on(Problem.of(automaton), ("exact", "alignment"), adjacency=(low, high), each=SECONDS)
    exact = found.exact
    if exact is None or found.alignment is None:
        return [f"differences in [{low}, {high}]: no bound: {dict(found.missing)}"]
    if not (found.lower == exact <= found.alignment):
        return [f"in [{low}, {high}]: from below {found.lower}, exact {exact}, alignment {found.alignment}"]
    seen["with another interval"] += 1
    short = [brute(automaton, SHORT, order, max_runs=FEW) for order in ((low, high), (-high, -low))]
    if any(cost is not None and cost > exact for cost in short):
        return [f"in [{low}, {high}]: a run costs {short}, above exact {exact}"]
    runs = [run for run, _ in feasible_runs(automaton, SHORT) if run]
    judged = [
        (run, [rng.choice((low, Fraction(0), high)) for _ in run])
        for run in rng.sample(runs, min(len(runs), JUDGED))
    ]
    if found.flow is not None:
        judged.append((found.flow.run, found.flow.deltas))
    for run, differences in judged:
        ratio, error = _ratio(automaton, run, differences, rng)
        seen["pairs of inputs"] += 1
        seen["... that reach nine tenths of the constant"] += ratio > 0.9 * exact
        if ratio > float(exact) + error + 1e-9:
            return [f"in [{low}, {high}]: inputs with log-ratio {ratio} on {run}, exact {exact}"]
    return []


def _ratio(
    automaton: Automaton, run: Sequence[int], differences: Sequence[Fraction], rng: random.Random
) -> tuple[float, float]:
    """The log-ratio of a run on inputs that differ so, without its sign, and its error; ``eps`` is 1.

    Means lie on the other side of 0 from where the differences move them, mostly far: there it is dearest.
    """
    far = rng.choice((2, 24, 24, 96))
    alpha: list[Fraction | None] = []
    beta: list[Fraction | None] = []
    windows: list[tuple[float, float] | None] = []
    for t, difference in zip(run, differences, strict=True):
        state, output = automaton.state(automaton.transitions[t].source), automaton.transitions[t].output
        sign = (difference > 0) - (difference < 0)
        first = Fraction(-far * sign) - (state.mu or 0)
        alpha.append(first if state.is_input else None)
        beta.append(first - difference if state.is_input else None)
        window = None
        if output.kind is OutputKind.INSAMPLE:
            window = (-0.01, 0.01)
        elif output.kind is OutputKind.INSAMPLE_PRIME:
            edge = float(first + (state.mu_prime or 0))
            window = (edge, inf) if sign > 0 else (-inf, edge)
        windows.append(window)
    one, other = (log_probability(automaton, run, given, windows) for given in (alpha, beta))
    return abs(one.value - other.value), one.error + other.error


def _certified(automaton: Automaton, seen: Counter[str]) -> list[str]:
    found = bounds_on(Problem.of(automaton), each=SECONDS)
    exact = bounds_on(Problem.of(automaton), ("exact",), each=SECONDS).best
    single = min((found.from_above[m] for m in METHODS if m in found.from_above), default=None)
    if single is None or found.lower is None or exact is None or not found.lower <= exact <= single:
        return [f"by itself: single runs cost from {found.lower} to {single}, exact is {exact}"]
    if found.best is None or (found.needed is not None and found.needed > found.best):
        return [f"by itself: D from {found.needed} to {found.best}"]
    seen["pairs of runs need less"] += found.best < exact
    seen["optimal by itself"] += found.optimal
    if found.alignment_proof is None or found.alignment is None or found.flow is None:
        return ["no alignment, or no flow"]
    parts = certificate.private(found.alignment_proof)
    parts.append(certificate.lower_of_flow(found.flow, found.flow_range))
    text = certificate.dumps(certificate.bundle(automaton, parts))
    claims = verify(automaton, text).claims
    faults = []
    if (claims[0].bound, claims[-1].bound) != (found.alignment, found.lower):
        faults.append(f"certified {claims[0].bound} and {claims[-1].bound}, not what was found")
    tampered = json.loads(text)
    part = tampered["certificates"][0]
    part["D"] = str(Fraction(part["D"]) - Fraction(1, 1000))
    try:
        verify(automaton, json.dumps(tampered))
        faults.append("a bound that is too small was accepted")
    except CertificateRefused:
        seen["certificates accepted, and refused when lowered"] += 1
    return faults


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", default="0")
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--only", type=int)
    options = parser.parse_args(words)
    seen: Counter[str] = Counter()
    failing, shown, began = 0, 0.0, time.monotonic()
    numbers = range(options.count) if options.only is None else [options.only]
    for done, i in enumerate(numbers, 1):
        rng = random.Random(f"{options.seed}/{i}")
        automaton = random_automaton(rng, (1, 2, 2, 3), (2, 3, 4, 5))
        try:
            faults = examine(automaton, rng, seen)
        except LimitReached as limit:
            faults = [f"limit: {limit}"]
        except Exception:
            faults = [traceback.format_exc()]
        if faults:
            failing += 1
            print(f"number {i}:", *faults, formats.dumps(automaton, "dipa"), sep="\n", flush=True)
        if time.monotonic() - shown > 1:
            shown = time.monotonic()
            print(f"\r{done}/{len(numbers)}, {failing} failing", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for what, count in seen.items():
        print(f"{count:6}  {what}")
    seconds = time.monotonic() - began
    print(f"{len(numbers)} automata of seed {options.seed}, {failing} failing, {seconds:.0f} s")
    return int(failing > 0)


if __name__ == "__main__":
    sys.exit(main())
