"""Values of the parameters: those that are given, and what stands for those that are not.

A parameter that only says how far the stream is read (``i < size``) need not be given: the stream has no end
then. One that is only added to noisy values and entries is 0, and of others the ``ASSUME`` annotations are
asked for the value nearest to 0. What was taken is noted; what nothing is known about is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor

from symdipa.files.formats.common import rational, shown
from symdipa.model.errors import InputProblem, Position
from symdipa.model.spelling import enumeration, similar
from symdipa.programs.c.annotations import Annotations
from symdipa.programs.c.arithmetic import ArithmeticProblem, Known, calculated, compared, negative
from symdipa.programs.c.chart import (
    COMPARISONS,
    LOGICAL,
    Assign,
    Binary,
    Chart,
    Draw,
    Entry,
    Expression,
    Instruction,
    Name,
    Number,
    Parameter,
    Show,
    Test,
    Unary,
    names,
    parts,
    within,
)

LENGTH = "size"
"""The parameter that is the number of entries, if it has this name."""

Setting = str | int | float | Fraction
"""A value as it is given."""

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


@dataclass
class Values:
    """The values ``of`` parameters; ``endless`` are those without one. ``notes`` say what was taken."""

    of: dict[str, int | Fraction] = field(default_factory=dict)
    endless: set[str] = field(default_factory=set)
    notes: list[tuple[str, Position | None]] = field(default_factory=list)


def values(
    chart: Chart, said: Annotations, given: Mapping[str, Setting], report: Callable[[InputProblem], None]
) -> Values:
    """The values of all parameters; problems with them are reported."""
    return _Settler(chart, said, report).settle(given)


def evaluated(expression: Expression, known: Mapping[str, Known]) -> Known | bool | None:
    """The value of an expression over parameters; ``None`` if one of them has none.

    Raises :class:`ArithmeticProblem`.
    """
    match expression:
        case Number(_, value):
            return value
        case Name(_, name):
            return known.get(name)
        case Unary(_, op, inner):
            found = evaluated(inner, known)
            if found is None:
                return None
            if op == "!":
                return not found
            return negative(found) if op == "-" or compared("<", found, 0) else found
        case Binary(_, op, left, right):
            a, b = evaluated(left, known), evaluated(right, known)
            if a is None or b is None:
                return None
            if op in LOGICAL:
                return bool(a) and bool(b) if op == "&&" else bool(a) or bool(b)
            if op in COMPARISONS:
                return compared(op, a, b)
            if op in ("min", "max"):
                return a if compared("<", a, b) == (op == "min") else b
            return calculated(op, a, b)
    raise ArithmeticProblem(
        f"{expression} stands in a condition on parameters",
        "compare them with numbers, by <, <=, ==, >= and >",
    )


class _Settler:
    def __init__(self, chart: Chart, said: Annotations, report: Callable[[InputProblem], None]) -> None:
        self.chart, self.said, self._report = chart, said, report
        self.found = Values()

    def problem(self, message: str, at: Position | None, rule: str = "parameters") -> None:
        self._report(InputProblem(rule, message, at))

    def settle(self, given: Mapping[str, Setting]) -> Values:
        known = {one.name: one for one in self.chart.parameters}
        failed = False
        for name, setting in given.items():
            if name in known:
                value = self._number(known[name], setting)
                failed |= value is None
                if value is not None:
                    self.found.of[name] = value
            else:
                failed |= self._unknown(name, list(known))
        bounding = set(bounds_of_the_stream(self.chart))
        used = frozenset[str]().union(
            *(names(each) for one in self.chart.instructions for each in _read(one))
        )
        missing = [one for one in self.chart.parameters if one.name not in given]
        for one in sorted(missing, key=lambda one: one.name != LENGTH):
            if one.name in bounding:
                self._bound(one)
            elif one.name in used:
                failed |= not self._nearest_to_zero(one)
        if not failed:
            self._assumptions()
        return self.found

    def _unknown(self, name: str, known: list[str]) -> bool:
        """Whether a value for a name that is no parameter is a mistake; it may be for another file."""
        meant = similar(name, known)
        if name in (self.chart.budget, self.chart.stream):
            kind = "the budget" if name == self.chart.budget else "the stream"
            self.problem(f"{name} is {kind}; answers are for all values of it, so leave {name} out", None)
        elif meant is not None:
            self.problem(f"there is no parameter {name}; did you mean {meant}?", None)
        else:
            there = enumeration(known) if known else "none"
            self.found.notes.append((f"there is no parameter {name} to give a value ({there})", None))
            return False
        return True

    def _number(self, parameter: Parameter, setting: Setting) -> int | Fraction | None:
        try:
            value = rational(str(setting)) if isinstance(setting, str | float) else Fraction(setting)
        except (ValueError, TypeError):
            self.problem(f"{parameter.name} = {shown(str(setting))} is no number", parameter.at)
            return None
        if not parameter.whole:
            return value
        if value.denominator != 1:
            self.problem(f"{parameter.name} is an int, which {setting} is not", parameter.at)
            return None
        return int(value)

    # ----------------------------------------------------------------------- what is not given

    def _bound(self, parameter: Parameter) -> None:
        """No end, or the largest value that is allowed where another parameter gives one."""
        _, most, why = self._limits(parameter)
        if most is None:
            self.found.endless.add(parameter.name)
        else:
            self.found.of[parameter.name] = most
            self._took(parameter, most, f"the largest value with {why}")

    def _nearest_to_zero(self, parameter: Parameter) -> bool:
        least, most, _ = self._limits(parameter)
        if is_modulus(self.chart, parameter.name):
            least = max(least or 0, 2)
        elif least is None and most is None and (use := self._use_of(parameter)) is not None:
            name = parameter.name
            self.problem(f"{name} has no value, and {use} needs it; give one, as --set {name}=1", use.at)
            return False
        value: int | Fraction = 0 if parameter.whole else Fraction(0)
        value = value if least is None else max(value, least)
        value = value if most is None else min(value, most)
        self.found.of[parameter.name] = int(value) if parameter.whole else Fraction(value)
        self._took(parameter, value, "")
        return True

    def _took(self, parameter: Parameter, value: int | Fraction, why: str) -> None:
        reason = f" ({why})" if why else ""
        self.found.notes.append(
            (f"{parameter.name} is not given: {value} is taken{reason}; --set {parameter.name}=... gives it",
             parameter.at)
        )  # fmt: skip

    def _limits(self, parameter: Parameter) -> tuple[int | Fraction | None, int | Fraction | None, str]:
        """The least and the largest value that assumptions allow, as far as they say so, and the last one."""
        least: int | Fraction | None = None
        most: int | Fraction | None = None
        why = ""
        for assumption in self.said.assumptions:
            for op, other in _about(assumption, parameter.name):
                try:
                    value = evaluated(other, self.found.of)
                except ArithmeticProblem:
                    continue
                if not isinstance(value, int | Fraction):
                    continue
                strict = op in ("<", ">")
                if op in (">", ">=", "=="):
                    bound = _inner(value, strict, parameter.whole, 1)
                    least = bound if least is None else max(least, bound)
                if op in ("<", "<=", "=="):
                    bound = _inner(value, strict, parameter.whole, -1)
                    if most is None or bound <= most:
                        most, why = bound, str(assumption)
        return least, most, why

    def _use_of(self, parameter: Parameter) -> Expression | None:
        """Where the value of a parameter matters: anywhere but in a sum with noise or entries."""
        unknown = unknown_variables(self.chart)
        found = (
            _controls(expression, parameter.name, unknown)
            for one in self.chart.instructions
            for expression in _read(one)
        )
        return next((use for use in found if use is not None), None)

    def _assumptions(self) -> None:
        for assumption in self.said.assumptions:
            try:
                holds = evaluated(assumption, self.found.of)
            except ArithmeticProblem as error:
                self.problem(str(error), assumption.at, "annotation")
                continue
            if holds is not None and not holds:
                used = [f"{name} = {self.found.of[name]}" for name in sorted(names(assumption))]
                self.problem(f"ASSUME({assumption}) does not hold: {', '.join(used)}", assumption.at)


def _about(assumption: Expression, name: str) -> Iterator[tuple[str, Expression]]:
    """What a comparison says about a parameter that stands alone on one side."""
    match assumption:
        case Binary(_, op, Name(_, left), right) if left == name and op in COMPARISONS:
            yield op, right
        case Binary(_, op, left, Name(_, right)) if right == name and op in COMPARISONS:
            yield _TURNED[op], left


def _inner(value: int | Fraction, strict: bool, whole: bool, way: int) -> int | Fraction:
    """The value nearest to a bound that is allowed."""
    if not whole:
        # A float inside of an open bound is taken one away, as an integer would be.
        return value + way if strict else value
    if not strict:
        return ceil(value) if way > 0 else floor(value)
    return floor(value) + 1 if way > 0 else ceil(value) - 1


def _read(instruction: Instruction) -> tuple[Expression, ...]:
    match instruction:
        case Assign(_, _, value) | Show(_, value):
            return () if value is None else (value,)
        case Test(_, condition):
            return (condition,)
    return ()


def unknown_variables(chart: Chart) -> frozenset[str]:
    """The variables that may hold noise or entries, and the stream."""
    found = frozenset([chart.stream])
    while True:
        more = found | {
            one.target
            for one in chart.instructions
            if isinstance(one, Assign) and one.value is not None and is_unknown(one.value, found)
        }
        if more == found:
            return found
        found = more


def is_unknown(expression: Expression, variables: frozenset[str]) -> bool:
    """Whether an expression may hold noise or entries."""
    return bool(names(expression) & variables) or any(isinstance(one, Draw) for one in within(expression))


def _controls(expression: Expression, name: str, unknown: frozenset[str]) -> Expression | None:
    """The part of an expression in which the value of a parameter matters, if there is one."""
    if name not in names(expression):
        return None
    if isinstance(expression, Draw | Entry) or not is_unknown(expression, unknown):
        return expression
    inside = parts(expression)
    if isinstance(expression, Binary) and expression.op in ("+", "-", *COMPARISONS):
        inside = tuple(part for part in inside if is_unknown(part, unknown))
    found = (_controls(part, name, unknown) for part in inside)
    return next((part for part in found if part is not None), None)


def is_modulus(chart: Chart, name: str) -> bool:
    """Whether a parameter is what ``%`` divides by."""
    return any(
        isinstance(part, Binary) and part.op == "%" and part.right == Name(part.right.at, name)
        for one in chart.instructions
        for expression in _read(one)
        for part in within(expression)
    )


def index_variables(chart: Chart) -> frozenset[str]:
    """The variables by which entries are read."""
    return frozenset(
        name
        for one in chart.instructions
        for expression in _read(one)
        for part in within(expression)
        if isinstance(part, Entry)
        for name in names(part.index)
    )


def bounds_of_the_stream(chart: Chart) -> list[str]:
    """The parameters that only say how far entries are read: compared with an index from above, no more."""
    indices = index_variables(chart)
    numbers = {one.name for one in chart.parameters}
    used: dict[str, bool] = {}
    for one in chart.instructions:
        for expression in _read(one):
            bounds = {id(side) for part in within(expression) for side in _bounds(part, indices)}
            for part in within(expression):
                if isinstance(part, Name) and part.name in numbers:
                    used[part.name] = used.get(part.name, True) and id(part) in bounds
    return [name for name, only in used.items() if only]


def _bounds(comparison: Expression, indices: frozenset[str]) -> Iterator[Expression]:
    """The side of a comparison that bounds an index from above."""
    match comparison:
        case Binary(_, "<" | "<=" | "!=", left, Name() as right) if names(left) & indices:
            yield right
        case Binary(_, ">" | ">=" | "!=", Name() as left, right) if names(right) & indices:
            yield left


def without_ends(expression: Expression, endless: set[str], indices: frozenset[str]) -> Expression:
    """The expression where comparisons with bounds that are not given hold, and what follows is left out."""
    for side in _bounds(expression, indices):
        if isinstance(side, Name) and side.name in endless:
            return Number(expression.at, 1)
    match expression:
        case Binary(at, "&&" | "||" as op, left, right):
            left, right = (without_ends(side, endless, indices) for side in (left, right))
            for one, other in ((left, right), (right, left)):
                if isinstance(one, Number):
                    decides = bool(one.value) == (op == "||")
                    return Number(at, int(bool(one.value))) if decides else other
            return Binary(at, op, left, right)
        case Unary(at, "!", inner):
            found = without_ends(inner, endless, indices)
            return Number(at, int(not found.value)) if isinstance(found, Number) else Unary(at, "!", found)
    return expression
