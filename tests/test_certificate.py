"""Certificates that are made: the checker accepts them, they follow the schema, they claim what was found."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from time import monotonic

import jsonschema  # type: ignore[import-untyped]
import pytest
from conftest import EXAMPLES, ROOT, WIDER
from random_automata import random_automaton
from test_checker import HOLD, TAMPERED, about, dearest, rule_of, tampered

from symdipa import INSAMPLE, Automaton, Guard, Pattern, Status, Verdict, check, checker, load
from symdipa.bounds.alignment import align
from symdipa.bounds.portfolio import bounds_on
from symdipa.evidence import certificates as certificate
from symdipa.files.families import published
from symdipa.model.errors import NothingToCertify, OutOfTime
from symdipa.model.limits import Limits
from symdipa.model.verdict import Bounds
from symdipa.runs.control import control_graph
from symdipa.runs.problem import Problem

BAD = sorted(path for path in EXAMPLES.glob("*/*.dipa") if path.parent.name not in ("well_formed", *WIDER))
GOOD = sorted((EXAMPLES / "well_formed").glob("*.dipa"))


def name(path):
    return path.stem


@pytest.fixture(scope="module")
def follows() -> Callable[[object], bool]:
    """Whether a value follows the schema."""
    schema = json.loads((ROOT / "symdipa" / "files" / "formats" / "certificate.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema).is_valid


def verified(automaton: Automaton, *certificates: certificate.Json) -> tuple[checker.Claim, ...]:
    """The claims of the certificates, by way of a text."""
    text = certificate.dumps(certificate.bundle(automaton, certificates))
    return checker.verify(automaton, text).claims


# ----------------------------------------------------------------------------------------------- violations


@pytest.mark.parametrize("path", BAD, ids=name)
def test_every_violating_example(path, follows):
    automaton = load(path)
    result = check(automaton)
    made = certificate.violation(control_graph(automaton), result.witness)
    (claim,) = verified(automaton, made)
    assert (claim.kind, claim.pattern) == ("violation", result.witness.pattern.key)
    assert claim.distinct is result.distinct is (result.verdict is Verdict.NOT_PRIVATE)
    assert follows(certificate.bundle(automaton, [made]))


@pytest.mark.parametrize("seed", range(60))
def test_violations_of_random_automata(seed):
    automaton = random_automaton(random.Random(seed), states=(2, 3))
    result = check(automaton, engine="explicit")
    for found in result.patterns.values():
        if found.witness is not None:
            made = certificate.violation(control_graph(automaton), found.witness)
            (claim,) = verified(automaton, made)
            assert claim.pattern == found.pattern.key
            if found.witness == result.witness:
                assert claim.distinct is result.distinct


# --------------------------------------------------------------------------------------------------- bounds


GRAPHS = [
    {"graph": "control"},
    {"graph": "eq", "lift": "CK"},
    {"graph": "augmentation", "lift": "U"},
    {"graph": "augmentation", "lift": "CKLG", "intervals": True},
]


@pytest.mark.parametrize("path", GOOD, ids=name)
def test_every_well_formed_example(path, follows):
    automaton = load(path)
    for options in GRAPHS:
        found = align(Problem.of(automaton), **options)
        made = certificate.private(found)
        assert len(made) == (found.bound is not None)
        if made:
            (claim,) = verified(automaton, *made)
            assert (claim.kind, claim.bound) == ("private", found.bound)
            assert follows(certificate.bundle(automaton, made))


@cache
def weighed(path: str, adjacency: str | tuple[Fraction, Fraction], sensitivity: Fraction) -> Bounds:
    return bounds_on(
        Problem.of(load(EXAMPLES / "well_formed" / path)), adjacency=adjacency, sensitivity=sensitivity
    )


@pytest.mark.parametrize("sensitivity", [1, Fraction(5, 2)])
@pytest.mark.parametrize("adjacency", ["two-sided", "monotone", (Fraction(-1), Fraction(3))], ids=str)
@pytest.mark.parametrize("path", ["svt.dipa", "num_sparse.dipa", "k_min_max_3.dipa", "svt_resampled_2.dipa"])
def test_bounds_from_above_and_below_for_other_inputs(path, adjacency, sensitivity, follows):
    automaton = load(EXAMPLES / "well_formed" / path)
    found = weighed(path, adjacency, sensitivity)
    above = certificate.private(found.alignment_proof)
    below = certificate.lower_of_flow(found.flow, found.flow_range, found.sensitivity)
    *upper, lower = verified(automaton, *above, below)
    assert len(upper) == (1 if adjacency == "two-sided" else 2)
    assert max(claim.bound for claim in upper) == found.alignment_proof.bound
    assert lower.bound == found.lower <= found.alignment_proof.bound
    assert all(claim.inputs.sensitivity == sensitivity for claim in (*upper, lower))
    ranges = {(claim.inputs.low, claim.inputs.high) for claim in upper}
    assert (lower.inputs.low, lower.inputs.high) in ranges
    assert follows(certificate.bundle(automaton, [*above, below]))


@pytest.mark.parametrize("path", GOOD, ids=name)
def test_lower_bounds_of_the_examples(path):
    found = weighed(path.name, "two-sided", Fraction(1))
    automaton = load(path)
    (claim,) = verified(automaton, certificate.lower_of_flow(found.flow))
    assert claim.bound == found.lower
    if path.stem in ("svt", "k_min_max_3"):
        assert claim.distinct is (path.stem == "svt")


def test_an_endless_flow_is_no_lower_bound():
    found = weighed("svt.dipa", "two-sided", Fraction(1))
    with pytest.raises(ValueError, match="violation"):
        certificate.lower_of_flow(replace(found.flow, value=None))


@pytest.mark.parametrize("seed", range(60))
def test_bounds_of_random_automata(seed):
    """What is proved is at least what the dearest short run costs, found by trying all shifts."""
    automaton = random_automaton(random.Random(seed), variables=(1, 2), states=(2, 3))
    options = random.Random(seed).choice(GRAPHS)
    found = align(Problem.of(automaton), **options)
    for made in certificate.private(found):
        (claim,) = verified(automaton, made)
        assert claim.bound == found.bound >= dearest(automaton, Fraction(-1), Fraction(1), 4)
        lower = Fraction(claim.bound) - Fraction(1, 1000)
        assert rule_of(automaton, certificate.bundle(automaton, [made | {"D": str(lower)}])) == (
            "private-bound"
        )


def twisted(rng: random.Random, automaton: Automaton) -> Automaton:
    """The automaton with a change to one transition or state; it need not be valid any more."""
    transitions, states = list(automaton.transitions), list(automaton.states)
    t, q = rng.randrange(len(transitions)), rng.randrange(len(states))
    old, x = transitions[t], rng.choice(automaton.variables or ("x",))
    transitions[t] = rng.choice(
        [
            replace(old, assign=old.assign ^ {x}),
            replace(old, guard=Guard(old.guard.ge ^ {x}, old.guard.lt)),
            replace(old, guard=Guard(old.guard.ge, old.guard.lt ^ {x})),
            replace(old, guard=Guard(old.guard.lt, old.guard.ge)),
            replace(old, target=rng.choice(states).name),
            replace(old, output=INSAMPLE),
            old,
        ]
    )
    if transitions[t] == old:
        states[q] = replace(states[q], is_input=not states[q].is_input, d=2 * (states[q].d or Fraction(0)))
    return Automaton(tuple(states), automaton.initial, tuple(transitions), automaton.variables)


@pytest.mark.parametrize("seed", range(40))
def test_the_proof_for_one_automaton_handed_in_for_another(seed):
    """Where the digest is forged too, what is accepted is true of the other automaton."""
    rng = random.Random(seed)
    automaton = random_automaton(rng, variables=(1, 2), states=(2, 3))
    control = control_graph(automaton)
    made = certificate.private(align(Problem(control), **rng.choice(GRAPHS)))
    results = check(automaton, engine="explicit").patterns.values()
    made += [certificate.violation(control, found.witness) for found in results if found.witness]
    for proof in made:
        file = certificate.bundle(automaton, [proof])
        for _ in range(4):
            other = twisted(rng, automaton)
            forged = file | {"automaton": {"name": other.name, "sha256": checker.digest(other)}}
            try:
                (claim,) = checker.verify(other, certificate.dumps(forged)).claims
            except checker.CertificateRefused:
                continue
            if claim.kind == "private":
                assert claim.bound >= dearest(other, Fraction(-1), Fraction(1), 3)
            else:
                found = check(other, engine="explicit").patterns
                assert found[next(p for p in Pattern if p.key == claim.pattern)].status is Status.PRESENT


def test_a_violating_automaton_has_no_certificate_of_privacy():
    """The proof of a well-formed automaton, handed in for one with a further loop."""
    good = load(EXAMPLES / "well_formed" / "svt.dipa")
    bad = load(EXAMPLES / "leaking_pair" / "svt_no_cutoff.dipa")
    (made,) = certificate.private(align(Problem.of(good)))
    assert rule_of(bad, certificate.bundle(good, [made])) == "automaton"
    assert rule_of(bad, certificate.bundle(bad, [made])) is not None


def test_a_certificate_of_the_control_graph_has_linear_size():
    sizes = []
    for m in (20, 40, 80):
        automaton = published.m_range(m)
        made = certificate.private(align(Problem.of(automaton), graph="control"))
        text = certificate.dumps(certificate.bundle(automaton, made))
        (claim,) = checker.verify(automaton, text).claims
        assert claim.bound == 1
        sizes.append(len(text))
    assert sizes[2] < 2.2 * sizes[1] < 2.2 * 2.2 * sizes[0]


# ------------------------------------------------------------------------------------------------- the text


def test_the_text_is_json_with_short_lines():
    automaton = load(EXAMPLES / "well_formed" / "k_min_max_3.dipa")
    value = certificate.bundle(automaton, certificate.private(align(Problem.of(automaton))))
    text = certificate.dumps(value)
    assert json.loads(text) == value
    assert max(map(len, text.splitlines())) <= 110


SCHEMA_IS_LAX = {"rational", "shape"}
"""Rules of which the schema has to notice every breach."""


def row_name(row):
    return " ".join(map(str, row[:3]))


@pytest.mark.parametrize("row", [row for row in TAMPERED if row[1] in SCHEMA_IS_LAX], ids=row_name)
def test_the_schema_refuses_what_has_the_wrong_shape(row, follows):
    name, _, place, value = row
    automaton, good = HOLD[name]
    assert follows(about(automaton, good))
    counted = place in ("differences", "rounds") or 3 in (value if isinstance(value, dict) else ())
    if not (counted or value in ("5/0", "5/00", "5/4\n", 1.0)):
        assert not follows(about(automaton, tampered(good, (place, value))))


# ----------------------------------------------------------------------------------------------- invariants


SVT = load(EXAMPLES / "well_formed" / "svt.dipa")
KEYS = [pattern.key for pattern in Pattern]


@cache
def invariant(path: str, encoding: str = "marks") -> str:
    automaton = load(EXAMPLES / path)
    return json.dumps(certificate.well_formed(control_graph(automaton), encoding))


@pytest.mark.parametrize("solver", ["cvc5", "z3"])
@pytest.mark.parametrize("encoding", ["marks", "ghost"])
@pytest.mark.parametrize("path", ["svt.dipa", "range_1.dipa", "k_min_max_3.dipa"])
def test_invariants_of_well_formed_examples(path, encoding, solver, follows):
    automaton = load(EXAMPLES / "well_formed" / path)
    made = json.loads(invariant(f"well_formed/{path}", encoding))
    file = certificate.bundle(automaton, [made])
    assert follows(file)
    (claim,) = certificate.verify(automaton, certificate.dumps(file), solver).claims
    assert claim.kind == "well-formed"
    with pytest.raises(checker.CertificateRefused, match="only a solver"):
        checker.verify(automaton, file)


def test_no_invariant_where_a_pattern_occurs():
    automaton = load(EXAMPLES / "leaking_pair" / "a_leakp.dipa")
    with pytest.raises(NothingToCertify, match="leaking pair"):
        certificate.well_formed(control_graph(automaton))


def refused(made: certificate.Json, automaton: Automaton = SVT) -> str | None:
    try:
        certificate.verify(automaton, certificate.bundle(automaton, [made]))
    except checker.CertificateRefused as refusal:
        return refusal.rule
    return None


def test_every_conjunction_of_an_invariant_counts():
    """Without one of them the others may still be inductive, but not all of them are for show."""
    path = "well_formed/range_1.dipa"
    automaton, made = load(EXAMPLES / path), json.loads(invariant(path))
    outcomes = set()
    for key in KEYS:
        for system in made["patterns"][key]:
            for cubes in system["blocked"].values():
                dropped = cubes.pop()
                outcomes.add(refused(made, automaton))
                cubes.append(dropped)
    assert outcomes <= {None, "invariant-holds"} and "invariant-holds" in outcomes
    assert refused(made, automaton) is None


def test_an_invariant_of_nothing_does_not_exclude_a_violation():
    for folder, key in (
        ("leaking_pair/svt_no_cutoff", "leaking-pair"),
        ("disclosing_cycle/stream", "disclosing-cycle"),
    ):
        automaton = load(EXAMPLES / f"{folder}.dipa")
        made = certificate_of_nothing(automaton)
        assert refused(made, automaton) == "invariant-holds", key


def certificate_of_nothing(automaton: Automaton) -> certificate.Json:
    """An invariant that blocks nothing."""
    from symdipa.encodings.catalogue import systems
    from symdipa.runs.dataflow import order_facts

    control = control_graph(automaton)
    facts = order_facts(control, precise=False)
    return {
        "kind": "well-formed",
        "encoding": "marks",
        "patterns": {
            pattern.key: [
                {"bits": [system.graph.name(bit >> 1) for bit in system.bits], "blocked": {}}
                for system in systems(pattern, facts, "marks")
            ]
            for pattern in Pattern
        },
    }


def test_an_invariant_that_blocks_everything_does_not_hold():
    made = json.loads(invariant("well_formed/svt.dipa"))
    for system in made["patterns"]["leaking-pair"]:
        system["blocked"] = {"q1": [[]]}
    assert refused(made) == "invariant-holds"


@pytest.mark.parametrize(
    ("rule", "place", "value"),
    [
        ("shape", "encoding", None),
        ("invariant-shape", "encoding", "other"),
        ("invariant-holds", "encoding", "ghost"),
        ("shape", "patterns.other", []),
        ("shape", "patterns.leaking-pair", []),
        ("shape", "patterns.leaking-pair", None),
        ("shape", "patterns.leaking-pair.0", []),
        ("invariant-shape", "patterns.leaking-pair.0.bits", []),
        ("invariant-shape", "patterns.leaking-pair.0.bits", None),
        ("shape", "patterns.leaking-pair.0.blocked", []),
        ("invariant-shape", "patterns.leaking-pair.0.blocked.q9", []),
        ("shape", "patterns.leaking-pair.0.blocked.q2", {}),
        ("shape", "patterns.leaking-pair.0.blocked.q2", [1]),
        ("invariant-shape", "patterns.leaking-pair.0.blocked.q2", [[0]]),
        ("invariant-shape", "patterns.leaking-pair.0.blocked.q2", [[999]]),
        ("invariant-shape", "patterns.leaking-pair.0.blocked.q2", [[-999]]),
        ("invariant-shape", "patterns.leaking-pair.0.blocked.q2", [[True]]),
        ("invariant-shape", "patterns.leaking-pair.0.blocked.q2", [["1"]]),
        ("invariant-shape", "patterns.leaking-pair.0.blocked.q1", [[1]]),
    ],
)
def test_invariants_of_the_wrong_shape(rule, place, value):
    made = tampered(json.loads(invariant("well_formed/svt.dipa")), (place, value))
    if place == "encoding" and value == "ghost":
        assert refused(made) in ("invariant-shape", "shape")
    else:
        assert refused(made) == rule


def test_obligations_are_scripts_on_their_own():
    made = json.loads(invariant("well_formed/svt.dipa"))
    obligations = list(certificate.obligations(SVT, made))
    assert {word for o in obligations for word in ("initially", "preserved", "safe") if word in o.name} == {
        "initially", "preserved", "safe",
    }  # fmt: skip
    for obligation in obligations:
        assert obligation.script.startswith("(set-logic QF_UF)\n")
        assert obligation.script.endswith("(check-sat)\n")


def test_a_deadline_for_the_obligations():
    file = certificate.bundle(SVT, [json.loads(invariant("well_formed/svt.dipa"))])
    assert certificate.verify(SVT, file, limits=Limits.of(60))
    with pytest.raises(OutOfTime):
        certificate.verify(SVT, file, limits=Limits(deadline=monotonic() - 1))
    with pytest.raises(ValueError, match="cvc5, z3"):
        certificate.verify(SVT, file, "minisat")
