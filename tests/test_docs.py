"""The documentation is true: commands run, outputs are as shown, links lead somewhere (documented.py)."""

from __future__ import annotations

import re

import documented
import pytest
from click.testing import CliRunner
from conftest import ROOT

from symdipa.files.templates import TEMPLATES
from symdipa.interface.cli import COMMANDS, cli

COMMAND_LINE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")


def name(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", documented.PAGES, ids=name)
def test_what_a_page_says_is_so(page, tmp_path, monkeypatch):
    documented.prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    outcome = documented.run(page.read_text(encoding="utf-8"))
    assert not outcome.wrong, "\n\n".join(outcome.wrong)
    if outcome.missing:
        pytest.skip(f"all is well but for what needs {', '.join(outcome.missing)}")


def test_pages_have_something_to_run():
    for page in ("README.md", "docs/tutorial.md", "docs/witnesses.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert ROOT / page in documented.PAGES
        assert any(b.language == "text" and b.follows for b in documented.blocks(text)), page


def test_the_first_page_puts_the_command_on_the_path_before_it_is_used():
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    first = next(block.text for block in documented.blocks(page) if block.language == "sh")
    lines = [line.split(" && ") for line in first.splitlines()]
    assert lines[0] == ["python3 -m venv .venv", ". .venv/bin/activate", "pip install ."]
    assert lines[1][0].startswith("symdipa ") and "bin/symdipa" not in page


def test_the_picture_of_the_first_page_is_what_is_drawn_now(tmp_path):
    """To renew it: symdipa witness --svg docs/svt_no_cutoff.svg examples/leaking_pair/svt_no_cutoff.dipa"""
    kept, drawn = ROOT / "docs" / "svt_no_cutoff.svg", tmp_path / "drawn.svg"
    example = ROOT / "examples" / "leaking_pair" / "svt_no_cutoff.dipa"
    CliRunner().invoke(cli, ["witness", "--no-hints", "--svg", str(drawn), str(example)])
    assert drawn.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------------------ links


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a page, as the usual renderers make them."""
    without_code = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", without_code, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", documented.PAGES, ids=name)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), target
        assert linked.is_relative_to(ROOT), target
        if anchor:
            assert anchor in anchors(linked.read_text(encoding="utf-8")), target


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in documented.PAGES:
        if page.parent.name == "docs" and page.name != "README.md":
            assert f"]({page.name})" in index, page.name


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_section(command):
    headings = re.findall(r"^## (.*)$", COMMAND_LINE, re.MULTILINE)
    assert any(f"`symdipa {command} " in heading for heading in headings)
    assert f"symdipa {command} " in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_template_is_described(template):
    assert f"| `{template}` |" in (ROOT / "docs" / "templates.md").read_text(encoding="utf-8")


# ---------------------------------------------------------------------------------------- the machinery

PAGE = """
<!-- file: mine.dipa -->
```text
(a, 1, 0): output x; goto b
```

<!-- status: {status} -->
```sh
echo not run && symdipa check -q \\
  {file}   # a comment
```

```text
{output}
```
"""


@pytest.mark.parametrize(
    ("status", "file", "output", "wrong"),
    [
        (0, "mine.dipa", "mine.dipa: private, D = 0 (run bound)", 0),
        (0, "mine.dipa", "...", 0),
        (0, "mine.dipa", "...\nmine.dipa: private, D = 0 (run bound)\n...", 0),
        (0, "mine.dipa", "mine.dipa: private, D = 1 (corollary bound)", 1),
        (0, "mine.dipa", "mine.dipa: private, D = 0 (run", 1),
        (0, "mine.dipa", "mine.dipa: private, D = 0 (run bound)\nmore", 1),
        (1, "mine.dipa", "...", 1),
        (2, "yours.dipa", "yours.dipa: cannot read the file: no such file or directory [file]", 1),
        (2, "yours.dipa", "...", 0),
        (0, "mine.dipa | head", "...", 1),
    ],
)
def test_a_page_that_is_wrong_is_noticed(status, file, output, wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = PAGE.format(status=status, file=file, output=output)
    outcome = documented.run(page)
    assert len(outcome.wrong) == wrong, outcome.wrong
    assert outcome.commands == ("|" not in file)


def test_pages_can_be_brought_up_to_date(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = PAGE.format(status=0, file="mine.dipa", output="what it was\nonce") + "\nThe end.\n"
    mended = documented.rewritten(page, documented.run(page))
    assert mended == page.replace("what it was\nonce", "mine.dipa: private, D = 0 (run bound)")
    assert not documented.run(mended).wrong


def test_what_lies_between_gaps_is_renewed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    head = "```sh\nsymdipa new svt\n```\n```text\n...\n# The threshold.\n"
    last = "(draw:non-input,1/2,0): t := insample; output ready; goto test\n"
    stale = head + "# old\n" + last + "...\n```\n"
    outcome = documented.run(stale)
    assert len(outcome.wrong) == 1
    mended = documented.rewritten(stale, outcome)
    assert mended == head + "# Noise of scale 2/eps around 0.\n" + last + "...\n```\n"
    assert not documented.run(mended).wrong
    hopeless = stale.replace("The threshold", "A limit")
    assert documented.rewritten(hopeless, documented.run(hopeless)) == hopeless


def test_marks():
    page = "```python\n1 / 0\n```\n<!-- not run: why -->\n```python\n1 / 0\n```\n"
    page += "<!-- needs: no_such_thing -->\n```python\n1 / 0\n```\n"
    outcome = documented.run(page)
    assert len(outcome.wrong) == 1 and "line 1: ZeroDivisionError" in outcome.wrong[0]
    assert outcome.missing == ["no_such_thing"]
    assert documented.matches("took 1.5 s\n", "took 12 s\n", numbers_vary=True)
    assert not documented.matches("took 1.5 s\n", "took 12 s\n")
