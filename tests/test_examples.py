"""Every example against its own first line, and the published automata where they are at hand."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import PLAIN_EXAMPLES, ROOT

from symdipa.analysis import check
from symdipa.files import formats
from symdipa.model.errors import InvalidInput
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Result, Status, Verdict

FILES = PLAIN_EXAMPLES
SHARED = ROOT.parent / "shared"
PEER = SHARED / "peer" / "dipaut"
LITERATURE = SHARED / "literature"

PRIVATE_LINE = re.compile(r"# expect: private, D = (\d+(?:/\d+)?) \(corollary bound\)")
BAD_LINE = re.compile(r"# expect: (.+); not (private|well-formed)")
ENGINES = [("explicit", "marks"), ("z3", "ghost"), ("z3", "marks"), ("both", "ghost"), ("both", "marks")]


@dataclass(frozen=True)
class Expected:
    """What the first line of an example promises."""

    verdict: Verdict
    patterns: frozenset[Pattern]
    corollary: Fraction | None = None


def expected(path: Path) -> Expected:
    line = path.read_text(encoding="utf-8").splitlines()[0]
    if match := PRIVATE_LINE.fullmatch(line):
        return Expected(Verdict.PRIVATE, frozenset(), Fraction(match[1]))
    match = BAD_LINE.fullmatch(line)
    assert match, f"{path}: {line!r} is not of a known form"
    titles = {pattern.title: pattern for pattern in Pattern}
    patterns = frozenset(titles[title] for title in match[1].split(" + "))
    verdict = Verdict.NOT_PRIVATE if match[2] == "private" else Verdict.NOT_WELL_FORMED
    return Expected(verdict, patterns)


def present(result: Result) -> frozenset[Pattern]:
    statuses = {found.status for found in result.patterns.values()}
    assert statuses <= {Status.PRESENT, Status.ABSENT}, f"not decided: {result.patterns}"
    return frozenset(p for p, found in result.patterns.items() if found.status is Status.PRESENT)


def short(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def test_there_is_an_example_for_every_outcome():
    folders = {path.parent.name for path in FILES}
    assert folders == {"well_formed", *(p.title.replace(" ", "_") for p in Pattern)}


@pytest.mark.parametrize("path", FILES, ids=short)
def test_the_folder_agrees_with_the_first_line(path):
    folder = path.parent.name.replace("_", " ")
    titles = {pattern.title for pattern in expected(path).patterns}
    assert folder in titles or (folder == "well formed" and not titles)


@pytest.mark.parametrize("path", FILES, ids=short)
def test_examples_need_no_repair(path):
    automaton = formats.read_file(path, strict=True)
    assert not automaton.notes
    assert automaton.name == path.stem


@pytest.mark.parametrize(("engine", "encoding"), ENGINES, ids=lambda value: value)
@pytest.mark.parametrize("path", FILES, ids=short)
def test_what_must_come_out(path, engine, encoding):
    wanted = expected(path)
    result = check(formats.load(path), engine=engine, encoding=encoding, relational=False)
    assert not result.disagreements
    assert result.verdict is wanted.verdict
    assert present(result) == wanted.patterns
    if wanted.corollary is not None:
        assert result.weight.corollary == wanted.corollary


peer_files = pytest.mark.skipif(not PEER.is_dir(), reason="the peer's automata are not at hand")
literature_files = pytest.mark.skipif(not LITERATURE.is_dir(), reason="the literature is not at hand")

SIMPLE = {
    "disclosing_cycle": Pattern.DISCLOSING_CYCLE,
    "leaking_cycle": Pattern.LEAKING_CYCLE,
    "num_range_1": Pattern.PRIVACY_VIOLATING_PATH,
    "two_range_1": Pattern.LEAKING_PAIR,
}
"""The peer's simple examples that are not private; the others are."""

GUARDS_WITHOUT_INPUT = {"example_7_non_input", "example_10_non_input", "example_5_non_input"}
OVERLAPPING = {"two_range_1", "two_range_2", "example_12"}
LARGE = {"m_range/40", "m_range/80", "k_min_max/100", "k_min_max/200"}


def peer_pattern(path: Path) -> Pattern | None:
    """The pattern that the folder or the name promises, ``None`` for a private automaton."""
    if path.parent.name == "simple_examples":
        return SIMPLE.get(path.stem)
    return next((p for p in Pattern if p.title.replace(" ", "_") == path.parent.name), None)


PEER_FILES = sorted(PEER.rglob("*.dipa"))


@peer_files
@pytest.mark.parametrize("path", PEER_FILES, ids=short)
def test_the_peers_automata(path):
    if path.stem in GUARDS_WITHOUT_INPUT:  # noise compared with noise: no input is there that could leak
        result = check(formats.read_file(path), engine="both")
        assert (result.verdict, result.weight.best) == (Verdict.PRIVATE, 0)
        return
    automaton = formats.read_file(path)
    assert bool(automaton.notes) == (path.stem in OVERLAPPING)
    result = check(automaton, engine="explicit" if short(path) in LARGE else "both")
    wanted = peer_pattern(path)
    assert present(result) == ({wanted} if wanted else frozenset())
    assert result.verdict is (Verdict.NOT_PRIVATE if wanted else Verdict.PRIVATE)


@peer_files
def test_the_peers_overlapping_branches_are_errors_when_strict():
    for path in PEER_FILES:
        if path.stem in OVERLAPPING:
            with pytest.raises(InvalidInput):
                formats.read_file(path, strict=True)


def literature() -> list[tuple[str, dict[str, object]]]:
    if not LITERATURE.is_dir():
        return []
    return sorted(json.loads((LITERATURE / "expect.json").read_text(encoding="utf-8")).items())


@literature_files
@pytest.mark.parametrize(
    ("name", "wanted"), literature(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_published_mechanisms(name, wanted):
    automaton = formats.load(LITERATURE / f"{name}.dipa")
    for encoding in ("ghost", "marks"):
        result = check(automaton, engine="both", encoding=encoding, relational=False)
        assert not result.disagreements
        assert {pattern.short for pattern in present(result)} == set(wanted["patterns"])
        assert result.output_distinct is wanted["output_distinct"]
        assert result.strongly_feasible in (wanted["strongly_feasible"], None)
        if wanted["known"] == "no":
            assert result.verdict is not Verdict.PRIVATE
