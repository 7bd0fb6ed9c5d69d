"""Rows of ``gops`` back to the values that a decoder needs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robot_data_platform.core.gop import PacketIndex, StreamFormat

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
