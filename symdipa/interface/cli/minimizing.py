"""``minimize``, and the small automaton that ``compare`` saves when engines disagree."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from symdipa.interface.cli.base import (
    Reading,
    Target,
    Unusable,
    View,
    showing_progress,
    shown,
    written_as,
)
from symdipa.interface.cli.options import (
    option,
    timeout_option,
    with_automaton_output,
    with_file,
    with_reading,
)
from symdipa.interface.interrupts import on_interrupt
from symdipa.interface.saving import SUFFIXES, create_file
from symdipa.model.errors import InvalidInput
from symdipa.model.options import FORMATS
from symdipa.model.spelling import counted

if TYPE_CHECKING:
    from symdipa.model.automaton import Automaton
    from symdipa.model.options import CheckOptions
    from symdipa.model.verdict import Result

SECONDS_TO_SAVE = 60.0
SECONDS_FOR_ONE = 10.0
"""How long to shrink a disagreement before it is saved, and how long each engine may take meanwhile."""


@click.command()
@with_file
@option(
    "--where",
    "command",
    metavar="COMMAND",
    required=True,
    help="What the result must still satisfy: this shell command ends with --status. The file that it is to "
    "look at stands in the place of {}, or at the end.",
)
@option(
    "--status",
    type=click.IntRange(0, 255),
    default=0,
    metavar="N",
    help="The exit status of COMMAND that means yes.",
)
@timeout_option("End a run of COMMAND after this long; that means no.", default=60.0)
@with_automaton_output
@with_reading
def minimize(file: str, command: str, status: int, timeout: float, output: Target, reading: Reading) -> None:
    """Leave out of the automaton in FILE what does not matter to COMMAND.

    Transitions, states, variables, comparisons and assignments are left out, numbers and outputs made plain,
    until no single such change can be made. After Ctrl-C the smallest automaton so far is written.

    \b
    Example: symdipa minimize big.dipa --where "symdipa check -q --pattern LP {}" --status 1 -o small.dipa
    """
    by_name = SUFFIXES.get(Path(file).suffix.lower(), ("dipa",))[0]
    target = output.automaton_format(None) or reading.fmt or by_name
    if target not in FORMATS:
        raise click.UsageError("the result is an automaton: give -o a name with .dipa or .json")
    output.will_hold(target)
    automaton = reading.read_or_leave(file)
    written_as(automaton, target)
    from symdipa.files import formats
    from symdipa.files.minimize import Minimizer, in_words

    with tempfile.TemporaryDirectory() as folder:
        asked = _Asked(command, status, timeout, Path(folder) / f"candidate.{target}", target)
        search = Minimizer(automaton, asked)

        def finish(how: str) -> None:
            output.write(formats.dumps(search.best, target))
            place = "on standard output" if output.path is None else f"in {output.name}"
            sizes = f"{in_words(search.best)}, down from {in_words(automaton)}"
            click.echo(f"{how} {place} has {sizes}; COMMAND ran {counted(search.runs, 'time')}", err=True)

        def interrupted() -> None:
            asked.end_for_good()
            shutil.rmtree(folder, ignore_errors=True)
            finish("interrupted: the smallest automaton so far")

        with on_interrupt(interrupted), showing_progress(file, View()) as search.progress:
            if not search.starts():
                raise Unusable(f"nothing to minimize: on {shown(file)} itself {asked.said}")
            search.run()
    finish("minimized: the automaton")


class _Asked:
    """Asks a shell command about an automaton."""

    def __init__(self, command: str, status: int, timeout: float, file: Path, fmt: str) -> None:
        path = shlex.quote(str(file))
        self.command = command.replace("{}", path) if "{}" in command else f"{command} {path}"
        self.status, self.timeout, self.file, self.fmt = status, timeout, file, fmt
        self.said = ""
        """How the last run ended."""
        self._process: subprocess.Popen[bytes] | None = None
        self._starting = threading.RLock()

    def __call__(self, automaton: Automaton) -> bool:
        from symdipa.files import formats

        try:
            text = formats.dumps(automaton, self.fmt)
        except InvalidInput:  # the text language cannot say everything
            return False
        quiet = subprocess.DEVNULL
        with self._starting:
            self.file.write_text(text, encoding="utf-8")
            self._process = process = subprocess.Popen(
                self.command, shell=True, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
            )
        try:
            status = process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            self.said = f"the command took longer than {self.timeout:g} s"
            return False
        finally:
            self.end()
        self.said = f"the command ended with status {status}, not {self.status}"
        return status == self.status

    def end_for_good(self) -> None:
        """End the command, and let no other thread start it again."""
        self._starting.acquire()
        self.end()

    def end(self) -> None:
        """End the command, together with all that it has started."""
        if self._process is None:
            return
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()


# ------------------------------------------------------------------------------------------- for compare


def save_disagreement(
    name: str, result: Result, folder: Path, options: CheckOptions
) -> tuple[Path | None, str]:
    """Write a small automaton about which the engines still disagree: the file, and all in words.

    The limits are those of the comparison. Ctrl-C ends the search; what there is then is saved all the same.
    """
    from symdipa import analysis
    from symdipa.files.minimize import Minimizer, in_words
    from symdipa.model.patterns import Pattern

    titles = {text.partition(":")[0] for text in result.disagreements}
    patterns = [pattern for pattern in Pattern if pattern.title in titles]
    seconds = min(options.timeout or SECONDS_FOR_ONE, SECONDS_FOR_ONE)

    def disagree(automaton: Automaton) -> bool:
        try:
            found = analysis.disagreements(
                automaton, patterns, bound=options.bound, timeout=seconds, memory=options.memory
            )
        except Exception:  # another bug than the one that was seen
            return False
        return bool(found)

    search = Minimizer(result.automaton, disagree)

    def interrupted() -> None:
        _, place = _save(name, search.best, folder)
        click.echo(f"{shown(name)}: interrupted; the smallest automaton so far is {place}", err=True)

    with on_interrupt(interrupted), showing_progress(name, View()) as progress:
        if progress is not None:
            search.progress = lambda done: progress(f"engines disagree; making it smaller: {done}")
        complete = search.run(time.monotonic() + SECONDS_TO_SAVE)
    file, place = _save(name, search.best, folder)
    much = "" if complete else f"; not yet minimal after {SECONDS_TO_SAVE:g} s"
    return file, f"a smaller automaton with the disagreement is {place} ({in_words(search.best)}{much})"


def _save(name: str, automaton: Automaton, folder: Path) -> tuple[Path | None, str]:
    """Write the best automaton under a new name: the file, and ``saved in FILE`` or why not."""
    from symdipa.files import formats

    stem = "stdin" if name == "-" else Path(name).stem
    try:
        text, suffix = formats.dumps(automaton, "dipa"), "dipa"
    except InvalidInput:
        text, suffix = formats.dumps(automaton, "json"), "json"
    number = 1
    while True:
        again = "" if number == 1 else f"-{number}"
        file = folder / f"symdipa-disagreement-{stem}{again}.{suffix}"
        try:
            create_file(file, text.encode())
        except FileExistsError:
            number += 1
            continue
        except OSError as error:
            return None, f"not saved: cannot write {shown(str(file))}: {error.strerror}"
        return file, f"saved in {shown(str(file))}"
