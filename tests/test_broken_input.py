"""Whatever is broken, the answer is an InvalidInput that says where and what, quickly."""
# ruff: noqa: E501 (the tables read better with one case on a line)

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from symdipa.files.formats import detect, dumps, load, loads, read, read_file
from symdipa.model.errors import InvalidInput, Position

MEGABYTE = 1_000_000
GOOD = "(q1:non-input,1/4,0): x := insample; output obot; goto q2\n"
LOOP = "(q2,1/2,0): if (insample < x) then output obot; goto q2 elseif (insample >= x) then output otop; goto q3\n"

# Each case: name, text, rule, line, column, a phrase of the message. ``GOOD`` has 57 characters.
TEXTS = [
    # The table of rules.
    (
        "contradiction",
        GOOD + "(q2,1,0): if (insample < x) then output a; goto q2 elseif (insample < x && insample >= x) "
        "then output b; goto q2",
        "guard",
        (2, 59),
        "can never hold",
    ),
    (
        "unassigned",
        "(q1,1,0): if (insample < x) then output a; goto q1",
        "initialization",
        (1, 26),
        "x is read before it is assigned",
    ),
    (
        "unassigned-on-one-path",
        "(s,1,0): y := insample; output a; goto t\n"
        "(t,1,0): if (insample < y) then x := insample; output a; goto u\n"
        "   elseif (insample >= y) then output b; goto v\n"
        "(u,1,0): output a; goto w\n"
        "(v,1,0): output a; goto w\n"
        "(w,1,0): if (insample >= x) then output b; goto w",
        "initialization",
        (6, 26),
        "s -> t -> v -> w",
    ),
    ("zero-scale-compared", GOOD + "(q2,0,0): if (insample < x) then output a; goto q2", "parameters", (2, 5),
     "its sample is compared"),
    ("zero-scale-stored", "(q1,0,0): x := insample; output a; goto q2", "parameters", (1, 5), "is stored in x"),
    ("zero-scale-output", "(q1,0,0): output insample; goto q2", "parameters", (1, 5), "its sample is output"),
    ("zero-scale-prime", "(q1,1,0,0,0): output insampleprime; goto q2", "parameters", (1, 9), "insampleprime is output"),
    ("no-second-scale", "(q1,1,0): output insample'; goto q2", "parameters", (1, 1), "d' is not given"),
    ("no-parameters", "(q1): output insample; goto q2", "parameters", (1, 1), "d is not given"),
    ("negative-scale", "(q1,-1/4,0): output a; goto q2", "parameters", (1, 5), "must not be negative"),
    ("negative-second-scale", "(q1,1,0,-2,0): output a; goto q2", "parameters", (1, 9), "must not be negative"),
    ("duplicate-state", GOOD + LOOP + "(q2,1,0): output a; goto q1", "structure", (3, 1), "listed twice"),
    ("duplicate-overlap", GOOD + LOOP + LOOP, "structure", (3, 1), "state q2 is listed twice"),
    ("too-many-pieces", "(q1,1,0): " + ", ".join(f"x{i} := insample" for i in range(300)) + "; output a; goto q2\n"
     "(q2,1,0): if (" + " && ".join(f"insample < x{i}" for i in range(300)) + ") then output a; goto q2\n"
     "else output b; goto q2", "determinism", (3, 1), "more than 256 transitions"),
    # Numbers.
    ("divide-by-zero", "(q1,1/0,0): output a; goto q2", "number", (1, 5), "divides by zero"),
    ("huge-numeral", f"(q1,{'9' * 5000},0): output a; goto q2", "number", (1, 5), "more than 1000 digits"),
    ("huge-denominator", f"(q1,1,1/{'9' * 5000}): output a; goto q2", "number", (1, 7), "more than 1000 digits"),
    ("exponent", "(q1,1e5,0): output a; goto q2", "number", (1, 5), "no exponents"),
    ("nan", "(q1,nan,0): output a; goto q2", "syntax", (1, 5), "expected a number such as 1/4"),
    ("infinity", "(q1,1,-inf): output a; goto q2", "number", (1, 8), "'inf': a mean is a number"),
    ("two-points", "(q1,1.2.3,0): output a; goto q2", "number", (1, 5), "'1.2.3' is not a number"),
    ("number-missing", "(q1,,0): output a; goto q2", "syntax", (1, 5), "expected a number"),
    ("negative-denominator", "(q1,1/-4,0): output a; goto q2", "syntax", (1, 7), "after '/'"),
    # Headers.
    ("empty", "", "syntax", (1, 1), "there is no state"),
    ("only-comments", "# nothing\n\n  # here\n", "syntax", (1, 1), "there is no state"),
    ("no-header", "\n  x := insample; output a; goto q2", "syntax", (2, 3), "expected a state such as"),
    ("one-parameter", "(q1,1/4): output a; goto q2", "syntax", (1, 1), "has 1 parameter; give 2"),
    ("three-parameters", "(q1,1,2,3): output a; goto q2", "syntax", (1, 1), "or 4 (d, mu, d', mu')"),
    ("bad-kind", "(q1:output,1,0): output a; goto q2", "syntax", (1, 5), "'input', 'non-input', 'read' or 'silent'"),
    ("no-colon", "(q1,1,0) output a; goto q2", "syntax", (1, 10), "expected ':' after the header of state q1"),
    ("no-comma", "(q1 1,0): output a; goto q2", "syntax", (1, 5), "expected ')' after the parameters"),
    ("unclosed-header", "(q1,1,0: output a; goto q2", "syntax", (1, 8), "expected ')'"),
    ("number-as-state", "(1,1,0): output a; goto q2", "syntax", (1, 2), "a name starts with a letter"),
    ("nameless-state", "(,1,0): output a; goto q2", "syntax", (1, 2), "expected the name of a state"),
    ("reserved-state", "(goto,1,0): output a; goto q2", "name", (1, 2), "'goto' is a reserved word"),
    # Bodies.
    ("reserved-target", "(q1,1,0): output a; goto if", "name", (1, 26), "'if' is a reserved word"),
    ("reserved-output", "(q1,1,0): output then; goto q2", "name", (1, 18), "reserved word"),
    ("reserved-variable", GOOD + "(q2,1,0): if (insample < output) then output a; goto q2", "name", (2, 26),
     "'output' is a reserved word and cannot be a variable"),
    ("no-output", "(q1,1,0): x := insample; goto q2", "syntax", (1, 26), "expected 'output'"),
    ("no-goto", "(q1,1,0): output a;", "syntax", (1, 11),
     "'output a' does not say where to go next: write output a; goto q1"),
    ("no-goto-but-more-states", "(q1,1,0): output a (q7,1,0): output b; goto q1", "syntax", (1, 11),
     "'output a' does not say where to go next: write output a; goto q7"),
    ("no-target", "(q1,1,0): output a; goto", "syntax", (1, 25), "the state to go to"),
    ("no-semicolon", "(q1,1,0): output a goto q2", "syntax", (1, 20), "expected ';' after the output"),
    ("equals", "(q1,1,0): x = insample; output a; goto q2", "syntax", (1, 13), "expected ':=' after the variable x"),
    ("stores-prime", "(q1,1,0): x := insampleprime; output a; goto q2", "syntax", (1, 16),
     "insampleprime cannot be stored, only output"),
    ("no-then", GOOD + "(q2,1,0): if (insample < x) output a; goto q2", "syntax", (2, 29), "expected 'then'"),
    ("elif", GOOD + "(q2,1,0): if (insample < x) then output a; goto q2 elif", "syntax", (2, 52), "'elseif'"),
    ("branch-after-else", GOOD + "(q2,1,0): if (insample < x) then output a; goto q2 else output b; goto q2 "
     "elseif (insample < x) then output c; goto q2", "syntax", (2, 75), "expected the next state"),
    ("branch-after-step", "(q1,1,0): output a; goto q2 else output b; goto q2", "syntax", (1, 29), "the next state"),
    ("unknown-character", "(q1,1,0): output a; goto q2 §", "syntax", (1, 29), "found '§'"),
    # Guards.
    ("negation", GOOD + "(q2,1,0): if (!(insample < x)) then output a; goto q2", "syntax", (2, 15), "no negation"),
    ("single-ampersand", GOOD + "(q2,1,0): if (insample < x & insample < x) then output a; goto q2", "syntax",
     (2, 28), "expected '&&'"),
    ("equality", GOOD + "(q2,1,0): if (insample == x) then output a; goto q2", "syntax", (2, 24), "'>=' or '<'"),
    ("one-variable", GOOD + "(q2,1,0): if (x < x) then output a; goto q2", "syntax", (2, 15),
     "'x < x' says nothing about stored values"),
    ("compares-prime", GOOD + "(q2,1,0): if (insampleprime < x) then output a; goto q2", "syntax", (2, 15),
     "can only be output"),
    ("empty-guard", GOOD + "(q2,1,0): if () then output a; goto q2", "syntax", (2, 15), "expected a comparison"),
    ("unclosed-guard", GOOD + "(q2,1,0): if ((insample < x) then output a; goto q2", "syntax", (2, 30),
     "expected ')' for the '(' at 2:14"),
    ("overclosed-guard", GOOD + "(q2,1,0): if (insample < x)) then output a; goto q2", "syntax", (2, 28),
     "closes nothing"),
    ("unfinished-guard", GOOD + "(q2,1,0): if (insample < x &&", "syntax", (2, 30), "found the end of the text"),
    # Mistakes of a first hour, each with its remedy.
    *(
        (f"eps-{written}", f"(q1:non-input,{written},0): x := insample; output obot; goto q2\n" + LOOP, "number",
         (1, 15), f"write {meant} for noise of scale {scale}")
        for written, meant, scale in [
            ("4/eps", "1/4", "4/eps"), ("eps/2", "1/2", "2/eps"), ("eps", "1", "1/eps"), ("2eps", "2", "1/(2*eps)"),
            ("1/(4 eps)", "4", "1/(4*eps)"), ("1/(4*eps)", "4", "1/(4*eps)"), ("1/4 * epsilon", "1/4", "4/eps"),
            ("Lap(4/eps)", "1/4", "4/eps"), ("2*eps/3", "2/3", "3/(2*eps)"), ("0.1 ε", "1/10", "10/eps"),
        ]
    ),
    *(
        (f"eps-{written}", f"(q1:non-input,{written},0): x := insample; output obot; goto q2\n" + LOOP, "number",
         (1, 15), "noise of scale 4/eps is written 1/4")
        for written in ["1/4eps", "4/eps/eps", "eps*eps", "x*eps", "0/eps", "-eps", "eps +", f"{'9' * 5000}/eps"]
    ),
    ("eps-in-mean", GOOD.replace(",0)", ",eps)") + LOOP, "number", (1, 19), "'eps': a mean is a number"),
    ("eps-in-a-comment", GOOD.replace(",0", " # 4/eps\n,x") + LOOP, "syntax", (2, 2), "x is a variable: in a mean"),
    ("infinite", GOOD.replace("1/4", "∞") + LOOP, "spelling", (1, 15), "'∞': no noise is written inf"),
    ("infinite-mean", GOOD.replace(",0)", ",inf)") + LOOP, "number", (1, 19), "'inf': a mean is a number"),
    ("no-noise", GOOD.replace("1/4", "0") + LOOP, "parameters", (1, 15),
     "(a larger d is less noise, and no noise is written inf)"),
    ("symbol-0", GOOD.replace("obot", "0") + LOOP, "syntax", (1, 45), "begins with a letter (write for instance zero"),
    ("symbol-negative", GOOD.replace("obot", "-1") + LOOP, "syntax", (1, 45), "'-1' is no output"),
    ("kind-behind-comma", GOOD.replace(":non-input", ", non-input") + LOOP, "spelling", (1, 6),
     "write (q1:non-input, ...)"),
    ("goto-is-missing", GOOD.replace("; goto q2", "") + LOOP, "syntax", (1, 38), "write output obot; goto q2"),
    ("only-the-state", GOOD.replace("goto ", "") + LOOP, "spelling", (1, 51), "write goto q2"),
    ("stored-after-output", GOOD.replace("x := insample; output obot", "output obot; x := insample") + LOOP,
     "spelling", (1, 36), "write x := insample; output ..."),
    ("stored-after-goto", GOOD.replace("x := insample; ", "").replace("q2", "q2; x := insample") + LOOP, "syntax",
     (1, 45), "assignments come before the output"),
    ("two-sided", GOOD.replace("x :=", "x := insample, y :=") + LOOP.replace("insample < x", "x <= insample < y"),
     "spelling", (2, 31), "write x <= insample && insample < y"),
    *(
        (f"comment-{mark}", f"{mark} (q9, 1, 0): not a state {end}\n" + GOOD + f"  {mark} more {end}\n" + LOOP,
         "spelling", (1, 1), f"'{mark}': a comment begins with # (1 more like this below)")
        for mark, end in [("//", ""), ("%", ""), ("--", ""), ("/*", "*/")]
    ),
    ("quotes", GOOD.replace("obot", '"obot"') + LOOP, "spelling", (1, 45), "'\"obot\"': names stand without quotes"),
    ("words-in-quotes", GOOD.replace("obot", "'far below'") + LOOP, "spelling", (1, 45), "write far_below"),
    ("numbers-in-quotes", GOOD.replace("obot", '"1 or 2"') + LOOP, "spelling", (1, 45), "write _1_or_2"),
    ("nothing-in-quotes", GOOD.replace("obot", '""') + LOOP, "spelling", (1, 45), "write _"),
    # Size.
    ("unclosed-comments", GOOD + "/* " * 300_000, "spelling", (2, 1), "a comment begins with #"),
    ("many-quotes", GOOD + '"a" ' * 200_000, "spelling", (2, 1), "names stand without quotes"),
    ("unclosed-parameters", "(a" + ",(" * 100_000, "syntax", (1, 4), "expected a number"),
    ("garbage-line", "x" * MEGABYTE, "syntax", (1, 1), "xxx...'"),
    ("garbage-parentheses", "(" * MEGABYTE, "syntax", (1, 1), "(((...'"),
    ("unclosed-deep-guard", GOOD + "(q2,1,0): if " + "(" * 100_000 + "insample < x", "syntax", (2, 100_026),
     "found the end of the text"),
]  # fmt: skip

HEAD = '{"format": "symdipa-automaton", "version": 1, "initial": "p",\n'
STATES = '"states": [{"name": "p", "d": "1/4"}],\n'
JSONS = [
    ("empty", "", "syntax", (1, 1), "expected a value, found the end of the text"),
    ("unfinished", HEAD, "syntax", (2, 1), "expected a key in double quotes"),
    ("two-values", "{} {}", "syntax", (1, 4), "expected the end of the text"),
    ("no-comma", '{"a": 1 "b": 2}', "syntax", (1, 9), "expected ',' or '}'"),
    ("trailing-comma", "[1, ]", "syntax", (1, 5), "expected a value"),
    ("single-quotes", "{'a': 1}", "syntax", (1, 2), "double quotes"),
    ("open-text", '{"a\n": 1}', "syntax", (1, 2), "not closed"),
    ("bad-escape", '{"\\q": 1}', "syntax", (1, 2), "broken escape"),
    ("half-a-pair", '{"\\ud800": 1}', "syntax", (1, 2), "broken escape"),
    ("nan", HEAD + '"states": NaN}', "syntax", (2, 11), "found 'NaN'"),
    ("deep", "[" * 100_000, "syntax", (1, 33), "nested deeper than 32"),
    ("garbage", "{" + "x" * MEGABYTE, "syntax", (1, 2), "xxx...'"),
    ("a-list", "[]", "schema", (1, 1), "must be an object, not a list"),
    ("repeated-key", HEAD + '"initial": "p", ' + STATES + '"transitions": []}', "syntax", (2, 1), "given twice"),
    ("unknown-key", HEAD + STATES + '"transition": [], "transitions": []}', "schema", (3, 1),
     'did you mean "transitions"?'),
    ("missing-key", HEAD + STATES[:-2] + "}", "schema", (1, 1), 'needs the key "transitions"'),
    ("other-format", HEAD.replace("symdipa", "other") + STATES + '"transitions": []}', "schema", (1, 12), "must be"),
    ("newer-version", HEAD.replace("1,", "2,") + STATES + '"transitions": []}', "schema", (1, 44), "must be 1"),
    ("name-is-number", HEAD + '"states": [{"name": 1}], "transitions": []}', "schema", (2, 21), "not a number"),
    ("input-is-text", HEAD + '"states": [{"name": "p", "input": "no"}], "transitions": []}', "schema", (2, 35),
     "must be true or false"),
    ("number-is-list", HEAD + '"states": [{"name": "p", "d": []}], "transitions": []}', "schema", (2, 31), '"1/4"'),
    ("mean-is-null", HEAD + '"states": [{"name": "p", "mu": null}], "transitions": []}', "schema", (2, 32), "not null"),
    ("exponent", HEAD + '"states": [{"name": "p", "d": 1e5}], "transitions": []}', "number", (2, 31), "no exponents"),
    ("eps", HEAD + '"states": [{"name": "p", "d": "4/eps"}], "transitions": []}', "number", (2, 31), "write 1/4"),
    ("divide-by-zero", HEAD + '"states": [{"name": "p", "d": "1/0"}], "transitions": []}', "number", (2, 31), "zero"),
    ("huge-numeral", HEAD + '"states": [{"name": "p", "d": ' + "9" * 5000 + '}], "transitions": []}', "number",
     (2, 31), "1000 digits"),
    ("states-is-object", HEAD + '"states": {}, "transitions": []}', "schema", (2, 11), "must be a list"),
    ("two-outputs", HEAD + STATES + '"transitions": [{"from": "p", "to": "p", "output": {"symbol": "a", "real": '
     '"insample"}}]}', "schema", (3, 52), "either"),
    ("bad-real", HEAD + STATES + '"transitions": [{"from": "p", "to": "p", "output": {"real": "x"}}]}', "schema",
     (3, 61), '"insample" or'),
    ("unknown-target", HEAD + STATES + '"transitions": [{"from": "p", "to": "z", "output": {"symbol": "a"}}]}',
     "structure", (3, 37), "'z' of a transition is not a state"),
    ("unknown-source", HEAD + STATES + '"transitions": [{"from": "z", "to": "p", "output": {"symbol": "a"}}]}',
     "structure", (3, 26), "the source 'z'"),
    ("unknown-initial", HEAD.replace('"p"', '"z"') + STATES + '"transitions": []}', "structure", (1, 1), "initial state"),
    ("no-states", HEAD + '"states": [], "transitions": []}', "structure", (1, 1), "has no state"),
    ("overlap", HEAD + STATES + '"transitions": [{"from": "p", "to": "p", "output": {"symbol": "a"}},\n'
     '{"from": "p", "to": "p", "output": {"symbol": "b"}}]}', "determinism", (4, 1), "transitions 1 and 2 of state p"),
    ("unlisted-variable", HEAD + '"variables": [], ' + STATES + '"transitions": [{"from": "p", "to": "p", '
     '"output": {"symbol": "a"}, "assign": ["x"]}]}', "structure", (3, 79), "missing from the list"),
    ("twice-listed-variable", HEAD + '"variables": ["x", "x"], ' + STATES + '"transitions": []}', "structure", (1, 1),
     "listed twice"),
    ("empty-symbol", HEAD + STATES + '"transitions": [{"from": "p", "to": "p", "output": {"symbol": ""}}]}',
     "structure", (3, 52), "empty name"),
]  # fmt: skip


def refused(text: str | bytes, fmt: str | None, **options: bool) -> InvalidInput:
    """The refusal of a text; what takes time that grows with its square would not end in five seconds."""
    start = time.process_time()
    with pytest.raises(InvalidInput) as caught:
        read(text, fmt, source="input", **options)
    assert time.process_time() - start < 5
    return caught.value


@pytest.mark.parametrize(
    ("fmt", "text", "rule", "where", "phrase"),
    [pytest.param("dipa", *case[1:], id=f"dipa-{case[0]}") for case in TEXTS]
    + [pytest.param("json", *case[1:], id=f"json-{case[0]}") for case in JSONS],
)
def test_broken_text(fmt: str, text: str, rule: str, where: tuple[int, int], phrase: str) -> None:
    problem = next((p for p in refused(text, fmt).problems if p.rule == rule and phrase in p.message), None)
    assert problem is not None, refused(text, fmt)
    assert problem.position is not None
    assert (problem.position.line, problem.position.column) == where
    assert len(problem.message) < 1000
    assert "\n" not in str(problem)


def test_a_malformed_number_hides_no_other_problem_in_json() -> None:
    text = (
        HEAD
        + '"states": [{"name": "p", "d": "4/eps"}],\n"transitions": [{"from": "p", "to": "z", "output": {"symbol": "a"}}]}'
    )
    first, second = refused(text, "json").problems
    assert "write 1/4 for noise of scale 4/eps" in first.message
    assert "'z' of a transition is not a state" in second.message


REMEDIED = [
    case
    for case in TEXTS
    if case[0] != "many-quotes" and (case[2] == "spelling" or case[0].startswith(("eps-", "infinite")))
]


@pytest.mark.parametrize("case", REMEDIED, ids=lambda case: case[0])
def test_nothing_follows_from_what_is_not_the_language_but_clear(
    case: tuple[str, str, str, tuple[int, int], str],
) -> None:
    (problem,) = refused(case[1], "dipa").problems
    assert problem.rule == case[2]


def test_all_problems_of_a_text_are_reported_in_order() -> None:
    error = refused(
        "(q1,1/0,0): x := insample; output a; goto q2\n"
        "(q2,-1,0): if (insample < x then output a; goto q2\n"
        "(q3:non-input,1,0): if (insample < x) then output b; goto q3\n"
        "(q4,1,0): output\n"
        "(q4,1,0):",
        "dipa",
    )
    rules = [problem.rule for problem in error.problems]
    assert rules == ["number", "parameters", "syntax", "syntax", "structure"]
    assert str(error).splitlines()[0].startswith("input:1:5: '1/0' divides by zero")


SEVERAL = """\
(start:noninput, 1/4): treshold := insmaple; ouput ready; gotto watch
(watch, 1/2, x):
    IF (insmaple < threshold) then output low; goto watch
    elsif (insample >= threshold && insample < 3*x) thn otput high; goto done
    elseif (insample < treshold) then x = insample, output mid goto watch
    else outputt my-symbol; goto my-state junk
other, 1, 0): output x; goto done
"""


def test_independent_faults_of_one_state_are_all_reported_at_the_words_to_blame() -> None:
    found = {
        (p.position.line, p.position.column): p.message
        for p in refused(SEVERAL, "dipa").problems
        if p.position is not None
    }
    expected = {
        (1, 1): "state start has 1 parameter;",
        (1, 8): "found 'noninput'; did you mean 'non-input'?",
        (1, 36): "found 'insmaple'; did you mean 'insample'?",
        (1, 46): "found 'ouput'; did you mean 'output'?",
        (1, 59): "found 'gotto'; did you mean 'goto'?",
        (2, 14): "x is a variable: in a mean",
        (3, 5): "found 'IF'; did you mean 'if'?",
        (3, 9): "found 'insmaple'; did you mean 'insample'?",
        (4, 5): "found 'elsif'; did you mean 'elseif'?",
        (
            4,
            24,
        ): "threshold is read before it is assigned: no transition stores insample in it; did you mean tre",
        (4, 49): "no products",
        (4, 53): "found 'thn'; did you mean 'then'?",
        (4, 57): "found 'otput'; did you mean 'output'?",
        (5, 41): "expected ':=' after the variable x",
        (5, 64): "expected ';' after the output",
        (6, 10): "found 'outputt'; did you mean 'output'?",
        (6, 18): "write my_symbol",
        (6, 34): "write my_state",
        (6, 43): "expected the next state after 'goto my_state', found 'junk'",
    }
    assert list(found) == list(expected)
    for place, phrase in expected.items():
        assert phrase in found[place]


CHAIN = (
    GOOD + "(q2,1,0): {} goto q2 elseif (insample >= x) then output b; goto q3\n(q3,1,0): output c; gotto q4"
)


@pytest.mark.parametrize(
    ("branch", "column", "phrase"),
    [
        ("if (insample < x) then output a; got", 44, "did you mean 'goto'"),
        ("if (insample < x) then outptu a;", 34, "did you mean 'output'"),
        ("if (x > insampel) then output a;", 19, "did you mean 'insample'"),
        ("if (insample < x | insample < x) then output a;", 28, "expected '||'"),
        ("if (!(insample < x)) then output a;", 15, "no negation"),
        ("if ((insample < x) then output a;", 30, "expected ')'"),
        ("if (insample < x)) then output a;", 28, "closes nothing"),
        ("if () then output a;", 15, "expected a comparison"),
        ("if (insample = x) then output a;", 24, "'>=' or '<'"),
        ("if insample < x output a;", 27, "expected 'then'"),
        ("if insample < x y := insample; output a;", 27, "expected 'then'"),
        ("if (insample < x) then output;", 40, "expected an output"),
        ("if (insample < x) then;", 33, "expected 'output'"),
        ("if (insample < x) then what; output a;", 34, "expected 'output'"),
        ("if (insample < x) then y := if; output a;", 39, "a variable or a number as the value of y"),
        ("if (insample < x) then y := insample output a;", 48, "expected ';' or ','"),
        ("if (insample < x) Then output a;", 29, "did you mean 'then'"),
        ("if (True) then output a;", 15, "did you mean 'true'"),
        ("when (insample < x) then output a;", 11, "expected 'if'"),
        ("(insample < x) then output a;", 11, "expected 'if' before a condition"),
        ("if (insample < x & insample < x) then output a;", 28, "expected '&&'"),
        ("if (insample < x AND insample < x) then output a;", 28, "expected '&&'"),
    ],
)
def test_a_fault_hides_no_other_and_nothing_follows_from_it(branch: str, column: int, phrase: str) -> None:
    first, second = refused(CHAIN.format(branch).replace("got goto", "got"), "dipa").problems
    assert first.position is not None and second.position is not None
    assert (first.position.line, first.position.column) == (2, column)
    assert phrase in first.message
    assert (second.position.line, second.position.column) == (3, 21)


@pytest.mark.parametrize(
    ("header", "places"),
    [
        ("(q2,x,y):", [5, 7]),
        ("(q2,1):", [1]),
        ("(q2:in,1,0,2):", [1, 5]),
        ("(q2 1,0):", [5]),
        ("(q2,1,0:", [8]),
        ("(q2,1,0)", [10]),
        ("(q2,1;0):", [6]),
        ("(,1,0):", [2]),
        ("(goto,1,0):", [2]),
        ("(q-2,1,0):", [3]),
        ("q2,1,0):", [1]),
    ],
)
def test_a_fault_in_a_header_hides_none_in_the_body(header: str, places: list[int]) -> None:
    text = f"{header} x := insmaple; output a; goto q3"
    found = [p.position.column for p in refused(text, "dipa").problems if p.position is not None]
    lost = header.startswith("q")  # without its parenthesis it is no state
    assert found == ([*places] if lost else [*places, len(header) + 7])


def test_a_step_without_goto_is_told_where_it_stands_and_in_the_words_of_the_file() -> None:
    text = (
        "(start:non-input,1/4,0): x := insample; output ready; goto loop\n"
        "(loop,1/2,0): if (insample < x) then output 0;\n  else output  insample'\n"
        "(rest,1,0): ouput a"
    )
    found = [(p.position, p.message) for p in refused(text, "dipa").problems if "where to go" in p.message]
    assert found == [
        (Position(2, 38), "'output 0' does not say where to go next: write output ...; goto loop"),
        (
            Position(3, 8),
            "'output insample'' does not say where to go next: write output insample'; goto loop",
        ),
        (Position(4, 13), "'ouput a' does not say where to go next: write output ...; goto rest"),
    ]


@pytest.mark.parametrize("body", ["foo;", "output ;", "x := insample;"])
def test_a_step_without_output_is_not_told_to_go_somewhere(body: str) -> None:
    assert "where to go" not in str(refused(f"(q,1,0): {body}", "dipa"))


def test_misspelt_keywords_only_where_the_keyword_must_stand() -> None:
    assert loads("(got,1,0): outptu := insample; output elsif; goto thn").variables == ("outptu",)


def test_branches_after_a_plain_step_are_read_but_not_counted() -> None:
    text = "(q1,1,0): output a; goto q2 else output b gotto q2"
    first, second = refused(text, "dipa").problems
    assert "expected the next state after 'goto q2', found 'else'" in first.message
    assert "expected ';' after the output, found 'gotto'" in second.message


def test_no_initialization_fault_follows_from_a_syntax_error() -> None:
    error = refused("(q1,1,0): x = insample; output a; goto q2\n" + LOOP, "dipa")
    assert [problem.rule for problem in error.problems] == ["syntax"]


@pytest.mark.parametrize(("text", "fmt"), [("(a," * 300_000, "dipa"), ("(q,1,0): output\n" * 20_000, "dipa")])
def test_many_problems_are_capped(text: str, fmt: str) -> None:
    error = refused(text, fmt)
    assert len(error.problems) == 51
    assert error.problems[-1].message.startswith("and at least")


def test_strict_refuses_overlaps() -> None:
    text = GOOD + "(q2,1,0): if (insample < x) then output a; goto q2 elseif (true) then output b; goto q3"
    assert read(text, "dipa").notes
    problem = refused(text, "dipa", strict=True).problems[0]
    assert problem.rule == "determinism"
    assert "write (insample >= x) for (true)" in problem.message
    covered = (
        GOOD
        + "(q2,1,0): if (insample < x) then output a; goto q2 elseif (insample < x) then output b; goto q3"
    )
    assert "can never be taken" in refused(covered, "dipa", strict=True).problems[0].message


# ------------------------------------------------------------------------------------------------ files


def refused_file(path: Path, fmt: str | None = None) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        read_file(path, fmt)
    assert caught.value.source == str(path)
    return caught.value


def only(error: InvalidInput) -> tuple[str, str]:
    (problem,) = error.problems
    return problem.rule, problem.message


def test_missing_file(tmp_path: Path) -> None:
    assert only(refused_file(tmp_path / "none.dipa")) == ("file", "there is no such file")


def test_directory(tmp_path: Path) -> None:
    none = "no automaton (.dipa or .json) is in this folder"
    assert only(refused_file(tmp_path)) == ("file", none)
    (tmp_path / "empty").mkdir()
    assert only(refused_file(tmp_path)) == ("file", f"{none}, and folders in it are not searched")
    inside = tmp_path / "full"
    inside.mkdir()
    (inside / "svt.dipa").write_text(GOOD)
    more = f"{none}, and folders in it are not searched; {inside} has some"
    assert only(refused_file(tmp_path)) == ("file", more)
    assert only(refused_file(inside)) == ("file", "this is a folder; name a file in it")


@pytest.mark.parametrize("locked", ["", "a"])
def test_directory_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locked: str) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "svt.dipa").write_text(GOOD)

    def refuse(real: Callable[[str], object], folder: str) -> object:
        if Path(folder) == tmp_path / locked:
            raise PermissionError(13, "Permission denied", folder)
        return real(folder)

    for name in ("listdir", "scandir"):
        monkeypatch.setattr(os, name, partial(refuse, getattr(os, name)))
    _, message = only(refused_file(tmp_path))
    if locked:
        assert message.endswith(f"folders in it are not searched; {tmp_path / 'b'} has some")
    else:
        assert message == "this is a folder, in which nothing can be read: Permission denied"


def test_impossible_path() -> None:
    with pytest.raises(InvalidInput, match="cannot read this file"):
        load("a\0b.dipa")


def test_name_too_long(tmp_path: Path) -> None:
    assert "cannot read this file" in only(refused_file(tmp_path / ("x" * 5000)))[1]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path: Path) -> None:
    path = tmp_path / "secret.dipa"
    path.write_text(GOOD)
    path.chmod(0)
    assert only(refused_file(path)) == ("file", "no permission to read this file")


def test_no_permission_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("builtins.open", refuse)
    assert only(refused_file(tmp_path / "secret.dipa"))[0] == "file"


def test_unknown_suffix(tmp_path: Path) -> None:
    path = tmp_path / "svt.txt"
    path.write_text(GOOD)
    rule, message = only(refused_file(path))
    assert rule == "format"
    assert "'.txt'; the known ones are .dipa and .json (or give the format: dipa or json)" in message
    assert read_file(path, "dipa").name == "svt" and load(path, fmt="dipa") == read_file(path, "dipa")


def test_suffix_against_content(tmp_path: Path) -> None:
    path = tmp_path / "svt.json"
    path.write_text(GOOD)
    assert "looks like dipa; rename the file or give the format: dipa" in only(refused_file(path))[1]


def test_no_suffix(tmp_path: Path) -> None:
    path = tmp_path / "svt"
    path.write_text(GOOD)
    assert read_file(path).initial == "q1"
    path.write_text("svt")
    assert (
        "cannot tell the format; name the file .dipa or .json, or give the format: dipa or json"
        in only(refused_file(path))[1]
    )


def test_unknown_formats() -> None:
    with pytest.raises(InvalidInput, match="no format 'xml' to read"):
        loads(GOOD, "xml")
    with pytest.raises(InvalidInput, match="no format 'xml' to write"):
        dumps(loads(GOOD), "xml")
    with pytest.raises(InvalidInput, match="cannot tell the format"):
        detect(None, "")


@pytest.mark.parametrize(
    ("data", "line", "column", "phrase"),
    [
        (b"\x7fELF\0\1", 1, 5, "binary file"),
        (b"(q1,1,0):\n \0 output", 2, 2, "NUL"),
        (b"\0\xff", 1, 1, "NUL"),
        (b"# caf\xe9\n", 1, 6, "byte 0xe9, which is not UTF-8"),
        ("# a\n# ü".encode() + b"\xff", 2, 4, "offset 8"),
        ("(q1)".encode("utf-16"), 1, 1, "UTF-16"),
    ],
)
def test_wrong_encoding(data: bytes, line: int, column: int, phrase: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.dipa"
    path.write_bytes(data)
    (problem,) = refused_file(path).problems
    assert problem.rule == "encoding"
    assert problem.position is not None
    assert (problem.position.line, problem.position.column) == (line, column)
    assert phrase in problem.message


def test_nul_in_a_string() -> None:
    assert "NUL" in refused("a\n\0", "dipa").problems[0].message


def test_oversized_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symdipa.files.formats.MAX_BYTES", 10)
    path = tmp_path / "large.dipa"
    path.write_text(GOOD)
    assert "larger than" in only(refused_file(path))[1]
