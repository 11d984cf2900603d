"""One run of a program on symbolic values, as events: what an automaton would do.

The front end tells where the run is, and asks for inputs and noise; the trace tells a :class:`Listener` what
happens, in the words of an automaton: entries that are read, samples that are drawn, comparisons, outputs. As
late as possible: noise is drawn when its mean is known, and an entry is read together with the sample that it
is the mean of.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from typing import NoReturn, Protocol

from symdipa.model import parts
from symdipa.model.errors import Position
from symdipa.model.parts import Atom, Term, atom
from symdipa.programs.snapshot import Describe, Snapshot, Unknown
from symdipa.programs.values import ONE, Entry, Noise, Number, Sample, exact

Combination = tuple[tuple[str, Fraction], ...]
"""Entries and registers by name, with their factors, sorted."""

PENDING = "input"
"""The name of the entry that was asked for and is not read yet, where a point is passed."""

MOST_POINTS = 1_000_000
"""So many points without an event are passed before the program is said to do nothing."""


# --------------------------------------------------------------------------------------------- what happens


@dataclass(frozen=True, slots=True)
class Take:
    """An entry is read, and nothing is drawn around it."""

    entry: str
    line: int


@dataclass(frozen=True, slots=True)
class Draw:
    """A sample is drawn around ``mu`` plus inputs; the step reads the entry ``reads``, if any, which is one of
    the inputs, with factor 1."""

    sample: str
    kind: parts.Noise
    d: Fraction | None
    mu: Fraction
    inputs: Combination
    reads: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Ask:
    """Samples were compared, and the answer was yes or no."""

    atom: Atom
    line: int


@dataclass(frozen=True, slots=True)
class Show:
    """An output: ``shape`` says what is seen of it but for numbers, which are values (one name) or differences
    (two)."""

    shape: Hashable
    numbers: tuple[tuple[str, ...], ...]
    line: int


Event = Take | Draw | Ask | Show


@dataclass(frozen=True, slots=True)
class Point:
    """A place that the run has passed, where it may be cut in two.

    ``key`` is equal for points after which the same can happen. ``variables`` are the names by which the
    state knows samples, with their names before; ``registers`` those of sums of inputs, as what they are made
    of. ``pending`` is the name before of the entry that was asked for and is not read yet. ``shapes`` are the
    live values, for messages.
    """

    key: Hashable
    place: Hashable
    line: int
    variables: tuple[tuple[str, str], ...]
    registers: tuple[tuple[str, Combination], ...]
    pending: str | None
    shapes: Mapping[str, Hashable] = field(repr=False)


class Listener(Protocol):
    """Who hears of a run. Both may raise :class:`Cut`."""

    def passed(self, point: Point) -> None:
        """The next event happens after this point, and before any other."""

    def happened(self, event: Take | Draw | Show) -> None:
        """The event happens."""

    def asked(self, question: Ask) -> bool:
        """Samples are compared: what the answer is."""


class Program(Protocol):
    """What a front end makes of a program."""

    @property
    def name(self) -> str: ...

    @property
    def source(self) -> str | None:
        """The file, for messages."""

    @property
    def integer(self) -> bool: ...

    def run(self, trace: Trace) -> None:
        """Run the program from its beginning to its end.

        It passes ``trace.point`` at every statement, and must do the same each time that the trace answers
        the same. What the trace raises is no :class:`Exception`, and has to get through.
        """


class Cut(BaseException):
    """The run need not go on."""


class Restart(BaseException):
    """Some noise has to be drawn at another time, which :class:`Sites` now knows."""


class Refused(BaseException):
    """What the program does cannot be followed: what was ``seen``, where, and the ``remedy``."""

    def __init__(self, seen: str, remedy: str, position: Position | None, rule: str = "program") -> None:
        super().__init__(f"{seen}; {remedy}")
        self.message, self.position, self.rule = f"{seen}; {remedy}", position, rule


# ---------------------------------------------------------------------------------------- when noise is drawn


class When(IntEnum):
    """When the noise of a site is drawn: at once, when inputs have been added, or not before it is needed."""

    AT_ONCE = 0
    WITH_INPUT = 1
    LATE = 2


@dataclass(slots=True)
class Sites:
    """For the places where noise is made, when it is drawn and what constant is in its mean: the earliest time
    that no run objects to."""

    times: dict[object, When] = field(default_factory=dict)
    means: dict[object, Fraction] = field(default_factory=dict)

    def when(self, site: object) -> When:
        return self.times.get(site, When.AT_ONCE)

    def later(self, site: object) -> bool:
        """Whether the noise can be drawn later than now."""
        now = self.when(site)
        if now is When.LATE:
            return False
        self.times[site] = When(now + 1)
        return True


# ---------------------------------------------------------------------------------------------------- the run


class Trace:
    """One run. ``where`` tells the place in the source for messages; ``describe`` knows the front end's own
    kinds of values (:data:`~symdipa.programs.snapshot.Describe`). A front end may set both."""

    def __init__(self, listener: Listener, sites: Sites, integer: bool = False) -> None:
        self.is_running = True
        self.where: Callable[[], Position | None] = self._line
        self.describe: Describe | None = None
        self._listener, self._sites, self._integer = listener, sites, integer
        self._point: Point | None = None
        self._slots: list[tuple[Sample | Entry, str]] = []
        self._pending: Entry | None = None
        self._names = 0
        self._idle = 0

    # ------------------------------------------------------------------------------ what a front end calls

    def point(self, place: Hashable, line: int, values: Mapping[str, object]) -> None:
        """The run is at ``place``, and nothing but the live ``values`` counts for what it does from here.

        Variables of the automaton are called after those of the program. A value that is not live may be
        left out, and should: states are merged where places and values agree.
        """
        self._idle += 1
        if self._idle > MOST_POINTS:
            self.refuse(
                f"{MOST_POINTS} statements were run in which nothing is read, compared or shown",
                "does this loop end? Let it read an input, or leave it",
            )
        try:
            snapshot = Snapshot.of(values, self.describe)
        except Unknown as unknown:
            kind = type(unknown.value).__name__
            self.refuse(
                f"{unknown.path} holds a value of type {kind}, which cannot be compared with that of another run",
                "use numbers, texts, tuples, lists and dictionaries",
            )
        self._settle_all(snapshot)
        self._point = self._named(place, line, snapshot)

    def read(self, stream: str = "the input") -> Number:
        """The next entry of the input."""
        self._take()
        self._pending = Entry(self._fresh("@"), self._here())
        return Number(self, {self._pending: ONE})

    def noise(self, kind: parts.Noise, d: object, site: Hashable) -> Number:
        """Noise around 0 with inverse scale ``d``; ``site`` is the place in the program that makes it."""
        scale = exact(d)
        if scale is None or scale <= 0:
            seen = f"{d}" if scale is not None else f"a value of type {type(d).__name__}"
            self.refuse(f"the scale of noise is {seen}", "give a positive number that is known, as laplace(2)")
        noise = Noise(kind, scale, site, self._here())
        number = Number(self, {noise: ONE})
        if self._sites.when(site) is When.AT_ONCE:
            self._draw(number.plus(number.like(self._sites.means.get(site, Fraction(0)))))
        return number

    def show(self, value: object) -> None:
        """The program outputs a value: a text, a number, or a tuple or list of such."""
        numbers: list[tuple[str, ...]] = []
        shape = self._shown(value, numbers)
        self._take()
        self._happens(Show(shape, tuple(numbers), self._here()))

    def refuse(self, seen: str, remedy: str) -> NoReturn:
        """Say that the program cannot be followed here: what was seen, and what to do instead."""
        raise Refused(seen, remedy, self.where())
