"""A watch that long computations look at, so that they end when their time is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf

from symdipa.model.errors import OutOfTime

Watch = Callable[[], None]
"""Called in every loop that may take long, at least a few times a second; raises :class:`TimeOver`."""


TimeOver = OutOfTime


def no_watch() -> None:
    """All the time in the world."""


def until(deadline: float) -> Watch:
    """A watch that stops at a reading of :func:`time.monotonic`."""
    if deadline == inf:
        return no_watch

    def watch() -> None:
        if time.monotonic() > deadline:
            raise OutOfTime(reason="the time was over")

    return watch
