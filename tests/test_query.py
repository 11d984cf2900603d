"""Queries as SMT-LIB text, answered by z3 and by cvc5, which know nothing of symdipa."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import brute_force as judge
import pytest
import random_automata as source
from conftest import EXAMPLES
from query_tools import ABC, abc, cvc5_says, spacer_says, z3_says
from test_brute_force import A_LEAKP, automaton

from symdipa.encodings.catalogue import ENCODINGS, systems
from symdipa.engines.bounded import KInduction, Outcome
from symdipa.evidence.exports.labels import MEANINGS, labels
from symdipa.evidence.exports.query import encode, encode_binary
from symdipa.files import formats
from symdipa.model.automaton import Automaton, Guard, State, Transition
from symdipa.model.errors import EncodingUnavailable, SymdipaError
from symdipa.model.limits import Limits
from symdipa.model.options import QUERY_FORMATS
from symdipa.model.patterns import Pattern
from symdipa.runs.control import control_graph
from symdipa.runs.dataflow import order_facts

LC, LP, DC, PV = Pattern


@cache
def linear(name: str) -> Automaton:
    return formats.load(EXAMPLES / "linear" / f"{name}.dipa")


PAIR = automaton(A_LEAKP, silent="q0 q1")


SOLVERS = [z3_says, cvc5_says]
each_solver = pytest.mark.parametrize("answer", SOLVERS, ids=["z3", "cvc5"])


@cache
def sample(i: int) -> Automaton:
    return source.random_automaton(random.Random(f"query/{i}"), (1, 2, 2), (1, 2, 3))


def depth(example: Automaton, pattern: Pattern, encoding: str, precise: bool) -> int | None:
    """The least number of steps that lead a system to a bad state; ``None`` if there is no violation."""
    control = control_graph(example)
    if judge.decide(example)[pattern] is None:
        return None
    found = systems(pattern, order_facts(control, precise=precise), encoding)
    searches = [KInduction(system, Limits()).run() for system in found]
    return min(search.depth for search in searches if search.outcome is Outcome.UNSAFE)


def cases(count: int) -> list[tuple[int, Pattern, str, bool]]:
    kinds = [(p, e) for p in (LP, PV) for e in ENCODINGS] + [(LC, "marks"), (DC, "marks")]
    return [(i, p, e, r) for i in range(count) for (p, e), r in product(kinds, (False, True))]


# The answers


@each_solver
@pytest.mark.parametrize("reduce", [False, True])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_leakp_by_hand(answer: Callable[[str], str], encoding: str, reduce: bool):
    """Six steps: two that store, one round of each loop, one between them, one that completes the pair."""
    for bound, expected in ((0, "unsat"), (5, "unsat"), (6, "sat"), (8, "sat")):
        assert answer(encode(PAIR, LP, bound, encoding, reduce=reduce)) == expected
    for pattern in (LC, DC, PV):
        assert answer(encode(PAIR, pattern, 6, encoding, reduce=reduce)) == "unsat"


@pytest.mark.parametrize("block", range(3))
def test_answers_are_the_verdict_once_the_bound_allows_it(block: int, tmp_path: Path):
    """Both solvers and ABC, at the least sufficient bound and just below it."""
    seen: Counter[str] = Counter()
    circuits: list[tuple[Path, str]] = []
    answers: list[bool] = []
    for i, pattern, encoding, reduce in cases(12)[block::3]:
        least = depth(sample(i), pattern, encoding, reduce)
        for bound in (4,) if least is None else (least - 1, least):
            if bound < 0:
                continue
            text = encode(sample(i), pattern, bound, encoding, reduce=reduce)
            expected = "sat" if least is not None and bound >= least else "unsat"
            assert z3_says(text) == cvc5_says(text) == expected, (i, pattern, encoding, reduce, bound)
            seen[expected] += 1
            circuits.append((tmp_path / f"{len(circuits)}.aig", "pdr"))
            circuits[-1][0].write_bytes(encode_binary(sample(i), pattern, bound, encoding, reduce=reduce))
            answers.append(expected == "sat")
    if ABC is not None:
        assert abc(*circuits) == answers
    assert min(seen.values()) > 8, seen


def test_horn_clauses_have_the_verdict():
    seen: Counter[str] = Counter()
    for i, pattern, encoding, reduce in cases(6):
        text = encode(sample(i), pattern, encoding=encoding, fmt="chc", reduce=reduce)
        expected = "sat" if judge.decide(sample(i))[pattern] is None else "unsat"
        assert spacer_says(text) == expected, (i, pattern, encoding, reduce)
        seen[expected] += 1
    assert min(seen.values()) > 10, seen


def test_examples_with_two_directions():
    """A violating path is looked for both ways round, in one query."""
    for name in ("num_range_1", "svt_releases_threshold", "num_sparse"):
        example = formats.load(next(EXAMPLES.glob(f"*/{name}.dipa")))
        expected = "unsat" if judge.decide(example)[PV] is None else "sat"
        for encoding, reduce in product(ENCODINGS, (False, True)):
            text = encode(example, PV, 7, encoding, reduce=reduce)
            assert z3_says(text) == cvc5_says(text) == expected


def test_what_the_dataflow_excludes_is_a_query_all_the_same():
    text = encode(formats.load(EXAMPLES / "well_formed" / "svt.dipa"), DC, 4, reduce=True)
    assert z3_says(text) == cvc5_says(text) == "unsat"


@each_solver
def test_runs_may_end_before_the_bound(answer: Callable[[str], str]):
    """Dead ends: the violation is complete at a state without successors, and the bound is far beyond it."""
    rows = "q0 -> q1 [insample] :x \n q1 -> q2 [b] >x :y \n q2 -> q2 [c] <x \n q2 -> end [insample] >x >y"
    example = automaton(rows)
    assert judge.decide(example)[PV] is not None
    for encoding, reduce in product(ENCODINGS, (False, True)):
        assert answer(encode(example, PV, 9, encoding, reduce=reduce)) == "sat"
        assert answer(encode(example, LP, 9, encoding, reduce=reduce)) == "unsat"


# The text


def test_queries_are_self_contained():
    text = encode(PAIR, LP, 3)
    commands = re.findall(r"^\(([a-z-]+)", text, re.MULTILINE)
    assert commands[0] == "set-logic" and commands[-1] == "check-sat"
    assert set(commands) == {"set-logic", "declare-fun", "assert", "check-sat"}
    assert "(set-logic QF_UF)" in text
    assert all(line.startswith((";", "(")) for line in text.splitlines())


def test_the_header_says_what_is_asked():
    named = replace(PAIR, name="A_leakp")
    plain, reduced = (
        encode(named, LP, 3, "ghost", reduce=reduce).splitlines()[0] for reduce in (False, True)
    )
    assert "leaking pair of A_leakp, at most 3 steps, encoding ghost" in plain
    assert "left out" in reduced and "left out" not in plain


def test_names_in_the_query_are_those_of_the_automaton():
    text = encode(PAIR, LP, 2)
    for name in ("loc(q0)@0", "loc(q4)@2", "lt(x,y)@1", "eq(x,y)@1", "up(x)@2", "start@0", "open@1"):
        assert f"(declare-fun |{name}| () Bool)" in text or f"(declare-fun {name} () Bool)" in text
    assert "lt(x,V1)@1" in encode(PAIR, LP, 2, "ghost")


def test_the_text_depends_on_the_arguments_only():
    for encoding, reduce in product(ENCODINGS, (False, True)):
        texts = {encode(automaton(A_LEAKP), LP, 3, encoding, reduce=reduce) for _ in range(3)}
        assert len(texts) == 1


def test_transitions_of_the_core_are_told_by_those_of_the_automaton():
    text = encode(linear("deviation_forever"), LP, fmt="btor2")
    assert "; core 4 to 5: transition 2" in text and "take(4:watch->watch.3.1)" in text
    assert "; -x: the negative of what x holds" in text and "; x~:" not in text
    text = encode(linear("fixed_limit_forever"), PV, fmt="chc")
    assert "; core 0: the constants, before the run begins" in text
    assert "; 0: the low end is a known or shown number, the high end an input that a cycle repeats." in text
    assert "; q#2: " in encode(linear("last_two_forever"), LC, fmt="chc")
    assert "; core" not in encode(PAIR, LP, fmt="chc")


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        *(("deviation_forever", LP), ("hysteresis_band_forever", LP), ("svt_gap_forever", LP)),
        *(("fixed_limit_forever", PV), ("svt_released", PV), ("svt_without_query_noise", PV)),
        *(("last_two_forever", LC), ("svt_gap", LP), ("fixed_limits", PV), ("svt_integer_gap", PV)),
    ],
)
def test_conflicts_on_the_core_are_found_by_other_programs(name: str, pattern: Pattern):
    there = not name.endswith(("_gap", "limits"))
    assert spacer_says(encode(linear(name), pattern, fmt="chc")) == ("unsat" if there else "sat")


def test_reduced_queries_are_smaller():
    for encoding in ENCODINGS:
        full, reduced = (encode(PAIR, LP, 6, encoding, reduce=reduce) for reduce in (False, True))
        assert len(reduced) < len(full)
        assert reduced.count("declare-fun") < full.count("declare-fun")


@pytest.mark.parametrize("fmt", QUERY_FORMATS)
def test_comments_explain_every_name(fmt: str):
    """In all formats: what each kind of name means, and the transitions by number."""
    for pattern, encoding in [(LC, "marks"), (DC, "marks"), *product((LP, PV), ENCODINGS)]:
        for example in (PAIR, *(formats.load(path) for path in sorted(EXAMPLES.glob("*/*_1.dipa")))):
            text = encode(example, pattern, 2 if fmt == "smtlib" else None, encoding, fmt)
            control = control_graph(example)
            for system in systems(pattern, order_facts(control, precise=False), encoding):
                for name in labels(system).all:
                    kind = name.partition("(")[0]
                    assert kind in MEANINGS and MEANINGS[kind] in text
            for t, move in enumerate(example.transitions):
                assert f"transition {t}: {move.source} -> {move.target} if {move.guard.text()}" in text


# Odd names


def renamed(example: Automaton, state: Callable[[str], str], variable: Callable[[str], str]) -> Automaton:
    def steps(t: Transition) -> Transition:
        ge, lt, assign = (frozenset(map(variable, names)) for names in (t.guard.ge, t.guard.lt, t.assign))
        return Transition(state(t.source), state(t.target), t.output, Guard(ge, lt), assign)

    states: tuple[State, ...] = tuple(replace(s, name=state(s.name)) for s in example.states)
    transitions, variables = tuple(map(steps, example.transitions)), tuple(map(variable, example.variables))
    return Automaton(states, state(example.initial), transitions, variables, "odd")


ODD = {
    "spaces": (" {} b", "{} 1 "),
    "bars": ("|{}", "{}||"),
    "backslashes": ("\\{}", "{}\\"),
    "accents and signs": ("é∧😀{}", "∀{}ü"),
    "quotes": ("\"{}'", "'{}\""),
    "comments": (";{}", "{};"),
    "parentheses": ("({}", "{})"),
    "frames": ("{}@0", "{}@1"),
    "keywords": ("let {} true", "assert{}"),
    "lines and tabs": ("\t{}\n", "{}\r\n"),
    "nothing but a mark": ("!{}", "!{}"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_names_give_valid_text(name: str, tmp_path: Path):
    """Names that only the JSON format allows."""
    state, variable = (pattern.format for pattern in ODD[name])
    odd = renamed(PAIR, state, variable)
    example = formats.loads(formats.dumps(odd, "json"), "json")
    assert example == odd
    for encoding, reduce in product(ENCODINGS, (False, True)):
        for bound, expected in ((5, "unsat"), (6, "sat")):
            text = encode(example, LP, bound, encoding, reduce=reduce)
            assert z3_says(text) == cvc5_says(text) == expected
    for encoding, reduce in (("marks", False), ("ghost", True)):
        assert spacer_says(encode(example, LP, None, encoding, "chc", reduce=reduce)) == "unsat"
        circuit = tmp_path / "query.aig"
        circuit.write_bytes(encode_binary(example, LP, None, encoding, reduce=reduce))
        if ABC is not None:
            assert abc((circuit, "pdr")) == [True]
        text = encode(example, LP, None, encoding, "btor2", reduce=reduce)
        lines = [line for line in text.splitlines() if not line.startswith(";")]
        assert all(len(line.split()) == 4 for line in lines if " input " in line or " state " in line)


CLASHES = [
    {"q0": "|", "q1": "!", "q2": "!'", "q3": "|'", "q4": "!''"},
    {"q0": "a\\", "q1": "a/", "q2": "a/'", "q3": "b", "q4": "c"},
]


@pytest.mark.parametrize("states", CLASHES)
def test_names_that_would_become_one_stay_apart(states: dict[str, str]):
    """What cannot be quoted is replaced; two names must not become the same by that."""
    for variables in ({"x": "|", "y": "!"}, {"x": "V1", "y": "V2"}, {"x": "a,b", "y": "a"}):
        example = renamed(PAIR, states.__getitem__, variables.__getitem__)
        for encoding in ENCODINGS:
            for bound, expected in ((5, "unsat"), (6, "sat")):
                text = encode(example, LP, bound, encoding)
                assert z3_says(text) == cvc5_says(text) == expected
                declared = re.findall(r"^\(declare-fun (\|[^|]*\||\S+) ", text, re.MULTILINE)
                assert len(declared) == len(set(declared)) == text.count("declare-fun")


# What cannot be asked


def test_unusable_arguments():
    with pytest.raises(EncodingUnavailable, match="no format 'dimacs'; there are smtlib"):
        encode(PAIR, LP, 3, fmt="dimacs")
    with pytest.raises(EncodingUnavailable, match="no encoding 'magic'; there are marks, ghost"):
        encode(PAIR, LP, 3, "magic")
    with pytest.raises(ValueError, match="the bound must not be negative"):
        encode(PAIR, LP, -1)
    with pytest.raises(EncodingUnavailable, match="smtlib needs a bound; chc, aiger and btor2 ask without"):
        encode(PAIR, LP)
    with pytest.raises(EncodingUnavailable, match="chc asks about runs of any length"):
        encode(PAIR, LP, 3, fmt="chc")
    with pytest.raises(EncodingUnavailable, match="no encoding 'magic'"):
        encode_binary(PAIR, LP, encoding="magic")
    assert issubclass(EncodingUnavailable, SymdipaError)


def test_a_bound_of_zero_asks_about_the_start():
    for pattern, encoding in product(Pattern, ENCODINGS):
        assert z3_says(encode(PAIR, pattern, 0, encoding)) == "unsat"
