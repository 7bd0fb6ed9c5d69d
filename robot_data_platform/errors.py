"""The exception tree and its stable kinds (standard library only).

::

    RobotDataError              kind: ErrorKind, facts: dict
    ├── InvalidInputError       argument or config is wrong     (also ValueError)  never retried
    │   └── IndexOutOfRangeError    position outside a sequence (also IndexError)
    ├── DataFaultError          recorded data breaks a rule                        quarantine
    ├── NotFoundError           release, episode, camera, ...   (also KeyError)    never retried
    ├── CommitConflictError     another writer won                                 re-read, retry
    └── StorageError            object store or disk failed                        back off, retry
"""

from __future__ import annotations

from enum import StrEnum


class ErrorKind(StrEnum):
    """Stable codes of what went wrong; append only, code matches these and never a message."""

    # arguments and configuration
    INVALID_ARGUMENT = "invalid-argument"
    INVALID_PROFILE = "invalid-profile"
    INVALID_SPLIT_SPEC = "invalid-split-spec"
    INVALID_URI = "invalid-uri"
    INVALID_NAME = "invalid-name"
    INDEX_OUT_OF_RANGE = "index-out-of-range"
    WINDOW_OFF_GRID = "window-off-grid"
    UNSAFE_PATH = "unsafe-path"
    FORK_UNSAFE = "fork-unsafe"
    NOT_INSTALLED = "not-installed"
    # recorded data
    UNKNOWN_FORMAT = "unknown-format"
    EMPTY_SOURCE = "empty-source"
    UNREADABLE_FILE = "unreadable-file"
    MISSING_FILE = "missing-file"
    METADATA_CONTRADICTION = "metadata-contradiction"
    MIXED_CONVENTIONS = "mixed-conventions"
    SHAPE_MISMATCH = "shape-mismatch"
    TIME_NOT_INCREASING = "time-not-increasing"
    VIDEO_UNREADABLE = "video-unreadable"
    VIDEO_TOO_SHORT = "video-too-short"
    GOP_DAMAGED = "gop-damaged"
    GOP_MISSING = "gop-missing"
    ROW_MISMATCH = "row-mismatch"
    HASH_MISMATCH = "hash-mismatch"
    NO_ROWS = "no-rows"
    CHECK_FAILED = "check-failed"
    # things that are not there
    DATASET_NOT_FOUND = "dataset-not-found"
    UPLOAD_NOT_FOUND = "upload-not-found"
    EPISODE_NOT_FOUND = "episode-not-found"
    CAMERA_NOT_FOUND = "camera-not-found"
    RENDITION_NOT_FOUND = "rendition-not-found"
    COLUMN_NOT_FOUND = "column-not-found"
    RELEASE_NOT_FOUND = "release-not-found"
    SPLIT_NOT_FOUND = "split-not-found"
    MODEL_NOT_FOUND = "model-not-found"
    VERSION_NOT_FOUND = "version-not-found"
    TABLE_NOT_FOUND = "table-not-found"
    BUCKET_NOT_FOUND = "bucket-not-found"
    # writing and storage
    COMMIT_CONFLICT = "commit-conflict"
    ALREADY_EXISTS = "already-exists"
    NEWER_FORMAT_VERSION = "newer-format-version"
    STORE_UNREACHABLE = "store-unreachable"
    STORE_DENIED = "store-denied"
    STORE_UNSAFE = "store-unsafe"
    DISK_FULL = "disk-full"
    STORE_FAILED = "store-failed"
    WORKER_DIED = "worker-died"
    CLUSTER_UNREACHABLE = "cluster-unreachable"


class RobotDataError(Exception):
    """A message for a person, a stable ``kind`` for code, and the facts behind both."""

    def __init__(self, message: str, *, kind: ErrorKind, **facts: object) -> None:
        super().__init__(message)
        self.kind = ErrorKind(kind)
        """What went wrong, as code may match it."""
        self.facts = facts
        """The numbers and ids in the message: ``int``, ``float``, ``str`` or lists of them."""

    def __str__(self) -> str:
        """Return the bare message: ``KeyError`` would print its repr."""
        return str(self.args[0])

    def __reduce__(self) -> tuple[object, ...]:
        """Keep ``kind`` and ``facts`` when the error crosses a process boundary."""
        return _rebuild, (type(self), str(self), self.kind, self.facts)


class InvalidInputError(RobotDataError, ValueError):
    """An argument or a configuration is wrong; trying again can't help."""


class IndexOutOfRangeError(InvalidInputError, IndexError):
    """A position lies outside a sequence; Python's iteration protocol ends at an ``IndexError``."""


class DataFaultError(RobotDataError):
    """Recorded data breaks a rule; the episode is quarantined and the rest goes on."""


class NotFoundError(RobotDataError, KeyError):
    """A release, episode, camera, version or table that was named does not exist."""


class CommitConflictError(RobotDataError):
    """Another writer committed first; read again and redo the change."""


class StorageError(RobotDataError):
    """The object store or the disk failed; worth another try after a pause."""


LASTING_KINDS = frozenset(
    {
        ErrorKind.STORE_DENIED,
        ErrorKind.STORE_UNSAFE,
        ErrorKind.DISK_FULL,
        ErrorKind.NEWER_FORMAT_VERSION,
        ErrorKind.WORKER_DIED,
    }
)
"""Failures of the store that no pause mends."""


def is_worth_retrying(error: RobotDataError) -> bool:
    """Return whether the same call may succeed later: the store failed in a way that passes."""
    return isinstance(error, StorageError | CommitConflictError) and error.kind not in LASTING_KINDS


def _rebuild(
    cls: type[RobotDataError], message: str, kind: ErrorKind, facts: dict[str, object]
) -> RobotDataError:
    return cls(message, kind=kind, **facts)
