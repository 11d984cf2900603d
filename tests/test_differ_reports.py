"""Reports, pictures and pages of automata that unfold: which entries differ, and by how much registers do."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from symdipa.analysis import check, weigh
from symdipa.bounds.alignment.lifts import LETTERS
from symdipa.bounds.breakdown import Along, Breakdown, Cost, breakdown_of
from symdipa.evidence.facts import compared_along
from symdipa.evidence.refutation import refute
from symdipa.files.formats import dot
from symdipa.interface.html import Checked, page
from symdipa.interface.pictures import automaton as automata
from symdipa.interface.pictures import dependency, growth, svg
from symdipa.interface.pictures import witness as witnesses
from symdipa.interface.reports import check as checks
from symdipa.interface.reports import objects, refutation
from symdipa.interface.reports import weight as weights
from symdipa.interface.reports import witness as reports
from symdipa.interface.reports.document import as_lines, as_text
from symdipa.interface.reports.story import run_with_facts, story
from symdipa.interface.reports.words import (
    entries_of,
    entry_text,
    mean_text,
    noise,
    registers_text,
    run_columns,
    which_differ,
)
from symdipa.model.automaton import INSAMPLE, Automaton, Guard, Noise, State, Transition, Update, symbol
from symdipa.model.options import EVERY_METHOD
from symdipa.model.parts import ZERO, Form
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Witness

LC, LP, DC, PV = Pattern
HALF = Fraction(1, 2)
LEAST, LARGEST = Form(Fraction(1), Fraction(0)), Form(Fraction(0), Fraction(1))
SETS, ADDS = Update("s", None, True), Update("s", "s", True)


def shows(name: str, mean: Fraction | int = 0, factor: Fraction | int = 1) -> State:
    """A state that draws around ``factor*s + mean``."""
    return State(name, is_input=False, d=1, mu=mean, registers=(("s", factor),))


def sums(differ: str = "entries=1") -> Automaton:
    """The sum so far with fresh noise in every step: not private."""
    states = [State("start", draws=False), State("add", draws=False), shows("show")]
    moves = [
        Transition("start", "show", symbol("go"), updates=(SETS,)),
        Transition("show", "add", INSAMPLE),
        Transition("add", "show", symbol("more"), updates=(ADDS,)),
    ]
    return Automaton.build(states, moves, name="sums", differ=differ)


def total(differ: str = "entries=1") -> Automaton:
    """The sum of two entries, shown once."""
    states = [State("first", draws=False), State("second", draws=False), shows("show", HALF)]
    moves = [
        Transition("first", "second", symbol("more"), updates=(SETS,)),
        Transition("second", "show", symbol("more"), updates=(ADDS,)),
        Transition("show", "stop", INSAMPLE),
    ]
    return Automaton.build(states, moves, name="total", differ=differ)


def svt(differ: str) -> Automaton:
    """The sparse vector technique without cutoff."""
    states = [State("draw", is_input=False, d=HALF), State("ask", d=Fraction(3, 4))]
    moves = [
        Transition("draw", "ask", symbol("go"), assign=frozenset("t")),
        Transition("ask", "ask", symbol("high"), Guard(ge=frozenset("t"))),
        Transition("ask", "ask", symbol("low"), Guard(lt=frozenset("t"))),
    ]
    return Automaton.build(states, moves, name="svt", differ=differ)


def asked_again() -> Automaton:
    """One query asked again and again, against one threshold: not private."""
    states = [
        State("draw", is_input=False, d=HALF),
        State("get", draws=False),
        State("up", is_input=False, d=HALF, registers=(("s", 1),)),
        State("get_other", draws=False),
        State("down", is_input=False, d=HALF, registers=(("s", 1),)),
    ]
    moves = [
        Transition("draw", "get", symbol("go"), assign=frozenset("t")),
        Transition("get", "up", symbol("go"), updates=(SETS,)),
        Transition("up", "up", symbol("high"), Guard(ge=frozenset("t"))),
        Transition("up", "get_other", symbol("low"), Guard(lt=frozenset("t"))),
        Transition("get_other", "down", symbol("go"), updates=(SETS,)),
        Transition("down", "down", symbol("low"), Guard(lt=frozenset("t"))),
        Transition("down", "stop", symbol("high"), Guard(ge=frozenset("t"))),
    ]
    return Automaton.build(states, moves, name="asked", differ="entries=2")


SUMS = Witness(DC, (0, 1, 2), ((1, 3),), letters=("+", "", "="))


def flat(lines) -> str:
    return " ".join(" ".join(as_lines(lines)).split())


@pytest.fixture(scope="module")
def not_private():
    """What ``check`` finds of three automata that are not private."""
    automata_of = sums(), svt("pattern=(=~)*"), asked_again()
    return {automaton.name: check(automaton) for automaton in automata_of}


# ----------------------------------------------------------------------------------------------- states


@pytest.mark.parametrize(
    ("registers", "mean", "text"),
    [
        ((), 0, "0"),
        ((), "-1/2", "-1/2"),
        ((("s", 1),), 0, "s"),
        ((("s", 1),), "1/2", "s + 1/2"),
        ((("s", 2), ("r", -1)), -3, "-r + 2*s - 3"),
        ((("s", "-3/2"),), 0, "-3/2*s"),
    ],
)
def test_means_in_words(registers, mean, text):
    factors = tuple((name, Fraction(factor)) for name, factor in registers)
    state = State("q", d=1, mu=Fraction(mean), d_prime=1, mu_prime=Fraction(7), registers=factors)
    assert state.mean_text() == text
    assert state.mean_text(second=True).endswith("7")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "d = 1 Laplace noise of scale 1/eps around s"),
        ({"mu": HALF}, "d = 1 Laplace noise of scale 1/eps around s + 1/2"),
        ({"is_input": True}, "d = 1 Laplace noise of scale 1/eps around the input + s"),
        (
            {"is_input": True, "registers": (("s", -1),), "mu": HALF},
            "d = 1 Laplace noise of scale 1/eps around the input - s + 1/2",
        ),
        ({"noise": Noise.EXPONENTIAL}, "d = 1 exponential noise of scale 1/eps, upwards from s"),
        ({"noise": Noise.NONE, "d": None}, "inf no noise: s"),
    ],
)
def test_noise_is_around_the_sum_and_never_around_0(changes, words):
    automaton = total()
    changes = {"mu": Fraction(0)} | changes
    states = tuple(replace(q, **changes) if q.name == "show" else q for q in automaton.states)
    changed = replace(automaton, states=states)
    assert " ".join(as_lines(noise(changed))).split() == ["show", *words.split()]


def test_labels_have_registers_their_changes_and_who_differs():
    automaton = total("window=2")
    text = dot.write(automaton)
    assert r'label="show\n1, s + 1/2"' in text
    assert r'label="output more\ns := input"' in text
    assert r'label="output more\ns += input"' in text
    assert 'label="differ window=2"' in text
    picture = svg.standalone(automata.draw(automaton), "a picture")
    for words in ("1, s + 1/2", "s := input", "s += input", "differ window=2"):
        assert f">{words}<" in picture
    integer = replace(
        automaton, integer=True, states=(*automaton.states[:2], shows("show"), *automaton.states[3:])
    )
    assert dot.about(integer) == ["noise integer", "differ window=2"]
    assert dot.about(svt("all")) == []
    assert "differ" not in svg.standalone(automata.draw(svt("all")), "a picture")


# ------------------------------------------------------------------------------------ differences along a run


def test_registers_differ_by_what_their_entries_do():
    states = [State(name, draws=False) for name in "abcd"]
    last = State("e", d=1, registers=(("r", 2), ("s", -1)))
    moves = [
        Transition("a", "b", symbol("o"), updates=(SETS,)),
        Transition("b", "c", symbol("o"), updates=(Update("r", "s", True), Update("s", "s", True))),
        Transition("c", "d", symbol("o"), updates=(Update("s", "r"), Update("r", "s"))),
        Transition("d", "e", symbol("o"), updates=(Update("s"),)),
        Transition("e", "f", symbol("o")),
    ]
    automaton = Automaton.build([*states, last], moves, differ="window=2")
    steps = list(compared_along(automaton, (0, 1, 2, 3, 4), ("+", "-", "=", "=", "+")))
    both = LARGEST.plus(LEAST)
    assert [step.registers for step in steps] == [
        {"s": LARGEST},
        {"s": both, "r": both},
        {"s": both, "r": both},
        {"s": ZERO, "r": both},
        {"s": ZERO, "r": both},
    ]
    assert [step.mean for step in steps] == [None] * 4 + [Form(Fraction(2), Fraction(3))]
    assert [registers_text(step.registers) for step in steps] == ["s by 1", "", "", "", ""]
    one_sided = [registers_text(step.registers, (Fraction(0), Fraction(3))) for step in steps]
    assert one_sided == ["s by 3", "r by 3, s by 3", "r by 3, s by 3", "r by 3", "r by 3"]
    assert mean_text(steps[-1]) == "mean differs by 1"


def test_what_a_letter_leaves_open_is_not_told_of_registers():
    first, last = compared_along(total(), (0, 1), ("~", "="))
    assert first.registers == {} and last.registers == {}
    (asked,) = compared_along(replace(svt("all"), initial="ask"), (1,), ("~",))
    assert asked.mean is None and mean_text(asked) == "mean differs"
    (asked,) = compared_along(replace(svt("all"), initial="ask"), (1,), ("=",))
    assert asked.mean == ZERO and mean_text(asked) == "mean is equal"


@pytest.mark.parametrize(
    ("letter", "ends", "word"),
    [
        ("", (-1, 1), "-"),
        ("=", (-1, 1), "equal"),
        ("~", (-1, 1), "differs"),
        ("+", (-1, 1), "up"),
        ("-", (-1, 1), "down"),
        ("-", (0, 1), "equal"),
        ("+", (-1, 0), "equal"),
        ("-", (-2, -2), "down"),
    ],
)
def test_entries_in_words(letter, ends, word):
    low, high = map(Fraction, ends)
    assert entry_text(letter, (low, high)) == word


@pytest.mark.parametrize(
    ("letters", "cycles", "words"),
    [
        ("=+", (), "The entry of step 2 differs; all others are equal. After step 2, s differs by 1."),
        ("-=", (), "The entry of step 1 differs; all others are equal. After step 1, s differs by -1."),
        ("==", (), "All entries are equal."),
        ("+-", (), "Every entry differs. After step 1, s differs by 1; after step 2, s is equal."),
        ("~~", (), "Every entry differs."),
        ("++", (), "Every entry differs. After step 1, s differs by 1; after step 2, s differs by 2."),
    ],
)
def test_which_entries_differ_in_total(letters, cycles, words):
    witness = Witness(DC, (0, 1, 2), cycles, letters=(*letters, ""))
    assert " ".join(which_differ(total(), witness)) == words


def test_registers_that_differ_alike_are_told_together():
    moves = [
        Transition("a", "b", symbol("o"), updates=(SETS, Update("r", None, True), Update("z"))),
        Transition("b", "c", symbol("o"), updates=(Update("r"), Update("z", "s"))),
        Transition("c", "d", symbol("o")),
    ]
    last = State("c", d=1, registers=(("r", 1), ("s", 1), ("z", 1)))
    automaton = Automaton.build([State("a", draws=False), State("b", False, draws=False), last], moves)
    witness = Witness(DC, (0, 1, 2), (), letters=("+", "", "="))
    assert which_differ(automaton, witness)[1] == (
        "After step 1, r and s differ by 1; after step 2, r is equal and z differs by 1."
    )


def test_entries_of_loops_differ_in_every_round():
    witness = Witness(LP, (0, 1, 2, 1), ((1, 2), (2, 3)), letters=("", "~", "=", "~"))
    assert which_differ(svt("all"), witness) == [
        "The entry of step 4 and the entry of step 2 in every round differ; all others are equal."
    ]
    assert entries_of(svt("all"), witness, [1, 2]) == "the entries of steps 2 and 3 in every round"
    alone = replace(witness, run=(0, 1), cycles=(), letters=("", "~"))
    assert which_differ(svt("all"), alone) == ["The entry of step 2 differs."]
    looped = replace(alone, cycles=((1, 2),))
    assert which_differ(svt("all"), looped) == ["Every entry differs."]


def test_many_changes_of_registers_are_cut():
    automaton = sums("entries=9")
    run, letters = (0, *((1, 2) * 8)), ("+", *(("", "+") * 8))
    told = which_differ(automaton, Witness(DC, run, ((1, 3),), letters=letters))
    assert told[1].endswith("after step 7, s differs by 4; and so on.")


# ------------------------------------------------------------------------------------------------ witnesses


def test_the_run_has_entries_and_registers_in_its_table():
    table, legend = run_with_facts(sums(), SUMS)
    assert list(table.head) == [
        "step",
        "loop",
        "from",
        "entry",
        "if",
        "output",
        "stored in",
        "differ then",
        "to",
    ]
    rows = [" ".join(row) for row in table.rows]
    assert rows == [
        "1  start up - go s := input s by 1 show",
        "2 * show - - insample - s by 1 add",
        "3 * add equal - more s += input s by 1 show",
    ]
    assert "(up: larger in the first one)" in legend
    assert "by how much registers differ after the step" in legend
    plain = replace(SUMS, letters=())
    assert "entry" not in run_columns(sums(), plain)


def test_without_registers_there_is_no_column_about_them(not_private):
    result = not_private["svt"]
    table, legend = run_with_facts(result.automaton, result.witness)
    assert "entry" in table.head and "differ then" not in table.head
    assert "registers" not in legend and "(up" not in legend
    every = check(svt("all"))
    table, legend = run_with_facts(every.automaton, every.witness)
    assert "entry" not in table.head and "Entry" not in legend


def test_the_story_of_a_sum_that_is_shown_again():
    told = story(sums(), SUMS)
    assert "The entry of step 1 differs; all others are equal. After step 1, s differs by 1." in flat(
        told.happens
    )
    assert told.in_short == "In short: one run can show any number of noisy values whose means differ."
    assert (
        "In the first input, let the entry of step 1 be larger by 1, and all others be as in"
        in told.why_it_costs
    )
    assert "c = 1, 2 and 3" in told.why_it_costs
    down = story(sums(), replace(SUMS, letters=("-", "", "="))).why_it_costs
    assert "let the entry of step 1 be smaller by 1" in down


def test_reports_of_what_check_finds(not_private):
    for name, result in not_private.items():
        assert result.witness.letters, name
        for document in (reports.document(name, result), checks.document(name, result)):
            text = " ".join(as_text(document).split())
            assert " differ" in text and "all others are equal" in text
            assert "around 0" not in text.replace("draw d = 1/2 Laplace noise of scale 2/eps around 0", "")


def test_letters_are_a_word_of_the_adjacency_automaton(not_private):
    for result in not_private.values():
        automaton, witness, at = result.automaton, result.witness, 0
        for t, letter, shown in zip(
            witness.run, witness.letters, run_columns(automaton, witness)["entry"], strict=True
        ):
            reads = automaton.state(automaton.transitions[t].source).is_input
            assert bool(letter) == reads and (shown == "-") != reads
            if reads:
                at = automaton.differ.after(at, "=" if shown == "equal" else "~")
                assert at is not None


def test_json_has_the_entries_and_the_registers(not_private):
    result = replace(not_private["sums"], witness=SUMS)
    told = objects.witness("sums", result)
    json.dumps(told)
    assert told["assumed"]["differ"] == "entries=1"
    steps = told["witness"]["run"]
    assert [step["entry"] for step in steps] == ["up", None, "equal"]
    assert [step["registers"] for step in steps] == [{"s": "1"}] * 3
    assert [step.get("update") for step in steps] == [{"s": "input"}, None, {"s": "s + input"}]
    steps = objects.witness("svt", not_private["svt"])["witness"]["run"]
    assert "registers" not in steps[1] and {step["entry"] for step in steps} == {None, "equal", "differs"}
    every = objects.witness("svt", check(svt("all")))
    assert every["assumed"]["differ"] == "all" and "entry" not in every["witness"]["run"][1]


# --------------------------------------------------------------------------------------------------- bounds


def test_costs_say_what_moves_the_samples():
    result = weigh(total())
    assert result.bounds.best == 1
    text = " ".join(as_text(weights.document("total", result)).split())
    assert re.search(r"step 3 show mean differs by -?1 1 a number is shown", text)
    assert re.search(r"Entries also differ in step [12] \((up|down)\)\.", text)
    assert "around s + 1/2" in text
    told = objects.weight("total", result)
    assert told["differ"] == "entries=1"
    assert [cost["entry"] for cost in told["by_state"]] == [None]
    assert {step["entry"] for step in told["run"]} in ({"equal", "up", None}, {"equal", "down", None})


def test_costs_of_entries_without_registers():
    result = weigh(svt("entries=1"))
    assert result.bounds.best == Fraction(3, 4)
    text = " ".join(as_text(weights.document("svt", result)).split())
    assert re.search(r"step \d+ ask entry differs 3/4 a sample is compared", text)
    assert "Entries also differ" not in text
    found = breakdown_of(result.automaton, result.bounds)
    assert len(found.letters) == len(found.run)
    every = weigh(total("entries=2"))
    assert every.bounds.best == 2


def test_entries_of_costs_go_the_way_that_the_adjacency_allows():
    ends = Fraction(0), Fraction(3)
    found = Breakdown(
        Along.FLOW, (0, 1, 2), (Cost(2, 2, "show", "release", Fraction(3)),), ("-", "+", ""), ends
    )
    text = flat(weights.cost_table(total(), found))
    assert "show mean differs by 3 3 a number is shown" in text
    assert "Entries also differ in step 2 (up)." in text
    long = replace(found, run=(0, *((1, 2) * 20)), letters=("+", *(("", "+") * 20)))
    assert flat(weights.cost_table(sums("entries=40"), long)).endswith("step 23 (up) and 9 steps more.")


def test_every_prophecy_and_every_method_has_a_name():
    assert set(weights.HOW) | {"alignment"} == set(EVERY_METHOD)
    assert "".join(weights.PROPHECIES) == LETTERS


# ------------------------------------------------------------------------------------------- pictures, pages


def texts(drawing) -> list[str]:
    return re.findall(r">([^<>]+)</(?:text|tspan)>", svg.standalone(drawing, "a picture"))


def test_the_picture_of_a_run_says_what_entries_do():
    told = texts(witnesses.draw(sums(), SUMS))
    assert "step 1, entry up" in told
    assert "step 2 in the loop" in told
    assert "step 3 in the loop, entry equal" in told
    assert "After step 1, s differs by 1." in told
    assert "Sample 2: mean differs by 1." in told
    assert "(up: larger in the first one)" in " ".join(told).replace("  ", " ")
    assert not any("entry" in text for text in texts(witnesses.draw(sums(), replace(SUMS, letters=()))))


def test_steps_that_differ_in_their_entries_are_told_apart(not_private):
    result = not_private["svt"]
    told = [
        text for text in texts(witnesses.draw(result.automaton, result.witness)) if text.startswith("step")
    ]
    steps = [int(number) for text in told for number in re.findall(r"\d+", text)]
    assert sorted(steps) == list(range(1, len(result.witness.run) + 1))
    letters = result.witness.letters
    for text in told:
        entry = re.search(r"entry (\w+)$", text)
        numbers = [int(number) for number in re.findall(r"\d+", text)]
        assert {entry_text(letters[k - 1]) for k in numbers} == {entry[1] if entry else "-"}


def test_samples_say_what_their_means_do(not_private):
    result = not_private["svt"]
    told = texts(dependency.draw(result.automaton, result.witness))
    assert {"mean differs", "mean is equal"} <= set(told)
    assert told.count("mean differs") + told.count("mean is equal") == sum(map(bool, result.witness.letters))
    result = not_private["asked"]
    told = texts(dependency.draw(result.automaton, result.witness))
    assert any(re.fullmatch(r"mean differs by -?1", text) for text in told)


def test_the_page_steps_through_entries_and_registers(not_private):
    result = replace(not_private["sums"], witness=SUMS)
    text = page([Checked("sums", result), Checked("svt", not_private["svt"])])
    data = json.loads(re.search(r'id="data"[^>]*>(.*?)</script>', text, re.DOTALL)[1])["files"]
    assert data["file-1"]["entries"] == ["up", "–", "equal"]
    assert data["file-1"]["registers"] == ["s by 1"] * 3
    assert "registers" not in data["file-2"] and len(data["file-2"]["entries"]) == len(
        data["file-2"]["steps"]
    )
    first, second = text.split('id="file-2"')
    for part, registers in ((first, True), (second, False)):
        assert 'data-field="entries"' in part and '<th scope="col">entry</th>' in part
        assert ('data-field="registers"' in part) == registers
        assert ('<th scope="col">differ then</th>' in part) == registers
    plain = page([Checked("svt", check(svt("all")))])
    assert 'data-field="entries"' not in plain and '<th scope="col">entry</th>' not in plain


def test_two_inputs_differ_where_they_may(not_private, tmp_path):
    result = not_private["svt"]
    found = refute(result.automaton, result.witness)
    text = " ".join(as_text(refutation.document(found)).split())
    assert "are such that entries differ as in (=~)*, by at most 1, and" in text
    table = refutation.steps_table(found)
    assert "entry" in table.head
    column = [row[table.head.index("entry")] for row in table.rows]
    assert column[0] == "-"
    assert set(column[1:]) <= {"equal", "differs by 1", "differs by -1"} and len(set(column)) > 2
    growth.plot(found, "svt", tmp_path / "growth.svg")
    assert "svt at eps = 1, entries differ as in (=~)*" in (tmp_path / "growth.svg").read_text()
    every = check(svt("all"))
    found = refute(every.automaton, every.witness)
    assert "entry" not in refutation.steps_table(found).head
    assert "differ by at most 1 in each entry" in " ".join(as_text(refutation.document(found)).split())
