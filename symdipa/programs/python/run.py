"""Runs a mechanism in Python on a trace: it is marked, and tells at every statement where it is."""

from __future__ import annotations

import ast
import builtins
import linecache
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from dis import Positions
from functools import cached_property
from inspect import CO_GENERATOR, getattr_static
from itertools import islice
from types import CodeType, FrameType, FunctionType, GeneratorType
from typing import Any, NoReturn, Protocol, TypeGuard

from symdipa.model.errors import InputProblem, InvalidInput, Position, SymdipaError
from symdipa.model.parts import Noise
from symdipa.programs.python.bytecode import Place, places
from symdipa.programs.python.inputs import SETTINGS, Inputs, Loop, Stream
from symdipa.programs.python.marks import ITERATOR, MARK, Calls, calls, code_of, marked
from symdipa.programs.python.noise import SOURCE, inverse
from symdipa.programs.python.refusals import refusals
from symdipa.programs.snapshot import FIXED, Snapshot, Unknown
from symdipa.programs.trace import Refused, Trace
from symdipa.programs.values import AN_INPUT, Number


class Followed(Protocol):
    """What is followed: a :class:`~symdipa.programs.python.mechanism.Mechanism`."""

    __name__: str
    function: FunctionType
    integer: bool
    differ: str
    halt: str | None

    def checked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """All settings."""

    def arguments(self, settings: Mapping[str, Any], trace: Trace) -> tuple[list[Any], dict[str, Any]]:
        """What the function is called with."""


class PythonProgram:
    """A mechanism with its settings as a :class:`~symdipa.programs.trace.Program`."""

    def __init__(self, mechanism: Followed, settings: Mapping[str, Any]) -> None:
        self.mechanism = mechanism
        self.name = mechanism.__name__
        self.integer, self.differ, self.halt = mechanism.integer, mechanism.differ, mechanism.halt
        self.file = mechanism.function.__code__.co_filename
        self.settings = self.checked(settings)
        self.names: dict[str, Any] = dict(mechanism.function.__globals__)
        """The globals of the functions with marks."""
        self.calls: Calls = {}
        self.current: _Run | None = None

    def checked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """All settings, if nothing is wrong with them, nor with the text of the function."""
        problems: list[InputProblem] = []
        try:
            found = self.mechanism.checked(settings)
        except InvalidInput as error:
            problems += error.problems
        problems += refusals(ast.parse(self.text, self.file), self.mechanism.function)
        if problems:
            raise InvalidInput(problems, self.file)
        return found

    @property
    def source(self) -> str | None:
        return self.file

    @cached_property
    def text(self) -> str:
        """The source; nothing if it is not found."""
        return "".join(linecache.getlines(self.file, self.mechanism.function.__globals__))

    @cached_property
    def extent(self) -> tuple[int, int]:
        """The lines of the function, decorators included."""
        first = self.mechanism.function.__code__.co_firstlineno
        for node in ast.walk(ast.parse(self.text, self.file)):
            if isinstance(node, ast.FunctionDef):
                starts = [node.lineno, *(each.lineno for each in node.decorator_list)]
                if min(starts) == first:
                    return first, node.end_lineno or first
        return first, first

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The function with marks, and with marks in the functions of its file that it calls."""
        text = self.text
        if not text:
            self.refuse("the source of the function is not found; write it into a file, or a notebook")
        tree = ast.parse(text, self.file)
        self.calls = calls(tree)
        module = marked(tree, self.file)
        names = self.names
        names[MARK], names[ITERATOR] = self.mark, self.iterator
        for name, value in list(names.items()):
            if isinstance(value, FunctionType) and value.__code__.co_filename == self.file:
                names[name] = self.with_marks(module, value, names)
        return self.with_marks(module, self.mechanism.function, names)

    def with_marks(self, module: CodeType, function: FunctionType, names: dict[str, Any]) -> FunctionType:
        code = code_of(module, function.__code__)
        if code is None or code.co_freevars != function.__code__.co_freevars:
            self.refuse(f"the source of {function.__name__} is not found in {self.file}; load it again")
        found = FunctionType(code, names, function.__name__, function.__defaults__, function.__closure__)
        found.__kwdefaults__ = function.__kwdefaults__
        return found

    def run(self, trace: Trace) -> None:
        """Run the function to its end; see :class:`~symdipa.programs.trace.Program`."""
        function = self.function
        outside = self.outside()
        run = _Run(self.file, trace, self.calls)
        trace.where, trace.describe, trace.at_work = run.where, run.describe, run.at_work
        trace.asks_equality = run.asks_equality
        before = SOURCE.set(run)
        self.current = run
        try:
            run.outputs(function, self.mechanism.arguments(self.settings, trace))
        except SymdipaError:
            raise
        except Exception as error:
            raise Refused(*failure(error, self.file)) from None
        finally:
            self.current = None
            SOURCE.reset(before)
            for name, shape in self.outside().items():
                if shape != outside.get(name):
                    seen = f"{name} was changed, and lasts from one run to the next"
                    raise Refused(seen, "make it a local variable", None)

    def outside(self) -> dict[str, Hashable]:
        """The values outside of the function that a run may change, as far as they can be seen."""
        found: dict[str, Hashable] = {}
        for name in self.used:
            value = self.names.get(name)
            if isinstance(value, GeneratorType) and value.gi_frame is not None:
                value = value.gi_frame.f_lasti, dict(value.gi_frame.f_locals)
            if not isinstance(value, (*FIXED, FunctionType)):
                with suppress(Unknown):
                    found[name] = Snapshot.of({name: value}).shapes[name]
        return found

    @cached_property
    def used(self) -> frozenset[str]:
        """The names that the functions with marks use."""
        codes = [value.__code__ for value in self.names.values() if isinstance(value, FunctionType)]
        work = [self.mechanism.function.__code__, *(code for code in codes if code.co_filename == self.file)]
        for code in work:  # grows
            work += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        return frozenset(name for code in work for name in code.co_names)

    def mark(self) -> None:
        """Called before every statement of the functions with marks."""
        if self.current is not None:
            self.current.passed(sys._getframe(1))

    def iterator(self, value: Any) -> Iterator[Any]:
        """Called for what a function with marks loops over."""
        found: Iterator[Any] = iter(value)
        if self.current is not None and isinstance(found, Stream):
            return Loop(found, self.current.at_loop)
        return found

    def refuse(self, message: str) -> NoReturn:
        line = self.mechanism.function.__code__.co_firstlineno
        raise InvalidInput([InputProblem("program", message, Position(line, 1))], self.file)


class _Unclear(BaseException):
    """There is something on the stack of a function that cannot be seen."""


class _Run:
    """One run: where it is, and the noise that it asks for."""

    def __init__(self, file: str, trace: Trace, calls: Calls) -> None:
        self.file, self.trace, self.calls = file, trace, calls
        self.resting: GeneratorType[Any, None, None] | None = None
        """What waits while its output is shown."""

    def outputs(self, function: Callable[..., Any], arguments: tuple[list[Any], dict[str, Any]]) -> None:
        """Run the function, and show what it yields, or returns if it yields nothing."""
        positional, named = arguments
        result = function(*positional, **named)
        if not isinstance(result, GeneratorType):
            if result is not None:
                self.trace.show(result)
            return
        self.resting = result
        while True:
            try:
                shown = next(result)
            except StopIteration as stop:
                if stop.value is not None:
                    self.trace.refuse("a value is returned by a function that yields", "yield it, too")
                return
            self.trace.show(shown)

    # ------------------------------------------------------------------------------------------- where it is

    def passed(self, frame: FrameType) -> None:
        """A mark is passed: tell the trace, if all that counts can be seen."""
        if self.trace.skips() or not (known := _place(frame)).is_clear:
            return
        line, chain = frame.f_lineno, [(frame, known)]
        while (outer := frame.f_back) is not None and outer.f_code is not _Run.outputs.__code__:
            known = _place(outer)
            if not known.is_clear or not self.runs(outer, known, frame):
                return
            chain.append((outer, known))
            frame = outer
        place = tuple((each.f_code, known.offset) for each, known in chain)
        with suppress(_Unclear):
            self.trace.at(place, line, lambda: _values(chain))

    def at_loop(self, frame: FrameType) -> bool:
        """The head of a loop is passed: whether something may be shown once the loop has ended."""
        self.passed(frame)
        is_mechanism = frame.f_back is not None and frame.f_back.f_code is _Run.outputs.__code__
        alone = is_mechanism and frame.f_code.co_flags & CO_GENERATOR
        return not alone or _place(frame).yields

    def runs(self, outer: FrameType, known: Place, inner: FrameType) -> bool:
        """Whether a function runs another one by itself, and not by a third one that may keep values that
        cannot be seen, as ``max`` and ``map`` do."""
        if known.loop is not None:
            return _is_of(outer.f_locals[known.loop], inner)
        match self.calls.get(known.position) if known.position else None:
            case ast.Call(ast.Name("next" | "any" | "all" as name), [generator], []):
                return _value(outer, name) is getattr(builtins, name) and _gives(outer, generator, inner)
            case ast.Call() as call:
                return _gives(outer, call, inner)
            case ast.YieldFrom(generator):
                return _gives(outer, generator, inner)
        return False

    def where(self) -> Position | None:
        """The place in the file of the mechanism that is being run."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self.file:
                return _position(frame.f_code, frame.f_lasti)
            frame = frame.f_back
        resting = self.resting
        while resting is not None and isinstance(resting.gi_yieldfrom, GeneratorType):
            resting = resting.gi_yieldfrom
        if resting is not None and resting.gi_frame is not None:
            return _position(resting.gi_frame.f_code, resting.gi_frame.f_lasti)
        return Position(self.trace.line, 1)

    def asks_equality(self) -> bool:
        """Whether ``==``, ``!=`` or ``in`` stands in the program, and not in what it calls: tuples look for
        the first parts that differ, and lists for the position of a value."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.file:
            frame = frame.f_back
        return frame is None or _place(frame).compares_equal

    def at_work(self) -> tuple[str, Position | None]:
        """The words of the mechanism that are being worked out, and where they begin: of what is called, or
        made by a comprehension, else of a whole statement."""
        frame = self.unseen()
        text = "".join(linecache.getlines(self.file))
        known = _place(frame) if frame is not None else None
        place = known.position if known is not None else None
        kinds = COMPREHENSIONS if known is not None and known.comprehends else WORK
        around = [node for node in ast.walk(ast.parse(text)) if place is not None and _is_around(node, place)]
        nodes = [node for node in around if isinstance(node, kinds)] or around
        if not nodes:
            return "a statement", self.where()
        node = nodes[-1]
        words = " ".join((ast.get_source_segment(text, node) or "").split())
        words = words if len(words) < MOST_WORDS else f"{words[: MOST_WORDS - 4]} ..."
        return words, Position(node.lineno, node.col_offset + 1)

    def unseen(self) -> FrameType | None:
        """The innermost function that runs something of which not all can be seen; or else the outermost."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.file:
            frame = frame.f_back
        inner, found = None, None
        while frame is not None and frame.f_code.co_filename == self.file:
            if not frame.f_code.co_name.startswith("<"):
                found, known = frame, _place(frame)
                if inner is not None:
                    is_seen = known.is_clear and self.runs(frame, known, inner)
                else:
                    match self.calls.get(known.position) if known.position else None:
                        case ast.Call(ast.Name(name)):
                            is_seen = name == "next"
                        case call:
                            is_seen = call is None and not known.comprehends
                if not is_seen:
                    break
            frame, inner = frame.f_back, frame
        return found

    def describe(self, value: object) -> object:
        """What a parameter, or a generator of the program, is as another value."""
        if isinstance(value, Inputs | Stream):
            return value.described()
        if not isinstance(value, GeneratorType):
            return NotImplemented
        frame = value.gi_frame
        if frame is None or value.gi_running:
            return value.__name__, frame is None
        code, offset = frame.f_code, frame.f_lasti
        state = dict(frame.f_locals)
        if value.gi_suspended and not code.co_name.startswith("<"):
            known = _place(frame)
            if not known.is_clear:
                raise _Unclear
            live = known.live
            state = {name: held for name, held in state.items() if name in live}
        return code, offset, state, value.gi_yieldfrom

    # -------------------------------------------------------------------------------------------------- noise

    def noise(self, kind: Noise, scale: object) -> Number:
        """Noise for :func:`~symdipa.programs.python.noise.laplace`."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.file:
            frame = frame.f_back
        site = (frame.f_code, _place(frame).offset) if frame is not None else None
        if isinstance(scale, Inputs) or (isinstance(scale, Number) and scale.words == AN_INPUT):
            self.trace.refuse(f"the scale of noise is {AN_INPUT}", SETTINGS)
        return self.trace.noise(kind, inverse(scale), site)


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
WORK = (ast.Call, *COMPREHENSIONS)
"""Expressions that may run much without a statement of their own."""

MOST_WORDS = 60
"""The most characters of the source that messages have."""


def _is_around(node: ast.AST, place: Positions) -> TypeGuard[ast.expr | ast.stmt]:
    """Whether a node is around a place in the source."""
    if not isinstance(node, ast.expr | ast.stmt) or place.lineno is None:
        return False
    begins = (node.lineno, node.col_offset) <= (place.lineno, place.col_offset or 0)
    return begins and (place.end_lineno, place.end_col_offset) <= (node.end_lineno, node.end_col_offset)


def _place(frame: FrameType) -> Place:
    return places(frame.f_code)[frame.f_lasti]


def _gives(frame: FrameType, source: ast.expr, inner: FrameType) -> bool:
    """Whether an expression calls the function of an inner frame, or is a generator that has it."""
    if isinstance(source, ast.Call):
        called = _value(frame, source.func)
        return isinstance(called, FunctionType) and called.__code__ is inner.f_code
    return _is_of(_value(frame, source), inner)


def _is_of(value: object, inner: FrameType) -> bool:
    """Whether a value is the generator of a frame, or counts what that yields."""
    if isinstance(value, enumerate):
        value = value.__reduce__()[1][0]
    return isinstance(value, GeneratorType) and value.gi_frame is inner


def _value(frame: FrameType, source: ast.expr | str) -> object:
    """What a name stands for, or an attribute of it, without running anything."""
    match source:
        case ast.Name(name) | str(name):
            scopes = frame.f_locals, frame.f_globals, frame.f_builtins
            return next((scope[name] for scope in scopes if name in scope), None)
        case ast.Attribute(owner, name):
            found = getattr_static(_value(frame, owner), name, None)
            return getattr(found, "__func__", found)  # of a static method, or one of a class
    return None


def _values(chain: list[tuple[FrameType, Place]]) -> dict[str, object]:
    """The live values of functions that wait for each other, the innermost first; outer ones come first."""
    found: dict[str, object] = {}
    for depth, (each, known) in enumerate(reversed(chain)):
        prefix = f"{each.f_code.co_name}_" if depth else ""
        here = each.f_locals
        found.update({prefix + name: here[name] for name in sorted(known.live) if name in here})
    return found


def failure(error: BaseException, file: str) -> tuple[str, str, Position | None]:
    """What is seen of an exception that a program raises, what to do, and the place in its file."""
    if isinstance(error, RecursionError):
        seen, remedy = "functions call each other without an end", "use a loop instead"
    else:
        seen = f"{type(error).__name__} is raised" + (f": {error}" if str(error) else "")
        remedy = "a run must not end like this, whatever the noise is"
    position, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            position = _position(trace.tb_frame.f_code, trace.tb_lasti)
        trace = trace.tb_next
    return seen, remedy, position


def _position(code: CodeType, offset: int) -> Position:
    line, _, column, _ = next(islice(code.co_positions(), offset // 2, None))
    return Position(line or code.co_firstlineno, (column or 0) + 1)
