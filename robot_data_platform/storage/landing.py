"""The landing folder: where robots put raw uploads, and the markers that say one is complete."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from robot_data_platform.core.identity import check_name
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.storage.objects import ObjectStore, object_store
from robot_data_platform.storage.source import LocalSource, safe_relative
from robot_data_platform.storage.uri import is_s3, join, normalise_root

MARKERS = "_uploads"
"""Folder of the markers; they are written last and are what sensors list."""

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

        Raises
        ------
        DataFaultError
            ``empty-source``: there is nothing to upload.
        InvalidInputError
            ``already-exists``: the upload id is taken; ``invalid-name``.
        """
        check_name(dataset, "dataset")
        check_name(upload, "upload")
        files = _files_of(source)
        entries = []
        for done, (relative, path) in enumerate(files):
            self._store.put_file(path, f"{dataset}/{upload}/{relative}")
            entries.append(_entry(relative, path))
            if progress is not None:
                progress(done + 1, len(files))
        manifest = Manifest(
            upload=upload, dataset=dataset, files=tuple(entries), format=format_hint, profile=profile
        )
        self._store.put_bytes(_marker_bytes(manifest), _marker_key(upload), only_new=True)
        return self.manifest(upload)

    def list_uploads(self, after: str = "", limit: int | None = None) -> list[str]:
        """Return upload ids with a marker that sort after ``after``, sorted."""
        start = _marker_key(after) if after else ""
        keys = self._store.list_keys(MARKERS, start, limit)
        return [k.removeprefix(f"{MARKERS}/").removesuffix(".json") for k in keys]

    def manifest(self, upload: str) -> Manifest:
        """Return an upload's manifest.

        Raises
        ------
        NotFoundError
            ``upload-not-found``: no marker.
        DataFaultError
            ``unreadable-file``: the marker is not the JSON of a manifest.
        """
        check_name(upload, "upload")
        data = self._store.get_bytes(_marker_key(upload))
        try:
            return _parse_marker(data, upload)
        except (ValueError, KeyError, TypeError) as err:
            if isinstance(err, InvalidInputError):
                raise
            raise DataFaultError(
                f"Marker of upload {upload!r} can't be read: {type(err).__name__} {err}. Expected "
                "JSON with dataset and files (path, size_bytes, sha256). Write the marker again.",
                kind=ErrorKind.UNREADABLE_FILE,
                upload=upload,
            ) from err

    def verify(self, manifest: Manifest) -> None:
        """Hold an upload's files against its manifest: all there, and unchanged.

        Local files are hashed here; those on S3 when they are fetched.

        Raises
        ------
        DataFaultError
            ``missing-file`` or ``hash-mismatch``, naming the file.
        """
        folder = f"{manifest.dataset}/{manifest.upload}"
        if is_s3(self.root):
            _check_listed(manifest, set(self._store.list_keys(folder)), folder)
            return
        source = LocalSource(join(self.root, folder))
        for entry in manifest.files:
            check_sha256(source.local_path(entry.path), entry, manifest.upload)

    def source(self, manifest: Manifest, cache: Path) -> Source:
        """Return the upload's files; on S3 they are fetched into ``cache`` one by one on use."""
        folder = f"{manifest.dataset}/{manifest.upload}"
        if is_s3(self.root):
            return RemoteSource(self._store, folder, manifest, cache)
        return LocalSource(join(self.root, folder))


class RemoteSource:
    """Files of an upload on S3, fetched on first use into a local folder."""

    def __init__(self, store: ObjectStore, folder: str, manifest: Manifest, cache: Path) -> None:
        self._store = store
        self._folder = folder
        self._cache = cache
        self._size_by_path = {entry.path: entry.size_bytes for entry in manifest.files}

    @property
    def label(self) -> str:
        """The upload's URI."""
        return join(self._store.root, self._folder)

    def list_files(self) -> tuple[str, ...]:
        """Return every file of the manifest, sorted."""
        return tuple(sorted(self._size_by_path))

    def size_bytes(self, relative: str) -> int:
        """Return the size that the manifest states."""
        self._check(relative)
        return self._size_by_path[relative]

    def local_path(self, relative: str) -> Path:
        """Return the local copy, fetching it first; two fetchers at once are harmless."""
        self._check(relative)
        path = self._cache / relative
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
                partial = Path(file.name)
            self._store.fetch(f"{self._folder}/{relative}", partial)
            partial.replace(path)
        return path

    def _check(self, relative: str) -> None:
        safe_relative(relative, self.label)
        if relative not in self._size_by_path:
            raise DataFaultError(
                f"File {relative!r} is not in {self.label!r}: got no such file, expected one that "
                "the upload's metadata names. Upload it again with all of its files.",
                kind=ErrorKind.MISSING_FILE,
                path=relative,
            )


def check_sha256(path: Path, entry: FileEntry, upload: str) -> None:
    """Hold a file against its entry in the manifest.

    Raises
    ------
    DataFaultError
        ``hash-mismatch``.
    """
    found = sha256_of(path)
    if found != entry.sha256:
        raise DataFaultError(
            f"Upload {upload!r} file {entry.path!r} has sha256 {found}: expected {entry.sha256} as "
            "the manifest says. Upload it again.",
            kind=ErrorKind.HASH_MISMATCH,
            upload=upload,
            path=entry.path,
        )


def _check_listed(manifest: Manifest, keys: set[str], folder: str) -> None:
    for entry in manifest.files:
        if f"{folder}/{entry.path}" not in keys:
            raise DataFaultError(
                f"Upload {manifest.upload!r} lacks file {entry.path!r}: expected every file that "
                "the manifest names. Upload it again.",
                kind=ErrorKind.MISSING_FILE,
                upload=manifest.upload,
                path=entry.path,
            )


def sha256_of(path: Path) -> str:
    """Return a file's SHA-256 in hex, reading a block at a time."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
    files = tuple(
        FileEntry(path=f["path"], size_bytes=int(f["size_bytes"]), sha256=f["sha256"])
        for f in facts["files"]
    )
    for entry in files:
        safe_relative(entry.path, upload)
    return Manifest(
        upload=upload,
        dataset=check_name(facts["dataset"], "dataset"),
        files=files,
        format=facts.get("format"),
        profile=facts.get("profile"),
        manifest_sha256=hashlib.sha256(data).hexdigest(),
    )
