"""The dependency graph of a witness as a picture: every sample above those that it is forced to exceed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from symdipa.evidence.facts import link
from symdipa.interface.markup import Markup, element
from symdipa.interface.pictures.automaton import LONGEST_NAME, loop_classes, loop_text
from symdipa.interface.pictures.layered import Box, Link, Point, TooLarge, layered
from symdipa.interface.pictures.svg import LINE, Drawing, behind, curve, cut, head, lines_at, text_width
from symdipa.interface.reports.words import link_text, relation_text
from symdipa.model.automaton import Automaton, OutputKind
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import Witness
from symdipa.runs.control import control_graph
from symdipa.runs.witness import dependency_graph

MOST_STEPS = 60
"""Of runs with more steps only the dependency path and its neighbours are drawn."""


def draw(automaton: Automaton, witness: Witness) -> Drawing:
    """The samples that comparisons of the run tie, larger ones higher; the dependency path is marked.

    After a leaking cycle one more round is shown, because that is where it compares with what it stored.
    """
    again = witness.run[slice(*witness.cycles[-1])] if witness.pattern is Pattern.LEAKING_CYCLE else ()
    run = witness.run + again
    over = dependency_graph(control_graph(automaton), run).over
    edges = [(i, j) for i, targets in enumerate(over) for j in sorted(targets)]
    on_path = set(pairwise(witness.path))
    remarks = []
    tied = sorted({k for edge in edges for k in edge} | set(witness.path))
    if len(tied) > MOST_STEPS:
        near = {k for edge in edges if set(edge) & set(witness.path) for k in edge} | set(witness.path)
        shown = sorted(near, key=lambda k: (k not in witness.path, k))[:MOST_STEPS]
        tied = sorted(shown)
        remarks.append("Only the samples around the dependency path are drawn.")
    number = {k: n for n, k in enumerate(tied)}
    edges = [(i, j) for i, j in edges if i in number and j in number]
    if not edges:
        return Drawing(0, 0, (), ("No comparison of this run ties two of its samples.",))
    words = {k: _node_text(automaton, witness, run, k) for k in tied}
    boxes = [Box(text_width(words[k]) / 2 + 8, LINE * len(words[k]) / 2 + 5) for k in tied]
    labels = {edge: _edge_text(automaton, run, *edge) for edge in edges}
    # From the larger sample down to the smaller one: so larger ones are higher.
    links = [
        Link(number[j], number[i], text_width(labels[i, j]) + 8, LINE * len(labels[i, j]) + 2)
        for i, j in edges
    ]
    root = number[witness.path[-1]] if witness.path else 0
    try:
        layout = layered(boxes, links, root)
    except TooLarge:
        return Drawing(0, 0, (), ("The dependency graph of this run is too large to draw.",))
    elements = []
    for (i, j), route in zip(edges, layout.routes, strict=True):
        marked = (i, j) in on_path
        lines = labels[i, j]
        tie = link(automaton, run, i, j)
        elements.append(
            element(
                "g",
                element("title", f"{relation_text(tie)}: {link_text(tie)}"),
                element("path", d=curve(route.turned()), class_="line"),
                head(route.start, 0, -1),
                behind(*route.label, text_width(lines) + 4, LINE * len(lines)),
                lines_at(*route.label, lines),
                class_=f"tie{' path' if marked else ''}",
                data_later=max(i, j),
            )
        )
    for k, box, at in zip(tied, boxes, layout.centres, strict=True):
        elements.append(_node(witness, run, k, words[k], box, at))
    free = len(set(range(len(run))) - set(tied)) if not remarks else 0
    if free:
        remarks.append(f"{free} other sample{'s are' if free > 1 else ' is'} tied to nothing.")
    return Drawing(layout.width, layout.height, tuple(elements), tuple(remarks))


def _node_text(automaton: Automaton, witness: Witness, run: Sequence[int], k: int) -> list[str]:
    n = len(witness.run)
    step = k if k < n else k - n + witness.cycles[-1][0]
    where = loop_text(witness, step) if k < n else " again"
    move = automaton.transitions[run[k]]
    stored = ", ".join(sorted(move.assign))
    lines = [f"sample {step + 1}{where}", cut(f"drawn in {move.source}", LONGEST_NAME)]
    lines += [cut(f"stored in {stored}", LONGEST_NAME)] if stored else []
    return lines + (["shown as a number"] if move.output.kind is OutputKind.INSAMPLE else [])


def _edge_text(automaton: Automaton, run: Sequence[int], i: int, j: int) -> list[str]:
    tie = link(automaton, run, i, j)
    return [cut(f"{tie.sign} {tie.variable}", LONGEST_NAME)]


def _node(witness: Witness, run: Sequence[int], k: int, words: Sequence[str], box: Box, at: Point) -> Markup:
    step = k if k < len(witness.run) else k - len(witness.run) + witness.cycles[-1][0]
    class_ = "state sample" + "".join(loop_classes(witness, [step])) + (" path" if k in witness.path else "")
    shape = element(
        "rect", x=at.x - box.rx, y=at.y - box.ry, width=2 * box.rx, height=2 * box.ry, rx=7.0, class_="shape"
    )
    return element("g", shape, lines_at(at.x, at.y, words, strong=1), class_=class_, data_step=k)
