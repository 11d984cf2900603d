"""From the text of a C file to the syntax tree of the function that is read; pycparser does the parsing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pycparser import c_ast
from pycparser.c_lexer import CLexer
from pycparser.c_parser import CParser, ParseError

from symdipa.files.formats.common import shown
from symdipa.model.errors import InputProblem, Position
from symdipa.model.spelling import enumeration, no_such

_BEFORE_IT = 'typedef int bool;\n# 1 ""\n'
"""``bool`` is a type in every file, as with ``stdbool.h``; lines count from 1 behind it."""

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/) | (?P<open>/\*) | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
    | (?P<directive>^[ \t]*\#[^\n]*)""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_HARMLESS = re.compile(r"\s*#\s*(?:include\b|pragma\b|$)")
_PLACE = re.compile(r":(\d+)(?::(\d+))?: (.*)", re.DOTALL)

DEEPEST = 100
"""How deep parentheses and braces are nested at most."""

Tree = Any
"""A node of pycparser's syntax tree."""


def function_in(text: str, name: str | None, report: Callable[[InputProblem], None]) -> Tree | None:
    """The function with this name, or the only one; ``None`` once a problem is reported."""
    bare = _without_comments(text, report)
    if bare is None or _nested_too_deeply(bare, report):
        return None
    tree = _parsed(bare, report)
    return None if tree is None else _chosen(tree, name, report)


def position(node: Tree) -> Position | None:
    """Where a node begins."""
    coord = node.coord
    return Position(coord.line, coord.column or 1) if coord is not None and coord.line else None


def _without_comments(text: str, report: Callable[[InputProblem], None]) -> str | None:
    """The text with blanks for comments and harmless directives; ``None`` if there are others."""
    refused = False

    def blanks(match: re.Match[str]) -> str:
        nonlocal refused
        found = match[0]
        if match["open"]:
            _add(report, "syntax", "this comment is not closed: */ ends it", text, match.start())
            refused = True
        elif match["directive"] and not _HARMLESS.match(found):
            word = found.strip()
            advice = (
                "write the number where it is used, or make it a parameter of the function and give it "
                "with --set"
                if "define" in word
                else "take the line out"
            )
            start = match.start() + len(found) - len(found.lstrip())
            _add(report, "C", f"{shown(word)}: no preprocessor runs here; {advice}", text, start)
            refused = True
        elif not match["comment"] and not match["directive"]:
            return found
        return re.sub(r"[^\n]", " ", found)

    bare = _TOKEN.sub(blanks, text)
    return None if refused else bare


def _add(report: Callable[[InputProblem], None], rule: str, message: str, text: str, offset: int) -> None:
    place = Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))
    report(InputProblem(rule, message, place))


def _nested_too_deeply(text: str, report: Callable[[InputProblem], None]) -> bool:
    """Whether parentheses and braces are nested deeper than the parser, which recurs, bears."""
    depth = 0
    for match in re.finditer(
        r"""[({\[]|[)}\]]|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[-+!~*&]{50,}""", text
    ):
        mark = match[0]
        depth += (mark in "({[") - (mark in ")}]")
        if depth > DEEPEST or (len(mark) >= 50 and mark[0] not in "\"'"):
            message = f"this is nested more than {DEEPEST} deep; use variables for parts of it"
            _add(report, "syntax", message, text, match.start())
            return True
    return False


class _Lexer(CLexer):  # type: ignore[misc]
    """A lexer that remembers where it is, for complaints that do not say it."""

    last: Any = None

    def token(self) -> Any:
        found = super().token()
        self.last = found or self.last
        return found


def _parsed(text: str, report: Callable[[InputProblem], None]) -> Tree | None:
    parser = CParser(lexer=_Lexer)
    try:
        return parser.parse(_BEFORE_IT + text)
    except ParseError as error:
        report(_syntax_problem(str(error), text, parser.clex.last))
    except RecursionError:
        report(InputProblem("syntax", "this is nested too deeply; use variables for parts of it"))
    return None


def _syntax_problem(message: str, text: str, last: Any) -> InputProblem:
    if "At end of input" in message:
        lines = text.rstrip().split("\n")
        place = Position(len(lines), len(lines[-1]) + 1)
        return InputProblem("syntax", "the file ends here, inside a function; is a } or a ) missing?", place)
    found = _PLACE.match(message)
    said = found[3] if found else message.removeprefix(":").strip()
    if found and found[2]:
        place = Position(int(found[1]), int(found[2]))
    else:
        place = Position(last.lineno, getattr(last, "column", 1))
    if said.startswith("before: ") or said == "Invalid expression":
        word = shown(said.removeprefix("before: ") if found else last.value)
        message = f"{word} cannot stand here; is something missing before it, a ; or a parenthesis?"
        return InputProblem("syntax", message, place)
    if said.startswith("Illegal character '\"'"):
        return InputProblem("syntax", 'this text is not closed: " ends it, on the same line', place)
    return InputProblem("syntax", f"this is no C: {said[:1].lower()}{said[1:]}", place)


def _chosen(tree: Tree, name: str | None, report: Callable[[InputProblem], None]) -> Tree | None:
    functions = [node for node in tree.ext if isinstance(node, c_ast.FuncDef)]
    for node in tree.ext[1:]:
        if isinstance(node, c_ast.Decl) and not isinstance(node.type, c_ast.FuncDecl):
            what = (
                f"{node.name} is outside of the function" if node.name else "this is outside of the function"
            )
            report(
                InputProblem(
                    "C", f"{what}; make it a parameter or a variable of the function", position(node)
                )
            )
    names = [function.decl.name for function in functions]
    if not functions:
        report(
            InputProblem(
                "C", "no function is defined here; a mechanism is a function with a body", Position(1, 1)
            )
        )
        return None
    if name is not None and name not in names:
        report(InputProblem("C", no_such("function", name, names)))
        return None
    if name is None and len(functions) > 1:
        example = f"give one behind the name of the file, as FILE.c:{names[0]}"
        report(InputProblem("C", f"there are several functions, {enumeration(names)}; {example}"))
        return None
    return functions[0 if name is None else names.index(name)]
