"""Runs that stop where no branch holds: whether that is seen or not, in every reader and command."""

from __future__ import annotations

import json
import random
from fractions import Fraction as F
from itertools import product
from math import exp, fsum
from pathlib import Path

import brute_force as judge
import pytest
from click.testing import CliRunner
from conftest import EXAMPLES
from random_automata import random_automaton

import symdipa
from symdipa import analysis
from symdipa.bounds.portfolio import Portfolio, bounds_on
from symdipa.evidence.probability import log_probability
from symdipa.files import formats
from symdipa.files.families import generate
from symdipa.files.formats.halting import halt_shown, stops_unseen, with_halt
from symdipa.interface.cli import cli
from symdipa.model.automaton import Automaton, Guard
from symdipa.model.errors import InvalidInput, NoteKind
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Verdict
from symdipa.runs.problem import Problem

ABOVE = """
(start:non-input, 1/4, 0): t := insample; output ready; goto watch
(watch, 1/2, 0): if (insample < t) then output low; goto watch
"""
"""AboveThreshold without the branch that answers: it stops instead."""
LEAKY = """
(a:non-input, 1/4, 0): x := insample; output start; goto b
(b, 1/4, 0): if (insample < x) then output low; goto b elseif (insample >= x) then output next; goto c
(c:non-input, 1/4, 0): y := insample; output start; goto d
(d, 1/4, 0): if (insample >= y) then output high; goto d elseif (insample < y) then output next; goto e
(e, 1/4, 0): if (insample >= y) then output above; goto end
             elseif (insample < x && insample < y) then output below; goto end
"""


def partial(number: int) -> Automaton:
    """A random automaton without some of its branches."""
    rng = random.Random(f"halting {number}")
    whole = random_automaton(rng, variables=(1, 2), states=(2, 3))
    kept = [t for t in whole.transitions if t.guard.is_true or rng.random() < 0.7]
    return Automaton.build(whole.states, kept, whole.initial)


def test_every_value_has_one_branch_then():
    stopping = 0
    for i in range(150):
        given = partial(i)
        shown = halt_shown(given)
        assert shown.states[: len(given.states)] == given.states
        assert shown.transitions[: len(given.transitions)] == given.transitions
        stopping += shown is not given
        for state, numbers in zip(shown.states, shown.outgoing, strict=True):
            guards = [shown.transitions[t].guard for t in numbers]
            used = sorted({x for guard in guards for x in guard.used})
            for values in product((False, True), repeat=len(used)):
                at_least = {x for x, is_above in zip(used, values, strict=True) if is_above}
                holding = [g for g in guards if g.ge <= at_least and not g.lt & at_least]
                assert len(holding) == (1 if guards else 0), state
        symdipa.dumps(shown)
    assert stopping > 60


def test_what_happens_adds_up_to_one_then():
    """The runs on some inputs have probability 1 altogether if stops are seen."""
    rng = random.Random("sums")
    summed = 0
    for i in range(60):
        shown = halt_shown(partial(i))
        inputs = [F(rng.randint(-3, 3)) for _ in range(3)]
        runs = [
            run
            for run, _ in judge.feasible_runs(shown, 3)
            if len(run) == 3 or (run and not shown.outgoing[shown.index[shown.transitions[run[-1]].target]])
        ]
        if runs and len(runs) < 60:
            whole = fsum(exp(log_probability(shown, run, read(shown, run, inputs)).value) for run in runs)
            assert whole == pytest.approx(1, abs=1e-5)
            summed += 1
    assert summed > 40


def read(automaton: Automaton, run: tuple[int, ...], inputs: list[F]) -> list[F | None]:
    are_inputs = [automaton.state(automaton.transitions[t].source).is_input for t in run]
    return [x if is_input else None for x, is_input in zip(inputs, are_inputs, strict=False)]


def test_the_answer_if_stops_are_seen_is_at_least_as_bad():
    """... and what is said beside the usual answer is that of the automaton with the branches written out."""
    different = 0
    for i in range(80):
        given = partial(i)
        result, shown = (analysis.weigh(given, ["exact"], halt=halt) for halt in (None, "visible"))
        if result.verdict is not Verdict.PRIVATE:
            assert shown.verdict is not Verdict.PRIVATE and result.stopping is None
            continue
        said = [note for note in result.notes if note.kind is NoteKind.STOP_SEEN]
        assert bool(said) == (result.stopping is not None)
        if shown.verdict is not Verdict.PRIVATE:
            assert result.stopping is not None and result.stopping.verdict is shown.verdict
        else:
            assert result.bounds is not None and shown.bounds is not None
            exact, more = (
                bounds_on(Problem.of(a), ["exact"]).best for a in (given, with_halt(given, "visible"))
            )
            assert exact is not None and more is not None and exact <= more
            if said:
                assert more > exact and result.stopping is not None
                assert result.stopping.bounds is not None and result.stopping.bounds.best == more
            else:
                assert more == exact
        different += bool(said)
    assert different > 5


def test_above_threshold_that_stops():
    result = symdipa.check(symdipa.loads(ABOVE))
    assert result.bounds is not None and result.bounds.best == F(1, 4)
    assert result.stopping is not None and result.stopping.bounds is not None
    assert result.stopping.bounds.best == F(5, 4)
    (note,) = result.notes
    assert str(note) == (
        "if it is seen that a run stops, D = 5/4 "
        "(it can stop in watch; 'else output halt; goto halted' there counts that)"
    )
    shown = symdipa.loads(ABOVE, halt="visible")
    stops = (0, 1, 1, 1, 2)
    near, far = (
        log_probability(shown, stops, (None, *ends)).value for ends in ((4, 4, 4, -4), (5, 5, 5, -5))
    )
    assert abs(near - far) > 1.24, "nearly 5/4"


def test_the_remark_on_stops_asks_for_the_exact_constant_first(monkeypatch: pytest.MonkeyPatch):
    """The corollary bound of m-Range is above 1 where stops are seen, its constant is not; no certificate is
    wanted there, so nothing else is tried."""
    tried: list[str] = []

    def refused(self, graph, *_):
        tried.append(graph)

    example = generate("m-range", 4)
    assert (Portfolio(Problem.of(halt_shown(example)))._corollary(None, Limits())) > 1
    monkeypatch.setattr(Portfolio, "_align", refused)
    result = symdipa.check(example)
    assert result.notes == () and result.bounds is not None and result.bounds.best == 1
    assert not tried
    asked = symdipa.check(halt_shown(example), max_weight=1)
    assert asked.bounds is not None and asked.bounds.best == 1
    assert list(dict.fromkeys(tried)) == [
        "control",
        "auto",
    ]  # where the user asks, a bound with a certificate comes first


def test_a_stop_may_be_what_loses_privacy():
    """The sample of a run that stops in ``e`` lies between what two loops compare with."""
    given = symdipa.loads(LEAKY)
    assert stops_unseen(given) == {"e": (Guard(ge=frozenset("x"), lt=frozenset("y")),)}
    seen = symdipa.check(given, halt="visible")
    assert seen.witness is not None and seen.witness.pattern is Pattern.LEAKING_PAIR
    hidden = symdipa.check(given, halt="hidden")
    assert hidden.verdict is Verdict.PRIVATE and hidden.stopping is None and not hidden.notes
    both = symdipa.check(given)
    assert both.verdict is Verdict.PRIVATE and both.stopping is not None
    assert both.stopping.verdict is Verdict.NOT_PRIVATE
    assert "if it is seen that a run stops, it is not private (it can stop in e;" in str(both.notes[-1])


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/*.dipa")), ids=lambda path: path.stem)
def test_nothing_is_said_where_it_makes_no_difference(path: Path):
    assert NoteKind.STOP_SEEN not in {note.kind for note in symdipa.check(symdipa.load(path)).notes}


# Reading and writing


def test_a_file_chooses():
    plain = symdipa.loads(ABOVE)
    assert (
        symdipa.loads("halt visible\n" + ABOVE) == halt_shown(plain) == symdipa.loads(ABOVE, halt="visible")
    )
    hidden = symdipa.loads("# before\n\n  halt hidden # only outputs\n" + ABOVE)
    assert hidden == plain and hidden.halt == "hidden" and not plain.halt
    assert symdipa.loads("halt visible\n" + ABOVE, halt="hidden") == plain
    assert not symdipa.check(hidden).notes
    for fmt in ("dipa", "json"):
        for given in (plain, hidden, symdipa.loads(ABOVE, halt="visible")):
            again = symdipa.loads(symdipa.dumps(given, fmt), fmt)
            assert again == given and (again.halt or "visible") == (given.halt or "visible")
    text = json.loads(symdipa.dumps(plain, "json"))
    assert symdipa.loads(json.dumps({**text, "halt": "visible"}), "json") == halt_shown(plain)


def test_names_that_are_taken_are_left_alone():
    taken = ABOVE.replace("output low", "output halt") + "(halted): output x; goto watch"
    shown = symdipa.loads(taken, halt="visible")
    assert (shown.states[-1].name, shown.transitions[-1].output.symbol) == ("halted2", "halt2")


@pytest.mark.parametrize(
    ("text", "fmt", "place", "message"),
    [
        ("halt seen\n" + ABOVE, "dipa", (1, 6), "halt is hidden or visible, not 'seen'"),
        ("halt hidden\nhalt visible\n" + ABOVE, "dipa", (2, 6), "halt is said once"),
        ("halt\n" + ABOVE, "dipa", (1, 1), "expected a state such as"),
        ('{"halt": "seen"}', "json", (1, 10), '"halt" is hidden or visible'),
        ('{"halt": 1}', "json", (1, 10), '"halt" must be a text'),
    ],
)
def test_what_cannot_be_chosen(text: str, fmt: str, place: tuple[int, int], message: str):
    with pytest.raises(InvalidInput) as refused:
        formats.loads(text, fmt)
    found = [
        p for p in refused.value.problems if p.position and (p.position.line, p.position.column) == place
    ]
    assert any(message in problem.message for problem in found), refused.value.problems


def test_what_is_shown_cannot_be_hidden_again():
    shown = symdipa.loads(ABOVE, halt="visible")
    with pytest.raises(ValueError, match="hide them when it is read"):
        symdipa.check(shown, halt="hidden")
    with pytest.raises(ValueError, match="no halt 'seen'; there are hidden, visible"):
        symdipa.check(shown, halt="seen")


# The commands


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "above.dipa"
    path.write_text(ABOVE)
    return str(path)


def test_commands_say_both_or_one(file: str):
    runner = CliRunner()
    for command in ("check", "weight"):
        shown = json.loads(runner.invoke(cli, [command, "--json", "--halt", "visible", file]).stdout)
        assert shown["notes"] and (command == "weight" or shown["assumed"]["halt"] == "visible")
        found = json.loads(runner.invoke(cli, [command, "--json", file]).stdout)
        assert found["halt_visible"] == {"verdict": "private", "bound": "5/4"}
        assert "if it is seen that a run stops" in " ".join(
            runner.invoke(cli, [command, file]).stdout.split()
        )
        for halt, bound in (("visible", "D = 5/4"), ("hidden", "D = 1/4")):
            said = runner.invoke(cli, [command, "--halt", halt, file]).output
            assert bound in said and "if it is seen that a run stops" not in said
            assert ("it counts as seen that a run stops: as the output halt" in said) == (halt == "visible")


@pytest.mark.parametrize("halt", [(), ("--halt", "visible")])
def test_certificates_say_which_reading_they_prove(file: str, tmp_path: Path, halt: tuple[str, ...]):
    runner, target = CliRunner(), str(tmp_path / "proof.json")
    made = runner.invoke(cli, ["certify", *halt, file, "-o", target])
    assert made.exit_code == 0
    assert ("if it is seen that a run stops" in " ".join(made.stderr.split())) == (not halt)
    for reading in ((), ("--halt", "hidden"), ("--halt", "visible")):
        found = runner.invoke(cli, ["verify", *reading, file, target])
        assert found.exit_code == 0
        assert ("D = 5/4" in found.stdout and "if it is seen that a run stops" in found.stdout) == bool(halt)
    other = tmp_path / "other.dipa"
    other.write_text(ABOVE.replace("1/4", "1/3"))
    assert "[rule automaton]" in runner.invoke(cli, ["verify", str(other), target]).output
