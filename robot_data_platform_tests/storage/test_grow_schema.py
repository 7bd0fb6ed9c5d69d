from __future__ import annotations

import pyarrow as pa
import pytest

from robot_data_platform.core.schema import (
    FORMAT_VERSION_KEY,
    camera_fields,
    camera_names,
    frames_base_fields,
    table_schema,
    vector_field,
)
from robot_data_platform.errors import CommitConflictError, ErrorKind, InvalidInputError
from robot_data_platform.storage import attempts as attempts_module
from robot_data_platform.storage.commit import (
    append_rows,
    commit_fragments,
    grow_schema,
    missing_fields,
    write_rows,
)
from robot_data_platform.storage.creation import create_table
from robot_data_platform.storage.table import LakeTable, open_table

STATE = vector_field("observation_state", 14, [f"joint_{n}" for n in range(14)], "rad")
FRAMES = table_schema([*frames_base_fields(), STATE, *camera_fields("top")], {"rdp.robot": "aloha"})


@pytest.fixture
def frames(local_uri: str) -> LakeTable:
    """A table of frames with one camera and one row."""
    create_table(local_uri, FRAMES)
    append_rows(local_uri, frame_row(0), properties={})
    return open_table(local_uri)


def frame_row(index: int, camera: str = "top") -> pa.Table:
    row = {"episode_index": 0, "frame_index": index, "timestamp_ns": index * 10_000_000}
    row[f"observation_images_{camera}_ref_id"] = index
    schema = pa.schema([f for f in (*FRAMES, *camera_fields(camera)) if f.name in row])
    return pa.Table.from_pylist([row], schema=pa.schema({f.name: f for f in schema}.values()))


def test_a_new_camera_is_null_in_the_rows_there_are(frames: LakeTable) -> None:
    grown = grow_schema(frames.uri, camera_fields("wrist"), {})
    assert camera_names(grown.schema) == ("top", "wrist")
    append_rows(frames.uri, frame_row(1, "wrist"), properties={})
    rows = open_table(frames.uri).read(["observation_images_wrist_ref_id"])
    assert rows["observation_images_wrist_ref_id"].to_pylist() == [None, 1]


def test_columns_that_are_there_write_nothing(frames: LakeTable) -> None:
    assert grow_schema(frames.uri, [STATE, *camera_fields("top")], {}).version == frames.version


def test_a_new_column_keeps_its_own_metadata(frames: LakeTable) -> None:
    effort = vector_field("observation_effort", 2, ["left", "right"], "N m")
    assert grow_schema(frames.uri, [effort], {}).schema.field(effort.name).metadata == (
        effort.metadata
    )


def test_metadata_is_set_beside_what_is_there(frames: LakeTable) -> None:
    grown = grow_schema(frames.uri, [], {"rdp.control_hz": "50"})
    assert grown.metadata == {
        FORMAT_VERSION_KEY: "1",
        "rdp.robot": "aloha",
        "rdp.control_hz": "50",
    }
    assert grow_schema(frames.uri, [], {"rdp.control_hz": "50"}).version == grown.version


def test_a_state_of_another_width_is_refused_with_both(frames: LakeTable) -> None:
    narrow = vector_field("observation_state", 6)
    said = r"'observation_state'.*numbers\.lance.*\[14\]: got .*\[6\] from this upload"
    with pytest.raises(InvalidInputError, match=said) as caught:
        grow_schema(frames.uri, [narrow, *camera_fields("wrist")], {"rdp.robot": "other"})
    assert caught.value.kind is ErrorKind.SHAPE_MISMATCH
    assert caught.value.facts["column"] == "observation_state"
    assert open_table(frames.uri).version == frames.version


def test_a_column_of_another_kind_is_refused(frames: LakeTable) -> None:
    with pytest.raises(InvalidInputError, match=r"'task'.* string: got int64"):
        missing_fields(frames, [pa.field("task", pa.int64())])


def test_growing_that_died_between_its_two_commits_is_done_by_the_next(
    frames: LakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields, metadata = camera_fields("wrist"), {"rdp.camera_fps": '{"wrist": 30}'}
    with monkeypatch.context() as patch:
        patch.setattr(type(frames.lance), "update_schema_metadata", die)
        with pytest.raises(KeyboardInterrupt):
            grow_schema(frames.uri, fields, metadata)
    half = open_table(frames.uri)
    assert (camera_names(half.schema), half.metadata.get("rdp.camera_fps")) == (
        ("top", "wrist"),
        None,
    )
    assert grow_schema(frames.uri, fields, metadata).metadata["rdp.camera_fps"] == '{"wrist": 30}'


def die(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_rows_written_before_the_table_grew_are_committed_after(frames: LakeTable) -> None:
    rows = frame_row(1)
    early = write_rows(frames.uri, rows.schema, rows.to_batches())
    grow_schema(frames.uri, camera_fields("wrist"), {})
    commit_fragments(frames.uri, early, properties={})
    found = open_table(frames.uri).read(["frame_index", "observation_images_wrist_ref_id"])
    assert found.to_pylist() == [
        {"frame_index": index, "observation_images_wrist_ref_id": None} for index in (0, 1)
    ]


def test_a_grower_that_always_loses_gives_up(
    frames: LakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def conflict(*_: object) -> None:
        raise OSError(
            "Retryable commit conflict for version 3: preempted by concurrent transaction"
        )

    monkeypatch.setattr(attempts_module, "MAX_CONFLICTS", 2)
    monkeypatch.setattr(type(frames.lance), "add_columns", conflict)
    with pytest.raises(CommitConflictError, match="2 times in a row"):
        grow_schema(frames.uri, camera_fields("wrist"), {})
