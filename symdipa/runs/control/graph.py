"""The control graph in numbers: steps as bit sets, components, liveness."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from symdipa.model.adjacency import EITHER_WAY, Interval
from symdipa.model.automaton import Output, several
from symdipa.model.parts import ZERO, Form
from symdipa.runs.control.cycles import repeatable
from symdipa.runs.graphs import component_numbers, loops_of
from symdipa.runs.order import Mask, Step

Slopes = tuple[Fraction | None, Fraction | None]
"""What a unit of shift above the difference costs, and one below it; ``None``: no such shift is allowed."""

FREE: Slopes = (Fraction(0), Fraction(0))
"""Those of a sample that only compares values with each other."""

NOTHING = several()
"""The output of a step that shows nothing."""

What = str | Fraction
"""A slot, which has the name of a variable or is the spare one, or a constant."""

Key = tuple[What, bool]
"""What a variable of a core stands for: a slot or a constant, or with ``True`` the mirror of a slot."""

Naming = tuple[What | None, ...]
"""For each variable of an automaton what it names, if that matters."""


class Kind(NamedTuple):
    """What matters of a sample for the ends of chains: whether its mean may differ, upwards and downwards,
    whether its value is shown, and the slopes that are ``given``."""

    rises: bool
    falls: bool
    shown: bool
    given: Slopes | None

    @property
    def moves(self) -> bool:
        return self.rises or self.falls


@dataclass(frozen=True, slots=True)
class Sampling:
    """What a transition reads, draws and shows, whatever its guard compares.

    Guards compare a sample of inverse noise scale ``d`` around ``mu``; a second one has ``d_prime`` and
    ``mu_prime``. The input, if one is read, is added to both means. A scale that was not given is ``None``.

    ``given`` are the slopes of the compared sample if they are not ``d`` on both sides, ``second`` those of
    the second one if it is not Laplace noise. ``fixed`` says that the shift of the sample is 0 whatever the
    output says. ``mirror``: it stands for the negative of the sample of the step before, and half of the
    noise of that sample is its own; so the difference of its input is the negative, too (docs/weights.md).

    ``reads_input`` says whether means depend on inputs at all. ``difference`` is theirs, where it is known
    (:mod:`symdipa.runs.control.unfolding`); else it may be any that the adjacency allows for an entry.
    """

    reads_input: bool
    d: Fraction | None
    mu: Fraction
    d_prime: Fraction | None
    mu_prime: Fraction
    output: Output
    given: Slopes | None = None
    second: Slopes | None = None
    fixed: bool = False
    mirror: bool = False
    difference: Form | None = None

    @property
    def moves(self) -> bool:
        """Whether the means may differ."""
        return self.reads_input and self.difference != ZERO

    @property
    def slopes(self) -> Slopes:
        """What shifts of the compared sample cost; nothing if its scale is not given."""
        return self.given or (FREE if self.d is None else (self.d, self.d))

    @property
    def is_free(self) -> bool:
        """Whether shifts of the sample cost nothing: it repeats nothing that anybody pays for."""
        return self.given == FREE

    @property
    def shows_sample(self) -> bool:
        """Whether the sample that guards compare is output (its shift is 0)."""
        return self.fixed or self.output.shows_sample

    @property
    def kind(self) -> Kind:
        rises = falls = self.reads_input
        if self.difference is not None:
            known = self.difference.within(*EITHER_WAY) * (-1 if self.mirror else 1)
            rises, falls = known > 0, known < 0
        return Kind(rises, falls, self.shows_sample, self.given)

    @property
    def shows_second(self) -> bool:
        """Whether the second sample is output."""
        return self.output.shows_second

    @property
    def discloses(self) -> bool:
        """Whether a number is output that depends on an input that may differ (Def. disclosing cycle)."""
        return self.moves and (self.shows_sample or self.shows_second)


@dataclass(frozen=True, eq=False)
class Control:
    """A control graph in numbers: a whole automaton, numbered as in it, or a slice of one.

    Transition ``t`` leads from ``source[t]`` to ``target[t]``; ``steps[t]`` is what it does to variables,
    ``sampling[t]`` all else that it does. (A slice joins control states, so transitions that leave the same
    one need not draw alike.) ``live[q]`` are the variables with a path from ``q`` to a guard that reads them
    before they are assigned again. ``component[q]`` numbers the strongly connected components; ``cyclic[t]``
    says whether transition ``t`` lies inside one.

    Where the automaton is one of the paper's, the rest is empty (:mod:`symdipa.runs.control.core` says what
    else may be there). ``origin[t]`` is the automaton's transition of which transition ``t`` is a part (-1:
    of none, it is before all), and ``begins[t]`` says whether it is the first part. ``letters[t]`` is what is
    known of the entry that it reads, if the automaton was unfolded. ``keys`` are what the variables stand
    for, and ``names[q]``, where no transition has begun, what those of the automaton do.

    ``shows_steps``: whether who watches a run knows how many steps it has made.
    """

    state_names: tuple[str, ...]
    variable_names: tuple[str, ...]
    steps: tuple[Step, ...]
    sampling: tuple[Sampling, ...]
    source: tuple[int, ...]
    target: tuple[int, ...]
    outgoing: tuple[tuple[int, ...], ...]
    initial: int
    live: tuple[Mask, ...]
    component: tuple[int, ...]
    cyclic: tuple[bool, ...]
    origin: tuple[int, ...] = ()
    begins: tuple[bool, ...] = ()
    letters: tuple[str, ...] = ()
    keys: tuple[Key, ...] = ()
    names: tuple[Naming, ...] = ()
    shows_steps: bool = True

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """For each transition the kind of its sample."""
        return tuple(s.kind for s in self.sampling)

    @cached_property
    def has_known(self) -> bool:
        """Whether means of some samples are known to rise or to fall."""
        return any(s.difference is not None and s.moves for s in self.sampling)

    @cached_property
    def capped(self) -> tuple[Mask, ...]:
        """For each state the variables whose values may depend on inputs and allow no shift above the
        difference."""
        return self._holding(lambda kind: kind.rises and kind.given is not None and kind.given[0] is None)

    @cached_property
    def based(self) -> tuple[Mask, ...]:
        """For each state the variables whose values may depend on inputs and allow no shift below it."""
        return self._holding(lambda kind: kind.falls and kind.given is not None and kind.given[1] is None)

    @cached_property
    def has_rigid(self) -> bool:
        """Whether some sample may differ and has noise that forbids shifts above or below the difference."""
        return any(kind.given is not None and kind.moves and None in kind.given for kind in self.kinds)

    def _holding(self, such: Callable[[Kind], bool]) -> tuple[Mask, ...]:
        """For each state the variables that may hold such samples: a forward fixed point."""
        held = [0] * self.states
        work = [t for t, kind in enumerate(self.kinds) if self.steps[t].asg and such(kind)]
        starts = set(work)
        while work:
            t = work.pop()
            asg, q = self.steps[t].asg, self.target[t]
            grown = held[q] | held[self.source[t]] & ~asg | (asg if t in starts else 0)
            if grown != held[q]:
                held[q] = grown
                work += self.outgoing[q]
        return tuple(held)

    @property
    def is_plain(self) -> bool:
        """Whether transitions are those of the automaton, which is one of the paper's."""
        return not self.origin

    @cached_property
    def soft(self) -> Mask:
        """The variables that hold shifts, if there are such."""
        return self.steps[0].soft if self.steps else 0

    @cached_property
    def of_shifts(self) -> Control:
        """The graph with what orders shifts only, and the same numbers."""
        return self.restricted_to(self.soft) if self.soft else self

    def shifting(self, t: int) -> Step:
        """What transition ``t`` does to the order of shifts: its soft part, where there is one."""
        step = self.steps[t]
        return step.restricted_to(step.soft) if step.soft else step

    def forcing(self, t: int) -> Step:
        """What transition ``t`` does to the order of values."""
        step = self.steps[t]
        return step.restricted_to(~step.soft) if step.soft else step

    @cached_property
    def chains(self) -> dict[int, tuple[int, ...]]:
        """For each transition that begins one of the automaton's, all parts of it in their order."""
        if self.is_plain:
            return {t: (t,) for t in range(len(self.steps))}
        found = {}
        for t in (t for t, begins in enumerate(self.begins) if begins):
            chain = [t]
            while (more := self.outgoing[self.target[chain[-1]]]) and not self.begins[more[0]]:
                chain += more
            found[t] = tuple(chain)
        return found

    def output(self, t: int) -> Output:
        """What the automaton's transition shows that begins with ``t``."""
        parts = (self.sampling[part].output for part in self.chains[t])
        return next((output for output in parts if output != NOTHING), NOTHING)

    def is_between(self, q: int) -> bool:
        """Whether a state is in the middle of a transition of the automaton, or before all of them."""
        return not self.is_plain and bool(self.outgoing[q]) and not self.begins[self.outgoing[q][0]]

    def completed(self, run: Sequence[int]) -> tuple[int, ...]:
        """The run with the rest of the automaton's transition in which it ends, if it ends in the middle."""
        whole = list(run)
        if not self.is_plain and whole:
            while (more := self.outgoing[self.target[whole[-1]]]) and not self.begins[more[0]]:
                whole += more
        return tuple(whole)

    def whole(self, run: Sequence[int]) -> tuple[int, ...]:
        """The run in transitions of the automaton."""
        return tuple(run) if self.is_plain else tuple(self.origin[t] for t in run if self.begins[t])

    def places(self, run: Sequence[int]) -> tuple[int, ...]:
        """For each position of the run the position in the :meth:`whole` run; -1 for what is before it."""
        if self.is_plain:
            return tuple(range(len(run)))
        return tuple(accumulate((int(self.begins[t]) for t in run), initial=-1))[1:]

    def whole_cycles(
        self, run: Sequence[int], cycles: Iterable[tuple[int, int]]
    ) -> tuple[tuple[int, int], ...]:
        """The cycles of a run as ranges of positions of the :meth:`whole` run.

        One that begins in the middle of a transition is turned to begin behind that transition.
        """
        if self.is_plain:
            return tuple(cycles)
        places = self.places(run)
        return tuple((places[i] + (not self.begins[run[i]]), places[j - 1] + 1) for i, j in cycles)

    def linked(self, run: Sequence[int]) -> dict[int, tuple[int, int]]:
        """For positions that read the input of an earlier one: that position, and 1 (-1: the negative)."""
        if self.is_plain:
            return {}
        first: dict[int, int] = {}
        found = {}
        for j, (t, place) in enumerate(zip(run, self.places(run), strict=True)):
            if self.sampling[t].reads_input and (leader := first.setdefault(place, j)) != j:
                found[j] = leader, -1 if self.sampling[t].mirror else 1
        return found

    def whole_letters(self, run: Sequence[int]) -> tuple[str, ...]:
        """What is known of the entry of each step of the :meth:`whole` run; empty if nothing was unfolded."""
        return tuple(self.letters[t] for t in run if self.begins[t]) if self.letters else ()

    def whole_differences(
        self, run: Sequence[int], differences: Sequence[Fraction], interval: Interval
    ) -> tuple[Fraction, ...]:
        """The difference of the entry at each position of the :meth:`whole` run, from those of the samples of
        the run; ``interval`` is where differences of entries lie."""
        if self.is_plain:
            return tuple(differences)
        low, high = interval
        known = {"-": low, "+": high}
        found = [known.get(letter, Fraction(0)) for letter in self.whole_letters(run)]
        found = found or [Fraction(0)] * len(self.whole(run))
        for t, place, difference in zip(run, self.places(run), differences, strict=True):
            sampling = self.sampling[t]
            if sampling.reads_input and sampling.difference is None and not sampling.mirror:
                found[place] = difference
        return tuple(found)

    @property
    def variables(self) -> int:
        return len(self.variable_names)

    @property
    def states(self) -> int:
        return len(self.state_names)

    @cached_property
    def loops(self) -> dict[int, tuple[int, ...]]:
        """The transitions inside each component that has any, by component."""
        return loops_of(self.component, self.source, self.cyclic)

    @cached_property
    def repeatable(self) -> frozenset[int]:
        """The transitions that the graph allows on non-leaking cycles (Thm. repeatable)."""
        return repeatable(self.steps, self.source, self.target, self.loops.values())

    @cached_property
    def last_components(self) -> frozenset[int]:
        """The components that no transition leaves."""
        ends = zip(self.source, self.target, strict=True)
        component = self.component
        return frozenset(component) - {component[p] for p, q in ends if component[p] != component[q]}

    @property
    def shape(self) -> Hashable:
        """All but names, scales and second samples: graphs of the same shape have the same dataflow facts."""
        return (
            self.states,
            self.variables,
            self.steps,
            tuple((s.kind, s.moves, s.output.kind, s.mu) for s in self.sampling),
            self.source,
            self.target,
            self.initial,
            self.live,
            self.component,
            self.cyclic,
        )

    def conflicts(self, transitions: Iterable[int]) -> Mask:
        """The variables that some of the transitions use and some assign."""
        used = assigned = 0
        for t in transitions:
            used |= self.steps[t].used
            assigned |= self.steps[t].asg
        return used & assigned

    def with_steps(self, steps: Iterable[Step], variable_names: tuple[str, ...] | None = None) -> Control:
        """The graph with other steps (and variables, if named), and the liveness that goes with them."""
        steps = tuple(steps)
        return replace(
            self,
            variable_names=self.variable_names if variable_names is None else variable_names,
            steps=steps,
            live=liveness(self.states, steps, self.source, self.target),
        )

    def restricted_to(self, variables: Mask) -> Control:
        """The graph as if there were no other variables, so that more runs are feasible; same numbers."""
        return self.with_steps(step.restricted_to(variables) for step in self.steps)


def assembled(
    *,
    state_names: tuple[str, ...],
    variable_names: tuple[str, ...],
    steps: tuple[Step, ...],
    sampling: tuple[Sampling, ...],
    source: tuple[int, ...],
    target: tuple[int, ...],
    initial: int,
) -> Control:
    """The control graph of these transitions, with what follows from them."""
    outgoing: list[list[int]] = [[] for _ in state_names]
    for t, q in enumerate(source):
        outgoing[q].append(t)
    component = component_numbers(len(state_names), list(zip(source, target, strict=True)))
    return Control(
        state_names,
        variable_names,
        steps,
        sampling,
        source,
        target,
        tuple(map(tuple, outgoing)),
        initial,
        liveness(len(state_names), steps, source, target),
        component,
        tuple(component[s] == component[t] for s, t in zip(source, target, strict=True)),
    )


def liveness(
    states: int, steps: Sequence[Step], source: Sequence[int], target: Sequence[int]
) -> tuple[Mask, ...]:
    """Backward fixed point: ``live(q) = U over q -t-> p of used(t) | (live(p) minus asg(t))``."""
    incoming: list[list[int]] = [[] for _ in range(states)]
    for t, q in enumerate(target):
        incoming[q].append(t)
    live = [0] * states
    for t, step in enumerate(steps):
        live[source[t]] |= step.used
    work = [q for q in range(states) if live[q]]
    while work:
        q = work.pop()
        for t in incoming[q]:
            p = source[t]
            grown = live[p] | live[q] & ~steps[t].asg
            if grown != live[p]:
                live[p] = grown
                work.append(p)
    return tuple(live)
