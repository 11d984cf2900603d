"""Certificates of the paper's automata: order facts, flows, the four patterns."""
