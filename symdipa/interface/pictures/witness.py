"""A witness as one picture: the automaton with the run marked, and the dependency graph beside it."""

from __future__ import annotations

from textwrap import wrap

from symdipa.interface.markup import Markup, element
from symdipa.interface.pictures import automaton as automata
from symdipa.interface.pictures import dependency
from symdipa.interface.pictures.svg import HEADING, LINE, Drawing, moved, text_width
from symdipa.interface.reports.words import entry_legend, which_differ
from symdipa.model.automaton import Automaton
from symdipa.model.verdict import Witness

HEAD, BETWEEN, REMARK = 32.0, 48.0, 44
"""Room for a heading, room between the two parts, and letters in a line of a remark."""
LEAST = 320.0
"""Width that headings and remarks need."""


def draw(automaton: Automaton, witness: Witness) -> Drawing:
    """Both parts side by side with headings and a legend. Raises :class:`automata.PictureTooLarge`."""
    left, right = automata.draw(automaton, witness), dependency.draw(automaton, witness)
    legend = [*run_legend(witness), *which_differ(automaton, witness), *entry_legend(automaton, witness)[:1]]
    parts = (
        (f"The run: {_with_article(witness.title)}", left, [*legend, *left.remarks]),
        ("What lies above what", right, [*dependency_legend(witness), *right.remarks]),
    )
    x, height = 0.0, 0.0
    elements: list[Markup] = []
    for title, drawing, remarks in parts:
        elements.append(element("text", title, x=x, y=14.0, class_="heading"))
        elements.append(moved(drawing, x, HEAD))
        y = HEAD + drawing.height + (28.0 if drawing.height else 0.0)
        for line in (line for remark in remarks for line in wrap(remark, REMARK)):
            elements.append(element("text", line, x=x, y=y, class_="remark"))
            y += LINE + 2
        x += max(LEAST, drawing.width, HEADING * text_width([title])) + BETWEEN
        height = max(height, y)
    return Drawing(x - BETWEEN, height, tuple(elements))


def _with_article(words: str) -> str:
    return words if words.startswith("a ") else f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def run_legend(witness: Witness) -> list[str]:
    """What the lines of the run mean."""
    if len(witness.cycles) > 1:
        return ["Thick: the run. Dashed: loop A; dotted: loop B. Each may be repeated as often as one likes."]
    if not witness.cycles:
        return ["Thick: the run."]
    return ["Thick: the run. Dashed: its loop, which may be repeated as often as one likes."]


def dependency_legend(witness: Witness) -> list[str]:
    """What the arrows of the dependency graph mean."""
    path = ["Thick: the dependency path."] if witness.path else []
    return ["An arrow leads from a sample up to one that the comparisons force above it.", *path]
