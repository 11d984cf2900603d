"""SVG as text, in fixed-width letters, so that the sizes of labels are known without a font."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from symdipa.interface.markup import Markup, element, joined, plain
from symdipa.interface.pictures.layered import Point, Route

SIZE, ADVANCE, LINE = 12.0, 0.61, 15.0
"""Height of letters in pixels, width of a letter as a part of it, distance of lines."""
LONGEST = 40
"""Longer lines are cut; the whole text is shown when one points at it."""
HEADING = 1.25
"""How much wider a heading is than text."""
ARROW, BREADTH = 9.0, 4.0
MARGIN = 16.0

STYLE = """
text { font: 12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; }
text { fill: #1b1f24; text-anchor: middle; }
.strong { font-weight: bold; }
.heading { font: bold 15px system-ui, 'DejaVu Sans', sans-serif; text-anchor: start; }
.remark { font: 12px system-ui, 'DejaVu Sans', sans-serif; text-anchor: start; fill: #4a5058; }
.paper, .behind { fill: #ffffff; }
.state .shape { fill: #f6f8fa; stroke: #1b1f24; stroke-width: 1.3; }
.line { fill: none; stroke: #57606a; stroke-width: 1.3; }
.head { fill: #57606a; stroke: none; }
.run .line { stroke: #0b5cad; stroke-width: 2.4; }
.run .head, .run .strong { fill: #0b5cad; }
.run .shape { stroke: #0b5cad; stroke-width: 2.4; }
.loop-a .line { stroke: #b3261e; stroke-width: 3; stroke-dasharray: 9 4; }
.loop-a .head, .loop-a .strong { fill: #b3261e; }
.loop-b .line { stroke: #7a3e9d; stroke-width: 3; stroke-dasharray: 2.5 3.5; }
.loop-b .head, .loop-b .strong { fill: #7a3e9d; }
.loop-a.loop-b .line { stroke-dasharray: 12 3 2.5 3; }
.state.loop-a .shape { stroke: #b3261e; stroke-dasharray: 9 4; }
.state.loop-b .shape { stroke: #7a3e9d; stroke-dasharray: 2.5 3.5; }
.path .line { stroke: #0b5cad; stroke-width: 3; }
.path .head, .path .strong { fill: #0b5cad; }
""".strip()
"""How a picture looks that stands alone. Lines differ in width and dashes, not only in colour."""


@dataclass(frozen=True)
class Drawing:
    """A picture without its frame: elements, and the size that they take (from the origin)."""

    width: float
    height: float
    elements: tuple[Markup, ...]
    remarks: tuple[str, ...] = ()
    """What a caption should say: what was left out, what lines mean."""


def cut(text: str, longest: int = LONGEST) -> str:
    """A line that is not too long."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def text_width(lines: Iterable[str]) -> float:
    """The width of the longest line, in pixels."""

    def cells(letter: str) -> int:
        wide = 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        return 0 if unicodedata.combining(letter) else wide

    return max((sum(map(cells, line)) for line in lines), default=0) * SIZE * ADVANCE


def lines_at(x: float, y: float, lines: Sequence[str], strong: int = 0) -> Markup:
    """Centred lines around a point, the first ``strong`` of them bold."""
    top = y - LINE * (len(lines) - 1) / 2 + 0.35 * SIZE
    return joined(
        element("text", line, x=x, y=top + i * LINE, class_="strong" if i < strong else None)
        for i, line in enumerate(lines)
    )


def curve(route: Route) -> str:
    """The line of a route: vertical across layers, swinging between them, short of its arrowhead."""
    down = 1 if route.falls else -1
    stop = route.end.y - down * (ARROW - 1)
    d = [f"M{_at(*route.start)}"]
    x, y = route.start
    for k, (px, first, last) in enumerate(route.passages):
        if k == len(route.passages) - 1:
            last = stop
            first = min(first, stop) if down > 0 else max(first, stop)
        if (px, first) != (x, y):
            middle = (y + first) / 2
            d.append(f"C{_at(x, middle)} {_at(px, middle)} {_at(px, first)}")
        if last != first:
            d.append(f"L{_at(px, last)}")
        x, y = px, last
    return " ".join(d)


def _at(x: float, y: float) -> str:
    return f"{plain(float(x))} {plain(float(y))}"


def head(tip: Point, dx: float, dy: float) -> Markup:
    """An arrowhead with this tip; ``(dx, dy)`` of length 1 is where it points."""
    back = Point(tip.x - ARROW * dx, tip.y - ARROW * dy)
    left = (back.x - BREADTH * dy, back.y + BREADTH * dx)
    right = (back.x + BREADTH * dy, back.y - BREADTH * dx)
    return element("path", d=f"M{_at(*tip)} L{_at(*left)} L{_at(*right)} Z", class_="head")


def behind(x: float, y: float, width: float, height: float) -> Markup:
    """What keeps lines away from a label."""
    return element("rect", x=x - width / 2, y=y - height / 2, width=width, height=height, class_="behind")


def moved(drawing: Drawing, x: float, y: float) -> Markup:
    return element("g", *drawing.elements, transform=f"translate({_at(x, y)})")


def size(drawing: Drawing) -> tuple[int, int]:
    """Width and height of the picture with its margin, in pixels."""
    return round(drawing.width + 2 * MARGIN), round(drawing.height + 2 * MARGIN)


def inline(drawing: Drawing, label: str, class_: str) -> Markup:
    """The picture as part of an HTML page, which gives it its colours."""
    return _svg(drawing, label, class_=class_)


def standalone(drawing: Drawing, label: str, style: str = STYLE) -> str:
    """The picture as a file of its own, on white."""
    paper = element("rect", width="100%", height="100%", class_="paper")
    title = element("title", label)
    before = title, element("style", Markup(style)), paper
    return _svg(drawing, label, *before, xmlns="http://www.w3.org/2000/svg") + "\n"


def _svg(
    drawing: Drawing, label: str, *before: Markup, xmlns: str | None = None, class_: str | None = None
) -> Markup:
    width, height = size(drawing)
    parts = ["", *before, moved(drawing, MARGIN, MARGIN), ""]
    body = Markup("\n".join(parts).replace("</g><", "</g>\n<"))
    return element("svg", body, xmlns=xmlns, width=width, height=height,
                   viewBox=f"0 0 {width} {height}", role="img", aria_label=label, class_=class_)  # fmt: skip
