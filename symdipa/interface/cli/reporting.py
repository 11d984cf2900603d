"""``report``: a page about files."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from symdipa.interface.cli.base import (
    STATUS_HELP,
    Exit,
    Reading,
    Unusable,
    View,
    leave_with,
    show_failure,
    show_problems,
    showing_progress,
    shown,
    status,
    write,
)
from symdipa.interface.cli.deciding import Wanted, concrete_counterexample, tried_hints
from symdipa.interface.cli.options import (
    as_positive,
    gathered,
    option,
    timeout_option,
    with_check_options,
    with_deciding,
    with_files,
    with_memory,
    with_reading,
)
from symdipa.model.errors import InvalidInput
from symdipa.model.limits import Limits

if TYPE_CHECKING:
    from symdipa.interface import html as html_report
    from symdipa.model.automaton import Automaton
    from symdipa.model.options import CheckOptions

PART_SECONDS = 10.0
"""How long each method for bounds, the inputs and the hints may take, if that much of --timeout is left."""
LEAST_SECONDS = 0.5


@dataclass(frozen=True)
class PageParts:
    """What a page shows beside the verdict: a concrete counterexample, bounds, and hints."""

    concrete: bool
    exceeds: Fraction
    eps: Fraction
    bounds: bool
    hints: bool


@click.command(epilog=STATUS_HELP)
@with_files
@option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    help='Write the page here (an existing file is overwritten); "-" is standard output.',
)
@gathered(
    "parts",
    PageParts,
    option(
        "--concrete/--no-concrete",
        default=True,
        help="For a violation, two inputs that show it in numbers, with a curve of how the ratio grows.",
    ),
    option(
        "--exceeds",
        callback=as_positive,
        default="4",
        metavar="D",
        help="Their log-ratio is to be larger than D*eps (a rational).",
    ),
    option("--eps", callback=as_positive, default="1", metavar="E", help="At this eps."),
    option("--weight/--no-weight", "bounds", default=True, help="For a private automaton, the bounds on D."),
    option(
        "--hints/--no-hints",
        default=True,
        help="For a violation, try changes that could repair the automaton.",
    ),
)
@with_check_options(
    *with_deciding,
    timeout_option(
        f"Give up on a file after this long; what stands beside the verdict gets {PART_SECONDS:g} at most.",
        default=60.0,
    ),
    with_memory,
)
@with_reading
def report(
    files: tuple[str, ...], output: Path, parts: PageParts, options: CheckOptions, reading: Reading
) -> None:
    """Write one HTML page about FILE...: verdict, picture, the run step by step, bounds, how it was decided.

    The page needs nothing but itself, and works without a network.

    \b
    Examples: symdipa report examples/leaking_pair/svt_no_cutoff.dipa -o report.html
              symdipa report --no-concrete --no-hints *.dipa -o report.html
    """
    from symdipa.interface import html as html_report
    from symdipa.interface.reports import check as text_report

    reading.check_usage(files)
    if str(output) != "-":
        _check_writable(output)
    view = View()
    sections: list[html_report.Checked | html_report.Refused] = []
    occurred: set[Exit] = set()
    for name in files:
        try:
            part = _checked(name, reading.read(name), parts, options, view)
            occurred.add(status(part.weighed or part.result))
            sections.append(part)
        except InvalidInput as error:
            show_problems(name, error, view)
            lines = tuple(text_report.problem_lines(shown(name), error.problems))
            sections.append(html_report.Refused(shown(name), lines))
            occurred.add(Exit.UNUSABLE)
        except Exception as error:
            occurred.add(show_failure(name, error, view))
            sections.append(html_report.Refused(shown(name), (f"{type(error).__name__}: {error}",)))
    write(html_report.page(sections), None if str(output) == "-" else output)
    leave_with(occurred)


def _check_writable(output: Path) -> None:
    """Complain about a page that cannot be written before anything is decided."""
    if not output.parent.is_dir():
        raise Unusable(f"cannot write {shown(str(output))}: {shown(str(output.parent))} is no folder")


def _checked(
    name: str, automaton: Automaton, parts: PageParts, options: CheckOptions, view: View
) -> html_report.Checked:
    """One file decided, with all that its part of the page shows."""
    from symdipa import analysis
    from symdipa.interface import html as html_report

    limits = Limits.of(options.timeout)

    def seconds() -> float:
        """For the next part of the page."""
        left = limits.left()
        return PART_SECONDS if left is None else max(LEAST_SECONDS, min(PART_SECONDS, left))

    with showing_progress(name, view) as progress:
        result, weighed = analysis.check_with(automaton, options, progress), None
        if parts.bounds:
            weighed = analysis.with_bounds(result, timeout=seconds(), progress=progress)
    found = None
    if parts.concrete:
        wanted = Wanted(parts.exceeds, parts.eps)
        found = concrete_counterexample(name, result, wanted, seconds(), view)
    with showing_progress(name, view) as progress:
        if progress is not None and result.witness is not None and parts.hints:
            progress("trying changes that could help")
        hints = tried_hints(result, seconds(), False) if parts.hints else None
    return html_report.Checked(shown(name), result, weighed, found, hints)
