"""The process that reads HDF5 files: the library trusts them, so that damage may end it.

A request is a function, its arguments and a limit; the reply is what the function returned, or the
error that it raised.
"""

from __future__ import annotations

import resource
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import cast

MAX_MEMORY_BYTES = 5 << 28
"""Writable memory of this process: twice what is read at once, and the library's own; with the
process that asks it stays below 2 GiB."""

Request = tuple[Callable[..., object], tuple[object, ...], float]
Reply = tuple[object, Exception | None]


def main() -> None:
    """Answer requests until the other end is closed."""
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    connection = Connection(int(sys.argv[1]))
    while True:
        try:
            request = cast("Request", connection.recv())
        except EOFError:
            return
        connection.send(_reply(*request))


def _reply(
    function: Callable[..., object], arguments: tuple[object, ...], most_cpu_s: float
) -> Reply:
    # The kernel ends this process where a damaged file keeps the library going round: no Python
    # runs meanwhile. Seconds of computing count, not those of waiting for a slow disk.
    signal.setitimer(signal.ITIMER_PROF, most_cpu_s)
    try:
        return function(*arguments), None
    except Exception as err:  # noqa: BLE001 - the process that asked raises it
        return None, err
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


if __name__ == "__main__":
    main()
