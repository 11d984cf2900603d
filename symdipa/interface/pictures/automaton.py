"""An automaton as a picture in the conventions of the paper, perhaps with a witness marked.

Input states are circles (ellipses where the name is long), non-input states boxes. A state shows its name
over scale and mean, an edge its guard, output and assignments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import hypot, sqrt

from symdipa.evidence.facts import compared_words, output_words, step_lines
from symdipa.files.formats.dot import about, edge_lines, state_lines
from symdipa.interface.markup import Markup, element, legal
from symdipa.interface.pictures.layered import Box, LabelledEdge, Point, TooLarge, layered
from symdipa.interface.pictures.svg import LINE, Drawing, behind, curve, cut, head, lines_at, text_width
from symdipa.interface.reports.words import entry_text, loops_at
from symdipa.model.automaton import Automaton
from symdipa.model.errors import SymdipaError
from symdipa.model.spelling import counted, enumeration
from symdipa.model.verdict import Witness

LEGIBLE = 60
"""Automata with more states than this are drawn, but a witness shows only the states of its run."""
MOST_STATES = 300
MOST_LINES, LONGEST_NAME, LONGEST_REMARK = 8, 26, 60
RADIUS, HALF_HEIGHT = 27.0, 21.0
LOBE, BESIDE = 40.0, 36.0
"""How far the loop of a state reaches out, and where its label begins."""
ENTRY = 24.0
"""Length of the arrow into the initial state."""


class PictureTooLarge(SymdipaError):
    """The automaton is too large to draw; the text says what to do instead."""


def loop_text(witness: Witness, k: int) -> str:
    """Where a step is: `` in loop A``, `` in the loop``, or nothing."""
    names = loops_at(witness, k)
    return f" in {'the loop' if names == '*' else f'loop {names}'}" if names else ""


def loop_classes(witness: Witness, steps: Sequence[int]) -> list[str]:
    """How steps in the first and in the second loop of a witness are marked."""
    places = zip(witness.cycles, (" loop-a", " loop-b"), strict=False)
    return [name for (i, j), name in places if any(i <= k < j for k in steps)]


def _entry_at(witness: Witness, k: int) -> str:
    """What the entry of a step does, if it reads one and that is known: ``, entry equal``."""
    letter = witness.letters[k] if witness.letters else ""
    return f", entry {entry_text(letter)}" if letter else ""


def draw(automaton: Automaton, witness: Witness | None = None) -> Drawing:
    """The automaton; with a witness its run is marked, and of a large automaton only that part is drawn.
    Raises :class:`PictureTooLarge`."""
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
        return _Picture(automaton.told, witness, states, moves).drawing()
    except TooLarge:
        raise PictureTooLarge(
            f"its {len(moves)} transitions make too many crossing lines to draw. Write it with --to dot, and "
            "have Graphviz draw it"
        ) from None


class _Picture:
    """The states and transitions that are drawn, with their labels; ``steps`` are those of the run."""

    def __init__(
        self, automaton: Automaton, witness: Witness | None, states: Sequence[int], moves: Sequence[int]
    ) -> None:
        self.automaton, self.witness = automaton, witness
        self.states, self.moves = states, moves
        self.steps: dict[int, list[int]] = {t: [] for t in moves}
        for k, t in enumerate(witness.run if witness is not None else ()):
            self.steps[t].append(k)
        self.told = {t: self._steps_text(t) for t in moves}
        self.labels = {t: [*self.told[t], *self._edge_text(t)] for t in moves}

    def drawing(self) -> Drawing:
        automaton = self.automaton
        number = {automaton.states[i].name: k for k, i in enumerate(self.states)}
        ends = {t: (automaton.transitions[t].source, automaton.transitions[t].target) for t in self.moves}
        loops: list[list[int]] = [[] for _ in self.states]
        for t, (source, target) in ends.items():
            if source == target:
                loops[number[source]].append(t)
        between = [t for t, (source, target) in ends.items() if source != target]
        boxes = [self._box(i, loops[k]) for k, i in enumerate(self.states)]
        edges = [
            LabelledEdge(
                number[ends[t][0]],
                number[ends[t][1]],
                text_width(self.labels[t]) + 8,
                LINE * len(self.labels[t]) + 4,
            )
            for t in between
        ]
        root = number[automaton.initial]
        layout = layered(boxes, edges, root)
        elements = [
            self._edge(t, curve(route), head(route.end, 0, 1 if route.falls else -1), route.label)
            for t, route in zip(between, layout.routes, strict=True)
        ]
        visited = {name for t in self.moves if self.steps[t] for name in ends[t]}
        for i, box, centre, own in zip(self.states, boxes, layout.centres, loops, strict=True):
            elements += self._self_loops(box, centre, own)
            elements.append(_state(automaton, i, box, centre, automaton.states[i].name in visited))
        elements.append(_entry(boxes[root], layout.centres[root]))
        remarks: tuple[str, ...] = ()
        width, height = layout.width, layout.height
        if below := [cut(line, LONGEST_REMARK) for line in about(automaton)]:
            height += LINE
        for line in below:
            height += LINE
            elements.append(element("text", line, x=0.0, y=height, class_="remark"))
        width = max(width, text_width(below))
        if hidden := len(automaton.states) - len(self.states):
            lost = len(automaton.transitions) - len(self.moves)
            rest = f"{counted(hidden, 'other')} and {counted(lost, 'transition')}"
            remarks = (f"Only the states of the run are drawn; {rest} are left out.",)
        return Drawing(width, height, tuple(elements), remarks)

    def _steps_text(self, t: int) -> list[str]:
        """``step 2 in loop A``, one line for each loop, and for each that an entry does there."""
        alike: dict[str, list[str]] = {}
        for k in self.steps[t]:
            assert self.witness is not None
            where = loop_text(self.witness, k) + _entry_at(self.witness, k)
            alike.setdefault(where, []).append(str(k + 1))
        return [
            cut(f"{'step' if len(numbers) == 1 else 'steps'} {enumeration(numbers)}{where}")
            for where, numbers in alike.items()
        ]

    def _edge_text(self, t: int) -> list[str]:
        lines = self._says(t)
        if len(lines) > MOST_LINES:
            lines[MOST_LINES - 1 :] = [f"… and {len(lines) - MOST_LINES + 1} more"]
        return [cut(line) for line in lines]

    def _says(self, t: int) -> list[str]:
        """The guard, output and assignments of a transition; of a program the lines that it passes first."""
        automaton, move = self.automaton, self.automaton.transitions[t]
        lines = edge_lines(automaton, move)
        if automaton.origin is None:
            return lines
        passed, shown = step_lines(automaton, move), output_words(automaton, move.output)
        told = [f"shows {shown}" if line.startswith("output ") else line for line in lines]
        return [
            *([passed] if passed else []),
            *(compared_words(automaton, line) for line in told if line != "shows "),
        ]

    def _box(self, i: int, loops: Sequence[int]) -> Box:
        state = self.automaton.states[i]
        lines = _state_text(self.automaton, i)
        width, height = text_width(lines), LINE * len(lines)
        if state.is_input:
            ry = max(RADIUS, height / 2 + 8)
            rx = max(ry, width / 2 / sqrt(1 - min(0.8, (height / 2 - 4) / ry) ** 2) + 4)
            if rx < 1.3 * ry:
                rx = ry = max(rx, ry)
        else:
            rx, ry = max(HALF_HEIGHT + 6, width / 2 + 8), max(HALF_HEIGHT, height / 2 + 6)
        right, left = ([self.labels[t] for t in side] for side in _sides(loops))
        entry = ENTRY if state.name == self.automaton.initial and not state.is_input else 0.0
        return Box(
            rx,
            ry,
            state.is_input,
            left=max((BESIDE + text_width(lines) + 2 for lines in left), default=entry),
            right=max((BESIDE + text_width(lines) + 2 for lines in right), default=0.0),
            tall=max(_stack(side) / 2 for side in (right, left)),
        )

    def _edge(self, t: int, line: str, arrow: Markup, at: Point) -> Markup:
        """A line with its arrowhead, and its label centred at a point."""
        move, lines = self.automaton.transitions[t], self.labels[t]
        ends = " -> ".join(_called(self.automaton, name) for name in (move.source, move.target))
        told = [ends, *self.told[t], *self._says(t)]
        class_ = "edge"
        if self.steps[t] and self.witness is not None:
            class_ += " run" + "".join(loop_classes(self.witness, self.steps[t]))
        return element(
            "g",
            element("title", "\n".join(told)),
            element("path", d=line, class_="line"),
            arrow,
            behind(*at, text_width(lines) + 6, LINE * len(lines) + 2),
            lines_at(*at, lines, len(self.told[t])),
            class_=class_,
            data_transition=t,
        )

    def _self_loops(self, box: Box, at: Point, loops: Sequence[int]) -> Iterator[Markup]:
        for side, sign in zip(_sides(loops), (1, -1), strict=True):
            y = at.y - _stack([self.labels[t] for t in side]) / 2
            room = 1.5 * box.ry / max(1, len(side))  # of the border, for each loop
            for place, t in enumerate(side):
                lines = self.labels[t]
                height = LINE * len(lines) + 8
                middle, y = y + height / 2, y + height
                slot = (place - (len(side) - 1) / 2) * room
                start, end = (
                    Point(at.x + sign * box.border(dy), at.y + dy)
                    for dy in (slot + half * min(11.0, room / 3) for half in (-1, 1))
                )
                to = Point(at.x + sign * (box.rx + LOBE), middle + 14)
                far = hypot(to.x - end.x, to.y - end.y)
                dx, dy = (end.x - to.x) / far, (end.y - to.y) / far
                line = (
                    f"M{start.x:.1f} {start.y:.1f} C{to.x:.1f} {middle - 14:.1f} {to.x:.1f} {to.y:.1f} "
                    f"{end.x - 8 * dx:.1f} {end.y - 8 * dy:.1f}"
                )
                x = at.x + sign * (box.rx + BESIDE + text_width(lines) / 2)
                yield self._edge(t, line, head(end, dx, dy), Point(x, middle))


def _sides(loops: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    """Loops on the right and on the left: up to two are all on the right."""
    return (loops, ()) if len(loops) <= 2 else (loops[::2], loops[1::2])


def _stack(labels: Sequence[Sequence[str]]) -> float:
    """The height of labels above each other."""
    return sum(LINE * len(lines) + 8 for lines in labels)


def _state_text(automaton: Automaton, i: int) -> list[str]:
    state = automaton.states[i]
    return [cut(line, LONGEST_NAME) for line in (_called(automaton, state.name), *state_lines(state)[1:])]


def _called(automaton: Automaton, state: str) -> str:
    """The name of a state; of a program its line, with the values that tell it from others there."""
    return state if automaton.origin is None else automaton.origin.place_with_values(state)


def _state(automaton: Automaton, i: int, box: Box, at: Point, visited: bool) -> Markup:
    state = automaton.states[i]
    if box.round:
        shape = element("ellipse", cx=at.x, cy=at.y, rx=box.rx, ry=box.ry, class_="shape")
    else:
        x, y = at.x - box.rx, at.y - box.ry
        shape = element("rect", x=x, y=y, width=2 * box.rx, height=2 * box.ry, class_="shape")
    kind = "input" if state.is_input else "non-input"
    called = _called(automaton, state.name)
    title = element("title", "\n".join([f"{kind} state {called}", *state_lines(state)[1:]]))
    words = lines_at(at.x, at.y, _state_text(automaton, i), strong=1)
    return element("g", title, shape, words, class_=f"state {kind}{' run' if visited else ''}", data_state=i)


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
