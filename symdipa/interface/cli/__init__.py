"""The command line. Commands are thin: read, call the library, show; only the one that runs is loaded."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from symdipa import __version__
from symdipa.interface import failures
from symdipa.interface.failures import Exit

COMMANDS = {
    "bench": ("benching", "Sweeps over engines, with tables and plots."),
    "certify": ("weights", "Write a certificate of the answer."),
    "check": ("deciding", "Decide whether automata are private."),
    "compare": ("deciding", "Decide with every engine side by side."),
    "convert": ("writing", "Write an automaton in another format."),
    "encode": ("writing", "Write a symbolic query for another solver."),
    "generate": ("writing", "Write a benchmark automaton of a family."),
    "minimize": ("minimizing", "Make an automaton smaller that a command says yes to."),
    "new": ("templates", "Write a known mechanism with the noise for a stated D."),
    "probability": ("probabilities", "Compute the probability of a run or of outputs."),
    "report": ("reporting", "Write a page with verdicts, pictures and runs to step through."),
    "simulate": ("probabilities", "Let an automaton run many times and compare with computed probabilities."),
    "verify": ("weights", "Check a certificate, trusting nothing that made it."),
    "weight": ("weights", "Bound the privacy cost D, from above and from below."),
    "witness": ("deciding", "Show how privacy is lost, and what would help."),
}
"""Every command: the module whose attribute of that name it is, and its line in ``symdipa --help``."""


class Commands(click.Group):
    """The group of commands; it leaves quietly when the reader of its output has gone, or on Ctrl-C."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, short_help = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(f"{__name__}.{module}"), cmd_name)
        command.short_help = short_help
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table of commands, without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, short_help) for name, (_, short_help) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest a command to somebody who only names a file, or misspells a command."""
        name = args[0]
        if not (name.startswith("-") or name in COMMANDS or ctx.resilient_parsing):
            if Path(name).suffix in (".dipa", ".json") or Path(name).exists():
                raise click.UsageError(
                    f"there is no command {name!r}; to decide a file: symdipa check {name}"
                )
            from symdipa.model.spelling import no_such

            raise click.UsageError(no_such("command", name, list(COMMANDS)))
        return super().resolve_command(ctx, args)

    def make_context(self, *arguments: Any, **settings: Any) -> click.Context:
        with _ending_well():
            return super().make_context(*arguments, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        if os.environ.get("NO_COLOR"):
            ctx.color = False
        with _ending_well():
            return super().invoke(ctx)


@contextmanager
def _ending_well() -> Iterator[None]:
    """No traceback: whatever ends a command does so with one line, or quietly where the reader has gone."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except BrokenPipeError:
        failures.discard(sys.stdout)
        raise click.exceptions.Exit(Exit.BROKEN_PIPE) from None
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        raise click.exceptions.Exit(Exit.INTERRUPTED) from None
    except Exception as error:
        message, status = failures.told(error)
        if isinstance(error, OSError | UnicodeError):
            failures.discard(sys.stdout)
        raise _Complaint(message, status) from error


class _Complaint(click.ClickException):
    """One line with which a command ends."""

    def __init__(self, message: str, status: Exit) -> None:
        super().__init__(message)
        self.exit_code = status  # type: ignore[misc]


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
