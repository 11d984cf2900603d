"""Adjacency is symmetric: bounds, certificates and claims count a range in both orders of the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction as F

import pytest
from conftest import EXAMPLES

from symdipa import analysis
from symdipa.bounds.relational import relational
from symdipa.checker import CertificateRefused, verify
from symdipa.evidence.certificates import dumps
from symdipa.evidence.certificates.build import bundle
from symdipa.evidence.probability import log_probability
from symdipa.evidence.refutation import NoRefutation, script
from symdipa.files import formats
from symdipa.interface.cli.base import Exit, status
from symdipa.interface.reports import refutation
from symdipa.interface.reports.document import as_text
from symdipa.interface.reports.words import assumed
from symdipa.model.adjacency import TWO_SIDED, named
from symdipa.model.adjacency.differ import differ
from symdipa.model.adjacency.letters import DifferError
from symdipa.model.options import EVERY_METHOD
from symdipa.programs.loading import read_program

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


# ------------------------------------------------------------------------------- two inputs that are adjacent

INTERVALS = {
    "monotone": {F(0), F(1)},
    (F(-1), F(0)): {F(0), F(1)},
    (F(-1, 2), F(1)): {F(-1, 2), F(1)},
    (F(0), F(1, 4)): {F(0), F(1, 4)},
}


def apart(alpha, beta):
    return {a - b for a, b in zip(alpha, beta, strict=True) if a is not None and b is not None}


def within(differences, ends):
    """Whether all lie between the ends, in one order or the other."""
    low, high = min(ends), max(ends)
    return all(low <= x <= high for x in differences) or all(low <= -x <= high for x in differences)


@pytest.mark.parametrize("adjacency", INTERVALS, ids=str)
def test_a_refutation_is_adjacent(adjacency):
    leaky = replace(formats.load(EXAMPLES / "leaking_pair" / "svt_no_cutoff.dipa"), adjacency=adjacency)
    found = analysis.refute(analysis.check(leaky), 2, 1)
    differences = apart(found.alpha, found.beta)
    assert found.holds and len(differences) > 1 and within(differences, INTERVALS[adjacency])
    told = " ".join(as_text(refutation.document(found)).split())
    if adjacency == "monotone":
        assert "differ by at most 1 in each entry, all of them up or all of them down, and the" in told
    else:
        assert f"one minus the other is between {adjacency[0]} and {adjacency[1]} in each entry" in told


@pytest.mark.parametrize("adjacency", INTERVALS, ids=str)
def test_a_confirmation_is_adjacent(adjacency):
    result = analysis.weigh(formats.load(EXAMPLES / "well_formed" / "svt.dipa"), adjacency=adjacency)
    found = analysis.confirm(result).confirmation
    assert found is not None and result.bounds is not None and result.bounds.best is not None
    assert within(apart(found.pair.alpha, found.pair.beta), INTERVALS[adjacency])
    assert 0.99 * float(result.bounds.best) < found.log_ratio_per_eps <= result.bounds.best + found.error


@pytest.mark.parametrize(("word", "cutoff"), [("INCREASING", ""), ("DECREASING", "count < 1 && ")])
def test_inputs_for_a_c_file_are_as_its_annotation_says(word, cutoff, tmp_path):
    text = f"""void svt(float q[], int size, float epsilon)
{{
  "PRECONDITION: {word}";
  float t = Lap(2 / epsilon);
  int count = 0;
  int i = 0;
  while ({cutoff}i < size) {{
    if (q[i] + Lap(2 / epsilon) >= t) {{ CHECKDP_OUTPUT(1); count = {"count + 1" if cutoff else "0"}; }}
    else {{ CHECKDP_OUTPUT(0); }}
    i = i + 1;
  }}
}}"""
    file = tmp_path / "svt.c"
    file.write_text(text, encoding="utf-8")
    automaton = read_program(str(file))
    if cutoff:
        found = analysis.confirm(analysis.weigh(automaton, adjacency=automaton.adjacency)).confirmation.pair
    else:
        found = analysis.refute(analysis.check(automaton), 2, 1)
        assert found.holds and set(script.contents(found)["ranges"]) == {("0", "1"), ("-1", "0")}
    differences = apart(found.alpha, found.beta)
    assert differences - {0} and (min(differences) >= 0 or max(differences) <= 0)


def test_where_no_entry_may_differ_there_are_no_two_inputs():
    leaky = replace(formats.load(EXAMPLES / "leaking_pair" / "svt_no_cutoff.dipa"), adjacency=(F(0), F(0)))
    with pytest.raises(NoRefutation):
        analysis.refute(analysis.check(leaky), 1, 1)
