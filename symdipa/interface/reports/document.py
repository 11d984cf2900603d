"""Reports as values: blocks in sections, which are wrapped, aligned and escaped last of all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import zip_longest
from textwrap import wrap

from symdipa.interface.markup import Markup, element, joined
from symdipa.model.verdict import Result, Verdict

WIDTH = 100
"""Where plain text is wrapped, indentation included, unless another width is asked for."""


class Tone(Enum):
    """How an answer is marked: the sign and the colour on a page, and the colour on a terminal."""

    GOOD = ("✔", "private", "green")
    LIKELY = ("(✔)", "experimental", "cyan")
    BAD = ("✘", "violated", "red")
    OPEN = ("?", "open", "yellow")
    BROKEN = ("!", "violated", "red")

    def __init__(self, sign: str, page_colour: str, terminal_colour: str) -> None:
        self.sign, self.page_colour, self.terminal_colour = sign, page_colour, terminal_colour

    @classmethod
    def of(cls, result: Result) -> Tone:
        """The tone of a verdict, or ``BROKEN`` if there are contradictions."""
        if result.contradictions:
            return cls.BROKEN
        if result.verdict is Verdict.PRIVATE:
            return cls.LIKELY if result.experimental else cls.GOOD
        return cls.BAD if result.verdict is Verdict.NOT_PRIVATE else cls.OPEN


@dataclass(frozen=True)
class Headline:
    """What a document is about, and the answer in a few words."""

    subject: str
    words: str
    tone: Tone | None = None


@dataclass(frozen=True)
class Marked:
    """A cell of a table with a tone, whose sign is shown on a page."""

    words: str
    tone: Tone | None


@dataclass(frozen=True)
class Code:
    """Flowing text in letters of fixed width."""

    text: str


@dataclass(frozen=True)
class Lines:
    """Lines that plain text keeps as they are, and a page shows as code."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Notes:
    """Remarks, each on a line of its own."""

    texts: Sequence[str]


@dataclass(frozen=True)
class Table:
    """Rows of cells under a head, or without one lines of code whose parts are aligned.

    ``label`` names the table for those who do not see it. In plain text a ``silent`` head is left out, and
    ``least`` are the smallest widths of columns, so that tables below each other line up. Columns that are
    called like one of ``code`` hold what is written in a program.
    """

    rows: Sequence[Sequence[str | Marked]]
    head: Sequence[str] = ()
    label: str = ""
    silent: bool = False
    numbers: bool = False
    least: Sequence[int] = ()
    code: Sequence[str] = ()

    @classmethod
    def of(cls, columns: Mapping[str, Sequence[str]], head: Sequence[str]) -> Table:
        """The columns with these names."""
        return cls(list(zip(*(columns[name] for name in head), strict=True)), head)


@dataclass(frozen=True)
class Inset:
    """Blocks that plain text sets in from the left."""

    blocks: Sequence[Block]


@dataclass(frozen=True)
class Numbered:
    """Items, counted from 1."""

    items: Sequence[Sequence[Block]]


Block = str | Markup | Code | Lines | Notes | Table | Inset | Numbered
"""A plain string is a paragraph; markup is a picture or another part of a page that only works there."""


@dataclass(frozen=True)
class Section:
    """Blocks, perhaps with a title. In plain text an empty line comes first, unless the section is ``flush``:
    then it continues the one before at the left margin."""

    blocks: Sequence[Block]
    title: str = ""
    flush: bool = False


@dataclass(frozen=True)
class Document:
    """A report. In plain text the first section stands right below the headline unless it has a title."""

    sections: Sequence[Section]
    headline: Headline | None = None


# ------------------------------------------------------------------------------------------------- plain text


def as_text(document: Document, width: int = WIDTH) -> str:
    """The document as plain text of this width, without a final line end. What is prose is wrapped; the
    headline, tables and code are kept as they are."""
    head = document.headline
    lines = [] if head is None else [f"{head.subject}: {head.words}"]
    for k, section in enumerate(document.sections):
        if lines and not section.flush and (k or section.title):
            lines.append("")
        lines += _wrapped(section.title, width)
        lines += as_lines(section.blocks, width) if section.flush else _inset("  ", section.blocks, width)
    return "\n".join(lines)


def as_lines(blocks: Iterable[Block], width: int = WIDTH) -> list[str]:
    """Blocks as lines of plain text, prose wrapped at ``width``."""
    return [line for block in blocks for line in _lines(block, width)]


def _lines(block: Block, width: int) -> Iterable[str]:
    match block:
        case Markup():
            return []
        case str(text) | Code(text):
            return _wrapped(text, width)
        case Lines(lines):
            return lines
        case Notes(texts):
            return [line for text in texts for line in _wrapped(f"note: {text}", width, " " * len("note: "))]
        case Table():
            head = [block.head] if block.head and not block.silent else []
            return _aligned([*head, *block.rows], block.least)
        case Inset(blocks):
            return _inset("  ", blocks, width)
        case Numbered(items):
            return (line for k, item in enumerate(items, 1) for line in _numbered(k, item, width))


def _wrapped(text: str, width: int, hanging: str = "") -> list[str]:
    return wrap(text, width, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)


def _numbered(number: int, item: Sequence[Block], width: int) -> list[str]:
    mark = f"{number}. "
    first, *rest = _inset(" " * len(mark), item, width)
    return ["", mark + first[len(mark) :], *rest]


def _inset(indent: str, blocks: Iterable[Block], width: int) -> list[str]:
    return [(indent + line).rstrip() for line in as_lines(blocks, width - len(indent))]


def _aligned(rows: Sequence[Sequence[str | Marked]], least: Sequence[int]) -> list[str]:
    cells = [[cell.words if isinstance(cell, Marked) else cell for cell in row] for row in rows]
    needed = (max(map(len, column)) for column in zip(*cells, strict=True))
    widths = [max(pair) for pair in zip_longest(needed, least, fillvalue=0)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]


# ------------------------------------------------------------------------------------------------------- HTML


def as_html(sections: Iterable[Section]) -> Markup:
    """Sections as a part of a page."""
    parts: list[Markup] = []
    for section in sections:
        parts += [element("h3", section.title)] if section.title else []
        parts += map(_html, section.blocks)
    return joined(parts, "\n")


def _html(block: Block) -> Markup:
    match block:
        case Markup():
            return block
        case str(text):
            return element("p", text)
        case Code(text):
            return element("pre", text, class_="flowing")
        case Lines(lines):
            return element("pre", "\n".join(lines), class_="scroll", tabindex=0)
        case Notes(texts):
            return element("ul", *(element("li", text) for text in texts), class_="plain")
        case Table(rows, head):
            return _html_table(block) if head else _html(Lines(_aligned(rows, block.least)))
        case Inset(blocks):
            return joined(map(_html, blocks), "\n")
        case Numbered(items):
            return element("ol", *(element("li", *map(_html, blocks)) for blocks in items))


def _html_table(table: Table) -> Markup:
    def shown(cell: str | Marked) -> str:
        if isinstance(cell, Marked):
            return cell.words if cell.tone is None else f"{cell.tone.sign} {cell.words}"
        return cell

    classes = ["code" if name in table.code else None for name in table.head]
    rows = [
        element("tr", *(element("td", shown(cell), class_=c) for cell, c in zip(row, classes, strict=True)))
        for row in table.rows
    ]
    return framed_table(table.head, rows, table.label, class_="numbers" if table.numbers else None)


def framed_table(head: Sequence[str], rows: Sequence[Markup], label: str, **attributes: object) -> Markup:
    """A table, which may be wider than the page."""
    top = element("tr", *(element("th", text, scope="col") for text in head))
    return framed(element("table", element("thead", top), element("tbody", *rows), **attributes), label)


def framed(content: Markup, label: str) -> Markup:
    """Something that may be wider than the page: it scrolls, also by the keyboard."""
    return element("div", content, class_="scroll", tabindex=0, role="region", aria_label=label)
