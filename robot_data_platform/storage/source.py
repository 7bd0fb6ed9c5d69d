"""Sources on the local disk."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.storage.faults import store_errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def safe_relative(relative: str, label: str) -> PurePosixPath:
    """Return ``relative`` as a path that stays below its root.

    Raises
    ------
    InvalidInputError
        ``unsafe-path``: it is absolute, empty, or climbs with ``..``.
    """
    path = PurePosixPath(relative)
    if not path.parts or path.is_absolute() or ".." in path.parts or {"\\", "\0"} & set(relative):
        raise _unsafe(relative, label, "expected a relative path without '..'")
    return path


def _unsafe(relative: str, label: str, expected: str) -> InvalidInputError:
    return InvalidInputError(
        f"Path {relative!r} in {label!r} leaves its folder: {expected}. Correct the file, or the "
        "manifest or metadata that names it.",
        kind=ErrorKind.UNSAFE_PATH,
        path=relative,
    )


def file_missing(relative: str, label: str) -> DataFaultError:
    """Return the error for a file that a source does not have (``missing-file``)."""
    return DataFaultError(
        f"File {relative!r} is not in {label!r}: got no such file, expected one that the upload's "
        "metadata names. Upload it again with all of its files.",
        kind=ErrorKind.MISSING_FILE,
        path=relative,
    )


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the path of all that is no folder, in no order; nothing where the folder is absent.

    Raises
    ------
    StorageError
        ``store-denied``: a folder below can't be listed.
    """
    if folder.is_dir():
        with store_errors(str(folder)):
            for inner, _, names in os.walk(folder, onerror=_raise):
                yield from (Path(inner, name) for name in names)


def _raise(error: OSError) -> None:
    raise error


class LocalSource:
    """A folder on this machine; symbolic links that lead out of it are refused.

    Parameters
    ----------
    root : Path or str
        The folder.
    label : str, optional
        How messages name it; by default ``root`` as given.
    files : iterable of str, optional
        The relative paths that belong to the source; by default every file of the folder.
    """

    def __init__(
        self, root: Path | str, label: str | None = None, files: Iterable[str] | None = None
    ) -> None:
        self._root = Path(root).resolve()
        self._label = label or str(root)
        self._files = None if files is None else frozenset(files)

    @property
    def label(self) -> str:
        """The folder as the user gave it."""
        return self._label

    @property
    def local_folder(self) -> Path:
        """The folder itself."""
        return self._root

    def list_files(self) -> tuple[str, ...]:
        """Return every file of the source, sorted; none where the folder is absent.

        Raises
        ------
        InvalidInputError
            ``invalid-name``: a file's name is not UTF-8.
        """
        return tuple(sorted(self._walk() if self._files is None else self._files))

    def _walk(self) -> Iterator[str]:
        found = (path for path in files_below(self._root) if path.is_file())
        return (self._named(path.relative_to(self._root).as_posix()) for path in found)

    def _named(self, relative: str) -> str:
        if not relative.isascii() and any("\ud800" <= letter <= "\udfff" for letter in relative):
            raise InvalidInputError(  # it can be neither printed nor stored
                f"File {relative!r} of {self._label!r} has a name that can't be written down: got "
                "bytes that are no UTF-8, expected text. Rename it.",
                kind=ErrorKind.INVALID_NAME,
                path=ascii(relative),
            )
        return relative

    def size_bytes(self, relative: str) -> int:
        """Return the file's size in bytes."""
        return self.local_path(relative).stat().st_size

    def local_path(self, relative: str) -> Path:
        """Return the file's path, checked to exist and to stay inside the folder."""
        path = self._root / safe_relative(relative, self._label)
        if not _leads_inside(path, self._root):
            raise _unsafe(relative, self._label, "got a symbolic link, expected the file itself")
        belongs = self._files is None or relative in self._files
        if not belongs or not os.path.isfile(path):  # Path.is_file fails for a name too long
            raise file_missing(relative, self._label)
        return path


def _leads_inside(path: Path, root: Path) -> bool:
    try:
        return path.resolve().is_relative_to(root)
    except RuntimeError:  # links that lead to each other
        return False
