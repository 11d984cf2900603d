"""What all commands share: statuses, reading, showing and writing."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, NoReturn

import click

from symdipa.interface.failures import Exit as Exit
from symdipa.interface.failures import missing_package
from symdipa.interface.saving import SUFFIXES, OutputRefused, check_output, replace_file
from symdipa.model.errors import InvalidInput, LimitReached, SymdipaError
from symdipa.model.limits import UNLIMITED, Limits
from symdipa.model.options import CheckOptions

if TYPE_CHECKING:
    from symdipa.interface.reports import document as reports
    from symdipa.model.adjacency.differ import Differ
    from symdipa.model.automaton import Automaton
    from symdipa.model.limits import Progress
    from symdipa.model.verdict import Result


PRECEDENCE = (Exit.BUG, Exit.UNUSABLE, Exit.NOT_PRIVATE, Exit.UNKNOWN, Exit.PRIVATE)
WRITTEN = ("dipa", "json", "dot", "svg")
"""The formats in which automata are written."""
LEAST_SECONDS = 1e-3
"""What is left of a time that is over, for work that then says so."""
FEW = 6
"""So many files are named in a message."""
LEAST_WIDTH = 40
"""Prose is not wrapped at less, however narrow the terminal is."""
FILES_HELP = """A folder among FILE... stands for the automata in it; folders in it are not searched.
FILE.py stands for all mechanisms in it, FILE.py:NAME for one.

\b
Exit status: 0 every file private (and within the budget); 1 some file not private,
or proved to need more than the budget; 2 some input unusable, or wrong usage; 3
something undecided; 4 a bug in symdipa (engines disagree). The first of 4, 2, 1, 3, 0
that occurred; 130 after Ctrl-C."""
"""The end of the help of a command that takes several files."""


class Unusable(click.ClickException):
    """Something the user gave cannot be used: exit status 2, as for wrong usage."""

    exit_code = Exit.UNUSABLE


def leave(status: Exit) -> NoReturn:
    """End the command with this exit status."""
    click.get_current_context().exit(status)


def leave_unknown(name: str, limit: LimitReached) -> NoReturn:
    """End the command because a limit was reached."""
    click.echo(f"{shown(name)}: unknown: {limit}", err=True)
    leave(Exit.UNKNOWN)


@contextmanager
def usable(output: Target | None = None) -> Iterator[None]:
    """What fails inside, writing ``output`` included, is something of the user's that cannot be used."""
    try:
        yield
    except SymdipaError as error:
        raise Unusable(str(error)) from error
    except OSError as error:
        if output is None:
            raise
        raise Unusable(f"cannot write {output.name}: {error.strerror}") from error


@dataclass(frozen=True)
class View:
    """How results are shown."""

    as_json: bool = False
    verbosity: int = 0


Decide = Callable[["Automaton", CheckOptions, "Progress | None"], "Result"]
"""Decides one automaton; the options have what reading it has left of the time."""
Show = Callable[[str, "Result", View], Exit | None]
"""Shows what was found; an exit status that it returns stands for that of the verdict."""


def run(
    files: tuple[str, ...], reading: Reading, options: CheckOptions, decide: Decide, view: View, show: Show
) -> None:
    """Read, decide and show every file, then leave with the status that sums them up."""
    reading.check_usage(files)
    occurred = set()
    for place, name in enumerate(files):
        if place and view.verbosity >= 0 and not view.as_json:
            click.echo()
        occurred.add(run_one(name, reading, options, decide, view, show))
    leave_with(occurred)


def leave_with(occurred: set[Exit]) -> NoReturn:
    """End the command with the status that sums up those of its files."""
    leave(next(status for status in PRECEDENCE if status in occurred))


def run_one(
    name: str, reading: Reading, options: CheckOptions, decide: Decide, view: View, show: Show
) -> Exit:
    limits = Limits.of(options.timeout, options.memory)
    try:
        automaton = reading.read(name, limits)
    except InvalidInput as error:
        show_problems(name, error, view)
        return Exit.UNUSABLE
    except (LimitReached, MemoryError) as limit:
        return show_limit(name, limit, view)
    try:
        with showing_progress(name, view) as progress:
            result = decide(automaton, what_is_left(options, limits), progress)
    except InvalidInput as error:
        show_problems(name, error, view)
        return Exit.UNUSABLE
    except Exception as error:
        return show_failure(name, error, view)
    answer = show(name, result, view)
    if view.verbosity < 0 and not view.as_json:  # the report has one line; this must be seen all the same
        echo_notes(name, [str(note) for note in result.notes if note.is_doubt])
    return status(result) if answer is None else answer


def what_is_left(options: CheckOptions, limits: Limits) -> CheckOptions:
    """The options with the time that is left of them."""
    left = limits.left()
    return options if left is None else replace(options, timeout=max(left, LEAST_SECONDS))


def status(result: Result) -> Exit:
    from symdipa.model.verdict import Verdict

    if result.contradictions:
        return Exit.BUG
    return {
        Verdict.PRIVATE: Exit.PRIVATE,
        Verdict.NOT_PRIVATE: Exit.NOT_PRIVATE,
        Verdict.NOT_WELL_FORMED: Exit.UNKNOWN,
        Verdict.UNKNOWN: Exit.UNKNOWN,
    }[result.verdict]


def within_budget(result: Result, budget: Fraction | None) -> tuple[Exit | None, tuple[str, ...]]:
    """The exit status that ``--max-weight`` makes of a private automaton, and what is to be said about it."""
    from symdipa.interface.reports.check import budget_note
    from symdipa.model.verdict import Bounds

    if budget is None or status(result) is not Exit.PRIVATE:
        return None, ()
    bounds = result.bounds or Bounds()
    note = budget_note(bounds, budget)
    if note is None:
        return None, ()
    needs_more = bounds.needed is not None and bounds.needed > budget
    return Exit.NOT_PRIVATE if needs_more else Exit.UNKNOWN, (note,)


def echo_document(document: reports.Document) -> None:
    """Print a report, its headline in bold and in the colour of the answer."""
    from symdipa.interface.reports.document import as_text

    text, head = as_text(document, width()), document.headline
    if head is not None:
        first, newline, rest = text.partition("\n")
        text = click.style(first, fg=head.tone and head.tone.terminal_colour, bold=True) + newline + rest
    click.echo(text)


def width() -> int:
    """Where the prose of reports is wrapped: at the width of the terminal if that is less than usual. What
    goes elsewhere does not depend on a terminal."""
    from symdipa.interface.reports.document import WIDTH

    if not sys.stdout.isatty():
        return WIDTH
    return max(LEAST_WIDTH, min(WIDTH, get_terminal_size().columns))


def show_problems(name: str, error: InvalidInput, view: View) -> None:
    if view.as_json:
        from symdipa.interface.reports import objects

        click.echo(json.dumps(objects.error(name, error.problems)))
    else:
        echo_problems(shown(name), error)


def echo_problems(name: str, error: InvalidInput) -> None:
    from symdipa.interface.reports import check as report

    for line in report.problem_lines(name, error.problems):
        click.echo(line, err=True)


def show_limit(name: str, limit: LimitReached | MemoryError, view: View) -> Exit:
    """Say what ended the work on a file before there was an answer; other files are still decided."""
    reason = "out of memory" if isinstance(limit, MemoryError) else str(limit)
    if view.as_json:
        from symdipa.interface.reports import objects

        click.echo(json.dumps(objects.unread(name, reason)))
    else:
        click.echo(f"{shown(name)}: unknown: {reason}")
    return Exit.UNKNOWN


def show_failure(name: str, error: Exception, view: View) -> Exit:
    """Say what must not happen, or that the machine is too small; other files are still decided.

    What concerns all files is raised again: output that cannot be written, a package that is missing.
    """
    if isinstance(error, OSError) or missing_package(error):
        raise error
    if isinstance(error, MemoryError):
        return show_limit(name, error, view)
    import traceback

    from symdipa.interface.reports import check as report
    from symdipa.model.errors import InputProblem

    message = f"internal error, {report.BUG}: {type(error).__name__}: {error}"
    if view.as_json:
        from symdipa.interface.reports import objects

        click.echo(json.dumps(objects.error(name, [InputProblem("internal", message)])))
    else:
        click.echo(f"{shown(name)}: {message}", err=True)
    if view.verbosity > 0:
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    return Exit.BUG


@contextmanager
def showing_progress(name: str, view: View) -> Iterator[Progress | None]:
    """On a terminal, a line on standard error that says what is being done and vanishes afterwards."""
    if view.verbosity < 0 or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape

    label = escape(shown(name))
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
    halt: str | None
    settings: tuple[tuple[str, Any], ...] = ()
    """The parameters of programs."""
    differ: Differ | None = None

    def check_usage(self, files: tuple[str, ...]) -> None:
        if "-" in files and self.fmt is None:
            raise click.UsageError("standard input (-) needs --format dipa or --format json")
        if files.count("-") > 1:
            raise click.UsageError("standard input (-) can be read only once")

    def read(self, name: str, limits: Limits = UNLIMITED) -> Automaton:
        """What is in a file; raises :class:`InvalidInput` and :class:`LimitReached`."""
        from symdipa.files import formats
        from symdipa.programs.loading import is_program, read_program

        if is_program(name):
            if self.fmt is not None:
                raise click.UsageError(f"{shown(name)} is a program; leave out --format")
            return read_program(name, dict(self.settings), self.halt, limits, self.differ)
        if self.settings:
            raise click.UsageError(f"--set is for programs, and {shown(name)} is none")
        if name != "-":
            return formats.read_file(
                name, fmt=self.fmt, strict=self.strict, halt=self.halt, limits=limits, differ=self.differ
            )
        data = formats.content(sys.stdin.buffer, shown(name), limits)
        fmt = self.fmt or "dipa"
        return formats.read(data, fmt, shown(name), self.strict, self.halt, limits, self.differ)

    def read_or_leave(self, name: str, limits: Limits = UNLIMITED) -> Automaton:
        """The automaton, with remarks about it on standard error; problems and limits end the command."""
        self.check_usage((name,))
        try:
            automaton = self.read(name, limits)
        except InvalidInput as error:
            echo_problems(shown(name), error)
            leave(Exit.UNUSABLE)
        except LimitReached as limit:
            leave_unknown(name, limit)
        echo_notes(name, map(str, automaton.notes))
        return automaton


def echo_notes(name: str, notes: Iterable[str]) -> None:
    for note in notes:
        click.echo(f"{shown(name)}: note: {note}", err=True)


def shown(name: str) -> str:
    return "<stdin>" if name == "-" else click.format_filename(name)


def shown_names(names: Sequence[str]) -> str:
    """A list of files, of many the first ones."""
    few = [shown(name) for name in names[:FEW]]
    return ", ".join(few) + (f" and {len(names) - FEW} more" if len(names) > FEW else "")


INPUTS = ("file", "files", "paths", "certificate")
"""The arguments of commands that name files to be read."""


@dataclass(frozen=True)
class Target:
    """Where a command writes: a file, or standard output (``None``)."""

    path: Path | None = None
    force: bool = False

    @property
    def suffix(self) -> str:
        return "" if self.path is None else self.path.suffix.lower()

    @property
    def name(self) -> str:
        return "standard output" if self.path is None else shown(str(self.path))

    def will_hold(self, fmt: str) -> None:
        """Complain if this format cannot be written here, before anything is computed."""
        if self.path is None:
            return
        from symdipa.programs.loading import file_of

        given = click.get_current_context().params
        inputs: list[str] = []
        for argument in INPUTS:
            value = given.get(argument) or ()
            inputs += map(file_of, map(str, value if isinstance(value, tuple) else [value]))
        try:
            check_output(self.path, fmt, inputs, self.force)
        except OutputRefused as refused:
            raise click.UsageError(str(refused)) from refused

    def automaton_format(self, to: str | None) -> str | None:
        """The format of an automaton that is written here: ``to``, or what the suffix stands for, if any."""
        if to is not None or not self.suffix:
            return to
        meant = [fmt for fmt in SUFFIXES.get(self.suffix, ()) if fmt in WRITTEN]
        if not meant:
            known = ", ".join(s for s, formats in SUFFIXES.items() if set(formats) & set(WRITTEN))
            raise click.UsageError(
                f"{self.suffix} is the suffix of no format that is written; there are {known} (or give --to)"
            )
        return meant[0]

    def write(self, data: str | bytes, what: str | None = None) -> None:
        """Write a text or other data, and tell that ``what`` is in a file now."""
        text = isinstance(data, str)
        if self.path is None:
            click.echo(data, nl=isinstance(data, str) and not data.endswith("\n"))
            return
        content = data.encode() if isinstance(data, str) else data
        with usable(self):
            replace_file(self.path, content if not text or content.endswith(b"\n") else content + b"\n")
        if what is not None:
            self.tell(what)

    def tell(self, what: str) -> None:
        click.echo(f"wrote {what} to {self.name}", err=True)


def in_a_line(error: InvalidInput) -> str:
    """The first problem, and how many more there are."""
    from symdipa.model.spelling import counted

    more = len(error.problems) - 1
    return error.problems[0].message + (f" (and {counted(more, 'more problem')})" if more else "")


def written_as(automaton: Automaton, fmt: str) -> str:
    if fmt != "svg":
        from symdipa.files import formats

        try:
            return formats.dumps(automaton, fmt)
        except InvalidInput as error:
            raise Unusable(in_a_line(error)) from error
    from symdipa.interface import showing
    from symdipa.interface.pictures.automaton import PictureTooLarge

    try:
        return showing.picture(automaton)
    except PictureTooLarge as error:
        raise Unusable(f"no picture: {error}") from error
