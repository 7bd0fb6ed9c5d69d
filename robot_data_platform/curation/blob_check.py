"""Whether the GOP blobs of some episodes can be read and have the sha256 that their rows state."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.rendition import slot_of
from robot_data_platform.errors import ErrorKind, NotFoundError, StorageError
from robot_data_platform.storage.predicate import in_range
from robot_data_platform.storage.table import LakeTable

Int64Array = npt.NDArray[np.int64]

BLOBS_AT_ONCE = 64
"""Blobs in memory at a time; one of a few seconds of video takes 0.03 to 3 MB."""

_COLUMNS = ("episode_index", "ref_id", "camera", "gop_index", "sha256")


@dataclass(slots=True)
class RowCount:
    """Rows of a table by episode, counted a batch at a time."""

    episode_index: Int64Array
    """(E,) int64, the wanted episodes, sorted."""
    num_rows: Int64Array
    """(E,) int64, rows counted so far."""

    @classmethod
    def of(cls, episode_index: Int64Array) -> RowCount:
        """Return a count of zero for each wanted episode."""
        wanted = np.sort(episode_index)
        return cls(wanted, np.zeros(len(wanted), dtype=np.int64))

    def where(self) -> str:
        """Return a predicate that no wanted row fails."""
        return in_range(
            "episode_index", int(self.episode_index[0]), int(self.episode_index[-1]) + 1
        )

    def add(self, batch: pa.RecordBatch) -> None:
        """Count the wanted rows of a batch."""
        place = self._place(batch)[self.is_wanted(batch)]
        self.num_rows += np.bincount(place, minlength=len(self.num_rows))

    def is_wanted(self, batch: pa.RecordBatch) -> npt.NDArray[np.bool_]:
        """Return which rows of a batch are of a wanted episode."""
        keys: Int64Array = batch.column("episode_index").to_numpy()
        wanted: npt.NDArray[np.bool_] = self.episode_index[self._place(batch)] == keys
        return wanted

    def _place(self, batch: pa.RecordBatch) -> npt.NDArray[np.intp]:
        keys = batch.column("episode_index").to_numpy()
        found: npt.NDArray[np.intp] = np.searchsorted(self.episode_index, keys)
        return np.clip(found, 0, len(self.episode_index) - 1)


def check_blobs(gops: LakeTable, count: RowCount) -> Iterator[Finding]:
    """Yield a finding for each blob that can't be read or has another hash.

    Count the rows of GOPs as recorded; how many renditions an episode has is its dataset's affair.
    """
    for batch in gops.batches(_COLUMNS, count.where(), with_row_id=True):
        count.add(batch.filter(_is_as_recorded(batch)))
        wanted = batch.filter(pa.array(count.is_wanted(batch)))
        for start in range(0, len(wanted), BLOBS_AT_ONCE):
            yield from _check_rows(gops, wanted.slice(start, BLOBS_AT_ONCE))


def _is_as_recorded(batch: pa.RecordBatch) -> pa.Array:
    return pa.array(slot_of(batch.column("ref_id").to_numpy()) == 0)


def _check_rows(gops: LakeTable, rows: pa.RecordBatch) -> Iterator[Finding]:
    try:
        blobs = gops.read_blobs(rows.column("_rowid").to_numpy())
    except (StorageError, NotFoundError) as err:
        if err.kind not in {ErrorKind.STORE_FAILED, ErrorKind.TABLE_NOT_FOUND}:
            raise
        yield from _unreadable(gops, rows, str(err))
        return
    digests = pa.array([hashlib.sha256(blob).hexdigest() for blob in blobs], pa.string())
    differs = pc.not_equal(digests, rows.column("sha256"))
    for row, got in zip(rows.filter(differs).to_pylist(), digests.filter(differs), strict=True):
        yield _finding("gop_has_its_hash", row, f"got sha256 {got}, expected {row['sha256']}")


def _unreadable(gops: LakeTable, rows: pa.RecordBatch, reason: str) -> Iterator[Finding]:
    """Yield which of some rows can't be read, by reading each alone."""
    if len(rows) == 1:
        yield _finding("gop_is_readable", rows.to_pylist()[0], reason)
        return
    for position in range(len(rows)):
        yield from _check_rows(gops, rows.slice(position, 1))


def _finding(rule: str, row: dict[str, object], what: str) -> Finding:
    where = f"episode_index={row['episode_index']} camera={row['camera']} gop={row['gop_index']}"
    return Finding(rule=rule, severity=Severity.FAIL, where=where, message=f"GOP {where}: {what}.")
