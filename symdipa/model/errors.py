"""What is to be said about an input: problems and notes; and the error family.

Everything symdipa raises on purpose derives from :class:`SymdipaError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a text: ``line`` and ``column``, both counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class InputProblem:
    """One thing that is wrong with an input.

    ``rule`` names the violated rule (``"syntax"``, ``"determinism"``, ...), ``message`` says what is wrong
    and what would be right, ``position`` where (``None`` for an automaton built in Python).
    """

    rule: str
    message: str
    position: Position | None = None

    def place(self) -> tuple[int, int]:
        """Line and column, to sort by; problems without a position come first."""
        return (self.position.line, self.position.column) if self.position else (0, 0)

    def __str__(self) -> str:
        where = f"{self.position.line}:{self.position.column}: " if self.position else ""
        return f"{where}{self.message} [{self.rule}]"


class NoteKind(Enum):
    """What a note is about; the value is its sentence, with a place for what differs."""

    READ_AS = "branch {}"
    NEVER_TAKEN = "branch {} can never be taken, because earlier branches cover it; it is dropped"
    ONLY_A_TARGET = "state {}"
    ODD_OUTPUT = "the output {}"
    UNREACHABLE = "no path from {}; is every goto spelt right?"
    LITTLE_NOISE = "hardly any noise: {}"
    NOT_ASKED = "not asked for: {}; a verdict needs all four patterns"
    DISTINCTNESS_OPEN = "whether the violation is output-distinct was not established: {}"
    NO_BOUND = "no bound on D was computed (the weight needs the augmentation): {}"
    NOT_MEASURED = "whether some run costs more and more was not decided: {}"
    NO_PAIRING = "relational alignment found no bound on D{}"
    STOP_COUNTED = "it counts as seen that a run stops: as the output {}"
    STOP_SEEN = "if it is seen that a run stops, {}"
    NO_CONFIRMATION = "no two inputs that come near D were found: {}"
    PARAMETER = "{}"
    READ_AS_REAL = "an int is read as a real number: {}"
    LISTED = "every value that {} gets is an output, as in the lists of ShadowDP"
    UNSEEN_STEPS = (
        "what is seen does not tell whether another noisy value is drawn before the next output ({}), and "
        "here every step counts as seen: that proves privacy and bounds on D from above, but no violation "
        "and no bound from below; let the program show what decides about it"
    )
    SHOWS_NOTHING = "nothing is ever shown: {}"


DOUBTS = frozenset(
    [
        NoteKind.NEVER_TAKEN,
        NoteKind.ONLY_A_TARGET,
        NoteKind.ODD_OUTPUT,
        NoteKind.UNREACHABLE,
        NoteKind.LITTLE_NOISE,
        NoteKind.STOP_SEEN,
        NoteKind.SHOWS_NOTHING,
    ]
)
"""Notes that make a verdict doubtful, because the automaton may not be what its author wanted."""


@dataclass(frozen=True, slots=True)
class Note:
    """A remark on an automaton or a check; ``str`` is the sentence, behind its place in the text.

    ``text`` is what differs in its kind: names, a reason.
    """

    kind: NoteKind
    text: str
    position: Position | None = None

    @property
    def is_doubt(self) -> bool:
        """Whether the automaton may not be what its author wanted."""
        return self.kind in DOUBTS

    @property
    def sentence(self) -> str:
        return self.kind.value.format(self.text)

    def __str__(self) -> str:
        where = f"{self.position.line}:{self.position.column}: " if self.position else ""
        return f"{where}{self.sentence}"


class SymdipaError(Exception):
    """Root of the family."""


class InvalidInput(SymdipaError, ValueError):
    """An input that cannot be used; carries *all* its problems, in order of position.

    ``source`` is the file name or another description of where the input came from.
    """

    def __init__(self, problems: Sequence[InputProblem], source: str | None = None) -> None:
        if not problems:
            raise AssertionError("InvalidInput needs at least one problem")
        self.problems = tuple(sorted(problems, key=InputProblem.place))
        self.source = source
        super().__init__(self.source, self.problems)

    def __str__(self) -> str:
        if not self.source:
            return "\n".join(map(str, self.problems))
        return "\n".join(f"{self.source}:{'' if p.position else ' '}{p}" for p in self.problems)


class Limit(Enum):
    """What may end a search before it knows the answer."""

    TIME = "time"
    MEMORY = "memory"
    DEPTH = "depth"
    SIZE = "size"
    SOLVER = "solver"
    METHOD = "method"
    """The method does not apply here."""


class LimitReached(SymdipaError):
    """A limit ended a search: ``reason`` says which in words, ``doing`` what was going on, and how far."""

    def __init__(self, limit: Limit, reason: str, doing: str = "") -> None:
        self.limit, self.reason, self.doing = limit, reason, doing
        super().__init__(limit, reason, doing)

    def __str__(self) -> str:
        return f"{self.reason} at {self.doing}" if self.doing else self.reason


class OutOfTime(LimitReached):
    """The time is up."""

    def __init__(self, doing: str = "", reason: str = "time limit reached") -> None:
        super().__init__(Limit.TIME, reason, doing)

    def __reduce__(self) -> tuple[type[OutOfTime], tuple[str, str]]:
        return OutOfTime, (self.doing, self.reason)


class EncodingUnavailable(SymdipaError):
    """There is no such form of a query, for instance an unknown output format."""


class NothingToCertify(SymdipaError):
    """There is no answer that a certificate could prove; the text says why."""


class WitnessRejected(SymdipaError):
    """A witness does not replay through the definitions: an internal error, never a user's mistake."""
