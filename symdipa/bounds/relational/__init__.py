"""Relational alignment, experimental: bounds on ``D`` by pairing different runs (docs/weights.md)."""

from symdipa.bounds.relational.ladder import RELATIONAL_SECONDS, Relational, Trial, relational

__all__ = ["RELATIONAL_SECONDS", "Relational", "Trial", "relational"]
