"""What is found, as text, picture and page: for whoever works in Python instead of on the command line."""

from __future__ import annotations

from base64 import b64encode
from html import escape

from symdipa.model.automaton import Automaton, validated
from symdipa.model.options import must_be_one_of
from symdipa.model.verdict import Result, must_be_result

ABOUT = ("check", "weight", "witness")
"""The commands whose reports :func:`text` writes."""


def text(result: Result, about: str = "", verbosity: int = 0) -> str:
    """The report that a command prints, without colours and a final line end.

    ``about`` is one of :data:`ABOUT`; by default ``"weight"`` for a result of :func:`symdipa.weigh`, else
    ``"check"``. ``verbosity`` below 0 gives the first line alone, above 0 more numbers and all steps of a
    long run. Raises ``ValueError`` for another name.
    """
    from symdipa.interface.reports import check, weight, witness
    from symdipa.interface.reports.document import as_text

    must_be_result(result)
    about = about or ("weight" if _weighed(result) else "check")
    must_be_one_of("report", about, ABOUT)
    name = name_of(result.automaton)
    if about == "weight":
        whole = as_text(weight.document(name, result))
        return whole.partition("\n")[0] if verbosity < 0 else whole
    if about == "witness":
        return as_text(witness.document(name, result, verbosity=verbosity))
    return as_text(check.document(name, result, verbosity=verbosity))


def picture(shown: Automaton | Result) -> str:
    """An automaton as SVG text; of a result its violation, if there is one, beside the dependency graph.

    Raises :class:`symdipa.interface.pictures.automaton.PictureTooLarge`.
    """
    from symdipa.interface.pictures import automaton as states
    from symdipa.interface.pictures import svg

    if not isinstance(shown, Automaton):
        must_be_result(shown)
    if isinstance(shown, Result) and shown.witness is not None:
        from symdipa.interface.pictures import witness

        drawing = witness.draw(shown.automaton, shown.witness)
        return svg.standalone(drawing, f"{states.label_of(shown.automaton)}: {shown.witness.pattern.title}")
    drawn = validated(shown.automaton if isinstance(shown, Result) else shown)
    return svg.standalone(states.draw(drawn), states.label_of(drawn))


def report(*results: Result) -> str:
    """One HTML page about results, complete in itself, as ``symdipa report`` writes it."""
    from symdipa.interface import html

    for result in results:
        must_be_result(result)
    parts = [html.Checked(name_of(result.automaton), result, _weighed(result)) for result in results]
    return html.page(parts)


def in_notebook(result: Result) -> str:
    """A result as a fragment of HTML: its text, and a picture unless that would be too large."""
    from symdipa.interface.pictures.automaton import PictureTooLarge

    shown = f"<pre>{escape(text(result))}</pre>"
    try:
        drawn = b64encode(picture(result).encode()).decode()  # as an image, so that its style stays inside
    except PictureTooLarge:
        return shown
    return f'{shown}<img alt="{escape(name_of(result.automaton))}" src="data:image/svg+xml;base64,{drawn}">'


def name_of(automaton: Automaton) -> str:
    return automaton.name or "automaton"


def _weighed(result: Result) -> Result | None:
    return result if result.bounds is not None and result.bounds.lower is not None else None
