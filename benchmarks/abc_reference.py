"""Our PDR beside ABC's on the same systems: one process, one run, answers compared.

Usage: ``python benchmarks/abc_reference.py pivot:8,16 bracket:8 --limit 60``

For every system that the dataflow leaves open, our control-explicit PDR runs on python-sat's minisat, and
Debian's ``berkeley-abc`` runs ``pdr`` on the AIGER of the same system
(:mod:`symdipa.evidence.exports.aiger`). Our time is the search with the check of its invariant; ABC's is the
time that its ``pdr`` reports, without reading the file. The exit status is 1 if the answers contradict each
other, 2 if ABC is not installed.

With ``--check FILE`` instead it decides one file as ``symdipa check --json`` does, ABC in the place of our
engines: what the dataflow excludes is absent without it, or with ``--whole`` ABC is asked about that as well.
``asked`` counts the questions that it got. ``scale.py`` has columns of these.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from symdipa.encodings.catalogue import systems  # noqa: E402
from symdipa.engines.pdr import PDR  # noqa: E402
from symdipa.evidence.exports.aiger import to_aiger  # noqa: E402
from symdipa.evidence.exports.circuit import circuit_of  # noqa: E402
from symdipa.files.families import generate  # noqa: E402
from symdipa.model.limits import Limits  # noqa: E402
from symdipa.model.patterns import Pattern  # noqa: E402
from symdipa.runs.control import control_graph  # noqa: E402
from symdipa.runs.dataflow import order_facts  # noqa: E402
from symdipa.systems.invariants import check_invariant  # noqa: E402
from symdipa.systems.system import System  # noqa: E402

Timed = tuple[str, float]
"""An answer and its seconds."""

ANSWERS = {"Property proved": "safe", "was asserted in frame": "unsafe"}


def ours(system: System, limit: float) -> tuple[str, float]:
    """The answer of our PDR and its seconds."""
    began = time.monotonic()
    search = PDR(system, Limits(deadline=began + limit), "minisat").run()
    if search.invariant is not None:
        check_invariant(system, search.invariant, solver_name="minisat")
    return search.outcome.value, time.monotonic() - began


def abc(program: str, system: System, limit: float) -> tuple[str, float]:
    """The answer of ABC's ``pdr`` and the seconds that it reports (the limit where it has no answer)."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "query.aig"
        file.write_bytes(to_aiger(circuit_of([system])))
        command = [program, "-c", f"read_aiger {file}; pdr -T {limit:g}"]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=3 * limit + 60, check=False
            )
        except subprocess.TimeoutExpired:
            return "open", limit
    for words, answer in ANSWERS.items():
        if words in done.stdout:
            times = re.findall(r"Time =\s*([0-9.]+) sec", done.stdout)
            return answer, float(times[-1])
    return "open", limit


def rows(program: str, members: Sequence[str], limit: float) -> Iterator[tuple[str, str, Timed, Timed]]:
    """For every open system: the member, the pattern, and both answers."""
    for member in members:
        family, _, sizes = member.partition(":")
        for size in sizes.split(","):
            control = control_graph(generate(family, int(size)))
            facts = order_facts(control)
            for pattern in Pattern:
                for system in systems(pattern, facts, "marks"):
                    yield f"{family} {size}", pattern.short, ours(system, limit), abc(program, system, limit)


def check(program: str, file: Path, limit: float, whole: bool) -> dict[str, object]:
    """What ABC says about a file, or what the dataflow leaves of it, in the words of ``check --json``."""
    from symdipa.files import formats

    ends = time.monotonic() + limit
    control = control_graph(formats.load(file))
    facts = order_facts(control, precise=not whole)
    said: dict[str, str] = {}
    asked = 0
    for pattern in Pattern:
        answers = []
        for system in systems(pattern, facts, "marks"):
            answers.append(abc(program, system, max(1.0, ends - time.monotonic()))[0])
            asked += 1
        said[pattern.title.replace(" ", "-")] = (
            "present" if "unsafe" in answers else "unknown" if "open" in answers else "absent"
        )
    found = set(said.values())
    verdict = "not-private" if "present" in found else "unknown" if "unknown" in found else "private"
    reasons = {name: "time limit reached in ABC" for name, answer in said.items() if answer == "unknown"}
    found_out = {"verdict": verdict, "patterns": said, "weight": None, "reasons": reasons}
    return {**found_out, "asked": asked, "error": None}


def program() -> str | None:
    """The installed ABC, if there is one."""
    return shutil.which("berkeley-abc") or shutil.which("abc")


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("members", nargs="*", metavar="FAMILY:N,N")
    parser.add_argument("--check", type=Path, metavar="FILE", help="decide a file instead")
    parser.add_argument("--whole", action="store_true", help="the file without any help from the dataflow")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each search")
    options = parser.parse_args(words)
    installed = program()
    if installed is None:
        print("ABC is not installed (Debian: berkeley-abc)", file=sys.stderr)
        return 2
    if options.check is not None:
        print(json.dumps(check(installed, options.check, options.limit, options.whole)))
        return 0
    print("| member | pattern | symdipa pdr | s | ABC pdr | s | ratio |")
    print("|---|---|---|--:|---|--:|--:|")
    wrong = False
    for member, pattern, (mine, spent), (other, theirs) in rows(installed, options.members, options.limit):
        wrong |= "open" not in (mine, other) and mine != other
        more = ">" if other == "open" else ""
        cells = [member, pattern, mine, f"{spent:.2f}", other, f"{more}{theirs:.2f}"]
        print(f"| {' | '.join(cells)} | {more}{theirs / max(spent, 1e-3):.1f} |", flush=True)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
