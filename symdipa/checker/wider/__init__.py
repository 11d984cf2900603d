"""Certificates of automata that are not the paper's: noise, constants, offsets, copies, gaps, mirrors."""
