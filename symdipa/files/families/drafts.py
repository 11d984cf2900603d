"""Building automata from code, without the cost of validation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from symdipa.model.adjacency.differ import ALL, Differ
from symdipa.model.automaton import (
    TRUE,
    Automaton,
    Guard,
    Noise,
    Output,
    State,
    Term,
    Transition,
    Update,
    atom,
    symbol,
    variables_of,
)
from symdipa.model.parts import SAMPLE


@dataclass(frozen=True, slots=True)
class Branch:
    """One way on from a state. ``ge``, ``lt`` and ``store`` are names of variables with spaces between.

    ``output`` is a symbol, by its name, or any other output.
    """

    output: str | Output
    target: str
    ge: str = ""
    lt: str = ""
    store: str = ""
    from_: Fraction | None = None
    """The sample is at least this number,"""
    below: Fraction | None = None
    """and it is below this one."""
    updates: tuple[Update, ...] = ()
    """What becomes of registers."""

    @property
    def guard(self) -> Guard:
        limits = set()
        if self.from_ is not None:
            limits.add(atom(Term(None, self.from_), Term(SAMPLE), strict=False))
        if self.below is not None:
            limits.add(atom(Term(SAMPLE), Term(None, self.below), strict=True))
        if not (self.ge or self.lt or limits):
            return TRUE
        return Guard(frozenset(self.ge.split()), frozenset(self.lt.split()), frozenset(limits))

    def leaving(self, source: str) -> Transition:
        stored = frozenset(self.store.split())
        output = symbol(self.output) if isinstance(self.output, str) else self.output
        return Transition(source, self.target, output, self.guard, stored, updates=self.updates)


@dataclass(slots=True)
class Draft:
    """An automaton that grows state by state; the first one is initial."""

    states: list[State] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)

    def draw(
        self,
        name: str,
        d: Fraction,
        branch: Branch,
        mu: Fraction | int = 0,
        noise: Noise = Noise.LAPLACE,
        registers: Iterable[str] = (),
    ) -> None:
        """A non-input state: its sample is noise around ``mu`` and the sum of ``registers``."""
        summands = tuple((register, Fraction(1)) for register in registers)
        self.states.append(State(name, is_input=False, d=d, mu=Fraction(mu), noise=noise, registers=summands))
        self.transitions.append(branch.leaving(name))

    def take(self, name: str, branch: Branch) -> None:
        """A state that reads an input and draws nothing."""
        self.states.append(State(name, draws=False))
        self.transitions.append(branch.leaving(name))

    def tell(self, name: str, branch: Branch) -> None:
        """A silent state: it neither reads nor draws."""
        self.states.append(State(name, is_input=False, draws=False))
        self.transitions.append(branch.leaving(name))

    def read(
        self,
        name: str,
        d: Fraction,
        *branches: Branch,
        mu: Fraction | int = 0,
        d_prime: Fraction | None = None,
        noise: Noise = Noise.LAPLACE,
        registers: Iterable[str] = (),
    ) -> None:
        """An input state. No two branches may be possible at once; if none is, the run ends."""
        summands = tuple((register, Fraction(1)) for register in registers)
        self.states.append(
            State(name, d=d, mu=Fraction(mu), d_prime=d_prime, noise=noise, registers=summands)
        )
        self.transitions += [branch.leaving(name) for branch in branches]

    def end(self, name: str) -> None:
        """A state in which the run ends."""
        self.states.append(State(name))

    def finish(
        self,
        name: str,
        variables: Iterable[str] | None = None,
        integer: bool = False,
        differ: Differ = ALL,
    ) -> Automaton:
        """The automaton; variables are ordered by first appearance unless they are listed."""
        listed = variables_of(self.transitions) if variables is None else tuple(variables)
        initial = self.states[0].name
        parts = tuple(self.states), initial, tuple(self.transitions), listed, name
        return Automaton(*parts, integer=integer, differ=differ).trusted()
