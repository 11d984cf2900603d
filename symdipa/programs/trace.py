"""One run of a program on symbolic values, as events: what an automaton would do.

The front end tells where the run is, and asks for inputs and noise; the trace tells a :class:`Listener` what
happens, in the words of an automaton: entries that are read, samples that are drawn, comparisons, outputs.
All that as late as possible: noise is drawn when its mean is known, and an entry is read together with the
sample that it is the mean of.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from fractions import Fraction
from typing import NoReturn, Protocol

from symdipa.model import parts
from symdipa.model.errors import Position
from symdipa.model.parts import Atom, Term, atom
from symdipa.programs.points import Combination, Naming, Point, Renaming, combination, flat
from symdipa.programs.snapshot import Describe, Snapshot, Unknown
from symdipa.programs.values import ONE, Absolute, Entry, Noise, Number, Sample, exact

Values = Mapping[str, object] | Callable[[], Mapping[str, object]]
"""Live values by their names, or what tells them if they are asked for."""

MOST_POINTS = 100_000
"""So many statements may be run without an event."""


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

    def passed(self, point: Point) -> None:
        """The next event happens after this point, and before any other."""

    def happened(self, event: Event) -> None:
        """The event happens."""

    def asked(self, question: Ask | Ending) -> bool:
        """What the answer is in this run."""


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
    """Some noise has to be drawn at another time, which :class:`Sites` now know."""


class Refused(BaseException):
    """What the program does cannot be followed: what was seen, where, and a remedy."""

    def __init__(self, seen: str, remedy: str, position: Position | None) -> None:
        self.message, self.position = f"{seen}; {remedy}" if remedy else seen, position
        super().__init__(self.message)


# ---------------------------------------------------------------------------------------- when noise is drawn


class When(IntEnum):
    """When noise is drawn: at once, when inputs were added to it, or not before it is needed."""

    AT_ONCE = 0
    WITH_INPUT = 1
    LATE = 2


@dataclass(slots=True)
class Sites:
    """For the places where noise is made, when it is drawn: the earliest time that no run objects to; and the
    constant in its mean, which is what the program adds to it where it first compares or shows it."""

    times: dict[object, When] = field(default_factory=dict)
    means: dict[object, Fraction] = field(default_factory=dict)

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

    A front end may set ``where``, which tells the place in the source for messages, and ``describe``, which
    knows its own kinds of values (:data:`~symdipa.programs.snapshot.Describe`).
    """

    def __init__(
        self, listener: Listener, sites: Sites, integer: bool = False, matters: Sequence[bool] = ()
    ) -> None:
        self.is_running = True
        self.matters = list(matters)
        """For the points so far, whether something happened there. A run that begins like another one is told
        beforehand, and passes over the others."""
        self.where: Callable[[], Position | None] = lambda: Position(self.line, 1)
        self.describe: Describe | None = None
        self._listener, self._sites, self._integer = listener, sites, integer
        self._point = Point("start", "start", 1, (), (), None, {})
        self._is_new = True
        self._renaming: Renaming = []
        self.line = 1
        self._pending: Entry | None = None
        self._exact: list[tuple[Number, Sample]] = []
        """Numbers, of which the inputs were drawn without noise, with the sample that is them (scaled)."""
        self._waiting: list[Number] = []
        self._made = self._idle = self._points = 0
        self._number = -1

    # ------------------------------------------------------------------------------ what a front end calls

    def point(self, place: Hashable, line: int, values: Values) -> None:
        """The run is at ``place``, and nothing but the live ``values`` counts for what it does from here.

        Variables of the automaton are called after those of the program. What is not live may be left out,
        and should: states are merged where places and values agree. Names come in the same order in all runs.
        """
        self.line = line
        self._waiting.clear()
        number, self._points = self._points, self._points + 1
        if number < len(self.matters):
            if not self.matters[number]:
                return
        else:
            self.matters.append(False)
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
        made = self._made
        self._settle_all(snapshot)
        self._keep_exact(snapshot)
        self.matters[number] |= self._made > made
        naming = Naming(self._pending)
        self._point, self._renaming, self._is_new = naming.point(place, line, snapshot), naming.renaming, True
        self._number = number

    def read(self) -> Number:
        """The next entry of the input."""
        for number in self._waiting:
            self._draw_with_inputs(number)
        self._waiting.clear()
        self._take()
        self._pending = Entry(self._name("@"), self._made)
        return Number(self, {self._pending: ONE})

    def ends(self) -> bool:
        """Whether an input of any length ends here, in this run; asked before the next entry is read."""
        self._begin()
        return self._listener.asked(Ending(self.line))

    def _here(self) -> int:
        """The line, also where a function that was called has moved on."""
        place = self.where()
        return self.line if place is None else place.line

    def noise(self, kind: parts.Noise, d: object, site: Hashable) -> Number:
        """Noise around 0 with inverse scale ``d``; ``site`` is the place in the program that makes it."""
        scale = exact(d)
        if scale is None or scale <= 0:
            seen = f"a value of type {type(d).__name__}" if scale is None else str(d)
            self.refuse(
                f"the scale of noise is {seen}", "give a positive number that is known, as laplace(2)"
            )
        number = Number(self, {Noise(kind, scale, site, self._here()): ONE})
        if self._sites.when(site) is When.AT_ONCE:
            self._draw(number + self._sites.means.get(site, 0))
        return number

    def show(self, value: object) -> None:
        """The program outputs a value: a text, a number, or a tuple or list of such."""
        samples: list[tuple[Sample, ...]] = []
        shape = self._shape(value, samples)
        self._take()
        self._begin()
        self._tell(Show(shape, tuple(tuple(each.name for each in some) for some in samples), self._here()))
        for some in samples:
            some[0].shown |= len(some) == 1

    def refuse(self, seen: str, remedy: str = "") -> NoReturn:
        """Say that the program cannot be followed here: what was seen, and what to do instead."""
        raise Refused(seen, remedy, self.where())

    # --------------------------------------------------------------------------------- what numbers ask for

    def less(self, left: Number, right: Number, *, strict: bool) -> bool:
        """Whether a number is less than another one, or at most if not ``strict``."""
        difference = self._difference(left, right)
        if difference.is_constant:
            return difference.constant < 0 or (not strict and not difference.constant)
        self._begin()
        ends = list(difference.samples.items())
        size = abs(ends[0][1])
        if len(ends) > 2 or abs(ends[-1][1]) != size:
            self.refuse(
                "a sum of noisy values is compared"
                if len(ends) > 2
                else "multiples of noisy values are compared",
                "a comparison has one noisy value on each side, or a number that is known on one",
            )
        low = Term(ends[0][0].name, difference.constant / size, ends[0][1] < 0)
        high = Term(ends[1][0].name, mirrored=ends[1][1] > 0) if len(ends) == 2 else Term(None)
        ties = self._integer or any(sample.kind is parts.Noise.NONE for sample, _ in ends)
        self._idle = 0
        return self._listener.asked(Ask(atom(low, high, strict or not ties), ties, self.line))

    def equal(self, left: Number, right: Number) -> bool:
        """Whether two numbers are equal, where they can be."""
        difference = self._difference(left, right)
        if difference.is_constant:
            return not difference.constant
        if not self._integer and any(each.kind is not parts.Noise.NONE for each in difference.samples):
            self.refuse(
                f"== compares {difference.words} with a number that it equals with probability 0",
                "compare with < or >= (only where noise is integer are there equal values)",
            )
        return self.less(left, right, strict=False) and self.less(right, left, strict=False)

    def made(self, number: Number) -> None:
        """A number was made. If noise has got the entry that waits to be read, both belong together."""
        if self._pending is not None and self._pending in number.terms and number.noises:
            self._waiting.append(number)

    # -------------------------------------------------------------------------------------------- the events

    def _begin(self) -> None:
        """Something happens: the point before it is where the run may be cut."""
        if self._is_new:
            self._is_new = False
            if self._number >= 0:
                self.matters[self._number] = True
            self._listener.passed(self._point)
            for symbol, name in self._renaming:
                symbol.name = name
                if isinstance(symbol, Entry):
                    symbol.of = None

    def _tell(self, event: Event) -> None:
        self._begin()
        self._idle = 0
        self._listener.happened(event)

    def _name(self, mark: str) -> str:
        self._made += 1
        return f"{mark}{self._made}"

    def _take(self) -> None:
        """Read the entry that waits to be read, if there is one."""
        if self._pending is not None:
            self._begin()
            entry, self._pending = self._pending, None
            self._tell(Take(entry.name, self.line))

    def _draw(self, value: Number) -> None:
        """Draw the noise of a value that has no other: the value becomes a sample, or its negative does."""
        (noise, factor), *_ = value.noises.items()
        waiting = value.terms.get(self._pending, 0) if self._pending is not None else 0
        if waiting == -1 if noise.kind is not parts.Noise.EXPONENTIAL and waiting else factor < 0:
            value, factor = -value, -factor
        sample = self._sample(value, noise.kind, noise.d / abs(factor), noise.site, noise.line)
        rest = value.plus(Number(self, {noise: factor}), -ONE)
        rest.public = False
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
        for number, sample in self._exact:
            if self._scaled(flat(number.entries))[0] == scaled:
                return sample, factor
        number = Number(self, scaled)
        sample = self._sample(number, parts.Noise.NONE, None, None, self.line)
        self._exact.append((number, sample))
        return sample, factor

    def _scaled(self, inputs: Mapping[Entry, Fraction]) -> tuple[dict[Entry, Fraction], Fraction]:
        """The inputs with factor 1 for the oldest one, and the factor of that."""
        factor = inputs[min(inputs, key=lambda entry: entry.age)]
        return {entry: k / factor for entry, k in inputs.items()}, factor

    def _keep_exact(self, snapshot: Snapshot) -> None:
        """Samples without noise last as long as the inputs that they are."""
        kept = []
        for number, path in list(snapshot.numbers):
            inputs = flat(number.entries)
            for known, sample in self._exact if inputs else ():
                if self._scaled(flat(known.entries))[0] == self._scaled(inputs)[0]:
                    kept.append((number, sample))
                    snapshot.numbers.append((Number(self, {sample: ONE}), path))
                    break
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

    def _draw_with_inputs(self, number: Number) -> None:
        """Draw the noise of a number that has got its inputs."""
        now = self._hidden(self._settled(number))
        sites = [noise.site for noise in now.noises]
        alone = len(sites) == 1 and not now.samples and now.entries
        if alone and self._sites.when(sites[0]) is When.WITH_INPUT:
            self._draw(now + self._sites.means.get(sites[0], 0))

    def _settle_all(self, snapshot: Snapshot) -> None:
        """Draw noise that has got its inputs; put every number of the snapshot in terms of samples."""
        for number, _ in snapshot.numbers:
            self._draw_with_inputs(number)
        for number, _ in snapshot.numbers:
            now = self._settled(number)
            if len(now.samples) != 2 or len(now.terms) > 2:
                now = self._hidden(now)
            number.terms, number.constant, number.public = now.terms, now.constant, now.public

    # ---------------------------------------------------------------------------------------- comparisons

    def _difference(self, left: Number, right: Number) -> Number:
        """``left - right`` in terms of samples: whatever both have of noise and inputs is drawn."""
        sides = self._settled(left), self._settled(right)
        if self._settled(left - right).is_constant:
            return self._settled(left - right)
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
        if inputs := flat(difference.entries):
            signed = inputs if sides[0].entries else {entry: -k for entry, k in inputs.items()}
            sample, factor = self._input(signed)
            factor = factor if signed is inputs else -factor
            difference = difference.plus(Number(self, difference.entries), -ONE)
            difference = difference.plus(Number(self, {sample: factor}))
        if difference.public:
            self.refuse(
                "a sum with a value that was shown is compared",
                "compare the values themselves, or subtract the same on both sides",
            )
        return difference

    def _agree(self, side: Number) -> None:
        """Noise is drawn around what the program adds to it: where that was not so, everything starts anew.
        But what was compared or shown before is a value by itself, and an input that is added one without
        noise."""
        samples = list(side.samples.items())
        early = sorted((each for each, _ in samples if not each.used), key=lambda each: -each.age)
        if side.entries and any(self._sites.later(sample.site) for sample in early):
            raise Restart
        if len(samples) == 1 and abs(samples[0][1]) == 1:
            self._center(samples[0][0], side.constant * samples[0][1])
        for sample, _ in samples:
            sample.used = True

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
        if inputs := flat(now.entries):
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
