"""What all commands share: statuses, reading, showing and writing."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, NoReturn

import click

from symdipa.interface.missing import missing_package
from symdipa.model.errors import InvalidInput, SymdipaError

if TYPE_CHECKING:
    from symdipa.interface.reports import document as reports
    from symdipa.model.automaton import Automaton
    from symdipa.model.limits import Progress
    from symdipa.model.verdict import Result


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
WRITTEN = tuple(dict.fromkeys(SUFFIXES.values()))
"""The formats in which automata are written, by the suffixes of files."""
LEAST_WIDTH = 40
"""Prose is not wrapped at less, however narrow the terminal is."""
STATUS_HELP = """\b
Exit status: 0 every file private (and within the budget); 1 some file not private,
or proved to need more than the budget; 2 some input unusable, or wrong usage; 3
something undecided; 4 a bug in symdipa (engines disagree). The first of 4, 2, 1, 3, 0
that occurred; 130 after Ctrl-C."""


class Unusable(click.ClickException):
    """Something the user gave cannot be used: exit status 2, as for wrong usage."""

    exit_code = Exit.UNUSABLE


def leave(status: Exit) -> NoReturn:
    """End the command with this exit status."""
    click.get_current_context().exit(status)


@contextmanager
def usable(output: Path | None = None) -> Iterator[None]:
    """What fails inside, writing ``output`` included, is something of the user's that cannot be used."""
    try:
        yield
    except SymdipaError as error:
        raise Unusable(str(error)) from error
    except OSError as error:
        if output is None:
            raise
        raise Unusable(f"cannot write {shown(str(output))}: {error.strerror}") from error


def no_such(kind: str, name: str, known: list[str]) -> click.UsageError:
    """The complaint about a name that nothing has, with the one that was meant or those that there are."""
    from symdipa.model.spelling import similar

    meant = similar(name, known)
    hint = f"did you mean {meant}?" if meant else f"there are {', '.join(known) or 'none'}"
    return click.UsageError(f"there is no {kind} {name!r}; {hint}")


@dataclass(frozen=True)
class View:
    """How results are shown."""

    as_json: bool = False
    verbosity: int = 0


Decide = Callable[["Automaton", "Progress | None"], "Result"]
Show = Callable[[str, "Result", View], Exit | None]
"""Shows what was found; an exit status that it returns stands for that of the verdict."""


def run(files: tuple[str, ...], reading: Reading, decide: Decide, view: View, show: Show) -> None:
    """Read, decide and show every file, then leave with the status that sums them up."""
    reading.check_usage(files)
    occurred = set()
    for place, name in enumerate(files):
        if place and view.verbosity >= 0 and not view.as_json:
            click.echo()
        occurred.add(run_one(name, reading, decide, view, show))
    leave_with(occurred)


def leave_with(occurred: set[Exit]) -> NoReturn:
    """End the command with the status that sums up those of its files."""
    leave(next(status for status in PRECEDENCE if status in occurred))


def run_one(name: str, reading: Reading, decide: Decide, view: View, show: Show) -> Exit:
    try:
        automaton = reading.read(name)
        with showing_progress(name, view) as progress:
            result = decide(automaton, progress)
    except InvalidInput as error:
        show_problems(name, error, view)
        return Exit.UNUSABLE
    except Exception as error:
        return show_failure(name, error, view)
    answer = show(name, result, view)
    if view.verbosity < 0 and not view.as_json:  # the report has one line; this must be seen all the same
        echo_notes(name, [str(note) for note in result.notes if note.is_doubt])
    return status(result) if answer is None else answer


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


def show_failure(name: str, error: Exception, view: View) -> Exit:
    """Say what must not happen, or that the machine is too small; other files are still decided.

    What concerns all files is raised again: nobody reads the output, or a package is missing.
    """
    if isinstance(error, BrokenPipeError) or missing_package(error):
        raise error
    import traceback

    from symdipa.interface.reports import check as report
    from symdipa.model.errors import InputProblem

    limit = isinstance(error, MemoryError)
    message = "out of memory" if limit else f"internal error, {report.BUG}: {type(error).__name__}: {error}"
    if view.as_json:
        from symdipa.interface.reports import objects

        click.echo(json.dumps(objects.error(name, [InputProblem("internal", message)])))
    else:
        click.echo(f"{shown(name)}: {message}", err=True)
    if view.verbosity > 0:
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    return Exit.UNKNOWN if limit else Exit.BUG


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

    def check_usage(self, files: tuple[str, ...]) -> None:
        if "-" in files and self.fmt is None:
            raise click.UsageError("standard input (-) needs --format dipa or --format json")
        if files.count("-") > 1:
            raise click.UsageError("standard input (-) can be read only once")

    def read(self, name: str) -> Automaton:
        from symdipa.files import formats

        if name != "-":
            return formats.read_file(name, fmt=self.fmt, strict=self.strict, halt=self.halt)
        data = sys.stdin.buffer.read()
        return formats.read(data, self.fmt or "dipa", "<stdin>", self.strict, self.halt)

    def read_or_leave(self, name: str) -> Automaton:
        """The automaton, with remarks about it on standard error; problems end the command."""
        self.check_usage((name,))
        try:
            automaton = self.read(name)
        except InvalidInput as error:
            echo_problems(shown(name), error)
            leave(Exit.UNUSABLE)
        echo_notes(name, map(str, automaton.notes))
        return automaton


def echo_notes(name: str, notes: Iterable[str]) -> None:
    for note in notes:
        click.echo(f"{shown(name)}: note: {note}", err=True)


def shown(name: str) -> str:
    return "<stdin>" if name == "-" else click.format_filename(name)


def write(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text, nl=not text.endswith("\n"))
        return
    write_bytes((text if text.endswith("\n") else text + "\n").encode(), output)


def write_bytes(data: bytes, output: Path | None) -> None:
    if output is None:
        click.echo(data, nl=False)
        return
    with usable(output):
        output.write_bytes(data)


def told_by_suffix(output: Path | None) -> str | None:
    """The format that the suffix of an output file stands for; ``None`` if there is none."""
    if output is None or not output.suffix:
        return None
    if output.suffix.lower() not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise click.UsageError(
            f"{output.suffix} is the suffix of no format that is written; there are {known} (or give --to)"
        )
    return SUFFIXES[output.suffix.lower()]


def written_as(automaton: Automaton, fmt: str) -> str:
    if fmt != "svg":
        from symdipa.files import formats

        return formats.dumps(automaton, fmt)
    from symdipa.interface.pictures import automaton as pictures
    from symdipa.interface.pictures import svg

    try:
        return svg.standalone(pictures.draw(automaton), pictures.label_of(automaton))
    except pictures.PictureTooLarge as error:
        raise Unusable(f"no picture: {error}") from error
