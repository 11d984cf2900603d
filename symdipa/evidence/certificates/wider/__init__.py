"""Certificates about automata that are not the paper's, from what was found on their cores."""

from symdipa.evidence.certificates.wider.flows import growth, lower_of_alike, lower_of_flow
from symdipa.evidence.certificates.wider.private import one_sided, private

__all__ = ["growth", "lower_of_alike", "lower_of_flow", "one_sided", "private"]
