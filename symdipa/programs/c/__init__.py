"""The C front end: functions as CheckDP and ShadowDP read them, unchanged.

    float x = Lap(2 / epsilon);         noise of scale 2/eps
    if (q[i] + x >= t) ...              the entry of the stream at i, compared
    CHECKDP_OUTPUT(q[i] + x);           an output, as is what is returned

Annotations say who is adjacent, what parameters may be, and what is claimed
(:mod:`~symdipa.programs.c.annotations`); parameters get values by name
(:mod:`~symdipa.programs.c.parameters`).
An ``int`` that holds a noisy value is read as a real number, as CheckDP does. In ShadowDP's files a variable
``out`` that is returned is the list of all that was assigned to it, as in their paper.

pycparser parses, so this package is imported late.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from symdipa.files.formats.common import capped
from symdipa.model.adjacency import Adjacency
from symdipa.model.errors import InputProblem, InvalidInput, Position
from symdipa.programs.c.annotations import Annotations, is_keyless, said_about
from symdipa.programs.c.arithmetic import ArithmeticProblem, Multiple
from symdipa.programs.c.chart import Chart
from symdipa.programs.c.compiling import compiled
from symdipa.programs.c.parameters import Setting, evaluated, values
from symdipa.programs.c.running import Function
from symdipa.programs.c.source import function_in


@dataclass(frozen=True)
class Mechanism:
    """A function that can be run, and what its annotations say about it.

    ``differ`` and ``adjacency`` say who is adjacent; ``claim`` is the wanted bound on ``D``, if there is one.
    """

    function: Function
    differ: str
    adjacency: Adjacency
    claim: Fraction | None


def read(
    text: str,
    name: str | None = None,
    given: Mapping[str, Setting] | None = None,
    source: str | None = None,
) -> Mechanism:
    """The function ``name`` (or the only one) in the text of a C file, with the ``given`` parameters.

    Raises :class:`~symdipa.model.errors.InvalidInput` with all that is not understood.
    """
    problems: list[InputProblem] = []
    found = _mechanism(text, name, given or {}, source, problems)
    if problems or found is None:
        raise InvalidInput(capped(problems), source)
    return found


def _mechanism(
    text: str,
    name: str | None,
    given: Mapping[str, Setting],
    source: str | None,
    problems: list[InputProblem],
) -> Mechanism | None:
    tree = function_in(text, name, problems.append)
    if tree is None:
        return None
    chart = compiled(tree, is_keyless(tree), problems.append)
    said = said_about(tree, chart, problems.append)
    if problems:
        return None
    settled = values(chart, said, given, problems.append)
    claim = _claim(said, chart, settled.of, problems)
    return (
        None if problems else Mechanism(Function(chart, settled, source), said.differ, said.adjacency, claim)
    )


def _claim(
    said: Annotations, chart: Chart, known: Mapping[str, int | Fraction], problems: list[InputProblem]
) -> Fraction | None:
    """The claimed bound, in multiples of eps."""
    if said.claim is None:
        return None
    place: Position = said.claim.at
    try:
        found = evaluated(said.claim, {**known, chart.budget: Multiple(Fraction(1), 1)})
    except ArithmeticProblem as problem:
        problems.append(InputProblem("annotation", str(problem), place))
        return None
    if isinstance(found, Multiple) and found.power == 1 and found.coefficient > 0:
        return found.coefficient
    if found is not None:
        message = f"CHECK: {said.claim} is no positive multiple of {chart.budget}; write 2 * {chart.budget}"
        problems.append(InputProblem("annotation", message, place))
    return None
