"""Rows of ``gops`` back to the values that a decoder needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.gop import PacketIndex, StreamFormat

if TYPE_CHECKING:
    import pyarrow as pa

Scalar = TypeVar("Scalar", bound=np.generic)

FORMAT_COLUMNS = (
    *("codec", "profile", "width_px", "height_px", "coded_width_px", "coded_height_px"),
    *("pix_fmt", "color_range", "color_space", "color_primaries", "color_trc", "extradata"),
)
"""Columns that are the same for every GOP of a stream."""
PACKET_COLUMNS = (
    *("packet_size_bytes", "packet_display_index", "packet_is_reference", "packet_is_key"),
)
"""Columns that differ from GOP to GOP."""


def stream_format(row: Mapping[str, object]) -> StreamFormat:
    """Return how a stream is coded, from the `FORMAT_COLUMNS` of one of its GOPs."""
    facts = {name: row[name] for name in FORMAT_COLUMNS}
    return StreamFormat(**{**facts, "extradata": facts["extradata"] or b""})  # type: ignore[arg-type]


def packet_index(row: Mapping[str, object]) -> PacketIndex:
    """Return the packets of a GOP, from its `PACKET_COLUMNS`."""
    return PacketIndex(
        size_bytes=np.asarray(row["packet_size_bytes"], dtype=np.int32),
        display_index=np.asarray(row["packet_display_index"], dtype=np.int32),
        is_reference=np.asarray(row["packet_is_reference"], dtype=np.bool_),
        is_key=np.asarray(row["packet_is_key"], dtype=np.bool_),
    )


def packets_of_gops(rows: pa.Table) -> tuple[PacketIndex, npt.NDArray[np.int64]]:
    """Return the packets of G GOPs, one GOP after the other, in memory of their own.

    Parameters
    ----------
    rows : pyarrow.Table
        `PACKET_COLUMNS` of the G GOPs.

    Returns
    -------
    packets : PacketIndex
        (P,) each: the packets of all GOPs.
    start : ndarray of int64, shape (G + 1,)
        Where each GOP's packets start, and P.
    """
    num_packets = rows["packet_size_bytes"].combine_chunks().value_lengths().to_numpy()
    packets = PacketIndex(
        size_bytes=_flat(rows["packet_size_bytes"], np.int32),
        display_index=_flat(rows["packet_display_index"], np.int32),
        is_reference=_flat(rows["packet_is_reference"], np.bool_),
        is_key=_flat(rows["packet_is_key"], np.bool_),
    )
    return packets, np.concatenate(([0], np.cumsum(num_packets))).astype(np.int64)


def _flat(column: pa.ChunkedArray, kind: type[Scalar]) -> npt.NDArray[Scalar]:
    values: npt.NDArray[np.generic] = (
        column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    )
    return values.astype(kind)
