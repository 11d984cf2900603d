"""The source of a function with marks: a call before every statement, and iterators of loops in variables.

So a run tells where it is while nothing is on the stack but iterators, and those can be seen. Lines and
columns stay as they are.
"""

from __future__ import annotations

import ast
import dis
from collections.abc import Mapping, Sequence
from itertools import count
from types import CodeType

MARK, ITERATOR, LOOP = ".mark", ".iter", ".loop"
"""Names that no program can have: of the function that is called before every statement, of that which makes
iterators, and of the variables that hold these."""


def marked(tree: ast.Module, file: str) -> CodeType:
    """The code of a module with marks in all its functions; changes the tree."""
    return compile(ast.fix_missing_locations(_Marker().visit(tree)), file, "exec", dont_inherit=True)


Calls = Mapping[dis.Positions, ast.Call | ast.YieldFrom]
"""Expressions that run functions, by their places."""


def calls(tree: ast.Module) -> Calls:
    """Those of a module (without marks)."""
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Call | ast.YieldFrom))
    return {dis.Positions(n.lineno, n.end_lineno, n.col_offset, n.end_col_offset): n for n in found}


def code_of(module: CodeType, function: CodeType) -> CodeType | None:
    """The code in ``module`` that belongs to the same lines as that of a function."""
    for constant in module.co_consts:
        if isinstance(constant, CodeType):
            same = (constant.co_name, constant.co_firstlineno) == (function.co_name, function.co_firstlineno)
            if found := constant if same else code_of(constant, function):
                return found
    return None


class _Marker(ast.NodeTransformer):
    """Marks the statements of functions."""

    def __init__(self) -> None:
        self.loops = count()
        self.in_function = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        outer, self.in_function = self.in_function, True
        start = 1 if ast.get_docstring(node, clean=False) is not None else 0
        node.body = [*node.body[:start], *self.block(node.body[start:])] or node.body
        self.in_function = outer
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        outer, self.in_function = self.in_function, False
        self.generic_visit(node)
        self.in_function = outer
        return node

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in statements:
            if not isinstance(statement, ast.Nonlocal | ast.Global):
                found.append(ast.copy_location(ast.Expr(_at(statement, _call(MARK))), statement))
            found.append(self.visit(statement))
        return found

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if not self.in_function:
            return super().generic_visit(node)
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, name, self.block(value))
            elif isinstance(value, list):
                for child in value:
                    if isinstance(child, ast.AST):
                        self.visit(child)
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        if self.in_function:
            held = ast.Name(f"{LOOP}{next(self.loops)}", ast.Store())
            node.iter = _at(node.iter, ast.NamedExpr(held, _call(ITERATOR, node.iter)))
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        """The condition is marked, too, since it is tested again after the last statement of the loop."""
        self.generic_visit(node)
        if self.in_function:
            node.test = _at(node.test, ast.BoolOp(ast.Or(), [_call(MARK), node.test]))
        return node


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _at(place: ast.AST, node: ast.expr) -> ast.expr:
    """The expression, at the place in the source."""
    for part in ast.walk(node):
        if "lineno" in part._attributes and not hasattr(part, "lineno"):
            ast.copy_location(part, place)
    return node
