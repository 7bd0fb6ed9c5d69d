from __future__ import annotations

import json
from collections.abc import Callable

import lance
import pyarrow as pa
import pytest

from robot_data_platform.core import catalog_schema, schema
from robot_data_platform.core.findings_schema import findings_schema

SCHEMAS = [
    schema.gops_schema,
    schema.episodes_schema,
    findings_schema,
    schema.splits_schema,
    catalog_schema.uploads_schema,
    catalog_schema.releases_schema,
    catalog_schema.models_schema,
    catalog_schema.lineage_schema,
    lambda: schema.table_schema(
        [
            *schema.frames_base_fields(),
            schema.vector_field("observation_state", 14, ["joint"] * 14, "rad"),
            schema.vector_field("action", 64),
            *schema.camera_fields("top"),
        ],
        {"rdp.robot": "aloha"},
    ),
]


@pytest.mark.parametrize("make", SCHEMAS)
def test_lance_stores_a_schema_as_it_is(make: Callable[[], pa.Schema], tmp_path: object) -> None:
    columns = make()
    table = lance.write_dataset(columns.empty_table(), f"{tmp_path}/t.lance", schema=columns)
    assert table.schema.equals(columns, check_metadata=True)


@pytest.mark.parametrize("make", SCHEMAS)
def test_every_schema_states_the_format_version(make: Callable[[], pa.Schema]) -> None:
    assert make().metadata[b"rdp.format_version"] == str(schema.FORMAT_VERSION).encode()


@pytest.mark.parametrize("make", SCHEMAS)
def test_a_primary_key_is_never_null(make: Callable[[], pa.Schema]) -> None:
    keys = [f for f in make() if b"lance-schema:unenforced-primary-key" in (f.metadata or {})]
    assert not any(field.nullable for field in keys)


@pytest.mark.parametrize("make", SCHEMAS)
def test_no_struct_is_packed(make: Callable[[], pa.Schema]) -> None:
    for field in make():
        assert b"packed" not in b" ".join(
            [*(field.metadata or {}), *(field.metadata or {}).values()]
        )


def test_a_narrow_vector_is_stored_so_that_one_row_can_be_read_alone() -> None:
    narrow, wide = (schema.vector_field("action", width).metadata for width in (63, 64))
    assert narrow[b"lance-encoding:structural-encoding"] == b"fullzip"
    assert b"lance-encoding:structural-encoding" not in wide


def test_a_vector_carries_its_names_and_unit() -> None:
    field = schema.vector_field("action", 2, ("left", "right"), "N m")
    assert field.type == pa.list_(pa.float32(), 2)
    assert json.loads(field.metadata[b"rdp.names"]) == ["left", "right"]
    assert field.metadata[b"rdp.unit"] == b"N m"


def test_a_vector_without_names_and_unit_says_that_there_are_none() -> None:
    field = schema.vector_field("action", 2)
    assert json.loads(field.metadata[b"rdp.names"]) is None
    assert field.metadata[b"rdp.unit"] == b""


def test_a_frames_schema_tells_its_cameras_and_signals() -> None:
    columns = schema.table_schema(
        [
            *schema.frames_base_fields(),
            schema.vector_field("observation_state", 3),
            *schema.camera_fields("left_wrist"),
            pa.field("action_age_ns", pa.int64()),
            schema.vector_field("action", 3),
            *schema.camera_fields("top"),
        ]
    )
    assert schema.camera_names(columns) == ("left_wrist", "top")
    assert schema.signal_names(columns) == ("observation_state", "action")


def test_a_camera_has_a_reference_of_four_columns() -> None:
    assert [field.name for field in schema.camera_fields("top")] == [
        "observation_images_top_ref_id",
        "observation_images_top_gop_index",
        "observation_images_top_frame_index_in_gop",
        "observation_images_top_offset_ns",
    ]


def test_a_camera_of_depth_says_so_in_each_of_its_columns() -> None:
    for field in schema.camera_fields("tof", is_depth=True, depth_unit_m=0.00025):
        assert field.metadata == {b"rdp.is_depth": b"true", b"rdp.depth_unit_m": b"0.00025"}
    for field in schema.camera_fields("tof", is_depth=True):
        assert field.metadata == {b"rdp.is_depth": b"true"}
    for field in schema.camera_fields("top", depth_unit_m=0.001):
        assert not field.metadata


def test_a_frames_schema_tells_its_cameras_of_depth_with_their_units() -> None:
    columns = schema.table_schema(
        [
            *schema.camera_fields("top"),
            *schema.camera_fields("tof", is_depth=True, depth_unit_m=0.001),
            *schema.camera_fields("stereo", is_depth=True),
        ]
    )
    assert schema.camera_names(columns) == ("top", "tof", "stereo")
    assert schema.depth_cameras(columns) == {"tof": 0.001, "stereo": None}
