"""The constant ``D``: the run bound, the exact constant, and flows that bound it from below (weights.md).

Modules are imported by their full names, since those that compute profiles load numpy:
:mod:`~symdipa.bounds.exact.run_bound`, :mod:`~symdipa.bounds.exact.flow` (neither does),
:mod:`~symdipa.bounds.exact.profiles` and :mod:`~symdipa.bounds.exact.signs`.
"""
