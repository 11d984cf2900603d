"""The run bound, the exact constant, and flows from below (docs/weights.md, sections 1, 3 and 4).

Modules are imported by their full names, since those that compute profiles load numpy:
:mod:`~symdipa.bounds.exact.run_bound`, :mod:`~symdipa.bounds.exact.flow` (neither does),
:mod:`~symdipa.bounds.exact.profiles` and :mod:`~symdipa.bounds.exact.signs`.
"""
