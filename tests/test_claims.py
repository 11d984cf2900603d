"""What claims say, which of them make up another one together, and which exclude each other."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from itertools import permutations

import pytest

from symdipa.checker import CertificateRefused
from symdipa.checker.claims import Claim, Inputs, both_ways, refuse_contradictions


def inputs(low: int, high: int, sensitivity: int = 1) -> Inputs:
    return Inputs(F(low), F(high), F(sensitivity), both=low == -high)


def private(bound: int, low: int, high: int, sensitivity: int = 1) -> Claim:
    return Claim("private", F(bound), inputs(low, high, sensitivity))


def lower(bound: int, low: int, high: int, sensitivity: int = 1) -> Claim:
    return Claim("lower", F(bound), inputs(low, high, sensitivity), distinct=True)


LOST = Claim("violation", pattern="leaking-pair", distinct=True)
WELL_FORMED = Claim("well-formed")


def grows(low, high) -> Claim:
    return Claim("violation", inputs=inputs(low, high), pattern="growth", distinct=True)


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (private(3, -1, 1), "D*eps-private with D = 3 for differences in [-1, 1]"),
        (private(3, -1, 1, 2), "D*eps-private with D = 3 for differences in [-1, 1] times 2"),
        (
            private(3, 0, 1),
            "D*eps-private in one direction with D = 3 for differences (first minus second) in [0, 1]",
        ),
        (
            Claim("private", F(3), replace(inputs(0, 1), both=True)),
            "D*eps-private with D = 3 for differences in [0, 1] in either order",
        ),
        (Claim("private", F(3)), "D*eps-private with D = 3 for None"),
        (lower(2, -1, 1), "not D*eps-private with any D below 2 for differences in [-1, 1]"),
        (
            replace(lower(2, -2, 0), distinct=False),
            "a run whose probabilities differ by 2*eps for differences (first minus second) in [-2, 0]",
        ),
        (LOST, "not private: a leaking pair"),
        (replace(LOST, distinct=False), "not well-formed: a leaking pair"),
        (
            grows(0, 1),
            "not private for differences (first minus second) in [0, 1]: a run costs as much as one likes",
        ),
        (
            replace(grows(-1, 1), distinct=False),
            "a run that costs as much as one likes for differences in [-1, 1]",
        ),
        (WELL_FORMED, "well-formed: none of the four patterns"),
    ],
)
def test_claims_in_words(claim: Claim, words: str):
    assert str(claim) == words


def test_both_orders_make_up_privacy():
    up, down = private(3, 0, 2), private(1, -2, 0)
    for claims in permutations([up, down, lower(1, 0, 2), WELL_FORMED]):
        (found,) = both_ways(claims)
        assert (found.kind, found.bound) == ("private", F(3))
        assert found.inputs is not None and found.inputs.both
        assert found.inputs.ends in ((0, 2), (-2, 0))
    assert both_ways([private(3, 0, 1, 2), down])[0].bound == 3, "the sensitivity counts"
    for others in (
        [up],
        [up, up],
        [up, private(1, -1, 0)],
        [up, private(1, -2, 1)],
        [up, lower(1, -2, 0)],
        [lower(1, 0, 2), down],
        [private(1, -1, 1), private(2, -1, 1)],
        [up, replace(down, inputs=None)],
        [up, replace(down, bound=None)],
        [replace(up, bound=None), down],
        [replace(up, inputs=None), down],
        [WELL_FORMED, LOST],
    ):
        assert both_ways(others) == []


@pytest.mark.parametrize(
    ("claim", "other", "excluded"),
    [
        (private(1, -1, 1), lower(2, -1, 1), True),
        (private(1, -2, 2), lower(2, 0, 1, 2), True),
        (private(1, -2, 2), lower(2, -1, 1), True),
        (private(1, -1, 1), lower(2, 0, 1, 2), False),
        (private(1, -1, 1), lower(2, -2, 1), False),
        (private(1, -1, 0), lower(2, 0, 1), False),
        (private(1, 0, 1), lower(2, 0, 1), True),
        (private(1, -1, 1), replace(lower(2, -1, 1), distinct=False), False),
        (private(1, -1, 1), lower(1, -1, 1), False),
        (private(1, -1, 1), replace(lower(2, -1, 1), bound=None), False),
        (private(1, -1, 1), replace(lower(2, -1, 1), inputs=None), False),
        (replace(private(1, -1, 1), bound=None), lower(2, -1, 1), False),
        (replace(private(1, -1, 1), inputs=None), lower(2, -1, 1), False),
        (replace(private(1, -1, 1), inputs=None), LOST, False),
        (private(1, -1, 1), LOST, True),
        (private(1, 0, 1), LOST, False),
        (private(1, -1, 0), LOST, False),
        (private(1, 0, 2), LOST, False),
        (private(1, -1, 1), replace(LOST, distinct=False), False),
        (lower(1, -1, 1), lower(2, -1, 1), False),
        (lower(1, -1, 1), LOST, False),
        (private(1, -1, 1), grows(0, 1), True),
        (private(1, 0, 1), grows(0, 1), True),
        (private(1, -1, 0), grows(0, 1), False),
        (private(1, 0, 2), grows(-1, 1), False),
        (private(1, -1, 1), replace(grows(0, 1), distinct=False), False),
        (lower(1, -1, 1), grows(0, 1), False),
        (WELL_FORMED, LOST, True),
        (WELL_FORMED, replace(LOST, distinct=False), True),
        (WELL_FORMED, private(1, -1, 1), False),
        (WELL_FORMED, lower(1, -1, 1), False),
    ],
)
def test_claims_that_exclude_each_other_are_refused(claim: Claim, other: Claim, excluded: bool):
    for claims in permutations([claim, other]):
        if excluded:
            with pytest.raises(CertificateRefused, match="true together") as refused:
                refuse_contradictions(claims)
            assert refused.value.rule == "contradiction"
            assert f"{claim}, and {other}: " in refused.value.message
        else:
            refuse_contradictions(claims)
