"""What a format reader may ask of an upload's files, wherever they lie."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class Source(Protocol):
    """The files of one upload (or of one folder to inspect), read-only."""

    @property
    def label(self) -> str:
        """How messages name it: the folder or URI as the user gave it, without credentials."""

    @property
    def local_folder(self) -> Path:
        """Where ``local_path`` finds or puts files; a message that names it means ``label``."""

    def list_files(self) -> tuple[str, ...]:
        """Return the relative POSIX path of every file, sorted."""

    def size_bytes(self, relative: str) -> int:
        """Return a file's size; ``DataFaultError`` (``missing-file``) where there is none."""

    def local_path(self, relative: str) -> Path:
        """Return a local path to read the file at, fetching it first from a remote store.

        Raises
        ------
        DataFaultError
            ``missing-file``: the source has no such file.
        InvalidInputError
            ``unsafe-path``: the path would leave the source's folder.
        """
