"""Adjacency is symmetric: bounds, certificates and claims count a range in both orders of the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction as F

import pytest

from symdipa import analysis
from symdipa.bounds.relational import relational
from symdipa.checker import CertificateRefused, verify
from symdipa.evidence.certificates import dumps
from symdipa.evidence.certificates.build import bundle
from symdipa.evidence.probability import log_probability
from symdipa.files import formats
from symdipa.interface.cli.base import Exit, status
from symdipa.interface.reports.words import assumed
from symdipa.model.adjacency import TWO_SIDED, named
from symdipa.model.adjacency.differ import differ
from symdipa.model.adjacency.letters import DifferError
from symdipa.model.options import EVERY_METHOD

TESTS = formats.loads(
    """
    (q1:non-input, 4, 0): x := insample; output s; goto q2
    (q2, 1, 0): if (insample >= x) then output a; goto q3 elseif (insample < x) then output b; goto q5
    (q3, 1, 0): if (insample >= x) then output a; goto q4 elseif (insample < x) then output b; goto q5
    (q4, 1, 0): if (insample >= x) then output a; goto q5 elseif (insample < x) then output b; goto q5
    """
)
"""Three tests against one threshold that is dear to move: D depends on the order of the two inputs."""
ALL_PASS = (0, 1, 3, 5)


def log_ratio(first: Sequence[int | None], second: Sequence[int | None]) -> float:
    return log_probability(TESTS, ALL_PASS, first).value - log_probability(TESTS, ALL_PASS, second).value


@pytest.mark.parametrize("ends", [(-1, 0), (0, 1)])
def test_a_range_is_about_both_orders_of_the_inputs(ends: tuple[int, int]):
    low, high = map(F, ends)
    assert log_ratio((None, -12, -12, -12), (None, -13, -13, -13)) > 2.99, "these inputs are adjacent"
    result = analysis.weigh(TESTS, EVERY_METHOD, adjacency=(low, high))
    assert result.bounds is not None and not result.contradictions
    assert result.bounds.exact == result.bounds.alignment == result.bounds.lower == 3
    assert result.bounds.from_above.get("relational", F(3)) >= 3
    found = verify(TESTS, dumps(analysis.certify(result)))
    assert {(c.kind, c.bound, c.inputs and c.inputs.both) for c in found.claims} == {
        ("private", F(3), False),
        ("private", F(1), False),
        ("lower", F(3), False),
    }
    (whole,) = found.together
    assert str(whole).startswith("D*eps-private with D = 3 for differences in [") and "either order" in str(
        whole
    )


def test_the_relational_method_keeps_to_the_order_of_its_certificates():
    """One order costs 1 and the other one 3, with pairs of runs as with single runs."""
    proved = relational(TESTS, adjacency=(F(0), F(1)))
    found = {tuple(map(F, c["adjacency"])): F(c["D"]) for c in proved.certificates}  # type: ignore[call-overload]
    assert proved.bound == 3 and found == {(0, 1): 3, (-1, 0): 1}
    for ends, swapped in (((0, 1), (-1, 0)), ((-1, 0), (0, 1))):
        (made,) = (c for c in proved.certificates if tuple(map(F, c["adjacency"])) == ends)  # type: ignore[call-overload]
        turned = {**made, "adjacency": [str(end) for end in swapped]}
        if found[ends] < found[swapped]:
            with pytest.raises(CertificateRefused):
                verify(TESTS, dumps(bundle(TESTS, [turned])))


@pytest.mark.parametrize("method", EVERY_METHOD)
def test_a_bound_from_above_below_one_from_below_is_an_alarm(method: str):
    result = analysis.weigh(TESTS)
    assert result.bounds is not None and status(result) is Exit.PRIVATE
    above = {**result.bounds.from_above, method: F(5, 2)}
    broken = replace(result, bounds=replace(result.bounds, from_above=above, lower=F(3), needed=F(3)))
    assert broken.contradictions == (f"{method} proves D = 5/2, and a run that D is at least 3",)
    assert status(broken) is Exit.BUG
    single = replace(result, bounds=replace(result.bounds, from_above=above, lower=F(3), needed=F(2)))
    assert bool(single.contradictions) is (
        method != "relational"
    )  # other runs may make up for what one costs


@pytest.mark.parametrize("given", [TWO_SIDED, "-1,1", (-1, 1), (F(-1), 1.0)])
def test_an_interval_that_has_a_name_is_what_it_names(given):
    """The name was compared: the interval itself was refused ``corollary``, ``run`` and ``confirm``."""
    result = analysis.weigh(TESTS, EVERY_METHOD, adjacency=given)
    assert result.bounds is not None and result.bounds.adjacency == TWO_SIDED
    assert result.bounds.from_above == analysis.weigh(TESTS, EVERY_METHOD).bounds.from_above
    assert "corollary" in result.bounds.from_above
    assert analysis.confirm(result).confirmation is not None


def test_an_interval_without_a_name_is_said_in_numbers():
    result = analysis.weigh(TESTS, adjacency="-1,1/2")
    assert result.bounds is not None and result.bounds.adjacency == (F(-1), F(1, 2)) == named("-1,1/2")
    assert "between -1 and 1/2" in assumed(result.bounds.adjacency)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pattern==" + "*" * 5000, "more than 50 marks"),
        ("pattern=((((){999}){999}){999}){999}", "20000 parts"),
        ("pattern=((~{30}){30}){30}", "1000 letters"),
        ("pattern=" + "(" * 100, "50 deep"),
    ],
)
def test_patterns_that_are_too_large_are_refused_at_once(text, said):
    with pytest.raises(DifferError, match=said):
        differ(text)
