"""The objects that ``--json`` prints, from the same values as the documents; exact rationals are text.

Positions in a run count from 0 here, where documents name steps from 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any

from symdipa.interface.reports.document import as_lines
from symdipa.interface.reports.probability import outputs_text
from symdipa.interface.reports.story import story
from symdipa.interface.reports.words import known_orders
from symdipa.model.automaton import Automaton, Transition
from symdipa.model.errors import InputProblem
from symdipa.model.options import EVERY_METHOD
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Bounds, Result, Status

if TYPE_CHECKING:
    from symdipa.evidence.confirmation import Confirmation
    from symdipa.evidence.hints import Hint
    from symdipa.evidence.probability import TotalLogProbability, Window
    from symdipa.evidence.refutation import Refutation
    from symdipa.evidence.refutation.inputs import InputPair
    from symdipa.evidence.simulation import Frequent, Shown, Simulation

ASSUMED = {"arithmetic": "real", "adjacency": "two-sided", "sensitivity": "1"}

Json = dict[str, Any]


def check(name: str, result: Result, notes: Sequence[str] = ()) -> Json:
    """One file that was decided."""
    patterns = result.patterns
    return {
        "file": name,
        "verdict": result.verdict.value,
        "patterns": {p.key: found.status.value for p, found in patterns.items()},
        "weight": _weight(result.bounds),
        "output_distinct": result.output_distinct,
        "strongly_feasible": result.strongly_feasible,
        "witness": _witness(result),
        "engine": result.engine,
        "encoding": result.encoding if any(f.encoding for f in patterns.values()) else None,
        "method": {p.key: found.method for p, found in patterns.items()},
        "reasons": {p.key: found.reason for p, found in patterns.items() if found.reason},
        "seconds": round(result.seconds, 6),
        "assumed": ASSUMED,
        "notes": _notes(result, notes),
        "disagreements": list(result.disagreements),
        "error": None,
    }


def error(name: str, problems: Sequence[InputProblem]) -> Json:
    """An input that cannot be used, in the fields of :func:`check`: the first problem as ``error``, all as
    ``errors``."""
    described = [_problem(problem) for problem in problems]
    return {
        "file": name,
        "verdict": "error",
        "patterns": {pattern.key: Status.SKIPPED.value for pattern in Pattern},
        **dict.fromkeys(("weight", "output_distinct", "strongly_feasible", "witness", "engine", "encoding")),
        "method": {pattern.key: None for pattern in Pattern},
        "reasons": {},
        "seconds": 0.0,
        "assumed": ASSUMED,
        "notes": [],
        "disagreements": [],
        "error": described[0],
        "errors": described,
    }


def comparison(name: str, result: Result, notes: Sequence[str] = ()) -> Json:
    """What ``check`` says, and under ``details`` every answer of every engine."""
    details = [
        {
            "engine": found.engine,
            "encoding": found.encoding,
            "pattern": found.pattern.key,
            "status": found.status.value,
            "method": found.method,
            "reason": found.reason,
            "seconds": round(found.seconds, 6),
            "sizes": dict(found.sizes),
        }
        for found in result.details
    ]
    return {**check(name, result, notes), "details": details}


def witness(
    name: str, result: Result, hints: Sequence[Hint] | None = None, notes: Sequence[str] = ()
) -> Json:
    """What ``check`` says, and the violation: ``story`` in lines, ``facts`` after each step, ``hints``."""
    shown, automaton = result.witness, result.automaton
    return {
        **check(name, result, notes),
        "story": None if shown is None else as_lines(story(automaton, shown).happens),
        "facts": None if shown is None else known_orders(automaton, shown),
        "hints": None if hints is None or shown is None else [_hint(hint) for hint in hints],
    }


def concrete(found: Refutation | str | None) -> Json:
    """The fields that ``--concrete`` adds: one of them is ``null`` where there is a witness."""
    held = missing = best = None
    if isinstance(found, str):
        missing = found
    elif found is not None and found.holds:
        held = _counterexample(found)
    elif found is not None:
        missing, best = found.missing, _counterexample(found)
    return {"counterexample": held, "counterexample_missing": missing, "counterexample_best": best}


def weight(name: str, result: Result, notes: Sequence[str] = ()) -> Json:
    """The bounds on ``D`` of one file."""
    from symdipa.interface.reports.weight import costliest

    found, automaton = result.bounds or Bounds(), result.automaton
    asked = result.bounds is not None
    run, costs = costliest(found)
    adjacency = found.adjacency if isinstance(found.adjacency, str) else [str(end) for end in found.adjacency]
    confirmation = result.confirmation
    return {
        "file": name,
        "verdict": result.verdict.value,
        "bounds": {method: _text(found.from_above.get(method)) for method in EVERY_METHOD}
        | {"lower": _text(found.lower)},
        "graph": None if found.alignment_proof is None else found.alignment_proof.graph,
        "adjacency": adjacency if asked else None,
        "sensitivity": str(found.sensitivity) if asked else None,
        "optimal": found.optimal,
        "by_state": [{"state": c.state, "cost": str(c.amount), "why": c.why} for c in costs],
        "run": _run(automaton, run),
        "confirmed": None if confirmation is None else _confirmed(automaton, confirmation),
        "missing": dict(found.missing),
        "seconds": round(result.seconds + found.seconds, 6),
        "notes": _notes(result, notes),
        "error": None,
    }


def probability(
    name: str,
    eps: Fraction,
    inputs: Sequence[Fraction],
    run: Sequence[int] | None,
    outputs: Sequence[Shown] | None,
    found: TotalLogProbability,
    seconds: float,
) -> Json:
    """The probability of a ``run`` or of ``outputs``."""
    return {
        "file": name,
        "eps": float(eps),
        "inputs": [float(a) for a in inputs],
        "run": run,
        "outputs": None if outputs is None else [_output(asked) for asked in outputs],
        "log_probability": found.value if abs(found.value) < inf else "-inf",
        "error": found.error,
        "probability": found.probability,
        "method": found.method,
        "runs": found.runs,
        "complete": found.complete,
        "seconds": round(seconds, 3),
    }


def simulation(
    name: str,
    eps: Fraction,
    inputs: Sequence[Fraction],
    seed: int,
    found: Simulation,
    rows: Sequence[Frequent],
    windows: bool,
    seconds: float,
) -> Json:
    """What executions showed, and how often."""
    return {
        "file": name,
        "eps": float(eps),
        "inputs": [float(a) for a in inputs],
        "samples": found.samples,
        "seed": seed,
        "different_outputs": len(found.outputs),
        "outputs": [_frequent(row, windows) for row in rows],
        "final": dict(sorted(found.final.items())),
        "stopped": dict(sorted(found.stopped.items())),
        "seconds": round(seconds, 3),
    }


# ------------------------------------------------------------------------------------------------------ parts


def _notes(result: Result, notes: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*notes, *map(str, result.notes)]))


def _problem(problem: InputProblem) -> Json:
    position = problem.position
    return {
        "message": problem.message,
        "line": position.line if position else None,
        "column": position.column if position else None,
        "rule": problem.rule,
    }


def _weight(weight: Bounds | None) -> dict[str, str | None] | None:
    return (
        None if weight is None else {method: _text(weight.from_above.get(method)) for method in EVERY_METHOD}
    )


def _text(bound: Fraction | None) -> str | None:
    return None if bound is None else str(bound)


def _witness(result: Result) -> Json | None:
    shown = result.witness
    if shown is None:
        return None
    return {
        "pattern": shown.pattern.key,
        "run": _run(result.automaton, shown.run),
        "cycles": [list(cycle) for cycle in shown.cycles],
        "path": list(shown.path),
        "distinct": result.distinct,
    }


def _run(automaton: Automaton, run: Sequence[int]) -> list[Json]:
    return [_step(automaton, automaton.transitions[t]) for t in run]


def _step(automaton: Automaton, transition: Transition) -> Json:
    return {
        "from": transition.source,
        "to": transition.target,
        "guard": transition.guard.text(automaton.variables),
        "output": str(transition.output),
        "assign": sorted(transition.assign),
    }


def _hint(hint: Hint) -> Json:
    changes = [{"before": change.before or None, "after": change.after} for change in hint.changes]
    told = {"kind": hint.kind, "text": hint.text, "changes": changes}
    return {**told, "private": hint.private, "outcome": hint.outcome}


def _inputs(automaton: Automaton, found: Refutation | InputPair) -> Json:
    """A run with two inputs and an output event."""
    return {
        "run": _run(automaton, found.run),
        "alpha": [None if a is None else float(a) for a in found.alpha],
        "beta": [None if b is None else float(b) for b in found.beta],
        "outputs": [None if window is None else interval(window) for window in found.outputs],
    }


def _counterexample(found: Refutation) -> Json:
    return {
        "eps": float(found.eps),
        "exceeds": str(found.exceeds),
        **_inputs(found.automaton, found),
        "rounds": found.rounds,
        "further_inputs": [float(a) for a in found.further],
        "log_prob_alpha": found.log_prob_alpha,
        "log_prob_beta": found.log_prob_beta,
        "log_ratio": found.log_ratio,
        "error": found.error,
        "all_runs": found.all_runs,
        "limit": str(found.limit),
        "growth": [{"rounds": g.rounds, "log_ratio_per_eps": g.log_ratio_per_eps} for g in found.growth],
        "seconds": round(found.seconds, 3),
    }


def _confirmed(automaton: Automaton, found: Confirmation) -> Json:
    return {
        "eps": float(found.eps),
        **_inputs(automaton, found.pair),
        "log_prob_alpha": found.log_prob_alpha,
        "log_prob_beta": found.log_prob_beta,
        "log_ratio_per_eps": found.log_ratio_per_eps,
        "error": found.error,
        "all_runs": found.all_runs,
        "tried": found.tried,
    }


def _frequent(row: Frequent, windows: bool) -> Json:
    shown = {"outputs": list(map(_output, row.outputs)), "text": outputs_text(row.outputs, windows)}
    return shown | {name: value for name, value in asdict(row).items() if name != "outputs"}


def _output(shown: Shown) -> str | list[float | str] | None:
    return shown if shown is None or isinstance(shown, str) else interval(shown)


def interval(window: Window) -> list[float | str]:
    """An interval; infinities as text, which JSON has no numbers for."""
    return [float(end) if abs(end) < inf else ("inf" if end > 0 else "-inf") for end in window]
