"""Mutation testing of the checker: is there a rule that the tests would not miss?

Each mutant is the checker with one small mistake in one function: a comparison turned round or moved by
one, a condition dropped, a constant changed, a check deleted. The tests of the checker (TESTS) run against
it in this process, until one fails; a mutant that passes them all is a *survivor*. Survivors that
are known to compute the same are listed in EQUIVALENT with the reason; any other makes the exit status 1.

    python benchmarks/mutate_checker.py [MODULE ...]    (plain.private, wider.flows, ...; default: all)
"""

from __future__ import annotations

import ast
import copy
import signal
import sys
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from itertools import product
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "symdipa" / "checker"
TESTS = {
    "test_checker": ["reading", "plain.lower", "plain.private", "plain.runs", "plain.violation"],
    "test_checker test_claims test_differ_checker": ["claims"],
    "test_checker test_wider_checker": ["plain.alike"],
    "test_checker test_differ_checker": ["graphs"],
    "test_checker test_wider_checker test_differ_checker": ["check", "digest", "model"],
    "test_relational_checker test_relational_wider_checker": ["relational.check", "relational.effects"],
    "test_differ_checker": ["wider.differ"],
    "test_differ_checker test_wider_checker": [
        *("wider.adjacent", "wider.base", "wider.flows", "wider.model", "wider.private", "wider.shifts"),
    ],
    "test_wider_checker": ["wider.order", "wider.runs"],
}
"""The modules of the checker that files of tests are about."""
SECONDS = 20
"""A mutant that runs for longer has been noticed."""

TWICE = "adds what another line adds too"
COUNTED = "the lengths are equal already"
FOUND = "what was found is found again"
LIMIT = "moves a limit on effort by one"
STORED = "no edge leads from a position to itself"

EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("plain.runs", "after", "below - new => below"): TWICE,
    ("plain.runs", "after", "above - new => above"): TWICE,
    (
        "plain.runs",
        "after",
        " if x != y => (no condition)",
    ): "that x is the same as x follows from and implies nothing",
    ("plain.alike", "shared_entries", "True => False"): COUNTED,
    ("plain.alike", "is_distinct", "len(seen) > MAX_IMITATORS => len(seen) >= MAX_IMITATORS"): LIMIT,
    (
        "plain.lower",
        "Flow.reader",
        " if isinstance(end, int) => (no condition)",
    ): "asked only where both are positions",
    ("plain.lower", "_check_worth", "True => False"): COUNTED,
    (
        "relational.check",
        "Closures.with_guards",
        "if key not in self._found => if True",
    ): FOUND,
    ("relational.check", "Closures._guard", "if (copy, effect) not in self._guards => if True"): FOUND,
    (
        "relational.check",
        "Machine.drawing",
        "None if state is None else self.steps.drawing.get(state) => self.steps.drawing.get(state)",
    ): "no state is called None",
    ("relational.effects", "_of_plain", "True => False"): COUNTED,
    ("relational.effects", "_shows", "True => False"): COUNTED,
    ("relational.effects", "_left_out", "len(pieces) > MAX_PIECES => len(pieces) >= MAX_PIECES"): LIMIT,
    ("plain.violation", "_leaves", "path[1] < path[0] => path[1] <= path[0]"): STORED,
    ("plain.violation", "_enters", "path[-2] < path[-1] => path[-2] <= path[-1]"): STORED,
    ("digest", "digest", "':' => \":'\""): "the canonical form has no objects",
    ("reading", "numbers", "True => False"): COUNTED,
    (
        "reading",
        "bounded",
        "max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS => "
        "max(value.numerator.bit_length(), value.denominator.bit_length()) >= MAX_BITS",
    ): LIMIT,
    ("reading", "rational", "'0' => \"0'\""): "only digits are stripped",
    (
        "wider.flows",
        "_is_within",
        "sample is None or sample.noise is Noise.NONE => sample.noise is Noise.NONE",
    ): "arcs end at samples that are drawn",
    **dict.fromkeys(
        (
            (
                "wider.runs",
                "Follower._advance",
                "self._is_continuous(low) or self._is_continuous(high) => " + one,
            )
            for one in ("self._is_continuous(low)", "self._is_continuous(high)")
        ),
        "what leads round to a sample again comes to it and leaves it",
    ),
    (
        "wider.adjacent",
        "known_after",
        " if known is not None => (no condition)",
    ): "in runs the registers that matter are known",
    ("wider.base", "base_of", "True => False"): COUNTED,
    **dict.fromkeys(
        (
            ("wider.model", "_check_registers", " if name is not None => (no condition)"),
            ("wider.model", "_kept", " if r is not None => (no condition)"),
        ),
        "no name is None",
    ),
    ("wider.flows", "_valued", "if model.unfolds => if True"): "means differ as entries do",
    ("wider.adjacent", "_check_stretch", "1 => 2"): "an entry is counted in other units",
    ("wider.adjacent", "_independent", "min => max"): "any entry of a form will do",
    ("wider.adjacent", "_independent", "if form => if True"): "the run is refused then",
    ("wider.order", "rounded", "0 => 1"): "all bounds of integers are compared with such ones",
}
"""(module, function, change) -> why nobody can tell the difference, or why the mutant is only stricter."""

COMPARISONS: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
}
OPERATIONS: dict[type[ast.operator], list[type[ast.operator]]] = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Add],
    ast.BitAnd: [ast.BitOr],
    ast.BitOr: [ast.BitAnd],
    ast.FloorDiv: [ast.Mult],
}
NAMES = {"max": "min", "min": "max", "any": "all", "all": "any"}


# Mutants


def mutations(node: ast.AST) -> Iterator[ast.AST | None]:
    """The node with a small mistake; ``None`` for a statement that is left out."""
    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                for other in COMPARISONS[type(op)]:
                    yield changed(node, ops=[*ops[:i], other(), *ops[i + 1 :]])
        case ast.BoolOp(op=op, values=values):
            yield changed(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
            for i in range(len(values)):
                rest = values[:i] + values[i + 1 :]
                yield rest[0] if len(rest) == 1 else changed(node, values=rest)
        case ast.BinOp(op=op) if type(op) in OPERATIONS:
            for operation in OPERATIONS[type(op)]:
                yield changed(node, op=operation())
            yield node.left
            yield node.right
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.IfExp(body=body, orelse=orelse):
            yield body
            yield orelse
        case ast.If() | ast.While():
            yield changed(node, test=ast.Constant(False))
            if isinstance(node, ast.If):
                yield changed(node, test=ast.Constant(True))
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
            if value:
                yield ast.Constant(value - 1)
        case ast.Constant(value=str(value)) if value and not isinstance(value, bool):
            yield ast.Constant(value + "'")
        case ast.Name(id=name) if name in NAMES:
            yield ast.Name(NAMES[name], ast.Load())
        case ast.comprehension(ifs=ifs) if ifs:
            for i in range(len(ifs)):
                yield changed(node, ifs=ifs[:i] + ifs[i + 1 :])
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            yield None


def changed(node: ast.AST, **fields: object) -> ast.AST:
    twin = copy.copy(node)
    for name, value in fields.items():
        setattr(twin, name, value)
    return twin


def places(node: ast.AST, way: tuple[tuple[str, int | None], ...] = ()) -> Iterator[tuple[tuple, ast.AST]]:
    """Nodes of the code that matter: no messages of refusals, texts for messages, annotations, docstrings."""
    yield way, node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "ctx"):
            continue
        for i, part in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(part, ast.AST) or is_message(node, name, i, part):
                continue
            yield from places(part, (*way, (name, i)))


def is_message(parent: ast.AST, name: str, i: int | None, part: ast.AST) -> bool:
    if isinstance(part, ast.JoinedStr):
        return True
    if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant):
        return True
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and name == "args":
        called = parent.func.id
        texts = {"refuse": 1, "members": 1, "items": 1, "number": 1, "text": 1, "table": 1, "run_of": 2}
        return called in texts and i == texts[called] and isinstance(part, ast.Constant)
    return False


def replaced(root: ast.AST, way: tuple, new: ast.AST | None) -> ast.AST:
    twin = copy.deepcopy(root)
    part = twin
    for name, i in way[:-1]:
        part = getattr(part, name) if i is None else getattr(part, name)[i]
    name, i = way[-1]
    put = ast.Pass() if new is None else copy.deepcopy(new)
    if i is None:
        setattr(part, name, put)
    else:
        getattr(part, name)[i] = put
    return ast.fix_missing_locations(twin)


class Mutant:
    """A change of one function, to be put in place and taken back."""

    def __init__(
        self, module: types.ModuleType, qualname: str, line: int, change: str, tree: ast.Module
    ) -> None:
        self.module, self.qualname, self.line, self.change, self.tree = module, qualname, line, change, tree

    @property
    def key(self) -> tuple[str, str, str]:
        return self.module.__name__.removeprefix("symdipa.checker."), self.qualname, self.change

    @contextmanager
    def in_place(self) -> Iterator[None]:
        scratch = {"__name__": self.module.__name__, "__file__": self.module.__file__}
        exec(compile(self.tree, str(self.module.__file__), "exec"), scratch)
        original = function(vars(self.module), self.qualname)
        kept = original.__code__
        original.__code__ = function(scratch, self.qualname).__code__
        forget(self.module)
        try:
            yield
        finally:
            original.__code__ = kept
            forget(self.module)


def forget(module: types.ModuleType) -> None:
    """Empty the caches of a module."""
    for found in vars(module).values():
        if hasattr(found, "cache_clear"):
            found.cache_clear()


def function(space: dict[str, object], qualname: str) -> types.FunctionType:
    first, *rest = qualname.split(".")
    found = space[first]
    for name in rest:
        found = vars(found)[name]
    if isinstance(found, property | cached_property):
        found = found.fget if isinstance(found, property) else found.func
    found = getattr(found, "__wrapped__", found)  # of a cache
    assert isinstance(found, types.FunctionType), qualname
    return found


def mutants(module: types.ModuleType) -> Iterator[Mutant]:
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    tree = ast.parse(source)
    for way, node in places(tree):
        owner = enclosing(tree, way)
        if owner is None:
            continue
        for new in mutations(node):
            mutated = replaced(tree, way, new)
            before, after = shown(node), "(nothing)" if new is None else shown(new)
            line = getattr(node, "lineno", None) or getattr(owner[1], "lineno", 0)
            yield Mutant(module, owner[0], line, f"{before} => {after}", mutated)


def enclosing(tree: ast.Module, way: tuple) -> tuple[str, ast.FunctionDef] | None:
    """The function around a place, with its dotted name; the function itself is not inside it."""
    names: list[str] = []
    part: ast.AST = tree
    for name, i in way[:-1]:
        part = getattr(part, name) if i is None else getattr(part, name)[i]
        if isinstance(part, ast.ClassDef | ast.FunctionDef):
            names.append(part.name)
        if isinstance(part, ast.FunctionDef):
            return ".".join(names), part
    return None


def shown(node: ast.AST) -> str:
    if isinstance(node, ast.comprehension):
        return "".join(f" if {ast.unparse(test)}" for test in node.ifs) or "(no condition)"
    if isinstance(node, ast.If | ast.While):
        return f"{type(node).__name__.lower()} {ast.unparse(node.test)}"
    return ast.unparse(node)


# Tests


def tests(file: str) -> list[Callable[[], None]]:
    """The tests of a file with their parameters, as functions without arguments."""
    found: list[Callable[[], None]] = []
    for name, test in vars(import_module(file)).items():
        if not name.startswith("test_"):
            continue
        tables = [mark.args for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
        rows = [
            [
                dict(zip(names, row, strict=True)) if isinstance(names, tuple) else {names: row}
                for row in values
            ]
            for names, values in tables
        ]
        for chosen in product(*rows):
            arguments = {key: value for part in chosen for key, value in part.items()}

            def run(test=test, arguments=arguments) -> None:
                if "monkeypatch" in test.__code__.co_varnames[: test.__code__.co_argcount]:
                    with pytest.MonkeyPatch.context() as patch:
                        test(monkeypatch=patch, **arguments)
                else:
                    test(**arguments)

            found.append(run)
    return found


Failed = pytest.fail.Exception


class TooLong(BaseException):
    """The time for a mutant is over."""


def survives(mutant: Mutant, suite: list[Callable[[], None]]) -> bool:
    def stop(*_: object) -> None:
        raise TooLong

    signal.signal(signal.SIGALRM, stop)
    with mutant.in_place():
        for i, test in enumerate(suite):
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            try:
                test()
            except (Exception, TooLong, Failed):
                suite.insert(0, suite.pop(i))  # what killed this one may kill the next
                return False
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    return True


def main() -> int:
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    chosen = sys.argv[1:] or [name for names in TESTS.values() for name in names]
    began, total, left, known = time.monotonic(), 0, [], []
    for files, names in TESTS.items():
        names = [name for name in names if name in chosen]
        suite = [test for file in files.split() for test in tests(file)] if names else []
        for test in suite:
            test()
        for name in names:
            for mutant in mutants(import_module(f"symdipa.checker.{name}")):
                total += 1
                if survives(mutant, suite):
                    where = f"{name}.py:{mutant.line} {mutant.qualname}: {mutant.change}"
                    if mutant.key in EQUIVALENT:
                        known.append(where)
                    else:
                        left.append(where)
                        print(where, flush=True)
            print(
                f"-- {name}: {total} mutants so far, {time.monotonic() - began:.0f} s",
                file=sys.stderr,
                flush=True,
            )
    print(f"{total} mutants, {total - len(left) - len(known)} killed, {len(known)} known to be equivalent, "
          f"{len(left)} survived")  # fmt: skip
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
