"""Texts and JSON that say which entries differ, and what registers hold."""
# ruff: noqa: E501 (the tables read better with one case on a line)

from __future__ import annotations

import json
import random
from fractions import Fraction as F

import jsonschema  # type: ignore[import-untyped]
import pytest
from conftest import ROOT
from random_differ import random_differ

from symdipa import Automaton, InvalidInput, State, Transition, dumps, loads, symbol
from symdipa.files.minimize import Minimizer, size
from symdipa.model.adjacency.differ import ALL, differ
from symdipa.model.automaton import INSAMPLE, Update
from symdipa.model.parts import signed_sum

READ = "(a:read): s := input; output read; goto q\n"
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "symdipa" / "files" / "formats" / "automaton.schema.json").read_text())
)


def said(text: str, fmt: str = "dipa") -> list[tuple[str, tuple[int, int], str]]:
    """The problems of a text: rule, place, message."""
    with pytest.raises(InvalidInput) as refused:
        loads(text, fmt)
    return [
        (p.rule, (p.position.line, p.position.column) if p.position else (0, 0), p.message)
        for p in refused.value.problems
    ]


# ------------------------------------------------------------------------------------------------ what is read


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("", "all"),
        ("differ all", "all"),
        ("differ entries=3", "entries=3"),
        ("differ\t entries = 3  # at most three", "entries=3"),
        ("differ window=10", "window=10"),
        ("differ pattern==*~=*", "pattern==*~=*"),
        ("differ pattern = (=~ | ==){2,3} ~?", "pattern=(=~|==){2,3}~?"),
        ("noise integer\nhalt hidden\ndiffer entries=1", "entries=1"),
        ("differ entries=1\n\n# about inputs\nnoise integer", "entries=1"),
    ],
)
def test_who_may_differ(line: str, read: str) -> None:
    automaton = loads(f"{line}\n(q,1,0): output insample; goto q")
    assert automaton.differ == differ(read)
    assert (automaton.differ == ALL) == (f"\ndiffer {read}\n" not in "\n" + dumps(automaton))
    assert ('"differ"' in dumps(automaton, "json")) == (automaton.differ != ALL)
    for fmt in ("dipa", "json"):
        assert loads(dumps(automaton, fmt), fmt).differ == automaton.differ


def test_a_pattern_that_says_all_is_kept_as_it_is_written() -> None:
    automaton = loads("differ pattern=~*\n(q,1,0): output insample; goto q")
    assert automaton.differ.is_all and str(automaton.differ) == "pattern=~*"
    assert loads(dumps(automaton)).differ.text == "pattern=~*"


def test_what_is_given_counts_instead() -> None:
    text = "differ entries=1\n(q,1,0): output insample; goto q"
    assert loads(text, differ="window=2").differ.text == "window=2"
    assert loads(text, differ=ALL).differ is ALL
    with pytest.raises(ValueError, match="entries= goes up to 1000"):
        loads(text, differ="entries=1001")


@pytest.mark.parametrize(
    ("mean", "number", "registers"),
    [
        ("s", 0, {"s": 1}),
        ("-s", 0, {"s": -1}),
        ("2*s", 0, {"s": 2}),
        ("s*2", 0, {"s": 2}),
        ("1/2*s", 0, {"s": F(1, 2)}),
        ("s/2", 0, {"s": F(1, 2)}),
        ("-2*s/3", 0, {"s": F(-2, 3)}),
        ("s*1/2", 0, {"s": F(1, 2)}),
        ("0.25 * s", 0, {"s": F(1, 4)}),
        ("s + 1/2", F(1, 2), {"s": 1}),
        ("1/2 - s", F(1, 2), {"s": -1}),
        ("-1 + 2*s - r", -1, {"s": 2, "r": -1}),
        ("2*s - r", 0, {"s": 2, "r": -1}),
        ("r\n -s-3", -3, {"s": -1, "r": 1}),
        ("s - 0", 0, {"s": 1}),
    ],
)
def test_means(mean: str, number: F, registers: dict[str, F]) -> None:
    start = "(a:read): s := input, r := 0; output read; goto q\n"
    state = loads(
        f"{start}(q:non-input,1,{mean},exp 1/2,{mean}): output insample, insampleprime; goto q"
    ).state("q")
    assert state.mu == state.mu_prime == number
    assert dict(state.registers) == registers
    assert list(state.registers) == sorted(registers.items())


@pytest.mark.parametrize(
    ("written", "update"),
    [
        ("s := input", Update("s", None, True)),
        ("s += input", Update("s", "s", True)),
        ("s := s + input", Update("s", "s", True)),
        ("s := input + s", Update("s", "s", True)),
        ("s := 0", Update("s")),
        ("s := 0.0", Update("s")),
        ("s := r", Update("s", "r")),
        ("s := r + input", Update("s", "r", True)),
        ("s := input+r", Update("s", "r", True)),
    ],
)
def test_updates(written: str, update: Update) -> None:
    start = "differ entries=1\n(a:read): s := 0, r := input; output read; goto q\n"
    automaton = loads(
        start
        + f"(q,1,s + r): x := insample, {written}, y := x; output insample; goto b (b:read): x := insample; output o; goto q".replace(
            "y := x", "y := 3"
        ).replace("x := insample; output o", "output o")
    )
    move = automaton.transitions[1]
    assert move.updates == (update,) and move.assign == {"x"} and move.copies == (("y", F(3)),)
    assert f"x := insample, y := 3, {update}; output" in dumps(automaton)


def test_registers_are_recognized_anywhere_in_the_text() -> None:
    automaton = loads(
        "differ entries=1\n(a:silent): keep := 0, last := 0, x := 0; output o; goto b\n"
        "(b,1,0): keep := last, last := total, total := input, x := insample; output x; goto c\n"
        "(c:non-input,1,keep): output 'keep', 'x', x, insample; goto b".replace(
            "(a:silent): ", "(a:silent): total := 0, "
        )
    )
    assert set(automaton.registers) == {"keep", "last", "total"} and automaton.variables == ("x",)
    assert loads(dumps(automaton), strict=True) == automaton
    assert "output 'keep', 'x', x, insample" in dumps(automaton)


def test_input_may_be_the_name_of_a_variable() -> None:
    automaton = loads("(a,1,0): input := insample; output o; goto b (b,1,0): x := input; output x; goto b")
    assert automaton.variables == ("input", "x") and not automaton.registers
    assert loads(dumps(automaton)) == automaton
    assert loads("(q:input,1,0): output input; goto q").transitions[0].output == symbol("input")


# ------------------------------------------------------------------------------------------- what is refused

Q = READ + "(q,1,0): "
WRONG = [
    # A register that is used like a variable.
    (
        Q + "if (insample >= s) then output o; goto q",
        "registers",
        (2, 26),
        "compares s, a register, which has no noise: let a state draw it",
    ),
    (
        Q + "x := insample; output o; goto r (r:silent): if (x < 2 - s) then output o; goto q",
        "registers",
        (2, 66),
        "compares s",
    ),
    (Q + "output s; goto q", "registers", (2, 17), "(a symbol of this name is written 's')"),
    (Q + "output high, insample - s; goto q", "registers", (2, 34), "shows s, a register"),
    (
        Q + "x := insample; output o; goto r (r:silent): x := s; output o; goto q",
        "registers",
        (2, 59),
        "x := s of the transition r -> q stores s, a register",
    ),
    (
        Q + "s := insample; output o; goto q",
        "registers",
        (2, 10),
        "registers hold sums of entries, variables hold samples and constants: use two names",
    ),
    (
        Q + "s := 5; output o; goto q",
        "registers",
        (2, 10),
        "it is set to 0 if to any number, and a constant is added in the mean",
    ),
    (
        Q + "x := insample; output o; goto r (r:read): s := x; output o; goto q",
        "registers",
        (2, 57),
        "s is a register, and x is none",
    ),
    (
        "(a,1,0): x := insample; output o; goto q (q,1,x): output o; goto q",
        "syntax",
        (1, 47),
        "x is a variable: in a mean there are only registers",
    ),
    # An update that there is not.
    (
        Q + "s -= input; output o; goto q",
        "syntax",
        (2, 10),
        "'s -= input': nothing is subtracted from a register",
    ),
    (Q + "s *= 2; output o; goto q", "syntax", (2, 10), "write for instance 2*s in a mean"),
    (
        Q + "s := 2*input; output o; goto q",
        "syntax",
        (2, 10),
        "'s := 2*input': a register holds entries as they are: write the factor in a mean, as 2*s",
    ),
    (Q + "s := input/2; output o; goto q", "syntax", (2, 10), "write the factor in a mean"),
    (Q + "s := s - input; output o; goto q", "syntax", (2, 10), "write the sign in a mean, as -s"),
    (Q + "s := -input; output o; goto q", "syntax", (2, 10), "write the sign in a mean"),
    (Q + "s := input + input; output o; goto q", "syntax", (2, 10), "an entry is taken once"),
    (
        Q + "s := s + 3; output o; goto q",
        "syntax",
        (2, 10),
        "a register holds no constants but 0: add them in a mean, as s + 3",
    ),
    (Q + "r := s, s := r + s; output o; goto q", "syntax", (2, 18), "registers are added in a mean"),
    (
        Q + "s += r; output o; goto q",
        "syntax",
        (2, 10),
        "a register becomes input, another register, that plus input, or 0",
    ),
    (Q + "s += ; output o; goto q", "syntax", (2, 10), "'s +='"),
    (
        Q + "s := ; output o; goto q",
        "syntax",
        (2, 15),
        "expected 'input', a register or 0 as the value of s, found ';'",
    ),
    (
        Q + "s := 0, s := input; output o; goto q",
        "registers",
        (2, 18),
        "s is updated twice in one step, s := 0 and s := input",
    ),
    (Q + "s := s; output o; goto q", "registers", (2, 10), "changes nothing"),
    (
        READ + "(q:silent): s += input; output o; goto q",
        "registers",
        (2, 13),
        "q reads no input; update s in the step that reads it",
    ),
    (
        READ + "(q:non-input,1,s): output o; goto r (r:silent): s := input; output o; goto q",
        "registers",
        (2, 49),
        "or make r a state that reads, for instance (r:read)",
    ),
    # A mean that there is not.
    (
        READ + "(q:silent,1,s): output o; goto q",
        "parameters",
        (2, 11),
        "draws no sample, so it has no noise and no mean",
    ),
    (
        READ + "(q,1,input): output o; goto q",
        "syntax",
        (2, 6),
        "in an input state the entry that is read is added by itself",
    ),
    (READ + "(q,1,s + input): output o; goto q", "syntax", (2, 10), "kept in a register (s := input)"),
    (READ + "(q,1,insample): output o; goto q", "syntax", (2, 6), "there are no samples in a mean"),
    (READ + "(q,1,2s): output o; goto q", "syntax", (2, 6), "'2s': a product is written with *, as 2*s"),
    (READ + "(q,1,s*s): output o; goto q", "syntax", (2, 8), "without products of them"),
    (READ + "(q,1,1/s): output o; goto q", "syntax", (2, 8), "nothing is divided by a register"),
    (READ + "(q,1,s/0): output o; goto q", "number", (2, 6), "'s/0' divides by zero"),
    (READ + "(q,1,0*s): output o; goto q", "syntax", (2, 6), "'0*s' is always 0; leave it out"),
    (
        READ + "(q,1,s + 2*s): output o; goto q",
        "syntax",
        (2, 10),
        "s stands twice in this mean; give it one factor",
    ),
    (READ + "(q,1,1 + s + 1): output o; goto q", "syntax", (2, 14), "a mean has one number"),
    (READ + "(q,1,s+): output o; goto q", "syntax", (2, 8), "expected a number or a register, found ')'"),
    (
        READ + "(q,1,s 3): output o; goto q",
        "syntax",
        (2, 8),
        "a mean is a sum of multiples of registers and a number",
    ),
    (
        READ + "(q,1,sum): output o; goto q",
        "syntax",
        (2, 6),
        "('sum := input' or 'sum := 0' makes it one), found 'sum'",
    ),
    (
        "(a:read): total := input; output o; goto q (q,1,totl): output o; goto q",
        "syntax",
        (1, 49),
        "did you mean 'total'?",
    ),
    (READ + "(q,1," + "2*" * 9 + "s): output o; goto q", "syntax", (2, 6), "a register has one factor"),
    (READ + "(q,s,0): output o; goto q", "syntax", (2, 4), "expected a number"),
    (
        READ + "(q,1,s,1,2*s): output insample; goto q",
        "registers",
        (2, 10),
        "both means of a state have the same registers, each with the same factor: after s, write s here",
    ),
    (READ + "(q,1,s,1,3): output insample; goto q", "registers", (2, 10), "after s, write s + 3 here"),
    (
        "noise integer\n" + READ + "(q,1,s/2): output insample; goto q",
        "integer",
        (3, 6),
        "the factor 1/2 of register s in state q is no integer",
    ),
    # Registers without a value.
    (
        "(q,1,s): s := 0; output insample; goto q",
        "set-first",
        (1, 6),
        "on the path q no transition sets it, and then the mean of q reads it; set it first, as s := 0 does",
    ),
    (
        "(a:read): s += input; output o; goto q (q,1,s): output insample; goto q",
        "set-first",
        (1, 11),
        "and then the update s += input of the transition a -> q reads it",
    ),
    # Sums without bound.
    (
        "(a:silent): s := 0; output o; goto q\n(q,1,s): s += input; output insample; goto q",
        "sums",
        (2, 10),
        "the sum in register s may differ by more and more (differ all): the loop q -> q adds",
    ),
    # Lines on top.
    (
        "differ entries=0\n" + Q + "output o; goto q",
        "differ",
        (1, 16),
        "entries= is followed by a whole number from 1 on, not '0'",
    ),
    (
        "differ window = x\n" + Q + "output o; goto q",
        "differ",
        (1, 17),
        "window= is followed by a whole number",
    ),
    (
        "differ none\n" + Q + "output o; goto q",
        "differ",
        (1, 8),
        "which entries differ is all, entries=K, window=W or pattern=RE, not 'none'",
    ),
    ("differ pattern==*(~\n" + Q + "output o; goto q", "differ", (1, 18), "the parenthesis is not closed"),
    ("differ pattern==*~x\n" + Q + "output o; goto q", "differ", (1, 19), "'x' is not known here"),
    ("differ entries=1\ndiffer all\n" + Q + "output o; goto q", "syntax", (2, 8), "differ is said once"),
    ("differ 'entries=1'\n" + Q + "output o; goto q", "spelling", (1, 8), "stands without quotes"),
    (
        Q + "output o; goto q\ndiffer entries=1",
        "syntax",
        (3, 1),
        "a line that begins with differ stands before the states",
    ),
]


@pytest.mark.parametrize(
    ("text", "rule", "place", "phrase"), WRONG, ids=[f"{i}-{case[1]}" for i, case in enumerate(WRONG)]
)
def test_wrong_texts(text: str, rule: str, place: tuple[int, int], phrase: str) -> None:
    found = said(text)
    assert len(found) == 1, found
    assert found[0][:2] == (rule, place) and phrase in found[0][2], found


def test_one_fault_hides_no_other() -> None:
    found = said(
        "differ entries=0\n"
        "(a:read): s := 2*input, r += r; output o; goto b\n"
        "(b,1,s + input): s -= input; output s; goto c\n"
        "(c:silent): s += input; output s; goto a\n"
    )
    assert [place for _, place, _ in found] == [(1, 16), (2, 11), (2, 25), (3, 10), (3, 18), (4, 13), (4, 32)]


def test_long_texts_are_refused_quickly() -> None:
    """Sums of many numbers, many registers, and many copies of each other."""
    many = " + ".join(f"r{k}" for k in range(3_000))
    zero = ", ".join(f"r{k} := 0" for k in range(3_000))
    assert said(f"(a:silent): {zero}; output o; goto b (b,1,{many} + 1/3 + 1/7): output insample; goto b")
    passed = ", ".join(f"r{k + 1} := r{k}" for k in range(3_000))
    assert said(f"(a:read): r0 := input, {passed}; output o; goto a")


# ---------------------------------------------------------------------------------------------- round trips


def test_random_automata_are_written_and_read() -> None:
    rng, refused = random.Random(15), 0
    for _ in range(300):
        automaton = random_differ(rng)
        written = dumps(automaton, "json")
        assert SCHEMA.is_valid(json.loads(written)), written
        assert loads(written, "json") == automaton
        assert dumps(automaton, "dot").startswith("digraph")
        try:
            text = dumps(automaton)
        except InvalidInput as error:
            assert "is a register, as it is in no mean and gets no input" in str(error)
            refused += 1
            continue
        again = loads(text, strict=True)
        assert again.differ == automaton.differ and again.integer == automaton.integer
        assert again.states[0].name == automaton.initial and set(again.states) == set(automaton.states)
        assert set(again.transitions) == set(automaton.transitions), text
        assert loads(dumps(again)) == again
    assert refused < 100


MEANS = random.Random(3)


@pytest.mark.parametrize("_", range(40))
def test_a_mean_is_read_as_it_is_written(_: int) -> None:
    names = MEANS.sample(["s", "r", "total", "ß", "x1"], MEANS.randint(1, 4))
    factors = {name: F(MEANS.choice([-3, -1, 1, 2, 7]), MEANS.choice([1, 1, 2, 5])) for name in names}
    number = F(MEANS.randint(-3, 3), MEANS.choice([1, 2]))
    parts = [*((factor, name) for name, factor in factors.items()), (number, "")]
    MEANS.shuffle(parts)
    zero = ", ".join(f"{name} := 0" for name in names)
    state = loads(
        f"(a:silent): {zero}; output o; goto q (q,1,{signed_sum(parts)}): output insample; goto q"
    ).state("q")
    assert (state.mu, dict(state.registers)) == (number, factors)


def raw(*updates: Update, mean: tuple[tuple[str, F | int], ...] = (), **state: F | None) -> Automaton:
    states = State("a", draws=False), State("q", True, state.get("d", F(1)), registers=mean)
    moves = Transition("a", "q", symbol("o"), updates=updates), Transition("q", "q", symbol("o"))
    return Automaton.build(states, moves)


@pytest.mark.parametrize(
    ("automaton", "phrase"),
    [
        (raw(Update("s"), Update("r")), "cannot express that 'r' is a register, as it is in no mean"),
        (raw(Update("if"), mean=(("if", 1),)), "cannot express the register 'if'"),
        (raw(Update("inf"), mean=(("inf", 1),)), "cannot express the register 'inf'"),
        (raw(Update("my sum"), mean=(("my sum", 1),)), "cannot express the register 'my sum'"),
        (raw(Update("s"), mean=(("s", 1),), d=None), "cannot leave out one scale of state q"),
    ],
)
def test_what_only_json_can_say(automaton: Automaton, phrase: str) -> None:
    with pytest.raises(InvalidInput, match=phrase):
        dumps(automaton)
    assert loads(dumps(automaton, "json"), "json") == automaton


# ------------------------------------------------------------------------------------------------------- JSON

JSON = """{{"format": "symdipa-automaton", "version": 1, "initial": "a", {more}
"states": [{{"name": "a", "draws": false}}, {{"name": "q", "d": 1, "registers": {mean}}}],
"transitions": [{{"from": "a", "to": "q", "output": {{"symbol": "o"}}, "updates": {updates}}},
{{"from": "q", "to": "q", "output": {{"real": "insample"}}}}]}}"""


def as_json(
    more: str = "", mean: str = '{"s": "2"}', updates: str = '[{"register": "s", "adds_input": true}]'
) -> str:
    return JSON.format(more=more, mean=mean, updates=updates)


def test_json() -> None:
    automaton = loads(as_json('"differ": "entries=2",'), "json")
    assert automaton.differ.text == "entries=2" and automaton.state("q").registers == (("s", F(2)),)
    assert automaton.transitions[0].updates == (Update("s", None, True),)
    assert automaton.transitions[1].output == INSAMPLE
    assert loads(as_json(updates='[{"register": "s"}, {"register": "t"}]'), "json").transitions[
        0
    ].updates == (Update("s"), Update("t"))


@pytest.mark.parametrize(
    ("text", "rule", "line", "phrase"),
    [
        (as_json('"differ": "entries=0",'), "differ", 1, "from 1 on"),
        (as_json('"differ": 1,'), "schema", 1, '"differ" must be a text'),
        (as_json(mean='["s"]'), "schema", 2, '"registers" must be an object such as {"s": "2"}, not a list'),
        (as_json(mean='{"s": "x"}'), "number", 2, "'x' is not a number"),
        (as_json(mean='{"s": "0"}'), "registers", 2, "the factor of register s in state q is 0"),
        (as_json(mean='{"s": 1, "t": 1}'), "set-first", 2, "register t is read before it is set"),
        (as_json(updates='[{"register": "s", "to": "r"}]'), "schema", 3, "an update has no key 'to'"),
        (as_json(updates="[{}]"), "schema", 3, 'an update needs the key "register"'),
        (
            as_json(updates='[{"register": "s", "from": "s"}]'),
            "registers",
            3,
            "s := s of the transition a -> q changes nothing",
        ),
        (
            as_json(updates='[{"register": "s"}, {"register": "s"}]'),
            "registers",
            3,
            "updates s twice, s := 0 and s := 0",
        ),
        (as_json('"variables": ["s"],'), "registers", 1, "register s is listed as a variable"),
    ],
)
def test_wrong_json(text: str, rule: str, line: int, phrase: str) -> None:
    found = said(text, "json")
    assert any(r == rule and at[0] == line and phrase in message for r, at, message in found), found


# --------------------------------------------------------------------------------------------------- minimize


def test_what_does_not_matter_is_taken_away() -> None:
    automaton = loads(
        "differ entries=2\n(a:read): s := input, r := 0; output o; goto b\n"
        "(b,1,s + 3*r): s += input, r := s; output insample; goto b\n"
    )

    def interesting(candidate: Automaton) -> bool:
        return any(candidate.state(move.source).registers for move in candidate.transitions)

    search = Minimizer(automaton, interesting)
    assert search.starts() and search.run()
    assert size(search.best) < size(automaton)
    assert [register for state in search.best.states for register in state.registers] == [("s", 1)]
    assert search.best.differ == ALL and all(
        str(u) == f"{u.register} := 0" for t in search.best.transitions for u in t.updates
    )
