"""Families of automata that grow with a number, for benchmarks and as large examples.

Each builder documents the answer and the sizes of the automaton and its augmentation. Automata are valid by
construction and not validated, so that sizes in the thousands take milliseconds; the tests validate small
members and check what is documented.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from symdipa.files.families.orders import bracket, parity, pivot, running_max, u_range
from symdipa.files.families.published import k_minmax, m_range, svt
from symdipa.files.families.turing import turing_odd, turing_overflow, turing_wrap
from symdipa.model.automaton import Automaton
from symdipa.model.errors import InputProblem, InvalidInput
from symdipa.model.patterns import Pattern

LARGEST = 100_000

PRIVATE: frozenset[Pattern] = frozenset()
PAIR = frozenset({Pattern.LEAKING_PAIR})
CYCLE = frozenset({Pattern.LEAKING_CYCLE})


@dataclass(frozen=True, slots=True)
class Family:
    """One family: ``size`` says what the number counts, ``answer`` what the answer is for every number.

    ``patterns`` are the bad patterns that every member has (no others), ``nodes`` the number of reachable
    augmented states, ``bound`` the corollary bound of private members. ``smallest`` is the least number.
    """

    name: str
    summary: str
    size: str
    answer: str
    build: Callable[[int], Automaton]
    patterns: frozenset[Pattern]
    nodes: Callable[[int], int]
    bound: Callable[[int], Fraction] | None = None
    smallest: int = 1


def _private(
    name: str,
    summary: str,
    size: str,
    build: Callable[[int], Automaton],
    nodes: Callable[[int], int],
    bound: Fraction,
) -> Family:
    """A family of private automata with one bound for all numbers."""
    answer = f"private, D = {bound} (corollary bound)"
    return Family(name, summary, size, answer, build, PRIVATE, nodes, lambda _: bound)


def _bad(
    name: str, summary: str, size: str, build: Callable[..., Automaton], nodes: Callable[[int], int]
) -> Family:
    """The bad variant of a family: it has a leaking pair, which takes a number of at least 2."""
    built = partial(build, bad=True)
    return Family(name, summary, size, "not private: leaking pair", built, PAIR, nodes, smallest=2)


# fmt: off
_FAMILIES = (
    _private("m-range", "every dimension's input lies between two noisy thresholds of its own",
             "dimensions", m_range, lambda n: 4 * n + 1, Fraction(1)),
    _private("k-minmax", "least and largest of k noisy inputs, then inputs between the two",
             "inputs read at the start", k_minmax, lambda n: n + 2, Fraction(1)),
    _private("svt", "sparse vector technique with a cutoff and one shared threshold",
             "inputs above the threshold until it stops", svt, lambda n: n + 2, Fraction(5, 4)),
    _private("u-range", "m-range with thresholds that are read from the input, in either order",
             "dimensions", u_range, lambda n: (n + 2) * 2**n - 1, Fraction(1)),
    _private("pivot", "inputs stored above or below one pivot, then loops between each and the pivot",
             "inputs stored", pivot, lambda n: 3 * 2**n - 1, Fraction(1)),
    _bad("pivot-bad", "pivot with a last loop on either side of the pivot",
         "inputs stored", pivot, lambda n: 3 * 2**n - 1),
    _private("bracket", "inputs stored below, inside or above a bracket, then loops up to its lower end",
             "inputs stored", bracket, lambda n: 2 * 3**n + 1, Fraction(5, 4)),
    _bad("bracket-bad", "bracket with a last loop also above the bracket",
         "inputs stored", bracket, lambda n: 2 * 3**n + 1),
    _private("running-max",
             "inputs stored with their maximum so far, then loops between each and the maximum",
             "inputs stored", running_max, lambda n: 9 * 2**n // 4 + 1, Fraction(1)),
    _bad("running-max-bad", "running-max with a last loop that forgets its upper limit",
         "inputs stored", running_max, lambda n: 9 * 2**n // 4),
    _private("parity",
             "inputs above a pivot are counted modulo 2, twice; two loops leak if the counts differ",
             "inputs stored", parity, lambda n: 3 * 2**n, Fraction(5, 4)),
    replace(_bad("parity-bad", "parity with a last input that is counted once only",
                 "inputs stored", parity, lambda n: 3 * 2**n + 1), smallest=1),
    Family("turing-overflow", "simulated binary counter that leaks when it overflows",
           "cells", "not private: leaking pair after 2^N additions",
           turing_overflow, PAIR, lambda n: 2 ** (n + 2) + n - 2),
    Family("turing-wrap", "simulated binary counter that wraps for ever",
           "cells", "not private: leaking cycle of 2^(N+2) - 4 steps",
           turing_wrap, CYCLE, lambda n: 2 ** (n + 2) + n - 3),
    Family("turing-odd",
           "simulated binary counter that counts in twos, would leak when odd, halts when it overflows",
           "cells", "private, D = (5 * 2^(N-1) + N)/2 - 7/4 (corollary bound)",
           turing_odd, PRIVATE, lambda n: 5 * 2 ** (n - 1) + n - 2,
           lambda n: Fraction(5 * 2 ** (n - 1) + n, 2) - Fraction(7, 4)),
)
# fmt: on
FAMILIES: dict[str, Family] = {family.name: family for family in _FAMILIES}
"""Every family by the name the command line uses."""


def generate(name: str, n: int) -> Automaton:
    """The member of the family ``name`` for the number ``n``.

    Raises :class:`symdipa.model.errors.InvalidInput` for an unknown name, or a number that is too small or
    above 100000.
    """
    if name not in FAMILIES:
        raise _unusable(f"there is no family {name!r}; the families are {', '.join(FAMILIES)}")
    family = FAMILIES[name]
    if not isinstance(n, int):
        raise TypeError(f"{name} needs a whole number ({family.size}), not {n!r}")
    if not family.smallest <= n <= LARGEST:
        limits = f"from {family.smallest} to {LARGEST}"
        raise _unusable(f"{name} needs a number ({family.size}) {limits}, not {n}")
    return family.build(n)


def _unusable(message: str) -> InvalidInput:
    return InvalidInput([InputProblem("family", message)])
