"""What every engine has in common: limits, and one method that decides a pattern."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from symdipa.model import limits as passed
from symdipa.model.errors import OutOfTime
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import PatternResult

Progress = Callable[[str], None]


@dataclass
class Limits:
    """Limits of a check; its engines share the object, so that a process of its own can tell progress.

    ``bound`` is the largest unrolling, ``deadline`` a reading of :func:`time.monotonic`, ``memory`` the most
    bytes that the processes of the check may hold together.
    ``progress`` is told now and then, in a few words, how far the search is.
    """

    bound: int | None = None
    deadline: float | None = None
    progress: Progress | None = None
    memory: int | None = None

    @property
    def hard(self) -> bool:
        """Whether something must end a search that does not end by itself."""
        return self.deadline is not None or self.memory is not None

    @property
    def fixed(self) -> passed.Limits:
        """As they are now."""
        return passed.Limits(self.deadline, self.memory, self.bound, self.progress)

    def check(self, doing: str) -> None:
        """Report progress; raise :class:`LimitReached` when the time is up."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise OutOfTime(doing)
        if self.progress is not None:
            self.progress(doing)


def how_far(depth: int) -> str:
    """What a search that ended early has shown: no violation up to ``depth`` (negative: nothing yet)."""
    if depth < 0:
        return "no depth was finished"
    return f"no violation within {depth} step{'' if depth == 1 else 's'}"


class Engine(ABC):
    """Decides patterns of one automaton; work shared by several patterns is kept between calls.

    ``decide`` never raises because of a limit: it answers ``UNKNOWN`` with the reason. A ``PRESENT``
    comes with a witness that has been replayed through the definitions.
    """

    name: str
    same_work: bool = False
    """Whether all patterns need the same work, so that a limit met once will be met again."""

    @abstractmethod
    def decide(self, pattern: Pattern) -> PatternResult: ...

    def decide_statically(self, pattern: Pattern) -> PatternResult | None:
        """``ABSENT`` where cheap arguments without search show it, else ``None``."""
        return None
