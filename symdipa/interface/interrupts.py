"""What is to be saved before Ctrl-C ends the process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_actions: list[Callable[[], None]] = []


@contextmanager
def on_interrupt(action: Callable[[], None]) -> Iterator[None]:
    """Do ``action`` if Ctrl-C comes meanwhile, perhaps in another thread and in the midst of anything."""
    _actions.append(action)
    try:
        yield
    except KeyboardInterrupt:
        action()
        raise
    finally:
        _actions.remove(action)


def before_leaving() -> None:
    """Do what is waiting to be done, the latest first; no failure may keep the process from ending."""
    for action in reversed(_actions):
        with suppress(Exception):
            action()
