"""The HTML report in a real browser (Chromium by playwright; skipped where one of them is not installed)."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest
from conftest import EXAMPLES
from test_differ_reports import SUMS, sums
from test_html_report import NASTY, nasty_automaton

from symdipa import check
from symdipa.evidence.refutation import refute
from symdipa.files import formats
from symdipa.files.families import generate
from symdipa.interface.html import Checked, page
from symdipa.interface.reports.words import known_marks, known_orders
from symdipa.model.errors import Note, NoteKind
from symdipa.programs.loading import read_program

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium")

NAMES = ("leaking_pair/a_leakp", "leaking_cycle/lc_example", "well_formed/svt")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as engine:
        chromium = engine.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def results():
    return {name: check(formats.load(EXAMPLES / f"{name}.dipa")) for name in NAMES}


@pytest.fixture(scope="module")
def file(results, tmp_path_factory):
    """A page about several files, one of them with two inputs that tell."""
    parts = []
    for name, result in results.items():
        found = refute(result.automaton, result.witness) if name == NAMES[0] else None
        parts.append(Checked(f"{name}.dipa", result, counterexample=found))
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page(parts), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser, file):
    """The page; what goes wrong in it and what it asks for is recorded."""

    def open_(width=1200, height=900, scheme="light", path=file):
        tab = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        tab.set_default_timeout(10_000)
        tab.wrong, tab.asked = [], []
        tab.on("console", lambda message: tab.wrong.append(message.text))
        tab.on("pageerror", lambda error: tab.wrong.append(str(error)))
        tab.on("dialog", lambda dialog: (tab.wrong.append("dialog"), dialog.dismiss()))
        tab.on("request", lambda request: tab.asked.append(request.url))
        tab.goto(path.as_uri())
        tabs.append(tab)
        return tab

    tabs = []
    yield open_
    for tab in tabs:
        tab.close()


def current(tab, section="#file-1"):
    """The transitions and states that are highlighted in the automaton, and the current row of the table."""
    return tab.evaluate(
        """(section) => {
            const all = (selector, key) =>
                [...document.querySelectorAll(`${section} ${selector}`)].map(e => +e.dataset[key]);
            return { edges: all("svg.automaton .edge.now", "transition"),
                     states: all("svg.automaton .state.now", "state"),
                     samples: all("svg.samples .now", "step"),
                     rows: all("tr[aria-current]", "position") };
        }""",
        section,
    )


def field(tab, name, section="#file-1"):
    return tab.locator(f"{section} [data-field={name}]").inner_text()


def test_no_error_and_no_request_leaves_the_page(opened, file):
    tab = opened()
    tab.get_by_role("button", name="Next step").first.click()
    tab.keyboard.press("ArrowRight")
    assert tab.wrong == []
    assert tab.asked == [file.as_uri()]


def test_every_step_highlights_its_transition_and_tells_facts_and_marks(opened, results):
    result = results[NAMES[0]]
    automaton, run = result.automaton, result.witness.run
    facts, marks = known_orders(automaton, result.witness), known_marks(automaton, result.witness)
    tab = opened()
    assert current(tab) == {
        "edges": [],
        "states": [automaton.index[automaton.initial]],
        "samples": [],
        "rows": [],
    }
    following = tab.locator("#file-1").get_by_role("button", name="Next step")
    for k, t in enumerate(run):
        following.click()
        move = automaton.transitions[t]
        seen = current(tab)
        assert seen["edges"] == [t] and seen["rows"] == [k + 1]
        assert seen["states"] == [automaton.index[move.target]]
        assert seen["samples"] == [k]
        assert field(tab, "where") == f"Step {k + 1} of {len(run)}"
        assert field(tab, "guard") == move.guard.text(automaton.variables)
        assert field(tab, "output") == str(move.output)
        assert field(tab, "facts") == (facts[k] or "nothing")
        assert field(tab, "marks") == (marks[k] or "none")
    assert following.get_attribute("aria-disabled") == "true"
    following.click(force=True)  # it can still be reached, but leads nowhere
    assert current(tab)["edges"] == [run[-1]]
    tab.locator("#file-1").get_by_role("button", name="Previous step").click()
    assert current(tab)["edges"] == [run[-2]]


def test_stepping_passes_over_what_is_left_out_of_a_long_run(opened, tmp_path):
    automaton = generate("turing-overflow", 8)
    result = check(automaton)
    run = result.witness.run
    path = tmp_path / "long.html"
    path.write_text(page([Checked("long.dipa", result)]), encoding="utf-8")
    tab = opened(path=path)
    tab.get_by_role("button", name="Show step 125", exact=True).click()
    assert field(tab, "where") == f"Step 125 of {len(run)}" and current(tab)["rows"] == [125]
    tab.get_by_role("button", name="Next step").click()
    later = int(field(tab, "where").split()[1])
    assert later > 126 and current(tab)["rows"] == [later] and current(tab)["edges"] == [run[later - 1]]
    tab.get_by_role("button", name="To the last step").click()
    assert field(tab, "where") == f"Step {len(run)} of {len(run)}" and current(tab)["edges"] == [run[-1]]
    tab.get_by_role("button", name="Back to the start").click()
    assert current(tab)["edges"] == [] and current(tab)["rows"] == [] and tab.wrong == []


def test_the_highlight_is_visible_without_colour(opened):
    tab = opened()
    width = "e => parseFloat(getComputedStyle(e).strokeWidth)"
    line = tab.locator("#file-1 svg.automaton [data-transition='0'] .line")
    before = line.evaluate(width)
    tab.keyboard.press("ArrowRight")
    assert line.evaluate(width) > before + 1


def test_the_keyboard_is_enough(opened, results):
    run = results[NAMES[0]].witness.run
    tab = opened()
    for key, edges in (("ArrowRight", [run[0]]), ("ArrowRight", [run[1]]), ("ArrowLeft", [run[0]])):
        tab.keyboard.press(key)
        assert current(tab)["edges"] == edges
    tab.locator("#file-1 .stepper button").first.focus()
    tab.keyboard.press("End")
    assert current(tab)["edges"] == [run[-1]]
    tab.keyboard.press("Home")
    assert current(tab)["edges"] == []
    tab.keyboard.press("Tab")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    assert current(tab)["edges"] == [run[0]]
    outline = tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_only_frames_that_scroll_are_in_the_order_of_tabs(opened):
    tab = opened(width=320)
    wrong = tab.evaluate(
        """() => [...document.querySelectorAll(".scroll")].filter(f => (f.tabIndex === 0) !==
            (f.scrollWidth > f.clientWidth || f.scrollHeight > f.clientHeight)).length"""
    )
    assert wrong == 0
    reached = tab.evaluate("[...document.querySelectorAll('.scroll')].filter(f => f.tabIndex === 0).length")
    assert reached > 0


def test_a_row_of_the_table_goes_to_its_step(opened, results):
    tab = opened()
    tab.get_by_role("button", name="Show step 4").first.click()
    assert current(tab)["edges"] == [results[NAMES[0]].witness.run[3]]


def test_each_run_has_its_own_steps(opened, results):
    tab = opened()
    tab.locator("#file-2 .stepper button").first.focus()
    tab.keyboard.press("ArrowRight")
    assert current(tab, "#file-2")["edges"] == [results[NAMES[1]].witness.run[0]]
    assert current(tab)["edges"] == []
    assert tab.locator("#file-3 .stepper").count() == 0


def test_arrows_with_other_keys_are_left_to_the_browser(opened):
    tab = opened()
    tab.keyboard.press("Shift+ArrowRight")
    assert current(tab)["edges"] == []


@pytest.mark.parametrize("width", [320, 768])
def test_no_width_makes_the_page_scroll_sideways(opened, width):
    tab = opened(width=width, height=800)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    for place in tab.locator(".stepper").all():
        box = place.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
    assert tab.wrong == []


CONTRAST = """() => {
  const channel = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number).map(channel);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const paper = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
    if (!/, 0\\)$/.test(c) && c !== "transparent") return c; } return "rgb(255,255,255)"; };
  let worst = [99, ""];
  const texts = "p, th, td, dt, dd, button, figcaption, a, pre, svg text, .where";
  for (const e of document.querySelectorAll(texts)) {
    if (e.closest("[aria-disabled=true]") || !e.textContent.trim()) continue;
    const style = getComputedStyle(e), ink = light(e instanceof SVGElement ? style.fill : style.color);
    const ground = light(paper(e)), ratio = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
    if (ratio < worst[0]) worst = [ratio, e.outerHTML.slice(0, 120)];
  }
  return worst;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_contrast_in_both_schemes(opened, scheme):
    tab = opened(scheme=scheme)
    ratio, where = tab.evaluate(CONTRAST)
    assert ratio >= 4.5, where
    paper = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (int(paper[4:].split(",")[0]) < 60) is (scheme == "dark")


WITHIN = """(parts) => {
    const frame = parts[0].closest(".scroll").getBoundingClientRect();
    return parts.map(part => part.getBoundingClientRect()).every(box =>
        box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1 &&
        box.left >= frame.left - 1 && box.right <= frame.right + 1);
}"""
"""Whether parts are in the visible piece of the frame that they are in."""


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """A page about a long run with a broad dependency graph."""
    from symdipa.files import families

    path = tmp_path_factory.mktemp("long") / "long.html"
    path.write_text(page([Checked("long", check(families.generate("pivot-bad", 8)))]), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [1280, 700, 360])
def test_the_current_step_stays_in_view_and_the_page_does_not_jump(opened, long, width):
    tab = opened(width=width, path=long)
    tab.locator(".controls").evaluate("e => scrollTo(0, e.firstChild.getBoundingClientRect().top + scrollY)")
    top = "document.querySelector('.pictures').getBoundingClientRect().top"
    place = tab.evaluate(top)
    for _ in range(tab.locator("tr[data-position]").count()):
        tab.keyboard.press("ArrowRight")  # a click of the test may scroll by itself
        assert tab.locator("svg.automaton .edge.now").evaluate_all(WITHIN)
        row = tab.locator("tr[aria-current] button")
        assert row.evaluate_all(WITHIN)
        if width > 640:  # on less the fields tell the step, and the table comes after the pictures
            assert 0 <= row.bounding_box()["y"] <= 900 - row.bounding_box()["height"]
        else:
            assert tab.locator("[data-field=guard]").bounding_box()["height"] > 10
    assert tab.evaluate(top) == pytest.approx(place, abs=1)


@pytest.mark.parametrize("width", [1280, 700])
def test_the_whole_dependency_graph_is_in_view_where_its_letters_can_be_read(opened, long, width):
    tab = opened(width=width, path=long)
    assert tab.locator("svg.samples .state").evaluate_all(WITHIN)
    letters = tab.locator("svg.samples text").first.bounding_box()["height"]
    assert letters > 7


def test_the_dependency_path_is_in_view_where_the_graph_is_not(opened, long):
    tab = opened(width=500, path=long)
    assert not tab.locator("svg.samples .state").evaluate_all(WITHIN)
    assert tab.locator("svg.samples .path").evaluate_all(WITHIN)


@pytest.mark.parametrize("width", [1280, 700])
def test_the_index_has_a_line_for_each_file(opened, results, tmp_path, width):
    path = tmp_path / "index.html"
    parts = [Checked(f"{'folder/' * 20}{name}.dipa", result) for name, result in results.items()]
    path.write_text(page(parts), encoding="utf-8")
    tab = opened(width=width, path=path)
    for line in tab.locator("nav li").all():
        assert line.bounding_box()["height"] < 30
        verdict = line.locator("span").bounding_box()
        assert verdict["width"] > 100 and verdict["x"] + verdict["width"] <= width


def test_names_run_no_code(opened, tmp_path):
    path = tmp_path / "nasty.html"
    result = replace(check(nasty_automaton()), notes=(Note(NoteKind.READ_AS, NASTY),))
    path.write_text(page([Checked(NASTY, result)]), encoding="utf-8")
    tab = opened(path=path)
    tab.keyboard.press("ArrowRight")
    assert field(tab, "output") == NASTY
    assert tab.evaluate("window.hacked") is None
    assert tab.wrong == [] and tab.asked == [path.as_uri()]
    assert tab.locator("img").count() == 0


def test_every_step_tells_what_its_entry_does_and_what_registers_do_then(opened, tmp_path):
    path = tmp_path / "sums.html"
    result = replace(check(sums()), witness=SUMS)
    path.write_text(page([Checked("sums", result)]), encoding="utf-8")
    tab = opened(width=420, path=path)
    seen = []
    for _ in SUMS.run:
        tab.keyboard.press("ArrowRight")
        seen.append([field(tab, name) for name in ("entries", "stores", "registers")])
    assert seen == [["up", "s := input", "s by 1"], ["–", "–", "s by 1"], ["equal", "s += input", "s by 1"]]
    assert tab.wrong == []


# ------------------------------------------------------------------------------------------------- programs

TWIN = "programs/sparse_vector.py:threshold_shown"
C_TEXT = """void svt(float q[], int size, float epsilon)
{
  "PRECONDITION: INCREASING";
  float t = Lap(2 / epsilon);
  int i = 0;
  while (i < size) {
    if (q[i] + Lap(4 / epsilon) >= t) {
      CHECKDP_OUTPUT(1);
    } else {
      CHECKDP_OUTPUT(0);
    }
    i = i + 1;
  }
}"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """A wrong twin in Python, and a function in C whose inputs differ in one direction."""
    file = tmp_path_factory.mktemp("c") / "svt.c"
    file.write_text(C_TEXT, encoding="utf-8")
    names = (str(EXAMPLES / TWIN), str(file))
    return {name: check(read_program(name)) for name in names}


@pytest.fixture(scope="module")
def of_programs(programs, tmp_path_factory):
    path = tmp_path_factory.mktemp("programs") / "report.html"
    parts = [
        Checked(name, result, counterexample=refute(result.automaton, result.witness))
        for name, result in programs.items()
    ]
    path.write_text(page(parts), encoding="utf-8")
    return path


def marked(tab, section="#file-1"):
    """The lines of the program that are marked as those of the present step."""
    return tab.evaluate(
        """(section) => [...document.querySelectorAll(`${section} figure.program .line.now`)]
            .map(line => +line.dataset.line)""",
        section,
    )


@pytest.mark.parametrize("k", [0, 1])
def test_every_step_marks_its_lines_in_the_source(opened, programs, of_programs, k):
    result = list(programs.values())[k]
    automaton, run, section = result.automaton, result.witness.run, f"#file-{k + 1}"
    tab = opened(path=of_programs)
    assert marked(tab, section) == [] and tab.locator(f"{section} figure.program .line.run").count() > 0
    following = tab.locator(section).get_by_role("button", name="Next step")
    seen = set()
    for place, t in enumerate(run, 1):
        following.click()
        move = automaton.transitions[t]
        lines = sorted(set(automaton.origin.lines(move)))
        assert marked(tab, section) == lines and lines
        assert tab.locator(f"{section} figure.program .line.now .number").evaluate_all(WITHIN)
        code = tab.locator(f"{section} figure.program [data-line='{lines[0]}'] code").inner_text()
        assert code.strip() == automaton.origin.code(lines[0])
        assert current(tab, section)["rows"] == [place] and current(tab, section)["edges"] == [t]
        ends = [automaton.place(state) for state in (move.source, move.target)]
        assert field(tab, "move", section) == " → ".join(ends)
        seen.update(lines)
    runs = tab.evaluate(
        """(section) => [...document.querySelectorAll(`${section} figure.program .line.run`)]
            .map(line => +line.dataset.line)""",
        section,
    )
    assert sorted(seen) == runs, "and no others are set off"
    tab.locator(section).get_by_role("button", name="Back to the start").click()
    assert marked(tab, section) == []
    assert tab.wrong == [] and tab.asked == [of_programs.as_uri()]


def test_steps_of_programs_are_told_in_their_words(opened, programs, of_programs):
    (result, _), tab = programs.values(), opened(width=420, path=of_programs)
    told = []
    for _ in result.witness.run:
        tab.keyboard.press("ArrowRight")
        told.append([field(tab, name) for name in ("guard", "output")])
    assert told[0] == ["–", "–"], "nothing is asked, nothing is shown where the threshold is drawn"
    assert all(not {"insample", "quiet", "true"} & set(" ".join(words).split()) for words in told)
    rows = tab.locator("#file-1 .steps tr[data-position]").all_inner_texts()
    assert all("insample" not in row and "quiet" not in row and "true" not in row for row in rows)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_marked_line_stands_out_and_can_be_read(opened, of_programs, scheme):
    tab = opened(scheme=scheme, path=of_programs)
    style = "(e, of) => getComputedStyle(e)[of]"
    line = tab.locator("#file-1 figure.program .line.run").first
    before = [line.evaluate(style, of) for of in ("backgroundColor", "fontWeight")]
    tab.locator("#file-1").get_by_role("button", name="Next step").click()
    now = tab.locator("#file-1 figure.program .line.now").first
    after = [now.evaluate(style, of) for of in ("backgroundColor", "fontWeight")]
    assert after[0] != before[0], "by its ground"
    code = now.locator("code").evaluate(style, "fontWeight")
    assert int(code) >= 600, "and without colour"
    ratio, where = tab.evaluate(CONTRAST.replace("pre, svg text", "pre, .listing code, .number, svg text"))
    assert ratio >= 4.5, where


def test_code_in_tables_looks_like_code(opened, of_programs):
    tab = opened(path=of_programs)
    cells = tab.locator("table.numbers td.code").all()
    assert cells and all("mono" in cell.evaluate("e => getComputedStyle(e).fontFamily") for cell in cells)


def test_how_entries_differ_is_said_of_each_program(opened, of_programs):
    tab = opened(path=of_programs)
    one = "all of them up or all of them down"
    assert one in tab.locator("#file-2").inner_text() and one not in tab.locator("#file-1").inner_text()
    assert "by how much is said for each" in tab.locator("footer").inner_text()
