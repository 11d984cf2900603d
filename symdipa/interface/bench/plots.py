"""Pictures of results: how the time grows with the size, or the times of items side by side.

Nothing is told by colour alone: every configuration has a marker and a line of its own; limits are marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symdipa.interface.bench.measure import ANSWERED, MEMORY_OUT, TIME_OUT
from symdipa.interface.bench.presets import TOOLS
from symdipa.interface.bench.store import Store
from symdipa.interface.bench.tables import PUBLISHED, Cell, Line, lines
from symdipa.model.errors import SymdipaError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".svg", ".png", ".pdf")

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "*")
LINES: tuple[Any, ...] = ("-", "--", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (3, 3)), (0, (1, 1)))
LIMIT_MARKS = {TIME_OUT: ("x", "time-out"), MEMORY_OUT: ("$M$", "memory-out")}
LIMIT_LOOK: dict[str, Any] = {"color": "0.4", "linewidth": 1, "linestyle": (0, (1, 2))}
_LIMITS = {title for _, title in LIMIT_MARKS.values()}
PUBLISHED_LOOK: dict[str, Any] = {"color": "0.35", "marker": "+", "linestyle": ":", "markersize": 6}


class NothingToDraw(SymdipaError):
    """No run has a time yet."""


def plot(store: Store, path: Path) -> None:
    """Draw the results; the suffix of the file, one of ``SUFFIXES``, tells the format.

    Families are drawn as time over size, both on logarithmic axes; where there are files too (or only), the
    items stand one below the other. Raises :class:`NothingToDraw`, and ``OSError`` where the file cannot be
    written.
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
        figure.savefig(path, metadata=dates.get(path.suffix.lower()))


def _growth(axes: Axes, store: Store, found: Sequence[Line]) -> None:
    plan = store.plan
    families = list(dict.fromkeys(str(item.family) for item in plan.items))
    looks = [(family, config) for family in families for config in plan.configs]
    for place, (family, config) in enumerate(looks):
        cells = [
            cell
            for line in found
            if line.item.family == family
            for cell in line.cells
            if cell.config == config
        ]
        look = _look(place)
        title = config.title if len(families) == 1 else f"{family}, {config.title}"
        good = [cell for cell in cells if cell.outcome == ANSWERED]
        sizes = [int(cell.item.size or 0) for cell in good]
        axes.errorbar(
            sizes, [_time(cell) for cell in good], yerr=_spread(good), label=title, capsize=2, **look
        )
        for cell in cells:
            if cell.outcome in LIMIT_MARKS:
                last = sizes[-1:], [_time(cell) for cell in good[-1:]]
                where = int(cell.item.size or 0)
                if last[0]:
                    joined = {**look, "marker": "", "alpha": 0.5}
                    axes.plot([*last[0], where], [*last[1], plan.seconds], **joined)
                _limit_mark(axes, cell, where, plan.seconds, look)
    if _limited(found):
        axes.axhline(plan.seconds, label=f"limit, {plan.seconds:g} s", **LIMIT_LOOK)
    if plan.preset is not None:
        for name, numbers, _ in TOOLS:
            points = [
                (int(item.size or 0), float(numbers[item.key])) for item in plan.items if item.key in numbers
            ]
            if points:
                label = f"{name} ({PUBLISHED})"
                axes.plot(*zip(*points, strict=True), label=label, **PUBLISHED_LOOK)
    axes.set_xscale("log")
    axes.set_yscale("log")
    _plain_ticks(axes, sorted({int(item.size or 0) for item in plan.items}))
    axes.set_xlabel("N" if len(families) > 1 else f"N ({_counted(families[0])})")
    axes.set_ylabel("seconds")
    axes.set_title(f"symdipa check on {', '.join(families)}: median, least to most")


def _side_by_side(axes: Axes, store: Store, found: Sequence[Line]) -> None:
    plan = store.plan
    shift = 0.6 / max(1, len(plan.configs))
    for place, config in enumerate(plan.configs):
        look = {**_look(place), "linestyle": ""}
        offset = (place - (len(plan.configs) - 1) / 2) * shift
        cells = [(row + offset, line.cells[place]) for row, line in enumerate(found)]
        good = [(y, cell) for y, cell in cells if cell.outcome == ANSWERED]
        axes.errorbar(
            [_time(cell) for _, cell in good],
            [y for y, _ in good],
            xerr=_spread([cell for _, cell in good]),
            label=config.title,
            capsize=2,
            **look,
        )
        for y, cell in cells:
            if cell.outcome in LIMIT_MARKS:
                _limit_mark(axes, cell, plan.seconds, y, look)
    if _limited(found):
        axes.axvline(plan.seconds, label=f"limit, {plan.seconds:g} s", **LIMIT_LOOK)
    if plan.preset is not None:
        for (name, numbers, _), marker in zip(TOOLS, ("+", "1"), strict=True):
            points = [
                (float(numbers[line.item.published]), row)
                for row, line in enumerate(found)
                if line.item.published in numbers and numbers[line.item.published].replace(".", "").isdigit()
            ]
            if points:
                look = {**PUBLISHED_LOOK, "linestyle": "", "marker": marker}
                axes.plot(*zip(*points, strict=True), label=f"{name} ({PUBLISHED})", **look)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_yticks(range(len(found)), [line.item.key for line in found])
    axes.invert_yaxis()
    axes.set_xlabel("seconds")
    axes.set_title("symdipa check: median, least to most")


def _limited(found: Sequence[Line]) -> bool:
    return any(cell.outcome in LIMIT_MARKS for line in found for cell in line.cells)


def _look(place: int) -> dict[str, Any]:
    """Colour, marker and line of a configuration; lines differ first, so that pairs never repeat soon."""
    return {
        "color": COLOURS[place % len(COLOURS)],
        "marker": MARKERS[place % len(MARKERS)],
        "linestyle": LINES[(place + place // len(MARKERS)) % len(LINES)],
        "markersize": 5,
        "markerfacecolor": "white",
        "linewidth": 1.3,
    }


def _limit_mark(axes: Axes, cell: Cell, x: float, y: float, look: dict[str, Any]) -> None:
    marker, title = LIMIT_MARKS[str(cell.outcome)]
    known = axes.get_legend_handles_labels()[1]
    axes.plot(
        [x], [y], color="black", marker=marker, linestyle="", markersize=9, zorder=5, clip_on=False,
        label=None if title in known else title,
    )  # fmt: skip
    axes.plot([x], [y], **{**look, "linestyle": ""})


def _legend(axes: Axes) -> None:
    """Below the axes, where it hides nothing; what was measured here comes first."""
    named = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    order = sorted(
        named, key=lambda title: (PUBLISHED in title, title in _LIMITS or title.startswith("limit"))
    )
    handles = [named[title] for title in order]
    axes.figure.legend(
        handles, order, loc="outside lower center", ncols=3, frameon=False, fontsize="small", handlelength=3.5
    )


def _plain_ticks(axes: Axes, sizes: Sequence[int]) -> None:
    """Sizes as numbers at the places where there are some, without crowding."""
    kept: list[int] = []
    for size in reversed(sizes):
        if not kept or 1.25 * size <= kept[-1]:
            kept.append(size)
    axes.set_xticks(kept, [str(size) for size in kept])
    axes.set_xticks([], minor=True)
    if _narrow(axes):
        from matplotlib.ticker import LogLocator

        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")


def _narrow(axes: Axes) -> bool:
    """Whether the axis spans so little that its decades alone say nothing."""
    low, high = axes.get_ylim()
    return high < 30 * low


def _time(cell: Cell) -> float:
    return cell.median or 0.0


def _spread(cells: Sequence[Cell]) -> list[list[float]]:
    """How far down and up the runs lie from the median."""
    return [
        [_time(cell) - (cell.least or 0.0) for cell in cells],
        [(cell.most or 0.0) - _time(cell) for cell in cells],
    ]


def _counted(family: str) -> str:
    from symdipa.files.families import FAMILIES

    return FAMILIES[family].size
