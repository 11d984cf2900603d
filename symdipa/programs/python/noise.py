"""What mechanisms call for noise. Where it comes from is up to who runs them: the analysis, or a sampler."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Protocol

from symdipa.model.parts import Noise
from symdipa.programs.values import exact


class Source(Protocol):
    """Where the noise of a run comes from."""

    def noise(self, kind: Noise, scale: object) -> Any:
        """Noise around 0 with this scale over eps."""


SOURCE: ContextVar[Source] = ContextVar("SOURCE")
"""Where the noise of the current run comes from."""


def laplace(scale: Any) -> Any:
    """Laplace noise around 0 of scale ``scale/eps``: ``q + laplace(2)``."""
    return _noise(Noise.LAPLACE, scale, "laplace")


def exponential(scale: Any) -> Any:
    """One-sided exponential noise from 0 upwards, of mean ``scale/eps``: ``q + exponential(2)``."""
    return _noise(Noise.EXPONENTIAL, scale, "exponential")


def _noise(kind: Noise, scale: Any, function: str) -> Any:
    source = SOURCE.get(None)
    if source is None:
        raise RuntimeError(f"{function} draws noise for a mechanism that runs; decorate it with @mechanism")
    return source.noise(kind, scale)


def inverse(scale: object) -> object:
    """One over a scale, if that is a number other than 0; else the scale itself, to be refused."""
    known = exact(scale)
    return 1 / known if known else scale
