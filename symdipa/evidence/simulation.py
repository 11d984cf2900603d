"""Simulation: many executions on given inputs, with no code of the probabilities that it confirms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from symdipa.evidence.probability.linear.events import Observed, intervals_of, matches
from symdipa.evidence.probability.poset import check_numbers, check_whole
from symdipa.model.automaton import Automaton, Noise, Output, OutputKind, Term, Update, validated
from symdipa.model.parts import SAMPLE, SECOND_SAMPLE

Seen = str | tuple[float, float] | None
Shown = Seen | tuple[Seen, ...]
"""What was output: a symbol, or the window that a real value fell into (``None``: into none); or several of
these, for an output that is a list."""


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
    executions = _Executions(automaton, inputs, eps, seed)
    groups = [executions.start(n)]
    runs: Counter[tuple[int, ...]] = Counter()
    shown: Counter[tuple[Shown, ...]] = Counter()
    final: Counter[str] = Counter()
    stopped: Counter[str] = Counter()

    def end(group: _Group, why: str) -> None:
        if count := len(group.who):
            runs[group.run] += count
            final[automaton.states[group.q].name] += count
            stopped[why] += count
            outputs = [automaton.transitions[t].output for t in group.run]
            shown.update(_shown(outputs, group.real, windows, count))

    while groups:
        group = groups.pop()
        if not automaton.outgoing[group.q]:
            end(group, "terminal")
        elif len(group.run) >= max_steps:
            end(group, "steps")
        elif not executions.can_read(group):
            end(group, "inputs")
        else:
            following, stuck = executions.step(group)
            groups += following
            end(stuck, "guard")
    return Simulation(n, dict(runs), dict(shown), dict(final), dict(stopped))


AT_A_TIME = 1_000_000
"""So many executions are followed at a time where only one outcome counts."""


def occurrences(
    automaton: Automaton,
    inputs: Sequence[int | float | Fraction],
    outputs: Sequence[Observed],
    eps: int | float | Fraction = 1,
    n: int = 1_000_000,
    seed: int = 0,
) -> int:
    """How many of ``n`` executions on the inputs show these outputs first, whatever they show afterwards.

    ``outputs`` are as those of :func:`~symdipa.evidence.probability.total_log_probability`. Executions that
    show anything else are not followed, so many more are affordable than :func:`simulate` can tell about.
    """
    executions, count = _Executions(automaton, inputs, eps, seed), 0
    for first in range(0, n, AT_A_TIME):
        groups = [executions.start(min(AT_A_TIME, n - first))]
        for seen in outputs:
            groups = [
                showing
                for group in groups
                if executions.can_read(group)
                for following in executions.step(group)[0]
                if (showing := following.showing(automaton.transitions[following.run[-1]].output, seen))
            ]
        count += sum(len(group.who) for group in groups)
    return count


class _Group(NamedTuple):
    """The executions ``who`` took the same ``run`` to state ``q`` and ``read`` so many inputs; so registers
    hold the same ``sums`` in all of them. ``real``: for each number that was output a column of values."""

    run: tuple[int, ...]
    q: int
    read: int
    sums: Mapping[str, Fraction]
    who: Any
    real: list[Any]

    def only(self, these: Any) -> _Group:
        """Some of the executions."""
        return self._replace(who=self.who[these], real=[column[these] for column in self.real])

    def showing(self, output: Output, seen: Observed) -> _Group | None:
        """Those whose only output was ``output`` and looked like that, if there are any."""
        if not matches(output, seen):
            return None
        found = self
        for k, (low, high) in enumerate(intervals_of(seen)):
            found = found.only((found.real[k] >= low) & (found.real[k] <= high))
        return found._replace(real=[]) if len(found.who) else None


class _Executions:
    """Executions on the same inputs, of which those with the same run stay together."""

    def __init__(
        self,
        automaton: Automaton,
        inputs: Sequence[int | float | Fraction],
        eps: int | float | Fraction,
        seed: int,
    ) -> None:
        import numpy as np

        validated(automaton)
        check_numbers(inputs, eps)
        check_whole(automaton, inputs)
        self.automaton = automaton
        self.rng = np.random.default_rng(seed)
        self.eps, self.stream = float(Fraction(eps)), [Fraction(a) for a in inputs]
        self.stored: dict[str, Any] = {}

    def start(self, n: int) -> _Group:
        """``n`` executions that have done nothing."""
        import numpy as np

        self.stored = {name: np.full(n, np.nan) for name in self.automaton.variables}
        return _Group((), self.automaton.index[self.automaton.initial], 0, {}, np.arange(n), [])

    def can_read(self, group: _Group) -> bool:
        """Whether there is an input left, if the state reads one."""
        return not self.automaton.states[group.q].is_input or group.read < len(self.stream)

    def step(self, group: _Group) -> tuple[list[_Group], _Group]:
        """The executions after one more step, and those for which no guard holds."""
        import numpy as np

        automaton, stored, who = self.automaton, self.stored, group.who
        state = automaton.states[group.q]
        given = self.stream[group.read] if state.is_input else Fraction(0)
        added = given + sum((factor * group.sums[r] for r, factor in state.registers), Fraction(0))
        sample = np.full(len(who), np.nan)
        if state.draws and (state.d or state.noise is Noise.NONE):
            sample = self._drawn(state.noise, state.d, state.mu + added, len(who))

        def of(term: Term) -> Any:
            if term.name is None:
                return float(term.offset)
            held = sample if term.name == SAMPLE else stored[term.name][who]
            return (-held if term.mirrored else held) + float(term.offset)

        stuck = np.ones(len(who), dtype=bool)
        chosen: list[tuple[int, Any]] = []
        for t in automaton.outgoing[group.q]:
            holds = np.ones(len(who), dtype=bool)
            for each in automaton.transitions[t].guard.atoms:
                low, high = of(each.low), of(each.high)
                holds &= low < high if each.strict else low <= high
            stuck &= ~holds
            if holds.any():
                chosen.append((t, holds))
        following = []
        for t, holds in chosen:  # only now, so that every guard reads the old values
            transition, taken = automaton.transitions[t], who[holds]
            old = {y: stored[y][taken] for _, y in transition.copies if isinstance(y, str)}
            for x, y in transition.copies:
                stored[x][taken] = old[y] if isinstance(y, str) else float(y)
            for x in transition.assign:
                stored[x][taken] = sample[holds]
            now = {SAMPLE: sample[holds]}
            if transition.output.shows_second:
                mean = state.mu_prime + added
                now[SECOND_SAMPLE] = self._drawn(state.noise_prime, state.d_prime, mean, len(taken))
            real = []
            for part in transition.output.parts:
                if part.kind is not OutputKind.SYMBOL:
                    names = part.names or (part.kind.value,)
                    values = [now[x] if x in now else stored[x][taken] for x in names]
                    real.append(values[0] - values[1] if len(values) == 2 else values[0])
            following.append(
                _Group(
                    (*group.run, t),
                    automaton.index[transition.target],
                    group.read + state.is_input,
                    _updated(group.sums, transition.updates, given),
                    taken,
                    [column[holds] for column in group.real] + real,
                )
            )
        return following, group.only(stuck)

    def _drawn(self, noise: Noise, d: Fraction | None, around: Fraction, count: int) -> Any:
        import numpy as np

        mean, rng = float(around), self.rng
        if noise is Noise.NONE:
            return np.full(count, mean)
        assert d  # in a valid automaton the scale of a sample that matters is positive
        rate = float(d) * self.eps
        if self.automaton.integer:
            first = rng.geometric(-np.expm1(-rate), count) - 1
            second = rng.geometric(-np.expm1(-rate), count) - 1 if noise is Noise.LAPLACE else 0
            return mean + first - second
        if noise is Noise.LAPLACE:
            return rng.laplace(mean, 1 / rate, count)
        return mean + rng.exponential(1 / rate, count)


def _updated(sums: Mapping[str, Fraction], updates: Sequence[Update], given: Fraction) -> dict[str, Fraction]:
    """What registers hold after a step that reads ``given``."""
    found = dict(sums)
    for update in updates:
        held = Fraction(0) if update.source is None else sums[update.source]
        found[update.register] = held + given if update.adds_input else held
    return found


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
        places = iter([windows[k] if k >= 0 else None for k in row])
        result[tuple(_seen(output, places) for output in outputs)] += int(many)
    return result


def _seen(output: Output, places: Iterator[tuple[float, float] | None]) -> Shown:
    """What an output shows, if its numbers fall into the next of the places."""
    if output.kind is OutputKind.SEVERAL:
        return tuple(next(places) if item.is_real else item.symbol for item in output.items)
    return next(places) if output.is_real else output.symbol
