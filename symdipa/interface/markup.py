"""Elements of HTML and SVG; what is not markup by its type is escaped where it becomes content."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape


class Markup(str):
    """Text that is markup already. Only :func:`element` and its kind make it; any other text is escaped."""

    __slots__ = ()


def element(name: str, *content: str, **attributes: object) -> Markup:
    """An element; ``class_`` stands for the attribute class, ``data_x`` for data-x, ``None`` is left out."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{given}>{joined(content)}</{name}>" if content else f"<{name}{given}/>")


def joined(content: Iterable[str], between: str = "") -> Markup:
    """Pieces of content one after the other, with white space ``between`` them."""
    return Markup(between.join(part if isinstance(part, Markup) else escape(legal(part)) for part in content))


def plain(value: object) -> str:
    """A value as text; numbers with one decimal at most."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else legal(str(value))


def legal(text: str) -> str:
    """The text without characters that XML has no place for."""
    return re.sub("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)
