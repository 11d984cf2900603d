"""The examples beyond the paper, each against its own first line, by every engine and with proofs."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import WIDER_EXAMPLES

from symdipa.analysis import certify, check, weigh
from symdipa.evidence.certificates import verify
from symdipa.files import formats
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Status, Verdict

FILES = WIDER_EXAMPLES
ENGINES = [("explicit", "marks"), ("z3", "ghost"), ("z3", "marks"), ("both", "ghost"), ("both", "marks")]
PRIVATE = re.compile(r"# expect: private, D = (\d+(?:/\d+)?) \((optimal|optimal for single runs)\)")
BAD = re.compile(r"# expect: (.+); not private")


def promised(path: Path) -> re.Match[str]:
    line = path.read_text(encoding="utf-8").splitlines()[0]
    match = PRIVATE.fullmatch(line) or BAD.fullmatch(line)
    assert match, f"{path}: {line!r} is not of a known form"
    return match


def test_right_and_wrong_are_side_by_side():
    kinds = [promised(path).re is PRIVATE for path in FILES]
    assert sum(kinds) >= 10 and len(kinds) - sum(kinds) >= 6
    for path in FILES:
        if path.stem.endswith("_forever") and path.stem != "fixed_limit_forever":
            assert (path.parent / f"{path.stem.removesuffix('_forever')}.dipa") in FILES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_examples_need_no_repair(path: Path):
    automaton = formats.read_file(path, strict=True)
    assert not automaton.notes and automaton.name == path.stem
    assert formats.loads(formats.dumps(automaton)) == replace(automaton, name="")


@pytest.mark.parametrize(("engine", "encoding"), ENGINES, ids=lambda value: value)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_engine_says_what_the_first_line_does(path: Path, engine: str, encoding: str):
    expected = promised(path)
    result = check(formats.read_file(path), engine, encoding=encoding)
    found = {p.title for p, answer in result.patterns.items() if answer.status is Status.PRESENT}
    assert not result.disagreements
    if expected.re is PRIVATE:
        assert result.verdict is Verdict.PRIVATE and not found
    else:
        assert result.verdict is Verdict.NOT_PRIVATE and found == set(expected[1].split(" + "))
        assert found <= {pattern.title for pattern in Pattern}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_said_is_proved(path: Path):
    expected = promised(path)
    automaton = formats.read_file(path)
    result = weigh(automaton)
    claims = verify(automaton, certify(result)).claims
    if expected.re is PRIVATE:
        best, bounds = Fraction(expected[1]), result.bounds
        assert bounds is not None and bounds.best == best
        assert (bounds.optimal, bounds.optimal_for_single_runs) == (
            expected[2] == "optimal",
            expected[2] != "optimal",
        )
        assert [(claim.kind, claim.bound) for claim in claims] == [("private", best), ("lower", best)]
    else:
        assert [claim.kind for claim in claims] == ["violation"] and claims[0].distinct
