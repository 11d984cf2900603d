"""What several test modules need: where things are, and how to run the command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import hypothesis
import pytest

hypothesis.settings.register_profile("busy", deadline=None)
hypothesis.settings.load_profile("busy")  # the machine may have other work

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Begun in the background of a shell: what tests start and then interrupt would be deaf, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"

WIDER = ("linear", "adjacency")
"""The folders of examples that are beyond the paper."""

PLAIN_EXAMPLES = [path for path in sorted(EXAMPLES.glob("*/*.dipa")) if path.parent.name not in WIDER]
"""Those of the paper's kind; the others have tests of their own, besides those that hold for all."""

WIDER_EXAMPLES = [path for folder in WIDER for path in sorted((EXAMPLES / folder).glob("*.dipa"))]
"""Those that are beyond it."""

VIOLATIONS = [
    path
    for path in sorted(EXAMPLES.glob("*/*.dipa"))
    if not path.read_text(encoding="utf-8").startswith("# expect: private")
]
"""The examples with a run that loses privacy."""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def runs_with_outputs(automaton: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    """The feasible runs that can produce an output sequence, with what each reads and shows."""
    from symdipa.evidence.probability.total import MatchingRuns
    from symdipa.model.limits import UNLIMITED
    from symdipa.runs.control import control_graph

    return MatchingRuns(control_graph(automaton), tuple(inputs), tuple(outputs), False, UNLIMITED).some(2_000)


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """An environment in which a Python process finds this copy of symdipa."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "NO_COLOR")}
    return {**inherited, "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="session")
def run(environment: dict[str, str]) -> Run:
    """Run ``symdipa`` as a process of its own: ``run("check", "a.dipa", stdin="…")``."""

    def start(*arguments: str, stdin: str = "", cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "symdipa", *arguments]
        return subprocess.run(
            command, input=stdin, capture_output=True, text=True, cwd=cwd, env=environment, timeout=120
        )

    return start
