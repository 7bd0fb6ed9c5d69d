"""Arrow schema of ``measurements``: what was measured of each episode, whatever the thresholds."""

from __future__ import annotations

import pyarrow as pa

from robot_data_platform.core.schema import required_field, table_schema

MEASUREMENTS = "measurements"
"""Name of the table. It can be made anew from the others, and no release pins it."""

PER_FRAME = ("percentiles", "change", "window_change", "motion", "measured_share")
"""Columns with a number per frame; three of the first, one after the other."""


def measurements_schema() -> pa.Schema:
    """Return the columns of ``measurements``: one row per episode and one per camera stream."""
    text, floats = pa.string(), pa.list_(pa.float32())
    return table_schema(
        [
            required_field("content_digest", text),
            required_field("measurements_version", text),
            required_field("episode_index", pa.int64()),
            pa.field("camera", text),
            pa.field("lag_ms", pa.float64()),
            pa.field("lag_confidence", pa.float32()),
            pa.field("lag_reason", text),
            pa.field("digest", text),
            pa.field("sketch", pa.list_(pa.int64())),
            pa.field("num_distinct_rows", pa.int64()),
            pa.field("num_moving", pa.int32()),
            pa.field("is_depth", pa.bool_()),
            pa.field("black", pa.float32()),
            pa.field("white", pa.float32()),
            pa.field("window_frames", pa.int32()),
            pa.field("pts_ns", pa.list_(pa.int64())),
            *(pa.field(name, floats) for name in PER_FRAME),
            pa.field("thumbnail", pa.binary()),
            pa.field("sharpness", pa.float32()),
            pa.field("num_sampled", pa.int32()),
            pa.field("gops", pa.list_(_gop_type())),
        ]
    )


def _gop_type() -> pa.DataType:
    return pa.struct(
        [
            pa.field("gop_index", pa.int32()),
            pa.field("first_frame", pa.int64()),
            pa.field("num_frames", pa.int32()),
            pa.field("sha256", pa.string()),
            pa.field("sha256_found", pa.string()),
            pa.field("num_frames_decoded", pa.int32()),
            pa.field("decode_error", pa.string()),
        ]
    )
