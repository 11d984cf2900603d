"""The command line. Commands are thin: read, decide, report; everything heavy is imported when used."""

from symdipa.cli import deciding, minimizing, probabilities, reporting, templates, weights, writing
from symdipa.cli.base import cli

__all__ = ["cli", "deciding", "minimizing", "probabilities", "reporting", "templates", "weights", "writing"]
