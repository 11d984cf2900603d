"""Runs on a Dask cluster. A run whose worker dies is made again elsewhere, so that no row is lost."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Any, cast

from symdipa.interface.bench.machine import machine
from symdipa.interface.bench.measure import FAILED, Job, Measured, measure
from symdipa.interface.bench.plan import BadSweep
from symdipa.model.limits import POLL

ATTEMPTS = 3
"""How often a run is made whose worker dies each time."""
PATIENCE = 10.0
"""Seconds to wait for the scheduler and for the first worker."""


class Cluster:
    """Runs on the workers of a Dask scheduler, as many at a time as they have threads. Raises
    :class:`BadSweep` if the cluster cannot be used, when it is opened or later when it has gone."""

    def __init__(self, address: str) -> None:
        try:
            import distributed
        except ImportError as error:
            raise BadSweep(
                "runs on a cluster need Dask, which is not installed: pip install 'symdipa[cluster]'"
            ) from error
        self.address = address
        self._distributed = distributed
        try:
            self._client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, TimeoutError, ValueError, ImportError) as error:
            raise BadSweep(f"there is no Dask scheduler at {address} ({_words(error)})") from error
        self._futures: dict[Any, Job] = {}
        self._attempts: dict[str, int] = {}
        self._name = uuid.uuid4().hex[:8]
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE)
            self._check_versions()
        except BaseException as error:
            self._client.close(timeout=1)
            if isinstance(error, TimeoutError):
                raise BadSweep(f"the Dask scheduler at {address} has no workers") from error
            raise

    def _check_versions(self) -> None:
        try:
            machines = self._client.run(machine)
        except Exception as error:
            raise BadSweep(f"the workers at {self.address} cannot run symdipa: {_words(error)}") from error
        here = machine()["symdipa"]
        for worker, found in machines.items():
            if found["symdipa"] != here:
                versions = f"symdipa {found['symdipa']}, and here is {here}"
                raise BadSweep(f"the worker {worker} has {versions}: rows would not compare")

    def has_room(self) -> bool:
        """Whether to hand over a run: there are a few more than threads, so that no worker waits."""
        threads: int = sum(self._client.nthreads().values())
        return len(self._futures) < max(1, threads + threads // 2)

    def start(self, job: Job) -> None:
        attempt = self._attempts[job.id] = self._attempts.get(job.id, 0) + 1
        name = f"symdipa-{self._name}-{job.id}-{attempt}"
        future = self._client.submit(measure, job, key=name, pure=False, retries=0)
        self._futures[future] = job

    def ended(self) -> list[tuple[str, Measured]]:
        with suppress(TimeoutError), self._client.as_current():
            self._distributed.wait(list(self._futures), timeout=4 * POLL, return_when="FIRST_COMPLETED")
        if self._client.status not in ("running", "connecting"):
            raise BadSweep(f"the Dask scheduler at {self.address} has gone; the rows so far are kept")
        found = []
        for future in [future for future in self._futures if future.done()]:
            job = self._futures.pop(future)
            if (measured := self._measured(future, job)) is not None:
                found.append((job.id, measured))
        return found

    def _measured(self, future: Any, job: Job) -> Measured | None:
        """The results of a run; ``None`` if it is made again."""
        try:
            return cast(Measured, future.result(timeout=PATIENCE))
        except Exception as error:  # whatever happened over there: the run itself never raises
            if self._attempts[job.id] < ATTEMPTS:
                self.start(job)
                return None
            return Measured(FAILED, f"lost on the cluster {ATTEMPTS} times: {_words(error)}")

    def close(self) -> None:
        for future in self._futures:
            future.cancel()
        self._futures.clear()
        self._client.close(timeout=2)


def _words(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
