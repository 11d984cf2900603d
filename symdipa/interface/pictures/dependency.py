"""The dependency graph of a witness as a picture: every sample above those that it is forced to exceed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from symdipa.evidence.facts import link
from symdipa.interface.markup import Markup, element
from symdipa.interface.pictures.automaton import LONGEST_NAME, loop_classes, loop_text
from symdipa.interface.pictures.layered import Box, LabelledEdge, Point, TooLarge, layered
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
    """The samples that comparisons of the run tie, larger ones higher, with the dependency path marked. After
    a leaking cycle one more round is shown, where it compares with what it stored."""
    again = witness.run[slice(*witness.cycles[-1])] if witness.pattern is Pattern.LEAKING_CYCLE else ()
    run = witness.run + again
    over = dependency_graph(control_graph(automaton), run).over
    edges = [(i, j) for i, targets in enumerate(over) for j in sorted(targets)]
    on_path = set(pairwise(witness.path))
    remarks = []
    tied = sorted({k for edge in edges for k in edge} | set(witness.path))
    if len(tied) > MOST_STEPS:
        near = {k for edge in edges if set(edge) & set(witness.path) for k in edge} | set(witness.path)
        tied = sorted(sorted(near, key=lambda k: (k not in witness.path, k))[:MOST_STEPS])
        remarks.append("Only the samples around the dependency path are drawn.")
    number = {k: n for n, k in enumerate(tied)}
    edges = [(i, j) for i, j in edges if i in number and j in number]
    if not edges:
        return Drawing(0, 0, (), ("No comparison of this run ties two of its samples.",))
    words = {k: _node_text(automaton, witness, run, k) for k in tied}
    boxes = [Box(text_width(words[k]) / 2 + 8, LINE * len(words[k]) / 2 + 5) for k in tied]
    ties = [link(automaton, run, *edge) for edge in edges]
    labels = [cut(f"{tie.sign} {tie.variable}", LONGEST_NAME) for tie in ties]
    # From the larger sample down to the smaller one: so larger ones are higher.
    drawn = [
        LabelledEdge(number[j], number[i], text_width([label]) + 8, LINE + 2)
        for (i, j), label in zip(edges, labels, strict=True)
    ]
    try:
        layout = layered(boxes, drawn, number[witness.path[-1]] if witness.path else 0)
    except TooLarge:
        return Drawing(0, 0, (), ("The dependency graph of this run is too large to draw.",))
    elements = [
        element(
            "g",
            element("title", f"{relation_text(tie)}: {link_text(tie)}"),
            element("path", d=curve(route.turned()), class_="line"),
            head(route.start, 0, -1),
            behind(*route.label, text_width([label]) + 4, LINE),
            lines_at(*route.label, [label]),
            class_=f"tie{' path' if edge in on_path else ''}",
            data_later=max(edge),
        )
        for edge, tie, label, route in zip(edges, ties, labels, layout.routes, strict=True)
    ]
    for k, box, at in zip(tied, boxes, layout.centres, strict=True):
        elements.append(_node(witness, k, words[k], box, at))
    free = len(set(range(len(run))) - set(tied)) if not remarks else 0
    if free:
        remarks.append(f"{free} other sample{'s are' if free > 1 else ' is'} tied to nothing.")
    return Drawing(layout.width, layout.height, tuple(elements), tuple(remarks))


def _step(witness: Witness, k: int) -> int:
    """The step of the witness at a position of its run with one more round of the loop."""
    return k if k < len(witness.run) else k - len(witness.run) + witness.cycles[-1][0]


def _node_text(automaton: Automaton, witness: Witness, run: Sequence[int], k: int) -> list[str]:
    step = _step(witness, k)
    where = loop_text(witness, step) if k == step else " again"
    move = automaton.transitions[run[k]]
    stored = ", ".join(sorted(move.assign))
    lines = [f"sample {step + 1}{where}", cut(f"drawn in {move.source}", LONGEST_NAME)]
    lines += [cut(f"stored in {stored}", LONGEST_NAME)] if stored else []
    return lines + (["shown as a number"] if move.output.kind is OutputKind.INSAMPLE else [])


def _node(witness: Witness, k: int, words: Sequence[str], box: Box, at: Point) -> Markup:
    step = _step(witness, k)
    class_ = "state sample" + "".join(loop_classes(witness, [step])) + (" path" if k in witness.path else "")
    shape = element(
        "rect", x=at.x - box.rx, y=at.y - box.ry, width=2 * box.rx, height=2 * box.ry, rx=7.0, class_="shape"
    )
    return element("g", shape, lines_at(at.x, at.y, words, strong=1), class_=class_, data_step=k)
