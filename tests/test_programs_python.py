"""Mechanisms from Python and on the command line: settings, names, and what can be written in a program."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from fractions import Fraction

import pytest
from conftest import ROOT
from hidden_programs import ARGMAX, HIDDEN, of_integers, two_largest
from programs_lockstep import Tape, Walk, shown_by_program

import symdipa
import symdipa.programs.loading
from symdipa import InvalidInput, Verdict, laplace, mechanism
from symdipa.model.parts import Noise
from symdipa.programs.automaton import translated
from symdipa.programs.loading import mechanisms_in
from symdipa.programs.python.run import PythonProgram


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
    assert result.verdict is Verdict.PRIVATE
    assert result.bounds.best == 1
    assert len(symdipa.check(svt).automaton.states) == len(symdipa.check(svt, c=2).automaton.states) + 1


def test_settings_that_it_does_not_have():
    with pytest.raises(InvalidInput, match="svt has no parameter d"):
        symdipa.check(svt, d=2)
    with pytest.raises(TypeError, match="d is neither an option nor"):
        symdipa.check(symdipa.generate("svt", 1), d=2)


@mechanism
def first_of(queries, threshold, *, offset=Fraction(1, 2)):
    """A closure, a generator that is delegated to, and a single number as a parameter."""
    t = threshold + laplace(2)

    def above(q):
        return q + laplace(4) >= t + offset

    def answers():
        for q in queries:
            yield above(q)
            if above(q):
                return

    yield from answers()


def test_inner_functions_and_generators_are_followed():
    automaton = first_of.automaton()
    assert [state.d for state in automaton.states if state.draws] == [
        Fraction(1, 2), Fraction(1, 4), Fraction(1, 4),
    ]  # fmt: skip
    assert {t.output.symbol for t in automaton.transitions} == {"read", "quiet", "True", "False"}


@mechanism(differ="entries=1", integer=True, halt="visible")
def options(queries, *, bins=2):
    for i in range(bins):
        if next(queries) + laplace(1) >= 3:
            yield i


def test_what_holds_for_a_mechanism_holds_for_its_automaton():
    automaton = options.automaton()
    assert automaton.integer
    assert automaton.differ.text == "entries=1"
    assert automaton.halt == "visible"


def test_wrong_options_are_refused():
    with pytest.raises(ValueError, match="which entries differ"):
        mechanism(differ="nobody")(lambda q: q)
    with pytest.raises(ValueError, match="halt"):
        mechanism(halt="never")(lambda q: q)
    with pytest.raises(TypeError, match="before a function"):
        mechanism(3)


def test_noise_outside_of_a_run():
    with pytest.raises(RuntimeError, match="@mechanism"):
        laplace(1)


def symdipa_says(*arguments):
    command = [sys.executable, "-m", "symdipa", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120)


def test_the_command_line_reads_programs():
    file = "examples/programs/sparse_vector.py"
    done = symdipa_says("check", "-q", f"{file}:svt", "--set", "c=2")
    assert (done.returncode, done.stdout) == (0, f"{file}:svt: private, D = 1 (corollary bound)\n")
    done = symdipa_says("certify", file)
    assert done.returncode == 2
    assert "there are several mechanisms: svt, " in done.stderr
    done = symdipa_says("check", "-q", f"{file}:svt", "--set", "2")
    assert done.returncode == 2
    assert "a setting is written NAME=VALUE" in done.stderr
    done = symdipa_says("check", "-q", f"{file}:svt", "--format", "dipa")
    assert "leave out --format" in done.stderr
    done = symdipa_says("check", "-q", "examples/well_formed/svt.dipa", "--set", "c=2")
    assert "--set is for programs" in done.stderr


TWO = """\
{above}
@{decorator}
def first(q):
    yield q + laplace(1)


@{decorator}(differ="entries=1")
def second(q):
    yield q + laplace(2)
{below}
"""


@pytest.mark.parametrize(
    ("above", "decorator", "below", "names"),
    [
        ("from symdipa import laplace, mechanism", "mechanism", "", ["first", "second"]),
        ("from symdipa import laplace, mechanism as m", "m", "", ["first", "second"]),
        ("from symdipa import *", "mechanism", "", ["first", "second"]),
        ("import symdipa\nlaplace = symdipa.laplace", "symdipa.mechanism", "", ["first", "second"]),
        ("import symdipa as s\nlaplace = s.laplace", "s.mechanism", "@s.mechanism\ndef f(q):\n    yield q",
         ["first", "second", "f"]),
        ("from symdipa import laplace, mechanism", "mechanism", "third = mechanism(lambda q: q)", []),
        ("from symdipa import laplace, mechanism", "mechanism", "made = mechanism", []),
        ("from symdipa import laplace, mechanism", "mechanism", "if x:\n @mechanism\n def f(q): pass", []),
        ("from other import laplace, mechanism", "mechanism", "", []),
        ("from symdipa import laplace, mechanism", "mechanism", "((", []),
    ],
)  # fmt: skip
def test_the_mechanisms_of_a_file_are_told_by_its_text(above, decorator, below, names, tmp_path):
    file = tmp_path / "two.py"
    file.write_text(TWO.format(above=above, decorator=decorator, below=below), encoding="utf-8")
    assert mechanisms_in(str(file)) == ([f"{file}:{name}" for name in names] or [str(file)])


def test_what_is_no_file_with_several_mechanisms_stands_for_itself(tmp_path):
    file = tmp_path / "one.py"
    file.write_text(
        "from symdipa import mechanism\n\n@mechanism\ndef only(q):\n    yield q\n", encoding="utf-8"
    )
    for name in (
        str(file),
        f"{file}:only",
        f"{file}:other",
        str(tmp_path / "none.py"),
        "svt.dipa",
        "x.c",
        "-",
    ):
        assert mechanisms_in(name) == [name]


def test_all_mechanisms_of_a_file_are_checked():
    file = "examples/programs/sparse_vector.py"
    names = ["svt", "without_cutoff", "without_query_noise", "threshold_shown"]
    done = symdipa_says("check", "-q", file, f"{file}:svt", "--set", "c=2")
    assert done.returncode == 2  # not all of them have such a parameter
    assert [line.split(": ")[0] for line in done.stdout.splitlines()] == [
        f"{file}:{name}" for name in ("svt", "threshold_shown", "svt")
    ]
    assert done.stderr.count("has no parameter c") == 2
    done = symdipa_says("check", "--json", file)
    assert done.returncode == 1
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["file"] for each in found] == [f"{file}:{name}" for name in names]
    assert [each["verdict"] for each in found] == ["private", *["not-private"] * 3]
    done = symdipa_says("witness", "--svg", "run.svg", file)
    assert done.returncode == 2
    assert f"--svg draws one file; there are {file}:svt, " in done.stderr


def test_what_a_program_prints_while_it_is_loaded_is_no_part_of_a_report(tmp_path):
    file = tmp_path / "loud.py"
    file.write_text(
        "from symdipa import laplace, mechanism\nprint('hello')\n"
        "@mechanism\ndef loud(queries):\n    yield next(queries) + laplace(1)\n",
        encoding="utf-8",
    )
    done = symdipa_says("check", "-q", str(file))
    assert done.stdout == f"{file}: private, D = 1 (run bound)\n"
    assert done.stderr == "hello\n"


def test_a_program_that_never_ends_is_ended_by_a_time_limit(tmp_path):
    file = tmp_path / "slow.py"
    file.write_text(
        "from symdipa import laplace, mechanism\n"
        "@mechanism\ndef slow(queries):\n"
        "    n = sum(1 for _ in iter(int, 1))\n    yield next(queries) + laplace(n)\n",
        encoding="utf-8",
    )
    done = symdipa_says("check", "-q", str(file), "--timeout", "2")
    assert done.returncode == 3
    assert "time limit" in done.stdout


@mechanism
def between(queries):
    for q in queries:
        yield 0 < q < 1


def test_reals_lie_between_integers():
    """A value without noise that is not an integer either: all three answers are possible."""
    shown = {(str(t.guard), str(t.output)) for t in between.automaton().transitions}
    assert shown == {
        ("insample < 1 && insample > 0", "True"),
        ("insample >= 1", "False"),
        ("insample <= 0", "False"),
    }


def shown_on_both_sides(mechanism, rng):
    """What a mechanism shows on random inputs and noise, and what its automaton does."""
    translation = translated(PythonProgram(mechanism, {}))
    for _ in range(60):
        entries = [Fraction(rng.randint(-9, 9), 1 if mechanism.integer else 7) for _ in range(12)]
        tape = Tape(rng, mechanism.integer)
        expected = shown_by_program(mechanism, [list(entries)], tape, {})
        yield expected, Walk(translation.automaton, entries, tape, translation.symbols).outputs(len(expected))


@pytest.mark.parametrize("mechanism", [*HIDDEN, *ARGMAX, two_largest, of_integers], ids=lambda m: m.__name__)
def test_what_cannot_be_seen_is_not_forgotten(mechanism):
    """Functions that are run by ``max``, ``zip`` and others, which keep values that no variable has."""
    shown = [pair for seed in range(3) for pair in shown_on_both_sides(mechanism, random.Random(seed))]
    assert all(found == expected for expected, found in shown)
    assert len({str(expected) for expected, _ in shown}) > 1


@pytest.mark.parametrize("mechanism", ARGMAX, ids=lambda m: m.__name__)
def test_the_largest_is_found_in_many_ways(mechanism):
    result = symdipa.check(mechanism, k=2)
    assert (result.verdict, result.bounds.best) == (Verdict.PRIVATE, 1)
    shown = {t.output.symbol for t in mechanism.automaton(k=4).transitions}
    assert {"_0", "_1", "_2", "_3"} <= shown <= {"_0", "_1", "_2", "_3", "read"}


def test_generators_that_are_asked_directly_keep_states_apart_from_what_is_over():
    """``any`` keeps nothing, so that a generator in it is as good as a loop."""

    @mechanism
    def watched(queries):
        t = laplace(2)

        def answers():
            for q in queries:
                yield q + laplace(4) >= t

        yield any(answers())

    assert len(watched.automaton().states) == 5


def test_a_run_that_differs_from_an_earlier_one_is_found_out():
    class Odd:
        def __init__(self):
            self.count = 0

        def __eq__(self, other):
            type(self).times += 1
            return type(self).times % 2 == 0

        times = 0

    odd = Odd()

    @mechanism
    def changing(queries):
        for q in queries:
            if odd == 1:
                yield "x" if q + laplace(1) >= 0 else "y"
            yield "z" if q + laplace(2) >= 0 else "w"

    with pytest.raises(InvalidInput, match=r"does not do the same when it is run again|odd was changed"):
        changing.automaton()


# ------------------------------------------------------------------- what was shown, in a new comparison

ANSWERED_AGAIN = """
from symdipa import exponential, laplace, mechanism


@mechanism
def recompute(queries, *, limit=2):
    t = laplace(2)
    out, count = 0, 0
    for q in queries:
        {question}
            out = q + laplace(4)
            yield out
            count += 1
            if count == limit:
                return
            t = {threshold}
        else:
            yield "same"
"""


@pytest.mark.parametrize(
    ("question", "threshold"),
    [
        ("if q - out + laplace(8) >= t:", "laplace(2)"),
        ("if q + laplace(8) >= t + out:", "laplace(2)"),
        ("if t <= laplace(8) + (q - out):", "laplace(2)"),
        ("noisy = q + laplace(8) - out\n        if noisy >= t:", "laplace(2)"),
        ("if abs(q - out + laplace(8)) >= t:", "laplace(2)"),
        ("if q + laplace(8) >= t:", "out + laplace(2)"),
    ],
)
def test_what_was_shown_is_taken_in_by_a_new_sample(question, threshold, tmp_path):
    """Each answer costs 1/2 for the threshold, 2/8 for the comparison and 1/4 for the number."""
    file = tmp_path / "recompute.py"
    file.write_text(ANSWERED_AGAIN.format(question=question, threshold=threshold), encoding="utf-8")
    result = symdipa.weigh(symdipa.programs.loading.read_program(str(file)))
    assert result.verdict is Verdict.PRIVATE
    assert result.bounds.best == result.bounds.lower == 2
    one = symdipa.weigh(symdipa.programs.loading.read_program(str(file), {"limit": 1}))
    assert one.bounds.best == one.bounds.lower == 1


def test_one_sided_noise_does_not_take_in_what_was_shown(tmp_path):
    file = tmp_path / "recompute.py"
    file.write_text(
        ANSWERED_AGAIN.format(question="if q - out + exponential(8) >= t:", threshold="laplace(2)"),
        encoding="utf-8",
    )
    with pytest.raises(InvalidInput, match="a sum of noisy values is compared"):
        symdipa.programs.loading.read_program(str(file))


@mechanism
def below_or_between(queries):
    low, high = laplace(2), laplace(3)
    for q in queries:
        noisy = q + laplace(2)
        if noisy < high and noisy >= low:
            yield "between"
        elif noisy < low:
            yield "below"
        else:
            yield "above"


def test_what_was_asked_too_early_makes_no_other_branch():
    transitions = below_or_between.automaton().transitions
    branches = {(str(t.output), str(t.guard)) for t in transitions if t.guard.compares_sample}
    assert branches == {
        ("between", "insample >= low && insample < high"),
        ("below", "insample < low"),
        ("above", "insample >= high && insample >= low"),
    }


@mechanism
def rising(queries):
    """Entries that are compared as they are."""
    queries = iter(queries)
    last = next(queries)
    yield "first"
    for q in queries:
        if q >= last:
            yield "up"
        else:
            yield "down"
        last = q


def test_entries_that_are_compared_are_drawn_where_they_are_read():
    automaton = rising.automaton()
    assert {(state.is_input, state.noise) for state in automaton.states} == {(True, Noise.NONE)}
    assert not any(state.registers for state in automaton.states)
    branches = {(str(t.output), str(t.guard)) for t in automaton.transitions}
    assert branches == {("first", "true"), ("up", "insample >= last"), ("down", "insample < last")}


@mechanism
def twice_as_large(queries):
    queries = iter(queries)
    first = next(queries)
    yield "first"
    for q in queries:
        if q >= 2 * first:
            yield "large"


def test_multiples_of_entries_are_compared_by_their_difference():
    automaton = twice_as_large.automaton()
    [state] = [state for state in automaton.states if state.registers]
    assert sorted(factor for _, factor in state.registers) == [Fraction(-1, 2), 1]


@mechanism
def answers(queries):
    """Each answer above is drawn anew, around the same entry."""
    t = laplace(2)
    for q in queries:
        if q + laplace(4) >= t:
            yield q + laplace(6)
            return
        yield "below"


def test_a_second_sample_that_is_shown_at_once_is_no_step():
    automaton = answers.automaton()
    [state] = [state for state in automaton.states if state.d_prime]
    assert (state.d, state.d_prime) == (Fraction(1, 4), Fraction(1, 6))
    assert automaton.origin.code(automaton.origin.seconds[state.name]) == "yield q + laplace(6)"
    outputs = {str(t.output) for t in automaton.transitions if t.source == state.name}
    assert outputs == {"insampleprime", "below"}
    assert automaton.shows_steps


@mechanism
def kept(queries):
    """The second sample is compared later, so it is a step of its own."""
    t = laplace(2)
    queries = iter(queries)
    q = next(queries)
    if q + laplace(4) >= t:
        t = q + laplace(6)
        yield t
    yield "high" if next(queries) + laplace(8) >= t else "low"


def test_a_second_sample_that_is_kept_is_a_step():
    assert not any(state.d_prime for state in kept.automaton().states)


@mechanism
def asked_before(queries):
    t = laplace(2)
    yield "begun"
    for _ in queries:
        if t < 1:
            yield "small"
        else:
            yield "large"
            return


def test_a_question_before_an_entry_is_read_is_no_step():
    states = asked_before.automaton().states
    assert [(state.is_input, state.draws) for state in states[:2]] == [(False, True), (True, False)]
    assert [state.name for state in states[2:]] == ["ended"]


@mechanism
def mirrored(queries):
    """A comparison with ``-z`` that decides nothing: the order of values that it tells is no violation."""
    x = laplace(2)
    z = next(queries) + laplace(4)
    yield x - z
    while next(queries) + laplace(2) >= x:
        yield "above"
    noisy = next(queries) + laplace(2)
    if noisy < z and noisy >= x:
        yield "between"
    elif noisy < -z and noisy >= z:
        yield "mirrored"
    elif noisy < x and noisy < z:
        yield "below"


def test_what_decides_nothing_is_no_violation():
    shown = [str(t.output) for t in mirrored.automaton().transitions]
    assert shown.count("below") == 1
    assert symdipa.check(mirrored).verdict is Verdict.PRIVATE
