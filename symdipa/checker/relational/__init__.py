"""Certificates of privacy that pair runs: the rules, and what they say of the steps of an automaton."""

from symdipa.checker.relational.check import check_relational

__all__ = ["check_relational"]
