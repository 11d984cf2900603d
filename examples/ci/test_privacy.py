"""What a library claims about its mechanisms, as tests."""

from fractions import Fraction
from pathlib import Path

import pytest

from symdipa.testing import assert_not_private, assert_private

PROGRAMS = Path(__file__).parent.parent / "programs"


@pytest.mark.parametrize("c", [1, 2, 5])
def test_the_sparse_vector_technique_costs_one(c):
    assert_private(f"{PROGRAMS}/sparse_vector.py:svt", c=c, at_most=1)


def test_a_coarse_look_first_costs_less():
    assert_private(f"{PROGRAMS}/adaptive.py:adaptive_svt", at_most=Fraction(3, 4))


def test_the_warning_stays_true():
    assert_not_private(f"{PROGRAMS}/sparse_vector.py:without_cutoff")
