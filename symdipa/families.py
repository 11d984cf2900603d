"""Families of automata that grow with a number, for benchmarks and as large examples.

Each builder documents what must come out and how large the automaton is. Automata are correct by
construction and built without going through validation, so that sizes in the thousands take
milliseconds; the tests validate small members.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from symdipa.automaton import TRUE, Automaton, Guard, State, Transition, symbol
from symdipa.errors import InvalidInput, Problem

LARGEST = 100_000
QUARTER = Fraction(1, 4)

Branch = tuple[Guard, str, str]
"""Guard, output symbol and target of a transition that stores nothing."""


@dataclass(frozen=True, slots=True)
class Family:
    """One family: ``size`` says what the number counts, ``answer`` what must come out for every number."""

    name: str
    summary: str
    size: str
    answer: str
    build: Callable[[int], Automaton]


def m_range(m: int) -> Automaton:
    """m-Range: go round m dimensions while every input lies between two noisy thresholds of its dimension.

    Private with corollary bound 1 for every ``m``: the ``2 m`` thresholds cost ``1/(4 m)`` each and leaving
    the loop costs ``1/2``. It has ``2 m`` variables, ``3 m + 1`` states and ``5 m`` transitions.
    """
    states, transitions = [], []
    for place in range(2 * m):
        dimension, upper = divmod(place, 2)
        variable = f"{'lr'[upper]}{dimension + 1}"
        here = f"q{place + 1}"
        states.append(State(here, is_input=False, d=Fraction(1, 4 * m), mu=Fraction(upper)))
        transitions.append(Transition(here, f"q{place + 2}", symbol("obot"), assign=frozenset({variable})))
    first, end = 2 * m + 1, f"q{3 * m + 1}"
    for dimension in range(m):
        here = f"q{first + dimension}"
        onward = f"q{first + (dimension + 1) % m}"
        low, high = f"l{dimension + 1}", f"r{dimension + 1}"
        states.append(State(here, d=QUARTER))
        transitions += _branches(
            here,
            (_guard(ge=[low], lt=[high]), "ocontinue", onward),
            (_guard(ge=[low, high]), "otop", end),
            (_guard(lt=[low, high]), "obot", end),
        )
    variables = [f"{side}{i + 1}" for i in range(m) for side in "lr"]
    return _finish(f"m-range-{m}", states, end, transitions, variables)


def k_minmax(k: int) -> Automaton:
    """k-MinMax: keep the least and the largest of k noisy inputs, then accept inputs between the two.

    Private with corollary bound 1 for every ``k``: ``k`` inputs cost ``1/(2 k)`` each, leaving the loop costs
    ``1/2``. Not output-distinct (which of the three cases an early input falls into is not shown). It has 2
    variables, ``k + 2`` states and ``3 k + 1`` transitions.
    """
    scale = Fraction(1, 4 * k)
    states = [State("q1", d=scale)]
    transitions = [Transition("q1", "q2", symbol("oread"), assign=frozenset({"min", "max"}))]
    above = _guard(ge=["min", "max"])
    between = _guard(ge=["min"], lt=["max"])
    below = _guard(lt=["min", "max"])
    for i in range(2, k + 1):
        here, onward = f"q{i}", f"q{i + 1}"
        states.append(State(here, d=scale))
        for guard, stored in ((above, {"max"}), (between, set()), (below, {"min"})):
            transitions.append(Transition(here, onward, symbol("oread"), guard, frozenset(stored)))
    here, end = f"q{k + 1}", f"q{k + 2}"
    states.append(State(here, d=QUARTER))
    transitions += _branches(here, (below, "obot", end), (above, "otop", end), (between, "ocontinue", here))
    return _finish(f"k-minmax-{k}", states, end, transitions, ["min", "max"])


def svt(cutoff: int) -> Automaton:
    """Sparse vector technique: compare inputs with a noisy threshold until ``cutoff`` of them exceed it.

    Private with corollary bound 5/4 for every ``cutoff``: the threshold costs 1/4, each input above it
    ``1/cutoff``, inputs below it nothing. ``svt 1`` is the paper's SVT. It has 1 variable, ``cutoff + 2``
    states and ``2 * cutoff + 1`` transitions.
    """
    states = [State("q1", is_input=False, d=QUARTER)]
    transitions = [Transition("q1", "q2", symbol("oinit"), assign=frozenset({"x"}))]
    for i in range(2, cutoff + 2):
        here = f"q{i}"
        states.append(State(here, d=Fraction(1, 2 * cutoff)))
        transitions += _branches(
            here, (_guard(lt=["x"]), "obot", here), (_guard(ge=["x"]), "otop", f"q{i + 1}")
        )
    return _finish(f"svt-{cutoff}", states, f"q{cutoff + 2}", transitions, ["x"])


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(
            "m-range",
            "every dimension's input lies between two noisy thresholds of its own",
            "dimensions",
            "private, D = 1 (corollary bound)",
            m_range,
        ),
        Family(
            "k-minmax",
            "least and largest of k noisy inputs, then inputs between the two",
            "inputs read at the start",
            "private, D = 1 (corollary bound)",
            k_minmax,
        ),
        Family(
            "svt",
            "sparse vector technique with a cutoff and one shared threshold",
            "inputs above the threshold until it stops",
            "private, D = 5/4 (corollary bound)",
            svt,
        ),
    )
}
"""Every family by the name the command line uses."""


def generate(name: str, n: int) -> Automaton:
    """The member of the family ``name`` for the number ``n``.

    Raises :class:`symdipa.errors.InvalidInput` for an unknown name or a number outside 1 to 100000.
    """
    if name not in FAMILIES:
        raise _unusable(f"there is no family {name!r}; the families are {', '.join(FAMILIES)}")
    family = FAMILIES[name]
    if not 1 <= n <= LARGEST:
        raise _unusable(f"{name} needs a number ({family.size}) from 1 to {LARGEST}, not {n}")
    return family.build(n)


def _unusable(message: str) -> InvalidInput:
    return InvalidInput([Problem("family", message)])


def _guard(ge: list[str] | None = None, lt: list[str] | None = None) -> Guard:
    return Guard(frozenset(ge or ()), frozenset(lt or ())) if ge or lt else TRUE


def _branches(source: str, *branches: Branch) -> list[Transition]:
    return [Transition(source, target, symbol(out), guard) for guard, out, target in branches]


def _finish(
    name: str, states: list[State], end: str, transitions: list[Transition], variables: list[str]
) -> Automaton:
    return Automaton((*states, State(end)), states[0].name, tuple(transitions), tuple(variables), name)
