"""The core of an automaton that is not one of the paper's: the same few things that a plain one is made of.

Engines, encodings and bounds know transitions that compare *one* sample with variables and store it. All else
is compiled to such transitions, and the control graph says which transition of the automaton each of them is
a part of (Def. core):

* A transition becomes a *chain* of transitions through states of its own. One of them takes the sample; the
  others take *free* samples, whose shifts cost nothing. ``x < y`` is a free sample at or above ``x`` and
  below ``y``. A value that is shown is compared with two free samples of shift 0, one on each side.
* Variables become *slots*, and a state of the core says which slot each variable names. So a copy is a name
  and no step at all, and a slot always holds the same sample until it is assigned anew.
* A constant is a free sample of shift 0 that is drawn before the run begins; constants are drawn in their
  order. A sample without noise and without input is the constant that its mean is.
* Exponential noise without input is at or above its mean, which matters where there are other constants.
* Where a difference is shown or a comparison has an offset, the order of the shifts is not that of values.
  Then every slot has a *soft* twin that takes part in the order of shifts (Def. soft order), and the slot
  itself in that of values. A difference that is shown ties two soft twins. An offset is left out of the
  order of values unless the comparison without it follows, so that more runs count as feasible than are.
* A second sample that is not Laplace noise is a sample of its own where it is shown.
* With mirrored terms every slot has a *mirror*, and every sample is followed by its negative, with half of
  its noise each. (By symmetry the best shifts of both are negatives of each other.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count

from symdipa.model.automaton import (
    Atom,
    Automaton,
    Noise,
    Output,
    OutputKind,
    State,
    Transition,
    atom,
    several,
)
from symdipa.model.errors import Limit, LimitReached
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.parts import SAMPLE, Term, value
from symdipa.runs.control.graph import (
    FREE,
    NOTHING,
    Control,
    Key,
    Naming,
    Sampling,
    Slopes,
    What,
    assembled,
)
from symdipa.runs.order import Mask, Step

MAX_STATES = 100_000
"""The most states of a core, which grow with the ways in which variables can name slots."""

Rigid = frozenset[tuple[str, bool, bool, bool]]
"""Slots whose values depend on inputs and have no two-sided noise: whether they have none at all, and whether
they may rise and allow no shift above the difference, or fall and allow none below it."""


class _Never(Exception):
    """A comparison of known numbers does not hold."""


_FREE = Sampling(False, None, Fraction(0), None, Fraction(0), NOTHING, FREE)


@dataclass(slots=True)
class _Part:
    """A transition of the core before variables have numbers; what is ``soft`` is about shifts only."""

    ge: set[Key] = field(default_factory=set)
    lt: set[Key] = field(default_factory=set)
    soft_ge: set[Key] = field(default_factory=set)
    soft_lt: set[Key] = field(default_factory=set)
    new: What | None = None
    mirrored: bool = False
    sampling: Sampling = field(default_factory=lambda: _FREE)

    @property
    def keys(self) -> set[Key]:
        return self.ge | self.lt | self.soft_ge | self.soft_lt

    @property
    def mirror(self) -> _Part:
        """The same about the negative of the sample, for the other half of its noise."""
        own = self.sampling
        above, below = own.slopes
        return _Part(
            set(map(_negative, self.lt)),
            set(map(_negative, self.ge)),
            set(map(_negative, self.soft_lt)),
            set(map(_negative, self.soft_ge)),
            self.new,
            True,
            replace(
                own, given=(below, above), second=None, output=NOTHING, fixed=own.shows_sample, mirror=True
            ),
        )


def _negative(key: Key) -> Key:
    what, mirrored = key
    return (-what, False) if isinstance(what, Fraction) else (what, not mirrored)


def core(automaton: Automaton, limits: Limits = UNLIMITED) -> Control:
    """The control graph of an automaton that is known to be valid, compiled as described above.

    Raises :class:`~symdipa.model.errors.LimitReached` above :data:`MAX_STATES`, and when the time is up.
    """
    return _Compiler(automaton, limits).run()


class _Compiler:
    def __init__(self, automaton: Automaton, limits: Limits) -> None:
        self.automaton, self.limits = automaton, limits
        self.number = automaton.variable_index
        spare = next(name for k in count() if (name := "spare" + "'" * k) not in automaton.variables)
        self.slots = (*automaton.variables, spare)
        self.live = _live(automaton)
        self.atoms = [self._resolved(t) for t in automaton.transitions]
        everything = [each for atoms in self.atoms for each in atoms]
        self.mirrors = any(each.low.mirrored or each.high.mirrored for each in everything)
        ties = any(_moved(state) and state.noise is Noise.NONE for state in automaton.states)
        self.apart = any(t.output.differences for t in automaton.transitions) or any(
            (None not in (each.low.name, each.high.name) and each.high.offset)
            or not self._is_hard(each, ties)
            for each in everything
        )
        self.has_constants = (
            any(None in (each.low.name, each.high.name) for each in everything)
            or any(isinstance(y, Fraction) for t in automaton.transitions for _, y in t.copies)
            or any(t.assign and _is_constant(automaton.state(t.source)) for t in automaton.transitions)
        )
        self.names: list[str] = []
        self.parts: list[tuple[int, int, int, bool, _Part]] = []

    def run(self) -> Control:
        """Explore the states, then number the variables."""
        automaton = self.automaton
        nothing: Naming = (None,) * len(automaton.variables)
        start = (automaton.index[automaton.initial], nothing, Rigid())
        place = {start: self._state(automaton.initial)}
        work, used = [start], {automaton.initial: 1}
        for q, naming, rigid in work:  # grows while it is walked
            self.limits.check(f"the core, {len(self.names)} states")
            for t in automaton.outgoing[q]:
                made = self._transition(t, naming, rigid)
                if made is None:
                    continue
                chain, there = made
                if there not in place:
                    name = automaton.states[there[0]].name
                    count = used[name] = used.get(name, 0) + 1
                    place[there] = self._state(name if count == 1 else f"{name}#{count}")
                    work.append(there)
                self._chain(t, place[q, naming, rigid], place[there], chain)
        return self._numbered(place[start], {q: naming for (_, naming, _), q in place.items()})

    def _state(self, name: str) -> int:
        if len(self.names) >= MAX_STATES:
            raise LimitReached(Limit.SIZE, f"the core has more than {MAX_STATES} states")
        self.names.append(name)
        return len(self.names) - 1

    def _chain(self, t: int, source: int, target: int, chain: list[_Part]) -> None:
        name = self.names[source]
        here = source
        for k, part in enumerate(chain):
            there = target if k == len(chain) - 1 else self._state(f"{name}.{t + 1}.{k + 1}")
            self.parts.append((here, there, t, k == 0, part))
            here = there

    # One transition

    def _resolved(self, t: Transition) -> list[Atom]:
        """The comparisons of a guard, where a sample is the constant that it is known to be."""
        state = self.automaton.state(t.source)
        known = Term(None, state.mu) if _is_constant(state) else None
        found = []
        for each in sorted(t.guard.atoms, key=str):
            if SAMPLE in each.names and known is not None:
                each = _with(each, lambda term: _placed(term, known) if term.name == SAMPLE else term)
            if (
                each.names == {SAMPLE} and each.low.name == each.high.name
            ):  # about twice the sample, or nothing
                each = _halved(each)
            found.append(each)
        return found

    def _transition(
        self, t: int, naming: Naming, rigid: Rigid
    ) -> tuple[list[_Part], tuple[int, Naming, Rigid]] | None:
        """The parts of a transition, and where it leads; ``None`` if known numbers forbid it."""
        automaton = self.automaton
        move = automaton.transitions[t]
        state, target = automaton.state(move.source), automaton.index[move.target]
        main = self._sample(state, move)
        parts: list[_Part] = []
        try:
            for each in self.atoms[t]:
                if (found := self._compared(each, naming, rigid, main)) is not None:
                    parts.append(found)
        except _Never:
            return None
        kept = self.live[target] | move.output.reads
        after, fresh = self._assigned(move, state, naming, main, kept)
        shown: list[_Part] = []
        for output in move.output.parts:
            seen = [self._seen(name, after, fresh, main, state) for name in output.names]
            if len(seen) == 1 or any(isinstance(what, Fraction) for what in seen):
                shown += self._released([what for what in seen if not isinstance(what, Fraction)], main)
            elif seen and seen[0] != seen[1]:
                shown += self._tied(seen, main)
        if main is not None:
            main.new = fresh
            parts.append(main)
            if (second := main.sampling.second) is not None and move.output.shows_second and _moved(state):
                shown.append(_Part(sampling=replace(main.sampling, given=second, output=NOTHING, fixed=True)))
        parts = [*parts, *shown] or [_Part()]
        if main is None:
            parts[0].sampling = replace(parts[0].sampling, output=_without_sample(move.output))
        if self.mirrors:
            parts = [each for part in parts for each in _halves(part)]
        names = tuple(
            what if name in self.live[target] else None
            for name, what in zip(automaton.variables, after, strict=True)
        )
        kinds = frozenset(each for each in rigid if each[0] in names and each[0] != fresh)
        if main is not None and isinstance(fresh, str) and fresh in names:
            given, kind = main.sampling.given or FREE, main.sampling.kind
            if main.sampling.reads_input and None in given:
                capped, based = kind.rises and given[0] is None, kind.falls and given[1] is None
                kinds |= {(fresh, given == (None, None), capped, based)}
        return parts, (target, names, kinds)

    def _sample(self, state: State, move: Transition) -> _Part | None:
        """The part that takes the sample, if the state draws one that is not known before."""
        if not state.draws or _is_constant(state):
            return None
        sampling = Sampling(
            _moved(state),
            state.d,
            state.mu,
            state.d_prime,
            state.mu_prime,
            move.output,
            None if state.noise is Noise.LAPLACE else slopes(state.noise, state.d),
            None if state.noise_prime is Noise.LAPLACE else slopes(state.noise_prime, state.d_prime),
            difference=move.difference,
        )
        part = _Part(sampling=sampling)
        if self.has_constants and state.noise is Noise.EXPONENTIAL and not _moved(state):
            part.ge.add((state.mu, False))
        return part

    def _compared(self, each: Atom, naming: Naming, rigid: Rigid, main: _Part | None) -> _Part | None:
        """Take note of a comparison in the part of the sample, or make a part of it.

        Raises :class:`_Never` where it compares numbers that are known and does not hold.
        """
        each = _with(each, lambda term: self._named(term, naming))
        low, high = each.low, each.high
        if low.name == high.name and low.name != SAMPLE:
            if low.mirrored == high.mirrored:
                if not (low.offset < high.offset or (low.offset == high.offset and not each.strict)):
                    raise _Never
                return None
            each = _halved(each)
            low, high = each.low, each.high
        if self.automaton.integer:
            each = _between_integers(each)
            low, high = each.low, each.high
        hard = self._is_hard(each, all(_is_exact(term, rigid, main) for term in (low, high)))
        if main is not None and SAMPLE in each.names:
            if (low.name == SAMPLE and low.mirrored) or (high.name == SAMPLE and high.mirrored):
                low, high = high.negative, low.negative
            if low.name == SAMPLE:
                self._note(main.lt, main.soft_lt, _key(high), hard)
            else:
                self._note(main.ge, main.soft_ge, _key(low), hard)
            return None
        part = _Part()
        self._note(part.ge, part.soft_ge, _key(low), hard)
        self._note(part.lt, part.soft_lt, _key(high), hard)
        return part

    def _is_hard(self, each: Atom, exact: bool) -> bool:
        """Whether a comparison of two values orders them, also where the offset is left out.

        What bounds a sample from above, or compares stored values, is strict in a step. Values may be equal
        if they are integers, or ``exact``: without noise.
        """
        offset = Fraction(0) if None in (each.low.name, each.high.name) else each.high.offset
        ties = self.automaton.integer or exact
        strict = each.strict or not ties or (each.high.name == SAMPLE and not each.high.mirrored)
        return offset < 0 or (offset == 0 and strict)

    def _note(self, values: set[Key], shifts: set[Key], key: Key, hard: bool) -> None:
        if hard:
            values.add(key)
        if self.apart:
            shifts.add(key)

    def _named(self, term: Term, naming: Naming) -> Term:
        """The term with the slot or the constant that its variable names."""
        if term.name is None or term.name == SAMPLE:
            return term
        what = naming[self.number[term.name]]
        assert what is not None, "a variable is read before it is assigned"
        known = Term(None, what) if isinstance(what, Fraction) else Term(what)
        return _placed(term, known)

    def _assigned(
        self, move: Transition, state: State, naming: Naming, main: _Part | None, kept: Iterable[str]
    ) -> tuple[Naming, What | None]:
        """What the variables name after the step, as far as they are kept, and where the sample is stored."""
        after: list[What | None] = [
            what if name in kept else None
            for name, what in zip(self.automaton.variables, naming, strict=True)
        ]
        for x, y in move.copies:
            after[self.number[x]] = naming[self.number[y]] if isinstance(y, str) else y
        stored = sorted(self.number[x] for x in move.assign)
        for place in stored:
            after[place] = None
        if not any(self.automaton.variables[x] in kept for x in stored):
            return tuple(after), None
        fresh: What
        if main is None:
            fresh = state.mu
        else:
            taken = {what for what in after if what is not None}
            own = [self.automaton.variables[x] for x in stored]
            if self.mirrors:
                taken |= {what for what, _ in main.keys}
            fresh = next(slot for slot in (*own, *self.slots) if slot not in taken)
        for place in stored:
            after[place] = fresh
        return tuple(after), fresh

    def _seen(
        self, name: str, after: Naming, fresh: What | None, main: _Part | None, state: State
    ) -> What | None:
        """What a shown name stands for; ``None``: the sample of this step."""
        what = (state.mu if main is None else None) if name == SAMPLE else after[self.number[name]]
        return None if main is not None and what == fresh else what

    def _released(self, shown: Iterable[What | None], main: _Part | None) -> Iterator[_Part]:
        """What shows these values: no shift of them is left."""
        for what in shown:
            if what is None:
                assert main is not None
                main.sampling = replace(main.sampling, fixed=True)
            else:
                yield from self._two_free((what, False), None)

    def _tied(self, pair: Iterable[What | None], main: _Part | None) -> Iterator[_Part]:
        """What shows a difference: both values have the same shift."""
        stored = [(what, False) for what in pair if what is not None]
        if len(stored) == 2:
            yield from self._two_free(*stored)
        else:
            assert main is not None
            main.soft_ge.add(stored[0])
            main.soft_lt.add(stored[0])

    def _two_free(self, one: Key, other: Key | None) -> Iterator[_Part]:
        """Two free samples between shifts, one each way; without an ``other``, between a shift and 0."""
        for low, high in ((one, other), (other, one)):
            part = _Part()
            ge, lt = (part.soft_ge, part.soft_lt) if self.apart else (part.ge, part.lt)
            ge |= {low} if low is not None else set()
            lt |= {high} if high is not None else set()
            part.sampling = replace(part.sampling, fixed=other is None)
            yield part

    # Numbers for variables

    def _numbered(self, start: int, names: Mapping[int, Naming]) -> Control:
        parts = [part for *_, part in self.parts]
        hard = {key for part in parts for key in part.ge | part.lt}
        soft = {key for part in parts for key in part.soft_ge | part.soft_lt}
        numbers = sorted({what for what, _ in hard | soft if isinstance(what, Fraction)})
        keys: list[Key] = [(c, False) for c in numbers]
        keys += sorted(
            {key for key in hard | soft if not isinstance(key[0], Fraction)},
            key=lambda key: (key[1], self.slots.index(str(key[0]))),
        )
        values = [key for key in keys if key in hard]
        shifts = [key for key in keys if key in soft]
        of_value = {key: 1 << x for x, key in enumerate(values)}
        of_shift = {key: 1 << x for x, key in enumerate(shifts, len(values))}
        every_soft = sum(of_shift.values())

        def mask(found: Iterable[Key], of: dict[Key, Mask]) -> Mask:
            return sum(of.get(key, 0) for key in found)

        def step(part: _Part) -> Step:
            new = [] if part.new is None else [(part.new, part.mirrored)]
            return Step(
                mask(part.ge, of_value) | mask(part.soft_ge, of_shift),
                mask(part.lt, of_value) | mask(part.soft_lt, of_shift),
                mask(new, of_value) | mask(new, of_shift),
                every_soft,
            )

        before = self._constants(numbers)
        first = len(self.names)
        ends = [*range(first, first + len(before)), start]
        self.names += [f"before.{k + 1}" for k in range(len(before))]
        numbered = [(ends[k], ends[k + 1], -1, False, part) for k, part in enumerate(before)] + self.parts
        control = assembled(
            state_names=tuple(self.names),
            variable_names=tuple(map(self._name, values)) + tuple(f"{self._name(key)}~" for key in shifts),
            steps=tuple(step(part) for *_, part in numbered),
            sampling=tuple(part.sampling for *_, part in numbered),
            source=tuple(source for source, *_ in numbered),
            target=tuple(target for _, target, *_ in numbered),
            initial=ends[0],
        )
        return replace(
            control,
            origin=tuple(t for _, _, t, _, _ in numbered),
            begins=tuple(begins for *_, begins, _ in numbered),
            keys=(*values, *shifts),
            names=tuple(names.get(q, ()) for q in range(len(self.names))),
        )

    def _constants(self, numbers: list[Fraction]) -> list[_Part]:
        """The parts that draw the constants, least first."""
        drawn = []
        for k, number in enumerate(numbers):
            part = _Part(ge={(numbers[k - 1], False)} if k else set(), new=number)
            part.sampling = replace(part.sampling, fixed=True)
            drawn.append(part)
        return drawn

    def _name(self, key: Key) -> str:
        what, mirrored = key
        if isinstance(what, Fraction):
            return str(what)
        return f"-{what}" if mirrored else what


def slopes(noise: Noise, d: Fraction | None) -> Slopes:
    """What a unit of shift above the difference costs, and one below it (Def. shift cost)."""
    if noise is Noise.NONE:
        return None, None
    return None if noise is Noise.EXPONENTIAL else d, d


def _halves(part: _Part) -> tuple[_Part, _Part]:
    """The part and its mirror, with half of the noise each."""
    own = part.sampling
    above, below = own.slopes
    half = above if above is None else above / 2, below if below is None else below / 2
    part.sampling = own if own.is_free else replace(own, given=half)
    return part, part.mirror


def _live(automaton: Automaton) -> list[frozenset[str]]:
    """For each state the variables whose values matter from there on."""
    live: list[frozenset[str]] = [frozenset()] * len(automaton.states)
    entering: list[list[int]] = [[] for _ in automaton.states]
    for t, move in enumerate(automaton.transitions):
        entering[automaton.index[move.target]].append(t)
    work = list(range(len(automaton.transitions)))
    while work:
        move = automaton.transitions[work.pop()]
        q = automaton.index[move.source]
        found = live[q] | move.reads | (live[automaton.index[move.target]] - move.assigned)
        copied = {y for x, y in move.copies if isinstance(y, str)}
        if found | copied != live[q]:
            live[q] = found | copied
            work += entering[q]
    return live


def _moved(state: State) -> bool:
    """Whether the means of a state depend on inputs."""
    return state.is_input or bool(state.registers)


def _is_constant(state: State) -> bool:
    """Whether the sample of a state is its mean."""
    return state.draws and state.noise is Noise.NONE and not _moved(state)


def _is_exact(term: Term, rigid: Rigid, main: _Part | None) -> bool:
    """Whether a value has no noise: a constant, or an input as it is."""
    if term.name == SAMPLE:
        return main is not None and main.sampling.slopes == (None, None)
    return term.name is None or any(name == term.name and exact for name, exact, _, _ in rigid)


def _with(each: Atom, change: Callable[[Term], Term]) -> Atom:
    return atom(change(each.low), change(each.high), each.strict)


def _placed(term: Term, known: Term) -> Term:
    """The term with something else in place of its name."""
    return (known.negative if term.mirrored else known).plus(term.offset)


def _halved(each: Atom) -> Atom:
    """The comparison of a value with itself or with its negative, as one with a constant."""
    low, high = each.low, each.high
    if low.mirrored == high.mirrored:
        return atom(Term(None, low.offset), Term(None, high.offset), each.strict)
    half = Term(None, (high.offset - low.offset) / 2)
    if high.mirrored:
        return atom(Term(low.name), half, each.strict)
    return atom(half.negative, Term(low.name), each.strict)


def _between_integers(each: Atom) -> Atom:
    """A comparison with a constant as a step makes it: strict unless it bounds a sample from below."""
    low, high = each.low, each.high
    if high.name is None and not each.strict and low.name is not None:
        return Atom(low, high.plus(Fraction(1)), True)
    if low.name is None and high.name is not None:
        if high.name == SAMPLE and each.strict:
            return Atom(low.plus(Fraction(1)), high, False)
        if high.name != SAMPLE and not each.strict:
            return Atom(low.plus(Fraction(-1)), high, True)
    return each


def _key(term: Term) -> Key:
    return (term.offset, False) if term.name is None else (term.name, term.mirrored)


def _without_sample(output: Output) -> Output:
    """An output of the same shape that is no sample of the step that shows it."""
    items = tuple(item if item.kind is OutputKind.SYMBOL else value(str(item)) for item in output.parts)
    return items[0] if len(items) == 1 and output.kind is not OutputKind.SEVERAL else several(*items)
