"""Contact sheets: a few pictures of each camera of an upload, small enough for an event log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.core.gop_rows import packet_index, stream_format
from robot_data_platform.storage.predicate import all_of, in_slot
from robot_data_platform.video.decode import GopDecoder
from robot_data_platform.video.depth import decode_depth
from robot_data_platform.video.picture import contact_sheet, shade_depth

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from robot_data_platform.compute.ingestion import (
        Ingestion,
    )
    from robot_data_platform.core.recording import Picture
    from robot_data_platform.storage.table import LakeTable

PICTURES_PER_SHEET = 6
MAX_BYTES = 20_000
"""Every byte of a sheet is stored in the event log of each materialization."""


def contact_sheets(ingestion: Ingestion, gops_version: int) -> dict[str, bytes]:
    """Return a picture sheet by camera: the first frame of GOPs spread over the upload."""
    gops = ingestion.workplace.lake.open(ingestion.dataset, "gops", gops_version)
    where = all_of(ingestion.where(), in_slot(0))
    rows = gops.read(["camera", "gop_key"], where, with_row_id=True)
    cameras = sorted(set(rows["camera"].to_pylist()))
    return {
        camera: contact_sheet(_first_frames(gops, _spread(rows, camera)), MAX_BYTES)
        for camera in cameras
    }


def _spread(rows: pa.Table, camera: str) -> Sequence[int]:
    """Return row ids of a few GOPs of a camera, evenly spread in stored order."""
    ids = rows.filter(pc.equal(rows["camera"], camera))["_rowid"].to_numpy()
    chosen = np.linspace(0, len(ids) - 1, min(PICTURES_PER_SHEET, len(ids))).round()
    return [int(i) for i in ids[chosen.astype(np.int64)]]


def _first_frames(gops: LakeTable, row_ids: Sequence[int]) -> list[Picture]:
    ids = np.asarray(row_ids, dtype=np.uint64)
    columns = [name for name in gops.schema.names if name != "data"]
    facts = gops.take(ids, columns).to_pylist()
    decoder = GopDecoder()
    return [
        _first_frame(row, blob, decoder)
        for row, blob in zip(facts, gops.read_blobs(ids), strict=True)
    ]


def _first_frame(row: Mapping[str, object], blob: bytes, decoder: GopDecoder) -> Picture:
    packets, form, first = packet_index(row), stream_format(row), np.zeros(1, dtype=np.int64)
    if form.is_depth:
        return shade_depth(decode_depth(decoder, packets, blob, first, form)[0])
    (rgb,) = decoder.decode_rgb(packets, blob, first, form)
    return np.asarray(rgb, dtype=np.uint8)
