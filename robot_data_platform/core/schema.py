"""Arrow schemas of every table, and what their metadata says.

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


def _key(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False, metadata=PRIMARY_KEY)


def _required(name: str, kind: pa.DataType) -> pa.Field:
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
            _key("gop_key", pa.int64()),
            _required("ref_id", pa.int64()),
            _required("gop_index", pa.int32()),
            _required("episode_index", pa.int64()),
            _required("camera", pa.string()),
            _required("first_frame", pa.int64()),
            _required("num_frames", pa.int32()),
            pa.field("pts_ns", pa.list_(pa.int64())),
            pa.field("packet_size_bytes", pa.list_(pa.int32())),
            pa.field("packet_display_index", pa.list_(pa.int32())),
            pa.field("packet_is_reference", pa.list_(pa.bool_())),
            pa.field("packet_is_key", pa.list_(pa.bool_())),
            _required("codec", pa.string()),
            _required("profile", pa.string()),
            _required("width_px", pa.int32()),
            _required("height_px", pa.int32()),
            _required("coded_width_px", pa.int32()),
            _required("coded_height_px", pa.int32()),
            _required("pix_fmt", pa.string()),
            _required("color_range", pa.int32()),
            _required("color_space", pa.int32()),
            _required("color_primaries", pa.int32()),
            _required("color_trc", pa.int32()),
            pa.field("extradata", pa.binary()),
            _required("sha256", pa.string()),
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
        _required("episode_index", pa.int64()),
        _required("frame_index", pa.int32()),
        _required("timestamp_ns", pa.int64()),
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
            _key("episode_id", text),
            _required("episode_index", pa.int64()),
            pa.field("source_episode_index", pa.int64()),
            _required("source_key", text),
            _required("upload", text),
            _required("ingestion_id", text),
            pa.field("task", text),
            pa.field("robot", text),
            pa.field("source_paths", pa.list_(text)),
            pa.field("source_sha256", pa.list_(text)),
            _required("num_rows", pa.int64()),
            pa.field("start_ns", pa.int64()),
            pa.field("end_ns", pa.int64()),
            pa.field("control_hz", pa.float64()),
            pa.field("cameras", camera_facts_type()),
            pa.field("statistics", signal_statistics_type()),
            _required("content_digest", text),
            _required("status", text),
            pa.field("status_reason", text),
            _required("run_id", text),
            _required("code_version", text),
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
            _required("episode_index", pa.int64()),
            _required("episode_id", text),
            _required("upload", text),
            _required("stage", text),
            _required("rules_version", text),
            _required("rule", text),
            _required("severity", text),
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
            _required("assignment_id", text),
            _required("spec_name", text),
            _required("spec_digest", text),
            _required("scheme_digest", text),
            _required("episode_id", text),
            _required("episode_index", pa.int64()),
            _required("content_digest", text),
            _required("group", text),
            _required("split", text),
        ]
    )


def table_versions_type() -> pa.DataType:
    """Return the type of a set of pinned table versions."""
    return pa.list_(pa.struct([pa.field("table", pa.string()), pa.field("version", pa.int64())]))


def uploads_schema() -> pa.Schema:
    """Return the columns of ``uploads``: one row per ingestion, with the indices it reserved."""
    text = pa.string()
    return table_schema(
        [
            _key("ingestion_id", text),
            _required("dataset", text),
            _required("upload", text),
            _required("manifest_sha256", text),
            _required("format", text),
            pa.field("profile_yaml", text),
            pa.field("settings_json", text),
            _required("first_episode_index", pa.int64()),
            _required("num_episodes", pa.int64()),
            _required("created_ns", pa.int64()),
            _required("run_id", text),
            _required("code_version", text),
        ]
    )


def releases_schema() -> pa.Schema:
    """Return the columns of ``releases``: one immutable row per release of a dataset."""
    text = pa.string()
    return table_schema(
        [
            _key("release_key", text),
            _required("dataset", text),
            _required("release", text),
            _required("digest", text),
            _required("assignment_id", text),
            _required("spec_json", text),
            pa.field("tables", table_versions_type()),
            _required("num_episodes", pa.int64()),
            _required("num_rows", pa.int64()),
            _required("created_ns", pa.int64()),
            _required("run_id", text),
            _required("code_version", text),
        ]
    )


def models_schema() -> pa.Schema:
    """Return the columns of ``models``: one row per trained model."""
    text = pa.string()
    return table_schema(
        [
            _key("model", text),
            _required("dataset", text),
            _required("release", text),
            _required("release_digest", text),
            pa.field("splits", pa.list_(text)),
            pa.field("tables", table_versions_type()),
            pa.field("code_commit", text),
            pa.field("parameters_json", text),
            pa.field("metrics_json", text),
            pa.field("artifact_uri", text),
            pa.field("artifact_sha256", text),
            _required("started_ns", pa.int64()),
            _required("finished_ns", pa.int64()),
            _required("run_id", text),
            _required("code_version", text),
        ]
    )


def lineage_schema() -> pa.Schema:
    """Return the columns of ``lineage``: one row per edge, output version from input version."""
    text = pa.string()
    return table_schema(
        [
            _required("asset", text),
            _required("dataset", text),
            pa.field("partition", text),
            _required("output_table", text),
            _required("output_version", pa.int64()),
            _required("input_table", text),
            pa.field("input_version", text),
            _required("run_id", text),
            _required("code_version", text),
            _required("created_ns", pa.int64()),
        ]
    )
