"""The bounds on ``D``, from a finished check and the bounds that were computed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from symdipa.evidence.facts import Compared, Steps, compared_along, step_lines
from symdipa.interface.reports.check import guarantee, own_notes, verdict_text, with_status
from symdipa.interface.reports.document import (
    Block,
    Document,
    Headline,
    Marked,
    Notes,
    Section,
    Table,
    Tone,
)
from symdipa.interface.reports.numbers import measured, number, power
from symdipa.interface.reports.refutation import step_cells, step_head
from symdipa.interface.reports.words import (
    LINE,
    PROGRAM,
    assumed,
    entry_text,
    mean_text,
    noise,
    program_cells,
)
from symdipa.model.adjacency import Interval
from symdipa.model.automaton import Automaton, State
from symdipa.model.options import EVERY_METHOD
from symdipa.model.spelling import counted, enumeration
from symdipa.model.verdict import Bounds, Result, Status, Verdict

if TYPE_CHECKING:
    from symdipa.bounds.breakdown import Breakdown
    from symdipa.evidence.confirmation import Confirmation

LONGEST = 12
"""How many steps of a run are listed before the middle is left out."""
LONGEST_REASON = 70
"""How many letters a reason may have that stands in a table."""
WHY = {
    "threshold": "a sample is stored as a threshold",
    "test": "a sample is compared",
    "release": "a number is shown",
}

GRAPHS = {
    "control": "on the control graph",
    "eq": "on the control graph with equalities",
    "parts": "on parts of the automaton",
    "augmentation": "on the augmentation",
}
"""What an alignment is proved on."""
PROPHECIES = {
    "U": "later reads",
    "C": "reads in loops",
    "K": "other reads",
    "M": "comparisons with means that move",
    "LG": "bounds of loops",
    "S": "the same for what parts share",
}
"""What is known ahead of the stored values where nodes are split (Def. lift in docs/weights.md)."""
HOW = {
    "run": "the paper's, on the augmentation",
    "corollary": "the paper's, on the augmentation",
    "counting": "what every entry costs, with nothing shifted",
    "exact": "exact profiles",
    "relational": "pairs of runs with the same outputs (experimental)",
}
"""How other bounds are proved."""


def document(name: str, result: Result, notes: Sequence[str] = ()) -> Document:
    """What ``symdipa weight`` prints for one file."""
    bounds, tone = result.bounds, Tone.of(result)
    noted = Section([Notes(tuple(dict.fromkeys((*own_notes(result), *notes))))], flush=True)
    if bounds is None or (result.verdict is not Verdict.PRIVATE and not bounds.from_above):
        never = result.verdict is Verdict.NOT_PRIVATE
        lacking = "there is no D (symdipa witness shows why)" if never else "no D was found"
        tried = bound_table(result.automaton, bounds) if bounds is not None and not never else []
        return Document([Section(tried), noted], Headline(name, f"{verdict_text(result)}; {lacking}", tone))
    words = bound_text(bounds)
    if result.verdict is Verdict.PRIVATE:
        words = f"private, {words}"
    sections = [Section(list(meaning(result, bounds))), Section(bound_table(result.automaton, bounds))]
    found = breakdown_of(result.automaton, bounds)
    costs = found.costs if found is not None else ()
    if found is not None and costs:
        sections.append(
            Section(cost_table(result.automaton, found), f"Where it comes from, {found.way.value}")
        )
    paying = list(dict.fromkeys(cost.state for cost in costs))[:LONGEST]
    sections.append(Section(noise(result.automaton, paying or None), "Noise"))
    if result.confirmation is not None:
        sections.append(_pair(result, result.confirmation, bounds.best))
    wrong = [f"CONTRADICTION (a bug, please report): {what}" for what in result.contradictions]
    sections += [Section(wrong, flush=True), noted]
    return Document(sections, Headline(name, words, tone))


def table(name: str, results: Sequence[Result]) -> Document:
    """``D`` for several ways in which entries may differ: what ``symdipa weight`` prints for a range."""
    rows = []
    for result in results:
        bounds, private = result.bounds, result.verdict is Verdict.PRIVATE
        answer = Marked("private" if private else verdict_text(result), Tone.of(result))
        known = private and bounds is not None and bounds.best is not None
        rows.append((str(result.automaton.differ), answer, bound_text(bounds) if known and bounds else ""))
    first = results[0]
    bounds = first.bounds or Bounds()
    automaton = first.automaton
    rests = assumed(bounds.adjacency, bounds.sensitivity, automaton.integer, None)
    noted = Section(
        [Notes(tuple(dict.fromkeys(note for each in results for note in own_notes(each))))], flush=True
    )
    return Document(
        [Section([Table(rows, ("differ", "answer", "D"))]), Section([rests]), noted],
        Headline(name, "D by the entries that differ", None),
    )


def breakdown_of(automaton: Automaton, bounds: Bounds) -> Breakdown | None:
    """A run that costs as much as the best bound says, and what its steps cost; ``None`` if none is known."""
    from symdipa.bounds import breakdown  # loads what reports without bounds do not need

    return breakdown.breakdown_of(automaton, bounds)


def _pair(result: Result, found: Confirmation, upper: Fraction | None) -> Section:
    """The two inputs that come near ``D``, and how near."""
    rows = [[str(k + 1), *step_cells(result.automaton, found.pair, k)] for k in range(len(found.pair.run))]
    if len(rows) > LONGEST:
        rows[LONGEST // 2 : -LONGEST // 2] = [["...", *[""] * (len(rows[0]) - 1)]]
    value, error = measured(found.log_ratio_per_eps, found.error)
    share = f", {100 * found.log_ratio_per_eps / upper:.2f} % of it" if upper else ""
    whose = "of these outputs" if found.all_runs else "of this run alone (other runs show the same outputs)"
    title = (
        f"In numbers, at eps = {number(found.eps)}: the logarithm of the ratio of the probabilities {whose} "
        f"on two adjacent inputs is ({value} {error})*eps{share}; the best of {counted(found.tried, 'pair')}"
    )
    steps = Table(rows, ("step", *step_head(result.automaton)))
    chances = [["Pr[alpha]", power(found.log_prob_alpha)], ["Pr[beta]", power(found.log_prob_beta)]]
    return Section([steps, Table(chances)], title)


def bound_text(bounds: Bounds) -> str:
    """What is known of D, in a few words; :func:`bound_table` says what proves it."""
    upper = bounds.best
    if upper is None:
        return "D not computed"
    by = ", by relational alignment (experimental)" if bounds.best_method == "relational" else ""
    if bounds.optimal:
        return f"D = {upper} (optimal){by}" if upper else f"D = 0{by}"
    if bounds.optimal_for_single_runs and not by:
        return f"D = {upper} (optimal for single runs)"
    at_least = f", at least {bounds.needed}" if bounds.needed else ""
    return f"D is at most {upper}{at_least}{by}"


def _steps(automaton: Automaton, bounds: Bounds) -> str:
    """How many steps the run of the flow has, in steps of the automaton."""
    if bounds.flow is None or automaton.is_plain:
        return counted(len(bounds.flow.run) if bounds.flow is not None else 0, "step")
    from symdipa.runs.control import control_graph

    return counted(len(control_graph(automaton).whole(bounds.flow.run)), "step")


def _how(bounds: Bounds, method: str) -> str:
    alignment = bounds.alignment_proof
    if method != "alignment" or alignment is None:
        return HOW.get(method, "")
    known = [PROPHECIES[letters] for letters in re.findall("LG|.", alignment.lift or "")]
    return GRAPHS[alignment.graph or "control"] + (f", split by {enumeration(known)}" if known else "")


def meaning(result: Result, bounds: Bounds) -> Iterator[Block]:
    """What the best bound means, and what it rests on."""
    automaton = result.automaton
    yield assumed(bounds.adjacency, bounds.sensitivity, automaton.integer, automaton.differ)
    if bounds.best is None:
        return
    yield guarantee(bounds.best)
    if result.well_formed is False:
        present = enumeration(p.title for p in with_status(result, Status.PRESENT))
        yield (
            f"It is not well-formed ({present}): single runs lose privacy without limit. Other runs with the "
            "same outputs make up for that, as runs paired by their outputs prove, also if it is seen which "
            "steps read an input and that a run stops."
        )
    if bounds.optimal and bounds.best:
        comes = "run from below comes" if bounds.alike_proof is None else "runs from below come"
        yield f"No smaller constant will do: the {comes} as close to it as one likes."
    elif bounds.optimal_for_single_runs:
        yield "Several runs can produce the same outputs: no single run excludes a smaller constant."
    elif not bounds.optimal and bounds.best_method == "relational":
        yield "A smaller constant may do."


def bound_table(automaton: Automaton, bounds: Bounds) -> list[Block]:
    """Every bound: its method, its value (``-``: none), and how it is proved or why it is missing.

    Long reasons stand below the table.
    """
    found = {m: bounds.from_above[m] for m in EVERY_METHOD if m in bounds.from_above}
    missing = {m: bounds.missing[m] for m in EVERY_METHOD if m in bounds.missing}
    below = {method: why for method, why in missing.items() if len(why) > LONGEST_REASON}
    rows = [(m, str(bound), _how(bounds, m)) for m, bound in found.items()]
    rows += [(m, "-", "see below" if m in below else why) for m, why in missing.items()]
    alike = bounds.alike_proof
    if bounds.lower and (alike is None or alike.value != bounds.lower):
        rows.append(("from below", str(bounds.lower), f"a flow on a run of {_steps(automaton, bounds)}"))
    if alike is not None:
        runs = counted(len(alike.alike.runs), "run")
        rows.append(("from below", str(alike.value), f"flows on all {runs} with the same outputs"))
    table = Table(rows, ("bound", "value", "how"), "Bounds on D", silent=True)
    return [table, *(f"No {method} bound: {why}." for method, why in below.items())]


def cost_table(automaton: Automaton, found: Breakdown) -> list[Block]:
    """The steps of a run that cost anything, with what their entries do in two adjacent inputs, if not all
    differ; the middle may be cut."""
    costs = found.costs
    steps = list(compared_along(automaton, found.run, found.letters)) if found.letters else []
    rows = []
    for c in costs:
        entry = [_moved(automaton.state(c.state), steps[c.position], found.ends)] if steps else []
        place = [f"step {c.position + 1}", c.state]
        if automaton.origin is not None:
            move = automaton.transitions[found.run[c.position]]
            place = [step_lines(automaton, move), program_cells(automaton.origin, move)[1]]
        rows.append([*place, *entry, str(c.amount), WHY[c.why]])
    if len(rows) > LONGEST:
        middle = slice(LONGEST // 2, -LONGEST // 2)
        between = str(sum((c.amount for c in costs[middle]), Fraction(0)))
        more = f"{counted(len(rows[middle]), 'step')} more"
        rows[middle] = [["...", *[""] * (len(rows[0]) - 3), between, more]]
    places = ("step", "state") if automaton.origin is None else (LINE, PROGRAM)
    head = (*places, *(("moved by",) if steps else ()), "cost", "why")
    table = Table(rows, head, "Costs of steps", silent=True, code=(PROGRAM,))
    return [table, *_other_entries(automaton, found, steps)]


def _moved(state: State, step: Compared, ends: Interval) -> str:
    """What moves the samples of a step: the entry that it reads, or the sums in their mean."""
    if state.registers:
        return mean_text(step, ends)
    return f"entry {entry_text(step.letter, ends)}" if step.letter else "no entry"


def _other_entries(automaton: Automaton, found: Breakdown, steps: Sequence[Compared]) -> Iterator[Block]:
    """The entries that differ in steps that cost nothing themselves: sums carry the differences on."""
    paying = {c.position for c in found.costs}
    entries = {k: entry_text(step.letter, found.ends) for k, step in enumerate(steps) if k not in paying}
    names = Steps(automaton, found.run)
    told = [f"{names.one(k)} ({entry})" for k, entry in entries.items() if entry not in ("-", "equal")]
    if len(told) > LONGEST:
        told[LONGEST - 1 :] = [f"{counted(len(told) - LONGEST + 1, 'step')} more"]
    if told:
        yield f"Entries also differ in {enumeration(told)}."
