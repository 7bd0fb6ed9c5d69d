"""Sources on the local disk."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError


def safe_relative(relative: str, label: str) -> PurePosixPath:
    """Return ``relative`` as a path that stays below its root.

    Raises
    ------
    InvalidInputError
        ``unsafe-path``: it is absolute, empty, or climbs with ``..``.
    """
    path = PurePosixPath(relative)
    if not relative or path.is_absolute() or ".." in path.parts or "\\" in relative:
        raise InvalidInputError(
            f"Path {relative!r} in {label!r} leaves its folder: expected a relative path without "
            "'..'. Correct the manifest or the metadata that names it.",
            kind=ErrorKind.UNSAFE_PATH,
            path=relative,
        )
    return path


class LocalSource:
    """A folder on this machine; symbolic links that lead out of it are refused."""

    def __init__(self, root: Path | str, label: str | None = None) -> None:
        self._root = Path(root).resolve()
        self._label = label or str(root)

    @property
    def label(self) -> str:
        """The folder as the user gave it."""
        return self._label

    def list_files(self) -> tuple[str, ...]:
        """Return every file below the folder, sorted; none where the folder is absent."""
        found = (p for p in self._root.rglob("*") if p.is_file())
        return tuple(sorted(p.relative_to(self._root).as_posix() for p in found))

    def size_bytes(self, relative: str) -> int:
        """Return the file's size in bytes."""
        return self.local_path(relative).stat().st_size

    def local_path(self, relative: str) -> Path:
        """Return the file's path, checked to exist and to stay inside the folder."""
        path = self._root / safe_relative(relative, self._label)
        if not path.resolve().is_relative_to(self._root):
            safe_relative("..", self._label)
        if not path.is_file():
            raise DataFaultError(
                f"File {relative!r} is not in {self._label!r}: got no such file, expected one that "
                "the upload's metadata names. Upload it again with all of its files.",
                kind=ErrorKind.MISSING_FILE,
                path=relative,
            )
        return path
