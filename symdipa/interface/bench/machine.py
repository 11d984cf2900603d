"""The machine that measures, and the versions of everything that decides."""

from __future__ import annotations

import os
import platform
import subprocess
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from symdipa import __version__
from symdipa.engines.processes import cores
from symdipa.model.limits import machine_memory

PACKAGES = ("z3-solver", "python-sat", "rustworkx", "highspy", "numpy")
"""Packages whose version can change what is measured."""
SOURCE = Path(__file__).resolve().parents[3]
"""The folder that holds the package: that of the repository, unless it is installed."""


@lru_cache(maxsize=1)
def machine() -> dict[str, Any]:
    """The machine and the versions, as they stand in the results."""
    return {
        "host": platform.node(),
        "processor": processor(),
        "cores": cores(),
        "memory_mb": machine_memory() // 2**20,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "packages": {name: version_of(name) for name in PACKAGES},
        "symdipa": __version__,
        "commit": commit(),
    }


def version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def processor() -> str:
    """The name of the processor."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def commit() -> str:
    """What git calls this state of the source; the version of the package where there is no repository."""
    command = ["git", "-C", str(SOURCE), "describe", "--always", "--dirty"]
    if (SOURCE / ".git").exists():
        with suppress(OSError, subprocess.CalledProcessError):
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return __version__


def described(found: dict[str, Any]) -> str:
    """One line about a machine."""
    packages = ", ".join(f"{name} {found['packages'][name]}" for name in PACKAGES)
    return (
        f"{found['processor']}, {found['cores']} cores, {found['memory_mb'] / 1024:.0f} GB; "
        f"{found['system']}, Python {found['python']}, {packages}, symdipa {found['commit']}"
    )


def load() -> float | None:
    """How many processes wanted to run in the last minute; ``None`` if the system does not say."""
    with suppress(OSError):
        return os.getloadavg()[0]
    return None
