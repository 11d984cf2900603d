"""Reports for people and for scripts, made from one :class:`symdipa.model.verdict.Result`.

The text names steps of a run from 1, as people count; the JSON object names positions from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symdipa.evidence.story import (
    columns,
    dependency_text,
    enumeration,
    facts_along,
    in_short,
    legend,
    noise_table,
    output_clashes,
    prose,
    run_table,
    run_with_facts,
    story,
    why_it_costs,
)
from symdipa.model.automaton import Automaton, Transition
from symdipa.model.errors import Problem
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import PatternResult, Result, Status, Verdict, Weight

if TYPE_CHECKING:
    from symdipa.evidence.hints import Hint

BOUNDS = ("corollary", "run", "alignment", "exact", "relational")
NO_BOUND = "no bound on D was computed"
NOT_ASKED = "not asked for"
"""How the notes begin that a report tells in its own words."""

ASSUMED = (
    "Assumed: noise and comparisons in exact real numbers, not floating point. Neighbouring input streams "
    "have equally many entries, and each entry may differ by at most 1, up or down."
)
"""What every answer rests on, beside the automaton itself."""

ASSUMED_JSON = {"arithmetic": "real", "adjacency": "two-sided", "sensitivity": "1"}

BUG = "this is a bug in symdipa: please report it together with the file"


def headline(name: str, result: Result, alone: bool = False) -> str:
    """The verdict in one line; ``alone`` says that nothing is shown below it."""
    return f"{name}: {verdict_text(result, alone)}"


def verdict_text(result: Result, alone: bool = True) -> str:
    """The verdict in a few words, with what it rests on."""
    if result.disagreements:
        return "ENGINES DISAGREE, no answer can be relied on"
    if result.verdict is Verdict.PRIVATE:
        return f"private, {_best(result.weight)}"
    if result.verdict is Verdict.NOT_PRIVATE:
        return f"not private: {_present(result)}"
    if result.verdict is Verdict.NOT_WELL_FORMED:
        return f"not well-formed, privacy not decided: {_present(result)}"
    return f"unknown: {_open(result, alone)}"


def text(name: str, result: Result, notes: Sequence[str] = (), verbosity: int = 0) -> str:
    """The report on one file: verdict, why, the run that proves a violation, patterns, notes.

    ``notes`` are remarks from reading the file; those of the result follow. ``verbosity`` below 0 gives the
    verdict line alone, above 0 adds the noise of every state and the sizes of the searches.
    """
    lines = [headline(name, result, alone=verbosity < 0)]
    if verbosity >= 0:
        lines += disagreement_lines(result)
        lines += [f"  {line}" for line in explanation(result)]
        if result.witness is not None:
            lines += ["", *_indented(run_table(result.automaton, result.witness))]
        if verbosity > 0:
            lines += ["", *_indented(noise_table(result.automaton))]
        lines += ["", *pattern_table(result, verbosity > 0), "", *_indented(prose(ASSUMED))]
        told = remarks(result, notes, verbosity > 0)
        if told:
            lines += ["", *(f"  note: {remark}" for remark in told)]
    return "\n".join(lines)


def remarks(result: Result, notes: Sequence[str] = (), verbose: bool = False) -> list[str]:
    """What was noticed while reading and deciding, as far as the report does not tell it elsewhere."""
    said = _said_above(result)
    own = (note for note in result.notes if note not in said)
    return list(dict.fromkeys([*notes, *own, *_remarks(result, verbose)]))


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}".rstrip() for line in lines]


def witness_text(
    name: str,
    result: Result,
    asked: Pattern | None = None,
    hints: Sequence[Hint] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """The violation of one file at length: in words, step by step, what forces it, and what would help.

    ``asked`` is the only pattern that was looked for, if it was one. ``hints`` are changes that were tried
    (``None``: none was asked for).
    """
    witness, automaton = result.witness, result.automaton
    if witness is None:
        lines = _no_witness(name, result, asked)
    else:
        short = in_short(automaton, witness)
        lines = [headline(name, result), *_section("What goes wrong", [*short, "", *explanation(result)])]
        if result.verdict is Verdict.NOT_PRIVATE:
            lines += ["", *_indented(why_it_costs(automaton, witness))]
        table = run_with_facts(automaton, witness)
        lines += _section("The run, step by step", [*table, *legend(automaton, witness)])
        lines += _section(dependency_title(witness.pattern), dependency_text(automaton, witness))
        states = [automaton.transitions[t].source for t in witness.run]
        lines += _section("How the samples are drawn", noise_table(automaton, states))
        if hints is not None:
            lines += _section("What would help", hint_lines(hints, witness.pattern))
        others = [p for p in _with_status(result, Status.PRESENT) if p is not witness.pattern]
        if others:
            see = " or ".join(f"--pattern {p.short}" for p in others)
            lines += ["", *_indented(prose(f"There is also a {_titles(others)}: see {see}."))]
    lines += ["", *_indented(prose(ASSUMED))]
    remarks = dict.fromkeys([*notes, *(n for n in result.notes if n not in _said_above(result))])
    return "\n".join([*lines, *(["", *(f"  note: {r}" for r in remarks)] if remarks else [])])


def dependency_title(pattern: Pattern) -> str:
    """What the dependency text of a witness is headed by."""
    return "What the loop compares" if pattern is Pattern.LEAKING_CYCLE else "What forces the order"


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", title, *_indented(lines)] if lines else []


def _no_witness(name: str, result: Result, asked: Pattern | None) -> list[str]:
    """Why there is nothing to show: proved absent, and how, or not decided."""
    if result.disagreements:
        return [headline(name, result), *disagreement_lines(result)]
    if asked is not None and result.patterns[asked].status is Status.ABSENT:
        return [f"{name}: no {asked.title}", *_indented(_proofs(result, [asked]))]
    if result.verdict is Verdict.PRIVATE:
        return [
            headline(name, result),
            *_indented(explanation(result)),
            *_indented(["There is no run to show: each of the four patterns is proved absent."]),
            "",
            *_indented(_proofs(result, list(result.patterns))),
        ]
    return [
        headline(name, result),
        *_indented([*explanation(result), "There is no run to show so far."]),
        "",
        *pattern_table(result, False),
    ]


PROOFS = {
    "static": "an argument on the control graph, without search",
    "explicit": "enumeration of all orders of the stored samples",
    "k-induction": "induction over the steps of a run",
    "pdr": "an invariant, found by property-directed reachability",
}


def _proofs(result: Result, patterns: Sequence[Pattern]) -> list[str]:
    rows = []
    for pattern in patterns:
        found = result.patterns[pattern]
        how = PROOFS.get(found.method or "", found.method or "")
        sizes = f" ({_sizes(found)})" if found.sizes and found.method != "static" else ""
        rows.append([f"no {pattern.title}", f"by {how}{sizes}"])
    return columns(rows)


def hints_before(hints: Sequence[Hint], pattern: Pattern) -> str:
    """What hints are worth, or what is to be done in general where there are none."""
    if not hints:
        return f"No simple change was found that removes the {pattern.title}. In general: {GENERAL[pattern]}."
    if hints[0].private:
        return "Each of these changes was tried: made, and the changed automaton decided again."
    return "No change was found after which the automaton is proved private. What may be a start:"


def hints_after(hints: Sequence[Hint]) -> list[str]:
    """Remarks on hints that help, a paragraph each."""
    limits = any("limit" in hint.kind and hint.private for hint in hints)
    return [*([COPIES] if limits else []), *([SCALES] if any(hint.private for hint in hints) else [])]


def hint_outcome(hint: Hint) -> str:
    """What the change makes of the automaton."""
    return f"Then it is {hint.outcome}." if hint.private else f"Then: {hint.outcome}."


def hint_lines(hints: Sequence[Hint], pattern: Pattern) -> list[str]:
    lines = prose(hints_before(hints, pattern))
    for number, hint in enumerate(hints, 1):
        lines += ["", *_hanging(f"{number}. ", prose(hint.text))]
        for change in hint.changes:
            if change.before:
                lines.append(f"     instead of  {change.before}")
            lines.append(f"     {'write' if change.before else 'add':<10}  {change.after}")
        lines += _hanging("   ", prose(hint_outcome(hint)))
    for remark in hints_after(hints):
        lines += ["", *prose(remark)]
    return lines


COPIES = (
    "To allow more than one such answer before it stops, write the states once for each answer that may "
    "still come, and let such an answer lead from one copy to the next."
)
SCALES = "If every d is halved, which doubles the noise, D is halved, too."


def _hanging(mark: str, lines: Sequence[str]) -> list[str]:
    return [(mark if k == 0 else " " * len(mark)) + line for k, line in enumerate(lines)]


GENERAL = {
    Pattern.LEAKING_CYCLE: "limit how often the loop goes round, or compare with what was stored before it",
    Pattern.LEAKING_PAIR: "limit how often one of the loops goes round, or let them not share a threshold",
    Pattern.DISCLOSING_CYCLE: "limit how many numbers are shown",
    Pattern.PRIVACY_VIOLATING_PATH: "show a second sample (insampleprime) or a symbol instead of the number",
}


def problem_lines(name: str, problems: Sequence[Problem]) -> Iterator[str]:
    """Every problem of an input as ``file:line:column: message``, the form that editors jump to."""
    for problem in problems:
        place = f"{problem.position.line}:{problem.position.column}: " if problem.position else " "
        yield f"{name}:{place}{problem.message}"


def budget_note(upper: Fraction | None, lower: Fraction | None, budget: Fraction) -> str | None:
    """What is to be said where no bound on ``D`` within the budget was proved."""
    if upper is None:
        return f"whether D is at most {budget}, the budget, was not decided"
    if upper <= budget:
        return None
    if lower is None or lower <= budget:
        return f"the best bound that was proved, {upper}, is above the budget of {budget}"
    return f"above the budget of {budget}: D = {upper} is proved, and a single run needs {lower}"


def _best(weight: Weight | None) -> str:
    best = weight.best if weight else None
    if weight is None or best is None:
        return "D not computed"
    source = next(bound for bound in BOUNDS if getattr(weight, bound) == best)
    if source == "relational":
        return f"D = {best}, by relational alignment (experimental)"
    return f"D = {best} ({source} bound)"


def _present(result: Result) -> str:
    """The patterns that occur, the one with the witness first."""
    found = _with_status(result, Status.PRESENT)
    if result.witness is not None:
        shown = result.witness.pattern
        found.sort(key=lambda pattern: pattern is not shown)
    return ", ".join(p.title for p in found) or "no witness"


def _open(result: Result, alone: bool) -> str:
    """What stands in the way of an answer."""
    unknown = _with_status(result, Status.UNKNOWN)
    if not unknown:
        skipped = _titles(_with_status(result, Status.SKIPPED))
        return f"nothing found, but not asked for {skipped}; a verdict needs all four patterns"
    reasons = {p: reason for p in unknown if (reason := result.patterns[p].reason)}
    if not reasons:
        return f"{_titles(unknown)} undecided"
    first, why = next(iter(reasons.items()))
    if len(set(reasons.values())) > 1:
        why = f"{first.title}: {why}" if alone else "the reasons are below"
    return f"{_titles(unknown)} undecided ({why})"


def _said_above(result: Result) -> set[str]:
    """Notes of the result that the text of the report has told in its own words."""
    said = {note for note in result.notes if result.weight is None and note.startswith(NO_BOUND)}
    if result.verdict is Verdict.UNKNOWN and not _with_status(result, Status.UNKNOWN):
        said |= {note for note in result.notes if note.startswith(NOT_ASKED)}
    return said


def _why_no_bound(result: Result) -> str:
    """Why D was not computed, as far as the notes tell."""
    note = next((note for note in result.notes if note.startswith(NO_BOUND)), "")
    return note.partition(": ")[2]


def _with_status(result: Result, status: Status) -> list[Pattern]:
    return [pattern for pattern, found in result.patterns.items() if found.status is status]


def _titles(patterns: Sequence[Pattern]) -> str:
    return "all four patterns" if len(patterns) == len(Pattern) else enumeration(p.title for p in patterns)


def disagreement_lines(result: Result) -> list[str]:
    if not result.disagreements:
        return []
    return [*(f"  {line}" for line in result.disagreements), f"  {BUG}"]


def explanation(result: Result) -> list[str]:
    """What the verdict means, in the words of somebody who designs a mechanism."""
    lines: list[str] = []
    if result.verdict is Verdict.PRIVATE:
        best = result.weight.best if result.weight else None
        if best is not None:
            private = f"{_times_eps(best)}-differentially private"
            lines.append(f"For every eps > 0 it is {private}, however long it runs.")
        else:
            why = _why_no_bound(result)
            lines += prose(
                "For every eps > 0 it is D*eps-differentially private, however long it runs, for some D that "
                "does not depend on eps and was not computed" + (f": {why}." if why else ".")
            )
        if result.witness is not None:
            lines += prose(
                "It is not well-formed: the run below, taken alone, loses privacy without limit. Other runs "
                "with the same outputs make up for that, as runs paired by their outputs prove."
            )
    if result.witness is not None:
        lines += story(result.automaton, result.witness)
    if result.verdict is Verdict.NOT_PRIVATE:
        lines.append("No D is large enough: whatever is claimed, enough rounds exceed it.")
    elif result.verdict is Verdict.NOT_WELL_FORMED:
        lines += _why_undecided(result.automaton)
    elif result.verdict is Verdict.UNKNOWN:
        lines += _progress_so_far(result)
    return lines


def _times_eps(value: Fraction) -> str:
    if value == 1:
        return "eps"
    return f"{value}*eps" if value.denominator == 1 else f"({value})*eps"


def _why_undecided(automaton: Automaton) -> list[str]:
    clashes = list(output_clashes(automaton))
    symbols, numbers = any(clash.outputs for clash in clashes), any(clash.numbers for clash in clashes)
    advice = []
    if symbols:
        advice += prose(
            "If an observer can in fact tell such branches apart, let them output different symbols"
            + (": then it is not private." if not numbers else ".")
        )
    if numbers:
        advice += prose(
            "Branches of one state that output a number cannot be told apart by it, since each can show any "
            "number. Let each output a symbol of its own and go to another state that outputs the number: "
            "then the symbol tells which branch it was."
        )
    return [
        *prose(
            "That alone does not prove a loss of privacy: other runs can show the same outputs and may make "
            "up for the difference. What an observer may be unable to tell apart:"
        ),
        *(f"  {clash}" for clash in clashes[:3]),
        *([f"  and {len(clashes) - 3} more states"] if len(clashes) > 3 else []),
        *advice,
    ]


def _progress_so_far(result: Result) -> list[str]:
    unknown = _with_status(result, Status.UNKNOWN)
    if not unknown:
        return []
    lines = [
        f"{pattern.title}: got as far as {_sizes(result.patterns[pattern])}"
        for pattern in unknown
        if result.patterns[pattern].sizes
    ]
    return [*lines, "A larger --timeout, --memory or --bound, or another --engine, may decide it."]


def _sizes(found: PatternResult) -> str:
    """``depth 12``, ``81 order states, 3 slices``"""
    return ", ".join(_size(name, value) for name, value in found.sizes.items())


def _size(name: str, value: int) -> str:
    if not name.endswith("s"):
        return f"{name} {value}"
    return f"{value} {name.removesuffix('s') if value == 1 else name}"


def _remarks(result: Result, verbose: bool) -> Iterator[str]:
    violated = result.verdict in (Verdict.NOT_PRIVATE, Verdict.NOT_WELL_FORMED)
    if not result.output_distinct and result.verdict is Verdict.NOT_PRIVATE and result.distinct:
        yield (
            "not every state has distinct outputs, but no other run shows the outputs of this one, "
            "and that is enough"
        )
    elif not result.output_distinct and not violated and verbose:
        yield "not every state has distinct outputs; that matters only where a pattern is found"
    if result.strongly_feasible is None and (violated or verbose):
        yield "strong feasibility is not established (the answer does not depend on it)"
    elif result.strongly_feasible is False and (violated or verbose):
        yield (
            "not strongly feasible: some run forces a sample without input below another whose mean is not "
            "larger (the answer does not depend on it)"
        )
    if result.weight is not None and (verbose or "fallback" in result.weight.source):
        yield f"the bound on D was computed by: {result.weight.source}"


def pattern_table(result: Result, verbose: bool) -> list[str]:
    """One line a pattern: is it there, and what decided that."""
    return [
        f"  {pattern.title:<23} {status.value:<8} {how}".rstrip()
        for pattern, status, how in pattern_rows(result, verbose)
    ]


def pattern_rows(result: Result, verbose: bool) -> Iterator[tuple[Pattern, Status, str]]:
    """For each pattern, whether it is there and what decided that."""
    for pattern, found in result.patterns.items():
        answers = [answer for answer in result.details if answer.pattern is pattern]
        answers = answers if len(answers) > 1 else [found]
        statuses = {answer.status for answer in answers} - {Status.UNKNOWN}
        how = "; ".join(_how(answer, verbose, len(answers) > 1, len(statuses) > 1) for answer in answers)
        yield pattern, found.status, how


def _how(found: PatternResult, verbose: bool, several: bool, split: bool) -> str:
    """What an engine did about a pattern; of ``several``, and these perhaps ``split`` in what they say."""
    if found.status is Status.SKIPPED:
        return ""
    by_name = found.engine not in (found.method, "dataflow")
    words = [found.engine] if by_name or (several and not found.method) else []
    words += [found.method] if found.method else []
    words += [found.status.value] if split else ["undecided"] if several and not found.method else []
    if verbose and found.sizes:
        words.append(f"({_sizes(found)})")
    if verbose:
        words.append(f"{found.seconds:.2f} s")
    if found.status is Status.UNKNOWN and found.reason:
        words.append(f"- {found.reason}" if not several else f"({found.reason})")
    return " ".join(words)


def comparison_text(name: str, result: Result, notes: Sequence[str] = ()) -> str:
    """All engines side by side: whether they agree first, then a table of what each found."""
    agreement = "ENGINES DISAGREE" if result.disagreements else "engines agree"
    unknown = sum(found.status is Status.UNKNOWN for found in result.details)
    if not result.disagreements and unknown:
        agreement = f"no disagreement, {unknown} of {len(result.details)} answers unknown"
    rows = [["engine", "pattern", "status", "method", "seconds", "sizes"]]
    for found in result.details:
        engine = found.engine if found.encoding is None else f"{found.engine} {found.encoding}"
        method = found.method or found.reason or "-"
        cells = [engine, found.pattern.title, found.status.value, method, f"{found.seconds:.3f}"]
        rows.append([*cells, _sizes(found) or "-"])
    verdict = "no answer" if result.disagreements else verdict_text(result)
    lines = [
        f"{name}: {agreement}: {verdict}",
        *disagreement_lines(result),
        "",
        *(f"  {row}" for row in columns(rows)),
    ]
    remarks = dict.fromkeys([*notes, *result.notes])
    return "\n".join([*lines, *(["", *(f"  note: {r}" for r in remarks)] if remarks else [])])


def json_object(name: str, result: Result, notes: Sequence[str] = ()) -> dict[str, Any]:
    """The object that ``--json`` prints for one file; exact rationals are text."""
    patterns = result.patterns
    return {
        "file": name,
        "verdict": result.verdict.value,
        "patterns": {p.key: found.status.value for p, found in patterns.items()},
        "weight": _json_weight(result.weight),
        "output_distinct": result.output_distinct,
        "strongly_feasible": result.strongly_feasible,
        "witness": _json_witness(result),
        "engine": result.engine,
        "encoding": result.encoding if any(f.encoding for f in patterns.values()) else None,
        "method": {p.key: found.method for p, found in patterns.items()},
        "reasons": {p.key: found.reason for p, found in patterns.items() if found.reason},
        "seconds": round(result.seconds, 6),
        "assumed": ASSUMED_JSON,
        "notes": list(dict.fromkeys([*notes, *result.notes])),
        "disagreements": list(result.disagreements),
        "error": None,
    }


def json_error(name: str, problems: Sequence[Problem]) -> dict[str, Any]:
    """The object for an unusable input: the first problem as ``error``, all as ``errors``."""
    described = [_json_problem(problem) for problem in problems]
    return {
        "file": name,
        "verdict": "error",
        "patterns": {pattern.key: Status.SKIPPED.value for pattern in Pattern},
        "weight": None,
        "output_distinct": None,
        "strongly_feasible": None,
        "witness": None,
        "engine": None,
        "encoding": None,
        "method": {pattern.key: None for pattern in Pattern},
        "reasons": {},
        "seconds": 0.0,
        "assumed": ASSUMED_JSON,
        "notes": [],
        "disagreements": [],
        "error": described[0],
        "errors": described,
    }


def json_comparison(name: str, result: Result, notes: Sequence[str] = ()) -> dict[str, Any]:
    """What ``check --json`` says, and under ``details`` every answer of every engine."""
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
    return {**json_object(name, result, notes), "details": details}


def json_told(
    name: str, result: Result, hints: Sequence[Hint] | None = None, notes: Sequence[str] = ()
) -> dict[str, Any]:
    """What ``check --json`` says, and the violation told: ``story``, ``facts`` after each step, ``hints``."""
    witness, automaton = result.witness, result.automaton
    told = None if witness is None else story(automaton, witness)
    return {
        **json_object(name, result, notes),
        "story": told,
        "facts": None if witness is None else facts_along(automaton, witness.run),
        "hints": None if hints is None or witness is None else [_json_hint(hint) for hint in hints],
    }


def _json_hint(hint: Hint) -> dict[str, Any]:
    changes = [{"before": change.before or None, "after": change.after} for change in hint.changes]
    return {
        "kind": hint.kind,
        "text": hint.text,
        "changes": changes,
        "private": hint.private,
        "outcome": hint.outcome,
    }


def _json_problem(problem: Problem) -> dict[str, Any]:
    position = problem.position
    return {
        "message": problem.message,
        "line": position.line if position else None,
        "column": position.column if position else None,
        "rule": problem.rule,
    }


def _json_weight(weight: Weight | None) -> dict[str, str | None] | None:
    if weight is None:
        return None
    return {name: None if (b := getattr(weight, name)) is None else str(b) for name in BOUNDS}


def _json_witness(result: Result) -> dict[str, Any] | None:
    witness = result.witness
    if witness is None:
        return None
    automaton = result.automaton
    return {
        "pattern": witness.pattern.key,
        "run": [json_step(automaton, automaton.transitions[i]) for i in witness.run],
        "cycles": [list(cycle) for cycle in witness.cycles],
        "path": list(witness.path),
        "distinct": result.distinct,
    }


def json_step(automaton: Automaton, transition: Transition) -> dict[str, Any]:
    return {
        "from": transition.source,
        "to": transition.target,
        "guard": transition.guard.text(automaton.variables),
        "output": str(transition.output),
        "assign": sorted(transition.assign),
    }
