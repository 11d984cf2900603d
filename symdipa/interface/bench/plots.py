"""Pictures of results. No meaning rests on colour alone: every configuration has its own marker and line."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symdipa.files.families import FAMILIES
from symdipa.interface.bench.measure import ANSWERED, MEMORY_OUT, TIME_OUT
from symdipa.interface.bench.plan import Item, Plan
from symdipa.interface.bench.presets import TOOLS
from symdipa.interface.bench.store import Store
from symdipa.interface.bench.tables import PUBLISHED, Cell, Line, lines
from symdipa.interface.saving import replace_file
from symdipa.model.errors import SymdipaError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".svg", ".png", ".pdf")

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "*")
LINES: tuple[Any, ...] = ("-", "--", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (3, 3)), (0, (1, 1)))
LIMIT_MARKS = {TIME_OUT: ("x", "time-out"), MEMORY_OUT: ("$M$", "memory-out")}
LIMIT_LOOK: dict[str, Any] = {"color": "0.4", "linewidth": 1, "linestyle": (0, (1, 2))}
PUBLISHED_LOOK: dict[str, Any] = {"color": "0.35", "marker": "+", "linestyle": ":", "markersize": 6}


class NothingToDraw(SymdipaError):
    """No run has a time yet."""


def plot(store: Store, path: Path) -> None:
    """Draw the results in the format of the file's suffix, one of ``SUFFIXES``.

    Families are drawn as time over size, both logarithmic; if there are files, the items stand one below the
    other. Raises :class:`NothingToDraw`, and ``OSError`` where the file cannot be written.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    found = lines(store.plan, store.rows)
    if not any(cell.median is not None for line in found for cell in line.cells):
        raise NothingToDraw(f"there is nothing to draw: no run in {store.folder} has ended yet")
    grows = all(item.family is not None for item in store.plan.items)
    with rc_context({"svg.hashsalt": "symdipa"}):  # the same picture is the same file
        height = 4.6 if grows else 1.6 + 0.42 * len(found)
        figure = Figure(figsize=(7.2, height), layout="constrained")
        axes = figure.add_subplot()
        (_growth if grows else _side_by_side)(axes, store, found)
        axes.grid(alpha=0.3, which="both", linewidth=0.5)
        axes.set_axisbelow(True)
        _legend(axes)
        dates: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
        drawn, suffix = BytesIO(), path.suffix.lower()
        figure.savefig(drawn, format=suffix[1:], metadata=dates.get(suffix))
    replace_file(path, drawn.getvalue())


def _growth(axes: Axes, store: Store, found: Sequence[Line]) -> None:
    plan = store.plan
    families = list(dict.fromkeys(str(item.family) for item in plan.items))
    looks = [(family, config) for family in families for config in plan.configs]
    for place, (family, config) in enumerate(looks):
        lines = [line for line in found if line.item.family == family]
        cells = [cell for line in lines for cell in line.cells if cell.config == config]
        title = config.title if len(families) == 1 else f"{family}, {config.title}"
        _series(axes, plan, [(_size(cell.item), cell) for cell in cells], title, _look(place), upwards=True)
    if _limited(found):
        axes.axhline(plan.seconds, label=f"limit, {plan.seconds:g} s", **LIMIT_LOOK)
    for name, numbers, _ in TOOLS if plan.preset is not None else ():
        points = [(_size(item), float(numbers[item.key])) for item in plan.items if item.key in numbers]
        if points:
            axes.plot(*zip(*points, strict=True), label=f"{name} ({PUBLISHED})", **PUBLISHED_LOOK)
    axes.set_xscale("log")
    axes.set_yscale("log")
    _plain_ticks(axes, sorted({_size(item) for item in plan.items}))
    axes.set_xlabel("N" if len(families) > 1 else f"N ({FAMILIES[families[0]].size})")
    axes.set_ylabel("seconds")
    axes.set_title(f"symdipa check on {', '.join(families)}: median, least to most")


def _side_by_side(axes: Axes, store: Store, found: Sequence[Line]) -> None:
    plan = store.plan
    shift = 0.6 / max(1, len(plan.configs))
    for place, config in enumerate(plan.configs):
        offset = (place - (len(plan.configs) - 1) / 2) * shift
        cells = [(row + offset, line.cells[place]) for row, line in enumerate(found)]
        _series(axes, plan, cells, config.title, {**_look(place), "linestyle": ""}, upwards=False)
    if _limited(found):
        axes.axvline(plan.seconds, label=f"limit, {plan.seconds:g} s", **LIMIT_LOOK)
    for (name, numbers, _), marker in zip(TOOLS, ("+", "1"), strict=True) if plan.preset is not None else ():
        published = [(numbers.get(line.item.published or "", ""), row) for row, line in enumerate(found)]
        points = [(float(text), row) for text, row in published if text.replace(".", "").isdigit()]
        if points:
            look = {**PUBLISHED_LOOK, "linestyle": "", "marker": marker}
            axes.plot(*zip(*points, strict=True), label=f"{name} ({PUBLISHED})", **look)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_yticks(range(len(found)), [line.item.key for line in found])
    axes.invert_yaxis()
    axes.set_xlabel("seconds")
    axes.set_title("symdipa check: median, least to most")


def _series(
    axes: Any,
    plan: Plan,
    placed: Sequence[tuple[float, Cell]],
    title: str,
    look: dict[str, Any],
    upwards: bool,
) -> None:
    """The cells of a configuration at their places, with times ``upwards`` or to the right."""
    good = [(place, cell) for place, cell in placed if cell.outcome == ANSWERED]
    places, times = [place for place, _ in good], [cell.median or 0.0 for _, cell in good]
    spread = [
        [time - (cell.least or 0.0) for time, (_, cell) in zip(times, good, strict=True)],
        [(cell.most or 0.0) - time for time, (_, cell) in zip(times, good, strict=True)],
    ]
    x, y = (places, times) if upwards else (times, places)
    axes.errorbar(x, y, **{"yerr" if upwards else "xerr": spread}, label=title, capsize=2, **look)
    for place, cell in placed:
        if cell.outcome not in LIMIT_MARKS:
            continue
        if upwards and good:
            joined = {**look, "marker": "", "alpha": 0.5}
            axes.plot([places[-1], place], [times[-1], plan.seconds], **joined)
        marker, reached = LIMIT_MARKS[cell.outcome]
        at = ([place], [plan.seconds]) if upwards else ([plan.seconds], [place])
        known = axes.get_legend_handles_labels()[1]
        axes.plot(
            *at, color="black", marker=marker, linestyle="", markersize=9, zorder=5, clip_on=False,
            label=None if reached in known else reached,
        )  # fmt: skip
        axes.plot(*at, **{**look, "linestyle": ""})


def _limited(found: Sequence[Line]) -> bool:
    return any(cell.outcome in LIMIT_MARKS for line in found for cell in line.cells)


def _size(item: Item) -> int:
    return item.size or 0


def _look(place: int) -> dict[str, Any]:
    """Colour, marker and line of a configuration, in combinations that repeat as late as possible."""
    return {
        "color": COLOURS[place % len(COLOURS)],
        "marker": MARKERS[place % len(MARKERS)],
        "linestyle": LINES[(place + place // len(MARKERS)) % len(LINES)],
        "markersize": 5,
        "markerfacecolor": "white",
        "linewidth": 1.3,
    }


def _legend(axes: Axes) -> None:
    """The legend below the axes, where it hides nothing; what was measured here comes first."""
    named = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    limits = tuple(title for _, title in LIMIT_MARKS.values())
    order = sorted(named, key=lambda title: (PUBLISHED in title, title.startswith(("limit", *limits))))
    handles = [named[title] for title in order]
    axes.figure.legend(
        handles, order, loc="outside lower center", ncols=3, frameon=False, fontsize="small", handlelength=3.5
    )


def _plain_ticks(axes: Axes, sizes: Sequence[int]) -> None:
    """Ticks at the sizes, as plain numbers, without crowding."""
    kept: list[int] = []
    for size in reversed(sizes):
        if not kept or 1.25 * size <= kept[-1]:
            kept.append(size)
    axes.set_xticks(kept, [str(size) for size in kept])
    axes.set_xticks([], minor=True)
    low, high = axes.get_ylim()
    if high < 30 * low:  # so little that the decades alone say nothing
        from matplotlib.ticker import LogLocator

        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
