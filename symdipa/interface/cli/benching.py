"""``bench``."""

from __future__ import annotations

import shlex
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symdipa.interface.bench import ENGINES, SOLVERS, TABLES
from symdipa.interface.bench.presets import PRESETS
from symdipa.interface.cli.base import Exit, Target, Unusable, echo_problems, leave, usable
from symdipa.interface.cli.options import (
    FILE,
    as_bytes,
    as_settings,
    complete_families,
    gathered,
    option,
    output_option,
    timeout_option,
)
from symdipa.model.errors import InvalidInput
from symdipa.model.options import ENCODINGS

if TYPE_CHECKING:
    from symdipa.interface.bench.plan import Item, Plan
    from symdipa.interface.bench.store import Row, Store
    from symdipa.interface.bench.sweep import Executor, News

RESULTS = "bench-results"

BENCH_STATUS = """\b
Exit status: 0 every run has an answer, private or not; 2 some input unusable, or wrong
usage; 3 some run reached a limit; 4 a bug in symdipa (engines disagree, an answer is not
the documented one, or a run failed). The first of 4, 2, 3, 0; 130 after Ctrl-C."""


def _list_option(
    names: tuple[str, str], known: tuple[str, ...], what: str, default: str, help: str
) -> Callable[[Any], Any]:
    """An option that is a list with commas, may be repeated, and takes known words only."""

    def read(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
        words = [word.strip() for text in value for word in text.split(",")]
        for word in words:
            if word not in known:
                raise click.BadParameter(f"{word!r} is not {what}; there are {', '.join(known)}")
        return tuple(dict.fromkeys(words))

    return option(*names, multiple=True, default=[default], callback=read, metavar="LIST", help=help)


def _as_written(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Parameters of programs as texts, which are part of names in the results."""
    as_settings(ctx, param, value)
    return tuple(text.strip() for text in value)


def _effort(timeout: float, **settings: Any) -> dict[str, Any]:
    """The fields of a :class:`Plan` that say how its runs are made."""
    return {"seconds": timeout, **settings}


@click.command(epilog=BENCH_STATUS)
@click.argument("paths", nargs=-1, metavar="[FILE|FOLDER]...", type=FILE)
@option(
    "--family",
    "families",
    multiple=True,
    metavar="FAMILY",
    shell_complete=complete_families,
    help="Members of a family (may be repeated).",
)
@option(
    "--sizes",
    "sizes_of",
    multiple=True,
    metavar="LIST",
    help="Which members, as 1,2,5,10:80:10; once for all families, or once for each.",
)
@option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_as_written,
    help="A parameter of all programs among the files; may be repeated.",
)
@option(
    "--preset",
    type=click.Choice(list(PRESETS)),
    help="A sweep of the paper's evaluation, or of published mechanisms.",
)
@option(
    "--examples",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Where table1 and mechanisms find the examples.",
)
@option(
    "--peer",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="For mechanisms: also the C files in clones of checkdp and shadowdp in this folder.",
)
@gathered(
    "compared",
    dict,
    _list_option(("--engine", "engines"), ENGINES, "an engine", ",".join(ENGINES), "Engines to compare."),
    _list_option(
        ("--encoding", "encodings"),
        ENCODINGS,
        "an encoding",
        ENCODINGS[0],
        f"Encodings to compare: {', '.join(ENCODINGS)}.",
    ),
    _list_option(
        ("--solver", "solvers"), SOLVERS, "a solver", SOLVERS[0], f"Solvers to compare: {', '.join(SOLVERS)}."
    ),
)
@gathered(
    "effort",
    _effort,
    timeout_option("Limit of each run.", default=60.0),
    option(
        "--memory",
        callback=as_bytes,
        default="2G",
        metavar="SIZE",
        help="Limit of each run, as 500M or 2G (Linux).",
    ),
    option(
        "--warmup",
        type=click.IntRange(0, 1000),
        default=1,
        metavar="N",
        help="Runs of the first item, with each engine, that do not count.",
    ),
    option("--repeat", type=click.IntRange(1, 1000), default=3, metavar="N", help="Runs that count."),
    option(
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        default=0,
        metavar="N",
        help="Of Python's hashes in the runs.",
    ),
    option(
        "--skip/--no-skip",
        default=True,
        help="Members of a family beyond one that reached a limit are not tried.",
    ),
)
@option(
    "--jobs",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="So many runs at a time on this machine (default: 1).",
)
@option("--dask", "address", metavar="ADDRESS", help="Run on the cluster of the Dask scheduler at ADDRESS.")
@option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help=f"Where the results are [default: {RESULTS}, or {RESULTS}/PRESET].",
)
@option("--restart", is_flag=True, help="Discard the results that are there, and begin anew.")
@option(
    "--table",
    "table_as",
    type=click.Choice(TABLES),
    help="Print the results in this form [after a sweep: md].",
)
@output_option(
    "--plot",
    help="Draw the results, as .svg, .png or .pdf.",
)
def bench(
    paths: tuple[str, ...],
    families: tuple[str, ...],
    sizes_of: tuple[str, ...],
    settings: tuple[str, ...],
    preset: str | None,
    examples: Path | None,
    peer: Path | None,
    compared: dict[str, tuple[str, ...]],
    effort: dict[str, Any],
    jobs: int | None,
    address: str | None,
    output: Path | None,
    restart: bool,
    table_as: str | None,
    plot: Target | None,
) -> None:
    """Measure engines on families, files and folders; every run is a process of its own.

    Results go to a folder. The same command goes on where it was interrupted; without anything to run,
    --table and --plot show what is in the folder, and without those an interrupted sweep goes on.

    \b
    Examples: symdipa bench --family m-range --sizes 1,2,5,10:80:10 --plot m-range.svg
              symdipa bench examples --engine auto,z3 --encoding marks,ghost -o /tmp/results
              symdipa bench --preset table1 --table latex
              symdipa bench --preset mechanisms --peer /tmp/clones
              symdipa bench -o /tmp/results --table csv
    """
    from symdipa.interface.bench.plan import BadSweep, Plan, configs, unique

    store = None
    if plot is not None:
        from symdipa.interface.bench.plots import SUFFIXES
        from symdipa.interface.pictures.plotting import check_plot

        picture = plot.path or Path("-")
        with usable():
            check_plot(picture, SUFFIXES, ())
        plot.will_hold(picture.suffix.lower()[1:])
    if address is not None and jobs is not None:
        raise click.UsageError("--jobs is for this machine, --dask for a cluster: give one of them")
    folder = output or Path(RESULTS, preset or "")
    names_items = bool(paths or families or preset)
    try:
        if names_items:
            items = _items(paths, families, sizes_of, settings, preset, examples, peer)
            compared = _usual(compared, preset)
            plan = Plan(unique(item for item, _ in items), configs(**compared), **effort, preset=preset)
            inputs = {item.stored: data for item, data in items if item.stored and data is not None}
            store = _opened(folder, plan, inputs, restart)
        else:
            _check_nothing_to_run()
            store = _stored(folder)
        runs = names_items or (table_as is None and plot is None)
        if runs:
            _run(store, jobs, address)
        _show(store, table_as, plot)
    except BadSweep as error:
        raise Unusable(str(error)) from error
    finally:
        if store is not None:
            store.close()
    leave(_status(store, runs))


SETTINGS = (
    "sizes_of", "settings", "examples", "peer", "engines", "encodings", "solvers", "timeout", "memory",
    "warmup", "repeat", "seed", "skip", "restart",
)  # fmt: skip


def _check_nothing_to_run() -> None:
    """Settings of a sweep without anything to sweep are a mistake: results have theirs already."""
    from click.core import ParameterSource

    ctx = click.get_current_context()
    for param in ctx.command.params:
        if param.name in SETTINGS and ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"{param.opts[0]} needs something to run: files, folders, --family or --preset"
            )


def _usual(compared: dict[str, tuple[str, ...]], preset: str | None) -> dict[str, tuple[str, ...]]:
    """What is compared: the engines of a preset that has some, unless others are asked for."""
    from click.core import ParameterSource

    engines = PRESETS[preset].engines if preset is not None else None
    asked = click.get_current_context().get_parameter_source("engines") is ParameterSource.COMMANDLINE
    return compared if engines is None or asked else {**compared, "engines": engines}


def _items(
    paths: tuple[str, ...],
    families: tuple[str, ...],
    sizes_of: tuple[str, ...],
    settings: tuple[str, ...],
    preset: str | None,
    examples: Path | None,
    peer: Path | None,
) -> list[tuple[Item, bytes | None]]:
    """What is to be run, and the content of files."""
    from symdipa.interface.bench import presets
    from symdipa.interface.bench.plan import member, sizes

    if peer is not None and preset != "mechanisms":
        raise click.UsageError("--peer is for --preset mechanisms")
    if preset is not None:
        if paths or families or sizes_of or settings:
            raise click.UsageError(
                "--preset says by itself what is run: give no files, --family, --sizes or --set"
            )
        chosen = PRESETS[preset].items(examples, peer)
        return [(item, None) if path is None else _of_file(item, path) for item, path in chosen]
    if examples is not None:
        raise click.UsageError("--examples is for --preset table1 and mechanisms")
    if families and len(sizes_of) not in (1, len(families)):
        wanted = "needs --sizes" if not sizes_of else "needs --sizes once, or once for each --family"
        raise click.UsageError(f"--family {wanted}, as --sizes 1,2,5,10:80:10")
    if sizes_of and not families:
        raise click.UsageError("--sizes needs --family")
    if settings and not paths:
        raise click.UsageError("--set is for programs: name their files")
    lists = sizes_of if len(sizes_of) == len(families) else sizes_of * len(families)
    return [
        *((member(f, size), None) for f, text in zip(families, lists, strict=True) for size in sizes(text)),
        *(_of_file(*presets.named(name, path, settings)) for name, path in presets.files(paths)),
    ]


def _of_file(item: Item, path: Path) -> tuple[Item, bytes | None]:
    """The item of a file with its content, or with what is wrong with it, which is also said at once."""
    import hashlib
    from dataclasses import replace

    from symdipa.interface.bench.sweep import automaton_of

    try:
        automaton_of(item, path)
        data = path.read_bytes()
    except InvalidInput as error:
        echo_problems(str(path), error)
        return replace(item, problem=str(error.problems[0])), None
    digest = hashlib.sha256(data).hexdigest()
    return replace(item, stored=f"inputs/{digest[:16]}{path.suffix.lower()}", sha256=digest), data


def _opened(folder: Path, plan: Plan, inputs: dict[str, bytes], restart: bool) -> Store:
    """The results to go on with, or a new folder of results."""
    from symdipa.interface.bench.plan import BadSweep
    from symdipa.interface.bench.store import Store

    if restart and Store.exists(folder):
        Store.discard(folder)
    if not Store.exists(folder):
        return Store.create(folder, plan, inputs)
    store = Store.load(folder)
    if differences := plan.differs_from(store.plan):
        raise BadSweep(
            f"{folder} holds the results of another sweep, with other {', '.join(differences)}: "
            "name another folder with -o, or discard those results with --restart"
        )
    return store


def _stored(folder: Path) -> Store:
    from symdipa.interface.bench.plan import BadSweep
    from symdipa.interface.bench.store import Store

    try:
        return Store.load(folder)
    except BadSweep as error:
        raise BadSweep(f"{error}; to run one, give files, folders, --family or --preset") from error


def _executor(jobs: int | None, address: str | None) -> Executor:
    """What makes the runs; not to be opened before something is to be run."""
    if address is None:
        from symdipa.interface.bench.sweep import Local

        return Local(jobs or 1)
    from symdipa.interface.bench.cluster import Cluster

    return Cluster(address)


def _run(store: Store, jobs: int | None, address: str | None) -> None:
    """Make what is missing."""
    from symdipa.interface.bench.machine import load, machine
    from symdipa.interface.bench.sweep import sweep

    total, there = len(store.plan.tasks), len(store.rows)
    if there == total:
        click.echo(f"all {total} runs are in {store.folder} already", err=True)
        return
    begun = f"going on: {there} of {total} runs are there" if there else f"{total} runs"
    click.echo(f"{begun}; results in {store.folder}; if interrupted, the same command goes on", err=True)
    here = machine()
    if there and any(here != known for known in store.machines):
        click.echo("warning: earlier runs were made on another machine or with other versions", err=True)
    with closing(_executor(jobs, address)) as executor:
        started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        where = {"jobs": jobs or 1} if address is None else {"dask": address}
        session = {"started": started, "command": shlex.join(sys.argv), **where}
        store.begin({**session, "load": load(), "machine": here})
        with closing(store), _display(store) as tell:
            sweep(store, executor, tell)


@contextmanager
def _display(store: Store) -> Iterator[Callable[[News], None]]:
    """On a terminal a live table of the last rows with a bar; elsewhere a line for each row."""
    if sys.stderr.isatty():
        with _live(store) as tell:
            yield tell
        return

    def plain(news: News) -> None:
        if news.row is not None:
            click.echo(f"[{len(store.rows)}/{len(store.plan.tasks)}] {_line(news.row)}", err=True)

    yield plain


@contextmanager
def _live(store: Store) -> Iterator[Callable[[News], None]]:
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Table
    from rich.text import Text

    console = Console(stderr=True)
    columns = TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    bar = Progress(*columns, console=console, auto_refresh=False)
    task = bar.add_task("", total=len(store.plan.tasks), completed=len(store.rows))
    recent: deque[Row] = deque(store.rows[-10:], maxlen=10)
    loud: list[str] = []
    drawn = 0.0

    def picture(running: tuple[str, ...]) -> Group:
        table = Table(box=None, padding=(0, 2), header_style="bold")
        for title in ("item", "engine", "run", "outcome", "answer", "s", "MB"):
            table.add_column(title, justify="right" if title in ("s", "MB") else "left")
        for row in recent:
            style = "" if row["outcome"] == "answered" else "yellow"
            if row["wrong"] or row["outcome"] == "failed":
                style = "bold red"
            table.add_row(*map(Text, _row_cells(row)), style=style)
        names = ", ".join(name.replace("|", " ") for name in running[:4])
        now = Text(f"now: {names}", style="dim", overflow="ellipsis", no_wrap=True)
        return Group(*(Text(line, style="bold red") for line in loud), table, now, bar)

    with Live(console=console, auto_refresh=False) as live:

        def tell(news: News) -> None:
            nonlocal drawn
            if news.row is not None:
                recent.append(news.row)
                if news.row["wrong"]:
                    loud.append(f"WRONG: {_line(news.row)}")
                bar.update(task, completed=len(store.rows))
            clock = time.monotonic()
            if clock - drawn > 0.1 or len(store.rows) == len(store.plan.tasks):
                drawn = clock
                live.update(picture(news.running), refresh=True)

        live.update(picture(()), refresh=True)
        yield tell


def _row_cells(row: Row) -> list[str]:
    from symdipa.interface.bench.plan import Config
    from symdipa.interface.bench.tables import number

    config = Config(row["engine"], row["encoding"], row["solver"])
    which = f"{row['phase']} {row['repetition']}"
    peak = "" if row["peak_mb"] is None else f"{row['peak_mb']:.0f}"
    answer = f"WRONG: {row['wrong']}" if row["wrong"] else row["verdict"] or ""
    return [row["item"], config.title, which, row["outcome"], answer, number(row["seconds"]), peak]


def _line(row: Row) -> str:
    """A row in words."""
    item, config, which, outcome, answer, seconds, peak = _row_cells(row)
    parts = [outcome, *([answer] if answer else []), *([f"{seconds} s, {peak} MB"] if seconds else [])]
    return f"{item}, {config}, {which}: " + ", ".join([*parts, *([row["remark"]] if row["remark"] else [])])


def _show(store: Store, table_as: str | None, plot: Target | None) -> None:
    """The table on standard output, the picture, and contradictions where they are seen."""
    from symdipa.interface.bench import tables

    missing = len(store.plan.tasks) - len(store.rows)
    if missing:
        click.echo(f"{store.folder}: {missing} of {len(store.plan.tasks)} runs have not been made", err=True)
    if table_as is not None or plot is None:
        click.echo(tables.table(store, table_as or "md"))
    if plot is not None and plot.path is not None:
        from symdipa.interface.bench import plots

        with usable(plot):
            plots.plot(store, plot.path)
        plot.tell("a picture of the results")
    for line in tables.lines(store.plan, store.rows):
        for trouble in line.trouble:
            click.secho(f"CONTRADICTION: {trouble}", fg="red", bold=True, err=True)
        for row in line.rows:
            if row["outcome"] == "failed":
                click.secho(f"FAILED: {_line(row)}", fg="red", err=True)


def _status(store: Store, ran: bool) -> Exit:
    """What the results come to; where they are only shown, limits that were reached earlier do not matter."""
    from symdipa.interface.bench import tables

    found = tables.lines(store.plan, store.rows)
    outcomes = {row["outcome"] for row in store.rows}
    if any(line.trouble for line in found) or "failed" in outcomes:
        return Exit.BUG
    if not ran:
        return Exit.PRIVATE
    if "unusable" in outcomes:
        return Exit.UNUSABLE
    return Exit.UNKNOWN if tables.reached_limits(found) else Exit.PRIVATE
