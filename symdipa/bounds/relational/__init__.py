"""Relational alignment, experimental: bounds by pairing different runs (docs/weights.md, section 7)."""

from symdipa.bounds.relational.ladder import Relational, Trial, relational

__all__ = ["Relational", "Trial", "relational"]
