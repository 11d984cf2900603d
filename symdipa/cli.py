"""The command line. Commands are thin: read, decide, report; everything heavy is imported when used."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symdipa import __version__
from symdipa.errors import InvalidInput, SymdipaError

if TYPE_CHECKING:
    from symdipa.automaton import Automaton
    from symdipa.formats import Document
    from symdipa.hints import Hint
    from symdipa.patterns import Pattern
    from symdipa.verdict import Result


class Exit(IntEnum):
    """What the exit status says; with several files the first of ``PRECEDENCE`` that occurred."""

    PRIVATE = 0
    NOT_PRIVATE = 1
    UNUSABLE = 2
    UNKNOWN = 3
    BUG = 4
    INTERRUPTED = 130
    BROKEN_PIPE = 141


PRECEDENCE = (Exit.BUG, Exit.UNUSABLE, Exit.NOT_PRIVATE, Exit.UNKNOWN, Exit.PRIVATE)
SUFFIXES = {".dipa": "dipa", ".json": "json", ".dot": "dot", ".gv": "dot", ".svg": "svg"}
STATUS_HELP = """\b
Exit status: 0 every file private; 1 some file not private or not well-formed;
2 some input unusable, or wrong usage; 3 some verdict unknown; 4 a bug in symdipa
(engines disagree). The first of 4, 2, 1, 3, 0 that occurred; 130 after Ctrl-C."""


class Unusable(click.ClickException):
    """Something the user gave cannot be used: exit status 2, as for wrong usage."""

    exit_code = Exit.UNUSABLE


class Commands(click.Group):
    """The group of commands; it leaves quietly when the reader of its output has gone, or on Ctrl-C."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Somebody who only names a file, or misspells a command, is told what to write."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            if Path(name).suffix in (".dipa", ".json") or Path(name).exists():
                raise click.UsageError(
                    f"there is no command {name!r}; to decide a file: symdipa check {name}"
                )
            from symdipa.spelling import Dictionary

            meant = Dictionary(self.commands).closest(name)
            hint = f"did you mean {meant}?" if meant else f"there are {', '.join(self.list_commands(ctx))}"
            raise click.UsageError(f"there is no command {name!r}; {hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        if os.environ.get("NO_COLOR"):
            ctx.color = False
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Python flushes standard output once more when it ends: give it something that takes it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(Exit.BROKEN_PIPE)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(Exit.INTERRUPTED)


class Generate(click.Command):
    """A command whose N may look like an option because of its sign."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, list(args))  # it empties the list
        except click.NoSuchOption:
            negative = next((arg for arg in args if re.fullmatch(r"-\d+", arg)), None)
            if negative is None:
                raise
            raise click.UsageError(f"N must be a positive number, not {negative}", ctx) from None


def _seconds(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """A time span must be positive and finite."""
    if value is not None and not 0 < value < math.inf:
        raise click.BadParameter(f"{value} is not a positive number of seconds")
    return value


def _bytes(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """A size in bytes; ``K``, ``M``, ``G`` or ``T`` (and ``B``) may stand behind it, in powers of 1024."""
    if value is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", value.strip(), re.IGNORECASE)
    size = int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " ")) if found else 0
    if size <= 0:
        raise click.BadParameter(f"{value!r} is not a size like 500M or 2G")
    return size


def _patterns(
    ctx: click.Context, param: click.Parameter, value: str | tuple[str, ...] | None
) -> Pattern | tuple[Pattern, ...] | None:
    """Patterns by their two letters or by their names: ``LP``, ``leaking-pair``."""
    from symdipa.patterns import Pattern

    if value is None:
        return None
    if isinstance(value, tuple):
        return tuple(found for each in value if isinstance(found := _patterns(ctx, param, each), Pattern))
    wanted = value.lower().replace("_", "-").replace(" ", "-")
    for pattern in Pattern:
        if wanted in (pattern.short.lower(), pattern.key):
            return pattern
    known = ", ".join(f"{pattern.short} ({pattern.key})" for pattern in Pattern)
    raise click.BadParameter(f"{value!r} is not a pattern; there are {known}")


def _option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    return click.option(*names, **settings)


_engine = _option(
    "--engine",
    type=click.Choice(["auto", "explicit", "z3", "both"]),
    default="auto",
    show_default=True,
    help="What decides; both: explicit and z3, which must agree.",
)
_solver = _option(
    "--solver",
    type=click.Choice(["z3", "minisat", "glucose", "cadical"]),
    help="What the symbolic search runs on; default: z3, and minisat for auto.",
)
_slicing = _option(
    "--slicing/--no-slicing",
    default=True,
    show_default=True,
    help="Look at one group of connected variables at a time (but for --engine explicit).",
)
_files = click.argument("files", nargs=-1, required=True, metavar="FILE...")
_format = _option(
    "--format", "fmt", type=click.Choice(["dipa", "json"]), help="Format of the input; else told by its name."
)
_strict = _option(
    "--strict", is_flag=True, help="Branches whose guards overlap, and names that look misspelt, are errors."
)
_json = _option("--json", "as_json", is_flag=True, help="One JSON object per file and line.")
_bound = _option(
    "--bound", type=click.IntRange(min=1), metavar="N", help="Unroll at most N steps (symbolic search only)."
)
_timeout = _option(
    "--timeout", type=float, callback=_seconds, metavar="SECONDS", help="Give up on a file after this long."
)
_memory = _option(
    "--memory",
    callback=_bytes,
    metavar="SIZE",
    help="Give up on a file beyond this much memory, as 500M or 2G (Linux).",
)
_encoding = _option(
    "--encoding",
    type=click.Choice(["ghost", "marks"]),
    default="marks",
    show_default=True,
    help="How the symbolic search looks for leaking pairs and violating paths.",
)
_output = _option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write here (an existing file is overwritten) instead of standard output.",
)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: symdipa check examples/well_formed/svt.dipa",
)
@click.version_option(__version__, prog_name="symdipa")
def cli() -> None:
    """Decide whether a noisy online algorithm is differentially private.

    The algorithm is given as a DiP automaton in a small text language. An answer is a proof, with the
    privacy cost D, or a run that shows how privacy is lost.
    """


# ------------------------------------------------------------------------------------------- deciding


@dataclass(frozen=True)
class View:
    """How results are shown."""

    as_json: bool
    verbosity: int
    several: bool

    @property
    def shows_progress(self) -> bool:
        return self.verbosity >= 0 and sys.stderr.isatty()


@cli.command(epilog=STATUS_HELP, short_help="Decide whether automata are private.")
@_files
@_engine
@_encoding
@_solver
@_option(
    "--pattern",
    "patterns",
    callback=_patterns,
    metavar="LC|LP|DC|PV",
    multiple=True,
    help="Look only for this pattern (may be repeated; or its name, as leaking-pair); default: all four.",
)
@_slicing
@_bound
@_timeout
@_memory
@_strict
@_format
@_json
@_option("-q", "--quiet", is_flag=True, help="One line per file.")
@_option("-v", "--verbose", count=True, help="Also the noise of every step, times and sizes.")
@click.pass_context
def check(
    ctx: click.Context,
    files: tuple[str, ...],
    engine: str,
    encoding: str,
    solver: str | None,
    patterns: tuple[Pattern, ...],
    slicing: bool,
    bound: int | None,
    timeout: float | None,
    memory: int | None,
    strict: bool,
    fmt: str | None,
    as_json: bool,
    quiet: bool,
    verbose: int,
) -> None:
    """Decide whether the automata in FILE... are private ("-" reads standard input).

    \b
    Examples: symdipa check examples/well_formed/svt.dipa
              symdipa check --json --timeout 60 *.dipa
    """

    def decide(automaton: Automaton, progress: Callable[[str], None] | None) -> Result:
        from symdipa import analysis

        return analysis.check(
            automaton,
            engine,
            encoding=encoding,
            solver=solver,
            slicing=slicing,
            patterns=patterns or None,
            bound=bound,
            timeout=timeout,
            memory=memory,
            progress=progress,
        )

    view = View(as_json, -1 if quiet else verbose, len(files) > 1)
    _run(ctx, files, Reading(fmt, strict), decide, view, _show_check)


@cli.command(epilog=STATUS_HELP, short_help="Decide with every engine side by side.")
@_files
@_bound
@_timeout
@_memory
@_strict
@_format
@_json
@click.pass_context
def compare(
    ctx: click.Context,
    files: tuple[str, ...],
    bound: int | None,
    timeout: float | None,
    memory: int | None,
    strict: bool,
    fmt: str | None,
    as_json: bool,
) -> None:
    """Decide with every engine side by side and say whether they agree.

    Example: symdipa compare examples/leaking_pair/a_leakp.dipa
    """

    def decide(automaton: Automaton, progress: Callable[[str], None] | None) -> Result:
        from symdipa import analysis

        return analysis.compare(automaton, bound=bound, timeout=timeout, memory=memory, progress=progress)

    _run(ctx, files, Reading(fmt, strict), decide, View(as_json, 0, len(files) > 1), _show_comparison)


HINT_SECONDS = 5.0
"""How long one changed automaton may be looked at, and how often that long all of them together."""
HINT_SHARE = 3


@cli.command(epilog=STATUS_HELP, short_help="Show how privacy is lost, and what would help.")
@_files
@_option(
    "--pattern",
    callback=_patterns,
    metavar="LC|LP|DC|PV",
    help="Show this pattern (or by its name, as leaking-pair), and look for no other.",
)
@_option(
    "--hints/--no-hints",
    "wants_hints",
    default=True,
    show_default=True,
    help="Try changes that could repair the automaton.",
)
@_engine
@_encoding
@_solver
@_slicing
@_bound
@_timeout
@_memory
@_strict
@_format
@_json
@click.pass_context
def witness(
    ctx: click.Context,
    files: tuple[str, ...],
    pattern: Pattern | None,
    wants_hints: bool,
    engine: str,
    encoding: str,
    solver: str | None,
    slicing: bool,
    bound: int | None,
    timeout: float | None,
    memory: int | None,
    strict: bool,
    fmt: str | None,
    as_json: bool,
) -> None:
    """Show the run on which privacy is lost: in words, step by step, and what would help.

    The run is checked against the definitions before it is shown. Of a private automaton it is said why
    there is no such run.

    \b
    Examples: symdipa witness examples/leaking_pair/svt_no_cutoff.dipa
              symdipa witness --pattern LP --json examples/leaking_pair/a_leakp.dipa
    """

    def decide(automaton: Automaton, progress: Callable[[str], None] | None) -> Result:
        from symdipa import analysis

        return analysis.check(
            automaton,
            engine,
            encoding=encoding,
            solver=solver,
            slicing=slicing,
            patterns=None if pattern is None else (pattern,),
            bound=bound,
            timeout=timeout,
            memory=memory,
            progress=progress,
        )

    def show(name: str, result: Result, notes: tuple[str, ...], view: View) -> None:
        from symdipa import report

        hints = _hints(result, timeout) if wants_hints else None
        if view.as_json:
            click.echo(json.dumps(report.json_told(name, result, hints, notes)))
        else:
            _echo_report(report.witness_text(_shown(name), result, pattern, hints, notes), result)

    _run(ctx, files, Reading(fmt, strict), decide, View(as_json, 0, len(files) > 1), show)


def _hints(result: Result, timeout: float | None) -> list[Hint] | None:
    """Changes that help, each decided again; ``None`` where there is no violation."""
    import time

    from symdipa import analysis, hints

    each = HINT_SECONDS if timeout is None else min(HINT_SECONDS, timeout)
    deadline = time.monotonic() + HINT_SHARE * each

    def decide(automaton: Automaton) -> Result | None:
        left = deadline - time.monotonic()
        return analysis.check(automaton, timeout=min(each, left)) if left > 0 else None

    if result.witness is None:
        return None
    return hints.hints(result.automaton, result.witness, decide)


Decide = Callable[["Automaton", Callable[[str], None] | None], "Result"]
Show = Callable[[str, "Result", "tuple[str, ...]", View], None]


def _run(
    ctx: click.Context, files: tuple[str, ...], reading: Reading, decide: Decide, view: View, show: Show
) -> None:
    """Read, decide and show every file, then leave with the status that sums them up."""
    reading.check_usage(files)
    occurred = set()
    for place, name in enumerate(files):
        if place and view.verbosity >= 0 and not view.as_json:
            click.echo()
        occurred.add(_run_one(name, reading, decide, view, show))
    ctx.exit(next(status for status in PRECEDENCE if status in occurred))


def _run_one(name: str, reading: Reading, decide: Decide, view: View, show: Show) -> Exit:
    try:
        document = reading.read(name)
        with _progress(name, view) as progress:
            result = decide(document.automaton, progress)
    except InvalidInput as error:
        _show_problems(name, error, view)
        return Exit.UNUSABLE
    except BrokenPipeError:
        raise
    except Exception as error:
        return _show_failure(name, error, view)
    show(name, result, document.notes, view)
    if view.verbosity < 0 and not view.as_json:  # the report has one line; this must be seen all the same
        _echo_notes(name, document.doubts)
    return _status(result)


def _status(result: Result) -> Exit:
    from symdipa.verdict import Verdict

    if result.disagreements:
        return Exit.BUG
    return {
        Verdict.PRIVATE: Exit.PRIVATE,
        Verdict.NOT_PRIVATE: Exit.NOT_PRIVATE,
        Verdict.NOT_WELL_FORMED: Exit.NOT_PRIVATE,
        Verdict.UNKNOWN: Exit.UNKNOWN,
    }[result.verdict]


def _show_check(name: str, result: Result, notes: tuple[str, ...], view: View) -> None:
    from symdipa import report

    if view.as_json:
        click.echo(json.dumps(report.json_object(name, result, notes)))
    else:
        _echo_report(report.text(_shown(name), result, notes, view.verbosity), result)


def _show_comparison(name: str, result: Result, notes: tuple[str, ...], view: View) -> None:
    from symdipa import report

    if view.as_json:
        click.echo(json.dumps(report.json_comparison(name, result, notes)))
    else:
        _echo_report(report.comparison_text(_shown(name), result, notes), result)


def _echo_report(text: str, result: Result) -> None:
    """Print a report, its first line in the colour of the verdict."""
    colour = {Exit.PRIVATE: "green", Exit.UNKNOWN: "yellow"}.get(_status(result), "red")
    first, newline, rest = text.partition("\n")
    click.echo(click.style(first, fg=colour, bold=True) + newline + rest)


def _show_problems(name: str, error: InvalidInput, view: View) -> None:
    from symdipa import report

    if view.as_json:
        click.echo(json.dumps(report.json_error(name, error.problems)))
    else:
        _echo_problems(_shown(name), error)


def _echo_problems(name: str, error: InvalidInput) -> None:
    from symdipa import report

    for line in report.problem_lines(name, error.problems):
        click.echo(line, err=True)


def _show_failure(name: str, error: Exception, view: View) -> Exit:
    """Something that must not happen, or a machine that is too small; other files are still decided."""
    import traceback

    from symdipa import report
    from symdipa.errors import Problem

    limit = isinstance(error, MemoryError)
    message = "out of memory" if limit else f"internal error, {report.BUG}: {type(error).__name__}: {error}"
    if view.as_json:
        click.echo(json.dumps(report.json_error(name, [Problem("internal", message)])))
    else:
        click.echo(f"{_shown(name)}: {message}", err=True)
    if view.verbosity > 0:
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    return Exit.UNKNOWN if limit else Exit.BUG


@contextmanager
def _progress(name: str, view: View) -> Iterator[Callable[[str], None] | None]:
    """On a terminal, a line on standard error that says what is being done and vanishes afterwards."""
    if not view.shows_progress:
        yield None
        return
    from rich.console import Console
    from rich.markup import escape

    label = escape(_shown(name))
    with Console(stderr=True).status(label) as status:

        def show(message: str) -> None:
            status.update(f"{label}: {escape(message)}")

        yield show


# ---------------------------------------------------------------------------------- reading and writing


@dataclass(frozen=True)
class Reading:
    """How inputs are read."""

    fmt: str | None
    strict: bool

    def check_usage(self, files: tuple[str, ...]) -> None:
        if "-" in files and self.fmt is None:
            raise click.UsageError("standard input (-) needs --format dipa or --format json")
        if files.count("-") > 1:
            raise click.UsageError("standard input (-) can be read only once")

    def read(self, name: str) -> Document:
        from symdipa import formats

        if name != "-":
            return formats.read_file(name, fmt=self.fmt, strict=self.strict)
        data = sys.stdin.buffer.read()
        return formats.read(data, self.fmt or "dipa", "<stdin>", self.strict)

    def read_or_leave(self, ctx: click.Context, name: str) -> Automaton:
        """The automaton, with remarks about it on standard error; problems end the command."""
        self.check_usage((name,))
        try:
            document = self.read(name)
        except InvalidInput as error:
            _echo_problems(_shown(name), error)
            ctx.exit(Exit.UNUSABLE)
        _echo_notes(name, document.notes)
        return document.automaton


def _echo_notes(name: str, notes: tuple[str, ...]) -> None:
    for note in notes:
        click.echo(f"{_shown(name)}: note: {note}", err=True)


def _shown(name: str) -> str:
    return "<stdin>" if name == "-" else click.format_filename(name)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text, nl=not text.endswith("\n"))
        return
    try:
        output.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
    except OSError as error:
        raise Unusable(f"cannot write {_shown(str(output))}: {error.strerror}") from error


def _told_by_suffix(output: Path | None) -> str | None:
    """The format that the suffix of an output file stands for; ``None`` if there is none."""
    if output is None or not output.suffix:
        return None
    if output.suffix.lower() not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise click.UsageError(
            f"{output.suffix} is the suffix of no format that is written; there are {known} (or give --to)"
        )
    return SUFFIXES[output.suffix.lower()]


def _written_as(automaton: Automaton, fmt: str) -> str:
    from symdipa import formats

    return _svg(formats.dumps(automaton, "dot")) if fmt == "svg" else formats.dumps(automaton, fmt)


def _svg(dot: str) -> str:
    """The drawing of a graph, by the program ``dot`` of Graphviz."""
    import shutil
    import subprocess

    program = shutil.which("dot")
    if program is None:
        raise Unusable(
            "SVG is drawn by Graphviz, whose program 'dot' was not found: install the package graphviz, "
            "or use --to dot"
        )
    done = subprocess.run([program, "-Tsvg"], input=dot.encode(), capture_output=True, check=False)
    if done.returncode:
        raise Unusable(f"Graphviz failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode()


@cli.command(short_help="Write an automaton in another format.")
@click.argument("file")
@_option(
    "--to",
    type=click.Choice(["dipa", "json", "dot", "svg"]),
    help="Format to write; default: told by the suffix of the -o file.",
)
@_output
@_strict
@_format
@click.pass_context
def convert(
    ctx: click.Context, file: str, to: str | None, output: Path | None, strict: bool, fmt: str | None
) -> None:
    """Write the automaton in FILE in another format.

    svg needs Graphviz.

    Example: symdipa convert examples/well_formed/svt.dipa --to json -o svt.json
    """
    target = to or _told_by_suffix(output)
    if target is None:
        raise click.UsageError("say with --to which format to write")
    _write(_written_as(Reading(fmt, strict).read_or_leave(ctx, file), target), output)


@cli.command(cls=Generate, short_help="Write a benchmark automaton of a family.")
@click.argument("family", required=False)
@click.argument("number", type=int, required=False, metavar="N")
@_option("--list", "list_families", is_flag=True, help="List the families and leave.")
@_option(
    "--to",
    type=click.Choice(["dipa", "json", "dot", "svg"]),
    help="Format to write; default: told by the suffix of the -o file, else dipa.",
)
@_output
@click.pass_context
def generate(
    ctx: click.Context,
    family: str | None,
    number: int | None,
    list_families: bool,
    to: str | None,
    output: Path | None,
) -> None:
    """Write the benchmark automaton number N of FAMILY.

    Example: symdipa generate m-range 80 -o m_range_80.dipa
    """
    from symdipa import families

    if list_families:
        for known in families.FAMILIES.values():
            click.echo(f"{known.name:<15} {known.summary}; N = {known.size}; {known.answer}")
        return
    if family is None or number is None:
        raise click.UsageError("needs FAMILY and N; symdipa generate --list shows the families")
    try:
        automaton = families.generate(family, number)
    except InvalidInput as error:
        raise click.UsageError(error.problems[0].message) from error
    target = to or _told_by_suffix(output) or "dipa"
    _write(_written_as(automaton, target), output)


@cli.command(short_help="Write a symbolic query for another solver.")
@click.argument("file")
@_option(
    "--pattern",
    callback=_patterns,
    metavar="LC|LP|DC|PV",
    required=True,
    help="The pattern that the query asks for (or its name, as leaking-pair).",
)
@_option(
    "--bound",
    type=click.IntRange(min=1),
    required=True,
    metavar="N",
    help="Longest run that the query covers, in steps.",
)
@_option("--to", type=click.Choice(["smtlib"]), default="smtlib", show_default=True, help="Format to write.")
@_encoding
@_output
@_strict
@_format
@click.pass_context
def encode(
    ctx: click.Context,
    file: str,
    pattern: Pattern,
    bound: int,
    to: str,
    encoding: str,
    output: Path | None,
    strict: bool,
    fmt: str | None,
) -> None:
    """Write the question "does FILE have this pattern within N steps?" for another solver.

    The query is satisfiable exactly if the answer is yes.

    Example: symdipa encode examples/leaking_pair/a_leakp.dipa --pattern LP --bound 8
    """
    automaton = Reading(fmt, strict).read_or_leave(ctx, file)
    from symdipa import query

    try:
        text = query.encode(automaton, pattern, bound, encoding=encoding, fmt=to)
    except SymdipaError as error:
        raise Unusable(str(error)) from error
    _write(text, output)
