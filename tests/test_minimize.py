"""Delta debugging: the result is valid, interesting and 1-minimal; the command; what ``compare`` saves."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import random_automata as source
from click.testing import CliRunner
from conftest import EXAMPLES, ROOT, Run
from hypothesis import given, settings
from hypothesis import strategies as st

from symdipa import analysis
from symdipa.engines.explicit import ExplicitEngine
from symdipa.engines.symbolic import SymbolicEngine
from symdipa.files import formats
from symdipa.files.minimize import CHANGES, PLAIN, Minimizer, in_words, size, tidy
from symdipa.interface.cli import cli, minimizing
from symdipa.model.automaton import Automaton, Noise, OutputKind, State, reachable
from symdipa.model.limits import Limits
from symdipa.model.patterns import Pattern
from symdipa.model.validation import problems
from symdipa.model.verdict import Status
from symdipa.runs.control import control_graph
from symdipa.runs.problem import Problem

LC, LP, DC, PV = Pattern
HYSTERESIS = EXAMPLES / "leaking_pair" / "hysteresis_forever.dipa"
SVT = EXAMPLES / "well_formed" / "svt_cutoff_3.dipa"

Predicate = Callable[[Automaton], bool]


def shows(pattern: Pattern) -> Predicate:
    def interesting(automaton: Automaton) -> bool:
        return ExplicitEngine(Problem.of(automaton)).decide(pattern).status is Status.PRESENT

    return interesting


def stores_what_it_shows(automaton: Automaton) -> bool:
    """Something about one transition that needs numbers and outputs."""
    return any(t.assign and t.output.is_real for t in automaton.transitions)


def comes_back_with_a_mean(automaton: Automaton) -> bool:
    control = control_graph(automaton)
    return any(control.cyclic[t] and control.sampling[t].mu for t in range(len(control.steps)))


def single_steps(automaton: Automaton) -> Iterator[Automaton]:
    """Everything that one change can make of a valid automaton; only smaller and valid ones."""
    for change in CHANGES:
        for place in change.places(automaton):
            found = tidy(change.made(automaton, [place]))
            if size(found) < size(automaton) and not problems(found):
                yield found


def minimal(automaton: Automaton, interesting: Predicate) -> Automaton:
    """The result, after a look at all that must hold of it."""
    asked: list[Automaton] = []

    def recorded(candidate: Automaton) -> bool:
        asked.append(candidate)
        return interesting(candidate)

    search = Minimizer(automaton, recorded)
    assert search.starts() and search.run()
    assert search.runs == len(asked) == len(set(asked))
    assert not any(problems(candidate) for candidate in asked)
    best = search.best
    assert interesting(best) and size(best) <= size(automaton)
    assert [smaller for smaller in single_steps(best) if interesting(smaller)] == []
    again = Minimizer(automaton, interesting)
    again.run()
    assert again.best == best
    return best


PREDICATES = [*map(shows, Pattern), stores_what_it_shows, comes_back_with_a_mean]


@pytest.mark.parametrize("kind", range(len(PREDICATES)))
def test_random_automata_become_one_minimal(kind: int):
    interesting, done = PREDICATES[kind], 0
    for i in range(60):
        automaton = source.random_automaton(random.Random(f"minimize/{i}"))
        if interesting(automaton):
            minimal(automaton, interesting)
            done += 1
        if done == 5:
            return
    assert done >= 3


@settings(max_examples=25, derandomize=True)
@given(st.integers(0, 10**6), st.integers(0, 2**16 - 1))
def test_any_predicate_will_do(seed: int, noise: int):
    """Also one that is not monotone: a hash of what the automaton looks like."""
    automaton = source.random_automaton(random.Random(seed), (1, 2), (2, 3))

    def whimsical(candidate: Automaton) -> bool:
        return candidate == automaton or (sum(size(candidate)) * 40503 ^ noise) % 3 == 0

    minimal(automaton, whimsical)


@pytest.mark.parametrize(
    ("pattern", "least"),
    [(LC, (2, 2, 1, 1, 1)), (LP, (3, 2, 1, 2, 1)), (DC, (1, 1, 0, 0, 0)), (PV, (2, 2, 1, 1, 1))],
)
def test_the_least_automata_with_each_pattern(pattern: Pattern, least: tuple[int, ...]):
    """Transitions, states, variables, atoms and assignments; some example leads to these numbers."""
    sizes = set()
    for file in sorted(EXAMPLES.glob("*/*.dipa")):
        automaton = formats.load(file)
        if automaton.is_plain and shows(pattern)(automaton):
            best = minimal(automaton, shows(pattern))
            sizes.add(size(best)[:5])
            symbols = {t.output for t in best.transitions if t.output.kind is OutputKind.SYMBOL}
            assert symbols <= {PLAIN}
            assert formats.loads(formats.dumps(best)) == replace(best, name="") or pattern is PV
    assert min(sizes) == least


def test_everything_goes_if_everything_is_interesting():
    for file in sorted(EXAMPLES.glob("*/*.dipa")):
        best = minimal(formats.load(file), lambda automaton: True)
        assert in_words(best) == "1 state, 0 transitions, 0 variables"
        assert sum(size(best)) == 1


def test_nothing_goes_if_nothing_else_is_interesting():
    automaton = formats.load(HYSTERESIS)
    assert minimal(automaton, lambda candidate: candidate == automaton) == automaton


def test_a_deadline_and_an_interruption_leave_the_best_so_far():
    automaton = formats.load(HYSTERESIS)
    late = Minimizer(automaton, shows(LP))
    assert not late.run(time.monotonic()) and late.best == automaton

    def impatient(candidate: Automaton) -> bool:
        if search.runs == 6:
            raise KeyboardInterrupt
        return shows(LP)(candidate)

    search = Minimizer(automaton, impatient)
    with pytest.raises(KeyboardInterrupt):
        search.run()
    assert shows(LP)(search.best) and size(search.best) < size(automaton)


def test_what_no_path_reaches_is_left_out_with_its_transitions():
    automaton = formats.load(SVT)
    other = replace(automaton, initial=automaton.transitions[0].target)
    assert automaton.initial not in reachable(other).index
    assert all(t.source != automaton.initial for t in reachable(other).transitions)
    assert reachable(automaton) == automaton


# ------------------------------------------------------------------------------------------- the command


def invoke(*arguments: str):
    return CliRunner().invoke(cli, list(arguments))


def test_the_command_is_asked_about_a_file(tmp_path: Path):
    target = tmp_path / "small.dipa"
    file = tmp_path / "large.dipa"
    file.write_text(
        "(start:non-input, 1, 0): x := insample; output o; goto loop\n"
        "(loop, 1, 0): if (insample < x) then output o; goto loop\n"
    )
    where = f"{sys.executable} -m symdipa check -q --engine explicit --pattern LP {{}}"
    done = invoke("minimize", str(file), "--where", where, "-o", str(target))
    assert done.exit_code == 2 and "status 3, not 0" in done.stderr and not target.exists()
    done = invoke("minimize", str(file), "--where", where, "--status", "3", "-o", str(target))
    assert done.exit_code == 0 and done.stdout == ""
    said = (
        f"minimized: the automaton in {target} has 1 state, 0 transitions, 0 variables, down from 2 states,"
    )
    assert f"{said} 2 transitions, 1 variable; COMMAND ran " in done.stderr
    assert formats.load(target).states == (State("start"),)


def test_the_file_stands_at_the_end_and_the_shell_may_be_used():
    done = invoke("minimize", str(SVT), "--where", "grep -q 'insample <' <")
    assert done.exit_code == 0
    left = formats.loads(done.stdout)
    assert sum(len(t.guard.lt) for t in left.transitions) == 1 and len(left.transitions) == 2


def test_json_in_and_out(tmp_path: Path):
    file, target = tmp_path / "automaton.json", tmp_path / "small.json"
    file.write_text(formats.dumps(formats.load(SVT), "json"))
    done = invoke("minimize", str(file), "--where", "grep -q '^{' {}", "-o", str(target))
    assert done.exit_code == 0 and len(formats.load(target).states) == 1
    done = invoke("minimize", str(file), "--where", "! grep -q '^{' {}", "-o", str(tmp_path / "small.dipa"))
    assert done.exit_code == 0 and len(formats.load(tmp_path / "small.dipa").states) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--where", "false"], "itself the command ended with status 1, not 0"),
        (["--where", "true", "--status", "7"], "itself the command ended with status 0, not 7"),
        (["--where", "sleep 30 #", "--timeout", "0.2"], "itself the command took longer than 0.2 s"),
        (["--where", "no-such-command-at-all"], "itself the command ended with status 127, not 0"),
        (["--where", "true", "-o", "small.svg"], "give -o a name with .dipa or .json"),
        (["--where", "true", "-o", "no/such/folder.dipa"], "cannot write no/such/folder.dipa"),
        ([], "Missing option '--where'"),
    ],
)
def test_what_cannot_be_minimized(arguments: list[str], message: str):
    began = time.monotonic()
    done = invoke("minimize", str(SVT), *arguments)
    assert done.exit_code == 2 and message in done.stderr and done.stdout == ""
    assert time.monotonic() - began < 20


def test_an_unreadable_file_is_told_about(tmp_path: Path):
    file = tmp_path / "broken.dipa"
    file.write_text("(q1, 1, 0): output; goto q2")
    done = invoke("minimize", str(file), "--where", "true")
    assert done.exit_code == 2 and "broken.dipa:1:" in done.stderr


def test_runs_that_take_too_long_mean_no(tmp_path: Path):
    """Whoever leaves out a variable waits for ever."""
    where = "grep -q insample' <' {} || sleep 60 #"
    done = invoke("minimize", str(SVT), "--where", where, "--timeout", "0.3")
    assert done.exit_code == 0 and "insample <" in done.stdout


def test_ctrl_c_writes_the_best_so_far(tmp_path: Path, environment: dict[str, str]):
    marks, target = tmp_path / "marks", tmp_path / "small.dipa"
    where = f"echo >> {marks}; [ $(wc -l < {marks}) -lt 8 ] || sleep 60; grep -q insample {{}}"
    command = [sys.executable, "-m", "symdipa", "minimize", str(SVT), "--where", where, "-o", str(target)]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    ends = time.monotonic() + 60
    while not (marks.exists() and len(marks.read_text()) >= 8) and time.monotonic() < ends:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130, said
    assert f"interrupted: the smallest automaton so far in {target} has " in said and "Traceback" not in said
    assert size(formats.load(target)) < size(formats.load(SVT))


# ---------------------------------------------------------------------------- what compare saves


def plant(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug: the symbolic engine finds no leaking pair where there are more than two control states."""
    honest = SymbolicEngine.decide

    def decide(self: SymbolicEngine, pattern: Pattern, limits: Limits):
        found = honest(self, pattern, limits)
        if pattern is LP and self.problem.control.states > 2:
            return replace(found, status=Status.ABSENT, witness=None)
        return found

    monkeypatch.setattr(SymbolicEngine, "decide", decide)


def test_a_planted_bug_is_saved_as_a_smaller_automaton(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    plant(monkeypatch)
    automaton = formats.load(HYSTERESIS)
    done = invoke("compare", "--save", str(tmp_path), str(HYSTERESIS))
    assert done.exit_code == 4
    assert "ENGINES DISAGREE" in done.stdout.splitlines()[0]
    file = tmp_path / "symdipa-disagreement-hysteresis_forever.dipa"
    assert f"a smaller automaton with the disagreement is saved in {file}" in done.stdout
    small = formats.load(file)
    assert size(small) < size(automaton)
    (told,) = analysis.disagreements(small, [LP])
    assert told.startswith("leaking pair: ") and "absent says z3 (marks), z3 (ghost)" in told
    assert not any(analysis.disagreements(smaller, [LP]) for smaller in single_steps(small))
    # another time, under another name; the first file stays
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(minimizing, "SECONDS_TO_SAVE", 1e-9)
    before = file.read_text()
    done = invoke("compare", "--json", str(HYSTERESIS))
    assert done.exit_code == 4 and '"saved": "symdipa-disagreement-hysteresis_forever-2.dipa"' in done.stdout
    assert file.read_text() == before and len(list(tmp_path.iterdir())) == 2


def test_a_folder_that_cannot_be_written_is_no_second_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    plant(monkeypatch)
    monkeypatch.setattr(minimizing, "SECONDS_TO_SAVE", 1e-9)
    missing = tmp_path / "folder"
    missing.mkdir()
    (missing / "symdipa-disagreement-hysteresis_forever.dipa").symlink_to(missing / "no" / "where")
    monkeypatch.setattr(Path, "open", refused)
    done = invoke("compare", "--save", str(missing), str(HYSTERESIS))
    assert (
        done.exit_code == 4
        and "is not saved: cannot write" in done.stdout
        and "not yet minimal" in done.stdout
    )


def refused(*arguments: object, **options: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_an_interruption_while_saving_keeps_what_there_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    plant(monkeypatch)
    asked = []

    def impatient(automaton: Automaton, patterns: object, **limits: object) -> tuple[str, ...]:
        asked.append(automaton)
        if len(asked) == 4:
            raise KeyboardInterrupt
        return ("leaking pair: ...",) if len(asked) == 3 else ()

    monkeypatch.setattr(analysis, "disagreements", impatient)
    done = invoke("compare", "--save", str(tmp_path), str(HYSTERESIS))
    assert done.exit_code == 130 and "interrupted; the smallest automaton so far is saved in" in done.stderr
    (file,) = tmp_path.iterdir()
    assert size(formats.load(file)) == size(asked[2])


def test_nothing_is_saved_where_engines_agree(tmp_path: Path, run: Run):
    done = run("compare", str(HYSTERESIS), cwd=tmp_path)
    assert done.returncode == 1 and "engines agree" in done.stdout
    assert list(tmp_path.iterdir()) == []


WIDE = """
noise integer
(a:non-input,exp 1/2,1): t := insample, w := 1, u := insample; output start, insample; goto b
(b,1/4,0): if (insample >= t + 3 && t < 5) then v := u, w := 3; output high, insample - t, u; goto b
           elseif (insample < -u && u >= w || t > 7) then output low; goto c
           else output 'u'; goto b
(c:silent): if (u < t) then output t; goto b
"""


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        (lambda a: any(t.copies for t in a.transitions), "(a): x := 1; output o; goto a\n"),
        (lambda a: any(t.guard.others for t in a.transitions), "t"),
        (lambda a: any(t.output.differences for t in a.transitions), "output insample - "),
        (lambda a: any(t.output.values for t in a.transitions), "output "),
        (lambda a: any(not s.draws for s in a.states), "(c:read):"),
        (lambda a: any(s.noise is not Noise.LAPLACE for s in a.states), "exp 1"),
        (lambda a: a.integer, "noise integer\n(a):\n"),
    ],
    ids=["copies", "comparisons", "differences", "values", "silent", "noise", "integer"],
)
def test_the_wider_model_is_made_small(wanted: Callable[[Automaton], bool], left: str) -> None:
    search = Minimizer(formats.loads(WIDE), wanted)
    assert search.starts() and search.run() and wanted(search.best) and not problems(search.best)
    text = formats.dumps(search.best)
    assert len(text.splitlines()) <= 3 and len(search.best.transitions) <= 2, text
    assert left in text.replace("w := 1", "x := 1"), text
