"""Turns what Lance, the disk and the object store raise into this project's errors."""

from __future__ import annotations

import errno
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robot_data_platform.errors import (
    CommitConflictError,
    ErrorKind,
    InvalidInputError,
    NotFoundError,
    RobotDataError,
    StorageError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class _Fault:
    kind: ErrorKind
    error: type[RobotDataError]
    advice: str


_CONFLICT = _Fault(
    ErrorKind.COMMIT_CONFLICT, CommitConflictError, "Read the table again and redo the change."
)
_NEWER = _Fault(
    ErrorKind.NEWER_FORMAT_VERSION,
    StorageError,
    "A newer release wrote it; install that release of robot_data_platform.",
)
_FULL = _Fault(ErrorKind.DISK_FULL, StorageError, "Free space; nothing half written is visible.")
_BAD_DISK = _Fault(
    ErrorKind.STORE_FAILED,
    StorageError,
    "Check the disk and the room on it, then run the same command again.",
)
_NO_BUCKET = _Fault(
    ErrorKind.BUCKET_NOT_FOUND, NotFoundError, "Create the bucket, or correct the location."
)
_DENIED = _Fault(
    ErrorKind.STORE_DENIED,
    StorageError,
    "Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and the rights on the folder or bucket.",
)
_UNREACHABLE = _Fault(
    ErrorKind.STORE_UNREACHABLE,
    StorageError,
    "Check AWS_ENDPOINT_URL and the network, then run the same command again.",
)
_NO_COLUMN = _Fault(ErrorKind.COLUMN_NOT_FOUND, NotFoundError, "Use one of the table's columns.")
_BAD_FILTER = _Fault(ErrorKind.INVALID_ARGUMENT, InvalidInputError, "Correct the filter.")
_ABSENT = _Fault(
    ErrorKind.TABLE_NOT_FOUND, NotFoundError, "Check --lake, and the names of dataset and table."
)
_NO_ROW = _Fault(
    ErrorKind.STORE_FAILED, StorageError, "Use the version that the row ids were read from."
)
_DAMAGED = _Fault(
    ErrorKind.STORE_FAILED,
    StorageError,
    "A file of it is gone or damaged: open another version, or restore the file from a copy.",
)
_FAILED = _Fault(ErrorKind.STORE_FAILED, StorageError, "Run the same command again.")

_FAULT_BY_ERRNO = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: _FULL,
    errno.EACCES: _DENIED,
    errno.EPERM: _DENIED,
    errno.EROFS: _DENIED,
    errno.ENOENT: _DAMAGED,
    errno.ECONNREFUSED: _UNREACHABLE,
    errno.ETIMEDOUT: _UNREACHABLE,
}

_FAULT_BY_PATTERN: tuple[tuple[str, _Fault], ...] = (
    (r"commit conflict|concurrent writers|incompatible transaction|preempted", _CONFLICT),
    (r"please upgrade lance", _NEWER),
    # With little room left, Lance writes part of a blob and then finds it short.
    (r"StorageFull|no space left|disk is full|exceeds blob object size", _FULL),
    (r"disk I/O error", _BAD_DISK),
    (r"failed to fill whole buffer", _DAMAGED),
    (r"NoSuchBucket", _NO_BUCKET),
    (
        r"AccessDenied|Forbidden|Unauthorized|SignatureDoesNotMatch|InvalidAccessKeyId"
        r"|InvalidToken|ExpiredToken|lacked the necessary privileges|permission denied"
        r"|Failed to get AWS credentials|NoCredentials|PartialCredentials|readonly database",
        _DENIED,
    ),
    (
        r"error sending request|connection refused|connection reset|ConnectError|timed out"
        r"|dns error|EndpointConnection|ConnectTimeout|ReadTimeout|ConnectionClosed",
        _UNREACHABLE,
    ),
    (r"no field named|FieldNotFound|Column \S+ does not exist", _NO_COLUMN),
    (r"error parsing statement|error resolving filter", _BAD_FILTER),
    (r"could not resolve all requested row ids", _NO_ROW),
    (r"was not found|ref not found|NoSuchKey", _ABSENT),
    (r"not found|no such file|invalid magic|invalid range|not appear to be a Lance file", _DAMAGED),
)

_SECRET_VARIABLES = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID")

_SECRET_MIN_CHARS = 8
"""A shorter key (``test``) is no secret, and hiding it would hide half of every message."""

_SECRET_TEXT = re.compile(
    r"(?P<name>X-Amz-[\w-]+=|(?:Signature|AWSAccessKeyId|Credential)="
    r"|<(?:AWSAccessKeyId|StringToSign|SignatureProvided|CanonicalRequest|Token-0)>"
    r"|://(?=[^/\s@]+@))[^&\s<,@]+"
)

_LOCATION = re.compile(r"[a-z0-9+]+://\S+|(?:/?[\w.@%+-]+)?(?:/[\w.@%+-]+)+")
"""Paths and URLs: their words (a folder named `forbidden`) say nothing of what went wrong."""

_SOURCE_POSITION = re.compile(r",? ?(?:/[\w.@-]+)+\.rs:\d+:\d+")

_S3_ANSWER = re.compile(r"<Code>(.*?)</Code>(?:.*?<Message>(.*?)</Message>)?", re.DOTALL)


def translate(error: BaseException, uri: str) -> RobotDataError:
    """Return this project's error for a failure of a table or object at ``uri``."""
    fault = _fault_of(error)
    return fault.error(
        f"Access to {uri!r} failed ({fault.kind}): {_said(error)}. {fault.advice}",
        kind=fault.kind,
        uri=uri,
    )


def _fault_of(error: BaseException) -> _Fault:
    text = f"{type(error).__name__}: {error}"
    number = error.errno if isinstance(error, OSError) else None
    stated = re.search(r"\(os error (\d+)\)", text)
    if number is None and stated:
        number = int(stated[1])
    if number in _FAULT_BY_ERRNO:
        return _FAULT_BY_ERRNO[number]
    words = _LOCATION.sub(" ", text)
    for pattern, fault in _FAULT_BY_PATTERN:
        if re.search(pattern, words, re.IGNORECASE):
            return fault
    return _FAILED


def _said(error: BaseException) -> str:
    """Return what the error says in one line, without source positions and secrets."""
    text = without_secrets(str(error))
    answer = _S3_ANSWER.search(text)
    if answer:
        text = ": ".join(part for part in answer.groups() if part)
    line = _SOURCE_POSITION.sub("", text.strip().partition("\n")[0])
    return f"{type(error).__name__}: {line[:300].rstrip('. ')}"


def without_secrets(text: str) -> str:
    """Return text without this process's AWS keys and without anything that was signed."""
    for name in _SECRET_VARIABLES:
        value = os.environ.get(name, "")
        if len(value) >= _SECRET_MIN_CHARS:
            text = text.replace(value, "***")
    return _SECRET_TEXT.sub(r"\g<name>***", text)


@contextmanager
def store_errors(uri: str) -> Iterator[None]:
    """Raise this project's errors for whatever the store raises inside the block.

    Raises
    ------
    StorageError
        ``disk-full``, ``store-denied``, ``store-unreachable``, ``newer-format-version`` or
        ``store-failed``.
    CommitConflictError
        ``commit-conflict``: another writer committed first.
    NotFoundError
        ``table-not-found``, ``bucket-not-found`` or ``column-not-found``.
    InvalidInputError
        ``invalid-argument``: a filter that Lance can't read.
    """
    try:
        yield
    except RobotDataError:
        raise
    except (OSError, ValueError, RuntimeError) as err:
        raise translate(err, uri) from showable(err)


def showable(error: BaseException) -> BaseException | None:
    """Return the error as a cause to show in a traceback, or None where it holds a secret."""
    return error if without_secrets(str(error)) == str(error) else None


def object_exists(uri: str) -> InvalidInputError:
    """Return the error for an object that only a new one may be (``already-exists``)."""
    return InvalidInputError(
        f"Object {uri!r} exists: expected a new name. Choose another upload id.",
        kind=ErrorKind.ALREADY_EXISTS,
        uri=uri,
    )


def object_absent(uri: str) -> NotFoundError:
    """Return the error for an object that is not there (``upload-not-found``)."""
    return NotFoundError(
        f"Object {uri!r} is not there. Check --landing and the upload's name.",
        kind=ErrorKind.UPLOAD_NOT_FOUND,
        uri=uri,
    )


def unsafe_store(uri: str, what: str) -> StorageError:
    """Return the error for a store on which commits could be lost (``store-unsafe``)."""
    return StorageError(
        f"The store of {uri!r} {what}. Commits on it could be lost; use a store that honours "
        "If-None-Match.",
        kind=ErrorKind.STORE_UNSAFE,
        uri=uri,
    )
