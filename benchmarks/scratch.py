"""What def-use webs are worth: one scratch variable in unrelated phases, looked at whole and in slices.

Usage: ``python benchmarks/scratch.py --inputs 4 --timeout 60 --engines explicit,minisat,z3 1 2 3 4 6 8``

Each of the phases stores a threshold above the scratch variable ``t`` (stored anew in each phase) and some
inputs, each on either side of the threshold; at the end a loop for each input lies between it and the
threshold of its phase. Without ``t`` the phases have nothing in common; with it all variables are in one
component, and there are ``2**(phases * inputs)`` order states. Well-formed: all patterns must be absent.

Shown: processor time for the four patterns, ``-`` where some pattern stayed open at the time limit.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from symdipa.engines.base import Engine
from symdipa.engines.explicit import ExplicitEngine
from symdipa.engines.sliced import SlicedEngine
from symdipa.engines.symbolic import SymbolicEngine
from symdipa.model.automaton import Automaton, Guard, State, Transition, symbol
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Status
from symdipa.runs.control import control_graph
from symdipa.runs.problem import Problem


def scratch(phases: int, inputs: int) -> Automaton:
    """The automaton with so many phases and so many inputs in each."""
    transitions: list[Transition] = []
    at = 0

    def step(output: str, ge: str = "", lt: str = "", store: str = "", loop: bool = False) -> None:
        guard = Guard(frozenset(ge.split()), frozenset(lt.split()))
        target = f"q{at if loop else at + 1}"
        transitions.append(Transition(f"q{at}", target, symbol(output), guard, frozenset(store.split())))

    for i in range(phases):
        step("o", store="t")
        at += 1
        step("o", ge="t", store=f"p{i}")
        at += 1
        for j in range(inputs):
            step("above", ge=f"p{i}", store=f"x{i}_{j}")
            step("below", lt=f"p{i}", store=f"x{i}_{j}")
            at += 1
    for i in range(phases):
        for j in range(inputs):
            step("in", ge=f"x{i}_{j}", lt=f"p{i}", loop=True)
            step("out", lt=f"x{i}_{j}")
            at += 1
    quarter = Fraction(1, 4)
    return Automaton.build([State(f"q{k}", d=quarter) for k in range(at)], transitions)


def make(name: str) -> Callable[[Problem], Engine]:
    """An engine by name: ``explicit`` or a solver."""
    if name == "explicit":
        return ExplicitEngine
    return lambda problem: SymbolicEngine(problem, solver=name)


def seconds(engine: Engine, limits: Limits) -> float | None:
    """Processor time until all patterns are shown to be absent, ``None`` if a limit came first."""
    began = time.process_time()
    statuses = {engine.decide(pattern, limits).status for pattern in Pattern}
    if Status.PRESENT in statuses:
        raise AssertionError("the automaton is well-formed")
    return None if Status.UNKNOWN in statuses else time.process_time() - began


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("phases", type=int, nargs="*", default=[1, 2, 3, 4, 6, 8])
    parser.add_argument("--inputs", type=int, default=4, help="inputs in each phase")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for one engine on one automaton")
    parser.add_argument("--engines", default="explicit,minisat,z3")
    options = parser.parse_args(words)
    print(f"{'engine':10}{'phases':>8}{'components':>12}{'slices':>10}{'whole':>10}")
    for name in options.engines.split(","):
        for phases in options.phases:
            control = control_graph(scratch(phases, options.inputs))
            times = []
            for sliced in (True, False):
                problem, built = Problem(control), make(name)
                engine = SlicedEngine(problem, built) if sliced else built(problem)
                times.append(seconds(engine, Limits.of(options.timeout)))
            told = "".join(f"{'-' if t is None else format(t, '.2f'):>10}" for t in times)
            parts = len(Problem(control).components)
            print(f"{name:10}{phases:8}{parts:12}{told}", flush=True)


if __name__ == "__main__":
    main()
