"""Certificates of automata that are not the paper's: the checker accepts them; they claim what was found."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction

import jsonschema  # type: ignore[import-untyped]
import pytest
from conftest import ROOT, WIDER_EXAMPLES
from linear_examples import ROWS
from linear_judge import ALL
from random_linear import random_linear

from symdipa import Automaton, Verdict, checker, load, loads
from symdipa.analysis import certify, weigh
from symdipa.bounds.alignment import PartedSide, Side, align
from symdipa.evidence import certificates as certificate
from symdipa.evidence.certificates import wider
from symdipa.model.errors import LimitReached, NothingToCertify
from symdipa.model.limits import Limits
from symdipa.model.verdict import Result
from symdipa.runs.control import control_graph
from symdipa.runs.problem import Problem
from symdipa.runs.properties import run_distinct

follows = jsonschema.Draft202012Validator(
    json.loads((ROOT / "symdipa" / "files" / "formats" / "certificate.schema.json").read_text())
).is_valid


def claims(automaton: Automaton, value: certificate.Json) -> list[checker.Claim]:
    """What a certificate proves, by way of a text that follows the schema."""
    assert follows(value)
    return list(checker.verify(automaton, certificate.dumps(value)).claims)


def certified(result: Result) -> list[checker.Claim]:
    """The claims about a result, which are what it says."""
    found = claims(result.automaton, certify(result))
    upper = [claim for claim in found if claim.kind == "private"]
    if result.witness is not None:
        (violation,) = found
        assert (violation.kind, violation.pattern) == ("violation", "growth")
        assert violation.distinct is result.distinct
        return found
    assert upper and max(claim.bound for claim in upper) == result.bounds.alignment
    lower = [claim for claim in found if claim.kind == "lower"]
    alike, flow = result.bounds.alike_proof, result.bounds.flow
    if alike is not None:
        told = lower.pop()
        assert (told.bound, told.distinct) == (alike.value, True)
        assert lower or alike.value == result.bounds.lower
    elif result.bounds.lower:
        assert lower
    for claim in lower:
        assert claim.bound == result.bounds.lower
        assert claim.distinct is run_distinct(control_graph(result.automaton), flow.run, flow.loops)
        assert not (claim.distinct and alike)
    return found


# ------------------------------------------------------------------------------------------------- examples

KNOWN = [
    pytest.param(make, bound, id=name)
    for name, make, differ, bound in ROWS
    if differ == ALL and not make().is_plain
]


@pytest.mark.parametrize(("make", "bound"), KNOWN)
def test_known_mechanisms(make, bound):
    found = certified(weigh(make(), timeout=60))
    if bound is None:
        assert [(claim.kind, claim.distinct) for claim in found] == [("violation", True)]
    else:
        expected = [("private", bound, None), ("lower", bound, True)]
        assert [(claim.kind, claim.bound, claim.distinct) for claim in found] == expected


@pytest.mark.parametrize(
    "path", [path for path in WIDER_EXAMPLES if not load(path).is_plain], ids=lambda path: path.stem
)
def test_every_example(path):
    found = certified(weigh(load(path), timeout=60))
    assert [claim.kind for claim in found] in (["violation"], ["private", "lower"])
    assert len({claim.bound for claim in found}) == 1


BAND = """
(t:non-input, 1/2, 0): t := insample; output start; goto q
(q, 1/8, 0): if (insample < t - 1) then output below; goto q
             elseif (insample >= t - 1 && insample < t + 1) then output in; goto end
             elseif (insample >= t + 1) then output above; goto end
"""

HYSTERESIS = """
(t:non-input, 1/2, 0): t := insample; output start; goto off
(off, 1/8, 0): if (insample >= t + 5) then output on; goto on
               elseif (insample < t + 5) then output stay; goto off
(on, 1/8, 0): if (insample < t - 5) then output off; goto off
              elseif (insample >= t - 5) then output hold; goto on
"""

BOTH_WAYS = """
noise integer
(s:non-input, 1, 0): s := insample; output start; goto t
(t, exp 1/2, 0): if (insample >= s) then t := insample; output above, insample - s; goto q
                 elseif (insample < s) then t := s; output below; goto q
(q, 1/4, 0): if (abs(insample) >= t) then output outside; goto end
             elseif (insample < t && insample > -t) then output inside; goto end
"""

SWAPPED = """
(p:non-input, 1, 0): x := insample; output start; goto q
(q, exp 1/2, 0): if (insample < x + 3) then y := x; output low; goto q1
                 elseif (insample >= x + 3) then y := x; output high; goto q1
(q1, 1/4, 0): if (insample >= y) then x := y, y := x; output more; goto q1
              elseif (insample < y) then output less; goto q1
"""


NEVER_EQUAL = """
(p:non-input, exp 1, 1): z := insample; output start; goto q
(q:non-input, inf, 1): if (insample < z) then output wait; goto q
                       elseif (insample >= z) then z := insample; output never; goto r
(r, inf, 0): if (insample >= z) then output above; goto end elseif (insample < z) then output below; goto end
"""
"""``z`` has noise and is at least 1, so it is never 1."""


@pytest.mark.parametrize("text", [BAND, HYSTERESIS, BOTH_WAYS, SWAPPED, NEVER_EQUAL])
def test_offsets_negatives_integers_and_copies(text):
    result = weigh(loads(text), ["alignment"], timeout=60)
    assert result.verdict is not Verdict.UNKNOWN
    certified(result)


@pytest.mark.parametrize(
    "name",
    [
        "leaking_cycle/svt_redrawn_threshold",
        "leaking_pair/svt_no_cutoff",
        "disclosing_cycle/stream",
        "privacy_violating_path/num_range_1",
        "well_formed/svt",
    ],
)
def test_automata_of_the_paper_with_integer_noise(name):
    automaton = load(ROOT / "examples" / f"{name}.dipa")
    states = [replace(state, mu=Fraction(round(state.mu))) for state in automaton.states]
    result = weigh(Automaton.build(states, automaton.transitions, integer=True), timeout=60)
    assert result.verdict is (Verdict.PRIVATE if name == "well_formed/svt" else Verdict.NOT_PRIVATE)
    certified(result)


def test_a_shown_second_sample_of_integer_noise_costs_what_it_does():
    text = """
noise integer
(p, 1/4, 0, 1/4, 2): x := insample; output insampleprime; goto q
(q:non-input, 1/4, 2): x := insample; output o; goto end
"""
    result = weigh(loads(text), timeout=60)
    assert result.bounds.optimal
    certified(result)


# --------------------------------------------------------------------------------------------- random ones

WAYS = [
    ("control", "", False),
    ("eq", "CK", True),
    ("augmentation", "U", False),
    ("augmentation", "LG", False),
    ("augmentation", "CKLG", True),
]


def wide(seed: int) -> Automaton:
    """A random automaton that is not one of the paper's."""
    rng = random.Random(seed)
    while (automaton := random_linear(rng)).is_plain:
        pass
    return automaton


@pytest.mark.parametrize("seed", range(150))
def test_random_automata(seed):
    result = weigh(wide(seed), ["alignment"], timeout=10)
    if result.verdict is Verdict.UNKNOWN:
        return
    try:
        certified(result)
    except NothingToCertify as reason:
        assert "distances" in str(reason) or "cycles" in str(reason)


@pytest.mark.parametrize("seed", range(30))
def test_every_graph_for_other_inputs(seed):
    automaton, rng = wide(1000 + seed), random.Random(seed)
    for way in WAYS:
        adjacency = rng.choice(["two-sided", "monotone", (Fraction(-1), Fraction(3))])
        sensitivity = rng.choice([Fraction(1), Fraction(5, 2)])
        try:
            found = align(
                Problem.of(automaton),
                *way,
                adjacency=adjacency,
                sensitivity=sensitivity,
                max_nodes=1000,
                limits=Limits.of(10),
            )
        except LimitReached:
            continue
        if found.bound is None:
            continue
        proved = claims(automaton, certificate.bundle(automaton, wider.private(automaton, found)))
        assert [claim.bound for claim in proved] == [side.bound for side in found.sides]
        assert len(proved) == (1 if adjacency == "two-sided" else 2)


# -------------------------------------------------------------------------------------- what is not certified


def test_that_no_pattern_occurs_proves_nothing():
    result = weigh(loads(BAND), timeout=60)
    with pytest.raises(NothingToCertify, match="not one of the paper's"):
        certify(result, invariant=True)
    with pytest.raises(NothingToCertify, match="not one of the paper's"):
        certificate.well_formed(Problem.of(result.automaton).control)


def test_distances_alone_are_not_certified():
    result = weigh(loads(BAND), timeout=60)
    measured = replace(result.bounds, from_above={"exact": Fraction(3, 4)}, alignment_proof=None)
    with pytest.raises(NothingToCertify, match="distances alone"):
        certify(replace(result, bounds=measured))


def test_parts_have_the_certificate_of_another_graph():
    text = "\n".join(
        f"(s{k}:non-input, exp 1/4, 0): x{k} := insample; output s; goto {f's{k + 1}' if k < 2 else 'q0'}"
        for k in range(3)
    ) + "\n".join(
        f"""
(q{k}, 1/8, 0): if (insample < x{k}) then output low; goto q{k}
                elseif (insample >= x{k}) then output high; goto {f"q{k + 1}" if k < 2 else "end"}"""
        for k in range(3)
    )
    automaton = loads(text)
    found = align(Problem.of(automaton), "parts", "", True)
    if found.bound is None or not all(isinstance(side, PartedSide) for side in found.sides):
        pytest.skip("there are no parts")
    (claim,) = claims(automaton, certificate.bundle(automaton, wider.private(automaton, found)))
    assert claim.bound >= found.bound


def test_what_the_halves_of_a_sample_leave_open_is_split(monkeypatch):
    """Shifts of a slot and of its mirror that are not negatives of each other are as good half-way."""
    automaton = next(make() for name, make, *_ in ROWS if name == "absolute value")
    found = align(Problem.of(automaton))
    (side,) = found.sides
    moved = Fraction(1, 3)

    class Crooked(Side):
        def shift(self, node, x):
            low, high = super().shift(node, x)
            return low + moved, high + moved

    crooked = Crooked(**{name: getattr(side, name) for name in side.__dataclass_fields__})
    straight = wider.one_sided(automaton, side)
    assert wider.one_sided(automaton, crooked) == straight
    assert claims(automaton, certificate.bundle(automaton, [straight]))[0].bound == found.bound
    assert replace(side, bound=Fraction(0)).bound == 0  # a bound that cannot be paid is not claimed
    assert wider.one_sided(automaton, replace(side, bound=Fraction(0)))["D"] == str(found.bound)
