"""The language beyond the automata of the paper: noises, comparisons, copies, lists of outputs."""
# ruff: noqa: E501 (the tables read better with one case on a line)

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from fractions import Fraction as F
from itertools import product
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

import symdipa
from symdipa import (
    Atom,
    Automaton,
    Guard,
    InvalidInput,
    Noise,
    Output,
    State,
    Term,
    Transition,
    atom,
    difference,
    dumps,
    guarded,
    loads,
    several,
    symbol,
    value,
)
from symdipa.files.formats.branches import MAX_PIECES, _case_by_case, first_match, subtract
from symdipa.files.formats.halting import halt_shown, stops_unseen
from symdipa.model.automaton import INSAMPLE, INSAMPLE_PRIME, TRUE, variables_of
from symdipa.model.validation import problems
from symdipa.model.validation.comparisons import conflict, excludes, implies, satisfiable, simplified

STORE = "(a:non-input,1/2,0): t := insample; output start; goto q\n"
S, T, U = Term("insample"), Term("t"), Term("u")


def guards(text: str, **options: Any) -> list[str]:
    """The guards of state q, with t stored before."""
    return [str(move.guard) for move in loads(STORE + text, **options).transitions if move.source == "q"]


def branch(guard: str, **options: Any) -> list[str]:
    return guards(f"(q,1/4,0): if ({guard}) then output o; goto q", **options)


# ------------------------------------------------------------------------------------------ the examples


EXAMPLES = {
    "gap": STORE
    + "(q,1/8,0): if (insample >= t) then output high, insample - t; goto q else output low; goto q",
    "constant": "(q,1/2,0): if (insample < 5) then output low; goto q else output high; goto end",
    "released": STORE
    + "(q,1/8,0): if (insample >= t) then output high; goto r else output low; goto q (r:silent): output t; goto end",
    "last two of three": """
        (a,1/2,0): x := insample; output read; goto b
        (b,1/2,0): y := insample; output read; goto c
        (c,1/2,0): x := y, y := insample; output read; goto d
        (d:silent): if (x < y) then output rising; goto end else output falling; goto end""",
    "both sides": STORE
    + "(q,1/8,0): if (abs(insample) >= t) then output outside; goto end else output inside; goto q",
    "hysteresis": STORE
    + "(q,1/8,0): if (insample >= t + 5) then output up; goto q elseif (insample < t - 5) then output down; goto q else output same; goto q",
    "band": STORE
    + "(q,1/8,0): if (insample >= t - 1 && insample < t + 1) then output near; goto q else output far; goto end",
    "exponential": "(a:non-input,exp 1/2,0): t := insample; output start; goto q (q,exp 1/4,0): if (insample >= t) then output high; goto end else output low; goto q",
    "integer": "noise integer\n"
    + STORE
    + "(q,1/4,0): if (insample > t) then output high; goto end elseif (insample <= t) then output low; goto q",
    "no noise": STORE + "(q,inf,0): if (insample >= t) then output high; goto q else output low; goto q",
    "maximum": """
        (a,1/2,0): m := insample; output read; goto b
        (b,1/2,0): if (insample >= m) then m := insample; output read; goto c else output read; goto c
        (c:silent): output m; goto end""",
    "skips": STORE
    + "(q:read): output skipped; goto r (r,1/4,0,exp 1/3,1/2): if (insample >= t) then output insampleprime, 't', t; goto end",
}


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("fmt", ["dipa", "json"])
def test_examples_are_read_and_written(name: str, fmt: str) -> None:
    automaton = loads(EXAMPLES[name], strict=True)
    assert not automaton.is_plain and not any(note.is_doubt for note in automaton.notes)
    assert loads(dumps(automaton, fmt), fmt, strict=True) == automaton
    assert dumps(automaton, "dot").startswith("digraph")
    assert all(len(guards) < 4 for guards in stops_unseen(automaton).values())


def test_states() -> None:
    automaton = loads(
        "(a,exp 1/4,1,inf,2): output insampleprime; goto b (b:read): output x; goto c (c:silent): output x; goto d "
        "(d:non-input,inf,5): output insample; goto a"
    )
    assert automaton.states == (
        State("a", True, F(1, 4), F(1), None, F(2), Noise.EXPONENTIAL, Noise.NONE),
        State("b", draws=False),
        State("c", False, draws=False),
        State("d", False, None, F(5), noise=Noise.NONE),
    )


def test_steps() -> None:
    text = (
        STORE
        + "(q,1,0): x := insample, y := t; z := -1/2, w := 0.5; output t, insample - t, 't', insample'; goto q"
    )
    move = loads(text.replace("(q,1,0)", "(q,1,0,1,0)")).transitions[1]
    assert move.assign == {"x"} and move.copies == (("w", F(1, 2)), ("y", "t"), ("z", F(-1, 2)))
    assert move.output == several(value("t"), difference("insample", "t"), symbol("t"), INSAMPLE_PRIME)
    assert move.output.text(["t"]) == "t, insample - t, 't', insampleprime"


def test_a_name_is_a_variable_if_something_is_stored_in_it_anywhere() -> None:
    late = (
        "(a,1,0): output x; goto b (b,1,0): x := insample; output x; goto c (c:silent): output 'x', x; goto d"
    )
    with pytest.raises(InvalidInput, match=r"1:17: variable x is read before it is assigned: on the path a"):
        loads(late)
    moves = loads(late.replace("output x", "output 'x'", 1)).transitions
    assert [move.output for move in moves] == [symbol("x"), value("x"), several(symbol("x"), value("x"))]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("insample > t", ["insample >= t"]),
        ("t <= insample", ["insample >= t"]),
        ("insample <= t", ["insample < t"]),
        ("insample >= t + 1/2", ["insample >= t + 1/2"]),
        ("insample + 1 <= t", ["insample < t - 1"]),
        ("insample - t > 3", ["insample >= t + 3"]),
        ("insample < -t", ["insample < -t"]),
        ("-insample <= t", ["insample >= -t"]),
        ("0.5 - insample < t", ["insample >= -t + 1/2"]),
        ("t < 5", ["t < 5"]),
        ("5 - 1 <= t", ["t >= 4"]),
        ("-t > 2", ["t < -2"]),
        ("t < -t", ["t < -t"]),
        ("insample < -insample + 3", ["insample < -insample + 3"]),
        ("insample >= t || insample < 3", ["insample >= t", "insample < t && insample < 3"]),
        ("(insample >= t || t < 1) && insample < 3", ["insample >= t && insample < 3", "insample < t && t < 1"]),
        ("insample >= t or insample >= t", ["insample >= t"]),
        ("insample >= t || true", ["insample >= t", "insample < t"]),
        ("insample >= t || t < 3 && 4 < t", ["insample >= t"]),
        ("abs(insample) >= t", ["insample >= t", "insample < t && insample < -t"]),
        ("t < abs(insample)", ["insample >= t", "insample < t && insample < -t"]),
        ("abs(insample) < t", ["insample < t && insample >= -t"]),
        ("abs(insample) >= 3", ["insample >= 3", "insample < -3"]),
        ("abs(t - 1) <= 3", ["t <= 4 && t >= -2"]),
        ("abs(t) > 3", ["t > 3", "t < -3"]),
        ("abs(insample - t) < 3", ["insample < t + 3 && insample >= t - 3"]),
        ("t < 3 && (abs(insample) >= t)", ["insample >= t && t < 3", "insample < t && insample < -t && t < 3"]),
    ],
)  # fmt: skip
def test_guards(written: str, read: list[str]) -> None:
    assert branch(written) == read
    text = STORE + f"(q,1/4,0): if ({written}) then output o; goto q"
    assert loads(dumps(loads(text)), strict=True) == loads(text, strict=True)


def test_ties_count_for_integers_and_without_noise() -> None:
    text = (
        STORE
        + "(q,{},0): if (insample > t) then output a; goto q elseif (insample >= t) then output b; goto q"
    )
    assert "can never be taken" in str(loads(text.format("1")).notes[0])
    for written in ("noise integer\n" + text.format("1"), text.format("inf")):
        automaton = loads(written)
        assert [str(move.guard) for move in automaton.transitions[1:]] == [
            "insample > t",
            "insample >= t && insample <= t",
        ]
        for fmt in ("dipa", "json"):
            assert loads(dumps(automaton, fmt), fmt) == automaton


def test_integers_leave_gaps() -> None:
    text = (
        STORE
        + "(q,1,0): if (insample > t) then output a; goto q elseif (insample < t + 1) then output b; goto q"
    )
    assert not loads("noise integer\n" + text, strict=True).notes
    assert loads(text).notes


def test_first_match_wins_for_all_comparisons() -> None:
    text = (
        STORE
        + "(q,1,0): if (insample < t + 1) then output a; goto q elseif (insample < t + 3 && t < 2) then output b; goto q"
    )
    (note,) = loads(text).notes
    assert not note.is_doubt and str(note) == (
        "2:61: branch 2 of state q overlaps with an earlier one; first match wins, so it is read with "
        "(insample >= t + 1) added: (insample < t + 3 && insample >= t + 1 && t < 2)"
    )
    with pytest.raises(
        InvalidInput, match=r"2:61: .* write \(insample < t \+ 3 && insample >= t \+ 1 && t < 2\) for"
    ):
        loads(text, strict=True)
    covered = (
        STORE
        + "(q,1,0): if (insample < t + 1) then output a; goto q elseif (insample < t) then output b; goto q"
    )
    assert "can never be taken" in str(loads(covered).notes[0])


def test_silent_states_branch_and_stop() -> None:
    text = STORE + "(q:silent): if (t < 3) then output a; goto q elseif (t >= 5) then output b; goto q"
    automaton = loads(text, strict=True)
    assert [str(guard) for guard in stops_unseen(automaton)["q"]] == ["t < 5 && t >= 3"]
    shown = halt_shown(automaton)
    assert str(shown.transitions[-1].output) == "halt" and not stops_unseen(shown)
    assert loads(dumps(shown), strict=True) == shown


def test_names_may_be_the_new_words() -> None:
    text = "(silent,1,0): abs := insample, exp := insample; output read; goto inf (inf,1,0): if (insample < abs && insample >= exp) then output noise; goto input (input:silent): output differ; goto silent"
    automaton = loads(text, strict=True)
    assert automaton.variables == ("abs", "exp") and loads(dumps(automaton), strict=True) == automaton


def test_many_values_are_read_quickly() -> None:
    m = 300
    text = "".join(f"(q{i}:non-input,1,0): x{i} := insample; output o; goto q{i + 1}\n" for i in range(m))
    text += "".join(
        f"(q{m + i}:silent): if (x{i} < x{(i + 1) % m} + {i}) then x{i} := x{(i + 7) % m}; output x{i}, x{i} - x{(i + 9) % m}; goto q{m + i + 1} "
        f"elseif (x{i} > 3) then output o; goto q0\n"
        for i in range(m)
    )
    text += f"(q{2 * m}:silent): " + " else".join(
        f"if (x{i} < {i}) then output o; goto q0" for i in range(60)
    )
    start = time.process_time()
    automaton = loads(text)
    assert time.process_time() - start < 6 and len(automaton.variables) == m


# ------------------------------------------------------------------------------------------- wrong texts


Q = STORE + "(q,1/4,0): "
WRONG: list[tuple[str, str, tuple[int, int], str]] = [
    # What is compared.
    (Q + "if (insample < 2*t) then output o; goto q", "syntax", (2, 28), "'2 *': no products, no quotients of values"),
    (Q + "if (insample < t * t) then output o; goto q", "syntax", (2, 29), "'t *': no products"),
    (Q + "if (insample < t/2) then output o; goto q", "syntax", (2, 28), "'t /': no products"),
    (Q + "if (insample < 2t) then output o; goto q", "syntax", (2, 27), "'2t': no products: compare t itself"),
    (Q + "if (insample >= t + u) then u := insample; output o; goto q", "syntax", (2, 16), "compares 3 values (t, u, insample)"),
    (Q + "if (t + t + t < 3) then output o; goto q", "syntax", (2, 16), "has a multiple of t"),
    (Q + "if (insample == t) then output o; goto q", "syntax", (2, 25), "expected '>=' or '<' after insample (samples are equal with probability 0), found '=='"),
    (Q + "if (t != 3) then output o; goto q", "syntax", (2, 18), "expected '>=' or '<' after t"),
    (Q + "if (t < insampleprime) then output o; goto q", "syntax", (2, 20), "insample' can only be output"),
    (Q + "if (insample' < t) then output o; goto q", "syntax", (2, 16), "insample' can only be output"),
    (Q + "if (insample < insample) then output o; goto q", "syntax", (2, 16), "says nothing about stored values"),
    (Q + "if (3 < 5) then output o; goto q", "syntax", (2, 16), "says nothing about stored values"),
    (Q + "if (input < t) then output o; goto q", "syntax", (2, 16), "let the state draw it with inf"),
    (Q + "if (insample < (t + 3)) then output o; goto q", "syntax", (2, 27), "without parentheses"),
    (Q + "if (insample < t +) then output o; goto q", "syntax", (2, 30), "expected a variable or a number"),
    (Q + "if (abs(insample) < abs(t)) then output o; goto q", "syntax", (2, 16), "abs(...) stands on one side"),
    (Q + "if (abs(insample) + 1 < t) then output o; goto q", "syntax", (2, 30), "abs(...) stands alone on its side"),
    (Q + "if (abs(insample < t)) then output o; goto q", "syntax", (2, 29), "expected ')' after abs(..."),
    (Q + "if (!(t < 3)) then output o; goto q", "syntax", (2, 16), "there is no negation"),
    (Q + "if (insample < t | t < 3) then output o; goto q", "syntax", (2, 29), "expected '||'"),
    (Q + "if (0 <= insample < t) then output o; goto q", "spelling", (2, 30), "write 0 <= insample && insample < t"),
    (Q + "if (t < insampel) then output o; goto q", "syntax", (2, 20), "did you mean 'insample'?"),
    (Q + "if (insample < 1/0) then output o; goto q", "number", (2, 27), "divides by zero"),
    (Q + "if (" + " && ".join(["(t < 3 || t > 5)"] * 9) + ") then output o; goto q", "syntax", (2, 15), f"more than {MAX_PIECES} alternatives"),
    # Guards that never hold.
    (Q + "if (t < 3 && t > 5) then output o; goto q", "guard", (2, 15), "t < 3 and t > 5 exclude each other; leave one of them out"),
    (Q + "if (insample < t && insample < 0 && t < -3 && insample >= -t) then output o; goto q", "guard", (2, 15), "insample < t, insample >= -t and t < -3 never hold together"),
    (Q + "if (t < -t && t > 0) then output o; goto q", "guard", (2, 15), "t < -t and t > 0 exclude each other"),
    (Q + "if (insample >= t + 1 && insample < t) then output o; goto q", "guard", (2, 15), "insample < t and insample >= t + 1 exclude each other"),
    ("noise integer\n" + Q + "if (t > 3 && t < 4) then output o; goto q", "guard", (3, 15), "t < 4 and t > 3 exclude each other for integers"),
    (Q + "if (t < 3 && t > 5 || t > 9 && t < 8) then output o; goto q", "guard", (2, 15), "can never hold"),
    # What is stored.
    (Q + "x := insample, x := t; output o; goto q", "assignment", (2, 27), "x is assigned twice in one step, insample and t"),
    (Q + "x := 3, x := 4; output o; goto q", "assignment", (2, 20), "x is assigned twice in one step, 3 and 4"),
    (Q + "t := t; output o; goto q", "assignment", (2, 17), "t := t of the transition q -> q changes nothing"),
    (Q + "x := insample'; output o; goto q", "syntax", (2, 17), "insampleprime cannot be stored"),
    (Q + "x := t + 3; output o; goto q", "syntax", (2, 19), "'t + 3' is not stored: store t, and add the constant where it is compared"),
    (Q + "x := -t; output o; goto q", "syntax", (2, 17), "'-t' is not stored"),
    (Q + "x := 1/0; output o; goto q", "number", (2, 17), "divides by zero"),
    # What is output.
    (Q + "output insample - insample; goto q", "output", (2, 19), "insample - insample, which is always 0"),
    (Q + "output high, t - t; goto q", "output", (2, 25), "t - t, which is always 0"),
    ("(a,1,0,1,0): output insample - insampleprime; goto b", "output", (1, 21), "show them one by one (output insample, insampleprime)"),
    (Q + "output insample - 3; goto q", "syntax", (2, 30), "a constant is known to all, so output the value itself"),
    (Q + "output insample + t; goto q", "syntax", (2, 28), "values and differences of two are output"),
    (Q + "output t*t; goto q", "syntax", (2, 20), "values and differences of two are output"),
    (Q + "output insample - t - t; goto q", "syntax", (2, 32), "a difference has two values"),
    (Q + "output -t; goto q", "syntax", (2, 19), "'-t' is no output: output the value itself"),
    (Q + "output t - insmaple; goto q", "syntax", (2, 23), "did you mean 'insample'?"),
    (Q + "output high, ; goto q", "syntax", (2, 25), "expected an output"),
    (Q + "output \"t\"; goto q", "spelling", (2, 19), "stand in single quotes; write 't'"),
    (Q + "output 'far out'; goto q", "spelling", (2, 19), "names stand without quotes; write far_out"),
    (Q + "'x' := insample; output o; goto q", "spelling", (2, 12), "stand in single quotes; write 'x'"),
    # What has no value yet.
    ("(a:silent): if (x < 3) then output o; goto b (b,1,0): x := insample; output o; goto a", "initialization", (1, 17), "on the path a no transition stores insample in x, and then the guard (x < 3)"),
    ("(a,1,0): y := x; output o; goto b (b,1,0): x := insample; output o; goto a", "initialization", (1, 15), "and then the assignment y := x of the transition a -> b reads it"),
    ("(a,1,0): output o, x; goto b (b,1,0): x := insample; output o; goto a", "initialization", (1, 20), "and then the output o, x of the transition a -> b reads it"),
    ("(a,1,0): output insample - x; goto b (b,1,0): x := insample; output o; goto a", "initialization", (1, 28), "and then the output insample - x"),
    (Q + "output insample - tt; goto q", "initialization", (2, 30), "variable tt is read before it is assigned"),
    ("(a,1,0): threshold := insample; output o; goto b (b,1,0): output insample - treshold; goto b", "initialization", (1, 77), "did you mean threshold?"),
    # States and their noise.
    ("(q:silent): output insample; goto q", "sample", (1, 20), "state q is silent and draws no sample, so insample cannot be output there"),
    ("(q:read): x := insample; output o; goto q", "sample", (1, 11), "state q is read and draws no sample, so x cannot store insample there"),
    (STORE + "(q:silent): if (insample < t) then output o; goto q", "sample", (2, 16), "insample cannot be compared there"),
    ("(q:silent): output insampleprime; goto q", "sample", (1, 20), "insampleprime cannot be output there"),
    (STORE + "(q:read): output insample - t; goto q", "sample", (2, 18), "insample cannot be output there"),
    ("(q:silent,1,0): output o; goto q", "parameters", (1, 11), "has no noise and no mean: write (q:silent), or make it a non-input state"),
    ("(q:read,inf,0): output o; goto q", "parameters", (1, 9), "write (q:read), or make it an input state"),
    ("(q,exp,0): output insample; goto q", "syntax", (1, 7), "expected a number after exp, such as exp 1/4, found ','"),
    ("(q,exp 1/0,0): output insample; goto q", "number", (1, 8), "divides by zero"),
    ("(q,exp -1,0): output insample; goto q", "parameters", (1, 4), "d of state q is -1; it must not be negative"),
    ("(q,exp 0,0): output insample; goto q", "parameters", (1, 4), "no noise is written inf"),
    ("(q,exp inf,0): output insample; goto q", "number", (1, 8), "'inf' stands alone"),
    ("(q,exp 4/eps,0): output insample; goto q", "number", (1, 8), "write 1/4 for noise of scale 4/eps"),
    ("(q,exp(1/4),0): output insample; goto q", "spelling", (1, 7), "write for instance exp 1/4"),
    ("(q,inf 1/4,0): output insample; goto q", "number", (1, 8), "inf is no noise and has no scale"),
    ("(q,inf): output insample; goto q", "syntax", (1, 1), "state q has 1 parameter"),
    ("(q,1,inf): output insample; goto q", "number", (1, 6), "'inf': a mean is a number"),
    ("(q,1,s): output insample; goto q", "syntax", (1, 6), "or a register ('s := input' or 's := 0' makes it one), found 's'"),
    ("(q,1,2*s): output insample; goto q", "syntax", (1, 8), "or a register"),
    ("(q:slient): output o; goto q", "syntax", (1, 4), "did you mean 'silent'?"),
    ("(q, silent): output o; goto q", "spelling", (1, 5), "write (q:silent)"),
    # Lines on top.
    ("noise laplace\n(q,1,0): output o; goto q", "syntax", (1, 7), "noise is integer, not 'laplace'"),
    ("noise integer\nnoise integer\n(q,1,0): output o; goto q", "syntax", (2, 7), "noise is said once"),
    ("noise integer\n(q,1,1/2): output o; goto q", "integer", (2, 6), "mu of state q is 1/2, but noise is integer and so are means; write 0 or 1"),
    ("noise integer\n" + Q + "if (insample < t + 3/2) then output o; goto q", "integer", (3, 15), "has the constant 3/2"),
    ("noise integer\n" + Q + "if (t < 0.5) then output o; goto q", "integer", (3, 15), "write 0 or 1"),
    ("noise integer\n" + Q + "x := 7/2; output o; goto q", "integer", (3, 12), "stores 7/2 in x, but noise is integer"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "rule", "place", "phrase"), WRONG, ids=[f"{i}-{case[1]}" for i, case in enumerate(WRONG)]
)
def test_wrong_texts(text: str, rule: str, place: tuple[int, int], phrase: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        loads(text)
    said = [
        (p.rule, (p.position.line, p.position.column), p.message)
        for p in refused.value.problems
        if p.position
    ]
    assert any(r == rule and at == place and phrase in message for r, at, message in said), refused.value
    assert len(said) == 1, refused.value


def test_one_fault_hides_no_other() -> None:
    text = """noise integers
(a,exp,0): x := insampleprime, y := y + 1; output a +; goto b
(b:silent,1,0): if (x < 2*y || insample < x) then output insample - 3, z; gotto c
(c,inf 3,0): x := 2*input; output x - x; goto d
"""
    with pytest.raises(InvalidInput) as refused:
        loads(text)
    places = [(p.position.line, p.position.column) for p in refused.value.problems if p.position]
    assert places == [
        (1, 7),
        (2, 7),
        (2, 17),
        (2, 39),
        (2, 53),
        (3, 11),
        (3, 26),
        (3, 69),
        (3, 75),
        (4, 8),
        (4, 14),
    ]


def test_large_wrong_guards_are_refused_quickly() -> None:
    chain = " && ".join(f"x{i} < x{i + 1} + {i}" for i in range(5_000))
    start = time.process_time()
    with pytest.raises(InvalidInput, match="at most 256 are followed"):
        loads(f"(q:silent): if ({chain}) then output o; goto q")
    assert time.process_time() - start < 5


# ------------------------------------------------------------------------------------ JSON and in Python


HEAD = '{"format": "symdipa-automaton", "version": 1, "initial": "p", "states": [{"name": "p", "d": "1"%s}],\n"transitions": [{"from": "p", "to": "p", "output": %s%s}]}'


@pytest.mark.parametrize(
    ("state", "output", "more", "rule", "phrase"),
    [
        (', "noise": "gauss"', '{"symbol": "a"}', "", "schema", '"noise" must be "laplace", "exponential" or "none"'),
        (', "draws": 1', '{"symbol": "a"}', "", "schema", '"draws" must be true or false'),
        ("", '{"difference": ["insample"]}', "", "schema", "a list of two names"),
        ("", '{"several": [{"several": []}]}', "", "schema", 'an output has no key'),
        ("", '{"several": []}', "", "output", "outputs a list of 0"),
        ("", '{"value": "x"}', "", "initialization", "the output x"),
        ("", '{}', "", "schema", 'an output is either {"symbol": NAME}, {"real": NAME}'),
        ("", '{"symbol": "a"}', ', "copies": [{"variable": "x"}]', "schema", 'either "from", a variable, or "constant"'),
        ("", '{"symbol": "a"}', ', "copies": [{"variable": "x", "constant": "1e5"}]', "number", "no exponents"),
        ("", '{"symbol": "a"}', ', "copies": [{"variable": "x", "constant": 1}, {"variable": "x", "constant": 2}]', "assignment", "assigns x twice, 1 and 2"),
        ("", '{"symbol": "a"}', ', "copies": [{"variable": "x", "from": "insample"}]', "structure", "a variable is called insample"),
        ("", '{"symbol": "a"}', ', "guard": {"others": [{"low": {}}]}', "schema", 'a comparison needs the key "high"'),
        ("", '{"symbol": "a"}', ', "guard": {"others": [{"low": {"nme": "x"}, "high": {}}]}', "schema", 'did you mean "name"?'),
        ("", '{"symbol": "a"}', ', "guard": {"others": [{"low": {"name": "insampleprime"}, "high": {}}]}', "structure", "insampleprime is no variable"),
    ],
)  # fmt: skip
def test_wrong_json(state: str, output: str, more: str, rule: str, phrase: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        loads(HEAD % (state, output, more), "json")
    assert any(p.rule == rule and phrase in p.message and p.position for p in refused.value.problems), (
        refused.value
    )


def test_overlaps_are_errors_where_branches_have_no_order() -> None:
    text = STORE + "(q:silent): if (t < 3) then output a; goto q elseif (t < 5) then output b; goto q"
    written = dumps(loads(text), "json")
    broken = json.loads(written)
    del broken["transitions"][2]["guard"]["others"][1:]
    with pytest.raises(
        InvalidInput, match=r"transitions 1 and 2 of state q can both be taken: .* can hold together"
    ):
        loads(json.dumps(broken), "json")


def build(*transitions: Transition, integer: bool = False, **state: Any) -> Automaton:
    states = [State("a", False, F(1)), State("q", **({"d": F(1)} | state))]
    return Automaton.build(
        states, [Transition("a", "q", symbol("o"), assign={"t"}), *transitions], integer=integer
    )


@pytest.mark.parametrize(
    ("make", "phrase"),
    [
        (lambda: build(Transition("q", "q", value("u"))), "the output u of the transition q -> q reads it"),
        (lambda: build(Transition("q", "q", several(symbol("a")))), "outputs a list of 1; output the item itself"),
        (lambda: build(Transition("q", "q", symbol("a")), noise=Noise.NONE), "a sample without noise (inf) has no scale"),
        (lambda: build(Transition("q", "q", symbol("a")), draws=False), "state q is read and draws no sample"),
        (lambda: build(Transition("q", "q", INSAMPLE), d=None, noise=Noise.EXPONENTIAL), "write for instance (q, exp 1/2, 0)"),
        (lambda: build(Transition("q", "q", difference("insample", "t")), d=None), "because insample - t is output"),
        (lambda: build(Transition("q", "q", symbol("a"), copies=(("x", 0.5),))), "stores 0.5 of type float in x"),  # type: ignore[arg-type]
        (lambda: build(Transition("q", "q", symbol("a"), copies=(("x", F(10) ** 101),))), "numbers lie between"),
        (lambda: build(Transition("q", "q", symbol("a"), assign={"insample"})), "the word for the sample of a step"),
        (lambda: build(Transition("q", "q", symbol("a"), Guard(others=frozenset([Atom(T, S, False)])))), "make it with guarded("),
        (lambda: build(Transition("q", "q", symbol("a"), guarded([atom(T, Term(None, F(10) ** 101), False)]))), "numbers lie between"),
        (lambda: build(Transition("q", "q", symbol("a")), Transition("q", "q", symbol("b"), guarded([atom(T, Term(None, F(1)), False)]))), "can hold together"),
        (lambda: build(Transition("q", "q", symbol("a"), copies=(("t", "insampleprime"),))), "insampleprime is no variable"),
    ],
)  # fmt: skip
def test_wrong_parts(make: Callable[[], Automaton], phrase: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        make()
    assert phrase in str(refused.value)


@pytest.mark.parametrize(
    ("automaton", "phrase"),
    [
        (Automaton((State("q", noise=Noise.EXPONENTIAL),), "q", ()), "cannot leave out one scale of state q"),
        (Automaton((State("q", noise_prime=Noise.NONE),), "q", ()), "cannot leave out one scale of state q"),
        (Automaton((State("q"), State("r")), "q", (Transition("r", "q", value("x")),), ("x",)), "in which nothing is stored"),
        (Automaton((State("q"),), "q", (Transition("q", "q", several(symbol("a b"), symbol("c"))),)), "output symbol 'a b'"),
    ],
)  # fmt: skip
def test_what_only_json_can_say(automaton: Automaton, phrase: str) -> None:
    with pytest.raises(InvalidInput, match=phrase):
        dumps(automaton)
    assert loads(dumps(automaton, "json"), "json") == automaton


def test_little_noise_is_not_doubted_where_there_is_none() -> None:
    text = "(a:non-input,{},0): t := insample; output o; goto b (b,{},0): if (insample < t) then output o; goto b"
    assert not loads(text.format("inf", "inf")).notes
    assert not loads(text.format("1/2", "inf")).notes
    (note,) = loads(text.format("exp 20", "1/2")).notes
    assert "d = 20 of state a is far above the others and means exponential noise of scale 1/(20*eps)" in str(
        note
    )


def test_what_is_plain_is_written_as_ever() -> None:
    text = "(a:non-input,1/2,0): t := insample; output start; goto q\n"
    text += (
        "(q,1/4,0): if (insample >= t) then output x; goto q elseif (insample < t) then output y; goto q\n"
    )
    automaton = loads(text)
    assert automaton.is_plain and dumps(automaton) == text
    keys = {key for item in json.loads(dumps(automaton, "json"))["transitions"] for key in item}
    assert keys == {"from", "to", "guard", "output", "assign"}


def test_constructors_are_public() -> None:
    for name in ("Atom", "Noise", "Term", "atom", "difference", "guarded", "several", "value"):
        assert name in symdipa.__all__ and getattr(symdipa, name).__doc__


# ------------------------------------------------------------------------------- comparisons by definition


small = st.integers(-1, 1).map(F)
terms = st.builds(Term, st.sampled_from(["insample", "x", None]), small, st.booleans())
atoms = st.builds(atom, terms, terms, st.booleans()).filter(
    lambda a: a.low.name != a.high.name or a.low.mirrored != a.high.mirrored
)
"""Comparisons of two names. What can hold at all does for sixths of integers up to 5 in size, and for integers up
to 8 (each strict comparison asks for 1 more)."""
REALS = range(-30, 31)
INTEGERS = range(-48, 49, 6)
Point = dict[str | None, int]


def number(term: Term, point: Point) -> int:
    """Six times the number that a term is at a point, of which the coordinates are six times those meant."""
    return (-point[term.name] if term.mirrored else point[term.name]) + int(6 * term.offset)


def says(each: Atom, point: Point) -> bool:
    low, high = number(each.low, point), number(each.high, point)
    return low < high if each.strict else low <= high


def where(atoms: Iterable[Atom], points: Iterable[Point]) -> list[Point]:
    """The points where all comparisons hold."""
    found = list(points)
    for each in atoms:
        found = [point for point in found if says(each, point)]
    return found


def points(integer: bool) -> list[Point]:
    return [{"insample": s, "x": x, None: 0} for s, x in product(INTEGERS if integer else REALS, repeat=2)]


POINTS = {integer: points(integer) for integer in (False, True)}
FEW = POINTS[False][::7]


@settings(max_examples=100)
@given(st.lists(atoms, max_size=5), st.booleans())
def test_what_can_hold(some: list[Atom], integer: bool) -> None:
    found = bool(where(some, POINTS[integer]))
    assert satisfiable(some, integer) == found
    if not found:
        few = conflict(guarded(some, True), integer)
        assert not satisfiable(few, integer)
        assert all(satisfiable([a for a in few if a != each], integer) for each in few)


def test_halves_are_no_integers() -> None:
    x, y, one_minus_y = Term("x"), Term("y"), Term("y", F(1), True)
    halves = [atom(x, y, False), atom(y, x, False), atom(x, one_minus_y, False), atom(one_minus_y, x, False)]
    assert satisfiable(halves) and not satisfiable(halves, True)


@settings(max_examples=100)
@given(st.lists(atoms, max_size=3), st.lists(atoms, max_size=3), st.booleans())
def test_what_excludes_and_implies(first: list[Atom], second: list[Atom], integer: bool) -> None:
    one, other = guarded(first, True), guarded(second, True)
    here = where(one.atoms, POINTS[integer])
    if here and satisfiable(second, integer):
        assert excludes(one, other, integer) == (not where(other.atoms, here))
    if here:
        for each in second:
            assert implies(one.atoms, each, integer) == (len(where([each], here)) == len(here))
        simple = simplified(one, integer)
        assert simple.atoms <= one.atoms and where(simple.atoms, POINTS[integer]) == here


some_guards = st.lists(atoms, max_size=3).map(lambda some: guarded(some, True))


@settings(max_examples=100)
@given(st.lists(some_guards, max_size=4), st.booleans())
def test_first_match_wins(chain: list[Guard], integer: bool) -> None:
    resolved = first_match(chain, integer)
    for point in POINTS[True] if integer else FEW:
        matching = [i for i, guard in enumerate(chain) if where(guard.atoms, [point])]
        taken = [
            i for i, pieces in enumerate(resolved) for piece in pieces or () if where(piece.atoms, [point])
        ]
        assert taken == matching[:1]


@settings(max_examples=100)
@given(some_guards, st.lists(some_guards, max_size=4))
def test_what_is_left_case_by_case(piece: Guard, others: list[Guard]) -> None:
    others = [other for other in others if satisfiable(other.atoms)]
    if not satisfiable(piece.atoms):
        return
    parts = _case_by_case(piece, others, False)
    for point in FEW:
        left = where(piece.atoms, [point]) and not any(where(other.atoms, [point]) for other in others)
        assert sum(bool(where(part.atoms, [point])) for part in parts) == bool(left)


def test_a_tree_of_questions_leaves_nothing() -> None:
    asked = [atom(Term(f"x{i}"), Term(f"x{i + 1}"), True) for i in range(9)]
    leaves = [
        guarded((each if yes else each.negation for each, yes in zip(asked, answers, strict=True)), True)
        for answers in product((True, False), repeat=len(asked))
    ]
    assert len(leaves) > MAX_PIECES
    assert first_match([*leaves, TRUE])[-1] == ()
    assert first_match([*leaves[1:], TRUE])[-1] == (leaves[0],)


@settings(max_examples=100)
@given(some_guards, some_guards)
def test_subtraction(piece: Guard, other: Guard) -> None:
    if not satisfiable(piece.atoms) or not satisfiable(other.atoms):
        return
    parts = subtract(piece, other)
    for point in FEW:
        holding = [bool(where(guard.atoms, [point])) for guard in (piece, other, *parts)]
        assert sum(holding[2:]) == (holding[0] and not holding[1])


@given(atoms, st.booleans())
def test_a_comparison_is_read_as_it_is_written(each: Atom, integer: bool) -> None:
    same = [each, atom(each.high.negative, each.low.negative, each.strict), each.negation.negation]
    assert len(set(same)) == 1
    (guard,) = {guarded([a], integer) for a in same}
    if not satisfiable([each], integer):
        return
    text = (
        "noise integer\n" * integer
        + "(a,1,0): x := insample; output o; goto q\n(q,1,0): if ({}) then output o; goto q"
    )
    assert loads(text.format(guard)).transitions[1].guard == guard


@settings(max_examples=50)
@given(atoms.filter(lambda a: "insample" in a.names))
def test_equality_with_a_sample_has_probability_zero(each: Atom) -> None:
    changed = atom(each.low, each.high, not each.strict)
    assert guarded([each]) == guarded([changed]) and guarded([each], True) != guarded([changed], True)


# -------------------------------------------------------------------------------------------- round trips


@st.composite
def automata(draw: st.DrawFn) -> Automaton:
    """Valid automata of all kinds: the initial state stores every variable, the others branch on all that there is."""
    integer = draw(st.booleans())
    numbers = st.integers(-9, 9).map(F) if integer else st.fractions(-9, 9, max_denominator=9)
    scales = st.fractions(F(1, 9), 9, max_denominator=9)
    variables = draw(st.lists(st.sampled_from(["x", "y", "exp", "ß"]), unique=True, min_size=1))
    order = [f"s{i}" for i in range(draw(st.integers(1, 4)))]
    states, moves = [], []
    for i, name in enumerate(order):
        draws = i == 0 or draw(st.booleans())
        state = State(name, i > 0 and draw(st.booleans()), draws=draws)
        if draws:
            noises = [draw(st.sampled_from(Noise)) for _ in range(2)]
            d, d_prime = (None if noise is Noise.NONE else draw(scales) for noise in noises)
            state = State(name, state.is_input, d, draw(numbers), d_prime, draw(numbers), *noises)
        states.append(state)
        names = [*variables, "insample"] if draws else variables
        term = st.builds(Term, st.sampled_from([*names, None]), numbers, st.booleans())
        some = st.builds(atom, term, term, st.booleans()).filter(
            lambda a: len(a.names) > (a.low.name is not None is not a.high.name)
        )
        ties = integer or state.noise is Noise.NONE
        chain = (
            draw(
                st.lists(
                    st.lists(some, max_size=3).map(lambda these, ties=ties: guarded(these, ties)), max_size=3
                )
            )
            if i
            else [TRUE]
        )
        chain = [guard for guard in chain if satisfiable(guard.atoms, integer)]
        items = st.one_of(
            st.sampled_from([symbol("o"), symbol("x"), symbol("high")]),
            st.sampled_from([INSAMPLE, INSAMPLE_PRIME] if draws else [symbol("o")]),
            st.sampled_from(variables).map(value),
            st.permutations(names).filter(lambda p: len(p) > 1).map(lambda p: difference(*p[:2]))
            if len(names) > 1
            else st.just(symbol("o")),
        )
        outputs: st.SearchStrategy[Output] = st.one_of(
            items, st.lists(items, min_size=2, max_size=3).map(lambda these: several(*these))
        )
        for guard in (piece for group in first_match(chain, integer) for piece in group or ()):
            assign = (
                frozenset(variables)
                if i == 0
                else frozenset(draw(st.sets(st.sampled_from(variables))))
                if draws
                else frozenset[str]()
            )
            copies = [
                (x, draw(st.one_of(numbers, st.sampled_from([*variables, F(7)]))))
                for x in draw(st.sets(st.sampled_from([*variables, "new"])))
            ]
            copied = tuple((x, y) for x, y in copies if x not in assign and x != y) if i else ()
            moves.append(
                Transition(name, draw(st.sampled_from([*order, "end"])), draw(outputs), guard, assign, copied)
            )
    known = {state.name for state in states}
    states += [State("end")] * any(move.target not in known for move in moves)
    return Automaton(tuple(states), "s0", tuple(moves), variables_of(moves), integer=integer)


SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "symdipa" / "files" / "formats" / "automaton.schema.json").read_text())
)


@settings(max_examples=200)
@given(automata())
def test_round_trips(automaton: Automaton) -> None:
    assert problems(automaton) == []
    assert loads(dumps(automaton), strict=True) == automaton
    written = dumps(automaton, "json")
    assert loads(written, "json") == automaton and SCHEMA.is_valid(json.loads(written))
    shown = halt_shown(automaton)
    again = loads(dumps(shown), strict=True)
    assert set(again.transitions) == set(shown.transitions) and not problems(again)
