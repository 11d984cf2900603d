"""``probability`` and ``simulate``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import inf, sqrt
from typing import TYPE_CHECKING, TypeVar, cast

import click

from symdipa.interface.cli.base import Exit, Reading, echo_document, echo_notes, leave, shown
from symdipa.interface.cli.options import (
    as_positive,
    number,
    option,
    rational,
    with_file,
    with_json,
    with_reading,
)
from symdipa.model.limits import Limits, stopwatch
from symdipa.model.spelling import counted, no_such

if TYPE_CHECKING:
    from symdipa.evidence.probability import Window
    from symdipa.evidence.probability.linear.events import Asked, Observed
    from symdipa.evidence.simulation import Frequent, Seen, Shown, Simulation
    from symdipa.model.automaton import Automaton

Parsed = TypeVar("Parsed")

MOST_ENTRIES = 100_000
COMPARED = 10
"""How many output sequences are shown and compared with computed probabilities."""
COMPARING_SECONDS = 5.0
CHEAP_NUMBERS, CHEAP_RUNS = 20_000_000, 50
"""The most numbers in two-dimensional tables, and the most runs, that a comparison may take."""


def _entries(text: str, parse: Callable[[str], Parsed]) -> list[Parsed]:
    """Entries separated by commas or spaces; ``E*N`` stands for the entry ``E``, N times."""
    found: list[Parsed] = []
    for entry in re.split(r"[,\s]+", text.strip()):
        if not entry:
            continue
        repeated = re.fullmatch(r"(.+)\*(\d+)", entry)
        count = int(repeated[2]) if repeated else 1
        if len(found) + count > MOST_ENTRIES:
            raise click.BadParameter(f"more than {MOST_ENTRIES} entries")
        found += [parse(repeated[1] if repeated else entry)] * count
    return found


def _inputs(ctx: click.Context, param: click.Parameter, value: str) -> list[Fraction]:
    return _entries(value, number)


def _interval(text: str) -> Window:
    """``lo..hi``; an end that is left out is infinite."""
    low, _, high = text.partition("..")
    ends = [
        sign * inf if end in ("", "inf", "-inf", "+inf") and end != wrong else float(number(end))
        for end, sign, wrong in ((low, -1, "inf"), (high, 1, "-inf"))
    ]
    if ends[0] > ends[1]:
        raise click.BadParameter(f"{text!r} is empty: the lower end is above the upper one")
    return ends[0], ends[1]


def _item(text: str) -> str | Window:
    return _interval(text) if ".." in text else text


def _output(text: str) -> Observed:
    """A symbol or an interval; ``;`` stands between the items of a list."""
    items = [_item(part.strip()) for part in text.split(";")]
    return items[0] if len(items) == 1 else tuple(items)


def _outputs(ctx: click.Context, param: click.Parameter, value: str | None) -> list[Observed] | None:
    return None if value is None else _entries(value, _output)


def _windows(ctx: click.Context, param: click.Parameter, value: str | None) -> list[Window]:
    found = _entries(value or "", _interval)
    if any(first[1] > second[0] for first, second in pairwise(sorted(found))):
        raise click.BadParameter("the windows overlap")
    return found


def _tolerance(ctx: click.Context, param: click.Parameter, value: float) -> float:
    if not 0 < value < inf:
        raise click.BadParameter(f"{value} is not a positive number")
    return value


with_inputs = option(
    "--inputs",
    callback=_inputs,
    default="",
    show_default=False,
    metavar="NUMBERS",
    help='What input states read, as "1, -0.5, 1/3"; "2*10" is ten times a 2.',
)
with_eps = option("--eps", callback=as_positive, default="1", metavar="E", help="Value of eps.")


@click.command()
@with_file
@option(
    "--run",
    metavar="STEPS",
    help="The run: numbers of transitions, from 0 in the order of FILE, or the states that it visits.",
)
@option(
    "--outputs",
    callback=_outputs,
    metavar="OUTPUTS",
    help='What is output: symbols, and intervals like "0..1.5", "-1.." or ".." for numbers; "above;0..2" '
    "where a list of both is output in one step.",
)
@with_inputs
@with_eps
@option(
    "--tolerance",
    type=float,
    default=1e-6,
    callback=_tolerance,
    metavar="T",
    help="Largest error of the logarithm that is accepted.",
)
@with_reading
@with_json
def probability(
    file: str,
    run: str | None,
    outputs: list[Observed] | None,
    inputs: list[Fraction],
    eps: Fraction,
    tolerance: float,
    reading: Reading,
    as_json: bool,
) -> None:
    """Compute the probability that FILE, on given inputs, takes a run or begins with given outputs.

    With --run the automaton must take exactly these transitions (--outputs may then say in which intervals
    numbers have to lie). With --outputs alone all runs with these outputs count. The result comes with a
    bound on its error. Exit status 0: computed; 2: wrong usage; 3: not to this accuracy, or too large.

    \b
    Examples: symdipa new svt -o svt.dipa
              symdipa probability svt.dipa --outputs "ready below below above" --inputs "0 1 2"
              symdipa probability svt.dipa --run "0 1*2 2" --inputs 0,1,2 --eps 1/2
    """
    if run is None and outputs is None:
        raise click.UsageError("say with --run or --outputs what is to happen")
    automaton = reading.read_or_leave(file)
    from symdipa.evidence.probability import (
        ProbabilityRefused,
        TotalLogProbability,
        log_probability,
        total_log_probability,
    )
    from symdipa.model.errors import InvalidInput, LimitReached

    seconds = stopwatch()
    outputs = None if outputs is None else _of_automaton(automaton, outputs)
    steps = None if run is None else _run(automaton, run)
    _check_whole(automaton, inputs)
    try:
        if steps is not None:
            read = _inputs_of_run(automaton, steps, inputs)
            windows = _windows_of_run(automaton, steps, outputs)
            one = log_probability(automaton, steps, read, windows, eps, tolerance)
            found = TotalLogProbability(one.value, one.error, one.method, one.nodes, runs=1)
        else:
            assert outputs is not None
            _check_symbols(automaton, outputs)
            found = total_log_probability(automaton, inputs, outputs, eps, tolerance)
    except (LimitReached, ProbabilityRefused) as reason:
        click.echo(f"{shown(file)}: not computed: {reason}", err=True)
        leave(Exit.UNKNOWN)
    except InvalidInput as error:
        raise click.UsageError(error.problems[0].message) from error
    if as_json:
        from symdipa.interface.reports import objects

        value = objects.probability(file, eps, inputs, steps, outputs, found, seconds())
        click.echo(json.dumps(value))
    else:
        from symdipa.interface.reports import probability as report

        echo_document(report.probability(shown(file), automaton, eps, found, steps is not None))
    leave(Exit.PRIVATE if found.complete else Exit.UNKNOWN)


def _of_automaton(automaton: Automaton, outputs: Sequence[Observed]) -> list[Observed]:
    """What is asked for in words of a program, in symbols of its automaton."""
    from symdipa.evidence.probability.linear.events import items_of
    from symdipa.interface.reports.probability import symbols_in_words

    symbols = {text: symbol for symbol, text in symbols_in_words(automaton).items()}
    known = {part.symbol for t in automaton.transitions for part in t.output.parts}
    found: list[Observed] = []
    for output in outputs:
        items = tuple(
            symbols.get(item, item) if isinstance(item, str) and item not in known else item
            for item in items_of(output)
        )
        found.append(items[0] if len(items) == 1 else items)
    return found


def _run(automaton: Automaton, text: str) -> list[int]:
    """A run by the numbers of its transitions, or by the states that it visits."""
    words = _entries(text, str)
    if words and all(word in automaton.index for word in words):
        if words[0] != automaton.initial:
            first = _place(automaton, automaton.initial)
            raise click.UsageError(f"a run begins in {first}, not in {_place(automaton, words[0])}")
        return [_between(automaton, source, target) for source, target in pairwise(words)]
    steps = []
    where = automaton.initial
    for word in words:
        if not word.isdecimal() or int(word) >= len(automaton.transitions):
            raise click.UsageError(
                f"{word!r} is neither a state nor the number of a transition. {_listing(automaton)}"
            )
        t = automaton.transitions[int(word)]
        if t.source != where:
            raise click.UsageError(
                f"transition {word} leaves {_place(automaton, t.source)}, but the run is in "
                f"{_place(automaton, where)}. {_listing(automaton)}"
            )
        steps.append(int(word))
        where = t.target
    return steps


def _between(automaton: Automaton, source: str, target: str) -> int:
    found = [
        i for i in automaton.outgoing[automaton.index[source]] if automaton.transitions[i].target == target
    ]
    if len(found) != 1:
        many = "several transitions lead" if found else "no transition leads"
        which = f": {', '.join(map(str, found))}; give numbers of transitions" if found else ""
        ends = f"from {_place(automaton, source)} to {_place(automaton, target)}"
        raise click.UsageError(f"{many} {ends}{which}. {_listing(automaton)}")
    return found[0]


LISTED = 40


def _place(automaton: Automaton, state: str) -> str:
    """What a state is called; of a program a line, and what tells the state from others there."""
    return state if automaton.origin is None else automaton.origin.place_with_values(state)


def _listing(automaton: Automaton) -> str:
    from symdipa.evidence.facts import compared_words, output_words

    rows = []
    for i, t in enumerate(automaton.told.transitions):
        guard = compared_words(automaton, t.guard.text(automaton.variables))
        condition = "" if guard == "true" and automaton.origin is not None else f" if {guard}"
        output = output_words(automaton, t.output)
        shown = "shows nothing" if not output else f"output {output}"
        ends = f"{_place(automaton, t.source)} -> {_place(automaton, t.target)}"
        rows.append(f"  {i}: {ends}{condition}{',' if automaton.origin is None else ':'} {shown}")
    more = [f"  and {len(rows) - LISTED} more"] if len(rows) > LISTED else []
    return "\n".join(["The transitions:", *rows[:LISTED], *more])


def _inputs_of_run(
    automaton: Automaton, run: Sequence[int], inputs: Sequence[Fraction]
) -> list[Fraction | None]:
    reads = [automaton.state(automaton.transitions[t].source).is_input for t in run]
    if sum(reads) != len(inputs):
        raise click.UsageError(f"the run reads {counted(sum(reads), 'input')}; --inputs has {len(inputs)}")
    stream = iter(inputs)
    return [next(stream) if read else None for read in reads]


def _check_whole(automaton: Automaton, inputs: Sequence[Fraction]) -> None:
    for given in inputs:
        if automaton.integer and given.denominator != 1:
            raise click.UsageError(f"with integer noise inputs are integers, not {given}")


def _windows_of_run(
    automaton: Automaton, run: Sequence[int], outputs: Sequence[Observed] | None
) -> list[Asked] | None:
    from symdipa.interface.reports.probability import output_text, symbols_in_words

    if outputs is None:
        return None
    told = symbols_in_words(automaton)
    if len(outputs) != len(run):
        raise click.UsageError(f"the run has {counted(len(run), 'step')}; --outputs has {len(outputs)}")
    from symdipa.evidence.probability.linear.events import intervals_of, matches

    for k, (t, asked) in enumerate(zip(run, outputs, strict=True)):
        output = automaton.transitions[t].output
        if not matches(output, asked):
            each = [
                "a number (ask for an interval)"
                if part.symbol is None
                else told.get(part.symbol, part.symbol)
                for part in output.parts
            ]
            wanted = f"the list {'; '.join(each)}" if len(each) > 1 else each[0]
            other = output_text(asked, told=told)
            raise click.UsageError(f"step {k + 1} of the run outputs {wanted}, not {other}")
    return [intervals_of(asked) or None for asked in outputs]


def _check_symbols(automaton: Automaton, outputs: Sequence[Observed]) -> None:
    from symdipa.evidence.probability.linear.events import items_of
    from symdipa.interface.reports.probability import output_text, symbols_in_words

    told = symbols_in_words(automaton)
    known = {part.symbol for t in automaton.transitions for part in t.output.parts}
    for asked in (item for output in outputs for item in items_of(output)):
        if isinstance(asked, str) and asked not in known:
            if rational(asked) is not None:
                raise click.UsageError(
                    f"{asked} is no symbol; a number is asked for by an interval like 0..1.5"
                )
            words = sorted(told.get(name, name) for name in known if name is not None)
            raise click.UsageError(no_such("output", asked, words))
    most = max((len(t.output.parts) for t in automaton.transitions), default=1)
    for output in outputs:
        if len(items_of(output)) > most == 1:
            raise click.UsageError(
                f"{output_text(output, told=told)} is a list of outputs that one step shows, and every step "
                "shows one; "
                "write those of several steps with spaces or commas between them"
            )


# --------------------------------------------------------------------------------------------------- simulate


@click.command()
@with_file
@with_inputs
@with_eps
@option(
    "-n",
    "samples",
    type=click.IntRange(min=1, max=10_000_000),
    default=10_000,
    metavar="N",
    help="How often it runs.",
)
@option("--seed", type=click.IntRange(min=0), default=0, help="The same seed, the same result.")
@option(
    "--windows",
    callback=_windows,
    metavar="INTERVALS",
    help='Tell numbers that are output apart by these intervals, as "..0 0..1 1..".',
)
@option("--max-steps", type=click.IntRange(min=1), default=1_000, help="Longest execution.")
@option(
    "--compare/--no-compare",
    default=True,
    help=f"Compute the probabilities of the {COMPARED} most frequent outputs, where that is cheap.",
)
@with_reading
@with_json
def simulate(
    file: str,
    inputs: list[Fraction],
    eps: Fraction,
    samples: int,
    seed: int,
    windows: list[Window],
    max_steps: int,
    compare: bool,
    reading: Reading,
    as_json: bool,
) -> None:
    """Let the automaton in FILE run N times on the same inputs, and count what it outputs.

    An execution ends when an input state finds no input left, when no guard holds, or in a state without
    transitions. Beside the shares that were counted stand the computed probabilities of the same outputs.

    \b
    Example: symdipa simulate examples/well_formed/svt.dipa --inputs "0 1 2" -n 100000 --seed 7
    """
    automaton = reading.read_or_leave(file)
    from symdipa.evidence import simulation

    _check_whole(automaton, inputs)
    seconds = stopwatch()
    found = simulation.simulate(automaton, inputs, eps, samples, seed, max_steps, windows)
    if not inputs and found.stopped.get("inputs"):
        what = "automaton" if automaton.origin is None else "program"
        echo_notes(file, [f'the {what} reads inputs, and there are none: give some, as in --inputs "0 1 2"'])
    rows = _frequent(automaton, found, inputs, eps, windows, compare)
    if as_json:
        from symdipa.interface.reports import objects

        value = objects.simulation(file, eps, inputs, seed, found, rows, bool(windows), seconds())
        click.echo(json.dumps(value))
    else:
        from symdipa.interface.reports import probability as report

        echo_document(report.simulation(shown(file), automaton, eps, found, rows, bool(windows), compare))


def _items(shown: Shown) -> tuple[Seen, ...]:
    """What an execution showed in one step, one by one."""
    if shown is None or isinstance(shown, str) or all(isinstance(end, float | int) for end in shown):
        return (cast("Seen", shown),)
    return cast("tuple[Seen, ...]", shown)


def _asked(shown: Shown) -> Observed:
    """What was shown as it is asked for: a number in none of the intervals may be any."""
    items = tuple((-inf, inf) if item is None else item for item in _items(shown))
    return items[0] if len(items) == 1 else items


def _frequent(
    automaton: Automaton,
    found: Simulation,
    inputs: Sequence[Fraction],
    eps: Fraction,
    windows: Sequence[Window],
    compare: bool,
) -> list[Frequent]:
    """The most frequent outputs: how many executions showed and began with them, and the probability."""
    from symdipa.evidence.probability import Budget, ProbabilityRefused, total_log_probability
    from symdipa.evidence.simulation import Frequent
    from symdipa.interface.reports.probability import output_text
    from symdipa.model.errors import LimitReached

    limits = Limits.of(COMPARING_SECONDS)
    order = sorted(found.outputs, key=lambda o: (-found.outputs[o], len(o), [output_text(x) for x in o]))
    rows = []
    for shown_outputs in order[:COMPARED]:
        beginning = found.showing(shown_outputs)
        share = beginning / found.samples
        rows.append(Frequent(shown_outputs, found.outputs[shown_outputs], beginning, share))
        asked = [_asked(output) for output in shown_outputs]
        nowhere = any(item is None for output in shown_outputs for item in _items(output))
        if not compare or not limits.left() or (windows and nowhere):
            continue
        try:
            total = total_log_probability(
                automaton, inputs, asked, eps, budget=Budget(pairs=CHEAP_NUMBERS), max_runs=CHEAP_RUNS
            )
        except (LimitReached, ProbabilityRefused):
            continue
        if total.complete:
            p = total.probability
            spread = sqrt(max(p * (1 - p), 0) / found.samples)
            sigmas = (share - p) / spread if spread > 1e-9 else 0.0
            rows[-1] = replace(rows[-1], computed=p, error=total.error * p, sigmas=sigmas)
    return rows
