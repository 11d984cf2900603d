"""Certificates (docs/certificates.md): made from what was found out, and verified, invariants included.

:mod:`symdipa.checker` is the part to be trusted, and the only one that checks bounds and violations. Here is
what hands it something to check, and what invariants need: the encodings, and a solver.
"""

from symdipa.evidence.certificates.build import (
    Json,
    bundle,
    dumps,
    lower,
    lower_of_alike,
    lower_of_flow,
    private,
    violation,
)
from symdipa.evidence.certificates.invariant import (
    NOT_PLAIN,
    InvariantObligation,
    obligations,
    verify,
    well_formed,
)

__all__ = [
    "NOT_PLAIN",
    "InvariantObligation",
    "Json",
    "bundle",
    "dumps",
    "lower",
    "lower_of_alike",
    "lower_of_flow",
    "obligations",
    "private",
    "verify",
    "violation",
    "well_formed",
]
