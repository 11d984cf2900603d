"""The annotations of CheckDP and ShadowDP: texts at the beginning of a function.

CheckDP's have keys, ``TYPES: q: <*, *>; size: <0, 0>``, ``PRECONDITION: ALL_DIFFER; ASSUME(NN > 0)`` and
``CHECK: 2 * epsilon``; ShadowDP's have none, ``ALL_DIFFER; assume(NN > 0);`` and ``q: <*, *>; size: <0, 0>``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from pycparser.c_parser import CParser, ParseError

from symdipa.files.formats.common import shown
from symdipa.model.adjacency import TWO_SIDED, Adjacency
from symdipa.model.errors import InputProblem, Position
from symdipa.model.spelling import similar
from symdipa.programs.c.chart import Binary, Chart, Expression
from symdipa.programs.c.compiling import expression, is_annotation
from symdipa.programs.c.source import Tree, position

KEYS = ("TYPES", "PRECONDITION", "CHECK")

DIFFERENCES: dict[str, tuple[str, Adjacency]] = {
    "ALL_DIFFER": ("all", TWO_SIDED),
    "ONE_DIFFER": ("entries=1", TWO_SIDED),
    "INCREASING": ("all", "monotone"),
    "DECREASING": ("all", "-1,0"),
}
"""Which entries may differ, and how far."""

_KEY = re.compile(r"\s*([A-Za-z_]+)\s*:")
_TYPE = re.compile(r"\s*(\w+)\s*:\s*<\s*([^,<>]*?)\s*,\s*([^,<>]*?)\s*>\s*")
_ASSUME = re.compile(r"\s*ASSUME\s*\((.*)\)\s*", re.IGNORECASE | re.DOTALL)


@dataclass
class Annotations:
    """What is said about a function.

    ``differ`` and ``adjacency`` say who is adjacent, ``assumptions`` are conditions on parameters, and
    ``claim`` is the wanted bound on the loss, an expression in eps.
    """

    differ: str = "all"
    adjacency: Adjacency = TWO_SIDED
    assumptions: list[Expression] = field(default_factory=list)
    claim: Expression | None = None


def is_keyless(function: Tree) -> bool:
    """Whether the annotations of a function are ShadowDP's: some without keys."""
    texts = [text for text, _ in _texts(function)]
    return bool(texts) and not any((key := _KEY.match(text)) and key[1] in KEYS for text in texts)


def said_about(function: Tree, chart: Chart, report: Callable[[InputProblem], None]) -> Annotations:
    """What the annotations say about a function, whose parameters the chart knows."""
    return _Reader(chart, report).read(function)


def _texts(function: Tree) -> Iterator[tuple[str, Position]]:
    """The texts at the beginning of a function, and where they begin, behind the quotes."""
    for item in function.body.block_items or ():
        if not is_annotation(item):
            return
        at = position(item) or Position(1, 1)
        yield item.value[1:-1], Position(at.line, at.column + 1)


class _Reader:
    def __init__(self, chart: Chart, report: Callable[[InputProblem], None]) -> None:
        self.chart, self._report = chart, report
        self.found = Annotations()
        self.seen: set[str] = set()

    def problem(self, message: str, at: Position, offset: int) -> None:
        self._report(InputProblem("annotation", message, Position(at.line, at.column + offset)))

    def read(self, function: Tree) -> Annotations:
        for text, at in _texts(function):
            key = _KEY.match(text)
            if key and (name := key[1].upper()) in KEYS:
                kind, start = name, key.end()
            elif "DIFFER" in text or "CREASING" in text or "ASSUME" in text.upper():
                kind, start = "PRECONDITION", 0
            elif "<" in text:
                kind, start = "TYPES", 0
            else:
                meant = key and similar(key[1].upper(), KEYS)
                hint = f"did you mean {meant}?" if meant else f"annotations are {', '.join(KEYS)}"
                self.problem(f"{shown(text)} is no annotation; {hint}", at, 0)
                continue
            if kind in self.seen:
                self.problem(f"there are two annotations {kind}; make them one", at, 0)
            self.seen.add(kind)
            {"TYPES": self.types, "PRECONDITION": self.precondition, "CHECK": self.check}[kind](
                text, at, start
            )
        return self.found

    def types(self, text: str, at: Position, start: int) -> None:
        """That the entries of the stream may differ, and nothing else."""
        numbers = {self.chart.budget, *(one.name for one in self.chart.parameters)}
        known = sorted(numbers | {self.chart.stream} - {""})
        for part, offset in _parted(text, start):
            match = _TYPE.fullmatch(part)
            if match is None:
                self.problem(
                    f"{shown(part.strip())}: write name: <0, 0>, or <*, *> for the stream", at, offset
                )
                continue
            name, distances = match[1], {match[2], match[3]}
            if name not in known:
                meant = similar(name, known)
                hint = f"did you mean {meant}?" if meant else f"parameters are {', '.join(known)}"
                self.problem(f"there is no parameter {name}; {hint}", at, offset)
            elif name in numbers and distances != {"0"}:
                self.problem(
                    f"{name} is a number that may differ; only entries of the stream may: write <0, 0>, or "
                    "make it an entry",
                    at,
                    offset,
                )
            elif name == self.chart.stream and "*" not in match[2]:
                self.problem(
                    f"entries of {name} differ by {match[2] or 'nothing'} here; write <*, *>, and say how "
                    f"they differ by {', '.join(DIFFERENCES)}",
                    at,
                    offset,
                )

    def precondition(self, text: str, at: Position, start: int) -> None:
        chosen = None
        for part, offset in _parted(text, start):
            word = part.strip()
            assumed = _ASSUME.fullmatch(part)
            if assumed:
                found = self.expression(assumed[1], at, offset + assumed.start(1))
                if found is not None:
                    self.found.assumptions += _conjuncts(found)
            elif word in DIFFERENCES:
                if chosen is not None and chosen != word:
                    self.problem(f"both {chosen} and {word} are said; keep one", at, offset)
                chosen = word
                self.found.differ, self.found.adjacency = DIFFERENCES[word]
            else:
                meant = similar(word, (*DIFFERENCES, "ASSUME"))
                hint = (
                    f"did you mean {meant}?"
                    if meant
                    else f"there are {', '.join(DIFFERENCES)} and ASSUME(...)"
                )
                self.problem(f"{shown(word)} is not understood; {hint}", at, offset)
        if chosen is None:
            self.problem(f"which entries differ? Write one of {', '.join(DIFFERENCES)} first", at, start)

    def check(self, text: str, at: Position, start: int) -> None:
        parts = [*_parted(text, start)]
        if len(parts) != 1:
            self.problem(f"CHECK is one bound, such as 2 * {self.chart.budget or 'epsilon'}", at, start)
            return
        self.found.claim = self.expression(parts[0][0], at, parts[0][1])

    def expression(self, text: str, at: Position, offset: int) -> Expression | None:
        """An expression over the parameters, inside of an annotation; it keeps its place in the file."""
        offset += len(text) - len(text.lstrip())
        indent = " " * (at.column + offset - 1)
        code = f'int f() {{ return (\n# {at.line} ""\n{indent}{text.strip()}\n); }}'
        try:
            statements = CParser().parse(code).ext[0].body.block_items or []
        except (ParseError, RecursionError, AttributeError):
            statements = []
        if len(statements) != 1 or getattr(statements[0], "expr", None) is None:
            self.problem(f"{shown(text.strip())} is no expression", at, offset)
            return None
        return expression(statements[0].expr, self.chart, self._report)


def _conjuncts(condition: Expression) -> list[Expression]:
    if isinstance(condition, Binary) and condition.op == "&&":
        return _conjuncts(condition.left) + _conjuncts(condition.right)
    return [condition]


def _parted(text: str, start: int) -> Iterator[tuple[str, int]]:
    """The parts between semicolons that are not empty, and where they begin."""
    for match in re.finditer(r"[^;]+", text[start:]):
        if match[0].strip():
            lead = len(match[0]) - len(match[0].lstrip())
            yield match[0].strip(), start + match.start() + lead
