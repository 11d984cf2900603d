"""The readers and writers: what they accept, ordered branches, and round trips."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symdipa
from symdipa.files.formats import detect, dumps, load, loads, read, read_file
from symdipa.files.formats.branches import first_match, subtract
from symdipa.files.formats.common import rational
from symdipa.model.automaton import (
    INSAMPLE,
    INSAMPLE_PRIME,
    TRUE,
    Automaton,
    Guard,
    Output,
    State,
    Transition,
    symbol,
    value,
    variables_of,
)
from symdipa.model.errors import InvalidInput, NoteKind
from symdipa.model.spelling import Dictionary, edit_distance
from symdipa.model.validation import problems

ROOT = Path(__file__).resolve().parent.parent
SVT = """
(q1:non-input,1/4,0): x := insample; output obot; goto q2
(q2,1/2,0): if (insample < x) then output obot; goto q2
            elseif (insample >= x) then output otop; goto q3
"""
STORE_XYZ = "(q1,1,0): x := insample, y := insample, z := insample; output a; goto q2\n"


def ge(*names: str) -> Guard:
    return Guard(ge=frozenset(names))


def lt(*names: str) -> Guard:
    return Guard(lt=frozenset(names))


def guards(text: str) -> list[Guard]:
    """The guards of state q2 of a text that stores x, y, z first."""
    return [t.guard for t in loads(STORE_XYZ + text).transitions if t.source == "q2"]


# -------------------------------------------------------------------------------------- the text language


def test_svt() -> None:
    automaton = loads(SVT)
    assert automaton.states == (
        State("q1", False, Fraction(1, 4)),
        State("q2", True, Fraction(1, 2)),
        State("q3"),
    )
    assert automaton.initial == "q1"
    assert automaton.transitions == (
        Transition("q1", "q2", symbol("obot"), TRUE, frozenset("x")),
        Transition("q2", "q2", symbol("obot"), lt("x")),
        Transition("q2", "q3", symbol("otop"), ge("x")),
    )
    assert automaton.variables == ("x",)
    assert symdipa.loads(SVT) == automaton


def test_parameters_and_outputs() -> None:
    automaton = loads(
        "(a,1/4,-3/2,0.5,.25): output insampleprime; goto b "
        "(b:input,+2,0): output insample; goto c (c,1,1,1,1): output insample'; goto d"
    )
    first, second = automaton.states[:2]
    assert (first.d, first.mu, first.d_prime, first.mu_prime) == (
        Fraction(1, 4),
        Fraction(-3, 2),
        Fraction(1, 2),
        Fraction(1, 4),
    )
    assert (second.is_input, second.d) == (True, Fraction(2))
    assert [t.output for t in automaton.transitions] == [INSAMPLE_PRIME, INSAMPLE, INSAMPLE_PRIME]


@pytest.mark.parametrize(
    "text",
    [
        SVT,
        SVT.replace("\n", " "),
        SVT.replace(" ", "\n").replace("\n", "\r\n"),
        SVT.replace("\n", "\r"),
        SVT.replace(" :=", ":=").replace(" >= ", ">=").replace(" < ", "<"),
        "\ufeff" + SVT,
        "# a comment (q9,1,0): if\n" + SVT.replace("\n(q2", " # x\n(q2") + "# the end",
        SVT.replace("elseif", "else if"),
        SVT.replace("goto q2\n", "goto q2;\n").replace("goto q3", "goto q3;"),
        SVT.replace("q1:", "q1 : ").replace("non-input", "non - input"),
        SVT.replace("< x", "<= x").replace(">= x", "> x"),
        SVT.replace("< x", "≤ x").replace(">= x", "≥ x"),
        SVT.replace("insample < x", "x > insample").replace("insample >= x", "x <= insample"),
        SVT.replace("(insample < x)", "insample < x"),
        SVT.replace("(insample < x)", "((((insample < x)) && (insample < x)))"),
        SVT.replace("(insample < x)", "true && (insample < x and true ∧ insample <= x)"),
        SVT.replace("(insample < x)", "(" * 10_000 + "insample < x" + ")" * 10_000),
        SVT.replace("(insample < x)", " && ".join(["insample < x"] * 100_000)),
        SVT.replace("elseif (insample >= x) then", "else"),
        SVT.replace("x := insample", "x := insample, x := insample"),
        SVT.replace("x := insample;", "x := insample; x := insample,"),
        SVT.replace("obot; goto q2\n(", "obot; goto q2("),
        SVT + "(q3):",
    ],
)
def test_free_layout_and_spellings(text: str) -> None:
    automaton = read(text.encode(), "dipa")
    assert automaton == loads(SVT)
    assert automaton.notes == ()


def test_any_identifier_is_a_name() -> None:
    automaton = loads(
        "(größe,1,0): _x1 := insample; output input; goto not (not,1,0): output non; goto größe"
    )
    assert [state.name for state in automaton.states] == ["größe", "not"]


def test_large_numbers_are_exact() -> None:
    assert loads(f"(q1,1/{10**40},{10**40}): output a; goto q2").states[0].d == Fraction(1, 10**40)


@pytest.mark.parametrize(
    "text", ["", "-", "+-1", "1/", "/2", "1//2", "1/2/3", "1 / 2", "0x1", "1_0", "٣", "inf", "1."]
)
def test_not_a_number(text: str) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        rational(text)


def test_unreachable_states_are_noted() -> None:
    (note,) = loads(SVT.replace("goto q2\n(", "goto p2\n(")).notes
    assert str(note) == "no path from q1 reaches q2, q3; is every goto spelt right?"
    assert note.is_doubt


WATCH = """
(start:non-input, 1/4, 0): t := insample; output ready; goto {}
(watch, 1/2, 0): if (insample < t) then output low; goto watch else output {}; goto {}
"""


def test_a_misspelt_target_is_doubted() -> None:
    (note,) = read(WATCH.format("watch", "high", "wacth"), "dipa").notes
    assert str(note).startswith(
        "3:87: state wacth is only a target, so the run ends there; did you mean watch?"
    )
    assert note.kind is NoteKind.ONLY_A_TARGET and note.is_doubt
    with pytest.raises(InvalidInput, match=r"3:87: state wacth .* did you mean watch\?.* \[structure\]"):
        loads(WATCH.format("watch", "high", "wacth"), strict=True)


def test_a_misspelt_target_is_refused_if_nothing_else_leads_to_the_state_that_was_meant() -> None:
    with pytest.raises(InvalidInput) as caught:
        loads(WATCH.format("wacth", "high", "done") + "(idle, 1, 0): output x; goto idle (off, -1")
    assert [(p.position.line, p.position.column) for p in caught.value.problems if p.position] == [
        (2, 62),
        (4, 43),
    ]
    assert str(caught.value.problems[0]) == (
        "2:62: state wacth is not listed, and no path leads to watch: did you mean watch? "
        "(if not, list it: '(wacth):') [structure]"
    )
    loads(WATCH.format("wacth", "high", "done") + "(wacth):")


@pytest.mark.parametrize(
    ("written", "meant"), [("lop", "loop"), ("loop", "lop"), ("tst", "test"), ("tst1", "test1")]
)
def test_a_letter_more_or_less_in_a_short_target_is_a_misspelling(written: str, meant: str) -> None:
    text = WATCH.replace("watch", meant)
    (note,) = loads(text.format(meant, "high", written)).notes
    assert note.kind is NoteKind.ONLY_A_TARGET and f"did you mean {meant}?" in str(note)
    with pytest.raises(InvalidInput, match=rf"did you mean {meant}\? .* \[structure\]"):
        loads(text.format(meant, "high", written), strict=True)
    with pytest.raises(InvalidInput, match=f"no path leads to {meant}: did you mean {meant}"):
        loads(text.format(written, "high", "done"))


def test_a_state_that_may_be_reached_from_what_cannot_be_read_is_not_meant() -> None:
    text = WATCH.format("wacth", "high", "done").replace("goto done", "goto")
    with pytest.raises(InvalidInput) as caught:
        loads(text)
    assert "wacth" not in str(caught.value)


def test_a_misspelt_target_is_refused_in_python_and_in_json() -> None:
    states = [State("start", False, Fraction(1, 4)), State("watch", d=Fraction(1, 2))]
    steps = [Transition("start", "wacth", symbol("a")), Transition("watch", "watch", symbol("b"))]
    with pytest.raises(InvalidInput, match=r"did you mean watch\? \(if not, list it: State\('wacth'\)\)"):
        Automaton.build(states, steps)
    assert Automaton.build([*states, State("wacth")], steps).notes
    good = dumps(Automaton.build([*states, State("wacth")], steps), "json")
    bad = good.replace('{"name": "wacth", "input": true}', '{"name": "other", "input": true}')
    with pytest.raises(InvalidInput, match="the target 'wacth' of a transition is not a state; did you mean"):
        loads(bad, "json")


@pytest.mark.parametrize(
    ("scales", "words"),
    [
        (("2", "4"), "every d is above 1, and d = 4 of state b means Laplace noise of scale 1/(4*eps); noise "
         "of scale 4/eps is written 1/4"),
        (("1/4", "20"), "d = 20 of state b is far above the others and means Laplace noise of scale "
         "1/(20*eps)"),
        (("1/4", "2"), None),
        (("1", "4"), None),
        (("1/100", "1"), None),
    ],
)  # fmt: skip
def test_hardly_any_noise_is_noted(scales: tuple[str, str], words: str | None) -> None:
    text = "({},{},0): x := insample; output o; goto b ({},{},0): if (insample < x) then output o; goto b"
    notes = loads(text.format("a", scales[0], "b", scales[1])).notes
    assert [words in str(note) and note.is_doubt for note in notes if words] == [True] * bool(words)
    assert bool(notes) == bool(words)


def test_scales_of_samples_that_do_not_matter_are_not_noted() -> None:
    text = "(a,1/2,0): x := insample; output o; goto b (b,50,0): output o; goto c"
    assert loads(text).notes == ()


def test_notes_travel_with_the_automaton_and_make_no_difference(tmp_path: Path) -> None:
    text = SVT.strip() + " else output oend; goto q3"
    path = tmp_path / "svt.dipa"
    path.write_text(text)
    automaton = symdipa.load(path)
    (note,) = automaton.notes
    assert note == symdipa.Note(NoteKind.NEVER_TAKEN, "3 of state q2", symdipa.Position(3, 62))
    assert automaton == replace(loads(SVT), name="svt") and hash(automaton) == hash(replace(automaton))
    assert symdipa.check(automaton).notes == (note,)
    assert replace(automaton, name="other").notes == (note,)


@pytest.mark.parametrize("end", ["done", "watcher_is_over", "exit"])
def test_other_targets_are_not_doubted(end: str) -> None:
    assert read(WATCH.format("watch", "high", end), "dipa", strict=True).notes == ()


@pytest.mark.parametrize(
    ("listed", "target"),
    [("q1", "q2"), ("q2", "q3"), ("q", "q1"), ("q1", "q"), ("run", "run2"), ("low", "log"), ("ab", "abc")],
)
def test_short_targets_that_are_other_names_are_not_doubted(listed: str, target: str) -> None:
    text = WATCH.replace("watch", listed)
    assert loads(text.format(listed, "high", target), strict=True).notes == ()


def test_a_listed_state_is_meant() -> None:
    assert loads(WATCH.format("watch", "high", "wacth") + "(wacth):", strict=True).notes == ()


def test_what_would_look_misspelt_is_listed_when_it_is_written() -> None:
    for first, last in (("watch", "wacth"), ("wacth", "done")):
        automaton = loads(WATCH.format(first, "high", last) + "(wacth):")
        assert loads(dumps(automaton), strict=True) == automaton


def test_an_output_that_looks_like_a_variable_is_doubted() -> None:
    text = "(a, 1, 0): best := insample; output read; goto b\n(b, 1, 0): output {}; goto c"
    assert loads(text.format("best"), strict=True).transitions[1].output == value("best")
    (note,) = loads(text.format("bets")).notes
    assert note.is_doubt and str(note) == (
        "2:19: the output bets is a symbol like any other; did you mean the value of best? "
        "(if not, write 'bets')"
    )
    quoted = loads(text.format("'bets'"), strict=True)
    assert quoted == loads(text.format("bets"), strict=True) and not quoted.notes


def test_an_output_that_looks_like_a_sample_is_doubted() -> None:
    (note,) = read(WATCH.format("watch", "insmaple", "done"), "dipa").notes
    assert str(note).startswith("3:") and "did you mean insample?" in str(note)
    with pytest.raises(InvalidInput, match="did you mean insample"):
        loads(WATCH.format("watch", "insmaple", "done"), strict=True)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("wacth", "watch2"),
        ("wathc2", "watch2"),
        ("Watch2", "watch2"),
        ("Q", "q"),
        ("threshhold", "threshold"),
        ("treshold_low", "threshold_low"),
        ("watch9", None),
        ("watch", None),
        ("q7", None),
        ("stop", None),
        ("exit", None),
        ("done", None),
        ("below", None),
        ("x" * 100_000, None),
    ],
)
def test_names_that_are_close(written: str, meant: str | None) -> None:
    names = ["watch2", "watch1", "q", "threshold", "threshold_low", "loop", "init", "node", "above"]
    assert Dictionary([*names, "watch3", "x" * 100_001]).closest(written) == meant


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_edit_distance_is_symmetric_and_counts_slips(a: str, b: str) -> None:
    distance = edit_distance(a, b, 10)
    assert distance == edit_distance(b, a, 10)
    assert (distance == 0) == (a == b)
    assert min(distance, 3) == min(edit_distance(a, b, 2), 3)
    assert distance <= max(len(a), len(b)) and abs(len(a) - len(b)) <= distance
    swapped = a[1:2] + a[:1] + a[2:]
    assert edit_distance(a, swapped, 10) <= 1


# --------------------------------------------------------------------------------------- ordered branches


def test_a_single_atom_is_added() -> None:
    text = (
        "(q2,1,0): if (insample >= x && insample < y) then output a; goto q2\n"
        "  elseif (insample < x) then output b; goto q2\n"
        "  elseif (insample >= y && insample < z) then output c; goto q2"
    )
    assert guards(text)[2] == Guard(frozenset("xy"), frozenset("z"))
    (note,) = read(STORE_XYZ + text, "dipa").notes
    assert not note.is_doubt
    assert str(note) == (
        "4:10: branch 3 of state q2 overlaps with an earlier one; first match wins, so it is read with "
        "(insample >= x) added: (insample >= x && insample >= y && insample < z)"
    )


def test_a_disjunction_splits_the_branch() -> None:
    text = "(q2,1,0): if (insample < x && insample < y) then output a; goto q2 else output b; goto q2"
    assert guards(text)[1:] == [ge("x"), Guard(frozenset("y"), frozenset("x"))]
    assert "is split into 2 transitions: (insample >= x) or" in str(read(STORE_XYZ + text, "dipa").notes[0])


def test_single_atoms_come_before_splits() -> None:
    text = (
        "(q2,1,0): if (insample < x && insample < y) then output a; goto q2 elseif (insample < y) then "
        "output b; goto q2 elseif (insample < z) then output c; goto q2"
    )
    assert guards(text) == [
        lt("x", "y"),
        Guard(frozenset("x"), frozenset("y")),
        Guard(frozenset("y"), frozenset("z")),
    ]


def test_a_covered_branch_is_dropped() -> None:
    text = (
        "(q2,1,0): if (insample < x) then output a; goto q2\n"
        "  elseif (insample < x && insample < y) then output b; goto q9"
    )
    automaton = loads(STORE_XYZ + text)
    assert "can never be taken" in str(automaton.notes[0])
    assert automaton.notes[0].is_doubt
    assert [state.name for state in automaton.states] == ["q1", "q2"]


def test_else_negates_without_a_note() -> None:
    text = "(q2,1,0): if (insample < x) then output a; goto q2 else output b; goto q2"
    assert guards(text) == [lt("x"), ge("x")]
    assert read(STORE_XYZ + text, "dipa", strict=True).notes == ()


def test_a_superfluous_else_is_noted() -> None:
    text = SVT.strip() + " else output oend; goto q3"
    assert "branch 3 of state q2 can never be taken" in str(read(text, "dipa", strict=True).notes[0])


names = st.frozensets(st.sampled_from("wxyz"), max_size=3)
some_guards = st.builds(Guard, names, names).filter(lambda guard: not guard.ge & guard.lt)


def holds(guard: Guard, below: dict[str, bool]) -> bool:
    return not any(below[x] for x in guard.ge) and all(below[x] for x in guard.lt)


VALUATIONS = [dict(zip("wxyz", bits, strict=True)) for bits in product([False, True], repeat=4)]


@given(st.lists(some_guards, max_size=5))
def test_first_match_wins(chain: list[Guard]) -> None:
    resolved = first_match(chain)
    for below in VALUATIONS:
        matching = [i for i, guard in enumerate(chain) if holds(guard, below)]
        taken = [i for i, pieces in enumerate(resolved) for piece in pieces or () if holds(piece, below)]
        assert taken == matching[:1]
    pieces = [piece for group in resolved for piece in group or ()]
    assert all(a.excludes(b) for i, a in enumerate(pieces) for b in pieces[:i])
    for i, guard in enumerate(chain):
        if all(guard.excludes(other) for other in chain[:i]):
            assert resolved[i] == (guard,)


@given(some_guards, some_guards)
def test_subtraction(piece: Guard, other: Guard) -> None:
    parts = subtract(piece, other)
    for below in VALUATIONS:
        assert sum(holds(part, below) for part in parts) == (holds(piece, below) and not holds(other, below))


# -------------------------------------------------------------------------------------------- round trips


@st.composite
def automata(draw: st.DrawFn) -> Automaton:
    """Valid automata: the initial state stores every variable, the others branch on disjoint guards."""
    numbers = st.fractions(-20, 20, max_denominator=50)
    scales = numbers.map(lambda number: abs(number) + 1)
    order = [f"s{i}" for i in range(draw(st.integers(1, 5)))]
    variables = draw(st.lists(st.sampled_from(["x", "y", "max", "ß"]), unique=True))
    outputs = st.sampled_from([symbol("obot"), symbol("otop"), INSAMPLE, INSAMPLE_PRIME])
    targets, stored = (
        st.sampled_from([*order, "t0", "t1", "t2"]),
        st.frozensets(st.sampled_from([*variables, "new"])),
    )
    transitions: list[Transition] = []
    states = []
    for i, name in enumerate(order):
        d, mu, d_prime, mu_prime = draw(scales), draw(numbers), draw(scales), draw(numbers)
        is_input = i > 0 and draw(st.booleans())
        states.append(State(name, is_input, d, mu, d_prime, mu_prime))
        chain: list[Guard] = [TRUE]
        if is_input and variables:
            chain = draw(st.lists(st.builds(Guard, _subset(variables), _subset(variables)), max_size=3))
            chain = [
                piece for group in first_match([g for g in chain if not g.ge & g.lt]) for piece in group or ()
            ]
        for guard in chain:
            assign = frozenset(variables) if i == 0 else draw(stored)
            transitions.append(Transition(name, draw(targets), draw(outputs), guard, assign))
    for transition in transitions:
        if transition.target not in {state.name for state in states}:
            states.append(State(transition.target))
    return Automaton(tuple(states), "s0", tuple(transitions), variables_of(transitions))


def _subset(variables: list[str]) -> st.SearchStrategy[frozenset[str]]:
    return st.frozensets(st.sampled_from(variables))


@settings(max_examples=200)
@given(automata(), st.sampled_from(["dipa", "json"]))
def test_round_trip(automaton: Automaton, fmt: str) -> None:
    assert problems(automaton) == []
    text = dumps(automaton, fmt)
    assert read(text.encode(), fmt, strict=True) == automaton
    assert detect(None, text) == fmt


@settings(max_examples=100)
@given(automata(), st.randoms(use_true_random=False), st.text(max_size=5))
def test_json_keeps_every_order_and_the_name(automaton: Automaton, random: object, name: str) -> None:
    shuffled: list[list[object]] = [
        list(automaton.states),
        list(automaton.transitions),
        list(automaton.variables),
    ]
    for items in shuffled:
        random.shuffle(items)  # type: ignore[attr-defined]
    states, transitions, variables = map(tuple, shuffled)
    other = Automaton(states, "s0", transitions, variables, name)  # type: ignore[arg-type]
    assert loads(dumps(other, "json"), "json") == other


def test_states_that_end_the_computation() -> None:
    half = Fraction(1, 2)
    states = [
        State("a"),
        State("end", False, half, half),
        State("lonely"),
        State("b", True, half, half, half, half),
    ]
    automaton = Automaton(tuple(states), "a", (Transition("a", "b", symbol("o")),))
    text = dumps(automaton)
    assert text == "(a): output o; goto b\n(end:non-input,1/2,1/2):\n(lonely):\n(b,1/2,1/2,1/2,1/2):\n"
    assert loads(text) == automaton


def test_long_states_are_written_with_one_branch_a_line() -> None:
    names = [f"a_rather_long_name_{i}" for i in range(3)]
    text = "(q1,1,0): " + ", ".join(f"{name} := insample" for name in names) + "; output a; goto q2\n"
    text += f"(q2,1,0): if (insample < {names[0]}) then output a; goto q2 elseif (insample >= {names[0]} && "
    text += f"insample < {names[1]}) then output b; goto q2 else output c; goto q2"
    automaton = loads(text)
    first, header, *branches = dumps(automaton).splitlines()
    assert first.startswith("(q1,1,0): ") and header == "(q2,1,0):"
    assert [line.split(" (")[0] for line in branches] == ["    if", "    elseif", "    elseif"]
    assert loads(dumps(automaton), strict=True) == automaton


def test_text_reorders_what_the_language_orders() -> None:
    automaton = loads(SVT, "dipa")
    moved = replace(automaton, states=automaton.states[::-1], transitions=automaton.transitions[::-1])
    again = loads(dumps(moved))
    assert again.initial == "q1"
    assert set(again.states) == set(automaton.states)
    assert set(again.transitions) == set(automaton.transitions)


@pytest.mark.parametrize(
    ("state", "output", "variable", "phrase"),
    [
        ("q 1", symbol("a"), "x", "the state 'q 1'"),
        ("goto", symbol("a"), "x", "the state 'goto'"),
        ("q1", symbol("⊥"), "x", "the output symbol '⊥'"),
        ("q1", symbol("insample"), "x", "the output symbol 'insample'"),
        ("q1", symbol("a"), "x-1", "the variable 'x-1'"),
    ],
)
def test_names_the_text_cannot_express(state: str, output: Output, variable: str, phrase: str) -> None:
    step = Transition(state, state, output, assign=frozenset([variable]))
    automaton = Automaton((State(state, d=Fraction(1)),), state, (step,), (variable,))
    with pytest.raises(InvalidInput, match="as JSON instead") as caught:
        dumps(automaton)
    assert phrase in str(caught.value)
    assert loads(dumps(automaton, "json"), "json") == automaton


@pytest.mark.parametrize(
    "state",
    [
        State("q", mu=Fraction(1)),
        State("q", mu_prime=Fraction(1)),
        State("q", d_prime=Fraction(1)),
        State("q", d=Fraction(1), mu_prime=Fraction(1)),
    ],
)
def test_parameters_the_text_cannot_express(state: State) -> None:
    automaton = Automaton((state,), "q", ())
    with pytest.raises(InvalidInput, match="cannot leave out one scale of state q"):
        dumps(automaton)
    assert loads(dumps(automaton, "json"), "json") == automaton


def test_text_of_an_invalid_automaton_is_refused() -> None:
    with pytest.raises(InvalidInput, match="determinism"):
        dumps(
            Automaton(
                (State("q"),), "q", (Transition("q", "q", symbol("a")), Transition("q", "q", symbol("b")))
            )
        )


# --------------------------------------------------------------------------------------------- JSON, DOT


@pytest.fixture(scope="session")
def accepts() -> Callable[[object], bool]:
    schema = json.loads((ROOT / "symdipa" / "files" / "formats" / "automaton.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    return lambda document: bool(validator.is_valid(document))


@settings(max_examples=50)
@given(automaton=automata())
def test_written_json_follows_the_schema(accepts: Callable[[object], bool], automaton: Automaton) -> None:
    assert accepts(json.loads(dumps(automaton, "json")))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"q2"', '""'),
        ('"1/4"', '"1e5"'),
        ('"1/4"', "[]"),
        ('"input"', '"inputs"'),
        ('"version": 1', '"version": 2'),
        ('"symbol"', '"symbols"'),
        ('{"symbol": "obot"}', '{"real": "obot"}'),
        ('"mu": "0"', '"mu": null'),
    ],
)
def test_schema_and_reader_refuse_the_same(accepts: Callable[[object], bool], old: str, new: str) -> None:
    text = dumps(loads(SVT), "json")
    assert old in text
    assert accepts(json.loads(text))
    broken = text.replace(old, new)
    assert not accepts(json.loads(broken))
    with pytest.raises(InvalidInput):
        loads(broken, "json")


def test_json_defaults_and_number_spellings() -> None:
    document = {
        "format": "symdipa-automaton",
        "version": 1,
        "initial": "p",
        "states": [{"name": "p", "d": 0.1, "mu": -2, "d_prime": None}, {"name": "\u22a4\n"}],
        "transitions": [{"from": "p", "to": "\u22a4\n", "output": {"symbol": '"'}, "assign": ["x", "x"]}],
    }
    automaton = loads(json.dumps(document), "json")
    assert automaton.states == (State("p", True, Fraction(1, 10), Fraction(-2)), State("⊤\n"))
    assert automaton.variables == ("x",)
    assert loads(dumps(automaton, "json"), "json") == automaton


def test_dot() -> None:
    text = dumps(replace(loads(SVT), name='a "b" \\'), "dot")
    assert text.startswith('digraph "a \\"b\\" \\\\" {')
    assert '  s0 [shape=box, label="q1\\n1/4, 0"];' in text
    assert '  s1 [shape=circle, label="q2\\n1/2, 0"];' in text
    assert '  s2 [shape=circle, label="q3"];' in text
    assert '  s0 -> s1 [label="output obot\\nx := insample"];' in text
    assert '  s1 -> s2 [label="insample >= x\\noutput otop"];' in text
    assert "  start -> s0;" in text
    second = loads("(q1,1/4,0,1/2,3): output insampleprime; goto q2")
    assert 'label="q1\\n1/4, 0\\n1/2, 3"' in dumps(second, "dot")


# ------------------------------------------------------------------------------------------- files, speed


def test_the_file_names_the_automaton(tmp_path: Path) -> None:
    path = tmp_path / "sparse.dipa"
    path.write_text(SVT)
    automaton = read_file(path)
    assert automaton.name == "sparse"
    named = tmp_path / "other.json"
    named.write_text(dumps(automaton, "json"))
    assert load(named) == automaton


def test_a_large_file_is_read_in_a_second() -> None:
    m = 1000
    lines = [
        f"(q{i}:non-input,1/{4 * m},{i % 2}): x{i}:= insample; output obot; goto q{i + 1}"
        for i in range(2 * m)
    ]
    for i in range(m):
        low, high, following = f"x{2 * i}", f"x{2 * i + 1}", f"q{2 * m + (i + 1) % m}"
        lines.append(
            f"(q{2 * m + i},1/4,0): if (insample >= {low} && insample < {high}) then output ocontinue; "
            f"goto {following} elseif (insample >= {low} && insample > {high}) then output otop; goto end"
            f" elseif (insample < {low} && insample < {high}) then output obot; goto end"
        )
    start = time.process_time()
    automaton = loads("\n".join(lines))
    assert time.process_time() - start < 2
    assert (len(automaton.variables), len(automaton.states), len(automaton.transitions)) == (2000, 3001, 5000)
    assert loads(dumps(automaton)) == automaton


SHARED = ROOT.parent / "shared"
PUBLISHED = sorted([*SHARED.glob("peer/dipaut/**/*.dipa"), *SHARED.glob("literature/*.dipa")])
BRANCHES_WITHOUT_INPUT = {"example_5_non_input", "example_7_non_input", "example_10_non_input"}
OVERLAPPING = {"two_range_1": 3, "two_range_2": 3, "example_12": 1}


@pytest.mark.skipif(not PUBLISHED, reason="the published files are not here")
@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_published_files(path: Path) -> None:
    automaton = read_file(path)
    assert automaton.is_plain != (path.stem in BRANCHES_WITHOUT_INPUT)
    assert len(automaton.read_notes) == OVERLAPPING.get(path.stem, 0)
    bare = replace(automaton, name="")
    assert loads(dumps(bare), strict=True) == bare
    assert loads(dumps(bare, "json"), "json") == bare
