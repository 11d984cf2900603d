"""Documents: how blocks become lines of plain text and parts of a page."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from symdipa import check
from symdipa.files.families import generate
from symdipa.interface.markup import element
from symdipa.interface.reports.document import (
    WIDTH,
    Code,
    Document,
    Headline,
    Inset,
    Lines,
    Marked,
    Notes,
    Numbered,
    Section,
    Table,
    Tone,
    as_html,
    as_lines,
    as_text,
)
from symdipa.model.errors import Note, NoteKind
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Answers, Bounds, PatternResult, Status, Verdict


def test_sections_are_set_apart_and_blocks_are_not():
    sections = [
        Section(["First.", Inset([Lines(["x <"])])]),
        Section(["Second."], "Title"),
        Section([]),
        Section([Notes(["a", "b"])], flush=True),
    ]
    assert as_text(Document(sections, Headline("file", "fine"))).split("\n") == [
        "file: fine", "  First.", "    x <", "", "Title", "  Second.", "", "note: a", "note: b",
    ]  # fmt: skip
    assert as_text(Document(sections[1:2])) == "Title\n  Second."


def test_paragraphs_are_wrapped_in_plain_text_and_lines_are_not():
    words = "one two-three four"
    assert as_lines([words], 8) == ["one", "two-three", "four"]
    assert as_lines([Code(words)], 14) == ["one two-three", "four"]
    assert as_lines([Lines([words])], 8) == [words]
    assert as_lines([Notes([words, "five"])], 14) == [
        "note: one",
        "      two-three",
        "      four",
        "note: five",
    ]


def test_the_width_holds_what_is_set_in_too():
    words = " ".join(["word"] * 30)
    blocks = [words, Inset([words, Inset([words])]), Numbered([[words, Inset([words])]]), Notes([words])]
    sections = [Section(blocks, title=words), Section(blocks, flush=True)]
    for width in (40, 77, WIDTH):
        lines = as_text(Document(sections), width).split("\n")
        assert width - len("word ") < max(map(len, lines)) <= width
    row = Table([[words, words]])
    kept = Document([Section([row, Lines([words])])], Headline("file", words))
    assert as_text(kept, 40) == f"file: {words}\n  {words}  {words}\n  {words}"


def test_items_hang_behind_their_numbers():
    items = [["first item", Inset([Lines(["code"])])], ["second"]]
    assert as_lines([Numbered(items)], 9) == ["", "1. first", "   item", "     code", "", "2. second"]


def test_tables_are_aligned_in_text_and_marked_on_a_page():
    rows = [("a", Marked("yes", Tone.GOOD)), ("long", Marked("no", None))]
    table = Table(rows, ("name", "answer"), "Answers", silent=True)
    assert as_lines([table]) == ["a     yes", "long  no"]
    assert as_lines([Table(rows, ("name", "answer"), least=(6,))])[:2] == ["name    answer", "a       yes"]
    page = as_html([Section([table], "How")])
    assert page.startswith("<h3>How</h3>\n<div class=")
    assert '<th scope="col">answer</th>' in page and "<td>✔ yes</td>" in page and "<td>no</td>" in page
    assert as_html([Section([Table([("a", "bc"), ("de", "f")])])]).endswith(">a   bc\nde  f</pre>")


@pytest.mark.parametrize(
    ("block", "markup"),
    [
        ("1 < 2", "<p>1 &lt; 2</p>"),
        (Code("<"), '<pre class="flowing">&lt;</pre>'),
        (Lines(["a", "<"]), '<pre class="scroll" tabindex="0">a\n&lt;</pre>'),
        (Notes(["<"]), '<ul class="plain"><li>&lt;</li></ul>'),
        (Numbered([["a", Inset(["<"])]]), "<ol><li><p>a</p><p>&lt;</p></li></ol>"),
        (element("b", "<"), "<b>&lt;</b>"),
    ],
)
def test_only_markup_is_not_escaped(block, markup):
    assert as_html([Section([block])]) == markup


def test_plain_text_leaves_pictures_out():
    assert as_lines([element("svg", ""), "text"]) == ["text"]


def test_a_contradiction_is_louder_than_a_verdict():
    plain = check(generate("svt", 1))
    tones = [Tone.of(replace(plain, verdict=verdict)) for verdict in Verdict]
    assert tones == [Tone.GOOD, Tone.BAD, Tone.OPEN, Tone.OPEN]
    absent, present = (
        {Pattern.LEAKING_PAIR: PatternResult(Pattern.LEAKING_PAIR, status, "x")}
        for status in (Status.ABSENT, Status.PRESENT)
    )
    assert Tone.of(replace(plain, answers=Answers((absent, present)))) is Tone.BROKEN


def test_what_only_an_experimental_method_proves_has_a_tone_of_its_own():
    plain = check(generate("svt", 1))
    paired = {"relational": Fraction(1), "alignment": Fraction(2)}
    assert Tone.of(replace(plain, bounds=Bounds(paired))) is Tone.LIKELY
    assert Tone.of(replace(plain, bounds=Bounds(paired | {"exact": Fraction(1)}))) is Tone.GOOD
    assert len({(tone.sign, tone.page_colour, tone.terminal_colour) for tone in Tone}) == len(Tone)


def test_a_note_is_a_sentence():
    assert str(Note(NoteKind.NOT_ASKED, "LC")) == "not asked for: LC; a verdict needs all four patterns"
    assert str(Note(NoteKind.NO_PAIRING, "")) == "relational alignment found no bound on D"
