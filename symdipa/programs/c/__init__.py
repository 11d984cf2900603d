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

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from symdipa.files.formats.common import capped
from symdipa.model.adjacency import named
from symdipa.model.automaton import Automaton, State, Transition, symbol
from symdipa.model.errors import InputProblem, InvalidInput, Note, NoteKind
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.parts import Origin
from symdipa.programs.automaton import QUIET, Translation, translated
from symdipa.programs.c.annotations import Annotations, is_keyless, said_about
from symdipa.programs.c.arithmetic import ArithmeticProblem, Multiple
from symdipa.programs.c.chart import Chart
from symdipa.programs.c.compiling import compiled
from symdipa.programs.c.parameters import LENGTH, Setting, evaluated, values
from symdipa.programs.c.running import Function
from symdipa.programs.c.source import function_in


def read(
    text: str,
    name: str | None = None,
    given: Mapping[str, Setting] | None = None,
    source: str | None = None,
) -> Function:
    """The function ``name`` (or the only one) in the text of a C file, with the ``given`` parameters.

    Raises :class:`~symdipa.model.errors.InvalidInput` with all that is not understood.
    """
    problems: list[InputProblem] = []
    found = _function(text, name, given or {}, source, problems)
    if problems or found is None:
        raise InvalidInput(capped(problems), source)
    return found


def automaton(function: Function, limits: Limits = UNLIMITED) -> Translation:
    """The automaton of a function, with what is claimed of it, and notes on how it was read.

    Raises what :func:`~symdipa.programs.automaton.translated` raises.
    """
    found = _followed(function, limits) if function.shows else _silent(function)
    made = replace(
        found.automaton,
        adjacency=named(function.adjacency),
        claim=function.claim,
        read_notes=(*found.automaton.read_notes, *_notes(function)),
    )
    return replace(found, automaton=made.trusted())


def _followed(function: Function, limits: Limits) -> Translation:
    try:
        return function.in_detail(lambda: translated(function, limits))
    except InvalidInput:
        if function.has_shown or function.is_refused:
            raise
    place = function.chart.instructions[function.chart.start].at
    given = ", ".join(f"{name}={value}" for name, value in sorted(function.values.of.items()))
    message = f"no run comes to an output{f' with {given}' if given else ''}; --set gives other parameters"
    raise InvalidInput([InputProblem("program", message, place)], function.source) from None


def _function(
    text: str,
    name: str | None,
    given: Mapping[str, Setting],
    source: str | None,
    problems: list[InputProblem],
) -> Function | None:
    tree = function_in(text, name, problems.append)
    if tree is None:
        return None
    chart = compiled(tree, is_keyless(tree), problems.append)
    said = said_about(tree, chart, problems.append)
    if problems:
        return None
    settled = values(chart, said, given, problems.append)
    claim = _claim(said, chart, settled.of, problems)
    if problems:
        return None
    return Function(chart, settled, source, said.differ, said.adjacency, claim, text=text)


def _claim(
    said: Annotations, chart: Chart, known: Mapping[str, int | Fraction], problems: list[InputProblem]
) -> Fraction | None:
    """The claimed bound, in multiples of eps."""
    if said.claim is None:
        return None
    try:
        found = evaluated(said.claim, {**known, chart.budget: Multiple(Fraction(1), 1)})
        if found is None or (isinstance(found, Multiple) and found.power == 1 and found.coefficient > 0):
            return found.coefficient if found is not None else None
        message = f"CHECK: {said.claim} is no positive multiple of {chart.budget}; write 2 * {chart.budget}"
    except ArithmeticProblem as problem:
        message = str(problem)
    problems.append(InputProblem("annotation", message, said.claim.at))
    return None


def _silent(function: Function) -> Translation:
    """The automaton of a function that shows nothing as long as the stream goes on."""
    line = function.chart.instructions[function.chart.start].at.line
    name = f"line{line}"
    states = [State(name, False, draws=False)]
    loop = Transition(name, name, symbol(QUIET))
    made = Automaton.build(states, [loop], None, function.name, differ=function.differ)
    origin = Origin(
        function.source or "", function.text, *function.extent, {name: line}, {loop: (line,)}, {}, {QUIET: ""}
    )
    return Translation(replace(made, origin=origin).trusted(), {})


def _notes(function: Function) -> Iterator[Note]:
    for text, place in function.values.notes:
        yield Note(NoteKind.PARAMETER, text, place)
    for text, place in function.notes.items():
        yield Note(NoteKind.READ_AS_REAL, text, place)
    if listed := function.chart.listed:
        yield Note(NoteKind.LISTED, listed)
    if not function.shows:
        yield Note(NoteKind.SHOWS_NOTHING, f"the stream has no end; --set {LENGTH}=5 gives it one")
