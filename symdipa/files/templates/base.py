"""What all templates share: their parameters, how a stated D is divided, and the sheet that they fill in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from textwrap import wrap
from typing import Any

from symdipa.files.families.drafts import Branch, Draft
from symdipa.files.formats.dipa import Remarks, write
from symdipa.model.adjacency.differ import ALL, Differ, differ
from symdipa.model.adjacency.letters import DifferError
from symdipa.model.automaton import Automaton, Noise, noise_scale
from symdipa.model.errors import InputProblem, InvalidInput
from symdipa.model.parts import BEYOND, computable

WIDTH = 98
NARROWEST = 30
LARGEST = 10_000
"""Counts, and states of one automaton, go up to here."""


class Kind(Enum):
    """What the values of a parameter are."""

    COUNT = "a whole number"
    NUMBER = "an exact number"
    POSITIVE = "a positive exact number"
    SHARES = "positive exact numbers, one for each part"
    PAIRS = "one or more pairs of exact numbers, the first one smaller"
    FLAG = "yes or no"
    CHOICE = "one of several words"
    DIFFER = "which entries differ"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a template; a count goes from ``smallest`` to ``largest``, a choice is one of
    ``choices``, and so is the kind of entries that differ."""

    name: str
    kind: Kind
    default: Any
    help: str
    smallest: int = 1
    largest: int = LARGEST
    choices: tuple[str, ...] = ()

    def check(self, value: Any, parts: tuple[str, ...]) -> Any:
        """The value, with integers as fractions where fractions are meant.

        Raises :class:`~symdipa.model.errors.InvalidInput`, with the name of the parameter as the rule, for a
        value that is none. ``parts`` are what shares are about.
        """
        if self.kind is Kind.COUNT:
            if type(value) is not int or not self.smallest <= value <= self.largest:
                limits = f"{self.smallest} to {self.largest}"
                raise refused(self.name, f"{value} is not a whole number from {limits}")
            return value
        if self.kind is Kind.FLAG:
            return bool(value)
        if self.kind is Kind.CHOICE:
            if value not in self.choices:
                raise refused(self.name, f"{value!r} is not one of {', '.join(self.choices)}")
            return value
        if self.kind is Kind.SHARES:
            shares = tuple(map(self._exact, self._several(value)))
            if len(shares) != len(parts) or min(shares) <= 0:
                given = ":".join(map(str, shares))
                wanted = f"{len(parts)} positive numbers, {' : '.join(parts)}"
                raise refused(self.name, f"{given} is not {wanted}")
            return shares
        if self.kind is Kind.PAIRS:
            pairs = [tuple(map(self._exact, self._several(pair))) for pair in self._several(value)]
            if not pairs or any(len(pair) != 2 for pair in pairs):
                raise self._wrong(value)
            for low, high in pairs:
                if low >= high:
                    raise refused(self.name, f"{low} is not below {high}")
            return tuple(pairs)
        if self.kind is Kind.DIFFER:
            return self._differ(value)
        number = self._exact(value)
        if self.kind is Kind.POSITIVE and number <= 0:
            raise refused(self.name, f"{number} is not positive")
        return number

    def _exact(self, value: Any) -> Fraction:
        try:
            return Fraction(value if not isinstance(value, float) else "")  # what a float means is a guess
        except (TypeError, ValueError, ZeroDivisionError):
            raise self._wrong(value) from None

    def _differ(self, value: Any) -> Differ:
        try:
            given = differ(value) if isinstance(value, str) else value
        except DifferError as error:
            raise refused(self.name, str(error)) from None
        if not isinstance(given, Differ):
            raise self._wrong(value)
        if given.text.partition("=")[0] not in self.choices:
            wanted = " or ".join(_DIFFER[choice] for choice in self.choices)
            raise refused(self.name, f"{given} is not {wanted}, for which the noise is known here")
        return given

    def _several(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise self._wrong(value)
        return tuple(value)

    def _wrong(self, value: Any) -> InvalidInput:
        return refused(self.name, f"{value!r} is not {self.kind.value}")


def refused(parameter: str, message: str) -> InvalidInput:
    return InvalidInput([InputProblem(parameter, message)])


TOTAL = Parameter("total", Kind.POSITIVE, Fraction(1), "The D that comes out, exactly.")
SENSITIVITY = Parameter(
    "sensitivity", Kind.POSITIVE, Fraction(1), "Adjacent inputs differ by at most this in each entry."
)
MONOTONE = Parameter(
    "monotone",
    Kind.FLAG,
    False,
    "Adjacent inputs differ all upwards or all downwards (as counts do when one person joins), which "
    "takes about half as much noise.",
)


_DIFFER = {"all": "all", "entries": "entries=K", "window": "window=W"}
"""The kinds of entries that differ which templates know, and how they are written."""


def which_differ(default: str, *kinds: str) -> Parameter:
    """The parameter that says which entries differ: one of these kinds."""
    written = ", ".join(_DIFFER[kind] for kind in kinds)
    help = f"Which entries of adjacent inputs differ ({written})."
    return Parameter("differ", Kind.DIFFER, differ(default), help, choices=kinds)


LAPLACE, EXPONENTIAL, INTEGER = "laplace", "exponential", "integer"
NOISES = {
    LAPLACE: "draws Laplace noise of scale 1/(d*eps)",
    EXPONENTIAL: "draws exponential noise of scale 1/(d*eps), from the mean upwards",
    INTEGER: "draws discrete Laplace noise, an integer k in proportion to exp(-d*eps*|k|)",
}
"""The kinds of noise that a template can have, in words."""


def noise_parameter(kinds: tuple[str, ...]) -> Parameter:
    told = {
        LAPLACE: "on both sides",
        EXPONENTIAL: "upwards only",
        INTEGER: "in integers, also the inputs",
    }
    words = ", ".join(f"{kind}: {told[kind]}" for kind in kinds)
    return Parameter("noise", Kind.CHOICE, LAPLACE, f"The noise ({words}).", choices=kinds)


@dataclass(frozen=True, slots=True)
class Settings:
    """What is asked of every template.

    ``parts`` name what the shares ``split`` of ``total`` are for.
    """

    parts: tuple[str, ...]
    split: tuple[Fraction, ...]
    total: Fraction
    sensitivity: Fraction
    monotone: bool
    noise: str = LAPLACE
    differ: Differ = ALL

    @property
    def kind(self) -> Noise:
        """The noise of states."""
        return Noise.EXPONENTIAL if self.noise == EXPONENTIAL else Noise.LAPLACE

    @property
    def swing(self) -> int:
        """How far apart an input and a shift of its sample can be, in units of the sensitivity.

        A sample that has to follow a threshold moves by 1. Its input may move by 1 against it, or with
        monotone adjacency stay where it is.
        """
        return 1 if self.monotone else 2

    def shares(self) -> tuple[Fraction, ...]:
        """The parts of ``total``, in proportion to ``split``."""
        whole = sum(self.split)
        return tuple(self.total * share / whole for share in self.split)

    def inverse_scale(self, share: Fraction, times: int) -> Fraction:
        """The ``d`` with which ``times`` costs of ``d`` times the sensitivity make up ``share``."""
        return share / (times * self.sensitivity)

    def most(self, entries: int | None = None) -> int:
        """How many entries differ at most, of so many (``None``: of a stream without end)."""
        numbers = [number for number in (self.differ.most, entries) if number is not None]
        return min(numbers)

    @property
    def weight_options(self) -> str:
        """The options of ``symdipa weight`` about the inputs, with a space in front."""
        adjacency = " --adjacency monotone" if self.monotone else ""
        return adjacency + (f" --sensitivity {self.sensitivity}" if self.sensitivity != 1 else "")

    def assumed(self) -> str:
        """Which inputs are adjacent, in words."""
        way = "all of them up or all of them down (monotone)" if self.monotone else "up or down"
        numbers = "inputs are integers, and " if self.noise == INTEGER else ""
        if self.differ.is_all:
            return f"{numbers}two adjacent inputs differ by at most {self.sensitivity} in each entry, {way}"
        each = "" if self.differ.most == 1 else " each"
        return (
            f"{numbers}of two adjacent inputs {self.differ.words}, by at most {self.sensitivity}{each}, {way}"
        )

    def cost(self, d: Fraction, swing: int = 1) -> str:
        """What one step costs, as text, for instance ``2 * 1/12``."""
        factors = [str(swing)] if swing != 1 else []
        factors += [str(self.sensitivity)] if self.sensitivity != 1 else []
        return " * ".join([*factors, str(d)])


@dataclass(slots=True)
class Sheet:
    """A mechanism as it is written down: the automaton state by state, each with a comment.

    ``about`` are sentences on the mechanism, ``costs`` the lines of the sum that is ``D``, ``remarks``
    paragraphs on the states.
    """

    settings: Settings
    about: str
    draft: Draft = field(default_factory=Draft)
    costs: list[str] = field(default_factory=list)
    remarks: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def draw(
        self,
        name: str,
        d: Fraction,
        mu: Fraction,
        branch: Branch,
        remark: str,
        registers: tuple[str, ...] = (),
    ) -> None:
        """A state that draws noise around ``mu``, or around the sum of ``registers``."""
        self._room(name)
        self.draft.draw(name, d, branch, mu, self.settings.kind, registers)
        mean = " + ".join(registers) if registers else str(mu)
        self.remarks[name] = (remark, f"Noise of scale {noise_scale(d)} {self._place(mean)}.")

    def take(self, name: str, branch: Branch, remark: str) -> None:
        """A state that reads an input and draws nothing."""
        self._room(name)
        self.draft.take(name, branch)
        self.remarks[name] = (remark,)

    def tell(self, name: str, branch: Branch, remark: str) -> None:
        """A silent state, which only shows what is stored."""
        self._room(name)
        self.draft.tell(name, branch)
        self.remarks[name] = (remark,)

    def _place(self, mean: str) -> str:
        return f"from {mean} upwards" if self.settings.noise == EXPONENTIAL else f"around {mean}"

    def read(
        self,
        name: str,
        d: Fraction,
        *branches: Branch,
        remark: str,
        mu: Fraction = Fraction(0),
        d_prime: Fraction | None = None,
        registers: tuple[str, ...] = (),
    ) -> None:
        """A state that reads an input."""
        self._room(name)
        noise_of = self.settings.kind
        self.draft.read(name, d, *branches, mu=mu, d_prime=d_prime, noise=noise_of, registers=registers)
        moved = f"{' + ' if mu > 0 else ' - '}{abs(mu)}" if mu else ""
        moved += "".join(f" + {register}" for register in registers)
        noise = f"Noise of scale {noise_scale(d)} {self._place(f'the input{moved}')}"
        if d_prime is not None:
            noise += f", for the number that is shown a second draw of scale {noise_scale(d_prime)}"
        self.remarks[name] = (remark, f"{noise}.")

    def _room(self, name: str) -> None:
        if len(self.draft.states) >= LARGEST:
            raise refused("", f"that would be more than {LARGEST} states")

    def cost(self, amount: Fraction, what: str) -> None:
        """A summand of ``D``."""
        first, rest = f"  {amount}  ", " " * (len(str(amount)) + 4)
        self.costs += [(rest if i else first) + line for i, line in enumerate(lines(what, WIDTH - len(rest)))]

    def say(self, text: str) -> None:
        """A line below the summands."""
        self.costs += [f"  {line}" for line in lines(text, WIDTH - 2)]


@dataclass(frozen=True, slots=True)
class Written:
    """A mechanism that was made: the commented text, the automaton, and what ``weight`` says of it."""

    text: str
    automaton: Automaton
    settings: Settings

    @property
    def weight(self) -> Fraction:
        """The ``D`` that ``symdipa weight`` prints with the options of the settings; it is optimal."""
        return self.settings.total


@dataclass(frozen=True, slots=True)
class Template:
    """A mechanism with parameters.

    ``parts`` name what costs, in the order of ``--eps-split``; ``parameters`` are its own, beside those that
    all templates have; ``build`` gets the settings and these by name. ``noises`` are those that it can have.
    """

    name: str
    summary: str
    parts: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    build: Callable[..., Sheet]
    noises: tuple[str, ...] = (LAPLACE, INTEGER)

    @property
    def split(self) -> Parameter:
        """How the total is divided."""
        names = ("A", "B", "C")[: len(self.parts)]
        text = f"How D is divided, {':'.join(names)} for {' : '.join(self.parts)}."
        return Parameter("eps_split", Kind.SHARES, (Fraction(1),) * len(self.parts), text)

    @property
    def every_parameter(self) -> tuple[Parameter, ...]:
        split = (self.split,) if len(self.parts) > 1 else ()
        return (*self.parameters, *split, TOTAL, SENSITIVITY, MONOTONE, noise_parameter(self.noises))

    def new(self, given: Mapping[str, Any]) -> Written:
        """The mechanism with the given parameters, the others as by default."""
        known = {parameter.name: parameter for parameter in self.every_parameter}
        for name in given:
            if name not in known:
                raise refused(name, f"{self.name} has no such parameter; it has {', '.join(known)}")
        values = {
            name: parameter.check(given.get(name, parameter.default), self.parts)
            for name, parameter in known.items()
        }
        split = values.pop("eps_split", (Fraction(1),))
        names = (TOTAL.name, SENSITIVITY.name, MONOTONE.name, "noise", "differ")
        settings = Settings(self.parts, split, *(values.pop(name) for name in names if name in values))
        if settings.noise == INTEGER and settings.sensitivity.denominator != 1:
            raise refused("sensitivity", f"{settings.sensitivity} is no integer, as --noise integer asks for")
        sheet = self.build(settings, **values)
        if any(transition.target == "done" for transition in sheet.draft.transitions):
            sheet.draft.end("done")
        integer = settings.noise == INTEGER
        automaton = sheet.draft.finish(self.name, integer=integer, differ=settings.differ)
        for state in automaton.states:
            if automaton.integer and state.mu.denominator != 1:
                raise refused("", f"noise is added to {state.mu}, no integer, as --noise integer asks for")
            numbers = (state.d, state.mu, state.d_prime, state.mu_prime)
            if not all(number is None or computable(number) for number in numbers):
                raise refused("", f"the noise of state {state.name} {BEYOND}")
        return Written(write(automaton, _remarks(sheet)), automaton, settings)


def _remarks(sheet: Sheet) -> Remarks:
    settings = sheet.settings
    head = [
        *lines(sheet.about),
        *lines(f"Assumed: {settings.assumed()}."),
        *lines(
            f"`symdipa weight{settings.weight_options}` prints D = {settings.total} (optimal): "
            "D*eps-differential privacy for every eps > 0, however long the input is."
        ),
        "",
        f"Where D = {settings.total} comes from:",
        *sheet.costs,
        "",
        *lines(f"A state {_state_form(settings)} {NOISES[settings.noise]}: a larger d is less noise."),
    ]
    states = {name: tuple(x for text in said for x in lines(text)) for name, said in sheet.remarks.items()}
    return Remarks(tuple(head), states)


def _state_form(settings: Settings) -> str:
    return "(name, exp d, mu)" if settings.noise == EXPONENTIAL else "(name, d, mu)"


def lines(text: str, width: int = WIDTH) -> list[str]:
    """A paragraph as lines."""
    return wrap(text, max(width, NARROWEST), break_long_words=False, break_on_hyphens=False)


def numbered(base: str, *places: tuple[int, int]) -> str:
    """A name with the numbers ``i`` of the places ``(i, count)`` whose count is above 1."""
    numbers = [str(i) for i, count in places if count > 1]
    return base + "_".join(numbers)
