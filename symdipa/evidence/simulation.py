"""Simulation: many executions on given inputs, with no code of the probabilities that it confirms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symdipa.evidence.probability.poset import check_numbers
from symdipa.model.automaton import Automaton, Output, OutputKind, State
from symdipa.runs.control import control_graph
from symdipa.runs.order import members

Shown = str | tuple[float, float] | None
"""What was output: a symbol, or the window that a real value fell into (``None``: into none)."""


@dataclass(frozen=True)
class Simulation:
    """How many of ``samples`` independent executions did what.

    ``runs`` counts them by their transitions, ``outputs`` by what they showed, ``final`` by their last
    state, ``stopped`` by why they ended: ``"inputs"`` (an input state found none left), ``"terminal"`` (no
    transition leaves the state), ``"guard"`` (no guard held) or ``"steps"`` (the limit on their number).
    """

    samples: int
    runs: Mapping[tuple[int, ...], int]
    outputs: Mapping[tuple[Shown, ...], int]
    final: Mapping[str, int]
    stopped: Mapping[str, int]

    def showing(self, outputs: Sequence[Shown]) -> int:
        """How many executions showed these outputs first, whatever they showed afterwards."""
        first = tuple(outputs)
        return sum(count for seen, count in self.outputs.items() if seen[: len(first)] == first)


@dataclass(frozen=True)
class Frequent:
    """Outputs that ``count`` executions showed and no more, and ``beginning`` showed first.

    ``share`` is that of the latter; ``computed`` the probability that it estimates, if that was computed,
    with its ``error`` and the distance of both in standard deviations, ``sigmas``.
    """

    outputs: tuple[Shown, ...]
    count: int
    beginning: int
    share: float
    computed: float | None = None
    error: float | None = None
    sigmas: float | None = None


def simulate(
    automaton: Automaton,
    inputs: Sequence[int | float | Fraction],
    eps: int | float | Fraction = 1,
    n: int = 10_000,
    seed: int = 0,
    max_steps: int = 1_000,
    windows: Sequence[tuple[float, float]] = (),
) -> Simulation:
    """Let the automaton run ``n`` times on the same inputs; the same ``seed`` gives the same result.

    ``inputs`` are the numbers that input states read one after another; an execution ends when there is
    none left for it, when no guard holds (Def. DiP automaton) or after ``max_steps``. A real output is shown
    as the first of ``windows`` that holds it. Raises ``ValueError`` for an ``eps`` that is not positive and
    for inputs that are not finite.
    """
    import numpy as np

    control = control_graph(automaton)
    check_numbers(inputs, eps)
    rng = np.random.default_rng(seed)
    scale, stream = float(Fraction(eps)), [float(a) for a in inputs]
    stored = np.full((n, max(1, control.variables)), np.nan)
    # Executions that took the same run so far stay together: run, state, inputs read, members, real outputs.
    groups: list[tuple[tuple[int, ...], int, int, Any, list[Any]]] = [
        ((), control.initial, 0, np.arange(n), [])
    ]
    runs: Counter[tuple[int, ...]] = Counter()
    shown: Counter[tuple[Shown, ...]] = Counter()
    final: Counter[str] = Counter()
    stopped: Counter[str] = Counter()

    def end(run: tuple[int, ...], state: State, real: list[Any], count: int, why: str) -> None:
        if count:
            runs[run] += count
            final[state.name] += count
            stopped[why] += count
            shown.update(_shown([automaton.transitions[t].output for t in run], real, windows, count))

    while groups:
        run, q, read, who, real = groups.pop()
        state, leaving = automaton.states[q], control.outgoing[q]
        if not leaving or len(run) >= max_steps or (state.is_input and read >= len(stream)):
            why = "terminal" if not leaving else "steps" if len(run) >= max_steps else "inputs"
            end(run, state, real, len(who), why)
            continue
        given = stream[read] if state.is_input else 0.0
        sample = np.full(len(who), np.nan)
        if state.d:
            sample = rng.laplace(float(state.mu) + given, 1 / (float(state.d) * scale), len(who))
        stuck = np.ones(len(who), dtype=bool)
        chosen: list[tuple[int, Any]] = []
        for t in leaving:
            holds = np.ones(len(who), dtype=bool)
            for x in members(control.steps[t].ge):
                holds &= sample >= stored[who, x]
            for x in members(control.steps[t].lt):
                holds &= sample < stored[who, x]
            stuck &= ~holds
            if holds.any():
                chosen.append((t, holds))
        for t, holds in chosen:  # only now, so that every guard reads the old values
            taken = who[holds]
            kind, after = automaton.transitions[t].output.kind, [column[holds] for column in real]
            if kind is OutputKind.INSAMPLE:
                after.append(sample[holds])
            elif kind is OutputKind.INSAMPLE_PRIME:
                assert state.d_prime
                mean = float(state.mu_prime) + given
                after.append(rng.laplace(mean, 1 / (float(state.d_prime) * scale), len(taken)))
            for x in members(control.steps[t].asg):
                stored[taken, x] = sample[holds]
            groups.append(((*run, t), control.target[t], read + state.is_input, taken, after))
        end(run, state, [column[stuck] for column in real], int(stuck.sum()), "guard")
    return Simulation(n, dict(runs), dict(shown), dict(final), dict(stopped))


def _shown(
    outputs: Sequence[Output], real: Sequence[Any], windows: Sequence[tuple[float, float]], count: int
) -> Counter[tuple[Shown, ...]]:
    """How often the executions of one run, with these outputs and ``real`` values of them, showed what."""
    import numpy as np

    fallen = []
    for column in real:
        fallen.append(np.full(count, -1))
        for k, (low, high) in reversed(list(enumerate(windows))):
            fallen[-1][(column >= low) & (column <= high)] = k
    rows, counts = np.empty((1, 0), dtype=int), np.array([count])
    if fallen:
        rows, counts = np.unique(np.stack(fallen, axis=1), axis=0, return_counts=True)
    result: Counter[tuple[Shown, ...]] = Counter()
    for row, many in zip(rows, counts, strict=True):
        places = (windows[k] if k >= 0 else None for k in row)
        result[tuple(next(places) if output.is_real else output.symbol for output in outputs)] += int(many)
    return result
