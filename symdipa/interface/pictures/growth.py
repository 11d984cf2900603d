"""How the log-ratio of a counterexample grows with the rounds of its loops: for a page, and as a file."""

from __future__ import annotations

from io import BytesIO
from math import ceil, floor, inf, log10
from pathlib import Path
from typing import TYPE_CHECKING

from symdipa.interface.markup import element
from symdipa.interface.pictures import svg
from symdipa.interface.pictures.svg import Drawing
from symdipa.interface.reports.numbers import number
from symdipa.interface.saving import replace_file

if TYPE_CHECKING:
    from symdipa.evidence.refutation import Refutation

WIDTH, HEIGHT = 420.0, 240.0
LEFT, BOTTOM, TOP = 52.0, 44.0, 10.0
TICKS = 5
ACROSS, UP = "rounds of the loops", "log-ratio / eps"
STYLE = """
.grid { stroke: #d0d7de; stroke-width: 1; }
.claim { stroke: #b3261e; stroke-width: 2; stroke-dasharray: 8 4; }
.curve { fill: none; stroke: #0b5cad; stroke-width: 2; }
.dot { fill: #0b5cad; }
.tick { text-anchor: end; }
.told { text-anchor: start; fill: #b3261e; }
""".rstrip()


class Curve:
    """What is drawn: the points, the claim that they pass, and the ticks of both axes.

    Where the outputs are impossible on the other input, ``endless`` says so, and the point is at the top.
    """

    def __init__(self, found: Refutation) -> None:
        points = [(g.rounds, g.log_ratio_per_eps) for g in found.growth]
        points = points or [(found.rounds, found.log_ratio / float(found.eps))]
        self.claim, self.claimed = float(found.exceeds), f"claimed D = {found.exceeds}"
        finite = [y for _, y in points if y < inf]
        self.low = min([0.0, *finite])
        self.high = 1.08 * max([self.claim, *finite]) or 1.0
        self.endless = "infinite" if len(finite) < len(points) else ""
        self.high *= 1.5 if self.endless else 1
        self.points = [(x, min(y, self.high)) for x, y in points]
        self.last = max(x for x, _ in self.points)
        self.across, self.up = _ticks(0, self.last, whole=True), _ticks(self.low, self.high)


def draw(found: Refutation) -> Drawing:
    """The curve, and the claim that it passes as a dashed line."""
    curve = Curve(found)

    def at(x: float, y: float) -> tuple[float, float]:
        share = (y - curve.low) / (curve.high - curve.low)
        return LEFT + (WIDTH - LEFT) * x / curve.last, HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * share

    parts = []
    for y in curve.up:
        here = at(0, y)[1]
        parts.append(element("line", x1=LEFT, x2=WIDTH, y1=here, y2=here, class_="grid"))
        parts.append(element("text", f"{y:g}", x=LEFT - 6, y=here + 4, class_="tick"))
    for x in curve.across:
        here = at(x, curve.low)[0]
        parts.append(element("line", x1=here, x2=here, y1=TOP, y2=HEIGHT - BOTTOM, class_="grid"))
        parts.append(element("text", f"{x:g}", x=here, y=HEIGHT - BOTTOM + 16))
    asked = at(0, curve.claim)[1]
    parts.append(element("line", x1=LEFT, x2=WIDTH, y1=asked, y2=asked, class_="claim"))
    above = asked - 5 if asked > TOP + 16 else asked + 15
    parts.append(element("text", curve.claimed, x=LEFT + 6, y=above, class_="told"))
    places = [at(*point) for point in curve.points]
    path = " ".join(f"{'L' if k else 'M'}{x:.1f} {y:.1f}" for k, (x, y) in enumerate(places))
    parts.append(element("path", d=path, class_="curve"))
    for (rounds, ratio), (cx, cy) in zip(curve.points, places, strict=True):
        title = element("title", f"{rounds} rounds: {ratio:.6f}")
        parts.append(element("circle", title, cx=cx, cy=cy, r=3.5, class_="dot"))
    if curve.endless:
        x, y = places[-1]
        parts.append(element("text", curve.endless, x=x - 8, y=y + 14, class_="tick"))
    parts.append(element("text", ACROSS, x=(LEFT + WIDTH) / 2, y=HEIGHT - 8))
    middle = (HEIGHT - BOTTOM + TOP) / 2
    parts.append(element("text", UP, x=0.0, y=0.0, transform=f"translate(10 {middle:.0f}) rotate(-90)"))
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
    """Write the curve to a file: ``.svg``, or ``.png``, which needs matplotlib."""
    differ = "" if found.automaton.differ.is_all else f", {found.automaton.differ.words}"
    label = f"{Path(name).name} at eps = {number(found.eps)}{differ}"
    if path.suffix.lower() == ".svg":
        heading = element("text", label, x=LEFT, y=0.0, class_="heading")
        wide = max(WIDTH, LEFT + svg.HEADING * svg.text_width([label]))
        drawn = Drawing(wide, HEIGHT, (heading, *draw(found).elements))
        replace_file(path, svg.standalone(drawn, label, svg.STYLE + STYLE).encode())
        return
    from matplotlib.figure import Figure

    curve, figure = Curve(found), Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.add_subplot(title=label, xlabel=ACROSS, ylabel=UP, xticks=curve.across, yticks=curve.up)
    axes.plot(*zip(*curve.points, strict=True), "o-")
    axes.axhline(curve.claim, linestyle="--", color="0.3", label=curve.claimed)
    if curve.endless:
        axes.annotate(curve.endless, curve.points[-1], ha="right", va="top")
    axes.set_xlim(left=0)
    axes.set_ylim(curve.low, curve.high)
    axes.legend()
    axes.grid(alpha=0.3)
    image = BytesIO()
    figure.savefig(image, format="png")
    replace_file(path, image.getvalue())
