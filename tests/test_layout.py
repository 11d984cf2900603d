"""The shape of the source tree: layers, the folder of encodings, and imports that stay lazy."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT

PACKAGE = ROOT / "symdipa"

LAYERS = [
    {"adjacency", "errors", "interrupts", "patterns", "automaton", "plotting", "spelling", "verdict"},
    {"validation", "order", "boolean", "formats", "families", "checker", "templates"},
    {"control", "marks"},
    {"augmentation", "dataflow", "distinct", "slicing", "webs", "witness"},
    {"feasibility", "invariants", "system", "smt", "probability", "simulation"},
    {"alignment", "constant", "encodings", "relational", "weight"},
    {"attaining", "engines", "weighing"},
    {"labels"},
    {"chc", "circuit"},
    {"aiger", "analysis", "btor2", "certificate", "counterexample", "minimize", "pair_search", "query"},
    {"bench", "counterexample_report", "story", "hints", "report", "weight_report"},
    {"pictures"},
    {"html_report"},
    {"cli"},
    {"__init__", "__main__"},
]
"""From the bottom up. A module imports from its own layer or from those below it."""

RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
NEVER_MEET = [
    ("encodings", "engines"),
    ("engines", "analysis"),
    ("story", "analysis"),
    ("report", "analysis"),
    ("hints", "analysis"),
    ("pictures", "analysis"),
    ("html_report", "analysis"),
    ("bench", "analysis"),
    ("witness", "augmentation"),
    ("witness", "marks"),
]
"""The first must not import the second: encodings and engines know only the system between them, reports know
only the result, and the replay of a witness shares nothing with the search that found it."""


def modules():
    """Every source file with its place in the table: ``(file, name of module or subpackage)``."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path, path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for path in sorted((ROOT / "encodings").glob("*.py")):
        yield path, "encodings"


def imported(path: Path):
    """The modules and subpackages of symdipa that a file imports while it runs (not only for types)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module == "symdipa":
                yield from (alias.name for alias in node.names)
            elif node.module and node.module.startswith("symdipa."):
                yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (a.name.split(".")[1] for a in node.names if a.name.startswith("symdipa."))


def test_every_module_has_a_layer():
    assert {name for _, name in modules()} <= set(RANK), "add the new module to LAYERS"


@pytest.mark.parametrize("path", [p for p, _ in modules()], ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down(path):
    place = "encodings" if "encodings" in path.parts else path.relative_to(PACKAGE).parts[0]
    rank = RANK.get(place.removesuffix(".py"), len(LAYERS))
    for name in imported(path):
        # `Automaton.build` validates: the one import upwards, made when it is called.
        if name in RANK and (place, name) != ("automaton.py", "validation"):
            assert RANK[name] <= rank, f"{path.name} (layer {rank}) imports {name} (layer {RANK[name]})"


def test_the_checker_imports_only_the_automaton_and_the_errors():
    found = {place for path, name in modules() if name == "checker" for place in imported(path)}
    assert found == {"automaton", "checker", "errors"}


@pytest.mark.parametrize(("lower", "upper"), NEVER_MEET)
def test_modules_that_must_not_know_each_other(lower, upper):
    for path, name in modules():
        if name == lower:
            assert upper not in set(imported(path)), path


def test_encodings_is_no_regular_package():
    # As a package called `encodings` on the path it would shadow Python's codecs.
    assert not (ROOT / "encodings" / "__init__.py").exists()


def test_the_link_to_the_encodings_is_relative():
    link = PACKAGE / "encodings"
    assert link.is_symlink()
    assert os.readlink(link) == "../encodings"


def python(*arguments: str, path: str = str(ROOT)) -> str:
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_python_starts_with_the_repository_on_its_path():
    assert python("-c", "import encodings; print('ascii'.encode('utf-16') and 'fine')") == "fine\n"


def loaded_by(code: str) -> set[str]:
    """The top-level modules that are loaded after running the code."""
    report = "import sys; print('\\nLOADED', *sorted({name.split('.')[0] for name in sys.modules}))"
    return set(python("-c", f"{code}\n{report}").rpartition("LOADED")[2].split())


HEAVY = {"z3", "rich", "matplotlib", "distributed", "pysmt", "rustworkx", "cvc5", "numpy", "scipy", "mpmath"}
HELP = (
    "import sys\nsys.argv = ['symdipa', {}]\nfrom symdipa.cli import cli\ntry: cli()\nexcept SystemExit: pass"
)


@pytest.mark.parametrize(
    "code",
    [
        "import symdipa",
        HELP.format("'--help'"),
        HELP.format("'check', '--help'"),
        HELP.format("'bench', '--help'"),
        HELP.format("'generate', 'svt', '3'"),
        HELP.format("'new', 'svt', '--cutoff', '3'"),
        HELP.format("'check', 'no-such-file.dipa'"),
        HELP.format("'convert', 'examples/well_formed/svt.dipa', '--to', 'json'"),
        HELP.format("'convert', 'examples/well_formed/svt.dipa', '--to', 'svg'"),
        HELP.format("'report', '--help'"),
    ],
)
def test_what_needs_no_engine_loads_none(code):
    assert not loaded_by(code) & HEAVY


def test_the_explicit_engine_loads_no_solver():
    code = HELP.format("'check', '-q', '--engine', 'explicit', 'examples/well_formed/svt.dipa'")
    assert not loaded_by(code) & {"z3", "pysmt", "cvc5", "rich", "scipy", "mpmath"}


def test_help_loads_no_template():
    code = (
        HELP.format("'--help'")
        + "\nprint('templates' in str([n for n in sys.modules if n.startswith('symdipa.templates')]))"
    )
    assert python("-c", code).splitlines()[-1] == "False"


def test_every_package_is_installed():
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"][
        "packages"
    ]
    found = {"symdipa", *(f"symdipa.{file.parent.name}" for file in PACKAGE.glob("*/*.py"))}
    assert sorted(told) == sorted(found)
