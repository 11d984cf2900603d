"""Privacy claims as tests, for the test suites of libraries.

>>> from symdipa.testing import assert_private
>>> assert_private("examples/programs/sparse_vector.py:svt", c=2, at_most=1)

An ``AssertionError`` has the report: the verdict, and the run on which privacy is lost.
"""

from __future__ import annotations

from fractions import Fraction
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symdipa.analysis.expectations import Expectation
    from symdipa.model.automaton import Automaton
    from symdipa.model.limits import Limits
    from symdipa.model.verdict import Result
    from symdipa.programs.python.mechanism import Mechanism

__all__ = ["assert_not_private", "assert_private"]

SECONDS = 60.0
"""How long a claim may take to be decided."""

# pytest leaves out of its tracebacks the functions that have a local variable __tracebackhide__.


def assert_private(
    subject: Mechanism | Automaton | str | PathLike[str],
    *,
    at_most: Fraction | float | str | None = None,
    halt: str | None = None,
    differ: str | None = None,
    timeout: float = SECONDS,
    **settings: Any,
) -> Result:
    """Assert that a mechanism, an automaton or a file (``svt.py:svt``, ``svt.dipa``, ``svt.c``) is private
    for every eps, with a ``D`` of at most ``at_most``.

    ``settings`` are the parameters of a program; ``halt`` and ``differ`` are as for :func:`symdipa.check`.
    What is not decided within ``timeout`` seconds fails, too. Returns the result. Raises ``AssertionError``
    with the report, and :class:`~symdipa.model.errors.InvalidInput` for what cannot be followed.
    """
    __tracebackhide__ = True
    from symdipa.analysis.expectations import Expectation

    return _asserted(subject, Expectation(True, _bound(at_most)), halt, differ, timeout, settings)


def assert_not_private(
    subject: Mechanism | Automaton | str | PathLike[str],
    *,
    halt: str | None = None,
    differ: str | None = None,
    timeout: float = SECONDS,
    **settings: Any,
) -> Result:
    """Assert that there is no ``D`` for which this is private, as for a wrong twin that is kept as a warning;
    otherwise as :func:`assert_private`."""
    __tracebackhide__ = True
    from symdipa.analysis.expectations import Expectation

    return _asserted(subject, Expectation(False), halt, differ, timeout, settings)


def _asserted(
    subject: Mechanism | Automaton | str | PathLike[str],
    expected: Expectation,
    halt: str | None,
    differ: str | None,
    timeout: float,
    settings: dict[str, Any],
) -> Result:
    __tracebackhide__ = True
    from symdipa.analysis.expectations import Known, decided
    from symdipa.interface.showing import text
    from symdipa.model.limits import Limits

    limits = Limits.of(timeout)
    automaton = _automaton(subject, halt, differ, limits, settings)
    result = decided(automaton, expected, timeout=max(limits.left() or 0.0, 0.001))
    answer, said = expected.judged(Known.of(result))
    if answer:
        return result
    report = text(result, "check")
    name = automaton.name or "automaton"
    raise AssertionError(f"{name} is not shown to be as asserted, {expected}: {said}\n\n{report}")


def _automaton(
    subject: Mechanism | Automaton | str | PathLike[str],
    halt: str | None,
    differ: str | None,
    limits: Limits,
    settings: dict[str, Any],
) -> Automaton:
    """The automaton of what is tested, with its settings."""
    from symdipa.analysis import differing
    from symdipa.files import formats
    from symdipa.files.formats.halting import with_halt
    from symdipa.model.adjacency.differ import differ as read_differ
    from symdipa.model.automaton import Automaton
    from symdipa.model.options import HALTS, must_be_one_of
    from symdipa.programs.loading import automaton_of, is_program, read_program
    from symdipa.programs.python.mechanism import Mechanism

    if halt is not None:
        must_be_one_of("halt", halt, HALTS)
    which = None if differ is None else read_differ(differ)
    if isinstance(subject, Mechanism):
        return automaton_of(subject, settings, halt, limits, which)
    if isinstance(subject, str | PathLike) and is_program(fspath(subject)):
        return read_program(fspath(subject), settings, halt, limits, which)
    if settings:
        raise TypeError(f"{', '.join(settings)}: only programs have parameters")
    if isinstance(subject, Automaton):
        return with_halt(differing(subject, which), halt)
    if isinstance(subject, str | PathLike):
        return formats.read_file(fspath(subject), halt=halt, limits=limits, differ=which)
    raise TypeError(f"a mechanism, an automaton or the name of a file is asserted about, not {subject!r}")


def _bound(at_most: Fraction | float | str | None) -> Fraction | None:
    if at_most is None:
        return None
    from symdipa.model.adjacency import exact

    try:
        found = exact(at_most)
    except (TypeError, ValueError, ZeroDivisionError):
        found = Fraction(-1)
    if found < 0 or isinstance(at_most, bool):
        raise ValueError(f"at_most is a number like 1, 0.5 or '5/4', not {at_most!r}")
    return found
