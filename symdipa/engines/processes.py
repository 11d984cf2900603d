"""Engines in processes of their own: limits that hold even where a solver does not yield, and races.

Linux only (``AVAILABLE``): a worker is a fork of this process, so that it starts at once with all that is
known already, and its memory is read from ``/proc``. Elsewhere engines keep their limits by themselves.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from symdipa.engines.base import Engine
from symdipa.model.errors import Limit, LimitReached, OutOfTime
from symdipa.model.limits import POLL, UNLIMITED, Limits, Progress, out_of_memory, resident, stopwatch
from symdipa.model.patterns import Pattern
from symdipa.model.verdict import PatternResult

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

AVAILABLE = sys.platform == "linux"

GRACE = 0.3
"""Seconds past the deadline in which a worker may itself report how far it got, before it is ended."""


def cores() -> int:
    """On how many cores this process may run."""
    return len(os.sched_getaffinity(0)) if AVAILABLE else os.cpu_count() or 1


class Worker:
    """One engine in a process of its own, which answers one request at a time."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.heard = ""
        import multiprocessing  # only where there is something to guard

        engine.load()
        context = multiprocessing.get_context("fork")
        self.pipe, far = context.Pipe()
        self._process = context.Process(target=_serve, args=(engine, far), daemon=True)
        self._process.start()
        far.close()

    @property
    def memory(self) -> int:
        return resident(self._process.pid)

    def ask(self, function: Callable[..., object], *arguments: object) -> None:
        """Have ``function(engine, *arguments)`` called there; :meth:`hear` will have the answer."""
        with suppress(OSError):  # a process that is gone is noticed when it is heard
            self.pipe.send((function, _heard_by(None, arguments)))

    def hear(self) -> tuple[str, Any]:
        """What came, by kind: an ``"answer"``, ``"progress"`` in words (kept in ``heard``), or an exception.

        That is an ``"error"`` if the engine raised it, and for an ``"end"`` a :class:`LimitReached` that says
        why nothing more can be asked there.
        """
        try:
            kind, content = self.pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            reason = f"its process ended unexpectedly ({_ending(self._process)})"
            return "end", LimitReached(Limit.MEMORY, reason)
        if kind == "progress":
            self.heard = content
        return kind, content

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _heard_by(progress: Progress | None, arguments: Iterable[object]) -> list[object]:
    """The arguments, where limits report to ``progress``; a function of this process cannot be sent."""
    return [a.heard_by(progress) if isinstance(a, Limits) else a for a in arguments]


def _ending(process: Any) -> str:
    code = process.exitcode or 0
    if code >= 0:
        return f"status {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def _serve(engine: Engine, pipe: Connection) -> None:
    """The life of a worker: answer requests until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None and parent.pid is not None:
        die_with(parent.pid)
    tell = _teller(pipe)
    while True:
        try:
            function, arguments = pipe.recv()
        except EOFError:
            return
        try:
            message = ("answer", function(engine, *_heard_by(tell, arguments)))
        except MemoryError:
            message = ("end", LimitReached(Limit.MEMORY, "out of memory"))
        except Exception as error:
            import traceback

            said = f"in the process of engine {engine.name}:\n{traceback.format_exc()}"
            error.add_note(said)
            message = ("error", error if _travels(error) else RuntimeError(said))
        pipe.send(message)


def _travels(error: Exception) -> bool:
    import pickle

    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return False
    return True


def die_with(parent: int) -> None:
    """Have this process killed when its parent, the process of that number, ends (Linux)."""
    import ctypes

    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended already
        os._exit(1)


def _teller(pipe: Connection) -> Progress:
    """A progress function that forwards reports, at most ten a second."""
    last = 0.0

    def tell(words: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > 0.1:
            last = now
            pipe.send(("progress", words))

    return tell


class Race(Engine):
    """Asks several engines at once, each in a process of its own, and takes the first definite answer.

    With one engine this only makes its limits hard: past the deadline, or above the memory for all processes
    of all ``races`` together (only this one by default), a worker is ended and its answer is ``UNKNOWN`` with
    the reason. Engines still busy when the answer comes are ended; the one that gave it keeps what it knows.
    """

    def __init__(self, engines: Sequence[Engine], races: Sequence[Race] = ()) -> None:
        self.engines = tuple(engines)
        self.races = races
        self.name = self.engines[0].name if len(self.engines) == 1 else "race"
        self._workers: dict[Engine, Worker] = {}
        self._beyond: dict[Engine, str] = {}  # engines that would only meet their limit again

    def decide_statically(self, pattern: Pattern, limits: Limits = UNLIMITED) -> PatternResult | None:
        return self.engines[0].decide_statically(pattern, limits) if len(self.engines) == 1 else None

    def decide(self, pattern: Pattern, limits: Limits = UNLIMITED) -> PatternResult:
        seconds = stopwatch()
        answers = self._race(pattern, limits)
        for answer in answers:
            if answer.status.is_definite:
                return replace(answer, seconds=seconds())
        reason = answers[-1].reason
        if len(answers) > 1:
            reason = "; ".join(f"{answer.engine}: {answer.reason}" for answer in answers)
        return replace(answers[-1], reason=reason, seconds=seconds())

    def call(self, engine: Engine, function: Callable[..., object], *arguments: object) -> Any:
        """What ``function(engine, *arguments)`` gives in the engine's process.

        The last argument are the limits. Raises what the function raises, and :class:`LimitReached`.
        """
        limits = arguments[-1] if arguments and isinstance(arguments[-1], Limits) else UNLIMITED
        worker = self._worker(engine)
        worker.ask(function, *arguments)
        while True:
            for _, answer in self._heard({engine: worker}, limits):
                if isinstance(answer, Exception):
                    raise answer
                return answer

    def close(self) -> None:
        """End all processes."""
        for engine in list(self._workers):
            self._end(engine)

    def _race(self, pattern: Pattern, limits: Limits) -> list[PatternResult]:
        """The answers up to the first definite one, which is the last."""
        answers = []
        asked: dict[Engine, Worker] = {}
        for engine in self.engines:
            if engine in self._beyond:
                answers.append(engine.unknown(pattern, self._beyond[engine]))
            else:
                asked[engine] = self._worker(engine)
                asked[engine].ask(_decide, pattern, limits)
        try:
            while asked:
                for engine, answer in self._heard(asked, limits):
                    del asked[engine]
                    if isinstance(answer, LimitReached):
                        answer = engine.unknown(pattern, str(answer))
                    elif isinstance(answer, Exception):
                        raise answer
                    answers.append(answer)
                    if answer.status.is_definite:
                        engine.kept_in_process(partial(self.call, engine))
                        return answers
                    if engine.same_work:
                        self._beyond[engine] = answer.reason or ""
                        self._end(engine)
        finally:
            for engine in asked:
                self._end(engine)
        return answers

    def _worker(self, engine: Engine) -> Worker:
        if engine not in self._workers:
            self._workers[engine] = Worker(engine)
        return self._workers[engine]

    def _end(self, engine: Engine) -> None:
        worker = self._workers.pop(engine, None)
        if worker is not None:
            engine.kept_in_process(None)
            worker.end()

    def _heard(self, asked: dict[Engine, Worker], limits: Limits) -> list[tuple[Engine, Any]]:
        """Wait a moment; the answers (or errors) that came, in the order of the engines."""
        from multiprocessing.connection import wait

        ready = wait([worker.pipe for worker in asked.values()], POLL)
        found: list[tuple[Engine, Any]] = []
        for engine, worker in asked.items():
            if worker.pipe in ready:
                kind, answer = worker.hear()
                if kind == "end":
                    self._end(engine)
                if kind != "progress":
                    found.append((engine, answer))
        if not found:
            found = self._ended(asked, limits)
        words = "; ".join(worker.heard for worker in asked.values() if worker.heard)
        if limits.progress is not None and words:
            limits.progress(words)
        return found

    def _ended(self, asked: dict[Engine, Worker], limits: Limits) -> list[tuple[Engine, Any]]:
        """Workers that were ended because they are over a limit, and what to say of them."""
        if limits.deadline is not None and time.monotonic() > limits.deadline + GRACE:
            late = [(engine, OutOfTime(worker.heard)) for engine, worker in asked.items()]
            for engine, _ in late:
                self._end(engine)
            return late
        if limits.memory is not None and asked:
            running = [(race, e) for race in (self.races or (self,)) for e in race._workers]
            held = {(race, engine): race._workers[engine].memory for race, engine in running}
            if resident() + sum(held.values()) > limits.memory:
                return self._larger_ended(asked, held, limits.memory)
        return []

    def _larger_ended(
        self, asked: dict[Engine, Worker], held: dict[tuple[Race, Engine], int], memory: int
    ) -> list[tuple[Engine, Any]]:
        """End the largest worker, and say so if it was busy and not just keeping what it knows."""
        race, engine = max(held, key=lambda each: held[each])
        if race is not self or engine not in asked:
            race._end(engine)
            return []
        limit = out_of_memory(memory, asked[engine].heard)
        self._end(engine)
        return [(engine, limit)]


def _decide(engine: Engine, pattern: Pattern, limits: Limits) -> PatternResult:
    return engine.decide(pattern, limits)
