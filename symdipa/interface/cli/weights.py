"""``weight``, ``certify`` and ``verify``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

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
from symdipa.model.adjacency import ADJACENCIES, named
from symdipa.model.errors import LimitReached, NoteKind, NothingToCertify
from symdipa.model.limits import Limits
from symdipa.model.options import CHECKING_SOLVERS, EVERY_METHOD, GRAPHS

if TYPE_CHECKING:
    from symdipa.analysis.expectations import Expectation
    from symdipa.checker import Claim
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
    if eps is not None and question["sensitivity"] != 1:
        raise click.UsageError("--confirm is about sensitivity 1 only")

    def decide(automaton: Automaton, options: CheckOptions, progress: Progress | None) -> Result:
        from symdipa import analysis

        limits = Limits.of(options.timeout)
        part = limits if eps is None else limits.share(WEIGHING_SHARE)
        found = analysis.weigh(
            automaton,
            methods,
            **asked_of(automaton, question),
            timeout=what_is_left(options, part).timeout,
            memory=options.memory,
            progress=progress,
        )
        if eps is None:
            return found
        return analysis.confirm(found, eps, timeout=limits.left(), progress=progress)

    def judged(found: Result) -> tuple[Exit | None, tuple[str, ...]]:
        answer, said = within_budget(found, max_weight or found.automaton.claim)
        unbounded = found.bounds is None or found.bounds.best is None
        return Exit.UNKNOWN if unbounded and status(found) is Exit.PRIVATE else answer, said

    def show(name: str, found: Result, view: View) -> Exit | None:
        answer, said = judged(found)
        if view.as_json:
            from symdipa.interface.reports import objects

            click.echo(json.dumps(objects.weight(name, found, said)))
        else:
            from symdipa.interface.reports import weight as report

            echo_document(report.document(shown(name), found, said))
        return answer

    if len(differs) > 1:
        if "-" in files:
            raise click.UsageError("a table needs files: standard input (-) can be read only once")
        occurred = set[Exit]()
        for place, name in enumerate(files):
            if place and not view.as_json:
                click.echo()
            results: list[Result] = []

            def keep(name: str, found: Result, view: View, results: list[Result] = results) -> Exit | None:
                results.append(found)
                return show(name, found, view) if view.as_json else judged(found)[0]

            occurred |= _for_each(name, differs, reading, options, decide, view, keep)
            if results and not view.as_json:
                from symdipa.interface.reports import weight as report

                echo_document(report.table(shown(name), results))
        leave_with(occurred)
    run(files, replace(reading, differ=differs[0] if differs else None), options, decide, view, show)


def _for_each(
    name: str,
    differs: Sequence[Differ],
    reading: Reading,
    options: CheckOptions,
    decide: Decide,
    view: View,
    show: Show,
) -> set[Exit]:
    """Weigh a file once for each way in which entries may differ, in the time for it; one that cannot be
    read is tried once."""
    limits, occurred = Limits.of(options.timeout), set[Exit]()
    for k, differ in enumerate(differs):
        share = what_is_left(options, limits.share(1 / (len(differs) - k)))
        occurred.add(run_one(name, replace(reading, differ=differ), share, decide, view, show))
        if Exit.UNUSABLE in occurred:
            break
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


def _expected(ctx: click.Context, param: click.Parameter, value: str | None) -> Expectation | None:
    """What somebody expects."""
    from symdipa.analysis.expectations import expectation

    try:
        return None if value is None else expectation(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command()
@with_file
@click.argument("certificate", metavar="[CERT]", required=False, type=click.Path(path_type=Path))
@option(
    "--expect",
    "expected",
    callback=_expected,
    metavar="CLAIM",
    help='What has to come out: "D <= 1", "D = 5/4", "private" or "not private".',
)
@option(
    "--solver",
    type=click.Choice(CHECKING_SOLVERS),
    help="What checks invariants (nothing else needs a solver); default: cvc5 if it is installed, else z3.",
)
@option(
    "--checker",
    type=click.Choice(("python", "coq")),
    default="python",
    show_default=True,
    help="Who checks the certificate: symdipa's own checker, or the one that Coq proved, where it is built "
    "(SYMDIPA_COQ_CHECKER, else symdipa-checker on the PATH).",
)
@with_check_options(with_timeout, with_memory)
@with_reading
@with_json
def verify(
    file: str,
    certificate: Path | None,
    expected: Expectation | None,
    solver: str | None,
    checker: str,
    options: CheckOptions,
    reading: Reading,
    as_json: bool,
) -> None:
    """Check the certificate in CERT against the automaton in FILE, or that FILE is as expected, or both.

    The checker shares no code with the engines. The certificate says for which reading of --halt it was made,
    whatever is given here. Without CERT, FILE is decided and compared with --expect; with CERT, --expect is
    compared with what it proves.

    \b
    Exit status: 0 the certificate proves what it claims, and that is what is expected;
    1 it does not, with the first rule that it breaks, or the opposite of what is
    expected is proved; 2 one of the files cannot be used; 3 neither is proved.

    \b
    Examples: symdipa verify examples/well_formed/svt.dipa svt.cert.json
              symdipa verify examples/programs/sparse_vector.py:svt --expect "D <= 1"
    """
    if certificate is not None:
        _verify_certificate(file, certificate, expected, _asked(checker, solver, options), reading, as_json)
    if expected is None:
        raise click.UsageError("give a certificate CERT, or say with --expect what has to come out")
    if solver is not None:
        raise click.UsageError("--solver is for certificates, and none is given")
    if checker != "python":
        raise click.UsageError("--checker is for certificates, and none is given")
    wanted = expected

    def decide(automaton: Automaton, options: CheckOptions, progress: Progress | None) -> Result:
        from symdipa.analysis.expectations import decided

        return decided(automaton, wanted, timeout=options.timeout, memory=options.memory, progress=progress)

    def show(name: str, result: Result, view: View) -> Exit | None:
        from symdipa.analysis.expectations import Known

        answer, said = wanted.judged(Known.of(result))
        if view.as_json:
            from symdipa.interface.reports import objects

            click.echo(json.dumps(objects.weight(name, result) | _as_expected(wanted, answer, said)))
        elif answer:
            _echo_expected(shown(name), wanted, answer, said)
            echo_notes(name, [str(note) for note in result.notes if note.is_doubt])
        else:
            from symdipa.interface.reports import check as report

            _echo_expected(shown(name), wanted, answer, said)
            click.echo()
            echo_document(report.document(shown(name), result, (), view.verbosity))
        return Exit.BUG if result.contradictions else _status(answer)

    run((file,), reading, options, decide, View(as_json), show)


def _status(answer: bool | None) -> Exit:
    """The exit status of an expectation."""
    return {True: Exit.PRIVATE, False: Exit.NOT_PRIVATE, None: Exit.UNKNOWN}[answer]


def _as_expected(expected: Expectation | None, answer: bool | None, said: str | None) -> dict[str, Any]:
    """What JSON says about an expectation."""
    return {"expected": None if expected is None else str(expected), "as_expected": answer, "found": said}


def _echo_expected(name: str, expected: Expectation, answer: bool | None, said: str) -> None:
    words = {True: ("as expected", "green"), False: ("not as expected", "red"), None: ("undecided", "yellow")}
    head, colour = words[answer]
    click.secho(f"{name}: {head}, {expected}: {said}", fg=colour, bold=True)


Ask = Callable[["Automaton", bytes], "_Proved"]
"""Asks a checker what a certificate proves."""


def _asked(checker: str, solver: str | None, options: CheckOptions) -> Ask:
    """The checker that is to speak."""
    if checker == "python":
        return lambda automaton, text: _claims_about(automaton, text, solver)
    if solver is not None:
        raise click.UsageError("--solver is for the checker in Python")
    return lambda automaton, text: _claims_by_coq(automaton, text, options.timeout)


def _verify_certificate(
    file: str,
    certificate: Path,
    expected: Expectation | None,
    ask: Ask,
    reading: Reading,
    as_json: bool,
) -> NoReturn:
    automaton = replace(reading, halt="hidden").read_or_leave(file)
    proved = _Proved(())
    answer = Exit.PRIVATE
    rule = message = None
    judged: bool | None = None
    said: str | None = None
    try:
        proved = _claims(automaton, certificate.read_bytes(), ask)
        if expected is not None:
            from symdipa.analysis.expectations import Known

            judged, said = expected.judged(Known.proved(automaton, proved.claims, proved.stops_seen))
            answer = _status(judged)
    except OSError as error:
        answer, message = Exit.UNUSABLE, f"cannot be read: {error.strerror}"
    except _Refused as refused:
        answer, rule, message = refused.answer, refused.rule, refused.message
    except LimitReached as limit:
        answer, message = Exit.UNKNOWN, str(limit)
    if as_json:
        value = {
            "file": file,
            "certificate": str(certificate),
            "accepted": not message,
            "claims": proved.lines,
        }
        value |= {"rule": rule, "message": message, "checker": proved.checker, "left_out": proved.left_out}
        click.echo(json.dumps(value | (_as_expected(expected, judged, said) if expected else {})))
    elif message is None:
        click.secho(f"{shown(str(certificate))}: accepted", fg="green", bold=True)
        for claim in proved.lines:
            click.echo(f"  {shown(file)} is {claim}" if not claim.startswith("a ") else f"  {claim}")
        for part in proved.left_out:
            click.echo(f"  not proved, and nothing is claimed from it: {shown(part)}")
        if expected is not None and said is not None:
            _echo_expected(shown(file), expected, judged, said)
        click.echo(f"  checked by {proved.checker}")
    else:
        broken = f" [rule {rule}]" if rule else ""
        click.echo(f"{shown(str(certificate))}: refused: {message}{broken}", err=answer is Exit.UNUSABLE)
    leave(answer)


class _Refused(Exception):
    """A certificate that was not accepted; ``other``: it is about another automaton."""

    def __init__(self, answer: Exit, message: str, rule: str | None = None, other: bool = False) -> None:
        self.answer, self.message, self.rule, self.other = answer, message, rule, other
        super().__init__(message)


PYTHON = "the checker in Python, which is tested and not proved (docs/trust.md)"
COQ = "the checker that Coq proved for noise on {} (docs/trust.md)"


@dataclass(frozen=True)
class _Proved:
    """What a certificate proves. ``by``: what discharged its invariants; ``stops_seen``: it is for observers
    who see that a run stops; ``left_out``: what the ``checker`` cannot say anything about; ``on_integers``:
    what it says of noise on integers only."""

    claims: Sequence[Claim]
    by: str = ""
    stops_seen: bool = False
    left_out: Sequence[str] = ()
    checker: str = PYTHON
    on_integers: Sequence[Claim] = ()

    @property
    def lines(self) -> list[str]:
        more = f" (invariants discharged by {self.by})" if self.by else ""
        more += ", if it is seen that a run stops" if self.stops_seen else ""
        return [
            *(f"{claim}{more}" for claim in self.claims),
            *(f"{claim}{more}, if noise and inputs are integers" for claim in self.on_integers),
        ]


def _claims(automaton: Automaton, text: bytes, ask: Ask) -> _Proved:
    """What a certificate proves about an automaton whose stops are hidden, or about its other reading."""
    from symdipa.files.formats.halting import halt_shown

    try:
        return ask(automaton, text)
    except _Refused as refused:
        if not refused.other:
            raise
        try:
            return replace(ask(halt_shown(automaton), text), stops_seen=True)
        except _Refused as other:
            raise refused if other.other else other from None


def _claims_by_coq(automaton: Automaton, text: bytes, timeout: float | None) -> _Proved:
    from symdipa.evidence.certificates import extracted

    try:
        found = extracted.verify(automaton, text, timeout)
    except extracted.CheckerUnusable as error:
        raise Unusable(str(error)) from None
    except extracted.NotAccepted as no:
        if no.why == "not_proved":
            raise _Refused(Exit.UNKNOWN, f"no theorem is about {no.message}") from None
        answer = Exit.UNUSABLE if no.broken else Exit.NOT_PRIVATE
        raise _Refused(answer, no.message, "automaton" if no.other else None, no.other) from None
    checker = COQ.format(" and on ".join(found.noise))
    return _Proved(
        (*found.claims, *found.together),
        left_out=found.left_out,
        checker=checker,
        on_integers=found.on_integers,
    )


def _claims_about(automaton: Automaton, text: bytes, solver: str | None) -> _Proved:
    """What a certificate proves; a solver is asked only if it has invariants."""
    from symdipa.checker import CertificateRefused

    try:
        return _claims_in_python(automaton, text, solver)
    except CertificateRefused as refused:
        answer = Exit.UNUSABLE if refused.rule in UNREADABLE else Exit.NOT_PRIVATE
        raise _Refused(answer, refused.message, refused.rule, refused.rule == "automaton") from None


def _claims_in_python(automaton: Automaton, text: bytes, solver: str | None) -> _Proved:
    from symdipa.checker import CertificateRefused, verify

    try:
        found = verify(automaton, text)
        return _Proved((*found.claims, *found.together))
    except CertificateRefused as refused:
        if refused.rule != "kind":
            raise
    from importlib.util import find_spec

    from symdipa.evidence import certificates

    chosen = solver or ("cvc5" if find_spec("cvc5") else "z3")
    if find_spec(chosen) is None:
        raise Unusable(f"{chosen} is not installed")
    found = certificates.verify(automaton, text, chosen)
    return _Proved((*found.claims, *found.together), chosen)
