"""What decoding a GOP needs besides its bytes, read from rows of ``gops``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from robot_data_platform.core.gop import PacketIndex, StreamFormat

Scalar = TypeVar("Scalar", bound=np.generic)

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
    """The G GOPs of one camera stream of one episode, P packets in all, as flat arrays."""

    first: int
    """Position in the `GopIndex` of its first GOP."""
    row_id: npt.NDArray[np.uint64]
    """(G,) row id of each GOP."""
    num_frames: npt.NDArray[np.int32]
    """(G,) frames of each."""
    sha256: pa.StringArray
    """(G,) digest of each."""
    start: npt.NDArray[np.int64]
    """(G + 1,) where each GOP's packets start in ``packets``, and P."""
    packets: PacketIndex
    """The packets of all GOPs, (P,) each, one GOP after the other."""
    form: StreamFormat

    @property
    def num_bytes(self) -> int:
        """Memory that the arrays take."""
        packets = self.packets
        arrays: tuple[npt.NDArray[np.generic], ...] = (
            *(self.row_id, self.num_frames, self.start),
            *(packets.size_bytes, packets.display_index, packets.is_reference, packets.is_key),
        )
        return sum(array.nbytes for array in arrays) + int(self.sha256.nbytes)

    def entry(self, number: int) -> GopEntry:
        """Return the GOP at a position of the stream."""
        part, packets = slice(self.start[number], self.start[number + 1]), self.packets
        return GopEntry(
            row_id=int(self.row_id[number]),
            num_frames=int(self.num_frames[number]),
            packets=PacketIndex(
                size_bytes=packets.size_bytes[part],
                display_index=packets.display_index[part],
                is_reference=packets.is_reference[part],
                is_key=packets.is_key[part],
            ),
            form=self.form,
            sha256=str(self.sha256[number].as_py()),
        )


def stream_entries(
    first: int, row_id: npt.NDArray[np.uint64], rows: pa.Table, form: StreamFormat
) -> StreamEntries:
    """Return the entries of one stream, in memory of their own.

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
    num_packets = rows["packet_size_bytes"].combine_chunks().value_lengths().to_numpy()
    return StreamEntries(
        first=first,
        row_id=row_id,
        num_frames=rows["num_frames"].to_numpy().copy(),
        sha256=pa.array(rows["sha256"].to_pylist(), pa.string()),
        start=np.concatenate(([0], np.cumsum(num_packets))).astype(np.int64),
        packets=PacketIndex(
            size_bytes=_flat(rows["packet_size_bytes"], np.int32),
            display_index=_flat(rows["packet_display_index"], np.int32),
            is_reference=_flat(rows["packet_is_reference"], np.bool_),
            is_key=_flat(rows["packet_is_key"], np.bool_),
        ),
        form=form,
    )


def stream_format(row: Mapping[str, object]) -> StreamFormat:
    """Return how a stream is coded, from the `FORMAT_COLUMNS` of one of its GOPs."""
    facts = {name: row[name] for name in FORMAT_COLUMNS if name != "gop_key"}
    return StreamFormat(**{**facts, "extradata": facts["extradata"] or b""})  # type: ignore[arg-type]


def _flat(column: pa.ChunkedArray, kind: type[Scalar]) -> npt.NDArray[Scalar]:
    """Return a copy of the values of a list column, one list after the other."""
    values: npt.NDArray[np.generic] = (
        column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    )
    return values.astype(kind)
