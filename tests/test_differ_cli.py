"""``--differ`` on the command line, and ``differ=`` in Python."""
# ruff: noqa: E501 (the tables read better with one case on a line)

from __future__ import annotations

import json
from fractions import Fraction as F
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import ROOT

import symdipa
from symdipa import Verdict
from symdipa.interface.cli import cli

EXAMPLES = ROOT / "examples" / "adjacency"
SVT, TOTAL = str(EXAMPLES / "svt_one_entry.dipa"), str(EXAMPLES / "total.dipa")


def run(*arguments: str, **options: object) -> Result:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False, **options)  # type: ignore[arg-type]


def lines(found: Result) -> list[str]:
    return [line.strip() for line in found.stdout.splitlines()]


# --------------------------------------------------------------------------------------------- what is asked


def test_it_counts_instead_of_what_the_file_says() -> None:
    asked = {
        (): (0, "private, D = 3/4"),
        ("--differ", "entries=2"): (0, "private, D = 3/2"),
        ("--differ", "window = 3"): (0, "private, D = 9/4"),
        ("--differ", "pattern==*~=*"): (0, "private, D = 3/4"),
        ("--differ", "all"): (1, "not private"),
    }
    for options, (status, answer) in asked.items():
        found = run("check", "-q", SVT, *options)
        assert (found.exit_code, answer in found.stdout) == (status, True), found.output


@pytest.mark.parametrize(
    "command",
    [
        "certify",
        "check",
        "compare",
        "convert",
        "encode",
        "minimize",
        "probability",
        "report",
        "simulate",
        "verify",
        "weight",
        "witness",
    ],
)
def test_every_command_that_reads_knows_it(command: str) -> None:
    assert "--differ WHICH" in run(command, "--help").stdout


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("entries=0", "entries= is followed by a whole number from 1 on, not '0'"),
        ("entries=1001", "entries= goes up to 1000"),
        ("some", "which entries differ is all, entries=K, window=W or pattern=RE, not 'some'"),
        ("pattern=(", "the parenthesis is not closed"),
        ("entries=1..3", "'entries=1..3' is a range, which 'symdipa weight' makes a table of"),
    ],
)
def test_what_means_nothing_is_refused(value: str, complaint: str) -> None:
    found = run("check", SVT, "--differ", value)
    assert found.exit_code == 2 and complaint in " ".join(found.stderr.split())


def test_sums_without_bound_are_told_with_their_place() -> None:
    found = run("check", TOTAL, "--differ", "all")
    assert found.exit_code == 2 and not found.stdout
    assert f"{TOTAL}:9:13: the sum in register s may differ by more and more (differ all)" in found.stderr
    error = json.loads(run("check", "--json", TOTAL, "--differ", "all").stdout)["errors"]
    assert [(e["rule"], e["line"], e["column"]) for e in error] == [("sums", 9, 13)]


def test_a_file_may_be_read_that_needs_it(tmp_path: Path) -> None:
    """Without the line in the file its sum has no bound; the option gives it one."""
    file = tmp_path / "total.dipa"
    file.write_text(Path(TOTAL).read_text().replace("differ entries=1\n", ""))
    assert run("check", "-q", str(file)).exit_code == 2
    assert (
        run("check", "-q", str(file), "--differ", "entries=3").stdout
        == f"{file}: private, D = 3 (counting bound)\n"
    )
    written = run("convert", str(file), "--to", "dipa", "--differ", "window=2").stdout
    assert written.startswith("differ window=2\n") and symdipa.loads(written).differ.text == "window=2"
    assert (
        run("check", "-q", "-", "--format", "dipa", "--differ", "entries=2", input=file.read_text()).exit_code
        == 0
    )
    assert symdipa.load(file, differ="entries=1").differ.text == "entries=1"


def test_a_certificate_is_about_who_may_differ(tmp_path: Path) -> None:
    certificate = str(tmp_path / "total.cert.json")
    assert run("certify", TOTAL, "--differ", "entries=2", "-o", certificate).exit_code == 0
    accepted = run("verify", TOTAL, certificate, "--differ", "entries=2")
    assert accepted.exit_code == 0 and "with D = 2" in accepted.stdout and "entries=2" in accepted.stdout
    refused = run("verify", TOTAL, certificate)
    assert refused.exit_code == 1 and "[rule automaton]" in refused.stdout


# ----------------------------------------------------------------------------------------------- what is said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "and one entry differs, by at most 1, up or down."),
        (("--differ", "entries=3"), "and at most 3 entries differ, by at most 1, up or down."),
        (("--differ", "window=2", "--sensitivity", "2"), "and entries within 2 consecutive ones differ, by at most 2, up or down."),
        (("--differ", "entries=1", "--adjacency", "monotone"), "and one entry differs, by at most 1, all of them up or all of them down."),
        (("--differ", "window=2", "--adjacency", "-1,2"), "and entries within 2 consecutive ones differ, one stream minus the other is between -1 and 2 in each entry, in either order."),
        (("--differ", "pattern==*~=*~?"), "and entries differ as in =*~=*~?, by at most 1, up or down."),
    ],
)  # fmt: skip
def test_reports_say_who_differs_and_by_how_much(options: tuple[str, ...], words: str) -> None:
    assert words in " ".join(run("weight", SVT, *options).stdout.split())


def test_reports_about_all_entries_say_what_they_always_said() -> None:
    found = " ".join(run("check", SVT, "--differ", "all").stdout.split())
    assert "equally many entries, and each entry may differ by at most 1, up or down." in found


def test_json_says_who_differs() -> None:
    assert json.loads(run("check", "--json", SVT).stdout)["assumed"]["differ"] == "entries=1"
    found = json.loads(run("weight", "--json", SVT, "--differ", "window=2").stdout)
    assert (found["differ"], found["adjacency"], found["bounds"]["lower"]) == ("window=2", "two-sided", "3/2")


# ------------------------------------------------------------------------------------------------- the table


def test_a_range_gives_one_table() -> None:
    found = run("weight", SVT, "--differ", "entries=1..4")
    assert found.exit_code == 0
    assert lines(found)[:6] == [
        f"{SVT}: D by the entries that differ",
        "differ     answer   D",
        "entries=1  private  D = 3/4 (optimal)",
        "entries=2  private  D = 3/2 (optimal)",
        "entries=3  private  D = 9/4 (optimal)",
        "entries=4  private  D = 3 (optimal)",
    ]
    assert "entries may differ by at most 1, up or down; which of them, is said for each." in " ".join(
        lines(found)
    )


def test_a_range_as_json_gives_one_object_for_each() -> None:
    found = run("weight", "--json", SVT, TOTAL, "--differ", "window=1..3")
    objects = [json.loads(line) for line in found.stdout.splitlines()]
    assert [(Path(o["file"]).stem, o["differ"], o["bounds"]["lower"]) for o in objects] == [
        *(("svt_one_entry", f"window={w}", str(F(3, 4) * w)) for w in (1, 2, 3)),
        *(("total", f"window={w}", str(w)) for w in (1, 2, 3)),
    ]


def test_the_status_of_a_table_is_that_of_its_worst_row(tmp_path: Path) -> None:
    assert run("weight", SVT, "--differ", "entries=1..3", "--max-weight", "9/4").exit_code == 0
    assert run("weight", SVT, "--differ", "entries=1..3", "--max-weight", "2").exit_code == 1
    broken = tmp_path / "broken.dipa"
    broken.write_text("(q,1,0): output o goto q")
    found = run("weight", str(broken), SVT, "--differ", "entries=1..2")
    assert found.exit_code == 2 and found.stderr.count("broken.dipa") == 1 and "D = 3/2" in found.stdout


def test_tables_are_about_files() -> None:
    found = run(
        "weight", "-", "--format", "dipa", "--differ", "entries=1..2", input="(q,1,0): output o; goto q"
    )
    assert found.exit_code == 2 and "a table needs files" in found.stderr
    assert "the range 3..1 is empty" in run("weight", SVT, "--differ", "entries=3..1").stderr
    assert run("weight", SVT, "--differ", "entries=2..2").stdout.startswith(
        f"{SVT}: private, D = 3/2 (optimal)"
    )


# -------------------------------------------------------------------------------------------------- in Python


def test_python_takes_it_as_a_text() -> None:
    automaton = symdipa.load(SVT)
    assert symdipa.check(automaton).verdict is Verdict.PRIVATE
    assert symdipa.check(automaton, differ="all").verdict is Verdict.NOT_PRIVATE
    found = symdipa.weigh(automaton, differ="window=2")
    assert found.bounds is not None and found.bounds.best == F(3, 2)
    assert found.automaton.differ.text == "window=2" and automaton.differ.text == "entries=1"
    (claim, *_) = symdipa.verify(found.automaton, symdipa.certify(found)).claims
    assert "D = 3/2" in str(claim)
    table = [symdipa.weigh(automaton, differ=f"entries={k}").bounds for k in (1, 2, 3)]
    assert [bounds and bounds.best for bounds in table] == [F(3, 4), F(3, 2), F(9, 4)]


def test_python_says_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="from 1 on, not 'x'"):
        symdipa.check(symdipa.load(SVT), differ="entries=x")
    with pytest.raises(symdipa.InvalidInput, match="may differ by more and more"):
        symdipa.weigh(symdipa.load(TOTAL), differ="all")
    with pytest.raises(ValueError, match="which entries differ is all"):
        symdipa.load(SVT, differ="one")
