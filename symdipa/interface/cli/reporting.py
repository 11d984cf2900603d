"""``report``: a page about files."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import click

from symdipa.interface.cli.base import (
    FILES_HELP,
    Exit,
    Reading,
    Target,
    View,
    leave_with,
    show_failure,
    show_limit,
    show_problems,
    showing_progress,
    shown,
    status,
    what_is_left,
)
from symdipa.interface.cli.deciding import Wanted, concrete_counterexample, tried_hints
from symdipa.interface.cli.options import (
    as_positive,
    gathered,
    option,
    output_option,
    timeout_option,
    with_check_options,
    with_deciding,
    with_files,
    with_memory,
    with_reading,
)
from symdipa.model.errors import InvalidInput, LimitReached
from symdipa.model.limits import Limits
from symdipa.model.spelling import counted

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


@click.command(epilog=FILES_HELP)
@with_files
@output_option(
    "-o",
    "--output",
    required=True,
    help='Write the page here (an existing file is replaced, an input never); "-" is standard output.',
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
    files: tuple[str, ...], output: Target, parts: PageParts, options: CheckOptions, reading: Reading
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
    output.will_hold("html")
    view = View()
    sections: list[html_report.Checked | html_report.Refused] = []
    occurred: set[Exit] = set()
    for name in files:
        limits = Limits.of(options.timeout, options.memory)
        try:
            part = _checked(name, reading.read(name, limits), parts, options, limits, view)
            occurred.add(status(part.weighed or part.result))
            sections.append(part)
        except InvalidInput as error:
            show_problems(name, error, view)
            lines = tuple(text_report.problem_lines(shown(name), error.problems))
            sections.append(html_report.Refused(shown(name), lines))
            occurred.add(Exit.UNUSABLE)
        except LimitReached as limit:
            occurred.add(show_limit(name, limit, view))
            sections.append(html_report.Refused(shown(name), (f"unknown: {limit}",)))
        except Exception as error:
            occurred.add(show_failure(name, error, view))
            sections.append(html_report.Refused(shown(name), (f"{type(error).__name__}: {error}",)))
    output.write(html_report.page(sections), f"a page about {counted(len(files), 'file')}")
    leave_with(occurred)


def _checked(
    name: str, automaton: Automaton, parts: PageParts, options: CheckOptions, limits: Limits, view: View
) -> html_report.Checked:
    """One file decided, with all that its part of the page shows."""
    from symdipa import analysis
    from symdipa.interface import html as html_report
    from symdipa.model.verdict import Verdict

    options = what_is_left(options, limits)

    def seconds() -> float:
        """For the next part of the page."""
        left = limits.left()
        return PART_SECONDS if left is None else max(LEAST_SECONDS, min(PART_SECONDS, left))

    with showing_progress(name, view) as progress:
        result, weighed = analysis.check_with(automaton, options, progress), None
        if parts.bounds:
            weighed = analysis.with_bounds(
                result, timeout=seconds(), memory=options.memory, progress=progress
            )
    found = None
    if parts.concrete and (weighed or result).verdict is not Verdict.PRIVATE:
        wanted = Wanted(parts.exceeds, parts.eps)
        found = concrete_counterexample(name, result, wanted, seconds(), view)
    with showing_progress(name, view) as progress:
        if progress is not None and result.witness is not None and parts.hints:
            progress("trying changes that could help")
        hints = tried_hints(result, seconds(), False) if parts.hints else None
    return html_report.Checked(shown(name), result, weighed, found, hints)
