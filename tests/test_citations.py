"""What code and docs cite exists: pages, their sections, definitions and theorems, files, names.

Pages of ``docs/`` may number their sections (``## 3. ...``). Definitions and theorems are headings, too:
``### Def. ...``, ``### Thm. ...``. There is one form of citation for each:

* code: a page ``docs/engines.md``; with a section, ``docs/...md, section 3``, ``sections 1 and 3``,
  ``sections 3 to 5``. Docs: links whose text and anchor agree, ``[...md, section 3](...md#3-the-four-...)``,
  and ``section 3`` alone for a section of the same page.
* both: a definition or theorem by its name, which is unique. A link with such a name leads to it.
* both: a file by its path from the root of the repository; a module or what it defines by its dotted name.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT
from test_layout import ROOMS

from symdipa.model import patterns

PAGES = [ROOT / "README.md", ROOT / "examples" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CODE = [
    path
    for folder in ("symdipa", "encodings", "tests", "benchmarks")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if path.name != "test_citations.py"
]

PATH = re.compile(r"(?<![\w./-])(?:symdipa|encodings|tests|benchmarks|examples|docs)(?:/[\w.-]+)+/?")
DOTTED = re.compile(r"(?<![\w./-])symdipa(?:\.\w+)+")
PAGE = re.compile(r'(?<![\w./"-])(?:[\w-]+/)*[\w-]+\.md\b')
SECTIONS = re.compile(r"(?:(?P<page>[\w/-]+\.md), )?[Ss]ections? (?P<numbers>\d+(?:(?:, | and | to )\d+)*)")
NAMED = re.compile(r"\b(?:Def|Thm)\. ")
NUMBERED_BY_HAND = re.compile(r"\b(?:Theorem|Definition|Lemma) [A-Z0-9]\b|\btheory, section")
LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]*)\)")


def headings(page: Path) -> list[str]:
    without_code = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return re.findall(r"^#+ (.+)$", without_code, re.M)


def slug(heading: str) -> str:
    """The anchor of a heading, as the usual renderers make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def sections(page: Path) -> set[int]:
    return {int(number) for heading in headings(page) for number in re.findall(r"^(\d+)\. ", heading)}


NAMES = [heading for page in PAGES for heading in headings(page) if NAMED.match(heading)]


def flowing(text: str) -> str:
    """The text without line breaks, the marks of comments and the backticks of file names."""
    return re.sub(r"\s+", " ", re.sub(r"\n\s*(?:#+ |> )?", " ", text))


def faults(text: str, own: Path | None = None) -> list[str]:
    """The citations in a text that lead nowhere, or are not in the one form; ``own`` is the page it is on."""
    text = flowing(text)
    found = [] if own is None else _links(text, own)
    if own is not None:
        text = LINK.sub(r"\1", text)
    found += _sections(text, own) + _names(text) + _files(text) + _dotted(text)
    if own is None:
        bare = (token for token in PAGE.findall(text) if not (ROOT / token).is_file())
        found += [f"{token}: not a page by its path from the root" for token in bare]
    return found + [f"{match[0]}: numbered by hand" for match in NUMBERED_BY_HAND.finditer(text)]


def _sections(text: str, own: Path | None) -> list[str]:
    found = []
    for match in SECTIONS.finditer(text):
        page = own
        if match["page"]:
            page = (ROOT if own is None or match["page"].startswith("docs/") else own.parent) / match["page"]
        if page is None or not page.is_file():
            found.append(f"{match[0]}: of which page?")
        elif missing := _numbers(match["numbers"]) - sections(page):
            found.append(f"{match[0]}: there is no section {sorted(missing)} in {page.name}")
    return found


def _numbers(text: str) -> set[int]:
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    return set(range(numbers[0], numbers[-1] + 1)) if " to " in text else set(numbers)


def _names(text: str) -> list[str]:
    known = re.compile("|".join(rf"{re.escape(name)}\b" for name in sorted(NAMES, key=len, reverse=True)))
    return [
        f"{text[match.start() : match.start() + 40]}: no such name"
        for match in NAMED.finditer(text)
        if not known.match(text, match.start())
    ]


def _links(text: str, own: Path) -> list[str]:
    """Links of which the text says another thing than the target (test_docs.py checks that there is one)."""
    found = []
    for label, target in LINK.findall(text):
        path, _, anchor = target.partition("#")
        section = re.search(r"\bsection (\d+)$", label)
        named = NAMED.match(label)
        if section and not anchor.startswith(f"{section[1]}-"):
            found.append(f"[{label}]({target}): another section")
        if section and path and not label.startswith(f"{Path(path).name}, "):
            found.append(f"[{label}]({target}): another page")
        if named and anchor != slug(label):
            found.append(f"[{label}]({target}): another name")
        if named and slug(label) not in map(slug, headings((own.parent / path) if path else own)):
            found.append(f"[{label}]({target}): not on that page")
    return found


def _files(text: str) -> list[str]:
    tokens = (token.rstrip(".") for token in PATH.findall(text))
    return [f"{t}: no such file" for t in tokens if not (ROOT / t).exists() and not _placeholder(t)]


def _placeholder(path: str) -> bool:
    """Whether a part of the path stands for any name: ``NAME.py``."""
    return any(part.partition(".")[0].isupper() for part in path.split("/") if part != "README.md")


def _dotted(text: str) -> list[str]:
    return [f"{t}: no such module or name in it" for t in DOTTED.findall(text) if not _is_defined(t)]


def _is_defined(dotted: str) -> bool:
    """Whether the name leads to a module, or to something that a module mentions where it defines things."""
    place, names = ROOT, dotted.removesuffix(".__file__").split(".")
    while names and (place / names[0]).is_dir():
        place /= names.pop(0)
    file = place / f"{names[0]}.py" if names else place / "__init__.py"
    if names and file.is_file():
        names.pop(0)
    else:
        file = place / "__init__.py"
    if not names:
        return file.is_file() or place == ROOT / "symdipa" / "encodings"
    defined = rf"^\s*(?:def|class|async def) {names[0]}\b|^{names[0]}\b.*=|^(?:from|import) .*\b{names[0]}\b"
    listed = rf"\"{names[0]}\""
    return file.is_file() and bool(re.search(f"{defined}|{listed}", file.read_text(encoding="utf-8"), re.M))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_pages_cite_what_exists(page: Path):
    assert not faults(page.read_text(encoding="utf-8"), page)


def test_code_cites_what_exists():
    found = {name(path): faults(path.read_text(encoding="utf-8")) for path in CODE}
    assert not {path: wrong for path, wrong in found.items() if wrong}


def test_names_are_unique():
    assert len(NAMES) == len(set(NAMES)) > 20


def test_the_rooms_are_described_in_the_order_of_their_imports():
    text = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    table = text.partition("| room | question |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)(?:/|\.py)` \|", table, re.M) == ROOMS


# That the test can fail

THEORY = ROOT / "docs" / "theory.md"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('"""Patterns (docs/theory.md, section 3)."""', 0),
        ("# as in docs/theory.md,\n    # sections 1 to 3, and Def. leaking\n    # pair, Thm. B", 0),
        (":func:`symdipa.runs.order.update` in symdipa/runs/order.py (not symdipa/engines/NAME.py).", 0),
        ("docs/theory.md, section 33", 1),
        ("docs/theory.md, sections 1 and 33", 1),
        ("docs/theory.md, sections 9 to 11", 1),
        ("(section 3)", 1),
        ("theory, section 3", 2),
        ("weights.md, section 3", 2),
        ("docs/no-such-page.md", 2),
        ("see engines.md", 1),
        ("docs/engines.md, section 3", 1),
        ("Def. leaking pear", 1),
        ("Thm. leaking pair", 1),
        ("Theorem B", 1),
        ("symdipa/runs/ordre.py", 1),
        ("symdipa.runs.ordre", 1),
        ("symdipa.runs.order.updat", 1),
    ],
)
def test_a_wrong_citation_in_code_is_noticed(text: str, wrong: int):
    assert len(faults(text)) == wrong, faults(text)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[weights.md, section 2](weights.md#2-alignment), [Thm. B](weights.md#thm-b), section 4", 0),
        ("[weights.md, section 2](weights.md#3-the-exact-constant)", 1),
        ("[theory.md, section 2](weights.md#2-alignment)", 1),
        ("[section 2](#3-the-four-bad-patterns)", 1),
        ("[Thm. B](weights.md#thm-a)", 1),
        ("[Thm. B](#thm-b)", 1),
        ("section 44", 1),
        ("[weights.md, section 44](weights.md#44-more)", 1),
    ],
)
def test_a_wrong_citation_on_a_page_is_noticed(text: str, wrong: int):
    assert len(faults(text, THEORY)) == wrong, faults(text, THEORY)


# The table of the patterns


def test_the_table_of_patterns_names_what_exists():
    doc = patterns.__doc__ or ""
    rows = [line.split() for line in doc.partition("::\n")[2].partition("\nThe explicit")[0].splitlines()]
    file, listed = ROOT, []
    for row in filter(None, rows):
        if "/" in row[0]:
            file = ROOT / row[0]
            continue
        for word in row:
            if file.is_dir() and file != ROOT:
                assert (file / word).is_file(), f"{file}/{word}"
            elif file != ROOT:
                assert f"def {word}(" in file.read_text(encoding="utf-8"), f"{word} in {file}"
            listed.append(word)
    assert listed[:4] == [pattern.short for pattern in patterns.Pattern]
    assert len(listed) == 6 * 4 + 4 + 1
