"""Reports on programs speak of their lines, and lead back to them."""

from __future__ import annotations

import json
import re
from textwrap import dedent

import pytest
from click.testing import CliRunner
from conftest import EXAMPLES

import symdipa
from symdipa import laplace, mechanism
from symdipa.evidence.facts import Steps, ordinal
from symdipa.files import formats
from symdipa.interface.cli import cli
from symdipa.interface.html import Checked, page
from symdipa.interface.reports import objects
from symdipa.programs.loading import read_program

FILE = EXAMPLES / "programs" / "sparse_vector.py"
LINES = FILE.read_text(encoding="utf-8").splitlines()


def line_of(code: str, after: str) -> int:
    """The first line with this text behind the line with another one."""
    start = next(k for k, line in enumerate(LINES) if after in line)
    return next(k + 1 for k, line in enumerate(LINES) if k > start and code in line)


def example(name: str, **settings):
    return read_program(f"{FILE}:{name}", settings)


def output(*arguments: str) -> str:
    return CliRunner().invoke(cli, list(arguments)).stdout


@pytest.fixture
def program(tmp_path):
    """Writes a program into a file and gives the automaton."""

    def written(text: str, **settings):
        path = tmp_path / "program.py"
        path.write_text("from symdipa import laplace, mechanism\n\n\n" + dedent(text), encoding="utf-8")
        return read_program(str(path), settings)

    return written


# -------------------------------------------------------------------------------------------- the way back


def test_every_state_and_step_has_its_lines():
    automaton = example("svt", c=2)
    drawn, asked, high, low = (
        line_of(code, "def svt") for code in ("t = laplace(2)", "if q +", '"high"', '"low"')
    )
    assert automaton.origin is not None
    passed = {(t.source, str(t.output)): automaton.origin.lines(t) for t in automaton.transitions}
    assert passed == {
        (f"line{drawn}", "quiet"): (drawn,),
        (f"line{asked}", "high"): (asked, high),
        (f"line{asked}", "low"): (asked, low),
        (f"line{asked}_2", "high"): (asked, high),
        (f"line{asked}_2", "low"): (asked, low),
    }
    assert automaton.origin.place(f"line{asked}_2") == f"line {asked}"
    assert automaton.origin.place_with_values(f"line{asked}_2") == f"line {asked}, count = 1"
    assert automaton.origin.place_with_values(f"line{drawn}") == f"line {drawn}"


def test_the_way_back_does_not_count_in_comparisons():
    automaton = example("svt")
    again = formats.loads(formats.dumps(automaton))
    assert again.origin is None and again.transitions == automaton.transitions


def test_the_same_in_other_lines_is_another_state(program):
    automaton = program(
        """\
        @mechanism
        def two(queries):
            t = laplace(2)
            for q in queries:
                if q + laplace(4) < t:
                    yield "a"
                    return
                yield "b"
                yield "a"
        """
    )
    (first,) = (t for t in automaton.transitions if t.guard.lt)
    (second,) = (t for t in automaton.transitions if t.guard.is_true and str(t.output) == "a")
    assert [automaton.origin.lines(t)[-1] for t in (first, second)] == [9, 12]


def test_noise_belongs_to_the_line_where_it_was_made(program):
    automaton = program(
        """\
        @mechanism
        def late(queries):
            t = laplace(2)
            for q in queries:
                noisy = q + laplace(4)
                if noisy >= t:
                    yield "high"
        """
    )
    (high,) = (t for t in automaton.transitions if str(t.output) == "high")
    assert automaton.origin.lines(high) == (8, 9, 10)
    assert "line 8  d = 1/4  Laplace noise" in str(symdipa.check(automaton))


def test_functions_that_are_called_are_in_the_listing(program):
    automaton = program(
        """\
        def above(q, t):
            return q + laplace(4) >= t


        @mechanism
        def helped(queries):
            t = laplace(2)
            for q in queries:
                yield above(q, t)
        """
    )
    origin = automaton.origin
    assert (origin.first, origin.last, origin.shown) == (8, 12, range(5, 13))
    assert {origin.lines(t) for t in automaton.transitions} == {(10,), (5, 12)}


# -------------------------------------------------------------------------------------------------- in words


def test_steps_are_called_by_their_lines_and_rounds():
    automaton = example("without_cutoff")
    t, asked = line_of("t = laplace", "def without_cutoff"), line_of("yield", "def without_cutoff")
    steps = Steps(automaton, [0, 1, 2])
    assert steps.one(0) == steps.subject(0) == f"line {t}"
    assert steps.one(2) == f"line {asked}, second time round"
    assert steps.subject(2) == f"line {asked}, second time round,"
    assert steps.several([0, 1, 2]) == f"lines {t} and {asked}"
    assert steps.several([0, 2]) == f"line {t} and line {asked} (second time round)"


def test_steps_of_automata_are_called_by_their_numbers():
    steps = Steps(formats.load(EXAMPLES / "leaking_pair" / "a_leakp.dipa"), [0, 1, 2])
    assert [steps.one(0), steps.subject(1), steps.several([0, 1, 2])] == ["step 1", "step 2", "steps 1 to 3"]


@pytest.mark.parametrize(
    ("number", "word"),
    [(1, "first"), (10, "tenth"), (11, "11th"), (21, "21st"), (112, "112th"), (103, "103rd")],
)
def test_ordinals(number, word):
    assert ordinal(number) == word


def test_the_witness_speaks_of_lines():
    told = " ".join(output("witness", f"{FILE}:without_cutoff").split())
    line = line_of("yield", "def without_cutoff")
    assert f"line {line}, second time round, asks for sample < t, stored in line {line - 2}" in told
    assert f"Answer high (line {line}) only a fixed number of times: count, and return." in told
    assert f'line {line} yield "high" if q + laplace(4) >= t else "low"' in told
    assert "Outputs of the run: (high)* (low)*" in told
    assert '@mechanism(differ="entries=1")' in told
    for word in ("insample", "goto", f"line{line}", "states", "quiet"):
        assert word not in told


@pytest.mark.parametrize("path", sorted((EXAMPLES / "programs").glob("*.py")), ids=lambda path: path.stem)
def test_no_report_on_a_program_speaks_of_its_automaton(path):
    names = re.findall(r"^def (\w+)\(", path.read_text(encoding="utf-8"), re.M)
    told = "".join(output("witness", "--no-hints", f"{path}:{name}") for name in names)
    told += "".join(output("check", f"{path}:{name}") for name in names)
    assert not re.search(r"\binsample|\bline\d+(_\d+)?\b", told)


def test_costs_stand_beside_lines():
    told = output("weight", f"{FILE}:svt", "--set", "c=1")
    asked, high = line_of("if q +", "def svt"), line_of('"high"', "def svt")
    assert re.search(rf"lines {asked} and {high}  if q \+ laplace\(4 \* c\) >= t:  1/2", told)


def test_outputs_are_told_as_the_program_has_them(program):
    automaton = program(
        """\
        @mechanism
        def numbers(queries):
            t = laplace(2)
            for q in queries:
                yield -1 if q + laplace(4) < t else 2
        """
    )
    assert "Outputs of the run: (-1)* (2)*" in str(symdipa.check(automaton))


def test_answers_that_stand_for_several_are_told_with_what_would_tell_them_apart(program):
    automaton = program(
        """\
        @mechanism
        def far(queries):
            t = laplace(2)
            for q in queries:
                yield "far off" if abs(q + laplace(4)) >= t else "near"
        """
    )
    told = " ".join(str(symdipa.check(automaton)).split())
    assert "line 8: far off is shown for t <= sample and for sample < t && sample < -t" in told
    assert "let the program show something else for each: then it is not private" in told
    assert 'show the side: "above" where noisy >= t, "below" where -noisy >= t.' in told

    automaton = program(
        """\
        @mechanism
        def far(queries):
            t = laplace(2)
            for q in queries:
                noisy = q + laplace(4)
                between = t - 2 <= noisy < t or t - 9 < noisy <= t - 7
                yield 3 if between else noisy
        """
    )
    told = " ".join(str(symdipa.check(automaton)).split())
    assert re.search(
        r"line 8: 3 is shown for [^;:]* and for [^;:]*; a number is shown for [^;:]* and for ", told
    )
    assert "let the program show something else for each. A number does not tell" in told
    assert 'as in "above", noisy.' in told
    assert "the side" not in told and "branches" not in told and "state" not in told


MOVED = """\
@mechanism
def moved(queries):
    {}
    for q in queries:
        noisy = q + laplace(4)
        {}
"""


@pytest.mark.parametrize(
    ("drawn", "asked", "told"),
    [
        (
            "t = laplace(2)",
            "yield 1 if noisy >= t + 10 else 0",
            ["sample < t + 10, stored in line 6", "sample 3 < sample 1 + 10", "2/eps around 0 "],
        ),
        (
            "t = 3 + laplace(2)",
            "yield 1 if noisy >= t else 0",
            ["sample < t, stored in line 6", "sample 3 < sample 1 ", "2/eps around 3 "],
        ),
        (
            "t = laplace(2); u = t + 5",
            "yield 1 if noisy >= u else 2 if noisy >= u - 10 else 0",
            ["sample < u && sample >= u - 10", "sample 1 <= sample 3 + 10", "2/eps around 5 "],
        ),
        (
            "t = laplace(2)",
            "yield 1 if noisy >= t + 10 or noisy <= t - 10 else 0",
            ["sample < t + 10 && sample >= t - 10", "sample 2 < sample 1 + 10", "2/eps around 0 "],
        ),
        (
            "t = u = laplace(2)",
            "t, u = u, t\n        yield 1 if noisy >= t + 10 else 0",
            ["sample < t + 10", "2/eps around 0 "],
        ),
    ],
)
def test_values_are_those_that_the_program_calls_so(drawn, asked, told, program):
    text = " ".join(str(symdipa.check(program(MOVED.format(drawn, asked)))).split())
    assert [words for words in told if words not in text] == []


def test_what_is_told_is_the_same_mechanism(program):
    automaton = program(MOVED.format("t = laplace(2)", "yield 1 if noisy >= t + 10 or noisy <= t else 0"))
    told = automaton.told
    assert told is not automaton and told.told is told
    assert [str(t.guard) for t in told.transitions] != [str(t.guard) for t in automaton.transitions]
    assert [told.origin.lines(t) for t in told.transitions] == [
        automaton.origin.lines(t) for t in automaton.transitions
    ]
    inputs, answers = [1, 4, -3], ["-", "1", "0", "1"]
    first, second = (
        symdipa.total_log_probability(one, inputs, ["quiet", "_1", "_0", "_1"], 1)
        for one in (automaton, told)
    )
    assert first.value == pytest.approx(second.value, abs=1e-6) and answers


def test_stops_are_counted_by_an_option(program):
    automaton = program(
        """\
        @mechanism
        def quits(queries):
            t = laplace(2)
            for q in queries:
                if q + laplace(4) >= t:
                    return
                yield "low"
        """
    )
    assert "D = 1 (it can stop in line 8; --halt visible counts that)" in str(symdipa.check(automaton))


# --------------------------------------------------------------------------------- files, pages and pictures


def test_convert_writes_the_lines_as_comments(tmp_path):
    text = output("convert", f"{FILE}:svt", "--to", "dipa")
    asked, high, low = (line_of(code, "def svt") for code in ("if q +", '"high"', '"low"'))
    told = [f"# line {asked}  if q +", f'# line {high}  yield "high"', f'# line {low}  yield "low"']
    places = [text.index(line) for line in told]
    assert places == sorted(places) and places[-1] < text.index(f"(line{asked},1/12,0):")
    assert formats.loads(text) == formats.loads(formats.dumps(example("svt")))


def test_the_json_object_has_the_lines():
    result = symdipa.check(example("without_cutoff"))
    line = line_of("yield", "def without_cutoff")
    run = objects.witness("svt", result)["witness"]["run"]
    assert [step["lines"] for step in run] == [[line - 2], [line], [line]]
    costs = objects.weight("svt", symdipa.weigh(example("svt")))["by_state"]
    assert costs[0]["line"] == line_of("t = laplace", "def svt")
    plain = objects.witness("x", symdipa.check(formats.load(EXAMPLES / "leaking_pair" / "a_leakp.dipa")))
    assert "lines" not in plain["witness"]["run"][0]


def test_the_page_shows_the_program():
    result = symdipa.check(example("threshold_shown"))
    shown = page([Checked("svt.py", result)])
    asked, low = line_of("if q +", "def threshold_shown"), line_of('"low"', "def threshold_shown")
    assert f'<span class="line run loop-a" data-line="{asked}">' in shown
    assert f'data-line="{asked - 1}"' in shown and 'data-line="12"' not in shown
    data = json.loads(re.search(r'id="data">(.*?)</script>', shown, re.S)[1])["files"]["file-1"]
    assert data["lines"][1] == [asked, low] and data["places"][1] == f"line {asked}"


def test_the_page_about_a_private_program_shows_it_too():
    shown = page([Checked("svt.py", symdipa.check(example("svt")))])
    assert "The program, and its automaton" in shown and "count += 1" in shown


def test_programs_cannot_break_the_page(program):
    automaton = program(
        """\
        @mechanism
        def nasty(queries):
            note = "</script><b>&\\x07\t"  # </code><script>alert(1)</script>
            for q in queries:
                yield q + laplace(1)
        """
    )
    shown = page([Checked("nasty", symdipa.check(automaton))])
    assert "<script>alert" not in shown and "&lt;script&gt;alert(1)" in shown


def test_pictures_call_states_by_lines_and_values():
    picture = symdipa.picture(example("svt"))
    asked, high = line_of("if q +", "def svt"), line_of('"high"', "def svt")
    for words in (f"line {asked}, count = 2", f"lines {asked} and {high}", "sample &gt;= t", "shows high"):
        assert words in picture
    assert "quiet" not in picture


C_PROGRAM = """\
int above(float q[], int size, float epsilon, float T)
{
  "TYPES: epsilon: <0, 0>; size: <0, 0>; q: <*, *>; T: <0, 0>";
  "PRECONDITION: ALL_DIFFER; ASSUME(T >= -10)";
  float threshold = T + Lap(2 / epsilon);
  int i = 0;
  while (i < size)
  {
    if (q[i] + Lap(4 / epsilon) >= threshold)
      CHECKDP_OUTPUT(1);
    else
      CHECKDP_OUTPUT(0);
    i = i + 1;
  }
}
"""


def test_programs_in_c_have_their_lines(tmp_path):
    path = tmp_path / "above.c"
    path.write_text(C_PROGRAM, encoding="utf-8")
    told = " ".join(output("witness", str(path)).split())
    assert "line 9, second time round" in told and "if (q[i] + Lap(4 / epsilon) >= threshold)" in told
    assert "--differ entries=1" in told and "Outputs of the run: (1)* (0)*" in told


# --------------------------------------------------------------------------------------------- from Python


@mechanism
def svt(queries, *, c=3):
    t = laplace(2)
    count = 0
    for q in queries:
        if q + laplace(4 * c) >= t:
            yield "high"
            count += 1
            if count == c:
                return
        else:
            yield "low"


def test_a_mechanism_is_checked_with_its_settings():
    result = symdipa.check(svt, c=2)
    assert result.bounds.best == 1 and len(result.automaton.states) == 4
    assert symdipa.weigh(svt, c=1).bounds.optimal
    assert symdipa.check(svt, differ="entries=1").automaton.differ.text == "entries=1"
    assert svt.automaton(c=2) == result.automaton


def test_a_notebook_shows_verdict_and_picture():
    shown = symdipa.check(svt, c=2)._repr_html_()
    assert "<pre>svt: private, D = 1" in shown and "data:image/svg+xml;base64," in shown


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        (lambda: symdipa.check(svt, d=2), symdipa.InvalidInput, "svt has no parameter d"),
        (lambda: symdipa.check(svt.automaton(), timout=2), TypeError, "timout is neither an option nor"),
        (lambda: symdipa.dumps(svt), TypeError, "its method automaton() makes one"),
    ],
)
def test_what_is_no_setting_is_refused(wrong, error, words):
    with pytest.raises(error, match=re.escape(words)):
        wrong()
