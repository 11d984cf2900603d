"""The model: DiP automata as frozen values (Def. DiP automaton).

Numbers are exact (:class:`fractions.Fraction`). Noise is given as in the paper by *inverse* scale: a
state with ``d = 1/4`` adds Laplace noise of scale ``4/eps``. The rules of the model are in
:mod:`symdipa.model.validation`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property


class OutputKind(Enum):
    """What a transition outputs: a symbol, the sample compared by guards, or the second sample."""

    SYMBOL = "symbol"
    INSAMPLE = "insample"
    INSAMPLE_PRIME = "insampleprime"


@dataclass(frozen=True, slots=True)
class Output:
    """An output: ``symbol`` is set exactly when ``kind`` is ``OutputKind.SYMBOL``."""

    kind: OutputKind
    symbol: str | None = None

    def __post_init__(self) -> None:
        if (self.kind is OutputKind.SYMBOL) != (self.symbol is not None):
            raise ValueError("an output has a symbol exactly when its kind is SYMBOL")

    @property
    def is_real(self) -> bool:
        """Whether a real number (``insample`` or ``insample'``) is output."""
        return self.kind is not OutputKind.SYMBOL

    @property
    def shows_sample(self) -> bool:
        """Whether ``insample`` is output."""
        return self.kind is OutputKind.INSAMPLE

    @property
    def shows_second(self) -> bool:
        """Whether ``insample'`` is output."""
        return self.kind is OutputKind.INSAMPLE_PRIME

    def __str__(self) -> str:
        return self.symbol if self.symbol is not None else self.kind.value


INSAMPLE = Output(OutputKind.INSAMPLE)
INSAMPLE_PRIME = Output(OutputKind.INSAMPLE_PRIME)


def symbol(name: str) -> Output:
    """The output that shows the symbol ``name``."""
    return Output(OutputKind.SYMBOL, name)


@dataclass(frozen=True, slots=True)
class Guard:
    """A conjunction of atoms: ``insample >= x`` for ``x`` in ``ge`` and ``insample < x`` for ``x`` in ``lt``.

    The empty guard is ``true``.
    """

    ge: frozenset[str] = frozenset()
    lt: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "ge", _names("ge", self.ge))
        object.__setattr__(self, "lt", _names("lt", self.lt))

    @property
    def used(self) -> frozenset[str]:
        """The variables the guard reads."""
        return self.ge | self.lt

    @property
    def is_true(self) -> bool:
        return not self.ge and not self.lt

    def excludes(self, other: Guard) -> bool:
        """Whether no sample satisfies both guards: an opposite atom on some variable.

        That is the only way for a conjunction of two satisfiable guards to be unsatisfiable for every
        value of the variables.
        """
        return bool(self.ge & other.lt or self.lt & other.ge)

    def text(self, order: Iterable[str] = ()) -> str:
        """The guard as text, atoms in the given order of variables (others follow by name)."""
        ranking = {name: place for place, name in enumerate(order)}
        names = sorted(self.used, key=lambda name: (ranking.get(name, len(ranking)), name))
        atoms = [f"insample >= {x}" for x in names if x in self.ge]
        atoms += [f"insample < {x}" for x in names if x in self.lt]
        return " && ".join(atoms) if atoms else "true"

    def __str__(self) -> str:
        return self.text()


def _names(what: str, names: Iterable[str]) -> frozenset[str]:
    """A set of variables from any iterable of names, but not from a lone string, which is a mistake."""
    if isinstance(names, str):
        raise TypeError(f"{what} takes a set of variables: write {what}={{{names!r}}}")
    return frozenset(names)


TRUE = Guard()


@dataclass(frozen=True, slots=True)
class State:
    """A control state with ``P(q) = (d, mu, d', mu')``.

    ``d`` and ``d_prime`` are inverse noise scales in units of eps (``None``: not given), ``mu`` and
    ``mu_prime`` the means that are added to the input. ``is_input``: a step from the state reads an input.
    """

    name: str
    is_input: bool = True
    d: Fraction | None = None
    mu: Fraction = Fraction(0)
    d_prime: Fraction | None = None
    mu_prime: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        for name in ("d", "mu", "d_prime", "mu_prime"):
            value = getattr(self, name)
            if type(value) is int:  # exact, so no reason to ask for more
                object.__setattr__(self, name, Fraction(value))


def noise_scale(d: Fraction) -> str:
    """The scale of the noise with inverse scale ``d > 0`` as text: ``4/eps``, ``5/(2*eps)``."""
    scale = 1 / d
    return f"{scale}/eps" if scale.denominator == 1 else f"{scale.numerator}/({scale.denominator}*eps)"


@dataclass(frozen=True, slots=True)
class Transition:
    """One transition; the guard reads the old values, then ``insample`` is stored in ``assign``."""

    source: str
    target: str
    output: Output
    guard: Guard = TRUE
    assign: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not isinstance(self.output, Output):
            raise TypeError(f"an output is symbol('name'), INSAMPLE or INSAMPLE_PRIME, not {self.output!r}")
        object.__setattr__(self, "assign", _names("assign", self.assign))


@dataclass(frozen=True)
class Automaton:
    """A DiP automaton; one made by the constructor is validated when it is first used.

    ``states`` lists every state once, targets of transitions included; ``initial`` names one of them.
    ``transitions`` are kept in the order of the text; ``variables`` fixes the order in which variables
    are shown and indexed (every variable of a guard or an assignment is in it).
    """

    states: tuple[State, ...]
    initial: str
    transitions: tuple[Transition, ...]
    variables: tuple[str, ...] = ()
    name: str = ""
    is_validated: bool = field(default=False, init=False, repr=False, compare=False)
    """Whether it is known to obey the rules of the model (:mod:`symdipa.model.validation`)."""

    @classmethod
    def build(
        cls,
        states: Iterable[State],
        transitions: Iterable[Transition],
        initial: str | None = None,
        name: str = "",
    ) -> Automaton:
        """Build and *validate* an automaton.

        The first state is initial unless ``initial`` says otherwise; targets without a state become
        terminal states; variables are ordered by first appearance. Raises
        :class:`symdipa.model.errors.InvalidInput` with every problem found.
        """
        from symdipa.model.validation import validated

        states, transitions = list(states), tuple(transitions)
        known = {state.name for state in states}
        for transition in transitions:
            if transition.target not in known:
                known.add(transition.target)
                states.append(State(transition.target))
        if initial is None and states:
            initial = states[0].name
        return validated(cls(tuple(states), initial or "", transitions, variables_of(transitions), name))

    def trusted(self) -> Automaton:
        """The automaton, marked as obeying the rules: for those that are valid by construction."""
        object.__setattr__(self, "is_validated", True)
        return self

    @cached_property
    def index(self) -> dict[str, int]:
        """Position of every state in ``states``."""
        return {state.name: i for i, state in enumerate(self.states)}

    @cached_property
    def variable_index(self) -> dict[str, int]:
        """Position of every variable in ``variables``."""
        return {name: i for i, name in enumerate(self.variables)}

    @cached_property
    def outgoing(self) -> tuple[tuple[int, ...], ...]:
        """For every state, in the order of ``states``, the positions of its transitions."""
        lists: list[list[int]] = [[] for _ in self.states]
        for i, transition in enumerate(self.transitions):
            lists[self.index[transition.source]].append(i)
        return tuple(map(tuple, lists))

    def state(self, name: str) -> State:
        """The state with this name; ``KeyError`` if there is none."""
        return self.states[self.index[name]]


def reachable(automaton: Automaton) -> Automaton:
    """The automaton without the states that no path reaches, and without their transitions."""
    kept, work = {automaton.initial}, [automaton.initial]
    for name in work:  # which grows
        for t in automaton.outgoing[automaton.index[name]]:
            target = automaton.transitions[t].target
            if target not in kept:
                kept.add(target)
                work.append(target)
    return replace(
        automaton,
        states=tuple(state for state in automaton.states if state.name in kept),
        transitions=tuple(t for t in automaton.transitions if t.source in kept),
    )


def variables_of(transitions: Iterable[Transition]) -> tuple[str, ...]:
    """The variables of the transitions by first appearance (within one transition by name)."""
    found: dict[str, None] = {}
    for transition in transitions:
        for names in (transition.guard.used, transition.assign):
            if not names <= found.keys():
                found.update(dict.fromkeys(sorted(names)))
    return tuple(found)
