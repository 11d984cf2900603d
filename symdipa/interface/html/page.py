"""The page: a frame with style and script, sections, and the data that the script steps through."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from math import isfinite
from typing import Any

from symdipa import __version__
from symdipa.interface.html.sections import Checked, Refused, answer, data, doubts, headline, section
from symdipa.interface.markup import Markup, element, joined
from symdipa.interface.reports.words import assumed
from symdipa.model.adjacency import TWO_SIDED
from symdipa.model.adjacency.differ import ALL


def page(parts: Sequence[Checked | Refused]) -> str:
    """The report on files, in their order, as one HTML document."""
    script = _resource("script.js")
    title = f"symdipa: {parts[0].name}" if len(parts) == 1 else f"symdipa: {len(parts)} files"
    data_of = {_id(k): data(part) for k, part in enumerate(parts) if isinstance(part, Checked)}
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    holes = {
        "title": joined([title]),
        "version": joined([__version__]),
        "hash": f"sha256-{digest}",
        "style": _resource("style.css").strip(),
        "body": _body(parts),
        "data": as_script_data({"files": data_of}),
        "script": script,
    }
    return re.sub(r"@@(\w+)@@", lambda hole: holes[hole[1]], _resource("page.html"))


def as_script_data(value: Any) -> str:
    """JSON that can stand between the tags of a script: no ``<``, ``>`` or ``&`` is left in it."""
    text = json.dumps(_finite(value), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(value: Any) -> Any:
    """The value with ``null`` for infinite numbers, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _resource(name: str) -> str:
    return (files("symdipa.interface.html") / name).read_text(encoding="utf-8")


def _id(k: int) -> str:
    return f"file-{k + 1}"


def _body(parts: Sequence[Checked | Refused]) -> Markup:
    pieces = [element("h1", "Differential privacy, decided by symdipa")]
    if len(parts) > 1:
        rows = [
            element(
                "li",
                element("a", part.name, href=f"#{_id(k)}"),
                " ",
                answer("span", headline(part)),
                *(element("div", f"note: {doubt}", class_="doubt") for doubt in doubts(part)),
            )
            for k, part in enumerate(parts)
        ]
        pieces.append(element("nav", element("ul", *rows), aria_label="Files of this report"))
    pieces += [section(part, _id(k), lone=len(parts) == 1) for k, part in enumerate(parts)]
    automata = [part.result.automaton for part in parts if isinstance(part, Checked)]
    kinds = {automaton.integer for automaton in automata} or {False}
    who = {automaton.differ for automaton in automata} or {ALL}
    how = {automaton.adjacency for automaton in automata} or {TWO_SIDED}
    rests = assumed(
        how.pop() if len(how) == 1 else None,
        integer=kinds.pop() if len(kinds) == 1 else None,
        differ=who.pop() if len(who) == 1 else None,
    )
    pieces.append(element("footer", element("p", rests), element("p", f"symdipa {__version__}")))
    return joined(pieces, "\n")
