"""Turns what Lance, the disk and the object store raise into this project's errors."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

from robot_data_platform.errors import (
    CommitConflictError,
    ErrorKind,
    NotFoundError,
    RobotDataError,
    StorageError,
)

_PATTERNS: tuple[tuple[str, ErrorKind, str], ...] = (
    (
        r"commit conflict|concurrent writers|Incompatible transaction|preempted",
        ErrorKind.COMMIT_CONFLICT,
        "Read the table again and redo the change.",
    ),
    (
        r"No space left|StorageFull|os error 28",
        ErrorKind.DISK_FULL,
        "Free space; nothing half written is visible.",
    ),
    (
        r"AccessDenied|Forbidden|SignatureDoesNotMatch|InvalidAccessKeyId|Unauthorized|\b403\b"
        r"|PermissionDenied|Permission denied|CredentialsNotLoaded|Unable to locate credentials",
        ErrorKind.STORE_DENIED,
        "Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and the rights of the folder or bucket.",
    ),
    (
        r"error sending request|Connection refused|ConnectError|timed out|dns error"
        r"|Could not connect|EndpointConnectionError|error trying to connect",
        ErrorKind.STORE_UNREACHABLE,
        "Check AWS_ENDPOINT_URL and the network, then run the same command again.",
    ),
)


def translate(error: BaseException, uri: str) -> RobotDataError:
    """Return this project's error for a failure of a table or object at ``uri``."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        text = "No space left on device"
    if isinstance(error, PermissionError):
        text = "PermissionDenied"
    for pattern, kind, advice in _PATTERNS:
        if re.search(pattern, text, re.IGNORECASE):
            return _error(kind, uri, advice, text)
    if re.search(r"was not found|not found|NoSuch|does not exist", text, re.IGNORECASE):
        return NotFoundError(
            f"Table or object {uri!r} is not there: {_short(text)}. Check --lake and the name.",
            kind=ErrorKind.TABLE_NOT_FOUND,
            uri=uri,
        )
    return _error(ErrorKind.STORE_FAILED, uri, "Run the same command again.", text)


def _error(kind: ErrorKind, uri: str, advice: str, text: str) -> RobotDataError:
    cls = CommitConflictError if kind is ErrorKind.COMMIT_CONFLICT else StorageError
    return cls(f"Access to {uri!r} failed ({kind}): {_short(text)}. {advice}", kind=kind, uri=uri)


def _short(text: str) -> str:
    """Return the first line without source positions and without anything that was signed."""
    line = re.sub(r"(X-Amz-[A-Za-z-]+|Signature|AWSAccessKeyId)=[^&\s]+", r"\1=***", text)
    return re.sub(r",? ?/\S+\.rs:\d+:\d+", "", line.splitlines()[0])[:300]


@contextmanager
def store_errors(uri: str) -> Iterator[None]:
    """Raise this project's errors for whatever the store raises inside the block.

    Raises
    ------
    StorageError
        ``disk-full``, ``store-denied``, ``store-unreachable`` or ``store-failed``.
    CommitConflictError
        ``commit-conflict``: another writer committed first.
    NotFoundError
        ``table-not-found``.
    """
    try:
        yield
    except RobotDataError:
        raise
    except (OSError, ValueError, RuntimeError) as err:
        raise translate(err, uri) from err
