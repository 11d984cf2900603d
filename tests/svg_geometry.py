"""Where things are in a picture: boxes, lines as points, and what of it overlaps."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def parsed(text):
    return ElementTree.fromstring(text)


def groups(root, kind):
    """The groups of a class, as ``edge`` or ``state``."""
    return [g for g in root.iter(f"{SVG}g") if kind in g.get("class", "").split()]


def box(element):
    """Left, top, right and bottom of a rectangle or an ellipse."""
    f = {key: float(element.get(key, "nan")) for key in ("x", "y", "width", "height", "cx", "cy", "rx", "ry")}
    if element.tag == f"{SVG}ellipse":
        return f["cx"] - f["rx"], f["cy"] - f["ry"], f["cx"] + f["rx"], f["cy"] + f["ry"]
    return f["x"], f["y"], f["x"] + f["width"], f["y"] + f["height"]


def part(group, class_):
    return next((e for e in group if e.get("class") == class_), None)


def points(path):
    """A path of straight and cubic parts as many points."""
    found = []
    for command, numbers in re.findall(r"([MLC])([^MLC]*)", path):
        xs = [float(n) for n in NUMBER.findall(numbers)]
        pairs = list(zip(xs[::2], xs[1::2], strict=True))
        if command == "M":
            found += pairs
            continue
        start = found[-1]
        curve = [start, *pairs] if command == "C" else [start, start, pairs[0], pairs[0]]
        for k in range(1, 25):
            t = k / 24
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            found.append(
                tuple(sum(w * p[axis] for w, p in zip(weights, curve, strict=True)) for axis in (0, 1))
            )
    return found


def overlap(a, b, slack=0.5):
    return a[0] < b[2] - slack and b[0] < a[2] - slack and a[1] < b[3] - slack and b[1] < a[3] - slack


def inside(point, area, slack=1.0):
    x, y = point
    return area[0] + slack < x < area[2] - slack and area[1] + slack < y < area[3] - slack


def clashes(text, edges="edge"):
    """What lies on something else: labels and nodes on each other, lines on foreign labels and nodes."""
    root = parsed(text)
    nodes = {f"node {k}": box(part(g, "shape")) for k, g in enumerate(groups(root, "state"))}
    labels = {f"label {k}": box(part(g, "behind")) for k, g in enumerate(groups(root, edges))}
    areas = nodes | labels
    found = [f"{a} on {b}" for a, b in combinations(areas, 2) if overlap(areas[a], areas[b])]
    for k, group in enumerate(groups(root, edges)):
        way = points(part(group, "line").get("d"))
        for name, area in areas.items():
            # A line begins and ends at nodes, on the border of an ellipse inside its box.
            at_end = name in nodes and any(_touches(area, end) for end in (way[0], way[-1]))
            if name != f"label {k}" and not at_end and any(inside(p, area) for p in way):
                found.append(f"line {k} on {name}")
    return found


def _touches(area, point, far=12.0):
    x, y = point
    return area[0] - far < x < area[2] + far and area[1] - far < y < area[3] + far
