"""Columns by which rows are looked up, whatever else a table holds."""

from __future__ import annotations

from collections.abc import Mapping

from robot_data_platform.core.measurement_schema import MEASUREMENTS

LOOKUP_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "gops": ("episode_index",),
    "frames": ("episode_index",),
    "episodes": ("episode_index", "episode_id", "upload", "ingestion_id", "content_digest"),
    "quality": ("episode_index", "rules_version"),
    "spatial": ("episode_index", "rules_version"),
    MEASUREMENTS: ("content_digest", "episode_index"),
    "splits": ("episode_id",),
}
"""By table: a scalar index over each of these keeps an ingestion's cost apart from the lake's size.

Rows that came since an index was folded are scanned, so that it is never wrong, only slower.
"""
