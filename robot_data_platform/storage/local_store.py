"""Plain files in a folder of this machine."""

from __future__ import annotations

import os
import shutil
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from robot_data_platform.storage.faults import object_absent, object_exists, store_errors
from robot_data_platform.storage.source import files_below, safe_relative

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PARTIAL_PREFIX, _PARTIAL_SUFFIX = ".rdp-", ".partial"


class LocalStore:
    """A folder; what is written has a hidden name until it is whole."""

    def __init__(self, root: str) -> None:
        self.root = root

    def put_file(self, local: Path, key: str) -> None:
        """Copy a local file to ``key``."""
        with _whole(self._path(key)) as partial:
            shutil.copyfile(local, partial)

    def put_bytes(self, data: bytes, key: str, *, only_new: bool = False) -> None:
        """Write an object whole."""
        with _whole(self._path(key), only_new=only_new) as partial:
            partial.write_bytes(data)

    def get_bytes(self, key: str) -> bytes:
        """Return an object."""
        path = self._existing(key)
        with store_errors(str(path)):
            return path.read_bytes()

    def fetch(self, key: str, local: Path) -> None:
        """Copy an object to a local file."""
        path = self._existing(key)
        with store_errors(str(path)):
            shutil.copyfile(path, local)

    def list_keys(self, prefix: str, after: str = "", limit: int | None = None) -> list[str]:
        """Return keys below ``prefix``, without those half written."""
        found = (path for path in files_below(self._path(prefix)) if not _is_partial(path.name))
        keys = (path.relative_to(self.root).as_posix() for path in found)
        return sorted(key for key in keys if key > after)[:limit]

    def list_sizes(self, prefix: str) -> dict[str, int]:
        """Return the bytes of each file below ``prefix``, without those half written."""
        with store_errors(self.root):
            return {key: self._path(key).stat().st_size for key in self.list_keys(prefix)}

    def delete(self, keys: Sequence[str]) -> None:
        """Remove files; a folder stays, since another process may be about to write to it."""
        for path in map(self._path, keys):
            with store_errors(str(path)):
                path.unlink(missing_ok=True)

    def _existing(self, key: str) -> Path:
        path = self._path(key)
        if not path.is_file():
            raise object_absent(str(path))
        return path

    def _path(self, key: str) -> Path:
        return Path(self.root) / safe_relative(key, self.root)


@contextmanager
def _whole(target: Path, *, only_new: bool = False) -> Iterator[Path]:
    """Yield a hidden path beside the target to write to; it takes the target's name at the end."""
    partial = target.with_name(f"{_PARTIAL_PREFIX}{uuid.uuid4().hex}{_PARTIAL_SUFFIX}")
    with store_errors(str(target)):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield partial
            _take_name(partial, target, only_new=only_new)
        finally:
            partial.unlink(missing_ok=True)


def _take_name(partial: Path, target: Path, *, only_new: bool) -> None:
    if not only_new:
        partial.replace(target)
        return
    try:
        os.link(partial, target)
    except FileExistsError as err:
        raise object_exists(str(target)) from err


def _is_partial(name: str) -> bool:
    return name.startswith(_PARTIAL_PREFIX) and name.endswith(_PARTIAL_SUFFIX)
