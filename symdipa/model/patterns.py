"""The four bad patterns; an automaton without any of them is *well-formed* (docs/theory.md, section 3).

The names are those of Chadha, Sistla, Viswanathan and Bhusal (CCS 2023). The definitions at the members of
:class:`Pattern` are about one feasible run ``t_0 ... t_{n-1}``, whose positions are ``0 ... n-1``:

* Step ``j`` *uses* the variables of its guard: ``lt(t_j)`` are those with ``insample < x``, ``ge(t_j)`` those
  with ``insample >= x``. Then it *assigns* those of ``asg(t_j)``.
* ``last(x, j)`` is the last position before ``j`` that assigns ``x``. The *dependency graph* has the edges
  ``j -> last(x, j)`` for ``x`` in ``lt(t_j)`` and ``last(x, j) -> j`` for ``x`` in ``ge(t_j)``: the sample at
  the tail of an edge is forced below the one at its head. The run is *feasible* if the graph is acyclic.
* A *cycle* is a range of positions that leads from a control state back to it. It is *non-leaking* if it
  assigns no variable that it uses; then it can be repeated at will (Thm. repeatability).

Where each pattern is decided, encoded and checked (by their codes)::

      LC                      LP                     DC                         PV
    symdipa/runs/dataflow.py excludes it without search:
      may_have_leaking_cycle  may_have_chain         may_have_disclosing_cycle  may_have_chain
    symdipa/engines/explicit.py decides it on the augmentation:
      _leaking_cycle          _chain                 _disclosing_cycle          _chain
    encodings/ has it as a transition system for symbolic engines (two for LC), put together in catalogue.py:
      leaking_cycle.py        leaking_pair.py        disclosing_cycle.py        privacy_violating_path.py
      rounds.py
    symdipa/runs/witness/replaying.py replays a witness:
      _replay_leaking_cycle   _replay_leaking_pair   _replay_disclosing_cycle   _replay_violating_path
    symdipa/checker/plain/violation.py checks a certificate:
      _check_leaking          _check_pair            _check_disclosing          _check_violating
    tests/brute_force.py is the judge of the tests:
      has_leaking_cycle       has_leaking_pair       has_disclosing_cycle       has_violating_path

The explicit engine and the encodings are tested against the judge, which decides the patterns straight from
the definitions. The checker and the judge share no code with anything else that is listed here.
"""

from __future__ import annotations

from enum import Enum


class Pattern(Enum):
    """A bad pattern. ``short`` is the two-letter code of the command line, ``key`` the name in JSON."""

    LEAKING_CYCLE = ("LC", "leaking-cycle", "leaking cycle")
    """Def. leaking cycle: the run ends with a cycle ``C`` that assigns some variable and uses it, and the run
    with ``C`` taken ``m`` times is feasible for every ``m``.

    Equivalently (Thm. leaking cycle): a closed path of the augmentation assigns and uses one variable."""

    LEAKING_PAIR = ("LP", "leaking-pair", "leaking pair")
    """Def. leaking pair: the run has two non-leaking cycles ``C1`` and ``C2`` that do not overlap, in either
    order, and a dependency path ``k_1 -> k_2 -> ... -> k_m`` with ``k_1`` in ``C1`` and ``k_2 < k_1``, and
    with ``k_m`` in ``C2`` and ``k_{m-1} < k_m``."""

    DISCLOSING_CYCLE = ("DC", "disclosing-cycle", "disclosing cycle")
    """Def. disclosing cycle: the run ends with a non-leaking cycle in which a step reads an input and outputs
    ``insample`` or ``insample'``."""

    PRIVACY_VIOLATING_PATH = ("PV", "privacy-violating-path", "privacy violating path")
    """Def. privacy-violating path: the run has a non-leaking cycle ``C`` and a dependency path
    ``k_1 -> k_2 -> ... -> k_m`` with ``m >= 2``. Either step ``k_1`` outputs ``insample``, and ``k_m`` is in
    ``C`` with ``k_{m-1} < k_m``; or ``k_1`` is in ``C`` with ``k_2 < k_1``, and step ``k_m`` outputs
    ``insample``."""

    def __init__(self, short: str, key: str, title: str) -> None:
        self.short = short
        self.key = key
        self.title = title

    @classmethod
    def from_short(cls, short: str) -> Pattern:
        """The pattern with this two-letter code; ``ValueError`` names the codes there are."""
        for pattern in cls:
            if pattern.short == short.upper():
                return pattern
        raise ValueError(f"no pattern {short!r}; there are {', '.join(p.short for p in cls)}")
