"""What cannot be followed, and shows in the text of a function: it would go unnoticed in a run.

A run on symbolic values finds most of what it cannot do when it is done. Here is what would give the analysis
another answer than a run on numbers: what tells symbolic values from numbers, what lasts from one run to the
next, and what catches the exceptions that end a run of the analysis.
"""

from __future__ import annotations

import ast
import builtins
import linecache
from collections.abc import Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

from symdipa.model.errors import InputProblem, Position
from symdipa.model.spelling import enumeration
from symdipa.programs.python.noise import exponential, laplace

FORBIDDEN = {
    **dict.fromkeys(
        ["isinstance", "issubclass", "type", "id", "callable", "hasattr", "dir", "vars"],
        "tells the values of the analysis from numbers; compare values, not what they are",
    ),
    **dict.fromkeys(
        ["eval", "exec", "compile", "globals", "locals", "setattr", "delattr", "__import__", "breakpoint"],
        "changes or runs what cannot be seen here; write it out",
    ),
    **dict.fromkeys(["print"], "shows something that is not an output; yield it, or leave it out"),
    **dict.fromkeys(["input", "open"], "reads something that is not a parameter; make it one"),
}
"""Builtin functions, and why they are not called."""

MODULES = {
    **dict.fromkeys(["random", "secrets", "numpy", "scipy", "uuid"], "use laplace or exponential for noise"),
    **dict.fromkeys(["time", "datetime", "os", "socket", "subprocess"], "make what it reads a parameter"),
    **dict.fromkeys(
        ["threading", "multiprocessing", "asyncio", "concurrent"], "run one thing after the other"
    ),
}
"""Modules whose functions do not do the same in every run, and what to do instead."""


def refusals(tree: ast.Module, function: FunctionType) -> list[InputProblem]:
    """All that cannot be followed in a function, and in those of its file that it names."""
    names = function.__globals__
    nodes = {(node.name, node.lineno): node for node in ast.walk(tree) if isinstance(node, Definition)}
    found: list[InputProblem] = []
    work, seen = [function], {id(function.__code__)}
    for each in work:  # grows
        node = _definition(nodes, each)
        if node is None:
            continue
        found += _Finder(names).problems(node)
        for name in sorted({part.id for part in ast.walk(node) if isinstance(part, ast.Name)}):
            value = names.get(name)
            value = getattr(value, "function", value)
            if not isinstance(value, FunctionType) or id(value.__code__) in seen:
                continue
            if value.__code__.co_filename == function.__code__.co_filename:
                seen.add(id(value.__code__))
                work.append(value)
    return sorted(found, key=InputProblem.place)


Definition = ast.FunctionDef | ast.AsyncFunctionDef


def _definition(nodes: Mapping[tuple[str, int], Definition], function: FunctionType) -> Definition | None:
    """The definition of a function, which begins at its first decorator."""
    code = function.__code__
    for (name, _), node in nodes.items():
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        if name == code.co_name and first == code.co_firstlineno:
            return node
    return None


class _Finder(ast.NodeVisitor):
    """Finds what cannot be followed in one function, in which names mean what ``names`` says unless it sets
    them itself."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.names = names
        self.found: list[InputProblem] = []
        self.own: set[str] = set()

    def problems(self, node: Definition) -> list[InputProblem]:
        self.own = set(_bound(node))
        self.visit(node)
        return self.found

    def add(self, node: ast.AST, message: str) -> None:
        place = Position(getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)
        self.found.append(InputProblem("program", message, place))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            if isinstance(default, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp):
                self.add(
                    default,
                    f"a default of {node.name} can be changed, and keeps that until the next run; "
                    "use a tuple, or None, and make a new one inside",
                )
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.add(node, f"the class {node.name} is made anew in every run; define it outside of the function")

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.add(node, f"{node.name} is asynchronous; write it with def, without async and await")

    def visit_Try(self, node: ast.Try | ast.TryStar) -> None:
        self.add(node, "exceptions are caught; leave out 'try:', and ask beforehand for what would raise one")
        self.generic_visit(node)

    visit_TryStar = visit_Try

    def visit_With(self, node: ast.With) -> None:
        self.add(node, "what a 'with' does at its end cannot be followed; leave it out")
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        names = ", ".join(node.names)
        self.add(node, f"global {names} lasts from one run to the next; make it a local variable")

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.add(node, "a module is imported in the course of a run; import it on top of the file")

    visit_ImportFrom = visit_Import

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for operator, left, right in zip(node.ops, sides, sides[1:], strict=False):
            known = any(isinstance(side, ast.Constant) for side in (left, right))
            if isinstance(operator, ast.Is | ast.IsNot) and not known:
                self.add(node, "'is' asks whether two values are one object; compare them with == or !=")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Yield):
            if node.value.value is not None:
                self.visit(node.value.value)
        else:
            self.generic_visit(node)

    def visit_Yield(self, node: ast.Yield) -> None:
        self.add(
            node, "what is sent to a generator is used; let 'yield' stand alone, and make it a parameter"
        )
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in self.own:
            return
        value = self.names.get(node.id, getattr(builtins, node.id, None))
        if node.id in FORBIDDEN and value is getattr(builtins, node.id):
            self.add(node, f"{node.id}() {FORBIDDEN[node.id]}")
        elif (module := _module(value)) in MODULES:
            self.add(node, f"{module} does not do the same in every run; {MODULES[module]}")

    def visit_Call(self, node: ast.Call) -> None:
        if name := _noise(node, self.names):
            self.noise(node, name)
        self.generic_visit(node)

    def noise(self, node: ast.Call, name: str) -> None:
        """Complain about noise that is not asked for by its scale alone."""
        if any(isinstance(each, ast.Starred) for each in node.args) or any(
            k.arg is None for k in node.keywords
        ):
            return
        named = [str(each.arg) for each in node.keywords]
        others = [ast.unparse(each) for each in node.args[1:]] + [each for each in named if each != "scale"]
        if others:
            seen = f"{name} takes a scale and nothing else, as in {name}(2)"
            self.add(node, f"{seen}; leave out {', '.join(others)}")
        if not node.args and "scale" not in named:
            seen = f"{name} has no scale"
            self.add(node, f"{seen}; give it one, as in {name}(2), which is noise of scale 2/eps")

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self.outside(target)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.outside(node.target)
        self.generic_visit(node)

    def outside(self, target: ast.expr) -> None:
        """Complain where a part of a value is set that is not the function's own."""
        base = target
        while isinstance(base, ast.Attribute | ast.Subscript):
            base = base.value
        if base is not target and isinstance(base, ast.Name) and base.id not in self.own:
            self.add(
                target, f"{base.id} is changed and lasts from one run to the next; make it a local variable"
            )


def _noise(node: ast.Call, names: Mapping[str, Any]) -> str:
    """The name of the noise that a call makes, if it makes any."""
    called = names.get(node.func.id) if isinstance(node.func, ast.Name) else None
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        called = getattr(names.get(node.func.value.id), node.func.attr, None)
    return called.__name__ if called is laplace or called is exponential else ""


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that are set somewhere in a function."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        elif isinstance(part, ast.arg):
            yield part.arg
        elif isinstance(part, Definition | ast.ClassDef):
            yield part.name
        else:
            name = part.name if isinstance(part, ast.MatchAs | ast.MatchStar) else None
            yield from filter(None, [name])


def _module(value: object) -> str:
    """The module that a value is, or comes from."""
    if isinstance(value, ModuleType):
        name = value.__name__
    else:
        owner = getattr(value, "__self__", None)
        name = getattr(value, "__module__", None) or type(owner).__module__
    return str(name).partition(".")[0]


# ------------------------------------------------------------------------------------------ a parameter eps

MOST_SHOWN = 3
"""So many calls are written out without eps."""


def eps_as_parameter(function: FunctionType, name: str) -> InputProblem:
    """The complaint about a parameter of this name, with how to write the noise without it."""
    file, names = function.__code__.co_filename, function.__globals__
    tree = ast.parse("".join(linecache.getlines(file, names)), file)
    nodes = {(node.name, node.lineno): node for node in ast.walk(tree) if isinstance(node, Definition)}
    node = _definition(nodes, function) or ast.Pass()
    calls = [part for part in ast.walk(node) if isinstance(part, ast.Call) and _noise(part, names)]
    calls = sorted((call for call in calls if _reads(call, name)), key=lambda call: call.lineno)
    parameters = (part for part in ast.walk(node) if isinstance(part, ast.arg) and part.arg == name)
    places = [Position(part.lineno, part.col_offset + 1) for part in parameters]
    remedy = "leave it out"
    if calls:
        lines = [f"{_without(call, name)} in line {call.lineno}" for call in calls]
        lines[MOST_SHOWN:] = ["so on"] if len(lines) > MOST_SHOWN else []
        remedy += f", and put 1 in its place: {enumeration(lines)}"
    elif _reads(node, name):
        remedy += ", and put 1 in its place; or give it another name, if it is something else"
    seen = (
        f"{name} is no parameter of a mechanism: laplace(2) has scale 2/eps, and the answer is for every eps"
    )
    return InputProblem(
        "setting", f"{seen}; {remedy}", (places or [Position(function.__code__.co_firstlineno, 1)])[0]
    )


def _reads(node: ast.AST, name: str) -> bool:
    """Whether a name is read in a part of the program."""
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


def _without(call: ast.Call, name: str) -> str:
    """A call of noise with its scale alone, and 1 in place of a name."""
    scale = next(iter(call.args), None) or next(each.value for each in call.keywords if each.arg == "scale")
    return ast.unparse(ast.Call(call.func, [_AtOne(name).visit(scale)], []))


class _AtOne(ast.NodeTransformer):
    """Puts 1 in place of a name, and leaves out factors and divisors that are 1 by that."""

    def __init__(self, name: str) -> None:
        self.name = name

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(1) if node.id == self.name else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        was = node.left, node.right
        self.generic_visit(node)
        changed = [new is not old for new, old in zip((node.left, node.right), was, strict=True)]
        match node:
            case ast.BinOp(left, ast.Mult() | ast.Div(), ast.Constant(1)) if changed[1]:
                return left
            case ast.BinOp(ast.Constant(1), ast.Mult(), right) if changed[0]:
                return right
        return node
