"""What every engine has in common: it decides patterns, within limits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.patterns import Pattern
from symdipa.model.spelling import counted
from symdipa.model.verdict import PatternResult, Status


def how_far(depth: int) -> str:
    """What a search that ended early has shown: no violation up to ``depth`` (negative: nothing yet)."""
    if depth < 0:
        return "no depth was finished"
    return f"no violation within {counted(depth, 'step')}"


class Engine(ABC):
    """Decides patterns of one problem; work shared by several patterns is kept between calls.

    ``decide`` never raises because of a limit: it answers ``UNKNOWN`` with the reason. A ``PRESENT``
    comes with a witness that has been replayed through the definitions.
    """

    name: str
    encoding: str | None = None
    """The encoding of a symbolic search. Whoever answers for this engine names it, too."""
    same_work: bool = False
    """Whether all patterns need the same work, so that a limit met once will be met again."""

    @abstractmethod
    def decide(self, pattern: Pattern, limits: Limits = UNLIMITED) -> PatternResult: ...

    def decide_statically(self, pattern: Pattern, limits: Limits = UNLIMITED) -> PatternResult | None:
        """``ABSENT`` where cheap arguments without search show it, else ``None``; raises ``LimitReached``."""
        return None

    def unknown(self, pattern: Pattern, reason: str) -> PatternResult:
        """The answer where a limit, or whatever the reason says, kept this engine from another one."""
        return PatternResult(pattern, Status.UNKNOWN, self.name, encoding=self.encoding, reason=reason)

    def load(self) -> None:
        """Load the modules that :meth:`decide` needs: what is loaded before a fork is not loaded after it."""
        return

    def kept_in_process(self, ask: Callable[..., Any] | None) -> None:
        """Called by a race when this engine's process lives on with what it knows, or is gone (``None``).

        ``ask(function, *arguments)`` calls ``function(engine, *arguments)`` there.
        """
        return
