"""Probabilities in the wider model: other noises, comparisons with offsets, constants and negatives, several
numbers shown in a step. The probability is a sum over a lattice, one sample after another."""
