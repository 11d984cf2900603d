"""Certificates about automata that are not the paper's, from what was found on their cores."""

from symdipa.evidence.certificates.wider.flows import growth, lower
from symdipa.evidence.certificates.wider.private import private

__all__ = ["growth", "lower", "private"]
