"""Options that commands share, how their values are read, and options that a command gets as one value."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symdipa.interface.cli.base import Reading, Target, View
from symdipa.model.options import ENCODINGS, ENGINES, FORMATS, HALTS, SOLVERS, CheckOptions
from symdipa.model.parts import BEYOND, computable
from symdipa.model.patterns import Pattern

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from symdipa.model.adjacency.differ import Differ

PATTERN_NAMES = "|".join(pattern.short for pattern in Pattern)


def as_seconds(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """A time span must be positive and finite."""
    if value is not None and not 0 < value < math.inf:
        raise click.BadParameter(f"{value} is not a positive number of seconds")
    return value


def as_bytes(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """A size in bytes; ``K``, ``M``, ``G`` or ``T`` (and ``B``) may stand behind it, in powers of 1024."""
    if value is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", value.strip(), re.IGNORECASE)
    size = float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " ") if found else 0
    if not 1 <= size < 2**63:
        raise click.BadParameter(f"{value!r} is not a size like 500M or 2G")
    return int(size)


def rational(text: str) -> Fraction | None:
    """A rational like ``20``, ``-5/4``, ``0.5`` or ``1e-6``; ``None`` for anything else.

    One that cannot be computed with is a complaint of the option.
    """
    beyond = len(text) > 200 or re.search(r"[eE][+-]?\d{4}", text)
    try:
        found = None if beyond else Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        return None
    if found is not None and computable(found):
        return found
    shown = text if len(text) <= 40 else f"{text[:37]}..."
    raise click.BadParameter(f"{shown!r} {BEYOND}")


def number(text: str) -> Fraction:
    """A rational; the complaint of the option otherwise."""
    found = rational(text)
    if found is None:
        raise click.BadParameter(f"{text!r} is not a number like 2, -0.5 or 1/3")
    return found


def as_positive(ctx: click.Context, param: click.Parameter, value: str | None) -> Fraction | None:
    """A positive rational."""
    if value is None:
        return None
    found = rational(value)
    if found is None or found <= 0:
        raise click.BadParameter(f"{value!r} is not a positive number like 20, 5/4 or 0.5")
    return found


def as_differ(ctx: click.Context, param: click.Parameter, value: str | None) -> Differ | None:
    """Which entries may differ."""
    found = as_differs(ctx, param, value)
    if len(found) > 1:
        raise click.BadParameter(f"{value!r} is a range, which 'symdipa weight' makes a table of")
    return found[0] if found else None


def as_differs(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[Differ, ...]:
    """Which entries may differ, or a range of such; none if nothing is given."""
    from symdipa.model.adjacency.differ import each_of
    from symdipa.model.adjacency.letters import DifferError

    try:
        return () if value is None else tuple(each_of(value))
    except DifferError as error:
        raise click.BadParameter(str(error)) from None


def as_pattern(ctx: click.Context, param: click.Parameter, value: str | None) -> Pattern | None:
    """A pattern by its two letters or by its name: ``LP``, ``leaking-pair``."""
    return None if value is None else _pattern(value)


def as_patterns(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[Pattern, ...]:
    """Several patterns; all where none is named."""
    return tuple(map(_pattern, value)) or tuple(Pattern)


def _pattern(name: str) -> Pattern:
    wanted = name.lower().replace("_", "-").replace(" ", "-")
    for pattern in Pattern:
        if wanted in (pattern.short.lower(), pattern.key):
            return pattern
    known = ", ".join(f"{pattern.short} ({pattern.key})" for pattern in Pattern)
    raise click.BadParameter(f"{name!r} is not a pattern; there are {known}")


def as_settings(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[tuple[str, Any], ...]:
    """Parameters of programs, each once."""
    from symdipa.programs.loading import setting

    try:
        found = [setting(text) for text in value]
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    twice = next((name for name, _ in found if sum(name == other for other, _ in found) > 1), None)
    if twice is not None:
        raise click.BadParameter(f"{twice} is set twice")
    return tuple(found)


def complete_patterns(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Patterns for a shell."""
    return [pattern.short for pattern in Pattern if pattern.short.startswith(incomplete.upper())]


def complete_families(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Families for a shell, with what they are where it shows that."""
    from click.shell_completion import CompletionItem

    from symdipa.files.families import FAMILIES

    fitting = (family for family in FAMILIES.values() if family.name.startswith(incomplete))
    return [CompletionItem(family.name, help=family.summary) for family in fitting]


def option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    """A click option whose help shows its default, if it has one."""
    return click.option(*names, **{"show_default": settings.get("default") is not None} | settings)


with_engine = option(
    "--engine",
    type=click.Choice(ENGINES),
    default=ENGINES[0],
    help="What decides; both: explicit and z3, which must agree.",
)
with_encoding = option(
    "--encoding",
    type=click.Choice(sorted(ENCODINGS)),
    default=ENCODINGS[0],
    help="How the symbolic search looks for leaking pairs and violating paths.",
)
with_solver = option(
    "--solver",
    type=click.Choice(SOLVERS),
    help="What the symbolic search runs on; default: z3, and minisat for auto.",
)
with_slicing = option(
    "--slicing/--no-slicing",
    default=True,
    help="Look at one group of connected variables at a time (but for --engine explicit).",
)
FILE = click.Path(readable=False, allow_dash=True)
"""Files to read, whose names shells complete. What is wrong with one is for the reader to say."""


def _with_those_inside(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """The files; for a folder the automata in it, if there are any, for a program its mechanisms."""
    return tuple(each for name in value for each in _inside(name))


def _inside(name: str) -> list[str]:
    if os.path.isdir(name):
        from symdipa.files import formats

        return formats.automata_in(name) or [name]
    from symdipa.programs.loading import mechanisms_in

    return mechanisms_in(name)


with_file = click.argument("file", type=FILE)
with_files = click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", type=FILE, callback=_with_those_inside
)
with_format = option(
    "--format", "fmt", type=click.Choice(FORMATS), help="Format of the input; else told by its name."
)
with_strict = option(
    "--strict", is_flag=True, help="Branches whose guards overlap, and names that look misspelt, are errors."
)
with_halt = option(
    "--halt",
    type=click.Choice(HALTS),
    help="Whether it is seen that a run stops where no branch holds. Default: as FILE says, else hidden; "
    "check, weight, certify and report then decide both.",
)
with_settings = option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    callback=as_settings,
    help="A parameter of a program, or how many entries one of its inputs has; may be repeated.",
)
with_differ = option(
    "--differ",
    callback=as_differ,
    metavar="WHICH",
    help="Which entries of adjacent inputs may differ: all, entries=K (at most K), window=W (within W "
    "consecutive ones), or pattern=RE over = and ~. Default: as FILE says, else all.",
)
with_differs = option(
    "--differ",
    "differs",
    callback=as_differs,
    metavar="WHICH",
    help="Which entries of adjacent inputs may differ: all, entries=K (at most K), window=W (within W "
    "consecutive ones), or pattern=RE over = and ~. Default: as FILE says, else all. A range such as "
    "entries=1..8 gives a table of D.",
)
with_json = option("--json", "as_json", is_flag=True, help="One JSON object per file and line.")
with_bound = option(
    "--bound", type=click.IntRange(min=1), metavar="N", help="Unroll at most N steps (symbolic search only)."
)


with_deciding = with_engine, with_encoding, with_solver, with_slicing, with_bound
"""How the four patterns are decided."""


def timeout_option(help: str, default: float | None = None) -> Callable[[Any], Any]:
    """The option ``--timeout``, in seconds."""
    return option("--timeout", type=float, callback=as_seconds, default=default, metavar="SECONDS", help=help)


with_timeout = timeout_option("Give up on a file after this long.")
with_memory = option(
    "--memory",
    callback=as_bytes,
    metavar="SIZE",
    help="Give up on a file beyond this much memory, as 500M or 2G; default: three quarters of what is "
    "available (Linux).",
)
with_max_weight = option(
    "--max-weight",
    callback=as_positive,
    metavar="Q",
    help="A budget for D: exit with 0 if a bound of at most Q is proved, with 1 if a run proves that D is "
    "larger, else with 3.",
)


def as_output(ctx: click.Context, param: click.Parameter, value: Path | None) -> Target | None:
    """Where to write; ``-`` is standard output."""
    return None if value is None else Target(None if str(value) == "-" else value)


def output_option(*names: str, help: str, **settings: Any) -> Callable[[Any], Any]:
    """An option that names a file to write."""
    kind = click.Path(dir_okay=False, allow_dash=True, path_type=Path)
    return option(*names, type=kind, callback=as_output, metavar="FILE", help=help, **settings)


def gathered(name: str, make: Callable[..., Any], *options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Options whose values a command gets as one: what ``make`` makes of them, in the argument ``name``."""

    def decorate(command: Any) -> Any:
        def call(*arguments: Any, **values: Any) -> Any:
            made = make(**{parameter: values.pop(parameter) for parameter in parameters})
            return command(*arguments, **values, **{name: made})

        decorated: Any = wraps(command)(call)
        others = len(getattr(decorated, "__click_params__", ()))
        for each in reversed(options):
            decorated = each(decorated)
        parameters = [param.name for param in decorated.__click_params__[others:]]
        return decorated

    return decorate


def with_check_options(*options: Callable[[Any], Any], **fixed: Any) -> Callable[[Any], Any]:
    """Options as one :class:`CheckOptions`, together with ``fixed`` ones, in the argument ``options``."""
    return gathered("options", partial(CheckOptions, **fixed), *options)


with_output = gathered(
    "output",
    lambda output: output or Target(),
    output_option(
        "-o",
        "--output",
        help="Write here, not to standard output. An existing file is replaced, an input never.",
    ),
)
with_automaton_output = gathered(
    "output",
    lambda output, force: Target(output and output.path, force),
    output_option(
        "-o",
        "--output",
        help="Write here, not to standard output. An existing file is replaced (.dipa only with --force), an "
        "input never.",
    ),
    option("--force", is_flag=True, help="Replace an existing .dipa file."),
)
"""Where to write what may be a ``.dipa`` file."""

with_reading = gathered("reading", Reading, with_strict, with_format, with_halt, with_settings, with_differ)
with_reading_as_it_is = gathered("reading", Reading, with_strict, with_format, with_halt, with_settings)
"""The same without ``--differ``."""
with_view = gathered("view", View, with_json)
