"""Lakes whose figures were worked out by hand: rows of tables, and no video."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from robot_data_platform.core.schema import camera_facts_type
from robot_data_platform.storage.commit import append_rows
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.table import LakeTable

S = 10**9
UPLOADED_NS = 1_767_225_600 * S
"""2026-01-01 00:00:00 UTC."""
FIRST, SECOND, THIRD = (f"20260101t00{minute}000z-pick-0000" for minute in ("0", "1", "2"))
"""Uploads at 0:00, 0:10 and 0:20."""

Row = Mapping[str, object]


def add(table: LakeTable, rows: Sequence[Row]) -> int:
    """Append rows whose required columns that are not given get some value; return the version."""
    filled = [{**_required(table.schema), **row} for row in rows]
    data = pa.Table.from_pylist(filled, schema=table.schema)
    return append_rows(table.uri, data, properties={}).version


def _required(schema: pa.Schema) -> Row:
    return {
        field.name: "-" if pa.types.is_string(field.type) else 0
        for field in schema
        if not field.nullable
    }


def episode(index: int, upload: str, status: str, **columns: object) -> Row:
    """Return a row of ``episodes``: ten rows in two seconds, five pictures of one camera."""
    is_lost = status == "quarantined"
    camera = {field.name: None for field in camera_facts_type().value_type}
    return {
        "episode_id": f"ep_{index}",
        "episode_index": index,
        "upload": upload,
        "ingestion_id": f"in_{upload}",
        "status": status,
        "num_rows": 0 if is_lost else 10,
        "start_ns": None if is_lost else 0,
        "end_ns": None if is_lost else 2 * S,
        "cameras": [] if is_lost else [{**camera, "name": "env", "num_frames": 5}],
        "q_version": "rules",
        **columns,
    }


def register(lake: Lake, upload: str, registered_ns: int, dataset: str = "pick") -> None:
    """Write that an upload was registered."""
    row = {"ingestion_id": f"in_{upload}", "dataset": dataset, "upload": upload}
    add(lake.ensure_catalog("uploads"), [{**row, "created_ns": registered_ns}])


def publish(lake: Lake, upload: str, rows: Sequence[Row], time_ns: int) -> int:
    """Write episodes of an upload and the edge that says so; return the version."""
    version = add(lake.ensure("pick", "episodes"), rows)
    edge = {"asset": "episodes", "dataset": "pick", "partition": upload}
    add(
        lake.ensure_catalog("lineage"),
        [{**edge, "output_table": "episodes", "output_version": version, "created_ns": time_ns}],
    )
    return version


def release(lake: Lake, name: str, episodes_version: int, time_ns: int) -> None:
    """Write a release of a version of ``episodes``."""
    row = {
        "release_key": f"pick/{name}",
        "dataset": "pick",
        "release": name,
        "tables": [{"table": "episodes", "version": episodes_version}],
        "created_ns": time_ns,
    }
    add(lake.ensure_catalog("releases"), [row])


def known_lake(root: Path) -> Lake:
    """Make a lake of three uploads: one released, one that waits, one that never was published.

    Five episodes: three ok, one flagged, one in quarantine.
    """
    lake = Lake(root)
    for upload in (FIRST, SECOND, THIRD):
        register(lake, upload, UPLOADED_NS + 1800 * S)
    first = [
        episode(0, FIRST, "ok"),
        episode(1, FIRST, "ok", q_num_info=1, q_num_warn=0, q_num_fail=0),
        episode(2, FIRST, "quarantined"),
    ]
    version = publish(lake, FIRST, first, UPLOADED_NS + 60 * S)
    release(lake, "r1", version, UPLOADED_NS + 120 * S)
    second = [
        episode(3, SECOND, "ok"),
        episode(4, SECOND, "flagged", q_num_info=0, q_num_warn=2, q_num_fail=3, s_num_warn=4),
    ]
    publish(lake, SECOND, second, UPLOADED_NS + 700 * S)
    damage = {"rule": "gop_hash_matches", "severity": "fail", "where": "camera=env gops 1"}
    add(
        lake.ensure("pick", "quality"),
        [
            {**damage, "episode_index": 4, "rules_version": "rules", "stage": "quality_results"}
            | {"value": 2.0},
            {**damage, "episode_index": 4, "rules_version": f"in_{SECOND}", "stage": "scrub"}
            | {"value": 1.0},
            # Of rules before these, and of an ingestion that nothing publishes: neither holds.
            {**damage, "episode_index": 4, "rules_version": "older", "value": 8.0},
            {**damage, "episode_index": 9, "rules_version": "rules", "value": 16.0},
        ],
    )
    return lake
