"""Events of the wider model: a run, the inputs that it reads, and intervals for the numbers that it shows.

Samples without noise are constants once the inputs are known, so what is compared with them, or shown of
them, is an interval of another sample, or simply true or false. A shown difference that has to lie in an
interval is two comparisons with offsets.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator, Sequence
from fractions import Fraction
from math import ceil, floor, inf
from typing import TypeGuard, cast

from symdipa.evidence.probability.linear.lattice import Answer, Bound, Law, Problem, log_probability_of
from symdipa.evidence.probability.poset import Number, Window, check_numbers, check_whole
from symdipa.model.automaton import Automaton, Noise, Output, validated
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.spelling import counted
from symdipa.runs.numbers.system import System, Value, unrolled

Asked = Window | tuple[Window | None, ...] | None
"""What is asked of the numbers that a step shows: an interval, or one for each number of a list (``None``:
any value)."""


Place = tuple[int, int, int]
"""How far another run is: its control state, how many inputs it has read, how many outputs it has shown."""


def is_wide(automaton: Automaton) -> bool:
    """Whether probabilities of a (valid) automaton are computed here, and not as in the paper's class.

    Which entries may differ has no say in them.
    """
    plain = validated(automaton).plain_steps and not automaton.registers and not automaton.unseen
    return automaton.integer or not plain


def alone(asked: Asked) -> Window | None:
    """What is asked of the one number that an output can show in the paper's class."""
    windows = _listed(asked)
    if len(windows) != 1:
        raise ValueError(f"a step shows one number, not {len(windows)}")
    return windows[0]


def windows_of(asked: Asked, output: Output) -> tuple[Window | None, ...]:
    """One interval for each number of an output; ``ValueError`` if it shows more of them, or fewer."""
    numbers = sum(part.is_real for part in output.parts)
    if asked is None:
        return (None,) * numbers
    windows = _listed(asked)
    if len(windows) != numbers:
        raise ValueError(f"the output {output} shows {counted(numbers, 'number')}, not {len(windows)}")
    return windows


def _listed(asked: Asked) -> tuple[Window | None, ...]:
    if asked is None or is_interval(asked):
        return (asked,)
    return tuple(cast(Sequence[Window | None], asked))


def is_interval(asked: object) -> TypeGuard[Window]:
    """Whether something is an interval, and not a symbol or a list."""
    return isinstance(asked, Sequence) and len(asked) == 2 and all(isinstance(end, Number) for end in asked)


def exact(number: Number) -> Fraction:
    """A number as it is written: the float ``0.1`` is a tenth."""
    return Fraction(repr(float(number))) if isinstance(number, float) else Fraction(number)


def problem_of_run(
    automaton: Automaton,
    run: Sequence[int],
    inputs: Sequence[Number | None],
    outputs: Sequence[Asked] | None = None,
    eps: Number = 1,
) -> Problem | None:
    """What has to hold for an automaton to take exactly ``run`` and show such numbers; ``None`` if it cannot.

    Raises ``ValueError`` for what is no run, or does not go with it.
    """
    check_numbers(inputs, eps)
    check_whole(automaton, inputs)
    _check(automaton, run, inputs, outputs)
    system = unrolled(automaton, run)
    asked: list[Window | None] = []
    for j, t in enumerate(run):
        asked += windows_of(outputs[j] if outputs is not None else None, automaton.transitions[t].output)
    return problem_of(system, inputs, asked, eps)


def log_probability(
    automaton: Automaton,
    run: Sequence[int],
    inputs: Sequence[Number | None],
    outputs: Sequence[Asked] | None = None,
    eps: Number = 1,
    tolerance: float = 1e-6,
    limits: Limits = UNLIMITED,
) -> Answer:
    """The logarithm of the probability that an automaton takes exactly ``run`` and shows such numbers."""
    problem = problem_of_run(automaton, run, inputs, outputs, eps)
    if problem is None:
        return Answer(-inf, 0.0, "infeasible")
    return log_probability_of(problem, tolerance, limits)


def _check(
    automaton: Automaton,
    run: Sequence[int],
    inputs: Sequence[Number | None],
    outputs: Sequence[Asked] | None,
) -> None:
    if len(inputs) != len(run) or (outputs is not None and len(outputs) != len(run)):
        raise ValueError(f"a run of {len(run)} steps needs as many inputs and outputs")
    for t in run:
        if not isinstance(t, int) or not 0 <= t < len(automaton.transitions):
            last = len(automaton.transitions) - 1
            raise ValueError(f"a run is positions of transitions, from 0 to {last}, not {t!r}")
    for j, t in enumerate(run):
        state, output = automaton.state(automaton.transitions[t].source), automaton.transitions[t].output
        if state.is_input != (inputs[j] is not None):
            wanted = "a number" if state.is_input else "None"
            raise ValueError(f"the input of step {j} must be {wanted}: state {state.name}")
        if outputs is not None and outputs[j] is not None and not output.is_real:
            raise ValueError(f"step {j} outputs {output}, which has no interval")


def problem_of(
    system: System, inputs: Sequence[Number | None], windows: Sequence[Window | None], eps: Number
) -> Problem | None:
    """The samples of a run on given inputs; ``None`` if it cannot be taken.

    ``windows`` are for the numbers shown, one after another. Samples that matter to nothing are left out.
    """
    return _Making(system, inputs, windows, exact(eps)).problem()


class _Making:
    """Comparisons turned into intervals and bounds."""

    def __init__(
        self,
        system: System,
        inputs: Sequence[Number | None],
        windows: Sequence[Window | None],
        eps: Fraction,
    ) -> None:
        self.system, self.windows = system, windows
        self.known: dict[int, Fraction] = {}
        self.laws: dict[int, Law] = {}
        given = [exact(entry) if entry is not None else Fraction(0) for entry in inputs]
        for i, sample in enumerate(system.samples):
            mean = sample.mean + sample.sum_of(given)
            if sample.noise is Noise.NONE:
                self.known[i] = mean
            else:
                self.laws[i] = Law(sample.noise, float(sample.d * eps), mean)
        self.bounds: list[Bound] = []
        self.touched: set[int] = set()
        self.possible = True

    def problem(self) -> Problem | None:
        for c in self.system.comparisons:
            self.at_most(c.low, c.high, Fraction(0), c.strict)
        for shown, window in zip(self.system.shown, self.windows, strict=True):
            if window is None:
                continue
            low, high = (None if abs(end) == inf else exact(end) for end in window)
            other = shown.subtrahend or Value(None)
            if low is not None:
                self.at_most(other, shown.value, -low, False)  # other + low <= value
            if high is not None:
                self.at_most(shown.value, other, high, False)
        if not self.possible:
            return None
        number = {i: k for k, i in enumerate(sorted(self.touched))}
        bounds = tuple(Bound(number[b.i], b.sign_i, number[b.j], b.sign_j, b.more) for b in self.bounds)
        return Problem(self.system.integer, tuple(self.laws[i] for i in number), bounds)

    def at_most(self, low: Value, high: Value, more: Fraction, strict: bool) -> None:
        """``low <= high + more``."""
        a, low_off = self._resolved(low)
        b, high_off = self._resolved(high)
        more += high_off - low_off
        if a is None and b is None:
            self.possible &= more > 0 or (more == 0 and not strict)
            return
        if self.system.integer:
            more = Fraction(ceil(more) - 1 if strict else floor(more))
        if a is not None and b is not None and a[0] != b[0]:
            self.touched |= {a[0], b[0]}
            self.bounds.append(Bound(a[0], a[1], b[0], b[1], more))
        elif a is not None and b is not None:
            if a[1] == b[1]:  # z <= z + more
                self.possible &= more > 0 or (more == 0 and (self.system.integer or not strict))
            else:
                self._interval(a[0], a[1], Fraction(more, 2))
        elif a is not None:
            self._interval(*a, more)
        else:
            assert b is not None  # -b <= more
            self._interval(b[0], -b[1], more)

    def _resolved(self, value: Value) -> tuple[tuple[int, int] | None, Fraction]:
        """A sample with its sign, if it has noise, and what is added."""
        if value.sample is None:
            return None, value.offset
        if value.sample in self.known:
            return None, value.sign * self.known[value.sample] + value.offset
        return (value.sample, value.sign), value.offset

    def _interval(self, i: int, sign: int, more: Fraction) -> None:
        """``sign * z <= more``."""
        self.touched.add(i)
        integer, law = self.system.integer, self.laws[i]
        if sign > 0:
            self.laws[i] = law.within(None, Fraction(floor(more)) if integer else more)
        else:
            self.laws[i] = law.within(Fraction(ceil(-more)) if integer else -more, None)
        law = self.laws[i]
        if law.low is not None and law.high is not None:
            self.possible &= law.low <= law.high if integer else law.low < law.high


# ---------------------------------------------------------------------------------- all runs with the outputs

Item = str | Window
Observed = Item | tuple[Item, ...]
"""What a step shows: a symbol, an interval for a number, or several of these."""


def matches(output: Output, seen: Observed) -> bool:
    """Whether an output looks like what was seen."""
    items = items_of(seen)
    return len(items) == len(output.parts) and all(
        part.symbol == item if isinstance(item, str) else part.is_real
        for part, item in zip(output.parts, items, strict=True)
    )


def items_of(seen: Observed) -> tuple[Item, ...]:
    """What was seen, one by one."""
    if isinstance(seen, str) or is_interval(seen):
        return (seen,)
    return tuple(cast(Sequence[Item], seen))


def intervals_of(seen: Observed) -> tuple[Window, ...]:
    """The intervals of the numbers among what was seen."""
    return tuple(item for item in items_of(seen) if not isinstance(item, str))


def matching_runs(
    automaton: Automaton,
    inputs: Sequence[Number],
    outputs: Sequence[Observed],
    exactly: bool,
    limits: Limits = UNLIMITED,
    unseen: Container[str] = (),
) -> Iterator[tuple[int, ...]]:
    """The runs that show such outputs on these inputs, as far as control states tell; short ones first where
    steps with an ``unseen`` symbol may come between the outputs."""
    start: Place = automaton.index[automaton.initial], 0, 0

    def ways(place: Place) -> Iterator[tuple[int, Place]]:
        q, read, shown = place
        is_input = automaton.states[q].is_input
        if shown == len(outputs) or (is_input and read >= len(inputs)):
            return
        for t in automaton.outgoing[q]:
            move = automaton.transitions[t]
            seen = is_seen(move.output, unseen)
            if not seen or matches(move.output, outputs[shown]):
                yield t, (automaton.index[move.target], read + is_input, shown + seen)

    before: dict[Place, set[Place]] = {start: set()}
    for place in (work := [start]):
        limits.check("the states from which the outputs can follow")
        for _, following in ways(place):
            if following not in before:
                before[following] = set()
                work.append(following)
            before[following].add(place)
    useful = {
        place for place in work if place[2] == len(outputs) and (not exactly or place[1] == len(inputs))
    }
    for place in (work := list(useful)):
        more = before[place] - useful
        useful |= more
        work += more
    runs: deque[tuple[tuple[int, ...], Place]] = deque([((), start)] if start in useful else [])
    while runs:
        limits.check("the runs with the outputs")
        run, place = runs.popleft() if unseen else runs.pop()
        if place[2] == len(outputs):
            yield run
            continue
        runs += [((*run, t), p) for t, p in reversed(list(ways(place))) if p in useful]


def aligned(
    automaton: Automaton, run: Sequence[int], asked: Iterable[Asked], unseen: Container[str]
) -> list[Asked]:
    """What is asked of each step of a run, if so much is ``asked`` of those that are seen."""
    events = iter(asked)
    return [next(events) if is_seen(automaton.transitions[t].output, unseen) else None for t in run]


def is_seen(output: Output, unseen: Container[str]) -> bool:
    """Whether an output is anything else than one of these symbols."""
    return output.symbol is None or output.symbol not in unseen
