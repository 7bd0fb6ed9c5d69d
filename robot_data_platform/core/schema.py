"""Arrow schemas of a dataset's tables, and what their metadata says.

Field metadata carries names, unit and shape; schema metadata carries the format version and the
rates. `docs/format.md` is the specification of what stands here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import pyarrow as pa

FORMAT_VERSION = 1
"""Version of the stored layout; a lake with a higher one is refused."""

FORMAT_VERSION_KEY = "rdp.format_version"
PRIMARY_KEY = {"lance-schema:unenforced-primary-key": "true"}
FULL_ZIP = {"lance-encoding:structural-encoding": "fullzip"}
"""Lance reads one value, not a whole chunk, per random row (automatic from 64 floats up)."""

TABLES = ("gops", "frames", "episodes", "quality", "spatial", "splits")
"""Tables of a dataset, in the order in which ingestion and curation write them."""
CATALOG_TABLES = ("uploads", "releases", "models", "lineage")

CAMERA_PREFIX = "observation_images_"


def key_field(name: str, kind: pa.DataType) -> pa.Field:
    """Return a column that is never null and that Lance takes for the primary key."""
    return pa.field(name, kind, nullable=False, metadata=PRIMARY_KEY)


def required_field(name: str, kind: pa.DataType) -> pa.Field:
    """Return a column that is never null."""
    return pa.field(name, kind, nullable=False)


def table_schema(
    fields: Iterable[pa.Field], metadata: Mapping[str, str] | None = None
) -> pa.Schema:
    """Return a schema that says its format version, besides ``metadata``."""
    return pa.schema(
        list(fields), metadata={FORMAT_VERSION_KEY: str(FORMAT_VERSION), **(metadata or {})}
    )


def gops_schema() -> pa.Schema:
    """Return the columns of ``gops`` without the blob column ``data``, which storage adds."""
    return table_schema(
        [
            key_field("gop_key", pa.int64()),
            required_field("ref_id", pa.int64()),
            required_field("gop_index", pa.int32()),
            required_field("episode_index", pa.int64()),
            required_field("camera", pa.string()),
            required_field("first_frame", pa.int64()),
            required_field("num_frames", pa.int32()),
            pa.field("pts_ns", pa.list_(pa.int64())),
            pa.field("packet_size_bytes", pa.list_(pa.int32())),
            pa.field("packet_display_index", pa.list_(pa.int32())),
            pa.field("packet_is_reference", pa.list_(pa.bool_())),
            pa.field("packet_is_key", pa.list_(pa.bool_())),
            required_field("codec", pa.string()),
            required_field("profile", pa.string()),
            required_field("width_px", pa.int32()),
            required_field("height_px", pa.int32()),
            required_field("coded_width_px", pa.int32()),
            required_field("coded_height_px", pa.int32()),
            required_field("pix_fmt", pa.string()),
            required_field("color_range", pa.int32()),
            required_field("color_space", pa.int32()),
            required_field("color_primaries", pa.int32()),
            required_field("color_trc", pa.int32()),
            pa.field("extradata", pa.binary()),
            required_field("sha256", pa.string()),
        ]
    )


def vector_field(
    name: str, width: int, names: Iterable[str] | None = None, unit: str | None = None
) -> pa.Field:
    """Return a per-row float32 vector column that carries its dimension names and unit."""
    metadata = {"rdp.unit": unit or "", "rdp.names": json.dumps(list(names) if names else None)}
    if width < 64:
        metadata |= FULL_ZIP
    return pa.field(name, pa.list_(pa.float32(), width), metadata=metadata)


def camera_fields(camera: str) -> list[pa.Field]:
    """Return the four columns by which a row points at its picture of one camera."""
    prefix = CAMERA_PREFIX + camera
    return [
        pa.field(f"{prefix}_ref_id", pa.int64()),
        pa.field(f"{prefix}_gop_index", pa.int32()),
        pa.field(f"{prefix}_frame_index_in_gop", pa.int32()),
        pa.field(f"{prefix}_offset_ns", pa.int64()),
    ]


def frames_base_fields() -> list[pa.Field]:
    """Return the columns that ``frames`` has whatever the robot; signals and cameras follow."""
    return [
        required_field("episode_index", pa.int64()),
        required_field("frame_index", pa.int32()),
        required_field("timestamp_ns", pa.int64()),
        pa.field("task", pa.string()),
        pa.field("language_instruction", pa.string()),
        pa.field("source", pa.string()),
        pa.field("is_intervention", pa.bool_()),
    ]


def camera_names(schema: pa.Schema) -> tuple[str, ...]:
    """Return the cameras that a ``frames`` schema refers to, in column order."""
    suffix = "_frame_index_in_gop"
    return tuple(
        name.removeprefix(CAMERA_PREFIX).removesuffix(suffix)
        for name in schema.names
        if name.startswith(CAMERA_PREFIX) and name.endswith(suffix)
    )


def signal_names(schema: pa.Schema) -> tuple[str, ...]:
    """Return the vector signals of a ``frames`` schema, in column order."""
    return tuple(f.name for f in schema if pa.types.is_fixed_size_list(f.type))


def camera_facts_type() -> pa.DataType:
    """Return the type of ``episodes.cameras``: one struct per camera stream, all measured."""
    return pa.list_(
        pa.struct(
            [
                pa.field("name", pa.string()),
                pa.field("ref_id", pa.int64()),
                pa.field("num_frames", pa.int64()),
                pa.field("num_gops", pa.int32()),
                pa.field("fps", pa.float64()),
                pa.field("codec", pa.string()),
                pa.field("profile", pa.string()),
                pa.field("width_px", pa.int32()),
                pa.field("height_px", pa.int32()),
                pa.field("num_rows_without_picture", pa.int64()),
            ]
        )
    )


def signal_statistics_type() -> pa.DataType:
    """Return the type of ``episodes.statistics``: per signal, over finite values only."""
    numbers = pa.list_(pa.float64())
    return pa.list_(
        pa.struct(
            [
                pa.field("signal", pa.string()),
                pa.field("count", pa.int64()),
                pa.field("num_not_finite", pa.int64()),
                *(pa.field(name, numbers) for name in ("min", "max", "mean", "std")),
            ]
        )
    )


def episodes_schema() -> pa.Schema:
    """Return the columns of ``episodes``: one row per episode that an upload holds."""
    text = pa.string()
    return table_schema(
        [
            key_field("episode_id", text),
            required_field("episode_index", pa.int64()),
            pa.field("source_episode_index", pa.int64()),
            required_field("source_key", text),
            required_field("upload", text),
            required_field("ingestion_id", text),
            pa.field("task", text),
            pa.field("robot", text),
            pa.field("source_paths", pa.list_(text)),
            pa.field("source_sha256", pa.list_(text)),
            required_field("num_rows", pa.int64()),
            pa.field("start_ns", pa.int64()),
            pa.field("end_ns", pa.int64()),
            pa.field("control_hz", pa.float64()),
            pa.field("cameras", camera_facts_type()),
            pa.field("statistics", signal_statistics_type()),
            required_field("content_digest", text),
            required_field("status", text),
            pa.field("status_reason", text),
            required_field("run_id", text),
            required_field("code_version", text),
            pa.field("q_version", text),
            pa.field("q_num_info", pa.int32()),
            pa.field("q_num_warn", pa.int32()),
            pa.field("q_num_fail", pa.int32()),
            pa.field("q_rules_broken", pa.list_(text)),
            pa.field("s_version", text),
            pa.field("s_verdict", text),
        ]
    )


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


def splits_schema() -> pa.Schema:
    """Return the columns of ``splits``: one row per episode of an assignment."""
    text = pa.string()
    return table_schema(
        [
            required_field("assignment_id", text),
            required_field("spec_name", text),
            required_field("spec_digest", text),
            required_field("scheme_digest", text),
            required_field("episode_id", text),
            required_field("episode_index", pa.int64()),
            required_field("content_digest", text),
            required_field("group", text),
            required_field("split", text),
        ]
    )
