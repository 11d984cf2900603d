"""Any automaton in plain sets, once it is known to obey the rules of the model (Def. valid automaton).

Everything that a transition does is said in terms of what the variables held before it, and of its sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import ceil, floor

from symdipa.checker.claims import Inputs
from symdipa.checker.rules import refuse
from symdipa.checker.wider.differ import EVERYWHERE, Moves, moves_of
from symdipa.checker.wider.order import SAMPLE, ZERO, Comparison, Order, Place, Value, compared
from symdipa.model.automaton import Automaton, Noise, Output, OutputKind, State, Term, Transition

SECOND = "insampleprime"
NOTHING = Fraction(0)


@dataclass(frozen=True)
class Sample:
    """The noise of a sample; ``d`` is 0 where it is not given, or there is no noise.

    ``mean`` is its mean, if it does not depend on inputs, ``mu`` the constant in it.
    """

    noise: Noise
    d: Fraction
    mean: Fraction | None
    mu: Fraction


@dataclass(frozen=True, slots=True)
class Sum:
    """What a register gets: what was in ``source`` (``None``: 0), and the entry if it ``adds`` that."""

    source: str | None
    adds: bool


@dataclass(frozen=True)
class Step:
    """A transition with what its state adds to it.

    ``guard`` are its comparisons, ``gets`` what variables get, ``numbers`` those that are shown, as
    differences: the second one is the number 0 where a value is. ``sample`` is what the state draws,
    ``second`` what it draws besides and the transition shows; ``kinds`` are about what it ``shows``.
    ``factors`` are those of the registers in the means of both, ``sums`` what registers get.
    """

    source: str
    target: str
    reads_input: bool
    sample: Sample | None
    second: Sample | None
    guard: tuple[Comparison, ...]
    gets: dict[str, Value]
    numbers: tuple[tuple[Value, Value], ...]
    shows: tuple[str | None, ...]
    kinds: tuple[OutputKind, ...]
    factors: tuple[tuple[str, Fraction], ...] = ()
    sums: Mapping[str, Sum] = field(default_factory=dict)

    @property
    def uses_mean(self) -> bool:
        """Whether anything depends on where the samples are."""
        return self.second is not None or self.uses_sample

    @property
    def uses_sample(self) -> bool:
        places = (*(place for pair in self.asked for place in pair), *(v.place for v in self.gets.values()))
        return any(place.is_sample for place in places)

    @property
    def registers(self) -> frozenset[str]:
        """The registers that must hold something."""
        sources = (each.source for each in self.sums.values())
        return frozenset([*(r for r, _ in self.factors), *(r for r in sources if r is not None)])

    @property
    def ties(self) -> tuple[tuple[Place, Place], ...]:
        """The pairs of places whose difference is shown."""
        return tuple((one.place, other.place) for one, other in self.numbers)

    @property
    def assigned(self) -> frozenset[str]:
        return frozenset(self.gets)

    @property
    def reads(self) -> frozenset[str]:
        """The variables that must hold something."""
        places = [place for pair in self.asked for place in pair] + [v.place for v in self.gets.values()]
        return frozenset(p.name for p in places if p.name is not None and not p.is_sample)

    @property
    def asked(self) -> list[tuple[Place, Place]]:
        """The pairs of places of which the first must be shifted at least as far as the second."""
        pairs = [(c.low, c.high) for c in self.guard]
        for one, other in self.ties:
            pairs += [(one, other), (other, one)]
        return pairs

    @property
    def known(self) -> list[Comparison]:
        """What holds whenever the transition is taken: its guard, and where its sample can be."""
        return [*self.guard, *self.support]

    @property
    def support(self) -> list[Comparison]:
        """Where its sample can be."""
        if self.sample is None or self.sample.mean is None or self.sample.noise is Noise.LAPLACE:
            return []
        mean, sample = Value(ZERO, self.sample.mean), Value(Place(SAMPLE), NOTHING)
        found = [compared(mean, sample, False)]
        if self.sample.noise is Noise.NONE:
            found.append(compared(sample, mean, False))
        return found


@dataclass(frozen=True)
class Model:
    """Steps are numbered as the transitions of the automaton; ``leaving`` are the steps of each state.

    ``live`` are the variables of each state that some path reads before it assigns them, ``kept`` the
    registers on which some mean to come depends. ``moves`` and ``differ`` say which entries may differ.
    """

    initial: str
    steps: tuple[Step, ...]
    leaving: dict[str, tuple[int, ...]]
    live: dict[str, frozenset[str]]
    kept: dict[str, frozenset[str]]
    variables: frozenset[str]
    integer: bool
    moves: Moves
    differ: str

    @property
    def unfolds(self) -> bool:
        """Whether it matters which entries differ, and what registers hold."""
        return self.moves != EVERYWHERE or any(step.factors or step.sums for step in self.steps)

    def differences(self, step: Step, inputs: Inputs) -> tuple[Fraction, Fraction]:
        """The least and the greatest difference of the entry at a step; integers differ by integers."""
        low, high = inputs.differences(step.reads_input)
        return (Fraction(ceil(low)), Fraction(floor(high))) if self.integer else (low, high)

    def is_continuous(self, sample: Sample | None) -> bool:
        """Whether the sample has any given value with probability 0."""
        return sample is not None and sample.noise is not Noise.NONE and not self.integer


def model_of(automaton: Automaton) -> Model:
    """The automaton in steps; refused if it is not one that the theory speaks about."""
    _check_names(automaton)
    states = {state.name: state for state in automaton.states}
    leaving: dict[str, list[int]] = {name: [] for name in states}
    steps = []
    for t, transition in enumerate(automaton.transitions):
        leaving[transition.source].append(t)
        steps.append(_step(automaton, transition, states[transition.source], f"transition {t}"))
    model = Model(
        initial=automaton.initial,
        steps=tuple(steps),
        leaving={name: tuple(numbers) for name, numbers in leaving.items()},
        live=_live(steps),
        kept=_kept(steps),
        variables=frozenset(automaton.variables),
        integer=automaton.integer,
        moves=moves_of(automaton.differ.text),
        differ=automaton.differ.text,
    )
    _check_determinism(model)
    _check_initialization(model)
    return model


def _check_names(automaton: Automaton) -> None:
    names = {state.name for state in automaton.states}
    if len(names) < len(automaton.states):
        refuse("model-name", "a state is listed twice")
    if automaton.initial not in names:
        refuse("model-name", "the initial state does not exist")
    variables = frozenset(automaton.variables)
    if variables & {SAMPLE, SECOND, ""}:
        refuse("model-name", "a variable has no name, or the name of a sample")
    for t, transition in enumerate(automaton.transitions):
        if transition.source not in names or transition.target not in names:
            refuse("model-name", f"transition {t} has an end that is no state")
        if not _stored(transition) <= variables or not _read(transition) <= variables | {SAMPLE, SECOND}:
            refuse("model-name", f"transition {t} has a variable that is not listed")
    _check_registers(automaton, variables)


def _check_registers(automaton: Automaton, variables: frozenset[str]) -> None:
    states = {state.name: state for state in automaton.states}
    found = {name for state in automaton.states for name, _ in state.registers}
    for t, transition in enumerate(automaton.transitions):
        updates = transition.updates
        found |= {name for u in updates for name in (u.register, u.source) if name is not None}
        if len({u.register for u in updates}) < len(updates):
            refuse("model-register", f"transition {t} sets a register twice")
        if any(u.adds_input for u in updates) and not states[transition.source].is_input:
            refuse("model-register", f"transition {t} adds an entry that its state does not read")
    if found & (variables | {SAMPLE, SECOND, ""}):
        refuse("model-register", "a register has no name, or that of a variable or a sample")


def _stored(transition: Transition) -> frozenset[str]:
    return transition.assign | {x for x, _ in transition.copies}


def _read(transition: Transition) -> set[str]:
    guard = transition.guard
    found = set(guard.ge | guard.lt) | {y for _, y in transition.copies if isinstance(y, str)}
    found |= {name for part in _shown(transition.output) for name in part.names}
    terms = [term for each in guard.others for term in (each.low, each.high)]
    return found | {term.name for term in terms if term.name is not None}


def _shown(output: Output) -> tuple[Output, ...]:
    return output.items if output.kind is OutputKind.SEVERAL else (output,)


def _step(automaton: Automaton, transition: Transition, state: State, where: str) -> Step:
    moves = state.is_input or bool(state.registers)
    mean, mean_prime = (None if moves else mu for mu in (state.mu, state.mu_prime))
    sample = Sample(state.noise, state.d or NOTHING, mean, state.mu) if state.draws else None
    parts = _shown(transition.output)
    gets = _gets(transition, where)
    second = None
    if any(part.kind is OutputKind.INSAMPLE_PRIME for part in parts):
        second = Sample(state.noise_prime, state.d_prime or NOTHING, mean_prime, state.mu_prime)
    step = Step(
        source=transition.source,
        target=transition.target,
        reads_input=state.is_input,
        sample=sample,
        second=second,
        guard=_guard(transition, sample, automaton.integer),
        gets=gets,
        numbers=tuple(shown for part in parts for shown in _numbers(part, gets, where)),
        shows=tuple(part.symbol for part in parts),
        kinds=tuple(part.kind for part in parts),
        factors=tuple((name, Fraction(factor)) for name, factor in state.registers) if state.draws else (),
        sums={u.register: Sum(u.source, u.adds_input) for u in transition.updates},
    )
    _check_samples(step, where)
    if automaton.integer:
        _check_integers(step, state, where)
    return step


def _gets(transition: Transition, where: str) -> dict[str, Value]:
    gets = {x: Value(Place(SAMPLE), NOTHING) for x in transition.assign}
    for x, y in transition.copies:
        if x in gets:
            refuse("model-assignment", f"{where} assigns a variable twice")
        if y in (SAMPLE, SECOND):
            refuse("model-assignment", f"{where} copies a sample as if it were a variable")
        gets[x] = Value(Place(y), NOTHING) if isinstance(y, str) else Value(ZERO, Fraction(y))
    return gets


def _guard(transition: Transition, sample: Sample | None, integer: bool) -> tuple[Comparison, ...]:
    """The comparisons; those of a continuous sample with anything else may as well be strict."""
    guard, own = transition.guard, Value(Place(SAMPLE), NOTHING)
    found = [compared(Value(Place(x), NOTHING), own, False) for x in sorted(guard.ge)]
    found += [compared(own, Value(Place(x), NOTHING), True) for x in sorted(guard.lt)]
    found += [
        compared(_value(each.low), _value(each.high), each.strict)
        for each in sorted(guard.others, key=lambda each: (str(each.low), str(each.high), each.strict))
    ]
    continuous = sample is not None and sample.noise is not Noise.NONE and not integer
    return tuple(
        c._replace(
            strict=c.strict or (continuous and c.low != c.high and SAMPLE in (c.low.name, c.high.name))
        )
        for c in found
    )


def _value(term: Term) -> Value:
    return Value(Place(term.name, term.mirrored), term.offset)


def _numbers(part: Output, gets: dict[str, Value], where: str) -> list[tuple[Value, Value]]:
    """A number that is shown, in places of before the assignments."""
    if SECOND in part.names or (part.kind is OutputKind.VALUE and SAMPLE in part.names):
        refuse(
            "model-output", f"{where} shows a value or a difference that is not one of variables and insample"
        )
    values = [gets.get(name, Value(Place(name), NOTHING)) for name in part.names]
    zero = Value(ZERO, NOTHING)
    match part.kind:
        case OutputKind.INSAMPLE:
            return [(Value(Place(SAMPLE), NOTHING), zero)]
        case OutputKind.VALUE:
            return [(values[0], zero)]
        case OutputKind.DIFFERENCE:
            return [(values[0], values[1])]
        case OutputKind.SEVERAL:
            refuse("model-output", f"{where} shows a list in a list")
    return []


def _check_samples(step: Step, where: str) -> None:
    """Noise that matters has a positive parameter."""
    if step.sample is None:
        if step.uses_mean:
            refuse("model-sample", f"{where} uses a sample, but its state draws none")
    elif step.uses_sample and step.sample.noise is not Noise.NONE and step.sample.d <= 0:
        refuse("model-noise", f"{where} compares, stores or outputs insample, but d is not positive")
    if step.second is not None and step.second.noise is not Noise.NONE and step.second.d <= 0:
        refuse("model-noise", f"{where} outputs insample', but d' is not positive")


def _check_integers(step: Step, state: State, where: str) -> None:
    numbers = [state.mu, state.mu_prime, *(c.gap for c in step.guard), *(v.plus for v in step.gets.values())]
    numbers += [factor for _, factor in step.factors]
    if any(Fraction(number).denominator != 1 for number in numbers):
        refuse("model-integer", f"{where} has a mean, a constant or a factor that is no integer")


def _live(steps: list[Step]) -> dict[str, frozenset[str]]:
    """A fixed point, by state."""
    return _backward(steps, lambda step, after: step.reads | (after - step.assigned))


def _kept(steps: list[Step]) -> dict[str, frozenset[str]]:
    """For each state the registers that some mean to come depends on."""

    def before(step: Step, after: frozenset[str]) -> frozenset[str]:
        sources = (step.sums[r].source if r in step.sums else r for r in after)
        return frozenset([*(r for r, _ in step.factors), *(r for r in sources if r is not None)])

    return _backward(steps, before)


def _backward(
    steps: list[Step], needed: Callable[[Step, frozenset[str]], frozenset[str]]
) -> dict[str, frozenset[str]]:
    """What is needed in each state, from what a step needs before it if that is needed after it."""
    found = {name: frozenset[str]() for step in steps for name in (step.source, step.target)}
    last = dict[str, frozenset[str]]()
    while found != last:
        last = dict(found)
        for step in reversed(steps):
            found[step.source] |= needed(step, found[step.target])
    return found


def _check_determinism(model: Model) -> None:
    for name, leaving in model.leaving.items():
        for one, other in combinations([model.steps[t] for t in leaving], 2):
            if Order(model.integer, (*one.known, *other.known)).is_possible:
                refuse("model-determinism", f"two transitions of {name!r} do not exclude each other")


def _check_initialization(model: Model) -> None:
    """Every path stores a variable or a register before it is read: a fixed point of what surely is."""
    stored = {model.initial: frozenset[str]()}
    work = [model.initial]
    while work:
        state = work.pop()
        for t in model.leaving[state]:
            step = model.steps[t]
            if not step.reads | step.registers <= stored[state]:
                refuse(
                    "model-initialization",
                    f"transition {t} reads a variable or a register that may not be set yet",
                )
            after = stored[state] | step.assigned | step.sums.keys()
            known = stored.get(step.target)
            if known is None or not known <= after:
                stored[step.target] = after if known is None else known & after
                work.append(step.target)
