"""How the log-ratio of a counterexample grows with the rounds of its loops: for a page, and as a file."""

from __future__ import annotations

from math import ceil, floor, log10
from pathlib import Path
from typing import TYPE_CHECKING

from symdipa.interface.markup import element
from symdipa.interface.pictures.plotting import STYLE, check_plot, save
from symdipa.interface.pictures.svg import Drawing
from symdipa.interface.reports.numbers import number
from symdipa.interface.reports.refutation import REACHED

if TYPE_CHECKING:
    from symdipa.evidence.refutation import Refutation

WIDTH, HEIGHT = 420.0, 240.0
LEFT, BOTTOM, TOP = 52.0, 44.0, 10.0
TICKS = 5


def draw(found: Refutation) -> Drawing:
    """The curve, and the claim that it passes as a dashed line; nothing without two points."""
    points = [(g.rounds, g.log_ratio_per_eps) for g in found.growth]
    if len(points) < 2:
        return Drawing(0, 0, ())
    claim = float(found.exceeds)
    high = 1.08 * max(claim, *(y for _, y in points))
    low = min(0.0, *(y for _, y in points))
    last = max(x for x, _ in points)

    def at(x: float, y: float) -> tuple[float, float]:
        across = LEFT + (WIDTH - LEFT) * x / last
        return across, HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * (y - low) / (high - low)

    parts = []
    for y in _ticks(low, high):
        here = at(0, y)[1]
        parts.append(element("line", x1=LEFT, x2=WIDTH, y1=here, y2=here, class_="grid"))
        parts.append(element("text", f"{y:g}", x=LEFT - 6, y=here + 4, class_="tick"))
    for x in _ticks(0, last, whole=True):
        here = at(x, low)[0]
        parts.append(element("line", x1=here, x2=here, y1=TOP, y2=HEIGHT - BOTTOM, class_="grid"))
        parts.append(element("text", f"{x:g}", x=here, y=HEIGHT - BOTTOM + 16))
    asked = at(0, claim)[1]
    parts.append(element("line", x1=LEFT, x2=WIDTH, y1=asked, y2=asked, class_="claim"))
    above = asked - 5 if asked > TOP + 16 else asked + 15
    parts.append(element("text", f"claimed D = {found.exceeds}", x=LEFT + 6, y=above, class_="told"))
    path = " ".join(f"{'L' if k else 'M'}{x:.1f} {y:.1f}" for k, (x, y) in enumerate(at(*p) for p in points))
    parts.append(element("path", d=path, class_="curve"))
    for x, y in points:
        place = at(x, y)
        title = element("title", f"{x} rounds: {y:.6f}")
        parts.append(element("circle", title, cx=place[0], cy=place[1], r=3.5, class_="dot"))
    parts.append(element("text", "rounds of the loops", x=(LEFT + WIDTH) / 2, y=HEIGHT - 8))
    middle = (HEIGHT - BOTTOM + TOP) / 2
    parts.append(
        element("text", "log-ratio / eps", x=0.0, y=0.0, transform=f"translate(10 {middle:.0f}) rotate(-90)")
    )
    return Drawing(WIDTH, HEIGHT, tuple(parts))


def _ticks(low: float, high: float, whole: bool = False) -> list[float]:
    """About ``TICKS`` round numbers from ``low`` to ``high``."""
    step = (high - low) / TICKS
    size = 10.0 ** floor(log10(step))
    step = next(m * size for m in (1, 2, 5, 10) if m * size >= step * 0.999)
    if whole:
        step = max(1.0, step)
    first = ceil(low / step - 1e-9)
    return [k * step + 0.0 for k in range(first, floor(high / step + 1e-9) + 1)]


def plot(found: Refutation, name: str, path: Path) -> None:
    """Draw how the ratio grows with the rounds; the suffix of the file, .svg or .png, says the format."""
    check_plot(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    with rc_context(STYLE):
        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.add_subplot()
        rounds = [g.rounds for g in found.growth] or [found.rounds]
        values = [g.log_ratio_per_eps for g in found.growth] or [found.log_ratio / float(found.eps)]
        axes.plot(rounds, values, "o-", label=REACHED)
        axes.axhline(float(found.exceeds), linestyle="--", color="0.3", label=f"claimed D = {found.exceeds}")
        axes.set_xlabel("rounds of the loops")
        axes.set_ylabel("D reached: log(Pr[alpha] / Pr[beta]) / eps")
        axes.set_title(f"{Path(name).name} at eps = {number(found.eps)}")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.legend()
        axes.grid(alpha=0.3)
        save(figure, path)
