"""Finished rows of ``gops`` whose payloads wait on disk until all of an episode's are known."""

from __future__ import annotations

import hashlib
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

import pyarrow as pa

from robot_data_platform.core.identity import CAMERA_BITS, gop_key
from robot_data_platform.storage.faults import store_errors
from robot_data_platform.storage.table import BLOB_COLUMN, blob_array

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from robot_data_platform.core.gop import Gop, StreamFormat
    from robot_data_platform.core.recording import Int64Array

ROWS_PER_BATCH = 64
"""GOPs held in memory at a time while a fragment is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpooledGop:
    """A row of ``gops`` and where its payload lies."""

    row: dict[str, object]
    spool_offset: int
    num_bytes: int


@contextmanager
def spool_file() -> Iterator[IO[bytes]]:
    """Yield a file without a name, in the folder for temporary files.

    Raises
    ------
    StorageError
        ``disk-full``, ``store-denied`` or ``store-failed``: that folder can't be written to.
    """
    with store_errors("temporary files"):
        spool = tempfile.TemporaryFile()  # noqa: SIM115 (closed below)
    try:
        yield spool
    finally:
        # What could not be written was told when it was to be.
        with suppress(OSError):
            spool.close()


def spooled(row: dict[str, object], payload: bytes, spool: IO[bytes]) -> SpooledGop:
    """Write a payload to the end of a file, and return its row with the place.

    Raises
    ------
    StorageError
        ``disk-full``: the folder for temporary files has no room for it.
    """
    with store_errors(tempfile.gettempdir()):
        spool_offset = spool.seek(0, 2)
        spool.write(payload)
        spool.flush()
    return SpooledGop(row=row, spool_offset=spool_offset, num_bytes=len(payload))


def gop_row(
    stream_ref_id: int, camera: str, gop: Gop, form: StreamFormat, pts_ns: Int64Array
) -> dict[str, object]:
    """Return the row of a GOP without its blob; ``pts_ns`` are the times of its frames."""
    return {
        "gop_key": gop_key(stream_ref_id, gop.gop_index),
        "ref_id": stream_ref_id,
        "gop_index": gop.gop_index,
        "episode_index": stream_ref_id >> CAMERA_BITS,
        "camera": camera,
        "first_frame": gop.first_frame,
        "num_frames": gop.num_frames,
        "pts_ns": pts_ns,
        "packet_size_bytes": gop.packets.size_bytes,
        "packet_display_index": gop.packets.display_index,
        "packet_is_reference": gop.packets.is_reference,
        "packet_is_key": gop.packets.is_key,
        "codec": form.codec,
        "profile": form.profile,
        "width_px": form.width_px,
        "height_px": form.height_px,
        "coded_width_px": form.coded_width_px,
        "coded_height_px": form.coded_height_px,
        "pix_fmt": form.pix_fmt,
        "color_range": form.color_range,
        "color_space": form.color_space,
        "color_primaries": form.color_primaries,
        "color_trc": form.color_trc,
        "extradata": form.extradata,
        "sha256": hashlib.sha256(gop.data).hexdigest(),
    }


def row_batches(
    rows: Sequence[SpooledGop], spool: IO[bytes], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the rows with their payloads, in their order, a few at a time."""
    plain = pa.schema([f for f in schema if f.name != BLOB_COLUMN], metadata=schema.metadata)
    for start in range(0, len(rows), ROWS_PER_BATCH):
        part = rows[start : start + ROWS_PER_BATCH]
        columns = pa.Table.from_pylist([p.row for p in part], schema=plain)
        payloads = blob_array([_payload(p, spool) for p in part])
        table = columns.append_column(schema.field(BLOB_COLUMN), payloads)
        yield from table.select(schema.names).cast(schema).to_batches()


def _payload(gop: SpooledGop, spool: IO[bytes]) -> bytes:
    spool.seek(gop.spool_offset)
    return spool.read(gop.num_bytes)
