"""A Lance table at one version: open, scan, take, read blobs, tag."""

from __future__ import annotations

from typing import TYPE_CHECKING

import lance

from robot_data_platform.core.schema import FORMAT_VERSION, FORMAT_VERSION_KEY
from robot_data_platform.errors import (
    ErrorKind,
    InvalidInputError,
    NotFoundError,
    RobotDataError,
    StorageError,
)
from robot_data_platform.storage.attempts import tried
from robot_data_platform.storage.faults import store_errors
from robot_data_platform.storage.reach import check_reachable
from robot_data_platform.storage.uri import storage_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

BLOB_COLUMN = "data"


class LakeTable:
    """One table pinned to one version; reads never see a later commit."""

    def __init__(self, dataset: lance.LanceDataset, uri: str) -> None:
        self.lance = dataset
        """The Lance handle, for code inside ``storage`` only."""
        self.uri = uri

    @property
    def version(self) -> int:
        """The pinned version."""
        return int(self.lance.version)

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema with its metadata."""
        return self.lance.schema

    @property
    def metadata(self) -> dict[str, str]:
        """The schema metadata as text."""
        return {k.decode(): v.decode() for k, v in (self.schema.metadata or {}).items()}

    def count_rows(self, where: str | None = None) -> int:
        """Return the number of rows, or of those for which the predicate holds."""
        with store_errors(self.uri):
            return int(self.lance.count_rows(filter=where))

    def count_physical_rows(self) -> int:
        """Return the number of rows in the table's files, deleted ones included."""
        with store_errors(self.uri):
            return sum(int(f.physical_rows) for f in self.lance.get_fragments())

    def count_versions(self) -> int:
        """Return how many versions of the table can be opened."""
        with store_errors(self.uri):
            return len(self.lance.version_refs())

    def read(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        *,
        with_row_id: bool = False,
    ) -> pa.Table:
        """Return rows as one Arrow table, in storage order; ``_rowid`` last where asked for.

        The blob column can't be read this way; see `read_blobs`.
        """
        with store_errors(self.uri):
            return self._scanner(columns, where, with_row_id=with_row_id).to_table()

    def batches(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        *,
        with_row_id: bool = False,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the same rows as `read`, a batch at a time, in storage order."""
        with store_errors(self.uri):
            yield from self._scanner(columns, where, with_row_id=with_row_id).to_batches()

    def _scanner(
        self, columns: Sequence[str] | None, where: str | None, *, with_row_id: bool
    ) -> lance.LanceScanner:
        names = [n for n in self.schema.names if n != BLOB_COLUMN] if columns is None else columns
        return self.lance.scanner(
            columns=list(names), filter=where, with_row_id=with_row_id, scan_in_order=True
        )

    def take(self, row_ids: npt.NDArray[np.uint64], columns: Sequence[str]) -> pa.Table:
        """Return rows by stable row id, in the order asked for; repeats allowed.

        Raises
        ------
        NotFoundError
            ``column-not-found``.
        StorageError
            ``store-failed``: this version has no row of one of the ids.
        """
        self._check_columns(columns)
        with store_errors(self.uri):
            # The public ways take by position, or by a filter that is up to three times slower.
            rows = self.lance._take_rows(row_ids.tolist(), columns=list(columns))
        if rows.num_rows != len(row_ids):
            raise self._rows_missing("rows", rows.num_rows, len(row_ids))
        return rows

    def _check_columns(self, columns: Sequence[str]) -> None:
        # Lance panics on an unknown column here, which no `except Exception` catches.
        unknown = sorted(set(columns) - set(self.schema.names))
        if unknown:
            raise NotFoundError(
                f"Table {self.uri!r} version {self.version} has no column {unknown}: it has "
                f"{self.schema.names}. Use one of these.",
                kind=ErrorKind.COLUMN_NOT_FOUND,
                uri=self.uri,
                columns=unknown,
            )

    def _rows_missing(self, what: str, num_found: int, num_wanted: int) -> StorageError:
        return StorageError(
            f"Table {self.uri!r} version {self.version} returned {num_found} {what} for "
            f"{num_wanted} row ids: expected one each. Run `rdp maintain` with scrubbing.",
            kind=ErrorKind.STORE_FAILED,
            uri=self.uri,
            found=num_found,
            expected=num_wanted,
        )

    def read_blobs(self, row_ids: npt.NDArray[np.uint64]) -> list[bytes]:
        """Return the blobs of rows by stable row id, in order; each is fetched once.

        Raises
        ------
        StorageError
            ``store-failed``: a row has no blob.
        """
        with store_errors(self.uri):
            found = self.lance.read_blobs(BLOB_COLUMN, ids=row_ids.tolist(), preserve_order=True)
        blobs = [blob for _, blob in found if blob is not None]
        if len(blobs) != len(row_ids):
            raise self._rows_missing("blobs", len(blobs), len(row_ids))
        return blobs

    def transaction_properties(self) -> dict[str, str]:
        """Return what the commit of this version said of itself (run, asset, partition, code)."""
        with store_errors(self.uri):
            transaction = self.lance.read_transaction(self.version)
        return dict(transaction.transaction_properties or {}) if transaction else {}

    def tags(self) -> dict[str, int]:
        """Return the version that each tag of the table holds."""
        with store_errors(self.uri):
            return {name: int(tag["version"]) for name, tag in self.lance.tags.list().items()}

    def tag_times(self) -> dict[str, int]:
        """Return when each tag of the table was made, nanoseconds since 1970."""
        with store_errors(self.uri):
            listed = self.lance.tags.list()
        times = {name: tag.get("created_at") for name, tag in listed.items()}
        return {n: int(time.timestamp() * 1e9) if time else 0 for n, time in times.items()}

    def remove_tag(self, tag: str) -> None:
        """Remove a tag; its version is then kept as long as any other."""
        with store_errors(self.uri):
            self.lance.tags.delete(tag)

    def add_tag(self, tag: str) -> None:
        """Tag this version, so that clean-up keeps it; the same tag on it again does nothing.

        Raises
        ------
        InvalidInputError
            ``already-exists``: the tag holds another version; tags never move.
        """
        tried(self.uri, lambda: self._add_tag(tag))

    def _add_tag(self, tag: str) -> None:
        try:
            with store_errors(self.uri):
                self.lance.tags.create(tag, self.version)
        except RobotDataError:
            # Creating is atomic, so the tag is asked for only where it could not be made.
            held = self.tags().get(tag)
            if held is None:
                raise
            if held != self.version:
                raise self._tag_taken(tag, held) from None

    def _tag_taken(self, tag: str, held: int) -> InvalidInputError:
        return InvalidInputError(
            f"Tag {tag!r} of {self.uri!r} holds version {held}: expected {self.version}. "
            "Releases are immutable; choose another name.",
            kind=ErrorKind.ALREADY_EXISTS,
            tag=tag,
            version=held,
        )

    def move_tag(self, tag: str) -> None:
        """Tag this version, taking the tag from another version where it holds one.

        Only for tags that no record names yet, and to mend those that a record names.
        """
        held = self.tags().get(tag)
        if held is None:
            self.add_tag(tag)
        elif held != self.version:
            tried(self.uri, lambda: self._update_tag(tag))

    def _update_tag(self, tag: str) -> None:
        with store_errors(self.uri):
            self.lance.tags.update(tag, self.version)


def open_table(uri: str, version: int | str | None = None) -> LakeTable:
    """Return the table at a version or tag, or at its latest version.

    Raises
    ------
    NotFoundError
        ``table-not-found`` or ``version-not-found``.
    StorageError
        ``newer-format-version``: written by a later format than this code reads; or the store's.
    """
    check_reachable(uri)
    try:
        with store_errors(uri):
            dataset = lance.dataset(uri, version=version, storage_options=storage_options(uri))
    except NotFoundError as err:
        if version is None or err.kind is not ErrorKind.TABLE_NOT_FOUND:
            raise
        raise _version_not_found(uri, version) from err
    table = LakeTable(dataset, uri)
    _check_format(table)
    return table


def _version_not_found(uri: str, version: int | str) -> NotFoundError:
    """Return the error for a version that can't be opened; the table's own where it is absent."""
    latest = open_table(uri).version
    return NotFoundError(
        f"Table {uri!r} has no version {version!r}: its latest is {latest}. Check the release, or "
        "whether clean-up removed an untagged version.",
        kind=ErrorKind.VERSION_NOT_FOUND,
        uri=uri,
        version=str(version),
        latest=latest,
    )


def find_table(uri: str, version: int | str | None = None) -> LakeTable | None:
    """Return the table as `open_table` does, or None where there is no such table.

    Raises
    ------
    NotFoundError
        ``version-not-found``: the table is there without that version; ``bucket-not-found``.
    """
    try:
        return open_table(uri, version)
    except NotFoundError as err:
        if err.kind is not ErrorKind.TABLE_NOT_FOUND:
            raise
        return None


def blob_array(payloads: list[bytes]) -> pa.Array:
    """Return payloads as a value of the blob column."""
    return lance.blob_array(payloads)


def _check_format(table: LakeTable) -> None:
    stated = table.metadata.get(FORMAT_VERSION_KEY, "0")
    if not stated.isdecimal() or int(stated) > FORMAT_VERSION:
        raise StorageError(
            f"Table {table.uri!r} version {table.version} has lake format {stated}: expected at "
            f"most {FORMAT_VERSION}. Install a newer robot_data_platform.",
            kind=ErrorKind.NEWER_FORMAT_VERSION,
            uri=table.uri,
            found=stated,
        )
