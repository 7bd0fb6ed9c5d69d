"""Plain files on the local disk or on S3, by the same calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from robot_data_platform.errors import InvalidInputError
from robot_data_platform.storage.faults import unsafe_store
from robot_data_platform.storage.local_store import LocalStore
from robot_data_platform.storage.s3_store import S3Store
from robot_data_platform.storage.uri import is_s3

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class ObjectStore(Protocol):
    """Files below one root, by relative POSIX key."""

    root: str

    def put_file(self, local: Path, key: str) -> None:
        """Copy a local file to ``key``; a reader never sees half of it."""

    def put_bytes(self, data: bytes, key: str, *, only_new: bool = False) -> None:
        """Write an object whole; where only new ones may, ``already-exists`` is raised."""

    def get_bytes(self, key: str) -> bytes:
        """Return an object; ``NotFoundError`` (``upload-not-found``) where there is none."""

    def fetch(self, key: str, local: Path) -> None:
        """Copy an object to a local file; ``upload-not-found`` where there is none."""

    def list_keys(self, prefix: str, after: str = "", limit: int | None = None) -> list[str]:
        """Return keys below ``prefix`` that sort after ``after``, sorted, at most ``limit``."""

    def list_sizes(self, prefix: str) -> dict[str, int]:
        """Return the bytes of each object below ``prefix``, by key."""

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects; those that are not there are no fault."""


def object_store(root: str) -> ObjectStore:
    """Return the store of a normalised root."""
    return S3Store(root) if is_s3(root) else LocalStore(root)


def store_clock_s(root: str) -> float | None:
    """Return the time of a root's store, seconds since 1970; None where it is this machine's."""
    return S3Store(root).clock_s() if is_s3(root) else None


def check_conditional_put(root: str) -> None:
    """Refuse a store that ignores ``If-None-Match``: on such a store commits would be lost.

    Raises
    ------
    StorageError
        ``store-unsafe``: a second conditional PUT of one key was accepted, or the header refused.
    """
    if not is_s3(root):
        return
    store, key = S3Store(root), "_catalog/.conditional-put-probe"
    for _ in range(2):
        try:
            store.put_bytes(b"probe", key, only_new=True)
        except InvalidInputError:
            return
    raise unsafe_store(root, "accepted a second conditional PUT of one key: expected 412")
