"""``weight``, ``certify`` and ``verify``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symdipa.interface.cli.base import (
    FILES_HELP,
    Decide,
    Exit,
    Reading,
    Show,
    Target,
    Unusable,
    View,
    echo_document,
    echo_notes,
    leave,
    leave_with,
    run,
    run_one,
    showing_progress,
    shown,
    status,
    what_is_left,
    within_budget,
)
from symdipa.interface.cli.options import (
    as_positive,
    gathered,
    option,
    rational,
    with_check_options,
    with_differs,
    with_file,
    with_files,
    with_json,
    with_max_weight,
    with_memory,
    with_output,
    with_reading,
    with_reading_as_it_is,
    with_timeout,
    with_view,
)
from symdipa.model.adjacency import ADJACENCIES, TWO_SIDED, named
from symdipa.model.errors import LimitReached, NoteKind, NothingToCertify
from symdipa.model.limits import Limits
from symdipa.model.options import CHECKING_SOLVERS, EVERY_METHOD, GRAPHS

if TYPE_CHECKING:
    from symdipa.model.adjacency import Adjacency
    from symdipa.model.adjacency.differ import Differ
    from symdipa.model.automaton import Automaton
    from symdipa.model.limits import Progress
    from symdipa.model.options import CheckOptions
    from symdipa.model.verdict import Result

UNREADABLE = frozenset({"json", "format"})
"""A file that breaks one of these rules is no certificate at all."""

WEIGHING_SHARE = 0.75
"""The part of --timeout for the bounds where inputs are to be found, too."""


def _adjacency(ctx: click.Context, param: click.Parameter, value: str | None) -> Adjacency | None:
    if value is None or value in ADJACENCIES:
        return value
    ends = [rational(part) for part in value.split(",")]
    if len(ends) == 2 and ends[0] is not None and ends[1] is not None and ends[0] <= 0 <= ends[1]:
        return named((ends[0], ends[1]))
    raise click.BadParameter(
        f"{value!r} is neither {', '.join(ADJACENCIES)}, nor a range L,H that contains 0"
    )


with_question = gathered(
    "question",
    dict,
    option(
        "--graph",
        type=click.Choice(["auto", *GRAPHS]),
        default="auto",
        help="The graph that the alignment bound is proved on.",
    ),
    option(
        "--adjacency",
        callback=_adjacency,
        metavar="|".join([*ADJACENCIES, "L,H"]),
        help="How adjacent inputs may differ: each by up to 1 either way, all in one direction, or a range. "
        "Default: as FILE says, else two-sided.",
    ),
    option(
        "--sensitivity",
        callback=as_positive,
        default="1",
        metavar="Q",
        help="The differences are multiplied by this.",
    ),
)
"""Which bounds are asked for: the keyword arguments of :func:`symdipa.weigh` of these names."""


def asked_of(automaton: Automaton, question: dict[str, Any]) -> dict[str, Any]:
    """The question with the adjacency that the text of the automaton says, where none is given."""
    return question | {"adjacency": question["adjacency"] or automaton.adjacency}


def _methods(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...] | None:
    """The methods that are named; ``None`` if none is."""
    return EVERY_METHOD if "all" in value else value or None


with_methods = option(
    "--method",
    "methods",
    type=click.Choice([*EVERY_METHOD, "all"]),
    callback=_methods,
    multiple=True,
    help="Compute this bound (may be repeated); default: from cheap to dear until the best is proved.",
)


@click.command(epilog=FILES_HELP)
@with_files
@with_methods
@with_question
@with_max_weight
@gathered(
    "eps",
    lambda confirm, eps: eps or (Fraction(1) if confirm else None),
    option(
        "--confirm",
        is_flag=True,
        help="Also look for two inputs that come near D, and compute their probabilities.",
    ),
    option(
        "--eps",
        callback=as_positive,
        metavar="E",
        help="The value of eps of these probabilities (default 1); implies --confirm.",
    ),
)
@with_check_options(with_timeout, with_memory, bounds=False)
@with_differs
@with_reading_as_it_is
@with_view
def weight(
    files: tuple[str, ...],
    methods: tuple[str, ...] | None,
    question: dict[str, Any],
    max_weight: Fraction | None,
    eps: Fraction | None,
    options: CheckOptions,
    differs: tuple[Differ, ...],
    reading: Reading,
    view: View,
) -> None:
    """Bound the privacy cost D: the algorithm in FILE is D*eps-differentially private.

    Upper bounds are proved by alignment (shifting samples) or by the paper's methods; a bound from below
    is a run with two inputs. Where they meet, D is optimal. Where several runs show the same outputs,
    relational alignment (experimental) is tried, too: it pairs different runs.

    \b
    Examples: symdipa weight examples/well_formed/svt.dipa
              symdipa weight --method all --json examples/well_formed/k_min_max_3.dipa
              symdipa weight --differ entries=1..8 examples/adjacency/svt_one_entry.dipa
    """
    if eps is not None and (question["adjacency"] not in (None, TWO_SIDED) or question["sensitivity"] != 1):
        raise click.UsageError("--confirm is about two-sided adjacency of sensitivity 1 only")

    def decide(automaton: Automaton, options: CheckOptions, progress: Progress | None) -> Result:
        from symdipa import analysis

        limits = Limits.of(options.timeout)
        found = analysis.weigh(
            automaton,
            methods,
            **asked_of(automaton, question),
            timeout=limits.left() if eps is None else limits.share(WEIGHING_SHARE).left(),
            memory=options.memory,
            progress=progress,
        )
        if eps is None:
            return found
        return analysis.confirm(found, eps, timeout=limits.left(), progress=progress)

    def show(name: str, found: Result, view: View) -> Exit | None:
        answer, said = within_budget(found, max_weight or found.automaton.claim)
        if view.as_json:
            from symdipa.interface.reports import objects

            click.echo(json.dumps(objects.weight(name, found, said)))
        else:
            from symdipa.interface.reports import weight as report

            echo_document(report.document(shown(name), found, said))
        if status(found) is Exit.PRIVATE and (found.bounds is None or found.bounds.best is None):
            return Exit.UNKNOWN
        return answer

    if len(differs) > 1:
        if "-" in files:
            raise click.UsageError("a table needs files: standard input (-) can be read only once")
        each = (_tabulated(name, differs, reading, options, decide, view, show) for name in files)
        leave_with(set().union(*each))
    run(files, replace(reading, differ=differs[0] if differs else None), options, decide, view, show)


def _tabulated(
    name: str,
    differs: Sequence[Differ],
    reading: Reading,
    options: CheckOptions,
    decide: Decide,
    view: View,
    show: Show,
) -> set[Exit]:
    """Weigh a file once for each way in which entries may differ, and show a table of the answers, or one
    object each; a file that cannot be read is tried once."""
    results: list[Result] = []

    def keep(name: str, result: Result, view: View) -> Exit | None:
        results.append(result)
        return None

    occurred = set()
    for differ in differs:
        each = replace(reading, differ=differ)
        occurred.add(run_one(name, each, options, decide, view, show if view.as_json else keep))
        if Exit.UNUSABLE in occurred:
            break
    if results:
        from symdipa.interface.reports import weight as report

        echo_document(report.table(shown(name), results))
    return occurred


@click.command()
@with_file
@with_methods
@with_question
@option(
    "--invariant",
    is_flag=True,
    help="For a private automaton, invariants that exclude the four patterns instead of a bound on D.",
)
@with_check_options(with_timeout, with_memory, bounds=False)
@with_output
@with_reading
def certify(
    file: str,
    methods: tuple[str, ...] | None,
    question: dict[str, Any],
    invariant: bool,
    options: CheckOptions,
    output: Target,
    reading: Reading,
) -> None:
    """Decide FILE and write a certificate of the answer, which "symdipa verify" checks on its own.

    For a private automaton it proves the best bound on D that has a certificate (those of alignment and of
    relational alignment have) and, where one was found, a bound from below; for another one it has the
    violation. Exit status 0: written; 2: FILE cannot be used; 3: there is nothing to certify.

    Example: symdipa certify examples/well_formed/svt.dipa -o svt.cert.json
    """
    from symdipa import analysis
    from symdipa.evidence import certificates

    output.will_hold("json")
    limits = Limits.of(options.timeout, options.memory)
    automaton = reading.read_or_leave(file, limits)
    options = what_is_left(options, limits)
    with showing_progress(file, View()) as progress:
        found = analysis.weigh(
            automaton,
            methods,
            **asked_of(automaton, question),
            timeout=options.timeout,
            memory=options.memory,
            certified=True,
            progress=progress,
        )
    try:
        certificate = analysis.certify(found, invariant=invariant, timeout=options.timeout)
    except NothingToCertify as reason:
        click.echo(f"{shown(file)}: nothing to certify: {reason}", err=True)
        leave(Exit.BUG if found.disagreements else Exit.UNKNOWN)
    echo_notes(file, [str(note) for note in found.notes if note.kind is NoteKind.STOP_SEEN])
    output.write(certificates.dumps(certificate), "a certificate")


@click.command()
@with_file
@click.argument("certificate", metavar="CERT", type=click.Path(path_type=Path))
@option(
    "--solver",
    type=click.Choice(CHECKING_SOLVERS),
    help="What checks invariants (nothing else needs a solver); default: cvc5 if it is installed, else z3.",
)
@with_reading
@with_json
def verify(file: str, certificate: Path, solver: str | None, reading: Reading, as_json: bool) -> None:
    """Check the certificate in CERT against the automaton in FILE.

    The checker shares no code with the engines. The certificate says for which reading of --halt it was made,
    whatever is given here. Exit status 0: it proves what it claims; 1: it does not, with the first rule that
    it breaks; 2: one of the files cannot be used.

    Example: symdipa verify examples/well_formed/svt.dipa svt.cert.json
    """
    from symdipa.checker import CertificateRefused

    automaton = replace(reading, halt="hidden").read_or_leave(file)
    rule = message = None
    claims: list[str] = []
    answer = Exit.PRIVATE
    try:
        claims = _claims(automaton, certificate.read_bytes(), solver)
    except OSError as error:
        answer, message = Exit.UNUSABLE, f"cannot be read: {error.strerror}"
    except CertificateRefused as refused:
        answer = Exit.UNUSABLE if refused.rule in UNREADABLE else Exit.NOT_PRIVATE
        rule, message = refused.rule, refused.message
    except LimitReached as limit:
        answer, message = Exit.UNKNOWN, str(limit)
    if as_json:
        value = {"file": file, "certificate": str(certificate), "accepted": not message, "claims": claims}
        click.echo(json.dumps({**value, "rule": rule, "message": message}))
    elif message is None:
        click.secho(f"{shown(str(certificate))}: accepted", fg="green", bold=True)
        for claim in claims:
            click.echo(f"  {shown(file)} is {claim}" if not claim.startswith("a ") else f"  {claim}")
    else:
        broken = f" [rule {rule}]" if rule else ""
        click.echo(f"{shown(str(certificate))}: refused: {message}{broken}", err=answer is Exit.UNUSABLE)
    leave(answer)


def _claims(automaton: Automaton, text: bytes, solver: str | None) -> list[str]:
    """What a certificate proves about an automaton whose stops are hidden, or about its other reading."""
    from symdipa.checker import CertificateRefused
    from symdipa.files.formats.halting import halt_shown

    try:
        return _claims_about(automaton, text, solver)
    except CertificateRefused as refused:
        if refused.rule != "automaton":
            raise
        try:
            found = _claims_about(halt_shown(automaton), text, solver)
        except CertificateRefused as other:
            raise refused if other.rule == "automaton" else other from None
    return [f"{claim}, if it is seen that a run stops" for claim in found]


def _claims_about(automaton: Automaton, text: bytes, solver: str | None) -> list[str]:
    """What a certificate proves; a solver is asked only if it has invariants."""
    from symdipa.checker import CertificateRefused, verify

    try:
        found = verify(automaton, text)
        return [str(claim) for claim in (*found.claims, *found.together)]
    except CertificateRefused as refused:
        if refused.rule != "kind":
            raise
    from importlib.util import find_spec

    from symdipa.evidence import certificates

    chosen = solver or ("cvc5" if find_spec("cvc5") else "z3")
    if find_spec(chosen) is None:
        raise Unusable(f"{chosen} is not installed")
    found = certificates.verify(automaton, text, chosen)
    return [f"{claim} (invariants discharged by {chosen})" for claim in (*found.claims, *found.together)]
