"""What is said where a package is missing that symdipa uses. Nothing but Python itself is needed here."""

from __future__ import annotations

PACKAGES = {
    "click": "click",
    "highspy": "highspy",
    "numpy": "numpy",
    "pysat": "python-sat",
    "rich": "rich",
    "rustworkx": "rustworkx",
    "z3": "z3-solver",
}
"""The packages that every installation of symdipa has, by the module that is imported."""

EXTRAS = {"distributed": "cluster", "matplotlib": "plot"}
"""Packages that come with an extra of symdipa, by name; their modules have the same name."""


def missing_package(error: BaseException) -> str | None:
    """One line that names the package and how to install it, if its absence is what the error is about."""
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    module = error.name.partition(".")[0]
    if module in PACKAGES:
        return f"the package {PACKAGES[module]} is not installed: pip install symdipa"
    if module in EXTRAS:
        return f"the package {module} is not installed: pip install 'symdipa[{EXTRAS[module]}]'"
    return None
