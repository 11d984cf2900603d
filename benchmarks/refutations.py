"""How large a D is refuted for each violation, and how long that takes.

    python benchmarks/refutations.py [--exceeds 1,5,20] [--eps 1] [FILE...]

Without files: the examples, and the published mechanisms in a folder ``shared`` beside the project, if it is
there. For every file that is not private, the pair that refutes each D; a line that begins with "no" is a
failure, with the reason. Every witness is replayed through the definitions first.
For every private one (with --search SECONDS) the largest ratio that a search finds, beside the proved D.
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from pathlib import Path

from symdipa import check, load
from symdipa.bounds.portfolio import bounds_on
from symdipa.evidence.confirmation import NoConfirmation, confirm
from symdipa.evidence.refutation import NoRefutation, refute
from symdipa.model.errors import InvalidInput
from symdipa.model.limits import Limits, stopwatch
from symdipa.runs.control import control_graph
from symdipa.runs.problem import Problem
from symdipa.runs.witness import replay

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
LARGE = ("m_range", "k_min_max")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--exceeds", default="1,5,20")
    parser.add_argument("--eps", type=Fraction, default=Fraction(1))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--shared", type=Path, default=SHARED, help="a folder with peer and literature")
    parser.add_argument("--search", type=float, metavar="SECONDS")
    options = parser.parse_args()
    everywhere = [ROOT / "examples", options.shared / "peer", options.shared / "literature"]
    files = options.files or [
        path
        for place in everywhere
        for path in sorted(place.glob("**/*.dipa"))
        if path.parent.name not in LARGE
    ]
    for path in files:
        try:
            automaton = load(path)
        except InvalidInput:
            continue
        result = check(automaton, timeout=60, relational=False)
        if result.witness is not None:
            replay(control_graph(result.automaton), result.witness)
            for exceeds in map(Fraction, options.exceeds.split(",")):
                show_refutation(path.stem, result, exceeds, options)
        elif options.search:
            compare_with_bound(path.stem, automaton, options)


def show_refutation(name, result, exceeds, options) -> None:
    taken = stopwatch()
    try:
        found = refute(
            result.automaton,
            result.witness,
            exceeds,
            options.eps,
            distinct=result.distinct,
            growth=False,
            limits=Limits.of(options.seconds),
        )
    except NoRefutation as reason:
        print(f"no  {name:30} D = {exceeds}: {reason}", flush=True)
        return
    seconds = taken()
    far = max((abs(float(a)) for a in found.alpha if a is not None), default=0.0)
    print(
        f"{'yes' if found.holds else 'no '} {name:30} D = {exceeds!s:>3} {seconds:6.1f} s  log-ratio/eps "
        f"{found.log_ratio / float(found.eps):9.4f} +- {found.error:.0e} of {float(found.limit):9.4f}, "
        f"{found.rounds} rounds, {len(found.run)} steps, inputs to {far:g}, {found.method}"
        f"{'' if found.holds else ': ' + str(found.missing)}",
        flush=True,
    )


def compare_with_bound(name, automaton, options) -> None:
    proved = bounds_on(Problem.of(automaton), each=options.seconds).best
    if proved is None:
        print(f"?   {name:30} nothing to compare", flush=True)
        return
    try:
        found = confirm(automaton, options.eps, limits=Limits.of(options.search))
    except NoConfirmation as reason:
        print(f"?   {name:30} {reason}", flush=True)
        return
    fine = found.log_ratio_per_eps - found.error <= proved
    print(
        f"{'yes' if fine else 'BUG'} {name:30} D = {proved!s:>5}  largest log-ratio/eps found "
        f"{found.log_ratio_per_eps:.4f} +- {found.error:.0e} ({found.tried} pairs)",
        flush=True,
    )


if __name__ == "__main__":
    main()
