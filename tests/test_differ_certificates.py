"""Certificates where not every entry may differ: accepted as they are, refused when they are changed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from functools import cache

import differ_examples as examples
import jsonschema
import pytest
from conftest import ROOT
from random_differ import random_differ

from symdipa import Automaton, checker
from symdipa.analysis import certify, weigh
from symdipa.bounds.alignment import PartedSide
from symdipa.evidence import certificates
from symdipa.files.families import generate
from symdipa.model.automaton import with_differ
from symdipa.model.errors import InvalidInput, NothingToCertify

Json = dict
ROWS = [pytest.param(make, text, expected, id=name) for name, make, text, expected in examples.ROWS]


@cache
def follows():
    schema = json.loads((ROOT / "symdipa" / "files" / "formats" / "certificate.schema.json").read_text())
    return jsonschema.Draft202012Validator(schema).is_valid


def claims(automaton: Automaton, value: Json) -> list[checker.Claim]:
    """What a certificate proves, by way of a text that follows the schema."""
    assert follows()(value)
    return list(checker.verify(automaton, certificates.dumps(value)).claims)


def holds(automaton: Automaton, value: Json, part: Json) -> bool:
    """Whether the file with this one in place of its certificates is accepted."""
    try:
        checker.verify(automaton, value | {"certificates": [part]})
    except checker.CertificateRefused as refused:
        assert refused.message
        return False
    return True


@pytest.mark.parametrize(("make", "text", "expected"), ROWS)
def test_known_mechanisms(make, text, expected):
    automaton = examples.under(text, make())
    value = certify(weigh(automaton, timeout=60))
    found = claims(automaton, value)
    if expected is None:
        assert [(claim.kind, claim.distinct) for claim in found] == [("violation", True)]
        return
    bounds = [("private", expected, None), ("lower", expected, True)]
    assert [(claim.kind, claim.bound, claim.distinct) for claim in found] == bounds
    for part, more in zip(value["certificates"], (-1, 1), strict=True):
        assert holds(automaton, value, part)
        moved = str(expected + Fraction(more, 1000))
        assert not holds(automaton, value, part | {"D": moved})
    wrong = examples.under("all" if text != "all" else "entries=1", automaton)
    with pytest.raises(checker.CertificateRefused) as refused:
        checker.verify(wrong, value)
    assert refused.value.rule == "automaton"


@pytest.mark.parametrize("text", ["entries=1", "entries=3", "window=3"])
@pytest.mark.parametrize(
    "make", [examples.svt_for_ever, lambda: examples.smart_sum(2), lambda: examples.tree(2, Fraction(1))]
)
def test_a_proof_for_fewer_entries_is_none_for_more(make, text):
    """Put into a file about more entries."""
    automaton = examples.under(text, make())
    more = examples.under(
        {"entries=1": "entries=2", "entries=3": "entries=4", "window=3": "window=4"}[text], automaton
    )
    (private, _) = certify(weigh(automaton, timeout=60))["certificates"]
    assert not holds(more, certificates.bundle(more, []), private)


@pytest.mark.parametrize("text", ["pattern==~*", "pattern=={2}~*"])
def test_proofs_in_parts(text):
    automaton = with_differ(generate("pivot", 6), text)
    result = weigh(automaton, timeout=60)
    assert all(isinstance(side, PartedSide) for side in result.bounds.alignment_proof.sides)
    value = certify(result)
    assert [part["kind"] for part in value["certificates"]] == ["private-in-parts", "lower"]
    assert [claim.bound for claim in claims(automaton, value)] == [
        Fraction(47, 48) if "2" not in text else result.bounds.lower
    ] * 2
    part = value["certificates"][0]
    assert len(part["parts"]) > 1
    for k in range(len(part["parts"])):
        fewer = part | {"parts": part["parts"][:k] + part["parts"][k + 1 :]}
        assert not holds(automaton, value, fewer)
    for v, node in enumerate(part["ground"]["nodes"]):
        if Fraction(node["potential"]):
            lower = deepcopy(part)
            lower["ground"]["nodes"][v]["potential"] = str(Fraction(node["potential"]) * Fraction(999, 1000))
            assert not holds(automaton, value, lower)


def changed(rng: random.Random, part: Json) -> Json:
    """A certificate of privacy with a change somewhere."""
    twin = deepcopy(part)
    graphs = [twin["base"], twin["lift"]]
    graph = rng.choice(graphs)
    match rng.randrange(8):
        case 0 if graph["edges"]:
            gone = graph["edges"].pop(rng.randrange(len(graph["edges"])))
            other = graphs[graph is graphs[0]]
            if len(graph["nodes"]) == len(other["nodes"]) and gone in other["edges"]:
                other["edges"].remove(gone)
        case 1 if graph["edges"]:
            edge = rng.choice(graph["edges"])
            if len(edge) == 4:
                edge[3] = rng.choice("=~-+")
        case 2:
            for each in graphs:
                for edge in each["edges"]:
                    if len(edge) == 4 and rng.random() < 0.2:
                        edge[3] = rng.choice("=~-+")
        case 3:
            rng.choice(twin["base"]["nodes"])["differ"] = rng.randrange(4)
        case 4:
            node = rng.choice(twin["base"]["nodes"])
            node["registers"] = {r: rng.choice(["0", "1", "-1"]) for r in node.get("registers", {})}
        case 5:
            rng.choice(twin["base"]["nodes"]).pop("registers", None)
        case 6:
            node = rng.choice(twin["lift"]["nodes"])
            node["potential"] = str(
                max(Fraction(0), Fraction(node["potential"]) - rng.choice([Fraction(1, 8), 1]))
            )
        case 7 if graph["edges"]:
            rng.choice(graph["edges"])[2] = rng.randrange(len(graph["nodes"]))
    return twin


def lowered(part: Json, by: Fraction) -> Json:
    """With a smaller ``D``, and no potential above it."""
    twin = deepcopy(part)
    bound = Fraction(twin["D"]) - by
    twin["D"] = str(bound)
    for node in twin["lift"]["nodes"]:
        node["potential"] = str(max(Fraction(0), min(Fraction(node["potential"]), bound)))
    return twin


@pytest.mark.parametrize(
    ("make", "text", "expected"), [row for row in ROWS if row.values[2] is not None and "tree" not in row.id]
)
def test_changed_proofs_prove_no_more(make, text, expected):
    """Hundreds of changes, and then a bound that is too small: what is accepted is still true."""
    automaton = examples.under(text, make())
    value = certify(weigh(automaton, timeout=60))
    private, rng = value["certificates"][0], random.Random(text)
    if private["kind"] != "private":
        pytest.skip("in parts")
    for _ in range(150):
        twin = private
        for _ in range(rng.choice((1, 1, 2, 3))):
            twin = changed(rng, twin)
        assert not holds(automaton, value, lowered(twin, rng.choice([Fraction(1, 8), Fraction(1, 2)])))


def proofs(seeds: range) -> Iterator[tuple[int, Automaton, Json]]:
    for seed in seeds:
        try:
            automaton = random_differ(random.Random(seed))
            yield seed, automaton, certify(weigh(automaton, timeout=20), timeout=20)
        except (InvalidInput, NothingToCertify):
            continue


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_random_automata(first):
    """What is found is certified nearly always, and what is certified is accepted."""
    found = 0
    for seed, automaton, value in proofs(range(first, first + 20)):
        kinds = {claim.kind for claim in claims(automaton, value)}
        assert kinds & {"private", "violation"}, seed
        found += 1
    assert found >= 15
