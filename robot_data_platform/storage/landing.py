"""The landing folder: where robots put raw uploads, and the markers that say one is complete."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from robot_data_platform.core.identity import check_name
from robot_data_platform.errors import (
    DataFaultError,
    ErrorKind,
    InvalidInputError,
    NotFoundError,
)
from robot_data_platform.storage.checksum import check_file, sha256_of
from robot_data_platform.storage.faults import object_exists
from robot_data_platform.storage.objects import ObjectStore, object_store
from robot_data_platform.storage.remote_source import RemoteSource
from robot_data_platform.storage.source import LocalSource, file_missing, safe_relative
from robot_data_platform.storage.uri import is_s3, join, normalise_root

if TYPE_CHECKING:
    from pathlib import Path

    from robot_data_platform.core.source import Source

MARKERS = "_uploads"
"""Folder of the markers; they are written last and are what sensors list."""

_MARKER = re.compile(rf"{MARKERS}/([^/]+)\.json")
_SHA256 = re.compile(r"[0-9a-f]{64}")

Progress = Callable[[int, int], None]
"""Called with (done, total)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """One file of an upload."""

    path: str
    """Relative to the upload's folder, POSIX."""
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a marker says of its upload."""

    upload: str
    dataset: str
    files: tuple[FileEntry, ...]
    format: str | None = None
    """Format hint; None = detect."""
    profile: str | None = None
    """YAML text of a profile that overrides the one in the upload."""
    manifest_sha256: str = ""
    """Digest of the marker's bytes: another digest under the same id is a corrected upload."""


class Landing:
    """Uploads below one root, local or on S3."""

    def __init__(self, root: str | Path) -> None:
        self.root = normalise_root(root)
        self._store: ObjectStore = object_store(self.root)

    def put(
        self,
        source: Path,
        dataset: str,
        upload: str,
        *,
        format_hint: str | None = None,
        profile: str | None = None,
        progress: Progress | None = None,
    ) -> Manifest:
        """Copy a folder (or one file) as an upload, then write its marker.

        A put that died before its marker may be done again under the same id.

        Raises
        ------
        DataFaultError
            ``empty-source``: there is nothing to upload.
        InvalidInputError
            ``already-exists``: the upload id is taken; ``invalid-name``.
        """
        check_name(dataset, "dataset")
        check_name(upload, "upload")
        self._check_free(upload)
        files = _files_of(source)
        entries = []
        for done, (relative, path) in enumerate(files):
            self._store.put_file(path, f"{dataset}/{upload}/{relative}")
            entries.append(_entry(relative, path))
            if progress is not None:
                progress(done + 1, len(files))
        manifest = Manifest(
            upload=upload,
            dataset=dataset,
            files=tuple(entries),
            format=format_hint,
            profile=profile,
        )
        self._mark(upload, _marker_bytes(manifest))
        return self.manifest(upload)

    def _check_free(self, upload: str) -> None:
        # Before any file is copied: the files of an upload with a marker never change.
        key = _marker_key(upload)
        try:
            self._store.get_bytes(key)
        except NotFoundError as err:
            if err.kind is not ErrorKind.UPLOAD_NOT_FOUND:
                raise
        else:
            raise object_exists(join(self.root, key))

    def _mark(self, upload: str, marker: bytes) -> None:
        key = _marker_key(upload)
        try:
            self._store.put_bytes(marker, key, only_new=True)
        except InvalidInputError:
            # A store's answer may be lost and the PUT repeated: then the marker there is this one.
            if self._store.get_bytes(key) != marker:
                raise

    def list_uploads(self, after: str = "", limit: int | None = None) -> list[str]:
        """Return the ids of uploads with a marker, sorted by their marker's file name.

        Parameters
        ----------
        after : str
            Only ids whose marker sorts after this id's; the last id of a page gives the next one.
        limit : int, optional
            Number of ids to return at most.
        """
        found: list[str] = []
        start = _marker_key(after) if after else ""
        while True:
            keys = self._store.list_keys(MARKERS, start, limit)
            found += [match[1] for match in map(_MARKER.fullmatch, keys) if match]
            if limit is None or len(keys) < limit or len(found) >= limit:
                return found[:limit]
            start = keys[-1]

    def unmarked(self, dataset: str, marked: Iterable[str]) -> list[str]:
        """Return the uploads of a dataset that have files and are not among those with a marker."""
        folders = {key.split("/")[1] for key in self._store.list_keys(dataset) if "/" in key}
        return sorted(folders - set(marked))

    def manifest(self, upload: str) -> Manifest:
        """Return an upload's manifest.

        Raises
        ------
        NotFoundError
            ``upload-not-found``: no marker.
        DataFaultError
            ``unreadable-file``: the marker is not the JSON of a manifest; ``unsafe-path`` or
            ``invalid-name``: it names what can't be used, or its own name can't.
        """
        try:
            check_name(upload, "upload")
            return _parse_marker(self._store.get_bytes(_marker_key(upload)), upload)
        except InvalidInputError as err:
            raise _bad_marker(upload, str(err), err.kind) from err
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as err:
            if isinstance(err, NotFoundError):
                raise
            said = f"{type(err).__name__} {err}"
            raise _bad_marker(upload, said, ErrorKind.UNREADABLE_FILE) from err

    def verify(self, manifest: Manifest) -> None:
        """Hold an upload's files against its manifest: all there, and unchanged.

        Local files are hashed here; those on S3 when they are fetched.

        Raises
        ------
        DataFaultError
            ``missing-file`` or ``hash-mismatch``, naming the file.
        """
        folder = _folder_of(manifest)
        if is_s3(self.root):
            self._check_listed(manifest, folder)
            return
        source = LocalSource(join(self.root, folder))
        for entry in manifest.files:
            check_file(source.local_path(entry.path), entry, manifest.upload)

    def _check_listed(self, manifest: Manifest, folder: str) -> None:
        keys = set(self._store.list_keys(folder))
        for entry in manifest.files:
            if f"{folder}/{entry.path}" not in keys:
                raise file_missing(entry.path, join(self.root, folder))

    def source(self, manifest: Manifest, cache: Path) -> Source:
        """Return the manifest's files; on S3 they are fetched into ``cache`` one by one on use."""
        folder = _folder_of(manifest)
        if is_s3(self.root):
            return RemoteSource(self._store, folder, manifest, cache)
        return LocalSource(join(self.root, folder), files=(e.path for e in manifest.files))


def _folder_of(manifest: Manifest) -> str:
    return f"{manifest.dataset}/{manifest.upload}"


def _files_of(source: Path) -> list[tuple[str, Path]]:
    if source.is_file():
        return [(source.name, source)]
    folder = LocalSource(source)
    files = [(relative, folder.local_path(relative)) for relative in folder.list_files()]
    if not files:
        raise DataFaultError(
            f"Source {str(source)!r} holds no file: expected a folder or file of a known format. "
            "Check the path.",
            kind=ErrorKind.EMPTY_SOURCE,
            source=str(source),
        )
    return files


def _entry(relative: str, path: Path) -> FileEntry:
    return FileEntry(path=relative, size_bytes=path.stat().st_size, sha256=sha256_of(path))


def _marker_key(upload: str) -> str:
    return f"{MARKERS}/{upload}.json"


def _marker_bytes(manifest: Manifest) -> bytes:
    facts = asdict(manifest)
    del facts["manifest_sha256"]
    return json.dumps(facts, indent=1, sort_keys=True).encode()


def _parse_marker(data: bytes, upload: str) -> Manifest:
    facts = json.loads(data)
    if facts.get("upload", upload) != upload:
        raise ValueError(f"it is the marker of upload {facts['upload']!r}")
    files = tuple(_parse_entry(stated, upload) for stated in facts["files"])
    paths = [entry.path for entry in files]
    if len(set(paths)) < len(paths):
        raise ValueError("a file is named twice")
    return Manifest(
        upload=upload,
        dataset=check_name(facts["dataset"], "dataset"),
        files=files,
        format=_optional_text(facts, "format"),
        profile=_optional_text(facts, "profile"),
        manifest_sha256=hashlib.sha256(data).hexdigest(),
    )


def _parse_entry(stated: dict[str, object], upload: str) -> FileEntry:
    path, size_bytes, sha256 = (stated[name] for name in ("path", "size_bytes", "sha256"))
    if not isinstance(path, str) or not isinstance(size_bytes, int) or size_bytes < 0:
        raise TypeError(f"path {path!r} has size_bytes {size_bytes!r}")
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256.lower()):
        raise TypeError(f"path {path!r} has sha256 {sha256!r}")
    safe_relative(path, upload)
    return FileEntry(path=path, size_bytes=size_bytes, sha256=sha256.lower())


def _optional_text(facts: dict[str, object], name: str) -> str | None:
    value = facts.get(name)
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} {value!r} is no text")
    return value


def _bad_marker(upload: str, said: str, kind: ErrorKind) -> DataFaultError:
    return DataFaultError(
        f"Marker of upload {upload!r} can't be used: {said} Expected JSON with dataset and files "
        "(path, size_bytes, sha256). Write the marker again.",
        kind=kind,
        upload=upload,
    )
