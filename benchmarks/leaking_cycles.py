"""Leaking cycles: the lasso with a copy of the order, the counting of rounds, and one after the other.

Usage: ``python benchmarks/leaking_cycles.py --limit 20 --repeat 3 --solver minisat``

* *lasso*: bounded search and induction, then PDR, on ``encodings/leaking_cycle.py``;
* *rounds*: ``engines/liveness.py`` alone;
* *both*: what ``SymbolicEngine`` does, the lasso to a moderate depth and then rounds.

All run in this process, one after the other within each repetition, from the dataflow's facts to a run found
or proofs checked. Shown are medians of the seconds of a whole search; a cell that ended at the limit says so
and is not repeated. Every run found is replayed, and answers are held against what the families document,
what the examples' folders say, and the explicit engine on random automata; a wrong one ends the benchmark.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from random_automata import random_automaton, random_product  # noqa: E402

from symdipa.encodings.catalogue import systems  # noqa: E402
from symdipa.engines.bounded import KInduction, Outcome, Search  # noqa: E402
from symdipa.engines.explicit import ExplicitEngine  # noqa: E402
from symdipa.engines.liveness import Liveness  # noqa: E402
from symdipa.engines.pdr import PDR  # noqa: E402
from symdipa.engines.symbolic import INDUCTION_CLAUSES, INDUCTION_DEPTH  # noqa: E402
from symdipa.files import formats  # noqa: E402
from symdipa.files.families import generate  # noqa: E402
from symdipa.model.automaton import Automaton  # noqa: E402
from symdipa.model.limits import Limits  # noqa: E402
from symdipa.model.patterns import Pattern  # noqa: E402
from symdipa.model.verdict import Status, Witness  # noqa: E402
from symdipa.runs.control import Control, control_graph  # noqa: E402
from symdipa.runs.dataflow import OrderFacts, may_have_leaking_cycle, order_facts  # noqa: E402
from symdipa.runs.problem import Problem  # noqa: E402
from symdipa.runs.witness import replay  # noqa: E402
from symdipa.systems.invariants import check_invariant  # noqa: E402

LC = Pattern.LEAKING_CYCLE
SIZES = (2, 3, 4, 5, 6, 8, 12, 16)
FAMILIES = {"turing-wrap": True, "turing-overflow": False, "turing-odd": False}
"""Whether the members have a leaking cycle."""

Method = Callable[[Control, OrderFacts, Limits, str], Search]


def shallow(control: Control, facts: OrderFacts, limits: Limits, solver: str) -> Search:
    (system,) = systems(LC, facts, "marks")
    return KInduction(system, limits, INDUCTION_DEPTH, solver, INDUCTION_CLAUSES).run()


def lasso(control: Control, facts: OrderFacts, limits: Limits, solver: str) -> Search:
    search = shallow(control, facts, limits, solver)
    if search.outcome is not Outcome.OPEN:
        return search
    (system,) = systems(LC, facts, "marks")
    search = PDR(system, limits, solver).run()
    if search.invariant is not None:
        check_invariant(system, search.invariant, limits, solver)
    return search


def rounds(control: Control, facts: OrderFacts, limits: Limits, solver: str) -> Search:
    return Liveness(control, facts, limits, solver).run()


def both(control: Control, facts: OrderFacts, limits: Limits, solver: str) -> Search:
    search = shallow(control, facts, limits, solver)
    return rounds(control, facts, limits, solver) if search.outcome is Outcome.OPEN else search


METHODS: dict[str, Method] = {"lasso": lasso, "rounds": rounds, "both": both}


def measure(
    cases: list[tuple[Automaton, bool]], methods: list[str], options: argparse.Namespace
) -> dict[str, str]:
    """A cell for each method: the median of the seconds for all the cases together."""
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    ended: dict[str, str] = {}
    for _ in range(options.repeat):
        for name in methods:
            if name in ended:
                continue
            total = 0.0
            for automaton, present in cases:
                control = control_graph(automaton)
                facts = order_facts(control)
                began = time.perf_counter()
                limits = Limits(deadline=time.monotonic() + options.limit)
                search = METHODS[name](control, facts, limits, options.solver)
                total += time.perf_counter() - began
                if search.outcome is Outcome.OPEN:
                    ended[name] = f"> {options.limit:g}"
                    break
                judge(control, search, present)
            seconds[name].append(total)
    return {name: ended.get(name) or f"{statistics.median(seconds[name]):.3f}" for name in methods}


def judge(control: Control, search: Search, present: bool) -> None:
    if (search.outcome is Outcome.UNSAFE) is not present:
        raise SystemExit(f"WRONG: {control}: {search}")
    if present:
        loop = search.loops[0]
        run = search.run[: loop.at] + loop.steps
        replay(control, Witness(LC, run, ((loop.at, len(run)),)))


def searched(automata: list[Automaton]) -> list[Automaton]:
    """Those that the dataflow leaves open."""
    return [a for a in automata if may_have_leaking_cycle(order_facts(control_graph(a)))]


def examples() -> list[tuple[Automaton, bool]]:
    files = sorted((ROOT / "examples").glob("*/*.dipa"))
    return judged(searched([formats.load(file) for file in files]))


def randoms(count: int) -> list[tuple[Automaton, bool]]:
    automata = []
    for i in range(count):
        rng = random.Random(f"leaking cycles/{i}")
        automata.append(random_product(rng, (1, 2), (2, 3)) if i % 5 == 4 else random_automaton(rng))
    return judged(searched(automata))


def judged(automata: list[Automaton]) -> list[tuple[Automaton, bool]]:
    return [(a, ExplicitEngine(Problem.of(a)).decide(LC).status is Status.PRESENT) for a in automata]


def rows(options: argparse.Namespace) -> Iterator[tuple[str, list[tuple[Automaton, bool]]]]:
    """The rows of the table that are asked for: a name, the automata, whether they have a leaking cycle."""
    for family, present in FAMILIES.items():
        if options.only in ("", family):
            for n in options.sizes:
                yield f"{family} {n}", [(generate(family, n), present)]
    for name, make in (("examples", examples), ("random", lambda: randoms(options.count))):
        if options.only in ("", name):
            cases = make()
            for present in (True, False):
                if chosen := [case for case in cases if case[1] is present]:
                    yield f"{len(chosen)} {name}, {'present' if present else 'absent'}", chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for one search")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--count", type=int, default=1000, help="random automata")
    parser.add_argument("--solver", default="minisat")
    parser.add_argument("--only", default="", help="a family, examples or random")
    parser.add_argument("--sizes", type=lambda text: tuple(map(int, text.split(","))), default=SIZES)
    options = parser.parse_args()
    print("| leaking cycle of | " + " | ".join(METHODS) + " |\n|---|" + "--:|" * len(METHODS))
    given_up: set[tuple[str, str]] = set()
    for name, cases in rows(options):
        family = name.split()[0]
        methods = [m for m in METHODS if (family, m) not in given_up]
        cells = measure(cases, methods, options)
        given_up |= {(family, m) for m, cell in cells.items() if cell.startswith(">")}
        print(f"| {name} | " + " | ".join(cells.get(m, "-") for m in METHODS) + " |", flush=True)


if __name__ == "__main__":
    main()
