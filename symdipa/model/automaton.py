"""The model: DiP automata as frozen values (Def. DiP automaton), which are validated before they are used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from symdipa.model.adjacency import TWO_SIDED, Adjacency
from symdipa.model.adjacency.differ import ALL, Differ
from symdipa.model.adjacency.differ import differ as read_differ
from symdipa.model.errors import InputProblem, Note, NoteKind
from symdipa.model.parts import (
    INSAMPLE,
    INSAMPLE_PRIME,
    SAMPLE,
    TRUE,
    Atom,
    Guard,
    Noise,
    Origin,
    Output,
    OutputKind,
    State,
    Term,
    Transition,
    Update,
    atom,
    difference,
    guarded,
    noise_scale,
    several,
    symbol,
    value,
)
from symdipa.model.validation import validate
from symdipa.model.validation.samples import little_noise
from symdipa.model.validation.structure import misspelt, misspelt_targets, reached

__all__ = [
    "INSAMPLE",
    "INSAMPLE_PRIME",
    "TRUE",
    "Atom",
    "Automaton",
    "Guard",
    "Noise",
    "Output",
    "OutputKind",
    "State",
    "Term",
    "Transition",
    "Update",
    "atom",
    "difference",
    "guarded",
    "noise_scale",
    "reachable",
    "several",
    "symbol",
    "validated",
    "value",
    "variables_of",
    "with_differ",
]


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
    integer: bool = False
    """Whether inputs and means are integers and all Laplace and exponential noise is discrete."""
    differ: Differ = ALL
    """Which entries of adjacent inputs may differ."""
    halt: str = field(default="", compare=False)
    """Which of :data:`symdipa.model.options.HALTS` was chosen, if any: where it is ``"visible"`` that a run
    stops, the automaton shows so itself (:mod:`symdipa.files.formats.halting`)."""
    adjacency: Adjacency = field(default=TWO_SIDED, compare=False)
    """How far entries of adjacent inputs differ, as far as its text says that."""
    claim: Fraction | None = field(default=None, compare=False)
    """The bound on ``D`` that its text claims, if it does."""
    read_notes: tuple[Note, ...] = field(default=(), repr=False, compare=False)
    """What was noticed while reading its text."""
    origin: Origin | None = field(default=None, repr=False, compare=False)
    """The program that it was made from, if it was made from one."""
    is_validated: bool = field(default=False, init=False, repr=False, compare=False)
    """Whether it is known to obey the rules of the model (:mod:`symdipa.model.validation`)."""

    @classmethod
    def build(
        cls,
        states: Iterable[State],
        transitions: Iterable[Transition],
        initial: str | None = None,
        name: str = "",
        integer: bool = False,
        differ: Differ | str = ALL,
    ) -> Automaton:
        """Build and *validate* an automaton.

        The first state is initial unless ``initial`` says otherwise; targets without a state become
        terminal states; variables are ordered by first appearance. Raises
        :class:`symdipa.model.errors.InvalidInput` with every problem found, ``ValueError`` for a ``differ``
        that means nothing.
        """
        differ = read_differ(differ) if isinstance(differ, str) else differ
        states, transitions = list(states), tuple(transitions)
        if initial is None:
            initial = states[0].name if states else ""
        wrong = [
            InputProblem("structure", misspelt(target, meant, f"State({target!r})"))
            for target, meant in misspelt_targets(
                initial, (s.name for s in states), arrows(transitions)
            ).items()
        ]
        known = {state.name for state in states}
        for transition in transitions:
            if transition.target not in known:
                known.add(transition.target)
                states.append(State(transition.target))
        variables = variables_of(transitions)
        automaton = cls(tuple(states), initial, transitions, variables, name, integer, differ)
        if wrong:
            validate(automaton, extra=wrong)
        return validated(automaton)

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
    def registers(self) -> tuple[str, ...]:
        """All registers, by first appearance."""
        found: dict[str, None] = {}
        for transition in self.transitions:
            for update in transition.updates:
                found[update.register] = None
                if update.source is not None:
                    found[update.source] = None
        for state in self.states:
            found.update(dict.fromkeys(name for name, _ in state.registers))
        return tuple(found)

    @cached_property
    def unfolds(self) -> bool:
        """Whether it has to be unfolded: not every entry may differ, or it has registers."""
        return not self.differ.is_all or bool(self.registers)

    @cached_property
    def is_plain(self) -> bool:
        """Whether it is one of the paper's."""
        return self.plain_steps and not self.unfolds

    @cached_property
    def plain_steps(self) -> bool:
        """Whether its steps are those of the paper: Laplace samples, each compared with variables or shown,
        and no more. (Integer noise changes nothing about these.)"""
        outputs = (OutputKind.SYMBOL, OutputKind.INSAMPLE, OutputKind.INSAMPLE_PRIME)
        noises = {s.noise for s in self.states} | {s.noise_prime for s in self.states}
        guarded = {s.name for s in self.states if s.is_input}
        return (
            noises <= {Noise.LAPLACE}
            and all(state.draws for state in self.states)
            and all(
                not t.guard.others
                and not t.copies
                and t.output.kind in outputs
                and (t.guard.is_true or t.source in guarded)
                for t in self.transitions
            )
        )

    @cached_property
    def outgoing(self) -> tuple[tuple[int, ...], ...]:
        """For every state, in the order of ``states``, the positions of its transitions."""
        lists: list[list[int]] = [[] for _ in self.states]
        for i, transition in enumerate(self.transitions):
            lists[self.index[transition.source]].append(i)
        return tuple(map(tuple, lists))

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Remarks on how it was read, and on what its author may not have wanted."""
        return (*self.read_notes, *_doubts(self), *(() if self.shows_steps else [unseen_steps(self)]))

    @property
    def shows_steps(self) -> bool:
        """Whether who watches it knows how many steps it has made, so that violations count; not so where a
        program steps unseen (:mod:`symdipa.programs.automaton.unseen`)."""
        return not self.unseen

    @property
    def unseen(self) -> frozenset[str]:
        """The symbols of steps whose number is not seen."""
        origin = self.origin
        return origin.quiet if origin is not None and origin.uncounted else frozenset()

    def place(self, state: str, second: bool = False) -> str:
        """What reports call a state: the line of the program where it begins, or where its ``second`` sample
        is drawn, if there is one."""
        return state if self.origin is None else self.origin.place(state, second)

    def where(self, state: str) -> str:
        """The same in a sentence: ``state q`` or ``line 15``."""
        return f"state {state}" if self.origin is None else self.origin.place(state)

    @cached_property
    def told(self) -> Automaton:
        """The same mechanism for reports, in which values are those that a program calls so, without the
        constants that were moved into means. States and transitions have the same numbers."""
        origin = self.origin
        if origin is None or not (origin.added or origin.added_to_samples):
            return self
        moves = [replace(t, guard=_told(t, origin)) for t in self.transitions]
        lines = {told: origin.lines(t) for told, t in zip(moves, self.transitions, strict=True)}
        more = {q.name: origin.added_to_samples.get(q.name, Fraction(0)) for q in self.states}
        return replace(
            self,
            states=tuple(replace(q, mu=q.mu + more[q.name]) for q in self.states),
            transitions=tuple(moves),
            origin=replace(origin, steps=lines, added={}, added_to_samples={}),
        )

    def state(self, name: str) -> State:
        """The state with this name; ``KeyError`` if there is none."""
        return self.states[self.index[name]]


def _told(move: Transition, origin: Origin) -> Guard:
    """The comparisons of a transition between values that a program calls so."""
    added = {**origin.added, SAMPLE: origin.added_to_samples.get(move.source, Fraction(0))}

    def less(term: Term) -> Term:
        more = added.get(term.name, Fraction(0)) if term.name is not None else Fraction(0)
        return term.plus(more if term.mirrored else -more)

    if not any(added.get(name) for name in (*move.guard.used, SAMPLE)):
        return move.guard
    return guarded((atom(less(each.low), less(each.high), each.strict) for each in move.guard.atoms), True)


def with_differ(automaton: Automaton, differ: Differ | str) -> Automaton:
    """The automaton as if these entries may differ.

    Raises ``ValueError`` for a text that means nothing, :class:`~symdipa.model.errors.InvalidInput` where
    registers have no bounded differences then.
    """
    wanted = read_differ(differ) if isinstance(differ, str) else differ
    if wanted == automaton.differ:
        return automaton
    changed = replace(automaton, differ=wanted)
    return validated(changed) if automaton.registers or not automaton.is_validated else changed.trusted()


def validated(automaton: Automaton) -> Automaton:
    """The automaton itself, once it is known to obey the rules.

    Every public function that takes an automaton begins with this. Raises
    :class:`~symdipa.model.errors.InvalidInput` with every problem, ``TypeError`` for anything else.
    """
    if not isinstance(automaton, Automaton):
        kind = type(automaton).__name__
        made = callable(getattr(automaton, "automaton", None))  # a mechanism, which is not known here
        way = "its method automaton() makes one" if made else "symdipa.load reads one from a file"
        raise TypeError(f"an Automaton is asked for, not {kind}; {way}")
    if not automaton.is_validated:
        validate(automaton)
    return automaton.trusted()


def reachable(automaton: Automaton) -> Automaton:
    """The automaton without the states that no path reaches, and without their transitions."""
    kept = reached(automaton.initial, arrows(automaton.transitions))
    return replace(
        automaton,
        states=tuple(state for state in automaton.states if state.name in kept),
        transitions=tuple(t for t in automaton.transitions if t.source in kept),
    )


def arrows(transitions: Iterable[Transition]) -> dict[str, list[str]]:
    """The targets of the transitions of each state."""
    found: dict[str, list[str]] = {}
    for transition in transitions:
        found.setdefault(transition.source, []).append(transition.target)
    return found


def _doubts(automaton: Automaton) -> Iterator[Note]:
    """States that no path reaches, often for a misspelt ``goto``, and scales that may be upside down."""
    found = reached(automaton.initial, arrows(automaton.transitions))
    lost = [state.name for state in automaton.states if state.name not in found]
    if lost:
        names = ", ".join(lost[:5]) + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
        yield Note(NoteKind.UNREACHABLE, f"{automaton.initial} reaches {names}")
    if words := little_noise(automaton):
        yield Note(NoteKind.LITTLE_NOISE, words)


def unseen_steps(automaton: Automaton) -> Note:
    """What is not known about a program that steps unseen, and what to do about it."""
    lines = sorted(set(automaton.origin.uncounted)) if automaton.origin is not None else []
    at = f"line{'s' if len(lines) > 1 else ''} {' and '.join(map(str, lines))}"
    return Note(NoteKind.UNSEEN_STEPS, at)


def variables_of(transitions: Iterable[Transition]) -> tuple[str, ...]:
    """The variables of the transitions by first appearance (within one transition by name)."""
    found: dict[str, None] = {}
    for transition in transitions:
        for names in (transition.guard.used, transition.assigned, transition.reads):
            if not names <= found.keys():
                found.update(dict.fromkeys(sorted(names)))
    return tuple(found)
