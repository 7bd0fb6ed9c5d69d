"""Files of an upload on an object store, fetched on first use into a local folder."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from robot_data_platform.errors import NotFoundError
from robot_data_platform.storage.checksum import check_file
from robot_data_platform.storage.source import file_missing, safe_relative
from robot_data_platform.storage.uri import join

if TYPE_CHECKING:
    from pathlib import Path

    from robot_data_platform.storage.landing import FileEntry, Manifest
    from robot_data_platform.storage.objects import ObjectStore


class RemoteSource:
    """The files of a manifest; each is held against it when it is fetched.

    Parameters
    ----------
    store : ObjectStore
        Where the landing folder is.
    folder : str
        The upload's folder below the store's root.
    manifest : Manifest
        Names the files.
    cache : Path
        Local folder to fetch to; uploads, and corrected uploads, do not meet in it.
    """

    def __init__(self, store: ObjectStore, folder: str, manifest: Manifest, cache: Path) -> None:
        self._store = store
        self._folder = folder
        self._upload = manifest.upload
        self._cache = cache / manifest.upload / manifest.manifest_sha256[:16]
        self._entry_by_path = {entry.path: entry for entry in manifest.files}

    @property
    def label(self) -> str:
        """The upload's URI."""
        return join(self._store.root, self._folder)

    @property
    def local_folder(self) -> Path:
        """Where fetched files are put."""
        return self._cache

    def list_files(self) -> tuple[str, ...]:
        """Return every file of the manifest, sorted."""
        return tuple(sorted(self._entry_by_path))

    def size_bytes(self, relative: str) -> int:
        """Return the size that the manifest states."""
        return self._entry(relative).size_bytes

    def local_path(self, relative: str) -> Path:
        """Return the local copy, fetching it first; two fetchers at once are harmless.

        Raises
        ------
        DataFaultError
            ``missing-file``; ``hash-mismatch``: what was fetched is not what the manifest says.
        """
        entry = self._entry(relative)
        path = self._cache / relative
        if not path.is_file():
            self._fetch(entry, path)
        return path

    def _fetch(self, entry: FileEntry, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{uuid.uuid4().hex}")
        try:
            self._store.fetch(f"{self._folder}/{entry.path}", partial)
            check_file(partial, entry, self._upload)
            partial.replace(path)
        except NotFoundError as err:
            raise file_missing(entry.path, self.label) from err
        finally:
            partial.unlink(missing_ok=True)

    def _entry(self, relative: str) -> FileEntry:
        safe_relative(relative, self.label)
        if relative not in self._entry_by_path:
            raise file_missing(relative, self.label)
        return self._entry_by_path[relative]
