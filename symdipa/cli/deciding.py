"""``check``, ``compare`` and ``witness``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from symdipa.cli.base import (
    STATUS_HELP,
    Reading,
    View,
    as_patterns,
    cli,
    echo_report,
    option,
    run,
    shown,
    with_bound,
    with_encoding,
    with_engine,
    with_files,
    with_format,
    with_json,
    with_memory,
    with_slicing,
    with_solver,
    with_strict,
    with_timeout,
)

if TYPE_CHECKING:
    from symdipa.automaton import Automaton
    from symdipa.hints import Hint
    from symdipa.patterns import Pattern
    from symdipa.verdict import Result


@cli.command(epilog=STATUS_HELP, short_help="Decide whether automata are private.")
@with_files
@with_engine
@with_encoding
@with_solver
@option(
    "--pattern",
    "patterns",
    callback=as_patterns,
    metavar="LC|LP|DC|PV",
    multiple=True,
    help="Look only for this pattern (may be repeated; or its name, as leaking-pair); default: all four.",
)
@with_slicing
@with_bound
@with_timeout
@with_memory
@with_strict
@with_format
@with_json
@option("-q", "--quiet", is_flag=True, help="One line per file.")
@option("-v", "--verbose", count=True, help="Also the noise of every step, times and sizes.")
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
    run(ctx, files, Reading(fmt, strict), decide, view, _show_check)


@cli.command(epilog=STATUS_HELP, short_help="Decide with every engine side by side.")
@with_files
@with_bound
@with_timeout
@with_memory
@with_strict
@with_format
@with_json
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

    run(ctx, files, Reading(fmt, strict), decide, View(as_json, 0, len(files) > 1), _show_comparison)


HINT_SECONDS = 5.0
"""How long one changed automaton may be looked at, and how often that long all of them together."""
HINT_SHARE = 3


@cli.command(epilog=STATUS_HELP, short_help="Show how privacy is lost, and what would help.")
@with_files
@option(
    "--pattern",
    callback=as_patterns,
    metavar="LC|LP|DC|PV",
    help="Show this pattern (or by its name, as leaking-pair), and look for no other.",
)
@option(
    "--hints/--no-hints",
    "wants_hints",
    default=True,
    show_default=True,
    help="Try changes that could repair the automaton.",
)
@with_engine
@with_encoding
@with_solver
@with_slicing
@with_bound
@with_timeout
@with_memory
@with_strict
@with_format
@with_json
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
            echo_report(report.witness_text(shown(name), result, pattern, hints, notes), result)

    run(ctx, files, Reading(fmt, strict), decide, View(as_json, 0, len(files) > 1), show)


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


def _show_check(name: str, result: Result, notes: tuple[str, ...], view: View) -> None:
    from symdipa import report

    if view.as_json:
        click.echo(json.dumps(report.json_object(name, result, notes)))
    else:
        echo_report(report.text(shown(name), result, notes, view.verbosity), result)


def _show_comparison(name: str, result: Result, notes: tuple[str, ...], view: View) -> None:
    from symdipa import report

    if view.as_json:
        click.echo(json.dumps(report.json_comparison(name, result, notes)))
    else:
        echo_report(report.comparison_text(shown(name), result, notes), result)
