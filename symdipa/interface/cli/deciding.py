"""``check``, ``compare`` and ``witness``."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symdipa.interface.cli.base import (
    FILES_HELP,
    Exit,
    Reading,
    Target,
    Unusable,
    View,
    echo_document,
    echo_notes,
    run,
    showing_progress,
    shown,
    shown_names,
    usable,
    within_budget,
)
from symdipa.interface.cli.options import (
    PATTERN_NAMES,
    as_pattern,
    as_patterns,
    as_positive,
    complete_patterns,
    gathered,
    option,
    output_option,
    timeout_option,
    with_bound,
    with_check_options,
    with_deciding,
    with_encoding,
    with_engine,
    with_files,
    with_json,
    with_max_weight,
    with_memory,
    with_reading,
    with_slicing,
    with_solver,
    with_timeout,
    with_view,
)
from symdipa.model.adjacency import TWO_SIDED
from symdipa.model.limits import UNLIMITED, Limits

if TYPE_CHECKING:
    from symdipa.evidence.hints import Hint
    from symdipa.evidence.refutation import Refutation
    from symdipa.model.automaton import Automaton
    from symdipa.model.limits import Progress
    from symdipa.model.options import CheckOptions
    from symdipa.model.patterns import Pattern
    from symdipa.model.verdict import Result


def decided(automaton: Automaton, options: CheckOptions, progress: Progress | None) -> Result:
    """A check; where the text of the automaton claims a bound, or says how entries differ, ``D`` is bounded
    until that is decided."""
    from symdipa import analysis

    wanted = options.max_weight or automaton.claim
    limits = Limits.of(options.timeout)
    found = analysis.check_with(automaton, replace(options, max_weight=wanted), progress)
    if automaton.claim is None and automaton.adjacency == TWO_SIDED:
        return found
    if within_budget(found, wanted) == (None, ()) and automaton.adjacency == TWO_SIDED:
        return found
    return analysis.with_bounds(
        found,
        adjacency=automaton.adjacency,
        timeout=limits.left(),
        memory=options.memory,
        progress=progress,
    )


@click.command(epilog=FILES_HELP)
@with_files
@with_check_options(
    with_engine,
    with_encoding,
    with_solver,
    option(
        "--pattern",
        "patterns",
        callback=as_patterns,
        metavar=PATTERN_NAMES,
        shell_complete=complete_patterns,
        multiple=True,
        help="Look only for this pattern (may be repeated; or its name, as leaking-pair); default: all four.",
    ),
    with_slicing,
    with_bound,
    with_max_weight,
    option(
        "--relational/--no-relational",
        default=True,
        help="Where a violation proves nothing, try to pair runs that show the same outputs (experimental; "
        "a few seconds).",
    ),
    with_timeout,
    with_memory,
)
@with_reading
@gathered(
    "view",
    lambda as_json, quiet, verbose: View(as_json, -1 if quiet else verbose),
    with_json,
    option("-q", "--quiet", is_flag=True, help="One line per file."),
    option(
        "-v",
        "--verbose",
        count=True,
        help="Also times, sizes, more of the noise, and all steps of a long run.",
    ),
)
def check(files: tuple[str, ...], options: CheckOptions, reading: Reading, view: View) -> None:
    """Decide whether the automata in FILE... are private ("-" reads standard input).

    \b
    Examples: symdipa check examples/well_formed/svt.dipa
              symdipa check --json --timeout 60 *.dipa
    """

    def show(name: str, result: Result, view: View) -> Exit | None:
        answer, said = within_budget(result, options.max_weight or result.automaton.claim)
        if view.as_json:
            from symdipa.interface.reports import objects

            click.echo(json.dumps(objects.check(name, result, said)))
        else:
            from symdipa.interface.reports import check as report

            echo_document(report.document(shown(name), result, said, view.verbosity))
        if view.verbosity < 0 and not view.as_json:
            echo_notes(name, said)
        return answer

    run(files, reading, options, decided, view, show)


@click.command(epilog=FILES_HELP)
@with_files
@with_check_options(
    with_bound,
    timeout_option("Give up on an engine after this long; each engine gets as much for a file."),
    with_memory,
)
@option(
    "--save",
    "folder",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    default=Path(),
    show_default=False,
    metavar="DIR",
    help="Where a small automaton is saved if engines disagree: symdipa-disagreement-NAME.dipa "
    "(default: the current directory).",
)
@with_reading
@with_view
def compare(
    files: tuple[str, ...], options: CheckOptions, folder: Path, reading: Reading, view: View
) -> None:
    """Decide with every engine side by side and say whether they agree.

    If they do not, that is a bug: exit status 4, and a smaller automaton that shows it is saved.

    Example: symdipa compare examples/leaking_pair/a_leakp.dipa
    """

    def decide(automaton: Automaton, options: CheckOptions, progress: Progress | None) -> Result:
        from symdipa import analysis

        return analysis.compare(
            automaton, bound=options.bound, timeout=options.timeout, memory=options.memory, progress=progress
        )

    def show(name: str, result: Result, view: View) -> None:
        from symdipa.interface.reports import check as report

        if not view.as_json:
            echo_document(report.comparison(shown(name), result))
        file, saved_where = None, ""
        if result.disagreements:
            from symdipa.interface.cli.minimizing import save_disagreement

            file, saved_where = save_disagreement(name, result, folder, options)
        if view.as_json:
            from symdipa.interface.reports import objects

            saved = None if file is None else str(file)
            click.echo(json.dumps({**objects.comparison(name, result), "saved": saved}))
        elif saved_where:
            click.echo(f"\n  {saved_where}")

    run(files, reading, options, decide, view, show)


@dataclass(frozen=True)
class Wanted:
    """What a concrete counterexample is to refute, where it is drawn, and written as a program."""

    exceeds: Fraction = Fraction(1)
    eps: Fraction = Fraction(1)
    plot: Target | None = None
    script: Target | None = None


def _wanted(concrete: bool, **given: Any) -> Wanted | None:
    given = {name: value for name, value in given.items() if value is not None}
    return Wanted(**given) if concrete or given else None


@click.command(epilog=FILES_HELP)
@with_files
@option(
    "--pattern",
    callback=as_pattern,
    metavar=PATTERN_NAMES,
    shell_complete=complete_patterns,
    help="Show this pattern (or by its name, as leaking-pair), and look for no other.",
)
@option(
    "--hints/--no-hints", "wants_hints", default=True, help="Try changes that could repair the automaton."
)
@gathered(
    "wanted",
    _wanted,
    option(
        "--concrete",
        is_flag=True,
        help="Also two inputs and an output event that refute --exceeds D, with their probabilities.",
    ),
    option(
        "--exceeds",
        callback=as_positive,
        metavar="D",
        help="The log-ratio is to be larger than D*eps (a rational; default: 1). Implies --concrete.",
    ),
    option("--eps", callback=as_positive, metavar="E", help="At this eps (default: 1). Implies --concrete."),
    output_option(
        "--plot",
        help="Draw how the ratio grows, as .svg or .png. Implies --concrete.",
    ),
    output_option(
        "--script",
        help="Write a Python program that computes both probabilities again, and fails if they do not refute "
        "D. Implies --concrete.",
    ),
)
@output_option(
    "--svg",
    "picture",
    help="Draw the automaton with the run marked, and the dependency graph beside it.",
)
@with_check_options(*with_deciding, with_timeout, with_memory)
@with_reading
@gathered(
    "view",
    lambda as_json, verbose: View(as_json, verbose),
    with_json,
    option("-v", "--verbose", count=True, help="All steps of a long run."),
)
def witness(
    files: tuple[str, ...],
    pattern: Pattern | None,
    wants_hints: bool,
    wanted: Wanted | None,
    picture: Target | None,
    options: CheckOptions,
    reading: Reading,
    view: View,
) -> None:
    """Show the run on which privacy is lost: in words, step by step, and what would help.

    The run is checked against the definitions before it is shown. Of a private automaton it is said why
    there is no such run.

    \b
    Examples: symdipa witness examples/leaking_pair/svt_no_cutoff.dipa
              symdipa witness --concrete --exceeds 20 examples/leaking_pair/a_leakp.dipa
              symdipa witness --script refutes.py examples/leaking_pair/a_leakp.dipa
              symdipa witness --pattern LP --json examples/leaking_pair/a_leakp.dipa
    """
    if pattern is not None:
        options = replace(options, patterns=(pattern,))
    if wanted is not None and wanted.plot is not None:
        from symdipa.interface.pictures.plotting import check_plot

        if len(files) > 1:
            raise click.UsageError(f"--plot draws one file; there are {shown_names(files)}")
        plot = wanted.plot.path or Path("-")
        with usable():
            check_plot(plot)
        wanted.plot.will_hold(plot.suffix.lower()[1:])
    if wanted is not None and wanted.script is not None:
        if len(files) > 1:
            raise click.UsageError(f"--script is about one file; there are {shown_names(files)}")
        wanted.script.will_hold("a program in Python")
    if picture is not None:
        if len(files) > 1:
            raise click.UsageError(f"--svg draws one file; there are {shown_names(files)}")
        picture.will_hold("svg")
    limits = UNLIMITED

    def decide(automaton: Automaton, options: CheckOptions, progress: Progress | None) -> Result:
        nonlocal limits
        limits = Limits.of(options.timeout)
        return decided(automaton, options, progress)

    def show(name: str, result: Result, view: View) -> None:
        from symdipa.interface.reports import witness as report
        from symdipa.model.verdict import Verdict

        hints = tried_hints(result, limits.left(), wanted is not None) if wants_hints else None
        if not view.as_json:
            # Whoever loses patience with the search for numbers has the verdict and the story by then.
            echo_document(report.document(shown(name), result, pattern, hints, view.verbosity))
        found: Refutation | str | None = None
        private = result.verdict is Verdict.PRIVATE
        if wanted is not None and private:
            found = ASK_WEIGHT
        elif wanted is not None:
            found = concrete_counterexample(name, result, wanted, limits.left(), view)
        if wanted is not None and wanted.script is not None:
            with showing_progress(name, view) as progress:
                if progress is not None:
                    progress("running the program once")
                _write_script(name, found, wanted.script, limits)
        if picture is not None:
            _draw(name, result, picture)
        if view.as_json:
            from symdipa.interface.reports import objects

            added = {} if wanted is None else objects.concrete(found)
            click.echo(json.dumps(objects.witness(name, result, hints) | added))
        elif found is not None:
            from symdipa.interface.reports import refutation

            click.echo()
            echo_document(refutation.not_looked_for(ASK_WEIGHT) if private else refutation.document(found))

    run(files, reading, options, decide, view, show)


ASK_WEIGHT = "it is private (symdipa weight --confirm looks for two inputs that come near D)"
"""Why there is no counterexample, and what there is instead."""


def _draw(name: str, result: Result, picture: Target) -> None:
    """Write the picture of a witness; without one there is nothing to draw, which is said."""
    from symdipa.interface import showing
    from symdipa.interface.pictures.automaton import PictureTooLarge

    if result.witness is None:
        click.echo(f"{shown(name)}: no run is to be shown, so {picture.name} is not written", err=True)
        return
    try:
        drawing = showing.picture(result)
    except PictureTooLarge as error:
        raise Unusable(f"no picture: {error}") from error
    picture.write(drawing, "a picture of the run")


def _write_script(name: str, found: Refutation | str | None, target: Target, limits: Limits) -> None:
    """Write the program of a counterexample; where there is none, or not in time, that is said."""
    from symdipa.evidence.refutation import NoRefutation, script

    try:
        if found is None or isinstance(found, str):
            raise NoRefutation(found or "there is no violation")
        program = script.script(found, limits)
    except NoRefutation as reason:
        click.echo(f"{shown(name)}: {target.name} is not written: {reason}", err=True)
        return
    target.write(program, "a program that computes both probabilities")


def concrete_counterexample(
    name: str, result: Result, wanted: Wanted, seconds: float | None, view: View
) -> Refutation | str | None:
    """A counterexample in numbers; a text that says why there is none; ``None`` without a violation."""
    if result.witness is None:
        return None
    if seconds == 0:
        return "the time was over before it began"
    from symdipa import analysis
    from symdipa.evidence.refutation import NoRefutation
    from symdipa.interface.pictures import growth
    from symdipa.model.errors import LimitReached

    try:
        with showing_progress(name, view) as progress:
            found = analysis.refute(result, wanted.exceeds, wanted.eps, timeout=seconds, progress=progress)
    except (NoRefutation, LimitReached) as reason:
        return str(reason)
    if wanted.plot is not None and wanted.plot.path is not None and found is not None:
        with usable(wanted.plot):
            growth.plot(found, shown(name), wanted.plot.path)
        wanted.plot.tell("a picture of the ratio")
    return found


def tried_hints(result: Result, seconds: float | None, more: bool) -> list[Hint] | None:
    """The hints; half of the ``seconds`` that are left is for them if there is ``more`` to do afterwards."""
    from symdipa import analysis

    return analysis.hints(result, timeout=seconds / 2 if more and seconds is not None else seconds)
