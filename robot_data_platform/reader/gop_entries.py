"""What decoding a GOP needs besides its bytes, read from rows of ``gops``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.gop import PacketIndex, StreamFormat

if TYPE_CHECKING:
    import pyarrow as pa

ROW_COLUMNS = (
    *("gop_key", "num_frames", "packet_size_bytes", "packet_display_index"),
    *("packet_is_reference", "packet_is_key", "sha256"),
)
"""Columns that differ from GOP to GOP."""
FORMAT_COLUMNS = (
    *("gop_key", "codec", "profile", "width_px", "height_px", "coded_width_px", "coded_height_px"),
    *("pix_fmt", "color_range", "color_space", "color_primaries", "color_trc", "extradata"),
)
"""Columns that are the same for every GOP of a stream."""

_ENTRY_BYTES = 600
"""Memory that one entry takes beside its packet arrays, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GopEntry:
    """What decoding one GOP needs besides its bytes."""

    row_id: int
    """Lance's stable row id in ``gops``."""
    num_frames: int
    packets: PacketIndex
    form: StreamFormat
    sha256: str
    """Hex digest of the blob."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEntries:
    """The GOPs of one camera stream of one episode."""

    first: int
    """Position in the `GopIndex` of its first GOP."""
    gops: tuple[GopEntry, ...]
    num_bytes: int
    """Memory that they take, about."""


def stream_entries(
    first: int, row_id: npt.NDArray[np.uint64], rows: pa.Table, form: StreamFormat
) -> StreamEntries:
    """Return the entries of one stream.

    Parameters
    ----------
    first : int
        Position in the index of the stream's first GOP.
    row_id : ndarray of uint64, shape (G,)
        Row id of each of its GOPs.
    rows : pyarrow.Table
        Their `ROW_COLUMNS`, in the same order.
    form : StreamFormat
        How the stream is coded.
    """
    packets = _packets(rows)
    columns = zip(
        row_id.tolist(),
        rows["num_frames"].to_pylist(),
        packets,
        rows["sha256"].to_pylist(),
        strict=True,
    )
    gops = tuple(
        GopEntry(row_id=row, num_frames=frames, packets=index, form=form, sha256=sha256)
        for row, frames, index, sha256 in columns
    )
    num_packets = sum(len(index.is_key) for index in packets)
    return StreamEntries(
        first=first, gops=gops, num_bytes=_ENTRY_BYTES * len(gops) + 10 * num_packets
    )


def stream_format(row: Mapping[str, object]) -> StreamFormat:
    """Return how a stream is coded, from the `FORMAT_COLUMNS` of one of its GOPs."""
    facts = {name: row[name] for name in FORMAT_COLUMNS if name != "gop_key"}
    return StreamFormat(**{**facts, "extradata": facts["extradata"] or b""})  # type: ignore[arg-type]


def _packets(rows: pa.Table) -> list[PacketIndex]:
    cut = np.cumsum(rows["packet_size_bytes"].combine_chunks().value_lengths().to_numpy())[:-1]
    sizes, displays, references, keys = (
        np.split(_flat(rows[f"packet_{name}"]), cut)
        for name in ("size_bytes", "display_index", "is_reference", "is_key")
    )
    return [
        PacketIndex(size_bytes=size, display_index=display, is_reference=reference, is_key=key)
        for size, display, reference, key in zip(sizes, displays, references, keys, strict=True)
    ]


def _flat(column: pa.ChunkedArray) -> npt.NDArray[np.generic]:
    flat: npt.NDArray[np.generic] = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return flat.copy()
