"""Simulation: many samples of what an automaton does on given inputs, in parallel.

It shares nothing with :mod:`symdipa.evidence.probability` and serves to confirm it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from symdipa.model.automaton import Automaton, OutputKind
from symdipa.runs.control import control_graph
from symdipa.runs.order import members

Shown = str | tuple[float, float] | None
"""What was output: a symbol, or the window that a real value fell into (``None``: into none)."""


@dataclass(frozen=True)
class Simulation:
    """What ``samples`` independent executions did.

    ``runs`` counts them by the transitions they took, ``outputs`` by what they showed, ``final`` by the
    state they ended in, ``stopped`` by why they ended: ``"inputs"`` (an input state found none left),
    ``"terminal"`` (no transition leaves the state), ``"guard"`` (no guard held) or ``"steps"`` (the limit
    on the number of steps). With windows, a run is counted apart for each combination of windows that its
    real outputs fell into.
    """

    samples: int
    runs: Mapping[tuple[int, ...], int]
    outputs: Mapping[tuple[Shown, ...], int]
    final: Mapping[str, int]
    stopped: Mapping[str, int]
    values: Mapping[tuple[int, ...], Any] = field(default_factory=dict, repr=False)

    def beginning_with(self, run: Sequence[int]) -> int:
        """How many executions took these transitions first, whatever they did afterwards."""
        first = tuple(run)
        return sum(count for taken, count in self.runs.items() if taken[: len(first)] == first)

    def showing(self, outputs: Sequence[Shown]) -> int:
        """How many executions showed these outputs first, whatever they showed afterwards."""
        first = tuple(outputs)
        return sum(count for seen, count in self.outputs.items() if seen[: len(first)] == first)


@dataclass(frozen=True)
class Frequent:
    """Outputs that many executions showed: ``count`` of them and nothing more, ``beginning`` as a beginning.

    ``share`` is that of the latter; ``computed`` the probability that it estimates, with its ``error``, and
    ``sigmas`` how far they are apart in standard deviations, as far as that was computed.
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
    keep_values: bool = False,
) -> Simulation:
    """Let the automaton run ``n`` times on the same inputs; the same ``seed`` gives the same result.

    ``inputs`` are the numbers that input states read one after another; an execution ends when there is
    none left for it, when no guard holds (Def. DiP automaton) or after ``max_steps``. A real output is shown
    as the first of ``windows`` that holds it. With ``keep_values`` the real outputs of every run are kept:
    ``values[run]`` has a row for each execution and a column for each step that shows a real number.
    """
    import numpy as np

    control = control_graph(automaton)
    rng = np.random.default_rng(seed)
    scale = float(Fraction(eps))
    stream = np.array([float(a) for a in inputs])
    stored = np.full((n, max(1, control.variables)), np.nan)
    # Executions that took the same run so far stay together: run, state, inputs read, members, values.
    groups: list[tuple[tuple[int, ...], int, int, Any, list[Any]]] = [
        ((), control.initial, 0, np.arange(n), [])
    ]
    runs: Counter[tuple[int, ...]] = Counter()
    shown: Counter[tuple[Shown, ...]] = Counter()
    final: Counter[str] = Counter()
    stopped: Counter[str] = Counter()
    values: dict[tuple[int, ...], Any] = {}

    def end(run: tuple[int, ...], q: int, who: Any, real: list[Any], why: str) -> None:
        if len(who) == 0:
            return
        runs[run] += len(who)
        final[automaton.states[q].name] += len(who)
        stopped[why] += len(who)
        for seen, count in _shown(automaton, run, real, windows, len(who)).items():
            shown[seen] += count
        if keep_values:
            rows = np.stack(real, axis=1) if real else np.empty((len(who), 0))
            values[run] = np.concatenate((values[run], rows)) if run in values else rows

    while groups:
        run, q, read, who, real = groups.pop()
        state, leaving = automaton.states[q], control.outgoing[q]
        if not leaving or len(run) >= max_steps or (state.is_input and read >= len(stream)):
            end(
                run,
                q,
                who,
                real,
                "terminal" if not leaving else "steps" if len(run) >= max_steps else "inputs",
            )
            continue
        given = stream[read] if state.is_input else 0.0
        sample = np.full(len(who), np.nan)
        if state.d:
            sample = rng.laplace(float(state.mu) + given, 1 / (float(state.d) * scale), len(who))
        stuck = np.ones(len(who), dtype=bool)
        chosen: list[tuple[int, Any]] = []
        for t in leaving:
            step = control.steps[t]
            holds = np.ones(len(who), dtype=bool)
            for x in members(step.ge):
                holds &= sample >= stored[who, x]
            for x in members(step.lt):
                holds &= sample < stored[who, x]
            stuck &= ~holds
            chosen.append((t, holds))
        for t, holds in chosen:  # only now, so that every guard reads the old values
            step = control.steps[t]
            taken = who[holds]
            if len(taken) == 0:
                continue
            kind, after = automaton.transitions[t].output.kind, [column[holds] for column in real]
            if kind is OutputKind.INSAMPLE:
                after.append(sample[holds])
            elif kind is OutputKind.INSAMPLE_PRIME:
                assert state.d_prime
                mean = float(state.mu_prime) + given
                after.append(rng.laplace(mean, 1 / (float(state.d_prime) * scale), len(taken)))
            for x in members(step.asg):
                stored[taken, x] = sample[holds]
            groups.append(((*run, t), control.target[t], read + state.is_input, taken, after))
        end(run, q, who[stuck], [column[stuck] for column in real], "guard")
    return Simulation(n, dict(runs), dict(shown), dict(final), dict(stopped), values)


def _shown(
    automaton: Automaton,
    run: tuple[int, ...],
    real: Sequence[Any],
    windows: Sequence[tuple[float, float]],
    count: int,
) -> Counter[tuple[Shown, ...]]:
    """How often the executions of one run showed what."""
    import numpy as np

    fallen = []
    for column in real:
        window = np.full(count, -1)
        for k in reversed(range(len(windows))):
            window[(column >= windows[k][0]) & (column <= windows[k][1])] = k
        fallen.append(window)
    if fallen:
        rows, counts = np.unique(np.stack(fallen, axis=1), axis=0, return_counts=True)
    else:
        rows, counts = np.empty((1, 0), dtype=int), np.array([count])
    result: Counter[tuple[Shown, ...]] = Counter()
    for row, many in zip(rows, counts, strict=True):
        places = iter(row)
        seen: list[Shown] = []
        for t in run:
            output = automaton.transitions[t].output
            if output.is_real:
                k = int(next(places))
                seen.append(windows[k] if k >= 0 else None)
            else:
                seen.append(output.symbol)
        result[tuple(seen)] += int(many)
    return result
