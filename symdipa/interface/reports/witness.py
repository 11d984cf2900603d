"""How privacy is lost on one run, at length, and what would help; or why there is no such run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from symdipa.interface.reports import check
from symdipa.interface.reports.document import Block, Document, Inset, Lines, Numbered, Section, Table
from symdipa.interface.reports.story import dependency, run_with_facts, story
from symdipa.interface.reports.words import LONGEST_RUN, assumed, noise
from symdipa.model.automaton import Automaton
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Result, Status, Verdict, Witness

if TYPE_CHECKING:
    from symdipa.evidence.hints import Hint

PROOFS = {
    "static": "an argument on the control graph, without search",
    "explicit": "enumeration of all orders of the stored samples",
    "k-induction": "induction over the steps of a run",
    "pdr": "an invariant, found by property-directed reachability",
}
"""How a method proves that a pattern is absent."""
NOISE = "How the samples are drawn"
"""What the noise of states is headed by."""


def document(
    name: str,
    result: Result,
    asked: Pattern | None = None,
    hints: Sequence[Hint] | None = None,
    verbosity: int = 0,
) -> Document:
    """The violation of one file in words, step by step, what forces it, and what would help. ``asked`` is the
    pattern if only one was looked for; ``hints`` are the changes that were tried, if any were asked for.
    ``verbosity`` above 0 shows all steps of a run, however long it is."""
    automaton, first = result.automaton, check.headline(name, result)
    if result.witness is not None:
        longest = None if verbosity > 0 else LONGEST_RUN
        sections = _violation(result, result.witness, hints, longest)
    elif asked is not None and result.patterns[asked].status is Status.ABSENT and not result.disagreements:
        first = replace(first, words=f"no {asked.title}")
        sections = [Section([_proofs(result, [asked])])]
    else:
        sections = _no_witness(result)
    noted = check.noted(check.own_notes(result))
    return Document(
        [
            *sections,
            Section([assumed(automaton.adjacency, integer=automaton.integer, differ=automaton.differ)]),
            *noted,
        ],
        first,
    )


def _violation(
    result: Result, witness: Witness, hints: Sequence[Hint] | None, longest: int | None
) -> list[Section]:
    automaton = result.automaton
    violation = story(automaton, witness)
    means = list(check.explanation(result, longest))
    sections = [Section([violation.in_short], "What goes wrong"), Section(means)]
    if result.verdict is Verdict.NOT_PRIVATE:
        sections.append(Section([violation.why_it_costs]))
    sections.append(Section(run_with_facts(automaton, witness, longest), "The run, step by step"))
    sections += dependency(automaton, witness)
    states = [automaton.transitions[t].source for t in witness.run]
    if drawn := noise(automaton, states):
        sections.append(Section(drawn, NOISE))
    if hints is not None:
        sections += what_would_help(automaton, hints, witness.pattern)
    others = [p for p in check.with_status(result, Status.PRESENT) if p is not witness.pattern]
    if others:
        see = " or ".join(f"--pattern {p.short}" for p in others)
        sections.append(Section([f"There is also a {check.titles(others)}: see {see}."]))
    return sections


def _no_witness(result: Result) -> list[Section]:
    """Why there is nothing to show: proved absent, and how, or not decided."""
    if result.disagreements:
        return [Section(check.disagreements(result))]
    if result.verdict is Verdict.PRIVATE:
        none = "There is no run to show: each of the four patterns is proved absent."
        table = _proofs(result, list(result.patterns))
    else:
        none = "There is no run to show so far."
        table = check.pattern_table(result, False)
    return [Section([*check.explanation(result), none]), Section([table])]


def _proofs(result: Result, patterns: Sequence[Pattern]) -> Table:
    rows = []
    for pattern in patterns:
        found = result.patterns[pattern]
        how = PROOFS.get(found.method or "", found.method or "")
        sizes = f" ({check.sizes_text(found)})" if found.sizes and found.method != "static" else ""
        rows.append([f"no {pattern.title}", f"by {how}{sizes}"])
    return Table(rows)


# ------------------------------------------------------------------------------------------ what would help

GENERAL = {
    Pattern.LEAKING_CYCLE: "limit how often the loop goes round, or compare with what was stored before it",
    Pattern.LEAKING_PAIR: "limit how often one of the loops goes round, or let them not share a threshold",
    Pattern.DISCLOSING_CYCLE: "limit how many numbers are shown",
    Pattern.PRIVACY_VIOLATING_PATH: "show a second sample (insampleprime) or a symbol instead of the number",
}
"""What may help where no hint was found."""
SHOW_FRESH = "show the input with fresh noise, or no number"
"""The last of these for programs."""

COPIES = (
    "To allow more than one such answer before it stops, write the states once for each answer that may "
    "still come, and let such an answer lead from one copy to the next."
)
COUNTING = (
    "To allow more than one such answer, count them, and return when there were enough; the number can be a "
    "parameter."
)
SCALES_OF_PROGRAMS = "If the scale of all noise is doubled, D is halved."
SCALES = "If every d is halved, which doubles the noise, D is halved, too."


def what_would_help(automaton: Automaton, hints: Sequence[Hint], pattern: Pattern) -> list[Section]:
    """The changes that were tried and their outcomes, with remarks on those that help."""
    of_program = automaton.origin is not None
    blocks: list[Block] = [_worth(of_program, hints, pattern)]
    if hints:
        blocks.append(Numbered(list(map(_item, hints))))
    remedies = [hint for hint in hints if hint.private]
    limits = any("limit" in hint.kind.split("+") for hint in remedies)
    copies, scales = (COUNTING, SCALES_OF_PROGRAMS) if of_program else (COPIES, SCALES)
    after = [*([copies] if limits else []), *([scales] if remedies else [])]
    return [Section(blocks, "What would help"), *(Section([remark]) for remark in after)]


def _worth(of_program: bool, hints: Sequence[Hint], pattern: Pattern) -> str:
    """What hints are worth, or without any what to do in general."""
    if not hints:
        fresh = of_program and pattern is Pattern.PRIVACY_VIOLATING_PATH
        general = SHOW_FRESH if fresh else GENERAL[pattern]
        return f"No simple change was found that removes the {pattern.title}. In general: {general}."
    if hints[0].private:
        made = "made in the automaton of the program" if of_program else "made"
        return f"Each of these changes was tried: {made}, and the changed automaton decided again."
    what = "program" if of_program else "automaton"
    return f"No change was found after which the {what} is proved private. What may be a start:"


def _item(hint: Hint) -> list[Block]:
    origin, lines = hint.automaton.origin, []
    if origin is not None and hint.lines:
        lines = [f"line {line}  {origin.code(line)}" for line in hint.lines]
    else:
        wide = len("instead of") if any(change.before for change in hint.changes) else 0
        for change in hint.changes:
            lines += [f"instead of  {change.before}"] if change.before else []
            lines.append(f"{'write' if change.before else 'add':<{wide}}  {change.after}")
    outcome = f"Then it is {hint.outcome}." if hint.private else f"Then: {hint.outcome}."
    return [hint.text, Inset([Lines(lines)]), outcome]
