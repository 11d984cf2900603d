"""The pages of the documentation as something that can be run: commands, the outputs shown, files.

What counts in README.md and docs/*.md:

* A block ```` ```sh ````: its commands that begin with ``symdipa`` (also behind ``&&``) are run, one a
  line, a ``\\`` at the end of a line continuing it. Other commands are left alone.
* A block ```` ```text ```` that directly follows is what they print, on standard output and standard error
  together. A line ``...`` in it stands for any lines, none included.
* A block ```` ```python ```` is run; the blocks of a page share their names.

Marks are HTML comments on lines of their own, above a block; they hold for this block:

* ``<!-- file: mine.dipa -->``: the block is the content of this file from here on.
* ``<!-- status: 1 -->``: the exit status of its last command (of all others, and without the mark: 0).
* ``<!-- needs: matplotlib -->``: a module or program; without it the block is skipped, and the test says so.
* ``<!-- numbers vary -->``: every number of the output may be another one (seconds, for instance).
* ``<!-- not run: why -->``.

Each page is run in a folder of its own that holds a copy of ``examples/``.

``python tests/documented.py [PAGE...]`` writes what commands print now into the pages, where that differs
from what they show. In a block with ``...`` each piece keeps its first and its last line and is renewed
between them; where these lines are not printed any more, the block is left to its author.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import linecache
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from click.testing import CliRunner
from conftest import EXAMPLES, ROOT

from symdipa.interface.cli import cli

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

_MARK = re.compile(r"<!-- (file|status|needs|not run|numbers vary)(?:: (.*?))? -->")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
GAP = "...\n"
"""The line that stands for any lines."""

_OPERATORS = {"|", ";", ">", ">>", "<", "||", "&"}


@dataclass(frozen=True)
class Block:
    """A fenced block: ``line`` is that of its fence, ``marks`` what is said about it above."""

    language: str
    text: str
    line: int
    marks: dict[str, str]
    follows: bool
    """Whether only empty lines lie between it and the block before."""


@dataclass
class Outcome:
    """What running a page showed: ``wrong`` in words, ``missing`` what blocks were skipped for.

    ``printed`` has, for each block that shows another output than this, what is printed.
    """

    wrong: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    printed: dict[int, str] = field(default_factory=dict)
    commands: int = 0


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page in order."""
    marks: dict[str, str] = {}
    opened, content, follows = None, [], False
    for number, line in enumerate(page.splitlines(), 1):
        if opened is not None:
            if line.rstrip() == "```":
                yield Block(opened[0], "".join(content), opened[1], marks, follows)
                opened, content, marks, follows = None, [], {}, True
            else:
                content.append(line + "\n")
        elif line.startswith("```"):
            opened = (line[3:].strip(), number)
        elif found := _MARK.fullmatch(line.strip()):
            marks[found[1]] = found[2] or ""
        elif line.strip():
            marks, follows = {}, False


def commands(text: str) -> Iterator[list[str]]:
    """The arguments of the symdipa commands of a block; ``ValueError`` for what is no plain command."""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
        lexer.whitespace_split = True
        words = list(lexer)
        while words:
            end = words.index("&&") if "&&" in words else len(words)
            command, words = words[:end], words[end + 1 :]
            if command and command[0] == "symdipa":
                if _OPERATORS & set(command):
                    raise ValueError(f"not a plain command: {line}")
                yield command[1:]


def matches(shown: str, printed: str, numbers_vary: bool = False) -> bool:
    """Whether a block shows what was printed."""
    if numbers_vary:
        shown, printed = (re.sub(r" +", " ", _NUMBER.sub("0", text)) for text in (shown, printed))
    pieces = re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)
    pattern = r"(?:.*\n)*?".join(map(re.escape, pieces))
    return re.fullmatch(pattern, printed) is not None


def run(page: str) -> Outcome:
    """Run a page in the current folder."""
    outcome = Outcome()
    names: dict[str, object] = {"__name__": "__documentation__"}
    printed = None
    for block in blocks(page):
        shown, printed = (printed if block.follows else None), None
        if "file" in block.marks:
            Path(block.marks["file"]).write_text(block.text, encoding="utf-8")
        elif "not run" in block.marks:
            continue
        elif not available(block.marks.get("needs")):
            outcome.missing.append(block.marks["needs"])
        elif block.language == "sh":
            printed = _run_commands(block, outcome)
        elif block.language == "python":
            _run_python(block, names, outcome)
        elif block.language == "text" and shown is not None and not matches(block.text, *shown):
            told = f"line {block.line} shows\n{block.text}\nbut this is printed:\n{shown[0]}"
            outcome.wrong.append(told)
            outcome.printed[block.line] = shown[0]
    return outcome


def available(name: str | None) -> bool:
    """Whether a module or a program is there."""
    return name is None or importlib.util.find_spec(name) is not None or shutil.which(name) is not None


def _run_commands(block: Block, outcome: Outcome) -> tuple[str, bool] | None:
    try:
        listed = list(commands(block.text))
    except ValueError as error:
        outcome.wrong.append(f"line {block.line}: {error}")
        return None
    printed = ""
    for place, arguments in enumerate(listed, 1):
        done = CliRunner().invoke(cli, arguments, prog_name="symdipa")
        outcome.commands += 1
        printed += done.output
        expected = int(block.marks.get("status", 0)) if place == len(listed) else 0
        if done.exit_code != expected:
            command = shlex.join(["symdipa", *arguments])
            said = f"status {done.exit_code} instead of {expected}"
            outcome.wrong.append(f"line {block.line}: {command}: {said}\n{done.output}{done.exception or ''}")
    return (printed, "numbers vary" in block.marks) if listed else None


def _run_python(block: Block, names: dict[str, object], outcome: Outcome) -> None:
    outcome.commands += 1
    sys.path.insert(0, str(Path.cwd()))  # as for a file in this folder
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            name = f"line {block.line}"
            lines = block.text.splitlines(True)
            linecache.cache[name] = len(block.text), None, lines, name  # as notebooks do
            exec(compile(block.text, name, "exec"), names)
    except Exception as error:
        outcome.wrong.append(f"line {block.line}: {type(error).__name__}: {error}")
    finally:
        sys.path.pop(0)
        for file in Path.cwd().glob("*.py"):
            sys.modules.pop(file.stem, None)


def prepare(folder: Path) -> None:
    """What the commands of a page find where they are run."""
    shutil.copytree(EXAMPLES, folder / "examples")


def rewritten(page: str, outcome: Outcome) -> str:
    """The page with what its commands print now."""
    lines = page.splitlines(keepends=True)
    for block in reversed(list(blocks(page))):
        now = outcome.printed.get(block.line)
        if now is not None:
            shown = block.text.splitlines(keepends=True)
            lines[block.line : block.line + len(shown)] = _renewed(shown, now.splitlines(keepends=True))
    return "".join(lines)


def _renewed(shown: list[str], printed: list[str]) -> list[str]:
    """The lines of a block, with what is printed now in place of what it shows between ``...``.

    They are left as they are where a piece begins or ends with a line that is not printed any more.
    """
    if GAP not in shown:
        return printed
    renewed, rest = [], printed
    for is_gap, group in groupby(shown, GAP.__eq__):
        piece = list(group)
        if not is_gap:
            try:
                start = rest.index(piece[0])
                end = start + rest[start:].index(piece[-1]) + 1
            except ValueError:
                return shown
            piece, rest = rest[start:end], rest[end:]
        renewed += piece
    return renewed


def main(names: list[str]) -> None:
    for page in [Path(name).resolve() for name in names] or PAGES:
        text = page.read_text(encoding="utf-8")
        outcome = run_afresh(text)
        page.write_text(rewritten(text, outcome), encoding="utf-8")
        again = run_afresh(page.read_text(encoding="utf-8")).wrong if outcome.wrong else []
        for wrong in again:
            print(f"{page.name}, left to you: {wrong}")


def run_afresh(page: str) -> Outcome:
    """Run a page in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        prepare(Path(folder))
        return run(page)


if __name__ == "__main__":
    main(sys.argv[1:])
