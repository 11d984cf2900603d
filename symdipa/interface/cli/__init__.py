"""The command line. Commands are thin: read, decide, report; everything heavy is imported when used."""

from symdipa.interface.cli import (
    benching,
    deciding,
    minimizing,
    probabilities,
    reporting,
    templates,
    weights,
    writing,
)
from symdipa.interface.cli.base import cli

__all__ = [
    "benching",
    "cli",
    "deciding",
    "minimizing",
    "probabilities",
    "reporting",
    "templates",
    "weights",
    "writing",
]
