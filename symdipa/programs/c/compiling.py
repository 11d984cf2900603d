"""From the syntax tree of a function to its flow chart; what is not understood is reported, all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import dropwhile
from typing import NoReturn

from pycparser import c_ast

from symdipa.files.formats.common import shown
from symdipa.model.errors import InputProblem, Position
from symdipa.model.spelling import Dictionary
from symdipa.programs.c.chart import (
    COMPARISONS,
    LOGICAL,
    Assign,
    Binary,
    Chart,
    Choice,
    Draw,
    End,
    Entry,
    Expression,
    Name,
    Number,
    Parameter,
    Show,
    Test,
    Unary,
    within,
)
from symdipa.programs.c.source import Tree, position

LAPLACE, OUTPUT, LIST = "Lap", "CHECKDP_OUTPUT", "out"
BUDGETS = ("epsilon", "eps")
"""The names of the parameter that is the budget."""

WHOLE = {"int", "long", "short", "char", "unsigned", "signed", "bool", "_Bool"}
REAL = {"float", "double"}
ARITHMETIC = ("+", "-", "*", "/", "%")
ONE = {"fabs": "abs", "fabsf": "abs", "abs": "abs"}
TWO = {"fmin": "min", "fmax": "max", "fminf": "min", "fmaxf": "max"}
TRUTH = {"true": 1, "false": 0}

_STATEMENTS = {
    c_ast.Switch: "switch is not understood; write if (...) {...} else if (...) {...}",
    c_ast.Goto: "goto is not understood; write while and if",
    c_ast.Label: "labels are not understood; write while and if",
    c_ast.Case: "case stands in a switch, which is not understood; write if and else",
    c_ast.Typedef: "typedef is not understood; numbers are int or float",
}
_EXPRESSIONS = {
    c_ast.StructRef: "structures are not understood; use variables",
    c_ast.Cast: "casts are not understood; declare a variable of the wanted type",
    c_ast.InitList: "lists of values are not understood; use variables",
    c_ast.CompoundLiteral: "structures are not understood; use variables",
    c_ast.ExprList: "the comma operator is not understood; write two statements",
    c_ast.Assignment: "an assignment inside of an expression is not understood (== compares); write a "
    "statement of its own",
}
_OPERATORS = {
    "&": "& is not understood (&& is the logical one)",
    "|": "| is not understood (|| is the logical one)",
    "^": "^ is not understood (it is no power in C)",
    "~": "~ is not understood (! negates)",
    "<<": "<< is not understood; multiply",
    ">>": ">> is not understood; divide",
}
_NOISE = (
    *("rand", "random", "drand48", "laplace", "laplacian", "Laplace", "LAP", "lap", "gauss", "gaussian"),
    *("Gauss", "Gaussian", "normal", "exponential", "Exp", "exp"),
)


class _NotUnderstood(Exception):
    """Ends the compilation of one statement; the problem is reported."""


@dataclass
class _Loop:
    """Where ``break`` and ``continue`` lead: instructions whose ways are filled in at the end of the loop."""

    leaving: list[_Way] = field(default_factory=list)
    again: list[_Way] = field(default_factory=list)


_Way = Callable[[int], None]
"""Sets where an instruction leads."""


def compiled(function: Tree, lists: bool, report: Callable[[InputProblem], None]) -> Chart:
    """The flow chart of a function, with all its parameters at least where problems are reported.

    ``lists``: assignments to a variable ``out`` that is returned are outputs (ShadowDP).
    """
    return _Compiler(report).function(function, lists)


def expression(tree: Tree, known: Chart, report: Callable[[InputProblem], None]) -> Expression | None:
    """An expression over the parameters of a chart."""
    compiler = _Compiler(report)
    compiler.chart = known
    compiler.scopes = [{one.name: one.name for one in known.parameters} | {known.budget: known.budget}]
    try:
        return compiler.expression(tree)
    except _NotUnderstood:
        return None


class _Compiler:
    def __init__(self, report: Callable[[InputProblem], None]) -> None:
        self._report, self.failed = report, False
        self.chart = Chart()
        self.scopes: list[dict[str, str]] = [{}]
        self.whole: dict[str, bool] = {}
        self.loops: list[_Loop] = []
        self.open: list[_Way] = []
        """The ways that lead to the next instruction."""

    # ------------------------------------------------------------------------------------ reporting

    def problem(self, message: str, node: Tree | Position, rule: str = "C") -> None:
        self.failed = True
        place = node if isinstance(node, Position) else position(node)
        self._report(InputProblem(rule, message, place))

    def refuse(self, message: str, node: Tree | Position) -> NoReturn:
        self.problem(message, node)
        raise _NotUnderstood

    @contextmanager
    def skipping(self) -> Iterator[None]:
        """What is not understood inside is left out, so that later problems are found as well."""
        with suppress(_NotUnderstood):
            yield

    # ------------------------------------------------------------------------------------ functions

    def function(self, tree: Tree, lists: bool) -> Chart:
        chart = self.chart
        chart.name = tree.decl.name
        if tree.param_decls:
            self.problem(
                "parameters are declared inside of the parentheses, as in f(float q[], int size)", tree.decl
            )
            return chart
        arguments = tree.decl.type.args
        for one in arguments.params if arguments is not None else ():
            with self.skipping():
                self.parameter(one)
        if not chart.budget and not self.failed:
            self.problem(
                f"no parameter is the budget; name it {BUDGETS[0]}, as in float {BUDGETS[0]}", tree.decl
            )
        items = [*dropwhile(is_annotation, tree.body.block_items or ())]
        self.chart.listed = self._list_of_outputs(items) if lists else ""
        self.scopes.append({})
        self.block(items)
        if not self.failed and not any(isinstance(one, Show) for one in chart.instructions):
            self.problem(
                f"nothing is ever shown; {OUTPUT}(x) shows a number, and so does return x", tree.decl
            )
        self.add(End(position(tree.decl) or Position(1, 1)))
        return chart

    def parameter(self, node: Tree) -> None:
        if isinstance(node, c_ast.EllipsisParam):
            self.refuse("... is not understood; name every parameter", node)
        kind = node.type
        if (
            isinstance(kind, c_ast.TypeDecl)
            and getattr(kind.type, "names", None) == ["void"]
            and not node.name
        ):
            return
        if node.name is None:
            self.refuse("this parameter has no name", node)
        at = position(node) or Position(1, 1)
        if node.name in self.scopes[0]:
            self.refuse(f"there are two parameters {node.name}", node)
        if isinstance(kind, c_ast.ArrayDecl | c_ast.PtrDecl):
            self._whole_type(kind.type, node)
            if self.chart.stream:
                first = self.chart.stream
                self.refuse(
                    f"{node.name} is a second stream, besides {first}; only one can be read (its entries may "
                    "be those of both, in turn)",
                    node,
                )
            self.chart.stream = self.scopes[0][node.name] = node.name
            return
        whole = self._whole_type(kind, node)
        self.scopes[0][node.name] = node.name
        if node.name in BUDGETS and not self.chart.budget:
            self.chart.budget = node.name
        else:
            self.chart.parameters.append(Parameter(at, node.name, whole))

    def _whole_type(self, kind: Tree, node: Tree) -> bool:
        """Whether a type is one of integers; problems with any other than numbers."""
        named = kind.type if isinstance(kind, c_ast.TypeDecl) else kind
        words = getattr(named, "names", None)
        if not isinstance(kind, c_ast.TypeDecl) or words is None or not {*words} <= WHOLE | REAL:
            what = " ".join(words) if words else "this type"
            self.refuse(f"{node.name}: {what} is not understood; numbers are int or float", node)
        return not {*words} & REAL

    def _list_of_outputs(self, items: list[Tree]) -> str:
        """``out``, if it is declared in the outermost block and returned at the end."""
        declared = any(isinstance(item, c_ast.Decl) and item.name == LIST for item in items)
        last = items[-1] if items else None
        returned = (
            isinstance(last, c_ast.Return) and isinstance(last.expr, c_ast.ID) and last.expr.name == LIST
        )
        return LIST if declared and returned else ""

    # ----------------------------------------------------------------------------------- instructions

    def add(self, instruction: Assign | Show | Test | End) -> int:
        """Put an instruction behind those before it."""
        self.chart.instructions.append(instruction)
        place = len(self.chart.instructions) - 1
        self.lead_to(self.open, place)
        self.open = []
        if isinstance(instruction, Assign | Show):

            def follow(there: int) -> None:
                instruction.next = there

            self.open = [follow]
        return place

    @staticmethod
    def lead_to(ways: list[_Way], place: int) -> None:
        for way in ways:
            way(place)

    def block(self, items: list[Tree] | None) -> None:
        for item in items or ():
            with self.skipping():
                self.statement(item)

    @contextmanager
    def scope(self) -> Iterator[None]:
        self.scopes.append({})
        yield
        self.scopes.pop()

    def statement(self, node: Tree | None) -> None:
        at = (position(node) if node is not None else None) or Position(1, 1)
        match node:
            case None | c_ast.EmptyStatement():
                pass
            case c_ast.Compound():
                with self.scope():
                    self.block(node.block_items)
            case c_ast.Decl():
                self.declaration(node, at)
            case c_ast.Assignment():
                self.assignment(node, at)
            case c_ast.UnaryOp(op="p++" | "++" | "p--" | "--"):
                target = self.target(node.expr)
                op = "+" if "+" in node.op else "-"
                changed = Binary(at, op, Name(at, target), Number(at, 1))
                self.assign(at, target, changed)
            case c_ast.If():
                self.condition(node, at)
            case c_ast.While():
                self.loop(at, node.cond, node.stmt)
            case c_ast.DoWhile():
                self.loop(at, node.cond, node.stmt, first=True)
            case c_ast.For():
                with self.scope():
                    first = node.init
                    for one in first.decls if isinstance(first, c_ast.DeclList) else [first]:
                        self.statement(one)
                    self.loop(at, node.cond, node.stmt, node.next)
            case c_ast.Break() | c_ast.Continue():
                word = "break" if isinstance(node, c_ast.Break) else "continue"
                if not self.loops:
                    self.refuse(f"{word} is in no loop; take it out", node)
                ways = self.loops[-1].leaving if word == "break" else self.loops[-1].again
                ways += self.open
                self.open = []
            case c_ast.Return():
                self.result(node, at)
            case c_ast.FuncCall():
                self.call(node, at)
            case c_ast.Constant(type="string"):
                self.problem("annotations stand at the beginning of the function; move this one there", node)
            case c_ast.ExprList():
                for one in node.exprs:
                    self.statement(one)
            case _:
                if type(node) in _STATEMENTS:
                    self.refuse(_STATEMENTS[type(node)], node)
                self.expression(node)
                self.problem("this statement does nothing; take it out, or assign what it computes", node)

    def declaration(self, node: Tree, at: Position) -> None:
        if node.name is None:
            self.refuse("structures and enumerations are not understood; use numbers", node)
        if isinstance(node.type, c_ast.FuncDecl):
            self.refuse("functions inside of a function are not understood; write their code here", node)
        if isinstance(node.type, c_ast.ArrayDecl):
            self.refuse(
                f"{node.name} is an array; only the stream is one. Use a variable for each entry, or show "
                f"what you would store with {OUTPUT}",
                node,
            )
        if isinstance(node.type, c_ast.PtrDecl):
            self.refuse(f"{node.name} is a pointer; use a variable", node)
        if "static" in node.storage or "extern" in node.storage:
            self.problem(f"{node.name} is {node.storage[0]}; every run starts afresh, so take that out", node)
        whole = self._whole_type(node.type, node)
        if node.name in self.scopes[-1]:
            self.refuse(f"{node.name} is declared twice; give one of them another name", node)
        value = None if node.init is None else self.expression(node.init)
        count = 2
        full = node.name
        while full in self.whole or any(full in scope for scope in self.scopes):
            full, count = f"{node.name}_{count}", count + 1
        self.scopes[-1][node.name] = full
        self.whole[full] = whole
        self.add(Assign(at, full, value, whole))

    def target(self, node: Tree) -> str:
        """The variable that is assigned."""
        if isinstance(node, c_ast.ArrayRef):
            self.refuse("entries cannot be assigned; use a variable", node)
        if not isinstance(node, c_ast.ID):
            self.refuse("only variables can be assigned", node)
        full = self.lookup(node)
        if full not in self.whole:
            if full == self.chart.stream:
                self.refuse(f"{node.name} is the stream, which cannot be assigned", node)
            self.refuse(f"the parameter {node.name} cannot be assigned; use a variable of its own", node)
        return full

    def assignment(self, node: Tree, at: Position) -> None:
        target = self.target(node.lvalue)
        if isinstance(node.rvalue, c_ast.Assignment):
            self.refuse("two assignments in one are not understood; write two statements", node.rvalue)
        value = self.expression(node.rvalue)
        if node.op != "=":
            op = node.op[:-1]
            if op not in ARITHMETIC:
                self.refuse(_OPERATORS.get(op, f"{node.op} is not understood"), node)
            value = Binary(at, op, Name(at, target), value)
        self.assign(at, target, value)

    def assign(self, at: Position, target: str, value: Expression) -> None:
        if target == self.chart.listed and len(self.scopes) > 1:
            self.add(Show(at, value))
        else:
            self.add(Assign(at, target, value, self.whole[target]))

    def condition(self, node: Tree, at: Position) -> None:
        test = Test(at, self.expression(node.cond))
        place = self.add(test)
        ends: list[_Way] = []
        for branch, side in ((node.iftrue, "yes"), (node.iffalse, "no")):
            self.open = [_setter(test, side)]
            with self.scope():
                self.block([branch])
            ends += self.open
        test.inside = range(place + 1, len(self.chart.instructions))
        self.open = [*ends, _setter(test, "next")]

    def loop(
        self, at: Position, condition: Tree | None, body: Tree, step: Tree | None = None, first: bool = False
    ) -> None:
        """A loop; with ``first`` the condition is asked behind the body."""
        loop = _Loop()
        asked = Number(at, 1) if condition is None else self.expression(condition)
        test = Test(asked.at, asked)
        start = len(self.chart.instructions)
        if not first:
            self.add(test)
            self.open = [_setter(test, "yes")]
        self.loops.append(loop)
        with self.scope():
            self.block([body])
        self.loops.pop()
        self.open += loop.again
        if step is not None:
            self.statement(step)
        if first:
            self.add(test)
            test.yes = start
        else:
            self.lead_to(self.open, start)
        self.open = [_setter(test, "no"), *loop.leaving]

    def result(self, node: Tree, at: Position) -> None:
        if node.expr is not None:
            value = self.expression(node.expr)
            if not (isinstance(value, Name) and value.name == self.chart.listed):
                self.add(Show(at, value))
        self.add(End(at))

    def call(self, node: Tree, at: Position) -> None:
        name = getattr(node.name, "name", None)
        arguments = node.args.exprs if node.args is not None else []
        if name == OUTPUT:
            if len(arguments) != 1:
                self.refuse(f"{OUTPUT} shows one number, not {len(arguments)}; call it for each", node)
            self.add(Show(at, self.expression(arguments[0])))
            return
        self.expression(node)
        self.problem(f"what {name} returns is not used; assign it to a variable", node)

    # ------------------------------------------------------------------------------------ expressions

    def lookup(self, node: Tree) -> str:
        for scope in reversed(self.scopes):
            if node.name in scope:
                return scope[node.name]
        known = sorted({name for scope in self.scopes for name in scope})
        meant = Dictionary(known).closest(node.name)
        hint = f"did you mean {meant}?" if meant else "declare it, or make it a parameter"
        self.refuse(f"there is no variable {node.name}; {hint}", node)

    def expression(self, node: Tree) -> Expression:
        at = position(node) or Position(1, 1)
        match node:
            case c_ast.Constant():
                return Number(at, self.number(node))
            case c_ast.ID():
                if node.name in TRUTH and not any(node.name in scope for scope in self.scopes):
                    return Number(at, TRUTH[node.name])
                name = self.lookup(node)
                if name == self.chart.stream:
                    self.refuse(f"{name} is the whole stream; one entry of it is {name}[i]", node)
                return Name(at, name)
            case c_ast.ArrayRef():
                return self.entry(node, at)
            case c_ast.UnaryOp():
                return self.unary(node, at)
            case c_ast.BinaryOp():
                left, right = self.both(node.left, node.right)
                if node.op not in (*ARITHMETIC, *COMPARISONS, *LOGICAL):
                    self.refuse(_OPERATORS.get(node.op, f"{node.op} is not understood"), node)
                return Binary(at, node.op, left, right)
            case c_ast.TernaryOp():
                condition = self.expression(node.cond)
                return Choice(at, condition, *self.both(node.iftrue, node.iffalse))
            case c_ast.FuncCall():
                return self.function_of(node, at)
        self.refuse(_EXPRESSIONS.get(type(node), "this expression is not understood"), node)

    def both(self, left: Tree, right: Tree) -> tuple[Expression, Expression]:
        """Two expressions; problems of both are reported."""
        found = None
        with self.skipping():
            found = self.expression(left)
        other = self.expression(right)
        if found is None:
            raise _NotUnderstood
        return found, other

    def number(self, node: Tree) -> int | Fraction:
        text = node.value.lower()
        if node.type == "string":
            self.refuse(f"a text is no number: {shown(node.value)}", node)
        if "char" in node.type:
            self.refuse(f"{node.value} is a character; write a number", node)
        try:
            if text.startswith(("0x", "0b")) and "." not in text and "p" not in text:
                return int(text.rstrip("ul"), 0)
            if "int" in node.type:
                digits = text.rstrip("ul")
                return int(digits, 8 if digits.startswith("0") else 10)
            return Fraction(text.rstrip("fl"))
        except ValueError:
            self.refuse(f"{shown(node.value)} is not understood; write it as a decimal number", node)

    def entry(self, node: Tree, at: Position) -> Expression:
        if isinstance(node.name, c_ast.ArrayRef):
            self.refuse("the stream has one index, as in q[i]", node)
        if not isinstance(node.name, c_ast.ID) or self.lookup(node.name) != self.chart.stream:
            what = getattr(node.name, "name", "this")
            self.refuse(f"{what} is no array; only the stream {self.chart.stream or 'q'} is one", node)
        index = self.expression(node.subscript)
        for part in within(index):
            if isinstance(part, Draw | Entry):
                self.refuse(f"{part} says which entry is read; that is not understood", part.at)
        return Entry(at, self.chart.stream, index)

    def unary(self, node: Tree, at: Position) -> Expression:
        if node.op in ("-", "!"):
            return Unary(at, node.op, self.expression(node.expr))
        if node.op == "+":
            return self.expression(node.expr)
        if node.op in ("p++", "++", "p--", "--"):
            self.refuse(f"{node.op.removeprefix('p')} inside of an expression is not understood; write a "
                        "statement of its own", node)  # fmt: skip
        if node.op in ("*", "&"):
            self.refuse("pointers are not understood; use variables, and q[i] for entries", node)
        self.refuse(_OPERATORS.get(node.op, f"{node.op} is not understood"), node)

    def function_of(self, node: Tree, at: Position) -> Expression:
        name = getattr(node.name, "name", "this")
        arguments = node.args.exprs if node.args is not None else []
        if name == LAPLACE:
            return self.draw(node, arguments, at)
        if name == OUTPUT:
            self.refuse(f"{OUTPUT} is a statement of its own", node)
        wanted = 1 if name in ONE else 2 if name in TWO else None
        if wanted is None:
            if name in _NOISE:
                hint = f"the only noise is {LAPLACE}(scale)"
            else:
                hint = f"functions are {LAPLACE}, {OUTPUT}, fabs, fmin and fmax; write its code here"
            self.refuse(f"{name}(...) is not understood; {hint}", node)
        if len(arguments) != wanted:
            self.refuse(f"{name} takes {wanted} number{'s' * (wanted > 1)}, not {len(arguments)}", node)
        if wanted == 1:
            return Unary(at, ONE[name], self.expression(arguments[0]))
        return Binary(at, TWO[name], *self.both(*arguments))

    def draw(self, node: Tree, arguments: list[Tree], at: Position) -> Expression:
        annotated = len(arguments) == 2 and is_annotation(arguments[1])
        if len(arguments) != 1 and not annotated:
            self.refuse(f"{LAPLACE} takes the scale, as in {LAPLACE}(2 / {BUDGETS[0]}) (its mean is 0)", node)
        scale = self.expression(arguments[0])
        for part in within(scale):
            if isinstance(part, Draw | Entry):
                self.refuse(f"the scale depends on {part}; it is a number over {BUDGETS[0]}", part.at)
        return Draw(at, scale)


def _setter(test: Test, side: str) -> _Way:
    def lead(place: int) -> None:
        setattr(test, side, place)

    return lead


def is_annotation(node: Tree) -> bool:
    """Whether a statement or an argument is a text."""
    return isinstance(node, c_ast.Constant) and node.type == "string"
