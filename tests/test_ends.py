"""How a process ends, and what it leaves in files: one line and a status, whatever goes wrong."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from conftest import EXAMPLES

from symdipa.files import formats
from symdipa.interface import failures, saving
from symdipa.interface.cli import COMMANDS, cli
from symdipa.model.automaton import Automaton, State, Transition, symbol
from symdipa.model.errors import InvalidInput, Limit, LimitReached, WitnessRejected

SVT = str(EXAMPLES / "well_formed" / "svt.dipa")
A_LEAKP = str(EXAMPLES / "leaking_pair" / "a_leakp.dipa")
SYMDIPA = f"{sys.executable} -m symdipa"
RUN = ["--outputs", "oinit obot otop"]


def invoke(*arguments, stdin=None):
    return CliRunner().invoke(cli, list(arguments), input=stdin)


@pytest.fixture
def shell(environment, tmp_path):
    """Run a line of shell in an empty folder; ``symdipa`` stands for the command."""

    def start(line):
        line = line.replace("symdipa ", f"{SYMDIPA} ")
        return subprocess.run(
            ["bash", "-c", line],
            capture_output=True,
            text=True,
            env=environment,
            cwd=tmp_path,
            timeout=120,
        )

    return start


def one_line(done):
    (line,) = done.stderr.splitlines()
    assert "Traceback" not in line
    return line


# ------------------------------------------------------------------------------------------- streams


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", [f"check {SVT}", "--help", f"check --json {SVT}", "generate svt 3"])
def test_a_full_disk_behind_standard_output(shell, arguments):
    done = shell(f"symdipa {arguments} > /dev/full")
    assert done.returncode == 2
    assert one_line(done).startswith("Error: cannot write to standard output: ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_complaints_that_cannot_be_written(shell):
    done = shell(f"symdipa check nowhere.dipa {SVT} 2> /dev/full")
    assert (done.returncode, done.stderr) == (2, "")


def test_names_that_the_encoding_of_the_output_lacks(shell, tmp_path):
    text = (EXAMPLES / "well_formed" / "svt.dipa").read_text(encoding="utf-8").replace("q2", "qτ")
    (tmp_path / "greek.dipa").write_text(text, encoding="utf-8")
    done = shell("PYTHONIOENCODING=latin-1 symdipa convert greek.dipa --to dot")
    assert done.returncode == 2
    assert "encoding latin-1" in one_line(done) and "PYTHONIOENCODING=utf-8" in one_line(done)
    assert shell("PYTHONIOENCODING=utf-8 symdipa convert greek.dipa --to dot").returncode == 0


@pytest.mark.parametrize("arguments", [f"check -q {SVT}", f"check -q {SVT} {A_LEAKP}"])
def test_a_closed_standard_error_changes_nothing(shell, arguments):
    closed, kept = shell(f"symdipa {arguments} 2>&-"), shell(f"symdipa {arguments}")
    assert (closed.returncode, closed.stdout) == (kept.returncode, kept.stdout)
    assert closed.returncode < 2


def test_a_closed_standard_error_and_a_fault(shell):
    assert shell("symdipa check nowhere.dipa 2>&-").returncode == 2
    assert shell("symdipa frobnicate 2>&-").returncode == 2


def test_a_closed_standard_input(shell):
    done = shell("symdipa check - --format dipa <&-")
    assert done.returncode == 2 and done.stdout == ""
    assert one_line(done).startswith("<stdin>: cannot be read: ")
    assert shell(f"symdipa check -q {SVT} <&-").returncode == 0


def test_a_closed_standard_output(shell, tmp_path):
    done = shell(f"symdipa check {SVT} >&-")
    assert done.returncode == 2
    assert one_line(done).startswith("Error: cannot write to standard output: ")
    done = shell(f"symdipa convert {SVT} -o kept.json <&- >&- 2>&-")
    assert done.returncode == 0
    assert formats.load(tmp_path / "kept.json").states == formats.load(SVT).states


@pytest.mark.parametrize("arguments", ["--help", "check --help", f"check {SVT}", "generate m-range 80"])
def test_readers_that_leave_are_no_error(shell, arguments):
    done = shell(f"symdipa {arguments} | true; echo ${{PIPESTATUS[0]}}")
    assert (done.stdout, done.stderr) == ("141\n", "")


# ------------------------------------------------------------------------------------------ failures


MAKING_IT_FAIL = """
import sys
from symdipa.evidence import simulation
from symdipa.__main__ import main

def fail(*arguments):
    raise {error}

simulation.simulate = fail
main()
"""


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        ("ZeroDivisionError('oh\\nno')", 2, "ZeroDivisionError: oh no (<string>, line 7)"),
        ("RecursionError()", 2, "please report"),
        ("OSError(28, 'No space left on device', '/tmp/x')", 2, "Error: /tmp/x: No space left on device"),
        ("OSError(11, 'Resource temporarily unavailable')", 2, "the system refuses: Resource"),
        ("MemoryError()", 3, "unknown: out of memory"),
    ],
)
def test_what_nobody_foresees_is_one_line(environment, error, status, words):
    code = MAKING_IT_FAIL.format(error=error)
    command = [sys.executable, "-c", code, "simulate", SVT]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert (done.returncode, done.stdout) == (status, "")
    assert words in one_line(done)


def test_statuses_of_failures():
    assert failures.told(LimitReached(Limit.MEMORY, "too much"))[1] is failures.Exit.UNKNOWN
    assert failures.told(WitnessRejected("no loop"))[1] is failures.Exit.BUG
    assert failures.told(KeyError("x"))[1] is failures.Exit.UNUSABLE


# ------------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    "arguments",
    [
        ["probability", SVT, *RUN, "--inputs", "0 1e400"],
        ["probability", SVT, *RUN, "--inputs", "0 1", "--eps", "1e400"],
        ["probability", SVT, *RUN, "--inputs", "0 1", "--eps", "1e-400"],
        ["probability", SVT, "--outputs", "0..1e400"],
        ["simulate", SVT, "--inputs", "1e999"],
        ["weight", SVT, "--adjacency=-1e400,1e400"],
        ["weight", SVT, "--sensitivity", "1e400"],
        ["weight", SVT, "--eps", "1e400"],
        ["witness", A_LEAKP, "--exceeds", "1e400"],
        ["check", SVT, "--max-weight", "1e-400"],
        ["check", SVT, "--memory", "9" * 400],
        ["new", "svt", "--total", "1e-300"],
        ["new", "svt", "--total", "1e400"],
    ],
    ids=lambda arguments: " ".join(arguments[-2:])[-40:],
)
def test_numbers_that_cannot_be_computed_with_are_wrong_usage(arguments):
    done = invoke(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Invalid value for '--" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["new", "svt", "--total", "1e-90"],
        ["simulate", SVT, "--inputs", "1 1e100", "--eps", "1e100"],
        ["simulate", SVT, "--inputs", "1 1e100", "--eps", "1e-100"],
        ["weight", SVT, "--adjacency=-1e100,1e100", "--sensitivity", "1e100"],
    ],
    ids=lambda arguments: " ".join(arguments[-2:]),
)
def test_all_other_numbers_are_computed_with(arguments):
    assert invoke(*arguments).exit_code == 0


@pytest.mark.parametrize("header", [f"a, 1{'0' * 400}, 0", f"a, 1/1{'0' * 400}, 0", f"a, 1, -1{'0' * 400}"])
def test_numbers_in_files(header):
    with pytest.raises(InvalidInput) as caught:
        formats.loads(f"({header}): output o; goto b")
    (problem,) = caught.value.problems
    assert "cannot be computed with" in problem.message and problem.position is not None


def test_numbers_that_a_template_multiplies():
    done = invoke("new", "svt", "--total", "1e60", "--sensitivity", "1e-60")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "the noise of state draw cannot be computed with" in done.stderr


def test_numbers_of_automata_from_python():
    with pytest.raises(InvalidInput, match="cannot be computed with"):
        Automaton.build([State("a", d=10**101)], [Transition("a", "a", symbol("o"))])


# --------------------------------------------------------------------------------------------- files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with two automata, a link to the first, and its JSON."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.dipa").write_bytes(Path(A_LEAKP).read_bytes())
    (tmp_path / "other.dipa").write_bytes(Path(SVT).read_bytes())
    (tmp_path / "link.dipa").symlink_to("mine.dipa")
    (tmp_path / "link.svg").symlink_to("mine.dipa")
    (tmp_path / "mine.json").write_text(formats.dumps(formats.load(A_LEAKP), "json"))
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


OVER_AN_INPUT = [
    ["report", "mine.dipa", "-o", "mine.dipa"],
    ["report", "-o", "link.dipa", "mine.dipa", "other.dipa"],
    ["certify", "mine.dipa", "-o", "./mine.dipa"],
    ["certify", "mine.json", "-o", "mine.json"],
    ["convert", "mine.dipa", "-o", "mine.dipa", "--force"],
    ["convert", "mine.dipa", "-o", "link.dipa", "--force"],
    ["convert", "mine.dipa", "--to", "svg", "-o", "link.svg"],
    ["witness", "mine.dipa", "--svg", "mine.dipa"],
    ["witness", "mine.dipa", "--svg", "link.svg"],
    ["witness", "mine.dipa", "--plot", "link.svg"],
    ["encode", "mine.dipa", "--pattern", "LP", "-o", "mine.dipa"],
    ["minimize", "mine.dipa", "--where", "true", "-o", "mine.dipa", "--force"],
    ["bench", "mine.dipa", "--plot", "link.svg", "-o", "results"],
]


@pytest.mark.parametrize("arguments", OVER_AN_INPUT, ids=" ".join)
def test_no_input_is_overwritten(folder, arguments):
    before = contents(folder)
    done = invoke(*arguments)
    assert done.exit_code == 2 and "is one of the inputs" in done.stderr
    assert contents(folder) == before


def test_every_command_that_reads_and_writes_a_file_is_among_these():
    context = click.Context(cli)
    reading_and_writing = {
        name
        for name in COMMANDS
        for params in [cli.get_command(context, name).params]
        if any(isinstance(p, click.Argument) and p.name in ("file", "files", "paths") for p in params)
        and any(isinstance(p.type, click.Path) and not p.type.exists and p.type.file_okay for p in params
                if isinstance(p, click.Option))
    }  # fmt: skip
    assert reading_and_writing == {arguments[0] for arguments in OVER_AN_INPUT}


def test_standard_input_is_an_input(shell, tmp_path):
    (tmp_path / "mine.dipa").write_bytes(Path(A_LEAKP).read_bytes())
    done = shell("symdipa convert - --format dipa --to dipa -o mine.dipa --force < mine.dipa")
    assert done.returncode == 2 and "is one of the inputs" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["report", "mine.dipa", "-o", "other.dipa"], "html, and the name other.dipa says dipa"),
        (["certify", "mine.dipa", "-o", "page.html"], "json, and the name page.html says html"),
        (["convert", "mine.dipa", "--to", "svg", "-o", "mine.json"], "svg, and the name mine.json says json"),
        (["convert", "mine.dipa", "--to", "json", "-o", "other.dipa", "--force"], "says dipa"),
        (["encode", "mine.dipa", "--pattern", "LP", "-o", "query.json"], "chc, and the name"),
        (["new", "svt", "-o", "svt.json"], "dipa, and the name svt.json says json"),
        (["generate", "svt", "3", "--to", "dot", "-o", "new.svg"], "dot, and the name new.svg says svg"),
        (["witness", "mine.dipa", "--svg", "run.html"], "svg, and the name run.html says html"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_suffix_that_says_another_format(folder, arguments, says):
    before = contents(folder)
    done = invoke(*arguments)
    assert done.exit_code == 2 and says in done.stderr
    assert contents(folder) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["new", "svt"],
        ["convert", "mine.dipa"],
        ["generate", "svt", "3"],
        ["minimize", "mine.dipa", "--where", "true"],
    ],
    ids=" ".join,
)
def test_a_dipa_file_is_replaced_by_force_only(folder, arguments):
    before = contents(folder)
    done = invoke(*arguments, "-o", "other.dipa")
    assert done.exit_code == 2 and "give --force to replace it" in done.stderr
    assert contents(folder) == before
    done = invoke(*arguments, "-o", "other.dipa", "--force")
    assert done.exit_code == 0 and "other.dipa" in done.stderr
    after = contents(folder)
    assert after.pop("other.dipa") != before.pop("other.dipa") and after == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["certify", "mine.dipa", "-o", "new.json"], "wrote a certificate to new.json"),
        (
            ["report", "--no-concrete", "mine.dipa", "other.dipa", "-o", "new.html"],
            "wrote a page about 2 files",
        ),
        (["convert", "mine.dipa", "-o", "new.dot"], "wrote the automaton as dot to new.dot"),
        (["witness", "--no-hints", "mine.dipa", "--svg", "new.svg"], "wrote a picture of the run"),
        (
            ["witness", "--no-hints", "mine.dipa", "--plot", "new.svg"],
            "wrote a picture of the ratio",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_was_written_is_said_in_a_line(folder, arguments, said):
    done = invoke(*arguments)
    assert done.exit_code in (0, 1)
    assert one_line(done).startswith(said)


def test_a_folder_that_is_not_there(folder):
    done = invoke("certify", "mine.dipa", "-o", "no/where.json")
    assert done.exit_code == 2 and "cannot write no/where.json: no is no folder" in done.stderr


def test_a_dash_is_standard_output(folder):
    assert invoke("convert", "mine.dipa", "--to", "dot", "-o", "-").stdout.startswith("digraph")
    assert not (folder / "-").exists()


def test_names_that_the_text_language_cannot_express(folder):
    value = json.loads((folder / "mine.json").read_text())
    for state in value["states"]:
        state["name"] = f"my {state['name']}"
    for transition in value["transitions"]:
        transition |= {key: f"my {transition[key]}" for key in ("from", "to")}
    value["initial"] = f"my {value['initial']}"
    (folder / "spaces.json").write_text(json.dumps(value))
    for arguments in (["--to", "dipa"], ["-o", "new.dipa"]):
        done = invoke("convert", "spaces.json", *arguments)
        assert (done.exit_code, done.stdout) == (2, "")
        assert one_line(done).startswith("Error: the text language cannot express the state 'my q0'")
    assert not (folder / "new.dipa").exists()


# ----------------------------------------------------------------------------------------- replacing


def test_a_file_keeps_its_permissions_and_links_are_followed(tmp_path):
    old, link, dangling = tmp_path / "old.json", tmp_path / "link.json", tmp_path / "dangling.json"
    old.write_text("old")
    old.chmod(0o640)
    link.symlink_to("old.json")
    dangling.symlink_to("new.json")
    saving.replace_file(link, b"new")
    saving.replace_file(dangling, b"new")
    assert link.is_symlink() and old.read_bytes() == b"new" and old.stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "new.json").read_bytes() == b"new"
    assert len(list(tmp_path.iterdir())) == 4


def test_a_file_that_is_new_has_the_usual_permissions(tmp_path):
    (tmp_path / "usual").write_text("")
    saving.replace_file(tmp_path / "new", b"")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
from symdipa.__main__ import main
main()
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "--no-concrete", "--no-hints", "mine.dipa", "-o", "old.html"],
        ["convert", "mine.dipa", "-o", "old.svg"],
        ["certify", "mine.dipa", "-o", "old.json"],
        ["generate", "m-range", "80", "-o", "other.dipa", "--force"],
        ["witness", "--no-hints", "mine.dipa", "--plot", "old.svg"],
    ],
    ids=" ".join,
)
def test_what_does_not_fit_leaves_the_old_file_and_nothing_else(folder, environment, arguments):
    for suffix in ("html", "svg", "json"):
        (folder / f"old.{suffix}").write_text("old")
    before = contents(folder)
    command = [sys.executable, "-c", LIMITED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, timeout=60)
    assert done.returncode == 2 and "cannot write" in one_line(done)
    assert contents(folder) == before


def test_what_is_no_plain_file_is_written_to(shell):
    done = shell(f"symdipa convert {SVT} --to dot -o /dev/stdout | head -c 7")
    assert done.stdout == "digraph"
    assert shell(f"symdipa convert {SVT} --to dot -o /dev/null").returncode == 0


def test_a_protected_file_stays(tmp_path, monkeypatch):
    target = tmp_path / "kept"
    target.write_text("kept")
    target.chmod(0o400)
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    with pytest.raises(PermissionError):
        saving.replace_file(target, b"new")
    assert target.read_text() == "kept"


def test_a_new_file_must_not_be_there(tmp_path, monkeypatch):
    saving.create_file(tmp_path / "new", b"one")
    with pytest.raises(FileExistsError):
        saving.create_file(tmp_path / "new", b"two")
    assert (tmp_path / "new").read_bytes() == b"one"

    def full(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(saving, "replace_file", full)
    with pytest.raises(OSError, match="No space"):
        saving.create_file(tmp_path / "another", b"one")
    assert not (tmp_path / "another").exists()


def test_one_place_writes_files():
    """All but logs that grow, and files that are gone when the process ends."""
    allowed = {"saving.py", "store.py", "minimizing.py", "failures.py", "extracted.py"}
    package = Path(inspect.getfile(cli.__class__)).parents[2]
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        writes = [word for word in (".write_text(", ".write_bytes(", '"wb"', "savefig(path") if word in text]
        assert not writes or path.name in allowed, f"{path} has {writes}"
