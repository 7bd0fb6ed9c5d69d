"""Arrow schemas of what checks found: the tables ``quality`` and ``spatial``."""

from __future__ import annotations

import pyarrow as pa

from robot_data_platform.core.schema import required_field, table_schema


def findings_schema() -> pa.Schema:
    """Return the columns of ``quality``: one row per finding."""
    text = pa.string()
    return table_schema(
        [
            required_field("episode_index", pa.int64()),
            required_field("episode_id", text),
            required_field("upload", text),
            required_field("stage", text),
            required_field("rules_version", text),
            required_field("rule", text),
            required_field("severity", text),
            pa.field("value", pa.float64()),
            pa.field("threshold", pa.float64()),
            pa.field("unit", text),
            pa.field("where", text),
            pa.field("message", text),
        ]
    )


def spatial_schema() -> pa.Schema:
    """Return the columns of ``spatial``: one row per finding, and one per measured camera."""
    return table_schema(
        [
            *findings_schema(),
            pa.field("camera", pa.string()),
            pa.field("details_json", pa.string()),
            pa.field("overlay", pa.binary()),
        ]
    )
