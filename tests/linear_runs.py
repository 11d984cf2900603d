"""Runs of the wider model, literally: linear inequalities, shifts, probabilities.

:func:`unfold` writes a run down as linear inequalities of its samples. :func:`is_feasible` solves them
(Bellman and Ford, on a graph in which every sample has a mirrored twin), :func:`least_cost` tries every
shift, :func:`linear_program` asks a solver, :func:`log_probability` adds up probabilities on a grid. Of
symdipa only the values of the model are imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count, product
from math import ceil, floor, inf, log
from typing import Any

import numpy as np

from symdipa.model.automaton import Automaton, Noise, OutputKind, State, Term, Transition

Run = tuple[int, ...]
"""Positions into ``automaton.transitions``, from the initial state."""

Interval = tuple[Fraction, Fraction]
TWO_SIDED: Interval = (Fraction(-1), Fraction(1))


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that is no sample."""

    value: Fraction


Held = int | Constant
"""What a variable holds: the sample of a position of the run, or a constant."""

Entries = dict[int, Fraction]
"""A sum of entries: the factor of each, by the step that reads it. None is 0."""

Cost = Fraction | float
"""Exact, or infinite."""


# ------------------------------------------------------------------------------- runs as linear inequalities


@dataclass(frozen=True, slots=True)
class Inequality:
    """``sum of factor * sample <= bound``, or ``<``. At most two samples, or one twice."""

    factors: tuple[tuple[int, int], ...]
    bound: Fraction
    strict: bool


@dataclass(slots=True)
class Unfolding:
    """A run as a linear program.

    ``states`` are the sources of its steps, ``means`` for each of them the factors of the entries (by the
    steps that read them) in the mean of its samples. ``inequalities`` are those of the guards, ``supports``
    those of exponential samples with a known mean. ``shown`` are the samples whose value is output, ``tied``
    those of which the difference is, ``second`` the positions that output their second sample.
    """

    states: list[State]
    integer: bool
    inequalities: list[Inequality] = field(default_factory=list)
    supports: list[Inequality] = field(default_factory=list)
    shown: list[int] = field(default_factory=list)
    tied: list[tuple[int, int]] = field(default_factory=list)
    second: list[int] = field(default_factory=list)
    numbers: list[tuple[int, tuple[Held, ...]]] = field(default_factory=list)
    """Every number that is output, in order: its position and the values of which it is made, none if it is
    the second sample."""
    means: list[Entries] = field(default_factory=list)

    @property
    def inputs(self) -> list[int]:
        """The positions that read an input."""
        return [i for i, state in enumerate(self.states) if state.is_input]

    def differences(self, entries: Sequence[Fraction]) -> list[Fraction]:
        """The differences of the means, from those of the entries."""
        return [sum((k * entries[i] for i, k in mean.items()), Fraction(0)) for mean in self.means]

    def is_free(self, i: int) -> bool:
        """Whether equality with the sample has probability 0, whatever the inputs are."""
        return not self.integer and self.states[i].noise is not Noise.NONE


def drawn(state: State, position: int) -> Held | None:
    """The sample of a step: a constant where it has neither noise nor input, ``None`` where there is none."""
    if not state.draws:
        return None
    return Constant(state.mu) if state.noise is Noise.NONE and has_known_mean(state) else position


def has_known_mean(state: State) -> bool:
    """Whether the mean of its samples has no entries in it."""
    return not state.is_input and not state.registers


def is_bounded(automaton: Automaton) -> bool:
    """Whether a sum of entries bounds a sample without noise, or with noise on one side."""
    return any(s.draws and s.registers and s.noise is not Noise.LAPLACE for s in automaton.states)


def summed(state: State, position: int, registers: dict[str, Entries]) -> Entries:
    """The entries in the mean of the samples of a step."""
    found = {position: Fraction(1)} if state.is_input else Entries()
    for name, factor in state.registers:
        for i, k in registers[name].items():
            found[i] = found.get(i, Fraction(0)) + factor * k
    return {i: k for i, k in found.items() if k}


def updated(step: Transition, position: int, registers: dict[str, Entries]) -> dict[str, Entries]:
    """The registers after a step: each from the old values."""
    found = dict(registers)
    for update in step.updates:
        new = dict(registers[update.source]) if update.source is not None else Entries()
        if update.adds_input:
            new[position] = new.get(position, Fraction(0)) + 1
        found[update.register] = new
    return found


def assigned(step: Transition, memory: dict[str, Held], sample: Held | None) -> dict[str, Held]:
    """What is held after the assignments of a step (``insample`` among the names); old values unless set."""
    copies = {x: memory.get(y) if isinstance(y, str) else Constant(y) for x, y in step.copies}
    stored = dict.fromkeys(step.assign, sample)
    new = memory | copies | stored | {"insample": sample}
    return {name: held for name, held in new.items() if held is not None}


def compared(low: Term, high: Term, strict: bool, value: Callable[[str], Held]) -> Inequality:
    """The comparison of two terms, given what their names stand for."""
    factors: dict[int, int] = {}
    bound = high.offset - low.offset
    for term, side in ((low, 1), (high, -1)):
        if term.name is None:
            continue
        sign, held = -side if term.mirrored else side, value(term.name)
        if isinstance(held, Constant):
            bound -= sign * held.value
        else:
            factors[held] = factors.get(held, 0) + sign
    return Inequality(tuple((i, f) for i, f in sorted(factors.items()) if f), bound, strict)


def unfold(automaton: Automaton, run: Run) -> Unfolding:
    """The linear program of a run. Raises ``ValueError`` if its transitions do not follow each other."""
    at, memory, registers = automaton.initial, dict[str, Held](), dict[str, Entries]()
    found = Unfolding([], automaton.integer)
    for i, step in enumerate(automaton.transitions[t] for t in run):
        if step.source != at:
            raise ValueError(f"transition {i} of the run leaves {step.source}, not {at}")
        at, state = step.target, automaton.state(step.source)
        found.states.append(state)
        found.means.append(summed(state, i, registers) if state.draws else {})
        registers = updated(step, i, registers)
        sample = drawn(state, i)
        named = memory if sample is None else memory | {"insample": sample}
        for each in step.guard.atoms:
            found.inequalities.append(compared(each.low, each.high, each.strict, named.__getitem__))
        if isinstance(sample, int) and state.noise is Noise.EXPONENTIAL and has_known_mean(state):
            found.supports.append(Inequality(((i, -1),), -state.mu, False))
        named = assigned(step, memory, sample)
        _output(found, i, step, named)
        memory = {x: held for x, held in named.items() if x != "insample"}
    return found


def _output(found: Unfolding, i: int, step: Transition, named: dict[str, Held]) -> None:
    for part in step.output.parts:
        if part.kind is OutputKind.SYMBOL:
            continue
        if part.kind is OutputKind.INSAMPLE_PRIME:
            found.second.append(i)
            found.numbers.append((i, ()))
            continue
        names = ("insample",) if part.kind is OutputKind.INSAMPLE else part.names
        ends = [named[name] for name in names]
        found.numbers.append((i, tuple(ends)))
        samples = [end for end in ends if isinstance(end, int)]
        if len(samples) == 2:
            found.tied.append((samples[0], samples[1]))
        else:
            found.shown += samples


# Feasibility


def is_feasible(run: Unfolding) -> bool:
    """Whether the run has positive probability for some inputs.

    Samples without noise are inputs, which can be anything. With a continuous sample a comparison that holds
    almost surely only by equality does not count: all of these are strict.
    """
    if any(state.registers and state.noise is not Noise.LAPLACE for state in run.states):
        return is_solvable(run)
    n, arcs = len(run.states), list[tuple[int, int, Fraction, bool]]()
    zero = 2 * n  # twins: sample i is the node 2i, its negative 2i + 1
    for each in run.inequalities + run.supports:
        bound, strict = each.bound, each.strict or any(run.is_free(i) for i, _ in each.factors)
        if run.integer:
            bound, strict = Fraction(ceil(bound) - 1 if strict else floor(bound)), False
        ends = [2 * i + (sign < 0) for i, f in each.factors for sign in [f] * abs(f)]
        if not ends:
            if bound < 0 or (strict and bound == 0):
                return False
        elif len(ends) == 1:
            arcs += [(ends[0], zero, bound, strict), (zero, ends[0] ^ 1, bound, strict)]
        else:
            arcs += [(ends[0], ends[1] ^ 1, bound, strict), (ends[1], ends[0] ^ 1, bound, strict)]
    if (length := _shortest(2 * n + 1, arcs)) is None:
        return False
    return not run.integer or _some_integers(n, arcs, length)


def is_solvable(run: Unfolding) -> bool:
    """Whether the run is feasible, by a solver: samples and entries are its unknowns.

    Of what is strict the slack is made as large as it can be (up to 1).
    """
    import highspy

    model = highspy.Highs()
    model.silent()
    model.setOptionValue("threads", 1)  # all solvers of a process have equally many

    def number() -> Any:
        return model.addIntegral(lb=-inf) if run.integer else model.addVariable(lb=-inf)

    slack = model.addVariable(lb=0, ub=1)
    samples = [number() for _ in run.states]
    entries = {i: number() for mean in run.means for i in mean}
    for i, (state, mean) in enumerate(zip(run.states, run.means, strict=True)):
        if not state.draws or state.noise is Noise.LAPLACE:
            continue
        noise = 1.0 * samples[i] - float(state.mu) - sum(float(k) * entries[j] for j, k in mean.items())
        model.addConstr(noise == 0 if state.noise is Noise.NONE else noise >= 0)
    for each in run.inequalities:
        strict = each.strict or any(run.is_free(i) for i, _ in each.factors)
        if not each.factors:
            if each.bound < 0 or (strict and each.bound == 0):
                return False
            continue
        left = sum(f * samples[i] for i, f in each.factors)
        model.addConstr((left + 1.0 * slack if strict else left) <= float(each.bound))
    if run.integer:
        model.addConstr(slack >= 1)
    model.maximize(1.0 * slack)
    solved = model.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return solved and model.getObjectiveValue() > 1e-6


def _shortest(
    nodes: int, arcs: Sequence[tuple[int, int, Fraction, bool]]
) -> list[tuple[Fraction, int]] | None:
    """Lengths of shortest paths from everywhere at once (bound, less the strict ones); ``None``: negative."""
    length = [(Fraction(0), 0)] * nodes
    for _ in range(nodes + 1):
        changed = False
        for high, low, bound, strict in arcs:  # value(high) - value(low) <= bound
            through = (length[low][0] + bound, length[low][1] - strict)
            if through < length[high]:
                length[high], changed = through, True
        if not changed:
            return length
    return None


def _some_integers(
    n: int, arcs: Sequence[tuple[int, int, Fraction, bool]], length: list[tuple[Fraction, int]]
) -> bool:
    """Whether a system that real numbers solve has a solution in integers.

    Of twins that are joined by arcs without slack, there and back, the value is half the distance
    (Lahiri and Musuvathi): it must be even.
    """
    tight = {(low, high) for high, low, bound, strict in arcs if length[high][0] == length[low][0] + bound}
    ahead: dict[int, set[int]] = {}
    for low, high in tight:
        ahead.setdefault(low, set()).add(high)

    def reach(start: int) -> set[int]:
        found, todo = {start}, [start]
        while todo:
            new = ahead.get(todo.pop(), set()) - found
            found |= new
            todo.extend(new)
        return found

    for i in range(n):
        joined = 2 * i + 1 in reach(2 * i) and 2 * i in reach(2 * i + 1)
        if joined and (length[2 * i][0] - length[2 * i + 1][0]) % 2:
            return False
    return True


def feasible_runs(automaton: Automaton, max_length: int, max_runs: int | None = None) -> Iterator[Run]:
    """All feasible runs up to a length, shorter ones first; stops at a length with more than ``max_runs``."""
    level: list[tuple[Run, str]] = [((), automaton.initial)]
    for length in count():
        yield from (run for run, _ in level)
        if length == max_length or (max_runs is not None and len(level) > max_runs):
            return
        following = (
            ((*run, i), automaton.transitions[i].target)
            for run, at in level
            for i in automaton.outgoing[automaton.index[at]]
        )
        level = [(run, at) for run, at in following if is_feasible(unfold(automaton, run))]


# Costs


def price(noise: Noise, d: Fraction | None, u: Fraction) -> Cost:
    """What it costs to shift a sample by ``u`` more than its mean (the table of costs)."""
    if noise is Noise.NONE:
        return Fraction(0) if u == 0 else inf
    if d is None:
        raise ValueError("noise has a scale")
    if noise is Noise.EXPONENTIAL:
        return d * u if u >= 0 else inf
    return d * abs(u)


def second_price(state: State, delta: Fraction) -> Cost:
    """What it costs that the second sample is shown: its shift is 0."""
    return price(state.noise_prime, state.d_prime, -delta)


def levels(interval: Interval) -> list[Fraction]:
    """The values among which a best shift can be found."""
    low, high = interval
    return sorted({Fraction(0), low, high, -low, -high})


def in_integers(interval: Interval) -> Interval:
    """The ends rounded inwards."""
    return Fraction(ceil(interval[0])), Fraction(floor(interval[1]))


def orders(interval: Interval, integer: bool = False) -> list[Interval]:
    """The intervals of the second input minus the first, for both orders of adjacent inputs."""
    low, high = in_integers(interval) if integer else interval
    return list(dict.fromkeys([(low, high), (-high, -low)]))


def least_cost(run: Unfolding, deltas: Sequence[Fraction], among: Sequence[Fraction]) -> Cost:
    """``C(delta)``: the least cost of an admissible shift, all of them tried (in an order that prunes)."""
    n = len(run.states)
    checks: list[list[Callable[[list[Fraction]], bool]]] = [[] for _ in range(n)]
    for each in run.inequalities:
        if each.factors:
            last = max(i for i, _ in each.factors)
            checks[last].append(lambda s, fs=each.factors: sum(f * s[i] for i, f in fs) <= 0)
    for i in run.shown:
        checks[i].append(lambda s, i=i: s[i] == 0)
    for i, j in run.tied:
        checks[max(i, j)].append(lambda s, i=i, j=j: s[i] == s[j])
    fixed: Cost = Fraction(0)
    for i in set(run.second):
        fixed += second_price(run.states[i], deltas[i])
    best: Cost = inf
    shifts = [Fraction(0)] * n

    def extend(i: int, cost: Cost) -> None:
        nonlocal best
        if cost >= best:
            return
        if i == n:
            best = cost
            return
        state = run.states[i]
        for s in among if state.draws else (Fraction(0),):
            shifts[i] = s
            if all(check(shifts) for check in checks[i]):
                more = price(state.noise, state.d, s - deltas[i]) if state.draws else Fraction(0)
                extend(i + 1, cost + more)

    extend(0, fixed)
    return best


def cost_of_run(
    automaton: Automaton,
    run: Run,
    interval: Interval = TWO_SIDED,
    allowed: Callable[[str], bool] = lambda word: True,
) -> tuple[Cost, tuple[Fraction, ...]]:
    """The largest ``C`` for differences of entries at the ends of the interval or 0, in either order, and
    these; -1 if none are ``allowed``: it gets a letter for each entry, ``=`` or ``~``.

    Literal, so only for short runs.
    """
    written = unfold(automaton, run)
    best: tuple[Cost, tuple[Fraction, ...]] = (Fraction(-1), ())
    for low, high in orders(interval, automaton.integer):
        ends = sorted({low, high, Fraction(0)})
        for entries in product(*(ends if state.is_input else [Fraction(0)] for state in written.states)):
            if not allowed("".join("~" if entries[i] else "=" for i in written.inputs)):
                continue
            deltas = written.differences(entries)
            cost = least_cost(written, deltas, sorted({s for d in [Fraction(0), *deltas] for s in (d, -d)}))
            if cost > best[0]:
                best = cost, entries
    return best


def linear_program(run: Unfolding, deltas: Sequence[Fraction]) -> float:
    """``C(delta)`` by a solver, in floating point; shifts are any real numbers."""
    import highspy

    model = highspy.Highs()
    model.silent()
    model.setOptionValue("threads", 1)
    shifts, costs = [], []
    for i, state in enumerate(run.states):
        delta = float(deltas[i])
        rigid = not state.draws or (state.noise is Noise.NONE)
        lowest = delta if rigid or state.noise is Noise.EXPONENTIAL else -inf
        highest = delta if rigid else inf
        shift = model.addVariable(lowest, highest) if state.draws else model.addVariable(0, 0)
        shifts.append(shift)
        if not rigid:
            cost = model.addVariable(lb=0)
            model.addConstr(cost >= float(state.d or 0) * (shift - delta))
            model.addConstr(cost >= float(state.d or 0) * (delta - shift))
            costs.append(cost)
    for each in run.inequalities:
        if each.factors:
            model.addConstr(sum(f * shifts[i] for i, f in each.factors) <= 0)
    for i in run.shown:
        model.addConstr(shifts[i] == 0)
    for i, j in run.tied:
        if i != j:
            model.addConstr(shifts[i] - shifts[j] == 0)
    fixed = sum(float(second_price(run.states[i], deltas[i])) for i in set(run.second))
    if not costs:
        costs.append(model.addVariable(lb=0))
    model.minimize(sum(costs))
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return inf
    return fixed + float(model.getObjectiveValue())


# ------------------------------------------------------------------------------------- probabilities


def log_probability(
    run: Unfolding,
    inputs: Sequence[float],
    numbers: Sequence[float],
    eps: float = 1.0,
    reach: int = 40,
    step: float = 1.0,
) -> float:
    """The logarithm of the probability of a run that shows these numbers, up to a constant factor.

    Adds up over a grid: all values in a range for integer noise (``step`` 1), else an approximation.
    ``inputs`` has a number for every step (ignored where none is read), ``numbers`` one for every number
    shown, in order. Only for very few samples.
    """
    free = [i for i, s in enumerate(run.states) if s.draws]
    axes, weights = {}, {}
    total = 0.0
    for place, i in enumerate(free):
        state = run.states[i]
        mean = float(state.mu) + sum(float(k) * inputs[j] for j, k in run.means[i].items())
        shape = [-1 if k == place else 1 for k in range(len(free))]
        if state.noise is Noise.NONE:
            axes[i], weights[i] = np.array([mean]).reshape(shape), np.array([1.0]).reshape(shape)
            continue
        offset = 0.0 if run.integer else step * (place + 1) / (len(free) + 2)
        z = np.arange(-reach, reach + step / 2, step) + offset
        u = z - mean
        density = np.exp(-eps * float(state.d or 0) * np.abs(u))
        if state.noise is Noise.EXPONENTIAL:
            density *= u >= 0
        axes[i], weights[i] = z.reshape(shape), density.reshape(shape)
    shape = np.broadcast_shapes(*(a.shape for a in axes.values())) if axes else ()
    mass = np.ones(shape)
    for w in weights.values():
        mass = mass * w
    for each in run.inequalities:
        left = sum(f * axes[i] for i, f in each.factors)
        mass = mass * (left < float(each.bound) if each.strict else left <= float(each.bound))
    slack = 1e-9 if run.integer else step / 2
    for (i, ends), number in zip(run.numbers, numbers, strict=True):
        if ends:
            difference = _number(axes, ends[0]) - (_number(axes, ends[1]) if len(ends) > 1 else 0.0)
            mass = mass * (np.abs(difference - number) <= slack)
            continue
        state = run.states[i]
        u = number - float(state.mu_prime) - sum(float(k) * inputs[j] for j, k in run.means[i].items())
        if (u < 0 and state.noise_prime is Noise.EXPONENTIAL) or (u and state.noise_prime is Noise.NONE):
            return -inf
        total -= eps * float(state.d_prime or 0) * abs(u)
    summed = float(mass.sum())
    return total + log(summed) if summed > 0 else -inf


def _number(axes: dict[int, np.ndarray], held: Held) -> np.ndarray | float:
    return float(held.value) if isinstance(held, Constant) else axes[held]
