"""Relational alignment, experimental: bounds by pairing different runs (docs/weights.md, section 7)."""

from symdipa.bounds.relational.ladder import RELATIONAL_SECONDS, Relational, Trial, relational

__all__ = ["RELATIONAL_SECONDS", "Relational", "Trial", "relational"]
