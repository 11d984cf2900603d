"""What the page says about one file: the blocks of the reports, with pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symdipa.interface.markup import Markup, element, joined
from symdipa.interface.pictures import automaton as automata
from symdipa.interface.pictures import dependency, growth, svg
from symdipa.interface.pictures import witness as witnesses
from symdipa.interface.pictures.svg import Drawing
from symdipa.interface.reports import check, objects, refutation, weight
from symdipa.interface.reports.document import (
    Headline,
    Notes,
    Section,
    Tone,
    as_html,
    as_lines,
    framed,
    framed_table,
)
from symdipa.interface.reports.story import dependency as forced_order
from symdipa.interface.reports.story import story
from symdipa.interface.reports.witness import NOISE, PROOFS, what_would_help
from symdipa.interface.reports.words import (
    DIFFER_THEN,
    ENTRY,
    LINE,
    LONGEST_ON_PAGE,
    MARKS,
    PROGRAM,
    assumed,
    entry_columns,
    entry_legend,
    excerpt,
    joined_pieces,
    known_marks,
    known_orders,
    noise,
    program_cells,
    run_columns,
)
from symdipa.model.adjacency import TWO_SIDED
from symdipa.model.automaton import Automaton, Noise
from symdipa.model.spelling import counted
from symdipa.model.verdict import Bounds, Result, Verdict, Witness

if TYPE_CHECKING:
    from symdipa.evidence.hints import Hint
    from symdipa.evidence.refutation import Refutation


@dataclass(frozen=True)
class Checked:
    """One file and what was found out, with ``None`` for what was not asked for or does not apply.

    ``weighed`` is the result with the best bounds. A text instead of a counterexample says why there is none.
    """

    name: str
    result: Result
    weighed: Result | None = None
    counterexample: Refutation | str | None = None
    hints: Sequence[Hint] | None = None


@dataclass(frozen=True)
class Refused:
    """One file of which nothing is known; ``problems`` are lines that say why."""

    name: str
    problems: tuple[str, ...]


def headline(part: Checked | Refused) -> Headline:
    """The verdict in a few words."""
    if isinstance(part, Refused):
        return Headline(part.name, "cannot be used", Tone.BROKEN)
    result, bounds = part.result, _proved(part)
    words = check.verdict_text(result) if bounds is None else f"private, {weight.bound_text(bounds)}"
    return Headline(part.name, words, Tone.of(part.weighed or result))


def doubts(part: Checked | Refused) -> list[str]:
    """The notes that make the verdict doubtful."""
    return [] if isinstance(part, Refused) else [str(note) for note in part.result.notes if note.is_doubt]


def _proved(part: Checked) -> Bounds | None:
    """The best bounds on D, if the automaton is private and has any."""
    found = part.weighed
    bounds = found.bounds if found is not None and found.verdict is Verdict.PRIVATE else None
    return None if bounds is None or bounds.best is None else bounds


def data(part: Checked) -> dict[str, Any]:
    """What the commands print with ``--json``, and what stepping through the run needs besides.

    Of a long run it has the ``steps`` (counted from 1, of ``length``) that the page shows, and no others.
    """
    result, witness = part.result, part.result.witness
    found = objects.witness(part.name, result, part.hints)
    found |= objects.concrete(part.counterexample)
    found["bounds"] = part.weighed and objects.weight(part.name, part.weighed)["bounds"]
    if witness is not None:
        automaton = result.automaton
        steps = [k for piece in excerpt(witness, LONGEST_ON_PAGE) for k in piece]
        marks, run = known_marks(automaton, witness), [witness.run[k] for k in steps]
        told = entry_columns(automaton, witness)
        found |= {key: [_dashed(told[name][k]) for k in steps] for key, name in ENTRIES if name in told}
        ends = [automaton.initial, *(automaton.transitions[t].target for t in run)]
        if automaton.origin is not None:
            found["places"] = [automaton.place(name) for name in ends]
            found["lines"] = [automaton.origin.lines(automaton.transitions[t]) for t in run]
            words = _told(automaton, witness)
            found |= {key: [words[key][k] for k in steps] for key in ("guards", "outputs")}
        found["steps"], found["length"] = [k + 1 for k in steps], len(witness.run)
        found["transitions"], found["states"] = run, [automaton.index[name] for name in ends]
        found["marks"], found["facts"] = [marks[k] for k in steps], [found["facts"][k] for k in steps]
        whole = found["witness"]
        found["witness"] = whole | {"run": [whole["run"][k] for k in steps]}
        found["story"] = as_lines(story(automaton, witness, LONGEST_ON_PAGE).happens, objects.STORY_WIDTH)
    return found


def section(part: Checked | Refused, id_: str, lone: bool) -> Markup:
    """The part of the page about one file."""
    head = headline(part)
    name = element("h2", head.subject, id=f"{id_}-name")
    blocks = [Section([Notes(part.problems)])] if isinstance(part, Refused) else _checked(part)
    content = joined([name, answer("p", head, "verdict "), as_html(blocks)], "\n")
    class_ = "file lone" if lone else "file"
    return element("section", content, id=id_, class_=class_, aria_labelledby=f"{id_}-name")


def answer(name: str, head: Headline, class_: str = "") -> Markup:
    """An element with the answer, its sign and its colour."""
    sign, colour = (head.tone.sign, head.tone.page_colour) if head.tone else ("", "")
    return element(name, f"{sign} {head.words}", class_=class_ + colour)


def _checked(part: Checked) -> Iterator[Section]:
    result, witness = part.result, part.result.witness
    # What a bound on D means is said of the best one, where bounds were looked for.
    bounds = _proved(part)
    means = check.explanation(result, LONGEST_ON_PAGE) if bounds is None else weight.meaning(result, bounds)
    automaton, rests = result.automaton, list[str]()
    if bounds is None and automaton.adjacency != TWO_SIDED:
        rests = [assumed(automaton.adjacency, integer=automaton.integer, differ=automaton.differ)]
    yield Section([*check.disagreements(result), *means, *rests])
    if witness is None:
        shown = [*_program(result.automaton, None), _automaton(result, None)]
        title = "The automaton" if result.automaton.origin is None else "The program, and its automaton"
        yield Section([element("div", *shown, class_="pictures")], title)
    else:
        yield from _witness(part, witness)
    yield from _counterexample(part.counterexample)
    if part.weighed is not None and part.weighed.bounds is not None:
        yield Section(weight.bound_table(result.automaton, part.weighed.bounds), "The privacy cost D")
        found = weight.breakdown_of(result.automaton, part.weighed.bounds)
        if found is not None and found.costs:
            caption = f"Where it comes from, {found.way.value}:"
            yield Section([caption, *weight.cost_table(result.automaton, found)])
    methods = {found.method for found in result.patterns.values()}
    told = "; ".join(f"{method}: {words}" for method, words in PROOFS.items() if method in methods)
    legend = [f"{told}."] if told else []
    yield Section([check.pattern_table(result, True), *legend], "How it was decided")
    if drawn := noise(result.automaton):
        yield Section(drawn, NOISE)
    if remarks := check.remarks(result):
        yield Section([Notes(remarks)], "Notes")


# ------------------------------------------------------------------------------------------ the witness


def _witness(part: Checked, witness: Witness) -> Iterator[Section]:
    result, automaton = part.result, part.result.automaton
    if result.verdict is Verdict.NOT_PRIVATE:
        yield Section([story(automaton, witness).why_it_costs])
    samples = dependency.draw(automaton, witness)
    legend = [*witnesses.dependency_legend(witness), *samples.remarks]
    figure = _figure(samples, "Dependency graph: which samples lie above which", "samples", legend)
    drawn = [*_program(automaton, witness), _automaton(result, witness), figure]
    side_by_side = element("div", *drawn, class_="pictures")
    marks = known_marks(automaton, witness)
    controls = element(
        "div", _stepper(automaton, witness), _run_table(result, witness, marks), class_="controls"
    )
    walk = element("div", controls, side_by_side, class_="walk")
    meanings = "; ".join(f"{letter}: {meaning}" for letter, meaning in MARKS.items())
    explained = [f"Marks of a stored sample. {meanings}."] if any(marks) else []
    if told := entry_legend(automaton, witness):
        explained.append(" ".join(told))
    if len(excerpt(witness, LONGEST_ON_PAGE)) > 1:
        explained.append(
            f"The run has {counted(len(witness.run), 'step')}; those at both ends, of the loops and of "
            "the dependency path are shown. symdipa witness -v, or --json, shows all."
        )
    yield Section([walk, *explained], "The run, step by step")
    yield from forced_order(automaton, witness)
    if part.hints is not None:
        yield from what_would_help(automaton, part.hints, witness.pattern)


BUTTONS = (
    ("first", "Start", "Back to the start"),
    ("previous", "◀ Previous", "Previous step"),
    ("next", "Next ▶", "Next step"),
    ("last", "End", "To the last step"),
)
ENTRIES = (("entries", ENTRY), ("registers", DIFFER_THEN))
"""What is told of automata that unfold only."""
ONLY_PLAIN = ("facts", "marks")
"""What is told of plain automata only."""
FIELDS = (
    ("move", "from → to"), ENTRIES[0], ("guard", "asks for"), ("output", "outputs"),
    ("stores", "stores in"), ENTRIES[1], ("facts", "known order"), ("marks", "marks"),
)  # fmt: skip
"""What a step through the run shows."""


LONGEST_LINE = 64
"""A program gets room for lines of so many letters beside the pictures; longer ones are scrolled."""


WIDE = (PROGRAM, "asks for", DIFFER_THEN, "known order", "marks")
"""The columns of the run that need some room."""


def _dashed(text: str) -> str:
    """The text of a cell; where there is nothing, a dash as the rest of the page has it."""
    return "–" if text == "-" else text


def _told(automaton: Automaton, witness: Witness) -> dict[str, list[str]]:
    """What the steps of a run ask for and show; programs do not ask for what is always so."""
    told, always = run_columns(automaton, witness), "true" if automaton.origin is not None else ""
    guards = ["–" if guard == always else guard for guard in told["guard"]]
    return {"guards": guards, "outputs": list(map(_dashed, told["output"]))}


def _stepper(automaton: Automaton, witness: Witness) -> Markup:
    buttons = [
        element("button", text, type="button", data_go=go, aria_label=label) for go, text, label in BUTTONS
    ]
    where = element("span", counted(len(witness.run), "step"), class_="where", data_field="where")
    keys = element("span", element("kbd", "←"), " ", element("kbd", "→"), class_="keys", aria_hidden="true")
    left_out = set() if automaton.is_plain else set(ONLY_PLAIN)
    left_out |= {key for key, name in ENTRIES if name not in entry_columns(automaton, witness)}
    fields_of = [field for field in FIELDS if field[0] not in left_out]
    fields = [
        element("div", element("dt", name), element("dd", "", data_field=key)) for key, name in fields_of
    ]
    above = element("div", *buttons, where, keys, class_="buttons")
    below = element("dl", *fields, class_="step", aria_live="polite")
    attributes = {"role": "group", "aria_label": "Step through the run", "hidden": ""}
    return element("div", above, below, class_="stepper", **attributes)


def _run_table(result: Result, witness: Witness, marks: Sequence[str]) -> Markup:
    """The run as a table whose rows are buttons, too."""
    told, origin = run_columns(result.automaton, witness), result.automaton.origin
    words = _told(result.automaton, witness)
    place = {"from": told["from"]}
    if origin is not None:
        moves = [result.automaton.transitions[t] for t in witness.run]
        code = [program_cells(origin, move, LONGEST_LINE)[1] for move in moves]
        place = {LINE: told[LINE], PROGRAM: code}
    columns = {
        "loop": ["yes" if loop == "*" else loop for loop in told["loop"]],
        **place,
        **({ENTRY: [_dashed(entry) for entry in told[ENTRY]]} if ENTRY in told else {}),
        "asks for": words["guards"],
        "outputs": words["outputs"],
        "stores in": [_dashed(stored) for stored in told["stores"]],
        **({DIFFER_THEN: [_dashed(by) for by in told[DIFFER_THEN]]} if DIFFER_THEN in told else {}),
        **({} if origin is not None else {"to": told["to"]}),
    }
    if result.automaton.is_plain:
        columns["known order"] = [order or "–" for order in known_orders(result.automaton, witness)]
        columns["marks"] = [mark or "–" for mark in marks]
    told_of = list(zip(*columns.values(), strict=True))

    def shown(piece: range) -> list[Markup]:
        rows = []
        for k in piece:
            button = element("button", str(k + 1), type="button", aria_label=f"Show step {k + 1}")
            cells = (
                element("td", cell, class_="code wide" if name in WIDE else "code")
                for name, cell in zip(columns, told_of[k], strict=True)
            )
            rows.append(element("tr", element("th", button, scope="row"), *cells, data_position=k + 1))
        return rows

    def left_out(said: str) -> Markup:
        return element("tr", element("th", "..."), element("td", said, colspan=len(columns)))

    rows = joined_pieces(excerpt(witness, LONGEST_ON_PAGE), shown, left_out)
    return element("div", framed_table(("step", *columns), rows, "The run as a table"), class_="steps")


def _program(automaton: Automaton, witness: Witness | None) -> Iterator[Markup]:
    """The program that the automaton was made from, if it was made from one, with the lines of the run and
    of its loops marked."""
    origin = automaton.origin
    if origin is None:
        return
    steps: dict[int, list[int]] = {}
    for k, t in enumerate(witness.run if witness is not None else ()):
        for line in origin.lines(automaton.transitions[t]):
            steps.setdefault(line, []).append(k)
    rows = []
    for line, code in zip(origin.shown, origin.listing(origin.shown), strict=False):
        loops = automata.loop_classes(witness, steps[line]) if witness is not None and line in steps else []
        class_ = "line" + (" run" if line in steps else "") + "".join(loops)
        number = element("span", str(line), class_="number")
        rows.append(element("span", number, element("code", code), class_=class_, data_line=line))
    listing = framed(element("div", *rows, class_="listing"), f"The program {automaton.name}")
    said = "The lines of the run are set off; the present step is marked." if witness is not None else ""
    caption = element("figcaption", f"{origin.file}. {said}".strip())
    widest = min(LONGEST_LINE, max(map(len, origin.listing(origin.shown)), default=0))
    wide = 8 * widest + 60  # letters, and the numbers before them
    yield element("figure", listing, caption, class_="program", style=f"--wide: {wide}")


def _automaton(result: Result, witness: Witness | None) -> Markup:
    automaton = result.automaton
    try:
        drawing = automata.draw(automaton, witness)
    except automata.PictureTooLarge as reason:
        return element("p", f"No picture: {reason}.")
    legend = witnesses.run_legend(witness) if witness is not None else []
    shapes = (
        f"Circles read an input, boxes do not; under a name stand d and mu of its noise{_kinds(automaton)}."
    )
    return _figure(drawing, automata.label_of(automaton), "automaton", [shapes, *legend, *drawing.remarks])


def _kinds(automaton: Automaton) -> str:
    """The words and numbers in the labels of states that need to be told."""
    noises = {state.noise for state in automaton.states} | {state.noise_prime for state in automaton.states}
    drawing = all(state.draws for state in automaton.states)
    told = ["exp: exponential noise, upwards from its mean"] if Noise.EXPONENTIAL in noises else []
    told += ["inf: no noise"] if any(s.draws and s.noise is Noise.NONE for s in automaton.states) else []
    told += ["read and silent: nothing is drawn"] if not drawing else []
    return "".join(f"; {words}" for words in told)


def _figure(drawing: Drawing, label: str, class_: str, remarks: Iterable[str]) -> Markup:
    caption = element("figcaption", " ".join(remarks))
    if not drawing.elements:
        return element("figure", caption)
    picture = framed(svg.inline(drawing, label, class_), label)
    return element("figure", picture, caption, style=f"--wide: {svg.size(drawing)[0]}")


# ------------------------------------------------------------------------------------------ the other parts


def _counterexample(found: Refutation | str | None) -> Iterator[Section]:
    title = "Two inputs that tell"
    if found is None:
        return
    if isinstance(found, str):
        yield Section([refutation.missing(found)], title)
        return
    tables = refutation.steps_table(found), refutation.number_table(found)
    yield Section([refutation.claim(found), *tables, *refutation.whose(found)], title)
    if len(found.growth) > 1:
        caption = "The logarithm of Pr[alpha] / Pr[beta], divided by eps. Dashed: the claim that it passes."
        label = "Growth of the log-ratio with the rounds of the loops"
        curve = _figure(growth.draw(found), label, "growth", [caption])
        yield Section([curve], "How the ratio grows with the rounds")
    yield Section(list(refutation.assumed(found)))
