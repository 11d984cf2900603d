"""Mechanisms: functions in Python that draw noise and show outputs, with what holds for them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, overload

from symdipa.model.adjacency.differ import differ as read_differ
from symdipa.model.errors import InputProblem, InvalidInput, Position
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.options import HALTS
from symdipa.model.spelling import Dictionary, no_such
from symdipa.programs.python.inputs import Inputs
from symdipa.programs.trace import Trace

if TYPE_CHECKING:
    from symdipa.model.automaton import Automaton
    from symdipa.programs.automaton import Translation
    from symdipa.programs.python.samplers import Secure, Simulated


EPS = ("eps", "epsilon")
"""What no parameter is called: all scales are over it already."""


class Mechanism:
    """A function that draws noise and yields outputs; made by :func:`mechanism`, with its options. Raises
    :class:`InvalidInput` with all that is wrong with these; ``others`` are none.

    Its positional parameters without defaults are inputs, all others are settings.
    """

    def __init__(
        self,
        function: FunctionType,
        differ: str = "all",
        integer: bool = False,
        halt: str | None = None,
        **others: object,
    ) -> None:
        if not isinstance(function, FunctionType):
            raise TypeError(f"@mechanism stands before a function, not before {function!r}")
        if problems := list(_wrong_options(differ, integer, halt, others)):
            where, file = Position(function.__code__.co_firstlineno, 1), function.__code__.co_filename
            raise InvalidInput([InputProblem("option", problem, where) for problem in problems], file)
        self.function, self.differ, self.integer, self.halt = function, differ, integer, halt
        self.__name__ = function.__name__
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        """Call the function, as another mechanism may do that uses this one."""
        return self.function(*arguments, **settings)

    def __repr__(self) -> str:
        return f"<mechanism {self.__name__}>"

    def run(self, *inputs: Any, eps: Any, **settings: Any) -> Iterator[Any]:
        """What the mechanism shows on its inputs, with secure noise, one output after another.

        An input is a stream of numbers (any iterable, which need not end), or a number. Noise is drawn by
        OpenDP (the optional extra ``run``) and all numbers are exact until they are shown: integers where the
        mechanism is of integers, else multiples of 2**-40, to which the inputs are rounded. Raises
        ``ValueError`` for other values, ``TypeError`` for another number of inputs, :class:`InvalidInput` for
        wrong settings, and what the function raises.
        """
        from symdipa.programs.python.samplers import Secure, positive

        return self._played(inputs, Secure(positive(eps), self.integer), settings)

    def simulate(self, *inputs: Any, eps: Any, seed: Any = 0, **settings: Any) -> Iterator[Any]:
        """What the mechanism shows with noise from a generator of numpy: as :meth:`run`, but not secure, and
        the same for the same ``seed`` (or ``numpy.random.Generator``, which goes on where it was)."""
        from symdipa.programs.python.samplers import Simulated, positive

        return self._played(inputs, Simulated(positive(eps), self.integer, seed), settings)

    def _played(
        self, inputs: tuple[Any, ...], source: Secure | Simulated, settings: Mapping[str, Any]
    ) -> Iterator[Any]:
        from symdipa.programs.python.play import is_number, outputs
        from symdipa.programs.python.samplers import number

        def entry(value: Any) -> Any:
            return source.entry(number(value, self.integer))

        if len(inputs) != len(self.inputs) or set(settings) & set(self.inputs):
            wanted = ", ".join(self.inputs) or "none"
            raise TypeError(f"{self.__name__} has these inputs, given by position: {wanted}")
        self.checked(settings)
        given = []
        for name, value in zip(self.inputs, inputs, strict=True):
            if not is_number(value) and not hasattr(value, "__iter__"):
                raise ValueError(f"{name} is a number or a stream of numbers, not {value!r}")
            given.append(entry(value) if is_number(value) else map(entry, value))
        return map(source.shown, outputs(self, given, source, settings))

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """All parameters of the function."""
        return inspect.signature(self.function).parameters

    @property
    def inputs(self) -> tuple[str, ...]:
        """The parameters that are inputs."""
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        found = [
            p for p in self.parameters.values() if p.kind in kinds and p.default is inspect.Parameter.empty
        ]
        return tuple(p.name for p in found if p.name not in EPS)

    def automaton(self, **settings: Any) -> Automaton:
        """The automaton of the mechanism with these settings.

        Raises :class:`InvalidInput` for what cannot be followed.
        """
        return self.translated(settings).automaton

    def translated(self, settings: Mapping[str, Any], limits: Limits = UNLIMITED) -> Translation:
        """The automaton with the way back to the source (:func:`symdipa.programs.automaton.translated`)."""
        from symdipa.programs.automaton import translated
        from symdipa.programs.python.run import PythonProgram

        return translated(PythonProgram(self, settings), limits)

    def checked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """All settings: those that are given, and defaults. Sizes of inputs are among those that are given.

        Raises :class:`InvalidInput` with every problem.
        """
        from symdipa.programs.python.refusals import eps_as_parameter

        code = self.function.__code__
        problems: list[InputProblem] = []

        def complain(message: str) -> None:
            problems.append(InputProblem("setting", message, Position(code.co_firstlineno, 1)))

        parameters, inputs = self.parameters, self.inputs
        read = _read_names(self.function)
        dictionary = Dictionary(list(parameters))
        for name in settings:
            if name in EPS:
                complain(f"{name} is not set: the answer is for every {name}")
            elif name not in parameters:
                meant = dictionary.closest(name)
                hint = f"did you mean {meant}?" if meant else f"it has {', '.join(parameters) or 'none'}"
                complain(f"{self.__name__} has no parameter {name}; {hint}")
        found = {}
        for parameter in parameters.values():
            name = parameter.name
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                complain(f"the parameter {parameter} takes any number of values; name them one by one")
            elif name in EPS:
                problems.append(eps_as_parameter(self.function, name))
            elif name not in read:
                complain(f"the parameter {name} is never read; use it, or leave it out")
            elif name in settings:
                found[name] = settings[name]
                if name in inputs and (not isinstance(found[name], int) or found[name] < 0):
                    complain(f"{name} is an input, of which a size can be set, not {found[name]!r}")
            elif name not in inputs and parameter.default is parameter.empty:
                complain(f"the parameter {name} has no value; set it: --set {name}=3")
            elif name not in inputs:
                found[name] = parameter.default
        if problems:
            raise InvalidInput(problems, code.co_filename)
        return found

    def arguments(self, settings: Mapping[str, Any], trace: Trace) -> tuple[list[Any], dict[str, Any]]:
        """What the function is called with for an analysis."""
        return self.bound(
            {**settings} | {name: Inputs(trace, name, settings.get(name)) for name in self.inputs}
        )

    def bound(self, values: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Values of all parameters as those that are given by position, and by name."""
        by_position = [p.name for p in self.parameters.values() if p.kind is not p.KEYWORD_ONLY]
        by_name = {name: value for name, value in values.items() if name not in by_position}
        return [values[name] for name in by_position], by_name


def _wrong_options(differ: object, integer: object, halt: object, others: Iterable[str]) -> Iterator[str]:
    """What is wrong with options of a mechanism."""
    if isinstance(differ, str):
        try:
            read_differ(differ)
        except ValueError as error:
            yield str(error)
    else:
        yield f"differ is a text such as 'entries=1', not {differ!r}"
    if not isinstance(integer, bool):
        yield f"integer is True or False, not {integer!r}"
    if halt is not None and halt not in HALTS:
        yield f"halt is {' or '.join(map(repr, HALTS))}, not {halt!r}"
    yield from (no_such("option", name, ("differ", "integer", "halt")) for name in others)


def _read_names(function: FunctionType) -> set[str]:
    """The local variables that the function, or one inside it, reads."""
    from symdipa.programs.python.bytecode import read_names

    return read_names(function.__code__)


@overload
def mechanism(function: Callable[..., Any]) -> Mechanism: ...


@overload
def mechanism(
    *, differ: str = "all", integer: bool = False, halt: str | None = None
) -> Callable[[Callable[..., Any]], Mechanism]: ...


def mechanism(
    function: Callable[..., Any] | None = None,
    **options: Any,
) -> Any:
    """Make a mechanism of a function: ``@mechanism``, or ``@mechanism(differ="entries=1", integer=True)``.

    ``differ`` says which entries may differ (:mod:`symdipa.model.adjacency.differ`), ``integer`` that inputs
    and noise are integers, ``halt`` whether it is seen that a run ends (``"visible"`` or ``"hidden"``).
    """

    def made(function: Callable[..., Any]) -> Mechanism:
        return Mechanism(function, **options)  # type: ignore[arg-type]

    return made if function is None else made(function)
