"""The samples of a run and the order that the guards force on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from math import inf

from symdipa.model.adjacency.differ import ALL
from symdipa.model.automaton import Automaton, with_differ
from symdipa.model.errors import SymdipaError
from symdipa.runs.control import Control, Sampling, control_graph
from symdipa.runs.witness import dependency_graph

Window = tuple[float, float]
Number = int | float | Fraction


class ProbabilityRefused(SymdipaError):
    """A probability cannot be computed to the accuracy asked for; the text says why."""


@dataclass(frozen=True, slots=True)
class Law:
    """A Laplace sample with inverse scale ``rate`` around ``mean``, asked to lie in ``[low, high]``."""

    rate: float
    mean: float
    low: float = -inf
    high: float = inf


@dataclass(frozen=True, slots=True)
class Poset:
    """Samples with the order that a run forces on them.

    ``laws`` are by number, in the order of the run; ``over[i]`` are the samples directly above sample ``i``
    (no edge follows from others), ``under`` the converse. ``apart`` are laws that matter alone: the fresh
    samples of ``insample'`` outputs. ``feasible`` is ``False`` when the guards contradict each other.
    """

    laws: tuple[Law, ...]
    over: tuple[frozenset[int], ...]
    under: tuple[frozenset[int], ...]
    apart: tuple[Law, ...]
    feasible: bool = True


def plain_control(automaton: Automaton) -> Control:
    """The control graph of an automaton whose steps are those of the paper, whichever entries may differ."""
    return control_graph(with_differ(automaton, ALL))


def poset_of(
    control: Control,
    run: Sequence[int],
    inputs: Sequence[Number | None],
    outputs: Sequence[Window | None] | None,
    eps: Number,
) -> Poset:
    """The samples of a run on given inputs, with the transitive reduction of its dependency graph.

    Samples that are neither compared nor asked to lie in an interval are left out: they may take any value.
    """
    _check_run(control, run, inputs, outputs)
    edges = dependency_graph(control, run).over
    touched = {i for i, over in enumerate(edges) if over}.union(*edges)
    laws: dict[int, Law] = {}
    apart = []
    for j, t in enumerate(run):
        sampling = control.sampling[t]
        window = (outputs[j] if outputs is not None else None) or (-inf, inf)
        if sampling.shows_second:
            if window != (-inf, inf):
                apart.append(law_of(sampling, inputs[j], eps, window, second=True))
            window = (-inf, inf)
        if j in touched or window != (-inf, inf):
            laws[j] = law_of(sampling, inputs[j], eps, window)
    reduced = _reduction(edges)
    if reduced is None:
        return Poset((), (), (), tuple(apart), False)
    number = {j: i for i, j in enumerate(laws)}
    over = [frozenset(number[k] for k in reduced[j]) for j in laws]
    under: list[set[int]] = [set() for _ in laws]
    for i, targets in enumerate(over):
        for k in targets:
            under[k].add(i)
    return Poset(tuple(laws.values()), tuple(over), tuple(map(frozenset, under)), tuple(apart))


def law_of(
    sampling: Sampling, given: Number | None, eps: Number, window: Window = (-inf, inf), second: bool = False
) -> Law:
    """The law of the sample (or the ``second`` one) of a transition that reads ``given``."""
    d, mu = (sampling.d_prime, sampling.mu_prime) if second else (sampling.d, sampling.mu)
    assert d  # in a valid automaton the scale of a sample that matters is positive
    mean = mu + Fraction(given) if given is not None else mu
    return Law(float(d * Fraction(eps)), float(mean), float(window[0]), float(window[1]))


def check_numbers(inputs: Sequence[Number | None], eps: Number) -> None:
    """Refuse an ``eps`` that is not positive, inputs that are not finite, and what is no number."""
    for what, number in (("eps", eps), *(("an input", given) for given in inputs if given is not None)):
        if not isinstance(number, Number):
            raise TypeError(f"{what} is a number, not {number!r}")
    if not 0 < eps < inf:
        raise ValueError(f"eps must be positive and finite, not {eps}")
    for j, given in enumerate(inputs):
        if given is not None and not -inf < given < inf:
            raise ValueError(f"input {j} is not a finite number: {given}")


def check_whole(automaton: Automaton, inputs: Sequence[Number | None]) -> None:
    """Refuse inputs with a fraction where noise is integer."""
    for j, given in enumerate(inputs):
        if automaton.integer and given is not None and Fraction(given).denominator != 1:
            raise ValueError(f"input {j} is not an integer, as it must be with integer noise: {given}")


def _check_run(
    control: Control,
    run: Sequence[int],
    inputs: Sequence[Number | None],
    outputs: Sequence[Window | None] | None,
) -> None:
    if len(inputs) != len(run) or (outputs is not None and len(outputs) != len(run)):
        raise ValueError(f"a run of {len(run)} steps needs as many inputs and outputs")
    names, where = control.state_names, control.initial
    for t in run:
        if not isinstance(t, int) or not 0 <= t < len(control.source):
            raise ValueError(
                f"a run is positions of transitions, from 0 to {len(control.source) - 1}, not {t!r}"
            )
    for j, t in enumerate(run):
        source, sampling = control.source[t], control.sampling[t]
        if source != where:
            raise ValueError(f"step {j} leaves {names[source]}, but the run is in {names[where]}")
        if sampling.reads_input != (inputs[j] is not None):
            wanted = "a number" if sampling.reads_input else "None"
            raise ValueError(f"the input of step {j} must be {wanted}: state {names[where]}")
        window = outputs[j] if outputs is not None else None
        if window is not None and not sampling.output.is_real:
            raise ValueError(f"step {j} outputs the symbol {sampling.output}, which has no interval")
        where = control.target[t]


def _reduction(edges: Sequence[frozenset[int]]) -> list[set[int]] | None:
    """The transitive reduction of a graph, ``None`` if it has a cycle."""
    try:
        order = list(TopologicalSorter(dict(enumerate(edges))).static_order())  # from above
    except CycleError:
        return None
    reach = [0] * len(edges)
    reduced: list[set[int]] = [set() for _ in edges]
    for i in order:
        beyond = direct = 0
        for k in edges[i]:
            beyond |= reach[k]
            direct |= 1 << k
        reduced[i] = {k for k in edges[i] if not beyond >> k & 1}
        reach[i] = beyond | direct
    return reduced
