"""What can be chosen by name, and what stands behind the names."""

from __future__ import annotations

import inspect
from dataclasses import fields
from fractions import Fraction

import pytest

from symdipa import analysis
from symdipa.evidence.certificates import invariant
from symdipa.files import formats
from symdipa.interface.cli import base
from symdipa.model.options import CHECKING_SOLVERS, FORMATS, SOLVERS, CheckOptions, patterns_of
from symdipa.model.patterns import Pattern
from symdipa.systems.smt import SAT_SOLVERS


def test_every_name_has_something_behind_it():
    assert tuple(formats.READERS) == FORMATS
    assert (*formats.WRITERS, "svg") == base.WRITTEN
    assert ("z3", *SAT_SOLVERS) == SOLVERS
    assert tuple(invariant._ASK) == CHECKING_SOLVERS


def test_a_check_takes_every_option_with_the_same_default():
    taken = inspect.signature(analysis.check).parameters
    beside = ("automaton", "differ", "halt", "progress", "settings")
    defaults = {name: taken[name].default for name in taken if name not in beside}
    assert defaults == {field.name: field.default for field in fields(CheckOptions)} | {"patterns": None}
    assert patterns_of(None) == CheckOptions().patterns


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"engine": "no"}, "no engine 'no'; there are auto, explicit, z3, both"),
        ({"encoding": "no"}, "no encoding 'no'; there are marks, ghost"),
        ({"solver": "no"}, "no solver 'no'; there are z3, minisat, glucose, cadical"),
        ({"solver": ""}, "no solver ''; there are z3, minisat, glucose, cadical"),
        ({"bound": 0}, "bound must be positive, not 0"),
        ({"timeout": -1.0}, "timeout must be positive, not -1.0"),
        ({"memory": 0}, "memory must be positive, not 0"),
        ({"max_weight": Fraction(0)}, "max_weight must be positive, not 0"),
        ({"max_weight": Fraction(1), "bounds": False}, "bounds must not be False"),
    ],
)
def test_options_that_mean_nothing_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        CheckOptions(**wrong)


def test_patterns_stand_in_their_order_and_once():
    wanted = patterns_of(["pv", Pattern.LEAKING_PAIR, "LP"])
    assert CheckOptions(patterns=wanted).patterns == (Pattern.LEAKING_PAIR, Pattern.PRIVACY_VIOLATING_PATH)
    assert patterns_of("lc") == (Pattern.LEAKING_CYCLE,)
    with pytest.raises(ValueError, match="no pattern 'XX'"):
        patterns_of(["XX"])
