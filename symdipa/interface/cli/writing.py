"""``convert``, ``generate`` and ``encode``."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import click

from symdipa.interface.cli.base import (
    WRITTEN,
    Reading,
    Target,
    leave_unknown,
    usable,
    written_as,
)
from symdipa.interface.cli.options import (
    PATTERN_NAMES,
    as_pattern,
    complete_families,
    complete_patterns,
    gathered,
    option,
    with_automaton_output,
    with_encoding,
    with_file,
    with_memory,
    with_output,
    with_reading,
    with_timeout,
)
from symdipa.interface.saving import SUFFIXES
from symdipa.model.errors import InvalidInput, LimitReached
from symdipa.model.limits import Limits
from symdipa.model.options import QUERY_FORMATS
from symdipa.model.spelling import no_such

if TYPE_CHECKING:
    from symdipa.model.patterns import Pattern


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


@click.command()
@with_file
@option(
    "--to", type=click.Choice(WRITTEN), help="Format to write; default: told by the suffix of the -o file."
)
@with_automaton_output
@with_reading
def convert(file: str, to: str | None, output: Target, reading: Reading) -> None:
    """Write the automaton in FILE in another format.

    svg is a picture; dot is for Graphviz.

    Example: symdipa convert examples/well_formed/svt.dipa --to json -o svt.json
    """
    target = output.automaton_format(to)
    if target is None:
        raise click.UsageError("say with --to which format to write")
    output.will_hold(target)
    output.write(written_as(reading.read_or_leave(file), target), f"the automaton as {target}")


@click.command(cls=Generate)
@click.argument("family", required=False, shell_complete=complete_families)
@click.argument("number", type=int, required=False, metavar="N")
@option("--list", "list_families", is_flag=True, help="List the families and leave.")
@option(
    "--to",
    type=click.Choice(WRITTEN),
    help="Format to write; default: told by the suffix of the -o file, else dipa.",
)
@with_automaton_output
def generate(
    family: str | None, number: int | None, list_families: bool, to: str | None, output: Target
) -> None:
    """Write the benchmark automaton number N of FAMILY.

    Example: symdipa generate m-range 80 -o m_range_80.dipa
    """
    from symdipa.files import families

    if list_families:
        for known in families.FAMILIES.values():
            click.echo(f"{known.name:<15} {known.summary}; N = {known.size}; {known.answer}")
        return
    if family is None or number is None:
        raise click.UsageError("needs FAMILY and N; symdipa generate --list shows the families")
    if family not in families.FAMILIES:
        raise click.UsageError(no_such("family", family, list(families.FAMILIES)))
    target = output.automaton_format(to) or "dipa"
    output.will_hold(target)
    try:
        automaton = families.generate(family, number)
    except InvalidInput as error:
        raise click.UsageError(error.problems[0].message) from error
    output.write(written_as(automaton, target), f"the automaton as {target}")


@click.command()
@with_file
@option(
    "--pattern",
    callback=as_pattern,
    metavar=PATTERN_NAMES,
    shell_complete=complete_patterns,
    required=True,
    help="The pattern that the query asks for (or its name, as leaking-pair).",
)
@option(
    "--bound",
    type=click.IntRange(min=1),
    metavar="N",
    help="Ask for runs of at most N steps only (smtlib needs it, chc has none).",
)
@option(
    "--to",
    type=click.Choice(QUERY_FORMATS),
    help="Format to write; default: told by the suffix of the -o file (.aig, .aag, .btor2), "
    "else smtlib with a bound and chc without.",
)
@option(
    "--reduce",
    is_flag=True,
    help="Leave out what the dataflow shows to be constant: smaller, but it relies on that.",
)
@with_encoding
@gathered("limits", lambda timeout, memory: Limits.of(timeout, memory), with_timeout, with_memory)
@with_output
@with_reading
def encode(
    file: str,
    pattern: Pattern,
    bound: int | None,
    to: str | None,
    reduce: bool,
    encoding: str,
    limits: Limits,
    output: Target,
    reading: Reading,
) -> None:
    """Write the question "does FILE have this pattern?" for another solver or model checker.

    One file asks one question; what the answers mean is told in its comments and in docs/queries.md.

    \b
    Examples: symdipa encode examples/leaking_pair/a_leakp.dipa --pattern LP -o query.aig
              symdipa encode examples/leaking_pair/a_leakp.dipa --pattern LP --bound 8 -o query.smt2
    """
    target = _query_format(to, bound, output)
    output.will_hold(target)
    text = target != "aiger" or output.suffix == ".aag"
    if not text and output.path is None and sys.stdout.isatty():
        raise click.UsageError("binary AIGER is not for a terminal; give -o FILE.aig, or FILE.aag for ASCII")
    automaton = reading.read_or_leave(file, limits)
    from symdipa.evidence.exports import query

    asked = automaton, pattern, bound, encoding
    with usable():
        try:
            data: str | bytes = (
                query.encode(*asked, target, reduce=reduce, limits=limits)
                if text
                else query.encode_binary(*asked, reduce=reduce, limits=limits)
            )
        except LimitReached as limit:
            leave_unknown(file, limit)
        output.write(data, f"the query as {target}")


def _query_format(to: str | None, bound: int | None, output: Target) -> str:
    """The format of a query, which must be one that can have, or do without, the bound."""
    by_suffix = [fmt for fmt in SUFFIXES.get(output.suffix, ()) if fmt in QUERY_FORMATS]
    found = to or (by_suffix[0] if len(by_suffix) == 1 else None) or ("chc" if bound is None else "smtlib")
    if found == "smtlib" and bound is None:
        raise click.UsageError("smtlib asks for runs up to a bound: give --bound N, or --to chc for all runs")
    if found == "chc" and bound is not None:
        raise click.UsageError("chc asks about runs of any length: leave out --bound, or use --to smtlib")
    return found
