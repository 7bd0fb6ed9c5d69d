"""Files held against what a manifest says of them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Protocol

from robot_data_platform.errors import DataFaultError, ErrorKind

if TYPE_CHECKING:
    from pathlib import Path


class Stated(Protocol):
    """What a manifest says of a file."""

    @property
    def path(self) -> str:
        """Relative to the upload's folder."""

    @property
    def size_bytes(self) -> int:
        """Size of the whole file."""

    @property
    def sha256(self) -> str:
        """SHA-256 in hex."""


def sha256_of(path: Path) -> str:
    """Return a file's SHA-256 in hex, reading a block at a time."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_file(path: Path, stated: Stated, upload: str) -> None:
    """Hold a file against its entry in a manifest: first its size, then its SHA-256.

    Raises
    ------
    DataFaultError
        ``hash-mismatch``.
    """
    size_bytes = path.stat().st_size
    if size_bytes != stated.size_bytes:
        raise _mismatch(stated, upload, f"{size_bytes} bytes", f"{stated.size_bytes} bytes")
    sha256 = sha256_of(path)
    if sha256 != stated.sha256:
        raise _mismatch(stated, upload, f"sha256 {sha256}", f"sha256 {stated.sha256}")


def _mismatch(stated: Stated, upload: str, got: str, expected: str) -> DataFaultError:
    return DataFaultError(
        f"Upload {upload!r} file {stated.path!r} has {got}: expected {expected} as the manifest "
        "says. Upload it again.",
        kind=ErrorKind.HASH_MISMATCH,
        upload=upload,
        path=stated.path,
        got=got,
        expected=expected,
    )
