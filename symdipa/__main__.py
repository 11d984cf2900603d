"""The entry point of the ``symdipa`` command and of ``python -m symdipa``."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import NoReturn

from symdipa.interface.failures import Exit, discard, open_closed_streams, told
from symdipa.interface.interrupts import before_leaving

SHOW_CURSOR = b"\r\x1b[2K\x1b[?25h"
YOUNG = 300_000
"""How many new objects there are before unreachable cycles are looked for. A command makes many small objects
that stay and next to no cycles: with the interpreter's 700 a check of a large file takes a sixth longer."""


def leave_on_interrupt() -> None:
    """Make Ctrl-C end the process at once, with status 130, even while a solver is running.

    Python runs signal handlers only between bytecodes, and z3 puts a handler of its own in their place while
    it searches. So SIGINT is blocked everywhere and a thread waits for it, which does what
    :mod:`symdipa.interface.interrupts` has been told to do and ends the process. A process that was started
    with SIGINT ignored (``nohup``, a background job) keeps ignoring it.
    """
    if not hasattr(signal, "pthread_sigmask") or signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    # A child process must not inherit the block: it would not notice Ctrl-C.
    os.register_at_fork(after_in_child=_unblock)
    threading.Thread(target=_wait_for_interrupt, name="interrupt", daemon=True).start()


def _unblock() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _wait_for_interrupt() -> NoReturn:
    signal.sigwait({signal.SIGINT})
    with suppress(OSError):
        if os.isatty(2):  # the progress display hides the cursor
            os.write(2, SHOW_CURSOR)
    before_leaving()
    with suppress(OSError):
        os.write(2, b"interrupted\n")
    os._exit(Exit.INTERRUPTED)


def main() -> NoReturn:
    """Run the command line and leave with its exit status."""
    open_closed_streams()
    leave_on_interrupt()
    gc.set_threshold(YOUNG)
    try:
        from symdipa.interface.cli import cli

        cli()
    except KeyboardInterrupt:
        os.write(2, b"interrupted\n")
        sys.exit(Exit.INTERRUPTED)
    except Exception as error:  # before there is a command, or while it complained
        _leave(error)
    raise AssertionError("click ends the process itself")


def _leave(error: Exception) -> NoReturn:
    if isinstance(error, BrokenPipeError):
        discard(sys.stdout, sys.stderr)
        sys.exit(Exit.BROKEN_PIPE)
    message, status = told(error)
    try:
        print(f"Error: {message}", file=sys.stderr, flush=True)
    except OSError:  # there is nobody to tell it to
        discard(sys.stdout, sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
