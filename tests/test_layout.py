"""The shape of the source tree: layers, the folder of encodings, and imports that stay lazy."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from conftest import ROOT

PACKAGE = ROOT / "symdipa"

ROOMS = [
    "model",
    "files",
    "programs",
    "checker",
    "runs",
    "systems",
    "encodings",
    "engines",
    "bounds",
    "evidence",
    "analysis",
    "interface",
]
"""From the bottom up. A module imports from its own room or from those above it in this list."""

WITHIN = {
    "interface": [
        *("interrupts", "failures", "saving"),
        *("markup", "reports", "pictures", "html", "bench", "cli"),
    ],
    "evidence": ["probability", "simulation", "facts", "hints", "exports"],
}
"""The order inside rooms with floors of their own, as far as it matters to a reader."""

NEVER_MEET = [
    ("encodings", "engines"),
    ("interface.reports", "analysis"),
    ("interface.pictures", "analysis"),
    ("interface.html", "analysis"),
    ("interface.bench", "analysis"),
    ("runs.witness", "runs.augmentation"),
    ("runs.witness", "runs.marks"),
]
"""The first must not import the second: encodings and engines know only the system between them, reports know
only the result, and the replay of a witness shares nothing with the search that found it."""

AT_MOST = 10
"""The most files and folders at each level of the package; ``__init__`` not counted."""


def module_name(path: Path) -> str:
    """The dotted name of a source file below ``symdipa``, also of one in the folder of encodings."""
    place = Path("encodings") / path.name if path.parent == ROOT / "encodings" else path.relative_to(PACKAGE)
    return ".".join(place.with_suffix("").parts).removesuffix(".__init__")


FILES = [*sorted(p for p in PACKAGE.rglob("*.py")), *sorted((ROOT / "encodings").glob("*.py"))]
MODULES = {module_name(path): path for path in FILES if path.stem != "__main__" and path.parent != PACKAGE}


def imported(path: Path):
    """The modules of symdipa that a file imports, be it late or only for types, by dotted names."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module and node.module.partition(".")[0] == "symdipa":
                base = node.module.partition(".")[2]
                for alias in node.names:
                    name = f"{base}.{alias.name}".strip(".")
                    yield name if name in MODULES else base
        elif isinstance(node, ast.Import):
            yield from (a.name.removeprefix("symdipa.") for a in node.names if a.name.startswith("symdipa."))


IMPORTS = {name: {m for m in imported(path) if m in MODULES} for name, path in MODULES.items()}


def inside(name: str, place: str) -> bool:
    return name == place or name.startswith(f"{place}.")


def test_every_module_is_in_a_room():
    assert {name.partition(".")[0] for name in MODULES} == set(ROOMS)


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_down(name):
    room = name.partition(".")[0]
    for other in IMPORTS[name]:
        assert ROOMS.index(other.partition(".")[0]) <= ROOMS.index(room), f"{name} imports {other}"
    for floor, order in WITHIN.items():
        here = [rank for rank, place in enumerate(order) if inside(name, f"{floor}.{place}")]
        for other in IMPORTS[name]:
            there = [rank for rank, place in enumerate(order) if inside(other, f"{floor}.{place}")]
            assert not here or not there or there[0] <= here[0], f"{name} imports {other}"


def test_no_modules_import_each_other_in_a_circle():
    try:
        TopologicalSorter(IMPORTS).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_no_level_has_too_many_things():
    for folder in {path.parent for path in MODULES.values()} - {PACKAGE}:
        things = [p for p in folder.iterdir() if p.suffix == ".py" or p.is_dir()]
        seen = {p.stem for p in things} - {"__init__", "__pycache__"}
        assert len(seen) <= AT_MOST, f"{folder} shows {len(seen)} things"


def test_the_checker_imports_only_the_automaton_and_the_errors():
    found = {other for name in MODULES if inside(name, "checker") for other in IMPORTS[name]}
    assert {name for name in found if not inside(name, "checker")} == {"model.automaton", "model.errors"}


@pytest.mark.parametrize(("lower", "upper"), NEVER_MEET)
def test_modules_that_must_not_know_each_other(lower, upper):
    for name in MODULES:
        if inside(name, lower):
            assert not any(inside(other, upper) for other in IMPORTS[name]), name


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


HEAVY = {"z3", "rich", "matplotlib", "distributed", "rustworkx", "cvc5", "numpy", "scipy", "mpmath"}
HELP = (
    "import sys\nsys.argv = ['symdipa', {}]\nfrom symdipa.interface.cli import cli\n"
    "try: cli()\nexcept SystemExit: pass"
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
    assert not loaded_by(code) & {"z3", "cvc5", "rich", "scipy", "mpmath"}


@pytest.mark.parametrize(
    ("arguments", "modules"),
    [
        ("'--help'", ""),
        ("'--version'", ""),
        ("'check', '-q', 'examples/well_formed/svt.dipa'", "base deciding options"),
        ("'generate', 'svt', '3'", "base options writing"),
        ("'new', '--list'", "base options templates"),
    ],
)
def test_only_the_command_that_runs_is_loaded(arguments, modules):
    listing = "print(*sorted(n.split('.')[3] for n in sys.modules if n.startswith('symdipa.interface.cli.')))"
    assert python("-c", f"{HELP.format(arguments)}\n{listing}").splitlines()[-1] == modules


def test_encodings_are_loaded_where_something_is_searched():
    listing = "print('symdipa.encodings.catalogue' in sys.modules, 'symdipa.engines.pdr' in sys.modules)"
    for options, loaded in ("", "False False"), ("'--engine', 'z3', ", "True True"):
        code = HELP.format(f"'check', '-q', {options}'examples/leaking_cycle/lc_example.dipa'")
        assert python("-c", f"{code}\n{listing}").splitlines()[-1] == loaded


def test_every_package_is_installed():
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"][
        "packages"
    ]
    folders = {file.parent.relative_to(PACKAGE.parent) for file in PACKAGE.rglob("*.py")}
    found = {".".join(folder.parts) for folder in folders} | {"symdipa.encodings"}
    assert sorted(told) == sorted(found)
