"""What all pictures need: matplotlib, which is optional, and a format that it writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symdipa.model.errors import SymdipaError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = {"svg.hashsalt": "symdipa"}
"""Settings under which the same picture is the same file."""


class PlotUnavailable(SymdipaError):
    """The picture cannot be drawn: matplotlib is missing, or the format is unknown."""


def check_plot(path: Path, suffixes: Sequence[str] = (".svg", ".png")) -> None:
    """Refuse a picture that cannot be drawn, before anything is computed."""
    if path.suffix.lower() not in suffixes:
        known = ", ".join(suffixes[:-1]) + f" or {suffixes[-1]}"
        raise PlotUnavailable(f"the picture {path.name} must end in {known}")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise PlotUnavailable(
            "pictures are drawn by matplotlib, which is not installed: pip install 'symdipa[plot]'"
        ) from error


def save(figure: Figure, path: Path) -> None:
    """Write a picture, without the date on which it was made."""
    dates: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    figure.savefig(path, metadata=dates.get(path.suffix.lower()))
