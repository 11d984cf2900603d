"""The constant ``D``: the run bound, the exact constant, and flows that bound it from below (weights.md).

Modules are imported by their full names, since those that compute profiles load numpy:
:mod:`~symdipa.constant.run_bound`, :mod:`~symdipa.constant.flow` (neither does),
:mod:`~symdipa.constant.profiles` and :mod:`~symdipa.constant.signs`.
"""
