"""The command line. Commands are thin: read, decide, report; everything heavy is imported when used."""

from symdipa.cli import deciding, writing
from symdipa.cli.base import cli

__all__ = ["cli", "deciding", "writing"]
