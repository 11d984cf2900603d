"""The objects that ``--json`` prints: exact rationals are text, and positions in a run count from 0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any, cast

from symdipa.evidence.facts import compared_along
from symdipa.interface.reports.document import as_lines
from symdipa.interface.reports.probability import outputs_text
from symdipa.interface.reports.story import story
from symdipa.interface.reports.words import entry_text, known_orders
from symdipa.model.adjacency import EITHER_WAY, TWO_SIDED, Adjacency, Interval
from symdipa.model.automaton import Automaton
from symdipa.model.errors import InputProblem
from symdipa.model.options import EVERY_METHOD
from symdipa.model.parts import Form
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Bounds, Result, Status, Verdict, Witness

if TYPE_CHECKING:
    from symdipa.evidence.confirmation import Confirmation
    from symdipa.evidence.hints import Hint
    from symdipa.evidence.probability import TotalLogProbability, Window
    from symdipa.evidence.probability.linear.events import Asked
    from symdipa.evidence.refutation import Refutation
    from symdipa.evidence.refutation.inputs import InputPair
    from symdipa.evidence.simulation import Frequent, Shown, Simulation

STORY_WIDTH = 98
"""How long lines of a story are at most."""
ASSUMED = {"arithmetic": "real", "differ": "all", "adjacency": TWO_SIDED, "sensitivity": "1"}

Json = dict[str, Any]


def check(name: str, result: Result, notes: Sequence[str] = ()) -> Json:
    """One file that was decided."""
    patterns = result.patterns
    return {
        "file": name,
        "verdict": result.verdict.value,
        "patterns": {p.key: found.status.value for p, found in patterns.items()},
        "weight": None if result.bounds is None else _bounds(result.bounds),
        "output_distinct": result.output_distinct,
        "strongly_feasible": result.strongly_feasible,
        "witness": None if result.witness is None else _witness(result, result.witness),
        "engine": result.engine,
        "encoding": result.encoding if any(f.encoding for f in patterns.values()) else None,
        "method": {p.key: found.method for p, found in patterns.items()},
        "reasons": {p.key: found.reason for p, found in patterns.items() if found.reason},
        "seconds": round(result.seconds, 6),
        "assumed": ASSUMED | _assumed(result.automaton),
        "halt_visible": _stopping(result),
        "notes": _notes(result, notes),
        "disagreements": list(result.disagreements),
        "error": None,
    }


def error(name: str, problems: Sequence[InputProblem]) -> Json:
    """An input that cannot be used, in the fields of :func:`check`, with all problems as ``errors``."""
    described = [
        {
            "message": problem.message,
            "line": problem.position and problem.position.line,
            "column": problem.position and problem.position.column,
            "rule": problem.rule,
        }
        for problem in problems
    ]
    return {
        "file": name,
        "verdict": "error",
        "patterns": {pattern.key: Status.SKIPPED.value for pattern in Pattern},
        **dict.fromkeys(("weight", "output_distinct", "strongly_feasible", "witness", "engine", "encoding")),
        "method": {pattern.key: None for pattern in Pattern},
        "reasons": {},
        "seconds": 0.0,
        "assumed": ASSUMED | {"halt": "hidden"},
        "halt_visible": None,
        "notes": [],
        "disagreements": [],
        "error": described[0],
        "errors": described,
    }


def unread(name: str, reason: str) -> Json:
    """A file on which a limit ended the work before there was an answer."""
    return {**error(name, [InputProblem("limit", reason)]), "verdict": Verdict.UNKNOWN.value}


def comparison(name: str, result: Result) -> Json:
    """What ``check`` says, and under ``details`` every answer of every engine."""
    details = [
        _fields(found, "engine", "encoding")
        | {"pattern": found.pattern.key, "status": found.status.value}
        | _fields(found, "method", "reason")
        | {"seconds": round(found.seconds, 6), "sizes": dict(found.sizes)}
        for found in result.details
    ]
    return {**check(name, result), "details": details}


def witness(name: str, result: Result, hints: Sequence[Hint] | None = None) -> Json:
    """What ``check`` says, and the violation: ``story`` in lines, ``facts`` after each step, ``hints``."""
    told, shown, automaton = check(name, result), result.witness, result.automaton
    if shown is None:
        return told | dict.fromkeys(("story", "facts", "hints"))
    return told | {
        "story": as_lines(story(automaton, shown).happens, STORY_WIDTH),
        "facts": known_orders(automaton, shown),
        "hints": None if hints is None else list(map(_hint, hints)),
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
    from symdipa.interface.reports.weight import breakdown_of

    found, automaton = result.bounds or Bounds(), result.automaton
    asked = result.bounds is not None
    parts = breakdown_of(automaton, found)
    run, costs = (parts.run, parts.costs) if parts is not None else ((), ())
    letters, ends = (parts.letters, parts.ends) if parts is not None else ((), EITHER_WAY)
    entries, origin = _entries(automaton, run, letters, ends), automaton.origin
    adjacency = _adjacency(found.adjacency)
    confirmation = result.confirmation
    return {
        "file": name,
        "verdict": result.verdict.value,
        "bounds": _bounds(found) | {"lower": _text(found.lower)},
        "graph": None if found.alignment_proof is None else found.alignment_proof.graph,
        "differ": str(automaton.differ) if asked else None,
        "adjacency": adjacency if asked else None,
        "sensitivity": str(found.sensitivity) if asked else None,
        "needed": _text(found.needed),
        "optimal": "single-runs" if found.optimal_for_single_runs else found.optimal,
        "by_state": [
            {
                "state": c.state,
                **({} if origin is None else {"line": origin.states.get(c.state)}),
                "cost": str(c.amount),
                "why": c.why,
                **_entry(entries, c.position),
            }
            for c in costs
        ],
        "run": _run(automaton, run, entries),
        "confirmed": None if confirmation is None else _confirmed(automaton, confirmation),
        "missing": dict(found.missing),
        "seconds": round(result.seconds + found.seconds, 6),
        "halt_visible": _stopping(result),
        "notes": _notes(result, notes),
        "error": None,
    }


def _stopping(result: Result) -> Json | None:
    """The other answer if it is seen that a run stops."""
    other = result.stopping
    if other is None:
        return None
    return {"verdict": other.verdict.value, "bound": _text(other.bounds.best) if other.bounds else None}


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
        "inputs": _numbers(inputs),
        "run": run,
        "outputs": None if outputs is None else [_output(asked) for asked in outputs],
        "log_probability": found.value if abs(found.value) < inf else "-inf",
        **_fields(found, "error", "probability", "method", "runs", "complete"),
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
        "inputs": _numbers(inputs),
        "samples": found.samples,
        "seed": seed,
        "different_outputs": len(found.outputs),
        "outputs": [
            {"outputs": list(map(_output, row.outputs)), "text": outputs_text(row.outputs, windows)}
            | _fields(row, "count", "beginning", "share", "computed", "error", "sigmas")
            for row in rows
        ],
        "final": dict(sorted(found.final.items())),
        "stopped": dict(sorted(found.stopped.items())),
        "seconds": round(seconds, 3),
    }


# ------------------------------------------------------------------------------------------------------ parts


def _assumed(automaton: Automaton) -> Json:
    """What is assumed of this automaton and not of others."""
    arithmetic = {"arithmetic": "integer"} if automaton.integer else {}
    adjacent = {"differ": str(automaton.differ), "adjacency": _adjacency(automaton.adjacency)}
    return arithmetic | adjacent | {"halt": automaton.halt or "hidden"}


def _adjacency(adjacency: Adjacency) -> str | list[str]:
    """How far entries differ."""
    return adjacency if isinstance(adjacency, str) else [str(end) for end in adjacency]


def _fields(found: object, *names: str) -> Json:
    """The fields that are called the same here, and are numbers or text."""
    return {name: getattr(found, name) for name in names}


def _notes(result: Result, notes: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*map(str, result.notes), *notes]))


def _text(bound: Fraction | None) -> str | None:
    return None if bound is None else str(bound)


def _numbers(inputs: Iterable[Fraction | None]) -> list[float | None]:
    return [None if a is None else float(a) for a in inputs]


def _bounds(bounds: Bounds) -> Json:
    return {method: _text(bounds.from_above.get(method)) for method in EVERY_METHOD}


def _witness(result: Result, shown: Witness) -> Json:
    automaton = result.automaton
    return {
        "pattern": shown.pattern.key,
        **({"conflict": shown.conflict} if shown.conflict else {}),
        "run": _run(automaton, shown.run, _entries(automaton, shown.run, shown.letters)),
        "cycles": list(map(list, shown.cycles)),
        "path": list(shown.path),
        "distinct": result.distinct,
    }


def _entries(
    automaton: Automaton, run: Sequence[int], letters: Sequence[str], ends: Interval = EITHER_WAY
) -> list[Json]:
    """For each step what the entry that it reads does in two adjacent inputs, and by how much registers
    differ after it; nothing where the automaton does not unfold."""
    steps = compared_along(automaton, run, letters) if letters else ()
    return [
        {
            "entry": entry_text(step.letter, ends) if step.letter else None,
            **({"registers": _sizes(step.registers, ends)} if automaton.registers else {}),
        }
        for step in steps
    ]


def _sizes(registers: Mapping[str, Form], ends: Interval) -> Json:
    return {register: str(form.within(*ends)) for register, form in sorted(registers.items())}


def _entry(entries: Sequence[Json], position: int) -> Json:
    return {"entry": entries[position]["entry"]} if entries else {}


def _run(automaton: Automaton, run: Sequence[int], entries: Sequence[Json] = ()) -> list[Json]:
    """The steps of a run, with what is known of their entries."""
    return [
        {
            "from": move.source,
            "to": move.target,
            **({} if automaton.origin is None else {"lines": list(automaton.origin.lines(move))}),
            "guard": move.guard.text(automaton.variables),
            "output": str(move.output),
            "assign": sorted(move.assign),
            **({"copy": {x: str(y) for x, y in move.copies}} if move.copies else {}),
            **({"update": {one.register: one.value for one in move.updates}} if move.updates else {}),
            **(entries[k] if entries else {}),
        }
        for k, move in enumerate(automaton.transitions[t] for t in run)
    ]


def _hint(hint: Hint) -> Json:
    changes = [{"before": change.before or None, "after": change.after} for change in hint.changes]
    lines = {"lines": list(hint.lines)} if hint.automaton.origin is not None else {}
    return _fields(hint, "kind", "text") | {"changes": changes} | lines | _fields(hint, "private", "outcome")


def _inputs(automaton: Automaton, found: Refutation | InputPair) -> Json:
    """A run with two inputs and an output event."""
    return {
        "run": _run(automaton, found.run),
        "alpha": _numbers(found.alpha),
        "beta": _numbers(found.beta),
        "outputs": list(map(_output, found.outputs)),
    }


def _counterexample(found: Refutation) -> Json:
    return {
        "eps": float(found.eps),
        "exceeds": str(found.exceeds),
        **_inputs(found.automaton, found),
        "rounds": found.rounds,
        "further_inputs": _numbers(found.further),
        **{name: finite(getattr(found, name)) for name in ("log_prob_alpha", "log_prob_beta", "log_ratio")},
        **_fields(found, "error", "all_runs"),
        "limit": None if found.limit is None else str(found.limit),
        "growth": [
            {"rounds": point.rounds, "log_ratio_per_eps": finite(point.log_ratio_per_eps)}
            for point in found.growth
        ],
        "seconds": round(found.seconds, 3),
    }


def _confirmed(automaton: Automaton, found: Confirmation) -> Json:
    names = ("log_prob_alpha", "log_prob_beta", "log_ratio_per_eps", "error", "all_runs", "tried")
    return {"eps": float(found.eps), **_inputs(automaton, found.pair), **_fields(found, *names)}


def _output(shown: Shown | Asked) -> str | list[Any] | None:
    """A symbol, an interval, or a list of these."""
    if shown is None or isinstance(shown, str):
        return shown
    if any(item is None or isinstance(item, str | tuple) for item in shown):
        return [_output(cast("Shown", item)) for item in shown]
    return interval(cast("Window", shown))


def interval(window: Window) -> list[float | str]:
    """An interval."""
    return [finite(float(end)) for end in window]


def finite(x: float) -> float | str:
    """A number; infinities as text, which JSON has no numbers for."""
    return x if abs(x) < inf else ("inf" if x > 0 else "-inf")
