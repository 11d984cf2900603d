"""What a search may use, and where it reports progress: one value that is passed along."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from symdipa.model.errors import OutOfTime

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of some piece of work; parts of it get narrower ones by :meth:`within`.

    ``deadline`` is a reading of :func:`time.monotonic`, ``memory`` the number of bytes that all processes of
    a check may hold together, ``bound`` the largest unrolling. ``progress`` is called now and then with a
    few words on the current work.
    """

    deadline: float | None = None
    memory: int | None = None
    bound: int | None = None
    progress: Progress | None = None

    @classmethod
    def of(
        cls,
        seconds: float | None = None,
        memory: int | None = None,
        bound: int | None = None,
        progress: Progress | None = None,
    ) -> Limits:
        """Limits that begin now. Raises ``ValueError`` for a limit that is not positive."""
        must_be_positive(timeout=seconds, memory=memory, bound=bound)
        return cls(None, memory, bound, progress).within(seconds)

    @property
    def hard(self) -> bool:
        """Whether something must end a search that does not end by itself."""
        return self.deadline is not None or self.memory is not None

    def check(self, doing: str) -> None:
        """Report progress; raise :class:`OutOfTime` when the deadline has passed."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise OutOfTime(doing)
        if self.progress is not None:
            self.progress(doing)

    def left(self) -> float | None:
        """The seconds that are left, never negative; ``None`` without a deadline."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def within(self, seconds: float | None) -> Limits:
        """The same limits with a deadline at most this many seconds from now."""
        if seconds is None:
            return self
        end = time.monotonic() + seconds
        return replace(self, deadline=end if self.deadline is None else min(self.deadline, end))

    def share(self, part: float) -> Limits:
        """Limits for a part of the time that is left."""
        left = self.left()
        return self if left is None else self.within(part * left)

    def heard_by(self, progress: Progress | None) -> Limits:
        """The same limits, reporting to ``progress``."""
        return replace(self, progress=progress)


UNLIMITED = Limits()


def must_be_positive(**values: Fraction | float | None) -> None:
    """Raise ``ValueError`` for a value that is not positive, by its name."""
    for what, value in values.items():
        if value is not None and not value > 0:
            raise ValueError(f"{what} must be positive, not {value}")


def stopwatch() -> Callable[[], float]:
    """A function that returns the seconds since it was made."""
    began = time.monotonic()
    return lambda: time.monotonic() - began
