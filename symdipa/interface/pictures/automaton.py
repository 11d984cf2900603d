"""An automaton as a picture, in the conventions of the paper; a witness may be marked in it.

Input states are circles (ellipses where the name is long), non-input states boxes. A state shows its name
over scale and mean, an edge its guard, output and assignments.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from typing import TypeVar

from symdipa.files.formats.dot import edge_lines, state_lines
from symdipa.interface.markup import Markup, element, legal
from symdipa.interface.pictures.layered import Box, Link, Point, Route, TooLarge, layered
from symdipa.interface.pictures.svg import LINE, Drawing, behind, curve, cut, head, lines_at, text_width
from symdipa.interface.reports.words import loops_at
from symdipa.model.automaton import Automaton
from symdipa.model.errors import SymdipaError
from symdipa.model.spelling import enumeration
from symdipa.model.verdict import Witness

T = TypeVar("T")

LEGIBLE = 60
"""Automata with more states than this are drawn, but a witness shows only the states of its run."""
MOST_STATES = 300
MOST_LINES, LONGEST_NAME = 8, 26
RADIUS, HALF_HEIGHT = 27.0, 21.0
LOBE, BESIDE = 40.0, 36.0
"""How far the loop of a state reaches out, and where its label begins."""
ENTRY = 24.0
"""Length of the arrow into the initial state."""


class PictureTooLarge(SymdipaError):
    """The automaton is too large to draw; the text says what to do instead."""


@dataclass(frozen=True)
class _Marks:
    """The steps of a witness by transition."""

    automaton: Automaton
    witness: Witness | None

    def steps(self, transition: int) -> list[int]:
        run = self.witness.run if self.witness is not None else ()
        return [k for k, t in enumerate(run) if t == transition]

    def classes(self, transition: int) -> str:
        steps = self.steps(transition)
        if not steps or self.witness is None:
            return ""
        return " run" + "".join(loop_classes(self.witness, steps))

    def text(self, transition: int) -> list[str]:
        """``step 2 in loop A``, one line for each loop."""
        by_loop: dict[str, list[str]] = {}
        for k in self.steps(transition):
            assert self.witness is not None
            by_loop.setdefault(loop_text(self.witness, k), []).append(str(k + 1))
        return [
            cut(f"{'step' if len(numbers) == 1 else 'steps'} {enumeration(numbers)}{loop}")
            for loop, numbers in by_loop.items()
        ]


def loop_text(witness: Witness, k: int) -> str:
    """Where a step is: `` in loop A``, `` in the loop``, or nothing."""
    names = loops_at(witness, k)
    return f" in {'the loop' if names == '*' else f'loop {names}'}" if names else ""


def loop_classes(witness: Witness, steps: Sequence[int]) -> list[str]:
    """How steps in the first and in the second loop of a witness are marked."""
    places = zip(witness.cycles, (" loop-a", " loop-b"), strict=False)
    return [name for (i, j), name in places if any(i <= k < j for k in steps)]


def draw(automaton: Automaton, witness: Witness | None = None) -> Drawing:
    """The automaton; with a witness its run is marked, and of a large automaton only that part is drawn.

    Raises :class:`PictureTooLarge`.
    """
    states = list(range(len(automaton.states)))
    if witness is not None and len(states) > LEGIBLE:
        names = {automaton.initial} | {automaton.transitions[t].target for t in witness.run}
        states = [i for i in states if automaton.states[i].name in names]
    if len(states) > MOST_STATES:
        raise PictureTooLarge(
            f"it has {len(states)} states; a picture of more than {MOST_STATES} is not drawn. "
            "Write it with --to dot, and have Graphviz draw it"
        )
    kept = {automaton.states[i].name for i in states}
    moves = [t for t, move in enumerate(automaton.transitions) if {move.source, move.target} <= kept]
    try:
        return _drawn(automaton, states, moves, _Marks(automaton, witness))
    except TooLarge:
        raise PictureTooLarge(
            f"its {len(moves)} transitions make too many crossing lines to draw. Write it with --to dot, and "
            "have Graphviz draw it"
        ) from None


def _drawn(automaton: Automaton, states: Sequence[int], moves: Sequence[int], marks: _Marks) -> Drawing:
    number = {automaton.states[i].name: k for k, i in enumerate(states)}
    labels = {t: _label(automaton, t, marks) for t in moves}
    loops: dict[int, list[int]] = {k: [] for k in range(len(states))}
    between: list[int] = []
    for t in moves:
        move = automaton.transitions[t]
        if move.source == move.target:
            loops[number[move.source]].append(t)
        else:
            between.append(t)
    boxes = [_box(automaton, i, [labels[t] for t in loops[k]]) for k, i in enumerate(states)]
    links = []
    for t in between:
        move, (lines, _) = automaton.transitions[t], labels[t]
        size = text_width(lines) + 8, LINE * len(lines) + 4
        links.append(Link(number[move.source], number[move.target], *size))
    layout = layered(boxes, links, number[automaton.initial])
    elements = [
        _edge(automaton, t, route, labels[t], marks) for t, route in zip(between, layout.routes, strict=True)
    ]
    visited = {automaton.transitions[t].source for t in moves if marks.steps(t)}
    visited |= {automaton.transitions[t].target for t in moves if marks.steps(t)}
    for k, i in enumerate(states):
        elements += _self_loops(automaton, boxes[k], layout.centres[k], loops[k], labels, marks)
        name = automaton.states[i].name
        elements.append(_state(automaton, i, boxes[k], layout.centres[k], name in visited))
    elements.append(_entry(boxes[number[automaton.initial]], layout.centres[number[automaton.initial]]))
    return Drawing(layout.width, layout.height, tuple(elements), tuple(_left_out(automaton, states, moves)))


def _left_out(automaton: Automaton, states: Collection[int], moves: Collection[int]) -> Iterator[str]:
    hidden = len(automaton.states) - len(states)
    if hidden:
        edges = len(automaton.transitions) - len(moves)
        yield f"Only the states of the run are drawn; {hidden} others and {edges} transitions are left out."


def _label(automaton: Automaton, t: int, marks: _Marks) -> tuple[list[str], int]:
    """The lines of an edge, and how many of them are steps of the run."""
    lines = edge_lines(automaton, automaton.transitions[t])
    if len(lines) > MOST_LINES:
        lines[MOST_LINES - 1 :] = [f"… and {len(lines) - MOST_LINES + 1} more"]
    steps = marks.text(t)
    return [*steps, *map(cut, lines)], len(steps)


def _box(automaton: Automaton, i: int, loops: Sequence[tuple[list[str], int]]) -> Box:
    state = automaton.states[i]
    lines = _state_text(automaton, i)
    width, height = text_width(lines), LINE * len(lines)
    if state.is_input:
        ry = max(RADIUS, height / 2 + 8)
        rx = max(ry, width / 2 / sqrt(1 - min(0.8, (height / 2 - 4) / ry) ** 2) + 4)
        if rx < 1.3 * ry:
            rx = ry = max(rx, ry)
    else:
        rx, ry = max(HALF_HEIGHT + 6, width / 2 + 8), max(HALF_HEIGHT, height / 2 + 6)
    right, left = _sides(loops)
    return Box(
        rx,
        ry,
        state.is_input,
        left=max(
            (BESIDE + text_width(lines) + 2 for lines, _ in left), default=_room_for_entry(automaton, i)
        ),
        right=max((BESIDE + text_width(lines) + 2 for lines, _ in right), default=0.0),
        tall=max(_stack(side) / 2 for side in (right, left)),
    )


def _room_for_entry(automaton: Automaton, i: int) -> float:
    state = automaton.states[i]
    return ENTRY if state.name == automaton.initial and not state.is_input else 0.0


def _sides(loops: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
    """Loops on the right and on the left: up to two are all on the right."""
    return (loops, ()) if len(loops) <= 2 else (loops[::2], loops[1::2])


def _stack(side: Sequence[tuple[list[str], int]]) -> float:
    return sum(LINE * len(lines) + 8 for lines, _ in side)


def _state_text(automaton: Automaton, i: int) -> list[str]:
    return [cut(line, LONGEST_NAME) for line in state_lines(automaton.states[i])]


def _state(automaton: Automaton, i: int, box: Box, at: Point, visited: bool) -> Markup:
    state = automaton.states[i]
    if box.round:
        shape = element("ellipse", cx=at.x, cy=at.y, rx=box.rx, ry=box.ry, class_="shape")
    else:
        x, y = at.x - box.rx, at.y - box.ry
        shape = element("rect", x=x, y=y, width=2 * box.rx, height=2 * box.ry, class_="shape")
    kind = "input state" if state.is_input else "non-input state"
    title = element("title", "\n".join([f"{kind} {state.name}", *state_lines(state)[1:]]))
    words = lines_at(at.x, at.y, _state_text(automaton, i), strong=1)
    class_ = f"state {'input' if state.is_input else 'non-input'}{' run' if visited else ''}"
    return element("g", title, shape, words, class_=class_, data_state=i)


def _edge_group(automaton: Automaton, t: int, marks: _Marks, *parts: Markup) -> Markup:
    move = automaton.transitions[t]
    told = [f"{move.source} -> {move.target}", *marks.text(t), *edge_lines(automaton, move)]
    title = element("title", "\n".join(told))
    return element("g", title, *parts, class_=f"edge{marks.classes(t)}", data_transition=t)


def _edge(automaton: Automaton, t: int, route: Route, label: tuple[list[str], int], marks: _Marks) -> Markup:
    lines, strong = label
    x, y = route.label
    size = text_width(lines) + 6, LINE * len(lines) + 2
    return _edge_group(
        automaton,
        t,
        marks,
        element("path", d=curve(route), class_="line"),
        head(route.end, 0, 1 if route.falls else -1),
        behind(x, y, *size),
        lines_at(x, y, lines, strong),
    )


def _self_loops(
    automaton: Automaton,
    box: Box,
    at: Point,
    loops: Sequence[int],
    labels: dict[int, tuple[list[str], int]],
    marks: _Marks,
) -> Iterator[Markup]:
    for side, sign in zip(_sides(loops), (1, -1), strict=True):
        y = at.y - _stack([labels[t] for t in side]) / 2
        room = 1.5 * box.ry / max(1, len(side))  # of the border, for each loop
        for place, t in enumerate(side):
            lines, strong = labels[t]
            height = LINE * len(lines) + 8
            middle, y = y + height / 2, y + height
            slot = (place - (len(side) - 1) / 2) * room
            first, last = (_border(box, slot + half * min(11.0, room / 3)) for half in (-1, 1))
            start = Point(at.x + sign * first[0], at.y + first[1])
            end = Point(at.x + sign * last[0], at.y + last[1])
            out = at.x + sign * (box.rx + LOBE)
            to = Point(out, middle + 14)
            far = hypot(to.x - end.x, to.y - end.y)
            dx, dy = (end.x - to.x) / far, (end.y - to.y) / far
            d = (
                f"M{start.x:.1f} {start.y:.1f} C{out:.1f} {middle - 14:.1f} {to.x:.1f} {to.y:.1f} "
                f"{end.x - 8 * dx:.1f} {end.y - 8 * dy:.1f}"
            )
            x = at.x + sign * (box.rx + BESIDE + text_width(lines) / 2)
            line = element("path", d=d, class_="line")
            paper = behind(x, middle, text_width(lines) + 6, LINE * len(lines) + 2)
            words = lines_at(x, middle, lines, strong)
            yield _edge_group(automaton, t, marks, line, head(end, dx, dy), paper, words)


def _border(box: Box, dy: float) -> tuple[float, float]:
    """The point of the right border at this height, from the centre."""
    return (box.rx * sqrt(max(0.0, 1 - (dy / box.ry) ** 2)) if box.round else box.rx), dy


def _entry(box: Box, at: Point) -> Markup:
    """The short arrow into the initial state."""
    side = sqrt(0.5)
    tip = Point(at.x - side * box.rx, at.y - side * box.ry) if box.round else Point(at.x - box.rx, at.y - 8)
    dx, dy = (side, side) if box.round else (1.0, 0.0)
    back = Point(tip.x - ENTRY * dx, tip.y - ENTRY * dy)
    d = f"M{back.x:.1f} {back.y:.1f} L{tip.x - 7 * dx:.1f} {tip.y - 7 * dy:.1f}"
    title = element("title", "the run begins here")
    return element("g", title, element("path", d=d, class_="line"), head(tip, dx, dy), class_="entry")


def label_of(automaton: Automaton) -> str:
    """What a picture of the automaton is called."""
    return legal(f"Automaton {automaton.name}".strip())
