"""One run of a program on symbolic values, as events: what an automaton would do.

The front end tells where the run is, and asks for inputs and noise; the trace tells a :class:`Listener` what
happens, in the words of an automaton: entries that are read, samples that are drawn, comparisons, outputs.
All that as late as possible: noise is drawn when its mean is known, and an entry is read together with the
sample that it is the mean of.

A run that begins like an earlier one only repeats its calls until they part (:class:`Past`): nothing is told,
and answers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from fractions import Fraction
from typing import NoReturn, Protocol

from symdipa.model import parts
from symdipa.model.errors import Position
from symdipa.model.parts import Atom, Term, atom
from symdipa.programs.points import Combination, Kept, Memory, Naming, Point, Renaming, combination, flat
from symdipa.programs.snapshot import Describe, Snapshot, Unknown
from symdipa.programs.values import ONE, Absolute, Entry, Noise, Number, Sample, exact

Values = Mapping[str, object] | Callable[[], Mapping[str, object]]
"""Live values by their names, or what tells them if they are asked for."""

ONE_EACH = "a comparison has one noisy value on each side, or a number that is known on one"
BEFORE = (
    "subtract the input where the other noise is added, q - t + noise >= r for q + noise >= t + r; what "
    "everybody knows, as the threshold of each round, is subtracted before the run: let the entries be q - t"
)
"""What to do about comparisons of sums."""

MOST_POINTS = 100_000
"""So many statements may be run without an event."""

MOST_AT_ONCE = 3_000
"""So many entries may be asked for, and so much noise made, without a statement between."""


# --------------------------------------------------------------------------------------------- what happens


@dataclass(frozen=True, slots=True)
class Take:
    """An entry is read, and nothing is drawn around it."""

    entry: str
    line: int


@dataclass(frozen=True, slots=True)
class Draw:
    """A sample is drawn around ``mu`` plus inputs. The step reads the entry ``reads``, if there is one: it is
    among the inputs, with factor 1."""

    sample: str
    kind: parts.Noise
    d: Fraction | None
    mu: Fraction
    inputs: Combination
    reads: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Ask:
    """Whether a comparison of samples holds. ``ties``: it counts whether they are equal."""

    atom: Atom
    ties: bool
    line: int

    @property
    def negation(self) -> Atom:
        """What holds otherwise."""
        no = self.atom.negation
        return no if self.ties else Atom(no.low, no.high, True)


@dataclass(frozen=True, slots=True)
class Ending:
    """Whether the input ends here, which everybody may know."""

    line: int


@dataclass(frozen=True, slots=True)
class Show:
    """An output: ``shape`` is what is seen of it but for numbers, which are values of samples (one name) or
    differences (two)."""

    shape: Hashable
    numbers: tuple[tuple[str, ...], ...]
    line: int


Event = Take | Draw | Show


class Listener(Protocol):
    """Who hears of a run. All may raise :class:`Cut`."""

    def passed(self, point: Point, past: Past) -> None:
        """The next event happens after this point, and before any other. ``past`` is how the run got there;
        it is complete when the event happens."""

    def happened(self, event: Event) -> None:
        """The event happens."""

    def asked(self, question: Ask | Ending) -> bool:
        """What the answer is in this run."""

    def known(self, question: Ask) -> bool | None:
        """The answer, if it follows from earlier ones."""


class Program(Protocol):
    """What a front end makes of a program."""

    @property
    def name(self) -> str: ...

    @property
    def source(self) -> str | None:
        """The file, for messages."""

    @property
    def text(self) -> str:
        """What is in the file."""

    @property
    def extent(self) -> tuple[int, int]:
        """The first and the last line of the function."""

    @property
    def integer(self) -> bool:
        """Whether inputs and noise are integers."""

    @property
    def differ(self) -> str:
        """Which entries may differ (:func:`symdipa.model.adjacency.differ.differ`)."""

    @property
    def halt(self) -> str | None:
        """Whether it is seen that a run ends without an output: ``"visible"``, ``"hidden"``, or not said."""

    def run(self, trace: Trace) -> None:
        """Run the program from its beginning to its end.

        It tells ``trace.point`` at every statement, and does the same each time that the trace answers the
        same. What the trace raises is no :class:`Exception`, and has to get through.
        """


class Cut(BaseException):
    """The run need not go on."""


class Restart(BaseException):
    """Something has to be drawn at another time, which :class:`Sites` now know."""


class Refused(BaseException):
    """What the program does cannot be followed: what was seen, where, and a remedy."""

    def __init__(self, seen: str, remedy: str, position: Position | None) -> None:
        self.message, self.position = f"{seen}; {remedy}" if remedy else seen, position
        super().__init__(self.message)


def differs(line: int) -> NoReturn:
    """A run does not do what it did before."""
    raise Refused(
        "it does not do the same when it is run again with the same answers",
        "let it depend on nothing but its arguments: not on random numbers, the time, or values that an "
        "earlier run has changed",
        Position(line, 1),
    )


# ----------------------------------------------------------------------------------------- what has happened

STATEMENT, READ = "statement", "read"
"""Calls of a front end that have no answer."""


@dataclass(slots=True)
class Past:
    """How a run got to a point: the ``calls`` of the front end since the point ``before``, with their
    answers; and what there was to remember."""

    before: Past | None
    calls: tuple[object, ...]
    memory: Memory | None = None

    def all_calls(self) -> list[object]:
        """The calls since the beginning."""
        parts, past = [self.calls], self.before
        while past is not None:
            parts.append(past.calls)
            past = past.before
        return [call for part in reversed(parts) for call in part]


# ---------------------------------------------------------------------------------------- when noise is drawn


class When(IntEnum):
    """When noise is drawn: at once, when inputs were added to it, or not before it is needed."""

    AT_ONCE = 0
    WITH_INPUT = 1
    LATE = 2


@dataclass(slots=True)
class Sites:
    """For the places where noise is made, when it is drawn: the earliest time that no run objects to; and the
    constant in its mean, which is what the program adds to it where it first compares or shows it.

    ``exact`` are the places that read entries of which some are later compared or shown as they are.
    """

    times: dict[object, When] = field(default_factory=dict)
    means: dict[object, Fraction] = field(default_factory=dict)
    exact: set[object] = field(default_factory=set)

    def when(self, site: object) -> When:
        return self.times.get(site, When.AT_ONCE)

    def later(self, site: object) -> bool:
        """Whether the noise of a site is drawn later from now on."""
        now = self.when(site)
        if site is None or now is When.LATE:
            return False
        self.times[site] = When(now + 1)
        return True


# ---------------------------------------------------------------------------------------------------- the run


class Trace:
    """One run.

    ``past``: it begins like an earlier one, up to a point where that was.

    A front end may set ``where``, which tells the place in the source for messages; ``at_work``, the words
    of the source that are being worked out, with their place; ``asks_equality``, whether it is the program
    that asks if numbers are equal, and not something on the way to another answer; and ``describe``, which
    knows its own kinds of values (:data:`~symdipa.programs.snapshot.Describe`).
    """

    def __init__(
        self, listener: Listener, sites: Sites, integer: bool = False, past: Past | None = None
    ) -> None:
        self.is_running = True
        self.where: Callable[[], Position | None] = lambda: Position(self.line, 1)
        self.at_work: Callable[[], tuple[str, Position | None]] = lambda: ("one statement", self.where())
        self.asks_equality: Callable[[], bool] = lambda: True
        self.describe: Describe | None = None
        self._listener, self._sites, self._integer = listener, sites, integer
        self._place: Hashable = "start"
        self._point = Point(self._place, self._place, 1, (), (), None, {})
        self._is_new = past is None
        self._renaming: Renaming = []
        self.line = 1
        self._pending: Entry | None = None
        self._exact: list[tuple[Number, Sample]] = []
        """Numbers, of which the inputs were drawn without noise, with the sample that is them (scaled)."""
        self._waiting: list[Number] = []
        self._kept = Kept()
        """What there was at the last point."""
        self._made = self._idle = 0
        self._read: list[str] = []
        self._noises = 0
        """Whose entries were asked for, and how much noise was made, since the last point."""
        self._past, self._calls = past, past.all_calls() if past is not None else []
        self._is_repeated = bool(self._calls)
        """Whether this is still what an earlier run has done."""
        self._at = self._begun = 0
        """How many calls were repeated; then how many there were at the last point, and at the last cut."""

    # ------------------------------------------------------------------------------ what a front end calls

    def skips(self) -> bool:
        """The run is at a statement: whether there is no need to tell :meth:`at` where that is."""
        return self._repeats(STATEMENT) and self._at < len(self._calls)

    def point(self, place: Hashable, line: int, values: Values) -> None:
        """The run is at a statement, and :meth:`at` the place, if that is wanted."""
        if not self.skips():
            self.at(place, line, values)

    def at(self, place: Hashable, line: int, values: Values) -> None:
        """The run is at ``place``, and nothing but the live ``values`` counts for what it does from here.

        Variables of the automaton are called after those of the program. What is not live may be left out,
        and should: states are merged where places and values agree. Names come in the same order in all runs.
        """
        self.line, self._place = line, place
        self._waiting.clear()
        self._read.clear()
        self._noises = 0
        self._idle += 1
        if self._idle > MOST_POINTS:
            self.refuse(
                f"{MOST_POINTS} statements were run in which nothing is read, compared or shown",
                "does this loop end? Let it read an input, or leave it",
            )
        try:
            snapshot = Snapshot.of(values() if callable(values) else values, self.describe)
        except Unknown as unknown:
            kind = type(unknown.value).__name__
            self.refuse(
                f"{unknown.path} is a value of type {kind}, which cannot be compared with one of another run",
                "use numbers, texts, tuples, lists and dictionaries",
            )
        if self._is_repeated:
            self._remember(place, snapshot)
            return
        self._settle_all(snapshot)
        self._keep_exact(snapshot)
        naming = Naming(self._pending)
        self._point, self._renaming, self._is_new = naming.point(place, line, snapshot), naming.renaming, True
        self._kept = Kept([number for number, _ in snapshot.numbers], self._exact, self._pending, self._made)
        self._at = len(self._calls)

    def read(self, source: str = "the input") -> Number:
        """The next entry of the input; messages say that it is one of ``source``."""
        if self._repeats(READ):
            return Number(self, {Entry("", 0): ONE})
        self._read.append(source)
        if len(self._read) > MOST_AT_ONCE:
            self.goes_on_and_on()
        for number in self._waiting:
            self._draw_with_inputs(number)
        self._waiting.clear()
        self._take()
        self._pending = Entry(self._name("@"), self._made, site=self._place)
        return Number(self, {self._pending: ONE})

    def ends(self) -> bool:
        """Whether an input of any length ends here, in this run; asked before the next entry is read."""

        def ask() -> bool:
            self._begin()
            return self._listener.asked(Ending(self.line))

        return self._answer(ask)

    def _here(self) -> int:
        """The line, also where a function that was called has moved on."""
        place = self.where()
        return self.line if place is None else place.line

    def noise(self, kind: parts.Noise, d: object, site: Hashable) -> Number:
        """Noise around 0 with inverse scale ``d``; ``site`` is the place in the program that makes it."""
        scale = exact(d)
        if scale is None or scale <= 0:
            other = d.words if isinstance(d, Number) else f"a value of type {type(d).__name__}"
            seen = other if scale is None else str(d)
            self.refuse(
                f"the scale of noise is {seen}", "give a positive number that is known, as laplace(2)"
            )
        repeated = self._repeats((kind, scale, site))
        number = Number(self, {Noise(kind, scale, site, 0 if repeated else self._here()): ONE})
        if repeated:
            return number
        self._noises += 1
        if self._noises > MOST_AT_ONCE:
            self.goes_on_and_on()
        if self._sites.when(site) is When.AT_ONCE:
            self._draw(number + self._sites.means.get(site, 0))
        return number

    def show(self, value: object) -> None:
        """The program outputs a value: a text, a number, or a tuple or list of such."""
        call = "show", value if isinstance(value, str | int) else None
        before = len(self._calls)
        if self._repeats(call):
            return
        samples: list[tuple[Sample, ...]] = []
        shape = self._shape(value, samples)
        self._take()
        self._begin()
        self._tell(Show(shape, tuple(tuple(each.name for each in some) for some in samples), self._here()))
        for some in samples:
            some[0].shown |= len(some) == 1
        self._calls[before:] = [call]  # without what was asked meanwhile

    def refuse(self, seen: str, remedy: str = "") -> NoReturn:
        """Say that the program cannot be followed here: what was seen, and what to do instead."""
        raise Refused(seen, remedy, self.where())

    def goes_on_and_on(self) -> NoReturn:
        """Say that one statement reads, draws or asks more and more, and nothing can be told between."""
        words, place = self.at_work()
        source = self._read[-1] if self._read else ""
        if len(self._read) > 2:
            seen = f"{words} takes ever more entries of {source} (1, 2, 3, ...), and shows nothing"
            remedy = f"set how many there are, --set {source}=5, or use each in a loop: for q in {source}"
        elif self._noises > 2:
            seen = f"{words} makes ever more noise (1, 2, 3, ... times), and shows nothing"
            remedy = "let it end"
        else:
            seen = f"{words} asks ever more questions (1, 2, 3, ...), and shows nothing"
            remedy = "ask them in statements, as in a loop that keeps what counts"
        raise Refused(seen, remedy, place)

    # --------------------------------------------------------------------------------- what numbers ask for

    def less(self, left: Number, right: Number, *, strict: bool) -> bool:
        """Whether a number is less than another one, or at most if not ``strict``."""
        return self._answer(lambda: self._less(left, right, strict))

    def equal(self, left: Number, right: Number) -> bool:
        """Whether two numbers are equal, where they can be."""
        return self._answer(lambda: self._equal(left, right))

    def _answer(self, find: Callable[[], bool]) -> bool:
        """The answer to a question of the program, which is one call, whatever it asks itself."""
        if self._is_repeated:
            answer = self._repeated()
            return answer if isinstance(answer, bool) else differs(self.line)
        before = len(self._calls)
        answer = find()
        self._calls[before:] = [answer]
        return answer

    def _less(self, left: Number, right: Number, strict: bool) -> bool:
        difference = self._difference(left, right)
        if difference.is_constant:
            return difference.constant < 0 or (not strict and not difference.constant)
        self._begin()
        self._idle = 0
        return self._listener.asked(self._question(difference, strict))

    def _question(self, difference: Number, strict: bool) -> Ask:
        """Whether a difference of samples is negative, or 0 if not ``strict``."""
        ends = list(difference.samples.items())
        size = abs(ends[0][1])
        if len(ends) > 2 or abs(ends[-1][1]) != size:
            if len(ends) == 2:
                self.refuse("multiples of noisy values are compared", ONE_EACH)
            if any(sample.kind is parts.Noise.NONE for sample, _ in ends):
                self.refuse("a noisy value plus an input without noise is compared", BEFORE)
            self.refuse("a sum of noisy values is compared", ONE_EACH)
        low = Term(ends[0][0].name, difference.constant / size, ends[0][1] < 0)
        high = Term(ends[1][0].name, mirrored=ends[1][1] > 0) if len(ends) == 2 else Term(None)
        ties = self._integer or any(sample.kind is parts.Noise.NONE for sample, _ in ends)
        return Ask(atom(low, high, strict or not ties), ties, self.line)

    def _equal(self, left: Number, right: Number) -> bool:
        difference = self._difference(left, right)
        if difference.is_constant:
            return not difference.constant
        if self._integer or all(each.kind is parts.Noise.NONE for each in difference.samples):
            return self._less(left, right, False) and self._less(right, left, False)
        if self.asks_equality() and self._listener.known(self._question(difference, True)) is None:
            both = "two noisy values" if len(difference.samples) > 1 else "a noisy value and a number"
            self.refuse(
                f"{both} are compared with ==, which holds with probability 0",
                "compare with < or >= (only where noise is integer are there equal values); which of several "
                "is the largest is found by comparing each with the largest so far",
            )
        return False

    def made(self, number: Number) -> None:
        """A number was made. If noise has got the entry that waits to be read, both belong together."""
        if self._pending is not None and self._pending in number.terms and number.noises:
            self._waiting.append(number)

    # ------------------------------------------------------------------------------------- what is repeated

    def _repeats(self, call: object) -> bool:
        """Whether this call repeats what an earlier run has done; else it is noted."""
        if not self._is_repeated:
            self._calls.append(call)
            return False
        if self._repeated() != call:
            differs(self.line)
        return True

    def _repeated(self) -> object:
        """The next call of the earlier run."""
        if self._at == len(self._calls):
            differs(self.line)
        self._at += 1
        return self._calls[self._at - 1]

    def _remember(self, place: Hashable, snapshot: Snapshot) -> None:
        """The run is where the earlier one was: from here on it is no repetition."""
        assert self._past is not None and self._past.memory is not None
        memory = self._past.memory
        if self._at < len(self._calls) or not memory.fits(place, snapshot):
            differs(self.line)
        self._exact, self._pending = memory.recalled([number for number, _ in snapshot.numbers])
        self._made, self._begun = memory.made, self._at
        self._is_repeated = self._is_new = False

    # -------------------------------------------------------------------------------------------- the events

    def _begin(self) -> None:
        """Something happens: the point before it is where the run may be cut."""
        if self._is_new:
            self._is_new = False
            past = Past(self._past, tuple(self._calls[self._begun : self._at]))
            self._listener.passed(self._point, past)
            for symbol, name in self._renaming:
                symbol.name = name
                if isinstance(symbol, Entry):
                    symbol.of = None
            past.memory = Memory.of(self._point, self._kept)
            self._past, self._begun = past, self._at

    def _tell(self, event: Event) -> None:
        self._begin()
        self._idle = 0
        self._listener.happened(event)

    def _name(self, mark: str) -> str:
        self._made += 1
        return f"{mark}{self._made}"

    def _take(self) -> None:
        """Read the entry that waits to be read, if there is one."""
        if self._pending is not None and self._pending.site in self._sites.exact:
            self._input({self._pending: ONE})
        elif self._pending is not None:
            self._begin()
            entry, self._pending = self._pending, None
            self._tell(Take(entry.name, self.line))

    def _draw(self, value: Number, public: Number | None = None) -> None:
        """Draw the noise of a value that has no other: the value becomes a sample, or its negative does. If
        there is something ``public``, the sample is that of the sum of both: where its mean lies, everybody
        knows."""
        (noise, factor), *_ = value.noises.items()
        waiting = value.terms.get(self._pending, 0) if self._pending is not None else 0
        if waiting == -1 if noise.kind is not parts.Noise.EXPONENTIAL and waiting else factor < 0:
            value, factor, public = -value, -factor, None if public is None else -public
        sample = self._sample(value, noise.kind, noise.d / abs(factor), noise.site, noise.line)
        rest = value.plus(Number(self, {noise: factor}), -ONE)
        rest.public = False
        rest = rest if public is None else rest.plus(public)
        noise.drawn = Number(self, {sample: ONE}).plus(rest, -ONE).times(1 / factor)

    def _draw_first(self, number: Number) -> None:
        """Draw one noise of a number that has several, around all its inputs."""
        noise, factor = next(iter(number.noises.items()))
        part = Number(self, {noise: factor, **number.entries})
        self._draw(part if factor > 0 else -part)

    def _sample(
        self, value: Number, kind: parts.Noise, d: Fraction | None, site: object, line: int
    ) -> Sample:
        """Draw a sample around the inputs and the constant of the value. ``line`` is where its noise was
        made, for it is drawn later."""
        self._begin()
        reads = None
        if self._pending is not None and self._pending in value.terms:
            if value.terms[self._pending] == 1:
                reads, self._pending = self._pending.name, None
            else:
                self._take()
        sample = Sample(self._name("#"), site, line, kind, self._made)
        inputs = combination(value.entries)
        self._tell(Draw(sample.name, kind, d, value.constant, inputs, reads, line))
        return sample

    def _input(self, inputs: Mapping[Entry, Fraction]) -> tuple[Sample, Fraction]:
        """A sample without noise, and the factor with which it is this sum of inputs."""
        scaled, factor = self._scaled(inputs)
        if (known := self._known(scaled)) is not None:
            return known, factor
        site = next(iter(scaled)).site if len(scaled) == 1 and self._pending not in scaled else None
        if site is not None and site not in self._sites.exact:
            self._sites.exact.add(site)
            raise Restart
        number = Number(self, scaled)
        sample = self._sample(number, parts.Noise.NONE, None, None, self.line)
        self._exact = [*self._exact, (number, sample)]
        return sample, factor

    def _known(self, scaled: Mapping[Entry, Fraction]) -> Sample | None:
        """The sample that is this sum of inputs, if it was drawn."""
        found = (sample for number, sample in self._exact if self._scaled(flat(number.entries))[0] == scaled)
        return next(found, None)

    def _inputs(self, number: Number) -> dict[Entry, Fraction]:
        """The inputs of a number, which are to be drawn without noise, in the words of the last point."""
        if number.entries:
            self._begin()
        return flat(number.entries)

    def _scaled(self, inputs: Mapping[Entry, Fraction]) -> tuple[dict[Entry, Fraction], Fraction]:
        """The inputs with factor 1 for the oldest one, and the factor of that."""
        factor = inputs[min(inputs, key=lambda entry: entry.age)]
        return {entry: k / factor for entry, k in inputs.items()}, factor

    def _keep_exact(self, snapshot: Snapshot) -> None:
        """Samples without noise last as long as the inputs that they are."""
        kept = []
        for number, path in list(snapshot.numbers):
            if not (inputs := flat(number.entries)):
                continue
            scaled, factor = self._scaled(inputs)
            if (sample := self._known(scaled)) is not None:
                kept.append((number, sample))
                snapshot.numbers.append((Number(self, {sample: factor}, number.constant), path))
        self._exact = kept

    # ------------------------------------------------------------------------------- noise that was drawn

    def _settled(self, number: Number) -> Number:
        """The number in terms of samples where noise has been drawn."""
        for noise, factor in number.noises.items():
            if noise.drawn is not None:
                number = number.plus(Number(self, {noise: factor}), -ONE).plus(noise.drawn, factor)
        return number

    def _hidden(self, number: Number) -> Number:
        """The number without samples that were shown, if it has more than those: they count as known."""
        shown = {sample: factor for sample, factor in number.samples.items() if sample.shown}
        if not shown or (len(number.terms) == 1 and not number.public):
            return number
        found = number.plus(Number(self, shown), -ONE)
        found.public = True
        return found

    def _public(self, number: Number) -> Number:
        """What of a number was shown before."""
        return Number(self, {sample: factor for sample, factor in number.samples.items() if sample.shown})

    def _draw_with_inputs(self, number: Number) -> None:
        """Draw the noise of a number that has got its inputs."""
        settled = self._settled(number)
        now, public = self._hidden(settled), self._public(settled)
        noises = list(now.noises)
        alone = len(noises) == 1 and not now.samples and now.entries
        if alone and self._sites.when(noises[0].site) is When.WITH_INPUT:
            takes = bool(public.terms) and self._takes_public(now)
            self._draw(now + self._sites.means.get(noises[0].site, 0), public if takes else None)

    def _settle_all(self, snapshot: Snapshot) -> None:
        """Draw noise that has got its inputs; put every number of the snapshot in terms of samples."""
        for number in [number for number, _ in snapshot.numbers if number.noises]:
            self._draw_with_inputs(number)
        for number, _ in snapshot.numbers:
            now = self._settled(number)
            if len(now.samples) != 2 or len(now.terms) > 2:
                now = self._hidden(now)
            number.terms, number.constant, number.public = now.terms, now.constant, now.public

    # ---------------------------------------------------------------------------------------- comparisons

    def _difference(self, left: Number, right: Number) -> Number:
        """``left - right`` in terms of samples: whatever both have of noise and inputs is drawn."""
        if self._settled(left - right).is_constant:
            return self._settled(left - right)
        self._draw_around_public((self._settled(left), self._settled(right)), self._settled(left - right))
        sides = self._settled(left), self._settled(right)
        for side, other in (sides, sides[::-1]):
            if len(side.noises) == 1 and not side.samples:
                alone = len(other.entries) == len(other.terms)
                self._draw(side.plus(Number(self, other.entries), -ONE) if alone else side)
        sides = self._settled(left), self._settled(right)
        for side in sides:
            self._agree(side)
        difference = self._settled(left - right)
        while difference.noises:
            self._draw_first(difference)
            difference = self._settled(left - right)
        for inputs in self._sums(sides, difference):
            sample, factor = self._input(inputs)
            difference = difference.plus(Number(self, inputs), -ONE).plus(Number(self, {sample: factor}))
        if difference.public:
            self.refuse(
                "a sum with a value that was shown is compared",
                "compare the values themselves, or subtract the same on both sides",
            )
        return difference

    def _sums(self, sides: tuple[Number, Number], difference: Number) -> list[dict[Entry, Fraction]]:
        """The inputs of a difference, which are to be drawn without noise: those of each side, where a
        comparison can have them on its sides; the one that reads an entry is the last."""
        if not (whole := self._inputs(difference)):
            return []
        of_sides = [flat(side.entries) for side in sides]
        found = [{entry: k for entry, k in whole.items() if entry in own} for own in of_sides]
        parts = sorted(filter(None, found), key=lambda inputs: self._pending in inputs)
        sizes = {abs(self._scaled(inputs)[1]) for inputs in parts}
        return parts if sum(map(len, parts)) == len(whole) and len(sizes) == 1 else [whole]

    def _takes_public(self, number: Number) -> bool:
        """Whether a number is the entry that waits to be read, with others, and noise on both sides."""
        kinds = [noise.kind for noise in number.noises]
        return kinds == [parts.Noise.LAPLACE] and not number.samples and self._pending in number.entries

    def _draw_around_public(self, sides: tuple[Number, Number], difference: Number) -> None:
        """Let a new sample around the entry that was just read take in what was shown before, where too many
        samples would be compared otherwise.

        What was shown is known from the outputs. Less what is known an entry is any number again, and differs
        by no more: the outputs are those of the mechanism without it, on other inputs that are as adjacent.
        """
        public = self._public(difference)
        if not public.terms or len(difference.samples) + len(difference.noises) <= 2:
            return
        for side, added in zip(sides, (public, -public), strict=True):
            alone = side.plus(self._public(side), -ONE)
            if self._takes_public(alone):
                self._draw(alone, added)
                return
        youngest = max(difference.samples, key=lambda sample: sample.age)
        if not youngest.used and not youngest.shown and self._sites.later(youngest.site):
            raise Restart  # it was drawn before it was known what is added to it

    def _agree(self, side: Number) -> None:
        """Noise is drawn around what the program adds to it: where that was not so, everything starts anew.
        But what was compared or shown before is a value by itself, and an input that is added one without
        noise."""
        samples = list(side.samples.items())
        if side.entries:
            early = self._too_early([sample for sample, _ in samples if not sample.used], side.entries)
            if any(self._sites.later(sample.site) for sample in early):
                raise Restart
        if len(samples) == 1 and abs(samples[0][1]) == 1:
            self._center(samples[0][0], side.constant * samples[0][1])
        for sample, _ in samples:
            sample.used = True

    def _too_early(self, samples: list[Sample], entries: Mapping[Entry, Fraction]) -> list[Sample]:
        """The samples, those first which were probably drawn before an entry was added to them: the next one
        after the entry was read, or else the last one before."""
        read = min(entry.age for entry in entries)
        return sorted(
            samples, key=lambda sample: (sample.age < read, sample.age if sample.age > read else -sample.age)
        )

    def _center(self, sample: Sample, constant: Fraction) -> None:
        """What is always added to noise is in its mean."""
        site = sample.site
        if site is not None and self._sites.when(site) is not When.LATE and site not in self._sites.means:
            self._sites.means[site] = constant
            if constant:
                raise Restart

    # --------------------------------------------------------------------------------------------- outputs

    def _shape(self, value: object, samples: list[tuple[Sample, ...]]) -> Hashable:
        """What is seen of an output; appends the ``samples`` whose values or differences are."""
        if isinstance(value, Number | Absolute):
            value = value if isinstance(value, Number) else value.number
            return self._shape_of_number(value, samples)
        if isinstance(value, Enum):
            return "text", value.name
        if isinstance(value, str):
            return "text", value
        if value is None or isinstance(value, bool):
            return "constant", str(value)
        if (known := exact(value)) is not None:
            return "constant", str(known)
        if isinstance(value, tuple | list):
            kind = "list" if isinstance(value, list) else "tuple"
            return kind, tuple(self._shape(each, samples) for each in value)
        self.refuse(
            f"a value of type {type(value).__name__} is shown",
            "show texts, numbers, or tuples and lists of such",
        )

    def _shape_of_number(self, number: Number, samples: list[tuple[Sample, ...]]) -> Hashable:
        now = self._settled(number)
        if len(now.noises) == 1 and not self._hidden(now).samples:
            self._draw(self._hidden(now))
        else:
            while now.noises:
                self._draw_first(now)
                now = self._settled(number)
        now = self._settled(number)
        self._agree(now)
        now = self._hidden(now)
        if inputs := self._inputs(now):
            sample, factor = self._input(inputs)
            now = now.plus(Number(self, now.entries), -ONE).plus(Number(self, {sample: factor}))
        ends = list(now.samples.items())
        if not ends:
            return ("known",) if now.public else ("constant", str(now.constant))
        if len(ends) == 1:
            samples.append((ends[0][0],))
            return "number", ends[0][1], now.constant
        ends.sort(key=lambda end: end[1] < 0)
        if len(ends) > 2 or ends[0][1] != -ends[1][1]:
            self.refuse("a sum of noisy values is shown", "show them one by one, or a difference of two")
        samples.append((ends[0][0], ends[1][0]))
        return "number", ends[0][1], now.constant
