"""Runs a mechanism on numbers, with noise from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import GeneratorType
from typing import Any, Protocol

from symdipa.model.parts import Noise
from symdipa.programs.python.noise import SOURCE

Sampler = Callable[[Noise, Any], Any]
"""Noise of a kind with a scale, in units of ``1/eps``."""


class Playable(Protocol):
    """What is needed of a mechanism."""

    function: Any

    @property
    def inputs(self) -> tuple[str, ...]: ...

    def checked(self, settings: Mapping[str, Any]) -> dict[str, Any]: ...

    def bound(self, values: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]: ...


def outputs(
    mechanism: Playable, inputs: Iterable[Any], sampler: Sampler, settings: Mapping[str, Any]
) -> Iterator[Any]:
    """What a mechanism shows on inputs: an iterable of entries, or a number, for each of its parameters.

    Raises what the mechanism raises, and :class:`~symdipa.model.errors.InvalidInput` for wrong settings.
    """
    given = dict(zip(mechanism.inputs, inputs, strict=True))
    values = {name: value if is_number(value) else Given(value) for name, value in given.items()}
    source = _Source(sampler)
    positional, named = mechanism.bound({**mechanism.checked(settings), **values})
    result = source.during(lambda: mechanism.function(*positional, **named))
    if not isinstance(result, GeneratorType):
        if result is not None:
            yield result
        return
    over = object()
    while (shown := source.during(lambda: next(result, over))) is not over:
        yield shown


class _Source:
    def __init__(self, sampler: Sampler) -> None:
        self.sampler = sampler

    def noise(self, kind: Noise, scale: object) -> Any:
        return self.sampler(kind, scale)

    def during(self, step: Callable[[], Any]) -> Any:
        """Do a step of the mechanism, which takes its noise from here."""
        before = SOURCE.set(self)
        try:
            return step()
        finally:
            SOURCE.reset(before)


def is_number(value: object) -> bool:
    """Whether an input is one number, not a stream or a list of them."""
    return hasattr(value, "__add__") and not hasattr(value, "__iter__")


class Given:
    """Entries, used as a stream or as a list, as :class:`~symdipa.programs.python.inputs.Inputs` allow."""

    def __init__(self, entries: Iterable[Any]) -> None:
        self._entries = iter(entries)
        self._seen: list[Any] = []

    def __iter__(self) -> Iterator[Any]:
        return self._entries

    def __next__(self) -> Any:
        return next(self._entries)

    def __len__(self) -> int:
        self._seen += self._entries
        return len(self._seen)

    def __getitem__(self, position: int) -> Any:
        if position < 0:
            position += len(self)
            if position < 0:
                raise IndexError(f"there are {len(self)} entries")
        while len(self._seen) <= position:
            try:
                self._seen.append(next(self._entries))
            except StopIteration:
                raise IndexError(f"there are {len(self._seen)} entries") from None
        return self._seen[position]
