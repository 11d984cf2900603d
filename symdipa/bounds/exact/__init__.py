"""The run bound, the exact constant, and flows from below (docs/weights.md, sections 1, 3 and 4).

Import modules by their full names: those that compute profiles load numpy, the others do not.
"""
