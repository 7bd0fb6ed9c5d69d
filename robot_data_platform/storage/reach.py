"""A short question to an object store before the first long one.

Lance repeats a listing that fails six times, and each time it waits half a minute for a store
that is silent. So the first use of a folder in a process asks for one object with little patience.
"""

from __future__ import annotations

from functools import lru_cache

from lance.file import LanceFileSession

from robot_data_platform.errors import ErrorKind, RobotDataError
from robot_data_platform.storage.faults import store_errors
from robot_data_platform.storage.uri import is_s3, storage_options

ANSWER_TIMEOUT_S = 8
"""How long a store may take for its first answer; a question without one is put once more."""

_IMPATIENCE = {
    "timeout": f"{ANSWER_TIMEOUT_S}s",
    "connect_timeout": "2s",
    "client_max_retries": "3",
    "client_retry_timeout": str(ANSWER_TIMEOUT_S + 1),
    "lance_aimd_max_retries": "0",
}

_FINAL = (ErrorKind.STORE_UNREACHABLE, ErrorKind.STORE_DENIED)


def check_reachable(table_uri: str) -> None:
    """Ask the object store of a table for an object beside it, once per folder and process.

    Raises
    ------
    StorageError
        ``store-unreachable`` or ``store-denied``, within seconds.
    """
    if is_s3(table_uri):
        options = storage_options(table_uri) or {}
        _ask(table_uri.rpartition("/")[0], options.get("aws_endpoint", ""))


@lru_cache(maxsize=1024)
def _ask(folder: str, endpoint: str) -> None:
    """Ask once; ``endpoint`` only tells apart what was asked before."""
    try:
        with store_errors(folder):
            session = LanceFileSession(folder, {**(storage_options(folder) or {}), **_IMPATIENCE})
            session.contains(".any")
    except RobotDataError as err:
        # Anything else may pass: the patient client that follows meets it again, and says more.
        if err.kind in _FINAL:
            raise
