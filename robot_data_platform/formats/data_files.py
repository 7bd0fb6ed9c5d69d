"""Opening a source's files: what is no data at all is told before a parser stumbles over it."""

from __future__ import annotations

import re
from pathlib import Path

from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind

LFS_MARK = b"version https://git-lfs.github.com/spec/"
"""First bytes of a Git LFS pointer (git-lfs, docs/spec.md, "The Pointer")."""
_HEAD_BYTES = 512
_LFS_SIZE = re.compile(rb"^size (\d+)$", re.MULTILINE)


def data_path(source: Source, relative: str) -> Path:
    """Return a local path of a file that holds bytes of its own.

    Raises
    ------
    DataFaultError
        ``missing-file``: there is no such file. ``unreadable-file``: it is empty, or a Git LFS
        pointer in place of the content.
    """
    path = source.local_path(relative)
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if not head:
        raise unreadable(source, relative, "got 0 bytes, expected the recorded content")
    if head.startswith(LFS_MARK):
        raise unreadable(source, relative, _pointer_text(head))
    return path


def whole_bytes(source: Source, relative: str, most_bytes: int) -> bytes:
    """Return what a file holds; a larger one is refused before memory is taken.

    Raises
    ------
    DataFaultError
        As ``data_path``; ``unreadable-file``: it has more than ``most_bytes``.
    """
    path = data_path(source, relative)
    num_bytes = path.stat().st_size
    if num_bytes > most_bytes:
        got = f"got {num_bytes} bytes, expected at most {most_bytes}"
        raise unreadable(source, relative, got)
    return path.read_bytes()


def unreadable(source: Source, relative: str, what: str) -> DataFaultError:
    """Return the error for a file that can't be read: ``what`` says what was got and expected."""
    return DataFaultError(
        f"File {relative!r} of {source.label!r} can't be read: {what}. "
        "Upload it again from where it was recorded.",
        kind=ErrorKind.UNREADABLE_FILE,
        path=relative,
    )


def _pointer_text(head: bytes) -> str:
    size = _LFS_SIZE.search(head)
    content = f"{size.group(1).decode()} bytes" if size else "an unknown number of bytes"
    return (
        f"it is a Git LFS pointer in place of {content}, expected the content itself "
        "(`git lfs pull` fetches it)"
    )
