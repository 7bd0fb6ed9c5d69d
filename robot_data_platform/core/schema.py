"""Arrow schemas of a dataset's tables, and what their metadata says.

Field metadata carries names, unit and shape; schema metadata carries the format version and the
rates. `docs/format.md` is the specification of what stands here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

FORMAT_VERSION = 1
"""Version of the stored layout; a lake with a higher one is refused."""

FORMAT_VERSION_KEY = "rdp.format_version"
PRIMARY_KEY = {"lance-schema:unenforced-primary-key": "true"}
FULL_ZIP = {"lance-encoding:structural-encoding": "fullzip"}
"""Lance reads one value, not a whole chunk, per random row (automatic from 64 floats up)."""

TABLES = ("gops", "frames", "episodes", "quality", "spatial", "splits")
"""Tables of a dataset, in the order in which ingestion and curation write them."""
CATALOG_TABLES = ("uploads", "releases", "models", "lineage", "calibrations", "retirements")

CAMERA_PREFIX = "observation_images_"
IS_DEPTH_KEY = "rdp.is_depth"
"""Field metadata of the columns of a camera of depth maps: ``true``."""
DEPTH_UNIT_KEY = "rdp.depth_unit_m"
"""Field metadata of the same columns: metres per unit, as JSON; absent = not stated."""


_FRAME_SUFFIX = "_frame_index_in_gop"


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
            pa.field("calibration_json", pa.string()),
            required_field("sha256", pa.string()),
        ]
    )


def vector_field(
    name: str,
    width: int,
    names: Sequence[str] | None = None,
    unit: str | None = None,
    *,
    units: Sequence[str | None] | None = None,
    limits: Sequence[tuple[float, float] | None] | None = None,
) -> pa.Field:
    """Return a per-row float32 vector column that carries what is stated of its dimensions."""
    metadata = signal_metadata(names, unit, units=units, limits=limits)
    if width < 64:
        metadata |= FULL_ZIP
    return pa.field(name, pa.list_(pa.float32(), width), metadata=metadata)


def signal_metadata(
    names: Sequence[str] | None,
    unit: str | None,
    *,
    units: Sequence[str | None] | None,
    limits: Sequence[tuple[float, float] | None] | None,
) -> dict[str, str]:
    """Return what is stated of a signal's dimensions as metadata of its column."""
    metadata = {"rdp.unit": unit or "", "rdp.names": json.dumps(list(names) if names else None)}
    if units is not None:
        metadata["rdp.units"] = json.dumps(list(units))
    if limits is not None:
        metadata["rdp.limits"] = json.dumps([pair or (None, None) for pair in limits])
    return metadata


def camera_fields(
    camera: str, *, is_depth: bool = False, depth_unit_m: float | None = None
) -> list[pa.Field]:
    """Return the four columns by which a row points at its picture of one camera.

    Parameters
    ----------
    camera : str
        Name of the camera.
    is_depth : bool
        Whether its pictures are depth maps.
    depth_unit_m : float, optional
        Metres per unit of those; None = not stated.
    """
    metadata = {IS_DEPTH_KEY: "true"} if is_depth else {}
    if is_depth and depth_unit_m is not None:
        metadata[DEPTH_UNIT_KEY] = json.dumps(depth_unit_m)
    prefix = CAMERA_PREFIX + camera
    fields = [
        pa.field(f"{prefix}_ref_id", pa.int64()),
        pa.field(f"{prefix}_gop_index", pa.int32()),
        pa.field(f"{prefix}_frame_index_in_gop", pa.int32()),
        pa.field(f"{prefix}_offset_ns", pa.int64()),
    ]
    return [field.with_metadata(metadata) for field in fields] if metadata else fields


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
    return tuple(
        name.removeprefix(CAMERA_PREFIX).removesuffix(_FRAME_SUFFIX)
        for name in schema.names
        if name.startswith(CAMERA_PREFIX) and name.endswith(_FRAME_SUFFIX)
    )


def depth_cameras(schema: pa.Schema) -> dict[str, float | None]:
    """Return the cameras of a ``frames`` schema whose pictures are depth maps.

    By name, with metres per unit; None = not stated.
    """
    units_m: dict[str, float | None] = {}
    for name in camera_names(schema):
        metadata = schema.field(f"{CAMERA_PREFIX}{name}{_FRAME_SUFFIX}").metadata or {}
        if metadata.get(IS_DEPTH_KEY.encode()) == b"true":
            units_m[name] = json.loads(metadata.get(DEPTH_UNIT_KEY.encode(), b"null"))
    return units_m


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
            pa.field("calibrations_json", text),
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
            pa.field("q_lag_ms", pa.float64()),
            pa.field("q_lag_confidence", pa.float64()),
            pa.field("q_lag_camera", text),
            pa.field("s_version", text),
            pa.field("s_verdict", text),
            pa.field("s_num_info", pa.int32()),
            pa.field("s_num_warn", pa.int32()),
            pa.field("s_num_fail", pa.int32()),
            pa.field("s_rules_broken", pa.list_(text)),
            pa.field("s_cause", text),
            pa.field("s_cameras_ok", pa.list_(text)),
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
