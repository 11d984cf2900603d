"""The HTML report: what is on it, and that it is closed to whatever names contain."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace
from fnmatch import fnmatch
from fractions import Fraction
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner
from conftest import EXAMPLES, ROOT, VIOLATIONS, WIDER_EXAMPLES
from test_story import long_run

from symdipa import analysis, check
from symdipa.evidence.refutation import refute
from symdipa.files import formats
from symdipa.interface.cli import cli
from symdipa.interface.html import Checked, Refused, page
from symdipa.interface.html.page import as_script_data
from symdipa.interface.html.sections import data
from symdipa.interface.markup import Markup, element
from symdipa.interface.reports import check as report
from symdipa.interface.reports.document import Section, as_html, as_lines
from symdipa.interface.reports.story import story
from symdipa.interface.reports.words import assumed, known_marks
from symdipa.model.automaton import Automaton, Guard, State, Transition, symbol
from symdipa.model.errors import Note, NoteKind
from symdipa.model.patterns import Pattern
from symdipa.programs.loading import read_program

A_LEAKP = str(EXAMPLES / "leaking_pair" / "a_leakp.dipa")
LC = str(EXAMPLES / "leaking_cycle" / "lc_example.dipa")
SVT = str(EXAMPLES / "well_formed" / "svt.dipa")
NASTY = "</script><script>window.hacked=1</script><img src=x onerror='hacked=1'>\"&<!--"
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """The elements of a page with their attributes, the texts by element, and what is not closed."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self.open, self.wrong = [], [], [], []
        self.feed(text)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self):
        return " ".join("".join(t for tag, t in self.texts if tag not in ("script", "style")).split())

    @property
    def data(self):
        return json.loads(next(t for tag, t in self.texts if tag == "script" and t.startswith("{")))


def invoke(*arguments):
    return CliRunner().invoke(cli, list(arguments))


def nasty_automaton():
    below, above = Guard(lt=frozenset({NASTY})), Guard(ge=frozenset({NASTY}))
    return Automaton.build(
        [State(NASTY, is_input=False, d=Fraction(1)), State("q", d=Fraction(1))],
        [
            Transition(NASTY, "q", symbol(NASTY), assign=frozenset({NASTY})),
            Transition("q", "q", symbol(f"{NASTY} low"), below),
            Transition("q", "q", symbol(f"{NASTY} high"), above),
        ],
        name=NASTY,
    )


@pytest.fixture(scope="module")
def leaking_pair():
    return Page(invoke("report", "--exceeds", "2", "-o", "-", A_LEAKP).stdout)


def test_the_page_is_well_formed_and_fetches_nothing(leaking_pair):
    assert leaking_pair.wrong == []
    assert not [a for tag, a in leaking_pair.elements if "src" in a or tag in ("iframe", "object", "base")]
    assert [a["href"] for tag, a in leaking_pair.elements if "href" in a] == ["data:,"]
    style = next(t for tag, t in leaking_pair.texts if tag == "style")
    assert "url(" not in style and "@import" not in style
    policy = next(a["content"] for a in leaking_pair.all("meta") if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")


def test_the_page_tells_what_the_reports_tell(leaking_pair):
    automaton = formats.load(A_LEAKP)
    result = check(automaton)
    text = leaking_pair.text
    assert "✘ not private: leaking pair" in text
    for line in as_lines([*report.explanation(result), story(automaton, result.witness).why_it_costs]):
        assert " ".join(line.split()) in text
    for title, status, how in report.pattern_table(result, False).rows:
        assert re.search(rf"{title}\W*{status.words}\W*{re.escape(how)}", text)
    assert "Refutes 2*eps-privacy at eps = 1" in text
    assert "How the ratio grows with the rounds" in text
    assert "Then it is private, D = 1 if it stops after the first, D = 2 after 3." in text
    assert assumed() in text


def test_the_data_of_the_page_are_those_of_the_commands(leaking_pair):
    told = leaking_pair.data["files"]["file-1"]
    witness = json.loads(invoke("witness", "--json", A_LEAKP).stdout)
    for key in ("verdict", "patterns", "witness", "facts", "story", "hints"):
        assert told[key] == witness[key]
    automaton = formats.load(A_LEAKP)
    found = check(automaton).witness
    assert told["transitions"] == list(found.run)
    assert [automaton.states[i].name for i in told["states"]][1:] == [
        step["to"] for step in witness["witness"]["run"]
    ]
    assert told["marks"] == known_marks(automaton, found)
    assert len(told["counterexample"]["growth"]) == len(leaking_pair.all("circle"))


def test_a_long_run_is_shown_in_part():
    automaton, found = long_run(1000)
    result = replace(check(formats.load(A_LEAKP)), automaton=automaton, witness=found)
    text = page([Checked("long.dipa", result)])
    told = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])["files"]["file-1"]
    shown = [*range(1, 126), *range(879, 1004)]
    assert told["steps"] == shown and told["length"] == 1003
    for key in ("transitions", "marks", "facts"):
        assert len(told[key]) == len(shown)
    assert told["transitions"] == [found.run[k - 1] for k in shown]
    assert len(told["states"]) == len(shown) + 1 and len(told["witness"]["run"]) == len(shown)
    assert text.count("data-position=") == len(shown) and text.count("753 steps more") == 3
    assert "The run has 1003 steps; those at both ends" in text and len(text) < 10**6


def test_one_point_is_no_curve():
    automaton = formats.load(A_LEAKP)
    result = check(automaton)
    found = analysis.refute(result, 2)
    for growth, curves in ((found.growth, 1), (found.growth[:1], 0), ((), 0)):
        shown = page([Checked("a", result, counterexample=replace(found, growth=growth))])
        assert [a["class"] for a in Page(shown).all("svg")].count("growth") == curves


def test_every_step_is_a_row_and_every_picture_has_a_name(leaking_pair):
    rows = [a["data-position"] for a in leaking_pair.all("tr") if "data-position" in a]
    assert rows == ["1", "2", "3", "4", "5", "6"]
    assert all(a.get("aria-label") and a.get("role") == "img" for a in leaking_pair.all("svg"))
    assert [a["class"] for a in leaking_pair.all("svg")] == ["automaton", "samples", "growth"]
    assert all(
        a["tabindex"] == "0" for tag, a in leaking_pair.elements if "scroll" in a.get("class", "").split()
    )
    identifiers = [a["id"] for _, a in leaking_pair.elements if "id" in a]
    assert len(identifiers) == len(set(identifiers))
    named = {a["aria-labelledby"] for _, a in leaking_pair.elements if "aria-labelledby" in a}
    assert named <= set(identifiers)


PLAIN = [path for path in VIOLATIONS if path not in WIDER_EXAMPLES]


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.stem)
def test_marks_meet_exactly_where_there_is_a_chain(path):
    automaton = formats.load(path)
    found = check(automaton).witness
    told = known_marks(automaton, found)
    meet = [k for k, text in enumerate(told) if "meet" in text]
    if found.pattern is Pattern.LEAKING_PAIR:
        assert "L and G meet" in told[meet[0]]
    elif found.pattern is Pattern.PRIVACY_VIOLATING_PATH:
        assert re.search("U and G meet|L and D meet", told[meet[0]])
    else:
        assert not meet
    if meet:  # until the last step of the path has been taken, nothing can meet
        assert meet[0] <= len(found.run) - 1 and meet[0] >= max(found.path[1:-1], default=0)


def test_a_private_automaton_has_its_bounds_and_no_run():
    shown = Page(invoke("report", "-o", "-", SVT).stdout)
    assert "✔ private, D = 5/4 (optimal" in shown.text
    assert "No smaller constant will do" in shown.text
    assert "a sample is stored as a threshold" in shown.text
    assert not [a for a in shown.all("div") if a.get("class") == "stepper"]
    assert shown.data["files"]["file-1"]["bounds"]["alignment"] == "5/4"


def test_without_bounds_the_verdict_of_the_check_stands():
    shown = Page(invoke("report", "--no-weight", "-o", "-", SVT).stdout)
    assert "✔ private, D = 5/4 (corollary bound)" in shown.text
    assert "The privacy cost D" not in shown.text


def test_what_was_not_asked_for_is_not_shown():
    shown = Page(invoke("report", "--no-concrete", "--no-hints", "-o", "-", A_LEAKP).stdout)
    assert "Two inputs that tell" not in shown.text and "What would help" not in shown.text
    assert shown.data["files"]["file-1"]["counterexample"] is None


def test_an_open_verdict_is_told_with_its_reason():
    result = analysis.check(formats.load(SVT), patterns=(Pattern.LEAKING_PAIR,))
    shown = Page(page([Checked("svt.dipa", result)]))
    assert "? unknown: nothing found, but not asked for" in shown.text
    assert shown.wrong == []


def test_a_reason_instead_of_two_inputs():
    result = check(formats.load(A_LEAKP))
    shown = Page(page([Checked("a.dipa", result, counterexample="there was no time")]))
    assert "No pair of inputs is shown: there was no time." in shown.text


def test_the_index_shows_notes_that_make_a_verdict_doubtful():
    text = "(a, 4, 0): x := insample; output o; goto b (b, 2, 0): if (insample < x) then output o; goto b"
    doubtful, plain = check(formats.loads(text)), check(formats.load(SVT))
    shown = Page(page([Checked("doubtful.dipa", doubtful), Checked("plain.dipa", plain)]))
    index = shown.text.partition("plain.dipa")[0]
    assert "note: hardly any noise: every d is above 1, and d = 4 of state a means" in index


def test_names_are_text_and_nothing_else():
    automaton = nasty_automaton()
    result = check(automaton)
    assert result.witness is not None
    result = replace(result, notes=(Note(NoteKind.READ_AS, NASTY),))
    text = page([Checked(NASTY, result), Refused(NASTY, (NASTY,))])
    shown = Page(text)
    assert shown.wrong == []
    assert len(shown.all("script")) == 2 and not shown.all("img")
    assert not [name for _, attributes in shown.elements for name in attributes if name.startswith("on")]
    assert "<script>window" not in text
    assert shown.data["files"]["file-1"]["file"] == NASTY
    assert shown.data["files"]["file-1"]["witness"]["run"][0]["from"] == NASTY
    assert shown.text.count(" ".join(NASTY.split())) > 5


@pytest.mark.parametrize("text", [NASTY, "<!-- <script>", "\u2028\u2029", "]]>", "@@body@@"])
def test_data_in_a_script_is_read_back_and_has_no_markup(text):
    written = as_script_data({"a": [text]})
    assert not re.search("[<>&\u2028\u2029]", written)
    assert json.loads(written) == {"a": [text]}


def test_infinite_numbers_are_null():
    assert as_script_data([float("inf"), {"a": float("nan")}, 1.5]) == '[null, {"a": null}, 1.5]'


def test_holes_of_the_template_in_a_name_are_not_filled():
    shown = Page(page([Refused("@@script@@", ("@@data@@",))]))
    assert "@@script@@" in shown.text and "@@data@@" in shown.text


@pytest.mark.parametrize("path", VIOLATIONS, ids=lambda path: path.stem)
def test_text_and_page_have_the_same_words(path):
    automaton = formats.load(path)
    blocks = story(automaton, check(automaton).witness).happens
    shown = Page(as_html([Section(blocks)]))
    assert shown.wrong == [] and shown.all("p")
    assert " ".join(" ".join(text for _, text in shown.texts).split()) == " ".join(
        " ".join(as_lines(blocks, 60)).split()
    )


def test_what_is_not_markup_by_its_type_is_escaped():
    inner = element("b", "<i>", title="\"'")
    assert inner == '<b title="&quot;&#x27;">&lt;i&gt;</b>'
    assert element("p", inner, "&") == f"<p>{inner}&amp;</p>"
    assert not isinstance(inner + "<i>", Markup)


# ------------------------------------------------------------------------------------------ the command line


def test_several_files_have_a_table_of_contents_and_one_status(tmp_path):
    broken = tmp_path / "broken.dipa"
    broken.write_text("(q1, 1/2, 0): output\n")
    target = tmp_path / "report.html"
    options = ["--no-hints", "--no-concrete", "--no-weight"]
    done = invoke("report", *options, A_LEAKP, SVT, str(broken), "-o", str(target))
    assert done.exit_code == 2 and done.stdout == ""
    assert "broken.dipa:1:" in done.stderr
    shown = Page(target.read_text(encoding="utf-8"))
    links = [a["href"] for a in shown.all("a")]
    assert links == ["#file-1", "#file-2", "#file-3"]
    assert [a["id"] for a in shown.all("section")] == ["file-1", "file-2", "file-3"]
    assert "! cannot be used" in shown.text and "broken.dipa:1:" in shown.text


@pytest.mark.parametrize(("file", "status"), [(SVT, 0), (A_LEAKP, 1), ("no_such.dipa", 2)])
def test_the_exit_status_is_that_of_check(file, status):
    done = invoke("report", "--no-hints", "--no-concrete", "--no-weight", "-o", "-", file)
    assert done.exit_code == status
    assert done.stdout.startswith("<!DOCTYPE html>")


def test_a_page_that_cannot_be_written_is_refused_before_anything_is_decided(monkeypatch, tmp_path):
    monkeypatch.setattr(analysis, "check_with", lambda *a, **k: pytest.fail("decided"))
    done = invoke("report", SVT, "-o", str(tmp_path / "no" / "report.html"))
    assert done.exit_code == 2 and "cannot write" in done.stderr


def test_an_existing_page_is_overwritten_as_other_files_are(tmp_path):
    target = tmp_path / "report.html"
    target.write_text("old")
    assert invoke("report", "--no-weight", SVT, "-o", str(target)).exit_code == 0
    assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_an_internal_error_with_one_file_leaves_the_others(monkeypatch, tmp_path):
    real = analysis.check_with

    def failing(automaton, *arguments, **options):
        if automaton.name == "svt":
            raise RuntimeError("made up")
        return real(automaton, *arguments, **options)

    monkeypatch.setattr(analysis, "check_with", failing)
    target = tmp_path / "report.html"
    done = invoke("report", "--no-hints", "--no-concrete", SVT, LC, "-o", str(target))
    assert done.exit_code == 4 and "made up" in done.stderr
    text = Page(target.read_text(encoding="utf-8")).text
    assert "RuntimeError: made up" in text and "not private: leaking cycle" in text


def test_the_parts_of_the_page_are_installed_with_the_package():
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"][
        "symdipa"
    ]
    for path in (ROOT / "symdipa" / "interface" / "html").iterdir():
        if path.is_file() and path.suffix != ".py":
            name = str(path.relative_to(ROOT / "symdipa"))
            assert any(fnmatch(name, pattern) for pattern in patterns), name


def test_what_only_pairs_of_runs_prove_is_called_private_once():
    file = str(EXAMPLES / "leaking_cycle" / "unseen_redraws.dipa")
    done = invoke("report", "--no-concrete", "--no-hints", "-o", "-", file)
    assert done.exit_code == 0
    assert "private, D = 0, by relational alignment" in done.stdout and "private, private" not in done.stdout


def test_steps_of_a_program_have_its_words():
    result = check(read_program(str(EXAMPLES / "programs" / "sparse_vector.py:threshold_shown")))
    told = data(Checked("threshold_shown", result))
    assert told["guards"][:2] == ["–", "sample < t"] and told["outputs"][:2] == ["–", "low"]
    assert len(told["guards"]) == len(told["outputs"]) == len(told["steps"])
    text = page([Checked("threshold_shown", result, counterexample=refute(result.automaton, result.witness))])
    assert '<td class="code">if q + laplace(4 * c) &gt;= t:</td>' in text
    assert "<td>insample" not in text and "<td>quiet" not in text


def test_the_page_says_how_entries_differ():
    svt = formats.load(EXAMPLES / "leaking_pair" / "svt_no_cutoff.dipa")
    usual, upwards = (Checked(a, check(replace(svt, adjacency=a))) for a in ("two-sided", "monotone"))
    one, each = "all of them up or all of them down", "by how much is said for each"
    assert one not in page([usual]) and page([upwards]).count(one) == 2  # of the file, and of the page
    both = page([usual, upwards])
    assert both.count(one) == 1 and both.count(each) == 1
