"""Elements of SVG and HTML as text; whatever comes from outside is escaped."""

from __future__ import annotations

import re
from html import escape


def element(name: str, *content: str, **attributes: object) -> str:
    """An element; ``class_`` stands for the attribute class, ``data_x`` for data-x, ``None`` is left out."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{told}>{''.join(content)}</{name}>" if content else f"<{name}{told}/>"


def plain(value: object) -> str:
    """A value as text; numbers with one decimal at most."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else legal(str(value))


def legal(text: str) -> str:
    """The text without characters that XML has no place for."""
    return re.sub("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


def cell(text: str) -> str:
    """A text as the content of an element."""
    return escape(legal(text))
