"""What the page says about one file: the texts and rows of the reports, as HTML, with pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from symdipa.evidence import story
from symdipa.evidence.hints import Hint
from symdipa.interface.pictures import automaton as automata
from symdipa.interface.pictures import dependency, growth, svg
from symdipa.interface.pictures import witness as witnesses
from symdipa.interface.pictures.markup import cell, element
from symdipa.interface.pictures.svg import Drawing
from symdipa.interface.reports import check as report
from symdipa.interface.reports import refutation as counterexample_report
from symdipa.interface.reports import weight as weight_report
from symdipa.interface.reports.weight import Weighed
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Result, Status, Verdict, Witness

if TYPE_CHECKING:
    from symdipa.bounds.portfolio import Weighing
    from symdipa.evidence.refutation import Counterexample


@dataclass(frozen=True)
class Checked:
    """One file and what was found out: ``None`` where something was not asked for or does not apply.

    ``notes`` are remarks from reading it. A text instead of a counterexample says why there is none.
    """

    name: str
    result: Result
    notes: tuple[str, ...] = ()
    weighed: Weighed | None = None
    counterexample: Counterexample | str | None = None
    hints: Sequence[Hint] | None = None


@dataclass(frozen=True)
class Unusable:
    """One file of which nothing is known; ``problems`` are lines that say why."""

    name: str
    problems: tuple[str, ...]


def headline(part: Checked | Unusable) -> str:
    """The verdict in a few words."""
    if isinstance(part, Unusable):
        return "cannot be used"
    if bounds := _proved(part):
        told = weight_report.headline(*bounds)
        return told if told.startswith("private") else f"private, {told}"
    return report.verdict_text(part.result)


def _proved(part: Checked) -> tuple[Weighed, Weighing] | None:
    """The bounds on D, if there is one and the automaton is private."""
    weighed = part.weighed
    if weighed is None or weighed.weighing is None or weighed.verdict is not Verdict.PRIVATE:
        return None
    return None if weighed.weighing.upper is None else (weighed, weighed.weighing)


def mark(part: Checked | Unusable) -> tuple[str, str]:
    """A sign for the verdict, and the name of its colour."""
    if isinstance(part, Unusable) or part.result.disagreements:
        return "!", "violated"
    verdict = part.result.verdict if part.weighed is None else part.weighed.verdict
    return {
        Verdict.PRIVATE: ("✔", "private"),
        Verdict.NOT_PRIVATE: ("✘", "violated"),
        Verdict.NOT_WELL_FORMED: ("✘", "violated"),
        Verdict.UNKNOWN: ("?", "open"),
    }[verdict]


def data(part: Checked) -> dict[str, Any]:
    """What the commands print with ``--json``, and what stepping through the run needs besides."""
    result, witness = part.result, part.result.witness
    told = report.json_told(part.name, result, part.hints, part.notes)
    told |= counterexample_report.json_fields(part.counterexample)
    told["bounds"] = part.weighed and weight_report.json_weight(part.name, part.weighed)["bounds"]
    if witness is not None:
        automaton = result.automaton
        told["transitions"] = list(witness.run)
        ends = [automaton.initial, *(automaton.transitions[t].target for t in witness.run)]
        told["states"] = [automaton.index[name] for name in ends]
        told["marks"] = story.marks_along(automaton, witness)
    return told


def section(part: Checked | Unusable, id_: str, lone: bool) -> str:
    """The part of the page about one file."""
    sign, colour = mark(part)
    heading = f"{id_}-name"
    lines = [
        element("h2", cell(part.name), id=heading),
        element("p", cell(f"{sign} {headline(part)}"), class_=f"verdict {colour}"),
    ]
    lines += _unusable(part) if isinstance(part, Unusable) else _checked(part)
    class_ = "file lone" if lone else "file"
    return element("section", "\n".join(lines), id=id_, class_=class_, aria_labelledby=heading)


def _unusable(part: Unusable) -> Iterator[str]:
    yield element("ul", *(element("li", cell(line)) for line in part.problems), class_="plain")


def _checked(part: Checked) -> Iterator[str]:
    result = part.result
    yield from flowing(report.disagreement_lines(result))
    # What a bound on D means is told with the best one, where bounds were looked for.
    bounds = _proved(part)
    yield from flowing(
        report.explanation(result) if bounds is None else list(weight_report.meaning(result, bounds[1]))
    )
    if result.witness is None:
        yield _heading("The automaton")
        figure = _automaton(result, None)
        yield element("div", figure, class_="pictures")
    else:
        yield from _witness(part, result.witness)
    yield from _counterexample(part.counterexample)
    yield from _bounds(part.weighed)
    yield from _decided(result)
    noise = story.noise_table(result.automaton)
    if noise:
        yield _heading("How the samples are drawn")
        yield _pre(noise)
    remarks = report.remarks(result, part.notes)
    if remarks:
        yield _heading("Notes")
        yield element("ul", *(element("li", cell(remark)) for remark in remarks), class_="plain")


# ------------------------------------------------------------------------------------------ the witness


def _witness(part: Checked, witness: Witness) -> Iterator[str]:
    result = part.result
    automaton = result.automaton
    if result.verdict is Verdict.NOT_PRIVATE:
        yield from flowing(story.why_it_costs(automaton, witness))
    yield _heading("The run, step by step")
    samples = dependency.draw(automaton, witness)
    pictures = [
        _automaton(result, witness),
        _figure(samples, "Dependency graph: which samples lie above which", "samples",
                [*witnesses.dependency_legend(witness), *samples.remarks]),
    ]  # fmt: skip
    parts = [
        _stepper(witness),
        element("div", *pictures, class_="pictures two"),
        _run_table(result, witness),
    ]
    yield element("div", *parts, class_="walk")
    if any(story.marks_along(automaton, witness)):
        legend = [f"{letter}: {meaning}" for letter, meaning in story.MARKS.items()]
        yield _paragraph(f"Marks of a stored sample. {'; '.join(legend)}.")
    forced = story.dependency_text(automaton, witness)
    if forced:
        yield _heading(report.dependency_title(witness.pattern))
        yield from flowing(forced)
    if part.hints is not None:
        yield _heading("What would help")
        yield from _hints(part.hints, witness.pattern)


def _hints(hints: Sequence[Hint], pattern: Pattern) -> Iterator[str]:
    yield _paragraph(report.hints_before(hints, pattern))
    items = []
    for hint in hints:
        lines = []
        for change in hint.changes:
            lines += [f"instead of  {change.before}"] if change.before else []
            lines.append(f"{'write' if change.before else 'add':<10}  {change.after}")
        parts = [_paragraph(hint.text), _pre(lines), _paragraph(report.hint_outcome(hint))]
        items.append(element("li", *parts))
    if items:
        yield element("ol", *items)
    yield from map(_paragraph, report.hints_after(hints))


def _stepper(witness: Witness) -> str:
    buttons = [
        element("button", cell(text), type="button", data_go=go, aria_label=label)
        for go, text, label in (
            ("first", "Start", "Back to the start"),
            ("previous", "◀ Previous", "Previous step"),
            ("next", "Next ▶", "Next step"),
            ("last", "End", "To the last step"),
        )
    ]
    where = element("span", cell(f"{len(witness.run)} steps"), class_="where", data_field="where")
    keys = element("span", element("kbd", "←"), " ", element("kbd", "→"), class_="keys", aria_hidden="true")
    fields = (
        ("move", "from → to"),
        ("guard", "asks for"),
        ("output", "outputs"),
        ("stores", "stores in"),
        ("facts", "known order"),
        ("marks", "marks"),
    )
    told = [
        element("div", element("dt", cell(name)), element("dd", "", data_field=key)) for key, name in fields
    ]
    return element(
        "div",
        element("div", *buttons, where, keys, class_="buttons"),
        element("dl", *told, class_="step", aria_live="polite"),
        class_="stepper",
        role="group",
        aria_label="Step through the run",
        hidden="",
    )


def _run_table(result: Result, witness: Witness) -> str:
    automaton = result.automaton
    head = ("step", "loop", "from", "asks for", "outputs", "stores in", "to", "known order", "marks")
    facts = story.facts_along(automaton, witness.run)
    marks = story.marks_along(automaton, witness)
    rows = []
    for k, t in enumerate(witness.run):
        move = automaton.transitions[t]
        cells = [
            {"*": "yes"}.get(loop := story.loops_at(witness, k), loop),
            move.source,
            move.guard.text(automaton.variables),
            str(move.output),
            ", ".join(sorted(move.assign)) or "–",
            move.target,
            facts[k] or "–",
            marks[k] or "–",
        ]
        button = element("button", str(k + 1), type="button", aria_label=f"Show step {k + 1}")
        rows.append(
            element(
                "tr",
                element("th", button, scope="row"),
                *(element("td", cell(text), class_="code") for text in cells),
                data_position=k + 1,
            )
        )
    top = element("tr", *(element("th", cell(name), scope="col") for name in head))
    return _framed(element("table", element("thead", top), element("tbody", *rows)), "The run as a table")


def _automaton(result: Result, witness: Witness | None) -> str:
    automaton = result.automaton
    try:
        drawing = automata.draw(automaton, witness)
    except automata.PictureTooLarge as reason:
        return element("p", cell(f"No picture: {reason}."))
    legend = witnesses.run_legend(witness) if witness is not None else []
    told = "Circles read an input, boxes do not; under a name stand d and mu of its noise."
    return _figure(drawing, automata.label_of(automaton), "automaton", [told, *legend, *drawing.remarks])


def _figure(drawing: Drawing, label: str, class_: str, remarks: Iterable[str]) -> str:
    caption = element("figcaption", cell(" ".join(remarks)))
    if not drawing.elements:
        return element("figure", caption)
    return element("figure", _framed(svg.inline(drawing, label, class_), label), caption)


# ------------------------------------------------------------------------------------------ the other parts


def _counterexample(found: Counterexample | str | None) -> Iterator[str]:
    if found is None:
        return
    yield _heading("Two inputs that tell")
    if isinstance(found, str):
        yield _paragraph(f"No pair of inputs is shown: {found}. The verdict does not depend on it.")
        return
    yield from flowing(counterexample_report.claim(found))
    inputs, numbers = counterexample_report.steps_rows(found), counterexample_report.number_rows(found)
    yield _table(inputs, "The two inputs, and the outputs that are observed", "numbers")
    yield _table(numbers, "The probabilities of these outputs", "numbers")
    yield from flowing(counterexample_report.whose(found))
    curve = growth.draw(found)
    if curve.elements:
        yield _heading("How the ratio grows with the rounds")
        caption = "The logarithm of Pr[alpha] / Pr[beta], divided by eps. Dashed: the claim that it passes."
        yield _figure(curve, "Growth of the log-ratio with the rounds of the loops", "growth", [caption])
    yield from flowing(counterexample_report.assumed(found))


def _bounds(weighed: Weighed | None) -> Iterator[str]:
    if weighed is None or weighed.weighing is None:
        return
    weighing = weighed.weighing
    yield _heading("The privacy cost D")
    yield _table([("bound", "value", "how"), *weight_report.bound_rows(weighing)], "Bounds on D")
    if weighing.by_state:
        yield _paragraph("Where it comes from, on the dearest run of the alignment:")
        yield _table([("step", "state", "cost", "why"), *weight_report.cost_rows(weighing)], "Costs of steps")


def _decided(result: Result) -> Iterator[str]:
    yield _heading("How it was decided")
    signs = {Status.ABSENT: "✔ ", Status.PRESENT: "✘ ", Status.UNKNOWN: "? ", Status.SKIPPED: ""}
    rows = [
        (pattern.title, signs[status] + status.value, how)
        for pattern, status, how in report.pattern_rows(result, True)
    ]
    yield _table([("pattern", "", "decided by"), *rows], "The four patterns")
    methods = {found.method for found in result.patterns.values()}
    told = [f"{method}: {words}" for method, words in report.PROOFS.items() if method in methods]
    if told:
        yield _paragraph(f"{'; '.join(told)}.")


# ------------------------------------------------------------------------------------------ pieces of HTML


def flowing(lines: Sequence[str]) -> Iterator[str]:
    """Lines of a report as paragraphs; lines that are set in from the left stay as they are."""
    for kind, group in groupby(lines, key=lambda line: "" if not line else "pre" if line[0] == " " else "p"):
        if kind == "pre":
            yield _pre(list(group))
        elif kind == "p":
            yield from map(_paragraph, _unwrapped(list(group)))


def _unwrapped(lines: Sequence[str]) -> Iterator[str]:
    """Paragraphs that were broken into lines; one ends where the next word would have had room."""
    told = lines[0]
    for line, following in pairwise(lines):
        if len(line) + 1 + len(following.split(" ")[0]) <= story.WIDTH:
            yield told
            told = following
        else:
            told += f" {following}"
    yield told


def _paragraph(text: str) -> str:
    return element("p", cell(text))


def _heading(text: str) -> str:
    return element("h3", cell(text))


def _pre(lines: Sequence[str]) -> str:
    indent = min(len(line) - len(line.lstrip()) for line in lines)
    return element("pre", cell("\n".join(line[indent:] for line in lines)), class_="scroll", tabindex=0)


def _table(rows: Sequence[Sequence[str]], label: str, class_: str | None = None) -> str:
    """A table; the first row is its head."""
    top = element("tr", *(element("th", cell(text), scope="col") for text in rows[0]))
    body = [element("tr", *(element("td", cell(text)) for text in row)) for row in rows[1:]]
    table = element("table", element("thead", top), element("tbody", *body), class_=class_)
    return _framed(table, label)


def _framed(content: str, label: str) -> str:
    """Something that may be wider than the page: it scrolls, also by the keyboard."""
    return element("div", content, class_="scroll", tabindex=0, role="region", aria_label=label)
