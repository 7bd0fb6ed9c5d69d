"""Ingestions in processes that are killed, with everything that they started.

They are forked from a server that has loaded the code and done nothing: a start takes milliseconds.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from pathlib import Path

from robot_data_platform.compute.episodes_map import Fanout
from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.errors import ErrorKind, StorageError
from robot_data_platform_tests.compute.uploads import ingest

# The server forks before it, or anything in it, has used a table.
warnings.filterwarnings("ignore", "lance is not fork-safe", UserWarning)

STARVED = 75
"""Exit code of a process whose Ray did not start in time, or died, as on a busy machine."""

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__])


@contextmanager
def ingesting(place: Workplace, upload: str, fanout: Fanout) -> Iterator[BaseProcess]:
    """Yield a process that has just begun to ingest an upload; nothing of it is left afterwards."""
    begun = _CONTEXT.Event()
    process = _CONTEXT.Process(target=_ingest, args=(place, upload, fanout, begun))
    process.start()
    try:
        begun.wait()
        yield process
    finally:
        kill(process)
        process.join()


def _ingest(place: Workplace, upload: str, fanout: Fanout, begun: Event) -> None:
    os.setsid()
    begun.set()
    code = 1
    try:
        ingest(place, upload, fanout)
        code = 0
    except BaseException as err:  # noqa: BLE001 (told, and the process ends)
        traceback.print_exc()
        code = STARVED if _is_of_the_machine(err) else 1
    finally:
        # At once: a process of this kind waits for its workers for ever, and they end with it.
        os._exit(code)


def _is_of_the_machine(error: BaseException) -> bool:
    """Return whether Ray failed by itself, which calls for another run."""
    is_rays = type(error).__module__.startswith("ray.")
    is_told = isinstance(error, StorageError) and error.kind is ErrorKind.WORKER_DIED
    return is_rays or is_told or "timed out during startup" in str(error)


def kill(process: BaseProcess) -> None:
    """End a process and all that it started, by SIGKILL."""
    assert process.pid is not None
    while members := [pid for pid in _of_session(process.pid) if _killed(pid)]:
        time.sleep(0.01 if len(members) == 1 else 0.05)


def _killed(pid: int) -> bool:
    """Send SIGKILL to a process; return whether it was there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _of_session(session: int) -> Iterator[int]:
    """Yield the living processes of a session: a worker may have a process group of its own."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name, which may hold spaces, ends with the last parenthesis.
            state, _, _, of_session = stat.read_text().rpartition(")")[2].split()[:4]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(of_session) == session and state != "Z":
            yield int(stat.parent.name)
