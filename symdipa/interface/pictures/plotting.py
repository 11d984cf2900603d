"""Whether a picture can be drawn: its format, and matplotlib, which is optional."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from symdipa.model.errors import SymdipaError


class PlotUnavailable(SymdipaError):
    """The picture cannot be drawn: matplotlib is missing, or the format is unknown."""


def check_plot(
    path: Path, by_matplotlib: Sequence[str] = (".png",), by_us: Sequence[str] = (".svg",)
) -> None:
    """Refuse a picture that cannot be drawn, before anything is computed."""
    *others, last = *by_us, *by_matplotlib
    if path.suffix.lower() not in (*others, last):
        raise PlotUnavailable(f"the picture {path.name} must end in {', '.join(others)} or {last}")
    if path.suffix.lower() in by_us:
        return
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise PlotUnavailable(
            f"pictures in {path.suffix} are drawn by matplotlib, which is not installed: "
            "pip install 'symdipa[plot]'"
        ) from error
