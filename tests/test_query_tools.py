"""Queries of all examples, answered by programs that we did not write."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from conftest import EXAMPLES
from query_tools import BtorMC, abc, cvc5_says, needs_abc, of_chc, of_smtlib, spacer_says, z3_says

from symdipa import analysis
from symdipa.evidence.exports.query import encode, encode_binary
from symdipa.files import formats
from symdipa.model.automaton import Automaton
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Result, Status, Verdict
from symdipa.runs.control import control_graph
from symdipa.runs.witness import orders_by_round

FILES = sorted(EXAMPLES.glob("*/*.dipa"))
SHORT = 5
"""A bound that says little where nothing is there, but is answered fast."""

HARMLESS = {("sum_alarm", Pattern.LEAKING_CYCLE)}
"""Patterns that are there for a query, and not in the answer: a bound proves that they cost nothing."""

each_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


@cache
def read(file: Path) -> Automaton:
    return formats.load(file)


@cache
def verdicts(file: Path) -> Result:
    return analysis.check(read(file))


def expected(file: Path, pattern: Pattern) -> tuple[bool, int]:
    """Whether the pattern is there, and how many steps show it (or how many are looked at)."""
    if (file.stem, pattern) in HARMLESS:
        assert verdicts(file).verdict is Verdict.PRIVATE
        return True, SHORT
    found = verdicts(file).patterns[pattern]
    assert found.status in (Status.PRESENT, Status.ABSENT)
    if found.witness is None:
        return found.status is Status.PRESENT, SHORT
    steps = len(found.witness.run)
    control = control_graph(read(file))
    if not control.is_plain:  # the query is about the core, which draws constants first
        longest = max(map(len, control.chains.values()))
        return found.status is Status.PRESENT, len(control.keys) + longest * steps
    if pattern is Pattern.LEAKING_CYCLE:  # the query goes round until the order comes back
        ((i, j),) = found.witness.cycles
        steps += (len(orders_by_round(control, found.witness)[0]) - 1) * (j - i)
    return found.status is Status.PRESENT, steps


def test_the_examples_have_every_pattern_and_none():
    seen = {(pattern, expected(file, pattern)[0]) for file in FILES for pattern in Pattern}
    assert len(seen) == 2 * len(Pattern)


@each_file
def test_z3_and_cvc5_on_smtlib(file: Path):
    for pattern in Pattern:
        present, bound = expected(file, pattern)
        text = encode(read(file), pattern, bound)
        assert of_smtlib(z3_says(text)) is of_smtlib(cvc5_says(text)) is present, pattern


@each_file
def test_spacer_on_horn_clauses(file: Path):
    for pattern in Pattern:
        text = encode(read(file), pattern, fmt="chc")
        assert of_chc(spacer_says(text)) is expected(file, pattern)[0], pattern


@needs_abc
@each_file
def test_abc_on_aiger(file: Path, tmp_path: Path):
    """Whole, by proof and by bounded search; unrolled; and in the other encoding."""
    for pattern in Pattern:
        present, bound = expected(file, pattern)
        whole, short, ghost = (tmp_path / f"{name}.aig" for name in ("whole", "short", "ghost"))
        whole.write_bytes(encode_binary(read(file), pattern))
        short.write_bytes(encode_binary(read(file), pattern, bound))
        questions = [(whole, "pdr"), (whole, f"bmc3 -F {bound + 1}"), (short, "pdr")]
        if pattern in (Pattern.LEAKING_PAIR, Pattern.PRIVACY_VIOLATING_PATH):
            ghost.write_bytes(encode_binary(read(file), pattern, encoding="ghost"))
            questions.append((ghost, "pdr"))
        assert set(abc(*questions)) == {present}, pattern


@each_file
def test_btormc_on_btor2(file: Path, tmp_path: Path):
    checker, query = BtorMC(), tmp_path / "query.btor2"
    for pattern in Pattern:
        present, bound = expected(file, pattern)
        whole = encode(read(file), pattern, fmt="btor2")
        query.write_text(whole)
        assert checker.parse_error(query) is None
        assert checker.reached(whole, bound) is present, pattern


def test_the_reference_parser_of_btor2_refuses_what_is_wrong(tmp_path: Path):
    query = tmp_path / "query.btor2"
    query.write_text(encode(read(FILES[0]), Pattern.LEAKING_PAIR, fmt="btor2").replace("sort", "sorts"))
    assert "invalid tag" in str(BtorMC().parse_error(query))
