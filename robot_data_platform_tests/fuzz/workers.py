"""Processes that do the runs: kept between runs, and replaced where one ends or never does."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue

from robot_data_platform_tests.fuzz.memory import limit_writable
from robot_data_platform_tests.fuzz.run import (
    MAX_MEMORY_BYTES,
    Case,
    Outcome,
    run,
    what_was_spoilt,
)

MAX_SECONDS = 30.0
"""How long a run may take."""
_SPAWN = multiprocessing.get_context("spawn")
Run = Callable[[Case, Path], Outcome]


class Worker:
    """A process that does one run at a time.

    Parameters
    ----------
    folder : Path
        Where sources are written, and kept where a run fails.
    function : callable
        What does a run; importable by name.
    max_seconds : float
        How long a run may take.
    """

    def __init__(self, folder: Path, function: Run = run, max_seconds: float = MAX_SECONDS) -> None:
        self._folder, self._function, self._max_seconds = folder, function, max_seconds
        self._start()

    def _start(self) -> None:
        self._connection, theirs = _SPAWN.Pipe()
        arguments = (theirs, self._folder, self._function)
        self._process = _SPAWN.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        self._is_ready = False
        theirs.close()

    def run(self, case: Case) -> Outcome:
        """Return what a run came to; the end of the process, or no end of the run, is a fault."""
        if not self._is_ready:  # what it imports is no part of a run
            self._is_ready = self._connection.recv()
        self._connection.send(case)
        try:
            if self._connection.poll(self._max_seconds):
                outcome: Outcome = self._connection.recv()
                return outcome
            fault = f"took more than {self._max_seconds} s"
        except EOFError:
            self._process.join()
            fault = f"ended its process (exit code {self._process.exitcode})"
        self.close()
        self._start()
        return Outcome(case=case, what=what_was_spoilt(case, self._folder), faults=(fault,))

    def close(self) -> None:
        """End the process and those that it started."""
        self._connection.close()
        if self._process.pid is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.join()


def _serve(connection: Connection, folder: Path, function: Run) -> None:
    os.setsid()  # so that what it started ends with it
    limit_writable(MAX_MEMORY_BYTES)
    connection.send(True)
    with suppress(EOFError, ConnectionError):
        while True:
            connection.send(function(connection.recv(), folder))


def outcomes(cases: Sequence[Case], workers: Sequence[Worker]) -> Iterator[Outcome]:
    """Yield what each case came to, as soon as it did, from workers that run at once."""
    free: SimpleQueue[Worker] = SimpleQueue()
    for worker in workers:
        free.put(worker)

    def work(case: Case) -> Outcome:
        worker = free.get()
        try:
            return worker.run(case)
        finally:
            free.put(worker)

    with ThreadPoolExecutor(len(workers)) as threads:
        for done in as_completed([threads.submit(work, case) for case in cases]):
            yield done.result()
