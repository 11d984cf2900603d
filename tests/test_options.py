"""What can be chosen by name, and what stands behind the names."""

from __future__ import annotations

from symdipa.evidence.certificates import invariant
from symdipa.files import formats
from symdipa.interface.cli import base
from symdipa.model.options import CHECKING_SOLVERS, FORMATS, SOLVERS
from symdipa.systems.smt import SAT_SOLVERS


def test_every_name_has_something_behind_it():
    assert tuple(formats.READERS) == FORMATS
    assert (*formats.WRITERS, "svg") == base.WRITTEN
    assert ("z3", *SAT_SOLVERS) == SOLVERS
    assert tuple(invariant._ASK) == CHECKING_SOLVERS
