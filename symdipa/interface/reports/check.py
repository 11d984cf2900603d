"""The verdict on a file, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from symdipa.evidence.facts import output_clashes
from symdipa.interface.reports.document import (
    Block,
    Document,
    Headline,
    Inset,
    Lines,
    Marked,
    Notes,
    Section,
    Table,
    Tone,
)
from symdipa.interface.reports.story import run_table, story
from symdipa.interface.reports.words import LONGEST_NOISE_TABLE, LONGEST_RUN, assumed, clash_text, noise
from symdipa.model.automaton import Automaton
from symdipa.model.errors import InputProblem, NoteKind
from symdipa.model.options import EVERY_METHOD
from symdipa.model.patterns import Pattern
from symdipa.model.spelling import enumeration
from symdipa.model.verdict import Bounds, PatternResult, Result, Source, Status, Verdict

MOST_NOISE = 12
"""How many lines about noise a report has that is not verbose."""
BUG = "this is a bug in symdipa: please report it together with the file"


def document(name: str, result: Result, notes: Sequence[str] = (), verbosity: int = 0) -> Document:
    """The report on one file: verdict, why, the run that proves a violation, patterns, notes.

    ``notes`` are remarks beside those of the result. ``verbosity`` below 0 gives the verdict line alone,
    above 0 adds more of the noise, and the sizes of the searches.
    """
    if verbosity < 0:
        return Document((), headline(name, result, alone=True))
    longest = None if verbosity > 0 else LONGEST_RUN
    sections = [Section([*disagreements(result), *explanation(result, longest)])]
    if result.witness is not None:
        sections.append(Section(run_table(result.automaton, result.witness, longest)))
    drawn = noise(result.automaton, longest=LONGEST_NOISE_TABLE if verbosity > 0 else MOST_NOISE)
    sections.append(Section(drawn))
    automaton = result.automaton
    sections += [
        Section([pattern_table(result, verbosity > 0)]),
        Section([assumed(automaton.adjacency, integer=automaton.integer, differ=automaton.differ)]),
    ]
    return Document([*sections, *noted(remarks(result, notes, verbosity > 0))], headline(name, result))


def comparison(name: str, result: Result) -> Document:
    """All engines side by side: whether they agree first, then a table of what each found."""
    agreement = "ENGINES DISAGREE" if result.disagreements else "engines agree"
    unknown = sum(found.status is Status.UNKNOWN for found in result.details)
    if not result.disagreements and unknown:
        agreement = f"no disagreement, {unknown} of {len(result.details)} answers unknown"
    if result.disagreements:
        verdict = "no answer"
    elif unknown and result.verdict is Verdict.UNKNOWN:
        verdict = _open(result, alone=True)
    else:
        verdict = verdict_text(result)
    rows = []
    for found in result.details:
        engine = found.engine if found.encoding is None else f"{found.engine} {found.encoding}"
        method = found.method or found.reason or "-"
        cells = [engine, found.pattern.title, found.status.value, method, f"{found.seconds:.3f}"]
        rows.append([*cells, sizes_text(found) or "-"])
    table = Table(rows, ("engine", "pattern", "status", "method", "seconds", "sizes"))
    sections = [Section(disagreements(result)), Section([table]), *noted([*map(str, result.notes)])]
    return Document(sections, Headline(name, f"{agreement}: {verdict}", tone(result)))


def problem_lines(name: str, problems: Sequence[InputProblem]) -> Iterator[str]:
    """Every problem of an input as ``file:line:column: message``, the form that editors jump to."""
    for problem in problems:
        place = f"{problem.position.line}:{problem.position.column}: " if problem.position else " "
        yield f"{name}:{place}{problem.message}"


# ------------------------------------------------------------------------------------------------ the verdict


def headline(name: str, result: Result, alone: bool = False) -> Headline:
    """The verdict in one line; ``alone`` says that nothing is shown below it."""
    return Headline(name, verdict_text(result, alone), tone(result))


def tone(result: Result) -> Tone:
    return Tone.of(result)


def verdict_text(result: Result, alone: bool = True) -> str:
    """The verdict in a few words, with what it rests on."""
    if result.disagreements:
        return "ENGINES DISAGREE, no answer can be relied on"
    if result.verdict is Verdict.PRIVATE:
        return f"private, {_best(result.bounds)}"
    if result.verdict is Verdict.NOT_PRIVATE:
        return f"not private: {_present(result)}"
    if result.verdict is Verdict.NOT_WELL_FORMED:
        return f"not well-formed, privacy not decided: {_present(result)}"
    return f"unknown: {_open(result, alone)}"


def _best(bounds: Bounds | None) -> str:
    if bounds is None or bounds.best is None:
        return "D not computed"
    best = bounds.best
    method = next(method for method in EVERY_METHOD if bounds.from_above.get(method) == best)
    if method == "relational":
        return f"D = {best}, by relational alignment (experimental)"
    return f"D = {best} ({method} bound)"


def _present(result: Result) -> str:
    """The patterns that occur, the one with the witness first."""
    shown = result.witness.pattern if result.witness is not None else None
    found = sorted(with_status(result, Status.PRESENT), key=lambda pattern: pattern is not shown)
    names = {shown: result.witness.title} if result.witness is not None else {}
    return ", ".join(names.get(p, p.title) for p in found) or "no witness"


def _open(result: Result, alone: bool) -> str:
    """What stands in the way of an answer."""
    unknown = with_status(result, Status.UNKNOWN)
    if not unknown and (skipped := with_status(result, Status.SKIPPED)):
        return f"nothing found, but not asked for {titles(skipped)}; a verdict needs all four patterns"
    if not unknown:
        return "no pattern occurs, but only a bound on D proves privacy here"
    reasons = {p: reason for p in unknown if (reason := result.patterns[p].reason)}
    if not reasons:
        return f"{titles(unknown)} undecided"
    first, why = next(iter(reasons.items()))
    if len(set(reasons.values())) > 1:
        why = f"{first.title}: {why}" if alone else "the reasons are below"
    elif len(why) > LONGEST_REASON and not alone:
        why = "the reason is below"
    return f"{titles(unknown)} undecided ({why})"


LONGEST_REASON = 60
"""A longer one makes no headline."""


def with_status(result: Result, status: Status) -> list[Pattern]:
    return [pattern for pattern, found in result.patterns.items() if found.status is status]


def titles(patterns: Sequence[Pattern]) -> str:
    return "all four patterns" if len(patterns) == len(Pattern) else enumeration(p.title for p in patterns)


# --------------------------------------------------------------------------------------------- what it means


def disagreements(result: Result) -> list[Block]:
    """What engines contradict each other in, if they do."""
    return [*result.disagreements, BUG] if result.disagreements else []


def explanation(result: Result, longest: int | None = None) -> Iterator[Block]:
    """What the verdict means, in the words of somebody who designs a mechanism; of a run with more than
    ``longest`` steps an excerpt."""
    if result.verdict is Verdict.PRIVATE:
        yield _guarantee(result)
        if result.witness is not None:
            yield (
                "It is not well-formed: the run below, taken alone, loses privacy without limit. Other runs "
                "with the same outputs make up for that, as runs paired by their outputs prove."
            )
    if result.witness is not None:
        yield from story(result.automaton, result.witness, longest).happens
    if result.verdict is Verdict.NOT_PRIVATE:
        endless = result.witness is None or result.witness.cycles
        how = "enough rounds exceed it" if endless else "this run exceeds it"
        yield f"No D is large enough: whatever is claimed, {how}."
    elif result.verdict is Verdict.NOT_WELL_FORMED:
        if result.automaton.shows_steps:
            yield from _why_undecided(result.automaton)
    elif result.verdict is Verdict.UNKNOWN:
        yield from _progress_so_far(result)


def _guarantee(result: Result) -> Block:
    best = result.bounds.best if result.bounds else None
    if best is not None:
        return guarantee(best)
    why = next((f": {note.text}" for note in result.notes if note.kind is NoteKind.NO_BOUND), "")
    return (
        "For every eps > 0 it is D*eps-differentially private, however long it runs, for some D that does "
        f"not depend on eps and was not computed{why}."
    )


def guarantee(bound: Fraction) -> str:
    """What a bound on D means."""
    if bound == 0:
        return "The outputs do not depend on the inputs: no input makes any of them more likely."
    factor = "" if bound == 1 else f"{bound}*" if bound.denominator == 1 else f"({bound})*"
    return f"For every eps > 0 it is {factor}eps-differentially private, however long it runs."


def _why_undecided(automaton: Automaton) -> Iterator[Block]:
    clashes = list(output_clashes(automaton))
    symbols, numbers = any(clash.outputs for clash in clashes), any(clash.numbers for clash in clashes)
    yield (
        "That alone does not prove a loss of privacy: other runs can show the same outputs and may make up "
        "for the difference. What an observer may be unable to tell apart:"
    )
    more = [f"and {len(clashes) - 3} more states"] if len(clashes) > 3 else []
    yield Inset([Lines([*(clash_text(automaton, each) for each in clashes[:3]), *more])])
    origin = automaton.origin
    if symbols and origin is None:
        yield (
            "If an observer can in fact tell such branches apart, let them output different symbols"
            + (": then it is not private." if not numbers else ".")
        )
    elif symbols and origin is not None:
        passed = [t for clash in clashes for t in automaton.outgoing[automaton.index[clash.state]]]
        lines = {line for t in passed for line in origin.lines(automaton.transitions[t])}
        yield (
            "If an observer may know which it was, let the program show something else for each"
            + (": then it is not private." if not numbers else ".")
            + (ABSOLUTE if any("abs(" in origin.code(line) for line in lines) else "")
        )
    if numbers and origin is None:
        yield (
            "Branches of one state that output a number cannot be told apart by it, since each can show any "
            "number. Let each output a symbol of its own and go to another state that outputs the number: "
            "then the symbol tells which branch it was."
        )
    elif numbers:
        yield (
            "A number does not tell which it was, since each can be any number. Show a text of its own with "
            'each, as in "above", noisy.'
        )


ABSOLUTE = ' For abs(noisy) >= t show the side: "above" where noisy >= t, "below" where -noisy >= t.'
"""What to do about absolute values whose side is not shown."""


def _progress_so_far(result: Result) -> Iterator[Block]:
    unknown = with_status(result, Status.UNKNOWN)
    for pattern in unknown:
        if sizes := sizes_text(result.patterns[pattern]):
            yield f"{pattern.title}: got as far as {sizes}"
    if unknown:
        yield "A larger --timeout, --memory or --bound, or another --engine, may decide it."


def budget_note(bounds: Bounds, budget: Fraction) -> str | None:
    """The note if no bound on ``D`` within the budget was proved."""
    upper, needed = bounds.best, bounds.needed
    if upper is not None and upper <= budget:
        return None
    if needed is not None and needed > budget:
        return f"above the budget of {budget}: a run proves that D is at least {needed}"
    if upper is None:
        return f"whether D is at most {budget}, the budget, was not decided"
    return f"undecided: the best bound that was proved, {upper}, is above the budget of {budget}"


# ----------------------------------------------------------------------------------------------- the patterns


def pattern_table(result: Result, verbose: bool) -> Table:
    """One line a pattern: is it there, and what decided that."""
    tones = {Status.ABSENT: Tone.GOOD, Status.PRESENT: Tone.BAD, Status.UNKNOWN: Tone.OPEN}
    rows = []
    for pattern, found in result.patterns.items():
        answers = [answer for answer in result.details if answer.pattern is pattern]
        if len(answers) < 2 or (found.method == "bound" and not verbose):
            answers = [found]
        statuses = {answer.status for answer in answers} - {Status.UNKNOWN}
        how = "; ".join(_how(answer, verbose, len(answers) > 1, len(statuses) > 1) for answer in answers)
        rows.append((pattern.title, Marked(found.status.value, tones.get(found.status)), how))
    least = (0, max(len(status.value) for status in Status))
    return Table(rows, ("pattern", "", "decided by"), "The four patterns", silent=True, least=least)


def _how(found: PatternResult, verbose: bool, several: bool, split: bool) -> str:
    """What an engine did about a pattern; of ``several``, and these perhaps ``split`` in what they say."""
    if found.status is Status.SKIPPED:
        return ""
    by_name = found.engine not in (found.method, "dataflow")
    words = [found.engine] if by_name or (several and not found.method) else []
    words += [found.method] if found.method else []
    words += [found.status.value] if split else ["undecided"] if several and not found.method else []
    if verbose and found.sizes:
        words.append(f"({sizes_text(found)})")
    if verbose:
        words.append(f"{found.seconds:.2f} s")
    if found.status is Status.UNKNOWN and found.reason:
        words.append(f"- {found.reason}" if not several else f"({found.reason})")
    return " ".join(words)


def sizes_text(found: PatternResult) -> str:
    """``depth 12``, ``81 order states, 3 slices``"""
    return ", ".join(
        f"{value} {name.removesuffix('s') if value == 1 else name}"
        if name.endswith("s")
        else f"{name} {value}"
        for name, value in found.sizes.items()
    )


# ---------------------------------------------------------------------------------------------------- remarks


def noted(texts: Sequence[str]) -> list[Section]:
    """Remarks as a section, each once, if there are any."""
    return [Section([Notes(tuple(dict.fromkeys(texts)))])] if texts else []


def remarks(result: Result, notes: Sequence[str] = (), verbose: bool = False) -> list[str]:
    """What was noticed while reading and deciding, unless the report says it elsewhere."""
    return list(dict.fromkeys([*own_notes(result), *notes, *_properties(result, verbose)]))


def own_notes(result: Result) -> list[str]:
    """Notes of the result, without those that a report gives in its own words."""
    said = {NoteKind.NO_BOUND} if result.bounds is None else set()
    if result.verdict is Verdict.UNKNOWN and not with_status(result, Status.UNKNOWN):
        said.add(NoteKind.NOT_ASKED)
    return [str(note) for note in result.notes if note.kind not in said]


def _properties(result: Result, verbose: bool) -> Iterator[str]:
    violated = result.verdict in (Verdict.NOT_PRIVATE, Verdict.NOT_WELL_FORMED)
    if not result.output_distinct and result.verdict is Verdict.NOT_PRIVATE and result.distinct:
        yield (
            "not every state has distinct outputs, but no other run shows the outputs of this one, "
            "and that is enough"
        )
    elif not result.output_distinct and not violated and verbose:
        yield "not every state has distinct outputs; that matters only where a pattern is found"
    if result.strongly_feasible is None and result.automaton.is_plain and (violated or verbose):
        yield "strong feasibility is not established (the answer does not depend on it)"
    elif result.strongly_feasible is False and (violated or verbose):
        yield (
            "not strongly feasible: some run forces a sample without input below another whose mean is not "
            "larger (the answer does not depend on it)"
        )
    source = result.bounds.source if result.bounds else None
    if source is not None and (verbose or source is Source.FALLBACK):
        yield f"the bound on D was computed by: {source.value}"
